//! UCI Adult as one flat table: all nine columns quasi, k = 5, the loss a mean over all cells.

use std::io::Cursor;
use std::path::Path;

use bosket_engine::cluster::{self, Params};
use bosket_io::{Input, Layout};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Build, Hierarchy, build, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_testkit::shared::shared;
use bosket_verify::{Claim, verify};

use crate::resources::{cpu, timed};

/// Runs of which the fastest counts.
const RUNS: usize = 3;

/// Which columns are published as ranges.
#[derive(Clone, Copy, PartialEq)]
enum Ranges {
    None,
    Age,
    All,
}

/// Rows with what is needed to cluster them.
struct Rows {
    data: Dataset,
    policy: Policy,
    binding: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
}

pub(super) fn run(folder: Option<&Path>) {
    let Some(folder) = folder.map(Path::to_owned).or_else(|| shared("data/flat-adult-arx")) else { return };
    if !folder.join("adult.csv.gz").exists() {
        println!("  skipped: {} has no adult.csv.gz", folder.display());
        return;
    }
    println!("  UCI Adult, k = 5, mean loss per cell");
    for (ranges, algorithm, name) in [
        (Ranges::None, "blocks", "hierarchies, blocks"),
        (Ranges::Age, "blocks", "ages as ranges, blocks"),
        (Ranges::All, "blocks", "all columns as ranges over the order of their leaves, blocks"),
    ] {
        let (rows, reading) = timed(|| Rows::new(&folder, ranges, algorithm));
        let params = Params::new(&rows.policy).expect("possible");
        let mut best = (f64::MAX, f64::MAX);
        let mut found = None;
        for _ in 0..RUNS {
            let before = cpu();
            let (release, time) = timed(|| {
                cluster::run(&rows.data, &rows.binding, &rows.hierarchies, &params, &Quiet)
                    .expect("reachable")
            });
            best = (best.0.min(time.as_secs_f64()), best.1.min(cpu() - before));
            found = Some(release);
        }
        let Some(release) = found else { continue };
        let claim = Claim::new(&rows.policy).expect("a claim");
        let again = rows.bind(&release.data);
        let witness = verify(&release.data, &again, &claim, &[], 2 << 30, &Quiet).expect("countable");
        assert!(witness.is_none(), "the publication is not sound");
        println!(
            "    {name:60} {:.4}  {:.3} s ({:.3} s of one processor) after {:.3} s of reading; {} clusters",
            release.lm,
            best.0,
            best.1,
            reading.as_secs_f64(),
            release.clusters.len()
        );
    }
}

impl Rows {
    fn new(folder: &Path, ranges: Ranges, algorithm: &str) -> Self {
        let layout = Layout { separator: Some(";".to_owned()), ..Layout::default() };
        let input = Input::open(&folder.join("adult.csv.gz")).expect("readable");
        let mut data = bosket_io::read(input, Some("csv"), &layout).expect("good rows").data;
        let names: Vec<String> = data.schema().attributes().map(|(_, a)| a.path.clone()).collect();
        let mut hierarchies: Vec<Hierarchy> = (names.iter())
            .map(|name| {
                let path = folder.join("hierarchies").join(format!("adult_hierarchy_{name}.csv"));
                let text = std::fs::read_to_string(&path).expect("a hierarchy");
                csv::parse(name, &text).expect("a good hierarchy")
            })
            .collect();
        if ranges == Ranges::All {
            data = in_order(&data, &hierarchies);
        }
        for (at, ((id, attribute), hierarchy)) in data.schema().attributes().zip(&mut hierarchies).enumerate()
        {
            let domain: Vec<&str> = data.dictionary(id).iter().map(|(_, text)| text).collect();
            let (min, max) = match attribute.path.as_str() {
                "age" => (17.0, 90.0),
                _ => (0.0, hierarchy.leaf_count() as f64 - 1.0),
            };
            if ranges == Ranges::All || (ranges == Ranges::Age && names[at] == "age") {
                *hierarchy = build(&Build::Range { min, max }, &domain, None).expect("good bounds");
            }
        }
        let attributes: String = (names.iter())
            .map(|name| format!("[[attribute]]\npath = '{name}'\nrole = 'quasi'\nhierarchy = '{name}.csv'\n"))
            .collect();
        let text = format!(
            "version = 1\n{attributes}[privacy]\nmodel = 'k-anonymity'\nk = 5\n[method]\nalgorithm = '{algorithm}'\n"
        );
        let (policy, _) = Policy::parse("adult", &text, &[]).expect("a good policy");
        let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, "adult")
            .expect("all declared");
        Rows { data, policy, binding, hierarchies: hierarchies.into_iter().map(Some).collect() }
    }

    fn bind(&self, data: &Dataset) -> Binding {
        Binding::new(data.schema(), &self.policy.attributes, self.policy.undeclared, "published")
            .expect("all declared")
    }
}

/// The same rows with numbers for texts: the place of the leaf in its hierarchy.
fn in_order(data: &Dataset, hierarchies: &[Hierarchy]) -> Dataset {
    let columns: Vec<_> = data.schema().attributes().map(|(id, a)| (id, a.path.as_str())).collect();
    let mut text = columns.iter().map(|c| c.1).collect::<Vec<_>>().join(";") + "\n";
    for row in 0..data.len() {
        let cells: Vec<String> = (columns.iter().zip(hierarchies))
            .map(|(&(id, name), hierarchy)| {
                let label = data.dictionary(id).text(data.value(data.vertices(row).start, id));
                let leaf = hierarchy.leaf(label).expect("covered");
                if name == "age" { label.to_owned() } else { hierarchy.leaves(leaf).start.to_string() }
            })
            .collect();
        text += &(cells.join(";") + "\n");
    }
    let layout = Layout { separator: Some(";".to_owned()), ..Layout::default() };
    let input = Input::new("adult", Cursor::new(text.into_bytes()), None).expect("readable");
    bosket_io::read(input, Some("csv"), &layout).expect("good rows").data
}
