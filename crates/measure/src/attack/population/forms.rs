//! Whole records by what can be compared of people and population.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset, MISSING, Result};

use super::scale::Scales;
use super::{Population, Side};

/// From one original value of an attribute to another, the last not included.
pub(super) type Stretch = (u32, u32);

/// A declared attribute with the data's own, if it has it.
type Column = (usize, Option<AttributeId>);

/// What is compared. What nobody in the data has is missing there, and so it must be of who fits.
pub(super) struct Shape {
    /// Per home whether its vertices are looked at.
    homes: Vec<bool>,
    /// Per home its quasi attributes, as declared ones.
    pub(super) quasi: Vec<Vec<usize>>,
}

impl Shape {
    /// A class without anything quasi in it or below it need not be in a population.
    pub(super) fn new(side: &Side<'_>, population: &Population<'_>) -> Self {
        let binding = side.binding;
        let mut homes = vec![false; binding.homes.len()];
        let has = |binding: &Binding, home: usize| binding.classes.contains(&Some(home));
        let mut quasi = vec![Vec::new(); homes.len()];
        for (declared, attribute) in binding.declared.iter().enumerate() {
            let has = |binding: &Binding| binding.attributes.contains(&Some(declared));
            if attribute.role == Role::Quasi && (has(binding) || has(population.binding)) {
                quasi[attribute.home].push(declared);
                let mut at = Some(attribute.home);
                while let Some(home) = at {
                    homes[home] = true;
                    at = binding.homes[home].parent;
                }
            }
        }
        for (home, looked_at) in homes.iter_mut().enumerate() {
            *looked_at |= has(binding, home) && has(population.binding, home);
        }
        homes[0] = true;
        Shape { homes, quasi }
    }
}

/// Records as trees in preorder.
#[derive(Debug, Default)]
pub(super) struct Trees {
    /// Per record its first vertex; one more at the end.
    first: Vec<usize>,
    pub(super) home: Vec<u32>,
    /// Per vertex where what is below it ends.
    pub(super) end: Vec<u32>,
    /// Per vertex its first value; one more at the end.
    first_value: Vec<usize>,
    values: Vec<Stretch>,
}

impl Trees {
    /// The people's records.
    pub(super) fn of_people(
        side: &Side<'_>,
        scales: &Scales,
        shape: &Shape,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let value = |id: AttributeId, code: u32| {
            let fits = &scales.people[id.index()][code as usize];
            (fits.start, fits.end)
        };
        Trees::read((side.data, side.binding), scales, shape, value, observer)
    }

    /// The population's records.
    pub(super) fn of_population(
        population: &Population<'_>,
        scales: &Scales,
        shape: &Shape,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let value = |id: AttributeId, code: u32| {
            let at = scales.population[id.index()][code as usize];
            (at, at + 1)
        };
        Trees::read((population.data, population.binding), scales, shape, value, observer)
    }

    fn read(
        (data, binding): (&Dataset, &Binding),
        scales: &Scales,
        shape: &Shape,
        value: impl Fn(AttributeId, u32) -> Stretch,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let schema = data.schema();
        // Per class the attribute of each declared one that is compared.
        let columns: Vec<Option<(u32, Vec<Column>)>> = (schema.classes())
            .map(|(id, class)| {
                let find = |d: usize| {
                    class.attributes.iter().copied().find(|a| binding.attributes[a.index()] == Some(d))
                };
                let home = binding.classes[id.index()].filter(|&h| shape.homes[h])?;
                Some((home as u32, shape.quasi[home].iter().map(|&d| (d, find(d))).collect()))
            })
            .collect();
        let mut trees = Trees { first: vec![0], first_value: vec![0], ..Trees::default() };
        let mut open: Vec<(usize, usize)> = Vec::new();
        for record in 0..data.len() {
            observer.go_on()?;
            open.clear();
            for v in data.vertices(record) {
                let Some((home, own)) = &columns[data.class(v).index()] else { continue };
                let at = trees.home.len();
                while open.last().is_some_and(|&(vertex, _)| data.parent(v) != Some(vertex)) {
                    if let Some((_, place)) = open.pop() {
                        trees.end[place] = at as u32;
                    }
                }
                open.push((v, at));
                trees.home.push(*home);
                trees.end.push(0);
                for &(declared, id) in own {
                    let code = id.map_or(MISSING, |id| data.value(v, id));
                    let missing = scales.len[declared];
                    let held = id.filter(|_| code != MISSING).map(|id| value(id, code));
                    trees.values.push(held.unwrap_or((missing, missing + 1)));
                }
                trees.first_value.push(trees.values.len());
            }
            let end = trees.home.len();
            open.iter().for_each(|&(_, place)| trees.end[place] = end as u32);
            trees.first.push(end);
        }
        Ok(trees)
    }

    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The vertices of a record, its root first.
    pub(super) fn vertices(&self, record: usize) -> std::ops::Range<usize> {
        self.first[record]..self.first[record + 1]
    }

    /// The values of a vertex, in the order of its home's attributes.
    #[inline]
    pub(super) fn values(&self, vertex: usize) -> &[Stretch] {
        &self.values[self.first_value[vertex]..self.first_value[vertex + 1]]
    }

    /// The vertices directly below one.
    pub(super) fn children(&self, vertex: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.end[vertex] as usize;
        let next = move |at: usize| (at < end).then_some(at);
        std::iter::successors(next(vertex + 1), move |&at| next(self.end[at] as usize))
    }
}

/// Numbers for vertices: alike ones have the same, with all that is below them.
#[derive(Debug, Default)]
pub(super) struct Forms {
    known: FxHashMap<Box<[u32]>, u32>,
}

impl Forms {
    /// Per record the form of its root.
    pub(super) fn of(&mut self, trees: &Trees, observer: &dyn Observer) -> Result<Vec<u32>> {
        let (mut form, mut key, mut below) = (Vec::new(), Vec::new(), Vec::new());
        (0..trees.len())
            .map(|record| {
                observer.go_on()?;
                let vertices = trees.vertices(record);
                let first = vertices.start;
                form.clear();
                form.resize(vertices.len(), 0);
                // From the last vertex to the first, children come before their parents.
                for v in vertices.rev() {
                    key.clear();
                    key.push(trees.home[v]);
                    key.extend(trees.values(v).iter().flat_map(|&(from, to)| [from, to]));
                    below.clear();
                    below.extend(trees.children(v).map(|child| form[child - first]));
                    below.sort_unstable();
                    key.extend_from_slice(&below);
                    form[v - first] = self.number(&key);
                }
                Ok(form[0])
            })
            .collect()
    }

    fn number(&mut self, key: &[u32]) -> u32 {
        if let Some(&form) = self.known.get(key) {
            return form;
        }
        let next = self.known.len() as u32;
        self.known.insert(key.into(), next);
        next
    }
}

/// Records that are alike: one of them, and how many there are.
pub(super) struct Alike {
    pub(super) record: u32,
    pub(super) records: u32,
}

/// Groups records by form, in the order of their first ones; per record its group.
pub(super) fn grouped(forms: &[u32]) -> (Vec<Alike>, Vec<u32>) {
    let mut groups: Vec<Alike> = Vec::new();
    let mut number: FxHashMap<u32, u32> = FxHashMap::default();
    let mut group_of = Vec::with_capacity(forms.len());
    for (record, &form) in (0..).zip(forms) {
        let next = groups.len() as u32;
        let group = *number.entry(form).or_insert(next);
        if group == next {
            groups.push(Alike { record, records: 0 });
        }
        groups[group as usize].records += 1;
        group_of.push(group);
    }
    (groups, group_of)
}
