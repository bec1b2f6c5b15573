//! Attackers of random policies, who know all of some places and a few values elsewhere, against the definition taken literally.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::policy::Policy;
use bosket_testkit::dice::Dice;
use bosket_testkit::trees::PathRecord;
use bosket_verify::{Claim, Witness};

use super::kmn::{some_kinds, unsigned};
use super::people::{LETTERS, Shape, attributes, dataset, filled, path};
use super::{Published, few, memory, outcome};
use crate::{Outcome, dice};

/// Somebody who may look for a person. Places are told by the letters of their labels.
#[derive(Clone, Debug)]
struct Attacker {
    /// Where they know all.
    knows: Vec<&'static str>,
    /// Where they may know a few values more; the empty list is everywhere else.
    among: Vec<&'static str>,
    k: usize,
    m: usize,
    /// Whether they may know of two of these that one stands above the other.
    related: bool,
}

/// What somebody knows: all of some places, a few values elsewhere, and perhaps that one stands above another.
type Piece = (BTreeSet<String>, BTreeSet<String>, Option<(String, String)>);

/// The publication holds if no attacker knows what fits too few, and a witness is what its attacker may know.
pub fn verify_attackers(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let kinds = some_kinds(&mut dice);
    let people = Shape { kinds: &kinds, endings: &["1", "2"] }.people(&mut dice, 6);
    let records: Vec<PathRecord> = filled(&people).iter().map(|person| person.paths(false)).collect();
    let mut attackers: Vec<Attacker> = (0..1 + dice.below(2)).map(|_| attacker(&mut dice)).collect();
    // Besides there may be somebody who knows nothing in particular.
    let anybody = Attacker {
        knows: Vec::new(),
        among: Vec::new(),
        k: few(&mut dice) as usize,
        m: dice.below(3),
        related: dice.one_in(2),
    };
    let attributes = policy(&attackers, &anybody);
    let (parsed, _) = Policy::parse("p", &attributes, &[])
        .unwrap_or_else(|errors| panic!("a policy is refused: {errors:?}\n{attributes}"));
    let claim = Claim::new(&parsed).expect("countable");
    if anybody.m > 0 {
        attackers.push(anybody);
    }
    let published = Published { data: &dataset(&people), attributes: &attributes, hierarchies: &[] };
    let found = published.witness(&claim, memory(&mut dice));
    let holds = attackers.iter().all(|attacker| attacker.fewest(&records).is_none_or(|n| n >= attacker.k));
    assert_eq!(found.is_none(), holds, "{found:?} {attackers:?} {records:?}");
    if let Some(witness) = &found {
        assert!(is_true(witness, &attackers, &records), "{witness:?} {attackers:?} {records:?}");
    }
    outcome(&found)
}

/// A witness is what its attacker may know, and fits as many people as it says.
fn is_true(witness: &Witness, attackers: &[Attacker], records: &[PathRecord]) -> bool {
    let at = match &witness.attacker {
        Some(name) => name[1..].parse().expect("a number"),
        None => attackers.len() - 1,
    };
    let attacker = &attackers[at];
    let ((labels, relations), support) = unsigned(witness);
    let said: BTreeSet<&String> = labels.iter().collect();
    let related = relations.first().map(|&(above, below)| (labels[above].clone(), labels[below].clone()));
    let fits = |record: &&PathRecord| {
        let pieces = attacker.pieces(record);
        pieces
            .iter()
            .any(|(class, further, own)| said == class.iter().chain(further).collect() && *own == related)
    };
    let fitting = records.iter().filter(fits).count();
    relations.len() < 2 && fitting == support && support == witness.records.len() && support < attacker.k
}

impl Attacker {
    /// Everything that they may know of a person.
    fn pieces(&self, record: &PathRecord) -> BTreeSet<Piece> {
        let at = |letters: &[&str]| -> BTreeSet<String> {
            let shown = record.iter().flatten();
            shown.filter(|label| letters.contains(&&label[..1])).cloned().collect()
        };
        let class = at(&self.knows);
        let elsewhere: Vec<&str> =
            LETTERS.into_iter().filter(|letter| !self.knows.contains(letter)).collect();
        let further = Vec::from_iter(at(if self.among.is_empty() { &elsewhere } else { &self.among }));
        let is_above = |above: &String, below: &String| {
            let place = |path: &Vec<String>, label| path.iter().position(|own| own == label);
            let is = |path: &Vec<String>| matches!((place(path, above), place(path, below)), (Some(a), Some(b)) if a < b);
            record.iter().any(is)
        };
        let mut all = BTreeSet::new();
        for mask in 0u32..1 << further.len() {
            if mask.count_ones() as usize > self.m || (mask == 0 && self.knows.is_empty()) {
                continue;
            }
            let chosen = further.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
            let some: BTreeSet<String> = chosen.map(|(_, label)| label.clone()).collect();
            all.insert((class.clone(), some.clone(), None));
            for above in some.iter().filter(|_| self.related) {
                for below in some.iter().filter(|below| is_above(above, below)) {
                    all.insert((class.clone(), some.clone(), Some((above.clone(), below.clone()))));
                }
            }
        }
        all
    }

    /// The fewest people whom anything that the attacker may know fits.
    fn fewest(&self, records: &[PathRecord]) -> Option<usize> {
        let mut counts: BTreeMap<Piece, usize> = BTreeMap::new();
        let pieces = records.iter().flat_map(|record| self.pieces(record));
        pieces.for_each(|piece| *counts.entry(piece).or_default() += 1);
        counts.into_values().min()
    }

    fn toml(&self, name: &str) -> String {
        let list = |key: &str, letters: &[&str]| {
            let paths: Vec<String> = letters.iter().map(|letter| path(letter)).collect();
            if paths.is_empty() { String::new() } else { format!("{key} = {paths:?}\n") }
        };
        let (knows, among) = (list("knows", &self.knows), list("among", &self.among));
        let Attacker { k, m, related, .. } = self;
        let n = u32::from(*related);
        format!("[[privacy.attacker]]\nname = \"{name}\"\n{knows}{among}k = {k}\nm = {m}\nn = {n}\n")
    }
}

fn attacker(dice: &mut Dice) -> Attacker {
    let some = |dice: &mut Dice, from: &[&'static str]| -> Vec<&'static str> {
        from.iter().copied().filter(|_| dice.one_in(3)).collect()
    };
    let knows = some(dice, &LETTERS);
    let rest: Vec<&str> = LETTERS.into_iter().filter(|letter| !knows.contains(letter)).collect();
    let m = if knows.is_empty() { 1 + dice.below(2) } else { dice.below(3) };
    let among = if m > 0 && dice.one_in(2) { some(dice, &rest) } else { Vec::new() };
    Attacker { knows, among, k: few(dice) as usize, m, related: dice.one_in(2) }
}

/// The attributes of people, with these attackers, and with somebody who knows nothing in particular if they know anything.
fn policy(attackers: &[Attacker], anybody: &Attacker) -> String {
    let numbers = match anybody.m {
        0 => String::new(),
        m => format!("m = {m}\nn = {}\n", u32::from(anybody.related)),
    };
    let told: String = attackers.iter().enumerate().map(|(at, own)| own.toml(&format!("a{at}"))).collect();
    format!("{}[privacy]\nmodel = \"kmn\"\nk = {}\n{numbers}{told}", attributes(), anybody.k)
}
