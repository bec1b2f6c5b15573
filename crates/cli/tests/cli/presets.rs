//! Presets for linked tables and for exports with a file per type of resource.

use serde_json::{Value, json};

use crate::util::Dir;

/// An OMOP extract of some people: 0 is no concept, and some conditions have no visit.
pub fn omop(dir: &Dir, people: usize, visits: bool) {
    let table = |name: &str, header: &str, n: usize, line: &dyn Fn(usize) -> String| {
        let rows: String = (1..=n).map(|i| line(i) + "\n").collect();
        dir.write(&format!("omop/{name}.csv"), format!("{header}\n{rows}"));
    };
    let day = |i: usize| format!("20{}-{:02}-{:02}", 15 + i % 4, i % 12 + 1, i * 7 % 28 + 1);
    table(
        "concept",
        "concept_id,concept_name,domain_id,vocabulary_id,concept_class_id,standard_concept,concept_code,valid_start_date",
        40,
        &|i| format!("{i},Concept {i},d{},v{},c,S,{i},1970-01-01", i % 3, i % 2),
    );
    table(
        "person",
        "person_id,gender_concept_id,year_of_birth,month_of_birth,birth_datetime,race_concept_id,ethnicity_concept_id,\
         provider_id,person_source_value,gender_source_value,gender_source_concept_id",
        people,
        &|i| {
            let year = 1930 + i * 13 % 70;
            format!(
                "{i},{},{year},{},{year}-01-01 00:00:00,{},{},{},Quetzal-{i},x,0",
                i % 2 + 1,
                i % 12,
                i % 3 + 3,
                i % 2 + 6,
                i % 5
            )
        },
    );
    table(
        "visit_occurrence",
        "visit_occurrence_id,person_id,visit_concept_id,visit_start_date,visit_start_datetime,visit_type_concept_id,provider_id",
        people * 2,
        &|i| format!("{i},{},{},{},{} 10:00:00,9,{}", i % people + 1, i % 3 + 8, day(i), day(i), i % 5),
    );
    table(
        "condition_occurrence",
        "condition_occurrence_id,person_id,condition_concept_id,condition_start_date,condition_start_datetime,\
         visit_occurrence_id,condition_source_value,condition_type_concept_id",
        people * 2,
        &|i| {
            let visit = if visits || i % 9 > 0 { i.to_string() } else { String::new() };
            format!(
                "{i},{},{},{},{} 10:00:00,{visit},s{},9",
                i % people + 1,
                i * 7 % 12 + 11,
                day(i),
                day(i),
                i * 7 % 12
            )
        },
    );
    table(
        "drug_exposure",
        "drug_exposure_id,person_id,drug_concept_id,drug_exposure_start_date,quantity,visit_occurrence_id,sig",
        people,
        &|i| format!("{i},{},{},{},30,{i},pill", i % people + 1, i * 5 % 10 + 25, day(i)),
    );
    table(
        "measurement",
        "measurement_id,person_id,measurement_concept_id,measurement_date,value_as_number,visit_occurrence_id",
        people,
        &|i| format!("{i},{},{},{},{}.5,{i}", i % people + 1, i % 4 + 36, day(i), i % 90),
    );
    table("provider", "provider_id,provider_name", 5, &|i| format!("{},Quetzal {i}", i - 1));
}

#[test]
fn omop_is_linked_and_judged_by_its_model() {
    let dir = Dir::new();
    omop(&dir, 40, false);
    dir.run(&["inspect", "omop", "--preset", "omop", "--draft", "p.toml"])
        .exits(0)
        .prints(&[
            "person (person_id): the person table",
            "visit_occurrence (visit_occurrence_id): below person by person_id",
            "condition_occurrence (condition_occurrence_id): below person by person_id",
            "drug_exposure (drug_exposure_id): below visit_occurrence by visit_occurrence_id",
            "Looked up in concept: its concept_name stands here in place of a number",
        ])
        .hides(&["Quetzal", "`concept` and what refers"]);
    let draft = dir.text("p.toml");
    for part in [
        "path      = \"person.gender_concept_id\"\nrole      = \"quasi\"",
        "path      = \"person.year_of_birth\"\nrole      = \"quasi\"",
        "path = \"person.birth_datetime\"\nrole = \"drop\"",
        "path = \"person.person_source_value\"\nrole = \"identifying\"",
        "path = \"person.provider_id\"\nrole = \"key\"",
        "path      = \"condition_occurrence.condition_concept_id\"\nrole      = \"quasi\"",
        "path    = \"condition_occurrence.condition_start_datetime\"\nrole    = \"quasi\"\nfollows = \"condition_occurrence.condition_start_date\"",
        "path = \"condition_occurrence.condition_source_value\"\nrole = \"drop\"",
        "path = \"measurement.value_as_number\"\nrole = \"drop\"",
    ] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    dir.run(&["anonymize", "p.toml", "--set", "privacy.k=2"]).exits(0).hides(&["Quetzal"]);
    dir.run(&["verify", "published", "--policy", "p.toml", "--set", "privacy.k=2", "--against", "omop"])
        .exits(0)
        .prints(&["HOLDS", "TRUE"]);
}

/// Resources of forty patients, a type per file.
fn export(dir: &Dir) {
    let concept = |code: &str| json!({"coding": [{"system": "urn:codes", "code": code, "display": format!("D{code}")}]});
    let mut files: [(&str, Vec<Value>); 5] =
        ["Condition", "Encounter", "Observation", "Patient", "Practitioner"].map(|kind| (kind, Vec::new()));
    for i in 0..40 {
        let patient = json!({"reference": format!("Patient/Quetzal-{i}")});
        let (gender, class) = (["female", "male"][i % 2], ["AMB", "IMP"][i / 2 % 2]);
        files[3].1.push(json!({"resourceType": "Patient", "id": format!("Quetzal-{i}"),
            "gender": gender, "birthDate": format!("19{}-01-01", 50 + i % 2)}));
        files[1].1.push(json!({"resourceType": "Encounter", "id": format!("e{i}"), "status": "finished",
            "class": {"code": class}, "subject": patient}));
        // The first ten name an encounter that was not exported.
        let encounter = if i < 10 { format!("Encounter/lost{i}") } else { format!("Encounter/e{i}") };
        files[0].1.push(json!({"resourceType": "Condition", "id": format!("c{i}"), "subject": patient,
            "code": concept(["X", "Y"][i / 4 % 2]), "encounter": {"reference": encounter}}));
        files[2].1.push(json!({"resourceType": "Observation", "id": format!("o{i}"), "subject": patient}));
    }
    files[0].1.push(json!({"resourceType": "Condition", "id": "lost", "code": concept("X"),
        "subject": {"reference": "Patient/nobody"}}));
    files[4].1.push(json!({"resourceType": "Practitioner", "id": "p"}));
    for (kind, resources) in files {
        let lines: String = resources.iter().map(|r| format!("{r}\n")).collect();
        dir.write(&format!("bulk/{kind}.ndjson"), lines);
    }
}

#[test]
fn a_file_per_type_of_resource_is_read_as_one_source() {
    let dir = Dir::new();
    export(&dir);
    let looked = dir.run(&["inspect", "bulk", "--preset", "fhir-bulk", "--draft", "p.toml"]).exits(0);
    looked
        .prints(&["fhir-r4: 40 records", "Encounter[].Condition[].code", "\nCondition[].code"])
        .says(&["left out: 40 Observation, 1 Practitioner", "1 resource left out: no Patient is there"])
        .hides(&["Quetzal"]);
    assert!(dir.text("p.toml").contains("format = \"fhir-r4\"\npath   = \"bulk\""), "{}", dir.text("p.toml"));
    dir.run(&["anonymize", "p.toml"]).exits(0).hides(&["Quetzal"]);
    dir.run(&["verify", "published.ndjson", "--policy", "p.toml", "--against", "bulk"])
        .exits(0)
        .prints(&["HOLDS", "TRUE"]);
    // A publication is bundles, and nothing else.
    let published = dir.text("published.ndjson");
    let more = format!("{published}{}\n", json!({"resourceType": "Patient", "id": "more"}));
    dir.write("more.ndjson", more);
    dir.run(&["verify", "more.ndjson", "--policy", "p.toml"]).exits(3).says(&["no FHIR Bundle"]);
}
