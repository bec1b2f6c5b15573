//! The normalized certainty penalty: how many of the domain's values each occurrence was made indistinguishable from.
//!
//! NCP(p) = 0 if the node that p was published as has one leaf, else its leaves / all leaves, and 1 if p was left
//! out. A dataset's is the mean over the occurrences of values in records, a value counted once per record. All sums
//! are whole numbers: an occurrence costs as many *leaves* as its node has.
//!
//! With a mapping each record is compared with the one that was made of it: a value went to the finest label of that
//! record that covers it. Without one, what became of an attribute's values can be told only if its labels are a
//! cut, none above another, and each is in exactly the records that it should be in.

use bosket_model::Result;
use bosket_model::observe::Observer;

use crate::trees::counterpart::supports;
use crate::trees::space::{Located, Space};

/// What became of an attribute's values.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeNcp {
    /// Its path in the policy.
    pub path: String,
    /// How many values the input's records have.
    pub occurrences: u64,
    /// |I|: how many leaves its hierarchy has.
    pub leaves: u64,
    /// What became of them, where it can be told.
    pub fate: Option<Fate>,
}

/// What became of values, by occurrences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Published as they are.
    pub kept: u64,
    /// Published as something more general.
    pub generalized: u64,
    /// Not published.
    pub suppressed: u64,
    /// Σ leaves of the nodes published for them: nothing for one leaf, all leaves for what is not published.
    pub lost: u64,
}

impl AttributeNcp {
    /// The penalty, from 0 to 1; 0 if there are no values.
    pub fn ncp(&self) -> Option<f64> {
        let whole = self.leaves * self.occurrences;
        self.fate.map(|fate| if whole == 0 { 0.0 } else { fate.lost as f64 / whole as f64 })
    }
}

/// The penalty of several attributes: the mean over all their occurrences. None if it cannot be told of one of them.
pub fn mean_ncp(attributes: &[AttributeNcp]) -> Option<f64> {
    if let [only] = attributes {
        return only.ncp();
    }
    let occurrences: u64 = attributes.iter().map(|a| a.occurrences).sum();
    let mut sum = 0.0;
    for attribute in attributes {
        sum += attribute.ncp()? * attribute.occurrences as f64;
    }
    Some(if occurrences == 0 { 0.0 } else { sum / occurrences as f64 })
}

/// The penalties of all attributes, in the order of `paths`. `mapping` holds pairs (input record, published record);
/// input records that are in none were not published.
pub fn penalties(
    space: &Space<'_>,
    input: &Located<'_>,
    published: &Located<'_>,
    paths: &[&str],
    mapping: Option<&[(u32, u32)]>,
    observer: &dyn Observer,
) -> Result<Vec<AttributeNcp>> {
    let leaves = leaves_below(space);
    let fates = vec![Some(Fate::default()); paths.len()];
    let mut tally = Tally { space, leaves: &leaves, fates, observer };
    match mapping {
        Some(pairs) => mapped(&mut tally, input, published, pairs)?,
        None => unmapped(&mut tally, input, published)?,
    }
    let fates = tally.fates;
    let mut occurrences = vec![0; paths.len()];
    each_value(space, input, observer, |_, leaf| occurrences[space.attribute(leaf)] += 1)?;
    let mut all_leaves = vec![0; paths.len()];
    (0..space.len() as u32).filter(|&n| space.is_leaf(n)).for_each(|n| all_leaves[space.attribute(n)] += 1);
    let penalty = |a: usize| AttributeNcp {
        path: paths[a].to_owned(),
        occurrences: occurrences[a],
        leaves: all_leaves[a],
        fate: fates[a].map(|fate| Fate { lost: fate.lost + fate.suppressed * all_leaves[a], ..fate }),
    };
    Ok((0..paths.len()).map(penalty).collect())
}

/// What is known so far; the leaves of suppressed values are added at the end.
struct Tally<'a> {
    space: &'a Space<'a>,
    leaves: &'a [u64],
    fates: Vec<Option<Fate>>,
    observer: &'a dyn Observer,
}

impl Tally<'_> {
    fn add(&mut self, leaf: u32, label: Option<u32>) {
        let Some(fate) = &mut self.fates[self.space.attribute(leaf)] else {
            return;
        };
        match label {
            None => fate.suppressed += 1,
            Some(label) if label == leaf => fate.kept += 1,
            Some(label) => {
                fate.generalized += 1;
                let leaves = self.leaves[label as usize];
                fate.lost += if leaves == 1 { 0 } else { leaves };
            }
        }
    }
}

fn mapped(
    tally: &mut Tally<'_>,
    input: &Located<'_>,
    published: &Located<'_>,
    pairs: &[(u32, u32)],
) -> Result<()> {
    let mut made = vec![None; input.trees().len()];
    for &(from, to) in pairs {
        made[from as usize] = Some(to as usize);
    }
    // Which record's labels were marked last.
    let mut label_of = vec![usize::MAX; tally.space.len()];
    let mut marked = usize::MAX;
    each_value(tally.space, input, tally.observer, |record, leaf| {
        if marked != record {
            marked = record;
            for node in made[record].into_iter().flat_map(|to| published.trees().nodes(to)) {
                label_of[published.at(node) as usize] = record;
            }
        }
        let label = tally.space.upwards(leaf).find(|&u| label_of[u as usize] == record);
        tally.add(leaf, label);
    })
}

fn unmapped(tally: &mut Tally<'_>, input: &Located<'_>, published: &Located<'_>) -> Result<()> {
    let (space, observer) = (tally.space, tally.observer);
    let mut is_label = vec![false; space.len()];
    let own = own_supports(space, published, observer)?;
    for n in 0..space.len() {
        is_label[n] = own[n] > 0;
    }
    let before = supports(space, input, observer)?;
    for n in (0..space.len() as u32).filter(|&n| is_label[n as usize]) {
        let nested = space.upwards(n).skip(1).any(|u| is_label[u as usize]);
        if nested || before[n as usize] != own[n as usize] {
            tally.fates[space.attribute(n)] = None;
        }
    }
    each_value(space, input, observer, |_, leaf| {
        let label = space.upwards(leaf).find(|&u| is_label[u as usize]);
        tally.add(leaf, label);
    })
}

/// Shows each record's values, each once.
fn each_value(
    space: &Space<'_>,
    located: &Located<'_>,
    observer: &dyn Observer,
    mut visit: impl FnMut(usize, u32),
) -> Result<()> {
    let mut last = vec![usize::MAX; space.len()];
    for record in 0..located.trees().len() {
        observer.go_on()?;
        for node in located.trees().nodes(record) {
            let value = located.at(node);
            if std::mem::replace(&mut last[value as usize], record) != record {
                visit(record, value);
            }
        }
    }
    Ok(())
}

/// Per hierarchy node how many records have it as a label.
fn own_supports(space: &Space<'_>, located: &Located<'_>, observer: &dyn Observer) -> Result<Vec<usize>> {
    let mut support = vec![0; space.len()];
    each_value(space, located, observer, |_, value| support[value as usize] += 1)?;
    Ok(support)
}

/// Per hierarchy node how many leaves it has; 1 for a leaf.
fn leaves_below(space: &Space<'_>) -> Vec<u64> {
    let mut leaves = vec![0; space.len()];
    for n in (0..space.len() as u32).filter(|&n| space.is_leaf(n)) {
        space.upwards(n).for_each(|u| leaves[u as usize] += 1);
    }
    leaves
}
