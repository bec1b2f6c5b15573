//! Data that is wrong: exit 3, a message with file, line or record, path and remedy, and never a value.

use std::io::Write;

use crate::util::{Dir, Output, attribute, policy};

/// Values that no message may show.
const SECRETS: &[&str] = &["Quetzal", "Zanzibar", "4711"];

/// A folder with a policy for records like `{"town": …, "bio": {"year": …}, "visits": [{"place": …}]}`.
fn scratch() -> Dir {
    let attributes = ["town", "bio.year", "visits[].place"].map(|path| attribute(path, "quasi", ""));
    let dir = Dir::new();
    dir.write("policy.toml", policy(&attributes, "model = \"kmn\"\nk = 2\nm = 1\nn = 0"));
    dir
}

/// Verifies the content under this name; it must be refused as bad data, in silence about its values.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, parts: &[&str]) -> Output {
    let dir = scratch();
    dir.write(name, content);
    let found = dir.run(&["verify", name, "--policy", "policy.toml"]).exits(3).says(parts).hides(SECRETS);
    assert_eq!(found.stdout, "", "nothing is claimed about bad data");
    assert!(found.stderr.contains(" help: "), "no remedy:\n{}", found.stderr);
    dir.run_with(&["verify", "-", "--policy", "policy.toml"], &dir.read(name)).hides(SECRETS);
    found
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn truncated_gzip() {
    let small = gzip("{\"town\":\"Quetzal\"}\n");
    let parts = ["the gzip data is cut off", " --> data.ndjson.gz", "help: copy or compress the file again"];
    refused("data.ndjson.gz", &small[..small.len() - 9], &parts);
    // Later in the file there are lines to name.
    let lines: String =
        (0..20_000).map(|i| format!("{{\"town\":\"Zanzibar {}\"}}\n", i * i % 7919)).collect();
    let large = gzip(&lines);
    let parts = ["the gzip data is cut off after about", " --> data.ndjson.gz:1", "help: copy or compress"];
    refused("data.ndjson.gz", &large[..large.len() * 3 / 4], &parts);
    let mut damaged = large;
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].fill(0xA5);
    refused("data.ndjson.gz", damaged, &["the gzip data is damaged", " --> data.ndjson.gz"]);
}

#[test]
fn truncated_zstd() {
    let dir = scratch();
    dir.write_compressed("whole.ndjson.zst", "{\"town\":\"Quetzal\"}\n".repeat(100));
    let whole = dir.read("whole.ndjson.zst");
    let parts = ["the zstd data is cut off", " --> data.ndjson.zst", "help: copy or compress the file again"];
    refused("data.ndjson.zst", &whole[..whole.len() - 6], &parts);
}

#[test]
fn invalid_utf8() {
    let help = "help: convert the file to UTF-8";
    refused(
        "data.ndjson",
        b"{\"town\":\"Quetzal\"}\n{\"town\":\"Zanzibar\", \"visits\":[{\"place\":\"Zanzibar \xff\"}]}\n",
        &["not valid UTF-8", " --> data.ndjson:2:50, record 2, path visits[].place", help],
    );
    refused(
        "data.csv",
        b"town,bio.year\nQuetzal,1\n\xfe,4711\n",
        &["not valid UTF-8", " --> data.csv:3, record 2, path town", help],
    );
    refused(
        "data.json",
        b"[{\"town\":\"Quetzal\"},\n {\"town\":\"Zanzibar \xff\"}]",
        &["not valid UTF-8", " --> data.json:2:20, record 2, path town", help],
    );
    let parts = ["not valid UTF-8", " --> data.txt:2, record 2, path item", help];
    refused("data.txt", b"Quetzal Zanzibar\nQuetzal \xff\n", &parts);
    refused("data.csv", b"\xff\xfet\x00o\x00", &["the text is in UTF-16", " --> data.csv", help]);
}

#[test]
fn an_array_where_an_object_was() {
    refused(
        "data.ndjson",
        "{\"bio\":{\"year\":4711}}\n{\"bio\":[{\"year\":4711}]}\n{\"bio\":[\"Quetzal\"]}\n",
        &[
            "an array here, but an object in record 1; the same in one more record",
            " --> data.ndjson:2:8, record 2, path bio",
            "help: write the same kind of value in every record",
        ],
    );
    refused(
        "data.json",
        "[{\"visits\":[{\"place\":\"Quetzal\"}]},\n{\"visits\":{\"place\":\"Quetzal\"}}]",
        &["an object here, but an array in record 1", " --> data.json:2:11, record 2, path visits"],
    );
}

#[test]
fn a_record_5000_levels_deep() {
    let deep = |open: &str, close: &str| format!("{}\"Quetzal\"{}", open.repeat(5_000), close.repeat(5_000));
    let parts = ["nested deeper than 128 levels", "record 2, path visits", "help: records this deep"];
    let lines = format!("{{\"town\":\"Quetzal\"}}\n{{\"visits\":{}}}\n", deep("[", "]"));
    refused("data.ndjson", lines, &parts);
    let lines = format!("{{\"town\":\"Quetzal\"}}\n{{\"visits\":{}}}\n", deep("{\"a\":", "}"));
    let found = refused("data.ndjson", lines, &parts);
    assert!(found.stderr.len() < 400, "a deep record has a long path:\n{}", found.stderr);
    refused("data.json", format!("[{{\"town\":\"Quetzal\"}},{{\"visits\":{}}}]", deep("[", "]")), &parts);
}

#[test]
fn duplicate_keys() {
    let parts = ["an object has this key twice", "help: keep one of them"];
    let found = refused("data.ndjson", "{\"town\":\"Quetzal\",\"bio\":{\"year\":1,\"year\":4711}}\n", &parts);
    found.says(&[" --> data.ndjson:1:42, record 1, path bio.year"]);
    let found = refused("data.json", "[{\"town\":\"Quetzal\",\"town\":\"Zanzibar\"}]", &parts);
    found.says(&[" --> data.json:1:27, record 1, path town"]);
    let parts = ["column 2 of the header has the name of another column", " --> data.csv:1", "help: "];
    refused("data.csv", "town,town\nQuetzal,Zanzibar\n", &parts);
}

#[test]
fn numbers_beyond_64_bits() {
    let parts = ["a number does not fit into 64 bits", "help: write it as a string"];
    for number in ["471147114711471147114711", "-471147114711471147114711", "4711e4711"] {
        let found = refused("data.ndjson", format!("{{}}\n{{\"bio\":{{\"year\":{number}}}}}\n"), &parts);
        found.says(&[" --> data.ndjson:2:16, record 2, path bio.year"]);
        let found = refused("data.json", format!("[{{}}, {{\"bio\":{{\"year\":{number}}}}}]"), &parts);
        found.says(&[" --> data.json:1:21, record 2, path bio.year"]);
    }
}

#[test]
fn nan_and_infinity() {
    for number in ["NaN", "Infinity", "-Infinity"] {
        let found = refused(
            "data.ndjson",
            format!("{{\"town\":\"Quetzal\",\"visits\":[{{\"place\":{number}}}]}}\n"),
            &["NaN and Infinity are not JSON", "record 1, path visits[].place"],
        );
        found.says(&["help: JSON has no such number; write null or a string"]);
    }
}

#[test]
fn an_empty_file() {
    for name in ["data.ndjson", "data.json", "data.csv", "data.txt", "data"] {
        refused(
            name,
            "",
            &["the file holds no record", &format!(" --> {name}"), "help: check that it is the right file"],
        );
    }
    refused("data.csv", "town,bio.year\n", &["the file holds no record", " --> data.csv"]);
    refused("data.json", "[]", &["the document is an array without records", " --> data.json"]);
    let found = scratch().run(&["verify", "-", "--policy", "policy.toml"]).exits(3);
    found.says(&["the file holds no record", " --> -"]);
}

#[test]
fn cut_off_records() {
    refused(
        "data.ndjson",
        "{\"town\":\"Quetzal\"}\n{\"town\":\"Zanzi",
        &[
            "ends too early",
            " --> data.ndjson:2:15, record 2, path town",
            "help: write each record on one line",
        ],
    )
    .hides(&["Zanzi"]);
    refused(
        "data.csv",
        "town\n\"Quetzal\n",
        &["a quoted cell is not closed", " --> data.csv:2, record 1", "help: "],
    );
    let parts = ["the row has 2 cells, the header 1", " --> data.csv:3, record 2", "help: "];
    refused("data.csv", "town\nQuetzal\nQuetzal,Zanzibar\n", &parts);
}

#[test]
fn all_problems_at_once() {
    let lines = "{\"town\":\"Quetzal\"}\n{\"town\":NaN}\n[4711]\n{\"town\":\"Zanzibar\",\"town\":1}\nQuetzal\n{\"town\":[4711]}\n";
    let found =
        refused("data.ndjson", lines, &["data.ndjson:2", "data.ndjson:3", "data.ndjson:4", "data.ndjson:5"]);
    assert_eq!(found.says(&["data.ndjson:6"]).errors(), 5);
    let found = refused("data.ndjson", "Quetzal\n".repeat(1000), &["980 more problems are not shown"]);
    assert_eq!(found.errors(), 21);
}

#[test]
fn files_that_are_not_there() {
    let dir = scratch();
    dir.write("data.ndjson", "{\"town\":\"Quetzal\"}\n").write("folder/file", "");
    let parts = ["cannot read the file: there is no such file", " --> no.ndjson", "help: check the path"];
    dir.run(&["verify", "no.ndjson", "--policy", "policy.toml"]).exits(3).says(&parts);
    dir.run(&["inspect", "no.ndjson"]).exits(3).says(&parts);
    let parts = ["there is no such file", " --> no.toml", "help: check the path"];
    dir.run(&["verify", "data.ndjson", "--policy", "no.toml"]).exits(3).says(&parts);
    dir.run(&["policy", "check", "no.toml"]).exits(3).says(&parts);
    let parts = ["is a file, not a folder", " --> folder", "help: name the file"];
    dir.run(&["verify", "folder", "--policy", "policy.toml"]).exits(3).says(&parts);
    let args = ["verify", "data.ndjson", "--policy", "policy.toml", "--against", "no.ndjson"];
    dir.run(&args).exits(3).says(&["there is no such file", " --> no.ndjson"]);
}

#[test]
fn formats_that_are_not_known() {
    let dir = scratch();
    dir.write("data.ndjson", "{\"town\":\"Quetzal\"}\n").write("data.bin", b"\x01\x02Quetzal\x00");
    let found = dir.run(&["inspect", "data.ndjson", "--format", "ndjsn"]).exits(2);
    found.says(&["there is no format `ndjsn`", "help: did you mean `ndjson`?"]).hides(SECRETS);
    let found = dir.run(&["inspect", "data.ndjson", "--format", "orc"]).exits(2);
    found
        .says(&[
            "there is no format `orc`",
            "help: the formats are ndjson, json, xml, csv, parquet, transactions",
        ])
        .hides(SECRETS);
    let found = dir.run(&["inspect", "data.bin"]).exits(3).hides(SECRETS);
    found.says(&["cannot tell which format the file has", " --> data.bin", "help: say it: ndjson"]);
}

#[test]
fn records_inside_a_document_are_offered() {
    let dir = scratch();
    let text = r#"{"meta": 1, "entry": [{"town": "Quetzal"}]}"#;
    dir.write("data.json", text);
    dir.run(&["inspect", "data.json"])
        .exits(0)
        .hides(SECRETS)
        .prints(&["each `entry[]` is taken for a record"]);
    // What comes through a pipe cannot be looked at first.
    let found = dir.run_with(&["inspect", "-", "--format", "json"], text.as_bytes()).exits(3).hides(SECRETS);
    found.says(&[" --> -:1:1", "help: say where the records are: record = \"entry[]\""]);
    dir.run(&["inspect", "data.json", "--record", "entry[]"]).exits(0).hides(SECRETS);
    let found = dir.run(&["inspect", "data.json", "--record", "entry"]).exits(2);
    found.says(&["`entry` is no path of records", "help: write it like `entry[]`"]);
}
