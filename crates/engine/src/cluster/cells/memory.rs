//! All cells on one machine, with all records in memory.

use rayon::prelude::*;

use bosket_model::Result;
use bosket_model::observe::{Observer, Silenced};

use super::facts::Facts;
use super::listed::{Judged, Pending, judge};
use super::spelling::{ambiguous, united};
use super::tally::Tally;
use super::{CellRelease, MOST_SAMPLED, Round, again, by_content, clustered, given_up, split};
use crate::cluster::cost::{Cost, SCALE};
use crate::cluster::params::Params;
use crate::cluster::publish::Published;
use crate::cluster::{Release, nothing_fits};
use crate::params::Input;

/// Clusters records in so many cells, or fewer where they cannot be split into as many.
pub(in crate::cluster) fn run(
    input: Input<'_>,
    params: &Params,
    known: (&Facts, &dyn Cost),
    wanted: usize,
    observer: &dyn Observer,
) -> Result<Release> {
    observer.stage("cells of like records", 1);
    let order = by_content(input, observer)?;
    let cells = split_up(input, &order, params, known, wanted, observer)?;
    observer.advance(1);
    observer.stage("clustering", input.data.len() as u64);
    let at_once = rayon::current_num_threads().min(cells.len()).max(1);
    let share = Params { memory: params.memory / at_once, ..params.clone() };
    let all = |cells: &[Vec<u32>], round: Round| -> Result<Vec<CellRelease>> {
        let one = |records: &Vec<u32>| {
            let release = cell(input, records, &share, known, round, observer)?;
            observer.advance(release.records.len() as u64);
            Ok(release)
        };
        cells.par_iter().with_max_len(1).map(one).collect()
    };
    let mut place = vec![0u32; input.data.len()];
    (0u32..).zip(&order).for_each(|(at, &record)| place[record as usize] = at);
    drop(order);
    // In the order of what they say, as in every cell.
    let left = |made: &[CellRelease]| {
        let mut left: Vec<u32> = made.iter().flat_map(|cell| cell.left.iter().copied()).collect();
        left.sort_unstable_by_key(|&record| place[record as usize]);
        left
    };
    let mut made = all(&cells, Round::First)?;
    let mut over = left(&made);
    let again = again(over.len() as u64, params, known.0, cells.len());
    if again > 1 {
        let again = split_up(input, &over, params, known, again, observer)?;
        let second = all(&again, Round::Last)?;
        over = left(&second);
        made.extend(second);
    }
    made.push(cell(input, &over, params, known, Round::Last, observer)?);
    finish(input, made, cells.len(), params, known, observer)
}

/// The records of each cell, in the order of what they say.
fn split_up(
    input: Input<'_>,
    records: &[u32],
    params: &Params,
    known: (&Facts, &dyn Cost),
    wanted: usize,
    observer: &dyn Observer,
) -> Result<Vec<Vec<u32>>> {
    let sample = input.data.picked(&records[..records.len().min(MOST_SAMPLED)]);
    let splitter = split::splitter(Input { data: &sample, ..input }, params, known, wanted, observer)?;
    drop(sample);
    let mut counts = vec![0u64; splitter.cells()];
    let of = splitter.assign(input, observer)?;
    records.iter().for_each(|&record| counts[of[record as usize] as usize] += 1);
    let splitter = splitter.joined(&counts, params);
    let of = splitter.assign(input, observer)?;
    let mut cells = vec![Vec::new(); splitter.cells()];
    records.iter().for_each(|&record| cells[of[record as usize] as usize].push(record));
    Ok(cells)
}

/// One cell, with all records told as in the input.
fn cell(
    input: Input<'_>,
    records: &[u32],
    params: &Params,
    known: (&Facts, &dyn Cost),
    round: Round,
    observer: &dyn Observer,
) -> Result<CellRelease> {
    let data = input.data.picked(records);
    let mut release = clustered(Input { data: &data, ..input }, params, known, round, &Silenced(observer))?;
    let own = |record: &mut u32| *record = records[*record as usize];
    release.records.iter_mut().for_each(own);
    release.left.iter_mut().for_each(own);
    release.clusters.iter_mut().flatten().for_each(own);
    release.pending.iter_mut().flat_map(|pending| &mut pending.members).for_each(own);
    Ok(release)
}

/// What all cells have made, the last of those that the others left over.
fn finish(
    input: Input<'_>,
    mut made: Vec<CellRelease>,
    cells: usize,
    params: &Params,
    known: (&Facts, &dyn Cost),
    observer: &dyn Observer,
) -> Result<Release> {
    let mut left = made.last().map(|last| last.left.clone()).unwrap_or_default();
    let pending: Vec<Pending> = made.iter_mut().flat_map(|cell| std::mem::take(&mut cell.pending)).collect();
    let mut parts = Vec::new();
    let (mut records, mut clusters, mut tally) = (Vec::new(), Vec::new(), Tally::default());
    let mut cut_short = false;
    for cell in made {
        records.extend(cell.records);
        clusters.extend(cell.clusters);
        tally = tally.merge(cell.tally);
        cut_short |= cell.cut_short;
        parts.push((cell.data, cell.quasi));
    }
    if !pending.is_empty() {
        let Judged { published, clusters: own, left: fallen } =
            judge(input, pending, params, known, observer)?;
        let Published { data, records: of, quasi, tally: its } = published;
        records.extend(of);
        clusters.extend(own);
        left.extend(fallen);
        tally = tally.merge(its);
        parts.push((data, quasi));
    }
    if clusters.is_empty() {
        return Err(nothing_fits(params));
    }
    left.sort_unstable();
    let gone = input.data.picked(&left);
    let all: Vec<u32> = (0..gone.len() as u32).collect();
    tally = tally.merge(given_up(Input { data: &gone, ..input }, &all, params, known, observer)?);
    tally.texts.extend(ambiguous(input.data, input.binding, input.hierarchies));
    Ok(Release {
        data: united(parts, input.hierarchies, &tally.texts)?,
        records,
        clusters,
        suppressed: left,
        pruned: tally.pruned(),
        lm: tally.lm(params.lost),
        cost: tally.cost as f64 / SCALE as f64,
        cells,
        cut_short,
    })
}
