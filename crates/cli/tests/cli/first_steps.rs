//! The first steps of somebody new: `inspect DATA --draft`, then `anonymize` with the draft as it is.

use serde_json::{Value, json};

use crate::presets::omop;
use crate::util::Dir;

/// People whose records are alike often enough to be published.
fn people() -> Vec<Value> {
    (0..60)
        .map(|i| {
            json!({
                "sex": (["f", "m"][i % 2]),
                "born": 1950 + i % 3,
                "visits": [{"ward": (["north", "south"][i / 2 % 2])}],
            })
        })
        .collect()
}

/// Drafts a policy for `data`, and checks that it runs as it is and that what comes out is verified.
#[track_caller]
fn leads_on(dir: &Dir, data: &str) -> String {
    dir.run(&["inspect", data, "--draft", "p.toml"]).exits(0);
    let draft = dir.text("p.toml");
    dir.run(&["policy", "check", "p.toml"]).exits(0);
    dir.run(&["anonymize", "p.toml", "--dry-run"]).exits(0);
    dir.run(&["anonymize", "p.toml"]).exits(0);
    let published = draft.rsplit_once("[publish]\npath = \"").and_then(|(_, rest)| rest.split('"').next());
    let published = published.unwrap_or_else(|| panic!("no place: {draft}"));
    dir.run(&["verify", published, "--policy", "p.toml", "--against", data])
        .exits(0)
        .prints(&["HOLDS", "TRUE"]);
    draft
}

#[test]
fn records_of_json_lie_where_an_array_is_outermost() {
    let dir = Dir::new();
    let document = json!({"version": {"by": [{"who": "x"}]}, "notes": [{"a": 1}], "laureates": people()});
    dir.write("data.json", document.to_string());
    let found = dir.run(&["inspect", "data.json"]).exits(0).says_nothing();
    found.prints(&[
        "json: 60 records",
        "each `laureates[]` is taken for a record, since it repeats outermost; --record PATH chooses another, such as `notes[]`",
    ]);
    let found = dir.run(&["inspect", "data.json", "--json"]).exits(0).json();
    assert_eq!(found["guessed"]["record"], "laureates[]");
    let draft = leads_on(&dir, "data.json");
    assert!(draft.contains("record = \"laureates[]\""), "{draft}");
    let found = dir.run(&["inspect", "data.json", "--record", "notes[]", "--json"]).exits(0).json();
    assert_eq!((&found["records"], found.get("guessed")), (&1.into(), None));
}

#[test]
fn records_of_xml_are_the_elements_that_repeat_outermost() {
    let dir = Dir::new();
    let people: String = (0..60)
        .map(|i| {
            let visit = format!("<visit><ward>{}</ward></visit>", ["north", "south"][i / 2 % 2]);
            format!("<person><sex>{}</sex>{}</person>", ["f", "m"][i % 2], visit.repeat(1 + i % 2))
        })
        .collect();
    dir.write("data.xml", format!("<register><head><by>x</by></head>{people}</register>"));
    dir.run(&["inspect", "data.xml"]).exits(0).prints(&[
        "xml: 60 records",
        "each `register/person` is taken for a record",
        "such as `register/person/visit`",
    ]);
    let draft = leads_on(&dir, "data.xml");
    assert!(draft.contains("record = \"register/person\""), "{draft}");
}

#[test]
fn objects_of_json_are_read_as_they_stand_whatever_the_file_is_called() {
    let lines: String = people().iter().map(|p| format!("{p}\n")).collect();
    let several: String = people().iter().map(|p| format!("{p:#}\n")).collect();
    let array = format!("{:#}", Value::from(people()));
    for (name, text, format) in [
        ("lines.json", &lines, "ndjson"),
        ("several.json", &several, "json"),
        ("several.jsonl", &several, "json"),
        ("array.json", &array, "json"),
        ("array.ndjson", &array, "json"),
        ("lines.ndjson", &lines, "ndjson"),
    ] {
        let dir = Dir::new();
        dir.write(name, text);
        dir.run(&["inspect", name]).exits(0).prints(&[&format!("{format}: 60 records, 60 visits[]")]);
        let draft = leads_on(&dir, name);
        assert!(draft.contains(&format!("format = \"{format}\"")), "{name}: {draft}");
    }
    // One object alone is a document: what repeats in it are the records.
    let dir = Dir::new();
    dir.write("one.json", json!({"people": people()}).to_string() + "\n");
    dir.run(&["inspect", "one.json"]).exits(0).prints(&["each `people[]` is taken for a record"]);
}

#[test]
fn a_folder_of_xml_was_not_found_by_its_own_draft() {
    let dir = Dir::new();
    for (i, person) in people().iter().enumerate() {
        let (sex, ward) = (person["sex"].as_str(), person["visits"][0]["ward"].as_str());
        let [sex, ward] = [sex, ward].map(Option::unwrap_or_default);
        dir.write(&format!("docs/{i:02}.xml"), format!("<p><sex>{sex}</sex><ward>{ward}</ward></p>"));
    }
    leads_on(&dir, "docs");
    // A folder that lies elsewhere than its name says.
    dir.write("far/away/keep", "");
    std::os::unix::fs::symlink("far/away", dir.path("near")).expect("a link");
    dir.run(&["inspect", "docs", "--draft", "near/q.toml"]).exits(0);
    dir.run(&["anonymize", "near/q.toml", "--dry-run"]).exits(0);
}

/// A bundle of a patient.
fn bundle(i: usize, stu3: bool) -> Value {
    let code = |code: &str| json!({"coding": [{"system": "urn:codes", "code": code}]});
    let urn = |kind: &str| format!("urn:uuid:{kind}-{i}");
    let encounter = if stu3 { "context" } else { "encounter" };
    let status = if stu3 { json!("active") } else { code("active") };
    let entry = |kind: &str, mut resource: Value| {
        resource["resourceType"] = kind.into();
        json!({"fullUrl": urn(kind), "resource": resource})
    };
    let subject = json!({"reference": urn("Patient")});
    json!({"entry": [
        entry("Patient", json!({"gender": (["female", "male"][i % 2]), "birthDate": format!("195{}-01-01", i % 2)})),
        entry("Encounter", json!({"status": "finished", "class": {"code": "AMB"}, "subject": subject})),
        entry("Condition", json!({"clinicalStatus": status, "subject": subject,
            "code": code(["J45", "E11"][i / 2 % 2]), (encounter): {"reference": urn("Encounter")}})),
    ], "resourceType": "Bundle", "type": "collection"})
}

#[test]
fn bundles_of_fhir_are_recognised_by_their_content() {
    for (stu3, preset) in [(true, "fhir-stu3"), (false, "fhir-r4")] {
        let dir = Dir::new();
        let lines: String = (0..40).map(|i| format!("{}\n", bundle(i, stu3))).collect();
        dir.write("lines.ndjson", lines);
        for i in 0..40 {
            dir.write(&format!("folder/{i:02}.json"), format!("{:#}", bundle(i, stu3)));
        }
        for data in ["lines.ndjson", "folder"] {
            let recognised = format!("recognised as bundles of FHIR, and drafted by the preset `{preset}`");
            dir.run(&["inspect", data]).exits(0).prints(&[&format!("{preset}: 40 records"), &recognised]);
            let found = dir.run(&["inspect", data, "--json"]).exits(0).json();
            assert_eq!(found["preset"], json!({"name": preset, "recognised": true}));
            let copy = Dir::new();
            copy.bash(&format!("cp -r '{}' .", dir.path(data).display())).exits(0);
            leads_on(&copy, data);
        }
        // Whoever says how to read them is obeyed.
        dir.run(&["inspect", "lines.ndjson", "--format", "ndjson"]).exits(0).prints(&["ndjson: 40 records"]);
    }
}

#[test]
fn tables_of_omop_are_recognised_by_their_columns() {
    let dir = Dir::new();
    omop(&dir, 40, false);
    dir.run(&["inspect", "omop", "--draft", "p.toml"])
        .exits(0)
        .prints(&["recognised as tables of OMOP, and drafted by the preset `omop`; --preset none"]);
    dir.run(&["inspect", "omop", "--preset", "omop", "--draft", "asked.toml"]).exits(0);
    assert_eq!(dir.text("p.toml"), dir.text("asked.toml"));
    dir.run(&["anonymize", "p.toml", "--dry-run"]).exits(0);
    let generic = dir.run(&["inspect", "omop", "--preset", "none", "--json"]).exits(0).json();
    assert!(generic.get("preset").is_none());
}

#[test]
fn files_of_other_endings_are_tables_if_their_content_is_one() {
    let dir = Dir::new();
    let rows = |n: usize, row: &dyn Fn(usize) -> String| (0..n).map(|i| row(i) + "\n").collect::<String>();
    let sex = ["f", "m"];
    dir.write(
        "bank/client.csv",
        "\"client_id\";\"sex\"\n".to_owned() + &rows(60, &|i| format!("{i};\"{}\"", sex[i % 2])),
    )
    .write(
        "bank/loan.asc",
        "\"loan_id\";\"client_id\";\"status\"\n".to_owned()
            + &rows(120, &|i| format!("{i};{};\"{}\"", i % 60, ["A", "B"][i % 2])),
    )
    .write("bank/readme.txt", "Hello; reader,\nthis is no table.\n")
    .write("bank/commas.txt", "a,b\n1,2\n");
    let found = dir.run(&["inspect", "bank"]).exits(0);
    found.prints(&[
        "2 linked tables",
        "client (client_id): the person table",
        "loan (loan_id): below client by client_id",
    ]);
    dir.run(&["inspect", "bank", "--draft", "p.toml"]).exits(0);
    dir.run(&["anonymize", "p.toml", "--dry-run"]).exits(0);
    let draft = dir.text("p.toml");
    assert!(draft.contains("bank/loan.asc") && !draft.contains("readme"), "{draft}");
    // Without any that is called a table.
    std::fs::rename(dir.path("bank/client.csv"), dir.path("bank/client.asc")).expect("it was there");
    std::fs::remove_file(dir.path("bank/commas.txt")).expect("it was there");
    dir.run(&["inspect", "bank"]).exits(0).prints(&["2 linked tables"]);
}

#[test]
fn another_model_takes_its_own_algorithm() {
    let dir = Dir::new();
    let table: String = (0..60).map(|i| format!("{},{}\n", ["f", "m"][i % 2], 1950 + i % 3)).collect();
    dir.write("data.csv", format!("sex,born\n{table}"));
    dir.run(&["inspect", "data.csv", "--draft", "p.toml"]).exits(0);
    let policy = dir.text("p.toml");
    let (head, _) = policy.split_once("[privacy]").expect("a guarantee");
    let end = "[privacy]\nmodel = \"k-anonymity\"\nk = 5\n[method]\nalgorithm = \"blocks\"\n[publish]\npath = \"o.csv\"\n";
    dir.write("q.toml", format!("{head}{end}"));
    let args = ["anonymize", "q.toml", "--dry-run", "--set", "privacy.model=kmn", "--set", "privacy.m=2"];
    let set = [&args[..], &["--set", "privacy.n=1"]].concat();
    let found = dir.run(&set).exits(0);
    found.says(&[
        "algorithm `blocks` is not for model `kmn`, which --set names: the default of that is taken",
    ]);
    // What the policy itself says has to fit.
    dir.write("r.toml", dir.text("q.toml").replace("k-anonymity\"", "kmn\"\nm = 2\nn = 1"));
    dir.run(&["policy", "check", "r.toml"]).exits(2).says(&["blocks"]);
}

#[test]
fn each_command_says_what_comes_next_and_that_can_be_typed() {
    let dir = Dir::new();
    let lines: String = people().iter().map(|p| format!("{p}\n")).collect();
    dir.write("my people.ndjson", lines);
    let mut typed = "bosket inspect 'my people.ndjson'".to_owned();
    for command in ["inspect", "policy check", "anonymize", "anonymize", "verify", "report"] {
        let out = dir.bash(&typed.replacen("bosket", "\"$BOSKET\"", 1)).exits(0);
        let all = out.stdout + &out.stderr;
        let next = all
            .lines()
            .find_map(|line| line.strip_prefix("next: "))
            .unwrap_or_else(|| panic!("{typed}: {all}"));
        assert!(next.starts_with(&format!("bosket {command} ")), "{typed}: {next}");
        typed = next.to_owned();
    }
    assert_eq!(typed, "bosket report policy.toml --publication published.ndjson");
    let typed = typed_next(&dir, &typed);
    assert_eq!(typed, "bosket verify published.ndjson --certificate published.ndjson.certificate.json");
    dir.bash(&typed.replacen("bosket", "\"$BOSKET\"", 1)).exits(0).prints(&["AS CERTIFIED"]);
}

/// Types a line, and gives the next one that it names.
#[track_caller]
fn typed_next(dir: &Dir, typed: &str) -> String {
    let out = dir.bash(&typed.replacen("bosket", "\"$BOSKET\"", 1)).exits(0);
    let all = out.stdout + &out.stderr;
    let next = all.lines().find_map(|line| line.strip_prefix("next: "));
    next.unwrap_or_else(|| panic!("{typed}: {all}")).to_owned()
}

/// Types a line, and the lines that follow from it, which must be these.
#[track_caller]
fn leads_to(dir: &Dir, first: &str, lines: &[&str]) {
    let mut typed = first.to_owned();
    for line in lines {
        typed = typed_next(dir, &typed);
        assert_eq!(&typed, line);
    }
    dir.bash(&typed.replacen("bosket", "\"$BOSKET\"", 1)).exits(0);
}

#[test]
fn commands_beside_the_way_did_not_say_what_comes_next() {
    let dir = Dir::new();
    for generate in [
        "clinic --people 200 --out clinic",
        "students --students 60 --out students",
        "baskets --transactions 300 --out baskets",
    ] {
        let out = generate.rsplit(' ').next().expect("a folder");
        let check = format!("bosket policy check {out}/policy.toml");
        let next = typed_next(&dir, &format!("bosket generate {generate}"));
        assert_eq!(next, check);
        let dry = format!("bosket anonymize {out}/policy.toml --dry-run");
        leads_to(&dir, &check, &[&dry, &format!("bosket anonymize {out}/policy.toml")]);
    }
    let measured = typed_next(
        &dir,
        "bosket measure clinic/data.ndjson clinic/published.ndjson --policy clinic/policy.toml",
    );
    assert_eq!(measured, "bosket report clinic/policy.toml --publication clinic/published.ndjson");
    // The run has made that report already.
    typed_next(&dir, &format!("{measured} --force"));

    dir.write("towns.csv", "town\nBonn\nGraz\nWien\n");
    let build = "bosket hierarchy build fanout --fanout 2 --data towns.csv --path town --out towns.h.csv";
    let next = typed_next(&dir, build);
    assert_eq!(next, "bosket hierarchy show towns.h.csv");
    leads_to(&dir, &next, &["bosket hierarchy check towns.h.csv"]);
    leads_to(
        &dir,
        "bosket hierarchy show towns.h.csv --data towns.csv --path town",
        &[
            "bosket hierarchy check towns.h.csv --data towns.csv --path town",
            "bosket inspect towns.csv --draft policy.toml",
            "bosket policy check policy.toml",
        ],
    );
    leads_to(
        &dir,
        "bosket hierarchy show --policy clinic/policy.toml --path birth_year",
        &[
            "bosket hierarchy check --policy clinic/policy.toml --path birth_year",
            "bosket policy check clinic/policy.toml",
        ],
    );

    dir.write("words", "a passphrase\n");
    dir.bash("\"$BOSKET\" certificate keygen --out clinic.key --passphrase-fd 3 3<words").exits(0);
    let certificate = "clinic/published.ndjson.certificate.json";
    let next = typed_next(
        &dir,
        &format!("bosket certificate sign {certificate} --key clinic.key --passphrase-fd 3 3<words"),
    );
    let check = format!("bosket verify clinic/published.ndjson --certificate {certificate} --key ");
    assert!(next.starts_with(&check), "{next}");
    dir.bash(&next.replacen("bosket", "\"$BOSKET\"", 1)).exits(0).prints(&["AS SIGNED"]);
    leads_to(
        &dir,
        &format!("bosket certificate verify {certificate} --key clinic.pub"),
        &[&format!("{check}clinic.pub")],
    );
    leads_to(
        &dir,
        &format!("bosket certificate statement {certificate} --out statement.json"),
        &[&format!("bosket verify clinic/published.ndjson --certificate {certificate}")],
    );
    // A certificate that lies alone leads nowhere.
    std::fs::create_dir(dir.path("alone")).expect("a folder");
    std::fs::copy(dir.path(certificate), dir.path("alone/certificate.json.copy")).expect("there");
    let alone = ["certificate", "statement", "alone/certificate.json.copy", "--out", "alone.json"];
    assert!(!dir.run(&alone).exits(0).stdout.contains("next:"));
}

#[test]
fn deep_documents_ended_in_a_draft_that_no_search_could_reach() {
    let dir = Dir::new();
    let attributes = |name: &str, i: usize| -> String {
        (0..40).map(|j| format!(" {name}{j}=\"{}\"", ["a", "b"][(i + j) % 2])).collect()
    };
    for i in 0..12 {
        let inner = format!("<finding{}/>", attributes("kind", i)).repeat(2);
        let outer = format!("<part{}>{inner}</part>", attributes("templateVersion", i)).repeat(2);
        dir.write(
            &format!("docs/{i:02}.xml"),
            format!("<doc><gender>{}</gender>{outer}</doc>", ["f", "m"][i % 2]),
        );
    }
    dir.run(&["inspect", "docs", "--draft", "p.toml"]).exits(0);
    let draft = dir.text("p.toml");
    assert!(draft.contains("It speaks of the document"), "{draft}");
    dir.run(&["anonymize", "p.toml", "--dry-run"]).exits(0);
    // All of it is more than a search can handle.
    let all = draft.replace("role = \"drop\"", "role = \"quasi\"\nhierarchy = { build = \"prefix\" }");
    dir.write("all.toml", all.replace("follows = ", "# "));
    dir.run(&["anonymize", "all.toml", "--dry-run"]).exits(4).says(&["at most 62 can be handled"]);
}
