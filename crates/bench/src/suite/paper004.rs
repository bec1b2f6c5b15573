//! Nergiz, Clifton, Nergiz: Multirelational k-anonymity (2009). LM, DM and time over k and the threshold; MiRaCle, MiRaCleX and
//! the single table of bits.

use bosket_generate::students::Kind;

use super::job::{Anonymize, Job, Policy};
use super::result::{Axis, Claim, Suite, Table};
use super::rules::{LESS, Verdict, below, rises, within};
use super::sweep::{Bench, Sweep};

/// Its name.
pub(super) const NAME: &str = "paper-004";

const TITLE: &str = "Multirelational k-anonymity (Nergiz, Clifton, Nergiz 2009)";

const MEASURES: &[&str] = &["LM", "DM", "cpu", "wall", "peak", "suppressed"];

const LINES: [&str; 5] = ["MiRaCle", "MiRaCleX", "bitmap, incomplete", "bitmap, complete", "ctoff"];

fn settings(line: &str) -> Vec<String> {
    let settings: &[&str] = match line {
        "MiRaCle" => &["method.algorithm=miracle"],
        "MiRaCleX" => &["method.algorithm=miraclex"],
        "bitmap, incomplete" => &["method.algorithm=bitmap", "method.absent=unknown"],
        "bitmap, complete" => &["method.algorithm=bitmap", "method.absent=no"],
        _ => &["method.algorithm=ctoff"],
    };
    settings.iter().map(|s| (*s).to_owned()).collect()
}

/// Runs the suite.
pub(super) fn run(bench: &Bench) -> Result<Suite, String> {
    let students = bench.pick(60, 1000, 1000);
    let path = bench.data.students(Kind::School, students)?;
    let job = |line: &str, more: [String; 2]| -> Result<Job, String> {
        // A threshold is refused by a method that has none.
        let more = more.into_iter().filter(|s| line != "ctoff" || !s.starts_with("method.th"));
        let policy = Policy { path: path.clone(), settings: settings(line) }.with(&more.collect::<Vec<_>>());
        Ok(Job::Anonymize(Anonymize { policy, ..Anonymize::default() }))
    };
    let sweep = |id, title, label: &str| Sweep {
        suite: NAME,
        id,
        title,
        axis: Axis::linear(label),
        lines: LINES.to_vec(),
        measures: MEASURES,
    };
    let ks = bench.pick(vec![2, 5], vec![2, 5, 10, 20, 50], vec![2, 5, 10, 20, 35, 50]);
    let by_k = sweep("k", "k, 1,000 students, threshold 0.1 (figures 4a, 4c, 5, 6)", "k").run(
        bench,
        &ks,
        |k, line| job(line, [format!("privacy.k={k}"), "method.th=0.1".to_owned()]),
    );
    let thresholds =
        bench.pick(vec![0.1], vec![0.0, 0.2, 0.6, 1.0], (0..=10).map(|t| f64::from(t) / 10.0).collect());
    let k = bench.pick(5, 50, 50);
    let by_threshold = sweep("threshold", "threshold, 1,000 students, k = 50 (figure 4b)", "threshold").run(
        bench,
        &thresholds,
        |th: f64, line| job(line, [format!("privacy.k={k}"), format!("method.th={th}")]),
    );
    let tables = vec![by_k, by_threshold];
    let claims = claims(&tables);
    let notes = vec![
        format!("{students} generated students with the measures the paper gives: one obligatory course, two or three technical and two or three other electives out of 22, two to four books to choose from; at most 150 open clusters."),
        "`bitmap` is the paper's single-table baseline, for incomplete data (absence says nothing) and for complete data. For complete data LM does not say what a bit set to 0 tells, so only DM is compared there, as in the paper.".to_owned(),
        "`ctoff` is the tool's default for trees; it has no threshold.".to_owned(),
    ];
    Ok(Suite { name: NAME.to_owned(), title: TITLE.to_owned(), seconds: 0.0, tables, notes, claims })
}

fn claims(tables: &[Table]) -> Vec<Claim> {
    let (k, threshold) = (&tables[0], &tables[1]);
    let (miracle, x, incomplete, complete) = (LINES[0], LINES[1], LINES[2], LINES[3]);
    vec![
        Verdict::all([miracle, x].map(|a| below(k, "LM", a, incomplete, 0.7))).on(
            "on incomplete data MiRaCle and MiRaCleX lose 30–40 % less than the bitmap (LM over k)",
            Some("30–40 %"),
        ),
        Verdict::all([miracle, x].map(|a| below(threshold, "LM", a, incomplete, 0.7)))
            .on("the same holds over the threshold", Some("30–40 %")),
        Verdict::all([miracle, x].map(|a| below(k, "DM", a, incomplete, LESS)))
            .on("on incomplete data they also have slightly less DM", None),
        Verdict::all([miracle, x].map(|a| within(k, "DM", a, complete, 0.8, 1.25)))
            .on("on complete data all three have similar DM, with no obvious winner", None),
        Verdict::all([miracle, incomplete, complete].map(|a| below(k, "cpu", x, a, 1.0 / 3.0)))
            .on("MiRaCleX is at least three times as fast as both others", Some("a factor of at least 3")),
        below(k, "LM", x, miracle, 1.1)
            .on("the loss of MiRaCleX is better than or comparable to that of MiRaCle", None),
        Verdict::all([miracle, x, incomplete].map(|a| rises(k, a, "LM", 0.0))).on("loss rises with k", None),
        below(k, "LM", "ctoff", miracle, LESS)
            .on("ours: `ctoff`, the default, loses less than MiRaCle", None),
    ]
}
