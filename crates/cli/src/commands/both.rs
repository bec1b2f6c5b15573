//! A publication with the private input it was made of, as `measure` and `report` look at them.

use std::path::{Path, PathBuf};

use bosket_io::hierarchies::{self, Ask};
use bosket_io::{Opened, PolicyFile, Whereabouts, publication};
use bosket_measure::loss::Side;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::{Diagnostic, Failure, Fault, Place};
use bosket_verify::truth::Mapping;

use crate::commands::verify::read_mapping;
use crate::load;
use crate::output::plural;
use crate::talk::Talk;

/// Data with the place of its attributes.
pub(super) struct Bound {
    pub(super) opened: Opened,
    pub(super) binding: Binding,
}

impl Bound {
    pub(super) fn side(&self) -> Side<'_> {
        Side { data: &self.opened.data, binding: &self.binding }
    }
}

/// Both sides.
pub(super) struct Both {
    pub(super) input: Bound,
    pub(super) published: Bound,
    pub(super) hierarchies: Vec<Option<Hierarchy>>,
    /// Pairs (input record, published record), if they are known.
    pub(super) mapping: Option<Vec<(u32, u32)>>,
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
    let published = load::records(Whereabouts::given(file, places.publication, true)?, talk)?;
    let name = places.publication.display().to_string();
    let binding = Binding::new(published.data.schema(), &policy.attributes, policy.undeclared, &name)?;
    let published = Bound { opened: published, binding };
    let place = places.input;
    let name = place.name();
    let opened = load::records(place, talk)?;
    let binding = Binding::of_input(opened.data.schema(), &policy.attributes, policy.undeclared, &name)?;
    if published.opened.data.len() > opened.data.len() {
        let what = format!(
            "the publication has {}, but the input only {}",
            plural(published.opened.data.len(), "record"),
            plural(opened.data.len(), "record")
        );
        let what = Diagnostic::error(what).at(Place::source(places.publication.display().to_string()));
        return Err(Failure::new(
            Fault::Data,
            what.help("check which is which: the input comes first; and that they belong together"),
        ));
    }
    let ask = Ask { required: false, show_values: places.show_values };
    let (hierarchies, warnings) = hierarchies::load(file, &opened.data, &binding, &name, ask)?;
    talk.diagnostics(&warnings);
    let mapping = match places.mapping.map(Path::to_owned).or_else(|| own_mapping(file, places.publication)) {
        Some(path) => {
            talk.decided(&format!("records are paired by {}", path.display()));
            let mapping = read_mapping(&path)?;
            check(&mapping, opened.data.len(), published.opened.data.len())?;
            Some(mapping.pairs.iter().map(|p| (p.input, p.published)).collect())
        }
        None => None,
    };
    Ok(Both { input: Bound { opened, binding }, published, hierarchies, mapping })
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
