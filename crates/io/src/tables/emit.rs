//! Numbers the rows of a publication and hands them out.

use bosket_model::{Kind, Result};

use super::backend::Row;
use super::disassemble::{END, Rows};
use super::published::{Origin, Table};
use super::shape::Shape;

/// What takes the rows: the table's place in the shape, and the cells of its published columns.
pub(crate) type Sink<'s> = dyn FnMut(usize, &Row) -> Result<()> + 's;

#[derive(Clone, Copy, Debug)]
enum Cell {
    Missing,
    Number(u64),
    /// Table, attribute, rank.
    Value(usize, usize, u32),
}

/// A row that is written, while those below it are.
#[derive(Debug, Default)]
struct Written {
    node: usize,
    number: u64,
    cells: Vec<Cell>,
}

/// Rows on their way into tables.
pub(crate) trait Outflow {
    /// The tables that they go into.
    fn tables(&self) -> &[Table];

    /// Hands out all rows, each after the one it belongs to; the same every time.
    fn each(&self, sink: &mut Sink<'_>) -> Result<()>;

    /// Hands out the rows of one table, in the same order.
    fn each_of(&self, table: usize, sink: &mut Sink<'_>) -> Result<()> {
        self.each(&mut |node, row| if node == table { sink(node, row) } else { Ok(()) })
    }
}

/// Records as numbers, and the values that the ranks stand for.
pub(super) trait Content {
    fn words(&self) -> &[u32];

    fn value(&self, table: usize, attribute: usize, rank: u32) -> (&str, Kind);
}

impl Content for Rows<'_> {
    fn words(&self) -> &[u32] {
        &self.words
    }

    fn value(&self, table: usize, attribute: usize, rank: u32) -> (&str, Kind) {
        self.values[table][attribute][rank as usize - 1]
    }
}

impl Outflow for Rows<'_> {
    fn tables(&self) -> &[Table] {
        &self.tables
    }

    fn each(&self, sink: &mut Sink<'_>) -> Result<()> {
        let mut emitter = Emitter::new(&self.shape, &self.tables);
        self.records.iter().try_for_each(|&(start, _)| emitter.record(self, start, sink))
    }
}

/// Numbers rows, record by record.
pub(super) struct Emitter<'a> {
    shape: &'a Shape,
    tables: &'a [Table],
    /// Per table the number of the last row.
    pub(super) numbers: Vec<u64>,
    row: Row,
    digits: String,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(shape: &'a Shape, tables: &'a [Table]) -> Self {
        let numbers = vec![0; tables.len()];
        Emitter { shape, tables, numbers, row: Row::default(), digits: String::new() }
    }

    /// Hands out the rows of the record whose words begin at a place.
    pub(super) fn record(
        &mut self,
        content: &impl Content,
        mut at: usize,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        self.vertex(content, &mut at, None, sink)
    }

    fn vertex(
        &mut self,
        content: &impl Content,
        at: &mut usize,
        above: Option<&Written>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let words = content.words();
        let node = words[*at] as usize - 1;
        let width = self.tables[node].values.len();
        let ranks = &words[*at + 1..*at + 1 + width];
        *at += 1 + width;
        self.numbers[node] += 1;
        let mut written = Written { node, number: self.numbers[node], cells: Vec::new() };
        self.cells(&mut written, ranks, above);
        if self.shape.nodes[node].table.is_some() {
            self.write(content, &written, sink)?;
        } else if words[*at] != 2 {
            // Nothing is left of the person's own rows: one that only names the person.
            let mut name = Written { node: 1, number: 0, cells: Vec::new() };
            self.cells(&mut name, &[], Some(&written));
            self.write(content, &name, sink)?;
        }
        while words[*at] != END {
            self.vertex(content, at, Some(&written), sink)?;
        }
        *at += 1;
        Ok(())
    }

    fn cells(&self, row: &mut Written, ranks: &[u32], above: Option<&Written>) {
        let home = above.map(|a| a.node) == self.shape.nodes[row.node].parent;
        for column in &self.tables[row.node].columns {
            row.cells.push(match column.origin {
                Origin::Value(slot) => match ranks.get(slot) {
                    None | Some(0) => Cell::Missing,
                    Some(&rank) => Cell::Value(row.node, slot, rank),
                },
                Origin::Number if row.number > 0 => Cell::Number(row.number),
                Origin::Parent(at) if home => above.map_or(Cell::Missing, |a| a.cells[at]),
                Origin::Moved(ancestor) => match above {
                    Some(above) if !home && above.node == ancestor => Cell::Number(above.number),
                    _ => Cell::Missing,
                },
                // Records are written one after the other.
                Origin::Person => Cell::Number(self.numbers[0]),
                Origin::Number | Origin::Parent(_) | Origin::Empty => Cell::Missing,
            });
        }
    }

    fn write(&mut self, content: &impl Content, written: &Written, sink: &mut Sink<'_>) -> Result<()> {
        self.row.clear();
        for cell in &written.cells {
            match *cell {
                Cell::Missing => self.row.push_missing(),
                Cell::Number(number) => {
                    self.digits.clear();
                    // Writing to a String cannot fail.
                    let _ = std::fmt::Write::write_fmt(&mut self.digits, format_args!("{number}"));
                    self.row.push(Kind::Number, &self.digits);
                }
                Cell::Value(node, slot, rank) => {
                    let (text, kind) = content.value(node, slot, rank);
                    self.row.push(kind, text);
                }
            }
        }
        sink(written.node, &self.row)
    }
}
