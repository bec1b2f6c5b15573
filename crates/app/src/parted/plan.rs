//! Making a publication of records that lie in partitions: what a worker does with a batch, and what the driver makes of it.
//!
//! ```text
//! survey(batch) ─► merge ─► Plan ─► frequencies(batch) ─► merge ┐
//!                                   kernel(batch, cut) ─► merge ┴► search ─► recode(batch)
//! ```
//! Everything a worker does is a function of the plan's bytes and its batch.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosket_engine::partition::{self, Filter};
pub use bosket_engine::partition::{Frequencies, Kernel};
use bosket_engine::{Params, km, kmn};
use bosket_io::PolicyFile;
use bosket_io::hierarchies::HierarchyNeeds;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Build, Hierarchy, HierarchySpec};
use bosket_model::observe::Observer;
use bosket_model::partition::Survey;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::policy::{Policy, Role, Rows};
use bosket_model::value_tree::ValueTrees;
use bosket_model::words::{count, plural};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::Claim;
use serde_json::{Value, json};

use super::refuse_unfit;
use crate::certificate::named;
use crate::prepare::check_policy;

const WHAT: [u8; 4] = *b"BkPl";
const FOUND: [u8; 4] = *b"BkFo";
const VERSION: u8 = 1;

/// What the values of a batch are called in messages.
const NAME: &str = "the data";

/// Asks for a kernel of all records: a label for each item, and the most labels of a set.
pub type Kernels<'a> = &'a mut dyn FnMut(&[u32], usize) -> Result<Kernel>;

/// What is known of all records before the search, the same on the driver and on every worker.
#[derive(Debug)]
pub struct Plan {
    file: PolicyFile,
    given: Given,
    claim: Claim,
    params: Params,
    survey: Survey,
    hierarchies: Vec<Option<Hierarchy>>,
}

/// A policy as it was given, and the files that it names.
#[derive(Clone, Debug)]
struct Given {
    text: String,
    sets: Vec<String>,
    /// By the path that the policy has.
    files: Vec<(String, Vec<u8>)>,
}

/// One solution for all records.
#[derive(Clone, Debug)]
pub enum Found {
    /// A cut of items.
    Sets(Box<km::Found>),
    /// A cut of trees, with its figures.
    Trees(kmn::Recipe, String),
}

/// What values there are in a batch.
pub fn survey(file: &PolicyFile, batch: &Dataset, observer: &dyn Observer) -> Result<Survey> {
    let policy = &file.policy;
    let binding = bound(policy, batch)?;
    let wanted = |id: AttributeId| match binding.attributes[id.index()] {
        Some(declared) => {
            let said = &policy.attributes[declared];
            match binding.declared[declared].role {
                Role::Quasi => true,
                Role::Insensitive => !said.acknowledge,
                _ => false,
            }
        }
        None => false,
    };
    Survey::of(batch, wanted, observer)
}

fn bound(policy: &Policy, data: &Dataset) -> Result<Binding> {
    Binding::of_input(data.schema(), &policy.attributes, policy.undeclared, NAME)
}

impl Plan {
    /// Checks what is asked for against all values that there are; `given` is the policy's text, and what overrides it.
    pub fn new(file: PolicyFile, given: (String, Vec<String>), survey: Survey) -> Result<Self> {
        let policy = &file.policy;
        check_policy(&file)?;
        refuse_unfit(policy)?;
        let params = Params::new(policy)?;
        partition::refuse_unmergeable(policy, &params)?;
        let k = policy.need_privacy()?.k.unwrap_or(0);
        if u64::from(k) > survey.records {
            let there = plural(usize::try_from(survey.records).unwrap_or(usize::MAX), "record");
            let what = format!("k = {k} exceeds the {there} of the data");
            let diagnostic = Diagnostic::error(what).at(Place::source(NAME)).help("ask for a smaller k");
            return Err(Failure::new(Fault::Unreachable, diagnostic));
        }
        refuse_revealing(policy, &survey, k)?;
        let (text, sets) = given;
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for path in policy.attributes.iter().filter_map(|a| a.hierarchy.as_ref().and_then(named)) {
            if files.iter().all(|(known, _)| known != path) {
                files.push((path.to_owned(), bosket_io::read_long_text(&file.resolve(path))?.into_bytes()));
            }
        }
        Self::with(file, Given { text, sets, files }, params, survey)
    }

    fn with(file: PolicyFile, given: Given, params: Params, survey: Survey) -> Result<Self> {
        let binding = bound(&file.policy, &survey.frame)?;
        let needs = HierarchyNeeds { required: true, show_values: false };
        let (hierarchies, _) = bosket_io::hierarchies::load(&file, &survey.frame, &binding, NAME, needs)?;
        let claim = Claim::new(&file.policy)?;
        Ok(Plan { file, given, claim, params, survey, hierarchies })
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.survey.records
    }

    /// Whether the search finds what it would find with all records in memory.
    pub fn is_exact(&self) -> bool {
        partition::is_exact(&self.file.policy, &self.params)
    }

    /// The plan as bytes, with the hierarchies that are files.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.text(&self.given.text);
        out.length(self.given.sets.len());
        self.given.sets.iter().for_each(|set| out.text(set));
        out.length(self.given.files.len());
        for (path, content) in &self.given.files {
            out.text(path);
            out.bytes(content);
        }
        out.bytes(&self.survey.to_bytes());
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written. Hierarchies that are files lie in `scratch` for a moment, a folder that
    /// nobody else uses.
    pub fn from_bytes(bytes: &[u8], scratch: &Path) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let text = from.text()?.to_owned();
        let sets: Vec<String> =
            (0..from.length()?).map(|_| Ok(from.text()?.to_owned())).collect::<Result<_>>()?;
        let files = (0..from.length()?).map(|_| Ok((from.text()?.to_owned(), from.bytes()?.to_vec())));
        let files: Vec<(String, Vec<u8>)> = files.collect::<Result<_>>()?;
        let survey = Survey::from_bytes(from.bytes()?)?;
        from.end()?;
        let mut file = PolicyFile::parse(&scratch.join("policy.toml"), &text, &sets)?;
        let mut laid: Vec<(String, PathBuf)> = Vec::new();
        for (number, (path, content)) in files.iter().enumerate() {
            let at = scratch.join(format!("hierarchy-{number}.csv"));
            std::fs::write(&at, content).map_err(bosket_io::write_failure)?;
            laid.push((path.clone(), at));
        }
        for attribute in &mut file.policy.attributes {
            let path = attribute.hierarchy.as_ref().and_then(named);
            let Some((_, at)) = laid.iter().find(|(known, _)| Some(known.as_str()) == path) else { continue };
            let at = at.to_string_lossy().into_owned();
            attribute.hierarchy = Some(match attribute.hierarchy {
                Some(HierarchySpec::File(_)) => HierarchySpec::File(at),
                _ => HierarchySpec::Build(Build::Icd10 { table: Some(at) }),
            });
        }
        let params = Params::new(&file.policy)?;
        Self::with(file, Given { text, sets, files }, params, survey)
    }

    /// A batch under the numbers of all records: its quasi values, or all of it.
    fn aligned(&self, batch: &Dataset, all: bool, observer: &dyn Observer) -> Result<(Dataset, Binding)> {
        let own = bound(&self.file.policy, batch)?;
        let quasi = |id: AttributeId| own.role(id) == Some(Role::Quasi);
        let data = self.survey.align(batch, |id| all || quasi(id), observer)?;
        let binding = bound(&self.file.policy, &data)?;
        let frame = &self.survey.frame;
        let known = |id: AttributeId| id.index() < frame.schema().attributes().len();
        for (id, attribute) in
            data.schema().attributes().filter(|(id, _)| binding.role(*id) == Some(Role::Quasi))
        {
            if !known(id) || data.dictionary(id).len() != frame.dictionary(id).len() {
                let what =
                    "the data is not the same from job to job: there are values that were not there before";
                let place = Place::source(NAME).path(attribute.path.as_str());
                let help = "write it to files or persist it first, so that every job reads the same";
                return Err(Failure::new(Fault::Data, Diagnostic::error(what).at(place).help(help)));
            }
        }
        Ok((data, binding))
    }

    fn trees(&self, data: &Dataset, binding: &Binding, observer: &dyn Observer) -> Result<ValueTrees> {
        bosket_engine::trees(self.file.policy.need_privacy()?, data, &binding.without_companions(), observer)
    }

    /// Sums over a batch.
    pub fn frequencies(&self, batch: &Dataset, observer: &dyn Observer) -> Result<Frequencies> {
        let (data, binding) = self.aligned(batch, false, observer)?;
        let trees = self.trees(&data, &binding, observer)?;
        Frequencies::count(&trees, &self.hierarchies, &self.params, observer)
    }

    fn no_kernel(&self) -> Kernel {
        match self.params {
            Params::Km(_) => Kernel::of_sets(),
            _ => Kernel::of_records(&self.survey.frame),
        }
    }

    /// The records of a batch that a search has to see.
    pub fn kernel(
        &self,
        batch: (u32, &Dataset),
        (labels, size): (&[u32], usize),
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Kernel> {
        let (data, binding) = self.aligned(batch.1, false, observer)?;
        let trees = self.trees(&data, &binding, observer)?;
        let range = partition::range(&self.file.policy, &self.params, size)?;
        let (mut kernel, mut filter) = (self.no_kernel(), Filter::new(range, labels, memory));
        let quasi = (!matches!(self.params, Params::Km(_))).then_some(&data);
        partition::take(&mut kernel, &mut filter, (batch.0, &trees), quasi, observer)?;
        Ok(kernel)
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
        let all = kernels.into_iter().try_fold(self.no_kernel(), merge)?;
        let range = partition::range(&self.file.policy, &self.params, size)?;
        let trees = |data: &Dataset| self.trees(data, &bound(&self.file.policy, data)?, observer);
        all.pruned(range, labels, memory, &trees, observer)
    }

    /// Searches a solution for all records.
    pub fn search(
        &self,
        all: Frequencies,
        kernels: Kernels<'_>,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Found> {
        if all.records != self.survey.records {
            let what =
                "the data is not the same from job to job: there are more or fewer records than before";
            let help = "write it to files or persist it first, so that every job reads the same";
            return Err(Failure::new(
                Fault::Data,
                Diagnostic::error(what).at(Place::source(NAME)).help(help),
            ));
        }
        let frame = &self.survey.frame;
        let trees = self.trees(frame, &bound(&self.file.policy, frame)?, observer)?;
        match &self.params {
            Params::Km(params) => {
                let params = km::Params { memory, ..params.clone() };
                let found = km::search_parts(&trees, &self.hierarchies, &params, &all, kernels, observer)?;
                Ok(Found::Sets(Box::new(found)))
            }
            Params::Kmn(params) => {
                let labels = partition::finest(&trees, &self.hierarchies);
                let kernel = kernels(&labels, params.m)?;
                let params = kmn::Params { memory, all: Some(Arc::new(all)), ..params.clone() };
                self.search_trees(&kernel, &params, observer)
            }
            _ => Err(Failure::defect("kernels are for sets and trees")),
        }
    }

    fn search_trees(&self, kernel: &Kernel, params: &kmn::Params, observer: &dyn Observer) -> Result<Found> {
        let policy = &self.file.policy;
        let data = kernel.records().ok_or_else(damaged)?;
        let binding = bound(policy, data)?;
        let published = binding.without_companions();
        let trees = self.trees(data, &binding, observer)?;
        let attributes = crate::make::placed(policy, &binding);
        let keeps = |data: &Dataset| -> Result<kmn::Verdict> {
            let binding = Binding::new(data.schema(), &attributes, policy.undeclared, "a solution")?;
            let witness = bosket_verify::verify(
                data,
                &binding,
                &self.claim,
                &self.hierarchies,
                params.memory,
                observer,
            )?;
            Ok(if witness.is_none() { kmn::Verdict::Kept } else { kmn::Verdict::Broken(Vec::new()) })
        };
        let asks = params.beyond || params.counted;
        let (recipe, route, examined, apart) = if policy.rows() == Rows::United {
            let keeps = |trees: &ValueTrees| keeps(&trees.write_back(&binding));
            let accept: Option<kmn::Accept<'_>> = if asks { Some(&keeps) } else { None };
            let release = kmn::run(&trees, &self.hierarchies, params, accept, observer)?;
            (release.recipe, release.route, release.examined, release.rules.len())
        } else {
            let payload = policy.need_privacy()?.payload;
            let source = kmn::Source { data, binding: &published, payload, rows: policy.rows() };
            let accept: Option<kmn::Accept<'_, Dataset>> = if asks { Some(&keeps) } else { None };
            let release = kmn::run_rows(&source, &trees, &self.hierarchies, params, accept, observer)?;
            (release.recipe, release.route, release.examined, release.rules.len())
        };
        let figures = json!({"route": route, "cuts_examined": examined, "disassociations": apart});
        Ok(Found::Trees(recipe, figures.to_string()))
    }

    /// The published records of a batch, and what they lost, to be added up.
    pub fn recode(&self, batch: &Dataset, found: &Found, observer: &dyn Observer) -> Result<(Dataset, f64)> {
        let (data, binding) = self.aligned(batch, true, observer)?;
        let trees = self.trees(&data, &binding, observer)?;
        match (&self.params, found) {
            (Params::Km(params), Found::Sets(found)) => {
                let made = km::recode(&trees, &self.hierarchies, params, found, observer)?;
                Ok((made.write_back(&binding), 0.0))
            }
            (Params::Kmn(params), Found::Trees(recipe, _)) => {
                let policy = &self.file.policy;
                let (made, tally) = if policy.rows() == Rows::United {
                    let (made, tally) = kmn::recode(&trees, &self.hierarchies, params, recipe, observer)?;
                    (made.write_back(&binding), tally)
                } else {
                    let payload = policy.need_privacy()?.payload;
                    let published = binding.without_companions();
                    let source =
                        kmn::Source { data: &data, binding: &published, payload, rows: policy.rows() };
                    kmn::recode_rows(&source, &trees, &self.hierarchies, params, recipe, observer)?
                };
                Ok((made, tally.rpd() * data.len() as f64))
            }
            _ => Err(Failure::defect("a solution of another family")),
        }
    }

    /// What a run tells about itself: `loss` and `suppressed` of its certificate.
    pub fn figures(&self, found: &Found, lost: f64) -> Value {
        match found {
            Found::Sets(found) => json!({
                "loss": {"ncp": found.ncp},
                "suppressed": {
                    "items_left_out": found.suppressed.len(),
                    "occurrences_left_out": found.suppressed_occurrences,
                },
            }),
            Found::Trees(_, figures) => {
                let told: Value = serde_json::from_str(figures).unwrap_or_default();
                // Sums of many parts differ in their last digits by the order in which they were added.
                let rpd = format!("{:.9e}", lost / self.survey.records.max(1) as f64);
                json!({
                    "loss": {"rpd": rpd.parse::<f64>().unwrap_or_default()},
                    "suppressed": {"disassociations": told["disassociations"]},
                })
            }
        }
    }
}

impl Found {
    /// The solution as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(FOUND, VERSION);
        match self {
            Found::Sets(found) => {
                out.number(0);
                out.bytes(&found.to_bytes());
            }
            Found::Trees(recipe, figures) => {
                out.number(1);
                out.bytes(&recipe.to_bytes());
                out.text(figures);
            }
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, FOUND, VERSION)?;
        let found = match from.number()? {
            0 => Found::Sets(Box::new(km::Found::from_bytes(from.bytes()?)?)),
            1 => Found::Trees(kmn::Recipe::from_bytes(from.bytes()?)?, from.text()?.to_owned()),
            _ => return Err(damaged()),
        };
        from.end()?;
        Ok(found)
    }
}

/// The rule of [`prepare`](crate::prepare()) on counts of all records: an attribute that is published as it is must not give people away.
fn refuse_revealing(policy: &Policy, survey: &Survey, k: u32) -> Result<()> {
    let binding = bound(policy, &survey.frame)?;
    let mut problems = Vec::new();
    for (id, _) in survey.frame.schema().attributes() {
        let Some(declared) = binding.attributes[id.index()] else { continue };
        let said = &policy.attributes[declared];
        if binding.declared[declared].role != Role::Insensitive || said.acknowledge {
            continue;
        }
        let counts = &survey.counts[id.index()];
        let all: u64 = counts.iter().map(|c| c.1).sum();
        let rare: u64 = counts.iter().filter(|c| c.0 < u64::from(k)).map(|c| c.1).sum();
        if rare * 20 > all {
            let told = |n: u64| count(usize::try_from(n).unwrap_or(usize::MAX));
            let what = format!(
                "`{}` is called insensitive, but {} of its {} values are ones that fewer than {k} people have",
                said.path,
                told(rare),
                told(all)
            );
            let help = "make it quasi or identifying, or say `acknowledge = true` if it gives nobody away";
            problems.push(Diagnostic::error(what).at(said.place.clone()).help(help));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, problems)) }
}
