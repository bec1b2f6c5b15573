//! Rows and items that say the same as another one beside them, and values that are written in two kinds.
//!
//! A claim about sets counts an item once, and one about distinct rows a row that another one contains not at all. How often
//! they stand in a file would tell people apart all the same, so a publication has them once.

use rustc_hash::{FxHashMap, FxHashSet};

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Role, Rows};
use bosket_model::{AttributeId, Dataset, Kind, MISSING, Result};

use crate::{Claim, Kmn};

/// Something that stands in a record although another one says the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The record, from 0.
    pub record: usize,
    /// The path of the item, or of the class of the row.
    pub path: String,
}

/// The first one in a publication; none where the claim counts them.
pub fn repeated(
    data: &Dataset,
    binding: &Binding,
    claim: &Claim,
    observer: &dyn Observer,
) -> Result<Option<Repeated>> {
    let found: &dyn Fn(usize) -> Option<String> = match claim {
        Claim::Km(km) if !km.multiset => &|record| item_of(data, binding, record),
        Claim::Kmn(Kmn { rows: Rows::Distinct | Rows::United, .. }) => {
            &|record| row_of(data, binding, record)
        }
        _ => return Ok(None),
    };
    for record in 0..data.len() {
        if record.is_multiple_of(64) {
            observer.go_on()?;
        }
        if let Some(path) = found(record) {
            return Ok(Some(Repeated { record, path }));
        }
    }
    Ok(None)
}

/// Where a record has an item twice.
fn item_of(data: &Dataset, binding: &Binding, record: usize) -> Option<String> {
    let mut seen = FxHashSet::default();
    for vertex in data.vertices(record) {
        for (id, text) in quasi(data, binding, vertex) {
            if !seen.insert(text) {
                return Some(data.schema().attribute(id).path.clone());
            }
        }
    }
    None
}

/// The published quasi values of a vertex.
fn quasi<'d>(
    data: &'d Dataset,
    binding: &'d Binding,
    vertex: usize,
) -> impl Iterator<Item = (AttributeId, &'d str)> {
    let attributes = &data.schema().class(data.class(vertex)).attributes;
    let there = attributes.iter().zip(data.values(vertex)).filter(|(_, code)| **code != MISSING);
    let known = there.filter(|(id, _)| binding.role(**id) == Some(Role::Quasi));
    known.map(|(&id, &code)| (id, data.dictionary(id).text(code)))
}

/// Where a record has a row that another one beside it contains, and that says nothing beside its quasi values.
fn row_of(data: &Dataset, binding: &Binding, record: usize) -> Option<String> {
    let vertices = data.vertices(record);
    let first = vertices.start;
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
    for vertex in vertices {
        if let Some(parent) = data.parent(vertex) {
            children[parent - first].push(vertex);
        }
    }
    if children.iter().all(|rows| rows.len() < 2) {
        return None;
    }
    let rows = Siblings { data, binding, first, children, told: told(data, binding, record) };
    let twice = rows.children.iter().find_map(|siblings| rows.contained(siblings));
    twice.map(|vertex| data.schema().class(data.class(vertex)).path.clone())
}

/// Per vertex of a record whether something stands in it or below that no claim about rows counts.
fn told(data: &Dataset, binding: &Binding, record: usize) -> Vec<bool> {
    let vertices = data.vertices(record);
    let first = vertices.start;
    let mut told = vec![false; vertices.len()];
    for vertex in vertices.rev() {
        let attributes = &data.schema().class(data.class(vertex)).attributes;
        let mut there = attributes.iter().zip(data.values(vertex)).filter(|(_, code)| **code != MISSING);
        told[vertex - first] |= there.any(|(id, _)| binding.role(*id) != Some(Role::Quasi));
        if let Some(parent) = data.parent(vertex) {
            told[parent - first] |= told[vertex - first];
        }
    }
    told
}

/// The rows of a record.
struct Siblings<'d> {
    data: &'d Dataset,
    binding: &'d Binding,
    first: usize,
    children: Vec<Vec<usize>>,
    told: Vec<bool>,
}

impl Siblings<'_> {
    /// A row that another one contains.
    fn contained(&self, siblings: &[usize]) -> Option<usize> {
        let small = siblings.iter().filter(|&&row| !self.told[row - self.first]);
        small.copied().find(|&row| siblings.iter().any(|&other| other != row && self.contains(other, row)))
    }

    /// Whether a row has the values of another one, and everything below it that this one has.
    fn contains(&self, large: usize, small: usize) -> bool {
        let below = |row: usize| &self.children[row - self.first];
        self.looks_alike(large, small)
            && below(small).iter().all(|&row| below(large).iter().any(|&other| self.contains(other, row)))
    }

    fn looks_alike(&self, one: usize, other: usize) -> bool {
        let Siblings { data, binding, .. } = *self;
        data.class(one) == data.class(other) && quasi(data, binding, one).eq(quasi(data, binding, other))
    }
}

/// The kinds in which quasi values are written: a reader takes `1` and `"1"` for one value, and the form has it one way.
#[derive(Debug, Default)]
pub struct Kinds(FxHashMap<(String, String), Kind>);

impl Kinds {
    /// Adds the values of some records; gives the path of an attribute that has one value both as a number and as a text.
    pub fn add(&mut self, data: &Dataset, binding: &Binding) -> Option<String> {
        let quasi = |id: &AttributeId| binding.role(*id) == Some(Role::Quasi);
        for (id, attribute) in data.schema().attributes().filter(|(id, _)| quasi(id)) {
            for (kind, text) in data.dictionary(id).iter().filter(|(kind, text)| could_be_other(*kind, text))
            {
                let known = self.0.entry((attribute.path.clone(), text.to_owned())).or_insert(kind);
                if *known != kind {
                    return Some(attribute.path.clone());
                }
            }
        }
        None
    }
}

/// Whether a value could be written as another kind: a text that looks like a number or a truth value, and these.
fn could_be_other(kind: Kind, text: &str) -> bool {
    kind != Kind::Text || matches!(text, "true" | "false") || text.parse::<f64>().is_ok()
}
