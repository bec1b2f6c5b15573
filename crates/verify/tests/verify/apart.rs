//! Claims about dissected publications against the definitions.

use bosket_model::dissected::{Dissected, Lists};
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::dissect as literal;
use bosket_verify::recount::of_dissected;
use bosket_verify::{Apart, Delta, Verdict, verify_apart};

use crate::recount;

pub(super) type People = Vec<Vec<String>>;

/// A publication of groups of people, whose values stand singly.
pub(super) fn publish(groups: &[People], many: bool) -> Dissected {
    let all: People = groups.concat();
    let mut sensitive = literal::sensitive("d", many, &all);
    let mut lists = Lists::default();
    let mut at = 0;
    for group in groups {
        let codes: Vec<u32> = (at..at + group.len()).flat_map(|p| sensitive.codes.of(p).to_vec()).collect();
        assert!(lists.push(codes));
        at += group.len();
    }
    sensitive.codes = lists;
    Dissected { people: groups.iter().map(|g| g.len() as u32).collect(), sensitive: vec![sensitive] }
}

fn check(groups: &[People], many: bool, claim: &Apart, h: &Hierarchy) -> Verdict {
    let (published, hierarchies) = (publish(groups, many), [Some(h.clone())]);
    let found = verify_apart(&published, claim, &hierarchies, &Quiet).expect("a verdict");
    recount::judges(of_dissected(&published, claim, &hierarchies, &Quiet), found.witness.is_none());
    found
}

fn anatomy(group_size: u32) -> Apart {
    Apart { group_size, ..Apart::default() }
}

fn far(group_size: u32, distance: u32, pairwise: bool) -> Apart {
    Apart { delta: Some(Delta { distance, pairwise }), ..anatomy(group_size) }
}

fn group(values: &[&str]) -> People {
    values.iter().map(|v| if v.is_empty() { vec![] } else { vec![(*v).to_owned()] }).collect()
}

pub(super) fn letters() -> Hierarchy {
    csv::parse("h", "aa;a;*\nab;a;*\nba;b;*\na;*\nca;c;*\n").unwrap_or_else(|d| panic!("{d:?}"))
}

#[test]
fn witnesses() {
    let h = letters();
    let holds = check(&[group(&["aa", "ba"]), group(&["ab", ""])], false, &anatomy(2), &h);
    assert_eq!(holds.witness, None);
    let small = check(&[group(&["aa", "ba", "ca"]), group(&["ab"])], false, &anatomy(2), &h);
    let witness = small.witness.expect("one person");
    assert_eq!((witness.group, witness.support), (Some(1), 1));
    let common = check(&[group(&["aa", "aa", "ba"])], false, &anatomy(2), &h).witness.expect("two of three");
    let sensitive = common.sensitive.expect("a value");
    assert_eq!((sensitive.value.as_str(), sensitive.path.as_str()), ("aa", "d"));
    let none = check(&[group(&["aa", "ba", "", ""])], false, &anatomy(2), &h).witness.expect("two without");
    assert_eq!(none.sensitive.expect("a value").value, "∅");
    let close = check(&[group(&["aa", "ab", "ba"])], false, &far(2, 1, true), &h);
    assert_eq!(close.witness, None);
    assert_eq!((close.distances[0].set_wise, close.distances[0].pairwise), (Some(2), Some(1)));
    let close = check(&[group(&["aa", "ab", "ba"])], false, &far(2, 2, true), &h).witness.expect("aa, ab");
    assert_eq!((close.values.len(), close.distance), (3, Some(1)));
    assert_eq!(close.to_json()["group"], 1);
    let related = check(&[group(&["aa", "a"])], false, &far(2, 1, false), &h).witness.expect("aa is an a");
    assert_eq!(related.distance, Some(0));
}

#[test]
fn values_outside_the_hierarchy_are_refused() {
    let published = publish(&[group(&["aa", "x"])], false);
    let refused =
        verify_apart(&published, &far(2, 1, false), &[Some(letters())], &Quiet).expect_err("x is nowhere");
    assert!(refused.to_string().contains("1 distinct values are not in the hierarchy"), "{refused}");
    verify_apart(&published, &far(2, 1, false), &[None], &Quiet).expect_err("no hierarchy");
    assert!(verify_apart(&published, &anatomy(2), &[None], &Quiet).expect("no distances").witness.is_none());
}

/// With one value each the publication shows everything the definition asks for.
#[test]
fn verdicts_are_those_of_the_definition() {
    let mut seen = [0; 2];
    for seed in 0..u64::from(cases(3000)) {
        let mut dice = Dice::new(seed);
        let depth = 2 + dice.below(2);
        let (text, words) = literal::words(&mut dice, 3, depth);
        let h = csv::parse("h", &text).unwrap_or_else(|d| panic!("{d:?}"));
        let groups: Vec<People> = (0..1 + dice.below(2))
            .map(|_| {
                let people = 2 + dice.below(3);
                (0..people)
                    .map(|_| if dice.one_in(8) { vec![] } else { vec![dice.of(&words).clone()] })
                    .collect()
            })
            .collect();
        let size = 2 + dice.below(2);
        let (distance, pairwise) = (dice.below(3), dice.one_in(2));
        let far_enough = |g: &People| {
            let (set_wise, pairs) = literal::degrees(&h, g);
            (if pairwise { pairs } else { set_wise }).is_none_or(|d| d >= distance)
        };
        let diverse = |g: &People| {
            let mut counts = std::collections::BTreeMap::new();
            g.iter().for_each(|p| *counts.entry(p).or_insert(0) += 1);
            let without = counts.get(&Vec::new()).copied().unwrap_or(0);
            g.len() >= size && without <= 1 && counts.values().all(|c| c * size <= g.len())
        };
        let expected = groups.iter().all(|g| diverse(g) && far_enough(g));
        let claim = far(size as u32, distance as u32, pairwise);
        let verdict = check(&groups, false, &claim, &h);
        assert_eq!(verdict.witness.is_none(), expected, "seed {seed}: {groups:?} {claim:?}");
        seen[usize::from(expected)] += 1;
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}

/// Groups that keep the promise for every choice are never accused, whoever has which value.
#[test]
fn several_values_per_person_are_not_accused_wrongly() {
    let mut seen = 0;
    for seed in 0..u64::from(cases(4000)) {
        let mut dice = Dice::new(seed);
        let (text, words) = literal::words(&mut dice, 3, 3);
        let h = csv::parse("h", &text).unwrap_or_else(|d| panic!("{d:?}"));
        let people = 2 + dice.below(2);
        let group: People =
            (0..people).map(|_| (0..1 + dice.below(3)).map(|_| dice.of(&words).clone()).collect()).collect();
        let (set_wise, pairwise) = literal::degrees(&h, &group);
        if !literal::is_anatomy(&group, 2) {
            continue;
        }
        seen += 1;
        let groups = [group];
        for (distance, pairs) in [(set_wise, false), (pairwise, true)] {
            let claim = far(2, distance.unwrap_or(0) as u32, pairs);
            assert_eq!(check(&groups, true, &claim, &h).witness, None, "seed {seed}: {groups:?} {claim:?}");
        }
    }
    assert!(seen > 500, "{seen}");
}

/// Fewer values than people, and nobody was missed: one place per person was accused, several were not.
#[test]
fn people_without_value_count_however_many_values_one_may_have() {
    let h = letters();
    for many in [false, true] {
        for claim in [anatomy(2), far(2, 0, false), far(2, 1, true)] {
            let holds = |values: &[&str]| check(&[group(values)], many, &claim, &h).witness.is_none();
            assert!(holds(&["aa", "ba", "ca", ""]), "{many} {claim:?}");
            assert!(!holds(&["aa", "ba", "", ""]), "{many} {claim:?}");
            assert!(!holds(&["aa", "", "", ""]), "{many} {claim:?}");
            assert!(!holds(&["", "", "", ""]), "{many} {claim:?}");
        }
    }
}

/// One of them may have all the values: no distance was too large but one beyond the depth of all values, which the two
/// counts told apart.
#[test]
fn two_people_with_several_values_were_accused_of_a_distance_deeper_than_the_values() {
    let h = csv::parse("h", "aa;a;*\nb;*\nc;*\na;*\n").unwrap_or_else(|d| panic!("{d:?}"));
    let values = |texts: &[&str]| vec![texts.iter().map(ToString::to_string).collect(), Vec::new()];
    for distance in 0..4 {
        let holds = |group: People| check(&[group], true, &far(2, distance, true), &h).witness.is_none();
        assert!(holds(values(&["a", "b", "c"])), "{distance}");
        // Three people need two values that far apart.
        let three = [values(&["a", "b", "c"]), vec![Vec::new()]].concat();
        assert_eq!(holds(three), distance <= 1, "{distance}");
    }
}

/// A group that keeps every distance, since only one of its people has values, was called too close: what the algorithm had
/// made was then refused as an error of ours. For every two values it was not.
#[test]
fn two_people_of_whom_one_has_all_values_were_accused_set_wise() {
    let h = letters();
    let group = || vec![vec!["aa".to_owned(), "ab".to_owned()], Vec::new()];
    for pairwise in [false, true] {
        for distance in 0..4 {
            let claim = far(2, distance, pairwise);
            assert_eq!(check(&[group()], true, &claim, &h).witness, None, "{claim:?}");
            // Whoever may have one value only has the other one.
            let alone = check(&[self::group(&["aa", "ab"])], false, &claim, &h);
            assert_eq!(alone.witness.is_none(), distance <= 1, "{claim:?}");
        }
    }
}

/// All ways to give values to so many people.
fn dealt(values: &[String], people: usize) -> Vec<People> {
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

/// Where a person may have several values, a group is accused exactly if nobody could have which values so that the
/// promise holds; and never where one value each keeps it.
#[test]
fn several_values_per_person_are_accused_if_no_way_to_deal_them_is_good() {
    let mut seen = [0; 2];
    for seed in 0..u64::from(cases(3000)) {
        let mut dice = Dice::new(seed);
        let (text, words) = literal::words(&mut dice, 3, 3);
        let h = csv::parse("h", &text).unwrap_or_else(|d| panic!("{d:?}"));
        let people = 2 + dice.below(3);
        let values: Vec<String> = (0..dice.below(6)).map(|_| dice.of(&words).clone()).collect();
        let distance = dice.below(3);
        let rare = values.iter().all(|v| values.iter().filter(|w| *w == v).count() * 2 <= people);
        let good = |way: &People| {
            let without = way.iter().filter(|p| p.is_empty()).count();
            without <= 1 && literal::degrees(&h, way).1.is_none_or(|d| d >= distance)
        };
        let ways = dealt(&values, people);
        let expected = rare && ways.iter().any(good);
        let claim = far(2, distance as u32, true);
        let holds = |way: &People, many| check(std::slice::from_ref(way), many, &claim, &h).witness.is_none();
        assert_eq!(holds(&ways[0], true), expected, "seed {seed}: {people} {values:?} {claim:?}");
        for way in ways.iter().filter(|way| way.iter().all(|p| p.len() <= 1)) {
            assert!(!holds(way, false) || holds(way, true), "seed {seed}: {way:?} {claim:?}");
        }
        seen[usize::from(expected)] += 1;
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}
