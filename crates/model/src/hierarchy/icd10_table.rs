//! Another edition of ICD-10, or any classification, from a table with the columns `code` and `parent`.

use rustc_hash::FxHashMap;

use super::cells::{Cell, Lines, Problems};
use super::icd10::normal;
use super::tree::{Hierarchy, ROOT_LABEL};
use super::tree_builder::{Handle, TreeBuilder};
use crate::diag::{Diagnostic, Place};

const HEADER_HELP: &str = "start the table with a line that names its columns: code, parent and any others";

/// A row: cells of the columns that matter, and what was found about its parent.
struct Row<'a> {
    line: u64,
    code: Cell<'a>,
    parent: Option<Cell<'a>>,
    kind: Option<Cell<'a>>,
    place: Above,
}

#[derive(Clone, Copy, PartialEq)]
enum Above {
    Root,
    Row(usize),
    Unknown,
}

/// Plants the table, rows with the parent empty or `*` under the root, and hangs other spellings of its codes below them.
pub(super) fn build(name: &str, text: &str, domain: &[&str]) -> Result<Hierarchy, Vec<Diagnostic>> {
    let mut problems = Problems::new(name, text);
    let mut rows = read(name, text, &mut problems)?;
    let mut by_code: FxHashMap<String, usize> = FxHashMap::default();
    for (at, row) in rows.iter().enumerate() {
        by_code.entry(row.code.text.to_string()).or_insert(at);
    }
    // Exact spellings go first: a table may list both, and each is then its own node.
    let mut by_normal: FxHashMap<String, usize> = FxHashMap::default();
    for (at, row) in rows.iter().enumerate() {
        by_normal.entry(normal(&row.code.text)).or_insert(at);
    }
    let find = |code: &str| by_code.get(code).or_else(|| by_normal.get(&normal(code))).copied();
    for at in 0..rows.len() {
        rows[at].place = resolve(&rows, at, &find, &mut problems);
    }
    check_duplicates(&rows, &by_code, &mut problems);
    let mut planter = Planter {
        rows: &rows,
        builder: TreeBuilder::new(),
        planted: vec![None; rows.len()],
        waits: vec![false; rows.len()],
    };
    for row in &rows {
        planter.plant(by_code[row.code.text.as_ref()], &mut problems);
    }
    problems.result()?;
    for text in domain {
        if let (None, Some(at)) = (planter.builder.node(text), find(text))
            && let Some(code) = planter.planted[at]
        {
            planter.builder.place(code, text);
        }
    }
    Ok(planter.builder.finish())
}

fn read<'a>(name: &str, text: &'a str, problems: &mut Problems<'_>) -> Result<Vec<Row<'a>>, Vec<Diagnostic>> {
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let separator = [b';', b'\t'].into_iter().find(|&s| header.as_bytes().contains(&s)).unwrap_or(b',');
    let mut lines = Lines::new(text, separator);
    let mut cells = Vec::new();
    lines.next(&mut cells);
    let column = |wanted: &str| cells.iter().position(|c| c.text.trim().eq_ignore_ascii_case(wanted));
    let (Some(code), Some(parent)) = (column("code"), column("parent")) else {
        let span = cells.first().map_or(0..0, |c| c.span.clone());
        let message = "the table has no columns `code` and `parent`";
        return Err(vec![Diagnostic::error(message).at(Place::in_text(name, text, span)).help(HEADER_HELP)]);
    };
    let kind = column("kind");
    let mut rows = Vec::new();
    while let Some(line) = lines.next(&mut cells) {
        for cell in cells.iter().filter(|c| c.fault.is_some()) {
            let help = "write a quote inside quotes twice, and quote the whole cell";
            problems.add(cell.span.clone(), || cell.fault.unwrap_or_default().to_owned(), help);
        }
        match cells.get(code).filter(|c| !c.text.is_empty() && c.text != ROOT_LABEL) {
            Some(found) => rows.push(Row {
                line: line.number,
                code: found.clone(),
                parent: cells.get(parent).cloned(),
                kind: kind.and_then(|k| cells.get(k)).cloned(),
                place: Above::Unknown,
            }),
            None => {
                let span = cells.first().map_or(0..0, |c| c.span.clone());
                problems.add(
                    span,
                    || "a row has no code".to_owned(),
                    "give the row a code, not empty and not *",
                );
            }
        }
    }
    if rows.is_empty() {
        let message = "the table has no rows";
        return Err(vec![Diagnostic::error(message).at(Place::source(name)).help(HEADER_HELP)]);
    }
    Ok(rows)
}

/// Finds the row above a row.
///
/// Exports of ICD-10-CM name a block of one category like that category, and give it itself as its parent. Such a
/// row belongs where the rows of its kind around it belong: to the parent of the nearest one before it.
fn resolve(
    rows: &[Row<'_>],
    at: usize,
    find: &impl Fn(&str) -> Option<usize>,
    problems: &mut Problems<'_>,
) -> Above {
    let row = &rows[at];
    let Some(parent) = row.parent.as_ref().filter(|p| !matches!(p.text.trim(), "" | ROOT_LABEL)) else {
        return Above::Root;
    };
    if parent.text == row.code.text {
        let kind = row.kind.as_ref().map(|k| &k.text);
        let before = rows[..at].iter().rfind(|r| r.kind.as_ref().map(|k| &k.text) == kind);
        if let (Some(_), Some(neighbour)) = (kind, before) {
            return neighbour.place;
        }
        let message = || format!("`{}` is its own parent", row.code.text);
        problems.add(parent.span.clone(), message, "name the code above it");
        return Above::Unknown;
    }
    if let Some(found) = find(&parent.text) {
        return Above::Row(found);
    }
    let message = || format!("the parent `{}` has no row of its own", parent.text);
    problems.add(parent.span.clone(), message, "add a row for it, or leave the parent empty");
    Above::Unknown
}

/// A code may be repeated, but not with another parent.
fn check_duplicates(rows: &[Row<'_>], by_code: &FxHashMap<String, usize>, problems: &mut Problems<'_>) {
    for (at, row) in rows.iter().enumerate() {
        let first = by_code[row.code.text.as_ref()];
        if first != at && rows[first].place != row.place && row.place != Above::Unknown {
            let line = rows[first].line;
            let message = || format!("`{}` has another parent here than on line {line}", row.code.text);
            problems.add(row.code.span.clone(), message, "keep one of the two rows");
        }
    }
}

struct Planter<'a> {
    rows: &'a [Row<'a>],
    builder: TreeBuilder,
    planted: Vec<Option<Handle>>,
    /// Rows that wait for those above them.
    waits: Vec<bool>,
}

impl Planter<'_> {
    /// Plants a row after the rows above it, wherever in the table those are.
    fn plant(&mut self, row: usize, problems: &mut Problems<'_>) {
        let mut waiting = Vec::new();
        let mut at = row;
        let mut parent = loop {
            if let Some(node) = self.planted[at] {
                break node;
            }
            self.waits[at] = true;
            waiting.push(at);
            match self.rows[at].place {
                Above::Row(above) if self.waits[above] => {
                    let code = &self.rows[at].code;
                    let message = || format!("`{}` is above and below itself", code.text);
                    problems.add(code.span.clone(), message, "correct the parents along the loop");
                    break TreeBuilder::ROOT;
                }
                Above::Row(above) => at = above,
                Above::Root | Above::Unknown => break TreeBuilder::ROOT,
            }
        };
        for &at in waiting.iter().rev() {
            parent = self.builder.place(parent, &self.rows[at].code.text);
            self.planted[at] = Some(parent);
            self.waits[at] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(h: &Hierarchy, label: &str) -> Vec<String> {
        let start = h.node(label).unwrap_or_else(|| panic!("{label} is no node"));
        std::iter::successors(Some(start), |&n| h.parent(n)).map(|n| h.label(n).to_owned()).collect()
    }

    fn messages(text: &str) -> Vec<String> {
        let found = build("t.csv", text, &[]).expect_err("wrong");
        found.into_iter().map(|d| format!("{}: {}", d.place, d.message)).collect()
    }

    const TABLE: &str = "\
code,kind,parent,is_leaf,description
I,chapter,,0,\"Certain infectious, and parasitic\"
A00-A09,block,I,0,
A00,category,A00-A09,0,Cholera
A00.0,subcategory,A00,1,
A01,category,A00-A09,1,
";

    #[test]
    fn the_structure_is_the_tables() {
        let domain = ["A00.0", "A000", "a01", "A00", "B99"];
        let h = build("t.csv", TABLE, &domain).unwrap_or_else(|d| panic!("{d:?}"));
        assert_eq!(path(&h, "A000"), ["A000", "A00.0", "A00", "A00-A09", "I", "*"]);
        assert_eq!(path(&h, "a01"), ["a01", "A01", "A00-A09", "I", "*"]);
        assert_eq!(h.bind(domain).expect_err("B99 is not in the table"), [4]);
        assert_eq!(build("t.csv", TABLE, &[]).expect("good").len(), 6);
    }

    #[test]
    fn parents_may_come_later() {
        let text = "code;parent;label;count\nG12.3;G20-G26;x;4\nG20-G26;G00-G99;y;0\nG00-G99;*;z;0\n";
        let h = build("t.csv", text, &[]).unwrap_or_else(|d| panic!("{d:?}"));
        assert_eq!(path(&h, "G12.3"), ["G12.3", "G20-G26", "G00-G99", "*"]);
    }

    #[test]
    fn a_block_named_like_its_only_category() {
        let text =
            "code,kind,parent\n1,chapter,\nB00-B09,block,1\nB10,block,B10\nB10,block,B10\nB10.0,code,B10\n";
        let h = build("t.csv", text, &[]).unwrap_or_else(|d| panic!("{d:?}"));
        assert_eq!(path(&h, "B10.0"), ["B10.0", "B10", "1", "*"]);
    }

    #[test]
    fn all_problems_are_told() {
        let text = "\
code;parent
a;b
b;a
c;nowhere
d;d
e;*
e;f
f;
;f
*;f
g;\"f
";
        let expected = [
            "t.csv:9:1: a row has no code",
            "t.csv:10:1: a row has no code",
            "t.csv:11:3: this quote is never closed",
            "t.csv:4:3: the parent `nowhere` has no row of its own",
            "t.csv:5:3: `d` is its own parent",
            "t.csv:7:1: `e` has another parent here than on line 6",
            "t.csv:3:1: `b` is above and below itself",
        ];
        assert_eq!(messages(text), expected);
    }

    #[test]
    fn tables_without_rows_or_columns() {
        assert_eq!(messages(""), ["t.csv:1:1: the table has no columns `code` and `parent`"]);
        assert_eq!(messages("id;above\na;b\n"), ["t.csv:1:1: the table has no columns `code` and `parent`"]);
        assert_eq!(messages("parent,code\n"), ["t.csv: the table has no rows"]);
    }
}
