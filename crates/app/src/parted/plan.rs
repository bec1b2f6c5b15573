//! A plan that travels: [`partition::Plan`] with the policy that it belongs to, as bytes that a worker needs
//! nothing else for, and what a worker does with a batch as it was handed over.

use std::path::Path;
use std::sync::Arc;

use bosket_engine::Params;
use bosket_engine::partition as engine;
pub use bosket_engine::partition::{Frequencies, Kernel};
use bosket_io::PolicyFile;
use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::partition::Survey;
use bosket_model::partition::bytes::{Reader, Writer};
use bosket_model::policy::{Policy, Undeclared};
use bosket_model::words::plural;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};
use serde_json::{Value, json};

use super::refuse_unfit;
use crate::chunked::refuse_revealing;
pub use crate::partition::Found;
use crate::partition::{self, Part, is_surveyed, strip};
use crate::prepare::check_policy;

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

/// What values there are in a batch.
pub fn survey(file: &PolicyFile, batch: &Dataset, observer: &dyn Observer) -> Result<Survey> {
    let policy = &file.policy;
    let data = stripped(policy, batch, observer)?;
    let own = Binding::of_input(data.schema(), &policy.attributes, Undeclared::Drop, NAME)?;
    Survey::of(&data, |id| is_surveyed(policy, &own, id), observer)
}

/// Refuses a k that there are not enough records for.
pub(super) fn refuse_too_few(k: u64, records: u64) -> Result<()> {
    if k <= records {
        return Ok(());
    }
    let there = plural(usize::try_from(records).unwrap_or(usize::MAX), "record");
    let what = format!("k = {k} exceeds the {there} of the data");
    let diagnostic = Diagnostic::error(what).at(Place::source(NAME)).help("ask for a smaller k");
    Err(Failure::new(Fault::Unreachable, diagnostic))
}

impl Plan {
    /// Checks what is asked for against all values that there are; `given` is the policy's text, and what overrides it.
    pub fn new(file: &PolicyFile, given: (String, Vec<String>), survey: Survey) -> Result<Self> {
        let policy = &file.policy;
        check_policy(file)?;
        refuse_unfit(policy)?;
        partition::refuse_unmergeable(policy)?;
        let k = u64::from(policy.need_privacy()?.k.unwrap_or(0));
        refuse_too_few(k, survey.records)?;
        let schema = survey.frame.schema();
        let binding = Binding::of_input(schema, &policy.attributes, Undeclared::Drop, NAME)?;
        refuse_revealing(policy, &survey, &binding, k)?;
        let (hierarchies, _) = partition::hierarchies(file, &survey, NAME, false)?;
        let inner = partition::Plan::new(policy, survey, hierarchies)?;
        Ok(Plan { given, policy: policy.clone(), inner })
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

    /// Searches a solution for all records; relations of trees are taken apart only if they may be.
    pub fn search(
        &self,
        all: Frequencies,
        may_part: bool,
        mut kernels: Kernels<'_>,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Found> {
        if all.records != self.records() {
            return Err(changing("there are more or fewer records than before"));
        }
        self.inner.search(&Arc::new(all), may_part, &mut kernels, memory, observer)
    }

    /// The published records of a batch, and what they lost, to be added up.
    pub fn recode(&self, batch: &Dataset, found: &Found, observer: &dyn Observer) -> Result<(Dataset, f64)> {
        let part = self.part(batch, observer)?;
        let (published, tally) = self.inner.recode(&part, found, observer)?;
        Ok((published, tally.rpd() * part.data.len() as f64))
    }

    /// What a run tells about itself: `loss` and `suppressed` of its certificate.
    pub fn figures(&self, found: &Found, lost: f64) -> Value {
        // Sums of many parts differ in their last digits by the order in which they were added.
        let rpd = format!("{:.9e}", lost / self.records().max(1) as f64);
        match found {
            Found::Km(found) => json!({
                "loss": {"ncp": found.ncp},
                "suppressed": {
                    "items_left_out": found.suppressed.len(),
                    "occurrences_left_out": found.suppressed_occurrences,
                },
            }),
            Found::Kmn(_) => json!({
                "loss": {"rpd": rpd.parse::<f64>().unwrap_or_default()},
                "suppressed": {},
            }),
        }
    }
}

pub(super) fn changing(how: &str) -> Failure {
    let what = format!("the data is not the same from job to job: {how}");
    let help = "write it to files or persist it first, so that every job reads the same";
    Failure::new(Fault::Data, Diagnostic::error(what).at(Place::source(NAME)).help(help))
}
