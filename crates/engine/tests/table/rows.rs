//! What a row of the table must have beside its function: a page that names it, and tests of its family with random data.
//!
//! The walk over the table throws dice at every row, but knows no options. So beside it one of the other test files that throw
//! dice (`proptest!`, or loops over `cases`) must name the variant.

use std::path::{Path, PathBuf};

use bosket_model::policy::{Algorithm, Model};

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn page(name: &str) -> String {
    std::fs::read_to_string(folder("../../docs").join(name)).unwrap_or_else(|e| panic!("docs/{name}: {e}"))
}

/// The test sources that throw dice, but for those of the table itself.
fn random_tests() -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder("tests")];
    while let Some(path) = open.pop() {
        if path.is_dir() && !path.ends_with("table") {
            open.extend(
                std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()),
            );
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            found.extend(Some(text).filter(|t| t.contains("proptest!") || t.contains("cases(")));
        }
    }
    found
}

/// Whether a text has a word as a whole.
fn names(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let next = text[at + word.len()..].chars().next();
        !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn every_algorithm_is_named_by_its_page() {
    for algorithm in Algorithm::ALL {
        let wanted = format!("`{algorithm}`");
        assert!(page(algorithm.page()).contains(&wanted), "docs/{} does not name {wanted}", algorithm.page());
    }
    for model in Model::ALL {
        let wanted = format!("\"{model}\"");
        assert!(page(model.page()).contains(&wanted), "docs/{} does not name {wanted}", model.page());
        if let Some(paper) = model.paper() {
            let text = page(model.page()).replace("\n> ", " ");
            assert!(text.contains(&format!("*{}*", paper.title)), "docs/{} cites no {paper}", model.page());
        }
    }
}

#[test]
fn every_algorithm_is_named_by_a_test_with_random_data() {
    let tests = random_tests();
    for algorithm in Algorithm::ALL {
        let wanted = format!("Algorithm::{algorithm:?}");
        assert!(tests.iter().any(|text| names(text, &wanted)), "no test with random data names {wanted}");
    }
}
