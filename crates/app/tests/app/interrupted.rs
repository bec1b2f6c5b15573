//! Whoever stops a run early finds nothing left of it, whenever that is.

use bosket_app::anonymize;
use bosket_model::Fault;
use bosket_model::observe::Quiet;

use crate::util::{Impatient, families};

#[test]
fn an_interrupted_run_leaves_no_file_whenever_it_is_interrupted() {
    for example in families() {
        let before = example.files();
        let request = example.request(&["publish.mapping=private/mapping.csv"]);
        let (mut asks, mut interrupted) = (0, 0);
        loop {
            let observer = Impatient::after(asks);
            match anonymize(&request, &observer) {
                Ok(_) => break,
                Err(failure) => {
                    assert_eq!(failure.fault, Fault::Interrupted, "{}: {failure}", example.name);
                    assert_eq!(example.files(), before, "{} after {asks} asks", example.name);
                    interrupted += 1;
                    asks = asks * 3 / 2 + 1;
                }
            }
        }
        assert!(interrupted > 4, "{} asks only a few times", example.name);
        let written = example.files();
        assert!(written.len() >= before.len() + 3, "publication, certificate and mapping");
    }
}

#[test]
fn one_call_does_not_throw_away_the_files_of_another() {
    let mut all = families();
    let (stopped, other) = (all.remove(0), all.remove(0));
    let request = stopped.request(&[]);
    let _waits = request.settings.pending.discard();
    // The other call has a list of its own and need not wait.
    let _ = anonymize(&other.request(&[]), &Quiet).expect("published");
}
