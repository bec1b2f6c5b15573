//! Journalist risk: how many records of a population fit what somebody may know of a person in the data.
//!
//! Who attacks does not know who is in the data, but has a register of the population that it was drawn from. A published
//! value fits every original value under it, a record of the population fits knowledge if it has such values, related as
//! is known. Values of the population are given the numbers of the published ones that they fit (`cover`), so that the
//! records of both can be dealt out together; whole records are compared by `whole`.

mod cover;
mod fit;
mod forms;
mod scale;
mod whole;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Relations, Role};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use super::figures::{Journalist, Point};
use super::levels::Plan;
use super::{Options, Risk, least};
use cover::Covered;
use scale::Scales;

/// Data that is attacked.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// Its records.
    pub data: &'a Dataset,
    /// Which attribute is which.
    pub binding: &'a Binding,
    /// Whether values may be generalized and parts left out.
    pub published: bool,
}

/// The people whom the data was drawn from, with their original values.
#[derive(Clone, Copy, Debug)]
pub struct Population<'a> {
    /// What messages call it.
    pub name: &'a str,
    /// Their records.
    pub data: &'a Dataset,
    /// Which attribute is which.
    pub binding: &'a Binding,
    /// Per declared attribute its hierarchy over the original values of data and population.
    pub hierarchies: &'a [Option<Hierarchy>],
    /// The same over the values of the private data alone: what a publication was made with.
    pub own: &'a [Option<Hierarchy>],
}

/// Whether journalist risk can be told for a policy; if not, why.
pub fn check_journalist(policy: &Policy) -> Result<()> {
    let model = policy.need_privacy()?.model;
    if !model.is_apart() {
        return Ok(());
    }
    let what =
        format!("journalist risk makes no sense where data is dissected (`model = \"{}\"`)", model.name());
    let what = Diagnostic::error(what).at(Place::source(&policy.name));
    let help = "quasi values are published as they are there, so whoever is found in the population is found in the \
                publication; leave `--population` out";
    Err(Failure::new(Fault::Usage, what.help(help)))
}

/// Adds to the points of a risk what it is if matches are counted in a population.
pub fn journalist(
    risk: &mut Risk,
    side: Side<'_>,
    population: Population<'_>,
    policy: &Policy,
    options: &Options,
    observer: &dyn Observer,
) -> Result<()> {
    check_journalist(policy)?;
    // A companion says nothing that its attribute does not.
    let (own, other) = (side.binding.without_companions(), population.binding.without_companions());
    let (side, population) = (Side { binding: &own, ..side }, Population { binding: &other, ..population });
    let mut problems = missing(&side, &population);
    let scales = match Scales::new(&side, &population) {
        Ok(scales) => Some(scales),
        Err(unknown) => {
            problems.extend(unknown);
            None
        }
    };
    let Some(scales) = scales.filter(|_| problems.is_empty()) else {
        return Err(Failure::all(Fault::Data, problems));
    };
    let privacy = policy.need_privacy()?;
    let k = least(privacy);
    if !privacy.model.counts_values() {
        let found = whole::found(&side, &population, &scales, options, observer)?;
        if let Some(point) = risk.points.iter_mut().find(|p| p.m.is_none()) {
            point.journalist = Some(Journalist::new(found.look, &found.figures, k, population.data.len()));
        }
        return Ok(());
    }
    let mut relations: Vec<usize> = risk.points.iter().filter_map(|p| p.n).map(|n| n as usize).collect();
    relations.sort_unstable();
    relations.dedup();
    let most = relations.last().copied().unwrap_or(0);
    let strict = privacy.relations == Relations::Embedded;
    let covered = Covered { side: &side, population: &population, scales: &scales, privacy };
    let add = |points: &mut [Point], at_one_place: bool| -> Result<()> {
        let records = covered.records((most > 0, at_one_place && most > 1), observer)?;
        let plan = Plan { records: &records, options, relations: &relations, observer };
        let levels = plan.levels()?;
        for (look, figures) in plan.looks(&levels) {
            for point in points.iter_mut().filter(|p| (p.m, p.n) == (look.m, look.n)) {
                point.journalist = Some(Journalist::new(look, figures, k, population.data.len()));
            }
        }
        Ok(())
    };
    add(&mut risk.points, strict)?;
    if let Some(embedded) = &mut risk.embedded {
        if most > 1 {
            add(embedded, true)?;
        } else {
            // One relation holds at one place anyway.
            embedded.iter_mut().zip(&risk.points).for_each(|(to, from)| to.journalist = from.journalist);
        }
    }
    Ok(())
}

/// Quasi attributes that the data has and the population does not: what is known of them could be matched with nothing.
fn missing(side: &Side<'_>, population: &Population<'_>) -> Vec<Diagnostic> {
    let has = |binding: &Binding, declared: usize| binding.attributes.contains(&Some(declared));
    let declared = side.binding.declared.iter().enumerate();
    let quasi = declared.filter(|(at, d)| d.role == Role::Quasi && has(side.binding, *at));
    let lacking = quasi.filter(|(at, _)| !has(population.binding, *at));
    lacking
        .map(|(_, attribute)| {
            Diagnostic::error("the population does not have this quasi attribute")
                .at(Place::source(population.name).path(attribute.path.as_str()))
                .help("a register must have all that attackers may know: add it, or give the attribute another role")
        })
        .collect()
}
