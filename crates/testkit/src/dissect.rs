//! Anatomy and δ-dependency, taken literally.

use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::{Dictionary, Kind};

use crate::dice::Dice;

/// The labels from a node to the root.
fn path(hierarchy: &Hierarchy, label: &str) -> Vec<String> {
    let start = hierarchy.node(label).expect("a label of the hierarchy");
    std::iter::successors(Some(start), |&n| hierarchy.parent(n))
        .map(|n| hierarchy.label(n).to_owned())
        .collect()
}

/// δ of a set of values: the fewest edges between one of them and their closest common ancestor.
pub fn delta(hierarchy: &Hierarchy, values: &[&str]) -> usize {
    let paths: Vec<Vec<String>> = values.iter().map(|v| path(hierarchy, v)).collect();
    let common = |node: &&String| paths.iter().all(|p| p.contains(node));
    let closest = paths[0].iter().find(common).expect("the root is above all");
    paths.iter().map(|p| p.iter().position(|n| n == closest).expect("common")).min().expect("a value")
}

/// δ over every choice of one value per person, set-wise and pairwise; none if fewer than two people have a value.
pub fn degrees(hierarchy: &Hierarchy, people: &[Vec<String>]) -> (Option<usize>, Option<usize>) {
    let people: Vec<&Vec<String>> = people.iter().filter(|p| !p.is_empty()).collect();
    if people.len() < 2 {
        return (None, None);
    }
    let mut choices: Vec<Vec<&str>> = vec![Vec::new()];
    for person in &people {
        let mut longer = Vec::new();
        for choice in &choices {
            longer.extend(person.iter().map(|v| [choice.as_slice(), &[v.as_str()]].concat()));
        }
        choices = longer;
    }
    let set_wise = choices.iter().map(|c| delta(hierarchy, c)).min();
    let pairs =
        choices.iter().flat_map(|c| (0..c.len()).flat_map(move |i| (0..i).map(move |j| [c[i], c[j]])));
    (set_wise, pairs.map(|pair| delta(hierarchy, &pair)).min())
}

/// Whether no two people of a group share a value, nobody has one more often than one in `size` people may, and at most
/// one has none.
pub fn is_anatomy(people: &[Vec<String>], size: usize) -> bool {
    let shared = |i: usize, j: usize| people[i].iter().any(|v| people[j].contains(v));
    let apart = (0..people.len()).all(|i| (0..i).all(|j| !shared(i, j)));
    let times = |p: &Vec<String>, v: &String| p.iter().filter(|w| *w == v).count();
    let rare = people.iter().all(|p| p.iter().all(|v| times(p, v) * size <= people.len()));
    let without = people.iter().filter(|p| p.is_empty()).count();
    people.len() >= size && apart && rare && without <= 1
}

/// A sensitive attribute whose people have these values.
pub fn sensitive(path: &str, many: bool, people: &[Vec<String>]) -> SensitiveValues {
    let mut values = Dictionary::default();
    let codes =
        people.iter().map(|p| p.iter().map(|v| values.intern(Kind::Text, v)).collect::<Vec<u32>>()).collect();
    SensitiveValues { declared: 0, path: path.to_owned(), many, values, codes }
}

/// A hierarchy with inner nodes `a`, `ab`, … and all of them allowed as values: every word of up to `depth` letters
/// out of `fanout`, thinned out here and there.
pub fn words(dice: &mut Dice, fanout: usize, depth: usize) -> (String, Vec<String>) {
    let mut level = vec![String::new()];
    let mut all = Vec::new();
    for _ in 0..depth {
        let letters = |word: &String| -> Vec<String> {
            (0..fanout).map(|i| format!("{word}{}", char::from(b'a' + i as u8))).collect()
        };
        level = level.iter().flat_map(letters).filter(|w| w.len() == 1 || !dice.one_in(4)).collect();
        all.extend(level.iter().cloned());
    }
    let line = |word: &String| {
        let mut line: Vec<&str> = (1..=word.len()).rev().map(|n| &word[..n]).collect();
        line.push("*");
        line.join(";") + "\n"
    };
    (all.iter().map(line).collect(), all)
}
