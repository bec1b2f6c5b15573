//! Time and memory over records and over domain size, with fitted exponents.

use bosket_generate::students::Kind;

use super::data::QUASI;
use super::fit::exponent;
use super::job::{Anonymize, Fold, Group, Job, Policy};
use super::result::{Axis, Claim, Column, Row, Suite, Table};
use super::rules::{Verdict, grows};
use super::sweep::{Bench, Sweep};

/// Its name.
pub(super) const NAME: &str = "growth";

const COSTS: &[&str] = &["cpu", "wall", "peak"];

/// What is done for a size and a line.
type Work<'a> = Box<dyn Fn(u32, &str) -> Result<Job, String> + 'a>;

/// A method over sizes.
struct Growing<'a> {
    id: &'a str,
    title: &'a str,
    label: &'a str,
    lines: Vec<&'a str>,
    sizes: Vec<u32>,
    job: Work<'a>,
}

fn anonymize(path: std::path::PathBuf, settings: &[&str]) -> Job {
    let settings = settings.iter().map(|s| (*s).to_owned()).collect();
    Job::Anonymize(Anonymize { policy: Policy { path, settings }, ..Anonymize::default() })
}

/// Runs the suite.
pub(super) fn run(bench: &Bench) -> Result<Suite, String> {
    let mut tables: Vec<Table> = methods(bench)
        .iter()
        .map(|method| {
            let sweep = Sweep {
                suite: NAME,
                id: method.id,
                title: method.title,
                axis: Axis::logarithmic(method.label),
                lines: method.lines.clone(),
                measures: COSTS,
            };
            sweep.run(bench, &method.sizes, |size, line| (method.job)(size, line))
        })
        .collect();
    let fitted: Vec<Table> = tables.iter().map(unrepeated).collect();
    let claims = claims(&fitted);
    tables.insert(0, exponents(&fitted));
    let notes = vec![
        "The exponent b is that of y = a·x^b, fitted by least squares on logarithms: 1 is linear, 2 quadratic. Memory includes what the process takes before it begins.".to_owned(),
        "With k fixed more records make more cuts sound, so searches for k^(m,n) go deeper: their time jumps where that happens (here between 20,000 and 50,000 customers), and an exponent over few sizes says more about the jump than about the growth on either side of it.".to_owned(),
        "Methods that compare records with each other are not taken to a million: `ctoff` looks at all pairs, its approximation at sixteen candidates per record.".to_owned(),
        "UCI Adult has 30,162 rows and PubMed 30,000 articles; larger sizes repeat them, which is kinder to a method than new ones would be. Exponents and claims are fitted without those sizes.".to_owned(),
    ];
    let title = "Growth over records and domains".to_owned();
    Ok(Suite { name: NAME.to_owned(), title, seconds: 0.0, tables, notes, claims })
}

fn methods<'a>(bench: &'a Bench) -> Vec<Growing<'a>> {
    let data = &bench.data;
    vec![
        Growing {
            id: "kmn",
            title: "k^(m,n), customers of TPC-H, k = 20, m = 3, n = 2",
            label: "records",
            lines: vec!["gcs", "ocs", "best"],
            sizes: bench.pick(
                vec![2_000, 4_000],
                vec![10_000, 30_000, 100_000],
                vec![10_000, 30_000, 100_000, 300_000, 1_000_000],
            ),
            job: Box::new(|size, line| {
                Ok(anonymize(data.tpch(u64::from(size))?, &[&format!("method.algorithm={line}")]))
            }),
        },
        Growing {
            id: "km",
            title: "k^m, baskets, k = 5, m = 3",
            label: "records",
            lines: vec!["aa", "lra", "vpa", "partition"],
            sizes: bench.pick(
                vec![1_000, 2_000],
                vec![10_000, 30_000, 100_000],
                vec![10_000, 30_000, 100_000, 300_000, 1_000_000],
            ),
            job: Box::new(|size, line| {
                Ok(anonymize(data.baskets(u64::from(size), None)?, &[&format!("method.algorithm={line}")]))
            }),
        },
        Growing {
            id: "km-domain",
            title: "k^m over the number of items, baskets folded by modulo, k = 5, m = 3",
            label: "items",
            lines: vec!["aa", "vpa"],
            sizes: bench.pick(
                vec![50, 100],
                vec![100, 200, 400, 800, 1_600],
                vec![100, 200, 400, 800, 1_600],
            ),
            job: Box::new(|items, line| {
                let number = bench.pick(1_000, 100_000, 515_597);
                let path = data.baskets(number, Some(5))?;
                let settings = vec![format!("method.algorithm={line}")];
                let fold = Some(Fold { records: number as usize, items: u64::from(items) });
                Ok(Job::Anonymize(Anonymize {
                    policy: Policy { path, settings },
                    fold,
                    ..Anonymize::default()
                }))
            }),
        },
        Growing {
            id: "clusters",
            title: "l-diversity of students, syntheticS, l = 3",
            label: "records",
            lines: vec!["ctoff"],
            sizes: bench.pick(
                vec![100, 200],
                vec![500, 1_000, 2_000],
                vec![1_000, 2_000, 5_000, 10_000, 20_000],
            ),
            job: Box::new(|size, line| {
                let path = data.students(Kind::SyntheticS, u64::from(size))?;
                Ok(anonymize(path, &[&format!("method.algorithm={line}")]))
            }),
        },
        Growing {
            id: "flat",
            title: "k-anonymity of a flat table, UCI Adult, k = 5",
            label: "records",
            lines: vec!["blocks"],
            sizes: bench.pick(
                vec![500, 1_000],
                vec![3_000, 10_000, 30_000],
                vec![3_000, 10_000, 30_000, 100_000, 1_000_000],
            ),
            job: Box::new(|size, line| {
                Ok(anonymize(data.adult(Some(size as usize))?, &[&format!("method.algorithm={line}")]))
            }),
        },
        Growing {
            id: "dissect",
            title: "dissection of PubMed, groups of 10, from file to file",
            label: "records",
            lines: vec!["none", "anatomy", "delta"],
            sizes: bench.pick(
                vec![200, 400],
                vec![3_000, 10_000, 30_000],
                vec![3_000, 10_000, 30_000, 100_000],
            ),
            job: Box::new(|size, line| {
                let path = data.pubmed(size as usize, QUASI.len())?;
                Ok(Job::Dissect(Policy { path, settings: vec![format!("privacy.model={line}")] }))
            }),
        },
        Growing {
            id: "dissect-domain",
            title: "grouping over the size of the sensitive hierarchy, fan-out 3, groups of 5",
            label: "nodes",
            lines: vec!["anatomy", "delta"],
            sizes: bench.pick(
                vec![40, 121],
                vec![121, 364, 1_093, 3_280, 9_841],
                vec![121, 364, 1_093, 3_280, 9_841, 29_524],
            ),
            job: Box::new(|nodes, line| {
                // A full tree of fan-out 3 and depth d has (3^d - 1)/2 nodes.
                let depth = (2.0 * f64::from(nodes) + 1.0).log(3.0).round() as usize;
                Ok(Job::Group(Group { depth, delta: line == "delta", ..Group::default() }))
            }),
        },
    ]
}

/// Adult has 30,162 rows and PubMed 30,000 articles.
const REAL: f64 = 30_000.0;

/// A table without the sizes at which data repeats itself.
fn unrepeated(table: &Table) -> Table {
    let mut table = table.clone();
    if ["flat", "dissect"].contains(&table.id.as_str()) {
        table.rows.retain(|row| row.x <= REAL);
    }
    table
}

/// All exponents in one table.
fn exponents(tables: &[Table]) -> Table {
    let column = |measure: &str| Column {
        line: "exponent".to_owned(),
        measure: measure.to_owned(),
        unit: String::new(),
    };
    let mut rows = Vec::new();
    for table in tables {
        for line in table.lines() {
            let of = |measure: &str| exponent(&table.series(line, measure));
            let name = format!("{} over {}: {line}", table.id, table.axis.label);
            rows.push(Row { x: rows.len() as f64, name, values: vec![of("cpu"), of("peak")] });
        }
    }
    Table {
        id: "exponents".to_owned(),
        title: "Fitted exponents".to_owned(),
        axis: Axis::named("method"),
        columns: vec![column("exponent of cpu"), column("exponent of peak")],
        rows,
        missing: Vec::new(),
    }
}

fn claims(tables: &[Table]) -> Vec<Claim> {
    let table = |id: &str| tables.iter().find(|t| t.id == id).expect("every table is made");
    let most = |id: &str, measure: &str, most: f64| {
        let table = table(id);
        Verdict::all(table.lines().iter().map(|line| grows(table, line, measure, most)))
    };
    vec![
        grows(table("kmn"), "gcs", "cpu", 1.0)
            .on("time of `gcs` is sublinear in the number of records (paper 000)", None),
        most("km", "cpu", 1.05).on("searches for k^m are at most linear in the number of records", None),
        most("dissect", "cpu", 1.05)
            .on("dissection is linear in the length of the document (paper 003)", None),
        most("dissect", "peak", 1.0).on("memory of dissection grows more slowly than the document", None),
        most("clusters", "cpu", 2.0).on("`ctoff` is at most quadratic in the number of records", None),
        most("flat", "cpu", 1.2).on("`blocks` is about linear in the number of rows", None),
    ]
}
