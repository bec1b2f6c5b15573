//! Clusters whose sides are taken apart: what is written and read again keeps the promise and is true, and shows where
//! somebody moved something.

use std::path::PathBuf;

use bosket_engine::cluster::{self, Params, Release};
use bosket_io::apart::{Clustered, Dissection, PublishedReader, Records};
use bosket_io::{Create, PolicyFile, SourceForm, format};
use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Siblings, Undeclared};
use bosket_model::sides::Fates;
use bosket_model::{Fault, Result};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::vertices::{self, CLASSES, NAMES};
use bosket_verify::sides::expected;
use bosket_verify::truth::{Grouped, Side, Untruth, compare_anatomized};
use bosket_verify::vertex::Diverse;
use bosket_verify::{Anatomized, Close, JudgedClusters, Measure, Witness, verify_anatomized};
use proptest::prelude::*;

use super::promises::random_params;
use super::{Case, add_secret_trees, diverse, random_close, secret_tree};

fn file(case: &Case) -> PolicyFile {
    let rest = "[source]\nformat = \"json\"\npath = \"in.json\"\n[privacy]\nmodel = \"k-anonymity\"\nk = 2\n\
                [publish]\npath = \"out.json\"\nanatomize = true\n";
    let text = vertices::policy(&case.roles) + rest;
    let (policy, _) = Policy::parse("p", &text, &[]).expect("a good policy");
    PolicyFile { policy, folder: PathBuf::new(), warnings: Vec::new(), frames: None }
}

/// What a stranger reads, and per input record the number of its group.
fn publish(case: &Case, release: &Release) -> (JudgedClusters, Vec<u32>) {
    let file = file(case);
    let dissection = Dissection::new(&file, Fates::new).expect("json can be dissected");
    let binding = Binding::new(release.data.schema(), &file.policy.attributes, Undeclared::Refuse, "made");
    let json = format::by_name("json").expect("a format");
    let form = SourceForm::Document { format: json, layout: Box::default() };
    let records = Records { data: &release.data, binding: &binding.expect("declared"), form: &form };
    let Clustered { mut people, group_of, groups } = dissection.clusters(records).expect("room");
    let create = Create::default();
    let mut drafts = dissection.write(&mut people, (&group_of, groups), create).expect("room");
    let ids = drafts.written.ids();
    let mut mapping = vec![0; case.data.len()];
    for (&record, &group) in release.records.iter().zip(&group_of) {
        mapping[record as usize] = ids[group as usize];
    }
    let reader = PublishedReader::new(&file, expected).expect("a good policy");
    let read = reader.read_clusters_again(&mut drafts, &Quiet).expect("readable");
    (JudgedClusters::new(&file.policy, read).expect("paths"), mapping)
}

fn claim(params: &Params) -> Anatomized {
    let ask = params.diverse.as_ref().map(|ask| Diverse {
        l: ask.l,
        diversity: ask.diversity,
        siblings: ask.siblings,
        distinct_everywhere: ask.distinct_everywhere.clone(),
        buckets: ask.buckets.clone(),
    });
    let close = params.close.as_ref().map(|ask| Close {
        measure: match ask.measure {
            cluster::Measure::T(t) => Measure::T(t),
            cluster::Measure::Beta(beta) => Measure::Beta(beta),
        },
        grounds: ask.grounds.clone(),
        buckets: ask.buckets.clone(),
    });
    Anatomized { k: Some(params.k), ask, close }
}

fn check(published: &JudgedClusters, params: &Params) -> Result<Option<Witness>> {
    let hierarchies = vec![Some(secret_tree()); CLASSES.len() * NAMES.len()];
    verify_anatomized(&published.sides(), &claim(params), &hierarchies, &Quiet)
}

fn untruths(case: &Case, published: &JudgedClusters, mapping: Option<&[u32]>) -> Vec<Untruth> {
    let grouped = Grouped {
        published: published.sides(),
        input: Side { data: &case.data, binding: &case.binding },
        hierarchies: &case.hierarchies,
        mapping,
    };
    compare_anatomized(&grouped, &Quiet).expect("comparable")
}

fn random_case(seed: u64, records: usize) -> (Case, Params, Dice) {
    let mut dice = Dice::new(seed);
    let case = Case::random(&mut dice, records, &["A", "B", "C", "D", "E", "F"]);
    let mut params = random_params(&mut dice);
    if let Some(ask) = &mut params.diverse {
        ask.siblings = Siblings::Pooled;
    }
    if params.diverse.is_none() && dice.one_in(2) {
        params.close = Some(random_close(&mut dice));
    }
    let mut case = case;
    add_secret_trees(&mut case);
    (case, params, dice)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]
    #[test]
    fn every_result_taken_apart_keeps_its_promise_and_is_true(seed: u64, records in 4usize..40) {
        let (case, params, _) = random_case(seed, records);
        let Ok(release) = case.run(&params) else { return Ok(()) };
        let (published, mapping) = publish(&case, &release);
        prop_assert_eq!(published.people.len(), release.records.len());
        prop_assert_eq!(check(&published, &params).expect("countable"), None);
        prop_assert_eq!(untruths(&case, &published, None), []);
        prop_assert_eq!(untruths(&case, &published, Some(&mapping)), []);
        prop_assert_eq!(&published.judged.left, &Vec::<String>::new());
        prop_assert_eq!(&published.judged.misplaced, &Vec::new());
    }

    /// Whoever says another group than their own does not look like the others there.
    #[test]
    fn a_person_in_the_wrong_group_is_found(seed: u64, records in 6usize..40) {
        let (case, params, mut dice) = random_case(seed, records);
        let Ok(release) = case.run(&params) else { return Ok(()) };
        let (mut published, mapping) = publish(&case, &release);
        let groups = published.names.len();
        if groups < 2 {
            return Ok(());
        }
        let person = dice.below(published.groups.len());
        let own = published.groups[person] as usize;
        published.groups[person] = ((own + 1 + dice.below(groups - 1)) % groups) as u32;
        match check(&published, &params) {
            Ok(witness) => prop_assert!(witness.is_some()),
            Err(failure) => prop_assert_eq!(failure.fault, Fault::Data),
        }
        prop_assert!(!untruths(&case, &published, Some(&mapping)).is_empty());
    }

    #[test]
    fn a_value_that_nobody_had_is_not_true(seed: u64, records in 6usize..40) {
        let (case, params, mut dice) = random_case(seed, records);
        let Ok(release) = case.run(&params) else { return Ok(()) };
        let (mut published, mapping) = publish(&case, &release);
        let mut all: Vec<(usize, usize, usize)> = Vec::new();
        for (at, sensitive) in published.judged.dissected.sensitive.iter().enumerate() {
            let lists = (0..).zip(sensitive.codes.iter());
            all.extend(lists.flat_map(|(group, codes)| (0..codes.len()).map(move |i| (at, group, i))));
        }
        if all.is_empty() {
            return Ok(());
        }
        let (at, group, i) = *dice.of(&all);
        let column = &mut published.judged.dissected.sensitive[at];
        let mut lists: Vec<Vec<u32>> = column.codes.iter().map(<[u32]>::to_vec).collect();
        let invented = column.values.intern(bosket_model::Kind::Text, "Z");
        lists[group][i] = invented;
        column.codes = lists.into_iter().collect();
        let path = column.path.clone();
        for told in [untruths(&case, &published, None), untruths(&case, &published, Some(&mapping))] {
            prop_assert!(told.iter().any(|u| u.path.as_ref() == Some(&path)), "{told:?}");
        }
    }
}

/// A mapping of groups is asked for the people too: two of them in each other's group are not where it says.
#[test]
fn a_mapping_with_swapped_people_is_not_true() {
    let mut found = 0;
    for seed in 0..200 {
        let (case, _, _) = random_case(seed, 30);
        let params = Params::plain(bosket_engine::cluster::Algorithm::Ctoff, 2, Some(diverse(2.0)));
        let Ok(release) = case.run(&params) else { continue };
        let (published, mut mapping) = publish(&case, &release);
        let Some(other) = (1..mapping.len()).find(|&r| mapping[r] > 0 && mapping[r] != mapping[0]) else {
            continue;
        };
        if mapping[0] == 0 {
            continue;
        }
        mapping.swap(0, other);
        found += usize::from(!untruths(&case, &published, Some(&mapping)).is_empty());
        mapping.swap(0, other);
        mapping[0] = mapping[other];
        let told = untruths(&case, &published, Some(&mapping));
        assert!(told.iter().any(|u| u.message.contains("2 groups have not as many records")), "{told:?}");
    }
    assert!(found > 20, "{found}");
}
