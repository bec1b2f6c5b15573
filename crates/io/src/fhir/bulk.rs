//! Exports with a file per type of resource (`Patient.ndjson`, `Condition.ndjson`, …), a resource per line.
//!
//! The resources of a patient stand in many files, so all lines are kept until each has been seen; then a bundle is put
//! together for each patient, and read like any other.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::bundle::{Link, resource};
use super::names::Resource;
use crate::json::parser::{Parser, Token, utf8};

/// Resources that came one by one.
#[derive(Debug, Default)]
pub(super) struct Bulk {
    patients: Vec<Patient>,
    /// The place of a patient by its id.
    at: FxHashMap<String, usize>,
    pieces: Vec<Piece>,
    medications: FxHashMap<String, String>,
    /// How many there are of types that are not read.
    pub(super) others: BTreeMap<String, u64>,
}

#[derive(Debug)]
struct Patient {
    source: String,
    line: u64,
    text: String,
}

/// A resource of a patient.
#[derive(Debug)]
struct Piece {
    /// The patient's id.
    owner: Option<String>,
    /// What stands before `Patient/` in references to them.
    base: String,
    kind: String,
    id: Option<String>,
    medication: Option<String>,
    text: String,
}

/// A bundle that was put together: where its patient stands, and its text.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) source: String,
    pub(super) line: u64,
    pub(super) text: String,
}

impl Bulk {
    /// Takes a line that is a resource and no bundle; false if it is none.
    pub(super) fn take(&mut self, source: &str, line: u64, bytes: &[u8]) -> bool {
        let Ok(text) = utf8(bytes) else { return false };
        let kind = kind(text).filter(|kind| kind != "Bundle");
        let Some((kind, entry)) = kind.zip(resource(&mut Parser::new(text)).ok()) else { return false };
        let text = text.trim().to_owned();
        let id = entry.id().map(str::to_owned);
        match Resource::from_name(&kind) {
            Some(Resource::Patient) => {
                let place = self.patients.len();
                if let Some(id) = id {
                    self.at.entry(id).or_insert(place);
                }
                self.patients.push(Patient { source: source.to_owned(), line, text });
            }
            Some(_) => {
                let (base, owner) = entry.owner().map(split).unwrap_or_default();
                let medication = match &entry.medication {
                    Link::To(to) => to.rsplit('/').next().map(str::to_owned),
                    _ => None,
                };
                self.pieces.push(Piece { owner, base, kind, id, medication, text });
            }
            None if kind == "Medication" => drop(id.map(|id| self.medications.insert(id, text))),
            None => *self.others.entry(kind).or_default() += 1,
        }
        true
    }

    /// A bundle per patient, and how many resources refer to none that is there.
    pub(super) fn bundles(self) -> (Vec<Gathered>, u64) {
        let mut below: Vec<Vec<&Piece>> = self.patients.iter().map(|_| Vec::new()).collect();
        let mut astray = 0;
        for piece in &self.pieces {
            match piece.owner.as_ref().and_then(|owner| self.at.get(owner)) {
                Some(&patient) => below[patient].push(piece),
                None => astray += 1,
            }
        }
        let ids: FxHashMap<usize, &String> = self.at.iter().map(|(id, &place)| (place, id)).collect();
        let bundle = |(place, (patient, pieces)): (usize, (&Patient, &Vec<&Piece>))| {
            // Where references are addresses, so are the names of what they refer to.
            let base = pieces.iter().map(|p| p.base.as_str()).find(|base| !base.is_empty()).unwrap_or("");
            let entry = |kind: &str, id: Option<&str>, text: &str| match id.filter(|_| !base.is_empty()) {
                Some(id) => format!("{{\"fullUrl\":\"{base}{kind}/{id}\",\"resource\":{text}}}"),
                None => format!("{{\"resource\":{text}}}"),
            };
            let mut entries = vec![entry("Patient", ids.get(&place).map(|id| id.as_str()), &patient.text)];
            let mut medications: Vec<&str> = Vec::new();
            for piece in pieces {
                entries.push(entry(&piece.kind, piece.id.as_deref(), &piece.text));
                medications.extend(piece.medication.as_deref());
            }
            medications.sort_unstable();
            medications.dedup();
            let found = medications.iter().filter_map(|id| Some((*id, self.medications.get(*id)?)));
            entries.extend(found.map(|(id, text)| entry("Medication", Some(id), text)));
            let text = format!(
                "{{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[{}]}}",
                entries.join(",")
            );
            Gathered { source: patient.source.clone(), line: patient.line, text }
        };
        (self.patients.iter().zip(&below).enumerate().map(bundle).collect(), astray)
    }
}

/// What a reference begins with, and the id of the patient it names.
fn split(reference: &str) -> (String, Option<String>) {
    let whole = reference.split_once("/_history/").map_or(reference, |(whole, _)| whole);
    match whole.rsplit_once("Patient/") {
        // A base is written into a text of JSON as it is.
        Some((base, id)) if !base.contains(['"', '\\']) => (base.to_owned(), Some(id.to_owned())),
        _ => (String::new(), None),
    }
}

/// The type of the resource that a line is.
pub(super) fn kind(text: &str) -> Option<String> {
    let mut parser = Parser::new(text);
    if parser.value().ok()? != Token::Object {
        return None;
    }
    while let Some(key) = parser.key().ok()? {
        if key == "resourceType" {
            return match parser.value().ok()? {
                Token::Text(kind) => Some(kind.to_owned()),
                _ => None,
            };
        }
        parser.skip().ok()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_come_to_their_patients() {
        let mut bulk = Bulk::default();
        for line in [
            r#"{"resourceType":"Condition","id":"c","subject":{"reference":"Patient/2"}}"#,
            r#"{"id":"1","resourceType":"Patient"}"#,
            r#"{"resourceType":"Patient","id":"2"}"#,
            r#"{"resourceType":"Condition","id":"d","subject":{"reference":"Patient/3"}}"#,
            r#"{"resourceType":"Observation","id":"o","subject":{"reference":"Patient/1"}}"#,
            r#"{"resourceType":"MedicationRequest","id":"m","subject":{"reference":"https://x/Patient/1"},"medicationReference":{"reference":"https://x/Medication/7"}}"#,
            r#"{"resourceType":"Medication","id":"7"}"#,
        ] {
            assert!(bulk.take("f", 1, line.as_bytes()), "{line}");
        }
        assert!(!bulk.take("f", 1, br#"{"resourceType":"Bundle"}"#) && !bulk.take("f", 1, b"{}"));
        assert_eq!(bulk.others.get("Observation"), Some(&1));
        let (found, astray) = bulk.bundles();
        assert_eq!((found.len(), astray), (2, 1));
        assert!(found[0].text.contains("\"fullUrl\":\"https://x/Medication/7\""), "{}", found[0].text);
        assert!(found[1].text.contains("\"id\":\"c\"") && !found[1].text.contains("\"id\":\"d\""));
    }
}
