//! l-diversity of knowledge against the definition, on random small sets.

use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_verify::{Claim, Kmn, Witness, verify};
use proptest::prelude::*;

use crate::recount;

const POLICY: &str = r#"
version = 1
[[attribute]]
path = "x[]"
role = "quasi"
[[attribute]]
path = "s"
role = "sensitive"
"#;

type Person = (Vec<u8>, Option<u8>);

fn dataset(people: &[Person]) -> Dataset {
    let mut b = Builder::new();
    let class = b.class(ClassId::ROOT, &["x".to_owned()]);
    let x = b.attribute(class, &[]);
    let s = b.attribute(ClassId::ROOT, &["s".to_owned()]);
    for (items, sensitive) in people {
        b.begin_record();
        for item in items {
            b.open(class);
            b.set(x, Kind::Text, &item.to_string());
            b.close();
        }
        if let Some(value) = sensitive {
            b.set(s, Kind::Text, &value.to_string());
        }
        b.end_record().expect("nothing twice");
    }
    b.finish()
}

fn check(people: &[Person], m: u32, l: f64) -> Option<Witness> {
    let data = dataset(people);
    let (policy, _) = Policy::parse("p", POLICY, &[]).expect("a good policy");
    let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "d").expect("declared");
    let claim = Claim::Kmn(Kmn { l: Some(l), ..Kmn::new(1, m, 0) });
    let found = verify(&data, &binding, &claim, &[], 1 << 30, &Quiet).expect("countable");
    recount::agrees((&data, &binding), &claim, &[], found)
}

/// Every set of up to m items that somebody has, with the largest share of a value among those who have it.
fn too_common(people: &[Person], m: usize, l: f64) -> Vec<Vec<u8>> {
    (0u8..16)
        .map(|bits| (0..4).filter(|i| bits >> i & 1 == 1).collect::<Vec<u8>>())
        .filter(|known| known.len() <= m)
        .filter(|known| {
            let fit: Vec<&Person> = people.iter().filter(|p| known.iter().all(|k| p.0.contains(k))).collect();
            let share = |v: u8| fit.iter().filter(|p| p.1 == Some(v)).count() as f64 / fit.len() as f64;
            !fit.is_empty() && (0..3).any(|v| share(v) > 1.0 / l + 1e-9)
        })
        .collect()
}

proptest! {
    #[test]
    fn agrees_with_the_definition(
        people in prop::collection::vec((prop::collection::vec(0u8..4, 0..4), prop::option::of(0u8..3)), 1..9),
        m in 1u32..4,
        l in prop::sample::select(vec![1.5, 2.0, 3.0]),
    ) {
        let found = check(&people, m, l);
        let expected = too_common(&people, m as usize, l);
        let smallest = expected.iter().min_by_key(|known| (known.len(), (*known).clone()));
        let known = found.map(|w| w.values.iter().map(|v| v.value.parse::<u8>().expect("a digit")).collect::<Vec<_>>());
        prop_assert_eq!(known.as_ref(), smallest);
    }
}

#[test]
fn generalizing_can_raise_a_share() {
    // {a1, s}, {a1, a2}, {a2, s}: one half each; joined to one value it is two thirds.
    let apart = [(vec![0, 1], None), (vec![0], Some(0)), (vec![1], Some(0)), (vec![2], None)];
    assert_eq!(check(&apart, 1, 2.0), None);
    let joined = [(vec![0], None), (vec![0], Some(0)), (vec![0], Some(0)), (vec![2], None)];
    let witness = check(&joined, 1, 2.0).expect("two of three have the value");
    assert_eq!(witness.sensitive.map(|s| (s.path, s.share > 0.66)), Some(("s".to_owned(), true)));
}

const COSTS: &str = r#"
version = 1
[[attribute]]
path = "x[]"
role = "quasi"
[[attribute]]
path = "s"
role = "sensitive"
buckets = [2, 5]
[privacy]
model = "kmn"
k = 2
m = 1
n = 0
l = 2
"#;

fn with_buckets(people: &[Person]) -> bosket_model::Result<Option<Witness>> {
    let data = dataset(people);
    let (policy, _) = Policy::parse("p", COSTS, &[]).expect("a good policy");
    let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "d").expect("declared");
    verify(&data, &binding, &Claim::new(&policy).expect("a claim"), &[], 1 << 30, &Quiet)
}

#[test]
fn numbers_of_a_bucket_count_as_one() {
    // 2, 3 and 4 are one bucket: three of four people with the value 0.
    let people = [(vec![0], Some(2)), (vec![0], Some(3)), (vec![0], Some(4)), (vec![0], Some(7))];
    assert_eq!(check(&people, 1, 2.0), None);
    let witness = with_buckets(&people).expect("numbers").expect("three of four");
    let sensitive = witness.sensitive.expect("a bucket");
    assert_eq!((sensitive.value.as_str(), sensitive.share), ("[2,5)", 0.75));
    let spread = [(vec![0], Some(1)), (vec![0], Some(3)), (vec![0], Some(4)), (vec![0], Some(7))];
    assert_eq!(with_buckets(&spread).expect("numbers"), None);
}

#[test]
fn a_text_fits_no_bucket() {
    let mut b = Builder::new();
    let s = b.attribute(ClassId::ROOT, &["s".to_owned()]);
    b.begin_record();
    b.set(s, Kind::Text, "many");
    b.end_record().expect("nothing twice");
    let data = b.finish();
    let (policy, _) = Policy::parse("p", COSTS, &[]).expect("a good policy");
    let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "d").expect("declared");
    let failure = verify(&data, &binding, &Claim::new(&policy).expect("a claim"), &[], 1 << 30, &Quiet);
    let text = failure.expect_err("not a number").diagnostics[0].to_string();
    assert!(text.contains("fit no bucket") && !text.contains("many"), "{text}");
}
