//! From parameters to a recoding: which algorithm, with what before and after.

use bosket_model::observe::{Observer, Silenced};
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::Algorithm;
use super::algorithms::oa::{count_cuts, oa};
use super::algorithms::{aa::aa, da::da, lra::lra, partition::partition, vpa::vpa};
use super::cuts::beyond::{self, Promise, Shares, beyond};
use super::cuts::cut::Cut;
use super::cuts::improve::improve;
use super::cuts::search::{Limits, Search};
use super::in_time::{coarse_cut, in_time};
use super::params::Params;
use super::recoding::Recoding;
use super::transactions::Transactions;
use crate::asked::foreign;

/// Searches for a recoding that keeps the guarantee.
pub fn search(data: &Transactions, params: &Params, observer: &dyn Observer) -> Result<Recoding> {
    refuse_unreachable(data, params)?;
    let mut found = once(data, params, observer)?;
    if params.suppress && !found.cut_short {
        // Greedy repairs with more to choose from may well end worse.
        let plain = once(data, &Params { suppress: false, ..params.clone() }, observer)?;
        match plain.cut_short {
            true => found.cut_short = true,
            false if plain.loss <= found.loss => found = plain,
            false => {}
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
    if params.algorithm == Algorithm::Oa { count_cuts(data).map(|_| ()) } else { Ok(()) }
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
            let works = (all.len() as f64 / f64::from(shares.count(i)) * 100.0).floor() / 100.0;
            Diagnostic::error(format!(
                "the sensitive item `{}` is in more than 1/{l} of all records; whoever knows nothing can infer it",
                data.secret_label(i)
            ))
            .help(format!("no l over {works} can be kept for it: ask for less, or take it out of `privacy.sensitive`"))
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Unreachable, problems)) }
}

/// Why nothing at all can be published, and what would do.
pub(super) fn nothing_to_publish(
    data: &Transactions,
    params: &Params,
    found: &Recoding,
    observer: &dyn Observer,
) -> Result<Failure> {
    let (k, m) = (params.k, params.m);
    if found.cut_short {
        let what = "the time was over before anything was found that could be published";
        return Ok(Failure::new(
            Fault::Unreachable,
            Diagnostic::error(what).help("allow the search more time"),
        ));
    }
    let what = format!("no item can be published with k = {k} and m = {m}: nothing would be published");
    let mut help = "ask for a smaller k or m, or give the hierarchy more levels".to_owned();
    if params.algorithm != Algorithm::Partition
        && !data.is_empty()
        && is_something(data, &partition(data, params.k, params.l, &Silenced(observer))?)
    {
        help = format!("`algorithm = \"partition\"` publishes something of these records; or {help}");
    }
    Ok(Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help)))
}

/// Whether a recoding publishes any item.
fn is_something(data: &Transactions, found: &Recoding) -> bool {
    let place = found.places(data);
    (0..data.len()).any(|record| data.items(record as u32).iter().any(|&leaf| place(record, leaf).is_some()))
}

fn once(data: &Transactions, params: &Params, observer: &dyn Observer) -> Result<Recoding> {
    match params.algorithm {
        Algorithm::Aa | Algorithm::Da => global(data, params, Cut::bottom(data), observer),
        Algorithm::Oa => {
            let promise = Promise { k: params.k, m: params.m, l: params.l };
            match in_time(observer, |observer| oa(data, &promise, observer))? {
                Some((cut, examined)) => Ok(Recoding { examined, ..Recoding::of_cut(data, &cut, 0) }),
                None => coarse(data, params, observer),
            }
        }
        Algorithm::Lra => lra(data, params, observer),
        Algorithm::Vpa => vpa(data, params, observer),
        Algorithm::Partition => partition(data, params.k, params.l, observer),
        other => Err(foreign(other)),
    }
}

pub(super) fn limits(params: &Params) -> Limits {
    Limits { k: params.k, m: params.m, suppress: params.suppress, memory: params.memory, region: None }
}

/// One cut for all records, from a cut on; a coarse one if the time is over before it is found.
pub(super) fn global(
    data: &Transactions,
    params: &Params,
    cut: Cut,
    observer: &dyn Observer,
) -> Result<Recoding> {
    match in_time(observer, |in_time| from(data, params, cut, in_time))? {
        Some(found) => Ok(found),
        None => coarse(data, params, observer),
    }
}

/// One cut for all records that takes hardly any time to find, however late it is.
pub(super) fn coarse(data: &Transactions, params: &Params, observer: &dyn Observer) -> Result<Recoding> {
    observer.decided("the time is over: the search ends with a coarse cut");
    let quick = Params { algorithm: Algorithm::Aa, improve: false, ..params.clone() };
    Ok(Recoding { cut_short: true, ..from(data, &quick, coarse_cut(data), observer)? })
}

/// The search from a cut on.
fn from(data: &Transactions, params: &Params, cut: Cut, observer: &dyn Observer) -> Result<Recoding> {
    let mut search = Search::new(data, cut, limits(params), observer);
    search.count_tree = params.count_tree.then_some(0);
    if params.algorithm == Algorithm::Da {
        da(&mut search)?;
    } else {
        aa(&mut search)?;
    }
    if beyond::is_asked(data, params.l) {
        beyond(&mut search, params.l)?;
    }
    // From here on the cut keeps the promise at any time.
    let improved = if params.improve { improve(&mut search, params.l) } else { Ok(()) };
    let cut_short = match improved {
        Err(failure) if observer.out_of_time() && failure.fault == Fault::Interrupted => true,
        other => other.map(|()| false)?,
    };
    let found = Recoding::of_cut(data, &search.cut, search.repaired);
    Ok(Recoding { count_tree: search.count_tree, cut_short, ..found })
}
