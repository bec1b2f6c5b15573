//! Kernels: the few records of which a search sees what it would see of all.

use bosket_model::Dataset;
use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::partition::Joined;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use rustc_hash::FxHashSet;

const WHAT: [u8; 4] = *b"BkKe";
const VERSION: u8 = 1;

/// Records of parts that are laid over one frame, each known by its part and its place there.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Part and place of each record.
    pub(crate) ids: Vec<(u32, u32)>,
    pub(crate) records: Taken,
}

/// What is kept of them.
#[derive(Clone, Debug)]
pub(crate) enum Taken {
    /// Sets of items, one after the other.
    Sets { first: Vec<u32>, items: Vec<u32> },
    /// Whole records, of which quasi values alone.
    Records(Dataset),
}

impl Kernel {
    /// No sets.
    pub fn of_sets() -> Self {
        Kernel { ids: Vec::new(), records: Taken::Sets { first: vec![0], items: Vec::new() } }
    }

    /// No records, under the numbers of a frame.
    pub fn of_records(frame: &Dataset) -> Self {
        Kernel { ids: Vec::new(), records: Taken::Records(Joined::over(frame).finish()) }
    }

    /// How many records it has.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        let records = match &self.records {
            Taken::Sets { first, items } => 4 * (first.len() + items.len()),
            Taken::Records(data) => 24 * data.vertex_count(),
        };
        8 * self.ids.len() + records
    }

    /// The records, where they are whole.
    pub fn records(&self) -> Option<&Dataset> {
        match &self.records {
            Taken::Records(data) => Some(data),
            Taken::Sets { .. } => None,
        }
    }

    /// The sets of items, where that is what it has.
    pub fn sets(&self) -> Option<Vec<Vec<u32>>> {
        let Taken::Sets { first, items } = &self.records else { return None };
        Some(first.windows(2).map(|w| items[w[0] as usize..w[1] as usize].to_vec()).collect())
    }

    pub(crate) fn push_set(&mut self, id: (u32, u32), set: impl Iterator<Item = u32>) {
        if let Taken::Sets { first, items } = &mut self.records {
            items.extend(set);
            first.push(items.len() as u32);
            self.ids.push(id);
        }
    }

    /// Adds some records of a part, whatever they are for.
    pub fn push_taken(
        &mut self,
        part: u32,
        data: &Dataset,
        taken: &[bool],
        observer: &dyn Observer,
    ) -> Result<()> {
        self.push_records(part, data, taken, observer)
    }

    pub(crate) fn push_records(
        &mut self,
        part: u32,
        data: &Dataset,
        taken: &[bool],
        observer: &dyn Observer,
    ) -> Result<()> {
        let Taken::Records(own) = &mut self.records else { return Err(damaged()) };
        let places: Vec<u32> = (0..data.len() as u32).filter(|&record| taken[record as usize]).collect();
        if !places.is_empty() {
            let mut joined = Joined::after(std::mem::replace(own, Joined::new().finish()));
            joined.add(data, |record| taken[record], |_| true, observer)?;
            *own = joined.finish();
        }
        self.ids.extend(places.into_iter().map(|place| (part, place)));
        Ok(())
    }

    /// Both together, each record once.
    pub fn merge(mut self, other: Kernel, observer: &dyn Observer) -> Result<Kernel> {
        if self.is_empty() {
            return Ok(other);
        }
        let known: FxHashSet<(u32, u32)> = self.ids.iter().copied().collect();
        match (&mut self.records, &other.records) {
            (Taken::Sets { first, items }, Taken::Sets { first: from, items: theirs }) => {
                for (at, id) in other.ids.iter().enumerate().filter(|(_, id)| !known.contains(id)) {
                    observer.go_on()?;
                    items.extend_from_slice(&theirs[from[at] as usize..from[at + 1] as usize]);
                    first.push(items.len() as u32);
                    self.ids.push(*id);
                }
            }
            (Taken::Records(data), Taken::Records(theirs)) => {
                let mut joined = Joined::after(std::mem::replace(data, Joined::new().finish()));
                joined.add(theirs, |at| !known.contains(&other.ids[at]), |_| true, observer)?;
                *data = joined.finish();
                self.ids.extend(other.ids.iter().filter(|id| !known.contains(id)));
            }
            _ => return Err(damaged()),
        }
        Ok(self)
    }

    /// The kernel as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.length(self.ids.len());
        for &(part, place) in &self.ids {
            out.number(u64::from(part));
            out.number(u64::from(place));
        }
        match &self.records {
            Taken::Sets { first, items } => {
                out.number(0);
                for bounds in first.windows(2) {
                    let own = &items[bounds[0] as usize..bounds[1] as usize];
                    out.numbers(own.iter().map(|&item| u64::from(item)));
                }
            }
            Taken::Records(data) => {
                out.number(1);
                out.bytes(&data.to_bytes());
            }
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Kernel> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let length = from.length()?;
        let ids: Vec<(u32, u32)> =
            (0..length).map(|_| Ok((from.small()?, from.small()?))).collect::<Result<_>>()?;
        let records = match from.number()? {
            0 => {
                let (mut first, mut items) = (vec![0], Vec::new());
                for _ in 0..length {
                    for _ in 0..from.length()? {
                        items.push(from.small()?);
                    }
                    first.push(items.len() as u32);
                }
                Taken::Sets { first, items }
            }
            1 => {
                let data = Dataset::from_bytes(from.bytes()?)?;
                if data.len() != length {
                    return Err(damaged());
                }
                Taken::Records(data)
            }
            _ => return Err(damaged()),
        };
        from.end()?;
        Ok(Kernel { ids, records })
    }
}
