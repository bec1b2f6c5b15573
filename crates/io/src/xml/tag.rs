//! The attributes of a start tag.

use std::ops::Range;

use super::mistake::{Mistake, What};
use super::names::{is_blank, is_qualified};
use super::reference::{Entities, check};

/// Where an attribute is in the text of its tag.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) name: Range<usize>,
    pub(super) value: Range<usize>,
}

/// Finds the attributes in a tag, whose name ends at `from`. Places count from the start of `tag`.
pub(super) fn attributes(tag: &str, from: usize, out: &mut Vec<Span>) -> Result<(), Mistake> {
    out.clear();
    let bytes = tag.as_bytes();
    let mut at = from;
    loop {
        let blank = at;
        while bytes.get(at).copied().is_some_and(is_blank) {
            at += 1;
        }
        if at == bytes.len() {
            return Ok(());
        }
        let name = at;
        while bytes.get(at).is_some_and(|&b| b != b'=' && !is_blank(b)) {
            at += 1;
        }
        let name = name..at;
        while bytes.get(at).copied().is_some_and(is_blank) {
            at += 1;
        }
        if blank == name.start || name.is_empty() || bytes.get(at) != Some(&b'=') {
            return Err(What::AttributeSyntax.at(name.start));
        }
        at += 1;
        while bytes.get(at).copied().is_some_and(is_blank) {
            at += 1;
        }
        let quote = match bytes.get(at) {
            Some(&quote @ (b'"' | b'\'')) => quote,
            _ => return Err(What::AttributeSyntax.at(name.start)),
        };
        let value = at + 1;
        let Some(length) = memchr::memchr(quote, &bytes[value..]) else {
            return Err(What::AttributeSyntax.at(name.start));
        };
        at = value + length + 1;
        out.push(Span { name, value: value..value + length });
    }
}

/// Refuses names that are none, and a name that comes twice.
pub(super) fn check_names(tag: &str, spans: &[Span]) -> Result<(), Mistake> {
    for (i, span) in spans.iter().enumerate() {
        let name = &tag[span.name.clone()];
        if spans[..i].iter().any(|s| tag[s.name.clone()] == *name) {
            return Err(What::AttributeTwice(name.to_owned()).at(span.name.start));
        }
        if !is_qualified(name) {
            return Err(What::BadName("an attribute").at(span.name.start));
        }
    }
    Ok(())
}

/// The value of an attribute: references resolved, each line end or tab a blank.
pub(super) fn value<'t>(
    tag: &'t str,
    span: &Span,
    entities: &Entities,
    scratch: &'t mut String,
) -> Result<&'t str, Mistake> {
    let raw = &tag[span.value.clone()];
    let start = span.value.start;
    if let Some(at) = memchr::memchr(b'<', raw.as_bytes()) {
        return Err(What::LessThan.at(start + at));
    }
    // `]]>` may stand in an attribute.
    check(raw, false).map_err(|(what, at)| what.at(start + at))?;
    if !raw.bytes().any(|b| matches!(b, b'&' | b'\n' | b'\r' | b'\t')) {
        return Ok(raw);
    }
    scratch.clear();
    let mut rest = raw;
    while let Some(at) = rest.find(['&', '\n', '\r', '\t']) {
        scratch.push_str(&rest[..at]);
        let here = start + raw.len() - rest.len() + at;
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('&') {
            let Some((name, after)) = after.split_once(';') else {
                return Err(What::Ampersand.at(here));
            };
            scratch.push(entities.resolve(name).map_err(|what| what.at(here))?);
            rest = after;
        } else {
            scratch.push(' ');
            rest = rest.strip_prefix("\r\n").unwrap_or(&rest[1..]);
        }
    }
    scratch.push_str(rest);
    Ok(scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tag: &str) -> Result<Vec<(String, String)>, Mistake> {
        let mut spans = Vec::new();
        attributes(tag, 1, &mut spans)?;
        check_names(tag, &spans)?;
        let mut scratch = String::new();
        let name = |s: &Span| tag[s.name.clone()].to_owned();
        spans
            .iter()
            .map(|s| Ok((name(s), value(tag, s, &Entities::default(), &mut scratch)?.to_owned())))
            .collect()
    }

    #[test]
    fn attributes_of_all_kinds() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(read("a"), Ok(vec![]));
        assert_eq!(read("a "), Ok(vec![]));
        assert_eq!(
            read("a b = 'x\"y'\n h:c=\"\" d='a\r\nb\tc&#10;&lt;&#x41;]]>'"),
            Ok(vec![pair("b", "x\"y"), pair("h:c", ""), pair("d", "a b c\n<A]]>")])
        );
    }

    #[test]
    fn attributes_with_mistakes() {
        let twice = What::AttributeTwice("b".into());
        for (tag, what, at) in [
            ("a b", What::AttributeSyntax, 2),
            ("a b=c", What::AttributeSyntax, 2),
            ("a b='c", What::AttributeSyntax, 2),
            ("a b='1'c='2'", What::AttributeSyntax, 7),
            ("a ='1'", What::AttributeSyntax, 2),
            ("a b='1' b='2'", twice, 8),
            ("a 1='1'", What::BadName("an attribute"), 2),
            ("a b='<'", What::LessThan, 5),
            ("a b='x&y'", What::Ampersand, 6),
            ("a b='x&y;'", What::Undeclared { dtd: false }, 6),
            ("a b='x\u{1}'", What::Character, 6),
        ] {
            assert_eq!(read(tag), Err(what.at(at)), "{tag}");
        }
    }
}
