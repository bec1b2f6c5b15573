//! Standard input and output, compressed inputs, what goes where.

use std::io::Read;
use std::process::Stdio;

use crate::util::{Dir, attribute, policy};

fn scratch() -> Dir {
    let dir = Dir::new();
    dir.write("policy.toml", policy(&[attribute("a", "quasi", "")], "model = \"k-anonymity\"\nk = 2"));
    dir.write("data.ndjson", "{\"a\":1}\n{\"a\":1}\n{\"a\":2}\n");
    dir
}

#[test]
fn standard_input_is_a_file() {
    let dir = scratch();
    let file = dir.run(&["verify", "data.ndjson", "--policy", "policy.toml", "--json"]).exits(1);
    let piped = dir
        .run_with(&["verify", "-", "--policy", "policy.toml", "--json"], &dir.read("data.ndjson"))
        .exits(1);
    assert_eq!(piped.stdout, file.stdout);
    let found = dir.run_with(&["inspect", "-"], b"a,b\n1,2\n").exits(0);
    found.prints(&["csv: 1 record"]);
    let policy = dir
        .run_with(&["verify", "data.ndjson", "--policy", "-", "--json"], &dir.read("policy.toml"))
        .exits(1);
    assert_eq!(policy.stdout, file.stdout);
    let found = dir.run_with(&["hierarchy", "build", "prefix", "--values", "-"], b"ab\nac\n").exits(0);
    assert_eq!(found.stdout, "ab;a*;**;*\nac;a*;**;*\n");
}

#[test]
fn standard_input_was_read_as_two_files() {
    let dir = scratch();
    let wrong: [&[&str]; 2] =
        [&["verify", "-", "--policy", "-"], &["verify", "-", "--policy", "policy.toml", "--against", "-"]];
    for args in wrong {
        dir.run_with(args, b"{\"a\":1}\n")
            .exits(2)
            .says(&["`-` is given more than once", "help: name files"]);
    }
}

#[test]
fn compressed_inputs_read_like_plain_ones() {
    let dir = scratch();
    let plain = dir.read("data.ndjson");
    let verdict =
        |file: &str| dir.run(&["verify", file, "--policy", "policy.toml", "--json"]).exits(1).stdout;
    let expected = verdict("data.ndjson");
    for name in ["data.ndjson.gz", "data.ndjson.zst", "DATA.JSONL.GZ"] {
        dir.write_compressed(&name.to_lowercase(), &plain);
        let bytes = dir.read(&name.to_lowercase());
        assert_ne!(bytes, plain);
        dir.write(name, &bytes);
        assert_eq!(verdict(name), expected, "{name}");
        let piped = dir.run_with(&["verify", "-", "--policy", "policy.toml", "--json"], &bytes).exits(1);
        assert_eq!(piped.stdout, expected, "{name} through a pipe");
    }
    // Compression is told by the content, not by the name.
    dir.write("misnamed.ndjson", dir.read("data.ndjson.zst"));
    assert_eq!(verdict("misnamed.ndjson"), expected);
    // Policies and hierarchies, too.
    dir.write_compressed("policy.toml.gz", dir.read("policy.toml"));
    dir.run(&["verify", "data.ndjson", "--policy", "policy.toml.gz"]).exits(1);
}

/// Reads a few bytes of what a command prints, then closes the pipe, as `head` does.
#[track_caller]
fn closed_early(dir: &Dir, args: &[&str]) {
    let mut child =
        dir.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut head = [0; 10];
    child.stdout.take().expect("piped").read_exact(&mut head).expect("ten bytes");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), said.as_ref()), (Some(0), ""), "{args:?}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = Dir::new();
    let build = ["hierarchy", "build", "interval", "--min", "0", "--max", "99999", "--widths", "10"];
    dir.run(&[&build[..], &["-o", "h.csv"]].concat()).exits(0);
    closed_early(&dir, &build);
    closed_early(&dir, &["hierarchy", "show", "h.csv", "--children", "100000"]);
    closed_early(&dir, &["hierarchy", "show", "h.csv", "--json"]);
    closed_early(&dir, &["policy", "schema"]);
    closed_early(&dir, &["completions", "bash"]);
    closed_early(&dir, &["man"]);
}

#[test]
fn a_full_device_is_an_error() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full");
        return;
    }
    let dir = Dir::new();
    for command in ["policy schema", "man", "hierarchy build order --groups '[\"a\"]'"] {
        dir.bash(&format!("$BOSKET {command} > /dev/full"))
            .exits(3)
            .says(&["cannot write", "standard output"]);
    }
    let found = dir.bash("$BOSKET hierarchy build order --groups '[\"a\"]' -o /dev/full").exits(3);
    found.says(&["the disk is full", " --> /dev/full", "help: make room"]);
}

#[test]
fn results_on_stdout_talk_on_stderr_and_no_colour_in_a_pipe() {
    let dir = scratch();
    let args = ["verify", "data.ndjson", "--policy", "policy.toml"];
    let plain = dir.run(&args).exits(1).says_nothing();
    let verbose = dir.run(&[&args[..], &["-v"]].concat()).exits(1);
    assert_eq!(verbose.stdout, plain.stdout);
    verbose.says(&[
        "bosket: policy policy.toml declares 1 attribute",
        "bosket: read data.ndjson as ndjson: 3 records",
    ]);
    for args in [["policy", "check", "no.toml"], ["verify", "data.ndjson", "--policy=no.toml"]] {
        dir.run(&args).exits(3).hides(&["\x1b"]);
    }
    plain.hides(&["\x1b"]);
}
