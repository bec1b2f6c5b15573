//! Changes a file of the corpus at random: bits, splices, repetitions, cuts, words that mean something to a reader.

use bosket_testkit::dice::Dice;

/// No input grows beyond that.
const MOST: usize = 1 << 14;

/// Words and bytes that readers treat specially.
const WORDS: &[&[u8]] = &[
    b"\0",
    b"\xFF",
    b"\xEF\xBB\xBF",
    b"\xFF\xFE",
    b"\x1F\x8B",
    b"PAR1",
    b"\r\n",
    b"\n\n",
    b"\"",
    b"\"\"",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"[{}]",
    b"[[",
    b"]]",
    b":{",
    b",",
    b";",
    b"\t",
    b"=",
    b"#",
    b"*",
    b"-0",
    b"1e999",
    b"1E5",
    b"0.1000",
    b"99999999999999999999",
    b"NaN",
    b"-",
    b"<p>",
    b"</p>",
    b"<p/>",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"&lt;",
    b"&#0;",
    b"&x;",
    b"xmlns=\"u\"",
    b"xsi:nil=\"true\"",
    b"[[attribute]]",
    b"role = \"quasi\"",
    b"model = \"kmn\"",
    b"$oid",
    b"$numberLong",
    b"resourceType",
    b"Patient",
    b"(unspecified)",
    "\u{e9}\u{1F600}\u{2028}".as_bytes(),
];

/// A few changes to one of the seeds, of which there is at least one.
pub(crate) fn mutate(dice: &mut Dice, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = dice.of(seeds).clone();
    // Mostly few changes: what is broken in many places is refused for the first of them.
    let changes = if dice.one_in(4) { 1 + dice.below(12) } else { 1 + dice.below(2) };
    for _ in 0..changes {
        change(dice, &mut bytes, seeds);
    }
    bytes.truncate(MOST);
    bytes
}

fn change(dice: &mut Dice, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    if bytes.is_empty() {
        bytes.extend_from_slice(dice.of::<&[u8]>(WORDS));
        return;
    }
    let at = dice.below(bytes.len());
    let part = at..at + 1 + dice.below((bytes.len() - at).min(64));
    match dice.below(10) {
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at] = dice.below(256) as u8,
        2 => _ = bytes.splice(at..at, dice.of(WORDS).iter().copied()),
        3 => {
            let word = *dice.of(WORDS);
            let end = (at + word.len()).min(bytes.len());
            bytes.splice(at..end, word.iter().copied());
        }
        4 => _ = bytes.drain(part),
        5 => {
            let again = bytes[part.clone()].repeat(1 + dice.below(3));
            bytes.splice(part.end..part.end, again);
        }
        6 => bytes.truncate(at),
        7 => {
            let other = dice.of(seeds);
            let from = dice.below(other.len() + 1);
            let to = from + dice.below(other.len() - from + 1).min(128);
            let other = other[from..to].to_vec();
            bytes.splice(part, other);
        }
        8 => lines(dice, bytes),
        // A number in place of a digit keeps most texts readable.
        _ => {
            if let Some(digit) = bytes[at..].iter().position(u8::is_ascii_alphanumeric) {
                bytes[at + digit] = *dice.of(b"0123456789abAB");
            }
        }
    }
}

/// Repeats, drops or swaps lines.
fn lines(dice: &mut Dice, bytes: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(3) {
        0 => lines.swap(a, b),
        1 => lines.insert(a, lines[b].clone()),
        _ => _ = lines.remove(a),
    }
    *bytes = lines.concat();
}
