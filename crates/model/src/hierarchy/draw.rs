//! A hierarchy as a tree on the terminal.

use super::tree::{Hierarchy, NodeId};

/// How much of a hierarchy to draw, and with which characters.
#[derive(Clone, Copy, Debug)]
pub struct DrawOptions {
    /// Longer lists of siblings end in `… 37 more`.
    pub max_children: usize,
    /// What is deeper is left out.
    pub max_depth: u32,
    /// Box-drawing characters instead of ASCII.
    pub unicode: bool,
}

impl Default for DrawOptions {
    fn default() -> Self {
        DrawOptions { max_children: 20, max_depth: u32::MAX, unicode: true }
    }
}

/// Draws the tree, one line per node: its label, for inner nodes the number of leaves and, with `counts` (one per
/// leaf position), how often its values occur.
pub fn draw(hierarchy: &Hierarchy, counts: Option<&[u64]>, options: &DrawOptions) -> String {
    let drawing = Drawing::new(hierarchy, counts, options);
    layout(&drawing.rows(), counts.is_some())
}

struct Row {
    tree: String,
    leaves: Option<usize>,
    count: u64,
}

/// The strokes of a tree: to a child, to the last child, past a child, past the last child, and the dots.
struct Strokes {
    child: &'static str,
    last: &'static str,
    past: &'static str,
    past_last: &'static str,
    dots: &'static str,
}

const UNICODE: Strokes =
    Strokes { child: "├─ ", last: "└─ ", past: "│  ", past_last: "   ", dots: "…" };
const ASCII: Strokes = Strokes { child: "|- ", last: "`- ", past: "|  ", past_last: "   ", dots: "..." };

enum Item {
    Node(NodeId),
    /// The rest of a list of siblings.
    More(Vec<NodeId>),
}

struct Drawing<'a> {
    hierarchy: &'a Hierarchy,
    options: &'a DrawOptions,
    strokes: &'static Strokes,
    /// Occurrences at the leaves before each position.
    before: Vec<u64>,
}

impl<'a> Drawing<'a> {
    fn new(hierarchy: &'a Hierarchy, counts: Option<&[u64]>, options: &'a DrawOptions) -> Self {
        let counts = counts.unwrap_or_default();
        let mut before = vec![0u64];
        for position in 0..hierarchy.leaf_count() {
            let count = counts.get(position).copied().unwrap_or(0);
            before.push(before[position].saturating_add(count));
        }
        let strokes = if options.unicode { &UNICODE } else { &ASCII };
        Drawing { hierarchy, options, strokes, before }
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        // Not recursive: a file may describe a very deep tree. Per item: what stands before its label, and before
        // those of its children.
        let mut stack = vec![(Item::Node(NodeId::ROOT), String::new(), String::new())];
        while let Some((item, lead, below)) = stack.pop() {
            match item {
                Item::Node(n) => {
                    let label = printable(self.hierarchy.label(n));
                    let leaves = (!self.hierarchy.is_leaf(n)).then(|| self.hierarchy.leaves(n).len());
                    rows.push(Row { tree: format!("{lead}{label}"), leaves, count: self.count(n) });
                    if self.hierarchy.depth(n) < self.options.max_depth {
                        self.push_children(n, &below, &mut stack);
                    }
                }
                Item::More(rest) => {
                    let tree = format!("{lead}{} {} more", self.strokes.dots, rest.len());
                    let leaves: usize = rest.iter().map(|&n| self.hierarchy.leaves(n).len()).sum();
                    let count = rest.iter().map(|&n| self.count(n)).fold(0, u64::saturating_add);
                    rows.push(Row { tree, leaves: (leaves > rest.len()).then_some(leaves), count });
                }
            }
        }
        rows
    }

    fn push_children(&self, n: NodeId, below: &str, stack: &mut Vec<(Item, String, String)>) {
        // Last first, since a stack turns the order round.
        let mut items: Vec<Item> = Vec::new();
        let mut children: Vec<NodeId> = self.hierarchy.children(n).collect();
        // A line that says `1 more` would take the place of what it leaves out.
        if children.len() > self.options.max_children.saturating_add(1) {
            let rest = children.split_off(self.options.max_children);
            items.push(Item::More(rest));
        }
        items.extend(children.into_iter().rev().map(Item::Node));
        for (from_last, item) in items.into_iter().enumerate() {
            let last = from_last == 0;
            let stroke = if last { self.strokes.last } else { self.strokes.child };
            let past = if last { self.strokes.past_last } else { self.strokes.past };
            stack.push((item, format!("{below}{stroke}"), format!("{below}{past}")));
        }
    }

    fn count(&self, n: NodeId) -> u64 {
        let leaves = self.hierarchy.leaves(n);
        self.before[leaves.end as usize] - self.before[leaves.start as usize]
    }
}

fn layout(rows: &[Row], with_counts: bool) -> String {
    let leaves = |row: &Row| match row.leaves {
        None => String::new(),
        Some(1) => "1 leaf  ".to_owned(),
        Some(n) => format!("{n} leaves"),
    };
    let width = |text: &str| text.chars().count();
    let tree_width = rows.iter().map(|r| width(&r.tree)).max().unwrap_or(0);
    let leaves_width = rows.iter().map(|r| width(&leaves(r))).max().unwrap_or(0);
    let count_width = rows.iter().map(|r| width(&r.count.to_string())).max().unwrap_or(0);
    let mut out = String::new();
    for row in rows {
        let mut line = format!("{:<tree_width$}  {:>leaves_width$}", row.tree, leaves(row));
        if with_counts {
            line.push_str(&format!("  {:>count_width$}", row.count));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A label must not move the cursor or end the line.
fn printable(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    for c in label.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::csv::parse;

    fn diseases() -> Hierarchy {
        parse("h", "Flu;Lung;*\nCough;Lung;*\nBurn;Skin;*\nNone;*\n").expect("good")
    }

    #[test]
    fn with_counts() {
        let drawn = draw(&diseases(), Some(&[1200, 7, 30, 4]), &DrawOptions::default());
        let expected = "\
*            4 leaves  1241
├─ Lung      2 leaves  1207
│  ├─ Flu              1200
│  └─ Cough               7
├─ Skin      1 leaf      30
│  └─ Burn               30
└─ None                   4
";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn in_ascii_without_counts() {
        let options = DrawOptions { unicode: false, ..DrawOptions::default() };
        let expected = "\
*            4 leaves
|- Lung      2 leaves
|  |- Flu
|  `- Cough
|- Skin      1 leaf
|  `- Burn
`- None
";
        assert_eq!(draw(&diseases(), None, &options), expected);
    }

    #[test]
    fn long_lists_are_cut_short() {
        let lines: String = (0..40).map(|i| format!("{i};{};*\n", if i < 39 { "A" } else { "B" })).collect();
        let h = parse("h", &lines).expect("good");
        let options = DrawOptions { max_children: 2, ..DrawOptions::default() };
        let expected = "\
*                40 leaves  40
├─ A             39 leaves  39
│  ├─ 0                      1
│  ├─ 1                      1
│  └─ … 37 more             37
└─ B              1 leaf     1
   └─ 39                     1
";
        assert_eq!(draw(&h, Some(&[1; 40]), &options), expected);
    }

    #[test]
    fn depth_is_limited() {
        let options = DrawOptions { max_depth: 1, ..DrawOptions::default() };
        let drawn = draw(&diseases(), None, &options);
        assert_eq!(drawn.lines().count(), 4);
        assert!(!drawn.contains("Flu"));
    }

    #[test]
    fn labels_do_not_break_the_line() {
        let h = parse("h", "\"a\nb\u{1b}[2J\";*\n").expect("good");
        assert!(draw(&h, None, &DrawOptions::default()).contains("a\\nb\\u{1b}[2J"));
    }
}
