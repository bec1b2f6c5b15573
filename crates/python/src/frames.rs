//! Frames that Python hands over, coded row by row as a Parquet file with the same columns would be read: a list is a
//! class, a list of single values a class with one attribute, a struct a part of its parent, a map the list of its
//! entries. Only what is in the rows is coded: what lies behind gaps or outside a slice is nobody's.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, FieldRef};
use bosket_io::Frame;
use bosket_io::parquet::frame::{Cell, FrameBuilder, FrameColumn};
use bosket_model::observe::Observer;
use bosket_model::words::count;
use bosket_model::{ClassId, Diagnostic, Failure, Fault, Place, Result};

use crate::leaves::{Leaf, column_type};

/// Rows between two questions whether to go on.
const STEP: usize = 2048;

/// Bytes that a row takes at least once it is coded.
const ROW: usize = 20;

/// Numbers whose codes are remembered per column, so that frequent ones need not be spelt again and again.
const REMEMBERED: usize = 1 << 10;

/// A frame that was handed over.
pub(crate) struct Handed {
    pub(crate) name: String,
    pub(crate) reader: Box<dyn RecordBatchReader + Send>,
}

/// What stands at a place of a row, by the schema.
enum Node {
    /// A single value, by the number of its column.
    Value(usize),
    Struct(Vec<Node>),
    List(ClassId, Box<Node>),
    /// Nothing that can be read; it was refused.
    Refused,
}

/// The same with the arrays of a batch.
enum Part {
    Value(Leaf),
    Struct(Option<NullBuffer>, Vec<Part>),
    List(Ranges, Box<Part>),
    Nothing,
}

/// Where the elements of each list are.
struct Ranges {
    nulls: Option<NullBuffer>,
    kind: RangeKind,
}

enum RangeKind {
    Small(Vec<i32>),
    Large(Vec<i64>),
    Fixed(usize),
    Views(Vec<(usize, usize)>),
}

impl Ranges {
    fn of(&self, at: usize) -> std::ops::Range<usize> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(at)) {
            return 0..0;
        }
        match &self.kind {
            RangeKind::Small(offsets) => offsets[at] as usize..offsets[at + 1] as usize,
            RangeKind::Large(offsets) => offsets[at] as usize..offsets[at + 1] as usize,
            RangeKind::Fixed(size) => at * size..(at + 1) * size,
            RangeKind::Views(views) => views[at].0..views[at].0 + views[at].1,
        }
    }
}

struct Coder {
    builder: FrameBuilder,
    columns: Vec<(FrameColumn, Vec<(u64, u32)>)>,
}

/// Codes a frame; `typed` says whether numbers and truth values are told from text, `memory` how many bytes it may take.
pub(crate) fn coded(handed: Handed, typed: bool, memory: usize, observer: &dyn Observer) -> Result<Frame> {
    let Handed { name, reader } = handed;
    let mut coder = Coder { builder: FrameBuilder::new(&name, typed), columns: Vec::new() };
    let schema = reader.schema();
    let root = coder.record(schema.fields());
    if !coder.builder.is_fine() {
        // Whatever the rows hold, this frame cannot be read.
        return coder.builder.finish();
    }
    observer.stage(&format!("reading {name}"), 0);
    let mut row = 0;
    for batch in reader {
        let batch = batch.map_err(|e| unreadable(&name, &e))?;
        if row + batch.num_rows() > memory / ROW {
            return Err(too_many(&name, row + batch.num_rows()));
        }
        let parts = root.iter().zip(batch.columns());
        let parts = parts.map(|(node, array)| part(node, array)).collect::<std::result::Result<Vec<_>, _>>();
        let mut parts = parts.map_err(|e| unreadable(&name, &e))?;
        for at in 0..batch.num_rows() {
            if row.is_multiple_of(STEP) {
                observer.go_on()?;
                observer.advance(STEP as u64);
            }
            row += 1;
            coder.builder.begin_row();
            for (node, part) in root.iter().zip(&mut parts) {
                coder.walk(node, part, at, row);
            }
            coder.builder.end_row(row)?;
        }
    }
    coder.builder.finish()
}

fn unreadable(name: &str, error: &ArrowError) -> Failure {
    let what = Diagnostic::error("the frame cannot be read as Arrow").at(Place::source(name));
    // What Arrow says may quote values; the kind of error does not.
    let kind = format!("{error:?}");
    let kind = kind.split(['(', '{', ' ']).next().unwrap_or_default().to_owned();
    Failure::new(
        Fault::Data,
        what.help(format!("Arrow gave up with {kind}; convert the frame, or write it to a file")),
    )
}

fn too_many(name: &str, rows: usize) -> Failure {
    let what = format!("the frame has {} rows, more than fit into the memory that may be used", count(rows));
    let help = "give more with `memory`, or hand over fewer rows";
    Failure::new(Fault::Data, Diagnostic::error(what).at(Place::source(name)).help(help))
}

impl Coder {
    fn record(&mut self, fields: &[FieldRef]) -> Vec<Node> {
        if fields.is_empty() {
            self.builder.refuse(ClassId::ROOT, &[], "the frame has no column", "hand over one with columns");
        }
        let mut nodes = Vec::new();
        for (i, field) in fields.iter().enumerate() {
            let name = [field.name().clone()];
            self.refuse_second(&fields[..i], field, ClassId::ROOT, &name);
            let node = self.node(field.data_type(), ClassId::ROOT, &name);
            let column = match &node {
                Node::Value(column) => Ok(&self.columns[*column].0),
                _ => Err("LIST or STRUCT"),
            };
            self.builder.at_top(field.name(), column);
            nodes.push(node);
        }
        nodes
    }

    fn refuse_second(&mut self, before: &[FieldRef], field: &FieldRef, class: ClassId, name: &[String]) {
        if before.iter().any(|other| other.name() == field.name()) {
            let what = "there are two columns of this name";
            self.builder.refuse(class, name, what, "rename one of them");
        }
    }

    fn node(&mut self, of: &DataType, class: ClassId, name: &[String]) -> Node {
        if let Some(of) = column_type(of) {
            let column = self.builder.column(class, name, of);
            self.columns.push((column, Vec::new()));
            return Node::Value(self.columns.len() - 1);
        }
        match of {
            DataType::Struct(fields) => self.members(fields, class, name),
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element)
            | DataType::FixedSizeList(element, _)
            | DataType::Map(element, _) => {
                let own = self.builder.class(class, name);
                Node::List(own, Box::new(self.node(element.data_type(), own, &[])))
            }
            DataType::Dictionary(_, values) => self.unfit(values, class, name),
            other => self.unfit(other, class, name),
        }
    }

    fn members(&mut self, fields: &[FieldRef], class: ClassId, name: &[String]) -> Node {
        if fields.is_empty() {
            let help = "leave it out of the frame";
            self.builder.refuse(class, name, "there is no column in it", help);
        }
        let mut members = Vec::new();
        for (i, field) in fields.iter().enumerate() {
            let mut name = name.to_vec();
            name.push(field.name().clone());
            self.refuse_second(&fields[..i], field, class, &name);
            members.push(self.node(field.data_type(), class, &name));
        }
        Node::Struct(members)
    }

    fn unfit(&mut self, of: &DataType, class: ClassId, name: &[String]) -> Node {
        let what = format!("the column has the type {of}, which no attribute can hold");
        let help = "convert it to text or to numbers, or leave the column out of the frame";
        self.builder.refuse(class, name, &what, help);
        Node::Refused
    }

    fn walk(&mut self, node: &Node, part: &mut Part, at: usize, row: usize) {
        match (node, part) {
            (Node::Value(column), Part::Value(leaf)) => self.value(*column, leaf, at, row),
            (Node::Struct(nodes), Part::Struct(nulls, parts))
                if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(at)) =>
            {
                for (node, part) in nodes.iter().zip(parts) {
                    self.walk(node, part, at, row);
                }
            }
            (Node::List(class, element), Part::List(ranges, part)) => {
                for at in ranges.of(at) {
                    self.builder.open(*class);
                    self.walk(element, part, at, row);
                    self.builder.close();
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, column: usize, leaf: &mut Leaf, at: usize, row: usize) {
        if let Leaf::Dictionary { array, keys, values, codes } = leaf {
            if array.is_null(at) || keys.is_empty() {
                return;
            }
            let key = keys[at];
            if codes[key].is_none() {
                codes[key] = values.cell(key).and_then(|cell| self.code(column, cell, row));
            }
            if let Some(code) = codes[key] {
                self.builder.set(&self.columns[column].0, code);
            }
        } else if let Some(code) = leaf.cell(at).and_then(|cell| self.code(column, cell, row)) {
            self.builder.set(&self.columns[column].0, code);
        }
    }

    fn code(&mut self, column: usize, cell: Cell<'_>, row: usize) -> Option<u32> {
        let bits = match cell {
            Cell::Whole(x) => Some(x as u64),
            Cell::Unsigned(x) => Some(x),
            Cell::Float(x) => Some(u64::from(x.to_bits())),
            Cell::Double(x) => Some(x.to_bits()),
            _ => None,
        };
        let (own, remembered) = &mut self.columns[column];
        let place = bits.map(|b| (b.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize % REMEMBERED);
        if let (Some(bits), Some(&(known, code))) = (bits, place.and_then(|p| remembered.get(p)))
            && known == bits
            && code != bosket_model::MISSING
        {
            return Some(code);
        }
        match self.builder.code(own, cell) {
            Ok(code) => {
                if let (Some(bits), Some(place)) = (bits, place) {
                    remembered.resize(REMEMBERED, (0, bosket_model::MISSING));
                    remembered[place] = (bits, code);
                }
                Some(code)
            }
            Err(unfit) => {
                self.builder.note(own, unfit, row);
                None
            }
        }
    }
}

fn part(node: &Node, array: &ArrayRef) -> std::result::Result<Part, ArrowError> {
    let list = |kind, element: &Node, values: &ArrayRef| {
        let ranges = Ranges { nulls: array.nulls().cloned(), kind };
        Ok(Part::List(ranges, Box::new(part(element, values)?)))
    };
    match (node, array.data_type()) {
        (Node::Value(_), _) => Leaf::new(array).map(Part::Value),
        (Node::Struct(nodes), DataType::Struct(_)) => {
            let array = array.as_struct();
            let parts = nodes.iter().zip(array.columns()).map(|(node, array)| part(node, array));
            Ok(Part::Struct(array.nulls().cloned(), parts.collect::<std::result::Result<_, _>>()?))
        }
        (Node::List(_, element), DataType::List(_)) => {
            let array = array.as_list::<i32>();
            list(RangeKind::Small(array.offsets().to_vec()), element, array.values())
        }
        (Node::List(_, element), DataType::LargeList(_)) => {
            let array = array.as_list::<i64>();
            list(RangeKind::Large(array.offsets().to_vec()), element, array.values())
        }
        (Node::List(_, element), DataType::FixedSizeList(_, size)) => {
            let array = array.as_fixed_size_list();
            list(RangeKind::Fixed(*size as usize), element, array.values())
        }
        (Node::List(_, element), DataType::ListView(_)) => {
            let array = array.as_list_view::<i32>();
            let views = array.offsets().iter().zip(array.sizes().iter());
            let views = views.map(|(&offset, &size)| (offset as usize, size as usize)).collect();
            list(RangeKind::Views(views), element, array.values())
        }
        (Node::List(_, element), DataType::LargeListView(_)) => {
            let array = array.as_list_view::<i64>();
            let views = array.offsets().iter().zip(array.sizes().iter());
            let views = views.map(|(&offset, &size)| (offset as usize, size as usize)).collect();
            list(RangeKind::Views(views), element, array.values())
        }
        (Node::List(_, element), DataType::Map(..)) => {
            let array = array.as_map();
            let entries: ArrayRef = std::sync::Arc::new(array.entries().clone());
            list(RangeKind::Small(array.offsets().to_vec()), element, &entries)
        }
        _ => Ok(Part::Nothing),
    }
}
