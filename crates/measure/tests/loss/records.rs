//! Records as sets of paths of `attribute:label`, and global recodings of them.

use std::collections::BTreeSet;

use bosket_measure::trees::Comparison;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::hierarchy::csv::parse;
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Builder, ClassId, Kind};
use proptest::prelude::*;

/// The nodes, each as the path to it; prefixes may be left out.
pub(crate) type Record = BTreeSet<Vec<String>>;

/// A record from paths such as `a:A1 b:B1`; `_` stands for a blank.
pub(crate) fn record(paths: &[&str]) -> Record {
    paths.iter().map(|p| p.split(' ').map(|l| l.replace('_', " ")).collect()).collect()
}

/// All nodes, prefixes included.
pub(crate) fn closed(record: &Record) -> Record {
    record.iter().flat_map(|p| (1..=p.len()).map(|n| p[..n].to_vec())).collect()
}

/// Trees with their binding.
pub(crate) struct Side {
    pub(crate) trees: ValueTrees,
    pub(crate) binding: Binding,
}

impl Side {
    pub(crate) fn against<'a>(
        &'a self,
        published: &'a Side,
        hierarchies: &'a [Option<Hierarchy>],
        mapping: Option<&'a [(u32, u32)]>,
    ) -> Comparison<'a> {
        let (input, published) = (&self.trees, &published.trees);
        Comparison { input, published, binding: &self.binding, hierarchies, mapping }
    }
}

pub(crate) fn side(records: &[Record]) -> Side {
    fn below(builder: &mut Builder, class: ClassId, nodes: &Record, above: &[String]) {
        for node in nodes.iter().filter(|n| n.len() == above.len() + 1 && n.starts_with(above)) {
            let (attribute, label) = node[above.len()].split_once(':').expect("attribute:label");
            let own = builder.class(class, &[attribute.to_owned()]);
            let value = builder.attribute(own, &["v".to_owned()]);
            builder.open(own);
            builder.set(value, Kind::Text, label);
            below(builder, own, nodes, node);
            builder.close();
        }
    }
    let mut builder = Builder::new();
    for record in records {
        builder.begin_record();
        below(&mut builder, ClassId::ROOT, &closed(record), &[]);
        builder.end_record().expect("one value per vertex");
    }
    let data = builder.finish();
    let (policy, _) = Policy::parse("policy", bosket_testkit::trees::ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "data").expect("declared");
    let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Drop);
    Side { trees, binding }
}

/// `c` has leaves at two depths.
pub(crate) const HIERARCHIES: [&str; 3] = [
    "A1;AX;*\nA2;AX;*\nA3;AY;*\nA4;AY;*\n",
    "B1;BX;*\nB2;BX;*\nB3;BY;*\nB4;BY;*\n",
    "C1;CX;*\nC2;CX;*\nC3;*\n",
];

pub(crate) fn hierarchies() -> Vec<Option<Hierarchy>> {
    HIERARCHIES.iter().map(|text| Some(parse("h.csv", text).expect("a good file"))).collect()
}

/// The labels above a node of the test hierarchies, itself first; nodes as `attribute:label`.
pub(crate) fn upwards(node: &str) -> Vec<String> {
    let (attribute, label) = node.split_once(':').expect("attribute:label");
    let text = HIERARCHIES[usize::from(attribute.as_bytes()[0] - b'a')];
    let line: Vec<&str> =
        text.lines().map(|l| l.split(';').collect::<Vec<_>>()).find(|l| l.contains(&label)).expect("a node");
    let at = line.iter().position(|l| *l == label).expect("in the line");
    line[at..].iter().map(|l| format!("{attribute}:{l}")).collect()
}

/// One cut per attribute and pairs (above, below) of its labels that are taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Recoding {
    /// Labels that are published; leaves below none of them are not.
    pub(crate) cut: Vec<String>,
    pub(crate) rules: Vec<(usize, usize)>,
}

impl Recoding {
    pub(crate) fn roots() -> Self {
        Recoding { cut: ["a:*", "b:*", "c:*"].map(str::to_owned).to_vec(), rules: Vec::new() }
    }

    pub(crate) fn drops_any(&self) -> bool {
        ["a", "b", "c"].iter().any(|a| !self.cut.iter().any(|l| l.starts_with(a)))
    }

    pub(crate) fn label(&self, leaf: &str) -> Option<String> {
        upwards(leaf).into_iter().find(|u| self.cut.contains(u))
    }

    /// The finest cut that is nowhere finer than either.
    pub(crate) fn joined(&self, other: &Recoding) -> Recoding {
        let mut cut: Vec<String> = Vec::new();
        for (at, attribute) in ["a", "b", "c"].iter().enumerate() {
            let has = |r: &Recoding| r.cut.iter().any(|l| l.starts_with(attribute));
            if !has(self) || !has(other) {
                continue;
            }
            for line in HIERARCHIES[at].lines() {
                let leaf = format!("{attribute}:{}", line.split(';').next().expect("a leaf"));
                let all = upwards(&leaf);
                let place = |r: &Recoding| {
                    r.label(&leaf).and_then(|l| all.iter().position(|u| *u == l)).expect("a cut covers it")
                };
                cut.push(all[place(self).max(place(other))].clone());
            }
        }
        cut.sort();
        cut.dedup();
        let covered: Vec<String> = cut.clone();
        cut.retain(|l| !upwards(l)[1..].iter().any(|u| covered.contains(u)));
        Recoding { cut, rules: self.rules.clone() }
    }

    /// Relabels, then takes apart: in a path with a above b, b goes to where a hangs and what was below b stays.
    pub(crate) fn apply(&self, record: &Record) -> Record {
        let mut nodes: Record = (closed(record).iter())
            .map(|p| p.iter().filter_map(|l| self.label(l)).collect())
            .filter(|p: &Vec<String>| !p.is_empty())
            .collect();
        for &(a, b) in &self.rules {
            let (Some(a), Some(b)) = (self.cut.get(a), self.cut.get(b)) else {
                continue;
            };
            let mut next = Record::new();
            for path in closed(&nodes) {
                let above = path.iter().position(|l| l == a);
                let below = path.iter().position(|l| l == b);
                match (above, below) {
                    (Some(above), Some(below)) if above < below => {
                        next.insert(path[..above].iter().cloned().chain([b.clone()]).collect());
                        next.insert(path.iter().filter(|l| *l != b).cloned().collect());
                    }
                    _ => drop(next.insert(path)),
                }
            }
            nodes = next;
        }
        nodes
    }
}

fn label(attribute: &str, leaves: usize) -> impl Strategy<Value = String> + use<> {
    let attribute = attribute.to_owned();
    (1..=leaves).prop_map(move |n| format!("{attribute}:{}{n}", attribute.to_uppercase()))
}

/// A path, levels possibly left out.
fn path() -> impl Strategy<Value = Vec<String>> {
    (label("a", 4), label("b", 4), label("c", 3), 1u8..8).prop_map(|(a, b, c, which)| {
        let chosen = [a, b, c].into_iter().enumerate().filter(|(i, _)| which >> i & 1 == 1);
        chosen.map(|(_, l)| l).collect()
    })
}

pub(crate) fn any_path() -> impl Strategy<Value = Record> {
    path().prop_map(|p| Record::from([p]))
}

pub(crate) fn any_record() -> impl Strategy<Value = Record> {
    prop::collection::btree_set(path(), 0..5)
}

pub(crate) fn any_recoding() -> impl Strategy<Value = Recoding> {
    let halves = |cut: [&'static [&'static str]; 4]| {
        prop::sample::select(cut.to_vec()).prop_map(|c| c.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>())
    };
    let a = halves([&[], &["a:*"], &["a:AX", "a:A3", "a:A4"], &["a:A1", "a:A2", "a:A3", "a:A4"]]);
    let b = halves([&[], &["b:BX", "b:BY"], &["b:B1", "b:B2", "b:BY"], &["b:B1", "b:B2", "b:B3", "b:B4"]]);
    let c = halves([&["c:*"], &["c:CX", "c:C3"], &["c:C1", "c:C2", "c:C3"], &["c:C1", "c:C2", "c:C3"]]);
    let rules = prop::collection::vec((0usize..11, 0usize..11), 0..4);
    (a, b, c, rules).prop_map(|(a, b, c, rules)| Recoding { cut: [a, b, c].concat(), rules })
}
