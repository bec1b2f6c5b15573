//! Attackers who know everything quasi about a person, against a population.
//!
//! Of private data, records of the population fit that look alike. Of a publication, all that the published record may have
//! been made of.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::random::Random;

use super::fit::{Register, Seen};
use super::forms::{Alike, Forms, Shape, Trees, grouped};
use super::scale::Scales;
use super::{Population, Side};
use crate::attack::Options;
use crate::attack::figures::{Figure, Look};
use crate::attack::levels::FEW_PEOPLE;

/// What was found, and how it was looked for.
pub(super) struct WholeMatches {
    pub(super) look: Look,
    pub(super) figures: Vec<Figure>,
}

pub(super) fn found(
    side: &Side<'_>,
    population: &Population<'_>,
    scales: &Scales,
    options: &Options,
    observer: &dyn Observer,
) -> Result<WholeMatches> {
    observer.stage("records of the population", 1);
    let shape = Shape::new(side, population);
    let people = Trees::of_people(side, scales, &shape, observer)?;
    let others = Trees::of_population(population, scales, &shape, observer)?;
    let mut forms = Forms::default();
    let other_forms = forms.of(&others, observer)?;
    let (groups, _) = grouped(&other_forms);
    let own_forms = forms.of(&people, observer)?;
    let look = Look { m: None, n: None, exhaustive: true, exact: true };
    if !side.published {
        let count: FxHashMap<u32, u32> =
            groups.iter().map(|group| (other_forms[group.record as usize], group.records)).collect();
        let matches = own_forms.iter().map(|form| count.get(form).copied().unwrap_or(0));
        return Ok(WholeMatches { look, figures: matches.map(Figure::one).collect() });
    }
    drop(forms);
    let (classes, class_of) = grouped(&own_forms);
    let register = Register::new(&others, &groups, &shape, scales, observer)?;
    let asked = asked(&register, &people, &classes, &class_of, options);
    let mut wanted = vec![false; classes.len()];
    asked.iter().for_each(|&person| wanted[class_of[person as usize] as usize] = true);
    observer.stage("published records in the population", wanted.iter().filter(|w| **w).count() as u64);
    let matches: Result<Vec<u32>> = (classes.par_iter().zip(&wanted).enumerate())
        .map_init(Seen::new, |seen, (at, (class, &wanted))| {
            if !wanted {
                return Ok(0);
            }
            let found = register.matches(&people, class.record as usize, at as u32 + 1, seen)?;
            observer.advance(1);
            Ok(found)
        })
        .collect();
    let matches = matches?;
    let figures = asked.iter().map(|&person| Figure::one(matches[class_of[person as usize] as usize]));
    Ok(WholeMatches {
        look: Look { exhaustive: asked.len() == people.len(), ..look },
        figures: figures.collect(),
    })
}

/// Whose records are looked for: everybody's if the budget allows, else those of a sample.
fn asked(
    register: &Register<'_>,
    people: &Trees,
    classes: &[Alike],
    class_of: &[u32],
    options: &Options,
) -> Vec<u32> {
    let budget = u128::from(options.budget);
    let work: Vec<u128> = classes.iter().map(|class| register.work(people, class.record as usize)).collect();
    let everybody = people.len();
    let mut size = options.sample;
    if size.is_none() && work.iter().sum::<u128>() > budget {
        let mean =
            class_of.iter().map(|&class| work[class as usize]).sum::<u128>() / everybody.max(1) as u128;
        size = Some((budget / mean.max(1)).clamp(FEW_PEOPLE, everybody.max(1) as u128) as usize);
    }
    match size {
        None => (0..everybody as u32).collect(),
        Some(size) => Random::stream(options.seed, 0).sample(everybody, size.min(everybody)),
    }
}
