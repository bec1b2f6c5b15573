//! The 1,461 patients in STU-3 that lie beside the repository, where they do.

use crate::common::{input, shared, write};
use crate::fhir_common::dump;
use bosket_io::{Input, Layout};

#[test]
fn synthetic_patients_survive() {
    let Some(path) = shared("health-synthea-fhir-stu3/bundles.ndjson.gz") else { return };
    let open = || Input::open(&path).expect("a file");
    let loaded = bosket_io::read(open(), Some("fhir-stu3"), &Layout::default()).expect("readable");
    let data = &loaded.data;
    assert_eq!(data.len(), 1_461);
    let schema = data.schema();
    let mut vertices = vec![0; schema.classes().len()];
    (0..data.vertex_count()).for_each(|v| vertices[data.class(v).index()] += 1);
    for (class, count) in [
        ("Encounter[]", 18_445),
        ("Encounter[].Condition[]", 6_810),
        ("Encounter[].Procedure[]", 8_997),
        ("Encounter[].MedicationRequest[]", 5_580),
        ("Encounter[].Immunization[]", 13_163),
    ] {
        let (id, _) = schema.classes().find(|(_, c)| c.path == class).expect(class);
        assert_eq!(vertices[id.index()], count, "{class}");
    }
    // Nobody in this file has a resource without encounter.
    assert!(!schema.classes().any(|(_, c)| c.path == "Condition[]"));
    assert!(loaded.warnings[0].message.contains("66328 Observation"), "{:?}", loaded.warnings);
    // Every request tells its medication, which stands in a resource of its own.
    let medication = schema.find("Encounter[].MedicationRequest[].medication").expect("a path");
    let class = schema.attribute(medication).class;
    let told = (0..data.vertex_count()).filter(|&v| data.class(v) == class);
    assert!(told.clone().all(|v| data.value(v, medication) != bosket_model::MISSING));

    let text = write(&loaded);
    let again = bosket_io::read(input(text.clone()).expect("text"), Some("fhir-stu3"), &loaded.layout)
        .expect("readable");
    assert_eq!(dump(&again.data), dump(data));
    assert_eq!(write(&again), text);
    let failure =
        bosket_io::read(open(), Some("fhir-r4"), &Layout::default()).map(|_| ()).expect_err("STU-3");
    assert!(failure.to_string().contains("format = \"fhir-stu3\""), "{failure}");
}

#[test]
fn the_same_people_as_in_the_nested_file() {
    let Some(bundles) = shared("health-synthea-fhir-stu3/bundles.ndjson.gz") else { return };
    let Some(nested) = shared("health-synthea-fhir-stu3/patients-nested.ndjson.gz") else { return };
    let read = |path, format| {
        bosket_io::read(Input::open(path).expect("a file"), Some(format), &Layout::default())
            .expect("readable")
            .data
    };
    let (bundles, nested) = (read(&bundles, "fhir-stu3"), read(&nested, "ndjson"));
    for (ours, theirs) in [
        ("race.display", "race"),
        ("ethnicity.display", "ethnicity"),
        ("birthDate", "birth_date"),
        ("address[].city", "city"),
        ("Encounter[].period.start", "encounters[].date"),
        ("Encounter[].Condition[].code", "encounters[].conditions[].code.code"),
        ("Encounter[].Procedure[].code.display", "encounters[].procedures[].code.display"),
        ("Encounter[].MedicationRequest[].medication", "encounters[].medications[].code.code"),
        ("Encounter[].Immunization[].vaccineCode", "encounters[].immunizations[].code.code"),
    ] {
        // Per record, since that is what references decide.
        let values = |data: &bosket_model::Dataset, path: &str| -> Vec<Vec<String>> {
            let id = data.schema().find(path).expect(path);
            let class = data.schema().attribute(id).class;
            (0..data.len())
                .map(|r| {
                    let codes =
                        data.vertices(r).filter(|&v| data.class(v) == class).map(|v| data.value(v, id));
                    let mut texts: Vec<String> = codes
                        .filter(|&c| c != bosket_model::MISSING)
                        .map(|c| data.dictionary(id).text(c).to_owned())
                        .collect();
                    texts.sort();
                    texts
                })
                .collect()
        };
        assert_eq!(values(&bundles, ours), values(&nested, theirs), "{ours}");
    }
}
