//! Publications of one record per person: generalized trees and sets, and clusters.

use std::time::Duration;

use bosket_io::{Certify, Create, Output, Publication, SourceForm};
use bosket_measure::attack::Beyond;
use bosket_measure::kept::Kept;
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::policy::{Model, Role};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Failure, Result};
use bosket_report::advice::Advice;
use bosket_report::study::{Study, Subject};
use bosket_verify::guess::{Guessed, Told, judge};
use bosket_verify::truth::{self, Comparison, Recoding};
use bosket_verify::{Claim, Verification, names};
use serde_json::Value;

use super::{Account, AttributeValues, Draft, ambiguous, beyond, mapping_csv, refuse_empty, too_early};
use crate::advice::{Effort, Published, advice};
use crate::joint::{Jointly, OwnInput, Together};
use crate::legend::legend;
use crate::load::Bound;
use crate::make::{Made, Product, Work, make};
use crate::negative;
use crate::pairs;
use crate::prepare::{Input, Prepared};
use crate::run::Run;

/// The private records of a run, and what is promised about them.
pub(super) struct Private<'p> {
    pub(super) prepared: &'p Prepared,
    pub(super) claim: &'p Claim,
    pub(super) input: Box<Bound>,
    pub(super) hierarchies: Vec<Option<Hierarchy>>,
    /// Earlier releases that it must keep its promise with.
    pub(super) together: Option<Together<'p>>,
}

impl Private<'_> {
    /// The records with what messages call them.
    fn own(&self) -> OwnInput<'_> {
        OwnInput { bound: &self.input, name: &self.prepared.source, hierarchies: &self.hierarchies }
    }

    /// Runs the algorithm; labels that told too much before are to tell less.
    pub(super) fn make(&self, told: &[(String, String)], run: &Run<'_>) -> Result<Made> {
        let work = Work {
            policy: &self.prepared.file.policy,
            claim: self.claim,
            data: &self.input.data,
            binding: &self.input.binding,
            published: &self.input.binding.without_companions(),
            hierarchies: &self.hierarchies,
            memory: run.settings.memory(),
            told,
            kernel: None,
        };
        run.observer.searching(true);
        let made = match &self.together {
            None => make(&work, run.observer),
            Some(together) => together.make(&work, self.own(), run),
        };
        run.observer.searching(false);
        let made = made?;
        run.warn(made.warnings());
        Ok(made)
    }

    /// Per quasi attribute of the data, its values in the input and in the publication.
    pub(super) fn attributes(&self, made: &Made) -> Vec<AttributeValues> {
        let Bound { data, binding } = &*self.input;
        let declared = binding.declared.iter().enumerate().filter(|(_, d)| d.role == Role::Quasi);
        let counted = declared.map(|(i, d)| {
            let own = data.schema().attributes().filter(|(id, _)| binding.attributes[id.index()] == Some(i));
            AttributeValues {
                path: d.path.clone(),
                values: own.map(|(id, _)| data.dictionary(id).len()).sum(),
                published: made.product.values(i),
            }
        });
        counted.filter(|a| a.values > 0).collect()
    }

    pub(super) fn compared<'a>(
        &'a self,
        published: Side<'a>,
        apart: &'a [SensitiveValues],
        mapping: &'a [(u32, u32)],
    ) -> Compared<'a> {
        Compared {
            policy: &self.prepared.file.policy,
            input: self.input.side(),
            published,
            hierarchies: &self.hierarchies,
            apart,
            mapping: Some(mapping),
            mining: true,
        }
    }

    /// What published groups stand for.
    pub(super) fn legend(&self, published: Side<'_>) -> Value {
        legend(&self.prepared.file.policy, self.input.side(), &self.hierarchies, published)
    }

    /// What to do where little is left.
    pub(super) fn advice(
        &self,
        published: Side<'_>,
        apart: &[SensitiveValues],
        (kept, mapping): (&Kept, &[(u32, u32)]),
        took: Duration,
        run: &Run<'_>,
    ) -> Result<Option<Advice>> {
        let of = Published {
            file: &self.prepared.file,
            claim: self.claim,
            input: self.input.side(),
            hierarchies: &self.hierarchies,
            published,
            apart,
            kept,
            mapping: Some(mapping),
            memory: run.settings.memory(),
            show_values: run.settings.show_values,
        };
        advice(&of, Effort::Tries(took), run.observer)
    }

    pub(super) fn subject<'a>(
        &'a self,
        published: Side<'a>,
        apart: &'a [SensitiveValues],
        mapping: &'a [(u32, u32)],
    ) -> Subject<'a> {
        Subject {
            policy: &self.prepared.file.policy,
            input: self.input.side(),
            published,
            hierarchies: &self.hierarchies,
            apart,
            mapping: Some(mapping),
        }
    }
}

/// A publication of records on its way.
pub(super) struct Records<'p> {
    private: Private<'p>,
    /// How the input is written, and how files are made.
    written: (SourceForm, Create),
    publication: Option<Publication>,
    /// Labels, with the paths of their attributes, that told too much in earlier attempts, once for each of them.
    told: Vec<(String, String)>,
    made: Option<Made>,
    /// What was read again.
    again: Option<Bound>,
    /// Pairs (input record, published record), by numbers from 0.
    pairs: Vec<(u32, u32)>,
}

impl<'p> Records<'p> {
    pub(super) fn begin(prepared: &'p Prepared, input: Input, create: Create, run: &Run<'_>) -> Result<Self> {
        let (Input::Records { bound, form, hierarchies }, Some(claim)) = (input, &prepared.claim) else {
            return Err(Failure::defect("records are published by a claim about records"));
        };
        let publication = Publication::begin(&prepared.file, &form, create.clone())?;
        let mut private = Private { prepared, claim, input: bound, hierarchies, together: None };
        private.together = Together::of_run(prepared, claim, private.own(), run)?;
        Ok(Records {
            private,
            written: (form, create),
            publication: Some(publication),
            told: Vec::new(),
            made: None,
            again: None,
            pairs: Vec::new(),
        })
    }

    fn made(&self) -> Result<&Made> {
        self.made.as_ref().ok_or_else(too_early)
    }

    fn again(&self) -> Result<&Bound> {
        self.again.as_ref().ok_or_else(too_early)
    }
}

impl Draft for Records<'_> {
    fn beyond(&self, run: &Run<'_>) -> Result<Option<Beyond>> {
        beyond::look(&self.private.prepared.file.policy, self.again()?, run)
    }

    fn make(&mut self, run: &Run<'_>) -> Result<()> {
        let made = self.private.make(&self.told, run)?;
        let publication = self.publication.as_mut().ok_or_else(too_early)?;
        match &made.product {
            Product::Trees(trees) => {
                publication.write(&trees.write_back(&self.private.input.binding), run.observer)?;
            }
            Product::Vertices { data, .. } => publication.write(data, run.observer)?,
        }
        self.made = Some(made);
        Ok(())
    }

    fn verify(&mut self, run: &Run<'_>) -> Result<Option<Verification>> {
        let publication = self.publication.as_mut().ok_or_else(too_early)?;
        let data = publication.read_again(run.observer)?;
        let file = &self.private.prepared.file;
        let policy = &file.policy;
        let binding = names::bound(data.schema(), &policy.attributes, policy.undeclared, "the publication")?;
        refuse_empty(&data, &binding)?;
        let hierarchies = negative::hierarchies(self.private.claim, file, &data, &binding)?;
        let memory = run.settings.memory();
        let found = Verification::of_records(
            &data,
            &binding,
            self.private.claim,
            &hierarchies,
            memory,
            run.observer,
        )?;
        self.again = Some(Bound { data, binding });
        Ok(Some(found))
    }

    fn pair(&mut self) -> Result<()> {
        let again = self.again()?;
        let pairs = match &self.made()?.product {
            Product::Trees(made) => {
                let privacy = self.private.prepared.file.policy.need_privacy()?;
                let published = ValueTrees::new(&again.data, &again.binding, privacy.root, privacy.payload);
                pairs::trees(made, &published)
            }
            Product::Vertices { data, binding, records } => {
                pairs::vertices((data, binding), records, (&again.data, &again.binding))
            }
        };
        let pairs = pairs.ok_or_else(ambiguous)?;
        self.pairs = pairs.into_iter().map(|(from, to)| (from as u32, to as u32)).collect();
        Ok(())
    }

    fn make_untold(&mut self, told: &[Told], run: &Run<'_>) -> Result<bool> {
        let prepared = self.private.prepared;
        if prepared.file.policy.need_privacy()?.model != Model::Kmn {
            return Ok(false);
        }
        self.told.extend(told.iter().map(|told| (told.path.clone(), told.label.clone())));
        run.observer.decided("labels told which values they hide: made once more, so that they do not");
        // What was written before is gone, before the next takes its place.
        self.publication = None;
        let (form, create) = &self.written;
        self.publication = Some(Publication::begin(&prepared.file, form, create.clone())?);
        self.make(run)?;
        Ok(true)
    }

    fn guessed(&self, guess: f64, run: &Run<'_>) -> Result<Guessed> {
        let (private, again) = (&self.private, self.again()?);
        let policy = &private.prepared.file.policy;
        let comparison = Comparison {
            published: truth::Side { data: &again.data, binding: &again.binding },
            input: truth::Side { data: &private.input.data, binding: &private.input.binding },
            hierarchies: &private.hierarchies,
            recoding: Recoding::of(policy)?,
            suppress: policy.method.flag("suppress").unwrap_or(false),
            mapping: None,
            sensitive: &policy.need_privacy()?.sensitive,
        };
        let pairs: Vec<(u32, u32)> = self.pairs.iter().map(|&(from, to)| (to, from)).collect();
        judge(&comparison, &pairs, guess, run.observer)
    }

    fn joint(&mut self, run: &Run<'_>) -> Result<Option<Jointly>> {
        let Some(together) = &self.private.together else { return Ok(None) };
        let mut numbers = vec![0; self.again()?.data.len()];
        self.pairs.iter().for_each(|&(from, to)| numbers[to as usize] = from);
        together
            .judge((&self.private.prepared.target, self.again()?), &numbers, self.private.own(), run)
            .map(Some)
    }

    fn loss(&self, run: &Run<'_>) -> Result<Option<Loss>> {
        let compared = self.private.compared(self.again()?.side(), &[], &self.pairs);
        Loss::new(&compared, run.observer).map(Some)
    }

    fn kept(&self, run: &Run<'_>) -> Result<Kept> {
        let compared = self.private.compared(self.again()?.side(), &[], &self.pairs);
        Kept::new(&compared, run.observer)
    }

    fn advice(&self, kept: &Kept, took: Duration, run: &Run<'_>) -> Result<Option<Advice>> {
        self.private.advice(self.again()?.side(), &[], (kept, &self.pairs), took, run)
    }

    fn private(&self) -> Option<(String, Value)> {
        let mapping = mapping_csv(self.pairs.iter().map(|(from, to)| (from + 1, to + 1)));
        Some((mapping, self.made.as_ref()?.private.clone()))
    }

    fn account(&self) -> Result<Account> {
        let (made, again) = (self.made()?, self.again()?);
        Ok(Account {
            records: again.data.len(),
            figures: made.figures.clone(),
            attributes: self.private.attributes(made),
            cut_short: made.cut_short,
            caveats: self.private.claim.caveats(&again.binding),
            legend: self.private.legend(again.side()),
        })
    }

    fn companions(&mut self) -> Result<Vec<Output>> {
        Ok(Vec::new())
    }

    fn publish(&mut self, others: Vec<Output>, certify: Certify<'_>, run: &Run<'_>) -> Result<()> {
        self.publication.take().ok_or_else(too_early)?.finish_certified(others, certify, run.observer)
    }

    fn study(
        &mut self,
        verification: Option<Verification>,
        loss: Option<Loss>,
        run: &Run<'_>,
    ) -> Result<Study> {
        let subject = self.private.subject(self.again()?.side(), &[], &self.pairs);
        Study::of_records(&subject, verification.ok_or_else(too_early)?, loss, run.observer)
    }
}
