//! Triples, gone through by their first node, on top of a count of all triples of the cut.
//!
//! There may be millions of rare triples, but a repair kills most of those that come after it. So the violations with a
//! node as their first are looked up when the walk gets to that node, among what is left of the cut by then. What was
//! counted below a node that is in the cut only now still tells what is rare with it.
//!
//! The transactions abc, abc, abd, acd, bd, cd, k = 2, with b and c below X. All pairs are frequent; `rare` has counted the
//! triples of the cut a, b, c, d.
//!
//! ```text
//! order          X   a   b   c   d     by falling support, equal ones by number
//! triples of a   rare: bd, cd          frequent: bc
//!
//! X              above the cut. ad is rare with b and with c, so with X it has to be counted:
//!   X a d          in abd and acd, frequent after all
//! a              at the cut. bd and cd are rare for sure
//!   a b d          repaired: b goes up to X, which loses least, and takes c along
//!   a c d          c is not in the cut any more: nothing to do
//! b, c           gone
//! d              nothing comes after it
//! ```
//!
//! The first node of a triple is the first in the order, so Xd is not looked at with a again.

use bosket_model::Result;
use rustc_hash::FxHashSet;

use super::cut::DROPPED;
use super::search::Search;
use super::walk::{Keys, Suspect, above_and_through};
use crate::km::counting::counted::Counted;
use crate::km::tree::Node;

/// Repairs all violating triples.
pub(crate) fn triples(search: &mut Search<'_>, counted: &Counted<'_>) -> Result<()> {
    let mut code_of = vec![u32::MAX; search.data.tree.len()];
    counted.coded.nodes.iter().enumerate().for_each(|(c, &n)| code_of[n as usize] = c as u32);
    let keys = Keys::new(search, 2);
    let mut lookup = Lookup::new(search, counted)?;
    for rank in 0..search.order.nodes.len() {
        search.go_on()?;
        let node = search.order.nodes[rank];
        if search.cut.is_gone(node) || !counted.below(node).iter().any(|&code| lookup.rare[code as usize]) {
            continue;
        }
        lookup.allow(search, counted, node);
        match code_of[node as usize] {
            u32::MAX => lookup.above_cut(search, counted, node)?,
            code => lookup.at_cut(counted, code),
        }
        let suspects = lookup.raised(search, counted, keys)?;
        if !suspects.is_empty() {
            above_and_through(search, &[node], keys, suspects, Some(counted))?;
        }
    }
    Ok(())
}

/// Codes that may still stand in a set with a first node.
struct Lookup {
    /// Per code whether it is in a rare triple. Others are in no violation, and in none above the cut.
    rare: Vec<bool>,
    allowed: Vec<u64>,
    codes: Vec<u32>,
    wanted: Vec<u64>,
    /// Pairs that may be rare with the first node, and whether they are for sure.
    pairs: Vec<(u32, u32, bool)>,
}

impl Lookup {
    fn new(search: &Search<'_>, counted: &Counted<'_>) -> Result<Self> {
        let codes = counted.coded.nodes.len();
        Ok(Lookup {
            rare: counted.in_rare_triples(search.observer)?,
            allowed: vec![0; codes.div_ceil(64)],
            codes: Vec::new(),
            wanted: vec![0; codes.div_ceil(64)],
            pairs: Vec::new(),
        })
    }

    /// The codes whose place in the cut by now comes after the node, but for those below the node.
    fn allow(&mut self, search: &Search<'_>, counted: &Counted<'_>, first: Node) {
        let rank = |n: Node| search.order.rank[n as usize];
        self.allowed.fill(0);
        self.codes.clear();
        for (code, &node) in counted.coded.nodes.iter().enumerate() {
            if !self.rare[code] || search.data.tree.covers(first, node) {
                continue;
            }
            let now = search.cut.now(node);
            if now != DROPPED && rank(now) != u32::MAX && rank(now) > rank(first) {
                self.allowed[code / 64] |= 1 << (code % 64);
                self.codes.push(code as u32);
            }
        }
    }

    /// The pairs that are rare together with a code, which is more popular than both.
    fn at_cut(&mut self, counted: &Counted<'_>, first: u32) {
        self.pairs.clear();
        let mut partners = Vec::new();
        for &code in &self.codes {
            partners.clear();
            counted.triples_of(first).rare.partners(code, &self.allowed, &mut partners);
            self.pairs.extend(partners.iter().map(|&p| (p, code, true)));
        }
    }

    /// The pairs of the cut that may be rare together with a node above it.
    fn above_cut(&mut self, search: &Search<'_>, counted: &Counted<'_>, first: Node) -> Result<()> {
        self.pairs.clear();
        for i in 1..self.codes.len() {
            search.go_on()?;
            self.partners(counted, counted.below(first), i);
        }
        Ok(())
    }

    /// The allowed codes before the `i`th that occur with it and some code below a node, but are frequent with none. With
    /// one they are as rare as with the node; with several of them they have to be counted.
    fn partners(&mut self, counted: &Counted<'_>, below: &[u32], i: usize) {
        let code = self.codes[i];
        self.wanted.copy_from_slice(&self.allowed);
        // The codes that are less popular than the partner stand in the partner's plane.
        for &x in below.iter().filter(|&&x| x < code) {
            counted.triples_of(x).frequent.remove_partners(code, &mut self.wanted);
        }
        for &partner in &self.codes[..i] {
            if self.wanted[partner as usize / 64] >> (partner % 64) & 1 == 0 {
                continue;
            }
            let own = counted.triples_of(partner);
            let mut rare = 0;
            for &x in below {
                if x > partner && own.frequent.has(x, code) {
                    rare = 0;
                    break;
                }
                let planes = if x > partner { own } else { counted.triples_of(x) };
                rare += u32::from(planes.rare.has(x.max(partner), code));
            }
            if rare > 0 {
                self.pairs.push((partner, code, rare == 1));
            }
        }
    }

    /// The pairs as they are in the cut by now.
    fn raised(&self, search: &Search<'_>, counted: &Counted<'_>, keys: Keys) -> Result<Vec<Suspect>> {
        let mut tried: FxHashSet<u128> = FxHashSet::default();
        let mut suspects = Vec::new();
        for &(a, b, certain) in &self.pairs {
            search.go_on()?;
            let codes = [a, b].map(|code| counted.coded.nodes[code as usize]);
            let nodes = codes.map(|node| search.cut.now(node));
            if nodes[0] == nodes[1] {
                continue;
            }
            let key = keys.pack(&mut nodes.map(|n| search.order.rank[n as usize]));
            if nodes == codes {
                suspects.push(Suspect { key, certain });
            } else if tried.insert(key) {
                suspects.push(Suspect { key, certain: false });
            }
        }
        Ok(suspects)
    }
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_testkit::fixtures::{bound, hierarchy, value_trees};
    use bosket_testkit::sets;

    use crate::km::{Algorithm, Params, run};

    #[test]
    fn the_example_of_the_head() {
        let letters = |set: &str| set.chars().map(String::from).collect();
        let data = sets::dataset(&["abc", "abc", "abd", "acd", "bd", "cd"].map(letters));
        let trees = value_trees(&data, &bound(&data, sets::ATTRIBUTES).1);
        let h = [Some(hierarchy("a;*\nb;X;*\nc;X;*\nd;*\n"))];
        let pairs = run(&trees, &h, &Params::plain(Algorithm::Aa, 2, 2), &Quiet).expect("possible");
        assert_eq!(pairs.repaired, 0);
        let triples = run(&trees, &h, &Params::plain(Algorithm::Aa, 2, 3), &Quiet).expect("possible");
        assert_eq!((triples.parts[0].cut.join(" "), triples.repaired), ("a X d".to_owned(), 1));
    }
}
