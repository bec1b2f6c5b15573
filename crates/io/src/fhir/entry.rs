//! Entries of bundles with surrogate ids.
//!
//! Ids are given in the order of what is published, so nothing can have one before all records are ordered. Until then
//! marks stand in their place, which no JSON text can hold.

use super::names::{ABSENT, LABEL, Resource, Version};

/// The next id of the bundle, twice: in the address, and as `id`.
const OWN: u8 = 1;
const OWN_AGAIN: u8 = 2;
/// The same for an encounter, to which what follows may refer.
const ENCOUNTER: u8 = 3;
/// References to the patient, and to the encounter that came last.
const TO_PATIENT: u8 = 4;
const TO_ENCOUNTER: u8 = 5;

/// What an entry says about its encounter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    /// There is one, but it is not told which.
    Masked,
    /// The one that came last.
    Last,
}

/// Begins an entry: up to where the resource's own values follow, each with a comma before it.
pub(super) fn begin(out: &mut Vec<u8>, version: Version, resource: Resource, said: Said) {
    let own = if resource == Resource::Encounter { ENCOUNTER } else { OWN };
    if resource != Resource::Patient {
        out.push(b',');
    }
    out.extend_from_slice(b"{\"fullUrl\":\"urn:uuid:");
    out.push(own);
    out.extend_from_slice(b"\",\"resource\":{\"resourceType\":\"");
    out.extend_from_slice(resource.name().as_bytes());
    out.extend_from_slice(b"\",\"id\":\"");
    out.push(OWN_AGAIN);
    out.push(b'"');
    if let Some(subject) = resource.subject() {
        reference(out, subject, TO_PATIENT);
    }
    if let Some(key) = resource.encounter(version) {
        match said {
            Said::Nothing => {}
            Said::Last => reference(out, key, TO_ENCOUNTER),
            Said::Masked => {
                out.extend_from_slice(format!(",\"{key}\":{{\"extension\":[{}]}}", masked()).as_bytes())
            }
        }
    }
}

/// Ends an entry.
pub(super) fn end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"}}");
}

/// The extension that says that something is not told.
pub(super) fn masked() -> String {
    format!("{{\"url\":\"{ABSENT}\",\"valueCode\":\"masked\"}}")
}

/// What `meta` of a published resource begins with.
pub(super) fn label() -> String {
    let parts: Vec<String> = LABEL.iter().map(|(key, value)| format!("\"{key}\":\"{value}\"")).collect();
    format!("\"security\":[{{{}}}]", parts.join(","))
}

fn reference(out: &mut Vec<u8>, key: &str, mark: u8) {
    out.extend_from_slice(format!(",\"{key}\":{{\"reference\":\"urn:uuid:").as_bytes());
    out.push(mark);
    out.extend_from_slice(b"\"}");
}

/// The id of an entry of a record, both counted from 1.
pub(super) fn surrogate(record: u32, number: u64) -> String {
    format!("{record:08x}-0000-4000-8000-{number:012x}")
}

/// Puts ids in the place of marks. `record` counts from 1.
pub(super) fn number(entries: &[u8], record: u32, out: &mut Vec<u8>) {
    let id = |n: u64| surrogate(record, n);
    let (mut own, mut encounter) = (0, 0);
    let mut rest = entries;
    while let Some(i) = rest.iter().position(|c| matches!(*c, OWN..=TO_ENCOUNTER)) {
        out.extend_from_slice(&rest[..i]);
        let number = match rest[i] {
            OWN => {
                own += 1;
                own
            }
            ENCOUNTER => {
                own += 1;
                encounter = own;
                own
            }
            OWN_AGAIN => own,
            TO_PATIENT => 1,
            _ => encounter,
        };
        out.extend_from_slice(id(number).as_bytes());
        rest = &rest[i + 1..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_the_order_and_references_the_ids() {
        let mut entries = Vec::new();
        for (resource, said) in [
            (Resource::Patient, Said::Nothing),
            (Resource::Condition, Said::Masked),
            (Resource::Encounter, Said::Nothing),
            (Resource::Procedure, Said::Last),
            (Resource::Immunization, Said::Last),
        ] {
            begin(&mut entries, Version::Stu3, resource, said);
            end(&mut entries);
        }
        let mut out = b"[".to_vec();
        number(&entries, 26, &mut out);
        out.push(b']');
        let id = |n: u32| format!("0000001a-0000-4000-8000-00000000000{n}");
        let url = |n: u32| format!("urn:uuid:{}", id(n));
        let read: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        for n in 1..=5 {
            let entry = &read[n as usize - 1];
            assert_eq!(entry["fullUrl"], url(n));
            assert_eq!(entry["resource"]["id"], id(n));
        }
        assert_eq!(read[1]["resource"]["subject"]["reference"], url(1));
        assert_eq!(read[1]["resource"]["context"]["extension"][0]["valueCode"], "masked");
        assert_eq!(read[3]["resource"]["context"]["reference"], url(3));
        assert_eq!(read[4]["resource"]["encounter"]["reference"], url(3));
        assert_eq!(read[4]["resource"]["patient"]["reference"], url(1));
        assert_eq!(read[0]["resource"].get("subject"), None);
    }
}
