//! What is known about the columns of an OMOP database before any data is seen.
//!
//! As with FHIR, what describes people and their care is kept. The rest has role `drop`: the model has some four hundred
//! columns, and what nobody has thought about must not be published.

use bosket_model::Dataset;
use bosket_model::policy::Role;

use super::builder::{coarsening, in_order};
use super::preset::{FAMILY, NEIGHBOURS};
use super::profile::{AttributeProfile, Profile};
use super::shape::ValueType;
use super::suggest::Suggestion;
use super::topic::Topic;

/// Columns that somebody may know, and how.
const KNOWN: [(&str, &str); 30] = [
    ("gender_concept_id", MET),
    ("race_concept_id", MET),
    ("ethnicity_concept_id", MET),
    ("year_of_birth", FAMILY),
    ("death_date", "Registers and newspapers tell it."),
    ("city", NEIGHBOURS),
    ("county", NEIGHBOURS),
    ("state", NEIGHBOURS),
    ("zip", NEIGHBOURS),
    ("location_id", NEIGHBOURS),
    ("country_concept_id", NEIGHBOURS),
    ("visit_concept_id", SAW),
    ("visit_start_date", SAW),
    ("visit_detail_concept_id", SAW),
    ("visit_detail_start_date", SAW),
    ("condition_concept_id", AILS),
    ("condition_start_date", AILS),
    ("procedure_concept_id", AILS),
    ("procedure_date", AILS),
    ("drug_concept_id", TAKES),
    ("drug_exposure_start_date", TAKES),
    ("device_concept_id", TAKES),
    ("device_exposure_start_date", TAKES),
    ("measurement_concept_id", AILS),
    ("measurement_date", AILS),
    ("observation_concept_id", AILS),
    ("observation_date", AILS),
    ("value_as_concept_id", AILS),
    ("specimen_concept_id", AILS),
    ("specimen_date", AILS),
];
pub(super) const MET: &str = "Whoever has met the person knows it.";
const SAW: &str = "Who saw the person come or stay knows it.";
const AILS: &str = "Part of what ails somebody is known to colleagues and family.";
const TAKES: &str = "Who lives or works with the person may know it.";

/// Columns that name a person, or say things freely.
const NAMING: [&str; 5] =
    ["person_source_value", "note_text", "note_title", "unique_device_id", "value_as_string"];

/// Columns that refer to those who care.
const CARERS: [&str; 3] = ["provider_id", "care_site_id", "visit_detail_id"];

/// Replaces the suggestions for what the model knows.
pub(super) fn apply(profile: &Profile, data: &Dataset, suggestions: &mut [Suggestion]) {
    for (i, attribute) in profile.attributes.iter().enumerate() {
        let column = column(attribute);
        let known = KNOWN.iter().find(|(name, _)| *name == column);
        // What refers to a table that is read, or is above another in its hierarchy, stays.
        if suggestions[i].role == Role::Key && known.is_none() {
            continue;
        }
        let date = column.strip_suffix("_datetime").map(|stem| format!("{stem}_date"));
        let date = date.and_then(|date| {
            let same = |a: &&AttributeProfile| a.class == attribute.class && self::column(a) == date;
            profile.attributes.iter().find(same)
        });
        let kept = |name: &str| KNOWN.iter().any(|(known, _)| *known == name);
        suggestions[i] = match (known, date) {
            (Some(_), _) if attribute.distinct == 0 => drop_it("It has no value anywhere."),
            (Some((_, reason)), _) => {
                let hierarchy = suggestions[i].hierarchy.take();
                Suggestion {
                    role: Role::Quasi,
                    reason: (*reason).to_owned(),
                    hierarchy: Some(hierarchy.unwrap_or_else(|| built(data, attribute, &column))),
                    follows: None,
                }
            }
            (None, Some(date)) if kept(&self::column(date)) => Suggestion {
                role: Role::Quasi,
                reason: format!("Says what {} says, and the time, and goes where that goes.", date.path),
                hierarchy: None,
                follows: Some(date.id),
            },
            _ if NAMING.contains(&column.as_str()) => {
                Suggestion { role: Role::Identifying, ..drop_it("Names a person, or says things freely.") }
            }
            _ if CARERS.contains(&column.as_str()) => {
                Suggestion { role: Role::Key, ..drop_it("Refers to those who care; published empty.") }
            }
            _ if column.ends_with("_source_value") || column.ends_with("_source_concept_id") => {
                drop_it("Says in the source's words what stands beside it.")
            }
            _ => drop_it("Not among what the preset publishes; give it another role to publish it."),
        };
    }
}

fn drop_it(reason: &str) -> Suggestion {
    Suggestion { role: Role::Drop, reason: reason.to_owned(), hierarchy: None, follows: None }
}

fn built(data: &Dataset, attribute: &AttributeProfile, column: &str) -> super::builder::Coarsening {
    // Concepts are names, even where they are numbers.
    let number = matches!(attribute.value_type, ValueType::Integer | ValueType::Year);
    match column.ends_with("_concept_id") && number {
        true => in_order(attribute),
        false => coarsening(data, attribute, Topic::of(&attribute.name)),
    }
}

/// The last part of the path, in small letters.
fn column(attribute: &AttributeProfile) -> String {
    attribute.path.rsplit('.').next().unwrap_or_default().to_lowercase()
}
