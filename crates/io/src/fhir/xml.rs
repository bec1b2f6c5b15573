//! FHIR's XML as FHIR's JSON, which is what everything else here reads.
//!
//! Both say the same: `<birthDate value="1970"/>` is `"birthDate": "1970"`. What XML does not say is which elements are
//! arrays in JSON, and which values are numbers or booleans; [`is_array`] and [`scalar`] know that of the resources
//! that are read. Narrative is left out.

use super::names::{ABSENT, RENDERED, Version};
use crate::json::parser::Parser;
use crate::json::write::push_string;
use crate::xml::tree::Element;

/// A document as a bundle; a resource that is none is the only entry of one.
pub(super) fn bundle(root: &Element, version: Version) -> String {
    let mut out = String::new();
    if root.name == "Bundle" {
        resource(root, version, &mut out);
    } else {
        out.push_str("{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[{\"resource\":");
        resource(root, version, &mut out);
        out.push_str("}]}");
    }
    out
}

fn resource(element: &Element, version: Version, out: &mut String) {
    object(element, Some(&element.name), version, out);
}

/// An object; `kind` is the type of a resource.
fn object(element: &Element, kind: Option<&str>, version: Version, out: &mut String) {
    let mut fields: Vec<(String, String)> = Vec::new();
    if let Some(kind) = kind {
        fields.push(("resourceType".to_owned(), quoted(kind)));
    }
    let named = element.attributes.iter().filter(|(name, _)| name == "id" || name == "url");
    fields.extend(named.map(|(name, value)| (name.clone(), quoted(value))));
    let mut keys: Vec<&str> = Vec::new();
    for child in element.children.iter().filter(|child| !is_narrative(child)) {
        if !keys.contains(&child.name.as_str()) {
            keys.push(&child.name);
        }
    }
    for key in keys {
        let all: Vec<&Element> =
            element.children.iter().filter(|c| c.name == key && !is_narrative(c)).collect();
        let many = all.len() > 1 || is_array(kind, &element.name, key, version);
        if all.iter().all(|e| is_primitive(e)) {
            let value = |e: &&Element| e.attribute("value").map(|v| scalar(&element.name, key, v));
            let beside = |e: &&Element| {
                let told = e.attribute("id").is_some() || !e.children.is_empty();
                told.then(|| {
                    let mut own = String::new();
                    object(e, None, version, &mut own);
                    own
                })
            };
            let values: Vec<Option<String>> = all.iter().map(value).collect();
            let besides: Vec<Option<String>> = all.iter().map(beside).collect();
            for (key, parts) in [(key.to_owned(), values), (format!("_{key}"), besides)] {
                if parts.iter().any(Option::is_some) {
                    let parts = parts.into_iter().map(|part| part.unwrap_or_else(|| "null".to_owned()));
                    fields.push((key, joined(parts.collect(), many)));
                }
            }
            continue;
        }
        let parts = all.iter().map(|e| {
            let mut own = String::new();
            match e.children.first().filter(|_| matches!(key, "resource" | "contained")) {
                Some(inner) => resource(inner, version, &mut own),
                None => object(e, None, version, &mut own),
            }
            own
        });
        fields.push((key.to_owned(), joined(parts.collect(), many)));
    }
    let fields: Vec<String> =
        fields.into_iter().map(|(key, value)| format!("{}:{value}", quoted(&key))).collect();
    out.push_str(&format!("{{{}}}", fields.join(",")));
}

fn joined(parts: Vec<String>, many: bool) -> String {
    if many { format!("[{}]", parts.join(",")) } else { parts.concat() }
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    push_string(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

/// The text for people that a resource may have.
fn is_narrative(element: &Element) -> bool {
    element.name == "text" && element.children.iter().any(|child| child.name == "div")
}

/// Whether an element is a single value, or says why there is none.
fn is_primitive(element: &Element) -> bool {
    let absent = |e: &Element| e.name == "extension" && matches!(e.attribute("url"), Some(ABSENT | RENDERED));
    let told = !element.children.is_empty() && element.children.iter().all(absent);
    element.attribute("value").is_some() || told
}

/// A value as JSON writes it: a boolean or a number where FHIR says so.
fn scalar(parent: &str, key: &str, value: &str) -> String {
    let boolean = key.ends_with("Boolean")
        || matches!(
            key,
            "active"
                | "userSelected"
                | "preferred"
                | "primarySource"
                | "notGiven"
                | "notDone"
                | "doNotPerform"
                | "isSubpotent"
        );
    let ends = |key: &str, endings: &[&str]| endings.iter().any(|ending| key.ends_with(ending));
    let measured = ends(parent, &["Quantity", "Age", "Duration", "quantity"])
        || matches!(parent, "low" | "high" | "numerator" | "denominator" | "length");
    let number = ends(key, &["Integer", "Decimal", "PositiveInt", "UnsignedInt"])
        || matches!(
            key,
            "rank"
                | "total"
                | "count"
                | "countMax"
                | "frequency"
                | "frequencyMax"
                | "periodMax"
                | "durationMax"
                | "sequence"
                | "doseSequence"
                | "numberOfRepeatsAllowed"
                | "latitude"
                | "longitude"
                | "offset"
        )
        || parent == "repeat" && matches!(key, "period" | "duration")
        || key == "value" && measured;
    let is_number = || {
        let mut parser = Parser::new(value);
        value.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            && parser.skip().is_ok()
            && parser.finish().is_ok()
    };
    if boolean && matches!(value, "true" | "false") || number && is_number() {
        return value.to_owned();
    }
    quoted(value)
}

/// Whether a key of an object, of a resource of type `kind` or inside one below `parent`, holds an array.
fn is_array(kind: Option<&str>, parent: &str, key: &str, version: Version) -> bool {
    if matches!(key, "extension" | "modifierExtension" | "contained" | "coding") {
        return true;
    }
    let r4 = version == Version::R4;
    let Some(kind) = kind else {
        return match key {
            "given"
            | "prefix"
            | "suffix"
            | "line"
            | "telecom"
            | "relationship"
            | "additionalInstruction"
            | "doseAndRate"
            | "dayOfWeek"
            | "timeOfDay"
            | "when"
            | "dietPreference"
            | "specialCourtesy"
            | "specialArrangement"
            | "targetDisease"
            | "profile"
            | "security"
            | "tag"
            | "assessment" => true,
            "link" => parent == "entry",
            "type" => parent == "participant",
            "code" | "detail" => parent == "evidence",
            "event" => parent == "timing",
            _ => false,
        };
    };
    match key {
        "identifier"
        | "note"
        | "reasonCode"
        | "reasonReference"
        | "basedOn"
        | "instantiatesCanonical"
        | "instantiatesUri" => true,
        _ => match kind {
            "Bundle" => matches!(key, "entry" | "link"),
            "Patient" => matches!(
                key,
                "name"
                    | "telecom"
                    | "address"
                    | "contact"
                    | "communication"
                    | "generalPractitioner"
                    | "link"
                    | "photo"
            ),
            "Encounter" => match key {
                "appointment" => r4,
                _ => matches!(
                    key,
                    "statusHistory"
                        | "classHistory"
                        | "type"
                        | "episodeOfCare"
                        | "incomingReferral"
                        | "participant"
                        | "reason"
                        | "diagnosis"
                        | "account"
                        | "location"
                ),
            },
            "Condition" => matches!(key, "category" | "bodySite" | "evidence") || r4 && key == "stage",
            "Procedure" => matches!(
                key,
                "definition"
                    | "partOf"
                    | "performer"
                    | "bodySite"
                    | "report"
                    | "complication"
                    | "complicationDetail"
                    | "followUp"
                    | "focalDevice"
                    | "usedReference"
                    | "usedCode"
            ),
            "MedicationRequest" => {
                matches!(
                    key,
                    "definition"
                        | "supportingInformation"
                        | "insurance"
                        | "dosageInstruction"
                        | "detectedIssue"
                        | "eventHistory"
                ) || r4 && key == "category"
            }
            "Immunization" => matches!(
                key,
                "performer"
                    | "practitioner"
                    | "subpotentReason"
                    | "education"
                    | "programEligibility"
                    | "reaction"
                    | "protocolApplied"
                    | "vaccinationProtocol"
            ),
            "Medication" => key == "ingredient",
            _ => false,
        },
    }
}
