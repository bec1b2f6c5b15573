//! Counting the rows and values of one side.

use std::collections::BTreeSet;

use bosket_model::binding::{Binding, Declared};
use bosket_model::hierarchy::{Hierarchy, NodeId, ROOT_LABEL};
use bosket_model::observe::Observer;
use bosket_model::path::has_kind;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, ClassId, MISSING, Result};

use crate::loss::Side;

/// How many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) all: u64,
    /// Of these, in a class that stands above its home.
    pub(super) moved: u64,
    /// Of these, published as the root of their hierarchy.
    pub(super) anything: u64,
    /// Records that have any.
    pub(super) people: u64,
    /// The last of these, by its number from 1.
    last: usize,
}

impl Count {
    fn add(&mut self, record: usize, moved: bool, anything: bool) {
        self.all += 1;
        self.moved += u64::from(moved);
        self.anything += u64::from(anything);
        self.people += u64::from(self.last != record + 1);
        self.last = record + 1;
    }

    /// The same for all that a record has, at once.
    fn add_all(&mut self, all: u64, moved: bool, anything: u64) {
        self.all += all;
        self.moved += if moved { all } else { 0 };
        self.anything += anything;
        self.people += u64::from(all > 0);
    }
}

/// The counts of one side.
#[derive(Debug)]
pub(super) struct Tally {
    /// Per home its rows.
    pub(super) homes: Vec<Count>,
    /// Per declared attribute its values.
    pub(super) values: Vec<Count>,
    /// The values that are there and say nothing.
    anything: BTreeSet<(AttributeId, u32)>,
}

impl Tally {
    /// Counts an input, where every value says something.
    pub(super) fn of_input(side: Side<'_>, observer: &dyn Observer) -> Result<Self> {
        Self::of(side, &Anything::default(), observer)
    }

    /// Counts.
    pub(super) fn of(side: Side<'_>, anything: &Anything, observer: &dyn Observer) -> Result<Self> {
        let Side { data, binding } = side;
        let schema = data.schema();
        let attributes = declared_attributes(side);
        let is_anything = |attribute: AttributeId, code: u32| anything.has(attribute, code);
        let moved: Vec<bool> = schema.classes().map(|(id, _)| is_moved(side, id.index())).collect();
        let mut tally = Tally {
            homes: vec![Count::default(); binding.homes.len()],
            values: vec![Count::default(); binding.declared.len()],
            anything: BTreeSet::new(),
        };
        if let Some(sets) = data.sets() {
            let (root, class) = (ClassId::ROOT.index(), schema.attribute(sets.attribute()).class.index());
            let (above, own) = (binding.classes[root], binding.classes[class]);
            let declared = own.and(attributes[class].first()).map(|column| column.declared);
            let (mut rows, mut values) = (Count::default(), Count::default());
            for record in 0..data.len() {
                observer.go_on()?;
                let codes = sets.codes(record);
                let present = codes.iter().filter(|&&code| code != MISSING).count() as u64;
                let says_nothing = codes.iter().filter(|&&code| is_anything(sets.attribute(), code));
                tally.anything.extend(says_nothing.clone().map(|&code| (sets.attribute(), code)));
                rows.add_all(codes.len() as u64, moved[class], 0);
                values.add_all(present, moved[class], says_nothing.count() as u64);
            }
            let people = Count { all: data.len() as u64, people: data.len() as u64, ..Count::default() };
            above.into_iter().for_each(|home| tally.homes[home] = people);
            own.into_iter().for_each(|home| tally.homes[home] = rows);
            declared.into_iter().for_each(|declared| tally.values[declared] = values);
            return Ok(tally);
        }
        for record in 0..data.len() {
            observer.go_on()?;
            for v in data.vertices(record) {
                let class = data.class(v).index();
                let Some(home) = binding.classes[class] else { continue };
                tally.homes[home].add(record, moved[class], false);
                let values = data.values(v);
                for column in &attributes[class] {
                    let code = column.code(values);
                    if code != MISSING {
                        let says_nothing = is_anything(column.attribute, code);
                        tally.values[column.declared].add(record, moved[class], says_nothing);
                        if says_nothing {
                            tally.anything.insert((column.attribute, code));
                        }
                    }
                }
            }
        }
        Ok(tally)
    }

    /// The labels besides the root that say nothing and are values of an attribute that is declared.
    pub(super) fn says_nothing(&self, side: Side<'_>, declared: usize) -> BTreeSet<String> {
        let own =
            self.anything.iter().filter(|(id, _)| side.binding.attributes[id.index()] == Some(declared));
        let labels = own.map(|&(id, code)| side.data.dictionary(id).text(code));
        labels.filter(|label| *label != ROOT_LABEL).map(str::to_owned).collect()
    }
}

/// Per attribute of a publication which of its codes say nothing.
#[derive(Debug, Default)]
pub(super) struct Anything(Vec<Vec<bool>>);

impl Anything {
    /// By the hierarchies of the attributes that are declared.
    pub(super) fn by_hierarchies(side: Side<'_>, hierarchies: &[Option<Hierarchy>]) -> Self {
        Self::by(side, |declared| {
            let hierarchy = hierarchies.get(declared)?.as_ref().filter(|h| h.len() > 1)?;
            Some(|text: &str| hierarchy.node(text).is_some_and(|node| says_nothing(hierarchy, node)))
        })
    }

    /// By what is told of each attribute that is declared, if anything is.
    pub(super) fn by<Told: Fn(&str) -> bool>(side: Side<'_>, told: impl Fn(usize) -> Option<Told>) -> Self {
        let Side { data, binding } = side;
        let own = |id: AttributeId| {
            let told = binding.attributes[id.index()].and_then(&told);
            told.map(|told| data.dictionary(id).iter().map(|(_, text)| told(text)).collect())
        };
        Anything(data.schema().attributes().map(|(id, _)| own(id).unwrap_or_default()).collect())
    }

    /// Whether a value says nothing.
    #[inline]
    pub(super) fn has(&self, attribute: AttributeId, code: u32) -> bool {
        self.0.get(attribute.index()).and_then(|own| own.get(code as usize)).is_some_and(|&nothing| nothing)
    }
}

/// Whether a label tells nothing of a value: it stands for all that there are, or every character is masked.
pub fn says_nothing(hierarchy: &Hierarchy, node: NodeId) -> bool {
    let is_masked = || {
        let label = hierarchy.label(node);
        !label.is_empty() && label.chars().all(|c| c == '*')
    };
    let is_all = || hierarchy.leaves(node).len() == hierarchy.leaf_count();
    node == NodeId::ROOT || (!hierarchy.is_leaf(node) && (is_masked() || is_all()))
}

/// An attribute of a class that the policy declares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) attribute: AttributeId,
    /// Its place in the policy.
    pub(super) declared: usize,
    /// Its place among the values of a vertex.
    slot: usize,
}

impl Column {
    /// Its code among the values of a vertex.
    #[inline]
    pub(super) fn code(self, values: &[u32]) -> u32 {
        values.get(self.slot).copied().unwrap_or(MISSING)
    }
}

/// Per class its attributes that the policy declares.
pub(super) fn declared_attributes(side: Side<'_>) -> Vec<Vec<Column>> {
    let schema = side.data.schema();
    let column = |attribute: AttributeId| {
        let declared = side.binding.attributes[attribute.index()]?;
        Some(Column { attribute, declared, slot: schema.attribute(attribute).slot as usize })
    };
    let own = |attributes: &[AttributeId]| attributes.iter().filter_map(|&a| column(a)).collect();
    side.data.schema().classes().map(|(_, class)| own(&class.attributes)).collect()
}

/// Whether a class stands elsewhere than right below the home above its own.
fn is_moved(side: Side<'_>, class: usize) -> bool {
    let above = side.data.schema().classes().nth(class).and_then(|(_, c)| c.parent);
    let home = side.binding.classes[class];
    match (above, home) {
        (Some(above), Some(home)) => side.binding.homes[home].parent != side.binding.classes[above.index()],
        _ => false,
    }
}

/// Whether the records are rows of linked tables: a column is called by its table then, wherever that hangs.
fn is_linked(binding: &Binding) -> bool {
    let column = |a: &Declared| format!("{}.{}", binding.homes[a.home].name.join("."), a.name.join("."));
    // The name of a kind has its brackets in it.
    binding.declared.iter().any(|a| a.home != 0 && a.path == column(a) && !has_kind(&a.path))
}

/// The path of a home, or the name of its table; empty for the record itself.
pub(super) fn path_of(binding: &Binding, home: usize) -> String {
    match binding.homes[home].parent {
        None => String::new(),
        Some(_) if is_linked(binding) => binding.homes[home].name.join("."),
        Some(above) => written_path(binding, home).unwrap_or_else(|| {
            binding.notation.class_path(&path_of(binding, above), &binding.homes[home].name)
        }),
    }
}

/// The path of a home as the policy writes it in the path of an attribute of a kind.
fn written_path(binding: &Binding, home: usize) -> Option<String> {
    let written = |d: &Declared| {
        let own = binding.notation.attribute_path("", &d.name);
        Some(d.path.strip_suffix(&own)?.strip_suffix(['.', '/'])?.to_owned())
    };
    let own = |d: &&Declared| d.home == home && !d.name.is_empty() && has_kind(&d.path);
    binding.declared.iter().find(own).and_then(written)
}

/// Whether the policy lets values of an attribute be published.
pub(super) fn is_told(declared: &Declared) -> bool {
    let repeats = declared.follows.is_some() && declared.role == Role::Quasi;
    !repeats && matches!(declared.role, Role::Quasi | Role::Sensitive | Role::Insensitive)
}

/// Whether a home, or one below it, has an attribute that may be published and that `counts`.
pub(super) fn has_told(binding: &Binding, home: usize, counts: impl Fn(usize) -> bool) -> bool {
    let mut own = binding.declared.iter().enumerate();
    own.any(|(d, a)| counts(d) && is_told(a) && (a.home == home || binding.is_below(a.home, home)))
}

#[cfg(test)]
mod tests {
    use bosket_model::hierarchy::prefix::prefix;
    use bosket_testkit::fixtures;

    use super::*;

    /// The labels of a hierarchy that say nothing, sorted.
    fn silent(hierarchy: &Hierarchy, labels: &[&str]) -> Vec<String> {
        let says = |label: &&&str| says_nothing(hierarchy, hierarchy.node(label).expect("a label"));
        labels.iter().filter(says).map(|label| (*label).to_owned()).collect()
    }

    #[test]
    fn a_label_says_nothing_if_it_stands_for_all_or_is_masked_from_end_to_end() {
        let all = fixtures::hierarchy("x;X;Any;*\ny;Any;*\n");
        assert_eq!(silent(&all, &["x", "y", "X", "Any", "*"]), ["Any", "*"]);
        // One value alone is told by its own name, and not by any other.
        let one = fixtures::hierarchy("x;Any;*\n");
        assert_eq!(silent(&one, &["x", "Any", "*"]), ["Any", "*"]);
        // Of codes of two lengths neither mask stands for all.
        let codes = prefix(&["10115", "20095", "123"]);
        assert_eq!(silent(&codes, &["10115", "1****", "*****", "***", "*"]), ["*****", "***", "*"]);
        // A value that is written like a mask is a value.
        let stars = fixtures::hierarchy("**;a;*\nb;*\n");
        assert_eq!(silent(&stars, &["**", "a", "b", "*"]), ["*"]);
    }
}
