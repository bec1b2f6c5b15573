//! What a document holds besides its records.

use std::cmp::Reverse;

use bosket_model::{Diagnostic, Place};

use super::shape::Shape;

/// How many paths are named.
const SHOWN: usize = 8;

/// A warning that names what is left out, if anything is.
pub(super) fn left_out(outside: &Shape, path: &[String], place: Place) -> Option<Diagnostic> {
    let mut found = Vec::new();
    let mut node = Shape::ROOT;
    for (level, step) in path.iter().enumerate() {
        let mut next = None;
        for &field in &outside.node(node).fields {
            if *outside.node(field).name == **step {
                next = Some(field);
            } else {
                found.push(format!("`{}`", outside.path(field)));
            }
        }
        node = next?;
        // The record's own attributes and text are its values.
        if level + 1 < path.len() && outside.node(node).texty {
            found.push(format!("the text of `{}`", outside.path(node)));
        }
    }
    if found.is_empty() {
        return None;
    }
    let more = found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!(
        "left out, since it lies outside the records `{}`: {}{more}",
        path.join("/"),
        found.join(", ")
    );
    let help = "nothing of it is published; if it says something about people, choose other records";
    Some(Diagnostic::warning(message).at(place).help(help))
}

/// The paths of elements that repeat: the outermost first, of these the most frequent.
pub(super) fn repeated(outside: &Shape) -> Vec<String> {
    // People are rather the outer elements than what they have several of.
    let mut found: Vec<(usize, Reverse<u64>, String)> = (outside.nodes())
        .filter(|(_, node)| node.many && !node.fields.is_empty())
        .map(|(id, node)| (outside.depth(id), Reverse(node.count), outside.path(id)))
        .collect();
    found.sort();
    found.into_iter().map(|(.., path)| path).collect()
}

/// Which elements of a document could be the records, in words.
pub(super) fn offer(outside: &Shape) -> String {
    let mut found = repeated(outside);
    let more = if found.len() > SHOWN { ", …" } else { "" };
    found.truncate(SHOWN);
    match found.as_slice() {
        [] => {
            "name the element that holds one person's data by its path from the root: db/patient".to_owned()
        }
        [one] => format!("say where the records are: record = \"{one}\""),
        _ => format!("say where the records are, record = one of {}{more}", found.join(", ")),
    }
}
