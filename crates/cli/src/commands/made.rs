//! What a family has made of the records, in one form for the command.

use bosket_engine::{cluster, km, kmn};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::policy::{Family, Policy};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Diagnostic, Failure, Fault};
use bosket_verify::{Claim, Witness};
use serde_json::{Value, json};

use crate::output::{count, plural};
use crate::talk::Talk;

/// What a run works on.
pub(super) struct Work<'a> {
    pub(super) policy: &'a Policy,
    pub(super) claim: &'a Claim,
    pub(super) data: &'a Dataset,
    /// The place of the attributes in the input.
    pub(super) binding: &'a Binding,
    /// The same without companions, which are not published.
    pub(super) published: &'a Binding,
    pub(super) hierarchies: &'a [Option<Hierarchy>],
    /// Bytes for searching and counting.
    pub(super) memory: usize,
}

impl Work<'_> {
    /// The records as value trees.
    fn trees(&self) -> Result<ValueTrees, Failure> {
        let privacy = self.policy.need_privacy()?;
        Ok(ValueTrees::new(self.data, self.published, privacy.root, privacy.payload))
    }
}

/// The records that a family has made.
pub(super) enum Product {
    /// Value trees.
    Trees(ValueTrees),
    /// Vertex trees, the place of their attributes, and the input record of each.
    Vertices { data: Dataset, binding: Binding, records: Vec<u32> },
}

impl Product {
    /// How many values of a declared attribute are published.
    pub(super) fn values(&self, declared: usize) -> usize {
        match self {
            Product::Trees(trees) => trees.items().iter().filter(|item| item.declared == declared).count(),
            Product::Vertices { data, binding, .. } => {
                let own = data.schema().attributes().map(|(id, _)| id);
                let own = own.filter(|id| binding.attributes[id.index()] == Some(declared));
                own.map(|id| data.dictionary(id).len()).sum()
            }
        }
    }
}

/// The result of an algorithm.
pub(super) struct Made {
    pub(super) product: Product,
    /// What was done and what it cost, in words.
    pub(super) told: String,
    /// The same for programs.
    pub(super) figures: Value,
    /// What goes beside the mapping and nowhere else.
    pub(super) private: Value,
}

/// Runs the algorithm that the policy asks for.
pub(super) fn make(work: &Work<'_>, talk: &Talk) -> Result<Made, Failure> {
    let model = work.policy.need_privacy()?.model;
    match model.family() {
        Family::Km => km(work, talk),
        Family::Kmn => kmn(work, talk),
        Family::Cluster => clusters(work, talk),
        // Dissection goes a way of its own.
        Family::Dissect => Err(Failure::new(
            Fault::Policy,
            Diagnostic::error(format!("no algorithm for model `{model}` is registered in this version")),
        )),
    }
}

fn kmn(work: &Work<'_>, talk: &Talk) -> Result<Made, Failure> {
    let mut params = kmn::Params::new(work.policy)?;
    params.memory = work.memory;
    let keeps = |trees: &ValueTrees| -> Result<kmn::Verdict, Failure> {
        let data = trees.write_back(work.binding);
        let policy = work.policy;
        let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, "a solution")?;
        let witness =
            bosket_verify::verify(&data, &binding, work.claim, work.hierarchies, work.memory, talk)?;
        Ok(witness.map_or(kmn::Verdict::Kept, |w| broken_by(&w, &binding)))
    };
    let accept: Option<kmn::Accept<'_>> = if params.beyond { Some(&keeps) } else { None };
    let trees = work.trees()?;
    let release = kmn::run(&trees, work.hierarchies, &params, accept, talk)?;
    let apart = match release.rules.len() {
        0 => "no relation had to be taken apart".to_owned(),
        1 => "one kind of relation was taken apart".to_owned(),
        n => format!("{} kinds of relation were taken apart", count(n)),
    };
    let left_out = match release.suppressed {
        0 => String::new(),
        n => format!("; {} left out everywhere", plural(n, "value")),
    };
    let examined = plural(release.examined as usize, "cut");
    let path = |(declared, label): &(usize, String)| json!([work.binding.declared[*declared].path, label]);
    let cut = |(declared, labels): &(usize, Vec<String>)| json!({"path": work.binding.declared[*declared].path, "published": labels});
    Ok(Made {
        told: format!("{apart}{left_out}; loss RPD {:.3e}; {} after {examined}", release.rpd, release.route),
        figures: json!({
            "route": release.route,
            "cuts_examined": release.examined,
            "rpd": release.rpd,
            "disassociations": release.rules.len(),
            "values_left_out": release.suppressed,
        }),
        private: json!({
            "cut": release.cut.iter().map(cut).collect::<Vec<_>>(),
            "rules": release.rules.iter().map(|(a, b)| json!({"above": path(a), "below": path(b)})).collect::<Vec<_>>(),
        }),
        product: Product::Trees(release.trees),
    })
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

fn km(work: &Work<'_>, talk: &Talk) -> Result<Made, Failure> {
    let mut params = km::Params::new(work.policy)?;
    params.memory = work.memory;
    let trees = work.trees()?;
    let release = km::run(&trees, work.hierarchies, &params, talk)?;
    let parts = match release.parts.len() {
        1 => String::new(),
        n => format!(" in {} parts", count(n)),
    };
    let left_out = match release.suppressed.len() {
        0 => String::new(),
        n => format!("; {} left out everywhere", plural(n, "item")),
    };
    let algorithm = params.algorithm.name();
    Ok(Made {
        told: format!("loss NCP {:.2} %{left_out}; {algorithm}{parts}", 100.0 * release.ncp),
        figures: json!({
            "algorithm": algorithm,
            "ncp": release.ncp,
            "parts": release.parts.len(),
            "itemsets_repaired": release.repaired,
            "items_left_out": release.suppressed.len(),
            "occurrences_left_out": release.suppressed_occurrences,
        }),
        private: json!({
            "parts": release.parts.iter().map(|p| json!({"records": p.records, "cut": p.cut})).collect::<Vec<_>>(),
            "left_out": release.suppressed,
        }),
        product: Product::Trees(release.trees),
    })
}

fn clusters(work: &Work<'_>, talk: &Talk) -> Result<Made, Failure> {
    let params = cluster::Params::new(work.policy)?;
    let release = cluster::run(work.data, work.published, work.hierarchies, &params, talk)?;
    let policy = work.policy;
    let binding = Binding::new(release.data.schema(), &policy.attributes, policy.undeclared, "the result")?;
    let algorithm = params.algorithm.name();
    let suppressed = match release.suppressed.len() {
        0 => "no record had to be suppressed".to_owned(),
        n => format!("{} suppressed", plural(n, "record")),
    };
    let sizes = release.clusters.iter().map(Vec::len);
    let (smallest, largest) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    Ok(Made {
        told: format!(
            "loss LM {:.3}; {suppressed}, {} vertices of the others pruned; {algorithm}: {} of {smallest} to {largest} records",
            release.lm,
            count(release.pruned as usize),
            plural(release.clusters.len(), "cluster"),
        ),
        figures: json!({
            "algorithm": algorithm,
            "lm": release.lm,
            "clusters": release.clusters.len(),
            "smallest_cluster": smallest,
            "largest_cluster": largest,
            "records_suppressed": release.suppressed.len(),
            "vertices_pruned": release.pruned,
        }),
        private: json!({
            "clusters": release.clusters.iter().map(|c| c.iter().map(|r| r + 1).collect()).collect::<Vec<Vec<u32>>>(),
            "suppressed": release.suppressed.iter().map(|r| r + 1).collect::<Vec<u32>>(),
        }),
        product: Product::Vertices { data: release.data, binding, records: release.records },
    })
}
