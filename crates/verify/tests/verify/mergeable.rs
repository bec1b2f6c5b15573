//! Counts that add up: however a publication is parted and in whatever order parts are merged, the verdict is that of the whole.

use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::vertices::{self, Roles, Vertex};
use bosket_verify::mergeable::ClassState;
use bosket_verify::recount::parts::{Drawn, Tallied};
use bosket_verify::{Claim, Verification, Witness, verify};

use crate::vertices::{claim, random_ask, random_records, random_roles};

fn bound(data: &Dataset, roles: &Roles) -> Binding {
    let (policy, _) = Policy::parse("p", &vertices::policy(roles), &[]).expect("a good policy");
    Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared")
}

/// Parts in any order, some of them empty, each read for itself: its classes and values have numbers of their own.
fn parted<T: Clone>(dice: &mut Dice, all: &[T]) -> Vec<Vec<T>> {
    let mut parts: Vec<Vec<T>> = vec![Vec::new(); 1 + dice.below(5)];
    for one in all {
        let at = dice.below(parts.len());
        parts[at].push(one.clone());
    }
    parts.iter_mut().for_each(|part| dice.shuffle(part));
    parts
}

/// Merges in any order and shape.
fn merged<S>(dice: &mut Dice, mut states: Vec<S>, merge: impl Fn(S, S) -> S) -> S {
    while states.len() > 1 {
        let at = dice.below(states.len());
        let one = states.swap_remove(at);
        let at = dice.below(states.len());
        let other = states.swap_remove(at);
        states.push(merge(one, other));
    }
    states.pop().expect("a part")
}

fn counted(part: &[Vertex], roles: &Roles, claim: &Claim) -> ClassState {
    let data = vertices::dataset(part);
    ClassState::count(&data, &bound(&data, roles), claim, &Quiet).expect("countable")
}

/// The verdict, with the second count of these parts.
fn confirmed(
    state: &ClassState,
    parts: &[Vec<Vertex>],
    roles: &Roles,
    claim: &Claim,
    binding: &Binding,
) -> Verification {
    let data: Vec<Dataset> = parts.iter().map(|part| vertices::dataset(part)).collect();
    let drawn = data.iter().fold(Drawn::default(), |all, part| {
        all.merge(Drawn::of(claim, part, &bound(part, roles), &Quiet).expect("drawn"))
    });
    let tallied = (0u32..).zip(&data).fold(Tallied::default(), |all, (number, part)| {
        let own = Tallied::of(&drawn, claim, part, &bound(part, roles), &Quiet).expect("counted");
        all.merge(own.of_part(number)).expect("each part once")
    });
    let first = state.finish(claim, binding).expect("a first verdict");
    first.confirmed(Some((&drawn, &tallied))).expect("a verdict")
}

fn size(witness: &Witness) -> (usize, usize) {
    (witness.values.len(), witness.relations.len())
}

#[test]
fn parted_records_get_the_verdict_of_all() {
    let mut seen = [0; 2];
    for seed in 0..u64::from(cases(3000)) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let (count, shapes) = (1 + dice.below(8), 1 + dice.below(2));
        let records = random_records(&mut dice, count, shapes);
        let k = dice.one_in(2).then(|| 2 + dice.below(2) as u32);
        let claim = match dice.one_in(4) {
            true => Claim::KAnonymity { k: k.unwrap_or(2) },
            false => claim(k, &random_ask(&mut dice)),
        };
        let data = vertices::dataset(&records);
        let binding = bound(&data, &roles);
        let whole = verify(&data, &binding, &claim, &[], 1 << 20, &Quiet).expect("countable");
        let parts = parted(&mut dice, &records);
        let states = parts.iter().map(|part| {
            let state = counted(part, &roles, &claim);
            ClassState::from_json(&state.to_json()).expect("its own form")
        });
        let state = merged(&mut dice, states.collect(), ClassState::merge);
        let verification = confirmed(&state, &parts, &roles, &claim, &binding);
        assert_eq!(verification.records, records.len());
        let parted = verification.witness().cloned();
        seen[usize::from(whole.is_none())] += 1;
        assert_eq!(whole.is_some(), parted.is_some(), "seed {seed}: {whole:?}, {parted:?} of {records:?}");
        let Some((whole, parted)) = whole.zip(parted) else {
            assert!(verification.recount().is_some());
            continue;
        };
        assert_eq!(size(&whole), size(&parted), "seed {seed}: {whole:?} {parted:?}");
        assert_eq!(whole.sensitive.is_some(), parted.sensitive.is_some(), "seed {seed}");
        // The same whatever the parts are.
        let alone = counted(&records, &roles, &claim);
        let alone = confirmed(&alone, std::slice::from_ref(&records), &roles, &claim, &binding);
        assert_eq!(alone.witness(), Some(&parted), "seed {seed}");
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}

#[test]
fn altered_states_are_refused() {
    let mut dice = Dice::new(3);
    let roles = random_roles(&mut dice);
    let records = random_records(&mut dice, 8, 2);
    let claim = claim(Some(2), &random_ask(&mut dice));
    let json = counted(&records, &roles, &claim).to_json();
    assert!(ClassState::from_json(&json).is_ok());
    for (key, value) in [
        ("records", serde_json::json!(7)),
        (
            "classes",
            serde_json::json!([[999, {"records": 8, "places": [], "vertices": [], "tallies": [], "listed": []}]]),
        ),
        ("forms", serde_json::json!({"texts": ["a", "a"], "forms": []})),
        ("forms", serde_json::json!({"texts": ["a"], "forms": [[0, [], [0]]]})),
        ("digests", serde_json::json!([["zz", 1]])),
        ("digests", serde_json::json!([])),
    ] {
        let mut bad = json.clone();
        bad[key] = value;
        assert!(ClassState::from_json(&bad).is_err(), "{key}");
    }
}
