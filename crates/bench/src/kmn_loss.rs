//! Loss of k^(m,n): the default method against the paper's, the beam against all cuts, and whether disassociation pays.

use bosket_engine::kmn::{self, Params, Release};
use bosket_generate::tpch::Shape;
use bosket_measure::trees::{Comparison, Mining, TreeLoss};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_testkit::dice::Dice;
use bosket_testkit::trees::{ATTRIBUTES, PathRecord, dataset};

use crate::kmn::{customers, hierarchies, of_the_paper};

const KS: [u32; 3] = [5, 20, 100];
const MS: [u32; 3] = [2, 3, 4];
const WIDTHS: [u32; 4] = [1, 2, 4, 8];

pub(crate) fn run(number: u64, more: u64) {
    widths(&customers(Shape::Chain, number).0, number);
    println!();
    let (trees, binding) = customers(Shape::Chain, more);
    claim(&trees, &binding, more);
    for records in [300, 1000, 3000] {
        distribution(records);
    }
}

fn search(trees: &ValueTrees, sets: &[String]) -> Option<Release> {
    let (policy, _) = Policy::parse("tpch", &of_the_paper(Shape::Chain), sets).expect("a good policy");
    let params = Params::new(&policy).expect("possible");
    kmn::run(trees, &hierarchies(Shape::Chain, &policy), &params, None, &Quiet).ok()
}

fn sets(algorithm: &str, k: u32, m: u32, g: u32) -> Vec<String> {
    vec![
        format!("method.algorithm={algorithm}"),
        format!("privacy.k={k}"),
        format!("privacy.m={m}"),
        format!("method.g={g}"),
    ]
}

/// Exact RPD of `gcs` and `ocs` with beams of several widths, as multiples of what `best` reaches.
fn widths(trees: &ValueTrees, number: u64) {
    println!(
        "kmn loss: {number} customers of TPC-H, n = 2; exact RPD, as multiples of the one of `best` with g = 2"
    );
    println!("| k | m | best | route | {} | {} |", columns("gcs"), columns("ocs"));
    println!("|---|---|---|---|{}", "---|".repeat(2 * WIDTHS.len()));
    for k in KS {
        for m in MS {
            let Some(best) = search(trees, &sets("best", k, m, 2)) else {
                println!("| {k} | {m} | nothing can be published |");
                continue;
            };
            let cells = ["gcs", "ocs"].iter().flat_map(|a| WIDTHS.map(|g| search(trees, &sets(a, k, m, g))));
            let cells: Vec<String> =
                cells.map(|r| r.map_or("none".to_owned(), |r| format!("{:.2}", r.rpd / best.rpd))).collect();
            println!("| {k} | {m} | {:.5} | {} | {} |", best.rpd, best.route, cells.join(" | "));
        }
    }
}

fn columns(algorithm: &str) -> String {
    WIDTHS.map(|g| format!("{algorithm} g={g}")).join(" | ")
}

/// `gcs` against `ocs` by RPD, ML² and dML²: does taking relations apart pay?
fn claim(trees: &ValueTrees, binding: &Binding, number: u64) {
    println!(
        "kmn claim: {number} customers, m = 3, n = 2, g = 2; ML² and dML² over subtrees of up to 4 nodes in 1 % of the records"
    );
    println!("| k | method | rules | RPD | ML² | dML² | relations kept |");
    println!("|---|---|---|---|---|---|---|");
    for k in KS {
        for algorithm in ["gcs", "ocs", "best"] {
            let Some(release) = search(trees, &sets(algorithm, k, 3, 2)) else { continue };
            let (policy, _) = Policy::parse("tpch", &of_the_paper(Shape::Chain), &[]).expect("a good policy");
            // Records keep their order until they are written.
            let mapping: Vec<(u32, u32)> = (0..trees.len() as u32).map(|r| (r, r)).collect();
            let compared = Comparison {
                input: trees,
                published: &release.published,
                binding,
                hierarchies: &hierarchies(Shape::Chain, &policy),
                mapping: Some(&mapping),
            };
            let loss = TreeLoss::new(&compared, Mining::default(), &Quiet).expect("comparable");
            let kept = loss.relations.map_or(f64::NAN, |r| r.kept);
            println!(
                "| {k} | {algorithm} | {} | {:.5} | {:.3} | {:.3} | {:.1} % |",
                release.rules.len(),
                loss.rpd,
                loss.mining.ml2(),
                loss.mining.dml2(),
                100.0 * kept
            );
        }
    }
}

/// How far `gcs` with g = 2 is from all cuts, by the figure that both search by.
fn distribution(size: usize) {
    let text = |l: &str| format!("{l}1;{l}x;*\n{l}2;{l}x;*\n{l}3;{l}y;*\n{l}4;{l}y;*\n");
    let hierarchies: Vec<Option<Hierarchy>> =
        ["A", "B", "C"].iter().map(|l| Some(csv::parse("h", &text(l)).expect("a hierarchy"))).collect();
    println!(
        "\nkmn gcs against acs: 20 random datasets of {size} records, 3 attributes of 4 values, k = 5, m = 3, n = 2, g = 2"
    );
    let mut ratios: Vec<f64> = (0..20)
        .map(|seed| {
            let data = dataset(&records(seed, size));
            let sets = ["model=kmn", "k=5", "m=3", "n=2", "missing=nothing"].map(|s| format!("privacy.{s}"));
            let cost = |algorithm: &str| {
                let sets: Vec<String> =
                    sets.iter().cloned().chain([format!("method.algorithm={algorithm}")]).collect();
                let (policy, _) = Policy::parse("p", ATTRIBUTES, &sets).expect("a good policy");
                let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d")
                    .expect("all declared");
                let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Keep);
                let params = Params::new(&policy).expect("possible");
                kmn::run(&trees, &hierarchies, &params, None, &Quiet).expect("reachable").cost
            };
            cost("gcs") / cost("acs")
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let within = |most: f64| ratios.iter().filter(|r| **r <= most).count();
    println!(
        "  equal to the optimum: {}, within 2 %: {}, within 10 %: {}, of 20",
        within(1.0 + 1e-9),
        within(1.02),
        within(1.1)
    );
    println!("  ratios: {}", ratios.iter().map(|r| format!("{r:.3}")).collect::<Vec<_>>().join(" "));
}

/// Records with values of uneven frequency.
fn records(seed: u64, number: usize) -> Vec<PathRecord> {
    let mut dice = Dice::new(seed);
    let mut value = |level: &str| format!("{level}{}", 1 + dice.below(4).min(dice.below(4)));
    (0..number).map(|_| (0..3).map(|_| ["A", "B", "C"].map(&mut value).to_vec()).collect()).collect()
}
