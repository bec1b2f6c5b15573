//! Which hierarchy builder may do for an attribute until somebody gives it a better one.
//!
//! Bounds come from the data where enough people stand behind each of them ([`bounds`]). Else they are round numbers of
//! the program's own: the next step of a fixed ladder, or the next power of ten, which say no more about the data than that
//! the step before was too small.

use bosket_model::Dataset;
use bosket_model::hierarchy::{Build, Clamp, DateLevel, build};

use super::bounds;
use super::profile::AttributeProfile;
use super::shape::ValueType;
use super::topic::Topic;
use super::words::{Name, is};

/// Bounds are tried in this order; the wide ones are there for history.
const YEARS: [(f64, f64); 3] = [(1900.0, 2030.0), (1800.0, 2100.0), (1000.0, 2100.0)];
/// Files mark unborn or unknown ages by numbers below zero.
const AGES: [(f64, f64); 2] = [(0.0, 120.0), (-60.0, 120.0)];
const DAYS: [(&str, &str); 4] = [
    ("1900-01-01", "2030-12-31"),
    ("1800-01-01", "2100-12-31"),
    ("1000-01-01", "2100-12-31"),
    ("0001-01-01", "9999-12-31"),
];
const FANOUT: usize = 5;
/// Larger numbers are names of things rather than amounts.
const LARGEST: f64 = 1e12;
/// Amounts are first rounded to this power of ten.
const FINEST: i32 = -2;
/// From this share of values on, what they look like decides and the rest is an exception to be told.
const MOSTLY: f64 = 0.9;
/// What columns of medicines are called.
const MEDICINES: &[&str] = &["atc", "drug", "medication", "medicine", "substance", "prescription"];
/// The same for codes of ICD-10 and ATC, which other codes resemble.
const ICD: f64 = 0.95;

/// A builder that covers every value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Coarsening {
    /// The builder.
    pub build: Build,
    /// What to know about it; holds no value of the data.
    pub note: Option<String>,
}

impl Coarsening {
    /// Groups that mean nothing, for values of which nothing is known.
    pub fn arbitrary() -> Self {
        Coarsening { build: Build::Fanout { fanout: FANOUT }, note: None }
    }

    /// The same with days put together by years at once.
    pub(super) fn by_year(&self) -> Self {
        let mut coarse = self.clone();
        if let Build::Date { levels, .. } = &mut coarse.build {
            *levels = vec![DateLevel::Year, DateLevel::Decade];
            let note = "Days are put together by years at once, for there is much to search; without `levels` months are \
                        tried, too.";
            coarse.note = Some(coarse.note.map_or(note.to_owned(), |first| format!("{first} {note}")));
        }
        coarse
    }

    /// The builder as a policy writes it. Groups of the `order` builder are never suggested.
    pub fn toml(&self) -> String {
        match &self.build {
            Build::Interval { min, max, widths, clamp } => {
                let widths: Vec<String> = widths.iter().map(f64::to_string).collect();
                let (widths, clamp) = (widths.join(", "), clamped(*clamp));
                format!(r#"{{ build = "interval", min = {min}, max = {max}, widths = [{widths}]{clamp} }}"#)
            }
            Build::Range { min, max } => format!(r#"{{ build = "range", min = {min}, max = {max} }}"#),
            Build::Date { min, max, format, clamp, levels } => {
                let name = |level: &DateLevel| match level {
                    DateLevel::Month => r#""month""#,
                    DateLevel::Quarter => r#""quarter""#,
                    DateLevel::Year => r#""year""#,
                    DateLevel::Decade => r#""decade""#,
                };
                let levels: Vec<&str> = levels.iter().map(name).collect();
                let levels = match levels.is_empty() {
                    true => String::new(),
                    false => format!(", levels = [{}]", levels.join(", ")),
                };
                let format = format.as_ref().map_or(String::new(), |f| format!(r#", format = "{f}""#));
                let clamp = clamped(*clamp);
                format!(r#"{{ build = "date", min = "{min}", max = "{max}"{format}{levels}{clamp} }}"#)
            }
            Build::Prefix => r#"{ build = "prefix" }"#.to_owned(),
            Build::Icd10 { .. } => r#"{ build = "icd10" }"#.to_owned(),
            Build::Atc => r#"{ build = "atc" }"#.to_owned(),
            Build::Letters => r#"{ build = "letters" }"#.to_owned(),
            Build::From { paths } => match paths.as_slice() {
                // A text of JSON is one of TOML.
                [path] => format!("{{ from = {} }}", serde_json::json!(path)),
                paths => {
                    let all: Vec<String> = paths.iter().map(|p| serde_json::json!(p).to_string()).collect();
                    format!("{{ from = [{}] }}", all.join(", "))
                }
            },
            Build::Fanout { .. } | Build::Order { .. } => {
                format!(r#"{{ build = "fanout", fanout = {FANOUT} }}"#)
            }
        }
    }
}

/// What a policy says about values outside, if they are put together.
fn clamped(clamp: Clamp) -> &'static str {
    match clamp {
        Clamp::None => "",
        Clamp::Top => r#", clamp = "top""#,
        Clamp::Bottom => r#", clamp = "bottom""#,
        Clamp::Both => r#", clamp = "both""#,
    }
}

/// The first builder that fits the values and covers them all.
pub(super) fn coarsening(data: &Dataset, attribute: &AttributeProfile, topic: Option<Topic>) -> Coarsening {
    let (usual, kind) = candidates(attribute, topic);
    let domain: Vec<&str> = data.dictionary(attribute.id).iter().map(|(_, text)| text).collect();
    let found = match usual.first() {
        Some(Build::Interval { .. }) if kind == "years" => bounds::years(data, attribute),
        Some(Build::Interval { .. }) if kind == "numbers" => bounds::numbers(data, attribute, LARGEST),
        Some(Build::Date { format, .. }) => bounds::days(data, attribute, format.as_deref()),
        _ => None,
    };
    if let Some(build) = found.clone().filter(|build| covers(build, &domain)) {
        let note = attribute.shape.days.filter(|days| days.ambiguous);
        let note = note.map(|_| "Day and month could be the other way round: look at `format`.".to_owned());
        return Coarsening { build, note };
    }
    if let Some((step, build)) = usual.iter().enumerate().find(|(_, build)| covers(build, &domain)) {
        let note = (step > 0).then(|| format!("The bounds are wider than usual: there are {kind} outside."));
        return Coarsening { build: build.clone(), note };
    }
    if usual.is_empty() && are_names(&domain) {
        let note = "Put together by their first letters only: a hierarchy file by meaning, or `from` another column, would \
                    lose less.";
        return Coarsening { build: Build::Letters, note: Some(note.to_owned()) };
    }
    let mut grouped = in_order(attribute);
    if let Some(build) = found.or_else(|| usual.last().cloned()) {
        let others = uncovered(&build, &domain);
        let wanted = Coarsening { build, note: None }.toml();
        grouped.note = Some(format!(
            "Of {} values {others} are no {kind}, so all are only grouped in their order. Correct these or leave them \
             empty, then write `hierarchy = {wanted}`.",
            domain.len()
        ));
    }
    grouped
}

/// So many different values are too many to be looked at one by one.
const NAMES: usize = 100;

/// Whether there are many values, and nearly all are words: what follows in their order has nothing in common but letters.
fn are_names(domain: &[&str]) -> bool {
    let is_word =
        |text: &&&str| text.starts_with(char::is_alphabetic) && !text.contains(|c: char| c.is_ascii_digit());
    domain.len() > NAMES && domain.iter().filter(is_word).count() * 20 >= domain.len() * 19
}

/// How many values the builder does not place.
fn uncovered(spec: &Build, domain: &[&str]) -> usize {
    let missed = |hierarchy: bosket_model::hierarchy::Hierarchy| hierarchy.bind(domain.iter().copied()).err();
    build(spec, domain, None).map_or(domain.len(), |hierarchy| missed(hierarchy).map_or(0, |all| all.len()))
}

/// Groups of neighbours in the order of the values, whatever they are.
pub(super) fn in_order(attribute: &AttributeProfile) -> Coarsening {
    let many = attribute.distinct > FANOUT;
    let note = "Grouped in their order only: a hierarchy file by meaning would lose less.";
    Coarsening { build: Build::Fanout { fanout: FANOUT }, note: many.then(|| note.to_owned()) }
}

/// Whether the builder places every value.
pub(super) fn covers(spec: &Build, domain: &[&str]) -> bool {
    build(spec, domain, None).is_ok_and(|hierarchy| hierarchy.bind(domain.iter().copied()).is_ok())
}

/// Builders to try, and what they expect the values to be.
fn candidates(attribute: &AttributeProfile, topic: Option<Topic>) -> (Vec<Build>, &'static str) {
    let shape = &attribute.shape;
    let reaches = |count: usize, share: f64| count > 0 && count as f64 >= share * shape.values as f64;
    let numbers = shape.integers + shape.decimals;
    let name = &attribute.name;
    let says = |wanted: &[&str]| name.last.iter().any(|word| wanted.iter().any(|w| is(word, w)));
    let date = |&(min, max): &(&str, &str), format: Option<&str>, clamp| Build::Date {
        min: min.to_owned(),
        max: max.to_owned(),
        levels: Vec::new(),
        format: format.map(str::to_owned),
        clamp,
    };
    if let Some(days) = shape.days {
        return (vec![date(&DAYS[0], Some(days.format), Clamp::Both)], "dates");
    }
    match shape.code {
        Some(code) if code.has_prefixes() => return (vec![Build::Prefix], "codes"),
        // Their digits say nothing.
        Some(_) => return (Vec::new(), ""),
        None if topic == Some(Topic::Postal) || shape.is_fixed_code() => {
            return (vec![Build::Prefix], "codes");
        }
        None => {}
    }
    // A group such as C09 is a category of ICD-10, too: the other values of the column tell, or else its name.
    let only_icd = shape.icd_dotted + shape.icd_plain - shape.atc_or_icd;
    let is_medicine =
        (shape.atc > 0 && shape.atc > only_icd) || (only_icd == 0 && names_medicines(&attribute.name));
    if is_medicine && reaches(shape.atc + shape.atc_or_icd, ICD) {
        return (vec![Build::Atc], "ATC codes");
    }
    let icd = shape.icd_dotted + shape.icd_plain;
    if reaches(icd, ICD) && (shape.icd_dotted > 0 || topic == Some(Topic::Health)) {
        return (vec![Build::Icd10 { table: None }], "ICD-10 codes");
    }
    if attribute.value_type == ValueType::Year {
        return (YEARS.iter().map(|&(min, max)| interval(min, max, &[5.0, 10.0, 50.0])).collect(), "years");
    }
    if reaches(shape.dates + shape.times, MOSTLY) {
        return (DAYS.iter().map(|days| date(days, None, Clamp::None)).collect(), "dates");
    }
    if topic == Some(Topic::Age) && reaches(numbers, MOSTLY) {
        let ages = AGES.iter().map(|&(min, max)| interval(min, max, &[5.0, 10.0, 20.0, 60.0]));
        return (ages.chain(powers_of_ten(attribute)).collect(), "ages");
    }
    // A code has no neighbours; two values need no levels.
    let is_code =
        says(&["code", "id", "type", "class", "category", "kind"]) || topic == Some(Topic::Identifier);
    if reaches(numbers, MOSTLY) && !is_code && attribute.distinct > 2 {
        return (powers_of_ten(attribute).into_iter().collect(), "numbers");
    }
    (Vec::new(), "")
}

/// Whether an attribute, or what it hangs below, is called after medicines.
fn names_medicines(name: &Name) -> bool {
    name.own.iter().chain(&name.class).any(|word| MEDICINES.iter().any(|wanted| is(word, wanted)))
}

fn interval(min: f64, max: f64, widths: &[f64]) -> Build {
    Build::Interval { min, max, widths: widths.to_vec(), clamp: Clamp::None }
}

/// Intervals up to the power of ten strictly above all values, and from 0 or from its opposite.
fn powers_of_ten(attribute: &AttributeProfile) -> Option<Build> {
    let shape = &attribute.shape;
    let largest = shape.numbers.max.abs().max(shape.numbers.min.abs());
    if !largest.is_finite() || largest >= LARGEST {
        return None;
    }
    let whole = shape.decimals == 0;
    let mut power = i32::from(whole);
    while 10f64.powi(power) <= largest {
        power += 1;
    }
    let widths: Vec<f64> = match power {
        1 if whole => vec![5.0],
        2 if whole => vec![5.0, 10.0, 50.0],
        _ if whole => (1.max(power - 4)..power).map(|p| 10f64.powi(p)).collect(),
        _ => ((power - 4).max(FINEST)..power).map(|p| 10f64.powi(p)).collect(),
    };
    let max = 10f64.powi(power);
    Some(interval(if shape.numbers.min < 0.0 { -max } else { 0.0 }, max, &widths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::Profile;
    use bosket_model::observe::Quiet;
    use bosket_model::policy::Policy;
    use bosket_model::{Builder, ClassId, Kind};

    fn suggested(name: &str, values: &[&str]) -> Coarsening {
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
        let coarsening = coarsening(&data, attribute, Topic::of(&attribute.name));
        assert!(covers(&coarsening.build, values), "{name}");
        assert_eq!(reread(&coarsening.toml()), coarsening.build, "{name}");
        coarsening
    }

    /// What a policy makes of the text.
    fn reread(toml: &str) -> Build {
        let text =
            format!("version = 1\n[[attribute]]\npath = \"a\"\nrole = \"quasi\"\nhierarchy = {toml}\n");
        let (policy, _) = Policy::parse("p", &text, &[]).unwrap_or_else(|d| panic!("{toml}: {d:?}"));
        match policy.attributes[0].hierarchy.clone() {
            Some(bosket_model::hierarchy::HierarchySpec::Build(build)) => build,
            other => panic!("{toml}: {other:?}"),
        }
    }

    #[test]
    fn builders_for_what_the_values_are() {
        for (name, values, expected) in [
            (
                "year",
                &["1950", "2001"][..],
                r#"{ build = "interval", min = 1900, max = 2030, widths = [5, 10, 50] }"#,
            ),
            (
                "year",
                &["1895", "2001"],
                r#"{ build = "interval", min = 1800, max = 2100, widths = [5, 10, 50] }"#,
            ),
            (
                "year",
                &["1492", "2001"],
                r#"{ build = "interval", min = 1000, max = 2100, widths = [5, 10, 50] }"#,
            ),
            (
                "age",
                &["0", "33", "90"],
                r#"{ build = "interval", min = 0, max = 120, widths = [5, 10, 20, 60] }"#,
            ),
            (
                "age",
                &["0", "33", "999"],
                r#"{ build = "interval", min = 0, max = 1000, widths = [10, 100] }"#,
            ),
            ("born", &["1950-01-31"], r#"{ build = "date", min = "1900-01-01", max = "2030-12-31" }"#),
            (
                "end",
                &["2031-01-03T10:00:00Z"],
                r#"{ build = "date", min = "1800-01-01", max = "2100-12-31" }"#,
            ),
            ("zip", &["2743", "10115"], r#"{ build = "prefix" }"#),
            ("zone", &["02743", "10115"], r#"{ build = "prefix" }"#),
            ("disease", &["J45", "E11"], r#"{ build = "icd10" }"#),
            ("dx", &["J45.9", "E11"], r#"{ build = "icd10" }"#),
            ("dx", &["J45", "E11"], r#"{ build = "fanout", fanout = 5 }"#),
            ("medication", &["A10BA02", "N02BE01", "C09AA05"], r#"{ build = "atc" }"#),
            ("code", &["A10BA02", "C09AA", "C09"], r#"{ build = "atc" }"#),
            ("atc_code", &["A10", "C09"], r#"{ build = "atc" }"#),
            ("drug_code", &["A10", "C09"], r#"{ build = "atc" }"#),
            ("disease", &["C09", "A10"], r#"{ build = "icd10" }"#),
            ("disease", &["C09", "C09.1", "A10"], r#"{ build = "icd10" }"#),
            ("drug", &["C09", "J45", "E11"], r#"{ build = "icd10" }"#),
            // Half of either are neither.
            ("code", &["A10BA02", "N02BE01", "J45.9", "E11.1"], r#"{ build = "fanout", fanout = 5 }"#),
            ("weeks", &["1", "2", "9"], r#"{ build = "interval", min = 0, max = 10, widths = [5] }"#),
            (
                "weeks",
                &["1", "2", "10"],
                r#"{ build = "interval", min = 0, max = 100, widths = [5, 10, 50] }"#,
            ),
            (
                "m",
                &["1", "2", "50000"],
                r#"{ build = "interval", min = 0, max = 100000, widths = [10, 100, 1000, 10000] }"#,
            ),
            (
                "m",
                &["1", "-2", "500"],
                r#"{ build = "interval", min = -1000, max = 1000, widths = [10, 100] }"#,
            ),
            (
                "m",
                &["0.1", "0.2", "0.999"],
                r#"{ build = "interval", min = 0, max = 1, widths = [0.01, 0.1] }"#,
            ),
            (
                "m",
                &["0.1", "-0.0", "1"],
                r#"{ build = "interval", min = 0, max = 10, widths = [0.01, 0.1, 1] }"#,
            ),
            ("m", &["1", "2", "3000000000000"], r#"{ build = "fanout", fanout = 5 }"#),
            ("code", &["1", "2", "30"], r#"{ build = "fanout", fanout = 5 }"#),
            ("colour", &["red", "blue"], r#"{ build = "fanout", fanout = 5 }"#),
        ] {
            assert_eq!(suggested(name, values).toml(), expected, "{name} {values:?}");
        }
    }

    #[test]
    fn many_names_are_put_together_by_letters() {
        let names: Vec<String> = ('a'..='z')
            .flat_map(|a| ('a'..='e').map(move |b| format!("{}{b}stadt", a.to_uppercase())))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(suggested("town", &names).toml(), r#"{ build = "letters" }"#);
        assert_eq!(suggested("town", &names[..90]).toml(), r#"{ build = "fanout", fanout = 5 }"#);
    }

    #[test]
    fn no_bound_is_a_value_of_the_data() {
        for power in 0..9 {
            let values = ["2".to_owned(), "3".to_owned(), 10i64.pow(power).to_string()];
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let Build::Interval { max, .. } = suggested("m", &values).build else { panic!("an interval") };
            assert!(max > 10f64.powi(power as i32));
        }
    }

    #[test]
    fn exceptions_fall_back_and_are_told() {
        let mut days: Vec<String> = (1..=28).map(|d| format!("1950-02-{d:02}")).collect();
        days.push("0000-00-00".to_owned());
        let days: Vec<&str> = days.iter().map(String::as_str).collect();
        let found = suggested("died", &days);
        assert_eq!(found.build, Build::Fanout { fanout: 5 });
        assert!(found.note.is_some_and(|n| n.contains("dates")));
        let found = suggested("died", &["1950-02-30"]);
        assert_eq!(found.build, Build::Fanout { fanout: 5 });
    }
}
