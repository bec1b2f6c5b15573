//! Buckets of numeric sensitive values: all numbers between two bounds count as one value.

use bosket_model::{Diagnostic, Place};

/// A value as it is compared: its text, or its bucket. None if there are bounds and the text is no number.
pub(crate) fn label(bounds: Option<&[f64]>, text: &str) -> Option<String> {
    match bounds {
        None => Some(text.to_owned()),
        Some(bounds) => bucket(bounds, text),
    }
}

/// The bucket of a number; below the first and above the last bound there is one more each.
fn bucket(bounds: &[f64], text: &str) -> Option<String> {
    let number: f64 = text.trim().parse().ok().filter(|n: &f64| n.is_finite())?;
    let at = bounds.partition_point(|&b| b <= number);
    Some(match (at.checked_sub(1).map(|i| bounds[i]), bounds.get(at)) {
        (None, Some(first)) => format!("< {first}"),
        (Some(last), None) => format!(">= {last}"),
        (Some(from), Some(to)) => format!("[{from},{to})"),
        (None, None) => String::new(),
    })
}

/// The message about values that fit no bucket.
pub(crate) fn unreadable(count: usize, path: &str) -> Diagnostic {
    Diagnostic::error(format!("{count} distinct values are not numbers and fit no bucket"))
        .at(Place::default().path(path))
        .help("take `buckets` out of the policy, or make the values numbers")
}
