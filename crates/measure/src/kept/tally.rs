//! Counting the rows and values of one side.

use bosket_model::binding::{Binding, Declared};
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, MISSING, Result};

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
}

/// The counts of one side.
#[derive(Debug)]
pub(super) struct Tally {
    /// Per home its rows.
    pub(super) homes: Vec<Count>,
    /// Per declared attribute its values.
    pub(super) values: Vec<Count>,
}

impl Tally {
    /// Counts; hierarchies are given for published values only.
    pub(super) fn of(
        side: Side<'_>,
        hierarchies: &[Option<Hierarchy>],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Side { data, binding } = side;
        let schema = data.schema();
        let attributes = declared_attributes(side);
        let anything: Vec<Option<u32>> = (schema.attributes())
            .map(|(id, _)| {
                let declared = binding.attributes[id.index()]?;
                let hierarchy = hierarchies.get(declared)?.as_ref().filter(|h| h.len() > 1)?;
                let root = |text: &str| hierarchy.node(text) == Some(NodeId::ROOT);
                (0u32..)
                    .zip(data.dictionary(id).iter())
                    .find(|(_, (_, text))| root(text))
                    .map(|(code, _)| code)
            })
            .collect();
        let moved: Vec<bool> = schema.classes().map(|(id, _)| is_moved(side, id.index())).collect();
        let mut tally = Tally {
            homes: vec![Count::default(); binding.homes.len()],
            values: vec![Count::default(); binding.declared.len()],
        };
        for record in 0..data.len() {
            observer.go_on()?;
            for v in data.vertices(record) {
                let class = data.class(v).index();
                let Some(home) = binding.classes[class] else { continue };
                tally.homes[home].add(record, moved[class], false);
                for &(a, declared) in &attributes[class] {
                    let code = data.value(v, a);
                    if code != MISSING {
                        let says_nothing = anything[a.index()] == Some(code);
                        tally.values[declared].add(record, moved[class], says_nothing);
                    }
                }
            }
        }
        Ok(tally)
    }
}

/// Per class its attributes that the policy declares, each with its place there.
pub(super) fn declared_attributes(side: Side<'_>) -> Vec<Vec<(AttributeId, usize)>> {
    let own = |attributes: &[AttributeId]| {
        let own = attributes.iter();
        own.filter_map(|&a| Some((a, side.binding.attributes[a.index()]?))).collect()
    };
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
    binding.declared.iter().any(|a| a.home != 0 && a.path == column(a))
}

/// The path of a home, or the name of its table; empty for the record itself.
pub(super) fn path_of(binding: &Binding, home: usize) -> String {
    match binding.homes[home].parent {
        None => String::new(),
        Some(_) if is_linked(binding) => binding.homes[home].name.join("."),
        Some(above) => binding.notation.class_path(&path_of(binding, above), &binding.homes[home].name),
    }
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
