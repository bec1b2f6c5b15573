//! Which elements repeat according to a policy.
//!
//! XML does not say that an element could repeat. A publication may have it at most once everywhere, or at another
//! place than home, where disassociation moved it; read without a policy it would then be taken for part of the vertex
//! around it.

use std::collections::BTreeSet;

use bosket_model::Builder;
use bosket_model::binding::Binding;
use bosket_model::path::Notation;
use bosket_model::policy::{AttributePolicy, Undeclared};

/// The paths below the record of all elements that are classes of the policy, at home or under any class above.
pub(super) fn repeating(attributes: &[AttributePolicy]) -> Vec<Vec<String>> {
    let nothing = Builder::in_notation(Notation::Slashes).finish();
    // A path that cannot be read is reported when the policy is bound to the data.
    let Ok(binding) = Binding::new(nothing.schema(), attributes, Undeclared::Drop, "the policy") else {
        return Vec::new();
    };
    let mut places: Vec<BTreeSet<Vec<String>>> = vec![BTreeSet::from([Vec::new()])];
    for home in 1..binding.homes.len() {
        let mut found = BTreeSet::new();
        let mut above = binding.homes[home].parent;
        while let Some(parent) = above {
            let key = binding.key_under(parent, home);
            found.extend(places[parent].iter().map(|place| [place.as_slice(), &key].concat()));
            above = binding.homes[parent].parent;
        }
        places.push(found);
    }
    places.iter().skip(1).flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::policy::Policy;

    #[test]
    fn classes_at_home_and_above() {
        let attributes: String = ["name", "visits/visit[]/code[]", "visits/visit[]/test[]/@kind", "test/x"]
            .map(|path| format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\n"))
            .concat();
        let (policy, _) = Policy::parse("p", &format!("version = 1\n{attributes}"), &[]).expect("a policy");
        let found: Vec<String> = repeating(&policy.attributes).iter().map(|p| p.join("/")).collect();
        assert_eq!(
            found,
            ["code", "visits/visit", "visits/visit/code", "visits/visit/test", "visits.visit.test"]
        );
    }
}
