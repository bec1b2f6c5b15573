//! The words that names are made of.

use bosket_model::path::{ENTRY_KEY, ENTRY_VALUE};
use bosket_model::schema::Attribute;
use bosket_model::{ClassId, Schema};

/// The words of a key in lower case: `bornCountryCode`, `born_country-code` and `BornCountryCODE` are all
/// `born country code`.
pub(super) fn words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let chars: Vec<char> = key.chars().collect();
    let mut inside = false;
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            inside = false;
            continue;
        }
        let before = i.checked_sub(1).map(|b| chars[b]);
        let starts = before.is_none_or(|b| {
            let hump = c.is_uppercase() && b.is_lowercase();
            let after_capitals =
                c.is_uppercase() && b.is_uppercase() && chars.get(i + 1).is_some_and(|n| n.is_lowercase());
            hump || after_capitals || c.is_numeric() != b.is_numeric()
        });
        if !inside || starts {
            words.push(String::new());
        }
        inside = true;
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// Whether a word of a name is the one looked for, or its plural.
pub(super) fn is(word: &str, wanted: &str) -> bool {
    let Some(ending) = word.strip_prefix(wanted) else {
        let stem = wanted.strip_suffix('y');
        return stem.is_some_and(|s| word.strip_prefix(s) == Some("ies"));
    };
    matches!(ending, "" | "s" | "es")
}

/// Attributes of XML that hold what their element is called after.
const VALUES: [&str; 3] = ["@value", "@V", "@extension"];

/// An attribute's name, taken apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Name {
    /// Words of the last key alone.
    pub(super) last: Vec<String>,
    /// Words of all keys inside the vertex; of the array's keys for an array of scalars.
    pub(super) own: Vec<String>,
    /// Words of the class's keys; empty for the record itself.
    pub(super) class: Vec<String>,
    /// Words of the first key inside the vertex, if it is that of an object.
    pub(super) object: Vec<String>,
}

impl Name {
    pub(super) fn new(schema: &Schema, attribute: &Attribute) -> Self {
        let class = schema.class(attribute.class);
        let mut keys = attribute.name.as_slice();
        // In XML the element's name says what stands in such an attribute.
        while let [above @ .., last] = keys
            && VALUES.contains(&last.as_str())
        {
            keys = above;
        }
        // The keys and values of a map go by its name.
        let part = |last: &str| last == ENTRY_KEY || last == ENTRY_VALUE;
        if class.path.ends_with("{}") && matches!(keys, [only] if part(only)) {
            keys = &[];
        }
        let keys = if keys.is_empty() { &class.name } else { keys };
        let all = |keys: &[String]| keys.iter().flat_map(|k| words(k)).collect::<Vec<_>>();
        Name {
            last: keys.last().map(|k| words(k)).unwrap_or_default(),
            own: all(keys),
            class: if attribute.class == ClassId::ROOT { Vec::new() } else { all(&class.name) },
            object: if keys.len() > 1 { words(&keys[0]) } else { Vec::new() },
        }
    }

    #[cfg(test)]
    pub(super) fn of(path: &str) -> Self {
        use bosket_model::path::{AttributePath, Notation};
        let notation = if path.contains('/') { Notation::Slashes } else { Notation::Dots };
        let parsed = AttributePath::parse_in(notation, path).expect("a path");
        let mut builder = bosket_model::Builder::new();
        let class = parsed.classes.iter().fold(ClassId::ROOT, |above, name| builder.class(above, name));
        let id = builder.attribute(class, &parsed.name);
        Name::new(builder.schema(), builder.schema().attribute(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_all_spellings() {
        for (key, expected) in [
            ("bornCountryCode", "born country code"),
            ("born_country-code", "born country code"),
            ("BORN.COUNTRY code", "born country code"),
            ("patientID", "patient id"),
            ("IDNumber", "id number"),
            ("address1", "address 1"),
            ("icd10", "icd 10"),
            ("größe", "größe"),
            ("__", ""),
            ("", ""),
        ] {
            assert_eq!(words(key).join(" "), expected, "{key}");
        }
    }

    #[test]
    fn plurals_are_the_same_word() {
        for (word, wanted) in
            [("phones", "phone"), ("addresses", "address"), ("cities", "city"), ("sex", "sex")]
        {
            assert!(is(word, wanted), "{word}");
        }
        for (word, wanted) in [("status", "state"), ("sextant", "sex"), ("page", "age"), ("citi", "city")] {
            assert!(!is(word, wanted), "{word}");
        }
    }

    #[test]
    fn keys_and_classes_are_told_apart() {
        let name = Name::of("visits[].code.display");
        assert_eq!((name.last.join(" "), name.own.join(" ")), ("display".into(), "code display".into()));
        assert_eq!((name.class.join(" "), name.object.join(" ")), ("visits".into(), "code".into()));
        assert_eq!(Name::of("name/family/@value").last, ["family"]);
        assert_eq!(Name::of("given[]/@value").last, ["given"]);
        let name = Name::of("id.fec[]");
        assert_eq!((name.own.join(" "), name.object.join(" ")), ("id fec".into(), "id".into()));
    }
}
