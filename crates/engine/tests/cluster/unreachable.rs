//! What cannot be done is said, not done badly.

use bosket_engine::cluster::{Algorithm, Params};
use bosket_model::Fault;
use bosket_testkit::dice::Dice;

use super::{Case, diverse};

#[test]
fn more_alike_than_there_are_records() {
    let case = Case::random(&mut Dice::new(1), 5, &["A", "B"]);
    let failure = case.run(&Params::plain(Algorithm::Ctoff, 6, None)).expect_err("too few records");
    assert_eq!(failure.fault, Fault::Unreachable);
    assert!(failure.diagnostics[0].message.contains("clusters of 6 cannot be made of 5 records"));
}

#[test]
fn everybody_with_the_same_secret() {
    let mut case = Case::random(&mut Dice::new(1), 12, &["A"]);
    // Find a case whose records themselves have a secret that is the same for all.
    let mut seed = 2;
    while case.roles[0][2] != bosket_model::policy::Role::Sensitive {
        case = Case::random(&mut Dice::new(seed), 12, &["A"]);
        seed += 1;
    }
    let all: Vec<_> = (0..12)
        .map(|_| bosket_testkit::vertices::Vertex {
            class: 0,
            values: [Some("p".into()), None, Some("A".into()), None],
            children: Vec::new(),
        })
        .collect();
    let case = Case::of(&all, case.roles);
    for algorithm in [
        Algorithm::Ctoff,
        Algorithm::Clustree,
        Algorithm::Miracle,
        Algorithm::Miraclex,
        Algorithm::Dmiracle,
        Algorithm::Bitmap,
    ] {
        let failure =
            case.run(&Params::plain(algorithm, 1, Some(diverse(2.0)))).expect_err("one secret only");
        assert_eq!(failure.fault, Fault::Unreachable, "{algorithm:?}");
        let told = format!("{:?}", failure.diagnostics);
        assert!(!told.contains("\"A\""), "no value of the data is told");
    }
}

#[test]
fn all_missing_hierarchies_are_told_at_once() {
    let mut dice = Dice::new(3);
    let mut case = Case::random(&mut dice, 8, &["A", "B"]);
    case.hierarchies.iter_mut().for_each(|h| *h = None);
    let failure = case.run(&Params::plain(Algorithm::Ctoff, 2, None)).expect_err("no hierarchies");
    assert_eq!(failure.fault, Fault::Policy);
    let quasi = case
        .data
        .schema()
        .attributes()
        .filter(|(id, _)| case.binding.role(*id) == Some(bosket_model::policy::Role::Quasi));
    assert_eq!(failure.diagnostics.len(), quasi.count());
}

#[test]
fn numbers_that_fit_no_bucket() {
    let mut dice = Dice::new(11);
    let case = Case::random(&mut dice, 8, &["A", "B"]);
    let mut ask = diverse(2.0);
    ask.buckets = vec![Some(vec![1.0, 2.0]); 16];
    let failure = case.run(&Params::plain(Algorithm::Ctoff, 2, Some(ask)));
    let failure = failure.expect_err("A and B are no numbers");
    assert_eq!(failure.fault, Fault::Data);
    assert!(failure.diagnostics.iter().all(|d| d.message.contains("are not numbers")));
}
