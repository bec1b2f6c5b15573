//! From the highest distance downwards, until groups are found.

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use super::attempt::{Attempt, Tried, Way};
use super::column::{Column, Level};
use super::params::Params;
use super::rows::Rows;

/// Groups of distinct values.
pub(super) fn anatomy(
    records: usize,
    columns: &[Column<'_>],
    ties: &[u64],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Tried> {
    observer.stage("groups of distinct values", 1);
    let attempt = Attempt {
        levels: vec![Level::Values; columns.len()],
        delta: vec![0; columns.len()],
        pairwise: false,
        way: Way::Swap,
    };
    let rows = Rows::new(records, columns, &attempt.levels, params.may_lack, observer)?;
    refuse_frequent(&rows, columns, &attempt.levels, params)?;
    let tried = attempt.try_groups(&rows, columns, params.group_size, ties, None, observer)?;
    observer.advance(1);
    Ok(tried)
}

/// Groups of values as far apart as possible, or as the parameters ask for.
pub(super) fn delta(
    records: usize,
    columns: &[Column<'_>],
    ties: &[u64],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Tried> {
    let highest = columns.iter().map(|c| c.shallowest).max().unwrap_or(0);
    let (from, to) = match params.delta_target {
        Some(target) => (target, target.max(1)),
        None => (highest, 1),
    };
    observer.stage("groups of values far apart", u64::from(from));
    refuse_unreachable(records, columns, params, observer)?;
    let few = most_left(records, params.group_size);
    let mut tried_rows = None;
    for delta in (to..=from).rev() {
        let mut best: Option<Tried> = None;
        for attempt in attempts(columns, delta, params.pairwise) {
            let rows = Rows::new(records, columns, &attempt.levels, params.may_lack, observer)?;
            if attempt.is_eligible(&rows, columns, params.group_size, few) {
                let tried =
                    attempt.try_groups(&rows, columns, params.group_size, ties, Some(few), observer)?;
                let fewest = best.as_ref().map_or(few + 1, |b| b.left.len());
                if tried.left.len() < fewest {
                    best = Some(tried);
                }
            }
            tried_rows.get_or_insert((rows, attempt.levels));
            if best.as_ref().is_some_and(|b| b.left.is_empty()) {
                break;
            }
        }
        if let Some(best) = best {
            return Ok(best);
        }
        observer.advance(1);
    }
    match (params.delta_target, tried_rows) {
        (Some(target), Some((rows, levels))) if target > 0 => {
            refuse_frequent(&rows, columns, &levels, params)?;
            let what =
                format!("the values of a group cannot all be {target} edges from what they have in common");
            let help = "ask for a smaller `delta_target` or smaller groups, or leave `delta_target` out";
            Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help)))
        }
        _ => anatomy(records, columns, ties, params, observer),
    }
}

/// Refuses values that lie too high or are too frequent for any groups.
pub(super) fn refuse_unreachable(
    records: usize,
    columns: &[Column<'_>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<()> {
    if let Some(target) = params.delta_target {
        refuse_shallow(columns, target)?;
    }
    let distinct = vec![Level::Values; columns.len()];
    refuse_frequent(
        &Rows::new(records, columns, &distinct, params.may_lack, observer)?,
        columns,
        &distinct,
        params,
    )
}

/// A distance is reached if it leaves out fewer than a group, or one in a hundred.
fn most_left(records: usize, size: usize) -> usize {
    size.saturating_sub(1).max(records / 100)
}

/// What can be tried so that a distance is kept, the best first.
///
/// For every pair the buckets are the nodes just below the highest ancestor that two values may share. For a whole group
/// they may be smaller: what counts is that not all its values lie below one such node. First nothing related is put
/// together, down to the depth of the shallowest value; where that leaves too few buckets they are made smaller,
/// and at last the groups larger.
fn attempts(columns: &[Column<'_>], delta: u32, pairwise: bool) -> Vec<Attempt> {
    let own: Vec<u32> = columns.iter().map(|c| delta.min(c.shallowest)).collect();
    let attempt = |deeper: Option<u32>| {
        let level = |(column, &delta): (&Column<'_>, &u32)| match deeper {
            _ if delta == 0 => Level::Values,
            None => Level::Values,
            Some(_) if pairwise => Level::Depth(column.shallowest - delta + 1),
            Some(deeper) => Level::Depth(column.shallowest + deeper),
        };
        Attempt {
            levels: columns.iter().zip(&own).map(level).collect(),
            delta: own.clone(),
            pairwise,
            way: Way::Swap,
        }
    };
    if pairwise {
        return vec![attempt(Some(0))];
    }
    let height = columns.iter().filter_map(|c| Some(c.hierarchy?.height() - c.shallowest)).max().unwrap_or(0);
    let hope = Attempt { way: Way::Hope, ..attempt(Some(0)) };
    let even = Attempt { way: Way::Even, ..attempt(None) };
    let swap = (0..height.max(1)).map(Some).chain([None]).map(attempt);
    std::iter::once(hope).chain(swap).chain([even]).collect()
}

/// A value that lies closer to the root than that cannot be so far below anything.
fn refuse_shallow(columns: &[Column<'_>], target: u32) -> Result<()> {
    let problems: Vec<Diagnostic> = (columns.iter())
        .filter(|c| c.shallowest < target && !c.nodes.is_empty())
        .map(|c| {
            let what = format!(
                "`delta_target` = {target} cannot be reached: a value lies {} edges below the root of its hierarchy",
                c.shallowest
            );
            Diagnostic::error(what)
                .at(Place::default().path(c.path))
                .help("ask for less, or deepen the hierarchy")
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Unreachable, problems)) }
}

/// What more than one in N of the records have cannot be kept apart in groups of N. Said once per attribute, of the most
/// frequent, with the largest groups that would do.
fn refuse_frequent(rows: &Rows, columns: &[Column<'_>], levels: &[Level], params: &Params) -> Result<()> {
    let (size, all) = (params.group_size, rows.len());
    let mut worst: Vec<Option<(u32, u32)>> = vec![None; columns.len()];
    let mut others = vec![0; columns.len()];
    for id in rows.too_frequent(size) {
        let (attribute, _) = rows.bucket(id);
        let count = rows.counts[id as usize];
        match &mut worst[attribute] {
            Some((most, _)) if *most >= count => others[attribute] += 1,
            found => others[attribute] += usize::from(found.replace((count, id)).is_some()),
        }
    }
    let most = worst.iter().flatten().map(|(count, _)| *count).max().unwrap_or(0) as usize;
    let works = match all.checked_div(most) {
        Some(works @ 2..) => format!("the largest `group_size` that works is {works}"),
        _ => "no groups are small enough for it".to_owned(),
    };
    let problem = |(attribute, found): (usize, &Option<(u32, u32)>)| {
        let (count, id) = (*found)?;
        let (column, bucket) = (&columns[attribute], rows.bucket(id).1);
        let named = |bucket| {
            let label = column.label(bucket);
            label.filter(|_| params.show_values).map_or(String::new(), |label| format!(" `{label}`"))
        };
        let (what, offer) = match (bucket, levels[attribute]) {
            (None, _) => ("no value at all".to_owned(), "; with `missing = \"none\"` they fill groups"),
            (Some(b), Level::Values) => (format!("one value{}", named(b)), "; see it with --show-values"),
            (Some(b), Level::Depth(_)) => {
                (format!("values below one node{}", named(b)), "; see it with --show-values")
            }
        };
        let offer = if params.show_values && bucket.is_some() { "" } else { offer };
        let more = match others[attribute] {
            0 => String::new(),
            others => format!(" ({others} more of its values are too frequent)"),
        };
        let what = format!(
            "{count} of {all} records have {what}; groups of {size} allow no more than {}{more}",
            all / size
        );
        let help = format!("{works}; or take records with it out{offer}");
        Some(Diagnostic::error(what).at(Place::default().path(column.path)).help(help))
    };
    let problems: Vec<Diagnostic> = worst.iter().enumerate().filter_map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Unreachable, problems)) }
}
