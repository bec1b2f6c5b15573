//! Pairs of nodes at or above the cut.
//!
//! The pairs of the cut are counted. The support of a pair with a node above the cut lies between the largest and the sum of
//! its children's, so nearly all of them follow; those whose bounds leave it open have to be looked up.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rayon::prelude::*;

use super::coded::{Coded, END};
use super::count::{Count, with_counter};
use crate::km::cuts::cut::Cut;
use crate::km::transactions::STRIDE;
use crate::km::tree::{Node, Tree};

/// A pair that is in some but perhaps fewer than k transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suspect {
    pub(crate) partner: Node,
    /// Whether its support is known to be below k, and not only suspected.
    pub(crate) certain: bool,
}

/// Bytes that the matrix of a cut takes, about.
pub(crate) fn bytes(cut: &Cut, k: u32) -> usize {
    let nodes = cut.nodes().len();
    let cell = if k < 128 {
        1
    } else if k < 32_768 {
        2
    } else {
        4
    };
    nodes.saturating_mul(nodes).saturating_mul(cell * 3 / 2 + 1)
}

/// Gives the partners of a node with which it is rare.
pub(crate) type Partners = Box<dyn FnMut(Node, &mut Vec<Suspect>)>;

/// Counts the pairs of the cut.
pub(crate) fn partners(coded: &Coded, cut: &Cut, k: u32, observer: &dyn Observer) -> Result<Partners> {
    with_counter!(k, boxed(coded, cut, k, observer))
}

fn boxed<C: Count + 'static>(coded: &Coded, cut: &Cut, k: u32, observer: &dyn Observer) -> Result<Partners> {
    let pairs = Pairs::<C>::new(coded, cut, k, observer)?;
    let mut row = vec![C::ZERO; pairs.tree.nodes.len()];
    Ok(Box::new(move |node, found| pairs.partners(node, &mut row, found)))
}

/// Supports of pairs: one row per node, one column per node of the cut.
struct Pairs<C> {
    k: C,
    /// How many nodes the cut has.
    n: usize,
    tree: Above,
    cells: Vec<C>,
}

/// The nodes at or above the cut: first those of the cut, then those above, children before parents.
struct Above {
    nodes: Vec<Node>,
    /// Per node its place in `nodes`.
    number: Vec<u32>,
    /// Per node above the cut its children.
    start: Vec<u32>,
    children: Vec<u32>,
    /// Per place the nodes of the tree below it.
    below: Vec<std::ops::Range<Node>>,
}

impl Above {
    fn new(at_cut: &[Node], tree: &Tree, is_above: impl Fn(Node) -> bool) -> Self {
        let mut above = Above {
            nodes: at_cut.to_vec(),
            number: vec![u32::MAX; tree.len()],
            start: vec![0],
            children: Vec::new(),
            below: Vec::new(),
        };
        at_cut.iter().enumerate().for_each(|(i, &node)| above.number[node as usize] = i as u32);
        for node in (1..tree.len() as Node).rev().filter(|&n| is_above(n)) {
            if above.number[node as usize] == u32::MAX {
                above.number[node as usize] = above.nodes.len() as u32;
                above.nodes.push(node);
                let children = tree.children(node).map(|c| above.number[c as usize]);
                above.children.extend(children.filter(|&c| c != u32::MAX));
                above.start.push(above.children.len() as u32);
            }
        }
        above.below = above.nodes.iter().map(|&node| tree.subtree(node)).collect();
        above
    }

    /// The children of the `i`th node above the cut.
    fn children(&self, i: usize) -> &[u32] {
        &self.children[self.start[i] as usize..self.start[i + 1] as usize]
    }
}

impl<C: Count> Pairs<C> {
    fn new(coded: &Coded, cut: &Cut, k: u32, observer: &dyn Observer) -> Result<Self> {
        let n = coded.nodes.len();
        let above = |node: Node| !cut.is_gone(node) && cut.occurrences(node) > 0;
        let tree = Above::new(&coded.nodes, &cut.tree, above);
        let mut cells = counted::<C>(coded, n, tree.nodes.len(), k, observer)?;
        mirror(&mut cells, n, observer)?;
        let k = C::new(k);
        for i in 0..tree.nodes.len() - n {
            let (done, row) = cells.split_at_mut((n + i) * n);
            for &child in tree.children(i) {
                observer.go_on()?;
                let below = &done[child as usize * n..][..n];
                for (sum, &cell) in row[..n].iter_mut().zip(below) {
                    *sum = add(*sum, cell, k);
                }
            }
        }
        Ok(Pairs { k, n, tree, cells })
    }

    fn partners(&self, node: Node, row: &mut [C], found: &mut Vec<Suspect>) {
        found.clear();
        let own = self.tree.number[node as usize] as usize;
        if own == u32::MAX as usize {
            return;
        }
        let n = self.n;
        row[..n].copy_from_slice(&self.cells[own * n..][..n]);
        for i in 0..self.tree.nodes.len() - n {
            let sum = self.tree.children(i).iter().fold(C::ZERO, |sum, &c| add(sum, row[c as usize], self.k));
            row[n + i] = sum;
        }
        for (i, &cell) in row.iter().enumerate() {
            if cell != C::ZERO && cell != C::ENOUGH {
                let partner = self.tree.nodes[i];
                if !self.tree.below[i].contains(&node) && !self.tree.below[own].contains(&partner) {
                    found.push(Suspect { partner, certain: cell < self.k });
                }
            }
        }
    }
}

/// The sum as far as it matters: enough if one is, at most k otherwise.
#[inline]
fn add<C: Count>(a: C, b: C, k: C) -> C {
    let sum = a.plus(b);
    if sum == C::ENOUGH { sum } else { sum.min(k) }
}

/// Side of the squares in which a matrix is mirrored, so that both of them stay in the cache.
const SQUARE: usize = 64;

/// Copies the upper half of an `n` by `n` matrix into the lower.
fn mirror<C: Count>(cells: &mut [C], n: usize, observer: &dyn Observer) -> Result<()> {
    for top in (0..n).step_by(SQUARE) {
        observer.go_on()?;
        for left in (top..n).step_by(SQUARE) {
            for i in top..(top + SQUARE).min(n) {
                for j in left.max(i + 1)..(left + SQUARE).min(n) {
                    cells[j * n + i] = cells[i * n + j];
                }
            }
        }
    }
    Ok(())
}

/// Items of transactions from which on several threads pay.
const LARGE: usize = 1 << 20;

/// The supports of the cut's pairs, in the upper half of an `n` by `n` matrix with room for other rows.
fn counted<C: Count>(
    coded: &Coded,
    n: usize,
    rows: usize,
    k: u32,
    observer: &dyn Observer,
) -> Result<Vec<C>> {
    let threads = rayon::current_num_threads();
    if threads == 1 || coded.items.len() < LARGE {
        return count_rows(&coded.items, n, rows, k, observer);
    }
    // Parted at ends of transactions.
    let mut parts: Vec<&[u32]> = Vec::new();
    let mut rest = coded.items.as_slice();
    while !rest.is_empty() {
        let about = (coded.items.len() / threads + 1).min(rest.len() - 1);
        let length = about + rest[about..].iter().position(|&c| c == END).map_or(0, |p| p + 1);
        let (part, after) = rest.split_at(length);
        parts.push(part);
        rest = after;
    }
    let count = |(i, part)| count_rows(part, n, if i == 0 { rows } else { n }, k, observer);
    let mut all = parts.into_par_iter().enumerate().map(count).collect::<Result<Vec<Vec<C>>>>()?;
    let mut sum = all.swap_remove(0);
    let k = C::new(k);
    for other in all {
        observer.go_on()?;
        for (a, b) in sum.iter_mut().zip(other) {
            let both = a.plus(b);
            *a = if both < k { both } else { C::ENOUGH };
        }
    }
    Ok(sum)
}

fn count_rows<C: Count>(
    items: &[u32],
    n: usize,
    rows: usize,
    k: u32,
    observer: &dyn Observer,
) -> Result<Vec<C>> {
    let mut cells = vec![C::ZERO; rows * n];
    let almost = C::new(k - 1);
    let (mut row, mut passed) = (Vec::new(), 0usize);
    for &item in items {
        if item == END {
            passed += 1;
            if passed.is_multiple_of(STRIDE) {
                observer.go_on()?;
            }
            row.clear();
            continue;
        }
        // Each item meets those before it, which have the larger numbers.
        let own = &mut cells[item as usize * n..][..n];
        for &other in &row {
            let cell = &mut own[other as usize];
            if *cell != C::ENOUGH {
                *cell = if *cell >= almost { C::ENOUGH } else { cell.plus(C::new(1)) };
            }
        }
        row.push(item);
    }
    Ok(cells)
}
