//! What stands on which side of a publication, and what does not belong there.
//!
//! The policy's roles decide, and nothing that the writer thought: here they are read again, and every name that was found
//! on a side is looked up in the policy. A sensitive attribute among the people is a breach however few values it has, and
//! so is one that says a sensitive value in other words.

use serde_json::json;

use bosket_model::dissected::{Dissected, Lists, NamedValues, PublishedGroups, SensitiveValues};
use bosket_model::path::{AttributePath, Notation};
use bosket_model::policy::{Format, Policy, Role};
use bosket_model::sides::{Fate, Fates, SensitivePath};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

/// A side of a publication whose quasi and sensitive values are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PublishedSide {
    /// Where people are.
    Quasi,
    /// Where the values of groups are.
    Sensitive,
}

impl PublishedSide {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            PublishedSide::Quasi => "quasi",
            PublishedSide::Sensitive => "sensitive",
        }
    }
}

/// An attribute that stands where it must not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Misplaced {
    /// Its path, or what it is called where the policy does not name it.
    pub path: String,
    /// Where it stands.
    pub side: PublishedSide,
    /// Why it must not: `it is sensitive`.
    pub reason: &'static str,
}

impl Misplaced {
    /// The JSON form.
    pub fn to_json(&self) -> serde_json::Value {
        json!({"path": self.path, "side": self.side.name(), "reason": self.reason})
    }

    /// In words.
    pub fn text(&self) -> String {
        format!("`{}` stands on the {} side, but {}", self.path, self.side.name(), self.reason)
    }
}

/// The two sides of a publication with their place in the policy.
#[derive(Clone, Debug)]
pub struct JudgedSides {
    /// What the guarantee depends on: people and sensitive values, by group.
    pub dissected: Dissected,
    /// Attributes that the policy removes and that are still there, whatever the side.
    pub left: Vec<String>,
    /// Attributes on the wrong side.
    pub misplaced: Vec<Misplaced>,
}

impl JudgedSides {
    /// Looks every name up that was found.
    pub fn new(policy: &Policy, found: &PublishedGroups) -> Result<Self> {
        let places = Places::of(policy)?;
        let dissected = places.dissected(found);
        let mut judged = JudgedSides { dissected, left: Vec::new(), misplaced: Vec::new() };
        for name in &found.quasi {
            let reason = match places.find(name) {
                Some(Belongs::Quasi) => continue,
                Some(Belongs::Sensitive) => "it is sensitive",
                Some(Belongs::Repetition) => "it says a sensitive value in other words",
                Some(Belongs::Nowhere) | None => {
                    judged.left.push(name.clone());
                    continue;
                }
            };
            judged.misplaced.push(Misplaced { path: name.clone(), side: PublishedSide::Quasi, reason });
        }
        for NamedValues { name, .. } in &found.sensitive {
            let reason = match places.find(name) {
                Some(Belongs::Sensitive) => continue,
                Some(Belongs::Quasi) => "it is not sensitive",
                Some(Belongs::Repetition) => "it says a sensitive value in other words",
                Some(Belongs::Nowhere) => "the policy removes it",
                None => "the policy does not name it",
            };
            if matches!(places.find(name), Some(Belongs::Nowhere) | None) {
                judged.left.push(name.clone());
            }
            judged.misplaced.push(Misplaced { path: name.clone(), side: PublishedSide::Sensitive, reason });
        }
        judged.left.sort();
        judged.left.dedup();
        Ok(judged)
    }

    /// Refuses a publication with attributes on the wrong side, for those who have no verdict to give.
    pub fn refuse_misplaced(&self, publication: &str) -> Result<()> {
        let help = "do not publish this; check that policy and publication belong together";
        let told = |m: &Misplaced| Diagnostic::error(m.text()).at(Place::source(publication)).help(help);
        match self.misplaced.as_slice() {
            [] => Ok(()),
            misplaced => Err(Failure::all(Fault::Data, misplaced.iter().map(told).collect())),
        }
    }
}

/// Where an attribute belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Belongs {
    Quasi,
    Sensitive,
    /// To neither side, since it repeats what is sensitive.
    Repetition,
    /// To neither side.
    Nowhere,
}

/// Where each attribute of a policy belongs, with its path taken apart.
struct Places<'p> {
    policy: &'p Policy,
    notation: Notation,
    paths: Vec<AttributePath>,
    belongs: Vec<Belongs>,
}

impl<'p> Places<'p> {
    fn of(policy: &'p Policy) -> Result<Self> {
        let format = policy.source.as_ref().map(|source| source.format);
        let notation = if format == Some(Format::Xml) { Notation::Slashes } else { Notation::Dots };
        let mut places = Places { policy, notation, paths: Vec::new(), belongs: Vec::new() };
        let mut problems = Vec::new();
        for attribute in &policy.attributes {
            let parsed = AttributePath::parse_in(notation, &attribute.path);
            match attribute.structure.clone().map_or(parsed, Ok) {
                Ok(path) => places.paths.push(path),
                Err(why) => {
                    let what = Diagnostic::error(format!("`{}` is not a path: {why}", attribute.path));
                    problems.push(what.at(attribute.place.clone()));
                }
            }
            let leader = attribute.follows.as_ref();
            let leader = leader.and_then(|path| policy.attributes.iter().find(|a| a.path == *path));
            let said = [Some(attribute.role), leader.map(|leader| leader.role)];
            // A companion says what its leader says: what identifies somebody in one of both does so in the other.
            places.belongs.push(match attribute.role {
                _ if leader.is_some_and(|leader| leader.role == Role::Sensitive) => Belongs::Repetition,
                _ if said.contains(&Some(Role::Identifying)) => Belongs::Nowhere,
                _ if said.contains(&Some(Role::Drop)) => Belongs::Nowhere,
                _ if said.contains(&Some(Role::Quasi)) => Belongs::Quasi,
                Role::Identifying | Role::Drop | Role::Key => Belongs::Nowhere,
                Role::Sensitive => Belongs::Sensitive,
                Role::Quasi | Role::Insensitive | Role::Pseudonym => Belongs::Quasi,
            });
        }
        if problems.is_empty() { Ok(places) } else { Err(Failure::all(Fault::Policy, problems)) }
    }

    /// Where a name belongs that was found in a publication; none if the policy does not name it.
    fn find(&self, name: &str) -> Option<Belongs> {
        let literal = self.policy.attributes.iter().position(|a| a.path == name);
        let declared = literal.or_else(|| {
            let path = AttributePath::parse_in(self.notation, name).ok()?;
            self.paths.iter().position(|own| *own == path)
        });
        declared.map(|declared| self.belongs[declared])
    }

    /// The sensitive attributes of the policy.
    fn sensitive(&self) -> impl Iterator<Item = SensitivePath> {
        let all = self.belongs.iter().enumerate().filter(|(_, belongs)| **belongs == Belongs::Sensitive);
        all.map(|(declared, _)| SensitivePath {
            declared,
            path: self.policy.attributes[declared].path.clone(),
            many: !self.paths[declared].classes.is_empty(),
        })
    }

    /// People and the values of all sensitive attributes, found or not.
    fn dissected(&self, found: &PublishedGroups) -> Dissected {
        let column = |SensitivePath { declared, path, many }| {
            let named = found.sensitive.iter().find(|named| named.name == path).cloned();
            let NamedValues { values, codes, .. } = named.unwrap_or_else(|| NamedValues {
                codes: found.people.iter().map(|_| Vec::new()).collect::<Lists>(),
                ..NamedValues::default()
            });
            SensitiveValues { declared, path, many, values, codes }
        };
        Dissected { people: found.people.clone(), sensitive: self.sensitive().map(column).collect() }
    }
}

/// Where the verifier expects each attribute of a policy, for whoever reads publications in its name.
pub fn expected(policy: &Policy) -> Result<Fates> {
    let places = Places::of(policy)?;
    let sensitive: Vec<SensitivePath> = places.sensitive().collect();
    let of = places.belongs.iter().enumerate().map(|(declared, belongs)| match belongs {
        Belongs::Quasi => Fate::Quasi,
        Belongs::Sensitive => {
            Fate::Sensitive(sensitive.iter().position(|s| s.declared == declared).unwrap_or_default())
        }
        Belongs::Repetition | Belongs::Nowhere => Fate::Gone,
    });
    Ok(Fates { of: of.collect(), paths: places.paths, sensitive })
}
