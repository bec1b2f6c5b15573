//! Rules that decide from a table whether a claim holds.

use super::fit::exponent;
use super::result::{Claim, Holds, Table};

/// What a rule found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) holds: Holds,
    pub(super) why: String,
}

impl Verdict {
    /// A claim with this verdict.
    pub(super) fn on(self, claim: &str, paper: Option<&str>) -> Claim {
        Claim { claim: claim.to_owned(), paper: paper.map(str::to_owned), holds: self.holds, why: self.why }
    }

    /// Nothing that would tell was measured.
    pub(super) fn unmeasured(why: &str) -> Self {
        Verdict { holds: Holds::Unmeasured, why: why.to_owned() }
    }

    /// Several verdicts together: yes if all say so, no if all do.
    pub(super) fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let verdicts: Vec<Verdict> = verdicts.into_iter().collect();
        let told: Vec<&Verdict> = verdicts.iter().filter(|v| v.holds != Holds::Unmeasured).collect();
        let holds = match told.first() {
            None => Holds::Unmeasured,
            Some(first) if told.iter().all(|v| v.holds == first.holds) => first.holds,
            Some(_) => Holds::Partly,
        };
        Verdict { holds, why: verdicts.iter().map(|v| v.why.as_str()).collect::<Vec<_>>().join("; ") }
    }
}

/// A factor for `below` where a claim says less, not at most: what is equal does not bear it out.
pub(super) const LESS: f64 = 0.999;

/// From one end to the other a figure has to change by this share; less is noise.
const MATERIAL: f64 = 0.03;

/// Counts decide: all, some or none.
fn counted(good: usize, total: usize) -> Holds {
    match (good, total) {
        (_, 0) => Holds::Unmeasured,
        (good, total) if good == total => Holds::Yes,
        (0, _) => Holds::No,
        _ => Holds::Partly,
    }
}

/// The values of two methods at the rows where both were measured, with the rows' names.
pub(super) fn pairs<'t>(table: &'t Table, measure: &str, a: &str, b: &str) -> Vec<(&'t str, f64, f64)> {
    let (Some(a), Some(b)) = (table.column(a, measure), table.column(b, measure)) else { return Vec::new() };
    let both = |row: &'t super::result::Row| Some((row.name.as_str(), row.values[a]?, row.values[b]?));
    table.rows.iter().filter_map(both).collect()
}

/// A number as people write it.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        0.0 => "0".to_owned(),
        _ if !value.is_finite() => "–".to_owned(),
        _ if size >= 1e6 => format!("{value:.3e}"),
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ if size >= 0.1 => format!("{value:.2}"),
        _ if size >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

/// The least and the most of some ratios.
fn range(ratios: &[f64]) -> String {
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if ratios.len() == 1 { number(least) } else { format!("{} to {}", number(least), number(most)) }
}

/// `a` has at most `factor` times what `b` has, wherever both were measured.
pub(super) fn below(table: &Table, measure: &str, a: &str, b: &str, factor: f64) -> Verdict {
    within(table, measure, a, b, 0.0, factor)
}

/// `a` has between `least` and `most` times what `b` has.
pub(super) fn within(table: &Table, measure: &str, a: &str, b: &str, least: f64, most: f64) -> Verdict {
    let pairs = pairs(table, measure, a, b);
    // What is equal and 0 is equal.
    let ratios: Vec<f64> =
        pairs.iter().map(|(_, a, b)| if a == b { 1.0 } else { a / b }).filter(|r| !r.is_nan()).collect();
    // The last bits of a figure decide nothing.
    let good = ratios.iter().filter(|r| **r >= least * (1.0 - 1e-9) && **r <= most * (1.0 + 1e-9)).count();
    let why = match ratios.len() {
        0 => format!("{} of {a} and {b} was not measured together", shown(measure)),
        n => format!(
            "{} of {a} is {} times that of {b} over {}; so at {good} of {n} points",
            shown(measure),
            range(&ratios),
            table.axis.label
        ),
    };
    Verdict { holds: counted(good, ratios.len()), why }
}

/// What a measure is called in sentences.
fn shown(measure: &str) -> &str {
    match measure {
        "cpu" => "computing time",
        "wall" => "time",
        "peak" => "memory",
        "degree" => "δ",
        "dML2 of lost" => "dML² of lost itemsets",
        "ML2" => "ML²",
        "dML2" => "dML²",
        other => other,
    }
}

/// A method's values along the rows, from what to what.
fn told(table: &Table, line: &str, measure: &str, series: &[(f64, f64)]) -> String {
    match (series.first(), series.last()) {
        (Some(first), Some(last)) if series.len() > 1 => {
            let unit = table.unit(measure);
            let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
            format!(
                "{} of {line} goes from {}{unit} at {} {} to {}{unit} at {}",
                shown(measure),
                number(first.1),
                table.axis.label,
                row_name(table, first.0),
                number(last.1),
                row_name(table, last.0)
            )
        }
        _ => format!("{} of {line} was not measured over {}", shown(measure), table.axis.label),
    }
}

fn row_name(table: &Table, x: f64) -> String {
    table.rows.iter().find(|row| row.x == x).map_or_else(|| number(x), |row| row.name.clone())
}

/// A method's values rise from row to row, `slack` being what counts as equal (0.1 is a tenth).
pub(super) fn rises(table: &Table, line: &str, measure: &str, slack: f64) -> Verdict {
    let series = table.series(line, measure);
    let steps: Vec<bool> = series.windows(2).map(|w| w[1].1 >= w[0].1 * (1.0 - slack)).collect();
    let ends =
        series.first().zip(series.last()).is_some_and(|(first, last)| last.1 > first.1 * (1.0 + MATERIAL));
    monotone(&steps, ends, told(table, line, measure, &series))
}

/// The same downwards.
pub(super) fn falls(table: &Table, line: &str, measure: &str, slack: f64) -> Verdict {
    let series = table.series(line, measure);
    let steps: Vec<bool> = series.windows(2).map(|w| w[1].1 <= w[0].1 * (1.0 + slack)).collect();
    let ends =
        series.first().zip(series.last()).is_some_and(|(first, last)| last.1 < first.1 * (1.0 - MATERIAL));
    monotone(&steps, ends, told(table, line, measure, &series))
}

fn monotone(steps: &[bool], ends: bool, why: String) -> Verdict {
    let holds = match (steps.is_empty(), ends, steps.iter().all(|s| *s)) {
        (true, ..) => Holds::Unmeasured,
        (_, true, true) => Holds::Yes,
        (_, true, false) => Holds::Partly,
        _ => Holds::No,
    };
    Verdict { holds, why }
}

/// A method's values stay within a factor of each other.
pub(super) fn steady(table: &Table, line: &str, measure: &str, factor: f64) -> Verdict {
    let series = table.series(line, measure);
    let least = series.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let most = series.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    let ratio = if least == most { 1.0 } else { most / least };
    let why = format!(
        "{} of {line} is {} over {}: the most is {} times the least",
        shown(measure),
        range(&series.iter().map(|p| p.1).collect::<Vec<_>>()),
        table.axis.label,
        number(ratio)
    );
    match series.len() {
        0 | 1 => Verdict::unmeasured(&told(table, line, measure, &series)),
        _ => Verdict { holds: if ratio <= factor { Holds::Yes } else { Holds::No }, why },
    }
}

/// A method's values grow with an exponent of at most so much.
pub(super) fn grows(table: &Table, line: &str, measure: &str, most: f64) -> Verdict {
    match exponent(&table.series(line, measure)) {
        None => Verdict::unmeasured(&format!("{} of {line} was not measured at two sizes", shown(measure))),
        Some(found) => Verdict {
            holds: if found <= most { Holds::Yes } else { Holds::No },
            why: format!(
                "{} of {line} grows with exponent {found:.2} in {}",
                shown(measure),
                table.axis.label
            ),
        },
    }
}

/// A method's values never exceed something.
pub(super) fn at_most(table: &Table, line: &str, measure: &str, most: f64) -> Verdict {
    let series = table.series(line, measure);
    let values: Vec<f64> = series.iter().map(|p| p.1).collect();
    let good = values.iter().filter(|v| **v <= most).count();
    if values.is_empty() {
        return Verdict::unmeasured(&format!("{} of {line} was not measured", shown(measure)));
    }
    let unit = table.unit(measure);
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let why = format!("{} of {line} is {}{unit} over {}", shown(measure), range(&values), table.axis.label);
    Verdict { holds: counted(good, values.len()), why }
}

/// The difference between two methods, in per cent of the second, grows from row to row.
pub(super) fn gap_grows(table: &Table, measure: &str, a: &str, b: &str) -> Verdict {
    let gaps: Vec<(&str, f64)> =
        pairs(table, measure, a, b).into_iter().map(|(row, a, b)| (row, 100.0 * (a / b - 1.0))).collect();
    let (Some(first), Some(last)) = (gaps.first(), gaps.last()) else {
        return Verdict::unmeasured(&format!("{} of {a} and {b} was not measured together", shown(measure)));
    };
    let steps: Vec<bool> = gaps.windows(2).map(|w| w[1].1 >= w[0].1).collect();
    let why = format!(
        "{a} has {:+.1} % against {b} at {} {} and {:+.1} % at {}",
        first.1, table.axis.label, first.0, last.1, last.0
    );
    monotone(&steps, last.1 > first.1, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::samples::table;

    #[test]
    fn below_counts_the_points_that_both_have() {
        let table = table();
        let all = below(&table, "cpu", "fast", "slow", 1.0);
        assert_eq!(all.holds, Holds::Yes);
        assert!(all.why.contains("at 3 of 3 points"), "{}", all.why);
        assert_eq!(below(&table, "cpu", "fast", "slow", 0.25).holds, Holds::Partly);
        assert_eq!(below(&table, "cpu", "slow", "fast", 1.0).holds, Holds::No);
        assert!(below(&table, "loss", "fast", "slow", 1.0).why.contains("at 2 of 2 points"));
        assert_eq!(below(&table, "cpu", "fast", "neither", 1.0).holds, Holds::Unmeasured);
    }

    #[test]
    fn within_wants_both_bounds() {
        let table = table();
        assert_eq!(within(&table, "loss", "slow", "fast", 1.9, 2.1).holds, Holds::Yes);
        assert_eq!(within(&table, "cpu", "slow", "fast", 3.0, 5.0).holds, Holds::Partly);
    }

    #[test]
    fn rising_and_falling_look_at_every_step() {
        let mut table = table();
        assert_eq!(rises(&table, "fast", "cpu", 0.0).holds, Holds::Yes);
        assert_eq!(falls(&table, "fast", "cpu", 0.0).holds, Holds::No);
        table.rows[1].values[0] = Some(0.1);
        assert_eq!(rises(&table, "fast", "cpu", 0.0).holds, Holds::Partly);
        assert_eq!(rises(&table, "neither", "cpu", 0.0).holds, Holds::Unmeasured);
    }

    #[test]
    fn slack_forgives_small_steps_back() {
        let mut table = table();
        table.rows[1].values[0] = Some(0.48);
        assert_eq!(rises(&table, "fast", "cpu", 0.1).holds, Holds::Yes);
        assert_eq!(rises(&table, "fast", "cpu", 0.0).holds, Holds::Partly);
    }

    #[test]
    fn what_changes_by_a_hundredth_neither_rises_nor_falls() {
        let mut table = table();
        for (row, value) in table.rows.iter_mut().zip([1.0, 0.995, 0.99]) {
            row.values[0] = Some(value);
        }
        assert_eq!(falls(&table, "fast", "cpu", 0.0).holds, Holds::No);
        assert_eq!(rises(&table, "fast", "cpu", 0.1).holds, Holds::No);
    }

    #[test]
    fn what_is_equal_is_not_less() {
        let mut table = table();
        for row in &mut table.rows {
            row.values[1] = row.values[0];
        }
        assert_eq!(below(&table, "cpu", "fast", "slow", 1.0).holds, Holds::Yes);
        assert_eq!(below(&table, "cpu", "fast", "slow", LESS).holds, Holds::No);
    }

    #[test]
    fn steadiness_is_a_factor() {
        let table = table();
        assert_eq!(steady(&table, "fast", "cpu", 4.0).holds, Holds::Yes);
        assert_eq!(steady(&table, "fast", "cpu", 3.9).holds, Holds::No);
    }

    #[test]
    fn growth_is_an_exponent() {
        let table = table();
        assert_eq!(grows(&table, "fast", "cpu", 1.0 + 1e-9).holds, Holds::Yes);
        let slow = grows(&table, "slow", "cpu", 1.5);
        assert_eq!(slow.holds, Holds::No);
        assert!(slow.why.contains("2.00"), "{}", slow.why);
    }

    #[test]
    fn bounds_are_counted() {
        let table = table();
        assert_eq!(at_most(&table, "fast", "loss", 20.0).holds, Holds::Yes);
        assert_eq!(at_most(&table, "fast", "loss", 10.0).holds, Holds::Partly);
        assert_eq!(at_most(&table, "fast", "loss", 1.0).holds, Holds::No);
    }

    #[test]
    fn a_gap_is_told_in_per_cent() {
        let verdict = gap_grows(&table(), "cpu", "slow", "fast");
        assert_eq!(verdict.holds, Holds::Yes);
        assert!(verdict.why.contains("+100.0 %") && verdict.why.contains("+700.0 %"), "{}", verdict.why);
    }

    #[test]
    fn several_verdicts_agree_or_hold_partly() {
        let verdict = |holds| Verdict { holds, why: "x".to_owned() };
        let all = |list: &[Holds]| Verdict::all(list.iter().map(|h| verdict(*h))).holds;
        assert_eq!(all(&[Holds::Yes, Holds::Yes]), Holds::Yes);
        assert_eq!(all(&[Holds::No, Holds::No]), Holds::No);
        assert_eq!(all(&[Holds::Yes, Holds::No]), Holds::Partly);
        assert_eq!(all(&[Holds::Yes, Holds::Unmeasured]), Holds::Yes);
        assert_eq!(all(&[]), Holds::Unmeasured);
    }

    #[test]
    fn numbers_are_short() {
        for (value, told) in [
            (0.0, "0"),
            (0.00012, "1.20e-4"),
            (0.0123, "0.0123"),
            (2.347, "2.35"),
            (12.34, "12.3"),
            (1234.5, "1234"),
            (2.5e7, "2.500e7"),
        ] {
            assert_eq!(number(value), told);
        }
    }
}
