//! Days and times as texts, and back: `2024-02-29`, `23:59:59.5`, `2024-02-29T23:59:59.5Z`.

use std::fmt::Write;

use bosket_model::calendar::Civil;

const DAY: i64 = 86_400;

/// The units of a second that times are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Milli,
    Micro,
    Nano,
}

impl Unit {
    fn per_second(self) -> i64 {
        match self {
            Unit::Milli => 1_000,
            Unit::Micro => 1_000_000,
            Unit::Nano => 1_000_000_000,
        }
    }

    fn digits(self) -> usize {
        match self {
            Unit::Milli => 3,
            Unit::Micro => 6,
            Unit::Nano => 9,
        }
    }
}

/// Appends a day, counted from 1970-01-01; false outside the years 1 to 9999.
pub(super) fn push_day(out: &mut String, day: i64) -> bool {
    let Some(day) = Civil::from_days(day) else { return false };
    // Writing to a String cannot fail.
    let _ = write!(out, "{day}");
    true
}

/// The day that a text says.
pub(super) fn parse_day(text: &str) -> Option<i64> {
    Civil::parse(text).map(Civil::days)
}

/// Appends a time of day; false if it is none.
pub(super) fn push_time(out: &mut String, time: i64, unit: Unit) -> bool {
    let (seconds, fraction) = (time.div_euclid(unit.per_second()), time.rem_euclid(unit.per_second()));
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if fraction > 0 {
        let _ = write!(out, ".{fraction:0width$}", width = unit.digits());
        out.truncate(out.trim_end_matches('0').len());
    }
    (0..DAY).contains(&seconds)
}

/// The time of day that a text says.
pub(super) fn parse_time(text: &str, unit: Unit) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut seconds = 0;
    let mut parts = clock.split(':');
    for limit in [24, 60, 60] {
        let part = parts.next().filter(|p| p.len() == 2 && p.bytes().all(|c| c.is_ascii_digit()))?;
        seconds = seconds * 60 + part.parse::<i64>().ok().filter(|&n| n < limit)?;
    }
    if parts.next().is_some()
        || fraction.len() > unit.digits()
        || !fraction.bytes().all(|c| c.is_ascii_digit())
    {
        return None;
    }
    let digits: i64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let scale = 10_i64.pow((unit.digits() - fraction.len()) as u32);
    Some(seconds * unit.per_second() + digits * scale)
}

/// Appends a moment, counted from 1970-01-01; false outside the years 1 to 9999.
pub(super) fn push_moment(out: &mut String, moment: i64, unit: Unit, utc: bool) -> bool {
    let day = DAY * unit.per_second();
    let fits = push_day(out, moment.div_euclid(day));
    out.push('T');
    push_time(out, moment.rem_euclid(day), unit);
    if utc {
        out.push('Z');
    }
    fits
}

/// The moment that a text says.
pub(super) fn parse_moment(text: &str, unit: Unit, utc: bool) -> Option<i64> {
    let text = if utc { text.strip_suffix('Z')? } else { text };
    let (day, time) = text.split_once('T')?;
    let day = parse_day(day)?.checked_mul(DAY * unit.per_second())?;
    day.checked_add(parse_time(time, unit)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(number: i64) -> String {
        let mut out = String::new();
        assert!(push_day(&mut out, number), "{number}");
        out
    }

    #[test]
    fn known_days() {
        for (number, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (-719_162, "0001-01-01"),
            (2_932_896, "9999-12-31"),
            (-25_567, "1900-01-01"),
        ] {
            assert_eq!(day(number), text);
            assert_eq!(parse_day(text), Some(number));
        }
        for far in [2_932_897, -719_163, i64::MAX, i64::MIN] {
            assert!(!push_day(&mut String::new(), far));
        }
        for wrong in ["2023-02-31", "2023-02-29", "0000-01-01", "2023-1-01"] {
            assert_eq!(parse_day(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn fractions_are_as_short_as_they_can_be() {
        let mut out = String::new();
        assert!(push_moment(&mut out, -500, Unit::Milli, true));
        assert_eq!(out, "1969-12-31T23:59:59.5Z");
        assert_eq!(parse_moment(&out, Unit::Nano, true), Some(-500_000_000));
        assert_eq!(parse_moment(&out, Unit::Milli, false), None);
        assert!(!push_time(&mut String::new(), 86_400_000, Unit::Milli));
        for wrong in ["1:00:00", "24:00:00", "10:00", "10:00:00.1234", "10:00:00:00", "10:00:00.-1"] {
            assert_eq!(parse_time(wrong, Unit::Milli), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn moments_come_back(moment in -62_000_000_000_000_000i64..253_000_000_000_000_000, utc: bool) {
            let mut out = String::new();
            prop_assert!(push_moment(&mut out, moment, Unit::Micro, utc));
            prop_assert_eq!(parse_moment(&out, Unit::Micro, utc), Some(moment));
        }
    }
}
