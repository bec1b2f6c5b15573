//! What stands in other columns of the same records: a city below its country.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Hierarchy;
use super::tree_builder::TreeBuilder;
use crate::words::{count, plural};

/// A value with what stands above it, nearest first; none where a record does not tell.
pub type Chain<'a> = (&'a str, Vec<Option<&'a str>>);

/// Builds the hierarchy out of what all records tell. A value for which none tells what is above it hangs directly below
/// the root. What contradicts itself is the error, in words and without values.
pub fn from(chains: &[Chain<'_>]) -> Result<Hierarchy, String> {
    let levels = chains.iter().map(|(_, above)| above.len()).max().unwrap_or(0);
    // Per level what is above what; the first level is that of the values themselves.
    let mut above: Vec<BTreeMap<&str, &str>> = vec![BTreeMap::new(); levels];
    let mut torn: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); levels];
    for (value, chain) in chains {
        let mut below = *value;
        for (level, upper) in chain.iter().enumerate() {
            // Where one is not told, the next stands in for it.
            let Some(upper) = upper else { continue };
            if *above[level].entry(below).or_insert(upper) != *upper {
                torn[level].insert(below);
            }
            below = upper;
        }
    }
    if let Some(level) = torn.iter().position(|torn| !torn.is_empty()) {
        let (of, whose) = match level {
            0 => ("value", "of this column"),
            _ => ("label", "of the level above"),
        };
        return Err(format!(
            "{} {whose} of {} stand below several others",
            plural(torn[level].len(), of),
            count(above[level].len())
        ));
    }
    plant(chains, &above)
}

fn plant(chains: &[Chain<'_>], above: &[BTreeMap<&str, &str>]) -> Result<Hierarchy, String> {
    let mut told: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (value, above) in chains {
        told.entry(value).or_default().extend(above.iter().flatten());
    }
    let mut builder = TreeBuilder::new();
    let mut elsewhere = 0;
    for (value, told) in told {
        let mut path = vec![value];
        for level in above {
            path.extend(path.last().and_then(|below| level.get(below)));
        }
        let mut place = Ok(TreeBuilder::ROOT);
        for label in path.iter().rev() {
            place = place.and_then(|parent| builder.child(parent, label));
        }
        // A record that skips a level must not contradict those that do not.
        elsewhere += usize::from(place.is_err() || told.iter().any(|label| !path.contains(label)));
    }
    match elsewhere {
        0 => Ok(builder.finish()),
        n => Err(format!(
            "{} or what is above them are called like something at another place",
            plural(n, "value")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(h: &Hierarchy, label: &str) -> Vec<String> {
        let start = h.node(label).unwrap_or_else(|| panic!("{label} is no node"));
        std::iter::successors(Some(start), |&n| h.parent(n)).map(|n| h.label(n).to_owned()).collect()
    }

    #[test]
    fn cities_stand_below_their_countries() {
        let h = from(&[
            ("Bonn", vec![Some("NRW"), Some("DE")]),
            ("Lyon", vec![None, Some("FR")]),
            ("Bonn", vec![Some("NRW"), None]),
            ("Köln", vec![Some("NRW"), Some("DE")]),
            ("Ys", vec![None, None]),
        ])
        .expect("built");
        assert_eq!(path(&h, "Bonn"), ["Bonn", "NRW", "DE", "*"]);
        assert_eq!(path(&h, "Lyon"), ["Lyon", "FR", "*"]);
        assert_eq!(path(&h, "Ys"), ["Ys", "*"]);
    }

    #[test]
    fn a_city_may_be_called_like_its_country() {
        let h = from(&[("Luxembourg", vec![Some("Luxembourg")]), ("Clervaux", vec![Some("Luxembourg")])]);
        let (h, leaves) = h.expect("built").bind(["Luxembourg", "Clervaux"]).expect("covered");
        assert_eq!(h.label(leaves[0]), "Luxembourg (unspecified)");
        assert_eq!(path(&h, "Clervaux"), ["Clervaux", "Luxembourg", "*"]);
    }

    #[test]
    fn contradictions_are_counted() {
        let torn =
            from(&[("Paris", vec![Some("FR")]), ("Paris", vec![Some("US")]), ("Bonn", vec![Some("DE")])]);
        assert_eq!(torn.expect_err("two"), "1 value of this column of 2 stand below several others");
        let torn = from(&[("a", vec![Some("x"), Some("1")]), ("b", vec![Some("x"), Some("2")])]);
        assert_eq!(torn.expect_err("two"), "1 label of the level above of 1 stand below several others");
        let crossed = from(&[("Mexico", vec![Some("US")]), ("Leon", vec![Some("Mexico")])]);
        assert!(crossed.expect_err("crossed").contains("at another place"));
        let skipped = from(&[("Bonn", vec![Some("NRW"), Some("DE")]), ("Bonn", vec![None, Some("FR")])]);
        assert!(skipped.is_err());
    }
}
