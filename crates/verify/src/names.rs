//! A second opinion on what the attributes of a publication are.
//!
//! [`Binding`] decides for everybody which attribute of a file is which of the policy, where it belongs and what its role is.
//! An error there would be shared by whoever makes a publication and whoever judges it. So it is decided once more, by names
//! alone: by the keys on the way to a value as the file has them, and by the paths as the policy writes them. Homes have no
//! numbers here, and nothing is resolved twice. Two opinions that differ are a defect, and nobody gets a verdict.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::binding::Binding;
use bosket_model::path::{AttributePath, Notation};
use bosket_model::policy::{AttributePolicy, Role, Undeclared};
use bosket_model::schema::Schema;
use bosket_model::{Failure, Result};

/// The keys of the classes from the record down.
type Chain = Vec<Vec<String>>;

/// Fails with a defect if a binding says something else about the attributes of a file than their names do.
pub fn refuse_other(attributes: &[AttributePolicy], schema: &Schema, binding: &Binding) -> Result<()> {
    let opinion = Opinion::new(attributes, schema)?;
    opinion.refuse_declared(attributes, binding)?;
    opinion.refuse_found(schema, binding)
}

/// The places of a publication's attributes, on which two opinions agree: for whoever is going to judge it.
pub fn bound(
    schema: &Schema,
    attributes: &[AttributePolicy],
    undeclared: Undeclared,
    source: &str,
) -> Result<Binding> {
    let binding = Binding::new(schema, attributes, undeclared, source)?;
    refuse_other(attributes, schema, &binding)?;
    Ok(binding)
}

/// What names say.
struct Opinion {
    /// Per attribute of the policy the keys to it.
    paths: Vec<AttributePath>,
    /// Where the policy has attributes, and all that lies above.
    known: BTreeSet<Chain>,
    notation: Notation,
}

impl Opinion {
    fn new(attributes: &[AttributePolicy], schema: &Schema) -> Result<Self> {
        let mut found: BTreeMap<&str, AttributePath> = BTreeMap::new();
        for (_, attribute) in schema.attributes() {
            let path =
                AttributePath { classes: chain_of(schema, attribute.class), name: attribute.name.clone() };
            found.entry(&attribute.path).or_insert(path);
        }
        for (_, attribute) in schema.attributes() {
            if let ([key], true) = (attribute.name.as_slice(), chain_of(schema, attribute.class).is_empty()) {
                let path = AttributePath { classes: Vec::new(), name: attribute.name.clone() };
                found.entry(key).or_insert(path);
            }
        }
        let notation = schema.notation();
        let path = |attribute: &AttributePolicy| match &attribute.structure {
            Some(structure) => Ok(structure.clone()),
            None => match found.get(attribute.path.as_str()) {
                Some(literal) => Ok(literal.clone()),
                None => AttributePath::parse_in(notation, &attribute.path).map_err(|_| differ("a path")),
            },
        };
        let paths = attributes.iter().map(path).collect::<Result<Vec<_>>>()?;
        let prefixes = |path: &AttributePath| -> Vec<Chain> {
            (0..=path.classes.len()).map(|end| path.classes[..end].to_vec()).collect()
        };
        let mut known: BTreeSet<Chain> = paths.iter().flat_map(prefixes).collect();
        known.insert(Vec::new());
        Ok(Opinion { paths, known, notation })
    }

    /// What the policy's own attributes are.
    fn refuse_declared(&self, attributes: &[AttributePolicy], binding: &Binding) -> Result<()> {
        if binding.declared.len() != attributes.len() {
            return Err(differ("how many attributes the policy has"));
        }
        for (at, (attribute, declared)) in attributes.iter().zip(&binding.declared).enumerate() {
            let leader = attribute.follows.as_ref();
            let leader = leader.and_then(|path| attributes.iter().position(|own| own.path == *path));
            let role = role_of(attribute, leader.map(|leader| &attributes[leader]));
            let place = home_chain(binding, declared.home);
            let same = declared.path == attribute.path
                && declared.role == role
                && declared.follows == leader
                && declared.pseudonym == (attribute.role == Role::Pseudonym)
                && declared.name == self.paths[at].name
                && place.as_ref() == Some(&self.paths[at].classes);
            if !same {
                return Err(differ("what an attribute of the policy is"));
            }
        }
        Ok(())
    }

    /// What the classes and attributes of the file are.
    fn refuse_found(&self, schema: &Schema, binding: &Binding) -> Result<()> {
        if binding.classes.len() != schema.classes().len()
            || binding.attributes.len() != schema.attributes().len()
        {
            return Err(differ("what the file has"));
        }
        let mut meanings: Vec<Option<Chain>> = Vec::new();
        for (id, class) in schema.classes() {
            let above = class.parent.map(|parent| meanings[parent.index()].clone());
            let could_be = match above {
                None => vec![Vec::new()],
                Some(None) => Vec::new(),
                Some(Some(above)) => self.meanings(&above, &class.name),
            };
            let said = binding.classes[id.index()].map(|home| home_chain(binding, home));
            // Where names leave several places open, each of them is right.
            let meant = match said {
                None if could_be.is_empty() => None,
                Some(Some(said)) if could_be.contains(&said) => Some(said),
                _ => return Err(differ("where the vertices of a class belong")),
            };
            meanings.push(meant);
        }
        let mut named: BTreeMap<(&Chain, &[String]), usize> = BTreeMap::new();
        for (at, path) in self.paths.iter().enumerate() {
            named.entry((&path.classes, path.name.as_slice())).or_insert(at);
        }
        for (id, attribute) in schema.attributes() {
            let meant = meanings[attribute.class.index()].as_ref();
            let expected = meant.and_then(|chain| named.get(&(chain, attribute.name.as_slice())).copied());
            if binding.attributes[id.index()] != expected {
                return Err(differ("which attribute of the policy an attribute of the file is"));
            }
        }
        Ok(())
    }

    /// What a class called `name` can be in a vertex of the class at `above`: the class of that name there, or one that was moved up
    /// from further below and is called by all keys on its way, or by its own keys if no other is called so.
    fn meanings(&self, above: &Chain, name: &[String]) -> Vec<Chain> {
        let direct = [above.as_slice(), &[name.to_vec()]].concat();
        if self.known.contains(&direct) {
            return vec![direct];
        }
        let below = |chain: &&Chain| chain.len() > above.len() && chain.starts_with(above);
        let one = self.joined(std::iter::once(name));
        let full = |chain: &&Chain| self.joined(chain[above.len()..].iter().map(Vec::as_slice)) == one;
        let called: Vec<Chain> = self.known.iter().filter(below).filter(full).cloned().collect();
        if !called.is_empty() {
            return called;
        }
        let last = |chain: &&Chain| chain.last().is_some_and(|last| last == name);
        let called: Vec<Chain> = self.known.iter().filter(below).filter(last).cloned().collect();
        if called.len() == 1 { called } else { Vec::new() }
    }

    /// Keys as one. An XML name has one prefix at most: that of the last key, before all of them.
    fn joined<'k>(&self, names: impl Iterator<Item = &'k [String]>) -> String {
        let keys: Vec<&str> = names.flatten().map(String::as_str).collect();
        if self.notation == Notation::Dots {
            return keys.join(".");
        }
        let prefix = keys.last().and_then(|last| last.find(':').map(|end| &last[..=end])).unwrap_or("");
        let bare = |key: &&str| {
            let own = if prefix.is_empty() { key } else { key.strip_prefix(prefix).unwrap_or(key) };
            own.replace(':', ".")
        };
        format!("{prefix}{}", keys.iter().map(bare).collect::<Vec<_>>().join("."))
    }
}

/// The keys of the classes down to one.
fn chain_of(schema: &Schema, class: bosket_model::ClassId) -> Chain {
    let (mut chain, mut at) = (Chain::new(), schema.class(class));
    while let Some(parent) = at.parent {
        chain.insert(0, at.name.clone());
        at = schema.class(parent);
    }
    chain
}

/// The same of a home; none if it hangs nowhere.
fn home_chain(binding: &Binding, home: usize) -> Option<Chain> {
    let (mut chain, mut at) = (Chain::new(), binding.homes.get(home)?);
    while let Some(parent) = at.parent {
        chain.insert(0, at.name.clone());
        if chain.len() > binding.homes.len() {
            return None;
        }
        at = binding.homes.get(parent)?;
    }
    Some(chain)
}

/// What an attribute is to an attacker. A companion says what its leader says, so the stricter role is that of both.
fn role_of(own: &AttributePolicy, leader: Option<&AttributePolicy>) -> Role {
    let Some(leader) = leader else {
        return if own.role == Role::Pseudonym { Role::Insensitive } else { own.role };
    };
    let either = |role: Role| own.role == role || leader.role == role;
    [Role::Identifying, Role::Drop, Role::Quasi].into_iter().find(|&role| either(role)).unwrap_or(own.role)
}

fn differ(what: &str) -> Failure {
    Failure::defect(format!("two opinions on {what} differ"))
}
