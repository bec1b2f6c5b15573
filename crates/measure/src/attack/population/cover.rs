//! The records of a population by the values that are known of people.

use rustc_hash::FxHashMap;

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::policy::Privacy;
use bosket_model::value_tree::{Item, ValueTrees};

use super::scale::Scales;
use super::{Population, Side};
use crate::attack::raw::{Node, Raw, counts_matter, is_hidden, occurrences, read_trees};
use crate::attack::records::Records;

/// People and population over the same scales.
pub(super) struct Covered<'a> {
    pub(super) side: &'a Side<'a>,
    pub(super) population: &'a Population<'a>,
    pub(super) scales: &'a Scales,
    pub(super) privacy: &'a Privacy,
}

impl Covered<'_> {
    /// The records of the people, and behind them those of the population as far as they fit anything that is known. `known`
    /// says whether relations are, and whether at one place.
    pub(super) fn records(&self, known: (bool, bool), observer: &dyn Observer) -> Result<Records> {
        let Population { data, binding, .. } = *self.population;
        let people = Raw::read(self.side.data, self.side.binding, self.privacy, observer)?;
        let trees = read_trees(data, binding, self.privacy, observer)?;
        let fits = self.fits(people.trees.items(), trees.items());
        let behind = if counts_matter(self.privacy) {
            self.counted(&people, &trees, &fits, observer)?
        } else {
            let node = |n: usize| {
                let span = (n as u32, trees.end(n) as u32);
                fits[trees.item(n) as usize].iter().map(move |&value| (value, span.0, span.1))
            };
            let of = |record: usize| {
                observer.go_on()?;
                Ok(trees.nodes(record).flat_map(node).collect())
            };
            (0..trees.len()).map(of).collect::<Result<Vec<Vec<Node>>>>()?
        };
        Records::with_population(people, &trees, behind, known, observer)
    }

    /// Per item of the population which items of the people it fits.
    fn fits(&self, people: &[Item], population: &[Item]) -> Vec<Vec<u32>> {
        let side = self.side;
        // Per declared attribute and original value the items that are published for it.
        let mut over: Vec<Vec<Vec<u32>>> = self.scales.len.iter().map(|_| Vec::new()).collect();
        let mut own = FxHashMap::default();
        for (id, _) in side.data.schema().attributes() {
            let Some(declared) = side.binding.attributes[id.index()] else { continue };
            let codes = side.data.dictionary(id).iter().zip(&self.scales.people[id.index()]);
            codes.for_each(|((kind, text), fits)| {
                own.insert((declared, text, kind), fits);
            });
        }
        for (item, number) in people.iter().zip(0..) {
            let Some(fits) = own.get(&(item.declared, item.label.as_str(), item.kind)) else { continue };
            if is_hidden(self.privacy, &item.label) {
                continue;
            }
            let over = &mut over[item.declared];
            over.resize(self.scales.len[item.declared] as usize + 1, Vec::new());
            over[fits.start as usize..fits.end as usize].iter_mut().for_each(|at| at.push(number));
        }
        let mut at = FxHashMap::default();
        let Population { data, binding, .. } = *self.population;
        for (id, _) in data.schema().attributes() {
            let Some(declared) = binding.attributes[id.index()] else { continue };
            let codes = data.dictionary(id).iter().zip(&self.scales.population[id.index()]);
            codes.for_each(|((kind, text), &position)| {
                at.insert((declared, text, kind), position);
            });
        }
        let of = |item: &Item| {
            let at = at.get(&(item.declared, item.label.as_str(), item.kind));
            let at = at.filter(|_| !is_hidden(self.privacy, &item.label));
            at.and_then(|&at| over[item.declared].get(at as usize)).cloned().unwrap_or_default()
        };
        population.iter().map(of).collect()
    }

    /// The records of the population where it is known how often a record has what a value stands for.
    fn counted(
        &self,
        people: &Raw,
        trees: &ValueTrees,
        fits: &[Vec<u32>],
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<Node>>> {
        let numbers: FxHashMap<(u32, Option<u32>), u32> = people
            .values
            .iter()
            .zip(0..)
            .map(|(value, number)| ((value.item, value.count), number))
            .collect();
        let Population { data, binding, .. } = *self.population;
        let of = |own: Vec<u32>| -> Result<Vec<Node>> {
            observer.go_on()?;
            let mut known: Vec<u32> = own.iter().flat_map(|&item| &fits[item as usize]).copied().collect();
            known.sort_unstable();
            let times = known.chunk_by(|a, b| a == b).map(|run| (run[0], Some(run.len() as u32)));
            Ok(times.filter_map(|pair| numbers.get(&pair)).map(|&number| (number, 0, 0)).collect())
        };
        occurrences(data, binding, trees.items(), observer)?.into_iter().map(of).collect()
    }
}
