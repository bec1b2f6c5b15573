//! Truth of publications with one cut for all, against the definition: every cut, every choice of values that are left
//! out, and every assignment is tried.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Missing, Payload, Policy, Role, RootMode, Rows, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::labels::LabelTree;
use bosket_testkit::truth::{Global, LabelTrees};
use bosket_testkit::vertices::{self, BOOKS, CLASSES, CLUBS, NAMES, PERSON, Roles, TAKES, Vertex};
use bosket_verify::truth::{Comparison, Mapping, Pair, Recoding, Side, compare};
use proptest::prelude::*;

/// Quasi values with and without a hierarchy, and payloads.
fn random_roles(dice: &mut Dice, set: bool) -> (Roles, LabelTrees) {
    let mut roles = [[Role::Insensitive; 4]; 4];
    let mut trees: LabelTrees = vec![vec![None; NAMES.len()]; CLASSES.len()];
    for class in [PERSON, TAKES, BOOKS] {
        for a in 0..2 {
            if if set { (class, a) != (TAKES, 0) } else { dice.one_in(4) } {
                continue;
            }
            roles[class][a] = Role::Quasi;
            trees[class][a] =
                (set || !dice.one_in(4)).then(|| LabelTree::random(dice, ["p", "t", "b"][class]));
        }
        roles[class][2] = if set { Role::Insensitive } else { Role::Sensitive };
    }
    (roles, trees)
}

fn random_input(dice: &mut Dice, count: usize, roles: &Roles, trees: &LabelTrees) -> Vec<Vertex> {
    let mut records: Vec<Vertex> = Vec::new();
    for _ in 0..count {
        let mut record = if records.is_empty() || dice.one_in(2) {
            let mut record = vertices::random_shape(dice, 2);
            record.children.retain(|v| v.class != CLUBS);
            record
        } else {
            dice.of(&records).clone()
        };
        let again = dice.below(NAMES.len());
        for a in 0..NAMES.len() {
            if a == again || records.is_empty() || dice.one_in(3) {
                record.each(&mut |v| {
                    let domain = match &trees[v.class][a] {
                        Some(tree) => tree.values(),
                        None => ["7", "8"].map(str::to_owned).to_vec(),
                    };
                    let unused = a == 1 && roles[v.class][a] != Role::Quasi;
                    v.values[a] = (!unused && !dice.one_in(4)).then(|| dice.of(&domain).clone());
                });
            }
        }
        records.push(record);
    }
    records
}

/// Recodes by a random cut, takes relations apart, and puts everything into any order. Gives the mapping too.
fn publish(dice: &mut Dice, case: &Global<'_>, input: &[Vertex]) -> (Vec<Vertex>, Vec<(usize, usize)>) {
    let mut out = input.to_vec();
    for class in [PERSON, TAKES, BOOKS] {
        for a in 0..2 {
            if case.roles[class][a] != Role::Quasi {
                continue;
            }
            let cut = case.trees[class][a].as_ref().map(|tree| dice.of(&tree.cuts(case.suppress)).clone());
            let unpublished = dice.one_in(6);
            let values = case.trees[class][a].as_ref().map_or(Vec::new(), LabelTree::values);
            let left_out =
                (case.suppress && !values.is_empty() && dice.one_in(2)).then(|| dice.of(&values).clone());
            let mut recode = |v: &mut Vertex| {
                if v.class == class {
                    let stays = |value: &String| !unpublished && left_out.as_ref() != Some(value);
                    v.values[a] = v.values[a].take().filter(stays).and_then(|value| {
                        let Some(tree) = &case.trees[class][a] else {
                            return Some(value);
                        };
                        tree.recode(&value, cut.as_ref()?)
                    });
                }
            };
            out.iter_mut().for_each(|record| record.each(&mut recode));
        }
    }
    for record in &mut out {
        take_apart(dice, record);
        if !case.keep {
            record.each(&mut |v| {
                for a in (0..NAMES.len()).filter(|&a| case.roles[v.class][a] != Role::Quasi) {
                    v.values[a] = None;
                }
            });
        }
        record.shuffle(dice);
    }
    let mut numbered: Vec<(usize, Vertex)> = out.into_iter().enumerate().collect();
    dice.shuffle(&mut numbered);
    let pairs = numbered.iter().enumerate().map(|(p, (i, _))| (*i, p)).collect();
    (numbered.into_iter().map(|(_, record)| record).collect(), pairs)
}

/// Parts the two values of some vertices, and moves some books to the person.
fn take_apart(dice: &mut Dice, record: &mut Vertex) {
    let mut moved = Vec::new();
    record.each(&mut |v| {
        let mut parted = Vec::new();
        for child in &mut v.children {
            if child.values[1].is_some() && dice.one_in(5) {
                let mut part =
                    Vertex { class: child.class, values: Default::default(), children: Vec::new() };
                part.values[1] = child.values[1].take();
                parted.push(part);
            }
        }
        v.children.extend(parted);
        if v.class == TAKES && dice.one_in(5) {
            moved.append(&mut v.children);
        }
    });
    record.children.extend(moved);
}

/// Says something else than before, or the same in other words.
fn mutate(dice: &mut Dice, published: &mut Vec<Vertex>, pairs: &mut Vec<(usize, usize)>, trees: &LabelTrees) {
    let record = dice.below(published.len());
    match dice.below(9) {
        8 => {
            let other = dice.below(published.len());
            published.swap(record, other);
        }
        0 => {
            published.remove(record);
            pairs.retain(|&(_, p)| p != record);
            pairs.iter_mut().for_each(|(_, p)| *p -= usize::from(*p > record));
        }
        1 => published[record] = published[dice.below(published.len())].clone(),
        2 => {
            let mut taken = Vec::new();
            published[record].each(&mut |v| {
                if v.class == TAKES && !v.children.is_empty() {
                    taken.push(v.children.remove(0));
                }
            });
            dice.shuffle(&mut taken);
            published[record].each(&mut |v| {
                if v.class == TAKES {
                    v.children.extend(taken.pop());
                }
            });
            published[record].children.extend(taken);
        }
        mutation => {
            let a = dice.below(NAMES.len());
            let class = published[record].all()[dice.below(published[record].all().len())].class;
            let mut other = dice.clone();
            let mut values: Vec<Option<String>> = Vec::new();
            published[record].each(&mut |v| values.extend((v.class == class).then(|| v.values[a].clone())));
            match mutation {
                3..5 => dice.shuffle(&mut values),
                _ => {
                    let labels = match &trees[class][a] {
                        Some(tree) => tree.labels(),
                        None => ["7", "8", "9"].map(str::to_owned).to_vec(),
                    };
                    let at = dice.below(values.len());
                    values[at] = (!other.one_in(4)).then(|| dice.of(&labels).clone());
                }
            }
            let mut values = values.into_iter();
            published[record].each(&mut |v| {
                if v.class == class {
                    v.values[a] = values.next().flatten();
                }
            });
        }
    }
}

fn is_true(
    case: &Global<'_>,
    recoding: Recoding,
    published: &[Vertex],
    input: &[Vertex],
    pairs: Option<&[(usize, usize)]>,
) -> bool {
    let (policy, _) = Policy::parse("p", &vertices::policy(case.roles), &[]).expect("a good policy");
    let data = [published, input].map(vertices::dataset);
    let bindings = data.each_ref().map(|data| {
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared")
    });
    let hierarchies: Vec<Option<Hierarchy>> =
        case.trees.iter().flatten().map(|tree| tree.as_ref().map(LabelTree::hierarchy)).collect();
    let mapping = pairs.map(|pairs| Mapping {
        name: "mapping".to_owned(),
        pairs: pairs.iter().map(|&(i, p)| Pair { line: 1, input: i as u32, published: p as u32 }).collect(),
    });
    let comparison = Comparison {
        published: Side { data: &data[0], binding: &bindings[0] },
        input: Side { data: &data[1], binding: &bindings[1] },
        hierarchies: &hierarchies,
        recoding,
        suppress: case.suppress,
        mapping: mapping.as_ref(),
        sensitive: &[],
    };
    compare(&comparison, &Quiet).expect("comparable").is_empty()
}

/// Publishes, compares, says something else, and compares again, each time with and without the mapping.
fn try_case(
    dice: &mut Dice,
    case: &Global<'_>,
    recoding: Recoding,
    count: usize,
) -> Result<(), TestCaseError> {
    let input = random_input(dice, count, case.roles, case.trees);
    let (mut published, mut pairs) = publish(dice, case, &input);
    prop_assert!(case.is_true(&published, &input, Some(&pairs)), "the test's own publication is true");
    for _ in 0..3 {
        for given in [None, Some(pairs.as_slice())] {
            let expected = case.is_true(&published, &input, given);
            let found = is_true(case, recoding, &published, &input, given);
            prop_assert_eq!(found, expected, "{:?} of {:?} with {:?}", published, input, given);
        }
        if published.is_empty() {
            break;
        }
        mutate(dice, &mut published, &mut pairs, case.trees);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn of_trees(seed: u64, count in 1..5usize, chain: bool, keep: bool, suppress: bool) {
        let mut dice = Dice::new(seed);
        let (roles, trees) = random_roles(&mut dice, false);
        let case = Global { roles: &roles, trees: &trees, chain, keep, suppress, emptied: suppress };
        let root = if chain { RootMode::Chain } else { RootMode::Separate };
        let payload = if keep { Payload::Keep } else { Payload::Drop };
        try_case(&mut dice, &case, Recoding::GlobalTrees { root, payload, rows: Rows::United, missing: Missing::Nothing }, count)?;
    }

    #[test]
    fn of_sets(seed: u64, count in 1..5usize, suppress: bool) {
        let mut dice = Dice::new(seed);
        let (roles, trees) = random_roles(&mut dice, true);
        let case = Global { roles: &roles, trees: &trees, chain: false, keep: true, suppress, emptied: false };
        try_case(&mut dice, &case, Recoding::GlobalSets, count)?;
    }
}
