//! The certificate that every run writes: where it goes, what is in it and what is not.

use serde_json::{Value, json};

use crate::util::{Dir, attribute};

/// People with marks on everything that is private: names, values, places, lists.
pub fn marked() -> Dir {
    let dir = Dir::new();
    let people: String = (0..24)
        .map(|i| {
            format!(
                "{{\"name\":\"MARK n{i}\",\"town\":\"MARK t{}\",\"visits\":[{{\"ward\":\"MARK w{}\",\"code\":\"MARK c{}\"}}]}}\n",
                i % 4,
                i % 2,
                i % 8
            )
        })
        .collect();
    let codes: String = (0..8).map(|i| format!("MARK c{i};MARK C{};*\n", i / 2)).collect();
    dir.write("in/MARK.ndjson", people)
        .write("town.csv", "MARK t0;MARK T;*\nMARK t1;MARK T;*\nMARK t2;MARK U;*\nMARK t3;MARK U;*\n")
        .write("code.csv", codes);
    dir
}

/// The policy of these people.
pub fn policy(dir: &Dir, privacy: &str) {
    let attributes = [
        attribute("name", "identifying", ""),
        attribute("town", "quasi", "hierarchy = \"town.csv\""),
        attribute(
            "visits[].ward",
            "quasi",
            "hierarchy = { build = \"order\", groups = [{ label = \"MARK W\", values = [\"MARK w0\", \"MARK w1\", \"MARK w2\"] }] }",
        ),
        attribute("visits[].code", "sensitive", "hierarchy = \"code.csv\""),
    ];
    dir.write(
        "policy.toml",
        format!(
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in/MARK.ndjson\"\n{}[privacy]\n{privacy}\n\
             [publish]\npath = \"out.ndjson\"\nmapping = \"MARK/mapping.csv\"\n",
            attributes.concat()
        ),
    );
}

/// A guarantee of each family that has people of this kind, and whether the certificate alone says what is claimed.
pub const CLAIMS: [(&str, bool); 7] = [
    ("model = \"kmn\"\nk = 3\nm = 2\nn = 1", true),
    ("model = \"kmn\"\nk = 3\nm = 1\nn = 0\nnegative = [\"MARK t1\"]", false),
    ("model = \"k-anonymity\"\nk = 3", true),
    ("model = \"l-diversity\"\nl = 2", true),
    ("model = \"l-diversity\"\nl = 2\ndistinct_everywhere = [\"MARK c7\"]", false),
    ("model = \"anatomy\"\ngroup_size = 3", true),
    ("model = \"delta\"\ngroup_size = 2", true),
];

const CERTIFICATE: &str = "out.ndjson.certificate.json";

#[test]
fn no_value_of_the_input_is_in_it() {
    for (privacy, alone) in CLAIMS {
        let dir = marked();
        policy(&dir, privacy);
        dir.run(&["anonymize", "policy.toml", "--measure"]).exits(0);
        let text = dir.text(CERTIFICATE);
        assert!(!text.contains("MARK"), "{privacy}\n{text}");
        let input = dir.text("MARK/mapping.json");
        let input: Value = serde_json::from_str(&input).expect("JSON");
        let sha256 = input["input"][0]["sha256"].as_str().expect("the input's hash is private");
        assert_eq!((sha256.len(), text.contains(sha256)), (64, false));
        if alone {
            dir.certified("out.ndjson", CERTIFICATE);
        } else {
            let verify = ["verify", "out.ndjson", "--certificate", CERTIFICATE];
            dir.run(&verify).exits(2).says(&["does not tell: privacy.", "--policy"]).hides(&["MARK"]);
            let both = [&verify[..], &["--policy", "policy.toml"]].concat();
            dir.run(&both).exits(0).prints(&["HOLDS", "AS CERTIFIED"]);
        }
    }
}

#[test]
fn it_says_what_was_done() {
    let dir = marked();
    policy(&dir, CLAIMS[0].0);
    let run = ["anonymize", "policy.toml", "--set", "privacy.k=4", "--set", "seed=9"];
    let told = dir.run(&[&run[..], &["--json"]].concat()).exits(0).says_nothing().json();
    let found = dir.certified("out.ndjson", CERTIFICATE);
    assert_eq!(
        found["claim"],
        json!({"model": "kmn", "k": 4, "m": 2, "n": 1, "relations": "pair", "root": "separate", "rows": "distinct", "guard": false, "missing": "counted"})
    );
    assert_eq!(
        (&found["seed"], &found["records"], &found["verified"]),
        (&json!(9), &json!(24), &json!(true))
    );
    assert_eq!(found["policy"]["privacy"]["k"], 4, "what the command line sets counts");
    assert_eq!(found["loss"]["rpd"], told["rpd"]);
    assert_eq!(found["suppressed"], json!({"disassociations": told["disassociations"], "people_emptied": 0}));
    assert_eq!(found["hierarchies"].as_array().map(Vec::len), Some(2));
    assert_eq!(found["tool"], format!("bosket {}", env!("CARGO_PKG_VERSION")));
    let limits = found["not_claimed"].to_string();
    for limit in ["composition", "minimality", "knowledge beyond", "homogeneity"] {
        assert!(limits.contains(limit), "{limit}");
    }
    for gone in ["in/", "mapping", "sha256_input"] {
        assert!(!found["policy"].to_string().contains(gone), "{gone}");
    }
    // The same run by its own policy, and by the file alone, which says another k.
    let verify = ["verify", "out.ndjson", "--certificate", CERTIFICATE, "--policy", "policy.toml"];
    dir.run(&[&verify[..], &run[2..]].concat()).exits(0);
    let differs = dir.run(&verify).exits(1);
    differs.prints(&[
        "NOT AS CERTIFIED",
        "privacy.k: 3 in the policy, 4 in the certificate",
        "seed: 0 in the policy, 9",
    ]);
}

#[test]
fn threads_do_not_change_a_byte() {
    for (privacy, _) in CLAIMS {
        let dir = marked();
        policy(&dir, privacy);
        dir.run(&["anonymize", "policy.toml", "--threads", "1", "--measure"]).exits(0);
        let one = dir.text(CERTIFICATE);
        dir.run(&["anonymize", "policy.toml", "--threads", "4", "--measure", "--force"]).exits(0);
        assert_eq!(one, dir.text(CERTIFICATE), "{privacy}");
    }
}

#[test]
fn where_it_goes() {
    let dir = marked();
    policy(&dir, CLAIMS[2].0);
    let named = ["anonymize", "policy.toml", "--set", "publish.certificate=certs/c.json"];
    dir.run(&named).exits(0);
    dir.certified("out.ndjson", "certs/c.json");
    assert!(!dir.files().contains(&CERTIFICATE.to_owned()));
    // It needs --force like everything else, and says so before the work.
    std::fs::remove_file(dir.path("out.ndjson")).expect("it is there");
    dir.run(&named).exits(3).says(&["it exists", " --> certs/c.json", "--force"]);
    assert!(!dir.files().contains(&"out.ndjson".to_owned()), "nothing is published without it");
    for (place, said) in
        [("-", "cannot go to standard output"), ("town.csv", "same file"), ("policy.toml", "would overwrite")]
    {
        let set = format!("publish.certificate={place}");
        dir.run(&["anonymize", "policy.toml", "--force", "--set", &set]).exits(2).says(&[said]);
    }
}

#[test]
fn a_stream_has_one_only_if_it_is_named() {
    let dir = marked();
    policy(&dir, CLAIMS[2].0);
    let before = dir.files();
    let run = ["anonymize", "policy.toml", "--set", "publish.path=-", "--force"];
    dir.run(&run).exits(0).says(&["no certificate", "publish.certificate"]);
    assert_eq!(dir.files().len(), before.len() + 2, "the mapping and nothing else");
    let found = dir.run(&[&run[..], &["--set", "publish.certificate=c.json"]].concat()).exits(0);
    dir.write("saved.ndjson", found.stdout);
    dir.certified("saved.ndjson", "c.json");
    dir.run(&["anonymize", "policy.toml", "--set", "publish.path=/dev/null", "--force"])
        .exits(0)
        .says(&["no certificate"]);
    dir.run_with(&["verify", "-", "--certificate", "c.json"], b"").exits(2).says(&["name the file"]);
}

#[test]
fn a_run_that_fails_leaves_none() {
    let dir = marked();
    policy(&dir, "model = \"k-anonymity\"\nk = 25");
    let before = dir.files();
    dir.run(&["anonymize", "policy.toml"]).exits(4);
    policy(&dir, "model = \"anatomy\"\ngroup_size = 9");
    dir.run(&["anonymize", "policy.toml"]).exits(4);
    policy(&dir, CLAIMS[0].0);
    dir.run(&["anonymize", "policy.toml", "--dry-run"]).exits(0);
    dir.bash("ulimit -f 0; $BOSKET anonymize policy.toml").exits(3);
    let left: Vec<String> = dir.files().into_iter().filter(|f| !before.contains(f)).collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn ctrl_c_leaves_none() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "30000", "--out", "c"]).exits(0);
    let before = dir.files();
    let found = dir.bash(
        "$BOSKET anonymize c/policy.toml & pid=$!
         for i in $(seq 3000); do ls -A c | grep -q '^\\..*certificate.*tmp$' && break; sleep 0.01; done
         while kill -INT $pid 2> /dev/null; do sleep 0.02; done; wait $pid",
    );
    found.exits(130);
    assert_eq!(dir.files(), before);
}

#[test]
fn the_schema_is_printed() {
    let dir = Dir::new();
    let printed = dir.run(&["certificate", "schema"]).exits(0).says_nothing().json();
    assert_eq!(printed, bosket_report::certificate::json_schema());
}
