//! What is known about the attributes of a standard before any data is seen.
//!
//! A preset keeps what describes patients and their care and leaves the rest out: FHIR resources have hundreds of
//! elements, and what nobody has thought about must not be published.

use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset};

use super::builder::{coarsening, in_order};
use super::omop;
use super::profile::Profile;
use super::shape::ValueType;
use super::suggest::Suggestion;
use super::topic::Topic;

/// The presets by name: those of FHIR, that of OMOP, and none, whatever the data look like.
pub const PRESETS: [&str; 5] = ["fhir-r4", "fhir-stu3", FHIR_BULK, OMOP, NO_PRESET];
/// The preset of FHIR's resources one by one.
pub const FHIR_BULK: &str = "fhir-bulk";
/// No preset.
pub const NO_PRESET: &str = "none";
/// The preset of OMOP databases, which come in any format.
pub const OMOP: &str = "omop";

/// The format that a preset says.
pub fn preset_format(preset: &str) -> Option<&str> {
    match preset {
        OMOP | NO_PRESET => None,
        // A resource per line is read like bundles.
        FHIR_BULK => Some("fhir-r4"),
        fhir => Some(fhir),
    }
}

/// What the last keys of a path mean in any resource of FHIR.
struct Element {
    path: &'static str,
    /// A CodeableConcept or Coding, with companions.
    coded: bool,
    reason: &'static str,
}

const fn plain(path: &'static str, reason: &'static str) -> Element {
    Element { path, coded: false, reason }
}

const fn coded(path: &'static str, reason: &'static str) -> Element {
    Element { path, coded: true, reason }
}

// Reasons that say who knows it; drafts choose by them what a neighbour knows.
pub(super) const MET: &str = "Whoever has met the patient knows it.";
pub(super) const MAY_HAVE_MET: &str = "Whoever has met the patient may know it.";
pub(super) const FAMILY: &str = "Family, friends and many files know it.";
pub(super) const NEIGHBOURS: &str = "Neighbours know it, and directories tell it.";
pub(super) const REGISTERS: &str = "Registers and neighbours know it.";

const ELEMENTS: [Element; 22] = [
    plain("gender", MET),
    plain("birthsex", MET),
    plain("birthDate", FAMILY),
    plain("deceasedDateTime", "Registers and newspapers tell it."),
    plain("deceasedBoolean", "Registers and newspapers tell it."),
    coded("race", MAY_HAVE_MET),
    coded("ethnicity", MAY_HAVE_MET),
    coded("maritalStatus", REGISTERS),
    coded("communication[].language", MET),
    plain("address[].city", NEIGHBOURS),
    plain("address[].district", NEIGHBOURS),
    plain("address[].state", NEIGHBOURS),
    plain("address[].postalCode", NEIGHBOURS),
    plain("address[].country", NEIGHBOURS),
    coded("Encounter[].class.code", "Who saw the patient come or stay knows it."),
    coded("Encounter[].type[]", "Who saw the patient come or stay may know it."),
    plain("Encounter[].period.start", "Who saw the patient come knows the day."),
    coded("Encounter[].reason[]", "Part of what ails somebody is known to colleagues and family."),
    coded("Encounter[].reasonCode[]", "Part of what ails somebody is known to colleagues and family."),
    coded("code", "Part of what ails somebody is known to colleagues and family."),
    coded("medication", "Who lives or works with the patient may know it."),
    coded("vaccineCode", "Schools and employers may know it."),
];

/// Classes in which `code` says what ails or was done.
const CODED: [&str; 3] = ["Condition[]", "Procedure[]", "Immunization[]"];
/// What says the same as a code: dropped or generalized with it.
const COMPANIONS: [&str; 4] = ["display", "system", "text", "version"];

/// Replaces the suggestions for what a preset knows, and gives the attributes that it leaves out.
pub fn apply_preset(
    preset: &str,
    profile: &Profile,
    data: &Dataset,
    suggestions: &mut [Suggestion],
) -> Vec<AttributeId> {
    if preset == OMOP {
        omop::apply(profile, data, suggestions);
        return Vec::new();
    }
    let element = |path: &str| ELEMENTS.iter().find(|e| is_at(path, e.path));
    let mut dropped = Vec::new();
    for (i, attribute) in profile.attributes.iter().enumerate() {
        let leader = companion_of(&attribute.path).and_then(|leader| {
            let leader =
                profile.attributes.iter().find(|a| a.path == leader && a.class == attribute.class)?;
            element(&leader.path).filter(|e| e.coded).map(|_| leader)
        });
        suggestions[i] = match (leader, element(&attribute.path)) {
            (Some(leader), _) => Suggestion {
                role: Role::Quasi,
                reason: format!("Says what {} says, in other words, and goes where that goes.", leader.path),
                hierarchy: None,
                follows: Some(leader.id),
            },
            (None, Some(element)) => {
                let topic = Topic::of(&attribute.name);
                // Codes are names, even where they are made of digits.
                let digits = matches!(attribute.value_type, ValueType::Integer | ValueType::Year);
                let hierarchy = match element.coded && digits {
                    true => in_order(attribute),
                    false => coarsening(data, attribute, topic),
                };
                Suggestion {
                    role: Role::Quasi,
                    reason: element.reason.to_owned(),
                    hierarchy: Some(hierarchy),
                    follows: None,
                }
            }
            (None, None) => {
                dropped.push(attribute.id);
                Suggestion {
                    role: Role::Identifying,
                    reason: "The draft does not declare it, and so leaves it out.".to_owned(),
                    hierarchy: None,
                    follows: None,
                }
            }
        };
    }
    dropped
}

/// Whether a path of the data is an element of the preset: a patient's own, or one of a resource, wherever that hangs.
fn is_at(path: &str, element: &str) -> bool {
    match element {
        "code" => CODED.iter().any(|class| resource_part(path) == format!("{class}.code")),
        "medication" => resource_part(path) == "MedicationRequest[].medication",
        "vaccineCode" => resource_part(path) == "Immunization[].vaccineCode",
        _ => path == element,
    }
}

/// The path from the resource on.
fn resource_part(path: &str) -> &str {
    path.strip_prefix("Encounter[].").unwrap_or(path)
}

/// The path of the code that an attribute says again.
fn companion_of(path: &str) -> Option<String> {
    let (leader, last) = path.rsplit_once('.')?;
    if !COMPANIONS.contains(&last) {
        return None;
    }
    // The class of an encounter is a Coding, whose code has a key of its own.
    Some(if leader == "Encounter[].class" { format!("{leader}.code") } else { leader.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_known_wherever_they_hang() {
        for (path, element, is) in [
            ("Encounter[].Condition[].code", "code", true),
            ("Condition[].code", "code", true),
            ("identifier[].type", "code", false),
            ("Encounter[].Observation[].code", "code", false),
            ("MedicationRequest[].medication", "medication", true),
            ("contact[].gender", "gender", false),
            ("gender", "gender", true),
        ] {
            assert_eq!(is_at(path, element), is, "{path}");
        }
        assert_eq!(companion_of("race.display").as_deref(), Some("race"));
        assert_eq!(companion_of("Encounter[].type[].text").as_deref(), Some("Encounter[].type[]"));
        assert_eq!(companion_of("Encounter[].class.display").as_deref(), Some("Encounter[].class.code"));
        assert_eq!(companion_of("gender"), None);
    }
}
