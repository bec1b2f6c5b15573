//! A new release that keeps its promise together with earlier ones: proposed, looked at by the verifier, and held back where
//! it says too much, until it holds.
//!
//! Recoding: the release that the policy asks for is proposed first. If it breaks the promise together with the earlier ones,
//! an attribute that the witness names is held at the labels that these show (`hold`), and another is proposed; at the latest
//! when all are held, it is a function of what is out already, and adds nothing. Clusters: the classes of the earlier releases
//! are kept or merged.

use std::collections::BTreeMap;
use std::path::Path;

use bosket_engine::{Params, cluster};
use bosket_io::publication;
use bosket_model::binding::Binding;
use bosket_model::policy::{Role, Shape};
use bosket_model::{Diagnostic, Failure, Fault, Result};
use bosket_verify::joint::{self, Joint, Part};
use bosket_verify::vertex::QuasiForms;
use serde_json::{Value, json};

use super::link::Numbering;
use super::{OwnInput, ReadRelease, Together, hold};
use crate::load::Bound;
use crate::make::{Made, Product, Work, clusters_of, placed, searched, without_invented};
use crate::prepare::Prepared;
use crate::run::Run;

/// What a release tells together with earlier ones.
#[derive(Clone, Debug)]
pub struct Jointly {
    /// What messages call the earlier ones.
    pub releases: Vec<String>,
    /// People who are in more than one of the releases.
    pub linked: usize,
    /// Attributes that are shown no finer than earlier releases do, since together they would have told too much.
    pub held: Vec<String>,
}

impl Jointly {
    /// The same for programs.
    pub fn to_json(&self) -> Value {
        json!({"releases": self.releases, "linked": self.linked, "held": self.held, "holds": true})
    }
}

impl<'p> Together<'p> {
    /// The earlier releases of a run; none where it has none.
    pub(crate) fn of_run(
        prepared: &'p Prepared,
        claim: &'p bosket_verify::Claim,
        input: OwnInput<'_>,
        run: &Run<'_>,
    ) -> Result<Option<Self>> {
        if prepared.earlier.is_empty() {
            return Ok(None);
        }
        let mut hashes = Vec::new();
        for path in prepared.paths.iter().filter(|path| path.is_file()) {
            hashes.push(bosket_io::fingerprint::of_file(path, run.observer)?);
        }
        let file = &prepared.file;
        let own = Numbering::of_run(&file.policy, hashes);
        // Whoever has them knows them by their files: what is not as certified is refused before anything is made.
        super::fingerprints(&prepared.earlier, run)?;
        let together = Self::read(file, claim, &prepared.earlier, Some(&own), Some(input), run)?;
        let hierarchies = together.hierarchies(&together.earlier[0].bound, Some(input))?;
        let parts: Vec<Part<'_>> = together.earlier.iter().map(ReadRelease::part).collect();
        let memory = run.settings.memory();
        let before = joint::verify_jointly(&parts, &together.reading(&hierarchies), memory, run.observer)?;
        if !before.holds() {
            let what = format!(
                "{} breaks the promise already: nothing that comes after can keep it",
                before.releases.join(" with ")
            );
            let help = "ask for what the earlier release promises; `bosket verify` shows a witness";
            return Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help)));
        }
        Ok(Some(together))
    }

    /// Makes a release that keeps its promise together with the earlier ones, or says why there is none.
    pub(crate) fn make(&self, work: &Work<'_>, input: OwnInput<'_>, run: &Run<'_>) -> Result<Made> {
        if work.policy.need_privacy()?.model.shape() == Shape::VertexTree {
            let made = self.merged(work, run)?;
            let joint = self.proposed(&made, work, input, run)?;
            return if joint.holds() { Ok(made) } else { Err(self.unreachable()) };
        }
        let mut held = vec![false; work.binding.declared.len()];
        loop {
            let bounded = hold::hold(
                input.bound,
                input.hierarchies,
                &held,
                self.earlier.iter().map(|release| &release.bound),
            );
            let own = Work { data: &bounded.data, hierarchies: &bounded.hierarchies, ..*work };
            let made = searched(&own, run.observer)?;
            let joint = self.proposed(&made, work, input, run)?;
            if joint.holds() {
                let paths = held_paths(work.binding, &held);
                self.held.replace(paths.into_iter().map(str::to_owned).collect());
                return Ok(made);
            }
            // Sensitive items are published as they are, whatever is held.
            let next = if self.claim.sensitive().is_empty() { next(work, &joint, &held) } else { None };
            let Some(next) = next else { return Err(self.unreachable()) };
            let shared = work.policy.attributes[next].shared;
            for (declared, attribute) in work.policy.attributes.iter().enumerate() {
                held[declared] |= declared == next || (shared && attribute.shared);
            }
        }
    }

    /// Looks at what was made, as it would be read.
    fn proposed(&self, made: &Made, work: &Work<'_>, input: OwnInput<'_>, run: &Run<'_>) -> Result<Joint> {
        let attributes = placed(work.policy, work.binding);
        let (data, numbers) = match &made.product {
            Product::Trees(trees) => {
                let data = trees.write_back(work.binding);
                let numbers = (0..data.len() as u32).collect();
                (data, numbers)
            }
            Product::Vertices { data, records, .. } => (data.clone(), records.clone()),
        };
        let binding = Binding::new(data.schema(), &attributes, work.policy.undeclared, "a solution")?;
        self.verify(("the new release", &Bound { data, binding }), &numbers, Some(input), run)
    }

    /// Clusters of the classes that the earlier releases have.
    fn merged(&self, work: &Work<'_>, run: &Run<'_>) -> Result<Made> {
        let Params::Cluster(mut params) = Params::new(work.policy)? else {
            return Err(Failure::defect("vertex trees are published in clusters"));
        };
        params.memory = work.memory;
        let mut classes = self.classes(work.data.len(), run)?;
        // Whoever is in none of the earlier releases lacks what only these show, and would look like nobody.
        let mut own: Vec<u32> = match self.shows_less() {
            true => classes.iter().flatten().copied().collect(),
            false => (0..work.data.len() as u32).collect(),
        };
        own.sort_unstable();
        let picked = work.data.picked(&own);
        let number = |record: &mut u32| *record = own.partition_point(|other| *other < *record) as u32;
        classes.iter_mut().flatten().for_each(number);
        let mut release = cluster::run_on_classes(
            if own.len() == work.data.len() { work.data } else { &picked },
            work.published,
            work.hierarchies,
            &params,
            &classes,
            run.observer,
        )?;
        let back = |record: &mut u32| *record = own[*record as usize];
        release.records.iter_mut().for_each(back);
        release.clusters.iter_mut().flatten().for_each(back);
        release.suppressed.iter_mut().for_each(back);
        let missing = (0..work.data.len() as u32).filter(|record| own.binary_search(record).is_err());
        release.suppressed.extend(missing);
        release.suppressed.sort_unstable();
        without_invented(clusters_of(work, &params, release)?, work, run.observer)
    }

    /// Whether the policy drops something that an earlier release shows.
    fn shows_less(&self) -> bool {
        let own = &self.file.policy.attributes;
        let mut both = self.attributes.iter().zip(own);
        self.attributes.len() > own.len() || both.any(|(seen, own)| seen.role != own.role)
    }

    /// The people of each class, by their record in the input: classes of different releases that share somebody are one.
    fn classes(&self, records: usize, run: &Run<'_>) -> Result<Vec<Vec<u32>>> {
        let mut leader: Vec<u32> = (0..records as u32).collect();
        fn find(leader: &mut [u32], of: u32) -> u32 {
            let mut at = of;
            while leader[at as usize] != at {
                leader[at as usize] = leader[leader[at as usize] as usize];
                at = leader[at as usize];
            }
            at
        }
        let mut is_in = vec![false; records];
        for release in &self.earlier {
            let forms = QuasiForms::new(&release.bound.data, &release.bound.binding, run.observer)?;
            for class in &forms.classes {
                let people = class.iter().map(|&record| release.people[record as usize]);
                let own: Vec<u32> = people.filter(|&person| (person as usize) < records).collect();
                for &person in &own {
                    is_in[person as usize] = true;
                    let (a, b) = (find(&mut leader, own[0]), find(&mut leader, person));
                    leader[a.max(b) as usize] = a.min(b);
                }
            }
        }
        let mut classes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for record in (0..records as u32).filter(|&record| is_in[record as usize]) {
            classes.entry(find(&mut leader, record)).or_default().push(record);
        }
        Ok(classes.into_values().collect())
    }

    /// Has what was written and read again looked at together with the earlier releases.
    pub(crate) fn judge(
        &self,
        (target, published): (&Path, &Bound),
        numbers: &[u32],
        input: OwnInput<'_>,
        run: &Run<'_>,
    ) -> Result<Jointly> {
        let name = publication::name(self.file, target);
        let found = self.verify((&name, published), numbers, Some(input), run)?;
        if !found.holds() {
            return Err(Failure::defect(
                "what was written breaks the promise together with an earlier release",
            ));
        }
        Ok(Jointly {
            releases: self.earlier.iter().map(|release| release.name.clone()).collect(),
            linked: found.linked,
            held: self.held.borrow().clone(),
        })
    }

    fn unreachable(&self) -> Failure {
        let names: Vec<&str> = self.earlier.iter().map(|release| release.name.as_str()).collect();
        let what = format!(
            "no release was found that keeps the promise together with {}: nothing was published",
            names.join(", ")
        );
        let help =
            "ask for fewer attributes or a smaller k; the earlier release itself can be handed out again";
        Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help))
    }
}

fn held_paths<'b>(binding: &'b Binding, held: &[bool]) -> Vec<&'b str> {
    let own = held.iter().zip(&binding.declared).filter(|(held, _)| **held);
    own.map(|(_, declared)| declared.path.as_str()).collect()
}

/// The attribute to hold next: one of the witness that only the new release shows so, else one that it shows, else any.
fn next(work: &Work<'_>, joint: &Joint, held: &[bool]) -> Option<usize> {
    let values = joint.verification.witness().into_iter().flat_map(|witness| &witness.values);
    let named: Vec<(usize, &Vec<usize>)> = values
        .zip(&joint.sources)
        .filter_map(|(value, from)| {
            let declared = work.binding.declared.iter().position(|d| d.path == value.path)?;
            Some((declared, from))
        })
        .filter(|(declared, _)| !held[*declared])
        .collect();
    let alone = named.iter().find(|(_, from)| from.as_slice() == [0]);
    let shown = named.iter().find(|(_, from)| from.contains(&0));
    let quasi = |&d: &usize| {
        work.binding.declared[d].role == Role::Quasi && work.binding.declared[d].follows.is_none()
    };
    let any = (0..held.len()).find(|d| quasi(d) && !held[*d]);
    alone.or(shown).map(|(declared, _)| *declared).or(any)
}
