//! Where two policies say different things.

use std::collections::BTreeSet;

use serde_json::Value;

/// Where two values in JSON differ, each with what both say. Elements of lists are called by their path or name.
pub fn differences(policy: &Value, certificate: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(policy, certificate, "", &mut found);
    found
}

fn compare(policy: &Value, certificate: &Value, at: &str, found: &mut Vec<String>) {
    match (policy, certificate) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
                compare(&of(a), &of(b), &at, found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.iter().chain(b).all(|item| name(item).is_some()) => {
            let names: Vec<&str> = a.iter().filter_map(name).collect();
            let others: Vec<&str> = b.iter().filter_map(name).collect();
            if names.len() == others.len() && names.iter().all(|n| others.contains(n)) && names != others {
                found.push(format!("{at}: not in the same order"));
            }
            let all: BTreeSet<&str> = names.into_iter().chain(others).collect();
            for own in all {
                let of = |items: &[Value]| {
                    items.iter().find(|i| name(i) == Some(own)).cloned().unwrap_or(Value::Null)
                };
                compare(&of(a), &of(b), &format!("{at}[\"{own}\"]"), found);
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push(format!("{at}: {} in the policy, {} in the certificate", told(a), told(b))),
    }
}

fn name(item: &Value) -> Option<&str> {
    item.get("path").or_else(|| item.get("name"))?.as_str()
}

/// What is said, in short.
fn told(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Object(_) => "something else".to_owned(),
        value => value.to_string(),
    }
}
