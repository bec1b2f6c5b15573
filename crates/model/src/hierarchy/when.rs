//! The ways data says when, more or less exactly.

use crate::calendar::{Civil, number};

/// How exactly a text says when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precision {
    Year,
    Month,
    Day,
    Time,
}

/// A text that says when: its first and last day, and how exact it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct When {
    pub(super) first: Civil,
    pub(super) last: Civil,
    pub(super) precision: Precision,
}

impl When {
    /// Reads `2013`, `2013-04`, `2013-04-17` and `2013-04-17T10:00:00.5+02:00`, the latter also with a blank for the
    /// `T` and parts left out from the right.
    pub(super) fn parse(text: &str) -> Option<When> {
        let (year, rest) = number(text, 4)?;
        if rest.is_empty() {
            let (first, last) = (Civil::new(year, 1, 1)?, Civil::new(year, 12, 31)?);
            return Some(When { first, last, precision: Precision::Year });
        }
        let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
        if rest.is_empty() {
            let first = Civil::new(year, month, 1)?;
            let last = first.end_of_month();
            return Some(When { first, last, precision: Precision::Month });
        }
        let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
        let day = Civil::new(year, month, day)?;
        let precision = match rest.strip_prefix(['T', 't', ' ']) {
            Some(time) => time_of_day(time).map(|()| Precision::Time)?,
            None if rest.is_empty() => Precision::Day,
            None => return None,
        };
        Some(When { first: day, last: day, precision })
    }
}

/// Accepts `hh[:mm[:ss[.f…]]]` with an optional zone: `Z`, `±hh`, `±hhmm` or `±hh:mm`.
pub(super) fn time_of_day(text: &str) -> Option<()> {
    let (hour, mut rest) = number(text, 2)?;
    let mut limits = vec![(hour, 24)];
    for limit in [59, 60] {
        if let Some(part) = rest.strip_prefix(':') {
            let (value, after) = number(part, 2)?;
            limits.push((value, limit));
            rest = after;
        }
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let after = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        if after.len() == fraction.len() {
            return None;
        }
        rest = after;
    }
    let zone = rest.strip_prefix(' ').filter(|z| !z.is_empty()).unwrap_or(rest);
    if let Some(offset) = zone.strip_prefix(['+', '-']) {
        let (hours, after) = number(offset, 2)?;
        limits.push((hours, 23));
        if !after.is_empty() {
            let (minutes, end) = number(after.strip_prefix(':').unwrap_or(after), 2)?;
            limits.push((minutes, 59));
            if !end.is_empty() {
                return None;
            }
        }
    } else if !matches!(zone, "" | "Z" | "z") {
        return None;
    }
    limits.iter().all(|(value, limit)| value <= limit).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_say_when() {
        let precision = |text| When::parse(text).map(|w| w.precision);
        assert_eq!(precision("2013"), Some(Precision::Year));
        assert_eq!(precision("2013-04"), Some(Precision::Month));
        assert_eq!(precision("2013-04-17"), Some(Precision::Day));
        for text in [
            "2013-04-17T10:00:00Z",
            "2013-04-17 10:00",
            "2013-04-17T10",
            "2013-04-17t10:00:00.123456+02:00",
            "2013-04-17 10:00:00+02",
            "2013-04-17 10:00:00 -0530",
        ] {
            assert_eq!(precision(text), Some(Precision::Time), "{text}");
        }
        for text in [
            "",
            "13",
            "20130417",
            "2013-04-17X10:00",
            "2013-04-17T25:00",
            "2013-04-17T10:61",
            "2013-04-17T10:00:00.",
            "2013-04-17T10:00:00+2",
            "2013-04-17T",
            "2013-04-17T10:00 ",
            "2013-4",
            "２０１３",
        ] {
            assert_eq!(precision(text), None, "{text}");
        }
        let april = When::parse("2013-04").expect("a month");
        assert_eq!((april.first.day, april.last.day), (1, 30));
    }
}
