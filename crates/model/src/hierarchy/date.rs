//! Dates: day → month → quarter → year → decade.

use super::date_format::DateFormat;
use super::spec::{Clamp, DateLevel};
use super::tree::Hierarchy;
use super::tree_builder::{Handle, Ladder, TreeBuilder};
use super::when::{Precision, When};
use crate::calendar::Civil;
use crate::diag::Diagnostic;

/// Up to this many days all of them are leaves, so that the tree does not depend on the data.
const ALL_DAYS: i64 = 200_000;

/// Builds the hierarchy, with all levels if `levels` is empty.
///
/// Up to 200,000 days from `min` to `max` are leaves, whether they occur or not; beyond that the leaves are the
/// domain's days. A time of day hangs below its day, which then is an inner node; so does a day that the data writes in
/// a way of its own. A month or year in the domain is the node of that name or, where that level is left out, a leaf
/// below the next coarser one. With `clamp`, what is outside hangs below `<min` or `>max`. Anything else in the domain is
/// left uncovered.
pub fn date(
    min: &str,
    max: &str,
    levels: &[DateLevel],
    writing: &Writing<'_>,
    domain: &[&str],
) -> Result<Hierarchy, Vec<Diagnostic>> {
    let (min, max) = bounds(min, max)?;
    let format = writing.format.map(DateFormat::parse).transpose().map_err(|why| {
        let message = format!("format = {:?} says no day: {why}", writing.format.unwrap_or_default());
        vec![Diagnostic::error(message).help("write it like \"%Y-%m-%d\", \"%d.%m.%Y\" or \"%y%m%d\"")]
    })?;
    let read = |text: &str| match &format {
        Some(format) => format.read(text, max),
        None => When::parse(text),
    };
    let mut calendar = Calendar::new(levels);
    let all_days = max.days() - min.days() < ALL_DAYS;
    if all_days {
        let mut day = min;
        while day <= max {
            calendar.day(day);
            day = day.next();
        }
    }
    let mut values: Vec<(When, &str)> =
        domain.iter().filter_map(|&text| Some((read(text.trim())?, text))).collect();
    values.sort_by_key(|&(when, text)| (when.first, when.precision, text));
    for (when, text) in values {
        if when.last < min || when.first > max {
            let (sign, bound, clamps) = match when.last < min {
                true => ('<', min, [Clamp::Bottom, Clamp::Both]),
                false => ('>', max, [Clamp::Top, Clamp::Both]),
            };
            if clamps.contains(&writing.clamp) {
                let outside = calendar.builder.place(TreeBuilder::ROOT, &format!("{sign}{bound}"));
                calendar.builder.place(outside, text);
            }
            continue;
        }
        let spelt_plainly = format.is_none() && text.len() == text.trim().len();
        let parent = match when.precision {
            Precision::Year => calendar.above(when.first, Some(DateLevel::Year)),
            Precision::Month => calendar.above(when.first, Some(DateLevel::Month)),
            Precision::Day if spelt_plainly => calendar.above(when.first, None),
            Precision::Day | Precision::Time => calendar.day(when.first),
        };
        calendar.builder.place(parent, text);
    }
    Ok(calendar.builder.finish())
}

/// How the data writes days, and what happens to those outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Writing<'a> {
    /// As in `%y%m%d`; as `YYYY-MM-DD` if not given.
    pub format: Option<&'a str>,
    /// Which ends take days outside.
    pub clamp: Clamp,
}

fn bounds(min: &str, max: &str) -> Result<(Civil, Civil), Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut read = |name: &str, text: &str| {
        let day = Civil::parse(text);
        if day.is_none() {
            let message = format!("{name} = {text:?} is no date");
            problems.push(Diagnostic::error(message).help("write an existing day as YYYY-MM-DD"));
        }
        day
    };
    match (read("min", min), read("max", max)) {
        (Some(first), Some(last)) if first <= last => Ok((first, last)),
        (Some(_), Some(_)) => {
            let message = format!("min = {min} is after max = {max}");
            Err(vec![Diagnostic::error(message).help("swap them")])
        }
        _ => Err(problems),
    }
}

struct Calendar {
    builder: TreeBuilder,
    /// Coarsest first.
    levels: Vec<DateLevel>,
    ladder: Ladder<i64>,
}

impl Calendar {
    fn new(levels: &[DateLevel]) -> Self {
        let all = [DateLevel::Decade, DateLevel::Year, DateLevel::Quarter, DateLevel::Month];
        let levels: Vec<DateLevel> =
            all.into_iter().filter(|l| levels.is_empty() || levels.contains(l)).collect();
        let ladder = Ladder::new(levels.len());
        Calendar { builder: TreeBuilder::new(), levels, ladder }
    }

    /// The node of the day itself.
    fn day(&mut self, day: Civil) -> Handle {
        let parent = self.above(day, None);
        let label = format!("{:04}-{:02}-{:02}", day.year, day.month, day.day);
        self.builder.place(parent, &label)
    }

    /// The lowest node above the day that is coarser than `below`.
    fn above(&mut self, day: Civil, below: Option<DateLevel>) -> Handle {
        let levels = self.levels.iter().filter(|&&l| below.is_none_or(|b| l > b));
        let keys = levels.map(|&level| (key(level, day), level));
        self.ladder.descend(&mut self.builder, keys, label)
    }
}

/// Numbers the spans of one level without gaps.
fn key(level: DateLevel, day: Civil) -> i64 {
    match level {
        DateLevel::Month => day.year * 12 + day.month - 1,
        DateLevel::Quarter => day.year * 4 + (day.month - 1) / 3,
        DateLevel::Year => day.year,
        DateLevel::Decade => day.year / 10,
    }
}

fn label(key: i64, level: DateLevel) -> String {
    match level {
        DateLevel::Month => format!("{:04}-{:02}", key / 12, key % 12 + 1),
        DateLevel::Quarter => format!("{:04}-Q{}", key / 4, key % 4 + 1),
        DateLevel::Year => format!("{key:04}"),
        DateLevel::Decade => format!("{:04}s", key * 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(min: &str, max: &str, levels: &[DateLevel], domain: &[&str]) -> Hierarchy {
        date(min, max, levels, &Writing::default(), domain).unwrap_or_else(|d| panic!("{d:?}"))
    }

    fn path(h: &Hierarchy, label: &str) -> Vec<String> {
        let start = h.node(label).unwrap_or_else(|| panic!("{label} is no node"));
        std::iter::successors(Some(start), |&n| h.parent(n)).map(|n| h.label(n).to_owned()).collect()
    }

    #[test]
    fn all_levels() {
        let h = built("2012-12-30", "2013-04-17", &[], &[]);
        assert_eq!(path(&h, "2013-04-17"), ["2013-04-17", "2013-04", "2013-Q2", "2013", "2010s", "*"]);
        assert_eq!(path(&h, "2012-12-31"), ["2012-12-31", "2012-12", "2012-Q4", "2012", "2010s", "*"]);
        assert_eq!(h.leaf_count(), 2 + 31 + 28 + 31 + 17);
        assert_eq!(h.leaf("2013-04-18"), None);
    }

    #[test]
    fn chosen_levels() {
        let h = built("2000-01-01", "2001-12-31", &[DateLevel::Year, DateLevel::Month], &["2000-02", "2001"]);
        assert_eq!(path(&h, "2000-02-29"), ["2000-02-29", "2000-02", "2000", "*"]);
        let years = built("2000-01-01", "2001-12-31", &[DateLevel::Year], &["2000-02", "2001"]);
        assert_eq!(path(&years, "2000-02"), ["2000-02", "2000", "*"]);
        assert!(years.leaf("2000-02").is_some() && years.leaf("2001").is_none());
    }

    #[test]
    fn times_hang_below_their_day() {
        let domain =
            ["2013-04-17T10:00:00Z", "2013-04-17", "2013-04-17 10:00", "2013-05-01T00:00", " 2013-04-16"];
        let h = built("2013-04-01", "2013-04-30", &[DateLevel::Month], &domain[..]);
        assert_eq!(path(&h, domain[0]), [domain[0], "2013-04-17", "2013-04", "*"]);
        assert_eq!(path(&h, domain[4]), [domain[4], "2013-04-16", "2013-04", "*"]);
        assert_eq!(h.bind(domain).expect_err("May is outside"), [3]);
        let (bound, leaves) = h.bind(["2013-04-17", "2013-04"]).expect("inner nodes that occur");
        assert_eq!(bound.label(leaves[0]), "2013-04-17 (unspecified)");
        assert_eq!(bound.label(leaves[1]), "2013-04 (unspecified)");
    }

    #[test]
    fn long_spans_have_the_leaves_of_the_domain() {
        let h = built("0001-01-01", "9999-12-31", &[], &["0476-09-04", "1969-07", "1984", "no date"]);
        assert_eq!(path(&h, "0476-09-04"), ["0476-09-04", "0476-09", "0476-Q3", "0476", "0470s", "*"]);
        assert_eq!(path(&h, "1969-07"), ["1969-07", "1969-Q3", "1969", "1960s", "*"]);
        assert_eq!(h.leaf_count(), 3);
    }

    #[test]
    fn days_written_otherwise_hang_below_their_day() {
        let writing = Writing { format: Some("%y%m%d"), clamp: Clamp::None };
        let domain = ["930105", "930131", "1993-01-05", "940101"];
        let h = date("1990-01-01", "1993-12-31", &[DateLevel::Month], &writing, &domain).expect("good");
        assert_eq!(path(&h, "930105"), ["930105", "1993-01-05", "1993-01", "*"]);
        assert_eq!(h.bind(["930131", "940101"]).expect_err("1894 is outside"), [1]);
        let wrong = Writing { format: Some("%y"), clamp: Clamp::None };
        assert!(date("1990-01-01", "1993-12-31", &[], &wrong, &[]).is_err());
    }

    #[test]
    fn days_outside_are_coded_when_declared() {
        let clamped = |clamp| {
            let writing = Writing { format: None, clamp };
            let domain = ["1899-01-01", "1899", "1950-02-01", "2031-01-01T10:00", "0000-00-00"];
            date("1900-01-01", "2000-12-31", &[], &writing, &domain).expect("good")
        };
        let h = clamped(Clamp::Both);
        assert_eq!(path(&h, "1899-01-01"), ["1899-01-01", "<1900-01-01", "*"]);
        assert_eq!(path(&h, "1899"), ["1899", "<1900-01-01", "*"]);
        assert_eq!(path(&h, "2031-01-01T10:00"), ["2031-01-01T10:00", ">2000-12-31", "*"]);
        assert_eq!(h.node("0000-00-00"), None);
        assert_eq!(clamped(Clamp::Top).node("1899-01-01"), None);
        assert_eq!(clamped(Clamp::Bottom).node("2031-01-01T10:00"), None);
    }

    #[test]
    fn partial_dates_count_when_they_touch_the_bounds() {
        let h = built("2013-04-15", "2013-04-20", &[], &["2013-04", "2013-05", "2012"]);
        assert_eq!(h.bind(["2013-04", "2013-05", "2012"]).expect_err("outside"), [1, 2]);
    }

    #[test]
    fn wrong_bounds() {
        let messages = |min, max| -> Vec<String> {
            date(min, max, &[], &Writing::default(), &[])
                .expect_err("wrong")
                .into_iter()
                .map(|d| d.message)
                .collect()
        };
        assert_eq!(
            messages("2013-02-29", "soon"),
            ["min = \"2013-02-29\" is no date", "max = \"soon\" is no date"]
        );
        assert_eq!(messages("2014-01-01", "2013-01-01"), ["min = 2014-01-01 is after max = 2013-01-01"]);
    }
}
