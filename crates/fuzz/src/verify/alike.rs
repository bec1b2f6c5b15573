//! k-anonymity and l-diversity of vertex trees.

use std::collections::BTreeSet;

use bosket_model::policy::{Diversity, Role, Siblings};
use bosket_testkit::alike;
use bosket_testkit::dice::Dice;
use bosket_testkit::diversity::{DiversityRule, too_common};
use bosket_testkit::vertices::{self, BOOKS, CLASSES, NAMES, Roles, Vertex};
use bosket_verify::Claim;
use bosket_verify::vertex::Diverse;

use super::{Published, few, memory, outcome};
use crate::{Outcome, dice};

/// The verdict is that of the definition, and the witness a class that it names.
pub fn verify_alike(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let roles = roles(&mut dice);
    let records = records(&mut dice);
    let k = few(&mut dice);
    let lonely = || -> Vec<Vec<usize>> {
        let classes = alike::classes(&records, &roles).into_iter();
        classes.filter(|class| class.len() < k as usize).collect()
    };
    let (claim, wrong) = if dice.one_in(2) {
        (Claim::KAnonymity { k }, lonely())
    } else {
        let rule = rule(&mut dice);
        let common: BTreeSet<Vec<usize>> =
            too_common(&records, &roles, &rule).into_iter().map(|c| c.class).collect();
        let (k, mut wrong) = if dice.one_in(3) { (Some(k), lonely()) } else { (None, Vec::new()) };
        // Classes that are too small are told first.
        if wrong.is_empty() {
            wrong = common.into_iter().collect();
        }
        (diverse(k, &rule), wrong)
    };
    let data = vertices::dataset(&records);
    let attributes = vertices::policy(&roles);
    let published = Published { data: &data, attributes: &attributes, hierarchies: &[] };
    let found = published.witness(&claim, memory(&mut dice));
    assert_eq!(found.is_none(), wrong.is_empty(), "{claim:?} {found:?} {wrong:?} {records:?}");
    if let Some(witness) = &found {
        let class: Vec<usize> = witness.records.iter().map(|&r| r as usize).collect();
        assert!(wrong.contains(&class), "{class:?} is not among {wrong:?}: {records:?}");
    }
    outcome(&found)
}

fn diverse(k: Option<u32>, rule: &DiversityRule) -> Claim {
    let bounds = |declared: usize| rule.bounds.clone().filter(|_| NAMES[declared % NAMES.len()] == "d");
    let ask = Diverse {
        l: rule.double_l as f64 / 2.0,
        diversity: if rule.entropy { Diversity::Entropy } else { Diversity::Frequency },
        siblings: if rule.each { Siblings::Each } else { Siblings::Pooled },
        distinct_everywhere: rule.listed.clone(),
        buckets: (0..CLASSES.len() * NAMES.len()).map(bounds).collect(),
    };
    Claim::LDiversity { k, ask }
}

/// Per class up to two quasi attributes out of `a` and `b`, and up to two sensitive ones out of `c` and `d`.
fn roles(dice: &mut Dice) -> Roles {
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

/// Records of a few shapes: equal siblings, vertices without values or children, books that were taken from their course.
fn records(dice: &mut Dice) -> Vec<Vertex> {
    let shapes: Vec<Vertex> = (0..1 + dice.below(2)).map(|_| shape(dice)).collect();
    (0..dice.below(7))
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

fn shape(dice: &mut Dice) -> Vertex {
    let mut shape = vertices::random_shape(dice, 2);
    let domain: &[&str] = if dice.one_in(2) { &["x"] } else { &["x", "y"] };
    vertices::throw_values(dice, &mut shape, 0, domain);
    vertices::throw_values(dice, &mut shape, 1, domain);
    shape.each(&mut |v| {
        if dice.one_in(4) {
            v.values = Default::default();
        }
        // The definition tries all orders of siblings.
        while dice.one_in(3)
            && v.children.len() < 3
            && let Some(twin) = v.children.first().cloned()
        {
            v.children.push(twin);
        }
        v.children.truncate(3);
    });
    if dice.one_in(4) && shape.children.len() < 4 {
        shape.children.push(Vertex { class: BOOKS, values: Default::default(), children: Vec::new() });
    }
    shape
}

fn rule(dice: &mut Dice) -> DiversityRule {
    let listed = ["u", "0", "[1,2.5)"].map(str::to_owned);
    DiversityRule {
        double_l: *dice.of(&[3, 4, 5, 6]),
        entropy: dice.one_in(2),
        each: dice.one_in(2),
        listed: if dice.one_in(3) { listed.to_vec() } else { Vec::new() },
        bounds: dice.one_in(3).then(|| dice.of(&[vec![1.0], vec![1.0, 2.5], vec![0.0, 1.0, 7.0]]).clone()),
    }
}
