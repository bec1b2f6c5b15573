//! Nested single objects (elements, structs). They are part of their vertex: that one is there is told by what is in it.

use std::collections::BTreeSet;

use super::Dataset;
use crate::binding::Binding;
use crate::dictionary::MISSING;
use crate::hierarchy::ROOT_LABEL;
use crate::policy::Role;
use crate::schema::{AttributeId, ClassId, Schema};

/// An object as the policy's paths name it: its home, and its keys inside a vertex of that.
pub type ObjectName = (usize, Vec<String>);

/// An object of a class: the attributes in it, by their places among the values of a vertex, and the classes.
struct Object {
    name: Vec<String>,
    attributes: Vec<(usize, AttributeId)>,
    classes: Vec<ClassId>,
}

/// The objects of all classes.
struct Objects(Vec<Vec<Object>>);

impl Objects {
    fn of(schema: &Schema) -> Self {
        let of_class = |(_, class): (ClassId, &crate::schema::Class)| {
            let attributes = class.attributes.iter().map(|id| &schema.attribute(*id).name);
            let below = class.children.iter().map(|id| &schema.class(*id).name);
            let names = attributes.chain(below).flat_map(|name| (1..name.len()).map(|n| name[..n].to_vec()));
            let names: BTreeSet<Vec<String>> = names.collect();
            let object = |name: Vec<String>| Object {
                attributes: (class.attributes.iter().copied().enumerate())
                    .filter(|(_, id)| schema.attribute(*id).name.starts_with(&name))
                    .collect(),
                classes: (class.children.iter().copied())
                    .filter(|id| schema.class(*id).name.starts_with(&name))
                    .collect(),
                name,
            };
            names.into_iter().map(object).collect()
        };
        Objects(schema.classes().map(of_class).collect())
    }

    fn any(&self) -> bool {
        self.0.iter().any(|objects| !objects.is_empty())
    }

    /// Per vertex where its objects begin in what `told` gives.
    fn first(&self, data: &Dataset) -> Vec<usize> {
        let mut next = 0;
        (0..data.vertex_count())
            .map(|v| {
                let own = next;
                next += self.0[data.class(v).index()].len();
                own
            })
            .collect()
    }

    /// Per vertex and object of it whether anything in it says something: a value that does, or a vertex below.
    fn told(&self, data: &Dataset, first: &[usize], says: impl Fn(AttributeId, u32) -> bool) -> Vec<bool> {
        let all = (0..data.vertex_count()).map(|v| self.0[data.class(v).index()].len()).sum();
        let mut told = vec![false; all];
        for v in 0..data.vertex_count() {
            let values = data.values(v);
            for (at, object) in self.0[data.class(v).index()].iter().enumerate() {
                told[first[v] + at] |= object.attributes.iter().any(|&(slot, id)| {
                    let code = values.get(slot).copied().unwrap_or(MISSING);
                    code != MISSING && says(id, code)
                });
            }
            let Some(above) = data.parent(v) else { continue };
            for (at, object) in self.0[data.class(above).index()].iter().enumerate() {
                told[first[above] + at] |= object.classes.contains(&data.class(v));
            }
        }
        told
    }
}

impl Dataset {
    /// The objects that some vertex of their class does not have.
    pub fn objects_lacking(&self, binding: &Binding) -> BTreeSet<ObjectName> {
        let objects = Objects::of(&self.schema);
        let mut lacking = BTreeSet::new();
        if !objects.any() {
            return lacking;
        }
        let first = objects.first(self);
        let told = objects.told(self, &first, |_, _| true);
        let mut lacks: Vec<Vec<bool>> = objects.0.iter().map(|own| vec![false; own.len()]).collect();
        for v in 0..self.vertex_count() {
            let own = &mut lacks[self.class(v).index()];
            own.iter_mut().enumerate().for_each(|(at, lacks)| *lacks |= !told[first[v] + at]);
        }
        for (class, own) in objects.0.iter().enumerate() {
            let Some(home) = binding.classes[class] else { continue };
            let lacked = own.iter().zip(&lacks[class]).filter(|(_, lacks)| **lacks);
            lacking.extend(lacked.map(|(object, _)| (home, object.name.clone())));
        }
        lacking
    }

    /// The same without what says nothing in these objects: the quasi values of one of which all are `*`, and below which no
    /// vertex hangs. An object that some records do not have must not be made up, nor tell by its emptiness that others have
    /// it. What else stands in it has no say: records that look alike would not any more.
    #[must_use]
    pub fn without_hollow(mut self, binding: &Binding, lacking: &BTreeSet<ObjectName>) -> Dataset {
        if lacking.is_empty() {
            return self;
        }
        let objects = Objects::of(&self.schema);
        let first = objects.first(&self);
        let is_quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi);
        let says = |id: AttributeId, code: u32| is_quasi(id) && !self.says_nothing(binding, id, code);
        let told = objects.told(&self, &first, says);
        for v in 0..self.vertex_count() {
            let class = self.class(v);
            let Some(home) = binding.classes[class.index()] else { continue };
            let start = self.first_value[v] as usize;
            let end = self.first_value[v + 1] as usize;
            for (at, object) in objects.0[class.index()].iter().enumerate() {
                if told[first[v] + at] || !lacking.contains(&(home, object.name.clone())) {
                    continue;
                }
                for &(slot, _) in object.attributes.iter().filter(|(_, id)| is_quasi(*id)) {
                    if start + slot < end {
                        self.values[start + slot] = MISSING;
                    }
                }
            }
        }
        self
    }

    /// Whether a value is the root of a quasi attribute.
    pub(super) fn says_nothing(&self, binding: &Binding, id: AttributeId, code: u32) -> bool {
        binding.role(id) == Some(Role::Quasi) && self.dictionary(id).text(code) == ROOT_LABEL
    }

    /// Per vertex the objects that it has.
    pub fn objects_of_vertices(&self, binding: &Binding) -> Vec<Vec<ObjectName>> {
        let objects = Objects::of(&self.schema);
        let first = objects.first(self);
        let told = objects.told(self, &first, |_, _| true);
        let of = |v: usize| -> Vec<ObjectName> {
            let class = self.class(v).index();
            let home = binding.classes[class].unwrap_or(usize::MAX);
            let own = objects.0[class].iter().enumerate().filter(|(at, _)| told[first[v] + at]);
            own.map(|(_, object)| (home, object.name.clone())).collect()
        };
        (0..self.vertex_count()).map(of).collect()
    }

    /// An object that some vertices have although nothing in it says anything, and others do not have, by its path. Whoever
    /// sees that knows who has it.
    pub fn uneven_object(&self, binding: &Binding) -> Option<String> {
        let lacking = self.objects_lacking(binding);
        if lacking.is_empty() {
            return None;
        }
        let objects = Objects::of(&self.schema);
        let first = objects.first(self);
        let there = objects.told(self, &first, |_, _| true);
        let told = objects.told(self, &first, |id, code| !self.says_nothing(binding, id, code));
        (0..self.vertex_count()).find_map(|v| {
            let class = self.class(v);
            let home = binding.classes[class.index()]?;
            let hollow = |at: usize| there[first[v] + at] && !told[first[v] + at];
            let object = objects.0[class.index()]
                .iter()
                .enumerate()
                .find(|(at, object)| hollow(*at) && lacking.contains(&(home, object.name.clone())))?;
            let (_, attribute) = object.1.attributes.first()?;
            Some(self.schema.attribute(*attribute).path.clone())
        })
    }
}
