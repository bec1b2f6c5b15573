//! FHIR from the outside: looked at, published, verified.

use std::collections::BTreeSet;

use bosket_testkit::shared::shared;
use serde_json::{Value, json};

use crate::util::{Dir, attribute};

/// A patient in R4 with encounters of a class, each with conditions.
fn bundle(id: usize, gender: &str, encounters: &[(&str, &[&str])]) -> Value {
    let patient = format!("Patient/Quetzal-{id}");
    let concept = |code: &str| json!({"coding": [{"system": "urn:codes", "code": code, "display": format!("D{code}")}], "text": format!("T{code}")});
    let entry = |resource: Value| json!({"resource": resource});
    let race = json!({"url": "http://hl7.org/fhir/us/core/StructureDefinition/us-core-race", "extension": [
        {"url": "ombCategory", "valueCoding": {"system": "urn:race", "code": "2106-3", "display": "White"}},
        {"url": "text", "valueString": "White"}]});
    let mut entries = vec![entry(json!({
        "resourceType": "Patient", "id": format!("Quetzal-{id}"), "gender": gender, "birthDate": format!("19{}-01-01", 50 + id % 2),
        "name": [{"family": "Quetzal"}], "extension": [race]}))];
    for (e, (class, codes)) in encounters.iter().enumerate() {
        let encounter = format!("e{id}-{e}");
        entries.push(entry(json!({"resourceType": "Encounter", "id": encounter, "status": "finished",
            "class": {"code": class}, "type": [concept("check")], "subject": {"reference": patient}})));
        for (c, code) in codes.iter().enumerate() {
            entries.push(entry(json!({"resourceType": "Condition", "id": format!("c{id}-{e}-{c}"), "code": concept(code),
                "subject": {"reference": patient}, "encounter": {"reference": format!("Encounter/{encounter}")}})));
        }
    }
    entries.push(entry(json!({"resourceType": "Observation", "id": "o", "subject": {"reference": patient}})));
    json!({"resourceType": "Bundle", "type": "collection", "entry": entries})
}

/// Forty patients; that AMB and X go together is known of too few, each alone of many.
fn clinic() -> Vec<Value> {
    let person = |i: usize| {
        let encounters: &[(&str, &[&str])] = match i % 20 {
            0 => &[("AMB", &["X"]), ("IMP", &["Y"])],
            n if n % 2 == 0 => &[("AMB", &["Y"]), ("IMP", &["X"])],
            _ => &[("IMP", &["X", "Y"]), ("AMB", &[])],
        };
        bundle(i, ["female", "male"][i % 2], encounters)
    };
    (0..40).map(person).collect()
}

fn lines(bundles: &[Value]) -> String {
    bundles.iter().map(|b| format!("{b}\n")).collect()
}

fn policy(format: &str, privacy: &str, attributes: &[String]) -> String {
    format!(
        "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"{format}\"\npath = \"in.ndjson\"\n{}[privacy]\n{privacy}\n\
         [publish]\npath = \"out.ndjson\"\n",
        attributes.concat()
    )
}

const FANOUT: &str = "hierarchy = { build = \"fanout\", fanout = 5 }";

/// What every published resource says of itself.
fn label() -> Value {
    let system = "http://terminology.hl7.org/CodeSystem/v3-ObservationValue";
    json!({"system": system, "code": "ANONYED", "display": "anonymized"})
}

/// Every id once, every reference to something in the same bundle, nothing of the input's names.
#[track_caller]
fn check_bundles(text: &str, count: usize) -> Vec<Value> {
    let bundles: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert_eq!(bundles.len(), count);
    assert!(!text.contains("Quetzal"));
    let mut ids = BTreeSet::new();
    for bundle in &bundles {
        assert_eq!((&bundle["resourceType"], &bundle["type"]), (&json!("Bundle"), &json!("collection")));
        let entries = bundle["entry"].as_array().expect("entries");
        let here: BTreeSet<&str> = entries.iter().filter_map(|e| e["fullUrl"].as_str()).collect();
        for entry in entries {
            let resource = &entry["resource"];
            let id = resource["id"].as_str().expect("an id");
            assert_eq!(entry["fullUrl"], format!("urn:uuid:{id}"));
            assert_eq!(resource["meta"]["security"], json!([label()]), "{resource}");
            assert!(ids.insert(id.to_owned()), "{id} twice");
            for key in ["subject", "patient", "encounter", "context"] {
                if let Some(to) = resource[key]["reference"].as_str() {
                    assert!(here.contains(to), "{resource}");
                }
            }
        }
    }
    bundles
}

#[test]
fn a_draft_that_can_be_used_as_it_is() {
    let dir = Dir::new();
    dir.write("in.ndjson", lines(&clinic()));
    let looked = dir.run(&["inspect", "in.ndjson", "--preset", "fhir-r4", "--draft", "p.toml"]).exits(0);
    let looked = looked.prints(&["fhir-r4: 40 records", "Encounter[].Condition[].code.display"]);
    looked.says(&["left out: 40 Observation"]).hides(&["Quetzal", "2106-3"]);
    let draft = dir.text("p.toml");
    for part in [
        "format = \"fhir-r4\"",
        "undeclared = \"drop\"",
        "#   name[].family",
        "path      = \"race\"",
        "follows = \"Encounter[].Condition[].code\"",
        "model = \"kmn\"",
    ] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    assert!(!draft.contains("Quetzal") && !draft.contains("path    = \"name"), "{draft}");
    dir.run(&["policy", "check", "p.toml"]).exits(0);
    dir.run(&["anonymize", "p.toml"]).exits(0).hides(&["Quetzal"]);
    let bundles = check_bundles(&dir.text("published.ndjson"), 40);
    assert!(!bundles[0].to_string().contains("\"name\""));
    dir.run(&["verify", "published.ndjson", "--policy", "p.toml", "--against", "in.ndjson"]).exits(0);
    dir.certified("published.ndjson", "published.ndjson.certificate.json");
    dir.run(&["inspect", "in.ndjson", "--preset", "fhir-r5"]).exits(2).says(&["fhir-r4", "fhir-stu3"]);
}

#[test]
fn relations_that_are_taken_apart_and_the_order_of_the_input() {
    let dir = Dir::new();
    let flat = |values: &str| format!("hierarchy = {{ build = \"order\", groups = [{values}] }}");
    let attributes = [
        attribute("gender", "quasi", FANOUT),
        attribute("Encounter[].class.code", "quasi", &flat("\"AMB\", \"IMP\"")),
        attribute("Encounter[].type[]", "quasi", FANOUT),
        attribute("Encounter[].Condition[].code", "quasi", &flat("\"X\", \"Y\"")),
        attribute(
            "Encounter[].Condition[].code.display",
            "quasi",
            "follows = \"Encounter[].Condition[].code\"",
        ),
        attribute("Encounter[].status", "insensitive", ""),
    ];
    dir.write("policy.toml", policy("fhir-r4", "model = \"kmn\"\nk = 5\nm = 2\nn = 1", &attributes));
    let mut people = clinic();
    dir.write("in.ndjson", lines(&people));
    let made = dir.run(&["anonymize", "policy.toml", "--json"]).exits(0).json();
    let published = dir.text("out.ndjson");
    let bundles = check_bundles(&published, 40);
    assert!(made.to_string().contains("\"disassociations\":1"), "{made}");
    // What has moved up has no encounter any more, and says nothing about one.
    let conditions =
        || bundles.iter().flat_map(|b| b["entry"].as_array().expect("entries")).map(|e| &e["resource"]);
    let moved = conditions().filter(|r| r["resourceType"] == "Condition" && r.get("encounter").is_none());
    assert!(moved.count() > 0, "{published}");
    dir.run(&["verify", "out.ndjson", "--policy", "policy.toml", "--against", "in.ndjson"]).exits(0);
    // Ids and resources of the input are none of a publication.
    dir.run(&["verify", "in.ndjson", "--policy", "policy.toml"]).exits(3).says(&["not the fresh ones"]);

    people.reverse();
    people.iter_mut().for_each(|p| p["entry"].as_array_mut().expect("entries").reverse());
    let pretty: Vec<String> = people.iter().map(|p| serde_json::to_string_pretty(p).expect("JSON")).collect();
    dir.write("in.ndjson", pretty.join("\n"));
    dir.run(&["anonymize", "policy.toml", "--force", "--threads", "1"]).exits(0);
    assert_eq!(dir.text("out.ndjson"), published);
}

#[test]
fn sets_of_codes_from_a_folder() {
    let dir = Dir::new();
    for (i, person) in clinic().iter().enumerate() {
        dir.write(&format!("in/{i}.json"), serde_json::to_string_pretty(person).expect("JSON"));
    }
    let attributes = [attribute("Encounter[].Condition[].code", "quasi", FANOUT)];
    let text = policy("fhir-r4", "model = \"km\"\nk = 5\nm = 2", &attributes).replace("in.ndjson", "in");
    dir.write("policy.toml", text);
    dir.run(&["inspect", "in", "--preset", "fhir-r4"]).exits(0).prints(&["fhir-r4: 40 records"]);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    check_bundles(&dir.text("out.ndjson"), 40);
    dir.run(&["verify", "out.ndjson", "--policy", "policy.toml", "--against", "in"]).exits(0);
    // A publication must not take the place of a bundle that it is made from.
    dir.run(&["anonymize", "policy.toml", "--force", "--set", "publish.path=in/7.json"])
        .exits(2)
        .says(&["would overwrite"]);
}

#[test]
fn what_the_policy_does_not_name_is_refused_or_dropped() {
    let dir = Dir::new();
    dir.write("in.ndjson", lines(&clinic()));
    let attributes =
        [attribute("gender", "quasi", FANOUT), attribute("Encounter[].class.code", "quasi", FANOUT)];
    dir.write("policy.toml", policy("fhir-r4", "model = \"kmn\"\nk = 5\nm = 2\nn = 1", &attributes));
    let refused =
        dir.run(&["anonymize", "policy.toml", "--set", "undeclared=refuse"]).exits(2).hides(&["Quetzal"]);
    refused.says(&["path name[].family", "path race", "path Encounter[].Condition[].code.text"]);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let text = dir.text("out.ndjson");
    check_bundles(&text, 40);
    assert!(
        !text.contains("Condition") && !text.contains("extension") && !text.contains("birthDate"),
        "{text}"
    );
}

#[test]
fn bundles_that_cannot_be_read_publish_nothing() {
    let dir = Dir::new();
    let attributes = [attribute("gender", "quasi", FANOUT)];
    dir.write("policy.toml", policy("fhir-r4", "model = \"kmn\"\nk = 5\nm = 2\nn = 1", &attributes));
    let mut dangling = bundle(7, "female", &[("AMB", &["X"])]);
    dangling["entry"].as_array_mut().expect("entries").remove(1);
    let mut people = clinic();
    people.truncate(7);
    people.push(dangling);
    dir.write("in.ndjson", lines(&people));
    let refused = dir.run(&["anonymize", "policy.toml"]).exits(3).hides(&["Quetzal"]);
    refused.says(&[
        "`encounter` of the Condition refers to nothing in the bundle",
        " --> in.ndjson:8:",
        "record 8",
    ]);
    assert!(!dir.files().contains(&"out.ndjson".to_owned()));
    let other = dir.run(&["anonymize", "policy.toml", "--set", "source.format=fhir-stu3"]).exits(3);
    other.says(&["the Condition has `encounter`", "say format = \"fhir-r4\""]);
}

#[test]
fn synthetic_patients_in_stu3() {
    let Some(bundles) = shared("data/health-synthea-fhir-stu3/bundles.ndjson.gz") else { return };
    let bundles = bundles.to_string_lossy().into_owned();
    let dir = Dir::new();
    let looked = dir.run(&["inspect", &bundles, "--preset", "fhir-stu3", "--draft", "p.toml"]).exits(0);
    looked
        .prints(&["1,461 records", "18,445 Encounter[]"])
        .says(&["66328 Observation", "628 AllergyIntolerance"]);
    dir.run(&["anonymize", "p.toml"]).exits(0);
    let text = dir.text("published.ndjson");
    check_bundles(&text, 1_461);
    assert!(text.contains("us-core-race") && text.contains("\"context\":{\"reference\""));
    dir.run(&["verify", "published.ndjson", "--policy", "p.toml", "--against", &bundles]).exits(0);
}

/// What FHIR's own rules make of a bundle in XML.
fn in_xml(id: usize, gender: &str, code: &str) -> String {
    let about = format!("<subject><reference value=\"urn:uuid:p{id}\"/></subject>");
    format!(
        "<?xml version=\"1.0\"?>\n<Bundle xmlns=\"http://hl7.org/fhir\"><type value=\"collection\"/>\
         <entry><fullUrl value=\"urn:uuid:p{id}\"/><resource><Patient><id value=\"p{id}\"/>\
         <text><status value=\"generated\"/><div xmlns=\"http://www.w3.org/1999/xhtml\">Dear <b>{id}</b> &amp; all</div></text>\
         <active value=\"true\"/><name><family value=\"F{id}\"/><given value=\"A &amp; B\"/><given value=\"C\"/></name>\
         <gender value=\"{gender}\"/><address><line value=\"Way {id}\"/><city value=\"Ulm\"/></address></Patient></resource></entry>\
         <entry><fullUrl value=\"urn:uuid:e{id}\"/><resource><Encounter><id value=\"e{id}\"/><status value=\"finished\"/>\
         <class><code value=\"AMB\"/></class>{about}</Encounter></resource></entry>\
         <entry><fullUrl value=\"urn:uuid:c{id}\"/><resource><Condition><id value=\"c{id}\"/><code><coding>\
         <system value=\"http://snomed.info/sct\"/><code value=\"{code}\"/></coding></code>{about}\
         <encounter><reference value=\"urn:uuid:e{id}\"/></encounter></Condition></resource></entry></Bundle>"
    )
}

fn in_json(id: usize, gender: &str, code: &str) -> Value {
    let about = json!({"reference": format!("urn:uuid:p{id}")});
    json!({"resourceType": "Bundle", "type": "collection", "entry": [
        {"fullUrl": format!("urn:uuid:p{id}"), "resource": {"resourceType": "Patient", "id": format!("p{id}"),
            "active": true, "name": [{"family": format!("F{id}"), "given": ["A & B", "C"]}], "gender": gender,
            "address": [{"line": [format!("Way {id}")], "city": "Ulm"}]}},
        {"fullUrl": format!("urn:uuid:e{id}"), "resource": {"resourceType": "Encounter", "id": format!("e{id}"),
            "status": "finished", "class": {"code": "AMB"}, "subject": about}},
        {"fullUrl": format!("urn:uuid:c{id}"), "resource": {"resourceType": "Condition", "id": format!("c{id}"),
            "code": {"coding": [{"system": "http://snomed.info/sct", "code": code}]}, "subject": about,
            "encounter": {"reference": format!("urn:uuid:e{id}")}}}]})
}

#[test]
fn bundles_in_xml_are_those_in_json() {
    let dir = Dir::new();
    let people = |i: usize| (i, ["male", "female"][i % 2], ["44054006", "38341003", "195662009"][i % 3]);
    let mut lines = String::new();
    for (id, gender, code) in (0..24).map(people) {
        dir.write(&format!("xml/{id:02}.xml"), in_xml(id, gender, code));
        lines.push_str(&format!("{}\n", in_json(id, gender, code)));
    }
    dir.write("bundles.ndjson", lines);
    dir.run(&["inspect", "xml", "--preset", "fhir-r4", "--draft", "xml.toml"]).exits(0);
    dir.run(&["inspect", "bundles.ndjson", "--preset", "fhir-r4", "--draft", "json.toml"]).exits(0);
    let draft = dir.text("json.toml").replace("bundles.ndjson", "xml");
    assert_eq!(dir.text("xml.toml"), draft);
    dir.run(&["anonymize", "xml.toml", "--set", "publish.path=\"a.ndjson\""]).exits(0);
    dir.run(&["anonymize", "json.toml", "--set", "publish.path=\"b.ndjson\""]).exits(0);
    assert_eq!(dir.text("a.ndjson"), dir.text("b.ndjson"));
    dir.run(&["verify", "a.ndjson", "--policy", "xml.toml", "--against", "xml"]).exits(0);
}

/// A published resource says that it is anonymized; what else it says of itself stays what the policy publishes.
#[test]
fn labels_say_that_it_is_anonymized_and_nothing_else() {
    let dir = Dir::new();
    let mut bundles = clinic();
    for bundle in &mut bundles {
        for entry in bundle["entry"].as_array_mut().expect("entries") {
            entry["resource"]["meta"] = json!({
                "source": "urn:ward", "lastUpdated": "2020-01-01T00:00:00Z", "security": [{"system": "urn:s", "code": "R"}],
                "tag": [{"code": "t"}],
            });
        }
    }
    let attributes = [
        attribute("gender", "quasi", FANOUT),
        attribute("meta.source", "insensitive", ""),
        attribute("Encounter[].class.code", "quasi", FANOUT),
        attribute("Encounter[].meta.tag[].code", "insensitive", ""),
    ];
    let privacy = "model = \"kmn\"\nk = 3\nm = 1\nn = 0";
    dir.write("in.ndjson", lines(&bundles)).write("policy.toml", policy("fhir-r4", privacy, &attributes));
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let published = dir.text("out.ndjson");
    let read = check_bundles(&published, 40);
    let meta = |i: usize| &read[0]["entry"][i]["resource"]["meta"];
    assert_eq!(meta(0), &json!({"security": [label()], "source": "urn:ward"}));
    assert_eq!(meta(1), &json!({"security": [label()], "tag": [{"code": "t"}]}));
    let verify = |text: &str| {
        dir.write("changed.ndjson", text);
        // Changed by hand, keys and all.
        dir.run(&["verify", "changed.ndjson", "--policy", "policy.toml", "--foreign"])
    };
    verify(&published).exits(0).prints(&["HOLDS"]);
    let own = label().to_string();
    let whole = format!("\"security\":[{own}]");
    assert!(published.contains(&whole), "{published}");
    let other = |what: &str| published.replacen(&whole, what, 1);
    for (what, said) in [
        (own.replace("ANONYED", "PSEUDED"), "says something else"),
        (own.replace("ObservationValue", "ObservationValueX"), "says something else"),
        (own.replace("anonymized", "Ada Lovelace"), "says something else"),
        (format!("{own},{own}"), "says something else"),
        (format!("{own},{{\"code\":\"R\"}}"), "says something else"),
        (own.replace('}', ",\"version\":\"Ada\"}"), "says something else"),
        (own.replace("\"display\"", "\"_display\""), "says something else"),
        ("\"ANONYED\"".to_owned(), "says something else"),
        (String::new(), "says something else"),
    ] {
        let found = verify(&other(&format!("\"security\":[{what}]"))).exits(3).says(&[said]);
        found.hides(&["Ada"]);
    }
    verify(&other("\"security\":\"ANONYED\"")).exits(3);
    verify(&other(&format!("{whole},{whole}"))).exits(3);
    // What else stands there is judged like everything else.
    verify(&other(&format!("{whole},\"lastUpdated\":\"2020-01-01\"")))
        .exits(1)
        .prints(&["VIOLATED", "meta.lastUpdated"]);
    // Those who published before there was a label need not publish again.
    let bare =
        |text: &str| text.replace(&format!("{whole},"), "").replace(&whole, "").replace("\"meta\":{},", "");
    verify(&bare(&published)).exits(0);
}
