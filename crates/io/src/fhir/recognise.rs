//! FHIR told by its content, for whoever has not said that it is.

use std::path::Path;

use bosket_model::Result;

use super::bulk::kind;
use super::names::{Resource, Version};
use crate::input::{Input, document_files};
use crate::xml::root_of;

/// How much is read of a file: bundles are long, and tell the edition only somewhere inside.
const ENOUGH: usize = 4 << 20;
/// The namespace of FHIR in XML.
const NAMESPACE: &str = "http://hl7.org/fhir";

/// How FHIR is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Bundles of an edition.
    Bundles(Version),
    /// A file per type of resource, with a resource per line.
    Resources,
}

/// What a file holds.
enum Held {
    Bundle,
    /// A resource on its first line, and whether that is a patient.
    Resource(bool),
}

/// Tells whether a file, or the files of a folder, are FHIR.
pub fn recognise(path: &Path) -> Result<Option<Exchange>> {
    let files = match path.is_dir() {
        true => document_files(path).unwrap_or_default(),
        false => vec![path.to_owned()],
    };
    let mut patients = false;
    for file in &files {
        let text = beginning(&mut Input::open(file)?)?;
        match held(&text) {
            Some(Held::Bundle) => return Ok(Some(Exchange::Bundles(edition(&text)))),
            Some(Held::Resource(patient)) => patients |= patient,
            None if file == &files[0] => return Ok(None),
            None => {}
        }
    }
    Ok(patients.then_some(Exchange::Resources))
}

/// What a file holds that begins so.
fn held(text: &str) -> Option<Held> {
    let text = text.trim_ascii_start();
    if text.starts_with('<') {
        return (root_of(text).as_deref() == Some("Bundle") && text.contains(NAMESPACE))
            .then_some(Held::Bundle);
    }
    // A bundle may say what it is behind all its entries, beyond what is read here.
    let is_long =
        || text.len() + 4 > ENOUGH && text.contains("\"entry\"") && text.contains("\"resourceType\"");
    let line = text.lines().next()?;
    match kind(text) {
        Some(kind) if kind != "Bundle" => {
            line.ends_with('}').then_some(Held::Resource(kind == Resource::Patient.name()))
        }
        Some(_) => Some(Held::Bundle),
        None => is_long().then_some(Held::Bundle),
    }
}

/// The first bytes of a text.
fn beginning(input: &mut Input) -> Result<String> {
    let mut bytes = vec![0; ENOUGH];
    let mut length = 0;
    while length < ENOUGH {
        match input.read_some(&mut bytes[length..]).map_err(|e| input.failure(&e, None))? {
            0 => break,
            read => length += read,
        }
    }
    // What is no text is nothing that is looked for here, and the last character may be cut off.
    Ok(match std::str::from_utf8(&bytes[..length]) {
        Ok(text) => text.to_owned(),
        Err(e) => String::from_utf8_lossy(&bytes[..e.valid_up_to()]).into_owned(),
    })
}

/// What only bundles of release 3 say, blanks left out: there a status is a code, and an encounter is a context.
const STU3: [&str; 8] = [
    "\"clinicalStatus\":\"",
    "\"verificationStatus\":\"",
    "\"context\":{\"reference\"",
    "\"notGiven\":",
    "<clinicalStatusvalue=",
    "<verificationStatusvalue=",
    "<context><reference",
    "<notGivenvalue=",
];

/// The edition of bundles. What none of the editions has for itself is of the present one.
fn edition(text: &str) -> Version {
    let text: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    if STU3.iter().any(|mark| text.contains(mark)) { Version::Stu3 } else { Version::R4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(text: &str) -> Option<Exchange> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("data");
        std::fs::write(&file, text).expect("written");
        recognise(&file).expect("read")
    }

    #[test]
    fn content_tells_what_is_handed_over() {
        let bundle = |resource: &str| {
            format!(r#"{{ "resourceType" : "Bundle", "entry": [{{"resource": {{{resource}}}}}]}}"#)
        };
        for (text, found) in [
            (bundle(r#""clinicalStatus": "active""#), Some(Exchange::Bundles(Version::Stu3))),
            (bundle(r#""clinicalStatus": {"coding": []}"#), Some(Exchange::Bundles(Version::R4))),
            (bundle(r#""encounter": {"reference": "x"}"#), Some(Exchange::Bundles(Version::R4))),
            (
                "{\"resourceType\":\"Patient\"}\n{\"resourceType\":\"Condition\"}\n".to_owned(),
                Some(Exchange::Resources),
            ),
            ("{\"resourceType\":\"Condition\"}\n".to_owned(), None),
            ("{\"entry\":[{}]}".to_owned(), None),
            (
                "<Bundle xmlns=\"http://hl7.org/fhir\"><context>\n<reference".to_owned(),
                Some(Exchange::Bundles(Version::Stu3)),
            ),
            ("<Bundle xmlns=\"urn:else\"/>".to_owned(), None),
        ] {
            assert_eq!(recognised(&text), found, "{text}");
        }
    }
}
