//! As much of JSON Schema as ours use, taken literally.

use serde_json::Value;

/// Whether a value fits a part of a schema. An unknown keyword is a failure, so that none goes unchecked.
pub fn valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let rules = match schema {
        Value::Bool(b) => return *b,
        Value::Object(rules) => rules,
        other => panic!("{other} is not a schema"),
    };
    rules.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "title" | "description" | "default" | "$defs" | "then" => true,
        "$ref" => {
            let name = rule.as_str().and_then(|r| r.strip_prefix('#')).expect("a local reference");
            valid(root, root.pointer(name).expect("the reference leads somewhere"), value)
        }
        "type" => match rule.as_str().expect("one type") {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            other => panic!("type {other}"),
        },
        "const" => value == rule,
        "enum" => rule.as_array().expect("a list").contains(value),
        "minimum" => value.as_f64().is_none_or(|v| v >= rule.as_f64().expect("a number")),
        "exclusiveMinimum" => value.as_f64().is_none_or(|v| v > rule.as_f64().expect("a number")),
        "maximum" => value.as_f64().is_none_or(|v| v <= rule.as_f64().expect("a number")),
        "minLength" => value.as_str().is_none_or(|v| v.len() as u64 >= rule.as_u64().expect("a number")),
        "minItems" => value.as_array().is_none_or(|v| v.len() as u64 >= rule.as_u64().expect("a number")),
        "maxItems" => value.as_array().is_none_or(|v| v.len() as u64 <= rule.as_u64().expect("a number")),
        "pattern" => value.as_str().is_none_or(|v| matches(rule.as_str().expect("a pattern"), v)),
        "items" => value.as_array().is_none_or(|v| v.iter().all(|item| valid(root, rule, item))),
        "required" => value.as_object().is_none_or(|v| {
            rule.as_array().expect("a list").iter().all(|k| v.contains_key(k.as_str().expect("a key")))
        }),
        "properties" => value.as_object().is_none_or(|v| {
            rule.as_object().expect("keys").iter().all(|(k, s)| v.get(k).is_none_or(|v| valid(root, s, v)))
        }),
        "additionalProperties" => value.as_object().is_none_or(|v| {
            let known = |k: &String| rules.get("properties").is_some_and(|p| p.get(k).is_some());
            v.iter().all(|(k, v)| known(k) || valid(root, rule, v))
        }),
        "anyOf" => rule.as_array().expect("a list").iter().any(|s| valid(root, s, value)),
        "oneOf" => rule.as_array().expect("a list").iter().filter(|s| valid(root, s, value)).count() == 1,
        "allOf" => rule.as_array().expect("a list").iter().all(|s| valid(root, s, value)),
        "if" => !valid(root, rule, value) || valid(root, &rules["then"], value),
        other => panic!("keyword {other}"),
    })
}

/// Whether a text matches one of the patterns that our schemas have.
fn matches(pattern: &str, text: &str) -> bool {
    let shape = match pattern {
        "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" => "0000-00-00".to_owned(),
        "^[0-9a-f]{64}$" => "f".repeat(64),
        "^0*[1-9][0-9]*(ms|s|m|h)$" => {
            let number = text.trim_end_matches(|c: char| !c.is_ascii_digit());
            return ["ms", "s", "m", "h"].contains(&&text[number.len()..])
                && number.chars().all(|c| c.is_ascii_digit())
                && number.contains(|c: char| c != '0');
        }
        other => panic!("pattern {other}"),
    };
    text.chars().count() == shape.len()
        && text.chars().zip(shape.chars()).all(|(c, like)| match like {
            '0' => c.is_ascii_digit(),
            'f' => matches!(c, '0'..='9' | 'a'..='f'),
            other => c == other,
        })
}
