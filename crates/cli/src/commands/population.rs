//! The register that `bosket attack` counts matches in.

use std::path::Path;

use bosket_io::hierarchies::{self, HierarchyNeeds, Source};
use bosket_io::{PolicyFile, Whereabouts};
use bosket_measure::attack::{Options, Population, Risk, Side, journalist};
use bosket_model::Failure;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;

use crate::commands::both::Bound;
use crate::load;
use crate::talk::Talk;

/// A population with the hierarchies that it shares with the data.
pub(super) struct Register {
    pub(super) name: String,
    records: Bound,
    hierarchies: Vec<Option<Hierarchy>>,
    own: Vec<Option<Hierarchy>>,
}

/// What is known of the data that was drawn from it.
pub(super) struct Drawn<'a> {
    pub(super) name: &'a str,
    pub(super) records: &'a Bound,
    /// Whether a publication of it is looked at as well.
    pub(super) published: bool,
}

impl Register {
    pub(super) fn open(
        path: &Path,
        file: &PolicyFile,
        drawn: &Drawn<'_>,
        show_values: bool,
        talk: &Talk,
    ) -> Result<Self, Failure> {
        let place = Whereabouts::given(file, path, false)?;
        let name = place.name();
        let data = load::records(place, talk)?.data;
        let policy = &file.policy;
        let binding = Binding::of_input(data.schema(), &policy.attributes, policy.undeclared, &name)?;
        let ask = HierarchyNeeds { required: false, show_values };
        let Bound { data: drawn_data, binding: drawn_binding } = drawn.records;
        let (own, warnings) = hierarchies::load(file, drawn_data, drawn_binding, drawn.name, ask)?;
        talk.diagnostics(&warnings);
        let hierarchies = hierarchies::load_with_population(
            file,
            Source { data: drawn_data, binding: drawn_binding, name: drawn.name },
            Source { data: &data, binding: &binding, name: &name },
            drawn.published,
            ask,
        )?;
        Ok(Register { name, records: Bound { data, binding }, hierarchies, own })
    }

    pub(super) fn people(&self) -> usize {
        self.records.data.len()
    }

    /// Adds journalist risk to what was found in some data.
    pub(super) fn add_to(
        &self,
        risk: &mut Risk,
        side: Side<'_>,
        file: &PolicyFile,
        options: &Options,
        talk: &Talk,
    ) -> Result<(), Failure> {
        let population = Population {
            name: &self.name,
            data: &self.records.data,
            binding: &self.records.binding,
            hierarchies: &self.hierarchies,
            own: &self.own,
        };
        journalist(risk, side, population, &file.policy, options, talk)
    }
}
