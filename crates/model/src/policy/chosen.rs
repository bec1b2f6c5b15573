//! The algorithm of a policy. A policy that was written in code has not been through the reader, so all is checked here.

use super::choices::Format;
use super::facts::{Number, Shape};
use super::models::Algorithm;
use super::{Policy, Privacy, Source};
use crate::diag::{Diagnostic, Failure, Fault, Place, nearest};
use crate::path::leads_through_class;

impl Policy {
    /// Whether every value may have a label of its own, whatever others have become.
    pub fn recodes_locally(&self) -> bool {
        self.method.text("recoding").as_deref() == Some("local")
    }

    /// The share of `privacy.guess`, if it is promised.
    pub fn guess(&self) -> Option<f64> {
        self.privacy.as_ref().and_then(|privacy| privacy.guess)
    }

    /// Whether a value becomes the same in every record: then a label hides all values below it, and tells none of them. Not so
    /// where some people are emptied, or sensitive items stay as they are beside others that do not.
    pub fn recodes_by_one_cut(&self) -> bool {
        let Some(privacy) = &self.privacy else { return false };
        match privacy.model.shape() {
            Shape::ValueTree => !self.recodes_locally() && self.method.flag("suppress") != Some(true),
            Shape::Set => {
                let global = !self.recodes_locally() && self.algorithm().is_ok_and(|own| !own.is_local());
                global && privacy.sensitive.is_empty()
            }
            Shape::VertexTree => false,
        }
    }

    /// The algorithm that is to reach the guarantee: the one that is named, or else the model's usual one. One that there is
    /// not, or that belongs to another model, is refused.
    pub fn algorithm(&self) -> crate::Result<Algorithm> {
        let model = self.need_privacy()?.model;
        let refuse = |what: String, help: String| {
            Failure::new(Fault::Policy, Diagnostic::error(what).at(Place::source(&self.name)).help(help))
        };
        let names = || model.algorithms().into_iter().map(Algorithm::name);
        let one_of =
            || format!("one of {}", names().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "));
        let Some(name) = self.method.algorithm.as_deref() else {
            let usual = model.usual_algorithm(self.is_flat());
            return usual.ok_or_else(|| refuse(format!("model `{model}` has no algorithm"), String::new()));
        };
        let Some(algorithm) = Algorithm::from_name(name) else {
            let help = nearest(name, names()).map_or_else(one_of, |near| format!("did you mean `{near}`?"));
            return Err(refuse(format!("there is no algorithm `{name}`"), help));
        };
        match algorithm.facts().except {
            _ if algorithm.reaches(model) => Ok(algorithm),
            Some(except) if except.model == model => {
                Err(refuse(except.what.to_owned(), except.help.to_owned()))
            }
            _ => Err(refuse(format!("algorithm `{name}` is not for model `{model}`"), one_of())),
        }
    }

    /// Whether the records are the rows of one table, as far as the policy tells.
    pub fn is_flat(&self) -> bool {
        let several = |s: &Source| s.tables.len() > 1 || s.tables.iter().any(|t| !t.person.is_empty());
        let sets = |s: &Source| s.format == Format::Transactions;
        // The header of a table may have any signs.
        let tables = self.source.as_ref().is_some_and(|s| s.format.is_tables());
        let nested = |path: &str| if tables { path.contains("[]") } else { leads_through_class(path) };
        !self.source.as_ref().is_some_and(|s| several(s) || sets(s))
            && !self.attributes.iter().any(|a| nested(&a.path))
    }
}

impl Privacy {
    /// The numbers that the model needs and that are not given.
    pub fn lacking(&self) -> Vec<Number> {
        let given = |number: Number| match number {
            Number::K => self.k.is_some(),
            // Whoever is told by name knows what is said of them.
            Number::M => self.m.is_some() || !self.attackers.is_empty(),
            Number::N => self.n.is_some() || !self.attackers.is_empty(),
            Number::L => self.l.is_some(),
            Number::T => self.t.is_some(),
            Number::Beta => self.beta.is_some(),
            Number::GroupSize => self.group_size.is_some(),
        };
        self.model.needs().iter().copied().filter(|n| !given(*n)).collect()
    }
}
