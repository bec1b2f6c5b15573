//! The commands, one file each.

pub mod about;
mod anatomize;
pub mod anonymize;
pub mod attack;
mod attack_text;
mod both;
pub mod certificate;
mod certified;
pub mod convert;
pub mod demo;
pub mod dissect;
pub mod generate;
pub mod hierarchy;
pub mod inspect;
pub mod look;
mod made;
pub mod measure;
mod pairs;
mod places;
pub mod policy;
mod population;
mod private;
pub mod report;
pub mod sweep;
pub mod verify;
