//! `bosket generate tpch`: what it writes is ready to be used.

use crate::util::Dir;

#[test]
fn policies_and_data_fit_together() {
    let dir = Dir::new();
    dir.run(&["generate", "tpch", "--customers", "500", "--out", "d"]).exits(0).says_nothing().prints(&[
        "500 customers",
        "depth 3 in vertices, 5 in values",
        "276 nodes",
    ]);
    dir.run(&["anonymize", "d/policy.toml", "--dry-run"])
        .exits(0)
        .says_nothing()
        .prints(&["500 records", "covering"]);
    for policy in ["d/tables/policy-csv.toml", "d/tables/policy-sqlite.toml"] {
        dir.run(&["policy", "check", policy]).exits(0).says_nothing().prints(&["6 attributes, model kmn"]);
        dir.run(&["anonymize", policy, "--dry-run"])
            .exits(0)
            .says_nothing()
            .prints(&["500 records", "covering"]);
    }
}

#[test]
fn numbers_of_customers_out_of_range() {
    let dir = Dir::new();
    for customers in ["0", "-1", "15000001", "many"] {
        dir.run(&["generate", "tpch", &format!("--customers={customers}"), "--out", "d"]).exits(2);
    }
    assert!(dir.files().is_empty());
}
