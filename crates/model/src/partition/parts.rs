//! States by part, so that a part that comes twice counts once.

use std::collections::BTreeMap;

/// One state per part. Whoever is not sure that each part comes once keeps states apart by their parts' numbers until all
/// are there: a part that is worked on again takes the place of what it gave before.
#[derive(Clone, Debug)]
pub struct Parts<S> {
    of: BTreeMap<u32, S>,
}

impl<S> Default for Parts<S> {
    fn default() -> Self {
        Parts { of: BTreeMap::new() }
    }
}

impl<S> Parts<S> {
    /// The state of one part.
    pub fn one(part: u32, state: S) -> Self {
        Parts { of: BTreeMap::from([(part, state)]) }
    }

    /// Both; of a part that is in both, the other's.
    #[must_use]
    pub fn merge(mut self, other: Parts<S>) -> Self {
        self.of.extend(other.of);
        self
    }

    /// The states in the order of their parts.
    pub fn into_states(self) -> impl Iterator<Item = S> {
        self.of.into_values()
    }

    /// The parts' numbers with their states, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &S)> {
        self.of.iter().map(|(&part, state)| (part, state))
    }
}
