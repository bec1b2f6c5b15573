//! Why a claim does not hold.

use std::cmp::Ordering;

use serde_json::json;

/// A published value that the attacker knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    /// Path of its attribute.
    pub path: String,
    /// The value as published.
    pub value: String,
    /// How often it occurs, where that is known.
    pub count: Option<u32>,
    /// Known is that the record does not have it.
    pub absent: bool,
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
    /// Its share in the whole publication, where that is what the class is compared with.
    pub in_all: Option<f64>,
    /// How far the class is from the whole publication: the earth mover's distance (t-closeness), or by how much of itself
    /// the share is larger (β-likeness).
    pub distance: Option<f64>,
}

impl Sensitive {
    /// A value that is too common whatever there is elsewhere.
    pub fn common(path: String, value: String, share: f64) -> Self {
        Sensitive { path, value, share, in_all: None, distance: None }
    }
}

/// The attacker's knowledge and the records it matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Witness {
    /// What the attacker knows.
    pub values: Vec<Value>,
    /// Which of these values are known to be related: (ancestor, descendant), as indices into `values`.
    pub relations: Vec<(usize, usize)>,
    /// Which of these values are known to be there and not related, as indices into `values`.
    pub unrelated: Vec<(usize, usize)>,
    /// How many records match.
    pub support: usize,
    /// Which, from 0.
    pub records: Vec<u32>,
    /// The sensitive value whose share is too high, if that is what is wrong.
    pub sensitive: Option<Sensitive>,
    /// The group of a dissected publication, from 0; `support` is then the number of its people, and `values` are the
    /// sensitive ones that are too close to each other. Of an anatomized one, `values` are the quasi ones of all its
    /// people, or of those, `support` many, who look different from others.
    pub group: Option<u32>,
    /// How close these are.
    pub distance: Option<u32>,
    /// What the policy calls whoever knows this; none for somebody who knows nothing in particular.
    pub attacker: Option<String>,
}

impl Value {
    /// The value in words: `not X` for one that is known to be absent, `2 times X` for one with its count.
    pub fn text(&self) -> String {
        let times = match self.count {
            None => String::new(),
            Some(1) => "once ".to_owned(),
            Some(n) => format!("{n} times "),
        };
        let not = if self.absent { "not " } else { "" };
        format!("{not}{times}{}", self.value)
    }

    fn to_json(&self) -> serde_json::Value {
        let mut value = json!({"path": self.path, "value": self.value});
        if let Some(count) = self.count {
            value["count"] = json!(count);
        }
        if self.absent {
            value["absent"] = json!(true);
        }
        value
    }
}

impl Witness {
    /// Smallest first: by number of relations, number of values, then the values, then the records.
    pub fn order(a: &Witness, b: &Witness) -> Ordering {
        let key = |w: &Witness| (w.relations.len() + w.unrelated.len(), w.values.len());
        (key(a), &a.values, &a.records, a.group).cmp(&(key(b), &b.values, &b.records, b.group))
    }

    /// The JSON form; records are numbered from 1.
    pub fn to_json(&self) -> serde_json::Value {
        let pairs = |pairs: &[(usize, usize)]| pairs.iter().map(|&(a, b)| json!([a, b])).collect::<Vec<_>>();
        let mut witness = json!({
            "values": self.values.iter().map(Value::to_json).collect::<Vec<_>>(),
            "relations": pairs(&self.relations),
            "support": self.support,
            "records": self.records.iter().map(|r| r + 1).collect::<Vec<_>>(),
        });
        if let Some(attacker) = &self.attacker {
            witness["attacker"] = json!(attacker);
        }
        if !self.unrelated.is_empty() {
            witness["unrelated"] = json!(pairs(&self.unrelated));
        }
        if let Some(s) = &self.sensitive {
            witness["sensitive"] = json!({"path": s.path, "value": s.value, "share": s.share});
            if let (Some(in_all), Some(distance)) = (s.in_all, s.distance) {
                witness["sensitive"]["in_all"] = json!(in_all);
                witness["sensitive"]["distance"] = json!(distance);
            }
        }
        if let Some(group) = self.group {
            witness["group"] = json!(group + 1);
        }
        if let Some(distance) = self.distance {
            witness["distance"] = json!(distance);
        }
        witness
    }
}
