//! Empty places of records in parts.

use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_verify::Claim;
use bosket_verify::partition::{Counted, count};

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
