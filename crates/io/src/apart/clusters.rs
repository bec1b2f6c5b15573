//! Clusters with their sides apart. The records have been made already: people who look alike are a group.

use std::path::Path;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::observe::{Observer, Quiet};
use bosket_model::policy::Role;
use bosket_model::{ClassId, Dataset, Diagnostic, Failure, Fault, Place, Result};

use super::dissection::{Beside, Dissection, Found, Kept, People, Way, reopened};
use super::draft::Drafts;
use super::fates::{Fate, Fates};
use super::records::{fill, quasi_side};
use super::spool::Spool;
use super::tables::{GROUP, quasi_policy};
use super::{json, tables_read};
use crate::format::Layout;
use crate::input::Input;
use crate::json::write::record_texts;
use crate::source::SourceForm;
use crate::xml::Namespaces;

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

/// A publication of clusters as a stranger reads it.
#[derive(Debug)]
pub struct Published {
    /// The quasi side: a record per person.
    pub people: Dataset,
    /// The place of its attributes in the policy.
    pub binding: Binding,
    /// Per person its group, by its place in what was found.
    pub groups: Vec<u32>,
    /// The groups and their sensitive values.
    pub found: Found,
    /// Attributes that the policy removes and the publication still has.
    pub left: Vec<String>,
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
                let kept = Kept { data: data.clone(), binding: binding.clone(), form: form.clone() };
                Beside::Tables(Box::new(kept))
            }
            _ => Beside::Nothing,
        };
        let people = People { spool, warnings: Vec::new(), namespaces: Namespaces::default(), beside };
        Ok(Clustered { people, group_of, groups })
    }

    /// Reads a publication of clusters as a stranger would.
    pub fn read_clusters(&self, at: &Path, observer: &dyn Observer) -> Result<Published> {
        let name = at.display().to_string();
        if self.way == Way::Tables {
            let read = tables_read::read(Some(at), None, self.file, &self.fates, observer)?;
            return self.published_tables(read, &name);
        }
        self.published_json(&mut reopened(at)?, &name)
    }

    /// The same with one that is not in its place yet.
    pub fn read_clusters_again(&self, drafts: &mut Drafts, observer: &dyn Observer) -> Result<Published> {
        let name = "the publication";
        if self.way == Way::Tables {
            let read = tables_read::read(None, Some(drafts), self.file, &self.fates, observer)?;
            return self.published_tables(read, name);
        }
        let Some((_, draft)) = drafts.files.first() else {
            return Err(torn(name));
        };
        self.published_json(&mut || draft.open(), name)
    }

    fn published_json(&self, open: &mut dyn FnMut() -> Result<Input>, name: &str) -> Result<Published> {
        let policy = &self.file.policy;
        let found = json::read(open, policy, &self.fates)?;
        let (people, binding) = json::people(open, policy)?;
        let numbers: FxHashMap<&str, u32> = found.names.iter().map(String::as_str).zip(0..).collect();
        let names = json::groups(open)?;
        let groups: Option<Vec<u32>> = names.iter().map(|name| numbers.get(name.as_str()).copied()).collect();
        let groups = groups.filter(|groups| groups.len() == people.len()).ok_or_else(|| torn(name))?;
        let left = self.left(&people, &binding, &found);
        Ok(Published { people, binding, groups, found, left })
    }

    fn published_tables(&self, read: tables_read::Read, name: &str) -> Result<Published> {
        let tables_read::Read { found, quasi, groups } = read;
        let policy = &self.file.policy;
        // The group is declared like a column of the data, so that others that nobody declared are refused.
        let mut attributes = policy.attributes.clone();
        let own = attributes.len();
        attributes.extend(quasi_policy(self.file, &self.fates)?.policy.attributes.pop());
        let mut binding = Binding::new(quasi.schema(), &attributes, policy.undeclared, name)?;
        binding.declared.truncate(own);
        for declared in &mut binding.attributes {
            *declared = declared.filter(|&d| d < own);
        }
        let groups: Vec<u32> = groups.into_iter().map(|group| group as u32).collect();
        let left = self.left(&quasi, &binding, &found);
        Ok(Published { people: quasi, binding, groups, found, left })
    }

    /// What should not be there: declared attributes that are removed, and undeclared ones.
    fn left(&self, people: &Dataset, binding: &Binding, found: &Found) -> Vec<String> {
        let gone = found.gone.iter().zip(&self.file.policy.attributes).filter(|(gone, _)| **gone);
        let declared = gone.map(|(_, attribute)| attribute.path.clone());
        let attributes = people.schema().attributes();
        let undeclared = attributes
            .filter(|(id, a)| {
                let group = self.way == Way::Tables && a.class == ClassId::ROOT && a.name == [GROUP];
                binding.attributes[id.index()].is_none() && !group
            })
            .filter(|(id, _)| !people.dictionary(*id).is_empty())
            .map(|(_, a)| a.path.clone());
        declared.chain(undeclared).collect()
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

fn torn(name: &str) -> Failure {
    let what = Diagnostic::error("people and groups of the quasi side do not go together");
    let help = "check that the publication is complete";
    Failure::new(Fault::Data, what.at(Place::source(name)).help(help))
}
