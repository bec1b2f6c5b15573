//! From parameters to a recoding: which algorithm, with what before and after.

use rayon::prelude::*;

use bosket_model::observe::{Observer, Quiet};
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::beyond::{self, Shares, beyond};
use super::cut::Cut;
use super::found::{Found, most};
use super::improve::improve;
use super::params::Params;
use super::search::{Limits, Search};
use super::transactions::Transactions;
use super::{Algorithm, aa::aa, da::da, lra, oa, partition::partition, vpa};
use crate::asked::foreign;

/// Searches for a recoding that keeps the guarantee.
pub fn search(data: &Transactions, params: &Params, observer: &dyn Observer) -> Result<Found> {
    refuse_unreachable(data, params)?;
    let mut found = once(data, params, observer)?;
    if params.suppress {
        // Greedy repairs with more to choose from may well end worse.
        let plain = once(data, &Params { suppress: false, ..params.clone() }, observer)?;
        if plain.loss <= found.loss {
            found = plain;
        }
    }
    Ok(found)
}

/// Refuses what no search would find.
pub(super) fn refuse_unreachable(data: &Transactions, params: &Params) -> Result<()> {
    if data.len() < params.k as usize || data.is_empty() {
        let what = format!("k = {} exceeds the number of records, {}", params.k, data.len());
        return Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help("ask for a smaller k")));
    }
    too_common(data, params)?;
    if params.algorithm == Algorithm::Oa { oa::count_cuts(data).map(|_| ()) } else { Ok(()) }
}

/// A sensitive item that more than 1/l of all records have can be guessed without any knowledge.
fn too_common(data: &Transactions, params: &Params) -> Result<()> {
    let Some(l) = params.l else {
        return Ok(());
    };
    let all: Vec<u32> = (0..data.len() as u32).collect();
    let shares = Shares::of(data, &all);
    let problems: Vec<Diagnostic> = shares
        .over(l, all.len())
        .map(|i| {
            Diagnostic::error(format!(
                "the sensitive item `{}` is in more than 1/{l} of all records; whoever knows nothing can infer it",
                data.secret_label(i)
            ))
            .help("ask for a smaller l, or take the item out of `privacy.sensitive`")
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Unreachable, problems)) }
}

fn once(data: &Transactions, params: &Params, observer: &dyn Observer) -> Result<Found> {
    match params.algorithm {
        Algorithm::Aa | Algorithm::Da => Ok(global(data, params, Cut::bottom(data), observer)),
        Algorithm::Oa => {
            let ask = oa::Ask { k: params.k, m: params.m, l: params.l };
            let (cut, examined) = oa::oa(data, &ask, observer)?;
            Ok(Found { examined, ..Found::of_cut(data, &cut, 0) })
        }
        Algorithm::Lra => Ok(local(data, params, observer)),
        Algorithm::Vpa => {
            let (cut, repaired) = regions(data, params, observer);
            let found = global(data, params, cut, observer);
            Ok(Found { repaired: found.repaired + repaired, ..found })
        }
        Algorithm::Partition => Ok(partition(data, params.k, params.l, observer)),
        other => Err(foreign(other)),
    }
}

fn limits(params: &Params) -> Limits {
    Limits { k: params.k, m: params.m, suppress: params.suppress, memory: params.memory, region: None }
}

/// One cut for all records, from a cut on.
fn global(data: &Transactions, params: &Params, cut: Cut, observer: &dyn Observer) -> Found {
    let mut search = Search::new(data, cut, limits(params));
    search.count_tree = params.count_tree.then_some(0);
    if params.algorithm == Algorithm::Da {
        da(&mut search, observer)
    } else {
        aa(&mut search, observer)
    }
    if beyond::is_asked(data, params.l) {
        beyond(&mut search, params.l, observer);
    }
    if params.improve {
        improve(&mut search, params.l, observer);
    }
    Found { count_tree: search.count_tree, ..Found::of_cut(data, &search.cut, search.repaired) }
}

/// One cut per part of similar records.
fn local(data: &Transactions, params: &Params, observer: &dyn Observer) -> Found {
    let parts = lra::parts(data, params.parts, params.flex, params.k, params.m);
    observer.stage("parts", parts.len() as u64);
    let own: Vec<Found> = parts
        .par_iter()
        .map(|records| {
            let part = data.part(records);
            let found = global(&part, params, Cut::bottom(&part), &Quiet);
            observer.advance(1);
            found
        })
        .collect();
    let mut found = Found { most: most(data), part_of: vec![0; data.len()], ..Found::default() };
    for (number, (records, own)) in parts.iter().zip(own).enumerate() {
        records.iter().for_each(|&r| found.part_of[r as usize] = number as u32);
        found.parts.extend(own.parts);
        found.dropped.extend(own.dropped);
        found.loss += own.loss;
        found.repaired += own.repaired;
        // The parts are gone through one after the other where memory is short, so the largest tree counts.
        found.count_tree = found.count_tree.max(own.count_tree);
    }
    found
}

/// What each region of the domain needs by itself, as one cut.
fn regions(data: &Transactions, params: &Params, observer: &dyn Observer) -> (Cut, u64) {
    let regions = vpa::regions(&data.tree, params.parts, params.level);
    observer.stage("regions", regions.len() as u64);
    let own: Vec<(Cut, u64)> = regions
        .par_iter()
        .map(|region| {
            let part = data.projection(region);
            let limits = Limits { region: Some(region.clone()), suppress: false, ..limits(params) };
            let mut search = Search::new(&part, Cut::bottom(&part), limits);
            aa(&mut search, &Quiet);
            observer.advance(1);
            (search.cut, search.repaired)
        })
        .collect();
    let mut cut = Cut::bottom(data);
    for (region, (own, _)) in regions.iter().zip(&own) {
        let mut raised = own.at()[region.start as usize..region.end as usize].to_vec();
        raised.dedup();
        raised.into_iter().filter(|&n| !data.tree.is_leaf(n)).for_each(|n| cut.raise(n));
    }
    (cut, own.iter().map(|(_, repaired)| repaired).sum())
}
