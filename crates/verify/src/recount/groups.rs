//! Groups of publications with two sides, counted again one by one.

use std::collections::BTreeMap;

use bosket_model::Result;
use bosket_model::dissected::{Dissected, SensitiveValues};
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::Diversity;

use super::alike::Written;
use super::close::{Again, NOT_ALL};
use super::sample::{Budget, Choices};
use super::secrets::told;
use super::{Recount, STEPS, disagreement, is_over, is_uniform};
use crate::anatomized::{Anatomized, TwoSides};
use crate::dissect::Apart;

/// Goes through all groups if they cost no more steps than there are, else through random ones until these are used up.
/// `check` gives the number of a group's people.
fn each_group(
    groups: usize,
    cost: impl Fn(usize) -> usize,
    mut check: impl FnMut(usize) -> Result<usize>,
    observer: &dyn Observer,
) -> Result<Recount> {
    let mut order: Vec<usize> = (0..groups).collect();
    let all = order.iter().map(|&group| cost(group) as u64).fold(0u64, u64::saturating_add);
    let complete = all <= STEPS;
    if !complete {
        let mut choices = Choices::new(groups);
        for at in 0..groups {
            let other = at + choices.below(groups - at);
            order.swap(at, other);
        }
    }
    let mut budget = Budget::new();
    let mut recount = Recount { complete, ..Recount::default() };
    for group in order {
        observer.go_on()?;
        if !budget.take(cost(group)) {
            continue;
        }
        recount.records += check(group)? as u64;
        recount.pieces += 1;
    }
    Ok(recount)
}

/// Counts the groups of a dissected publication again.
pub(super) fn of_dissected(
    published: &Dissected,
    claim: &Apart,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    let values = |group: usize| published.sensitive.iter().map(move |s| s.codes.of(group).len());
    let pairs = |n: usize| if claim.delta.is_some() { 20 * n * n } else { 0 };
    let cost = |group: usize| 10 + values(group).map(|n| 20 * n + pairs(n)).sum::<usize>();
    let known = |s: &SensitiveValues| {
        let hierarchy = hierarchies.get(s.declared).and_then(Option::as_ref)?;
        s.values.iter().all(|(_, text)| hierarchy.node(text).is_some()).then_some(hierarchy)
    };
    let known: Vec<Option<&Hierarchy>> = published.sensitive.iter().map(known).collect();
    let check = |group: usize| {
        let people = published.people[group] as usize;
        if people < claim.group_size as usize {
            return Err(disagreement("a group has fewer people than claimed"));
        }
        for (sensitive, hierarchy) in published.sensitive.iter().zip(&known) {
            let texts: Vec<&str> =
                sensitive.codes.of(group).iter().map(|&code| sensitive.values.text(code)).collect();
            shares(&texts, *hierarchy, (people, sensitive.many), claim)?;
            if let (Some(hierarchy), Some(delta)) = (hierarchy, claim.delta) {
                let nodes: Vec<Vec<NodeId>> = texts
                    .iter()
                    .filter_map(|text| Some(way_down(hierarchy, hierarchy.node(text)?)))
                    .collect();
                let near = match delta.pairwise {
                    true => pairs_are_near(&nodes, people, sensitive.many, delta.distance as usize),
                    false => is_near_all(&nodes, delta.distance as usize),
                };
                // One of two people may have none, and the other all values that one person may have.
                let compared = if sensitive.many { people > 2 } else { people > 1 };
                if nodes.len() > 1 && compared && near {
                    return Err(disagreement("values of a group are closer to each other than claimed"));
                }
            }
        }
        Ok(people)
    };
    each_group(published.people.len(), cost, check, observer)
}

/// Holds the values of a group to their shares.
fn shares(
    texts: &[&str],
    hierarchy: Option<&Hierarchy>,
    (people, many): (usize, bool),
    claim: &Apart,
) -> Result<()> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        let spelled = hierarchy.and_then(|h| Some(h.label(h.node(text)?)));
        *counts.entry(spelled.unwrap_or(text)).or_default() += 1;
    }
    let l = claim.l.unwrap_or(0.0).max(f64::from(claim.group_size));
    if counts.values().any(|&count| is_over(count, people, l)) {
        return Err(disagreement("a sensitive value has a larger share of a group than claimed"));
    }
    // Where there are fewer values than people, the rest have none, and that is one at most, or not claimed.
    if (people.saturating_sub(texts.len()) > 1 && !claim.may_lack) || (!many && texts.len() > people) {
        return Err(disagreement("a group does not have as many values as people"));
    }
    Ok(())
}

/// The nodes from the root down to one.
fn way_down(hierarchy: &Hierarchy, node: NodeId) -> Vec<NodeId> {
    let mut way: Vec<NodeId> = std::iter::successors(Some(node), |&n| hierarchy.parent(n)).collect();
    way.reverse();
    way
}

/// How many nodes ways down have in common.
fn common(a: &[NodeId], b: &[NodeId]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Whether a value is fewer than so many edges below what all have in common.
fn is_near_all(ways: &[Vec<NodeId>], distance: usize) -> bool {
    let Some(first) = ways.first() else {
        return false;
    };
    let shared = ways.iter().map(|way| common(first, way)).min().unwrap_or(0);
    ways.iter().any(|way| way.len() - shared < distance)
}

/// Whether two values are fewer than so many edges below what both have in common. Where a person may have several, values
/// that near may all be one person's, as long as there are enough for the others.
fn pairs_are_near(ways: &[Vec<NodeId>], people: usize, many: bool, distance: usize) -> bool {
    let near = |a: &Vec<NodeId>, b: &Vec<NodeId>| a.len().min(b.len()) - common(a, b) < distance;
    if !many {
        return (0..ways.len()).any(|b| (0..b).any(|a| near(&ways[a], &ways[b])));
    }
    let mut left: Vec<usize> = (0..ways.len()).collect();
    let mut parts = 0;
    while let Some(first) = left.pop() {
        parts += 1;
        let mut part = vec![first];
        while let Some(one) = part.pop() {
            let (joined, others) = left.into_iter().partition(|&other| near(&ways[one], &ways[other]));
            part.extend::<Vec<usize>>(joined);
            left = others;
        }
    }
    parts < people - 1
}

/// Counts the groups of clusters with two sides again.
pub(super) fn of_clusters(
    sides: &TwoSides<'_>,
    claim: &Anatomized,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Recount> {
    let mut again = claim.close.as_ref().map(|ask| Again::new(ask, hierarchies));
    if let Some(again) = &mut again {
        for (at, sensitive) in sides.sensitive.iter().enumerate() {
            let codes = (0..sides.names.len()).flat_map(|group| sensitive.codes.of(group));
            for &code in codes {
                again.count((at, sensitive.declared), sensitive.values.text(code), 1);
            }
        }
    }
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); sides.names.len()];
    for (person, &group) in sides.groups.iter().enumerate() {
        observer.go_on()?;
        members[group as usize].push(person);
    }
    let vertices =
        |group: usize| members[group].iter().map(|&p| sides.people.vertices(p).len()).sum::<usize>();
    let values = |group: usize| sides.sensitive.iter().map(|s| s.codes.of(group).len()).sum::<usize>();
    let cost = |group: usize| 10 + 40 * vertices(group) + 20 * values(group);
    let check = |group: usize| {
        let people = &members[group];
        let mut written = Written::new(sides.people, sides.binding);
        let looks: Vec<u32> = people.iter().map(|&person| written.record(person)).collect();
        if looks.windows(2).any(|two| two[0] != two[1]) {
            return Err(disagreement("people of a group do not look alike"));
        }
        if !people.is_empty() && claim.k.is_some_and(|k| people.len() < k as usize) {
            return Err(disagreement("fewer people of a group look alike than claimed"));
        }
        let mut everywhere: BTreeMap<String, usize> = BTreeMap::new();
        for (at, sensitive) in sides.sensitive.iter().enumerate() {
            let home = sides.binding.declared[sensitive.declared].home;
            let own = |&v: &usize| sides.binding.classes[sides.people.class(v).index()] == Some(home);
            let places = people.iter().flat_map(|&p| sides.people.vertices(p)).filter(own).count();
            if let Some(again) = &mut again {
                let mut here: BTreeMap<String, usize> = BTreeMap::new();
                for &code in sensitive.codes.of(group) {
                    *here.entry(again.told(sensitive.declared, sensitive.values.text(code))).or_default() +=
                        1;
                }
                if here.values().sum::<usize>() > places || again.says_too_much(at, &here) {
                    return Err(disagreement("a group says more about a sensitive value than claimed"));
                }
            }
            let Some(ask) = &claim.ask else { continue };
            let bounds = ask.buckets.get(sensitive.declared).and_then(Option::as_deref);
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for &code in sensitive.codes.of(group) {
                *counts.entry(told(bounds, sensitive.values.text(code))).or_default() += 1;
            }
            let filled: usize = counts.values().sum();
            let all: Vec<usize> = counts
                .values()
                .copied()
                .chain(std::iter::repeat_n(1, places.saturating_sub(filled)))
                .collect();
            let too_much = match ask.diversity {
                Diversity::Frequency => counts.values().any(|&count| is_over(count, places, ask.l)),
                Diversity::Entropy => !counts.is_empty() && is_uniform(&all, ask.l),
            };
            if filled > places || too_much {
                return Err(disagreement("a group says more about a sensitive value than claimed"));
            }
            counts.into_iter().for_each(|(value, count)| *everywhere.entry(value).or_default() += count);
        }
        let listed = claim.ask.iter().flat_map(|ask| &ask.distinct_everywhere);
        if listed.into_iter().any(|value| everywhere.get(value).is_some_and(|&count| count > 1)) {
            return Err(disagreement("a value that may stand only once in a group does not"));
        }
        Ok(people.len())
    };
    let mut recount = each_group(sides.names.len(), cost, check, observer)?;
    if again.is_some_and(|again| !again.complete) {
        recount.complete = false;
        recount.not_covered.push(NOT_ALL);
    }
    Ok(recount)
}
