//! The record that joins a cluster at the least cost.
//!
//! Every record has a lower bound; records are looked at in the order of their bounds, until none of the others can be
//! better. Of equal costs the first record wins, as if all had been compared one after the other.
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
use bosket_model::observe::Observer;
use rayon::prelude::*;

use super::forest::Forest;
use super::interrupted::Interrupted;
use super::profile::{Bounds, Profile};
use super::rep::{FAR, Joiner, Rep};
use super::rows::Rows;
use super::tune::tune;

/// Records whose bounds are worked out anew with better potentials, if at least so many are left.
const REFINE: usize = 12;

/// Records that the better potentials are made for.
const SAMPLE: usize = 12;

/// Records that a search tells of, per record that is asked for.
const REMEMBER: usize = 4;

/// Records that are looked at when the time is over: a cluster has to be filled.
const HURRIED: usize = 256;

/// Records that one thread bounds at a time.
const CHUNK: usize = 4096;

/// Records that can still be taken.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    here: Vec<bool>,
    list: Vec<u32>,
    count: usize,
}

impl Pool {
    pub(super) fn new(records: usize) -> Self {
        Pool { here: vec![true; records], list: (0..records as u32).collect(), count: records }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn has(&self, record: u32) -> bool {
        self.here[record as usize]
    }

    pub(super) fn take(&mut self, record: u32) {
        debug_assert!(self.has(record));
        self.here[record as usize] = false;
        self.count -= 1;
        if self.count * 8 < self.list.len() * 7 {
            let here = &self.here;
            self.list.retain(|&r| here[r as usize]);
        }
    }

    /// Puts a record back that was taken a moment ago.
    pub(super) fn put_back(&mut self, record: u32) {
        debug_assert!(!self.has(record));
        self.here[record as usize] = true;
        self.count += 1;
        if let Err(at) = self.list.binary_search(&record) {
            self.list.insert(at, record);
        }
    }

    /// The bounds of the first of them, in order.
    fn bounds(
        &self,
        of: &Bounds<'_>,
        first: usize,
        bounds: &mut Vec<(i64, u32)>,
        observer: &dyn Observer,
    ) -> Result<()> {
        bounds.clear();
        if first.min(self.list.len()) < 2 * CHUNK {
            bounds.extend(self.iter().take(first).map(|r| (of.of(r), r)));
            return Ok(());
        }
        bounds.resize(self.list.len(), (0, 0));
        let chunks = bounds.par_chunks_mut(CHUNK).zip(self.list.par_chunks(CHUNK));
        chunks.try_for_each(|(bounds, records)| -> Result<()> {
            observer.go_on()?;
            for (bound, &record) in bounds.iter_mut().zip(records) {
                *bound = (if self.here[record as usize] { of.of(record) } else { FAR }, record);
            }
            Ok(())
        })?;
        bounds.retain(|b| b.0 < FAR);
        Ok(())
    }

    /// All of them, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.list.iter().copied().filter(|&r| self.here[r as usize])
    }
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

/// Looks for records.
pub(super) struct Search<'a> {
    pub(super) joiner: Joiner<'a>,
    pub(super) rows: Rows,
    /// Bytes for all that is kept to be found again; rows have half of it.
    pub(super) room: usize,
    /// Look only at so many records.
    neighbours: Option<usize>,
    /// Per record the values that may stand only once in a class.
    listed: Vec<Vec<u32>>,
    bounds: Vec<(i64, u32)>,
    /// Something was left out because the time was over.
    pub(super) cut_short: bool,
}

impl<'a> Search<'a> {
    /// A search that keeps no more than about so many bytes beside the forest.
    pub(super) fn new(joiner: Joiner<'a>, neighbours: Option<usize>, room: usize) -> Result<Self> {
        let listed = listed(joiner.forest, joiner.observer)?;
        let rows = Rows::new(room / 2);
        Ok(Search { joiner, rows, room, neighbours, listed, bounds: Vec::new(), cut_short: false })
    }

    /// Whether the time is over that the search was given; who asks leaves something out then.
    pub(super) fn is_over(&mut self) -> bool {
        self.cut_short |= self.joiner.observer.out_of_time();
        self.cut_short
    }

    pub(super) fn forest(&self) -> &'a Forest {
        self.joiner.forest
    }

    /// Joins two trees; none if their roots clash.
    pub(super) fn join(&mut self, a: &Rep, b: &Rep) -> Result<Option<Rep>> {
        self.joiner.join(a, b).map_err(Interrupted::failure)
    }

    /// The cost of joining two trees; where their roots clash, that of giving both up.
    pub(super) fn cost(&mut self, a: &Rep, b: &Rep) -> Result<i64> {
        self.joiner.cost(a, b).map_err(Interrupted::failure)
    }

    /// A representative, made ready to be compared with many records.
    pub(super) fn profile(&mut self, rep: &Rep) -> Result<Profile> {
        Profile::new(&mut self.joiner, &mut self.rows, rep).map_err(Interrupted::failure)
    }

    /// The cost of joining a record, whose root must not clash; none if it is more than `limit`.
    pub(super) fn profiled_cost(
        &mut self,
        profile: &Profile,
        rep: &Rep,
        record: u32,
        limit: i64,
    ) -> Result<Option<i64>> {
        profile.cost(&mut self.joiner, rep, record, limit).map_err(Interrupted::failure)
    }

    /// The values of a representative that may stand only once in a class.
    pub(super) fn taken(&self, rep: &Rep) -> Vec<u32> {
        fn walk(forest: &Forest, rep: &Rep, taken: &mut Vec<u32>) {
            taken.extend(rep.labels.iter().filter(|&&l| forest.secrets.is_listed(l)));
            rep.kids.iter().for_each(|k| walk(forest, k, taken));
        }
        let mut taken = Vec::new();
        if !self.listed.is_empty() {
            walk(self.forest(), rep, &mut taken);
        }
        taken
    }

    /// Whether a record may join at all.
    pub(super) fn fits(&self, rep: &Rep, taken: &[u32], record: u32) -> bool {
        let forest = self.joiner.forest;
        let secret = forest.secrets.labels(forest.secret[forest.roots[record as usize] as usize]);
        !self.joiner.clash(rep.class, &rep.labels, secret)
            && (taken.is_empty() || !self.listed[record as usize].iter().any(|l| taken.contains(l)))
    }

    /// Whether a record may join a cluster.
    pub(super) fn may_join(&self, rep: &Rep, record: u32) -> bool {
        self.fits(rep, &self.taken(rep), record)
    }

    /// Whether two clusters may become one.
    pub(super) fn fit(&self, a: &Rep, b: &Rep) -> bool {
        let (in_a, in_b) = (self.taken(a), self.taken(b));
        !self.joiner.clash(a.class, &a.labels, &b.labels) && !in_a.iter().any(|l| in_b.contains(l))
    }

    /// Whether there is room to remember `steps` exact searches with `more` others each.
    pub(super) fn can_remember(&self, steps: usize, more: usize) -> bool {
        let each = size_of::<Looked>() + size_of::<(i64, u32)>() * REMEMBER * (more + 1);
        self.neighbours.is_some() || steps.saturating_mul(each) <= self.room / 4
    }

    /// The record of the pool that joins at the least cost, and `more` others that are next to it. When the time is over, one
    /// of the first will do.
    pub(super) fn nearest(&mut self, rep: &Rep, pool: &Pool, more: usize) -> Result<Looked> {
        if self.is_over() && pool.len() > HURRIED {
            let mut looked = self.nearest_of(rep, pool, HURRIED, more)?;
            if !looked.tried.is_empty() {
                // Nothing is known of all the others.
                looked.floor = i64::MIN;
                return Ok(looked);
            }
        }
        self.nearest_of(rep, pool, usize::MAX, more)
    }

    fn nearest_of(&mut self, rep: &Rep, pool: &Pool, first: usize, more: usize) -> Result<Looked> {
        let forest = self.forest();
        let mut profile = self.profile(rep)?;
        let taken = self.taken(rep);
        let mut bounds = std::mem::take(&mut self.bounds);
        pool.bounds(&profile.bounds(forest), first, &mut bounds, self.joiner.observer)?;
        let mut looked = Looked { tried: Vec::new(), floor: FAR };
        if let Some(count) = self.neighbours {
            self.keep_lowest(rep, &taken, &mut bounds, count);
            for &(_, record) in &bounds {
                let limit = looked.tried.first().map_or(FAR, |t| t.0);
                if let Some(cost) = self.profiled_cost(&profile, rep, record, limit)? {
                    insert(&mut looked.tried, (cost, record));
                }
            }
            if let Some(&(limit, _)) = looked.tried.first() {
                let sample: Vec<u32> = bounds.iter().map(|b| b.1).collect();
                profile.learn(&tune(&profile, forest, &sample, limit).0);
            }
            self.bounds = bounds;
            return Ok(looked);
        }
        self.exact(rep, &mut profile, &taken, &mut bounds, more, &mut looked)?;
        self.bounds = bounds;
        Ok(looked)
    }

    /// Keeps the records with the lowest bounds among those that fit, lowest first.
    fn keep_lowest(&self, rep: &Rep, taken: &[u32], bounds: &mut Vec<(i64, u32)>, count: usize) {
        let mut wanted = 2 * count;
        let all = bounds.len();
        loop {
            if wanted < all {
                bounds.select_nth_unstable(wanted);
            }
            let lowest = &bounds[..wanted.min(all)];
            let mut fit: Vec<(i64, u32)> =
                lowest.iter().copied().filter(|&(_, r)| self.fits(rep, taken, r)).collect();
            if fit.len() >= count || wanted >= all {
                fit.sort_unstable();
                fit.truncate(count);
                *bounds = fit;
                return;
            }
            wanted *= 4;
        }
    }

    fn exact(
        &mut self,
        rep: &Rep,
        profile: &mut Profile,
        taken: &[u32],
        bounds: &mut Vec<(i64, u32)>,
        more: usize,
        looked: &mut Looked,
    ) -> Result<()> {
        let forest = self.forest();
        // The records with the lowest bounds give a limit.
        while looked.tried.len() <= more {
            let mut lowest: Option<(i64, u32)> = None;
            for &(bound, record) in bounds.iter() {
                if lowest.is_none_or(|low| (bound, record) < low)
                    && !looked.tried.iter().any(|t| t.1 == record)
                    && self.fits(rep, taken, record)
                {
                    lowest = Some((bound, record));
                }
            }
            let Some((_, record)) = lowest else { break };
            let Some(cost) = self.profiled_cost(profile, rep, record, FAR)? else { break };
            insert(&mut looked.tried, (cost, record));
        }
        if looked.tried.is_empty() {
            return Ok(());
        }
        let most = limit(&looked.tried, more);
        let mut floor = FAR;
        bounds.retain(|&(bound, record)| {
            if bound > most {
                floor = floor.min(bound);
            }
            bound <= most && !looked.tried.iter().any(|t| t.1 == record) && self.fits(rep, taken, record)
        });
        if bounds.len() >= REFINE && !rep.kids.is_empty() {
            let step = bounds.len().div_ceil(SAMPLE);
            let sample: Vec<u32> = bounds.iter().step_by(step).map(|b| b.1).collect();
            let (duals, taken) = tune(profile, forest, &sample, most);
            profile.learn(&duals);
            let set = profile.set_duals(forest, (&duals, &taken), self.joiner.observer);
            set.map_err(Interrupted::failure)?;
            for (bound, record) in bounds.iter_mut() {
                *bound = (*bound).max(profile.bound(forest, *record));
            }
        }
        bounds.sort_unstable();
        for &(bound, record) in bounds.iter() {
            let most = limit(&looked.tried, more);
            if bound > most {
                floor = floor.min(bound);
                break;
            }
            self.joiner.observer.go_on()?;
            match self.profiled_cost(profile, rep, record, most)? {
                Some(cost) => insert(&mut looked.tried, (cost, record)),
                None => floor = floor.min(most + 1),
            }
        }
        looked.floor = floor;
        looked.keep(REMEMBER * (more + 1));
        Ok(())
    }
}

/// What a record has to cost to be of interest: no more than the one that `more` others are better than.
fn limit(tried: &[(i64, u32)], more: usize) -> i64 {
    tried.get(more).map_or(FAR, |t| t.0)
}

fn insert(tried: &mut Vec<(i64, u32)>, one: (i64, u32)) {
    let at = tried.partition_point(|t| *t < one);
    tried.insert(at, one);
}

/// Per record the values that may stand only once in a class; empty if there is no such value.
fn listed(forest: &Forest, observer: &dyn Observer) -> Result<Vec<Vec<u32>>> {
    fn walk(forest: &Forest, vertex: u32, found: &mut Vec<u32>) {
        let labels = forest.secrets.labels(forest.secret[vertex as usize]);
        found.extend(labels.iter().filter(|&&l| forest.secrets.is_listed(l)));
        forest.below(vertex).iter().for_each(|&v| walk(forest, v, found));
    }
    if !forest.secrets.lists_any() {
        return Ok(Vec::new());
    }
    let of = |&root: &u32| {
        observer.go_on()?;
        let mut found = Vec::new();
        walk(forest, root, &mut found);
        Ok(found)
    };
    forest.roots.iter().map(of).collect()
}
