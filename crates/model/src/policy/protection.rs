//! What can be decided about a sensitive attribute that nothing protects yet.

use super::choices::{Protection, Role};
use super::models::Model;
use super::{AttributePolicy, Policy, Privacy};
use crate::diag::Diagnostic;

/// What to write, by the model that is promised.
pub(super) fn ways(model: Option<Model>) -> String {
    let bound = match model {
        Some(Model::Kmn | Model::LDiversity | Model::Delta) => {
            "`protection = \"l\"` with `l = 2` under [privacy]: nobody learns a value with more than 1/2; "
        }
        Some(Model::KAnonymity | Model::TCloseness | Model::BetaLikeness) => {
            "`protection = \"l\"` with `model = \"l-diversity\"` and `l = 2` under [privacy]: nobody learns a value with more \
             than 1/2; "
        }
        _ => "",
    };
    format!(
        "{bound}`role = \"quasi\"` with a hierarchy: it is generalized like what is known; `role = \"drop\"`: it is left out; \
         `protection = \"nothing\"`: it is published as it is"
    )
}

impl Policy {
    /// Sensitive attributes that nothing protects, and of which nobody has said that nothing shall.
    pub fn undecided(&self) -> impl Iterator<Item = &AttributePolicy> {
        let protects = |p: &Privacy| {
            let bound = p.l.is_some() || p.t.is_some() || p.beta.is_some();
            bound || (p.model.is_apart() && p.model.has_guarantee())
        };
        let open = !self.privacy.as_ref().is_some_and(protects);
        let waits = |a: &&AttributePolicy| a.protection == Some(Protection::Undecided);
        self.attributes.iter().filter(move |a| open && a.role == Role::Sensitive && waits(a))
    }

    /// What to tell whoever wants to publish before all is decided.
    pub fn refuse_undecided(&self) -> Vec<Diagnostic> {
        let model = self.privacy.as_ref().map(|privacy| privacy.model);
        let problem = |attribute: &AttributePolicy| {
            let what = format!("nobody has decided what protects `{}`, which is sensitive", attribute.path);
            Diagnostic::error(what).at(attribute.place.clone()).help(format!("write {}", ways(model)))
        };
        self.undecided().map(problem).collect()
    }
}
