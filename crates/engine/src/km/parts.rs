//! `aa` on records that come in parts: each size of itemsets on a kernel of its own.
//!
//! What `aa` decides depends on supports up to k, and on how often items occur in all records, which are known as sums. A
//! kernel at a cut shows the first for that cut and all coarser ones. Itemsets of one and two are repaired on a kernel at
//! the leaves, larger ones on a kernel at the cut that the smaller ones left. Going down again at the end may lead below
//! the cut that the last kernel was made at: then what would be rare a step deeper is counted, a kernel is made that shows what is
//! left, and it begins anew.

use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::Part;
use super::algorithms::aa::all_of_size;
use super::cuts::cut::{Cut, DROPPED};
use super::cuts::improve::improve_above;
use super::cuts::search::Search;
use super::params::Params;
use super::publish::publish_part;
use super::recoding::Recoding;
use super::run::{limits, nothing_to_publish};
use super::transactions::{Transactions, nothing_left, the_hierarchy};
use super::tree::{Node, ROOT};
use crate::partition::{Frequencies, NO_LABEL, Passes, Steps, Taken};

const WHAT: [u8; 4] = *b"BkKm";
const VERSION: u8 = 1;

/// One cut for the records of all parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Per leaf its node; the root, or none, where it is not published.
    at: Vec<Node>,
    /// The nodes that records are published as.
    used: Vec<bool>,
    /// All of it in one place.
    pub part: Part,
    /// Normalized certainty penalty of the publication.
    pub ncp: f64,
    /// Items that are not published anywhere although they occur, by label. Private.
    pub suppressed: Vec<String>,
    /// How many occurrences of items are not published.
    pub suppressed_occurrences: u64,
    /// How many itemsets were repaired.
    pub repaired: u64,
}

/// Searches a cut for records of which `frame` has the items and none else.
pub fn search_parts(
    frame: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    all: &Frequencies,
    passes: &mut dyn Passes,
    observer: &dyn Observer,
) -> Result<Found> {
    let Some(hierarchy) = the_hierarchy(frame, hierarchies)? else {
        return Err(nothing_left("the records hold no item"));
    };
    if all.records < u64::from(params.k) {
        let what = format!("k = {} exceeds the number of records, {}", params.k, all.records);
        return Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help("ask for a smaller k")));
    }
    let none = Transactions::new(frame, hierarchies, params, observer)?;
    let none = none.counted(&all.support, &all.occurrences)?;
    let leaf_of: Vec<u32> = (frame.items().iter())
        .map(|item| hierarchy.leaves(hierarchy.leaf(&item.label).expect("covered")).start)
        .collect();
    let mut search = Parts { none: &none, leaf_of: &leaf_of, passes, observer };
    let (mut cut, mut repaired) = search.once(params)?;
    if params.suppress {
        // Greedy repairs with more to choose from may well end worse.
        let (plain, own) = search.once(&Params { suppress: false, ..params.clone() })?;
        if plain.total() <= cut.total() {
            (cut, repaired) = (plain, own);
        }
    }
    found(&none, hierarchy, params, &cut, repaired, observer)
}

struct Parts<'a, 'k> {
    /// No records, with the counts of all.
    none: &'a Transactions,
    leaf_of: &'a [u32],
    passes: &'k mut dyn Passes,
    observer: &'a dyn Observer,
}

impl Parts<'_, '_> {
    /// The records of a kernel at some places of the leaves.
    fn kernel(&mut self, at: &[Node], size: usize) -> Result<Transactions> {
        let label = |&leaf: &u32| match at[leaf as usize] {
            DROPPED | ROOT => NO_LABEL,
            node => node,
        };
        let labels: Vec<u32> = self.leaf_of.iter().map(label).collect();
        let kernel = self.passes.kernel(&labels, size)?;
        self.observer.decided(&format!(
            "a kernel for sets of {size}: {} records",
            bosket_model::words::count(kernel.len())
        ));
        let Taken::Sets { first, items: mut leaves } = kernel.records else { return Err(damaged()) };
        for item in &mut leaves {
            *item = *self.leaf_of.get(*item as usize).ok_or_else(damaged)?;
        }
        self.none.with_sets(first, leaves, self.observer)
    }

    /// One search, and how many itemsets it repaired.
    fn once(&mut self, params: &Params) -> Result<(Cut, u64)> {
        let bottom = Cut::bottom(self.none);
        // With one kernel for the smallest sizes a pass over all records is spared.
        let mut shown = params.m.min(2);
        let mut floor: Vec<Node> = bottom.at().to_vec();
        let mut data = self.kernel(&floor, shown)?;
        let (mut cut, mut repaired) = (bottom, 0);
        for size in 1..=params.m {
            if size > shown {
                floor = cut.at().to_vec();
                // No two kernels at once.
                drop(data);
                data = self.kernel(&floor, size)?;
                shown = size;
            }
            let mut search = Search::new(&data, cut, limits(params), self.observer);
            let any = size <= data.longest() && all_of_size(&mut search, size)?;
            repaired += search.repaired;
            cut = search.cut;
            if !any {
                break;
            }
        }
        if params.improve {
            cut = self.improve(params, cut, floor, data, shown)?;
        }
        Ok((cut, repaired))
    }

    /// Undoes what turned out unnecessary.
    fn improve(
        &mut self,
        params: &Params,
        cut: Cut,
        mut floor: Vec<Node>,
        mut data: Transactions,
        mut shown: usize,
    ) -> Result<Cut> {
        let tree = self.none.tree.clone();
        let mut stays = vec![false; tree.len()];
        loop {
            let mut search = Search::new(&data, cut.clone(), limits(params), self.observer);
            // A node is shown with its children where the kernel was made below it, for sets of all sizes.
            let below = |node: Node| {
                let leaves = tree.leaves(node);
                let mut own = leaves.map(|leaf| floor[leaf as usize]).filter(|&at| at != DROPPED);
                own.all(|at| at != node && tree.covers(node, at))
            };
            let is_shown = |node: Node| shown >= params.m && below(node);
            let mut unknown = improve_above(&mut search, None, &is_shown, &mut stays)?;
            if unknown.is_empty() {
                return Ok(search.cut);
            }
            let reached = search.cut;
            self.find_rare(params, &reached, &unknown, &mut stays)?;
            unknown.retain(|&node| !stays[node as usize]);
            if unknown.is_empty() {
                continue;
            }
            for node in unknown {
                for child in tree.children(node) {
                    for leaf in tree.leaves(child) {
                        // What the kernel shows already stays: it may be finer.
                        let finer = floor[leaf as usize] != node && tree.covers(node, floor[leaf as usize]);
                        if !reached.is_dropped(leaf) && !finer {
                            floor[leaf as usize] = child;
                        }
                    }
                }
            }
            drop(data);
            data = self.kernel(&floor, params.m)?;
            shown = params.m;
        }
    }

    /// Finds nodes of a cut that cannot go down, since a child would be rare with labels of the cut.
    fn find_rare(&mut self, params: &Params, cut: &Cut, nodes: &[Node], stays: &mut [bool]) -> Result<()> {
        if params.m < 3 {
            return Ok(());
        }
        let tree = &self.none.tree;
        let mut labels: Vec<Node> = cut.nodes().into_iter().filter(|&node| node != ROOT).collect();
        labels.sort_by_key(|&node| (std::cmp::Reverse(self.none.support(node)), node));
        let mut number = vec![NO_LABEL; tree.len()];
        labels.iter().enumerate().for_each(|(at, &node)| number[node as usize] = at as u32);
        let (mut children, mut finer) = (Vec::new(), vec![NO_LABEL; tree.leaf_count()]);
        for &node in nodes {
            for child in tree.children(node).filter(|&child| cut.occurrences(child) > 0) {
                for leaf in tree.leaves(child).filter(|&leaf| !cut.is_dropped(leaf)) {
                    finer[leaf as usize] = children.len() as u32;
                }
                children.push(node);
            }
        }
        let label = |&leaf: &u32| match cut.at()[leaf as usize] {
            DROPPED => NO_LABEL,
            node => number[node as usize],
        };
        let steps = Steps {
            k: params.k,
            labels: self.leaf_of.iter().map(label).collect(),
            finer: self.leaf_of.iter().map(|&leaf| finer[leaf as usize]).collect(),
        };
        let Some(rare) = self.passes.rare_steps(&steps)? else { return Ok(()) };
        children.iter().zip(rare).for_each(|(&node, rare)| stays[node as usize] |= rare);
        self.observer.decided(&format!(
            "of {} that might go down {} cannot",
            bosket_model::words::plural(nodes.len(), "node"),
            bosket_model::words::count(nodes.iter().filter(|&&node| stays[node as usize]).count())
        ));
        Ok(())
    }
}

fn found(
    none: &Transactions,
    hierarchy: &Hierarchy,
    params: &Params,
    cut: &Cut,
    repaired: u64,
    observer: &dyn Observer,
) -> Result<Found> {
    let recoding = Recoding::of_cut(none, cut, repaired);
    let (mut suppressed, mut lost) = (Vec::new(), 0);
    let mut used = vec![false; none.tree.len()];
    let place = recoding.places(none);
    for leaf in 0..none.tree.leaf_count() as u32 {
        let own = none.tree.leaf(leaf);
        let times = none.occurrences(own);
        match place(0, leaf) {
            Some(node) => used[none.tree.lowest(node) as usize] |= times > 0,
            None if times > 0 => {
                suppressed.push(hierarchy.label(NodeId(own)).to_owned());
                lost += times;
            }
            None => {}
        }
    }
    if lost == none.total() {
        return Err(nothing_to_publish(none, params, &recoding, observer)?);
    }
    let label = |&node: &Node| hierarchy.label(NodeId(node)).to_owned();
    let nodes = recoding.parts.iter().flatten().filter(|&&node| node != ROOT);
    Ok(Found {
        at: cut.at().to_vec(),
        used,
        part: Part { records: 0, cut: nodes.map(label).collect() },
        ncp: recoding.ncp(),
        suppressed,
        suppressed_occurrences: lost,
        repaired,
    })
}

/// What a cut makes of a part of the records.
pub fn recode(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    found: &Found,
    observer: &dyn Observer,
) -> Result<ValueTrees> {
    let Some(hierarchy) = the_hierarchy(trees, hierarchies)? else {
        return Err(nothing_left("the records hold no item"));
    };
    let data = Transactions::new(trees, hierarchies, params, observer)?;
    if found.at.len() != data.tree.leaf_count() || found.used.len() != data.tree.len() {
        return Err(damaged());
    }
    let mut nodes: Vec<Node> = found.at.iter().copied().filter(|&node| node != DROPPED).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let dropped = (0..found.at.len() as u32).filter(|&leaf| found.at[leaf as usize] == DROPPED).collect();
    let recoding = Recoding { parts: vec![nodes], dropped: vec![dropped], ..Recoding::default() };
    publish_part(trees, hierarchy, &data, &recoding, Some(found.used.clone()), observer)
}

impl Found {
    /// The cut as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.numbers(self.at.iter().map(|&node| u64::from(node)));
        out.numbers(self.used.iter().map(|&used| u64::from(used)));
        out.length(self.part.cut.len());
        self.part.cut.iter().for_each(|label| out.text(label));
        out.number(self.ncp.to_bits());
        out.length(self.suppressed.len());
        self.suppressed.iter().for_each(|label| out.text(label));
        out.number(self.suppressed_occurrences);
        out.number(self.repaired);
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let at = from.numbers()?.into_iter().map(|n| u32::try_from(n).map_err(|_| damaged()));
        let at = at.collect::<Result<_>>()?;
        let used = from.numbers()?.into_iter().map(|used| used != 0).collect();
        let texts = |from: &mut Reader<'_>| -> Result<Vec<String>> {
            (0..from.length()?).map(|_| Ok(from.text()?.to_owned())).collect()
        };
        let cut = texts(&mut from)?;
        let ncp = f64::from_bits(from.number()?);
        let suppressed = texts(&mut from)?;
        let found = Found {
            at,
            used,
            part: Part { records: 0, cut },
            ncp,
            suppressed,
            suppressed_occurrences: from.number()?,
            repaired: from.number()?,
        };
        from.end()?;
        Ok(found)
    }
}
