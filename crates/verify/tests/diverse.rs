//! l-diversity of knowledge against the definition, on random small sets.

use bosket_model::binding::Binding;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Policy, Relations, RootMode, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_verify::{Claim, Witness, verify};
use proptest::prelude::*;

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
    let (k, relations, root) = (1, Relations::Pair, RootMode::Separate);
    let claim = Claim::Kmn { k, m, n: 0, relations, root, guard: false, l: Some(l) };
    verify(&data, &binding, &claim, 1 << 30, &Quiet).expect("countable")
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
