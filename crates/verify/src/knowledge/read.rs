//! Reading records off a publication, many at a time.
//!
//! Where each relation stands for itself, a record is its items and its pairs of items on one path: both can be read
//! vertex by vertex. Where nodes count (one node carries all relations of a value; the guard looks for what could have
//! been above a value) the trees of values are needed.
//!
//! Say a person's record is `{"sex": "f", "visits": [{"hospital": "H1", "ill": "flu"}, {"hospital": "H1", "ill": "cold"}]}`, and
//! the items are 0 = f, 1 = H1, 2 = cold, 3 = flu. With the top object apart, `read_vertices` goes
//!
//! ```text
//! vertex      path before   items   related          path after
//! the person  –             0       –                – (its values are above nothing)
//! visit 1     –             1 3     1–3              1 3
//! visit 2     – (cut back)  1 2     1–2              1 2
//! ```
//!
//! and leaves the items 0 1 2 3 with the counts 1 2 1 1, and the pairs 1–3 and 1–2. `Sheet` turns the pairs into rows of bits:
//! 0000, 1100, 0010, 0010 for the positions 0 to 3, highest first here. With multisets the items would be (0, once),
//! (1, twice), (2, once) and (3, once), numbered anew over all records. Where nodes count, the same record is read off its
//! tree, in which each visit has a node H1 of its own, or, if rows are united, one with the children cold and flu.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Negative, Payload, Relations as Reading, RootMode};
use bosket_model::{ClassId, Dataset, Result};

use super::absence::Absence;
use super::guard::Inferred;
use super::records::{Known, Nodes, Records, Relations};
use crate::columns::{Columns, Emptiness, Item, with_sections};
use crate::trees::Trees;

/// Records that are read together; enough to make handing them out cheap.
const BLOCK: usize = 4096;

/// What counts as knowledge of a record.
pub struct View<'a> {
    /// Where the values of the record's top object stand.
    pub root: RootMode,
    /// What several relations mean together; none if the attacker knows no relation.
    pub relations: Option<Reading>,
    /// Whether rows that look alike are one, with all that is below them.
    pub united: bool,
    /// Whether relations that can be put together again count.
    pub guard: bool,
    /// Whether an empty place that can hold one value counts as `*`.
    pub missing: bool,
    /// Whether a vertex that only holds entries counts as `*` too.
    pub sections: bool,
    /// Whether an item is a value together with how often it occurs.
    pub multiset: bool,
    /// What counts as knowledge by its absence.
    pub negative: &'a [Negative],
    /// Values that are outside the attacker's knowledge, so that their absence is too.
    pub sensitive: &'a [String],
    /// Per declared attribute its hierarchy; needed if there is anything negative.
    pub hierarchies: &'a [Option<Hierarchy>],
}

impl Default for View<'_> {
    fn default() -> Self {
        View {
            root: RootMode::Separate,
            relations: None,
            united: false,
            guard: false,
            missing: false,
            sections: false,
            multiset: false,
            negative: &[],
            sensitive: &[],
            hierarchies: &[],
        }
    }
}

impl View<'_> {
    fn emptiness(&self) -> Emptiness {
        match (self.missing, self.sections) {
            (false, _) => Emptiness::Nothing,
            (true, false) => Emptiness::Counted,
            (true, true) => Emptiness::CountedWithSections,
        }
    }
}

impl Records {
    /// What can be known of the records of a publication.
    pub fn read(data: &Dataset, binding: &Binding, view: &View<'_>, observer: &dyn Observer) -> Result<Self> {
        let emptiness = view.emptiness();
        let columns = Columns::new(data, binding, emptiness);
        let absence = if view.negative.is_empty() {
            Absence::default()
        } else {
            Absence::new(&columns.items, &columns.used(data, observer)?, binding, view, observer)?
        };
        let related = view.relations.is_some();
        let by_nodes = related && (view.guard || view.relations == Some(Reading::Embedded));
        let sheet = Sheet { items: columns.items.len(), absence: &absence, related };
        let blocks = |one: &(dyn Fn(&mut Block, &mut Scratch, usize) + Sync)| -> Result<Vec<Block>> {
            (0..data.len().div_ceil(BLOCK))
                .into_par_iter()
                .map_init(Scratch::default, |scratch, block| {
                    let mut out = Block::default();
                    for record in block * BLOCK..data.len().min((block + 1) * BLOCK) {
                        observer.go_on()?;
                        one(&mut out, scratch, record);
                    }
                    Ok(out)
                })
                .collect()
        };
        let mut records = if by_nodes {
            let trees = match view.united {
                true => Trees::new(data, binding, view.root, Payload::Drop, emptiness, observer)?,
                false => Trees::of_rows(data, binding, view.root, emptiness, observer)?,
            };
            let inferred = match view.guard {
                true => Inferred::new(&trees, &with_sections(binding), view.root, observer)?,
                false => Inferred::default(),
            };
            let embedded = view.relations == Some(Reading::Embedded);
            let blocks = blocks(&|out, scratch, record| {
                scratch.read_tree(&trees, &inferred, record);
                sheet.add(out, scratch, embedded);
            })?;
            join(blocks, related, embedded.then_some(inferred))
        } else {
            let separate = view.root == RootMode::Separate;
            let blocks = blocks(&|out, scratch, record| {
                scratch.read_vertices(data, &columns, record, related, separate);
                sheet.add(out, scratch, false);
                if view.multiset {
                    out.counts.extend_from_slice(&scratch.counts);
                    out.counts.resize(out.items.len(), 0);
                }
            })?;
            if view.multiset {
                return Ok(join_multisets(blocks, &columns.items, &absence));
            }
            join(blocks, related, None)
        };
        records.known = columns.items.iter().map(|item| known(item, None)).collect();
        records.known.extend(absence.values(&columns.items));
        Ok(records)
    }
}

fn known(item: &Item, count: Option<u32>) -> Known {
    Known { declared: item.declared, label: item.label.clone(), count, absent: false }
}

/// One record while it is read.
#[derive(Default)]
struct Scratch {
    /// Distinct items, ascending.
    items: Vec<u32>,
    /// How often each occurs.
    counts: Vec<u32>,
    /// Pairs of related items.
    related: Vec<(u32, u32)>,
    /// Per item its nodes as (item, preorder, end), sorted.
    nodes: Vec<(u32, u32, u32)>,
    path: Vec<u32>,
    ends: Vec<usize>,
    /// Where each item of the record stands; other items' places are left over from earlier records.
    position: Vec<u32>,
}

impl Scratch {
    fn read_vertices(
        &mut self,
        data: &Dataset,
        columns: &Columns,
        record: usize,
        related: bool,
        separate: bool,
    ) {
        let vertices = data.vertices(record);
        let first = vertices.start;
        self.items.clear();
        self.related.clear();
        self.path.clear();
        self.ends.clear();
        for vertex in vertices {
            // In preorder the path down to a vertex's parent still stands when the vertex comes.
            self.path.truncate(data.parent(vertex).map_or(0, |p| self.ends[p - first]));
            let apart = !related || (separate && data.class(vertex) == ClassId::ROOT);
            columns.of_vertex(data, vertex, |item| {
                self.items.push(item);
                if !apart {
                    self.related.extend(self.path.iter().map(|&above| (above, item)));
                    self.path.push(item);
                }
            });
            self.ends.push(self.path.len());
        }
        self.items.sort_unstable();
        self.counts.clear();
        self.counts.extend(self.items.chunk_by(|a, b| a == b).map(|run| run.len() as u32));
        self.items.dedup();
    }

    fn read_tree(&mut self, trees: &Trees, inferred: &Inferred, record: usize) {
        let nodes = trees.nodes(record);
        self.nodes.clear();
        self.nodes.extend(nodes.clone().map(|n| (trees.item(n), n as u32, trees.end(n) as u32)));
        self.nodes.sort_unstable();
        self.items.clear();
        self.items.extend(self.nodes.iter().map(|n| n.0));
        self.items.dedup();
        self.related.clear();
        for node in nodes.clone() {
            self.related.extend(trees.above(node).map(|above| (trees.item(above), trees.item(node))));
        }
        self.related.extend(inferred.of(nodes).map(|(a, b)| (trees.item(a), trees.item(b))));
    }
}

/// Some records, one after the other.
#[derive(Default)]
struct Block {
    lengths: Vec<u32>,
    items: Vec<u32>,
    counts: Vec<u32>,
    related: Vec<u64>,
    unrelated: Vec<u64>,
    node_counts: Vec<u32>,
    spans: Vec<(u32, u32)>,
}

/// What is the same for all records.
struct Sheet<'a> {
    items: usize,
    absence: &'a Absence,
    related: bool,
}

impl Sheet<'_> {
    fn add(&self, out: &mut Block, scratch: &mut Scratch, nodes: bool) {
        let own = &scratch.items;
        let start = out.items.len();
        out.items.extend_from_slice(own);
        let absent = (self.absence.items.iter().enumerate()).filter(|(_, i)| own.binary_search(i).is_err());
        out.items.extend(absent.map(|(at, _)| (self.items + at) as u32));
        let count = out.items.len() - start;
        out.lengths.push(count as u32);
        if !self.related {
            return;
        }
        let words = count.div_ceil(64);
        let base = out.related.len();
        out.related.resize(base + words * count, 0);
        scratch.position.resize(self.items, 0);
        own.iter().zip(0..).for_each(|(&item, at)| scratch.position[item as usize] = at);
        for &(a, b) in &scratch.related {
            let (a, b) = (scratch.position[a as usize] as usize, scratch.position[b as usize] as usize);
            out.related[base + a * words + b / 64] |= 1 << (b % 64);
            out.related[base + b * words + a / 64] |= 1 << (a % 64);
        }
        if !self.absence.pairs.is_empty() {
            out.unrelated.resize(base + words * count, 0);
            for b in 1..own.len() {
                for a in 0..b {
                    let related = out.related[base + a * words + b / 64] >> (b % 64) & 1 == 1;
                    if !related && self.absence.pairs.contains(&(own[a], own[b])) {
                        out.unrelated[base + a * words + b / 64] |= 1 << (b % 64);
                        out.unrelated[base + b * words + a / 64] |= 1 << (a % 64);
                    }
                }
            }
        }
        if nodes {
            out.node_counts.extend(scratch.nodes.chunk_by(|a, b| a.0 == b.0).map(|run| run.len() as u32));
            out.node_counts.resize(out.items.len(), 0);
            out.spans.extend(scratch.nodes.iter().map(|n| (n.1, n.2)));
        }
    }
}

/// Puts blocks together. Their items are numbered alike already.
fn join(blocks: Vec<Block>, related: bool, embedded: Option<Inferred>) -> Records {
    let records: usize = blocks.iter().map(|b| b.lengths.len()).sum();
    let mut first = Vec::with_capacity(records + 1);
    first.push(0);
    let mut first_word = Vec::with_capacity(if related { records } else { 0 });
    let (mut items, mut words) = (0, 0);
    for &length in blocks.iter().flat_map(|b| &b.lengths) {
        let length = length as usize;
        if related {
            first_word.push(words);
        }
        items += length;
        words += length * length.div_ceil(64);
        first.push(items);
    }
    let mut all = Records {
        first,
        items: Vec::with_capacity(items),
        relations: related.then(|| Relations {
            first_word,
            related: Vec::with_capacity(words),
            unrelated: Vec::new(),
            nodes: embedded.map(|inferred| Nodes { first: vec![0], spans: Vec::new(), inferred }),
        }),
        known: Vec::new(),
    };
    for block in blocks {
        all.items.extend_from_slice(&block.items);
        let Some(relations) = &mut all.relations else {
            continue;
        };
        relations.related.extend_from_slice(&block.related);
        relations.unrelated.extend_from_slice(&block.unrelated);
        if let Some(nodes) = &mut relations.nodes {
            let mut end = nodes.spans.len() as u32;
            nodes.first.extend(block.node_counts.iter().map(|count| {
                end += count;
                end
            }));
            nodes.spans.extend_from_slice(&block.spans);
        }
    }
    all
}

/// The same where an item is a value with its count: numbered by value, then by count.
fn join_multisets(blocks: Vec<Block>, items: &[Item], absence: &Absence) -> Records {
    let counted = |b: &Block| b.items.iter().copied().zip(b.counts.iter().copied()).collect::<Vec<_>>();
    let is_value = |&(item, _): &(u32, u32)| (item as usize) < items.len();
    let mut pairs: Vec<(u32, u32)> = blocks.iter().flat_map(counted).filter(is_value).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let number: FxHashMap<(u32, u32), u32> = pairs.iter().copied().zip(0..).collect();
    let blocks = blocks
        .into_iter()
        .map(|mut block| {
            for (item, &count) in block.items.iter_mut().zip(&block.counts) {
                *item = match number.get(&(*item, count)) {
                    Some(&number) => number,
                    None => (pairs.len() + *item as usize - items.len()) as u32,
                };
            }
            block
        })
        .collect();
    let mut records = join(blocks, false, None);
    let value = |&(item, count): &(u32, u32)| known(&items[item as usize], Some(count));
    records.known = pairs.iter().map(value).collect();
    records.known.extend(absence.values(items));
    records
}
