//! What lies right beyond a promise: whom somebody finds who knows one value more.

use bosket_model::policy::Policy;
use serde_json::{Value, json};

use super::Told;

/// More people than this share are worth a word.
const MUCH: f64 = 0.1;

/// What one value more than promised would tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Beyond {
    /// Who would find most, with what they know as the policy says it.
    pub attacker: Told,
    /// Whether the policy names attackers.
    pub named: bool,
    /// Whether every value has a label of its own.
    pub local: bool,
}

/// The attacker who finds most people alone with one value more than promised; of equally good ones the first.
pub(super) fn worst(attackers: &[Told]) -> Option<&Told> {
    let unique = |told: &&Told| told.one_more.unique.value;
    attackers.iter().rev().max_by(|a, b| unique(a).total_cmp(&unique(b)))
}

impl Beyond {
    /// By what the attackers of a policy find in its publication; none where little more would be told.
    pub fn of(policy: &Policy, attackers: &[Told]) -> Option<Beyond> {
        let attacker = worst(attackers).filter(|told| told.one_more.unique.value > MUCH)?.clone();
        let named = policy.privacy.as_ref().is_some_and(|privacy| !privacy.attackers.is_empty());
        Some(Beyond { attacker, named, local: policy.recodes_locally() })
    }

    /// In words, with what would help.
    pub fn sentence(&self) -> String {
        let share = self.attacker.one_more.unique.value * 100.0;
        let who = match &self.attacker.name {
            Some(name) => format!("the attacker `{name}`, who knows {},", self.attacker.knows),
            None => format!("whoever knows {}", self.attacker.knows),
        };
        let mut help: Vec<&str> = Vec::new();
        if !self.named {
            help.push("an attacker who knows the whole card ([[privacy.attacker]])");
        }
        help.push("a larger m");
        if self.local {
            help.push("recoding = \"global\"");
        }
        format!(
            "{who} and one value more would find {share:.0} % of all people alone; what would help: {}",
            help.join(", or ")
        )
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({
            "attacker": self.attacker.name,
            "knows": self.attacker.knows,
            "unique_with_one_more": self.attacker.one_more.unique.value,
            "sentence": self.sentence(),
        })
    }
}
