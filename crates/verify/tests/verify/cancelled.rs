//! Whoever gives up gets no verdict. A count that was not finished must never pass for one that found nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use bosket_model::binding::Binding;
use bosket_model::dissected::{Dissected, SensitiveValues, SideDigests};
use bosket_model::hierarchy::csv;
use bosket_model::observe::Observer;
use bosket_model::policy::{
    Diversity, Missing, Negative, Payload, Policy, Relations, RootMode, Rows, Siblings, Undeclared,
};
use bosket_model::{Dataset, Dictionary, Fault, Kind, Result};
use bosket_testkit::{sets, trees};
use bosket_verify::recount::{of_anatomized, of_dissected, of_records};
use bosket_verify::truth::{
    Comparison, Grouped, Mapping, Pair, Recoding, Side, compare, compare_anatomized, compare_dissected,
};
use bosket_verify::vertex::Diverse;
use bosket_verify::{
    Anatomized, Apart, Claim, Close, Delta, Km, Kmn, Measure, TwoSides, verify, verify_anatomized,
    verify_apart,
};

/// Waits for so many questions. Then it has gone for good, or only looked away for that one question: either way nobody
/// may say that everything was counted.
struct Impatient {
    asked: AtomicU64,
    at: u64,
    for_good: bool,
}

impl Observer for Impatient {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        asked == self.at || (self.for_good && asked > self.at)
    }
}

/// Runs to its end, then with somebody who gives up at the start, on the way and at the very last question.
fn never_without_a_verdict<T>(what: &str, run: impl Fn(&dyn Observer) -> Result<T>) {
    let patient = Impatient { asked: AtomicU64::new(0), at: u64::MAX, for_good: true };
    run(&patient).unwrap_or_else(|e| panic!("{what}: {e}"));
    let all = patient.asked.load(Ordering::Relaxed);
    assert!(all > 100, "{what}: asked only {all} times");
    for at in [0, 1, 7, all / 4, all / 2, all - all / 8, all - 2, all - 1] {
        for for_good in [true, false] {
            let failure = run(&Impatient { asked: AtomicU64::new(0), at, for_good }).err();
            let failure = failure.unwrap_or_else(|| panic!("{what}: a verdict after question {at} of {all}"));
            assert_eq!(failure.fault, Fault::Interrupted, "{what}");
        }
    }
}

/// Every record four times, so that what is asked for holds.
fn people() -> (Dataset, Binding) {
    let label = |level: &str, n: usize| format!("{level}{n}");
    let record = |i: usize| {
        let path = |j: usize| vec![label("A", (i + j) % 3), label("B", j % 3), label("C", (i * j) % 4)];
        (0..1 + i % 4).map(path).collect::<trees::PathRecord>()
    };
    let records: Vec<trees::PathRecord> = (0..160).map(|i| record(i / 4)).collect();
    bound(trees::dataset(&records), trees::ATTRIBUTES)
}

fn bound(data: Dataset, attributes: &str) -> (Dataset, Binding) {
    let (policy, _) = Policy::parse("p", attributes, &[]).expect("a good policy");
    let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data");
    (data, binding.expect("all declared"))
}

#[test]
fn k_m_anonymity() {
    let transactions: Vec<Vec<String>> =
        (0..200).map(|i| (0..4).map(|j| format!("v{}", (i / 4 * j) % 7)).collect()).collect();
    let (data, binding) = bound(sets::dataset(&transactions), sets::ATTRIBUTES);
    let secret = vec!["v3".to_owned()];
    for (m, sensitive, l) in [(2, Vec::new(), None), (4, Vec::new(), None), (2, secret, Some(1.0))] {
        for memory in [1, 1 << 30] {
            let claim = Claim::Km(Km { k: 3, m, l, sensitive: sensitive.clone(), ..Km::default() });
            never_without_a_verdict("km", |o| verify(&data, &binding, &claim, &[], memory, o));
        }
    }
}

#[test]
fn k_m_n_anonymity() {
    let (data, binding) = people();
    for relations in [Relations::Pair, Relations::Embedded] {
        for (m, n, guard) in [(2, 0, false), (3, 2, false), (4, 1, false), (2, 1, true)] {
            for memory in [1, 1 << 30] {
                let claim = Kmn { relations, guard, root: RootMode::Chain, ..Kmn::new(3, m, n) };
                let what = format!("{relations} m={m} n={n} guard={guard} memory={memory}");
                never_without_a_verdict(&what, |o| {
                    verify(&data, &binding, &Claim::Kmn(claim.clone()), &[], memory, o)
                });
            }
        }
    }
}

#[test]
fn absent_values() {
    let (data, binding) = people();
    let levels = ["A0;*\nA1;*\nA2;*\n", "B0;*\nB1;*\nB2;*\n", "C0;*\nC1;*\nC2;*\nC3;*\n"];
    let hierarchies = levels.map(|text| Some(csv::parse("h", text).unwrap_or_else(|d| panic!("{d:?}"))));
    let pair = Negative::Pair("A1".into(), "C1".into());
    let claim = Kmn { negative: vec![Negative::Value("B1".into()), pair], ..Kmn::new(3, 2, 1) };
    never_without_a_verdict("negative", |o| {
        verify(&data, &binding, &Claim::Kmn(claim.clone()), &hierarchies, 1 << 30, o)
    });
}

/// A second count that was not finished is none either.
#[test]
fn the_second_count() {
    let (data, binding) = people();
    let kmn = |relations, guard| Claim::Kmn(Kmn { relations, guard, ..Kmn::new(3, 2, 1) });
    for claim in [
        kmn(Relations::Pair, false),
        kmn(Relations::Embedded, true),
        Claim::Km(Km { k: 3, m: 2, ..Km::default() }),
        Claim::KAnonymity { k: 3 },
    ] {
        never_without_a_verdict("records", |o| of_records(&data, &binding, &claim, &[], o));
    }
    // So many that they are sampled.
    let transactions: Vec<Vec<String>> =
        (0..90_000).map(|i| (0..8).map(|j| format!("v{}", (i % 9 * j) % 11)).collect()).collect();
    let (data, binding) = bound(sets::dataset(&transactions), sets::ATTRIBUTES);
    for claim in [Claim::Km(Km { k: 3, m: 3, ..Km::default() }), Claim::KAnonymity { k: 3 }] {
        never_without_a_verdict("sampled", |o| of_records(&data, &binding, &claim, &[], o));
    }
    let published = Dissected { people: vec![4; 200], sensitive: vec![values(200)] };
    let claim = Apart { group_size: 4, ..Apart::default() };
    never_without_a_verdict("apart", |o| of_dissected(&published, &claim, &[None], o));
}

const ALIKE: &str = r#"
    version = 1
    [[attribute]]
    path = "a[].v"
    role = "quasi"
    [[attribute]]
    path = "a[].b[].v"
    role = "quasi"
    [[attribute]]
    path = "a[].b[].c[].v"
    role = "sensitive"
"#;

fn diverse(l: f64) -> Diverse {
    Diverse {
        l,
        diversity: Diversity::Frequency,
        siblings: Siblings::Pooled,
        distinct_everywhere: Vec::new(),
        buckets: vec![None; 3],
    }
}

fn close() -> Close {
    Close { measure: Measure::T(0.9), grounds: Vec::new(), buckets: Vec::new() }
}

#[test]
fn records_that_look_alike() {
    let (data, binding) = people();
    let claim = Claim::KAnonymity { k: 3 };
    never_without_a_verdict("k-anonymity", |o| verify(&data, &binding, &claim, &[], 1, o));
    let (data, binding) = bound(data, ALIKE);
    let claim = Claim::LDiversity { k: Some(3), ask: diverse(1.0) };
    never_without_a_verdict("l-diversity", |o| verify(&data, &binding, &claim, &[], 1, o));
    let claim = Claim::Close { k: Some(3), ask: close() };
    never_without_a_verdict("t-closeness", |o| verify(&data, &binding, &claim, &[], 1, o));
    let claim = Claim::Kmn(Kmn { l: Some(1.0), ..Kmn::new(3, 2, 1) });
    never_without_a_verdict("l-diversity of knowledge", |o| verify(&data, &binding, &claim, &[], 1, o));
}

/// Groups of four people, each with one of the values of its group.
fn values(groups: usize) -> SensitiveValues {
    let mut values = Dictionary::default();
    let codes: Vec<u32> = ["aa", "ab", "ba", "bb"].map(|text| values.intern(Kind::Text, text)).to_vec();
    let codes = (0..groups).map(|_| codes.clone()).collect();
    SensitiveValues { declared: 0, path: "d".into(), many: true, values, codes }
}

#[test]
fn groups() {
    let hierarchy = csv::parse("h", "aa;a;*\nab;a;*\nba;b;*\nbb;b;*\n").unwrap_or_else(|d| panic!("{d:?}"));
    let published = Dissected { people: vec![4; 200], sensitive: vec![values(200)] };
    let claim =
        Apart { group_size: 4, l: None, delta: Some(Delta { distance: 1, pairwise: true }), may_lack: false };
    let hierarchies = [Some(hierarchy)];
    never_without_a_verdict("apart", |o| verify_apart(&published, &claim, &hierarchies, o));

    let (people, binding) = people();
    let groups: Vec<u32> = (0..160).map(|person| person / 4).collect();
    let names: Vec<String> = (1..=40).map(|n: u32| n.to_string()).collect();
    let sensitive = [SensitiveValues { codes: (0..40).map(|_| Vec::new()).collect(), ..values(0) }];
    let sides = TwoSides {
        people: &people,
        binding: &binding,
        groups: &groups,
        names: &names,
        sensitive: &sensitive,
    };
    let claim = Anatomized { k: Some(3), ask: Some(diverse(2.0)), close: Some(close()) };
    never_without_a_verdict("anatomized", |o| verify_anatomized(&sides, &claim, &[], o));
    never_without_a_verdict("anatomized again", |o| of_anatomized(&sides, &claim, &[], o));
    let grouped = Grouped {
        published: sides,
        input: Side { data: &people, binding: &binding },
        hierarchies: &[const { None }; 3],
        mapping: None,
    };
    never_without_a_verdict("truth of anatomized", |o| compare_anatomized(&grouped, o));
    let mapping: Vec<u32> = groups.iter().map(|group| group + 1).collect();
    let grouped = Grouped { mapping: Some(&mapping), ..grouped };
    never_without_a_verdict("truth of mapped groups", |o| compare_anatomized(&grouped, o));
}

#[test]
fn truth() {
    let (data, binding) = people();
    let side = Side { data: &data, binding: &binding };
    let pairs = (0..160).map(|at| Pair { line: 1, input: at, published: at }).collect();
    let mapping = Mapping { name: "mapping".into(), pairs };
    let trees = Recoding::GlobalTrees {
        root: RootMode::Separate,
        payload: Payload::Keep,
        rows: Rows::United,
        missing: Missing::Nothing,
    };
    for recoding in [trees, Recoding::GlobalSets, Recoding::LocalSets, Recoding::LocalTrees] {
        for mapping in [None, Some(&mapping)] {
            let hierarchies = &[const { None }; 3];
            let comparison = Comparison {
                published: side,
                input: side,
                hierarchies,
                recoding,
                suppress: true,
                mapping,
                sensitive: &[],
            };
            never_without_a_verdict(&format!("{recoding:?}"), |o| compare(&comparison, o));
        }
    }
    let side =
        SideDigests { people: vec![(1, [7; 32]); 100], values: vec![vec![(1, [8; 32])]], records: 100 };
    let paths = ["d".to_owned()];
    never_without_a_verdict("two sides", |o| compare_dissected(&side, &side, &paths, true, o));
}
