//! Days of the proleptic Gregorian calendar, years 1 to 9999, and the ways data writes them.

/// A calendar day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
}

impl Civil {
    pub(super) fn new(year: i64, month: i64, day: i64) -> Option<Civil> {
        let valid = (1..=9999).contains(&year) && (1..=12).contains(&month) && day >= 1;
        (valid && day <= month_length(year, month)).then_some(Civil { year, month, day })
    }

    /// Reads `YYYY-MM-DD`, nothing else.
    pub(super) fn parse(text: &str) -> Option<Civil> {
        let (year, rest) = number(text, 4)?;
        let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
        let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
        Civil::new(year, month, day).filter(|_| rest.is_empty())
    }

    /// Days since 0000-03-01: counting from March puts the leap day at the end of the year.
    pub(super) fn number(self) -> i64 {
        let year = if self.month > 2 { self.year } else { self.year - 1 };
        let month = (self.month + 9) % 12;
        let leaps = year / 4 - year / 100 + year / 400;
        365 * year + leaps + (153 * month + 2) / 5 + self.day - 1
    }

    /// The day after, also past the year 9999.
    pub(super) fn next(self) -> Civil {
        let Civil { year, month, day } = self;
        if day < month_length(year, month) {
            Civil { day: day + 1, ..self }
        } else if month < 12 {
            Civil { month: month + 1, day: 1, ..self }
        } else {
            Civil { year: year + 1, month: 1, day: 1 }
        }
    }
}

fn month_length(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

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
            let last = Civil { day: month_length(year, month), ..first };
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
fn time_of_day(text: &str) -> Option<()> {
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

/// Reads exactly `digits` digits and returns what follows them.
fn number(text: &str, digits: usize) -> Option<(i64, &str)> {
    let (head, rest) = text.split_at_checked(digits)?;
    let plain = head.bytes().all(|b| b.is_ascii_digit());
    Some((head.parse().ok().filter(|_| plain)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_count_up_by_one_through_four_centuries() {
        let mut day = Civil::new(1899, 12, 30).expect("a day");
        let start = day.number();
        for count in 0..146_097 {
            assert_eq!(day.number(), start + count);
            assert_eq!(Civil::new(day.year, day.month, day.day), Some(day));
            day = day.next();
        }
        assert_eq!(day, Civil { year: 2299, month: 12, day: 30 });
    }

    #[test]
    fn leap_years() {
        for (text, valid) in [
            ("2000-02-29", true),
            ("1900-02-29", false),
            ("2024-02-29", true),
            ("2023-02-29", false),
            ("2023-04-31", false),
            ("2023-13-01", false),
            ("2023-00-01", false),
            ("2023-01-00", false),
            ("0000-01-01", false),
            ("2023-1-01", false),
            ("+023-01-01", false),
            ("2023-01-011", false),
        ] {
            assert_eq!(Civil::parse(text).is_some(), valid, "{text}");
        }
    }

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
