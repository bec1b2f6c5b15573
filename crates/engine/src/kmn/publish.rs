//! Applying a cut and its rules to the records.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use bosket_model::hierarchy::ROOT_LABEL;
use bosket_model::observe::Observer;
use bosket_model::value_tree::{Item, PayloadAt, RecordTree, ValueTrees};
use bosket_model::{Kind, Result};

use super::Attempt;
use super::domain::{Domain, Node};
use super::problem::Solution;
use super::structure::{How, Rule, take_apart};
use super::violations::Pair;

/// Records that one thread works on at a time.
const CHUNK: usize = 4096;

/// The value trees that a solution makes of the input.
pub(super) fn publish(
    attempt: &Attempt<'_>,
    domain: &Domain<'_>,
    solution: &Solution,
    observer: &dyn Observer,
) -> Result<ValueTrees> {
    let trees = attempt.trees;
    let (items, number) = published_items(attempt, domain, &solution.cut);
    let above_item = domain.assign_all(&solution.cut);
    let rules = by_pair(&solution.rules);
    let gone = gone_with_their_rows(trees, &items);
    let chunks: Vec<usize> = (0..trees.len()).step_by(CHUNK).collect();
    let parts: Result<Vec<ValueTrees>> = (chunks.par_iter())
        .map(|&from| {
            let mut out = ValueTrees::over(items.clone());
            let mut tree = RecordTree::default();
            let mut paths = Paths { domain, rules: &rules, number: &number, known: FxHashMap::default() };
            for record in from..(from + CHUNK).min(trees.len()) {
                observer.go_on()?;
                tree.clear();
                rewrite_record((trees, &gone), record, &above_item, &mut paths, &mut tree);
                out.append(&mut tree);
            }
            Ok(out)
        })
        .collect();
    let mut out = ValueTrees::over(items);
    parts?.into_iter().for_each(|part| out.extend(part));
    Ok(out)
}

/// `gone` tells the homes of which nothing is published beside quasi values.
fn rewrite_record(
    (trees, gone): (&ValueTrees, &[bool]),
    record: usize,
    above_item: &[Option<Node>],
    paths: &mut Paths<'_>,
    tree: &mut RecordTree,
) {
    // The published values above a node, itself included.
    let chain = |node: usize| -> Vec<Node> {
        let up = std::iter::successors(Some(node), |&n| trees.parent(n));
        let mut chain: Vec<Node> = up.filter_map(|n| above_item[trees.item(n) as usize]).collect();
        chain.reverse();
        chain
    };
    for leaf in trees.nodes(record).filter(|&n| trees.end(n) == n + 1) {
        for path in &paths.of(chain(leaf), None).values {
            path.iter().fold(RecordTree::ROOT, |at, &item| tree.child(at, item));
        }
    }
    let stays = |payload: &&PayloadAt| gone.get(payload.home) != Some(&true);
    for payload in trees.payloads(record).iter().filter(stays) {
        let at = payload.node.map_or(RecordTree::ROOT, |node| {
            // Whatever hangs below a value goes where the first path through it leads.
            let leaf = (node as usize..).find(|&n| trees.end(n) == n + 1).unwrap_or(node as usize);
            let below = chain(node as usize).len();
            let path = &paths.of(chain(leaf), Some(below)).below;
            path.iter().fold(RecordTree::ROOT, |at, &item| tree.child(at, item))
        });
        tree.payload(at, payload.home, payload.values.clone());
    }
}

/// What rules make of paths; the same ones come again and again.
struct Paths<'a> {
    domain: &'a Domain<'a>,
    rules: &'a Rules,
    number: &'a FxHashMap<Node, u32>,
    known: FxHashMap<(Vec<Node>, Option<usize>), Rewritten>,
}

/// A path after all rules, as items from the root down.
struct Rewritten {
    /// The paths it has become; what is the beginning of another one is left out.
    values: Vec<Vec<u32>>,
    /// The path to what hangs below one of its values.
    below: Vec<u32>,
}

impl Paths<'_> {
    fn of(&mut self, chain: Vec<Node>, below: Option<usize>) -> &Rewritten {
        let Paths { domain, rules, number, known } = self;
        known.entry((chain, below)).or_insert_with_key(|(chain, below)| {
            // A place for what hangs below a value; no rule is about it.
            let place = below.unwrap_or(chain.len());
            let mut all = chain.clone();
            all.insert(place, PLACE);
            let above = rewrite(&all, rules, domain);
            let items = |mask: u64| -> Vec<u32> {
                (all.iter().enumerate()).filter(|(i, _)| mask >> i & 1 == 1).map(|(_, n)| number[n]).collect()
            };
            let own = |j: usize| above[j] & !(1 << place) | 1 << j;
            let values = (0..all.len()).filter(|&j| j != place);
            let is_end = |j: usize| values.clone().all(|c| c == j || above[c] >> j & 1 == 0);
            let ends = values.clone().filter(|&j| is_end(j));
            Rewritten { values: ends.map(|j| items(own(j))).collect(), below: items(above[place]) }
        })
    }
}

/// No node.
const PLACE: Node = Node::MAX;

/// Rules by what they part, with their order.
pub(super) type Rules = FxHashMap<Pair, (u32, How)>;

pub(super) fn by_pair(rules: &[Rule]) -> Rules {
    rules.iter().enumerate().map(|(i, rule)| (rule.pair, (i as u32, rule.how))).collect()
}

/// The ancestors of each position of a path after all rules in their order.
pub(super) fn rewrite(path: &[Node], rules: &Rules, domain: &Domain<'_>) -> Vec<u64> {
    let mut above: Vec<u64> = (0..path.len()).map(|j| (1u64 << j) - 1).collect();
    let mut apply: Vec<(u32, usize, usize, How)> = Vec::new();
    for j in 1..path.len() {
        for i in 0..j {
            apply.extend(rules.get(&(path[i], path[j])).map(|&(order, how)| (order, i, j, how)));
        }
    }
    apply.sort_unstable_by_key(|a| a.0);
    for (_, i, j, how) in apply {
        if above[j] >> i & 1 == 1 {
            take_apart(&mut above, (i, j), how, domain.lost_from(path, i));
        }
    }
    above
}

/// Per home whether rows of which nothing quasi is published go with what stands beside, as they would be seen to be empty;
/// nothing where empty places do not count.
pub(super) fn gone_with_their_rows(trees: &ValueTrees, items: &[Item]) -> Vec<bool> {
    let published: FxHashSet<usize> = items.iter().map(|item| item.declared).collect();
    trees.places().map_or(Vec::new(), |places| places.seen_empty(|declared| published.contains(&declared)))
}

/// The items of a publication. An attribute of which anything is generalized is text. Empty places keep the label that is
/// never written; where somebody was emptied, all of an attribute's are `*`, so that nobody can tell them apart.
pub(super) fn published_items(
    attempt: &Attempt<'_>,
    domain: &Domain<'_>,
    cut: &[Node],
) -> (Vec<Item>, FxHashMap<Node, u32>) {
    let trees = attempt.trees;
    let emptied: Vec<Node> = match attempt.emptied {
        None => Vec::new(),
        Some(_) => trees.empty_tops().iter().map(|&item| domain.leaf_of_item(item)).collect(),
    };
    // The label of an inner node would say that it may be anything below: such a value is published by the label of its
    // leaf.
    let is_inner = |node: Node, label: &str| domain.levels[domain.level_of(node)].hierarchy.is_inner(label);
    let original: FxHashMap<Node, (&str, Kind)> = trees
        .items()
        .iter()
        .enumerate()
        .map(|(i, item)| (domain.leaf_of_item(i as u32), (item.label.as_str(), item.kind)))
        .filter(|&(node, (label, _))| !is_inner(node, label) && !emptied.contains(&node))
        .collect();
    let mut whole = vec![true; domain.levels.len()];
    cut.iter().for_each(|&node| whole[domain.level_of(node)] &= original.contains_key(&node));
    let mut items: Vec<(Item, Node)> = (cut.iter())
        .map(|&node| {
            let level = domain.level_of(node);
            let (label, kind) = match original.get(&node) {
                Some(&(label, kind)) if whole[level] => (label, kind),
                None if emptied.contains(&node) => (ROOT_LABEL, Kind::Text),
                _ => (domain.label(node), Kind::Text),
            };
            (Item { declared: domain.levels[level].declared, label: label.to_owned(), kind }, node)
        })
        .collect();
    items.sort();
    let number = items.iter().enumerate().map(|(i, (_, node))| (*node, i as u32)).collect();
    (items.into_iter().map(|(item, _)| item).collect(), number)
}
