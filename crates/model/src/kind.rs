//! Kinds of a class: vertices that one of their own values tells from the others.
//!
//! `entry[resource=Condition]` are the entries whose `resource` is `Condition`, `section[code/@code=11450-4]` the sections
//! with that code. To everybody but readers and writers such a kind is a class of its own, whose name says the value;
//! what is left is the class `entry[]`.

use crate::path::{Notation, read_keys};

/// A kind of a class.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClassKind {
    /// Keys of the value inside a vertex.
    pub by: Vec<String>,
    /// What the value is.
    pub value: String,
}

impl ClassKind {
    /// Reads what stands from `[` on, and what follows after `]`.
    pub(crate) fn read(notation: Notation, text: &str) -> Result<(Self, &str), String> {
        let inner = text.strip_prefix('[').ok_or("a kind begins with `[`")?;
        let (by, rest) = read_keys(notation, inner)?;
        let rest = rest.strip_prefix('=').ok_or(
            "`[` must be followed by `]`, as in `key[]`, or by a value that tells a kind: `key[name=value]`",
        )?;
        let (value, rest) = match rest.strip_prefix('"') {
            Some(_) => read_quoted(rest)?,
            None => {
                let end = rest.find(']').ok_or("a `[` is not closed")?;
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        let rest = rest.strip_prefix(']').ok_or("a `[` is not closed")?;
        if value.is_empty() {
            return Err("a kind needs a value behind `=`".into());
        }
        Ok((ClassKind { by, value }, rest))
    }

    /// The name of the class that the kind is, if the class of all kinds is called `name`.
    pub fn name(&self, notation: Notation, name: &[String]) -> Vec<String> {
        let mut own = name.to_vec();
        if let Some(last) = own.last_mut() {
            last.push_str(&self.text(notation));
        }
        own
    }

    /// What the class of all kinds is called, if the kind is called `name`.
    pub fn class_of(&self, notation: Notation, name: &[String]) -> Vec<String> {
        let mut class = name.to_vec();
        if let Some(last) = class.last_mut() {
            let end = last.len().saturating_sub(self.text(notation).len());
            last.truncate(end);
        }
        class
    }

    fn text(&self, notation: Notation) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        // The first `=` that is in no quotes stands before the value.
        let key = |key: &String| match key.contains('=') {
            true => quoted(key),
            false => notation.attribute_path("", std::slice::from_ref(key)),
        };
        let by =
            self.by.iter().map(key).collect::<Vec<_>>().join(notation.separator().encode_utf8(&mut [0; 4]));
        let quote = self.value.contains([']', '"']);
        format!("[{by}={}]", if quote { quoted(&self.value) } else { self.value.clone() })
    }

    /// The path of the class that the kind is.
    pub(crate) fn path(&self, notation: Notation, parent: &str, name: &[String]) -> String {
        notation.attribute_path(parent, name) + &self.text(notation)
    }
}

/// Reads a text in quotes, and what follows.
pub(crate) fn read_quoted(text: &str) -> Result<(String, &str), String> {
    let quoted = text.strip_prefix('"').ok_or("a quote is missing")?;
    let mut key = String::new();
    let mut chars = quoted.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Ok((key, &quoted[i + 1..])),
            '\\' => key.push(chars.next().ok_or("a quoted key ends with `\\`")?.1),
            c => key.push(c),
        }
    }
    Err("a quoted key is not closed".into())
}

#[cfg(test)]
mod tests {
    use crate::path::{AttributePath, Mark, Notation};

    #[test]
    fn paths_with_kinds() {
        for (notation, text, name, by, value) in [
            (
                Notation::Dots,
                "a.entry[resource=Condition].code",
                "entry[resource=Condition]",
                "resource",
                "Condition",
            ),
            (Notation::Dots, "entry[x.y=a=b c]", "entry[x.y=a=b c]", "x.y", "a=b c"),
            (
                Notation::Slashes,
                "section[code/@code=11450-4]/title",
                "section[code/@code=11450-4]",
                "code/@code",
                "11450-4",
            ),
            (Notation::Dots, "entry[\"a=b\"=\"x]\\\"\"].c", "entry[\"a=b\"=\"x]\\\"\"]", "a=b", "x]\""),
        ] {
            let (path, marks) = AttributePath::parse_marked(notation, text).expect(text);
            assert_eq!(path.classes[0].last().map(String::as_str), Some(name));
            let Mark::Kind(kind) = &marks[0] else { panic!("no kind: {text}") };
            assert_eq!(
                (notation.attribute_path("", &kind.by).replace('"', ""), kind.value.as_str()),
                (by.to_owned(), value)
            );
        }
        for wrong in ["a[x]", "a[x=", "a[=y].b", "a[x=].b", "[x=y].b", "a[x=y]b", "a[x=\"y].b"] {
            assert!(AttributePath::parse_marked(Notation::Dots, wrong).is_err(), "{wrong}");
        }
        // In quotes it is a name like any.
        let (_, marks) = AttributePath::parse_marked(Notation::Dots, "\"a[x=y]\"[].b").expect("a path");
        assert_eq!(marks, [Mark::Array]);
    }
}
