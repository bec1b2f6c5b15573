//! Numbers in nested intervals, aligned at the lower bound.

use super::number::{Decimal, show};
use super::spec::Clamp;
use super::tree::Hierarchy;
use super::tree_builder::{Ladder, TreeBuilder};
use crate::diag::Diagnostic;

/// Up to this range every integer is a leaf, so that the tree does not depend on the data.
const ALL_INTEGERS: i128 = 100_000;
/// Bounds and widths have at most this many digits before the point, and as many after it.
const DIGITS: u32 = 18;

/// Builds the hierarchy.
///
/// With integer parameters and a range of at most 100,000 the leaves are all integers from `min` to `max`, and those
/// values of the domain that are spelt otherwise (`5.0`, `3.25`); else the leaves are the domain's numbers. Labels are
/// `1900-1904` for integers from 0, `[a,b)` for others; the last interval is not cut off at `max`. With `clamp`, what
/// is outside hangs below `<min` or `>max`. Anything else in the domain is left uncovered.
pub fn interval(
    min: f64,
    max: f64,
    widths: &[f64],
    clamp: Clamp,
    domain: &[&str],
) -> Result<Hierarchy, Vec<Diagnostic>> {
    let grid = Grid::new(min, max, widths)?;
    let mut builder = TreeBuilder::new();
    let (below, inside, above) = grid.sort(domain);
    let below_label = format!("<{}", show(grid.min, grid.scale));
    let above_label = format!(">{}", show(grid.max, grid.scale));
    if matches!(clamp, Clamp::Bottom | Clamp::Both) {
        plant_outside(&mut builder, &below_label, &below);
    }
    let mut ladder = Ladder::new(grid.widths.len());
    for value in &inside {
        let rungs = grid.widths.iter().rev().map(|w| ((value.floor - grid.min).div_euclid(*w), *w));
        let parent = ladder.descend(&mut builder, rungs, |index, width| grid.label(index, width));
        builder.place(parent, &value.text);
    }
    if matches!(clamp, Clamp::Top | Clamp::Both) {
        plant_outside(&mut builder, &above_label, &above);
    }
    Ok(builder.finish())
}

fn plant_outside(builder: &mut TreeBuilder, label: &str, values: &[Value]) {
    if !values.is_empty() {
        let node = builder.place(TreeBuilder::ROOT, label);
        for value in values {
            builder.place(node, &value.text);
        }
    }
}

/// A leaf: its number in the grid's units, rounded down, and its text.
struct Value {
    floor: i128,
    number: f64,
    text: String,
}

/// The parameters as whole numbers of the finest decimal place they use.
struct Grid {
    scale: u32,
    min: i128,
    max: i128,
    /// Finest first.
    widths: Vec<i128>,
}

impl Grid {
    fn new(min: f64, max: f64, widths: &[f64]) -> Result<Grid, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let numbers: Vec<Option<Decimal>> =
            [min, max].iter().chain(widths).map(|&n| Decimal::from_f64(n)).collect();
        let Some(numbers) = numbers.into_iter().collect::<Option<Vec<Decimal>>>() else {
            return Err(vec![problem(
                "the bounds and widths must be finite numbers",
                "leave out inf and nan",
            )]);
        };
        let scale = numbers.iter().map(Decimal::places).max().unwrap_or(0);
        let scale = u32::try_from(scale).unwrap_or(u32::MAX);
        let limit = 10i128.pow(DIGITS);
        if scale > DIGITS || numbers.iter().any(|n| !(-limit..=limit).contains(&n.floor(0).0)) {
            let message =
                format!("the bounds and widths have more than {DIGITS} digits on one side of the point");
            return Err(vec![problem(message, "use rounder numbers")]);
        }
        let mut units = numbers.iter().map(|n| n.floor(scale).0);
        let (low, high) = (units.next().unwrap_or(0), units.next().unwrap_or(0));
        let units: Vec<i128> = units.collect();
        if low > high {
            let message = format!("min = {min} is above max = {max}");
            problems.push(problem(message, "swap them"));
        }
        for (at, &width) in units.iter().enumerate() {
            let shown = widths[at];
            if width <= 0 {
                let message = format!("the width {shown} is not positive");
                problems.push(problem(message, "give widths above 0, finest first"));
            } else if at > 0 && units[at - 1] > 0 && (width % units[at - 1] != 0 || width == units[at - 1]) {
                let message =
                    format!("the width {shown} is no multiple of the one before, {}", widths[at - 1]);
                problems.push(problem(message, "intervals nest: each width is 2, 3, … times the one before"));
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        // An integer is its own interval of width 1.
        let widths = units.into_iter().filter(|&w| scale > 0 || w > 1).collect();
        Ok(Grid { scale, min: low, max: high, widths })
    }

    /// The leaves below, within and above the bounds, each sorted by number and spelling.
    fn sort(&self, domain: &[&str]) -> (Vec<Value>, Vec<Value>, Vec<Value>) {
        let (mut below, mut inside, mut above) = (Vec::new(), Vec::new(), Vec::new());
        if self.scale == 0 && self.max - self.min <= ALL_INTEGERS {
            inside.extend((self.min..=self.max).map(|n| Value {
                floor: n,
                number: n as f64,
                text: n.to_string(),
            }));
        }
        for &text in domain {
            let Some(decimal) = Decimal::parse(text) else { continue };
            let (floor, cut) = decimal.floor(self.scale);
            let number = text.trim().parse().unwrap_or(f64::NAN);
            let value = Value { floor, number, text: text.to_owned() };
            if floor < self.min {
                below.push(value);
            } else if floor > self.max || (floor == self.max && cut) {
                above.push(value);
            } else {
                inside.push(value);
            }
        }
        for values in [&mut below, &mut inside, &mut above] {
            values.sort_by(|a, b| {
                let by_number = a.floor.cmp(&b.floor).then(a.number.total_cmp(&b.number));
                by_number.then_with(|| a.text.cmp(&b.text))
            });
        }
        (below, inside, above)
    }

    fn label(&self, index: i128, width: i128) -> String {
        let from = self.min + index * width;
        let to = from + width;
        if self.scale == 0 && self.min >= 0 {
            format!("{from}-{}", to - 1)
        } else {
            format!("[{},{})", show(from, self.scale), show(to, self.scale))
        }
    }
}

fn problem(message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::error(message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::NodeId;

    fn path(h: &Hierarchy, value: &str) -> Vec<String> {
        let start = h.leaf(value).unwrap_or_else(|| panic!("{value} is not covered"));
        std::iter::successors(Some(start), |&n| h.parent(n)).map(|n| h.label(n).to_owned()).collect()
    }

    fn built(min: f64, max: f64, widths: &[f64], clamp: Clamp, domain: &[&str]) -> Hierarchy {
        interval(min, max, widths, clamp, domain).unwrap_or_else(|d| panic!("{d:?}"))
    }

    #[test]
    fn integers() {
        let h = built(1900.0, 2030.0, &[5.0, 10.0, 50.0], Clamp::None, &[]);
        assert_eq!(path(&h, "1903"), ["1903", "1900-1904", "1900-1909", "1900-1949", "*"]);
        assert_eq!(path(&h, "2030"), ["2030", "2030-2034", "2030-2039", "2000-2049", "*"]);
        assert_eq!(h.leaf_count(), 131);
        assert_eq!(h.label(h.leaf_node(7)), "1907");
        assert_eq!(h.leaf("2031"), None);
    }

    #[test]
    fn the_tree_of_integers_does_not_depend_on_the_data() {
        let empty = built(0.0, 99.0, &[10.0], Clamp::Both, &[]);
        assert_eq!(built(0.0, 99.0, &[10.0], Clamp::Both, &["7", "3", "99"]), empty);
    }

    #[test]
    fn spellings_are_leaves_of_one_interval() {
        let h = built(0.0, 20.0, &[1.0, 5.0], Clamp::None, &["05", "5.0", "3.50", "20.5", "x", ""]);
        for text in ["5", "05", "5.0"] {
            assert_eq!(path(&h, text)[1..], ["5-9", "*"]);
        }
        assert_eq!(path(&h, "3.50")[1..], ["0-4", "*"]);
        assert_eq!(h.bind(["20.5", "x", ""]).expect_err("outside, or no numbers"), [0, 1, 2]);
    }

    #[test]
    fn decimals_are_printed_without_noise() {
        let h = built(0.0, 1.0, &[0.1, 0.3], Clamp::None, &["0.3", "0.29999", "1"]);
        assert_eq!(path(&h, "0.3"), ["0.3", "[0.3,0.4)", "[0.3,0.6)", "*"]);
        assert_eq!(path(&h, "0.29999"), ["0.29999", "[0.2,0.3)", "[0,0.3)", "*"]);
        assert_eq!(path(&h, "1"), ["1", "[1,1.1)", "[0.9,1.2)", "*"]);
        assert_eq!(h.leaf_count(), 3);
    }

    #[test]
    fn negative_bounds() {
        let h = built(-10.0, 10.0, &[5.0], Clamp::None, &["-0.5"]);
        assert_eq!(path(&h, "-7"), ["-7", "[-10,-5)", "*"]);
        assert_eq!(path(&h, "-0.5"), ["-0.5", "[-5,0)", "*"]);
    }

    #[test]
    fn wide_ranges_have_the_leaves_of_the_domain() {
        let h = built(0.0, 1e9, &[1e3, 1e6], Clamp::None, &["1234567", "5"]);
        assert_eq!(h.leaf_count(), 2);
        assert_eq!(path(&h, "1234567"), ["1234567", "1234000-1234999", "1000000-1999999", "*"]);
    }

    #[test]
    fn values_outside_are_coded_when_declared() {
        let domain = ["-3", "100", "1e30", "50", "1e99"];
        let h = built(0.0, 99.0, &[50.0], Clamp::Both, &domain);
        assert_eq!(path(&h, "-3"), ["-3", "<0", "*"]);
        assert_eq!(path(&h, "1e99"), ["1e99", ">99", "*"]);
        assert_eq!(
            h.children(NodeId::ROOT).map(|n| h.label(n)).collect::<Vec<_>>(),
            ["<0", "0-49", "50-99", ">99"]
        );
        let top = built(0.0, 99.0, &[50.0], Clamp::Top, &domain);
        assert_eq!(top.bind(domain).expect_err("below is an error"), [0]);
    }

    #[test]
    fn wrong_parameters_are_all_told() {
        let messages = |min, max, widths: &[f64]| -> Vec<String> {
            let found = interval(min, max, widths, Clamp::None, &[]).expect_err("wrong");
            found.into_iter().map(|d| d.message).collect()
        };
        assert_eq!(
            messages(10.0, 5.0, &[5.0, 12.0, -1.0]),
            [
                "min = 10 is above max = 5",
                "the width 12 is no multiple of the one before, 5",
                "the width -1 is not positive"
            ]
        );
        assert_eq!(messages(0.0, 5.0, &[2.0, 2.0]).len(), 1);
        assert_eq!(messages(0.0, f64::INFINITY, &[2.0]).len(), 1);
        assert_eq!(messages(0.0, 1e300, &[2.0]).len(), 1);
        assert_eq!(messages(0.0, 1.0, &[1e-30]).len(), 1);
    }
}
