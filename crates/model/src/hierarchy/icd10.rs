//! ICD-10: chapter → block → category → code.

use super::icd10_table;
use super::tree::Hierarchy;
use super::tree_builder::{Handle, TreeBuilder};
use crate::diag::Diagnostic;

/// Chapters and blocks of ICD-10-CM, one chapter per line: its range, then its blocks. `+` adds a category that sorts
/// outside its block's range. Sections of the classification that only span other blocks are left out.
const RANGES: &str = include_str!("icd10cm_ranges.txt");

/// Builds the hierarchy over the domain's codes, or from a `table` (name and text) of another edition.
///
/// Codes may be written with or without the dot and in either case; a code is a leaf below its category, which its
/// first three characters name, and keeps its spelling. Chapters and blocks are labelled by their ranges. A category,
/// block or chapter that occurs in the domain is that inner node. A category of no known block hangs directly below
/// its chapter. What is no code, or of no chapter, is left uncovered.
///
/// With a table the structure is the table's, and all of its codes are nodes; codes of the domain that differ from it
/// in dot or case are leaves below the table's code.
pub fn icd10(domain: &[&str], table: Option<(&str, &str)>) -> Result<Hierarchy, Vec<Diagnostic>> {
    let mut sorted = domain.to_vec();
    sorted.sort_unstable();
    match table {
        Some((name, text)) => icd10_table::build(name, text, &sorted),
        None => Ok(built_in(&sorted)),
    }
}

/// A code without its dot, in capitals: what all its spellings have in common.
pub fn normal(code: &str) -> String {
    code.trim().chars().filter(|&c| c != '.').map(|c| c.to_ascii_uppercase()).collect()
}

/// A code as it is usually written: with a dot after the category.
pub fn usual(code: &str) -> String {
    let code = normal(code);
    match code.split_at_checked(3) {
        Some((category, rest)) if !rest.is_empty() && !rest.contains('-') => format!("{category}.{rest}"),
        _ => code,
    }
}

fn built_in(sorted: &[&str]) -> Hierarchy {
    let edition = Edition::new();
    let mut builder = TreeBuilder::new();
    let mut codes: Vec<(usize, String, &str)> = sorted
        .iter()
        .filter_map(|&text| {
            let code = normal(text);
            Some((edition.chapter(&code)?, code, text))
        })
        .collect();
    codes.sort();
    for (chapter, code, text) in codes {
        let node = edition.plant(&mut builder, chapter, &code);
        builder.place(node, text);
    }
    builder.finish()
}

struct Chapter {
    range: &'static str,
    blocks: Vec<Block>,
}

struct Block {
    range: &'static str,
    added: Vec<&'static str>,
}

struct Edition {
    chapters: Vec<Chapter>,
}

impl Edition {
    fn new() -> Self {
        let block = |text: &'static str| {
            let mut parts = text.split('+');
            Block { range: parts.next().unwrap_or(text), added: parts.collect() }
        };
        let chapter = |line: &'static str| {
            let mut words = line.split(' ');
            Chapter { range: words.next().unwrap_or(line), blocks: words.map(block).collect() }
        };
        Edition { chapters: RANGES.lines().map(chapter).collect() }
    }

    /// The chapter of a code, category, block or chapter; none if it is none of these.
    fn chapter(&self, code: &str) -> Option<usize> {
        let known = |c: &Chapter| c.range == code || c.blocks.iter().any(|b| b.range == code);
        if let Some(at) = self.chapters.iter().position(known) {
            return Some(at);
        }
        let (category, rest) = code.split_at_checked(3)?;
        let plain = |s: &str| s.bytes().all(|b| b.is_ascii_alphanumeric());
        let is_block = |c: &Chapter| c.blocks.iter().any(|b| b.range == category);
        let usual = category.as_bytes()[0].is_ascii_uppercase() && category.as_bytes()[1].is_ascii_digit();
        if !plain(code) || rest.len() > 5 {
            return None;
        }
        let at = |c: &Chapter| is_block(c) || (usual && within(category, c.range));
        self.chapters.iter().position(at)
    }

    /// Plants the nodes above a code, which has a chapter, down to its category; a block or chapter is its own.
    fn plant(&self, builder: &mut TreeBuilder, chapter: usize, code: &str) -> Handle {
        let Chapter { range, blocks } = &self.chapters[chapter];
        let mut at = builder.place(TreeBuilder::ROOT, range);
        if code == *range {
            return at;
        }
        let category = code.split_at_checked(3).map_or(code, |(category, _)| category);
        let named = |b: &&Block| b.range == code || b.range == category || b.added.contains(&category);
        // Categories such as D3A sort into a range that is not theirs, so names come first.
        let block = blocks.iter().find(named).or_else(|| blocks.iter().find(|b| within(category, b.range)));
        if let Some(block) = block {
            at = builder.place(at, block.range);
            if block.range == code {
                return at;
            }
        }
        builder.place(at, category)
    }
}

fn within(category: &str, range: &str) -> bool {
    range.split_once('-').is_some_and(|(first, last)| first <= category && category <= last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(h: &Hierarchy, label: &str) -> Vec<String> {
        let start = h.node(label).unwrap_or_else(|| panic!("{label} is no node"));
        std::iter::successors(Some(start), |&n| h.parent(n)).map(|n| h.label(n).to_owned()).collect()
    }

    fn built(domain: &[&str]) -> Hierarchy {
        icd10(domain, None).unwrap_or_else(|d| panic!("{d:?}"))
    }

    #[test]
    fn codes_in_all_spellings() {
        let h = built(&["J45.901", "J45901", "j45.9"]);
        for code in ["J45.901", "J45901", "j45.9"] {
            assert_eq!(path(&h, code), [code, "J45", "J40-J4A", "J00-J99", "*"]);
        }
        assert_eq!(h.leaf_count(), 3);
    }

    #[test]
    fn categories_that_sort_outside_their_block() {
        for (code, expected) in [
            ("C4A.9", vec!["C4A.9", "C4A", "C43-C44", "C00-D49", "*"]),
            ("M1A.00X0", vec!["M1A.00X0", "M1A", "M05-M14", "M00-M99", "*"]),
            ("Z3A.20", vec!["Z3A.20", "Z3A", "Z30-Z39", "Z00-Z99", "*"]),
            ("C7A.0", vec!["C7A.0", "C7A", "C00-D49", "*"]),
            ("D3A.0", vec!["D3A.0", "D3A", "C00-D49", "*"]),
            ("O9A.1", vec!["O9A.1", "O9A", "O94-O9A", "O00-O9A", "*"]),
            ("I5A", vec!["I5A", "I30-I5A", "I00-I99", "*"]),
            ("QA0.8", vec!["QA0.8", "QA0", "Q00-QA0", "*"]),
            ("U07.1", vec!["U07.1", "U07", "U00-U49", "U00-U85", "*"]),
            ("U82", vec!["U82", "U00-U85", "*"]),
            ("B20", vec!["B20", "A00-B99", "*"]),
        ] {
            assert_eq!(path(&built(&[code]), code), expected);
        }
    }

    #[test]
    fn inner_nodes_as_data() {
        let domain = ["J45", "j45", "J45.2", "J40-J4A", "J00-J99", "A00"];
        let h = built(&domain);
        assert_eq!(path(&h, "j45"), ["j45", "J45", "J40-J4A", "J00-J99", "*"]);
        let (bound, leaves) = h.bind(domain).expect("all covered");
        let labels: Vec<_> = leaves.iter().map(|&n| bound.label(n)).collect();
        let expected =
            ["J45 (unspecified)", "j45", "J45.2", "J40-J4A (unspecified)", "J00-J99 (unspecified)", "A00"];
        assert_eq!(labels, expected);
    }

    #[test]
    fn what_is_no_code_is_left_uncovered() {
        let domain = ["asthma", "J4", "", "F00", "J45.", "JJ5.1", "J45-J46", "4J5", "J45.9012345", "Jé5"];
        let h = built(&domain);
        let covered: Vec<_> = domain.iter().filter(|d| h.leaf(d).is_some()).collect();
        assert_eq!(covered, [&"J45."]);
    }

    #[test]
    fn the_ranges_are_whole() {
        let edition = Edition::new();
        assert_eq!(edition.chapters.len(), 22);
        assert_eq!(edition.chapters.iter().map(|c| c.blocks.len()).sum::<usize>(), 285);
        for chapter in &edition.chapters {
            for block in &chapter.blocks {
                let first = block.range.split('-').next().expect("a first category");
                assert!(within(first, chapter.range), "{} in {}", block.range, chapter.range);
            }
        }
    }
}
