//! Which namespace a prefix stands for.
//!
//! Names keep the prefix they are written with: that is how policies write them too. So that a name means one thing in
//! all records, a prefix may stand for one namespace only on the way to the records and in them, and names without
//! prefix must be in the same namespace throughout the records.

use super::mistake::What;
use super::names::is_plain;

const XML: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
/// The namespace in which `nil` says that an element has no value.
pub(super) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The prefix that an attribute declares: `Some("")` for `xmlns`, none if it declares nothing.
pub(super) fn declares(attribute: &str) -> Option<&str> {
    match attribute.strip_prefix("xmlns") {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix(':'),
        None => None,
    }
}

/// The declarations that hold at a place.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    bindings: Vec<(String, String)>,
}

impl Scopes {
    /// How many declarations hold, to come back to with [`leave`](Self::leave).
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.bindings.len()
    }

    #[inline]
    pub(super) fn leave(&mut self, len: usize) {
        self.bindings.truncate(len);
    }

    /// The declarations since there were so many.
    pub(super) fn since(&self, len: usize) -> impl Iterator<Item = (&str, &str)> {
        self.bindings[len..].iter().map(|(prefix, namespace)| (prefix.as_str(), namespace.as_str()))
    }

    pub(super) fn declare(&mut self, prefix: &str, namespace: &str) -> Result<(), What> {
        let reserved = match prefix {
            "xml" => namespace != XML,
            "xmlns" => true,
            _ => namespace == XML || namespace == XMLNS,
        };
        if reserved {
            return Err(What::Reserved);
        }
        // Only names without prefix can be in no namespace.
        if !prefix.is_empty() && (namespace.is_empty() || !is_plain(prefix)) {
            return Err(What::Prefix(prefix.to_owned()));
        }
        self.bindings.push((prefix.to_owned(), namespace.to_owned()));
        Ok(())
    }

    /// The namespace that a prefix stands for; `""` stands for names without.
    pub(super) fn resolve(&self, prefix: &str) -> Result<&str, What> {
        let bound = self.bindings.iter().rev().find(|(p, _)| p == prefix);
        match (bound, prefix) {
            (Some((_, namespace)), _) => Ok(namespace),
            (None, "") => Ok(""),
            (None, "xml") => Ok(XML),
            (None, _) => Err(What::Prefix(prefix.to_owned())),
        }
    }
}

/// A prefix and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The prefix.
    pub name: String,
    /// The namespace.
    pub namespace: String,
}

/// The namespaces of everything that is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespaces {
    /// For each element on the way to the records, and the records themselves, the namespace of names without prefix.
    pub default: Vec<String>,
    /// Prefixes in order of their names; published are those that a published name has.
    pub prefixes: Vec<Prefix>,
}

impl Namespaces {
    /// Takes a prefix's declaration in an element that is kept.
    pub(super) fn keep(&mut self, prefix: &str, namespace: &str) -> Result<(), What> {
        match self.prefixes.binary_search_by(|p| p.name.as_str().cmp(prefix)) {
            Ok(known) if self.prefixes[known].namespace != namespace => {
                Err(What::Namespace(prefix.to_owned()))
            }
            Ok(_) => Ok(()),
            Err(place) => {
                let new = Prefix { name: prefix.to_owned(), namespace: namespace.to_owned() };
                self.prefixes.insert(place, new);
                Ok(())
            }
        }
    }

    /// Takes the default namespace that holds at an element so many levels down on the way to the records.
    pub(super) fn keep_default(&mut self, level: usize, namespace: &str) -> Result<(), What> {
        match self.default.get(level) {
            None => self.default.push(namespace.to_owned()),
            Some(known) if known == namespace => {}
            Some(_) => return Err(What::DefaultNamespace),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_hold_inside_their_element() {
        let mut scopes = Scopes::default();
        assert_eq!(scopes.resolve(""), Ok(""));
        assert_eq!(scopes.resolve("h"), Err(What::Prefix("h".into())));
        scopes.declare("", "urn:a").expect("fine");
        let outer = scopes.len();
        scopes.declare("h", "urn:h").expect("fine");
        scopes.declare("", "").expect("fine");
        assert_eq!((scopes.resolve("h"), scopes.resolve("")), (Ok("urn:h"), Ok("")));
        scopes.leave(outer);
        assert_eq!(scopes.resolve(""), Ok("urn:a"));
        assert!(scopes.resolve("h").is_err());
        assert_eq!(scopes.resolve("xml"), Ok(XML));
        for (prefix, namespace) in [("xmlns", "urn:x"), ("xml", "urn:x"), ("x", XML), ("x", ""), ("", XMLNS)]
        {
            assert!(scopes.declare(prefix, namespace).is_err(), "{prefix} {namespace}");
        }
    }

    #[test]
    fn one_prefix_one_namespace() {
        let mut kept = Namespaces::default();
        kept.keep("h", "urn:h").expect("new");
        kept.keep("h", "urn:h").expect("the same");
        kept.keep("a", "urn:h").expect("new");
        assert_eq!(kept.keep("h", "urn:x"), Err(What::Namespace("h".into())));
        let names: Vec<_> = kept.prefixes.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["a", "h"]);
        kept.keep_default(0, "").expect("new");
        kept.keep_default(1, "urn:r").expect("new");
        kept.keep_default(1, "urn:r").expect("the same");
        assert_eq!(kept.keep_default(1, ""), Err(What::DefaultNamespace));
    }
}
