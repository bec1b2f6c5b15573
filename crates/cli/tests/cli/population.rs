//! `bosket attack --population`: journalist risk, and what is refused rather than guessed.

use std::path::Path;

use serde_json::{Value, json};

use crate::util::{Dir, attribute, policy};

/// Journalist risk at one strength.
fn journalist(side: &Value, m: u32, n: u32) -> Value {
    let points = side["points"].as_array().expect("points");
    points.iter().find(|p| p["m"] == m && p["n"] == n).expect("asked for")["journalist"].clone()
}

fn highest(point: &Value) -> f64 {
    point["highest"].as_f64().expect("a number")
}

#[test]
fn a_register_hides_whom_the_data_shows() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "600", "--out", "."]).exits(0);
    let all = dir.text("data.ndjson");
    dir.write("register.ndjson", &all);
    dir.write("data.ndjson", all.lines().take(300).map(|line| format!("{line}\n")).collect::<String>());
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let args = ["attack", "--policy", "policy.toml", "--population", "register.ndjson"];
    let found = dir.run(&[&args[..], &["--json"]].concat()).exits(0).json();
    let keys: Vec<&String> = found.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["model", "before", "after", "warnings", "population"]);
    assert_eq!(found["population"], json!({"data": "register.ndjson", "records": 600}));
    for (m, n) in [(1, 0), (2, 0), (2, 1), (3, 1)] {
        let (before, after) = (journalist(&found["before"], m, n), journalist(&found["after"], m, n));
        assert_eq!((&before["population"], &before["people"]), (&600.into(), &300.into()));
        assert_eq!((&before["absent"]["value"], &after["absent"]["value"]), (&0.0.into(), &0.0.into()));
        assert!(highest(&after) <= highest(&before), "{before} {after}");
        assert!(after["mean"].as_f64() < before["mean"].as_f64(), "{before} {after}");
    }
    // At least five in the data, so at least five in the population.
    assert!(highest(&journalist(&found["after"], 2, 1)) <= 0.2);
    assert!(found["after"]["embedded"][0]["journalist"].is_object());
    let text = dir.run(&args).exits(0);
    text.prints(&[
        "In the population: register.ndjson, 600 people",
        "not in it",
        "journalist risk, the largest",
    ])
    .hides(&["not computed", "fits nobody there"]);
    let one = dir.run(&[&args[..], &["--json", "--threads", "1"]].concat()).exits(0);
    assert_eq!(one.json(), found);
    // Sampled people are looked at one by one.
    let few = dir.run(&[&args[..], &["--json", "--sample", "300"]].concat()).exits(0).json();
    assert_eq!(journalist(&few["after"], 2, 1), journalist(&found["after"], 2, 1));
    dir.run(&[&args[..], &["--sample", "50"]].concat()).exits(0).prints(&["a sample of 50 people"]);
    // Where everybody is in the data, a journalist is a prosecutor.
    let own = ["attack", "--policy", "policy.toml", "--population", "data.ndjson", "--json"];
    let found = dir.run(&own).exits(0).json();
    for point in found["before"]["points"].as_array().expect("points") {
        assert_eq!(
            (&point["journalist"]["highest"], &point["journalist"]["mean"]),
            (&point["prosecutor"], &point["marketer"])
        );
    }
}

/// A policy for a table of ages and towns, of which a publication has been made.
fn table(dir: &Dir) {
    let age = "hierarchy = { build = \"interval\", min = 0, max = 100, widths = [10] }";
    let town = "hierarchy = 'towns.csv'";
    let attributes =
        [attribute("age", "quasi", age), attribute("town", "quasi", town), attribute("ill", "sensitive", "")];
    dir.write("policy.toml", policy(&attributes, "model = \"k-anonymity\"\nk = 2"));
    dir.write("towns.csv", "Bonn;West;*\nKöln;West;*\nJena;East;*\n");
    dir.write("data.csv", "age,town,ill\n31,Bonn,a\n35,Köln,b\n52,Jena,c\n58,Jena,d\n");
    dir.write("published.csv", "age,town,ill\n30-39,West,a\n30-39,West,b\n50-59,Jena,c\n50-59,Jena,d\n");
}

#[test]
fn whole_records_are_looked_up_under_what_is_published() {
    let dir = Dir::new();
    table(&dir);
    // No sensitive column is needed, and values may be ones that the data does not have.
    dir.write(
        "register.csv",
        "town,age\nBonn,31\nKöln,35\nJena,52\nJena,58\nKöln,39\nBonn,40\nJena,50\nJena,52\n",
    );
    let args = ["attack", "data.csv", "--policy", "policy.toml", "--publication", "published.csv"];
    let args = [&args[..], &["--population", "register.csv", "--json"]].concat();
    let found = dir.run(&args).exits(0).json();
    let whole = |side: &str| found[side]["points"][0]["journalist"].clone();
    let share = |value: f64| json!({"value": value, "low": value, "high": value});
    assert_eq!(
        whole("before"),
        json!({"population": 8, "people": 4, "exhaustive": true, "exact": true, "absent": share(0.0),
               "unique": share(0.75), "below_k": share(0.75), "highest": 1.0, "mean": 0.875})
    );
    // Three people in the thirties in the west, four in the fifties in Jena.
    let mean = (2.0 / 3.0 + 2.0 / 4.0) / 4.0;
    assert_eq!((&whole("after")["highest"], &whole("after")["below_k"]), (&(1.0 / 3.0).into(), &share(0.0)));
    assert!((whole("after")["mean"].as_f64().expect("a number") - mean).abs() < 1e-12);
    // Fewer values than all are not looked up.
    assert_eq!(found["after"]["points"][1]["journalist"], Value::Null);
}

#[test]
fn whoever_is_not_in_the_population_is_not_safe() {
    let dir = Dir::new();
    table(&dir);
    dir.write("register.csv", "age,town\n35,Köln\n52,Jena\n58,Jena\n");
    let args = ["attack", "data.csv", "--policy", "policy.toml", "--population", "register.csv"];
    let found = dir.run(&[&args[..], &["--json"]].concat()).exits(0).json();
    let whole = &found["before"]["points"][0]["journalist"];
    assert_eq!((&whole["absent"]["value"], &whole["below_k"]["value"]), (&0.25.into(), &1.0.into()));
    assert_eq!((&whole["highest"], &whole["mean"]), (&1.0.into(), &1.0.into()));
    dir.run(&args).exits(0).prints(&["25.0 %", "fits nobody there", "risk of 100 %"]).hides(&["Bonn"]);
    dir.write("register.csv", "age,town\n");
    dir.run(&args).exits(3).says(&["holds no record", "register.csv"]);
}

#[test]
fn what_a_register_lacks_or_writes_otherwise_is_refused() {
    let dir = Dir::new();
    table(&dir);
    let run = |register: &str, more: &[&str]| {
        dir.write("register.csv", register);
        let args = ["attack", "data.csv", "--policy", "policy.toml", "--population", "register.csv"];
        dir.run(&[&args[..], more].concat())
    };
    run("age,town\n31,Secretburg\n31,Hushtown\n", &[])
        .exits(3)
        .says(&["2 distinct values are not in the hierarchy", "register.csv", "town", "--show-values"])
        .hides(&["Secretburg", "Hushtown"]);
    run("age,town\n31,Secretburg\n", &["--show-values"]).exits(3).says(&["Secretburg"]);
    run("age,town,shoe\n31,Bonn,44\n", &[]).exits(2).says(&["does not say what this attribute is", "shoe"]);
    run("ill\na\n", &[]).exits(3).says(&["does not have this quasi attribute", "age", "town"]);
    let broken = ["--publication", "broken.csv"];
    dir.write("broken.csv", "age,town,ill\n30-39,Elsewhere,a\n30-39,West,b\n");
    run("age,town\n31,Bonn\n", &broken)
        .exits(3)
        .says(&["broken.csv", "not in the hierarchy"])
        .hides(&["Elsewhere"]);
    dir.run(&["attack", "-", "--policy", "policy.toml", "--population", "-"]).exits(2).says(&["only once"]);
    dir.run(&["attack", "data.csv", "--policy", "policy.toml", "--population", "none.csv"]).exits(3);
}

#[test]
fn dissected_data_has_no_journalist_risk() {
    let dir = Dir::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/dissect");
    for name in ["policy.toml", "private.xml", "private.xsd", "icd.csv", "published.xml"] {
        dir.write(name, std::fs::read(golden.join(name)).expect("a golden file"));
    }
    dir.run(&["attack", "--policy", "policy.toml", "--population", "private.xml"])
        .exits(2)
        .says(&["makes no sense where data is dissected", "leave `--population` out"]);
}

/// Items that are grouped in the order of the data's own have no place for others.
#[test]
fn groups_of_the_datas_own_items_cover_no_others() {
    let dir = Dir::new();
    dir.write(
        "policy.toml",
        "version = 1\n[source]\nformat = \"transactions\"\n[[attribute]]\npath = \"item\"\nrole = \"quasi\"\n\
         [privacy]\nmodel = \"km\"\nk = 2\nm = 2\n",
    );
    dir.write("data.txt", "1 2\n1 2\n3 4\n5 6\n");
    dir.write("published.txt", "1 2\n1 2\ngroup-1\ngroup-1\n");
    dir.write("register.txt", "1 2\n1 2\n3 4\n5 6\n3 4 77\n1 3\n");
    let args = ["attack", "data.txt", "--policy", "policy.toml", "--population", "register.txt"];
    let found = dir.run(&[&args[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(journalist(&found["before"], 2, 0)["unique"]["value"], 0.25);
    assert_eq!(journalist(&found["before"], 2, 0)["below_k"]["value"], 0.25);
    dir.run(&[&args[..], &["--publication", "published.txt"]].concat())
        .exits(3)
        .says(&[
            "a value is not in the hierarchy",
            "built over the values of the data alone",
            "bosket hierarchy build",
        ])
        .hides(&["77"]);
    dir.write("register.txt", "1 2\n1 2\n3 4\n5 6\n3 4\n1 3\n");
    let found = dir.run(&[&args[..], &["--publication", "published.txt", "--json"]].concat()).exits(0).json();
    assert_eq!(journalist(&found["after"], 2, 0)["absent"]["value"], 0.0);
}
