//! δ-dependency where a person may have several values: what the publication shows must be possible, or it is refused.

use bosket_testkit::dice::Dice;
use bosket_testkit::{dissect as literal, fixtures};
use bosket_verify::{Apart, Delta};

use super::apart::{People, dealt, holds};
use crate::{Outcome, dice};

/// A group keeps the distance if its values can be given to its people, one of whom may have none, so that every choice of one
/// value per person lies that far apart; and no value stands more often in it than its share.
pub fn verify_delta(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let depth = 2 + dice.below(2);
    let (text, words) = literal::words(&mut dice, 3, depth);
    let hierarchy = fixtures::hierarchy(&text);
    let size = 2 + dice.below(2);
    let (distance, pairwise) = (dice.below(4), dice.one_in(2));
    let l = dice.one_in(3).then(|| 1.5 + dice.below(3) as f64 / 2.0);
    let groups: Vec<Vec<String>> = (0..1 + dice.below(2)).map(|_| values(&mut dice, &words)).collect();
    let people: Vec<usize> = groups.iter().map(|_| 2 + dice.below(3)).collect();
    let far = |way: &People| {
        let without = way.iter().filter(|person| person.is_empty()).count();
        let (set_wise, pairs) = literal::degrees(&hierarchy, way);
        without <= 1 && (if pairwise { pairs } else { set_wise }).is_none_or(|d| d >= distance)
    };
    let share = (size as f64).max(l.unwrap_or(0.0));
    let keeps = |(values, people): (&Vec<String>, &usize)| {
        let times = |value: &String| values.iter().filter(|other| *other == value).count() as f64;
        *people >= size
            && values.iter().all(|value| times(value) * share <= *people as f64)
            && dealt(values, *people).iter().any(far)
    };
    let expected = groups.iter().zip(&people).all(keeps);
    let delta = Some(Delta { distance: distance as u32, pairwise });
    let claim = Apart { group_size: size as u32, l, delta, ..Apart::default() };
    let published: Vec<People> =
        groups.iter().zip(&people).map(|(values, &people)| dealt(values, people).swap_remove(0)).collect();
    let found = holds(&published, true, &claim, &hierarchy);
    assert_eq!(found, expected, "{groups:?} of {people:?} people, {claim:?}");
    if found { Outcome::Held } else { Outcome::Refused }
}

/// Up to five values, of which few are the same: most that are thrown alike are far too common.
fn values(dice: &mut Dice, words: &[String]) -> Vec<String> {
    let mut left = words.to_vec();
    dice.shuffle(&mut left);
    left.truncate(dice.below(6));
    if !left.is_empty() && dice.one_in(4) {
        left.push(left[0].clone());
        left.truncate(5);
    }
    left
}
