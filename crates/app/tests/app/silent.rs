//! Rows of which nothing is left are not published, and are counted as left out.

use std::num::NonZeroUsize;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::{Settings, anonymize};
use bosket_model::observe::Quiet;
use bosket_testkit::dice::{Dice, cases};
use serde_json::Value;

use crate::util::{Case, untruths};

const NDJSON: &str = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n";
const CSV: &str = "version = 1\n[source]\nformat = \"csv\"\n\
    [[source.table]]\nname = \"p\"\npath = \"p.csv\"\nkey = \"pid\"\n\
    [[source.table]]\nname = \"drugs\"\npath = \"drugs.csv\"\nkey = \"did\"\nparent = \"p\"\nforeign_key = \"pid\"\n";
const LOCAL: &str =
    "[privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 1\n[method]\ncost = \"lm\"\nrecoding = \"local\"\n";

fn quasi(paths: &[&str]) -> String {
    let one = |path: &&str| {
        format!(
            "[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\nhierarchy = {{ build = \"fanout\", fanout = 50 }}\n"
        )
    };
    paths.iter().map(one).collect()
}

/// Twenty people have had drug A, twenty one that nobody else had.
fn drug(person: usize) -> (String, String) {
    if person < 20 {
        ("A".to_owned(), "Mon".to_owned())
    } else {
        (format!("only{person}"), format!("on{person}"))
    }
}

fn documents(beside: bool) -> Case {
    let note = |p: usize| if beside { format!(",\"note\":\"n{p}\"") } else { String::new() };
    let record = |p: usize| {
        let (code, day) = drug(p);
        format!("{{\"sex\":\"f\",\"drugs\":[{{\"code\":\"{code}\",\"day\":\"{day}\"{}}}]}}\n", note(p))
    };
    let records: String = (0..40).map(record).collect();
    let other = "[[attribute]]\npath = \"drugs[].note\"\nrole = \"insensitive\"\nacknowledge = true\n";
    let policy = [
        NDJSON,
        &quasi(&["sex", "drugs[].code", "drugs[].day"]),
        if beside { other } else { "" },
        LOCAL,
        "[publish]\npath = \"out.ndjson\"\n",
    ];
    Case::new(&[("p.toml", &policy.concat()), ("in.ndjson", &records)])
}

#[test]
fn rows_of_which_nothing_was_left_stood_there_all_the_same() {
    let case = documents(false);
    let release = case.release(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    let published = case.text("out.ndjson");
    assert_eq!(published.matches("\"A\"").count(), 20, "{published}");
    assert!(!published.contains('*'), "{published}");
    let kept = release.kept.rows("drugs[]").expect("a class");
    assert_eq!((kept.input, kept.published), (40, 20));
    assert_eq!(kept.lost.expect("told").left_out, 20);
    let verified = case.look("out.ndjson", &[], "in.ndjson");
    assert!(verified.holds());
    assert_eq!(untruths(&verified), [""; 0]);
    // A row that never was is found, however little it says.
    case.write(
        "more.ndjson",
        &published.replacen("{\"code\"", "{\"code\":\"*\",\"day\":\"*\"},{\"code\"", 20),
    );
    assert!(!untruths(&case.look("more.ndjson", &[], "in.ndjson")).is_empty());
}

#[test]
fn a_row_with_something_beside_its_values_stays() {
    let case = documents(true);
    let release = case.release(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(case.text("out.ndjson").matches("\"note\"").count(), 40);
    assert_eq!(release.kept.rows("drugs[]").expect("a class").published, 40);
}

#[test]
fn tables_lose_rows_that_say_nothing_too() {
    let people: String = (0..40).map(|p| format!("{p},f\n")).collect();
    let drugs: String = (0..40).map(|p| format!("{p},{p},{},{}\n", drug(p).0, drug(p).1)).collect();
    let policy =
        [CSV, &quasi(&["p.sex", "drugs.code", "drugs.day"]), LOCAL, "[publish]\npath = \"out\"\n"].concat();
    let case = Case::new(&[
        ("p.toml", &policy),
        ("p.csv", &format!("pid,sex\n{people}")),
        ("drugs.csv", &format!("did,pid,code,day\n{drugs}")),
    ]);
    let release = case.release(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(case.text("out/drugs.csv").lines().count(), 21);
    assert_eq!(case.text("out/p.csv").lines().count(), 41);
    assert_eq!(release.kept.rows("drugs").expect("a class").lost.expect("told").left_out, 20);
    let verified = case.look("out", &[], ".");
    assert!(verified.holds());
    assert_eq!(untruths(&verified), [""; 0]);
}

/// Two people show `*` for a drug on Mondays. Once the rows that say nothing were gone, they were the only ones.
#[test]
fn rows_stay_where_few_others_show_anything_in_their_place() {
    let record = |p: usize| match p {
        0..20 => "{\"sex\":\"f\",\"drugs\":[{\"code\":\"A\",\"day\":\"Mon\"}]}\n".to_owned(),
        20..22 => format!("{{\"sex\":\"f\",\"drugs\":[{{\"code\":\"only{p}\",\"day\":\"Mon\"}}]}}\n"),
        _ => format!("{{\"sex\":\"f\",\"drugs\":[{{\"code\":\"only{p}\",\"day\":\"on{p}\"}}]}}\n"),
    };
    let records: String = (0..40).map(record).collect();
    let policy = [
        NDJSON,
        &quasi(&["sex", "drugs[].code", "drugs[].day"]),
        &LOCAL.replace("n = 1", "n = 0"),
        "[publish]\npath = \"out.ndjson\"\n",
    ];
    let case = Case::new(&[("p.toml", &policy.concat()), ("in.ndjson", &records)]);
    let release = case.release(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    let verified = case.look("out.ndjson", &[], "in.ndjson");
    assert!(verified.holds());
    assert_eq!(untruths(&verified), [""; 0]);
    let published = case.text("out.ndjson");
    let of_monday = published.matches("{\"code\":\"*\",\"day\":\"Mon\"}").count();
    let silent = published.matches("{\"code\":\"*\",\"day\":\"*\"}").count();
    assert!(of_monday == 0 || silent >= 3, "{published}");
    let kept = release.kept.rows("drugs[]").expect("a class");
    assert_eq!(kept.published + kept.lost.expect("told").left_out, 40);
}

/// Where one cut is for everybody, rows go where all of their class say nothing.
#[test]
fn a_class_of_which_nothing_is_told_is_left_out_by_one_cut() {
    let record = |p: usize| format!("{{\"sex\":\"f\",\"drugs\":[{{\"code\":\"only{p}\"}}]}}\n");
    let records: String = (0..40).map(record).collect();
    let policy = [
        NDJSON,
        &quasi(&["sex", "drugs[].code"]),
        &LOCAL.replace("local", "global"),
        "[publish]\npath = \"out.ndjson\"\n",
    ];
    let case = Case::new(&[("p.toml", &policy.concat()), ("in.ndjson", &records)]);
    let release = case.release(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(!case.text("out.ndjson").contains('*'));
    assert_eq!(release.kept.rows("drugs[]").expect("a class").lost.expect("told").left_out, 40);
    let verified = case.look("out.ndjson", &[], "in.ndjson");
    assert!(verified.holds());
    assert_eq!(untruths(&verified), [""; 0]);
    // Records in parts lose the same rows.
    let in_parts = AnonymizeRequest {
        policy: case.policy(&["publish.path=parts.ndjson"]),
        settings: Settings { chunk: NonZeroUsize::new(7), ..Settings::default() },
        ..AnonymizeRequest::default()
    };
    let parts = anonymize(&in_parts, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value;
    assert_eq!(case.text("parts.ndjson"), case.text("out.ndjson"));
    assert_eq!(parts.kept.rows("drugs[]").expect("a class").lost.expect("told").left_out, 40);
}

/// People with some visits each, and drugs below these; few values, of which some are rare.
fn random(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let value = |dice: &mut Dice, name: &str| match dice.one_in(3) {
        true => format!("{name}{}", 10 + dice.below(30)),
        false => format!("{name}{}", dice.below(2)),
    };
    let mut text = String::new();
    for _ in 0..20 + dice.below(30) {
        let mut visits = Vec::new();
        for _ in 0..dice.below(4) {
            let mut drugs = Vec::new();
            for _ in 0..dice.below(3) {
                drugs.push(serde_json::json!({"code": value(&mut dice, "c"), "day": value(&mut dice, "d")}));
            }
            let mut visit = serde_json::json!({"ward": value(&mut dice, "w")});
            if !drugs.is_empty() {
                visit["drugs"] = Value::Array(drugs);
            }
            visits.push(visit);
        }
        text += &format!("{}\n", serde_json::json!({"sex": value(&mut dice, "s"), "visits": visits}));
    }
    text
}

#[test]
fn random_rows_that_say_nothing_keep_promise_and_truth() {
    let mut left_out = 0;
    for seed in 0..cases(24) as u64 {
        let records = random(seed);
        let k = 2 + seed % 3;
        let policy = [
            NDJSON,
            &quasi(&["sex", "visits[].ward", "visits[].drugs[].code", "visits[].drugs[].day"]),
            &LOCAL.replace("k = 5", &format!("k = {k}")),
            "[publish]\npath = \"out.ndjson\"\n",
        ];
        let case = Case::new(&[("p.toml", &policy.concat()), ("in.ndjson", &records)]);
        let Ok(release) = case.release(&[]) else { continue };
        let verified = case.look("out.ndjson", &[], "in.ndjson");
        assert!(verified.holds(), "seed {seed}");
        assert_eq!(untruths(&verified), [""; 0], "seed {seed}");
        for class in &release.kept.classes {
            let lost = class.rows.lost.expect("told");
            assert_eq!(class.rows.published + lost.merged + lost.left_out, class.rows.input, "seed {seed}");
            left_out += lost.left_out;
        }
    }
    assert!(left_out > 10, "{left_out} left out");
}
