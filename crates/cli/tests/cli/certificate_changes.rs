//! Whatever is not as certified is found, and told by name.

use std::fs;

use bosket_io::fingerprint;
use bosket_model::Fingerprint;
use bosket_model::observe::Quiet;
use bosket_report::certificate::{Certificate, Form};
use serde_json::{Value, json};

use crate::certificate::{CLAIMS, marked, policy};
use crate::util::{Dir, Output, attribute};

const CERTIFICATE: &str = "out.ndjson.certificate.json";

fn verify(dir: &Dir, publication: &str, certificate: &str) -> Output {
    dir.run(&["verify", publication, "--certificate", certificate])
}

/// Changes a byte at the start, in the middle, at the end; adds one; takes one away.
fn each_change(dir: &Dir, file: &str, mut check: impl FnMut(&str)) {
    let whole = dir.read(file);
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let mut changes: Vec<(String, Vec<u8>)> =
        [0, 1, whole.len() / 3, whole.len() / 2, whole.len() - 2, whole.len() - 1]
            .map(|at| (format!("byte {at} of {file}"), flipped(at)))
            .to_vec();
    changes.push((format!("{file} and a line"), [&whole[..], b"\n"].concat()));
    changes.push((format!("{file} less a byte"), whole[..whole.len() - 1].to_vec()));
    for (what, bytes) in changes {
        dir.write(file, bytes);
        check(&what);
    }
    dir.write(file, whole);
}

#[test]
fn a_changed_byte_in_any_published_file() {
    for (privacy, alone) in CLAIMS.iter().filter(|(_, alone)| *alone) {
        let dir = marked();
        policy(&dir, privacy);
        dir.run(&["anonymize", "policy.toml"]).exits(0);
        each_change(&dir, "out.ndjson", |what| {
            let found = verify(&dir, "out.ndjson", CERTIFICATE);
            assert_eq!(found.code, Some(1), "{what} {alone}: {}", found.stderr);
            found.prints(&["NOT AS CERTIFIED", "out.ndjson was changed"]);
        });
        verify(&dir, "out.ndjson", CERTIFICATE).exits(0);
    }
}

/// Tables of a folder, linked or flat, dissected or not, and a database.
#[test]
fn a_changed_byte_in_any_of_several_files() {
    let dir = Dir::new();
    dir.run(&["generate", "students", "--students", "40", "--kind", "school", "--out", "s"]).exits(0);
    let people: String = (0..12).map(|i| format!("T{},d{}\n", i % 3, i % 6)).collect();
    let attributes = [attribute("town", "quasi", ""), attribute("disease", "sensitive", "")].concat();
    dir.write("f/people.csv", format!("town,disease\n{people}")).write(
        "f/policy.toml",
        format!(
            "version = 1\n[source]\nformat = \"csv\"\npath = \"people.csv\"\n{attributes}\
             [privacy]\nmodel = \"anatomy\"\ngroup_size = 3\n[publish]\npath = \"out\"\n"
        ),
    );
    for (policy, publication, files) in [
        ("s/tables/policy-csv.toml", "s/tables/published", vec!["student.csv", "takes.csv", "book.csv"]),
        ("f/policy.toml", "f/out", vec!["people.csv", "sensitive_disease.csv"]),
        ("s/tables/policy-sqlite.toml", "s/tables/published.db", vec![""]),
    ] {
        dir.run(&["anonymize", policy]).exits(0);
        let certificate = format!("{publication}.certificate.json");
        for file in files {
            let path = if file.is_empty() { publication.to_owned() } else { format!("{publication}/{file}") };
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            each_change(&dir, &path, |what| {
                let found = verify(&dir, publication, &certificate);
                assert_eq!(found.code, Some(1), "{what}: {}", found.stderr);
                found.prints(&[&format!("{name} was changed")]);
            });
            let whole = dir.read(&path);
            fs::remove_file(dir.path(&path)).expect("it is there");
            verify(&dir, publication, &certificate).exits(1).prints(&[&format!("{name} is missing")]);
            dir.write(&path, whole);
        }
        verify(&dir, publication, &certificate).exits(0);
    }
    dir.write("f/out/more/x.csv", "");
    verify(&dir, "f/out", "f/out.certificate.json")
        .exits(1)
        .prints(&["more/x.csv is not part of the publication"]);
}

#[test]
fn a_folder_may_hold_its_certificate_and_a_signature_of_it() {
    let dir = Dir::new();
    dir.run(&["generate", "students", "--students", "40", "--kind", "school", "--out", "s"]).exits(0);
    dir.run(&["anonymize", "s/tables/policy-csv.toml", "--set", "publish.certificate=published/c.json"])
        .exits(0);
    dir.write("s/tables/published/c.json.minisig", "");
    verify(&dir, "s/tables/published", "s/tables/published/c.json").exits(0);
}

#[test]
fn a_changed_byte_in_a_hierarchy() {
    let dir = marked();
    policy(&dir, CLAIMS[0].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    for file in ["town.csv", "code.csv"] {
        each_change(&dir, file, |what| {
            let found = verify(&dir, "out.ndjson", CERTIFICATE);
            assert_eq!(found.code, Some(1), "{what}: {}", found.stderr);
            found.prints(&["HOLDS", &format!("the hierarchy {file} was changed")]);
        });
    }
    fs::remove_file(dir.path("town.csv")).expect("it is there");
    verify(&dir, "out.ndjson", CERTIFICATE)
        .exits(0)
        .prints(&["AS CERTIFIED: 1 file and 1 hierarchy compared", "not checked: the hierarchy town.csv"]);
}

#[test]
fn a_changed_byte_in_the_certificate() {
    let dir = marked();
    policy(&dir, CLAIMS[2].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let text = dir.text(CERTIFICATE);
    for (from, to, code, said) in [
        ("\"k\": 3", "\"k\": 2", 1, "its digest does not fit"),
        ("\"records\": 24", "\"records\": 25", 1, "its digest does not fit"),
        ("minimality", "Minimality", 1, "its digest does not fit"),
        ("\"loss\": {", "\"loss\":  {", 1, "not written as it was"),
        ("\"digest\": \"", "\"digest\": \"0", 1, "its digest does not fit"),
        ("}\n", "}\n\n", 1, "not written as it was"),
    ] {
        dir.write("c.json", text.replace(from, to));
        verify(&dir, "out.ndjson", "c.json").exits(code).prints(&[said]);
    }
    for (broken, said) in [("{", "not JSON"), ("{}", "form 1"), ("{\"certificate\": 1}", "`tool` is missing")]
    {
        dir.write("c.json", broken);
        verify(&dir, "out.ndjson", "c.json").exits(3).says(&[said, " --> c.json"]);
    }
}

/// Whoever recomputes the digest too still cannot make the publication keep another promise.
#[test]
fn a_forged_claim_is_checked_like_any_other() {
    let dir = marked();
    policy(&dir, CLAIMS[2].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let forge = |from: &str, to: &str| {
        let text = dir.text(CERTIFICATE).replace(from, to);
        let mut forged = Certificate::read(&text).expect("a certificate");
        forged.digest = forged.expected_digest();
        dir.write("c.json", forged.to_text());
        verify(&dir, "out.ndjson", "c.json").exits(1)
    };
    forge("\"k\": 3", "\"k\": 13").prints(&["VIOLATED", "does not claim what its own policy does"]);
    forge("\"records\": 24", "\"records\": 25").prints(&["HOLDS", "it speaks of 25 records, there are 24"]);
    forge("at least 2 others", "at least 3 others").prints(&["does not claim what its own policy does"]);
}

/// Changes a certificate and gives it the digest that fits.
pub fn forge(dir: &Dir, certificate: &str, change: impl FnOnce(&mut Certificate)) {
    let mut forged = Certificate::read(&dir.text(certificate)).expect("a certificate");
    change(&mut forged);
    forged.digest = forged.expected_digest();
    dir.write("c.json", forged.to_text());
}

#[test]
fn a_certificate_of_no_file_was_as_certified() {
    let dir = marked();
    policy(&dir, CLAIMS[2].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    forge(&dir, CERTIFICATE, |c| c.files.clear());
    verify(&dir, "out.ndjson", "c.json").exits(3).says(&["`publication.files` must name at least one"]);
}

#[test]
fn linked_tables_were_certified_as_a_document_by_their_first_file() {
    let dir = Dir::new();
    dir.run(&["generate", "students", "--students", "40", "--kind", "school", "--out", "s"]).exits(0);
    dir.run(&["anonymize", "s/tables/policy-csv.toml"]).exits(0);
    forge(&dir, "s/tables/published.certificate.json", |c| {
        c.form = Form::Document;
        c.files.truncate(1);
    });
    let found = verify(&dir, "s/tables/published", "c.json").exits(1);
    found.prints(&["NOT AS CERTIFIED", "the form that it speaks of"]);
}

#[test]
fn files_outside_the_publication_were_compared() {
    let dir = marked();
    policy(&dir, CLAIMS[2].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir.write("x", "outside");
    for name in ["/etc/hostname", "../../x", "..", ".", "", "in/MARK.ndjson"] {
        forge(&dir, CERTIFICATE, |c| {
            c.files.push(Fingerprint { name: name.to_owned(), sha256: "0".repeat(64) });
        });
        let found = verify(&dir, "out.ndjson", "c.json").exits(3);
        found.says(&["must be the name of a file, without a way to it"]);
    }
}

#[test]
fn a_sentence_without_a_claim_was_as_certified() {
    let dir = marked();
    policy(&dir, CLAIMS[0].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    forge(&dir, CERTIFICATE, |c| c.claim = Value::Null);
    verify(&dir, "out.ndjson", "c.json").exits(1).prints(&[
        "NOT AS CERTIFIED",
        "its policy asks for a guarantee",
        "its sentence says something else",
        "calls that verified",
    ]);
}

#[test]
fn seed_limits_and_whether_it_was_verified_were_not_compared() {
    for (privacy, alone) in CLAIMS {
        let dir = marked();
        policy(&dir, privacy);
        dir.run(&["anonymize", "policy.toml"]).exits(0);
        let args = ["verify", "out.ndjson", "--certificate", "c.json", "--policy", "policy.toml"];
        let args = &args[..if alone { 4 } else { 6 }];
        forge(&dir, CERTIFICATE, |_| {});
        dir.run(args).exits(0).prints(&["AS CERTIFIED"]);
        forge(&dir, CERTIFICATE, |c| c.verified = false);
        dir.run(args).exits(1).prints(&["NOT AS CERTIFIED", "says itself that its claim was not verified"]);
        forge(&dir, CERTIFICATE, |c| c.seed += 1);
        dir.run(args).exits(1).prints(&["NOT AS CERTIFIED", "its seed is not that of its policy"]);
        forge(&dir, CERTIFICATE, |c| c.not_claimed.truncate(1));
        dir.run(args).exits(1).prints(&["NOT AS CERTIFIED", "what it does not claim"]);
        forge(&dir, CERTIFICATE, |c| c.not_claimed.clear());
        dir.run(args).exits(3).says(&["`not_claimed` must name at least one"]);
    }
}

/// Whoever calls everything insensitive can promise anything.
#[test]
fn weak_roles_did_not_show() {
    let dir = marked();
    policy(&dir, CLAIMS[2].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let told = verify(&dir, "out.ndjson", CERTIFICATE).exits(0);
    told.prints(&[
        "counts as known: town, visits[].ward\n",
        "published as it is: visits[].code (sensitive)\n",
    ]);
    let told = dir.run(&["verify", "out.ndjson", "--certificate", CERTIFICATE, "--json"]).exits(0).json();
    assert_eq!(told["certificate"]["known"], json!(["town", "visits[].ward"]));
    assert_eq!(
        told["certificate"]["published_as_they_are"],
        json!([{"path": "visits[].code", "role": "sensitive"}])
    );
}

/// Roles that hide everything but one attribute, and a digest that fits: over the raw data that was as certified.
#[test]
fn a_forged_certificate_passed_over_raw_data() {
    let dir = marked();
    policy(&dir, CLAIMS[2].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir.write("out.ndjson", dir.read("in/MARK.ndjson"));
    let raw = fingerprint::of_file(&dir.path("out.ndjson"), &Quiet).expect("readable");
    let attributes = |policy: &mut Value, change: &dyn Fn(&mut Value) -> bool| {
        let all = policy["attribute"].as_array_mut().expect("attributes");
        all.retain_mut(|a| a["path"] == "visits[].ward" || change(a));
    };
    let forged = |change: &dyn Fn(&mut Value) -> bool| {
        forge(&dir, CERTIFICATE, |c| {
            c.files[0].sha256 = raw.clone();
            c.policy["undeclared"] = json!("drop");
            attributes(&mut c.policy, change);
        });
        dir.run(&["verify", "out.ndjson", "--certificate", "c.json", "--foreign"])
    };
    for role in ["key", "identifying"] {
        let found = forged(&|a| {
            a["role"] = json!(role);
            true
        });
        let what = "the policy removes name, town, visits[].code, but the file still has them";
        let before = found.exits(1).prints(&["VIOLATED", what]).stdout;
        let told = before.split("VIOLATED").next().unwrap_or_default();
        assert!(told.contains("NOT PROTECTED by the claim") && told.contains("name, town"), "{before}");
    }
    let found = forged(&|_| false).exits(1);
    found.prints(&["VIOLATED", "NOT AS CERTIFIED", "its policy gives no role to town, which the file has"]);
    // What is called insensitive is published: a reader is told before the verdict, and so is a program.
    let found = forged(&|a| {
        a["role"] = json!("insensitive");
        true
    });
    let told = found.stdout.split("HOLDS").next().unwrap_or_default();
    assert!(
        told.contains("published as they are: name (insensitive), town (insensitive)"),
        "{}",
        found.stdout
    );
    let found = dir.run(&["verify", "out.ndjson", "--certificate", "c.json", "--json", "--foreign"]).json();
    let first = json!({"path": "name", "role": "insensitive"});
    assert_eq!(found["not_protected"]["published_as_they_are"][0], first);
}

#[test]
fn a_publication_that_was_moved_and_renamed() {
    let dir = marked();
    policy(&dir, "model = \"delta\"\ngroup_size = 2");
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir.write("far/p.json", dir.read("out.ndjson")).write("far/c.json", dir.read(CERTIFICATE));
    // The distance is measured in the hierarchy.
    verify(&dir, "far/p.json", "far/c.json")
        .exits(2)
        .says(&["the claim needs the hierarchy of `visits[].code`", "--policy"]);
    dir.run(&["verify", "far/p.json", "--certificate", "far/c.json", "--policy", "policy.toml"]).exits(0);
    dir.write("far/code.csv", dir.read("code.csv"));
    verify(&dir, "far/p.json", "far/c.json").exits(0);
    dir.write("far/code.csv", dir.text("code.csv").replace("MARK C3", "MARK C2"));
    verify(&dir, "far/p.json", "far/c.json").exits(1).prints(&["the hierarchy code.csv was changed"]);
}

/// Fields that nobody compared said anything in a certificate with a digest that fits.
#[test]
fn free_fields_of_a_certificate_said_anything() {
    type Change = fn(&mut bosket_report::certificate::Certificate);
    let changes: [(Change, &str); 7] = [
        (|c| c.tool = "checked by the ministry".to_owned(), "are not names of Bosket with a version"),
        (
            |c| c.verifier = "bosket-verify 1.0 and all is well".to_owned(),
            "are not names of Bosket with a version",
        ),
        (|c| c.policy["attribute"][0]["why"] = json!("the board has agreed"), "reasons (`why`)"),
        (|c| c.kept["attributes"][0]["published"] = json!(1), "`kept` tells another number of values"),
        (|c| c.kept["classes"][0]["published"] = json!(1), "`kept` tells another number of rows"),
        (|c| c.hierarchies.truncate(1), "does not name the hierarchies that its policy names"),
        (|c| c.claim["k"] = json!(2), "it does not claim what its own policy does"),
    ];
    let dir = marked();
    policy(&dir, CLAIMS[0].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let told = verify(&dir, "out.ndjson", CERTIFICATE).exits(0);
    told.prints(&[
        "AS CERTIFIED",
        "not checked: who wrote the certificate",
        "not checked: what was lost of the input",
    ]);
    for (change, what) in changes {
        forge(&dir, CERTIFICATE, change);
        verify(&dir, "out.ndjson", "c.json").exits(1).prints(&["NOT AS CERTIFIED", what]);
    }
}

#[test]
fn what_does_not_go_together() {
    let dir = marked();
    policy(&dir, CLAIMS[0].0);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let base = ["verify", "out.ndjson", "--certificate", CERTIFICATE];
    let with = |more: &[&str]| dir.run(&[&base[..], more].concat());
    with(&["--set", "privacy.k=2"]).exits(2).says(&["--policy"]);
    with(&["--against", "in/MARK.ndjson"]).exits(2).says(&["--policy"]);
    let against = ["--policy", "policy.toml", "--against", "in/MARK.ndjson", "--mapping", "MARK/mapping.csv"];
    with(&against).exits(0).prints(&["HOLDS", "TRUE", "AS CERTIFIED"]);
    dir.run(&["verify", "out.ndjson"]).exits(2).says(&["--policy"]);
    with(&["--json"]).exits(0).prints(&["\"not_checked\": []"]);
    let other = ["--policy", "policy.toml", "--set", "attribute[\"town\"].role=sensitive"];
    with(&other)
        .exits(1)
        .prints(&["attribute[\"town\"].role: \"sensitive\" in the policy, \"quasi\" in the certificate"]);
}

#[test]
fn plain_dissection_is_certified_to_claim_nothing() {
    let dir = marked();
    policy(&dir, "model = \"none\"");
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    verify(&dir, "out.ndjson", CERTIFICATE).exits(0).prints(&["NOTHING is claimed", "AS CERTIFIED"]);
    dir.write("out.ndjson", "{}");
    verify(&dir, "out.ndjson", CERTIFICATE).exits(1).prints(&["out.ndjson was changed"]);
}

#[test]
fn a_compressed_publication() {
    let dir = marked();
    policy(&dir, CLAIMS[0].0);
    for name in ["out.ndjson.gz", "out.ndjson.zst"] {
        let set = format!("publish.path={name}");
        dir.run(&["anonymize", "policy.toml", "--force", "--set", &set]).exits(0);
        dir.certified(name, &format!("{name}.certificate.json"));
    }
}
