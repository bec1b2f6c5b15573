//! What classes say of sensitive values is counted again over all parts, whatever the first count has seen.

use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Role, Undeclared};
use bosket_model::{Dataset, Failure, Fault, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::diversity::DiversityRule as Ask;
use bosket_testkit::vertices::{self, Roles, Vertex};
use bosket_verify::mergeable::ClassState;
use bosket_verify::recount::parts::{Drawn, Tallied};
use bosket_verify::{Claim, Verification, verify};
use proptest::prelude::*;

use crate::vertices::{claim, random_ask, random_records, random_roles};

/// A publication in parts under a claim.
struct World {
    roles: Roles,
    claim: Claim,
    parts: Vec<Vec<Vertex>>,
}

impl World {
    fn bound(&self, data: &Dataset) -> Binding {
        let (policy, _) = Policy::parse("p", &vertices::policy(&self.roles), &[]).expect("a good policy");
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared")
    }

    /// The first count of these parts.
    fn counted(&self, parts: &[Vec<Vertex>]) -> ClassState {
        parts.iter().fold(ClassState::default(), |all, part| {
            let data = vertices::dataset(part);
            let own = ClassState::count(&data, &self.bound(&data), &self.claim, &Quiet);
            all.merge(own.expect("countable"))
        })
    }

    fn drawn(&self) -> Drawn {
        self.parts.iter().rev().fold(Drawn::default(), |all, part| {
            let data = vertices::dataset(part);
            let own = Drawn::of(&self.claim, &data, &self.bound(&data), &Quiet).expect("drawn");
            all.merge(Drawn::from_bytes(&own.to_bytes()).expect("its own bytes"))
        })
    }

    /// The second count of these parts.
    fn tallied(&self, drawn: &Drawn, parts: &[Vec<Vertex>]) -> Tallied {
        (0u32..).zip(parts).fold(Tallied::default(), |all, (number, part)| {
            let data = vertices::dataset(part);
            let own = Tallied::of(drawn, &self.claim, &data, &self.bound(&data), &Quiet).expect("counted");
            let own = Tallied::from_bytes(&own.of_part(number).to_bytes()).expect("its own bytes");
            all.merge(own).expect("each part once")
        })
    }

    /// The verdict where this was counted first.
    fn judged(&self, first: &ClassState) -> Result<Verification> {
        let drawn = self.drawn();
        let tallied = self.tallied(&drawn, &self.parts);
        let binding = self.bound(&vertices::dataset(&self.parts.concat()));
        first.finish(&self.claim, &binding)?.confirmed(Some((&drawn, &tallied)))
    }

    /// Whether the claim holds for all records together.
    fn holds(&self) -> bool {
        let data = vertices::dataset(&self.parts.concat());
        verify(&data, &self.bound(&data), &self.claim, &[], 1 << 20, &Quiet).expect("small").is_none()
    }
}

fn parted(dice: &mut Dice, records: Vec<Vertex>) -> Vec<Vec<Vertex>> {
    let mut parts = vec![Vec::new(); 1 + dice.below(4)];
    for record in records {
        let at = dice.below(parts.len());
        parts[at].push(record);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn random_world(dice: &mut Dice) -> World {
    let roles = random_roles(dice);
    let (count, shapes) = (1 + dice.below(10), 1 + dice.below(2));
    let records = random_records(dice, count, shapes);
    let k = dice.one_in(2).then_some(2);
    let claim = claim(k, &random_ask(dice));
    World { roles, claim, parts: parted(dice, records) }
}

/// A first count that was wrong is right by chance only.
fn caught(found: std::result::Result<Verification, Failure>, holds: bool) -> bool {
    match found {
        Ok(found) => !found.holds() || holds,
        Err(failure) => failure.fault == Fault::Defect && !holds,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(600)))]

    #[test]
    fn classes_in_parts_are_counted_again_over_all_of_them(seed: u64) {
        let mut dice = Dice::new(seed);
        let world = random_world(&mut dice);
        let holds = world.holds();
        let found = world.judged(&world.counted(&world.parts));
        let found = found.unwrap_or_else(|failure| panic!("{failure}"));
        prop_assert_eq!(found.holds(), holds);
        if let Some(recount) = found.recount() {
            let records = world.parts.concat().len() as u64;
            prop_assert!(recount.complete && recount.not_covered.is_empty());
            prop_assert_eq!(recount.records, records);
        }
        // Whoever counts first has other sensitive values, of as many records that look the same.
        let mut seen = world.parts.clone();
        for record in seen.iter_mut().flatten() {
            record.each(&mut |vertex| {
                for (value, role) in vertex.values.iter_mut().zip(world.roles[vertex.class]) {
                    if role == Role::Sensitive && dice.one_in(2) {
                        *value = None;
                    }
                }
            });
        }
        prop_assert!(caught(world.judged(&world.counted(&seen)), holds));
    }
}

/// Twelve people who look alike, in four parts; nine of them have the same.
fn uniform() -> World {
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[vertices::PERSON] = [Role::Quasi, Role::Insensitive, Role::Sensitive, Role::Insensitive];
    let person = |i: usize| {
        let value = if i.is_multiple_of(4) { format!("v{i}") } else { "u".to_owned() };
        Vertex {
            class: vertices::PERSON,
            values: [Some("x".to_owned()), None, Some(value), None],
            children: Vec::new(),
        }
    };
    let people: Vec<Vertex> = (0..12).map(person).collect();
    let ask = Ask { double_l: 4, entropy: false, each: false, listed: Vec::new(), bounds: None };
    World { roles, claim: claim(Some(2), &ask), parts: people.chunks(3).map(<[Vertex]>::to_vec).collect() }
}

#[test]
fn a_merge_that_forgets_values_does_not_confirm_itself() {
    let world = uniform();
    assert!(!world.judged(&world.counted(&world.parts)).expect("a verdict").holds());
    let mut json = world.counted(&world.parts).to_json();
    json["classes"][0][1]["tallies"] = serde_json::json!([]);
    let forgetful = ClassState::from_json(&json).expect("counts that add up");
    let wrong = world.judged(&forgetful).expect_err("a wrong first count");
    assert_eq!(wrong.fault, Fault::Defect);
    assert!(wrong.to_string().contains("say more about a sensitive value"), "{wrong}");
}

#[test]
fn records_that_the_second_count_has_not_seen_are_missed() {
    let mut world = uniform();
    let ask = Ask { double_l: 2, entropy: false, each: false, listed: Vec::new(), bounds: None };
    world.claim = claim(Some(2), &ask);
    let first = world.counted(&world.parts);
    assert!(world.judged(&first).expect("a verdict").holds());
    let drawn = world.drawn();
    let binding = world.bound(&vertices::dataset(&world.parts.concat()));
    let judged = |again| first.finish(&world.claim, &binding).expect("a first verdict").confirmed(again);
    let lost = world.tallied(&drawn, &world.parts[1..]);
    assert_eq!(judged(Some((&drawn, &lost))).expect_err("a part is missing").fault, Fault::Defect);
    assert_eq!(judged(None).expect_err("nobody has counted").fault, Fault::Defect);
    let nobody = (&Drawn::default(), &Tallied::default());
    assert_eq!(judged(Some(nobody)).expect_err("nobody was drawn").fault, Fault::Defect);
}

#[test]
fn of_many_classes_some_are_counted_again() {
    let mut world = uniform();
    let person = |i: usize| {
        let values = [Some(format!("x{}", i / 2)), None, Some(format!("u{}", i % 2)), None];
        Vertex { class: vertices::PERSON, values, children: Vec::new() }
    };
    let people: Vec<Vertex> = (0..10_000).map(person).collect();
    world.parts = people.chunks(1999).map(<[Vertex]>::to_vec).collect();
    let found = world.judged(&world.counted(&world.parts)).expect("a verdict");
    let recount = found.recount().expect("it holds");
    assert_eq!((recount.pieces, recount.records, recount.complete), (4096, 8192, false));
}
