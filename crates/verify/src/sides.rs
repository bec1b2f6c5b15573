//! What stands on which side of a publication, and what does not belong there.

use serde_json::json;

use bosket_model::dissected::Dissected;

/// A side of a publication whose quasi and sensitive values are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PublishedSide {
    /// Where people are.
    Quasi,
    /// Where the values of groups are.
    Sensitive,
}

impl PublishedSide {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            PublishedSide::Quasi => "quasi",
            PublishedSide::Sensitive => "sensitive",
        }
    }
}

/// An attribute that stands where it must not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Misplaced {
    /// Its path.
    pub path: String,
    /// Where it stands.
    pub side: PublishedSide,
    /// Why it must not.
    pub reason: &'static str,
}

impl Misplaced {
    /// The JSON form.
    pub fn to_json(&self) -> serde_json::Value {
        json!({"path": self.path, "side": self.side.name(), "reason": self.reason})
    }
}

/// The two sides of a publication with their place in the policy.
#[derive(Clone, Debug, Default)]
pub struct JudgedSides {
    /// What the guarantee depends on: people and sensitive values, by group.
    pub dissected: Dissected,
    /// Attributes that the policy removes and that are still there, whatever the side.
    pub left: Vec<String>,
    /// Attributes on the wrong side.
    pub misplaced: Vec<Misplaced>,
}
