//! Publications of records that do not fit into memory: searched on kernels, recoded chunk by chunk, sorted by content in a
//! private file, verified from their bytes in batches.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bosket_engine::kmn::Tally;
use bosket_engine::partition::{Frequencies, Kernel, Passes, Sets, StepCounts, Steps, take_sets};
use bosket_io::{BatchSize, Certify, Chunks, Create, Output, Publication, SourceForm};
use bosket_measure::kept::Kept;
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::binding::Binding;
use bosket_model::partition::Survey;
use bosket_model::policy::{Policy, Role};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, Result};
use bosket_report::advice::Advice;
use bosket_report::study::Study;
use bosket_verify::partition::Counter;
use bosket_verify::recount::parts::{Drawn, Tallied};
use bosket_verify::{Claim, Verification, names};
use serde_json::Value;

use super::set_chunks::SetChunks;
use super::surveyed::Again;
use super::{Account, Draft, too_early};
use crate::chunked::{ChunkedInput, each};
use crate::classes;
use crate::make::{invented, placed};
use crate::partition::{Found, Plan};
use crate::prepare::Prepared;
use crate::run::Run;

/// A publication on its way.
pub(super) struct Chunked<'p> {
    prepared: &'p Prepared,
    claim: &'p Claim,
    plan: Plan,
    chunks: Chunks,
    /// The same as sets of items, where that is what they are: most passes need no more.
    sets: SetChunks,
    size: BatchSize,
    publication: Option<Publication>,
    made: Option<Made>,
    again: Option<Again>,
}

/// What was made.
struct Made {
    found: Found,
    /// The published records, chunk by chunk, until they are written.
    published: Chunks,
    survey: Survey,
    tally: Tally,
    kept: Kept,
}

/// How often records that were overlooked may join a kernel.
const ROUNDS: usize = 16;

impl<'p> Chunked<'p> {
    pub(super) fn begin(prepared: &'p Prepared, input: ChunkedInput, create: Create) -> Result<Self> {
        let Some(claim) = &prepared.claim else {
            return Err(Failure::defect("records are published by a claim about records"));
        };
        let ChunkedInput { chunks, survey, hierarchies, form, size, .. } = input;
        let publication = begun(prepared, &form, create)?;
        let plan = Plan::new(&prepared.file.policy, survey, hierarchies)?;
        let publication = Some(publication);
        let sets = SetChunks::default();
        Ok(Chunked { prepared, claim, plan, chunks, sets, size, publication, made: None, again: None })
    }

    fn made(&self) -> Result<&Made> {
        self.made.as_ref().ok_or_else(too_early)
    }

    fn again(&self) -> Result<&Again> {
        self.again.as_ref().ok_or_else(too_early)
    }

    fn frequencies(&mut self, run: &Run<'_>) -> Result<Arc<Frequencies>> {
        let Chunked { plan, chunks, sets, .. } = self;
        let (plan, mut all) = (&*plan, Frequencies::default());
        let count = |data: Dataset| {
            let part = plan.part(&data, run.observer)?;
            let own = plan.has_sets().then(|| Sets::of_trees(&part.trees, run.observer)).transpose()?;
            Ok((plan.frequencies(&part, run.observer)?, own))
        };
        each(chunks, "counting values", run, count, |_, (sums, own)| {
            all = std::mem::take(&mut all).merge(&sums)?;
            own.map_or(Ok(()), |own| sets.push(&own, run))
        })?;
        sets.finish()?;
        Ok(Arc::new(all))
    }

    fn search(
        &mut self,
        all: &Arc<Frequencies>,
        may_part: bool,
        more: Option<&Kernel>,
        run: &Run<'_>,
    ) -> Result<Found> {
        let Chunked { plan, chunks, sets, .. } = self;
        let mut passes = ChunkPasses { plan, chunks, sets, more, run };
        run.observer.searching(true);
        let memory = run.settings.memory() / 2;
        let found = plan.search(all, may_part, &mut passes, memory, run.observer);
        run.observer.searching(false);
        found
    }

    /// What a solution publishes of all records.
    fn recode(&mut self, found: Found, run: &Run<'_>) -> Result<Made> {
        let Chunked { plan, chunks, prepared, .. } = self;
        let policy = &prepared.file.policy;
        let (mut published, mut survey) = (Chunks::new(), Survey::default());
        let (mut tally, mut kept) = (Tally::default(), Kept::default());
        // What is not written yet has the paths that it was read by.
        let attributes = placed(policy, plan.binding());
        let mut lacking = BTreeSet::new();
        if plan.binding().declared.iter().any(|declared| declared.name.len() > 1) {
            let look =
                |data: Dataset| Ok(invented(policy, &plan.part(&data, run.observer)?.data, plan.binding()));
            each(chunks, "looking for objects", run, look, |_, own| {
                lacking.extend(own);
                Ok(())
            })?;
        }
        let one = |data: Dataset| {
            let part = plan.part(&data, run.observer)?;
            let (made, tally) = plan.recode(&part, &found, run.observer)?;
            let binding = Binding::new(made.schema(), &attributes, policy.undeclared, "a chunk")?;
            let made = made.without_hollow(&binding, &lacking);
            let mapping: Vec<(u32, u32)> = (0..made.len() as u32).map(|record| (record, record)).collect();
            let kept = Kept::new(
                &Compared {
                    policy,
                    input: Side { data: &part.data, binding: plan.binding() },
                    published: Side { data: &made, binding: &binding },
                    hierarchies: plan.hierarchies(),
                    apart: &[],
                    mapping: Some(&mapping),
                    mining: false,
                },
                run.observer,
            )?;
            let quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi);
            let survey = Survey::of(&made, quasi, run.observer)?;
            Ok((made, survey, tally, kept))
        };
        each(chunks, "recoding records", run, one, |_, (made, own, lost, few)| {
            published.push(&made)?;
            survey = std::mem::take(&mut survey).merge(&own);
            tally = tally.merge(lost);
            kept = std::mem::take(&mut kept).merge(few);
            Ok(())
        })?;
        let kept = kept.ordered(plan.binding());
        Ok(Made { found, published, survey, tally, kept })
    }

    /// Whether what is made keeps the promise, before anything is written.
    fn judge(&self, made: &mut Made, run: &Run<'_>) -> Result<Verification> {
        let policy = &self.prepared.file.policy;
        let policy = &Policy { attributes: placed(policy, self.plan.binding()), ..policy.clone() };
        let memory = run.settings.memory();
        let mut counter = Counter::new(policy, self.claim, memory / 8 * 3)?;
        let survey = &made.survey;
        let align = |data: Dataset| survey.align(&data, |_| true, run.observer);
        each(&mut made.published, "judging records", run, align, |chunk, data| {
            counter.add(chunk, &data, run.observer)
        })?;
        counter.finish().finish(policy, self.claim, &[], memory / 2, run.observer)
    }

    /// The raw records of a witness, to be added to a kernel.
    fn witnesses(&mut self, more: Kernel, found: &Verification, run: &Run<'_>) -> Result<Kernel> {
        let records = found.witness().map_or(&[][..], |witness| &witness.records);
        let (mut before, mut more) = (0usize, more);
        for chunk in 0..self.chunks.len() {
            let data = self.chunks.read(chunk)?;
            let own = |record: &u32| (*record as usize).checked_sub(before).filter(|&at| at < data.len());
            let places: Vec<u32> = records.iter().filter_map(own).map(|at| at as u32).collect();
            if !places.is_empty() {
                let part = self.plan.part(&data, run.observer)?;
                more = self.plan.add_records(more, (chunk as u32, &part), &places, run.observer)?;
            }
            before += data.len();
        }
        Ok(more)
    }
}

/// Which part of the memory a kernel may take. Of sets there is a copy besides while they are searched: at a cut, later as the
/// records of each leaf. What a search makes of whole records takes about four times as much as they do.
const SETS_SHARE: usize = 2;
const RECORDS_SHARE: usize = 5;

/// However much memory there is: items are numbered by 32 bits.
const MOST: usize = 8 << 30;

/// Passes of a search over all chunks.
struct ChunkPasses<'c> {
    plan: &'c Plan,
    chunks: &'c mut Chunks,
    sets: &'c mut SetChunks,
    /// Records that every kernel has besides.
    more: Option<&'c Kernel>,
    run: &'c Run<'c>,
}

impl Passes for ChunkPasses<'_> {
    fn kernel(&mut self, labels: &[u32], size: usize) -> Result<Kernel> {
        let ChunkPasses { plan, chunks, sets, more, run } = self;
        let memory = run.settings.memory() / 8 * 3;
        let mut filter = plan.filter(labels, size, memory)?;
        let mut kernel = plan.no_kernel();
        let stage = format!("choosing records for sets of {size}");
        let share = if plan.has_sets() { SETS_SHARE } else { RECORDS_SHARE };
        let most = (run.settings.memory() / share).min(MOST);
        let check = |kernel: &Kernel| if kernel.size() > most { Err(too_large(most)) } else { Ok(()) };
        if plan.has_sets() {
            sets.each(&stage, run, Ok, |chunk, sets| {
                take_sets(&mut kernel, &mut filter, (chunk, &sets), run.observer)?;
                check(&kernel)
            })?;
        } else {
            let part = |data: Dataset| plan.part(&data, run.observer);
            each(chunks, &stage, run, part, |chunk, part| {
                plan.take(&mut kernel, &mut filter, (chunk, &part), run.observer)?;
                check(&kernel)
            })?;
        }
        match more {
            Some(more) => kernel.merge(more.clone(), run.observer),
            None => Ok(kernel),
        }
    }

    fn rare_steps(&mut self, steps: &Steps) -> Result<Option<Vec<bool>>> {
        let ChunkPasses { plan, sets, run, .. } = self;
        if !plan.has_sets() {
            return Ok(None);
        }
        let mut counts = StepCounts::new(steps, run.settings.memory() / 8);
        let lay_out = |sets: Sets| steps.lay_out(&sets, run.observer);
        sets.each("counting steps down", run, lay_out, |_, sets| counts.add(&sets, run.observer))?;
        Ok(Some(counts.rare()))
    }
}

pub(super) fn begun(prepared: &Prepared, form: &SourceForm, create: Create) -> Result<Publication> {
    let publication = Publication::begin(&prepared.file, form, create)?;
    publication.refuse_unwritable_in_parts()?;
    Ok(publication)
}

fn too_large(most: usize) -> Failure {
    let what = format!("the records that a search has to look at take more than {} MB", most >> 20);
    let help = "allow more memory, ask for a smaller m or k, or give the hierarchy more levels";
    Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help))
}

impl Draft for Chunked<'_> {
    fn make(&mut self, run: &Run<'_>) -> Result<()> {
        let all = self.frequencies(run)?;
        let found = self.search(&all, true, None, run)?;
        let mut made = self.recode(found, run)?;
        if !self.plan.is_exact() {
            // What a kernel shows is a proposal here: all records decide.
            let mut verdict = self.judge(&mut made, run)?;
            if !verdict.holds() && made.found.takes_apart() {
                run.observer.decided("relations that were taken apart give somebody away: none may be");
                let found = self.search(&all, false, None, run)?;
                made = self.recode(found, run)?;
                verdict = self.judge(&mut made, run)?;
            }
            let mut more = self.plan.no_kernel();
            for _ in 0..ROUNDS {
                if verdict.holds() {
                    break;
                }
                run.observer.decided("the kernel has overlooked somebody: their records join it");
                more = self.witnesses(more, &verdict, run)?;
                let found = self.search(&all, false, Some(&more), run)?;
                made = self.recode(found, run)?;
                verdict = self.judge(&mut made, run)?;
            }
            if !verdict.holds() {
                let what = "no publication was found in chunks that keeps the promise";
                let help = "allow more memory, so that all records fit, or ask for less";
                return Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help)));
            }
            let what = "records were searched in chunks: another cut might have lost less with all of them in memory";
            run.warn([Diagnostic::warning(what).help("the promise is kept all the same; see docs/scale.md")]);
        }
        let publication = self.publication.as_mut().ok_or_else(too_early)?;
        let room = (run.settings.memory() / 64).clamp(1 << 20, 32 << 20);
        publication.write_parts(&mut made.published, room, run.observer)?;
        made.published = Chunks::new();
        self.made = Some(made);
        Ok(())
    }

    fn verify(&mut self, run: &Run<'_>) -> Result<Option<Verification>> {
        let policy = &self.prepared.file.policy;
        let (size, memory) = (self.size, run.settings.memory());
        let publication = self.publication.as_mut().ok_or_else(too_early)?;
        let mut read = |take: &mut dyn FnMut(Dataset) -> Result<()>| {
            publication.read_again_in_parts(size, run.observer, take)
        };
        let (found, survey) = verified(policy, self.claim, "the publication", &mut read, memory, run)?;
        self.again = Some(Again::new(policy, survey)?);
        Ok(Some(found))
    }

    fn pair(&mut self) -> Result<()> {
        let (made, again) = (self.made()?, self.again()?);
        let policy = &self.prepared.file.policy;
        let attributes = placed(policy, self.plan.binding());
        let written = Binding::new(made.survey.frame.schema(), &attributes, policy.undeclared, "it")?;
        again.refuse_other((&made.survey, &written))
    }

    fn loss(&self, _: &Run<'_>) -> Result<Option<Loss>> {
        Ok(None)
    }

    fn kept(&self, _: &Run<'_>) -> Result<Kept> {
        Ok(self.made()?.kept.clone())
    }

    fn private(&self) -> Option<(String, Value)> {
        None
    }

    fn account(&self) -> Result<Account> {
        let (made, again) = (self.made()?, self.again()?);
        let policy = &self.prepared.file.policy;
        let algorithm = bosket_engine::Params::new(policy)?.algorithm();
        let figures = made.found.figures(algorithm.name(), made.tally).ok_or_else(too_early)?;
        let input = (self.plan.survey(), self.plan.binding());
        Ok(Account {
            records: again.survey.records as usize,
            figures,
            attributes: again.attributes(input),
            cut_short: false,
            caveats: self.claim.caveats(&again.binding),
            legend: again.legend(policy, input, self.plan.hierarchies()),
        })
    }

    fn companions(&mut self) -> Result<Vec<Output>> {
        Ok(Vec::new())
    }

    fn publish(&mut self, others: Vec<Output>, certify: Certify<'_>, run: &Run<'_>) -> Result<()> {
        self.publication.take().ok_or_else(too_early)?.finish_certified(others, certify, run.observer)
    }

    fn advice(&self, _: &Kept, _: Duration, _: &Run<'_>) -> Result<Option<Advice>> {
        Ok(None)
    }

    fn study(&mut self, _: Option<Verification>, _: Option<Loss>, _: &Run<'_>) -> Result<Study> {
        Err(Failure::defect("records in chunks have no report"))
    }
}

/// Hands out the records of a publication, batch by batch.
pub(crate) type ReadBatches<'a> = &'a mut dyn FnMut(&mut dyn FnMut(Dataset) -> Result<()>) -> Result<()>;

/// The verdict about a publication that is read in batches, and what values it has.
pub(crate) fn verified(
    policy: &Policy,
    claim: &Claim,
    name: &str,
    read: ReadBatches<'_>,
    memory: usize,
    run: &Run<'_>,
) -> Result<(Verification, Survey)> {
    if classes::is_by_class(claim) {
        return classes::verified(policy, claim, name, read, run);
    }
    let (mut chunks, mut survey) = (Chunks::new(), Survey::default());
    let mut left: Vec<String> = Vec::new();
    let mut drawn = Drawn::default();
    read(&mut |data| {
        let binding = names::bound(data.schema(), &policy.attributes, policy.undeclared, name)?;
        // From what was read, before it is put together with anything.
        drawn = std::mem::take(&mut drawn).merge(Drawn::of(claim, &data, &binding, run.observer)?);
        for path in bosket_verify::left_over(&data, &binding) {
            if !left.contains(&path) {
                left.push(path);
            }
        }
        let quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi);
        survey = std::mem::take(&mut survey).merge(&Survey::of(&data, quasi, run.observer)?);
        // Nothing else is looked at again.
        let mut joined = bosket_model::partition::Joined::new();
        joined.add(&data, |_| true, quasi, run.observer)?;
        chunks.push(&joined.finish())
    })?;
    drawn.totals().refuse_survey(&survey)?;
    let mut counter = Counter::new(policy, claim, memory / 8 * 3)?;
    let align = |data: Dataset| survey.align(&data, |_| true, run.observer);
    each(&mut chunks, "verifying records", run, align, |chunk, data| {
        counter.add(chunk, &data, run.observer)
    })?;
    let mut tallied = Tallied::default();
    let again = |data: Dataset| {
        let data = survey.align(&data, |_| true, run.observer)?;
        let binding = names::bound(data.schema(), &policy.attributes, policy.undeclared, name)?;
        Tallied::of(&drawn, claim, &data, &binding, run.observer)
    };
    each(&mut chunks, "counting again", run, again, |chunk, own: Tallied| {
        tallied = std::mem::take(&mut tallied).merge(own.of_part(chunk))?;
        Ok(())
    })?;
    let counted = counter.finish();
    let mut found = counted.confirmed(policy, claim, (&drawn, &tallied), &[], memory / 2, run.observer)?;
    found.left = left;
    Ok((found, survey))
}
