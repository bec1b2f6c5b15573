//! The second count of records in parts sees all of them, whatever the first one has kept.

use bosket_model::observe::Quiet;
use bosket_model::partition::Survey;
use bosket_model::policy::{Missing, Policy, Relations, RootMode, Rows};
use bosket_model::{Dataset, Failure, Fault, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::{sets, trees};
use bosket_verify::partition::{Counted, count};
use bosket_verify::recount::parts::{Drawn, Tallied, Totals};
use bosket_verify::{Claim, Km, Kmn, Verification, names, verify};
use proptest::prelude::*;

/// Records under a policy and a claim, in parts.
struct World {
    policy: Policy,
    claim: Claim,
    parts: Vec<Dataset>,
}

impl World {
    fn bound(&self, data: &Dataset) -> bosket_model::binding::Binding {
        names::bound(data.schema(), &self.policy.attributes, self.policy.undeclared, "part")
            .expect("declared")
    }

    /// The first count of these parts.
    fn counted(&self, parts: &[Dataset]) -> Counted {
        let frame = parts.iter().fold(Survey::default(), |all, part| all.merge(&Survey::whole(part)));
        (0u32..).zip(parts).fold(Counted::default(), |all, (number, part)| {
            let part = (number, part);
            let own = count(&self.policy, &self.claim, part, Some(&frame.frame), 1 << 20, &Quiet);
            all.merge(own.expect("counted"), &Quiet).expect("merged")
        })
    }

    /// The second pass over the true parts, drawn and counted in any order.
    fn again(&self) -> (Drawn, Tallied) {
        let drawn = self.parts.iter().rev().fold(Drawn::default(), |all, part| {
            let own = Drawn::of(&self.claim, part, &self.bound(part), &Quiet).expect("drawn");
            all.merge(Drawn::from_bytes(&own.to_bytes()).expect("its own bytes"))
        });
        let frame = self.parts.iter().fold(Survey::default(), |all, part| all.merge(&Survey::whole(part)));
        let tallied = (0u32..).zip(&self.parts).fold(Tallied::default(), |all, (number, part)| {
            let part = &frame.align(part, |_| true, &Quiet).expect("nobody interrupts");
            let own = Tallied::of(&drawn, &self.claim, part, &self.bound(part), &Quiet).expect("counted");
            let own = Tallied::from_bytes(&own.of_part(number).to_bytes()).expect("its own bytes");
            all.merge(own).expect("each part once")
        });
        (drawn, tallied)
    }

    /// The verdict where the first count has seen these parts.
    fn judged(&self, seen: &[Dataset]) -> Result<Verification> {
        let (drawn, tallied) = self.again();
        let counted = self.counted(seen);
        counted.confirmed(&self.policy, &self.claim, (&drawn, &tallied), &[], 1 << 20, &Quiet)
    }

    /// Whether the claim holds for all records together.
    fn holds(&self, whole: &Dataset) -> bool {
        verify(whole, &self.bound(whole), &self.claim, &[], 1 << 20, &Quiet).expect("small").is_none()
    }
}

fn policy(attributes: &str) -> Policy {
    Policy::parse("p", attributes, &[]).expect("a good policy").0
}

fn parted<T: Clone>(dice: &mut Dice, records: &[T]) -> Vec<Vec<T>> {
    let mut parts = vec![Vec::new(); 1 + dice.below(4)];
    records.iter().for_each(|record| {
        let at = dice.below(parts.len());
        parts[at].push(record.clone());
    });
    parts.retain(|part| !part.is_empty());
    parts
}

fn random_tree(dice: &mut Dice) -> trees::PathRecord {
    let path = |dice: &mut Dice| {
        let mut path: Vec<String> =
            trees::LEVELS.iter().map(|level| format!("{level}{}", dice.below(3))).collect();
        path.truncate(1 + dice.below(path.len()));
        path
    };
    (0..1 + dice.below(3)).map(|_| path(dice)).collect()
}

fn random_claim(dice: &mut Dice) -> Claim {
    let relations = if dice.one_in(2) { Relations::Embedded } else { Relations::Pair };
    let rows = if dice.one_in(3) { Rows::United } else { Rows::Distinct };
    let root = if dice.one_in(2) { RootMode::Chain } else { RootMode::Separate };
    let missing = if dice.one_in(3) { Missing::Counted } else { Missing::Nothing };
    let (m, n) = (1 + dice.below(3) as u32, dice.below(3) as u32);
    Claim::Kmn(Kmn { relations, rows, root, missing, ..Kmn::new(2, m, n) })
}

/// What a first count says that has seen others in place of the last records: it is right by chance only.
fn caught(found: std::result::Result<Verification, Failure>, holds: bool) -> bool {
    match found {
        Ok(found) => !found.holds() || holds,
        Err(failure) => failure.fault == Fault::Defect && !holds,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn trees_in_parts_are_counted_again_over_all_of_them(seed: u64) {
        let mut dice = Dice::new(seed);
        let mut records: Vec<trees::PathRecord> = Vec::new();
        for _ in 0..1 + dice.below(4) {
            let record = random_tree(&mut dice);
            records.extend([record.clone(), record]);
        }
        if dice.one_in(2) {
            records.push(random_tree(&mut dice));
        }
        let claim = random_claim(&mut dice);
        let parts: Vec<Vec<trees::PathRecord>> = parted(&mut dice, &records);
        let datasets = parts.iter().map(|part| trees::crowded_dataset(part)).collect();
        let world = World { policy: policy(trees::CROWDED_ATTRIBUTES), claim, parts: datasets };
        let holds = world.holds(&trees::crowded_dataset(&records));
        let found = world.judged(&world.parts);
        let found = found.unwrap_or_else(|failure| panic!("{failure}"));
        prop_assert_eq!(found.holds(), holds);
        if let Some(recount) = found.recount() {
            // Of records that can be known in very many ways only some pieces are drawn, which it says.
            prop_assert_eq!(recount.records, records.len() as u64);
        }
        // A kernel that never saw a record, but another in its place.
        let mut wrong = parts.clone();
        for part in &mut wrong {
            let first = part[0].clone();
            part.iter_mut().for_each(|record| *record = first.clone());
        }
        let seen: Vec<Dataset> = wrong.iter().map(|part| trees::crowded_dataset(part)).collect();
        let same = (0u64..).zip(world.parts.iter().zip(&seen)).all(|(_, (a, b))| {
            Totals::of(a, |_| true).records == Totals::of(b, |_| true).records
        });
        prop_assert!(same && caught(world.judged(&seen), holds));
    }

    #[test]
    fn sets_in_parts_are_counted_again_over_all_of_them(seed: u64, m in 1u32..4) {
        let mut dice = Dice::new(seed);
        let mut baskets: Vec<Vec<String>> = Vec::new();
        for _ in 0..1 + dice.below(6) {
            let basket: Vec<String> = (0..6).filter(|_| dice.one_in(2)).map(|i| format!("i{i}")).collect();
            let basket = if basket.is_empty() { vec!["i0".to_owned()] } else { basket };
            baskets.extend([basket.clone(), basket]);
        }
        if dice.one_in(2) {
            baskets.pop();
        }
        let claim = Claim::Km(Km { k: 2, m, ..Km::default() });
        let parts = parted(&mut dice, &baskets);
        let datasets = parts.iter().map(|part| sets::dataset(part)).collect();
        let world = World { policy: policy(sets::ATTRIBUTES), claim, parts: datasets };
        let holds = world.holds(&sets::dataset(&baskets));
        let found = world.judged(&world.parts).unwrap_or_else(|failure| panic!("{failure}"));
        prop_assert_eq!(found.holds(), holds);
        let mut wrong = parts.clone();
        for part in &mut wrong {
            let first = part[0].clone();
            part.iter_mut().for_each(|basket| *basket = first.clone());
        }
        let seen: Vec<Dataset> = wrong.iter().map(|part| sets::dataset(part)).collect();
        prop_assert!(caught(world.judged(&seen), holds));
    }
}

/// One person of thousands has a pair of values that nobody else has, and the kernel has left it out.
#[test]
fn a_kernel_that_leaves_somebody_out_does_not_confirm_itself() {
    let usual = |i: usize| vec![format!("i{}", i % 7), format!("i{}", (i + 1) % 7)];
    let mut baskets: Vec<Vec<String>> = (0..4000).map(usual).collect();
    let complete = baskets.clone();
    baskets[1234] = vec!["i0".to_owned(), "i3".to_owned()];
    let claim = Claim::Km(Km { k: 2, m: 2, ..Km::default() });
    let datasets = |baskets: &[Vec<String>]| baskets.chunks(1000).map(sets::dataset).collect::<Vec<_>>();
    let world = World { policy: policy(sets::ATTRIBUTES), claim, parts: datasets(&baskets) };
    assert!(!world.judged(&world.parts).expect("judged").holds());
    let blind = world.judged(&datasets(&complete)).expect_err("a wrong kernel");
    assert_eq!(blind.fault, Fault::Defect);
    assert!(blind.to_string().contains("some knowledge fits fewer of all records"), "{blind}");
}

#[test]
fn records_that_were_lost_on_the_way_are_missed() {
    let baskets: Vec<Vec<String>> = vec![vec!["x".to_owned(), "y".to_owned()]; 6];
    let claim = Claim::Km(Km { k: 2, m: 2, ..Km::default() });
    let parts: Vec<Dataset> = baskets.chunks(2).map(sets::dataset).collect();
    let world = World { policy: policy(sets::ATTRIBUTES), claim, parts };
    let (drawn, tallied) = world.again();
    let lost = world.counted(&world.parts[..2]);
    let found = lost.confirmed(&world.policy, &world.claim, (&drawn, &tallied), &[], 1 << 20, &Quiet);
    assert_eq!(found.expect_err("a part is missing").fault, Fault::Defect);
    let twice = tallied.clone().merge(tallied).expect_err("each part twice");
    assert_eq!(twice.fault, Fault::Defect);
}

#[test]
fn nothing_that_was_counted_is_no_verdict() {
    let claim = Claim::Km(Km { k: 2, m: 2, ..Km::default() });
    let policy = policy(sets::ATTRIBUTES);
    let found = Counted::default().finish(&policy, &claim, &[], 1 << 20, &Quiet);
    assert_eq!(found.expect_err("no part").fault, Fault::Defect);
}
