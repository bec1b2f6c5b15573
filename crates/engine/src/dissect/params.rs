//! What a run depends on.

use bosket_model::policy::{Model, Policy};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};

/// Which property the groups have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// None: groups of any records.
    Plain,
    /// The values of a group are distinct.
    Anatomy,
    /// They are far apart in their hierarchy.
    Delta,
}

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
    /// Messages may name values of the data.
    pub show_values: bool,
}

impl Params {
    /// Parameters with the defaults of everything else.
    pub fn plain(algorithm: Algorithm, group_size: usize) -> Self {
        Params { algorithm, group_size, delta_target: None, pairwise: false, show_values: false }
    }

    /// The parameters that a policy asks for.
    pub fn new(policy: &Policy) -> Result<Self> {
        let privacy = policy.need_privacy()?;
        let algorithm = match privacy.model {
            Model::Anatomy => Algorithm::Anatomy,
            Model::Delta => Algorithm::Delta,
            Model::None => Algorithm::Plain,
            model => {
                let what = format!("model `{model}` is not one of dissection");
                let what = Diagnostic::error(what).at(Place::source(&policy.name));
                return Err(Failure::new(Fault::Policy, what.help("it takes anatomy, delta or none")));
            }
        };
        // A group of distinct values has none with a share over one in its size.
        let diverse = privacy.l.map_or(0, |l| l.ceil() as usize);
        Ok(Params {
            delta_target: privacy.delta_target,
            pairwise: privacy.pairwise,
            ..Params::plain(algorithm, diverse.max(privacy.group_size.unwrap_or(0) as usize))
        })
    }
}
