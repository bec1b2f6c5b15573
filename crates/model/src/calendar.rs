//! Days of the proleptic Gregorian calendar, years 1 to 9999.

use std::fmt;

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// Days in 400 years, which are as many in all such times.
const ERA: i64 = 146_097;

/// A calendar day. Written as `2024-02-29`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Civil {
    /// The year, as written.
    pub year: i64,
    /// The month, from 1.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
}

impl Civil {
    /// A day that there is.
    pub fn new(year: i64, month: i64, day: i64) -> Option<Civil> {
        let valid = (1..=9999).contains(&year) && (1..=12).contains(&month) && day >= 1;
        (valid && day <= month_length(year, month)).then_some(Civil { year, month, day })
    }

    /// Reads `YYYY-MM-DD`, nothing else.
    pub fn parse(text: &str) -> Option<Civil> {
        let (year, rest) = number(text, 4)?;
        let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
        let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
        Civil::new(year, month, day).filter(|_| rest.is_empty())
    }

    /// Days since 1970-01-01.
    pub fn days(self) -> i64 {
        // Counting from March puts the leap day at the end of the year.
        let year = if self.month > 2 { self.year } else { self.year - 1 };
        let month = (self.month + 9) % 12;
        let leaps = year / 4 - year / 100 + year / 400;
        365 * year + leaps + (153 * month + 2) / 5 + self.day - 1 - EPOCH
    }

    /// The day that is so many days after 1970-01-01; none outside the years 1 to 9999.
    pub fn from_days(days: i64) -> Option<Civil> {
        let number = days.checked_add(EPOCH)?;
        let (era, day) = (number.div_euclid(ERA), number.rem_euclid(ERA));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let of_year = day - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let of_month = of_year - (153 * month + 2) / 5 + 1;
        Civil::new(year + era * 400 + i64::from(month > 9), (month + 2) % 12 + 1, of_month)
    }

    /// The day after, also past the year 9999.
    pub(crate) fn next(self) -> Civil {
        let Civil { year, month, day } = self;
        if day < month_length(year, month) {
            Civil { day: day + 1, ..self }
        } else if month < 12 {
            Civil { month: month + 1, day: 1, ..self }
        } else {
            Civil { year: year + 1, month: 1, day: 1 }
        }
    }

    /// The last day of its month.
    pub(crate) fn end_of_month(self) -> Civil {
        Civil { day: month_length(self.year, self.month), ..self }
    }
}

impl fmt::Display for Civil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
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

/// Reads exactly `digits` digits and returns what follows them.
pub(crate) fn number(text: &str, digits: usize) -> Option<(i64, &str)> {
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
        let start = day.days();
        for count in 0..146_097 {
            assert_eq!(day.days(), start + count);
            assert_eq!(Civil::new(day.year, day.month, day.day), Some(day));
            assert_eq!(Civil::from_days(day.days()), Some(day));
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
    fn known_days() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (-719_162, "0001-01-01"),
            (2_932_896, "9999-12-31"),
        ] {
            let day = Civil::from_days(days).expect("a day");
            assert_eq!((day.to_string().as_str(), day.days()), (text, days));
        }
        for far in [2_932_897, -719_163, i64::MAX, i64::MIN] {
            assert_eq!(Civil::from_days(far), None);
        }
    }
}
