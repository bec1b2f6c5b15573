//! Absence as knowledge: which published values an attacker may know to be missing from a record, and which pairs of values
//! to be there without being related.
//!
//! A policy lists values as the data has them, or labels above them, which stand for all values below. That somebody does
//! not have a value tells something about a published one only if it covers nothing else: a published value counts when
//! all its leaves are listed, a pair when all pairs of leaves are. Leaves of values that are written like an inner node
//! hinder nothing: who has only the publication cannot know of them. The two values of a pair may be listed in either order, since the embedding leaves only one in which they
//! can be related. Nothing can be said without the hierarchies, so a claim whose hierarchies are missing is refused.
//!
//! Say the hierarchy is `* → A → a1, a2` and `* → B → b1, b2`, listed are a1, a2 and b1, and published are the items 0 = A, 1 = B
//! and 2 = b1:
//!
//! ```text
//! item     leaves   listed    absence counts
//! 0 = A    a1 a2    both      yes
//! 1 = B    b1 b2    only b1   no: who lacks B lacks b2, which nobody may know
//! 2 = b1   b1       yes       yes
//! ```
//!
//! Sensitive items (`km` with `l`) are published as they are: were b2 sensitive, B would stand for b1 alone and count. A label
//! above nothing but sensitive items stands for nothing that is listed and does not count.
//!
//! So the absent items are 0 and 2. They are numbered behind all others: 3 says "no A", 4 says "no b1". A record that has A
//! becomes the items 0 and 4, one that has nothing 3 and 4; from there on they are counted like any other. A pair (a1, x)
//! that is listed counts for the items A and x only if (a2, x) is listed too.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::{Negative, Role};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

use super::read::View;
use super::records::Known;
use crate::columns::Item;

/// What is knowledge by its absence.
#[derive(Default)]
pub(super) struct Absence {
    /// Items whose absence is knowledge, ascending.
    pub(super) items: Vec<u32>,
    /// Pairs of items whose being unrelated is knowledge, the smaller first.
    pub(super) pairs: FxHashSet<(u32, u32)>,
}

impl Absence {
    /// What the list of a claim comes to for the items that are published (`used`).
    pub(super) fn new(
        items: &[Item],
        used: &[bool],
        binding: &Binding,
        view: &View<'_>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let domains = Domains::new(items, used, binding, view)?;
        let mut absence = Absence::default();
        let mut labels: FxHashSet<&str> = FxHashSet::default();
        let mut unknown = Vec::new();
        for negative in view.negative {
            match negative {
                Negative::Value(value) => {
                    labels.insert(value);
                    if domains.nodes(value).is_empty() && !domains.has_label(value) {
                        unknown.push(value);
                    }
                }
                Negative::Pair(a, b) => {
                    let missing = [a, b].into_iter().filter(|value| domains.nodes(value).is_empty());
                    unknown.extend(missing);
                }
            }
        }
        if domains.complete && !unknown.is_empty() {
            unknown.sort();
            unknown.dedup();
            return Err(Failure::all(Fault::Policy, unknown.into_iter().map(|v| unlisted(v)).collect()));
        }
        // Sensitive items are published as they are, so what stands above them stands for the others only, if there are any.
        let means = |labels: &mut dyn Iterator<Item = &str>| -> Vec<Vec<bool>> {
            let labels: Vec<&str> = labels.collect();
            let own = |hierarchy: &&Hierarchy| hierarchy.listed(labels.iter().copied());
            domains.hierarchies.iter().map(|h| h.as_ref().map_or(Vec::new(), own)).collect()
        };
        let none = || vec![Vec::new(); domains.hierarchies.len()];
        let listed = if labels.is_empty() { none() } else { means(&mut labels.iter().copied()) };
        let secret = match labels.is_empty() || view.sensitive.is_empty() {
            true => none(),
            false => means(&mut view.sensitive.iter().map(String::as_str)),
        };
        let is_in = |all: &[bool], leaf: u32| all.get(leaf as usize) == Some(&true);
        let known_absent = |item: usize| match domains.node(item) {
            _ if labels.is_empty() || view.sensitive.contains(&items[item].label) => false,
            Some((hierarchy, node)) => {
                let (listed, secret) = (&listed[items[item].declared], &secret[items[item].declared]);
                hierarchy.leaves(node).all(|leaf| is_in(listed, leaf) || is_in(secret, leaf))
                    && hierarchy.leaves(node).any(|leaf| is_in(listed, leaf))
            }
            None => labels.contains(items[item].label.as_str()),
        };
        absence.items = (0..items.len()).filter(|&i| used[i] && known_absent(i)).map(|i| i as u32).collect();
        if view.relations.is_some() {
            absence.pairs = domains.pairs(view.negative, observer)?;
        }
        Ok(absence)
    }

    /// The absent values as things that can be known.
    pub(super) fn values(&self, items: &[Item]) -> impl Iterator<Item = Known> {
        self.items.iter().map(|&i| &items[i as usize]).map(|item| Known {
            declared: item.declared,
            label: item.label.clone(),
            count: None,
            absent: true,
        })
    }
}

fn unlisted(value: &str) -> Diagnostic {
    Diagnostic::error(format!(
        "`privacy.negative` lists `{value}`, which is in no hierarchy of a quasi attribute"
    ))
    .help("list values as the data has them, and only such as it has; check the spelling")
}

/// The published items as nodes of hierarchies.
struct Domains<'a> {
    items: &'a [Item],
    used: &'a [bool],
    /// Per declared quasi attribute the hierarchy of its items: a companion has that of its leader. Those of attributes
    /// that are not published may be missing.
    hierarchies: Vec<Option<&'a Hierarchy>>,
    /// None of them is missing.
    complete: bool,
    /// Per declared attribute whether it follows another, so that its texts need not be labels of the hierarchy.
    companion: Vec<bool>,
}

impl<'a> Domains<'a> {
    fn new(items: &'a [Item], used: &'a [bool], binding: &Binding, view: &View<'a>) -> Result<Self> {
        let given = |declared: usize| view.hierarchies.get(declared).and_then(Option::as_ref);
        let leader = |declared: usize| binding.declared[declared].follows;
        let is_quasi = |declared: &usize| binding.declared[*declared].role == Role::Quasi;
        let of = |d: usize| Some(d).filter(is_quasi).and_then(|d| given(d).or_else(|| given(leader(d)?)));
        let domains = Domains {
            items,
            used,
            hierarchies: (0..binding.declared.len()).map(of).collect(),
            complete: (0..binding.declared.len()).filter(is_quasi).all(|d| of(d).is_some()),
            companion: (0..binding.declared.len()).map(|d| leader(d).is_some()).collect(),
        };
        let mut missing: BTreeSet<usize> = BTreeSet::new();
        let mut strange: BTreeMap<usize, usize> = BTreeMap::new();
        // A vertex without a value has no hierarchy, and is never known to be absent.
        let is_value = |item: &Item| item.declared < binding.declared.len();
        for (item, _) in items.iter().zip(used).filter(|(item, used)| **used && is_value(item)) {
            let Some(hierarchy) = domains.hierarchies[item.declared] else {
                missing.insert(item.declared);
                continue;
            };
            if !domains.companion[item.declared] && hierarchy.node(&item.label).is_none() {
                *strange.entry(item.declared).or_default() += 1;
            }
        }
        let path = |declared: usize| Place::default().path(&binding.declared[declared].path);
        if !missing.is_empty() {
            let refuse = |declared: usize| {
                Diagnostic::error(
                    "the claim counts absent values, which needs the hierarchy of this attribute",
                )
                .at(path(declared))
                .help("give the policy its hierarchy as a file, or take `negative` out to verify the rest")
            };
            return Err(Failure::all(Fault::Policy, missing.into_iter().map(refuse).collect()));
        }
        if !strange.is_empty() {
            let refuse = |(declared, count): (usize, usize)| {
                let what = match count {
                    1 => "a published value is not in the hierarchy".to_owned(),
                    n => format!("{n} published values are not in the hierarchy"),
                };
                Diagnostic::error(what)
                    .at(path(declared))
                    .help("give the hierarchy that the publication was made with")
            };
            return Err(Failure::all(Fault::Data, strange.into_iter().map(refuse).collect()));
        }
        Ok(domains)
    }

    /// The hierarchy and node of an item; none for a companion's text that is no label.
    fn node(&self, item: usize) -> Option<(&'a Hierarchy, NodeId)> {
        let hierarchy = (*self.hierarchies.get(self.items[item].declared)?)?;
        hierarchy.node(&self.items[item].label).map(|node| (hierarchy, node))
    }

    /// The node that a listed value is, in every attribute that has it.
    fn nodes(&self, value: &str) -> Vec<(usize, &'a Hierarchy, NodeId)> {
        let all = self.hierarchies.iter().enumerate();
        all.filter_map(|(declared, &hierarchy)| Some((declared, hierarchy?, hierarchy?.node(value)?)))
            .collect()
    }

    /// The leaves that a listed value stands for, in every attribute that has it: all below it.
    fn leaves(&self, value: &str) -> Vec<(usize, NodeId)> {
        let below = |(declared, hierarchy, node): (usize, &'a Hierarchy, NodeId)| {
            hierarchy.leaves(node).map(move |at| (declared, hierarchy.leaf_node(at)))
        };
        self.nodes(value).into_iter().flat_map(below).collect()
    }

    /// Whether a companion column publishes the value as it is.
    fn has_label(&self, value: &str) -> bool {
        let mut published = self.items.iter().zip(self.used).filter(|(_, used)| **used);
        published.any(|(item, _)| self.companion.get(item.declared) == Some(&true) && item.label == value)
    }

    /// The pairs of items of which all pairs of leaves are listed.
    fn pairs(&self, negative: &[Negative], observer: &dyn Observer) -> Result<FxHashSet<(u32, u32)>> {
        let mut listed: FxHashSet<[(usize, NodeId); 2]> = FxHashSet::default();
        for negative in negative {
            if let Negative::Pair(a, b) = negative {
                for &x in &self.leaves(a) {
                    observer.go_on()?;
                    for &y in self.leaves(b).iter().filter(|y| x.0 != y.0) {
                        listed.insert([x.min(y), x.max(y)]);
                    }
                }
            }
        }
        // Which items cover a leaf; a label that is written as text and as number is two items.
        let mut covers: FxHashMap<(usize, NodeId), Vec<u32>> = FxHashMap::default();
        for (item, _) in self.used.iter().enumerate().filter(|(_, used)| **used) {
            if let Some((_, node)) = self.node(item) {
                covers.entry((self.items[item].declared, node)).or_default().push(item as u32);
            }
        }
        let above = |(declared, leaf): (usize, NodeId)| {
            let hierarchy = self.hierarchies[declared].filter(|h| !h.is_own_leaf(leaf));
            let up = std::iter::successors(Some(leaf), move |&n| hierarchy.and_then(|h| h.parent(n)));
            up.filter_map(|node| covers.get(&(declared, node))).flatten().copied().collect::<Vec<u32>>()
        };
        let mut covered: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        let mut listed: Vec<_> = listed.into_iter().collect();
        listed.sort_unstable();
        for [x, y] in listed {
            observer.go_on()?;
            for &g in &above(x) {
                for &h in &above(y) {
                    *covered.entry((g.min(h), g.max(h))).or_default() += 1;
                }
            }
        }
        let size = |item: u32| self.node(item as usize).map_or(0, |(h, node)| h.proper_leaves(node).count());
        let complete = covered.into_iter().filter(|&((g, h), count)| count == size(g) * size(h));
        Ok(complete.map(|(pair, _)| pair).collect())
    }
}
