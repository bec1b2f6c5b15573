//! What the columns of a table are like, counted while the table is looked through.

use rustc_hash::FxHashSet;

use super::backend::Row;

/// More different values than these are many; they are not kept apart.
const MANY: usize = 1000;

/// What the values of a column are like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnFacts {
    /// The column.
    pub name: String,
    /// How many different values it has; more than a thousand count as one more than that.
    pub distinct: usize,
    /// In how many rows it has one.
    pub present: u64,
    /// In how many of them it is a number.
    pub numbers: u64,
    /// In how many of them it begins like a date.
    pub days: u64,
    /// Bytes of all values together.
    pub bytes: u64,
}

/// Facts on their way.
#[derive(Debug)]
pub(super) struct Counting {
    facts: ColumnFacts,
    seen: FxHashSet<Vec<u8>>,
}

impl Counting {
    pub(super) fn new(name: &str) -> Self {
        let facts = ColumnFacts { name: name.to_owned(), ..ColumnFacts::default() };
        Counting { facts, seen: FxHashSet::default() }
    }

    pub(super) fn row(&mut self, row: &Row, cell: usize) {
        let Some((_, text)) = row.cell(cell) else { return };
        let facts = &mut self.facts;
        facts.present += 1;
        facts.bytes += text.len() as u64;
        facts.numbers += u64::from(text.parse::<f64>().is_ok());
        facts.days += u64::from(is_day(text));
        if self.seen.len() <= MANY && !self.seen.contains(text.as_bytes()) {
            self.seen.insert(text.as_bytes().to_vec());
        }
    }

    pub(super) fn finish(self) -> ColumnFacts {
        ColumnFacts { distinct: self.seen.len(), ..self.facts }
    }
}

/// Whether a text begins like `2006-02-15`.
fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes[range].iter().all(u8::is_ascii_digit);
    bytes.len() >= 10 && digits(0..4) && bytes[4] == b'-' && digits(5..7) && bytes[7] == b'-' && digits(8..10)
}

impl ColumnFacts {
    /// Whether it tells rows apart by a few words that several of them share.
    pub(super) fn is_kind(&self) -> bool {
        self.distinct > 1 && 2 * self.distinct as u64 <= self.present && self.numbers == 0
    }

    /// Whether nearly all its values are short, and none a day.
    pub(super) fn is_word(&self) -> bool {
        self.distinct > 1 && self.days == 0 && self.bytes <= 40 * self.present
    }
}
