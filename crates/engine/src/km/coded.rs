//! Transactions at a cut, ready for counting.

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
    /// The most items of a transaction.
    pub(super) longest: usize,
}

/// Items from which on a transaction is long: it closes many pairs at once, so it is counted first.
const LONG: usize = 24;

/// Transactions that are touched before their turn.
const AHEAD: usize = 16;

impl Coded {
    fn over(codes: Codes, items: Vec<u32>) -> Self {
        Coded { nodes: codes.nodes, of_leaf: codes.of_leaf, items, row_of: Vec::new(), longest: 0 }
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

    /// Goes through the transactions that begin at some places, each with what follows it, as long as `then` wants more.
    /// They lie anywhere in memory: touching some at once, before their turn, lets the waiting for them overlap.
    pub(super) fn for_each(
        &self,
        mut places: impl Iterator<Item = u32>,
        mut then: impl FnMut(&[u32]) -> bool,
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
            if known == 0 || !next[..known].iter().all(|&place| then(&self.items[place as usize..])) {
                return;
            }
        }
    }

    /// The transactions.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.items.split_inclusive(|&c| c == END).map(|row| &row[..row.len() - 1])
    }
}
