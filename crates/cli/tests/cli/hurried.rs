//! Searches that somebody does not want to wait for: `--time`, and Ctrl-C once and twice.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::util::Dir;

/// Enough people that a search takes a while.
fn people() -> Dir {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "20000", "--out", "c"]).exits(0);
    dir.forget_attackers("c/policy.toml");
    dir
}

fn interrupt(run: &Child) {
    let kill = format!("kill -INT {}", run.id());
    assert!(Command::new("bash").args(["-c", &kill]).status().expect("bash").success());
}

/// Sends Ctrl-C so many times as soon as a search has begun, and gives the exit code and what was said and printed.
fn hurried(dir: &Dir, times: usize) -> (Option<i32>, String, String) {
    let mut command = dir.command(&["-v", "anonymize", "c/policy.toml", "--set", "privacy.m=3"]);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let mut lines = BufReader::new(run.stderr.take().expect("piped"));
    let (mut said, mut line) = (String::new(), String::new());
    while lines.read_line(&mut line).expect("text") > 0 && !line.contains("begins: searching cuts") {
        said.push_str(&std::mem::take(&mut line));
    }
    for _ in 0..times {
        interrupt(&run);
        line.clear();
        while lines.read_line(&mut line).expect("text") > 0
            && !line.contains("finishing")
            && !line.contains("interrupted")
        {
            said.push_str(&std::mem::take(&mut line));
        }
        said.push_str(&std::mem::take(&mut line));
    }
    lines.read_to_string(&mut said).expect("text");
    let printed = std::io::read_to_string(run.stdout.take().expect("piped")).expect("text");
    (run.wait().expect("it ends").code(), said, printed)
}

#[test]
fn ctrl_c_once_finishes_with_what_there_is() {
    let dir = people();
    let (code, said, printed) = hurried(&dir, 1);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("finishing with the best solution so far; Ctrl-C again stops"), "{said}");
    assert!(printed.contains("verified: ") && printed.contains("the search was cut short"), "{printed}");
    assert!(dir.text("c/published.ndjson.certificate.json").contains("\"search_cut_short\": true"));
    assert!(dir.text("c/report.html").contains("cut short"));
    dir.certified("c/published.ndjson", "c/published.ndjson.certificate.json");
}

#[test]
fn ctrl_c_twice_stops() {
    let dir = people();
    let before = dir.files();
    let (code, said, printed) = hurried(&dir, 2);
    assert_eq!((code, printed.as_str()), (Some(130), ""), "{said}");
    assert!(said.contains("finishing") && said.contains("nothing was written"), "{said}");
    assert_eq!(dir.files(), before);
}

#[test]
fn a_time_is_held_by_all_families() {
    let dir = people();
    dir.run(&["generate", "baskets", "--transactions", "2000", "--out", "b"]).exits(0);
    for policy in ["c/policy.toml", "b/policy.toml"] {
        dir.run(&["anonymize", policy, "--time", "1ms"]).exits(0).says(&["the search was cut short"]);
        dir.run(&["anonymize", policy, "--time", "10m", "--force"]).exits(0);
        dir.run(&["anonymize", policy, "--time", "soon", "--force"]).exits(2).says(&["method.time"]);
    }
}
