//! The certificate's JSON Schema, for whoever reads it without this tool.

use bosket_model::policy::json_schema as policy_schema;
use serde_json::{Value, json};

use super::{FORMAT, Form};

/// The JSON Schema (draft 2020-12) of a certificate.
pub fn json_schema() -> Value {
    let hash = |about: &str| json!({"type": "string", "pattern": "^[0-9a-f]{64}$", "description": about});
    let text = |about: &str| json!({"type": "string", "minLength": 1, "description": about});
    let object = |properties: Value, about: &str| {
        let required: Vec<String> =
            properties.as_object().into_iter().flat_map(|p| p.keys().cloned()).collect();
        json!({
            "type": "object",
            "description": about,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    let file = object(
        json!({
            "name": text("the file's name within the publication; a table's in a database"),
            "sha256": hash("of the file's bytes; of a table's columns and ordered rows"),
        }),
        "a published file or table",
    );
    let file_of_earlier = file.clone();
    let hierarchy = object(
        json!({
            "path": text("as in the policy; the file's name alone where that is absolute"),
            "sha256": hash("of the file's bytes"),
            "attributes": {"type": "array", "items": {"type": "string"}, "description": "whom it serves"},
        }),
        "a hierarchy that was given as a file; those that were built are not hashed",
    );
    let publication = object(
        json!({
            "form": {"type": "string", "enum": Form::ALL.map(Form::name), "description": "what it is made of"},
            "files": {
                "type": "array",
                "items": file,
                "minItems": 1,
                "description": "all of it; of a document the document itself comes first",
            },
        }),
        "by what the publication is known",
    );
    let figures = |about: &str| json!({"type": "object", "description": about});
    let claim = json!({
        "anyOf": [
            {"type": "object", "properties": {"model": {"type": "string"}}, "required": ["model"]},
            {"type": "null"},
        ],
        "description": "what is claimed, with its reading; lists of values by their length; null if nothing is",
    });
    let group = object(
        json!({
            "label": text("as it is published"),
            "values": {"type": "array", "items": {"type": "string"}, "description": "those that at least k people have"},
            "others": {"type": "integer", "minimum": 0, "description": "how many other values it stands for"},
        }),
        "a group of values",
    );
    let properties = json!({
        "certificate": {"const": FORMAT, "description": "version of this form"},
        "tool": text("what made the publication"),
        "policy": public_policy(),
        "seed": {"type": "integer", "minimum": 0, "description": "what broke ties"},
        "records": {"type": "integer", "minimum": 0, "description": "how many records were published"},
        "claim": claim,
        "sentence": text("the claim in words"),
        "verified": {"type": "boolean", "description": "whether the claim was checked on the publication's bytes"},
        "verifier": text("what checked it"),
        "publication": publication,
        "hierarchies": {"type": "array", "items": hierarchy, "description": "those given as files"},
        "loss": figures("what the publication lost, by metric"),
        "suppressed": figures("how much was suppressed"),
        "kept": kept(),
        "selected": {
            "type": "integer",
            "minimum": 0,
            "description": "how many people the policy's `where` and `sample` leave; nothing where it has neither",
        },
        "legend": {
            "type": "array",
            "description": "what published groups stand for, where they were made of the data's values",
            "items": object(
                json!({"path": text("the attribute"), "groups": {"type": "array", "items": group}}),
                "the published groups of an attribute",
            ),
        },
        "joint": {
            "type": "array",
            "minItems": 1,
            "description": "earlier releases about the same people, together with which the claim was checked",
            "items": object(
                json!({"files": {"type": "array", "items": file_of_earlier, "minItems": 1}}),
                "an earlier release, by its files",
            ),
        },
        "guess": object(
            json!({
                "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "description": "as the policy has it"},
                "sentence": text("what is promised, in words"),
                "checked": text("by what it was found to hold"),
            }),
            "what labels tell of the values that they hide, where the policy bounds it",
        ),
        "not_claimed": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "description": "what nobody should take for claimed",
        },
        "digest": hash("of everything else in its canonical form (RFC 8785)"),
    });
    let mut whole = object(properties, "What is claimed about a publication, and by what it is known.");
    // Earlier versions did not count; not every policy selects.
    if let Some(required) = whole["required"].as_array_mut() {
        required.retain(|key| {
            !["kept", "selected", "legend", "joint", "guess"].iter().any(|optional| key == optional)
        });
    }
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Bosket certificate, version {FORMAT}"),
    });
    for (key, value) in whole.as_object().into_iter().flatten() {
        schema[key] = value.clone();
    }
    schema
}

/// How many rows and values are published of how many.
fn kept() -> Value {
    let number = |about: &str| json!({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "description": about});
    let entry = |what: &str, input: &str, role: bool| {
        let mut properties = json!({
            "path": {"type": "string", "description": "empty for the records; `others` for all that fewer than k people have"},
            "published": number("how many are published"),
            "moved": number("of these, how many stand above their place, apart from their row"),
            "as_anything": number("of these, how many say only that they could be anything"),
            "merged": number("not published, since a look-alike says the same"),
            "pruned": number("not published, since others of the cluster have nothing like them"),
            "left_out": number("not published, and nothing published stands for them"),
            "suppressed": number("not published with their whole record"),
        });
        properties[what] = number(input);
        if role {
            properties["role"] = json!({"type": "string", "description": "what the policy calls it"});
        }
        let required: Vec<String> =
            properties.as_object().into_iter().flat_map(|p| p.keys().cloned()).collect();
        if role {
            properties["says_nothing"] = json!({
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "description": "labels besides `*` that say as little; they are counted in `as_anything`",
            });
        }
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    json!({
        "type": "object",
        "description": "how many rows and values of the input are published; null is not known",
        "properties": {
            "classes": {"type": "array", "items": entry("rows", "rows of the input", false)},
            "attributes": {"type": "array", "items": entry("values", "values of the input", true)},
        },
        "required": ["classes", "attributes"],
        "additionalProperties": false,
    })
}

/// The policy's own schema without places, and with lists of values told by their length.
fn public_policy() -> Value {
    let mut schema = policy_schema();
    let length = || json!({"type": "integer", "minimum": 0, "description": "how many values are listed"});
    for key in ["negative", "sensitive", "distinct_everywhere"] {
        schema["properties"]["privacy"]["properties"][key] = length();
    }
    let forms = &mut schema["properties"]["attribute"]["items"]["properties"]["hierarchy"]["anyOf"];
    for form in forms.as_array_mut().into_iter().flatten() {
        for builder in form.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(groups) = builder.pointer_mut("/properties/groups") {
                *groups = length();
            }
        }
    }
    let gone: [(&str, &[&str]); 2] = [
        ("/properties/source/properties", &["url", "schema"]),
        ("/properties/publish/properties", &["path", "url", "certificate", "report", "mapping"]),
    ];
    for (at, keys) in gone {
        if let Some(properties) = schema.pointer_mut(at).and_then(Value::as_object_mut) {
            properties.retain(|key, _| !keys.contains(&key.as_str()));
        }
    }
    if let Some(own) = schema.as_object_mut() {
        own.retain(|key, _| !["$schema", "$defs", "title"].contains(&key.as_str()));
    }
    schema["description"] = json!("the policy without places, lists of values told by their length");
    schema
}
