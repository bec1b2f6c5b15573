//! How many rows and values go in and come out, class by class and attribute by attribute, sensitive ones too.
//!
//! What is not published is told by what became of it: *merged* where a look-alike says the same, *pruned* where the
//! other members of a cluster have nothing like it, *left out* where nothing published stands for it, *suppressed* with
//! its record. What is published may have *moved*: it stands above the place where it belongs, apart from its row. What
//! the policy itself removes is in no count.

mod before;
mod dissected;
mod gone;
mod json;
mod recounted;
mod state;
mod tally;

use std::collections::BTreeSet;

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::masks::Masks;
use bosket_model::observe::Observer;
use bosket_model::policy::{Role, Shape};

use crate::loss::Compared;

pub use before::Before;
pub use dissected::TakenApart;
use gone::{Gone, GoneCount};
pub use json::OTHERS;
pub use recounted::Recounted;
pub use tally::says_nothing;
use tally::{Anything, Tally, has_told, is_told, path_of};

/// What became of rows or values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// How many the input has.
    pub input: u64,
    /// How many are published.
    pub published: u64,
    /// Of the published ones, how many stand above their place, apart from their row.
    pub moved: u64,
    /// Of the published ones, how many say only that they could be anything.
    pub anything: u64,
    /// What became of the others; none if that cannot be told without a mapping.
    pub lost: Option<Lost>,
    /// How many records of the input have any.
    pub people: u64,
}

/// What became of rows or values that are not published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// A look-alike in the same record says the same.
    pub merged: u64,
    /// The other records of the cluster have nothing like them.
    pub pruned: u64,
    /// Nothing that is published of the record stands for them.
    pub left_out: u64,
    /// The whole record is not published.
    pub suppressed: u64,
}

/// The rows of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassKept {
    /// Its path; empty for the records themselves.
    pub path: String,
    /// What became of its rows.
    pub rows: Fate,
}

/// The values of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeKept {
    /// Its path in the policy.
    pub path: String,
    /// The path of its class.
    pub class: String,
    /// Its role.
    pub role: Role,
    /// What its values are published as in place of themselves.
    pub masked: Option<Masked>,
    /// The labels besides `*` that say no more than it. Whoever has no hierarchy counts by them.
    pub says_nothing: BTreeSet<String>,
    /// What became of its values.
    pub values: Fate,
}

/// What values are published as by a private key: they count as published, and never as what they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masked {
    /// Dates that are shifted, one number of days per person.
    Shifted,
    /// Codes that name the same person in every release.
    Pseudonym,
}

impl AttributeKept {
    /// What it is to a reader, if it is not quasi: `sensitive, shifted`.
    pub fn kind(&self) -> Option<String> {
        match (self.role, self.masked) {
            (_, Some(Masked::Pseudonym)) => Some(Role::Pseudonym.name().to_owned()),
            (role, Some(Masked::Shifted)) => Some(format!("{role}, shifted")),
            (Role::Quasi, None) => None,
            (role, None) => Some(role.name().to_owned()),
        }
    }
}

/// What of the rows and values of the input is published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// By class, the records themselves first.
    pub classes: Vec<ClassKept>,
    /// By attribute that may be published, in the policy's order.
    pub attributes: Vec<AttributeKept>,
}

impl Fate {
    fn plus(self, other: Fate) -> Fate {
        let lost = self.lost.zip(other.lost).map(|(a, b)| Lost {
            merged: a.merged + b.merged,
            pruned: a.pruned + b.pruned,
            left_out: a.left_out + b.left_out,
            suppressed: a.suppressed + b.suppressed,
        });
        Fate {
            input: self.input + other.input,
            published: self.published + other.published,
            moved: self.moved + other.moved,
            anything: self.anything + other.anything,
            lost,
            people: self.people + other.people,
        }
    }

    /// How many are not published.
    pub fn gone(&self) -> u64 {
        self.input.saturating_sub(self.published)
    }
}

impl Kept {
    /// Counts both sides.
    pub fn new(compared: &Compared<'_>, observer: &dyn Observer) -> Result<Self> {
        let Compared { policy, input, published, apart, .. } = *compared;
        let clustered = policy.need_privacy()?.model.shape() == Shape::VertexTree;
        let before = Tally::of_input(input, observer)?;
        let anything = Anything::by_hierarchies(published, compared.hierarchies);
        let after = Tally::of(published, &anything, observer)?;
        let gone = Gone::of(compared, clustered, observer)?;
        let (ours, theirs) = (input.binding, published.binding);
        let published_home = |path: &str| (0..theirs.homes.len()).find(|&h| path_of(theirs, h) == path);
        let mut kept = Kept::default();
        let masks = Masks::of(compared.policy);
        for home in 0..ours.homes.len() {
            let path = path_of(ours, home);
            let rows = before.homes[home];
            let aside = |d: usize| apart.iter().any(|s| s.declared == d);
            // Rows of sensitive values alone are no rows any more once these stand apart.
            if rows.all == 0 || !has_told(ours, home, |d| !aside(d)) {
                continue;
            }
            let out = published_home(&path).map(|h| after.homes[h]).unwrap_or_default();
            let fate = Fate {
                input: rows.all,
                published: out.all,
                moved: out.moved,
                people: rows.people,
                ..Fate::default()
            };
            let lost = gone.as_ref().map(|g| lost(fate, g.homes[home], clustered));
            kept.classes.push(ClassKept { path, rows: Fate { lost, ..fate } });
        }
        for (declared, attribute) in ours.declared.iter().enumerate() {
            let values = before.values[declared];
            if values.all == 0 || !is_told(attribute) {
                continue;
            }
            let out = after.values[declared];
            let aside = apart.iter().filter(|s| s.declared == declared).map(|s| s.codes.total() as u64);
            let telling = out.all - out.anything + aside.sum::<u64>();
            // Of what says nothing, some may stand where there was nothing.
            let anything = out.anything.min(values.all.saturating_sub(telling));
            let fate = Fate {
                input: values.all,
                published: telling + anything,
                moved: out.moved.min(telling + anything),
                anything,
                people: values.people,
                lost: None,
            };
            let lost = gone.as_ref().map(|g| lost(fate, g.values[declared], clustered));
            let (path, class) = (attribute.path.clone(), path_of(ours, attribute.home));
            kept.attributes.push(AttributeKept {
                path,
                class,
                role: attribute.role,
                masked: masked(&masks, declared),
                says_nothing: after.says_nothing(published, declared),
                values: Fate { lost, ..fate },
            });
        }
        Ok(kept)
    }

    /// Both together, of other records of the same policy.
    #[must_use]
    pub fn merge(mut self, other: Kept) -> Self {
        for class in other.classes {
            match self.classes.iter_mut().find(|own| own.path == class.path) {
                Some(own) => own.rows = own.rows.plus(class.rows),
                None => self.classes.push(class),
            }
        }
        for attribute in other.attributes {
            match self.attributes.iter_mut().find(|own| own.path == attribute.path) {
                Some(own) => {
                    own.values = own.values.plus(attribute.values);
                    own.says_nothing.extend(attribute.says_nothing);
                }
                None => self.attributes.push(attribute),
            }
        }
        self
    }

    /// The same in the order of the policy, which merging does not keep where some records have no value of an attribute.
    #[must_use]
    pub fn ordered(mut self, input: &Binding) -> Self {
        let home = |path: &str| (0..input.homes.len()).position(|home| path_of(input, home) == path);
        self.classes.sort_by_key(|class| home(&class.path));
        let declared = |path: &str| input.declared.iter().position(|own| own.path == path);
        self.attributes.sort_by_key(|attribute| declared(&attribute.path));
        self
    }

    /// The input and published values of all sensitive attributes together.
    pub fn sensitive(&self) -> (u64, u64) {
        let own = self.attributes.iter().filter(|a| a.role == Role::Sensitive);
        own.fold((0, 0), |(all, out), a| (all + a.values.input, out + a.values.published.min(a.values.input)))
    }

    /// The values of one attribute.
    pub fn values(&self, path: &str) -> Option<&Fate> {
        self.attributes.iter().find(|a| a.path == path).map(|a| &a.values)
    }

    /// The rows of one class.
    pub fn rows(&self, path: &str) -> Option<&Fate> {
        self.classes.iter().find(|c| c.path == path).map(|c| &c.rows)
    }
}

/// What values of a declared attribute are published as.
fn masked(masks: &Masks, declared: usize) -> Option<Masked> {
    if masks.pseudonyms[declared] {
        return Some(Masked::Pseudonym);
    }
    masks.shifts[declared].map(|_| Masked::Shifted)
}

/// What became of those that are not published.
fn lost(fate: Fate, gone: GoneCount, clustered: bool) -> Lost {
    let suppressed = gone.suppressed.min(fate.gone());
    let rest = fate.gone() - suppressed;
    if clustered {
        return Lost { pruned: rest, suppressed, ..Lost::default() };
    }
    let left_out = gone.left_out.min(rest);
    Lost { merged: rest - left_out, left_out, suppressed, ..Lost::default() }
}
