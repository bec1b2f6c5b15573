//! A record on its way to the two sides, and what is written of it.

use crate::xml::write::{push_attribute, push_text};
use bosket_model::sides::Fate;

use super::paths::{NONE, Paths, VALUE};

/// An element or attribute of a record that the policy names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) node: u32,
    first: u32,
    last: u32,
    next: u32,
    /// Where its text is.
    value: Option<(u32, u32)>,
}

/// What is kept of one record.
#[derive(Debug, Default)]
pub(crate) struct Person {
    entries: Vec<Entry>,
    texts: String,
    /// Sensitive attribute and text.
    sensitive: Vec<(usize, (u32, u32))>,
}

impl Person {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.texts.clear();
        self.sensitive.clear();
        self.entries.push(Entry { node: Paths::ROOT, first: NONE, last: NONE, next: NONE, value: None });
    }

    /// How many elements and attributes it has.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds an element or attribute below another.
    #[inline]
    pub(super) fn open(&mut self, parent: u32, node: u32) -> u32 {
        let id = self.entries.len() as u32;
        self.entries.push(Entry { node, first: NONE, last: NONE, next: NONE, value: None });
        let above = &mut self.entries[parent as usize];
        let last = std::mem::replace(&mut above.last, id);
        if last == NONE {
            above.first = id;
        } else {
            self.entries[last as usize].next = id;
        }
        id
    }

    fn push(&mut self, text: &str) -> (u32, u32) {
        let start = self.texts.len() as u32;
        self.texts.push_str(text);
        (start, self.texts.len() as u32)
    }

    pub(super) fn set(&mut self, entry: u32, text: &str) {
        let span = self.push(text);
        self.entries[entry as usize].value = Some(span);
    }

    pub(super) fn add_sensitive(&mut self, attribute: usize, text: &str) {
        let span = self.push(text);
        self.sensitive.push((attribute, span));
    }

    /// The sensitive values: attribute and text.
    pub(crate) fn sensitive(&self) -> impl ExactSizeIterator<Item = (usize, &str)> {
        self.sensitive.iter().map(|&(a, span)| (a, self.text(span)))
    }

    /// All values that are kept in their places, by the attribute of the policy that they belong to.
    pub(super) fn values<'a>(&'a self, paths: &'a Paths) -> impl Iterator<Item = (usize, &'a str)> {
        let entries = self.entries.iter();
        entries.filter_map(|entry| Some((paths.node(entry.node).leaf?.declared, self.text(entry.value?))))
    }

    fn text(&self, (start, end): (u32, u32)) -> &str {
        &self.texts[start as usize..end as usize]
    }

    /// Appends what stands after `<GroupElement Id="…"` for this person; says whether it is anything.
    pub(crate) fn write(&self, paths: &Paths, out: &mut Vec<u8>) -> bool {
        self.inside(paths, 0, super::publish::ELEMENT, out)
    }

    /// Appends an element; nothing if there is nothing in it.
    fn element(&self, paths: &Paths, at: u32, out: &mut Vec<u8>) {
        let start = out.len();
        let name = &paths.node(self.entries[at as usize].node).name;
        out.push(b'<');
        out.extend_from_slice(name.as_bytes());
        if !self.inside(paths, at, name, out) {
            out.truncate(start);
        }
    }

    /// Appends what stands after an element's name.
    fn inside(&self, paths: &Paths, at: u32, name: &str, out: &mut Vec<u8>) -> bool {
        let entry = &self.entries[at as usize];
        let start = out.len();
        let mut field = entry.first;
        let mut sorted = true;
        let mut before = None;
        while field != NONE {
            let found = &self.entries[field as usize];
            let node = paths.node(found.node);
            if let Some(value) = found.value.filter(|_| node.attribute) {
                push_attribute(out, &node.name, self.text(value));
            }
            sorted &= before < Some(node.place);
            before = Some(node.place);
            field = found.next;
        }
        let tag = out.len();
        out.push(b'>');
        match entry.value.map(|value| self.text(value)) {
            Some("") if paths.node(entry.node).wrapped => {
                out.extend_from_slice(format!("<{VALUE}/>").as_bytes());
            }
            Some(text) if paths.node(entry.node).wrapped => {
                out.extend_from_slice(format!("<{VALUE}>").as_bytes());
                push_text(out, text);
                out.extend_from_slice(format!("</{VALUE}>").as_bytes());
            }
            Some(text) => push_text(out, text),
            None => {}
        }
        if sorted {
            let mut field = entry.first;
            while field != NONE {
                if !paths.node(self.entries[field as usize].node).attribute {
                    self.element(paths, field, out);
                }
                field = self.entries[field as usize].next;
            }
        } else {
            self.ordered(paths, entry, out);
        }
        if out.len() == tag + 1 {
            if tag == start && entry.value.is_none() {
                // A person of whom nothing is known is still somebody.
                out.truncate(start);
                out.extend_from_slice(if at == 0 { b"/>" } else { b"" });
                return at == 0;
            }
            out.truncate(tag);
            out.extend_from_slice(b"/>");
            return true;
        }
        out.extend_from_slice(b"</");
        out.extend_from_slice(name.as_bytes());
        out.push(b'>');
        true
    }

    /// Appends elements in the order of the policy, those of one name in the order of their texts.
    fn ordered(&self, paths: &Paths, entry: &Entry, out: &mut Vec<u8>) {
        let mut fields = Vec::new();
        let mut field = entry.first;
        while field != NONE {
            let node = paths.node(self.entries[field as usize].node);
            if !node.attribute {
                fields.push((node.place, field));
            }
            field = self.entries[field as usize].next;
        }
        fields.sort_unstable();
        for same in fields.chunk_by(|a, b| a.0 == b.0) {
            if let [(_, only)] = same {
                self.element(paths, *only, out);
                continue;
            }
            let mut texts: Vec<Vec<u8>> = Vec::with_capacity(same.len());
            for &(_, field) in same {
                let mut text = Vec::new();
                self.element(paths, field, &mut text);
                texts.push(text);
            }
            texts.sort_unstable();
            texts.iter().for_each(|text| out.extend_from_slice(text));
        }
    }
}

/// Appends what stands after `<GroupElement Id="…"` for one sensitive value.
pub(super) fn write_fragment(paths: &Paths, declared: usize, text: &str, out: &mut Vec<u8>) {
    let chain = paths.chain(paths.of[declared]);
    let (attribute, elements) = match chain.split_last() {
        Some((last, above)) if paths.node(*last).attribute => (Some(&paths.node(*last).name), above),
        _ => (None, chain.as_slice()),
    };
    let mut names: Vec<&str> = vec![super::publish::ELEMENT];
    for &node in elements {
        let name = &paths.node(node).name;
        out.extend_from_slice(b"><");
        out.extend_from_slice(name.as_bytes());
        names.push(name);
    }
    let wrapped = attribute.is_none() && paths.node(elements.last().copied().unwrap_or(Paths::ROOT)).wrapped;
    if wrapped {
        out.extend_from_slice(b"><");
        out.extend_from_slice(VALUE.as_bytes());
        names.push(VALUE);
    }
    let mut open = names.len();
    match attribute {
        Some(name) => push_attribute(out, name, text),
        None if !text.is_empty() => {
            out.push(b'>');
            push_text(out, text);
        }
        None => {}
    }
    if attribute.is_some() || text.is_empty() {
        out.extend_from_slice(b"/>");
        open -= 1;
    }
    for name in names[..open].iter().rev() {
        out.extend_from_slice(b"</");
        out.extend_from_slice(name.as_bytes());
        out.push(b'>');
    }
}

/// Whether a value is kept with the person.
pub(super) fn stays(fate: Fate) -> bool {
    fate == Fate::Quasi
}
