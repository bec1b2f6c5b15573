//! The fast algorithms make the clusters of the literal ones.

use bosket_engine::cluster::{Algorithm, Matching, Params, SCALE, Solver};
use bosket_model::observe::Quiet;
use bosket_testkit::cluster::{Clusters, How, Literal, lost, missing};
use bosket_testkit::dice::{Dice, cases};
use proptest::prelude::*;

use super::{Case, diverse};

fn solve(rows: usize, columns: usize, cost: &[i64]) -> Vec<usize> {
    let mut solver = Solver::default();
    solver.solve(rows, columns, cost, i64::MAX / 4, &Quiet).expect("nobody interrupts");
    (0..rows).map(|row| solver.column_of(row)).collect()
}

fn literal(case: &Case, params: &Params) -> Clusters {
    let size = params.size();
    let literal = Literal {
        data: &case.data,
        binding: &case.binding,
        hierarchies: &case.hierarchies,
        scale: SCALE,
        how: match params.matching {
            Matching::Lsap => How::Lsap,
            Matching::Grd => How::Grd,
            Matching::X => How::X,
        },
        most: params.diverse.as_ref().map(|d| (size as f64 / d.l) as usize),
        weighted: params.weighted,
        assign: &solve,
        missing: missing(&case.data, &case.binding),
        lost: lost(&case.data, &case.binding, params.lost * SCALE as f64),
    };
    match params.algorithm {
        Algorithm::Ctoff => literal.ctoff(size),
        Algorithm::Clustree => literal.clustree(size, params.s, params.m),
        _ => literal.miracle(size, params.climit, params.th),
    }
}

fn compare(seed: u64, records: usize, secrets: &[&str]) {
    let mut dice = Dice::new(seed);
    let case = Case::random(&mut dice, records, secrets);
    let algorithm =
        *dice.of(&[Algorithm::Ctoff, Algorithm::Clustree, Algorithm::Miracle, Algorithm::Miraclex]);
    let k = 2 + dice.below(3) as u32;
    let l = [None, Some(diverse(2.0)), Some(diverse(3.0)), Some(diverse(1.5))][dice.below(4)].clone();
    let params = Params {
        weighted: !dice.one_in(3),
        lost: *dice.of(&[0.0, 0.3, 1.0, 4.0]),
        leftovers: false,
        climit: 1 + dice.below(6),
        th: dice.below(10) as f64 / 10.0,
        matching: match algorithm {
            Algorithm::Miraclex => Matching::X,
            _ => *dice.of(&[Matching::Lsap, Matching::Grd, Matching::X]),
        },
        ..Params::plain(algorithm, k, l)
    };
    same(&case, &params);
}

pub(super) fn same(case: &Case, params: &Params) {
    let (clusters, left) = literal(case, params);
    match case.run(params) {
        Ok(release) => {
            assert_eq!(release.clusters, clusters, "{params:?}");
            assert_eq!(release.suppressed, left);
        }
        Err(_) => assert!(clusters.is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]
    #[test]
    fn clusters_are_the_literal_ones(seed: u64, records in 4usize..24) {
        compare(seed, records, &["A", "B", "C", "D", "E", "F"]);
    }
    #[test]
    fn with_few_sensitive_values_too(seed: u64, records in 4usize..16) {
        compare(seed, records, &["A", "B", "C"]);
    }
}
