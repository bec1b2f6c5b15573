//! The one pipeline: prepare, make, write, read again, verify, pair, measure, certify, publish, report.
//!
//! The order is the same for all families, and so is what may be handed out: nothing is put in its place before it was
//! read again from its bytes and found to hold. A `Draft` is what differs: `records`, `anatomized`, `dissected`,
//! and for records that do not fit into memory `chunked` and `celled`.

mod anatomized;
mod beyond;
mod celled;
mod chunked;
mod dissected;
mod guess;
mod records;
mod release;
mod set_chunks;
pub(crate) mod surveyed;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bosket_io::{Certify, Output, publication};
use bosket_measure::kept::Kept;
use bosket_measure::loss::Loss;
use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Family, Policy, Role};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Result};
use bosket_report::advice::Advice;
use bosket_report::study::Study;
use bosket_verify::Verification;
use bosket_verify::guess::{Guessed, Told, checked, sentence};
use serde_json::Value;

use crate::certificate::{Begun, Certified};
use crate::figures::Figures;
use crate::joint::{self, Earlier, Jointly};
use crate::load::PolicyAt;
use crate::prepare::{Input, Prepared, prepared};
use crate::private::Private;
use crate::report;
use crate::run::{Run, Settings, run};
use crate::warned::Warned;

pub use bosket_measure::attack::Beyond;
pub(crate) use chunked::{ReadBatches, verified};
pub use release::{AttributeValues, Release};

/// What a run is asked for.
#[derive(Clone, Debug, Default)]
pub struct AnonymizeRequest {
    /// The policy.
    pub policy: PolicyAt,
    /// Replace files that exist.
    pub force: bool,
    /// The private key that shifts dates and makes pseudonyms.
    pub key: Option<PathBuf>,
    /// Also measure what was lost for mining.
    pub measure: bool,
    /// Earlier releases about the same people, besides those that the policy names.
    pub with: Vec<Earlier>,
    /// What every call can be told.
    pub settings: Settings,
}

/// A publication on its way, whatever its family. Dropping it leaves no trace.
trait Draft {
    /// Runs the algorithm and writes what it makes to where nobody looks yet.
    fn make(&mut self, run: &Run<'_>) -> Result<()>;

    /// Reads what was written as a stranger would, and judges it; none where nothing is claimed.
    fn verify(&mut self, run: &Run<'_>) -> Result<Option<Verification>>;

    /// Finds out which record was published as which; refuses what cannot be read as it was written.
    fn pair(&mut self) -> Result<()>;

    /// Counts with the input what the labels of what was read tell of the values that they hide.
    /// Makes it once more, so that these labels tell less; false where that cannot be asked for.
    fn make_untold(&mut self, _told: &[Told], _run: &Run<'_>) -> Result<bool> {
        Ok(false)
    }

    fn guessed(&self, _guess: f64, _run: &Run<'_>) -> Result<Guessed> {
        Err(Failure::defect("what labels tell was to be counted where the records are not in memory"))
    }

    /// Has what was read looked at together with earlier releases; none where there is none.
    fn joint(&mut self, _run: &Run<'_>) -> Result<Option<Jointly>> {
        Ok(None)
    }

    /// What one value more than promised would tell; none where that is little, or nobody looks.
    fn beyond(&self, _run: &Run<'_>) -> Result<Option<Beyond>> {
        Ok(None)
    }

    /// What was lost.
    fn loss(&self, run: &Run<'_>) -> Result<Option<Loss>>;

    /// How many rows and values are published of how many.
    fn kept(&self, run: &Run<'_>) -> Result<Kept>;

    /// The mapping as a file, and what goes beside it; none where there is none.
    fn private(&self) -> Option<(String, Value)>;

    /// What is to be said about it.
    fn account(&self) -> Result<Account>;

    /// Files that are published with it.
    fn companions(&mut self) -> Result<Vec<Output>>;

    /// Puts everything in its place.
    fn publish(&mut self, others: Vec<Output>, certify: Certify<'_>, run: &Run<'_>) -> Result<()>;

    /// What to do where little is left, looked for in about the time that the run took; none where enough is.
    fn advice(&self, kept: &Kept, took: Duration, run: &Run<'_>) -> Result<Option<Advice>>;

    /// What the report says, from what is in memory.
    fn study(
        &mut self,
        verification: Option<Verification>,
        loss: Option<Loss>,
        run: &Run<'_>,
    ) -> Result<Study>;
}

/// What is to be said about a publication.
struct Account {
    records: usize,
    figures: Figures,
    attributes: Vec<AttributeValues>,
    /// The search was not done.
    cut_short: bool,
    /// What a reader of the claim should know about its limits.
    caveats: Vec<Diagnostic>,
    /// What published groups stand for; null where nothing is grouped.
    legend: Value,
}

/// Makes a publication that keeps what the policy promises, or nothing.
pub fn anonymize(request: &AnonymizeRequest, observer: &dyn Observer) -> Result<Warned<Release>> {
    run(&request.settings, observer, |run| {
        let prepared = prepared(request, run)?;
        publish(request, prepared, run)
    })
}

fn publish(request: &AnonymizeRequest, mut prepared: Prepared, run: &Run<'_>) -> Result<Release> {
    let create = run.settings.create(request.force, false);
    let model = prepared.file.policy.need_privacy()?.model;
    let selected = prepared.file.policy.selects().then(|| prepared.records());
    // Borrowed apart from the rest, which everybody looks at.
    let input = std::mem::replace(&mut prepared.input, Input::Stream);
    let prepared = &prepared;
    let mut draft: Box<dyn Draft + '_> = if model.is_apart() {
        Box::new(dissected::Dissected::begin(prepared, input, create.clone())?)
    } else if prepared.file.policy.anatomizes() {
        Box::new(anatomized::Anatomized::begin(prepared, input, create.clone())?)
    } else if let Input::Chunks(input) = input {
        match model.family() {
            Family::Cluster => Box::new(celled::Celled::begin(prepared, *input, create.clone())?),
            _ => Box::new(chunked::Chunked::begin(prepared, *input, create.clone())?),
        }
    } else {
        Box::new(records::Records::begin(prepared, input, create.clone(), run)?)
    };
    let file = &prepared.file;
    let guess =
        file.policy.guess().map(|share| format!("{}; checked {}", sentence(share), checked(&file.policy)));
    let certificate = Begun::new(prepared, create, run)?;
    let private = Private::create(file, run.settings.create(request.force, true), prepared.paths.clone())?;

    let started = Instant::now();
    draft.make(run)?;
    let verification = verified_draft(draft.as_mut(), run)?;
    let verification = untold(&prepared.file.policy, draft.as_mut(), verification, run)?;
    let joint = draft.joint(run)?;
    let earlier = joint::fingerprints(&prepared.earlier, run)?;
    let took = started.elapsed();
    let loss = if request.measure { draft.loss(run)? } else { None };
    let kept = match &loss {
        Some(loss) => loss.kept.clone(),
        None => draft.kept(run)?,
    };
    let mut others = draft.companions()?;
    if let Some(private) = private
        && let Some((mapping, beside)) = draft.private()
    {
        others.extend(private.write(&mapping, beside, run.observer)?);
    }
    let Account { records, figures, attributes, cut_short, caveats, legend } = draft.account()?;
    let mut written = None;
    let place = certificate.place();
    let certified = Certified {
        claim: prepared.claim.as_ref(),
        caveats: caveats.clone(),
        records: records as u64,
        figures: &figures,
        cut_short,
        measured: loss.as_ref().map(measured),
        kept: kept.public(&file.policy).to_json(),
        selected: selected.map(|people| people as u64),
        legend,
        joint: earlier,
        written: &mut written,
    };
    // What takes long is done before anything is in its place.
    // What it would try is not looked at together with other releases.
    let advice = if joint.is_some() { None } else { draft.advice(&kept, took, run)? };
    let reports = file.policy.publish.as_ref().is_some_and(|p| p.report.is_some());
    let mut study = if reports { Some(draft.study(verification.clone(), loss.clone(), run)?) } else { None };
    if let Some(study) = &mut study {
        study.advice = advice.as_ref().map(Advice::without_labels);
    }
    if let Some(study) = study.as_mut().filter(|_| cut_short) {
        study.remarks.push(("Search".to_owned(), CUT_SHORT.to_owned()));
    }
    let beyond = draft.beyond(run)?;
    run.observer.go_on()?;
    draft.publish(others, certificate.certify(file, certified), run)?;
    let report = match &study {
        None => None,
        Some(study) => {
            let place = report::with_publication(prepared, study, &caveats, written, request.force, run);
            Some(place.map_err(late)?)
        }
    };
    Ok(Release {
        target: prepared.target.clone(),
        name: publication::name(&prepared.file, &prepared.target),
        records,
        selected,
        verification,
        figures,
        attributes,
        cut_short,
        kept,
        loss,
        advice,
        beyond,
        joint,
        guess,
        certificate: place,
        report,
    })
}

/// What is said in public about a search that was not done.
const CUT_SHORT: &str = "cut short before it was done: with more time less would have been lost";

/// A loss for the certificate, which tells what is kept by itself.
fn measured(loss: &Loss) -> Value {
    let mut all = loss.to_json();
    if let Some(all) = all.as_object_mut() {
        all.retain(|key, _| key != "kept");
    }
    all
}

/// Verifies what was made, and pairs its records with those of the input.
fn verified_draft(draft: &mut dyn Draft, run: &Run<'_>) -> Result<Option<Verification>> {
    let verification = draft.verify(run)?;
    if let Some(found) = verification.as_ref().filter(|found| !found.holds()) {
        return Err(broken(found));
    }
    draft.pair()?;
    Ok(verification)
}

/// So often a result is made whose labels tell which values they hide, before it is refused.
const ATTEMPTS: usize = 4;

/// Sees to it that no label tells which values it hides. One cut for all hides everything below a label alike.
fn untold(
    policy: &Policy,
    draft: &mut dyn Draft,
    mut verification: Option<Verification>,
    run: &Run<'_>,
) -> Result<Option<Verification>> {
    let Some(share) = policy.guess().filter(|_| !policy.recodes_by_one_cut()) else {
        return Ok(verification);
    };
    for attempt in 1.. {
        let found = draft.guessed(share, run)?;
        let Some(worst) = found.told.first() else { break };
        if attempt == ATTEMPTS || !draft.make_untold(&found.told, run)? {
            return Err(guess::unreached(&found, worst, run.settings.show_values));
        }
        verification = verified_draft(draft, run)?;
    }
    Ok(verification)
}

/// A result that does not keep the promise: an error of ours, caught before anything is published.
fn broken(found: &Verification) -> Failure {
    let why = match found.witness() {
        Some(witness) => format!(
            "the result does not keep the promise: knowledge of {} values matches {} records",
            witness.values.len(),
            witness.support
        ),
        None => "the result holds what the policy removes or puts elsewhere".to_owned(),
    };
    Failure::defect(why)
}

/// Everything was published before the report failed.
fn late(mut failure: Failure) -> Failure {
    let what = "the publication is complete, but its report could not be written";
    failure.diagnostics.push(Diagnostic::error(what).help("`bosket report` writes it later"));
    failure
}

/// What is written cannot be told from something else once it is read.
fn ambiguous() -> Failure {
    let what = "the result cannot be written so that reading it gives the same records; two paths of the policy share a key";
    let help = "nothing was published; rename one of the keys in the data";
    Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help))
}

/// Refuses a publication of which nobody could verify anything: it has no quasi value at all.
fn refuse_empty(data: &Dataset, binding: &Binding) -> Result<()> {
    let quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi) && !data.dictionary(id).is_empty();
    if data.schema().attributes().any(|(id, _)| quasi(id)) {
        return Ok(());
    }
    let what = "no quasi value at all could be published: nothing would be left to verify";
    let help = "ask for a smaller k, m or l, give hierarchies more levels, or check the roles";
    Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help)))
}

/// A step of the pipeline that came too early: an error of ours.
fn too_early() -> Failure {
    Failure::defect("a step of the run came before the one that it needs")
}

/// Which input record went to which published record or group, by numbers from 1.
fn mapping_csv(pairs: impl IntoIterator<Item = (u32, u32)>) -> String {
    let mut pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
    pairs.sort_unstable();
    let lines = pairs.iter().map(|(input, published)| format!("{input},{published}\n"));
    std::iter::once("input_record,published_record\n".to_owned()).chain(lines).collect()
}
