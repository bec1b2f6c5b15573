//! Results that bring their warnings along.

use bosket_model::Diagnostic;

/// A result, and what whoever asked for it should know besides.
#[derive(Clone, Debug)]
#[must_use = "the warnings are for somebody"]
pub struct Warned<T> {
    /// The result.
    pub value: T,
    /// In the order in which they came up.
    pub warnings: Vec<Diagnostic>,
}

impl<T> Warned<T> {
    /// The same warnings with another result.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Warned<U> {
        Warned { value: f(self.value), warnings: self.warnings }
    }
}
