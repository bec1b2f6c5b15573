//! Dissected publications: every value as it is, people and sensitive values joined by groups only.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use bosket_engine::dissect::{Params, Release as Grouping, SUPPRESSED, run as group};
use bosket_io::apart::{Dissection, Drafts, People, PublishedReader};
use bosket_io::xml::Namespaces;
use bosket_io::{Certify, Create, Output, PolicyFile, Whereabouts, write_failure};
use bosket_measure::kept::{Kept, TakenApart};
use bosket_measure::loss::Loss;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::policy::Format;
use bosket_model::sides::Fates;
use bosket_model::{Diagnostic, Failure, Place, Result};
use bosket_report::advice::Advice;
use bosket_report::study::Study;
use bosket_verify::sides::expected;
use bosket_verify::{JudgedSides, Verification};
use serde_json::{Value, json};

use super::{Account, Draft, mapping_csv, too_early};
use crate::figures::{DissectedFigures, Figures};
use crate::prepare::{Input, Prepared, refuse_taken, sensitive};
use crate::report;
use crate::run::Run;
use crate::verify::declared;
use bosket_model::words::plural;

/// A dissected publication on its way.
pub(super) struct Dissected<'p> {
    prepared: &'p Prepared,
    dissection: Dissection<'p>,
    create: Create,
    people: Option<Box<People>>,
    hierarchies: Vec<Option<Hierarchy>>,
    namespaces: Namespaces,
    grouping: Option<Grouping>,
    drafts: Option<Drafts>,
    found: Option<JudgedSides>,
    figures: DissectedFigures,
    records: usize,
    /// Per group as it was numbered before, its number in the publication.
    ids: Vec<u32>,
}

impl<'p> Dissected<'p> {
    pub(super) fn begin(prepared: &'p Prepared, input: Input, create: Create) -> Result<Self> {
        let (people, hierarchies) = match input {
            Input::People { people, hierarchies } => (Some(people), hierarchies),
            Input::Stream => (None, Vec::new()),
            Input::Records { .. } | Input::Chunks(_) => {
                return Err(Failure::defect("records were read to be dissected"));
            }
        };
        // Places that are taken are found before the work, not after it.
        for place in [Some(prepared.target.clone()), schema_place(&prepared.file)].into_iter().flatten() {
            refuse_taken(&place, create.clone())?;
        }
        Ok(Dissected {
            prepared,
            dissection: Dissection::new(&prepared.file, Fates::new)?,
            create,
            people,
            hierarchies,
            namespaces: Namespaces::default(),
            grouping: None,
            drafts: None,
            found: None,
            figures: DissectedFigures::default(),
            records: 0,
            ids: Vec::new(),
        })
    }

    /// Groups people and writes the groups.
    fn grouped(&mut self, params: &Params, run: &Run<'_>) -> Result<Drafts> {
        let people = self.people.as_mut().ok_or_else(too_early)?;
        let spool = &people.spool;
        let sensitive = sensitive(people, &self.hierarchies);
        let grouping = group(spool.len(), &sensitive, &spool.ties, params, run.observer)?;
        let groups = (&grouping.group_of[..], grouping.groups);
        let drafts = self.dissection.write(people, groups, self.create.clone())?;
        self.namespaces = people.namespaces().clone();
        (self.figures.suppressed, self.figures.telling_groups) = (grouping.suppressed, grouping.telling);
        if grouping.telling > 0 {
            let what = format!(
                "in {} one person has more than its share of the values: whoever knows how many values people have can tell",
                plural(grouping.telling, "group")
            );
            let what = Diagnostic::warning(what).at(Place::source(&self.prepared.file.policy.name));
            run.warn([what.help("ask for larger groups, or publish fewer values per person")]);
        }
        self.grouping = Some(grouping);
        Ok(drafts)
    }
}

impl Draft for Dissected<'_> {
    fn make(&mut self, run: &Run<'_>) -> Result<()> {
        let file = &self.prepared.file;
        let params = Params { show_values: run.settings.show_values, ..Params::new(&file.policy)? };
        let drafts = if self.people.is_some() {
            self.grouped(&params, run)?
        } else {
            let place = Whereabouts::input(file)?;
            let (drafts, namespaces, warnings) = self.dissection.plain(&place, params.group_size)?;
            run.warn(warnings);
            self.namespaces = namespaces;
            drafts
        };
        self.records = drafts.written.people as usize;
        self.ids = drafts.written.ids();
        (self.figures.groups, self.figures.sensitive_values) = (drafts.written.groups, drafts.written.values);
        self.drafts = Some(drafts);
        Ok(())
    }

    fn verify(&mut self, run: &Run<'_>) -> Result<Option<Verification>> {
        let Some(claim) = &self.prepared.claim else { return Ok(None) };
        let drafts = self.drafts.as_mut().ok_or_else(too_early)?;
        let file = &self.prepared.file;
        let found = PublishedReader::new(file, expected)?.read_drafts(drafts, run.observer)?;
        let found = JudgedSides::new(&file.policy, &found)?;
        let verification = Verification::of_dissected(&found, Some(claim), &self.hierarchies, run.observer)?;
        self.figures.degrees.clone_from(&verification.distances);
        self.found = Some(found);
        Ok(Some(verification))
    }

    fn pair(&mut self) -> Result<()> {
        let (Some(found), Some(people)) = (&self.found, &self.people) else { return Ok(()) };
        let published: u64 = found.dissected.people.iter().map(|&p| u64::from(p)).sum();
        if published as usize + self.figures.suppressed != people.spool.len() {
            return Err(Failure::defect("people were lost on the way to their groups"));
        }
        Ok(())
    }

    fn loss(&self, _: &Run<'_>) -> Result<Option<Loss>> {
        Ok(None)
    }

    fn kept(&self, _: &Run<'_>) -> Result<Kept> {
        // What is taken apart while it is read, without a claim, nobody has counted.
        let (Some(people), Some(found)) = (&self.people, &self.found) else { return Ok(Kept::default()) };
        let sensitive = &found.dissected.sensitive;
        let published = TakenApart { people: self.records as u64, sensitive };
        Ok(Kept::of_people(people.spool.len() as u64, &people.spool.sensitive, published))
    }

    /// No value is generalized.
    fn advice(&self, _: &Kept, _: Duration, _: &Run<'_>) -> Result<Option<Advice>> {
        Ok(None)
    }

    fn private(&self) -> Option<(String, Value)> {
        let group_of = self.grouping.as_ref()?.group_of.iter().zip(1..);
        let grouped = group_of.filter(|(group, _)| **group != SUPPRESSED);
        let pairs = grouped.map(|(&group, record)| (record, self.ids[group as usize]));
        Some((mapping_csv(pairs), json!({})))
    }

    fn account(&self) -> Result<Account> {
        let claim = self.prepared.claim.as_ref();
        Ok(Account {
            records: self.records,
            figures: Figures::Dissected(self.figures.clone()),
            attributes: Vec::new(),
            cut_short: false,
            legend: Value::Null,
            caveats: claim
                .map_or(Ok(Vec::new()), |c| declared(&self.prepared.file).map(|d| c.caveats(&d)))?,
        })
    }

    /// The published XSD, if the policy asks for it.
    fn companions(&mut self) -> Result<Vec<Output>> {
        let file = &self.prepared.file;
        let Some(place) = schema_place(file) else {
            return Ok(Vec::new());
        };
        let source = Whereabouts::input(file)?;
        let Some(text) = self.dissection.schema(&source, &self.namespaces)? else {
            return Ok(Vec::new());
        };
        let name = place.file_name().map_or_else(|| "schema.xsd".into(), |n| n.to_string_lossy());
        let mut output = Output::create(&place, self.create.clone())?.published(&name);
        output.write_all(text.as_bytes()).map_err(write_failure)?;
        Ok(vec![output])
    }

    fn publish(&mut self, others: Vec<Output>, certify: Certify<'_>, _: &Run<'_>) -> Result<()> {
        let drafts = self.drafts.take().ok_or_else(too_early)?;
        drafts.finish_certified(self.create.clone(), others, certify)
    }

    fn study(&mut self, verification: Option<Verification>, _: Option<Loss>, run: &Run<'_>) -> Result<Study> {
        let file = &self.prepared.file;
        match &self.found {
            Some(found) => report::dissected(file, found, verification, run),
            // What nobody claims anything about was not read again yet.
            None => {
                let drafts = self.drafts.as_mut().ok_or_else(too_early)?;
                let found = PublishedReader::new(file, expected)?.read_drafts(drafts, run.observer)?;
                report::dissected(file, &JudgedSides::new(&file.policy, &found)?, verification, run)
            }
        }
    }
}

fn schema_place(file: &PolicyFile) -> Option<PathBuf> {
    let xml = file.policy.source.as_ref().is_some_and(|s| s.format == Format::Xml);
    let schema = file.policy.publish.as_ref().and_then(|p| p.schema.as_deref());
    schema.filter(|_| xml).map(|s| file.resolve(s))
}
