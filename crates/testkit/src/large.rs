//! Data that takes a while, for tests of what can be interrupted.

use crate::dice::Dice;
use crate::trees::{LEVELS, PathRecord};
use crate::vertices::{self, NAMES, PERSON, Vertex};

/// Names that sort as they are numbered.
pub fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}{i:05}")).collect()
}

/// One of some names, the first ones much more often: as popular as things in shops are.
fn popular<'a>(dice: &mut Dice, names: &'a [String]) -> &'a String {
    let n = names.len();
    let (a, b) = (dice.below(n), dice.below(n));
    &names[a * b / n]
}

/// So many sets of up to 23 out of some items.
pub fn baskets(records: usize, items: &[String]) -> Vec<Vec<String>> {
    let mut dice = Dice::new(1);
    let basket = |dice: &mut Dice| (0..4 + dice.below(20)).map(|_| popular(dice, items).clone()).collect();
    (0..records).map(|_| basket(&mut dice)).collect()
}

/// The values of each level of [`forests`].
pub fn forest_values(values: usize) -> [Vec<String>; 3] {
    LEVELS.map(|level| names(level, values))
}

/// So many records with four paths of up to three values each.
pub fn forests(records: usize, levels: &[Vec<String>; 3]) -> Vec<PathRecord> {
    let mut dice = Dice::new(2);
    let path = |dice: &mut Dice| -> Vec<String> {
        let used = 1 + dice.below(levels.len());
        levels[..used].iter().map(|names| popular(dice, names).clone()).collect()
    };
    (0..records).map(|_| (0..4).map(|_| path(&mut dice)).collect()).collect()
}

/// So many people with up to five vertices of every class below one another, attributes `a`, `b` and `c` out of some
/// values.
pub fn people(records: usize, values: &[&str]) -> Vec<Vertex> {
    let mut dice = Dice::new(3);
    let person = |dice: &mut Dice| {
        let mut record = vertices::random_shape(dice, 5);
        (0..3).for_each(|attribute| vertices::throw_values(dice, &mut record, attribute, values));
        record
    };
    (0..records).map(|_| person(&mut dice)).collect()
}

/// So many rows of a table, each of its attributes out of some values.
pub fn rows(records: usize, values: &[&str]) -> Vec<Vertex> {
    let mut dice = Dice::new(4);
    let row = |dice: &mut Dice| Vertex {
        class: PERSON,
        values: NAMES.map(|_| Some((*dice.of(values)).to_owned())),
        children: Vec::new(),
    };
    (0..records).map(|_| row(&mut dice)).collect()
}
