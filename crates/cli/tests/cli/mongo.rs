//! What `mongoexport` writes, through a pipe, for `mongoimport` to read.

use serde_json::Value;

use crate::util::{Dir, attribute};

fn exported(canonical: bool) -> String {
    (0..40)
        .map(|i| {
            let born = if canonical { format!("{{\"$numberLong\":\"{}\"}}", 86_400_000 * (i % 4)) } else { format!("\"1970-01-0{}T00:00:00Z\"", 1 + i % 4) };
            let town = if canonical { format!("{{\"$numberInt\":\"{}\"}}", i % 2) } else { (i % 2).to_string() };
            let code = ["E10", "E11", "J45", "J20"][i % 4];
            format!(
                "{{\"_id\":{{\"$oid\":\"{i:024x}\"}},\"born\":{{\"$date\":{born}}},\"town\":{town},\
                 \"visits\":[{{\"code\":\"{code}\",\"cost\":{{\"$numberDecimal\":\"{}.5\"}},\"ward\":{{\"$numberLong\":\"7\"}}}}]}}\n",
                i % 3
            )
        })
        .collect()
}

const KMN: &str = "[privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 1\n[source]\nformat = \"ndjson\"\npath = \"-\"\n[publish]\npath = \"-\"\n";

fn policy() -> String {
    let date = "hierarchy = { build = \"date\", min = \"1960-01-01\", max = \"2030-12-31\" }";
    let order = |groups: &str| format!("hierarchy = {{ build = \"order\", groups = [{groups}] }}");
    let attributes = [
        attribute("_id", "identifying", ""),
        attribute("born", "quasi", date),
        attribute("town", "quasi", &order("\"0\", \"1\"")),
        attribute("visits[].code", "quasi", &order("[\"E10\", \"E11\"], [\"J45\", \"J20\"]")),
        attribute("visits[].cost", "sensitive", ""),
        attribute("visits[].ward", "insensitive", ""),
    ];
    format!("version = 1\n{}{KMN}", attributes.concat())
}

#[test]
fn from_pipe_to_pipe() {
    let dir = Dir::new();
    dir.write("policy.toml", policy());
    let mut published = Vec::new();
    for canonical in [true, false] {
        let made = dir.run_with(&["anonymize", "policy.toml"], exported(canonical).as_bytes()).exits(0);
        let records: Vec<Value> =
            made.stdout.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
        assert_eq!(records.len(), 40);
        assert!(!made.stdout.contains("_id"), "{}", made.stdout);
        assert!(made.stdout.contains("{\"$numberDecimal\":\"2.5\"}"), "{}", made.stdout);
        assert!(made.stdout.contains("\"ward\":{\"$numberLong\":\"7\"}"), "{}", made.stdout);
        assert!(made.stderr.contains("verified"), "{}", made.stderr);
        dir.run_with(&["verify", "-", "--policy", "policy.toml"], made.stdout.as_bytes()).exits(0);
        published.push(made.stdout);
    }
    // The relaxed form says the same, apart from types that are JSON's own.
    assert_eq!(
        published[0].replace("{\"$numberInt\":\"0\"}", "0").replace("{\"$numberInt\":\"1\"}", "1"),
        published[1]
    );
}

#[test]
fn kept_dates_are_dates_and_labels_are_texts() {
    let dir = Dir::new();
    dir.write("policy.toml", policy());
    let made = dir.run_with(
        &["anonymize", "policy.toml", "--set", "privacy.m=1", "--set", "privacy.n=0"],
        exported(true).as_bytes(),
    );
    let made = made.exits(0);
    assert!(made.stdout.contains("\"born\":{\"$date\":\"1970-01-01T00:00:00Z\"}"), "{}", made.stdout);
    let coarse = dir
        .run_with(&["anonymize", "policy.toml", "--set", "privacy.k=15"], exported(true).as_bytes())
        .exits(0);
    assert!(coarse.stdout.contains("\"born\":\"19"), "{}", coarse.stdout);
    assert!(!coarse.stdout.contains("$date"), "{}", coarse.stdout);
}

#[test]
fn malformed_values_publish_nothing() {
    let dir = Dir::new();
    dir.write("policy.toml", policy());
    let bad = exported(true).replacen("{\"$oid\":\"000000000000000000000003\"}", "{\"$oid\":5}", 1);
    let refused = dir.run_with(&["anonymize", "policy.toml"], bad.as_bytes()).exits(3);
    assert_eq!(refused.stdout, "");
    refused.says(&["no value of the type that it says", "-:4:", "path _id", "24 hexadecimal digits"]);
}
