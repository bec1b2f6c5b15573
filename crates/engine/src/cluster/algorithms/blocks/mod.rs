//! `blocks`: for flat tables. The table is split top-down into blocks (`split`), each block is clustered bottom-up (`gather`),
//! and then rows move between clusters of their block, clusters are parted and dissolved (`refine`), and neighbouring ones are
//! clustered anew (`regroup`), while the loss falls. Where diversity is asked for, groups are merged until they are diverse and
//! stay so (`guarded`); rows that stand in the way are placed elsewhere, or left over.

mod gather;
mod guarded;
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
pub(crate) use guarded::Guard;
use table::{Group, Table};

/// Puts rows into clusters of at least `size`, diverse as asked. Records have nothing below them.
pub(crate) fn blocks(
    search: &mut Search<'_>,
    size: usize,
    guard: Option<Guard<'_>>,
    observer: &dyn Observer,
) -> Result<Clustering> {
    let forest = search.forest();
    let table = Table::new(forest, size, guard, observer)?;
    let prune = forest.classes[0].own;
    let blocks = table.split()?;
    observer.stage("clustering blocks", blocks.len() as u64);
    let blocks: Result<Vec<(Vec<Group>, Vec<u32>)>> = (blocks.into_par_iter())
        .map(|block| {
            let (mut groups, loose) = table.first(&block, prune)?;
            table.refine(&mut groups)?;
            table.regroup(&mut groups)?;
            observer.advance(1);
            Ok((groups, loose))
        })
        .collect();
    let (groups, loose): (Vec<Vec<Group>>, Vec<Vec<u32>>) = blocks?.into_iter().unzip();
    let mut groups: Vec<Group> = groups.into_iter().flatten().collect();
    let mut found =
        Clustering { left: table.place(&mut groups, &loose.concat(), prune)?, ..Clustering::default() };
    for group in groups {
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
