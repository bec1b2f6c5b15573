//! `blocks`: for flat tables. The table is split top-down into blocks (`split`), each block is clustered bottom-up (`gather`),
//! and then rows move between clusters of their block, clusters are parted and dissolved (`refine`), and neighbouring ones are
//! clustered anew (`regroup`), while the loss falls.

mod gather;
mod refine;
mod regroup;
mod split;
mod table;

use rayon::prelude::*;

use bosket_model::Result;
use bosket_model::observe::Observer;

use crate::cluster::Clustering;
use crate::cluster::rep::Rep;
use crate::cluster::search::Search;
use table::{Group, Table};

/// Puts rows into clusters of at least `size`. Records have nothing below them.
pub(crate) fn blocks(search: &mut Search<'_>, size: usize, observer: &dyn Observer) -> Result<Clustering> {
    let forest = search.forest();
    let table = Table::new(forest, size, observer)?;
    let blocks = table.split()?;
    observer.stage("clustering blocks", blocks.len() as u64);
    let groups: Result<Vec<Vec<Group>>> = (blocks.into_par_iter())
        .map(|block| {
            let mut groups = table.gather(&block)?;
            table.refine(&mut groups)?;
            table.regroup(&mut groups)?;
            observer.advance(1);
            Ok(groups)
        })
        .collect();
    let mut found = Clustering::default();
    for group in groups?.into_iter().flatten() {
        let mut rows = group.rows.iter();
        let mut joined = rows.next().map(|&r| Rep::of_record(forest, r));
        for &row in rows {
            observer.go_on()?;
            joined = match joined {
                Some(rep) => search.join(&rep, &Rep::of_record(forest, row))?,
                None => None,
            };
        }
        match joined {
            Some(rep) if group.rows.len() >= size => found.add(forest, group.rows, rep),
            _ => found.left.extend(group.rows),
        }
    }
    found.left.sort_unstable();
    Ok(found)
}
