//! Why a claim does not hold.

use std::cmp::Ordering;

use serde_json::json;

/// A published value that the attacker knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    /// Path of its attribute.
    pub path: String,
    /// The value as published.
    pub value: String,
}

/// A sensitive value that is too common in a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitive {
    /// Path of its attribute.
    pub path: String,
    /// The value as published, or its bucket.
    pub value: String,
    /// Its share.
    pub share: f64,
}

/// The attacker's knowledge and the records it matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Witness {
    /// What the attacker knows.
    pub values: Vec<Value>,
    /// Which of these values are known to be related: (ancestor, descendant), as indices into `values`.
    pub relations: Vec<(usize, usize)>,
    /// How many records match.
    pub support: usize,
    /// Which, from 0.
    pub records: Vec<u32>,
    /// The sensitive value whose share is too high, if that is what is wrong.
    pub sensitive: Option<Sensitive>,
}

impl Witness {
    /// Smallest first: by number of relations, number of values, then the values, then the records.
    pub fn order(a: &Witness, b: &Witness) -> Ordering {
        (a.relations.len(), a.values.len(), &a.values, &a.records).cmp(&(
            b.relations.len(),
            b.values.len(),
            &b.values,
            &b.records,
        ))
    }

    /// The JSON form; records are numbered from 1.
    pub fn to_json(&self) -> serde_json::Value {
        let mut witness = json!({
            "values": self.values.iter().map(|v| json!({"path": v.path, "value": v.value})).collect::<Vec<_>>(),
            "relations": self.relations.iter().map(|&(a, b)| json!([a, b])).collect::<Vec<_>>(),
            "support": self.support,
            "records": self.records.iter().map(|r| r + 1).collect::<Vec<_>>(),
        });
        if let Some(s) = &self.sensitive {
            witness["sensitive"] = json!({"path": s.path, "value": s.value, "share": s.share});
        }
        witness
    }
}
