//! Datasets put together under one numbering.

use crate::dataset::{Builder, Dataset};
use crate::diag::{Failure, Result};
use crate::dictionary::MISSING;
use crate::observe::Observer;
use crate::schema::{AttributeId, ClassId, Schema};

/// Takes records of datasets that may number the same things differently.
#[derive(Debug, Default)]
pub struct Joined {
    builder: Option<Builder>,
    /// Codes of values that parts brought, by attribute of the part; emptied for each part.
    codes: Vec<Vec<u32>>,
}

impl Joined {
    /// Nothing yet.
    pub fn new() -> Self {
        Joined::default()
    }

    /// Nothing yet, under the numbers of a frame: its classes, attributes and values.
    pub fn over(frame: &Dataset) -> Self {
        let mut builder = Builder::like(frame);
        for (id, _) in frame.schema().attributes() {
            builder.adopt(id, frame.dictionary(id).clone());
        }
        Joined { builder: Some(builder), codes: Vec::new() }
    }

    /// What there is already, of which nothing is copied.
    pub fn after(data: Dataset) -> Self {
        Joined { builder: Some(Builder::after(data)), codes: Vec::new() }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.builder.as_ref().map_or(0, Builder::len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the classes and attributes of a dataset, and the values of those attributes that are wanted.
    pub fn add_values(&mut self, data: &Dataset, wanted: impl Fn(AttributeId) -> bool) -> Vec<AttributeId> {
        let builder = self.builder.get_or_insert_with(|| Builder::in_notation(data.schema().notation()));
        let (_, attributes) = map_schema(builder, data.schema());
        for (id, _) in data.schema().attributes().filter(|(id, _)| wanted(*id)) {
            for (kind, text) in data.dictionary(id).iter() {
                builder.code(attributes[id.index()], kind, text);
            }
        }
        attributes
    }

    /// Adds some records of a dataset, with the values of some attributes.
    pub fn add(
        &mut self,
        data: &Dataset,
        keep: impl Fn(usize) -> bool,
        wanted: impl Fn(AttributeId) -> bool,
        observer: &dyn Observer,
    ) -> Result<()> {
        let builder = self.builder.get_or_insert_with(|| Builder::in_notation(data.schema().notation()));
        let (classes, attributes) = map_schema(builder, data.schema());
        self.codes.clear();
        self.codes.extend(data.schema().attributes().map(|(id, _)| vec![MISSING; data.dictionary(id).len()]));
        let wanted: Vec<bool> = data.schema().attributes().map(|(id, _)| wanted(id)).collect();
        let mut open: Vec<usize> = Vec::new();
        for record in (0..data.len()).filter(|&record| keep(record)) {
            observer.go_on()?;
            open.clear();
            for vertex in data.vertices(record) {
                match data.parent(vertex) {
                    None => builder.begin_record(),
                    Some(parent) => {
                        while open.last().is_some_and(|&above| above != parent) {
                            open.pop();
                            builder.close();
                        }
                        builder.open(classes[data.class(vertex).index()]);
                    }
                }
                open.push(vertex);
                let own = &data.schema().class(data.class(vertex)).attributes;
                for (&id, &code) in own.iter().zip(data.values(vertex)) {
                    if code == MISSING || !wanted[id.index()] {
                        continue;
                    }
                    let new = &mut self.codes[id.index()][code as usize];
                    if *new == MISSING {
                        let values = data.dictionary(id);
                        *new = builder.code(attributes[id.index()], values.kind(code), values.text(code));
                    }
                    builder.set_code(attributes[id.index()], *new);
                }
            }
            builder
                .end_record()
                .map_err(|_| Failure::defect("parts together are more than can be numbered"))?;
        }
        Ok(())
    }

    /// All of it.
    pub fn finish(self) -> Dataset {
        self.builder.unwrap_or_default().finish()
    }
}

/// Adds the classes and attributes of another schema; what number each of them has here.
fn map_schema(builder: &mut Builder, schema: &Schema) -> (Vec<ClassId>, Vec<AttributeId>) {
    let mut classes = vec![ClassId::ROOT];
    for (_, class) in schema.classes().skip(1) {
        let parent = class.parent.map_or(ClassId::ROOT, |parent| classes[parent.index()]);
        classes.push(builder.class_like(parent, class));
    }
    let attributes = schema.attributes().map(|(_, attribute)| {
        let before = builder.schema().attributes().len();
        let id = builder.attribute(classes[attribute.class.index()], &attribute.name);
        if id.index() == before {
            builder.rename(id, &attribute.path);
        }
        id
    });
    let attributes = attributes.collect();
    (classes, attributes)
}
