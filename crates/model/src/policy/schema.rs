//! The policy's JSON Schema, for editors and other tools.

use super::describe::{Choice, Key, Literal, Section, Type};
use super::duration;
use super::keys::{FROM, METHOD, PRIVACY, ROOT};
use super::models::Model;
use crate::diag::Severity;
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of a policy. It says what stands in the reference; what keys mean
/// together beyond the model, only [`super::Policy::parse`] checks.
pub fn json_schema() -> Value {
    let mut definitions = Map::new();
    let mut schema = section(&ROOT, &mut definitions);
    let rules: Vec<Value> = Model::ALL.iter().map(|&m| model_rule(m)).collect();
    let mut root = Map::new();
    root.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    root.insert("title".into(), json!("Bosket policy, version 1"));
    if let Value::Object(map) = &mut schema {
        root.append(map);
    }
    root.insert("allOf".into(), Value::Array(rules));
    root.insert("$defs".into(), Value::Object(definitions));
    Value::Object(root)
}

/// Which keys a model needs and refuses, which words it has for the others, and which algorithms.
fn model_rule(model: Model) -> Value {
    let needed: Vec<&str> = PRIVACY.keys.iter().filter(|k| k.is_needed_by(model)).map(|k| k.name).collect();
    // An attacker who is told says what m and n would.
    let told = PRIVACY.key("attacker").is_some_and(|k| k.fits(model));
    let (free, needed): (Vec<&str>, Vec<&str>) =
        needed.into_iter().partition(|name| told && ["m", "n"].contains(name));
    let refuses =
        |k: &&Key| !k.fits(model) && k.scope.as_ref().is_some_and(|s| s.otherwise == Severity::Error);
    let mut own: Map<String, Value> =
        PRIVACY.keys.iter().filter(refuses).map(|k| (k.name.to_owned(), Value::Bool(false))).collect();
    let words = |key: &Key| match &key.kind {
        Type::OneOf(choices) if choices.iter().any(|c| !c.fits(model)) => {
            let fitting: Vec<&str> = choices.iter().filter(|c| c.fits(model)).map(|c| c.name).collect();
            Some(json!({ "enum": fitting }))
        }
        _ => None,
    };
    for key in PRIVACY.keys.iter().filter(|k| k.fits(model)) {
        own.extend(words(key).map(|words| (key.name.to_owned(), words)));
    }
    let mut then = json!({ "privacy": { "required": needed, "properties": own } });
    if told {
        then["privacy"]["anyOf"] = json!([{ "required": free }, { "required": ["attacker"] }]);
    }
    if let Some(words) = METHOD.key("algorithm").and_then(words) {
        then["method"] = json!({ "properties": { "algorithm": words } });
    }
    json!({
        "if": {
            "properties": { "privacy": { "properties": { "model": { "const": model.name() } }, "required": ["model"] } },
            "required": ["privacy"],
        },
        "then": { "properties": then },
    })
}

fn section(section: &'static Section, definitions: &mut Map<String, Value>) -> Value {
    let properties: Map<String, Value> =
        section.keys.iter().map(|k| (k.name.to_owned(), key(k, definitions))).collect();
    let required: Vec<&str> = section.keys.iter().filter(|k| k.required).map(|k| k.name).collect();
    json!({
        "type": "object",
        "description": section.about,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn key(key: &'static Key, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = of(&key.kind, definitions);
    let mut about = key.about.to_owned();
    if let Some(scope) = &key.scope {
        let models = scope.models.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
        about.push_str(&format!(" (models: {models})"));
    }
    if let Type::OneOf(choices) = &key.kind {
        about.push_str(&words(choices));
    }
    schema["description"] = json!(about);
    if let Some(default) = key.default {
        schema["default"] = match default {
            Literal::Bool(b) => json!(b),
            Literal::Int(i) => json!(i),
            Literal::Number(n) => json!(n),
            Literal::Text(t) => json!(t),
        };
    }
    schema
}

fn words(choices: &[Choice]) -> String {
    let told = choices.iter().filter(|c| !c.about.is_empty());
    told.map(|c| format!("\n- {}: {}", c.name, c.about)).collect()
}

fn of(kind: &'static Type, definitions: &mut Map<String, Value>) -> Value {
    match kind {
        Type::Text => json!({ "type": "string", "minLength": 1 }),
        Type::Value => json!({ "type": "string" }),
        Type::Date => json!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }),
        Type::Duration => json!({ "type": "string", "pattern": duration::PATTERN }),
        Type::Bool => json!({ "type": "boolean" }),
        Type::Int { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Type::Number { min, open, max } => {
            let mut schema = json!({ "type": "number" });
            if min.is_finite() {
                schema[if *open { "exclusiveMinimum" } else { "minimum" }] = json!(min);
            }
            if max.is_finite() {
                schema["maximum"] = json!(max);
            }
            schema
        }
        Type::OneOf(choices) => {
            json!({ "type": "string", "enum": choices.iter().map(|c| c.name).collect::<Vec<_>>() })
        }
        Type::List { of: item, min, max } => {
            let mut schema = json!({ "type": "array", "items": of(item, definitions), "minItems": min });
            if *max != usize::MAX {
                schema["maxItems"] = json!(max);
            }
            schema
        }
        Type::Map(value) => json!({ "type": "object", "additionalProperties": of(value, definitions) }),
        Type::Table(table) => section(table, definitions),
        Type::Tables(table) => json!({ "type": "array", "items": section(table, definitions) }),
        Type::Build(builders) => {
            json!({ "oneOf": builders.iter().map(|b| builder(b, definitions)).collect::<Vec<_>>() })
        }
        Type::AnyOf(kinds) => {
            json!({ "anyOf": kinds.iter().map(|k| of(k, definitions)).collect::<Vec<_>>() })
        }
        Type::Named(name, kind) => {
            if !definitions.contains_key(*name) {
                // Entered before it is made: it contains itself.
                definitions.insert((*name).to_owned(), Value::Null);
                definitions[*name] = of(kind, definitions);
            }
            json!({ "$ref": format!("#/$defs/{name}") })
        }
    }
}

fn builder(builder: &'static Section, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = section(builder, definitions);
    schema["properties"]["build"] = json!({ "const": builder.name });
    if let Some(required) = schema["required"].as_array_mut().filter(|_| builder.name != FROM) {
        required.insert(0, json!("build"));
    }
    schema
}
