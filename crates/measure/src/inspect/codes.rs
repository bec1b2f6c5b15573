//! Codes that are known by their form, whatever their attribute is called: many have a check digit, or signs at places
//! where nothing else has them.

/// What values are by their form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Loinc,
    Snomed,
    Icd9,
    Ops,
    Postal,
    Iban,
    Phone,
    Email,
}

impl Code {
    const ALL: [Code; 8] = [
        Code::Iban,
        Code::Email,
        Code::Phone,
        Code::Snomed,
        Code::Loinc,
        Code::Ops,
        Code::Postal,
        Code::Icd9,
    ];

    /// In words.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Code::Loinc => "codes of LOINC",
            Code::Snomed => "codes of SNOMED CT",
            Code::Icd9 => "codes of ICD-9",
            Code::Ops => "codes of OPS",
            Code::Postal => "postal codes",
            Code::Iban => "bank accounts (IBAN)",
            Code::Phone => "phone numbers",
            Code::Email => "e-mail addresses",
        }
    }

    /// Whether it is about one person only.
    pub(super) fn singles_out(self) -> bool {
        matches!(self, Code::Iban | Code::Phone | Code::Email)
    }

    /// Whether codes that begin alike mean something alike.
    pub(super) fn has_prefixes(self) -> bool {
        matches!(self, Code::Icd9 | Code::Ops | Code::Postal)
    }

    /// Whether it is about health.
    pub(super) fn is_health(self) -> bool {
        matches!(self, Code::Loinc | Code::Snomed | Code::Icd9 | Code::Ops)
    }

    /// Whether numbers that are no codes may look so, too: then a name has to say it.
    fn needs_name(self) -> bool {
        self == Code::Icd9
    }

    fn fits(self, text: &str) -> bool {
        match self {
            Code::Loinc => is_loinc(text),
            Code::Snomed => is_snomed(text),
            Code::Icd9 => is_icd9(text),
            Code::Ops => is_ops(text),
            Code::Postal => is_postal(text),
            Code::Iban => is_iban(text),
            Code::Phone => is_phone(text),
            Code::Email => is_email(text),
        }
    }
}

/// How many values have which form.
#[derive(Clone, Debug, Default)]
pub(super) struct Codes([usize; Code::ALL.len()]);

/// So many values do not have a form by chance.
const ENOUGH: usize = 3;

impl Codes {
    pub(super) fn add(&mut self, text: &str) {
        for (count, code) in self.0.iter_mut().zip(Code::ALL) {
            *count += usize::from(code.fits(text));
        }
    }

    /// The form that all of so many values have, but for one in twenty; `named` if the attribute's name speaks of health.
    pub(super) fn found(&self, values: usize, named: bool) -> Option<Code> {
        let all = |count: usize| count >= ENOUGH && count * 20 >= values * 19;
        let mut codes = self.0.iter().zip(Code::ALL);
        codes.find(|(count, code)| all(**count) && (named || !code.needs_name())).map(|(_, code)| code)
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `4548-4`: the last digit makes the sum of all, every second doubled, a multiple of ten.
fn is_loinc(text: &str) -> bool {
    let Some((number, check)) = text.split_once('-') else { return false };
    if !(1..=7).contains(&number.len()) || !digits(number) || check.len() != 1 || !digits(check) {
        return false;
    }
    let doubled = |digit: u32| if digit > 4 { 2 * digit - 9 } else { 2 * digit };
    let sum: u32 = (number.bytes().rev().map(|b| u32::from(b - b'0')).enumerate())
        .map(|(i, digit)| if i % 2 == 0 { doubled(digit) } else { digit })
        .sum();
    (10 - sum % 10) % 10 == u32::from(check.as_bytes()[0] - b'0')
}

/// The group of symmetries of the pentagon, by which Verhoeff's check digits are made.
const PRODUCTS: [[u8; 10]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
    [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
    [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
    [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
    [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
    [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
    [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
    [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
];
/// What the digits are exchanged for at each place.
const EXCHANGED: [[u8; 10]; 8] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
    [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
    [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
    [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
    [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
    [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
    [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
];

/// `44054006`: six to eighteen digits; before the check digit stand two that say that it is a concept.
fn is_snomed(text: &str) -> bool {
    if !(6..=18).contains(&text.len()) || !digits(text) || text.starts_with('0') {
        return false;
    }
    let partition = &text[text.len() - 3..text.len() - 1];
    let sum = text.bytes().rev().enumerate().fold(0u8, |sum, (i, b)| {
        PRODUCTS[usize::from(sum)][usize::from(EXCHANGED[i % 8][usize::from(b - b'0')])]
    });
    matches!(partition, "00" | "10") && sum == 0
}

/// `250.00`, `V45.81`, `E880.9`.
fn is_icd9(text: &str) -> bool {
    let (category, detail) = text.split_once('.').unwrap_or((text, "0"));
    let details = digits(detail) && detail.len() <= 2;
    details
        && match category.as_bytes() {
            [b'V' | b'v', rest @ ..] => rest.len() == 2 && rest.iter().all(u8::is_ascii_digit),
            [b'E' | b'e', rest @ ..] => rest.len() == 3 && rest.iter().all(u8::is_ascii_digit),
            all => all.len() == 3 && all.iter().all(u8::is_ascii_digit),
        }
}

/// `5-470.11`, `8-98f.0`: with three signs behind the dash, the first of which are digits, and a dot.
fn is_ops(text: &str) -> bool {
    let Some((chapter, rest)) = text.split_once('-') else { return false };
    let Some((category, detail)) = rest.split_once('.') else { return false };
    let signs = |part: &str| part.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
    let category_fits = category.len() == 3 && signs(category) && digits(&category[..2]);
    matches!(chapter, "1" | "3" | "5" | "6" | "8" | "9")
        && category_fits
        && (1..=2).contains(&detail.len())
        && signs(detail)
}

/// Postal codes that nothing else looks like: `SW1A 1AA`, `K1A 0B1`, `1012 AB`. Digits alone may be anything.
fn is_postal(text: &str) -> bool {
    let pattern = |part: &str| -> String {
        let sign = |c: char| match c {
            '0'..='9' => '9',
            'A'..='Z' => 'A',
            other => other,
        };
        part.chars().map(sign).collect()
    };
    let Some((first, second)) = text.split_once(' ') else { return false };
    match (pattern(first).as_str(), pattern(second).as_str()) {
        ("A9" | "A99" | "A9A" | "AA9" | "AA99" | "AA9A", "9AA") => true,
        ("A9A", "9A9") => true,
        ("9999", "AA") => !first.starts_with('0'),
        _ => false,
    }
}

/// `DE89 3704 0044 0532 0130 00`: the whole, turned round and read as a number, leaves one when divided by 97.
fn is_iban(text: &str) -> bool {
    let plain: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
    let [a, b, c, d, rest @ ..] = plain.as_slice() else { return false };
    let begins = a.is_ascii_uppercase() && b.is_ascii_uppercase() && c.is_ascii_digit() && d.is_ascii_digit();
    if !begins || !(11..=30).contains(&rest.len()) {
        return false;
    }
    let value = |sign: &u8| match sign {
        b'0'..=b'9' => Some(u32::from(sign - b'0')),
        b'A'..=b'Z' => Some(u32::from(sign - b'A') + 10),
        _ => None,
    };
    let turned = rest.iter().chain(&plain[..4]);
    let left = turned.map(value).try_fold(0u32, |left, value| {
        let value = value?;
        Some((left * if value > 9 { 100 } else { 10 } + value) % 97)
    });
    left == Some(1)
}

/// `+49 30 1234567`, `(555) 123-4567`, `030/1234567`: seven to fifteen digits with a plus before or something between.
fn is_phone(text: &str) -> bool {
    let (plus, rest) = text.strip_prefix('+').map_or((false, text), |rest| (true, rest));
    let count = rest.bytes().filter(u8::is_ascii_digit).count();
    let allowed =
        rest.bytes().all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'-' | b'/' | b'(' | b')' | b'.'));
    let brackets = rest.starts_with('(') && rest.contains(')');
    let trunk = rest.starts_with('0') && rest.bytes().any(|b| matches!(b, b' ' | b'/' | b'-'));
    let american = {
        let parts: Vec<&str> = rest.split(['-', '.']).collect();
        matches!(parts.as_slice(), [a, b, c] if a.len() == 3 && b.len() == 3 && c.len() == 4 && count == 10)
    };
    allowed && (7..=15).contains(&count) && (plus || brackets || trunk || american)
}

fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else { return false };
    let plain = |part: &str| !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c == '@');
    plain(name) && plain(host) && host.rsplit_once('.').is_some_and(|(a, b)| !a.is_empty() && b.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[&str], named: bool) -> Option<Code> {
        let mut codes = Codes::default();
        values.iter().for_each(|value| codes.add(value));
        codes.found(values.len(), named)
    }

    #[test]
    fn codes_are_known_by_their_form() {
        for (values, code) in [
            (&["4548-4", "2339-0", "8302-2", "718-7"][..], Some(Code::Loinc)),
            (&["44054006", "38341003", "195967001", "185349003"], Some(Code::Snomed)),
            (&["V45.81", "250.00", "E880.9"], None),
            (&["5-470.11", "8-98f.0", "1-632.0"], Some(Code::Ops)),
            (&["SW1A 1AA", "M1 1AE", "EC1A 1BB"], Some(Code::Postal)),
            (&["K1A 0B1", "H0H 0H0", "V6B 1A1"], Some(Code::Postal)),
            (&["1012 AB", "9999 ZZ", "3511 AA"], Some(Code::Postal)),
            (
                &["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "FR1420041010050500013M02606"],
                Some(Code::Iban),
            ),
            (&["+49 30 1234567", "(555) 123-4567", "030/1234567", "555-123-4567"], Some(Code::Phone)),
            (&["a@b.org", "c.d@e.f.de", "x+y@z.io"], Some(Code::Email)),
            // What only looks a little like codes.
            (&["4548-5", "2339-1", "8302-3"], None),
            (&["44054007", "38341004", "195967002"], None),
            (&["1-300", "0-100", "2-200"], None),
            (&["DE88 3704 0044 0532 0130 00", "GB83WEST12345698765432", "FR1520041010050500013M02606"], None),
            (&["1234567", "2345678", "3456789"], None),
            (&["2001-02-03", "2001-02-04", "2001-02-05"], None),
            (&["C09AA05", "A10BA02", "N02BE01"], None),
            (&["120.50", "130.25", "140.75"], None),
            (&["4548-4", "2339-0"], None),
        ] {
            assert_eq!(found(values, false), code, "{values:?}");
        }
        assert_eq!(found(&["V45.81", "250.00", "E880.9", "401"], true), Some(Code::Icd9));
        assert_eq!(found(&["J45.901", "E11.9", "C50.1"], true), None);
    }
}
