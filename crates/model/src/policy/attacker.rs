//! `[[privacy.attacker]]`: people who may look for somebody in the publication, told by what they know.
//!
//! ```text
//! neighbour   knows gender, birth_year and home.town, all at once, and one more value
//! colleague   knows any two values of visits[], and how they are related
//! ```

use serde_json::{Map, Value, json};

use super::node::Node;
use super::{AttributePolicy, Policy, Privacy, Role};
use crate::path::AttributePath;

/// Who may look for a person, as the policy says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attacker {
    /// What they are called.
    pub name: String,
    /// Paths of the attributes whose values they know, all at once.
    pub knows: Vec<String>,
    /// How many further values they may know.
    pub m: u32,
    /// How many relations between these.
    pub n: u32,
    /// Where these stand, as written: attributes, arrays, tables. Empty: every quasi attribute that is not in `knows`.
    pub among: Vec<String>,
    /// How many people must fit, if that is not `privacy.k`.
    pub k: Option<u32>,
}

/// An attacker as those need it who search and verify: attributes by their places in the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knower {
    /// As the policy tells them; none for somebody who knows nothing in particular.
    pub attacker: Option<Attacker>,
    /// The attributes whose values they know, all at once; ascending.
    pub knows: Vec<usize>,
    /// The attributes among which they may know further values; ascending.
    pub among: Vec<usize>,
    /// Fewest people who must fit.
    pub k: u32,
    /// Most further values.
    pub m: u32,
    /// Most relations between these.
    pub n: u32,
}

impl Knower {
    /// What they are called; none for somebody who knows nothing in particular.
    pub fn name(&self) -> Option<&str> {
        self.attacker.as_ref().map(|attacker| attacker.name.as_str())
    }

    /// Whether they may know a further value at a place. Where the policy does not say among which, that is everywhere else,
    /// be it a place that only another release shows.
    pub fn may_know(&self, declared: usize) -> bool {
        match &self.attacker {
            Some(attacker) if !attacker.among.is_empty() => self.among.contains(&declared),
            _ => !self.knows.contains(&declared),
        }
    }

    /// What they know in words, as in "who knows {…}".
    pub fn words(&self) -> String {
        let known = self.attacker.as_ref().map_or(&[][..], |attacker| &attacker.knows);
        let among = self.attacker.as_ref().map_or(&[][..], |attacker| &attacker.among);
        let further = match (self.m, known.is_empty()) {
            (0, _) => None,
            (1, true) => Some("one value".to_owned()),
            (1, false) => Some("one more value".to_owned()),
            (m, true) => Some(format!("up to {m} values")),
            (m, false) => Some(format!("up to {m} more values")),
        };
        let further = further.map(|further| match among {
            [] => further,
            places => format!("{further} of {}", listed(places)),
        });
        let related = if self.n > 0 && self.m > 1 { " and one relation between them" } else { "" };
        let all: Vec<String> =
            (!known.is_empty()).then(|| listed(known)).into_iter().chain(further).collect();
        format!("{}{related}", all.join(" and "))
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl Attacker {
    /// What they are called in a sentence: `a neighbour`, `an insurer`.
    pub fn called(&self) -> String {
        let vowel = self.name.to_lowercase().starts_with(['a', 'e', 'i', 'o', 'u']);
        format!("{} {}", if vowel { "an" } else { "a" }, self.name)
    }

    pub(super) fn read(node: &Node) -> Self {
        let count = |key: &str| node.get(key).and_then(Node::int).and_then(|i| u32::try_from(i).ok());
        Attacker {
            name: node.str("name").unwrap_or_default().to_owned(),
            knows: node.strings("knows"),
            m: count("m").unwrap_or(0),
            n: count("n").unwrap_or(0),
            among: node.strings("among"),
            k: count("k"),
        }
    }

    /// As it stands in a policy.
    pub fn to_json(&self) -> Value {
        let list = |items: &[String]| (!items.is_empty()).then(|| json!(items));
        let keys = [
            ("name", Some(json!(self.name))),
            ("knows", list(&self.knows)),
            ("m", Some(json!(self.m))),
            ("n", Some(json!(self.n))),
            ("among", list(&self.among)),
            ("k", self.k.map(Value::from)),
        ];
        let keys = keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Value::Object(keys.collect::<Map<_, _>>())
    }
}

/// Whether an attribute is the one that is named, or stands in the named array or table, or below it.
pub(super) fn is_named(name: &str, path: &str, tables: &[String]) -> bool {
    let below = |rest: &str| rest.starts_with(['.', '/']) || rest.starts_with('[');
    path == name
        || tables.iter().any(|table| table == name)
        || (name.ends_with(']') || name.ends_with('}')) && path.strip_prefix(name).is_some_and(below)
}

/// The tables that a column stands below, and its own.
pub(super) fn tables_of(path: &str, structure: &AttributePath) -> Vec<String> {
    let column = structure.name.first().map_or("", String::as_str);
    let own = path.strip_suffix(column).and_then(|table| table.strip_suffix('.'));
    structure.classes.concat().into_iter().chain(own.map(str::to_owned)).collect()
}

impl Privacy {
    /// How many values, and how many relations, somebody may know who knows nothing in particular: `m` and `n`, or, where only
    /// attackers say how much is known, as much as the strongest of them.
    pub fn most_known(&self) -> Option<(u32, u32)> {
        let own = self.m.map(|m| (m, self.n.unwrap_or(0)));
        let any = self.attackers.iter().filter(|attacker| attacker.knows.is_empty());
        let of_any = any.map(|attacker| (attacker.m, attacker.n)).max();
        let all = |attacker: &Attacker| (attacker.knows.len() as u32 + attacker.m, attacker.n);
        own.or(of_any).or_else(|| self.attackers.iter().map(all).max())
    }
}

impl Policy {
    /// Everybody against whom the publication must hold: who is told by name, and, where `m` is given, somebody who knows
    /// nothing in particular. Empty where no values are counted.
    pub fn knowers(&self) -> Vec<Knower> {
        let Some(privacy) = &self.privacy else { return Vec::new() };
        let quasi = |at: &usize| {
            let attribute = &self.attributes[*at];
            attribute.role == Role::Quasi && attribute.follows.is_none()
        };
        let all: Vec<usize> = (0..self.attributes.len()).filter(quasi).collect();
        let plain = privacy.m.map(|m| Knower {
            attacker: None,
            knows: Vec::new(),
            among: all.clone(),
            k: privacy.k.unwrap_or(0),
            m,
            n: privacy.n.unwrap_or(0),
        });
        let told = privacy.attackers.iter().map(|attacker| {
            let is = |at: usize, names: &[String]| {
                let AttributePolicy { path, structure, .. } = &self.attributes[at];
                let tables = structure.as_ref().map_or_else(Vec::new, |own| tables_of(path, own));
                names.iter().any(|name| is_named(name, path, &tables))
            };
            let knows: Vec<usize> = all
                .iter()
                .copied()
                .filter(|&at| attacker.knows.contains(&self.attributes[at].path))
                .collect();
            let may = |at: &usize| match attacker.among.is_empty() {
                true => !knows.contains(at),
                false => is(*at, &attacker.among),
            };
            Knower {
                attacker: Some(attacker.clone()),
                among: all.iter().copied().filter(may).collect(),
                knows,
                k: attacker.k.or(privacy.k).unwrap_or(0),
                m: attacker.m,
                n: attacker.n,
            }
        });
        plain.into_iter().chain(told).collect()
    }
}
