//! The commands, one file each: arguments into a request, the result into text.

pub mod about;
pub mod anonymize;
pub mod attack;
mod attack_text;
pub mod certificate;
pub mod convert;
pub mod demo;
pub mod export;
pub mod generate;
mod guess_text;
pub mod hierarchy;
pub mod inspect;
mod joint;
mod kept;
pub mod measure;
pub mod policy;
pub mod report;
pub mod serve;
pub mod sweep;
pub mod verify;
pub mod why;

use bosket_verify::dissect::Distances;

/// How far the values of groups are apart, a line per attribute; nothing where there is nothing to compare.
fn degrees(all: &[(String, Distances)]) -> String {
    let told = all.iter().filter_map(|(path, found)| Some((path, found.set_wise?, found.pairwise?)));
    let line = |(path, set_wise, pairwise): (&String, _, _)| {
        format!(
            "{path}: values of a group are {set_wise} edges apart from what all have in common, pairwise {pairwise}\n"
        )
    };
    told.map(line).collect()
}
