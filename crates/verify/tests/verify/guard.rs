//! The guard against reconstruction, on random small trees where values float.

use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Relations, Rows, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::trees::PathRecord;
use bosket_testkit::{knowledge, trees};
use bosket_verify::{Claim, Kmn, verify};
use proptest::prelude::*;

use crate::recount;

type Found = Option<(knowledge::Knowledge, usize)>;

fn check(data: &Dataset, attributes: &str, (k, m, n): (u32, u32, u32), embedded: bool) -> Found {
    let (policy, _) = Policy::parse("p", attributes, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared");
    let relations = if embedded { Relations::Embedded } else { Relations::Pair };
    let claim = Claim::Kmn(Kmn { relations, guard: true, rows: Rows::United, ..Kmn::new(k, m, n) });
    let found = verify(data, &binding, &claim, &[], 1 << 20, &Quiet).expect("countable");
    recount::agrees((data, &binding), &claim, &[], found)
        .map(|w| ((w.values.iter().map(|v| v.value.clone()).collect(), w.relations.clone()), w.support))
}

/// Records of which some are copies of others up to relations, so that what violates is often a relation.
fn random_records(dice: &mut Dice, count: usize, top: bool) -> Vec<PathRecord> {
    let mut records: Vec<PathRecord> = Vec::new();
    for _ in 0..count {
        if !records.is_empty() && !dice.one_in(4) {
            let mut copy = dice.of(&records).clone();
            if dice.one_in(2) {
                part(dice, &mut copy);
            }
            records.push(copy);
            continue;
        }
        let paths = (0..1 + dice.below(3)).map(|_| {
            let mut path: Vec<String> =
                trees::LEVELS.iter().map(|level| format!("{level}{}", 1 + dice.below(2))).collect();
            if dice.one_in(3) {
                path.remove(dice.below(3));
            }
            path
        });
        let mut record: PathRecord = paths.collect();
        for _ in 0..dice.below(4) {
            part(dice, &mut record);
        }
        if top && dice.one_in(2) {
            record.push(vec![format!("R{}", dice.below(2))]);
        }
        records.push(record);
    }
    records
}

/// Takes a value out of a path and lets it float below something further up.
fn part(dice: &mut Dice, record: &mut PathRecord) {
    let path = dice.below(record.len());
    if record[path].len() > 1 {
        let from = 1 + dice.below(record[path].len() - 1);
        let mut floating = record[path][..dice.below(from)].to_vec();
        floating.push(record[path].remove(from));
        record.push(floating);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(600)))]

    #[test]
    fn agrees_with_the_definition(
        seed: u64, count in 1..7usize, k in 2u32..4, m in 1u32..5, n in 1u32..4, embedded: bool,
    ) {
        let records = random_records(&mut Dice::new(seed), count, false);
        let found = check(&trees::dataset(&records), trees::ATTRIBUTES, (k, m, n), embedded);
        let (k, m, n) = (k as usize, m as usize, n as usize);
        let expected = knowledge::smallest_guarded_violation(&records, k, m, n, embedded);
        prop_assert_eq!(&found, &expected, "{:?}", records);
        if found.is_none() {
            prop_assert_eq!(knowledge::smallest_violation(&records, k, m, n, embedded), None);
        }
    }

    /// Levels inside one class float like levels of classes; the record's own values are above nothing.
    #[test]
    fn agrees_where_levels_share_a_class(
        seed: u64, count in 1..7usize, k in 2u32..4, m in 1u32..4, n in 1u32..4, embedded: bool,
    ) {
        let records = random_records(&mut Dice::new(seed), count, true);
        let data = trees::crowded_dataset(&records);
        let found = check(&data, trees::CROWDED_ATTRIBUTES, (k, m, n), embedded);
        let (k, m, n) = (k as usize, m as usize, n as usize);
        prop_assert_eq!(found, knowledge::smallest_guarded_violation(&records, k, m, n, embedded), "{:?}", records);
    }
}
