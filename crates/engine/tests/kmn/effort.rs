//! Searches whose effort is counted: the same on every machine, with any number of threads.

use bosket_engine::kmn::{Algorithm, Cost, Params, Shortcuts};
use bosket_model::policy::{Missing, Rows};
use bosket_verify::{Claim, Kmn};

use crate::params;
use crate::rows::Case;

#[test]
fn threads_and_load_decided_where_a_search_ended() {
    let (mut ended, mut differ) = (0, 0);
    for seed in 0..6 {
        let case = Case::new(seed, 30, false);
        let claim = Claim::Kmn(Kmn { missing: Missing::Counted, ..Kmn::new(3, 2, 1) });
        for (algorithm, local) in [(Algorithm::Gcs, true), (Algorithm::Best, true), (Algorithm::Gcs, false)] {
            let plain = params(case.hierarchies.len(), algorithm, 3, 2, 1);
            // No easy promise is found at once.
            let shortcuts = Shortcuts { leap: false, ..Shortcuts::default() };
            let plain = Params { counted: true, local, cost: Cost::Lm, shortcuts, ..plain };
            let mut before: Option<String> = None;
            for effort in [0, 100, 1_000, 10_000, u64::MAX] {
                let p = Params { effort, ..plain.clone() };
                let of_threads = |threads: usize| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                    pool.install(|| case.publish(&p, Rows::Distinct, &claim))
                };
                let (one, many) = (of_threads(1).expect("published"), of_threads(5).expect("published"));
                let text = format!("{:?}", one.published);
                assert_eq!(
                    text,
                    format!("{:?}", many.published),
                    "seed {seed}, {algorithm:?}, effort {effort}"
                );
                assert_eq!((&one.route, one.examined), (&many.route, many.examined));
                assert!(!one.cut_short, "nobody's clock ended it");
                case.check(&one.published, &claim, Rows::Distinct, (false, local));
                ended += usize::from(one.route.contains("effort"));
                differ += usize::from(before.is_some_and(|before| before != text));
                before = Some(text);
            }
        }
    }
    assert!(ended > 20, "{ended} searches ended by their effort");
    assert!(differ > 0, "{differ} times more effort found something else");
}
