//! Clusters whose quasi and sensitive values are published apart.
//!
//! All people of a group look alike, so nothing that is known of them tells one from the others. A sensitive value says
//! its group and its path: it may stand at any vertex of its class in the group. These vertices are its **places**. A
//! missing value fills a place but is no value of its own: nothing is said about anyone.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::dissected::{PublishedClusters, SensitiveValues};
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Diversity, Policy};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use crate::buckets;
use crate::closeness::{Close, Counts, Whole};
use crate::sides::JudgedSides;
use crate::vertex::{Diverse, QuasiForms, class_witness};
use crate::witness::{Sensitive, Witness};

/// What an anatomized publication is claimed to guarantee.
#[derive(Clone, Debug)]
pub struct Anatomized {
    /// Fewest people of a group, if that is claimed.
    pub k: Option<u32>,
    /// What is asked of the sensitive values of a group.
    pub ask: Option<Diverse>,
    /// What is asked of them in comparison with those of all groups.
    pub close: Option<Close>,
}

/// The two sides of a publication.
#[derive(Clone, Copy)]
pub struct TwoSides<'a> {
    /// The quasi side: a record per person.
    pub people: &'a Dataset,
    /// The place of its attributes in the policy.
    pub binding: &'a Binding,
    /// Per person its group, from 0.
    pub groups: &'a [u32],
    /// What the groups are called.
    pub names: &'a [String],
    /// The sensitive side, by group.
    pub sensitive: &'a [SensitiveValues],
}

/// A publication of clusters that was read, with the place of its sides in the policy.
#[derive(Clone, Debug)]
pub struct JudgedClusters {
    /// The quasi side: a record per person.
    pub people: Dataset,
    /// The place of its attributes in the policy.
    pub binding: Binding,
    /// Per person its group, from 0.
    pub groups: Vec<u32>,
    /// What the groups are called.
    pub names: Vec<String>,
    /// What stands on which side, and what does not belong there.
    pub judged: JudgedSides,
}

impl JudgedClusters {
    /// Looks up what was found on either side.
    pub fn new(policy: &Policy, read: PublishedClusters) -> Result<Self> {
        let judged = JudgedSides::new(policy, &read.found)?;
        let PublishedClusters { people, binding, groups, found } = read;
        Ok(JudgedClusters { people, binding, groups, names: found.names, judged })
    }

    /// Its two sides.
    pub fn sides(&self) -> TwoSides<'_> {
        TwoSides {
            people: &self.people,
            binding: &self.binding,
            groups: &self.groups,
            names: &self.names,
            sensitive: &self.judged.dissected.sensitive,
        }
    }
}

impl TwoSides<'_> {
    /// Per group its people.
    pub(crate) fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.names.len()];
        for (person, &group) in self.groups.iter().enumerate() {
            members[group as usize].push(person as u32);
        }
        members
    }

    /// Per sensitive attribute and group the vertices where a value may stand.
    fn places(&self, observer: &dyn Observer) -> Result<Vec<Vec<usize>>> {
        let homes: Vec<usize> =
            self.sensitive.iter().map(|s| self.binding.declared[s.declared].home).collect();
        let mut places = vec![vec![0; self.names.len()]; self.sensitive.len()];
        for (person, &group) in self.groups.iter().enumerate() {
            observer.go_on()?;
            for vertex in self.people.vertices(person) {
                let home = self.binding.classes[self.people.class(vertex).index()];
                for (own, _) in places.iter_mut().zip(&homes).filter(|(_, own)| Some(**own) == home) {
                    own[group as usize] += 1;
                }
            }
        }
        Ok(places)
    }

    /// A group as people know it: by the number that it is called, from 0, or else by its place.
    pub(crate) fn number(&self, group: usize) -> u32 {
        let called = self.names[group].parse::<u32>().ok().and_then(|n| n.checked_sub(1));
        called.unwrap_or(group as u32)
    }
}

/// Checks a claim about an anatomized publication. None means that it holds; else the smallest witness against it. More
/// values than there are places for them are no publication of clusters, and an error.
pub fn verify_anatomized(
    sides: &TwoSides<'_>,
    claim: &Anatomized,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Option<Witness>> {
    let places = sides.places(observer)?;
    refuse_overfull(sides, &places)?;
    let wholes = claim.close.as_ref().map(|ask| wholes(sides, ask, hierarchies)).transpose()?;
    let labels = claim.ask.as_ref().map(|ask| labels(sides, ask)).transpose()?;
    let forms = QuasiForms::new(sides.people, sides.binding, observer)?;
    let mut smallest: Option<Witness> = None;
    for (group, members) in sides.members().iter().enumerate().filter(|(_, m)| !m.is_empty()) {
        observer.go_on()?;
        let mut alike: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &person in members {
            let form = forms.of[sides.people.vertices(person as usize).start];
            alike.entry(form).or_default().push(person);
        }
        let mut found = Vec::new();
        let seen = |people: &[u32]| Witness {
            group: Some(sides.number(group)),
            ..class_witness(sides.people, sides.binding, people)
        };
        if alike.len() > 1 {
            // The same whatever order people come in.
            let fewest = |a: &Witness, b: &Witness| a.support.cmp(&b.support).then(Witness::order(a, b));
            found.extend(alike.values().map(|people| seen(people)).min_by(fewest));
        } else if claim.k.is_some_and(|k| members.len() < k as usize) {
            found.push(seen(members));
        }
        // What people who do not look alike say together is nobody's knowledge; they are told already.
        if let (1, Some(ask), Some(labels)) = (alike.len(), &claim.ask, &labels) {
            let tallies: Vec<Tally<'_>> = (sides.sensitive.iter().zip(labels).zip(&places))
                .map(|((s, labels), places)| Tally::new(s, labels, group, places[group]))
                .collect();
            let sensitive = too_common(&tallies, ask);
            found.extend(sensitive.map(|s| Witness { sensitive: Some(s), ..seen(members) }));
        }
        for (at, whole) in wholes.iter().flatten().enumerate() {
            let (_, sensitive) = judged(sides, whole, (at, group));
            found.extend(sensitive.map(|s| Witness { sensitive: Some(s), ..seen(members) }));
        }
        for witness in found {
            if smallest.as_ref().is_none_or(|s| Witness::order(&witness, s).is_lt()) {
                smallest = Some(witness);
            }
        }
    }
    Ok(smallest)
}

/// Per sensitive attribute, by its path, how far the farthest group is from the whole publication.
pub(crate) fn farthest(
    sides: &TwoSides<'_>,
    (ask, hierarchies): (&Close, &[Option<Hierarchy>]),
    observer: &dyn Observer,
) -> Result<Vec<(String, f64)>> {
    let mut all = Vec::new();
    for (at, whole) in wholes(sides, ask, hierarchies)?.iter().enumerate() {
        let mut most: f64 = 0.0;
        for group in 0..sides.names.len() {
            observer.go_on()?;
            most = most.max(judged(sides, whole, (at, group)).0);
        }
        all.push((sides.sensitive[at].path.clone(), most));
    }
    Ok(all)
}

/// Per sensitive attribute what all groups have together.
fn wholes<'a>(
    sides: &TwoSides<'a>,
    ask: &Close,
    hierarchies: &[Option<Hierarchy>],
) -> Result<Vec<Whole<'a>>> {
    let of = |sensitive: &'a SensitiveValues| {
        let values = sensitive.values.iter().map(|(_, text)| text);
        let mut whole = Whole::new(ask, (sensitive.declared, &sensitive.path), values, hierarchies)?;
        let codes = (0..sides.names.len()).flat_map(|group| sensitive.codes.of(group));
        codes.for_each(|&code| whole.count(code));
        Ok(whole)
    };
    sides.sensitive.iter().map(of).collect()
}

/// How far the values of a group are from all, and the one that says most if that is too far.
fn judged(sides: &TwoSides<'_>, whole: &Whole<'_>, (at, group): (usize, usize)) -> (f64, Option<Sensitive>) {
    let mut counts = Counts::new();
    for &code in sides.sensitive[at].codes.of(group) {
        *counts.entry(whole.label(code)).or_default() += 1;
    }
    whole.judge(&counts)
}

/// Messages about groups at most.
const SHOWN: usize = 20;

fn refuse_overfull(sides: &TwoSides<'_>, places: &[Vec<usize>]) -> Result<()> {
    let mut problems = Vec::new();
    for (sensitive, places) in sides.sensitive.iter().zip(places) {
        for (group, &places) in places.iter().enumerate() {
            let values = sensitive.codes.of(group).len();
            if values > places {
                let what = format!(
                    "group {} has {values} values, and its records have {places} places for them",
                    u64::from(sides.number(group)) + 1
                );
                let help = "values or people were moved between groups; do not rely on this publication";
                problems.push(Diagnostic::error(what).at(Place::default().path(&sensitive.path)).help(help));
            }
        }
    }
    problems.truncate(SHOWN);
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Data, problems)) }
}

/// Per sensitive attribute and code the value as it is compared: its text, or its bucket.
fn labels(sides: &TwoSides<'_>, ask: &Diverse) -> Result<Vec<Vec<String>>> {
    let mut problems = Vec::new();
    let mut all = Vec::new();
    for sensitive in sides.sensitive {
        let bounds = ask.buckets.get(sensitive.declared).and_then(Option::as_deref);
        let found = sensitive.values.iter().map(|(_, text)| buckets::label(bounds, text));
        let found: Vec<Option<String>> = found.collect();
        let unreadable = found.iter().filter(|label| label.is_none()).count();
        if unreadable > 0 {
            problems.push(buckets::unreadable(unreadable, &sensitive.path));
        }
        all.push(found.into_iter().map(Option::unwrap_or_default).collect());
    }
    if problems.is_empty() { Ok(all) } else { Err(Failure::all(Fault::Data, problems)) }
}

/// What is counted of one sensitive attribute in one group.
pub(crate) struct Tally<'a> {
    pub(crate) path: &'a str,
    pub(crate) places: usize,
    pub(crate) values: BTreeMap<&'a str, usize>,
}

impl<'a> Tally<'a> {
    fn new(sensitive: &'a SensitiveValues, labels: &'a [String], group: usize, places: usize) -> Self {
        let mut values = BTreeMap::new();
        for &code in sensitive.codes.of(group) {
            *values.entry(labels[code as usize].as_str()).or_default() += 1;
        }
        Tally { path: &sensitive.path, places, values }
    }

    /// Whether the values say too much. Shares are compared as `count · l > places`, with room for the rounding of a
    /// fractional l only.
    fn is_uniform(&self, ask: &Diverse) -> bool {
        match ask.diversity {
            Diversity::Frequency => {
                let most = self.values.values().max().copied().unwrap_or(0);
                most as f64 * ask.l > self.places as f64 * (1.0 + 1e-12)
            }
            Diversity::Entropy => !self.values.is_empty() && self.entropy() < ask.l.ln() - 1e-9,
        }
    }

    /// A missing value could be anything, so each is a value of its own.
    fn entropy(&self) -> f64 {
        let all = self.places as f64;
        let missing = self.places - self.values.values().sum::<usize>();
        let known: f64 = self.values.values().map(|&n| n as f64 / all).map(|p| -p * p.ln()).sum();
        known + missing as f64 / all * all.ln()
    }
}

/// The most common value of the first attribute that says too much, or a value that may stand only once and does not.
pub(crate) fn too_common(tallies: &[Tally<'_>], ask: &Diverse) -> Option<Sensitive> {
    let found = |tally: &Tally<'_>, value: &str, count: usize| {
        let share = count as f64 / tally.places.max(1) as f64;
        Sensitive::common(tally.path.to_owned(), value.to_owned(), share)
    };
    if let Some(tally) = tallies.iter().find(|tally| tally.is_uniform(ask)) {
        let (value, &count) = tally.values.iter().max_by_key(|(value, count)| (**count, Reverse(**value)))?;
        return Some(found(tally, value, count));
    }
    ask.distinct_everywhere.iter().find_map(|listed| {
        let counts: Vec<usize> =
            tallies.iter().map(|t| t.values.get(listed.as_str()).copied().unwrap_or(0)).collect();
        let at = counts.iter().position(|&count| count > 0)?;
        (counts.iter().sum::<usize>() > 1).then(|| found(&tallies[at], listed, counts[at]))
    })
}
