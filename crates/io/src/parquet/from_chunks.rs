//! Records of chunks on their way into one file: the types of its columns follow from the values of all chunks, which are
//! looked at before the first row is written.

use std::collections::BTreeMap;
use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::schema::Schema;
use bosket_model::{Dataset, Result};

use super::Columns;
use super::fitting::Fitting;
use super::parts::PartRows;
use super::people::spelt_texts;
use super::plan::{Plan, occurs, record_classes};
use super::scalar::Scalar;

/// The types of columns while they are searched for.
#[derive(Debug)]
pub(crate) struct ColumnTypes {
    source: Columns,
    /// By path: chunks may number the same attributes differently.
    found: BTreeMap<String, Fitting>,
}

impl ColumnTypes {
    /// Nothing is known but the columns of the source.
    pub(crate) fn begin(source: &Columns) -> Result<Self> {
        Ok(ColumnTypes { source: source.clone(), found: BTreeMap::new() })
    }

    /// Looks at a chunk; all come in every pass.
    pub(crate) fn add(&mut self, data: &Dataset, observer: &dyn Observer) -> Result<()> {
        observer.go_on()?;
        let ColumnTypes { source, found } = self;
        let occurs = occurs(data);
        for (id, attribute) in data.schema().attributes() {
            if !found.contains_key(&attribute.path) {
                let fitting = Fitting::new(source.scalar(&attribute.path).cloned());
                found.insert(attribute.path.clone(), fitting);
            }
            let Some(fitting) = found.get_mut(&attribute.path).filter(|f| f.is_open()) else { continue };
            let values = data.dictionary(id).iter().zip(&occurs[id.index()]);
            values.filter(|(_, occurs)| **occurs).for_each(|((kind, text), _)| fitting.add(kind, text));
        }
        Ok(())
    }

    /// All chunks have come; whether they have to come once more.
    pub(crate) fn pass_done(&mut self) -> bool {
        self.found.values_mut().for_each(Fitting::pass_done);
        self.found.values().any(Fitting::is_open)
    }

    /// The columns of the file.
    pub(crate) fn sheet(&self, schema: &Schema) -> Result<ChunkSheet> {
        let scalar = |path: &str| self.found.get(path).map_or_else(Scalar::text, Fitting::scalar);
        let types = schema.attributes().map(|(_, attribute)| scalar(&attribute.path)).collect();
        let classes = record_classes(schema, &self.source)?;
        Ok(ChunkSheet { plan: Plan { classes, values: Vec::new(), types } })
    }
}

/// The columns of a file.
#[derive(Debug)]
pub(crate) struct ChunkSheet {
    plan: Plan,
}

impl ChunkSheet {
    /// The texts of a chunk's records, whose order is that of what is published.
    pub(crate) fn texts(
        &self,
        data: &Dataset,
        observer: &dyn Observer,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        spelt_texts(&self.plan.classes, data, observer, take)
    }

    /// Begins the file; records follow by their texts.
    pub(crate) fn begin<W: Write + Send>(&self, to: W) -> Result<PartRows<'_, W>> {
        PartRows::begin(&self.plan, to)
    }
}
