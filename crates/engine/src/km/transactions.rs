//! The records as sets of leaves.

use std::ops::Range;
use std::sync::Arc;

use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::Negative;
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::Params;
use super::tree::{Node, ROOT, Tree};

/// The records as sets of leaves of one hierarchy, in flat arrays, with the support of every node.
#[derive(Clone, Debug)]
pub struct Transactions {
    pub(super) tree: Arc<Tree>,
    /// Sensitive leaves, by position, ascending.
    pub(super) sensitive: Arc<Vec<u32>>,
    /// Their labels.
    secret_labels: Arc<Vec<String>>,
    /// Per leaf position whether its absence counts as knowledge.
    pub(super) listed: Arc<Vec<bool>>,
    quasi: Rows,
    /// Per record indices into `sensitive`.
    secrets: Rows,
    /// Per node the records that have a quasi leaf of it.
    support: Vec<u32>,
    /// Per node the occurrences of its quasi leaves.
    occurrences: Vec<u64>,
}

/// Records that are touched before their turn.
const AHEAD: usize = 16;

/// Records that are gone through before somebody asks whether to go on, where that would take as long as a record does.
pub(super) const STRIDE: usize = 64;

/// Lists of numbers, one per record, one after the other.
#[derive(Clone, Debug, Default)]
struct Rows {
    start: Vec<u32>,
    values: Vec<u32>,
}

impl Rows {
    fn new() -> Self {
        Rows { start: vec![0], values: Vec::new() }
    }

    fn close(&mut self) {
        self.start.push(self.values.len() as u32);
    }

    fn row(&self, record: usize) -> &[u32] {
        &self.values[self.start[record] as usize..self.start[record + 1] as usize]
    }
}

impl Transactions {
    /// Lays the records over the hierarchy of their only quasi attribute.
    pub fn new(
        trees: &ValueTrees,
        hierarchies: &[Option<Hierarchy>],
        params: &Params,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let hierarchy = the_hierarchy(trees, hierarchies)?;
        let Some(hierarchy) = hierarchy else {
            return Err(nothing_left("the records hold no item"));
        };
        let (sensitive, listed) = special(hierarchy, params)?;
        let leaf_of: Vec<u32> = (trees.items().iter())
            .map(|item| {
                let leaf = hierarchy.leaf(&item.label).expect("the hierarchy covers all values");
                hierarchy.leaves(leaf).start
            })
            .collect();
        let mut secret_of = vec![None; hierarchy.leaf_count()];
        sensitive.iter().enumerate().for_each(|(i, &leaf)| secret_of[leaf as usize] = Some(i as u32));
        let (mut quasi, mut secrets) = (Rows::new(), Rows::new());
        for record in 0..trees.len() {
            if record.is_multiple_of(STRIDE) {
                observer.go_on()?;
            }
            let first = quasi.values.len();
            for node in trees.nodes(record) {
                let leaf = leaf_of[trees.item(node) as usize];
                match secret_of[leaf as usize] {
                    Some(secret) => secrets.values.push(secret),
                    None => quasi.values.push(leaf),
                }
            }
            // Items of different kinds may share a leaf.
            tidy(&mut quasi.values, first);
            let first = secrets.start[record] as usize;
            tidy(&mut secrets.values, first);
            quasi.close();
            secrets.close();
        }
        let labels = sensitive.iter().map(|&p| hierarchy.label(hierarchy.leaf_node(p)).to_owned()).collect();
        let mut data = Transactions {
            support: Vec::new(),
            occurrences: Vec::new(),
            tree: Arc::new(Tree::new(hierarchy)),
            sensitive: Arc::new(sensitive),
            secret_labels: Arc::new(labels),
            listed: Arc::new(listed),
            quasi,
            secrets,
        };
        data.count(observer)?;
        Ok(data)
    }

    /// Other records over the same hierarchy.
    fn with(&self, quasi: Rows, secrets: Rows, observer: &dyn Observer) -> Result<Self> {
        let mut data = Transactions {
            support: Vec::new(),
            occurrences: Vec::new(),
            tree: self.tree.clone(),
            sensitive: self.sensitive.clone(),
            secret_labels: self.secret_labels.clone(),
            listed: self.listed.clone(),
            quasi,
            secrets,
        };
        data.count(observer)?;
        Ok(data)
    }

    /// Records and occurrences per node, to be added up over parts.
    pub(crate) fn counts(&self) -> (Vec<u64>, Vec<u64>) {
        (self.support.iter().map(|&records| u64::from(records)).collect(), self.occurrences.clone())
    }

    /// No record over the same hierarchy, with the counts of all records wherever these are.
    pub(super) fn counted(&self, support: &[u64], occurrences: &[u64]) -> Result<Self> {
        let wide = || Failure::defect("there are more records than can be numbered");
        let narrow = |&records: &u64| u32::try_from(records).map_err(|_| wide());
        if support.len() != self.tree.len() || occurrences.len() != self.tree.len() {
            return Err(Failure::defect("parts that are counted together do not have one hierarchy"));
        }
        let mut none = self.clone();
        (none.quasi, none.secrets) = (Rows::new(), Rows::new());
        none.support = support.iter().map(narrow).collect::<Result<_>>()?;
        none.occurrences = occurrences.to_vec();
        Ok(none)
    }

    /// Some of the records that the counts are of: sets of leaves in any order, each from where `start` says. They are put in
    /// order where they are, since there may be many.
    pub(super) fn with_sets(
        &self,
        mut start: Vec<u32>,
        mut values: Vec<u32>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let records = start.len().saturating_sub(1);
        let (mut from, mut kept) = (0, 0);
        for record in 0..records {
            observer.go_on()?;
            let to = start[record + 1] as usize;
            values.copy_within(from..to, kept);
            start[record] = kept as u32;
            kept += tidied(&mut values[kept..kept + to - from]);
            from = to;
        }
        start[records] = kept as u32;
        values.truncate(kept);
        values.shrink_to_fit();
        start.shrink_to_fit();
        let secrets = Rows { start: vec![0; records + 1], values: Vec::new() };
        Ok(Transactions { quasi: Rows { start, values }, secrets, ..self.clone() })
    }

    /// Counts records and occurrences per node.
    fn count(&mut self, observer: &dyn Observer) -> Result<()> {
        let tree = &self.tree;
        self.support = vec![0; tree.len()];
        self.occurrences = vec![0; tree.len()];
        for record in 0..self.quasi.start.len() - 1 {
            if record.is_multiple_of(STRIDE) {
                observer.go_on()?;
            }
            let mut before = None;
            for &leaf in self.quasi.row(record) {
                let mut node = tree.leaf(leaf);
                self.occurrences[node as usize] += 1;
                // Up to the first node that the leaf before has counted.
                while before.is_none_or(|b| tree.leaves(node).start > b) {
                    self.support[node as usize] += 1;
                    if node == ROOT {
                        break;
                    }
                    node = tree.parent(node);
                }
                before = Some(leaf);
            }
        }
        for node in (1..tree.len()).rev() {
            let parent = tree.parent(node as Node) as usize;
            self.occurrences[parent] += self.occurrences[node];
        }
        Ok(())
    }

    /// Some of the records, as data of their own.
    pub(super) fn part(&self, records: &[u32], observer: &dyn Observer) -> Result<Self> {
        let (mut quasi, mut secrets) = (Rows::new(), Rows::new());
        for &record in records {
            observer.go_on()?;
            quasi.values.extend_from_slice(self.items(record));
            secrets.values.extend_from_slice(self.secrets(record));
            quasi.close();
            secrets.close();
        }
        self.with(quasi, secrets, observer)
    }

    /// The same records with the items of some leaves only.
    pub(super) fn projection(&self, leaves: &Range<u32>, observer: &dyn Observer) -> Result<Self> {
        let mut quasi = Rows::new();
        for record in 0..self.len() as u32 {
            observer.go_on()?;
            quasi.values.extend(self.items(record).iter().filter(|l| leaves.contains(l)));
            quasi.close();
        }
        let none = Rows { start: vec![0; self.len() + 1], values: Vec::new() };
        self.with(quasi, none, observer)
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.quasi.start.len() - 1
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The leaf positions of a record, ascending.
    pub(super) fn items(&self, record: u32) -> &[u32] {
        self.quasi.row(record as usize)
    }

    /// Goes through the leaf positions of some records. They lie anywhere in memory: touching some at once, before their
    /// turn, lets the waiting for them overlap.
    pub(super) fn visit(
        &self,
        mut records: impl Iterator<Item = u32>,
        observer: &dyn Observer,
        mut then: impl FnMut(&[u32]),
    ) -> Result<()> {
        let mut next = [0u32; AHEAD];
        loop {
            observer.go_on()?;
            let (mut known, mut touched) = (0, 0);
            for record in records.by_ref().take(AHEAD) {
                touched ^= self.items(record).first().copied().unwrap_or(0);
                next[known] = record;
                known += 1;
            }
            std::hint::black_box(touched);
            if known == 0 {
                return Ok(());
            }
            next[..known].iter().for_each(|&record| then(self.items(record)));
        }
    }

    /// How many items some records have, one after the other.
    pub(super) fn item_count(&self, records: &Range<u32>) -> usize {
        (self.quasi.start[records.end as usize] - self.quasi.start[records.start as usize]) as usize
    }

    /// All leaf positions, record after record.
    pub(super) fn all_items(&self) -> &[u32] {
        &self.quasi.values
    }

    /// Which of the sensitive items a record has.
    pub(super) fn secrets(&self, record: u32) -> &[u32] {
        self.secrets.row(record as usize)
    }

    /// The label of a sensitive item.
    pub(super) fn secret_label(&self, secret: usize) -> &str {
        &self.secret_labels[secret]
    }

    /// The records that have a leaf of the node.
    pub(super) fn support(&self, node: Node) -> u32 {
        self.support[node as usize]
    }

    /// How often the leaves of the node occur.
    pub(super) fn occurrences(&self, node: Node) -> u64 {
        self.occurrences[node as usize]
    }

    /// All occurrences, those of sensitive items included.
    pub(super) fn total(&self) -> u64 {
        self.occurrences(ROOT) + self.secrets.values.len() as u64
    }

    /// The most items of a record.
    pub(super) fn longest(&self) -> usize {
        self.quasi.start.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0) as usize
    }
}

fn tidy(values: &mut Vec<u32>, first: usize) {
    let kept = tidied(&mut values[first..]);
    values.truncate(first + kept);
}

/// Puts the values of a row in order, each once, at its beginning. How many there are.
fn tidied(row: &mut [u32]) -> usize {
    if row.is_sorted_by(|a, b| a < b) {
        return row.len();
    }
    row.sort_unstable();
    let mut kept = 0;
    for i in 0..row.len() {
        if i == 0 || row[i] != row[kept - 1] {
            row[kept] = row[i];
            kept += 1;
        }
    }
    kept
}

/// The only quasi attribute's hierarchy; none where no record holds a value.
pub(super) fn the_hierarchy<'a>(
    trees: &ValueTrees,
    hierarchies: &'a [Option<Hierarchy>],
) -> Result<Option<&'a Hierarchy>> {
    let mut declared: Vec<usize> = trees.items().iter().map(|i| i.declared).collect();
    declared.dedup();
    let mut problems: Vec<Diagnostic> = (declared.iter().skip(1))
        .map(|d| {
            Diagnostic::error(format!(
                "model `km` takes exactly one quasi attribute; attribute {} of the policy is another",
                d + 1
            ))
            .help("give it another role, or use model \"kmn\"")
        })
        .collect();
    let nested = (0..trees.len()).flat_map(|r| trees.nodes(r)).any(|n| trees.parent(n).is_some());
    if nested && problems.is_empty() {
        problems.push(
            Diagnostic::error(
                "model `km` takes sets; the values of the quasi attribute lie below each other",
            )
            .help("use model \"kmn\""),
        );
    }
    if !problems.is_empty() {
        return Err(Failure::all(Fault::Policy, problems));
    }
    Ok(declared.first().map(|&d| hierarchies[d].as_ref().expect("every quasi attribute has a hierarchy")))
}

/// The sensitive leaves, and per leaf whether its absence counts.
fn special(hierarchy: &Hierarchy, params: &Params) -> Result<(Vec<u32>, Vec<bool>)> {
    let mut problems = Vec::new();
    let mut known = |key: &str, label: &str, node: Option<NodeId>| {
        if node.is_none() {
            problems.push(
                Diagnostic::error(format!("`privacy.{key}` lists `{label}`, which is not in the hierarchy"))
                    .help("write it as the hierarchy does, or take it out"),
            );
        }
        node
    };
    let mut leaves_of = |label: &String| -> Range<u32> {
        let node = hierarchy.leaf(label).or_else(|| hierarchy.node(label));
        let node = node.filter(|&n| n != NodeId::ROOT || hierarchy.is_leaf(n));
        known("sensitive", label, node).map_or(0..0, |node| hierarchy.leaves(node))
    };
    let mut sensitive: Vec<u32> = params.sensitive.iter().flat_map(&mut leaves_of).collect();
    sensitive.sort_unstable();
    sensitive.dedup();
    let mut absent: Vec<&str> = Vec::new();
    for value in &params.negative {
        if let Negative::Value(label) = value {
            known("negative", label, hierarchy.node(label));
            absent.push(label);
        }
    }
    // A generalized item stands for its other leaves only, so a sensitive one among them keeps nobody from seeing that
    // all of these are absent.
    absent.extend(sensitive.iter().map(|&leaf| hierarchy.label(hierarchy.leaf_node(leaf))));
    let listed = hierarchy.listed(absent);
    if problems.is_empty() { Ok((sensitive, listed)) } else { Err(Failure::all(Fault::Policy, problems)) }
}

pub(super) fn nothing_left(what: &str) -> Failure {
    Failure::new(
        Fault::Unreachable,
        Diagnostic::error(format!("{what}: nothing would be published"))
            .help("ask for a smaller k or m, give the hierarchy more levels, or check the roles"),
    )
}
