//! Two runs against each other, point by point.

use std::fmt::Write as _;
use std::path::Path;

use super::result::{Results, Table};
use super::rules::number;

/// What is more than this much worse is marked.
const MARKED: f64 = 1.1;

/// Seconds and megabytes below which a ratio says nothing.
const LITTLE: [(&str, f64); 2] = [("s", 0.02), ("MB", 5.0)];

/// A point that both runs have.
#[derive(Debug, PartialEq)]
struct Point {
    place: String,
    unit: String,
    old: f64,
    new: f64,
}

impl Point {
    /// New over old; equal figures are equal, 0 too.
    fn ratio(&self) -> f64 {
        if self.old == self.new { 1.0 } else { self.new / self.old }
    }

    /// More is worse, and by so much that it counts.
    fn worse(&self) -> bool {
        let little = LITTLE.iter().find(|(unit, _)| *unit == self.unit).map_or(0.0, |(_, least)| *least);
        !self.place.ends_with(" query accuracy")
            && !self.place.ends_with(" relations kept")
            && !self.place.ends_with(" degree")
            && self.old.max(self.new) >= little
            && self.ratio() > MARKED
    }
}

/// Prints how a run compares with an older one.
pub(crate) fn compare(old: &Path, new: &Path) -> Result<(), String> {
    print!("{}", told(&Results::load(old)?, &Results::load(new)?, |_| true));
    Ok(())
}

/// A chapter on what has changed since an older run: by suite how the times have, and what is slower or larger.
pub(super) fn since(old: &Results, new: &Results) -> String {
    let (points, ..) = points(old, new);
    let commit = old.versions.commit.as_deref().unwrap_or("unknown");
    let mut out = format!(
        "## Since last time\n\nBy `bench compare`, against the run before (commit {commit}, {:.0} s in all; {:.0} s now). \
         Ratios are new to old; means are geometric ones, of times from {} s on.\n\n\
         | suite | times | mean ratio | least | most | more than 10 % slower or larger |\n|---|---:|---:|---:|---:|---:|\n",
        old.seconds, new.seconds, LITTLE[0].1
    );
    for suite in &new.suites {
        let head = format!("{} ", suite.name);
        let own: Vec<&Point> = points.iter().filter(|point| point.place.starts_with(&head)).collect();
        let times: Vec<f64> = (own.iter())
            .filter(|point| point.unit == "s" && point.old.min(point.new) >= LITTLE[0].1)
            .map(|point| point.ratio())
            .collect();
        if times.is_empty() {
            continue;
        }
        let mean = (times.iter().map(|ratio| ratio.ln()).sum::<f64>() / times.len() as f64).exp();
        let (least, most) =
            times.iter().fold((f64::INFINITY, 0.0), |(least, most), &r| (r.min(least), r.max(most)));
        let worse = own.iter().filter(|point| point.worse()).count();
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "| {} | {} | {mean:.2} | {least:.2} | {most:.2} | {worse} of {} |",
            suite.name,
            times.len(),
            own.len()
        );
    }
    let worse = told(old, new, Point::worse);
    let _ = write!(out, "\n<details><summary>What is slower or larger</summary>\n\n{worse}\n</details>\n\n");
    out
}

/// Some points, and how many there are.
fn told(old: &Results, new: &Results, shown: impl Fn(&Point) -> bool) -> String {
    let mut out = String::new();
    if old.machine != new.machine {
        out.push_str("The machines differ: times cannot be compared as they are.\n");
    }
    if old.extent != new.extent {
        let _ =
            writeln!(out, "The extents differ ({} and {}): few points are in both.", old.extent, new.extent);
    }
    let (points, only_old, only_new) = points(old, new);
    out.push_str("| point | old | new | new/old | |\n|---|---:|---:|---:|---|\n");
    for point in points.iter().filter(|point| shown(point)) {
        let mark = match point.worse() {
            false => "",
            true if point.unit == "s" => "slower",
            true => "larger",
        };
        let unit = if point.unit.is_empty() { String::new() } else { format!(" {}", point.unit) };
        let _ = writeln!(
            out,
            "| {} | {}{unit} | {}{unit} | {:.2} | {mark} |",
            point.place,
            number(point.old),
            number(point.new),
            point.ratio()
        );
    }
    let worse = points.iter().filter(|p| p.worse()).count();
    let _ = writeln!(
        out,
        "\n{} points in both, {worse} more than 10 % slower or larger; {only_old} only in the old run, {only_new} only in the new one",
        points.len()
    );
    out
}

/// The points of both runs, and how many are in one of them only.
fn points(old: &Results, new: &Results) -> (Vec<Point>, usize, usize) {
    let mut points = Vec::new();
    let (mut before, mut after) = (figures(old), figures(new));
    before.sort_by(|a, b| a.0.cmp(&b.0));
    let total = before.len();
    let mut only_new = 0;
    for (place, unit, new) in after.drain(..) {
        match before.binary_search_by(|b| b.0.cmp(&place)) {
            Ok(at) => points.push(Point { place, unit, old: before[at].2, new }),
            Err(_) => only_new += 1,
        }
    }
    let only_old = total - points.len();
    (points, only_old, only_new)
}

/// All figures of a run with their places.
fn figures(results: &Results) -> Vec<(String, String, f64)> {
    let mut all = Vec::new();
    for suite in &results.suites {
        for table in &suite.tables {
            all.extend(of_table(&suite.name, table));
        }
    }
    all
}

fn of_table<'a>(suite: &'a str, table: &'a Table) -> impl Iterator<Item = (String, String, f64)> + 'a {
    table.rows.iter().flat_map(move |row| {
        table.columns.iter().zip(&row.values).filter_map(move |(column, value)| {
            let place = format!(
                "{suite} {}, {} {}, {}, {}",
                table.id, table.axis.label, row.name, column.line, column.measure
            );
            Some((place, column.unit.clone(), (*value)?))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::samples::results;

    #[test]
    fn the_same_run_has_nothing_marked() {
        let text = told(&results(), &results(), |_| true);
        assert!(text.contains("11 points in both, 0 more than 10 % slower or larger; 0 only"), "{text}");
    }

    #[test]
    fn what_is_slower_or_larger_is_marked() {
        let mut new = results();
        new.suites[0].tables[0].rows[0].values = vec![Some(0.56), Some(1.05), Some(5.0), Some(12.0)];
        let text = told(&results(), &new, |_| true);
        let line = |part: &str| text.lines().find(|l| l.contains(part)).expect("a line").to_owned();
        assert!(line("k 1, fast, cpu").ends_with("| 1.12 | slower |"), "{text}");
        assert!(line("k 1, slow, cpu").ends_with("| 1.05 |  |"), "{text}");
        assert!(line("k 1, slow, loss").ends_with("| 1.20 | larger |"), "{text}");
        assert!(text.contains("2 more than 10 %"), "{text}");
    }

    #[test]
    fn points_of_one_run_only_are_counted() {
        let mut new = results();
        new.suites[0].tables[0].rows.remove(0);
        new.machine.cores = 8;
        let text = told(&results(), &new, |_| true);
        assert!(text.contains("7 points in both"), "{text}");
        assert!(text.contains("4 only in the old run, 0 only in the new one"), "{text}");
        assert!(text.starts_with("The machines differ"), "{text}");
    }

    #[test]
    fn what_has_changed_is_told_by_suite() {
        let mut new = results();
        let row = &mut new.suites[0].tables[0].rows[0].values;
        *row = row.iter().map(|value| value.map(|value| value / 2.0)).collect();
        let text = since(&results(), &new);
        let line = text.lines().find(|line| line.starts_with("| paper-000 |")).expect("a line");
        assert!(line.contains("| 0.50 |") && line.ends_with("| 0 of 11 |"), "{text}");
        assert!(text.contains("commit abc, 1 s in all"), "{text}");
    }

    #[test]
    fn milliseconds_are_not_marked() {
        let point = Point { place: "x cpu".into(), unit: "s".into(), old: 0.001, new: 0.002 };
        assert!(!point.worse());
        let point = Point { place: "x query accuracy".into(), unit: "%".into(), old: 50.0, new: 99.0 };
        assert!(!point.worse());
    }
}
