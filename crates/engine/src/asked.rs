//! What every family asks of a policy before it reads its own parameters.
//!
//! Policies can be written in code, past the checks of the reader. What is missing or unknown is refused here, never
//! replaced by a default: a guarantee must not depend on a guess.

use bosket_model::policy::{Algorithm, Family, Method, Model, Number, Param, Policy, Privacy};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

/// What a policy asks for: complete, and something that the family can do.
pub(crate) struct Asked<'p> {
    pub(crate) privacy: &'p Privacy,
    pub(crate) method: &'p Method,
    pub(crate) algorithm: Algorithm,
    name: &'p str,
}

impl<'p> Asked<'p> {
    pub(crate) fn new(policy: &'p Policy, family: Family) -> Result<Self> {
        let privacy = policy.need_privacy()?;
        let model = privacy.model;
        if model.family() != family {
            let others = Model::ALL.iter().filter(|m| m.family() == family);
            let others: Vec<String> = others.map(|m| format!("`{m}`")).collect();
            let what = format!("model `{model}` is not one of this family of algorithms");
            let what = Diagnostic::error(what).at(Place::source(&policy.name));
            return Err(Failure::new(Fault::Policy, what.help(format!("it takes {}", others.join(", ")))));
        }
        let asked =
            Asked { privacy, method: &policy.method, algorithm: policy.algorithm()?, name: &policy.name };
        let mut problems = asked.problems();
        for number in privacy.lacking() {
            problems.add(lacks(privacy, number));
        }
        problems.end()?;
        Ok(asked)
    }

    /// A number that the model needs.
    pub(crate) fn number<T>(&self, given: Option<T>, number: Number) -> Result<T> {
        given.ok_or_else(|| {
            Failure::new(Fault::Policy, lacks(self.privacy, number).at(Place::source(self.name)))
        })
    }

    /// A list of what is wrong, still empty.
    pub(crate) fn problems(&self) -> Problems<'p> {
        Problems { name: self.name, found: Vec::new() }
    }
}

fn lacks(privacy: &Privacy, number: Number) -> Diagnostic {
    Diagnostic::error(format!("model `{}` needs `{}`", privacy.model, number.name()))
        .help("add it to [privacy]")
}

/// An algorithm that a family has no function for: parameters were put together past their checks.
pub(crate) fn foreign(algorithm: Algorithm) -> Failure {
    Failure::defect(format!("this family has no algorithm `{algorithm}`"))
}

/// What is wrong with a policy, all of it.
pub(crate) struct Problems<'p> {
    name: &'p str,
    found: Vec<Diagnostic>,
}

impl Problems<'_> {
    /// Adds one, at the policy as a whole.
    pub(crate) fn add(&mut self, problem: Diagnostic) {
        self.found.push(problem.at(Place::source(self.name)));
    }

    /// Adds some that know their place.
    pub(crate) fn extend(&mut self, problems: impl IntoIterator<Item = Diagnostic>) {
        self.found.extend(problems);
    }

    /// Adds one if it is asked for.
    pub(crate) fn refuse(&mut self, asked: bool, what: &str, help: &str) {
        if asked {
            self.add(Diagnostic::error(what).help(help));
        }
    }

    /// What a word of `[method]` means; `usual` where there is none.
    pub(crate) fn word<T: Copy>(&mut self, method: &Method, key: &str, words: &[(&str, T)], usual: T) -> T {
        let Some(given) = method.param(key) else {
            return usual;
        };
        let known = words.iter().find(|(word, _)| matches!(&given, Param::Text(t) if t == word));
        let Some((_, meaning)) = known else {
            let all: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let what = format!("`method.{key}` has no such value");
            self.add(Diagnostic::error(what).help(format!("one of {}", all.join(", "))));
            return usual;
        };
        *meaning
    }

    /// Refuses if there are any.
    pub(crate) fn end(self) -> Result<()> {
        if self.found.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, self.found)) }
    }
}
