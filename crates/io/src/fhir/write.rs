//! Records as bundles, ordered by what they hold.

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::{AttributeId, ClassId, Dataset, Kind, MISSING, Result};

use super::entry::{self, masked};
use super::forms::is_date;
use super::names::{CODING, Known, META, RENDERED, Version, extension_url};
use super::template::{Node, Template, templates};
use crate::bottom_up::{self, Texts};
use crate::fault;
use crate::format::Layout;
use crate::json::write::push_string;

/// Writes a bundle per line.
pub(super) fn write(
    version: Version,
    data: &Dataset,
    layout: &Layout,
    out: &mut dyn Write,
    observer: &dyn Observer,
) -> Result<()> {
    let templates = templates(data, &layout.fhir, &layout.homes)?;
    let sorted = bottom_up::write_records(data, observer, |texts, _, vertex| {
        let template = &templates[data.class(vertex).index()];
        Writer { version, data, texts, vertex, parts: layout.fhir.parts }.vertex(template);
        Ok(())
    })?;
    let mut line = Vec::new();
    for (record, entries) in sorted.iter().enumerate() {
        observer.go_on()?;
        line.clear();
        line.extend_from_slice(b"{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[");
        entry::number(entries, record as u32 + 1, &mut line);
        line.extend_from_slice(b"]}\n");
        out.write_all(&line).map_err(fault::from_write)?;
    }
    Ok(())
}

/// Whether arrays stand in what a resource says of itself.
fn is_meta(names: &[Vec<String>]) -> bool {
    names.first().and_then(|name| name.first()).is_some_and(|key| key == META)
}

pub(super) struct Writer<'d> {
    version: Version,
    data: &'d Dataset,
    pub(super) texts: &'d mut Texts,
    vertex: usize,
    parts: bool,
}

impl Writer<'_> {
    pub(super) fn push(&mut self, text: &str) {
        self.texts.buffer.extend_from_slice(text.as_bytes());
    }

    /// Writes what `write` appends, or nothing of it if that says so.
    fn maybe(&mut self, write: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.texts.buffer.len();
        let written = write(self);
        if !written {
            self.texts.buffer.truncate(before);
        }
        written
    }

    fn vertex(&mut self, template: &Template) {
        let Some((resource, said)) = template.resource else {
            return self.element(&template.root);
        };
        entry::begin(&mut self.texts.buffer, self.version, resource, said);
        self.meta(&template.meta);
        self.fields(&template.root, &template.known, false, true);
        entry::end(&mut self.texts.buffer);
        for &class in &template.resources {
            for i in 0..self.texts.below(class).len() {
                self.below(class, i);
            }
        }
        for moved in &template.moved {
            for i in 0..self.texts.below(moved.class).len() {
                entry::begin(&mut self.texts.buffer, self.version, moved.resource, moved.said);
                if !is_meta(&moved.names) {
                    self.meta(&Node::default());
                }
                self.push(",");
                self.inside(&moved.names, moved.class, i);
                entry::end(&mut self.texts.buffer);
            }
        }
    }

    /// Writes what a resource says of itself: first of all that it is anonymized.
    fn meta(&mut self, node: &Node) {
        self.push(&format!(",\"{META}\":{{{}", entry::label()));
        self.fields(node, &[], false, true);
        self.push("}");
    }

    fn below(&mut self, class: ClassId, i: usize) {
        let (_, start, end) = self.texts.below(class)[i];
        self.texts.buffer.extend_from_within(start..end);
    }

    /// Writes a vertex below as `"key":[…]`, with further keys and arrays around it.
    fn inside(&mut self, names: &[Vec<String>], class: ClassId, i: usize) {
        let mut ends = Vec::new();
        for (depth, name) in names.iter().enumerate() {
            for (j, key) in name.iter().enumerate() {
                if depth + j > 0 {
                    self.push("{");
                    ends.push("}");
                }
                if depth == 0 && j == 1 && is_meta(names) {
                    self.push(&format!("{},", entry::label()));
                }
                push_string(&mut self.texts.buffer, key);
                self.push(":");
            }
            self.push("[");
            ends.push("]");
        }
        self.below(class, i);
        ends.iter().rev().for_each(|end| self.push(end));
    }

    /// Writes an element of an array.
    fn element(&mut self, node: &Node) {
        let written = self.maybe(|w| w.node(node, false));
        if !written {
            self.push(if node.value.is_some() && !node.concept { "null" } else { "{}" });
        }
    }

    /// Writes what stands at a key; says whether there was anything.
    fn node(&mut self, node: &Node, in_extension: bool) -> bool {
        if !node.arrays.is_empty() {
            return self.array(node);
        }
        if node.concept {
            return self.concept(node);
        }
        if let Some(value) = node.value {
            return self.value(value);
        }
        self.push("{");
        let any = self.fields(node, &[], in_extension, false);
        self.push("}");
        any
    }

    fn array(&mut self, node: &Node) -> bool {
        let mut any = false;
        for (class, names) in &node.arrays {
            for i in 0..self.texts.below(*class).len() {
                self.push(if any { "," } else { "[" });
                any = true;
                if names.is_empty() {
                    self.below(*class, i);
                } else {
                    self.push("{");
                    self.inside(names, *class, i);
                    self.push("}");
                }
            }
        }
        self.push("]");
        any
    }

    /// Writes the keys of an object; says whether there were any.
    fn fields(&mut self, node: &Node, known: &[(Known, Node)], in_extension: bool, comma: bool) -> bool {
        let mut any = comma;
        if !known.is_empty() && node.field("extension").is_none() {
            any |= self.field(any, |w| {
                w.push("\"extension\":");
                w.extensions(&Node::default(), known, in_extension, None)
            });
        }
        for field in &node.fields {
            let beside = format!("_{}", field.key);
            // Told together with the value that it stands beside.
            if field
                .key
                .strip_prefix('_')
                .and_then(|k| node.field(k))
                .is_some_and(|n| self.label(n).is_some())
            {
                continue;
            }
            any |= self.field(any, |w| {
                if let Some(label) = w.label(field) {
                    push_string(&mut w.texts.buffer, &beside);
                    w.push(":{\"extension\":");
                    let nothing = Node::default();
                    let own = node.field(&beside);
                    w.extensions(
                        own.and_then(|n| n.field("extension")).unwrap_or(&nothing),
                        &[],
                        false,
                        Some(&label),
                    );
                    if let Some(own) = own {
                        w.others(own);
                    }
                    w.push("}");
                    return true;
                }
                push_string(&mut w.texts.buffer, &field.key);
                w.push(":");
                if matches!(field.key.as_str(), "extension" | "modifierExtension") && field.arrays.is_empty()
                {
                    let known = if field.key == "extension" { known } else { &[] };
                    w.extensions(field, known, in_extension, None)
                } else {
                    w.node(field, false)
                }
            });
        }
        any
    }

    /// Writes what stands beside a value apart from extensions.
    fn others(&mut self, node: &Node) {
        for field in node.fields.iter().filter(|f| f.key != "extension") {
            self.field(true, |w| {
                push_string(&mut w.texts.buffer, &field.key);
                w.push(":");
                w.node(field, false)
            });
        }
    }

    fn field(&mut self, comma: bool, write: impl FnOnce(&mut Self) -> bool) -> bool {
        self.maybe(|w| {
            if comma {
                w.push(",");
            }
            write(w)
        })
    }

    /// The label at a position whose type allows none.
    fn label(&self, node: &Node) -> Option<String> {
        let value = node.value.filter(|_| (node.date || node.number) && !node.concept)?;
        let (kind, text) = self.get(value)?;
        (kind == Kind::Text && (node.number || !is_date(text))).then(|| text.to_owned())
    }

    /// Writes an array of extensions; says whether there were any.
    fn extensions(&mut self, node: &Node, known: &[(Known, Node)], inner: bool, label: Option<&str>) -> bool {
        self.push("[");
        let mut any = label.is_some();
        if let Some(label) = label {
            self.push(&format!("{{\"url\":\"{RENDERED}\",\"valueString\":"));
            push_string(&mut self.texts.buffer, label);
            self.push("}");
        }
        for (known, node) in known {
            any |= self.field(any, |w| w.known(*known, node));
        }
        for field in &node.fields {
            any |= self.field(any, |w| {
                w.push("{\"url\":");
                push_string(&mut w.texts.buffer, &extension_url(&field.key, inner));
                let start = w.texts.buffer.len();
                w.fields(field, &[], true, true);
                let written = w.texts.buffer.len() > start;
                w.push("}");
                written
            });
        }
        self.push("]");
        any
    }

    fn known(&mut self, known: Known, node: &Node) -> bool {
        self.push(&format!("{{\"url\":\"{}\",", known.url()));
        let written = if known == Known::Birthsex {
            self.push("\"valueCode\":");
            node.value.is_some_and(|v| self.value(v))
        } else if self.parts {
            self.push("\"extension\":");
            self.in_parts(node)
        } else {
            self.push("\"valueCodeableConcept\":");
            self.concept(node)
        };
        self.push("}");
        written
    }

    /// Writes a concept: its code with what tells the system, or just its label.
    fn concept(&mut self, node: &Node) -> bool {
        let code = node.value.and_then(|v| self.get(v)).is_some();
        let has =
            |w: &Self, key: &str| node.field(key).and_then(|f| f.value).is_some_and(|v| w.get(v).is_some());
        let parts = CODING.iter().any(|key| has(self, key));
        let text = has(self, "text");
        self.push("{");
        let mut any = false;
        if parts || (code && text) {
            self.push("\"coding\":[{");
            let mut comma = false;
            if code {
                comma |= self.coding_part("code", node.value, comma);
            }
            for key in CODING {
                comma |= self.coding_part(key, node.field(key).and_then(|f| f.value), comma);
            }
            self.push("}]");
            any = true;
        } else if code {
            // A label without a system is no code of any.
            self.push("\"text\":");
            any = node.value.is_some_and(|v| self.value(v));
        } else if text {
            self.push(&format!("\"coding\":[{{\"extension\":[{}]}}]", masked()));
            any = true;
        }
        for field in node.fields.iter().filter(|f| !CODING.contains(&f.key.as_str())) {
            any |= self.field(any, |w| {
                push_string(&mut w.texts.buffer, &field.key);
                w.push(":");
                match field.key.as_str() {
                    "extension" => w.extensions(field, &[], false, None),
                    _ => w.node(field, false),
                }
            });
        }
        self.push("}");
        any
    }

    fn coding_part(&mut self, key: &str, value: Option<(AttributeId, usize)>, comma: bool) -> bool {
        let Some(value) = value else { return false };
        self.field(comma, |w| {
            w.push(&format!("\"{key}\":"));
            w.value(value)
        })
    }

    pub(super) fn get(&self, (attribute, slot): (AttributeId, usize)) -> Option<(Kind, &str)> {
        let code = self.data.values(self.vertex).get(slot).copied().filter(|&c| c != MISSING)?;
        let dictionary = self.data.dictionary(attribute);
        Some((dictionary.kind(code), dictionary.text(code)))
    }

    fn value(&mut self, value: (AttributeId, usize)) -> bool {
        let (attribute, slot) = value;
        let Some(&code) = self.data.values(self.vertex).get(slot).filter(|&&c| c != MISSING) else {
            return false;
        };
        let dictionary = self.data.dictionary(attribute);
        match dictionary.kind(code) {
            Kind::Text => push_string(&mut self.texts.buffer, dictionary.text(code)),
            Kind::Number | Kind::Bool => {
                self.texts.buffer.extend_from_slice(dictionary.text(code).as_bytes())
            }
        }
        true
    }
}
