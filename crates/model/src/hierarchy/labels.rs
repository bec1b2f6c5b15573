//! Distinct labels, numbered in order of arrival, in one string with an index over it.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

#[derive(Clone, Default)]
pub(super) struct Labels {
    text: String,
    ends: Vec<u32>,
    index: HashTable<u32>,
}

impl Labels {
    pub(super) fn get(&self, number: u32) -> &str {
        label_at(&self.text, &self.ends, number)
    }

    pub(super) fn find(&self, label: &str) -> Option<u32> {
        self.index.find(hash(label), |&n| self.get(n) == label).copied()
    }

    /// Adds a label that is not there yet.
    pub(super) fn push(&mut self, label: &str) -> u32 {
        debug_assert!(self.find(label).is_none(), "labels are distinct");
        let number = u32::try_from(self.ends.len()).expect("a hierarchy has fewer than 2^32 nodes");
        self.text.push_str(label);
        self.ends.push(u32::try_from(self.text.len()).expect("a hierarchy's labels stay below 4 GiB"));
        let Labels { text, ends, index } = self;
        index.insert_unique(hash(label), number, |&n| hash(label_at(text, ends, n)));
        number
    }
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.ends == other.ends
    }
}

fn label_at<'a>(text: &'a str, ends: &[u32], number: u32) -> &'a str {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] as usize };
    &text[start..ends[number] as usize]
}

fn hash(label: &str) -> u64 {
    let mut hasher = FxHasher::default();
    label.hash(&mut hasher);
    hasher.finish()
}
