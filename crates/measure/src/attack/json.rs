//! Risk for programs.

use serde_json::{Value, json};

use super::{Bin, Journalist, Known, Point, Risk, Share, Told, Worst};

impl Risk {
    /// The risk as JSON. Records are numbered from 1; values stand in it only if asked for.
    pub fn to_json(&self, show_values: bool) -> Value {
        let points = |points: &[Point]| points.iter().map(Point::to_json).collect::<Vec<_>>();
        let mut risk = json!({
            "records": self.records,
            "k": self.k,
            "points": points(&self.points),
            "worst": self.worst.iter().map(|w| w.to_json(show_values)).collect::<Vec<_>>(),
        });
        if !self.attackers.is_empty() {
            risk["attackers"] = self.attackers.iter().map(Told::to_json).collect();
        }
        if let Some(embedded) = &self.embedded {
            risk["embedded"] = json!(points(embedded));
        }
        risk
    }
}

impl Told {
    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "knows": self.knows,
            "k": self.k,
            "promised": self.promised.to_json(),
            "one_more": self.one_more.to_json(),
        })
    }
}

impl Point {
    /// The point as JSON.
    pub fn to_json(&self) -> Value {
        let mut point = json!({
            "m": self.m,
            "n": self.n,
            "people": self.people,
            "exhaustive": self.exhaustive,
            "exact": self.exact,
            "unique": self.unique.to_json(),
            "below_k": self.below_k.to_json(),
            "bins": self.bins.iter().map(|b| b.to_json()).collect::<Vec<_>>(),
            "prosecutor": self.prosecutor,
            "marketer": self.marketer,
            "journalist": self.journalist.map(Journalist::to_json),
            "random_unique": self.random_unique,
            "random_marketer": self.random_marketer,
        });
        if let Some((highest, mean)) = self.confidence {
            point["confidence"] = json!({"highest": highest, "mean": mean});
        }
        point
    }
}

impl Journalist {
    fn to_json(self) -> Value {
        json!({
            "population": self.population,
            "people": self.people,
            "exhaustive": self.exhaustive,
            "exact": self.exact,
            "absent": self.absent.to_json(),
            "unique": self.unique.to_json(),
            "below_k": self.below_k.to_json(),
            "highest": self.highest,
            "mean": self.mean,
        })
    }
}

impl Share {
    fn to_json(self) -> Value {
        json!({"value": self.value, "low": self.low, "high": self.high})
    }
}

impl Bin {
    fn to_json(self) -> Value {
        json!({"from": self.from, "to": self.to, "people": self.people})
    }
}

impl Worst {
    fn to_json(&self, show_values: bool) -> Value {
        let known = |known: &Known| {
            if show_values {
                json!({"path": known.path, "value": known.value})
            } else {
                json!({"path": known.path})
            }
        };
        json!({
            "record": self.record + 1,
            "matches": self.matches,
            "known": self.known.iter().map(known).collect::<Vec<_>>(),
            "relations": self.relations.iter().map(|&(a, b)| json!([a, b])).collect::<Vec<_>>(),
        })
    }
}
