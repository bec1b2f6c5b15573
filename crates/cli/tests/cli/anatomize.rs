//! `publish.anatomize`: clusters with quasi and sensitive values apart, in every format that takes it; what is not
//! supported says so; whoever moves something is found out.

use bosket_testkit::server::Server;
use serde_json::Value;

use crate::util::{Dir, attribute, policy};

const PLACES: &str = "[source]\nformat = 'ndjson'\npath = 'data.ndjson'\n[publish]\npath = 'out.json'\nanatomize = true\nmapping = 'private/mapping.csv'\n";

fn attributes() -> Vec<String> {
    vec![
        attribute("town", "quasi", "hierarchy = { build = 'order', groups = ['Graz', 'Linz'] }"),
        attribute("age", "quasi", "hierarchy = { build = 'interval', min = 20, max = 59, widths = [20] }"),
        attribute("shoe", "insensitive", "acknowledge = true"),
        attribute("visits[].ward", "quasi", "hierarchy = { build = 'order', groups = ['x', 'y'] }"),
        attribute("visits[].cost", "sensitive", ""),
        attribute("visits[].codes[]", "sensitive", ""),
    ]
}

/// Four people in two towns, whose visits have costs and codes.
fn people() -> Dir {
    let dir = Dir::new();
    let mut records = String::new();
    for (town, age, shoe, visits) in [
        ("Graz", 21, Some(40), [("x", 10, "A"), ("y", 20, "B")]),
        ("Linz", 51, Some(44), [("x", 50, "E"), ("x", 60, "F")]),
        ("Graz", 25, None, [("y", 30, "C"), ("x", 40, "D")]),
        ("Linz", 42, Some(39), [("x", 70, "G"), ("x", 80, "H")]),
    ] {
        let visits =
            visits.map(|(ward, cost, code)| serde_json::json!({"ward": ward, "cost": cost, "codes": [code]}));
        let mut line = serde_json::json!({"town": town, "age": age, "visits": visits});
        if let Some(shoe) = shoe {
            line["shoe"] = shoe.into();
        }
        records.push_str(&format!("{line}\n"));
    }
    dir.write("data.ndjson", records);
    dir.write("policy.toml", policy(&attributes(), "model = \"l-diversity\"\nl = 2\nk = 2") + PLACES);
    dir
}

const VERIFY: [&str; 4] = ["verify", "out.json", "--policy", "policy.toml"];
/// Of a file that was changed by hand.
const FOREIGN: [&str; 5] = ["verify", "out.json", "--policy", "policy.toml", "--foreign"];
const AGAINST: [&str; 2] = ["--against", "data.ndjson"];
const MAPPING: [&str; 2] = ["--mapping", "private/mapping.csv"];

/// Who is in a group looks alike; which of its values are whose, and which go together, is gone.
const PUBLISHED: &str = r#"{"quasi":[
{"group":1,"records":[{"town":"Graz","age":"20-39","shoe":40,"visits":[{"ward":"x","codes":[{}]},{"ward":"y","codes":[{}]}]},{"town":"Graz","age":"20-39","visits":[{"ward":"x","codes":[{}]},{"ward":"y","codes":[{}]}]}]},
{"group":2,"records":[{"town":"Linz","age":"40-59","shoe":39,"visits":[{"ward":"x","codes":[{}]},{"ward":"x","codes":[{}]}]},{"town":"Linz","age":"40-59","shoe":44,"visits":[{"ward":"x","codes":[{}]},{"ward":"x","codes":[{}]}]}]}
],"sensitive":[
{"group":1,"path":"visits[].codes[]","value":"A"},
{"group":1,"path":"visits[].codes[]","value":"B"},
{"group":1,"path":"visits[].codes[]","value":"C"},
{"group":1,"path":"visits[].codes[]","value":"D"},
{"group":1,"path":"visits[].cost","value":10},
{"group":1,"path":"visits[].cost","value":20},
{"group":1,"path":"visits[].cost","value":30},
{"group":1,"path":"visits[].cost","value":40},
{"group":2,"path":"visits[].codes[]","value":"E"},
{"group":2,"path":"visits[].codes[]","value":"F"},
{"group":2,"path":"visits[].codes[]","value":"G"},
{"group":2,"path":"visits[].codes[]","value":"H"},
{"group":2,"path":"visits[].cost","value":50},
{"group":2,"path":"visits[].cost","value":60},
{"group":2,"path":"visits[].cost","value":70},
{"group":2,"path":"visits[].cost","value":80}
]}
"#;

#[test]
fn the_worked_example() {
    let dir = people();
    dir.run(&["anonymize", "policy.toml"]).exits(0).prints(&[
        "published 4 records",
        "verified: every record looks like at least one other of its group, and sensitive values are linked to groups \
         only, where none fills more than 1/2 of its places",
        "anatomized: 2 groups of records that look alike, 16 sensitive values apart from them",
    ]);
    assert_eq!(dir.text("out.json"), PUBLISHED);
    assert_eq!(dir.text("private/mapping.csv"), "input_record,published_record\n1,1\n2,2\n3,1\n4,2\n");
    let told = dir.run(&VERIFY).exits(0);
    told.says_nothing().prints(&["HOLDS", "Checked for all of 2 groups with 4 records"]);
    dir.run(&[&VERIFY[..], &AGAINST].concat()).exits(0).prints(&["TRUE"]);
    dir.run(&[&VERIFY[..], &AGAINST, &MAPPING].concat()).exits(0).prints(&["TRUE"]);
    let certificate = dir.certified("out.json", "out.json.certificate.json");
    assert_eq!(certificate["claim"]["anatomized"], true);
    assert_eq!(certificate["records"], 4);
}

#[test]
fn stronger_claims_than_what_was_made_are_refused_with_a_witness() {
    let dir = people();
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let found = dir.run(&[&VERIFY[..], &["--json", "--set=privacy.k=3"]].concat()).exits(1).json();
    assert_eq!((&found["witness"]["group"], &found["witness"]["support"]), (&1.into(), &2.into()));
    assert_eq!(found["groups"], 2);
    let found = dir.run(&[&VERIFY[..], &["--json", "--set=privacy.l=5"]].concat()).exits(1).json();
    assert_eq!(found["witness"]["sensitive"]["share"], 0.25);
    let entropy = ["--set=privacy.diversity=entropy", "--set=privacy.l=4"];
    dir.run(&[&VERIFY[..], &entropy].concat()).exits(0).prints(&["entropy is at least log 4"]);
    dir.run(&[&VERIFY[..], &entropy, &["--set=privacy.l=4.1"]].concat()).exits(1);
}

#[test]
fn whoever_moves_something_is_found_out() {
    let dir = people();
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let change = |from: &str, to: &str| {
        assert!(PUBLISHED.contains(from), "{from}");
        dir.write("out.json", PUBLISHED.replacen(from, to, 1));
        let certified = ["verify", "out.json", "--certificate", "out.json.certificate.json"];
        dir.run(&certified).exits(1).prints(&["out.json was changed"]);
    };
    // A value in another group, which has no place for it.
    change(
        "{\"group\":1,\"path\":\"visits[].cost\",\"value\":40}",
        "{\"group\":2,\"path\":\"visits[].cost\",\"value\":40}",
    );
    dir.run(&VERIFY).exits(3).says(&["group 2 has 5 values, and its records have 4 places", "visits[].cost"]);
    // A group that does not exist.
    change(
        "{\"group\":2,\"path\":\"visits[].cost\",\"value\":50}",
        "{\"group\":9,\"path\":\"visits[].cost\",\"value\":50}",
    );
    dir.run(&VERIFY).exits(3).says(&["1 group is called by other than 1, 2, 3"]);
    // A person in another group.
    let person = "{\"town\":\"Graz\",\"age\":\"20-39\",\"visits\":[{\"ward\":\"x\",\"codes\":[{}]},{\"ward\":\"y\",\"codes\":[{}]}]}";
    let without = PUBLISHED.replacen(&format!(",{person}"), "", 1);
    dir.write(
        "out.json",
        without.replacen("\"group\":2,\"records\":[", &format!("\"group\":2,\"records\":[{person},"), 1),
    );
    dir.run(&VERIFY).exits(3).says(&["group 1 has 4 values, and its records have 2 places"]);
    // A person who looks different.
    change("\"town\":\"Linz\"", "\"town\":\"Graz\"");
    let found = dir.run(&VERIFY).exits(1);
    found.prints(&[
        "VIOLATED",
        "in group 2 of 2 records the people do not look alike; 1 record like this",
        "Graz",
    ]);
    dir.run(&[&FOREIGN[..], &AGAINST].concat()).exits(1).prints(&["NOT TRUE"]);
    // A value that is too frequent now, and that nobody there has.
    change("\"value\":\"H\"", "\"value\":\"E\"");
    dir.run(&FOREIGN).exits(0);
    change("\"value\":\"F\"", "\"value\":\"E\"");
    dir.run(&[&VERIFY[..], &["--set=privacy.l=3"]].concat())
        .exits(1)
        .prints(&["visits[].codes[] = E has a share of 50.0 % in group 2 of 2 records"]);
    for mapping in [&[][..], &MAPPING] {
        let told = dir.run(&[&FOREIGN[..], &AGAINST, mapping].concat()).exits(1);
        told.prints(&["NOT TRUE", "visits[].codes[]: 1 of the published values"]);
    }
    // Values that were swapped: the input as a whole has them, the people of the groups do not.
    let swapped = PUBLISHED.replacen("\"value\":\"A\"", "\"value\":\"~\"", 1);
    let swapped = swapped.replacen("\"value\":\"E\"", "\"value\":\"A\"", 1).replacen('~', "E", 1);
    dir.write("out.json", swapped);
    dir.run(&FOREIGN).exits(0);
    for mapping in [&[][..], &MAPPING] {
        let told = dir.run(&[&FOREIGN[..], &AGAINST, mapping].concat()).exits(1);
        told.prints(&["2 of the published values are not in the records of their group"]);
    }
    // A sensitive value that was given back to its owner.
    change("\"age\":\"20-39\",\"shoe\":40,", "\"age\":\"20-39\",\"shoe\":40,\"visits\":[{\"cost\":10}],");
    dir.run(&VERIFY).exits(3);
    // An attribute that nobody declared.
    change("\"shoe\":40", "\"name\":\"Eva\"");
    dir.run(&VERIFY)
        .exits(2)
        .says(&["name", "the policy does not say what this attribute is"])
        .hides(&["Eva"]);
}

#[test]
fn a_mapping_of_others_is_refused() {
    let dir = people();
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir.write("private/mapping.csv", "input_record,published_record\n1,2\n2,1\n3,1\n4,2\n");
    let told = dir.run(&[&VERIFY[..], &AGAINST, &MAPPING].concat()).exits(1);
    told.prints(&["these records are not what the declared operations make of the records of their group"]);
    dir.write("private/mapping.csv", "input_record,published_record\n1,1\n2,2\n3,2\n4,2\n");
    let told = dir.run(&[&VERIFY[..], &AGAINST, &MAPPING].concat()).exits(1);
    told.prints(&["2 groups have not as many records as the mapping puts there"]);
    let measure = ["measure", "data.ndjson", "out.json", "--policy", "policy.toml"];
    dir.run(&measure).exits(3).says(&["does not put as many records into each group"]);
    dir.write("private/mapping.csv", "input_record,published_record\n1,1\n2,2\n3,1\n7,2\n");
    dir.run(&[&VERIFY[..], &AGAINST, &MAPPING].concat()).exits(3).says(&["record 7 is mapped"]);
}

#[test]
fn what_else_looks_at_it() {
    let dir = people();
    let made = dir.run(&["anonymize", "policy.toml", "--measure", "--json"]).exits(0).json();
    let measure = ["measure", "data.ndjson", "out.json", "--policy", "policy.toml", "--json"];
    let loss = dir.run(&measure).exits(0).json();
    assert_eq!(loss, made["loss"]);
    assert_eq!((&made["groups"], &made["sensitive_values"]), (&2.into(), &16.into()));
    let attack = ["attack", "data.ndjson", "--policy", "policy.toml", "--publication", "out.json", "--json"];
    let found = dir.run(&attack).exits(0).json();
    let all = &found["after"]["points"][0];
    assert_eq!((&all["below_k"]["value"], &all["prosecutor"]), (&Value::from(0.0), &Value::from(0.5)));
    dir.run(&["report", "policy.toml"]).exits(0);
    let report = dir.text("report.html");
    for part in ["The guarantee holds", "Groups of records that look alike", "apart from sensitive values"] {
        assert!(report.contains(part), "{part}");
    }
    dir.run(&["report", "policy.toml", "--internal"]).exits(2).says(&["whose sensitive values are whose"]);
    let plain = ["--set=publish.anatomize=false", "--set=publish.path=plain.ndjson", "--force"];
    let whole = dir.run(&[&["anonymize", "policy.toml", "--json"], &plain[..]].concat()).exits(0).json();
    assert_eq!((&whole["lm"], &whole["clusters"]), (&made["lm"], &made["clusters"]));
    let swept = |more: &[&str]| {
        let printed = dir.run(&[&["sweep", "policy.toml", "--k", "2,3"], more].concat()).exits(0).stdout;
        printed.split_once("next: ").expect("a next step").0.to_owned()
    };
    assert_eq!(swept(&[]), swept(&plain[..1]));
}

/// Nobody has a value: the sensitive side is empty.
#[test]
fn nothing_sensitive_in_the_data() {
    let dir = people();
    let text = dir.text("data.ndjson");
    let lines = text.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        for visit in record["visits"].as_array_mut().expect("a list") {
            *visit = serde_json::json!({"ward": visit["ward"]});
        }
        format!("{record}\n")
    });
    dir.write("data.ndjson", lines.collect::<String>());
    dir.run(&["anonymize", "policy.toml"]).exits(0).prints(&["0 sensitive values"]);
    dir.run(&[&VERIFY[..], &AGAINST, &MAPPING].concat()).exits(0);
}

#[test]
fn what_cannot_be_done_is_refused_before_the_work() {
    let dir = people();
    let run = |sets: &[&str]| dir.run(&[&["anonymize", "policy.toml"], sets].concat());
    let refused = |privacy: &str, attributes: &[String]| {
        dir.write("policy.toml", policy(attributes, privacy) + PLACES);
    };
    run(&["--set=privacy.siblings=each"]).exits(2).says(&["`siblings = \"each\"` counts the people"]);
    run(&["--set=source.format=parquet"]).exits(2).says(&["cannot be anatomized"]);
    run(&["--set=source.format=xml", "--set=source.record=a/b"])
        .exits(2)
        .says(&["cannot be anatomized", "convert"]);
    refused("model = \"k-anonymity\"\nk = 2", &attributes()[..4]);
    run(&[]).exits(2).says(&["separates sensitive values, and the policy has none"]);
    assert_eq!(dir.files(), ["data.ndjson", "policy.toml"]);
}

fn students(kind: &str) -> Dir {
    let dir = Dir::new();
    dir.run(&["generate", "students", "--students", "60", "--kind", kind, "--out", "s"]).exits(0);
    dir
}

#[test]
fn students_from_every_source() {
    for kind in ["school", "syntheticS", "syntheticT"] {
        let dir = students(kind);
        let mut figures = Vec::new();
        for (policy, published, input) in [
            ("s/policy.toml", "s/published.ndjson", "s/data.ndjson"),
            ("s/tables/policy-csv.toml", "s/tables/published", "s/tables"),
            ("s/tables/policy-sqlite.toml", "s/tables/published.db", "s/tables/students.db"),
        ] {
            let sets = ["--set=publish.anatomize=true", "--set=publish.mapping=private/mapping.csv"];
            let made =
                dir.run(&[&["anonymize", policy, "--json", "--force"], &sets[..]].concat()).exits(0).json();
            figures.push((made["lm"].clone(), made["groups"].clone(), made["sensitive_values"].clone()));
            let folder = policy.rsplit_once('/').map_or("", |(folder, _)| folder);
            let mapping = format!("{folder}/private/mapping.csv");
            let against = ["--against", input, "--mapping", &mapping];
            let verify = ["verify", published, "--policy", policy];
            dir.run(&[&verify[..], &sets, &against].concat()).exits(0).prints(&["HOLDS", "TRUE"]);
            dir.run(&[&verify[..], &sets, &against[..2]].concat()).exits(0).prints(&["HOLDS", "TRUE"]);
            dir.certified(published, &format!("{published}.certificate.json"));
        }
        assert!(figures.iter().all(|f| *f == figures[0]), "{kind}: {figures:?}");
    }
}

#[test]
fn threads_do_not_change_a_byte() {
    let dir = students("syntheticS");
    let run = ["anonymize", "s/policy.toml", "--force", "--set=publish.anatomize=true", "--threads"];
    dir.run(&[&run[..], &["1"]].concat()).exits(0);
    let one = dir.read("s/published.ndjson");
    dir.run(&[&run[..], &["4"]].concat()).exits(0);
    assert_eq!(one, dir.read("s/published.ndjson"));
}

#[test]
fn tables_that_were_changed() {
    let dir = students("syntheticS");
    let policy = "s/tables/policy-csv.toml";
    let set = "--set=publish.anatomize=true";
    dir.run(&["anonymize", policy, set]).exits(0);
    let verify = ["verify", "s/tables/published", "--policy", policy, set];
    let grades = dir.text("s/tables/published/sensitive_grade.csv");
    let moved = grades.replacen("\n1,", "\n2,", 1);
    dir.write("s/tables/published/sensitive_grade.csv", &moved);
    dir.run(&verify).exits(3).says(&["is not in the order of groups and values"]);
    let (head, rows) = moved.split_once('\n').expect("a head");
    let mut rows: Vec<(u32, &str)> = rows
        .lines()
        .filter_map(|row| row.split_once(','))
        .map(|(group, value)| (group.parse().expect("a number"), value))
        .collect();
    rows.sort_unstable();
    let rows: String = rows.iter().map(|(group, value)| format!("{group},{value}\n")).collect();
    dir.write("s/tables/published/sensitive_grade.csv", format!("{head}\n{rows}"));
    dir.run(&verify).exits(3).says(&["group 2 has", "places for them"]);
    dir.write("s/tables/published/sensitive_grade.csv", &grades);
    let people = dir.text("s/tables/published/student.csv");
    assert!(people.starts_with("group_id,"), "{people}");
    dir.write("s/tables/published/student.csv", people.replacen("\n1,", "\n2,", 1));
    assert_ne!(dir.run(&verify).code, Some(0));
    // Both groups in one: there is a place for everything, but nobody has ordered them by what they say now.
    let joined = |text: &str| text.replace("\n1,", "\n2,");
    dir.write("s/tables/published/student.csv", joined(&people));
    dir.run(&verify).exits(3).says(&["is not where what it says puts it"]);
    dir.write(
        "s/tables/published/student.csv",
        people.replacen("group_id,", "group_id,name,", 1).replace("\n1,", "\n1,Eva,"),
    );
    assert_ne!(dir.run(&verify).hides(&["Eva"]).code, Some(0));
}

#[test]
fn one_flat_table() {
    let dir = Dir::new();
    let rows: String = (0..40)
        .map(|i| format!("{},{},{}\n", 20 + i % 7, ["F", "M"][i % 2], ["a", "b", "c"][i % 3]))
        .collect();
    dir.write("people.csv", format!("age,sex,illness\n{rows}"));
    let attributes = [
        attribute("age", "quasi", "hierarchy = { build = 'interval', min = 20, max = 29, widths = [5] }"),
        attribute("sex", "quasi", "hierarchy = { build = 'order', groups = ['F', 'M'] }"),
        attribute("illness", "sensitive", ""),
    ];
    let source = "[source]\nformat = 'csv'\npath = 'people.csv'\n[publish]\npath = 'out'\nanatomize = true\n";
    for privacy in ["model = \"k-anonymity\"\nk = 4", "model = \"l-diversity\"\nl = 2"] {
        dir.write("policy.toml", policy(&attributes, privacy) + source);
        dir.run(&["anonymize", "policy.toml", "--force"]).exits(0);
        let people = dir.text("out/people.csv");
        assert!(people.starts_with("group_id,age,sex\n") && !people.contains("illness"), "{people}");
        dir.run(&["verify", "out", "--policy", "policy.toml", "--against", "people.csv"]).exits(0);
        dir.certified("out", "out.certificate.json");
    }
    // A column that nobody declared.
    let people = dir
        .text("out/people.csv")
        .replacen("sex\n", "sex,name\n", 1)
        .replace("F\n", "F,Eva\n")
        .replace("M\n", "M,Max\n");
    dir.write("out/people.csv", people);
    dir.run(&["verify", "out", "--policy", "policy.toml"]).exits(2).says(&["name"]).hides(&["Eva"]);
}

#[test]
fn students_in_postgres() {
    let Some(server) = Server::start("trust") else { return };
    let dir = students("syntheticS");
    server.sql("postgres", "CREATE DATABASE school");
    server.sql(
        "school",
        "CREATE TABLE student (sid text PRIMARY KEY, major text, yob int, gpa real); \
         CREATE TABLE takes (scid int PRIMARY KEY, sid text REFERENCES student, course text, grade text); \
         CREATE TABLE book (scid int REFERENCES takes, book text)",
    );
    for table in ["student", "takes", "book"] {
        let text = dir.text(&format!("s/tables/{table}.csv"));
        let rows: Vec<String> =
            text.lines().skip(1).map(|l| format!("('{}')", l.replace(',', "','"))).collect();
        server.sql("school", &format!("INSERT INTO {table} VALUES {}", rows.join(",")));
    }
    let url = server.url("school");
    let text = dir.text("s/tables/policy-sqlite.toml");
    let source = format!("format = \"postgres\"\nurl = \"{url}\"");
    let text = text.replace("format = \"sqlite\"\npath = \"students.db\"", &source);
    let publish = format!("url = \"{url}\"\nschema = \"open\"\nanatomize = true");
    let policy = "s/tables/policy-postgres.toml";
    dir.write(policy, text.replace("path = \"published.db\"", &publish));
    dir.run(&["anonymize", policy]).exits(0).prints(&["verified: "]);
    let groups =
        "SELECT count(*) FROM (SELECT group_id FROM open.student GROUP BY 1 HAVING count(*) < 3) small";
    assert_eq!(server.sql("school", groups), ["0"]);
    dir.run(&["verify", &url, "--policy", policy]).exits(0);
    dir.certified(&url, "s/tables/policy-postgres.certificate.json");
    let moved = "CREATE TEMP TABLE t AS SELECT CASE group_id WHEN 1 THEN 2 ELSE group_id END AS group_id, value \
                 FROM open.sensitive_grade; TRUNCATE open.sensitive_grade; \
                 INSERT INTO open.sensitive_grade SELECT * FROM t ORDER BY group_id, value COLLATE \"C\"";
    server.sql("school", moved);
    dir.run(&["verify", &url, "--policy", policy]).exits(3).says(&["places for them"]);
}

/// A column that repeats a generalized one in other words would undo it; one that repeats a secret tells it.
#[test]
fn companions_are_on_no_side() {
    let dir = Dir::new();
    let rows: String = (0..8).map(|i| format!("{i},{},T{},a{i},A {i}\n", i % 4, i % 4)).collect();
    dir.write("people.csv", format!("pid,town,town_name,illness,illness_name\n{rows}"));
    let attributes = [
        attribute("people.town", "quasi", "hierarchy = { build = 'order', groups = ['0', '1', '2', '3'] }"),
        attribute("people.town_name", "insensitive", "follows = 'people.town'"),
        attribute("people.illness", "sensitive", ""),
        attribute("people.illness_name", "sensitive", "follows = 'people.illness'"),
    ];
    let source = "[source]\nformat = 'csv'\n[[source.table]]\nname = 'people'\npath = 'people.csv'\nkey = 'pid'\n\
                  [publish]\npath = 'out'\nanatomize = true\nmapping = 'mapping.csv'\n";
    dir.write("policy.toml", policy(&attributes, "model = \"k-anonymity\"\nk = 4") + source);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let published: Vec<String> = dir.files().into_iter().filter(|f| f.starts_with("out/")).collect();
    assert_eq!(published, ["out/people.csv", "out/sensitive_illness.csv"]);
    assert!(dir.text("out/people.csv").starts_with("group_id,pid,town\n"), "{}", dir.text("out/people.csv"));
    let verify = ["verify", "out", "--policy", "policy.toml", "--against", ".", "--mapping", "mapping.csv"];
    dir.run(&verify).exits(0).says_nothing().prints(&["HOLDS", "TRUE"]);
    dir.certified("out", "out.certificate.json");
}

#[test]
fn what_the_policy_removes_must_be_gone() {
    let dir = people();
    let identifying = dir.text("policy.toml") + &attribute("name", "identifying", "");
    dir.write("policy.toml", identifying);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    assert_eq!(dir.text("out.json"), PUBLISHED);
    dir.write("out.json", PUBLISHED.replacen("\"shoe\":40", "\"shoe\":40,\"name\":\"Eva\"", 1));
    dir.run(&VERIFY)
        .exits(1)
        .prints(&["VIOLATED: the policy removes name, but the file still has it"])
        .hides(&["Eva"]);
    let told = dir.run(&[&VERIFY[..], &AGAINST, &MAPPING].concat()).exits(1).hides(&["Eva"]);
    told.prints(&["name: the policy removes this attribute, but it is published"]);
}

#[test]
fn a_publication_on_standard_output() {
    let dir = people();
    let out = dir.run(&["anonymize", "policy.toml", "--set=publish.path=-"]).exits(0);
    assert_eq!(out.stdout, PUBLISHED);
    out.says(&["published 4 records"]);
}
