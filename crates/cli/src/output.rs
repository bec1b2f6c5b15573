//! What goes to standard output: results.

use std::io::{ErrorKind, Write, stdout};

use bosket_model::{Diagnostic, Failure, Fault};

pub use bosket_model::words::{count, plural};

/// Prints text. A reader that has seen enough (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::new(
            Fault::Environment,
            Diagnostic::error(format!("cannot write to standard output: {e}")),
        )),
        _ => Ok(()),
    }
}

/// Prints JSON.
pub fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// Prints for `--json` that a check has failed, and why; the failure comes back for standard error and the exit code.
pub fn print_invalid(failure: Failure) -> Result<Failure, Failure> {
    let problems: Vec<String> = failure.diagnostics.iter().map(ToString::to_string).collect();
    print_json(&serde_json::json!({"valid": false, "problems": problems}))?;
    Ok(failure)
}

/// Per cent with one decimal, not rounded up where it would look like more of all than it is.
pub fn tenths(percent: f64) -> f64 {
    if percent > 99.0 { (10.0 * percent + 1e-9).floor() / 10.0 } else { (10.0 * percent).round() / 10.0 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_not_all_is_not_rounded_up_to_all() {
        let shown = [99.96, 99.8, 99.86, 98.66, 100.0, 0.04].map(super::tenths);
        assert_eq!(shown, [99.9, 99.8, 99.8, 98.7, 100.0, 0.0]);
    }
}
