//! Which encoding a document has, and its bytes as UTF-8.

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use encoding_rs::{Decoder as Table, DecoderResult, Encoding, UTF_16BE, UTF_16LE};

/// Turns a document's bytes into UTF-8, piece by piece.
pub(super) enum Decoder {
    /// Handed on as they are; whoever reads the text checks it.
    Utf8,
    /// Encoding standards of the web read this as windows-1252; here every byte is its own code point.
    Latin1,
    Ascii,
    Other(Table),
}

/// Bytes that are no text in the encoding.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

impl Decoder {
    /// Appends what `bytes` say to `out`. What comes before malformed bytes is appended too.
    pub(super) fn decode(&mut self, bytes: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Malformed> {
        match self {
            Decoder::Utf8 => out.extend_from_slice(bytes),
            Decoder::Latin1 => {
                for &byte in bytes {
                    let mut utf8 = [0; 2];
                    out.extend_from_slice(char::from(byte).encode_utf8(&mut utf8).as_bytes());
                }
            }
            Decoder::Ascii => {
                let end = bytes.iter().position(|b| !b.is_ascii()).unwrap_or(bytes.len());
                out.extend_from_slice(&bytes[..end]);
                if end < bytes.len() {
                    return Err(Malformed);
                }
            }
            Decoder::Other(table) => return decode_table(table, bytes, last, out),
        }
        Ok(())
    }
}

fn decode_table(table: &mut Table, mut bytes: &[u8], last: bool, out: &mut Vec<u8>) -> Result<(), Malformed> {
    loop {
        let start = out.len();
        let room = table.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(4 * bytes.len());
        out.resize(start + room, 0);
        let (result, read, written) =
            table.decode_to_utf8_without_replacement(bytes, &mut out[start..], last);
        out.truncate(start + written);
        bytes = &bytes[read..];
        match result {
            DecoderResult::InputEmpty => return Ok(()),
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => return Err(Malformed),
        }
    }
}

/// What the first bytes of a document say about its encoding.
pub(super) struct DetectedEncoding {
    pub(super) decoder: Decoder,
    /// How messages call it.
    pub(super) name: &'static str,
    /// How many bytes the byte order mark has.
    pub(super) mark: usize,
}

/// Finds the encoding of a document that starts with `head`. `marked`: a byte order mark of UTF-8 stood before it.
pub(super) fn detect(head: &[u8], marked: bool, place: Place) -> Result<DetectedEncoding> {
    let sixteen = |encoding: &'static Encoding, mark| {
        let decoder = Decoder::Other(encoding.new_decoder_without_bom_handling());
        DetectedEncoding { decoder, name: "UTF-16", mark }
    };
    let found = match head {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, b'<', ..] | [b'<', 0, 0, 0, ..] => {
            return Err(refuse("the text is in UTF-32", place, "convert the file to UTF-8"));
        }
        [0xFF, 0xFE, ..] => sixteen(UTF_16LE, 2),
        [0xFE, 0xFF, ..] => sixteen(UTF_16BE, 2),
        [b'<', 0, ..] => sixteen(UTF_16LE, 0),
        [0, b'<', ..] => sixteen(UTF_16BE, 0),
        _ => DetectedEncoding { decoder: Decoder::Utf8, name: "UTF-8", mark: 0 },
    };
    let sixteen = matches!(found.decoder, Decoder::Other(_));
    let Some(label) = declared(head, sixteen) else {
        return Ok(found);
    };
    let (decoder, name) = match known(&label) {
        Some(known) => known,
        None => {
            let what = "the XML declaration names an encoding that is not known";
            return Err(refuse(what, place, "convert the file to UTF-8"));
        }
    };
    let contradicts = match &decoder {
        Decoder::Utf8 => sixteen,
        Decoder::Other(table) if table.encoding() == UTF_16LE || table.encoding() == UTF_16BE => !sixteen,
        _ => sixteen || marked,
    };
    if contradicts {
        let what = format!("the XML declaration says {name}, but the file begins as {}", found.name);
        return Err(refuse(&what, place, "correct the declaration, or write the file again"));
    }
    Ok(if sixteen { found } else { DetectedEncoding { decoder, name, mark: 0 } })
}

fn refuse(what: &str, place: Place, help: &str) -> Failure {
    Failure::new(Fault::Data, Diagnostic::error(what).at(place.line(1).column(1)).help(help))
}

fn known(label: &str) -> Option<(Decoder, &'static str)> {
    match label.to_ascii_lowercase().as_str() {
        "iso-8859-1" | "iso_8859-1" | "iso8859-1" | "latin1" | "l1" => {
            return Some((Decoder::Latin1, "ISO-8859-1"));
        }
        "us-ascii" | "ascii" => return Some((Decoder::Ascii, "US-ASCII")),
        _ => {}
    }
    let encoding = Encoding::for_label_no_replacement(label.as_bytes())?;
    Some(if encoding == encoding_rs::UTF_8 {
        (Decoder::Utf8, "UTF-8")
    } else if encoding == UTF_16LE || encoding == UTF_16BE {
        (Decoder::Other(encoding.new_decoder_without_bom_handling()), "UTF-16")
    } else {
        (Decoder::Other(encoding.new_decoder_without_bom_handling()), encoding.name())
    })
}

/// The encoding that the XML declaration names. Whether the declaration is well-formed is seen when it is read.
fn declared(head: &[u8], sixteen: bool) -> Option<String> {
    let ascii: Vec<u8> = if sixteen {
        head.iter().copied().filter(|&b| b != 0 && b < 0x80).take(400).collect()
    } else {
        head[..head.len().min(400)].to_vec()
    };
    let rest = ascii.strip_prefix(b"<?xml")?;
    let end = rest.windows(2).position(|w| w == b"?>")?;
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    let (_, after) = text.split_once("encoding")?;
    let after = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    after[1..].split_once(quote).map(|(label, _)| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Result<String, String> {
        let mut found =
            detect(bytes, false, Place::default()).map_err(|f| f.diagnostics[0].message.clone())?;
        let mut out = Vec::new();
        // One byte at a time: no character may be lost between two pieces.
        for byte in &bytes[found.mark..] {
            found.decoder.decode(&[*byte], false, &mut out).map_err(|_| "malformed".to_owned())?;
        }
        found.decoder.decode(&[], true, &mut out).map_err(|_| "malformed".to_owned())?;
        String::from_utf8(out).map_err(|_| "not UTF-8".to_owned())
    }

    fn sixteen(text: &str, mark: bool, little: bool) -> Vec<u8> {
        let mark = if mark { "\u{feff}" } else { "" };
        let units = mark.encode_utf16().chain(text.encode_utf16());
        units.flat_map(|u| if little { u.to_le_bytes() } else { u.to_be_bytes() }).collect()
    }

    #[test]
    fn encodings_are_told_apart() {
        let plain = "<a>é€😀</a>";
        let declared = "<?xml version='1.0' encoding = 'UTF-16' ?><a>é€😀</a>";
        assert_eq!(text(plain.as_bytes()).as_deref(), Ok(plain));
        for little in [true, false] {
            assert_eq!(text(&sixteen(plain, true, little)).as_deref(), Ok(plain));
            assert_eq!(text(&sixteen(declared, true, little)).as_deref(), Ok(declared));
            assert_eq!(text(&sixteen(declared, false, little)).as_deref(), Ok(declared));
        }
        let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9\x80</a>";
        assert!(text(latin).expect("latin").ends_with("<a>é\u{80}</a>"));
        let windows = b"<?xml version=\"1.0\" encoding=\"windows-1252\"?><a>\xe9\x80</a>";
        assert!(text(windows).expect("windows").ends_with("<a>é€</a>"));
        let fifteen = b"<?xml version=\"1.0\" encoding=\"ISO-8859-15\"?><a>\xa4</a>";
        assert!(text(fifteen).expect("fifteen").ends_with("<a>€</a>"));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let says = |label: &str| format!("<?xml version=\"1.0\" encoding=\"{label}\"?><a/>");
        assert_eq!(
            text(says("UTF-16").as_bytes()),
            Err("the XML declaration says UTF-16, but the file begins as UTF-8".into())
        );
        assert_eq!(
            text(&sixteen(&says("utf-8"), true, true)),
            Err("the XML declaration says UTF-8, but the file begins as UTF-16".into())
        );
        assert!(detect(says("latin1").as_bytes(), true, Place::default()).is_err());
        assert!(detect(says("utf8").as_bytes(), true, Place::default()).is_ok());
        assert!(text(says("klingon").as_bytes()).is_err());
        assert_eq!(text(b"\xff\xfe\0\0<\0\0\0"), Err("the text is in UTF-32".into()));
        assert_eq!(
            text("<?xml version='1.0' encoding='us-ascii'?><a>é</a>".as_bytes()),
            Err("malformed".into())
        );
        assert_eq!(text(b"\xff\xfe<\0\x00\xdca\0"), Err("malformed".into()));
    }
}
