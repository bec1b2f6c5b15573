//! Clusters of records that lie in partitions: a sample says how to part them into cells of like records, each cell is clustered
//! by a worker, and whoever is left over in any cell is clustered once more.
//!
//! ```text
//! survey, facts ─► CellPlan ─► sample(batch) ─► split ─► assign(batch) ─► joined ─► make(cell) ─► make(left over)
//! ```

use std::path::Path;

use bosket_engine::cluster::Params;
use bosket_engine::cluster::cells;
pub use bosket_engine::cluster::cells::{Facts, Round, Splitter, Tally};
use bosket_engine::{Input, Params as AnyParams};
use bosket_io::PolicyFile;
use bosket_io::parquet::Columns;
use bosket_measure::kept::Kept;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::partition::{Joined, Survey};
use bosket_model::policy::{Policy, Role, Undeclared};
use bosket_model::{AttributeId, Dataset, Failure, Result};
use serde_json::{Value, json};

use super::plan::{NAME, Sides, checked, stripped};
use super::refuse_unfit;
use super::shape::Shape;
use crate::checks::{Census, travelling};
use crate::prepare::check_policy;
use crate::warned::Warned;

const WHAT: [u8; 4] = *b"BkCp";
const VERSION: u8 = 1;

/// What is known of all records before any is clustered.
#[derive(Debug)]
pub struct CellPlan {
    given: (String, Vec<String>),
    policy: Policy,
    params: Params,
    hierarchies: Vec<Option<Hierarchy>>,
    facts: Facts,
}

/// What became of a cell.
#[derive(Debug)]
pub struct Clustered {
    /// The published records.
    pub published: Dataset,
    /// The records that are in no cluster, as they were.
    pub left: Dataset,
    /// Figures that add up.
    pub told: CellTold,
}

/// What is told about some cells. Those of several cells add up.
#[derive(Clone, Debug, Default)]
pub struct CellTold {
    /// What their records lost.
    pub tally: Tally,
    /// What of them is kept.
    pub kept: Kept,
}

impl CellTold {
    /// Both together.
    pub fn merge(self, other: Self) -> Result<Self> {
        Ok(CellTold { tally: self.tally.merge(other.tally), kept: self.kept.merge(other.kept) })
    }

    /// The figures as text.
    pub fn to_text(&self) -> String {
        json!({"tally": self.tally.to_json(), "kept": self.kept.to_state()}).to_string()
    }

    /// Reads what [`to_text`](Self::to_text) has written.
    pub fn from_text(text: &str) -> Result<Self> {
        let told = parsed(text)?;
        let own = |key: &str| told.get(key).ok_or_else(damaged);
        Ok(CellTold { tally: Tally::from_json(own("tally")?)?, kept: Kept::from_state(own("kept")?)? })
    }
}

fn whole(policy: &Policy, data: &Dataset) -> Result<Binding> {
    Binding::of_input(data.schema(), &policy.attributes, Undeclared::Drop, NAME)
}

fn bound(policy: &Policy, data: &Dataset) -> Result<Binding> {
    Ok(whole(policy, data)?.without_companions())
}

fn params_of(policy: &Policy) -> Result<Params> {
    match AnyParams::new(policy)? {
        AnyParams::Cluster(params) => Ok(params),
        _ => Err(Failure::defect("cells are for clusters")),
    }
}

/// What a batch has of everything.
pub fn facts(file: &PolicyFile, batch: &Dataset, observer: &dyn Observer) -> Result<Facts> {
    let data = stripped(&file.policy, batch, observer)?;
    Facts::count(&data, &bound(&file.policy, &data)?, observer)
}

impl CellPlan {
    /// Checks what is asked for against all values that there are.
    pub fn new(
        file: &PolicyFile,
        given: (String, Vec<String>),
        census: &Census,
        facts: Facts,
    ) -> Result<Warned<Self>> {
        let policy = &file.policy;
        check_policy(file)?;
        refuse_unfit(policy)?;
        let params = params_of(policy)?;
        cells::refuse_partitions(&params)?;
        if facts.records() != census.survey.records {
            return Err(super::plan::changing("there are more or fewer records than before"));
        }
        let (hierarchies, warnings) = checked(file, census)?;
        Ok(Warned { value: CellPlan { given, policy: policy.clone(), params, hierarchies, facts }, warnings })
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.facts.records()
    }

    /// The plan as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = Writer::new(WHAT, VERSION);
        out.text(&self.given.0);
        out.length(self.given.1.len());
        self.given.1.iter().for_each(|set| out.text(set));
        out.text(&self.facts.to_json().to_string());
        out.length(self.hierarchies.len());
        for hierarchy in &self.hierarchies {
            let form = |h: &Hierarchy| travelling(&self.policy, h);
            out.bytes(&hierarchy.as_ref().map(form).transpose()?.unwrap_or_default());
        }
        Ok(out.finish())
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written. No file of the policy is looked at.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let text = from.text()?.to_owned();
        let sets: Vec<String> =
            (0..from.length()?).map(|_| Ok(from.text()?.to_owned())).collect::<Result<_>>()?;
        let policy = PolicyFile::parse(Path::new("policy.toml"), &text, &sets)?.policy;
        let facts = Facts::from_json(&parsed(from.text()?)?)?;
        let hierarchies = (0..from.length()?).map(|_| {
            let bytes = from.bytes()?;
            if bytes.is_empty() { Ok(None) } else { Hierarchy::from_bytes(bytes).map(Some) }
        });
        let hierarchies: Vec<Option<Hierarchy>> = hierarchies.collect::<Result<_>>()?;
        from.end()?;
        if hierarchies.len() != policy.attributes.len() {
            return Err(damaged());
        }
        let params = params_of(&policy)?;
        Ok(CellPlan { given: (text, sets), policy, params, hierarchies, facts })
    }

    fn with<T>(
        &self,
        batch: &Dataset,
        observer: &dyn Observer,
        work: impl FnOnce(Input<'_>) -> Result<T>,
    ) -> Result<T> {
        let data = &stripped(&self.policy, batch, observer)?;
        let binding = &bound(&self.policy, data)?;
        work(Input { data, binding, hierarchies: &self.hierarchies })
    }

    /// The records of a batch by which cells are chosen, of so many in all batches.
    pub fn sample(&self, batch: &Dataset, records: u64, observer: &dyn Observer) -> Result<Dataset> {
        self.with(batch, observer, |input| Ok(input.data.subset(&cells::sampled(input, records, observer)?)))
    }

    /// In how many cells all records are put.
    pub fn cells(&self) -> usize {
        self.facts.cells(&self.params)
    }

    /// In how many cells those are put who were left over in so many.
    pub fn again(&self, left: u64, cells: usize) -> usize {
        cells::again(left, &self.params, &self.facts, cells)
    }

    /// How records are parted into so many cells, by a sample of them.
    pub fn split(&self, sample: &Dataset, wanted: usize, observer: &dyn Observer) -> Result<Splitter> {
        self.with(sample, observer, |input| Splitter::new(input, &self.params, &self.facts, wanted, observer))
    }

    /// The cell of each record of a batch.
    pub fn assign(&self, splitter: &Splitter, batch: &Dataset, observer: &dyn Observer) -> Result<Vec<u32>> {
        self.with(batch, observer, |input| splitter.assign(input, observer))
    }

    /// The same without cells that have too few of all records.
    pub fn joined(&self, splitter: &Splitter, counts: &[u64]) -> Splitter {
        splitter.joined(counts, &self.params)
    }

    /// Clusters the records of a cell; `last` says whether whoever is left over is suppressed.
    pub fn make(
        &self,
        cell: &Dataset,
        (round, last): (Round, bool),
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Clustered> {
        self.with(cell, observer, |input| {
            if input.data.is_empty() {
                let (published, left) = (input.data.clone(), input.data.clone());
                return Ok(Clustered { published, left, told: CellTold::default() });
            }
            let params = Params { memory, ..self.params.clone() };
            let made = cells::anonymize(input, &params, &self.facts, round, observer)?;
            let (mut tally, mut kept) =
                (made.tally, self.kept(input.data, &made.records, &made.data, observer)?);
            let mut left = input.data.picked(&made.left);
            if last && !made.left.is_empty() {
                let given_up = cells::suppressed(input, &made.left, &params, &self.facts, observer)?;
                tally = tally.merge(given_up);
                kept = kept.merge(self.kept(input.data, &made.left, &input.data.picked(&[]), observer)?);
                left = input.data.picked(&[]);
            }
            Ok(Clustered { published: made.data, left, told: CellTold { tally, kept } })
        })
    }

    /// What is kept of some records of a cell, published in that order, or not at all.
    fn kept(
        &self,
        cell: &Dataset,
        records: &[u32],
        published: &Dataset,
        observer: &dyn Observer,
    ) -> Result<Kept> {
        let records = cell.picked(records);
        let binding = whole(&self.policy, &records)?;
        let own = Sides { policy: &self.policy, binding: &binding, hierarchies: &self.hierarchies };
        Ok(own.kept(&records, published, observer)?.0)
    }

    /// Published records as they are written next to those of all other cells.
    pub fn spelled(&self, published: &Dataset, all: &Tally) -> Result<Dataset> {
        let binding = Binding::new(published.schema(), &self.policy.attributes, Undeclared::Drop, NAME)?;
        Ok(cells::spelled(published, &binding, &self.hierarchies, all))
    }

    /// The shape of published records.
    pub fn shape(&self, published: &Dataset, columns: &Columns, observer: &dyn Observer) -> Result<Shape> {
        let binding = Binding::new(published.schema(), &self.policy.attributes, Undeclared::Drop, NAME)?;
        let quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi);
        let survey = Survey::of(published, quasi, observer)?;
        Ok(Shape::of(published, columns, 0.0)?.telling(Kept::default(), survey))
    }

    /// What a run tells about itself: `loss`, `suppressed`, `kept` and `legend` of its certificate.
    pub fn figures(&self, told: &CellTold, census: &Census, shape: &Shape) -> Result<Value> {
        let binding = whole(&self.policy, &census.survey.frame)?;
        let own = Sides { policy: &self.policy, binding: &binding, hierarchies: &self.hierarchies };
        let mut figures = self.lost(&told.tally);
        figures["kept"] = own.public(told.kept.clone());
        figures["legend"] = own.legend(&census.survey, &shape.survey)?;
        Ok(figures)
    }

    fn lost(&self, all: &Tally) -> Value {
        // Sums of many cells differ in their last digits by the order in which they were added.
        let lm = super::plan::rounded(all.lm(self.params.lost));
        json!({
            "loss": {"lm": lm},
            "suppressed": {"records_suppressed": all.suppressed, "vertices_pruned": all.pruned()},
        })
    }
}

/// Records of batches as one.
pub fn together(batches: &[Dataset], observer: &dyn Observer) -> Result<Dataset> {
    let mut joined = Joined::new();
    for batch in batches {
        joined.add(batch, |_| true, |_| true, observer)?;
    }
    Ok(joined.finish())
}

/// JSON that was sent.
pub fn parsed(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|_| damaged())
}
