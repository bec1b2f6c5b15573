//! The verifier against the definition, on random small trees.

use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Relations, Undeclared};
use bosket_testkit::{knowledge, trees};
use bosket_verify::{Claim, Kmn, Witness, verify};
use proptest::prelude::*;

use crate::recount;

fn check(
    records: &[trees::PathRecord],
    k: u32,
    m: u32,
    n: u32,
    relations: Relations,
    memory: usize,
) -> Option<Witness> {
    let data = trees::dataset(records);
    let (policy, _) = Policy::parse("p", trees::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared");
    let claim = Claim::Kmn(Kmn { relations, ..Kmn::new(k, m, n) });
    let found = verify(&data, &binding, &claim, &[], memory, &Quiet).expect("countable");
    recount::agrees((&data, &binding), &claim, &[], found)
}

/// Random records: paths that may skip levels, so that values float.
fn records() -> impl Strategy<Value = Vec<trees::PathRecord>> {
    let path = (0..3usize, 0..3usize, 0..3usize).prop_map(|(a, b, c)| {
        let mut path = Vec::new();
        for (level, n) in [("A", a), ("B", b), ("C", c)] {
            if n > 0 {
                path.push(format!("{level}{n}"));
            }
        }
        path
    });
    prop::collection::vec(prop::collection::vec(path, 1..4), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn agrees_with_the_definition(
        records in records(), k in 2u32..4, m in 1u32..5, n in 0u32..4, embedded: bool, tight: bool,
    ) {
        let reading = if embedded { Relations::Embedded } else { Relations::Pair };
        // With no memory to speak of, every part is parted down to its last item.
        let found = check(&records, k, m, n, reading, if tight { 1 } else { 1 << 30 });
        let expected = knowledge::smallest_violation(&records, k as usize, m as usize, n as usize, embedded);
        let found = found.map(|w| {
            let values = w.values.iter().map(|v| v.value.clone()).collect::<Vec<_>>();
            ((values, w.relations.clone()), w.support)
        });
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_weaker_claim_holds_where_a_stronger_does(records in records(), k in 2u32..4, m in 1u32..4, n in 0u32..3) {
        let holds = |k, m, n, reading| check(&records, k, m, n, reading, 1 << 30).is_none();
        if holds(k + 1, m + 1, n + 1, Relations::Embedded) {
            prop_assert!(holds(k, m + 1, n + 1, Relations::Embedded));
            prop_assert!(holds(k + 1, m, n + 1, Relations::Embedded));
            prop_assert!(holds(k + 1, m + 1, n, Relations::Embedded));
            prop_assert!(holds(k + 1, m + 1, n + 1, Relations::Pair));
        }
    }
}
