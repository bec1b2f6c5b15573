//! Publications of clusters of records that do not fit into memory: clustered cell by cell, sorted by content in a private
//! file, verified from their bytes in batches.

use std::time::Duration;

use bosket_io::{BatchSize, Certify, Chunks, Create, Output, Publication};
use bosket_measure::kept::Kept;
use bosket_measure::loss::Loss;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::partition::Survey;
use bosket_model::{Dataset, Failure, Result};
use bosket_report::advice::Advice;
use bosket_report::study::Study;
use bosket_verify::{Claim, Verification};
use serde_json::Value;

use super::chunked::begun;
use super::surveyed::Again;
use super::{Account, Draft, too_early, verified};
use crate::celled::{Cellular, MadeOfCells};
use crate::chunked::ChunkedInput;
use crate::figures::Figures;
use crate::make::{cut_short, placed};
use crate::prepare::Prepared;
use crate::run::Run;

/// A publication on its way.
pub(super) struct Celled<'p> {
    prepared: &'p Prepared,
    claim: &'p Claim,
    survey: Survey,
    binding: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
    chunks: Chunks,
    size: BatchSize,
    publication: Option<Publication>,
    made: Option<MadeOfCells>,
    again: Option<Again>,
}

impl<'p> Celled<'p> {
    pub(super) fn begin(prepared: &'p Prepared, input: ChunkedInput, create: Create) -> Result<Self> {
        let Some(claim) = &prepared.claim else {
            return Err(Failure::defect("records are published by a claim about records"));
        };
        let ChunkedInput { chunks, survey, binding, hierarchies, form, size } = input;
        let publication = Some(begun(prepared, &form, create)?);
        let (made, again) = (None, None);
        Ok(Celled { prepared, claim, survey, binding, hierarchies, chunks, size, publication, made, again })
    }

    fn made(&self) -> Result<&MadeOfCells> {
        self.made.as_ref().ok_or_else(too_early)
    }

    fn again(&self) -> Result<&Again> {
        self.again.as_ref().ok_or_else(too_early)
    }
}

impl Draft for Celled<'_> {
    fn make(&mut self, run: &Run<'_>) -> Result<()> {
        let policy = &self.prepared.file.policy;
        let Celled { survey, binding, hierarchies, chunks, .. } = self;
        run.observer.searching(true);
        let made = Cellular::new(policy, (survey, binding), hierarchies, chunks, run)
            .and_then(|cellular| cellular.make(survey, chunks, run));
        run.observer.searching(false);
        let mut made = made?;
        self.chunks = Chunks::new();
        run.warn(cut_short(made.cut_short));
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
        let attributes = placed(policy, &self.binding);
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
        let input = (&self.survey, &self.binding);
        Ok(Account {
            records: again.survey.records as usize,
            figures: Figures::Clusters(made.figures.clone()),
            attributes: again.attributes(input),
            cut_short: made.cut_short,
            caveats: self.claim.caveats(&again.binding),
            legend: again.legend(&self.prepared.file.policy, input, &self.hierarchies),
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
