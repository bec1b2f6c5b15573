//! Frames of columns in memory, coded as a Parquet file with the same columns would be read, and records as such columns.

use bosket_model::observe::Quiet;
use bosket_model::path::attribute_path;
use bosket_model::{AttributeId, Builder, ClassId, Dataset, Diagnostic, Failure, Fault, Kind, Place, Result};
use parquet::basic::{LogicalType, TimeUnit, Type as Physical};

use super::Columns;
use super::calendar::Unit;
use super::decode::{Raw, Scratch, Value, Wrong};
use super::plan::{Field, Plan, plan};
use super::scalar::{Meaning, Scalar};
use crate::frames::{Cells, Frame, column_kind};
use crate::problems::{Problems, no_record, too_large};
use crate::tables::backend::{Column, ColumnKind};

/// The units of a second that times are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondUnit {
    /// Thousandths.
    Milli,
    /// Millionths.
    Micro,
    /// Billionths.
    Nano,
}

/// The type of single values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Truth values.
    Bool,
    /// Whole numbers of so many bits.
    Whole(u8),
    /// Whole numbers without sign, of so many bits.
    Unsigned(u8),
    /// Numbers of 32 bits.
    Float,
    /// Numbers of 64 bits.
    Double,
    /// Numbers with so many digits, so many of them after the point.
    Decimal(u8, u8),
    /// Days since 1970-01-01.
    Day,
    /// Times of day.
    Time(SecondUnit),
    /// Moments since 1970-01-01; in UTC, or on nobody knows whose clock.
    Moment(SecondUnit, bool),
    /// Text.
    Text,
    /// Bytes that ought to be text.
    Bytes,
}

/// A single value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A truth value.
    Bool(bool),
    /// A whole number, a day, a time or a moment.
    Whole(i64),
    /// A whole number without sign.
    Unsigned(u64),
    /// A number of 32 bits.
    Float(f32),
    /// A number of 64 bits.
    Double(f64),
    /// A number without its point.
    Decimal(i128),
    /// A text, or bytes that ought to be one.
    Text(&'a [u8]),
}

fn unit(of: SecondUnit) -> (Unit, TimeUnit) {
    match of {
        SecondUnit::Milli => (Unit::Milli, TimeUnit::MILLIS),
        SecondUnit::Micro => (Unit::Micro, TimeUnit::MICROS),
        SecondUnit::Nano => (Unit::Nano, TimeUnit::NANOS),
    }
}

/// Bytes of a decimal of so many digits, as few as hold them.
fn decimal_bytes(digits: u8) -> i32 {
    let most = 10_i128.saturating_pow(u32::from(digits)).saturating_sub(1);
    (1..16).find(|&bytes| most < 1_i128 << (8 * bytes - 1)).unwrap_or(16)
}

impl ColumnType {
    /// The type as the usual writers of Parquet declare it.
    fn scalar(self) -> Scalar {
        let (physical, logical, meaning) = match self {
            ColumnType::Bool => (Physical::BOOLEAN, None, Meaning::Bool),
            ColumnType::Whole(64) => (Physical::INT64, None, Meaning::Whole),
            ColumnType::Whole(32) => (Physical::INT32, None, Meaning::Whole),
            ColumnType::Whole(bits) => {
                (Physical::INT32, Some(LogicalType::integer(bits as i8, true)), Meaning::Whole)
            }
            ColumnType::Unsigned(bits) => {
                let physical = if bits == 64 { Physical::INT64 } else { Physical::INT32 };
                (physical, Some(LogicalType::integer(bits as i8, false)), Meaning::Unsigned(bits as i8))
            }
            ColumnType::Float => (Physical::FLOAT, None, Meaning::Float),
            ColumnType::Double => (Physical::DOUBLE, None, Meaning::Float),
            ColumnType::Decimal(digits, scale) => {
                let (digits, scale) = (i32::from(digits), i32::from(scale));
                let logical = Some(LogicalType::decimal(scale, digits));
                let length = decimal_bytes(digits as u8);
                let (physical, meaning) = (Physical::FIXED_LEN_BYTE_ARRAY, Meaning::Decimal { scale });
                return Scalar::fixed(physical, length, logical, meaning);
            }
            ColumnType::Day => (Physical::INT32, Some(LogicalType::Date), Meaning::Day),
            ColumnType::Time(of) => {
                let (unit, declared) = unit(of);
                let physical = if of == SecondUnit::Milli { Physical::INT32 } else { Physical::INT64 };
                (physical, Some(LogicalType::time(false, declared)), Meaning::Time(unit))
            }
            ColumnType::Moment(of, utc) => {
                let (unit, declared) = unit(of);
                let logical = Some(LogicalType::timestamp(utc, declared));
                (Physical::INT64, logical, Meaning::Moment { unit, utc })
            }
            ColumnType::Text => return Scalar::text(),
            ColumnType::Bytes => (Physical::BYTE_ARRAY, None, Meaning::Text),
        };
        Scalar::fixed(physical, -1, logical, meaning)
    }

    /// The type that a column of a file has.
    fn of(scalar: &Scalar) -> Self {
        let back = |unit| match unit {
            Unit::Milli => SecondUnit::Milli,
            Unit::Micro => SecondUnit::Micro,
            Unit::Nano => SecondUnit::Nano,
        };
        match scalar.meaning {
            Meaning::Bool => ColumnType::Bool,
            Meaning::Whole => ColumnType::Whole(scalar.bits()),
            Meaning::Unsigned(bits) => ColumnType::Unsigned(bits.unsigned_abs()),
            Meaning::Float if scalar.physical == Physical::FLOAT => ColumnType::Float,
            Meaning::Float => ColumnType::Double,
            Meaning::Decimal { scale } => ColumnType::Decimal(scalar.digits(), scale as u8),
            Meaning::Day => ColumnType::Day,
            Meaning::Time(unit) => ColumnType::Time(back(unit)),
            Meaning::Moment { unit, utc } => ColumnType::Moment(back(unit), utc),
            Meaning::OldMoment | Meaning::Text | Meaning::Uuid => ColumnType::Text,
        }
    }
}

/// Why a value cannot be taken.
#[derive(Clone, Copy, Debug)]
pub struct Unfit(Wrong);

/// A column while a frame is coded.
#[derive(Debug)]
pub struct FrameColumn {
    attribute: AttributeId,
    scalar: Scalar,
    scratch: Scratch,
}

/// A frame while it is coded.
#[derive(Debug)]
pub struct FrameBuilder {
    name: String,
    /// Whether numbers and truth values are told from text.
    typed: bool,
    builder: Builder,
    leaves: Vec<(String, Scalar)>,
    cells: Vec<Cells>,
    problems: Problems,
}

impl FrameBuilder {
    /// A frame that messages call by a name. Where its values are to be written without types, it is coded without.
    pub fn new(name: &str, typed: bool) -> Self {
        FrameBuilder {
            name: name.to_owned(),
            typed,
            builder: Builder::new(),
            leaves: Vec::new(),
            cells: Vec::new(),
            problems: Problems::new(name),
        }
    }

    /// A class of elements that lie in lists below another.
    pub fn class(&mut self, parent: ClassId, name: &[String]) -> ClassId {
        self.builder.class(parent, name)
    }

    /// A column of single values.
    pub fn column(&mut self, class: ClassId, name: &[String], of: ColumnType) -> FrameColumn {
        let attribute = self.builder.attribute(class, name);
        let scalar = of.scalar();
        let path = self.builder.schema().attribute(attribute).path.clone();
        self.leaves.push((path, scalar.clone()));
        FrameColumn { attribute, scalar, scratch: Scratch::default() }
    }

    /// Says that the next column at the top is one of single values, or of what a table cannot have.
    pub fn at_top(&mut self, name: &str, column: Result<&FrameColumn, &str>) {
        let (declared, form, attribute) = match column {
            Ok(own) => {
                let kind = if self.typed { own.scalar.kind() } else { Kind::Text };
                (own.scalar.words(), column_kind(kind), Some(own.attribute))
            }
            Err(nested) => (String::new(), ColumnKind::Foreign(nested.to_owned()), None),
        };
        self.cells.push(Cells { column: Column { name: name.to_owned(), declared, form }, attribute });
    }

    /// Notes a place at which something stands that no record can hold.
    pub fn refuse(&mut self, class: ClassId, name: &[String], what: &str, help: &str) {
        let path = attribute_path(&self.builder.schema().class(class).path, name);
        self.problems.push(|place| Diagnostic::error(what).at(place.path(path)).help(help));
    }

    /// Whether nothing was refused.
    pub fn is_fine(&self) -> bool {
        self.problems.is_empty()
    }

    /// The code of a value.
    pub fn code(&mut self, column: &mut FrameColumn, cell: Cell<'_>) -> Result<u32, Unfit> {
        let bytes;
        let raw = match cell {
            Cell::Bool(x) => Raw::Bool(x),
            Cell::Whole(x) => Raw::I64(x),
            Cell::Unsigned(x) => Raw::I64(x as i64),
            Cell::Float(x) => Raw::F32(x),
            Cell::Double(x) => Raw::F64(x),
            Cell::Decimal(x) => {
                bytes = x.to_be_bytes();
                Raw::Bytes(&bytes)
            }
            Cell::Text(x) => Raw::Bytes(x),
        };
        let (kind, text) = column.scalar.decode(raw, &mut column.scratch).map_err(Unfit)?;
        let kind = if self.typed { kind } else { Kind::Text };
        Ok(self.builder.code(column.attribute, kind, text))
    }

    /// Notes a value that cannot be taken, with the number of its row, from 1.
    pub fn note(&mut self, column: &FrameColumn, unfit: Unfit, row: usize) {
        let (message, help) = unfit.0.describe();
        let path = &self.builder.schema().attribute(column.attribute).path;
        self.problems.push_like(Some(format!("{path} {message}")), |place| {
            let place = place.record(row as u64).path(path.as_str());
            Diagnostic::error(format!("the column {message}")).at(place).help(help)
        });
    }

    /// Begins a row.
    pub fn begin_row(&mut self) {
        self.builder.begin_record();
    }

    /// Begins an element of a list.
    pub fn open(&mut self, class: ClassId) {
        self.builder.open(class);
    }

    /// Gives the row or element that is open a value, by its code.
    pub fn set(&mut self, column: &FrameColumn, code: u32) {
        self.builder.set_code(column.attribute, code);
    }

    /// Ends an element.
    pub fn close(&mut self) {
        self.builder.close();
    }

    /// Ends a row.
    pub fn end_row(&mut self, row: usize) -> Result<()> {
        self.builder.end_record().map_err(|_| {
            let place = Place::source(&self.name).record(row as u64);
            Failure::new(Fault::Data, too_large(place))
        })
    }

    /// The frame, or everything that is wrong with it.
    pub fn finish(self) -> Result<Frame> {
        self.problems.settle()?;
        if self.builder.is_empty() {
            return Err(Failure::new(Fault::Data, no_record(Place::source(&self.name))));
        }
        let (name, cells) = (self.name, self.cells);
        Ok(Frame { name, data: self.builder.finish(), columns: Columns { leaves: self.leaves }, cells })
    }
}

/// What stands at a place of a record that becomes a row of columns.
#[derive(Clone, Debug, PartialEq)]
pub enum RowField {
    /// A single value.
    Value(AttributeId, ColumnType),
    /// Fields with names.
    Struct(Vec<(String, RowField)>),
    /// A list of the elements of a class.
    List(ClassId, Box<RowField>),
    /// Nothing can stand there.
    Nothing,
}

/// Records as columns of the types that a Parquet file of them would have.
#[derive(Debug)]
pub struct RowColumns {
    plan: Plan,
}

impl RowColumns {
    /// The columns of records; `source` is what is known of their types.
    pub fn new(data: &Dataset, source: &Columns) -> Result<Self> {
        Ok(RowColumns { plan: plan(data, source, &Quiet)? })
    }

    /// The columns at the top.
    pub fn fields(&self) -> Vec<(String, RowField)> {
        match self.field(&self.plan.classes[0]) {
            RowField::Struct(fields) => fields,
            _ => Vec::new(),
        }
    }

    fn field(&self, field: &Field) -> RowField {
        match field {
            Field::Value(attribute) => {
                RowField::Value(*attribute, ColumnType::of(&self.plan.types[attribute.index()]))
            }
            Field::Struct(fields) => {
                RowField::Struct(fields.iter().map(|(name, f)| (name.clone(), self.field(f))).collect())
            }
            Field::List(class) => {
                RowField::List(*class, Box::new(self.field(&self.plan.classes[class.index()])))
            }
            Field::Nothing => RowField::Nothing,
        }
    }

    /// Hands out the value of a text of an attribute; none if it has none of the attribute's type.
    pub fn with_cell<T>(
        &self,
        attribute: AttributeId,
        text: &str,
        take: impl FnOnce(Cell<'_>) -> T,
    ) -> Option<T> {
        let scalar = &self.plan.types[attribute.index()];
        if ColumnType::of(scalar) == ColumnType::Text {
            return Some(take(Cell::Text(text.as_bytes())));
        }
        let cell = match (scalar.encode(text)?, scalar.meaning) {
            (Value::Bool(x), _) => Cell::Bool(x),
            (Value::I32(x), Meaning::Unsigned(_)) => Cell::Unsigned(u64::from(x as u32)),
            (Value::I64(x), Meaning::Unsigned(_)) => Cell::Unsigned(x as u64),
            (Value::I32(x), Meaning::Decimal { .. }) => Cell::Decimal(i128::from(x)),
            (Value::I64(x), Meaning::Decimal { .. }) => Cell::Decimal(i128::from(x)),
            (Value::I32(x), _) => Cell::Whole(i64::from(x)),
            (Value::I64(x), _) => Cell::Whole(x),
            (Value::F32(x), _) => Cell::Float(x),
            (Value::F64(x), _) => Cell::Double(x),
            (Value::Bytes(bytes), Meaning::Decimal { .. }) => {
                Cell::Decimal(super::decode::unscaled(Raw::Bytes(&bytes))?)
            }
            (Value::Bytes(bytes), _) => return Some(take(Cell::Text(&bytes))),
        };
        Some(take(cell))
    }
}
