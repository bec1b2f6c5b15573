//! Records in parts: what a worker does with a part of them, and what is done with what comes back.
//!
//! Every function of a worker is a function of the plan, the part and the cut alone, and what it gives can be sent as bytes.
//! `anonymize` works so on input that does not fit into memory, part after part; somebody else may do it on many machines.
//!
//! 1. [`strip`] and [`Survey::of`](bosket_model::partition::Survey::of) of every part, merged: what values there are.
//! 2. [`Plan::new`]: hierarchies over all values, checked.
//! 3. [`Plan::frequencies`] of every part, merged: sums over all records.
//! 4. [`Plan::search`], which asks for kernels: [`Plan::kernel`] of every part, merged.
//! 5. [`Plan::recode`] of every part; all that comes out is written in one order, by content.
//! 6. `bosket_verify::partition`: what was written is read and counted part by part, merged and judged.

use std::sync::Arc;

use bosket_engine::partition::{self, Filter, Frequencies, Kernel, Passes};
use bosket_engine::{Params, km, kmn};
use bosket_io::PolicyFile;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Build, Hierarchy, HierarchySpec};
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::partition::{Joined, Survey};
use bosket_model::policy::{Policy, Role, Rows, Undeclared};
use bosket_model::value_tree::ValueTrees;
use bosket_model::words::plural;
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::Claim;
use bosket_verify::recount::parts::Totals;
use serde_json::{Value, json};

use crate::checks::{may_reveal, travelling};
use crate::figures::{Figures, KmFigures};
use crate::make::{KernelOf, Work, make};

/// Whether values of an attribute are looked at before anything is made: all quasi ones, and those that are published as they
/// are and must not give anybody away.
pub fn is_surveyed(policy: &Policy, binding: &Binding, id: AttributeId) -> bool {
    let Some(declared) = binding.attributes[id.index()] else { return false };
    match binding.declared[declared].role {
        Role::Quasi => true,
        _ => may_reveal(policy, binding, id),
    }
}

/// Records without what is never published: identifying values, keys, what the policy does not name.
pub fn strip(data: &Dataset, binding: &Binding, observer: &dyn Observer) -> Result<Dataset> {
    let stays =
        |id: AttributeId| matches!(binding.role(id), Some(Role::Quasi | Role::Sensitive | Role::Insensitive));
    let mut joined = Joined::new();
    joined.add(data, |_| true, stays, observer)?;
    let joined = joined.finish();
    Totals::of(&joined, |_| true).refuse_other(Totals::of(data, stays))?;
    Ok(joined)
}

/// Everything that is the same for all parts.
#[derive(Clone, Debug)]
pub struct Plan {
    policy: Policy,
    claim: Claim,
    params: Params,
    survey: Survey,
    binding: Binding,
    published: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
    /// The items of all parts, and no record.
    frame: ValueTrees,
}

/// A part under the numbers of all parts.
#[derive(Debug)]
pub struct Part {
    /// The records.
    pub data: Dataset,
    /// The same as trees of quasi values.
    pub trees: ValueTrees,
}

/// What a search has found, to be applied to every part.
#[derive(Clone, Debug)]
pub enum Found {
    /// One cut of a hierarchy.
    Km(Box<km::Found>),
    /// Cuts of hierarchies, and relations that are taken apart; with what the search tells about itself.
    Kmn(Box<(kmn::Recipe, Option<Figures>)>),
}

impl Plan {
    /// A plan for records of which a survey is known. `hierarchies` cover all its values, per attribute of the policy.
    pub fn new(policy: &Policy, survey: Survey, hierarchies: Vec<Option<Hierarchy>>) -> Result<Self> {
        let claim = Claim::new(policy)?;
        let params = Params::new(policy)?;
        refuse_unmergeable(policy)?;
        let schema = survey.frame.schema();
        let binding = Binding::of_input(schema, &policy.attributes, Undeclared::Drop, "the records")?;
        let published = binding.without_companions();
        let privacy = policy.need_privacy()?;
        let frame = bosket_engine::trees(privacy, &survey.frame, &published, &bosket_model::observe::Quiet)?;
        Ok(Plan { policy: policy.clone(), claim, params, survey, binding, published, hierarchies, frame })
    }

    /// What values there are.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// The place of all attributes.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The hierarchies.
    pub fn hierarchies(&self) -> &[Option<Hierarchy>] {
        &self.hierarchies
    }

    /// Whether what is found on kernels is what would be found on all records.
    pub fn is_exact(&self) -> bool {
        partition::is_exact(&self.policy, &self.params)
    }

    /// Lays a part, stripped, under the numbers of all parts.
    pub fn part(&self, data: &Dataset, observer: &dyn Observer) -> Result<Part> {
        let aligned = self.survey.align(data, |_| true, observer)?;
        Totals::of(&aligned, |_| true).refuse_other(Totals::of(data, |_| true))?;
        let data = aligned;
        if data.schema().attributes().len() != self.binding.attributes.len() {
            return Err(Failure::defect("a part has attributes that the survey did not see"));
        }
        let privacy = self.policy.need_privacy()?;
        let trees = bosket_engine::trees(privacy, &data, &self.published, observer)?;
        if trees.items() != self.frame.items() {
            return Err(Failure::defect("a part has values that the survey did not see"));
        }
        Ok(Part { data, trees })
    }

    /// The sums of a part.
    pub fn frequencies(&self, part: &Part, observer: &dyn Observer) -> Result<Frequencies> {
        Frequencies::count(&part.trees, &self.hierarchies, &self.params, observer)
    }

    /// What chooses records for kernels, at a cut, for sets of at most `size` labels.
    pub fn filter(&self, labels: &[u32], size: usize, memory: usize) -> Result<Filter> {
        Ok(Filter::new(partition::range(&self.policy, &self.params, size)?, labels, memory))
    }

    /// A kernel without records.
    pub fn no_kernel(&self) -> Kernel {
        match self.params {
            Params::Km(_) => Kernel::of_sets(),
            _ => Kernel::of_records(&self.survey.frame),
        }
    }

    /// Adds the records of a part that belong to a kernel.
    pub fn take(
        &self,
        kernel: &mut Kernel,
        filter: &mut Filter,
        (number, part): (u32, &Part),
        observer: &dyn Observer,
    ) -> Result<()> {
        if matches!(self.params, Params::Km(_)) {
            return partition::take(kernel, filter, (number, &part.trees), None, observer);
        }
        let quasi = self.quasi(&part.data, |_| true, observer)?;
        partition::take(kernel, filter, (number, &part.trees), Some(&quasi), observer)
    }

    /// Whether records are sets of items, which kernels can be made of alone.
    pub fn has_sets(&self) -> bool {
        matches!(self.params, Params::Km(_))
    }

    /// Some records with their quasi values alone.
    fn quasi(
        &self,
        data: &Dataset,
        keep: impl Fn(usize) -> bool,
        observer: &dyn Observer,
    ) -> Result<Dataset> {
        let mut joined = Joined::over(&self.survey.frame);
        joined.add(data, keep, |id| self.binding.role(id) == Some(Role::Quasi), observer)?;
        Ok(joined.finish())
    }

    /// Adds some records of a part to a kernel of trees, whatever it has.
    pub fn add_records(
        &self,
        kernel: Kernel,
        (number, part): (u32, &Part),
        places: &[u32],
        observer: &dyn Observer,
    ) -> Result<Kernel> {
        let mut own = self.no_kernel();
        let taken: Vec<bool> =
            (0..part.data.len() as u32).map(|place| places.binary_search(&place).is_ok()).collect();
        own.push_taken(number, &self.quasi(&part.data, |_| true, observer)?, &taken, observer)?;
        kernel.merge(own, observer)
    }

    /// The kernel of a part alone.
    pub fn kernel(
        &self,
        (number, part): (u32, &Part),
        labels: &[u32],
        size: usize,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Kernel> {
        let mut kernel = self.no_kernel();
        let mut filter = self.filter(labels, size, memory)?;
        self.take(&mut kernel, &mut filter, (number, part), observer)?;
        Ok(kernel)
    }

    /// Searches; what has to be known of all records is asked for by `passes`. Relations of trees are taken apart only if they
    /// may be.
    pub fn search(
        &self,
        all: &Arc<Frequencies>,
        may_part: bool,
        passes: &mut dyn Passes,
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Found> {
        match &self.params {
            Params::Km(params) => {
                let params = km::Params { memory, ..params.clone() };
                let found = km::search_parts(&self.frame, &self.hierarchies, &params, all, passes, observer)?;
                Ok(Found::Km(Box::new(found)))
            }
            Params::Kmn(params) => {
                let labels = partition::finest(&self.frame, &self.hierarchies);
                let kernel = passes.kernel(&labels, params.m)?;
                observer.decided(&format!("a kernel of {}", plural(kernel.len(), "record")));
                let data = kernel.records().ok_or_else(damaged)?;
                let work = Work {
                    policy: &self.policy,
                    claim: &self.claim,
                    data,
                    binding: &self.binding,
                    published: &self.published,
                    hierarchies: &self.hierarchies,
                    memory,
                    told: &[],
                    kernel: Some(KernelOf { all, may_part }),
                };
                let made = make(&work, observer)?;
                Ok(Found::Kmn(Box::new((made.recipe, Some(made.figures)))))
            }
            _ => Err(Failure::defect("kernels are for sets and trees")),
        }
    }

    /// The published records of a part, in its order, and what they lose.
    pub fn recode(
        &self,
        part: &Part,
        found: &Found,
        observer: &dyn Observer,
    ) -> Result<(Dataset, kmn::Tally)> {
        match (&self.params, found) {
            (Params::Km(params), Found::Km(found)) => {
                let trees = km::recode(&part.trees, &self.hierarchies, params, found, observer)?;
                Ok((trees.write_back(&self.binding), kmn::Tally::default()))
            }
            (Params::Kmn(params), Found::Kmn(found)) => {
                let recipe = &found.0;
                if self.policy.rows() == Rows::United {
                    let (trees, tally) =
                        kmn::recode(&part.trees, &self.hierarchies, params, recipe, observer)?;
                    return Ok((trees.write_back(&self.binding), tally));
                }
                let payload = self.policy.need_privacy()?.payload;
                let (data, binding) = (&part.data, &self.published);
                let source = kmn::Source { data, binding, payload, rows: self.policy.rows() };
                kmn::recode_rows(&source, &part.trees, &self.hierarchies, params, recipe, observer)
            }
            _ => Err(damaged()),
        }
    }

    /// The plan as bytes, to be read with the same policy; it holds all quasi values of the records.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = Writer::new(*b"BkPl", 1);
        out.bytes(&self.survey.to_bytes());
        out.length(self.hierarchies.len());
        for hierarchy in &self.hierarchies {
            let form = |h: &Hierarchy| travelling(&self.policy, h);
            out.bytes(&hierarchy.as_ref().map(form).transpose()?.unwrap_or_default());
        }
        Ok(out.finish())
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written, for the same policy.
    pub fn from_bytes(policy: &Policy, bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, *b"BkPl", 1)?;
        let survey = Survey::from_bytes(from.bytes()?)?;
        let length = from.length()?;
        let mut hierarchies = Vec::with_capacity(length);
        for _ in 0..length {
            let bytes = from.bytes()?;
            hierarchies.push(if bytes.is_empty() { None } else { Some(Hierarchy::from_bytes(bytes)?) });
        }
        from.end()?;
        if hierarchies.len() != policy.attributes.len() {
            return Err(damaged());
        }
        Self::new(policy, survey, hierarchies)
    }
}

/// Refuses a policy that asks for a promise together with earlier releases: these are laid over each other as a whole.
pub(crate) fn refuse_earlier(policy: &Policy) -> Result<()> {
    if policy.release.as_ref().is_none_or(|terms| terms.earlier.is_empty()) {
        return Ok(());
    }
    let what = "records in parts cannot be looked at together with earlier releases (`release.earlier`)";
    let what = Diagnostic::error(what).at(Place::source(&policy.name));
    Err(Failure::new(Fault::Policy, what.help("publish all records at once, with more memory")))
}

/// Refuses a policy that bounds what labels tell, unless one cut does that for all: it is counted cell by cell with the input.
pub(crate) fn refuse_guess(policy: &Policy) -> Result<()> {
    if policy.guess().is_none() || policy.recodes_by_one_cut() {
        return Ok(());
    }
    let what =
        "what labels tell (`privacy.guess`) is counted with all records at hand, not with records in parts";
    let what = Diagnostic::error(what).at(Place::source(&policy.name));
    let help = "publish all records at once, with more memory; ask for one cut for all; or take `guess` out of [privacy]";
    Err(Failure::new(Fault::Policy, what.help(help)))
}

/// Refuses, without any data, what cannot be made or verified from parts.
pub fn refuse_unmergeable(policy: &Policy) -> Result<()> {
    refuse_earlier(policy)?;
    let params = Params::new(policy)?;
    partition::refuse_unmergeable(policy, &params)?;
    bosket_verify::partition::refuse_unmergeable(&Claim::new(policy)?)?;
    refuse_taken_from_records(policy)
}

/// Refuses hierarchies that are taken from all records at once.
pub(crate) fn refuse_taken_from_records(policy: &Policy) -> Result<()> {
    let from = |spec: &HierarchySpec| matches!(spec, HierarchySpec::Build(Build::From { .. }));
    let problems: Vec<Diagnostic> = (policy.attributes.iter())
        .filter(|a| a.hierarchy.as_ref().is_some_and(from))
        .map(|a| {
            let what = format!("the hierarchy of `{}` is taken from all records at once", a.path);
            Diagnostic::error(what).at(a.place.clone()).help("write it as a file (`bosket hierarchy build`)")
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, problems)) }
}

/// The hierarchies of a policy over the values of all parts, and warnings.
pub fn hierarchies(
    file: &PolicyFile,
    survey: &Survey,
    name: &str,
    show_values: bool,
) -> Result<(Vec<Option<Hierarchy>>, Vec<Diagnostic>)> {
    let attributes = &file.policy.attributes;
    let binding = Binding::of_input(survey.frame.schema(), attributes, Undeclared::Drop, name)?;
    let needs = bosket_io::hierarchies::HierarchyNeeds { required: true, show_values };
    bosket_io::hierarchies::load(file, &survey.frame, &binding, name, needs)
}

impl Found {
    /// What the search tells about itself; `tally` is what all parts lose, `records` how many there are.
    pub fn figures(&self, algorithm: &str, tally: kmn::Tally) -> Option<Figures> {
        match self {
            Found::Km(found) => Some(Figures::Km(KmFigures {
                algorithm: algorithm.to_owned(),
                ncp: found.ncp,
                parts: 1,
                itemsets_repaired: found.repaired,
                items_left_out: found.suppressed.len(),
                occurrences_left_out: found.suppressed_occurrences,
            })),
            Found::Kmn(found) => {
                let mut figures = found.1.clone()?;
                if let Figures::Kmn(own) = &mut figures {
                    own.rpd = tally.rpd();
                }
                Some(figures)
            }
        }
    }

    /// Whether relations are taken apart.
    pub fn takes_apart(&self) -> bool {
        matches!(self, Found::Kmn(found) if found.0.takes_apart())
    }

    /// What goes beside a private mapping.
    pub fn private(&self, records: u64) -> Value {
        match self {
            Found::Km(found) => json!({
                "parts": [{"records": records, "cut": found.part.cut}],
                "left_out": found.suppressed,
            }),
            Found::Kmn(_) => Value::Null,
        }
    }

    /// What was found, as bytes: enough to recode parts.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(*b"BkFo", 1);
        match self {
            Found::Km(found) => {
                out.number(0);
                out.bytes(&found.to_bytes());
            }
            Found::Kmn(found) => {
                out.number(1);
                out.bytes(&found.0.to_bytes());
            }
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, *b"BkFo", 1)?;
        let kind = from.number()?;
        let own = from.bytes()?;
        from.end()?;
        match kind {
            0 => Ok(Found::Km(Box::new(km::Found::from_bytes(own)?))),
            1 => Ok(Found::Kmn(Box::new((kmn::Recipe::from_bytes(own)?, None)))),
            _ => Err(damaged()),
        }
    }
}
