//! An XSD of private documents, as far as the published one follows from it: what repeats, and of which built-in type
//! values are.

use std::path::Path;

use bosket_model::Result;

use super::xsd::Said;
use super::xsd_files;

/// A construct of the schema.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// Without prefix.
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) parts: Vec<Part>,
}

/// A schema that is given.
#[derive(Clone, Debug)]
pub(super) struct Given {
    schema: Part,
}

/// Types refer to each other; more steps than this are a circle.
const STEPS: usize = 64;

impl Part {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    fn child(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|p| p.name == name)
    }
}

pub(super) fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

impl Given {
    /// Reads a schema and what it includes and imports.
    pub(super) fn read(path: &Path) -> Result<Self> {
        Ok(Given { schema: xsd_files::read(path)? })
    }

    fn global(&self, kind: &str, name: &str) -> Option<&Part> {
        self.schema.parts.iter().find(|p| p.name == kind && p.get("name") == Some(local(name)))
    }

    /// The declaration that an element or attribute refers to, or is.
    fn declared<'a>(&'a self, part: &'a Part) -> &'a Part {
        part.get("ref").and_then(|name| self.global(&part.name, name)).unwrap_or(part)
    }

    /// What it says about the element or attribute (with `@`) at a path from the root.
    pub(super) fn look(&self, path: &[String]) -> Option<Said> {
        let mut at = self.global("element", path.first()?)?;
        let mut many = false;
        for name in &path[1..] {
            let holds = self.type_of(at)?;
            if let Some(attribute) = name.strip_prefix('@') {
                let found = self.find(holds, "attribute", local(attribute), false, 0)?.0;
                return Some(Said { many: false, text: self.simple(self.declared(found), 0) });
            }
            let (found, repeats) = self.find(holds, "element", local(name), false, 0)?;
            many = repeats;
            at = self.declared(found);
        }
        Some(Said { many, text: self.simple(at, 0) })
    }

    /// The complex type of an element.
    fn type_of<'a>(&'a self, element: &'a Part) -> Option<&'a Part> {
        let named = element.get("type").and_then(|name| self.global("complexType", name));
        named.or_else(|| element.child("complexType"))
    }

    /// The element or attribute of this name in a type, and whether it may repeat.
    fn find<'a>(
        &'a self,
        within: &'a Part,
        kind: &str,
        name: &str,
        many: bool,
        steps: usize,
    ) -> Option<(&'a Part, bool)> {
        if steps > STEPS {
            return None;
        }
        within.parts.iter().find_map(|part| {
            let repeats = part.get("maxOccurs").is_some_and(|most| !matches!(most, "0" | "1"));
            let many = many || repeats;
            match part.name.as_str() {
                found if found == kind => {
                    let called = part.get("name").or(part.get("ref").map(local));
                    (called == Some(name)).then_some((part, many))
                }
                "element" | "attribute" => None,
                "group" | "attributeGroup" => {
                    let group =
                        part.get("ref").and_then(|name| self.global(&part.name, name)).unwrap_or(part);
                    self.find(group, kind, name, many, steps + 1)
                }
                "extension" | "restriction" => {
                    let own = self.find(part, kind, name, many, steps + 1);
                    let base = || part.get("base").and_then(|name| self.global("complexType", name));
                    own.or_else(|| self.find(base()?, kind, name, many, steps + 1))
                }
                _ => self.find(part, kind, name, many, steps + 1),
            }
        })
    }

    /// The built-in type of the text of a declaration or type.
    fn simple(&self, part: &Part, steps: usize) -> Option<String> {
        if steps > STEPS {
            return None;
        }
        let named = part.get("type").or(part.get("base"));
        if let Some(name) = named {
            let own = self.global("simpleType", name).or_else(|| self.global("complexType", name));
            return match own {
                Some(own) => self.simple(own, steps + 1),
                // What names something in the private document names nothing in the publication.
                None if matches!(local(name), "ID" | "IDREF" | "IDREFS" | "ENTITY" | "ENTITIES") => None,
                None => Some(format!("xs:{}", local(name))),
            };
        }
        let inner = ["simpleType", "complexType", "simpleContent", "restriction", "extension"];
        part.parts.iter().find(|p| inner.contains(&p.name.as_str())).and_then(|p| self.simple(p, steps + 1))
    }
}
