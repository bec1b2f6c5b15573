//! Publications of several files, killed: whoever looks finds the old one or the new one, whole.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::util::Dir;

const PUBLISHED: &str = "d/tables/published";
const CERTIFICATE: &str = "d/tables/published.certificate.json";

fn args(k: usize) -> [String; 5] {
    let policy = "d/tables/policy-csv.toml".to_owned();
    ["anonymize".to_owned(), policy, "--set".to_owned(), format!("privacy.k={k}"), "--force".to_owned()]
}

fn publish(dir: &Dir, k: usize) {
    dir.run(&args(k).each_ref().map(String::as_str)).exits(0);
}

/// The published tables, by name.
fn tables(dir: &Dir) -> BTreeMap<String, Vec<u8>> {
    let inside = |name: &String| name.starts_with(&format!("{PUBLISHED}/"));
    dir.files().into_iter().filter(inside).map(|name| (name.clone(), dir.read(&name))).collect()
}

fn hidden(dir: &Dir) -> Vec<String> {
    dir.files().into_iter().filter(|name| name.contains("/.")).collect()
}

#[test]
fn a_killed_run_left_a_publication_that_nobody_could_verify() {
    let dir = Dir::new();
    dir.run(&["generate", "tpch", "--customers", "100", "--out", "d"]).exits(0);
    let mut known = Vec::new();
    let mut took = Duration::ZERO;
    for k in [3, 8] {
        let begun = Instant::now();
        publish(&dir, k);
        took = begun.elapsed();
        known.push((tables(&dir), dir.read(CERTIFICATE)));
    }
    assert_ne!(known[0], known[1]);
    for round in 0..12 {
        let args = args([3, 8][round % 2]);
        let mut command = dir.command(&args.each_ref().map(String::as_str));
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        // Most often towards the end, where names change.
        std::thread::sleep(took.mul_f64([0.3, 0.8, 0.9, 0.95, 1.0, 1.05][(round * 5) % 6]));
        run.kill().expect("it can be killed");
        run.wait().expect("it ends");
        let (now, certificate) = (tables(&dir), dir.read(CERTIFICATE));
        let whole = known.iter().position(|(tables, _)| *tables == now);
        let whole = whole.unwrap_or_else(|| panic!("round {round}: {:?}", now.keys().collect::<Vec<_>>()));
        if known[whole].1 == certificate {
            dir.certified(PUBLISHED, CERTIFICATE);
        }
    }
    publish(&dir, 3);
    assert_eq!((tables(&dir), dir.read(CERTIFICATE)), known[0]);
    assert_eq!(hidden(&dir), [""; 0], "what the dead left behind is gone");
    dir.certified(PUBLISHED, CERTIFICATE);
}

#[test]
fn a_folder_keeps_what_else_is_in_it() {
    let dir = Dir::new();
    dir.run(&["generate", "tpch", "--customers", "50", "--out", "d"]).exits(0);
    publish(&dir, 3);
    let note = format!("{PUBLISHED}/README.txt");
    dir.write(&note, "mine");
    publish(&dir, 8);
    assert_eq!(dir.text(&note), "mine");
    // A folder inside cannot be linked: names change one by one.
    dir.write(&format!("{PUBLISHED}/more/README.txt"), "mine");
    publish(&dir, 3);
    assert_eq!((dir.text(&note).as_str(), hidden(&dir).len()), ("mine", 0));
    assert_eq!(dir.text(&format!("{PUBLISHED}/more/README.txt")), "mine");
}

#[test]
fn a_disk_that_fills_while_tables_are_published() {
    let dir = Dir::new();
    dir.run(&["generate", "tpch", "--customers", "100", "--out", "d"]).exits(0);
    for policy in ["d/tables/policy-csv.toml", "d/tables/policy-sqlite.toml"] {
        let before = dir.files();
        dir.bash(&format!("ulimit -f 4; $BOSKET anonymize {policy}")).exits(3);
        assert_eq!(dir.files(), before, "{policy}");
        assert!(!dir.path(PUBLISHED).exists(), "{policy}");
    }
}

#[test]
fn a_link_to_the_input_is_the_input() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "50", "--out", "c"]).exits(0);
    let data = dir.read("c/data.ndjson");
    std::os::unix::fs::symlink("data.ndjson", dir.path("c/out.ndjson")).expect("a link");
    dir.run(&["anonymize", "c/policy.toml", "--set", "publish.path=out.ndjson", "--force"])
        .exits(2)
        .says(&["would overwrite"]);
    assert_eq!(dir.read("c/data.ndjson"), data);
}

#[test]
fn a_name_too_long_for_a_certificate_is_refused_before_anything_is_written() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "50", "--out", "c"]).exits(0);
    let before = dir.files();
    let name = format!("publish.certificate={}.json", "x".repeat(300));
    dir.run(&["anonymize", "c/policy.toml", "--set", &name])
        .exits(3)
        .says(&["cannot write the file", "help: choose a shorter or simpler file name"]);
    assert_eq!(dir.files(), before);
}
