//! Ways to write days that are not the usual one, told by the values.

use std::sync::LazyLock;

use bosket_model::calendar::Civil;
use bosket_model::hierarchy::DateFormat;

/// Those that are looked for. Of two that fit as many values the first counts.
const FORMATS: [&str; 8] =
    ["%Y%m%d", "%y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y"];
/// Those of digits only, which numbers resemble.
const DIGITS: usize = 2;
/// So many numbers are not all days by chance.
const ENOUGH: usize = 10;
/// From this share of values on, the others are mistakes.
const MOSTLY: f64 = 0.9;
/// Years that days of data have.
const YEARS: std::ops::RangeInclusive<i64> = 1800..=2100;

static PARSED: LazyLock<Vec<DateFormat>> =
    LazyLock::new(|| FORMATS.iter().filter_map(|f| DateFormat::parse(f).ok()).collect());

/// How many distinct values each way fits.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    fits: [usize; FORMATS.len()],
    /// Those that also say a time.
    times: [usize; FORMATS.len()],
}

/// A way to write days, as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// As policies write it.
    pub(super) format: &'static str,
    /// Some values say a time, too.
    pub(super) timed: bool,
    /// Day and month could be the other way round.
    pub(super) ambiguous: bool,
}

impl Written {
    pub(super) fn add(&mut self, text: &str) {
        if !text.starts_with(|c: char| c.is_ascii_digit()) || !(6..=32).contains(&text.len()) {
            return;
        }
        let latest = Civil { year: 2099, month: 12, day: 31 };
        for (i, format) in PARSED.iter().enumerate() {
            if format.day(text, latest).is_some_and(|day| YEARS.contains(&day.year)) {
                self.fits[i] += 1;
                self.times[i] += usize::from(text.len() > if i == 1 { 6 } else { FORMATS[i].len() + 2 });
            }
        }
    }

    /// The way in which nearly all of so many values are written; `named` if the attribute's name speaks of a time.
    pub(super) fn found(&self, values: usize, named: bool) -> Option<Found> {
        let best = (0..FORMATS.len()).rev().max_by_key(|&i| self.fits[i])?;
        let enough = named || best >= DIGITS || values >= ENOUGH;
        let fits = self.fits[best];
        if fits == 0 || !enough || (fits as f64) < MOSTLY * values as f64 {
            return None;
        }
        let ambiguous = self.fits.iter().filter(|f| **f == fits).count() > 1;
        Some(Found { format: FORMATS[best], timed: self.times[best] > 0, ambiguous })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[&str], named: bool) -> Option<&'static str> {
        let mut written = Written::default();
        values.iter().for_each(|v| written.add(v));
        written.found(values.len(), named).map(|f| f.format)
    }

    #[test]
    fn days_in_the_ways_of_the_data() {
        for (values, named, expected) in [
            (&["930105", "930231", "940630"][..], true, None),
            (&["930105", "930228", "940630"], true, Some("%y%m%d")),
            (&["930105", "930228", "940630"], false, None),
            (&["930105 00:00:00", "930228 00:00:00"], true, Some("%y%m%d")),
            (&["19930105", "19930228"], true, Some("%Y%m%d")),
            (&["19911007195224", "19911008"], true, Some("%Y%m%d")),
            (&["31.12.1993", "01.02.1993"], false, Some("%d.%m.%Y")),
            (&["12/31/1993", "01/02/1993"], false, Some("%m/%d/%Y")),
            (&["12/11/1993", "01/02/1993"], false, Some("%d/%m/%Y")),
            (&["1993-01-05"], true, None),
            (&["123456", "99", "4711"], true, None),
        ] {
            assert_eq!(found(values, named), expected, "{values:?}");
        }
        let mut either = Written::default();
        either.add("12/11/1993");
        assert!(either.found(1, false).is_some_and(|f| f.ambiguous && !f.timed));
    }
}
