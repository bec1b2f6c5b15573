//! Sets in which every occurrence has a label of its own, where that is finer than what a search has found.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::params::Params;
use super::recoding::Recoding;
use super::transactions::Transactions;
use super::tree::{Node, ROOT};
use crate::local::{self, Cells, Cover, Promise, Taxonomy};

/// Labels that occurrences have of their own, by record and leaf.
pub(super) type Own = FxHashMap<(u32, u32), Node>;

/// Lowers what can be lowered. What was left out may come back: at the root it shows nothing.
pub(super) fn refine(
    data: &Transactions,
    found: Recoding,
    params: &Params,
    observer: &dyn Observer,
) -> Result<Recoding> {
    let (taxonomy, promise) = (taxonomy(data), promise(params));
    let mut cells = cells(data, &found, observer)?;
    let before = cells.label.clone();
    local::refine(&mut cells, &taxonomy, (&promise, true), observer)?;
    if let Some(guess) = params.guess {
        let cut = Cover { cut: &before, is_sound: true, whole: false, told: &[] };
        local::cover(&mut cells, cut, (&taxonomy, &promise), guess, observer)?;
    }
    Ok(with_own(data, found, &before, &cells))
}

/// Raises what labels of parts would tell. A record stays as its labels say: none of them is above another. Where promises go beyond
/// what is counted here, nothing is raised.
pub(super) fn cover(
    data: &Transactions,
    found: Recoding,
    params: &Params,
    observer: &dyn Observer,
) -> Result<Recoding> {
    let Some(guess) = params.guess.filter(|_| params.l.is_none() && params.negative.is_empty()) else {
        return Ok(found);
    };
    let mut cells = cells(data, &found, observer)?;
    let before = cells.label.clone();
    let parts = Cover { cut: &before, is_sound: false, whole: true, told: &[] };
    local::cover(&mut cells, parts, (&taxonomy(data), &promise(params)), guess, observer)?;
    Ok(with_own(data, found, &before, &cells))
}

fn promise(params: &Params) -> Promise {
    Promise::of_anything((params.k, params.m, 0), 1)
}

/// The occurrences of all records with the nodes that stand for them.
fn cells(data: &Transactions, found: &Recoding, observer: &dyn Observer) -> Result<Cells> {
    let mut cells = Cells::default();
    cells.first.push(0);
    let place = found.places(data);
    for record in 0..data.len() {
        observer.go_on()?;
        for &leaf in data.items(record as u32) {
            cells.leaf.push(data.tree.leaf(leaf));
            cells.label.push(place(record, leaf).map_or(ROOT, |node| data.tree.lowest(node)));
            cells.above.push(local::NONE);
        }
        cells.first.push(cells.leaf.len() as u32);
    }
    Ok(cells)
}

/// The same with labels of their own where these have changed.
fn with_own(data: &Transactions, mut found: Recoding, before: &[Node], cells: &Cells) -> Recoding {
    let mut at = 0;
    for record in 0..data.len() as u32 {
        for &leaf in data.items(record) {
            let (old, new) = (before[at], cells.label[at]);
            if old != new {
                found.own.insert((record, leaf), new);
                let weight = |node| super::cuts::cut::Loss::from(data.tree.weight(node));
                found.loss = found.loss + weight(new) - weight(old);
            }
            at += 1;
        }
    }
    found
}

/// The hierarchy, in which nodes over a single leaf are that leaf.
fn taxonomy(data: &Transactions) -> Taxonomy {
    let tree = &data.tree;
    let all = tree.leaf_count().max(1) as f64;
    let above = |node: Node| {
        let mut parent = tree.parent(node);
        while parent != ROOT && tree.leaves(parent).len() == 1 {
            parent = tree.parent(parent);
        }
        parent
    };
    Taxonomy {
        parent: (0..tree.len() as Node).map(|node| if node == ROOT { ROOT } else { above(node) }).collect(),
        attribute: vec![0; tree.len()],
        loss: (0..tree.len() as Node).map(|node| tree.weight(node) as f64 / all).collect(),
        hidden: Some(ROOT),
    }
}
