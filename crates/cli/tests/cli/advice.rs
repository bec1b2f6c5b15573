//! Where little is left, `anonymize`, `sweep` and the report say why and what would help.

use serde_json::Value;

use crate::util::{Dir, attribute, policy};

/// Sixty people; one has a rare eye colour, so that one cut for everybody hides all colours.
fn people() -> Dir {
    let dir = Dir::new();
    let person = |i: usize| {
        let eyes = if i == 7 { "violet" } else { ["brown", "blue", "green"][i % 3] };
        format!("{{\"eyes\":\"{eyes}\",\"town\":\"{}\",\"pay\":{}}}\n", ["Ulm", "Bonn"][i % 2], i % 5)
    };
    dir.write("input.ndjson", (0..60).map(person).collect::<String>());
    let attributes = [
        attribute(
            "eyes",
            "quasi",
            "hierarchy = { build = \"order\", groups = [\"brown\", \"blue\", \"green\", \"violet\"] }",
        ),
        attribute("town", "quasi", "hierarchy = { build = \"order\", groups = [\"Ulm\", \"Bonn\"] }"),
        attribute("pay", "sensitive", ""),
    ];
    let rest = "model = \"kmn\"\nk = 3\nm = 2\nn = 0\n[method]\ncost = \"lm\"\n\
                [source]\nformat = \"ndjson\"\npath = \"input.ndjson\"\n\
                [publish]\npath = \"published.ndjson\"\nreport = \"report.html\"";
    dir.write("policy.toml", policy(&attributes, rest));
    dir
}

const WHY: &str = "eyes: 60 of 60 values say nothing; one step finer, eyes as it was would fit fewer than 3 records; what would help \
                   it: leaving out eyes";

#[test]
fn anonymize_says_what_forces_a_star_and_what_would_help() {
    let dir = people();
    dir.run(&["anonymize", "policy.toml"]).exits(0).hides(&["violet"]).prints(&[
        "little is left:\n  eyes: ",
        WHY,
        "a hierarchy with a level between `*` and its 4 labels",
        "what would help (NCP, ",
        "recoding = \"local\" (",
        "m = 1 (",
    ]);
    let html = dir.text("report.html");
    assert!(
        html.contains("Where little is left") && html.contains("one step finer, eyes as it was"),
        "{html}"
    );
    assert!(!html.contains("violet"));
    // Labels are for whoever asks, and never in the report.
    dir.run(&["anonymize", "policy.toml", "--force", "--show-values"])
        .exits(0)
        .prints(&["eyes \"violet\" as it was would fit"]);
    assert!(!dir.text("report.html").contains("violet"));
    // The publication does not depend on it.
    let before = dir.text("published.ndjson");
    dir.run(&["anonymize", "policy.toml", "--force"]).exits(0);
    assert_eq!(dir.text("published.ndjson"), before);
}

#[test]
fn programs_get_the_advice_and_null_where_enough_is_left() {
    let dir = people();
    let told = |more: &[&str]| -> Value {
        let args = [&["anonymize", "policy.toml", "--force", "--json"][..], more].concat();
        serde_json::from_str(&dir.run(&args).exits(0).stdout).expect("JSON")
    };
    let advice = &told(&[])["advice"];
    assert_eq!(advice["attributes"][0]["path"], "eyes");
    assert_eq!(advice["attributes"][0]["forced_by"]["known"][0]["label"], Value::Null);
    assert_eq!(advice["helps"][0]["method.recoding"], "local");
    assert_eq!(told(&["--set", "method.recoding=local"])["advice"], Value::Null);
}

#[test]
fn a_sweep_tells_losses_that_stand_in_its_own_rows() {
    let dir = people();
    let all = ["sweep", "policy.toml", "--m", "1..2", "--set-each", "method.recoding=global,local"];
    let printed = dir.run(&all).exits(0).hides(&["violet"]).stdout;
    assert!(printed.contains("little is left with recoding = global, m = 2:\n  eyes: 60 of 60"), "{printed}");
    assert!(!printed.contains("little is left with recoding = local"), "{printed}");
    let row = printed.lines().find(|line| line.starts_with("recoding = local, m = 2")).expect("a row");
    let loss: f64 = row.split_whitespace().nth(6).and_then(|text| text.parse().ok()).expect("a figure");
    assert!(printed.contains(&format!("recoding = \"local\" ({loss:.3})")), "{printed}");
}

#[test]
fn a_report_on_its_own_names_what_forces_it() {
    let dir = people();
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir.run(&["report", "policy.toml", "--force"]).exits(0);
    let html = dir.text("report.html");
    assert!(html.contains("one step finer, eyes as it was"), "{html}");
}

#[test]
fn items_of_sets_that_are_left_out_are_told_too() {
    let dir = Dir::new();
    let lines = ["bread\n"; 5].concat() + "aloe\nbolt\ncork\ndill\nedam\nfig\ngum\n";
    dir.write("input.txt", lines);
    let groups = "[\"bread\", \"aloe\", \"bolt\", \"cork\", \"dill\", \"edam\", \"fig\", \"gum\"]";
    let attributes =
        [attribute("item", "quasi", &format!("hierarchy = {{ build = \"order\", groups = {groups} }}"))];
    let rest = "model = \"km\"\nk = 3\nm = 2\n[method]\nsuppress = true\n\
                [source]\nformat = \"transactions\"\npath = \"input.txt\"\n[publish]\npath = \"published.txt\"";
    dir.write("policy.toml", policy(&attributes, rest));
    dir.run(&["anonymize", "policy.toml"]).exits(0).hides(&["aloe", "gum"]).prints(&[
        "item: 7 of 12 values say nothing; one step finer, item as it was would fit fewer than 3 records; what would help it: a \
         hierarchy with a level between `*` and its 8 labels",
    ]);
}

#[test]
fn clusters_name_the_attribute_and_what_helps() {
    let dir = people();
    let sets = ["privacy.model=k-anonymity", "privacy.k=60", "privacy.m=", "privacy.n=", "method.cost="];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
    dir.run(&[&["anonymize", "policy.toml"], &sets[..]].concat()).exits(0).hides(&["violet"]).prints(&[
        "eyes: 60 of 60 values say nothing; records that are made to look alike differ in it; what would help it: leaving out eyes",
        "what would help (LM, ",
        "k = 30 (",
    ]);
}
