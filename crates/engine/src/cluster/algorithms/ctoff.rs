//! `ctoff`: clusters one after the other. The next record opens a cluster, the cheapest ones join it.

use bosket_model::Result;
use bosket_model::observe::Observer;

use crate::cluster::Clustering;
use crate::cluster::rep::Rep;
use crate::cluster::search::{Pool, Search};

/// Puts records into clusters of `size`. What fits nowhere is left over.
pub(crate) fn ctoff(search: &mut Search<'_>, size: usize, observer: &dyn Observer) -> Result<Clustering> {
    let records = search.forest().len();
    observer.stage("clustering", records as u64);
    let mut pool = Pool::new(records);
    let mut found = Clustering::default();
    for seed in 0..records as u32 {
        if !pool.has(seed) {
            continue;
        }
        if pool.len() < size {
            break;
        }
        observer.go_on()?;
        pool.take(seed);
        let mut members = vec![seed];
        let mut rep = Rep::of_record(search.forest(), seed);
        while members.len() < size {
            observer.go_on()?;
            let Some(&(_, record)) = search.nearest(&rep, &pool, 0)?.tried.first() else { break };
            let Some(joined) = search.join(&rep, &Rep::of_record(search.forest(), record))? else {
                break;
            };
            rep = joined;
            pool.take(record);
            members.push(record);
        }
        if members.len() == size {
            found.add(search.forest(), members, rep);
            observer.advance(size as u64);
        } else {
            // Nobody fits: the others may fit elsewhere.
            members[1..].iter().for_each(|&r| pool.put_back(r));
            found.left.push(seed);
        }
    }
    found.left.extend(pool.iter());
    found.left.sort_unstable();
    Ok(found)
}
