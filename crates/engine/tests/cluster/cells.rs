//! Records that are clustered in cells: promises kept, the same result whatever order and threads, cells as other machines make them.

use bosket_engine::Input;
use bosket_engine::cells::{self, Facts, Round, Splitter, Tally};
use bosket_engine::cluster::{Algorithm, Cells, Diverse, Params, Release};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::csv;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Role, Undeclared};
use bosket_model::selection::Digests;
use bosket_model::{Dataset, Kind, MISSING};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::vertices::{PERSON, Vertex};
use bosket_verify::verify;
use proptest::prelude::*;

use super::promises::{check, claim, random_params};
use super::{Case, diverse};

fn input(case: &Case) -> Input<'_> {
    Input { data: &case.data, binding: &case.binding, hierarchies: &case.hierarchies }
}

fn in_cells(params: &Params, cells: usize) -> Params {
    Params { cells: Cells::Exactly(cells), ..params.clone() }
}

/// What is published, in an order of its own: kinds count.
fn contents(data: &Dataset) -> Contents {
    let digests = Digests::new(data);
    let values = |record: usize| {
        let mut values = Vec::new();
        for v in data.vertices(record) {
            for &a in &data.schema().class(data.class(v)).attributes {
                let code = data.value(v, a);
                if code != MISSING {
                    values.push((data.dictionary(a).text(code).to_owned(), data.dictionary(a).kind(code)));
                }
            }
        }
        values.sort();
        values
    };
    let mut all: Vec<_> = (0..data.len()).map(|record| (digests.of(record), values(record))).collect();
    all.sort();
    all
}

fn same(a: &Release, b: &Release) -> bool {
    contents(&a.data) == contents(&b.data)
        && a.records == b.records
        && a.clusters == b.clusters
        && a.suppressed == b.suppressed
        && (a.lm, a.pruned, a.cost.to_bits()) == (b.lm, b.pruned, b.cost.to_bits())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]
    #[test]
    fn cells_keep_the_promise_of_all(seed: u64, records in 60usize..160, wanted in 2usize..6) {
        let mut dice = Dice::new(seed);
        let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        let params = in_cells(&random_params(&mut dice), wanted);
        if let Ok(release) = case.run(&params) {
            check(&case, &params, &release);
        }
    }

    #[test]
    fn cells_are_the_same_for_every_number_of_threads(seed: u64, records in 60usize..160) {
        let mut dice = Dice::new(seed);
        let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        let params = in_cells(&random_params(&mut dice), 4);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| case.run(&params))
        };
        match (run(1), run(3)) {
            (Ok(one), Ok(three)) => prop_assert!(same(&one, &three)),
            (one, three) => prop_assert_eq!(one.is_ok(), three.is_ok()),
        }
    }

    #[test]
    fn one_cell_is_no_cell(seed: u64, records in 8usize..60) {
        let mut dice = Dice::new(seed);
        let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        let params = random_params(&mut dice);
        for cells in [Cells::Exactly(1), Cells::Auto] {
            match (case.run(&params), case.run(&Params { cells, ..params.clone() })) {
                (Ok(without), Ok(with)) => prop_assert!(same(&without, &with)),
                (without, with) => prop_assert_eq!(without.is_ok(), with.is_ok()),
            }
        }
    }

    /// What a cluster of machines does: batches in any order, empty ones too, cells gathered from all of them.
    #[test]
    fn batches_make_what_one_machine_makes(seed: u64, records in 60usize..160, batches in 1usize..5) {
        let mut dice = Dice::new(seed);
        let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
        let mut params = in_cells(&random_params(&mut dice), 4);
        if let Some(ask) = &mut params.diverse {
            ask.distinct_everywhere.clear();
        }
        let Ok(whole) = case.run(&params) else { return Ok(()) };
        let mut of: Vec<Vec<u32>> = vec![Vec::new(); batches + 1];
        (0..records as u32).for_each(|record| of[dice.below(batches)].push(record));
        of.iter_mut().for_each(|batch| dice.shuffle(batch));
        let (published, tally, left, _) = distributed(&case, &params, &of);
        prop_assert_eq!(contents(&whole.data), published);
        prop_assert_eq!(whole.suppressed.len(), left);
        prop_assert_eq!(whole.pruned, tally.pruned());
        prop_assert!((whole.lm - tally.lm(params.lost)).abs() < 1e-9);
    }
}

/// Who is left over in many cells is put into several again, of streams into as many as there are of their size.
#[test]
fn batches_make_what_one_machine_makes_in_many_cells() {
    let mut dice = Dice::new(3);
    let case = Case::random(&mut dice, 2_000, &["A", "B", "C", "D", "E", "F"]);
    for (algorithm, least) in [(Algorithm::Ctoff, 1), (Algorithm::Miracle, 2)] {
        let params = in_cells(&Params::plain(algorithm, 2, None), 48);
        let whole = case.run(&params).expect("reachable");
        check(&case, &params, &whole);
        let mut of: Vec<Vec<u32>> = vec![Vec::new(); 3];
        (0..2_000u32).for_each(|record| of[dice.below(3)].push(record));
        let (published, tally, left, again) = distributed(&case, &params, &of);
        assert!(again >= least, "{algorithm}: {again}");
        assert!(contents(&whole.data) == published, "{algorithm}");
        assert_eq!((whole.suppressed.len(), whole.pruned), (left, tally.pruned()), "{algorithm}");
    }
}

#[test]
fn cells_of_the_second_round_are_as_large_as_usual() {
    let ctoff = Params::plain(Algorithm::Ctoff, 2, None);
    let again = |params: &Params, left: u64, (records, vertices): (u64, u64), cells: usize| {
        let facts = serde_json::json!({"records": records, "vertices": {"a": vertices}, "values": {}});
        cells::again(left, params, &Facts::from_json(&facts).expect("facts"), cells)
    };
    let students = |records: u64| (records, 13 * records);
    let auto = Params { cells: Cells::Auto, ..ctoff.clone() };
    assert_eq!(again(&auto, 500_000, students(1_000_000), 26), 13, "those of the first round");
    assert_eq!(again(&ctoff, 500_000, students(1_000_000), 4), 2, "no smaller than those of the first round");
    assert_eq!(again(&ctoff, 10_000, students(20_000), 16), 1);
    assert_eq!(again(&ctoff, 50_000, students(100_000), 16), 2, "650,000 vertices");
    assert_eq!(again(&ctoff, 50_000, (100_000, 100_000), 16), 1);
    assert_eq!(again(&ctoff, 1_000, students(2_000), 100), 4, "sixteen times as large at most");
    assert_eq!(again(&ctoff, 0, (0, 0), 1), 0);
    for algorithm in [Algorithm::Miracle, Algorithm::Miraclex, Algorithm::Dmiracle] {
        let stream = Params { algorithm, ..ctoff.clone() };
        assert_eq!(again(&stream, 10_000, students(20_000), 16), 8, "{algorithm}");
    }
}

type Contents = Vec<([u8; 32], Vec<(String, Kind)>)>;

/// What is published, figures, who is suppressed, and in how many cells those were put who were left over.
fn distributed(case: &Case, params: &Params, batches: &[Vec<u32>]) -> (Contents, Tally, usize, usize) {
    let data: Vec<Dataset> = batches.iter().map(|batch| case.data.picked(batch)).collect();
    fn of<'a>(case: &'a Case, data: &'a Dataset) -> Input<'a> {
        Input { data, ..input(case) }
    }
    let facts = data.iter().map(|data| Facts::count(data, &case.binding, &Quiet).expect("counted"));
    let facts = facts.fold(Facts::default(), Facts::merge);
    let facts = Facts::from_json(&facts.to_json()).expect("its own form");
    assert_eq!(facts.records(), case.data.len() as u64);
    let mut sampled = data
        .iter()
        .flat_map(|data| cells::sampled(of(case, data), facts.records(), &Quiet).expect("sampled"));
    assert!(sampled.all(|kept| kept), "few records are a sample as a whole");
    let sample = case.data.picked(&batches.concat());
    let splitter =
        Splitter::new(of(case, &sample), params, &facts, facts.cells(params), &Quiet).expect("split");
    let assign = |splitter: &Splitter, records: &[u32]| -> Vec<Vec<u32>> {
        let mut cells: Vec<Vec<u32>> = vec![Vec::new(); splitter.cells()];
        // Batch by batch, whoever is not asked for left out.
        for (batch, data) in batches.iter().zip(&data) {
            let assigned = splitter.assign(of(case, data), &Quiet).expect("assigned");
            let asked = batch.iter().zip(assigned).filter(|(record, _)| records.contains(record));
            asked.for_each(|(&record, cell)| cells[cell as usize].push(record));
        }
        cells
    };
    let (mut parts, mut tally) = (Vec::new(), Tally::default());
    let mut made = |cells: &[Vec<u32>], round: Round| -> Vec<u32> {
        let mut left = Vec::new();
        for cell in cells {
            let data = case.data.picked(cell);
            let made = cells::anonymize(of(case, &data), params, &facts, round, &Quiet).expect("made");
            left.extend(made.left.iter().map(|&record| cell[record as usize]));
            let own = Tally::from_json(&made.tally.to_json()).expect("its own form");
            tally = std::mem::take(&mut tally).merge(own);
            parts.push(made.data);
        }
        left
    };
    let split = |splitter: Splitter, records: &[u32]| {
        let counts: Vec<u64> = assign(&splitter, records).iter().map(|cell| cell.len() as u64).collect();
        let splitter = splitter.joined(&counts, params);
        assign(&Splitter::from_json(&splitter.to_json()).expect("its own form"), records)
    };
    let cells = split(splitter, &batches.concat());
    let mut left = made(&cells, Round::First);
    let again = cells::again(left.len() as u64, params, &facts, cells.len());
    if again > 1 {
        let sample = case.data.picked(&left);
        let splitter = Splitter::new(of(case, &sample), params, &facts, again, &Quiet).expect("split");
        left = made(&split(splitter, &left), Round::Last);
    }
    let last = case.data.picked(&left);
    let made = cells::anonymize(of(case, &last), params, &facts, Round::Last, &Quiet).expect("made");
    let gone = cells::suppressed(of(case, &last), &made.left, params, &facts, &Quiet).expect("counted");
    tally = tally.merge(made.tally).merge(gone);
    parts.push(made.data);
    let mut all = Vec::new();
    for part in &parts {
        let binding = Binding::new(part.schema(), &case.policy.attributes, Undeclared::Refuse, "published");
        let part = cells::spelled(part, &binding.expect("declared"), &case.hierarchies, &tally);
        all.extend(contents(&part));
    }
    all.sort();
    (all, tally, made.left.len(), again)
}

/// Two cells, `p` with `q` and `s` with `t`. Half of each cell have `B` and one has `A`, of one town; the other half have `C`, of the other: clusters of
/// twenty, of which ten may have `B`, are published as `*` in both.
fn two_cells_that_look_alike() -> Case {
    let person = |town: &str, secret: &str| Vertex {
        class: PERSON,
        values: [Some(town.to_owned()), None, Some(secret.to_owned()), None],
        children: Vec::new(),
    };
    let mut people = Vec::new();
    for (town, other) in [("p", "q"), ("s", "t")] {
        people.extend((0..100).map(|at| person(town, if at == 50 { "A" } else { "B" })));
        people.extend((0..100).map(|_| person(other, "C")));
    }
    let mut roles = [[Role::Insensitive; 4]; 4];
    roles[PERSON][0] = Role::Quasi;
    roles[PERSON][2] = Role::Sensitive;
    let mut case = Case::of(&people, roles);
    case.hierarchies[0] = Some(csv::parse("h", "p;*\nq;*\ns;*\nt;*\n").expect("flat"));
    case
}

/// Each cell has one `A`; classes of both that look alike have two.
#[test]
fn a_value_that_may_stand_once_stands_once_over_all_cells() {
    let case = two_cells_that_look_alike();
    let asking = |listed: &[&str]| {
        let distinct_everywhere = listed.iter().map(|&value| value.to_owned()).collect();
        let ask = Diverse { distinct_everywhere, ..diverse(2.0) };
        Params { cells: Cells::Exactly(2), ..Params::plain(Algorithm::Ctoff, 20, Some(ask)) }
    };
    let (careless, careful) = (asking(&[]), asking(&["A"]));
    let release = case.run(&careful).expect("reachable");
    assert_eq!(release.cells, 2);
    check(&case, &careful, &release);
    // Each cell for itself keeps the promise, all together do not.
    let release = case.run(&careless).expect("reachable");
    assert!(broken(&case, &careful, &release.data), "cells do not have alike classes");
    let facts = Facts::count(&case.data, &case.binding, &Quiet).expect("counted");
    let splitter = Splitter::new(input(&case), &careful, &facts, 2, &Quiet).expect("split");
    let of = splitter.assign(input(&case), &Quiet).expect("assigned");
    for cell in 0..splitter.cells() as u32 {
        let own: Vec<u32> = (0..of.len() as u32).filter(|&record| of[record as usize] == cell).collect();
        let own = Input { data: &case.data.picked(&own), ..input(&case) };
        let made = cells::anonymize(own, &careless, &facts, Round::Last, &Quiet).expect("made");
        assert!(!broken(&case, &careful, &made.data), "cell {cell}");
    }
    let refused = cells::refuse_partitions(&careful).expect_err("nobody sees all cells there");
    assert!(refused.diagnostics[0].message.contains("distinct_everywhere"));
    assert!(cells::anonymize(input(&case), &careful, &facts, Round::Last, &Quiet).is_err());
}

fn broken(case: &Case, params: &Params, published: &Dataset) -> bool {
    let binding = Binding::new(published.schema(), &case.policy.attributes, Undeclared::Refuse, "published");
    let binding = binding.expect("declared");
    verify(published, &binding, &claim(params), &[], 1 << 24, &Quiet).expect("countable").is_some()
}

#[test]
fn a_splitter_is_read_as_it_was_written_and_nothing_else_is() {
    let mut dice = Dice::new(5);
    let case = Case::random(&mut dice, 200, &["A", "B"]);
    let params = Params::plain(Algorithm::Ctoff, 2, None);
    let facts = Facts::count(&case.data, &case.binding, &Quiet).expect("counted");
    let splitter = Splitter::new(input(&case), &params, &facts, 6, &Quiet).expect("split");
    assert!(splitter.cells() > 3, "{}", splitter.cells());
    let json = splitter.to_json();
    assert_eq!(Splitter::from_json(&json).expect("its own form"), splitter);
    let mut endless = json.clone();
    endless["splits"][1]["no"] = serde_json::json!({"split": 0});
    let mut twice = json.clone();
    twice["splits"][0]["no"] = serde_json::json!({"cell": 0});
    twice["splits"][0]["yes"] = serde_json::json!({"cell": 0});
    for bad in [endless, twice, serde_json::json!({"first": {"cell": 1}, "splits": []}), serde_json::json!(3)]
    {
        assert!(Splitter::from_json(&bad).is_err(), "{bad}");
    }
    let none =
        Splitter::new(Input { data: &case.data.picked(&[]), ..input(&case) }, &params, &facts, 6, &Quiet);
    assert_eq!(none.expect("nobody to split").cells(), 1);
}

#[test]
fn small_cells_join_their_sibling() {
    let mut dice = Dice::new(6);
    let case = Case::random(&mut dice, 200, &["A", "B"]);
    let facts = Facts::count(&case.data, &case.binding, &Quiet).expect("counted");
    let params = Params::plain(Algorithm::Ctoff, 2, None);
    let splitter = Splitter::new(input(&case), &params, &facts, 6, &Quiet).expect("split");
    let cells = splitter.cells();
    let mut counts = vec![1000; cells];
    assert_eq!(splitter.joined(&counts, &params).cells(), cells);
    counts[1] = 19;
    let joined = splitter.joined(&counts, &params);
    assert_eq!(joined.cells(), cells - 1);
    let of = joined.assign(input(&case), &Quiet).expect("assigned");
    assert!((0..cells as u32 - 1).all(|cell| of.contains(&cell)), "{of:?}");
    assert_eq!(splitter.joined(&vec![0; cells], &params).cells(), 1);
}
