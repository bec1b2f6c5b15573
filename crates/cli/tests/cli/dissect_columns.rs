//! Dissection of Parquet from the outside: one nested file and linked tables, published, verified, meddled with.

use std::fs;

use serde_json::Value;

use crate::util::{Dir, attribute};

const CODES: [&str; 8] = ["A1", "A2", "B1", "B2", "C1", "C2", "D1", "D2"];

/// People with visits, in a Parquet file, and a policy for them.
fn clinic(privacy: &str) -> Dir {
    let dir = Dir::new();
    let people: String = (0..24)
        .map(|i| {
            let second = if i % 6 == 0 { format!(",{{\"code\":\"{}\"}}", CODES[(i + 3) % 8]) } else { String::new() };
            format!(
                "{{\"name\":\"N{i}\",\"town\":\"T{}\",\"bio\":{{\"born\":{}}},\"visits\":[{{\"year\":{},\"code\":\"{}\"}}{second}]}}\n",
                i % 5,
                1950 + i % 4,
                2000 + i % 3,
                CODES[i % 8],
            )
        })
        .collect();
    dir.write("data.ndjson", people);
    dir.run(&["convert", "data.ndjson", "data.parquet"]).exits(0);
    dir.write("code.csv", "A1;A;*\nA2;A;*\nB1;B;*\nB2;B;*\nC1;C;*\nC2;C;*\nD1;D;*\nD2;D;*\n");
    let attributes = [
        attribute("name", "identifying", ""),
        attribute("town", "quasi", ""),
        attribute("bio.born", "quasi", ""),
        attribute("visits[].year", "quasi", ""),
        attribute("visits[].code", "sensitive", "hierarchy = 'code.csv'"),
    ];
    dir.write(
        "policy.toml",
        format!(
            "version = 1\n[source]\nformat = \"parquet\"\npath = \"data.parquet\"\n{}[privacy]\n{privacy}\n\
             [publish]\npath = \"out\"\n",
            attributes.concat()
        ),
    );
    dir
}

/// The rows of a Parquet file as JSON.
fn rows(dir: &Dir, path: &str) -> Vec<Value> {
    dir.run(&["convert", path, "rows.ndjson", "--force"]).exits(0);
    dir.text("rows.ndjson").lines().map(|l| serde_json::from_str(l).expect("JSON")).collect()
}

/// Replaces a file by these rows.
fn replace(dir: &Dir, path: &str, rows: &[Value]) {
    let lines: String = rows.iter().map(|r| format!("{r}\n")).collect();
    dir.write("changed.ndjson", lines);
    dir.run(&["convert", "changed.ndjson", path, "--force"]).exits(0);
}

#[test]
fn a_nested_file_becomes_a_folder_of_two_sides() {
    let dir = clinic("model = \"delta\"\ngroup_size = 3");
    let mapped = ["anonymize", "policy.toml", "--json", "--set=publish.mapping=map.csv"];
    let told = dir.run(&mapped).exits(0).json();
    assert_eq!(told["verified"], true);
    assert!(!dir.files().iter().any(|f| f.ends_with(".tmp")));
    let (people, values) = (rows(&dir, "out/data.parquet"), rows(&dir, "out/sensitive_code.parquet"));
    assert_eq!(told["records"], people.len());
    assert_eq!(people.len() + told["suppressed"].as_u64().expect("a number") as usize, 24);
    assert_eq!(told["sensitive_values"], values.len());
    assert!(
        people.iter().all(|p| p["group_id"].is_u64() && p.get("name").is_none() && p["bio"]["born"].is_u64())
    );
    assert!(
        people
            .iter()
            .all(|p| p["visits"].as_array().is_none_or(|v| v.iter().all(|v| v.get("code").is_none())))
    );
    let verify = ["verify", "out", "--policy", "policy.toml"];
    dir.run(&verify).exits(0).prints(&["HOLDS"]);
    dir.run(&[&verify[..], &["--set=privacy.group_size=20"]].concat()).exits(1);
    dir.certified("out", "out.certificate.json");
    let against = [&verify[..], &["--against", "data.parquet"]].concat();
    dir.run(&against).exits(0).prints(&["TRUE"]);
    let with = [&against[..], &["--mapping", "map.csv"]].concat();
    dir.run(&with).exits(0).prints(&["TRUE"]);
    dir.run(&["anonymize", "policy.toml"]).exits(3).says(&["--force"]);
    dir.run(&["anonymize", "policy.toml", "--force", "--set=publish.path=out.parquet"])
        .exits(2)
        .says(&["several files"]);
    // The same input, the same bytes.
    let before = (dir.read("out/data.parquet"), dir.read("out/sensitive_code.parquet"));
    dir.run(&["anonymize", "policy.toml", "--force"]).exits(0);
    assert!(before == (dir.read("out/data.parquet"), dir.read("out/sensitive_code.parquet")));
}

#[test]
fn it_says_the_same_as_dissected_lines_of_json() {
    let dir = clinic("model = \"anatomy\"\ngroup_size = 4");
    dir.write(
        "lines.toml",
        dir.text("policy.toml").replace("parquet", "ndjson").replace("\"out\"", "\"out.json\""),
    );
    let told = dir.run(&["anonymize", "policy.toml", "--json"]).exits(0).json();
    let lines = dir.run(&["anonymize", "lines.toml", "--json"]).exits(0).json();
    // Which of several people are alike is decided by their texts, which differ; all else is the same.
    for key in ["records", "sensitive_values", "suppressed"] {
        assert_eq!(told[key], lines[key], "{key}");
    }
    let published: Value = serde_json::from_str(&dir.text("out.json")).expect("JSON");
    let groups = published["quasi"].as_array().expect("groups").iter();
    let people = groups.flat_map(|g| g["records"].as_array().expect("people"));
    let said = |p: &Value| format!("{} {} {}", p["town"], p["bio"], p["visits"]);
    let mut as_json: Vec<String> = people.map(said).collect();
    let mut as_rows: Vec<String> = rows(&dir, "out/data.parquet").iter().map(said).collect();
    as_json.sort();
    as_rows.sort();
    assert_eq!(as_rows, as_json);
}

#[test]
fn plain_dissection_is_one_group_and_claims_nothing() {
    let dir = clinic("model = \"none\"");
    dir.run(&["anonymize", "policy.toml"]).exits(0).prints(&["24 records in 1 group ", "nothing is claimed"]);
    assert_eq!(rows(&dir, "out/sensitive_code.parquet").len(), 28);
    dir.run(&["verify", "out", "--policy", "policy.toml"]).exits(2).says(&["claims nothing"]);
}

#[test]
fn a_file_that_was_meddled_with_is_found_out() {
    let dir = clinic("model = \"anatomy\"\ngroup_size = 3");
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let verify = ["verify", "out", "--policy", "policy.toml"];
    let against = [&verify[..], &["--against", "data.parquet"]].concat();
    let (people, values) = (rows(&dir, "out/data.parquet"), rows(&dir, "out/sensitive_code.parquet"));
    let certified = ["verify", "out", "--certificate", "out.certificate.json", "--policy", "policy.toml"];
    dir.run(&certified).exits(0);

    let mut changed = people.clone();
    changed[0]["town"] = "Elsewhere".into();
    replace(&dir, "out/data.parquet", &changed);
    dir.run(&verify).exits(0);
    dir.run(&against).exits(1).prints(&["NOT TRUE", "1 record of the publication not in the input"]);
    dir.run(&certified).exits(1);

    let mut changed = people.clone();
    changed[0]["visits"][0]["code"] = "A1".into();
    replace(&dir, "out/data.parquet", &changed);
    dir.run(&verify).exits(3).says(&["`visits[].code` stands on the quasi side"]);

    let mut changed = people.clone();
    changed[0]["secret"] = "A1".into();
    replace(&dir, "out/data.parquet", &changed);
    dir.run(&verify).exits(2).says(&["secret"]).hides(&["A1"]);

    let mut changed = people.clone();
    changed[0]["name"] = "Quetzal".into();
    replace(&dir, "out/data.parquet", &changed);
    dir.run(&verify).exits(1).prints(&["VIOLATED: the policy removes name"]).hides(&["Quetzal"]);

    let mut changed = people.clone();
    changed[0].as_object_mut().expect("a row").remove("group_id");
    replace(&dir, "out/data.parquet", &changed);
    dir.run(&verify).exits(3).says(&["row 1 of the people has no group"]);
    replace(&dir, "out/data.parquet", &people);

    let mut changed = values.clone();
    changed.push(values[0].clone());
    replace(&dir, "out/sensitive_code.parquet", &changed);
    dir.run(&verify).exits(1).prints(&["VIOLATED", "visits[].code = "]);

    let mut changed = values.clone();
    changed[0]["group_id"] = 1000.into();
    replace(&dir, "out/sensitive_code.parquet", &changed);
    dir.run(&verify).exits(3).says(&["1 group is called by other than 1, 2, 3"]);

    let mut changed = values.clone();
    changed[0]["town"] = "T1".into();
    replace(&dir, "out/sensitive_code.parquet", &changed);
    dir.run(&verify).exits(3).says(&["not just the columns `group_id` and `value`"]);

    let whole = dir.read("out/data.parquet");
    dir.write("out/sensitive_code.parquet", &whole[..whole.len() / 2]);
    dir.run(&verify).exits(3).says(&["damaged or cut off"]);
    fs::remove_file(dir.path("out/sensitive_code.parquet")).expect("there");
    dir.run(&verify).exits(3).says(&["sensitive_code.parquet"]);
}

#[test]
fn what_would_be_in_the_way_is_refused() {
    let dir = clinic("model = \"anatomy\"\ngroup_size = 3");
    // The input is never overwritten.
    let before = dir.read("data.parquet");
    dir.run(&["anonymize", "policy.toml", "--force", "--set=publish.path=."])
        .exits(2)
        .says(&["would overwrite"]);
    assert!(before == dir.read("data.parquet"));
    let text = dir.text("policy.toml");
    dir.write("policy.toml", text.replace("bio.born", "group_id.born"));
    dir.run(&["anonymize", "policy.toml"]).exits(2).says(&["is the column that says the group"]);
    dir.write("policy.toml", text.replace("data.parquet", "sensitive_code.parquet"));
    dir.run(&["anonymize", "policy.toml"]).exits(2).says(&["`sensitive_code` is the table"]);
    dir.write("policy.toml", text.replace("bio.born", "bio.age"));
    dir.run(&["anonymize", "policy.toml"]).exits(2).says(&["bio.born"]);
    dir.write("data.parquet", &before[..before.len() / 2]);
    dir.write("policy.toml", text);
    dir.run(&["anonymize", "policy.toml"]).exits(3).says(&["damaged or cut off"]);
    assert!(!dir.files().iter().any(|f| f.starts_with("out") || f.ends_with(".tmp")));
}

#[test]
fn linked_files_are_joined_by_group() {
    let dir = Dir::new();
    let (mut patients, mut visits) = (String::new(), String::new());
    for i in 0..18 {
        patients.push_str(&format!("{{\"pid\":{i},\"name\":\"N{i}\",\"town\":\"T{}\"}}\n", i % 4));
        visits.push_str(&format!(
            "{{\"vid\":{i},\"pid\":{i},\"year\":{},\"code\":{}}}\n",
            2000 + i % 3,
            i % 9
        ));
        if i % 6 == 0 {
            let (vid, code) = (100 + i, (i + 1) % 9);
            visits.push_str(&format!("{{\"vid\":{vid},\"pid\":{i},\"year\":2005,\"code\":{code}}}\n"));
        }
    }
    dir.write("patient.ndjson", patients).write("visit.ndjson", visits);
    fs::create_dir(dir.path("in")).expect("a folder");
    for name in ["patient", "visit"] {
        dir.run(&["convert", &format!("{name}.ndjson"), &format!("in/{name}.parquet")]).exits(0);
    }
    let attributes = [
        attribute("patient.name", "identifying", ""),
        attribute("patient.town", "quasi", ""),
        attribute("visit.year", "quasi", ""),
        attribute("visit.code", "sensitive", ""),
    ];
    dir.write(
        "policy.toml",
        format!(
            "version = 1\n[source]\nformat = \"parquet\"\n\
             [[source.table]]\nname = \"patient\"\npath = \"in/patient.parquet\"\nkey = \"pid\"\n\
             [[source.table]]\nname = \"visit\"\npath = \"in/visit.parquet\"\nkey = \"vid\"\nparent = \"patient\"\nforeign_key = \"pid\"\n\
             {}[privacy]\nmodel = \"anatomy\"\ngroup_size = 3\n[publish]\npath = \"out\"\n",
            attributes.concat()
        ),
    );
    dir.run(&["anonymize", "policy.toml", "--set=publish.mapping=map.csv"])
        .exits(0)
        .prints(&["published 18 records"]);
    let files: Vec<String> = dir.files().into_iter().filter(|f| f.starts_with("out/")).collect();
    assert_eq!(files, ["out/patient.parquet", "out/sensitive_code.parquet", "out/visit.parquet"]);
    let values = rows(&dir, "out/sensitive_code.parquet");
    assert_eq!(values.len(), 18 + 3);
    // A column of numbers stays one.
    assert!(values.iter().all(|v| v["group_id"].is_u64() && v["value"].is_u64()), "{values:?}");
    assert!(
        rows(&dir, "out/patient.parquet").iter().all(|p| p["group_id"].is_u64() && p.get("name").is_none())
    );
    assert!(rows(&dir, "out/visit.parquet").iter().all(|v| v.get("code").is_none()));
    dir.certified("out", "out.certificate.json");
    let verify = ["verify", "out", "--policy", "policy.toml", "--against", "in"];
    dir.run(&verify).exits(0).prints(&["HOLDS", "TRUE"]);
    dir.run(&[&verify[..], &["--mapping", "map.csv"]].concat()).exits(0).prints(&["HOLDS", "TRUE"]);
    let mut changed = values.clone();
    changed.iter_mut().for_each(|v| v["value"] = 2.into());
    replace(&dir, "out/sensitive_code.parquet", &changed);
    dir.run(&verify[..4]).exits(1).prints(&["visit.code = 2"]);
    dir.run(&verify).exits(1).prints(&["NOT TRUE"]);
    let mut changed = values;
    changed[0].as_object_mut().expect("a row").remove("value");
    replace(&dir, "out/sensitive_code.parquet", &changed);
    dir.run(&verify[..4]).exits(3).says(&["row 1 of a sensitive table has no value"]);
}

#[test]
fn transactions_have_nothing_to_separate() {
    let dir = Dir::new();
    dir.write("data.txt", "a b\nb c\n");
    let item = attribute("item", "sensitive", "");
    dir.write(
        "policy.toml",
        format!(
            "version = 1\n[source]\nformat = \"transactions\"\npath = \"data.txt\"\n{item}[privacy]\nmodel = \"none\"\n\
             group_size = 2\n[publish]\npath = \"out.txt\"\n"
        ),
    );
    dir.run(&["anonymize", "policy.toml"]).exits(2).says(&["transactions hold only items", "ndjson"]);
}
