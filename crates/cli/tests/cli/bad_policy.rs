//! Policies that are wrong, or do not fit the data: exit 2, everything at once.

use crate::util::{Dir, attribute, policy};

const SECRETS: &[&str] = &["Quetzal", "Zanzibar", "4711"];
const KMN: &str = "model = \"kmn\"\nk = 2\nm = 1\nn = 0";

#[test]
fn all_mistakes_with_line_column_and_underline() {
    let dir = Dir::new();
    dir.write(
        "policy.toml",
        "version = 1\nsed = 2\n[source]\nformat = \"ndjsn\"\npath = \"x\"\n[[attribute]]\npath = \"a\"\nroel = \"quasi\"\n[privacy]\nmodel = \"kmn\"\nk = \"two\"\n",
    );
    let found = dir.run(&["policy", "check", "policy.toml"]).exits(2);
    assert_eq!(found.errors(), 7, "{}", found.stderr);
    found.says(&[
        "unknown key `sed`\n --> policy.toml:2:1\n  |\n2 | sed = 2\n  | ^^^\n help: did you mean `seed`?",
        "cannot be \"ndjsn\"\n --> policy.toml:4:10\n  |\n4 | format = \"ndjsn\"\n  |          ^^^^^^^\n help: did you mean \"ndjson\"?",
        "unknown key `attribute.roel`\n --> policy.toml:8:1\n  |\n8 | roel = \"quasi\"\n  | ^^^^\n help: did you mean `role`?",
        "`attribute.role` is missing\n --> policy.toml:6:1",
        "model \"kmn\" needs `privacy.m`\n --> policy.toml:10:9\n   |\n10 | model = \"kmn\"\n   |         ^^^^^",
        "model \"kmn\" needs `privacy.n`",
        "`privacy.k` must be a whole number, not a string\n --> policy.toml:11:5",
    ]);
    // Every command that takes the policy refuses it the same way.
    dir.write("data.ndjson", "{\"a\":\"Quetzal\"}\n");
    assert_eq!(dir.run(&["verify", "data.ndjson", "--policy", "policy.toml"]).exits(2).errors(), 7);
    assert_eq!(dir.run(&["anonymize", "policy.toml", "--dry-run"]).exits(2).errors(), 7);
}

#[test]
fn text_that_is_not_toml() {
    let dir = Dir::new();
    dir.write("policy.toml", "version = 1\n[privacy\nmodel = \"kmn\"\n");
    let found = dir.run(&["policy", "check", "policy.toml"]).exits(2).says(&[
        " --> policy.toml:2:",
        "2 | [privacy\n",
        "^",
    ]);
    assert!(found.errors() >= 1);
    dir.write("policy.toml", b"version = 1 # \xff\n");
    let parts = ["the text is not UTF-8", " --> policy.toml:1", "help: convert the file to UTF-8"];
    dir.run(&["policy", "check", "policy.toml"]).exits(3).says(&parts);
    dir.write("policy.toml", "");
    dir.run(&["policy", "check", "policy.toml"]).exits(2).says(&["version"]);
}

#[test]
fn a_failed_check_is_json_too() {
    let dir = Dir::new();
    dir.write("policy.toml", "version = 1\nsed = 2\n");
    let found = dir.run(&["policy", "check", "policy.toml", "--json"]).exits(2).says(&["unknown key `sed`"]);
    let found = found.json();
    assert_eq!(found["valid"], false);
    assert!(found["problems"][0].as_str().expect("a text").contains("policy.toml:2:1"), "{found}");
    dir.write("policy.toml", policy(&[attribute("a", "quasi", "")], KMN));
    let found = dir.run(&["policy", "check", "policy.toml", "--json"]).exits(0).json();
    assert_eq!(
        (&found["valid"], &found["attributes"], &found["model"]),
        (&true.into(), &1.into(), &"kmn".into())
    );
}

#[test]
fn overrides_that_are_wrong() {
    let dir = Dir::new();
    dir.write("policy.toml", policy(&[attribute("a", "quasi", "")], KMN));
    let check = |set: &str| dir.run(&["policy", "check", "policy.toml", "--set", set]);
    check("privacy.kk=3").exits(2).says(&[
        "unknown key `privacy.kk`",
        " --> --set:1:9",
        "1 | privacy.kk=3\n  |         ^^",
        "did you mean `k`?",
    ]);
    check("privcy.k=3").exits(2).says(&["unknown key `privcy`", "did you mean `privacy`?"]);
    check("privacy.k=1").exits(2).says(&["`privacy.k` must be at least 2", "--set:1:11"]);
    check("privacy.model=kmm").exits(2).says(&["did you mean", "--set"]);
    check("privacy.k").exits(2).says(&["--set"]);
    check("attribute[\"b\"].role=key").exits(2).says(&["--set"]);
    check("privacy.k=3").exits(0).says_nothing();
    check("attribute[\"a\"].weight=2").exits(0);
}

#[test]
fn undeclared_attributes_are_listed() {
    let dir = Dir::new();
    let attributes = [attribute("town", "quasi", ""), attribute("visits[].hospital", "quasi", "")];
    dir.write("policy.toml", policy(&attributes, KMN));
    let line = "{\"town\":\"Quetzal\",\"name\":\"Zanzibar\",\"visits\":[{\"hopsital\":\"Quetzal\",\"cost\":4711}]}\n";
    dir.write("data.ndjson", line.repeat(2));
    let found = dir.run(&["verify", "data.ndjson", "--policy", "policy.toml"]).exits(2).hides(SECRETS);
    assert_eq!(found.errors(), 3);
    found.says(&[
        "the policy does not say what this attribute is",
        " --> data.ndjson, path name",
        " --> data.ndjson, path visits[].cost",
        "help: add an [[attribute]] with this path and a role, or set `undeclared = \"drop\"`",
        " --> data.ndjson, path visits[].hopsital\n help: the policy has `visits[].hospital`, which the data does not",
    ]);
    // Dropped attributes are not part of the claim, but the file still has them.
    let args = ["verify", "data.ndjson", "--policy", "policy.toml", "--set", "undeclared=drop"];
    let found = dir.run(&args).exits(1).hides(SECRETS);
    found.prints(&[
        "VIOLATED: the policy removes name, visits[].hopsital, visits[].cost, but the file still has them",
    ]);
}

#[test]
fn a_policy_without_a_claim() {
    let dir = Dir::new();
    dir.write("data.ndjson", "{\"a\":\"Quetzal\"}\n");
    let claims = [
        ("model = \"anatomy\"\ngroup_size = 2", "the policy has no `[source]`"),
        ("model = \"none\"", "claims nothing"),
    ];
    let attributes = [attribute("a", "sensitive", ""), attribute("b", "quasi", "")];
    for (privacy, part) in claims {
        dir.write("policy.toml", policy(&attributes, privacy));
        dir.run(&["verify", "data.ndjson", "--policy", "policy.toml"])
            .exits(2)
            .says(&[part, "help: "])
            .hides(SECRETS);
    }
    dir.write("policy.toml", format!("version = 1\n{}", attribute("a", "quasi", "")));
    dir.run(&["verify", "data.ndjson", "--policy", "policy.toml"])
        .exits(2)
        .says(&["the policy claims nothing", "help: "]);
}

/// A folder with data, a policy for `anonymize` and a hierarchy.
fn with_hierarchy(hierarchy: &str) -> Dir {
    let dir = Dir::new();
    dir.write(
        "data.ndjson",
        "{\"town\":\"a\"}\n{\"town\":\"Quetzal\"}\n{\"town\":\"Zanzibar\"}\n{\"town\":\"Quetzal\"}\n",
    );
    dir.write("h.csv", hierarchy);
    let town = attribute("town", "quasi", "hierarchy = \"h.csv\"");
    let source = "[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n[publish]\npath = \"out.ndjson\"\n";
    dir.write("policy.toml", policy(&[town], &format!("{KMN}\n{source}")));
    dir
}

#[test]
fn a_value_outside_its_hierarchy() {
    let dir = with_hierarchy("a;A;*\nb;A;*\n");
    let hidden = [
        "2 distinct values are not in the hierarchy\n --> data.ndjson, record 2, path town\n",
        "help: see them with --show-values; add them to the hierarchy",
    ];
    let shown = [
        "2 distinct values are not in the hierarchy: `Quetzal`, `Zanzibar`",
        "record 2, path town",
        "help: ",
    ];
    let check = ["hierarchy", "check", "h.csv", "--data", "data.ndjson", "--path", "town"];
    let against = ["verify", "data.ndjson", "--policy", "policy.toml", "--against", "data.ndjson"];
    let commands: [&[&str]; 4] = [
        &["anonymize", "policy.toml", "--dry-run"],
        &check,
        &against,
        &["hierarchy", "show", "--policy", "policy.toml", "--path", "town"],
    ];
    for command in commands {
        dir.run(command).exits(3).says(&hidden).hides(SECRETS);
        dir.run(&[command, &["--show-values"]].concat()).exits(3).says(&shown);
    }
}

#[test]
fn a_hierarchy_with_a_loop() {
    let dir = with_hierarchy("a;b;*\nb;a;*\nc;d;e;*\nd;*\n");
    let parts =
        ["`b` is below `a` here, but above it on line 1", " --> h.csv:2:1", "2 | b;a;*\n  | ^", "help: "];
    dir.run(&["hierarchy", "check", "h.csv"]).exits(3).says(&parts);
    dir.run(&["anonymize", "policy.toml", "--dry-run"]).exits(2).says(&parts).hides(SECRETS);
    let found = dir.run(&["hierarchy", "check", "h.csv", "--json"]).exits(3).json();
    assert_eq!(found["valid"], false);
}

#[test]
fn a_quasi_attribute_without_hierarchy_and_a_missing_one() {
    let dir = with_hierarchy("a;*\n");
    let set = ["--set", "attribute[0].hierarchy=no.csv"];
    let found = dir.run(&[&["anonymize", "policy.toml", "--dry-run"][..], &set].concat()).exits(2);
    found.says(&["there is no such file", " --> no.csv", "help: check the path"]).hides(SECRETS);
    let bare = dir.text("policy.toml").replace("hierarchy = \"h.csv\"", "");
    dir.write("policy.toml", bare);
    let found = dir.run(&["anonymize", "policy.toml", "--dry-run"]).exits(2).hides(SECRETS);
    found.says(&[
        "the quasi attribute `town` has no hierarchy",
        " --> policy.toml:3:8",
        "help: add `hierarchy = ",
    ]);
}
