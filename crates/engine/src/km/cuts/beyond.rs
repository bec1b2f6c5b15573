//! What knowledge of items may not give away beyond the people: sensitive items, and what is known to be absent.
//!
//! Generalizing can raise the share of a sensitive item, and an absence at a higher node is rarer than at a lower one. So
//! neither is fixed for good by a repair: what the cut publishes is looked at again until nothing is wrong. The cut only
//! rises, and at the root nothing is known, so this ends.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::cut::{Cut, DROPPED};
use super::repair::best_replacement;
use super::search::{Limits, Search};
use crate::km::counting::coded::{Coded, END};
use crate::km::counting::rare::{Bounds, rare_sets};
use crate::km::transactions::Transactions;
use crate::km::tree::{Node, ROOT};

/// How often each sensitive item is among some records.
#[derive(Clone, Debug)]
pub(crate) struct Shares(Vec<u32>);

impl Shares {
    /// The shares among these records.
    pub(crate) fn of(data: &Transactions, records: &[u32]) -> Self {
        let mut counts = vec![0; data.sensitive.len()];
        records.iter().flat_map(|&r| data.secrets(r)).for_each(|&s| counts[s as usize] += 1);
        Shares(counts)
    }

    /// Whether none is over 1/l of so many records.
    pub(crate) fn hold(&self, l: f64, records: usize) -> bool {
        self.over(l, records).next().is_none()
    }

    /// How many of the records have a sensitive item.
    pub(crate) fn count(&self, item: usize) -> u32 {
        self.0[item]
    }

    /// The sensitive items that are, as indices.
    pub(crate) fn over(&self, l: f64, records: usize) -> impl Iterator<Item = usize> {
        // A share of exactly 1/l is allowed, also where l has no exact binary form.
        let most = records as f64 * (1.0 + 1e-12);
        self.0.iter().enumerate().filter(move |(_, count)| f64::from(**count) * l > most).map(|(i, _)| i)
    }

    fn is_zero(&self) -> bool {
        self.0.iter().all(|&c| c == 0)
    }
}

/// Items and absent items that somebody knows together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Known {
    present: Vec<Node>,
    absent: Vec<Node>,
}

impl Known {
    fn nodes(&self) -> Vec<Node> {
        self.present.iter().chain(&self.absent).copied().collect()
    }

    /// What is left of it when nodes are raised. Who knows that something is absent does not know that all of a node is
    /// when not all of it is listed, or when another item of his is below it.
    fn raised(&self, data: &Transactions, nodes: &[Node]) -> Known {
        let covers = |n: Node, of: &[Node]| of.iter().any(|&o| data.tree.covers(n, o));
        let known = nodes.iter().copied().filter(|&n| n != ROOT);
        let (present, others): (Vec<Node>, Vec<Node>) = known.partition(|&n| covers(n, &self.present));
        Known { present, absent: others.into_iter().filter(|&n| is_listed(data, n)).collect() }
    }
}

/// Whether the absence of all leaves of a node counts as knowledge.
pub(crate) fn is_listed(data: &Transactions, node: Node) -> bool {
    data.tree.leaves(node).all(|leaf| data.listed[leaf as usize])
}

/// Whether anything beyond plain k^m is asked for.
pub(crate) fn is_asked(data: &Transactions, l: Option<f64>) -> bool {
    l.is_some() || has_negative(data)
}

fn has_negative(data: &Transactions) -> bool {
    // Sensitive leaves count as listed, but alone they say nothing.
    data.listed.iter().filter(|l| **l).count() > data.sensitive.len()
}

/// Repairs, on a cut that is k^m-anonymous, what is not kept beyond that.
pub(crate) fn beyond(search: &mut Search<'_>, l: Option<f64>) -> Result<()> {
    let observer = search.observer;
    loop {
        observer.stage("sensitive and absent items", 1);
        let violating = violations(search, l, MANY)?;
        observer.advance(1);
        if violating.is_empty() {
            return Ok(());
        }
        for known in violating {
            observer.go_on()?;
            let at_cut = |&n: &Node| {
                let mut leaves = search.data.tree.leaves(n);
                leaves.any(|leaf| search.cut.at()[leaf as usize] == n)
            };
            if known.nodes().iter().all(at_cut) {
                repair(search, &known, l)?;
            }
        }
    }
}

/// Whether a cut keeps everything beyond plain k^m.
pub(super) fn holds(search: &Search<'_>, l: Option<f64>) -> Result<bool> {
    Ok(violations(search, l, 1)?.is_empty())
}

fn repair(search: &mut Search<'_>, known: &Known, l: Option<f64>) -> Result<()> {
    let set = known.nodes();
    let Search { data, limits, cut, tids, observer, .. } = search;
    let is_good = |nodes: &[Node]| {
        observer.go_on()?;
        let now = known.raised(data, nodes);
        if now.present.is_empty() && now.absent.is_empty() {
            return Ok(true);
        }
        let mut records = tids.shared(&now.present, cut)?;
        for &absent in &now.absent {
            let having = tids.among(&records, absent, cut)?;
            records.retain(|r| having.binary_search(r).is_err());
        }
        let enough = records.is_empty() || records.len() >= limits.k as usize;
        Ok(enough && l.is_none_or(|l| Shares::of(data, &records).hold(l, records.len())))
    };
    let best = best_replacement(cut, &set, |_| true, is_good)?;
    search.apply(&set, best);
    Ok(())
}

/// What is to hold of everything that somebody may know.
pub(crate) struct Promise {
    pub(crate) k: u32,
    pub(crate) m: usize,
    pub(crate) l: Option<f64>,
}

/// Violations that are repaired before all of them are looked for again.
const MANY: usize = 1 << 14;

/// Knowledge about the published records that breaks the promise, smallest first; some of it where there is much.
fn violations(search: &Search<'_>, l: Option<f64>, many: usize) -> Result<Vec<Known>> {
    let (data, limits) = (search.data, &search.limits);
    let facts = Facts::new(data, &search.cut, search.observer)?;
    let mut found = Vec::new();
    if has_negative(data) {
        for size in 1..=limits.m.min(facts.coded.longest) {
            facts.rare(size, limits, many, &mut found)?;
            if !found.is_empty() {
                break;
            }
        }
    }
    if let Some(l) = l {
        let places: Vec<(u32, u32)> = (facts.rows.iter().enumerate()).map(|(i, &p)| (i as u32, p)).collect();
        facts.certain(data, l, limits.m, many, &mut Vec::new(), &places, &mut found)?;
    }
    let mut known: Vec<(usize, Known)> = found.iter().map(|set| (set.len(), facts.known(set))).collect();
    known.sort();
    known.dedup();
    Ok(known.into_iter().map(|(_, known)| known).collect())
}

/// Published records as sets of facts: the nodes they have, then the listed nodes that they have not.
struct Facts<'a> {
    coded: Coded,
    /// How many of the codes are nodes that records have.
    present: usize,
    /// Per row its record.
    records: Vec<u32>,
    /// Per row where it begins.
    rows: Vec<u32>,
    observer: &'a dyn Observer,
}

impl<'a> Facts<'a> {
    fn new(data: &Transactions, cut: &Cut, observer: &'a dyn Observer) -> Result<Self> {
        let present: Vec<Node> = cut.nodes().into_iter().filter(|&n| n != ROOT).collect();
        let absent: Vec<usize> = if has_negative(data) {
            (0..present.len()).filter(|&i| is_listed(data, present[i])).collect()
        } else {
            Vec::new()
        };
        let mut code_of = vec![u32::MAX; data.tree.leaf_count()];
        for (leaf, &node) in cut.at().iter().enumerate() {
            if node != DROPPED
                && let Ok(code) = present.binary_search(&node)
            {
                code_of[leaf] = code as u32;
            }
        }
        let mut nodes = present.clone();
        nodes.extend(absent.iter().map(|&i| present[i]));
        let mut facts = Facts {
            coded: Coded::empty(nodes),
            present: present.len(),
            records: Vec::new(),
            rows: Vec::new(),
            observer,
        };
        let mut row: Vec<u32> = Vec::new();
        for record in 0..data.len() as u32 {
            observer.go_on()?;
            row.clear();
            row.extend(data.items(record).iter().map(|&l| code_of[l as usize]).filter(|&c| c != u32::MAX));
            row.dedup();
            // Dropped leaves may stand between those of one node.
            row.sort_unstable();
            row.dedup();
            let own = row.len();
            for (i, &code) in absent.iter().enumerate() {
                if row[..own].binary_search(&(code as u32)).is_err() {
                    row.push((present.len() + i) as u32);
                }
            }
            row.reverse();
            if !row.is_empty() {
                facts.records.push(record);
                facts.rows.push(facts.coded.items.len() as u32);
                facts.coded.longest = facts.coded.longest.max(row.len());
                facts.coded.items.extend_from_slice(&row);
                facts.coded.items.push(END);
            }
        }
        Ok(facts)
    }

    fn known(&self, set: &[u32]) -> Known {
        let nodes = |wanted: bool| {
            let codes = set.iter().filter(move |&&c| ((c as usize) < self.present) == wanted);
            codes.map(|&c| self.coded.nodes[c as usize]).collect()
        };
        Known { present: nodes(true), absent: nodes(false) }
    }

    /// Sets of a size in some but fewer than k records.
    fn rare(&self, size: usize, limits: &Limits, many: usize, found: &mut Vec<Vec<u32>>) -> Result<()> {
        if size == 1 {
            let mut count = vec![0u32; self.coded.nodes.len()];
            self.coded.rows().flatten().for_each(|&c| count[c as usize] += 1);
            let rare = (0..count.len()).filter(|&c| count[c] > 0 && count[c] < limits.k);
            found.extend(rare.map(|c| vec![c as u32]));
            return Ok(());
        }
        let bounds = Bounds { size, k: limits.k, cap: many, memory: limits.memory / 8, keep: false };
        let rare = rare_sets(&self.coded, bounds, self.observer)?;
        found.extend(rare.sets.chunks_exact(size).map(<[u32]>::to_vec));
        Ok(())
    }

    /// Sets of up to `m` facts among whose records a sensitive item is too common.
    #[expect(clippy::too_many_arguments, reason = "the state of a recursion")]
    fn certain(
        &self,
        data: &Transactions,
        l: f64,
        m: usize,
        many: usize,
        set: &mut Vec<u32>,
        places: &[(u32, u32)],
        found: &mut Vec<Vec<u32>>,
    ) -> Result<()> {
        self.observer.go_on()?;
        let records: Vec<u32> = places.iter().map(|&(row, _)| self.records[row as usize]).collect();
        let shares = Shares::of(data, &records);
        // Nothing can be too common below, where there is nothing sensitive.
        if shares.is_zero() || found.len() >= many {
            return Ok(());
        }
        if !set.is_empty() && !shares.hold(l, records.len()) {
            found.push(set.clone());
            return Ok(());
        }
        if set.len() == m {
            return Ok(());
        }
        let mut next: Vec<(u32, u32, u32)> = Vec::new();
        for &(row, place) in places {
            let rest = &self.coded.items[place as usize..];
            let codes = rest.iter().take_while(|&&c| c != END).enumerate();
            next.extend(codes.map(|(i, &code)| (code, row, place + i as u32 + 1)));
        }
        next.sort_unstable();
        for same in next.chunk_by(|a, b| a.0 == b.0) {
            let places: Vec<(u32, u32)> = same.iter().map(|&(_, row, place)| (row, place)).collect();
            set.push(same[0].0);
            self.certain(data, l, m, many, set, &places, found)?;
            set.pop();
        }
        Ok(())
    }
}
