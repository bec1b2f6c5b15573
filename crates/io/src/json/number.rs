//! One spelling per number.

/// The canonical spelling of a JSON number: one numeric value, one text.
///
/// Works on the digits, not on a double, so that nothing is rounded: zeros that say nothing go, whole numbers
/// within 64 bits are written as integers (`4.0`, `4` and `4e0` are `4`), very large and very small ones with an
/// exponent. `-0` is `0`.
pub fn canonical<'a>(raw: &'a str, scratch: &'a mut String) -> &'a str {
    let bytes = raw.as_bytes();
    if bytes.iter().all(|c| matches!(c, b'0'..=b'9' | b'-')) {
        return if raw == "-0" { "0" } else { raw };
    }
    if plain(raw.trim_start_matches('-')) {
        return raw;
    }
    let (sign, rest) = match raw.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", raw),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(i) => (&rest[..i], rest[i + 1..].parse::<i32>()),
        None => (rest, Ok(0)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: String = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let leading = all.len() - digits.len();
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return "0";
    }
    let Ok(exponent) = exponent else {
        return raw;
    };
    // The value is 0.DIGITS * 10^point.
    let point = i64::from(exponent) + whole.len() as i64 - leading as i64;
    let count = digits.len() as i64;
    scratch.clear();
    scratch.push_str(sign);
    if (count..=20).contains(&point) {
        scratch.push_str(digits);
        scratch.extend(std::iter::repeat_n('0', (point - count) as usize));
        if scratch.parse::<i64>().is_ok() || scratch.parse::<u64>().is_ok() {
            return scratch;
        }
        scratch.truncate(sign.len());
    } else if 0 < point && point < count {
        let (whole, fraction) = digits.split_at(point as usize);
        scratch.extend([whole, ".", fraction]);
        return scratch;
    } else if (-5..=0).contains(&point) {
        scratch.push_str("0.");
        scratch.extend(std::iter::repeat_n('0', -point as usize));
        scratch.push_str(digits);
        return scratch;
    }
    let (first, rest) = digits.split_at(1);
    scratch.push_str(first);
    if !rest.is_empty() {
        scratch.extend([".", rest]);
    }
    scratch.push('e');
    scratch.push_str(&(point - 1).to_string());
    scratch
}

/// Whether a decimal is spelt canonically already, as most are: this saves taking it apart.
fn plain(decimal: &str) -> bool {
    let Some((whole, fraction)) = decimal.split_once('.') else {
        return false;
    };
    fraction.bytes().all(|c| c.is_ascii_digit())
        && !fraction.ends_with('0')
        && (whole != "0" || !fraction.starts_with("000000"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canon(raw: &str) -> String {
        canonical(raw, &mut String::new()).to_owned()
    }

    #[test]
    fn equal_numbers_get_one_spelling() {
        for (spelling, same) in [
            ("0", &["-0", "0.0", "-0.0", "0e5", "0E-99999999999", "0.000"][..]),
            ("4", &["4.0", "4e0", "40e-1", "0.4e1", "4.000E+0"]),
            ("-12.5", &["-12.50", "-1.25e1", "-125E-1"]),
            ("0.00001", &["1e-5", "0.000010"]),
            ("1e-7", &["0.0000001", "1.0E-07"]),
            ("10000000000000000", &["1e16", "10000000000000000.0"]),
            ("18446744073709551615", &["18446744073709551615.0"]),
            ("1e20", &["100000000000000000000.0", "1E+20", "10e19"]),
            ("-1e19", &["-10000000000000000000.0"]),
            ("1.5e300", &["15e299", "1.50e300"]),
            ("0.1234567890123456789", &["0.12345678901234567890", "1.234567890123456789e-1"]),
        ] {
            assert_eq!(canon(spelling), spelling);
            for raw in same {
                assert_eq!(canon(raw), spelling, "{raw}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_value_stays_and_the_spelling_is_stable(raw in "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?") {
            let spelt = canon(&raw);
            prop_assert_eq!(canon(&spelt), spelt.clone());
            let (before, after): (f64, f64) = (raw.parse().expect("a number"), spelt.parse().expect("a number"));
            prop_assert_eq!(before, after);
        }
    }
}
