//! Help, completions, manual page, schema: the tool about itself.

use serde_json::Value;

use crate::util::Dir;

const COMMANDS: &[&[&str]] = &[
    &["inspect"],
    &["hierarchy", "build"],
    &["hierarchy", "show"],
    &["hierarchy", "check"],
    &["policy", "check"],
    &["policy", "schema"],
    &["verify"],
    &["anonymize"],
    &["convert"],
    &["generate", "clinic"],
    &["generate", "hospital"],
    &["generate", "tpch"],
    &["generate", "baskets"],
    &["completions"],
    &["man"],
];

#[test]
fn every_command_answers_help() {
    let dir = Dir::new();
    let top = dir.run(&["--help"]).exits(0).says_nothing();
    for command in COMMANDS {
        assert!(top.stdout.contains(&format!("\n  {} ", command[0])), "{command:?}");
        let found = dir.run(&[*command, &["--help"]].concat()).exits(0).says_nothing();
        let usage = format!("Usage: bosket {}", command.join(" "));
        found.prints(&[&usage, "--threads", "--verbose"]);
        dir.run(&[&["help"], *command].concat()).exits(0).prints(&[&usage]);
    }
    let words = top.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Exit codes: 0 done") && words.contains("130 interrupted"), "{words}");
    let found = dir.run(&["--version"]).exits(0);
    assert_eq!(found.stdout, format!("bosket {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_command_that_prints_results_has_json() {
    let dir = Dir::new();
    let without = ["build", "schema", "clinic", "hospital", "tpch", "baskets", "completions", "man"];
    for command in COMMANDS.iter().filter(|c| !without.contains(c.last().expect("a word"))) {
        dir.run(&[*command, &["--help"]].concat()).exits(0).prints(&["--json"]);
    }
}

#[test]
fn completions_for_the_usual_shells() {
    let dir = Dir::new();
    for shell in ["bash", "zsh", "fish"] {
        let found = dir.run(&["completions", shell]).exits(0).says_nothing();
        for word in COMMANDS.iter().copied().flatten() {
            assert!(found.stdout.contains(word), "{shell} does not know {word}");
        }
        found.prints(&["show-values", "against", "dry-run"]);
    }
    let script = dir.run(&["completions", "bash"]).stdout;
    dir.write("bosket.bash", script);
    dir.bash("bash -n bosket.bash").exits(0).says_nothing();
    let found = dir.bash("source bosket.bash; COMP_WORDS=(bosket ver); COMP_CWORD=1; _bosket bosket ver bosket; echo ${COMPREPLY[@]}");
    assert_eq!(found.exits(0).stdout, "verify\n");
}

#[test]
fn the_manual_page_has_all_commands() {
    let page = Dir::new().run(&["man"]).exits(0).says_nothing();
    assert!(page.stdout.starts_with(".ie") || page.stdout.starts_with(".TH"), "roff");
    for command in COMMANDS {
        let heading = format!("\n.SS bosket {}\n", command.join(" "));
        assert!(page.stdout.contains(&heading), "{command:?} is missing");
    }
    page.prints(&["\\-\\-against", "\\-\\-dry\\-run", "\\-\\-show\\-values"]);
}

#[test]
fn the_schema_of_policies_is_a_json_schema() {
    let schema = Dir::new().run(&["policy", "schema"]).exits(0).says_nothing().json();
    assert!(
        schema["$schema"].as_str().is_some_and(|s| s.starts_with("https://json-schema.org/")),
        "{schema}"
    );
    assert_eq!(schema["type"], "object");
    for section in ["version", "source", "attribute", "privacy", "method", "publish"] {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
    // A published schema must not point anywhere that is not in it.
    fn references<'s>(value: &'s Value, out: &mut Vec<&'s str>) {
        match value {
            Value::Object(table) => {
                out.extend(table.get("$ref").and_then(Value::as_str));
                table.values().for_each(|v| references(v, out));
            }
            Value::Array(list) => list.iter().for_each(|v| references(v, out)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    references(&schema, &mut found);
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("inside the document");
        assert!(schema.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
}

#[test]
fn the_example_passes_its_own_checks() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "50", "--out", "c"]).exits(0).says_nothing();
    let found = dir.run(&["policy", "check", "c/policy.toml"]).exits(0).says_nothing();
    found.prints(&["9 attributes", "kmn"]);
    dir.run(&["anonymize", "c/policy.toml", "--dry-run"]).exits(0).says_nothing();
    let names: Vec<String> = dir.files().into_iter().filter(|f| f.starts_with("c/hierarchies/")).collect();
    assert_eq!(names.len(), 4);
    for name in &names {
        dir.run(&["hierarchy", "check", name]).exits(0).says_nothing().prints(&["ok: "]);
    }
}
