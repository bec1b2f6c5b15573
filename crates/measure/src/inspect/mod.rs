//! A look at data that has no policy yet.
//!
//! [`Profile`] counts; [`suggest`] says for every attribute which role it probably has and how it may be coarsened,
//! with the reason; [`draft_policy`] puts that together. What is shown or drafted holds no value of the data, and at least
//! k people stand behind a bound.

mod attackers;
mod bounds;
mod builder;
mod codes;
mod companion;
mod draft;
mod fit;
mod keys;
mod kinds;
mod levels;
mod omop;
mod people;
mod preset;
mod profile;
mod shape;
mod suggest;
mod topic;
mod words;
mod written;

pub use builder::Coarsening;
pub use draft::{Origin, draft_policy};
pub use fit::fit_paths;
pub use keys::{KeyCounts, ObjectKeys};
pub use kinds::telling_kinds;
pub use levels::take_levels;
pub use people::{Identifiers, Shared, repeating_number};
pub use preset::{FHIR_BULK, NO_PRESET, OMOP, PRESETS, apply_preset, preset_format};
pub use profile::{AttributeProfile, ClassProfile, Profile};
pub use shape::ValueType;
pub use suggest::{Suggestion, suggest};
