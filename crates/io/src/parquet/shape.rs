//! The columns of a file as a tree of classes and attributes.
//!
//! A list is a class, a list of single values a class with one attribute, a struct a part of its parent's vertex. A map
//! is the list of its entries.

use bosket_model::path::attribute_path;
use bosket_model::{AttributeId, Builder, ClassId, Diagnostic, Place};
use parquet::basic::{ConvertedType, LogicalType, Repetition};
use parquet::schema::types::Type;

use super::scalar::Scalar;

/// What stands at a place of a record.
#[derive(Debug)]
pub(super) enum Field {
    /// A single value, by the number of its column.
    Value(usize),
    Struct(Vec<Field>),
    List {
        class: ClassId,
        /// The columns below.
        columns: std::ops::Range<usize>,
        /// From this definition level on there is an element.
        definition: i16,
        /// The repetition level of the second element and those after.
        repetition: i16,
        element: Box<Field>,
    },
}

/// A column.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) attribute: AttributeId,
    /// The definition level of a value that is there.
    pub(super) definition: i16,
    pub(super) scalar: Scalar,
}

/// All columns, and what has no place in records.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) leaves: Vec<Leaf>,
    pub(super) problems: Vec<Diagnostic>,
    columns: usize,
}

/// A place in the tree while it is built.
#[derive(Clone)]
struct At {
    class: ClassId,
    name: Vec<String>,
    definition: i16,
    repetition: i16,
}

impl At {
    fn deeper(&self) -> At {
        At { definition: self.definition + 1, ..self.clone() }
    }
}

impl Shape {
    /// Adds all classes and attributes of a file.
    pub(super) fn record(&mut self, root: &Type, builder: &mut Builder, source: &str) -> Field {
        let at = At { class: ClassId::ROOT, name: Vec::new(), definition: 0, repetition: 0 };
        self.members(root, &at, builder, source)
    }

    fn members(&mut self, group: &Type, at: &At, builder: &mut Builder, source: &str) -> Field {
        let mut names: Vec<&str> = Vec::new();
        let mut fields = Vec::new();
        if group.get_fields().is_empty() {
            self.refuse(at, builder, source, "there is no column in it", "leave it out of the file");
        }
        for member in group.get_fields() {
            let mut at = at.clone();
            at.name.push(member.name().to_owned());
            if names.contains(&member.name()) {
                self.refuse(&at, builder, source, "there are two columns of this name", "rename one of them");
            }
            names.push(member.name());
            fields.push(self.field(member, &at, builder, source));
        }
        Field::Struct(fields)
    }

    fn refuse(&mut self, at: &At, builder: &Builder, source: &str, what: &str, help: &str) {
        let path = attribute_path(&builder.schema().class(at.class).path, &at.name);
        let place = Place::source(source).path(path);
        self.problems.push(Diagnostic::error(what).at(place).help(help));
    }

    fn field(&mut self, field: &Type, at: &At, builder: &mut Builder, source: &str) -> Field {
        match field.get_basic_info().has_repetition().then(|| field.get_basic_info().repetition()) {
            // A list as the oldest programs write it.
            Some(Repetition::REPEATED) => self.list(field, None, at, builder, source),
            Some(Repetition::OPTIONAL) => self.content(field, &at.deeper(), builder, source),
            _ => self.content(field, at, builder, source),
        }
    }

    fn content(&mut self, field: &Type, at: &At, builder: &mut Builder, source: &str) -> Field {
        if field.is_primitive() {
            return self.value(field, at, builder, source);
        }
        let basic = field.get_basic_info();
        let (logical, converted) = (basic.logical_type_ref(), basic.converted_type());
        let list = logical == Some(&LogicalType::List) || converted == ConvertedType::LIST;
        let map = logical == Some(&LogicalType::Map)
            || matches!(converted, ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE);
        let repeated = match field.get_fields() {
            [only] if only.get_basic_info().repetition() == Repetition::REPEATED => Some(only),
            _ => None,
        };
        match repeated {
            Some(entries) if map => self.list(entries, None, at, builder, source),
            Some(repeated) if list => {
                let wrapped = wraps(field.name(), repeated);
                self.list(repeated, wrapped, at, builder, source)
            }
            _ if matches!(logical, Some(LogicalType::Variant(_))) => {
                self.unfit(at, builder, source, "VARIANT");
                self.members(field, at, builder, source)
            }
            _ => self.members(field, at, builder, source),
        }
    }

    /// The elements of a repeated field: its own content, or the only field in it.
    fn list(
        &mut self,
        repeated: &Type,
        wrapped: Option<&Type>,
        at: &At,
        builder: &mut Builder,
        source: &str,
    ) -> Field {
        let class = builder.class(at.class, &at.name);
        let (definition, repetition) = (at.definition + 1, at.repetition + 1);
        let inner = At { class, name: Vec::new(), definition, repetition };
        let first = self.columns;
        let element = match wrapped {
            Some(element) => self.field(element, &inner, builder, source),
            None => self.content(repeated, &inner, builder, source),
        };
        Field::List {
            class,
            columns: first..self.columns,
            definition,
            repetition,
            element: Box::new(element),
        }
    }

    fn value(&mut self, field: &Type, at: &At, builder: &mut Builder, source: &str) -> Field {
        match Scalar::of(field) {
            Ok(scalar) => {
                let attribute = builder.attribute(at.class, &at.name);
                self.leaves.push(Leaf { attribute, definition: at.definition, scalar });
            }
            Err(name) => self.unfit(at, builder, source, &name),
        }
        self.columns += 1;
        Field::Value(self.columns - 1)
    }

    fn unfit(&mut self, at: &At, builder: &Builder, source: &str, name: &str) {
        let what = format!("the column has the type {name}, which no attribute can hold");
        self.refuse(at, builder, source, &what, "convert it to text, or leave the column out of the file");
    }
}

/// The element of a list that stands in a group of its own; none if the repeated field is itself the element, as
/// older programs write it.
fn wraps<'t>(list: &str, repeated: &'t Type) -> Option<&'t Type> {
    if repeated.is_primitive() {
        return None;
    }
    match repeated.get_fields() {
        [element]
            if repeated.name() != "array"
                && repeated.name() != format!("{list}_tuple")
                && element.get_basic_info().repetition() != Repetition::REPEATED =>
        {
            Some(element)
        }
        _ => None,
    }
}
