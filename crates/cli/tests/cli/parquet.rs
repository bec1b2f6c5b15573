//! Parquet from the outside: nested records and linked tables, inspected, anonymized, verified.

use crate::util::Dir;

#[test]
fn nested_records_are_published_as_from_ndjson() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "300", "--out", "c"]).exits(0);
    dir.run(&["convert", "c/data.ndjson", "c/data.parquet"]).exits(0);
    let text = dir.text("c/policy.toml").replace("ndjson", "parquet");
    dir.write("c/parquet.toml", text.replace("report.html", "r.html").replace("mapping.csv", "m.csv"));
    dir.run(&["anonymize", "c/policy.toml"]).exits(0);
    dir.run(&["anonymize", "c/parquet.toml"]).exits(0).prints(&["published 300 records"]);
    let verify =
        ["verify", "c/published.parquet", "--policy", "c/parquet.toml", "--against", "c/data.parquet"];
    dir.run(&verify).exits(0).prints(&["HOLDS", "TRUE"]);
    dir.certified("c/published.parquet", "c/published.parquet.certificate.json");
    // Both publications hold the same records.
    dir.run(&["convert", "c/published.parquet", "again.ndjson"]).exits(0);
    assert_eq!(dir.text("again.ndjson"), dir.text("c/published.ndjson"));
    dir.run(&["anonymize", "c/parquet.toml"]).exits(3).says(&["it exists", "--force"]);

    dir.run(&["inspect", "c/data.parquet", "--draft", "draft.toml"])
        .exits(0)
        .prints(&["parquet: 300 records", "visits[].diagnoses[].treatments[]"]);
    dir.run(&["policy", "check", "draft.toml"]).exits(0);
    assert!(dir.text("draft.toml").contains("path = \"published.parquet\""));

    let whole = dir.read("c/published.parquet");
    dir.write("cut.parquet", &whole[..whole.len() / 2]);
    dir.run(&["verify", "cut.parquet", "--policy", "c/parquet.toml"])
        .exits(3)
        .says(&["damaged or cut off", " --> cut.parquet"]);
}

#[test]
fn a_folder_of_tables_is_published_and_verified() {
    let dir = Dir::new();
    dir.run(&["generate", "tpch", "--customers", "300", "--out", "d"]).exits(0);
    dir.run(&["convert", "d/tables/policy-csv.toml", "d/pq/", "--to", "parquet"])
        .exits(0)
        .prints(&["rows in 3 tables to d/pq/"]);
    let text = dir.text("d/tables/policy-csv.toml").replace("\"csv\"", "\"parquet\"");
    let text = ["customer", "orders", "items"].iter().fold(text, |text, name| {
        text.replace(&format!("path = \"{name}.csv\""), &format!("path = \"{name}.parquet\""))
    });
    dir.write("d/pq/policy.toml", text);
    for policy in ["d/tables/policy-csv.toml", "d/pq/policy.toml"] {
        dir.run(&["anonymize", policy, "--set", "privacy.k=5"]).exits(0).prints(&["published 300 records"]);
    }
    dir.certified("d/pq/published", "d/pq/published.certificate.json");
    let verify = ["verify", "d/pq/published", "--policy", "d/pq/policy.toml", "--set", "privacy.k=5"];
    dir.run(&[&verify[..], &["--against", "d/pq"]].concat()).exits(0).prints(&["HOLDS", "TRUE"]);
    dir.run(&["convert", "d/pq/published", "same/", "--to", "csv"]).exits(0);
    for name in ["customer", "orders", "items"] {
        assert_eq!(
            dir.text(&format!("same/{name}.csv")),
            dir.text(&format!("d/tables/published/{name}.csv")),
            "{name}"
        );
    }
    dir.run(&["inspect", "d/pq", "--draft", "draft.toml"])
        .exits(0)
        .prints(&["parquet: 300 records", "orders (orderkey): below customer by custkey"]);
    let draft = dir.text("draft.toml");
    assert!(draft.contains("path        = \"d/pq/orders.parquet\""), "{draft}");
    dir.run(&["policy", "check", "draft.toml"]).exits(0);
}
