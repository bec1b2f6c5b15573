//! Plots of tables.

use std::path::Path;

use super::result::{Results, Table};
use crate::plot::{Axis, Chart, Series};

/// Beyond this factor between the most and the least an axis is logarithmic.
const WIDE: f64 = 20.0;

/// More things than this have no room for their names below a plot.
const MANY: usize = 8;

/// The name of a plot's file.
pub(super) fn name(suite: &str, table: &Table, measure: &str) -> String {
    format!("bench-{suite}-{}-{}.svg", table.id, measure.replace(' ', "-"))
}

/// The chart of a figure; none if fewer than two points were measured.
pub(super) fn chart(table: &Table, measure: &str) -> Option<Chart> {
    let series: Vec<Series> = (table.lines().iter())
        .map(|line| {
            let mut points = table.series(line, measure);
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Series { name: (*line).to_owned(), points }
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    if series.iter().all(|s| s.points.len() < 2) || (table.axis.named && table.rows.len() > MANY) {
        return None;
    }
    let unit = table.unit(measure);
    let label = if unit.is_empty() { measure.to_owned() } else { format!("{measure} ({unit})") };
    let values = || series.iter().flat_map(|s| s.points.iter().map(|p| p.1)).filter(|v| *v > 0.0);
    let (least, most) = values().fold((f64::MAX, 0.0), |(least, most), v| (v.min(least), v.max(most)));
    let y = if most > WIDE * least { Axis::logarithmic(&label) } else { Axis::linear(&label) };
    let x = if table.axis.named {
        let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
        Axis::named(&table.axis.label, &names)
    } else if table.axis.logarithmic {
        Axis::logarithmic(&table.axis.label)
    } else {
        Axis::linear(&table.axis.label)
    };
    Some(Chart { title: table.title.clone(), x, y, series })
}

/// Draws every figure of every table into a folder.
pub(super) fn all(results: &Results, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for suite in &results.suites {
        for table in &suite.tables {
            for measure in table.measures() {
                if let Some(chart) = chart(table, measure) {
                    std::fs::write(folder.join(name(&suite.name, table, measure)), chart.svg())?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::samples::table;

    #[test]
    fn a_wide_figure_has_a_logarithmic_axis() {
        let cpu = chart(&table(), "cpu").expect("points");
        assert!(cpu.y.logarithmic);
        assert!(!chart(&table(), "loss").expect("points").y.logarithmic);
        assert_eq!(cpu.series.len(), 2);
    }

    #[test]
    fn one_row_makes_no_plot() {
        let mut table = table();
        table.rows.truncate(1);
        assert!(chart(&table, "cpu").is_none());
    }
}
