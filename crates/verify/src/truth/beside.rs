//! What stands beside quasi values: published whole and unchanged, and below nothing that it was not below before.

use rustc_hash::FxHashMap;

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::observe::Observer;

use super::matching;
use crate::trees::Trees;

/// Declared attributes with their values.
type Values = Vec<(usize, String)>;

/// The payload of one vertex: what it is, by number, and the items above it, ascending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hung {
    pub(super) what: u32,
    pub(super) above: Vec<u32>,
}

/// Numbers for payloads, the same on both sides of a comparison.
#[derive(Default)]
pub(super) struct Numbers {
    known: FxHashMap<(usize, Values), u32>,
}

impl Numbers {
    fn of(&mut self, home: usize, values: Values) -> u32 {
        let next = self.known.len() as u32;
        *self.known.entry((home, values)).or_insert(next)
    }

    /// The number of a companion's value.
    pub(super) fn of_companion(&mut self, declared: usize, text: &str) -> u32 {
        self.of(usize::MAX, vec![(declared, text.to_owned())])
    }

    /// The payloads of a record without companion columns, sorted; items above go through `recode`.
    pub(super) fn hung(
        &mut self,
        trees: &Trees,
        binding: &Binding,
        record: usize,
        recode: impl Fn(u32) -> Option<u32>,
    ) -> Vec<Hung> {
        let mut found = Vec::new();
        for payload in trees.beside(record) {
            let own =
                payload.values.iter().filter(|(declared, _)| binding.declared[*declared].follows.is_none());
            let values: Values = own.cloned().collect();
            if values.is_empty() {
                continue;
            }
            let node = payload.node.map(|node| node as usize);
            let up = node.into_iter().chain(node.into_iter().flat_map(|node| trees.above(node)));
            let mut above: Vec<u32> = up.filter_map(|node| recode(trees.item(node))).collect();
            above.sort_unstable();
            found.push(Hung { what: self.of(payload.home, values), above });
        }
        found.sort();
        found
    }
}

/// The values of a record's companion columns.
pub(super) fn companions<'a>(
    trees: &'a Trees,
    binding: &'a Binding,
    record: usize,
) -> impl Iterator<Item = (usize, &'a str)> {
    let values = trees.beside(record).iter().flat_map(|payload| &payload.values);
    let own = values.map(|(declared, text)| (*declared, text.as_str()));
    own.filter(|(declared, _)| binding.declared[*declared].follows.is_some())
}

/// Whether the published payloads are the expected ones, each below nothing new: all above it must cover something.
pub(super) fn unchanged(
    published: &[Hung],
    expected: &[Hung],
    covers: impl Fn(u32, u32) -> bool + Sync,
    observer: &dyn Observer,
) -> Result<bool> {
    if published.len() != expected.len() {
        return Ok(false);
    }
    let fits = |p: usize, i: usize| {
        let (p, i) = (&published[p], &expected[i]);
        Ok(p.what == i.what && p.above.iter().all(|&a| i.above.iter().any(|&b| covers(a, b))))
    };
    // Part of a larger matching, which tells how far it is.
    let quiet = Cancelling(observer);
    Ok(matching::unmatched(published.len(), expected.len(), fits, &quiet)?.is_empty())
}

/// Passes on nothing but the question whether anybody still waits.
struct Cancelling<'a>(&'a dyn Observer);

impl Observer for Cancelling<'_> {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
