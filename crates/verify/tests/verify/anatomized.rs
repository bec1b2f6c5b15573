//! Claims about anatomized publications against the definitions, on random small trees of vertices.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::dissected::SensitiveValues;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Diversity, Policy, Role, Siblings, Undeclared};
use bosket_model::{Dataset, Dictionary, Fault, Kind};
use bosket_testkit::alike::{classes, isomorphisms};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::vertices::{self, CLASSES, NAMES, Roles, Vertex, path};
use bosket_verify::recount::of_anatomized;
use bosket_verify::vertex::Diverse;
use bosket_verify::{Anatomized, Claim, Close, Measure, TwoSides, Witness, verify, verify_anatomized};

use crate::recount;

/// A publication as it was read.
pub(super) struct Sides {
    pub(super) people: Dataset,
    pub(super) binding: Binding,
    pub(super) groups: Vec<u32>,
    pub(super) names: Vec<String>,
    pub(super) sensitive: Vec<SensitiveValues>,
}

/// What two vertices of a group show of their values: per attribute all that its vertices have.
fn pooled(group: &[Vertex], class: usize, a: usize) -> Vec<Option<&str>> {
    let all = group.iter().flat_map(Vertex::all).filter(|v| v.class == class);
    all.map(|v| v.values[a].as_deref()).collect()
}

fn sensitive(roles: &Roles) -> Vec<(usize, usize)> {
    let all = (0..CLASSES.len()).flat_map(|class| (0..NAMES.len()).map(move |a| (class, a)));
    all.filter(|&(class, a)| roles[class][a] == Role::Sensitive).collect()
}

impl Sides {
    pub(super) fn of(groups: &[Vec<Vertex>], roles: &Roles) -> Self {
        let mut people: Vec<Vertex> = groups.concat();
        for person in &mut people {
            person.each(&mut |v| {
                for a in (0..NAMES.len()).filter(|&a| roles[v.class][a] == Role::Sensitive) {
                    v.values[a] = None;
                }
            });
        }
        let column = |&(class, a): &(usize, usize)| {
            let mut values = Dictionary::default();
            let list = |group: &Vec<Vertex>| -> Vec<u32> {
                let own = pooled(group, class, a).into_iter().flatten();
                own.map(|text| values.intern(Kind::Text, text)).collect()
            };
            let codes = groups.iter().map(list).collect::<Vec<_>>().into_iter().collect();
            let declared = class * NAMES.len() + a;
            SensitiveValues { declared, path: path(class, a), many: class > 0, values, codes }
        };
        let sensitive = sensitive(roles).iter().map(column).collect();
        let people = vertices::dataset(&people);
        let (policy, _) = Policy::parse("p", &vertices::policy(roles), &[]).expect("a good policy");
        let binding = Binding::new(people.schema(), &policy.attributes, Undeclared::Refuse, "data");
        Sides {
            binding: binding.expect("all declared"),
            people,
            groups: (0..).zip(groups).flat_map(|(at, group)| vec![at; group.len()]).collect(),
            names: (1..=groups.len()).map(|n| n.to_string()).collect(),
            sensitive,
        }
    }

    fn check(&self, claim: &Anatomized) -> bosket_model::Result<Option<Witness>> {
        let Sides { people, binding, groups, names, sensitive } = self;
        let sides = TwoSides { people, binding, groups, names, sensitive };
        let found = verify_anatomized(&sides, claim, &[], &Quiet)?;
        recount::judges(of_anatomized(&sides, claim, &[], &Quiet), found.is_none());
        Ok(found)
    }
}

/// Whether a group keeps a claim, by its definition.
fn keeps(groups: &[Vec<Vertex>], at: usize, roles: &Roles, claim: &Anatomized) -> bool {
    let group = &groups[at];
    let alike = group.iter().all(|person| !isomorphisms(&group[0], person, roles).is_empty());
    let enough = claim.k.is_none_or(|k| group.len() >= k as usize);
    let close = claim.close.as_ref().is_none_or(|ask| is_close(groups, at, roles, ask.measure));
    let Some(ask) = &claim.ask else { return alike && enough && close };
    let mut everywhere: BTreeMap<&str, usize> = BTreeMap::new();
    let mut diverse = true;
    for (class, a) in sensitive(roles) {
        let values = pooled(group, class, a);
        let all = values.len() as f64;
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        values.iter().flatten().for_each(|value| *counts.entry(value).or_default() += 1);
        counts.iter().for_each(|(value, count)| *everywhere.entry(value).or_default() += count);
        let most = counts.values().max().map_or(0.0, |&n| n as f64);
        let share = |n: usize| n as f64 / all;
        // Each missing value is one of its own.
        let missing = values.iter().filter(|v| v.is_none()).map(|_| 1);
        let entropy: f64 = counts.values().copied().chain(missing).map(|n| -share(n) * share(n).ln()).sum();
        diverse &= match ask.diversity {
            Diversity::Frequency => most * ask.l <= all,
            Diversity::Entropy => counts.is_empty() || entropy >= ask.l.ln() - 1e-9,
        };
    }
    let once = ask.distinct_everywhere.iter().all(|v| everywhere.get(v.as_str()).is_none_or(|&n| n <= 1));
    alike && enough && diverse && once
}

/// Whether the values of a group are distributed as those of all, any two of them being as far apart as can be.
fn is_close(groups: &[Vec<Vertex>], at: usize, roles: &Roles, measure: Measure) -> bool {
    let all = groups.concat();
    sensitive(roles).into_iter().all(|(class, a)| {
        let (here, whole) = (pooled(&groups[at], class, a), pooled(&all, class, a));
        let count =
            |of: &[Option<&str>], value: &str| of.iter().filter(|v| **v == Some(value)).count() as f64;
        let filled = |of: &[Option<&str>]| of.iter().flatten().count() as f64;
        if filled(&here) == 0.0 {
            return true;
        }
        let mut values: Vec<&str> = whole.iter().flatten().copied().collect();
        values.sort_unstable();
        values.dedup();
        let shares = values.into_iter().map(|value| {
            let p = count(&whole, value) / filled(&whole);
            (p, count(&here, value) / filled(&here).max(1.0))
        });
        match measure {
            Measure::T(t) => shares.map(|(p, q)| (q - p).max(0.0)).sum::<f64>() <= t + 1e-12,
            Measure::Beta(beta) => shares.into_iter().all(|(p, q)| q - p <= beta.min(-p.ln()) * p + 1e-12),
        }
    })
}

fn random_roles(dice: &mut Dice) -> Roles {
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

/// People of one shape, with sensitive and insensitive values of their own; here and there one looks different.
pub(super) fn random_group(dice: &mut Dice, roles: &Roles) -> Vec<Vertex> {
    let mut shape = vertices::random_shape(dice, 2);
    vertices::throw_values(dice, &mut shape, 0, &["x", "y"]);
    vertices::throw_values(dice, &mut shape, 1, &["x", "y"]);
    (0..1 + dice.below(4))
        .map(|_| {
            let mut person = shape.clone();
            for a in 0..NAMES.len() {
                let domain: &[&str] = if dice.one_in(8) { &["A"] } else { &["A", "B", "C", "D", "E", "F"] };
                let mut own = person.clone();
                vertices::throw_values(dice, &mut own, a, domain);
                let thrown: Vec<Option<String>> = own.all().iter().map(|v| v.values[a].clone()).collect();
                let mut at = 0;
                person.each(&mut |v| {
                    if roles[v.class][a] != Role::Quasi {
                        v.values[a].clone_from(&thrown[at]);
                    }
                    at += 1;
                });
            }
            if dice.one_in(12) {
                person.values[0] = Some("z".to_owned());
            }
            if dice.one_in(12) {
                person.children.pop();
            }
            person.shuffle(dice);
            person
        })
        .collect()
}

pub(super) fn random_claim(dice: &mut Dice) -> Anatomized {
    let k = dice.one_in(2).then(|| 1 + dice.below(3) as u32);
    let ask = dice.one_in(2).then(|| Diverse {
        l: *dice.of(&[1.0, 1.5, 2.0, 3.0]),
        diversity: *dice.of(&[Diversity::Frequency, Diversity::Entropy]),
        siblings: Siblings::Pooled,
        distinct_everywhere: if dice.one_in(3) { vec!["A".to_owned()] } else { Vec::new() },
        buckets: vec![None; CLASSES.len() * NAMES.len()],
    });
    let close = (ask.is_none() && dice.one_in(2)).then(|| Close {
        measure: *dice.of(&[Measure::T(0.25), Measure::T(0.5), Measure::Beta(0.5), Measure::Beta(2.0)]),
        grounds: Vec::new(),
        buckets: Vec::new(),
    });
    Anatomized { k, ask, close }
}

#[test]
fn verdicts_are_those_of_the_definition() {
    let mut seen = [0; 2];
    for seed in 0..u64::from(cases(3000)) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let groups: Vec<Vec<Vertex>> =
            (0..1 + dice.below(2)).map(|_| random_group(&mut dice, &roles)).collect();
        let claim = random_claim(&mut dice);
        let found = Sides::of(&groups, &roles).check(&claim).expect("places for all values");
        let broken: Vec<usize> = (0..groups.len()).filter(|&g| !keeps(&groups, g, &roles, &claim)).collect();
        seen[usize::from(broken.is_empty())] += 1;
        match found {
            None => assert!(broken.is_empty(), "seed {seed}: group {broken:?} of {groups:?}"),
            Some(witness) => {
                let group = witness.group.expect("a group") as usize;
                assert!(broken.contains(&group), "seed {seed}: {witness:?} of {groups:?}");
                assert!(witness.support <= groups[group].len());
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}

/// Whoever takes the sides of a diverse publication apart, class by class, need not look for a guarantee again.
#[test]
fn what_is_diverse_stays_so_when_its_classes_are_taken_apart() {
    let mut seen = 0;
    for seed in 0..u64::from(cases(3000)) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let records: Vec<Vertex> =
            (0..1 + dice.below(2)).flat_map(|_| random_group(&mut dice, &roles)).collect();
        let Anatomized { k, ask: Some(ask), .. } = random_claim(&mut dice) else { continue };
        let data = vertices::dataset(&records);
        let (policy, _) = Policy::parse("p", &vertices::policy(&roles), &[]).expect("a good policy");
        let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data");
        let claim = Claim::LDiversity { k, ask: ask.clone() };
        let whole = verify(&data, &binding.expect("declared"), &claim, &[], 1 << 20, &Quiet).expect("small");
        if whole.is_some() {
            continue;
        }
        seen += 1;
        let groups: Vec<Vec<Vertex>> = (classes(&records, &roles).iter())
            .map(|class| class.iter().map(|&r| records[r].clone()).collect())
            .collect();
        let apart =
            Sides::of(&groups, &roles).check(&Anatomized { k, ask: Some(ask), close: None }).expect("places");
        assert_eq!(apart, None, "seed {seed}: {groups:?}");
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn a_value_that_has_no_place_is_no_publication_of_clusters() {
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[0] = [Role::Quasi, Role::Quasi, Role::Sensitive, Role::Insensitive];
    let person = |values: [&str; 3]| Vertex {
        class: 0,
        values: [Some(values[0].into()), Some(values[1].into()), Some(values[2].into()), None],
        children: Vec::new(),
    };
    let groups = [
        vec![person(["p", "q", "A"]), person(["p", "q", "B"])],
        vec![person(["p", "r", "A"]), person(["p", "r", "C"])],
    ];
    let mut sides = Sides::of(&groups, &roles);
    let claim = Anatomized { k: Some(2), ask: None, close: None };
    assert_eq!(sides.check(&claim).expect("places"), None);
    let codes = &sides.sensitive[0].codes;
    let moved = [codes.of(0)[1..].to_vec(), [codes.of(1), &codes.of(0)[..1]].concat()];
    sides.sensitive[0].codes = moved.into_iter().collect();
    let failure = sides.check(&claim).expect_err("three values of two people");
    assert_eq!(failure.fault, Fault::Data);
    assert!(failure.to_string().contains("group 2 has 3 values, and its records have 2 places"), "{failure}");
}
