//! Writing clusters back as records of the shape that the input has.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Builder, ClassId, Dataset, Kind, MISSING, Result};

use super::Cluster;
use super::cells::Tally;
use super::cost::{Cost, Lm};
use super::domain::Domain;
use super::forest::Forest;
use super::rep::Rep;

/// What comes of some clusters.
#[derive(Debug)]
pub(super) struct Published {
    /// The records, cluster by cluster.
    pub(super) data: Dataset,
    /// Per published record the input record it stems from.
    pub(super) records: Vec<u32>,
    /// Its quasi attributes, with the declared ones.
    pub(super) quasi: Vec<(AttributeId, usize)>,
    /// What became of these input records.
    pub(super) tally: Tally,
}

/// The records of some clusters.
pub(super) fn publish(
    data: &Dataset,
    binding: &Binding,
    hierarchies: &[Option<Hierarchy>],
    forest: &Forest,
    clusters: &[Cluster],
    observer: &dyn Observer,
) -> Result<Published> {
    let told = told_classes(data, binding);
    let mut counted = Counted::new(forest, hierarchies, &told);
    for cluster in clusters {
        observer.go_on()?;
        counted.add(&cluster.rep);
    }
    let mut writer = Writer::new(data, binding, hierarchies, forest, &counted);
    let mut records = Vec::new();
    for cluster in clusters {
        for (member, &record) in cluster.members.iter().enumerate() {
            observer.go_on()?;
            writer.record(&cluster.rep, member);
            records.push(record);
        }
    }
    let mut tally = given_up(data, binding, forest, &records);
    (tally.suppressed, tally.suppressed_vertices) = (0, 0);
    tally.cost = clusters.iter().map(Cluster::cost).sum();
    tally.kept_values = counted.values;
    tally.kept_vertices = counted.vertices;
    tally.kept_secrets = writer.secrets;
    tally.lost = counted.lm;
    tally.texts = std::mem::take(&mut writer.texts);
    let quasi = writer.quasi.iter().map(|q| q.0).zip(forest.declared.iter().copied()).collect();
    Ok(Published { data: writer.builder.finish(), records, quasi, tally })
}

/// What is lost with records that are not published at all.
pub(super) fn given_up(data: &Dataset, binding: &Binding, forest: &Forest, records: &[u32]) -> Tally {
    let told = told_classes(data, binding);
    let secrets = secret_attributes(data, binding);
    let mut tally =
        Tally { records: records.len() as u64, suppressed: records.len() as u64, ..Tally::default() };
    for &record in records {
        tally.cost += forest.prune[record as usize];
        for v in data.vertices(record as usize) {
            tally.had_vertices += u64::from(told[data.class(v).index()]);
            tally.had_values += values_at(forest, v);
            tally.had_secrets += secrets_at(data, &secrets, v);
        }
    }
    tally.suppressed_vertices = tally.had_vertices;
    tally
}

/// LM of a publication of some clusters, without writing it.
pub(super) fn lm(
    data: &Dataset,
    binding: &Binding,
    hierarchies: &[Option<Hierarchy>],
    forest: &Forest,
    clusters: &[Cluster],
    observer: &dyn Observer,
) -> Result<f64> {
    fn secrets_of(data: &Dataset, secrets: &[Vec<AttributeId>], rep: &Rep) -> u64 {
        let own: u64 = rep.from.iter().map(|&v| secrets_at(data, secrets, v as usize)).sum();
        own + rep.kids.iter().map(|kid| secrets_of(data, secrets, kid)).sum::<u64>()
    }
    let told = told_classes(data, binding);
    let mut counted = Counted::new(forest, hierarchies, &told);
    let (secrets, mut kept) = (secret_attributes(data, binding), 0);
    for cluster in clusters {
        observer.go_on()?;
        counted.add(&cluster.rep);
        kept += secrets_of(data, &secrets, &cluster.rep);
    }
    Ok(counted.lm_of_all(data, binding, kept))
}

/// How many quasi values a vertex has.
fn values_at(forest: &Forest, v: usize) -> u64 {
    let quasi = &forest.classes[forest.vertex_class[v] as usize].quasi;
    let there = forest.values(v as u32).iter().zip(quasi);
    there.filter(|(n, q)| **n != forest.domains[q.1].missing()).count() as u64
}

/// Per class its sensitive attributes.
fn secret_attributes(data: &Dataset, binding: &Binding) -> Vec<Vec<AttributeId>> {
    let schema = data.schema();
    schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, Role::Sensitive)).collect()
}

/// How many sensitive values a vertex has.
fn secrets_at(data: &Dataset, secrets: &[Vec<AttributeId>], v: usize) -> u64 {
    secrets[data.class(v).index()].iter().filter(|&&a| data.value(v, a) != MISSING).count() as u64
}

/// Per class whether it, or one below it, has anything that may be published. What the policy drops is not pruned.
fn told_classes(data: &Dataset, binding: &Binding) -> Vec<bool> {
    let schema = data.schema();
    let mut told = vec![false; schema.classes().len()];
    for (id, class) in schema.classes().collect::<Vec<_>>().into_iter().rev() {
        let public = |a: &AttributeId| {
            matches!(binding.role(*a), Some(Role::Quasi | Role::Sensitive | Role::Insensitive))
        };
        told[id.index()] |= binding.classes[id.index()].is_some() && class.attributes.iter().any(public);
        if let Some(above) = class.parent.filter(|_| told[id.index()]) {
            told[above.index()] = true;
        }
    }
    told
}

/// What is published.
struct Counted<'a> {
    forest: &'a Forest,
    /// Per class whether its vertices count.
    told: &'a [bool],
    /// Per domain what each of its values stands for.
    hierarchies: Vec<Option<&'a Hierarchy>>,
    /// Per domain and node, missing ones last: LM, and whether it is published.
    shares: Vec<Vec<f64>>,
    occurs: Vec<Vec<bool>>,
    /// Per domain the ranges that are published.
    ranges: Vec<BTreeSet<u32>>,
    lm: f64,
    values: u64,
    vertices: u64,
}

impl<'a> Counted<'a> {
    fn new(forest: &'a Forest, hierarchies: &'a [Option<Hierarchy>], told: &'a [bool]) -> Self {
        let shares = forest.declared.iter().enumerate().map(|(d, &at)| {
            let Some(hierarchy) = &hierarchies[at] else { return Vec::new() };
            let missing = forest.misses[d];
            let own = hierarchy.nodes().map(|n| Lm.of(at, hierarchy, n, missing));
            own.chain([0.0]).collect()
        });
        Counted {
            hierarchies: forest.declared.iter().map(|&at| hierarchies[at].as_ref()).collect(),
            ranges: vec![BTreeSet::new(); forest.domains.len()],
            shares: shares.collect(),
            occurs: forest.domains.iter().map(|d| vec![false; d.len()]).collect(),
            forest,
            told,
            lm: 0.0,
            values: 0,
            vertices: 0,
        }
    }

    fn add(&mut self, rep: &Rep) {
        if self.told[rep.class as usize] {
            self.vertices += rep.members() as u64;
        }
        let quasi = &self.forest.classes[rep.class as usize].quasi;
        for (i, (&node, &(_, d))) in rep.values.iter().zip(quasi).enumerate() {
            // Whoever lacks the value cannot lose it.
            let missing = self.forest.domains[d].missing();
            let having = rep.from.iter().filter(|&&v| self.forest.values(v)[i] != missing).count() as u64;
            self.values += having;
            match self.shares[d].get(node as usize) {
                Some(share) => {
                    self.lm += having as f64 * share;
                    self.occurs[d][node as usize] = true;
                }
                None => {
                    self.lm += having as f64 * self.share_of_range(d, node);
                    self.ranges[d].insert(node);
                }
            }
        }
        rep.kids.iter().for_each(|k| self.add(k));
    }

    /// LM over all values that there were, where so many sensitive ones are published.
    fn lm_of_all(&self, data: &Dataset, binding: &Binding, kept_secrets: u64) -> f64 {
        let secrets = secret_attributes(data, binding);
        let tally = Tally {
            had_values: (0..data.vertex_count()).map(|v| values_at(self.forest, v)).sum(),
            had_secrets: (0..data.vertex_count()).map(|v| secrets_at(data, &secrets, v)).sum(),
            kept_values: self.values,
            kept_secrets,
            lost: self.lm,
            ..Tally::default()
        };
        tally.lm(self.forest.lost)
    }

    fn share_of_range(&self, d: usize, range: u32) -> f64 {
        let numbers = self.hierarchies[d].and_then(Hierarchy::numbers);
        match (numbers, positions(&self.forest.domains[d], range)) {
            (Some(numbers), Some((low, high))) => numbers.share(low, high),
            _ => 1.0,
        }
    }
}

/// The leaf positions of a range's ends: in a flat hierarchy the root comes before all leaves.
fn positions(domain: &Domain, range: u32) -> Option<(u32, u32)> {
    domain.ends(range).map(|(low, high)| (low - 1, high - 1))
}

/// The codes of an attribute's published nodes and ranges.
#[derive(Clone, Debug, Default)]
struct Codes {
    nodes: Vec<u32>,
    ranges: FxHashMap<u32, u32>,
}

impl Codes {
    fn get(&self, value: u32) -> Option<u32> {
        let node = self.nodes.get(value as usize).copied().filter(|&code| code != NONE);
        node.or_else(|| self.ranges.get(&value).copied())
    }
}

/// No code yet.
const NONE: u32 = u32::MAX;

struct Writer<'a> {
    data: &'a Dataset,
    forest: &'a Forest,
    builder: Builder,
    /// Per class of the input that of the publication.
    classes: Vec<ClassId>,
    /// Per class the attributes that are published as they are, here and there, and whether they are sensitive.
    beside: Vec<Vec<(AttributeId, AttributeId, bool)>>,
    /// Sensitive values that were written.
    secrets: u64,
    /// The quasi attributes, as declared, that are published as text, whatever they were.
    texts: BTreeSet<usize>,
    /// Per domain the published attribute, and the code of every node.
    quasi: Vec<(AttributeId, Codes)>,
    /// Per attribute of the input the codes that its values have in the publication.
    codes: Vec<Vec<u32>>,
}

impl<'a> Writer<'a> {
    fn new(
        data: &'a Dataset,
        binding: &Binding,
        hierarchies: &[Option<Hierarchy>],
        forest: &'a Forest,
        counted: &Counted<'_>,
    ) -> Self {
        let schema = data.schema();
        let mut writer = Writer {
            data,
            forest,
            builder: Builder::in_notation(schema.notation()),
            classes: Vec::new(),
            beside: Vec::new(),
            secrets: 0,
            texts: BTreeSet::new(),
            quasi: vec![(AttributeId(0), Codes::default()); forest.domains.len()],
            codes: (schema.attributes()).map(|(a, _)| vec![NONE; data.dictionary(a).len()]).collect(),
        };
        for (id, class) in schema.classes() {
            let own = match class.parent {
                Some(parent) if binding.classes[id.index()].is_some() => {
                    writer.builder.class(writer.classes[parent.index()], &class.name)
                }
                // Vertices of classes that are not declared are dropped; their place is never used.
                _ => ClassId::ROOT,
            };
            writer.classes.push(own);
            let mut beside = Vec::new();
            for &a in &class.attributes {
                let role = binding.role(a).filter(|_| binding.classes[id.index()].is_some());
                let quasi = forest.classes[id.index()].quasi.iter().find(|q| q.0 == a);
                match (role, quasi) {
                    (Some(Role::Quasi), Some(&(_, d))) => {
                        let to = writer.builder.attribute(own, &schema.attribute(a).name);
                        let Some(hierarchy) = &hierarchies[forest.declared[d]] else { continue };
                        let codes = writer.codes_of((a, to), hierarchy, counted, d);
                        writer.quasi[d] = (to, codes);
                    }
                    (Some(role @ (Role::Sensitive | Role::Insensitive)), _) => {
                        let to = writer.builder.attribute(own, &schema.attribute(a).name);
                        beside.push((a, to, role == Role::Sensitive));
                    }
                    _ => {}
                }
            }
            writer.beside.push(beside);
        }
        writer
    }

    /// The code of every published node. An attribute of which anything is generalized is text, and so is one of which a
    /// leaf stands for values of different kinds.
    fn codes_of(
        &mut self,
        (from, to): (AttributeId, AttributeId),
        hierarchy: &Hierarchy,
        counted: &Counted<'_>,
        d: usize,
    ) -> Codes {
        let (occurs, ranges) = (&counted.occurs[d], &counted.ranges[d]);
        let mut original: Vec<Option<(Kind, &str)>> = vec![None; hierarchy.len()];
        let mut whole = ranges.is_empty();
        for (kind, text) in self.data.dictionary(from).iter() {
            if let Some(leaf) = hierarchy.leaf(text) {
                whole &= original[leaf.index()].replace((kind, text)).is_none();
            }
        }
        let published: Vec<usize> = (0..hierarchy.len()).filter(|&n| occurs[n]).collect();
        whole &= published.iter().all(|&n| original[n].is_some());
        if !whole {
            self.texts.insert(self.forest.declared[d]);
        }
        let mut codes = Codes { nodes: vec![NONE; occurs.len()], ranges: FxHashMap::default() };
        for node in published {
            let (kind, text) = match original[node] {
                Some(original) if whole => original,
                _ => (Kind::Text, hierarchy.label(NodeId(node as u32))),
            };
            codes.nodes[node] = self.builder.code(to, kind, text);
        }
        for &range in ranges {
            if let Some((low, high)) = positions(&self.forest.domains[d], range) {
                let label = hierarchy.range_label(low, high);
                codes.ranges.insert(range, self.builder.code(to, Kind::Text, &label));
            }
        }
        codes
    }

    /// Writes one member of a cluster.
    fn record(&mut self, rep: &Rep, member: usize) {
        self.builder.begin_record();
        self.vertex(rep, member);
        // Every value is set once, and the publication is no larger than the input.
        let ended = self.builder.end_record();
        debug_assert!(ended.is_ok());
    }

    fn vertex(&mut self, rep: &Rep, member: usize) {
        let class = &self.forest.classes[rep.class as usize];
        for (&node, &(_, d)) in rep.values.iter().zip(&class.quasi) {
            let (attribute, codes) = &self.quasi[d];
            if let Some(code) = codes.get(node) {
                self.builder.set_code(*attribute, code);
            }
        }
        let vertex = rep.from[member] as usize;
        for &(from, to, secret) in &self.beside[rep.class as usize] {
            let code = self.data.value(vertex, from);
            if code != MISSING {
                self.secrets += u64::from(secret);
                let known = &mut self.codes[from.index()][code as usize];
                if *known == NONE {
                    let dictionary = self.data.dictionary(from);
                    *known = self.builder.code(to, dictionary.kind(code), dictionary.text(code));
                }
                self.builder.set_code(to, *known);
            }
        }
        for kid in &rep.kids {
            self.builder.open(self.classes[kid.class as usize]);
            self.vertex(kid, member);
            self.builder.close();
        }
    }
}
