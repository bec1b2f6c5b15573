//! Texts without the bytes that are used as marks between them: 0 to 3.

use std::borrow::Cow;

/// What stands before a byte that is none of these marks.
const ESCAPE: u8 = 4;
/// What is added to such a byte.
const MOVED: u8 = 0x20;

/// Appends a text without the bytes that are marks.
pub(crate) fn push_escaped(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some(i) = rest.iter().position(|&b| b <= ESCAPE) {
        out.extend_from_slice(&rest[..i]);
        out.extend_from_slice(&[ESCAPE, rest[i] + MOVED]);
        rest = &rest[i + 1..];
    }
    out.extend_from_slice(rest);
}

/// The text that was appended so.
pub(crate) fn unescaped(text: &[u8]) -> Cow<'_, str> {
    if !text.contains(&ESCAPE) {
        return String::from_utf8_lossy(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        let own = if byte == ESCAPE { bytes.next().map(|b| b.wrapping_sub(MOVED)) } else { Some(byte) };
        plain.extend(own);
    }
    Cow::Owned(String::from_utf8_lossy(&plain).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_come_back_and_hold_no_mark(text in any::<String>(), low in "[\u{0}-\u{6}a]{0,8}") {
            for text in [text, low] {
                let mut escaped = Vec::new();
                push_escaped(&mut escaped, &text);
                prop_assert!(escaped.iter().all(|b| !matches!(b, 0..=3)));
                prop_assert_eq!(unescaped(&escaped), text);
            }
        }
    }
}
