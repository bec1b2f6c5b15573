//! What a claim does not protect, by the roles of its policy. Whoever calls everything insensitive can promise anything;
//! only the reader can judge whether the roles are right, so they are told before the verdict.

use bosket_model::binding::effective_role;
use bosket_model::policy::{Policy, Role, Undeclared};
use bosket_verify::Claim;
use serde_json::{Value, json};

/// What of a publication no claim speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unprotected {
    /// The paths that are published as they are, and as what.
    pub as_they_are: Vec<(String, Role)>,
    /// The paths of dates that are shifted, and by how many days at most. Not anonymity: intervals are as they were.
    pub shifted: Vec<(String, u32)>,
    /// The paths of pseudonyms, which link releases.
    pub pseudonyms: Vec<String>,
    /// The paths that are said to be keys: fresh numbers in linked tables, nothing in trees.
    pub keys: Vec<String>,
    /// The paths that are said to be removed.
    pub removed: Vec<String>,
    /// The paths that are said to be left out by choice.
    pub dropped: Vec<String>,
    /// Whether whatever the policy does not name is said to be removed too.
    pub unnamed: bool,
}

impl Unprotected {
    pub(super) fn new(policy: &Policy, claim: &Claim) -> Self {
        let mut found =
            Unprotected { unnamed: policy.undeclared == Undeclared::Drop, ..Unprotected::default() };
        for attribute in &policy.attributes {
            let path = attribute.path.clone();
            if let Some(days) = attribute.shift {
                found.shifted.push((path, days));
                continue;
            }
            if attribute.role == Role::Pseudonym {
                found.pseudonyms.push(path);
                continue;
            }
            match effective_role(&policy.attributes, attribute) {
                Role::Pseudonym | Role::Quasi => {}
                Role::Sensitive if claim.limits_sensitive() => {}
                role @ (Role::Sensitive | Role::Insensitive) => found.as_they_are.push((path, role)),
                Role::Key => found.keys.push(path),
                Role::Identifying => found.removed.push(path),
                Role::Drop => found.dropped.push(path),
            }
        }
        found
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let role = |(path, role): &(String, Role)| json!({"path": path, "role": role.name()});
        json!({
            "published_as_they_are": self.as_they_are.iter().map(role).collect::<Vec<_>>(),
            "shifted": self.shifted.iter().map(|(path, days)| json!({"path": path, "days": days})).collect::<Vec<_>>(),
            "pseudonyms": self.pseudonyms,
            "keys": self.keys,
            "removed": self.removed,
            "left_out": self.dropped,
            "unnamed_removed": self.unnamed,
        })
    }
}
