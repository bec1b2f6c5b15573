//! Sweeps over a parameter, point by point.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::data::Datasets;
use super::job::{Answer, Job, apart};
use super::result::{Axis, Column, Missing, Row, Table};

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Just enough to see that it works.
    Tiny,
    /// Under five minutes.
    Quick,
    /// The papers' sizes.
    Full,
}

impl Extent {
    /// In results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Extent::Tiny => "tiny",
            Extent::Quick => "quick",
            Extent::Full => "full",
        }
    }

    /// One value per extent.
    pub(crate) fn pick<T>(self, tiny: T, quick: T, full: T) -> T {
        match self {
            Extent::Tiny => tiny,
            Extent::Quick => quick,
            Extent::Full => full,
        }
    }
}

/// What the suites of a run share.
pub(crate) struct Bench {
    pub(crate) extent: Extent,
    pub(crate) out: PathBuf,
    pub(crate) data: Datasets,
    /// Several sweeps go through the defaults; these are measured once.
    known: RefCell<BTreeMap<String, Answer>>,
    begun: Instant,
}

impl Bench {
    pub(crate) fn new(extent: Extent, out: PathBuf, data: Datasets) -> Self {
        Bench { extent, out, data, known: RefCell::default(), begun: Instant::now() }
    }

    /// Seconds since the run began.
    pub(crate) fn elapsed(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// One value per extent.
    pub(crate) fn pick<T>(&self, tiny: T, quick: T, full: T) -> T {
        self.extent.pick(tiny, quick, full)
    }

    /// Says what is going on.
    pub(crate) fn tell(&self, what: &str) {
        eprintln!("[{:6.1} s] {what}", self.elapsed());
    }

    /// Measures a point, or remembers it.
    pub(crate) fn measure(&self, name: &str, job: &Job) -> Answer {
        let key = serde_json::to_string(job).map_err(|e| e.to_string())?;
        if let Some(answer) = self.known.borrow().get(&key) {
            return answer.clone();
        }
        let limit = Duration::from_secs(self.pick(60, 120, 600));
        // A figure of a publication that is not sound would be worth nothing.
        let answer = apart(job, limit).and_then(|outcome| match outcome.sound {
            Some(false) => Err("the publication is NOT SOUND".to_owned()),
            _ => Ok(outcome),
        });
        match &answer {
            Ok(o) => {
                self.tell(&format!("{name}: {:.3} s, {:.3} s of computing, {:.0} MB", o.wall, o.cpu, o.peak))
            }
            Err(why) => self.tell(&format!("{name}: {why}")),
        }
        self.known.borrow_mut().insert(key, answer.clone());
        answer
    }
}

/// A table to be filled: a row per value, columns of figures per method.
pub(super) struct Sweep<'a> {
    pub(super) suite: &'a str,
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) axis: Axis,
    pub(super) lines: Vec<&'a str>,
    pub(super) measures: &'a [&'a str],
}

impl Axis {
    /// Equal differences are equally far apart.
    pub(super) fn linear(label: &str) -> Self {
        Axis { label: label.to_owned(), ..Axis::default() }
    }

    /// Equal factors are equally far apart.
    pub(super) fn logarithmic(label: &str) -> Self {
        Axis { label: label.to_owned(), logarithmic: true, named: false }
    }

    /// Things rather than amounts.
    pub(super) fn named(label: &str) -> Self {
        Axis { label: label.to_owned(), logarithmic: false, named: true }
    }
}

/// The unit of a figure.
pub(super) fn unit(measure: &str) -> &'static str {
    match measure {
        "wall" | "cpu" | "grouping" | "whole" => "s",
        "peak" => "MB",
        "NCP" | "ML2" | "query accuracy" | "relations kept" => "%",
        _ => "",
    }
}

impl Sweep<'_> {
    /// Measures all points. `job` says what is done for a row and a line, or why nothing is.
    pub(super) fn run<X: Into<f64> + Copy + ToString>(
        &self,
        bench: &Bench,
        rows: &[X],
        job: impl Fn(X, &str) -> Result<Job, String>,
    ) -> Table {
        let named: Vec<(f64, String)> = rows.iter().map(|x| ((*x).into(), x.to_string())).collect();
        self.run_named(bench, &named, |at, line| job(rows[at], line))
    }

    /// The same with names of its own for rows, by place.
    pub(super) fn run_named(
        &self,
        bench: &Bench,
        rows: &[(f64, String)],
        job: impl Fn(usize, &str) -> Result<Job, String>,
    ) -> Table {
        let mut table = self.empty();
        for (at, (x, name)) in rows.iter().enumerate() {
            let answers: Vec<Answer> = (self.lines.iter())
                .map(|line| {
                    let point = format!("{} {}, {} {name}, {line}", self.suite, self.id, self.axis.label);
                    job(at, line).and_then(|job| bench.measure(&point, &job))
                })
                .collect();
            table.push(*x, name, &answers);
        }
        table
    }

    /// The table without rows.
    pub(super) fn empty(&self) -> Table {
        let column = |measure: &&str, line: &&str| Column {
            line: (*line).to_owned(),
            measure: (*measure).to_owned(),
            unit: unit(measure).to_owned(),
        };
        Table {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            axis: self.axis.clone(),
            columns: (self.measures.iter())
                .flat_map(|measure| self.lines.iter().map(move |line| column(measure, line)))
                .collect(),
            rows: Vec::new(),
            missing: Vec::new(),
        }
    }
}

impl Table {
    /// Adds a row of answers, one per line.
    pub(super) fn push(&mut self, x: f64, name: &str, answers: &[Answer]) {
        let lines: Vec<String> = self.lines().iter().map(|l| (*l).to_owned()).collect();
        let answer = |line: &str| lines.iter().position(|l| l == line).and_then(|at| answers.get(at));
        let values = self
            .columns
            .iter()
            .map(|c| answer(&c.line)?.as_ref().ok()?.figure(&c.measure))
            .map(|value: Option<f64>| value.filter(|v| v.is_finite()));
        self.rows.push(Row { x, name: name.to_owned(), values: values.collect() });
        for (line, answer) in lines.iter().zip(answers) {
            if let Err(why) = answer {
                self.missing.push(Missing { row: name.to_owned(), line: line.clone(), why: why.clone() });
            }
        }
    }
}
