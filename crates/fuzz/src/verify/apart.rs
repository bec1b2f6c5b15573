//! Anatomy and δ-dependency of dissected publications.

use std::collections::BTreeMap;

use bosket_model::dissected::{Dissected, Lists};
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Quiet;
use bosket_testkit::dice::Dice;
use bosket_testkit::{dissect as literal, fixtures};
use bosket_verify::recount::of_dissected;
use bosket_verify::{Apart, Delta};

use super::same_verdict;
use crate::{Outcome, dice};

/// People with their values.
pub(crate) type People = Vec<Vec<String>>;

/// The verdict is that of the definition: with one value each exactly, with several if no way to deal them is good.
pub fn verify_apart(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let depth = 2 + dice.below(2);
    let (text, words) = literal::words(&mut dice, 3, depth);
    let hierarchy = fixtures::hierarchy(&text);
    let (holds, expected, said) = if dice.one_in(2) {
        one_value_each(&mut dice, &hierarchy, &words)
    } else {
        several_values(&mut dice, &hierarchy, &words)
    };
    assert_eq!(holds, expected, "{said}");
    if holds { Outcome::Held } else { Outcome::Refused }
}

/// A publication of groups of people, whose values stand singly.
pub(crate) fn publish(groups: &[People], many: bool) -> Dissected {
    let mut sensitive = literal::sensitive("d", many, &groups.concat());
    let mut lists = Lists::default();
    let mut at = 0;
    for group in groups {
        let codes: Vec<u32> = (at..at + group.len()).flat_map(|p| sensitive.codes.of(p).to_vec()).collect();
        assert!(lists.push(codes), "few values");
        at += group.len();
    }
    sensitive.codes = lists;
    Dissected { people: groups.iter().map(|g| g.len() as u32).collect(), sensitive: vec![sensitive] }
}

/// Whether groups keep a claim, by both counts.
pub(crate) fn holds(groups: &[People], many: bool, claim: &Apart, hierarchy: &Hierarchy) -> bool {
    let (published, hierarchies) = (publish(groups, many), [Some(hierarchy.clone())]);
    let found = bosket_verify::verify_apart(&published, claim, &hierarchies, &Quiet);
    let holds = found.unwrap_or_else(|failure| panic!("not counted: {failure}")).witness.is_none();
    let again = of_dissected(&published, claim, &hierarchies, &Quiet);
    same_verdict(again, holds, &format!("{groups:?} {many} {claim:?}"));
    holds
}

fn far(group_size: usize, distance: usize, pairwise: bool) -> Apart {
    let delta = Some(Delta { distance: distance as u32, pairwise });
    Apart { group_size: group_size as u32, delta, ..Apart::default() }
}

fn one_value_each(dice: &mut Dice, hierarchy: &Hierarchy, words: &[String]) -> (bool, bool, String) {
    let size = 2 + dice.below(2);
    let person = |dice: &mut Dice| if dice.one_in(8) { vec![] } else { vec![dice.of(words).clone()] };
    let group = |dice: &mut Dice| -> People { (0..1 + dice.below(4)).map(|_| person(dice)).collect() };
    let groups: Vec<People> = (0..dice.below(3)).map(|_| group(dice)).collect();
    let (distance, pairwise) = (dice.below(3), dice.one_in(2));
    let far_enough = |g: &People| {
        let (set_wise, pairs) = literal::degrees(hierarchy, g);
        (if pairwise { pairs } else { set_wise }).is_none_or(|d| d >= distance)
    };
    let diverse = |g: &People| {
        let mut counts = BTreeMap::new();
        g.iter().for_each(|p| *counts.entry(p).or_insert(0) += 1);
        let without = counts.get(&Vec::new()).copied().unwrap_or(0);
        g.len() >= size && without <= 1 && counts.values().all(|c| c * size <= g.len())
    };
    let expected = groups.iter().all(|g| diverse(g) && far_enough(g));
    let claim = far(size, distance, pairwise);
    (holds(&groups, false, &claim, hierarchy), expected, format!("{groups:?} {claim:?}"))
}

fn several_values(dice: &mut Dice, hierarchy: &Hierarchy, words: &[String]) -> (bool, bool, String) {
    let people = 2 + dice.below(3);
    let values: Vec<String> = (0..dice.below(6)).map(|_| dice.of(words).clone()).collect();
    let distance = dice.below(3);
    let rare = values.iter().all(|v| values.iter().filter(|w| *w == v).count() * 2 <= people);
    let good = |way: &People| {
        let without = way.iter().filter(|p| p.is_empty()).count();
        without <= 1 && literal::degrees(hierarchy, way).1.is_none_or(|d| d >= distance)
    };
    let ways = dealt(&values, people);
    let expected = rare && ways.iter().any(good);
    let claim = far(2, distance, true);
    (holds(&ways[..1], true, &claim, hierarchy), expected, format!("{people} {values:?} {claim:?}"))
}

/// All ways to give values to so many people.
pub(super) fn dealt(values: &[String], people: usize) -> Vec<People> {
    let mut ways: Vec<People> = vec![vec![Vec::new(); people]];
    for value in values {
        let mut longer = Vec::new();
        for way in &ways {
            longer.extend((0..people).map(|person| {
                let mut way = way.clone();
                way[person].push(value.clone());
                way
            }));
        }
        ways = longer;
    }
    ways
}
