//! What the labels give away: one sentence and one picture.

use bosket_measure::attack::guess::{AttributeGuess, Guessed};

use super::chart::{Bar, Part, stacked};
use super::text::{count, percent};

/// The section; nothing where no label covers more than one value.
pub(super) fn section(guess: Option<&Guessed>) -> String {
    let Some(guess) = guess.filter(|guess| guess.sum(|own| own.generalized) > 0) else {
        return String::new();
    };
    let mut out = format!("<h2>What the labels give away</h2>\n<p>{}</p>\n", sentence(guess));
    let title = "How surely labels give the values that they hide";
    out.push_str(&format!(
        "<figure><figcaption>{title}, more than how common these are; with the number of such values</figcaption>\
         <ul class=\"key\"><li><i class=\"before\"></i>by 90 % or more</li>\
         <li><i class=\"middle\"></i>by 50 % or more</li><li><i class=\"after\"></i>less surely, or not at all</li></ul>"
    ));
    out.push_str(&stacked("guess", title, &bars(guess)));
    out.push_str("</figure>\n");
    out
}

fn sentence(guess: &Guessed) -> String {
    let all = guess.sum(|own| own.generalized);
    let of_all =
        |cells: u64| format!("{} ({})", count(cells as usize), percent(cells as f64 / all.max(1) as f64));
    let attacked = guess.sum(|own| own.attacked);
    let restored = guess.restored.cells;
    let restored = match attacked == all {
        true => of_all(restored),
        false => format!("{} of {} that were tried", count(restored as usize), count(attacked as usize)),
    };
    format!(
        "Of {} values that are published as something more general, the label alone gives {} away by 90 % or more and {} by 50 % \
         or more, where they are not that common anyway; somebody who has only the publication and knows how it was made \
         restores {restored} with nine in ten right.",
        count(all as usize),
        of_all(guess.sum(|own| own.nine_tenths.told)),
        of_all(guess.sum(|own| own.half.told)),
    )
}

fn bars(guess: &Guessed) -> Vec<Bar<'_>> {
    let bar = |own: &AttributeGuess| {
        let share = |cells: u64| cells as f64 / own.generalized.max(1) as f64;
        let (most, half) = (share(own.nine_tenths.told), share(own.half.told));
        let part = |class, name: &'static str, share| Part { class, name: name.into(), share };
        Bar {
            name: format!("{}: {}", own.path, count(own.generalized as usize)),
            parts: vec![
                part("before", "by 90 % or more", most),
                part("generalized", "by 50 % or more", half - most),
                part("kept", "less surely", 1.0 - half),
            ],
        }
    };
    guess.attributes.iter().filter(|own| own.generalized > 0).map(bar).collect()
}
