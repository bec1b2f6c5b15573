//! A balanced tree over the sorted domain.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::number::Decimal;
use super::tree::Hierarchy;
use super::tree_builder::TreeBuilder;
use crate::diag::Diagnostic;

/// Builds the hierarchy: groups of `fanout` neighbours, groups of groups, until at most `fanout` are left under the
/// root.
///
/// The domain is sorted by number if all values are numbers, else by bytes. A group is labelled by its place, `group-2.1`:
/// the domain is the data's, and a label made of values would publish them. Labels have no blanks, which separate the
/// items of transactions. A group that would have a single member is
/// left out.
pub fn fanout(fanout: usize, domain: &[&str]) -> Result<Hierarchy, Vec<Diagnostic>> {
    if fanout < 2 {
        let message = format!("fanout = {fanout} does not group anything");
        return Err(vec![Diagnostic::error(message).help("give at least 2")]);
    }
    let values = sorted(domain);
    let mut groups: Vec<Group> =
        (0..values.len()).map(|at| Group { leaves: at..at + 1, members: Vec::new() }).collect();
    let mut top: Vec<usize> = (0..groups.len()).collect();
    while top.len() > fanout {
        top = top.chunks(fanout).map(|members| join(&mut groups, members)).collect();
    }
    Ok(plant(&values, &groups, &top))
}

struct Group {
    leaves: Range<usize>,
    members: Vec<usize>,
}

fn join(groups: &mut Vec<Group>, members: &[usize]) -> usize {
    match members {
        [only] => *only,
        _ => {
            let first = members.iter().map(|&m| groups[m].leaves.start).min().unwrap_or(0);
            let last = members.iter().map(|&m| groups[m].leaves.end).max().unwrap_or(0);
            groups.push(Group { leaves: first..last, members: members.to_vec() });
            groups.len() - 1
        }
    }
}

fn plant(values: &[&str], groups: &[Group], top: &[usize]) -> Hierarchy {
    let taken: FxHashSet<&str> = values.iter().copied().collect();
    let mut builder = TreeBuilder::new();
    let number = |members: &[usize], parent, place: &str| -> Vec<_> {
        let dot = if place.is_empty() { "" } else { "." };
        let numbered =
            members.iter().enumerate().map(|(i, &m)| (m, parent, format!("{place}{dot}{}", i + 1)));
        numbered.rev().collect()
    };
    let mut stack = number(top, TreeBuilder::ROOT, "");
    while let Some((group, parent, place)) = stack.pop() {
        let Group { leaves, members } = &groups[group];
        if members.is_empty() {
            builder.place(parent, values[leaves.start]);
            continue;
        }
        let label = format!("group-{place}");
        // The data may have a value that sounds like a group.
        let free = |l: &String| !taken.contains(l.as_str()) && builder.node(l).is_none();
        let mut labels = std::iter::once(label.clone()).chain((2..).map(|n| format!("{label}~{n}")));
        let label = labels.find(free).unwrap_or(label);
        let node = builder.place(parent, &label);
        stack.extend(number(members, node, &place));
    }
    builder.finish()
}

fn sorted<'a>(domain: &[&'a str]) -> Vec<&'a str> {
    let mut values = domain.to_vec();
    values.sort_unstable();
    values.dedup();
    if values.iter().all(|v| Decimal::parse(v).is_some()) {
        // Stable: spellings of one number stay in the order of their bytes.
        values.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    values
}

fn number(text: &str) -> f64 {
    text.trim().parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(h: &Hierarchy) -> Vec<&str> {
        h.nodes().map(|n| h.label(n)).collect()
    }

    #[test]
    fn numbers_sort_as_numbers() {
        let h = fanout(2, &["10", "9", "100", "1", "20"]).expect("good");
        let expected = ["*", "group-1", "group-1.1", "1", "9", "group-1.2", "10", "20", "100"];
        assert_eq!(labels(&h), expected);
        let text = fanout(2, &["10", "9", "x"]).expect("good");
        assert_eq!(labels(&text), ["*", "group-1", "10", "9", "x"]);
    }

    #[test]
    fn few_values_hang_under_the_root() {
        assert_eq!(labels(&fanout(5, &["b", "a", "c"]).expect("good")), ["*", "a", "b", "c"]);
        assert_eq!(labels(&fanout(5, &[]).expect("good")), ["*"]);
    }

    #[test]
    fn groups_that_sound_like_values() {
        let domain = ["a", "b", "c", "group-1", "group-1.1"];
        let h = fanout(2, &domain).expect("good");
        let (bound, leaves) = h.bind(domain).expect("all are covered");
        assert_eq!(bound, h);
        assert_eq!(leaves.iter().map(|&n| h.label(n)).collect::<Vec<_>>(), domain);
    }

    #[test]
    fn a_value_named_like_the_root() {
        let (bound, leaves) =
            fanout(2, &["*", "a", "b"]).expect("good").bind(["*", "a", "b"]).expect("covered");
        assert_eq!(bound.label(leaves[0]), "* (unspecified)");
    }

    #[test]
    fn a_fanout_below_two_is_refused() {
        assert!(fanout(1, &["a"]).is_err());
        assert!(fanout(0, &["a"]).is_err());
    }
}
