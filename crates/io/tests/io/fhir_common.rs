//! Bundles made by hand, and datasets as text.

use bosket_model::{Dataset, MISSING};
use serde_json::{Value, json};

/// An entry of a bundle.
pub(crate) fn entry(resource: Value) -> Value {
    let (kind, id) = (resource["resourceType"].as_str(), resource["id"].as_str());
    let mut entry = json!({});
    if let (Some(kind), Some(id)) = (kind, id) {
        entry["fullUrl"] = json!(format!("http://hospital.example/fhir/{kind}/{id}"));
    }
    entry["resource"] = resource;
    entry
}

pub(crate) fn bundle(resources: &[Value]) -> Value {
    let entries: Vec<Value> = resources.iter().cloned().map(entry).collect();
    json!({"resourceType": "Bundle", "type": "collection", "entry": entries})
}

pub(crate) fn patient(id: &str) -> Value {
    json!({"resourceType": "Patient", "id": id, "gender": "female", "birthDate": "1953-09-08"})
}

/// A resource about a patient, with further keys.
pub(crate) fn about(kind: &str, id: &str, patient: &str, more: Value) -> Value {
    let subject = if kind == "Immunization" { "patient" } else { "subject" };
    let mut resource = json!({"resourceType": kind, "id": id});
    resource[subject] = json!({"reference": format!("Patient/{patient}")});
    for (key, value) in more.as_object().expect("an object") {
        resource[key] = value.clone();
    }
    resource
}

pub(crate) fn coded(system: &str, code: &str, display: &str) -> Value {
    json!({"coding": [{"system": system, "code": code, "display": display}]})
}

pub(crate) fn to(reference: &str) -> Value {
    json!({"reference": reference})
}

pub(crate) fn lines(bundles: &[Value]) -> Vec<u8> {
    bundles.iter().map(|b| format!("{b}\n")).collect::<String>().into_bytes()
}

/// A patient in R4 with something of everything.
pub(crate) fn full(id: &str) -> Value {
    let race = |parts: Value| json!({"url": "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race", "extension": parts});
    let category = |code: &str, display: &str| json!({"url": "ombCategory", "valueCoding": {"system": "urn:oid:2.16.840.1.113883.6.238", "code": code, "display": display}});
    let mut patient = patient(id);
    patient["extension"] = json!([
        race(json!([category("2054-5", "Black"), category("2106-3", "White"), {"url": "text", "valueString": "Mixed"}])),
        {"url": "http://hl7.org/fhir/us/core/StructureDefinition/us-core-birthsex", "valueCode": "F"},
        {"url": "http://hl7.org/fhir/StructureDefinition/patient-birthPlace", "valueAddress": {"city": "Springfield", "text": "at home"}},
        {"valueDecimal": 1.25, "url": "http://example.org/daly"},
    ]);
    patient["name"] = json!([{"family": "Abbott", "given": ["Buena", "M."], "text": "Buena M. Abbott"}]);
    patient["maritalStatus"] =
        coded("http://terminology.hl7.org/CodeSystem/v3-MaritalStatus", "M", "Married");
    patient["address"] = json!([{"city": "New Bedford", "postalCode": "02743", "extension": [
        {"url": "http://hl7.org/fhir/StructureDefinition/geolocation", "extension": [
            {"url": "latitude", "valueDecimal": 41.7}, {"url": "longitude", "valueDecimal": -70.9}]}]}]);
    patient["_birthDate"] = json!({"extension": [{"url": "http://hl7.org/fhir/StructureDefinition/patient-birthTime", "valueDateTime": "1953-09-08T10:00:00Z"}]});
    let encounter = |e: &str| json!({"encounter": to(&format!("Encounter/{e}"))});
    let with = |more: Value, key: &str, value: Value| {
        let mut more = more;
        more[key] = value;
        more
    };
    bundle(&[
        // Before what it refers to.
        about(
            "Condition",
            "c1",
            id,
            with(encounter("e1"), "code", coded("http://snomed.info/sct", "44054006", "Diabetes")),
        ),
        json!({"resourceType": "Organization", "id": "o1", "name": "Hospital"}),
        patient,
        about(
            "Encounter",
            "e1",
            id,
            json!({"status": "finished", "class": {"system": "http://terminology.hl7.org/CodeSystem/v3-ActCode", "code": "AMB"},
            "type": [coded("http://snomed.info/sct", "185349003", "Check-up"), {"text": "walk-in"}],
            "period": {"start": "2010-05-29T14:05:42+00:00"},
            "serviceProvider": {"reference": "Organization/o1", "display": "Hospital"}}),
        ),
        about("Encounter", "e2", id, json!({"status": "finished"})),
        about(
            "Procedure",
            "p1",
            id,
            with(
                encounter("e2"),
                "code",
                json!({"coding": [{"system": "http://snomed.info/sct", "code": "1"}, {"system": "urn:local", "code": "x"}], "text": "Scan"}),
            ),
        ),
        json!({"resourceType": "Medication", "id": "m1", "code": coded("http://www.nlm.nih.gov/research/umls/rxnorm", "849727", "Naproxen")}),
        about(
            "MedicationRequest",
            "r1",
            id,
            with(encounter("e1"), "medicationReference", to("Medication/m1")),
        ),
        about(
            "MedicationRequest",
            "r2",
            id,
            with(
                encounter("e1"),
                "medicationCodeableConcept",
                coded("http://www.nlm.nih.gov/research/umls/rxnorm", "1", "Other"),
            ),
        ),
        about(
            "MedicationRequest",
            "r3",
            id,
            json!({"medicationReference": to("#in"), "contained": [{"resourceType": "Medication", "id": "in", "code": {"text": "Own mixture"}}]}),
        ),
        about(
            "Immunization",
            "i1",
            id,
            with(encounter("e2"), "vaccineCode", coded("http://hl7.org/fhir/sid/cvx", "140", "Influenza")),
        ),
        about("Condition", "c2", id, json!({"code": {"text": "Sore"}, "onsetDateTime": "2011"})),
    ])
}

/// Every record as text in which neither order nor numbering of anything counts, sorted.
pub(crate) fn dump(data: &Dataset) -> Vec<String> {
    let mut records: Vec<String> =
        (0..data.len()).map(|r| vertex(data, data.vertices(r).start, data.vertices(r).end)).collect();
    records.sort();
    records
}

fn vertex(data: &Dataset, at: usize, end: usize) -> String {
    let schema = data.schema();
    let class = schema.class(data.class(at));
    let mut parts: Vec<String> = (class.attributes.iter())
        .filter(|&&a| data.value(at, a) != MISSING)
        .map(|&a| {
            let (dictionary, code) = (data.dictionary(a), data.value(at, a));
            format!(
                "{}={:?}{:?}",
                schema.attribute(a).name.join("."),
                dictionary.kind(code),
                dictionary.text(code)
            )
        })
        .chain((at + 1..end).filter(|&v| data.parent(v) == Some(at)).map(|v| vertex(data, v, end)))
        .collect();
    parts.sort();
    format!("{}{{{}}}", class.name.join("."), parts.join(" "))
}
