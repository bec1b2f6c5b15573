//! A run as Markdown: context, then per suite its claims, tables, plots and notes.

use std::fmt::Write as _;

use super::draw;
use super::result::{Results, Suite, Table};
use super::rules::number;

/// Whether a figure of a table is drawn.
pub(super) type Drawn<'a> = &'a dyn Fn(&Suite, &Table, &str) -> bool;

/// How tables are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tables {
    /// As they are.
    Open,
    /// Below a line that opens them.
    Folded,
}

/// The whole run; plots are in a folder beside it.
pub(super) fn report(results: &Results, plots: &str, drawn: Drawn<'_>) -> String {
    let mut out = String::from("# Benchmarks\n\n");
    out.push_str(&context(results));
    for suite in &results.suites {
        out.push_str(&section(suite, plots, drawn, Tables::Open));
    }
    out
}

/// Machine, versions and data of a run.
pub(super) fn context(results: &Results) -> String {
    let (machine, versions) = (&results.machine, &results.versions);
    let mut out = format!(
        "`bench --{}` in {:.0} s on {} ({} threads, {:.1} GB, Linux {}); bosket {}{}{}; seed {}.\n\n",
        results.extent,
        results.seconds,
        machine.cpu,
        machine.cores,
        machine.memory_mb as f64 / 1024.0,
        machine.kernel,
        versions.bosket,
        versions.commit.as_ref().map_or(String::new(), |c| format!(", commit {c}")),
        versions.rustc.as_ref().map_or(String::new(), |r| format!(", {r}")),
        results.seed
    );
    out.push_str(
        "Every point ran in a process of its own. `wall` and `cpu` are seconds from records in memory to published records in \
         memory (dissection: from file to file), by the clock and of all threads; short work was repeated up to twenty \
         times: the least by the clock and the mean of computing are given. `peak` is the most memory of the process meanwhile, the data included. Every publication was \
         verified; one that is not sound would show as missing.\n\n",
    );
    if !results.datasets.is_empty() {
        out.push_str("| dataset | origin | bytes | SHA-256 of the file |\n|---|---|---:|---|\n");
        for data in &results.datasets {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "| {} | {} | {} | `{}` |", data.name, data.origin, data.bytes, data.sha256);
        }
        out.push('\n');
    }
    out
}

/// One suite.
pub(super) fn section(suite: &Suite, plots: &str, drawn: Drawn<'_>, tables: Tables) -> String {
    let mut out = format!("## {}: {}\n\n", suite.name, suite.title);
    let _ = writeln!(out, "Took {:.0} s.\n", suite.seconds);
    for note in &suite.notes {
        let _ = writeln!(out, "- {note}");
    }
    if !suite.notes.is_empty() {
        out.push('\n');
    }
    if !suite.claims.is_empty() {
        out.push_str("| claim | its figures | holds here | why |\n|---|---|---|---|\n");
        for claim in &suite.claims {
            let paper = claim.paper.as_deref().unwrap_or("");
            let _ = writeln!(out, "| {} | {paper} | {} | {} |", claim.claim, claim.holds.name(), claim.why);
        }
        out.push('\n');
    }
    for table in &suite.tables {
        for measure in table.measures() {
            if drawn(suite, table, measure) && draw::chart(table, measure).is_some() {
                let file = draw::name(&suite.name, table, measure);
                let _ = writeln!(out, "![{}: {}]({plots}/{file})", table.title, name(measure));
            }
        }
    }
    out.push('\n');
    if tables == Tables::Folded {
        out.push_str("<details><summary>All figures</summary>\n\n");
    }
    suite.tables.iter().for_each(|table| out.push_str(&shown(table)));
    if tables == Tables::Folded {
        out.push_str("</details>\n\n");
    }
    out
}

/// What people call a figure.
pub(super) fn name(measure: &str) -> &str {
    match measure {
        "ML2" => "ML²",
        "dML2" => "dML²",
        "dML2 of lost" => "dML² of lost itemsets",
        "degree" => "δ",
        other => other,
    }
}

fn shown(table: &Table) -> String {
    let mut out = format!("### {}\n\n", table.title);
    let lines = table.lines();
    for measure in table.measures() {
        if lines.iter().all(|line| table.series(line, measure).is_empty()) {
            continue;
        }
        let unit = table.unit(measure);
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        let _ = writeln!(out, "| {} | {} |", head(table, measure, &unit), lines.join(" | "));
        let _ = writeln!(out, "|---|{}", "---:|".repeat(lines.len()));
        for row in &table.rows {
            let cell = |line: &&str| {
                let value = table.column(line, measure).and_then(|at| row.values[at]);
                value.map_or("–".to_owned(), number)
            };
            let _ = writeln!(
                out,
                "| {} | {} |",
                row.name,
                lines.iter().map(cell).collect::<Vec<_>>().join(" | ")
            );
        }
        out.push('\n');
    }
    for missing in &table.missing {
        let _ = writeln!(out, "- {} {}, {}: {}", table.axis.label, missing.row, missing.line, missing.why);
    }
    if !table.missing.is_empty() {
        out.push('\n');
    }
    out
}

fn head(table: &Table, measure: &str, unit: &str) -> String {
    format!("**{}**{unit} by {}", name(measure), table.axis.label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::samples::results;

    #[test]
    fn a_report_has_claims_figures_and_what_is_missing() {
        let text = report(&results(), "plots", &|_, _, measure| measure == "cpu");
        for part in [
            "| fast is faster | ten times | yes | at 3 of 3 points |",
            "| **loss** (%) by k | fast | slow |",
            "| 4 | 20.0 | – |",
            "- k 4, slow: it took too long",
            "plots/bench-paper-000-k-cpu.svg",
            "a processor (2 threads, 4.0 GB, Linux 6.1)",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(!text.contains("k-loss.svg"));
    }
}
