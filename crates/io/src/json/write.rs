//! Records as JSON texts, ordered by these texts.

use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result};

use super::template::{Content, Field, Template, templates};
use crate::sorted::Sorted;

/// No vertex.
const NONE: u32 = u32::MAX;

/// The text of every record. Siblings of a class, and then the records, are ordered by their bytes.
pub(super) fn write_records(data: &Dataset) -> Result<Sorted> {
    let templates = templates(data)?;
    let mut writer = Writer { data, buffer: Vec::new(), children: Vec::new() };
    let mut sorted = Sorted::default();
    let mut links = Vec::new();
    for record in 0..data.len() {
        let vertices = data.vertices(record);
        let first = vertices.start;
        links.clear();
        links.resize(vertices.len(), Link { child: NONE, next: NONE, start: 0, end: 0 });
        writer.buffer.clear();
        // Backwards in preorder: when a vertex comes, all vertices below it are written.
        for vertex in vertices.rev() {
            writer.collect_children(&links, first, vertex);
            let start = writer.buffer.len();
            writer.vertex(&templates, vertex).map_err(|e| e.failure(data, record, vertex))?;
            let here = vertex - first;
            (links[here].start, links[here].end) = (start, writer.buffer.len());
            if let Some(parent) = data.parent(vertex) {
                let parent = parent - first;
                links[here].next = std::mem::replace(&mut links[parent].child, here as u32);
            }
        }
        sorted.push(|out| out.extend_from_slice(&writer.buffer[links[0].start..links[0].end]));
    }
    sorted.sort();
    Ok(sorted)
}

/// A vertex's place in the tree of its record, and its text in the buffer.
#[derive(Clone, Copy)]
struct Link {
    child: u32,
    next: u32,
    start: usize,
    end: usize,
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
    /// Texts of the record's vertices, from the last to the first.
    buffer: Vec<u8>,
    /// The texts below the vertex that is written now, ordered by class and content.
    children: Vec<(ClassId, usize, usize)>,
}

impl Writer<'_> {
    fn collect_children(&mut self, links: &[Link], first: usize, vertex: usize) {
        self.children.clear();
        let mut child = links[vertex - first].child;
        while child != NONE {
            let link = links[child as usize];
            self.children.push((self.data.class(first + child as usize), link.start, link.end));
            child = link.next;
        }
        let buffer = &self.buffer;
        self.children
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| buffer[a.1..a.2].cmp(&buffer[b.1..b.2])));
    }

    fn vertex(&mut self, templates: &[Template], vertex: usize) -> Result<(), Mixed> {
        let class = self.data.class(vertex);
        let template = &templates[class.index()];
        let start = self.buffer.len();
        let mut forms = u32::from(self.object(&template.fields, vertex));
        let mut other = |writer: &mut Self, write: &dyn Fn(&mut Self) -> bool| {
            let object = writer.buffer.len();
            if write(writer) {
                writer.buffer.drain(start..object);
                forms += 1;
            }
        };
        if let Some((attribute, slot)) = template.scalar {
            other(self, &|w| w.value(vertex, attribute, slot));
        }
        if let Some(nested) = template.nested {
            other(self, &|w| w.array(nested));
        }
        if forms > 1 || (class == ClassId::ROOT && self.buffer[start] != b'{') {
            return Err(Mixed);
        }
        if forms == 0 && (template.scalar.is_some() || template.nested.is_some()) {
            self.buffer.truncate(start);
            self.buffer.extend_from_slice(if template.scalar.is_some() { b"null" } else { b"[]" });
        }
        Ok(())
    }

    /// Writes an object with those fields that the vertex has; says whether there were any.
    fn object(&mut self, fields: &[Field], vertex: usize) -> bool {
        self.buffer.push(b'{');
        let open = self.buffer.len();
        for field in fields {
            let before = self.buffer.len();
            if before > open {
                self.buffer.push(b',');
            }
            self.buffer.extend_from_slice(&field.key);
            let written = match &field.content {
                Content::Value(attribute, slot) => self.value(vertex, *attribute, *slot),
                Content::Object(fields) => self.object(fields, vertex),
                Content::Array(class) => self.array(*class),
            };
            if !written {
                self.buffer.truncate(before);
            }
        }
        let any = self.buffer.len() > open;
        self.buffer.push(b'}');
        any
    }

    fn array(&mut self, class: ClassId) -> bool {
        let from = self.children.partition_point(|c| c.0 < class);
        let to = self.children.partition_point(|c| c.0 <= class);
        if from == to {
            return false;
        }
        for (i, &(_, start, end)) in self.children[from..to].iter().enumerate() {
            self.buffer.push(if i == 0 { b'[' } else { b',' });
            self.buffer.extend_from_within(start..end);
        }
        self.buffer.push(b']');
        true
    }

    fn value(&mut self, vertex: usize, attribute: AttributeId, slot: usize) -> bool {
        let code = self.data.values(vertex).get(slot).copied().unwrap_or(MISSING);
        if code == MISSING {
            return false;
        }
        let dictionary = self.data.dictionary(attribute);
        match dictionary.kind(code) {
            Kind::Text => push_string(&mut self.buffer, dictionary.text(code)),
            Kind::Number | Kind::Bool => self.buffer.extend_from_slice(dictionary.text(code).as_bytes()),
        }
        true
    }
}

/// Appends a JSON string.
pub(super) fn push_string(out: &mut Vec<u8>, text: &str) {
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
