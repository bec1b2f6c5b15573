//! `bosket generate baskets`, and sets of numbered items whose policy names no hierarchy.

use crate::util::Dir;

#[test]
fn policy_and_data_fit_together() {
    let dir = Dir::new();
    let found = dir.run(&["generate", "baskets", "--transactions", "2000", "--out", "d"]).exits(0);
    found.says_nothing().prints(&["2,000 baskets", "d/data.txt", "d/policy.toml", "d/hierarchies"]);
    assert_eq!(dir.files(), ["d/data.txt", "d/hierarchies/item.csv", "d/policy.toml"]);
    let found = dir.run(&["anonymize", "d/policy.toml", "--dry-run"]).exits(0).says_nothing();
    found.prints(&["2,000 records", "covering all values", "1,657 leaves"]);
}

#[test]
fn same_seed_same_files() {
    let dir = Dir::new();
    for (seed, out) in [("3", "a"), ("3", "b"), ("4", "c")] {
        dir.run(&["generate", "baskets", "--transactions", "100", "--seed", seed, "--out", out]).exits(0);
    }
    assert_eq!(dir.text("a/data.txt"), dir.text("b/data.txt"));
    assert_ne!(dir.text("a/data.txt"), dir.text("c/data.txt"));
}

#[test]
fn numbers_of_baskets_out_of_range() {
    let dir = Dir::new();
    for transactions in ["0", "-1", "many"] {
        dir.run(&["generate", "baskets", &format!("--transactions={transactions}"), "--out", "d"]).exits(2);
    }
    assert!(dir.files().is_empty());
}

#[test]
fn files_that_exist_need_force() {
    let dir = Dir::new();
    dir.write("d/data.txt", "old");
    let args = ["generate", "baskets", "--transactions", "5", "--out", "d"];
    dir.run(&args).exits(3).says(&["it exists", " --> d/data.txt", "--force"]);
    assert_eq!(dir.text("d/data.txt"), "old");
    dir.run(&[&args[..], &["--force"]].concat()).exits(0);
    assert_eq!(dir.text("d/data.txt").lines().count(), 5);
}

fn unnamed(items: &str) -> Dir {
    let dir = Dir::new();
    let policy = "version = 1\n[source]\nformat = 'transactions'\npath = 'data.txt'\n\
                  [[attribute]]\npath = 'item'\nrole = 'quasi'\n\
                  [privacy]\nmodel = 'km'\nk = 2\nm = 2\n[publish]\npath = 'published.txt'\n";
    dir.write("policy.toml", policy).write("data.txt", items);
    dir
}

#[test]
fn numbered_items_without_a_hierarchy_are_grouped_by_fives_and_that_is_said() {
    let dir = unnamed("1 2 3\n4 50 6\n7 8\n");
    let found = dir.run(&["anonymize", "policy.toml", "--dry-run"]).exits(0).says(&[
        "warning: `item` has no hierarchy; its numbers are grouped in their order, 5 by 5",
        " --> policy.toml:6:8",
        "fanout = 5",
    ]);
    found.hides(&["50"]).prints(&["hierarchies: 1 with 8 leaves"]);
}

#[test]
fn named_items_without_a_hierarchy_are_refused() {
    let dir = unnamed("1 2 3\n4 quince 6\n");
    let found = dir.run(&["anonymize", "policy.toml", "--dry-run"]).exits(2);
    found.says(&["error: the quasi attribute `item` has no hierarchy"]).hides(&["quince", "5 by 5"]);
}
