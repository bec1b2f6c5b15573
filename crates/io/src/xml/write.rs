//! Records as elements of one document, ordered by what is written.

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};

use super::Outline;
use super::names::{is_blank, prefix};
use super::namespaces::XSI;
use super::read::WRAPPER;
use super::template::{Child, Element, templates};
use crate::bottom_up::{Texts, write_records};
use crate::fault;

/// Writes a document whose records are at `path`.
pub(super) fn write(
    data: &Dataset,
    path: &[String],
    outline: &Outline,
    out: &mut dyn Write,
    observer: &dyn Observer,
) -> Result<()> {
    if path.len() == 1 && data.len() != 1 {
        // Every document was one record: together they need an element around them.
        let mut outline = outline.clone();
        let default = outline.namespaces.default.first().cloned().unwrap_or_default();
        outline.namespaces.default.insert(0, default);
        return write(data, &[&[WRAPPER.to_owned()], path].concat(), &outline, out, observer);
    }
    let (record, around) = path.split_last().expect("a path has a name");
    let templates = templates(data, record, &outline.order)?;
    let mut names: Vec<&str> = path.iter().map(String::as_str).collect();
    templates.iter().for_each(|t| t.names(&mut names));
    let nil = nil_prefix(outline);
    let mut nil_used = false;
    // Declarations that the record's element needs stand in the text of every record.
    let mut own = Vec::new();
    if !around.is_empty() {
        push_default(&mut own, outline, path.len() - 1);
    }
    let sorted = write_records(data, observer, |texts, number, vertex| {
        let class = data.class(vertex);
        let mut writer = Writer { data, texts, nil: &nil, nil_used: &mut nil_used };
        let own: &[u8] = if class == ClassId::ROOT { &own } else { &[] };
        match writer.element(&templates[class.index()], vertex, Some(own)) {
            Ok(_) => Ok(()),
            Err(Mixed) => Err(mixed(data, number, vertex)),
        }
    })?;
    if nil_used {
        names.push(&nil);
    }
    let declarations = declarations(outline, &names, &nil)?;

    let mut head = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_vec();
    for (level, name) in around.iter().enumerate() {
        head.push(b'<');
        head.extend_from_slice(name.as_bytes());
        push_default(&mut head, outline, level);
        if level == 0 {
            head.extend_from_slice(&declarations);
        }
        head.extend_from_slice(b">\n");
    }
    let mut write = |bytes: &[u8]| out.write_all(bytes).map_err(fault::from_write);
    write(&head)?;
    for text in sorted.iter() {
        observer.go_on()?;
        if around.is_empty() {
            let (start, rest) = text.split_at(1 + record.len());
            let mut root = start.to_vec();
            push_default(&mut root, outline, 0);
            root.extend_from_slice(&declarations);
            root.extend_from_slice(rest);
            write(&root)?;
        } else {
            write(text)?;
        }
        write(b"\n")?;
    }
    for name in around.iter().rev() {
        write(format!("</{name}>\n").as_bytes())?;
    }
    Ok(())
}

/// The declaration of the default namespace, where it is another than around the element.
fn push_default(out: &mut Vec<u8>, outline: &Outline, level: usize) {
    let at = |level: usize| outline.namespaces.default.get(level).map_or("", String::as_str);
    let around = level.checked_sub(1).map_or("", at);
    if at(level) != around {
        push_attribute(out, "xmlns", at(level));
    }
}

/// The name of `xsi:nil`, with the prefix that it has in the document or could have.
fn nil_prefix(outline: &Outline) -> String {
    let prefixes = &outline.namespaces.prefixes;
    let known = prefixes.iter().find(|p| p.namespace == XSI).map(|p| p.name.clone());
    let free = || {
        let tried = (0u32..).map(|i| if i == 0 { "xsi".to_owned() } else { format!("xsi{i}") });
        tried.into_iter().find(|name| prefixes.iter().all(|p| p.name != *name)).expect("endless")
    };
    known.unwrap_or_else(free) + ":nil"
}

/// The declarations of all prefixes that are used: others would say something that nobody has looked at.
fn declarations(outline: &Outline, names: &[&str], nil: &str) -> Result<Vec<u8>> {
    let mut used: Vec<&str> = names.iter().map(|name| prefix(name)).filter(|p| !p.is_empty()).collect();
    let known = &outline.namespaces.prefixes;
    used.sort_unstable();
    used.dedup();
    let mut out = Vec::new();
    for name in used {
        let namespace = match known.iter().find(|p| p.name == name) {
            Some(prefix) => &prefix.namespace,
            None if name == "xml" => continue,
            None if name == prefix(nil) => XSI,
            None => {
                let what = format!("nothing says which namespace the prefix `{name}` stands for");
                let help = "declare it in the document that is read";
                return Err(Failure::new(Fault::Data, Diagnostic::error(what).help(help)));
            }
        };
        push_attribute(&mut out, &format!("xmlns:{name}"), namespace);
    }
    Ok(out)
}

/// A vertex has both text and elements.
struct Mixed;

fn mixed(data: &Dataset, record: usize, vertex: usize) -> Failure {
    let class = data.schema().class(data.class(vertex));
    let place = Place::default().record(record as u64 + 1).path(class.path.as_str());
    let what = Diagnostic::error("an element would have both text and elements in it");
    Failure::new(Fault::Data, what.at(place).help("rename one of the two"))
}

struct Writer<'d> {
    data: &'d Dataset,
    texts: &'d mut Texts,
    nil: &'d str,
    nil_used: &'d mut bool,
}

impl Writer<'_> {
    /// Writes an element if the vertex has something in it, or is the element itself, which then has declarations of
    /// its `own`. Says whether it did.
    fn element(&mut self, element: &Element, vertex: usize, own: Option<&[u8]>) -> Result<bool, Mixed> {
        let start = self.texts.buffer.len();
        self.push(b"<");
        self.push(element.name.as_bytes());
        self.push(own.unwrap_or_default());
        let mut any = own.is_some();
        for attribute in &element.attributes {
            if let Some(value) = self.value(vertex, attribute.id, attribute.slot) {
                push_attribute(&mut self.texts.buffer, &attribute.name, value);
                any = true;
            }
        }
        let tag = self.texts.buffer.len();
        self.push(b">");
        let inside = self.texts.buffer.len();
        for child in &element.children {
            match child {
                Child::One(inner) => {
                    self.element(inner, vertex, None)?;
                }
                Child::Many(_, class) => self.many(*class),
            }
        }
        let has_elements = self.texts.buffer.len() > inside;
        let text = element.text.as_ref().map(|t| self.value(vertex, t.id, t.slot));
        match text.flatten() {
            Some(_) if has_elements => return Err(Mixed),
            Some(text) => {
                any = true;
                push_text(&mut self.texts.buffer, text);
            }
            None => {}
        }
        if self.texts.buffer.len() > inside {
            self.push(b"</");
            self.push(element.name.as_bytes());
            self.push(b">");
            return Ok(true);
        }
        if !any {
            self.texts.buffer.truncate(start);
            return Ok(false);
        }
        self.texts.buffer.truncate(tag);
        // A reader takes an empty element for empty text if the element has text elsewhere, or never anything.
        let filled = element.text.as_ref().is_some_and(|t| t.filled);
        match text {
            Some(None) => self.push_nil("true"),
            None if !element.is_structured() => self.push_nil("true"),
            Some(Some(_)) if element.is_structured() && !filled => self.push_nil("false"),
            _ => {}
        }
        self.push(b"/>");
        Ok(true)
    }

    fn many(&mut self, class: ClassId) {
        for i in 0..self.texts.below(class).len() {
            let (_, start, end) = self.texts.below(class)[i];
            self.texts.buffer.extend_from_within(start..end);
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.texts.buffer.extend_from_slice(bytes);
    }

    fn push_nil(&mut self, value: &str) {
        *self.nil_used = true;
        push_attribute(&mut self.texts.buffer, self.nil, value);
    }
}

impl<'d> Writer<'d> {
    fn value(&self, vertex: usize, attribute: AttributeId, slot: usize) -> Option<&'d str> {
        let code = self.data.values(vertex).get(slot).copied().unwrap_or(MISSING);
        (code != MISSING).then(|| self.data.dictionary(attribute).text(code))
    }
}

pub(super) fn push_attribute(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(b' ');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    for &byte in value.as_bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"&quot;"),
            // A reader would make blanks of them.
            b'\n' | b'\t' => push_reference(out, byte),
            _ => push_escaped(out, byte),
        }
    }
    out.push(b'"');
}

/// Appends text. Blanks around it would be taken for layout.
pub(super) fn push_text(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let start = bytes.iter().position(|&b| !is_blank(b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|&b| !is_blank(b)).map_or(bytes.len(), |i| i + 1);
    bytes[..start].iter().for_each(|&b| push_reference(out, b));
    bytes[start..end].iter().for_each(|&b| push_escaped(out, b));
    bytes[end..].iter().for_each(|&b| push_reference(out, b));
}

fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'&' => out.extend_from_slice(b"&amp;"),
        b'<' => out.extend_from_slice(b"&lt;"),
        b'>' => out.extend_from_slice(b"&gt;"),
        b'\r' => push_reference(out, byte),
        _ => out.push(byte),
    }
}

fn push_reference(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(format!("&#{byte};").as_bytes());
}
