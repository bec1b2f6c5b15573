//! The record that joins a cluster at the least cost: all that are left are bounded, `cheapest` chooses.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rayon::prelude::*;

use super::cheapest::{Candidates, Looked, REMEMBER, cheapest};
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

/// Looks for records.
pub(super) struct Search<'a> {
    pub(super) joiner: Joiner<'a>,
    pub(super) rows: Rows,
    /// Bytes for all that is kept to be found again; rows have half of it.
    pub(super) room: usize,
    /// Per record the values that may stand only once in a class.
    listed: Vec<Vec<u32>>,
    bounds: Vec<(i64, u32)>,
    /// Something was left out because the time was over.
    pub(super) cut_short: bool,
}

impl<'a> Search<'a> {
    /// A search that keeps no more than about so many bytes beside the forest.
    pub(super) fn new(joiner: Joiner<'a>, room: usize) -> Result<Self> {
        let listed = listed(joiner.forest, joiner.observer)?;
        let rows = Rows::new(room / 2);
        Ok(Search { joiner, rows, room, listed, bounds: Vec::new(), cut_short: false })
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
        steps.saturating_mul(each) <= self.room / 4
    }

    /// The record of the pool that joins at the least cost, and `more` others that are next to it. When the time is over, one
    /// of the first will do.
    pub(super) fn nearest(&mut self, rep: &Rep, pool: &Pool, more: usize) -> Result<Looked> {
        if pool.len() > HURRIED && self.is_over() {
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
        let mut near = Near { search: self, rep, profile: &mut profile, taken: &taken };
        let looked = cheapest(&mut near, &mut bounds, more)?;
        self.bounds = bounds;
        Ok(looked)
    }
}

/// Records that may join a cluster.
struct Near<'n, 'a> {
    search: &'n mut Search<'a>,
    rep: &'n Rep,
    profile: &'n mut Profile,
    /// Values that none of them may have.
    taken: &'n [u32],
}

impl Candidates for Near<'_, '_> {
    fn fits(&self, record: u32) -> bool {
        self.search.fits(self.rep, self.taken, record)
    }

    fn cost(&mut self, record: u32, limit: i64) -> Result<Option<i64>> {
        self.search.joiner.observer.go_on()?;
        self.search.profiled_cost(self.profile, self.rep, record, limit)
    }

    fn raise(&mut self, open: &mut [(i64, u32)], limit: i64) -> Result<()> {
        if open.len() < REFINE || self.rep.kids.is_empty() {
            return Ok(());
        }
        let (forest, observer) = (self.search.forest(), self.search.joiner.observer);
        let step = open.len().div_ceil(SAMPLE);
        let sample: Vec<u32> = open.iter().step_by(step).map(|b| b.1).collect();
        let (duals, taken) = tune(self.profile, forest, &sample, limit);
        self.profile.learn(&duals);
        self.profile.set_duals(forest, (&duals, &taken), observer).map_err(Interrupted::failure)?;
        for (bound, record) in open {
            *bound = (*bound).max(self.profile.bound(forest, *record));
        }
        Ok(())
    }
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
