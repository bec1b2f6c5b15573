//! Empty places of records in parts.

use bosket_measure::attack::{Options, risk};
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_verify::partition::{Counted, count};
use bosket_verify::{Claim, recount, verify};

const POLICY: &str = r#"
version = 1
[[attribute]]
path = "town"
role = "quasi"
[[attribute]]
path = "visits[].year"
role = "quasi"
[privacy]
model = "kmn"
k = 2
m = 2
n = 1
"#;

/// People with a town, and the year of each visit, where it is known.
fn people(people: &[(&str, &[Option<&str>])]) -> Dataset {
    let mut builder = Builder::new();
    let town = builder.attribute(ClassId::ROOT, &["town".to_owned()]);
    let visits = builder.class(ClassId::ROOT, &["visits".to_owned()]);
    let year = builder.attribute(visits, &["year".to_owned()]);
    for (home, years) in people {
        builder.begin_record();
        builder.set(town, Kind::Text, home);
        for known in *years {
            builder.open(visits);
            if let Some(known) = known {
                builder.set(year, Kind::Text, known);
            }
            builder.close();
        }
        builder.end_record().expect("one value per attribute");
    }
    builder.finish()
}

/// Only one of all people lives in Bonn and was somewhere in an unknown year. Where she is counted nobody's year is known, so that a
/// part alone does not see that hers is missing.
#[test]
fn a_place_that_is_empty_in_a_whole_part_gives_somebody_away() {
    let first = people(&[("Bonn", &[]), ("Bonn", &[]), ("Bonn", &[None]), ("Bonn", &[])]);
    let second = people(&[
        ("Bonn", &[Some("2020")]),
        ("Bonn", &[Some("2020")]),
        ("Essen", &[None]),
        ("Essen", &[None]),
    ]);
    let (policy, _) = Policy::parse("p", POLICY, &[]).expect("a good policy");
    let claim = Claim::new(&policy).expect("a claim");
    let own = |number: u32, part: &Dataset| {
        count(&policy, &claim, (number, part), Some(part), 1 << 20, &Quiet).expect("counted")
    };
    for prune in [false, true] {
        let parts = [own(0, &first), own(1, &second)];
        let all = parts.into_iter().try_fold(Counted::default(), |all, part| {
            let merged = all.merge(part, &Quiet)?;
            if prune { merged.pruned(&policy, &claim, 1 << 20, &Quiet) } else { Ok(merged) }
        });
        let all = all.expect("merged");
        let found = all.finish(&policy, &claim, &[], 1 << 20, &Quiet).expect("judged");
        let witness = found.witness().expect("somebody is found");
        assert_eq!((witness.support, &witness.records[..]), (1, &[2][..]), "{:?}", witness.values);
        assert_eq!(all.witnesses(&policy, &claim, 1 << 20, &Quiet).expect("judged"), [(0, 2)]);
    }
}

/// The year of visits is left out of the whole publication, and visits stay for the sake of their notes: whoever lives in Bonn and
/// was somewhere in a year that somebody knows is one of two.
#[test]
fn a_place_that_was_left_out_still_counts() {
    let attributes = POLICY
        .replace("[privacy]", "[[attribute]]\npath = \"visits[].note\"\nrole = \"insensitive\"\n[privacy]");
    let (policy, _) = Policy::parse("p", &attributes.replace("k = 2", "k = 3"), &[]).expect("a good policy");
    let claim = Claim::new(&policy).expect("a claim");
    let people = |named: bool, visits: usize| {
        let mut builder = Builder::new();
        let town = builder.attribute(ClassId::ROOT, &["town".to_owned()]);
        let class = builder.class(ClassId::ROOT, &["visits".to_owned()]);
        let note = builder.attribute(class, &["note".to_owned()]);
        for (at, home) in ["Bonn", "Bonn", "Bonn", "Bonn", "Essen", "Essen", "Essen"].iter().enumerate() {
            builder.begin_record();
            builder.set(town, Kind::Text, home);
            if at < visits || at > 3 {
                builder.open(class);
                builder.set(note, Kind::Text, "same");
                if named {
                    let year = builder.attribute(class, &["year".to_owned()]);
                    builder.set(year, Kind::Text, "*");
                }
                builder.close();
            }
            builder.end_record().expect("one value per attribute");
        }
        builder.finish()
    };
    for named in [true, false] {
        for (visits, holds) in [(0, true), (2, false), (3, true)] {
            let data = people(named, visits);
            let binding =
                Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("declared");
            let found = verify(&data, &binding, &claim, &[], 1 << 20, &Quiet).expect("countable");
            assert_eq!(found.is_none(), holds, "{named} {visits}: {found:?}");
            if let Some(witness) = found {
                assert_eq!(witness.support, 2);
                assert!(
                    witness
                        .values
                        .iter()
                        .any(|v| (v.path.as_str(), v.value.as_str()) == ("visits[].year", "*"))
                );
            }
            assert_eq!(recount::of_records(&data, &binding, &claim, &[], &Quiet).is_ok(), holds);
            let part = count(&policy, &claim, (0, &data), Some(&data), 1 << 20, &Quiet).expect("counted");
            let parts = part.finish(&policy, &claim, &[], 1 << 20, &Quiet).expect("judged");
            assert_eq!(parts.witness().is_none(), holds);
            let risk = risk(&data, &binding, &policy, &Options::of(&policy), &Quiet).expect("countable");
            let point =
                risk.points.iter().find(|p| (p.m, p.n) == (Some(2), Some(1))).expect("the claim's strength");
            assert_eq!(point.below_k.value == 0.0, holds, "{named} {visits}: the attacker sees the same");
        }
    }
}
