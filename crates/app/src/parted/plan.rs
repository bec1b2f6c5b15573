//! A plan that travels: [`partition::Plan`] with the policy that it belongs to, as bytes that a worker needs
//! nothing else for, and what a worker does with a batch as it was handed over.

use std::path::Path;
use std::sync::Arc;

use bosket_engine::Params;
use bosket_engine::partition as engine;
pub use bosket_engine::partition::{Frequencies, Kernel};
use bosket_io::PolicyFile;
use bosket_io::parquet::Columns;
use bosket_measure::kept::Kept;
use bosket_measure::loss::{Compared, Side};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::partition::Survey;
use bosket_model::partition::bytes::{Reader, Writer};
use bosket_model::policy::{Policy, Role, Undeclared};
use bosket_model::schema::Schema;
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Place, Result};
use serde_json::{Value, json};

use super::refuse_unfit;
use super::shape::Shape;
use crate::anonymize::surveyed::surveyed_legend;
use crate::checks::{self, Census};
use crate::make::placed;
pub use crate::partition::Found;
use crate::partition::{self, Part, is_surveyed, strip};
use crate::prepare::check_policy;
use crate::warned::Warned;

const WHAT: [u8; 4] = *b"BkPt";
const VERSION: u8 = 1;

/// What the values of a batch are called in messages.
pub(super) const NAME: &str = "the data";

/// Asks for a kernel of all records: a label for each item, and the most labels of a set.
pub type Kernels<'a> = &'a mut dyn FnMut(&[u32], usize) -> Result<Kernel>;

/// What is known of all records before the search, the same on the driver and on every worker.
#[derive(Debug)]
pub struct Plan {
    /// The policy's text, and what overrides it.
    given: (String, Vec<String>),
    policy: Policy,
    inner: partition::Plan,
}

/// A batch without what is never published; refuses what the policy does not name.
pub(super) fn stripped(policy: &Policy, batch: &Dataset, observer: &dyn Observer) -> Result<Dataset> {
    let binding = Binding::of_input(batch.schema(), &policy.attributes, policy.undeclared, NAME)?;
    strip(batch, &binding, observer)
}

/// What there is in a batch: attributes, values, keys, and what names a person.
pub fn survey(file: &PolicyFile, batch: &Dataset, observer: &dyn Observer) -> Result<Census> {
    census(file, batch, &|own, id| is_surveyed(&file.policy, own, id), observer)
}

/// The same with the values of some attributes.
pub(super) fn census(
    file: &PolicyFile,
    batch: &Dataset,
    wanted: &dyn Fn(&Binding, AttributeId) -> bool,
    observer: &dyn Observer,
) -> Result<Census> {
    let policy = &file.policy;
    // What the policy does not name is refused once all batches were seen.
    let binding = Binding::of_input(batch.schema(), &policy.attributes, Undeclared::Drop, NAME)?;
    let data = strip(batch, &binding, observer)?;
    let own = Binding::of_input(data.schema(), &policy.attributes, Undeclared::Drop, NAME)?;
    let survey = Survey::of(&data, |id| wanted(&own, id), observer)?;
    Ok(Census::of(policy, batch, NAME, observer)?.with(survey))
}

/// The hierarchies over all values that there are, once nothing speaks against making something of them; and what somebody should
/// know.
pub(super) fn checked(
    file: &PolicyFile,
    census: &Census,
) -> Result<(Vec<Option<Hierarchy>>, Vec<Diagnostic>)> {
    let policy = &file.policy;
    checks::refuse_undeclared(policy, census, NAME, false)?;
    let mut warnings = checks::warnings(policy, census, NAME)?;
    let (hierarchies, others) = partition::hierarchies(file, &census.survey, NAME, false)?;
    warnings.extend(others);
    checks::refuse(policy, census, NAME)?;
    checks::refuse_ranges(policy, &hierarchies)?;
    Ok((hierarchies, warnings))
}

impl Plan {
    /// Checks what is asked for against all that there is; `given` is the policy's text, and what overrides it.
    pub fn new(file: &PolicyFile, given: (String, Vec<String>), census: Census) -> Result<Warned<Self>> {
        let policy = &file.policy;
        check_policy(file)?;
        refuse_unfit(policy)?;
        partition::refuse_unmergeable(policy)?;
        let (hierarchies, warnings) = checked(file, &census)?;
        let inner = partition::Plan::new(policy, census.survey, hierarchies)?;
        Ok(Warned { value: Plan { given, policy: policy.clone(), inner }, warnings })
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.inner.survey().records
    }

    /// Whether the search finds what it would find with all records in memory.
    pub fn is_exact(&self) -> bool {
        self.inner.is_exact()
    }

    /// The plan as bytes. It holds all quasi values of the records.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = Writer::new(WHAT, VERSION);
        out.text(&self.given.0);
        out.length(self.given.1.len());
        self.given.1.iter().for_each(|set| out.text(set));
        out.bytes(&self.inner.to_bytes()?);
        Ok(out.finish())
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written. No file of the policy is looked at.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let text = from.text()?.to_owned();
        let sets: Vec<String> =
            (0..from.length()?).map(|_| Ok(from.text()?.to_owned())).collect::<Result<_>>()?;
        let policy = PolicyFile::parse(Path::new("policy.toml"), &text, &sets)?.policy;
        let inner = partition::Plan::from_bytes(&policy, from.bytes()?)?;
        from.end()?;
        Ok(Plan { given: (text, sets), policy, inner })
    }

    fn part(&self, batch: &Dataset, observer: &dyn Observer) -> Result<Part> {
        let data = stripped(&self.policy, batch, observer)?;
        self.inner.part(&data, observer).map_err(|failure| match failure.fault {
            Fault::Defect => changing("there are values that were not there before"),
            _ => failure,
        })
    }

    /// Sums over a batch.
    pub fn frequencies(&self, batch: &Dataset, observer: &dyn Observer) -> Result<Frequencies> {
        self.inner.frequencies(&self.part(batch, observer)?, observer)
    }

    /// The records of a batch that a search has to see.
    pub fn kernel(
        &self,
        (number, batch): (u32, &Dataset),
        (labels, size): (&[u32], usize),
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Kernel> {
        let part = self.part(batch, observer)?;
        self.inner.kernel((number, &part), labels, size, memory, observer)
    }

    /// Kernels of batches as one, with no more records than needed.
    pub fn merged(
        &self,
        kernels: Vec<Kernel>,
        (labels, size): (&[u32], usize),
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Kernel> {
        let merge = |all: Kernel, own: Kernel| all.merge(own, observer);
        let all = kernels.into_iter().try_fold(self.inner.no_kernel(), merge)?;
        let range = engine::range(&self.policy, &Params::new(&self.policy)?, size)?;
        let (privacy, binding) = (self.policy.need_privacy()?, self.inner.binding().without_companions());
        let trees = |data: &Dataset| bosket_engine::trees(privacy, data, &binding, observer);
        all.pruned(range, labels, memory, &trees, observer)
    }

    /// Searches a solution for all records; relations of trees are taken apart only if they may be, and records that kernels
    /// have overlooked before are looked at, too.
    pub fn search(
        &self,
        all: Frequencies,
        (may_part, more): (bool, Option<&Kernel>),
        kernels: Kernels<'_>,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Found> {
        if all.records != self.records() {
            return Err(changing("there are more or fewer records than before"));
        }
        let mut kernels = |labels: &[u32], size: usize| match more {
            Some(more) => kernels(labels, size)?.with(more, observer),
            None => kernels(labels, size),
        };
        self.inner.search(&Arc::new(all), may_part, &mut kernels, memory, observer)
    }

    /// The published records of a batch, and what they lost, to be added up.
    pub fn recode(&self, batch: &Dataset, found: &Found, observer: &dyn Observer) -> Result<(Dataset, f64)> {
        let part = self.part(batch, observer)?;
        let (published, tally) = self.inner.recode(&part, found, observer)?;
        Ok((published, tally.rpd() * part.data.len() as f64))
    }

    /// What published records of a batch look like, whose source had these columns, and what of it is kept.
    pub fn shape(
        &self,
        batch: &Dataset,
        columns: &Columns,
        found: &Found,
        observer: &dyn Observer,
    ) -> Result<Shape> {
        let part = self.part(batch, observer)?;
        let (published, tally) = self.inner.recode(&part, found, observer)?;
        let lost = tally.rpd() * part.data.len() as f64;
        let own = Sides {
            policy: &self.policy,
            binding: self.inner.binding(),
            hierarchies: self.inner.hierarchies(),
        };
        let (kept, survey) = own.kept(&part.data, &published, observer)?;
        Ok(Shape::of(&published, columns, lost)?.telling(kept, survey))
    }

    /// A batch, and what would be published of it.
    pub(super) fn recoded(
        &self,
        batch: &Dataset,
        found: &Found,
        observer: &dyn Observer,
    ) -> Result<(Part, Dataset)> {
        let part = self.part(batch, observer)?;
        let (published, _) = self.inner.recode(&part, found, observer)?;
        Ok((part, published))
    }

    pub(super) fn policy(&self) -> &Policy {
        &self.policy
    }

    pub(super) fn inner(&self) -> &partition::Plan {
        &self.inner
    }

    /// What a run tells about itself: `loss`, `suppressed`, `kept` and `legend` of its certificate.
    pub fn figures(&self, found: &Found, shape: &Shape) -> Result<Value> {
        let own = Sides {
            policy: &self.policy,
            binding: self.inner.binding(),
            hierarchies: self.inner.hierarchies(),
        };
        let mut figures = self.lost(found, shape.lost);
        figures["kept"] = own.public(shape.kept.clone());
        figures["legend"] = own.legend(self.inner.survey(), &shape.survey)?;
        Ok(figures)
    }

    fn lost(&self, found: &Found, lost: f64) -> Value {
        // Sums of many parts differ in their last digits by the order in which they were added.
        let rpd = rounded(lost / self.records().max(1) as f64);
        match found {
            Found::Km(found) => json!({
                "loss": {"ncp": found.ncp},
                "suppressed": {
                    "items_left_out": found.suppressed.len(),
                    "occurrences_left_out": found.suppressed_occurrences,
                },
            }),
            Found::Kmn(_) => json!({
                "loss": {"rpd": rpd},
                "suppressed": {},
            }),
        }
    }
}

/// Both sides of a run: what is needed to compare some records with what is published of them.
pub(super) struct Sides<'a> {
    pub(super) policy: &'a Policy,
    /// Of the records.
    pub(super) binding: &'a Binding,
    pub(super) hierarchies: &'a [Option<Hierarchy>],
}

impl Sides<'_> {
    /// The place of what is published and not written yet.
    fn published(&self, schema: &Schema) -> Result<Binding> {
        Binding::new(schema, &placed(self.policy, self.binding), self.policy.undeclared, NAME)
    }

    /// What is kept of records, published in the same order, or not at all; and the published quasi values.
    pub(super) fn kept(
        &self,
        records: &Dataset,
        published: &Dataset,
        observer: &dyn Observer,
    ) -> Result<(Kept, Survey)> {
        let binding = self.published(published.schema())?;
        let mapping: Vec<(u32, u32)> = (0..published.len() as u32).map(|record| (record, record)).collect();
        let compared = Compared {
            policy: self.policy,
            input: Side { data: records, binding: self.binding },
            published: Side { data: published, binding: &binding },
            hierarchies: self.hierarchies,
            apart: &[],
            mapping: Some(&mapping),
            mining: false,
        };
        let kept = Kept::new(&compared, observer)?;
        let quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi);
        Ok((kept, Survey::of(published, quasi, observer)?))
    }

    /// What is kept of all records, for everybody.
    pub(super) fn public(&self, kept: Kept) -> Value {
        kept.ordered(self.binding).public(self.policy).to_json()
    }

    /// What published groups stand for.
    pub(super) fn legend(&self, input: &Survey, published: &Survey) -> Result<Value> {
        let its = self.published(published.frame.schema())?;
        Ok(surveyed_legend(self.policy, (input, self.binding), (published, &its), self.hierarchies))
    }
}

/// A figure by its first digits.
pub(super) fn rounded(figure: f64) -> f64 {
    format!("{figure:.9e}").parse().unwrap_or(figure)
}

pub(super) fn changing(how: &str) -> Failure {
    let what = format!("the data is not the same from job to job: {how}");
    let help = "write it to files or persist it first, so that every job reads the same";
    Failure::new(Fault::Data, Diagnostic::error(what).at(Place::source(NAME)).help(help))
}
