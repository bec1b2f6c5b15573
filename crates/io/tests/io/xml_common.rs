//! XML documents and datasets in forms that can be compared.

use std::collections::BTreeSet;

use bosket_model::{Dataset, MISSING};
use roxmltree::{Document, Node};

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// What the elements at each path are like in a whole document, as another parser sees it.
#[derive(Default)]
pub(crate) struct Habits {
    structured: BTreeSet<String>,
    texty: BTreeSet<String>,
    many: BTreeSet<String>,
}

impl Habits {
    pub(crate) fn of(records: &[Node<'_, '_>]) -> Self {
        let mut habits = Habits::default();
        records.iter().for_each(|r| habits.learn(*r, ""));
        habits
    }

    fn learn(&mut self, node: Node<'_, '_>, path: &str) {
        if attributes(node).next().is_some() || node.children().any(|c| c.is_element()) {
            self.structured.insert(path.to_owned());
        }
        if own_text(node).is_some_and(|t| !t.is_empty()) || nil(node) == Some(false) {
            self.texty.insert(path.to_owned());
        }
        let mut names = BTreeSet::new();
        for child in node.children().filter(|c| c.is_element()) {
            let inner = format!("{path}/{}", child.tag_name().name());
            if !names.insert(inner.clone()) {
                self.many.insert(inner.clone());
            }
            self.learn(child, &inner);
        }
    }

    /// A record as text in which order does not count, nor elements that leave no trace.
    pub(crate) fn canonical(&self, record: Node<'_, '_>) -> String {
        self.element(record, "").unwrap_or_default()
    }

    fn element(&self, node: Node<'_, '_>, path: &str) -> Option<String> {
        let mut parts: Vec<String> = attributes(node).collect();
        let has_text = self.texty.contains(path) || !self.structured.contains(path);
        let text = own_text(node).filter(|_| has_text && nil(node) != Some(true));
        parts.extend(text.map(|t| format!("={t:?}")));
        for child in node.children().filter(|c| c.is_element()) {
            let inner = format!("{path}/{}", child.tag_name().name());
            parts.extend(self.element(child, &inner));
        }
        if parts.is_empty() && !self.many.contains(path) {
            return None;
        }
        parts.sort();
        Some(format!("<{} {}>", node.tag_name().name(), parts.join(" ")))
    }
}

fn nil(node: Node<'_, '_>) -> Option<bool> {
    node.attribute((XSI, "nil")).map(|v| v == "true")
}

fn attributes<'a>(node: Node<'a, '_>) -> impl Iterator<Item = String> {
    let own = node.attributes().filter(|a| a.namespace() != Some(XSI));
    own.map(|a| format!("@{}={:?}", a.name(), a.value()))
}

/// The text of an element without elements in it; only literal blanks around it do not count, but this parser does not
/// tell them from others.
fn own_text(node: Node<'_, '_>) -> Option<String> {
    if node.children().any(|c| c.is_element()) {
        return None;
    }
    let text: String = node.children().filter_map(|c| if c.is_text() { c.text() } else { None }).collect();
    Some(text.trim_matches([' ', '\t', '\n', '\r']).to_owned())
}

/// The elements at a path from the root.
pub(crate) fn at<'a, 'i>(document: &'a Document<'i>, path: &str) -> Vec<Node<'a, 'i>> {
    let mut found = vec![document.root()];
    for step in path.split('/') {
        let below = found.iter().flat_map(|n| n.children());
        found = below.filter(|n| n.is_element() && n.tag_name().name() == step).collect();
    }
    found
}

/// All values of each record with their paths, where order does not count.
pub(crate) fn values(data: &Dataset) -> Vec<String> {
    fn vertex(data: &Dataset, v: usize, end: usize) -> String {
        let class = data.schema().class(data.class(v));
        let mut parts = Vec::new();
        for &id in &class.attributes {
            let code = data.value(v, id);
            if code != MISSING {
                let value = data.dictionary(id).text(code);
                parts.push(format!("{}={value:?}", data.schema().attribute(id).path));
            }
        }
        let below = (v + 1..end).filter(|&c| data.parent(c) == Some(v));
        parts.extend(below.map(|c| vertex(data, c, end)));
        parts.sort();
        format!("{}{{{}}}", class.path, parts.join(" "))
    }
    let mut records: Vec<String> = (0..data.len())
        .map(|r| {
            let range = data.vertices(r);
            vertex(data, range.start, range.end)
        })
        .collect();
    records.sort();
    records
}
