//! Many instances of a target, one after the other or on several threads, until one is not as it must be.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bosket_testkit::dice::Dice;

use crate::corpus::seeds;
use crate::mutate::mutate;
use crate::{Outcome, Target};

/// How many instances of what.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    /// What is tried.
    pub target: &'static Target,
    /// The first instance; the others follow.
    pub seed: u64,
    /// How many at most.
    pub instances: u64,
    /// How long at most; an instance that has begun ends.
    pub time: Option<Duration>,
    /// On how many threads.
    pub threads: usize,
}

/// What came of a campaign.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// How many were tried.
    pub instances: u64,
    /// How many of them were read, published, or found to hold.
    pub held: u64,
    /// How long it took.
    pub time: Duration,
}

/// An instance that is not as it must be.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// Makes it again.
    pub seed: u64,
    /// What the target said.
    pub said: String,
    /// The bytes.
    pub data: Vec<u8>,
}

impl Campaign {
    /// Tries all instances, or stops at the first that is not as it must be.
    pub fn run(&self) -> Result<Tally, Disagreement> {
        let seeds = if self.target.dice { Vec::new() } else { seeds(self.target.name) };
        let begun = Instant::now();
        let (next, held, tried) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let over = AtomicBool::new(false);
        let found: Mutex<Option<Disagreement>> = Mutex::new(None);
        let work = || {
            while !over.load(Ordering::Relaxed) && self.time.is_none_or(|most| begun.elapsed() < most) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= self.instances {
                    break;
                }
                match self.one(self.seed.wrapping_add(at), &seeds) {
                    Ok(outcome) => _ = held.fetch_add(u64::from(outcome == Outcome::Held), Ordering::Relaxed),
                    Err(disagreement) => {
                        over.store(true, Ordering::Relaxed);
                        let mut found = found.lock().unwrap_or_else(|e| e.into_inner());
                        // With several threads the first one counts, so that a second run says the same.
                        if found.as_ref().is_none_or(|other| other.seed > disagreement.seed) {
                            *found = Some(disagreement);
                        }
                    }
                }
                tried.fetch_add(1, Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            (1..self.threads).for_each(|_| _ = scope.spawn(work));
            work();
        });
        match found.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some(disagreement) => Err(disagreement),
            None => {
                Ok(Tally { instances: tried.into_inner(), held: held.into_inner(), time: begun.elapsed() })
            }
        }
    }

    fn one(&self, seed: u64, seeds: &[Vec<u8>]) -> Result<Outcome, Disagreement> {
        let data = match self.target.dice {
            true => seed.to_le_bytes().to_vec(),
            false => mutate(&mut Dice::new(seed), seeds),
        };
        catch_unwind(AssertUnwindSafe(|| (self.target.run)(&data))).map_err(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let said = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Disagreement { seed, said, data }
        })
    }
}
