//! The JSON parser against serde_json.

use bosket_io::json::error::{Error, ErrorKind, MAX_DEPTH};
use bosket_io::json::parser::{Parser, Token, utf8};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

fn parse(bytes: &[u8]) -> Result<Value, Error> {
    let mut parser = Parser::new(utf8(bytes)?);
    let value = build(&mut parser)?;
    parser.finish()?;
    Ok(value)
}

fn build(parser: &mut Parser<'_>) -> Result<Value, Error> {
    Ok(match parser.value()? {
        Token::Null => Value::Null,
        Token::Bool(b) => b.into(),
        Token::Text(t) => t.into(),
        Token::Number(raw) => {
            let integer =
                raw.parse::<i64>().map(Number::from).or_else(|_| raw.parse::<u64>().map(Number::from));
            // serde_json takes -0 for a float.
            match integer {
                Ok(n) if raw != "-0" => n.into(),
                _ => Number::from_f64(raw.parse().expect("a number")).expect("finite").into(),
            }
        }
        Token::Array => {
            let mut elements = Vec::new();
            while parser.element()? {
                elements.push(build(parser)?);
            }
            elements.into()
        }
        Token::Object => {
            let mut fields = Map::new();
            while let Some(key) = parser.key()? {
                let key = key.to_owned();
                fields.insert(key, build(parser)?);
            }
            fields.into()
        }
    })
}

/// serde_json rounds some decimals in the last place; nothing else may differ.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().expect("a float"), b.as_f64().expect("a float"));
            (a - b).abs() <= a.abs() * 4.0 * f64::EPSILON + f64::MIN_POSITIVE
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => ours == theirs,
    }
}

fn compare(bytes: &[u8]) -> Result<(), TestCaseError> {
    match (parse(bytes), serde_json::from_slice::<Value>(bytes)) {
        (Ok(ours), Ok(theirs)) => prop_assert!(same(&ours, &theirs), "{ours} {theirs}"),
        (Err(_), Err(_)) => {}
        // Documented: integers beyond 64 bits are refused where serde_json rounds them.
        (Err(e), Ok(_)) if e.kind == ErrorKind::NumberTooLarge => {}
        (ours, theirs) => prop_assert!(false, "{ours:?} {theirs:?}"),
    }
    Ok(())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,12}", "[a-z]{0,20}", "[\\x00-\\x20\"\\\\/é𝄞\u{2028}]{0,10}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Pieces of JSON, right and wrong.
fn piece() -> impl Strategy<Value = &'static [u8]> {
    let pieces: Vec<&[u8]> = vec![
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\"",
        b"\"a\"",
        b"\"k\":",
        b"null",
        b"true",
        b"false",
        b"nul",
        b"0",
        b"-",
        b"1",
        b"12",
        b"-0",
        b"01",
        b".5",
        b"1.",
        b"1.5",
        b"e",
        b"E+",
        b"1e5",
        b"1e999",
        b"NaN",
        b"-Infinity",
        b"\\",
        b"\\n",
        b"\\u",
        b"\"\\u00e9\"",
        b"\"\\ud834\\udd1e\"",
        b"\"\\ud834\"",
        b"\\udd1e",
        b" ",
        b"\n",
        b"\t",
        b"\x0c",
        b"\x01",
        b"\xff",
        b"\xc3\xa9",
        b"\xc3",
        b"18446744073709551616",
        b"\"\x7f\"",
        b"/",
    ];
    prop::sample::select(pieces)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn reads_what_serde_json_writes(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) };
        compare(&text.expect("serializable"))?;
    }

    #[test]
    fn agrees_on_damaged_texts(value in value(), at in any::<prop::sample::Index>(), new in piece(), cut in 0usize..3) {
        let mut text = serde_json::to_vec(&value).expect("serializable");
        let at = at.index(text.len() + 1);
        let end = (at + cut).min(text.len());
        text.splice(at..end, new.iter().copied());
        compare(&text)?;
    }

    #[test]
    fn agrees_on_any_pieces(pieces in prop::collection::vec(piece(), 0..12)) {
        compare(&pieces.concat())?;
    }
}

#[test]
fn every_mistake_has_its_name_and_place() {
    use ErrorKind::*;
    for (text, kind, at) in [
        ("", Truncated, 0),
        ("  ", Truncated, 2),
        ("{\"a\": ", Truncated, 6),
        ("[1, 2", Truncated, 5),
        ("\"abc", Truncated, 4),
        ("\"abc\\", Truncated, 5),
        ("tru", Truncated, 3),
        ("[1 2]", Unexpected("a comma or a closing bracket"), 3),
        ("{1: 2}", Unexpected("a key in double quotes"), 1),
        ("{\"a\" 1}", Unexpected("a colon"), 5),
        ("'a'", Unexpected("a value"), 0),
        ("[,]", Unexpected("a value"), 1),
        ("-x", Unexpected("a digit"), 1),
        ("\"a\\x\"", BadEscape, 2),
        ("\"\\u12g4\"", BadEscape, 5),
        ("\"\\ud800\"", LoneSurrogate, 1),
        ("\"\\udc00\"", LoneSurrogate, 1),
        ("\"a\nb\"", ControlCharacter, 2),
        ("[NaN]", NotANumber, 1),
        ("Infinity", NotANumber, 0),
        ("-Infinity", NotANumber, 1),
        ("[007]", LeadingZero, 1),
        ("[1,]", TrailingComma, 2),
        ("{\"a\":1 , }", TrailingComma, 7),
        ("{} {}", TrailingText, 3),
        ("18446744073709551616", NumberTooLarge, 0),
        ("-9223372036854775809", NumberTooLarge, 0),
        ("[1e400]", NumberTooLarge, 1),
    ] {
        assert_eq!(parse(text.as_bytes()), Err(Error { kind, at }), "{text}");
    }
    assert_eq!(parse(b"\"a\xff\""), Err(Error { kind: NotUtf8, at: 2 }));
    for text in ["18446744073709551615", "-9223372036854775808", "1e308", "1e-999", "0e999"] {
        assert!(parse(text.as_bytes()).is_ok(), "{text}");
    }
}

#[test]
fn deep_nesting_is_refused_without_overflow() {
    let deep = |n: usize| [vec![b'['; n], vec![b']'; n]].concat();
    assert!(parse(&deep(MAX_DEPTH as usize)).is_ok());
    let refused = Err(Error { kind: ErrorKind::TooDeep, at: MAX_DEPTH as usize });
    assert_eq!(parse(&deep(MAX_DEPTH as usize + 1)), refused);
    assert_eq!(parse(&deep(5_000)), refused);
    assert_eq!(parse(&vec![b'['; 1_000_000]), refused);
}

#[test]
fn going_back_to_a_value_reads_it_again() {
    let mut parser = Parser::new("[{\"a\": [1, {}]}, 2]");
    assert_eq!(parser.value(), Ok(Token::Array));
    assert_eq!(parser.element(), Ok(true));
    let (at, depth) = (parser.position(), parser.depth());
    assert_eq!(parser.value(), Ok(Token::Object));
    assert_eq!(parser.key(), Ok(Some("a")));
    assert_eq!(parser.value(), Ok(Token::Array));
    parser.rewind(at, depth);
    parser.skip().expect("a whole object");
    assert_eq!(parser.element(), Ok(true));
    assert_eq!(parser.value(), Ok(Token::Number("2")));
    assert_eq!(parser.element(), Ok(false));
    parser.finish().expect("nothing more");
}
