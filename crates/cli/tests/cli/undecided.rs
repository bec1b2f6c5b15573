//! What is sensitive in a draft: nobody has decided what protects it, and nothing is published until somebody does.

use crate::util::{Dir, Output};

/// People with an income and what follows from it.
fn people(dir: &Dir) {
    let row = |i: usize| format!("{},{},{}\n", 1950 + i % 4, i % 2, 1000 + 100 * (i % 7));
    dir.write("people.csv", "birth_year,sex,income\n".to_owned() + &(0..80).map(row).collect::<String>());
    dir.run(&["inspect", "people.csv", "--draft", "p.toml"]).exits(0);
}

const INCOME: &str = "attribute[\"income\"]";

fn anonymize(dir: &Dir, sets: &[&str]) -> Output {
    let mut args = vec!["anonymize", "p.toml", "--force"];
    sets.iter().for_each(|set| args.extend(["--set", set]));
    dir.run(&args)
}

#[test]
fn a_draft_published_what_it_called_sensitive_as_it_was() {
    let dir = Dir::new();
    people(&dir);
    let draft = dir.text("p.toml");
    assert!(draft.contains("role       = \"sensitive\"\nprotection = \"undecided\""), "{draft}");
    assert!(draft.contains("What protects it?"), "{draft}");
    let told = [
        "nobody has decided what protects `income`",
        "p.toml:",
        "`role = \"drop\"`",
        "`model = \"l-diversity\"`",
    ];
    anonymize(&dir, &[]).exits(2).says(&told);
    dir.run(&["anonymize", "p.toml", "--dry-run"]).exits(2).says(&told);
    dir.run(&["policy", "check", "p.toml"]).exits(2).says(&told);
    dir.run(&["sweep", "p.toml", "--k", "2,5"]).exits(2).says(&told);
    assert!(!dir.files().iter().any(|file| file.contains("published")), "{:?}", dir.files());
    // The raw data can be looked at before anything is decided.
    dir.run(&["attack", "people.csv", "--policy", "p.toml"]).exits(0);
    dir.run(&["inspect", "people.csv", "--risk"]).exits(0).prints(&["If these roles are right"]);
}

#[test]
fn whatever_somebody_decides_is_published() {
    let dir = Dir::new();
    people(&dir);
    let set = |key: &str, value: &str| format!("{INCOME}.{key}={value}");
    anonymize(&dir, &[&set("protection", "nothing")]).exits(0);
    assert!(dir.text("published.csv").contains("income"));
    anonymize(&dir, &[&set("role", "drop")]).exits(0);
    assert!(!dir.text("published.csv").contains("income"));
    let diverse = ["privacy.model=l-diversity", "privacy.l=2"];
    anonymize(&dir, &[diverse[0], diverse[1], &set("protection", "l")]).exits(0);
    // Who asks for diversity has decided.
    anonymize(&dir, &diverse).exits(0);
}

#[test]
fn what_is_said_to_protect_has_to_be_there() {
    let dir = Dir::new();
    people(&dir);
    let set = |value: &str| format!("{INCOME}.protection={value}");
    let lacks = |key: &str| format!("nothing protects this attribute: there is no `privacy.{key}`");
    for key in ["l", "t", "beta"] {
        anonymize(&dir, &[&set(key)]).exits(2).says(&[&lacks(key)]);
    }
    anonymize(&dir, &[&set("groups")]).exits(2).says(&["is not published apart"]);
    anonymize(&dir, &[&set("nothing"), "privacy.model=l-diversity", "privacy.l=2"])
        .exits(2)
        .says(&["so \"nothing\" is not true"]);
}

#[test]
fn the_reasons_of_a_draft_are_nobodys() {
    let dir = Dir::new();
    people(&dir);
    let draft = dir.text("p.toml");
    assert!(!draft.lines().any(|line| line.starts_with("why")), "{draft}");
    assert!(draft.contains("# By its name, money"), "{draft}");
    anonymize(&dir, &[&format!("{INCOME}.protection=nothing")]).exits(0);
    let set = format!("{INCOME}.protection=nothing");
    dir.run(&["report", "p.toml", "--set", &set, "-o", "report.html"]).exits(0);
    assert!(!dir.text("report.html").contains("By its name, money"));
}
