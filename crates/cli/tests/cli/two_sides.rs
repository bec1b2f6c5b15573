//! Publications with two sides as strangers and accidents change them: whatever cannot be judged is refused.

use bosket_testkit::server::Server;
use serde_json::{Value, json};

use crate::util::{Dir, attribute, policy};

const VERIFY: [&str; 4] = ["verify", "out.json", "--policy", "policy.toml"];

/// Six people of one town; codes are sensitive, and so is what says them in other words.
fn attributes() -> Vec<String> {
    vec![
        attribute("town", "quasi", "hierarchy = { build = 'order', groups = ['Graz'] }"),
        attribute("code", "sensitive", ""),
        attribute("says", "sensitive", "follows = 'code'"),
    ]
}

fn people(privacy: &str, publish: &str) -> Dir {
    let dir = Dir::new();
    let line = |i: usize| {
        json!({"town": "Graz", "code": (["A", "B", "C"][i % 3]), "says": (["a", "b", "c"][i % 3])})
            .to_string()
    };
    dir.write("data.ndjson", (0..6).map(|i| line(i) + "\n").collect::<String>());
    let places = "[source]\nformat = 'ndjson'\npath = 'data.ndjson'\n[publish]\npath = 'out.json'\n";
    dir.write("policy.toml", policy(&attributes(), privacy) + places + publish);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir.run(&VERIFY).exits(0).prints(&["HOLDS"]);
    dir
}

/// Dissected records, and anatomized clusters.
const MODELS: [(&str, &str); 2] = [
    ("model = 'anatomy'\ngroup_size = 2", ""),
    ("model = 'l-diversity'\nl = 2\nk = 2", "anatomize = true\n"),
];

fn both(test: impl Fn(&Dir)) {
    for (privacy, publish) in MODELS {
        test(&people(privacy, publish));
    }
}

#[test]
fn an_unreadable_sensitive_side_was_taken_for_none() {
    both(|dir| {
        let good: Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
        let mut uniform = good.clone();
        for entry in uniform["sensitive"].as_array_mut().expect("a side") {
            entry["value"] = "A".into();
        }
        let text = |value: &Value| value.to_string();
        let mut bad: Vec<String> = Vec::new();
        for junk in [json!(5), json!(null), json!("x"), json!([1])] {
            let mut changed = uniform.clone();
            changed["sensitive"].as_array_mut().expect("a side").push(junk);
            bad.push(text(&changed));
        }
        for side in [json!(null), json!({"0": uniform["sensitive"]}), json!([uniform["sensitive"]])] {
            let mut changed = uniform.clone();
            changed["sensitive"] = side;
            bad.push(text(&changed));
        }
        let twice = text(&uniform);
        bad.push(format!("{},\"sensitive\":[]}}", &twice[..twice.len() - 1]));
        bad.push(twice.replacen("\"value\":\"A\"", "\"value\":\"A\",\"value\":\"B\"", 1));
        bad.push(json!({"quasi": good["quasi"]}).to_string());
        bad.push(json!([good["quasi"]]).to_string());
        for changed in bad {
            dir.write("out.json", &changed);
            let told = dir.run(&VERIFY);
            assert_eq!(told.code, Some(3), "{changed}\n{}", told.stdout);
        }
    });
}

#[test]
fn what_stands_beside_the_sides_was_not_seen() {
    both(|dir| {
        let good: Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
        let change = |change: &dyn Fn(&mut Value)| {
            let mut changed = good.clone();
            change(&mut changed);
            dir.write("out.json", changed.to_string());
            dir.run(&VERIFY).exits(3).says(&["no part of a publication with two sides"]).hides(&["Eva"]);
        };
        change(&|v| v["people"] = json!([{"name": "Eva", "code": "A"}]));
        change(&|v| v["quasi"][0]["names"] = json!(["Eva"]));
        change(&|v| v["sensitive"][0]["person"] = "Eva".into());
        change(&|v| v["sensitive"][0]["group"] = json!({"name": "Eva"}));
        change(&|v| v["quasi"][0]["records"][0] = json!("Eva"));
    });
}

#[test]
fn a_secret_in_other_words_on_the_quasi_side_was_only_a_warning() {
    both(|dir| {
        let mut published: Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
        published["quasi"][0]["records"][0]["says"] = "x".into();
        dir.write("out.json", published.to_string());
        dir.run(&VERIFY)
            .exits(3)
            .says(&["`says` stands on the quasi side, but it says a sensitive value in other words"]);
    });
}

#[test]
fn a_publication_on_standard_input_was_read_several_times() {
    both(|dir| {
        let published = dir.read("out.json");
        let told = dir.run_with(&["verify", "-", "--policy", "policy.toml", "--foreign"], &published);
        told.exits(0).prints(&["HOLDS", "FOREIGN"]);
        // In which form it is written cannot be seen there.
        let told = dir.run_with(&["verify", "-", "--policy", "policy.toml"], &published);
        told.exits(3).says(&["read only once", "name the file"]);
    });
}

/// A flat table of eight people, with a hierarchy in a file.
fn table((privacy, publish): (&str, &str), place: &str, columns: [&str; 2]) -> Dir {
    let dir = Dir::new();
    let [first, second] = columns;
    let rows: String = (0..8).map(|i| format!("{},j{i},i{i}\n", 20 + i % 4)).collect();
    dir.write("data/p.csv", format!("age,{first},{second}\n{rows}"));
    dir.write("data/sensitive_b.csv", "20;low\n21;low\n22;high\n23;high\n");
    let attributes = [
        attribute("age", "quasi", "hierarchy = 'data/sensitive_b.csv'"),
        attribute(first, "sensitive", ""),
        attribute(second, "sensitive", ""),
    ];
    let places =
        format!("[source]\nformat = 'csv'\npath = 'data/p.csv'\n[publish]\npath = '{place}'\n{publish}");
    dir.write("policy.toml", policy(&attributes, privacy) + &places);
    dir
}

#[test]
fn force_put_tables_in_the_place_of_inputs() {
    for model in MODELS {
        let dir = table(model, "data", ["a", "c"]);
        let before = dir.text("data/p.csv");
        let run = ["anonymize", "policy.toml", "--force"];
        dir.run(&run).exits(2).says(&["would overwrite", "which the run reads"]);
        assert_eq!(dir.text("data/p.csv"), before);
        // The table of a sensitive column in the place of a hierarchy.
        let dir = table(model, "data", ["a", "b"]);
        dir.write("other/p.csv", dir.text("data/p.csv"));
        let run = [&run[..], &["--set=source.path=other/p.csv"]].concat();
        dir.run(&run).exits(2).says(&["sensitive_b.csv would overwrite", "which the run reads"]);
    }
}

#[test]
fn two_tables_of_one_name_lost_one() {
    for model in MODELS {
        for columns in [["te st", "te_st"], ["Ill", "ill"]] {
            let dir = table(model, "out", columns);
            dir.run(&["anonymize", "policy.toml", "--force"])
                .exits(2)
                .says(&["something else is called like it"]);
            assert!(!dir.files().iter().any(|f| f.starts_with("out")), "{:?}", dir.files());
        }
    }
}

#[test]
fn a_damaged_sensitive_table_was_taken_for_an_empty_one() {
    for model in MODELS {
        let dir = table(model, "out", ["a", "c"]);
        dir.run(&["anonymize", "policy.toml"]).exits(0);
        let verify = ["verify", "out", "--policy", "policy.toml"];
        dir.run(&verify).exits(0);
        let good = dir.text("out/sensitive_a.csv");
        for bad in [
            good.clone() + "1,A,x\n",
            good.clone() + "1,\"A\n",
            good.replacen("group_id,", "group_id,group_id,", 1),
            String::new(),
            good.replace(",j", ",Eva,j").replacen("group_id,value", "group_id,person,value", 1),
        ] {
            dir.write("out/sensitive_a.csv", &bad);
            let told = dir.run(&verify).hides(&["Eva"]);
            assert_eq!(told.code, Some(3), "{bad}\n{}", told.stdout);
        }
    }
}

#[test]
fn more_in_a_database_than_the_publication_was_not_seen() {
    let dir = Dir::new();
    dir.run(&["generate", "students", "--students", "30", "--kind", "school", "--out", "s"]).exits(0);
    let (policy, set) = ("s/tables/policy-sqlite.toml", "--set=publish.anatomize=true");
    let verify = ["verify", "s/tables/published.db", "--policy", policy, set];
    for change in [
        "ALTER TABLE sensitive_grade ADD COLUMN person TEXT",
        "CREATE TABLE pairing (person TEXT, grade TEXT)",
    ] {
        dir.run(&["anonymize", policy, set, "--force"]).exits(0);
        dir.run(&verify).exits(0);
        let database = rusqlite::Connection::open(dir.path("s/tables/published.db")).expect("opens");
        database.execute_batch(change).expect("changed");
        drop(database);
        dir.run(&verify).exits(3).says(&["must not be handed out"]);
    }
}

#[test]
fn more_in_a_schema_than_the_publication_was_not_seen() {
    let Some(server) = Server::start("trust") else { return };
    let dir = Dir::new();
    server.sql("postgres", "CREATE DATABASE one");
    let rows: Vec<String> = (0..8).map(|i| format!("({i}, 'T{}', 'c{}')", i % 2, i % 4)).collect();
    server.sql("one", "CREATE TABLE patient (pid int PRIMARY KEY, town text, code text)");
    server.sql("one", &format!("INSERT INTO patient VALUES {}", rows.join(", ")));
    let url = server.url("one");
    let attributes = [
        attribute("patient.town", "quasi", "hierarchy = { build = 'order', groups = ['T0', 'T1'] }"),
        attribute("patient.code", "sensitive", ""),
    ];
    let verify = ["verify", url.as_str(), "--policy", "policy.toml"];
    for (privacy, publish) in MODELS {
        let places = format!(
            "[source]\nformat = 'postgres'\nurl = '{url}'\n[[source.table]]\nname = 'patient'\nkey = 'pid'\n\
             [publish]\nurl = '{url}'\nschema = 'apart'\n{publish}"
        );
        dir.write("policy.toml", policy(&attributes, privacy) + &places);
        dir.run(&["anonymize", "policy.toml", "--force"]).exits(0);
        dir.run(&verify).exits(0).prints(&["HOLDS"]);
        // Called like any table, like one of sensitive values, and like that of an attribute of the other side.
        for (name, words) in [
            ("pairing", "table `pairing`"),
            ("sensitive_name", "table `sensitive_name`"),
            ("sensitive_town", "`sensitive_town` stands on the sensitive side"),
        ] {
            server.sql("one", &format!("CREATE TABLE apart.{name} (group_id bigint, value text)"));
            dir.run(&verify).exits(3).says(&[words]);
            server.sql("one", &format!("DROP TABLE apart.{name}"));
        }
        dir.run(&verify).exits(0);
    }
}
