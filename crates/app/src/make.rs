//! What a family makes of the records, in one form for all of them.
//!
//! Nothing is written here: `anonymize` writes and verifies what comes out, `sweep` and benchmarks look at it in memory.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use bosket_engine::partition::Frequencies;
use bosket_engine::{Params, cluster, km, kmn};
use bosket_model::binding::{Binding, Declared};
use bosket_model::dataset::ObjectName;
use bosket_model::hierarchy::{Hierarchy, ROOT_LABEL};
use bosket_model::observe::{Observer, Quiet};
use bosket_model::path::AttributePath;
use bosket_model::policy::{AttributePolicy, Format, Missing, Policy, Rows, Shape};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};
use bosket_verify::{Claim, Witness};
use serde_json::{Value, json};

use crate::deadline::Deadline;
use crate::figures::{ClusterFigures, Figures, KmFigures, KmnFigures};
use crate::silent::without_silent;

/// What a run works on.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// What is asked for.
    pub policy: &'a Policy,
    /// What is promised.
    pub claim: &'a Claim,
    /// The private records.
    pub data: &'a Dataset,
    /// The place of the attributes in the input.
    pub binding: &'a Binding,
    /// The same without companions, which are not published.
    pub published: &'a Binding,
    /// Per declared attribute, with a leaf for every value of the data.
    pub hierarchies: &'a [Option<Hierarchy>],
    /// Bytes for searching and counting.
    pub memory: usize,
    /// Labels, with the paths of their attributes, that told too much in earlier attempts, once for each of them.
    pub told: &'a [(String, String)],
    /// What is known of all records, where those here are a kernel of them.
    pub kernel: Option<KernelOf<'a>>,
}

/// What is known of the records that a kernel is of.
#[derive(Clone, Copy, Debug)]
pub struct KernelOf<'a> {
    /// Sums over all of them.
    pub all: &'a Arc<Frequencies>,
    /// Whether relations may be taken apart.
    pub may_part: bool,
}

impl Work<'_> {
    /// The records as value trees, with nodes for empty places where these count.
    pub fn trees(&self) -> Result<ValueTrees> {
        bosket_engine::trees(self.policy.need_privacy()?, self.data, self.published, &Quiet)
    }
}

/// The records that a family has made.
#[derive(Debug)]
pub enum Product {
    /// Value trees.
    Trees(ValueTrees),
    /// Vertex trees.
    Vertices {
        /// The records.
        data: Dataset,
        /// The place of their attributes.
        binding: Binding,
        /// The input record of each.
        records: Vec<u32>,
    },
}

impl Product {
    /// How many values of a declared attribute are published.
    pub fn values(&self, declared: usize) -> usize {
        match self {
            Product::Trees(trees) => trees.items().iter().filter(|item| item.declared == declared).count(),
            Product::Vertices { data, binding, .. } => {
                let own = data.schema().attributes().map(|(id, _)| id);
                let own = own.filter(|id| binding.attributes[id.index()] == Some(declared));
                // What has moved up stands in a class of its own, with the same labels.
                let labels: BTreeSet<&str> =
                    own.flat_map(|id| data.dictionary(id).iter().map(|(_, text)| text)).collect();
                labels.len()
            }
        }
    }
}

/// The result of an algorithm.
#[derive(Debug)]
pub struct Made {
    /// The records.
    pub product: Product,
    /// What was done and what it cost.
    pub figures: Figures,
    /// What goes beside the mapping and nowhere else.
    pub private: Value,
    /// `method.time` was over, or somebody did not want to wait, before the search was done.
    pub cut_short: bool,
    /// Of trees, cut and rules as they are applied to other records.
    pub recipe: kmn::Recipe,
}

impl Made {
    /// What whoever gets it should know besides.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        cut_short(self.cut_short).into_iter().collect()
    }
}

/// What whoever gets the result of a search should know that was not done.
pub(crate) fn cut_short(was: bool) -> Option<Diagnostic> {
    let what = "the search was cut short: what is published depends on how fast the machine was";
    let help = "the promise is kept all the same; allow more time to lose less";
    was.then(|| Diagnostic::warning(what).help(help))
}

/// Runs the algorithm that the policy asks for.
pub fn make(work: &Work<'_>, observer: &dyn Observer) -> Result<Made> {
    without_silent(searched(work, observer)?, work, observer)
}

/// The same with rows that say nothing, which may stand for something in another release.
pub(crate) fn searched(work: &Work<'_>, observer: &dyn Observer) -> Result<Made> {
    let (time, refines) = (work.policy.method.duration("time"), work.policy.recodes_locally());
    let observer = &Deadline::new(observer, time, refines);
    let made = match Params::new(work.policy)? {
        Params::Kmn(params) => kmn(work, params, observer),
        Params::Km(params) => km(work, params, observer),
        Params::Cluster(params) => clusters(work, params, observer),
        Params::Dissect(_) => Err(Failure::defect("dissection makes groups of people, not records")),
    }?;
    without_invented(made, work, observer)
}

/// The nested objects that the publication must not make up: those that some of the input do not have, where it has `*` in
/// place of what is missing.
pub(crate) fn invented(policy: &Policy, data: &Dataset, binding: &Binding) -> BTreeSet<ObjectName> {
    let tabular = policy.source.as_ref().is_some_and(|source| {
        !source.tables.is_empty() || matches!(source.format, Format::Csv | Format::Transactions)
    });
    let privacy = policy.privacy.as_ref();
    let fills =
        privacy.is_some_and(|p| p.model.shape() == Shape::VertexTree || p.missing == Missing::Counted);
    if tabular || !fills { BTreeSet::new() } else { data.objects_lacking(binding) }
}

/// The same without objects that the input of some does not have and that would say nothing.
pub(crate) fn without_invented(made: Made, work: &Work<'_>, observer: &dyn Observer) -> Result<Made> {
    let lacking = invented(work.policy, work.data, work.binding);
    let product = match made.product {
        Product::Vertices { data, binding, records } => {
            let data = data.without_hollow(&binding, &lacking);
            if !lacking.is_empty() {
                refuse_merged(work, &data, &binding, observer)?;
            }
            Product::Vertices { data, binding, records }
        }
        trees => trees,
    };
    Ok(Made { product, ..made })
}

/// Without an object some records look like others that never had it. Shares of values only become more even by that, but a value
/// that may not recur anywhere may do so now.
fn refuse_merged(work: &Work<'_>, data: &Dataset, binding: &Binding, observer: &dyn Observer) -> Result<()> {
    if work.policy.privacy.as_ref().is_none_or(|privacy| privacy.distinct_everywhere.is_empty()) {
        return Ok(());
    }
    let (claim, trees) = (work.claim, work.hierarchies);
    if bosket_verify::verify(data, binding, claim, trees, work.memory, observer)?.is_none() {
        return Ok(());
    }
    let what = "some records do not have a nested object, and others would be published without it: they look alike then, and a \
                value of `distinct_everywhere` recurs among them";
    let help = "leave the attributes of the nested object out (`role = \"drop\"`), or claim no `distinct_everywhere`";
    Err(Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help)))
}

fn kmn(work: &Work<'_>, mut params: kmn::Params, observer: &dyn Observer) -> Result<Made> {
    params.memory = work.memory;
    let declared = |path: &String| work.binding.declared.iter().position(|d| d.path == *path);
    params.told =
        work.told.iter().filter_map(|(path, label)| Some((declared(path)?, label.clone()))).collect();
    if let Some(kernel) = &work.kernel {
        params.all = Some(Arc::clone(kernel.all));
        params.disassociate &= kernel.may_part;
    }
    let policy = work.policy;
    bosket_engine::refuse_common(policy, work.data, work.published)?;
    let attributes = placed(policy, work.binding);
    let bind = |data: &Dataset| Binding::new(data.schema(), &attributes, policy.undeclared, "a solution");
    // Whether anything but diversity has broken a solution.
    let (by_l, by_others) = (Cell::new(false), Cell::new(false));
    let keeps = |data: &Dataset| -> Result<kmn::Verdict> {
        let binding = bind(data)?;
        let witness =
            bosket_verify::verify(data, &binding, work.claim, work.hierarchies, work.memory, observer)?;
        if let Some(witness) = &witness {
            if witness.sensitive.is_some() { by_l.set(true) } else { by_others.set(true) }
        }
        Ok(witness.map_or(kmn::Verdict::Kept, |w| broken_by(&w, &binding)))
    };
    let cause = |failure: Failure| match by_l.get() && !by_others.get() {
        true => unreachable_l(failure, policy),
        false => failure,
    };
    let trees = work.trees()?;
    if policy.rows() == Rows::United {
        let keeps = |trees: &ValueTrees| keeps(&trees.write_back(work.binding));
        let accept: Option<kmn::Accept<'_>> =
            if params.beyond || params.counted { Some(&keeps) } else { None };
        let release = kmn::run(&trees, work.hierarchies, &params, accept, observer).map_err(cause)?;
        let (figures, private) = told(&release, work);
        let (cut_short, recipe) = (release.cut_short, release.recipe);
        let product = match params.counted {
            false => Product::Trees(release.published),
            // Trees that are read again have no nodes for empty places.
            true => vertices(release.published.write_back(work.binding), &bind)?,
        };
        return Ok(Made { product, figures, private, cut_short, recipe });
    }
    let payload = policy.need_privacy()?.payload;
    let source = kmn::Source { data: work.data, binding: work.published, payload, rows: policy.rows() };
    let accept: Option<kmn::Accept<'_, Dataset>> =
        if params.beyond || params.counted || params.local { Some(&keeps) } else { None };
    let release =
        kmn::run_rows(&source, &trees, work.hierarchies, &params, accept, observer).map_err(cause)?;
    let (figures, private) = told(&release, work);
    let (cut_short, recipe) = (release.cut_short, release.recipe);
    Ok(Made { product: vertices(release.published, &bind)?, figures, private, cut_short, recipe })
}

/// Records in the order of the input.
fn vertices(data: Dataset, bind: &dyn Fn(&Dataset) -> Result<Binding>) -> Result<Product> {
    let binding = bind(&data)?;
    let records = (0..data.len() as u32).collect();
    Ok(Product::Vertices { data, binding, records })
}

/// Names l as what cannot be reached.
fn unreachable_l(mut failure: Failure, policy: &Policy) -> Failure {
    let l = policy.privacy.as_ref().and_then(|privacy| privacy.l);
    if let (Fault::Unreachable, Some(l)) = (failure.fault, l) {
        let what = format!(
            "l = {l} is what none of the solutions reaches: each lets somebody infer a sensitive value"
        );
        let help =
            "ask for a smaller l, or let `buckets` put rare values together; k, m and n alone can be reached";
        failure.diagnostics.push(Diagnostic::error(what).help(help));
    }
    failure
}

/// What a release of trees cost, and what goes beside the mapping.
fn told<P>(release: &kmn::Release<P>, work: &Work<'_>) -> (Figures, Value) {
    let binding = work.binding;
    let path = |(declared, label): &(usize, String)| json!([binding.declared[*declared].path, label]);
    let cut = |(declared, labels): &(usize, Vec<String>)| json!({"path": binding.declared[*declared].path, "published": labels});
    let figures = Figures::Kmn(KmnFigures {
        route: match release.cut_short {
            true => format!("{}, cut short", release.route),
            false => release.route.clone(),
        },
        cuts_examined: release.examined,
        cost: release.cost,
        rpd: release.rpd,
        values_lowered: release.lowered,
        rows_silent: leaves_silent_rows(&release.cut, work),
        disassociations: release.rules.len(),
        people_emptied: release.emptied,
    });
    let private = json!({
        "cut": release.cut.iter().map(cut).collect::<Vec<_>>(),
        "rules": release.rules.iter().map(|(a, b)| json!({"above": path(a), "below": path(b)})).collect::<Vec<_>>(),
    });
    (figures, private)
}

/// Whether a cut leaves nothing of some rows, where these are not published.
fn leaves_silent_rows(cut: &[(usize, Vec<String>)], work: &Work<'_>) -> bool {
    let privacy = work.policy.privacy.as_ref();
    let goes = privacy.is_some_and(|p| p.missing == Missing::Counted) && work.policy.rows() == Rows::Distinct;
    let home = |declared: usize| work.binding.declared[declared].home;
    let says_nothing = |labels: &[String]| labels.iter().all(|label| label == ROOT_LABEL);
    let is_silent =
        |of: usize| cut.iter().filter(|(own, _)| home(*own) == of).all(|(_, labels)| says_nothing(labels));
    goes && cut.iter().map(|(declared, _)| home(*declared)).any(|of| of != 0 && is_silent(of))
}

/// What a witness tells the search. Diversity does not depend on single relations, so there they are of no use.
fn broken_by(witness: &Witness, binding: &Binding) -> kmn::Verdict {
    let value = |i: usize| {
        let known = &witness.values[i];
        let declared = binding.declared.iter().position(|d| d.path == known.path)?;
        Some((declared, known.value.clone()))
    };
    let relations = witness.relations.iter().filter(|_| witness.sensitive.is_none());
    kmn::Verdict::Broken(relations.filter_map(|&(a, b)| Some((value(a)?, value(b)?))).collect())
}

fn km(work: &Work<'_>, mut params: km::Params, observer: &dyn Observer) -> Result<Made> {
    params.memory = work.memory;
    let trees = work.trees()?;
    let release = km::run(&trees, work.hierarchies, &params, observer)?;
    Ok(Made {
        figures: Figures::Km(KmFigures {
            algorithm: params.algorithm.name().to_owned(),
            ncp: release.ncp,
            parts: release.parts.len(),
            itemsets_repaired: release.repaired,
            items_left_out: release.suppressed.len(),
            occurrences_left_out: release.suppressed_occurrences,
        }),
        private: json!({
            "parts": release.parts.iter().map(|p| json!({"records": p.records, "cut": p.cut})).collect::<Vec<_>>(),
            "left_out": release.suppressed,
        }),
        product: Product::Trees(release.trees),
        cut_short: release.cut_short,
        recipe: kmn::Recipe::default(),
    })
}

fn clusters(work: &Work<'_>, mut params: cluster::Params, observer: &dyn Observer) -> Result<Made> {
    params.memory = work.memory;
    let release = cluster::run(work.data, work.published, work.hierarchies, &params, observer)?;
    clusters_of(work, &params, release)
}

/// A release of clusters as all releases are told.
pub(crate) fn clusters_of(
    work: &Work<'_>,
    params: &cluster::Params,
    release: cluster::Release,
) -> Result<Made> {
    let policy = work.policy;
    let binding = Binding::new(release.data.schema(), &policy.attributes, policy.undeclared, "the result")?;
    let sizes = release.clusters.iter().map(Vec::len);
    let (smallest, largest) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    Ok(Made {
        figures: Figures::Clusters(ClusterFigures {
            algorithm: params.algorithm.name().to_owned(),
            lm: release.lm,
            clusters: release.clusters.len(),
            smallest,
            largest,
            suppressed: release.suppressed.len(),
            pruned: release.pruned,
            cells: release.cells,
            apart: None,
        }),
        private: json!({
            "clusters": release.clusters.iter().map(|c| c.iter().map(|r| r + 1).collect()).collect::<Vec<Vec<u32>>>(),
            "suppressed": release.suppressed.iter().map(|r| r + 1).collect::<Vec<u32>>(),
        }),
        product: Product::Vertices { data: release.data, binding, records: release.records },
        cut_short: release.cut_short,
        recipe: kmn::Recipe::default(),
    })
}

/// The policy's attributes, each where the input has it: a reader may have read `item[]` as `item`.
pub(crate) fn placed(policy: &Policy, binding: &Binding) -> Vec<AttributePolicy> {
    let structure = |declared: &Declared| {
        let (mut classes, mut home) = (Vec::new(), declared.home);
        while let Some(parent) = binding.homes[home].parent {
            classes.push(binding.homes[home].name.clone());
            home = parent;
        }
        classes.reverse();
        AttributePath { classes, name: declared.name.clone() }
    };
    let own = policy.attributes.iter().zip(&binding.declared);
    own.map(|(a, d)| AttributePolicy { structure: Some(structure(d)), ..a.clone() }).collect()
}
