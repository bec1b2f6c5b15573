//! What a search needs to know of all records besides a kernel: how often there is what.

use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Failure, Result};

use crate::Params;
use crate::km::Transactions;

const WHAT: [u8; 4] = *b"BkFr";
const VERSION: u8 = 2;

/// Sums over records. Those of parts that are laid over one frame add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frequencies {
    /// How many records there are.
    pub records: u64,
    /// Per item how many nodes of all records have it.
    pub(crate) nodes: Vec<u64>,
    /// Per item how many records do.
    pub(crate) people: Vec<u64>,
    /// Of sets, per node of the hierarchy the records with a leaf of it, and how often these occur.
    pub(crate) support: Vec<u64>,
    pub(crate) occurrences: Vec<u64>,
    /// How many declared attributes there are.
    pub(crate) declared: usize,
    /// How many rows all records have: ways from the root of a tree to a leaf.
    pub(crate) rows: u64,
    /// Per two declared attributes how many rows have a value of the first above one of the second.
    pub(crate) pairs: Vec<u64>,
}

impl Frequencies {
    /// Counts a part.
    pub fn count(
        trees: &ValueTrees,
        hierarchies: &[Option<Hierarchy>],
        params: &Params,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let items = trees.items();
        let declared = hierarchies.len();
        let mut own = Frequencies {
            records: trees.len() as u64,
            nodes: vec![0; items.len()],
            people: vec![0; items.len()],
            declared,
            ..Frequencies::default()
        };
        let mut last = vec![u32::MAX; items.len()];
        for record in 0..trees.len() {
            observer.go_on()?;
            for node in trees.nodes(record) {
                let item = trees.item(node) as usize;
                own.nodes[item] += 1;
                own.people[item] +=
                    u64::from(std::mem::replace(&mut last[item], record as u32) != record as u32);
            }
        }
        match params {
            Params::Km(params) => {
                let sets = Transactions::new(trees, hierarchies, params, observer)?;
                (own.support, own.occurrences) = sets.counts();
            }
            Params::Kmn(_) => own.count_pairs(trees, observer)?,
            _ => return Err(Failure::defect("frequencies are for sets and trees")),
        }
        Ok(own)
    }

    fn count_pairs(&mut self, trees: &ValueTrees, observer: &dyn Observer) -> Result<()> {
        self.pairs = vec![0; self.declared * self.declared];
        let mut path: Vec<usize> = Vec::new();
        for record in 0..trees.len() {
            observer.go_on()?;
            for leaf in trees.nodes(record).filter(|&n| trees.end(n) == n + 1) {
                self.rows += 1;
                path.clear();
                let up = std::iter::successors(Some(leaf), |&n| trees.parent(n));
                path.extend(up.map(|n| trees.items()[trees.item(n) as usize].declared));
                for (below, &b) in path.iter().enumerate() {
                    for &a in &path[below + 1..] {
                        self.pairs[a * self.declared + b] += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Both together.
    pub fn merge(mut self, other: &Frequencies) -> Result<Self> {
        if self.nodes.is_empty() && self.records == 0 {
            return Ok(other.clone());
        }
        let add = |sum: &mut Vec<u64>, other: &[u64]| {
            if sum.len() != other.len() {
                return Err(Failure::defect("parts that are counted together do not have one numbering"));
            }
            sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
            Ok(())
        };
        self.records += other.records;
        self.rows += other.rows;
        add(&mut self.nodes, &other.nodes)?;
        add(&mut self.people, &other.people)?;
        add(&mut self.support, &other.support)?;
        add(&mut self.occurrences, &other.occurrences)?;
        add(&mut self.pairs, &other.pairs)?;
        Ok(self)
    }

    /// How many related pairs the rows of all records have.
    pub(crate) fn all_pairs(&self) -> u64 {
        self.pairs.iter().sum()
    }

    /// How many of them are between published attributes.
    pub(crate) fn pairs_between(&self, published: impl Fn(usize) -> bool) -> u64 {
        let both = |at: &usize| published(at / self.declared) && published(at % self.declared);
        (0..self.pairs.len()).filter(both).map(|at| self.pairs[at]).sum()
    }

    /// The sums as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.number(self.records);
        out.number(self.rows);
        out.length(self.declared);
        for sums in [&self.nodes, &self.people, &self.support, &self.occurrences, &self.pairs] {
            out.numbers(sums.iter().copied());
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let (records, rows) = (from.number()?, from.number()?);
        let declared = from.small()? as usize;
        let mut next = || from.numbers();
        let read = Frequencies {
            records,
            rows,
            declared,
            nodes: next()?,
            people: next()?,
            support: next()?,
            occurrences: next()?,
            pairs: next()?,
        };
        from.end()?;
        let square = read.pairs.is_empty() || read.pairs.len() == declared * declared;
        if square && read.nodes.len() == read.people.len() { Ok(read) } else { Err(damaged()) }
    }
}
