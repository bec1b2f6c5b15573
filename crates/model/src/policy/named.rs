//! The files and databases that a policy names, wherever they stand and however that is written in TOML.

use super::describe::{Key, NamedKind, Section, Type};
use super::keys::ROOT;
use super::node::{Kind, Node, parse};

/// Something outside of a policy that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The key, by its path: `source.table.path`.
    pub key: String,
    /// What it is.
    pub kind: NamedKind,
    /// What stands there.
    pub text: String,
}

/// All that a policy names, in its order; none where the text is no TOML. It asks the table of keys and nothing else, so it
/// works for policies with errors, too.
pub fn named(text: &str) -> Option<Vec<Named>> {
    let root = parse(text, 0).ok()?;
    let mut found = Vec::new();
    section(&ROOT, &root, "", &mut found);
    Some(found)
}

fn section(section: &'static Section, node: &Node, path: &str, found: &mut Vec<Named>) {
    for entry in node.entries() {
        let Some(key) = section.key(&entry.key) else { continue };
        let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        below((key, &key.kind), &entry.value, &path, found);
    }
}

/// What stands under a key. Of alternatives all are followed: the check of the policy chooses among them, not this.
fn below((key, kind): (&'static Key, &'static Type), node: &Node, path: &str, found: &mut Vec<Named>) {
    match (kind, &node.kind) {
        (Type::Text, Kind::Str(text)) => {
            found.extend(key.names.map(|kind| Named { key: path.to_owned(), kind, text: text.clone() }));
        }
        (Type::AnyOf(kinds), _) => kinds.iter().for_each(|kind| below((key, kind), node, path, found)),
        (Type::Named(_, kind), _) => below((key, kind), node, path, found),
        (Type::List { of, .. }, Kind::Array(items)) => {
            items.iter().for_each(|item| below((key, of), item, path, found));
        }
        // A list where one table is meant, or the other way round, is an error that somebody else reports.
        (_, Kind::Array(items)) => items.iter().for_each(|item| below((key, kind), item, path, found)),
        (Type::Table(inner) | Type::Tables(inner), Kind::Table(_)) => section(inner, node, path, found),
        (Type::Build(all), Kind::Table(_)) => all.iter().for_each(|one| section(one, node, path, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(policy: &str) -> Vec<String> {
        let mut all: Vec<String> = named(policy).expect("TOML").into_iter().map(|one| one.text).collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn inline_arrays_do_not_hide_what_they_name() {
        for policy in [
            "[[attribute]]\npath = 'a'\nhierarchy = 'out.csv'\n",
            "attribute = [{ path = 'a', hierarchy = 'out.csv' }]\n",
            "attribute = [{ path = 'a', hierarchy = { build = 'icd10', table = 'out.csv' } }]\n",
            "attribute = [{ path = 'a', hierarchy.table = 'out.csv' }]\n",
            "[[attribute]]\npath = 'a'\nhierarchy.build = 'icd10'\nhierarchy.table = \"out\\u002ecsv\"\n",
            "[[attribute]]\n[attribute.hierarchy]\ntable = 'out.csv'\n",
            "attribute = { path = 'a', hierarchy = 'out.csv' }\n",
            "source = { table = [{ name = 't', path = 'out.csv' }] }\n",
            "source.lookup = [{ path = 'out.csv' }]\n",
            "'source'.\"path\" = 'out.csv'\n",
            "[release]\nearlier = [{ input = 'out.csv' }]\n",
            "release = { earlier = [{ mapping = 'out.csv' }] }\n",
            "release.earlier = [{ certificate = 'out.csv' }, { publication = 'out.csv' }]\n",
            "[publish]\nmapping = 'out.csv'\n",
            "publish = { report = 'out.csv' }\n",
        ] {
            assert_eq!(texts(policy), ["out.csv"], "{policy}");
        }
    }

    #[test]
    fn databases_are_told_from_files() {
        let all = named("source.url = 'postgres://a'\npublish = { url = 'postgres://b' }\n").expect("TOML");
        assert!(all.iter().all(|one| one.kind == NamedKind::Database));
        assert_eq!(all.iter().map(|one| one.key.as_str()).collect::<Vec<_>>(), ["source.url", "publish.url"]);
    }

    #[test]
    fn paths_of_attributes_are_no_files() {
        assert!(
            texts("[source]\nrecord = 'a/b'\n[[attribute]]\npath = 'a'\nhierarchy = { build = 'prefix' }\n")
                .is_empty()
        );
    }

    /// A key that names files and is not marked would be one that nobody looks at.
    #[test]
    fn every_key_that_is_resolved_as_a_file_is_marked() {
        let unmarked = |section: &'static Section| {
            let says =
                |about: &str| ["file", "folder", "XSD", "HTML"].iter().any(|word| about.contains(word));
            let of_text = |kind: &Type| matches!(kind, Type::Text);
            let keys =
                section.keys.iter().filter(move |k| of_text(&k.kind) && says(k.about) && k.names.is_none());
            keys.map(|key| key.name).collect::<Vec<_>>()
        };
        use super::super::keys::{ATTRIBUTE, BUILDERS, LOOKUP, PUBLISH, SOURCE, TABLE};
        let all = [&SOURCE, &TABLE, &LOOKUP, &ATTRIBUTE, &PUBLISH].into_iter().chain(&BUILDERS);
        assert_eq!(all.flat_map(unmarked).collect::<Vec<_>>(), Vec::<&str>::new());
    }
}
