//! Columns that say what another column of the same vertex says, in other words.

use std::collections::{BTreeSet, HashMap};

use bosket_model::observe::Observer;
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

use super::profile::AttributeProfile;

/// What names of codes end with.
const CODES: &[&str] = &["code", "id", "key", "number", "abbreviation", "abbr", "iso"];
/// What names of their texts, and of what else comes with them, end with.
const TEXTS: &[&str] =
    &["display", "name", "description", "desc", "label", "title", "text", "meaning", "system"];

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
        texts.remove(&code);
        texts
    }
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

/// For each attribute the one that it follows. `may_lead` and `may_follow` say which attributes come into question.
/// Where code and text determine each other the text follows; nothing follows a follower.
pub(super) fn companions(
    data: &Dataset,
    attributes: &[AttributeProfile],
    may_lead: impl Fn(usize) -> bool,
    may_follow: impl Fn(usize) -> bool,
    observer: &dyn Observer,
) -> Result<Vec<Option<usize>>> {
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
    Ok(follows)
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
        companions(&data, &profile.attributes, |_| true, |_| true, &Quiet).expect("nobody interrupts")
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
    fn the_data_has_the_last_word() {
        assert_eq!(found(["code", "display"], &[["1", "a"], ["1", "b"], ["2", "b"]]), [None, None]);
        assert_eq!(found(["code", "display"], &[["1", "a"], ["-", "b"], ["2", "a"]]), [None, None]);
    }
}
