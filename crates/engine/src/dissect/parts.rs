//! Groups made part by part, each part alone.
//!
//! What holds in every group of every part holds for all of them. Whether groups can be made depends on how frequent values are, so records
//! are **dealt** by their sensitive values, like cards: sorted by value, the i-th goes to part i mod P, and a value has the same share
//! in every part but for one record. Where that one is too many, it goes on to the last part, as does whoever fits into no group.
//! `delta` is promised for all groups: all parts keep to the distance that each of them can reach.

use bosket_model::Result;
use bosket_model::dissected::SensitiveValues;
use bosket_model::observe::Observer;

use super::column::{Column, Level, Sensitive};
use super::degree::Degrees;
use super::params::Params;
use super::rows::Rows;
use super::{Release, columns};

/// What records are sorted by before they are dealt: all sensitive values of a record, and what else it says.
pub fn deal_key(values: &[SensitiveValues], record: usize, digest: &[u8; 32]) -> Vec<u8> {
    let mut key = Vec::new();
    for column in values {
        let mut texts: Vec<&str> =
            column.codes.of(record).iter().map(|&code| column.values.text(code)).collect();
        texts.sort_unstable();
        for text in texts {
            key.extend_from_slice(text.as_bytes());
            key.push(0);
        }
        key.push(1);
    }
    key.extend_from_slice(digest);
    key
}

/// The distance that a release keeps in all its groups, as `params` ask for it; none if there are no two values to compare.
pub fn reached(release: &Release, params: &Params) -> Option<u32> {
    let of = |degrees: &Degrees| if params.pairwise { degrees.pairwise } else { degrees.set_wise };
    release.degrees.iter().filter_map(of).min()
}

/// The records of a part that are too many: while a value has a share over one in the size of a group, one record with it. They are
/// told by their numbers in the part.
pub fn too_many(
    records: usize,
    sensitive: &[Sensitive<'_>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    if records < params.group_size.max(1) {
        return Ok((0..records as u32).collect());
    }
    let columns = columns(records, sensitive, params)?;
    let rows = rows(records, &columns, params, observer)?;
    let mut counts = rows.counts.clone();
    let mut of_bucket: Vec<Vec<u32>> = vec![Vec::new(); counts.len()];
    let frequent: Vec<u32> = {
        // Only what is close to its share can come to be over it.
        let close = |&id: &u32| counts[id as usize] as usize * params.group_size * 2 > records;
        (0..counts.len() as u32).filter(close).collect()
    };
    for record in 0..records as u32 {
        let own = rows.of(record).iter().filter(|id| frequent.binary_search(id).is_ok());
        own.for_each(|&id| of_bucket[id as usize].push(record));
    }
    let mut gone = vec![false; records];
    let mut left = records;
    let over = |counts: &[u32], left: usize| {
        frequent.iter().copied().find(|&id| counts[id as usize] as usize * params.group_size > left)
    };
    while let Some(id) = over(&counts, left) {
        observer.go_on()?;
        let Some(record) = of_bucket[id as usize].pop() else { break };
        if !std::mem::replace(&mut gone[record as usize], true) {
            rows.of(record).iter().for_each(|&id| counts[id as usize] -= 1);
            left -= 1;
        }
    }
    Ok((0..records as u32).filter(|&record| gone[record as usize]).collect())
}

fn rows(records: usize, columns: &[Column<'_>], params: &Params, observer: &dyn Observer) -> Result<Rows> {
    Rows::new(records, columns, &vec![Level::Values; columns.len()], params.may_lack, observer)
}
