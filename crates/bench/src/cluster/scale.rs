//! How long clustering takes, and how that grows.

use bosket_generate::students::Kind;

use super::{Students, texts};
use crate::resources::{mb, memory, reset_peak};

/// Runs of which the fastest counts.
const RUNS: usize = 3;

/// The runs that have figures to be compared with.
pub(super) fn times(number: u64) {
    let students = Students::new(Kind::SyntheticS, number);
    println!("cluster: {number} students of syntheticS, seconds of one processor");
    for settings in [
        ["method.algorithm=ctoff", "method.matching=lsap", "privacy.l=3"],
        ["method.algorithm=ctoff", "method.matching=grd", "privacy.l=3"],
        ["method.algorithm=clustree", "method.matching=lsap", "privacy.l=3"],
        ["method.algorithm=clustree", "method.matching=lsap", "privacy.l=5"],
    ] {
        let runs: Vec<_> = (0..RUNS).map(|_| students.run(&texts(&settings))).collect();
        let seconds = runs.iter().map(|r| r.seconds).fold(f64::MAX, f64::min);
        println!("  {:70} {seconds:8.3} s  LM {:.4}", settings.join(" "), runs[0].release.lm);
    }
}

/// Many students.
pub(super) fn growth() {
    for number in [5_000, 20_000] {
        let students = Students::new(Kind::SyntheticS, number);
        reset_peak();
        let run = students.run(&texts(&["method.algorithm=ctoff", "privacy.l=3"]));
        println!(
            "  {number} students: {:.1} s, LM {:.4}, peak {:.0} MB",
            run.seconds,
            run.release.lm,
            mb(memory().1)
        );
    }
}
