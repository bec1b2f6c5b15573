//! The distinct values of one attribute, numbered in order of appearance.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// The code of a missing value.
pub const MISSING: u32 = u32::MAX;

/// What a value is in formats that tell text from numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Text.
    Text,
    /// A number, spelt in its shortest form.
    Number,
    /// `true` or `false`.
    Bool,
}

/// Values and their codes. All texts lie in one string, so a million distinct values are one allocation.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    texts: String,
    ends: Vec<usize>,
    kinds: Vec<Kind>,
    /// Hash and code: with the hash at hand, growing and most comparisons need not look at the texts.
    table: HashTable<(u32, u32)>,
}

fn hash(kind: Kind, text: &str) -> u32 {
    let mut hasher = FxHasher::default();
    text.hash(&mut hasher);
    kind.hash(&mut hasher);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

/// The bits of the table's own hash, from the 32 that are kept.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Dictionary {
    /// The code of a value, a new one if it has none yet.
    pub fn intern(&mut self, kind: Kind, text: &str) -> u32 {
        let hash = hash(kind, text);
        let Dictionary { texts, ends, kinds, table } = self;
        if let Some(&(_, code)) = table.find(spread(hash), |&(h, c)| {
            h == hash && is_text(texts, ends, c, text) && kinds[c as usize] == kind
        }) {
            return code;
        }
        let code = u32::try_from(ends.len()).ok().filter(|&c| c < MISSING).expect("fewer than 2^32-1 values");
        texts.push_str(text);
        ends.push(texts.len());
        kinds.push(kind);
        table.insert_unique(spread(hash), (hash, code), |&(h, _)| spread(h));
        code
    }

    /// The code of a value, if it occurs.
    pub fn get(&self, kind: Kind, text: &str) -> Option<u32> {
        let hash = hash(kind, text);
        self.table
            .find(spread(hash), |&(h, c)| {
                h == hash && is_text(&self.texts, &self.ends, c, text) && self.kinds[c as usize] == kind
            })
            .map(|&(_, c)| c)
    }

    /// The text of a value.
    #[inline]
    pub fn text(&self, code: u32) -> &str {
        text_of(&self.texts, &self.ends, code)
    }

    /// What kind of value it is.
    #[inline]
    pub fn kind(&self, code: u32) -> Kind {
        self.kinds[code as usize]
    }

    /// How many distinct values there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All values in order of their codes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Kind, &str)> {
        (0..self.len() as u32).map(|c| (self.kind(c), self.text(c)))
    }

    /// Per code the first one of the same text; none if each is its own.
    pub(crate) fn first_of_text(&self) -> Option<Vec<u32>> {
        // A text has a second code only as another kind.
        if self.kinds.windows(2).all(|two| two[0] == two[1]) {
            return None;
        }
        let kinds = [Kind::Text, Kind::Number, Kind::Bool];
        let first = |code: u32| kinds.iter().filter_map(|&kind| self.get(kind, self.text(code))).min();
        let firsts: Vec<u32> = (0..self.len() as u32).map(|code| first(code).unwrap_or(code)).collect();
        firsts.iter().zip(0..).any(|(first, code)| *first != code).then_some(firsts)
    }

    pub(crate) fn shrink(&mut self) {
        self.texts.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.kinds.shrink_to_fit();
    }
}

#[inline]
fn text_of<'a>(texts: &'a str, ends: &[usize], code: u32) -> &'a str {
    &texts[span_of(ends, code)]
}

/// Whether a value has this text. Bytes are compared: where letters begin need not be found out for that.
#[inline]
fn is_text(texts: &str, ends: &[usize], code: u32, text: &str) -> bool {
    texts.as_bytes()[span_of(ends, code)] == *text.as_bytes()
}

#[inline]
fn span_of(ends: &[usize], code: u32) -> Range<usize> {
    let code = code as usize;
    let start = if code == 0 { 0 } else { ends[code - 1] };
    start..ends[code]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_of_different_kinds_stay_apart() {
        let mut d = Dictionary::default();
        let text = d.intern(Kind::Text, "4");
        let number = d.intern(Kind::Number, "4");
        assert_ne!(text, number);
        assert_eq!(d.intern(Kind::Text, "4"), text);
        assert_eq!(d.get(Kind::Number, "4"), Some(number));
        assert_eq!(d.get(Kind::Bool, "4"), None);
        assert_eq!(d.intern(Kind::Text, ""), 2);
        assert_eq!(d.iter().map(|(_, t)| t).collect::<Vec<_>>(), ["4", "4", ""]);
    }
}
