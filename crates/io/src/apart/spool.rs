//! People on their way to groups: texts in a private file, sensitive values as codes.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use bosket_model::dissected::SensitiveValues;
use bosket_model::{Diagnostic, Failure, Fault, Kind, Result};

use super::scratch::Scratch;
use super::sorter::{Merged, Sorter};
use bosket_model::sides::SensitivePath;

/// Stands between the people of a group; neither XML nor JSON can hold it.
pub(crate) const PERSON: u8 = 1;
/// Stands between the sides of a group.
pub(crate) const SIDE: u8 = 0;

/// All people of a source.
#[derive(Debug)]
pub struct Spool {
    scratch: Scratch,
    /// Where each text ends.
    ends: Vec<u64>,
    /// A number per person that depends on nothing but what is published of it.
    pub ties: Vec<u64>,
    /// The sensitive values.
    pub sensitive: Vec<SensitiveValues>,
    codes: Vec<Vec<u32>>,
    seed: u64,
}

/// Appends a value of a sensitive attribute as it is published.
pub(crate) type Fragment<'a> = dyn FnMut(usize, Kind, &str, &mut Vec<u8>) + 'a;

impl Spool {
    /// No people yet.
    pub fn new(sensitive: &[SensitivePath], seed: u64) -> Result<Self> {
        let column = |s: &SensitivePath| SensitiveValues {
            declared: s.declared,
            path: s.path.clone(),
            many: s.many,
            ..SensitiveValues::default()
        };
        Ok(Spool {
            scratch: Scratch::create()?,
            ends: Vec::new(),
            ties: Vec::new(),
            sensitive: sensitive.iter().map(column).collect(),
            codes: vec![Vec::new(); sensitive.len()],
            seed,
        })
    }

    /// How many people there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds a sensitive value of the person that [`person`](Self::person) adds next.
    pub fn value(&mut self, attribute: usize, kind: Kind, text: &str) {
        let code = self.sensitive[attribute].values.intern(kind, text);
        self.codes[attribute].push(code);
    }

    /// Adds a person by the text of its quasi side.
    pub fn person(&mut self, text: &[u8]) -> Result<()> {
        self.scratch.write(text)?;
        self.ends.push(self.scratch.len());
        let mut hasher = FxHasher::default();
        (self.seed, text).hash(&mut hasher);
        let mut told = 0;
        for (column, codes) in self.sensitive.iter_mut().zip(&mut self.codes) {
            // Which value comes first in a person is the input's order.
            let mut values: Vec<u64> = codes
                .iter()
                .map(|&code| {
                    let mut hasher = FxHasher::default();
                    column.values.text(code).hash(&mut hasher);
                    hasher.finish()
                })
                .collect();
            values.sort_unstable();
            values.hash(&mut hasher);
            told += usize::from(!column.codes.push(codes.drain(..)));
        }
        self.ties.push(hasher.finish());
        if told > 0 || u32::try_from(self.ends.len()).is_err() {
            let what = Diagnostic::error("the data is too large: more than 2^32 values");
            return Err(Failure::new(Fault::Data, what.help("split the file")));
        }
        Ok(())
    }

    /// Groups as texts, ordered by them: the people in order, then the sensitive values, as `fragment` writes them.
    /// [`Parts`] takes them apart.
    pub(crate) fn groups(
        &mut self,
        group_of: &[u32],
        groups: usize,
        fragment: &mut Fragment<'_>,
    ) -> Result<Merged> {
        self.scratch.flush()?;
        let mut starts = vec![0u32; groups + 1];
        let grouped = || group_of.iter().enumerate().filter(|(_, g)| (**g as usize) < groups);
        grouped().for_each(|(_, &g)| starts[g as usize + 1] += 1);
        for g in 0..groups {
            starts[g + 1] += starts[g];
        }
        let mut members = vec![0u32; starts[groups] as usize];
        let mut next = starts.clone();
        for (record, &g) in grouped() {
            members[next[g as usize] as usize] = record as u32;
            next[g as usize] += 1;
        }
        drop(next);
        let mut sorter = Sorter::new();
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let mut whole = Vec::new();
        for g in 0..groups {
            let people = &members[starts[g] as usize..starts[g + 1] as usize];
            whole.clear();
            texts.clear();
            for &person in people {
                texts.push(self.text(person as usize)?);
            }
            join(&mut texts, &mut whole);
            whole.push(SIDE);
            texts.clear();
            for (a, column) in self.sensitive.iter().enumerate() {
                for &code in people.iter().flat_map(|&p| column.codes.of(p as usize)) {
                    let mut text = Vec::new();
                    fragment(a, column.values.kind(code), column.values.text(code), &mut text);
                    texts.push(text);
                }
            }
            join(&mut texts, &mut whole);
            whole.extend_from_slice(&(g as u32).to_be_bytes());
            sorter.push(&whole)?;
        }
        sorter.finish()
    }

    fn text(&mut self, person: usize) -> Result<Vec<u8>> {
        let start = person.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut text = vec![0; (self.ends[person] - start) as usize];
        self.scratch.read_at(start, &mut text)?;
        Ok(text)
    }
}

/// Appends texts in order, a mark behind each.
pub(crate) fn join(texts: &mut [Vec<u8>], out: &mut Vec<u8>) {
    texts.sort_unstable();
    for text in texts {
        out.extend_from_slice(text);
        out.push(PERSON);
    }
}

/// A group that was written down.
pub(crate) struct Parts<'g> {
    people: &'g [u8],
    values: &'g [u8],
    /// The number it had before it had a place; it decides nothing but between groups that are alike.
    pub(crate) number: u32,
}

impl<'g> Parts<'g> {
    pub(crate) fn of(group: &'g [u8]) -> Self {
        let (text, end) = group.split_at(group.len().saturating_sub(4));
        Parts { number: end.try_into().map_or(0, u32::from_be_bytes), ..Self::without_number(text) }
    }

    /// A group, or a person, that was written down without a number.
    pub(crate) fn without_number(text: &'g [u8]) -> Self {
        let side = memchr::memchr(SIDE, text).unwrap_or(text.len());
        Parts { people: &text[..side], values: text.get(side + 1..).unwrap_or_default(), number: 0 }
    }

    pub(crate) fn people(&self) -> impl Iterator<Item = &'g [u8]> {
        marked(self.people)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &'g [u8]> {
        marked(self.values)
    }
}

/// Texts with a mark behind each.
fn marked(texts: &[u8]) -> impl Iterator<Item = &[u8]> {
    texts.split_inclusive(|&b| b == PERSON).map(|text| &text[..text.len() - 1])
}
