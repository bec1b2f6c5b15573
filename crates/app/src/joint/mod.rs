//! Several releases about the same people: reads the earlier ones, finds out whose records are whose, and has the verifier
//! look at all of them together.

mod hold;
pub(crate) mod link;
mod named;
mod search;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use bosket_io::{PolicyFile, Whereabouts, hierarchies, publication};
use bosket_measure::paired;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Build, Hierarchy, HierarchySpec};
use bosket_model::masks::Masks;
use bosket_model::policy::{AttributePolicy, EarlierRelease, Policy, Role};
use bosket_model::{AttributeId, Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::Claim;
use bosket_verify::joint::{self, Joint, Part, Reading};

use crate::load::{self, Bound};
use crate::negative;
use crate::run::Run;
use link::{Numbering, People};
pub(crate) use named::{check, fingerprints, unnamed};
pub use search::Jointly;

/// A release about the same people that is out already.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// The file or folder.
    pub publication: PathBuf,
    /// Its certificate; the one beside it if not given and if it is there.
    pub certificate: Option<PathBuf>,
    /// Its private mapping.
    pub mapping: Option<PathBuf>,
    /// Its private input, where that is another than that of the new release.
    pub input: Option<PathBuf>,
    /// The identifying attribute that both inputs have.
    pub link: Option<String>,
}

impl Earlier {
    /// As a policy names it.
    fn named(file: &PolicyFile, named: &EarlierRelease) -> Self {
        let place = |path: &Option<String>| path.as_deref().map(|path| file.resolve(path));
        Earlier {
            publication: file.resolve(&named.publication),
            certificate: place(&named.certificate),
            mapping: place(&named.mapping),
            input: place(&named.input),
            link: named.link.clone(),
        }
    }

    /// Where its certificate lies: where it is said to, or beside it.
    pub(crate) fn certificate(&self) -> PathBuf {
        let beside = || {
            let name = self.publication.file_name().unwrap_or_default().to_string_lossy();
            self.publication.with_file_name(format!("{name}.certificate.json"))
        };
        self.certificate.clone().unwrap_or_else(beside)
    }

    /// What a run reads of it.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let own =
            [Some(&self.publication), self.certificate.as_ref(), self.mapping.as_ref(), self.input.as_ref()];
        own.into_iter().flatten().cloned()
    }
}

/// Whom a request names, and after that whom the policy does.
pub(crate) fn all(file: &PolicyFile, asked: &[Earlier]) -> Vec<Earlier> {
    let named = file.policy.release.iter().flat_map(|release| &release.earlier);
    let mut all = asked.to_vec();
    for named in named.map(|named| Earlier::named(file, named)) {
        match all.iter_mut().find(|other| same_place(&other.publication, &named.publication)) {
            // A command line need not repeat what the policy says.
            Some(other) => {
                other.certificate = other.certificate.take().or(named.certificate);
                other.mapping = other.mapping.take().or(named.mapping);
                other.input = other.input.take().or(named.input);
                other.link = other.link.take().or(named.link);
            }
            None => all.push(named),
        }
    }
    all
}

/// Whether two paths lead to the same place.
pub(crate) fn same_place(a: &Path, b: &Path) -> bool {
    a == b || std::fs::canonicalize(a).ok().is_some_and(|a| std::fs::canonicalize(b).ok() == Some(a))
}

/// An earlier release as it was read.
pub(crate) struct ReadRelease {
    pub(crate) name: String,
    pub(crate) bound: Bound,
    /// Per record whose it is.
    people: Vec<u32>,
    /// Pairs (input record, published record), where the input is that of the new release.
    pairs: Option<Vec<(u32, u32)>>,
}

/// The private input, with what messages call it.
#[derive(Clone, Copy)]
pub(crate) struct OwnInput<'a> {
    pub(crate) bound: &'a Bound,
    pub(crate) name: &'a str,
    /// The hierarchies that cover its values.
    pub(crate) hierarchies: &'a [Option<Hierarchy>],
}

/// Earlier releases, to be looked at together with a new one.
pub(crate) struct Together<'a> {
    pub(crate) file: &'a PolicyFile,
    pub(crate) claim: &'a Claim,
    pub(crate) earlier: Vec<ReadRelease>,
    /// The policy's attributes as whoever holds all releases sees them.
    attributes: Vec<AttributePolicy>,
    /// Attributes that the search had to hold.
    held: RefCell<Vec<String>>,
}

impl<'a> Together<'a> {
    /// Reads the earlier releases. `own` is how the records of the new one are numbered; its private input is needed where an
    /// earlier one was made of another.
    pub(crate) fn read(
        file: &'a PolicyFile,
        claim: &'a Claim,
        asked: &[Earlier],
        own: Option<&Numbering>,
        input: Option<OwnInput<'_>>,
        run: &Run<'_>,
    ) -> Result<Self> {
        joint::refuse_unfit(claim)?;
        if Masks::of(&file.policy).shifted() {
            let what = "releases with shifted dates cannot be checked together: two shifts of one date tell more than one";
            let what = Diagnostic::error(what).at(Place::source(&file.policy.name));
            return Err(Failure::new(Fault::Policy, what.help("drop the dates, or make them quasi")));
        }
        let mut people: Option<People> = None;
        let mut earlier = Vec::new();
        for one in asked {
            let name = publication::name(file, &one.publication);
            let bound = load::published(file, &one.publication, run)?;
            let Some(mapping) = &one.mapping else { return Err(no_mapping(&name)) };
            let numbers = link::numbers(mapping, bound.data.len())?;
            let beside = Numbering::beside(mapping);
            let (people, pairs) = match &one.input {
                None => {
                    link::refuse_other(own, beside.as_ref(), mapping)?;
                    let pairs = numbers.iter().zip(0..).map(|(&input, published)| (input, published));
                    (numbers.clone(), Some(pairs.collect()))
                }
                Some(other) => {
                    let Some(own) = input else { return Err(no_input(&name)) };
                    if people.is_none() {
                        people = Some(People::new(own.bound, file, one.link.as_deref(), own.name, run)?);
                    }
                    let all = people.as_mut().expect("just made").of_input(file, other, run)?;
                    let whose = |&number: &u32| all.get(number as usize).copied();
                    let whose: Option<Vec<u32>> = numbers.iter().map(whose).collect();
                    (whose.ok_or_else(|| foreign(mapping))?, None)
                }
            };
            earlier.push(ReadRelease { name, bound, people, pairs });
        }
        let shown = earlier.iter().map(|release| (&release.bound.data, &release.bound.binding));
        let Policy { attributes, undeclared, .. } = &file.policy;
        let attributes = joint::as_shown(attributes, *undeclared, shown);
        for ReadRelease { name, bound, .. } in &mut earlier {
            bound.binding = Binding::new(bound.data.schema(), &attributes, *undeclared, name)?;
        }
        Ok(Together { file, claim, earlier, attributes, held: RefCell::default() })
    }

    /// Has the verifier look at the new release and all earlier ones together: by what they show, and with the private input
    /// also row by row.
    pub(crate) fn verify(
        &self,
        (name, published): (&str, &Bound),
        numbers: &[u32],
        input: Option<OwnInput<'_>>,
        run: &Run<'_>,
    ) -> Result<Joint> {
        let hierarchies = self.hierarchies(published, input)?;
        let reading = self.reading(&hierarchies);
        let own =
            Part { name, data: &published.data, binding: &published.binding, people: numbers, origins: None };
        let mut parts = vec![own];
        parts.extend(self.earlier.iter().map(ReadRelease::part));
        let memory = run.settings.memory();
        let found = joint::verify_jointly(&parts, &reading, memory, run.observer)?;
        // Pieces of knowledge are counted row by row: whoever made the releases knows which rows are the same, and nobody
        // should depend on others not guessing it. Whole records look alike by what is shown, whichever row is which.
        let by_rows = matches!(self.claim, Claim::Km(_) | Claim::Kmn(_));
        let Some(input) = input.filter(|_| by_rows && found.holds()) else { return Ok(found) };
        let pairs: Vec<(u32, u32)> = numbers.iter().zip(0..).map(|(&from, to)| (from, to)).collect();
        let origins = |bound: &Bound, pairs: &[(u32, u32)]| {
            paired(input.bound.side(), bound.side(), input.hierarchies, pairs, run.observer)
        };
        let mut known = vec![Some(origins(published, &pairs)?)];
        for release in &self.earlier {
            known.push(release.pairs.as_ref().map(|pairs| origins(&release.bound, pairs)).transpose()?);
        }
        for (part, origins) in parts.iter_mut().zip(&known) {
            part.origins = origins.as_deref();
        }
        let placed = joint::verify_jointly(&parts, &reading, memory, run.observer)?;
        Ok(if placed.holds() { found } else { placed })
    }

    /// The earlier releases, and the new one with whose records it has, as parts of one.
    pub(crate) fn joined(
        &self,
        (name, published): (&str, &Bound),
        numbers: &[u32],
        input: Option<OwnInput<'_>>,
        run: &Run<'_>,
    ) -> Result<joint::Joined> {
        let hierarchies = self.hierarchies(published, input)?;
        let reading = self.reading(&hierarchies);
        let own =
            Part { name, data: &published.data, binding: &published.binding, people: numbers, origins: None };
        let parts: Vec<Part<'_>> =
            std::iter::once(own).chain(self.earlier.iter().map(ReadRelease::part)).collect();
        joint::join(&parts, &reading, run.observer)
    }

    fn reading<'r>(&'r self, hierarchies: &'r [Option<Hierarchy>]) -> Reading<'r> {
        Reading {
            attributes: &self.attributes,
            undeclared: self.file.policy.undeclared,
            claim: self.claim,
            hierarchies,
        }
    }

    /// Hierarchies that have the labels of all releases, as far as they can be had: over the private input all of them,
    /// without it those that are no secret.
    fn hierarchies(&self, published: &Bound, input: Option<OwnInput<'_>>) -> Result<Vec<Option<Hierarchy>>> {
        let Together { file, claim, .. } = *self;
        let needed = negative::hierarchies(claim, file, &published.data, &published.binding)?;
        let all: Vec<&Bound> =
            std::iter::once(published).chain(self.earlier.iter().map(|one| &one.bound)).collect();
        let mut found = Vec::new();
        for (declared, attribute) in self.attributes.iter().enumerate() {
            if let Some(Some(needed)) = needed.get(declared) {
                found.push(Some(needed.clone()));
                continue;
            }
            if let Some(own) = input.and_then(|input| input.hierarchies.get(declared)?.as_ref()) {
                found.push(Some(own.clone()));
                continue;
            }
            let spec = attribute.hierarchy.as_ref().filter(|_| attribute.role == Role::Quasi);
            let Some(spec) = spec.filter(|spec| !of_the_data(spec)) else {
                found.push(None);
                continue;
            };
            let labels: Vec<&str> = all.iter().flat_map(|bound| labels(bound, declared)).collect();
            let stems = labels.iter().filter_map(|label| label.strip_suffix(" (unspecified)"));
            // What is published as it was is a leaf of hierarchies that are built; labels above are none, and are left out.
            found.push(Some(hierarchies::one(spec, &file.folder, &labels)?.with_unspecified(stems)));
        }
        Ok(found)
    }
}

impl ReadRelease {
    fn part(&self) -> Part<'_> {
        let Bound { data, binding } = &self.bound;
        Part { name: &self.name, data, binding, people: &self.people, origins: None }
    }
}

/// Whether what lies above a value depends on the other values of the data. Where it depends on the value alone, a hierarchy
/// over those that are published says nothing else than that of the data.
fn of_the_data(spec: &HierarchySpec) -> bool {
    let alone = |build: &Build| {
        matches!(
            build,
            Build::Order { .. }
                | Build::Interval { .. }
                | Build::Date { .. }
                | Build::Icd10 { .. }
                | Build::Atc
        )
    };
    matches!(spec, HierarchySpec::Build(build) if !alone(build))
}

/// All texts that a release shows of a declared attribute.
pub(crate) fn labels(bound: &Bound, declared: usize) -> Vec<&str> {
    let own = bound.data.schema().attributes().map(|(id, _)| id);
    let own: Vec<AttributeId> =
        own.filter(|id| bound.binding.attributes[id.index()] == Some(declared)).collect();
    hierarchies::domain(&bound.data, &own)
}

/// The private input with the hierarchies that cover it.
pub(crate) fn own_input(
    file: &PolicyFile,
    input: &Path,
    run: &Run<'_>,
) -> Result<(String, Bound, Vec<Option<Hierarchy>>)> {
    let place = Whereabouts::given(file, input, false)?;
    let name = place.name();
    let bound = load::input(place, &file.policy, run)?;
    let hierarchies = load::hierarchies(file, &bound, &name, false, run)?;
    Ok((name, bound, hierarchies))
}

fn no_mapping(name: &str) -> Failure {
    let what = format!("whose records are whose in {name} is not known without its private mapping");
    let help = "give it with --with-mapping, or as `mapping` in `[[release.earlier]]`; it was written where `publish.mapping` \
                said so";
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}

fn no_input(name: &str) -> Failure {
    let what = format!("{name} was made of another input: people are linked by what identifies them in both");
    Failure::new(
        Fault::Usage,
        Diagnostic::error(what).help("give the private input of the new one with --against"),
    )
}

fn foreign(mapping: &Path) -> Failure {
    let what = "the mapping names records that the earlier input does not have";
    let what = Diagnostic::error(what).at(Place::source(mapping.display().to_string()));
    Failure::new(Fault::Data, what.help("check that mapping and input belong together"))
}
