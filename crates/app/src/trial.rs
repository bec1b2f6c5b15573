//! A run in memory, for comparing settings and for measuring: nothing is written, and what comes out is judged all the
//! same.

use std::ops::Deref;

use bosket_engine::dissect;
use bosket_io::apart::{Dissection, People, Written};
use bosket_io::{Create, PolicyFile, Whereabouts};
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::Policy;
use bosket_model::sides::Fates;
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Failure, Result};
use bosket_verify::{Claim, Verification};

use crate::load::{self, Bound};
use crate::make::{Made, Product, Work, make, placed};
use crate::negative;
use crate::prepare::{Input, people, sensitive};
use crate::run::{Run, Settings, run};
use crate::warned::Warned;

/// Private records with the hierarchies that cover them.
#[derive(Debug)]
pub struct TrialData {
    pub(crate) input: Bound,
    pub(crate) hierarchies: Vec<Option<Hierarchy>>,
}

impl TrialData {
    /// Reads the source of a policy.
    pub fn read(file: &PolicyFile, settings: &Settings, observer: &dyn Observer) -> Result<Warned<Self>> {
        run(settings, observer, |run| Self::open(file, Whereabouts::input(file)?, run))
    }

    pub(crate) fn open(file: &PolicyFile, place: Whereabouts, run: &Run<'_>) -> Result<Self> {
        let name = place.name();
        let input = load::input(place, &file.policy, run)?;
        let hierarchies = load::hierarchies(file, &input, &name, true, run)?;
        Ok(TrialData { input, hierarchies })
    }

    /// Takes records that are in memory already.
    pub fn new(
        file: &PolicyFile,
        data: Dataset,
        name: &str,
        settings: &Settings,
        observer: &dyn Observer,
    ) -> Result<Warned<Self>> {
        run(settings, observer, |run| {
            let policy = &file.policy;
            let input = load::bind_input(data, policy, name, run)?;
            let hierarchies = load::hierarchies(file, &input, name, true, run)?;
            Ok(TrialData { input, hierarchies })
        })
    }

    /// The records.
    pub fn data(&self) -> &Dataset {
        &self.input.data
    }

    /// The place of their attributes.
    pub fn binding(&self) -> &Binding {
        &self.input.binding
    }

    /// Per declared attribute, with a leaf for every value of the data.
    pub fn hierarchies(&self) -> &[Option<Hierarchy>] {
        &self.hierarchies
    }
}

/// People who are grouped and written to private files only.
#[derive(Debug)]
pub struct TrialPeople<'p> {
    dissection: Dissection<'p>,
    people: Box<People>,
    hierarchies: Vec<Option<Hierarchy>>,
    params: dissect::Params,
}

impl<'p> TrialPeople<'p> {
    /// Reads the source of a policy that is dissected.
    pub fn read(file: &'p PolicyFile, settings: &Settings, observer: &dyn Observer) -> Result<Warned<Self>> {
        run(settings, observer, |run| {
            let Input::People { people, hierarchies } = people(file, run)? else {
                return Err(Failure::defect("people were to be read"));
            };
            let params = dissect::Params::new(&file.policy)?;
            Ok(TrialPeople { dissection: Dissection::new(file, Fates::new)?, people, hierarchies, params })
        })
    }

    /// Groups them.
    pub fn group(&self, observer: &dyn Observer) -> Result<dissect::Release> {
        let spool = &self.people.spool;
        let sensitive = sensitive(&self.people, &self.hierarchies);
        dissect::run(spool.len(), &sensitive, &spool.ties, &self.params, observer)
    }

    /// Writes the groups, and drops what was written.
    pub fn write(&mut self, groups: &dissect::Release) -> Result<Written> {
        let groups = (groups.group_of.as_slice(), groups.groups);
        Ok(self.dissection.write(&mut self.people, groups, Create::default())?.written)
    }
}

/// What a policy asks to be made of records.
#[derive(Debug)]
pub struct Trial<'a> {
    input: Side<'a>,
    hierarchies: &'a [Option<Hierarchy>],
    file: &'a PolicyFile,
    claim: Claim,
    published: Binding,
    memory: usize,
}

impl<'a> Trial<'a> {
    /// Nothing is tried that could not be verified afterwards.
    pub fn new(file: &'a PolicyFile, data: &'a TrialData, settings: &Settings) -> Result<Self> {
        Self::of(file, data.input.side(), &data.hierarchies, settings.memory())
    }

    /// The same of records that somebody else has.
    pub(crate) fn of(
        file: &'a PolicyFile,
        input: Side<'a>,
        hierarchies: &'a [Option<Hierarchy>],
        memory: usize,
    ) -> Result<Self> {
        let claim = Claim::new(&file.policy)?;
        let published = input.binding.without_companions();
        Ok(Trial { input, hierarchies, file, claim, published, memory })
    }

    /// What is promised.
    pub(crate) fn claim(&self) -> &Claim {
        &self.claim
    }

    fn work(&self) -> Work<'_> {
        Work {
            policy: &self.file.policy,
            claim: &self.claim,
            data: self.input.data,
            binding: self.input.binding,
            published: &self.published,
            hierarchies: self.hierarchies,
            memory: self.memory,
            told: &[],
            kernel: None,
        }
    }

    /// The records as the algorithms for sets and trees take them.
    pub fn trees(&self) -> Result<ValueTrees> {
        self.work().trees()
    }

    /// Runs the algorithm.
    pub fn make(&self, observer: &dyn Observer) -> Result<Made> {
        make(&self.work(), observer)
    }

    /// Looks at what was made as the verifier does.
    pub fn judge(&self, made: &Made, observer: &dyn Observer) -> Result<Tried> {
        let unjudged = self.publish(made)?;
        let Bound { data, binding } = &unjudged.published;
        let absent = negative::hierarchies(&self.claim, self.file, data, binding)?;
        let verification =
            Verification::of_records(data, binding, &self.claim, &absent, self.memory, observer)?;
        Ok(Tried { unjudged, verification })
    }

    /// What would be published, which nobody has verified.
    pub(crate) fn publish(&self, made: &Made) -> Result<Unjudged> {
        let policy = &self.file.policy;
        let own = self.input.binding;
        let data = match &made.product {
            Product::Trees(trees) => trees.write_back(own),
            Product::Vertices { data, .. } => data.clone(),
        };
        let binding = Binding::new(data.schema(), &placed(policy, own), policy.undeclared, "the result")?;
        // The trees before and after are in the same order, and so are vertex trees with their records.
        let mapping = match &made.product {
            Product::Trees(..) => (0..data.len() as u32).map(|r| (r, r)).collect(),
            Product::Vertices { records, .. } => records.iter().copied().zip(0..).collect(),
        };
        Ok(Unjudged { published: Bound { data, binding }, mapping })
    }

    /// What was lost, by the metrics of a policy.
    pub fn loss(&self, tried: &Unjudged, by: &Policy, mining: bool, observer: &dyn Observer) -> Result<Loss> {
        let compared = Compared {
            policy: by,
            input: self.input,
            published: tried.published.side(),
            hierarchies: self.hierarchies,
            apart: &[],
            mapping: Some(&tried.mapping),
            mining,
        };
        Loss::new(&compared, observer)
    }
}

/// The records that would be published.
#[derive(Debug)]
pub struct Unjudged {
    published: Bound,
    /// Pairs (input record, published record), by numbers from 0.
    pub mapping: Vec<(u32, u32)>,
}

/// What came out of a trial.
#[derive(Debug)]
pub struct Tried {
    unjudged: Unjudged,
    /// What the verifier says about it.
    pub verification: Verification,
}

impl Deref for Tried {
    type Target = Unjudged;

    fn deref(&self) -> &Unjudged {
        &self.unjudged
    }
}

impl Unjudged {
    /// The records.
    pub fn side(&self) -> Side<'_> {
        self.published.side()
    }
}
