//! Croissant 1.1: schema.org's words for datasets, with files, record sets and fields.

use serde_json::{Map, Value, json};

use super::fields::{Field, sets};
use super::{Exported, File, media_type};

pub(super) fn of(own: &Exported<'_>) -> Value {
    let about = own.about;
    let mut all = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            all.insert(key.to_owned(), value);
        }
    };
    let text = |text: &Option<String>| text.as_ref().map(|text| json!(text));
    put("@context", Some(context()));
    put("@type", Some(json!("sc:Dataset")));
    put("conformsTo", Some(json!("http://mlcommons.org/croissant/1.1")));
    put("name", Some(json!(own.name())));
    put("description", Some(json!(own.description())));
    put("url", text(&about.url));
    put("license", text(&about.license));
    put("creator", about.creator.as_ref().map(|name| json!({"@type": "sc:Organization", "name": name})));
    put("datePublished", text(&about.date));
    // What is in it is known by its certificate.
    put(
        "version",
        Some(json!(format!("1.0.0+{}", &own.certificate.digest[..12.min(own.certificate.digest.len())]))),
    );
    put("distribution", Some(own.files.iter().map(|file| file_object(own, file)).collect()));
    let sets: Vec<Value> = sets(own.certificate, own.files).iter().map(|set| {
        json!({
            "@type": "cr:RecordSet",
            "@id": set.name,
            "name": set.name,
            "description": set.about,
            "field": set.fields.iter().map(|field| of_field(&set.name, &set.file, field)).collect::<Vec<_>>(),
        })
    }).collect();
    put("recordSet", (!sets.is_empty()).then(|| json!(sets)));
    Value::Object(all)
}

fn file_object(own: &Exported<'_>, file: &File) -> Value {
    json!({
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": own.address(file),
        "contentSize": format!("{} B", file.bytes),
        "encodingFormat": media_type(&file.name),
        "sha256": file.sha256,
    })
}

fn of_field(above: &str, file: &str, field: &Field) -> Value {
    let id = format!("{above}/{}", field.name);
    let mut all = json!({
        "@type": "cr:Field",
        "@id": id,
        "name": field.name,
        "description": field.about,
        "dataType": "sc:Text",
    });
    if field.repeated {
        all["repeated"] = json!(true);
    }
    if field.parts.is_empty() {
        let mut source = json!({"fileObject": {"@id": file}, "extract": {"column": field.column}});
        if let Some(path) = &field.json_path {
            source["transform"] = json!({"jsonPath": path});
        }
        all["source"] = source;
    } else {
        // A field of fields has no type of its own.
        if let Value::Object(keys) = &mut all {
            keys.shift_remove("dataType");
        }
        all["subField"] = field.parts.iter().map(|part| of_field(&id, file, part)).collect();
    }
    all
}

/// What the words stand for; readers of Croissant want all of them.
fn context() -> Value {
    let own = [
        "arrayShape",
        "citeAs",
        "column",
        "containedIn",
        "equivalentProperty",
        "extract",
        "field",
        "fileProperty",
        "fileObject",
        "fileSet",
        "format",
        "includes",
        "isArray",
        "isLiveDataset",
        "jsonPath",
        "key",
        "md5",
        "parentField",
        "path",
        "recordSet",
        "references",
        "regex",
        "repeated",
        "replace",
        "samplingRate",
        "separator",
        "source",
        "subField",
        "transform",
    ];
    let mut all = json!({
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
        "conformsTo": "dct:conformsTo",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "name": {"@container": "@language"},
        "description": {"@container": "@language"},
    });
    for word in own {
        all[word] = json!(format!("cr:{word}"));
    }
    all
}
