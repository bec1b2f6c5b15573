//! `verify --against` where one cut holds for all records: sets and value trees.

use std::collections::BTreeMap;

use bosket_testkit::shared::{shared_json, shared_text};
use serde_json::{Value, json};

use crate::util::{Dir, Output, attribute, policy};

const TRUE: &str = "TRUE: the publication says nothing that the input does not.";

/// The four transactions of Fig. 2 with their hierarchy and a policy.
fn sets() -> Option<Dir> {
    let dir = Dir::new();
    dir.write("input.dat", shared_text("golden/km/fig2.dat")?)
        .write("h.csv", shared_text("golden/km/hierarchy.csv")?);
    let source = "[source]\nformat = \"transactions\"\npath = \"input.dat\"";
    let item = attribute("item", "quasi", "hierarchy = \"h.csv\"");
    dir.write("policy.toml", policy(&[item], &format!("model = \"km\"\nk = 2\nm = 2\n{source}")));
    Some(dir)
}

#[track_caller]
fn against(dir: &Dir, published: &str, code: i32, more: &[&str]) -> Output {
    dir.write("published.dat", published);
    let args = ["verify", "published.dat", "--policy", "policy.toml", "--foreign", "--against", "input.dat"];
    dir.run(&[&args[..], more].concat()).exits(code)
}

#[test]
fn sets_that_are_true() {
    let (Some(dir), Some(expected)) = (sets(), shared_json("golden/km/expected.json")) else {
        return;
    };
    let lines: Vec<&str> =
        expected["published"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let published = lines.join("\n");
    against(&dir, &published, 0, &[]).says_nothing().prints(&["HOLDS", TRUE]);
    let found = against(&dir, &published, 0, &["--json"]).json();
    assert_eq!((&found["holds"], &found["truth"]), (&true.into(), &json!({"holds": true, "problems": []})));
    // Any order will do, since records are published in an order of their own.
    against(&dir, "A b2\nA b1 b2\nA b1\nA b1 b2\n", 0, &[]).prints(&[TRUE]);
    against(&dir, "A B\nA B\nA B\nA B\n", 0, &[]).prints(&[TRUE]);
    // The input itself is true, only not safe.
    against(&dir, &dir.text("input.dat"), 1, &[]).prints(&["VIOLATED", TRUE]);
}

#[test]
fn sets_that_are_not_true() {
    let Some(dir) = sets() else {
        return;
    };
    let stray = "these records cannot all come from input records of their own\n    records: 4\n";
    let wrong = [
        ("one item changed", "A b1 b2\nA b1\nA b1 b2\nA b1\n", stray),
        ("one item added", "A b1 b2\nA b1\nA b1 b2\nA b1 b2\n", stray),
        (
            "one record duplicated",
            "A b1 b2\nA b1\nA b1 b2\nA b2\nA b2\n",
            "5 records are published, but the input has only 4",
        ),
        ("one record missing", "A b1 b2\nA b1\nA b1 b2\n", "1 input record is missing from the publication"),
        (
            "one record emptied",
            "A b1 b2\nA b1\nA b1 b2\n\n",
            "1 input record is missing from the publication",
        ),
        (
            "two cuts at once",
            "A b1 b2\nA b1\nA b1 b2\na1 b2\n",
            "item: 1 value of the input lies under several published values",
        ),
        ("an unknown item", "A b1 b2\nA b1\nA b1 b2\nz b2\n", "item: 1 published value is in no hierarchy"),
        ("an item left out everywhere", "A b1\nA b1\nA b1\nA\n", "item: 1 value of the input is left out"),
    ];
    for (what, published, said) in wrong {
        let found = against(&dir, published, 1, &[]);
        assert!(
            found.stdout.contains("NOT TRUE to the input:\n") && found.stdout.contains(said),
            "{what}:\n{}",
            found.stdout
        );
        assert!(found.stderr.is_empty(), "{what}");
        let found = against(&dir, published, 1, &["--json"]).json();
        assert_eq!((&found["holds"], &found["truth"]["holds"]), (&false.into(), &false.into()), "{what}");
    }
    against(&dir, "A b1\nA b1\nA b1\nA\n", 0, &["--set", "method.suppress=true"]).prints(&[TRUE]);
}

#[test]
fn a_mapping_pairs_sets() {
    let Some(dir) = sets() else {
        return;
    };
    let published = "A b1 b2\nA b1\nA b1 b2\nA b2\n";
    let mapped = |mapping: &str, code: i32| {
        dir.write("mapping.csv", mapping);
        against(&dir, published, code, &["--mapping", "mapping.csv"])
    };
    mapped("input_record,published_record\n1,3\n2,2\n3,1\n4,4\n", 0).prints(&[TRUE]);
    mapped("1,1\r\n2,2\r\n\r\n3,3\r\n4,4\r\n", 0).prints(&[TRUE]);
    let found = mapped("input_record,published_record\n1,1\n2,2\n3,4\n4,3\n", 1);
    found.prints(&[
        "these records are not what the declared operations make of their input records\n    records: 3 4\n",
    ]);
}

#[test]
fn bad_mappings_are_refused_with_their_lines() {
    let Some(dir) = sets() else {
        return;
    };
    dir.write("published.dat", "A b1 b2\nA b1\nA b1 b2\nA b2\n");
    let refused = |mapping: &str, parts: &[&str]| {
        dir.write("mapping.csv", mapping);
        let args = [
            "verify",
            "published.dat",
            "--foreign",
            "--policy",
            "policy.toml",
            "--against",
            "input.dat",
            "--mapping",
            "mapping.csv",
        ];
        let found = dir.run(&args).exits(3).says(parts).says(&[" --> mapping.csv", "help: "]);
        assert_eq!(found.stdout, "");
        assert_eq!(
            found.errors(),
            found.stderr.matches("help: ").count(),
            "every problem has a remedy:\n{}",
            found.stderr
        );
    };
    refused(
        "input_record,published_record\n1,1\nx,2\n3\n0,4\n",
        &[
            "not a pair of record numbers\n --> mapping.csv:3",
            "mapping.csv:4",
            "mapping.csv:5",
            "numbered from 1",
        ],
    );
    refused(
        "input_record,published_record\n1,1\n2,2\n2,3\n9,8\n",
        &[
            "input record 2 is named twice\n --> mapping.csv:4\n help: keep one",
            "input record 9 does not exist\n --> mapping.csv:5",
            "published record 8 does not exist\n --> mapping.csv:5",
            "a published record is not in the mapping\n --> mapping.csv, record 4",
        ],
    );
    refused("input_record,published_record\n", &["4 published records are not in the mapping"]);
    refused("from;to\n1;1\n", &["mapping.csv:1", "mapping.csv:2"]);
}

/// The database of Fig. 10, the three hierarchies of its file, and a policy.
fn trees() -> Option<Dir> {
    let dir = Dir::new();
    dir.write("input.dat", shared_text("golden/kmn/fig10.ndjson")?);
    let all = shared_text("golden/kmn/hierarchy.csv")?;
    let attributes = [
        ("visits[].hospital", "Medical Center"),
        ("visits[].diagnoses[].disease", "Disease"),
        ("visits[].diagnoses[].treatments[].treatment", "Treatment"),
    ]
    .map(|(path, class)| {
        let lines: Vec<&str> = all.lines().filter(|l| l.ends_with(&format!(";{class};*"))).collect();
        assert_eq!(lines.len(), 4, "{class}");
        dir.write(&format!("{class}.csv"), lines.join("\n"));
        attribute(path, "quasi", &format!("hierarchy = \"{class}.csv\""))
    });
    let claim = "model = \"kmn\"\nk = 2\nm = 2\nn = 1\n[source]\nformat = \"ndjson\"\npath = \"input.dat\"\n[publish]\nrows = \"united\"";
    dir.write(
        "policy.toml",
        policy(&attributes, claim).replace("version = 1\n", "version = 1\nundeclared = \"drop\"\n"),
    );
    Some(dir)
}

/// Records out of paths hospital → disease → treatment.
fn records(paths: &Value) -> String {
    type Visits<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<&'a str>>>;
    let mut records: BTreeMap<u64, Visits<'_>> = BTreeMap::new();
    for node in paths.as_array().expect("a list") {
        let path: Vec<&str> =
            node["path"].as_array().expect("a path").iter().filter_map(Value::as_str).collect();
        for id in node["ids"].as_array().expect("numbers").iter().filter_map(Value::as_u64) {
            let diagnoses = records.entry(id).or_default().entry(path[0]).or_default();
            if let Some(disease) = path.get(1) {
                diagnoses.entry(disease).or_default().extend(path.get(2));
            }
        }
    }
    let treated = |list: &Vec<&str>| list.iter().map(|t| json!({"treatment": t})).collect::<Vec<_>>();
    let visits = |visits: Visits<'_>| -> Vec<Value> {
        let diagnosed = |d: BTreeMap<&str, Vec<&str>>| {
            d.iter().map(|(d, t)| json!({"disease": d, "treatments": treated(t)})).collect::<Vec<_>>()
        };
        visits.into_iter().map(|(h, d)| json!({"hospital": h, "diagnoses": diagnosed(d)})).collect()
    };
    records.into_values().map(|v| format!("{}\n", json!({"visits": visits(v)}))).collect()
}

#[test]
fn trees_that_are_true() {
    let (Some(dir), Some(synopsis)) = (trees(), shared_json("golden/kmn/fig10.synopsis.json")) else {
        return;
    };
    // The synopsis, projected to a cut, is what that cut publishes; true, though not yet safe.
    against(&dir, &records(&synopsis["projected"]), 1, &[]).prints(&["VIOLATED", TRUE]);
    against(&dir, &records(&synopsis["nodes"]), 1, &[]).prints(&["VIOLATED", TRUE]);
    let general = dir.text("input.dat").replace("Flu", "Lung Disease").replace("Bronchitis", "Lung Disease");
    let published: String =
        general.lines().map(|l| format!("{{{}\n", &l[l.find("\"visits\"").expect("visits")..])).collect();
    against(&dir, &published, 1, &[]).prints(&["VIOLATED", TRUE]);
}

/// The paper's Example 7 is true: hospitals and Gastritis stay, lung diseases and medicines are generalized, and
/// record 4's Medicine moved from Gastritis to the hospital, which takes a relation away and adds none.
#[test]
fn example_7_is_true_to_figure_10() {
    let (Some(dir), Some(published)) = (trees(), shared_text("golden/kmn/example7.ndjson")) else {
        return;
    };
    against(&dir, &published, 0, &[]).says_nothing().prints(&["HOLDS", TRUE]);
    dir.write("mapping.csv", "1,1\n2,2\n3,3\n4,4\n");
    against(&dir, &published, 0, &["--mapping", "mapping.csv"]).prints(&[TRUE]);
    // Moved back under Lung Disease it would claim a relation that record 4 never had.
    let moved = r#"{"disease":"Lung Disease","treatments":[{"treatment":"Medicine"}]}]"#;
    let invented =
        published.replace(r#"{"disease":"Lung Disease"}],"treatments":[{"treatment":"Medicine"}]"#, moved);
    assert_ne!(invented, published);
    against(&dir, &invented, 1, &[]).prints(&["HOLDS", "NOT TRUE", "records: 4"]);
    // One place that stays finer than the cut.
    let finer = published.replacen("Lung Disease", "Flu", 1);
    against(&dir, &finer, 1, &[])
        .prints(&["visits[].diagnoses[].disease: 1 value of the input lies under several"]);
    let moved = published.replacen("Hospital2", "Rea", 1);
    against(&dir, &moved, 1, &[]).prints(&["NOT TRUE"]);
    let named = published.replacen("{\"visits\"", "{\"id\":1,\"visits\"", 1);
    against(&dir, &named, 1, &[]).prints(&["id: the policy removes this attribute, but it is published"]);
}

/// Where everybody loses the same relation, everybody fits everybody: pairing them all would take minutes.
#[test]
fn a_relation_taken_apart_everywhere_was_matched_pair_by_pair() {
    let dir = Dir::new();
    let attributes = ["v[].a", "v[].b[]"].map(|p| attribute(p, "quasi", ""));
    let source = "[source]\nformat = \"ndjson\"\npath = \"input.dat\"";
    dir.write("policy.toml", policy(&attributes, &format!("model = \"kmn\"\nk = 2\nm = 2\nn = 1\n{source}")));
    dir.write("input.dat", "{\"v\":[{\"a\":1,\"b\":[2]},{\"a\":3}]}\n".repeat(30_000));
    let published = "{\"v\":[{\"a\":1},{\"a\":3}],\"b\":[2]}\n".repeat(30_000);
    let begun = std::time::Instant::now();
    against(&dir, &published, 0, &[]).prints(&["HOLDS", TRUE]);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

/// A code with its text beside it, which follows the code.
fn companions(role: &str) -> Dir {
    let dir = Dir::new();
    dir.write("h.csv", "J06;J;*\nJ20;J;*\nK29;K;*\n");
    let code = attribute("v[].code", "quasi", "hierarchy = \"h.csv\"");
    let text = attribute("v[].text", role, "follows = \"v[].code\"");
    dir.write(
        "policy.toml",
        policy(
            &[code, text],
            "model = \"kmn\"\nk = 2\nm = 1\nn = 0\n[source]\nformat = \"ndjson\"\npath = \"input.dat\"",
        ),
    );
    let lines = [("J06", "cold"), ("J20", "cough"), ("K29", "ache"), ("K29", "ache")]
        .map(|(code, text)| format!("{}\n", json!({"v": [{"code": code, "text": text}]})));
    dir.write("input.dat", lines.concat());
    dir
}

#[test]
fn a_text_that_followed_its_code_was_called_untrue() {
    for role in ["quasi", "insensitive"] {
        let dir = companions(role);
        let publish = |of: fn(&str, &str) -> Option<&'static str>| -> String {
            [("J", "J06"), ("J", "J20"), ("K29", "K29"), ("K29", "K29")]
                .map(|(code, original)| match of(code, original) {
                    None => format!("{}\n", json!({"v": [{"code": code}]})),
                    Some(text) => format!("{}\n", json!({"v": [{"code": code, "text": text}]})),
                })
                .concat()
        };
        let dropped = publish(|_, _| None);
        let replaced = publish(|code, _| Some(if code == "J" { "J" } else { "K29" }));
        let kept_where_exact = publish(|code, _| (code == "K29").then_some("ache"));
        for (what, published) in [("dropped", dropped), ("replaced", replaced), ("kept", kept_where_exact)] {
            let found = against(&dir, &published, 0, &[]);
            assert!(found.stdout.contains(TRUE), "{role}, {what}:\n{}", found.stdout);
        }
        let invented = publish(|code, _| Some(if code == "J" { "J" } else { "cough" }));
        against(&dir, &invented, 1, &[]).prints(&["NOT TRUE"]);
    }
}
