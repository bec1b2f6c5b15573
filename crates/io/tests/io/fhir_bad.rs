//! Bundles that must not be accepted, with the reason and the place.

use crate::common::{fails, read};
use crate::fhir_common::{about, bundle, coded, full, lines, patient, to};
use bosket_model::Failure;
use serde_json::{Value, json};

fn person(more: &[Value]) -> Value {
    bundle(&[&[patient("p"), about("Encounter", "e", "p", json!({}))], more].concat())
}

fn refused(format: &str, bundles: &[Value]) -> Failure {
    fails(format, lines(bundles))
}

/// The bundle comes second, after one that is fine.
#[track_caller]
fn says(format: &str, bad: Value, message: &str) {
    let failure = refused(format, &[bundle(&[patient("fine")]), bad]);
    let [diagnostic] = &failure.diagnostics[..] else { panic!("{failure}") };
    assert!(diagnostic.message.contains(message), "{failure}");
    let place = &diagnostic.place;
    assert_eq!((place.line, place.record), (Some(2), Some(2)), "{failure}");
    assert!(!failure.to_string().contains("Quetzal"), "a value of the data: {failure}");
}

#[test]
fn references_that_lead_nowhere() {
    let code = coded("s", "Quetzal", "d");
    for (kind, more, message) in [
        (
            "Condition",
            json!({"encounter": to("Encounter/Quetzal"), "code": code}),
            "`encounter` of the Condition refers to nothing",
        ),
        (
            "Immunization",
            json!({"encounter": to("urn:uuid:Quetzal")}),
            "`encounter` of the Immunization refers to nothing",
        ),
        (
            "MedicationRequest",
            json!({"medicationReference": to("Medication/Quetzal")}),
            "`medicationReference` of the MedicationRequest",
        ),
        (
            "MedicationRequest",
            json!({"medicationReference": to("#Quetzal")}),
            "`medicationReference` of the MedicationRequest",
        ),
        (
            "MedicationRequest",
            json!({"medicationReference": to("#x"), "contained": [{"resourceType": "Medication", "id": "y"}]}),
            "`medicationReference`",
        ),
        (
            "Procedure",
            json!({"subject": to("Patient/Quetzal")}),
            "`subject` of the Procedure refers to nothing",
        ),
        (
            "Procedure",
            json!({"subject": to("Patient?identifier=Quetzal")}),
            "`subject` of the Procedure refers to nothing",
        ),
        // The same id on another server is somebody else.
        (
            "Procedure",
            json!({"subject": to("http://other.example/Patient/p")}),
            "`subject` of the Procedure refers to nothing",
        ),
        ("Encounter", json!({"subject": to("Encounter/e")}), "something else than the bundle's Patient"),
    ] {
        says("fhir-r4", person(&[about(kind, "x", "p", more)]), message);
    }
}

#[test]
fn references_by_every_name_that_a_resource_has() {
    for subject in ["Patient/p", "http://hospital.example/fhir/Patient/p", "Patient/p/_history/3"] {
        let condition =
            about("Condition", "x", "p", json!({"subject": to(subject), "code": coded("s", "1", "d")}));
        assert_eq!(read("fhir-r4", lines(&[person(&[condition])])).expect(subject).data.len(), 1);
    }
}

#[test]
fn resources_without_subject() {
    for (kind, key) in [("Condition", "subject"), ("Encounter", "subject"), ("Immunization", "patient")] {
        for said in [json!(null), json!({"display": "Quetzal"}), json!("Patient/p")] {
            let mut resource = about(kind, "x", "p", json!({}));
            resource[key] = said;
            says(
                "fhir-r4",
                person(&[resource]),
                &format!("the {kind} does not say whom it is about: `{key}`"),
            );
        }
    }
}

#[test]
fn bundles_of_nobody_and_of_several() {
    says("fhir-r4", bundle(&[patient("a"), patient("b")]), "more than one Patient");
    says("fhir-r4", bundle(&[about("Condition", "x", "p", json!({}))]), "no Patient");
    says("fhir-r4", json!({"entry": []}), "no FHIR Bundle");
    says("fhir-r4", bundle(&[patient("fine")]), "the same patient as that of record 1");
    says("fhir-r4", person(&[about("Encounter", "e", "p", json!({}))]), "the same fullUrl or id");
}

#[test]
fn what_is_no_bundle() {
    for bad in [
        json!({}),
        json!([]),
        json!("Bundle"),
        json!({"resourceType": "Bundle", "entry": {}}),
        json!({"resourceType": 5, "entry": []}),
    ] {
        let failure = refused("fhir-r4", std::slice::from_ref(&bad));
        assert!(failure.to_string().contains("no FHIR Bundle"), "{bad}: {failure}");
        assert!(failure.to_string().contains("one Bundle per patient"), "{failure}");
    }
    for entry in
        [json!(1), json!({"resource": 1}), json!({"resource": {}}), json!({"resource": {"resourceType": 1}})]
    {
        let failure = refused("fhir-r4", &[json!({"resourceType": "Bundle", "entry": [entry]})]);
        assert!(failure.to_string().contains("holds no resource"), "{entry}: {failure}");
    }
    let nothing = json!({"resourceType": "Bundle", "entry": []});
    assert!(refused("fhir-r4", &[nothing]).to_string().contains("holds no record"));
    assert!(fails("fhir-r4", "").to_string().contains("holds no record"));
}

#[test]
fn the_other_edition() {
    let in_stu3 = about("Condition", "x", "p", json!({"context": to("Encounter/e")}));
    says("fhir-r4", person(&[in_stu3]), "the Condition has `context`");
    let in_r4 = about("Procedure", "x", "p", json!({"encounter": to("Encounter/e")}));
    says("fhir-stu3", person(&[in_r4]), "the Procedure has `encounter`");
    let failure = refused("fhir-stu3", &[full("p")]);
    assert!(failure.to_string().contains("format = \"fhir-r4\""), "{failure}");
}

#[test]
fn an_element_that_is_two_things() {
    // Clinical status is a code in STU-3 and a concept in R4.
    let condition = |status: Value| about("Condition", "x", "p", json!({"clinicalStatus": status}));
    let other = bundle(&[
        patient("q"),
        about("Condition", "x", "q", json!({"clinicalStatus": {"id": "a", "extra": 1}})),
    ]);
    let failure = refused("fhir-r4", &[person(&[condition(json!("active"))]), other]);
    assert!(failure.to_string().contains("an object here, but a single value in record 1"), "{failure}");
    let twice = r#"{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient","gender":"x","gender":"y"}}]}"#;
    assert!(fails("fhir-r4", twice).to_string().contains("this key twice"));
    let both = about(
        "MedicationRequest",
        "x",
        "p",
        json!({"medicationCodeableConcept": coded("s", "1", "d"), "medicationReference": to("Medication/m")}),
    );
    let medication = json!({"resourceType": "Medication", "id": "m", "code": coded("s", "2", "d")});
    let failure = refused("fhir-r4", &[person(&[both, medication])]);
    assert!(failure.to_string().contains("key twice"), "{failure}");
}

#[test]
fn all_problems_at_once_and_those_alike_counted() {
    let bad = |id: &str| {
        bundle(&[patient(id), about("Condition", "x", id, json!({"encounter": to("Encounter/none")}))])
    };
    let failure =
        refused("fhir-r4", &[bad("a"), json!({}), bad("c"), bundle(&[patient("d"), patient("e")]), bad("f")]);
    assert_eq!(failure.diagnostics.len(), 3, "{failure}");
    assert!(failure.diagnostics[0].message.contains("; the same in 2 more records"), "{failure}");
}

#[test]
fn text_that_is_no_json_anywhere() {
    let good = full("p").to_string();
    for cut in [1, good.len() / 3, good.len() / 2, good.len() - 1] {
        let failure = fails("fhir-r4", &good[..cut]);
        assert!(failure.to_string().contains("ends too early"), "{cut}: {failure}");
    }
    let failure = fails("fhir-r4", format!("{good}\n{}", &good[..99]));
    assert_eq!(failure.diagnostics[0].place.line, Some(2), "{failure}");
    let pretty = serde_json::to_string_pretty(&full("p")).expect("JSON");
    let broken = pretty.replacen("\"code\": \"44054006\"", "\"code\": 44054006x", 1);
    let failure = fails("fhir-r4", broken);
    assert!(failure.to_string().contains("path entry[].resource.code.coding[]"), "{failure}");
    let mut bytes = good.into_bytes();
    bytes[200] = 0xFF;
    assert!(fails("fhir-r4", bytes).to_string().contains("UTF-8"));
    let mut bytes = pretty.into_bytes();
    bytes[200] = 0xFF;
    assert!(fails("fhir-r4", bytes).to_string().contains("UTF-8"));
}
