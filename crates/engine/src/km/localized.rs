//! Sets in which every occurrence has a label of its own, where that is finer than what a search has found.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::params::Params;
use super::recoding::Recoding;
use super::transactions::Transactions;
use super::tree::{Node, ROOT};
use crate::local::{self, Cells, Promise, Taxonomy};

/// Labels that occurrences have of their own, by record and leaf.
pub(super) type Own = FxHashMap<(u32, u32), Node>;

/// Lowers what can be lowered. What was left out may come back: at the root it shows nothing.
pub(super) fn refine(
    data: &Transactions,
    mut found: Recoding,
    params: &Params,
    observer: &dyn Observer,
) -> Result<Recoding> {
    let taxonomy = taxonomy(data);
    let mut cells = Cells::default();
    cells.first.push(0);
    {
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
    }
    let before = cells.label.clone();
    let promise = Promise::of_anything((params.k, params.m, 0), 1);
    local::refine(&mut cells, &taxonomy, (&promise, true), observer)?;
    if let Some(guess) = params.guess {
        local::cover(&mut cells, (&before, true), (&taxonomy, &promise), guess, observer)?;
    }
    let mut at = 0;
    for record in 0..data.len() as u32 {
        for &leaf in data.items(record) {
            let (old, new) = (before[at], cells.label[at]);
            if old != new {
                found.own.insert((record, leaf), new);
                found.loss -= super::cuts::cut::Loss::from(data.tree.weight(old) - data.tree.weight(new));
            }
            at += 1;
        }
    }
    Ok(found)
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
