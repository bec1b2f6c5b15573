//! k-anonymity and l-diversity against their definitions, on random small trees of vertices.

use std::collections::BTreeSet;

use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Diversity, Policy, Role, Siblings, Undeclared};
use bosket_testkit::alike;
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::diversity::{DiversityRule as Ask, too_common};
use bosket_testkit::vertices::{self, CLASSES, NAMES, Roles, Vertex, path};
use bosket_verify::vertex::Diverse;
use bosket_verify::{Claim, Witness, verify};
use proptest::prelude::*;

use crate::recount;

fn check(records: &[Vertex], roles: &Roles, claim: &Claim) -> Option<Witness> {
    let data = vertices::dataset(records);
    let (policy, _) = Policy::parse("p", &vertices::policy(roles), &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared");
    let found = verify(&data, &binding, claim, &[], 1 << 20, &Quiet).expect("countable");
    recount::agrees((&data, &binding), claim, &[], found)
}

pub(super) fn claim(k: Option<u32>, ask: &Ask) -> Claim {
    let bounds = |declared: usize| ask.bounds.clone().filter(|_| NAMES[declared % NAMES.len()] == "d");
    let ask = Diverse {
        l: ask.double_l as f64 / 2.0,
        diversity: if ask.entropy { Diversity::Entropy } else { Diversity::Frequency },
        siblings: if ask.each { Siblings::Each } else { Siblings::Pooled },
        distinct_everywhere: ask.listed.clone(),
        buckets: (0..CLASSES.len() * NAMES.len()).map(bounds).collect(),
    };
    Claim::LDiversity { k, ask }
}

/// Per class up to two quasi attributes out of `a` and `b`, and up to two sensitive ones out of `c` and `d`.
pub(super) fn random_roles(dice: &mut Dice) -> Roles {
    let mut roles = [[Role::Insensitive; 4]; 4];
    for class in &mut roles {
        for a in 0..NAMES.len() {
            if !dice.one_in(3) {
                class[a] = if a < 2 { Role::Quasi } else { Role::Sensitive };
            }
        }
    }
    roles
}

/// Records of a few shapes, so that some look alike; siblings often do too.
pub(super) fn random_records(dice: &mut Dice, count: usize, shapes: usize) -> Vec<Vertex> {
    let mut shapes: Vec<Vertex> = (0..shapes).map(|_| vertices::random_shape(dice, 2)).collect();
    for shape in &mut shapes {
        let domain: &[&str] = if dice.one_in(2) { &["x"] } else { &["x", "y"] };
        vertices::throw_values(dice, shape, 0, domain);
        vertices::throw_values(dice, shape, 1, domain);
        shape.each(&mut |v| {
            while dice.one_in(3)
                && v.children.len() < 4
                && let Some(twin) = v.children.first().cloned()
            {
                v.children.push(twin);
            }
        });
    }
    (0..count)
        .map(|_| {
            let mut record = dice.of(&shapes).clone();
            let domain: &[&str] = if dice.one_in(2) { &["u", "0"] } else { &["u", "v", "w", "0"] };
            vertices::throw_values(dice, &mut record, 2, domain);
            vertices::throw_values(dice, &mut record, 3, &["0", "1", "2.5", "7"]);
            record.shuffle(dice);
            record
        })
        .collect()
}

pub(super) fn random_ask(dice: &mut Dice) -> Ask {
    let listed = ["u", "0", "[1,2.5)"].map(str::to_owned);
    Ask {
        double_l: *dice.of(&[3, 4, 5, 6]),
        entropy: dice.one_in(2),
        each: dice.one_in(2),
        listed: if dice.one_in(3) { listed.to_vec() } else { Vec::new() },
        bounds: dice.one_in(3).then(|| dice.of(&[vec![1.0], vec![1.0, 2.5], vec![0.0, 1.0, 7.0]]).clone()),
    }
}

/// The size of what a class has in common: its relations and values.
fn size(record: &Vertex, roles: &Roles, is_below: bool) -> (usize, usize) {
    let own = record.with_role(roles, Role::Quasi).iter().filter(|(_, v)| v.is_some()).count();
    let first = usize::from(own > 0 && !is_below);
    let below = record.children.iter().map(|c| size(c, roles, is_below || own > 0));
    below.fold((own - first, own), |sum, child| (sum.0 + child.0, sum.1 + child.1))
}

fn quasi_values(record: &Vertex, roles: &Roles) -> Vec<(String, String)> {
    let values = record.all().into_iter().flat_map(|v| {
        let own = v.with_role(roles, Role::Quasi).into_iter();
        own.filter_map(|(a, value)| Some((path(v.class, a), value?.to_owned())))
    });
    let mut values: Vec<(String, String)> = values.collect();
    values.sort();
    values
}

/// A witness against alike records names one of the `wrong` classes, a smallest one, with all that it has in common.
fn names_a_smallest(witness: &Witness, wrong: &[Vec<usize>], records: &[Vertex], roles: &Roles) {
    let class: Vec<usize> = witness.records.iter().map(|&r| r as usize).collect();
    assert!(wrong.contains(&class), "{class:?} is not among {wrong:?}");
    assert_eq!(witness.support, class.len());
    let mut values: Vec<(String, String)> =
        witness.values.iter().map(|v| (v.path.clone(), v.value.clone())).collect();
    values.sort();
    for &record in &class {
        assert_eq!(values, quasi_values(&records[record], roles));
    }
    let smallest = wrong.iter().map(|class| size(&records[class[0]], roles, false)).min();
    assert_eq!(Some((witness.relations.len(), witness.values.len())), smallest);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn k_anonymity_agrees_with_the_definition(seed: u64, count in 1..7usize, shapes in 1..4usize, k in 1u32..5) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let records = random_records(&mut dice, count, shapes);
        let wrong: Vec<Vec<usize>> = (alike::classes(&records, &roles).into_iter())
            .filter(|class| class.len() < k as usize)
            .collect();
        let found = check(&records, &roles, &Claim::KAnonymity { k });
        prop_assert_eq!(found.is_none(), wrong.is_empty());
        if let Some(witness) = found {
            names_a_smallest(&witness, &wrong, &records, &roles);
        }
    }

    #[test]
    fn l_diversity_agrees_with_the_definition(seed: u64, count in 1..7usize, shapes in 1..3usize) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let records = random_records(&mut dice, count, shapes);
        let ask = random_ask(&mut dice);
        let expected = too_common(&records, &roles, &ask);
        let found = check(&records, &roles, &claim(None, &ask));
        prop_assert_eq!(found.is_none(), expected.is_empty(), "{:?} but {:?}", found, expected);
        if let Some(witness) = found {
            let wrong: BTreeSet<Vec<usize>> = expected.iter().map(|e| e.class.clone()).collect();
            names_a_smallest(&witness, &wrong.into_iter().collect::<Vec<_>>(), &records, &roles);
            let named = witness.sensitive.expect("a sensitive value");
            let is_named = expected.iter().any(|e| {
                witness.records.iter().map(|&r| r as usize).eq(e.class.iter().copied())
                    && (&e.path, &e.value, e.share) == (&named.path, &named.value, named.share)
            });
            prop_assert!(is_named, "{:?} is not among {:?}", named, expected);
        }
    }

    #[test]
    fn k_copies_are_k_anonymous(seed: u64, count in 1..5usize, k in 1u32..5) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let records = random_records(&mut dice, count, 3);
        let mut copies = Vec::new();
        for _ in 0..k {
            copies.extend(records.iter().cloned());
        }
        copies.iter_mut().for_each(|record| record.shuffle(&mut dice));
        prop_assert_eq!(check(&copies, &roles, &Claim::KAnonymity { k }), None);
    }

    #[test]
    fn order_changes_no_verdict(seed: u64, count in 1..7usize, k in 1u32..4) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let mut records = random_records(&mut dice, count, 2);
        let claims = [Claim::KAnonymity { k }, claim(Some(k), &random_ask(&mut dice))];
        let verdicts = |records: &[Vertex]| claims.each_ref().map(|claim| check(records, &roles, claim).is_none());
        let before = verdicts(&records);
        dice.shuffle(&mut records);
        records.iter_mut().for_each(|record| record.shuffle(&mut dice));
        prop_assert_eq!(verdicts(&records), before);
    }

    #[test]
    fn a_stronger_claim_implies_a_weaker(seed: u64, count in 1..7usize) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let records = random_records(&mut dice, count, 2);
        let ask = random_ask(&mut dice);
        let holds = |ask: Ask| check(&records, &roles, &claim(None, &ask)).is_none();
        if holds(Ask { each: true, ..ask.clone() }) {
            prop_assert!(holds(Ask { each: false, ..ask.clone() }), "pooled is implied by each");
        }
        if holds(ask.clone()) {
            prop_assert!(holds(Ask { double_l: ask.double_l - 1, ..ask.clone() }), "a smaller l");
            prop_assert!(holds(Ask { listed: Vec::new(), ..ask.clone() }), "fewer listed values");
        }
        if holds(Ask { each: true, entropy: true, ..ask.clone() }) {
            prop_assert!(holds(Ask { each: true, entropy: false, ..ask.clone() }), "each has the record bound");
        }
    }

    #[test]
    fn knowing_less_breaks_no_k_anonymity(seed: u64, count in 1..7usize, k in 1u32..4) {
        let mut dice = Dice::new(seed);
        let mut roles = random_roles(&mut dice);
        let records = random_records(&mut dice, count, 3);
        if check(&records, &roles, &Claim::KAnonymity { k }).is_none() {
            roles[dice.below(4)][dice.below(2)] = Role::Insensitive;
            prop_assert_eq!(check(&records, &roles, &Claim::KAnonymity { k }), None);
        }
    }
}

/// A person in a course that three of them take, with their grades.
fn student(grades: [&str; 3]) -> Vertex {
    let course = |grade: &&str| Vertex {
        class: vertices::TAKES,
        values: [Some("x".to_owned()), None, Some((*grade).to_owned()), None],
        children: Vec::new(),
    };
    Vertex {
        class: vertices::PERSON,
        values: Default::default(),
        children: grades.iter().map(course).collect(),
    }
}

/// B is with everybody, but A fills the place.
#[test]
fn the_named_value_was_the_most_widespread_one_with_the_share_of_another() {
    let records = [student(["A", "A", "B"]), student(["A", "A", "B"]), student(["C", "D", "B"])];
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[vertices::TAKES] = [Role::Quasi, Role::Quasi, Role::Sensitive, Role::Insensitive];
    let ask = Ask { double_l: 5, entropy: false, each: false, listed: Vec::new(), bounds: None };
    let sensitive = |each| {
        let witness = check(&records, &roles, &claim(None, &Ask { each, ..ask.clone() })).expect("violated");
        let sensitive = witness.sensitive.expect("a value is too common");
        (sensitive.value, sensitive.share)
    };
    assert_eq!(sensitive(false), ("A".to_owned(), 4.0 / 9.0));
    assert_eq!(sensitive(true), ("B".to_owned(), 1.0));
}
