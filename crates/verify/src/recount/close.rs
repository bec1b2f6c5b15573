//! t-closeness and β-likeness counted again: both distributions are written down as shares, and what is too much in one is
//! carried, load by load, to where it is lacking.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::policy::{Ground, Role};
use bosket_model::{AttributeId, Dataset, MISSING};

use super::sample::Budget;
use super::secrets::told;
use crate::closeness::{Close, Measure};

/// The room for rounding; the first count, which is exact, has none.
const ROOM: f64 = 1e-9;

/// What is said of classes of which not all are carried again.
pub(super) const NOT_ALL: &str = "how far some classes are from all records";

/// A sensitive attribute in the whole publication.
struct Shares {
    declared: usize,
    /// Per value as it is compared how often it stands there, and one that is written so.
    values: BTreeMap<String, (usize, String)>,
    all: usize,
}

/// The sensitive attributes of a publication, by a number of theirs.
pub(super) struct Again<'a> {
    ask: &'a Close,
    hierarchies: &'a [Option<Hierarchy>],
    shares: BTreeMap<usize, Shares>,
    budget: Budget,
    /// Whether all that was asked has been answered.
    pub(super) complete: bool,
}

impl<'a> Again<'a> {
    pub(super) fn new(ask: &'a Close, hierarchies: &'a [Option<Hierarchy>]) -> Self {
        Again { ask, hierarchies, shares: BTreeMap::new(), budget: Budget::new(), complete: true }
    }

    /// The same with all values of records.
    pub(super) fn of_records(mut self, data: &Dataset, binding: &Binding) -> Self {
        for (id, _) in data.schema().attributes().filter(|(id, _)| binding.role(*id) == Some(Role::Sensitive))
        {
            let class = data.schema().attribute(id).class;
            let own = (0..data.vertex_count()).filter(|&v| data.class(v) == class);
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            for code in own.map(|v| data.value(v, id)).filter(|&code| code != MISSING) {
                *counts.entry(code).or_default() += 1;
            }
            for (code, count) in counts {
                self.add((id, binding), data.dictionary(id).text(code), count);
            }
        }
        self
    }

    fn add(&mut self, (id, binding): (AttributeId, &Binding), text: &str, count: usize) {
        if let Some(declared) = binding.attributes[id.index()] {
            self.count((id.index(), declared), text, count);
        }
    }

    /// Counts values of an attribute.
    pub(super) fn count(&mut self, (number, declared): (usize, usize), text: &str, count: usize) {
        let value = self.told(declared, text);
        let new = || Shares { declared, values: BTreeMap::new(), all: 0 };
        let shares = self.shares.entry(number).or_insert_with(new);
        shares.values.entry(value).or_insert_with(|| (0, text.to_owned())).0 += count;
        shares.all += count;
    }

    /// A value as it is compared.
    pub(super) fn told(&self, declared: usize, text: &str) -> String {
        told(self.ask.bounds(declared), text)
    }

    /// Steps that a look at the hierarchy takes.
    fn extra_steps(&self, declared: usize) -> usize {
        let hierarchy = self.hierarchies.get(declared).and_then(Option::as_ref);
        hierarchy.filter(|_| self.ask.needs_hierarchy(declared)).map_or(0, |h| 4 * h.len())
    }

    /// Whether the values of a place say more than claimed. Vertices without a value are in neither distribution.
    pub(super) fn says_too_much(&mut self, number: usize, here: &BTreeMap<String, usize>) -> bool {
        let Some(shares) = self.shares.get(&number).filter(|_| !here.is_empty()) else { return false };
        self.complete =
            self.complete && self.budget.take(20 * shares.values.len() + self.extra_steps(shares.declared));
        if !self.complete {
            return false;
        }
        let there = here.values().sum::<usize>() as f64;
        let both: Vec<(&str, f64, f64)> = (shares.values.iter())
            .map(|(value, (count, text))| {
                let p = *count as f64 / shares.all as f64;
                let own = here.get(value).copied().unwrap_or(0) as f64;
                (text.as_str(), p, own / there)
            })
            .collect();
        match self.ask.measure {
            Measure::Beta(beta) => both.iter().any(|(_, p, q)| q - p > beta.min(-p.ln()) * p + ROOM),
            Measure::T(t) => {
                let extra: Vec<(&str, f64)> = both.iter().map(|(text, p, q)| (*text, q - p)).collect();
                let work = match self.ask.ground(shares.declared) {
                    Ground::Equal => extra.iter().map(|e| e.1.max(0.0)).sum(),
                    Ground::Ordered => in_order(&extra, self.ask.bounds(shares.declared)),
                    Ground::Hierarchical => {
                        let hierarchy = self.hierarchies.get(shares.declared).and_then(Option::as_ref);
                        hierarchy.map_or(f64::INFINITY, |hierarchy| up_and_down(&extra, hierarchy))
                    }
                };
                work > t + ROOM
            }
        }
    }
}

/// Carries loads from one number to the next that lacks something, from the lowest on.
fn in_order(extra: &[(&str, f64)], bounds: Option<&[f64]>) -> f64 {
    let number = |text: &str| text.trim().parse::<f64>().unwrap_or(f64::NAN);
    let position = |text: &str| match bounds {
        Some(bounds) => bounds.iter().filter(|bound| **bound <= number(text)).count() as f64,
        None => number(text),
    };
    let mut positions: Vec<f64> = extra.iter().map(|(text, _)| position(text)).collect();
    positions.sort_by(f64::total_cmp);
    positions.dedup_by(|a, b| a == b);
    let rank = |text: &str| positions.partition_point(|other| *other < position(text));
    let mut loads: Vec<(usize, f64)> = extra.iter().map(|(text, load)| (rank(text), *load)).collect();
    loads.sort_by_key(|load| load.0);
    let (mut sources, mut sinks): (Vec<_>, Vec<_>) = loads.into_iter().partition(|load| load.1 > 0.0);
    sources.reverse();
    sinks.reverse();
    let mut work = 0.0;
    while let (Some(source), Some(sink)) = (sources.last_mut(), sinks.last_mut()) {
        let load = source.1.min(-sink.1);
        work += load * source.0.abs_diff(sink.0) as f64;
        source.1 -= load;
        sink.1 += load;
        if source.1 <= -sink.1 {
            sources.pop();
        } else {
            sinks.pop();
        }
    }
    work / (positions.len().max(2) - 1) as f64
}

/// Carries loads within the lowest nodes first, and what is left over within the next higher ones.
fn up_and_down(extra: &[(&str, f64)], hierarchy: &Hierarchy) -> f64 {
    let mut deepest: Vec<u32> = hierarchy.nodes().map(|n| hierarchy.depth(n)).collect();
    for leaf in hierarchy.nodes().filter(|&n| hierarchy.is_leaf(n)) {
        for above in std::iter::successors(hierarchy.parent(leaf), |&n| hierarchy.parent(n)) {
            deepest[above.index()] = deepest[above.index()].max(hierarchy.depth(leaf));
        }
    }
    let height = |node: NodeId| deepest[node.index()] - hierarchy.depth(node);
    let whole = height(hierarchy.root());
    let mut loads: Vec<(Vec<(NodeId, u32)>, f64)> = Vec::new();
    for (text, load) in extra {
        let Some(node) = hierarchy.leaf(text).or_else(|| hierarchy.node(text)) else { return f64::INFINITY };
        let up = std::iter::successors(Some(node), |&n| hierarchy.parent(n));
        loads.push((up.map(|n| (n, height(n))).collect(), *load));
    }
    let mut work = 0.0;
    for level in 1..=whole {
        // The highest node above each that is no higher than the level.
        let top = |way: &[(NodeId, u32)]| way.iter().rfind(|n| n.1 <= level).map(|n| n.0);
        let mut within: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (at, (way, _)) in loads.iter().enumerate() {
            within.entry(top(way).unwrap_or(NodeId::ROOT)).or_default().push(at);
        }
        for some in within.into_values() {
            let sum = |sign: f64| some.iter().map(|&at| (sign * loads[at].1).max(0.0)).sum::<f64>();
            let (more, less) = (sum(1.0), sum(-1.0));
            let carried = more.min(less);
            work += carried * f64::from(level);
            for at in some {
                let side = if loads[at].1 > 0.0 { more } else { less };
                if side > 0.0 {
                    loads[at].1 *= 1.0 - carried / side;
                }
            }
        }
    }
    work / f64::from(whole.max(1))
}
