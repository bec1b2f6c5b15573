//! What a label tells by itself: of the cells that are published as it, how many hide the same value, against how common that
//! value is below the label anyway.

use std::collections::BTreeMap;

use bosket_model::hierarchy::Hierarchy;

use super::cells::Attribute;

/// A label that hides one value more often than others.
#[derive(Clone, Debug, PartialEq)]
pub struct TellingLabel {
    /// Path of its attribute.
    pub path: String,
    /// The label.
    pub label: String,
    /// How many cells are published as it.
    pub cells: u64,
    /// The value that most of them hide; none where that is that there is nothing.
    pub value: Option<String>,
    /// How many of them hide it.
    pub hiding: u64,
    /// The share of that value among all values of the input below the label.
    pub common: f64,
    /// Whether it is more often behind the label than it is below it.
    pub is_telling: bool,
}

impl TellingLabel {
    /// How sure somebody may be who sees the label and knows what it hides.
    pub fn share(&self) -> f64 {
        self.hiding as f64 / self.cells.max(1) as f64
    }

    /// How many more cells hide the value than if the label were used for everybody.
    pub(super) fn surplus(&self) -> f64 {
        self.hiding as f64 - self.common * self.cells as f64
    }
}

/// Cells whose label gives the value with some certainty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Certain {
    /// Where the label tells more than how common the value is.
    pub told: u64,
    /// Where the value is that common below the label anyway.
    pub common: u64,
}

impl Certain {
    /// The cells of labels that give one value with at least so many hundredths.
    pub(super) fn by(labels: &[TellingLabel], hundredths: u64) -> Self {
        let mut certain = Certain::default();
        for label in labels.iter().filter(|label| label.hiding * 100 >= hundredths * label.cells) {
            *(if label.is_telling { &mut certain.told } else { &mut certain.common }) += label.cells;
        }
        certain
    }
}

/// The labels of an attribute that cover more than one value, in the order in which they were met.
pub(super) fn telling(own: &Attribute, path: &str, hierarchy: &Hierarchy) -> Vec<TellingLabel> {
    let mut behind: Vec<BTreeMap<Option<u32>, u64>> = vec![BTreeMap::new(); own.labels.len()];
    for cell in &own.cells {
        *behind[cell.label as usize].entry(cell.origin).or_default() += 1;
    }
    let below = Below::new(own);
    let general =
        own.labels.iter().zip(&behind).filter(|(label, behind)| label.is_general() && !behind.is_empty());
    let one = |(label, behind): (&super::cells::Label, &BTreeMap<Option<u32>, u64>)| {
        let cells: u64 = behind.values().sum();
        // Of equally frequent values the first.
        let (&value, &hiding) = behind.iter().rev().max_by_key(|(_, count)| **count)?;
        let (rare, all) = below.share(label.leaves.clone(), value);
        Some(TellingLabel {
            path: path.to_owned(),
            label: label.text.clone(),
            cells,
            value: value.map(|leaf| hierarchy.label(hierarchy.leaf_node(leaf)).to_owned()),
            hiding,
            common: rare as f64 / all.max(1) as f64,
            is_telling: u128::from(hiding) * u128::from(all) > u128::from(rare) * u128::from(cells),
        })
    };
    general.filter_map(one).collect()
}

/// How common values of the input are below labels.
pub(super) struct Below<'a> {
    own: &'a Attribute,
    /// Values of the input before each leaf.
    before: Vec<u64>,
}

impl<'a> Below<'a> {
    pub(super) fn new(own: &'a Attribute) -> Self {
        let mut before = vec![0];
        own.common.iter().for_each(|count| before.push(before[before.len() - 1] + count));
        Below { own, before }
    }

    /// How often a value occurs, and how often any does below a label. Places without a value count below the root.
    pub(super) fn share(&self, leaves: std::ops::Range<u32>, value: Option<u32>) -> (u64, u64) {
        let (start, end) = (leaves.start as usize, leaves.end as usize);
        let whole = end - start == self.own.common.len();
        let all = self.before[end] - self.before[start] + if whole { self.own.missing } else { 0 };
        (value.map_or(self.own.missing, |leaf| self.own.common[leaf as usize]), all)
    }
}
