//! A publication with the private input it was made of, as `measure` and `report` look at them.

use std::path::{Path, PathBuf};

use bosket_io::{PolicyFile, Whereabouts, publication};
use bosket_measure::loss::Side;
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::JudgedClusters;
use bosket_verify::truth::Mapping;

use crate::load::{self, Bound};
use crate::run::Run;
use crate::verify::judged_clusters;
use crate::verify::mapping::{pairs_of_groups, read_mapping};
use bosket_model::words::plural;

/// What is published: records, or people apart from their sensitive values.
enum PublishedAs {
    Records(Box<Bound>),
    Anatomized(Box<JudgedClusters>),
}

/// Both sides.
pub(crate) struct Both {
    pub(crate) input: Bound,
    published: PublishedAs,
    pub(crate) hierarchies: Vec<Option<Hierarchy>>,
    /// Pairs (input record, published record), if they are known.
    pub(crate) mapping: Option<Vec<(u32, u32)>>,
}

impl Both {
    /// The published records; of anatomized ones what goes with the people.
    pub(crate) fn published(&self) -> Side<'_> {
        match &self.published {
            PublishedAs::Records(bound) => bound.side(),
            PublishedAs::Anatomized(published) => {
                Side { data: &published.people, binding: &published.binding }
            }
        }
    }

    /// Sensitive values that stand apart from the people.
    pub(crate) fn aside(&self) -> &[SensitiveValues] {
        self.anatomized().map_or(&[], |published| &published.judged.dissected.sensitive)
    }

    /// Both sides of an anatomized publication.
    pub(crate) fn anatomized(&self) -> Option<&JudgedClusters> {
        match &self.published {
            PublishedAs::Records(_) => None,
            PublishedAs::Anatomized(published) => Some(published),
        }
    }
}

/// Where the two are.
pub(crate) struct Places<'a> {
    pub(crate) input: Whereabouts,
    pub(crate) publication: &'a Path,
    pub(crate) mapping: Option<&'a Path>,
}

pub(crate) fn open(file: &PolicyFile, places: Places<'_>, run: &Run<'_>) -> Result<Both> {
    let published = published(file, places.publication, run)?;
    let name = places.input.name();
    let input = load::input(places.input, &file.policy, run)?;
    let inputs = input.data.len();
    let records = match &published {
        PublishedAs::Records(bound) => bound.data.len(),
        PublishedAs::Anatomized(published) => published.people.len(),
    };
    if records > inputs {
        let what = format!(
            "the publication has {}, but the input only {}",
            plural(records, "record"),
            plural(inputs, "record")
        );
        let what = Diagnostic::error(what).at(Place::source(places.publication.display().to_string()));
        return Err(Failure::new(
            Fault::Data,
            what.help("check which is which: the input comes first; and that they belong together"),
        ));
    }
    let hierarchies = load::hierarchies(file, &input, &name, false, run)?;
    let mapping = match places.mapping.map(Path::to_owned).or_else(|| own_mapping(file, places.publication)) {
        Some(path) => {
            run.observer.decided(&format!("records are paired by {}", path.display()));
            let mapping = read_mapping(&path)?;
            Some(match &published {
                PublishedAs::Anatomized(published) => pairs_of_groups(&mapping, inputs, published)?,
                PublishedAs::Records(_) => {
                    check(&mapping, inputs, records)?;
                    mapping.pairs.iter().map(|p| (p.input, p.published)).collect()
                }
            })
        }
        None => None,
    };
    Ok(Both { input, published, hierarchies, mapping })
}

fn published(file: &PolicyFile, at: &Path, run: &Run<'_>) -> Result<PublishedAs> {
    if file.policy.anatomizes() {
        let published = judged_clusters(file, at, run.observer)?;
        return Ok(PublishedAs::Anatomized(Box::new(published)));
    }
    load::published(file, at, run).map(|bound| PublishedAs::Records(Box::new(bound)))
}

/// Every published record must come from one input record, and from another than the others.
pub(crate) fn check(mapping: &Mapping, inputs: usize, outputs: usize) -> Result<()> {
    let (mut from, mut to) = (vec![false; inputs], vec![false; outputs]);
    let wrong = mapping.pairs.iter().find(|pair| {
        let taken = |seen: &mut Vec<bool>, at: u32| {
            seen.get_mut(at as usize).is_none_or(|seen| std::mem::replace(seen, true))
        };
        taken(&mut from, pair.input) | taken(&mut to, pair.published)
    });
    let what = match wrong {
        Some(pair) => Diagnostic::error("the mapping names a record that is not there, or one twice")
            .at(Place::source(&mapping.name).line(pair.line)),
        None if to.contains(&false) => {
            Diagnostic::error("the mapping does not say where every published record comes from")
                .at(Place::source(&mapping.name))
        }
        None => return Ok(()),
    };
    Err(Failure::new(Fault::Data, what.help("use the mapping that was written with this publication")))
}

/// The mapping that was written with the policy's own publication.
fn own_mapping(file: &PolicyFile, publication: &Path) -> Option<PathBuf> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let own = publication::target(file).ok()?;
    let mapping = file.policy.publish.as_ref()?.mapping.as_deref().map(|p| file.resolve(p))?;
    (real(&own).is_some() && real(&own) == real(publication) && mapping.is_file()).then_some(mapping)
}
