//! Schemas: the private one as it was found, and the published one that follows from it.
//!
//! The published schema has three parts, as in the paper: root, groups and their elements; below these the quasi
//! fragments; and the sensitive ones. XSD 1.0 gives elements of one name and parent one type, so the two lower parts are
//! one tree in which everything may be absent.

use std::fmt::Write;
use std::path::Path;

use bosket_model::policy::Policy;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::format::Layout;
use crate::xml::names::prefix;
use crate::xml::namespaces::XSI;
use crate::xml::{Namespaces, record_path};
use bosket_model::sides::{Fate, Fates};

use super::paths::{ID, NONE, Paths, VALUE};
use super::publish::{ELEMENT, GROUP, QUASI, SENSITIVE, TYPE, root};
use super::xsd_inferred::Inferred;
use super::xsd_read::Given;

/// The type of text that nothing more is known of.
pub(super) const TEXT: &str = "xs:string";

/// What holds an element that says its own type. The types are those of the private schema, which nobody has; what is
/// skipped may say any, and XSD 1.0 lets nothing else stand beside it.
const ANYTHING: &str = "<xs:any processContents=\"skip\" minOccurs=\"0\" maxOccurs=\"unbounded\"/>";

/// The schema of private documents.
#[derive(Debug)]
pub struct PrivateSchema {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Inferred(Inferred),
    Given(Given),
}

/// What a schema says about an element or attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) many: bool,
    /// A built-in type, if its text has one.
    pub(super) text: Option<String>,
}

impl PrivateSchema {
    pub(super) fn inferred(inferred: Inferred) -> Self {
        PrivateSchema { kind: Kind::Inferred(inferred) }
    }

    /// A schema that is given as XSD, with what it includes and imports.
    pub fn given(path: &Path) -> Result<Self> {
        Ok(PrivateSchema { kind: Kind::Given(Given::read(path)?) })
    }

    /// An inferred schema as XSD; none for one that was given.
    pub fn to_xsd(&self) -> Option<String> {
        match &self.kind {
            Kind::Inferred(inferred) => Some(inferred.to_xsd()),
            Kind::Given(_) => None,
        }
    }

    /// What it says about the element or attribute (with `@`) at a path from the root.
    pub(super) fn look(&self, path: &[String]) -> Option<Said> {
        let (elements, root) = match &self.kind {
            Kind::Given(given) => return given.look(path),
            Kind::Inferred(Inferred { elements, root, .. }) => (elements, root),
        };
        if path.first() != Some(root) {
            return None;
        }
        let mut many = false;
        for pair in path.windows(2) {
            let element = elements.get(&pair[0])?;
            if let Some(attribute) = pair[1].strip_prefix('@') {
                element.attributes.get(attribute)?;
                return Some(Said { many: false, text: Some(TEXT.to_owned()) });
            }
            many = element.children.iter().find(|c| c.name == pair[1])?.many;
        }
        Some(Said { many, text: Some(TEXT.to_owned()) })
    }
}

/// How a schema begins; elements of its namespace are written with this prefix.
pub(super) fn head(prefix: &str, namespace: &str) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\"",
    );
    if !namespace.is_empty() {
        let declaration = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
        let mut own = Vec::new();
        crate::xml::write::push_attribute(&mut own, &declaration, namespace);
        crate::xml::write::push_attribute(&mut own, "targetNamespace", namespace);
        out.push_str(&String::from_utf8_lossy(&own));
    }
    out.push_str(" elementFormDefault=\"qualified\">\n");
    out
}

/// The schema of a policy's publication. Without a private schema, what repeats is what the policy says, and all values
/// are text.
pub fn published_xsd(
    policy: &Policy,
    fates: &Fates,
    layout: &Layout,
    namespaces: &Namespaces,
    private: Option<&PrivateSchema>,
) -> Result<String> {
    let paths = Paths::new(policy, fates, true)?;
    let record = record_path(layout)?.unwrap_or_default();
    let published: Vec<bool> = (0..paths.nodes.len() as u32)
        .map(|node| {
            let own = |&declared: &usize| fates.of[declared] != Fate::Gone;
            let below = |declared: &usize| is_below(&paths, paths.of[*declared], node);
            (0..fates.of.len()).filter(own).any(|d| below(&d))
        })
        .collect();
    let mut said: Vec<Option<Said>> = vec![None; paths.nodes.len()];
    let mut problems = Vec::new();
    for node in (1..paths.nodes.len() as u32).filter(|&n| published[n as usize]) {
        let Some(private) = private else { break };
        let mut path = record.clone();
        // What holds a value in a publication is part of the element around it in private.
        let chain: Vec<u32> =
            paths.chain(node).into_iter().filter(|&n| !is_value(&paths, n, policy, fates)).collect();
        path.extend(chain.iter().map(|&n| {
            let node = paths.node(n);
            format!("{}{}", if node.attribute { "@" } else { "" }, node.name)
        }));
        said[node as usize] = private.look(&path);
        // Attributes that the data does not have are told elsewhere.
        if said[node as usize].is_none() && matches!(private.kind, Kind::Given(_)) {
            let what = format!("the private schema has no `{}`", path.join("/"));
            let help = "check `source.schema`, `source.record` and the paths of the policy";
            problems.push(Diagnostic::error(what).at(Place::source(&policy.name)).help(help));
        }
    }
    if !problems.is_empty() {
        return Err(Failure::all(Fault::Policy, problems));
    }
    let xsi = namespaces.prefixes.iter().find(|p| p.namespace == XSI).map(|p| format!("{}:type", p.name));
    let tree = Tree { paths: &paths, published: &published, said: &said, xsi };
    let mut out = head("", namespaces.default.last().map_or("", String::as_str));
    let root = root(policy)?;
    let _ = write!(
        out,
        "  <xs:element name=\"{root}\">\n    <xs:complexType>\n      <xs:sequence>\n        \
         <xs:element name=\"{GROUP}\" minOccurs=\"0\" maxOccurs=\"unbounded\">\n          <xs:complexType>\n            \
         <xs:sequence>\n"
    );
    if tree.is_typed(Paths::ROOT) {
        let _ = writeln!(out, "              {ANYTHING}");
    } else {
        let _ = write!(
            out,
            "              <xs:element name=\"{ELEMENT}\" minOccurs=\"0\" maxOccurs=\"unbounded\">\n                \
             <xs:complexType>\n"
        );
        tree.fields(Paths::ROOT, 18, &mut out);
        let _ = write!(
            out,
            "                  <xs:attribute name=\"{ID}\" type=\"xs:positiveInteger\" use=\"required\"/>\n                \
             </xs:complexType>\n              </xs:element>\n"
        );
    }
    let _ = write!(
        out,
        "            </xs:sequence>\n            \
         <xs:attribute name=\"{TYPE}\" use=\"required\">\n              <xs:simpleType>\n                \
         <xs:restriction base=\"xs:string\">\n                  \
         <xs:enumeration value=\"{QUASI}\"/>\n                  \
         <xs:enumeration value=\"{SENSITIVE}\"/>\n                \
         </xs:restriction>\n              </xs:simpleType>\n            </xs:attribute>\n          \
         </xs:complexType>\n        </xs:element>\n      </xs:sequence>\n    </xs:complexType>\n  \
         </xs:element>\n</xs:schema>\n"
    );
    Ok(out)
}

fn is_below(paths: &Paths, node: u32, above: u32) -> bool {
    let mut at = node;
    while at != NONE {
        if at == above {
            return true;
        }
        at = paths.node(at).parent;
    }
    false
}

/// Whether a node holds the text of the one around it.
fn is_value(paths: &Paths, node: u32, policy: &Policy, fates: &Fates) -> bool {
    let at = paths.node(node);
    let named = |leaf: usize| {
        let path = &fates.paths[leaf];
        let last = path.name.last().or(path.classes.last().and_then(|c| c.last()));
        policy.attributes.len() > leaf && last.is_none_or(|name| name != VALUE)
    };
    *at.name == *VALUE && at.leaf.is_some_and(|leaf| named(leaf.declared))
}

struct Tree<'t> {
    paths: &'t Paths,
    published: &'t [bool],
    said: &'t [Option<Said>],
    /// How documents write `xsi:type`, if they have its namespace.
    xsi: Option<String>,
}

impl Tree<'_> {
    /// Whether an element may say its own type with `xsi:type`.
    fn is_typed(&self, node: u32) -> bool {
        let typed = |&field: &u32| {
            let at = self.paths.node(field);
            at.attribute && self.published[field as usize] && self.xsi.as_deref() == Some(&*at.name)
        };
        self.paths.node(node).fields.iter().any(typed)
    }

    /// Declares what an element holds.
    fn fields(&self, node: u32, indent: usize, out: &mut String) {
        let pad = " ".repeat(indent);
        let fields = &self.paths.node(node).fields;
        let own = fields.iter().copied().filter(|&f| self.published[f as usize]);
        let (attributes, elements): (Vec<u32>, Vec<u32>) = own.partition(|&f| self.paths.node(f).attribute);
        let foreign = |f: &&u32| !prefix(&self.paths.node(**f).name).is_empty();
        if elements.iter().any(|&f| self.is_typed(f)) {
            let _ = writeln!(out, "{pad}<xs:sequence>\n{pad}  {ANYTHING}\n{pad}</xs:sequence>");
        } else if !elements.is_empty() {
            let any = elements.iter().any(|f| foreign(&f));
            let (open, close) = match any {
                true => ("xs:choice minOccurs=\"0\" maxOccurs=\"unbounded\"", "xs:choice"),
                false => ("xs:sequence", "xs:sequence"),
            };
            let _ = writeln!(out, "{pad}<{open}>");
            for &field in elements.iter().filter(|f| !foreign(f)) {
                self.element(field, indent + 2, out);
            }
            if any {
                let _ = writeln!(out, "{pad}  <xs:any namespace=\"##other\" processContents=\"skip\"/>");
            }
            let _ = writeln!(out, "{pad}</{close}>");
        }
        for &field in attributes.iter().filter(|f| !foreign(f)) {
            let name = &self.paths.node(field).name;
            let _ = writeln!(out, "{pad}<xs:attribute name=\"{name}\" type=\"{}\"/>", self.text(field));
        }
        if attributes.iter().any(|f| foreign(&f)) {
            let _ = writeln!(out, "{pad}<xs:anyAttribute namespace=\"##other\" processContents=\"skip\"/>");
        }
    }

    fn element(&self, node: u32, indent: usize, out: &mut String) {
        let pad = " ".repeat(indent);
        let at = self.paths.node(node);
        let many = at.many || self.said[node as usize].as_ref().is_some_and(|s| s.many);
        let most = if many { "unbounded" } else { "1" };
        let occurs = format!("minOccurs=\"0\" maxOccurs=\"{most}\"");
        let name = &at.name;
        if at.leaf.is_some() {
            let _ = writeln!(out, "{pad}<xs:element name=\"{name}\" type=\"{}\" {occurs}/>", self.text(node));
            return;
        }
        let _ = writeln!(out, "{pad}<xs:element name=\"{name}\" {occurs}>\n{pad}  <xs:complexType>");
        self.fields(node, indent + 4, out);
        let _ = writeln!(out, "{pad}  </xs:complexType>\n{pad}</xs:element>");
    }

    fn text(&self, node: u32) -> &str {
        self.said[node as usize].as_ref().and_then(|s| s.text.as_deref()).unwrap_or(TEXT)
    }
}
