//! The three questions of the Article 29 Working Party (opinion 05/2014, WP 216), asked of people who are in the publication and
//! of a control group that was held out: singling out, linking two parts of a record, inferring a value.
//!
//! Whatever is true of people in general also hits the control group, and is no fault of the publication. What counts is how
//! much more often the attacks hit people who are in it, as in anonymeter:
//!
//! Giomi, Boenisch, Wehmeyer, Tasnádi: *A Unified Framework for Quantifying Privacy Risk in Synthetic Data*. PETS 2023.

use std::collections::BTreeMap;
use std::ops::Range;

use bosket_model::observe::Observer;
use bosket_model::random::Random;
use bosket_model::{MISSING, Result};

use super::cells::{Behind, is_quasi};
use crate::loss::Side;
use crate::paired::{below_values, leaves_of_label};

/// Most people of each group who are attacked.
const MOST: usize = 500;

/// How many attributes of a person are known to who wants to single them out.
const KNOWN: usize = 3;

/// 95 % of a normal distribution lie so many standard deviations around its mean.
const Z: f64 = 1.959_963_984_540_054;

/// Attacks, and how many of them hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// How many people were attacked.
    pub tries: u64,
    /// How many attacks hit.
    pub hits: u64,
}

impl Rate {
    /// The middle of Wilson's interval, and half its width.
    pub fn wilson(self) -> (f64, f64) {
        let (tries, hits) = (self.tries.max(1) as f64, self.hits as f64);
        let middle = (hits + Z * Z / 2.0) / (tries + Z * Z);
        let spread = (hits * (tries - hits) / tries + Z * Z / 4.0).sqrt();
        (middle, Z / (tries + Z * Z) * spread)
    }
}

/// One attack on both groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// People who are in the publication.
    pub people: Rate,
    /// People who are not.
    pub control: Rate,
}

impl Compared {
    /// The share of what could be gained over the control group that is gained, and the ends of its 95 % interval.
    pub fn risk(&self) -> (f64, f64, f64) {
        let ((people, spread), (control, of_control)) = (self.people.wilson(), self.control.wilson());
        let risk = (people - control) / (1.0 - control);
        let by_control = (people - 1.0) / ((1.0 - control) * (1.0 - control));
        let error = ((spread / (1.0 - control)).powi(2) + (of_control * by_control).powi(2)).sqrt();
        let within = |share: f64| share.clamp(0.0, 1.0);
        (within(risk), within(risk - error), within(risk + error))
    }
}

/// The three questions, and how often the attacks hit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// Whether exactly one published record fits some values of three attributes of a person.
    pub singled_out: Compared,
    /// Whether exactly one published record fits one half of a person's attributes as well as the other.
    pub linked: Compared,
    /// By attribute: whether the commonest value among the published records that fit the others best is one of the person's.
    pub inferred: Vec<(String, Compared)>,
}

/// Per attribute what is known of somebody: the positions of leaves; none where no hierarchy has the value.
type Person = Vec<Vec<Option<u32>>>;

/// Asks the three questions of the publication. Control people are read like the input.
pub fn questions(of: &Behind<'_>, control: Side<'_>, observer: &dyn Observer) -> Result<Questions> {
    let there: Vec<usize> = of.mapping.iter().map(|pair| pair.0 as usize).collect();
    let people = drawn(&there, of.policy.seed, 0);
    let others = drawn(&(0..control.data.len()).collect::<Vec<_>>(), of.policy.seed, 1);
    observer.stage("singling out, linking, inferring", (people.len() + others.len()) as u64);
    let publication = Publication::new(of);
    let mut found = Questions::default();
    let paths = publication.attributes.iter().map(|&own| of.input.binding.declared[own].path.clone());
    found.inferred = paths.map(|path| (path, Compared::default())).collect();
    for (side, chosen, is_control) in [(of.input, people, false), (control, others, true)] {
        let known = persons(of, side, &publication.attributes, &chosen);
        for (at, person) in known.iter().enumerate() {
            observer.go_on()?;
            publication.attack(person, at as u64, of.policy.seed, |question, hit| {
                let compared = match question {
                    0 => &mut found.singled_out,
                    1 => &mut found.linked,
                    own => &mut found.inferred[own - 2].1,
                };
                let rate = if is_control { &mut compared.control } else { &mut compared.people };
                rate.tries += 1;
                rate.hits += u64::from(hit);
            });
            observer.advance(1);
        }
    }
    Ok(found)
}

fn drawn(of: &[usize], seed: u64, stream: u64) -> Vec<usize> {
    let mut chosen = Random::stream(seed, stream).sample(of.len(), MOST.min(of.len()));
    chosen.sort_unstable();
    chosen.into_iter().map(|at| of[at as usize]).collect()
}

/// What some records say of the attributes.
fn persons(of: &Behind<'_>, side: Side<'_>, attributes: &[usize], chosen: &[usize]) -> Vec<Person> {
    let leaves = below_values(side, of.hierarchies, |h, text| h.leaf(text).map(|leaf| h.leaves(leaf)));
    let own = |record: usize| {
        let mut person: Person = vec![Vec::new(); attributes.len()];
        shown(side, record, |declared, attribute, code| {
            if let Some(at) = attributes.iter().position(|&own| own == declared) {
                person[at].push(leaves[attribute][code as usize].as_ref().map(|leaf| leaf.start));
            }
        });
        person
    };
    chosen.iter().map(|&record| own(record)).collect()
}

/// Shows the quasi values of a record: attribute of the policy, attribute of the data, code.
fn shown(side: Side<'_>, record: usize, mut visit: impl FnMut(usize, usize, u32)) {
    for vertex in side.data.vertices(record) {
        for &id in &side.data.schema().class(side.data.class(vertex)).attributes {
            let code = side.data.value(vertex, id);
            if let (Some(declared), true) = (is_quasi(side, id), code != MISSING) {
                visit(declared, id.index(), code);
            }
        }
    }
}

/// What is published, as far as it has hierarchies.
struct Publication {
    /// Their places in the policy.
    attributes: Vec<usize>,
    /// Per attribute how many leaves there are.
    all: Vec<u32>,
    /// Per record and attribute the leaves that its labels cover.
    records: Vec<Vec<Vec<Range<u32>>>>,
}

impl Publication {
    fn new(of: &Behind<'_>) -> Self {
        let side = of.published;
        let shows = |declared: &usize| side.binding.attributes.contains(&Some(*declared));
        let has = |declared: &usize| {
            let own = &side.binding.declared[*declared];
            own.follows.is_none() && of.hierarchies[*declared].is_some() && shows(declared)
        };
        let attributes: Vec<usize> = (0..of.hierarchies.len()).filter(has).collect();
        let all =
            attributes.iter().filter_map(|&own| Some(of.hierarchies[own].as_ref()?.leaf_count() as u32));
        let labels = below_values(side, of.hierarchies, leaves_of_label);
        let record = |record: usize| {
            let mut own: Vec<Vec<Range<u32>>> = vec![Vec::new(); attributes.len()];
            shown(side, record, |declared, attribute, code| {
                let at = attributes.iter().position(|&own| own == declared);
                if let Some((at, leaves)) = at.zip(labels[attribute][code as usize].clone()) {
                    own[at].push(leaves);
                }
            });
            own
        };
        let records = (0..side.data.len()).map(record).collect();
        Publication { all: all.collect(), records, attributes }
    }

    /// Whether what a record shows of an attribute may be what a person has there.
    fn fits(&self, record: &[Vec<Range<u32>>], person: &Person, at: usize) -> bool {
        let covers = |label: &Range<u32>, value: &Option<u32>| match value {
            Some(leaf) => label.contains(leaf),
            // What no hierarchy has lies below the root only.
            None => label.len() as u32 == self.all[at],
        };
        let (labels, values) = (&record[at], &person[at]);
        values.iter().all(|value| labels.iter().any(|label| covers(label, value)))
            && labels.iter().all(|label| values.iter().any(|value| covers(label, value)))
    }

    /// Whether exactly one record fits all that is known.
    fn one_fits(&self, person: &Person, known: &[usize]) -> bool {
        let all = |record: &&Vec<Vec<Range<u32>>>| known.iter().all(|&at| self.fits(record, person, at));
        self.records.iter().filter(all).take(2).count() == 1
    }

    /// Attacks a person in every way, and tells of each whether it hit.
    fn attack(&self, person: &Person, number: u64, seed: u64, mut tell: impl FnMut(usize, bool)) {
        let all: Vec<usize> = (0..self.attributes.len()).collect();
        let mut random = Random::stream(seed, number);
        let known: Vec<usize> =
            random.sample(all.len(), KNOWN.min(all.len())).into_iter().map(|at| at as usize).collect();
        tell(0, self.one_fits(person, &known));
        // Whoever has both halves at one record knows all of it.
        tell(1, all.len() > 1 && self.one_fits(person, &all));
        let fitting: Vec<Vec<bool>> = (self.records.iter())
            .map(|record| all.iter().map(|&at| self.fits(record, person, at)).collect())
            .collect();
        for &secret in &all {
            tell(2 + secret, self.infers(person, secret, &fitting));
        }
    }

    /// Whether the commonest value among the records that fit best otherwise is one of the person's.
    fn infers(&self, person: &Person, secret: usize, fitting: &[Vec<bool>]) -> bool {
        let score =
            |fits: &Vec<bool>| fits.iter().enumerate().filter(|(at, fits)| *at != secret && **fits).count();
        let best = fitting.iter().map(score).max().unwrap_or(0);
        let mut values: BTreeMap<u32, usize> = BTreeMap::new();
        for (record, fits) in self.records.iter().zip(fitting) {
            if score(fits) == best {
                let told = record[secret].iter().filter(|label| label.len() == 1);
                told.for_each(|label| *values.entry(label.start).or_default() += 1);
            }
        }
        // Of equally common values the first.
        let guess = values.into_iter().rev().max_by_key(|(_, count)| *count);
        guess.is_some_and(|(leaf, _)| person[secret].contains(&Some(leaf)))
    }
}
