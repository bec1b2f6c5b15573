//! What a claim says about sensitive values, and which items a list of labels means.

use bosket_model::hierarchy::{Hierarchy, NodeId};

use crate::claim::{Claim, Km};

impl Claim {
    /// Labels of items that the attacker does not know. If there are any, their hierarchy says which items they mean.
    pub fn sensitive(&self) -> &[String] {
        match self {
            Claim::Km(claim) => &claim.sensitive,
            _ => &[],
        }
    }

    /// Whether anything is claimed about values of sensitive attributes.
    pub fn limits_sensitive(&self) -> bool {
        match self {
            Claim::Kmn(claim) => claim.l.is_some(),
            Claim::LDiversity { .. } | Claim::Close { .. } | Claim::Apart(_) => true,
            Claim::Anatomized(claim) => claim.ask.is_some() || claim.close.is_some(),
            Claim::Km(_) | Claim::KAnonymity { .. } => false,
        }
    }
}

impl Km {
    /// The same with every leaf of a listed label: who lists `Meat` means all that is meat, as those do who publish.
    /// Without a hierarchy a label means itself.
    pub(crate) fn spelled_out(&self, hierarchies: &[Option<Hierarchy>]) -> Km {
        let mut sensitive = self.sensitive.clone();
        for hierarchy in hierarchies.iter().flatten() {
            for label in &self.sensitive {
                let node = hierarchy.leaf(label).or_else(|| hierarchy.node(label));
                // The root would be everything, and is refused by whoever publishes.
                let node = node.filter(|&n| n != NodeId::ROOT || hierarchy.is_leaf(n));
                let leaves = node.into_iter().flat_map(|node| hierarchy.leaves(node));
                sensitive.extend(leaves.map(|at| hierarchy.label(hierarchy.leaf_node(at)).to_owned()));
            }
        }
        sensitive.sort();
        sensitive.dedup();
        Km { sensitive, ..self.clone() }
    }
}
