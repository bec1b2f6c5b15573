//! Drafts for real data: they parse, they fit, and they hold no value of it.

use std::path::Path;

use bosket_io::{Input, Layout};
use bosket_measure::inspect::{Origin, Profile, draft_policy, suggest};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::build;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Format, Policy, Role, draft};
use bosket_model::{Builder, ClassId, Dataset, Kind, hierarchy::HierarchySpec};
use bosket_testkit::shared::shared;
use proptest::prelude::*;

/// What is drafted for the data, checked in every way that holds for all.
fn checked(data: &Dataset, origin: &Origin) -> (Policy, String) {
    let profile = Profile::new(data, &Quiet).expect("nobody interrupts");
    let suggestions = suggest(&profile, data, &Quiet).expect("nobody interrupts");
    let text = draft(&draft_policy(&profile, &suggestions, origin));
    let (policy, warnings) =
        Policy::parse("draft", &text, &[]).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    assert!(warnings.is_empty(), "{warnings:?}");
    Binding::new(data.schema(), &policy.attributes, policy.undeclared, "data").expect("names everything");
    covers(data, &policy);
    (policy, text)
}

/// The draft for a file beside the repository, if it is there.
fn drafted(path: &str, record: Option<&str>, separator: Option<&str>) -> Option<(Policy, String)> {
    let file = shared(path)?;
    let layout = Layout {
        record: record.map(str::to_owned),
        separator: separator.map(str::to_owned),
        ..Layout::default()
    };
    let loaded = bosket_io::read(Input::open(&file).expect("opens"), None, &layout).expect("reads");
    let origin = Origin {
        format: Format::from_name(loaded.format.name()).expect("a policy knows the format"),
        path: Path::new(path).file_name().expect("a file").to_string_lossy().into_owned(),
        record: loaded.layout.record,
        separator: loaded.layout.separator,
    };
    let (policy, text) = checked(&loaded.data, &origin);
    holds_no_value(&loaded.data, &text);
    Some((policy, text))
}

fn covers(data: &Dataset, policy: &Policy) {
    for (id, attribute) in data.schema().attributes() {
        let declared = policy.attribute(&attribute.path).expect("declared by its own path");
        let needs = declared.role == Role::Quasi && declared.follows.is_none();
        assert_eq!(declared.hierarchy.is_some(), needs, "{}", attribute.path);
        if let Some(HierarchySpec::Build(spec)) = &declared.hierarchy {
            let domain: Vec<&str> = data.dictionary(id).iter().map(|(_, text)| text).collect();
            let hierarchy = build(spec, &domain, None).expect("good parameters");
            assert!(hierarchy.bind(domain).is_ok(), "{} is not covered", attribute.path);
        }
    }
}

/// A draft without the bounds of its hierarchies: rounded, with some people beyond each, they may happen to be values.
fn without_bounds(draft: &str) -> String {
    let is_bound = |part: &str| {
        let part = part.trim_start_matches(['{', ' ']);
        part.starts_with("min = ") || part.starts_with("max = ")
    };
    let line = |line: &str| match line.contains("{ build = ") {
        true => line.split(", ").filter(|part| !is_bound(part)).collect::<Vec<_>>().join(", "),
        false => line.to_owned(),
    };
    draft.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A value may occur in a draft only as something that the draft would say anyway: part of a path, a word of the
/// program, a power of ten.
fn holds_no_value(data: &Dataset, draft: &str) {
    const WORDS: [&str; 7] = [
        include_str!("../src/inspect/attackers.rs"),
        include_str!("../src/inspect/builder.rs"),
        include_str!("../src/inspect/draft.rs"),
        include_str!("../src/inspect/suggest.rs"),
        include_str!("../src/inspect/topic.rs"),
        include_str!("../../model/src/policy/draft.rs"),
        include_str!("../../model/src/policy/choices.rs"),
    ];
    let draft = &without_bounds(draft);
    let said = |value: &str| WORDS.iter().any(|w| w.contains(value));
    let in_path = |value: &str| data.schema().attributes().any(|(_, a)| a.path.contains(value));
    let power =
        |value: &str| value.trim_start_matches('-').trim_start_matches('1').bytes().all(|b| b == b'0');
    for (id, attribute) in data.schema().attributes() {
        for (_, value) in data.dictionary(id).iter().filter(|(_, value)| value.chars().count() >= 4) {
            let leaked = draft.contains(value) && !said(value) && !in_path(value) && !power(value);
            assert!(!leaked, "{}: {value:?} is in the draft", attribute.path);
        }
    }
}

fn roles(policy: &Policy, expected: &[(&str, Role)]) {
    for (path, role) in expected {
        let found = policy.attribute(path).unwrap_or_else(|| panic!("{path} is declared"));
        assert_eq!(found.role, *role, "{path}");
    }
}

#[test]
fn legislators() {
    let Some((policy, _)) = drafted("data/json-congress-legislators/legislators-current.json.gz", None, None)
    else {
        return;
    };
    roles(
        &policy,
        &[
            ("id.bioguide", Role::Identifying),
            ("id.fec[]", Role::Identifying),
            ("id.wikipedia", Role::Identifying),
            ("name.first", Role::Identifying),
            ("name.suffix", Role::Identifying),
            ("bio.birthday", Role::Quasi),
            ("bio.gender", Role::Quasi),
            ("terms[].state", Role::Quasi),
            ("terms[].phone", Role::Identifying),
            ("terms[].url", Role::Identifying),
            ("family[].name", Role::Identifying),
            ("family[].relation", Role::Quasi),
        ],
    );
}

#[test]
fn laureates() {
    let Some((policy, text)) = drafted("data/json-nobel/laureate.json.gz", Some("laureates[]"), None) else {
        return;
    };
    roles(
        &policy,
        &[
            ("id", Role::Identifying),
            ("surname", Role::Identifying),
            ("born", Role::Quasi),
            ("prizes[].year", Role::Quasi),
            ("prizes[].motivation", Role::Identifying),
            ("prizes[].affiliations[].name", Role::Quasi),
        ],
    );
    let code = policy.attribute("bornCountryCode").expect("declared");
    assert_eq!(code.follows.as_deref(), Some("bornCountry"));
    assert!(text.contains("record = \"laureates[]\""));
}

#[test]
fn patients() {
    let Some((policy, text)) = drafted("data/health-synthea-fhir-stu3/patients-nested.ndjson.gz", None, None)
    else {
        return;
    };
    roles(
        &policy,
        &[
            ("patient_id", Role::Identifying),
            ("name", Role::Identifying),
            ("postal_code", Role::Quasi),
            ("encounters[].encounter_id", Role::Identifying),
            ("encounters[].date", Role::Quasi),
            ("encounters[].type.system", Role::Insensitive),
            ("encounters[].conditions[].code.code", Role::Quasi),
        ],
    );
    let display = policy.attribute("encounters[].conditions[].code.display").expect("declared");
    assert_eq!(display.follows.as_deref(), Some("encounters[].conditions[].code.code"));
    assert!(text.contains("model = \"kmn\""));
}

#[test]
fn adults() {
    let Some((policy, text)) = drafted("data/flat-adult-arx/adult.csv.gz", None, Some(";")) else { return };
    roles(&policy, &[("sex", Role::Quasi), ("occupation", Role::Quasi), ("salary-class", Role::Sensitive)]);
    assert!(text.contains("model = \"k-anonymity\""));
    assert!(text.contains("min = 0, max = 120"));
}

#[test]
fn households() {
    let Some((policy, _)) = drafted("data/rel-eusilc/eusilc.csv.gz", None, None) else { return };
    roles(&policy, &[("rb030", Role::Identifying), ("eqIncome", Role::Sensitive), ("py010n", Role::Quasi)]);
}

#[test]
fn questionnaires() {
    let Some((policy, _)) = drafted("data/set-arules/IncomeESL.csv.gz", None, None) else { return };
    roles(&policy, &[("income", Role::Sensitive), ("marital status", Role::Quasi)]);
}

#[test]
fn groceries() {
    let Some((policy, text)) = drafted("data/set-arules/groceries-baskets.txt.gz", None, Some(";")) else {
        return;
    };
    roles(&policy, &[("item", Role::Quasi)]);
    assert!(text.contains("model = \"km\""));
    assert!(text.contains("path = \"published.txt\""));
}

/// Values that have fooled one builder or another.
const ODD: [&str; 16] = [
    "",
    "*",
    "**",
    "∅",
    "-1",
    "1e400",
    "007",
    "9999999999999999999",
    "0000-00-00",
    "2013-02-30",
    "2013-02-28",
    "J45.9",
    "true",
    "a (unspecified)",
    "a..b",
    "0.1",
];

proptest! {
    #[test]
    fn any_table_gets_a_draft_that_fits(
        names in prop::collection::btree_set("(code|code name|id|age|zip|year|[a.\\[\\]\"\\\\ \n#é]{0,4})", 1..5),
        rows in prop::collection::vec(prop::collection::vec(prop::option::of(0usize..ODD.len()), 5), 0..30),
        nested in any::<bool>(),
    ) {
        let mut builder = Builder::new();
        let class = if nested { builder.class(ClassId::ROOT, &["b".to_owned()]) } else { ClassId::ROOT };
        let ids: Vec<_> = names.iter().map(|n| builder.attribute(class, std::slice::from_ref(n))).collect();
        for row in &rows {
            builder.begin_record();
            if nested {
                builder.open(class);
            }
            for (&id, value) in ids.iter().zip(row) {
                if let Some(at) = value {
                    builder.set(id, Kind::Text, ODD[*at]);
                }
            }
            builder.end_record().expect("set once");
        }
        let origin = Origin { format: Format::Ndjson, path: "x.ndjson".to_owned(), record: None, separator: None };
        checked(&builder.finish(), &origin);
    }
}
