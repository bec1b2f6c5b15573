//! Both views of random records, and writing value trees back.

use bosket_model::binding::Binding;
use bosket_model::policy::{Payload, Policy, RootMode};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{AttributeId, Builder, ClassId, Dataset, Kind};
use proptest::prelude::*;

const POLICY: &str = r#"
version = 1
[[attribute]]
path = "id"
role = "identifying"
[[attribute]]
path = "sex"
role = "quasi"
[[attribute]]
path = "born.year"
role = "quasi"
[[attribute]]
path = "visits[].hospital"
role = "quasi"
[[attribute]]
path = "visits[].ward"
role = "quasi"
[[attribute]]
path = "visits[].cost"
role = "insensitive"
[[attribute]]
path = "visits[].diagnoses[].disease"
role = "quasi"
[[attribute]]
path = "visits[].diagnoses[].result"
role = "sensitive"
[[attribute]]
path = "visits[].diagnoses[].treatments[]"
role = "quasi"
[[attribute]]
path = "visits[].notes[].text"
role = "insensitive"
"#;

type Diagnosis = (Option<u8>, Option<u8>, Vec<u8>);
type Visit = (Option<u8>, Option<u8>, Option<u8>, Vec<Diagnosis>, Vec<u8>);
type Person = (Option<u8>, Option<u8>, Vec<Visit>);

fn people() -> impl Strategy<Value = Vec<Person>> {
    let few = || prop::option::of(0u8..3);
    let diagnosis = (few(), few(), prop::collection::vec(0u8..2, 0..3));
    let visit =
        (few(), few(), few(), prop::collection::vec(diagnosis, 0..3), prop::collection::vec(0u8..2, 0..2));
    prop::collection::vec((few(), few(), prop::collection::vec(visit, 0..3)), 0..4)
}

fn keys(path: &str) -> Vec<String> {
    path.split('.').filter(|k| !k.is_empty()).map(str::to_owned).collect()
}

fn dataset(people: &[Person]) -> Dataset {
    let mut b = Builder::new();
    let visits = b.class(ClassId::ROOT, &keys("visits"));
    let diagnoses = b.class(visits, &keys("diagnoses"));
    let treatments = b.class(diagnoses, &keys("treatments"));
    let notes = b.class(visits, &keys("notes"));
    let attribute = |b: &mut Builder, class, path: &str| b.attribute(class, &keys(path));
    let [sex, year] = ["sex", "born.year"].map(|p| attribute(&mut b, ClassId::ROOT, p));
    let [hospital, ward, cost] = ["hospital", "ward", "cost"].map(|p| attribute(&mut b, visits, p));
    let [disease, result] = ["disease", "result"].map(|p| attribute(&mut b, diagnoses, p));
    let treatment = attribute(&mut b, treatments, "");
    let text = attribute(&mut b, notes, "text");
    let set = |b: &mut Builder, a: AttributeId, value: &Option<u8>| {
        if let Some(value) = value {
            b.set(a, Kind::Number, &value.to_string());
        }
    };
    for (s, y, person_visits) in people {
        b.begin_record();
        set(&mut b, sex, s);
        set(&mut b, year, y);
        for (h, w, c, visit_diagnoses, visit_notes) in person_visits {
            b.open(visits);
            set(&mut b, hospital, h);
            set(&mut b, ward, w);
            set(&mut b, cost, c);
            for (d, r, given) in visit_diagnoses {
                b.open(diagnoses);
                set(&mut b, disease, d);
                set(&mut b, result, r);
                for t in given {
                    b.open(treatments);
                    set(&mut b, treatment, &Some(*t));
                    b.close();
                }
                b.close();
            }
            for n in visit_notes {
                b.open(notes);
                set(&mut b, text, &Some(*n));
                b.close();
            }
            b.close();
        }
        b.end_record().expect("nothing twice");
    }
    b.finish()
}

fn view(data: &Dataset, root: RootMode, payload: Payload) -> (ValueTrees, Binding) {
    let (policy, _) = Policy::parse("p", POLICY, &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared");
    (ValueTrees::new(data, &binding, root, payload), binding)
}

/// What a record says: its items, related pairs and payloads, without regard to how it is laid out.
fn says(trees: &ValueTrees, record: usize) -> Vec<String> {
    let label = |n: usize| {
        let item = &trees.items()[trees.item(n) as usize];
        format!("{}:{}", item.declared, item.label)
    };
    let path = |n: usize| {
        let mut path = vec![label(n)];
        let mut at = trees.parent(n);
        while let Some(a) = at {
            path.push(label(a));
            at = trees.parent(a);
        }
        path.reverse();
        path.join(">")
    };
    let mut all: Vec<String> = trees.nodes(record).map(path).collect();
    all.extend(trees.payloads(record).iter().map(|p| {
        format!("{} {} {:?}", p.node.map_or(String::new(), |n| path(n as usize)), p.home, p.values)
    }));
    all.sort();
    all
}

proptest! {
    #[test]
    fn written_back_and_read_again_it_is_the_same(people in people(), chain: bool, drop: bool) {
        let root = if chain { RootMode::Chain } else { RootMode::Separate };
        let payload = if drop { Payload::Drop } else { Payload::Keep };
        let data = dataset(&people);
        let (trees, binding) = view(&data, root, payload);
        let written = trees.write_back(&binding);
        let (again, _) = view(&written, root, payload);
        prop_assert_eq!(again.len(), trees.len());
        for record in 0..trees.len() {
            prop_assert_eq!(says(&again, record), says(&trees, record));
        }
    }

    #[test]
    fn siblings_never_share_an_item(people in people(), chain: bool) {
        let root = if chain { RootMode::Chain } else { RootMode::Separate };
        let (trees, _) = view(&dataset(&people), root, Payload::Keep);
        for record in 0..trees.len() {
            let mut seen = std::collections::BTreeSet::new();
            for n in trees.nodes(record) {
                prop_assert!(seen.insert((trees.parent(n), trees.item(n))));
                prop_assert!(trees.parent(n).is_none_or(|p| p < n && n < trees.end(p)));
            }
        }
    }
}

#[test]
fn a_moved_value_is_found_at_its_home() {
    let mut b = Builder::new();
    let visits = b.class(ClassId::ROOT, &keys("visits"));
    let moved = b.class(visits, &keys("treatments"));
    let hospital = b.attribute(visits, &keys("hospital"));
    let treatment = b.attribute(moved, &[]);
    b.begin_record();
    b.open(visits);
    b.set(hospital, Kind::Text, "H1");
    b.open(moved);
    b.set(treatment, Kind::Text, "Medicine");
    b.end_record().expect("nothing twice");
    let (trees, binding) = view(&b.finish(), RootMode::Separate, Payload::Keep);
    let item = &trees.items()[trees.item(1) as usize];
    assert_eq!(binding.declared[item.declared].path, "visits[].diagnoses[].treatments[]");
    assert_eq!(trees.parent(1), Some(0));
}

#[test]
fn names_that_would_collide_are_written_in_full() {
    let policy = r#"
version = 1
[[attribute]]
path = "visits[].code"
role = "quasi"
[[attribute]]
path = "visits[].diagnoses[].code[]"
role = "quasi"
[[attribute]]
path = "visits[].procedures[].code[]"
role = "quasi"
"#;
    let (policy, _) = Policy::parse("p", policy, &[]).expect("a good policy");
    let mut b = Builder::new();
    let visits = b.class(ClassId::ROOT, &keys("visits"));
    let moved = b.class(visits, &["procedures.code".to_owned()]);
    let code = b.attribute(moved, &[]);
    b.begin_record();
    b.open(visits);
    b.open(moved);
    b.set(code, Kind::Text, "x");
    b.end_record().expect("nothing twice");
    let data = b.finish();
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "d").expect("all declared");
    assert_eq!(binding.attributes, [Some(2)]);
    let home = binding.declared[2].home;
    assert_eq!(binding.key_under(binding.declared[0].home, home), ["procedures.code"]);
}
