//! Columns that stand above others: the country of a city, the category of a film.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::hierarchy::Build;
use bosket_model::hierarchy::from::{Chain, from};
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{Dataset, MISSING, Result};

use super::builder::Coarsening;
use super::profile::Profile;
use super::suggest::Suggestion;
use super::topic::Topic;
use super::words::is;

/// Takes the hierarchies of attributes from coarser ones, where each of their values has one of those. `above` names per
/// attribute, by its path, those that may be coarser. A column that has become a level of another is published as that
/// only, so that nothing is said twice.
pub fn take_levels(
    data: &Dataset,
    profile: &Profile,
    above: &[(String, Vec<String>)],
    suggestions: &mut [Suggestion],
    observer: &dyn Observer,
) -> Result<()> {
    let at = |path: &String| profile.attributes.iter().position(|a| a.path == *path);
    let mut above: BTreeMap<usize, Vec<usize>> = (above.iter())
        .filter_map(|(path, others)| Some((at(path)?, others.iter().filter_map(at).collect())))
        .collect();
    for (x, others) in places(profile) {
        above.entry(x).or_default().extend(others);
    }
    let mut levels: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    // What is above comes first, so that its own levels are known.
    let mut waiting: Vec<usize> = above.keys().copied().collect();
    while let Some(place) = waiting.iter().position(|x| above[x].iter().all(|y| !waiting.contains(y))) {
        let x = waiting.remove(place);
        // What must go by its name, or has been left out, goes as a whole.
        let named = Topic::of(&profile.attributes[x].name);
        let private = named.is_some_and(|t| t.singles_out() && t != Topic::Identifier);
        if private || matches!(suggestions[x].role, Role::Drop | Role::Sensitive | Role::Key) {
            continue;
        }
        for &y in &above[&x] {
            let chain: Vec<usize> =
                std::iter::once(y).chain(levels.get(&y).into_iter().flatten().copied()).collect();
            if fits(data, profile, x, &chain, observer)? {
                levels.insert(x, chain);
                break;
            }
        }
    }
    let inner: BTreeSet<usize> = levels.values().flatten().copied().collect();
    for (&x, chain) in levels.iter().filter(|(x, _)| !inner.contains(x)) {
        for &y in above[&x].iter().filter(|y| !inner.contains(y) && !levels.contains_key(y)) {
            if fits(data, profile, x, &[y], observer)? {
                suggestions[y] = Suggestion {
                    role: Role::Drop,
                    reason: format!(
                        "Each value of {} has one here, and another column stands above it already. To publish it beside, \
                         make it quasi with a hierarchy of its own.",
                        profile.attributes[x].path
                    ),
                    hierarchy: None,
                    follows: None,
                };
            }
        }
        let paths: Vec<String> = chain.iter().map(|&y| profile.attributes[y].path.clone()).collect();
        suggestions[x].role = Role::Quasi;
        suggestions[x].follows = None;
        suggestions[x].hierarchy = Some(Coarsening { build: Build::From { paths }, note: None });
        for &y in chain {
            suggestions[y] = Suggestion {
                role: Role::Drop,
                reason: format!(
                    "A level above {}, each value of which has one here, and published as that. To publish it beside, make \
                     it quasi with a hierarchy of its own.",
                    profile.attributes[x].path
                ),
                hierarchy: None,
                follows: None,
            };
        }
    }
    Ok(())
}

/// From this share on, a column is filled where the one below is.
const FILLED: f64 = 0.95;

/// Words for places, from small to large.
const PLACES: [&[&str]; 4] = [
    &["city", "town", "village", "municipality"],
    &["county", "district"],
    &["state", "province", "region"],
    &["country", "nation"],
];

/// Places of the same row, each with the larger ones that are called alike: `ship_city` and `ship_country`, not `country`.
fn places(profile: &Profile) -> Vec<(usize, Vec<usize>)> {
    let place = |i: &usize| {
        let attribute = &profile.attributes[*i];
        let size = |word: &String| PLACES.iter().position(|names| names.iter().any(|name| is(word, name)));
        let mut sizes = attribute.name.own.iter().filter_map(size);
        let rest: Vec<&String> = attribute.name.own.iter().filter(|w| size(w).is_none()).collect();
        let size = sizes.next().filter(|_| sizes.next().is_none())?;
        Some((size, attribute.class, rest))
    };
    let all: Vec<usize> = (0..profile.attributes.len()).collect();
    let larger = |x: &usize| {
        let (size, class, rest) = place(x)?;
        let mut found: Vec<(usize, usize)> = (all.iter())
            .filter_map(|y| Some((place(y)?, *y)))
            .filter(|(other, _)| other.0 > size && other.1 == class && other.2 == rest)
            .map(|(other, y)| (other.0, y))
            .collect();
        found.sort_unstable();
        Some((*x, found.into_iter().map(|(_, y)| y).collect()))
    };
    all.iter().filter_map(larger).collect()
}

/// Whether the levels make a hierarchy of an attribute's values that puts some of them together.
fn fits(
    data: &Dataset,
    profile: &Profile,
    own: usize,
    chain: &[usize],
    observer: &dyn Observer,
) -> Result<bool> {
    let (x, y) = (&profile.attributes[own], &profile.attributes[chain[0]]);
    let same_row = chain.iter().all(|&c| profile.attributes[c].class == x.class);
    if !same_row || y.distinct < 2 || y.distinct >= x.distinct {
        return Ok(false);
    }
    let text = |vertex: usize, attribute: usize| {
        let id = profile.attributes[attribute].id;
        let code = data.value(vertex, id);
        (code != MISSING).then(|| data.dictionary(id).text(code))
    };
    let mut chains: BTreeSet<Chain<'_>> = BTreeSet::new();
    let (mut all, mut filled) = (0usize, 0usize);
    for vertex in (0..data.vertex_count()).filter(|&v| data.class(v) == x.class) {
        observer.go_on()?;
        if let Some(value) = text(vertex, own) {
            let above: Vec<Option<&str>> = chain.iter().map(|&c| text(vertex, c)).collect();
            all += 1;
            filled += usize::from(above.first().is_some_and(Option::is_some));
            chains.insert((value, above));
        }
    }
    // What has no level above can only become `*`.
    if (filled as f64) < FILLED * all as f64 {
        return Ok(false);
    }
    let chains: Vec<Chain<'_>> = chains.into_iter().collect();
    Ok(from(&chains).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::suggest;
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, ClassId, Kind};

    fn levels(rows: &[[&str; 3]]) -> Vec<Suggestion> {
        let mut builder = Builder::new();
        let ids = ["shop", "city", "country"].map(|n| builder.attribute(ClassId::ROOT, &[n.to_owned()]));
        for row in rows {
            builder.begin_record();
            for (id, value) in ids.iter().zip(row) {
                builder.set(*id, Kind::Text, value);
            }
            builder.end_record().expect("set once");
        }
        let data = builder.finish();
        let profile = Profile::new(&data, &Quiet).expect("nobody interrupts");
        let mut found = suggest(&profile, &data, &Quiet).expect("nobody interrupts");
        let above = [("shop", "city"), ("city", "country")].map(|(a, b)| (a.to_owned(), vec![b.to_owned()]));
        take_levels(&data, &profile, &above, &mut found, &Quiet).expect("nobody interrupts");
        found
    }

    #[test]
    fn levels_are_taken_where_each_value_has_one() {
        let found =
            levels(&[["a", "Ulm", "DE"], ["b", "Ulm", "DE"], ["c", "Bonn", "DE"], ["d", "Lyon", "FR"]]);
        assert_eq!(found[0].hierarchy.as_ref().expect("one").toml(), r#"{ from = ["city", "country"] }"#);
        assert_eq!([found[1].role, found[2].role], [Role::Drop, Role::Drop]);
        // Of Paris there are two, so the country is known to be no level of it.
        let found =
            levels(&[["a", "Paris", "FR"], ["b", "Paris", "US"], ["c", "Bonn", "DE"], ["d", "Lyon", "FR"]]);
        assert_eq!(found[0].hierarchy.as_ref().expect("one").toml(), r#"{ from = "city" }"#);
        assert_eq!([found[1].role, found[2].role], [Role::Drop, Role::Quasi]);
    }

    #[test]
    fn a_column_that_is_mostly_empty_is_no_level() {
        let mut builder = Builder::new();
        let ids = ["city", "region", "country"].map(|n| builder.attribute(ClassId::ROOT, &[n.to_owned()]));
        for i in 0..30 {
            builder.begin_record();
            builder.set(ids[0], Kind::Text, &format!("c{}", i % 6));
            if i % 6 < 2 {
                builder.set(ids[1], Kind::Text, &format!("r{}", i % 6));
            }
            builder.set(ids[2], Kind::Text, ["DE", "FR"][i % 2]);
            builder.end_record().expect("set once");
        }
        let data = builder.finish();
        let profile = Profile::new(&data, &Quiet).expect("nobody interrupts");
        let mut found = suggest(&profile, &data, &Quiet).expect("nobody interrupts");
        take_levels(&data, &profile, &[], &mut found, &Quiet).expect("nobody interrupts");
        assert_eq!(found[0].hierarchy.as_ref().expect("one").toml(), r#"{ from = "country" }"#);
        assert_eq!([found[1].role, found[2].role], [Role::Quasi, Role::Drop]);
    }
}
