//! `bosket verify`: verdicts, witnesses, and that neither memory nor threads change them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::util::{Dir, attribute, policy};

/// The quasi attributes of the clinic example, in its policy's order.
const QUASI: [&str; 7] = [
    "gender",
    "birth_year",
    "home.town",
    "visits[].hospital",
    "visits[].year",
    "visits[].diagnoses[].disease",
    "visits[].diagnoses[].treatments[]",
];

fn clinic(people: &str) -> Dir {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", people, "--out", "."]).exits(0);
    dir.forget_attackers("policy.toml");
    dir
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn the_json_has_the_published_shape() {
    let dir = Dir::new();
    dir.write(
        "policy.toml",
        policy(&["a", "v[].b"].map(|p| attribute(p, "quasi", "")), "model = \"kmn\"\nk = 2\nm = 2\nn = 1"),
    );
    dir.write(
        "data.ndjson",
        "{\"a\":\"x\",\"v\":[{\"b\":1}]}\n{\"a\":\"x\",\"v\":[{\"b\":1}]}\n{\"a\":\"x\",\"v\":[{\"b\":2}]}\n",
    );
    let args = ["verify", "data.ndjson", "--policy", "policy.toml", "--json"];
    let found = dir.run(&args).exits(1).says_nothing().json();
    assert_eq!(keys(&found)[..3], ["holds", "claim", "witness"]);
    assert_eq!(found["holds"], false);
    let claim = json!({"model": "kmn", "k": 2, "m": 2, "n": 1, "relations": "pair", "root": "separate", "rows": "distinct", "guard": false, "missing": "counted"});
    assert_eq!(found["claim"], claim);
    assert_eq!(keys(&found["witness"]), ["values", "relations", "support", "records"]);
    let witness =
        json!({"values": [{"path": "v[].b", "value": "2"}], "relations": [], "support": 1, "records": [3]});
    assert_eq!(found["witness"], witness);
    dir.write("data.ndjson", "{\"a\":\"x\",\"v\":[{\"b\":1}]}\n".repeat(2));
    let found = dir.run(&args).exits(0).says_nothing().json();
    assert_eq!(
        (&found["holds"], &found["witness"], &found["records"]),
        (&true.into(), &Value::Null, &2.into())
    );
}

#[test]
fn a_witness_names_related_values() {
    let dir = Dir::new();
    dir.write(
        "policy.toml",
        policy(
            &["v[].a", "v[].b[]"].map(|p| attribute(p, "quasi", "")),
            "model = \"kmn\"\nk = 2\nm = 2\nn = 1",
        ),
    );
    let apart = "{\"v\":[{\"a\":1,\"b\":[5]},{\"a\":2,\"b\":[6]}]}\n";
    dir.write(
        "data.ndjson",
        format!("{}{}", apart.repeat(2), "{\"v\":[{\"a\":1,\"b\":[6]},{\"a\":2,\"b\":[5]}]}\n"),
    );
    let found = dir.run(&["verify", "data.ndjson", "--policy", "policy.toml", "--json"]).exits(1).json();
    let values = json!([{"path": "v[].a", "value": "1"}, {"path": "v[].b[]", "value": "6"}]);
    assert_eq!(
        found["witness"],
        json!({"values": values, "relations": [[0, 1]], "support": 1, "records": [3]})
    );
    let text = dir.run(&["verify", "data.ndjson", "--policy", "policy.toml"]).exits(1);
    text.prints(&[
        "VIOLATED",
        "only one record fits",
        "1  v[].a    1",
        "2  v[].b[]  6",
        "related: 1 above 2",
        "records: 3",
    ]);
    dir.run(&["verify", "data.ndjson", "--policy", "policy.toml", "--set", "privacy.n=0"]).exits(0);
}

#[test]
fn diversity_names_the_sensitive_value() {
    let dir = Dir::new();
    let attributes = [attribute("a", "quasi", ""), attribute("s", "sensitive", "")];
    dir.write("policy.toml", policy(&attributes, "model = \"l-diversity\"\nk = 2\nl = 2"));
    dir.write("data.csv", "a,s\nx,1\nx,2\ny,3\ny,3\n");
    let found = dir.run(&["verify", "data.csv", "--policy", "policy.toml", "--json"]).exits(1).json();
    assert_eq!(found["witness"]["sensitive"], json!({"path": "s", "value": "3", "share": 1.0}));
    assert_eq!((&found["witness"]["records"], &found["claim"]["l"]), (&json!([3, 4]), &2.0.into()));
    dir.write("data.csv", "a,s\nx,1\nx,2\ny,3\ny,4\n");
    dir.run(&["verify", "data.csv", "--policy", "policy.toml"])
        .exits(0)
        .prints(&["HOLDS", "no sensitive value has a share over 1/2"]);
}

/// Absence is knowledge of what the policy lists: `not x`, and two values that are there and not related.
#[test]
fn a_witness_names_what_is_absent() {
    let dir = Dir::new();
    let quasi = |path: &str, more: &str| attribute(path, "quasi", more);
    let attributes = [
        quasi("v[].a", "hierarchy = \"a.csv\""),
        quasi("v[].b[]", "hierarchy = { build = \"order\", groups = [\"5\", \"6\"] }"),
    ];
    // A visit without an `a` would be one that may be anything.
    let kmn = |negative: &str| {
        format!("model = \"kmn\"\nk = 2\nm = 2\nn = 1\nmissing = \"nothing\"\nnegative = {negative}")
    };
    dir.write("a.csv", "1;X;*\n2;X;*\n3;Y;*\n");
    let run = |negative: &str| {
        dir.write("policy.toml", policy(&attributes, &kmn(negative)));
        dir.run(&["verify", "data.ndjson", "--policy", "policy.toml", "--json", "--foreign"])
    };
    let lines = |lines: &[&str]| lines.iter().map(|l| format!("{l}\n")).collect::<String>();
    let (both, one) = (r#"{"v":[{"a":"X"},{"a":"3"}]}"#, r#"{"v":[{"a":"3"}]}"#);
    dir.write("data.ndjson", lines(&[both, both, one]));
    run("[\"3\"]").exits(0);
    // Only where all of X is listed, its absence is known.
    run("[\"1\"]").exits(0);
    let found = run("[\"1\", \"2\"]").exits(1).json();
    assert_eq!(found["witness"]["values"], json!([{"path": "v[].a", "value": "X", "absent": true}]));
    assert_eq!(
        (&found["witness"]["records"], &found["claim"]["negative"]),
        (&json!([3]), &json!({"values": 2, "pairs": 0}))
    );
    let text = dir.run(&["verify", "data.ndjson", "--policy", "policy.toml"]).exits(1);
    text.prints(&["or that listed ones are absent", "only one record fits", "1  v[].a  not X"]);

    let (apart, below) =
        (r#"{"v":[{"a":"3"},{"a":"1","b":["5"]}]}"#, r#"{"v":[{"a":"3","b":["5"]},{"a":"1"}]}"#);
    dir.write("data.ndjson", lines(&[below, below, below, apart]));
    let found = run("[[\"3\", \"5\"]]").exits(1).json();
    assert_eq!(found["witness"]["records"], json!([4]));
    dir.write("data.ndjson", lines(&[below, below, r#"{"v":[{"a":"3"},{"a":"1"},{"b":["5"]}]}"#]));
    run("[[\"1\", \"6\"]]").exits(0);
    let found = run("[[\"3\", \"5\"]]").exits(1).json();
    assert_eq!(
        (&found["witness"]["relations"], &found["witness"]["unrelated"]),
        (&json!([]), &json!([[0, 1]]))
    );
    dir.run(&["verify", "data.ndjson", "--policy", "policy.toml"])
        .exits(1)
        .prints(&["not related: 1 above 2"]);
}

#[test]
fn absence_needs_hierarchies_that_can_be_had() {
    let dir = Dir::new();
    dir.write("data.txt", "a b\na b\n");
    dir.write("data.csv", "a,year\nx,1950-1954\nx,1950-1954\n");
    let km = "model = \"km\"\nk = 2\nm = 2\nnegative = [\"a\"]";
    let args = ["verify", "data.txt", "--policy", "policy.toml"];
    dir.write("policy.toml", policy(&[attribute("item", "quasi", "")], km));
    dir.run(&args).exits(2).says(&["needs the hierarchy of this attribute", "path item", "help: "]);
    dir.write(
        "policy.toml",
        policy(&[attribute("item", "quasi", "hierarchy = { build = \"fanout\", fanout = 2 }")], km),
    );
    dir.run(&args).exits(2).says(&["the hierarchy of `item` is built over values of the data", "help: "]);
    // No listed value can be a year, so that its hierarchy is of no interest.
    let years = "hierarchy = { build = \"interval\", min = 1900, max = 2030, widths = [5] }";
    let order = "hierarchy = { build = \"order\", groups = [\"x\", \"y\"] }";
    let attributes = [attribute("a", "quasi", order), attribute("year", "quasi", years)];
    let kmn = "model = \"kmn\"\nk = 2\nm = 2\nn = 0\nnegative = [\"y\"]";
    dir.write("policy.toml", policy(&attributes, kmn));
    dir.run(&["verify", "data.csv", "--policy", "policy.toml"]).exits(0);
    dir.run(&["verify", "data.csv", "--policy", "policy.toml", "--set", "privacy.negative=[\"1952\"]"])
        .exits(2)
        .says(&["the hierarchy of `year` is built over values of the data"]);
}

/// A quasi value: the number of its attribute, and its text.
type Item = (usize, String);

/// The quasi values of a record.
fn items(line: &str, quasi: &[&str]) -> BTreeSet<Item> {
    fn collect(value: &Value, path: &str, quasi: &[&str], out: &mut BTreeSet<Item>) {
        match value {
            Value::Object(table) => {
                for (key, value) in table {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    collect(value, &path, quasi, out);
                }
            }
            Value::Array(list) => list.iter().for_each(|v| collect(v, &format!("{path}[]"), quasi, out)),
            scalar => {
                let text = scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned);
                out.extend(quasi.iter().position(|q| *q == path).map(|i| (i, text)));
            }
        }
    }
    let mut out = BTreeSet::new();
    collect(&serde_json::from_str(line).expect("a record"), "", quasi, &mut out);
    out
}

/// The first knowledge without relations that fewer than `k` records match, and these, by trying everything.
fn first_violation(records: &[BTreeSet<Item>], k: usize) -> Option<(Vec<Item>, Vec<usize>)> {
    let mut single: BTreeMap<Vec<Item>, Vec<usize>> = BTreeMap::new();
    let mut double = single.clone();
    for (number, record) in records.iter().enumerate() {
        let items: Vec<&Item> = record.iter().collect();
        for (i, &a) in items.iter().enumerate() {
            single.entry(vec![a.clone()]).or_default().push(number + 1);
            for &b in &items[i + 1..] {
                double.entry(vec![a.clone(), b.clone()]).or_default().push(number + 1);
            }
        }
    }
    single.into_iter().chain(double).find(|(_, records)| records.len() < k)
}

#[test]
fn the_witness_on_the_clinic_is_the_smallest() {
    let dir = clinic("1200");
    let mut sizes = BTreeSet::new();
    for (k, hidden) in [("2", "birth_year"), ("2", "none"), ("5", "birth_year"), ("20", "home.town")] {
        let quasi: Vec<&str> = QUASI.iter().map(|q| if *q == hidden { "" } else { *q }).collect();
        let records: Vec<_> = dir.text("data.ndjson").lines().map(|l| items(l, &quasi)).collect();
        let (values, numbers) =
            first_violation(&records, k.parse().expect("a number")).expect("it is violated");
        let (k, role) = (format!("privacy.k={k}"), format!("attribute[\"{hidden}\"].role=insensitive"));
        let mut args = vec!["verify", "data.ndjson", "--policy", "policy.toml", "--json", "--set", &k];
        if hidden != "none" {
            args.extend(["--set", &role]);
        }
        let witness = &dir.run(&args).exits(1).json()["witness"];
        let values: Vec<Value> = values.iter().map(|(a, v)| json!({"path": QUASI[*a], "value": v})).collect();
        sizes.insert(values.len());
        assert_eq!(witness["values"], json!(values), "{k} without {hidden}");
        assert_eq!(witness["records"], json!(numbers));
        assert_eq!((&witness["support"], &witness["relations"]), (&numbers.len().into(), &json!([])));
    }
    assert_eq!(sizes.into_iter().collect::<Vec<_>>(), [1, 2], "witnesses of both sizes were seen");
}

#[test]
fn neither_memory_nor_threads_change_the_answer() {
    let dir = clinic("250");
    let data = without_names(&dir.text("data.ndjson"));
    // Everybody twice: holds for k = 2, so everything is counted to the end.
    dir.write("twice.ndjson", format!("{data}{data}"));
    let once_less = data.trim_end().rfind('\n').expect("records") + 1;
    dir.write("almost.ndjson", format!("{data}{}", &data[..once_less]));
    let verify = |file: &str, more: &[&str]| {
        let claim = ["--set", "privacy.k=2", "--set", "privacy.m=3", "--set", "privacy.n=2", "--json"];
        dir.run(&[&["verify", file, "--policy", "policy.toml", "--foreign"], &claim[..], more].concat())
    };
    for (relations, rows) in [("pair", "united"), ("embedded", "united"), ("embedded", "distinct")] {
        let (relations, rows) = (format!("privacy.relations={relations}"), format!("publish.rows={rows}"));
        for (file, code) in [("twice.ndjson", 0), ("almost.ndjson", 1)] {
            let set = ["--set", &relations, "--set", &rows];
            let expected = verify(file, &set).exits(code).stdout;
            for more in [["--memory", "1M"], ["--memory", "64K"], ["--threads", "1"], ["--threads", "2"]] {
                assert_eq!(
                    verify(file, &[&set[..], &more[..]].concat()).exits(code).stdout,
                    expected,
                    "{file} {more:?}"
                );
            }
        }
    }
}

#[test]
fn a_file_that_still_names_people_does_not_hold() {
    let dir = clinic("30");
    let args = ["verify", "data.ndjson", "--policy", "policy.toml"];
    let found = dir.run(&[&args[..], &["--json"]].concat()).exits(1).json();
    assert_eq!(found["left_over"], json!(["patient_id", "name"]));
    // It does not help that everybody looks alike.
    let data = dir.text("data.ndjson");
    dir.write("data.ndjson", data.repeat(5));
    let found = dir.run(&args).exits(1).says_nothing();
    found.prints(&[
        "VIOLATED: the policy removes patient_id, name, but the file still has them",
        "Do not hand it out",
    ]);
}

#[test]
fn crowded_vertices_draw_a_warning() {
    let dir = Dir::new();
    dir.write(
        "policy.toml",
        policy(
            &["v[].a", "v[].b", "v[].c"].map(|p| attribute(p, "quasi", "")),
            "model = \"kmn\"\nk = 2\nm = 3\nn = 2\n[publish]\nrows = \"united\"",
        ),
    );
    dir.write("data.ndjson", "{\"v\":[{\"a\":1,\"b\":2,\"c\":3}]}\n".repeat(2));
    let args = ["verify", "data.ndjson", "--policy", "policy.toml"];
    dir.run(&args).exits(0).says(&["warning: three or more quasi attributes", "embedded"]);
    dir.run(&[&args[..], &["--set", "privacy.relations=embedded"]].concat()).exits(0).says_nothing();
}

/// The same records without what the policy removes.
fn without_names(data: &str) -> String {
    let without = |line: &str| {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        let fields = record.as_object_mut().expect("an object");
        fields.retain(|key, _| key != "patient_id" && key != "name");
        format!("{record}\n")
    };
    data.lines().map(without).collect()
}
