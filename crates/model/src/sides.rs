//! Which side each attribute of a policy goes to, when quasi and sensitive values are published apart: what makers decide,
//! and hand to those who write. The verifier decides it again, by code of its own.

use crate::binding::effective_role;
use crate::path::{AttributePath, Notation};
use crate::policy::{Format, Policy, Role};
use crate::{Diagnostic, Failure, Fault, Result};

/// Where the values of an attribute go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// With the person.
    Quasi,
    /// To the sensitive side, as which of its attributes.
    Sensitive(usize),
    /// Nowhere.
    Gone,
}

/// A sensitive attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SensitivePath {
    /// Which attribute of the policy.
    pub declared: usize,
    /// Its path as the policy writes it.
    pub path: String,
    /// Whether a person may have several values.
    pub many: bool,
}

/// The fates of a policy's attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fates {
    /// Per attribute of the policy.
    pub of: Vec<Fate>,
    /// Per attribute of the policy its path, taken apart.
    pub paths: Vec<AttributePath>,
    /// The sensitive ones.
    pub sensitive: Vec<SensitivePath>,
}

impl Fates {
    /// The fates that a policy gives.
    pub fn new(policy: &Policy) -> Result<Self> {
        let xml = policy.source.as_ref().is_some_and(|source| source.format == Format::Xml);
        let notation = if xml { Notation::Slashes } else { Notation::Dots };
        let mut fates = Fates { of: Vec::new(), paths: Vec::new(), sensitive: Vec::new() };
        let mut problems = Vec::new();
        for (declared, attribute) in policy.attributes.iter().enumerate() {
            let path = match &attribute.structure {
                Some(path) => Ok(path.clone()),
                None => AttributePath::parse_in(notation, &attribute.path),
            };
            let path = path.unwrap_or_else(|why| {
                let what = Diagnostic::error(format!("`{}` is not a path: {why}", attribute.path));
                problems.push(what.at(attribute.place.clone()));
                AttributePath::default()
            });
            let repeats_secret = attribute.follows.as_ref().is_some_and(|leader| {
                policy.attributes.iter().any(|a| a.path == *leader && a.role == Role::Sensitive)
            });
            fates.of.push(match effective_role(&policy.attributes, attribute) {
                Role::Identifying | Role::Drop | Role::Key => Fate::Gone,
                _ if repeats_secret => Fate::Gone,
                Role::Quasi | Role::Insensitive | Role::Pseudonym => Fate::Quasi,
                Role::Sensitive => Fate::Sensitive(fates.sensitive.len()),
            });
            if let Some(Fate::Sensitive(_)) = fates.of.last() {
                let many = !path.classes.is_empty();
                fates.sensitive.push(SensitivePath { declared, path: attribute.path.clone(), many });
            }
            fates.paths.push(path);
        }
        if problems.is_empty() { Ok(fates) } else { Err(Failure::all(Fault::Policy, problems)) }
    }
}
