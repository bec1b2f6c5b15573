//! Searching records that come in parts: sums over all of them, and kernels in their place.
//!
//! A kernel at a cut has every set of at most m labels at least min(support, k) times. Then it has so at every coarser cut
//! too: if one of the sets that become one has k records, the kernel has k of them; else they are all rare, and the kernel
//! has all their records. So whoever looks at nothing but supports up to k, and at sums over all records, decides on a
//! kernel as on all records. Merged kernels of parts are a kernel of all, and a kernel of a kernel is one.
//!
//! Every part is laid over one frame (`bosket_model::partition`), so that items have one numbering, and hierarchies are built
//! over the values of all parts.

mod filter;
mod frequencies;
mod kernel;
mod pruned;
mod sets;
mod steps;

use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Algorithm, Policy, Relations};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

use crate::Params;

pub use filter::{Filter, NO_LABEL, Range};
pub use frequencies::Frequencies;
pub use kernel::Kernel;
pub(crate) use kernel::Taken;
pub use sets::Sets;
pub use steps::{LaidOut, StepCounts, Steps};

/// Whoever can go through all records.
pub trait Passes {
    /// A kernel of all records: for each item the label that it is counted at, and the most labels of a set.
    fn kernel(&mut self, labels: &[u32], size: usize) -> Result<Kernel>;

    /// Per finer label whether it is rare with labels of the cut ([`StepCounts::rare`]); none if nobody counts that here.
    fn rare_steps(&mut self, _: &Steps) -> Result<Option<Vec<bool>>> {
        Ok(None)
    }
}

impl<F: FnMut(&[u32], usize) -> Result<Kernel>> Passes for F {
    fn kernel(&mut self, labels: &[u32], size: usize) -> Result<Kernel> {
        self(labels, size)
    }
}

/// Most known values whose relations are told by bits.
const MOST_RELATED: usize = 8;

/// Refuses what cannot be made from parts, with the reason.
pub fn refuse_unmergeable(policy: &Policy, params: &Params) -> Result<()> {
    let privacy = policy.need_privacy()?;
    let local = policy.recodes_locally();
    let mut problems: Vec<(&str, &str)> = Vec::new();
    let mut refuse = |asked: bool, what, help| {
        if asked {
            problems.push((what, help));
        }
    };
    let memory = "allow more memory, so that all records fit, or take it out";
    match params {
        Params::Km(params) => {
            refuse(
                params.algorithm != Algorithm::Aa,
                "of the algorithms for sets only `aa` looks at no more than kernels show",
                "write `algorithm = \"aa\"`, or allow more memory, so that all records fit",
            );
            refuse(!params.sensitive.is_empty(), "`sensitive` items are judged among all records", memory);
        }
        Params::Kmn(params) => {
            refuse(params.suppress, "`suppress` chooses people among all records", memory);
            refuse(
                params.n > 0 && params.m > MOST_RELATED,
                "relations between more than eight values are not counted",
                "ask for a smaller m, or allow more memory, so that all records fit",
            );
        }
        _ => {
            refuse(true, "this model is not made from kernels", "allow more memory, so that all records fit");
        }
    }
    refuse(
        local,
        "`recoding = \"local\"` gives every value a label of its own among all records",
        "write `recoding = \"global\"`, or allow more memory, so that all records fit",
    );
    refuse(privacy.l.is_some(), "`l` is about shares of all records, which kernels do not keep", memory);
    refuse(
        !privacy.negative.is_empty(),
        "`negative` is about what records do not hold, which kernels do not keep",
        memory,
    );
    refuse(
        !privacy.attackers.is_empty(),
        "attackers are judged among all records: the classes of those who look alike to them are not in kernels",
        "allow more memory, so that all records fit, or ask for `k`, `m` and `n` alone",
    );
    refuse(
        privacy.guard,
        "`guard` is about what could have been together, which kernels do not keep",
        memory,
    );
    refuse(
        policy.method.duration("time").is_some(),
        "`time` would end passes over all records in the middle",
        memory,
    );
    let told = problems.into_iter().map(|(what, help)| {
        let what = format!("the records do not fit into memory, and cannot be worked on in parts: {what}");
        Diagnostic::error(what).at(Place::source(&policy.name)).help(help)
    });
    let told: Vec<Diagnostic> = told.collect();
    if told.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, told)) }
}

/// Whether a search on kernels finds what it would find on all records.
pub fn is_exact(policy: &Policy, params: &Params) -> bool {
    match params {
        Params::Km(_) => true,
        Params::Kmn(params) => {
            let embedded = policy.privacy.as_ref().is_some_and(|p| p.relations == Relations::Embedded);
            params.algorithm == Algorithm::Gcs
                && params.cost == crate::kmn::Cost::Lm
                && !params.disassociate
                && (params.n <= 1 || embedded)
        }
        _ => false,
    }
}

/// What kernels count, for sets of at most `size` labels.
pub fn range(policy: &Policy, params: &Params, size: usize) -> Result<Range> {
    match params {
        Params::Km(params) => Ok(Range { k: params.k, m: size, n: 0, embedded: false }),
        Params::Kmn(params) => {
            let embedded = policy.need_privacy()?.relations == Relations::Embedded;
            Ok(Range { k: params.k, m: size, n: params.n, embedded: embedded && params.n > 1 })
        }
        _ => Err(Failure::defect("kernels are for sets and trees")),
    }
}

/// Adds the records of a part that belong to a kernel. `quasi` are its records with quasi values alone, where whole records
/// are kept.
pub fn take(
    kernel: &mut Kernel,
    filter: &mut Filter,
    (part, trees): (u32, &ValueTrees),
    quasi: Option<&Dataset>,
    observer: &dyn Observer,
) -> Result<()> {
    let taken = filter.take(trees, observer)?;
    match quasi {
        None => {
            for record in (0..trees.len()).filter(|&record| taken[record]) {
                kernel.push_set((part, record as u32), trees.nodes(record).map(|node| trees.item(node)));
            }
        }
        Some(data) => kernel.push_records(part, data, &taken, observer)?,
    }
    Ok(())
}

/// The same for sets of items. Of items that have one label one is enough, and the others are left out.
pub fn take_sets(
    kernel: &mut Kernel,
    filter: &mut Filter,
    (part, sets): (u32, &Sets),
    observer: &dyn Observer,
) -> Result<()> {
    let taken = filter.take_sets(sets, observer)?;
    let mut items = Vec::new();
    for record in (0..sets.len()).filter(|&record| taken[record]) {
        filter.by_label(sets.of(record), &mut items);
        kernel.push_set((part, record as u32), items.iter().copied());
    }
    Ok(())
}

/// Per item its own number: the finest labels there are.
pub fn finest(trees: &ValueTrees, hierarchies: &[Option<Hierarchy>]) -> Vec<u32> {
    // Items that differ in kind only, or in spelling, share a leaf.
    let mut known: std::collections::BTreeMap<(usize, u32), u32> = std::collections::BTreeMap::new();
    let mut label = |(number, item): (usize, &bosket_model::value_tree::Item)| {
        let leaf = hierarchies.get(item.declared).and_then(Option::as_ref).and_then(|h| h.leaf(&item.label));
        match leaf {
            Some(leaf) => *known.entry((item.declared, leaf.0)).or_insert(number as u32),
            None => number as u32,
        }
    };
    trees.items().iter().enumerate().map(&mut label).collect()
}
