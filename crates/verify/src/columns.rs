//! The quasi values of a publication, numbered by declared attribute and label: what a person reads, not how a format
//! writes it.

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset, MISSING, Result};

/// A quasi value: a declared attribute and a label. Equal labels of different attributes never match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    /// The declared attribute.
    pub(crate) declared: usize,
    /// The label, as published.
    pub(crate) label: String,
}

/// The quasi attributes of each class and the item of each of their values.
pub(crate) struct Columns {
    /// Items by declared attribute and label.
    pub(crate) items: Vec<Item>,
    of_class: Vec<Vec<Column>>,
}

struct Column {
    attribute: AttributeId,
    slot: usize,
    /// Item per code.
    item: Vec<u32>,
    /// Columns of the class that this one may only repeat.
    leaders: Vec<AttributeId>,
}

impl Columns {
    pub(crate) fn new(data: &Dataset, binding: &Binding) -> Self {
        let schema = data.schema();
        let quasi = |id: AttributeId| (binding.role(id) == Some(Role::Quasi)).then(|| declared(binding, id));
        let mut items: Vec<Item> = Vec::new();
        for (id, _) in schema.attributes() {
            if let Some(declared) = quasi(id).flatten() {
                let values = data.dictionary(id).iter();
                items.extend(values.map(|(_, text)| Item { declared, label: text.to_owned() }));
            }
        }
        items.sort();
        items.dedup();
        let column = |attribute: AttributeId| {
            let declared = declared(binding, attribute)?;
            let find = |(_, text)| {
                items.partition_point(|i| (i.declared, i.label.as_str()) < (declared, text)) as u32
            };
            // A leader that is not counted itself would hide its companion from the count.
            let follows = binding.declared[declared].follows;
            let followed = follows.filter(|&f| binding.declared[f].role == Role::Quasi);
            let of_schema = schema.attribute(attribute);
            let siblings = &schema.class(of_schema.class).attributes;
            Some(Column {
                attribute,
                slot: of_schema.slot as usize,
                item: data.dictionary(attribute).iter().map(find).collect(),
                leaders: (siblings.iter().copied())
                    .filter(|a| followed.is_some() && binding.attributes[a.index()] == followed)
                    .collect(),
            })
        };
        let of_class = (schema.classes())
            .map(|(id, _)| {
                let ordered = binding.in_policy_order(schema, id, Role::Quasi);
                ordered.into_iter().filter_map(column).collect()
            })
            .collect();
        Columns { items, of_class }
    }

    /// The items of a vertex in the policy's order.
    #[inline]
    pub(crate) fn of_vertex(&self, data: &Dataset, vertex: usize, mut then: impl FnMut(u32)) {
        let values = data.values(vertex);
        for column in &self.of_class[data.class(vertex).index()] {
            let code = values.get(column.slot).copied().unwrap_or(MISSING);
            if code == MISSING || column.repeats(data, vertex, code) {
                continue;
            }
            then(column.item[code as usize]);
        }
    }

    /// Which items any record has: a dictionary may hold values of records that were not taken.
    pub(crate) fn used(&self, data: &Dataset, observer: &dyn Observer) -> Result<Vec<bool>> {
        let mut used = vec![false; self.items.len()];
        for vertex in 0..data.vertex_count() {
            observer.go_on()?;
            self.of_vertex(data, vertex, |item| used[item as usize] = true);
        }
        Ok(used)
    }
}

fn declared(binding: &Binding, attribute: AttributeId) -> Option<usize> {
    binding.attributes[attribute.index()]
}

impl Column {
    /// Whether a companion column only repeats the label of the attribute it follows.
    fn repeats(&self, data: &Dataset, vertex: usize, code: u32) -> bool {
        self.leaders.iter().any(|&leader| {
            let other = data.value(vertex, leader);
            other != MISSING
                && data.dictionary(leader).text(other) == data.dictionary(self.attribute).text(code)
        })
    }
}
