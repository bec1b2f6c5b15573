//! Who was overlooked: where what a kernel shows is a proposal, published records that somebody is found by lead back to the
//! records they were made of.
//!
//! Rows may come in another order each time that a batch is read. So what is published of a batch and what it was made of are
//! kept together, by one task, and no record is looked for by its place afterwards.

use bosket_engine::partition::Kernel;
use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer};
use bosket_model::policy::Policy;
use bosket_model::{Dataset, Result};
use bosket_verify::Claim;
use bosket_verify::partition::{self, Counted};

use super::plan::{Found, Plan};
use super::shape::Shape;
use crate::make::placed;

const WHAT: [u8; 4] = *b"BkOv";
const VERSION: u8 = 1;

/// What a verifier has to keep of published records, and what these were made of.
#[derive(Clone, Debug)]
pub struct Overlooked {
    counted: Counted,
    /// The same records as they were.
    raw: Kernel,
}

/// The policy for records that were made and not written yet.
fn unwritten(plan: &Plan) -> Policy {
    let policy = plan.policy();
    Policy { attributes: placed(policy, plan.inner().binding()), ..policy.clone() }
}

impl Overlooked {
    /// Looks at a batch as it would be published.
    pub fn of(
        plan: &Plan,
        (number, batch): (u32, &Dataset),
        (found, shape): (&Found, &Shape),
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (part, published) = plan.recoded(batch, found, observer)?;
        let (policy, claim) = (unwritten(plan), Claim::new(plan.policy())?);
        let frame = Some(shape.frame());
        let counted = partition::count(&policy, &claim, (number, &published), frame, memory, observer)?;
        let places: Vec<u32> = counted.ids().iter().map(|&(_, place)| place).collect();
        let inner = plan.inner();
        let raw = inner.add_records(inner.no_kernel(), (number, &part), &places, observer)?;
        Ok(Overlooked { counted, raw })
    }

    /// Both together, with no more records than needed.
    pub fn merge(self, other: Self, plan: &Plan, memory: usize, observer: &dyn Observer) -> Result<Self> {
        let (policy, claim) = (unwritten(plan), Claim::new(plan.policy())?);
        let counted =
            self.counted.merge(other.counted, observer)?.pruned(&policy, &claim, memory, observer)?;
        let ids = counted.ids().iter().copied().collect();
        let raw = self.raw.merge(other.raw, observer)?.only(&ids, observer)?;
        Ok(Overlooked { counted, raw })
    }

    /// The records that the smallest witness matches, as they were; none where nobody is found.
    pub fn records(self, plan: &Plan, memory: usize, observer: &dyn Observer) -> Result<Kernel> {
        let (policy, claim) = (unwritten(plan), Claim::new(plan.policy())?);
        let ids = self.counted.witnesses(&policy, &claim, memory, observer)?;
        self.raw.only(&ids.into_iter().collect(), observer)
    }

    /// The state as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.bytes(&self.counted.to_bytes());
        out.bytes(&self.raw.to_bytes());
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let counted = Counted::from_bytes(from.bytes()?)?;
        let raw = Kernel::from_bytes(from.bytes()?)?;
        from.end()?;
        Ok(Overlooked { counted, raw })
    }
}
