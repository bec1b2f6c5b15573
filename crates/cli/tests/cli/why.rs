//! `bosket why`: what would break if one published label were split.

use serde_json::Value;

use crate::util::{Dir, attribute, policy};

/// Sixty people, published; one has a rare eye colour, so that one cut for everybody hides all colours.
fn people(model: &str, more: &str) -> Dir {
    let dir = Dir::new();
    let person = |i: usize| {
        let eyes = if i == 7 { "violet" } else { ["brown", "blue", "green"][i % 3] };
        format!("{{\"eyes\":\"{eyes}\",\"town\":\"{}\",\"pay\":{}}}\n", ["Ulm", "Bonn"][i % 2], i % 5)
    };
    dir.write("input.ndjson", (0..60).map(person).collect::<String>());
    let eyes = "hierarchy = { build = \"order\", groups = [{ label = \"dark\", values = [\"brown\", \"blue\"] }, \
                { label = \"light\", values = [\"green\", \"violet\"] }] }";
    let attributes = [
        attribute("eyes", "quasi", eyes),
        attribute("town", "quasi", "hierarchy = { build = \"order\", groups = [\"Ulm\", \"Bonn\"] }"),
        attribute("pay", "sensitive", ""),
    ];
    let rest = format!(
        "{model}\n{more}[source]\nformat = \"ndjson\"\npath = \"input.ndjson\"\n\
         [publish]\npath = \"published.ndjson\"\nmapping = \"mapping.csv\"\n"
    );
    dir.write("policy.toml", policy(&attributes, &rest));
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir
}

const GLOBAL: &str = "model = \"kmn\"\nk = 3\nm = 2\nn = 0";

#[test]
fn a_label_is_split_and_what_would_break_is_told_without_values() {
    let dir = people(GLOBAL, "[method]\nrecoding = \"global\"\n");
    let listed = dir.run(&["why", "policy.toml", "--json"]).exits(0).json();
    let eyes = &listed["attributes"][0];
    assert_eq!(eyes["path"], "eyes", "{listed}");
    let labels = eyes["labels"].as_array().expect("labels").iter();
    assert!(labels.map(|l| l["label"].as_str().expect("a label")).any(|l| l == "light"), "{listed}");
    // What is as it was is listed for programs only.
    assert!(listed.to_string().contains("\"splits\":false"), "{listed}");
    dir.run(&["why", "policy.toml"])
        .exits(0)
        .prints(&["eyes\n", "  \"light\" in 21 places\n"])
        .hides(&["town"]);
    let asked = ["why", "policy.toml", "--path", "eyes", "--label", "light"];
    let told = "one step finer, eyes as it was would fit fewer than 3 records";
    dir.run(&asked).exits(0).prints(&[told]).hides(&["violet"]);
    let shown = [&asked[..], &["--show-values"]].concat();
    dir.run(&shown).exits(0).prints(&["eyes \"violet\" as it was would fit fewer than 3"]);
    let found = dir.run(&[&asked[..], &["--json"]].concat()).exits(0).json();
    assert_eq!((&found["breaks"], &found["below"]), (&Value::Bool(true), &Value::from(2)), "{found}");
    assert_eq!(found["forced_by"]["known"][0]["label"], Value::Null, "{found}");
}

#[test]
fn what_cannot_be_split_is_refused_with_a_reason() {
    let dir = people(GLOBAL, "[method]\nrecoding = \"global\"\n");
    let why = |path: &str, label: &str, said: &str| {
        dir.run(&["why", "policy.toml", "--path", path, "--label", label]).exits(2).says(&[said]);
    };
    why("pay", "1", "is not quasi");
    why("eye", "brown", "did you mean `eyes`?");
    why("eyes", "nowhere", "nowhere published");
    why("town", "Ulm", "as fine as it can be");
    dir.run(&["why", "policy.toml", "--label", "Ulm"]).exits(2);
}

#[test]
fn labels_of_their_own_are_split_as_each_record_has_it() {
    let dir = people(GLOBAL, "[method]\nrecoding = \"local\"\n");
    let published = dir.text("published.ndjson");
    assert!(!published.contains("violet") && published.contains("green"), "{published}");
    let listed = dir.run(&["why", "policy.toml", "--json", "--path", "eyes"]).exits(0).json();
    let label = listed["attributes"][0]["labels"][0]["label"].as_str().expect("a label").to_owned();
    let asked = ["why", "policy.toml", "--path", "eyes", "--label", &label];
    dir.run(&asked).exits(0).prints(&["one step finer, eyes "]);
    // Without the mapping nobody knows whose label is whose.
    std::fs::remove_file(dir.path("mapping.csv")).expect("a file");
    dir.run(&asked).exits(2).says(&["publish.mapping"]);
}

#[test]
fn records_that_look_alike_differ_in_it() {
    let dir = people("model = \"k-anonymity\"\nk = 20", "");
    dir.run(&["why", "policy.toml", "--path", "eyes", "--label", "*"])
        .exits(0)
        .prints(&["records that are made to look alike differ in it"]);
}
