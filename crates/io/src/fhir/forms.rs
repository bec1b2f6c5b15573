//! What is known about bundles besides their values, so that a publication has the same shape.

use std::collections::BTreeSet;

use bosket_model::path::{attribute_path, class_path};

use super::names::by_class;

/// How the positions of resources were written down, found when bundles are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// Positions that hold a CodeableConcept, by their path.
    pub concepts: BTreeSet<String>,
    /// Positions that hold dates and times: most labels are none.
    pub dates: BTreeSet<String>,
    /// Positions that hold numbers or booleans: no label is one.
    pub numbers: BTreeSet<String>,
    /// Whether races and ethnicities are extensions with parts, as US Core has them since STU-3.
    pub parts: bool,
}

/// A position in a resource, wherever that stands: `Condition[].code`, `birthDate`.
pub(super) fn position(home: &[Vec<String>], name: &[String]) -> String {
    let own = home.iter().skip(resources(home).saturating_sub(1));
    let class = own.fold(String::new(), |path, name| class_path(&path, &plain(name)));
    attribute_path(&class, name)
}

/// How many classes of a path are resources: they are the outermost.
pub(super) fn resources(home: &[Vec<String>]) -> usize {
    home.iter().take_while(|name| matches!(name.as_slice(), [n] if by_class(n).is_some())).count()
}

/// The same name whether or not the encounter is told.
fn plain(name: &[String]) -> Vec<String> {
    match name {
        [only] => match by_class(only) {
            Some((resource, true)) => vec![resource.name().to_owned()],
            _ => vec![only.clone()],
        },
        _ => name.to_vec(),
    }
}

/// Whether a text is a date or time as FHIR writes them: `2013`, `2013-04`, `2013-04-17`, `2013-04-17T10:00:00Z`.
pub(super) fn is_date(text: &str) -> bool {
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|c| c.is_ascii_digit());
    let mut parts = date.split('-');
    let year = parts.next().is_some_and(|y| digits(y, 4));
    let rest: Vec<&str> = parts.collect();
    let whole = year && rest.len() <= 2 && rest.iter().all(|p| digits(p, 2));
    whole
        && time.is_none_or(|t| {
            rest.len() == 2 && t.starts_with(|c: char| c.is_ascii_digit()) && !t.contains(' ')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_no_dates() {
        for text in ["2013", "2013-04", "2013-04-17", "2013-04-17T10:00:00+02:00", "2013-04-17T10:00:00.5Z"] {
            assert!(is_date(text), "{text}");
        }
        for text in
            ["2010s", "2013-Q2", "2013-04-17 (unspecified)", "*", "1950-1959", "", "2013-04T10:00Z", "02"]
        {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn a_position_does_not_depend_on_the_encounter() {
        let home = |names: &[&str]| names.iter().map(|n| vec![(*n).to_owned()]).collect::<Vec<_>>();
        let code = ["code".to_owned()];
        for names in [&["Encounter", "Condition"][..], &["Condition"], &["Encounter.Condition"]] {
            assert_eq!(position(&home(names), &code), "Condition[].code");
        }
        assert_eq!(position(&home(&["Encounter", "type"]), &[]), "Encounter[].type[]");
        assert_eq!(position(&home(&["address"]), &["city".to_owned()]), "address[].city");
    }
}
