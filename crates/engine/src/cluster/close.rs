//! How far what clusters say about sensitive values is from what the whole publication says: t-closeness, β-likeness.
//!
//! The whole is all that is going to be published, so what is pruned or suppressed changes it. Who has no value is in neither
//! distribution, and no cover for those who have one. All is counted in whole numbers, as by whoever verifies: `excess` is how many more there are of
//! a value at a place than expected, times all values of the publication.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::policy::{Ground, Role};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use super::Cluster;
use super::diverse::{Path, RepForms, gather, remove};
use super::forest::Forest;
use super::params::{Close, Measure};
use super::rep::Rep;
use super::secrets::{Secrets, UNKNOWN};

/// t and β are read to twelve decimals.
const UNITS: i128 = 1_000_000_000_000;

/// How far the values of an attribute are from each other, by their labels.
enum Space {
    Equal,
    /// Per label its rank.
    Ordered(FxHashMap<u32, usize>, usize),
    /// Nodes with what is above each, children before their parents, and per label its node.
    Tree {
        above: Vec<Option<usize>>,
        heights: Vec<i128>,
        of: FxHashMap<u32, usize>,
        height: i128,
    },
}

/// A sensitive attribute of all clusters together.
struct Column {
    path: String,
    space: Space,
    counts: BTreeMap<u32, i128>,
    all: i128,
    /// Whether the input has any value of it.
    had: bool,
}

/// What all clusters say together about sensitive values, and how far from that one of them may be.
pub(super) struct Whole<'a> {
    forest: &'a Forest,
    measure: Measure,
    /// Per class its first column.
    first: Vec<usize>,
    columns: Vec<Column>,
}

/// How often each label stands at a place of a cluster.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<u32, i128>,
}

impl Tally {
    /// How many vertices of the place have a value.
    fn filled(&self) -> i128 {
        self.counts.values().sum()
    }
}

/// Which places of a cluster are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// All.
    Everywhere,
    /// The root, which cannot be pruned.
    AtRoot,
}

/// Sensitive attributes as they are compared, without any cluster.
pub(super) struct Spaces(Vec<(usize, String, Space, bool)>);

impl Spaces {
    /// Works out distances between values. What has none is refused.
    pub(super) fn new(
        data: &Dataset,
        binding: &Binding,
        hierarchies: &[Option<Hierarchy>],
        secrets: &Secrets,
        ask: &Close,
    ) -> Result<Self> {
        let schema = data.schema();
        let mut found = Vec::new();
        let mut problems = Vec::new();
        for (class, _) in schema.classes() {
            for a in binding.in_policy_order(schema, class, Role::Sensitive) {
                let path = schema.attribute(a).path.clone();
                let declared = binding.attributes[a.index()];
                let labels = secrets.labels_of(a);
                let texts: Vec<&str> = data.dictionary(a).iter().map(|(_, text)| text).collect();
                let ground = declared.map_or(Ground::Equal, |d| ask.ground(d));
                let space = match ground {
                    Ground::Equal => Ok(Space::Equal),
                    Ground::Ordered => {
                        let bounds = declared.and_then(|d| ask.buckets.get(d)?.as_deref());
                        ordered(bounds, &texts, labels)
                    }
                    Ground::Hierarchical => {
                        let hierarchy = declared.and_then(|d| hierarchies.get(d)?.as_ref());
                        tree(hierarchy, &texts, labels)
                    }
                };
                match space {
                    Ok(space) => found.push((class.index(), path, space, !texts.is_empty())),
                    Err(what) => problems.push(what.at(Place::default().path(path))),
                }
            }
        }
        if problems.is_empty() { Ok(Spaces(found)) } else { Err(Failure::all(Fault::Data, problems)) }
    }
}

fn ordered(bounds: Option<&[f64]>, texts: &[&str], labels: &[u32]) -> Result<Space, Box<Diagnostic>> {
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|n| n.is_finite())?;
        Some(bounds.map_or(number + 0.0, |b| b.partition_point(|&b| b <= number) as f64))
    };
    let found: Vec<f64> = texts.iter().filter_map(|text| number(text)).collect();
    if found.len() < texts.len() {
        let what = format!("{} distinct values are not numbers and have no order", texts.len() - found.len());
        return Err(Box::new(
            Diagnostic::error(what).help("use ground = \"equal\", or make the values numbers"),
        ));
    }
    let mut ranks = found.clone();
    ranks.sort_by(f64::total_cmp);
    ranks.dedup();
    let rank = |number: f64| ranks.partition_point(|&other| other < number);
    let of = labels.iter().zip(found).map(|(&label, number)| (label, rank(number))).collect();
    Ok(Space::Ordered(of, ranks.len()))
}

fn tree(hierarchy: Option<&Hierarchy>, texts: &[&str], labels: &[u32]) -> Result<Space, Box<Diagnostic>> {
    let Some(hierarchy) = hierarchy else {
        let what = "the distance of values needs the hierarchy of their attribute, which is not there";
        return Err(Box::new(Diagnostic::error(what).help("give it one, or use ground = \"equal\"")));
    };
    let nodes: Vec<NodeId> =
        texts.iter().filter_map(|text| hierarchy.leaf(text).or_else(|| hierarchy.node(text))).collect();
    if nodes.len() < texts.len() {
        let what = format!("{} distinct values are not in the hierarchy", texts.len() - nodes.len());
        let help = "add them to it: their distance from others is measured there";
        return Err(Box::new(Diagnostic::error(what).help(help)));
    }
    let mut heights = vec![0i128; hierarchy.len()];
    let mut occurs = vec![false; hierarchy.len()];
    nodes.iter().for_each(|node| occurs[node.index()] = true);
    for node in hierarchy.nodes().collect::<Vec<_>>().into_iter().rev() {
        if let Some(above) = hierarchy.parent(node) {
            heights[above.index()] = heights[above.index()].max(heights[node.index()] + 1);
            occurs[above.index()] |= occurs[node.index()];
        }
    }
    let kept: Vec<usize> = (0..hierarchy.len()).rev().filter(|&n| occurs[n]).collect();
    let at: FxHashMap<usize, usize> = kept.iter().enumerate().map(|(at, &node)| (node, at)).collect();
    let above = |&n: &usize| hierarchy.parent(NodeId(n as u32)).and_then(|p| at.get(&p.index()).copied());
    Ok(Space::Tree {
        above: kept.iter().map(above).collect(),
        of: labels.iter().zip(nodes).map(|(&label, node)| (label, at[&node.index()])).collect(),
        height: heights[NodeId::ROOT.index()].max(1),
        heights: kept.iter().map(|&n| heights[n]).collect(),
    })
}

impl Column {
    /// The work of turning what a place says into what all say, in parts of a whole that is divided further by what comes
    /// with it.
    fn moved(&self, tally: &Tally) -> (i128, i128) {
        let filled = tally.filled();
        let excess = |label: u32, count: i128| count * self.all - filled * self.counts[&label];
        let all = || {
            let own = |label: &u32| tally.counts.get(label).copied().unwrap_or(0);
            self.counts.iter().filter(|c| *c.1 > 0).map(move |(&label, _)| (label, own(&label)))
        };
        match &self.space {
            Space::Equal => {
                let own = tally.counts.iter().map(|(&label, &count)| excess(label, count));
                (own.filter(|e| *e > 0).sum(), 1)
            }
            Space::Ordered(ranks, most) => {
                let mut extra: Vec<Option<i128>> = vec![None; *most];
                for (label, own) in all() {
                    *extra[ranks[&label]].get_or_insert(0) += excess(label, own);
                }
                let (mut carried, mut moved, mut occurring) = (0, 0, 0);
                for extra in extra.into_iter().flatten() {
                    carried += extra;
                    moved += carried.abs();
                    occurring += 1;
                }
                (moved, (occurring - 1).max(1))
            }
            Space::Tree { above, heights, of, height } => {
                // Of each node what is too much below it, and what too little.
                let mut extra: Vec<(i128, i128)> = vec![(0, 0); above.len()];
                for (label, own) in all() {
                    let excess = excess(label, own);
                    let at = &mut extra[of[&label]];
                    *at = (at.0 + excess.max(0), at.1 + (-excess).max(0));
                }
                let mut moved = 0;
                for (at, up) in above.iter().enumerate() {
                    let (more, less) = extra[at];
                    moved += heights[at] * more.min(less);
                    if let Some(up) = *up {
                        let left = more - less;
                        extra[up] = (extra[up].0 + left.max(0), extra[up].1 + (-left).max(0));
                    }
                }
                (moved, *height)
            }
        }
    }

    /// How far a place is from the whole: the distance, or the largest gain of a value.
    fn distance(&self, tally: &Tally, measure: Measure) -> f64 {
        if tally.counts.is_empty() {
            return 0.0;
        }
        match measure {
            Measure::T(_) => {
                let (moved, unit) = self.moved(tally);
                moved as f64 / (tally.filled() * self.all * unit) as f64
            }
            Measure::Beta(_) => {
                let filled = tally.filled();
                let gain = |(label, count): (&u32, &i128)| {
                    let common = self.counts[label];
                    (count * self.all - filled * common) as f64 / (filled * common) as f64
                };
                tally.counts.iter().map(gain).fold(0.0, f64::max)
            }
        }
    }

    /// Whether a place says too much.
    fn is_too_far(&self, tally: &Tally, measure: Measure) -> bool {
        if tally.counts.is_empty() {
            return false;
        }
        let units = |number: f64| (number * UNITS as f64).round() as i128;
        match measure {
            Measure::T(t) => {
                let (moved, unit) = self.moved(tally);
                let all = tally.filled() * self.all * unit;
                match (moved.checked_mul(UNITS), units(t).checked_mul(all)) {
                    (Some(moved), Some(most)) => moved > most,
                    _ => self.distance(tally, measure) > t - 1e-9,
                }
            }
            Measure::Beta(beta) => {
                let filled = tally.filled();
                tally.counts.iter().any(|(label, &count)| {
                    let common = self.counts[label];
                    let log = ((self.all as f64 / common as f64).ln() * UNITS as f64).floor() as i128 - 1;
                    let most = units(beta).min(log.max(0)) * filled * common;
                    (count * self.all - filled * common) * UNITS > most
                })
            }
        }
    }
}

impl<'a> Whole<'a> {
    pub(super) fn new(forest: &'a Forest, spaces: Spaces, measure: Measure) -> Self {
        let mut first = vec![0; forest.classes.len()];
        let mut before = 0;
        for (class, at) in first.iter_mut().enumerate() {
            *at = before;
            before += spaces.0.iter().filter(|s| s.0 == class).count();
        }
        let column = |(_, path, space, had)| Column { path, space, counts: BTreeMap::new(), all: 0, had };
        Whole { forest, measure, first, columns: spaces.0.into_iter().map(column).collect() }
    }

    /// Forgets all clusters and takes others.
    pub(super) fn count_anew(&mut self, clusters: &[Cluster]) {
        for column in &mut self.columns {
            (column.counts, column.all) = (BTreeMap::new(), 0);
        }
        clusters.iter().for_each(|cluster| self.count(&cluster.rep, 1));
    }

    /// Takes a cluster in, or out (−1).
    pub(super) fn count(&mut self, rep: &Rep, sign: i128) {
        let attributes = self.forest.classes[rep.class as usize].sensitive;
        let first = self.first[rep.class as usize];
        for (i, &label) in rep.labels.iter().enumerate().filter(|(_, label)| **label != UNKNOWN) {
            let column = &mut self.columns[first + i % attributes];
            *column.counts.entry(label).or_default() += sign;
            column.all += sign;
        }
        rep.kids.iter().for_each(|kid| self.count(kid, sign));
    }

    /// Whether a cluster says nothing beyond what is allowed.
    pub(super) fn is_close(&self, rep: &Rep, places: Where) -> bool {
        !self
            .places(rep, places)
            .iter()
            .any(|(column, tally, _)| self.columns[*column].is_too_far(tally, self.measure))
    }

    /// How far the farthest place of a cluster is.
    pub(super) fn distance(&self, rep: &Rep) -> f64 {
        let places = self.places(rep, Where::Everywhere);
        let far =
            |(column, tally, _): &(usize, Tally, _)| self.columns[*column].distance(tally, self.measure);
        places.iter().map(far).fold(0.0, f64::max)
    }

    /// What a cluster does keep: the smallest number, rounded up; none if none would do.
    pub(super) fn kept(&self, rep: &Rep) -> Option<f64> {
        let number = (self.distance(rep) * 1e4).ceil() / 1e4;
        let measure = match self.measure {
            Measure::T(_) => Measure::T(number),
            Measure::Beta(_) => Measure::Beta(number),
        };
        let far = |(column, tally, _): &(usize, Tally, _)| self.columns[*column].is_too_far(tally, measure);
        (!self.places(rep, Where::Everywhere).iter().any(far)).then_some(number)
    }

    /// Takes away the vertices of the place that is farthest, if it is too far and below the root; true if there is one.
    pub(super) fn prune(&self, rep: &mut Rep) -> bool {
        let far = |column: usize, tally: &Tally| self.columns[column].is_too_far(tally, self.measure);
        let mut farthest: Option<(f64, Vec<Path>)> = None;
        for (column, tally, mut paths) in self.places(rep, Where::Everywhere) {
            if paths[0].is_empty() || !far(column, &tally) {
                continue;
            }
            let distance = self.columns[column].distance(&tally, self.measure);
            if farthest.as_ref().is_none_or(|(most, _)| distance > *most) {
                // The last first, so that the others stay where they are.
                paths.sort_unstable();
                farthest = Some((distance, paths));
            }
        }
        let Some((_, paths)) = farthest else { return false };
        paths.iter().rev().for_each(|path| remove(rep, path));
        rep.settle(self.forest);
        true
    }

    /// A path of which there were values and none is left.
    pub(super) fn vanished(&self) -> Option<&str> {
        self.columns.iter().find(|c| c.had && c.all == 0).map(|c| c.path.as_str())
    }

    /// Per place and sensitive attribute what stands there, with the ways to its vertices.
    fn places(&self, rep: &Rep, which: Where) -> Vec<(usize, Tally, Vec<Path>)> {
        let mut places: BTreeMap<u32, Vec<(Path, &Rep)>> = BTreeMap::new();
        if which == Where::AtRoot || rep.kids.is_empty() {
            places.insert(0, vec![(Vec::new(), rep)]);
        } else {
            gather(
                rep,
                &mut RepForms::default(),
                &mut FxHashMap::default(),
                u32::MAX,
                &mut Vec::new(),
                &mut places,
            );
        }
        let mut found = Vec::new();
        for place in places.into_values() {
            let class = place[0].1.class as usize;
            let attributes = self.forest.classes[class].sensitive;
            for i in 0..attributes {
                let mut tally = Tally::default();
                for (_, rep) in &place {
                    for &label in rep.labels.iter().skip(i).step_by(attributes).filter(|l| **l != UNKNOWN) {
                        *tally.counts.entry(label).or_default() += 1;
                    }
                }
                let paths = place.iter().map(|(path, _)| path.clone()).collect();
                found.push((self.first[class] + i, tally, paths));
            }
        }
        found
    }
}

/// What the rows of a flat table say together; nothing is pruned there, so this does not change.
pub(super) fn of_rows<'a>(forest: &'a Forest, spaces: Spaces, measure: Measure) -> Whole<'a> {
    let mut whole = Whole::new(forest, spaces, measure);
    (0..forest.len() as u32).for_each(|row| whole.count(&Rep::of_record(forest, row), 1));
    whole
}

/// Two that are merged are to be, all in all, at most so far as both were: of those with the same bias nothing comes.
const COMPLEMENT: f64 = 0.85;

impl Whole<'_> {
    /// Whether what some say at their roots is made up for by what others say.
    pub(super) fn complement(&self, some: &[u32], others: &[u32]) -> bool {
        let both = [some, others].concat();
        self.bias(&both) <= COMPLEMENT * (self.bias(some) + self.bias(others))
    }

    /// How far rows are, over all attributes, times how many values there are: never more of two together than of both.
    fn bias(&self, rows: &[u32]) -> f64 {
        let attributes = self.forest.classes[0].sensitive;
        let far = |i: usize| {
            let tally = self.tally_of_rows(rows, i);
            tally.filled() as f64 * self.columns[i].distance(&tally, self.measure)
        };
        (0..attributes).map(far).sum()
    }

    fn tally_of_rows(&self, rows: &[u32], attribute: usize) -> Tally {
        let secret = |row: u32| self.forest.secret[self.forest.roots[row as usize] as usize];
        let mut tally = Tally::default();
        let labels = rows.iter().map(|&row| self.forest.secrets.labels(secret(row))[attribute]);
        labels.filter(|&label| label != UNKNOWN).for_each(|l| *tally.counts.entry(l).or_default() += 1);
        tally
    }

    /// Whether rows say together nothing beyond what is allowed.
    pub(super) fn are_close(&self, rows: &[u32]) -> bool {
        let attributes = self.forest.classes[0].sensitive;
        (0..attributes).all(|i| !self.columns[i].is_too_far(&self.tally_of_rows(rows, i), self.measure))
    }
}
