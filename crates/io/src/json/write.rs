//! Records as JSON texts, ordered by these texts.

use std::collections::BTreeSet;

use bosket_model::observe::Observer;
use bosket_model::schema::Attribute;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result};

use super::extended::{self, Extended};
use super::template::{Content, Field, Template, templates, templates_as};
use crate::bottom_up::{self, Texts};
use crate::format::Layout;
use crate::homes::path;
use crate::sorted::Sorted;

/// The text of every record. Siblings of a class, and then the records, are ordered by their bytes.
pub(super) fn write_records(data: &Dataset, layout: &Layout, observer: &dyn Observer) -> Result<Sorted> {
    let mut sorted = record_texts(data, layout, observer)?;
    sorted.sort(observer)?;
    Ok(sorted)
}

/// The same in the order of the records.
pub(crate) fn record_texts(data: &Dataset, layout: &Layout, observer: &dyn Observer) -> Result<Sorted> {
    with_templates(data, layout, &templates(data)?, observer)
}

/// The same of a part of the records, where somebody knows which attributes every vertex has.
pub(crate) fn record_texts_as(
    data: &Dataset,
    layout: &Layout,
    always: &[bool],
    observer: &dyn Observer,
) -> Result<Sorted> {
    with_templates(data, layout, &templates_as(data, always)?, observer)
}

fn with_templates(
    data: &Dataset,
    layout: &Layout,
    templates: &[Template],
    observer: &dyn Observer,
) -> Result<Sorted> {
    let types = types(data, layout);
    bottom_up::record_texts(data, observer, |texts, record, vertex| {
        let written = Writer { data, texts, types: &types }.vertex(templates, vertex);
        written.map_err(|e| e.failure(data, record, vertex))
    })
}

/// For each attribute the types of MongoDB that it had in the input.
fn types<'l>(data: &Dataset, layout: &'l Layout) -> Vec<Option<&'l BTreeSet<Extended>>> {
    if layout.extended.is_empty() {
        return Vec::new();
    }
    let homes = layout.homes.of(data.schema());
    let at_home = |a: &Attribute| path(&homes[a.class.index()], &a.name);
    data.schema().attributes().map(|(_, a)| layout.extended.get(&at_home(a))).collect()
}

/// A vertex is more than one of: a value, an array, an object.
struct Mixed;

impl Mixed {
    fn failure(self, data: &Dataset, record: usize, vertex: usize) -> Failure {
        let class = data.schema().class(data.class(vertex));
        let place = Place::default().record(record as u64 + 1).path(class.path.as_str());
        let what = Diagnostic::error("an element is both a value and an object, which JSON cannot express");
        Failure::new(Fault::Data, what.at(place).help("use a format with rows or elements"))
    }
}

struct Writer<'d> {
    data: &'d Dataset,
    texts: &'d mut Texts,
    types: &'d [Option<&'d BTreeSet<Extended>>],
}

impl Writer<'_> {
    fn vertex(&mut self, templates: &[Template], vertex: usize) -> Result<(), Mixed> {
        let class = self.data.class(vertex);
        let template = &templates[class.index()];
        let start = self.texts.buffer.len();
        let mut forms = u32::from(self.object(&template.fields, vertex));
        let mut other = |writer: &mut Self, write: &dyn Fn(&mut Self) -> bool| {
            let object = writer.texts.buffer.len();
            if write(writer) {
                writer.texts.buffer.drain(start..object);
                forms += 1;
            }
        };
        if let Some((attribute, slot)) = template.scalar {
            other(self, &|w| w.value(vertex, attribute, slot));
        }
        if let Some(nested) = template.nested {
            other(self, &|w| w.array(nested));
        }
        if forms > 1 || (class == ClassId::ROOT && self.texts.buffer[start] != b'{') {
            return Err(Mixed);
        }
        if forms == 0 && (template.scalar.is_some() || template.nested.is_some()) {
            self.texts.buffer.truncate(start);
            self.texts.buffer.extend_from_slice(if template.scalar.is_some() { b"null" } else { b"[]" });
        }
        Ok(())
    }

    /// Writes an object with those fields that the vertex has; says whether there were any.
    fn object(&mut self, fields: &[Field], vertex: usize) -> bool {
        self.texts.buffer.push(b'{');
        let open = self.texts.buffer.len();
        for field in fields {
            let before = self.texts.buffer.len();
            if before > open {
                self.texts.buffer.push(b',');
            }
            self.texts.buffer.extend_from_slice(&field.key);
            let written = match &field.content {
                Content::Value(attribute, slot) => self.value(vertex, *attribute, *slot),
                Content::Object(fields) => self.object(fields, vertex),
                Content::Array(class) => self.array(*class),
            };
            if !written {
                self.texts.buffer.truncate(before);
            }
        }
        let any = self.texts.buffer.len() > open;
        self.texts.buffer.push(b'}');
        any
    }

    fn array(&mut self, class: ClassId) -> bool {
        let count = self.texts.below(class).len();
        for i in 0..count {
            let (_, start, end) = self.texts.below(class)[i];
            self.texts.buffer.push(if i == 0 { b'[' } else { b',' });
            self.texts.buffer.extend_from_within(start..end);
        }
        if count == 0 {
            return false;
        }
        self.texts.buffer.push(b']');
        true
    }

    fn value(&mut self, vertex: usize, attribute: AttributeId, slot: usize) -> bool {
        let code = self.data.values(vertex).get(slot).copied().unwrap_or(MISSING);
        if code == MISSING {
            return false;
        }
        let dictionary = self.data.dictionary(attribute);
        if let Some(Some(types)) = self.types.get(attribute.index())
            && extended::push(&mut self.texts.buffer, types, dictionary.kind(code), dictionary.text(code))
        {
            return true;
        }
        match dictionary.kind(code) {
            Kind::Text => push_string(&mut self.texts.buffer, dictionary.text(code)),
            Kind::Number | Kind::Bool => {
                self.texts.buffer.extend_from_slice(dictionary.text(code).as_bytes())
            }
        }
        true
    }
}

/// Appends a JSON string.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(i) = rest.iter().position(|c| matches!(c, b'"' | b'\\' | 0..0x20)) {
        out.extend_from_slice(&rest[..i]);
        match rest[i] {
            c @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', c]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            c => out.extend_from_slice(format!("\\u{c:04x}").as_bytes()),
        }
        rest = &rest[i + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
