//! Which attribute of the data is which attribute of the policy.
//!
//! The policy's paths span a tree of **homes**: the classes where values belong. A publication may hold a class
//! higher up than its home, under an ancestor (disassociation moved it there), keyed by its own name or, where
//! names would collide, by its path below that ancestor joined with dots. Such a class is resolved to its home,
//! so that a moved value is still the same attribute.

use rustc_hash::FxHashMap;

use crate::diag::{Diagnostic, Failure, Fault, Place, nearest};
use crate::path::{AttributePath, Notation};
use crate::policy::{AttributePolicy, Role, Undeclared};
use crate::schema::{Attribute, AttributeId, ClassId, Schema};

/// So many comparisons of names are made to find out what was meant.
const COMPARISONS: usize = 100_000;

/// Homes by the home above and the name below it.
type HomesByName = FxHashMap<(usize, Vec<String>), usize>;

/// A class as the policy's paths name it.
#[derive(Clone, Debug)]
pub struct Home {
    /// The home above; none for the record itself.
    pub parent: Option<usize>,
    /// Key path below the parent.
    pub name: Vec<String>,
    /// Distance from the record itself.
    pub depth: usize,
}

/// An attribute that the policy declares.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The path as the policy writes it.
    pub path: String,
    /// Its role; a companion shares in the role of the attribute it follows.
    pub role: Role,
    /// The home it belongs to.
    pub home: usize,
    /// Key path inside a vertex of its home.
    pub name: Vec<String>,
    /// The declared attribute whose label it repeats.
    pub follows: Option<usize>,
    /// Whether it is published as a pseudonym; its role is then that of what is published as it is.
    pub pseudonym: bool,
}

/// Where vertices have places whose emptiness is seen.
#[derive(Clone, Debug, PartialEq)]
pub struct HomePlaces {
    /// Per home the declared attributes that its vertices have a place for.
    of_home: Vec<Vec<usize>>,
    /// Per home the one above.
    parent: Vec<Option<usize>>,
}

impl HomePlaces {
    /// The places of the policy.
    pub fn new(binding: &Binding) -> Self {
        HomePlaces { of_home: binding.places(), parent: binding.homes.iter().map(|h| h.parent).collect() }
    }

    /// Per home whether a vertex of it that says nothing but what stands beside its quasi values would be seen to be empty: it,
    /// or one above that is there for its sake, has places, and none of their attributes `is_published`. Say all of
    /// `visits[].hospital` is left out. A visit with a note in it would be a visit with the hospital `*`, and there may be too
    /// few people with any visit: it goes with its note. A visit that has something quasi below it stays: whatever can be
    /// known of its hospital `*`, whoever knows what is below knows as well.
    pub fn seen_empty(&self, is_published: impl Fn(usize) -> bool) -> Vec<bool> {
        let goes = |home: usize| {
            let up = std::iter::successors(Some(home), |&home| self.parent[home]);
            let mut up = up.filter(|&home| home != 0 && !self.of_home[home].is_empty());
            up.next().is_some_and(|home| !self.of_home[home].iter().any(|&declared| is_published(declared)))
        };
        (0..self.parent.len()).map(goes).collect()
    }
}

/// The data's attributes and classes, each with its place in the policy.
#[derive(Clone, Debug)]
pub struct Binding {
    /// How the data's paths are written.
    pub notation: Notation,
    /// Homes; 0 is the record itself, parents come before children.
    pub homes: Vec<Home>,
    /// The policy's attributes, in its order.
    pub declared: Vec<Declared>,
    /// For each attribute of the data the declared one; none if the policy drops undeclared attributes.
    pub attributes: Vec<Option<usize>>,
    /// For each class of the data its home; none if nothing in it is declared.
    pub classes: Vec<Option<usize>>,
}

impl Binding {
    /// Binds the schema of a publication, which may hold classes above their homes. Attributes that the policy does not
    /// name are refused with the whole list, unless it says `undeclared = "drop"`.
    pub fn new(
        schema: &Schema,
        attributes: &[AttributePolicy],
        undeclared: Undeclared,
        source: &str,
    ) -> Result<Self, Failure> {
        Self::bind(schema, attributes, undeclared, source, true)
    }

    /// Binds the schema of private data, where every class must stand at its home: one found elsewhere is not named by
    /// the policy, however alike.
    pub fn of_input(
        schema: &Schema,
        attributes: &[AttributePolicy],
        undeclared: Undeclared,
        source: &str,
    ) -> Result<Self, Failure> {
        Self::bind(schema, attributes, undeclared, source, false)
    }

    fn bind(
        schema: &Schema,
        attributes: &[AttributePolicy],
        undeclared: Undeclared,
        source: &str,
        moved: bool,
    ) -> Result<Self, Failure> {
        let mut binding = Binding {
            notation: schema.notation(),
            homes: vec![Home { parent: None, name: Vec::new(), depth: 0 }],
            declared: Vec::new(),
            attributes: Vec::new(),
            classes: Vec::new(),
        };
        let mut problems = Vec::new();
        let mut homes = HomesByName::default();
        let literal = Literal::new(schema);
        for attribute in attributes {
            match resolve_path(schema, &literal, attribute) {
                Ok(path) => binding.declare(attribute, path, &mut homes),
                Err(why) => problems.push(
                    Diagnostic::error(format!("`{}` is not a path: {why}", attribute.path))
                        .at(attribute.place.clone())
                        .help(match schema.notation() {
                            Notation::Dots => {
                                "write keys joined by dots, and `[]` after every array: `visits[].hospital`"
                            }
                            Notation::Slashes => {
                                "write names joined by slashes, `[]` after every element that repeats and `@` \
                                 before attributes: `visit[]/hospital`, `visit[]/@rate`"
                            }
                        }),
                ),
            }
        }
        if !problems.is_empty() {
            return Err(Failure::all(Fault::Policy, problems));
        }
        for (i, attribute) in attributes.iter().enumerate() {
            binding.declared[i].follows = leader(attributes, attribute);
            binding.declared[i].role = effective_role(attributes, attribute);
        }
        for (_, class) in schema.classes() {
            let home = match class.parent {
                None => Some(0),
                Some(parent) => binding.classes[parent.index()]
                    .and_then(|p| binding.home_of(p, &class.name, moved, &homes)),
            };
            binding.classes.push(home);
        }
        let mut declared: FxHashMap<(usize, &[String]), usize> = FxHashMap::default();
        for (i, d) in binding.declared.iter().enumerate() {
            declared.entry((d.home, &d.name)).or_insert(i);
        }
        let found = schema.attributes().map(|(_, attribute)| {
            let home = binding.classes[attribute.class.index()]?;
            declared.get(&(home, attribute.name.as_slice())).copied()
        });
        binding.attributes = found.collect();
        let unnamed: Vec<&str> = (schema.attributes())
            .filter(|(id, _)| binding.attributes[id.index()].is_none())
            .map(|(_, a)| a.path.as_str())
            .collect();
        if !unnamed.is_empty() && undeclared == Undeclared::Refuse {
            return Err(binding.refuse(&unnamed, source));
        }
        Ok(binding)
    }

    fn declare(&mut self, attribute: &AttributePolicy, path: AttributePath, homes: &mut HomesByName) {
        let mut home = 0;
        for name in path.classes {
            home = *homes.entry((home, name.clone())).or_insert_with(|| {
                self.homes.push(Home { parent: Some(home), name, depth: self.homes[home].depth + 1 });
                self.homes.len() - 1
            });
        }
        self.declared.push(Declared {
            path: attribute.path.clone(),
            role: published_as(attribute.role),
            home,
            name: path.name,
            follows: None,
            pseudonym: attribute.role == Role::Pseudonym,
        });
    }

    /// The home of a class found under `name` in a vertex that belongs to `parent`.
    fn home_of(&self, parent: usize, name: &[String], moved: bool, homes: &HomesByName) -> Option<usize> {
        let direct = homes.get(&(parent, name.to_vec())).copied();
        if direct.is_some() || !moved {
            return direct;
        }
        let below = |&h: &usize| self.is_below(h, parent);
        let joined = self.join(&name.iter().map(String::as_str).collect::<Vec<_>>());
        if let Some(full) =
            (0..self.homes.len()).filter(below).find(|&h| self.joined_path(parent, h) == joined)
        {
            return Some(full);
        }
        let mut named = (0..self.homes.len()).filter(below).filter(|&h| self.homes[h].name == name);
        match (named.next(), named.next()) {
            (Some(home), None) => Some(home),
            _ => None,
        }
    }

    /// Whether home `h` lies below home `above`.
    pub fn is_below(&self, h: usize, above: usize) -> bool {
        let mut at = self.homes[h].parent;
        while let Some(parent) = at {
            if parent == above {
                return true;
            }
            at = self.homes[parent].parent;
        }
        false
    }

    fn joined_path(&self, from: usize, home: usize) -> String {
        let mut names: Vec<&str> = Vec::new();
        let mut at = home;
        while at != from {
            names.extend(self.homes[at].name.iter().rev().map(String::as_str));
            at = self.homes[at].parent.expect("`from` is an ancestor");
        }
        names.reverse();
        self.join(&names)
    }

    /// Names as one. In XML a name has at most one prefix: the last one's, which the others of that prefix go without.
    fn join(&self, names: &[&str]) -> String {
        let prefix = names.last().and_then(|last| last.split_once(':')).map(|(prefix, _)| prefix);
        let Some(prefix) = prefix.filter(|_| self.notation == Notation::Slashes) else {
            return match self.notation {
                Notation::Dots => names.join("."),
                Notation::Slashes => names.join(".").replace(':', "."),
            };
        };
        let bare = |name: &&str| match name.split_once(':') {
            Some((own, local)) if own == prefix => local.to_owned(),
            _ => name.replace(':', "."),
        };
        let parts: Vec<String> = names.iter().map(bare).collect();
        format!("{prefix}:{}", parts.join("."))
    }

    /// The key under which a vertex of `home` is written in a vertex of `parent`, which is its ancestor.
    pub fn key_under(&self, parent: usize, home: usize) -> Vec<String> {
        let name = &self.homes[home].name;
        if self.homes[home].parent == Some(parent) {
            return name.clone();
        }
        let rival_class = (0..self.homes.len())
            .any(|h| h != home && self.homes[h].name.first() == name.first() && self.is_below(h, parent));
        let rival_value = self.declared.iter().any(|d| d.home == parent && d.name.first() == name.first());
        if rival_class || rival_value || name.is_empty() {
            vec![self.joined_path(parent, home)]
        } else {
            name.clone()
        }
    }

    /// The same without companions of quasi attributes: they are dropped rather than generalized on their own.
    #[must_use]
    pub fn without_companions(&self) -> Binding {
        let mut binding = self.clone();
        for declared in &mut binding.attributes {
            let quasi_companion =
                |d: usize| self.declared[d].follows.is_some() && self.declared[d].role == Role::Quasi;
            if declared.is_some_and(quasi_companion) {
                *declared = None;
            }
        }
        binding
    }

    /// The declared attributes that the data does not have.
    pub fn absent(&self) -> impl Iterator<Item = usize> {
        let mut present = vec![false; self.declared.len()];
        self.attributes.iter().flatten().for_each(|&d| present[d] = true);
        (0..self.declared.len()).filter(move |&d| !present[d])
    }

    /// Per home the declared attributes of which each of its vertices has one place, which is seen to be empty if nothing stands
    /// there. The items of an array are a set, and a companion only repeats.
    pub fn places(&self) -> Vec<Vec<usize>> {
        let mut at_home = vec![0usize; self.homes.len()];
        self.declared.iter().for_each(|declared| at_home[declared.home] += 1);
        let mut places = vec![Vec::new(); self.homes.len()];
        for (at, own) in self.declared.iter().enumerate() {
            let is_item = own.home != 0 && own.name.is_empty() && at_home[own.home] == 1;
            if own.role == Role::Quasi && own.follows.is_none() && !is_item {
                places[own.home].push(at);
            }
        }
        places
    }

    /// Whether a vertex of the attribute's class has one place for its value, which is then seen to be empty. The items of an
    /// array are a set, a companion only repeats, and what stands above its home was parted from its row.
    pub fn is_single_valued(&self, schema: &Schema, attribute: AttributeId) -> bool {
        let Some(declared) = self.attributes[attribute.index()] else {
            return false;
        };
        let class = schema.attribute(attribute).class;
        self.declared[declared].follows.is_none() && self.is_at_home(schema, class) && !self.is_item(declared)
    }

    /// Whether a class, and all above it, stand where the policy has them.
    pub fn is_at_home(&self, schema: &Schema, class: ClassId) -> bool {
        let above = schema.class(class).parent;
        let home = self.classes[class.index()];
        let home_above = home.map(|home| self.homes[home].parent);
        home_above == Some(above.and_then(|above| self.classes[above.index()]))
            && above.is_none_or(|above| self.is_at_home(schema, above))
    }

    /// Whether a declared attribute is the item of an array, which has nothing else.
    pub fn is_item(&self, declared: usize) -> bool {
        let home = self.declared[declared].home;
        let beside = self.declared.iter().filter(|other| other.home == home).count() > 1;
        home != 0 && self.declared[declared].name.is_empty() && !beside
    }

    /// The role of an attribute of the data; none if it is dropped.
    pub fn role(&self, attribute: AttributeId) -> Option<Role> {
        self.attributes[attribute.index()].map(|d| self.declared[d].role)
    }

    /// The attributes of a class that have a role, in the policy's order.
    pub fn in_policy_order(&self, schema: &Schema, class: ClassId, role: Role) -> Vec<AttributeId> {
        let mut found: Vec<AttributeId> = (schema.class(class).attributes.iter().copied())
            .filter(|&a| self.role(a) == Some(role))
            .collect();
        found.sort_by_key(|a| self.attributes[a.index()]);
        found
    }

    /// Refuses what the policy does not name.
    pub fn refuse(&self, unnamed: &[&str], source: &str) -> Failure {
        let mut absent: Vec<&str> = self.absent().map(|d| self.declared[d].path.as_str()).collect();
        if absent.len().saturating_mul(unnamed.len()) > COMPARISONS {
            absent.clear();
        }
        let diagnostics = unnamed
            .iter()
            .map(|path| {
                let diagnostic = Diagnostic::error("the policy does not say what this attribute is")
                    .at(Place::source(source).path(*path));
                match nearest(path, absent.iter().copied()) {
                    Some(close) => {
                        diagnostic.help(format!("the policy has `{close}`, which the data does not"))
                    }
                    None => diagnostic.help(
                        "add an [[attribute]] with this path and a role, or set `undeclared = \"drop\"`",
                    ),
                }
            })
            .collect();
        Failure::all(Fault::Policy, diagnostics)
    }
}

fn leader(attributes: &[AttributePolicy], attribute: &AttributePolicy) -> Option<usize> {
    attribute.follows.as_ref().and_then(|f| attributes.iter().position(|a| a.path == *f))
}

/// What an attribute of the policy is to an attacker: a companion shares in the role of the attribute it follows.
pub fn effective_role(attributes: &[AttributePolicy], attribute: &AttributePolicy) -> Role {
    match leader(attributes, attribute) {
        Some(leader) => companion_role(attribute.role, attributes[leader].role),
        None => published_as(attribute.role),
    }
}

/// Once it is a pseudonym, it is published as it is.
fn published_as(role: Role) -> Role {
    if role == Role::Pseudonym { Role::Insensitive } else { role }
}

/// A companion says what its leader says: what holds for one of both holds for the other.
fn companion_role(own: Role, leader: Role) -> Role {
    match (own, leader) {
        (Role::Identifying, _) | (_, Role::Identifying) => Role::Identifying,
        (Role::Drop, _) | (_, Role::Drop) => Role::Drop,
        (Role::Quasi, _) | (_, Role::Quasi) => Role::Quasi,
        _ => own,
    }
}

/// The attributes that a policy may name letter for letter.
struct Literal<'s> {
    by_path: FxHashMap<&'s str, &'s Attribute>,
    /// Those of the record itself whose name is one key.
    by_name: FxHashMap<&'s str, &'s Attribute>,
}

impl<'s> Literal<'s> {
    fn new(schema: &'s Schema) -> Self {
        let mut literal = Literal { by_path: FxHashMap::default(), by_name: FxHashMap::default() };
        for (_, attribute) in schema.attributes() {
            literal.by_path.entry(&attribute.path).or_insert(attribute);
            if let (ClassId::ROOT, [name]) = (attribute.class, attribute.name.as_slice()) {
                literal.by_name.entry(name).or_insert(attribute);
            }
        }
        literal
    }
}

/// The structural path behind a policy's path. A path that is, letter for letter, an attribute's own (the `item` of
/// transactions) or a column's plain name (`a.b` in a CSV header) means that attribute.
fn resolve_path(
    schema: &Schema,
    literal: &Literal<'_>,
    attribute: &AttributePolicy,
) -> Result<AttributePath, String> {
    if let Some(path) = &attribute.structure {
        return Ok(path.clone());
    }
    let text = attribute.path.as_str();
    let Some(attribute) = literal.by_path.get(text).or_else(|| literal.by_name.get(text)) else {
        return AttributePath::parse_in(schema.notation(), text);
    };
    let mut classes = Vec::new();
    let mut class = schema.class(attribute.class);
    while let Some(parent) = class.parent {
        classes.push(class.name.clone());
        class = schema.class(parent);
    }
    classes.reverse();
    Ok(AttributePath { classes, name: attribute.name.clone() })
}
