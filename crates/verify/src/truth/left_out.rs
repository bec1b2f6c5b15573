//! Values that were left out everywhere (`suppress = true`) although a published value covers them: they stay out of what
//! their neighbours are generalized to.
//!
//! Which values these are is recovered. With a mapping there is one answer that serves if any does: what is covered by a
//! published value that its record does not have was left out, and all of records that are not there. Without one, a published value that as many records have
//! as it covers in the input tells that nothing under it needs to have been left out; below the others all choices are
//! tried, as long as they are few.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::{Comparison, Recoding};
use crate::trees::Trees;

/// Most choices times records that are tried without a mapping.
const MOST_TRIED: usize = 1 << 22;

/// Whether a published record may be that of somebody of whom all values were left out.
pub(super) fn may_be_emptied(c: &Comparison<'_>, record: usize) -> bool {
    let of_trees = matches!(c.recoding, Recoding::GlobalTrees { .. });
    of_trees && c.suppress && c.published.data.vertices(record).len() == 1
}

/// The ways in which the input may have been recoded, that which leaves out least first. `recode` gives for each item of
/// the input the published one that covers it.
pub(super) fn ways(
    c: &Comparison<'_>,
    (published, same): (&Trees, &[Option<u32>]),
    (input, recode): (&Trees, Vec<Option<u32>>),
    observer: &dyn Observer,
) -> Result<Vec<Vec<Option<u32>>>> {
    let of = |trees: &Trees, record: usize, number: &dyn Fn(u32) -> Option<u32>| -> BTreeSet<u32> {
        trees.nodes(record).filter_map(|node| number(trees.item(node))).collect()
    };
    let out = |record: usize| of(published, record, &|item| same[item as usize]);
    // A companion may be left out of any record; nothing follows from its absence.
    let leads = |item: u32| c.input.binding.declared[input.items()[item as usize].declared].follows.is_none();
    let without = |dropped: &BTreeSet<u32>| -> Vec<Option<u32>> {
        (recode.iter().zip(0..)).map(|(to, item)| to.filter(|_| !dropped.contains(&item))).collect()
    };
    if let Some(mapping) = c.mapping {
        let mut dropped = BTreeSet::new();
        let mut unmapped = vec![true; input.len()];
        for pair in &mapping.pairs {
            observer.go_on()?;
            unmapped[pair.input as usize] = false;
            let there = out(pair.published as usize);
            if there.is_empty() && may_be_emptied(c, pair.published as usize) {
                continue;
            }
            for item in input.nodes(pair.input as usize).map(|node| input.item(node)).filter(|&i| leads(i)) {
                if recode[item as usize].is_some_and(|to| !there.contains(&to)) {
                    dropped.insert(item);
                }
            }
        }
        let mut ways = vec![without(&dropped)];
        // A record that is not published may have had nothing else.
        for record in (0..input.len()).filter(|&record| unmapped[record]) {
            dropped.extend(input.nodes(record).map(|node| input.item(node)));
        }
        ways.push(without(&dropped));
        ways.dedup();
        return Ok(ways);
    }
    // How many more records should have each published item than have it.
    let mut excess: BTreeMap<u32, i64> = BTreeMap::new();
    for record in 0..input.len() {
        observer.go_on()?;
        let covering = of(input, record, &|item| recode[item as usize].filter(|_| leads(item)));
        covering.into_iter().for_each(|item| *excess.entry(item).or_default() += 1);
    }
    for record in 0..published.len() {
        observer.go_on()?;
        out(record).into_iter().for_each(|item| *excess.entry(item).or_default() -= 1);
    }
    let candidates: BTreeSet<u32> = (0..recode.len() as u32)
        .filter(|&item| leads(item))
        .filter(|&item| recode[item as usize].is_some_and(|to| excess.get(&to).is_some_and(|&more| more > 0)))
        .collect();
    let candidates: Vec<u32> = candidates.into_iter().collect();
    let choices = 1usize.checked_shl(candidates.len() as u32).filter(|_| candidates.len() < 20);
    if choices.is_none_or(|choices| choices > 1 && choices * input.len() > MOST_TRIED) {
        let what = "without a mapping it cannot be told which values were left out below published ones";
        let help = "give the private mapping with --mapping, or leave out --against";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    }
    let chosen =
        |bits: usize| (0..candidates.len()).filter(|i| bits >> i & 1 == 1).map(|i| candidates[i]).collect();
    let mut choices: Vec<usize> = (0..choices.unwrap_or(1)).collect();
    choices.sort_by_key(|bits| bits.count_ones());
    Ok(choices.into_iter().map(|bits| without(&chosen(bits))).collect())
}
