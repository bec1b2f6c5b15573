//! Publications in which values stand above their homes: they come back as the same value trees.

use crate::common::{input, write};
use crate::fhir_common::dump;
use bosket_io::fhir::Forms;
use bosket_io::homes::Homes;
use bosket_io::{Layout, Loaded};
use bosket_model::binding::Binding;
use bosket_model::policy::{Payload, Policy, RootMode, Undeclared};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Builder, ClassId, Dataset, Kind};
use serde_json::{Value, json};

const PATHS: &[&str] = &[
    "gender",
    "address[].city",
    "Encounter[].class.code",
    "Encounter[].type[]",
    "Encounter[].Condition[].code",
    "Encounter[].Condition[].bodySite[]",
    "Encounter[].Condition[].stage[].summary",
    "Encounter[].Condition[].stage[].assessment[].kind",
    "Encounter[].Procedure[].code",
];

fn policy(more: &[&str]) -> Policy {
    let attribute = |path: &&str| format!("[[attribute]]\npath = \"{path}\"\nrole = \"quasi\"\n");
    let attributes: String = PATHS.iter().chain(more).map(attribute).collect();
    let beside = "[[attribute]]\npath = \"Encounter[].Condition[].note\"\nrole = \"sensitive\"\n";
    Policy::parse("p", &format!("version = 1\n{attributes}{beside}"), &[]).expect("a policy").0
}

fn trees(data: &Dataset, policy: &Policy) -> Vec<String> {
    let binding =
        Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data").expect("all declared");
    let trees = ValueTrees::new(data, &binding, RootMode::Separate, Payload::Keep);
    let label = |node: usize| {
        let item = &trees.items()[trees.item(node) as usize];
        format!("{}={}", binding.declared[item.declared].path, item.label)
    };
    let path = |node: Option<usize>| {
        let mut labels: Vec<String> = std::iter::successors(node, |&n| trees.parent(n)).map(label).collect();
        labels.reverse();
        labels.join(" > ")
    };
    let record = |r: usize| {
        let mut found: Vec<String> = trees.nodes(r).map(|n| path(Some(n))).collect();
        found.extend(
            trees
                .payloads(r)
                .iter()
                .map(|p| format!("{} ! {} {:?}", path(p.node.map(|n| n as usize)), p.home, p.values)),
        );
        found.sort();
        found.join("\n")
    };
    let mut records: Vec<String> = (0..trees.len()).map(record).collect();
    records.sort();
    records
}

/// A vertex as JSON: values by key, classes as arrays.
fn build(records: &[Value]) -> Dataset {
    fn vertex(builder: &mut Builder, class: ClassId, object: &Value) {
        for (key, value) in object.as_object().expect("an object") {
            let name: Vec<String> = match key.as_str() {
                "" => Vec::new(),
                // A dot in a class's key is part of it.
                _ if value.is_array() => vec![key.clone()],
                _ => key.split('.').map(str::to_owned).collect(),
            };
            if let Some(elements) = value.as_array() {
                let below = builder.class(class, &name);
                for element in elements {
                    builder.open(below);
                    vertex(builder, below, element);
                    builder.close();
                }
            } else {
                let attribute = builder.attribute(class, &name);
                builder.set(attribute, Kind::Text, value.as_str().expect("a text"));
            }
        }
    }
    let mut builder = Builder::new();
    for record in records {
        builder.begin_record();
        vertex(&mut builder, ClassId::ROOT, record);
        builder.end_record().expect("room");
    }
    builder.finish()
}

/// Publishes and reads again; gives both datasets and the first bundle.
fn through(records: &[Value], policy: &Policy) -> (Dataset, Dataset, Value) {
    let mut forms = Forms::default();
    for concept in ["Condition[].code", "Encounter[].type[]", "Condition[].bodySite[]", "Procedure[].code"] {
        forms.concepts.insert(concept.to_owned());
    }
    let homes = Box::new(Homes::expected(&policy.attributes));
    let layout = Layout { fhir: Box::new(forms), homes, ..Layout::default() };
    let format = bosket_io::by_name("fhir-r4").expect("a format");
    let loaded = Loaded { data: build(records), format, layout: layout.clone(), warnings: Vec::new() };
    let text = write(&loaded);
    let first = text.split(|&c| c == b'\n').next().expect("a line");
    let bundle = serde_json::from_slice(first).expect("JSON");
    let again =
        bosket_io::read(input(text.clone()).expect("text"), Some("fhir-r4"), &layout).expect("readable");
    (loaded.data, again.data, bundle)
}

fn of<'a>(bundle: &'a Value, kind: &str) -> Vec<&'a Value> {
    let entries = bundle["entry"].as_array().expect("entries").iter();
    entries.map(|e| &e["resource"]).filter(|r| r["resourceType"] == kind).collect()
}

#[test]
fn resources_that_lost_their_encounter() {
    let policy = policy(&[]);
    let record = json!({"gender": "female",
        "Encounter": [{"class.code": "AMB", "Condition": [{"code": "A", "note": "n"}]}],
        "Condition": [{"code": "B", "note": "m"}, {"code": "C"}],
        "Procedure": [{"code": "D"}]});
    let (data, again, bundle) = through(&[record, json!({"gender": "male"})], &policy);
    assert_eq!(dump(&again), dump(&data));
    assert_eq!(trees(&again, &policy), trees(&data, &policy));
    let conditions = of(&bundle, "Condition");
    assert_eq!(conditions.iter().filter(|c| c.get("encounter").is_some()).count(), 1);
    assert_eq!(conditions.len(), 3);
}

#[test]
fn resources_that_lost_their_encounter_beside_some_that_never_had_one() {
    let policy = policy(&["Condition[].code"]);
    let record = json!({"Encounter": [{"class.code": "AMB", "Condition": [{"code": "A"}]}],
        "Condition": [{"code": "B"}],
        "Encounter.Condition": [{"code": "B"}, {"code": "C", "note": "n"}]});
    let (data, again, bundle) = through(&[record], &policy);
    assert_eq!(dump(&again), dump(&data));
    assert_eq!(trees(&again, &policy), trees(&data, &policy));
    let masked = |c: &&&Value| c["encounter"]["extension"][0]["valueCode"] == "masked";
    assert_eq!(of(&bundle, "Condition").iter().filter(masked).count(), 2, "{bundle}");
}

#[test]
fn parts_of_resources_get_a_resource_each() {
    let policy = policy(&[]);
    let record = json!({"gender": "female",
        "type": [{"": "T1"}, {"": "T2"}],
        "bodySite": [{"": "arm"}],
        "assessment": [{"kind": "k1"}],
        "Encounter": [{"class.code": "AMB", "bodySite": [{"": "leg"}], "stage": [{"summary": "s"}],
            "Condition": [{"code": "A", "assessment": [{"kind": "k2"}], "stage": [{"summary": "t"}]}]}]});
    let (data, again, bundle) = through(&[record], &policy);
    assert_eq!(trees(&again, &policy), trees(&data, &policy), "{bundle}");
    // Two types that stand in one encounter would be related.
    let encounters = of(&bundle, "Encounter");
    assert_eq!(encounters.len(), 3);
    assert!(encounters.iter().all(|e| e.get("type").is_none_or(|t| t.as_array().expect("types").len() == 1)));
    // Nothing but a patient's own elements is left in the Patient.
    let person = of(&bundle, "Patient")[0];
    assert_eq!(
        person.as_object().expect("an object").keys().collect::<Vec<_>>(),
        ["resourceType", "id", "meta", "gender"]
    );
}

#[test]
fn parts_beside_resources_that_never_had_an_encounter() {
    let policy = policy(&["Condition[].code", "Condition[].bodySite[]"]);
    let record = json!({"Condition": [{"code": "N", "bodySite": [{"": "eye"}]}],
        "Encounter.Condition.bodySite": [{"": "arm"}],
        "Encounter": [{"class.code": "AMB", "bodySite": [{"": "leg"}]}]});
    let (data, again, bundle) = through(&[record], &policy);
    assert_eq!(trees(&again, &policy), trees(&data, &policy), "{bundle}");
}

#[test]
fn encounters_of_which_nothing_is_published_keep_their_place() {
    let policy = policy(&[]);
    let record = json!({"Encounter": [{"Condition": [{"code": "A"}]}, {}, {"type": [{"": "T"}]}]});
    let (data, again, _) = through(&[record], &policy);
    assert_eq!(dump(&again), dump(&data));
}
