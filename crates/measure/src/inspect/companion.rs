//! Columns that say what another column of the same vertex says, in other words.

use std::collections::{BTreeSet, HashMap};

use bosket_model::calendar::Civil;
use bosket_model::observe::Observer;
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

use super::profile::AttributeProfile;
use super::shape::ValueType;
use super::words::is;

/// What names of codes end with.
const CODES: &[&str] = &["code", "id", "key", "number", "abbreviation", "abbr", "iso"];
/// What names of their texts, and of what else comes with them, end with.
const TEXTS: &[&str] =
    &["display", "name", "description", "desc", "label", "title", "text", "meaning", "system"];

/// Endings of names of which the first says more than the second, or the other way round: `start_datetime` and
/// `start_date`, `gender_concept_id` and `gender_source_value`.
const PAIRS: &[(&str, &str)] = &[
    ("datetime", "date"),
    ("timestamp", "date"),
    ("conceptid", "sourcevalue"),
    ("conceptid", "sourceconceptid"),
    ("sourceconceptid", "sourcevalue"),
];

/// Words for a beginning, and those for an end in their place: `START` and `STOP`, `visit_start_date` and `visit_end_date`.
const STARTS: &[&str] = &["start", "begin", "from", "since", "admission"];
const ENDS: &[&str] = &["end", "stop", "finish", "to", "until", "discharge"];

/// An end that is never more days after its beginning says little that the beginning does not.
pub(super) const NEAR: i64 = 31;

/// What an attribute follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Follows {
    pub(super) leader: usize,
    /// It does not say the same, but lies close behind it.
    pub(super) is_end: bool,
}

/// Attributes by their class and their name as one word. Not word by word: REASONCODE has no boundary to be found.
struct Names {
    of: Vec<(ClassId, String)>,
    at: HashMap<(ClassId, String), Vec<usize>>,
}

impl Names {
    fn new(attributes: &[AttributeProfile]) -> Self {
        let mut names = Names { of: Vec::new(), at: HashMap::new() };
        for (i, attribute) in attributes.iter().enumerate() {
            let name = (attribute.class, attribute.name.own.concat());
            names.at.entry(name.clone()).or_default().push(i);
            names.of.push(name);
        }
        names
    }

    /// The attributes whose names say that they are the text of this code: `type.code` and `type.display`, `product_id` and
    /// `product_name`, `countryCode` and `country`.
    fn texts(&self, code: usize) -> BTreeSet<usize> {
        let (class, name) = &self.of[code];
        let mut texts = BTreeSet::new();
        for stem in CODES.iter().filter_map(|ending| name.strip_suffix(ending)) {
            let alone = (!stem.is_empty()).then_some("");
            for ending in TEXTS.iter().copied().chain(alone) {
                texts.extend(self.at.get(&(*class, format!("{stem}{ending}"))).into_iter().flatten());
            }
        }
        for (first, second) in PAIRS {
            if let Some(stem) = name.strip_suffix(first) {
                texts.extend(self.at.get(&(*class, format!("{stem}{second}"))).into_iter().flatten());
            }
        }
        texts.remove(&code);
        texts
    }
}

/// Whether an attribute's name speaks of a birth, or of a start, which may be one.
fn is_birth(attribute: &AttributeProfile, wanted: &[&str]) -> bool {
    attribute.name.own.iter().any(|word| wanted.iter().any(|w| is(word, w)))
}

/// Whether a column always says the day of another, or always its year, month or day of the month. That each value comes
/// with one of the other would say little: a birthday comes with one of everything.
fn repeats_part(
    data: &Dataset,
    day: AttributeId,
    part: AttributeId,
    observer: &dyn Observer,
) -> Result<bool> {
    let class = data.schema().attribute(day).class;
    let (mut holds, mut some) = ([true; 4], false);
    for vertex in (0..data.vertex_count()).filter(|&v| data.class(v) == class) {
        observer.go_on()?;
        let (a, b) = (data.value(vertex, day), data.value(vertex, part));
        if b == MISSING {
            continue;
        }
        let whole = (a != MISSING).then(|| data.dictionary(day).text(a)).and_then(|text| text.get(..10));
        let Some(whole) = whole.and_then(Civil::parse) else { return Ok(false) };
        let text = data.dictionary(part).text(b);
        let same = text.get(..10).and_then(Civil::parse) == Some(whole);
        let number = text.trim().parse::<i64>().ok();
        let parts = [whole.year, whole.month, whole.day].map(|n| number == Some(n));
        for (holds, now) in holds.iter_mut().zip([same, parts[0], parts[1], parts[2]]) {
            *holds &= now;
        }
        some = true;
    }
    Ok(some && holds.contains(&true))
}

/// Whether each value of `first` comes with one value of `second` only, and `second` never without it.
fn determines(
    data: &Dataset,
    first: AttributeId,
    second: AttributeId,
    observer: &dyn Observer,
) -> Result<bool> {
    let class = data.schema().attribute(first).class;
    let mut partner = vec![MISSING; data.dictionary(first).len()];
    for vertex in (0..data.vertex_count()).filter(|&v| data.class(v) == class) {
        observer.go_on()?;
        let (a, b) = (data.value(vertex, first), data.value(vertex, second));
        if b == MISSING {
            continue;
        }
        if a == MISSING {
            return Ok(false);
        }
        let known = &mut partner[a as usize];
        if *known != MISSING && *known != b {
            return Ok(false);
        }
        *known = b;
    }
    Ok(true)
}

/// Whether the second name is the first with an end in the place of a beginning.
fn is_end_of(start: &AttributeProfile, end: &AttributeProfile) -> bool {
    let (a, b) = (&start.name.own, &end.name.own);
    let is_pair =
        |(a, b): (&String, &String)| STARTS.iter().any(|w| is(a, w)) && ENDS.iter().any(|w| is(b, w));
    let differ = || a.iter().zip(b).filter(|(a, b)| a != b);
    start.class == end.class && a.len() == b.len() && differ().count() == 1 && differ().all(is_pair)
}

/// Whether an end is only there with its beginning, never before it, and never long after.
fn lies_near(data: &Dataset, start: AttributeId, end: AttributeId, observer: &dyn Observer) -> Result<bool> {
    let class = data.schema().attribute(start).class;
    let day = |attribute: AttributeId, code: u32| {
        let text = (code != MISSING).then(|| data.dictionary(attribute).text(code));
        text.and_then(|text| text.get(..10)).and_then(Civil::parse).map(Civil::days)
    };
    let mut some = false;
    for vertex in (0..data.vertex_count()).filter(|&v| data.class(v) == class) {
        observer.go_on()?;
        let (a, b) = (data.value(vertex, start), data.value(vertex, end));
        if b == MISSING {
            continue;
        }
        let Some(later) = day(end, b).zip(day(start, a)).map(|(end, start)| end - start) else {
            return Ok(false);
        };
        if !(0..=NEAR).contains(&later) {
            return Ok(false);
        }
        some = true;
    }
    Ok(some)
}

/// For each attribute the one that it follows. `may_lead` and `may_follow` say which attributes come into question.
/// Where code and text determine each other the text follows; nothing follows a follower.
pub(super) fn companions(
    data: &Dataset,
    attributes: &[AttributeProfile],
    may_lead: impl Fn(usize) -> bool,
    may_follow: impl Fn(usize) -> bool,
    observer: &dyn Observer,
) -> Result<Vec<Option<Follows>>> {
    let mut follows: Vec<Option<usize>> = vec![None; attributes.len()];
    let mut leads = vec![false; attributes.len()];
    let mut tie = |leader: usize, follower: usize| {
        let free = follows[leader].is_none() && follows[follower].is_none() && !leads[follower];
        let fits = free
            && may_lead(leader)
            && may_follow(follower)
            && determines(data, attributes[leader].id, attributes[follower].id, observer)?;
        if fits {
            follows[follower] = Some(leader);
            leads[leader] = true;
        }
        Ok(fits)
    };
    let names = Names::new(attributes);
    for code in 0..attributes.len() {
        for text in names.texts(code) {
            if !tie(code, text)? {
                tie(text, code)?;
            }
        }
    }
    let is_day = |a: &AttributeProfile| matches!(a.value_type, ValueType::Date | ValueType::DateTime);
    for (day, leader) in attributes.iter().enumerate() {
        if !is_day(leader) || !is_birth(leader, &["birth", "born", "dob", "birthdate"]) || !may_lead(day) {
            continue;
        }
        for (part, other) in attributes.iter().enumerate() {
            let free = part != day && other.class == leader.class && follows[day].is_none();
            let free = free && follows[part].is_none() && !leads[part] && may_follow(part);
            if free
                && is_birth(other, &["birth", "born", "dob", "birthdate", "start"])
                && repeats_part(data, leader.id, other.id, observer)?
            {
                follows[part] = Some(day);
                leads[day] = true;
            }
        }
    }
    let mut all: Vec<Option<Follows>> =
        follows.iter().map(|leader| leader.map(|leader| Follows { leader, is_end: false })).collect();
    for (start, leader) in attributes.iter().enumerate() {
        if !is_day(leader) || follows[start].is_some() || !may_lead(start) {
            continue;
        }
        for (end, other) in attributes.iter().enumerate() {
            let free = all[end].is_none() && is_day(other) && may_follow(end);
            if free && is_end_of(leader, other) && lies_near(data, leader.id, other.id, observer)? {
                // What says the end in other words goes with it.
                let own = (0..all.len()).filter(|&at| at == end || follows[at] == Some(end));
                own.for_each(|at| all[at] = Some(Follows { leader: start, is_end: true }));
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::Profile;
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, Kind};

    /// What follows what in records with these two columns; `-` is a missing value.
    fn found(names: [&str; 2], rows: &[[&str; 2]]) -> Vec<Option<usize>> {
        let mut builder = Builder::new();
        let ids = names.map(|n| {
            let keys: Vec<String> = n.split('.').map(str::to_owned).collect();
            builder.attribute(ClassId::ROOT, &keys)
        });
        for row in rows {
            builder.begin_record();
            for (id, value) in ids.iter().zip(row).filter(|(_, v)| **v != "-") {
                builder.set(*id, Kind::Text, value);
            }
            builder.end_record().expect("set once");
        }
        let data = builder.finish();
        let profile = Profile::new(&data, &Quiet).expect("nobody interrupts");
        let all =
            companions(&data, &profile.attributes, |_| true, |_| true, &Quiet).expect("nobody interrupts");
        all.into_iter().map(|one| one.map(|follows| follows.leader)).collect()
    }

    #[test]
    fn texts_follow_their_codes() {
        let rows = [["1", "cold"], ["2", "flu"], ["1", "cold"], ["3", "-"]];
        for names in [
            ["code", "display"],
            ["type.code", "type.display"],
            ["productId", "product_name"],
            ["x_code", "x"],
        ] {
            assert_eq!(found(names, &rows), [None, Some(0)], "{names:?}");
        }
        for names in
            [["code", "colour"], ["a.code", "b.display"], ["display", "description"], ["code", "code2"]]
        {
            assert_eq!(found(names, &rows), [None, None], "{names:?}");
        }
    }

    #[test]
    fn a_coarser_code_follows_its_text() {
        let rows = [["DE", "Prussia"], ["DE", "Germany"], ["FR", "France"]];
        assert_eq!(found(["countryCode", "country"], &rows), [Some(1), None]);
    }

    #[test]
    fn days_follow_their_times_and_source_values_their_concepts() {
        let rows = [["2010-01-05T10:00", "2010-01-05"], ["2010-01-05T11:00", "2010-01-05"]];
        assert_eq!(found(["start_datetime", "start_date"], &rows), [None, Some(0)]);
        let rows = [["8507", "M"], ["8532", "F"], ["8507", "M"]];
        assert_eq!(found(["gender_concept_id", "gender_source_value"], &rows), [None, Some(0)]);
        let rows = [["8507", "m"], ["8532", "F"], ["8507", "M"]];
        assert_eq!(found(["gender_concept_id", "gender_source_value"], &rows), [Some(1), None]);
    }

    #[test]
    fn parts_of_a_birthday_follow_it_but_not_whatever_comes_with_it() {
        let rows = [["1950-03-07", "1950"], ["1961-04-08T00:00", "1961"], ["1972-05-09", "1972"]];
        assert_eq!(found(["birth_datetime", "year_of_birth"], &rows), [None, Some(0)]);
        let rows = [["1950-03-07", "1950-03-07"], ["1961-04-08", "1961-04-08"]];
        assert_eq!(found(["birth_date", "period_start"], &rows), [None, Some(0)]);
        let rows = [["1950-03-07", "1999-03-07"], ["1961-04-08", "2001-04-08"]];
        assert_eq!(found(["birth_date", "period_start"], &rows), [None, None]);
    }

    #[test]
    fn ends_follow_beginnings_that_they_lie_close_behind() {
        let near = [["2010-01-05", "2010-01-05"], ["2010-03-01", "2010-03-31"], ["2011-02-03", "-"]];
        for names in
            [["START", "STOP"], ["visit_start_date", "visit_end_date"], ["period.start", "period.end"]]
        {
            assert_eq!(found(names, &near), [None, Some(0)], "{names:?}");
        }
        assert_eq!(found(["visit_start_date", "stay_end_date"], &near), [None, None], "of something else");
        for other in [["2010-01-05", "2010-02-06"], ["2010-01-05", "2010-01-04"], ["-", "2010-01-04"]] {
            let rows = [near[0], near[1], other];
            assert_eq!(found(["START", "STOP"], &rows), [None, None], "{other:?}");
        }
    }

    #[test]
    fn the_data_has_the_last_word() {
        assert_eq!(found(["code", "display"], &[["1", "a"], ["1", "b"], ["2", "b"]]), [None, None]);
        assert_eq!(found(["code", "display"], &[["1", "a"], ["-", "b"], ["2", "a"]]), [None, None]);
    }
}
