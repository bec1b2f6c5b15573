//! What the count of a cut's itemsets says about those above it.

use bosket_model::Result;
use bosket_model::observe::Observer;
use rustc_hash::FxHashMap;

use super::coded::Coded;
use super::rare::Planes;
use crate::km::transactions::Transactions;
use crate::km::tree::{Node, ROOT};

/// All itemsets of a size at a cut, rare and frequent ones.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) coded: &'a Coded,
    /// By all but the last two codes.
    planes: FxHashMap<Vec<u32>, Planes>,
    /// For triples, by their first code.
    triples: Vec<Planes>,
    /// Per node the codes at or below it, the most popular first.
    below: Vec<Vec<u32>>,
    /// Combinations below a set that are tried before somebody has to count.
    tries: usize,
}

/// At least so many are tried; more where there are more records, and counting takes longer.
const TRIES: usize = 64;
const RECORDS_PER_TRY: usize = 1 << 12;

impl<'a> Counted<'a> {
    pub(crate) fn new(
        coded: &'a Coded,
        mut planes: FxHashMap<Vec<u32>, Planes>,
        size: usize,
        data: &Transactions,
    ) -> Self {
        let tree = &data.tree;
        let mut triples = Vec::new();
        if size == 3 {
            triples
                .extend((0..coded.nodes.len() as u32).map(|x| planes.remove(&[x][..]).unwrap_or_default()));
        }
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); tree.len()];
        for (code, &node) in coded.nodes.iter().enumerate() {
            let mut at = node;
            while at != ROOT {
                below[at as usize].push(code as u32);
                at = tree.parent(at);
            }
        }
        let tries = TRIES.max(data.len() / RECORDS_PER_TRY);
        Counted { coded, planes, triples, below, tries }
    }

    /// The codes at or below a node, the most popular first.
    pub(crate) fn below(&self, node: Node) -> &[u32] {
        &self.below[node as usize]
    }

    /// What was counted for the triples that begin with a code.
    pub(crate) fn triples_of(&self, code: u32) -> &Planes {
        &self.triples[code as usize]
    }

    /// Per code whether it is in a rare triple.
    pub(crate) fn in_rare_triples(&self, observer: &dyn Observer) -> Result<Vec<bool>> {
        let mut found = vec![false; self.triples.len()];
        for (first, planes) in self.triples.iter().enumerate() {
            observer.go_on()?;
            let any = planes.rare.mark_members(&mut found);
            found[first] |= any;
        }
        Ok(found)
    }

    /// The rare itemsets of the cut, one after the other; none if there are more than `most`.
    pub(crate) fn rare_sets(&self, most: usize, observer: &dyn Observer) -> Result<Option<Vec<u32>>> {
        let mut prefixes: Vec<&Vec<u32>> = self.planes.keys().collect();
        prefixes.sort_unstable();
        let (mut sets, mut count) = (Vec::new(), 0);
        for prefix in prefixes {
            observer.go_on()?;
            for (a, b) in self.planes[prefix].rare.pairs() {
                sets.extend_from_slice(prefix);
                sets.extend([a, b]);
                count += 1;
            }
            if count > most {
                return Ok(None);
            }
        }
        Ok(Some(sets))
    }

    /// Whether an itemset of the cut is rare, and whether it is frequent.
    fn find(&self, codes: &mut [u32]) -> (bool, bool) {
        codes.sort_unstable();
        let [prefix @ .., a, b] = codes else {
            return (false, false);
        };
        let planes = match prefix {
            [first] => Some(&self.triples[*first as usize]),
            _ => self.planes.get(&*prefix),
        };
        planes.map_or((false, false), |p| (p.rare.has(*a, *b), p.frequent.has(*a, *b)))
    }

    /// What the itemsets below some nodes say about the nodes together.
    pub(crate) fn judge(&self, nodes: &[Node]) -> Verdict {
        if nodes.iter().any(|&n| self.below(n).is_empty()) {
            return Verdict::Open;
        }
        let mut at = vec![0usize; nodes.len()];
        let mut codes = vec![0u32; nodes.len()];
        let mut rare = 0;
        for _ in 0..self.tries {
            for (i, &node) in nodes.iter().enumerate() {
                codes[i] = self.below(node)[at[i]];
            }
            let (is_rare, is_frequent) = self.find(&mut codes);
            if is_frequent {
                return Verdict::Frequent;
            }
            rare += u32::from(is_rare);
            // The next combination.
            let Some(i) = (0..nodes.len()).find(|&i| at[i] + 1 < self.below(nodes[i]).len()) else {
                return if rare == 1 { Verdict::Rare } else { Verdict::Open };
            };
            at[i] += 1;
            at[..i].iter_mut().for_each(|a| *a = 0);
        }
        Verdict::Open
    }
}

/// What is known about an itemset above the cut that has a rare one below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// One below it is frequent, so it is.
    Frequent,
    /// One below it is rare and the others do not occur, so it is as rare as that one.
    Rare,
    /// It has to be counted.
    Open,
}
