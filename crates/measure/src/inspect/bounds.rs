//! Bounds of numbers and days that tell nobody's value.
//!
//! A bound is a round number next to the value that the k-th person has, counted from the end; so at least k people stand
//! behind what it tells. The few beyond it are put together at the end (`clamp`).

use bosket_model::calendar::Civil;
use bosket_model::hierarchy::{Build, Clamp, DateFormat};
use bosket_model::{Dataset, MISSING};

use super::profile::AttributeProfile;

/// People who stand behind each bound: the k of a draft.
const PEOPLE: usize = 5;
/// From so many years on, days are bounded by decades.
const LONG: i64 = 30;
/// Years of two digits are taken for none after this one.
const LATEST: i64 = 2030;

/// The values that the k-th person from either end has. None if too few people have one.
fn ends(
    data: &Dataset,
    attribute: &AttributeProfile,
    number: impl Fn(&str) -> Option<f64>,
) -> Option<(f64, f64)> {
    let numbers: Vec<Option<f64>> = data.dictionary(attribute.id).iter().map(|(_, t)| number(t)).collect();
    let (mut lowest, mut highest) = (Vec::new(), Vec::new());
    for record in 0..data.len() {
        let codes = data.vertices(record).filter(|&v| data.class(v) == attribute.class);
        let codes = codes.map(|v| data.value(v, attribute.id)).filter(|&code| code != MISSING);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for n in codes.filter_map(|code| numbers[code as usize]) {
            (low, high) = (low.min(n), high.max(n));
        }
        if low.is_finite() {
            lowest.push(low);
            highest.push(high);
        }
    }
    if lowest.len() < 2 * PEOPLE {
        return None;
    }
    lowest.sort_by(f64::total_cmp);
    highest.sort_by(f64::total_cmp);
    Some((lowest[PEOPLE - 1], highest[highest.len() - PEOPLE]))
}

/// A step of the ladder …, 0.5, 1, 5, 10, 50, …: each divides the next.
#[derive(Clone, Copy)]
struct Step(i32);

impl Step {
    fn parts(self) -> (i64, i32) {
        (if self.0.rem_euclid(2) == 0 { 1 } else { 5 }, self.0.div_euclid(2))
    }

    /// So many steps. Written down and read, so that no digits come out that nobody meant.
    fn times(self, n: i64) -> f64 {
        let (first, power) = self.parts();
        format!("{}e{power}", n * first).parse().unwrap_or(f64::NAN)
    }

    /// The first step that is at least so wide.
    fn at_least(width: f64, finest: Step) -> Step {
        let mut step = finest;
        while step.times(1) < width {
            step = Step(step.0 + 1);
        }
        step
    }
}

/// Intervals for numbers, whole or not.
pub(super) fn numbers(data: &Dataset, attribute: &AttributeProfile, largest: f64) -> Option<Build> {
    let shape = &attribute.shape;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    let (low, high) = ends(data, attribute, number)?;
    if low.abs().max(high.abs()) >= largest {
        return None;
    }
    let finest = if shape.decimals == 0 { Step(1) } else { Step(-4) };
    let step = Step::at_least((high - low) / 10.0, finest);
    let count = |value: f64| (value / step.times(1)).floor() as i64;
    let (min, max) = (step.times(count(low)), step.times(count(high) + 1));
    let widths = (step.0 - 2).max(finest.0)..;
    let widths: Vec<f64> = widths.map(|s| Step(s).times(1)).take_while(|w| *w < max - min).collect();
    let widths = if widths.is_empty() { vec![finest.times(1)] } else { widths };
    Some(Build::Interval { min, max, widths, clamp: Clamp::Both })
}

/// Intervals for years.
pub(super) fn years(data: &Dataset, attribute: &AttributeProfile) -> Option<Build> {
    let (low, high) = ends(data, attribute, |text| text.trim().parse().ok())?;
    let decade = |year: f64| (year / 10.0).floor() * 10.0;
    let (min, max) = (decade(low), decade(high) + 9.0);
    Some(Build::Interval { min, max, widths: vec![5.0, 10.0, 50.0], clamp: Clamp::Both })
}

/// Days, written in the usual way or in this one.
pub(super) fn days(data: &Dataset, attribute: &AttributeProfile, format: Option<&str>) -> Option<Build> {
    let parsed = DateFormat::parse(format.unwrap_or("%Y-%m-%d")).ok()?;
    let latest = latest(data, attribute, &parsed);
    let day = |text: &str| {
        let text = text.trim();
        // A month stands for its first day.
        let month = || Civil::parse(&format!("{text}-01")).filter(|_| format.is_none());
        parsed.day(text, latest).or_else(month).map(|day| day.days() as f64)
    };
    let (low, high) = ends(data, attribute, day)?;
    let year = |days: f64| Civil::from_days(days as i64).map(|day| day.year);
    let (first, last) = (year(low)?, year(high)?);
    let round = if last - first >= LONG { 10 } else { 1 };
    let (first, last) = ((first - first % round).max(1), last - last % round + round - 1);
    Some(Build::Date {
        min: format!("{first:04}-01-01"),
        max: format!("{last:04}-12-31"),
        levels: Vec::new(),
        format: format.map(str::to_owned),
        clamp: Clamp::Both,
    })
}

/// The last day that years of two digits can mean: they go on for as long as there is no wide gap, so the widest is where
/// they end.
fn latest(data: &Dataset, attribute: &AttributeProfile, format: &DateFormat) -> Civil {
    let end = |year: i64| Civil { year, month: 12, day: 31 };
    let mut years: Vec<i64> = (data.dictionary(attribute.id).iter())
        .filter_map(|(_, text)| Some(format.day(text.trim(), end(2099))?.year % 100))
        .collect();
    years.sort_unstable();
    years.dedup();
    let next = |i: usize| years.get(i + 1).map_or(years[0] + 100, |y| *y);
    // Of gaps that are as wide the last: then no century ends in between.
    let last = (0..years.len()).max_by_key(|&i| (next(i) - years[i], i)).map_or(LATEST, |i| years[i] + 2000);
    end(if last > LATEST { last - 100 } else { last })
}

#[cfg(test)]
mod tests {
    use super::super::builder::{Coarsening, coarsening, covers};
    use super::super::topic::Topic;
    use crate::inspect::Profile;
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, ClassId, Kind};

    /// What is drafted for a column of one value per person.
    fn drafted(name: &str, values: &[String]) -> Coarsening {
        let mut builder = Builder::new();
        let id = builder.attribute(ClassId::ROOT, &[name.to_owned()]);
        for value in values {
            builder.begin_record();
            builder.set(id, Kind::Text, value);
            builder.end_record().expect("set once");
        }
        let data = builder.finish();
        let profile = Profile::new(&data, &Quiet).expect("nobody interrupts");
        let attribute = &profile.attributes[0];
        coarsening(&data, attribute, Topic::of(&attribute.name))
    }

    fn toml(name: &str, values: impl Iterator<Item = String>) -> String {
        let values: Vec<String> = values.collect();
        let found = drafted(name, &values);
        let domain: Vec<&str> = values.iter().map(String::as_str).collect();
        assert!(covers(&found.build, &domain), "{name}");
        found.toml()
    }

    #[test]
    fn bounds_are_the_datas_but_nobodys() {
        let both = r#"clamp = "both""#;
        assert_eq!(
            toml("born", (0..60).map(|i| format!("{}-03-07", 1935 + i))),
            format!(r#"{{ build = "date", min = "1930-01-01", max = "1999-12-31", {both} }}"#)
        );
        assert_eq!(
            toml("admitted", (0..60).map(|i| format!("201{}-03-{:02}T10:00", i % 3, i % 28 + 1))),
            format!(r#"{{ build = "date", min = "2010-01-01", max = "2012-12-31", {both} }}"#)
        );
        assert_eq!(
            toml("year", (0..60).map(|i| (1941 + i).to_string())),
            format!(r#"{{ build = "interval", min = 1940, max = 1999, widths = [5, 10, 50], {both} }}"#)
        );
        assert_eq!(
            toml("weight", (0..60).map(|i| (41 + i).to_string())),
            format!(r#"{{ build = "interval", min = 40, max = 100, widths = [5, 10, 50], {both} }}"#)
        );
        assert_eq!(
            toml("share", (0..60).map(|i| format!("0.{:02}", 10 + i))),
            format!(
                r#"{{ build = "interval", min = 0.1, max = 0.7, widths = [0.01, 0.05, 0.1, 0.5], {both} }}"#
            )
        );
    }

    #[test]
    fn a_single_far_value_moves_no_bound() {
        let near = (0..60).map(|i| (41 + i).to_string());
        let usual = toml("weight", near.clone());
        assert_eq!(toml("weight", near.clone().chain(["90000".to_owned()])), usual);
        assert_eq!(toml("weight", near.chain(["-7".to_owned(), "4".to_owned()])), usual);
        let days = (0..60).map(|i| format!("201{}-03-07", i % 3));
        assert_eq!(toml("seen", days.clone().chain(["1900-01-01".to_owned()])), toml("seen", days));
    }

    #[test]
    fn years_of_two_digits_are_of_the_century_that_leaves_no_gap() {
        let days = |years: &[i32]| -> String {
            toml("date", years.iter().flat_map(|y| (1..=9).map(move |m| format!("{y:02}0{m}05"))))
        };
        let part =
            |from: i32, to: i32| format!(r#"min = "{from}-01-01", max = "{to}-12-31", format = "%y%m%d""#);
        assert!(days(&[93, 94, 95, 96, 97]).contains(&part(1993, 1997)));
        assert!(days(&[97, 98, 99, 0, 1]).contains(&part(1997, 2001)));
        assert!(days(&[10, 30, 45, 60, 75, 87]).contains(&part(1910, 1989)));
        assert!(days(&[5, 6, 7]).contains(&part(2005, 2007)));
    }

    #[test]
    fn impossible_days_are_counted_not_shown() {
        let mut values: Vec<String> = (0..60).map(|i| format!("201{}-03-{:02}", i % 3, i % 28 + 1)).collect();
        values.extend(["0000-00-00".to_owned(), "2011-02-30".to_owned()]);
        let found = drafted("admitted", &values);
        let note = found.note.expect("a word about them");
        assert!(note.contains("2 are no dates") && note.contains(r#"build = "date""#), "{note}");
        assert!(!note.contains("02-30") && !note.contains("0000"), "{note}");
    }
}
