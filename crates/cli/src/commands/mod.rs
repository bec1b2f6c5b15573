//! The commands, one file each.

pub mod about;
pub mod anonymize;
pub mod attack;
mod attack_text;
pub mod convert;
pub mod dissect;
pub mod generate;
pub mod hierarchy;
pub mod inspect;
pub mod look;
mod made;
mod pairs;
pub mod policy;
pub mod verify;
