//! t-closeness and β-likeness: what a class says about sensitive values beyond what the whole publication says.
//!
//! Of every sensitive path the publication has one distribution P, over all its values that are there. At every place of a
//! class there is another, Q, over the values that are there. Whoever has none is in neither: people without a value are no
//! cover for those who have one. A place without any value tells nothing.
//!
//! All of it is counted in whole numbers, and t and β are read to twelve decimals, so that a distance of exactly t is
//! never taken for more. The logarithm in β-likeness is rounded down.

mod space;

use std::collections::BTreeMap;

use serde_json::json;

use bosket_model::hierarchy::Hierarchy;
use bosket_model::policy::{Ground, Model};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::buckets;
use crate::witness::Sensitive;
use space::Space;

/// What is asked of the distributions of sensitive values.
#[derive(Clone, Debug)]
pub struct Close {
    /// How they are compared.
    pub measure: Measure,
    /// Per declared attribute how far two of its values are from each other. May be empty: as far as can be.
    pub grounds: Vec<Ground>,
    /// Per declared attribute the bounds between buckets of a numeric sensitive value. May be empty.
    pub buckets: Vec<Option<Vec<f64>>>,
}

/// How two distributions are compared, and how much they may differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// t-closeness: the earth mover's distance is at most t.
    T(f64),
    /// Enhanced β-likeness: no value's share q exceeds its share p by more than min(β, −ln p) · p.
    Beta(f64),
}

impl Close {
    /// What is asked, as the end of a sentence about records that look alike.
    pub(crate) fn sentence(&self) -> String {
        match self.measure {
            Measure::T(t) => format!(
                "the distribution of sensitive values among those who have one is at most {t} (earth mover's distance) \
                 from that in all records; who has one is not protected"
            ),
            Measure::Beta(beta) => format!(
                "no sensitive value's share p of all that are there is exceeded among those who have one by more than the \
                 smaller of {beta} and -ln p times p; who has one is not protected"
            ),
        }
    }

    /// The JSON form, with the fewest records that look alike.
    pub(crate) fn to_json(&self, k: Option<u32>) -> serde_json::Value {
        let mut claim = match self.measure {
            Measure::T(t) => json!({"model": Model::TCloseness.name(), "t": t}),
            Measure::Beta(beta) => json!({"model": Model::BetaLikeness.name(), "beta": beta}),
        };
        if let Some(k) = k {
            claim["k"] = json!(k);
        }
        claim
    }

    /// How far two values of a declared attribute are from each other.
    pub(crate) fn ground(&self, declared: usize) -> Ground {
        match self.measure {
            Measure::T(_) => self.grounds.get(declared).copied().unwrap_or(Ground::Equal),
            Measure::Beta(_) => Ground::Equal,
        }
    }

    /// The bounds of a declared attribute's buckets.
    pub(crate) fn bounds(&self, declared: usize) -> Option<&[f64]> {
        self.buckets.get(declared)?.as_deref()
    }

    /// Whether the hierarchy of a declared attribute is needed.
    pub fn needs_hierarchy(&self, declared: usize) -> bool {
        self.ground(declared) == Ground::Hierarchical
    }
}

/// t and β are read to so many decimals.
const DECIMALS: f64 = 1e12;
const UNITS: i128 = 1_000_000_000_000;

/// A number of the claim in units of its last decimal.
fn units(number: f64) -> i128 {
    (number * DECIMALS).round() as i128
}

/// A sensitive attribute of a publication: which of its values are the same, and how often each stands in it.
pub(crate) struct Whole<'a> {
    measure: Measure,
    path: &'a str,
    /// Per code the label.
    labels: Vec<u32>,
    texts: Vec<String>,
    /// Per label how often it stands in the publication.
    counts: Vec<i128>,
    all: i128,
    space: Space,
}

/// How often each label stands at a place.
pub(crate) type Counts = BTreeMap<u32, i128>;

impl<'a> Whole<'a> {
    /// The values of an attribute by code; none is counted yet.
    pub(crate) fn new<'t>(
        ask: &Close,
        (declared, path): (usize, &'a str),
        values: impl Iterator<Item = &'t str>,
        hierarchies: &[Option<Hierarchy>],
    ) -> Result<Self> {
        let refuse = |what: Diagnostic| Failure::new(Fault::Data, what.at(Place::default().path(path)));
        let bounds = ask.bounds(declared);
        let mut known: BTreeMap<String, u32> = BTreeMap::new();
        let (mut labels, mut texts, mut unreadable) = (Vec::new(), Vec::new(), 0);
        let mut originals: Vec<&str> = Vec::new();
        for text in values {
            let Some(label) = buckets::label(bounds, text) else {
                unreadable += 1;
                continue;
            };
            let next = texts.len() as u32;
            labels.push(*known.entry(label).or_insert_with_key(|label| {
                texts.push(label.clone());
                originals.push(text);
                next
            }));
        }
        if unreadable > 0 {
            return Err(refuse(buckets::unreadable(unreadable, path)));
        }
        let hierarchy = hierarchies.get(declared).and_then(Option::as_ref);
        let space =
            Space::new(ask.ground(declared), bounds, &originals, hierarchy).map_err(|what| refuse(*what))?;
        let counts = vec![0; texts.len()];
        Ok(Whole { measure: ask.measure, path, labels, texts, counts, all: 0, space })
    }

    /// The label of a code.
    pub(crate) fn label(&self, code: u32) -> u32 {
        self.labels[code as usize]
    }

    /// Counts a value of the publication.
    pub(crate) fn count(&mut self, code: u32) {
        self.counts[self.labels[code as usize] as usize] += 1;
        self.all += 1;
    }

    /// By how much of itself times all values of a place the count of a label may be above what is expected, in units.
    fn room(&self, label: u32, beta: f64) -> i128 {
        let common = self.counts[label as usize];
        // A unit less than it is, whatever the last bit of the logarithm.
        let log = ((self.all as f64 / common as f64).ln() * DECIMALS).floor() as i128 - 1;
        units(beta).min(log.max(0))
    }

    /// What a place says beyond the publication as a whole: how far it is from it, and the value that says most if that is
    /// too far.
    pub(crate) fn judge(&self, own: &Counts) -> (f64, Option<Sensitive>) {
        if own.is_empty() {
            return (0.0, None);
        }
        let filled: i128 = own.values().sum();
        let count = |label: u32| own.get(&label).copied().unwrap_or(0);
        // How much more often a label stands here than expected, times all values of the publication.
        let excess = |label: u32| count(label) * self.all - filled * self.counts[label as usize];
        let text = |label: u32| self.texts[label as usize].as_str();
        match self.measure {
            Measure::T(t) => {
                let (moved, unit) = self.space.moved(&self.counts, own.keys().copied(), &excess);
                let all = filled * self.all * unit;
                let distance = moved as f64 / all as f64;
                let over = match (moved.checked_mul(UNITS), units(t).checked_mul(all)) {
                    (Some(moved), Some(most)) => moved > most,
                    // Numbers that large are compared as well as can be, and refused where that does not tell.
                    _ => distance > t - 1e-9,
                };
                // The most that stands here and would have to be elsewhere; of equal ones the first by its text.
                let most = || {
                    let by =
                        |a: &u32, b: &u32| excess(*a).cmp(&excess(*b)).then_with(|| text(*b).cmp(text(*a)));
                    own.keys().copied().max_by(by).map(|label| self.told(own, label, distance))
                };
                (distance, over.then(most).flatten())
            }
            Measure::Beta(beta) => {
                let gain = |label: u32| {
                    let common = self.counts[label as usize];
                    excess(label) as f64 / (filled * common) as f64
                };
                let over = |label: u32| {
                    excess(label) * UNITS > self.room(label, beta) * filled * self.counts[label as usize]
                };
                let largest = own.keys().map(|&label| gain(label)).fold(0.0, f64::max);
                let worst = own
                    .keys()
                    .copied()
                    .filter(|&label| over(label))
                    .max_by(|&a, &b| gain(a).total_cmp(&gain(b)).then_with(|| text(b).cmp(text(a))));
                (largest, worst.map(|label| self.told(own, label, gain(label))))
            }
        }
    }

    fn told(&self, own: &Counts, label: u32, distance: f64) -> Sensitive {
        let common = self.counts[label as usize] as f64 / self.all as f64;
        let filled = own.values().sum::<i128>();
        let here = own.get(&label).copied().unwrap_or(0);
        Sensitive {
            path: self.path.to_owned(),
            value: self.texts[label as usize].clone(),
            share: here as f64 / filled as f64,
            in_all: Some(common),
            distance: Some(distance),
        }
    }
}
