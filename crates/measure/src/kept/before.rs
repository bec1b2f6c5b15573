//! What goes in, as a dry run knows it.

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use serde_json::{Value, json};

use super::tally::{Tally, has_told, is_told, path_of};
use crate::loss::Side;

/// The rows and values of the input that may be published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Paths of classes with their rows; the first is empty and stands for the records themselves.
    pub classes: Vec<(String, u64)>,
    /// Paths of attributes with their class, role and values.
    pub attributes: Vec<(String, String, Role, u64)>,
}

impl Before {
    /// Counts the input.
    pub fn new(input: Side<'_>, observer: &dyn Observer) -> Result<Self> {
        let tally = Tally::of_input(input, observer)?;
        let binding = input.binding;
        let homes = (0..binding.homes.len()).filter(|&h| has_told(binding, h, |_| true));
        let classes = homes.map(|h| (path_of(binding, h), tally.homes[h].all)).filter(|c| c.1 > 0);
        let told = binding.declared.iter().zip(&tally.values).filter(|(a, n)| is_told(a) && n.all > 0);
        let attribute = |a: &bosket_model::binding::Declared, n: u64| {
            (a.path.clone(), path_of(binding, a.home), a.role, n)
        };
        Ok(Before {
            classes: classes.collect(),
            attributes: told.map(|(a, n)| attribute(a, n.all)).collect(),
        })
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let class = |(path, rows): &(String, u64)| json!({"path": path, "rows": rows});
        let attribute = |(path, _, role, values): &(String, String, Role, u64)| json!({"path": path, "role": role.name(), "values": values});
        json!({
            "classes": self.classes.iter().map(class).collect::<Vec<_>>(),
            "attributes": self.attributes.iter().map(attribute).collect::<Vec<_>>(),
        })
    }
}
