//! JSON in its one canonical form, after RFC 8785 (JCS): keys in the order of their UTF-16 code units, no blanks, numbers
//! as JavaScript writes them. Whole numbers keep all their digits.

use serde_json::{Number, Value};

/// Up to here every whole number is a float.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// The same value with its keys in order, and numbers that are whole written so.
pub(super) fn normal(value: &Value) -> Value {
    match value {
        Value::Object(keys) => {
            let mut keys: Vec<(&String, &Value)> = keys.iter().collect();
            keys.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            Value::Object(keys.into_iter().map(|(key, value)| (key.clone(), normal(value))).collect())
        }
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(x) if x.fract() == 0.0 && x.abs() < WHOLE => Value::from(x as i64),
            _ => value.clone(),
        },
        scalar => scalar.clone(),
    }
}

/// The canonical text of a value.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    write(&normal(value), &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(keys) => {
            out.push('{');
            for (i, (key, value)) in keys.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                write(&Value::from(key.as_str()), out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                write(item, out);
            }
            out.push(']');
        }
        Value::Number(number) => out.push_str(&digits(number)),
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// A number as ECMAScript's `Number::toString` writes it.
fn digits(number: &Number) -> String {
    let Some(x) = number.as_f64().filter(|_| number.is_f64()) else {
        return number.to_string();
    };
    if x == 0.0 {
        return "0".to_owned();
    }
    // The shortest digits that stand for the number, and the place of its point. The standard library's own would end
    // otherwise where two of the same length are equally near.
    let shortest = number.to_string();
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let (whole, part) =
        mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
    let all = format!("{whole}{part}");
    let point = whole.len() as i32 + exponent.parse::<i32>().unwrap_or(0);
    let leading = all.len() - all.trim_start_matches('0').len();
    let point = point - leading as i32;
    let digits = all.trim_matches('0');
    let sign = if x < 0.0 { "-" } else { "" };
    let zeros = |n: i32| "0".repeat(n.unsigned_abs() as usize);
    let count = digits.len() as i32;
    let written = match point {
        1..=21 if point >= count => format!("{digits}{}", zeros(point - count)),
        1..=21 => format!("{}.{}", &digits[..point as usize], &digits[point as usize..]),
        -5..=0 => format!("0.{}{digits}", zeros(point)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let rest = if rest.is_empty() { String::new() } else { format!(".{rest}") };
            format!("{first}{rest}e{}{}", if point > 0 { "+" } else { "-" }, (point - 1).abs())
        }
    };
    format!("{sign}{written}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The table of RFC 8785, appendix B.
    #[test]
    fn numbers_as_the_rfc_has_them() {
        for (bits, wanted) in [
            (0x0000_0000_0000_0000_u64, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(text(&json!(f64::from_bits(bits))), wanted, "{bits:x}");
        }
        assert_eq!(text(&json!([i64::MAX, 1.0, -0.0, true, null])), "[9223372036854775807,1,0,true,null]");
    }

    /// The example of RFC 8785, section 3.2.3: keys by their UTF-16 code units.
    #[test]
    fn keys_as_the_rfc_orders_them() {
        let keys = json!({"€": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "😀": 5, "\u{80}": 6, "ö": 7});
        assert_eq!(text(&keys), "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}");
        assert_eq!(
            text(&json!({"b": {"y": [], "x": {}}, "a": "\u{8}\u{1f}\"\\/"})),
            r#"{"a":"\b\u001f\"\\/","b":{"x":{},"y":[]}}"#
        );
    }
}
