//! People from lines of JSON that do not fit into memory: read in batches, with the same texts as if they were read at once.

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::partition::Joined;
use bosket_model::policy::Policy;
use bosket_model::sides::Fates;
use bosket_model::{Dataset, Diagnostic, Result};

use super::records::{Empty, fill, quasi_side};
use super::spool::Spool;
use crate::batches::BatchSize;
use crate::chunks::Chunks;
use crate::format::Layout;
use crate::json::{always_present, record_texts_as};
use crate::source::Whereabouts;

/// A text takes about so many times its bytes in memory; a compressed one so many more.
const GROWTH: u64 = 4;
const PACKED: u64 = 8;

/// Records of a batch at most.
const RECORDS: usize = 100_000;

/// Whether records are read in batches: those that would not fit, where nobody chooses among all of them.
pub(super) fn is_wanted(place: &Whereabouts, policy: &Policy, observer: &dyn Observer) -> bool {
    let (weight, packed) = place.weight();
    let grown = weight.saturating_mul(GROWTH).saturating_mul(if packed { PACKED } else { 1 });
    let fits = observer.limits().memory.is_none_or(|memory| grown <= memory as u64);
    !fits && place.unbatched().is_none() && !policy.selects() && !policy.anatomizes()
}

/// Hands the people of a source over.
pub(super) fn read_people(
    place: Whereabouts,
    policy: &Policy,
    fates: &Fates,
    spool: &mut Spool,
    observer: &dyn Observer,
) -> Result<Vec<Diagnostic>> {
    let name = place.name();
    let memory = observer.limits().memory.unwrap_or(usize::MAX);
    let size = BatchSize { records: RECORDS, bytes: (memory / 128).clamp(1 << 16, 16 << 20) };
    let (mut chunks, mut frame, mut warnings) = (Chunks::new(), Joined::new(), Vec::new());
    place.batches(size, observer, &mut |opened| {
        warnings.extend(opened.warnings);
        frame.add_values(&opened.data, |_| false);
        chunks.push(&opened.data)
    })?;
    // Keys stand in the order of all records, and what everybody has is known of all of them.
    let frame = frame.finish();
    let binding = Binding::of_input(frame.schema(), &policy.attributes, policy.undeclared, &name)?;
    let read = |chunks: &mut Chunks, chunk: usize| -> Result<(Dataset, Dataset)> {
        observer.go_on()?;
        let mut joined = Joined::over(&frame);
        joined.add(&chunks.read(chunk)?, |_| true, |_| true, observer)?;
        let data = joined.finish();
        let quasi = quasi_side(&data, &binding, fates, None, Empty::Gone)?;
        Ok((data, quasi))
    };
    let mut always: Option<Vec<bool>> = None;
    for chunk in 0..chunks.len() {
        let own = always_present(&read(&mut chunks, chunk)?.1);
        match &mut always {
            None => always = Some(own),
            Some(all) => all.iter_mut().zip(own).for_each(|(all, own)| *all &= own),
        }
    }
    let always = always.unwrap_or_default();
    for chunk in 0..chunks.len() {
        let (data, quasi) = read(&mut chunks, chunk)?;
        let texts = record_texts_as(&quasi, &Layout::default(), &always, observer)?;
        fill(spool, &data, &binding, fates, &texts)?;
    }
    Ok(warnings)
}
