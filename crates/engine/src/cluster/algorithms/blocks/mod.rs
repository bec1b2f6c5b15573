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

use crate::cluster::rep::Rep;
use crate::cluster::search::Search;
use crate::cluster::{Clustering, cancelled};
use table::{Group, Table};

/// Puts rows into clusters of at least `size`. Records have nothing below them.
pub(crate) fn blocks(search: &mut Search<'_>, size: usize, observer: &dyn Observer) -> Result<Clustering> {
    let forest = search.forest();
    let table = Table::new(forest, size);
    let blocks = table.split();
    observer.stage("clustering blocks", blocks.len() as u64);
    let groups: Vec<Vec<Group>> = (blocks.into_par_iter())
        .map(|block| {
            let mut groups = table.gather(&block);
            table.refine(&mut groups);
            table.regroup(&mut groups);
            observer.advance(1);
            groups
        })
        .collect();
    cancelled(observer)?;
    let mut found = Clustering::default();
    for group in groups.into_iter().flatten() {
        let mut rows = group.rows.iter();
        let first = rows.next().map(|&r| Rep::of_record(forest, r));
        let joined = rows.try_fold(first, |rep, &r| {
            let rep = rep?;
            search.joiner.join(&rep, &Rep::of_record(forest, r)).map(Some)
        });
        match joined.flatten() {
            Some(rep) if group.rows.len() >= size => found.add(forest, group.rows, rep),
            _ => found.left.extend(group.rows),
        }
    }
    found.left.sort_unstable();
    Ok(found)
}
