//! Where in a record a mistake is, found by reading the record once more: paths cost nothing while all is well.

use bosket_model::path::{attribute_path, class_path};

use super::error::Error;
use super::parser::{Parser, Token};

/// Longer paths are cut off; a record that is far too deep has a path that is far too long.
const LONGEST: usize = 60;

/// The path of the value in which the text stops being JSON; none if that is the record itself.
pub(crate) fn path_of_mistake(text: &str) -> Option<String> {
    let mut found = None;
    // The mistake itself is known; only its place is asked for.
    let _ = walk(&mut Parser::new(text), "", &mut Vec::new(), &mut found);
    found.filter(|path| !path.is_empty()).map(|path| match path.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &path[..end]),
        None => path,
    })
}

fn walk(
    parser: &mut Parser<'_>,
    class: &str,
    keys: &mut Vec<String>,
    found: &mut Option<String>,
) -> Result<(), Error> {
    let result = inside(parser, class, keys, found);
    if result.is_err() && found.is_none() {
        *found = Some(attribute_path(class, keys));
    }
    result
}

fn inside(
    parser: &mut Parser<'_>,
    class: &str,
    keys: &mut Vec<String>,
    found: &mut Option<String>,
) -> Result<(), Error> {
    match parser.value()? {
        Token::Object => {
            while let Some(key) = parser.key()? {
                keys.push(key.to_owned());
                walk(parser, class, keys, found)?;
                keys.pop();
            }
        }
        Token::Array => {
            let class = class_path(class, keys);
            while parser.element()? {
                walk(parser, &class, &mut Vec::new(), found)?;
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::path_of_mistake;

    #[test]
    fn the_innermost_value_is_named() {
        for (text, path) in [
            (r#"{"a": NaN}"#, Some("a")),
            (r#"{"a": {"b": [1, {"c.d": 01}]}}"#, Some(r#"a.b[]."c.d""#)),
            (r#"{"a": [1, tru"#, Some("a[]")),
            (r#"{"a": 1, "b": "open"#, Some("b")),
            (r#"{"a": 1, b: 2}"#, None),
            (r#"{"a": {"b": 1,}}"#, Some("a")),
            ("[[NaN]]", Some("[][]")),
            ("NaN", None),
            (r#"{"a": 1}"#, None),
        ] {
            assert_eq!(path_of_mistake(text).as_deref(), path, "{text}");
        }
    }

    #[test]
    fn deep_paths_are_cut_off() {
        let path = path_of_mistake(&"{\"é\":".repeat(5_000)).expect("inside");
        assert_eq!(path.chars().count(), super::LONGEST + 1);
        assert!(path.starts_with("é.é.") && path.ends_with('…'));
    }
}
