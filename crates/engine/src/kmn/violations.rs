//! Knowledge with relations that matches too few records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::domain::{Domain, Node};
use super::set::{Pivot, Set};

/// A related pair: ancestor, descendant.
pub(super) type Pair = (Node, Node);

/// Knowledge with relations: pairs, and further values beside those in the pairs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Knowledge {
    relations: usize,
    values: usize,
    nodes: Vec<Node>,
    pairs: Vec<Pair>,
}

impl Knowledge {
    fn new(pairs: &[Pair], further: &[Node]) -> Self {
        let nodes: BTreeSet<Node> =
            pairs.iter().flat_map(|p| [p.0, p.1]).chain(further.iter().copied()).collect();
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        Knowledge { relations: pairs.len(), values: nodes.len(), nodes: nodes.into_iter().collect(), pairs }
    }

    /// Of one relation alone.
    pub(super) fn of_pair(pair: Pair) -> Self {
        Knowledge::new(&[pair], &[])
    }

    pub(super) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// The records of every related pair at a cut; pairs that no record has are absent.
pub(super) type Related = BTreeMap<Pair, Arc<Set>>;

/// What an attacker may know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) k: u32,
    pub(super) m: usize,
    pub(super) n: usize,
    /// Count no further than k.
    pub(super) early_exit: bool,
}

impl Range {
    /// How many records two sets share, at most k.
    pub(super) fn shared(&self, a: &Pivot<'_>, b: &Set) -> u32 {
        if self.early_exit { a.shared_up_to(b, self.k) } else { a.shared_up_to(b, u32::MAX).min(self.k) }
    }
}

/// Which knowledge a search is about.
pub(super) enum Concerned<'a> {
    /// What holds one of the first nodes and, if there are second ones, one of these too.
    Nodes(&'a [Node], Option<&'a [Node]>),
    /// What holds one of these pairs.
    Pairs(&'a BTreeSet<Pair>),
}

const NEW: u8 = 1;
const FRESH: u8 = 2;

/// All violations among the knowledge that `concerned` describes, in the order of repair.
pub(super) fn violations(
    domain: &Domain<'_>,
    cut: &[Node],
    related: &Related,
    range: Range,
    concerned: &Concerned<'_>,
    observer: &dyn Observer,
) -> Result<Vec<Knowledge>> {
    // Absences are numbered after all nodes.
    let mut flags = vec![0u8; cut.len()];
    let mut mark = |nodes: &[Node], flag: u8| {
        for node in nodes {
            if let Ok(at) = cut.binary_search(node) {
                flags[at] |= flag;
            }
        }
    };
    let mut needed = 0;
    if let Concerned::Nodes(new, fresh) = concerned {
        mark(new, NEW);
        mark(fresh.unwrap_or(&[]), FRESH);
        needed = NEW | if fresh.is_some() { FRESH } else { 0 };
    }
    let mut pairs: Vec<Known<'_>> = (related.iter())
        .filter_map(|(&(a, b), set)| {
            let at = [cut.binary_search(&a).ok()?, cut.binary_search(&b).ok()?];
            Some(Known { pair: (a, b), at, flags: flags[at[0]] | flags[at[1]], set })
        })
        .collect();
    // Knowledge about some pairs starts with one of them; those before it in the list are taken care of already.
    let starts = match concerned {
        Concerned::Nodes(..) => pairs.len(),
        Concerned::Pairs(wanted) => {
            pairs.sort_by_key(|k| (!wanted.contains(&k.pair), k.pair));
            pairs.partition_point(|k| wanted.contains(&k.pair))
        }
    };
    let mut of_node: Vec<Vec<usize>> = vec![Vec::new(); cut.len()];
    for (i, known) in pairs.iter().enumerate() {
        known.at.iter().for_each(|&at| of_node[at].push(i));
    }
    let with = |missing: u8| (0..cut.len()).filter(|&at| flags[at] & missing == missing).collect();
    let mut search = Search {
        domain,
        cut,
        flags: &flags,
        with: [0, 1, 2, 3].map(with),
        pairs: &pairs,
        of_node: &of_node,
        range,
        needed,
        chosen: Vec::new(),
        nodes: Vec::new(),
        found: Vec::new(),
        observer,
    };
    for i in 0..starts {
        search.choose(i, |search| search.look(pairs[i].set, pairs[i].flags, i + 1))?;
    }
    let mut found = search.found;
    found.sort();
    Ok(found)
}

/// A related pair with its records; `at` are the places of its nodes in the cut.
struct Known<'a> {
    pair: Pair,
    at: [usize; 2],
    flags: u8,
    set: &'a Set,
}

struct Search<'a> {
    domain: &'a Domain<'a>,
    cut: &'a [Node],
    flags: &'a [u8],
    /// Per set of flags the places in the cut that have them.
    with: [Vec<usize>; 4],
    pairs: &'a [Known<'a>],
    /// Per place in the cut the pairs with it, ascending.
    of_node: &'a [Vec<usize>],
    range: Range,
    /// The flags that knowledge must have to be recorded.
    needed: u8,
    chosen: Vec<Pair>,
    /// Places in the cut of the nodes of the chosen pairs.
    nodes: Vec<usize>,
    found: Vec<Knowledge>,
    observer: &'a dyn Observer,
}

impl Search<'_> {
    /// Does something with one more pair chosen.
    fn choose(&mut self, i: usize, then: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let before = self.nodes.len();
        for at in self.pairs[i].at {
            if !self.nodes.contains(&at) {
                self.nodes.push(at);
            }
        }
        self.chosen.push(self.pairs[i].pair);
        then(self)?;
        self.chosen.pop();
        self.nodes.truncate(before);
        Ok(())
    }

    fn record(&mut self, flags: u8, further: &[Node]) {
        if flags & self.needed == self.needed {
            self.found.push(Knowledge::new(&self.chosen, further));
        }
    }

    /// Looks at the chosen pairs, whose shared records are `set`, and at everything that adds to them.
    fn look(&mut self, set: &Set, flags: u8, next: usize) -> Result<()> {
        let k = self.range.k;
        if set.is_empty() || self.nodes.len() > self.range.m {
            return Ok(());
        }
        if set.len() < k {
            self.record(flags, &[]);
            return Ok(());
        }
        let left = self.range.m - self.nodes.len();
        let set = &Pivot::new(set, self.domain.records);
        self.values(set, &mut Vec::new(), flags, 0, left)?;
        if self.chosen.len() == self.range.n {
            return Ok(());
        }
        if left > 1 {
            for i in next..self.pairs.len() {
                // A pair mostly costs less than the asking.
                if i.is_multiple_of(64) {
                    self.observer.go_on()?;
                }
                self.add(set, flags, i, left)?;
            }
            return Ok(());
        }
        // With room for one more value a pair must share a node with those chosen, as few pairs do.
        self.observer.go_on()?;
        let of_node = self.of_node;
        for place in 0..self.nodes.len() {
            let own = &of_node[self.nodes[place]];
            for &i in &own[own.partition_point(|&i| i < next)..] {
                // One between two chosen nodes is met at the first of them.
                if !self.pairs[i].at.iter().any(|at| self.nodes[..place].contains(at)) {
                    self.add(set, flags, i, left)?;
                }
            }
        }
        Ok(())
    }

    /// Looks at the chosen pairs with one more.
    fn add(&mut self, set: &Pivot<'_>, flags: u8, i: usize, left: usize) -> Result<()> {
        let k = self.range.k;
        let known = &self.pairs[i];
        let grows = known.at.iter().filter(|at| !self.nodes.contains(at)).count();
        let more = self.chosen.len() + 1 < self.range.n || grows < left;
        let flags = flags | known.flags;
        let concerned = flags & self.needed == self.needed;
        // What is not concerned and cannot become so by adding to it needs no counting.
        if grows > left || known.set.len() < k || (!concerned && !more) {
            return Ok(());
        }
        let shared = self.range.shared(set, known.set);
        if shared == k && more {
            let both = set.and(known.set);
            self.choose(i, |search| search.look(&both, flags, i + 1))?;
        } else if shared > 0 && shared < k {
            self.choose(i, |search| {
                search.record(flags, &[]);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Adds up to `left` further values to the chosen pairs.
    fn values(
        &mut self,
        set: &Pivot<'_>,
        further: &mut Vec<Node>,
        flags: u8,
        from: usize,
        left: usize,
    ) -> Result<()> {
        if left == 0 {
            return Ok(());
        }
        self.observer.go_on()?;
        let k = self.range.k;
        // The last value must bring whatever is missing.
        let missing = if left == 1 { self.needed & !flags } else { 0 };
        let first = self.with[usize::from(missing)].partition_point(|&at| at < from);
        for i in first..self.with[usize::from(missing)].len() {
            let at = self.with[usize::from(missing)][i];
            let flags = flags | self.flags[at];
            if self.nodes.contains(&at) {
                continue;
            }
            let other = self.domain.set(self.cut[at]);
            let shared = self.range.shared(set, other);
            if shared == 0 || (shared == k && left == 1) {
                continue;
            }
            further.push(self.cut[at]);
            if shared < k {
                self.record(flags, further);
            } else {
                let both = set.and(other);
                self.values(&Pivot::new(&both, self.domain.records), further, flags, at + 1, left - 1)?;
            }
            further.pop();
        }
        Ok(())
    }
}
