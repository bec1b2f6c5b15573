//! Truth of publications that were recoded locally, against the definition: every assignment is tried.

use std::collections::BTreeSet;

use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Build, Hierarchy, ROOT_LABEL, build};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Role, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::labels::LabelTree;
use bosket_testkit::sets;
use bosket_testkit::truth::{LabelTrees, assignable, derives, set_derives};
use bosket_testkit::vertices::{self, CLASSES, NAMES, Roles, Vertex};
use bosket_verify::truth::{Comparison, Mapping, Pair, Recoding, Side, compare};
use proptest::prelude::*;

struct Case<'a> {
    attributes: &'a str,
    hierarchies: &'a [Option<Hierarchy>],
    recoding: Recoding,
    suppress: bool,
}

impl Case<'_> {
    fn is_true(&self, published: &Dataset, input: &Dataset, pairs: Option<&[(usize, usize)]>) -> bool {
        let (policy, _) = Policy::parse("p", self.attributes, &[]).expect("a good policy");
        let bind = |data: &Dataset| {
            Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared")
        };
        let (out, original) = (bind(published), bind(input));
        let mapping = pairs.map(|pairs| Mapping {
            name: "mapping".to_owned(),
            pairs: pairs
                .iter()
                .map(|&(i, p)| Pair { line: 1, input: i as u32, published: p as u32 })
                .collect(),
        });
        let comparison = Comparison {
            published: Side { data: published, binding: &out },
            input: Side { data: input, binding: &original },
            hierarchies: self.hierarchies,
            recoding: self.recoding,
            suppress: self.suppress,
            mapping: mapping.as_ref(),
            sensitive: &[],
        };
        compare(&comparison, &Quiet).expect("comparable").is_empty()
    }

    /// Compares with and without the mapping; `fits` is the definition for one pair.
    fn agrees(
        &self,
        (published, input): (&Dataset, &Dataset),
        pairs: &[(usize, usize)],
        fits: &dyn Fn(usize, usize) -> bool,
    ) -> Result<(bool, bool), TestCaseError> {
        let free = assignable(published.len(), input.len(), &|_| true, fits);
        prop_assert_eq!(self.is_true(published, input, None), free, "without mapping");
        let given = pairs.iter().all(|&(i, p)| fits(p, i));
        prop_assert_eq!(self.is_true(published, input, Some(pairs)), given, "with mapping {:?}", pairs);
        Ok((free, given))
    }
}

/// Some published records are left out, the others come in any order. Gives the mapping too.
fn deal<T>(dice: &mut Dice, records: Vec<T>) -> (Vec<T>, Vec<(usize, usize)>) {
    let mut numbered: Vec<(usize, T)> = records.into_iter().enumerate().collect();
    dice.shuffle(&mut numbered);
    if dice.one_in(3) {
        numbered.pop();
    }
    let pairs = numbered.iter().enumerate().map(|(p, (i, _))| (*i, p)).collect();
    (numbered.into_iter().map(|(_, record)| record).collect(), pairs)
}

/// Sometimes gives two published records each other's input record.
fn misdirect(dice: &mut Dice, pairs: &mut [(usize, usize)]) {
    if let [first, second, ..] = pairs
        && dice.one_in(3)
    {
        std::mem::swap(&mut first.0, &mut second.0);
    }
}

fn random_trees(dice: &mut Dice) -> (Roles, LabelTrees) {
    let mut roles = [[Role::Insensitive; 4]; 4];
    let mut trees: LabelTrees = vec![vec![None; NAMES.len()]; CLASSES.len()];
    for class in 0..CLASSES.len() {
        for a in 0..2 {
            if !dice.one_in(4) {
                roles[class][a] = Role::Quasi;
                trees[class][a] = (!dice.one_in(4)).then(|| LabelTree::random(dice, "v"));
            }
        }
        roles[class][2] = Role::Sensitive;
    }
    (roles, trees)
}

fn random_value(dice: &mut Dice, tree: Option<&LabelTree>) -> Option<String> {
    let domain = tree.map_or(["7", "8"].map(str::to_owned).to_vec(), LabelTree::values);
    (!dice.one_in(4)).then(|| dice.of(&domain).clone())
}

fn random_input(dice: &mut Dice, count: usize, trees: &LabelTrees) -> Vec<Vertex> {
    let mut records: Vec<Vertex> = Vec::new();
    for _ in 0..count {
        let known = !records.is_empty() && !dice.one_in(3);
        let mut record = if known { dice.of(&records).clone() } else { vertices::random_shape(dice, 2) };
        record.each(&mut |v| {
            for a in 0..NAMES.len() {
                if !known || dice.one_in(8) {
                    v.values[a] = random_value(dice, trees[v.class][a].as_ref());
                }
            }
        });
        records.push(record);
    }
    records
}

/// Generalizes values and prunes subtrees at will.
fn generalize(dice: &mut Dice, record: &mut Vertex, trees: &LabelTrees) {
    record.each(&mut |v| {
        for a in 0..NAMES.len() {
            if let Some(tree) = &trees[v.class][a] {
                v.values[a] = match &v.values[a] {
                    Some(value) => Some(dice.of(&tree.chain(value)).clone()),
                    None => dice.one_in(4).then(|| ROOT_LABEL.to_owned()),
                };
            }
        }
        v.children.retain(|_| !dice.one_in(5));
        dice.shuffle(&mut v.children);
    });
}

/// Invents a vertex, or changes or swaps values of a record.
fn mutate(dice: &mut Dice, record: &mut Vertex, trees: &LabelTrees) {
    let vertex = dice.below(record.all().len());
    let (a, kind) = (dice.below(NAMES.len()), dice.below(4));
    let mut number = 0;
    let mut carried: Option<(usize, Option<String>)> = None;
    record.each(&mut |v| {
        let here = number == vertex;
        number += 1;
        match kind {
            0 if here => v.children.extend(v.children.first().cloned()),
            1 | 2 if here => {
                let labels = trees[v.class][a].as_ref().map_or(vec!["9".to_owned()], LabelTree::labels);
                v.values[a] = (!dice.one_in(4)).then(|| dice.of(&labels).clone());
            }
            3 => match &mut carried {
                None => carried = Some((v.class, v.values[a].clone())),
                Some((class, value)) if *class == v.class => std::mem::swap(value, &mut v.values[a]),
                Some(_) => {}
            },
            _ => {}
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn of_trees(seed: u64, count in 1..6usize) {
        let mut dice = Dice::new(seed);
        let (roles, trees) = random_trees(&mut dice);
        let input = random_input(&mut dice, count, &trees);
        let mut published = input.clone();
        published.iter_mut().for_each(|record| generalize(&mut dice, record, &trees));
        let (mut published, mut pairs) = deal(&mut dice, published);
        let hierarchies: Vec<Option<Hierarchy>> =
            trees.iter().flatten().map(|tree| tree.as_ref().map(LabelTree::hierarchy)).collect();
        let attributes = vertices::policy(&roles);
        let recoding = Recoding::LocalTrees;
        let case = Case { attributes: &attributes, hierarchies: &hierarchies, recoding, suppress: false };
        let data = vertices::dataset(&input);
        for round in 0..4 {
            let out = vertices::dataset(&published);
            let fits = |p: usize, i: usize| derives(&published[p], &input[i], &roles, &trees);
            let verdict = case.agrees((&out, &data), &pairs, &fits)?;
            prop_assert!(round > 0 || verdict == (true, true), "{:?} of {:?}", published, input);
            misdirect(&mut dice, &mut pairs);
            if let Some(last) = published.len().checked_sub(1) {
                mutate(&mut dice, &mut published[last], &trees);
            }
        }
    }

    #[test]
    fn of_sets(seed: u64, count in 1..6usize, suppress: bool) {
        let mut dice = Dice::new(seed);
        let tree = LabelTree::random(&mut dice, "i");
        let values = tree.values();
        let input: Vec<Vec<String>> =
            (0..count).map(|_| (0..dice.below(5)).map(|_| dice.of(&values).clone()).collect()).collect();
        let published = (input.iter())
            .map(|transaction| {
                let cut = dice.of(&tree.cuts(suppress)).clone();
                let mut items: Vec<String> = transaction.iter().filter_map(|v| tree.recode(v, &cut)).collect();
                // In a file of transactions the root is left out.
                if dice.one_in(2) {
                    items.retain(|item| item != ROOT_LABEL);
                }
                items
            })
            .collect();
        let (mut published, mut pairs) = deal(&mut dice, published);
        let hierarchies = [Some(tree.hierarchy())];
        let recoding = Recoding::LocalSets;
        let case = Case { attributes: sets::ATTRIBUTES, hierarchies: &hierarchies, recoding, suppress };
        let data = sets::dataset(&input);
        let set = |items: &Vec<String>| items.iter().cloned().collect::<BTreeSet<String>>();
        for round in 0..4 {
            let out = sets::dataset(&published);
            let fits = |p: usize, i: usize| set_derives(&set(&published[p]), &set(&input[i]), &tree, suppress);
            let verdict = case.agrees((&out, &data), &pairs, &fits)?;
            prop_assert!(round > 0 || verdict == (true, true), "{:?} of {:?}", published, input);
            misdirect(&mut dice, &mut pairs);
            if let Some(last) = published.len().checked_sub(1) {
                let at = dice.below(published[last].len() + 1);
                if at < published[last].len() && dice.one_in(2) {
                    published[last].remove(at);
                } else {
                    published[last].insert(at, dice.of(&tree.labels()).clone());
                }
            }
        }
    }
}

/// A published range is true of the numbers in it, and of nothing else.
#[test]
fn of_ranges() {
    let mut roles: Roles = [[Role::Insensitive; 4]; 4];
    roles[0][0] = Role::Quasi;
    let attributes = vertices::policy(&roles);
    let numbers =
        build(&Build::Range { min: 0.0, max: 50.0 }, &["7", "9.5", "20"], None).expect("good bounds");
    let mut hierarchies = vec![None; CLASSES.len() * NAMES.len()];
    hierarchies[0] = Some(numbers);
    let case = Case {
        attributes: &attributes,
        hierarchies: &hierarchies,
        recoding: Recoding::LocalTrees,
        suppress: false,
    };
    let one = |value: Option<&str>| {
        let mut row = Vertex { class: 0, values: Default::default(), children: Vec::new() };
        row.values[0] = value.map(str::to_owned);
        // So that every attribute is there.
        row.values[3] = Some("x".to_owned());
        vertices::dataset(&[row])
    };
    let is_true = |published: Option<&str>, input: Option<&str>| {
        let (published, input) = (one(published), one(input));
        let free = case.is_true(&published, &input, None);
        assert_eq!(case.is_true(&published, &input, Some(&[(0, 0)])), free);
        free
    };
    for (published, input) in
        [("[7, 20]", "9.5"), ("[7, 9.5]", "7"), ("7", "7"), ("*", "20"), ("[0, 50]", "20")]
    {
        assert!(is_true(Some(published), Some(input)), "{published} of {input}");
    }
    for (published, input) in
        [("[7, 9.5]", "20"), ("7", "9.5"), ("[20, 7]", "9.5"), ("[7]", "7"), ("[8, 9]", "7")]
    {
        assert!(!is_true(Some(published), Some(input)), "{published} of {input}");
    }
    assert!(!is_true(Some("[7, 20]"), None), "a missing value is in no range");
    assert!(is_true(Some("*"), None) && is_true(None, None) && !is_true(None, Some("7")));
}
