//! `bosket attack`: whom attackers find before and after, and that nothing else comes out.

use std::path::Path;

use serde_json::{Value, json};

use crate::util::{Dir, attribute, policy};

fn clinic(people: &str) -> Dir {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", people, "--out", "."]).exits(0);
    dir
}

/// The point of one strength.
fn point(side: &Value, m: u32, n: u32) -> Value {
    let points = side["points"].as_array().expect("points");
    points.iter().find(|p| p["m"] == m && p["n"] == n).expect("asked for").clone()
}

#[test]
fn a_publication_hides_whom_the_data_shows() {
    let dir = clinic("300");
    dir.run(&["attack", "--policy", "policy.toml"])
        .exits(0)
        .says(&["there is no publication at", "published.ndjson"])
        .prints(&["before: ", "300 people", "2 values, 1 relation", "nobody else fits", "not computed"]);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let found = dir.run(&["attack", "--policy", "policy.toml", "--json"]).exits(0);
    let found = found.says(&["attacking the policy's publication"]).json();
    let keys: Vec<&String> = found.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["model", "before", "after", "warnings"]);
    let (before, after) = (point(&found["before"], 2, 1), point(&found["after"], 2, 1));
    assert_eq!(
        (&before["exhaustive"], &before["exact"], &before["people"]),
        (&true.into(), &true.into(), &300.into())
    );
    assert!(before["unique"]["value"].as_f64() > Some(0.3), "{before}");
    assert_eq!((&after["below_k"]["value"], &after["unique"]["value"]), (&0.0.into(), &0.0.into()));
    assert!(after["prosecutor"].as_f64() <= Some(0.2), "{after}");
    assert_eq!(after["journalist"], Value::Null);
    assert!(after["marketer"].as_f64() < before["marketer"].as_f64());
    // The curve goes one value further than the policy, where nothing is promised.
    assert!(point(&found["after"], 3, 1)["below_k"]["value"].as_f64() > Some(0.0));
    assert!(found["after"]["embedded"].is_array());
    let text = dir.run(&["attack", "--policy", "policy.toml", "--publication", "published.ndjson"]).exits(0);
    text.says_nothing().prints(&[
        "before / after",
        "Found most easily, before:",
        "Found most easily, after:",
    ]);
}

#[test]
fn values_are_shown_only_when_asked_for() {
    let dir = Dir::new();
    dir.write(
        "policy.toml",
        policy(&["name", "v[].b"].map(|p| attribute(p, "quasi", "")), "model = \"kmn\"\nk = 2\nm = 2\nn = 1"),
    );
    let records: String =
        (0..6).map(|i| format!("{{\"name\":\"secret{i}\",\"v\":[{{\"b\":\"hush{i}\"}}]}}\n")).collect();
    dir.write("data.ndjson", &records);
    let args = ["attack", "data.ndjson", "--policy", "policy.toml"];
    dir.run(&args).exits(0).hides(&["secret", "hush"]).prints(&[
        "record 1: nobody else fits",
        "name",
        "--show-values",
    ]);
    dir.run(&[&args[..], &["--json"]].concat()).exits(0).hides(&["secret", "hush"]);
    dir.run(&[&args[..], &["--show-values"]].concat()).exits(0).prints(&["name  secret0"]);
    let found = dir.run(&[&args[..], &["--show-values", "--json", "--worst", "1"]].concat()).exits(0).json();
    let worst = json!([{"record": 1, "matches": 1, "known": [{"path": "name", "value": "secret0"}], "relations": []}]);
    assert_eq!((&found["before"]["worst"], &found["after"]), (&worst, &Value::Null));
}

#[test]
fn what_relates_two_values_can_be_what_gives_away() {
    let dir = Dir::new();
    let attributes = ["v[].a", "v[].b[]"].map(|p| attribute(p, "quasi", ""));
    dir.write("policy.toml", policy(&attributes, "model = \"kmn\"\nk = 2\nm = 2\nn = 1"));
    let apart = "{\"v\":[{\"a\":1,\"b\":[5]},{\"a\":2,\"b\":[6]}]}\n";
    dir.write(
        "data.ndjson",
        format!("{}{}", apart.repeat(2), "{\"v\":[{\"a\":1,\"b\":[6]},{\"a\":2,\"b\":[5]}]}\n"),
    );
    let args = ["attack", "data.ndjson", "--policy", "policy.toml", "--worst", "1"];
    dir.run(&args).exits(0).prints(&[
        "record 3: nobody else fits",
        "1  v[].a",
        "2  v[].b[]",
        "related: 1 above 2",
    ]);
    let found = dir.run(&[&args[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(point(&found["before"], 2, 0)["unique"]["value"], 0.0);
    assert!(point(&found["before"], 2, 1)["unique"]["value"].as_f64() > Some(0.3));
}

#[test]
fn neither_threads_nor_samples_change_from_run_to_run() {
    let dir = clinic("400");
    for more in [&[][..], &["--sample", "100"], &["--budget", "50"]] {
        let args = [&["attack", "--policy", "policy.toml", "--json", "--m", "1..3"], more].concat();
        let one = dir.run(&[&args[..], &["--threads", "1"]].concat()).exits(0);
        let four = dir.run(&[&args[..], &["--threads", "4"]].concat()).exits(0);
        assert_eq!(one.stdout, four.stdout, "{more:?}");
        let point = point(&one.json()["before"], 3, 1);
        assert_eq!(point["exhaustive"], more.is_empty() || more[0] == "--budget", "{point}");
        assert_eq!(point["exact"], more.first() != Some(&"--budget"), "{point}");
    }
    let text = dir.run(&["attack", "--policy", "policy.toml", "--sample", "100"]).exits(0);
    text.prints(&["a sample of 100 people", "95 % intervals"]);
}

#[test]
fn everybody_was_called_a_sample_if_their_knowledge_was_one() {
    let dir = clinic("300");
    let args = ["attack", "--policy", "policy.toml", "--m", "3", "--n", "0", "--budget", "50"];
    let found = dir.run(&args).exits(0);
    found
        .prints(&["before, 3 values: a sample of everybody's knowledge: matches are upper bounds"])
        .hides(&["a sample of 300 people", "95 % intervals"]);
    let both = dir.run(&[&args[..], &["--sample", "20"]].concat()).exits(0);
    both.prints(&["a sample of 20 people; 95 % intervals", "their knowledge is sampled too"]);
}

/// Places that are told apart take more of a budget, so that the stronger reading may be a sample where the other is none.
#[test]
fn a_sample_for_the_embedded_reading_was_not_called_one() {
    let dir = Dir::new();
    let attributes = ["v[].a", "v[].b", "v[].c"].map(|p| attribute(p, "quasi", ""));
    dir.write(
        "policy.toml",
        policy(&attributes, "model = \"kmn\"\nk = 2\nm = 3\nn = 2\n[publish]\nrows = \"united\""),
    );
    let visit =
        |i: usize| format!("{{\"a\":\"a{}\",\"b\":\"b{}\",\"c\":\"c{}\"}}", i % 2, i / 2 % 2, i / 4 % 2);
    let person = |from: usize| {
        format!(
            "{{\"v\":[{}]}}\n",
            (from..from + 7).chain(from..from + 6).map(visit).collect::<Vec<_>>().join(",")
        )
    };
    dir.write("data.ndjson", (0..8).map(person).collect::<String>());
    let args = ["attack", "data.ndjson", "--policy", "policy.toml", "--m", "3", "--budget", "2000"];
    dir.run(&args)
        .exits(0)
        .prints(&["before, embedded, 3 values, 2 relations: a sample of everybody's knowledge"])
        .hides(&["before, 3 values"]);
}

#[test]
fn an_attacker_who_knows_one_value_and_a_relation_had_no_row() {
    let dir = clinic("100");
    dir.run(&["attack", "--policy", "policy.toml", "--m", "1", "--n", "1"])
        .exits(0)
        .prints(&["\n1 value, 1 relation  "]);
}

#[test]
fn whole_records_and_sensitive_values() {
    let dir = Dir::new();
    let attributes = [attribute("a", "quasi", ""), attribute("s", "sensitive", "")];
    dir.write("policy.toml", policy(&attributes, "model = \"l-diversity\"\nk = 2\nl = 2"));
    dir.write("data.csv", "a,s\nx,1\nx,2\ny,3\ny,3\nz,4\n");
    let found = dir.run(&["attack", "data.csv", "--policy", "policy.toml", "--json"]).exits(0).json();
    let all = &found["before"]["points"][0];
    assert_eq!((&all["m"], &all["n"], &all["unique"]["value"]), (&Value::Null, &Value::Null, &0.2.into()));
    assert_eq!(all["confidence"], json!({"highest": 1.0, "mean": 0.8}));
    dir.run(&["attack", "data.csv", "--policy", "policy.toml"])
        .exits(0)
        .prints(&["everything quasi", "sensitive"]);
}

#[test]
fn sets() {
    let dir = Dir::new();
    dir.write(
        "policy.toml",
        "version = 1\n[source]\nformat = \"transactions\"\n[[attribute]]\npath = \"item\"\nrole = \"quasi\"\n\
         [privacy]\nmodel = \"km\"\nk = 2\nm = 2\n",
    );
    dir.write("data.txt", "a b\na b\na c\nb c\nb c\n");
    let found = dir
        .run(&["attack", "data.txt", "--policy", "policy.toml", "--json", "--show-values"])
        .exits(0)
        .json();
    assert_eq!(point(&found["before"], 1, 0)["below_k"]["value"], 0.0);
    assert_eq!(point(&found["before"], 2, 0)["unique"]["value"], 0.2);
    let known = json!([{"path": "item", "value": "a"}, {"path": "item", "value": "c"}]);
    assert_eq!(
        (&found["before"]["worst"][0]["record"], &found["before"]["worst"][0]["known"]),
        (&3.into(), &known)
    );
    let piped = dir.bash("\"$BOSKET\" attack - --policy policy.toml < data.txt").exits(0);
    piped.prints(&["5 people"]);
}

#[test]
fn dissected_publications() {
    let dir = Dir::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/dissect");
    for name in ["policy.toml", "private.xml", "private.xsd", "icd.csv", "published.xml"] {
        dir.write(name, std::fs::read(golden.join(name)).expect("a golden file"));
    }
    let found = dir.run(&["attack", "--policy", "policy.toml", "--json"]).exits(0).json();
    let (before, after) = (&found["before"]["points"][0], &found["after"]["points"][0]);
    assert_eq!((&before["unique"]["value"], &before["confidence"]["highest"]), (&1.0.into(), &1.0.into()));
    assert_eq!((&after["below_k"]["value"], &after["confidence"]["highest"]), (&0.0.into(), &0.25.into()));
    assert_eq!((&found["after"]["records"], &found["after"]["k"]), (&26.into(), &4.into()));
    dir.run(&["attack", "--policy", "policy.toml"]).exits(0).prints(&["whose sensitive value is whose"]);
}

#[test]
fn what_is_not_counted_is_said() {
    let dir = Dir::new();
    let attributes = [attribute("v[].a", "quasi", ""), attribute("v[].b", "quasi", "")];
    dir.write(
        "policy.toml",
        policy(&attributes, "model = \"kmn\"\nk = 2\nm = 2\nn = 1\nguard = true\nnegative = [\"x\"]"),
    );
    dir.write("data.ndjson", "{\"v\":[{\"a\":\"x\",\"b\":1}]}\n".repeat(2));
    let run = dir.run(&["attack", "data.ndjson", "--policy", "policy.toml"]).exits(0);
    run.says(&["absence as knowledge", "put relations together again", "bosket verify"]);
}

#[test]
fn bad_usage_and_bad_data() {
    let dir = Dir::new();
    let quasi = [attribute("a", "quasi", "")];
    dir.write("policy.toml", policy(&quasi, "model = \"kmn\"\nk = 2\nm = 2\nn = 1"));
    dir.write("data.ndjson", "{\"a\":\"secret\"}\n");
    dir.write("other.ndjson", "{\"b\":\"secret\"}\n");
    dir.write("empty.ndjson", "{}\n");
    dir.write("broken.ndjson", "{\"a\":\n");
    let run =
        |args: &[&str]| dir.run(&[&["attack", "--policy", "policy.toml"], args].concat()).hides(&["secret"]);
    run(&["data.ndjson", "--m", "0"]).exits(2).says(&["from 1 to 11 values"]);
    run(&["data.ndjson", "--m", "12"]).exits(2).says(&["from 1 to 11 values"]);
    run(&["data.ndjson", "--m", "many"]).exits(2).says(&["1..4"]);
    run(&["data.ndjson", "--sample", "0"]).exits(2);
    run(&["-", "--publication", "-"]).exits(2).says(&["only once"]);
    run(&["other.ndjson"]).exits(2).says(&["does not say what this attribute is"]);
    run(&["empty.ndjson"]).exits(2).says(&["nothing to know"]);
    run(&["broken.ndjson"]).exits(3);
    run(&["missing.ndjson"]).exits(3);
    run(&[]).exits(2).says(&["source"]);
    run(&["data.ndjson", "--publication", "broken.ndjson"]).exits(3);
    dir.write("none.toml", "version = 1\n[[attribute]]\npath = \"a\"\nrole = \"quasi\"\n");
    dir.run(&["attack", "data.ndjson", "--policy", "none.toml"]).exits(2).says(&["[privacy]"]);
}

#[test]
fn labels_are_looked_behind() {
    let dir = clinic("600");
    dir.forget_attackers("policy.toml");
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let guess = ["attack", "--policy", "policy.toml", "--guess"];
    dir.run(&guess).exits(0).prints(&[
        "what the labels of",
        "published as something more general",
        "by ≥ 90 %",
        "Labels that tell most:",
        "(values with --show-values)",
        "sure by 90 %",
        "by frequency alone",
    ]);
    // Rare genders are in the data; what hides them may be named, they may not.
    let told = dir.run(&[&guess[..], &["--json"]].concat()).exits(0);
    let found = told.json()["guess"].clone();
    assert!(!found.to_string().contains("diverse"), "{found}");
    let gender = &found["attributes"][0];
    assert_eq!((gender["path"].as_str(), gender["cells"].as_u64()), (Some("gender"), Some(600)));
    let star = gender["largest"].clone();
    assert_eq!(star["label"], "*");
    assert!(star["share"].as_f64() > Some(0.9) && star["common"].as_f64() < Some(0.1), "{star}");
    assert_eq!(gender["nine_tenths"]["told"], gender["generalized"]);
    let sum = |key: &str| -> u64 {
        let own = found["attributes"].as_array().expect("attributes").iter();
        own.map(|own| own[key].as_u64().expect("a number")).sum()
    };
    assert_eq!(
        (found["generalized"].as_u64(), found["attacked"].as_u64()),
        (Some(sum("generalized")), Some(sum("attacked")))
    );
    let restored = |of: &Value| (of["cells"].as_u64().expect("cells"), of["right"].as_u64().expect("right"));
    let (cells, right) = restored(&found["restored"]);
    assert!(cells > 0 && 10 * right >= 9 * cells, "{found}");
    assert_eq!(restored(&found["by_frequency"]), (0, 0));
    let shown = dir.run(&[&guess[..], &["--json", "--show-values"]].concat()).exits(0).json();
    assert_eq!(shown["guess"]["attributes"][0]["largest"]["value"], "diverse");
    // The report says the same in a sentence and a picture.
    let html = dir.text("report.html");
    assert!(html.contains("What the labels give away") && html.contains("id=\"guess-t\""));
}

#[test]
fn one_cut_for_all_tells_nothing_that_is_not_common() {
    let dir = clinic("600");
    let policy = dir.text("policy.toml").replace("recoding = \"local\"", "recoding = \"global\"");
    dir.write("policy.toml", policy);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let found = dir.run(&["attack", "--policy", "policy.toml", "--guess", "--json"]).exits(0).json();
    let found = &found["guess"];
    assert!(found["generalized"].as_u64() > Some(0), "{found}");
    assert_eq!((found["half"]["told"].as_u64(), found["restored"]["cells"].as_u64()), (Some(0), Some(0)));
}

#[test]
fn nobody_knows_what_labels_hide_without_a_mapping() {
    let dir = clinic("100");
    let policy = dir.text("policy.toml").replace("mapping = \"private/mapping.csv\"\n", "");
    dir.write("policy.toml", policy);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let guess = ["attack", "--policy", "policy.toml", "--guess"];
    dir.run(&guess).exits(2).says(&["private mapping", "--mapping"]);
    dir.run(&[&guess[..], &["--m", "2"]].concat()).exits(2);
    // While it is made it is known which record becomes which, later it is not.
    assert!(dir.text("report.html").contains("What the labels give away"));
    dir.run(&["report", "policy.toml", "--out", "later.html"]).exits(0);
    assert!(!dir.text("later.html").contains("What the labels give away"));
}

#[test]
fn people_who_were_held_out_are_a_control_group() {
    let dir = clinic("500");
    let all = dir.text("data.ndjson");
    let (held, kept): (Vec<_>, Vec<_>) = all.lines().enumerate().partition(|(at, _)| at % 5 == 0);
    let text =
        |lines: Vec<(usize, &str)>| lines.iter().map(|(_, line)| format!("{line}\n")).collect::<String>();
    dir.write("control.ndjson", text(held));
    dir.write("data.ndjson", text(kept));
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let guess = ["attack", "--policy", "policy.toml", "--guess", "--control", "control.ndjson"];
    dir.run(&guess).exits(0).prints(&[
        "Singling out",
        "Linking two parts",
        "Inferring gender",
        "control group",
    ]);
    let found = dir.run(&[&guess[..], &["--json"]].concat()).exits(0).json();
    let questions = &found["questions"];
    assert_eq!(
        (&questions["linked"]["people"]["tries"], &questions["linked"]["control"]["tries"]),
        (&400.into(), &100.into())
    );
    assert_eq!(questions["inferred"].as_array().map(Vec::len), Some(7));
    for risk in [&questions["singled_out"]["risk"], &questions["linked"]["risk"]] {
        assert!(
            risk["low"].as_f64() <= risk["value"].as_f64() && risk["value"].as_f64() <= risk["high"].as_f64(),
            "{risk}"
        );
    }
    // A control group is for guesses only.
    dir.run(&["attack", "--policy", "policy.toml", "--control", "control.ndjson"]).exits(2);
}
