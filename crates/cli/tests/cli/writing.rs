//! Files that appear whole or not at all: full disks, interruptions, files that exist already.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::util::Dir;

const BUILD: &str = "hierarchy build interval --min 0 --max 99999 --widths 10,100";

#[test]
fn a_disk_that_fills_while_writing() {
    let dir = Dir::new();
    dir.write("out.csv", "old");
    let found = dir.bash(&format!("ulimit -f 8; $BOSKET {BUILD} -o out.csv --force")).exits(3);
    found.says(&[
        "cannot write the file: the file grew larger than allowed",
        " --> out.csv",
        "help: raise the limit on file sizes (ulimit -f), or write elsewhere; an older file of this name is untouched",
    ]);
    assert_eq!(dir.text("out.csv"), "old");
    assert_eq!(dir.files(), ["out.csv"], "no temporary file is left");
    for name in ["new.csv", "new.csv.gz", "new.csv.zst"] {
        dir.bash(&format!("ulimit -f 8; $BOSKET {BUILD} -o {name}"))
            .exits(3)
            .says(&[&format!(" --> {name}")]);
    }
    assert_eq!(dir.files(), ["out.csv"], "nothing unfinished gets a name");
}

#[test]
fn a_disk_that_fills_leaves_no_part_of_an_example() {
    let dir = Dir::new();
    dir.write("c/data.ndjson", "old data")
        .write("c/policy.toml", "old policy")
        .write("c/hierarchies/town.csv", "old");
    let before = dir.files();
    let found = dir.bash("ulimit -f 64; $BOSKET generate clinic --people 3000 --out c --force").exits(3);
    assert_eq!(found.says(&[" --> c/data.ndjson", "ulimit -f"]).stdout, "");
    assert_eq!(dir.files(), before);
    assert_eq!(dir.text("c/data.ndjson"), "old data");
    assert_eq!(dir.text("c/policy.toml"), "old policy");
    assert_eq!(dir.text("c/hierarchies/town.csv"), "old");
}

#[test]
fn a_disk_that_fills_keeps_the_old_draft() {
    let dir = Dir::new();
    dir.write("data.csv", "town\nQuetzal\n").write("policy.toml", "old");
    let found = dir.bash("ulimit -f 0; $BOSKET inspect data.csv --draft policy.toml --force").exits(3);
    found.says(&[" --> policy.toml", "ulimit -f"]).hides(&["Quetzal"]);
    assert_eq!((dir.text("policy.toml").as_str(), dir.files().len()), ("old", 2));
}

#[test]
fn an_existing_output_needs_force() {
    let dir = Dir::new();
    dir.write("out.csv", "old");
    let build = ["hierarchy", "build", "order", "--groups", "[\"a\",\"b\"]", "-o", "out.csv"];
    let parts = ["cannot write the file: it exists", " --> out.csv", "help: use --force to replace it"];
    dir.run(&build).exits(3).says(&parts);
    assert_eq!(dir.text("out.csv"), "old");
    dir.run(&[&build[..], &["--force"]].concat()).exits(0).says(&["wrote out.csv: 2 leaves"]);
    assert_eq!((dir.text("out.csv").as_str(), dir.files().len()), ("a;*\nb;*\n", 1));
}

#[test]
fn an_existing_example_is_not_mixed_with_a_new_one() {
    let dir = Dir::new();
    dir.write("c/policy.toml", "mine");
    let args = ["generate", "clinic", "--people", "5", "--out", "c"];
    dir.run(&args).exits(3).says(&["it exists", " --> c/policy.toml", "--force"]);
    assert_eq!(dir.files(), ["c/policy.toml"], "all or nothing");
    assert_eq!(dir.text("c/policy.toml"), "mine");
    dir.run(&[&args[..], &["--force"]].concat()).exits(0);
    assert_ne!(dir.text("c/policy.toml"), "mine");
}

#[test]
fn compressed_by_name_and_the_same_bytes_each_time() {
    let dir = Dir::new();
    let build = |name: &str| {
        let args = format!("{BUILD} -o {name}");
        dir.run(&args.split(' ').collect::<Vec<_>>()).exits(0);
        dir.read(name)
    };
    assert_eq!(build("a.csv.gz"), build("b.csv.gz"));
    assert_eq!(build("a.csv.zst"), build("b.csv.zst"));
    assert!(
        dir.read("a.csv.gz").starts_with(&[0x1F, 0x8B])
            && dir.read("a.csv.zst").starts_with(&[0x28, 0xB5, 0x2F, 0xFD])
    );
    for name in ["a.csv.gz", "a.csv.zst"] {
        dir.run(&["hierarchy", "check", name]).exits(0).prints(&["ok: 100,000 leaves"]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_device_a_device() {
    let dir = Dir::new();
    dir.write("real/h.csv", "old");
    std::os::unix::fs::symlink("real/h.csv", dir.path("link.csv")).expect("a link");
    let build = |out: &str, force: &[&str]| {
        let args = ["hierarchy", "build", "order", "--groups", "[\"a\"]", "-o", out];
        dir.run(&[&args[..], force].concat())
    };
    build("link.csv", &[]).exits(3).says(&["it exists"]);
    build("link.csv", &["--force"]).exits(0);
    assert!(dir.path("link.csv").is_symlink());
    assert_eq!(dir.text("real/h.csv"), "a;*\n");
    build("/dev/null", &[]).exits(0);
    assert_eq!(dir.files(), ["link.csv", "real/h.csv"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let dir = Dir::new();
    for (out, seed) in [("a", "3"), ("b", "3"), ("c", "4")] {
        let args = ["generate", "clinic", "--people", "200", "--seed", seed, "--out", out];
        dir.run(&args).exits(0).prints(&["wrote 200 invented patients"]);
    }
    let names: Vec<String> =
        dir.files().into_iter().filter_map(|f| Some(f.strip_prefix("a/")?.to_owned())).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    for name in &names {
        assert_eq!(dir.read(&format!("a/{name}")), dir.read(&format!("b/{name}")), "{name}");
    }
    assert_ne!(dir.read("a/data.ndjson"), dir.read("c/data.ndjson"));
}

/// A run that is stopped if the test fails.
struct Run(Child);

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts writing a large example over an old one and sends a signal as soon as there is something to clean up.
fn interrupt(signal: &str) {
    let dir = Dir::new();
    dir.write("c/data.ndjson", "old").write("c/notes.txt", "mine");
    let mut command = dir.command(&["generate", "clinic", "--people", "3000000", "--out", "c", "--force"]);
    let mut run =
        Run(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts"));
    let begun = Instant::now();
    let temporary = || {
        dir.files()
            .into_iter()
            .find(|f| f.starts_with("c/.") && dir.path(f).metadata().is_ok_and(|m| m.len() > 0))
    };
    while temporary().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "writing does not begin");
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = format!("kill -{signal} {}", run.0.id());
    assert!(Command::new("bash").args(["-c", &kill]).status().expect("bash").success());
    while run.0.try_wait().expect("a child").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "SIG{signal} does not stop it");
        std::thread::sleep(Duration::from_millis(2));
    }
    let status = run.0.wait().expect("it has ended");
    let said = std::io::read_to_string(run.0.stderr.take().expect("piped")).expect("text");
    let printed = std::io::read_to_string(run.0.stdout.take().expect("piped")).expect("text");
    assert_eq!(status.code(), Some(130), "SIG{signal}: {said}");
    assert!(said.contains("interrupted") && printed.is_empty(), "{said}{printed}");
    assert_eq!(dir.files(), ["c/data.ndjson", "c/notes.txt"], "no temporary file, no part of the output");
    assert_eq!(dir.text("c/data.ndjson"), "old");
}

#[test]
fn ctrl_c_while_writing() {
    interrupt("INT");
}

#[test]
fn other_ways_to_be_stopped_while_writing() {
    interrupt("TERM");
    interrupt("HUP");
}

#[test]
fn a_command_went_on_when_whoever_had_started_it_was_gone() {
    let dir = Dir::new();
    dir.write("data.ndjson", "{\"a\":1}\n");
    // No test is started by the first process of all.
    let run = dir.run(&["inspect", "data.ndjson", "--draft", "p.toml", "--of-parent", "1"]);
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    assert!(!dir.path("p.toml").exists());
    let own = std::process::id().to_string();
    dir.run(&["inspect", "data.ndjson", "--of-parent", &own]).exits(0);
}

#[test]
fn a_policy_is_read_from_its_copy_and_its_paths_from_where_it_lies() {
    let dir = Dir::new();
    dir.write("in/data.ndjson", "{\"a\":1}\n{\"a\":1}\n");
    dir.write("in/p.toml", "this is no policy any more");
    dir.write(
        "copy.toml",
        "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n[[attribute]]\npath = \"a\"\nrole = \"quasi\"\n\
         hierarchy = { build = \"prefix\" }\n[privacy]\nmodel = \"kmn\"\nk = 2\nm = 1\nn = 0\n[publish]\npath = \"out.ndjson\"\n",
    );
    dir.run(&["anonymize", "in/p.toml", "--policy-copy", "copy.toml"]).exits(0);
    assert!(dir.path("in/out.ndjson").exists());
}
