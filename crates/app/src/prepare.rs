//! Everything that a run checks before it searches. `bosket anonymize --dry-run` is this and nothing more: what the run
//! would refuse is refused here, and what needs no data is refused before any is read.

use std::path::{Path, PathBuf};

use bosket_engine::{self as engine, dissect};
use bosket_io::apart::{Dissection, People};
use bosket_io::{Create, Output, PolicyFile, SourceForm, Whereabouts, publication};
use bosket_measure::kept::Before;
use bosket_model::binding::effective_role;
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::masks::Masks;
use bosket_model::observe::{Observer, Quiet};
use bosket_model::partition::Survey;
use bosket_model::policy::{Algorithm, Model, Policy, Role};
use bosket_model::sides::Fates;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::Claim;
use serde_json::{Map, Value, json};

use crate::anonymize::AnonymizeRequest;
use crate::checks::{self, Census};
use crate::chunked::{self, ChunkedInput};
use crate::joint::{self, Earlier};
use crate::key::{self, Key};
use crate::load::{self, Bound};
use crate::negative;
use crate::places;
use crate::run::{Run, run};
use crate::warned::Warned;
use bosket_model::words::plural;

/// Everything a run needs, checked.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) file: PolicyFile,
    /// Where the policy lies.
    pub(crate) policy: PathBuf,
    /// What messages call the source.
    pub(crate) source: String,
    /// The files that hold the input.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) target: PathBuf,
    /// What is promised; nothing for a dissection without a guarantee.
    pub(crate) claim: Option<Claim>,
    /// Releases about the same people that are out already.
    pub(crate) earlier: Vec<Earlier>,
    pub(crate) input: Input,
}

/// The private data as a family takes it.
#[derive(Debug)]
pub(crate) enum Input {
    /// Records in memory, with the hierarchies that cover them.
    Records { bound: Box<Bound>, form: SourceForm, hierarchies: Vec<Option<Hierarchy>> },
    /// Records that do not fit into memory.
    Chunks(Box<ChunkedInput>),
    /// People whose sides are going to be taken apart, with the hierarchies of their sensitive values.
    People { people: Box<People>, hierarchies: Vec<Option<Hierarchy>> },
    /// A document that is taken apart while it is read.
    Stream,
}

/// Checks policy and data as a run would, and says what it would do.
pub fn prepare(request: &AnonymizeRequest, observer: &dyn Observer) -> Result<Warned<Prepared>> {
    run(&request.settings, observer, |run| {
        let mut prepared = prepared(request, run)?;
        if let Input::Stream = prepared.input {
            // Nobody knows whether it can be read before it is.
            prepared.input = people(&prepared.file, run)?;
        }
        // A run finds the rest out by itself when its search begins.
        let policy = &prepared.file.policy;
        let params = engine::Params::new(policy)?;
        match (&prepared.input, &params) {
            (Input::Records { bound, hierarchies, .. }, params) => {
                let binding = &bound.binding.without_companions();
                let input = engine::Input { data: &bound.data, binding, hierarchies };
                engine::refuse_unfit(policy, params, input, run.observer)?;
                run.warn(engine::foreseen(params, input)?);
            }
            (Input::People { people, hierarchies }, engine::Params::Dissect(params)) => {
                let show_values = run.settings.show_values;
                let params = dissect::Params { show_values, ..params.clone() };
                let sensitive = sensitive(people, hierarchies);
                dissect::refuse_unfit(people.spool.len(), &sensitive, &params, run.observer)?;
            }
            _ => {}
        }
        Ok(prepared)
    })
}

/// Checks what a policy asks for, as far as no data is needed. A policy may leave out what other commands do not need.
pub fn check_policy(file: &PolicyFile) -> Result<()> {
    let policy = &file.policy;
    if policy.privacy.is_none() {
        return Ok(());
    }
    let open = policy.refuse_undecided();
    if !open.is_empty() {
        return Err(Failure::all(Fault::Policy, open));
    }
    engine::check(policy)?;
    claim_of(policy)?;
    if let Some(source) = policy.source.as_ref().filter(|_| policy.has_two_sides()) {
        if !source.person.is_empty() {
            let what = "documents that are gathered by person cannot be published in two sides";
            let what = Diagnostic::error(what).at(Place::source(&policy.name).path("source.person"));
            let help = "make one document per person first (`bosket convert POLICY OUT`), or choose a model of one side";
            return Err(Failure::new(Fault::Policy, what.help(help)));
        }
        Dissection::new(file, Fates::new)?;
    }
    Ok(())
}

/// What a policy promises; nothing for a dissection without a guarantee.
pub(crate) fn claim_of(policy: &Policy) -> Result<Option<Claim>> {
    let promises = policy.need_privacy()?.model.has_guarantee();
    promises.then(|| Claim::new(policy)).transpose()
}

/// The same for a run, which reads and writes.
pub(crate) fn prepared(request: &AnonymizeRequest, run: &Run<'_>) -> Result<Prepared> {
    let file = request.policy.load(run)?;
    let policy = &file.policy;
    let privacy = policy.need_privacy()?;
    let place = Whereabouts::input(&file)?;
    policy.need_publish()?;
    check_policy(&file)?;
    // Nothing is made that could not be verified afterwards.
    let claim = claim_of(policy)?;
    let target = publication::target(&file)?;
    let (source, paths) = (place.name(), place.paths());
    let earlier = joint::all(&file, &request.with);
    joint::check(&file, claim.as_ref(), &earlier)?;
    let read = paths.iter().cloned().chain(request.key.clone());
    let read = read.chain(earlier.iter().flat_map(Earlier::paths)).collect();
    places::check(&file, &request.policy.path, read, &target)?;
    let key = key::read(policy, request.key.as_deref())?;
    check_report(request, &file, &target, run)?;
    let input = if privacy.model.is_apart() {
        if request.measure {
            let what = "`--measure` has nothing to measure: dissection publishes every value as it is";
            run.warn([Diagnostic::warning(what).at(Place::source(&policy.name))]);
        }
        chunked::warn_of_no_effect(&file, &place, run)?;
        if is_stream(&file)? { stream(&file)? } else { people(&file, run)? }
    } else {
        chunked::refuse_measure(request, &file, &place, run)?;
        records(&file, place, claim.as_ref(), key.as_ref(), run)?
    };
    if let (Input::Chunks(_), false) = (&input, earlier.is_empty()) {
        return Err(chunked::refuse_joint());
    }
    run.warn(joint::unnamed(&file, &paths, &target, &earlier, run)?);
    Ok(Prepared { policy: request.policy.path.clone(), source, paths, target, claim, earlier, input, file })
}

/// Whether the source is taken apart while it is read.
fn is_stream(file: &PolicyFile) -> Result<bool> {
    Ok(!file.policy.need_privacy()?.model.has_guarantee() && Dissection::new(file, Fates::new)?.is_stream())
}

fn stream(file: &PolicyFile) -> Result<Input> {
    let policy = &file.policy;
    if policy.need_publish()?.mapping.is_none() {
        return Ok(Input::Stream);
    }
    let what = "a document that is separated while it is read leaves no mapping";
    let what = Diagnostic::error(what).at(Place::source(&policy.name).path("publish.mapping"));
    Err(Failure::new(Fault::Policy, what.help("leave it out, or ask for `anatomy` or `delta`")))
}

/// Reads people whose sides are going to be taken apart.
pub(crate) fn people(file: &PolicyFile, run: &Run<'_>) -> Result<Input> {
    let (place, again) = (Whereabouts::input(file)?, checks::place_of_people(file)?);
    let name = place.name();
    let people = Dissection::new(file, Fates::new)?.read(place, run.observer)?;
    run.warn(people.warnings.iter().cloned());
    run.observer.decided(&format!("read {name}: {}", plural(people.spool.len(), "record")));
    checks::of_people(file, again, run)?;
    let (spool, show_values) = (&people.spool, run.settings.show_values);
    let (hierarchies, notes) =
        bosket_io::hierarchies::of_sensitive(file, &spool.sensitive, &name, show_values)?;
    run.warn(notes);
    Ok(Input::People { people: Box::new(people), hierarchies })
}

/// The sensitive values of people, as they are grouped by.
pub(crate) fn sensitive<'a>(
    people: &'a People,
    hierarchies: &'a [Option<Hierarchy>],
) -> Vec<dissect::Sensitive<'a>> {
    let of = |values: &'a SensitiveValues| dissect::Sensitive {
        values,
        hierarchy: hierarchies[values.declared].as_ref(),
    };
    people.spool.sensitive.iter().map(of).collect()
}

fn records(
    file: &PolicyFile,
    place: Whereabouts,
    claim: Option<&Claim>,
    key: Option<&Key>,
    run: &Run<'_>,
) -> Result<Input> {
    let policy = &file.policy;
    let name = place.name();
    if let Some(size) = chunked::wanted(file, &place, run)? {
        let chunked = chunked::prepare(file, place, key, size, run)?;
        return Ok(Input::Chunks(Box::new(chunked)));
    }
    let opened = load::records(place, run)?;
    let data = load::select(opened.data, policy, &name, run)?;
    let census = Census::of(policy, &data, &name, run.observer)?;
    let Bound { data, binding } = load::bind_input(data, policy, &name, run)?;
    // From here on, masked values are all that anybody sees.
    let data = match key {
        Some(key) => Masks::of(policy).apply(&data, &binding, &policy.attributes, key.bytes(), &name)?,
        None => data,
    };
    let bound = Bound { data, binding };
    let reveals = |id| checks::may_reveal(policy, &bound.binding, id);
    let census = census.with(Survey::of(&bound.data, reveals, run.observer)?);
    run.warn(checks::warnings(policy, &census, &name)?);
    let bound = Box::new(bound);
    let hierarchies = load::hierarchies(file, &bound, &name, true, run)?;
    checks::refuse(policy, &census, &name)?;
    if let Some(claim) = claim {
        // What could not be verified without the data afterwards is not begun.
        negative::hierarchies(claim, file, &bound.data, &bound.binding)?;
    }
    Ok(Input::Records { bound, form: opened.form, hierarchies })
}

/// Refuses a report that could not be written after the work, before it.
fn check_report(request: &AnonymizeRequest, file: &PolicyFile, target: &Path, run: &Run<'_>) -> Result<()> {
    let Some(named) = file.policy.publish.as_ref().and_then(|p| p.report.as_deref()) else {
        return Ok(());
    };
    let source = file.policy.source.as_ref().and_then(|s| s.path.as_deref());
    let stream = Path::new("-");
    if target == stream || source == Some("-") || request.policy.path == stream || named == "-" {
        let what = "`publish.report` needs files that can be read again: neither policy, source, publication nor report can be `-`";
        let help = "name files, or take `report` out and run `bosket report` later";
        return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)));
    }
    let place = file.resolve(named);
    if place.parent().is_some_and(Path::is_dir) {
        // Creating and dropping it says what is wrong and leaves no trace.
        Output::create(&place, run.settings.create(request.force, false))?;
    }
    Ok(())
}

/// Refuses a place that is taken.
pub(crate) fn refuse_taken(place: &Path, create: Create) -> Result<()> {
    // Creating and dropping it says what is wrong and leaves no trace. Tables go into a folder, file by file.
    if place == Path::new("-") || place.is_dir() || place.extension().is_none() {
        return Ok(());
    }
    Output::create(place, create).map(|_| ())
}

impl Prepared {
    /// What messages call the source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Where the publication goes.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.file.policy
    }

    /// The policy, without the data that it was checked with.
    pub fn into_policy(self) -> PolicyFile {
        self.file
    }

    /// What is promised.
    pub fn claim(&self) -> Option<&Claim> {
        self.claim.as_ref()
    }

    /// The private records; none where people are taken apart while they are read.
    pub fn data(&self) -> Option<&Dataset> {
        match &self.input {
            Input::Records { bound, .. } => Some(&bound.data),
            Input::Chunks(_) | Input::People { .. } | Input::Stream => None,
        }
    }

    /// How many people there are; unknown of a stream.
    pub fn records(&self) -> usize {
        match &self.input {
            Input::Records { bound, .. } => bound.data.len(),
            Input::Chunks(chunked) => chunked.chunks.records(),
            Input::People { people, .. } => people.spool.len(),
            Input::Stream => 0,
        }
    }

    /// The rows and values that may be published; none where people are taken apart while they are read.
    pub fn before(&self) -> Result<Option<Before>> {
        match &self.input {
            Input::Records { bound, .. } => Before::new(bound.side(), &Quiet).map(Some),
            Input::Chunks(_) | Input::People { .. } | Input::Stream => Ok(None),
        }
    }

    /// How many attributes of each role there are.
    pub fn roles(&self) -> Vec<(Role, usize)> {
        let number = |role: Role| match &self.input {
            Input::Records { bound, .. } => bound.binding.declared.iter().filter(|d| d.role == role).count(),
            Input::Chunks(chunked) => chunked.binding.declared.iter().filter(|d| d.role == role).count(),
            _ => {
                let all = &self.file.policy.attributes;
                all.iter().filter(|a| effective_role(all, a) == role).count()
            }
        };
        Role::ALL.iter().map(|&role| (role, number(role))).collect()
    }

    /// The hierarchies that cover the values.
    pub fn hierarchies(&self) -> impl Iterator<Item = &Hierarchy> {
        let all: &[Option<Hierarchy>] = match &self.input {
            Input::Records { hierarchies, .. } | Input::People { hierarchies, .. } => hierarchies,
            Input::Chunks(chunked) => &chunked.hierarchies,
            Input::Stream => &[],
        };
        all.iter().flatten()
    }

    /// The names of the algorithms that could do it.
    pub fn algorithms(&self) -> Vec<&'static str> {
        let model = self.file.policy.privacy.as_ref().map(|p| p.model);
        model.map_or(Vec::new(), |m| m.algorithms().into_iter().map(Algorithm::name).collect())
    }

    /// What a run would do, for programs.
    pub fn to_json(&self) -> Value {
        let policy = &self.file.policy;
        let model = policy.privacy.as_ref().map(|p| p.model);
        let roles = self.roles().into_iter().map(|(role, n)| (role.name().to_owned(), json!(n)));
        json!({
            "dry_run": true,
            "records": self.records(),
            "attributes": roles.collect::<Map<_, _>>(),
            "before": self.before().ok().flatten().map(|before| before.to_json()),
            "hierarchies": self.hierarchies().count(),
            "model": model.map(Model::name),
            "algorithm": policy.method.algorithm,
            "algorithms_registered": self.algorithms(),
            "publish": self.target.display().to_string(),
            "exists": self.target.exists(),
        })
    }
}
