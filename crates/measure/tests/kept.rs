//! Rows and values in and out: nothing is lost without a word.

use std::io::Cursor;

use bosket_io::{Input, Layout};
use bosket_measure::kept::{Before, Kept, Lost, OTHERS};
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::{Dataset, Result};

const CLUSTERS: &str = "version = 1
undeclared = 'drop'
[privacy]
model = 'k-anonymity'
k = 2
[[attribute]]
path = 'name'
role = 'identifying'
[[attribute]]
path = 'town'
role = 'quasi'
hierarchy = 't.csv'
[[attribute]]
path = 'loans[].amount'
role = 'sensitive'
[[attribute]]
path = 'notes[].secret'
role = 'identifying'
[[attribute]]
path = 'rare'
role = 'insensitive'
";

const TREES: &str = "version = 1
[privacy]
model = 'kmn'
k = 2
m = 2
n = 1
[[attribute]]
path = 'visits[].town'
role = 'quasi'
hierarchy = 't.csv'
[[attribute]]
path = 'visits[].doctor'
role = 'quasi'
hierarchy = 'd.csv'
[[attribute]]
path = 'visits[].drugs[].drug'
role = 'quasi'
hierarchy = 'd.csv'
";

fn towns() -> Hierarchy {
    csv::parse("t.csv", "Ulm,South,*\nAugsburg,South,*\nKiel,North,*\n").expect("a good hierarchy")
}

fn letters() -> Hierarchy {
    csv::parse("d.csv", "a,*\nb,*\nc,*\n").expect("a good hierarchy")
}

fn read(text: &str) -> Dataset {
    let input = Input::new("people", Cursor::new(text.as_bytes().to_vec()), None).expect("readable");
    bosket_io::read(input, Some("ndjson"), &Layout::default()).expect("good records").data
}

struct Case {
    policy: Policy,
    input: (Dataset, Binding),
    published: (Dataset, Binding),
    hierarchies: Vec<Option<Hierarchy>>,
}

impl Case {
    fn new(policy: &str, input: &str, published: &str, hierarchies: Vec<Option<Hierarchy>>) -> Self {
        let (policy, _) = Policy::parse("p", policy, &[]).expect("a good policy");
        let bind = |text: &str| {
            let data = read(text);
            let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, "people");
            let binding = binding.expect("all declared");
            (data, binding)
        };
        let (input, published) = (bind(input), bind(published));
        Case { policy, input, published, hierarchies }
    }

    fn compared<'a>(&'a self, mapping: Option<&'a [(u32, u32)]>) -> Compared<'a> {
        let side = |(data, binding): &'a (Dataset, Binding)| Side { data, binding };
        Compared {
            policy: &self.policy,
            input: side(&self.input),
            published: side(&self.published),
            hierarchies: &self.hierarchies,
            apart: &[],
            mapping,
            mining: false,
        }
    }

    fn kept(&self, mapping: Option<&[(u32, u32)]>) -> Kept {
        Kept::new(&self.compared(mapping), &Quiet).expect("nobody interrupts")
    }

    fn loss(&self, mapping: Option<&[(u32, u32)]>) -> Result<Loss> {
        Loss::new(&self.compared(mapping), &Quiet)
    }
}

/// Three of five loans are gone: two of people who are published, one with its person.
fn loans() -> Case {
    let input = r#"{"name":"A","town":"Ulm","loans":[{"amount":1},{"amount":2}],"notes":[{"secret":"x"}]}
{"name":"B","town":"Augsburg","loans":[{"amount":3},{"amount":3}],"rare":"x"}
{"name":"C","town":"Kiel","loans":[{"amount":4}],"other":[{"a":1}]}
"#;
    let published = r#"{"town":"South","loans":[{"amount":1}]}
{"town":"South","loans":[{"amount":3}],"rare":"x"}
"#;
    Case::new(CLUSTERS, input, published, vec![None, Some(towns()), None, None, None])
}

#[test]
fn lost_loans_are_told_by_what_became_of_them() {
    let case = loans();
    let kept = case.kept(Some(&[(0, 0), (1, 1)]));
    let rows = kept.rows("loans[]").expect("a class");
    let lost = Lost { pruned: 2, suppressed: 1, ..Lost::default() };
    assert_eq!((rows.input, rows.published, rows.lost), (5, 2, Some(lost)));
    let amounts = kept.values("loans[].amount").expect("a sensitive attribute");
    assert_eq!((amounts.input, amounts.published, amounts.lost), (5, 2, Some(lost)));
    assert_eq!(kept.sensitive(), (5, 2));
    let records = kept.rows("").expect("the records");
    assert_eq!((records.input, records.published), (3, 2));
    // What the policy removes is neither there nor lost.
    assert!(
        kept.rows("notes[]").is_none() && kept.values("name").is_none() && kept.rows("other[]").is_none()
    );
    let text = kept.to_json().to_string();
    assert!(!text.contains("Ulm") && !text.contains("Kiel"), "{text}");
}

#[test]
fn without_a_mapping_nobody_guesses() {
    let kept = loans().kept(None);
    let rows = kept.rows("loans[]").expect("a class");
    assert_eq!((rows.input, rows.published, rows.lost), (5, 2, None));
    assert!(kept.to_json()["classes"][1]["pruned"].is_null());
}

#[test]
fn what_few_people_have_is_not_named_to_everybody() {
    let case = loans();
    let kept = case.kept(Some(&[(0, 0), (1, 1)]));
    assert!(kept.values("rare").is_some());
    let public = kept.public(&case.policy);
    assert!(public.values("rare").is_none());
    assert_eq!(public.values(OTHERS).map(|v| (v.input, v.published)), Some((1, 1)));
    assert_eq!(public.values("loans[].amount"), kept.values("loans[].amount"));
}

#[test]
fn merged_moved_and_left_out_are_told_apart() {
    let input = r#"{"visits":[{"town":"Ulm","doctor":"a"},{"town":"Augsburg","doctor":"a"},{"town":"Kiel"}]}
{"visits":[{"town":"Ulm","doctor":"b","drugs":[{"drug":"c"}]}]}
"#;
    // The visits to Ulm and Augsburg look alike, Kiel is published nowhere, the drug has lost its visit.
    let published = r#"{"visits":[{"town":"South","doctor":"a"}]}
{"visits":[{"town":"South","doctor":"b"}],"drugs":[{"drug":"c"}]}
"#;
    let case = Case::new(TREES, input, published, vec![Some(towns()), Some(letters()), Some(letters())]);
    let kept = case.kept(Some(&[(0, 0), (1, 1)]));
    let lost = |merged, left_out| Some(Lost { merged, left_out, ..Lost::default() });
    let rows = kept.rows("visits[]").expect("a class");
    assert_eq!((rows.input, rows.published, rows.moved, rows.lost), (4, 2, 0, lost(1, 1)));
    let towns = kept.values("visits[].town").expect("an attribute");
    assert_eq!((towns.input, towns.published, towns.lost), (4, 2, lost(1, 1)));
    let drugs = kept.rows("visits[].drugs[]").expect("a class");
    assert_eq!((drugs.input, drugs.published, drugs.moved, drugs.lost), (1, 1, 1, lost(0, 0)));
    assert_eq!(kept.values("visits[].drugs[].drug").map(|v| v.moved), Some(1));
}

#[test]
fn a_dry_run_counts_what_goes_in() {
    let case = loans();
    let side = Side { data: &case.input.0, binding: &case.input.1 };
    let before = Before::new(side, &Quiet).expect("nobody interrupts");
    assert_eq!(before.classes, [(String::new(), 3), ("loans[]".to_owned(), 5)]);
    let values: Vec<(&str, u64)> = before.attributes.iter().map(|a| (a.0.as_str(), a.3)).collect();
    assert_eq!(values, [("town", 3), ("loans[].amount", 5), ("rare", 1)]);
}

#[test]
fn labels_of_moved_rows_are_counted_once() {
    let input = "{\"visits\":[{\"town\":\"Ulm\",\"drugs\":[{\"drug\":\"c\"}]}]}\n".repeat(2);
    let published = r#"{"visits":[{"town":"Ulm","drugs":[{"drug":"c"}]}]}
{"visits":[{"town":"Ulm"}],"drugs":[{"drug":"c"}]}
"#;
    let case = Case::new(TREES, &input, published, vec![Some(towns()), Some(letters()), Some(letters())]);
    let loss = case.loss(Some(&[(0, 0), (1, 1)])).expect("measured");
    let drugs = loss.attributes.iter().find(|a| a.path == "visits[].drugs[].drug").expect("an attribute");
    assert_eq!((drugs.distinct, drugs.published), (1, 1));
}
