//! The register that `bosket attack` counts matches in.

use std::path::Path;

use bosket_io::hierarchies::{HierarchyNeeds, Source, load_with_population};
use bosket_io::{PolicyFile, Whereabouts};
use bosket_measure::attack::{Options, Population, Risk, Side, journalist};
use bosket_model::Result;
use bosket_model::hierarchy::Hierarchy;

use crate::load::{self, Bound};
use crate::run::Run;

/// A population with the hierarchies that it shares with the data.
pub(crate) struct Register {
    pub(crate) name: String,
    records: Bound,
    hierarchies: Vec<Option<Hierarchy>>,
    own: Vec<Option<Hierarchy>>,
}

/// What is known of the data that was drawn from it.
pub(crate) struct Drawn<'a> {
    pub(crate) name: &'a str,
    pub(crate) records: &'a Bound,
    /// Whether a publication of it is looked at as well.
    pub(crate) published: bool,
}

impl Register {
    pub(crate) fn open(path: &Path, file: &PolicyFile, drawn: &Drawn<'_>, run: &Run<'_>) -> Result<Self> {
        let place = Whereabouts::given(file, path, false)?;
        let name = place.name();
        // Everybody knows whom the publication is about; who of them was drawn, the register is to tell.
        let mut everybody = file.policy.clone();
        if let Some(source) = &mut everybody.source {
            source.selection.sample = None;
        }
        let records = load::input(place, &everybody, run)?;
        let own = load::hierarchies(file, drawn.records, drawn.name, false, run)?;
        let needs = HierarchyNeeds { required: false, show_values: run.settings.show_values };
        let Bound { data: drawn_data, binding: drawn_binding } = drawn.records;
        let hierarchies = load_with_population(
            file,
            Source { data: drawn_data, binding: drawn_binding, name: drawn.name },
            Source { data: &records.data, binding: &records.binding, name: &name },
            drawn.published,
            needs,
        )?;
        Ok(Register { name, records, hierarchies, own })
    }

    pub(crate) fn people(&self) -> usize {
        self.records.data.len()
    }

    /// Adds journalist risk to what was found in some data.
    pub(crate) fn add_to(
        &self,
        risk: &mut Risk,
        side: Side<'_>,
        file: &PolicyFile,
        options: &Options,
        run: &Run<'_>,
    ) -> Result<()> {
        let population = Population {
            name: &self.name,
            data: &self.records.data,
            binding: &self.records.binding,
            hierarchies: &self.hierarchies,
            own: &self.own,
        };
        journalist(risk, side, population, &file.policy, options, run.observer)
    }
}
