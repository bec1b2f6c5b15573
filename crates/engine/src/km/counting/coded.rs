//! Transactions at a cut, ready for counting.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::km::cuts::cut::{Cut, DROPPED};
use crate::km::transactions::Transactions;
use crate::km::tree::{Node, ROOT};

/// Stands behind the last item of each transaction.
pub(crate) const END: u32 = u32::MAX;

/// No code: the leaf is not looked at.
const NONE: u32 = u32::MAX;

/// Which nodes are counted, and the number of each leaf's node among them.
#[derive(Clone, Debug)]
pub(crate) struct Codes {
    /// The nodes by falling support: what is popular lies together, and pairs are kept at their rarer member.
    pub(crate) nodes: Vec<Node>,
    /// Per leaf position.
    pub(super) of_leaf: Vec<u32>,
}

impl Codes {
    /// The nodes to which `at` maps the leaves and that satisfy a condition.
    pub(crate) fn new(data: &Transactions, cut: &Cut, at: &[Node], wanted: impl Fn(Node) -> bool) -> Self {
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
pub(crate) struct Coded {
    pub(crate) nodes: Vec<Node>,
    pub(crate) items: Vec<u32>,
    /// Transactions that begin before this place stand for at least k equal ones.
    heavy: u32,
    /// The most items of a transaction.
    pub(crate) longest: usize,
}

/// Items from which on a transaction is long: it closes many pairs at once, so it is counted first.
const LONG: usize = 24;

/// Records from which on several threads pay.
const SMALL: u32 = 1 << 14;

/// Transactions that are looked at to see whether many are equal.
const SAMPLE: usize = 1 << 14;

/// Transactions that are touched before their turn.
const AHEAD: usize = 16;

/// Transactions on their way, the long ones apart.
#[derive(Default)]
struct Rows {
    long: Vec<u32>,
    short: Vec<u32>,
    longest: usize,
}

impl Rows {
    /// The same with some records.
    fn filled(
        mut self,
        data: &Transactions,
        codes: &Codes,
        records: impl Iterator<Item = u32>,
        shortest: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        data.visit(records, observer, |leaves| {
            if leaves.len() >= shortest {
                self.push(leaves, &codes.of_leaf, shortest);
            }
        })?;
        Ok(self)
    }

    fn push(&mut self, leaves: &[u32], of_leaf: &[u32], shortest: usize) {
        let items = if leaves.len() >= LONG { &mut self.long } else { &mut self.short };
        let first = items.len();
        let (mut last, mut descending) = (NONE, true);
        for &leaf in leaves {
            let code = of_leaf[leaf as usize];
            // The leaves of a node are neighbours, so equal codes are, but for leaves that are not looked at.
            if code != NONE && code != last {
                descending &= last > code;
                items.push(code);
                last = code;
            }
        }
        let length = items.len() - first;
        if length < shortest.max(1) {
            items.truncate(first);
            return;
        }
        if !descending {
            items[first..].sort_unstable_by(|a, b| b.cmp(a));
        }
        self.longest = self.longest.max(length);
        items.push(END);
    }
}

impl Coded {
    /// The transactions with at least `shortest` items.
    pub(crate) fn new(
        data: &Transactions,
        codes: Codes,
        records: &[u32],
        shortest: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let part = (records.len() / rayon::current_num_threads() + 1).max(SMALL as usize);
        let rows =
            |part: &[u32]| Rows::default().filled(data, &codes, part.iter().copied(), shortest, observer);
        let parts: Result<Vec<Rows>> = records.par_chunks(part).map(rows).collect();
        Ok(Coded::joined(codes, parts?))
    }

    /// All transactions at a cut, with the nodes that are frequent by themselves.
    pub(crate) fn at(
        data: &Transactions,
        cut: &Cut,
        k: u32,
        shortest: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let codes = Codes::new(data, cut, cut.at(), |node| data.support(node) >= k);
        let records = data.len() as u32;
        let part = (records / rayon::current_num_threads() as u32 + 1).max(SMALL);
        let parts: Result<Vec<Rows>> = (0..records.div_ceil(part))
            .into_par_iter()
            .map(|number| {
                let own = number * part..records.min((number + 1) * part);
                // A list that grows is copied, which takes its room twice; what of it is not used takes none.
                let room = data.item_count(&own) + own.len();
                let rows = Rows { short: Vec::with_capacity(room), ..Rows::default() };
                rows.filled(data, &codes, own, shortest, observer)
            })
            .collect();
        Ok(Coded::joined(codes, parts?))
    }

    fn joined(codes: Codes, mut parts: Vec<Rows>) -> Self {
        let mut items = Vec::with_capacity(parts.iter().map(|rows| rows.long.len() + rows.short.len()).sum());
        let longest = parts.iter().map(|rows| rows.longest).max().unwrap_or(0);
        // What is copied is let go at once: there may be many.
        parts.iter_mut().for_each(|rows| items.append(&mut std::mem::take(&mut rows.long)));
        parts.into_iter().for_each(|mut rows| items.append(&mut rows.short));
        Coded { nodes: codes.nodes, items, heavy: 0, longest }
    }

    /// Lets the transactions go, which take much memory, and keeps the codes.
    pub(crate) fn forget_rows(&mut self) {
        self.items = Vec::new();
    }

    /// Over codes, with no transaction yet.
    pub(crate) fn empty(nodes: Vec<Node>) -> Self {
        Coded { nodes, items: Vec::new(), heavy: 0, longest: 0 }
    }

    /// Puts transactions that at least k records share first, once each, where there seem to be many of them: whatever is
    /// in one of them is frequent.
    pub(crate) fn group_equal(&mut self, k: u32, observer: &dyn Observer) -> Result<()> {
        if !self.seems_repetitive() {
            return Ok(());
        }
        let mut times: FxHashMap<&[u32], u32> = FxHashMap::default();
        for row in self.rows() {
            observer.go_on()?;
            *times.entry(row).or_default() += 1;
        }
        let (mut heavy, mut others) = (Vec::new(), Vec::new());
        for row in self.rows() {
            observer.go_on()?;
            let times = times.entry(row).or_default();
            let to = match *times {
                0 => continue,
                few if few < k => &mut others,
                _ => {
                    *times = 0;
                    &mut heavy
                }
            };
            to.extend_from_slice(row);
            to.push(END);
        }
        self.heavy = heavy.len() as u32;
        heavy.append(&mut others);
        self.items = heavy;
        Ok(())
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
    /// ones, as long as `then` wants more. They lie anywhere in memory: touching some at once, before their turn, lets the
    /// waiting for them overlap.
    pub(super) fn for_each(
        &self,
        mut places: impl Iterator<Item = u32>,
        observer: &dyn Observer,
        mut then: impl FnMut(&[u32], bool) -> bool,
    ) -> Result<()> {
        let mut next = [0u32; AHEAD];
        loop {
            observer.go_on()?;
            let mut known = 0;
            let mut touched = 0;
            for place in places.by_ref().take(AHEAD) {
                touched ^= self.items[place as usize];
                next[known] = place;
                known += 1;
            }
            std::hint::black_box(touched);
            let mut more = |&place: &u32| then(&self.items[place as usize..], place < self.heavy);
            if known == 0 || !next[..known].iter().all(&mut more) {
                return Ok(());
            }
        }
    }

    /// The transactions.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.items.split_inclusive(|&c| c == END).map(|row| &row[..row.len() - 1])
    }
}
