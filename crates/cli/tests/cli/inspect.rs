//! `bosket inspect`: what the data holds, and a draft of a policy without its values.

use serde_json::Value;

use crate::util::Dir;

/// A foreign file whose values are easy to recognise.
fn foreign() -> Dir {
    let dir = Dir::new();
    let lines: String = (0..60)
        .map(|i| {
            format!(
                "{{\"patient\":{{\"ssn\":\"Quetzal-{i:04}\",\"name\":\"Zanzibar {i}\"}},\"gender\":\"{}\",\"birthDate\":\"19{:02}-04-11\",\"zip\":\"471{:02}\",\"visits\":[{{\"hospital\":\"Xanadu {}\",\"cost\":{}}}]}}\n",
                ["female", "male"][i % 2],
                40 + i % 50,
                i % 20,
                i % 4,
                4711 + i % 7,
            )
        })
        .collect();
    dir.write("data.ndjson", lines);
    dir
}

/// Parts of values; gender's are too common as words.
const SECRETS: &[&str] = &["Quetzal", "Zanzibar", "Xanadu", "-04-11", "4711", "1940-04"];

const PATHS: [&str; 7] =
    ["patient.ssn", "patient.name", "gender", "birthDate", "zip", "visits[].hospital", "visits[].cost"];

#[test]
fn the_table_shows_no_values_unless_asked() {
    let dir = foreign();
    let found = dir.run(&["inspect", "data.ndjson"]).exits(0).says_nothing().hides(SECRETS);
    found
        .prints(&["ndjson: 60 records, 60 visits[]", "attribute", "distinct", "missing", "role"])
        .prints(&PATHS);
    let found = dir.run(&["inspect", "data.ndjson", "--show-values"]).exits(0).says_nothing();
    found.prints(&["Xanadu 0", "\"male\" ×30", "4711"]);
}

fn by_path<'a>(found: &'a Value, path: &str) -> &'a Value {
    let attributes = found["attributes"].as_array().expect("a list");
    attributes.iter().find(|a| a["path"] == path).unwrap_or_else(|| panic!("{path} is missing"))
}

#[test]
fn the_json_says_the_same() {
    let dir = foreign();
    let run = dir.run(&["inspect", "data.ndjson", "--json"]).exits(0).says_nothing().hides(SECRETS);
    let found = run.json();
    assert_eq!((&found["format"], &found["records"]), (&"ndjson".into(), &60.into()));
    for path in PATHS {
        let attribute = by_path(&found, path);
        assert!(attribute["reason"].as_str().is_some_and(|r| !r.is_empty()), "{path} has no reason");
        assert!(attribute.get("values").is_none());
    }
    let ssn = by_path(&found, "patient.ssn");
    assert_eq!(
        (&ssn["distinct"], &ssn["uniqueness"], &ssn["role"]),
        (&60.into(), &1.0.into(), &"identifying".into())
    );
    assert_eq!(by_path(&found, "gender")["distinct"], 2);
    assert_eq!(by_path(&found, "birthDate")["role"], "quasi");
    let found = dir.run(&["inspect", "data.ndjson", "--json", "--show-values"]).exits(0).json();
    assert_eq!(
        by_path(&found, "visits[].hospital")["values"][0],
        serde_json::json!({"value": "Xanadu 0", "count": 15})
    );
}

#[test]
fn missing_values_and_all_formats() {
    let dir = Dir::new();
    dir.write("data.csv", "a;b\n1;\n2;x\n3;\n4;\n")
        .write("data.json", "{\"entry\":[{\"a\":1},{\"a\":2}]}")
        .write("data.txt", "a b\nb\n\n");
    let found = dir.run(&["inspect", "data.csv", "--json"]).exits(0).json();
    assert_eq!((&by_path(&found, "b")["missing"], &found["records"]), (&0.75.into(), &4.into()));
    let found = dir.run(&["inspect", "data.json", "--record", "entry[]", "--json"]).exits(0).json();
    assert_eq!((&found["format"], &found["records"]), (&"json".into(), &2.into()));
    let found = dir.run(&["inspect", "data.txt", "--json"]).exits(0).json();
    assert_eq!(
        (&found["format"], &found["records"], &found["attributes"][0]["path"]),
        (&"transactions".into(), &3.into(), &"item".into())
    );
    dir.write("odd", "a|b\n1|2\n");
    let args = ["inspect", "odd", "--format", "csv", "--separator", "|", "--json"];
    assert_eq!(dir.run(&args).exits(0).json()["attributes"].as_array().map(Vec::len), Some(2));
}

/// A draft without the blanks that line it up.
fn plain(dir: &Dir, name: &str) -> String {
    dir.text(name).lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn a_draft_holds_no_values_and_is_a_policy() {
    let dir = foreign();
    let found = dir.run(&["inspect", "data.ndjson", "--draft", "policy.toml"]).exits(0).hides(SECRETS);
    found.says(&["wrote policy.toml"]);
    let draft = plain(&dir, "policy.toml");
    for secret in SECRETS.iter().chain(&["\"male\"", "\"female\""]) {
        assert!(!draft.contains(secret), "the draft holds {secret}:\n{draft}");
    }
    for path in PATHS {
        assert!(draft.contains(&format!("path = \"{path}\"")), "{path} is not in the draft:\n{draft}");
    }
    dir.run(&["policy", "check", "policy.toml"]).exits(0).prints(&["7 attributes"]);
    let found = dir.run(&["verify", "data.ndjson", "--policy", "policy.toml", "--json"]).exits(1).json();
    assert_eq!(found["holds"], false);
    assert!(found["witness"]["support"].as_u64() >= Some(1));
}

#[test]
fn a_draft_does_not_replace_a_policy() {
    let dir = foreign();
    dir.write("policy.toml", "mine");
    let args = ["inspect", "data.ndjson", "--draft", "policy.toml"];
    let parts = ["cannot write the file: it exists", " --> policy.toml", "help: use --force to replace it"];
    dir.run(&args).exits(3).says(&parts).hides(SECRETS);
    assert_eq!(dir.text("policy.toml"), "mine");
    dir.run(&[&args[..], &["--force"]].concat()).exits(0);
    assert_ne!(dir.text("policy.toml"), "mine");
}

#[test]
fn a_draft_elsewhere_still_finds_the_data() {
    let dir = foreign();
    dir.write("policies/keep", "");
    dir.run(&["inspect", "data.ndjson", "--draft", "policies/policy.toml"]).exits(0);
    assert!(plain(&dir, "policies/policy.toml").contains("path = \"../data.ndjson\""));
    dir.write("data.csv", "town;year\na;1990\nb;1991\n");
    dir.run(&["inspect", "data.csv", "--draft", "flat.toml"]).exits(0);
    dir.run(&["verify", "data.csv", "--policy", "flat.toml"]).exits(1);
}

#[test]
fn the_example_is_understood() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "300", "--out", "."]).exits(0);
    let found = dir.run(&["inspect", "data.ndjson", "--json"]).exits(0).json();
    for (path, role) in [
        ("patient_id", "identifying"),
        ("name", "identifying"),
        ("birth_year", "quasi"),
        ("home.town", "quasi"),
    ] {
        assert_eq!(by_path(&found, path)["role"], role, "{path}");
    }
    dir.run(&["inspect", "data.ndjson", "--draft", "draft.toml"]).exits(0).hides(&[
        "Kiefer",
        "P0000001",
        "Harbourside",
    ]);
    let draft = dir.text("draft.toml");
    let neighbour = "name  = \"neighbour\"\nknows = [\"gender\", \"birth_year\", \"home.town\"]\nm     = 1\n";
    assert!(
        draft.contains(neighbour) && draft.contains("name = \"colleague\"\nm    = 2\nn    = 1\n"),
        "{draft}"
    );
    dir.run(&["verify", "data.ndjson", "--policy", "draft.toml"])
        .exits(1)
        .prints(&["VIOLATED", "Witness: only one record fits what the attacker `neighbour` knows"]);
    dir.run(&["anonymize", "draft.toml"]).exits(0).prints(&[
        "a neighbour, who knows gender, birth_year and home.town and one more value, finds at least 5 people",
        "a colleague, who knows up to 2 values and one relation between them, finds at least 5 people",
    ]);
}

#[test]
fn the_risk_of_raw_data_is_told_before_anything_is_decided() {
    let dir = foreign();
    let found = dir.run(&["inspect", "data.ndjson", "--risk"]).exits(0).says_nothing().hides(SECRETS);
    found.prints(&[
        "If these roles are right:",
        "before: data.ndjson, 60 people",
        "Found most easily, before:",
    ]);
    let found = dir.run(&["inspect", "data.ndjson", "--risk", "--json"]).exits(0).hides(SECRETS).json();
    // The same as the draft says, if nobody changes it.
    dir.run(&["inspect", "data.ndjson", "--draft", "draft.toml"]).exits(0);
    let drafted = dir.run(&["attack", "--policy", "draft.toml", "--json"]).exits(0).json();
    assert_eq!(found["risk"]["before"]["points"], drafted["before"]["points"]);
    assert!(found["risk"]["after"].is_null());
    dir.run(&["inspect", "-", "--risk"]).exits(2).says(&["name a file"]);
}
