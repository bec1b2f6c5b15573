//! Inputs that are far larger than anybody wants to read: a result or a reason, soon and within bounds.

use std::time::{Duration, Instant};

use crate::util::{Dir, attribute, policy};

/// Far more than any of these should take on a busy machine, far less than they took.
const SOON: Duration = Duration::from_secs(40);

#[track_caller]
fn soon<T>(work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    done
}

#[test]
fn small_files_unfolded_to_gigabytes() {
    let dir = Dir::new();
    let zeros = vec![0; 8 << 20];
    let spaces = [b"[".as_slice(), &vec![b' '; 8 << 20]].concat();
    for ending in ["gz", "zst"] {
        dir.write_compressed(&format!("a.ndjson.{ending}"), &zeros);
        dir.write_compressed(&format!("a.json.{ending}"), &spaces);
        // Whichever bound is met first.
        for file in ["a.ndjson", "a.json"] {
            dir.run(&["inspect", &format!("{file}.{ending}"), "--limit-record", "1M"])
                .exits(3)
                .says(&["than 1", "--limit-record allows more"]);
        }
    }
    // What is allowed is read, and judged by what it is.
    dir.run(&["inspect", "a.json.gz"]).exits(3).hides(&["--limit-record"]);
}

#[test]
fn a_record_longer_than_allowed_says_where() {
    let dir = Dir::new();
    dir.write("a.ndjson", format!("{{\"a\":1}}\n{{\"a\":\"{}\"}}\n", "x".repeat(2 << 20)));
    dir.run(&["inspect", "a.ndjson"]).exits(0);
    dir.run(&["inspect", "a.ndjson", "--limit-record", "1M"])
        .exits(3)
        .says(&["a line is longer than 1 MiB", "a.ndjson:2"]);
}

#[test]
fn endless_texts_took_all_memory() {
    let dir = Dir::new();
    for command in
        ["policy check /dev/zero", "hierarchy check /dev/zero", "verify /dev/null --certificate /dev/zero"]
    {
        let found = dir.bash(&format!("ulimit -v 8000000; $BOSKET --threads 2 {command}")).exits(3);
        found.says(&["the file is larger than"]);
    }
}

#[test]
fn data_is_read_within_the_memory_that_is_given() {
    let dir = Dir::new();
    let line = |i: usize| format!("{{\"a\":\"{i:0>400}\"}}\n");
    dir.write("a.ndjson", (0..400_000).map(line).collect::<String>());
    dir.run(&["inspect", "a.ndjson", "--memory", "1M"])
        .exits(3)
        .says(&["the data takes more than 64 MiB of memory", "raise --memory"]);
}

#[test]
fn time_grew_with_the_square_of_the_keys() {
    let dir = Dir::new();
    let keys: Vec<String> = (0..20_000).map(|i| format!("\"key{i}_code\":{i}")).collect();
    let record = format!("{{{}}}\n", keys.join(","));
    dir.write("a.ndjson", record.repeat(2));
    soon(|| dir.run(&["inspect", "a.ndjson"]).exits(0));
    let attributes: Vec<String> =
        (0..20_000).map(|i| attribute(&format!("key{i}_code"), "quasi", "")).collect();
    dir.write("p.toml", policy(&attributes, "model = \"k-anonymity\"\nk = 2"));
    soon(|| dir.run(&["policy", "check", "p.toml"]).exits(0));
    soon(|| dir.run(&["verify", "a.ndjson", "--policy", "p.toml"]).exits(0));
    // Every one of them unknown is a long list, and no reason to compare each with each.
    let others: Vec<String> = (0..20_000).map(|i| attribute(&format!("kay{i}"), "quasi", "")).collect();
    dir.write("other.toml", policy(&others, "model = \"k-anonymity\"\nk = 2"));
    soon(|| dir.run(&["verify", "a.ndjson", "--policy", "other.toml"]).exits(2));
}

#[test]
fn deep_things_end_with_a_reason() {
    let dir = Dir::new();
    dir.write("a.ndjson", format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000)));
    let tags: String = (0..10_000).map(|i| format!("<a{i}>")).collect();
    dir.write("a.xml", format!("<db><r>{tags}"));
    soon(|| dir.run(&["inspect", "a.ndjson"]).exits(3).says(&["nested deeper than 128 levels"]));
    soon(|| {
        dir.run(&["inspect", "a.xml", "--record", "db/r"]).exits(3).says(&["nested deeper than 128 levels"])
    });
    let levels: String = (0..20_000).map(|i| format!("n{i};")).collect();
    dir.write("h.csv", format!("x;{levels}*\ny;{levels}*\n"));
    soon(|| dir.run(&["hierarchy", "show", "h.csv"]).exits(0).prints(&["20,001 levels deep"]));
    soon(|| dir.run(&["hierarchy", "show", "h.csv", "--json"]).exits(3).says(&["more than 100 levels"]));
}

#[test]
fn more_threads_than_any_machine_has_are_refused() {
    let dir = Dir::new();
    dir.run(&["--threads", "65535", "policy", "schema"]).exits(2).says(&["1024"]);
}
