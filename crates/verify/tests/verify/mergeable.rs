//! Counts that add up: however a publication is parted and in whatever order parts are merged, the verdict is that of the whole.

use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::dissected::{Dissected, Lists, SensitiveValues};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Undeclared};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::vertices::{self, Roles, Vertex};
use bosket_verify::mergeable::{ClassState, GroupState};
use bosket_verify::{
    Apart, Claim, Delta, JudgedClusters, JudgedSides, TwoSides, Verification, Witness, verify,
    verify_anatomized, verify_apart,
};

use crate::anatomized::{Sides, random_claim, random_group};
use crate::apart::{People, letters, publish};
use crate::vertices::{claim, random_ask, random_records, random_roles};
use bosket_verify::anatomized::Anatomized;

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
        let verification = state.finish(&claim, &binding).expect("a verdict");
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
        let alone = counted(&records, &roles, &claim).finish(&claim, &binding).expect("a verdict");
        assert_eq!(alone.witness(), Some(&parted), "seed {seed}");
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}

#[test]
fn shards_have_whole_classes() {
    for seed in 0..u64::from(cases(500)) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let records = random_records(&mut dice, 12, 4);
        let claim = claim(Some(2), &random_ask(&mut dice));
        let data = vertices::dataset(&records);
        let binding = bound(&data, &roles);
        let all = counted(&records, &roles, &claim);
        let mut shards: Vec<ClassState> = vec![ClassState::default(); 3];
        for part in parted(&mut dice, &records) {
            let parts = counted(&part, &roles, &claim).shards(3);
            for (shard, part) in shards.iter_mut().zip(parts) {
                *shard = std::mem::take(shard).merge(part);
            }
        }
        assert_eq!(shards.iter().map(ClassState::records).sum::<u64>(), 12);
        let found: Vec<Witness> =
            shards.iter().filter_map(|s| s.witness(&claim, &binding).expect("a verdict")).collect();
        let whole = all.witness(&claim, &binding).expect("a verdict");
        // Too few records come before what they say; a shard does not know of the others.
        let few = found.iter().any(|w| w.sensitive.is_none());
        let found = found.into_iter().filter(|w| w.sensitive.is_none() == few).min_by(Witness::order);
        let told = |witness: &Witness| (size(witness), witness.sensitive.is_some());
        assert_eq!(whole.as_ref().map(told), found.as_ref().map(told), "seed {seed}");
    }
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
    ] {
        let mut bad = json.clone();
        bad[key] = value;
        assert!(ClassState::from_json(&bad).is_err(), "{key}");
    }
}

fn judged(dissected: Dissected) -> JudgedSides {
    JudgedSides { dissected, left: Vec::new(), misplaced: Vec::new() }
}

/// Per part the numbers of some of the items of each list, every one in one part.
fn shared_out(dice: &mut Dice, lists: &Lists, parts: usize) -> Vec<Lists> {
    let mut shared: Vec<Vec<Vec<u32>>> = vec![vec![Vec::new(); lists.len()]; parts];
    for (at, list) in lists.iter().enumerate() {
        list.iter().for_each(|&item| shared[dice.below(parts)][at].push(item));
    }
    shared.into_iter().map(|lists| lists.into_iter().collect()).collect()
}

#[test]
fn parted_groups_get_the_verdict_of_all() {
    let (h, mut seen) = (letters(), [0; 2]);
    for seed in 0..u64::from(cases(2000)) {
        let mut dice = Dice::new(seed);
        let many = dice.one_in(3);
        let value = |dice: &mut Dice| (*dice.of(&["aa", "ab", "ba", "a", "ca"])).to_owned();
        let person = |dice: &mut Dice| -> Vec<String> {
            let most = if many { 3 } else { 2 };
            (0..dice.below(most)).map(|_| value(dice)).collect()
        };
        let groups: Vec<People> = (0..1 + dice.below(3))
            .map(|_| (0..1 + dice.below(4)).map(|_| person(&mut dice)).collect())
            .collect();
        let claim = Apart {
            group_size: 2 + dice.below(2) as u32,
            delta: dice.one_in(2).then(|| Delta { distance: dice.below(3) as u32, pairwise: dice.one_in(2) }),
            ..Apart::default()
        };
        let claim = Apart { may_lack: claim.delta.is_none() && dice.one_in(3), ..claim };
        let whole = publish(&groups, many);
        let hierarchies = [Some(h.clone())];
        let verdict = verify_apart(&whole, &claim, &hierarchies, &Quiet).expect("a verdict");
        let names: Vec<String> = (1..=groups.len()).map(|n| n.to_string()).collect();
        let parts = 1 + dice.below(4);
        let codes = shared_out(&mut dice, &whole.sensitive[0].codes, parts);
        let mut people = vec![vec![0u32; groups.len()]; parts];
        for (at, &all) in whole.people.iter().enumerate() {
            (0..all).for_each(|_| people[dice.below(parts)][at] += 1);
        }
        let states: Vec<GroupState> = (codes.into_iter().zip(people))
            .map(|(codes, people)| {
                let sensitive = vec![SensitiveValues { codes, ..whole.sensitive[0].clone() }];
                GroupState::count(&judged(Dissected { people, sensitive }), &names)
            })
            .chain([GroupState::default()])
            .collect();
        let state = merged(&mut dice, states, |a, b| a.merge(b).expect("one policy"));
        let claim = Claim::Apart(claim);
        let found: Verification = state.finish(Some(&claim), &hierarchies, &Quiet).expect("a verdict");
        seen[usize::from(found.holds())] += 1;
        assert_eq!(found.witness(), verdict.witness.as_ref(), "seed {seed}: {groups:?}");
        assert_eq!(found.distances.iter().map(|d| d.1).collect::<Vec<_>>(), verdict.distances, "seed {seed}");
        let shards: Vec<Verification> = (state.shards(2).iter().filter(|shard| shard.groups() > 0))
            .map(|shard| shard.finish(Some(&claim), &hierarchies, &Quiet).expect("a verdict"))
            .collect();
        assert_eq!(shards.iter().all(Verification::holds), found.holds(), "seed {seed}");
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}

#[test]
fn parted_clusters_with_two_sides_get_the_verdict_of_all() {
    let mut seen = [0; 2];
    for seed in 0..u64::from(cases(2000)) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let groups: Vec<Vec<Vertex>> =
            (0..1 + dice.below(2)).map(|_| random_group(&mut dice, &roles)).collect();
        // How close groups are to all is not counted part by part.
        let claim = Anatomized { close: None, ..random_claim(&mut dice) };
        let Sides { people, binding, groups: of, names, sensitive } = Sides::of(&groups, &roles);
        let sides = TwoSides {
            people: &people,
            binding: &binding,
            groups: &of,
            names: &names,
            sensitive: &sensitive,
        };
        let whole = verify_anatomized(&sides, &claim, &[], &Quiet).expect("places for all values");
        let numbers: Vec<u32> = (0..people.len() as u32).collect();
        let parts = parted(&mut dice, &numbers);
        let codes: Vec<Vec<Lists>> =
            sensitive.iter().map(|s| shared_out(&mut dice, &s.codes, parts.len())).collect();
        let states: Vec<GroupState> = (parts.iter().enumerate())
            .map(|(at, part)| {
                let own = |(s, codes): (&SensitiveValues, &Vec<Lists>)| SensitiveValues {
                    codes: codes[at].clone(),
                    ..s.clone()
                };
                let part = JudgedClusters {
                    people: people.picked(part),
                    binding: binding.clone(),
                    groups: part.iter().map(|&person| of[person as usize]).collect(),
                    names: names.clone(),
                    judged: judged(Dissected {
                        people: vec![0; names.len()],
                        sensitive: sensitive.iter().zip(&codes).map(own).collect(),
                    }),
                };
                GroupState::count_clusters(&part, &Quiet).expect("counted")
            })
            .collect();
        let state = merged(&mut dice, states, |a, b| a.merge(b).expect("one policy"));
        assert_eq!(state.people(), people.len() as u64);
        let found = state.finish_clusters(&Claim::Anatomized(claim.clone()), &binding).expect("a verdict");
        seen[usize::from(whole.is_none())] += 1;
        assert_eq!(
            whole.is_some(),
            found.witness().is_some(),
            "seed {seed}: {whole:?} {:?}",
            found.witness()
        );
        if let Some((whole, found)) = whole.as_ref().zip(found.witness()) {
            assert_eq!(size(whole), size(found), "seed {seed}: {whole:?} {found:?}");
        }
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}
