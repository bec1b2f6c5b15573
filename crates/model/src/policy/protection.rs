//! What can be decided about a sensitive attribute that nothing protects yet, and about who is counted.

use super::choices::{Format, Protection, Role};
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

/// What to write where several records have the same of what names a person, by the format of the source.
pub(super) fn counted(format: Option<Format>, path: &str) -> String {
    let gather = match format {
        Some(Format::Json | Format::Ndjson | Format::Xml) => {
            format!("`person = \"{path}\"` under [source]")
        }
        Some(Format::Csv | Format::Parquet) => {
            format!("the file as a [[source.table]] with `person = \"{path}\"`")
        }
        _ => "records of which each is all of a person".to_owned(),
    };
    format!(
        "{gather}, if they are one person's; take out the line `protection` if every record is a person of its own"
    )
}

impl Policy {
    /// Sensitive attributes that nothing protects, and of which nobody has said that nothing shall; and attributes that name people
    /// and stand in several records, of which nobody has said who is counted.
    pub fn undecided(&self) -> impl Iterator<Item = &AttributePolicy> {
        let protects = |p: &Privacy| {
            let bound = p.l.is_some() || p.t.is_some() || p.beta.is_some();
            bound || (p.model.is_apart() && p.model.has_guarantee())
        };
        let open = !self.privacy.as_ref().is_some_and(protects);
        let waits = |a: &&AttributePolicy| a.protection == Some(Protection::Undecided);
        let asked = move |a: &&AttributePolicy| match a.role {
            Role::Sensitive => open,
            Role::Identifying => true,
            _ => false,
        };
        self.attributes.iter().filter(move |a| asked(a) && waits(a))
    }

    /// What to tell whoever wants to publish before all is decided.
    pub fn refuse_undecided(&self) -> Vec<Diagnostic> {
        let model = self.privacy.as_ref().map(|privacy| privacy.model);
        let format = self.source.as_ref().map(|source| source.format);
        let problem = |attribute: &AttributePolicy| {
            if attribute.role == Role::Identifying {
                let what = format!(
                    "nobody has decided who is counted: several records have the same `{}`",
                    attribute.path
                );
                let help = format!("write {}", counted(format, &attribute.path));
                return Diagnostic::error(what).at(attribute.place.clone()).help(help);
            }
            let what = format!("nobody has decided what protects `{}`, which is sensitive", attribute.path);
            Diagnostic::error(what).at(attribute.place.clone()).help(format!("write {}", ways(model)))
        };
        self.undecided().map(problem).collect()
    }
}
