//! ARX-style hierarchy files: one line per value, `value;parent;grandparent;…;*`.

use rustc_hash::FxHashSet;

use super::cells::{Cell, Lines, Problems, separator};
use super::tree::{Hierarchy, ROOT_LABEL};
use super::tree_builder::{Handle, TreeBuilder};
use crate::diag::{Diagnostic, Place};

/// Reads a hierarchy. `name` is the file's name, for messages.
///
/// The separator is `;` if that is on every line, else a tab if that is, else a comma. A missing final `*` is added,
/// equal adjacent labels are one node, empty cells at the end of a line and blank lines mean nothing. A value that is
/// an inner node elsewhere gets the leaf `<label> (unspecified)`. The value `""` can be written in quotes. A line that says
/// exactly what one before says counts once.
pub fn parse(name: &str, text: &str) -> Result<Hierarchy, Vec<Diagnostic>> {
    parse_noting(name, text).map(|(hierarchy, _)| hierarchy)
}

/// The same with what should be known about the file: lines that say again what one before says.
pub fn parse_noting(name: &str, text: &str) -> Result<(Hierarchy, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut reader = Reader {
        builder: TreeBuilder::new(),
        problems: Problems::new(name, text),
        placed_on: vec![0],
        value_on: vec![0],
        last_seen_on: vec![0],
        told: FxHashSet::default(),
        repeated: Vec::new(),
    };
    let mut lines = Lines::new(text, separator(text));
    let mut cells = Vec::new();
    let mut empty = true;
    while let Some(line) = lines.next(&mut cells) {
        empty = false;
        reader.line(line.number, &cells);
    }
    if empty {
        let help = "write one line per value: the value, its parent and so on, up to *";
        return Err(vec![Diagnostic::error("the hierarchy is empty").at(Place::source(name)).help(help)]);
    }
    let Reader { builder, problems, repeated, .. } = reader;
    problems.result()?;
    Ok((builder.finish(), note(name, &repeated).into_iter().collect()))
}

/// Repeated lines that are named.
const NAMED: usize = 8;

/// That lines say again what others say: each with the one before.
fn note(name: &str, repeated: &[(u64, u64)]) -> Option<Diagnostic> {
    let (first, _) = repeated.first()?;
    let one = |(line, earlier): &(u64, u64)| format!("line {line} says what line {earlier} says");
    let mut what = repeated.iter().take(NAMED).map(one).collect::<Vec<_>>().join(", ");
    if repeated.len() > NAMED {
        what += &format!(", and so do {} more", repeated.len() - NAMED);
    }
    let what = Diagnostic::warning(what).at(Place::source(name).line(*first));
    Some(what.help("each counts once; take the later ones out"))
}

struct Reader<'a> {
    builder: TreeBuilder,
    problems: Problems<'a>,
    /// Per node: the line that put it where it is.
    placed_on: Vec<u64>,
    /// Per node: the line whose value it is, or 0.
    value_on: Vec<u64>,
    /// Per node: the last line that mentions it.
    last_seen_on: Vec<u64>,
    /// Nodes and parents already complained about.
    told: FxHashSet<(Handle, Handle)>,
    /// Lines that repeat an earlier one exactly, each with that.
    repeated: Vec<(u64, u64)>,
}

impl Reader<'_> {
    fn line(&mut self, number: u64, cells: &[Cell<'_>]) {
        let path = match cells {
            [path @ .., last] if last.text.trim() == ROOT_LABEL && last.fault.is_none() => path,
            path => path,
        };
        if !self.well_formed(path) {
            return;
        }
        if let Some(earlier) = self.repeats(path) {
            self.repeated.push((number, earlier));
            return;
        }
        let mut at = TreeBuilder::ROOT;
        let (value, above) = match path {
            [value, above @ ..] => (Some(value), above),
            [] => (None, path),
        };
        for cell in above.iter().rev() {
            at = self.descend(number, at, cell);
        }
        if let Some(value) = value {
            let earlier = self.builder.node(&value.text).map_or(0, |n| self.value_on[n.index()]);
            if earlier > 0 {
                self.duplicate(value, earlier);
                return;
            }
            at = self.descend(number, at, value);
        } else if self.value_on[at.index()] > 0 {
            let earlier = self.value_on[at.index()];
            self.duplicate(&cells[0], earlier);
            return;
        }
        self.value_on[at.index()] = number;
        self.builder.mark_data(at);
    }

    /// The line that says the same already: the same value, and the same labels above it up to the root.
    fn repeats(&self, path: &[Cell<'_>]) -> Option<u64> {
        let mut labels: Vec<&str> = path.iter().map(|cell| &*cell.text).collect();
        labels.dedup();
        let node = self.builder.node(labels.first().copied().unwrap_or(ROOT_LABEL))?;
        let mut at = node;
        for label in labels {
            if at == TreeBuilder::ROOT || self.builder.label(at) != label {
                return None;
            }
            at = self.builder.parent(at);
        }
        let earlier = self.value_on[node.index()];
        (at == TreeBuilder::ROOT && earlier > 0).then_some(earlier)
    }

    fn duplicate(&mut self, value: &Cell<'_>, earlier: u64) {
        let message = || format!("the value `{}` is already on line {earlier}", value.text);
        self.problems.add(value.span.clone(), message, "keep one of the two lines");
    }

    fn well_formed(&mut self, path: &[Cell<'_>]) -> bool {
        let mut fine = true;
        for (level, cell) in path.iter().enumerate() {
            let span = cell.span.clone();
            if let Some(fault) = cell.fault {
                let help = "write a quote inside quotes twice, and quote the whole cell";
                self.problems.add(span, || fault.to_owned(), help);
            } else if cell.text.is_empty() && !(level == 0 && cell.quoted) {
                let help = "give the node a name, or repeat the label beside it to leave the level out";
                self.problems.add(span, || "a label is empty".to_owned(), help);
            } else if cell.text == ROOT_LABEL && path.len() > 1 {
                let help = "keep * for the last cell of each line";
                self.problems.add(
                    span,
                    || "`*` is the root's label and cannot stand below it".to_owned(),
                    help,
                );
            } else {
                continue;
            }
            fine = false;
        }
        fine
    }

    /// Goes from a node to the child that the cell names. A node that is elsewhere already stays there, so that each
    /// contradiction is reported once and not again by everything below it.
    fn descend(&mut self, number: u64, parent: Handle, cell: &Cell<'_>) -> Handle {
        let node = match self.builder.child(parent, &cell.text) {
            Ok(node) => node,
            Err(node) => {
                if self.told.insert((node, parent)) {
                    self.contradiction(number, parent, node, cell);
                }
                node
            }
        };
        if node.index() == self.placed_on.len() {
            self.placed_on.push(number);
            self.value_on.push(0);
            self.last_seen_on.push(0);
        }
        self.last_seen_on[node.index()] = number;
        node
    }

    fn contradiction(&mut self, number: u64, parent: Handle, node: Handle, cell: &Cell<'_>) {
        let (label, above) = (&cell.text, self.builder.label(parent));
        let earlier = self.placed_on[node.index()];
        let looped = self.builder.is_below_or_self(parent, node);
        if looped && self.last_seen_on[node.index()] == number {
            let message = || format!("`{label}` is above and below `{above}` on one line");
            let help = "give one of the two nodes another label";
            self.problems.add(cell.span.clone(), message, help);
        } else if looped {
            let line = self.placed_on[parent.index()];
            let message = || format!("`{label}` is below `{above}` here, but above it on line {line}");
            let help = "put the two in the same order on all lines";
            self.problems.add(cell.span.clone(), message, help);
        } else {
            let first = self.builder.label(self.builder.parent(node));
            let message =
                || format!("`{label}` is below `{above}` here, but below `{first}` on line {earlier}");
            let help = "a node has one parent: correct one of the lines, or use two labels";
            self.problems.add(cell.span.clone(), message, help);
        }
    }
}

/// The hierarchy as a file that [`parse`] reads back to the same tree.
pub fn write(hierarchy: &Hierarchy) -> String {
    let mut out = String::new();
    for position in hierarchy.leaves(hierarchy.root()) {
        let mut at = hierarchy.leaf_node(position);
        push_cell(&mut out, hierarchy.label(at));
        while let Some(parent) = hierarchy.parent(at) {
            out.push(';');
            push_cell(&mut out, hierarchy.label(parent));
            at = parent;
        }
        out.push('\n');
    }
    out
}

fn push_cell(out: &mut String, label: &str) {
    let plain =
        !label.is_empty() && !label.starts_with('\u{feff}') && !label.contains([';', '"', '\n', '\r']);
    if plain {
        out.push_str(label);
    } else {
        out.push('"');
        out.push_str(&label.replace('"', "\"\""));
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Hierarchy {
        parse("h.csv", text).unwrap_or_else(|d| panic!("{d:?}"))
    }

    fn complaints(text: &str) -> Vec<String> {
        parse("h.csv", text).expect_err("must be refused").iter().map(ToString::to_string).collect()
    }

    fn assert_complaint(text: &str, expected: &[&str]) {
        let found = complaints(text);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}\ndoes not start with\n{expected}");
            assert!(found.contains("(help: "), "{found}");
        }
    }

    #[test]
    fn equal_adjacent_labels_are_one_node() {
        let h = tree("CS201;CS2**;CS;*\nEL101;EL;EL;*\nEL;EL;EL;*\nMATH;MATH;*;;\n");
        let labels: Vec<_> = h.nodes().map(|n| h.label(n)).collect();
        assert_eq!(labels, ["*", "CS", "CS2**", "CS201", "EL", "EL (unspecified)", "EL101", "MATH"]);
    }

    #[test]
    fn a_line_that_was_there_twice_counts_once_and_is_told() {
        let noted = |text: &str| parse_noting("h.csv", text).unwrap_or_else(|d| panic!("{d:?}"));
        for (twice, once, line, expected) in [
            ("a;A;*\nb;A;*\na;A;*\n", "a;A;*\nb;A;*\n", 3, "line 3 says what line 1 says"),
            (
                "a;A\na;A;*\nb;b;B;*\nb;B\n",
                "a;A;*\nb;B;*\n",
                2,
                "line 2 says what line 1 says, line 4 says what line 3 says",
            ),
            ("*\na;*\n*\n", "*\na;*\n", 3, "line 3 says what line 1 says"),
            ("\"\";A;*\n\"\";A;*\n", "\"\";A;*\n", 2, "line 2 says what line 1 says"),
        ] {
            let (tree, notes) = noted(twice);
            assert_eq!((tree, Vec::new()), noted(once), "{twice:?}");
            let [note] = &notes[..] else { panic!("{notes:?}") };
            assert_eq!((note.message.as_str(), note.place.line), (expected, Some(line)));
        }
        let many = "a;*\n".repeat(12);
        assert!(noted(&many).1[0].message.ends_with(", and so do 3 more"));
        // The same value elsewhere is still a contradiction.
        assert_complaint("a;A;*\nb;B;*\na;B;*\n", &["h.csv:3:1: error: the value `a` is already on line 1"]);
        assert_eq!(complaints("a;A;B;*\na;A;*\n").len(), 2);
    }

    #[test]
    fn a_missing_root_is_added() {
        assert_eq!(tree("a;A\nb;A\nc;C\n"), tree("a;A;*\nb;A;*\nc;C;*\n"));
        assert_eq!(tree("a\nb\n"), tree("a;*\nb;*\n"));
        assert_eq!(tree("a,A, *\n"), tree("a;A;*\n"));
    }

    #[test]
    fn separators_bom_and_line_ends_do_not_matter() {
        let h = tree("1;1,3;*\n2;1,3;*\n");
        assert_eq!(tree("\u{feff}1;1,3;*\r\n\r\n2;1,3;*"), h);
        assert_eq!(tree("1\t1,3\t*\n2\t1,3\t*\n"), h);
        assert_eq!(tree("1,\"1,3\",*\n2,\"1,3\",*\n"), h);
    }

    #[test]
    fn the_empty_value_in_quotes() {
        let h = tree("\"\";none;*\nx;some;*\n");
        assert!(h.leaf("").is_some());
        assert_eq!(tree(&write(&h)), h);
        assert_complaint("x;\"\";*\n", &["h.csv:1:3: error: a label is empty"]);
    }

    #[test]
    fn the_same_value_twice() {
        assert_complaint("a;A;*\nb;B;*\na;B;*\n", &["h.csv:3:1: error: the value `a` is already on line 1"]);
    }

    #[test]
    fn two_parents_are_told_once_per_pair() {
        assert_complaint(
            "a;X;A;*\nb;X;B;*\nc;X;B;*\nd;X;*\n",
            &[
                "h.csv:2:3: error: `X` is below `B` here, but below `A` on line 1",
                "h.csv:4:3: error: `X` is below `*` here, but below `A` on line 1",
            ],
        );
    }

    #[test]
    fn loops() {
        assert_complaint("x;a;b;a;*\n", &["h.csv:1:3: error: `a` is above and below `b` on one line"]);
        assert_complaint("a;b;a;*\n", &["h.csv:1:1: error: `a` is above and below `b` on one line"]);
        let across = complaints("x;a;b;*\ny;b;a;*\n");
        assert!(
            across.iter().any(|c| c.contains("`b` is below `a` here, but above it on line 1")),
            "{across:?}"
        );
    }

    #[test]
    fn empty_labels_and_stars_below_the_root() {
        assert_complaint(
            "a;;*\n;B;*\nc;*;C;*\n*;D;*\n",
            &[
                "h.csv:1:3: error: a label is empty",
                "h.csv:2:1: error: a label is empty",
                "h.csv:3:3: error: `*` is the root's label",
                "h.csv:4:1: error: `*` is the root's label",
            ],
        );
    }

    #[test]
    fn quotes_that_do_not_match() {
        assert_complaint("\"a;A;*\nb;A;*\n", &["h.csv:1:1: error: this quote is never closed"]);
        assert_complaint("\"a\"x;A;*\n", &["h.csv:1:1: error: text follows the closing quote"]);
    }

    #[test]
    fn an_empty_file() {
        assert_complaint("", &["h.csv: error: the hierarchy is empty"]);
        assert_complaint(
            "\u{feff}\r\n ;\n;;;\n".replace(" ;", "").as_str(),
            &["h.csv: error: the hierarchy is empty"],
        );
    }

    #[test]
    fn problems_mark_the_text() {
        let found = parse("h.csv", "a;A;*\nbé;;*\n").expect_err("an empty label");
        let snippet = found[0].place.snippet.as_ref().expect("a marked line");
        assert_eq!((snippet.text.as_str(), snippet.start), ("bé;;*", 3));
    }

    #[test]
    fn many_problems_are_cut_short() {
        let text: String = (0..200).map(|i| format!("v{i};;*\n")).collect();
        let found = complaints(&text);
        assert_eq!(found.len(), 51);
        assert_eq!(found[50], "h.csv: error: and 150 more problems");
    }

    #[test]
    fn the_root_alone() {
        let h = tree("*\n");
        assert_eq!(h.len(), 1);
        assert_eq!(tree(&write(&h)), h);
        assert_eq!(tree("*\na;*\n").leaf("*").map(|n| n.0), Some(1));
    }
}
