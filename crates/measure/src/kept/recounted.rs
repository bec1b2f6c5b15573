//! What a certificate tells about what is kept, held to the publication alone: rows and values that are published can be
//! counted there, how many there were cannot.

use std::collections::BTreeSet;

use bosket_model::Result;
use bosket_model::hierarchy::ROOT_LABEL;
use bosket_model::observe::Observer;
use serde_json::Value;

use super::json::{OTHERS, SAYS_NOTHING};
use super::tally::{Anything, Tally, path_of};
use crate::loss::Side;

/// How many rows and values a publication has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recounted {
    /// Per class its path and its rows.
    classes: Vec<(String, u64)>,
    /// Per attribute its path, its values, and how many of them are `*` or what the certificate says to say no more.
    attributes: Vec<(String, u64, u64)>,
}

impl Recounted {
    /// Counts a publication, to be held to what a certificate tells (`kept`). Which labels say as little as `*` is in hierarchies,
    /// which a receiver need not have: the certificate names them, and here it is counted how often they stand there.
    pub fn of(published: Side<'_>, kept: &Value, observer: &dyn Observer) -> Result<Self> {
        let binding = published.binding;
        let anything = Anything::by(published, |declared| {
            let told = labels(
                entries(kept, "attributes").iter().find(|a| a["path"] == binding.declared[declared].path)?,
            );
            Some(move |text: &str| text == ROOT_LABEL || told.contains(text))
        });
        let tally = Tally::of(published, &anything, observer)?;
        let homes = (0..binding.homes.len()).map(|home| (path_of(binding, home), tally.homes[home].all));
        let attributes = binding.declared.iter().zip(&tally.values);
        Ok(Recounted {
            classes: homes.collect(),
            attributes: attributes.map(|(d, count)| (d.path.clone(), count.all, count.anything)).collect(),
        })
    }

    /// Where figures of a certificate (`kept`) are not those of the publication. What is told of `others` together is not
    /// looked at.
    pub fn contradicts(&self, kept: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let path = |entry: &Value| entry["path"].as_str().unwrap_or_default().to_owned();
        let number = |entry: &Value, key: &str| entry[key].as_u64();
        for class in entries(kept, "classes").iter().filter(|class| path(class) != OTHERS) {
            let rows = self.classes.iter().find(|(own, _)| *own == path(class)).map_or(0, |own| own.1);
            if number(class, "published") != Some(rows) {
                let of = match path(class) {
                    whole if whole.is_empty() => "the records".to_owned(),
                    class => format!("`{class}`"),
                };
                found.push(format!("`kept` tells another number of rows of {of} than there are"));
            }
        }
        for attribute in entries(kept, "attributes").iter().filter(|attribute| path(attribute) != OTHERS) {
            let own = self.attributes.iter().find(|(own, ..)| *own == path(attribute));
            let (all, nothing) = own.map_or((0, 0), |own| (own.1, own.2));
            let there_were = number(attribute, "values").unwrap_or(0);
            // A `*` of an attribute without a hierarchy is a value like others, and counted as one.
            let plain = (Some(all), Some(0));
            let is_plain = labels(attribute).is_empty();
            let telling = all - nothing;
            let anything = nothing.min(there_were.saturating_sub(telling));
            let coarse = (Some(telling + anything), Some(anything));
            let told = (number(attribute, "published"), number(attribute, "as_anything"));
            if told != coarse && !(is_plain && told == plain) {
                found.push(format!(
                    "`kept` tells another number of values of `{}` than there are",
                    path(attribute)
                ));
            }
        }
        found
    }
}

/// What is told of classes or attributes.
fn entries<'a>(kept: &'a Value, key: &str) -> &'a [Value] {
    kept[key].as_array().map_or(&[], Vec::as_slice)
}

/// The labels that an attribute's entry names besides `*`.
fn labels(entry: &Value) -> BTreeSet<&str> {
    let own = entry[SAYS_NOTHING].as_array().into_iter().flatten();
    own.filter_map(Value::as_str).collect()
}
