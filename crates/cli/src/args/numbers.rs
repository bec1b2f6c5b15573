//! Numbers and sizes as they are typed.

/// Numbers in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(pub Vec<u32>);

/// Reads `3`, `1,3` or `1..4`, the last number included.
pub(super) fn parse_numbers(text: &str) -> Result<Numbers, String> {
    let wrong = || "numbers are written like 3, 1,3 or 1..4".to_owned();
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
    let mut numbers = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => numbers.push(number(part)?),
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to.trim_start_matches('='))?);
                if from > to || to - from > 100 {
                    return Err(wrong());
                }
                numbers.extend(from..=to);
            }
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Numbers(numbers))
}

/// Reads `4G`, `500M`, `64k` or a number of bytes.
pub(super) fn parse_size(text: &str) -> Result<usize, String> {
    let upper = text.trim().trim_end_matches(['b', 'B', 'i']).to_ascii_uppercase();
    let (number, unit) = match upper.char_indices().last() {
        Some((i, 'K')) => (&upper[..i], 1usize << 10),
        Some((i, 'M')) => (&upper[..i], 1 << 20),
        Some((i, 'G')) => (&upper[..i], 1 << 30),
        Some((i, 'T')) => (&upper[..i], 1 << 40),
        _ => (upper.as_str(), 1),
    };
    let number: f64 =
        number.trim().parse().map_err(|_| "a size is a number with K, M, G or T, such as 4G".to_owned())?;
    if number.is_finite() && number > 0.0 {
        Ok((number * unit as f64) as usize)
    } else {
        Err("a size is more than 0".into())
    }
}

/// Reads `method.suppress=true,false`: a key and its values. Commas within brackets or quotes part nothing.
pub(super) fn parse_list(text: &str) -> Result<(String, Vec<String>), String> {
    let wrong = || "write a key and its values, such as method.suppress=true,false".to_owned();
    let (key, list) = text.split_once('=').ok_or_else(wrong)?;
    let (mut values, mut depth, mut quote) = (vec![String::new()], 0, None);
    for c in list.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                values.push(String::new());
                continue;
            }
            _ => {}
        }
        values.last_mut().ok_or_else(wrong)?.push(c);
    }
    if key.trim().is_empty() || values.iter().any(|value| value.trim().is_empty()) {
        return Err(wrong());
    }
    Ok((key.trim().to_owned(), values))
}

/// Minutes, more than none and at most a year.
pub(super) fn parse_minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse::<f64>().ok().filter(|minutes| *minutes > 0.0 && *minutes <= 525_600.0);
    minutes.ok_or_else(|| "write minutes as a number, such as 30".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let list =
            |key: &str, values: &[&str]| Ok((key.to_owned(), values.iter().map(|v| v.to_string()).collect()));
        assert_eq!(parse_list("method.suppress=true,false"), list("method.suppress", &["true", "false"]));
        assert_eq!(
            parse_list("privacy.negative=[\"a,b\", 'c'],['d']"),
            list("privacy.negative", &["[\"a,b\", 'c']", "['d']"])
        );
        assert!(parse_list("method.suppress").is_err());
        assert!(parse_list("method.suppress=true,").is_err());
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("4G"), Ok(4 << 30));
        assert_eq!(parse_size("1.5k"), Ok(1536));
        assert_eq!(parse_size("512MiB"), Ok(512 << 20));
        assert!(parse_size("much").is_err());
        assert!(parse_size("0").is_err());
    }

    #[test]
    fn numbers() {
        assert_eq!(parse_numbers("3"), Ok(Numbers(vec![3])));
        assert_eq!(parse_numbers("1..3,7, 2"), Ok(Numbers(vec![1, 2, 3, 7])));
        for wrong in ["", "a", "3..1", "1..", "0..4000000000", "-1"] {
            assert!(parse_numbers(wrong).is_err(), "{wrong}");
        }
    }
}
