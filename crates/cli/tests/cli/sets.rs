//! `bosket anonymize` with model km: transactions, sets in trees, refusals.

use crate::util::Dir;

const DATA: &str = "a1 b1 b2\na2 b1\na2 b1 b2\na1 a2 b2\n";
const HIERARCHY: &str = "a1;A;*\na2;A;*\nb1;B;*\nb2;B;*\n";
const POLICY: &str = "version = 1\n[source]\nformat = 'transactions'\npath = 'data.txt'\n\
                      [[attribute]]\npath = 'item'\nrole = 'quasi'\nhierarchy = 'h.csv'\n\
                      [privacy]\nmodel = 'km'\nk = 2\nm = 2\n\
                      [publish]\npath = 'published.txt'\nmapping = 'private/mapping.csv'\n";

fn example() -> Dir {
    let dir = Dir::new();
    dir.write("data.txt", DATA).write("h.csv", HIERARCHY).write("policy.toml", POLICY);
    dir
}

/// The worked example of the paper: the cut {A, b1, b2}, NCP 2.5/11.
#[test]
fn the_worked_example() {
    for algorithm in ["aa", "da", "oa", "vpa"] {
        let dir = example();
        let set = format!("method.algorithm={algorithm}");
        let found = dir.run(&["anonymize", "policy.toml", "--set", &set]).exits(0);
        found.prints(&["published 4 records", "verified: ", "loss NCP 22.73 %", algorithm]);
        assert_eq!(dir.text("published.txt"), "A b1\nA b1 b2\nA b1 b2\nA b2\n", "{algorithm}");
        dir.run(&["verify", "published.txt", "--policy", "policy.toml", "--against", "data.txt"]).exits(0);
    }
}

#[test]
fn local_recoding_is_verified_and_true() {
    for algorithm in ["lra", "partition"] {
        let dir = example();
        let set = format!("method.algorithm={algorithm}");
        dir.run(&["anonymize", "policy.toml", "--set", &set, "--set", "method.parts=2"]).exits(0);
        let args =
            ["verify", "published.txt", "--policy", "policy.toml", "--set", &set, "--against", "data.txt"];
        dir.run(&args).exits(0);
    }
}

#[test]
fn the_cut_is_written_beside_the_mapping_and_nowhere_else() {
    let dir = example();
    let found = dir.run(&["anonymize", "policy.toml", "--json"]).exits(0);
    assert!(!found.stdout.contains("b1"));
    let private: serde_json::Value = serde_json::from_str(&dir.text("private/mapping.json")).expect("JSON");
    assert_eq!(private["parts"][0]["cut"], serde_json::json!(["A", "b1", "b2"]));
    assert!(dir.text("private/mapping.csv").starts_with("input_record,published_record\n1,"));
}

#[test]
fn losses_for_mining_are_measured_when_asked_for() {
    let dir = example();
    dir.run(&["anonymize", "policy.toml", "--measure"]).exits(0).prints(&["ML²", "dML²"]);
    let found = dir.run(&["anonymize", "policy.toml", "--measure", "--json", "--force"]).exits(0).json();
    assert!(found["loss"]["figures"]["ML2"]["value"].is_number());
}

#[test]
fn sets_in_trees_are_published_in_their_shape() {
    let dir = Dir::new();
    let people = [
        ("F", &["a1", "b1", "b2"][..]),
        ("M", &["a2", "b1"]),
        ("F", &["a2", "b1", "b2"]),
        ("M", &["a1", "a2", "b2"]),
    ];
    let lines = people.map(|(sex, items)| format!("{}\n", serde_json::json!({"sex": sex, "bought": items})));
    let policy = POLICY
        .replace("'transactions'", "'ndjson'")
        .replace("data.txt", "data.ndjson")
        .replace("path = 'item'", "path = 'bought[]'")
        .replace("published.txt", "published.ndjson")
        .replace("[privacy]", "[[attribute]]\npath = 'sex'\nrole = 'insensitive'\n[privacy]");
    dir.write("data.ndjson", lines.concat()).write("h.csv", HIERARCHY).write("policy.toml", policy);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let published = dir.text("published.ndjson");
    assert!(published.contains(r#"{"sex":"M","bought":["A","b1"]}"#), "{published}");
    dir.run(&["verify", "published.ndjson", "--policy", "policy.toml", "--against", "data.ndjson"]).exits(0);
}

#[test]
fn sensitive_and_absent_items() {
    let dir = example();
    let lines = "a1 s\na2\na1 a2\na2 s\na1\na2\n".repeat(3);
    dir.write("data.txt", lines).write("h.csv", "a1;A;*\na2;A;*\ns;S;*\n");
    let sets =
        ["--set", "privacy.l=2", "--set", "privacy.sensitive=['s']", "--set", "privacy.negative=['a1']"];
    dir.run(&[&["anonymize", "policy.toml"], &sets[..]].concat()).exits(0);
    let args = ["verify", "published.txt", "--policy", "policy.toml", "--against", "data.txt"];
    dir.run(&[&args, &sets[..]].concat()).exits(0);
    let sets = ["--set", "privacy.l=4", "--set", "privacy.sensitive=['s']", "--force"];
    let found = dir.run(&[&["anonymize", "policy.toml"], &sets[..]].concat()).exits(4);
    found.says(&["`s` is in more than 1/4 of all records"]);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let dir = example();
    dir.run(&["anonymize", "policy.toml", "--set", "privacy.multiset=true"]).exits(2).says(&["multiset"]);
    dir.run(&["anonymize", "policy.toml", "--set", "privacy.k=5"])
        .exits(4)
        .says(&["k = 5 exceeds the 4 records"]);
    assert_eq!(dir.files(), ["data.txt", "h.csv", "policy.toml"]);
}
