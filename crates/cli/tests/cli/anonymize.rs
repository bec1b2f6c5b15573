//! `bosket anonymize`: publications from the outside, and what must never leave.

use crate::util::Dir;

/// Forty patients: towns and codes that a cut can keep, companions and notes that it cannot.
fn patients(dir: &Dir) {
    let mut data = String::new();
    for i in 0..40 {
        let code = ["E10", "E11", "J45", "J20"][i % 4];
        data.push_str(&format!(
            "{{\"id\":\"P{i}\",\"town\":\"{}\",\"visits\":[{{\"code\":\"{code}\",\"text\":\"Text of {code} {i}\"}}]}}\n",
            ["North", "South"][i % 2]
        ));
    }
    dir.write("data.ndjson", &data);
    dir.write("code.csv", "E10;E;*\nE11;E;*\nJ45;J;*\nJ20;J;*\n");
}

fn policy(text_role: &str, publish: &str) -> String {
    format!(
        r#"
version = 1
[source]
format = "ndjson"
path = "data.ndjson"
[[attribute]]
path = "id"
role = "identifying"
[[attribute]]
path = "town"
role = "quasi"
hierarchy = {{ build = "order", groups = ["North", "South"] }}
[[attribute]]
path = "visits[].code"
role = "quasi"
hierarchy = "code.csv"
[[attribute]]
path = "visits[].text"
role = "{text_role}"
follows = "visits[].code"
[privacy]
model = "kmn"
k = 5
m = 2
n = 1
[publish]
path = "{publish}"
"#
    )
}

#[test]
fn a_companion_never_says_more_than_what_it_follows() {
    for role in ["quasi", "insensitive", "sensitive"] {
        let dir = Dir::new();
        patients(&dir);
        dir.write("policy.toml", policy(role, "out.ndjson"));
        dir.run(&["anonymize", "policy.toml"]).exits(0);
        let published = dir.text("out.ndjson");
        assert!(!published.contains("Text of"), "{role}: {published}");
        assert!(!published.contains("\"id\""));
        dir.run(&["verify", "out.ndjson", "--policy", "policy.toml", "--against", "data.ndjson"]).exits(0);
        // A publication that kept the texts is seen through, whatever the role says.
        dir.run(&["verify", "data.ndjson", "--policy", "policy.toml"]).exits(1);
    }
}

#[test]
fn the_same_records_in_another_order_give_the_same_bytes() {
    let dir = Dir::new();
    patients(&dir);
    dir.write("policy.toml", policy("quasi", "out.ndjson"));
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let first = dir.text("out.ndjson");
    let reversed: Vec<String> = dir.text("data.ndjson").lines().rev().map(str::to_owned).collect();
    dir.write("data.ndjson", &(reversed.join("\n") + "\n"));
    dir.run(&["anonymize", "policy.toml", "--force", "--threads", "1"]).exits(0);
    assert_eq!(dir.text("out.ndjson"), first);
}

#[test]
fn columns_keep_the_policys_order_whatever_the_first_row_lacks() {
    let dir = Dir::new();
    let mut data = String::from("zip,city\n");
    for i in 0..12 {
        data.push_str(if i == 0 { ",A\n" } else { "1,A\n" });
    }
    dir.write("data.csv", &data);
    dir.write(
        "policy.toml",
        r#"
version = 1
[source]
format = "csv"
path = "data.csv"
[[attribute]]
path = "zip"
role = "quasi"
hierarchy = { build = "order", groups = ["1"] }
[[attribute]]
path = "city"
role = "quasi"
hierarchy = { build = "order", groups = ["A"] }
[privacy]
model = "kmn"
k = 3
m = 2
n = 0
[publish]
path = "out.csv"
"#,
    );
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    assert_eq!(dir.text("out.csv").lines().next(), Some("zip,city"));
}

#[test]
fn a_class_that_the_policy_does_not_name_is_not_taken_for_a_moved_one() {
    let dir = Dir::new();
    patients(&dir);
    dir.write("policy.toml", policy("quasi", "out.ndjson"));
    let line = "{\"id\":\"X\",\"code\":[{\"code\":\"secret\"}],\"visits\":[]}\n";
    dir.write("data.ndjson", &(dir.text("data.ndjson") + line));
    // A key that a handful of people have is named to whoever asks for it.
    dir.run(&["anonymize", "policy.toml", "--show-values"]).exits(2).says(&["code[].code"]);
}

#[test]
fn force_never_replaces_an_input() {
    let dir = Dir::new();
    patients(&dir);
    let before = dir.text("data.ndjson");
    std::os::unix::fs::symlink(dir.path("data.ndjson"), dir.path("link.ndjson")).expect("a link");
    for target in ["link.ndjson", "policy.toml", "code.csv"] {
        dir.write("policy.toml", policy("quasi", target));
        dir.run(&["anonymize", "policy.toml", "--force"]).exits(2);
    }
    assert_eq!(dir.text("data.ndjson"), before);
}

#[test]
fn labels_of_groups_hold_no_values() {
    let dir = Dir::new();
    let data: String = (0..30).map(|i| format!("{{\"job\":\"rarejob{i:02}\"}}\n")).collect();
    dir.write("data.ndjson", &data);
    dir.write(
        "policy.toml",
        r#"
version = 1
[source]
format = "ndjson"
path = "data.ndjson"
[[attribute]]
path = "job"
role = "quasi"
hierarchy = { build = "fanout", fanout = 5 }
[privacy]
model = "kmn"
k = 5
m = 2
n = 1
[publish]
path = "out.ndjson"
"#,
    );
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    assert!(!dir.text("out.ndjson").contains("rarejob"));
}

#[test]
fn the_publication_may_go_to_standard_output_alone() {
    let dir = Dir::new();
    patients(&dir);
    dir.write("policy.toml", policy("quasi", "-"));
    let out = dir.run(&["anonymize", "policy.toml"]).exits(0).stdout;
    assert!(out.lines().all(|line| line.starts_with('{')), "{out}");
    let sets = ["--set", "publish.path=out.ndjson", "--set", "publish.mapping=-"];
    let mapping = [&["anonymize", "policy.toml"], &sets[..]].concat();
    dir.run(&mapping).exits(2).says(&["private"]);
}

#[test]
fn a_file_without_any_quasi_attribute_proves_nothing() {
    let dir = Dir::new();
    patients(&dir);
    dir.write("policy.toml", policy("quasi", "out.ndjson"));
    dir.write("empty.ndjson", "{}\n{}\n");
    dir.run(&["verify", "empty.ndjson", "--policy", "policy.toml"]).exits(2).says(&["nothing to verify"]);
}

#[test]
fn the_private_mapping_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    patients(&dir);
    dir.write("policy.toml", &(policy("quasi", "out.ndjson") + "mapping = \"private/mapping.csv\"\n"));
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let mode = std::fs::metadata(dir.path("private/mapping.csv")).expect("written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let with = ["verify", "out.ndjson", "--policy", "policy.toml", "--against", "data.ndjson"];
    dir.run(&[&with[..], &["--mapping", "private/mapping.csv"]].concat()).exits(0);
}

#[test]
fn sensitive_values_stay_diverse() {
    let dir = Dir::new();
    let data: String = (0..60)
        .map(|i| {
            // In the North nearly everybody has the same result.
            let (town, result) = if i % 2 == 0 { ("North", i % 10 == 0) } else { ("South", i % 3 == 0) };
            format!(
                "{{\"visits\":[{{\"town\":\"{town}\",\"result\":\"r{}\"}}]}}\n",
                if result { i % 7 } else { 9 }
            )
        })
        .collect();
    dir.write("data.ndjson", data);
    dir.write(
        "policy.toml",
        r#"
version = 1
[source]
format = "ndjson"
path = "data.ndjson"
[[attribute]]
path = "visits[].town"
role = "quasi"
hierarchy = { build = "order", groups = ["North", "South"] }
[[attribute]]
path = "visits[].result"
role = "sensitive"
[privacy]
model = "kmn"
k = 5
m = 1
n = 0
l = 1.3
[publish]
path = "out.ndjson"
"#,
    );
    // Without l both towns can be published; with it they would say too much.
    let claim = ["verify", "data.ndjson", "--policy", "policy.toml"];
    dir.run(&claim).exits(1).prints(&["has a share of 80.0 %", "North"]);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    assert!(!dir.text("out.ndjson").contains("North"));
    let with = ["verify", "out.ndjson", "--policy", "policy.toml", "--against", "data.ndjson"];
    dir.run(&with).exits(0);
    dir.run(&["anonymize", "policy.toml", "--force", "--set", "privacy.l=3"]).exits(4);
}

const TWO_LEVELS: &str = r#"
version = 1
[source]
format = "ndjson"
path = "data.ndjson"
[[attribute]]
path = "a"
role = "quasi"
hierarchy = { build = "order", groups = ["x", "y"] }
[[attribute]]
path = "v[].b"
role = "quasi"
hierarchy = { build = "order", groups = ["p", "q"] }
[privacy]
model = "kmn"
k = 2
m = 3
n = 5
[publish]
path = "out.ndjson"
"#;

#[test]
fn the_smallest_inputs() {
    let cases = [
        ("one record cannot hide", "{\"a\":\"x\"}\n", 4),
        ("records without any value", "{}\n{}\n", 4),
        (
            "all records equal",
            "{\"a\":\"x\",\"v\":[{\"b\":\"p\"}]}\n{\"a\":\"x\",\"v\":[{\"b\":\"p\"}]}\n",
            0,
        ),
        ("an empty record beside others", "{\"a\":\"x\"}\n{\"a\":\"y\"}\n{}\n", 0),
    ];
    for (what, data, code) in cases {
        let dir = Dir::new();
        dir.write("data.ndjson", data).write("policy.toml", TWO_LEVELS);
        dir.run(&["anonymize", "policy.toml"]).exits(code);
        assert_eq!(dir.path("out.ndjson").exists(), code == 0, "{what}");
        if code == 0 {
            let with = ["verify", "out.ndjson", "--policy", "policy.toml", "--against", "data.ndjson"];
            dir.run(&with).exits(0);
        }
    }
}

/// Real records with many attributes that few people have: those are left out, the rest is not dragged down.
#[test]
fn real_legislators_are_published_and_true() {
    let Some(data) =
        bosket_testkit::shared::shared("data/json-congress-legislators/legislators-current.json.gz")
    else {
        return;
    };
    let dir = Dir::new();
    let data = data.to_string_lossy();
    dir.run(&["inspect", &data, "--draft", "draft.toml"]).exits(0);
    let anonymize =
        ["anonymize", "draft.toml", "--set", "publish.path=out.json", "--set", "method.algorithm=gcs"];
    let found = dir.run(&[&anonymize[..], &["--json"]].concat()).exits(0).json();
    let attributes = found["attributes"].as_array().expect("a list").clone();
    assert!(!dir.text("draft.toml").contains("caucus"), "two people have one");
    assert!(attributes.iter().any(|a| a["published_values"].as_u64() > Some(1)), "{found}");
    dir.run(&["verify", "out.json", "--policy", "draft.toml", "--against", &data]).exits(0);
}
