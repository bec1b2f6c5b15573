//! Numbers that are published as tight ranges.

use bosket_engine::cluster::{Algorithm, Params};
use bosket_model::hierarchy::{Build, Numbers, build};
use bosket_model::policy::Role;
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::vertices::{self, Vertex, throw_values};
use proptest::prelude::*;

use super::{Case, QUASI, diverse, promises::check};

/// Two spellings of one number among them.
const NUMBERS: [&str; 8] = ["1", "2", "2.0", "5", "7.5", "11", "17", "20"];

impl Case {
    /// The same records, in which the first attribute of every class has ranges.
    fn with_ranges(mut self) -> Case {
        let numbers = build(&Build::Range { min: 0.0, max: 20.0 }, &NUMBERS, None).expect("good bounds");
        for (at, hierarchy) in self.hierarchies.iter_mut().enumerate().filter(|(at, _)| at % 4 == 0) {
            *hierarchy = (self.roles[at / 4][0] == Role::Quasi).then(|| numbers.clone());
        }
        self
    }
}

fn trees(dice: &mut Dice, number: usize) -> Case {
    let mut roles = [[Role::Quasi, Role::Quasi, Role::Sensitive, Role::Insensitive]; 4];
    roles[0][2] = Role::Insensitive;
    let records: Vec<Vertex> = (0..number)
        .map(|_| {
            let mut record = vertices::random_shape(dice, 2);
            throw_values(dice, &mut record, 0, &NUMBERS);
            throw_values(dice, &mut record, 1, &QUASI);
            throw_values(dice, &mut record, 2, &["A", "B", "C", "D"]);
            record
        })
        .collect();
    Case::of(&records, roles).with_ranges()
}

fn rows(dice: &mut Dice, number: usize) -> Case {
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[0] = [Role::Quasi, Role::Quasi, Role::Insensitive, Role::Insensitive];
    let rows: Vec<Vertex> = (0..number)
        .map(|_| {
            let mut row = Vertex { class: 0, values: Default::default(), children: Vec::new() };
            throw_values(dice, &mut row, 0, &NUMBERS);
            throw_values(dice, &mut row, 1, &QUASI);
            row
        })
        .collect();
    Case::of(&rows, roles).with_ranges()
}

const OF_TREES: [Algorithm; 5] =
    [Algorithm::Ctoff, Algorithm::Clustree, Algorithm::Miracle, Algorithm::Miraclex, Algorithm::Bitmap];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(200)))]
    #[test]
    fn ranges_of_trees_keep_their_promise(seed: u64, number in 4usize..30, k in 2u32..4, l: bool) {
        let mut dice = Dice::new(seed);
        let case = trees(&mut dice, number);
        let params = Params {
            improve: dice.one_in(2),
            ..Params::plain(*dice.of(&OF_TREES), k, l.then(|| diverse(2.0)))
        };
        if let Ok(release) = case.run(&params) {
            check(&case, &params, &release);
        }
    }

    #[test]
    fn ranges_of_rows_keep_their_promise_and_are_tight(seed: u64, number in 5usize..200, k in 2u32..6) {
        let case = rows(&mut Dice::new(seed), number);
        let params = Params::plain(Algorithm::Blocks, k, None);
        let release = case.run(&params).expect("as many rows as needed");
        check(&case, &params, &release);
        let (own, input) = (&release.data, &case.data);
        let (a, _) = own.schema().attributes().find(|(_, a)| a.path == "a").expect("published");
        let (b, _) = input.schema().attributes().find(|(_, a)| a.path == "a").expect("there");
        let numbers = |records: &[u32]| -> Option<Vec<f64>> {
            let number = |&r: &u32| {
                let code = input.value(input.vertices(r as usize).start, b);
                (code != bosket_model::MISSING).then(|| input.dictionary(b).text(code).parse().expect("a number"))
            };
            records.iter().map(number).collect()
        };
        let mut at = 0;
        for cluster in &release.clusters {
            let code = own.value(own.vertices(at).start, a);
            at += cluster.len();
            let text = (code != bosket_model::MISSING).then(|| own.dictionary(a).text(code));
            let Some(values) = numbers(cluster) else {
                prop_assert!(matches!(text, None | Some("*")));
                continue;
            };
            let lowest = values.iter().copied().fold(f64::MAX, f64::min);
            let highest = values.iter().copied().fold(f64::MIN, f64::max);
            let text = text.expect("all of them have a number");
            let single = || text.parse().ok().map(|n: f64| (n, n));
            prop_assert_eq!(Numbers::parse(text).or_else(single), Some((lowest, highest)));
        }
    }
}

/// A range costs its width as a share of what the policy allows, not of what occurs.
#[test]
fn a_range_costs_its_width() {
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[0][0] = Role::Quasi;
    let rows: Vec<Vertex> = ["1", "2", "17", "20"]
        .iter()
        .map(|n| {
            let mut row = Vertex { class: 0, values: Default::default(), children: Vec::new() };
            row.values[0] = Some((*n).to_owned());
            row
        })
        .collect();
    let case = Case::of(&rows, roles).with_ranges();
    for algorithm in [Algorithm::Blocks, Algorithm::Ctoff] {
        let release = case.run(&Params::plain(algorithm, 2, None)).expect("reachable");
        assert!((release.lm - (2.0 * 1.0 + 2.0 * 3.0) / 20.0 / 4.0).abs() < 1e-6, "{}", release.lm);
        let texts: Vec<&str> =
            release.data.dictionary(bosket_model::AttributeId(0)).iter().map(|v| v.1).collect();
        assert_eq!(texts, ["[1, 2]", "[17, 20]"]);
    }
}
