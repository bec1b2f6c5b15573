//! k^(m,n)-anonymity: plain, guarded against reconstruction, and with absence as knowledge.

use std::collections::BTreeSet;

use bosket_model::hierarchy::Hierarchy;
use bosket_model::policy::{Missing, Negative, Relations, RootMode, Rows};
use bosket_testkit::dice::Dice;
use bosket_testkit::fixtures;
use bosket_testkit::knowledge::{
    Absence, Knowledge, Signed, smallest_guarded_violation, smallest_signed_violation, smallest_violation,
};
use bosket_testkit::trees::PathRecord;
use bosket_verify::{Claim, Kmn, Value, Witness};

use super::people::{KINDS, LETTERS, LEVELLED, Shape, attributes, dataset, filled, path};
use super::{Published, few, memory, outcome};
use crate::{Outcome, dice};

/// The witness and its support are those of the definition.
pub fn verify_kmn(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let embedded = dice.one_in(2);
    let claim = Kmn {
        relations: if embedded { Relations::Embedded } else { Relations::Pair },
        // The definition has sets of paths.
        rows: Rows::United,
        ..Kmn::new(few(&mut dice), 1 + dice.below(4) as u32, dice.below(4) as u32)
    };
    match dice.below(4) {
        0 => guarded(&mut dice, claim),
        1 => absent(&mut dice, claim),
        _ => plain(&mut dice, claim),
    }
}

pub(super) fn numbers(claim: &Kmn) -> (usize, usize, usize, bool) {
    let embedded = claim.relations == Relations::Embedded;
    (claim.k as usize, claim.m as usize, claim.n as usize, embedded)
}

fn plain(dice: &mut Dice, claim: Kmn) -> Outcome {
    let kinds = some_kinds(dice);
    let shape = Shape { kinds: &kinds, endings: &["1", "2"] };
    let people = shape.people(dice, 6);
    let chain = dice.one_in(3);
    let root = if chain { RootMode::Chain } else { RootMode::Separate };
    let counted = dice.one_in(2);
    let missing = if counted { Missing::Counted } else { Missing::Nothing };
    let read = if counted { filled(&people) } else { people.clone() };
    let records: Vec<PathRecord> = read.iter().map(|p| p.paths(chain)).collect();
    let (k, m, n, embedded) = numbers(&claim);
    let expected = smallest_violation(&records, k, m, n, embedded);
    let published = Published { data: &dataset(&people), attributes: &attributes(), hierarchies: &[] };
    let found = published.witness(&Claim::Kmn(Kmn { root, missing, ..claim }), memory(dice));
    assert_eq!(found.as_ref().map(unsigned), expected, "{records:?}");
    outcome(&found)
}

fn guarded(dice: &mut Dice, claim: Kmn) -> Outcome {
    let shape = Shape { kinds: &LEVELLED, endings: &["1", "2"] };
    let people = shape.people(dice, 6);
    let records: Vec<PathRecord> = people.iter().map(|p| p.paths(false)).collect();
    let (k, m, n, embedded) = numbers(&claim);
    // Without relations nothing can be put back, and nobody looks for it.
    let expected = match n > 0 && m > 1 {
        true => smallest_guarded_violation(&records, k, m, n, embedded),
        false => smallest_violation(&records, k, m, n, embedded),
    };
    let published = Published { data: &dataset(&people), attributes: &attributes(), hierarchies: &[] };
    let found = published.witness(&Claim::Kmn(Kmn { guard: true, ..claim }), memory(dice));
    assert_eq!(found.as_ref().map(unsigned), expected, "{records:?}");
    outcome(&found)
}

fn absent(dice: &mut Dice, claim: Kmn) -> Outcome {
    let claim = Kmn { m: claim.m.min(3), n: claim.n.min(2), ..claim };
    let shape = Shape { kinds: &[0, 1, 2], endings: &["1", "2", "12", "3"] };
    let people = shape.people(dice, 6);
    let records: Vec<PathRecord> = people.iter().map(|p| p.paths(false)).collect();
    let negative = listed(dice);
    let (k, m, n, embedded) = numbers(&claim);
    let expected = smallest_signed_violation(&records, &absence(&negative), k, m, n, embedded);
    let hierarchies = hierarchies();
    let published =
        Published { data: &dataset(&people), attributes: &attributes(), hierarchies: &hierarchies };
    let found = published.witness(&Claim::Kmn(Kmn { negative: negative.clone(), ..claim }), memory(dice));
    assert_eq!(found.as_ref().map(|w| (signed(w), w.support)), expected, "{records:?} {negative:?}");
    outcome(&found)
}

/// The person and three other kinds at most: the definition takes all subsets of a person's labels.
pub(super) fn some_kinds(dice: &mut Dice) -> Vec<usize> {
    let mut kinds: Vec<usize> = (1..KINDS.len()).collect();
    dice.shuffle(&mut kinds);
    kinds.truncate(3);
    kinds.push(0);
    kinds.sort_unstable();
    kinds
}

pub(super) fn unsigned(witness: &Witness) -> (Knowledge, usize) {
    // What counts as anything has no letter of its own.
    let letter = |at: &str| LETTERS.iter().find(|letter| path(letter) == at).copied().unwrap_or_default();
    let label = |v: &Value| if v.value == "*" { format!("{}*", letter(&v.path)) } else { v.value.clone() };
    let values = witness.values.iter().map(label).collect();
    ((values, witness.relations.clone()), witness.support)
}

fn signed(witness: &Witness) -> Signed {
    let mark = |absent: bool| if absent { "~" } else { "" };
    Signed {
        values: witness.values.iter().map(|v| format!("{}{}", mark(v.absent), v.value)).collect(),
        relations: witness.relations.clone(),
        unrelated: witness.unrelated.clone(),
    }
}

/// Of each letter, `1` and `2` lie below `12`, `3` beside it.
fn hierarchies() -> Vec<Option<Hierarchy>> {
    let text = |l: &str| format!("{l}1;{l}12;*\n{l}2;{l}12;*\n{l}3;*\n");
    LETTERS.iter().map(|letter| Some(fixtures::hierarchy(&text(letter)))).collect()
}

fn leaves(label: &str) -> Vec<String> {
    match label.strip_suffix("12") {
        Some(letter) => vec![format!("{letter}1"), format!("{letter}2")],
        None => vec![label.to_owned()],
    }
}

const LISTED: [&str; 4] = ["A", "B", "C", "R"];

fn listed(dice: &mut Dice) -> Vec<Negative> {
    let leaf = |dice: &mut Dice, letter: &str| format!("{letter}{}", 1 + dice.below(3));
    let mut list = Vec::new();
    for _ in 0..dice.below(5) {
        let letter = *dice.of(&LISTED);
        list.push(Negative::Value(leaf(dice, letter)));
    }
    for _ in 0..dice.below(7) {
        let mut letters = LISTED.to_vec();
        dice.shuffle(&mut letters);
        list.push(Negative::Pair(leaf(dice, letters[0]), leaf(dice, letters[1])));
    }
    list
}

/// What a list of leaves and pairs of leaves comes to for published labels.
fn absence(negative: &[Negative]) -> Absence {
    let labels = || LISTED.iter().flat_map(|l| ["1", "12", "2", "3"].map(|n| format!("{l}{n}")));
    let value = |v: &str| negative.contains(&Negative::Value(v.to_owned()));
    let pair = |a: &str, b: &str| {
        let is = |a: &str, b: &str| negative.contains(&Negative::Pair(a.to_owned(), b.to_owned()));
        is(a, b) || is(b, a)
    };
    let mut pairs = BTreeSet::new();
    for a in labels() {
        for b in labels().filter(|b| a[..1] < b[..1]) {
            if leaves(&a).iter().all(|x| leaves(&b).iter().all(|y| pair(x, y))) {
                pairs.insert((a.clone(), b));
            }
        }
    }
    Absence { labels: labels().filter(|l| leaves(l).iter().all(|x| value(x))).collect(), pairs }
}
