//! Results whose labels tell which values they hide (`privacy.guess`): counted with the input before anything is published.

use bosket_model::words::plural;
use bosket_model::{Diagnostic, Failure, Fault, Place};
use bosket_verify::guess::{Guessed, Told};

/// A result of which a label tells too much.
pub(super) fn unreached(found: &Guessed, worst: &Told, show_values: bool) -> Failure {
    let value = match (&worst.value, show_values) {
        (Some(value), true) => format!("`{value}`"),
        (None, true) => "an empty place".to_owned(),
        (_, false) => "one and the same value".to_owned(),
    };
    let what = format!(
        "guess = {} is not reached: of {} published as `{}`, {:.1} % hide {value}, which {:.1} % of all below it have",
        found.guess,
        plural(worst.cells as usize, "cell"),
        worst.label,
        worst.share() * 100.0,
        worst.usual * 100.0
    );
    let others = match found.told.len() - 1 {
        0 => String::new(),
        n => format!(", and {} tell too much as well", plural(n, "other label")),
    };
    let help = format!(
        "nothing was published{others}; the smallest `guess` that this result keeps is {}; ask for that, for a larger k, or \
         for one cut for all",
        smallest(worst.share())
    );
    Failure::new(
        Fault::Unreachable,
        Diagnostic::error(what).at(Place::default().path(worst.path.as_str())).help(help),
    )
}

/// The share with few digits, rounded up, so that it is kept.
fn smallest(share: f64) -> f64 {
    ((share * 1e4).ceil() / 1e4).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::smallest;

    #[test]
    fn what_is_told_to_be_kept_is_no_smaller_than_the_share() {
        assert_eq!([0.5, 2.0 / 3.0, 0.98001, 1.0].map(smallest), [0.5, 0.6667, 0.9801, 1.0]);
    }
}
