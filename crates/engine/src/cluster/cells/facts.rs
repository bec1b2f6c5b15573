//! What a cell must know of all the others: what a lost value costs does not depend on who stands in which cell.
//!
//! Mergeable: each batch of records is counted alone, counts add up.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Result, Schema};

use crate::cluster::params::{Cells, Params};

/// So many records are one cell, if nobody asks for more.
const ONE_CELL: u64 = 200_000;

/// Records of a cell, at most about.
const CELL_RECORDS: u64 = 100_000;

/// Vertices of a cell, at most about: how long clusters are searched for grows with the square of what stands in a cell.
const CELL_VERTICES: u64 = 500_000;

/// How many vertices and values there are, by path: batches may have come to know their classes in different orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    records: u64,
    /// Per class its vertices.
    vertices: BTreeMap<String, u64>,
    /// Per quasi or sensitive attribute the vertices that have a value.
    values: BTreeMap<String, u64>,
}

impl Facts {
    /// The facts of some records.
    pub fn count(data: &Dataset, binding: &Binding, observer: &dyn Observer) -> Result<Self> {
        let schema = data.schema();
        let counts = |a: &AttributeId| matches!(binding.role(*a), Some(Role::Quasi | Role::Sensitive));
        let of_class: Vec<Vec<AttributeId>> = (schema.classes())
            .map(|(_, class)| class.attributes.iter().copied().filter(counts).collect())
            .collect();
        let mut vertices = vec![0u64; of_class.len()];
        let mut values = vec![0u64; schema.attributes().len()];
        for record in 0..data.len() {
            observer.go_on()?;
            for vertex in data.vertices(record) {
                let class = data.class(vertex).index();
                vertices[class] += 1;
                for &a in &of_class[class] {
                    values[a.index()] += u64::from(data.value(vertex, a) != MISSING);
                }
            }
        }
        let classes = schema.classes().map(|(id, class)| (class.path.clone(), vertices[id.index()]));
        let attributes = of_class.iter().flatten();
        let attributes = attributes.map(|&a| (schema.attribute(a).path.clone(), values[a.index()]));
        Ok(Facts {
            records: data.len() as u64,
            vertices: classes.filter(|(_, n)| *n > 0).collect(),
            values: attributes.filter(|(_, n)| *n > 0).collect(),
        })
    }

    /// The facts of both.
    #[must_use]
    pub fn merge(mut self, other: Facts) -> Facts {
        self.records += other.records;
        for (path, n) in other.vertices {
            *self.vertices.entry(path).or_default() += n;
        }
        for (path, n) in other.values {
            *self.values.entry(path).or_default() += n;
        }
        self
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many vertices all records have together.
    pub fn vertices(&self) -> u64 {
        self.vertices.values().sum()
    }

    /// In how many cells these records are clustered.
    pub fn cells(&self, params: &Params) -> usize {
        match params.cells {
            Cells::Exactly(cells) => cells,
            Cells::Auto if self.records <= ONE_CELL => 1,
            Cells::Auto => usual(self.records, self.vertices()).try_into().unwrap_or(usize::MAX),
        }
    }

    fn vertices_of(&self, schema: &Schema, class: ClassId) -> u64 {
        self.vertices.get(&schema.class(class).path).copied().unwrap_or(0)
    }

    fn values_of(&self, schema: &Schema, attribute: AttributeId) -> u64 {
        self.values.get(&schema.attribute(attribute).path).copied().unwrap_or(0)
    }

    /// Whether anybody lacks a value of an attribute.
    pub(in crate::cluster) fn misses(&self, schema: &Schema, attribute: AttributeId) -> bool {
        self.values_of(schema, attribute) < self.vertices_of(schema, schema.attribute(attribute).class)
    }

    /// What the sensitive values of a vertex count, on average over its class: vertices that differ in these alone are one form.
    pub(in crate::cluster) fn secrets(
        &self,
        schema: &Schema,
        class: ClassId,
        attributes: &[AttributeId],
        each: f64,
    ) -> i64 {
        let there: u64 = attributes.iter().map(|&a| self.values_of(schema, a)).sum();
        (each * there as f64 / self.vertices_of(schema, class).max(1) as f64).round() as i64
    }

    /// The JSON form. Paths and counts, no values.
    pub fn to_json(&self) -> Value {
        json!({"records": self.records, "vertices": self.vertices, "values": self.values})
    }

    /// Reads the JSON form.
    pub fn from_json(value: &Value) -> Result<Self> {
        let counts = |key: &str| -> Option<BTreeMap<String, u64>> {
            let entries = value.get(key)?.as_object()?.iter();
            entries.map(|(path, n)| Some((path.clone(), n.as_u64()?))).collect()
        };
        let read = || {
            let records = value.get("records")?.as_u64()?;
            Some(Facts { records, vertices: counts("vertices")?, values: counts("values")? })
        };
        read().ok_or_else(|| unreadable("facts about all records"))
    }
}

/// How many cells of the usual size so many records with so many vertices are.
pub(super) fn usual(records: u64, vertices: u64) -> u64 {
    records.div_ceil(CELL_RECORDS).max(vertices.div_ceil(CELL_VERTICES))
}

/// What came from elsewhere is not what it should be.
pub(super) fn unreadable(what: &str) -> Failure {
    let diagnostic = Diagnostic::error(format!("these are no {what}"));
    Failure::new(Fault::Data, diagnostic.help("hand on what `to_json` has written, as it is"))
}
