//! ATC, the classification of medicines: main group → therapeutic → pharmacological → chemical group → substance.

use super::tree::Hierarchy;
use super::tree_builder::TreeBuilder;

/// Characters of a code per level, from the main group to the substance: `A`, `A10`, `A10B`, `A10BA`, `A10BA02`.
const LEVELS: [usize; 5] = [1, 3, 4, 5, 7];
/// The main groups, each with the highest number of its therapeutic groups.
const GROUPS: [(u8, u8); 14] = [
    (b'A', 16),
    (b'B', 6),
    (b'C', 10),
    (b'D', 11),
    (b'G', 4),
    (b'H', 5),
    (b'J', 7),
    (b'L', 4),
    (b'M', 9),
    (b'N', 7),
    (b'P', 3),
    (b'R', 7),
    (b'S', 3),
    (b'V', 20),
];

/// Builds the hierarchy over the domain's codes: `A10BA02` → `A10BA` → `A10B` → `A10` → `A` → `*`.
///
/// Codes may be written in either case and with blanks between their parts; a code keeps its spelling. A group that occurs
/// in the domain is that inner node. What is not written as a code is left uncovered.
pub fn atc(domain: &[&str]) -> Hierarchy {
    let mut codes: Vec<(String, &str)> = domain.iter().map(|&text| (normal(text), text)).collect();
    codes.retain(|(code, _)| length(code).is_some());
    codes.sort();
    let mut builder = TreeBuilder::new();
    for (code, text) in codes {
        let mut at = TreeBuilder::ROOT;
        for end in LEVELS.into_iter().filter(|&end| end <= code.len()) {
            at = builder.place(at, &code[..end]);
        }
        builder.place(at, text);
    }
    builder.finish()
}

/// How many characters a code of a known therapeutic group has, without blanks: 3, 4, 5 or 7. None if the text is no such
/// code. Three characters may as well be a category of ICD-10.
pub fn known(text: &str) -> Option<usize> {
    let code = normal(text);
    let length = length(&code).filter(|&length| length > 1)?;
    let number = code[1..3].parse::<u8>().ok()?;
    GROUPS
        .iter()
        .any(|&(group, last)| group == code.as_bytes()[0] && (1..=last).contains(&number))
        .then_some(length)
}

/// A code without blanks, in capitals.
fn normal(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_uppercase()).collect()
}

/// The length of what is written as a code.
fn length(code: &str) -> Option<usize> {
    let main = |b: &u8| GROUPS.iter().any(|(group, _)| group == b);
    let fits = |(at, b): (usize, &u8)| match at {
        0 => main(b),
        1 | 2 | 5 | 6 => b.is_ascii_digit(),
        _ => b.is_ascii_uppercase(),
    };
    let bytes = code.as_bytes();
    (LEVELS.contains(&bytes.len()) && bytes.iter().enumerate().all(fits)).then_some(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(h: &Hierarchy, label: &str) -> Vec<String> {
        let start = h.node(label).unwrap_or_else(|| panic!("{label} is no node"));
        std::iter::successors(Some(start), |&n| h.parent(n)).map(|n| h.label(n).to_owned()).collect()
    }

    #[test]
    fn metformin_stands_below_the_drugs_for_diabetes() {
        let h = atc(&["A10BA02", "a10ba02", "A10B A02", "C09AA"]);
        assert_eq!(path(&h, "A10BA02"), ["A10BA02", "A10BA", "A10B", "A10", "A", "*"]);
        assert_eq!(path(&h, "a10ba02"), ["a10ba02", "A10BA02", "A10BA", "A10B", "A10", "A", "*"]);
        assert_eq!(path(&h, "A10B A02")[1], "A10BA02");
        assert_eq!(path(&h, "C09AA"), ["C09AA", "C09A", "C09", "C", "*"]);
    }

    #[test]
    fn groups_as_data() {
        let domain = ["C09", "C09AA", "C09AA02", "C"];
        let (bound, leaves) = atc(&domain).bind(domain).expect("all covered");
        let labels: Vec<_> = leaves.iter().map(|&n| bound.label(n)).collect();
        assert_eq!(labels, ["C09 (unspecified)", "C09AA (unspecified)", "C09AA02", "C (unspecified)"]);
    }

    #[test]
    fn what_is_no_code_is_left_uncovered() {
        let domain = ["metformin", "A1", "A10B0", "A10BA0", "A10BA022", "E10BA02", "", "Ä10", "A10.1"];
        let h = atc(&domain);
        assert!(domain.iter().all(|value| h.leaf(value).is_none()), "{domain:?}");
    }

    #[test]
    fn codes_of_known_groups() {
        for (text, expected) in [
            ("A10BA02", Some(7)),
            ("c09aa", Some(5)),
            ("N02B", Some(4)),
            ("C09", Some(3)),
            ("A", None),
            ("A99BA02", None),
            ("C00", None),
            ("E11", None),
            ("J45.9", None),
            ("J459", None),
        ] {
            assert_eq!(known(text), expected, "{text}");
        }
    }
}
