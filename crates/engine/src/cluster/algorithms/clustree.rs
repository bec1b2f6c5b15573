//! `clustree`: `ctoff` in passes. A cluster that costs much more than the accepted ones is dissolved and its records are
//! tried again, with a limit that rises from pass to pass.
//!
//! Records only ever leave the pool, so what was found from a seed in an earlier pass is still right as long as its
//! members are there; searches are remembered with a few runners-up.

use bosket_model::Result;
use bosket_model::observe::Observer;

use crate::cluster::Clustering;
use crate::cluster::cheapest::Looked;
use crate::cluster::rep::Rep;
use crate::cluster::search::{Pool, Search};

/// Runners-up that a search remembers.
const RUNNERS_UP: usize = 3;

/// Records for whose seeds searches are remembered; more would take too much memory.
const MOST_REMEMBERED: usize = 200_000;

/// What is known of a seed's cluster.
#[derive(Clone, Debug, Default)]
struct Remembered {
    members: Vec<u32>,
    looked: Vec<Looked>,
    /// The cost of the whole cluster.
    cost: Option<i64>,
}

/// Costs of accepted clusters.
#[derive(Debug, Default)]
struct Accepted {
    count: i128,
    sum: i128,
    squares: i128,
}

impl Accepted {
    fn add(&mut self, cost: i64) {
        self.count += 1;
        self.sum += i128::from(cost);
        self.squares += i128::from(cost) * i128::from(cost);
    }

    /// Whether a cost is more than `chi` standard deviations above the mean.
    fn too_much(&self, cost: i64, chi: f64) -> bool {
        if self.count < 2 || chi.is_infinite() {
            return false;
        }
        let n = self.count as f64;
        let variance = (self.count * self.squares - self.sum * self.sum) as f64 / (n * n);
        cost as f64 > self.sum as f64 / n + chi * variance.sqrt()
    }
}

/// Puts records into clusters of `size`. What fits nowhere is left over.
pub(crate) fn clustree(
    search: &mut Search<'_>,
    size: usize,
    (s, m): (f64, f64),
    observer: &dyn Observer,
) -> Result<Clustering> {
    let records = search.forest().len();
    observer.stage("clustering", records as u64);
    let mut pool = Pool::new(records);
    let mut found = Clustering::default();
    let mut accepted = Accepted::default();
    let remember = records <= MOST_REMEMBERED && search.can_remember(records * size, RUNNERS_UP);
    let mut remembered = vec![Remembered::default(); if remember { records } else { 0 }];
    let mut pass = 0;
    loop {
        let chi = f64::from(pass) * s;
        let chi = if chi >= m || search.is_over() { f64::INFINITY } else { chi };
        for seed in 0..records as u32 {
            if !pool.has(seed) {
                continue;
            }
            // The last pass takes what is left.
            if pool.len() < size || (chi.is_finite() && search.is_over()) {
                break;
            }
            observer.go_on()?;
            pool.take(seed);
            let mut known = match remembered.get_mut(seed as usize) {
                Some(known) => std::mem::take(known),
                None => Remembered::default(),
            };
            let rep = grow(search, &mut pool, seed, size, &mut known)?;
            let cost = known.cost;
            let good = cost.is_some_and(|cost| !accepted.too_much(cost, chi));
            if good {
                let cost = cost.unwrap_or_default();
                accepted.add(cost);
                let rep = match rep {
                    Some(rep) => rep,
                    None => rebuild(search, seed, &known.members)?,
                };
                let members = [&[seed], known.members.as_slice()].concat();
                observer.advance(size as u64);
                found.add(search.forest(), members, rep);
                continue;
            }
            known.members.iter().for_each(|&r| pool.put_back(r));
            if cost.is_none() && chi.is_infinite() {
                // Nobody fits, nor ever will.
                found.left.push(seed);
            } else {
                pool.put_back(seed);
            }
            if let Some(slot) = remembered.get_mut(seed as usize) {
                *slot = known;
            }
        }
        if pool.len() < size || chi.is_infinite() {
            break;
        }
        pass += 1;
    }
    found.left.extend(pool.iter());
    found.left.sort_unstable();
    Ok(found)
}

/// Grows the cluster of a seed, as far as what is known of it does not hold any more. The members are taken; their
/// representative is given if it had to be made.
fn grow(
    search: &mut Search<'_>,
    pool: &mut Pool,
    seed: u32,
    size: usize,
    known: &mut Remembered,
) -> Result<Option<Rep>> {
    let mut members: Vec<u32> = Vec::with_capacity(size);
    let mut rep: Option<Rep> = None;
    while members.len() + 1 < size {
        let step = members.len();
        let best = known.looked.get(step).and_then(|looked| looked.best(pool));
        let (best, again) = match best {
            Some((_, record)) => (Some(record), known.members.get(step) != Some(&record)),
            None => {
                search.joiner.observer.go_on()?;
                let current = match rep.take() {
                    Some(current) => current,
                    None => rebuild(search, seed, &members)?,
                };
                let looked = search.nearest(&current, pool, RUNNERS_UP)?;
                rep = Some(current);
                let best = looked.tried.first().map(|t| t.1);
                match known.looked.get_mut(step) {
                    Some(before) => *before = looked,
                    None => known.looked.push(looked),
                }
                (best, known.members.get(step).copied() != best)
            }
        };
        if again {
            // Later searches were made for other members.
            known.looked.truncate(step + 1);
            known.members.truncate(step);
            known.members.extend(best);
            known.cost = None;
        }
        let Some(record) = best else {
            break;
        };
        pool.take(record);
        members.push(record);
        if let Some(current) = rep.take() {
            rep = search.join(&current, &Rep::of_record(search.forest(), record))?;
        }
    }
    known.members = members;
    if known.members.len() + 1 < size {
        known.cost = None;
        return Ok(None);
    }
    if known.cost.is_none() {
        let whole = match rep.take() {
            Some(whole) => whole,
            None => rebuild(search, seed, &known.members)?,
        };
        let prune = &search.forest().prune;
        let had = prune[seed as usize] + known.members.iter().map(|&r| prune[r as usize]).sum::<i64>();
        known.cost = Some(whole.cost(had));
        rep = Some(whole);
    }
    Ok(rep)
}

/// The representative of a seed and those who joined it.
fn rebuild(search: &mut Search<'_>, seed: u32, members: &[u32]) -> Result<Rep> {
    let forest = search.forest();
    let mut rep = Rep::of_record(forest, seed);
    for &record in members {
        search.joiner.observer.go_on()?;
        let joined = search.join(&rep, &Rep::of_record(forest, record))?;
        rep = joined.expect("these have been joined before");
    }
    Ok(rep)
}
