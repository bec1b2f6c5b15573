//! TOML as a small tree in which everything knows where it was written: in the file, or in a `--set`.

use crate::diag::{Diagnostic, Place, Severity};
use std::ops::Range;
use toml_edit::{Item, TableLike, Value};

/// A part of one of the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Index into the texts of [`Report`]: 0 is the policy file, the others are `--set` arguments.
    pub(super) text: usize,
    pub(super) range: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Table(Vec<Entry>),
    Array(Vec<Node>),
    Str(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Datetime(String),
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) value: Node,
}

impl Node {
    /// In words, as in "not a string".
    pub(super) fn words(&self) -> &'static str {
        match self.kind {
            Kind::Table(_) => "a table",
            Kind::Array(_) => "a list",
            Kind::Str(_) => "a string",
            Kind::Int(_) => "a whole number",
            Kind::Float(_) => "a decimal number",
            Kind::Bool(_) => "true or false",
            Kind::Datetime(_) => "a date",
        }
    }

    // The getters below answer nothing where the value has the wrong type: the check has said so already.

    pub(super) fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Table(entries) => entries,
            _ => &[],
        }
    }
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|e| e.key == key).map(|e| &e.value)
    }
    pub(super) fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::Array(items) => items,
            _ => &[],
        }
    }
    /// The elements of the list under the key.
    pub(super) fn list(&self, key: &str) -> &[Node] {
        self.get(key).map_or(&[], Node::items)
    }
    /// A string, or a date as it is written.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Str(text) | Kind::Datetime(text) => Some(text),
            _ => None,
        }
    }
    pub(super) fn str(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }
    pub(super) fn int(&self) -> Option<i64> {
        match self.kind {
            Kind::Int(i) => Some(i),
            _ => None,
        }
    }
    pub(super) fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Int(i) => Some(i as f64),
            Kind::Float(f) => Some(f),
            _ => None,
        }
    }
    pub(super) fn bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(b) => Some(b),
            _ => None,
        }
    }
    /// A string alone counts as a list of one.
    pub(super) fn strings(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            Some(Node { kind: Kind::Str(one), .. }) => vec![one.clone()],
            Some(node) => node.items().iter().filter_map(Node::text).map(str::to_owned).collect(),
            None => Vec::new(),
        }
    }
}

/// Parses the text of a policy. The parser gives up at the first syntax error.
pub(super) fn parse(text: &str, number: usize) -> Result<Node, (Range<usize>, String)> {
    let document = toml_edit::Document::parse(text)
        .map_err(|e| (e.span().unwrap_or(text.len()..text.len()), e.message().to_owned()))?;
    let root = Span { text: number, range: 0..0 };
    Ok(from_table(document.as_table(), root))
}

fn from_table(table: &dyn TableLike, span: Span) -> Node {
    let mut entries = Vec::new();
    for (name, item) in table.iter() {
        let at = |range: Option<Range<usize>>, or: &Span| Span {
            text: span.text,
            range: range.unwrap_or_else(|| or.range.clone()),
        };
        let key_span = at(table.key(name).and_then(toml_edit::Key::span), &span);
        let own = at(item.span(), &key_span);
        let value = match item {
            Item::None => continue,
            Item::Value(value) => from_value(value, own),
            Item::Table(table) => from_table(table, own),
            Item::ArrayOfTables(tables) => {
                let each = tables.iter().map(|t| from_table(t, at(t.span(), &key_span))).collect();
                Node { kind: Kind::Array(each), span: own }
            }
        };
        entries.push(Entry { key: name.to_owned(), key_span, value });
    }
    Node { kind: Kind::Table(entries), span }
}

fn from_value(value: &Value, span: Span) -> Node {
    let kind = match value {
        Value::String(v) => Kind::Str(v.value().clone()),
        Value::Integer(v) => Kind::Int(*v.value()),
        Value::Float(v) => Kind::Float(*v.value()),
        Value::Boolean(v) => Kind::Bool(*v.value()),
        Value::Datetime(v) => Kind::Datetime(v.value().to_string()),
        Value::InlineTable(table) => return from_table(table, span),
        Value::Array(array) => Kind::Array(
            array
                .iter()
                .map(|v| {
                    let range = v.span().unwrap_or_else(|| span.range.clone());
                    from_value(v, Span { text: span.text, range })
                })
                .collect(),
        ),
    };
    Node { kind, span }
}

/// The texts, and what was found in them.
pub(super) struct Report {
    /// Name and text; the policy file first.
    texts: Vec<(String, String)>,
    /// Per text where its lines end: everything in it gets a place.
    ends: Vec<Vec<usize>>,
    found: Vec<(usize, usize, Diagnostic)>,
}

impl Report {
    pub(super) fn new(name: &str, text: &str, sets: &[String]) -> Report {
        let mut texts = vec![(name.to_owned(), text.to_owned())];
        texts.extend(sets.iter().map(|s| ("--set".to_owned(), s.clone())));
        let ends = |(_, text): &(String, String)| text.match_indices('\n').map(|(at, _)| at).collect();
        Report { ends: texts.iter().map(ends).collect(), texts, found: Vec::new() }
    }

    pub(super) fn place(&self, span: &Span) -> Place {
        let (name, text) = &self.texts[span.text];
        let line = self.ends[span.text].partition_point(|&end| end < span.range.start);
        Place::in_line(name, text, span.range.clone(), line as u64 + 1)
    }

    /// A part of a text that stands in quotes; all of it where it is not written letter for letter.
    pub(super) fn inside(&self, span: &Span, text: &str, part: Range<usize>) -> Span {
        let written = self.texts[span.text].1.get(span.range.clone());
        let start = match written.and_then(|w| w.get(1..w.len().checked_sub(1)?)) {
            Some(inner) if inner == text => span.range.start + 1,
            _ if written == Some(text) => span.range.start,
            _ => return span.clone(),
        };
        Span { text: span.text, range: start + part.start..start + part.end }
    }

    pub(super) fn error(&mut self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.add(span, Diagnostic::error(message), help.into());
    }

    pub(super) fn warning(&mut self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.add(span, Diagnostic::warning(message), help.into());
    }

    fn add(&mut self, span: &Span, diagnostic: Diagnostic, help: String) {
        let diagnostic = diagnostic.at(self.place(span));
        let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.help(help) };
        self.found.push((span.text, span.range.start, diagnostic));
    }

    /// An error whose line must not be shown.
    pub(super) fn secret(&mut self, span: &Span, message: impl Into<String>, help: impl Into<String>) {
        self.error(span, message, help);
        if let Some((_, _, diagnostic)) = self.found.last_mut() {
            diagnostic.place.snippet = None;
        }
    }

    pub(super) fn has_errors(&self) -> bool {
        self.found.iter().any(|(_, _, d)| d.severity == Severity::Error)
    }

    /// Everything found, in reading order.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|&(text, at, _)| (text, at));
        self.found.into_iter().map(|(_, _, d)| d).collect()
    }
}
