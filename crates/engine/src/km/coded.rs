//! Transactions at a cut, ready for counting.

use rustc_hash::{FxHashMap, FxHashSet};

use super::cut::{Cut, DROPPED};
use super::transactions::Transactions;
use super::tree::{Node, ROOT};

/// Stands behind the last item of each transaction.
pub(super) const END: u32 = u32::MAX;

/// No code: the leaf is not looked at.
const NONE: u32 = u32::MAX;

/// Which nodes are counted, and the number of each leaf's node among them.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    /// The nodes by falling support: what is popular lies together, and pairs are kept at their rarer member.
    pub(super) nodes: Vec<Node>,
    /// Per leaf position.
    pub(super) of_leaf: Vec<u32>,
}

impl Codes {
    /// The nodes to which `at` maps the leaves and that satisfy a condition.
    pub(super) fn new(data: &Transactions, cut: &Cut, at: &[Node], wanted: impl Fn(Node) -> bool) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        for &node in at {
            if node != DROPPED && node != ROOT && nodes.last() != Some(&node) {
                nodes.push(node);
            }
        }
        // Between the leaves of a node there may be dropped ones, but no others.
        nodes.retain(|&node| cut.occurrences(node) > 0 && wanted(node));
        nodes.sort_by_key(|&node| (std::cmp::Reverse(data.support(node)), node));
        let mut of_leaf = vec![NONE; at.len()];
        for (code, &node) in nodes.iter().enumerate() {
            for position in data.tree.leaves(node) {
                if at[position as usize] == node {
                    of_leaf[position as usize] = code as u32;
                }
            }
        }
        Codes { nodes, of_leaf }
    }
}

/// Transactions as runs of descending codes, the rarest first, each closed by [`END`].
#[derive(Clone, Debug)]
pub(super) struct Coded {
    pub(super) nodes: Vec<Node>,
    /// Per leaf position its code; [`END`] if it has none.
    pub(super) of_leaf: Vec<u32>,
    pub(super) items: Vec<u32>,
    /// Per record where its transaction begins, if that was asked for; [`END`] if it is left out.
    pub(super) row_of: Vec<u32>,
    /// Transactions that begin before this place stand for at least k equal ones.
    heavy: u32,
    /// The most items of a transaction.
    pub(super) longest: usize,
}

/// Items from which on a transaction is long: it closes many pairs at once, so it is counted first.
const LONG: usize = 24;

/// Transactions that are looked at to see whether many are equal.
const SAMPLE: usize = 1 << 14;

/// Transactions that are touched before their turn.
const AHEAD: usize = 16;

impl Coded {
    fn over(codes: Codes, items: Vec<u32>) -> Self {
        Coded { nodes: codes.nodes, of_leaf: codes.of_leaf, items, row_of: Vec::new(), heavy: 0, longest: 0 }
    }

    /// The transactions with at least `shortest` items.
    pub(super) fn new(data: &Transactions, codes: Codes, records: &[u32], shortest: usize) -> Self {
        let mut coded = Coded::over(codes, Vec::new());
        coded.fill(data, records.iter().copied(), shortest);
        coded
    }

    /// All transactions at a cut, with the nodes that are frequent by themselves.
    pub(super) fn at(data: &Transactions, cut: &Cut, k: u32, shortest: usize) -> Self {
        let codes = Codes::new(data, cut, cut.at(), |node| data.support(node) >= k);
        let items = Vec::with_capacity(data.all_items().len() + data.len());
        let mut coded = Coded::over(codes, items);
        coded.row_of = vec![END; data.len()];
        coded.fill(data, 0..data.len() as u32, shortest);
        coded
    }

    fn fill(&mut self, data: &Transactions, records: impl Iterator<Item = u32> + Clone, shortest: usize) {
        let of_leaf = std::mem::take(&mut self.of_leaf);
        for record in records.clone().filter(|&r| data.items(r).len() >= LONG) {
            self.push(record, data.items(record), &of_leaf, shortest);
        }
        for record in records.filter(|&r| (shortest..LONG).contains(&data.items(r).len())) {
            self.push(record, data.items(record), &of_leaf, shortest);
        }
        self.of_leaf = of_leaf;
    }

    fn push(&mut self, record: u32, leaves: &[u32], of_leaf: &[u32], shortest: usize) {
        let first = self.items.len();
        let (mut last, mut descending) = (NONE, true);
        for &leaf in leaves {
            let code = of_leaf[leaf as usize];
            // The leaves of a node are neighbours, so equal codes are, but for leaves that are not looked at.
            if code != NONE && code != last {
                descending &= last > code;
                self.items.push(code);
                last = code;
            }
        }
        let length = self.items.len() - first;
        if length < shortest.max(1) {
            self.items.truncate(first);
            return;
        }
        if !descending {
            self.items[first..].sort_unstable_by(|a, b| b.cmp(a));
        }
        self.longest = self.longest.max(length);
        self.items.push(END);
        if let Some(row) = self.row_of.get_mut(record as usize) {
            *row = first as u32;
        }
    }

    /// Over codes, with no transaction yet.
    pub(super) fn empty(nodes: Vec<Node>) -> Self {
        Coded::over(Codes { nodes, of_leaf: Vec::new() }, Vec::new())
    }

    /// Puts transactions that at least k records share first, once each, where there seem to be many of them: whatever is
    /// in one of them is frequent.
    pub(super) fn group_equal(&mut self, k: u32) {
        if !self.seems_repetitive() {
            return;
        }
        let mut times: FxHashMap<&[u32], u32> = FxHashMap::default();
        self.rows().for_each(|row| *times.entry(row).or_default() += 1);
        let mut items = Vec::with_capacity(self.items.len());
        let mut place: FxHashMap<&[u32], u32> = FxHashMap::default();
        for row in self.rows().filter(|row| times[row] >= k) {
            place.entry(row).or_insert_with(|| {
                items.extend_from_slice(row);
                items.push(END);
                (items.len() - row.len() - 1) as u32
            });
        }
        let heavy = items.len() as u32;
        let mut moved: FxHashMap<u32, u32> = FxHashMap::default();
        let mut at = 0;
        for row in self.rows() {
            let now = place.get(row).copied().unwrap_or_else(|| {
                items.extend_from_slice(row);
                items.push(END);
                (items.len() - row.len() - 1) as u32
            });
            moved.insert(at, now);
            at += row.len() as u32 + 1;
        }
        let row_of = self.row_of.iter().map(|row| moved.get(row).copied().unwrap_or(END)).collect();
        (self.items, self.row_of, self.heavy) = (items, row_of, heavy);
    }

    /// Whether some of the longer transactions in a sample are equal. Elsewhere they hardly ever are.
    fn seems_repetitive(&self) -> bool {
        let step = (self.items.len() / SAMPLE).max(1);
        let mut seen: FxHashSet<&[u32]> = FxHashSet::default();
        let mut equal = 0;
        let mut at = 0;
        while at < self.items.len() {
            let row = self.row_at(at);
            if row.len() >= 6 && !seen.insert(row) {
                equal += 1;
            }
            // From there on to the next beginning.
            let next = at + step.max(row.len() + 1);
            at = next
                + self
                    .items
                    .get(next - 1..)
                    .map_or(0, |rest| rest.iter().position(|&c| c == END).unwrap_or(rest.len()));
        }
        equal * 512 > seen.len() && equal >= 4
    }

    fn row_at(&self, place: usize) -> &[u32] {
        let rest = &self.items[place..];
        &rest[..rest.iter().position(|&c| c == END).unwrap_or(rest.len())]
    }

    /// Goes through the transactions that begin at some places, each with what follows it and whether it stands for k equal
    /// ones, as long as `then` wants more. They lie anywhere in memory: touching some at once, before their turn, lets the waiting for them overlap.
    pub(super) fn for_each(
        &self,
        mut places: impl Iterator<Item = u32>,
        mut then: impl FnMut(&[u32], bool) -> bool,
    ) {
        let mut next = [0u32; AHEAD];
        loop {
            let mut known = 0;
            let mut touched = 0;
            for place in places.by_ref().take(AHEAD) {
                touched ^= self.items[place as usize];
                next[known] = place;
                known += 1;
            }
            std::hint::black_box(touched);
            let mut go_on = |&place: &u32| then(&self.items[place as usize..], place < self.heavy);
            if known == 0 || !next[..known].iter().all(&mut go_on) {
                return;
            }
        }
    }

    /// The transactions.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.items.split_inclusive(|&c| c == END).map(|row| &row[..row.len() - 1])
    }
}
