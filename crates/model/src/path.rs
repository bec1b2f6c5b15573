//! Paths of attributes, as policies write them: `visits[].diagnoses[].disease`, `bio.birthday`, `tags[]`; of XML
//! `visit[]/diagnosis[]/code`, `bio/@born`.
//!
//! A key that itself contains the separator, `[`, `]` or `"`, ends in `{}` or is empty, is written in double quotes:
//! `"a.b".c`.
//!
//! An object whose keys are data is a **map**: `scores{}` is the class of its entries, `scores{}.{key}` what stands before
//! the colon, and `scores{}.{value}` what stands behind it where that is no object. A map says how a document is read; as
//! a class it is what the array `scores[]` of objects with `key` and `value` would be.
//!
//! `entry[resource=Condition]` is one [kind](crate::kind) of the class `entry[]`.

use crate::kind::{ClassKind, read_quoted};

/// What separates the keys of a path. Which it is follows from the data's format: dots belong to XML's names, slashes
/// to JSON's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// `visits[].hospital`
    #[default]
    Dots,
    /// `visit[]/hospital`, `visit[]/@rate`; the text of the record's own element is `.`
    Slashes,
}

impl Notation {
    pub(crate) fn separator(self) -> char {
        match self {
            Notation::Dots => '.',
            Notation::Slashes => '/',
        }
    }

    /// The path of a class below another: `visits[]` and `diagnoses` give `visits[].diagnoses[]`.
    pub fn class_path(self, parent: &str, name: &[String]) -> String {
        let mut path = self.attribute_path(parent, name);
        path.push_str("[]");
        path
    }

    /// The path of the entries of a map.
    pub fn map_path(self, parent: &str, name: &[String]) -> String {
        let mut path = self.attribute_path(parent, name);
        path.push_str(MAP);
        path
    }

    /// The path of an attribute of a class.
    pub fn attribute_path(self, class: &str, name: &[String]) -> String {
        if self == Notation::Slashes && class.is_empty() && name.is_empty() {
            return OWN_TEXT.to_owned();
        }
        let mut path = class.to_owned();
        if !class.is_empty() && !name.is_empty() {
            path.push(self.separator());
        }
        match name.split_first() {
            Some((first, rest))
                if class.ends_with(MAP) && [ENTRY_KEY, ENTRY_VALUE].contains(&first.as_str()) =>
            {
                path.push_str(&format!("{{{first}}}"));
                if !rest.is_empty() {
                    path.push(self.separator());
                }
                push_keys(&mut path, rest, self.separator());
            }
            _ => push_keys(&mut path, name, self.separator()),
        }
        path
    }
}

/// What the key of a map's entry is called.
pub const ENTRY_KEY: &str = "key";
/// What the value of a map's entry is called where it is no object.
pub const ENTRY_VALUE: &str = "value";
/// What stands behind the name of a map.
const MAP: &str = "{}";

/// The path of the text of a record's own element.
const OWN_TEXT: &str = ".";

/// A path taken apart: the classes on the way (each the key path of an array inside its parent's vertex)
/// and the attribute's own key path inside the last class's vertex, empty for the elements of an array of scalars.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributePath {
    /// Key paths of the arrays, outermost first.
    pub classes: Vec<Vec<String>>,
    /// Key path of the scalar.
    pub name: Vec<String>,
}

impl AttributePath {
    /// Reads a path with dots. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_in(Notation::Dots, text)
    }

    /// Reads a path. The error says what is wrong with it.
    pub fn parse_in(notation: Notation, text: &str) -> Result<Self, String> {
        Self::parse_with_maps(notation, text).map(|(path, _)| path)
    }

    /// Reads a path, and says of each class whether it is written as a map.
    pub fn parse_with_maps(notation: Notation, text: &str) -> Result<(Self, Vec<bool>), String> {
        let (path, marks) = Self::parse_marked(notation, text)?;
        Ok((path, marks.iter().map(|mark| *mark == Mark::Map).collect()))
    }

    /// Reads a path, and says of each class how it is written.
    pub fn parse_marked(notation: Notation, text: &str) -> Result<(Self, Vec<Mark>), String> {
        let (mut path, mut maps) = (AttributePath::default(), Vec::new());
        let mut rest = text;
        if rest.is_empty() {
            return Err("the path is empty".into());
        }
        if notation == Notation::Slashes && text == OWN_TEXT {
            return Ok((path, maps));
        }
        let separator = notation.separator();
        loop {
            let mut keys = Vec::new();
            if !rest.starts_with('[') && !rest.starts_with(MAP) {
                loop {
                    let (key, after) = match entry_part(rest)
                        .filter(|_| keys.is_empty() && maps.last() == Some(&Mark::Map))
                    {
                        Some(part) => part,
                        None => read_key(rest, separator)?,
                    };
                    keys.push(key);
                    rest = after;
                    match rest.strip_prefix(separator) {
                        Some(after) => rest = after,
                        None => break,
                    }
                }
            }
            if rest.is_empty() {
                path.name = keys;
                return Ok((path, maps));
            }
            let (mark, after) = read_mark(notation, rest)?;
            if let Mark::Kind(kind) = &mark {
                if keys.is_empty() {
                    return Err("a kind needs the name of its class before `[`".into());
                }
                keys = kind.name(notation, &keys);
            }
            rest = after;
            maps.push(mark);
            path.classes.push(keys);
            if rest.is_empty() {
                return Ok((path, maps));
            }
            if let Some(after) = rest.strip_prefix(separator) {
                rest = after;
                if rest.is_empty() || rest.starts_with('[') || rest.starts_with(MAP) {
                    return Err(format!("a `{separator}` must be followed by a key"));
                }
            } else if !rest.starts_with('[') && !rest.starts_with(MAP) {
                return Err(format!("`[]` and `{{}}` must be followed by `{separator}` or the end"));
            }
        }
    }
}

/// How a class is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `visits[]`
    Array,
    /// `scores{}`
    Map,
    /// `entry[resource=Condition]`
    Kind(ClassKind),
}

/// What stands behind the name of a class, and what follows.
fn read_mark(notation: Notation, text: &str) -> Result<(Mark, &str), String> {
    if let Some(rest) = text.strip_prefix(MAP) {
        return Ok((Mark::Map, rest));
    }
    if let Some(rest) = text.strip_prefix("[]") {
        return Ok((Mark::Array, rest));
    }
    ClassKind::read(notation, text).map(|(kind, rest)| (Mark::Kind(kind), rest))
}

/// The keys before a `=`, and what follows.
pub(crate) fn read_keys(notation: Notation, text: &str) -> Result<(Vec<String>, &str), String> {
    let (mut keys, mut rest) = (Vec::new(), text);
    loop {
        let (key, after) = match rest.starts_with('"') {
            true => read_quoted(rest)?,
            false => {
                let end = rest.find([notation.separator(), '[', ']', '"', '=']).unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        if key.is_empty() {
            return Err(
                "`[` must be followed by `]`, as in `key[]`, or by a value that tells a kind: `key[name=value]`"
                    .into(),
            );
        }
        keys.push(key);
        rest = after;
        match rest.strip_prefix(notation.separator()) {
            Some(after) => rest = after,
            None => return Ok((keys, rest)),
        }
    }
}

/// Whether a path as policies write it leads through a class: what stands there may come many times.
pub fn leads_through_class(path: &str) -> bool {
    path.contains("[]") || path.contains(MAP) || has_kind(path)
}

/// Whether a path names a [kind](crate::kind) of a class.
pub fn has_kind(path: &str) -> bool {
    [Notation::Dots, Notation::Slashes].into_iter().any(|notation| {
        AttributePath::parse_marked(notation, path)
            .is_ok_and(|(_, marks)| marks.iter().any(|mark| matches!(mark, Mark::Kind(_))))
    })
}

/// `{key}` or `{value}` at the start of a text, and what follows.
fn entry_part(text: &str) -> Option<(String, &str)> {
    let part = [ENTRY_KEY, ENTRY_VALUE].into_iter();
    let (part, rest) = part.filter_map(|p| Some((p, text.strip_prefix(&format!("{{{p}}}"))?))).next()?;
    Some((part.to_owned(), rest))
}

fn read_key(text: &str, separator: char) -> Result<(String, &str), String> {
    if text.starts_with('"') {
        return read_quoted(text);
    }
    let end = text.find([separator, '[', ']', '"']).unwrap_or(text.len());
    if end == 0 {
        return Err("a key is empty (write it `\"\"` if it really is)".into());
    }
    if text[end..].starts_with([']', '"']) {
        return Err("a key that contains `]` or `\"` must be quoted".into());
    }
    // The braces of a map are no part of its name.
    let end = end - if text[..end].ends_with(MAP) { MAP.len() } else { 0 };
    Ok((text[..end].to_owned(), &text[end..]))
}

fn push_keys(out: &mut String, keys: &[String], separator: char) {
    for (i, key) in keys.iter().enumerate() {
        if i > 0 {
            out.push(separator);
        }
        let braced = key.ends_with(MAP) || key.starts_with('{');
        if key.is_empty() || braced || key.contains([separator, '[', ']', '"']) {
            out.push('"');
            for c in key.chars() {
                if matches!(c, '"' | '\\') {
                    out.push('\\');
                }
                out.push(c);
            }
            out.push('"');
        } else {
            out.push_str(key);
        }
    }
}

/// The path of a class below another, with dots.
pub fn class_path(parent: &str, name: &[String]) -> String {
    Notation::Dots.class_path(parent, name)
}

/// The path of an attribute of a class, with dots.
pub fn attribute_path(class: &str, name: &[String]) -> String {
    Notation::Dots.attribute_path(class, name)
}

impl std::fmt::Display for AttributePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let class = self.classes.iter().fold(String::new(), |path, name| class_path(&path, name));
        f.write_str(&attribute_path(&class, &self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_of_the_specification() {
        for text in
            ["visits[].diagnoses[].disease", "bio.birthday", "tags[]", "a[][]", "a[][].b", "\"a.b\".c[].\"\""]
        {
            assert_eq!(AttributePath::parse(text).expect(text).to_string(), text);
        }
        let path = AttributePath::parse("bio.names[].first").expect("a path");
        assert_eq!(path.classes, [["bio", "names"]]);
        assert_eq!(path.name, ["first"]);
    }

    #[test]
    fn paths_of_maps() {
        let parse = |text| AttributePath::parse_with_maps(Notation::Dots, text).expect(text);
        let (path, maps) = parse("a.tiers{}.{key}");
        assert_eq!((path.classes, path.name), (vec![vec!["a".into(), "tiers".into()]], vec!["key".into()]));
        assert_eq!(maps, [true]);
        let (path, maps) = parse("a[]{}.{value}{}.b.c");
        assert_eq!(path.to_string(), "a[][].value[].b.c");
        assert_eq!(maps, [false, true, true]);
        // Elsewhere braces are what they are.
        assert_eq!(parse("a.{key}").0.name, ["a", "{key}"]);
        assert_eq!(parse("\"a{}\".b").0.name, ["a{}", "b"]);
        let map = Notation::Dots.map_path("a[]", &["tiers".into()]);
        assert_eq!(map, "a[].tiers{}");
        assert_eq!(attribute_path(&map, &["key".into()]), "a[].tiers{}.{key}");
        assert_eq!(attribute_path(&map, &["name".into()]), "a[].tiers{}.name");
        assert!(AttributePath::parse("a{}b").is_ok_and(|p| p.name == ["a{}b"]));
        assert!(AttributePath::parse("a{}.").is_err() && AttributePath::parse("a{}.{}").is_err());
    }

    #[test]
    fn paths_of_xml() {
        let parse = |text| AttributePath::parse_in(Notation::Slashes, text);
        let path = parse("visits/visit[]/h:code.system/@rate").expect("a path");
        assert_eq!(path.classes, [["visits", "visit"]]);
        assert_eq!(path.name, ["h:code.system", "@rate"]);
        assert_eq!(parse("tag[]").expect("a path").name, [""; 0]);
        assert_eq!(parse("."), Ok(AttributePath::default()));
        assert_eq!(Notation::Slashes.attribute_path("", &[]), ".");
        assert_eq!(Notation::Slashes.attribute_path("a[]", &["b".into(), "@c".into()]), "a[]/b/@c");
        for text in ["", "/", "a/", "a[]/", "a[].b", "a//b"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn broken_paths_are_explained() {
        for text in ["", ".", "a.", "a[", "a]", "a[].", "a[]b", "a..b", "\"a", "a\"b", "[].a."] {
            assert!(AttributePath::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_keys_survive(
            classes in prop::collection::vec(prop::collection::vec("[a.{}\\[\\]\"\\\\ é]{0,3}", 1..3), 0..3),
            name in prop::collection::vec("[a.{}\\[\\]\"\\\\ é]{0,3}", 1..3),
        ) {
            let path = AttributePath { classes, name };
            prop_assert_eq!(AttributePath::parse(&path.to_string()), Ok(path));
        }
    }
}
