//! Ozalp, Gursoy, Nergiz, Saygin: Privacy-preserving publishing of hierarchical data (2016). LM, query accuracy and time over l;
//! five methods on three datasets.

use std::path::PathBuf;

use bosket_generate::students::Kind;

use super::job::{Anonymize, Answer, Job, Outcome, Policy};
use super::result::{Axis, Claim, Suite, Table};
use super::rules::{LESS, Verdict, below, falls, rises, within};
use super::sweep::{Bench, Sweep};

/// Its name.
pub(super) const NAME: &str = "paper-001";

const TITLE: &str = "l-diversity of hierarchical data (Ozalp, Gursoy, Nergiz, Saygin 2016)";

const MEASURES: &[&str] = &["LM", "query accuracy", "cpu", "wall", "peak", "suppressed"];

const LINES: [&str; 5] = ["ClusTree-LSAP", "ClusTree-GRD", "CToff-LSAP", "CToff-GRD", "dMiRaCle"];

fn settings(line: &str) -> [&'static str; 2] {
    match line {
        "ClusTree-LSAP" => ["method.algorithm=clustree", "method.matching=lsap"],
        "ClusTree-GRD" => ["method.algorithm=clustree", "method.matching=grd"],
        "CToff-LSAP" => ["method.algorithm=ctoff", "method.matching=lsap"],
        "CToff-GRD" => ["method.algorithm=ctoff", "method.matching=grd"],
        _ => ["method.algorithm=dmiracle", "method.climit=150"],
    }
}

/// A dataset of the suite.
struct Students {
    id: &'static str,
    title: String,
    path: Result<PathBuf, String>,
    ls: Vec<u32>,
}

/// Runs the suite.
pub(super) fn run(bench: &Bench) -> Result<Suite, String> {
    let number = bench.pick(40, 500, 1_000);
    let fewer = bench.pick(40, 200, 1_000);
    let real = bench.pick(40, 500, 1_000);
    let ls = bench.pick(vec![2], vec![2, 3, 4, 5], vec![2, 3, 4, 5]);
    let all = [
        Students {
            id: "syntheticS",
            title: format!("syntheticS, {number} students (figures 10 and 13)"),
            path: bench.data.students(Kind::SyntheticS, number),
            ls: ls.clone(),
        },
        Students {
            id: "syntheticT",
            title: format!("syntheticT, {fewer} students (figure 11)"),
            path: bench.data.students(Kind::SyntheticT, fewer),
            ls,
        },
        Students {
            id: "real",
            title: format!("Open University, {real} students with their assessments (for figure 12)"),
            path: bench.data.oulad(real as usize),
            ls: bench.pick(vec![2], vec![2, 3, 4], vec![2, 3, 4]),
        },
    ];
    let tables: Vec<Table> = all.iter().map(|students| measured(bench, students)).collect();
    let claims = claims(&tables);
    let notes = vec![
        format!("syntheticS and syntheticT are generated with the measures that the paper gives (about 20 classes and 42 vertices per student); {number} and {fewer} students, 1,000 in the paper. The paper's real dataset cannot be had; the first {real} students of the Open University with their assessments (quasi, below presentation and module) and scores (sensitive, in five buckets) take its place: sparse, and of very different lengths."),
        "dMiRaCle is given at its best threshold out of 0, 0.2, …, 1 (quick: 0, 0.5, 1; the paper tries every tenth); its time is that of this threshold.".to_owned(),
        "Where nothing can be published, everything is lost: such points are missing in the tables.".to_owned(),
        "Accuracy is the mean over 200 random count queries.".to_owned(),
    ];
    Ok(Suite { name: NAME.to_owned(), title: TITLE.to_owned(), seconds: 0.0, tables, notes, claims })
}

fn measured(bench: &Bench, students: &Students) -> Table {
    let sweep = Sweep {
        suite: NAME,
        id: students.id,
        title: &students.title,
        axis: Axis::linear("l"),
        lines: LINES.to_vec(),
        measures: MEASURES,
    };
    let mut table = sweep.empty();
    for l in &students.ls {
        let answers: Vec<Answer> = LINES.iter().map(|line| point(bench, students, line, *l)).collect();
        table.push(f64::from(*l), &l.to_string(), &answers);
    }
    table
}

/// A method's point; of dMiRaCle the best over all thresholds.
fn point(bench: &Bench, students: &Students, line: &str, l: u32) -> Answer {
    let path = students.path.clone()?;
    let job = |more: Option<String>| {
        let mut settings: Vec<String> = settings(line).iter().map(|s| (*s).to_owned()).collect();
        settings.push(format!("privacy.l={l}"));
        settings.extend(more);
        Job::Anonymize(Anonymize { policy: Policy { path: path.clone(), settings }, ..Anonymize::default() })
    };
    let name = |more: &str| format!("{NAME} {}, l {l}, {line}{more}", students.id);
    if line != "dMiRaCle" {
        return bench.measure(&name(""), &job(None));
    }
    let step = bench.pick(5, 5, 2);
    let thresholds = (0..=10).step_by(step).map(|tenths| f64::from(tenths) / 10.0);
    let all: Vec<Answer> = thresholds
        .map(|th| bench.measure(&name(&format!(" at {th}")), &job(Some(format!("method.th={th}")))))
        .collect();
    let lm = |outcome: &Outcome| outcome.figure("LM").unwrap_or(1.0);
    let why = all.iter().find_map(|a| a.as_ref().err().cloned()).unwrap_or_default();
    let found = all.into_iter().flatten();
    found.min_by(|a, b| lm(a).total_cmp(&lm(b))).ok_or(why)
}

fn claims(tables: &[Table]) -> Vec<Claim> {
    let [s, t, real] = tables else { return Vec::new() };
    let all = [s, t, real];
    let [lsap, grd, off_lsap, off_grd, dmiracle] = LINES;
    vec![
        Verdict::all(all.map(|table| rises(table, lsap, "LM", 0.0))).on("loss rises with l", None),
        Verdict::all(all.map(|table| falls(table, lsap, "query accuracy", 0.01)))
            .on("query accuracy falls with l", None),
        Verdict::all(all.map(|table| below(table, "LM", lsap, dmiracle, LESS)))
            .on("ClusTree loses far less than dMiRaCle in every experiment", None),
        Verdict::all(all.map(|table| jump(table, dmiracle)))
            .on("dMiRaCle's loss rises sharply from l = 2 to 3", None),
        Verdict::all(all.map(|table| below(table, "LM", lsap, off_lsap, LESS)))
            .on("ClusTree loses less than CToff (LSAP)", Some("in most experiments")),
        Verdict::all(all.map(|table| below(table, "LM", grd, off_grd, LESS)))
            .on("ClusTree loses less than CToff (GRD)", Some("in most experiments")),
        Verdict::all(all.map(|table| below(table, "LM", lsap, grd, LESS)))
            .on("LSAP loses less than GRD (ClusTree)", Some("in most experiments")),
        Verdict::all(all.map(|table| below(table, "LM", off_lsap, off_grd, LESS)))
            .on("LSAP loses less than GRD (CToff)", Some("in most experiments")),
        against(s, t, lsap).on("syntheticS comes out better than syntheticT", Some("10–15 %")),
        against(s, real, lsap).on("the synthetic datasets come out better than the sparse real one", None),
        within(s, "cpu", lsap, off_lsap, 10.0, 15.0).on(
            "ClusTree is 10 to 15 times slower than CToff",
            Some("2–3 min for CToff-GRD, 3–4 min for CToff-LSAP, ClusTree 10–15 times that"),
        ),
        below(s, "cpu", off_grd, off_lsap, LESS)
            .on("GRD is faster than LSAP (CToff)", Some("2–3 min against 3–4 min")),
        rises(s, lsap, "cpu", 0.05).on("time of ClusTree rises with l", None),
    ]
}

/// The loss of a line rises by more from 2 to 3 than from 3 on.
fn jump(table: &Table, line: &str) -> Verdict {
    use super::result::Holds;
    let series = table.series(line, "LM");
    let at = |x: f64| series.iter().find(|p| p.0 == x).map(|p| p.1);
    let (Some(two), Some(three)) = (at(2.0), at(3.0)) else {
        return Verdict::unmeasured(&format!("{line} published nothing at l = 2 or 3 ({})", table.id));
    };
    let rise = 100.0 * (three / two - 1.0);
    let holds = if rise >= 25.0 {
        Holds::Yes
    } else if rise > 5.0 {
        Holds::Partly
    } else {
        Holds::No
    };
    Verdict { holds, why: format!("LM of {line} rises by {rise:.0} % from l = 2 to 3 ({})", table.id) }
}

/// One method on two datasets.
fn against(better: &Table, worse: &Table, line: &str) -> Verdict {
    use super::result::Holds;
    let (first, second) = (better.series(line, "LM"), worse.series(line, "LM"));
    let ratios: Vec<f64> =
        (first.iter()).filter_map(|(x, y)| second.iter().find(|p| p.0 == *x).map(|p| p.1 / y)).collect();
    let good = ratios.iter().filter(|r| **r > 1.0).count();
    let holds = match (good, ratios.len()) {
        (_, 0) => Holds::Unmeasured,
        (good, total) if good == total => Holds::Yes,
        (0, _) => Holds::No,
        _ => Holds::Partly,
    };
    let told: Vec<String> = ratios.iter().map(|r| format!("{r:.2}")).collect();
    let why = format!("LM of {line} on {} is {} times that on {}", worse.id, told.join(", "), better.id);
    Verdict { holds, why }
}
