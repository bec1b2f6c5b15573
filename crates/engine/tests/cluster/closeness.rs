//! t-closeness and β-likeness: reached by merging, verified, and the smallest number told where they cannot be.

use std::time::Duration;

use bosket_engine::cluster::{Algorithm, Close, Measure, Params, run};
use bosket_model::Fault;
use bosket_model::policy::{Ground, Role};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::hurried::Hurried;
use bosket_testkit::vertices::{BOOKS, PERSON, TAKES, Vertex};
use proptest::prelude::*;

use super::promises::{check, random_params};
use super::{Case, add_secret_trees, random_close};

fn close(measure: Measure) -> Close {
    Close { measure, grounds: Vec::new(), buckets: Vec::new() }
}

/// A row with a quasi value, and values of `c` and `d`.
fn row(quasi: &str, c: &str, d: &str) -> Vertex {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Vertex { class: PERSON, values: [given(quasi), None, given(c), given(d)], children: Vec::new() }
}

fn flat_roles() -> [[Role; 4]; 4] {
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[PERSON] = [Role::Quasi, Role::Quasi, Role::Sensitive, Role::Sensitive];
    roles
}

/// A table of so many rows; values go a little with what is known.
fn rows(dice: &mut Dice, count: usize) -> Case {
    let all: Vec<Vertex> = (0..count)
        .map(|_| {
            let quasi = *dice.of(&["p", "q", "r", "s", "t"]);
            let tied = dice.one_in(2).then_some(if quasi < "r" { "A" } else { "D" });
            let c = tied.unwrap_or(*dice.of(&["A", "B", "C", "D", "E", "F", ""]));
            let n = *dice.of(&["1", "2", "3", "4", "5", ""]);
            row(quasi, c, n)
        })
        .collect();
    let mut case = Case::of(&all, flat_roles());
    add_secret_trees(&mut case);
    case
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]
    #[test]
    fn every_result_is_as_close_as_promised(seed: u64, records in 4usize..40) {
        let mut dice = Dice::new(seed);
        let mut case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        add_secret_trees(&mut case);
        let ask = random_close(&mut dice);
        let params = Params { diverse: None, close: Some(ask), ..random_params(&mut dice) };
        match case.run(&params) {
            Ok(release) => check(&case, &params, &release),
            Err(failure) => prop_assert_eq!(failure.fault, Fault::Unreachable, "{}", failure),
        }
    }

    #[test]
    fn rows_of_a_table_always_come_close(seed: u64, records in 4usize..60) {
        let mut dice = Dice::new(seed);
        let case = rows(&mut dice, records);
        let algorithm = *dice.of(&[Algorithm::Blocks, Algorithm::Ctoff, Algorithm::Clustree]);
        let plain = Params::plain(algorithm, 2 + dice.below(3) as u32, None);
        let params = Params { close: Some(random_close(&mut dice)), improve: dice.one_in(2), ..plain };
        let release = case.run(&params).expect("one class of all is as close as can be");
        check(&case, &params, &release);
        if algorithm == Algorithm::Blocks {
            prop_assert_eq!(release.suppressed, Vec::<u32>::new());
        }
    }

    #[test]
    fn what_is_cut_short_is_as_close_as_promised(seed: u64, records in 4usize..40, asks in 0usize..200) {
        let mut dice = Dice::new(seed);
        let mut case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        add_secret_trees(&mut case);
        let ask = random_close(&mut dice);
        let time = Some(Duration::from_secs(1));
        let params = Params { diverse: None, close: Some(ask), time, improve: true, ..random_params(&mut dice) };
        let observer = Hurried::new(asks);
        if let Ok(release) = run(&case.data, &case.binding, &case.hierarchies, &params, &observer) {
            check(&case, &params, &release);
        }
    }
}

/// Salaries and diseases of nine people, as in the paper on t-closeness: groups of three by age and code alone say too much.
#[test]
fn the_table_of_the_paper_is_put_together_otherwise() {
    let people = [
        ("p", "A", "1"),
        ("p", "A", "2"),
        ("p", "B", "3"),
        ("q", "C", "4"),
        ("q", "D", "5"),
        ("q", "C", "3"),
    ];
    let all: Vec<Vertex> = people.iter().map(|&(q, c, d)| row(q, c, d)).collect();
    let mut case = Case::of(&all, flat_roles());
    add_secret_trees(&mut case);
    for algorithm in [Algorithm::Blocks, Algorithm::Ctoff, Algorithm::Clustree] {
        let far = Params::plain(algorithm, 3, None);
        let apart = case.run(&far).expect("reachable");
        assert_eq!(apart.clusters.len(), 2, "by what is known");
        let ask = Close {
            grounds: [Ground::Equal, Ground::Equal, Ground::Equal, Ground::Ordered].repeat(4),
            ..close(Measure::T(0.2))
        };
        let params = Params { close: Some(ask), ..far };
        let release = case.run(&params).expect("reachable");
        check(&case, &params, &release);
        assert_eq!(release.clusters.len(), 1, "{algorithm}: no other two groups of three are within 0.2");
        assert!(release.lm > apart.lm);
    }
}

#[test]
fn what_is_close_already_is_left_as_it_is() {
    let all: Vec<Vertex> =
        (0..24).map(|i| row(["p", "t"][i % 2], ["A", "B", "C"][i / 2 % 3], ["1", "2"][i / 12])).collect();
    let case = Case::of(&all, flat_roles());
    for measure in [Measure::T(0.01), Measure::Beta(0.01)] {
        for algorithm in [Algorithm::Blocks, Algorithm::Ctoff, Algorithm::Clustree] {
            let plain = Params::plain(algorithm, 12, None);
            let params = Params { close: Some(close(measure)), ..plain };
            let release = case.run(&params).expect("reachable");
            check(&case, &params, &release);
            assert_eq!((release.clusters.len(), release.lm), (2, 0.0), "{algorithm} {measure:?}");
        }
    }
}

/// Below a course with a secret of its own that is too clear everywhere stands a book that goes with it.
#[test]
fn a_path_of_which_nothing_would_be_left_is_told_with_the_least_t_that_keeps_it() {
    let course = |quasi: &str, c: &str, book: Option<&str>| Vertex {
        class: TAKES,
        values: [Some(quasi.into()), None, Some(c.into()), None],
        children: book
            .map(|value| Vertex {
                class: BOOKS,
                values: [Some("p".into()), None, Some(value.into()), None],
                children: Vec::new(),
            })
            .into_iter()
            .collect(),
    };
    let all: Vec<Vertex> = (0..8)
        .map(|_| Vertex {
            class: PERSON,
            values: [Some("p".into()), None, None, None],
            children: vec![
                course("p", "A", Some("E")),
                course("t", "B", None),
                course("r", "B", None),
                course("q", "B", None),
            ],
        })
        .collect();
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[PERSON][0] = Role::Quasi;
    roles[TAKES] = [Role::Quasi, Role::Insensitive, Role::Sensitive, Role::Insensitive];
    roles[BOOKS] = [Role::Quasi, Role::Insensitive, Role::Sensitive, Role::Insensitive];
    let case = Case::of(&all, roles);
    let plain = Params::plain(Algorithm::Ctoff, 2, None);
    let at = |measure| case.run(&Params { close: Some(close(measure)), ..plain.clone() });
    let failure = at(Measure::T(0.5)).expect_err("the course goes, and the book with it");
    assert_eq!(failure.fault, Fault::Unreachable);
    let told = failure.to_string();
    assert!(told.contains("t = 0.5 cannot be kept") && told.contains("ask for t = 0.75"), "{told}");
    let params = Params { close: Some(close(Measure::T(0.75))), ..plain.clone() };
    check(&case, &params, &case.run(&params).expect("what was told can be kept"));
    // Its share of 1/4 becomes 1: more than any beta allows.
    let told = at(Measure::Beta(10.0)).expect_err("-ln 1/4 is 1.4").to_string();
    assert!(told.contains("no beta would do"), "{told}");
}

#[test]
fn violators_can_be_suppressed_instead() {
    let mut dice = Dice::new(5);
    let case = rows(&mut dice, 200);
    let plain = Params { suppress_violators: true, ..Params::plain(Algorithm::Blocks, 10, None) };
    let params = Params { close: Some(close(Measure::T(0.3))), ..plain.clone() };
    let release = case.run(&params).expect("some are close");
    check(&case, &params, &release);
    assert!(!release.suppressed.is_empty());
    let params = Params { close: Some(close(Measure::T(0.001))), ..plain };
    let failure = case.run(&params).expect_err("none is as close as that");
    assert_eq!(failure.fault, Fault::Unreachable);
    assert!(
        failure.to_string().contains("no class is as close to all records as t = 0.001 asks"),
        "{failure}"
    );
}

#[test]
fn words_that_have_no_order_are_told_before_the_search() {
    let mut dice = Dice::new(5);
    let case = rows(&mut dice, 20);
    let ask = Close { grounds: vec![Ground::Ordered; 16], ..close(Measure::T(0.3)) };
    let params = Params { close: Some(ask), ..Params::plain(Algorithm::Ctoff, 2, None) };
    let refused = bosket_engine::cluster::refuse_unfit(&case.data, &case.binding, &case.hierarchies, &params);
    let refused = refused.expect_err("words");
    assert_eq!(refused.fault, Fault::Data);
    assert!(refused.to_string().contains("distinct values are not numbers and have no order"), "{refused}");
}
