//! The quasi values of a publication, numbered by declared attribute and label: what a person reads, not how a format
//! writes it.
//!
//! Where missing values count ([`Emptiness::Counted`]), a place that can hold one value and holds none shows `*`: whoever knows
//! a value there cannot tell such a record from one that says so. So does a vertex of a class without any quasi value, where
//! it can be known that two entries stand in it ([`Emptiness::CountedWithSections`]).

use bosket_model::binding::{Binding, Declared};
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

/// A quasi value: a declared attribute and a label. Equal labels of different attributes never match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    /// The declared attribute.
    pub(crate) declared: usize,
    /// The label, as published.
    pub(crate) label: String,
}

/// What an empty place tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Emptiness {
    /// Nothing.
    #[default]
    Nothing,
    /// That it may be anything: `*`.
    Counted,
    /// The same, and a vertex without any place says that it is there.
    CountedWithSections,
}

/// What is shown where a value could be and is not.
pub(crate) const ANYTHING: &str = "*";

/// The quasi attributes of each class and the item of each of their values.
pub(crate) struct Columns {
    /// Items by declared attribute and label.
    pub(crate) items: Vec<Item>,
    of_class: Vec<Vec<Column>>,
    /// Per class the item of a vertex that has no place for a quasi value, if that tells anything.
    section: Vec<Option<u32>>,
}

struct Column {
    attribute: AttributeId,
    slot: usize,
    /// Item per code.
    item: Vec<u32>,
    /// Columns of the class that this one may only repeat.
    leaders: Vec<AttributeId>,
    /// The item of an empty place, if that tells anything.
    empty: Option<u32>,
}

impl Columns {
    pub(crate) fn new(data: &Dataset, binding: &Binding, emptiness: Emptiness) -> Self {
        let schema = data.schema();
        let counts = |id: AttributeId| emptiness != Emptiness::Nothing && has_one_place(data, binding, id);
        let sections = sections(data, binding, emptiness);
        let quasi = |id: AttributeId| (binding.role(id) == Some(Role::Quasi)).then(|| declared(binding, id));
        let mut items: Vec<Item> = Vec::new();
        for (id, _) in schema.attributes() {
            if let Some(declared) = quasi(id).flatten() {
                let values = data.dictionary(id).iter();
                items.extend(values.map(|(_, text)| Item { declared, label: text.to_owned() }));
                items.extend(counts(id).then(|| Item { declared, label: ANYTHING.to_owned() }));
            }
        }
        let section_item =
            |home: usize| Item { declared: section(binding, home), label: ANYTHING.to_owned() };
        items.extend(sections.iter().flatten().map(|&home| section_item(home)));
        items.sort();
        items.dedup();
        let column = |attribute: AttributeId| {
            let declared = declared(binding, attribute)?;
            let find = |text: &str| {
                items.partition_point(|i| (i.declared, i.label.as_str()) < (declared, text)) as u32
            };
            let empty = counts(attribute).then(|| find(ANYTHING));
            // A leader that is not counted itself would hide its companion from the count.
            let follows = binding.declared[declared].follows;
            let followed = follows.filter(|&f| binding.declared[f].role == Role::Quasi);
            let of_schema = schema.attribute(attribute);
            let siblings = &schema.class(of_schema.class).attributes;
            Some(Column {
                attribute,
                slot: of_schema.slot as usize,
                item: data.dictionary(attribute).iter().map(|(_, text)| find(text)).collect(),
                leaders: (siblings.iter().copied())
                    .filter(|a| followed.is_some() && binding.attributes[a.index()] == followed)
                    .collect(),
                empty,
            })
        };
        let of_class = (schema.classes())
            .map(|(id, _)| {
                let ordered = binding.in_policy_order(schema, id, Role::Quasi);
                ordered.into_iter().filter_map(column).collect()
            })
            .collect();
        let number = |home: usize| items.partition_point(|i| *i < section_item(home)) as u32;
        let section = sections.iter().map(|home| home.map(number)).collect();
        Columns { items, of_class, section }
    }

    /// The items of a vertex in the policy's order.
    #[inline]
    pub(crate) fn of_vertex(&self, data: &Dataset, vertex: usize, mut then: impl FnMut(u32)) {
        let values = data.values(vertex);
        let class = data.class(vertex).index();
        self.section[class].into_iter().for_each(&mut then);
        for column in &self.of_class[class] {
            match values.get(column.slot).copied().unwrap_or(MISSING) {
                MISSING => column.empty.into_iter().for_each(&mut then),
                code if column.repeats(data, vertex, code) => {}
                code => then(column.item[code as usize]),
            }
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

/// Whether an empty place of an attribute is seen as such: a vertex at its home holds one value, and some do. The items of an
/// array are a set; a companion only repeats; what stands above its home was parted from its row.
fn has_one_place(data: &Dataset, binding: &Binding, attribute: AttributeId) -> bool {
    let schema = data.schema();
    let Some(own) = declared(binding, attribute) else {
        return false;
    };
    let is_item = binding.declared[own].name.is_empty()
        && !binding
            .declared
            .iter()
            .enumerate()
            .any(|(d, other)| d != own && other.home == binding.declared[own].home);
    let class = schema.attribute(attribute).class;
    (!is_item || class == ClassId::ROOT)
        && binding.declared[own].follows.is_none()
        && is_at_home(data, binding, class)
        && !data.dictionary(attribute).is_empty()
}

fn is_at_home(data: &Dataset, binding: &Binding, class: ClassId) -> bool {
    let Some(home) = binding.classes[class.index()] else {
        return false;
    };
    let above = data.schema().class(class).parent;
    above.and_then(|above| binding.classes[above.index()]) == binding.homes[home].parent
        && above.is_none_or(|above| is_at_home(data, binding, above))
}

/// The number of a home's vertices among the declared attributes: behind all of these.
pub(crate) fn section(binding: &Binding, home: usize) -> usize {
    binding.declared.len() + home
}

/// The same with the vertices of each home as if they were declared, for those who look items up.
pub(crate) fn with_sections(binding: &Binding) -> Binding {
    let mut all = binding.clone();
    for (home, of) in binding.homes.iter().enumerate() {
        let up = std::iter::successors(Some(home), |&h| binding.homes[h].parent);
        let names = up.filter(|&h| h != 0).map(|h| binding.homes[h].name.join(".") + "[]");
        let mut path: Vec<String> = names.collect();
        path.reverse();
        all.declared.push(Declared {
            path: path.join("."),
            role: Role::Insensitive,
            home,
            name: of.name.clone(),
            follows: None,
            pseudonym: false,
        });
    }
    all
}

/// Per class its home, if its vertices have no place for a quasi value and that is to be seen.
fn sections(data: &Dataset, binding: &Binding, emptiness: Emptiness) -> Vec<Option<usize>> {
    let schema = data.schema();
    let has_none = |class: ClassId| {
        let own = binding.in_policy_order(schema, class, Role::Quasi);
        own.iter().all(|&a| data.dictionary(a).is_empty())
    };
    let wanted = emptiness == Emptiness::CountedWithSections;
    let holds_entries = |home: usize| {
        binding.declared.iter().any(|d| d.role == Role::Quasi && binding.is_below(d.home, home))
    };
    let home = |class: ClassId| {
        let is_section =
            wanted && class != ClassId::ROOT && has_none(class) && is_at_home(data, binding, class);
        binding.classes[class.index()].filter(|&home| is_section && holds_entries(home))
    };
    schema.classes().map(|(class, _)| home(class)).collect()
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
