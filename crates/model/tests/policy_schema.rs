//! The published schema and reference say what the reader checks.

use bosket_model::policy::{Policy, json_schema, reference};
use bosket_testkit::json_schema::valid;
use serde_json::{Value, json};

fn toml(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(k, v)| format!("{} = {}", json!(k), toml(v))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        scalar => scalar.to_string(),
    }
}

/// What the reader says about the keys of a policy that is given as JSON.
fn accepted(policy: &Value) -> Result<(), Vec<String>> {
    let text: String = policy
        .as_object()
        .expect("a policy is a table")
        .iter()
        .map(|(key, value)| format!("{} = {}\n", json!(key), toml(value)))
        .collect();
    Policy::parse("p", &text, &[])
        .map(|_| ())
        .map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

fn base(model: &str) -> Value {
    let privacy = match model {
        "km" => json!({ "model": "km", "k": 2, "m": 2 }),
        "kmn" => json!({ "model": "kmn", "k": 2, "m": 2, "n": 1 }),
        "k-anonymity" => json!({ "model": "k-anonymity", "k": 2 }),
        "l-diversity" => json!({ "model": "l-diversity", "l": 2 }),
        "t-closeness" => json!({ "model": "t-closeness", "t": 0.2 }),
        "beta-likeness" => json!({ "model": "beta-likeness", "beta": 2 }),
        "anatomy" | "delta" => json!({ "model": model, "group_size": 3 }),
        _ => json!({ "model": "none" }),
    };
    json!({
        "version": 1,
        "source": { "format": "csv", "path": "in.csv" },
        "attribute": [
            { "path": "a", "role": "quasi" },
            { "path": "b", "role": "sensitive", "hierarchy": "b.csv" },
        ],
        "privacy": privacy,
        "method": {},
        "publish": { "path": "out.csv" },
    })
}

const MODELS: [&str; 9] =
    ["km", "kmn", "k-anonymity", "l-diversity", "t-closeness", "beta-likeness", "anatomy", "delta", "none"];

/// Values that fit some keys and not others.
fn values() -> Vec<Value> {
    let builders = [
        json!({ "build": "interval", "min": 0, "max": 9, "widths": [1, 2] }),
        json!({ "build": "interval", "min": 0, "max": 9 }),
        json!({ "build": "interval", "min": 0, "max": 9, "widths": [1], "clamp": "top" }),
        json!({ "build": "interval", "min": 0, "max": 9, "widths": [0] }),
        json!({ "build": "date", "min": "2012-01-01", "max": "2013-01-01" }),
        json!({ "build": "date", "min": "2012", "max": "2013-01-01" }),
        json!({ "build": "date", "min": "2012-01-01", "max": "2013-01-01", "levels": ["day"] }),
        json!({ "build": "prefix" }),
        json!({ "build": "prefix", "fanout": 3 }),
        json!({ "build": "fanout", "fanout": 3 }),
        json!({ "build": "fanout", "fanout": 1 }),
        json!({ "build": "icd10" }),
        json!({ "build": "atc" }),
        json!({ "build": "atc", "table": "t.csv" }),
        json!({ "build": "order", "groups": ["a", ["b", ["c"]], { "values": ["d"] }] }),
        json!({ "build": "order", "groups": ["a", { "label": "d" }] }),
        json!({ "build": "order", "groups": [] }),
        json!({ "build": "range" }),
        json!({ "build": "range", "min": 0, "max": 9.5 }),
        json!({ "build": "range", "min": 0, "max": 9, "widths": [3] }),
        json!({ "min": 3 }),
    ];
    let mut values = vec![
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(4_294_967_296_u64),
        json!(0.5),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!(["x"]),
        json!(["x", "y"]),
        json!([["x", "y"]]),
        json!([["x"]]),
        json!([1, 2]),
        json!([1]),
        json!({}),
        json!({ "a": 1 }),
        json!({ "a": 0 }),
        json!([{}]),
        json!([1, "x"]),
    ];
    values.extend(builders);
    let words = "refuse drop ndjson json xml csv parquet transactions sqlite postgres identifying quasi sensitive \
                 insensitive key pseudonym pair embedded separate chain keep frequency entropy pooled each best acs gcs ocs aa \
                 oa da lra vpa partition clustree ctoff miracle miraclex dmiracle bitmap blocks anatomy delta plain \
                 rpd rpd_a lm value subtree ancestor lsap grd x";
    values.extend(words.split_whitespace().map(|w| json!(w)));
    values
}

/// Messages about what keys mean together; the schema cannot say these.
fn is_rule(message: &str) -> bool {
    const RULES: [&str; 23] = [
        "this is not the address of a database",
        "cannot be gathered by person",
        "needs an attribute with role",
        "exactly one quasi",
        "`privacy.l` needs",
        "`privacy.sensitive` needs",
        "has no tables",
        "one attribute only",
        "separates two sides",
        "is not a declared attribute",
        "follow itself",
        "is the same file as",
        "have no relations",
        "declared twice",
        "needs a hierarchy on",
        "\"range\" is not for model",
        "rows that are united",
        "`source.where` cannot be read",
        "taken apart while they are read",
        "may have several values",
        "`shift` ",
        "another bound than",
        "sides of a record are published apart",
    ];
    RULES.iter().any(|r| message.contains(r))
}

/// Puts every value at every key under every model, and asks both.
#[test]
fn schema_and_reader_agree_on_every_key() {
    let schema = json_schema();
    let (mut yes, mut no) = (0, 0);
    for model in MODELS {
        let good = base(model);
        assert!(valid(&schema, &schema, &good), "{good}");
        let objects = ["", "/source", "/attribute/0", "/privacy", "/method", "/publish"];
        for at in objects {
            let pointer = at.replace("/0", "");
            let described = if at.is_empty() {
                &schema["properties"]
            } else {
                let section = &schema["properties"][&pointer[1..]];
                section.get("items").map_or(&section["properties"], |i| &i["properties"])
            };
            let keys = described.as_object().expect("keys").keys().map(String::as_str).chain(["nonsense"]);
            for key in keys.filter(|k| !(at == "/privacy" && *k == "model")) {
                for value in values() {
                    let mut policy = good.clone();
                    policy.pointer_mut(at).expect("it is there")[key] = value.clone();
                    let by_schema = valid(&schema, &schema, &policy);
                    let by_reader = match accepted(&policy) {
                        Ok(()) => true,
                        Err(errors) => errors.iter().all(|e| e.contains(": warning: ") || is_rule(e)),
                    };
                    assert_eq!(
                        by_schema,
                        by_reader,
                        "{model}: {at}/{key} = {value}: {:?}",
                        accepted(&policy)
                    );
                    if by_schema { yes += 1 } else { no += 1 }
                }
            }
        }
    }
    assert!(yes > 1000 && no > 10_000, "{yes} {no}: the test must see both");
}

#[test]
fn a_missing_key_is_missed_by_both() {
    let schema = json_schema();
    for model in MODELS {
        let good = base(model);
        for (at, key) in [
            ("", "version"),
            ("/source", "format"),
            ("/attribute/0", "path"),
            ("/attribute/0", "role"),
            ("/privacy", "model"),
            ("/privacy", "k"),
            ("/privacy", "m"),
            ("/privacy", "n"),
            ("/privacy", "l"),
            ("/privacy", "group_size"),
        ] {
            let mut policy = good.clone();
            let table = policy.pointer_mut(at).and_then(Value::as_object_mut).expect("it is there");
            if table.remove(key).is_some() {
                assert!(!valid(&schema, &schema, &policy), "{model}: {at}/{key}");
                assert!(accepted(&policy).is_err(), "{model}: {at}/{key}");
            }
        }
    }
}

#[test]
fn every_default_is_allowed() {
    fn walk(root: &Value, schema: &Value, count: &mut usize) {
        if let Some(default) = schema.get("default") {
            assert!(valid(root, schema, default), "{schema}");
            *count += 1;
        }
        match schema {
            Value::Object(map) => {
                map.iter().filter(|(k, _)| *k != "default").for_each(|(_, v)| walk(root, v, count));
            }
            Value::Array(items) => items.iter().for_each(|v| walk(root, v, count)),
            _ => {}
        }
    }
    let schema = json_schema();
    let mut count = 0;
    walk(&schema, &schema, &mut count);
    assert!(count > 20, "{count}");
}

#[test]
fn the_manual_has_the_present_key_tables() {
    const START: &str = "<!-- keys -->\n";
    const END: &str = "<!-- /keys -->";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policy.md");
    let text = std::fs::read_to_string(path).expect("docs/policy.md is there");
    let (head, rest) = text.split_once(START).expect("the manual marks where the tables start");
    let (tables, tail) = rest.split_once(END).expect("the manual marks where the tables end");
    let wanted = format!("\n{}\n", reference());
    if std::env::var_os("BOSKET_BLESS").is_some() {
        std::fs::write(path, format!("{head}{START}{wanted}{END}{tail}"))
            .expect("docs/policy.md can be written");
    } else {
        assert!(tables == wanted, "docs/policy.md is behind: run this test once with BOSKET_BLESS=1");
    }
}

/// Every TOML block of the manual that is a whole policy is one.
#[test]
fn the_examples_of_the_manual_are_policies() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policy.md"))
        .expect("docs/policy.md is there");
    let blocks = text.split("```toml\n").skip(1).filter_map(|b| b.split("```").next());
    let mut whole = 0;
    for block in blocks {
        let (text, is_whole) = if block.starts_with("version") {
            (block.to_owned(), true)
        } else {
            (format!("version = 1\n{block}"), false)
        };
        let (_, warnings) =
            Policy::parse("policy.md", &text, &[]).unwrap_or_else(|e| panic!("{text}\n{e:#?}"));
        assert_eq!(warnings, [], "{text}");
        whole += usize::from(is_whole);
    }
    assert!(whole >= 1, "the manual shows a complete policy");
}
