//! Dissected publications: Anatomy and δ-dependency.
//!
//! What can be seen is how many people a group has and which sensitive values, not whose they are. So a value's share is
//! its count among the people of the group: no more of them can have it. Where there are fewer values than people, some
//! have none: at least as many as values are missing, however many one person may have. At most one such person may
//! stand in a group, unless the claim leaves out who has none. Distances are taken over all
//! values of the group; where a person may have several, values that are closer may be one person's, which the
//! publication does not show, and there must be enough values apart from each other for all its people.

mod distance;

use rustc_hash::FxHashMap;

use bosket_model::binding::{Binding, Declared};
use bosket_model::dissected::{Dissected, SensitiveValues};
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use crate::witness::{Sensitive, Value, Witness};

pub use distance::Distances;

/// What a dissected publication is claimed to guarantee.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Apart {
    /// Fewest people per group; no value has a share over one in that many.
    pub group_size: u32,
    /// No value has a share over 1/l, if that is claimed too.
    pub l: Option<f64>,
    /// How far apart the values of a group are.
    pub delta: Option<Delta>,
    /// People without value stand in groups like anybody, and nothing is claimed of them.
    pub may_lack: bool,
}

/// How far apart the values of a group are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Edges between each value and what all have in common. 0 where nothing was promised but distinct values.
    pub distance: u32,
    /// The same for every two values.
    pub pairwise: bool,
}

impl Apart {
    /// What cannot be seen in a publication: whose values are whose.
    pub(crate) fn caveats(&self, binding: &Binding) -> Vec<Diagnostic> {
        let asked = self.delta.is_some_and(|d| d.distance > 0);
        let several = |d: &&Declared| d.role == Role::Sensitive && d.home != 0 && asked;
        (binding.declared.iter().filter(several))
            .map(|d| {
                let what = "one person may have several of these values, and the publication does not show which; \
                            their distance is checked as far as it can be seen";
                Diagnostic::warning(what).at(Place::default().path(&d.path))
            })
            .collect()
    }
}

/// What was found about a publication.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The smallest group that breaks the claim; none if it holds.
    pub witness: Option<Witness>,
    /// Per sensitive attribute how far apart the values of the weakest group are.
    pub distances: Vec<Distances>,
}

/// Checks a claim about a dissected publication. `hierarchies` are per declared attribute; distances need those of the
/// sensitive ones.
pub fn verify_apart(
    published: &Dissected,
    claim: &Apart,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<Verdict> {
    let nodes = published.sensitive.iter().map(|s| nodes(s, claim, hierarchies));
    let nodes: Vec<Option<Placed<'_>>> = nodes.collect::<Result<_>>()?;
    let mut verdict =
        Verdict { witness: None, distances: vec![Distances::default(); published.sensitive.len()] };
    for group in 0..published.people.len() {
        observer.go_on()?;
        let people = published.people[group];
        let mut found = Vec::new();
        if people < claim.group_size {
            found.push(witness(group, people));
        }
        for (at, sensitive) in published.sensitive.iter().enumerate() {
            found.extend(too_common(sensitive, nodes[at].as_ref(), group, people, claim));
            let Some(placed) = &nodes[at] else { continue };
            let values: Vec<NodeId> =
                sensitive.codes.of(group).iter().map(|&c| placed.nodes[c as usize]).collect();
            let distances =
                Distances::new(placed.hierarchy, &values, people as usize, sensitive.many, observer)?;
            verdict.distances[at] = verdict.distances[at].and(distances);
            found.extend(too_close(sensitive, group, people, claim, distances));
        }
        for witness in found {
            if verdict.witness.as_ref().is_none_or(|w| Witness::order(&witness, w).is_lt()) {
                verdict.witness = Some(witness);
            }
        }
    }
    Ok(verdict)
}

struct Placed<'h> {
    hierarchy: &'h Hierarchy,
    nodes: Vec<NodeId>,
}

/// Where the values of an attribute stand in its hierarchy. A value that is an inner node stands there.
fn nodes<'h>(
    sensitive: &SensitiveValues,
    claim: &Apart,
    hierarchies: &'h [Option<Hierarchy>],
) -> Result<Option<Placed<'h>>> {
    let refuse = |what: String, help: &str| {
        let what = Diagnostic::error(what).at(Place::default().path(&sensitive.path)).help(help);
        Err(Failure::new(Fault::Policy, what))
    };
    let Some(hierarchy) = hierarchies.get(sensitive.declared).and_then(Option::as_ref) else {
        if claim.delta.is_some() {
            return refuse("distances need a hierarchy".into(), "give the sensitive attribute one");
        }
        return Ok(None);
    };
    let found: Vec<Option<NodeId>> = sensitive.values.iter().map(|(_, text)| hierarchy.node(text)).collect();
    let uncovered = found.iter().filter(|n| n.is_none()).count();
    if uncovered > 0 && claim.delta.is_some() {
        let what =
            format!("{uncovered} distinct values are not in the hierarchy, so their distance is not known");
        return refuse(what, "verify with the hierarchy that the publication was made with");
    }
    let nodes: Option<Vec<NodeId>> = found.into_iter().collect();
    Ok(nodes.map(|nodes| Placed { hierarchy, nodes }))
}

fn witness(group: usize, people: u32) -> Witness {
    Witness { support: people as usize, group: Some(group as u32), ..Witness::default() }
}

/// The most frequent value of a group, if it is too frequent; that of people without value is called `∅`.
fn too_common(
    sensitive: &SensitiveValues,
    placed: Option<&Placed<'_>>,
    group: usize,
    people: u32,
    claim: &Apart,
) -> Option<Witness> {
    let codes = sensitive.codes.of(group);
    let mut counts: FxHashMap<&str, u32> = FxHashMap::default();
    for &code in codes {
        // Texts of one node are spellings of one value.
        let value = placed.map(|p| p.hierarchy.label(p.nodes[code as usize]));
        *counts.entry(value.unwrap_or_else(|| sensitive.values.text(code))).or_default() += 1;
    }
    // So many at least: where a person may have several values, it may be more.
    let missing = people.saturating_sub(codes.len() as u32);
    let over = |count: u32| {
        let l = claim.l.unwrap_or(0.0).max(f64::from(claim.group_size));
        f64::from(count) * l > f64::from(people) * (1.0 + 1e-12)
    };
    let (value, count) =
        counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0))).unwrap_or(("", 0));
    let (value, count) =
        if missing > count.max(1) && !claim.may_lack { (NOTHING, missing) } else { (value, count) };
    // One person may be without value wherever a value may stand once.
    let extra = !sensitive.many && codes.len() as u32 > people;
    if !over(count) && (missing <= 1 || claim.may_lack) && !extra {
        return None;
    }
    let share = f64::from(count) / f64::from(people.max(1));
    let sensitive = Sensitive::common(sensitive.path.clone(), value.to_owned(), share);
    Some(Witness { sensitive: Some(sensitive), ..witness(group, people) })
}

const NOTHING: &str = "∅";

/// The values of a group, if they are closer to each other than claimed.
fn too_close(
    sensitive: &SensitiveValues,
    group: usize,
    people: u32,
    claim: &Apart,
    found: Distances,
) -> Option<Witness> {
    let delta = claim.delta?;
    let distance = if delta.pairwise { found.pairwise } else { found.set_wise };
    let distance = distance.filter(|&d| d < delta.distance)?;
    let mut texts: Vec<&str> = sensitive.codes.of(group).iter().map(|&c| sensitive.values.text(c)).collect();
    texts.sort_unstable();
    let value =
        |text: &str| Value { path: sensitive.path.clone(), value: text.to_owned(), ..Value::default() };
    Some(Witness {
        values: texts.into_iter().map(value).collect(),
        distance: Some(distance),
        ..witness(group, people)
    })
}
