//! What `improve` and `weighted` change.

use bosket_generate::students::Kind;

use super::{Students, texts};

/// LM with and without what goes beyond the papers.
pub(super) fn compare(number: u64) {
    println!("  {number} students: LM and seconds");
    for (kind, asked) in [
        (Kind::School, ["privacy.k=5", "method.algorithm=ctoff"]),
        (Kind::School, ["privacy.k=10", "method.algorithm=ctoff"]),
        (Kind::SyntheticS, ["privacy.l=3", "method.algorithm=clustree"]),
        (Kind::SyntheticS, ["privacy.l=3", "method.algorithm=ctoff"]),
    ] {
        let students = Students::new(kind, number);
        let run = |more: &[&str]| students.run(&texts(&[&asked[..], more].concat()));
        let plain = run(&[]);
        let mut told = format!("plain {:.4} {:.2} s", plain.release.lm, plain.seconds);
        for (name, more) in
            [("improve", "method.improve=true"), ("weighted = false", "method.weighted=false")]
        {
            let other = run(&[more]);
            let change = 100.0 * (other.release.lm / plain.release.lm - 1.0);
            told += &format!("; {name} {:.4} ({change:+.1} %) {:.2} s", other.release.lm, other.seconds);
        }
        println!("    {kind:?}, {}: {told}", asked.join(" "));
    }
}
