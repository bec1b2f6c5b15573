//! What a certificate tells about rows and values that are kept, held to the publication by whoever has nothing else.

use serde_json::{Value, json};

use crate::certificate_changes::forge;
use crate::util::{Dir, Output, attribute, policy};

const CERTIFICATE: &str = "out.ndjson.certificate.json";

/// People of two streets, of whom those of the first have postal codes with nothing in common: five masked characters, which are
/// not the root. And people with a label that covers all below the root.
fn kinds() -> [(&'static str, Dir); 2] {
    let folder = |hierarchy: &str, value: fn(usize) -> String, privacy: &str| {
        let dir = Dir::new();
        let record = |i: usize| format!("{{\"street\":\"s{}\",\"v\":\"{}\"}}\n", i % 2, value(i));
        let attributes = [
            attribute("street", "quasi", "hierarchy = 'street.csv'"),
            attribute("v", "quasi", &format!("hierarchy = {hierarchy}")),
        ];
        let places = "[source]\nformat = 'ndjson'\npath = 'in.ndjson'\n[publish]\npath = 'out.ndjson'\n";
        dir.write("in.ndjson", (0..24).map(record).collect::<String>())
            .write("street.csv", "s0;*\ns1;*\n")
            .write("v.csv", "x;Any;*\ny;Any;*\n")
            .write("p.toml", policy(&attributes, privacy) + places);
        dir
    };
    let code =
        |i: usize| if i.is_multiple_of(2) { format!("{}0{:03}", i % 9 + 1, i) } else { "10115".to_owned() };
    let letter =
        |i: usize| if i.is_multiple_of(2) { ["x", "y"][i / 2 % 2].to_owned() } else { "x".to_owned() };
    [
        ("*****", folder("{ build = 'prefix' }", code, "model = 'k-anonymity'\nk = 5")),
        ("Any", folder("'v.csv'", letter, "model = 'k-anonymity'\nk = 12")),
    ]
}

fn verify(dir: &Dir, certificate: &str) -> Output {
    dir.run(&["verify", "out.ndjson", "--certificate", certificate])
}

fn told(dir: &Dir) -> Value {
    let certificate: Value = serde_json::from_str(&dir.text(CERTIFICATE)).expect("JSON");
    certificate["kept"]["attributes"][1].clone()
}

#[test]
fn labels_that_say_nothing_and_are_no_star_made_honest_certificates_lie() {
    for (label, dir) in kinds() {
        dir.run(&["anonymize", "p.toml"]).exits(0);
        let shown = dir.text("out.ndjson").matches(&format!("\"v\":\"{label}\"")).count();
        assert_eq!(shown, 12, "{label}: {}", dir.text("out.ndjson"));
        let kept = told(&dir);
        assert_eq!((&kept["path"], &kept["as_anything"]), (&json!("v"), &json!(12)), "{kept}");
        assert_eq!(kept["says_nothing"], json!([label]), "{kept}");
        // Without the hierarchies, as a receiver has it.
        std::fs::remove_file(dir.path("v.csv")).expect("there");
        dir.certified("out.ndjson", CERTIFICATE);
    }
}

#[test]
fn damaged_figures_of_labels_that_say_nothing() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 6] = [
        ("one more says nothing", |v| v["as_anything"] = json!(13)),
        ("one fewer says nothing", |v| v["as_anything"] = json!(11)),
        ("none says nothing", |v| v["as_anything"] = json!(0)),
        ("one more is published", |v| v["published"] = json!(25)),
        ("no label says nothing", |v| {
            v.as_object_mut().expect("an object").remove("says_nothing");
        }),
        ("another label says nothing", |v| v["says_nothing"] = json!(["y"])),
    ];
    for (label, dir) in kinds() {
        dir.run(&["anonymize", "p.toml"]).exits(0);
        for (what, change) in changes {
            forge(&dir, CERTIFICATE, |certificate| change(&mut certificate.kept["attributes"][1]));
            let found = verify(&dir, "c.json");
            assert_eq!(found.code, Some(1), "{label}, {what}: {}", found.stdout);
            found.prints(&["NOT AS CERTIFIED", "`kept` tells another number of values of `v`"]);
        }
        verify(&dir, CERTIFICATE).exits(0);
    }
}
