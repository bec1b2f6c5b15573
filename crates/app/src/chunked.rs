//! Input that does not fit into memory: read once, in batches, into a private file of chunks.

use bosket_engine::Params;
use bosket_engine::cluster::cells::refuse_partitions;
use bosket_io::apart::Dissection;
use bosket_io::{BatchSize, Chunks, PolicyFile, SourceForm, Whereabouts};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::masks::Masks;
use bosket_model::partition::Survey;
use bosket_model::policy::{Family, Policy, Undeclared};
use bosket_model::sides::Fates;
use bosket_model::words::plural;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::recount::parts::Totals;
use rayon::prelude::*;

use crate::anonymize::AnonymizeRequest;
use crate::checks::{self, Census};
use crate::key::Key;
use crate::load::{self, Bound};
use crate::partition::{self, is_surveyed, strip};
use crate::run::Run;

/// Private records in chunks, with all that is known of them.
#[derive(Debug)]
pub(crate) struct ChunkedInput {
    pub(crate) chunks: Chunks,
    pub(crate) survey: Survey,
    pub(crate) binding: Binding,
    pub(crate) hierarchies: Vec<Option<Hierarchy>>,
    pub(crate) form: SourceForm,
    pub(crate) size: BatchSize,
}

/// Records of a chunk at most, unless told otherwise.
const RECORDS: usize = 100_000;

/// A text takes about so many times its bytes in memory while a publication of it is made, be it of sets or of others, or
/// while it is verified; a compressed one so many more.
const MAKING_SETS: u64 = 16;
const MAKING: u64 = 8;
const VERIFYING: u64 = 4;
const PACKED: u64 = 8;

/// Memory from which on there is room for kernels and their counters; with less, nothing is done in chunks unless asked for.
const LEAST: usize = 64 << 20;

/// How records are read in batches; none if they are to be read as a whole.
pub(crate) fn wanted(file: &PolicyFile, place: &Whereabouts, run: &Run<'_>) -> Result<Option<BatchSize>> {
    let family = file.policy.privacy.as_ref().map(|privacy| privacy.model.family());
    let growth = if family == Some(Family::Km) { MAKING_SETS } else { MAKING };
    size(file, place, growth, refuse(&file.policy).is_err(), run)
}

/// The same for a publication that is verified.
pub(crate) fn wanted_to_verify(
    file: &PolicyFile,
    place: &Whereabouts,
    run: &Run<'_>,
) -> Result<Option<BatchSize>> {
    size(file, place, VERIFYING, false, run)
}

fn size(
    file: &PolicyFile,
    place: &Whereabouts,
    growth: u64,
    refused: bool,
    run: &Run<'_>,
) -> Result<Option<BatchSize>> {
    let memory = run.settings.memory();
    let bytes = (memory / 128).clamp(1 << 16, 16 << 20);
    if let Some(chunk) = run.settings.chunk {
        if let Some(why) = unchunked(&file.policy) {
            let what = format!("records cannot be worked on in chunks: {why}");
            return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help("leave --chunk out")));
        }
        return Ok(Some(BatchSize { records: chunk.get(), bytes: usize::MAX }));
    }
    let (weight, packed) = place.weight();
    let grown = weight.saturating_mul(growth).saturating_mul(if packed { PACKED } else { 1 });
    let fits = grown <= memory as u64;
    // What cannot be done in parts may fit all the same; reading stops where it does not.
    if fits || memory < LEAST || unchunked(&file.policy).is_some() || place.unbatched().is_some() || refused {
        return Ok(None);
    }
    let what = "the records would not fit into memory: they are worked on in chunks";
    run.observer.decided(what);
    run.warn([Diagnostic::warning(what).help("allow more with --memory to have all of them there at once")]);
    Ok(Some(BatchSize { records: RECORDS, bytes }))
}

/// Why no publication under a policy is worked on in chunks, be it made or verified; none if it is.
fn unchunked(policy: &Policy) -> Option<&'static str> {
    let model = policy.privacy.as_ref().map(|privacy| privacy.model)?;
    match model.family() {
        Family::Km | Family::Kmn => None,
        Family::Cluster if policy.anatomizes() => {
            Some("`anatomize` takes the sides of all records apart at once")
        }
        Family::Cluster if !model.takes_cells() => Some("this model measures classes against all records"),
        Family::Cluster => None,
        Family::Dissect => Some("the sides of people are taken apart another way"),
    }
}

/// Says so where chunks are asked for and people whose sides are taken apart are not read in chunks.
pub(crate) fn warn_of_no_effect(file: &PolicyFile, place: &Whereabouts, run: &Run<'_>) -> Result<()> {
    if run.settings.chunk.is_some()
        && let Some(why) = Dissection::new(file, Fates::new)?.unbatched(place)
    {
        let what = Diagnostic::warning(format!("`--chunk` has no effect: {why}"));
        run.warn([what.help("leave it out")]);
    }
    Ok(())
}

/// Refuses, without any data, clusters that cannot be made cell by cell without all records at hand.
fn refuse_clusters(policy: &Policy) -> Result<()> {
    let Params::Cluster(params) = Params::new(policy)? else {
        return Err(Failure::defect("cells are for clusters"));
    };
    partition::refuse_earlier(policy)?;
    refuse_partitions(&params)?;
    if params.time.is_some() {
        let what =
            "records cannot be worked on in chunks: `time` would end passes over all records in the middle";
        let what = Diagnostic::error(what).at(Place::source(&policy.name));
        let help = "take it out, or allow more memory, so that all records fit";
        return Err(Failure::new(Fault::Policy, what.help(help)));
    }
    partition::refuse_taken_from_records(policy)
}

/// What is left out where records do not fit into memory.
pub(crate) fn refuse_measure(
    request: &AnonymizeRequest,
    file: &PolicyFile,
    place: &Whereabouts,
    run: &Run<'_>,
) -> Result<()> {
    if !request.measure || wanted(file, place, run)?.is_none() {
        return Ok(());
    }
    let what = "`--measure` compares all records at once, which do not fit into memory";
    let help = "leave it out, and measure a sample; or allow more memory";
    Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)))
}

/// Releases are laid over each other person by person, which takes all of them at once.
pub(crate) fn refuse_joint() -> Failure {
    let what = "records cannot be looked at together with earlier releases in chunks";
    let help = "allow more memory, so that all records fit";
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}

/// Refuses, without any data, what cannot be done in chunks.
pub(crate) fn refuse(policy: &Policy) -> Result<()> {
    match policy.need_privacy()?.model.family() {
        Family::Cluster => refuse_clusters(policy)?,
        _ => partition::refuse_unmergeable(policy)?,
    }
    partition::refuse_guess(policy)?;
    let publish = policy.publish.as_ref();
    let mut problems = Vec::new();
    for (asked, what) in [
        (policy.selects(), "`where` and `sample` choose among all records"),
        (publish.is_some_and(|p| p.mapping.is_some()), "`publish.mapping` says which record became which"),
        (publish.is_some_and(|p| p.report.is_some()), "`publish.report` looks at all records at once"),
    ] {
        if asked {
            let what = format!("records cannot be worked on in chunks: {what}");
            let what = Diagnostic::error(what).at(Place::source(&policy.name));
            problems.push(what.help("take it out, or allow more memory, so that all records fit"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, problems)) }
}

/// Reads all records into chunks, and checks what a run would check.
pub(crate) fn prepare(
    file: &PolicyFile,
    place: Whereabouts,
    key: Option<&Key>,
    size: BatchSize,
    run: &Run<'_>,
) -> Result<ChunkedInput> {
    let policy = &file.policy;
    refuse(policy)?;
    let name = place.name();
    let (mut chunks, mut census) = (Chunks::new(), Census::default());
    let form = place.batches(size, run.observer, &mut |opened| {
        run.warn(opened.warnings);
        let own = Census::of(policy, &opened.data, &name, run.observer)?;
        let Bound { data, binding } = load::bind_all(opened.data, policy, &name)?;
        let data = match key {
            Some(key) => Masks::of(policy).apply(&data, &binding, &policy.attributes, key.bytes(), &name)?,
            None => data,
        };
        let data = strip(&data, &binding, run.observer)?;
        let binding = Binding::of_input(data.schema(), &policy.attributes, Undeclared::Drop, &name)?;
        let wanted = |id| is_surveyed(policy, &binding, id);
        let survey = Survey::of(&data, wanted, run.observer)?;
        Totals::of(&data, wanted).refuse_survey(&survey)?;
        census = std::mem::take(&mut census).merge(&own.with(survey));
        chunks.push(&data)
    })?;
    run.observer.decided(&format!(
        "read {name} as {} in {}: {}",
        form.name(),
        plural(chunks.len(), "chunk"),
        plural(chunks.records(), "record")
    ));
    checks::refuse_undeclared(policy, &census, &name, run.settings.show_values)?;
    run.warn(checks::warnings(policy, &census, &name)?);
    let (hierarchies, warnings) =
        partition::hierarchies(file, &census.survey, &name, run.settings.show_values)?;
    run.warn(warnings);
    checks::refuse(policy, &census, &name)?;
    let survey = census.survey;
    let binding = Binding::of_input(survey.frame.schema(), &policy.attributes, Undeclared::Drop, &name)?;
    Ok(ChunkedInput { chunks, survey, binding, hierarchies, form, size })
}

/// Goes through chunks: some at a time are prepared side by side, then taken in their order.
pub(crate) fn each<T: Send>(
    chunks: &mut Chunks,
    stage: &str,
    run: &Run<'_>,
    prepare: impl Fn(Dataset) -> Result<T> + Sync,
    take: impl FnMut(u32, T) -> Result<()>,
) -> Result<()> {
    run.observer.stage(stage, chunks.len() as u64);
    each_bytes(chunks, run, |bytes| prepare(Dataset::from_bytes(bytes)?), take)
}

/// The same within a stage that has begun, where chunks are in a form of somebody's own.
pub(crate) fn each_bytes<T: Send>(
    chunks: &mut Chunks,
    run: &Run<'_>,
    prepare: impl Fn(&[u8]) -> Result<T> + Sync,
    mut take: impl FnMut(u32, T) -> Result<()>,
) -> Result<()> {
    let side_by_side = rayon::current_num_threads().clamp(1, 4);
    for from in (0..chunks.len()).step_by(side_by_side) {
        run.observer.go_on()?;
        let to = chunks.len().min(from + side_by_side);
        let texts: Vec<Vec<u8>> = (from..to).map(|chunk| chunks.bytes(chunk)).collect::<Result<_>>()?;
        let prepared: Vec<Result<T>> = texts.into_par_iter().map(|bytes| prepare(&bytes)).collect();
        for (chunk, prepared) in (from..to).zip(prepared) {
            take(chunk as u32, prepared?)?;
            run.observer.advance(1);
        }
    }
    Ok(())
}
