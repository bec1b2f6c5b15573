//! Several releases of the same people, against what is shown together: of one table, where some drop columns that others show; of
//! trees, where nobody is told which row is which; of sets.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Relations, Rows, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_testkit::dice::Dice;
use bosket_testkit::joint::{
    generalized, hierarchy, joined_paths, joined_sets, meet, published, raised, random_cut, random_paths,
    told_apart,
};
use bosket_testkit::knowledge::smallest_violation;
use bosket_testkit::trees::PathRecord;
use bosket_testkit::{sets, trees};
use bosket_verify::joint::{Joint, Part, Reading, as_shown, verify_jointly};
use bosket_verify::{Claim, Km, Kmn};

use crate::{Outcome, dice};

const COLUMNS: [&str; 3] = ["a", "b", "c"];
const LEVELS: [&str; 3] = ["A", "B", "C"];

/// A person's row as a release shows it.
type Row = [Option<String>; 3];

/// The verdict is that of the definition on what all releases show together.
pub fn verify_joint(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    match dice.below(3) {
        0 => flat(&mut dice),
        1 => trees(&mut dice),
        _ => sets(&mut dice),
    }
}

/// A release: records, and whose they are.
type Release = (Dataset, Vec<u32>);

/// The classes are those of the more specific of the labels that any release shows.
fn flat(dice: &mut Dice) -> Outcome {
    let k = 1 + dice.below(3);
    let people: Vec<[String; 3]> =
        (0..2 + dice.below(7)).map(|_| LEVELS.map(|level| leaf(dice, level))).collect();
    let mut shown: Vec<Row> = vec![[const { None }; 3]; people.len()];
    let (mut releases, mut dropped) = (Vec::new(), [false; 3]);
    for number in 0..2 + dice.below(2) {
        let drops: [bool; 3] = std::array::from_fn(|column| column > 0 && dice.one_in(3));
        if number == 0 {
            dropped = drops;
        }
        let own = attending(dice, people.len());
        let rows: Vec<Row> = (own.iter())
            .map(|&p| {
                std::array::from_fn(|at| {
                    let height = 2 - usize::from(dice.one_in(4));
                    (!drops[at]).then(|| raised(&people[p as usize][at], height))
                })
            })
            .collect();
        for (&p, row) in own.iter().zip(&rows) {
            lay_over(&mut shown[p as usize], row);
        }
        releases.push((table(&rows), own));
    }
    let mut classes: BTreeMap<&Row, usize> = BTreeMap::new();
    for row in (0..people.len()).filter(|p| releases.iter().any(|(_, own)| own.contains(&(*p as u32)))) {
        *classes.entry(&shown[row]).or_default() += 1;
    }
    let expected = classes.values().all(|&people| people >= k);
    // The policy drops what the first release drops.
    let role = |at: usize| if dropped[at] { "drop" } else { "quasi" };
    let attribute =
        |at: usize| format!("[[attribute]]\npath = \"{}\"\nrole = \"{}\"\n", COLUMNS[at], role(at));
    let policy = format!("version = 1\n{}", (0..3).map(attribute).collect::<String>());
    let holds = judged(&releases, &policy, &LEVELS, &Claim::KAnonymity { k: k as u32 }).holds();
    assert_eq!(holds, expected, "{classes:?} of {releases:?}, dropped by the policy: {dropped:?}");
    outcome(holds)
}

/// Rows of two releases may be the same wherever their labels allow it.
fn trees(dice: &mut Dice) -> Outcome {
    let people: Vec<PathRecord> = (0..2 + dice.below(5)).map(|_| random_paths(dice, 3)).collect();
    let mut shown: Vec<Vec<PathRecord>> = vec![Vec::new(); people.len()];
    let (mut releases, mut depths): (Vec<Release>, _) = (Vec::new(), Vec::new());
    let global = dice.one_in(2);
    for _ in 0..2 {
        let cut = global.then(|| random_cut(dice));
        let own = attending(dice, people.len());
        let records: Vec<PathRecord> =
            own.iter().map(|&p| generalized(dice, &people[p as usize], cut.as_ref())).collect();
        own.iter().zip(&records).for_each(|(&p, record)| shown[p as usize].push(record.clone()));
        depths.push(records.iter().flatten().map(Vec::len).max().unwrap_or(0));
        releases.push((published(&records), own));
    }
    let joined = |of: &Vec<PathRecord>| -> PathRecord {
        let all = of[1..].iter().fold(of[0].clone(), |a, b| joined_paths(&a, b, (depths[0], depths[1])));
        told_apart(&all)
    };
    let records: Vec<PathRecord> = shown.iter().filter(|of| !of.is_empty()).map(joined).collect();
    let (k, m, n) = (2 + dice.below(2), 1 + dice.below(3), dice.below(3));
    let embedded = dice.one_in(2);
    let relations = if embedded { Relations::Embedded } else { Relations::Pair };
    let claim = Kmn { relations, rows: Rows::United, ..Kmn::new(k as u32, m as u32, n as u32) };
    let found = judged(&releases, trees::ATTRIBUTES, &trees::LEVELS, &Claim::Kmn(claim));
    // Whoever asks for relations at one place gets both readings.
    let readings = [false, embedded].map(|embedded| smallest_violation(&records, k, m, n, embedded));
    let expected = readings.iter().all(Option::is_none);
    assert_eq!(found.holds(), expected, "{records:?} of {shown:?}, {k} {m} {n}, at one place: {embedded}");
    outcome(expected)
}

/// Items of two releases may be the same wherever their labels allow it.
fn sets(dice: &mut Dice) -> Outcome {
    let people: Vec<Vec<String>> =
        (0..2 + dice.below(6)).map(|_| (0..1 + dice.below(3)).map(|_| leaf(dice, "A")).collect()).collect();
    let mut shown: Vec<Vec<Vec<String>>> = vec![Vec::new(); people.len()];
    let mut releases: Vec<Release> = Vec::new();
    for _ in 0..2 {
        let own = attending(dice, people.len());
        let records: Vec<Vec<String>> = (own.iter())
            .map(|&p| people[p as usize].iter().map(|leaf| raised(leaf, dice.below(3))).collect())
            .collect();
        own.iter().zip(&records).for_each(|(&p, record)| shown[p as usize].push(record.clone()));
        releases.push((sets::dataset(&records), own));
    }
    let joined =
        |of: &Vec<Vec<String>>| of[1..].iter().fold(joined_sets(&of[0], &of[0]), |a, b| joined_sets(&a, b));
    let records: Vec<Vec<String>> = shown.iter().filter(|of| !of.is_empty()).map(joined).collect();
    let (k, m) = (2 + dice.below(2), 1 + dice.below(3));
    let claim = Claim::Km(Km { k: k as u32, m: m as u32, ..Km::default() });
    let found = judged(&releases, sets::ATTRIBUTES, &["A"], &claim);
    let expected = sets::smallest_violation(&records, k, m).map(|(_, fitting)| fitting.len());
    let support = found.verification.witness().map(|witness| witness.support);
    assert_eq!(support, expected, "{records:?} of {shown:?}, {k} {m}");
    outcome(found.holds())
}

/// Which people are in a release: the first, and most of the others.
fn attending(dice: &mut Dice, people: usize) -> Vec<u32> {
    (0..people as u32).filter(|&p| p == 0 || !dice.one_in(8)).collect()
}

fn outcome(holds: bool) -> Outcome {
    if holds { Outcome::Held } else { Outcome::Refused }
}

/// What the verifier says.
fn judged(releases: &[Release], policy: &str, levels: &[&str], claim: &Claim) -> Joint {
    let (policy, _) = Policy::parse("p", policy, &[]).expect("a good policy");
    let bind = |attributes: &[_], data: &Dataset| {
        Binding::new(data.schema(), attributes, Undeclared::Refuse, "a release").expect("all declared")
    };
    let plain: Vec<Binding> = releases.iter().map(|(data, _)| bind(&policy.attributes, data)).collect();
    let seen = releases.iter().map(|(data, _)| data).zip(&plain);
    let attributes = as_shown(&policy.attributes, Undeclared::Refuse, seen);
    let bindings: Vec<Binding> = releases.iter().map(|(data, _)| bind(&attributes, data)).collect();
    let hierarchies: Vec<Option<Hierarchy>> =
        levels.iter().map(|level| csv::parse("h.csv", &hierarchy(level)).ok()).collect();
    let reading =
        Reading { attributes: &attributes, undeclared: Undeclared::Refuse, claim, hierarchies: &hierarchies };
    let part = |((data, people), binding)| Part { name: "a release", data, binding, people, origins: None };
    let parts: Vec<Part<'_>> =
        releases.iter().map(|(data, people)| (data, people.as_slice())).zip(&bindings).map(part).collect();
    verify_jointly(&parts, &reading, 1 << 20, &Quiet).expect("countable")
}

fn leaf(dice: &mut Dice, level: &str) -> String {
    format!("{level}{}{}", 1 + dice.below(2), 1 + dice.below(2))
}

fn lay_over(whole: &mut Row, row: &Row) {
    for (so_far, label) in whole.iter_mut().zip(row) {
        *so_far = match (so_far.take(), label) {
            (Some(a), Some(b)) => Some(meet(&a, b).expect("both above one leaf")),
            (a, b) => a.or_else(|| b.clone()),
        };
    }
}

fn table(rows: &[Row]) -> Dataset {
    let mut builder = Builder::new();
    for row in rows {
        builder.begin_record();
        for (name, label) in COLUMNS.iter().zip(row) {
            let Some(label) = label else { continue };
            let id = builder.attribute(ClassId::ROOT, &[(*name).to_owned()]);
            builder.set(id, Kind::Text, label);
        }
        builder.end_record().expect("each once");
    }
    builder.finish()
}
