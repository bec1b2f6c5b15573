//! `source.where` and `source.sample`, from the file to the verdict.

use bosket_app::{anonymize, attack, attack::AttackRequest};
use bosket_model::observe::Quiet;

use crate::util::{Case, families, untruths};

const POLICY: &str = "version = 1\n[source]\nformat = \"csv\"\npath = \"data.csv\"\n\
    [[attribute]]\npath = \"country\"\nrole = \"drop\"\n\
    [[attribute]]\npath = \"born\"\nrole = \"identifying\"\n\
    [[attribute]]\npath = \"age\"\nrole = \"quasi\"\nhierarchy = { build = \"interval\", min = 0, max = 100, widths = [10] }\n\
    [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[publish]\npath = \"pub.csv\"\n";

fn row(i: usize) -> String {
    let country = ["DE", "FR", "DE", ""][i % 4];
    format!("{country},19{:02}-01-{:02},{}\n", 40 + i, 1 + i % 28, 20 + i % 5)
}

fn people() -> Case {
    let rows: String = (0..40).map(row).collect();
    Case::new(&[("data.csv", &format!("country,born,age\n{rows}")), ("p.toml", POLICY)])
}

const GERMANS: &str = "source.where=\"country = 'DE' and born >= 1950-01-01\"";

#[test]
fn only_those_who_meet_the_condition_are_published() {
    let case = people();
    case.publish(&[GERMANS]).unwrap_or_else(|failure| panic!("{failure}"));
    // Every second of 30, from 1950 on.
    assert_eq!(case.text("pub.csv").lines().count() - 1, 15);
    let found = case.look("pub.csv", &[GERMANS], "data.csv");
    assert!(found.holds());
    assert_eq!(untruths(&found), [""; 0]);
    let certificate = case.text("pub.csv.certificate.json");
    assert!(certificate.contains("\"selected\": 15"), "{certificate}");
    assert!(certificate.contains("everybody in the publication meets `country = 'DE'"), "{certificate}");
    // Others are in the publication than the condition leaves.
    case.publish(&["publish.path=\"all.csv\""]).unwrap_or_else(|failure| panic!("{failure}"));
    let found = case.look("all.csv", &[GERMANS], "data.csv");
    assert!(!found.holds());
}

#[test]
fn a_certificate_of_selected_people_is_enough_to_verify() {
    let case = people();
    let sample = "source.sample=0.5";
    case.publish(&[GERMANS, sample]).unwrap_or_else(|failure| panic!("{failure}"));
    let found = case.by_certificate("pub.csv", "pub.csv.certificate.json");
    assert!(found.holds());
}

#[test]
fn the_missing_meet_no_comparison() {
    let case = people();
    for (condition, people) in [
        ("country != 'DE'", 10),
        ("not country = 'DE'", 20),
        ("country is missing", 10),
        ("country is not missing and (age = 20 or age > 23)", 12),
    ] {
        let set = format!("source.where=\"{condition}\"");
        let release = case.release(&[&set, "publish.path=\"x.csv\""]);
        let release = release.unwrap_or_else(|failure| panic!("{condition}: {failure}"));
        assert_eq!(release.selected, Some(people), "{condition}");
        std::fs::remove_file(case.path().join("x.csv")).expect("there");
        std::fs::remove_file(case.path().join("x.csv.certificate.json")).expect("there");
    }
}

#[test]
fn a_condition_that_does_not_fit_the_data_is_refused_without_values() {
    let case = people();
    for (condition, said) in [
        ("country = 7", "compares `country` with a number, but 2 of its 2 different values are none"),
        ("age >= 2000-01-01", "compares `age` with a day YYYY-MM-DD, but 5 of its 5"),
        ("country = 'XX'", "nobody meets `source.where`"),
    ] {
        let failure = case.publish(&[&format!("source.where=\"{condition}\"")]).expect_err(condition);
        assert!(failure.to_string().contains(said), "{failure}");
    }
}

#[test]
fn a_sample_does_not_depend_on_the_order_of_records() {
    let case = people();
    let set = "source.sample={ share = 0.25 }";
    case.publish(&[set]).unwrap_or_else(|failure| panic!("{failure}"));
    let first = case.text("pub.csv");
    assert_eq!(first.lines().count() - 1, 10);
    let backwards: String = (0..40).rev().map(row).collect();
    case.write("back.csv", &format!("country,born,age\n{backwards}"));
    case.publish(&[set, "source.path=\"back.csv\"", "publish.path=\"again.csv\""])
        .unwrap_or_else(|failure| panic!("{failure}"));
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&first), sorted(&case.text("again.csv")));
    let found = case.look("pub.csv", &[set], "back.csv");
    assert!(found.holds());
    assert_eq!(untruths(&found), [""; 0]);
    let other = case.release(&[set, "seed=1", "publish.path=\"other.csv\""]).expect("published");
    assert_eq!(other.selected, Some(10));
    assert_ne!(sorted(&first), sorted(&case.text("other.csv")));
    let certificate = case.text("pub.csv.certificate.json");
    assert!(certificate.contains("sampling: nothing is claimed from it. The chance to be drawn was 25 %"));
}

#[test]
fn attackers_look_for_those_who_were_selected() {
    let case = people();
    let request = AttackRequest { policy: case.policy(&[GERMANS]), ..AttackRequest::default() };
    let found = attack(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value;
    assert_eq!(found.to_json(false)["before"]["records"], 15);
}

#[test]
fn every_family_selects_or_says_why_not() {
    for example in families() {
        let result = anonymize(&example.request(&["source.sample=0.8"]), &Quiet);
        match (example.name, result) {
            ("dissected XML", Err(failure)) => {
                assert!(failure.to_string().contains("taken apart while they are read"), "{failure}");
            }
            (name, Ok(release)) => {
                let left = release.value.selected.unwrap_or_else(|| panic!("{name}"));
                assert!(release.value.records <= left, "{name}");
            }
            (name, Err(failure)) => panic!("{name}: {failure}"),
        }
    }
}

#[test]
fn a_condition_may_ask_for_a_column_that_is_dropped_or_joins() {
    let policy = "version = 1\n[source]\nformat = \"csv\"\nwhere = \"p.land = 'DE' and p.pid > 3\"\n\
        [[source.table]]\nname = \"p\"\npath = \"p.csv\"\nkey = \"pid\"\n\
        [[source.table]]\nname = \"o\"\npath = \"o.csv\"\nparent = \"p\"\nforeign_key = \"pid\"\n\
        [[attribute]]\npath = \"p.pid\"\nrole = \"identifying\"\n\
        [[attribute]]\npath = \"p.land\"\nrole = \"drop\"\n\
        [[attribute]]\npath = \"o.day\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 2 }\n\
        [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[publish]\npath = \"pub\"\n";
    let people: String = (0..12).map(|i| format!("{i},{}\n", ["DE", "FR"][i % 2])).collect();
    let orders: String = (0..12).map(|i| format!("{i},d{}\n", i % 4)).collect();
    let case = Case::new(&[
        ("p.csv", &format!("pid,land\n{people}")),
        ("o.csv", &format!("pid,day\n{orders}")),
        ("p.toml", policy),
    ]);
    assert_eq!(case.release(&[]).unwrap_or_else(|failure| panic!("{failure}")).selected, Some(4));
    let found = case.look("pub", &[], ".");
    assert!(found.holds(), "{:?}", untruths(&found));
    assert!(!case.text("pub/p.csv").contains("land"));
}
