//! Which characters XML allows, and which names.

/// Whether a character may stand in a document at all.
pub(super) fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Where the first character is that may not stand in a document.
pub(super) fn forbidden(text: &str) -> Option<usize> {
    text.char_indices().find(|&(_, c)| !is_char(c)).map(|(i, _)| i)
}

/// Blank as XML means it.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether the text is blanks only.
#[inline]
pub(super) fn all_blank(text: &str) -> bool {
    text.bytes().all(is_blank)
}

/// Whether this is a name with at most one prefix.
pub(super) fn is_qualified(name: &str) -> bool {
    match name.split_once(':') {
        None => is_plain(name),
        Some((prefix, local)) => is_plain(prefix) && is_plain(local),
    }
}

/// Whether this is a name without prefix.
pub(super) fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_name) && chars.all(continues_name)
}

fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic()
        || c == '_'
        || matches!(c,
            '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
            | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
            | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}'
            | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

fn continues_name(c: char) -> bool {
    starts_name(c)
        || c.is_ascii_digit()
        || matches!(c, '-' | '.' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// The prefix of a name, `""` if it has none.
pub(super) fn prefix(name: &str) -> &str {
    name.split_once(':').map_or("", |(prefix, _)| prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["a", "_", "é", "h:visit", "a.b-c1", "diagnoses.treatments", "日本"] {
            assert!(is_qualified(name), "{name}");
        }
        for name in ["", "1a", "-a", "a b", ":a", "a:", "a:b:c", "a/b", "@a", "a:1", "a<", "\u{2192}"] {
            assert!(!is_qualified(name), "{name}");
        }
        assert_eq!(forbidden("a\tb\u{fffe}"), Some(3));
        assert_eq!(forbidden("a\u{85}\u{10ffff}"), None);
        assert_eq!(forbidden("\u{1}"), Some(0));
    }
}
