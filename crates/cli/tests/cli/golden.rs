//! The worked examples beside the repository, through the command.

use bosket_testkit::shared::shared_json;
use serde_json::json;

use crate::util::{Dir, attribute, golden, policy};

const TREES: [&str; 3] =
    ["visits[].hospital", "visits[].diagnoses[].disease", "visits[].diagnoses[].treatments[].treatment"];

fn trees() -> Dir {
    let dir = Dir::new();
    // Some of the files number their records.
    let id = attribute("id", "insensitive", "acknowledge = true");
    let attributes: Vec<String> = TREES.map(|p| attribute(p, "quasi", "")).into_iter().chain([id]).collect();
    dir.write("policy.toml", policy(&attributes, "model = \"kmn\"\nk = 2\nm = 2\nn = 1"));
    dir
}

#[test]
fn verdicts_on_trees() {
    let Some(expected) = shared_json("golden/kmn/expected.json") else {
        return;
    };
    let dir = trees();
    for case in expected["verify"].as_array().expect("a list") {
        let file =
            golden(&format!("kmn/{}", case["file"].as_str().expect("a name"))).expect("beside the others");
        let sets: Vec<String> =
            ["k", "m", "n"].iter().map(|key| format!("--set=privacy.{key}={}", case[key])).collect();
        for reading in ["pair", "embedded"] {
            let reading = format!("--set=privacy.relations={reading}");
            let mut args = vec!["verify", &file, "--foreign", "--policy", "policy.toml", "--json", &reading];
            args.extend(sets.iter().map(String::as_str));
            let holds = case["holds"].as_bool().expect("a verdict");
            let found = dir.run(&args).exits(i32::from(!holds)).json();
            assert_eq!(found["holds"], holds, "{case}");
            if let Some(witness) = case.get("witness") {
                let mut values: Vec<_> = found["witness"]["values"]
                    .as_array()
                    .expect("a list")
                    .iter()
                    .map(|v| v["value"].clone())
                    .collect();
                values.sort_by_key(ToString::to_string);
                assert_eq!(json!(values), witness["values"]);
                assert_eq!(found["witness"]["relations"], witness["relations"]);
                assert_eq!(found["witness"]["support"], witness["support"]);
            }
        }
    }
}

#[test]
fn the_guard_sees_what_can_be_put_back() {
    let Some(file) = golden("kmn/example7.ndjson") else {
        return;
    };
    let args =
        ["verify", &file, "--foreign", "--policy", "policy.toml", "--json", "--set", "privacy.guard=true"];
    let found = trees().run(&args).exits(1).json();
    let values = json!([{"path": TREES[1], "value": "Gastritis"}, {"path": TREES[2], "value": "Medicine"}]);
    assert_eq!(
        found["witness"],
        json!({"values": values, "relations": [[0, 1]], "support": 1, "records": [4]})
    );
}

#[test]
fn sets_of_figure_2() {
    let (Some(file), Some(expected)) = (golden("km/fig2.dat"), shared_json("golden/km/expected.json")) else {
        return;
    };
    let dir = Dir::new();
    let source = "[source]\nformat = \"transactions\"\npath = \"fig2.dat\"";
    dir.write(
        "policy.toml",
        policy(&[attribute("item", "quasi", "")], &format!("model = \"km\"\nk = 2\nm = 2\n{source}")),
    );
    let found = dir.run(&["verify", &file, "--foreign", "--policy", "policy.toml", "--json"]).exits(1).json();
    let values = json!([{"path": "item", "value": "a1"}, {"path": "item", "value": "a2"}]);
    assert_eq!(found["witness"], json!({"values": values, "relations": [], "support": 1, "records": [4]}));
    dir.run(&["verify", &file, "--foreign", "--policy", "policy.toml", "--set", "privacy.m=1"]).exits(0);
    let published: Vec<&str> =
        expected["published"].as_array().expect("a list").iter().filter_map(|l| l.as_str()).collect();
    dir.write("published.dat", published.join("\n"));
    dir.run(&["verify", "published.dat", "--foreign", "--policy", "policy.toml"]).exits(0);
    // Each stated support is exactly what the verifier counts.
    for (set, support) in
        expected["supports"].as_object().expect("a table").iter().filter(|(set, _)| !set.contains(['A', 'B']))
    {
        let support = support.as_u64().expect("a number");
        let k = format!("privacy.k={}", support + 1);
        let found = dir
            .run(&["verify", &file, "--foreign", "--policy", "policy.toml", "--json", "--set", &k])
            .exits(1)
            .json();
        assert!(found["witness"]["support"].as_u64() <= Some(support), "{set}");
    }
}

fn students() -> Dir {
    let dir = Dir::new();
    let quasi = ["major", "yob", "takes[].class"].map(|p| attribute(p, "quasi", ""));
    let sensitive = ["gpa", "takes[].grade"].map(|p| attribute(p, "sensitive", ""));
    dir.write("k.toml", policy(&[&quasi[..], &sensitive].concat(), "model = \"k-anonymity\"\nk = 2"));
    dir.write("l.toml", policy(&[&quasi[..], &sensitive].concat(), "model = \"l-diversity\"\nl = 2"));
    dir
}

#[test]
fn publications_to_refuse() {
    let dir = students();
    for name in ["refuse_separate_tables.ndjson", "refuse_universal_relation.ndjson"] {
        let Some(file) = golden(&format!("clusters/{name}")) else {
            return;
        };
        let found = dir.run(&["verify", &file, "--foreign", "--policy", "k.toml", "--json"]).exits(1).json();
        assert_eq!(found["witness"]["support"], 1, "{name}");
    }
    let file = golden("clusters/refuse_homogeneous.ndjson").expect("beside the others");
    dir.run(&["verify", &file, "--foreign", "--policy", "k.toml"]).exits(0).prints(&["HOLDS"]);
    for set in ["privacy.siblings=pooled", "privacy.siblings=each", "privacy.diversity=entropy"] {
        let found = dir
            .run(&["verify", &file, "--foreign", "--policy", "l.toml", "--json", "--set", set])
            .exits(1)
            .json();
        assert_eq!(
            found["witness"]["sensitive"],
            json!({"path": "takes[].grade", "value": "A-", "share": 1.0}),
            "{set}"
        );
    }
}

#[test]
fn the_students_are_two_anonymous_only_when_published() {
    let (Some(file), Some(expected)) =
        (golden("clusters/students.ndjson"), shared_json("golden/clusters/expected.json"))
    else {
        return;
    };
    let dir = Dir::new();
    let quasi = ["takes[].course", "takes[].books[].book"].map(|p| attribute(p, "quasi", ""));
    let text = policy(&quasi, "model = \"k-anonymity\"\nk = 2");
    dir.write("policy.toml", text.replace("version = 1\n", "version = 1\nundeclared = \"drop\"\n"));
    dir.run(&["verify", &file, "--foreign", "--policy", "policy.toml"]).exits(1);
    let published = &expected["two_anonymization"];
    let lines: String =
        ["S1_S2", "S3_S4"].iter().map(|class| format!("{0}\n{0}\n", published[class])).collect();
    dir.write("published.ndjson", lines);
    dir.run(&["verify", "published.ndjson", "--foreign", "--policy", "policy.toml"]).exits(0).says_nothing();
    dir.run(&["verify", "published.ndjson", "--foreign", "--policy", "policy.toml", "--set", "privacy.k=3"])
        .exits(1);
}
