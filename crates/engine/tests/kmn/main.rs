//! k^(m,n)-anonymity: promises kept, laws, shapes.

mod attackers;
mod effort;
mod forests;
mod hurried;
mod laws;
mod missing;
mod progress;
mod promises;
mod rows;

use bosket_engine::kmn::{Algorithm, Cost, Disassociation, Params, Shortcuts};
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::policy::RootMode;

/// For so many attributes a hierarchy each: `A1` and `A2` below `Ax`, `A3` and `A4` below `Ay`; then `B1` …
fn hierarchies(attributes: usize) -> Vec<Option<Hierarchy>> {
    ('A'..)
        .take(attributes)
        .map(|l| {
            let text = format!("{l}1;{l}x;*\n{l}2;{l}x;*\n{l}3;{l}y;*\n{l}4;{l}y;*\n");
            Some(csv::parse("h", &text).expect("a hierarchy"))
        })
        .collect()
}

/// The plain search of the paper for so many attributes.
fn params(attributes: usize, algorithm: Algorithm, k: u32, m: usize, n: usize) -> Params {
    Params {
        algorithm,
        k,
        m,
        n,
        g: 2,
        cost: Cost::RpdA,
        max_cuts: 100_000,
        effort: u64::MAX,
        weights: vec![1.0; attributes],
        beyond: false,
        disassociate: true,
        disassociation: Disassociation::Value,
        suppress: false,
        knowers: Vec::new(),
        guess: None,
        told: Vec::new(),
        local: false,
        root: RootMode::Separate,
        counted: false,
        shared: (0..attributes).collect(),
        negative: Vec::new(),
        memory: 1 << 30,
        improve: algorithm == Algorithm::Best,
        sample: 4_096,
        shortcuts: Shortcuts::default(),
        all: None,
    }
}
