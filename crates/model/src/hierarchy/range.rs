//! Numbers whose generalizations are tight ranges: whatever lies between the lowest and the highest value of a group.
//!
//! A range is no node, since ranges overlap. The hierarchy is flat, its leaves stand in the order of their numbers, and two
//! leaf positions make a range.

use super::number::Decimal;
use super::tree::{Hierarchy, NodeId};
use super::tree_builder::TreeBuilder;
use crate::diag::Diagnostic;

/// Most distinct numbers, so that two of them make one 32-bit number.
pub const MOST_NUMBERS: usize = 65_000;

/// The numbers of a flat hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    min: f64,
    max: f64,
    /// By leaf position, ascending.
    values: Vec<f64>,
}

impl Numbers {
    /// The number at a leaf position.
    pub fn number(&self, position: u32) -> f64 {
        self.values[position as usize]
    }

    /// The width of the range between two leaf positions, as a share of what the policy's bounds allow.
    pub fn share(&self, low: u32, high: u32) -> f64 {
        (self.number(high) - self.number(low)) / (self.max - self.min)
    }

    /// The bounds of a published range `[low, high]`, whatever its numbers are.
    pub fn parse(label: &str) -> Option<(f64, f64)> {
        let (low, high) = label.strip_prefix('[')?.strip_suffix(']')?.split_once(',')?;
        let (low, high) = (number(low)?, number(high)?);
        (low <= high).then_some((low, high))
    }

    /// The leaf positions from one number to another; none if there are no leaves between them.
    pub fn positions(&self, (low, high): (f64, f64)) -> Option<(u32, u32)> {
        let first = self.values.partition_point(|&n| n < low);
        let end = self.values.partition_point(|&n| n <= high);
        (first < end).then(|| (first as u32, end as u32 - 1))
    }
}

impl Hierarchy {
    /// The numbers, if generalizations are ranges of them instead of nodes.
    pub fn numbers(&self) -> Option<&Numbers> {
        self.numbers.as_ref()
    }

    /// The number that a leaf stands for, if generalizations are ranges.
    pub fn number(&self, leaf: NodeId) -> Option<f64> {
        let numbers = self.numbers.as_ref().filter(|_| leaf != NodeId::ROOT)?;
        Some(numbers.number(self.leaves(leaf).start))
    }

    /// What is published for everything between two leaf positions: one value stays that value.
    pub fn range_label(&self, low: u32, high: u32) -> String {
        let label = |position: u32| self.label(self.leaf_node(position));
        if low == high { label(low).to_owned() } else { format!("[{}, {}]", label(low), label(high)) }
    }
}

fn number(text: &str) -> Option<f64> {
    Decimal::parse(text)?;
    // Minus zero is zero.
    text.trim().parse().ok().filter(|n: &f64| n.is_finite()).map(|n: f64| n + 0.0)
}

/// Lays the numbers of a domain out. Spellings of one number are one leaf, labelled by the shortest; what is no number or
/// outside the bounds is left uncovered.
pub fn range(min: f64, max: f64, domain: &[&str]) -> Result<Hierarchy, Vec<Diagnostic>> {
    if !(min.is_finite() && max.is_finite() && min < max) {
        let what = format!("min = {min} must be below max = {max}");
        return Err(vec![Diagnostic::error(what).help("give the bounds that all values lie in")]);
    }
    let mut found: Vec<(f64, &str)> = (domain.iter())
        .filter_map(|&text| Some((number(text)?, text)))
        .filter(|(n, _)| (min..=max).contains(n))
        .collect();
    let by_text = |a: &str, b: &str| a.len().cmp(&b.len()).then_with(|| a.cmp(b));
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| by_text(a.1, b.1)));
    let mut builder = TreeBuilder::new();
    let mut numbers = Vec::new();
    let mut spellings = Vec::new();
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        numbers.push(same[0].0);
        builder.place(TreeBuilder::ROOT, same[0].1);
        // The root comes first, then the leaves in the order in which they are planted.
        let leaf = NodeId(numbers.len() as u32);
        spellings.extend(same[1..].iter().map(|(_, text)| ((*text).to_owned(), leaf)));
    }
    if numbers.len() > MOST_NUMBERS {
        let what = format!("ranges of more than {MOST_NUMBERS} distinct numbers are too many");
        return Err(vec![Diagnostic::error(what).help("round the numbers, or use the builder `interval`")]);
    }
    let mut hierarchy = builder.finish().with_spellings(spellings);
    hierarchy.numbers = Some(Numbers { min, max, values: numbers });
    Ok(hierarchy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(domain: &[&str]) -> Hierarchy {
        range(0.0, 100.0, domain).unwrap_or_else(|d| panic!("{d:?}"))
    }

    #[test]
    fn leaves_stand_in_the_order_of_their_numbers() {
        let h = built(&["100", "9", "20", "7.5", "9.0", "09"]);
        let labels: Vec<&str> = h.nodes().map(|n| h.label(n)).collect();
        assert_eq!(labels, ["*", "7.5", "9", "20", "100"]);
        assert_eq!((h.leaf("9.0"), h.leaf("09")), (h.leaf("9"), h.leaf("9")));
        let numbers = h.numbers().expect("numbers");
        assert_eq!((0..4).map(|p| numbers.number(p)).collect::<Vec<_>>(), [7.5, 9.0, 20.0, 100.0]);
        assert_eq!(numbers.share(1, 2), 0.11);
    }

    #[test]
    fn minus_zero_is_zero() {
        let h = range(-1.0, 1.0, &["0", "-0", "-0.0", "0.5"]).expect("good");
        assert_eq!(h.leaf_count(), 2);
        assert_eq!(h.leaf("-0.0"), h.leaf("0"));
    }

    #[test]
    fn a_published_range_is_read_again() {
        let h = built(&["17", "25", "30"]);
        assert_eq!((h.range_label(0, 1).as_str(), h.range_label(2, 2).as_str()), ("[17, 25]", "30"));
        assert_eq!(Numbers::parse("[17, 25]"), Some((17.0, 25.0)));
        assert_eq!(Numbers::parse("[-2.5,1e3]"), Some((-2.5, 1000.0)));
        for text in ["17", "[17]", "[25, 17]", "[a, b]", "[1, inf]", "[0,5)", "*"] {
            assert_eq!(Numbers::parse(text), None, "{text}");
        }
        let numbers = h.numbers().expect("numbers");
        assert_eq!(numbers.positions((17.0, 29.0)), Some((0, 1)));
        assert_eq!(numbers.positions((18.0, 24.0)), None);
    }

    #[test]
    fn what_is_outside_or_no_number_is_uncovered() {
        let h = built(&["5", "101", "x", "*", "[1, 2]", ""]);
        assert_eq!(h.bind(["5", "101", "x", "*", "[1, 2]", ""]).expect_err("five"), [1, 2, 3, 4, 5]);
        assert!(h.bind(["5"]).expect("covered").0.numbers().is_some(), "binding keeps the numbers");
    }

    #[test]
    fn wrong_bounds_are_told() {
        for (min, max) in [(5.0, 5.0), (6.0, 5.0), (f64::NAN, 5.0), (0.0, f64::INFINITY)] {
            assert_eq!(range(min, max, &[]).expect_err("wrong").len(), 1);
        }
    }
}
