//! What k^m and k^(m,n) publish is true when it is compared with the input, also where values of the data are written
//! like inner nodes, and where sensitive items stay below what their neighbours became.

use bosket_engine::{Params, km, kmn};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::sets;
use bosket_verify::truth::{Comparison, Recoding, Side, compare};
use bosket_verify::{Claim, verify};
use proptest::prelude::*;

const TREE: &str = "a;A;X;*\nb;A;X;*\nc;B;X;*\nd;B;X;*\ne;*\n";

/// Leaves, inner nodes, the root, and what the leaf of an inner node is written like.
const VALUES: [&str; 9] = ["a", "b", "c", "d", "e", "A", "X", "*", "A (unspecified)"];

fn bind(data: &Dataset, policy: &Policy) -> Binding {
    Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared")
}

/// The publication as a stranger reads it.
fn publish(data: &Dataset, policy: &Policy, hierarchies: &[Option<Hierarchy>]) -> Result<Dataset> {
    let binding = bind(data, policy);
    let trees = ValueTrees::new(data, &binding, RootMode::Separate, Payload::Keep);
    let trees = match Params::new(policy)? {
        Params::Km(params) => km::run(&trees, hierarchies, &params, &Quiet)?.trees,
        Params::Kmn(params) => kmn::run(&trees, hierarchies, &params, None, &Quiet)?.published,
        _ => unreachable!("models of sets and value trees"),
    };
    let label = |node: usize| trees.items()[trees.item(node) as usize].label.clone();
    let labels: Vec<Vec<String>> = (0..trees.len()).map(|r| trees.nodes(r).map(label).collect()).collect();
    Ok(sets::dataset(&labels))
}

fn verdict(data: &Dataset, policy: &Policy, tree: &Hierarchy) -> Option<bosket_verify::Witness> {
    let claim = Claim::new(policy).expect("a claim");
    verify(data, &bind(data, policy), &claim, &[Some(tree.clone())], 1 << 24, &Quiet).expect("countable")
}

/// Publishes transactions as a policy asks for; the publication must be true.
fn check_truth(transactions: &[Vec<String>], privacy: &str) -> Option<(Dataset, Policy)> {
    let data = sets::dataset(transactions);
    let (policy, _) =
        Policy::parse("p", &format!("{}{privacy}", sets::ATTRIBUTES), &[]).expect("a good policy");
    let tree = csv::parse("h", TREE).expect("a hierarchy");
    // What is written like the leaf of an inner node is covered only where the node occurs as well.
    let (tree, _) = tree.bind(transactions.iter().flatten().map(String::as_str)).ok()?;
    let hierarchies = [Some(tree)];
    let published = publish(&data, &policy, &hierarchies).ok()?;
    let comparison = Comparison {
        published: Side { data: &published, binding: &bind(&published, &policy) },
        input: Side { data: &data, binding: &bind(&data, &policy) },
        hierarchies: &hierarchies,
        recoding: Recoding::of(&policy).expect("comparable"),
        suppress: false,
        mapping: None,
        sensitive: &policy.privacy.as_ref().expect("asked for").sensitive,
    };
    let untruths = compare(&comparison, &Quiet).expect("comparable");
    assert_eq!(untruths, [], "{privacy}\n{transactions:?}");
    Some((published, policy))
}

fn transactions(dice: &mut Dice, values: &[&str]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for _ in 0..1 + dice.below(8) {
        let items: Vec<&&str> = values.iter().filter(|_| dice.one_in(3)).collect();
        let transaction: Vec<String> = items.into_iter().map(|item| (*item).to_owned()).collect();
        all.extend(std::iter::repeat_n(transaction, 1 + dice.below(3)));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    /// Both were called untrue: a value written like an inner node was published so, and then meant all below it; a
    /// sensitive item lay under itself and under what its neighbours became.
    #[test]
    fn own_publications_are_true(seed: u64, k in 2u32..4, m in 1u32..3) {
        let mut dice = Dice::new(seed);
        let values = if dice.one_in(2) { &VALUES[..] } else { &VALUES[..5] };
        let transactions = transactions(&mut dice, values);
        for algorithm in ["aa", "da", "oa", "lra", "vpa", "partition"] {
            let secret = *dice.of(&["", "l = 1.5\nsensitive = [\"b\"]\n", "l = 2\nsensitive = [\"a\", \"e\"]\n"]);
            let known = secret.split('"').skip(1).step_by(2).all(|item| transactions.iter().flatten().any(|i| i == item));
            if !known {
                continue;
            }
            let asked = format!("[privacy]\nmodel = \"km\"\nk = {k}\nm = {m}\n{secret}[method]\nalgorithm = \"{algorithm}\"\n");
            check_truth(&transactions, &asked);
        }
        for algorithm in ["gcs", "best"] {
            let asked = format!("[privacy]\nmodel = \"kmn\"\nk = {k}\nm = {m}\nn = 0\nguard = false\n[method]\nalgorithm = \"{algorithm}\"\n");
            check_truth(&transactions, &asked);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    /// A label above values was taken for a value of its own, which nobody has: its absence said nothing.
    #[test]
    fn the_absence_of_a_label_is_that_of_all_its_values(seed: u64, k in 2u32..4, m in 1u32..3) {
        let mut dice = Dice::new(seed);
        let values = if dice.one_in(2) { &VALUES[..7] } else { &VALUES[..5] };
        let transactions = transactions(&mut dice, values);
        let plain = csv::parse("h", TREE).expect("a hierarchy");
        let (bound, _) =
            plain.bind(transactions.iter().flatten().map(String::as_str)).expect("all are covered");
        // What a stranger has: leaves of inner nodes only where they are published.
        let stranger = |data: &Dataset| {
            let labels = data.schema().attributes().flat_map(|(id, _)| data.dictionary(id).iter());
            plain.with_unspecified(labels.filter_map(|(_, text)| text.strip_suffix(" (unspecified)")))
        };
        let lists = [["[\"A\"]", "[\"a\", \"b\"]"], ["[\"X\", \"a\"]", "[\"c\", \"A\", \"d\"]"]];
        for [short, long] in lists {
            for model in ["km", "kmn"] {
                let rest = if model == "kmn" { "n = 0\nguard = false\n" } else { "" };
                let policy = |list: &str| {
                    let text = format!(
                        "{}[privacy]\nmodel = \"{model}\"\nk = {k}\nm = {m}\n{rest}negative = {list}\n",
                        sets::ATTRIBUTES
                    );
                    Policy::parse("p", &text, &[]).expect("a good policy").0
                };
                let data = sets::dataset(&transactions);
                let (short, long) = (policy(short), policy(long));
                prop_assert_eq!(verdict(&data, &short, &bound), verdict(&data, &long, &bound));
                prop_assert_eq!(verdict(&data, &short, &plain), verdict(&data, &short, &bound));
                for policy in [&short, &long] {
                    let Ok(made) = publish(&data, policy, &[Some(bound.clone())]) else { continue };
                    prop_assert_eq!(verdict(&made, policy, &bound), None);
                    prop_assert_eq!(verdict(&made, policy, &stranger(&made)), None);
                }
            }
        }
    }
}

fn baskets(lines: &[&str]) -> Vec<Vec<String>> {
    lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn a_sensitive_item_below_its_neighbours_was_called_untrue() {
    let transactions = baskets(&["e d c", "d b e a", "e d c", "e d c"]);
    let asked =
        "[privacy]\nmodel = \"km\"\nk = 2\nm = 1\nl = 3\nsensitive = [\"a\"]\n[method]\nalgorithm = \"aa\"\n";
    let (published, policy) = check_truth(&transactions, asked).expect("reachable");
    let claim = Claim::new(&policy).expect("a claim");
    let binding = bind(&published, &policy);
    assert_eq!(verify(&published, &binding, &claim, &[], 1 << 24, &Quiet).expect("countable"), None);
}

#[test]
fn a_value_written_like_an_inner_node_was_called_untrue() {
    let transactions = baskets(&["A", "A", "a", "a", "b", "b"]);
    let asked =
        "[privacy]\nmodel = \"kmn\"\nk = 2\nm = 1\nn = 0\nguard = false\n[method]\nalgorithm = \"gcs\"\n";
    let (published, _) = check_truth(&transactions, asked).expect("reachable");
    let labels: Vec<&str> = published
        .schema()
        .attributes()
        .flat_map(|(id, _)| published.dictionary(id).iter().map(|(_, text)| text))
        .collect();
    assert!(labels.contains(&"A (unspecified)") && !labels.contains(&"A"), "{labels:?}");
}
