//! References, and text between them.

use super::mistake::What;
use super::names::{forbidden, is_char};

/// The entities that a document's DOCTYPE declares, and whether there may be more in a DTD that is not read.
#[derive(Debug, Default)]
pub(super) struct Entities {
    pub(super) declared: Vec<String>,
    pub(super) dtd: bool,
}

impl Entities {
    /// The character that a reference means; `name` is what stands between `&` and `;`.
    pub(super) fn resolve(&self, name: &str) -> Result<char, What> {
        match name {
            "lt" => Ok('<'),
            "gt" => Ok('>'),
            "amp" => Ok('&'),
            "apos" => Ok('\''),
            "quot" => Ok('"'),
            _ => match name.strip_prefix('#') {
                Some(number) => character(number),
                None if self.declared.iter().any(|d| d == name) => Err(What::EntityUsed),
                None => Err(What::Undeclared { dtd: self.dtd }),
            },
        }
    }
}

fn character(number: &str) -> Result<char, What> {
    let (digits, radix) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    if digits.is_empty() || !digits.bytes().all(|b| char::from(b).is_digit(radix)) {
        return Err(What::Ampersand);
    }
    let code = u32::from_str_radix(digits, radix).map_err(|_| What::CharacterReference)?;
    char::from_u32(code).filter(|&c| is_char(c)).ok_or(What::CharacterReference)
}

/// Checks literal text; `markup`: it is not inside a CDATA section. Says whether its line ends are plain.
#[inline]
pub(super) fn check(text: &str, markup: bool) -> Result<bool, (What, usize)> {
    // One pass without branches finds that nearly all texts need no closer look.
    let odd = text
        .bytes()
        .fold(false, |odd, b| odd | ((b < b' ') & (b != b'\n') & (b != b'\t')) | (b == b']') | (b == 0xEF));
    if odd { look_closer(text, markup) } else { Ok(true) }
}

#[cold]
fn look_closer(text: &str, markup: bool) -> Result<bool, (What, usize)> {
    if let Some(at) = forbidden(text) {
        return Err((What::Character, at));
    }
    if let Some(at) = text.find("]]>").filter(|_| markup) {
        return Err((What::EndOfCdata, at));
    }
    Ok(!text.contains('\r'))
}

/// Appends text with its line ends as XML wants them: `\r\n` and `\r` are `\n`.
pub(super) fn push_lines(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\r') {
        out.push_str(line);
        out.push('\n');
        rest = after.strip_prefix('\n').unwrap_or(after);
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        let entities = Entities { declared: vec!["who".to_owned()], dtd: true };
        for (name, wanted) in [
            ("lt", Ok('<')),
            ("#65", Ok('A')),
            ("#x1F600", Ok('😀')),
            ("#0", Err(What::CharacterReference)),
            ("#xD800", Err(What::CharacterReference)),
            ("#x110000", Err(What::CharacterReference)),
            ("#99999999999", Err(What::CharacterReference)),
            ("#", Err(What::Ampersand)),
            ("#x", Err(What::Ampersand)),
            ("#+5", Err(What::Ampersand)),
            ("#X41", Err(What::Ampersand)),
            ("who", Err(What::EntityUsed)),
            ("nbsp", Err(What::Undeclared { dtd: true })),
            ("LT", Err(What::Undeclared { dtd: true })),
        ] {
            assert_eq!(entities.resolve(name), wanted, "{name}");
        }
    }

    #[test]
    fn texts() {
        assert_eq!(check("plain ]] > é\n", true), Ok(true));
        assert_eq!(check("a\rb", true), Ok(false));
        assert_eq!(check("a]]>", true), Err((What::EndOfCdata, 1)));
        assert_eq!(check("a]]", false), Ok(true));
        assert_eq!(check("é\u{ffff}", true), Err((What::Character, 2)));
        let mut out = String::new();
        push_lines(&mut out, "a\r\nb\rc\r\r\n\n");
        assert_eq!(out, "a\nb\nc\n\n\n");
    }
}
