//! Dissection from the outside: published, validated, verified.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use bosket_testkit::server::Server;

use crate::util::{Dir, attribute};

/// The worked example of this repository.
fn example() -> Dir {
    let dir = Dir::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/dissect");
    for name in ["private.xml", "private.xsd", "icd.csv", "policy.toml"] {
        dir.write(name, fs::read(folder.join(name)).expect("part of the repository"));
    }
    dir
}

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/dissect").join(name);
    fs::read_to_string(path).expect("part of the repository")
}

/// Validates a document, where `xmllint` is there to do it.
fn is_valid(dir: &Dir, schema: &str, document: &str) {
    let run = Command::new("xmllint")
        .args(["--noout", "--schema"])
        .args([dir.path(schema), dir.path(document)])
        .output();
    match run {
        Err(_) => eprintln!("skipped: xmllint (libxml2-utils) is not installed"),
        Ok(found) => assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr)),
    }
}

/// The lines of a publication between two marks, without their groups, counted.
fn fragments(text: &str, side: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for group in text.split("<Group ").skip(1).filter(|g| g.starts_with(&format!("Type=\"{side}\""))) {
        for line in group.lines().filter(|l| l.starts_with("<GroupElement")) {
            let rest = line.split_once('"').and_then(|(_, rest)| rest.split_once('"')).expect("an Id").1;
            *found.entry(rest.to_owned()).or_default() += 1;
        }
    }
    found
}

#[test]
fn the_worked_example() {
    let dir = example();
    let told = dir.run(&["anonymize", "policy.toml"]).exits(0);
    told.prints(&["published 26 records in 6 groups", "verified: sensitive values are linked to groups"]);
    assert_eq!(dir.text("published.xml"), golden("published.xml"));
    assert_eq!(dir.text("published.xsd"), golden("published.xsd"));
    is_valid(&dir, "private.xsd", "private.xml");
    is_valid(&dir, "published.xsd", "published.xml");
    let certificate = dir.certified("published.xml", "published.xml.certificate.json");
    let names: Vec<&str> = (certificate["publication"]["files"].as_array().expect("files").iter())
        .filter_map(|f| f["name"].as_str())
        .collect();
    assert_eq!(names, ["published.xml", "published.xsd"]);
    let verify = ["verify", "published.xml", "--policy", "policy.toml", "--json"];
    let found = dir.run(&verify).exits(0).json();
    assert_eq!(found["degrees"][0]["set_wise"], 2);
    let target = "--set=privacy.delta_target=2";
    dir.run(&[&verify[..], &[target]].concat()).exits(0);
    let broken = dir.run(&[&verify[..], &["--set=privacy.delta_target=3"]].concat()).exits(1).json();
    assert_eq!(broken["witness"]["distance"], 2);
    dir.run(&[&verify[..], &["--set=privacy.group_size=6"]].concat()).exits(1);
    let against = [&verify[..4], &["--against", "private.xml"]].concat();
    dir.run(&against).exits(0).prints(&["TRUE"]);
    dir.write("published.xml", dir.text("published.xml").replacen("<Gender>F", "<Gender>X", 1));
    let against = [&against[..], &["--foreign"]].concat();
    dir.run(&against).exits(1).prints(&["NOT TRUE", "1 record of the publication not in the input"]);
}

#[test]
fn every_fragment_is_published_once_and_nothing_else() {
    let dir = example();
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let (private, published) = (dir.text("private.xml"), dir.text("published.xml"));
    for gone in ["Person", "P1", "Name", "id="] {
        assert!(!published.contains(gone), "{gone}");
    }
    let codes = |text: &str| {
        let mut all: Vec<String> =
            text.split("code=\"").skip(1).map(|r| r.split('"').next().unwrap_or("").to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(codes(&private), codes(&published));
    for name in ["Gender", "Postcode", "Occupation"] {
        let values = |text: &str| {
            let (open, close) = (format!("<{name}>"), format!("</{name}>"));
            let mut all: Vec<String> =
                text.split(&open).skip(1).map(|r| r.split(&close).next().unwrap_or("").to_owned()).collect();
            all.sort();
            all
        };
        assert_eq!(values(&private), values(&published), "{name}");
    }
    assert!(fragments(&published, "QI").keys().all(|line| !line.contains("code=")));
    assert!(fragments(&published, "SI").keys().all(|line| line.matches("code=").count() == 1
        && !line.contains("<Patient")
        && !line.contains("<value>")));
}

#[test]
fn neither_side_shows_the_order_of_the_input() {
    let dir = example();
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let before = dir.text("published.xml");
    let text = dir.text("private.xml");
    let (head, rest) = text.split_once("  <medicalDBmessage>").expect("records");
    let mut records: Vec<&str> =
        rest.trim_end().trim_end_matches("</medicalDB>").split("  <medicalDBmessage>").collect();
    records.reverse();
    let turned: String = records.iter().map(|r| format!("  <medicalDBmessage>{r}")).collect();
    dir.write("private.xml", format!("{head}{turned}</medicalDB>\n"));
    dir.run(&["anonymize", "policy.toml", "--force"]).exits(0);
    assert_eq!(dir.text("published.xml"), before);
    let lines: Vec<&str> = before.lines().filter(|l| l.starts_with("<GroupElement Id=\"1\"")).collect();
    let (quasi, sensitive): (Vec<&str>, Vec<&str>) = lines.iter().partition(|l| l.contains("<Patient"));
    assert!(quasi.is_sorted() && sensitive.is_sorted() && sensitive.len() >= 4, "{lines:?}");
}

#[test]
fn plain_dissection_claims_nothing() {
    let dir = example();
    let plain = ["--set=privacy.model=none", "--set=privacy.group_size=5"];
    dir.run(&[&["anonymize", "policy.toml"][..], &plain].concat()).exits(0).prints(&["nothing is claimed"]);
    is_valid(&dir, "published.xsd", "published.xml");
    let published = dir.text("published.xml");
    assert_eq!(published.matches("Type=\"QI\"").count(), 5);
    assert_eq!(published.matches("<GroupElement ").count(), 2 * 26);
    let verify = ["verify", "published.xml", "--policy", "policy.toml"];
    dir.run(&[&verify[..], &plain].concat()).exits(2).says(&["claims nothing"]);
    // The other policy finds groups that are too small.
    dir.run(&[&verify[..], &["--set=privacy.group_size=6"]].concat()).exits(1);
    let one: String =
        dir.text("policy.toml").replace("group_size = 4\n", "").replace("\"delta\"", "\"none\"");
    dir.write("one.toml", one);
    dir.run(&["anonymize", "one.toml", "--force"]).exits(0);
    let published = dir.text("published.xml");
    assert_eq!(published.matches("<Group ").count(), 2);
    assert_eq!(published.matches("<GroupElement Id=\"1\"").count(), 2 * 26);
}

#[test]
fn a_schema_is_found_out_if_none_is_given() {
    let dir = example();
    let text = dir.text("policy.toml").replace("schema = \"private.xsd\"\n", "");
    dir.write("policy.toml", text);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    is_valid(&dir, "published.xsd", "published.xml");
    let wrong = dir.text("private.xsd").replace("Postcode", "Zip");
    dir.write("wrong.xsd", wrong);
    let args = ["anonymize", "policy.toml", "--force", "--set=source.schema=wrong.xsd"];
    dir.run(&args)
        .exits(2)
        .says(&["the private schema has no `medicalDB/medicalDBmessage/Patient/Address/Postcode`"]);
}

#[test]
fn what_is_too_frequent_is_refused_by_path() {
    let dir = example();
    let text = dir.text("private.xml").replace("code=\"J", "code=\"J03\" was=\"J");
    dir.write("private.xml", text);
    let args = ["anonymize", "policy.toml", "--set=undeclared=drop", "--set=privacy.group_size=3"];
    let refused = dir.run(&args).exits(4).hides(&["J03"]);
    refused.says(&["12 of 26 records have one value", "path Diagnosis/Icd/@code", "--show-values"]);
    dir.run(&[&args[..], &["--show-values"]].concat()).exits(4).says(&["`J03`"]);
    assert!(!dir.files().iter().any(|f| f.starts_with("published") || f.ends_with(".tmp")));
    // Nothing said about an attribute is a refusal as well.
    dir.run(&["anonymize", "policy.toml"]).exits(2).says(&["path Diagnosis/Icd/@was"]);
}

#[test]
fn a_publication_that_was_meddled_with_is_found_out() {
    let dir = example();
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let published = dir.text("published.xml");
    let verify = ["verify", "published.xml", "--policy", "policy.toml"];
    let line = published.lines().find(|l| l.contains("code=")).expect("a value");
    dir.write("published.xml", published.replace(line, &format!("{line}\n{line}")));
    dir.run(&verify).exits(1).prints(&["VIOLATED", "Witness: Diagnosis/Icd/@code = "]);
    let person = published.lines().find(|l| l.contains("<Icd><value>")).expect("a person");
    dir.write("published.xml", published.replace(person, &person.replace("<Icd>", "<Icd code=\"J03\">")));
    dir.run(&verify).exits(3).says(&["`Diagnosis/Icd/@code` stands on the quasi side, but it is sensitive"]);
    dir.write("published.xml", published.replace("<Gender>", "<Name>Quetzal</Name><Gender>"));
    dir.run(&verify).exits(1).prints(&["VIOLATED: the policy removes Patient/Name"]).hides(&["Quetzal"]);
}

#[test]
fn the_mapping_says_who_is_in_which_group() {
    let dir = example();
    dir.run(&["anonymize", "policy.toml", "--set=publish.mapping=private/mapping.csv"]).exits(0);
    let mapping = dir.text("private/mapping.csv");
    assert_eq!(mapping.lines().count(), 27);
    let records: Vec<String> =
        dir.text("private.xml").split("<medicalDBmessage>").skip(1).map(str::to_owned).collect();
    let published = dir.text("published.xml");
    for line in mapping.lines().skip(1) {
        let (record, group) = line.split_once(',').expect("a pair");
        let record = &records[record.parse::<usize>().expect("a number") - 1];
        let code = record.split("code=\"").nth(1).and_then(|r| r.split('"').next()).expect("a code");
        let value = format!("<GroupElement Id=\"{group}\"><Diagnosis><Icd code=\"{code}\"/>");
        assert!(published.contains(&value), "{value}");
    }
}

fn json_policy(privacy: &str) -> String {
    let attributes = [
        attribute("name", "identifying", ""),
        attribute("town", "quasi", ""),
        attribute("visits[].year", "quasi", ""),
        attribute("visits[].code", "sensitive", "hierarchy = 'code.csv'"),
        attribute("job", "sensitive", "hierarchy = { build = 'order', groups = ['a', 'b', 'c', 'd'] }"),
    ];
    format!(
        "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n{}[privacy]\n{privacy}\n[publish]\npath = \"out.json\"\n",
        attributes.concat()
    )
}

#[test]
fn json_with_several_values_and_attributes() {
    let dir = Dir::new();
    let codes = ["A1", "A2", "B1", "B2", "C1", "C2", "D1", "D2"];
    let people: String = (0..24)
        .map(|i| {
            let second = if i % 3 == 0 { format!(",{{\"code\":\"{}\"}}", codes[(i + 1) % 8]) } else { String::new() };
            format!(
                "{{\"name\":\"N{i}\",\"town\":\"T{}\",\"job\":\"{}\",\"visits\":[{{\"year\":{},\"code\":\"{}\"}}{second}]}}\n",
                i % 5,
                ["a", "b", "c", "d"][i % 4],
                2000 + i % 3,
                codes[i % 8],
            )
        })
        .collect();
    dir.write("data.ndjson", people);
    dir.write("code.csv", "A1;A;*\nA2;A;*\nB1;B;*\nB2;B;*\nC1;C;*\nC2;C;*\nD1;D;*\nD2;D;*\n");
    dir.write("policy.toml", json_policy("model = \"delta\"\ngroup_size = 2"));
    let told = dir.run(&["anonymize", "policy.toml", "--json"]).exits(0).json();
    let published: serde_json::Value = serde_json::from_str(&dir.text("out.json")).expect("JSON");
    let people: usize = published["quasi"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|g| g["records"].as_array().expect("people").len())
        .sum();
    assert_eq!(told["records"], people);
    assert_eq!(people + told["suppressed"].as_u64().expect("a number") as usize, 24);
    assert!(!dir.text("out.json").contains("\"N1"));
    assert!(published["sensitive"].as_array().expect("values").iter().all(|v| v["group"].is_u64()
        && v["value"].is_string()
        && ["visits[].code", "job"].contains(&v["path"].as_str().expect("a path"))));
    dir.run(&["verify", "out.json", "--policy", "policy.toml", "--against", "data.ndjson"]).exits(0);
    let certificate = ["verify", "out.json", "--certificate", "out.json.certificate.json"];
    dir.run(&certificate).exits(2).says(&["does not tell: the hierarchy of `job`"]);
    dir.run(&[&certificate[..], &["--policy", "policy.toml"]].concat()).exits(0);
    let text = dir.text("out.json").replace("\"job\",\"value\":\"a\"", "\"job\",\"value\":\"b\"");
    dir.write("out.json", text);
    dir.run(&["verify", "out.json", "--policy", "policy.toml"]).exits(1);
    let against = ["verify", "out.json", "--policy", "policy.toml", "--against", "data.ndjson"];
    dir.run(&against).exits(1).prints(&["job: 6 values of the publication not in the input"]);
    dir.write("plain.toml", json_policy("model = \"none\""));
    dir.run(&["anonymize", "plain.toml", "--force"]).exits(0).prints(&["24 records in 1 group "]);
}

fn table_policy(source: &str, attributes: &[String], target: &str) -> String {
    format!(
        "version = 1\n[source]\nformat = \"csv\"\n{source}\n{}[privacy]\nmodel = \"anatomy\"\ngroup_size = 3\n[publish]\npath = \"{target}\"\n",
        attributes.concat()
    )
}

#[test]
fn linked_tables_are_joined_by_group() {
    let dir = Dir::new();
    let (mut patients, mut visits) = (String::from("pid,name,town\n"), String::from("vid,pid,year,code\n"));
    for i in 0..18 {
        patients.push_str(&format!("{i},N{i},T{}\n", i % 4));
        visits.push_str(&format!("{i},{i},{},c{}\n", 2000 + i % 3, i % 9));
        if i % 6 == 0 {
            visits.push_str(&format!("{},{i},2005,c{}\n", 100 + i, (i + 1) % 9));
        }
    }
    dir.write("patient.csv", patients).write("visit.csv", visits);
    let source = "[[source.table]]\nname = \"patient\"\npath = \"patient.csv\"\nkey = \"pid\"\n\
                  [[source.table]]\nname = \"visit\"\npath = \"visit.csv\"\nkey = \"vid\"\nparent = \"patient\"\nforeign_key = \"pid\"";
    let attributes = [
        attribute("patient.name", "identifying", ""),
        attribute("patient.town", "quasi", ""),
        attribute("visit.year", "quasi", ""),
        attribute("visit.code", "sensitive", ""),
    ];
    dir.write("policy.toml", table_policy(source, &attributes, "out"));
    dir.run(&["anonymize", "policy.toml"]).exits(0).prints(&["published 18 records"]);
    assert_eq!(
        dir.files().iter().filter(|f| f.starts_with("out/")).collect::<Vec<_>>(),
        ["out/patient.csv", "out/sensitive_code.csv", "out/visit.csv"]
    );
    let (people, values) = (dir.text("out/patient.csv"), dir.text("out/sensitive_code.csv"));
    assert!(people.starts_with("group_id,") && !people.contains(",N"), "{people}");
    assert!(!dir.text("out/visit.csv").contains("c1"));
    assert_eq!(values.lines().count(), 1 + 18 + 3);
    assert!(values.starts_with("group_id,value\n1,c"), "{values}");
    dir.run(&["verify", "out", "--policy", "policy.toml"]).exits(0);
    dir.certified("out", "out.certificate.json");
    compares(&dir, "out", ".");
    dir.write("out/sensitive_code.csv", (1..9).fold(values, |v, i| v.replace(&format!(",c{i}\n"), ",c2\n")));
    dir.run(&["verify", "out", "--policy", "policy.toml"]).exits(1).prints(&["visit.code = c2"]);
}

#[test]
fn tables_of_sqlite_hold_both_sides() {
    let dir = Dir::new();
    let mut sql = String::from(
        "CREATE TABLE patient (pid INTEGER PRIMARY KEY, town TEXT);\nCREATE TABLE visit (pid INTEGER REFERENCES patient, code TEXT);\n",
    );
    for i in 0..12 {
        sql.push_str(&format!(
            "INSERT INTO patient VALUES ({i}, 'T{}'); INSERT INTO visit VALUES ({i}, 'c{}');\n",
            i % 4,
            i % 6
        ));
    }
    let create = bosket_io::Create::default();
    bosket_io::tables::NewDatabase::create(&dir.path("in.db"), create, &sql)
        .and_then(|database| database.finish(Vec::new()))
        .expect("a database");
    let source = "path = \"in.db\"\n[[source.table]]\nname = \"patient\"\nkey = \"pid\"\n\
                  [[source.table]]\nname = \"visit\"\nparent = \"patient\"\nforeign_key = \"pid\"";
    let attributes = [attribute("patient.town", "quasi", ""), attribute("visit.code", "sensitive", "")];
    let text = table_policy(source, &attributes, "out.db").replace("\"csv\"", "\"sqlite\"");
    dir.write("policy.toml", text);
    dir.run(&["anonymize", "policy.toml"]).exits(0).prints(&["published 12 records", "12 sensitive values"]);
    dir.run(&["verify", "out.db", "--policy", "policy.toml"]).exits(0);
    dir.certified("out.db", "out.db.certificate.json");
    dir.run(&["verify", "out.db", "--policy", "policy.toml", "--set=privacy.group_size=6"]).exits(1);
    compares(&dir, "out.db", "in.db");
}

/// The publication is true to its input, and its groups to the mapping; another one is not.
fn compares(dir: &Dir, publication: &str, input: &str) {
    let mapped = ["anonymize", "policy.toml", "--force", "--set=publish.mapping=map.csv"];
    dir.run(&mapped).exits(0);
    let verify = ["verify", publication, "--policy", "policy.toml", "--against", input];
    dir.run(&verify).exits(0).prints(&["HOLDS", "TRUE"]);
    let with = [&verify[..], &["--mapping", "map.csv"]].concat();
    dir.run(&with).exits(0).prints(&["HOLDS", "TRUE"]);
    let mapping = dir.text("map.csv");
    let (mut lines, mut groups): (Vec<&str>, Vec<&str>) =
        mapping.lines().skip(1).filter_map(|l| l.split_once(',')).unzip();
    groups.rotate_left(1);
    let other: String = lines.iter().zip(&groups).map(|(r, g)| format!("{r},{g}\n")).collect();
    dir.write("other.csv", other);
    let other = [&verify[..], &["--mapping", "other.csv"]].concat();
    dir.run(&other).exits(1).prints(&["HOLDS", "NOT TRUE", "by the mapping"]);
    lines.push("1000");
    groups.push("1");
    dir.write("other.csv", lines.iter().zip(&groups).map(|(r, g)| format!("{r},{g}\n")).collect::<String>());
    dir.run(&other).exits(3).says(&["record 1000 is mapped"]);
}

#[test]
fn tables_of_postgres_hold_both_sides() {
    let Some(server) = Server::start("trust") else { return };
    let dir = Dir::new();
    server.sql("postgres", "CREATE DATABASE source");
    server.sql("postgres", "CREATE DATABASE target");
    let mut sql = String::from(
        "CREATE TABLE patient (pid int PRIMARY KEY, town text, weight numeric(5,2)); \
         CREATE TABLE visit (vid int PRIMARY KEY, pid int REFERENCES patient, year int, code text);",
    );
    for i in 0..12 {
        sql.push_str(&format!(
            "INSERT INTO patient VALUES ({i}, 'T{}', {}.50); INSERT INTO visit VALUES ({i}, {i}, 200{}, E'c\\\\{}');",
            i % 4, 60 + i % 2, i % 3, i % 6
        ));
    }
    server.sql("source", &sql);
    let source = format!(
        "url = '{}'\n[[source.table]]\nname = 'patient'\nkey = 'pid'\n\
         [[source.table]]\nname = 'visit'\nkey = 'vid'\nparent = 'patient'\nforeign_key = 'pid'",
        server.url("source")
    );
    let attributes = [
        attribute("patient.town", "quasi", ""),
        attribute("patient.weight", "insensitive", ""),
        attribute("visit.year", "quasi", ""),
        attribute("visit.code", "sensitive", ""),
    ];
    let target = server.url("target");
    let text = table_policy(&source, &attributes, "").replace("\"csv\"", "\"postgres\"");
    dir.write("policy.toml", text.replace("path = \"\"", &format!("url = '{target}'\nschema = 'apart'")));
    dir.run(&["anonymize", "policy.toml"]).exits(0).prints(&["published 12 records", "12 sensitive values"]);
    let people = "SELECT count(*), count(DISTINCT group_id) FROM apart.patient";
    assert_eq!(server.sql("target", people), ["12|4"]);
    let values = "SELECT count(*), count(DISTINCT value), min(value) FROM apart.sensitive_code";
    assert_eq!(server.sql("target", values), ["12|6|c\\0"]);
    let columns = "SELECT column_name FROM information_schema.columns WHERE table_schema = 'apart' \
                   AND table_name = 'visit' ORDER BY 1";
    assert_eq!(server.sql("target", columns), ["pid", "vid", "year"]);
    dir.run(&["verify", &target, "--policy", "policy.toml"]).exits(0);
    dir.run(&["verify", &target, "--policy", "policy.toml", "--set=privacy.group_size=6"]).exits(1);
    let certificate = dir.certified(&target, "policy.certificate.json");
    let files = certificate["publication"]["files"].as_array().expect("a list");
    assert!(files.iter().any(|f| f["name"] == "sensitive_code"), "{certificate}");
    // What is there stays, all of it, unless it is to be replaced.
    std::fs::remove_file(dir.path("policy.certificate.json")).expect("a certificate");
    dir.run(&["anonymize", "policy.toml"]).exits(3).says(&["already"]);
    server.sql("target", "DROP TABLE apart.visit, apart.patient");
    dir.run(&["anonymize", "policy.toml"]).exits(3).says(&["there is a table `sensitive_code` already"]);
    assert_eq!(server.sql("target", "SELECT to_regclass('apart.patient') IS NULL"), ["t"]);
    compares(&dir, &target, &server.url("source"));
    // A value that moves to another group is a lie about two of them.
    let moved = "CREATE TEMP TABLE t AS SELECT group_id, replace(value, 'c\\1', 'c\\9') AS value FROM apart.sensitive_code; \
                 TRUNCATE apart.sensitive_code; \
                 INSERT INTO apart.sensitive_code SELECT * FROM t ORDER BY group_id, value COLLATE \"C\"";
    server.sql("target", moved);
    let verify = ["verify", &target, "--policy", "policy.toml", "--against", &server.url("source")];
    dir.run(&verify)
        .exits(1)
        .prints(&["NOT TRUE", "visit.code: 2 values of the publication not in the input"]);
}

#[test]
fn a_mapping_is_private_or_refused() {
    let dir = example();
    let plain = ["--set=privacy.model=none", "--set=publish.mapping=map.csv"];
    dir.run(&[&["anonymize", "policy.toml"][..], &plain].concat()).exits(2).says(&["publish.mapping"]);
    assert!(!dir.files().iter().any(|f| f == "map.csv"));
    compares(&dir, "published.xml", "private.xml");
    let mode = std::fs::metadata(dir.path("map.csv")).expect("a mapping").permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
}

#[test]
fn a_flat_table_becomes_a_folder() {
    let dir = Dir::new();
    let rows: String = (0..12).map(|i| format!("N{i},T{},d{}\n", i % 3, i % 6)).collect();
    dir.write("people.csv", format!("name,town,disease\n{rows}"));
    let attributes = [
        attribute("name", "identifying", ""),
        attribute("town", "quasi", ""),
        attribute("disease", "sensitive", ""),
    ];
    dir.write("policy.toml", table_policy("path = \"people.csv\"", &attributes, "out"));
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir.certified("out", "out.certificate.json");
    assert_eq!(dir.text("out/people.csv").lines().next(), Some("group_id,town"));
    assert_eq!(dir.text("out/sensitive_disease.csv").lines().count(), 13);
    dir.run(&["verify", "out", "--policy", "policy.toml"]).exits(0);
    dir.run(&["anonymize", "policy.toml"]).exits(3).says(&["--force"]);
    dir.run(&["anonymize", "policy.toml", "--force", "--set=publish.path=out.csv"])
        .exits(2)
        .says(&["several files"]);
}

#[test]
fn generated_people_reach_a_distance() {
    let dir = Dir::new();
    dir.run(&["generate", "sensitive-tree", "--out", "tree", "--seed", "3", "--least", "1"]).exits(0);
    for (policy, published) in
        [("tree/policy.toml", "tree/published.json"), ("tree/policy-xml.toml", "tree/published.xml")]
    {
        let told = dir.run(&["anonymize", policy, "--json"]).exits(0).json();
        assert_eq!(told["degrees"][0]["set_wise"], 3, "{told}");
        dir.run(&["verify", published, "--policy", policy, "--set=privacy.delta_target=3"]).exits(0);
    }
    is_valid(&dir, "tree/published.xsd", "tree/published.xml");
    dir.run(&["inspect", "tree/data.xml", "--xsd", "private.xsd"]).exits(0);
    is_valid(&dir, "private.xsd", "tree/data.xml");
}

/// Taken for two values, `J45.9` and `J459` would be distinct and fill a group of two.
#[test]
fn codes_with_and_without_the_dot_are_one_value() {
    let dir = Dir::new();
    let table = "code,parent\nJ,\nG,\nJ45,J\nJ45.9,J45\nJ20,J\nG20,G\nG12,G\nG12.3,G12\n";
    dir.write("table.csv", table);
    for (build, name) in
        [("{ build = 'icd10' }", "built"), ("{ build = 'icd10', table = 'table.csv' }", "table")]
    {
        let codes = ["J45.9", "J459", "j45.9", "G20", "G12.3", "G123", "J45", "J20"];
        let people: String = codes
            .iter()
            .enumerate()
            .map(|(i, c)| format!("{{\"town\":\"T{i}\",\"code\":\"{c}\"}}\n"))
            .collect();
        dir.write("data.ndjson", people);
        let attributes =
            [attribute("town", "quasi", ""), attribute("code", "sensitive", &format!("hierarchy = {build}"))];
        let text = |size: u32| {
            format!(
                "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n{}[privacy]\nmodel = \"anatomy\"\ngroup_size = {size}\n[publish]\npath = \"{name}.json\"\n",
                attributes.concat()
            )
        };
        dir.write("policy.toml", text(3));
        dir.run(&["anonymize", "policy.toml"]).exits(4).says(&["3 of 8 records have one value"]);
        dir.write("policy.toml", text(2));
        dir.run(&["anonymize", "policy.toml"]).exits(0);
        let published = dir.text(&format!("{name}.json"));
        assert!(codes.iter().all(|c| published.contains(&format!("\"{c}\""))), "{published}");
        let one = "{\"quasi\":[{\"group\":1,\"records\":[{\"town\":\"a\"},{\"town\":\"b\"}]}],\"sensitive\":[\
                   {\"group\":1,\"path\":\"code\",\"value\":\"J45.9\"},{\"group\":1,\"path\":\"code\",\"value\":\"J459\"}]}";
        dir.write("one.json", one);
        dir.run(&["verify", "one.json", "--policy", "policy.toml"]).exits(1);
        let inner = one.replace("J459", "J45");
        dir.write("one.json", inner);
        dir.run(&["verify", "one.json", "--policy", "policy.toml", "--foreign"]).exits(0);
    }
}

/// The files of sensitive values had commas whatever the source had, and people without value could not be published.
#[test]
fn people_without_value_fill_groups_and_separators_follow_the_source() {
    let dir = Dir::new();
    let rows: String = (0..30)
        .map(|i| {
            format!("{i};{};{}\n", i % 3, if i % 5 == 0 { format!("d;{}", i / 10) } else { String::new() })
        })
        .map(|row| if row.contains("d;") { row.replacen("d;", "\"d;", 1).replace('\n', "\"\n") } else { row })
        .collect();
    dir.write("in.csv", format!("id;ward;disease\n{rows}"));
    let attributes = [
        attribute("id", "identifying", ""),
        attribute("ward", "quasi", ""),
        attribute("disease", "sensitive", ""),
    ];
    dir.write(
        "policy.toml",
        format!(
            "version = 1\n[source]\nformat = \"csv\"\npath = \"in.csv\"\n{}[privacy]\nmodel = \"anatomy\"\ngroup_size = 3\n\
             [publish]\npath = \"out\"\n",
            attributes.concat()
        ),
    );
    dir.run(&["anonymize", "policy.toml"])
        .exits(4)
        .says(&["24 of 30 records have no value at all", "missing"]);
    let none = ["--set", "privacy.missing=none"];
    let told = dir.run(&["anonymize", "policy.toml", none[0], none[1]]).exits(0);
    told.prints(&["that somebody has no value is not protected"]);
    assert!(dir.text("out/sensitive_disease.csv").starts_with("group_id;value\n"));
    assert!(dir.text("out/sensitive_disease.csv").contains("\"d;0\""));
    let verify = ["verify", "out", "--policy", "policy.toml", "--against", "in.csv"];
    dir.run(&verify).exits(1).prints(&["∅"]);
    dir.run(&[&verify[..], &none].concat()).exits(0).prints(&["HOLDS", "TRUE"]);
    dir.certified("out", "out.certificate.json");
}

#[test]
fn the_published_schema_accepts_elements_that_say_their_type() {
    let dir = Dir::new();
    let record = |i: usize| {
        format!(
            "<doc><seen><value xsi:type=\"{}\"><unit>mm</unit></value><when>199{}</when></seen><icd>I{}</icd></doc>",
            ["CD", "PQ"][i % 2],
            i % 3,
            i % 4
        )
    };
    let records: String = (0..12).map(record).collect();
    let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    dir.write("in.xml", format!("<db xmlns=\"urn:example\" {xsi}>{records}</db>"));
    let attributes = [
        attribute("seen/value/@xsi:type", "quasi", ""),
        attribute("seen/value/unit", "quasi", ""),
        attribute("seen/when", "quasi", ""),
        attribute("icd", "sensitive", ""),
    ];
    dir.write(
        "policy.toml",
        format!(
            "version = 1\n[source]\nformat = \"xml\"\npath = \"in.xml\"\nrecord = \"db/doc\"\n{}\
             [privacy]\nmodel = \"anatomy\"\ngroup_size = 4\n[publish]\npath = \"out.xml\"\nschema = \"out.xsd\"\n",
            attributes.concat()
        ),
    );
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    assert!(dir.text("out.xml").contains("xsi:type=\"CD\""), "{}", dir.text("out.xml"));
    is_valid(&dir, "out.xsd", "out.xml");
}
