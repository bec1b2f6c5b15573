//! What the counts of a class say about sensitive values.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bosket_model::policy::{Diversity, Siblings};

use super::classes::Class;
use super::forms::Forms;
use crate::vertex::Diverse;
use crate::witness::Sensitive;

/// What is counted of one sensitive attribute at one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Per value the places it fills and the records that have it.
    pub(super) values: BTreeMap<u32, (u64, u64)>,
}

impl Tally {
    pub(super) fn add(&mut self, other: Tally, text: &dyn Fn(u32) -> u32) {
        for (value, (fills, holders)) in other.values {
            let own = self.values.entry(text(value)).or_default();
            *own = (own.0 + fills, own.1 + holders);
        }
    }

    /// A missing value could be anything, so each is a value of its own.
    fn entropy(&self, places: u64) -> f64 {
        let all = places as f64;
        let filled: u64 = self.values.values().map(|v| v.0).sum();
        let known: f64 = self.values.values().map(|v| v.0 as f64 / all).map(|p| -p * p.ln()).sum();
        known + (places - filled) as f64 / all * all.ln()
    }
}

/// The most over-represented sensitive value of a class, if one place says too much, or a value that may stand once and does not.
pub(super) fn too_common(class: &Class, ask: &Diverse, forms: &Forms, paths: &[String]) -> Option<Sensitive> {
    let mut worst: Option<(f64, Reverse<(u32, &str)>)> = None;
    for (&(place, declared), tally) in &class.tallies {
        let places = class.vertices[place as usize];
        let counted = |v: &(u64, u64)| if ask.siblings == Siblings::Pooled { v.0 } else { v.1 };
        let of = if ask.siblings == Siblings::Pooled { places } else { class.records };
        let most = tally.values.iter().map(|(&label, v)| (counted(v), Reverse(forms.text_of(label)))).max();
        let Some((count, Reverse(value))) = most else { continue };
        let over = count as f64 * ask.l > of as f64 * (1.0 + 1e-12);
        let says = match ask.diversity {
            Diversity::Frequency => over,
            Diversity::Entropy => {
                tally.entropy(places) < ask.l.ln() - 1e-9 || (ask.siblings == Siblings::Each && over)
            }
        };
        let found = (count as f64 / of as f64, Reverse((declared, value)));
        if says && worst.as_ref().is_none_or(|w| w.0.total_cmp(&found.0).then(w.1.cmp(&found.1)).is_lt()) {
            worst = Some(found);
        }
    }
    let told = |declared: u32, value: &str, share: f64| {
        let path = paths.get(declared as usize).cloned().unwrap_or_default();
        Sensitive::common(path, value.to_owned(), share)
    };
    if let Some((share, Reverse((declared, value)))) = worst {
        return Some(told(declared, value, share));
    }
    let listed = class.listed.iter().filter(|(_, (n, _))| *n > 1);
    let first = listed.map(|(&label, &(n, declared))| (forms.text_of(label), n, declared)).min()?;
    Some(told(first.2, first.0, first.1 as f64 / class.records as f64))
}
