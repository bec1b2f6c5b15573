//! The columns that records are written to.
//!
//! Columns stand in the order of the file that the records come from; what that file does not have follows by name,
//! so that the order of the input's records is never visible.

use bosket_model::observe::Observer;
use bosket_model::path::attribute_path;
use bosket_model::schema::Schema;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};
use parquet::basic::{LogicalType, Repetition};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};

use super::Columns;
use super::scalar::Scalar;
use crate::sorted::sort_by;

/// What stands at a place of a record.
#[derive(Debug)]
pub(super) enum Field {
    Value(AttributeId),
    Struct(Vec<(String, Field)>),
    List(ClassId),
    /// An element in which nothing can stand.
    Nothing,
}

/// A field while fields are put in order.
struct Ranked {
    name: String,
    field: Field,
    members: Vec<Ranked>,
    rank: usize,
}

/// Where everything goes.
#[derive(Debug)]
pub(super) struct Plan {
    /// Per class what its vertices are.
    pub(super) classes: Vec<Field>,
    /// Per attribute the codes of the values that occur, ordered by their texts.
    pub(super) values: Vec<Vec<u32>>,
    /// Per attribute its type.
    pub(super) types: Vec<Scalar>,
}

/// Finds a place for everything, or says for what there is none.
pub(super) fn plan(data: &Dataset, source: &Columns, observer: &dyn Observer) -> Result<Plan> {
    let schema = data.schema();
    let values = occurring(data, observer)?;
    let mut types = Vec::new();
    for (id, attribute) in schema.attributes() {
        let known = source.find(&attribute.path).map(|i| source.leaves[i].1.clone());
        types.push(Scalar::for_codes(known, data.dictionary(id), &values[id.index()]));
    }
    Ok(Plan { classes: record_classes(schema, source)?, values, types })
}

/// What vertices are, where records have attributes.
pub(super) fn record_classes(schema: &Schema, source: &Columns) -> Result<Vec<Field>> {
    let classes = classes(schema, source)?;
    if !matches!(classes[0], Field::Struct(_)) {
        let what = Diagnostic::error("the records have no attribute, which Parquet cannot express");
        return Err(Failure::new(Fault::Data, what.help("use another format")));
    }
    Ok(classes)
}

/// Per class what its vertices are, or for what there is no place.
pub(super) fn classes(schema: &Schema, source: &Columns) -> Result<Vec<Field>> {
    let rank = |id: AttributeId| match source.leaves.is_empty() {
        true => id.index(),
        false => source.find(&schema.attribute(id).path).unwrap_or(usize::MAX),
    };
    let mut ranks: Vec<usize> = vec![usize::MAX; schema.classes().len()];
    let mut classes: Vec<Field> = Vec::new();
    let mut problems = Vec::new();
    // Children come after their parents.
    for (id, class) in schema.classes().collect::<Vec<_>>().into_iter().rev() {
        let mut fields: Vec<Ranked> = Vec::new();
        let mut single: Vec<Field> = Vec::new();
        let mut least = usize::MAX;
        let mut put = |name: &[String], field: Field, rank: usize| {
            least = least.min(rank);
            if name.is_empty() {
                single.push(field);
            } else if !insert(&mut fields, name, field, rank) {
                problems.push(in_the_way(&class.path, name));
            }
        };
        for &attribute in &class.attributes {
            put(&schema.attribute(attribute).name, Field::Value(attribute), rank(attribute));
        }
        for &child in &class.children {
            put(&schema.class(child).name, Field::List(child), ranks[child.index()]);
        }
        ranks[id.index()] = least;
        if single.len() + usize::from(!fields.is_empty()) > 1 {
            problems.push(mixed(&class.path));
        }
        classes.push(match single.pop() {
            Some(field) => field,
            None if fields.is_empty() => Field::Nothing,
            None => Field::Struct(sorted(fields)),
        });
    }
    classes.reverse();
    if problems.is_empty() { Ok(classes) } else { Err(Failure::all(Fault::Data, problems)) }
}

/// Per attribute and code whether the value occurs.
pub(super) fn occurs(data: &Dataset) -> Vec<Vec<bool>> {
    let schema = data.schema();
    let mut occurs: Vec<Vec<bool>> =
        schema.attributes().map(|(id, _)| vec![false; data.dictionary(id).len()]).collect();
    for vertex in 0..data.vertex_count() {
        let attributes = &schema.class(data.class(vertex)).attributes;
        for (attribute, &code) in attributes.iter().zip(data.values(vertex)) {
            if code != MISSING {
                occurs[attribute.index()][code as usize] = true;
            }
        }
    }
    occurs
}

/// Per attribute the codes of the values that occur, ordered by their texts.
fn occurring(data: &Dataset, observer: &dyn Observer) -> Result<Vec<Vec<u32>>> {
    let occurs = occurs(data);
    let sorted = |(id, _): (AttributeId, _)| {
        let dictionary = data.dictionary(id);
        let mut codes: Vec<u32> =
            (0..dictionary.len() as u32).filter(|&c| occurs[id.index()][c as usize]).collect();
        let key = |c: u32| (dictionary.text(c), dictionary.kind(c));
        sort_by(&mut codes, observer, |&a, &b| key(a).cmp(&key(b)))?;
        Ok(codes)
    };
    data.schema().attributes().map(sorted).collect()
}

/// Puts a field into the tree of keys; false if there is one already on the way.
fn insert(fields: &mut Vec<Ranked>, name: &[String], field: Field, rank: usize) -> bool {
    let Some((first, rest)) = name.split_first() else { return false };
    let known = fields.iter_mut().find(|f| f.name == *first);
    match known {
        Some(Ranked { field: Field::Struct(_), members, rank: least, .. }) if !rest.is_empty() => {
            *least = rank.min(*least);
            insert(members, rest, field, rank)
        }
        Some(_) => false,
        None if rest.is_empty() => {
            fields.push(Ranked { name: first.clone(), field, members: Vec::new(), rank });
            true
        }
        None => {
            let mut members = Vec::new();
            insert(&mut members, rest, field, rank);
            fields.push(Ranked { name: first.clone(), field: Field::Struct(Vec::new()), members, rank });
            true
        }
    }
}

fn sorted(mut fields: Vec<Ranked>) -> Vec<(String, Field)> {
    fields.sort_by(|a, b| a.rank.cmp(&b.rank).then_with(|| a.name.cmp(&b.name)));
    let field = |f: Ranked| match f.field {
        Field::Struct(_) => (f.name, Field::Struct(sorted(f.members))),
        other => (f.name, other),
    };
    fields.into_iter().map(field).collect()
}

fn in_the_way(class: &str, name: &[String]) -> Diagnostic {
    let what = "one struct cannot hold both this path and another that starts or ends in it";
    Diagnostic::error(what)
        .at(Place::default().path(attribute_path(class, name)))
        .help("rename one of the two")
}

fn mixed(class: &str) -> Diagnostic {
    let what = "elements are both values and objects, which Parquet cannot express";
    Diagnostic::error(what).at(Place::default().path(class)).help("use a format with rows or elements")
}

impl Plan {
    /// The file's schema.
    pub(super) fn schema(&self) -> Result<TypePtr, ParquetError> {
        self.schema_after(Vec::new())
    }

    /// The same with other columns before its own.
    pub(super) fn schema_after(&self, mut columns: Vec<TypePtr>) -> Result<TypePtr, ParquetError> {
        let Field::Struct(fields) = &self.classes[0] else {
            return Err(ParquetError::General("records are structs".to_owned()));
        };
        columns.extend(self.members(fields)?);
        Ok(Type::group_type_builder("schema").with_fields(columns).build()?.into())
    }

    /// The types of all columns, in their order.
    pub(super) fn columns(&self) -> Vec<Scalar> {
        let mut found = Vec::new();
        self.collect(&self.classes[0], &mut found);
        found
    }

    fn collect(&self, field: &Field, found: &mut Vec<Scalar>) {
        match field {
            Field::Value(attribute) => found.push(self.types[attribute.index()].clone()),
            Field::Struct(fields) => fields.iter().for_each(|(_, f)| self.collect(f, found)),
            Field::List(class) => self.collect(&self.classes[class.index()], found),
            Field::Nothing => found.push(Scalar::text()),
        }
    }

    fn members(&self, fields: &[(String, Field)]) -> Result<Vec<TypePtr>, ParquetError> {
        fields.iter().map(|(name, field)| self.typed(name, field)).collect()
    }

    fn typed(&self, name: &str, field: &Field) -> Result<TypePtr, ParquetError> {
        let group = |name, repetition| Type::group_type_builder(name).with_repetition(repetition);
        match field {
            Field::Value(attribute) => self.types[attribute.index()].column(name),
            Field::Nothing => Scalar::text().column(name),
            Field::Struct(fields) => {
                let group = group(name, Repetition::OPTIONAL).with_fields(self.members(fields)?);
                group.build().map(Into::into)
            }
            Field::List(class) => {
                let element = self.typed("element", &self.classes[class.index()])?;
                let list = group("list", Repetition::REPEATED).with_fields(vec![element]).build()?;
                let outer = group(name, Repetition::OPTIONAL).with_logical_type(Some(LogicalType::List));
                outer.with_fields(vec![list.into()]).build().map(Into::into)
            }
        }
    }
}
