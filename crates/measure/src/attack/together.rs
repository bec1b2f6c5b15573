//! Which relations hold together at one place each of the known values.
//!
//! A value may be at many places of a record, so there may be more choices of places than anybody can go through. What
//! counts is which relations they come to: the places are walked through once, the lowest first, and per place it is kept
//! which values can be chosen at or below it and how these are related. How many such outcomes there are depends on how
//! many values are known, not on how many places they have.

use super::records::pair_bit;

/// A place: preorder number and where what is below it ends.
pub(super) type Span = (u32, u32);

/// Values that are chosen below a place, a bit each, and the relations between them.
type Outcome = (u16, u64);

/// A place whose part of the record is being walked through.
struct Open {
    end: u32,
    value: usize,
    outcomes: Vec<Outcome>,
}

/// So few choices are gone through one by one: that is faster.
const FEW: usize = 32;

/// Adds the sets of relations that hold together to `out`, without those that are part of another, ascending. `places` are
/// those of each known value, `all` the relations that hold one by one.
pub(super) fn together(places: &[&[Span]], all: u64, out: &mut Vec<u64>) {
    if places.iter().fold(1usize, |choices, own| choices.saturating_mul(own.len())) <= FEW {
        choose_each(places, all, out);
    } else {
        walk(places, all, out);
    }
}

/// Goes through all choices of places.
fn choose_each(places: &[&[Span]], all: u64, out: &mut Vec<u64>) {
    let start = out.len();
    let mut choice = vec![0usize; places.len()];
    loop {
        let mut set = 0;
        for j in 1..places.len() {
            for i in (0..j).filter(|&i| all >> pair_bit(i, j) & 1 == 1) {
                let (a, b) = (places[i][choice[i]], places[j][choice[j]]);
                let above = (a.0 < b.0 && b.0 < a.1) || (b.0 < a.0 && a.0 < b.1);
                set |= u64::from(above) << pair_bit(i, j);
            }
        }
        if set == all {
            out.truncate(start);
            out.push(all);
            return;
        }
        if !out[start..].iter().any(|other| other & set == set) {
            let mut at = start;
            while at < out.len() {
                if out[at] & set == out[at] {
                    out.swap_remove(at);
                } else {
                    at += 1;
                }
            }
            out.push(set);
        }
        let Some(next) = (0..places.len()).find(|&i| choice[i] + 1 < places[i].len()) else { break };
        choice[next] += 1;
        choice[..next].fill(0);
    }
    out[start..].sort_unstable();
}

/// Walks through all places once.
fn walk(places: &[&[Span]], all: u64, out: &mut Vec<u64>) {
    let bits: Vec<u64> = (0..places.len()).map(|value| bits_of(value, places.len()) & all).collect();
    let mut nodes: Vec<(Span, usize)> = Vec::new();
    for (value, own) in places.iter().enumerate().filter(|(value, _)| bits[*value] != 0) {
        nodes.extend(own.iter().map(|&span| (span, value)));
    }
    nodes.sort_unstable();
    let mut open: Vec<Open> = vec![Open { end: u32::MAX, value: usize::MAX, outcomes: vec![(0, 0)] }];
    for node in nodes.into_iter().map(Some).chain([None]) {
        let next = node.map_or(u32::MAX, |(span, _)| span.0);
        while open.len() > 1 && open.last().is_some_and(|last| last.end <= next) {
            close(&mut open, &bits);
        }
        if open[0].outcomes.iter().any(|outcome| outcome.1 == all) {
            out.push(all);
            return;
        }
        open.extend(node.map(|(span, value)| Open { end: span.1, value, outcomes: vec![(0, 0)] }));
    }
    let mut sets: Vec<u64> = open[0].outcomes.iter().map(|outcome| outcome.1).collect();
    sets.sort_unstable_by_key(|set| (std::cmp::Reverse(set.count_ones()), *set));
    let start = out.len();
    for set in sets {
        if !out[start..].iter().any(|larger| larger & set == set) {
            out.push(set);
        }
    }
    out[start..].sort_unstable();
}

/// The pairs that a value is in.
fn bits_of(value: usize, values: usize) -> u64 {
    let others = (0..values).filter(|&other| other != value);
    others.fold(0, |bits, other| bits | 1 << pair_bit(value.min(other), value.max(other)))
}

/// Chooses the last open place for its value or does not, and hands the outcomes on to the place above.
fn close(open: &mut Vec<Open>, bits: &[u64]) {
    let Some(Open { value, mut outcomes, .. }) = open.pop() else { return };
    for at in 0..outcomes.len() {
        let (chosen, relations) = outcomes[at];
        if chosen >> value & 1 == 0 {
            let new = of(chosen).fold(0, |new, other| new | bits[value] & bits[other]);
            outcomes.push((chosen | 1 << value, relations | new));
        }
    }
    // A value that is related to nothing so far nor to anything above might as well be chosen elsewhere.
    let above = open[1..].iter().fold(0, |above, place| above | bits[place.value]);
    outcomes.retain(|&(chosen, relations)| of(chosen).all(|value| bits[value] & (relations | above) != 0));
    let Some(parent) = open.last_mut() else { return };
    for at in 0..parent.outcomes.len() {
        let (chosen, relations) = parent.outcomes[at];
        let apart = outcomes.iter().filter(|outcome| outcome.0 != 0 && outcome.0 & chosen == 0);
        parent.outcomes.extend(apart.map(|outcome| (chosen | outcome.0, relations | outcome.1)));
    }
    parent.outcomes.sort_unstable();
    parent.outcomes.dedup();
    // Of the same values those with more relations are as good for anything.
    let mut largest = Vec::with_capacity(parent.outcomes.len());
    for same in parent.outcomes.chunk_by(|a, b| a.0 == b.0) {
        let beaten = |own: &Outcome| same.iter().any(|other| other.1 != own.1 && other.1 & own.1 == own.1);
        largest.extend(same.iter().copied().filter(|own| !beaten(own)));
    }
    parent.outcomes = largest;
}

/// The values of a set of them.
fn of(mut chosen: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let value = (chosen != 0).then(|| chosen.trailing_zeros() as usize)?;
        chosen &= chosen - 1;
        Some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_testkit::dice::{Dice, cases};

    fn related(a: Span, b: Span) -> bool {
        (a.0 < b.0 && b.0 < a.1) || (b.0 < a.0 && a.0 < b.1)
    }

    /// Goes through all choices of places.
    fn by_definition(places: &[Vec<Span>]) -> Vec<u64> {
        let mut sets = Vec::new();
        let mut choice = vec![0usize; places.len()];
        loop {
            let mut set = 0u64;
            for j in 1..places.len() {
                for i in 0..j {
                    set |= u64::from(related(places[i][choice[i]], places[j][choice[j]])) << pair_bit(i, j);
                }
            }
            sets.push(set);
            let Some(next) = (0..places.len()).find(|&i| choice[i] + 1 < places[i].len()) else { break };
            choice[next] += 1;
            choice[..next].fill(0);
        }
        sets.sort_unstable();
        sets.dedup();
        let maximal = |set: &u64| !sets.iter().any(|other| other != set && other & set == *set);
        sets.iter().copied().filter(maximal).collect()
    }

    /// A random forest whose places are dealt out to values, each of which has at least one.
    fn thrown(dice: &mut Dice, values: usize, nodes: usize) -> Vec<Vec<Span>> {
        let mut parents: Vec<Option<usize>> = Vec::new();
        let mut path: Vec<usize> = Vec::new();
        for node in 0..nodes {
            path.truncate(dice.below(path.len() + 1));
            parents.push(path.last().copied());
            path.push(node);
        }
        let mut ends: Vec<u32> = (1..=nodes as u32).collect();
        for node in (0..nodes).rev() {
            if let Some(parent) = parents[node] {
                ends[parent] = ends[parent].max(ends[node]);
            }
        }
        let mut places = vec![Vec::new(); values];
        for (node, &end) in ends.iter().enumerate() {
            let value = if node < values { node } else { dice.below(values) };
            places[value].push((node as u32, end));
        }
        places
    }

    #[test]
    fn places_walked_through_once_tell_what_all_choices_of_them_do() {
        for seed in 0..u64::from(cases(2000)) {
            let mut dice = Dice::new(seed);
            let values = 2 + dice.below(4);
            let nodes = values + dice.below(8);
            let places = thrown(&mut dice, values, nodes);
            let expected = by_definition(&places);
            let all = expected.iter().fold(0, |all, set| all | set);
            let slices: Vec<&[Span]> = places.iter().map(Vec::as_slice).collect();
            for way in [together, walk, choose_each] {
                let mut found = vec![7];
                way(&slices, all, &mut found);
                assert_eq!((found[0], &found[1..]), (7, &expected[..]), "{places:?}");
            }
        }
    }

    #[test]
    fn many_values_at_many_places_do_not_multiply() {
        // Visits in which four attributes, one below the other, have one of two values; no visit has all the first ones.
        let mut places = vec![Vec::new(); 8];
        for visit in 0..1000u32 {
            for level in 0..4 {
                let one = (visit % 15 + 1) >> level & 1;
                places[(2 * level + one) as usize].push((visit * 4 + level, visit * 4 + 4));
            }
        }
        let pairs = (0..8).flat_map(|j| (0..j).map(move |i| (i, j))).filter(|(i, j)| i / 2 != j / 2);
        let all = pairs.fold(0, |all, (i, j)| all | 1 << pair_bit(i, j));
        let mut found = Vec::new();
        together(&places.iter().map(Vec::as_slice).collect::<Vec<_>>(), all, &mut found);
        // The other seven ways to choose two visits that share nothing are among the largest.
        assert_eq!(found.iter().filter(|set| set.count_ones() == 12).count(), 7, "{found:?}");
    }
}
