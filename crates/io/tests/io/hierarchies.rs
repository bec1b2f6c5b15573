//! Hierarchies that the policy does not name.

use std::io::Cursor;

use bosket_io::hierarchies::{self, HierarchyNeeds};
use bosket_io::{Input, Layout, PolicyFile};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, fanout::fanout};
use bosket_model::policy::Policy;
use bosket_model::{Diagnostic, Fault, Result, Severity};

const KM: &str = "model = 'km'\nk = 2\nm = 2";

fn load(
    items: &str,
    attribute: &str,
    privacy: &str,
    required: bool,
) -> Result<(Vec<Option<Hierarchy>>, Vec<Diagnostic>)> {
    let text = format!(
        "version = 1\n[[attribute]]\npath = 'item'\nrole = 'quasi'\n{attribute}\n[privacy]\n{privacy}\n"
    );
    let (policy, warnings) = Policy::parse("policy.toml", &text, &[]).expect("a good policy");
    let input = Input::new("data", Cursor::new(items.as_bytes().to_vec()), None).expect("readable");
    let data = bosket_io::read(input, Some("transactions"), &Layout::default()).expect("sets").data;
    let binding =
        Binding::new(data.schema(), &policy.attributes, policy.undeclared, "data").expect("declared");
    let file = PolicyFile { policy, folder: Default::default(), warnings, frames: None };
    hierarchies::load(&file, &data, &binding, "data", HierarchyNeeds { required, show_values: false })
}

#[test]
fn numbered_items_of_sets_are_grouped_by_fives_and_that_is_said() {
    let items = "10 9 100\n1 2 3 4\n5 007\n";
    for required in [true, false] {
        let (found, warnings) = load(items, "", KM, required).expect("numbers");
        let expected = fanout(5, &["1", "2", "3", "4", "5", "007", "9", "10", "100"]).expect("a fan-out");
        assert_eq!(found, [Some(expected)]);
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert_eq!(warning.severity, Severity::Warning);
        assert_eq!(
            warning.message,
            "`item` has no hierarchy; its numbers are grouped in their order, 5 by 5"
        );
        assert_eq!((warning.place.source.as_deref(), warning.place.line), (Some("policy.toml"), Some(3)));
        let help = warning.help.as_deref().expect("advice");
        assert!(help.contains(r#"hierarchy = { build = "fanout", fanout = 5 }"#), "{help}");
    }
}

#[test]
fn following_the_advice_gives_the_same_hierarchy_in_silence() {
    let items = "10 9 100\n1 2 3 4\n5 7\n";
    let (usual, _) = load(items, "", KM, true).expect("numbers");
    let (said, warnings) =
        load(items, r#"hierarchy = { build = "fanout", fanout = 5 }"#, KM, true).expect("numbers");
    assert_eq!(said, usual);
    assert_eq!(warnings, []);
}

#[test]
fn items_that_are_not_all_numbers_need_a_hierarchy() {
    for items in ["1 2 milk\n", "1 2.5\n", "1 -2\n", "milk\n", "\n"] {
        let failure = load(items, "", KM, true).expect_err("no hierarchy");
        assert_eq!(failure.fault, Fault::Policy);
        let [error] = &failure.diagnostics[..] else { panic!("{failure}") };
        assert_eq!(error.message, "the quasi attribute `item` has no hierarchy");
        let (found, warnings) = load(items, "", KM, false).expect("not required");
        assert_eq!((found, warnings), (vec![None], vec![]));
    }
}

#[test]
fn other_models_never_get_a_hierarchy_unasked() {
    let failure = load("1 2 3\n", "", "model = 'kmn'\nk = 2\nm = 2\nn = 1", true).expect_err("no hierarchy");
    assert!(failure.to_string().contains("has no hierarchy"), "{failure}");
    let (found, warnings) = load("1 2 3\n", "", "model = 'k-anonymity'\nk = 2", false).expect("not required");
    assert_eq!((found, warnings), (vec![None], vec![]));
}
