//! Exit codes that scripts can use.

use crate::util::{Dir, attribute, policy};

fn clinic() -> Dir {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "60", "--out", "."]).exits(0).says_nothing();
    dir
}

#[test]
fn zero_when_the_claim_holds_and_one_when_not() {
    let dir = Dir::new();
    dir.write("policy.toml", policy(&[attribute("a", "quasi", "")], "model = \"k-anonymity\"\nk = 2"));
    dir.write("data.csv", "a\nx\nx\ny\ny\n");
    let found = dir.run(&["verify", "data.csv", "--policy", "policy.toml"]).exits(0).says_nothing();
    assert_eq!(
        found.stdout,
        "HOLDS: every record looks like at least one other.\n       Checked for all of 4 records.\n       \
         Counted a second time, literally: all 2 classes of records that look alike.\n\
         next: bosket report policy.toml --publication data.csv\n"
    );
    let found = dir.run(&["verify", "data.csv", "--policy", "policy.toml", "--set", "privacy.k=3"]).exits(1);
    found.says_nothing().prints(&[
        "VIOLATED: every record looks like at least 2 others.",
        "only 2 records fit",
        "a  x",
        "records: 1 2",
    ]);
}

#[test]
fn two_for_bad_usage() {
    let dir = clinic();
    let wrong: [&[&str]; 9] = [
        &[],
        &["verfy"],
        &["verify"],
        &["verify", "data.ndjson"],
        &["verify", "data.ndjson", "--policy", "policy.toml", "--memory", "much"],
        &["verify", "data.ndjson", "--policy", "policy.toml", "--mapping", "m.csv"],
        &["hierarchy", "show"],
        &["policy", "check", "policy.toml", "--threads", "0"],
        &["completions", "tcl"],
    ];
    for args in wrong {
        let found = dir.run(args).exits(2);
        assert!(
            found.stdout.is_empty() && found.stderr.contains("Usage") || found.stderr.contains("error"),
            "{args:?}"
        );
    }
}

#[test]
fn three_for_unwritable_output() {
    let build = ["hierarchy", "build", "order", "--groups", "[\"a\"]", "-o", "no/such/h.csv"];
    let parts =
        ["cannot write the file: there is no such", " --> no/such/h.csv", "help: create the folder first"];
    Dir::new().run(&build).exits(3).says(&parts);
}

#[test]
fn four_when_k_exceeds_the_records() {
    let dir = clinic();
    let args = ["anonymize", "policy.toml", "--dry-run", "--set", "privacy.k=61"];
    let found = dir.run(&args).exits(4).says(&[
        "k = 61 exceeds the 60 records",
        " --> data.ndjson",
        "help: ask for a smaller k",
    ]);
    assert_eq!(found.stdout, "");
    let found =
        dir.run(&["anonymize", "policy.toml", "--dry-run", "--set", "privacy.k=60"]).exits(0).says_nothing();
    found.prints(&[
        "60 records in data.ndjson",
        "2 identifying, 7 quasi",
        "kmn with `best`",
        "published.ndjson",
    ]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let dir = clinic();
    let before = dir.files();
    let found = dir.run(&["anonymize", "policy.toml", "--dry-run", "--json"]).exits(0).says_nothing().json();
    assert_eq!((&found["records"], &found["dry_run"]), (&60.into(), &true.into()));
    assert_eq!((&found["attributes"]["quasi"], &found["exists"]), (&7.into(), &false.into()));
    assert!(found["algorithms_registered"].is_array());
    assert_eq!(dir.files(), before);
    dir.write("published.ndjson", "old");
    dir.run(&["anonymize", "policy.toml", "--dry-run"]).exits(0).prints(&["exists and would need --force"]);
    assert_eq!(dir.text("published.ndjson"), "old");
}

#[test]
fn a_dry_run_names_attributes_that_the_data_lacks() {
    let dir = clinic();
    let more = attribute("visits[].ward", "quasi", "hierarchy = { build = \"prefix\" }");
    dir.write("more.toml", format!("{}{more}", dir.text("policy.toml")));
    let found = dir.run(&["anonymize", "more.toml", "--dry-run"]).exits(0);
    found.says(&["warning: the data has no attribute `visits[].ward`", " --> more.toml:"]);
}
