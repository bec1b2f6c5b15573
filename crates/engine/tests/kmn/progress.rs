//! What whoever watches a search is told.

use std::sync::Mutex;

use bosket_engine::kmn::{Algorithm, run};
use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_testkit::trees::{ATTRIBUTES, PathRecord, dataset};

use crate::{hierarchies, params};

/// Every stage with its steps, and how many of them were done.
#[derive(Default)]
struct Watch(Mutex<Vec<(String, u64, u64)>>);

impl Observer for Watch {
    fn stage(&self, name: &str, steps: u64) {
        self.0.lock().expect("nobody panicked").push((name.to_owned(), steps, 0));
    }
    fn advance(&self, steps: u64) {
        self.0
            .lock()
            .expect("nobody panicked")
            .iter_mut()
            .last()
            .into_iter()
            .for_each(|last| last.2 += steps);
    }
}

/// Each level of each beam was a stage of its own: the bar began anew dozens of times.
#[test]
fn a_search_is_one_stage() {
    let records: Vec<PathRecord> = (0..40)
        .map(|i| vec![vec![format!("A{}", i % 4 + 1), format!("B{}", i % 3 + 1), format!("C{}", i % 2 + 1)]])
        .collect();
    let data = dataset(&records);
    let (policy, _) = Policy::parse("p", ATTRIBUTES, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared");
    let trees = ValueTrees::new(&data, &binding, RootMode::Separate, Payload::Keep);
    for algorithm in [Algorithm::Gcs, Algorithm::Ocs, Algorithm::Best] {
        let watch = Watch::default();
        run(&trees, &hierarchies(3), &params(3, algorithm, 3, 2, 1), None, &watch).expect("a solution");
        let stages = watch.0.into_inner().expect("nobody panicked");
        let searches: Vec<_> = stages.iter().filter(|stage| stage.0 == "searching cuts").collect();
        assert_eq!(searches.len(), 1, "{algorithm}: {stages:?}");
        assert_eq!(searches[0].1, searches[0].2, "{algorithm}: all its steps are done: {stages:?}");
    }
}
