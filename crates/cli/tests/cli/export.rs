//! `bosket export`: metadata for catalogues. Whether tools take it is tested with these tools, in Python.

use bosket_io::fingerprint;
use bosket_model::observe::Quiet;
use serde_json::{Value, json};

use crate::certificate::{CLAIMS, marked, policy};
use crate::util::Dir;

const CERTIFICATE: &str = "out.ndjson.certificate.json";
const ABOUT: [&str; 10] = [
    "--name",
    "Visits",
    "--license",
    "https://creativecommons.org/licenses/by/4.0/",
    "--url",
    "https://data.example/visits/",
    "--creator",
    "The clinic",
    "--date",
    "2026-11-18",
];

fn published() -> Dir {
    let dir = marked();
    policy(&dir, CLAIMS[2].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir
}

fn exported(dir: &Dir, form: &str, more: &[&str]) -> Value {
    let args = ["export", form, "out.ndjson", "--certificate", CERTIFICATE];
    dir.run(&[&args[..], more].concat()).exits(0).hides(&["MARK"]).json()
}

#[test]
fn croissant_names_files_and_fields() {
    let dir = published();
    let made = exported(&dir, "croissant", &ABOUT);
    let sha256 = fingerprint::of_file(&dir.path("out.ndjson"), &Quiet).expect("readable");
    assert_eq!(made["conformsTo"], "http://mlcommons.org/croissant/1.1");
    let file = &made["distribution"][0];
    assert_eq!(
        (&file["sha256"], &file["contentUrl"]),
        (&json!(sha256), &json!("https://data.example/visits/out.ndjson"))
    );
    let fields = made["recordSet"][0]["field"].as_array().expect("fields");
    let names: Vec<&str> = fields.iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(names, ["town", "visits"], "names are removed from the data, and are not told here");
    let parts = fields[1]["subField"].as_array().expect("parts");
    assert_eq!(parts.iter().filter_map(|f| f["name"].as_str()).collect::<Vec<_>>(), ["ward", "code"]);
    assert!(made["description"].as_str().expect("a text").contains("looks like at least"), "{made:#}");
}

#[test]
fn dcat_has_checksums() {
    let dir = published();
    let made = exported(&dir, "dcat", &ABOUT);
    let sha256 = fingerprint::of_file(&dir.path("out.ndjson"), &Quiet).expect("readable");
    let one = &made["dcat:distribution"][0];
    assert_eq!(one["spdx:checksum"]["spdx:checksumValue"]["@value"], json!(sha256));
    assert_eq!(one["dcat:byteSize"]["@value"], json!(dir.read("out.ndjson").len().to_string()));
    assert_eq!(made["dct:publisher"]["foaf:name"], "The clinic");
    assert_eq!(made.get("dct:accessRights"), None, "the policy says nothing that the certificate shows");
}

#[test]
fn what_is_not_described() {
    let dir = published();
    let args = ["export", "dcat", "out.ndjson", "--certificate", CERTIFICATE];
    dir.run(&args).exits(2).says(&["DCAT-AP cannot do without", "--url"]);
    let some = ["export", "croissant", "out.ndjson", "--certificate", CERTIFICATE];
    dir.run(&some).exits(0).says(&["Croissant asks for more", "--license"]);
    dir.run(&[&some[..], &["--date", "today"]].concat()).exits(2).says(&["YYYY-MM-DD"]);
    dir.run(&[&some[..], &["--out", "out.ndjson", "--force"]].concat()).exits(2).says(&["would overwrite"]);
    dir.run(&[&some[..], &["--out", "m.json"]].concat()).exits(0);
    dir.run(&[&some[..], &["--out", "m.json"]].concat()).exits(3).says(&["it exists"]);
    dir.write("out.ndjson", dir.text("out.ndjson") + "\n");
    dir.run(&some).exits(3).says(&["out.ndjson was changed"]);
}
