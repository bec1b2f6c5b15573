//! Figures 13 to 18 of the paper, with generated baskets in the place of BMS-POS: time, memory and loss over the
//! datasets, k, m, the height of the hierarchy, the number of parts, the flexibility and the level of parts.
//!
//! The paper gives memory as nodes of its count tree; here it is what the process takes, the data included, and those
//! nodes too where they are asked for.

use std::path::Path;

use super::search::Run;
use super::sets::{BASKETS, FANOUT, REPEATED, Source};
use super::{ALGORITHMS, Measured};
use crate::plot::{Axis, Chart, Series};
use crate::resources::mb;

/// One figure: a value of what is varied per row, an algorithm per column.
struct Figure {
    /// For file names.
    name: &'static str,
    title: &'static str,
    axis: Axis,
    algorithms: Vec<&'static str>,
    rows: Vec<Row>,
}

struct Row {
    x: f64,
    name: String,
    /// By algorithm; none where the search failed.
    runs: Vec<Option<Run>>,
}

impl Figure {
    fn new(name: &'static str, title: &'static str, axis: Axis, algorithms: &[&'static str]) -> Self {
        Figure { name, title, axis, algorithms: algorithms.to_vec(), rows: Vec::new() }
    }

    /// Runs all algorithms with some settings.
    fn row(&mut self, source: &Source<'_>, x: f64, settings: &[String]) {
        let run = |algorithm: &&'static str| {
            let algorithm = format!("method.algorithm={algorithm}");
            let all: Vec<String> = settings.iter().cloned().chain([algorithm]).collect();
            Run::apart(source, &all)
        };
        let runs = self.algorithms.iter().map(run).collect();
        self.rows.push(Row { x, name: x.to_string(), runs });
    }

    /// Takes what was measured already.
    fn known(&mut self, x: f64, name: &str, measured: &[&Measured]) {
        let run =
            |algorithm: &&'static str| measured.iter().find(|m| m.algorithm == *algorithm).map(|m| m.run);
        let runs = self.algorithms.iter().map(run).collect();
        self.rows.push(Row { x, name: name.to_owned(), runs });
    }

    fn print(&self, out: Option<&Path>) {
        println!("figure {}: {}", self.name, self.title);
        let head: Vec<String> = self
            .algorithms
            .iter()
            .map(|a| format!("{a:>9} {:>9} {:>9} {:>9}", "cpu", "peak", "NCP"))
            .collect();
        println!("  {:>10} {}", self.axis.label, head.join("  "));
        for row in &self.rows {
            let cells: Vec<String> = (row.runs.iter())
                .map(|run| match run {
                    Some(r) if r.is_sound() => {
                        format!(
                            "{:>7.3} s {:>7.3} s {:>6.0} MB {:>7.2} %",
                            r.seconds,
                            r.cpu,
                            mb(r.peak),
                            r.ncp * 100.0
                        )
                    }
                    Some(_) => format!("{:>39}", "NOT SOUND"),
                    None => format!("{:>39}", "-"),
                })
                .collect();
            println!("  {:>10} {}", row.name, cells.join("  "));
        }
        if self.rows.iter().flat_map(|row| row.runs.iter().flatten()).any(|run| run.nodes.is_some()) {
            self.print_nodes(out);
        }
        if let Some(out) = out {
            self.draw(out, "time", Axis::logarithmic("seconds of computing"), |r| r.cpu);
            self.draw(out, "memory", Axis::linear("MB"), |r| mb(r.peak));
            self.draw(out, "ncp", Axis::linear("NCP (%)"), |r| r.ncp * 100.0);
        }
    }

    fn print_nodes(&self, out: Option<&Path>) {
        let head: Vec<String> = self.algorithms.iter().map(|a| format!("{a:>13}")).collect();
        println!("  nodes of the paper's count tree\n  {:>10} {}", self.axis.label, head.join(" "));
        for row in &self.rows {
            let nodes =
                |run: &Option<Run>| run.and_then(|r| r.nodes).map_or("-".to_owned(), |n| n.to_string());
            let cells: Vec<String> = row.runs.iter().map(|run| format!("{:>13}", nodes(run))).collect();
            println!("  {:>10} {}", row.name, cells.join(" "));
        }
        if let Some(out) = out {
            let nodes = |run: &Run| run.nodes.map_or(f64::NAN, |n| n as f64);
            self.draw(out, "nodes", Axis::logarithmic("nodes of the count tree"), nodes);
        }
    }

    fn draw(&self, out: &Path, what: &str, y: Axis, value: impl Fn(&Run) -> f64) {
        let series = (self.algorithms.iter().enumerate())
            .map(|(at, name)| Series {
                name: (*name).to_owned(),
                points: (self.rows.iter())
                    .filter_map(|row| Some((row.x, value(row.runs[at].as_ref().filter(|r| r.is_sound())?))))
                    .collect(),
            })
            .collect();
        let chart = Chart { title: self.title.to_owned(), x: self.axis.clone(), y, series };
        let path = out.join(format!("figure-{}-{what}.svg", self.name));
        let written = std::fs::create_dir_all(out).and_then(|()| std::fs::write(&path, chart.svg()));
        if let Err(error) = written {
            eprintln!("{}: {error}", path.display());
        }
    }
}

fn setting(key: &str, value: impl ToString) -> Vec<String> {
    vec![format!("{key}={}", value.to_string())]
}

/// All figures; baskets stand for BMS-POS.
pub(super) fn print(measured: &[Measured], baskets: &Source<'_>, out: Option<&Path>) {
    let of = |name: &str, m: usize| -> Vec<&Measured> {
        measured.iter().filter(|r| r.dataset == name && r.m == m).collect()
    };
    let mut names: Vec<&str> = measured.iter().map(|r| r.dataset).collect();
    names.dedup();
    let axis = Axis::named("dataset", &names);
    let mut figure = Figure::new("14", "the datasets, k = 5, m = 3 (13a: aa)", axis, &ALGORITHMS);
    for (at, name) in names.iter().enumerate() {
        figure.known(at as f64, name, &of(name, 3));
    }
    figure.print(out);

    let mut figure = Figure::new("15", "k, baskets, m = 3 (13b: aa)", Axis::logarithmic("k"), &ALGORITHMS);
    for k in [5, 20, 100, 1000] {
        figure.row(baskets, f64::from(k), &setting("privacy.k", k));
    }
    figure.print(out);

    let mut figure = Figure::new("16", "m, baskets, k = 5 (13d: aa)", Axis::linear("m"), &ALGORITHMS);
    for m in 1..=4u32 {
        figure.known(f64::from(m), &m.to_string(), &of(BASKETS, m as usize));
    }
    figure.print(out);

    // From few to many children: a high hierarchy is a fine one.
    let title = "height of the hierarchy, baskets, k = 5, m = 3 (13c: aa)";
    let mut figure = Figure::new("17", title, Axis::linear("height"), &ALGORITHMS);
    for fanout in [12, 7, FANOUT, 4, 3] {
        figure.row(&Source { fanout: Some(fanout), ..*baskets }, 0.0, &[]);
        if let Some(row) = figure.rows.last_mut()
            && let Some(run) = row.runs.iter().flatten().next()
        {
            (row.x, row.name) = (f64::from(run.height), run.height.to_string());
        }
    }
    figure.print(out);

    let title = "parts, baskets, k = 5, m = 3";
    let mut figure = Figure::new("18ab", title, Axis::linear("parts"), &["lra", "vpa"]);
    for parts in [1, 2, 3, 5, 10, 20] {
        figure.row(baskets, f64::from(parts), &setting("method.parts", parts));
    }
    figure.print(out);

    let mut figure = Figure::new("18c", "flexibility, baskets, k = 5, m = 3", Axis::linear("flex"), &["lra"]);
    for flex in [0, 10, 50, 100, 200] {
        figure.row(baskets, f64::from(flex), &setting("method.flex", flex));
    }
    figure.print(out);

    let title = "level of parts, baskets, k = 5, m = 3";
    let mut figure = Figure::new("18d", title, Axis::linear("level"), &["vpa"]);
    for level in 1..=4 {
        figure.row(baskets, f64::from(level), &setting("method.level", level));
    }
    figure.print(out);
}

/// More and more baskets.
pub(super) fn growth(most: u64, baskets: &Source<'_>, out: Option<&Path>) {
    let title = "number of baskets, k = 5, m = 3";
    let mut figure = Figure::new("growth", title, Axis::linear("baskets"), &["aa", "vpa"]);
    for part in [10, 5, 2, 1] {
        let transactions = most / part;
        // The count tree of millions would be counted for hours.
        let source = Source { transactions, count_tree: false, ..*baskets };
        figure.row(&source, transactions as f64, &[]);
    }
    figure.print(out);

    let title = "number of baskets, ten of each, so that all items stay, k = 5, m = 3";
    let mut figure = Figure::new("growth-kept", title, Axis::linear("baskets"), &["aa"]);
    let source = Source { name: REPEATED, transactions: most, count_tree: false, ..*baskets };
    figure.row(&source, most as f64, &[]);
    figure.print(None);
}
