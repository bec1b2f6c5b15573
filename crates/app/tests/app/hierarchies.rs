//! Hierarchies that say what values belong to, and legends of those that do not.

use serde_json::Value;

use crate::util::{Case, untruths};

const TAIL: &str = "[publish]\npath = \"pub\"\n[privacy]\nmodel = \"k-anonymity\"\nk = 3\n";

fn attribute(path: &str, role: &str, more: &str) -> String {
    format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n{more}\n")
}

/// Customers with a city each, whose country a lookup tells.
fn cities(more: &str) -> Case {
    let policy = [
        "version = 1\n[source]\nformat = \"csv\"\n[[source.table]]\nname = \"c\"\npath = \"c.csv\"\nkey = \"id\"\n".to_owned(),
        "[[source.lookup]]\nname = \"city\"\npath = \"city.csv\"\nkey = \"cid\"\ncolumn = \"c.city\"\n\
         value = [\"name\", \"region\", \"country\"]\n"
            .to_owned(),
        attribute("c.name", "quasi", "hierarchy = { from = [\"c.region\", \"c.country\"] }"),
        attribute("c.region", "drop", ""),
        attribute("c.country", "drop", ""),
        TAIL.to_owned(),
    ];
    let customers: String = (0..12).map(|i| format!("{i},{}\n", i % 6)).collect();
    let cities = "0,Bonn,NRW,DE\n1,Ulm,BW,DE\n2,Lyon,RA,FR\n3,Nice,PACA,FR\n4,Metz,GE,FR\n5,Trier,RP,DE\n";
    Case::new(&[
        ("p.toml", &policy.concat()),
        ("c.csv", &format!("id,city\n{customers}")),
        ("city.csv", &format!("cid,name,region,country\n{cities}{more}")),
    ])
}

#[test]
fn cities_are_published_as_their_countries() {
    let case = cities("");
    case.publish(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    let published = case.text("pub/c.csv");
    assert!(published.contains("DE") && published.contains("FR"), "{published}");
    assert!(!published.contains('*'), "{published}");
    let found = case.look("pub", &[], ".");
    assert!(found.holds(), "{:?}", untruths(&found));
    assert!(case.by_certificate("pub", "pub.certificate.json").holds());
}

#[test]
fn a_city_in_two_countries_is_refused_with_a_count() {
    let case = cities("");
    let text = case.text("city.csv").replace("Metz,GE,FR", "Bonn,NRW,BE");
    case.write("city.csv", &text);
    let failure = case.publish(&[]).expect_err("refused").to_string();
    assert!(failure.contains("1 label of the level above of"), "{failure}");
    assert!(!failure.contains("Bonn") && !failure.contains("NRW"), "{failure}");
}

#[test]
fn what_is_above_may_stand_in_the_row_above() {
    let policy = [
        "version = 1\n[source]\nformat = \"ndjson\"\npath = \"data.ndjson\"\n".to_owned(),
        attribute("land", "drop", ""),
        attribute("visits[].ward", "quasi", "hierarchy = { from = \"land\" }"),
        TAIL.replace("\"pub\"", "\"pub.ndjson\""),
    ];
    let record = |i: usize| format!("{{\"land\":\"L{}\",\"visits\":[{{\"ward\":\"w{}\"}}]}}\n", i % 2, i % 6);
    let data: String = (0..12).map(record).collect();
    let case = Case::new(&[("p.toml", &policy.concat()), ("data.ndjson", &data)]);
    case.publish(&[]).unwrap_or_else(|failure| panic!("{failure}"));
    let published = case.text("pub.ndjson");
    assert!(published.contains("\"L0\"") && published.contains("\"L1\""), "{published}");
    assert!(case.look("pub.ndjson", &[], "data.ndjson").holds());
}

fn names(hierarchy: &str) -> Case {
    let policy = [
        "version = 1\n[source]\nformat = \"csv\"\npath = \"data.csv\"\n".to_owned(),
        attribute("name", "quasi", &format!("hierarchy = {hierarchy}")),
        TAIL.replace("\"pub\"", "\"pub.csv\""),
    ];
    let names = ["Adam", "Adam", "Adam", "Adam", "Abel", "Anna", "Bea", "bob", "Berta", "Cora", "Bela"];
    let data: String = names.iter().map(|name| format!("{name}\n")).collect();
    Case::new(&[("p.toml", &policy.concat()), ("data.csv", &format!("name\n{data}"))])
}

#[test]
fn names_are_put_together_by_their_first_letters() {
    let case = names("{ build = \"letters\" }");
    case.publish(&["method.algorithm=\"ctoff\""]).unwrap_or_else(|failure| panic!("{failure}"));
    let published = case.text("pub.csv");
    assert!(published.contains("B…") && published.contains("A"), "{published}");
    assert!(case.look("pub.csv", &[], "data.csv").holds());
}

#[test]
fn a_legend_names_what_k_people_have_and_counts_the_rest() {
    let case = names("{ build = \"fanout\", fanout = 2 }");
    let kmn = ["privacy.model=\"kmn\"", "privacy.m=1", "privacy.n=0"];
    case.publish(&kmn).unwrap_or_else(|failure| panic!("{failure}"));
    let certificate: Value = serde_json::from_str(&case.text("pub.csv.certificate.json")).expect("JSON");
    let legend = certificate["legend"].as_array().unwrap_or_else(|| panic!("{certificate:#}"));
    assert_eq!(legend[0]["path"], "name");
    let groups = legend[0]["groups"].as_array().expect("groups");
    let published = case.text("pub.csv");
    for group in groups {
        assert!(published.contains(group["label"].as_str().expect("a label")), "{group}");
        let named: Vec<&str> =
            group["values"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert!(named.is_empty() || named == ["Adam"], "{group}");
    }
    let others: u64 = groups.iter().filter_map(|group| group["others"].as_u64()).sum();
    assert!(others >= 3, "{certificate:#}");
    let rare = ["Abel", "Anna", "Bea", "bob", "Berta", "Cora", "Bela"];
    assert!(rare.iter().all(|name| !certificate.to_string().contains(name)));
    assert!(case.by_certificate("pub.csv", "pub.csv.certificate.json").holds());
}
