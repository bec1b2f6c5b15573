//! Publications with two sides, counted so that counts add up: a group is told by its name, and its people and values may be in any parts.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::binding::Binding;
use bosket_model::dictionary::Dictionary;
use bosket_model::dissected::{Dissected, Lists, SensitiveValues};
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Kind, Place, Result};

use super::forms::{Forms, Reader};
use crate::anatomized::{Anatomized, JudgedClusters, Tally, too_common};
use crate::buckets;
use crate::claim::Claim;
use crate::recount::Recount;
use crate::sides::{JudgedSides, Misplaced};
use crate::verification::{Decision, Verification};
use crate::witness::Witness;

/// What was counted of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Group {
    people: u64,
    /// Per sensitive attribute how often each value stands here.
    values: Vec<BTreeMap<String, u64>>,
    /// Of clusters: how many people have which form, and per sensitive attribute the places for its values.
    alike: BTreeMap<u32, u64>,
    places: Vec<u64>,
}

/// A sensitive attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    declared: usize,
    path: String,
    many: bool,
}

/// What was counted of some parts of a publication with two sides.
#[derive(Clone, Debug, Default)]
pub struct GroupState {
    forms: Forms,
    columns: Vec<Column>,
    groups: BTreeMap<String, Group>,
    left: BTreeSet<String>,
    misplaced: BTreeSet<Misplaced>,
}

impl GroupState {
    /// Counts a part of a dissected publication, whose groups are called so.
    pub fn count(sides: &JudgedSides, names: &[String]) -> Self {
        let Dissected { people, sensitive } = &sides.dissected;
        let column =
            |s: &SensitiveValues| Column { declared: s.declared, path: s.path.clone(), many: s.many };
        let mut state = GroupState {
            columns: sensitive.iter().map(column).collect(),
            left: sides.left.iter().cloned().collect(),
            misplaced: sides.misplaced.iter().cloned().collect(),
            ..GroupState::default()
        };
        for (at, name) in names.iter().enumerate() {
            let group = state.groups.entry(name.clone()).or_default();
            group.people += u64::from(people.get(at).copied().unwrap_or(0));
            group.values.resize(sensitive.len(), BTreeMap::new());
            group.places.resize(sensitive.len(), 0);
            for (own, column) in group.values.iter_mut().zip(sensitive) {
                for &code in column.codes.of(at) {
                    *own.entry(column.values.text(code).to_owned()).or_default() += 1;
                }
            }
        }
        state
    }

    /// Counts a part of a publication of clusters whose sides are apart.
    pub fn count_clusters(part: &JudgedClusters, observer: &dyn Observer) -> Result<Self> {
        let mut state = Self::count(&part.judged, &part.names);
        let homes: Vec<usize> =
            state.columns.iter().map(|column| part.binding.declared[column.declared].home).collect();
        let reader = Reader::new(&part.people, &part.binding, &mut state.forms);
        // People are counted here, one by one, as they stand on the quasi side.
        state.groups.values_mut().for_each(|group| group.people = 0);
        for (person, &at) in part.groups.iter().enumerate() {
            observer.go_on()?;
            let form = reader.read(person, &mut state.forms)[0];
            let Some(group) = state.groups.get_mut(&part.names[at as usize]) else { continue };
            group.people += 1;
            *group.alike.entry(form).or_default() += 1;
            for vertex in part.people.vertices(person) {
                let home = part.binding.classes[part.people.class(vertex).index()];
                for (places, _) in group.places.iter_mut().zip(&homes).filter(|(_, own)| Some(**own) == home)
                {
                    *places += 1;
                }
            }
        }
        Ok(state)
    }

    /// The counts of both. Parts were read under one policy, else there is nothing to add up.
    pub fn merge(mut self, other: GroupState) -> Result<GroupState> {
        // An empty part may have been read by somebody who has seen no attribute.
        if self.columns.is_empty() && self.groups.is_empty() {
            self.columns = other.columns.clone();
        }
        if !(other.columns.is_empty() && other.groups.is_empty()) && self.columns != other.columns {
            return Err(foreign());
        }
        let moved = self.forms.take(&other.forms);
        for (name, group) in other.groups {
            let own = self.groups.entry(name).or_default();
            own.people += group.people;
            own.values.resize(self.columns.len(), BTreeMap::new());
            own.places.resize(self.columns.len(), 0);
            for (own, values) in own.values.iter_mut().zip(group.values) {
                for (value, n) in values {
                    *own.entry(value).or_default() += n;
                }
            }
            own.places.iter_mut().zip(group.places).for_each(|(own, n)| *own += n);
            for (form, n) in group.alike {
                *own.alike.entry(moved.forms[form as usize]).or_default() += n;
            }
        }
        self.left.extend(other.left);
        self.misplaced.extend(other.misplaced);
        Ok(self)
    }

    /// Groups by the numbers that they are called, others behind them by name.
    fn ordered(&self) -> Vec<(&String, &Group)> {
        let mut groups: Vec<(&String, &Group)> = self.groups.iter().collect();
        groups.sort_by_key(|(name, _)| (name.parse::<u64>().unwrap_or(u64::MAX), *name));
        groups
    }

    /// The verdict on a dissected publication; without a claim, on what stands where.
    pub fn finish(
        &self,
        claim: Option<&Claim>,
        hierarchies: &[Option<Hierarchy>],
        observer: &dyn Observer,
    ) -> Result<Verification> {
        let groups = self.ordered();
        let mut sensitive = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            let (mut values, mut codes) = (Dictionary::default(), Lists::default());
            for (_, group) in &groups {
                let own = group.values[at].iter();
                let own = own
                    .flat_map(|(text, &n)| std::iter::repeat_n(values.intern(Kind::Text, text), n as usize));
                let own: Vec<u32> = own.collect();
                if !codes.push(own) {
                    return Err(too_many());
                }
            }
            let Column { declared, path, many } = column.clone();
            sensitive.push(SensitiveValues { declared, path, many, values, codes });
        }
        let people = groups.iter().map(|(_, group)| u32::try_from(group.people)).collect::<Result<_, _>>();
        let sides = JudgedSides {
            dissected: Dissected { people: people.map_err(|_| too_many())?, sensitive },
            left: self.left.iter().cloned().collect(),
            misplaced: self.misplaced.iter().cloned().collect(),
        };
        Verification::of_dissected(&sides, claim, hierarchies, observer)
    }

    /// The verdict on a publication of clusters whose sides are apart. The witness names no records: these are in many parts.
    pub fn finish_clusters(&self, claim: &Claim, binding: &Binding) -> Result<Verification> {
        let Claim::Anatomized(asked) = claim else { return Err(foreign()) };
        if asked.close.is_some() {
            return Err(unmergeable());
        }
        let paths: Vec<String> = binding.declared.iter().map(|d| d.path.clone()).collect();
        if self.forms.declared() > paths.len() {
            return Err(foreign());
        }
        self.refuse_overfull()?;
        let mut smallest: Option<Witness> = None;
        for (at, (name, group)) in self.ordered().into_iter().enumerate().filter(|(_, (_, g))| g.people > 0) {
            let called = name.parse::<u32>().ok().and_then(|n| n.checked_sub(1)).unwrap_or(at as u32);
            for witness in self.broken(group, called, asked, &paths)? {
                if smallest.as_ref().is_none_or(|s| Witness::order(&witness, s).is_lt()) {
                    smallest = Some(witness);
                }
            }
        }
        let not_covered = vec!["clusters with two sides, in parts that were counted one by one"];
        Ok(Verification {
            claim: Some(claim.clone()),
            decision: Decision::of(smallest, || Ok(Recount { not_covered, ..Recount::default() }))?,
            left: self.left.iter().cloned().collect(),
            misplaced: self.misplaced.iter().cloned().collect(),
            records: self.groups.values().map(|group| group.people as usize).sum(),
            groups: Some(self.groups.len()),
            distances: Vec::new(),
            farthest: Vec::new(),
        })
    }

    fn broken(
        &self,
        group: &Group,
        called: u32,
        asked: &Anatomized,
        paths: &[String],
    ) -> Result<Vec<Witness>> {
        let seen = |form: u32, people: u64| Witness {
            group: Some(called),
            support: people as usize,
            ..self.forms.witness(form, paths)
        };
        let mut found = Vec::new();
        let few = asked.k.is_some_and(|k| group.people < u64::from(k));
        if group.alike.len() > 1 || few {
            let fewest = group.alike.iter().map(|(&form, &people)| seen(form, people));
            found.extend(fewest.min_by(|a, b| a.support.cmp(&b.support).then(Witness::order(a, b))));
        }
        if let (1, Some(ask), Some((&form, _))) =
            (group.alike.len(), &asked.ask, group.alike.first_key_value())
        {
            let mut labelled: Vec<BTreeMap<String, usize>> = Vec::new();
            for (column, values) in self.columns.iter().zip(&group.values) {
                let bounds = ask.buckets.get(column.declared).and_then(Option::as_deref);
                let mut own = BTreeMap::new();
                for (text, &n) in values {
                    let Some(label) = buckets::label(bounds, text) else {
                        return Err(Failure::new(Fault::Data, buckets::unreadable(1, &column.path)));
                    };
                    *own.entry(label).or_default() += n as usize;
                }
                labelled.push(own);
            }
            let tallies = self.columns.iter().zip(&group.places).zip(&labelled);
            let tallies = tallies.map(|((column, &places), values)| Tally {
                path: &column.path,
                places: places as usize,
                values: values.iter().map(|(value, &n)| (value.as_str(), n)).collect(),
            });
            let sensitive = too_common(&tallies.collect::<Vec<_>>(), ask);
            found.extend(sensitive.map(|s| Witness { sensitive: Some(s), ..seen(form, group.people) }));
        }
        Ok(found)
    }

    /// More values than places for them are no publication of clusters.
    fn refuse_overfull(&self) -> Result<()> {
        for (name, group) in self.ordered() {
            for ((column, values), &places) in self.columns.iter().zip(&group.values).zip(&group.places) {
                let values: u64 = values.values().sum();
                if values > places {
                    let what = format!(
                        "group {name} has {values} values, and its records have {places} places for them"
                    );
                    let help = "values or people were moved between groups; do not rely on this publication";
                    let what = Diagnostic::error(what).at(Place::default().path(&column.path)).help(help);
                    return Err(Failure::new(Fault::Data, what));
                }
            }
        }
        Ok(())
    }

    /// The same in so many parts, each of which has some of the groups as a whole; which ones depends on their names alone.
    pub fn shards(&self, shards: usize) -> Vec<GroupState> {
        let shards = shards.max(1);
        let empty = GroupState { groups: BTreeMap::new(), ..self.clone() };
        let mut parts = vec![empty; shards];
        for (name, group) in &self.groups {
            let sum = name.bytes().fold(0u64, |sum, b| sum.wrapping_mul(31).wrapping_add(u64::from(b)));
            parts[(sum % shards as u64) as usize].groups.insert(name.clone(), group.clone());
        }
        parts
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// How many people stand in them.
    pub fn people(&self) -> u64 {
        self.groups.values().map(|group| group.people).sum()
    }
}

fn foreign() -> Failure {
    let what = Diagnostic::error("these are no counts of a publication under this policy");
    Failure::new(Fault::Data, what.help("hand on what was counted as it is, and finish with the same policy"))
}

/// Groups are compared with all values at once, which no part has.
fn unmergeable() -> Failure {
    let what =
        "t-closeness and β-likeness are measured against all records and cannot be counted part by part";
    Failure::new(Fault::Usage, Diagnostic::error(what).help("check the publication as a whole"))
}

fn too_many() -> Failure {
    let what = Diagnostic::error("the groups have more people or values than can be numbered");
    Failure::new(Fault::Data, what.help("check them in shards"))
}
