//! Publications of clusters whose quasi and sensitive values are apart.

use std::time::Duration;

use bosket_io::apart::{Clustered, Dissection, Drafts, PublishedReader, Records as Clusters};
use bosket_io::{Certify, Create, Output, SourceForm};
use bosket_measure::kept::Kept;
use bosket_measure::loss::{Loss, Side};
use bosket_model::binding::Binding;
use bosket_model::dissected::SensitiveValues;
use bosket_model::sides::{Fate, Fates};
use bosket_model::{Failure, Result};
use bosket_report::advice::Advice;
use bosket_report::study::Study;
use bosket_verify::sides::expected;
use bosket_verify::{Claim, JudgedClusters, Verification};
use serde_json::Value;

use super::records::Private;
use super::{Account, Draft, ambiguous, mapping_csv, refuse_empty, too_early};
use crate::figures::Figures;
use crate::grounds;
use crate::make::{Made, Product};
use crate::pairs;
use crate::prepare::{Input, Prepared, refuse_taken};
use crate::run::Run;

/// A publication of two sides on its way.
pub(super) struct Anatomized<'p> {
    private: Private<'p>,
    form: SourceForm,
    dissection: Dissection<'p>,
    create: Create,
    made: Option<Made>,
    /// Per made record its group.
    group_of: Vec<u32>,
    groups: usize,
    drafts: Option<Drafts>,
    /// Per group as it was numbered before, its number in the publication.
    ids: Vec<u32>,
    /// What was read again.
    again: Option<JudgedClusters>,
    pairs: Vec<(u32, u32)>,
}

impl<'p> Anatomized<'p> {
    pub(super) fn begin(prepared: &'p Prepared, input: Input, create: Create) -> Result<Self> {
        let Input::Records { bound, form, hierarchies } = input else {
            return Err(Failure::defect("clusters are made of records"));
        };
        let Some(claim @ Claim::Anatomized(_)) = &prepared.claim else {
            return Err(Failure::defect("the claim is not one of anatomized clusters"));
        };
        refuse_taken(&prepared.target, create.clone())?;
        Ok(Anatomized {
            private: Private { prepared, claim, input: bound, hierarchies, together: None },
            form,
            dissection: Dissection::new(&prepared.file, Fates::new)?,
            create,
            made: None,
            group_of: Vec::new(),
            groups: 0,
            drafts: None,
            ids: Vec::new(),
            again: None,
            pairs: Vec::new(),
        })
    }

    fn made(&self) -> Result<&Made> {
        self.made.as_ref().ok_or_else(too_early)
    }

    fn again(&self) -> Result<&JudgedClusters> {
        self.again.as_ref().ok_or_else(too_early)
    }

    /// Values on the sensitive side.
    fn sensitive_values(&self) -> Result<usize> {
        Ok(self.again()?.judged.dissected.sensitive.iter().map(|s| s.codes.total()).sum())
    }

    /// What stands apart from the people.
    fn aside(&self) -> Result<&[SensitiveValues]> {
        Ok(&self.again()?.judged.dissected.sensitive)
    }

    /// What goes with the people.
    fn people(&self) -> Result<Side<'_>> {
        let again = self.again()?;
        Ok(Side { data: &again.people, binding: &again.binding })
    }
}

/// The vertex trees that clustering makes.
fn vertices(made: &Made) -> Result<(&bosket_model::Dataset, &Binding, &[u32])> {
    match &made.product {
        Product::Vertices { data, binding, records } => Ok((data, binding, records)),
        Product::Trees(_) => Err(Failure::defect("clusters are not vertex trees")),
    }
}

impl Draft for Anatomized<'_> {
    fn make(&mut self, run: &Run<'_>) -> Result<()> {
        let made = self.private.make(&[], run)?;
        let (data, binding, _) = vertices(&made)?;
        let clusters = Clusters { data, binding, form: &self.form };
        let Clustered { mut people, group_of, groups } = self.dissection.clusters(clusters)?;
        let drafts = self.dissection.write(&mut people, (&group_of, groups), self.create.clone())?;
        self.ids = drafts.written.ids();
        (self.group_of, self.groups) = (group_of, groups);
        (self.drafts, self.made) = (Some(drafts), Some(made));
        Ok(())
    }

    fn verify(&mut self, run: &Run<'_>) -> Result<Option<Verification>> {
        let drafts = self.drafts.as_mut().ok_or_else(too_early)?;
        let file = &self.private.prepared.file;
        let again = PublishedReader::new(file, expected)?.read_clusters_again(drafts, run.observer)?;
        let again = JudgedClusters::new(&file.policy, again)?;
        refuse_empty(&again.people, &again.binding)?;
        let claim = self.private.claim;
        let hierarchies = grounds::hierarchies(claim, file)?;
        let found =
            Verification::of_anatomized(&again.sides(), &again.judged, claim, &hierarchies, run.observer)?;
        self.again = Some(again);
        Ok(Some(found))
    }

    fn pair(&mut self) -> Result<()> {
        let (data, binding, records) = vertices(self.made()?)?;
        let again = self.again()?;
        let known = quasi_side(binding, &self.dissection);
        let same = pairs::vertices((data, &known), records, (&again.people, &again.binding));
        let written = self.drafts.as_ref().map(|d| d.written.values);
        let whole = written == Some(self.sensitive_values()? as u64);
        let pairs = same.filter(|_| whole).ok_or_else(ambiguous)?;
        self.pairs = pairs.into_iter().map(|(from, to)| (from as u32, to as u32)).collect();
        Ok(())
    }

    fn loss(&self, run: &Run<'_>) -> Result<Option<Loss>> {
        let compared = self.private.compared(self.people()?, self.aside()?, &self.pairs);
        Loss::new(&compared, run.observer).map(Some)
    }

    fn kept(&self, run: &Run<'_>) -> Result<Kept> {
        let compared = self.private.compared(self.people()?, self.aside()?, &self.pairs);
        Kept::new(&compared, run.observer)
    }

    fn advice(&self, kept: &Kept, took: Duration, run: &Run<'_>) -> Result<Option<Advice>> {
        self.private.advice(self.people()?, self.aside()?, (kept, &self.pairs), took, run)
    }

    fn private(&self) -> Option<(String, Value)> {
        let made = self.made.as_ref()?;
        let (.., records) = vertices(made).ok()?;
        let group = |g: u32| self.ids[g as usize];
        let pairs = records.iter().zip(&self.group_of).map(|(&record, &g)| (record + 1, group(g)));
        Some((mapping_csv(pairs), made.private.clone()))
    }

    fn account(&self) -> Result<Account> {
        let (made, again) = (self.made()?, self.again()?);
        let mut figures = made.figures.clone();
        if let Figures::Clusters(clusters) = &mut figures {
            clusters.apart = Some((self.groups, self.sensitive_values()?));
        }
        Ok(Account {
            records: again.people.len(),
            figures,
            attributes: self.private.attributes(made),
            cut_short: made.cut_short,
            caveats: self.private.claim.caveats(&again.binding),
            legend: self.private.legend(self.people()?),
        })
    }

    fn companions(&mut self) -> Result<Vec<Output>> {
        Ok(Vec::new())
    }

    fn publish(&mut self, others: Vec<Output>, certify: Certify<'_>, _: &Run<'_>) -> Result<()> {
        let drafts = self.drafts.take().ok_or_else(too_early)?;
        drafts.finish_certified(self.create.clone(), others, certify)
    }

    fn study(
        &mut self,
        verification: Option<Verification>,
        loss: Option<Loss>,
        run: &Run<'_>,
    ) -> Result<Study> {
        let subject = self.private.subject(self.people()?, self.aside()?, &self.pairs);
        let verification = verification.ok_or_else(too_early)?;
        Study::of_anatomized(&subject, &self.again()?.sides(), verification, loss, run.observer)
    }
}

/// The place of those attributes that stay with people.
fn quasi_side(binding: &Binding, dissection: &Dissection<'_>) -> Binding {
    let mut known = binding.clone();
    for declared in &mut known.attributes {
        *declared = declared.filter(|&d| dissection.fates().of[d] == Fate::Quasi);
    }
    known
}
