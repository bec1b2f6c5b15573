//! The commands, one file each.

pub mod about;
pub mod anonymize;
pub mod certificate;
mod certified;
pub mod convert;
pub mod dissect;
pub mod generate;
pub mod hierarchy;
pub mod inspect;
pub mod look;
mod made;
mod pairs;
pub mod policy;
mod private;
pub mod verify;
