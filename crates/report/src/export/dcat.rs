//! DCAT-AP 3: a dataset with a distribution per file, each with its checksum.

use serde_json::{Map, Value, json};

use super::{Exported, File, media_type};

pub(super) fn of(own: &Exported<'_>) -> Value {
    let about = own.about;
    let id = about.url.clone().unwrap_or_else(|| format!("urn:bosket:{}", own.certificate.digest));
    let mut all = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            all.insert(key.to_owned(), value);
        }
    };
    put("@context", Some(context()));
    put("@id", Some(json!(id)));
    put("@type", Some(json!("dcat:Dataset")));
    put("dct:title", Some(language(&own.name())));
    put("dct:description", Some(language(&own.description())));
    put("dct:identifier", Some(json!(own.certificate.digest)));
    put(
        "dct:publisher",
        about.creator.as_ref().map(|name| json!({"@type": "foaf:Agent", "foaf:name": name})),
    );
    put("dct:issued", about.date.as_ref().map(|date| json!({"@type": "xsd:date", "@value": date})));
    put("dct:accessRights", access(own).map(|right| json!({"@id": right, "@type": "dct:RightsStatement"})));
    let distributions: Vec<Value> = own.files.iter().map(|file| distribution(own, &id, file)).collect();
    put("dcat:distribution", Some(json!(distributions)));
    Value::Object(all)
}

fn language(text: &str) -> Value {
    json!({"@language": "en", "@value": text})
}

fn distribution(own: &Exported<'_>, dataset: &str, file: &File) -> Value {
    let at = own.address(file);
    let mut all = json!({
        "@id": format!("{dataset}#{}", super::encoded(&file.name)),
        "@type": "dcat:Distribution",
        "dct:title": language(&file.name),
        "dcat:accessURL": {"@id": own.about.url.clone().unwrap_or_else(|| at.clone())},
        "dcat:downloadURL": {"@id": at},
        "dcat:byteSize": {"@type": "xsd:nonNegativeInteger", "@value": file.bytes.to_string()},
        "dct:format": {"@type": "dct:MediaTypeOrExtent", "rdfs:label": media_type(&file.name)},
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": {"@type": "xsd:hexBinary", "@value": file.sha256},
        },
    });
    if let Some(license) = &own.about.license {
        all["dct:license"] = json!({"@id": license, "@type": "dct:LicenseDocument"});
    }
    all
}

/// Who may have it, by the European vocabulary; only where the certificate shows it.
fn access(own: &Exported<'_>) -> Option<String> {
    let word = match own.certificate.policy.pointer("/release/access")?.as_str()? {
        "open" => "PUBLIC",
        "contract" => "RESTRICTED",
        _ => "NON_PUBLIC",
    };
    Some(format!("http://publications.europa.eu/resource/authority/access-right/{word}"))
}

fn context() -> Value {
    json!({
        "dcat": "http://www.w3.org/ns/dcat#",
        "dct": "http://purl.org/dc/terms/",
        "foaf": "http://xmlns.com/foaf/0.1/",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "spdx": "http://spdx.org/rdf/terms#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    })
}
