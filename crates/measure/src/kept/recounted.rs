//! What a certificate tells about what is kept, held to the publication alone: rows and values that are published can be
//! counted there, how many there were cannot.

use bosket_model::hierarchy::ROOT_LABEL;
use bosket_model::observe::Observer;
use bosket_model::{AttributeId, MISSING, Result};
use serde_json::Value;

use super::json::OTHERS;
use super::tally::{Tally, path_of};
use crate::loss::Side;

/// How many rows and values a publication has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recounted {
    /// Per class its path and its rows.
    classes: Vec<(String, u64)>,
    /// Per attribute its path, its values, and how many of them are `*`.
    attributes: Vec<(String, u64, u64)>,
}

impl Recounted {
    /// Counts a publication.
    pub fn of(published: Side<'_>, observer: &dyn Observer) -> Result<Self> {
        let tally = Tally::of(published, &[], observer)?;
        let binding = published.binding;
        let mut stars = vec![0; binding.declared.len()];
        for v in 0..published.data.vertex_count() {
            let own = &published.data.schema().class(published.data.class(v)).attributes;
            for (&id, &code) in own.iter().zip(published.data.values(v)) {
                let declared = binding.attributes[id.index()].filter(|_| code != MISSING);
                let star = |id: AttributeId| published.data.dictionary(id).text(code) == ROOT_LABEL;
                declared.into_iter().filter(|_| star(id)).for_each(|declared| stars[declared] += 1);
            }
        }
        let homes = (0..binding.homes.len()).map(|home| (path_of(binding, home), tally.homes[home].all));
        let attributes = binding.declared.iter().zip(&tally.values).zip(stars);
        Ok(Recounted {
            classes: homes.collect(),
            attributes: attributes.map(|((d, count), stars)| (d.path.clone(), count.all, stars)).collect(),
        })
    }

    /// Where figures of a certificate (`kept`) are not those of the publication. What is told of `others` together is not
    /// looked at.
    pub fn contradicts(&self, kept: &Value) -> Vec<String> {
        let mut found = Vec::new();
        let entries = |key: &str| kept[key].as_array().map_or(&[][..], Vec::as_slice);
        let path = |entry: &Value| entry["path"].as_str().unwrap_or_default().to_owned();
        let number = |entry: &Value, key: &str| entry[key].as_u64();
        for class in entries("classes").iter().filter(|class| path(class) != OTHERS) {
            let rows = self.classes.iter().find(|(own, _)| *own == path(class)).map_or(0, |own| own.1);
            if number(class, "published") != Some(rows) {
                let of = match path(class) {
                    whole if whole.is_empty() => "the records".to_owned(),
                    class => format!("`{class}`"),
                };
                found.push(format!("`kept` tells another number of rows of {of} than there are"));
            }
        }
        for attribute in entries("attributes").iter().filter(|attribute| path(attribute) != OTHERS) {
            let own = self.attributes.iter().find(|(own, ..)| *own == path(attribute));
            let (all, stars) = own.map_or((0, 0), |own| (own.1, own.2));
            let there_were = number(attribute, "values").unwrap_or(0);
            // A `*` of an attribute without a hierarchy is a value like others, and counted as one.
            let plain = (Some(all), Some(0));
            let telling = all - stars;
            let anything = stars.min(there_were.saturating_sub(telling));
            let coarse = (Some(telling + anything), Some(anything));
            let told = (number(attribute, "published"), number(attribute, "as_anything"));
            if told != plain && told != coarse {
                found.push(format!(
                    "`kept` tells another number of values of `{}` than there are",
                    path(attribute)
                ));
            }
        }
        found
    }
}
