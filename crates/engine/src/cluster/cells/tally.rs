//! What became of records, in numbers that add up over cells.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use bosket_model::Result;

use super::facts::unreadable;

/// What some records had, and what of it is published.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Records that are counted here, published or not.
    pub records: u64,
    /// Of these, the ones that are not published.
    pub suppressed: u64,
    /// Quasi values that they had.
    pub had_values: u64,
    /// Quasi values that are published, however general.
    pub kept_values: u64,
    /// Sensitive values that they had.
    pub had_secrets: u64,
    /// Sensitive values that are published.
    pub kept_secrets: u64,
    /// Vertices that they had, of classes that have anything to publish.
    pub had_vertices: u64,
    /// Vertices that are published.
    pub kept_vertices: u64,
    /// Vertices that the records had which are not published.
    pub suppressed_vertices: u64,
    /// Detail that the published quasi values have lost.
    pub lost: f64,
    /// What the search has minimised, in [`SCALE`](crate::cluster::SCALE) of a value.
    pub cost: i64,
    /// The quasi attributes, by their places in the policy, that are text now, since something of them is generalized.
    pub texts: BTreeSet<usize>,
}

impl Tally {
    /// What became of both.
    #[must_use]
    pub fn merge(mut self, other: Tally) -> Tally {
        self.records += other.records;
        self.suppressed += other.suppressed;
        self.had_values += other.had_values;
        self.kept_values += other.kept_values;
        self.had_secrets += other.had_secrets;
        self.kept_secrets += other.kept_secrets;
        self.had_vertices += other.had_vertices;
        self.kept_vertices += other.kept_vertices;
        self.suppressed_vertices += other.suppressed_vertices;
        self.lost += other.lost;
        self.cost += other.cost;
        self.texts.extend(other.texts);
        self
    }

    /// LM over all values that there were, where a lost sensitive value counts so much.
    pub fn lm(&self, secret: f64) -> f64 {
        let lost_secrets = secret * (self.had_secrets - self.kept_secrets) as f64;
        let lost = (self.had_values - self.kept_values) as f64 + self.lost + lost_secrets;
        let all = self.had_values as f64 + lost_secrets;
        if all > 0.0 { lost / all } else { 0.0 }
    }

    /// Vertices of published records that are not published themselves.
    pub fn pruned(&self) -> u64 {
        self.had_vertices - self.suppressed_vertices - self.kept_vertices
    }

    /// The JSON form. Numbers, no values.
    pub fn to_json(&self) -> Value {
        json!({
            "records": self.records, "suppressed": self.suppressed,
            "had": [self.had_values, self.had_secrets, self.had_vertices],
            "kept": [self.kept_values, self.kept_secrets, self.kept_vertices],
            "suppressed_vertices": self.suppressed_vertices,
            "lost": self.lost, "cost": self.cost, "texts": self.texts,
        })
    }

    /// Reads the JSON form.
    pub fn from_json(value: &Value) -> Result<Self> {
        let number = |key: &str| value.get(key)?.as_u64();
        let three = |key: &str| -> Option<[u64; 3]> {
            let list = value.get(key)?.as_array()?;
            let numbers: Option<Vec<u64>> = list.iter().map(Value::as_u64).collect();
            numbers?.try_into().ok()
        };
        let read = || {
            let [had_values, had_secrets, had_vertices] = three("had")?;
            let [kept_values, kept_secrets, kept_vertices] = three("kept")?;
            let texts = value.get("texts")?.as_array()?.iter();
            let tally = Tally {
                records: number("records")?,
                suppressed: number("suppressed")?,
                had_values,
                kept_values,
                had_secrets,
                kept_secrets,
                had_vertices,
                kept_vertices,
                suppressed_vertices: number("suppressed_vertices")?,
                lost: value.get("lost")?.as_f64()?,
                cost: value.get("cost")?.as_i64()?,
                texts: texts.map(|t| usize::try_from(t.as_u64()?).ok()).collect::<Option<_>>()?,
            };
            let sound = kept_values <= had_values
                && kept_secrets <= had_secrets
                && tally.kept_vertices.checked_add(tally.suppressed_vertices)? <= had_vertices;
            sound.then_some(tally)
        };
        read().ok_or_else(|| unreadable("figures of a cell"))
    }
}
