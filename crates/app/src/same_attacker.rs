//! One attacker for all guarantees that are compared. Risks from attackers of different strength say nothing about each
//! other: the weakest promise would look safest, for it is measured against whoever knows least.

use bosket_measure::attack;
use bosket_model::policy::{Policy, Privacy};
use bosket_model::words::plural;

/// Somebody who attacks every publication of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SameAttacker {
    /// How many values of a person it knows; all that may be known if not given.
    pub values: Option<u32>,
    /// How many relations between them.
    pub relations: Option<u32>,
}

impl SameAttacker {
    /// The strongest that any of the guarantees is about, and that can be counted for all of them.
    pub(crate) fn of<'p>(policies: impl IntoIterator<Item = &'p Policy> + Clone) -> Self {
        let privacy = || policies.clone().into_iter().filter_map(|policy| policy.privacy.as_ref());
        let known = privacy().filter(|p| p.model.counts_values()).filter_map(Privacy::most_known);
        let Some((values, _)) = known.max_by_key(|(values, _)| *values) else {
            return SameAttacker { values: None, relations: None };
        };
        // Of somebody who knows all that may be known, relations are not told apart.
        let all_count = privacy().all(|p| p.model.counts_values());
        let counted = privacy().filter(|p| all_count && p.model.counts_relations());
        let relations = counted.filter_map(Privacy::most_known).map(|(_, relations)| relations).max();
        SameAttacker { values: Some(values), relations: Some(relations.unwrap_or(0)) }
    }

    /// By which policy it is counted what such an attacker finds in a publication: one that has relations, if they are known.
    pub(crate) fn reads<'p>(self, own: &'p Policy, all: impl IntoIterator<Item = &'p Policy>) -> &'p Policy {
        let has_relations =
            |policy: &&Policy| policy.privacy.as_ref().is_some_and(|p| p.model.counts_relations());
        match self.relations {
            Some(1..) if !has_relations(&own) => all.into_iter().find(has_relations).unwrap_or(own),
            _ => own,
        }
    }

    /// Only such attackers are counted.
    pub(crate) fn options(self, policy: &Policy) -> attack::Options {
        let mut options = attack::Options::of(policy);
        if let (Some(m), Some(n)) = (self.values, self.relations) {
            (options.m, options.n) = (vec![m], vec![n]);
        }
        options
    }

    /// What is found of a risk about it.
    pub(crate) fn point(self, risk: &attack::Risk) -> Option<&attack::Point> {
        risk.points.iter().find(|p| (p.m, p.n) == (self.values, self.relations))
    }

    /// Who it is.
    pub fn sentence(self) -> String {
        let Some(values) = self.values else {
            return "somebody who knows all that may be known of a person".to_owned();
        };
        let relations = match self.relations {
            Some(n @ 1..) => format!(" and {} between them", plural(n as usize, "relation")),
            _ => String::new(),
        };
        format!("somebody who knows up to {} of a person{relations}", plural(values as usize, "value"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(privacy: &str) -> Policy {
        let text = format!(
            "version = 1\n[source]\nformat = 'ndjson'\npath = 'x'\n[[attribute]]\npath = 'a'\nrole = 'quasi'\n\
             hierarchy = {{ build = 'prefix' }}\n[privacy]\n{privacy}\n[publish]\npath = 'y'\n"
        );
        Policy::parse("p", &text, &[]).expect("a good policy").0
    }

    #[test]
    fn the_attacker_is_the_strongest_that_is_asked_about_and_the_same_for_all() {
        let all =
            [policy("model = 'kmn'\nk = 2\nm = 1\nn = 1"), policy("model = 'kmn'\nk = 5\nm = 3\nn = 0")];
        let found = SameAttacker::of(&all);
        assert_eq!(found, SameAttacker { values: Some(3), relations: Some(1) });
        assert_eq!(
            found.sentence(),
            "somebody who knows up to 3 values of a person and 1 relation between them"
        );
        let mixed = [all[0].clone(), policy("model = 'k-anonymity'\nk = 2")];
        assert_eq!(SameAttacker::of(&mixed), SameAttacker { values: Some(1), relations: Some(0) });
        assert_eq!(SameAttacker::of(&mixed[1..]), SameAttacker { values: None, relations: None });
        let neighbour = "[[privacy.attacker]]\nname = 'neighbour'\nknows = ['a']\nm = 3\n";
        let told = [policy(&format!("model = 'kmn'\nk = 2\n{neighbour}"))];
        assert_eq!(SameAttacker::of(&told), SameAttacker { values: Some(4), relations: Some(0) });
        let colleague = "[[privacy.attacker]]\nname = 'colleague'\nm = 2\nn = 1\n";
        let told = [policy(&format!("model = 'kmn'\nk = 2\n{neighbour}{colleague}"))];
        assert_eq!(SameAttacker::of(&told), SameAttacker { values: Some(2), relations: Some(1) });
    }
}
