//! The quasi values of a publication, numbered by declared attribute and label: what a person reads, not how a format
//! writes it.
//!
//! Where missing values count ([`Emptiness::Counted`]), a place that can hold one value and holds none shows `*`: whoever knows
//! a value there cannot tell such a record from one that says so. The places are those of the policy: an object has them whether
//! or not the file names them anywhere. With the quasi attributes `sex` and `visits[].hospital`,
//!
//! ```text
//! {"sex": "f", "visits": [{"note": "x"}]}      sex = f, hospital = *
//! {"sex": "f"}                                 sex = f; there is no visit that could have a hospital
//! ```
//!
//! A vertex of a class without any such place shows `*` as well, where it can be known that two entries stand in it
//! ([`Emptiness::CountedWithSections`]).

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
    /// The attribute of the data; none for a place that the policy has and the data does not name.
    attribute: Option<AttributeId>,
    declared: usize,
    slot: usize,
    /// Item per code.
    item: Vec<u32>,
    /// Columns of the class that this one may only repeat.
    leaders: Vec<AttributeId>,
    /// The item of an empty place, if that tells anything.
    empty: Option<u32>,
}

/// Homes of vertices that would be seen to have an empty place, themselves or one above them, if nothing quasi were published
/// in them: such a vertex may be left out as a whole, with what stands beside its values. The record itself never is.
pub(crate) fn may_be_left_out(binding: &Binding) -> Vec<bool> {
    let of_home = Places::of_policy(binding);
    let own = |home: usize| home != 0 && !of_home[home].is_empty();
    let up = |home: usize| std::iter::successors(Some(home), |&h| binding.homes[h].parent);
    (0..binding.homes.len()).map(|home| up(home).any(own)).collect()
}

/// Behind the values of every vertex: what the data does not name is missing everywhere.
const NO_SLOT: usize = usize::MAX;

impl Columns {
    pub(crate) fn new(data: &Dataset, binding: &Binding, emptiness: Emptiness) -> Self {
        let schema = data.schema();
        let places = match emptiness {
            Emptiness::Nothing => Places::none(binding),
            Emptiness::Counted | Emptiness::CountedWithSections => Places::of_data(data, binding),
        };
        let sections = sections(data, binding, emptiness, &places);
        let mut items: Vec<Item> = Vec::new();
        for (id, _) in schema.attributes().filter(|(id, _)| binding.role(*id) == Some(Role::Quasi)) {
            if let Some(declared) = declared(binding, id) {
                let values = data.dictionary(id).iter();
                items.extend(values.map(|(_, text)| Item { declared, label: text.to_owned() }));
            }
        }
        let anything = |declared: usize| Item { declared, label: ANYTHING.to_owned() };
        for (class, _) in schema.classes() {
            items.extend(places.of_class(binding, class).iter().map(|&declared| anything(declared)));
        }
        items.extend(sections.iter().flatten().map(|&home| anything(section(binding, home))));
        items.sort();
        items.dedup();
        let find = |declared: usize, text: &str| {
            items.partition_point(|i| (i.declared, i.label.as_str()) < (declared, text)) as u32
        };
        let column = |attribute: AttributeId| {
            let declared = declared(binding, attribute)?;
            // A leader that is not counted itself would hide its companion from the count.
            let follows = binding.declared[declared].follows;
            let followed = follows.filter(|&f| binding.declared[f].role == Role::Quasi);
            let of_schema = schema.attribute(attribute);
            let leads = |a: &AttributeId| binding.attributes[a.index()] == followed;
            let siblings = followed.map(|_| schema.class(of_schema.class).attributes.iter().copied());
            let values = data.dictionary(attribute).iter();
            Some(Column {
                attribute: Some(attribute),
                declared,
                slot: of_schema.slot as usize,
                item: values.map(|(_, text)| find(declared, text)).collect(),
                leaders: siblings.into_iter().flatten().filter(leads).collect(),
                empty: None,
            })
        };
        let of_class = |class: ClassId| {
            let ordered = binding.in_policy_order(schema, class, Role::Quasi);
            let mut own: Vec<Column> = ordered.into_iter().filter_map(column).collect();
            for &declared in places.of_class(binding, class) {
                let empty = Some(find(declared, ANYTHING));
                match own.binary_search_by_key(&declared, |column| column.declared) {
                    Ok(at) => own[at].empty = empty,
                    Err(at) => own.insert(at, Column::unnamed(declared, empty)),
                }
            }
            own
        };
        let section = sections.iter().map(|home| home.map(|home| find(section(binding, home), ANYTHING)));
        Columns {
            of_class: schema.classes().map(|(class, _)| of_class(class)).collect(),
            section: section.collect(),
            items,
        }
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

/// The places of the policy: where a vertex that is there can hold one value.
struct Places {
    /// Per home its declared attributes whose empty places are seen, in the policy's order.
    of_home: Vec<Vec<usize>>,
    /// Per class of the data whether it stands where the policy has it: what stands above its home was parted from its row.
    at_home: Vec<bool>,
}

impl Places {
    /// Empty places tell nothing.
    fn none(binding: &Binding) -> Self {
        Places { of_home: vec![Vec::new(); binding.homes.len()], at_home: Vec::new() }
    }

    fn of_data(data: &Dataset, binding: &Binding) -> Self {
        let classes = data.schema().classes();
        let at_home = classes.map(|(id, _)| is_at_home(data, binding, id)).collect();
        Places { of_home: Places::of_policy(binding), at_home }
    }

    /// All of them, by home. The items of an array are a set; a companion only repeats.
    fn of_policy(binding: &Binding) -> Vec<Vec<usize>> {
        let mut of_home = vec![Vec::new(); binding.homes.len()];
        let mut declared_at = vec![0usize; binding.homes.len()];
        binding.declared.iter().for_each(|d| declared_at[d.home] += 1);
        for (at, own) in binding.declared.iter().enumerate() {
            let is_item = own.home != 0 && own.name.is_empty() && declared_at[own.home] == 1;
            if own.role == Role::Quasi && own.follows.is_none() && !is_item {
                of_home[own.home].push(at);
            }
        }
        of_home
    }

    /// The declared attributes of which vertices of a class have a place.
    fn of_class(&self, binding: &Binding, class: ClassId) -> &[usize] {
        match binding.classes[class.index()] {
            Some(home) if self.at_home.get(class.index()) == Some(&true) => &self.of_home[home],
            _ => &[],
        }
    }
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
fn sections(data: &Dataset, binding: &Binding, emptiness: Emptiness, places: &Places) -> Vec<Option<usize>> {
    let schema = data.schema();
    let has_none = |class: ClassId| {
        let own = binding.in_policy_order(schema, class, Role::Quasi);
        places.of_class(binding, class).is_empty() && own.iter().all(|&a| data.dictionary(a).is_empty())
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
    /// A place that the data does not name.
    fn unnamed(declared: usize, empty: Option<u32>) -> Self {
        Column { attribute: None, declared, slot: NO_SLOT, item: Vec::new(), leaders: Vec::new(), empty }
    }

    /// Whether a companion column only repeats the label of the attribute it follows.
    fn repeats(&self, data: &Dataset, vertex: usize, code: u32) -> bool {
        let Some(own) = self.attribute else { return false };
        self.leaders.iter().any(|&leader| {
            let other = data.value(vertex, leader);
            other != MISSING && data.dictionary(leader).text(other) == data.dictionary(own).text(code)
        })
    }
}
