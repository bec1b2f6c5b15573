//! Clusters with their sides apart. The records have been made already: people who look alike are a group.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::Role;
use bosket_model::{Dataset, Result};

use super::dissection::{Beside, Dissection, KeptRecords, People, Way};
use super::records::{fill, quasi_side};
use super::spool::Spool;
use crate::format::Layout;
use crate::json::write::record_texts;
use crate::source::SourceForm;
use crate::xml::Namespaces;
use bosket_model::sides::{Fate, Fates};

/// Records that clustering has made.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    /// The records.
    pub data: &'a Dataset,
    /// The place of their attributes.
    pub binding: &'a Binding,
    /// How the input was written down.
    pub form: &'a SourceForm,
}

/// People on their way to a publication, each with its group.
#[derive(Debug)]
pub struct Clustered {
    /// The people.
    pub people: People,
    /// Per person its group.
    pub group_of: Vec<u32>,
    /// How many groups there are.
    pub groups: usize,
}

impl Dissection<'_> {
    /// Takes records that were made, and puts those into one group that look alike.
    pub fn clusters(&self, records: Records<'_>) -> Result<Clustered> {
        let Records { data, binding, form } = records;
        let mut spool = Spool::new(&self.fates.sensitive, self.file.policy.seed)?;
        let quasi = quasi_side(data, binding, &self.fates, None, self.empty())?;
        fill(&mut spool, data, binding, &self.fates, &record_texts(&quasi, &Layout::default(), &Quiet)?)?;
        let known = quasi_side(data, binding, &quasi_only(&self.fates, binding), None, self.empty())?;
        let texts = record_texts(&known, &Layout::default(), &Quiet)?;
        let mut numbers: FxHashMap<&[u8], u32> = FxHashMap::default();
        let group_of: Vec<u32> = (texts.iter())
            .map(|text| {
                let next = numbers.len() as u32;
                *numbers.entry(text).or_insert(next)
            })
            .collect();
        let groups = numbers.len();
        let beside = match self.way {
            Way::Tables => {
                let kept = KeptRecords { data: data.clone(), binding: binding.clone(), form: form.clone() };
                Beside::Tables(Box::new(kept))
            }
            _ => Beside::Nothing,
        };
        let people = People { spool, warnings: Vec::new(), namespaces: Namespaces::default(), beside };
        Ok(Clustered { people, group_of, groups })
    }
}

/// Where only what may be known of people goes with them.
fn quasi_only(fates: &Fates, binding: &Binding) -> Fates {
    let mut only = fates.clone();
    for (fate, declared) in only.of.iter_mut().zip(&binding.declared) {
        if *fate == Fate::Quasi && declared.role != Role::Quasi {
            *fate = Fate::Gone;
        }
    }
    only
}
