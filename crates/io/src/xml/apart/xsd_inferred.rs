//! The schema that a document shows, as XSD.
//!
//! A schema is about one namespace, that of the root. Elements with the root's prefix are declared for all; in a document
//! whose root has a prefix, those without one are in no namespace and declared where they stand, with a type for
//! all of their name. What is in other namespaces may be anything.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::infer::{Child, Element};
use super::xsd::{TEXT, head};
use crate::xml::names::prefix;

/// What a document shows about its schema.
#[derive(Debug)]
pub(super) struct Inferred {
    pub(super) root: String,
    pub(super) elements: BTreeMap<String, Element>,
    /// The namespace of the root.
    pub(super) namespace: String,
    /// Elements without prefix are in no namespace.
    pub(super) plain: bool,
}

/// Where an element belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    /// To the root's namespace.
    Own,
    /// To none, in a schema that has one.
    Nowhere,
    /// To another.
    Foreign,
}

fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

impl Inferred {
    pub(super) fn to_xsd(&self) -> String {
        let own = prefix(&self.root);
        let mut out = head(own, &self.namespace);
        // The root first: readers take the first for the document's.
        let first = self.elements.get_key_value(&self.root);
        let others = self.elements.iter().filter(|(name, _)| **name != self.root);
        for (name, element) in first.into_iter().chain(others) {
            match self.home(name) {
                Home::Own if is_text(element) => {
                    let _ = writeln!(out, "  <xs:element name=\"{}\" type=\"{TEXT}\"/>", local(name));
                }
                Home::Own => {
                    let _ = writeln!(out, "  <xs:element name=\"{}\">", local(name));
                    self.complex(&mut out, "", element);
                    let _ = writeln!(out, "  </xs:element>");
                }
                Home::Nowhere if !is_text(element) => {
                    self.complex(&mut out, &format!(" name=\"{name}\""), element);
                }
                Home::Nowhere | Home::Foreign => {}
            }
        }
        out.push_str("</xs:schema>\n");
        out
    }

    fn home(&self, name: &str) -> Home {
        match prefix(name) {
            own if own == prefix(&self.root) => Home::Own,
            "" if self.plain => Home::Nowhere,
            _ => Home::Foreign,
        }
    }

    /// Declares the type of all elements of one name.
    fn complex(&self, out: &mut String, name: &str, element: &Element) {
        let mixed = if element.text && !element.children.is_empty() { " mixed=\"true\"" } else { "" };
        let simple = element.children.is_empty();
        let _ = writeln!(out, "    <xs:complexType{name}{mixed}>");
        if simple {
            let _ = writeln!(out, "      <xs:simpleContent>\n        <xs:extension base=\"{TEXT}\">");
        } else {
            let foreign = element.children.iter().any(|c| self.home(&c.name) == Home::Foreign);
            match element.sequence().filter(|_| !foreign) {
                Some(children) => {
                    let _ = writeln!(out, "      <xs:sequence>");
                    for child in children {
                        let least = u8::from(child.parents == element.count);
                        let most = if child.many { "unbounded" } else { "1" };
                        let occurs = format!(" minOccurs=\"{least}\" maxOccurs=\"{most}\"");
                        let _ = writeln!(out, "        {}", self.child(child, &occurs));
                    }
                    let _ = writeln!(out, "      </xs:sequence>");
                }
                None => self.choice(out, &element.children, foreign),
            }
        }
        let plain = |name: &&String| prefix(name).is_empty();
        for (name, count) in element.attributes.iter().filter(|(name, _)| plain(name)) {
            let needed = if *count == element.count { "required" } else { "optional" };
            let _ = writeln!(out, "      <xs:attribute name=\"{name}\" type=\"{TEXT}\" use=\"{needed}\"/>");
        }
        let mut others = element.attributes.keys().filter(|name| !plain(name)).peekable();
        if others.peek().is_some() {
            let own = others.any(|name| self.home(name) == Home::Own);
            let which = if own { "##any" } else { "##other" };
            let _ = writeln!(out, "      <xs:anyAttribute namespace=\"{which}\" processContents=\"skip\"/>");
        }
        if simple {
            let _ = writeln!(out, "        </xs:extension>\n      </xs:simpleContent>");
        }
        let _ = writeln!(out, "    </xs:complexType>");
    }

    /// Children in any order.
    fn choice(&self, out: &mut String, children: &[Child], foreign: bool) {
        let mut own: Vec<&Child> = children.iter().filter(|c| self.home(&c.name) != Home::Foreign).collect();
        own.sort_unstable_by_key(|c| &c.name);
        let _ = writeln!(out, "      <xs:choice minOccurs=\"0\" maxOccurs=\"unbounded\">");
        for child in own {
            let _ = writeln!(out, "        {}", self.child(child, ""));
        }
        if foreign {
            let _ = writeln!(out, "        <xs:any namespace=\"##other\" processContents=\"skip\"/>");
        }
        let _ = writeln!(out, "      </xs:choice>");
    }

    fn child(&self, child: &Child, occurs: &str) -> String {
        let name = &child.name;
        if self.home(name) == Home::Own {
            return format!("<xs:element ref=\"{name}\"{occurs}/>");
        }
        let typed = match self.elements.get(name).is_none_or(is_text) {
            true => TEXT.to_owned(),
            false => format!("{}:{name}", prefix(&self.root)),
        };
        format!("<xs:element name=\"{name}\" type=\"{typed}\" form=\"unqualified\"{occurs}/>")
    }
}

fn is_text(element: &Element) -> bool {
    element.children.is_empty() && element.attributes.is_empty()
}
