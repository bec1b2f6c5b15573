//! Values of an attribute as stretches of its leaves: what is published fits all original values under it.

use std::collections::BTreeSet;
use std::ops::Range;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, Numbers, ROOT_LABEL};
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset, Diagnostic, Place};

use super::{Population, Side};

/// The original values of one attribute in a row, those of the data and of the population alike.
enum Row<'a> {
    /// The leaves of a hierarchy. The one over the data's values alone says what was published as it is.
    Leaves { all: &'a Hierarchy, own: &'a Hierarchy },
    /// Texts in order, where nothing can be generalized.
    Texts(Vec<&'a str>),
}

/// The rows of all declared attributes, and each code of both sides in them.
pub(super) struct Scales {
    /// Per declared attribute how many original values there are. A missing one comes behind them.
    pub(super) len: Vec<u32>,
    /// Per attribute of the data, per code, what it fits.
    pub(super) people: Vec<Vec<Range<u32>>>,
    /// Per attribute of the population, per code, what it is.
    pub(super) population: Vec<Vec<u32>>,
}

impl Scales {
    /// Lays both sides out. Values that no hierarchy covers are told all at once, without saying what they are.
    pub(super) fn new(side: &Side<'_>, population: &Population<'_>) -> Result<Self, Vec<Diagnostic>> {
        let rows: Vec<Row<'_>> =
            (0..side.binding.declared.len()).map(|declared| Row::new(declared, side, population)).collect();
        let mut problems = Vec::new();
        let people = (quasi(side.data, side.binding))
            .map(|column| {
                let fits = |(declared, text): (usize, &str)| {
                    if side.published {
                        rows[declared].published(text)
                    } else {
                        rows[declared].original(text).map(|at| at..at + 1)
                    }
                };
                coded(side.data, side.name, column, fits, &mut problems)
            })
            .collect();
        let population = (quasi(population.data, population.binding))
            .map(|column| {
                let is = |(declared, text): (usize, &str)| rows[declared].original(text);
                coded(population.data, population.name, column, is, &mut problems)
            })
            .collect();
        let len = rows.iter().map(Row::len).collect();
        if problems.is_empty() { Ok(Scales { len, people, population }) } else { Err(problems) }
    }
}

/// Attributes with the declared one, if that is quasi.
fn quasi<'a>(
    data: &'a Dataset,
    binding: &'a Binding,
) -> impl Iterator<Item = (AttributeId, Option<usize>)> + 'a {
    let declared =
        |id: AttributeId| binding.attributes[id.index()].filter(|_| binding.role(id) == Some(Role::Quasi));
    data.schema().attributes().map(move |(id, _)| (id, declared(id)))
}

/// What each code of an attribute is.
fn coded<T>(
    data: &Dataset,
    name: &str,
    (id, declared): (AttributeId, Option<usize>),
    find: impl Fn((usize, &str)) -> Option<T>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<T> {
    let Some(declared) = declared else {
        return Vec::new();
    };
    let dictionary = data.dictionary(id);
    let found: Vec<T> = dictionary.iter().filter_map(|(_, text)| find((declared, text))).collect();
    let unknown = dictionary.len() - found.len();
    if unknown > 0 {
        let what = match unknown {
            1 => "a value is not in the hierarchy".to_owned(),
            n => format!("{n} distinct values are not in the hierarchy"),
        };
        let place = Place::source(name).path(data.schema().attribute(id).path.as_str());
        problems.push(
            Diagnostic::error(what)
                .at(place)
                .help("check that data, publication, population and hierarchies belong together"),
        );
    }
    found
}

impl<'a> Row<'a> {
    fn new(declared: usize, side: &Side<'a>, population: &Population<'a>) -> Self {
        let hierarchy = |all: &'a [Option<Hierarchy>]| all.get(declared).and_then(Option::as_ref);
        if let (Some(all), Some(own)) = (hierarchy(population.hierarchies), hierarchy(population.own)) {
            return Row::Leaves { all, own };
        }
        let mut texts = BTreeSet::new();
        for (data, binding) in [(side.data, side.binding), (population.data, population.binding)] {
            for (id, _) in quasi(data, binding).filter(|(_, d)| *d == Some(declared)) {
                texts.extend(data.dictionary(id).iter().map(|(_, text)| text));
            }
        }
        Row::Texts(texts.into_iter().collect())
    }

    fn len(&self) -> u32 {
        match self {
            Row::Leaves { all, .. } => all.leaf_count() as u32,
            Row::Texts(texts) => texts.len() as u32,
        }
    }

    /// Where an original value stands.
    fn original(&self, text: &str) -> Option<u32> {
        match self {
            Row::Leaves { all, .. } => all.leaf(text).map(|leaf| all.leaves(leaf).start),
            Row::Texts(texts) => texts.binary_search(&text).ok().map(|at| at as u32),
        }
    }

    /// What a published value may have been. Whatever is generalized to the root may have been missing.
    fn published(&self, text: &str) -> Option<Range<u32>> {
        if text == ROOT_LABEL {
            return Some(0..self.len() + 1);
        }
        let Row::Leaves { all, own } = self else {
            return self.original(text).map(|at| at..at + 1);
        };
        // A code that has others below it in the population only was still published as itself.
        if own.node(text).is_some_and(|node| own.is_leaf(node)) {
            return self.original(text).map(|at| at..at + 1);
        }
        let between = || {
            let (low, high) = all.numbers()?.positions(Numbers::parse(text)?)?;
            Some(low..high + 1)
        };
        all.node(text).map(|node| all.leaves(node)).or_else(between)
    }
}
