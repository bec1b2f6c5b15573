//! Sensitive values apart from the people they belong to: what dissection groups, and what its publications hold.

use crate::binding::Binding;
use crate::dataset::Dataset;
use crate::dictionary::Dictionary;

/// Lists of numbers, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Default for Lists {
    fn default() -> Self {
        Lists { starts: vec![0], items: Vec::new() }
    }
}

impl Lists {
    /// Adds a list. False, and nothing is added, if 32 bits cannot number all items any more.
    #[must_use]
    pub fn push(&mut self, items: impl IntoIterator<Item = u32>) -> bool {
        let before = self.items.len();
        self.items.extend(items);
        let Ok(end) = u32::try_from(self.items.len()) else {
            self.items.truncate(before);
            return false;
        };
        self.starts.push(end);
        true
    }

    /// A list.
    pub fn of(&self, at: usize) -> &[u32] {
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items all lists have together.
    pub fn total(&self) -> usize {
        self.items.len()
    }

    /// All lists in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|i| self.of(i))
    }
}

impl<L: IntoIterator<Item = u32>> FromIterator<L> for Lists {
    fn from_iter<T: IntoIterator<Item = L>>(lists: T) -> Self {
        let mut all = Lists::default();
        for list in lists {
            assert!(all.push(list), "fewer than 2^32 items");
        }
        all
    }
}

/// The values of one sensitive attribute: per person in private data, per group in a publication.
#[derive(Clone, Debug, Default)]
pub struct SensitiveValues {
    /// Which attribute of the policy.
    pub declared: usize,
    /// Its path, as the policy writes it.
    pub path: String,
    /// Whether a person may have several.
    pub many: bool,
    /// The distinct values.
    pub values: Dictionary,
    /// Their codes; an empty list where there is no value.
    pub codes: Lists,
}

/// What the guarantee of a dissected publication depends on.
#[derive(Clone, Debug, Default)]
pub struct Dissected {
    /// How many people each group has on its quasi side.
    pub people: Vec<u32>,
    /// What stands on the sensitive side of the groups.
    pub sensitive: Vec<SensitiveValues>,
}

/// The two sides of a publication as they were read: which names stand where, and what belongs to which group. Nothing of
/// it is judged yet.
#[derive(Clone, Debug, Default)]
pub struct PublishedGroups {
    /// What the groups are called.
    pub names: Vec<String>,
    /// How many people each has on the quasi side.
    pub people: Vec<u32>,
    /// The paths of all attributes that have a value on the quasi side, as they were found.
    pub quasi: Vec<String>,
    /// What stands on the sensitive side, by the names that were found there.
    pub sensitive: Vec<NamedValues>,
}

/// What stands under one name on the sensitive side.
#[derive(Clone, Debug, Default)]
pub struct NamedValues {
    /// The path of the attribute; the name of its table where no attribute of the policy has such a table.
    pub name: String,
    /// The distinct values.
    pub values: Dictionary,
    /// Per group their codes.
    pub codes: Lists,
}

/// Clusters with their sides apart as they were read.
#[derive(Clone, Debug)]
pub struct PublishedClusters {
    /// The quasi side: a record per person.
    pub people: Dataset,
    /// The place of its attributes in the policy.
    pub binding: Binding,
    /// Per person its group, by its place in what was found.
    pub groups: Vec<u32>,
    /// The groups, and the names and values of both sides.
    pub found: PublishedGroups,
}

/// The SHA-256 of what somebody or something says.
pub type TextDigest = [u8; 32];

/// The people and values of two sides, each by its group and what it says, so that a publication can be compared with the
/// private data that it was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideDigests {
    /// One per person.
    pub people: Vec<(u32, TextDigest)>,
    /// Per sensitive attribute one per value.
    pub values: Vec<Vec<(u32, TextDigest)>>,
    /// How many records there are, those in no group too.
    pub records: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_borders() {
        let mut lists = Lists::default();
        assert!(lists.push([3, 1]) && lists.push([]) && lists.push([7]));
        assert_eq!(lists.iter().collect::<Vec<_>>(), [&[3, 1][..], &[], &[7]]);
        assert_eq!((lists.len(), lists.total(), lists.is_empty()), (3, 3, false));
        assert_eq!(lists, [vec![3, 1], vec![], vec![7]].into_iter().collect());
    }
}
