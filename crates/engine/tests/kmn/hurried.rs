//! Searches that are stopped: whoever waits longer never gets less.

use bosket_engine::kmn::{Algorithm, Cost, Params, Release};
use bosket_model::policy::{Missing, Role, Rows};
use bosket_model::{Dataset, MISSING};
use bosket_testkit::hurried::Hurried;
use bosket_verify::{Claim, Kmn};

use crate::params;
use crate::rows::Case;

/// What is published when the time is over after so many questions, on one thread: which parts of a level are looked at must not
/// depend on how threads take turns.
fn stopped_after(case: &Case, p: &Params, claim: &Claim, asks: usize) -> (Release<Dataset>, bool) {
    let observer = Hurried::new(asks);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let made = pool.install(|| case.publish_watched(p, Rows::Distinct, claim, &observer));
    (made.expect("published"), observer.is_over())
}

/// How many quasi values say something.
fn told(case: &Case, published: &Dataset) -> usize {
    let binding = case.bound(published);
    let schema = published.schema();
    let quasi = |v: usize| binding.in_policy_order(schema, published.class(v), Role::Quasi);
    let says = |v: usize, a| {
        let code = published.value(v, a);
        code != MISSING && published.dictionary(a).text(code) != "*"
    };
    (0..published.vertex_count()).map(|v| quasi(v).into_iter().filter(|&a| says(v, a)).count()).sum()
}

/// With every further question that is asked before the time is over, what is published loses the same or less; the first
/// solution tells something.
fn never_less(seed: u64, algorithm: Algorithm, local: bool, suppress: bool) {
    let case = Case::new(seed, 24, false);
    let claim = Claim::Kmn(Kmn { missing: Missing::Counted, ..Kmn::new(3, 2, 1) });
    let p = params(case.hierarchies.len(), algorithm, 3, 2, 1);
    let p = Params { counted: true, local, suppress, cost: Cost::Lm, ..p };
    let (mut before, mut first, mut asks) = (f64::INFINITY, None, 0);
    loop {
        let (release, over) = stopped_after(&case, &p, &claim, asks);
        let told = told(&case, &release.published);
        let at_once = *first.get_or_insert(told);
        assert!(
            at_once > 0 || told == 0,
            "seed {seed}: nothing was told at first, {told} values after {asks}"
        );
        assert!(
            release.compared <= before + 1e-12,
            "seed {seed}: {} after {asks} questions, {before} before",
            release.compared
        );
        before = release.compared;
        case.check(&release.published, &claim, Rows::Distinct, (suppress, local));
        if !over {
            return;
        }
        // Every number of questions at first, where each decides; then in ever larger steps.
        asks += 1 + asks / 12;
    }
}

#[test]
fn more_time_never_loses_more() {
    (0..4).for_each(|seed| never_less(seed, Algorithm::Best, true, false));
}

#[test]
fn more_time_never_loses_more_with_one_cut() {
    (0..4).for_each(|seed| never_less(seed, Algorithm::Best, false, false));
}

#[test]
fn more_time_never_loses_more_by_the_greedy_search() {
    for local in [true, false] {
        (0..4).for_each(|seed| never_less(seed, Algorithm::Gcs, local, false));
    }
}

#[test]
fn more_time_never_loses_more_where_people_are_emptied() {
    for (algorithm, local) in [(Algorithm::Best, true), (Algorithm::Best, false), (Algorithm::Gcs, false)] {
        (0..4).for_each(|seed| never_less(seed, algorithm, local, true));
    }
}
