//! People whose records do not fit into memory: read in batches into a private file, with the same texts and the same
//! publication as if they were read at once.

use std::io::Write;

use bosket_model::binding::Binding;
use bosket_model::observe::{Observer, Quiet};
use bosket_model::partition::Joined;
use bosket_model::policy::{Policy, Undeclared};
use bosket_model::sides::Fates;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use super::draft::Draft;
use super::records::{Empty, fill, quasi_side};
use super::sorter::Sorter;
use super::spool::Spool;
use super::tables::GROUP;
use crate::batches::BatchSize;
use crate::chunks::Chunks;
use crate::fault;
use crate::format::Layout;
use crate::json::{always_present, record_texts_as};
use crate::policy_file::PolicyFile;
use crate::sorted::Sorted;
use crate::source::{SourceForm, Whereabouts};
use crate::table::{header_text, row_texts};

/// Bytes that sorting may take.
fn room(observer: &dyn Observer) -> usize {
    observer.limits().memory.map_or(24 << 20, |memory| (memory / 16).clamp(4 << 20, 24 << 20))
}

/// Why records are never read in batches, however many there are; none if they can be.
pub(super) fn unbatched(place: &Whereabouts, policy: &Policy) -> Option<String> {
    match place.unbatched() {
        Some(why) => Some(why),
        None if policy.selects() => Some("`where` and `sample` choose among all records".to_owned()),
        None if policy.anatomizes() => {
            Some("`anatomize` takes the sides of all records apart at once".to_owned())
        }
        None => None,
    }
}

/// Whether records are read in batches: where somebody asks for it, or where they would not fit.
pub(super) fn is_wanted(place: &Whereabouts, policy: &Policy, observer: &dyn Observer) -> bool {
    unbatched(place, policy).is_none()
        && (observer.limits().chunk.is_some() || !place.fits(observer.limits()))
}

/// Private records in a private file, and what is known of all of them.
#[derive(Debug)]
pub(super) struct BatchedRecords {
    chunks: Chunks,
    /// Classes and attributes of all records, without values.
    frame: Dataset,
    binding: Binding,
    pub(super) form: SourceForm,
    /// Bytes that sorting may take.
    sorting: usize,
    /// What becomes of vertices without quasi values.
    empty: Empty,
}

impl BatchedRecords {
    /// Reads the records of a source.
    pub(super) fn read(
        place: Whereabouts,
        policy: &Policy,
        observer: &dyn Observer,
    ) -> Result<(Self, Vec<Diagnostic>)> {
        let name = place.name();
        let limits = observer.limits();
        let (mut chunks, mut frame, mut warnings) = (Chunks::new(), Joined::new(), Vec::new());
        let form = place.batches(BatchSize::of(limits), observer, &mut |opened| {
            warnings.extend(opened.warnings);
            frame.add_values(&opened.data, |_| false);
            if opened.data.is_empty() { Ok(()) } else { chunks.push(&opened.data) }
        })?;
        if chunks.is_empty() {
            let what = Diagnostic::error("the tables hold no record").at(Place::source(name));
            return Err(Failure::new(
                Fault::Data,
                what.help("check that they are the right ones, and complete"),
            ));
        }
        let frame = frame.finish();
        let binding = Binding::of_input(frame.schema(), &policy.attributes, policy.undeclared, &name)?;
        let (sorting, empty) = (room(observer), Empty::Gone);
        Ok((BatchedRecords { chunks, frame, binding, form, sorting, empty }, warnings))
    }

    /// The people of a publication, which may have the numbers of their groups among their attributes.
    pub(super) fn of_published(
        chunks: Chunks,
        frame: Joined,
        file: &PolicyFile,
        form: SourceForm,
        empty: Empty,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let frame = frame.finish();
        let attributes = &file.policy.attributes;
        let binding = Binding::of_input(frame.schema(), attributes, Undeclared::Drop, "the publication")?;
        Ok(BatchedRecords { chunks, frame, binding, form, sorting: room(observer), empty })
    }

    /// The records of a chunk. Keys stand in the order of all records.
    fn chunk(&mut self, chunk: usize, observer: &dyn Observer) -> Result<Dataset> {
        observer.go_on()?;
        let mut joined = Joined::over(&self.frame);
        joined.add(&self.chunks.read(chunk)?, |_| true, |_| true, observer)?;
        Ok(joined.finish())
    }

    /// Hands the people over.
    pub(super) fn fill(&mut self, spool: &mut Spool, fates: &Fates, observer: &dyn Observer) -> Result<()> {
        let binding = self.binding.clone();
        self.each_text(fates, observer, &mut |data, texts| fill(spool, data, &binding, fates, texts))
    }

    /// Hands out the people of each chunk, with the texts of their quasi sides.
    pub(super) fn each_text(
        &mut self,
        fates: &Fates,
        observer: &dyn Observer,
        take: &mut dyn FnMut(&Dataset, &Sorted) -> Result<()>,
    ) -> Result<()> {
        // What everybody has is known of all of them.
        let mut always: Option<Vec<bool>> = None;
        for chunk in 0..self.chunks.len() {
            let data = self.chunk(chunk, observer)?;
            let own = always_present(&quasi_side(&data, &self.binding, fates, None, self.empty)?);
            match &mut always {
                None => always = Some(own),
                Some(all) => all.iter_mut().zip(own).for_each(|(all, own)| *all &= own),
            }
        }
        let always = always.unwrap_or_default();
        for chunk in 0..self.chunks.len() {
            let data = self.chunk(chunk, observer)?;
            let quasi = quasi_side(&data, &self.binding, fates, None, self.empty)?;
            let texts = record_texts_as(&quasi, &Layout::default(), &always, observer)?;
            take(&data, &texts)?;
        }
        Ok(())
    }

    /// Goes through the quasi sides of those who are in a group, with its number, chunk by chunk.
    fn quasi_sides(
        &mut self,
        fates: &Fates,
        own: &[Option<u32>],
        take: &mut dyn FnMut(Dataset) -> Result<()>,
    ) -> Result<()> {
        let mut first = 0;
        for chunk in 0..self.chunks.len() {
            let data = self.chunk(chunk, &Quiet)?;
            let groups = &own[first..first + data.len()];
            first += data.len();
            take(quasi_side(&data, &self.binding, fates, Some((GROUP, groups)), self.empty)?)?;
        }
        Ok(())
    }

    /// These as chunks, and how much memory it may take to sort them.
    pub(super) fn quasi_chunks(&mut self, fates: &Fates, own: &[Option<u32>]) -> Result<(Chunks, usize)> {
        let mut quasi = Chunks::new();
        self.quasi_sides(fates, own, &mut |part| quasi.push(&part))?;
        Ok((quasi, self.sorting))
    }

    /// These as the rows of one table, in the order of what is written.
    pub(super) fn quasi_table(
        &mut self,
        fates: &Fates,
        own: &[Option<u32>],
        layout: &Layout,
    ) -> Result<Draft> {
        let mut draft = Draft::create()?;
        let (mut header, mut sorter) = (None, Sorter::within(self.sorting));
        self.quasi_sides(fates, own, &mut |part| {
            if header.is_none() {
                header = Some(header_text(&part, layout)?);
            }
            row_texts(&part, layout, &Quiet)?.iter().try_for_each(|row| sorter.push(row))
        })?;
        draft.write_all(&header.unwrap_or_default()).map_err(fault::from_write)?;
        let mut sorted = sorter.finish()?;
        while let Some(row) = sorted.next()? {
            draft.write_all(row).map_err(fault::from_write)?;
        }
        Ok(draft)
    }
}
