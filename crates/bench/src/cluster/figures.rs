//! The papers' figures, drawn anew.

use std::path::Path;

use bosket_generate::students::Kind;
use rayon::prelude::*;

use super::{Run, Students, texts};
use crate::plot::{Axis, Chart, Series};

/// A line of a figure: what it is called and the settings of its points.
type Line<'a> = (&'a str, &'a [&'a str]);

/// LM and accuracy over l, as in figures 10 and 11 of the paper about hierarchical data; times as in figure 13.
pub(super) fn diversity(number: u64, out: Option<&Path>) {
    let lines: [Line<'_>; 5] = [
        ("ClusTree-LSAP", &["method.algorithm=clustree", "method.matching=lsap"]),
        ("ClusTree-GRD", &["method.algorithm=clustree", "method.matching=grd"]),
        ("CToff-LSAP", &["method.algorithm=ctoff", "method.matching=lsap"]),
        ("CToff-GRD", &["method.algorithm=ctoff", "method.matching=grd"]),
        ("dMiRaCle", &["method.algorithm=dmiracle"]),
    ];
    for (kind, name) in [(Kind::SyntheticS, "syntheticS"), (Kind::SyntheticT, "syntheticT")] {
        let students = Students::new(kind, number);
        println!("  {name}: LM, accuracy of count queries, seconds");
        let mut figures: [Vec<Series>; 3] = Default::default();
        for (line, settings) in lines {
            let mut points: [Vec<(f64, f64)>; 3] = Default::default();
            let mut told = String::new();
            for l in 2..=5 {
                let mut all = texts(settings);
                all.push(format!("privacy.l={l}"));
                // Where nothing can be published, everything is lost.
                let run = best(&students, &all, line == "dMiRaCle");
                let lm = run.as_ref().map_or(1.0, |r| r.release.lm);
                let accuracy = 100.0 * run.as_ref().and_then(|r| students.loss(r).accuracy).unwrap_or(0.0);
                told += &format!("  l={l}: {lm:.3} {accuracy:5.1} %");
                points[0].push((f64::from(l), lm));
                points[1].push((f64::from(l), accuracy));
                if let Some(run) = run {
                    told += &format!(" {:6.2} s", run.seconds);
                    points[2].push((f64::from(l), run.seconds));
                }
            }
            println!("    {line:14}{told}");
            for (figure, points) in figures.iter_mut().zip(points) {
                figure.push(Series { name: line.to_owned(), points });
            }
        }
        let [lm, accuracy, seconds] = figures;
        draw(out, &format!("{name}-lm"), &format!("{name}: loss"), ("l", Axis::linear("LM")), lm);
        let axis = Axis::linear("accuracy of count queries, %");
        draw(out, &format!("{name}-accuracy"), &format!("{name}: count queries"), ("l", axis), accuracy);
        let axis = Axis::logarithmic("seconds");
        draw(out, &format!("{name}-seconds"), &format!("{name}: time"), ("l", axis), seconds);
    }
}

/// The run with the least loss over all thresholds, or the only one.
fn best(students: &Students, settings: &[String], thresholds: bool) -> Option<Run> {
    if !thresholds {
        return students.try_run(settings);
    }
    let all: Vec<Option<Run>> = (0..=10)
        .into_par_iter()
        .map(|tenths| {
            let th = format!("method.th={:.1}", f64::from(tenths) / 10.0);
            students.try_run(&[settings, &[th]].concat())
        })
        .collect();
    all.into_iter().flatten().min_by(|a, b| a.release.lm.total_cmp(&b.release.lm))
}

/// LM and DM over k and th, as in figures 4 to 6 of the paper about multirelational k-anonymity.
pub(super) fn anonymity(number: u64, out: Option<&Path>) {
    let students = Students::new(Kind::School, number);
    let lines: [Line<'_>; 4] = [
        ("MiRaCle", &["method.algorithm=miracle"]),
        ("MiRaCleX", &["method.algorithm=miraclex"]),
        ("bitmap, incomplete", &["method.algorithm=bitmap", "method.absent=unknown"]),
        ("bitmap, complete", &["method.algorithm=bitmap", "method.absent=no"]),
    ];
    let by_k: Vec<(f64, String)> =
        [2, 5, 10, 20, 50].map(|k| (f64::from(k), format!("privacy.k={k}"))).to_vec();
    let by_th: Vec<(f64, String)> =
        (0..=5).map(|t| f64::from(t) / 5.0).map(|t| (t, format!("method.th={t}"))).collect();
    for (axis, values, fixed) in [("k", by_k, "method.th=0.1"), ("th", by_th, "privacy.k=50")] {
        println!("  school, {fixed}: LM, DM, seconds over {axis}");
        let mut figures: [Vec<Series>; 3] = Default::default();
        for (line, settings) in lines {
            let mut points: [Vec<(f64, f64)>; 3] = Default::default();
            let mut told = String::new();
            for (x, value) in &values {
                let mut all = texts(settings);
                all.extend([fixed.to_owned(), value.clone()]);
                let run = students.run(&all);
                let loss = students.loss(&run);
                told += &format!("  {axis}={x}: {:.3} {} {:.2} s", loss.lm, loss.dm, run.seconds);
                for (points, y) in points.iter_mut().zip([loss.lm, loss.dm as f64, run.seconds]) {
                    points.push((*x, y));
                }
            }
            println!("    {line:18}{told}");
            for (figure, points) in figures.iter_mut().zip(points) {
                figure.push(Series { name: line.to_owned(), points });
            }
        }
        let [lm, dm, seconds] = figures;
        draw(out, &format!("school-lm-{axis}"), "school: loss", (axis, Axis::linear("LM")), lm);
        draw(out, &format!("school-dm-{axis}"), "school: discernibility", (axis, Axis::linear("DM")), dm);
        draw(
            out,
            &format!("school-seconds-{axis}"),
            "school: time",
            (axis, Axis::linear("seconds")),
            seconds,
        );
    }
}

fn draw(out: Option<&Path>, name: &str, title: &str, (x, y): (&str, Axis), series: Vec<Series>) {
    let Some(folder) = out else { return };
    std::fs::create_dir_all(folder).expect("a folder");
    let chart = Chart { title: title.to_owned(), x: Axis::linear(x), y, series };
    std::fs::write(folder.join(format!("cluster-{name}.svg")), chart.svg()).expect("a file");
}
