//! k^(m,n) on TPC-H records: time, memory and loss of the searches.

use bosket_engine::kmn::{self, Params};
use bosket_generate::tpch::{self, Shape};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_verify::{Claim, verify};

use crate::read::read;
use crate::resources::{cpu, mb, memory, timed};

/// The value trees of so many customers.
pub(crate) fn customers(shape: Shape, number: u64) -> (ValueTrees, Binding) {
    let mut text = Vec::new();
    tpch::write_records(&mut text, shape, number, &Quiet).expect("writing to memory");
    let data = read(&text);
    drop(text);
    let (policy, _) = Policy::parse("tpch", &of_the_paper(shape), &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "tpch").expect("all declared");
    let (trees, time) = timed(|| ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Keep));
    let nodes: usize = (0..trees.len()).map(|r| trees.nodes(r).len()).sum();
    println!(
        "kmn: {number} customers of TPC-H ({shape:?}), {:.1} values each; value trees {:.2} s",
        nodes as f64 / trees.len() as f64,
        time.as_secs_f64()
    );
    (trees, binding)
}

/// The policy of a shape with the paper's reading of missing values: they are no knowledge.
pub(crate) fn of_the_paper(shape: Shape) -> String {
    let model = "model = \"kmn\"\n";
    shape.policy().replace(model, &format!("{model}missing = \"nothing\"\n"))
}

/// Searches with each of some settings of the policy.
pub(crate) fn run(shape: Shape, number: u64, settings: &[Vec<String>]) {
    let (trees, binding) = customers(shape, number);
    println!(
        "  {:24} {:>9} {:>9} {:>9} {:>7} {:>7} {:>9}",
        "", "search", "cpu", "verify", "rules", "cuts", "RPD"
    );
    for sets in settings {
        let (policy, _) = Policy::parse("tpch", &of_the_paper(shape), sets).expect("a good policy");
        let params = Params::new(&policy).expect("possible");
        let hierarchies = hierarchies(shape, &policy);
        let begun = cpu();
        let (release, time) =
            timed(|| kmn::run(&trees, &hierarchies, &params, None, &Quiet).expect("reachable"));
        let computed = cpu() - begun;
        let published = release.published.write_back(&binding);
        let again = Binding::new(published.schema(), &policy.attributes, policy.undeclared, "published")
            .expect("all declared");
        let claim = Claim::new(&policy).expect("a claim");
        let (witness, check) =
            timed(|| verify(&published, &again, &claim, &[], 2 << 30, &Quiet).expect("countable"));
        assert!(witness.is_none(), "the publication is not sound");
        let name: Vec<&str> = sets.iter().map(|s| s.split_once('.').map_or(s.as_str(), |p| p.1)).collect();
        println!(
            "  {:24} {:>7.2} s {:>7.2} s {:>7.2} s {:>7} {:>7} {:>9.5}  (peak {:.0} MB)",
            name.join(" ").replace("algorithm=", ""),
            time.as_secs_f64(),
            computed,
            check.as_secs_f64(),
            release.rules.len(),
            release.examined,
            release.rpd,
            mb(memory().1)
        );
    }
}

/// The hierarchies that a policy of a shape names.
pub(crate) fn hierarchies(shape: Shape, policy: &Policy) -> Vec<Option<Hierarchy>> {
    let files = tpch::hierarchies(shape);
    (policy.attributes.iter())
        .map(|a| match &a.hierarchy {
            Some(bosket_model::hierarchy::HierarchySpec::File(path)) => {
                let name = path.rsplit('/').next().unwrap_or(path);
                let text = files
                    .iter()
                    .find(|(file, _)| *file == name.trim_end_matches(".csv") || file.ends_with(name))
                    .map(|(_, text)| text);
                text.map(|text| csv::parse(path, text).expect("a good hierarchy"))
            }
            _ => None,
        })
        .collect()
}
