//! What a run depends on, whichever family its model is of, and what is refused before anything is searched.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Algorithm, Family, Missing, Model, Policy, Privacy};
use bosket_model::value_tree::{EMPTY_PLACE, TreeView, ValueTrees};
use bosket_model::{Dataset, Diagnostic, Result};

use crate::common::refuse_common;
use crate::dissect::Sensitive;
use crate::{cluster, dissect, km, kmn};

/// What a run depends on. Whoever has it knows that the policy asks for something that there is a function for.
#[derive(Clone, Debug)]
pub enum Params {
    /// Of k^(m,n)-anonymity.
    Kmn(kmn::Params),
    /// Of k^m-anonymity.
    Km(km::Params),
    /// Of clusters.
    Cluster(cluster::Params),
    /// Of dissection.
    Dissect(dissect::Params),
}

impl Params {
    /// The parameters that a policy asks for. What no run could do is refused, without any data.
    pub fn new(policy: &Policy) -> Result<Self> {
        Ok(match policy.need_privacy()?.model.family() {
            Family::Kmn => Params::Kmn(kmn::Params::new(policy)?),
            Family::Km => Params::Km(km::Params::new(policy)?),
            Family::Cluster => Params::Cluster(cluster::Params::new(policy)?),
            Family::Dissect => Params::Dissect(dissect::Params::new(policy)?),
        })
    }

    /// The algorithm that will run.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Params::Kmn(params) => params.algorithm,
            Params::Km(params) => params.algorithm,
            Params::Cluster(params) => params.algorithm,
            Params::Dissect(params) => params.algorithm,
        }
    }
}

/// Refuses, without any data, what no run of the policy could do.
pub fn check(policy: &Policy) -> Result<()> {
    Params::new(policy).map(|_| ())
}

/// What a run would work on.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The records.
    pub data: &'a Dataset,
    /// Their place in the policy, without companions.
    pub binding: &'a Binding,
    /// Per declared attribute its hierarchy.
    pub hierarchies: &'a [Option<Hierarchy>],
}

/// The records as the value trees that are searched, with nodes for empty places where these count.
pub fn trees(
    privacy: &Privacy,
    data: &Dataset,
    binding: &Binding,
    observer: &dyn Observer,
) -> Result<ValueTrees> {
    let counted = privacy.model == Model::Kmn && privacy.missing == Missing::Counted;
    let view = TreeView {
        root: privacy.root,
        united: true,
        payload: privacy.payload,
        missing: counted.then_some(EMPTY_PLACE),
    };
    ValueTrees::viewed(data, binding, &view, observer)
}

/// What a run is going to lose for sure, whatever it finds; the data is one that it would not give up on.
pub fn foreseen(params: &Params, input: Input<'_>) -> Result<Vec<Diagnostic>> {
    match params {
        Params::Cluster(params) => cluster::foreseen(input.data, input.binding, params),
        _ => Ok(Vec::new()),
    }
}

/// Refuses data that a run would give up on before it searches. What only a search can find out is not found here.
pub fn refuse_unfit(
    policy: &Policy,
    params: &Params,
    input: Input<'_>,
    observer: &dyn Observer,
) -> Result<()> {
    let Input { data, binding, hierarchies } = input;
    let privacy = policy.need_privacy()?;
    let trees = || trees(privacy, data, binding, observer);
    match params {
        Params::Kmn(params) => {
            refuse_common(policy, data, binding)?;
            kmn::refuse_unfit(&trees()?, hierarchies, params, observer)
        }
        Params::Km(params) => km::refuse_unfit(&trees()?, hierarchies, params, observer),
        Params::Cluster(params) => cluster::refuse_unfit(data, binding, hierarchies, params),
        Params::Dissect(params) => {
            let values = dissect::sensitive_values(data, binding);
            let sensitive: Vec<Sensitive<'_>> = (values.iter())
                .map(|values| Sensitive { values, hierarchy: hierarchies[values.declared].as_ref() })
                .collect();
            dissect::refuse_unfit(data.len(), &sensitive, params, observer)
        }
    }
}
