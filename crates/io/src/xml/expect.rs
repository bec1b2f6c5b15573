//! Which elements repeat according to a policy.
//!
//! XML does not say that an element could repeat. A publication may have it at most once everywhere, or at another
//! place than home, where disassociation moved it; read without a policy it would then be taken for part of the vertex
//! around it.
//!
//! A class may be missing between any two others, so there are as many places as subsets of the classes above: they are
//! never written down, but followed name by name.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::Builder;
use bosket_model::binding::Binding;
use bosket_model::path::Notation;
use bosket_model::policy::{AttributePolicy, Undeclared};

/// The paths below the record of all elements that repeat, or would if there were more of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeating {
    /// The first is the record's.
    nodes: Vec<Node>,
}

/// What names may come next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    next: BTreeMap<String, usize>,
    /// Elements here repeat.
    many: bool,
    /// Elements here go on as those of these nodes, too.
    alike: BTreeSet<usize>,
}

/// Where an element is among the paths of [`Repeating`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place(BTreeSet<usize>);

impl Default for Repeating {
    fn default() -> Self {
        Repeating { nodes: vec![Node::default()] }
    }
}

impl Repeating {
    /// Those that are classes of the policy, at home or under any class above.
    pub(super) fn expected(attributes: &[AttributePolicy]) -> Self {
        let nothing = Builder::in_notation(Notation::Slashes).finish();
        // A path that cannot be read is reported when the policy is bound to the data.
        let Ok(binding) = Binding::new(nothing.schema(), attributes, Undeclared::Drop, "the policy") else {
            return Repeating::default();
        };
        // Every home has a node of its own, with the keys of all homes below.
        let mut repeating = Repeating { nodes: vec![Node::default(); binding.homes.len()] };
        for home in 1..binding.homes.len() {
            let mut above = binding.homes[home].parent;
            while let Some(parent) = above {
                let at = repeating.insert_below(parent, &binding.key_under(parent, home));
                repeating.nodes[at].alike.insert(home);
                above = binding.homes[parent].parent;
            }
        }
        repeating
    }

    /// Adds a path from the record on.
    pub(crate) fn insert(&mut self, path: &[String]) {
        self.insert_below(0, path);
    }

    fn insert_below(&mut self, node: usize, names: &[String]) -> usize {
        let mut at = node;
        for name in names {
            let free = self.nodes.len();
            at = *self.nodes[at].next.entry(name.clone()).or_insert(free);
            if at == free {
                self.nodes.push(Node::default());
            }
        }
        self.nodes[at].many = true;
        at
    }

    /// Where records are.
    pub(super) fn start() -> Place {
        Place(BTreeSet::from([0]))
    }

    /// Where an element of this name is that lies in another.
    pub(super) fn step(&self, place: &Place, name: &str) -> Place {
        let mut found = BTreeSet::new();
        for at in place.0.iter().filter_map(|&node| self.nodes[node].next.get(name)) {
            found.insert(*at);
            found.extend(&self.nodes[*at].alike);
        }
        Place(found)
    }

    /// Whether elements there repeat.
    pub(super) fn is_many(&self, place: &Place) -> bool {
        place.0.iter().any(|&node| self.nodes[node].many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::policy::Policy;

    fn expected(paths: &[String]) -> Repeating {
        let attributes: String = (paths.iter())
            .map(|path| format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\n"))
            .collect();
        let (policy, _) = Policy::parse("p", &format!("version = 1\n{attributes}"), &[]).expect("a policy");
        Repeating::expected(&policy.attributes)
    }

    fn is_many(repeating: &Repeating, path: &str) -> bool {
        let place = path.split('/').fold(Repeating::start(), |place, name| repeating.step(&place, name));
        repeating.is_many(&place)
    }

    #[test]
    fn classes_at_home_and_above() {
        let paths = ["name", "visits/visit[]/code[]", "visits/visit[]/test[]/@kind", "test/x"];
        let mut repeating = expected(&paths.map(str::to_owned));
        for path in ["code", "visits/visit", "visits/visit/code", "visits/visit/test", "visits.visit.test"] {
            assert!(is_many(&repeating, path), "{path}");
        }
        for path in ["name", "visits", "test", "test/x", "code/code", "visits/code", "visits/visit/name"] {
            assert!(!is_many(&repeating, path), "{path}");
        }
        repeating.insert(&["visits".to_owned(), "code".to_owned()]);
        assert!(is_many(&repeating, "visits/code") && !is_many(&repeating, "visits"));
    }

    #[test]
    fn every_level_took_twice_the_memory() {
        let names: Vec<String> = (1..=30).map(|level| format!("e{level}")).collect();
        let path = |level: usize| format!("{}[]/@a", names[..level].join("[]/"));
        let repeating = expected(&(1..=30).map(path).collect::<Vec<_>>());
        assert!(repeating.nodes.len() < 1000, "{}", repeating.nodes.len());
        // Whatever is missing in between, in the order of the levels.
        for step in 1..=30 {
            let some: Vec<&str> = names.iter().step_by(step).map(String::as_str).collect();
            assert!(is_many(&repeating, &some.join("/")), "{step}");
        }
        assert!(!is_many(&repeating, "e2/e1"));
    }
}
