//! Several releases of one table, of which some drop columns that others show, against what is shown together.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_testkit::dice::Dice;
use bosket_testkit::joint::{hierarchy, meet, raised};
use bosket_verify::Claim;
use bosket_verify::joint::{Part, Reading, as_shown, verify_jointly};

use crate::{Outcome, dice};

const COLUMNS: [&str; 3] = ["a", "b", "c"];
const LEVELS: [&str; 3] = ["A", "B", "C"];

/// A person's row as a release shows it.
type Row = [Option<String>; 3];

/// The classes are those of the more specific of the labels that any release shows.
pub fn verify_joint(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let k = 1 + dice.below(3);
    let people: Vec<[String; 3]> =
        (0..2 + dice.below(7)).map(|_| LEVELS.map(|level| leaf(&mut dice, level))).collect();
    let mut shown: Vec<Row> = vec![[const { None }; 3]; people.len()];
    let (mut releases, mut dropped) = (Vec::new(), [false; 3]);
    for number in 0..2 + dice.below(2) {
        let drops: [bool; 3] = std::array::from_fn(|column| column > 0 && dice.one_in(3));
        if number == 0 {
            dropped = drops;
        }
        let own: Vec<u32> = (0..people.len() as u32).filter(|&p| p == 0 || !dice.one_in(8)).collect();
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
    let holds = holds(&releases, dropped, k as u32);
    assert_eq!(holds, expected, "{classes:?} of {releases:?}, dropped by the policy: {dropped:?}");
    if holds { Outcome::Held } else { Outcome::Refused }
}

/// What the verifier says, by a policy that drops what the first release drops.
fn holds(releases: &[(Dataset, Vec<u32>)], dropped: [bool; 3], k: u32) -> bool {
    let role = |at: usize| if dropped[at] { "drop" } else { "quasi" };
    let attribute =
        |at: usize| format!("[[attribute]]\npath = \"{}\"\nrole = \"{}\"\n", COLUMNS[at], role(at));
    let policy = format!("version = 1\n{}", (0..3).map(attribute).collect::<String>());
    let (policy, _) = Policy::parse("p", &policy, &[]).expect("a good policy");
    let bind = |attributes: &[_], data: &Dataset| {
        Binding::new(data.schema(), attributes, Undeclared::Refuse, "a release").expect("all declared")
    };
    let plain: Vec<Binding> = releases.iter().map(|(data, _)| bind(&policy.attributes, data)).collect();
    let seen = releases.iter().map(|(data, _)| data).zip(&plain);
    let attributes = as_shown(&policy.attributes, Undeclared::Refuse, seen);
    let bindings: Vec<Binding> = releases.iter().map(|(data, _)| bind(&attributes, data)).collect();
    let hierarchies: Vec<Option<Hierarchy>> =
        LEVELS.iter().map(|level| csv::parse("h.csv", &hierarchy(level)).ok()).collect();
    let claim = Claim::KAnonymity { k };
    let reading = Reading {
        attributes: &attributes,
        undeclared: Undeclared::Refuse,
        claim: &claim,
        hierarchies: &hierarchies,
    };
    let part = |((data, people), binding)| Part { name: "a release", data, binding, people, origins: None };
    let parts: Vec<Part<'_>> =
        releases.iter().map(|(data, people)| (data, people.as_slice())).zip(&bindings).map(part).collect();
    verify_jointly(&parts, &reading, 1 << 20, &Quiet).expect("countable").holds()
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
