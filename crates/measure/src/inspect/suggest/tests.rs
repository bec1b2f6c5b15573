//! Roles on small made-up data.

use super::*;
use bosket_model::observe::Quiet;
use bosket_model::{Builder, Kind};

fn suggested(data: &Dataset) -> Vec<Suggestion> {
    let profile = Profile::new(data, &Quiet).expect("nobody interrupts");
    suggest(&profile, data, &Quiet).expect("nobody interrupts")
}

/// Roles of a table with these columns; `-` is a missing value.
fn table(columns: &[(&str, Vec<String>)]) -> Vec<Suggestion> {
    let mut builder = Builder::new();
    let ids: Vec<AttributeId> =
        columns.iter().map(|(name, _)| builder.attribute(ClassId::ROOT, &[(*name).to_owned()])).collect();
    for row in 0..columns[0].1.len() {
        builder.begin_record();
        for (id, (_, values)) in ids.iter().zip(columns) {
            if values[row] != "-" {
                builder.set(*id, Kind::Text, &values[row]);
            }
        }
        builder.end_record().expect("set once");
    }
    let data = builder.finish();
    suggested(&data)
}

fn role(name: &str, values: Vec<String>) -> Role {
    table(&[(name, values)])[0].role
}

fn each(n: usize, value: impl Fn(usize) -> String) -> Vec<String> {
    (0..n).map(value).collect()
}

#[test]
fn names_decide_first() {
    let few = || each(30, |i| format!("v{}", i % 3));
    for (name, expected) in [
        ("first_name", Role::Identifying),
        ("email", Role::Identifying),
        ("comments", Role::Identifying),
        ("salary", Role::Sensitive),
        ("religion", Role::Sensitive),
        ("diagnosis", Role::Sensitive),
        ("gender", Role::Quasi),
        ("hospital_id", Role::Quasi),
        ("x17", Role::Quasi),
    ] {
        assert_eq!(role(name, few()), expected, "{name}");
    }
}

#[test]
fn identifiers_are_told_by_name_and_values() {
    assert_eq!(role("patient_id", each(5, |i| format!("p{i}"))), Role::Identifying);
    assert_eq!(role("patient_id", each(30, |i| format!("p{}", i % 10))), Role::Identifying);
    assert_eq!(role("ref_id", each(30, |i| format!("p{i}"))), Role::Identifying);
    assert_eq!(role("ref_id", each(30, |i| format!("p{}", i % 10))), Role::Quasi);
    assert_eq!(role("ref_id", each(30, |_| "-".into())), Role::Identifying);
    let uuid = |i: usize| format!("2e27c71e-30c8-4ceb-8c1c-5641e066c0a{}", i % 10);
    assert_eq!(role("ref", each(30, uuid)), Role::Identifying);
}

#[test]
fn parts_of_a_name_are_told_by_their_company() {
    let roles = |names: &[&str], value: fn(usize) -> String| -> Vec<Role> {
        let columns: Vec<_> = names.iter().map(|&n| (n, each(30, value))).collect();
        table(&columns).iter().map(|s| s.role).collect()
    };
    let text = |i: usize| format!("v{}", i % 3);
    assert_eq!(roles(&["FIRST", "LAST", "SUFFIX"], text), [Role::Identifying; 3]);
    assert_eq!(roles(&["first_name", "suffix"], text), [Role::Identifying; 2]);
    assert_eq!(roles(&["first", "second"], text), [Role::Quasi; 2]);
    assert_eq!(roles(&["prefix", "suffix"], text), [Role::Quasi; 2]);
    assert_eq!(roles(&["first", "last"], |i| (i % 3).to_string()), [Role::Quasi; 2]);
}

#[test]
fn what_nearly_everyone_has_alone_identifies() {
    assert_eq!(role("x", each(30, |i| format!("v{}", i.max(2)))), Role::Identifying);
    assert_eq!(role("x", each(30, |i| format!("v{}", i / 2))), Role::Quasi);
    assert_eq!(role("x", each(19, |i| format!("v{i}"))), Role::Quasi);
    // Some have none: that makes the others no less unique.
    assert_eq!(
        role("x", each(60, |i| if i % 2 == 0 { "-".into() } else { format!("v{i}") })),
        Role::Identifying
    );
}

#[test]
fn measurements_and_dates_do_not_identify_by_being_unique() {
    assert_eq!(role("x", each(200, |i| format!("{}.5", 7 * i))), Role::Quasi);
    assert_eq!(role("x", each(28, |i| format!("1950-02-{:02}", i + 1))), Role::Quasi);
    assert_eq!(role("weight", each(50, |i| format!("{}", 61 + 7 * i))), Role::Quasi);
    assert_eq!(role("income", each(200, |i| format!("{}", 1000 + 7 * i))), Role::Sensitive);
    assert_eq!(role("age", each(200, |i| i.to_string())), Role::Quasi);
}

#[test]
fn running_numbers_identify() {
    assert_eq!(role("rb030", each(200, |i| (100 + i).to_string())), Role::Identifying);
}

#[test]
fn titles_and_names_of_jobs_do_not_identify() {
    for name in ["job_title", "title", "employee_job_name", "position"] {
        assert_eq!(role(name, each(30, |i| format!("v{i}"))), Role::Quasi, "{name}");
    }
}

#[test]
fn values_of_a_handful_are_counted_not_shown() {
    let towns = each(100, |i| if i == 7 { "Ulmm".into() } else { format!("Town {}", i % 9) });
    let reason = &table(&[("town", towns)])[0].reason;
    assert!(reason.contains("Of its 10 values 1 is that of fewer than 5 people"), "{reason}");
    assert!(!reason.contains("Ulmm"), "{reason}");
}

#[test]
fn free_text_identifies() {
    let text =
        |i: usize| format!("a long story, told for the {}th time, about nothing in particular", i % 25);
    assert_eq!(role("story", each(40, text)), Role::Identifying);
    assert_eq!(role("story", each(400, text)), Role::Quasi);
}

#[test]
fn only_constants_are_insensitive() {
    assert_eq!(role("x", each(30, |_| "same".into())), Role::Insensitive);
    assert_eq!(role("x", each(30, |_| "-".into())), Role::Insensitive);
    // Who has it and who has not is something to know.
    assert_eq!(role("x", each(30, |i| if i == 0 { "-".into() } else { "same".into() })), Role::Quasi);
    assert_eq!(role("x", each(2, |_| "same".into())), Role::Quasi);
    assert_eq!(role("surname", each(30, |_| "same".into())), Role::Identifying);
}

#[test]
fn companions_take_the_role_and_no_hierarchy() {
    let found = table(&[
        ("result_code", each(30, |i| format!("c{}", i % 4))),
        ("result_name", each(30, |i| format!("n{}", i % 4))),
    ]);
    assert_eq!((found[0].role, found[1].role), (Role::Sensitive, Role::Sensitive));
    assert_eq!((found[0].follows, found[1].follows), (None, Some(AttributeId(0))));
    let found = table(&[
        ("doctor_id", each(30, |i| format!("c{}", i % 4))),
        ("doctor_name", each(30, |i| format!("n{}", i % 4))),
    ]);
    assert_eq!((found[0].role, found[1].role), (Role::Quasi, Role::Identifying));
    assert!(found[1].follows.is_none() && found[1].hierarchy.is_none());
}

#[test]
fn sets_of_unique_items_still_have_something_to_know() {
    let mut builder = Builder::new();
    let class = builder.class(ClassId::ROOT, &["item".to_owned()]);
    let item = builder.attribute(class, &[]);
    for i in 0..50 {
        builder.begin_record();
        builder.open(class);
        builder.set(item, Kind::Text, &i.to_string());
        builder.close();
        builder.end_record().expect("set once");
    }
    let data = builder.finish();
    let found = suggested(&data);
    assert_eq!(found[0].role, Role::Quasi);
    assert_eq!(found[0].hierarchy.as_ref().expect("one").toml(), r#"{ build = "fanout", fanout = 5 }"#);
}

#[test]
fn diagnoses_are_quasi_inside_a_tree() {
    let mut builder = Builder::new();
    let visits = builder.class(ClassId::ROOT, &["visits".to_owned()]);
    let age = builder.attribute(ClassId::ROOT, &["age".to_owned()]);
    let disease = builder.attribute(visits, &["disease".to_owned()]);
    let since = builder.attribute(visits, &["disease_since".to_owned()]);
    for i in 0..30 {
        builder.begin_record();
        builder.set(age, Kind::Number, &i.to_string());
        builder.open(visits);
        builder.set(disease, Kind::Text, ["J45.9", "E11", "I10"][i % 3]);
        builder.set(since, Kind::Text, "2001-01-01");
        builder.close();
        builder.end_record().expect("set once");
    }
    let data = builder.finish();
    let found = suggested(&data);
    assert_eq!(found[1].role, Role::Quasi);
    assert_eq!(found[1].hierarchy.as_ref().expect("one").toml(), r#"{ build = "icd10" }"#);
}

#[test]
fn shares_are_never_rounded_up_to_all() {
    for (share, expected) in [(0.999, "over 99 %"), (1.0, "100 %"), (0.126, "13 %")] {
        assert_eq!(percent(share), expected);
    }
}
