//! The cheapest of many records, of which only lower bounds are known at first.
//!
//! Records are looked at in the order of their bounds, until none of the others can be better. Of equal costs the first
//! record wins, as if all had been compared one after the other.
//!
//! Five records, whose costs are not known at first:
//!
//! ```text
//! record    0   1   2   3   4
//! bound     3   6   1   2   4
//! (cost)    5   7   4   3   6
//!
//! 2 has the lowest bound. It costs 4            tried: 4 (2)           records with bounds above 4 are out: 1, so floor 6
//! 3 is next, its bound is 2. It costs 3         tried: 3 (3), 4 (2)    from now on 3 is to be beaten
//! 0 has bound 3. It costs more than that        floor 4                by how much is not worked out
//! 4 has bound 4, more than 3: nobody behind it can be better           floor 4
//! ```
//!
//! 3 joins at 3; 1 and 4 were never compared. When another cluster has taken 3 meanwhile, 2 is the cheapest that is known, but
//! at 4 it is not below the floor: 0 and 4 might cost as little, so the search has to be made again.

use bosket_model::Result;

use super::rep::FAR;
use super::search::Pool;

/// Records that a search tells of, per record that is asked for.
pub(super) const REMEMBER: usize = 4;

/// Records to choose from.
pub(super) trait Candidates {
    /// Whether a record may be chosen at all.
    fn fits(&self, record: u32) -> bool;
    /// What a record costs; none if it is more than `limit`.
    fn cost(&mut self, record: u32, limit: i64) -> Result<Option<i64>>;
    /// Raises the bounds of records that are of interest up to `limit`, as far as that is worth it.
    fn raise(&mut self, open: &mut [(i64, u32)], limit: i64) -> Result<()>;
}

/// What a search has found out.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    /// Costs and records, cheapest first.
    pub(super) tried: Vec<(i64, u32)>,
    /// No other record costs less than this.
    pub(super) floor: i64,
}

impl Looked {
    /// The cheapest of all records that are still there, if that is certain.
    pub(super) fn best(&self, pool: &Pool) -> Option<(i64, u32)> {
        let first = self.tried.iter().copied().find(|&(_, r)| pool.has(r))?;
        (first.0 < self.floor).then_some(first)
    }

    /// Forgets all but the first few; what is forgotten is as unknown as what was never looked at.
    fn keep(&mut self, count: usize) {
        if let Some(&(cost, _)) = self.tried.get(count) {
            self.floor = self.floor.min(cost);
            self.tried.truncate(count);
            self.tried.shrink_to_fit();
        }
    }
}

/// The cheapest record, and `more` others that are next to it.
pub(super) fn cheapest(
    of: &mut impl Candidates,
    bounds: &mut Vec<(i64, u32)>,
    more: usize,
) -> Result<Looked> {
    let mut looked = Looked { tried: Vec::new(), floor: FAR };
    // The records with the lowest bounds give a limit.
    while looked.tried.len() <= more {
        let mut lowest: Option<(i64, u32)> = None;
        for &(bound, record) in bounds.iter() {
            if lowest.is_none_or(|low| (bound, record) < low)
                && !looked.tried.iter().any(|t| t.1 == record)
                && of.fits(record)
            {
                lowest = Some((bound, record));
            }
        }
        let Some((_, record)) = lowest else { break };
        let Some(cost) = of.cost(record, FAR)? else { break };
        insert(&mut looked.tried, (cost, record));
    }
    if looked.tried.is_empty() {
        return Ok(looked);
    }
    let most = limit(&looked.tried, more);
    bounds.retain(|&(bound, record)| {
        if bound > most {
            looked.floor = looked.floor.min(bound);
        }
        bound <= most && !looked.tried.iter().any(|t| t.1 == record) && of.fits(record)
    });
    of.raise(bounds, most)?;
    bounds.sort_unstable();
    for &(bound, record) in bounds.iter() {
        let most = limit(&looked.tried, more);
        if bound > most {
            looked.floor = looked.floor.min(bound);
            break;
        }
        match of.cost(record, most)? {
            Some(cost) => insert(&mut looked.tried, (cost, record)),
            None => looked.floor = looked.floor.min(most + 1),
        }
    }
    looked.keep(REMEMBER * (more + 1));
    Ok(looked)
}

/// What a record has to cost to be of interest: no more than the one that `more` others are better than.
fn limit(tried: &[(i64, u32)], more: usize) -> i64 {
    tried.get(more).map_or(FAR, |t| t.0)
}

fn insert(tried: &mut Vec<(i64, u32)>, one: (i64, u32)) {
    let at = tried.partition_point(|t| *t < one);
    tried.insert(at, one);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records whose costs are known, and which were asked for theirs.
    struct Known {
        costs: Vec<i64>,
        asked: Vec<u32>,
    }

    impl Candidates for Known {
        fn fits(&self, _: u32) -> bool {
            true
        }
        fn cost(&mut self, record: u32, limit: i64) -> Result<Option<i64>> {
            self.asked.push(record);
            Ok(Some(self.costs[record as usize]).filter(|&cost| cost <= limit))
        }
        fn raise(&mut self, _: &mut [(i64, u32)], _: i64) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_example_of_the_head() {
        let mut records = Known { costs: vec![5, 7, 4, 3, 6], asked: Vec::new() };
        let mut bounds = vec![(3, 0), (6, 1), (1, 2), (2, 3), (4, 4)];
        let looked = cheapest(&mut records, &mut bounds, 0).expect("nobody interrupts");
        assert_eq!((looked.tried.as_slice(), looked.floor), (&[(3, 3), (4, 2)][..], 4));
        assert_eq!(records.asked, [2, 3, 0], "1 and 4 were never compared");
        let mut pool = Pool::new(5);
        assert_eq!(looked.best(&pool), Some((3, 3)));
        pool.take(3);
        assert_eq!(looked.best(&pool), None, "0 and 4 might cost as little as 2");
    }

    #[test]
    fn of_equal_costs_the_first_record_wins() {
        for more in 0..4 {
            let mut records = Known { costs: vec![4, 3, 3, 3, 5], asked: Vec::new() };
            let mut bounds = vec![(4, 0), (3, 1), (0, 2), (1, 3), (5, 4)];
            let looked = cheapest(&mut records, &mut bounds, more).expect("nobody interrupts");
            let sure: Vec<u32> = looked.tried.iter().take(more + 1).map(|t| t.1).collect();
            assert_eq!(sure, [1, 2, 3, 0][..=more]);
        }
    }
}
