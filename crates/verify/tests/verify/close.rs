//! t-closeness and β-likeness: cases worked out by hand, and against the definitions on random small trees of vertices.

use std::collections::BTreeMap;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Ground, Policy, Role, Undeclared};
use bosket_model::{Builder, ClassId, Dataset, Fault, Kind};
use bosket_testkit::closeness::{ClosenessRule, too_far};
use bosket_testkit::dice::{Dice, cases};
use bosket_testkit::vertices::{self, CLASSES, NAMES, Roles, Vertex};
use bosket_verify::{Claim, Close, Measure, Verification, Witness, verify};
use proptest::prelude::*;

use crate::recount;

/// A flat table with a quasi and some sensitive columns.
struct Table {
    data: Dataset,
    binding: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
}

impl Table {
    /// Rows of a class each, with a number and a word. Empty ones are missing.
    fn new(rows: &[(&str, &str, &str)], tree: Option<&str>) -> Self {
        let mut builder = Builder::new();
        let names = ["class", "salary", "disease"];
        let columns = names.map(|name| builder.attribute(ClassId::ROOT, &[name.to_owned()]));
        for row in rows {
            builder.begin_record();
            for (column, value) in columns.iter().zip([row.0, row.1, row.2]) {
                if !value.is_empty() {
                    builder.set(*column, Kind::Text, value);
                }
            }
            builder.end_record().expect("once each");
        }
        let data = builder.finish();
        let text = "version = 1\n[[attribute]]\npath = 'class'\nrole = 'quasi'\n\
                    [[attribute]]\npath = 'salary'\nrole = 'sensitive'\n\
                    [[attribute]]\npath = 'disease'\nrole = 'sensitive'\n";
        let (policy, _) = Policy::parse("p", text, &[]).expect("good");
        let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data");
        let tree = tree.map(|text| csv::parse("h", text).expect("a hierarchy"));
        Table { data, binding: binding.expect("all declared"), hierarchies: vec![None, None, tree] }
    }

    fn check(&self, measure: Measure, grounds: [Ground; 2]) -> Verification {
        let ask =
            Close { measure, grounds: vec![Ground::Equal, grounds[0], grounds[1]], buckets: Vec::new() };
        let claim = Claim::Close { k: Some(3), ask };
        let found =
            Verification::of_records(&self.data, &self.binding, &claim, &self.hierarchies, 1 << 20, &Quiet);
        found.expect("comparable")
    }

    /// How far the salaries and the diseases of the farthest class are.
    fn farthest(&self, grounds: [Ground; 2]) -> (f64, f64) {
        let found = self.check(Measure::T(0.999), grounds);
        assert_eq!(found.witness(), None);
        (found.farthest[0].1, found.farthest[1].1)
    }
}

/// Tables 3 and 5 of Li, Li and Venkatasubramanian: nine people in three classes.
const SIMILAR: [(&str, &str, &str); 9] = [
    ("476**, 2*", "3", "gastric ulcer"),
    ("476**, 2*", "4", "gastritis"),
    ("476**, 2*", "5", "stomach cancer"),
    ("4790*, >=40", "6", "gastritis"),
    ("4790*, >=40", "11", "flu"),
    ("4790*, >=40", "8", "bronchitis"),
    ("476**, 3*", "7", "bronchitis"),
    ("476**, 3*", "9", "pneumonia"),
    ("476**, 3*", "10", "stomach cancer"),
];
const CLOSE: [(&str, &str, &str); 9] = [
    ("4767*, <=40", "3", "gastric ulcer"),
    ("4767*, <=40", "5", "stomach cancer"),
    ("4767*, <=40", "9", "pneumonia"),
    ("4790*, >=40", "6", "gastritis"),
    ("4790*, >=40", "11", "flu"),
    ("4790*, >=40", "8", "bronchitis"),
    ("4760*, <=40", "4", "gastritis"),
    ("4760*, <=40", "7", "bronchitis"),
    ("4760*, <=40", "10", "stomach cancer"),
];
/// The hierarchy of diseases in their figure 1: flu is 1/3 from bronchitis, 2/3 from edema and 1 from cancer of the stomach.
const DISEASES: &str = "flu;respiratory infection;vascular lung and respiratory;*\n\
    pneumonia;respiratory infection;vascular lung and respiratory;*\n\
    bronchitis;respiratory infection;vascular lung and respiratory;*\n\
    pulmonary edema;vascular lung;vascular lung and respiratory;*\n\
    gastric ulcer;stomach;digestive;*\n\
    stomach cancer;stomach;digestive;*\n\
    gastritis;stomach;digestive;*\n\
    colitis;colon;digestive;*\n";

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// 3, 4 and 5 of 3 to 11: two of nine parts each go, from 3 to 8 places on, 27 in all of 8 · 9: 0.375, as the paper says.
/// Their diseases are all of the stomach. In the other table salaries are at most 12 of 72 away (0.167 in the paper), and the
/// diseases of every class are of both parts of the body.
#[test]
fn salaries_and_diseases_of_the_paper() {
    let similar = Table::new(&SIMILAR, Some(DISEASES));
    let close = Table::new(&CLOSE, Some(DISEASES));
    let ordered = [Ground::Ordered, Ground::Equal];
    assert!(near(similar.farthest(ordered).0, 0.375));
    assert!(near(close.farthest(ordered).0, 12.0 / 72.0));
    // Equal distances: each class has three of nine salaries.
    assert!(near(similar.farthest([Ground::Equal; 2]).0, 6.0 / 9.0));
    // Ulcer, gastritis and cancer of 1, 2, 2, 2, 1, 1 of nine: a third each, so 2, 1 and 1 of nine are too much.
    assert!(near(similar.farthest([Ground::Equal; 2]).1, 4.0 / 9.0));
    // In the hierarchy these 4 of nine go to another part of the body, as far as can be.
    let in_tree = [Ground::Equal, Ground::Hierarchical];
    assert!(near(similar.farthest(in_tree).1, 4.0 / 9.0));
    // Gastritis, flu and bronchitis: 1, 2 and 1 of nine are too much; ulcer lacks 1, cancer 2, pneumonia 1. One goes within the
    // stomach and one within infections (a third of the way each), two cross over: 1/3 + 1/3 + 2 of nine.
    assert!(near(close.farthest(in_tree).1, 8.0 / 27.0), "{:?}", close.farthest(in_tree));
}

#[test]
fn a_distance_of_exactly_t_holds_and_a_little_less_does_not() {
    let table = Table::new(&SIMILAR, None);
    let ordered = [Ground::Ordered, Ground::Equal];
    let holds = |t: f64| table.check(Measure::T(t), ordered).witness().is_none();
    // Diseases are farther: 4/9.
    assert!(holds(0.444_444_444_445));
    assert!(!holds(0.444_444_444_444), "read to twelve decimals, and no farther");
    let rows: Vec<_> = SIMILAR.iter().map(|r| (r.0, r.1, "")).collect();
    let salaries = Table::new(&rows, None);
    let holds = |t: f64| salaries.check(Measure::T(t), ordered).witness().is_none();
    assert!(holds(0.375) && !holds(0.374_999_999_999));
    // A third and a fifth of a few: 0.3 is not what floating point makes of it.
    let rows: Vec<(&str, &str, &str)> = (0..20)
        .map(|i| {
            (
                if i < 10 { "a" } else { "b" },
                "",
                if (2..10).contains(&i) || (18..20).contains(&i) { "x" } else { "y" },
            )
        })
        .collect();
    let table = Table::new(&rows, None);
    let equal = [Ground::Equal; 2];
    assert!(near(table.farthest(equal).1, 0.3));
    assert_eq!(table.check(Measure::T(0.3), equal).witness(), None);
    assert!(table.check(Measure::T(0.299_999_999_999), equal).witness().is_some());
}

#[test]
fn the_witness_names_class_value_and_both_shares() {
    let table = Table::new(&SIMILAR, Some(DISEASES));
    let found = table.check(Measure::T(0.3), [Ground::Ordered, Ground::Hierarchical]);
    let witness = found.witness().expect("too far");
    assert_eq!(witness.records, [0, 1, 2]);
    let named = witness.sensitive.clone().expect("a value");
    assert_eq!((named.path.as_str(), named.value.as_str()), ("salary", "3"));
    assert!(near(named.share, 1.0 / 3.0) && near(named.in_all.expect("compared"), 1.0 / 9.0));
    assert!(near(named.distance.expect("measured"), 0.375));
}

/// Three of ten have it, three of a class of five: 0.6 is by 1 of itself more than 0.3. Rare ones are held by -ln p: of p = 0.5 a
/// share of 0.5 + 0.5 · ln 2 = 0.847 is the most whatever beta is.
#[test]
fn likeness_worked_out_by_hand() {
    let rows: Vec<(&str, &str, &str)> = (0..10)
        .map(|i| {
            (
                if i < 5 { "a" } else { "b" },
                "",
                if i < 3 {
                    "x"
                } else if i < 5 {
                    "y"
                } else {
                    "z"
                },
            )
        })
        .collect();
    let table = Table::new(&rows, None);
    let check = |beta: f64| table.check(Measure::Beta(beta), [Ground::Equal; 2]);
    // z has 0.5 in all and all of class b: gains 1, more than ln 2.
    let named = check(2.0).witness().expect("z").sensitive.clone().expect("a value");
    assert_eq!((named.value.as_str(), named.share, named.in_all), ("z", 1.0, Some(0.5)));
    let rows: Vec<(&str, &str, &str)> = (0..10)
        .map(|i| (if i < 5 { "a" } else { "b" }, "", ["x", "x", "x", "y", "z", "y", "y", "z", "z", "z"][i]))
        .collect();
    let table = Table::new(&rows, None);
    let check = |beta: f64| table.check(Measure::Beta(beta), [Ground::Equal; 2]);
    assert_eq!(check(1.0).witness(), None, "exactly 1, and -ln 0.3 is 1.2");
    let named = check(0.999_999_999_999).witness().expect("x").sensitive.clone().expect("a value");
    assert_eq!((named.value.as_str(), named.share, named.in_all), ("x", 0.6, Some(0.3)));
    assert!(near(named.distance.expect("measured"), 1.0));
    assert!(near(check(1.0).farthest[1].1, 1.0));
}

/// A class of which half has no value was half as far; whoever knew that somebody has one learned which.
#[test]
fn people_without_a_value_were_cover_for_those_with_one() {
    let own = ["x", "x", "", "", "y", "y", "y", "x", "x", "y"];
    let rows: Vec<_> = (0..10).map(|i| (if i < 4 { "a" } else { "b" }, "", own[i])).collect();
    // x and y are four each; of class a both values are x: half too many, whoever else is in it.
    let table = Table::new(&rows, None);
    let ask = Close { measure: Measure::T(0.5), grounds: Vec::new(), buckets: Vec::new() };
    let verdict = |t: f64| {
        let claim = Claim::Close { k: None, ask: Close { measure: Measure::T(t), ..ask.clone() } };
        let found = verify(&table.data, &table.binding, &claim, &[], 1 << 20, &Quiet).expect("small");
        recount::agrees((&table.data, &table.binding), &claim, &[], found)
    };
    assert_eq!(verdict(0.5), None);
    let named = verdict(0.499).expect("too far").sensitive.expect("a value");
    assert_eq!((named.value.as_str(), named.share, named.in_all), ("x", 1.0, Some(0.5)));
}

#[test]
fn what_has_no_order_or_no_place_in_a_hierarchy_is_refused() {
    let table = Table::new(&SIMILAR, Some("flu;*\n"));
    for grounds in [
        [Ground::Equal, Ground::Ordered],
        [Ground::Equal, Ground::Hierarchical],
        [Ground::Hierarchical, Ground::Equal],
    ] {
        let ask = Close {
            measure: Measure::T(0.5),
            grounds: vec![Ground::Equal, grounds[0], grounds[1]],
            buckets: Vec::new(),
        };
        let claim = Claim::Close { k: None, ask };
        let failure = verify(&table.data, &table.binding, &claim, &table.hierarchies, 1 << 20, &Quiet);
        let failure = failure.expect_err("no distance");
        assert_eq!(failure.fault, Fault::Data);
        assert!(failure.diagnostics.iter().all(|d| d.help.is_some()), "{failure}");
    }
}

const TREE: &str = "u;uv;*\nv;uv;*\nw;*\n0;zero;none;*\n";

fn claim(k: Option<u32>, rule: &ClosenessRule) -> Claim {
    let name = |declared: usize| declared % NAMES.len();
    let number = rule.thousandths as f64 / 1000.0;
    let ask = Close {
        measure: if rule.beta { Measure::Beta(number) } else { Measure::T(number) },
        grounds: (0..CLASSES.len() * NAMES.len()).map(|d| rule.grounds[name(d)]).collect(),
        buckets: (0..CLASSES.len() * NAMES.len())
            .map(|d| rule.bounds.clone().filter(|_| NAMES[name(d)] == "d"))
            .collect(),
    };
    Claim::Close { k, ask }
}

pub(crate) fn random_rule(dice: &mut Dice) -> ClosenessRule {
    let beta = dice.one_in(3);
    ClosenessRule {
        beta,
        thousandths: if beta {
            *dice.of(&[250, 500, 1000, 2000])
        } else {
            *dice.of(&[100, 125, 250, 375, 500, 750])
        },
        grounds: [
            Ground::Equal,
            Ground::Equal,
            *dice.of(&[Ground::Equal, Ground::Hierarchical]),
            *dice.of(&[Ground::Equal, Ground::Ordered, Ground::Ordered]),
        ],
        bounds: dice.one_in(3).then(|| dice.of(&[vec![1.0], vec![1.0, 2.5], vec![0.0, 1.0, 7.0]]).clone()),
        tree: TREE.lines().map(|line| line.split(';').map(str::to_owned).collect()).collect(),
    }
}

fn random_roles(dice: &mut Dice) -> Roles {
    let mut roles = [[Role::Insensitive; 4]; 4];
    for class in &mut roles {
        for a in 0..NAMES.len() {
            if !dice.one_in(3) {
                class[a] = if a < 2 { Role::Quasi } else { Role::Sensitive };
            }
        }
    }
    roles
}

/// Records of a few shapes, so that some look alike; siblings often do too.
fn random_records(dice: &mut Dice, count: usize, shapes: usize) -> Vec<Vertex> {
    let mut shapes: Vec<Vertex> = (0..shapes).map(|_| vertices::random_shape(dice, 2)).collect();
    for shape in &mut shapes {
        vertices::throw_values(dice, shape, 0, &["x"]);
        vertices::throw_values(dice, shape, 1, &["x", "y"]);
        shape.each(&mut |v| {
            while dice.one_in(3)
                && v.children.len() < 3
                && let Some(twin) = v.children.first().cloned()
            {
                v.children.push(twin);
            }
            v.children.truncate(3);
        });
    }
    (0..count)
        .map(|_| {
            let mut record = dice.of(&shapes).clone();
            let domain: &[&str] = if dice.one_in(2) { &["u", "0"] } else { &["u", "v", "w", "0"] };
            vertices::throw_values(dice, &mut record, 2, domain);
            vertices::throw_values(dice, &mut record, 3, &["0", "1", "2.5", "7", "7.0"]);
            record.shuffle(dice);
            record
        })
        .collect()
}

struct Checked {
    witness: Option<Witness>,
    farthest: BTreeMap<String, f64>,
}

fn check(records: &[Vertex], roles: &Roles, claim: &Claim) -> Checked {
    let data = vertices::dataset(records);
    let (policy, _) = Policy::parse("p", &vertices::policy(roles), &[]).expect("a good policy");
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared");
    let tree = csv::parse("h", TREE).expect("a hierarchy");
    let hierarchies: Vec<Option<Hierarchy>> = (0..CLASSES.len() * NAMES.len())
        .map(|d| (NAMES[d % NAMES.len()] == "c").then(|| tree.clone()))
        .collect();
    let found = verify(&data, &binding, claim, &hierarchies, 1 << 20, &Quiet).expect("countable");
    let witness = recount::agrees((&data, &binding), claim, &hierarchies, found);
    let Claim::Close { ask, .. } = claim else { panic!("closeness") };
    let forms = bosket_verify::vertex::QuasiForms::new(&data, &binding, &Quiet).expect("forms");
    let measured = bosket_verify::vertex::closeness(&data, &binding, &forms, (ask, &hierarchies), &Quiet);
    Checked { witness, farthest: measured.expect("countable").farthest.into_iter().collect() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(400)))]

    #[test]
    fn closeness_agrees_with_the_definition(seed: u64, count in 1..8usize, shapes in 1..3usize) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let records = random_records(&mut dice, count, shapes);
        let rule = random_rule(&mut dice);
        let (expected, farthest) = too_far(&records, &roles, &rule);
        let found = check(&records, &roles, &claim(None, &rule));
        prop_assert_eq!(found.witness.is_none(), expected.is_empty(), "{:?} but {:?}", found.witness, expected);
        for (path, most) in farthest {
            let measured = found.farthest.get(&path).copied().unwrap_or(0.0);
            prop_assert!((measured - most).abs() < 1e-9, "{path}: {measured} but {most}");
        }
        if let Some(witness) = found.witness {
            let named = witness.sensitive.expect("a sensitive value");
            let is_named = expected.iter().any(|e| {
                let same = |(value, share, in_all): &(String, f64, f64)| {
                    *value == named.value
                        && (share - named.share).abs() < 1e-9
                        && (in_all - named.in_all.expect("compared")).abs() < 1e-9
                };
                witness.records.iter().map(|&r| r as usize).eq(e.class.iter().copied())
                    && e.path == named.path
                    && e.values.iter().any(same)
                    && (e.distance - named.distance.expect("measured")).abs() < 1e-9
            });
            prop_assert!(is_named, "{:?} is not among {:?}", named, expected);
        }
    }

    #[test]
    fn order_and_copies_change_no_verdict(seed: u64, count in 1..7usize) {
        let mut dice = Dice::new(seed);
        let roles = random_roles(&mut dice);
        let mut records = random_records(&mut dice, count, 2);
        let claim = claim(None, &random_rule(&mut dice));
        let before = check(&records, &roles, &claim);
        records = [records.clone(), records].concat();
        dice.shuffle(&mut records);
        records.iter_mut().for_each(|record| record.shuffle(&mut dice));
        let after = check(&records, &roles, &claim);
        prop_assert_eq!(after.witness.is_none(), before.witness.is_none());
        for (path, most) in before.farthest {
            prop_assert!((after.farthest[&path] - most).abs() < 1e-9);
        }
    }
}
