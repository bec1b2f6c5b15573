//! FHIR bundles as records, and records as bundles.

use crate::common::{input, read, write};
use crate::fhir_common::{about, bundle, coded, dump, full, lines, patient, to};
use bosket_io::{Input, Layout, Loaded};
use bosket_model::{Builder, Kind};
use proptest::prelude::*;
use serde_json::{Value, json};

fn paths(loaded: &Loaded) -> Vec<&str> {
    loaded.data.schema().attributes().map(|(_, a)| a.path.as_str()).collect()
}

fn reread(loaded: &Loaded) -> Loaded {
    bosket_io::read(input(write(loaded)).expect("text"), Some(loaded.format.name()), &loaded.layout)
        .expect("readable")
}

fn published(loaded: &Loaded) -> Vec<Value> {
    let text = String::from_utf8(write(loaded)).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The resources of a type in a bundle.
fn of(bundle: &Value, kind: &str) -> Vec<Value> {
    let entries = bundle["entry"].as_array().expect("entries").iter();
    entries.map(|e| e["resource"].clone()).filter(|r| r["resourceType"] == kind).collect()
}

#[test]
fn a_patient_with_everything() {
    let loaded = read("fhir-r4", lines(&[full("p")])).expect("readable");
    let [record] = &dump(&loaded.data)[..] else { panic!("one record") };
    for part in [
        r#"gender=Text"female""#,
        r#"race=Text"2054-5 2106-3""#,
        r#"race.display=Text"Black; White""#,
        r#"race.text=Text"Mixed""#,
        r#"birthsex=Text"F""#,
        r#"extension.patient-birthPlace.valueAddress.city=Text"Springfield""#,
        r#"extension.http://example.org/daly.valueDecimal=Number"1.25""#,
        r#"_birthDate.extension.patient-birthTime.valueDateTime=Text"1953-09-08T10:00:00Z""#,
        r#"maritalStatus=Text"M""#,
        r#"extension.geolocation.extension.latitude.valueDecimal=Number"41.7""#,
        r#"name{family=Text"Abbott" given{=Text"Buena"} given{=Text"M."} text=Text"Buena M. Abbott"}"#,
        r#"type{=Text"185349003" display=Text"Check-up" system=Text"http://snomed.info/sct"} type{=Text"walk-in"}"#,
        r#"Condition{code.display=Text"Diabetes" code.system=Text"http://snomed.info/sct" code=Text"44054006"}"#,
        r#"Condition{code=Text"Sore" onsetDateTime=Text"2011"}"#,
        r#"Procedure{code.system=Text"http://snomed.info/sct" code.text=Text"Scan" code=Text"1"}"#,
        r#"MedicationRequest{medication.display=Text"Naproxen""#,
        r#"MedicationRequest{medication=Text"Own mixture"}"#,
        r#"serviceProvider.display=Text"Hospital""#,
    ] {
        assert!(record.contains(part), "{part}\n{record}");
    }
    // Neither ids nor references are values.
    for path in paths(&loaded) {
        assert!(!path.ends_with("reference") && !path.ends_with("id") && !path.contains("subject"), "{path}");
    }
    for path in [
        "Encounter[].Condition[].code",
        "Condition[].code",
        "Encounter[].type[]",
        "Encounter[].type[].display",
    ] {
        assert!(paths(&loaded).contains(&path), "{path}");
    }
    let warnings: Vec<String> = loaded.warnings.iter().map(|w| w.message.clone()).collect();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert!(warnings[0].contains("1 Organization"), "{}", warnings[0]);
    assert!(!warnings[0].contains("Medication,"), "{}", warnings[0]);
    for (warning, what) in warnings[1..].iter().zip(["references", "codings", "contained"]) {
        assert!(warning.starts_with(what) && warning.ends_with("were left out: 1"), "{warning}");
    }
}

#[test]
fn what_is_written_reads_the_same() {
    let loaded = read("fhir-r4", lines(&[full("p"), bundle(&[patient("q")])])).expect("readable");
    let again = reread(&loaded);
    assert_eq!(dump(&again.data), dump(&loaded.data));
    assert_eq!(again.layout, loaded.layout);
    assert_eq!(write(&again), write(&loaded));
}

#[test]
fn a_publication_is_made_of_fresh_ids_and_references_to_them() {
    let loaded = read("fhir-r4", lines(&[full("secret")])).expect("readable");
    let [bundle] = &published(&loaded)[..] else { panic!("one bundle") };
    assert!(!bundle.to_string().contains("secret"));
    let entries = bundle["entry"].as_array().expect("entries");
    assert_eq!(entries.len(), 10);
    assert_eq!(entries[0]["resource"]["resourceType"], "Patient");
    for entry in entries {
        let id = entry["resource"]["id"].as_str().expect("an id");
        assert_eq!(entry["fullUrl"], format!("urn:uuid:{id}"));
        for key in ["subject", "patient", "encounter"] {
            if let Some(link) = entry["resource"].get(key) {
                assert!(entries.iter().any(|e| e["fullUrl"] == link["reference"]), "{entry}");
            }
        }
    }
    // Every request has its medication as a concept, whether it was referred to, contained or told.
    let requests = of(bundle, "MedicationRequest");
    assert_eq!(requests.len(), 3);
    assert!(
        requests.iter().all(|r| r["medicationCodeableConcept"].is_object() && r.get("medication").is_none())
    );
    let race = of(bundle, "Patient")[0]["extension"].to_string();
    for (code, display) in [("2054-5", "Black"), ("2106-3", "White")] {
        let system = "urn:oid:2.16.840.1.113883.6.238";
        let coding = json!({"url": "ombCategory", "valueCoding": {"code": code, "system": system, "display": display}});
        assert!(race.contains(&coding.to_string()), "{race}");
    }
}

#[test]
fn ids_follow_what_is_published_and_not_the_order_of_the_input() {
    let person = |id: &str, code: &str| {
        bundle(&[
            patient(id),
            about("Encounter", "a", id, json!({"status": "finished"})),
            about(
                "Condition",
                "b",
                id,
                json!({"encounter": to("Encounter/a"), "code": coded("s", code, "d")}),
            ),
            about(
                "Condition",
                "c",
                id,
                json!({"encounter": to("Encounter/a"), "code": coded("s", "0", "d")}),
            ),
        ])
    };
    let turned = |bundle: Value| {
        let mut bundle = bundle;
        bundle["entry"].as_array_mut().expect("entries").reverse();
        bundle
    };
    let one = write(&read("fhir-r4", lines(&[person("x", "1"), person("y", "2")])).expect("readable"));
    let two = write(
        &read("fhir-r4", lines(&[turned(person("k", "2")), turned(person("l", "1"))])).expect("readable"),
    );
    assert_eq!(String::from_utf8(one).expect("text"), String::from_utf8(two).expect("text"));
}

#[test]
fn stu3_has_context_and_race_as_a_concept() {
    let race = json!([{"url": "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race",
        "valueCodeableConcept": {"coding": [{"system": "r", "code": "2054-5", "display": "Black"}], "text": "race"}}]);
    let mut person = patient("p");
    person["extension"] = race.clone();
    let data = lines(&[bundle(&[
        person,
        about("Encounter", "e", "p", json!({})),
        about("Condition", "c", "p", json!({"context": to("Encounter/e"), "code": coded("s", "1", "d")})),
        about(
            "Immunization",
            "i",
            "p",
            json!({"encounter": to("Encounter/e"), "vaccineCode": coded("s", "2", "d")}),
        ),
    ])]);
    let loaded = read("fhir-stu3", data).expect("readable");
    let found = paths(&loaded);
    for path in
        ["race", "race.display", "Encounter[].Condition[].code", "Encounter[].Immunization[].vaccineCode"]
    {
        assert!(found.contains(&path), "{path} not in {found:?}");
    }
    let [bundle] = &published(&loaded)[..] else { panic!("one bundle") };
    assert_eq!(of(bundle, "Patient")[0]["extension"], race);
    let encounter = json!(format!("urn:uuid:{}", of(bundle, "Encounter")[0]["id"].as_str().expect("an id")));
    assert_eq!(of(bundle, "Condition")[0]["context"]["reference"], encounter);
    assert_eq!(of(bundle, "Immunization")[0]["encounter"]["reference"], encounter);
    assert_eq!(dump(&reread(&loaded).data), dump(&loaded.data));
}

#[test]
fn labels_stand_where_their_type_allows_them() {
    let loaded = read("fhir-r4", lines(&[full("p")])).expect("readable");
    // What a release may look like: labels in place of dates, numbers and codes, companions gone.
    let mut builder = Builder::new();
    let keys = |path: &str| path.split('.').map(str::to_owned).collect::<Vec<_>>();
    let names = [
        ("birthDate", "1950s"),
        ("gender", "*"),
        ("maritalStatus", "group-1"),
        ("race", "any"),
        ("extension.patient-birthPlace.valueAddress.city", "S*"),
    ];
    let root: Vec<_> =
        names.iter().map(|(name, _)| builder.attribute(bosket_model::ClassId::ROOT, &keys(name))).collect();
    let encounter = builder.class(bosket_model::ClassId::ROOT, &keys("Encounter"));
    let start = builder.attribute(encounter, &keys("period.start"));
    let request = builder.class(encounter, &keys("MedicationRequest"));
    let medication = builder.attribute(request, &keys("medication"));
    let address = builder.class(bosket_model::ClassId::ROOT, &keys("address"));
    let latitude = builder.attribute(address, &keys("extension.geolocation.extension.latitude.valueDecimal"));
    builder.begin_record();
    for (&attribute, (_, label)) in root.iter().zip(names) {
        builder.set(attribute, Kind::Text, label);
    }
    builder.open(encounter);
    builder.set(start, Kind::Text, "2010");
    builder.open(request);
    builder.set(medication, Kind::Text, "Painkillers");
    builder.close();
    builder.close();
    builder.open(address);
    builder.set(latitude, Kind::Text, "[41,42)");
    builder.close();
    builder.end_record().expect("room");
    let release = Loaded {
        data: builder.finish(),
        format: loaded.format,
        layout: loaded.layout.clone(),
        warnings: Vec::new(),
    };
    let [bundle] = &published(&release)[..] else { panic!("one bundle") };
    let person = &of(bundle, "Patient")[0];
    let rendered = |label: &str| json!([{"url": "http://hl7.org/fhir/StructureDefinition/rendered-value", "valueString": label}]);
    assert_eq!(person.get("birthDate"), None);
    assert_eq!(person["_birthDate"]["extension"], rendered("1950s"));
    assert_eq!(person["gender"], "*");
    assert_eq!(person["maritalStatus"], json!({"text": "group-1"}));
    assert!(
        person["extension"].to_string().contains(r#""extension":[{"url":"text","valueString":"any"}]"#),
        "{person}"
    );
    let latitude = &person["address"][0]["extension"][0]["extension"][0];
    assert_eq!(latitude["url"], "latitude");
    assert_eq!(latitude["_valueDecimal"]["extension"], rendered("[41,42)"));
    // A year is a date.
    assert_eq!(of(bundle, "Encounter")[0]["period"], json!({"start": "2010"}));
    assert_eq!(
        of(bundle, "MedicationRequest")[0]["medicationCodeableConcept"],
        json!({"text": "Painkillers"})
    );
    assert_eq!(dump(&reread(&release).data), dump(&release.data));
}

#[test]
fn one_bundle_several_bundles_and_a_folder_of_them() {
    let bundles = [full("p"), bundle(&[patient("q")]), bundle(&[patient("r")])];
    let expected = dump(&read("fhir-r4", lines(&bundles)).expect("readable").data);
    let pretty: Vec<String> =
        bundles.iter().map(|b| serde_json::to_string_pretty(b).expect("JSON")).collect();
    let loaded = read("fhir-r4", pretty.join("\n\n")).expect("readable");
    assert_eq!(dump(&loaded.data), expected);

    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    file("a.json", &pretty[0]);
    file("b.json", &bundles[1].to_string());
    file("c.ndjson", &format!("{}\n", bundles[2]));
    file("notes.txt", "not a bundle");
    file(".hidden.json", "not a bundle");
    let read = |format: Option<&str>| {
        bosket_io::read(Input::open_records(folder.path()).expect("a folder"), format, &Layout::default())
    };
    let loaded = read(Some("fhir-r4")).expect("readable");
    assert_eq!(dump(&loaded.data), expected);
    let failure = read(Some("csv")).map(|_| ()).expect_err("no folder for others");
    assert!(failure.to_string().contains("it is a folder"), "{failure}");
}

#[test]
fn races_are_a_set() {
    let category = |code: &str| json!({"url": "ombCategory", "valueCoding": {"system": "s", "code": code, "display": format!("D{code}")}});
    let person = |id: &str, codes: &[&str]| {
        let parts: Vec<Value> = codes.iter().map(|c| category(c)).collect();
        let mut person = patient(id);
        person["extension"] = json!([{"url": "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race", "extension": parts}]);
        bundle(&[person])
    };
    let loaded =
        read("fhir-r4", lines(&[person("a", &["2", "1"]), person("b", &["1", "2"])])).expect("readable");
    let race = loaded.data.schema().find("race").expect("a path");
    assert_eq!(loaded.data.dictionary(race).iter().collect::<Vec<_>>(), [(Kind::Text, "1 2")]);
    assert_eq!(dump(&reread(&loaded).data), dump(&loaded.data));
}

#[test]
fn bundles_without_a_person_are_passed_over_and_counted() {
    let hospitals = bundle(&[
        json!({"resourceType": "Organization", "id": "o"}),
        json!({"resourceType": "Location", "id": "l"}),
    ]);
    let loaded = read("fhir-r4", lines(&[hospitals, bundle(&[patient("q")])])).expect("readable");
    assert_eq!(loaded.data.len(), 1);
    assert!(loaded.warnings[0].message.contains("1 Location, 1 Organization"), "{:?}", loaded.warnings);
}

type Thing = (usize, Option<usize>, Value, bool);

/// A small bundle in which everything that can be absent may be.
fn any_bundle() -> impl Strategy<Value = Vec<Value>> {
    let concept = prop_oneof![
        Just(json!({"text": "words"})),
        ("[a-c]", prop::option::of("[a-b]"), prop::option::of("[a-b]"), prop::option::of("[x-y]")).prop_map(
            |(code, system, display, text)| {
                let mut coding = json!({"code": code});
                system.into_iter().for_each(|s| coding["system"] = json!(s));
                display.into_iter().for_each(|d| coding["display"] = json!(d));
                let mut concept = json!({"coding": [coding]});
                text.into_iter().for_each(|t| concept["text"] = json!(t));
                concept
            }
        ),
        Just(json!({"coding": [{"display": "only"}], "text": "said"})),
    ];
    let thing = (0usize..4, prop::option::of(0usize..3), concept, any::<bool>());
    prop::collection::vec((prop::collection::vec(thing, 0..5), any::<bool>()), 1..4).prop_map(|people| {
        let person = |(i, (things, dated)): (usize, (Vec<Thing>, bool))| {
            let id = format!("p{i}");
            let mut resources = vec![patient(&id)];
            resources.extend((0..3).map(|e| {
                about(
                    "Encounter",
                    &format!("e{e}"),
                    &id,
                    if dated { json!({"period": {"start": "2010-01-01"}}) } else { json!({}) },
                )
            }));
            for (n, (kind, encounter, concept, twice)) in things.into_iter().enumerate() {
                let (kind, key) = [
                    ("Condition", "code"),
                    ("Procedure", "code"),
                    ("MedicationRequest", "medicationCodeableConcept"),
                    ("Immunization", "vaccineCode"),
                ][kind];
                let mut more = json!({});
                more[key] = concept.clone();
                if twice {
                    more["category"] = json!([concept, {}]);
                }
                encounter.into_iter().for_each(|e| more["encounter"] = to(&format!("Encounter/e{e}")));
                resources.push(about(kind, &format!("r{n}"), &id, more));
            }
            bundle(&resources)
        };
        people.into_iter().enumerate().map(person).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_records_survive_and_their_order_does_not_matter(bundles in any_bundle()) {
        let loaded = read("fhir-r4", lines(&bundles)).expect("readable");
        let text = write(&loaded);
        let again = reread(&loaded);
        prop_assert_eq!(dump(&again.data), dump(&loaded.data));
        prop_assert_eq!(&write(&again), &text);
        let turned: Vec<Value> = bundles.into_iter().rev().collect();
        prop_assert_eq!(write(&read("fhir-r4", lines(&turned)).expect("readable")), text);
    }
}
