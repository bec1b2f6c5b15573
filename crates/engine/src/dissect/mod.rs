//! Dissection: quasi and sensitive values apart, joined by groups only.
//!
//! Landberg, Nguyen, Pardede, Rahayu: δ-Dependency for privacy-preserving XML data publishing. Journal of Biomedical
//! Informatics 50 (2014). Xiao, Tao: Anatomy: simple and effective privacy preservation. VLDB 2006.
//!
//! Nothing is altered. People are put into groups so that the sensitive values of a group are distinct (`anatomy`) or
//! lie far apart in their hierarchy (`delta`). A set of values is δ-dependent if each lies at least δ edges below their
//! closest common ancestor. A person's values move together, and what is asked holds for every choice of one value per
//! person. Who has no value of an attribute is at infinite distance from everybody; at most one such person may stand
//! in a group.
//!
//! Values are put into **buckets** whose values may not meet: equal ones, or those below one node. Groups take one record
//! from each of the largest buckets (`deal`), or, where people have several values, records with frequent values are
//! spread over the groups (`spread`). What is left over is placed where it keeps the property (`place`), or a few groups are taken
//! apart and grouped anew with it (`repair`), or it is suppressed.
//!
//! For people with one value each, the distance found is the highest there is for groups of N to 2N − 1 people that leave out
//! fewer than N, counted from the shallowest value of all. Where people have several values, or none, it may be less.
//!
//! Cost: O(n log b) for n records in b buckets per try, one try per degree and level of the hierarchy at most.

mod attempt;
mod column;
mod deal;
mod degree;
mod even;
mod params;
mod parts;
mod place;
mod repair;
mod rows;
mod search;
mod spread;
mod values;

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Result};

pub use bosket_model::policy::Algorithm;
pub use column::Sensitive;
pub use degree::{Degrees, degrees};
pub use params::Params;
pub use parts::{deal_key, reached, too_many};
pub use values::sensitive_values;

use attempt::{Tried, group_degrees};
use column::Column;

use crate::asked::foreign;

/// In no group.
pub const SUPPRESSED: u32 = u32::MAX;

/// What a run has found.
#[derive(Debug)]
pub struct Release {
    /// Per record its group, numbered from 0 in no order that means anything, or [`SUPPRESSED`].
    pub group_of: Vec<u32>,
    /// How many groups there are.
    pub groups: usize,
    /// How many records fit into no group.
    pub suppressed: usize,
    /// Per sensitive attribute how far apart the values of the weakest group are; nothing where there is no hierarchy,
    /// or nothing to compare.
    pub degrees: Vec<Degrees>,
    /// Groups in which somebody has more than one in N of an attribute's values: who knows how many values people have
    /// could tell.
    pub telling: usize,
}

/// Groups records by their sensitive values. `ties` (one number per record, from its content) decides between records
/// that are alike in them.
pub fn run(
    records: usize,
    sensitive: &[Sensitive<'_>],
    ties: &[u64],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Release> {
    if params.algorithm == Algorithm::Plain {
        return Ok(plain(records, sensitive.len(), params.group_size));
    }
    let columns = columns(records, sensitive, params)?;
    let Tried { groups, left } = match params.algorithm {
        Algorithm::Anatomy => search::anatomy(records, &columns, ties, params, observer)?,
        Algorithm::Delta => search::delta(records, &columns, ties, params, observer)?,
        other => return Err(foreign(other)),
    };
    if groups.is_empty() {
        let what = "no group can be made: nothing would be left to publish";
        return Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help("ask for smaller groups")));
    }
    let mut group_of = vec![SUPPRESSED; records];
    let mut degrees = vec![Degrees::default(); columns.len()];
    let mut telling = 0;
    for (number, group) in groups.iter().enumerate() {
        observer.go_on()?;
        group.iter().for_each(|&r| group_of[r as usize] = number as u32);
        for (column, weakest) in columns.iter().zip(&mut degrees) {
            *weakest = weakest.and(group_degrees(column, group));
        }
        telling += usize::from(columns.iter().any(|c| tells(c, group, params.group_size)));
    }
    Ok(Release { group_of, groups: groups.len(), suppressed: left.len(), degrees, telling })
}

/// Refuses what a run would give up on before it searches.
pub fn refuse_unfit(
    records: usize,
    sensitive: &[Sensitive<'_>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<()> {
    if params.algorithm == Algorithm::Plain {
        return Ok(());
    }
    search::refuse_unreachable(records, &columns(records, sensitive, params)?, params, observer)
}

/// The sensitive attributes, unless there are too few people, or values whose distance is not known.
fn columns<'a>(records: usize, sensitive: &[Sensitive<'a>], params: &Params) -> Result<Vec<Column<'a>>> {
    if params.group_size > records || records == 0 {
        let what = format!("groups of {} people cannot be made of {records} records", params.group_size);
        return Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help("ask for smaller groups")));
    }
    let needs_nodes = params.algorithm == Algorithm::Delta;
    sensitive.iter().map(|s| Column::new(*s, needs_nodes)).collect()
}

/// Groups of records as they come; all in one if there is no size.
fn plain(records: usize, attributes: usize, size: usize) -> Release {
    let groups = records.checked_div(size).unwrap_or(1).max(1).min(records);
    // The last group takes what is left over.
    let group = |r: usize| r.checked_div(size).map_or(0, |g| g.min(groups - 1));
    Release {
        group_of: (0..records).map(|r| group(r) as u32).collect(),
        groups,
        suppressed: 0,
        degrees: vec![Degrees::default(); attributes],
        telling: 0,
    }
}

fn tells(column: &Column<'_>, group: &[u32], size: usize) -> bool {
    let own = |r: &u32| column.values.codes.of(*r as usize).len();
    let all: usize = group.iter().map(own).sum();
    column.values.many && group.iter().any(|r| own(r) * size > all)
}
