//! Hierarchies of the shared examples, where they are at hand.

use std::fs;
use std::path::{Path, PathBuf};

use bosket_model::hierarchy::{Hierarchy, csv, icd10};

fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there", path.display());
    None
}

fn load(path: &Path) -> Hierarchy {
    let text = fs::read_to_string(path).expect("a readable file");
    let h = csv::parse(&path.display().to_string(), &text).unwrap_or_else(|d| panic!("{d:#?}"));
    assert_eq!(csv::parse("again", &csv::write(&h)), Ok(h.clone()), "{}", path.display());
    h
}

#[test]
fn adult() {
    let Some(folder) = shared("data/flat-adult-arx/hierarchies") else { return };
    for (name, leaves, height) in [
        ("age", 100, 4),
        ("education", 16, 3),
        ("marital-status", 7, 2),
        ("native-country", 41, 2),
        ("occupation", 14, 2),
        ("race", 5, 1),
        ("salary-class", 2, 1),
        ("sex", 2, 1),
        ("workclass", 8, 2),
    ] {
        let h = load(&folder.join(format!("adult_hierarchy_{name}.csv")));
        assert_eq!((h.leaf_count(), h.height()), (leaves, height), "{name}");
    }
}

#[test]
fn worked_examples() {
    for (path, leaves, nodes) in
        [("kmn/hierarchy.csv", 12, 22), ("km/hierarchy.csv", 4, 7), ("clusters/course.csv", 7, 13)]
    {
        let Some(path) = shared(&format!("golden/{path}")) else { continue };
        let h = load(&path);
        assert_eq!((h.leaf_count(), h.len()), (leaves, nodes), "{}", path.display());
    }
}

#[test]
fn icd_excerpt() {
    let Some(path) = shared("golden/dissect/icd_excerpt.csv") else { return };
    let text = fs::read_to_string(path).expect("a readable file");
    let domain = ["G20-G26", "G12.3", "J60-J70", "J041"];
    let h = icd10::icd10(&domain, Some(("icd_excerpt.csv", &text))).unwrap_or_else(|d| panic!("{d:#?}"));
    assert_eq!(
        h.children(h.root()).map(|n| h.label(n)).collect::<Vec<_>>(),
        ["G00-G99", "I00-I99", "J00-J99"]
    );
    let (bound, leaves) = h.bind(domain).expect("all covered");
    let labels: Vec<_> = leaves.iter().map(|&n| bound.label(n)).collect();
    assert_eq!(labels, ["G20-G26 (unspecified)", "G12.3", "J60-J70", "J041"]);
    assert_eq!(h.lca(h.leaf("G12.3").expect("leaf"), h.leaf("J60-J70").expect("leaf")), h.root());
}
