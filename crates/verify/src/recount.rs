//! The second count that everything that holds has to pass.

use serde_json::json;

/// What a second, literal count went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recount {
    /// Pieces of knowledge, or classes or groups, that were counted again.
    pub pieces: u64,
    /// Records that they were taken from.
    pub records: u64,
    /// Whether these are all there are; else a sample.
    pub complete: bool,
    /// What of the claim was not counted again.
    pub not_covered: Vec<&'static str>,
}

impl Recount {
    /// The JSON form.
    pub fn to_json(&self) -> serde_json::Value {
        json!({
            "pieces": self.pieces,
            "records": self.records,
            "complete": self.complete,
            "not_covered": self.not_covered,
        })
    }
}
