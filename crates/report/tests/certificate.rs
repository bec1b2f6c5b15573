//! Certificates: nothing private in them, everything that verification needs, any changed byte found.

use bosket_model::policy::Policy;
use bosket_model::{Fault, Fingerprint};
use bosket_report::certificate::{
    Certificate, Facts, Form, GivenHierarchy, differences, json_schema, public_path, public_policy,
};
use bosket_testkit::json_schema::valid;
use bosket_verify::Claim;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A policy whose private parts all have a mark on them.
const MARKED: &str = r#"
version = 1
seed = 5
[source]
format = "csv"
separator = ";"
[[source.table]]
name = "person"
path = "MARK/people.csv"
key = "id"
[[source.table]]
name = "visit"
path = "MARK/visit.csv"
parent = "person"
foreign_key = "id"
[[source.lookup]]
name = "ward"
path = "MARK/ward.csv"
key = "w"
column = "visit.w"
value = "house"
[[attribute]]
path = "person.town"
role = "quasi"
hierarchy = { build = "order", groups = ["MARK a", { label = "MARK b", values = ["MARK c", ["MARK d"]] }] }
[[attribute]]
path = "visit.house"
role = "quasi"
hierarchy = "/MARK/house.csv"
[[attribute]]
path = "visit.code"
role = "quasi"
hierarchy = { build = "icd10", table = "/MARK/icd.csv" }
[[attribute]]
path = "visit.pay"
role = "sensitive"
[privacy]
model = "kmn"
k = 3
m = 2
n = 1
negative = ["MARK e", ["MARK f", "MARK g"]]
[publish]
path = "MARK/out"
certificate = "MARK.json"
report = "MARK.html"
mapping = "MARK.csv"
"#;

fn parse(text: &str) -> Policy {
    Policy::parse("MARK.toml", text, &[]).unwrap_or_else(|e| panic!("{text}\n{e:#?}")).0
}

fn files(names: &[&str]) -> Vec<Fingerprint> {
    let file = |name: &&str| Fingerprint { name: (*name).to_owned(), sha256: "0".repeat(64) };
    names.iter().map(file).collect()
}

fn certificate(text: &str, names: &[&str]) -> Certificate {
    let policy = parse(text);
    let claim = Claim::new(&policy).ok();
    Certificate::new(Facts {
        policy: &policy,
        claim: claim.as_ref(),
        caveats: Vec::new(),
        files: files(names),
        hierarchies: vec![GivenHierarchy {
            path: public_path("hierarchies/é.csv"),
            sha256: "f".repeat(64),
            attributes: vec!["a".to_owned()],
        }],
        records: 12,
        loss: json!({"z": 0.1, "a": 1e-30, "b": 1.0 / 3.0}),
        suppressed: json!({"records": 0}),
        kept: json!({"classes": [], "attributes": []}),
        selected: None,
        legend: serde_json::Value::Null,
        joint: Vec::new(),
    })
}

#[test]
fn nothing_private_is_in_it() {
    let text = certificate(MARKED, &["people.csv", "visit.csv"]).to_text();
    assert!(!text.contains("MARK"), "{text}");
    let told: Value = serde_json::from_str(&text).expect("JSON");
    let policy = &told["policy"];
    assert_eq!(policy["source"]["table"][0]["path"], "people.csv", "a published file's name");
    assert_eq!(policy["source"]["lookup"][0].get("path"), None, "a lookup is not published");
    assert_eq!(policy["attribute"][0]["hierarchy"], json!({"build": "order", "groups": 3}));
    assert_eq!(policy["attribute"][1]["hierarchy"], "house.csv");
    assert_eq!(policy["privacy"]["negative"], 2);
    assert_eq!(told["claim"]["negative"], json!({"values": 1, "pairs": 1}));
    assert_eq!(policy.get("publish"), None);
}

#[test]
fn lists_of_sets_and_classes_are_told_by_their_length() {
    let sets = "version = 1\n[[attribute]]\npath = 'item'\nrole = 'quasi'\n[privacy]\nmodel = 'km'\nk = 2\nm = 2\nl = 2\n\
                sensitive = ['MARK 1', 'MARK 2']\n";
    let classes = "version = 1\n[[attribute]]\npath = 'a'\nrole = 'quasi'\n[[attribute]]\npath = 'b'\nrole = 'sensitive'\n\
                   [privacy]\nmodel = 'l-diversity'\nl = 2\ndistinct_everywhere = ['MARK']\n";
    for (text, key, length) in [(sets, "sensitive", 2), (classes, "distinct_everywhere", 1)] {
        let made = certificate(text, &["out"]);
        assert!(!made.to_text().contains("MARK"));
        assert_eq!(made.policy["privacy"][key], length);
        assert_eq!(made.withheld(), [format!("privacy.{key}")]);
        let refused = made.restored_policy("c").expect_err("the list is needed");
        assert_eq!(refused.fault, Fault::Policy);
        assert!(refused.diagnostics[0].to_string().contains(&format!("privacy.{key}")));
    }
}

#[test]
fn the_policy_can_be_read_again() {
    let text = MARKED.replace("negative = [\"MARK e\", [\"MARK f\", \"MARK g\"]]\n", "");
    let made = certificate(&text, &["people.csv", "visit.csv"]);
    let restored = made.restored_policy("c").expect("a policy");
    assert!(made.claims(&Claim::new(&restored).expect("a claim")));
    restored.need_source().expect("complete enough to read the publication");
    // What is withheld is lost, everything else stays.
    let mut wanted = made.policy.clone();
    wanted["attribute"][0].as_object_mut().expect("an attribute").remove("hierarchy");
    let mut again = public_policy(&restored, &made.files);
    again["source"].as_object_mut().expect("a source").remove("path");
    assert_eq!(differences(&again, &wanted), Vec::<String>::new());
}

#[test]
fn a_hierarchy_that_the_distance_needs_and_that_is_withheld() {
    let text = "version = 1\n[[attribute]]\npath = 'a'\nrole = 'quasi'\n[[attribute]]\npath = 'b'\nrole = 'sensitive'\n\
                hierarchy = { build = 'order', groups = ['MARK', 'x'] }\n[privacy]\nmodel = 'delta'\ngroup_size = 2\n";
    let made = certificate(text, &["out"]);
    assert_eq!(made.withheld(), ["the hierarchy of `b`"]);
    assert!(made.restored_policy("c").is_err());
}

#[test]
fn nothing_claimed_is_said() {
    let made = certificate("version = 1\n[privacy]\nmodel = 'none'\n", &["out"]);
    assert_eq!((&made.claim, made.verified), (&Value::Null, false));
    assert_eq!(made.sentence, "nothing is claimed");
    assert!(made.not_claimed[0].contains("any guarantee"));
}

#[test]
fn it_comes_back_and_its_keys_are_sorted() {
    let made = certificate(MARKED, &["people.csv", "visit.csv"]);
    let text = made.to_text();
    let again = Certificate::read(&text).expect("a certificate");
    assert_eq!(again, made);
    assert_eq!(again.damage(&text), Vec::<String>::new());
    fn ordered(value: &Value) -> bool {
        match value {
            Value::Object(keys) => keys.keys().is_sorted() && keys.values().all(ordered),
            Value::Array(items) => items.iter().all(ordered),
            _ => true,
        }
    }
    assert!(ordered(&made.to_json()));
    assert!(text.contains("\"b\": 0.3333333333333333,") && text.contains("\"a\": 1e-30,"), "{text}");
}

#[test]
fn the_digest_is_that_of_the_rest_in_canonical_form() {
    let made = certificate(MARKED, &["people.csv", "visit.csv"]);
    let mut content = made.to_json();
    content.as_object_mut().expect("an object").shift_remove("digest");
    // No number in it is written otherwise by JavaScript, and no key is beyond ASCII.
    use sha2::{Digest, Sha256};
    let digest: String =
        Sha256::digest(content.to_string()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(made.digest, digest);
}

#[test]
fn any_changed_byte_is_found() {
    let text = certificate(MARKED, &["people.csv", "visit.csv"]).to_text();
    for at in 0..text.len() {
        for by in [b'0', b' ', b'x', b'"'] {
            let mut bytes = text.clone().into_bytes();
            if bytes[at] == by {
                continue;
            }
            bytes[at] = by;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            let found = Certificate::read(&changed).map_or(true, |read| !read.damage(&changed).is_empty());
            assert!(found, "byte {at} of\n{changed}");
        }
    }
    let reformatted = text.replace("  ", " ");
    let read = Certificate::read(&reformatted).expect("still a certificate");
    assert_eq!(read.damage(&reformatted), ["it says what it said, but is not written as it was"]);
}

#[test]
fn all_that_is_wrong_is_said() {
    let mut json = certificate(MARKED, &["out"]).to_json();
    json["records"] = json!(-1);
    json["more"] = json!(1);
    json["publication"]["files"][0]["sha256"] = json!(null);
    json["publication"]["form"] = json!("cloud");
    json.as_object_mut().expect("an object").shift_remove("tool");
    let failure = Certificate::read(&json.to_string()).expect_err("not a certificate");
    assert_eq!(failure.fault, Fault::Data);
    let said: Vec<&str> = failure.diagnostics.iter().map(|d| d.message.as_str()).collect();
    for part in [
        "`tool` is missing",
        "`records` must be a whole number",
        "`more` is not known",
        "`publication.files.sha256` must be a text",
        "`publication.form` is none that this version knows",
    ] {
        assert!(said.contains(&part), "{part}\n{said:#?}");
    }
    for (other, part) in
        [("[]", "form 1"), ("{}", "form 1"), ("{\"certificate\": 2}", "form 1"), ("", "not JSON")]
    {
        let failure = Certificate::read(other).expect_err("not a certificate");
        assert!(failure.diagnostics[0].message.contains(part), "{other}: {failure:?}");
    }
}

#[test]
fn publications_that_cannot_be_were_read() {
    let none = "version = 1\n[privacy]\nmodel = 'none'\n";
    type Change = fn(&mut Certificate);
    let changes: [(&str, Change, &str); 5] = [
        (none, |c| c.files.clear(), "`publication.files` must name at least one"),
        (none, |c| c.not_claimed.clear(), "`not_claimed` must name at least one limit"),
        (none, |c| c.files = files(&["a/b"]), "without a way to it"),
        (MARKED, |c| c.files = files(&["people.csv", "a/../visit.csv"]), "must be a file within the folder"),
        (none, |c| c.hierarchies[0].path = "/etc/hostname".to_owned(), "`hierarchies.path`"),
    ];
    for (text, change, part) in changes {
        let mut made = certificate(text, &["people.csv"]);
        change(&mut made);
        made.digest = made.expected_digest();
        let failure = Certificate::read(&made.to_text()).expect_err("impossible");
        assert!(failure.diagnostics[0].message.contains(part), "{part}: {failure:?}");
    }
    let within = certificate(MARKED, &["people.csv", "more/visit.csv"]);
    assert_eq!(Certificate::read(&within.to_text()).expect("a folder may have folders"), within);
}

#[test]
fn a_certificate_may_contradict_its_own_policy() {
    let linked = parse(&MARKED.replace("negative = [\"MARK e\", [\"MARK f\", \"MARK g\"]]\n", ""));
    let none = parse("version = 1\n[privacy]\nmodel = 'none'\n");
    let made = certificate(MARKED, &["people.csv", "visit.csv"]);
    assert_eq!(made.contradictions(&linked), Vec::<String>::new());
    let nothing = certificate("version = 1\n[privacy]\nmodel = 'none'\n", &["out"]);
    assert_eq!(nothing.contradictions(&none), Vec::<String>::new());
    let found = Certificate { form: Form::Document, seed: 6, verified: false, ..made.clone() };
    assert_eq!(found.contradictions(&linked).len(), 3);
    let found = Certificate { claim: Value::Null, ..made };
    assert_eq!(found.contradictions(&linked).len(), 4);
    let found =
        Certificate { sentence: "all is well".into(), not_claimed: vec!["no".into()], ..nothing.clone() };
    assert_eq!(found.contradictions(&none).len(), 2);
    assert_eq!(Certificate { verified: true, ..nothing }.contradictions(&none).len(), 1);
}

#[test]
fn tables_of_a_database_were_left_out() {
    let text = "version = 1\n[source]\nformat = 'postgres'\nurl = 'postgres://h/d'\n\
                [[source.table]]\nname = 'public.person'\nkey = 'id'\n\
                [[source.table]]\nname = 'visit'\nparent = 'public.person'\nforeign_key = 'id'\n\
                [[attribute]]\npath = 'visit.code'\nrole = 'quasi'\n\
                [privacy]\nmodel = 'kmn'\nk = 2\nm = 1\nn = 0\n[publish]\nschema = 'out'\n";
    let policy = parse(text);
    let made = certificate(text, &["person", "visit"]);
    assert_eq!(made.contradictions(&policy), Vec::<String>::new());
    let less = Certificate { files: files(&["person"]), ..made };
    assert_eq!(less.contradictions(&policy), ["it does not name all tables of its policy"]);
}

#[test]
fn local_recoding_of_sets_did_not_name_combinatorial_refinement() {
    for (algorithm, refined) in
        [("", false), ("'aa'", false), ("'vpa'", false), ("'lra'", true), ("'partition'", true)]
    {
        let method =
            if algorithm.is_empty() { String::new() } else { format!("[method]\nalgorithm = {algorithm}\n") };
        let text = format!(
            "version = 1\n[[attribute]]\npath = 'item'\nrole = 'quasi'\n[privacy]\nmodel = 'km'\nk = 2\nm = 2\n{method}"
        );
        let limits = certificate(&text, &["out"]).not_claimed;
        let named = limits.iter().any(|limit| limit.starts_with("combinatorial refinement:"));
        assert_eq!(named, refined, "{algorithm}: {limits:?}");
    }
}

#[test]
fn certificates_fit_their_schema_and_others_do_not() {
    let schema = json_schema();
    let policies = [
        (MARKED, vec!["people.csv", "visit.csv"]),
        ("version = 1\n[privacy]\nmodel = 'none'\n", vec!["out"]),
    ];
    for (text, names) in policies {
        let json = certificate(text, &names).to_json();
        assert!(valid(&schema, &schema, &json), "{json:#}");
        for key in json.as_object().expect("an object").keys() {
            let mut less = json.clone();
            less.as_object_mut().expect("an object").shift_remove(key);
            // Certificates of earlier versions did not count rows and values.
            assert_eq!(valid(&schema, &schema, &less), key == "kept", "{key} is needed");
            let mut wrong = json.clone();
            wrong[key] = json!(1.5);
            assert!(!valid(&schema, &schema, &wrong), "{key} is not a number");
        }
        let mut places = json.clone();
        places["policy"]["publish"] = json!({"path": "x"});
        assert!(!valid(&schema, &schema, &places), "no place of the publication");
        let mut lists = json;
        lists["policy"]["privacy"]["negative"] = json!(["x"]);
        assert!(!valid(&schema, &schema, &lists), "no list of values");
    }
}

#[test]
fn the_published_schema_is_the_present_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/certificate.schema.json");
    let wanted = format!("{:#}\n", json_schema());
    if std::env::var_os("BOSKET_BLESS").is_some() {
        std::fs::write(path, wanted).expect("docs/certificate.schema.json can be written");
    } else {
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == wanted,
            "docs/certificate.schema.json is behind: run this test once with BOSKET_BLESS=1"
        );
    }
}

#[test]
fn differences_name_what_differs() {
    let a = json!({"k": 1, "attribute": [{"path": "a", "role": "quasi"}, {"path": "b"}], "same": [1]});
    let b =
        json!({"k": 2, "attribute": [{"path": "b"}, {"path": "a", "role": "key"}], "same": [1], "m": [2]});
    assert_eq!(
        differences(&a, &b),
        [
            "attribute: not in the same order",
            "attribute[\"a\"].role: \"quasi\" in the policy, \"key\" in the certificate",
            "k: 1 in the policy, 2 in the certificate",
            "m: nothing in the policy, [2] in the certificate",
        ]
    );
    assert_eq!(differences(&a, &a), Vec::<String>::new());
}

proptest! {
    #[test]
    fn numbers_come_back_to_the_last_bit(loss in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
        let mut made = certificate("version = 1\n[privacy]\nmodel = 'none'\n", &["out"]);
        made.loss = json!({"loss": loss});
        made.digest = made.expected_digest();
        let text = made.to_text();
        let read = Certificate::read(&text).expect("a certificate");
        prop_assert_eq!(read.loss["loss"].as_f64(), Some(loss));
        prop_assert!(read.damage(&text).is_empty());
    }
}
