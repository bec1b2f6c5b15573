//! JSON objects whose keys are data: classes of entries, published as arrays.

use bosket_io::homes::Homes;
use bosket_io::{Layout, Loaded};
use bosket_model::{Failure, Result};
use serde_json::{Value, json};

use crate::common::{read_as, write};

fn read_maps(maps: &[&str], data: &[Value]) -> Result<Loaded> {
    let homes = Box::new(Homes::of_maps(maps.iter().copied()));
    let text: String = data.iter().map(|record| format!("{record}\n")).collect();
    read_as("ndjson", text, &Layout { homes, ..Layout::default() })
}

fn fails(maps: &[&str], data: &[Value]) -> Failure {
    read_maps(maps, data).map(|_| ()).expect_err("must not be accepted")
}

fn published(loaded: &Loaded) -> Vec<Value> {
    let text = String::from_utf8(write(loaded)).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn paths(loaded: &Loaded) -> Vec<&str> {
    loaded.data.schema().attributes().map(|(_, a)| a.path.as_str()).collect()
}

#[test]
fn keys_are_values_and_the_publication_is_an_array() {
    let data = [
        json!({"n": 1, "tiers": {"0df078": {"tier": "Bronze", "on": true}, "9bf23c": {"tier": "Gold"}}}),
        json!({"n": 2, "tiers": {}}),
    ];
    let loaded = read_maps(&["tiers{}"], &data).expect("readable");
    assert_eq!(paths(&loaded), ["n", "tiers{}.{key}", "tiers{}.tier", "tiers{}.on"]);
    let expected = [
        json!({"n": 1, "tiers": [{"key": "0df078", "tier": "Bronze", "on": true}, {"key": "9bf23c", "tier": "Gold"}]}),
        json!({"n": 2}),
    ];
    assert_eq!(published(&loaded), expected);
    // What was published is read as the same.
    let again = read_maps(&["tiers{}"], &expected).expect("readable");
    assert_eq!((paths(&again), write(&again)), (paths(&loaded), write(&loaded)));
}

#[test]
fn what_is_no_object_is_a_value() {
    let data = [
        json!({"a": {"scores": {"x": 3, "y": null}}, "lists": {"p": [1, 2]}}),
        json!({"when": {"q": {"$date": "2013-04-17T10:00:00Z"}}, "deep": {"r": {"s": 4, "t": 5}}}),
    ];
    let maps = ["a.scores{}", "lists{}", "when{}", "deep{}.{value}{}"];
    let loaded = read_maps(&[&maps[..], &["deep{}"]].concat(), &data).expect("readable");
    assert_eq!(
        paths(&loaded),
        [
            "a.scores{}.{key}",
            "a.scores{}.{value}",
            "lists{}.{key}",
            "lists{}.{value}[]",
            "when{}.{key}",
            "when{}.{value}",
            "deep{}.{key}",
            "deep{}.{value}{}.{key}",
            "deep{}.{value}{}.{value}"
        ]
    );
    let first = json!({
        "a": {"scores": [{"key": "x", "value": 3}, {"key": "y"}]},
        "lists": [{"key": "p", "value": [1, 2]}],
    });
    assert!(published(&loaded).contains(&first), "{:?}", published(&loaded));
}

#[test]
fn an_entry_has_one_key() {
    let own = fails(&["a{}"], &[json!({"a": {"x": {"key": 1}}})]);
    assert!(own.to_string().contains("a{}.{key}") && own.to_string().contains("twice"), "{own}");
    let homes = Box::new(Homes::of_maps(["a{}"]));
    let twice =
        read_as("ndjson", r#"{"a": {"Quetzal": 1, "Quetzal": 2}}"#, &Layout { homes, ..Layout::default() });
    let twice = twice.map(|_| ()).expect_err("a key twice").to_string();
    assert!(twice.contains("twice") && !twice.contains("Quetzal"), "{twice}");
}
