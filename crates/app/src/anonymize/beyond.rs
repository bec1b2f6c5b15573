//! What lies right beyond a promise: whom somebody finds who knows one value more.

use bosket_measure::attack::{Options, Told, attackers};
use bosket_model::Result;
use bosket_model::policy::Policy;
use serde_json::{Value, json};

use crate::load::Bound;
use crate::run::Run;

/// More people than this share are worth a word.
const MUCH: f64 = 0.1;

/// Steps of counting: a look at many records, not a study.
const BUDGET: u64 = 5_000_000;

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

impl Beyond {
    /// Looks at a publication; none where little more would be told.
    pub(super) fn of(policy: &Policy, published: &Bound, run: &Run<'_>) -> Result<Option<Beyond>> {
        let Some(privacy) = policy.privacy.as_ref().filter(|privacy| privacy.model.counts_values()) else {
            return Ok(None);
        };
        let options = Options { budget: BUDGET, ..Options::of(policy) };
        let Bound { data, binding } = published;
        let told = attackers(data, binding, policy, &options, run.observer)?;
        let share = |told: &Told| told.one_more.unique.value;
        let worst = told.into_iter().reduce(|a, b| if share(&b) > share(&a) { b } else { a });
        let worst = worst.filter(|told| share(told) > MUCH);
        let (named, local) = (!privacy.attackers.is_empty(), policy.recodes_locally());
        Ok(worst.map(|attacker| Beyond { attacker, named, local }))
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
    pub(super) fn to_json(&self) -> Value {
        json!({
            "attacker": self.attacker.name,
            "knows": self.attacker.knows,
            "unique_with_one_more": self.attacker.one_more.unique.value,
            "sentence": self.sentence(),
        })
    }
}
