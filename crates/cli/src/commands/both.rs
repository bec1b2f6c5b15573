//! A publication with the private input it was made of, as `measure` and `report` look at them.

use std::path::{Path, PathBuf};

use bosket_io::hierarchies::{self, Ask};
use bosket_io::{Opened, PolicyFile, Whereabouts, publication};
use bosket_measure::loss::Side;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place};
use bosket_verify::JudgedClusters;
use bosket_verify::truth::Mapping;

use crate::commands::anatomize;
use crate::commands::anatomize::judged_clusters;
use crate::commands::verify::read_mapping;
use crate::load;
use crate::output::plural;
use crate::talk::Talk;

/// Data with the place of its attributes.
pub(super) struct Bound {
    pub(super) data: Dataset,
    pub(super) binding: Binding,
}

impl Bound {
    pub(super) fn side(&self) -> Side<'_> {
        Side { data: &self.data, binding: &self.binding }
    }
}

/// What is published: records, or people apart from their sensitive values.
enum Release {
    Records(Box<Bound>),
    Anatomized(Box<JudgedClusters>),
}

/// Both sides.
pub(super) struct Both {
    pub(super) input: Bound,
    published: Release,
    pub(super) hierarchies: Vec<Option<Hierarchy>>,
    /// Pairs (input record, published record), if they are known.
    pub(super) mapping: Option<Vec<(u32, u32)>>,
}

impl Both {
    /// The published records; of anatomized ones what goes with the people.
    pub(super) fn published(&self) -> Side<'_> {
        match &self.published {
            Release::Records(bound) => bound.side(),
            Release::Anatomized(published) => Side { data: &published.people, binding: &published.binding },
        }
    }

    /// Both sides of an anatomized publication.
    pub(super) fn anatomized(&self) -> Option<&JudgedClusters> {
        match &self.published {
            Release::Records(_) => None,
            Release::Anatomized(published) => Some(published),
        }
    }
}

/// Where the two are.
pub(super) struct Places<'a> {
    pub(super) input: Whereabouts,
    pub(super) publication: &'a Path,
    pub(super) mapping: Option<&'a Path>,
    pub(super) show_values: bool,
}

pub(super) fn open(file: &PolicyFile, places: Places<'_>, talk: &Talk) -> Result<Both, Failure> {
    let policy = &file.policy;
    let published = release(file, places.publication, talk)?;
    let place = places.input;
    let name = place.name();
    let Opened { data, .. } = load::records(place, talk)?;
    let binding = Binding::of_input(data.schema(), &policy.attributes, policy.undeclared, &name)?;
    let records = match &published {
        Release::Records(bound) => bound.data.len(),
        Release::Anatomized(published) => published.people.len(),
    };
    if records > data.len() {
        let what = format!(
            "the publication has {}, but the input only {}",
            plural(records, "record"),
            plural(data.len(), "record")
        );
        let what = Diagnostic::error(what).at(Place::source(places.publication.display().to_string()));
        return Err(Failure::new(
            Fault::Data,
            what.help("check which is which: the input comes first; and that they belong together"),
        ));
    }
    let ask = Ask { required: false, show_values: places.show_values };
    let (hierarchies, warnings) = hierarchies::load(file, &data, &binding, &name, ask)?;
    talk.diagnostics(&warnings);
    let mapping = match places.mapping.map(Path::to_owned).or_else(|| own_mapping(file, places.publication)) {
        Some(path) => {
            talk.decided(&format!("records are paired by {}", path.display()));
            let mapping = read_mapping(&path)?;
            Some(match &published {
                Release::Anatomized(published) => anatomize::pairs(&mapping, data.len(), published)?,
                Release::Records(_) => {
                    check(&mapping, data.len(), records)?;
                    mapping.pairs.iter().map(|p| (p.input, p.published)).collect()
                }
            })
        }
        None => None,
    };
    Ok(Both { input: Bound { data, binding }, published, hierarchies, mapping })
}

fn release(file: &PolicyFile, at: &Path, talk: &Talk) -> Result<Release, Failure> {
    let policy = &file.policy;
    if policy.anatomizes() {
        let published = judged_clusters(file, at, talk)?;
        return Ok(Release::Anatomized(Box::new(published)));
    }
    let Opened { data, .. } = load::records(Whereabouts::given(file, at, true)?, talk)?;
    let name = at.display().to_string();
    let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, &name)?;
    Ok(Release::Records(Box::new(Bound { data, binding })))
}

/// Every published record must come from one input record, and from another than the others.
fn check(mapping: &Mapping, inputs: usize, outputs: usize) -> Result<(), Failure> {
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
