//! Truth of what is published as something else: shifted dates and pseudonyms. With the private key the input is masked again
//! and compared as always. Without it, dates of a person must all differ from the input's by one number of days within the bound,
//! and pseudonyms must go with values one to one; that they tell nothing of the values nobody can say then. With that number
//! and these pseudonyms put into the input, everything else is compared as always.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::masks::{Masks, date, is_pseudonym, pseudonym};
use bosket_model::observe::Observer;
use bosket_model::policy::AttributePolicy;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Result};

use super::{Compared, Comparison, Mapping, Side, Untruth, check_mapping, compare_guessing};
use bosket_model::calendar::Civil;

/// So often other numbers of days are tried for records that fit by several.
const ROUNDS: usize = 64;

/// The private key of a publication, with the policy's attributes and what messages call the input.
#[derive(Clone, Copy)]
pub struct MaskKey<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The attributes.
    pub attributes: &'a [AttributePolicy],
    /// The input's name.
    pub name: &'a str,
}

/// Compares a publication with its input, which may hold other dates and the values behind pseudonyms; with a share of
/// `privacy.guess` also counts what its labels tell.
pub fn compare_masked(
    c: &Comparison<'_>,
    masks: &Masks,
    key: Option<MaskKey<'_>>,
    guess: Option<f64>,
    observer: &dyn Observer,
) -> Result<Compared> {
    if !masks.any() || c.published.data.len() > c.input.data.len() {
        return compare_guessing(c, guess, observer);
    }
    if let Some(key) = key {
        return compare_with_key(c, masks, key, guess, observer);
    }
    let mut untruths = Vec::new();
    for declared in (0..masks.pseudonyms.len()).filter(|&d| masks.pseudonyms[d]) {
        untruths.extend(pseudonyms(c, declared));
    }
    let Some(mapping) = c.mapping else {
        if masks.shifted() {
            return Err(needs_mapping());
        }
        let (published, input) = (without(&c.published, masks), without(&c.input, masks));
        let others = Comparison {
            published: Side { data: &published, ..c.published },
            input: Side { data: &input, ..c.input },
            ..*c
        };
        return Ok(compare_guessing(&others, guess, observer)?.after(untruths));
    };
    check_mapping(mapping, c.input.data.len(), c.published.data.len())?;
    let mut offsets = Offsets::new(c, masks, mapping);
    let unfit = offsets.unfit();
    if !unfit.is_empty() {
        let what = "the dates of these records do not differ from the input's by one number of days within the bound";
        untruths.push(Untruth::new(what).records(unfit));
    }
    let mut round = 0;
    loop {
        let input = restored(c, masks, &offsets);
        let others = Comparison { input: Side { data: &input, ..c.input }, ..*c };
        let found = compare_guessing(&others, guess, observer)?;
        let astray: BTreeSet<u32> =
            found.untruths.iter().flat_map(|untruth| untruth.records.iter().copied()).collect();
        if round == ROUNDS || !offsets.next(&astray) {
            return Ok(found.after(untruths));
        }
        round += 1;
    }
}

/// The same where the key is known: dates and pseudonyms must be those that it gives.
fn compare_with_key(
    c: &Comparison<'_>,
    masks: &Masks,
    key: MaskKey<'_>,
    guess: Option<f64>,
    observer: &dyn Observer,
) -> Result<Compared> {
    let mut untruths = Vec::new();
    for declared in (0..masks.pseudonyms.len()).filter(|&d| masks.pseudonyms[d]) {
        let path = &c.input.binding.declared[declared].path;
        let own = (0..c.input.data.len()).filter_map(|record| at_root(&c.input, declared, record));
        let made: BTreeSet<String> = own.map(|text| pseudonym(key.bytes, path, text)).collect();
        let other =
            |&p: &u32| at_root(&c.published, declared, p as usize).is_some_and(|text| !made.contains(text));
        let wrong: Vec<u32> = (0..c.published.data.len() as u32).filter(other).collect();
        if !wrong.is_empty() {
            let what = "these pseudonyms are not what the key makes of any value of the input";
            untruths.push(Untruth::new(what).path(path).records(wrong));
        }
    }
    let input = masks.apply(c.input.data, c.input.binding, key.attributes, key.bytes, key.name)?;
    let masked = Comparison { input: Side { data: &input, ..c.input }, ..*c };
    Ok(compare_guessing(&masked, guess, observer)?.after(untruths))
}

fn needs_mapping() -> Failure {
    let what = "whether shifted dates are true can only be checked person by person";
    let help = "give the private mapping with --mapping (`publish.mapping` writes it), or the key with --mask-key, or leave out --against";
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}

/// What a person's record has of an attribute at its top.
fn at_root<'d>(side: &Side<'d>, declared: usize, record: usize) -> Option<&'d str> {
    let root = side.data.vertices(record).start;
    let own = side.data.schema().class(side.data.class(root)).attributes.iter();
    let mut own = own.filter(|id| side.binding.attributes[id.index()] == Some(declared));
    own.find_map(|&id| {
        let code = side.data.value(root, id);
        (code != MISSING).then(|| side.data.dictionary(id).text(code))
    })
}

/// What is wrong with the pseudonyms of an attribute.
fn pseudonyms(c: &Comparison<'_>, declared: usize) -> Vec<Untruth> {
    let path = &c.input.binding.declared[declared].path;
    let published: Vec<Option<&str>> =
        (0..c.published.data.len()).map(|r| at_root(&c.published, declared, r)).collect();
    let input: Vec<Option<&str>> = (0..c.input.data.len()).map(|r| at_root(&c.input, declared, r)).collect();
    let values: BTreeSet<&str> = input.iter().copied().flatten().collect();
    let mut found = Vec::new();
    let survives = |text: &&str| values.contains(text) || !is_pseudonym(text);
    let left: Vec<u32> = (0..published.len() as u32)
        .filter(|&p| published[p as usize].as_ref().is_some_and(survives))
        .collect();
    if !left.is_empty() {
        found.push(
            Untruth::new("a value of the input stands where a pseudonym should").path(path).records(left),
        );
    }
    let wrong = match c.mapping {
        Some(mapping) => not_one_to_one(mapping, &published, &input),
        None if dominated(&published, &input) => Vec::new(),
        None => (0..published.len() as u32).collect(),
    };
    if !wrong.is_empty() {
        let what = "pseudonyms do not go with the values of the input one to one";
        found.push(Untruth::new(what).path(path).records(wrong));
    }
    found
}

/// The published records whose pseudonym goes with another value elsewhere, or whose value with another pseudonym.
fn not_one_to_one(mapping: &Mapping, published: &[Option<&str>], input: &[Option<&str>]) -> Vec<u32> {
    let at =
        |side: &[Option<&str>], record: u32| side.get(record as usize).copied().flatten().map(str::to_owned);
    let mut to: BTreeMap<Option<String>, Option<String>> = BTreeMap::new();
    let mut from: BTreeMap<Option<String>, Option<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for pair in &mapping.pairs {
        let (value, pseudonym) = (at(input, pair.input), at(published, pair.published));
        let same = to.entry(value.clone()).or_insert_with(|| pseudonym.clone()) == &pseudonym;
        if !same || from.entry(pseudonym).or_insert_with(|| value.clone()) != &value {
            wrong.push(pair.published);
        }
    }
    wrong.sort_unstable();
    wrong
}

/// Whether every pseudonym can stand for a value of its own that is as frequent at least.
fn dominated(published: &[Option<&str>], input: &[Option<&str>]) -> bool {
    let frequencies = |side: &[Option<&str>]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        side.iter().flatten().for_each(|text| *counts.entry((*text).to_owned()).or_default() += 1);
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    };
    let (published, input) = (frequencies(published), frequencies(input));
    published.len() <= input.len() && published.iter().zip(&input).all(|(out, of)| out <= of)
}

/// A side without its pseudonyms, or what they stand for.
fn without(side: &Side<'_>, masks: &Masks) -> Dataset {
    side.data.rewritten(|_, id, kind, text| {
        let masked = side.binding.attributes[id.index()].is_some_and(|d| masks.pseudonyms[d]);
        (!masked).then(|| (kind, text.to_owned()))
    })
}

/// The input as it would have been published.
fn restored(c: &Comparison<'_>, masks: &Masks, offsets: &Offsets) -> Dataset {
    c.input.data.rewritten(|record, id, kind, text| {
        let as_it_is = Some((kind, text.to_owned()));
        let (Some(declared), Some(pair)) = (c.input.binding.attributes[id.index()], offsets.of(record))
        else {
            return as_it_is;
        };
        if masks.pseudonyms[declared] {
            let pseudonym = at_root(&c.published, declared, pair.published);
            return pseudonym.map(|pseudonym| (Kind::Text, pseudonym.to_owned()));
        }
        let shifted = masks.shifts[declared].and_then(|_| date(text)).and_then(|(day, rest)| {
            let day = Civil::from_days(day + pair.candidates.get(pair.at).copied().unwrap_or(0))?;
            Some((kind, format!("{day}{rest}")))
        });
        shifted.or(as_it_is)
    })
}

/// By how many days the dates of each record may have been shifted.
struct Offsets {
    /// Per input record.
    of: Vec<Option<Candidates>>,
}

/// The numbers of days that fit a pair of records, and which of them is tried.
struct Candidates {
    published: usize,
    candidates: Vec<i64>,
    at: usize,
}

/// Attribute, time of day and day of shifted dates.
type Dates = Vec<(usize, String, i64)>;

impl Offsets {
    fn new(c: &Comparison<'_>, masks: &Masks, mapping: &Mapping) -> Self {
        let mut of: Vec<Option<Candidates>> = (0..c.input.data.len()).map(|_| None).collect();
        let bound = i64::from(masks.days().unwrap_or(0));
        for pair in &mapping.pairs {
            let (published, input) = (pair.published as usize, pair.input as usize);
            let candidates =
                fitting(&dates(&c.published, masks, published), &dates(&c.input, masks, input), bound);
            of[input] = Some(Candidates { published, candidates, at: 0 });
        }
        Offsets { of }
    }

    fn of(&self, record: usize) -> Option<&Candidates> {
        self.of[record].as_ref()
    }

    /// The published records that no number of days fits.
    fn unfit(&self) -> Vec<u32> {
        let none = self.of.iter().flatten().filter(|pair| pair.candidates.is_empty());
        let mut records: Vec<u32> = none.map(|pair| pair.published as u32).collect();
        records.sort_unstable();
        records
    }

    /// Tries another number for these; false if there is none for any.
    fn next(&mut self, astray: &BTreeSet<u32>) -> bool {
        let mut more = false;
        for pair in self.of.iter_mut().flatten().filter(|pair| astray.contains(&(pair.published as u32))) {
            if pair.at + 1 < pair.candidates.len() {
                pair.at += 1;
                more = true;
            }
        }
        more
    }
}

/// The shifted dates of a record. What is no date fits nothing.
fn dates(side: &Side<'_>, masks: &Masks, record: usize) -> Dates {
    let mut found = Vec::new();
    for vertex in side.data.vertices(record) {
        for &id in &side.data.schema().class(side.data.class(vertex)).attributes {
            let declared = side.binding.attributes[id.index()].filter(|&d| masks.shifts[d].is_some());
            let (Some(declared), code) = (declared, side.data.value(vertex, id)) else { continue };
            if code == MISSING {
                continue;
            }
            let text = side.data.dictionary(id).text(code);
            let (day, rest) = date(text).unwrap_or((i64::MIN / 2, text));
            found.push((declared, rest.to_owned(), day));
        }
    }
    found
}

/// The numbers of days within the bound by which every published date differs from one of the input.
fn fitting(published: &Dates, input: &Dates, bound: i64) -> Vec<i64> {
    let mut fits: Option<BTreeSet<i64>> = None;
    for (declared, rest, day) in published {
        let same = input.iter().filter(|(d, r, _)| d == declared && r == rest);
        let own: BTreeSet<i64> =
            same.map(|(_, _, of)| day - of).filter(|days| (-bound..=bound).contains(days)).collect();
        fits = Some(match fits {
            None => own,
            Some(before) => before.intersection(&own).copied().collect(),
        });
    }
    fits.map_or_else(|| vec![0], |fits| fits.into_iter().collect())
}
