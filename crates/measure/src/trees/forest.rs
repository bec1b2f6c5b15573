//! Value trees laid out for mining: relabelled, merged, without what is too rare to be in any pattern.

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::value_tree::ValueTrees;

const NONE: u32 = u32::MAX;

/// Trees in preorder. Labels are dense and in the order of the labels they stand for.
pub struct Forest {
    labels: Vec<u32>,
    item: Vec<u32>,
    end: Vec<u32>,
    record: Vec<u32>,
    rooted: bool,
}

impl Forest {
    /// The trees with each item replaced by its label; nodes whose item has none are taken out and their children go
    /// to the parent. Then equal siblings are merged, subtrees united, and last the nodes go whose label is in fewer
    /// than `min_support` records; what they kept apart stays apart.
    ///
    /// With `rooted` each record's root is a node too.
    pub fn new(
        trees: &ValueTrees,
        label: &[Option<u32>],
        min_support: usize,
        rooted: bool,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let labels = frequent_labels(trees, label, min_support, observer)?;
        let dense: Vec<Option<u32>> = (label.iter())
            .map(|l| l.and_then(|l| labels.binary_search(&l).ok()).map(|at| at as u32))
            .collect();
        let root_label = labels.len() as u32;
        let mut forest = Forest { labels, item: Vec::new(), end: Vec::new(), record: Vec::new(), rooted };
        let mut trie = Trie::default();
        for record in 0..trees.len() {
            observer.go_on()?;
            trie.fill(trees, label, &dense, record);
            let start = forest.item.len();
            if rooted {
                forest.push(root_label, record);
            }
            forest.append(&trie, record);
            if rooted {
                forest.end[start] = forest.item.len() as u32;
            }
        }
        Ok(forest)
    }

    fn push(&mut self, item: u32, record: usize) {
        self.item.push(item);
        self.end.push(NONE);
        self.record.push(record as u32);
    }

    fn append(&mut self, trie: &Trie, record: usize) {
        // A node stands on the stack twice: to enter it, then, with its place, to close it.
        let mut stack: Vec<(u32, Option<u32>)> = Vec::new();
        let enter = |first: u32, stack: &mut Vec<(u32, Option<u32>)>| {
            let mut child = first;
            while child != NONE {
                stack.push((child, None));
                child = trie.next[child as usize];
            }
        };
        enter(trie.first_root, &mut stack);
        while let Some((node, opened)) = stack.pop() {
            if let Some(place) = opened {
                self.end[place as usize] = self.item.len() as u32;
                continue;
            }
            if let Some(item) = trie.dense[node as usize] {
                stack.push((node, Some(self.item.len() as u32)));
                self.push(item, record);
            }
            enter(trie.first_child[node as usize], &mut stack);
        }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.item.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.item.is_empty()
    }

    /// Whether records' roots are nodes; their item is the one past the last label.
    pub fn rooted(&self) -> bool {
        self.rooted
    }

    /// What the items stand for, ascending.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The item of a node, an index into the labels.
    pub fn item(&self, node: u32) -> u32 {
        self.item[node as usize]
    }

    /// One past the last node below.
    pub fn end(&self, node: u32) -> u32 {
        self.end[node as usize]
    }

    /// The record of a node.
    pub fn record(&self, node: u32) -> u32 {
        self.record[node as usize]
    }
}

/// The labels in at least so many records, ascending.
fn frequent_labels(
    trees: &ValueTrees,
    label: &[Option<u32>],
    min_support: usize,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    let most = label.iter().flatten().max().map_or(0, |&l| l as usize + 1);
    let (mut support, mut last) = (vec![0usize; most], vec![usize::MAX; most]);
    for record in 0..trees.len() {
        observer.go_on()?;
        for node in trees.nodes(record) {
            if let Some(l) = label[trees.item(node) as usize]
                && last[l as usize] != record
            {
                last[l as usize] = record;
                support[l as usize] += 1;
            }
        }
    }
    let frequent = |l: &u32| support[*l as usize] > 0 && support[*l as usize] >= min_support;
    Ok((0..most as u32).filter(frequent).collect())
}

/// One record's tree while equal siblings are merged.
#[derive(Default)]
struct Trie {
    label: Vec<u32>,
    dense: Vec<Option<u32>>,
    first_child: Vec<u32>,
    next: Vec<u32>,
    first_root: u32,
    place: Vec<u32>,
}

impl Trie {
    fn fill(&mut self, trees: &ValueTrees, label: &[Option<u32>], dense: &[Option<u32>], record: usize) {
        self.label.clear();
        self.dense.clear();
        self.first_child.clear();
        self.next.clear();
        self.first_root = NONE;
        self.place.clear();
        let nodes = trees.nodes(record);
        let first = nodes.start;
        for node in nodes {
            let above = trees.parent(node).map_or(NONE, |p| self.place[p - first]);
            let item = trees.item(node) as usize;
            let place = label[item].map_or(above, |l| self.child(above, l, dense[item]));
            self.place.push(place);
        }
    }

    /// The child with this label, added if there is none.
    fn child(&mut self, above: u32, label: u32, dense: Option<u32>) -> u32 {
        let head = if above == NONE { self.first_root } else { self.first_child[above as usize] };
        let mut at = head;
        while at != NONE {
            if self.label[at as usize] == label {
                return at;
            }
            at = self.next[at as usize];
        }
        let new = self.label.len() as u32;
        self.label.push(label);
        self.dense.push(dense);
        self.first_child.push(NONE);
        self.next.push(head);
        if above == NONE {
            self.first_root = new;
        } else {
            self.first_child[above as usize] = new;
        }
        new
    }
}
