//! Frequent embedded unordered subtrees.
//!
//! A choice of nodes of a tree, one of them above all others, is a tree itself: a is above b in it if a is above b in
//! the tree it was taken from. Such a tree, up to the order of siblings, is an **embedded subtree**; its support is
//! the number of records that have it. In a rooted forest the record's root is above all others, so that any choice
//! of values is a pattern.
//!
//! Patterns grow by their last node, as in SLEUTH (Zaki 2005): each is written in one canonical order of siblings,
//! and without its last node it is still in that order, so every pattern is reached exactly once. The patterns with
//! a common prefix are a class. A class keeps, for each occurrence of its prefix, the nodes that extend it to a
//! frequent pattern; the next larger class comes from joining these among themselves, by whether one is below the
//! other or both are apart. What is not frequent in a class is never looked at again in what grows from it.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::forest::Forest;

/// A node of a pattern: its depth in the pattern and its label.
pub type PatternNode = (u8, u32);

/// A frequent subtree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    /// Its nodes in preorder, of all orders of siblings the largest one. The record's root is left out.
    pub code: Vec<PatternNode>,
    /// How many records have it.
    pub support: u32,
}

impl Pattern {
    /// For each node the one above it.
    pub fn parents(&self) -> Vec<Option<usize>> {
        parents(&self.code)
    }
}

fn parents(code: &[PatternNode]) -> Vec<Option<usize>> {
    let above = |n: usize| (0..n).rev().find(|&p| code[p].0 < code[n].0);
    (0..code.len()).map(above).collect()
}

/// All subtrees with at most `most_nodes` nodes, the record's root not counted, that at least `min_support` records
/// have; sorted by code. `min_support` is at least 1, `most_nodes` at most 255.
pub fn frequent_subtrees(
    forest: &Forest,
    min_support: usize,
    most_nodes: usize,
    observer: &dyn Observer,
) -> Result<Vec<Pattern>> {
    let items = forest.labels().len() + usize::from(forest.rooted());
    let most = most_nodes + usize::from(forest.rooted());
    let mut miner = Miner {
        forest,
        items,
        min_support: min_support.max(1) as u32,
        most,
        counts: vec![0; items * most],
        last: vec![u32::MAX; items * most],
        touched: Vec::new(),
        code: Vec::new(),
        found: Vec::new(),
        observer,
    };
    if most_nodes > 0 && items > 0 {
        miner.run()?;
    }
    let mut found = miner.found;
    found.sort_unstable();
    Ok(found)
}

/// A node that extends an occurrence: attached below the pattern's node `pos`.
#[derive(Clone, Copy)]
struct Extension {
    pos: u32,
    item: u32,
    node: u32,
}

/// The frequent extensions of a prefix.
#[derive(Default)]
struct Class {
    /// Per occurrence of the prefix, one past its last extension.
    ends: Vec<usize>,
    extensions: Vec<Extension>,
    /// The patterns: where the last node is attached, its item, its support.
    members: Vec<(u32, u32, u32)>,
}

/// The occurrences of a pattern, by record, and what may be added to each of them as its last node.
trait Occurrences {
    fn len(&self) -> usize;
    fn extensions(&self, occurrence: usize, visit: impl FnMut(Extension));
}

/// A single node: all below it extends it.
struct Tops<'a> {
    forest: &'a Forest,
    nodes: &'a [u32],
}

impl Occurrences for Tops<'_> {
    fn len(&self) -> usize {
        self.nodes.len()
    }

    fn extensions(&self, occurrence: usize, mut visit: impl FnMut(Extension)) {
        let top = self.nodes[occurrence];
        for node in top + 1..self.forest.end(top) {
            visit(Extension { pos: 0, item: self.forest.item(node), node });
        }
    }
}

/// A class's prefix and one of its extensions: what else extended the prefix, below or apart from the new node.
struct Join<'a> {
    forest: &'a Forest,
    class: &'a Class,
    places: &'a [(u32, u32)],
    /// Which nodes of the prefix are above the new node.
    on_path: Vec<bool>,
    size: usize,
}

impl Occurrences for Join<'_> {
    fn len(&self) -> usize {
        self.places.len()
    }

    fn extensions(&self, occurrence: usize, mut visit: impl FnMut(Extension)) {
        let (of, x) = self.places[occurrence];
        let from = if of == 0 { 0 } else { self.class.ends[of as usize - 1] };
        let x_end = self.forest.end(x);
        for &extension in &self.class.extensions[from..self.class.ends[of as usize]] {
            let y = extension.node;
            if y > x && y < x_end {
                visit(Extension { pos: self.size as u32, ..extension });
            } else if (y >= x_end || self.forest.end(y) <= x) && self.on_path[extension.pos as usize] {
                visit(extension);
            }
        }
    }
}

struct Miner<'a> {
    forest: &'a Forest,
    items: usize,
    min_support: u32,
    most: usize,
    counts: Vec<u32>,
    last: Vec<u32>,
    touched: Vec<u32>,
    code: Vec<PatternNode>,
    found: Vec<Pattern>,
    observer: &'a dyn Observer,
}

impl Miner<'_> {
    fn run(&mut self) -> Result<()> {
        let forest = self.forest;
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); self.items];
        for node in 0..forest.len() as u32 {
            places[forest.item(node) as usize].push(node);
        }
        let from = if forest.rooted() { self.items - 1 } else { 0 };
        for item in from..self.items {
            let nodes = &places[item];
            self.code.push((0, item as u32));
            if !forest.rooted() {
                let mut records: Vec<u32> = nodes.iter().map(|&n| forest.record(n)).collect();
                records.dedup();
                self.emit(records.len() as u32);
            }
            if self.most > 1 {
                let class = self.class(&Tops { forest, nodes })?;
                self.grow(&class)?;
            }
            self.code.pop();
        }
        Ok(())
    }

    /// All patterns whose prefix is the class's.
    fn grow(&mut self, class: &Class) -> Result<()> {
        let size = self.code.len();
        let canonical: Vec<bool> = (class.members.iter())
            .map(|&(pos, item, support)| {
                self.code.push((self.code[pos as usize].0 + 1, item));
                let canonical = is_canonical(&self.code);
                if canonical {
                    self.emit(support);
                }
                self.code.pop();
                canonical
            })
            .collect();
        if size + 1 >= self.most {
            return Ok(());
        }
        let places = self.by_member(class)?;
        let above = parents(&self.code);
        for (member, &(pos, item, _)) in class.members.iter().enumerate() {
            if !canonical[member] {
                continue;
            }
            let mut on_path = vec![false; size];
            let mut at = Some(pos as usize);
            while let Some(node) = at {
                on_path[node] = true;
                at = above[node];
            }
            self.code.push((self.code[pos as usize].0 + 1, item));
            let next =
                self.class(&Join { forest: self.forest, class, places: &places[member], on_path, size })?;
            self.grow(&next)?;
            self.code.pop();
        }
        Ok(())
    }

    /// For each member of a class its occurrences: the prefix's occurrence and the last node.
    fn by_member(&mut self, class: &Class) -> Result<Vec<Vec<(u32, u32)>>> {
        let mut places: Vec<Vec<(u32, u32)>> = vec![Vec::new(); class.members.len()];
        // The counters are free between two counts; here they say which member is meant.
        for (member, &(pos, item, _)) in class.members.iter().enumerate() {
            self.counts[pos as usize * self.items + item as usize] = member as u32;
        }
        let mut from = 0;
        for (occurrence, &to) in class.ends.iter().enumerate() {
            self.observer.go_on()?;
            for extension in &class.extensions[from..to] {
                let member = self.counts[extension.pos as usize * self.items + extension.item as usize];
                places[member as usize].push((occurrence as u32, extension.node));
            }
            from = to;
        }
        for &(pos, item, _) in &class.members {
            self.counts[pos as usize * self.items + item as usize] = 0;
        }
        Ok(places)
    }

    /// The class of the present code. The extensions themselves are kept only if the class can grow.
    fn class(&mut self, occurrences: &impl Occurrences) -> Result<Class> {
        let (forest, items, observer) = (self.forest, self.items, self.observer);
        let Miner { counts, last, touched, .. } = self;
        for occurrence in 0..occurrences.len() {
            observer.go_on()?;
            occurrences.extensions(occurrence, |e| {
                let key = e.pos as usize * items + e.item as usize;
                let record = forest.record(e.node);
                if last[key] != record {
                    last[key] = record;
                    if counts[key] == 0 {
                        touched.push(key as u32);
                    }
                    counts[key] += 1;
                }
            });
        }
        let mut class = Class::default();
        touched.sort_unstable();
        for &key in touched.iter() {
            let support = counts[key as usize];
            if support >= self.min_support {
                let (pos, item) = (key as usize / items, key as usize % items);
                class.members.push((pos as u32, item as u32, support));
            }
        }
        if self.code.len() + 1 < self.most && !class.members.is_empty() {
            class.ends.reserve(occurrences.len());
            for occurrence in 0..occurrences.len() {
                observer.go_on()?;
                occurrences.extensions(occurrence, |e| {
                    if counts[e.pos as usize * items + e.item as usize] >= self.min_support {
                        class.extensions.push(e);
                    }
                });
                class.ends.push(class.extensions.len());
            }
        }
        for key in touched.drain(..) {
            counts[key as usize] = 0;
            last[key as usize] = u32::MAX;
        }
        Ok(class)
    }

    fn emit(&mut self, support: u32) {
        let labels = self.forest.labels();
        let root = usize::from(self.forest.rooted());
        let code = (self.code[root..].iter())
            .map(|&(depth, item)| (depth - root as u8, labels[item as usize]))
            .collect();
        self.found.push(Pattern { code, support });
    }
}

/// Whether no other order of siblings gives a larger code: next to each other, the left subtree's is never smaller.
fn is_canonical(code: &[PatternNode]) -> bool {
    let end = |n: usize| (n + 1..code.len()).find(|&m| code[m].0 <= code[n].0).unwrap_or(code.len());
    (0..code.len()).all(|left| {
        let right = end(left);
        right == code.len() || code[right].0 < code[left].0 || code[left..right] >= code[right..end(right)]
    })
}
