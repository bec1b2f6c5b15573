//! What the two sides hold, so that a publication can be compared with its input.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use bosket_model::binding::Binding;
use bosket_model::{Dataset, MISSING};

use super::fates::{Fate, Fates};

/// People and values by their group and what they say, as numbers that differ where that differs.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    /// One per person.
    pub people: Vec<(u32, u64)>,
    /// Per sensitive attribute one per value.
    pub values: Vec<Vec<(u32, u64)>>,
    /// How many records there are, those in no group too.
    pub records: usize,
}

impl Sides {
    pub(super) fn new(fates: &Fates) -> Self {
        Sides { values: vec![Vec::new(); fates.sensitive.len()], ..Sides::default() }
    }

    pub(super) fn person(&mut self, group: u32, text: &[u8]) {
        self.people.push((group, number(&text)));
    }

    pub(super) fn value(&mut self, group: u32, attribute: usize, text: &str) {
        self.values[attribute].push((group, number(&text)));
    }

    /// Takes records that are in a group; their quasi side is compared whatever the order of keys and siblings.
    pub(super) fn all_of(
        &mut self,
        data: &Dataset,
        binding: &Binding,
        fates: &Fates,
        group: &dyn Fn(usize) -> Option<u32>,
    ) {
        let schema = data.schema();
        self.records += data.len();
        for (record, group) in (0..data.len()).filter_map(|r| Some((r, group(r)?))) {
            let vertices = data.vertices(record);
            let first = vertices.start;
            let mut below: Vec<Vec<u64>> = vec![Vec::new(); vertices.len()];
            let mut whole = 0;
            for vertex in vertices.rev() {
                let mut own: Vec<(usize, &str)> = Vec::new();
                let attributes = &schema.class(data.class(vertex)).attributes;
                for (&code, &attribute) in data.values(vertex).iter().zip(attributes) {
                    let Some(declared) = binding.attributes[attribute.index()].filter(|_| code != MISSING)
                    else {
                        continue;
                    };
                    let text = data.dictionary(attribute).text(code);
                    match fates.of[declared] {
                        Fate::Quasi => own.push((declared, text)),
                        Fate::Sensitive(at) => self.value(group, at, text),
                        Fate::Gone => {}
                    }
                }
                own.sort_unstable();
                let children = &mut below[vertex - first];
                children.sort_unstable();
                if own.is_empty() && children.is_empty() && data.parent(vertex).is_some() {
                    continue;
                }
                whole = number(&(binding.classes[data.class(vertex).index()], own, &*children));
                if let Some(parent) = data.parent(vertex) {
                    below[parent - first].push(whole);
                }
            }
            self.people.push((group, whole));
        }
    }
}

fn number(what: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}
