//! What a run depends on.

use bosket_model::Result;
use bosket_model::policy::{Algorithm, Family, Missing, Policy};

use crate::asked::Asked;

/// What a run depends on.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which property.
    pub algorithm: Algorithm,
    /// Fewest people per group; 0 puts everybody into one (plain only).
    pub group_size: usize,
    /// `delta`: the distance to reach; the highest possible if not given.
    pub delta_target: Option<u32>,
    /// `delta`: the distance holds for every pair.
    pub pairwise: bool,
    /// People without value fill groups, and are no value of their own.
    pub may_lack: bool,
    /// Messages may name values of the data.
    pub show_values: bool,
}

impl Params {
    /// Parameters with the defaults of everything else.
    pub fn plain(algorithm: Algorithm, group_size: usize) -> Self {
        Params {
            algorithm,
            group_size,
            delta_target: None,
            pairwise: false,
            may_lack: false,
            show_values: false,
        }
    }

    /// The parameters that a policy asks for. What cannot be done is refused.
    pub fn new(policy: &Policy) -> Result<Self> {
        let Asked { privacy, algorithm, .. } = Asked::new(policy, Family::Dissect)?;
        // A group of distinct values has none with a share over one in its size.
        let diverse = privacy.l.map_or(0, |l| l.ceil() as usize);
        // Only a model that promises nothing can do without a size.
        let group_size = privacy.group_size.unwrap_or(0) as usize;
        Ok(Params {
            delta_target: privacy.delta_target,
            pairwise: privacy.pairwise,
            may_lack: privacy.missing == Missing::None,
            ..Params::plain(algorithm, diverse.max(group_size))
        })
    }
}
