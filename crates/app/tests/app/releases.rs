//! Several releases about the same people: found out to break a promise together, and made so that they keep it.

use std::path::Path;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::attack::AttackRequest;
use bosket_app::joint::Earlier;
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, Release, Verified, Warned, anonymize, attack, verify};
use bosket_model::Result;
use bosket_model::observe::Quiet;
use bosket_testkit::dice::Dice;
use serde_json::Value;

use crate::util::{Case, plain_clinic};

/// Where the releases of a test lie.
struct Releases<'a> {
    folder: &'a Path,
    policy: &'a str,
}

impl Releases<'_> {
    fn policy(&self, name: &str, sets: &[&str]) -> PolicyAt {
        let own = [
            format!("publish.path={name}"),
            format!("publish.mapping=private/{name}.csv"),
            "publish.report=".to_owned(),
        ];
        let sets = own.into_iter().chain(sets.iter().map(ToString::to_string)).collect();
        PolicyAt { path: self.folder.join(self.policy), sets, ..PolicyAt::default() }
    }

    fn earlier(&self, name: &str) -> Earlier {
        Earlier {
            publication: self.folder.join(name),
            mapping: Some(self.mapping(name)),
            ..Earlier::default()
        }
    }

    fn mapping(&self, name: &str) -> std::path::PathBuf {
        self.folder.join(format!("private/{name}.csv"))
    }

    fn publish(&self, name: &str, sets: &[&str], with: &[&str]) -> Result<Warned<Release>> {
        let with = with.iter().map(|name| self.earlier(name)).collect();
        let request =
            AnonymizeRequest { policy: self.policy(name, sets), with, ..AnonymizeRequest::default() };
        anonymize(&request, &Quiet)
    }

    fn made(&self, name: &str, sets: &[&str], with: &[&str]) -> Release {
        self.publish(name, sets, with).unwrap_or_else(|failure| panic!("{failure}")).value
    }

    fn look(&self, name: &str, sets: &[&str], with: &[&str]) -> Verified {
        let request = VerifyRequest {
            publication: self.folder.join(name),
            policy: Some(self.policy(name, sets)),
            mapping: (!with.is_empty()).then(|| self.mapping(name)),
            with: with.iter().map(|name| self.earlier(name)).collect(),
            ..VerifyRequest::default()
        };
        verify(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value
    }

    fn certificate(&self, name: &str) -> Value {
        let text = std::fs::read_to_string(self.folder.join(format!("{name}.certificate.json")));
        serde_json::from_str(&text.expect("a certificate")).expect("JSON")
    }
}

#[test]
fn two_releases_of_the_clinic_break_a_promise_that_each_keeps() {
    let example = plain_clinic(2_000);
    let all = Releases { folder: example.folder.path(), policy: "policy.toml" };
    let global = |cost: &'static str| ["method.recoding=global", cost];
    all.made("first.ndjson", &global("method.cost=lm"), &[]);
    let warned =
        all.publish("second.ndjson", &global("method.cost=rpd_a"), &[]).unwrap_or_else(|f| panic!("{f}"));
    // Somebody has to be told of the first one.
    let told: Vec<String> = warned.warnings.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|w| w.contains("first.ndjson.certificate.json")), "{told:?}");
    assert!(told.iter().any(|w| w.contains("first.ndjson.json")), "{told:?}");
    assert!(all.look("first.ndjson", &[], &[]).holds());
    assert!(all.look("second.ndjson", &[], &[]).holds());

    let found = all.look("second.ndjson", &[], &["first.ndjson"]);
    assert!(!found.holds() && found.verification.as_ref().is_some_and(|alone| alone.holds()));
    let joint = found.joint.expect("looked at");
    let witness = joint.verification.witness().expect("a witness");
    assert!(witness.support < 5 && witness.values.len() <= 2);
    let named: std::collections::BTreeSet<usize> = joint.sources.iter().flatten().copied().collect();
    assert_eq!(named.into_iter().collect::<Vec<_>>(), [0, 1], "{:?}", joint.sources);
    assert_eq!(joint.linked, 2_000);

    let request = AttackRequest {
        policy: all.policy("second.ndjson", &[]),
        with: vec![all.earlier("first.ndjson")],
        m: Some(vec![2]),
        n: Some(vec![0]),
        ..AttackRequest::default()
    };
    let attacked = attack(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value;
    let below = |risk: &bosket_measure::attack::Risk| risk.points[0].below_k.value;
    assert_eq!(attacked.after.as_ref().map(|after| below(&after.risk)), Some(0.0));
    assert!(attacked.joint.as_ref().is_some_and(|joint| below(&joint.risk) > 0.0));

    let release = all.made("third.ndjson", &global("method.cost=rpd_a"), &["first.ndjson"]);
    assert!(release.joint.is_some_and(|joint| joint.linked == 2_000 && !joint.held.is_empty()));
    let found = all.look("third.ndjson", &[], &["first.ndjson"]);
    assert!(found.holds() && found.joint.is_some());
    let certificate = all.certificate("third.ndjson");
    assert_eq!(certificate["joint"][0]["files"][0]["name"], "first.ndjson");
    let limits = certificate["not_claimed"].to_string();
    assert!(!limits.contains("composition") && limits.contains("further releases"), "{limits}");
    assert!(all.certificate("first.ndjson")["not_claimed"].to_string().contains("composition"));
}

/// A table of people with a town, an age, a job and an illness.
fn table(policy: &str) -> Case {
    let mut csv = "id,town,age,job,illness\n".to_owned();
    let mut dice = Dice::new(5);
    for at in 0..60 {
        let (town, age, job) = (dice.below(4), 20 + dice.below(8), dice.below(4));
        let illness = *dice.of(&["flu", "cold", "gout", "ulcer", "scurvy"]);
        csv += &format!("p{at},t{town},{age},j{job},{illness}\n");
    }
    let groups =
        |letter: &str| -> String { (0..4).map(|i| format!("{letter}{i};{letter}{}x;*\n", i / 2)).collect() };
    let attributes = "version = 1\n[source]\nformat = \"csv\"\npath = \"data.csv\"\n\
        [[attribute]]\npath = \"id\"\nrole = \"identifying\"\n\
        [[attribute]]\npath = \"town\"\nrole = \"quasi\"\nhierarchy = \"town.csv\"\n\
        [[attribute]]\npath = \"age\"\nrole = \"quasi\"\nhierarchy = { build = \"interval\", min = 20, max = 27, widths = [2, 4] }\n\
        [[attribute]]\npath = \"illness\"\nrole = \"sensitive\"\n";
    let quasi = "[[attribute]]\npath = \"job\"\nrole = \"quasi\"\nhierarchy = \"job.csv\"\n";
    let dropped = "[[attribute]]\npath = \"job\"\nrole = \"drop\"\n";
    let publish = "[publish]\npath = \"out.csv\"\n";
    Case::new(&[
        ("data.csv", &csv),
        ("town.csv", &groups("t")),
        ("job.csv", &groups("j")),
        ("p.toml", &format!("{attributes}{quasi}{policy}{publish}")),
        ("without.toml", &format!("{attributes}{dropped}{policy}{publish}")),
    ])
}

#[test]
fn classes_of_an_earlier_release_are_kept_or_merged() {
    for promise in ["model = \"k-anonymity\"\nk = 4\n", "model = \"l-diversity\"\nk = 4\nl = 2\n"] {
        let case = table(&format!("[privacy]\n{promise}[method]\nalgorithm = \"ctoff\"\n"));
        let (with_job, without) = (
            Releases { folder: case.path(), policy: "p.toml" },
            Releases { folder: case.path(), policy: "without.toml" },
        );
        without.made("first.csv", &[], &[]);
        // Made without a look at the first, it cuts its classes anew.
        with_job.made("second.csv", &[], &[]);
        let found = with_job.look("second.csv", &[], &["first.csv"]);
        assert!(!found.holds(), "{promise}");
        let release = with_job.made("third.csv", &[], &["first.csv"]);
        assert!(release.records > 50, "{promise}: {}", release.records);
        let found = with_job.look("third.csv", &[], &["first.csv"]);
        assert!(found.holds() && found.joint.is_some(), "{promise}");
        // And with both of them.
        let refused = with_job.publish("fourth.csv", &[], &["first.csv", "second.csv"]);
        let why = refused.expect_err("these two break it already").to_string();
        assert!(why.contains("breaks the promise already"), "{why}");
        assert!(!case.path().join("fourth.csv").exists());
    }
}

#[test]
fn people_of_another_input_are_linked_by_what_identifies_them() {
    let case = table("[privacy]\nmodel = \"kmn\"\nk = 4\nm = 2\nn = 0\n");
    let all = Releases { folder: case.path(), policy: "p.toml" };
    all.made("first.csv", &["source.path=data.csv"], &[]);
    // The same people backwards, without some and with others.
    let text = case.text("data.csv");
    let mut lines: Vec<&str> = text.lines().collect();
    let head = lines.remove(0);
    lines.reverse();
    lines.truncate(50);
    let more: Vec<String> = (0..10).map(|at| format!("q{at},t0,20,j0,flu")).collect();
    let other: Vec<&str> =
        std::iter::once(head).chain(lines).chain(more.iter().map(String::as_str)).collect();
    case.write("later.csv", &format!("{}\n", other.join("\n")));
    let later = ["source.path=later.csv"];
    // Numbers mean others there.
    let refused = all.publish("second.csv", &later, &["first.csv"]).expect_err("other numbers").to_string();
    assert!(refused.contains("number different inputs"), "{refused}");
    let earlier = Earlier { input: Some(case.path().join("data.csv")), ..all.earlier("first.csv") };
    let request = AnonymizeRequest {
        policy: all.policy("second.csv", &later),
        with: vec![earlier.clone()],
        ..AnonymizeRequest::default()
    };
    let release = anonymize(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value;
    assert_eq!(release.joint.map(|joint| joint.linked), Some(50));
    let request = VerifyRequest {
        publication: case.path().join("second.csv"),
        policy: Some(all.policy("second.csv", &later)),
        mapping: Some(all.mapping("second.csv")),
        against: Some(case.path().join("later.csv")),
        with: vec![earlier],
        ..VerifyRequest::default()
    };
    let found = verify(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value;
    assert!(found.holds());
    // Ten people are in the first one only, ten in the second only.
    assert_eq!(found.joint.map(|joint| (joint.linked, joint.verification.records)), Some((50, 70)));
}

#[test]
fn the_policy_names_earlier_releases() {
    let case = table(
        "[privacy]\nmodel = \"kmn\"\nk = 4\nm = 2\nn = 0\n\
         [[release.earlier]]\npublication = \"first.csv\"\nmapping = \"private/first.csv.csv\"\n",
    );
    let policy = case.text("p.toml");
    let (start, end) = (policy.find("[[release").expect("there"), policy.find("[publish]").expect("there"));
    case.write("alone.toml", &format!("{}{}", &policy[..start], &policy[end..]));
    let alone = Releases { folder: case.path(), policy: "alone.toml" };
    let all = Releases { folder: case.path(), policy: "p.toml" };
    let missing = all.publish("second.csv", &[], &[]).expect_err("nothing is there").to_string();
    assert!(missing.contains("first.csv"), "{missing}");
    alone.made("first.csv", &[], &[]);
    let warned = all.publish("second.csv", &[], &[]).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(warned.warnings.iter().all(|w| !w.message.contains("does not name")), "{:?}", warned.warnings);
    assert!(warned.value.joint.is_some());
    let certificate = all.certificate("second.csv");
    assert!(certificate["joint"].is_array());
    // Where it lies is nobody's business.
    assert!(certificate["policy"]["release"].is_null(), "{certificate}");
    let found = case.by_certificate("second.csv", "second.csv.certificate.json");
    let certified = found.certificate.expect("given");
    assert!(certified.holds() && certified.unchecked.iter().any(|what| what.contains("earlier releases")));
    // Nothing is made for a release that is not the one that was certified.
    case.write("first.csv", &case.text("first.csv").replacen("t", "u", 1));
    let changed = all.publish("third.csv", &[], &[]).expect_err("it was changed").to_string();
    assert!(changed.contains("not what its certificate speaks of"), "{changed}");
}

#[test]
fn two_sides_are_not_checked_together() {
    let case = table("[privacy]\nmodel = \"l-diversity\"\nk = 4\nl = 2\n");
    let all = Releases { folder: case.path(), policy: "p.toml" };
    all.made("first.csv", &[], &[]);
    let anatomized = ["publish.anatomize=true"];
    let why = all.publish("second", &anatomized, &["first.csv"]).expect_err("two sides").to_string();
    assert!(why.contains("two sides"), "{why}");
    assert!(!case.path().join("second").exists());
}
