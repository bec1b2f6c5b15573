//! Shifted dates and pseudonyms, from the file to the verdict.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::measure::MeasureRequest;
use bosket_app::report::ReportRequest;
use bosket_app::verify::VerifyRequest;
use bosket_app::{Release, Verified, anonymize, measure, report, verify};
use bosket_model::Result;
use bosket_model::calendar::Civil;
use bosket_model::masks::is_pseudonym;
use bosket_model::observe::Quiet;
use serde_json::Value;

use crate::util::{Case, untruths};

const POLICY: &str = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n\
    [[attribute]]\npath = \"id\"\nrole = \"pseudonym\"\n\
    [[attribute]]\npath = \"age\"\nrole = \"quasi\"\nhierarchy = { build = \"interval\", min = 0, max = 100, widths = [10] }\n\
    [[attribute]]\npath = \"admitted\"\nrole = \"sensitive\"\nshift = { days = 180 }\n\
    [[attribute]]\npath = \"visits[].at\"\nrole = \"insensitive\"\nacknowledge = true\nshift = { days = 180 }\n\
    [[attribute]]\npath = \"visits[].ward\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 3 }\n\
    [publish]\npath = \"pub.ndjson\"\nmapping = \"private/map.csv\"\n[privacy]\nk = 2\n";

fn model(model: &str) -> &'static str {
    match model {
        "kmn" => "model = \"kmn\"\nm = 2\nn = 1\n",
        _ => "model = \"k-anonymity\"\n",
    }
}

fn days(text: &str) -> i64 {
    Civil::parse(&text[..10]).map(Civil::days).expect("a day")
}

fn case(of: &str) -> Case {
    let record = |i: i64| {
        let day = |n: i64| Civil::from_days(15_000 + n).expect("a day");
        let visits: Vec<String> = (0..1 + i % 2)
            .map(|v| format!("{{\"at\":\"{}T1{v}:00\",\"ward\":\"w{}\"}}", day(37 * i + 11 * v + 3), i % 3))
            .collect();
        let (age, admitted) = (20 + i % 4, day(37 * i));
        format!(
            "{{\"id\":\"p{i}\",\"age\":{age},\"admitted\":\"{admitted}\",\"visits\":[{}]}}\n",
            visits.join(",")
        )
    };
    let data: String = (0..24).map(record).collect();
    let case = Case::new(&[("data.ndjson", &data), ("p.toml", &format!("{POLICY}{}", model(of)))]);
    case.write("key", "0123456789abcdef0123456789abcdef");
    case.protect("key", 0o600);
    case
}

impl Case {
    fn protect(&self, name: &str, mode: u32) {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(self.path().join(name), permissions).expect("protected");
    }

    fn keyed(&self, key: Option<&str>, sets: &[&str]) -> Result<Release> {
        let key = key.map(|key| self.path().join(key));
        let request = AnonymizeRequest { policy: self.policy(sets), key, ..AnonymizeRequest::default() };
        anonymize(&request, &Quiet).map(|warned| warned.value)
    }

    fn mapped(&self, publication: &str, sets: &[&str]) -> Result<Verified> {
        let request = VerifyRequest {
            publication: self.path().join(publication),
            policy: Some(self.policy(sets)),
            against: Some(self.path().join("data.ndjson")),
            mapping: Some(self.path().join("private/map.csv")),
            ..VerifyRequest::default()
        };
        verify(&request, &Quiet).map(|warned| warned.value)
    }
}

fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn shifted_dates_keep_their_intervals_and_are_true() {
    for model in ["kmn", "k-anonymity"] {
        let case = case(model);
        case.keyed(Some("key"), &[]).unwrap_or_else(|failure| panic!("{model}: {failure}"));
        let published = case.text("pub.ndjson");
        assert_eq!(records(&published).len(), 24, "{model}");
        for record in records(&published) {
            for visit in record["visits"].as_array().into_iter().flatten() {
                let Some(at) = visit["at"].as_str() else { continue };
                let apart = days(at) - days(record["admitted"].as_str().expect("a date"));
                assert_eq!(apart, if at.ends_with("T10:00") { 3 } else { 14 }, "{model}: {record}");
            }
        }
        let input = case.text("data.ndjson");
        let same = published.lines().filter(|line| {
            let record: Value = serde_json::from_str(line).expect("JSON");
            input.contains(record["admitted"].as_str().expect("a date"))
        });
        assert!(same.count() < 5, "{model}: hardly anybody keeps their day");
        let found = case.mapped("pub.ndjson", &[]).unwrap_or_else(|failure| panic!("{model}: {failure}"));
        assert!(found.holds(), "{model}: {:?}", untruths(&found));
        let unprotected = found.unprotected.expect("told");
        assert_eq!(unprotected.pseudonyms, ["id"]);
        assert_eq!(unprotected.shifted, [("admitted".to_owned(), 180), ("visits[].at".to_owned(), 180)]);
        let certificate = case.text("pub.ndjson.certificate.json");
        assert!(certificate.contains("shifted dates: `admitted`, `visits[].at`: moved by up to 180 days"));
        assert!(certificate.contains("linking: `id`: a pseudonym that is the same in every release"));
        assert!(case.by_certificate("pub.ndjson", "pub.ndjson.certificate.json").holds());
    }
}

#[test]
fn dates_that_were_not_shifted_by_one_number_are_not_true() {
    let case = case("k-anonymity");
    case.keyed(Some("key"), &[]).expect("published");
    let published = case.text("pub.ndjson");
    // Somebody's admission a day later, the visits where they were.
    let first = records(&published)[0]["admitted"].as_str().expect("a date").to_owned();
    let later = Civil::from_days(days(&first) + 1).expect("a day").to_string();
    case.write("later.ndjson", &published.replacen(&first, &later, 1));
    let found = case.mapped("later.ndjson", &[]).expect("compared");
    assert!(untruths(&found).iter().any(|what| what.contains("one number of days within the bound")));
    // What was shifted by up to 180 days was not shifted by up to 5.
    let narrow = ["attribute[\"admitted\"].shift.days=5", "attribute[\"visits[].at\"].shift.days=5"];
    let found = case.mapped("pub.ndjson", &narrow).expect("compared");
    assert!(!found.holds());
    // Without the mapping nobody can tell whose dates they are.
    let request = VerifyRequest {
        publication: case.path().join("pub.ndjson"),
        policy: Some(case.policy(&[])),
        against: Some(case.path().join("data.ndjson")),
        ..VerifyRequest::default()
    };
    let failure = verify(&request, &Quiet).expect_err("refused");
    assert!(failure.to_string().contains("--mapping"), "{failure}");
}

#[test]
fn the_key_decides_and_is_kept() {
    let case = case("k-anonymity");
    case.keyed(Some("key"), &[]).expect("published");
    let first = case.text("pub.ndjson");
    let again = ["publish.path=\"again.ndjson\"", "publish.mapping=\"private/again.csv\""];
    case.keyed(Some("key"), &again).expect("published");
    assert_eq!(first, case.text("again.ndjson"));
    case.write("other", "another key of at least 32 bytes, really");
    case.protect("other", 0o600);
    let other = ["publish.path=\"other.ndjson\"", "publish.mapping=\"private/other.csv\""];
    case.keyed(Some("other"), &other).expect("published");
    let ids = |text: &str| -> BTreeSet<String> {
        records(text).iter().map(|r| r["id"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(ids(&first).len(), 24);
    assert!(ids(&first).iter().all(|id| is_pseudonym(id)));
    assert!(ids(&first).is_disjoint(&ids(&case.text("other.ndjson"))));
    for file in ["pub.ndjson", "pub.ndjson.certificate.json", "private/map.csv", "private/map.json"] {
        assert!(!case.text(file).contains("0123456789abcdef"), "{file}");
    }
    for (key, mode, said) in [
        (None, 0o600, "head -c 32 /dev/urandom > key; chmod 600 key"),
        (Some("key"), 0o644, "others than you can read the key"),
        (Some("short"), 0o600, "at least 32 bytes"),
        (Some("gone"), 0o600, "cannot read the key"),
    ] {
        case.write("short", "too short");
        case.protect("short", 0o600);
        case.protect("key", mode);
        let failure = case.keyed(key, &["publish.path=\"x.ndjson\""]).expect_err(said);
        assert!(failure.to_string().contains(said), "{failure}");
    }
}

#[test]
fn a_key_that_nothing_needs_is_refused() {
    let case = case("k-anonymity");
    let plain = "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n\
        [[attribute]]\npath = \"age\"\nrole = \"quasi\"\n\
        hierarchy = { build = \"interval\", min = 0, max = 100, widths = [10] }\n\
        [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[publish]\npath = \"plain.ndjson\"\n";
    case.write("p.toml", plain);
    let failure = case.keyed(Some("key"), &[]).expect_err("refused");
    assert!(failure.to_string().contains("neither shifts dates nor has a pseudonym"), "{failure}");
}

const PEOPLE: &str = "version = 1\n[source]\nformat = \"csv\"\npath = \"data.csv\"\n\
    [[attribute]]\npath = \"id\"\nrole = \"pseudonym\"\n\
    [[attribute]]\npath = \"age\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 2 }\n\
    [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[publish]\npath = \"pub.csv\"\nmapping = \"private/map.csv\"\n";

fn people() -> Case {
    let rows: String = (0..8).map(|i| format!("p{i},{}\n", 20 + i % 4)).collect();
    let case = Case::new(&[("data.csv", &format!("id,age\n{rows}")), ("p.toml", PEOPLE)]);
    case.write("key", "0123456789abcdef0123456789abcdef");
    case.protect("key", 0o600);
    case
}

#[test]
fn what_is_no_pseudonym_is_a_violation() {
    let case = people();
    case.keyed(Some("key"), &[]).expect("published");
    let published = case.text("pub.csv");
    let found = case.look("pub.csv", &[], "data.csv");
    assert!(found.holds(), "{:?}", untruths(&found));
    let first = published.lines().nth(1).and_then(|line| line.split(',').next()).expect("a pseudonym");
    case.write("raw.csv", &published.replace(first, "p3"));
    let found = case.look("raw.csv", &[], "data.csv");
    assert_eq!(found.verification.as_ref().expect("verified").left, ["id"]);
    assert!(untruths(&found).iter().any(|what| what.contains("where a pseudonym should")));
    // Two people with one pseudonym.
    let second = published.lines().nth(2).and_then(|line| line.split(',').next()).expect("a pseudonym");
    case.write("same.csv", &published.replace(first, second));
    let found = case.look("same.csv", &[], "data.csv");
    assert!(found.verification.as_ref().expect("verified").holds());
    assert!(untruths(&found).iter().any(|what| what.contains("one to one")), "{:?}", untruths(&found));
}

#[test]
fn a_key_of_a_table_can_be_a_pseudonym() {
    let policy = "version = 1\n[source]\nformat = \"csv\"\n\
        [[source.table]]\nname = \"p\"\npath = \"p.csv\"\nkey = \"pid\"\n\
        [[source.table]]\nname = \"o\"\npath = \"o.csv\"\nkey = \"oid\"\nparent = \"p\"\nforeign_key = \"pid\"\n\
        [[attribute]]\npath = \"p.pid\"\nrole = \"pseudonym\"\n\
        [[attribute]]\npath = \"p.age\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 2 }\n\
        [[attribute]]\npath = \"o.day\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 2 }\n\
        [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[publish]\npath = \"pub\"\n";
    let people: String = (0..8).map(|i| format!("p{i},{}\n", 20 + i % 4)).collect();
    let orders: String = (0..8).map(|i| format!("o{i},p{i},d{}\n", i % 2)).collect();
    let case = Case::new(&[
        ("p.csv", &format!("pid,age\n{people}")),
        ("o.csv", &format!("oid,pid,day\n{orders}")),
        ("p.toml", policy),
    ]);
    case.write("key", "0123456789abcdef0123456789abcdef");
    case.protect("key", 0o600);
    case.keyed(Some("key"), &[]).unwrap_or_else(|failure| panic!("{failure}"));
    let found = case.look("pub", &[], ".");
    assert!(found.holds(), "{:?}", untruths(&found));
    for file in ["pub/p.csv", "pub/o.csv"] {
        assert!((0..8).all(|i| !case.text(file).contains(&format!("p{i}"))), "{}", case.text(file));
    }
}

/// The input is not masked when it is read again, and says the same.
#[test]
fn figures_of_later_are_those_of_the_run() {
    for model in ["kmn", "k-anonymity"] {
        let case = case(model);
        let release = case.keyed(Some("key"), &["publish.report=own.html"]).expect("published");
        let request = MeasureRequest {
            input: case.path().join("data.ndjson"),
            publication: case.path().join("pub.ndjson"),
            policy: case.policy(&[]),
            ..MeasureRequest::default()
        };
        let loss = measure(&request, &Quiet).expect("measured").value;
        assert_eq!(loss.kept, release.kept, "{model}");
        let kinds: Vec<Option<String>> = loss.kept.attributes.iter().map(|a| a.kind()).collect();
        let named = ["pseudonym", "sensitive, shifted", "insensitive, shifted"];
        assert!(named.iter().all(|kind| kinds.iter().flatten().any(|k| k == kind)), "{model}: {kinds:?}");
        let again = ReportRequest {
            policy: case.policy(&[]),
            out: Some(case.path().join("later.html")),
            ..ReportRequest::default()
        };
        assert!(report(&again, &Quiet).expect("reported").value.holds());
        assert_eq!(case.text("own.html"), case.text("later.html"), "{model}");
    }
}
