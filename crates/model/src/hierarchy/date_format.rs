//! Days that data writes in a way of its own: `930105`, `05.01.1993`, `19930105195224`.

use super::when::{Precision, When, time_of_day};
use crate::calendar::{Civil, number};

/// What a policy says about how days are written: `%y%m%d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat(Vec<Part>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Year,
    ShortYear,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Literal(char),
}

impl DateFormat {
    /// Reads `%Y` or `%y`, `%m`, `%d`, and where there is a time `%H`, `%M`, `%S`, with whatever stands between them.
    /// Else says what is wrong.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let mut parts = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            parts.push(match c {
                '%' => match chars.next() {
                    Some('Y') => Part::Year,
                    Some('y') => Part::ShortYear,
                    Some('m') => Part::Month,
                    Some('d') => Part::Day,
                    Some('H') => Part::Hour,
                    Some('M') => Part::Minute,
                    Some('S') => Part::Second,
                    _ => return Err("after % stands one of Y, y, m, d, H, M and S"),
                },
                c if c.is_ascii_digit() => return Err("a digit between the parts cannot be told from them"),
                c => Part::Literal(c),
            });
        }
        let times = |part: Part| parts.iter().filter(|p| **p == part).count();
        let years = times(Part::Year) + times(Part::ShortYear);
        let fits = years == 1 && times(Part::Month) == 1 && times(Part::Day) == 1;
        if fits { Ok(DateFormat(parts)) } else { Err("it has %Y or %y, %m and %d once each") }
    }

    /// The day that a text says; none if it is written otherwise or there is no such day. A year of two digits is the
    /// last that is not after `latest`.
    pub fn day(&self, text: &str, latest: Civil) -> Option<Civil> {
        self.read(text, latest).map(|when| when.first)
    }

    /// The same, with how exact it is. A time may follow, as in `930105 19:52`, and after a year of four digits without
    /// anything between, as in HL7: `199301051952`.
    pub(super) fn read(&self, text: &str, latest: Civil) -> Option<When> {
        let (mut rest, mut short) = (text, false);
        let (mut year, mut month, mut day, mut precision) = (0, 0, 0, Precision::Day);
        for part in &self.0 {
            if let Part::Literal(c) = part {
                rest = rest.strip_prefix(*c)?;
                continue;
            }
            let (value, after) = number(rest, if *part == Part::Year { 4 } else { 2 })?;
            rest = after;
            match part {
                Part::Year => year = value,
                Part::ShortYear => (year, short) = (value, true),
                Part::Month => month = value,
                Part::Day => day = value,
                Part::Hour if value <= 24 => precision = Precision::Time,
                Part::Minute if value <= 59 => {}
                Part::Second if value <= 60 => {}
                _ => return None,
            }
        }
        if short {
            year += latest.year - latest.year.rem_euclid(100);
            let after = Civil::new(year, month, day).map_or(year > latest.year, |day| day > latest);
            year -= if after { 100 } else { 0 };
        }
        let first = Civil::new(year, month, day)?;
        if !rest.is_empty() {
            let compact =
                || (!short && self.0.last() == Some(&Part::Day)).then(|| compact_time(rest)).flatten();
            match rest.strip_prefix(['T', 't', ' ']) {
                Some(time) => time_of_day(time)?,
                None => compact()?,
            }
            precision = Precision::Time;
        }
        Some(When { first, last: first, precision })
    }
}

/// `hhmm[ss[.f…]]` with an optional zone.
fn compact_time(text: &str) -> Option<()> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (time, rest) = text.split_at(digits);
    let spelt = match digits {
        2 => time.to_owned(),
        4 => format!("{}:{}", &time[..2], &time[2..]),
        6 => format!("{}:{}:{}", &time[..2], &time[2..4], &time[4..]),
        _ => return None,
    };
    time_of_day(&(spelt + rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(format: &str, text: &str) -> Option<String> {
        let latest = Civil::new(2012, 6, 30).expect("a day");
        DateFormat::parse(format).expect("a format").day(text, latest).map(|day| day.to_string())
    }

    #[test]
    fn days_in_the_ways_of_the_data() {
        for (format, text, expected) in [
            ("%y%m%d", "930105", Some("1993-01-05")),
            ("%y%m%d", "930105 19:52:24", Some("1993-01-05")),
            ("%y%m%d", "120701", Some("1912-07-01")),
            ("%y%m%d", "120630", Some("2012-06-30")),
            ("%y%m%d", "931305", None),
            ("%y%m%d", "000229", Some("2000-02-29")),
            ("%Y%m%d", "19911007", Some("1991-10-07")),
            ("%Y%m%d", "19911007195224", Some("1991-10-07")),
            ("%Y%m%d", "199110071952+0200", Some("1991-10-07")),
            ("%Y%m%d", "19911007255224", None),
            ("%Y%m%d%H%M%S", "19911007195224", Some("1991-10-07")),
            ("%d.%m.%Y", "07.10.1991", Some("1991-10-07")),
            ("%m/%d/%Y", "10/07/1991 7:00", None),
            ("%m/%d/%Y", "10/07/1991 07:00", Some("1991-10-07")),
            ("%d.%m.%Y", "31.02.1991", None),
            ("%d.%m.%Y", "1991-10-07", None),
        ] {
            assert_eq!(day(format, text).as_deref(), expected, "{format} {text}");
        }
    }

    #[test]
    fn formats_that_say_no_day() {
        for format in ["", "%Y%m", "%Y%m%d%d", "%y%Y%m%d", "%Y-%m-%e", "%Y0%m%d", "%"] {
            assert!(DateFormat::parse(format).is_err(), "{format}");
        }
    }
}
