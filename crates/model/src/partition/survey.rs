//! What values there are, and how many records have them.

use super::bytes::{Reader, Writer, damaged};
use super::joined::Joined;
use crate::dataset::Dataset;
use crate::diag::Result;
use crate::dictionary::MISSING;
use crate::observe::{Observer, Quiet};
use crate::schema::AttributeId;

const WHAT: [u8; 4] = *b"BkSv";
const VERSION: u8 = 1;

/// Classes, attributes and values of a part of the records, with the number of records that have each.
#[derive(Clone, Debug)]
pub struct Survey {
    /// How many records were looked at.
    pub records: u64,
    /// A dataset without records. Attributes whose values nobody wants have none.
    pub frame: Dataset,
    /// Per attribute of the frame and code: records that have the value, and how often it occurs.
    pub counts: Vec<Vec<(u64, u64)>>,
    /// Per attribute of the frame the records in which it has any value.
    pub present: Vec<u64>,
}

impl Default for Survey {
    fn default() -> Self {
        Survey { records: 0, frame: Joined::new().finish(), counts: Vec::new(), present: Vec::new() }
    }
}

impl Survey {
    /// Looks at records, and at the values of those attributes that are wanted.
    pub fn of(data: &Dataset, wanted: impl Fn(AttributeId) -> bool, observer: &dyn Observer) -> Result<Self> {
        let schema = data.schema();
        let wanted: Vec<bool> = schema.attributes().map(|(id, _)| wanted(id)).collect();
        let mut joined = Joined::new();
        joined.add_values(data, |id| wanted[id.index()]);
        let frame = joined.finish();
        let mut counts: Vec<Vec<(u64, u64)>> =
            frame.schema().attributes().map(|(id, _)| vec![(0, 0); frame.dictionary(id).len()]).collect();
        let mut last: Vec<Vec<u32>> = counts.iter().map(|own| vec![MISSING; own.len()]).collect();
        let mut present = vec![(0u64, MISSING); counts.len()];
        for record in 0..data.len() {
            observer.go_on()?;
            let stamp = record as u32;
            for vertex in data.vertices(record) {
                let own = &schema.class(data.class(vertex)).attributes;
                for (&id, &code) in own.iter().zip(data.values(vertex)).filter(|(_, code)| **code != MISSING)
                {
                    let (number, seen) = &mut present[id.index()];
                    *number += u64::from(std::mem::replace(seen, stamp) != stamp);
                    if wanted[id.index()] {
                        let (people, times) = &mut counts[id.index()][code as usize];
                        *times += 1;
                        let seen = &mut last[id.index()][code as usize];
                        *people += u64::from(std::mem::replace(seen, stamp) != stamp);
                    }
                }
            }
        }
        let present = present.into_iter().map(|(number, _)| number).collect();
        Ok(Survey { records: data.len() as u64, frame, counts, present })
    }

    /// Both together. What the first one has keeps its numbers.
    pub fn merge(self, other: &Survey) -> Self {
        if self.records == 0 && self.frame.schema().attributes().len() == 0 {
            return other.clone();
        }
        let Survey { records, frame, mut counts, mut present } = self;
        let mut joined = Joined::over(&frame);
        let attributes = joined.add_values(&other.frame, |_| true);
        let frame = joined.finish();
        counts.resize(frame.schema().attributes().len(), Vec::new());
        present.resize(counts.len(), 0);
        for (id, _) in frame.schema().attributes() {
            counts[id.index()].resize(frame.dictionary(id).len(), (0, 0));
        }
        for (id, _) in other.frame.schema().attributes() {
            let here = attributes[id.index()];
            present[here.index()] += other.present[id.index()];
            for (code, (kind, text)) in other.frame.dictionary(id).iter().enumerate() {
                let own = frame.dictionary(here).get(kind, text);
                let (people, times) = other.counts[id.index()][code];
                if let Some(own) = own {
                    let sum = &mut counts[here.index()][own as usize];
                    *sum = (sum.0 + people, sum.1 + times);
                }
            }
        }
        Survey { records: records + other.records, frame, counts, present }
    }

    /// A part under the numbers of all parts, with those attributes that are wanted.
    pub fn align(
        &self,
        data: &Dataset,
        wanted: impl Fn(AttributeId) -> bool,
        observer: &dyn Observer,
    ) -> Result<Dataset> {
        let mut joined = Joined::over(&self.frame);
        joined.add(data, |_| true, wanted, observer)?;
        Ok(joined.finish())
    }

    /// The survey as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.number(self.records);
        out.bytes(&self.frame.to_bytes());
        for (counts, &present) in self.counts.iter().zip(&self.present) {
            out.number(present);
            out.numbers(counts.iter().map(|c| c.0).collect::<Vec<_>>().into_iter());
            out.numbers(counts.iter().map(|c| c.1).collect::<Vec<_>>().into_iter());
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let records = from.number()?;
        let frame = Dataset::from_bytes(from.bytes()?)?;
        let (mut counts, mut present) = (Vec::new(), Vec::new());
        for (id, _) in frame.schema().attributes() {
            present.push(from.number()?);
            let (people, times) = (from.numbers()?, from.numbers()?);
            if people.len() != frame.dictionary(id).len() || times.len() != people.len() {
                return Err(damaged());
            }
            counts.push(people.into_iter().zip(times).collect());
        }
        from.end()?;
        Ok(Survey { records, frame, counts, present })
    }

    /// The survey of parts that are small enough to be looked at here, for tests and small data.
    pub fn whole(data: &Dataset) -> Self {
        Survey::of(data, |_| true, &Quiet).expect("nobody interrupts")
    }
}
