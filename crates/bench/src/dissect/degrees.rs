//! Figures 8 to 10: the distance reached by delta and by Anatomy.

use std::path::Path;

use bosket_engine::dissect::{Algorithm, Params, Sensitive, run};
use bosket_generate::sensitive_tree::{Shape, hierarchy, values};
use bosket_io::Whereabouts;
use bosket_io::apart::Dissection;
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::Model;
use bosket_model::random::Random;
use bosket_model::sides::Fates;
use bosket_model::{Dictionary, Kind};

use super::documents::{Pubmed, group, policy};
use crate::plot::{Axis, Chart, Series};
use crate::resources::timed;

const SEEDS: u64 = 5;
const FANOUTS: [usize; 3] = [3, 4, 5];

fn column(texts: &[String]) -> SensitiveValues {
    let mut values = Dictionary::default();
    let codes = texts.iter().map(|t| [values.intern(Kind::Text, t)]).collect();
    SensitiveValues { declared: 0, path: "finding".into(), many: false, values, codes }
}

/// The distance that a run reaches; none where the values are too frequent for the group size.
fn reached(
    column: &SensitiveValues,
    hierarchy: &Hierarchy,
    algorithm: Algorithm,
    size: usize,
) -> Option<u32> {
    let records = column.codes.len();
    let ties: Vec<u64> = (0..records as u64).collect();
    let sensitive = [Sensitive { values: column, hierarchy: Some(hierarchy) }];
    let release = run(records, &sensitive, &ties, &Params::plain(algorithm, size), &Quiet).ok()?;
    release.degrees[0].set_wise
}

/// Averages over five seeds of those that could be grouped: delta, Anatomy.
fn averages(shape: &Shape, tree: &Hierarchy, keep: &dyn Fn(&str, &mut Random) -> bool) -> [Option<f64>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let texts: Vec<String> = values(shape, seed).into_iter().filter(|v| keep(v, &mut random)).collect();
        let column = column(&texts);
        for (found, algorithm) in found.iter_mut().zip([Algorithm::Delta, Algorithm::Anatomy]) {
            found.extend(reached(&column, tree, algorithm, shape.group_size).map(f64::from));
        }
    }
    found.map(|f| (!f.is_empty()).then(|| f.iter().sum::<f64>() / f.len() as f64))
}

struct Figure<'a> {
    name: &'a str,
    title: &'a str,
    label: &'a str,
    depths: [usize; 3],
    points: Vec<usize>,
}

impl Figure<'_> {
    fn run(
        &self,
        shape: &dyn Fn(Shape, usize) -> Shape,
        keep: &dyn Fn(usize, &str, &mut Random) -> bool,
        out: Option<&Path>,
    ) {
        println!("dissect, figure {}: {} (delta; in brackets Anatomy)", self.name, self.title);
        let mut series = Vec::new();
        for depth in self.depths {
            for fanout in FANOUTS {
                let mut line =
                    Series { name: format!("depth {depth}, fan-out {fanout}"), points: Vec::new() };
                let mut cells = Vec::new();
                let full = Shape { fanout, depth, ..Shape::default() };
                let tree = csv::parse("tree", &hierarchy(&full)).expect("a good hierarchy");
                for &x in &self.points {
                    let keep = |v: &str, r: &mut Random| keep(x, v, r);
                    let [delta, anatomy] = averages(&shape(full, x), &tree, &keep);
                    line.points.extend(delta.map(|d| (x as f64, d)));
                    let cell = |d: Option<f64>| d.map_or("-".to_owned(), |d| format!("{d:.1}"));
                    cells.push(format!("{:>4} ({})", cell(delta), cell(anatomy)));
                }
                println!("  {:24} {}", line.name, cells.join("  "));
                series.push(line);
            }
        }
        let chart =
            Chart {
                title: self.title.to_owned(), x: Axis::linear(self.label), y: Axis::linear("δ"), series
            };
        save(out, &format!("dissect-{}", self.name), &chart);
    }
}

pub(crate) fn save(out: Option<&Path>, name: &str, chart: &Chart) {
    if let Some(folder) = out {
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(folder.join(format!("{name}.svg")), chart.svg()).expect("room");
    }
}

/// Figures 9 and 10, on generated trees.
pub(crate) fn synthetic(out: Option<&Path>) {
    let all = |_: usize, _: &str, _: &mut Random| true;
    let levels = Figure {
        name: "9a",
        title: "δ over the number of levels that occur, from the lowest up",
        label: "levels",
        depths: [7, 8, 9],
        points: vec![1, 2, 3, 4, 5],
    };
    levels.run(&|s, x| Shape { levels: x, ..s }, &all, out);
    let branches = Figure {
        name: "9b",
        title: "δ over how much the values concentrate on one branch",
        label: "bias",
        depths: [4, 5, 6],
        points: vec![1, 2, 3, 4, 5],
    };
    let concentrated =
        |x: usize, value: &str, random: &mut Random| value.starts_with("n1") || random.below(x) == 0;
    branches.run(&|s, _| s, &concentrated, out);
    let most = Figure {
        name: "10a",
        title: "δ over the most occurrences of a value",
        label: "occurrences",
        depths: [4, 5, 6],
        points: vec![5, 10, 15, 20, 25],
    };
    most.run(&|s, x| Shape { most: x, ..s }, &all, out);
    let size = Figure {
        name: "10b",
        title: "δ over the group size",
        label: "people per group",
        depths: [4, 5, 6],
        points: vec![5, 6, 7, 8, 9, 10],
    };
    size.run(&|s, x| Shape { group_size: x, ..s }, &all, out);
}

/// Figure 8, on PubMed.
pub(crate) fn real(pubmed: &Pubmed, out: Option<&Path>) {
    println!(
        "dissect, figure 8: distance and time of grouping, PubMed, journals in a balanced tree of fan-out 5"
    );
    println!(
        "  {:>10} {:>20} {:>20} {:>12} {:>12}",
        "group size", "δ by delta", "δ by Anatomy", "delta", "Anatomy"
    );
    let mut series =
        [Model::Delta, Model::Anatomy].map(|m| Series { name: m.to_string(), points: Vec::new() });
    let file = policy(&pubmed.path, Model::Delta, 5, Some(5));
    let dissection = Dissection::new(&file, Fates::new).expect("a good policy");
    let people = dissection.read(Whereabouts::input(&file).expect("a source"), &Quiet).expect("readable");
    for size in [5, 6, 7, 8, 9, 10, 20] {
        let mut cells = Vec::new();
        let mut times = Vec::new();
        for (series, algorithm) in series.iter_mut().zip([Algorithm::Delta, Algorithm::Anatomy]) {
            let (release, time) = timed(|| group(&file, &people, &Params::plain(algorithm, size)));
            let found = release.degrees[0];
            series.points.extend(found.set_wise.map(|d| (size as f64, f64::from(d))));
            let told = |d: Option<u32>| d.map_or("-".to_owned(), |d| d.to_string());
            cells.push(format!("{} (pairwise {})", told(found.set_wise), told(found.pairwise)));
            times.push(format!("{:.3} s", time.as_secs_f64()));
        }
        println!("  {size:>10} {:>20} {:>20} {:>12} {:>12}", cells[0], cells[1], times[0], times[1]);
    }
    let chart = Chart {
        title: "Distance reached on PubMed".to_owned(),
        x: Axis::linear("people per group"),
        y: Axis::linear("δ"),
        series: series.into(),
    };
    save(out, "dissect-8", &chart);
}
