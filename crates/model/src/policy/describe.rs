//! How sections and keys are described. One description drives the checking, the JSON Schema and the
//! reference, so that the three cannot drift apart.

use super::keys::{ATTRIBUTE, ROOT};
use super::models::Model;
use crate::diag::Severity;

/// A table of the policy.
pub(super) struct Section {
    /// As a reader knows it: `[privacy]`, or the builder's name.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) keys: &'static [Key],
}

impl Section {
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|k| k.name == name)
    }
}

/// A key of a section.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Type,
    pub(super) required: bool,
    pub(super) default: Option<Literal>,
    pub(super) about: &'static str,
    /// Said when the value is too low.
    pub(super) hint: &'static str,
    pub(super) scope: Option<Scope>,
    /// What a text that stands here names outside of the policy.
    pub(super) names: Option<NamedKind>,
}

/// What a value of a policy names outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedKind {
    /// A file or folder, seen from the folder of the policy.
    File,
    /// The address of a database.
    Database,
}

/// The models for which a key has a meaning.
pub(super) struct Scope {
    pub(super) models: &'static [Model],
    /// Required by the models that say so in their table.
    pub(super) needed: bool,
    /// An error where the reader would believe in a protection that is not there.
    pub(super) otherwise: Severity,
}

/// A value of the policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Literal {
    Bool(bool),
    Int(i64),
    Number(f64),
    Text(&'static str),
}

/// One of the words a key takes; with models, only under them.
pub(super) struct Choice {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) models: &'static [Model],
}

impl Choice {
    pub(super) fn fits(&self, model: Model) -> bool {
        self.models.is_empty() || self.models.contains(&model)
    }
}

/// What a value has to be.
pub(super) enum Type {
    /// A string that says something.
    Text,
    /// A value of the data: any string, the empty one too.
    Value,
    /// `YYYY-MM-DD`, quoted or as TOML's own date.
    Date,
    /// A whole number with a unit of time, quoted.
    Duration,
    Bool,
    Int {
        min: i64,
        max: i64,
    },
    /// A finite number from `min` (not `min` itself if `open`) to `max`.
    Number {
        min: f64,
        open: bool,
        max: f64,
    },
    OneOf(&'static [Choice]),
    List {
        of: &'static Type,
        min: usize,
        max: usize,
    },
    /// A table whose keys are attribute paths.
    Map(&'static Type),
    Table(&'static Section),
    /// `[[name]]`
    Tables(&'static Section),
    /// A table whose key `build` says which other keys it has.
    Build(&'static [Section]),
    /// Alternatives that differ in the kind of TOML value.
    AnyOf(&'static [Type]),
    /// A type that contains itself.
    Named(&'static str, &'static Type),
}

impl Type {
    pub(super) const POSITIVE: Type = Type::Number { min: 0.0, open: true, max: f64::INFINITY };
    pub(super) const ANY_NUMBER: Type =
        Type::Number { min: f64::NEG_INFINITY, open: false, max: f64::INFINITY };

    pub(super) const fn at_least(min: i64) -> Type {
        Type::Int { min, max: u32::MAX as i64 }
    }

    /// In words, as the object of "must be".
    pub(super) fn words(&self) -> String {
        match self {
            Type::Text | Type::Value | Type::OneOf(_) => "a string".into(),
            Type::Date => "a date YYYY-MM-DD".into(),
            Type::Duration => "a duration such as \"60s\"".into(),
            Type::Bool => "true or false".into(),
            Type::Int { .. } => "a whole number".into(),
            Type::Number { .. } => "a number".into(),
            Type::List { of, min, max } if min == max => format!("a list of {min} {}", of.plural()),
            Type::List { of, .. } => format!("a list of {}", of.plural()),
            Type::Map(of) => format!("a table of {} by attribute path", of.plural()),
            Type::Table(_) => "a table".into(),
            Type::Tables(_) => "a list of tables".into(),
            Type::Build(_) => "a table with the key `build`".into(),
            Type::AnyOf(types) => types.iter().map(Type::words).collect::<Vec<_>>().join(" or "),
            Type::Named(_, of) => of.words(),
        }
    }

    fn plural(&self) -> String {
        match self {
            Type::Text | Type::Value | Type::OneOf(_) => "strings".into(),
            Type::Date => "dates".into(),
            Type::Duration => "durations".into(),
            Type::Bool => "true or false".into(),
            Type::Int { .. } => "whole numbers".into(),
            Type::Number { .. } => "numbers".into(),
            Type::List { max, .. } => if *max == 2 { "pairs" } else { "lists" }.into(),
            Type::Map(_) | Type::Table(_) | Type::Tables(_) | Type::Build(_) => "tables".into(),
            Type::AnyOf(types) => types.iter().map(Type::plural).collect::<Vec<_>>().join(" or "),
            // Spelling a recursive type out would never end.
            Type::Named(..) => "lists".into(),
        }
    }
}

/// The key that a dotted path leads to, through sections that stand once.
pub(super) fn key(path: &[&str]) -> Option<&'static Key> {
    let (last, sections) = path.split_last()?;
    let mut section: &'static Section = &ROOT;
    for name in sections {
        let Type::Table(inner) = section.key(name)?.kind else { return None };
        section = inner;
    }
    section.key(last)
}

/// A key of an attribute.
pub(super) fn key_of_attribute(name: &str) -> Option<&'static Key> {
    ATTRIBUTE.key(name)
}

impl Key {
    pub(super) const fn new(name: &'static str, kind: Type, about: &'static str) -> Key {
        Key { name, kind, required: false, default: None, about, hint: "", scope: None, names: None }
    }
    pub(super) const fn required(mut self) -> Key {
        self.required = true;
        self
    }
    pub(super) const fn default(mut self, value: Literal) -> Key {
        self.default = Some(value);
        self
    }
    pub(super) const fn hint(mut self, hint: &'static str) -> Key {
        self.hint = hint;
        self
    }
    /// A text that stands here is a file or folder.
    pub(super) const fn file(mut self) -> Key {
        self.names = Some(NamedKind::File);
        self
    }
    /// A text that stands here is the address of a database.
    pub(super) const fn database(mut self) -> Key {
        self.names = Some(NamedKind::Database);
        self
    }
    /// Has a meaning only under these models; elsewhere it is pointed out.
    pub(super) const fn only(mut self, models: &'static [Model]) -> Key {
        self.scope = Some(Scope { models, needed: false, otherwise: Severity::Warning });
        self
    }
    /// Promises a protection, which only these models give; elsewhere it is refused.
    pub(super) const fn protects(mut self, models: &'static [Model]) -> Key {
        self.scope = Some(Scope { models, needed: false, otherwise: Severity::Error });
        self
    }
    /// A number of the guarantee: required by the models that say so in their table.
    pub(super) const fn needed(mut self) -> Key {
        if let Some(scope) = &mut self.scope {
            scope.needed = true;
        }
        self
    }

    /// Whether the key means something under the model.
    pub(super) fn fits(&self, model: Model) -> bool {
        self.scope.as_ref().is_none_or(|s| s.models.contains(&model))
    }

    /// Whether it means nothing under the model, and nobody would miss a protection.
    pub(super) fn is_ignored_by(&self, model: Model) -> bool {
        !self.fits(model) && self.scope.as_ref().is_some_and(|s| s.otherwise == Severity::Warning)
    }

    /// Whether the model cannot do without the key.
    pub(super) fn is_needed_by(&self, model: Model) -> bool {
        let needed = self.scope.as_ref().is_some_and(|s| s.needed);
        needed && model.needs().iter().any(|n| n.name() == self.name)
    }
}
