//! A small run for tests.

use super::result::{
    Axis, Claim, Column, Dataset, FORM, Holds, Machine, Missing, Results, Row, Suite, Table, Versions,
};

/// A table of two methods and two figures: `fast` doubles with x, `slow` grows with its square.
pub(super) fn table() -> Table {
    let column = |line: &str, measure: &str, unit: &str| Column {
        line: line.to_owned(),
        measure: measure.to_owned(),
        unit: unit.to_owned(),
    };
    let row = |x: f64, values: [Option<f64>; 4]| Row { x, name: x.to_string(), values: values.to_vec() };
    Table {
        id: "k".to_owned(),
        title: "time and loss over k".to_owned(),
        axis: Axis { label: "k".to_owned(), ..Axis::default() },
        columns: vec![
            column("fast", "cpu", "s"),
            column("slow", "cpu", "s"),
            column("fast", "loss", "%"),
            column("slow", "loss", "%"),
        ],
        rows: vec![
            row(1.0, [Some(0.5), Some(1.0), Some(5.0), Some(10.0)]),
            row(2.0, [Some(1.0), Some(4.0), Some(10.0), Some(20.0)]),
            row(4.0, [Some(2.0), Some(16.0), Some(20.0), None]),
        ],
        missing: vec![Missing {
            row: "4".to_owned(),
            line: "slow".to_owned(),
            why: "it took too long".to_owned(),
        }],
    }
}

/// A run with that table.
pub(super) fn results() -> Results {
    Results {
        form: FORM,
        extent: "quick".to_owned(),
        machine: Machine {
            cpu: "a processor".to_owned(),
            cores: 2,
            memory_mb: 4096,
            kernel: "6.1".to_owned(),
        },
        versions: Versions { bosket: "0.1.0".to_owned(), rustc: None, commit: Some("abc".to_owned()) },
        seed: 0,
        seconds: 1.25,
        datasets: vec![Dataset {
            name: "tpch-100".to_owned(),
            origin: "generated".to_owned(),
            sha256: "00".repeat(32),
            bytes: 100,
        }],
        suites: vec![Suite {
            name: "paper-000".to_owned(),
            title: "a paper".to_owned(),
            seconds: 1.0,
            tables: vec![table()],
            notes: vec!["a note".to_owned()],
            claims: vec![Claim {
                claim: "fast is faster".to_owned(),
                paper: Some("ten times".to_owned()),
                holds: Holds::Yes,
                why: "at 3 of 3 points".to_owned(),
            }],
        }],
    }
}
