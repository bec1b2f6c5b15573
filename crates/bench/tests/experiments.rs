//! The experiments as a user runs them, at their smallest.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench")).args(arguments).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_suite_writes_results_a_report_and_plots() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let out = folder.path().display().to_string();
    let run = bench(&["--tiny", "--only", "paper-003", "--out", &out]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let path = folder.path().join("results.json");
    let results: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("results")).expect("valid JSON");
    assert_eq!(results["suites"].as_array().map(Vec::len), Some(1));
    let suite = &results["suites"][0];
    assert_eq!(suite["name"], "paper-003");
    let sizes = &suite["tables"][0];
    assert_eq!(
        (&sizes["id"], &sizes["columns"][0]["measure"]),
        (&Value::from("group-size"), &Value::from("degree"))
    );
    let degrees = sizes["rows"][0]["values"].as_array().expect("values");
    assert!(degrees[0].as_f64().is_some_and(|d| d >= 1.0), "{degrees:?}");
    assert!(suite["claims"].as_array().is_some_and(|c| c.iter().all(|c| c["holds"].is_string())));
    for key in ["machine", "versions", "seed", "datasets"] {
        assert!(!results[key].is_null(), "{key} is missing");
    }
    let report = std::fs::read_to_string(folder.path().join("results.md")).expect("a report");
    assert!(report.contains("## paper-003"), "{report}");
    assert!(folder.path().join("plots/bench-paper-003-group-size-degree.svg").exists());

    let path = path.display().to_string();
    let same = bench(&["compare", &path, &path]);
    assert!(same.status.success());
    assert!(text(&same.stdout).contains(" 0 more than 10 % slower or larger"), "{}", text(&same.stdout));
}

#[test]
fn a_hospital_is_drafted_and_published() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let run = bench(&["--tiny", "--only", "wide", "--out", &folder.path().display().to_string()]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let results = std::fs::read_to_string(folder.path().join("results.json")).expect("results");
    let results: Value = serde_json::from_str(&results).expect("valid JSON");
    let table = &results["suites"][0]["tables"][0];
    assert_eq!(table["missing"], Value::Array(Vec::new()), "{}", text(&run.stderr));
    let values = table["rows"][0]["values"].as_array().expect("values");
    assert!(values.iter().all(Value::is_number), "{values:?}");
}

#[test]
fn a_point_that_fails_says_why() {
    use std::io::Write as _;
    use std::process::Stdio;

    let job = r#"{"do":"anonymize","policy":{"path":"nowhere.toml","settings":[]},"fold":null,"mining":false,"measured_by":null,"publish":false}"#;
    let mut child = Command::new(env!("CARGO_BIN_EXE_bench"))
        .arg("point")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(job.as_bytes()).expect("room");
    let output = child.wait_with_output().expect("it ends");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    // Reasons go into results that are passed on: they name no path of this machine.
    assert!(answer["Err"].as_str().is_some_and(|why| why.contains("no such file")), "{answer}");
}

#[test]
fn an_unknown_suite_is_refused_with_the_known_ones() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let run = bench(&["--quick", "--only", "paper-999", "--out", &folder.path().display().to_string()]);
    assert_eq!(run.status.code(), Some(2));
    let said = text(&run.stderr);
    assert!(said.contains("paper-999") && said.contains("paper-000") && said.contains("peers"), "{said}");
}

/// Figures were once asked for by a name that nobody gave them.
#[test]
fn no_measure_of_the_committed_run_is_missing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/benchmarks.json");
    let results: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("results")).expect("valid JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for suite in list(&results["suites"]) {
        for table in list(&suite["tables"]) {
            let columns = list(&table["columns"]);
            let there = |at: usize| list(&table["rows"]).iter().any(|row| row["values"][at].is_number());
            for measure in columns.iter().map(|column| &column["measure"]) {
                let found = (0..columns.len()).any(|at| columns[at]["measure"] == *measure && there(at));
                assert!(found, "{} {}: {measure}", suite["name"], table["id"]);
            }
        }
    }
}

/// Files of a folder whose names begin with something, with their texts.
fn files(folder: &Path, start: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = (std::fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("an entry"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, _)| name.starts_with(start))
        .map(|(name, path)| (name, std::fs::read_to_string(path).expect("readable")))
        .collect();
    found.sort();
    found
}

#[test]
fn the_chapter_is_what_the_committed_run_gives() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folder = tempfile::tempdir().expect("a scratch folder");
    let out = folder.path().join("benchmarks.md");
    let run = bench(&[
        "docs",
        &docs.join("benchmarks.json").display().to_string(),
        "--since",
        &docs.join("benchmarks-before.json").display().to_string(),
        "--out",
        &out.display().to_string(),
    ]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let told =
        "run `cargo run --release -p bench -- docs docs/benchmarks.json --since docs/benchmarks-before.json`";
    assert!(
        std::fs::read_to_string(&out).expect("written")
            == std::fs::read_to_string(docs.join("benchmarks.md")).expect("the chapter"),
        "docs/benchmarks.md is not what docs/benchmarks.json gives; {told}"
    );
    assert!(
        files(&folder.path().join("pictures"), "bench-") == files(&docs.join("pictures"), "bench-"),
        "the plots of benchmarks in docs/pictures are not what docs/benchmarks.json gives; {told}"
    );
}
