//! Classes of records that look alike, in a publication that does not fit into memory.
//!
//! Records are dealt to private files by what is published of them, so that all who look alike are in one. Each file is
//! counted alone, batch by batch, and no more than its classes are in memory. What some of them say of sensitive values is
//! counted again over all files: which ones was drawn while they were read.

use bosket_io::Chunks;
use bosket_model::binding::Binding;
use bosket_model::partition::{Joined, Survey};
use bosket_model::policy::{Policy, Role};
use bosket_model::selection::Digests;
use bosket_model::{AttributeId, Dataset, Failure, Result};
use bosket_verify::mergeable::{ClassState, is_counted_again, united};
use bosket_verify::recount::parts::{Drawn, Tallied, Totals};
use bosket_verify::{Claim, Verification, names};

use crate::anonymize::ReadBatches;
use crate::chunked::each;
use crate::run::Run;

/// Times that classes take what their records take in a private file, at most about; they may have a quarter of the memory.
const GROWTH: u64 = 64;

/// Most files that records are dealt to: all of them are open at once.
const MOST: u64 = 512;

/// Whether a claim is about records that look alike.
pub(crate) fn is_by_class(claim: &Claim) -> bool {
    matches!(claim, Claim::KAnonymity { .. } | Claim::LDiversity { .. })
}

/// The verdict about a publication that is read in batches, and what values it has.
pub(crate) fn verified(
    policy: &Policy,
    claim: &Claim,
    name: &str,
    read: ReadBatches<'_>,
    run: &Run<'_>,
) -> Result<(Verification, Survey)> {
    let (mut chunks, mut survey) = (Chunks::new(), Survey::default());
    let (mut left, mut read_in_all): (Vec<String>, Totals) = Default::default();
    let (twice, mut drawn) = (is_counted_again(claim), Drawn::default());
    let bound = |data: &Dataset| names::bound(data.schema(), &policy.attributes, policy.undeclared, name);
    read(&mut |data| {
        let binding = bound(&data)?;
        left.extend(bosket_verify::left_over(&data, &binding));
        if twice {
            // From what was read, before it is put together with anything.
            drawn = std::mem::take(&mut drawn).merge(Drawn::of(claim, &data, &binding, run.observer)?);
        }
        let quasi = |id: AttributeId| binding.role(id) == Some(Role::Quasi);
        read_in_all = read_in_all.and(Totals::of(&data, quasi));
        survey = std::mem::take(&mut survey).merge(&Survey::of(&data, quasi, run.observer)?);
        // Nothing else is looked at again.
        let counts = |id: AttributeId| quasi(id) || binding.role(id) == Some(Role::Sensitive);
        let mut joined = Joined::new();
        joined.add(&data, |_| true, counts, run.observer)?;
        let joined = joined.finish();
        Totals::of(&joined, |_| true).refuse_other(Totals::of(&data, counts))?;
        chunks.push(&joined)
    })?;
    read_in_all.refuse_survey(&survey)?;
    let memory = (run.settings.memory() as u64).max(1);
    let files = (chunks.size() * GROWTH).div_ceil(memory).clamp(1, MOST) as usize;
    let (mut verdicts, mut tallied, mut batches) = (Vec::new(), Tallied::default(), 0..);
    for mut file in dealt(chunks, files, &bound, run)? {
        let mut state = ClassState::default();
        let count = |data: Dataset| {
            let binding = bound(&data)?;
            let again = match twice {
                true => Tallied::of(&drawn, claim, &data, &binding, run.observer)?,
                false => Tallied::default(),
            };
            let spelled = data.one_spelling();
            let data = spelled.as_ref().unwrap_or(&data);
            Ok((ClassState::count(data, &binding, claim, run.observer)?, again))
        };
        each(&mut file, "verifying records", run, count, |_, (own, again)| {
            state = std::mem::take(&mut state).merge(own);
            tallied = std::mem::take(&mut tallied).merge(again.of_part(batches.next().unwrap_or(0)))?;
            Ok(())
        })?;
        verdicts.push(state.finish(claim, &bound(&survey.frame)?)?);
    }
    let Some(found) = united(verdicts) else {
        return Err(Failure::defect("a publication without records was verified"));
    };
    let mut found = found.confirmed(Some((&drawn, &tallied)))?;
    left.sort_unstable();
    left.dedup();
    found.left = left;
    Ok((found, survey))
}

/// Records in so many files, all who look alike in one.
fn dealt(
    mut chunks: Chunks,
    files: usize,
    bound: &(dyn Fn(&Dataset) -> Result<Binding> + Sync),
    run: &Run<'_>,
) -> Result<Vec<Chunks>> {
    if files == 1 {
        return Ok(vec![chunks]);
    }
    let mut all: Vec<Chunks> = (0..files).map(|_| Chunks::new()).collect();
    let deal = |data: Dataset| {
        let binding = bound(&data)?;
        let digests = Digests::about(&data, |id| binding.role(id) == Some(Role::Quasi));
        let mut records = vec![Vec::new(); files];
        for record in 0..data.len() {
            run.observer.go_on()?;
            let head = digests.of(record)[..8].iter().fold(0u64, |head, &byte| head << 8 | u64::from(byte));
            records[(head % files as u64) as usize].push(record as u32);
        }
        let own = records.into_iter().enumerate().filter(|(_, own)| !own.is_empty());
        Ok(own.map(|(file, own)| (file, data.picked(&own))).collect::<Vec<_>>())
    };
    each(&mut chunks, "records that look alike", run, deal, |_, own| {
        own.into_iter().try_for_each(|(file, data)| all[file].push(&data))
    })?;
    all.retain(|file| !file.is_empty());
    Ok(all)
}
