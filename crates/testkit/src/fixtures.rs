//! What nearly every test sets up: a policy, where the attributes of some data belong, hierarchies, value trees.

use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;

/// A policy that is good.
pub fn policy(text: &str) -> Policy {
    Policy::parse("p", text, &[]).unwrap_or_else(|problems| panic!("{problems:?}\n{text}")).0
}

/// Where the attributes of some data belong. The policy declares all of them.
pub fn binding(data: &Dataset, policy: &Policy) -> Binding {
    Binding::new(data.schema(), &policy.attributes, policy.undeclared, "data").expect("all declared")
}

/// A policy, and where the attributes of some data belong by it.
pub fn bound(data: &Dataset, text: &str) -> (Policy, Binding) {
    let policy = policy(text);
    let binding = binding(data, &policy);
    (policy, binding)
}

/// A hierarchy from the lines of a CSV file.
pub fn hierarchy(text: &str) -> Hierarchy {
    csv::parse("h.csv", text).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// The values of records as trees, each record apart and with all that hangs below.
pub fn value_trees(data: &Dataset, binding: &Binding) -> ValueTrees {
    ValueTrees::new(data, binding, RootMode::Separate, Payload::Keep)
}
