//! What a publication has besides the values that the claim speaks of is never passed over.

use serde_json::json;

use crate::util::{Dir, Output, attribute, policy};

const TOWNS: &str = "A;*\nB;*\n";

/// A folder with a policy of this source, whose attributes are quasi, but for a name, which is removed.
fn publisher(source: &str, quasi: &[&str], name: &str) -> Dir {
    let mut attributes: String =
        quasi.iter().map(|path| attribute(path, "quasi", "hierarchy = 't.csv'")).collect();
    if !name.is_empty() {
        attributes += &attribute(name, "identifying", "");
    }
    let dir = Dir::new();
    dir.write("t.csv", TOWNS).write(
        "p.toml",
        format!(
            "version = 1\nundeclared = \"drop\"\n[source]\n{source}\n{attributes}\
             [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[publish]\npath = \"out\"\n"
        ),
    );
    dir
}

fn verified(dir: &Dir, publication: impl AsRef<[u8]>) -> Output {
    dir.write("pub", publication);
    // Not even a publication that another program has written again may have any of it.
    dir.run(&["verify", "pub", "--policy", "p.toml", "--foreign"])
}

/// The first publication holds, and the others do not, which is said with this word of standard error or output.
#[track_caller]
fn only_the_first(dir: &Dir, good: &str, others: &[(&str, &str)]) {
    verified(dir, good).exits(0).prints(&["HOLDS"]);
    // A mark at the start says nothing but how the text is written.
    verified(dir, format!("\u{feff}{good}")).exits(0);
    for (bad, word) in others {
        assert_ne!(good, *bad);
        let found = verified(dir, bad);
        assert!(matches!(found.code, Some(1 | 3)), "{bad}\n{}{}", found.stdout, found.stderr);
        assert!(!found.stdout.contains("HOLDS"), "{bad}\n{}", found.stdout);
        let told = format!("{}{}", found.stdout, found.stderr);
        assert!(told.contains(word), "{bad}\n{told}");
        found.hides(&["panicked"]);
    }
}

#[test]
fn ndjson_names_without_values() {
    let dir = publisher("format = \"ndjson\"\npath = \"in\"", &["town", "a.z", "visits[].h"], "ssn");
    let record = "{\"town\":\"A\",\"a\":{\"z\":null},\"visits\":[{\"h\":\"B\"}]}\n";
    let good = record.repeat(2) + "{\"town\":null,\"visits\":[]}\n{\"a\":{}}\n";
    let with = |more: &str| good.replacen("{\"town\":\"A\"", &format!("{{{more},\"town\":\"A\""), 1);
    let names = [
        ("\"John Smith 111\":null", "John Smith 111"),
        ("\"John Smith 111\":[]", "John Smith 111"),
        ("\"John Smith 111\":{}", "John Smith 111"),
        ("\"John Smith 111\":[null]", "John Smith 111"),
        ("\"John Smith 111\":[{}]", "John Smith 111"),
        ("\"John Smith 111\":[[]]", "John Smith 111"),
        ("\"b\":{\"c\":{\"d\":null}}", "b.c.d"),
        ("\"ssn\":null", "ssn"),
        ("\"ssn\":1", "ssn"),
    ];
    let bad: Vec<(String, &str)> = names.iter().map(|(more, path)| (with(more), *path)).collect();
    let mut bad: Vec<(&str, &str)> = bad.iter().map(|(text, path)| (text.as_str(), *path)).collect();
    let inner = good.replacen("\"h\":\"B\"", "\"h\":\"B\",\"note\":null", 1);
    bad.push((&inner, "visits[].note"));
    let twice = good.replacen("\"town\":\"A\"", "\"town\":\"A\",\"town\":\"B\"", 1);
    bad.push((&twice, "twice"));
    only_the_first(&dir, &good, &bad);
}

#[test]
fn json_beside_the_records() {
    let dir = publisher("format = \"json\"\npath = \"in\"\nrecord = \"entry[]\"", &["town"], "");
    let good = "{\"entry\":[{\"town\":\"A\"},{\"town\":\"A\"}]}";
    only_the_first(
        &dir,
        good,
        &[
            (
                "{\"entry\":[{\"town\":\"A\"},{\"town\":\"A\"}],\"raw\":[{\"name\":\"John\"}]}",
                "beside the records",
            ),
            ("{\"raw\":null,\"entry\":[{\"town\":\"A\"},{\"town\":\"A\"}]}", "beside the records"),
            ("{\"entry\":[{\"town\":\"A\"},{\"town\":\"A\"}],\"entry\":[]}", "twice"),
            ("{\"entry\":[{\"town\":\"A\"},{\"town\":\"A\",\"raw\":{}}]}", "raw"),
        ],
    );
}

#[test]
fn csv_columns_that_nobody_names() {
    let dir = publisher("format = \"csv\"\npath = \"in\"", &["town"], "ssn");
    only_the_first(
        &dir,
        "town\nA\nA\n",
        &[
            ("town,John Smith 111\nA,\nA,\n", "John Smith 111"),
            ("town,\nA,\nA,\n", "has no name"),
            ("town\nA,John\nA\n", "the row has 2 cells"),
            ("town,town\nA,A\nA,B\n", "the name of another column"),
            ("town,ssn\nA,1\nA,\n", "ssn"),
        ],
    );
}

#[test]
fn transactions_with_blanks_of_their_own() {
    let dir = publisher("format = \"transactions\"\npath = \"in\"", &["item"], "");
    let text = dir.text("p.toml").replace("model = \"k-anonymity\"", "model = \"km\"\nm = 2");
    dir.write("p.toml", text);
    only_the_first(
        &dir,
        "A B\nA B\n\n",
        &[
            ("A B\nA B \n\n", "blanks"),
            ("A B\nA  B\n\n", "blanks"),
            ("A B\nA\tB\n\n", "blanks"),
            ("A B\nA B\n \t  \n", "blanks"),
            ("A B\nA B\n# John\n", "VIOLATED"),
        ],
    );
}

#[test]
fn xml_besides_elements_of_the_policy() {
    let dir =
        publisher("format = \"xml\"\npath = \"in\"\nrecord = \"db/p\"", &["town", "v[]/h", "v[]/@n"], "ssn");
    let good =
        "<db><p><town>A</town><v n='B'><h>B</h></v></p><p><town>A</town><v n='B'><h>B</h></v></p></db>";
    let with = |from: &str, to: &str| good.replacen(from, to, 1);
    let bad = [
        (with("<p>", "<p><!-- John Smith 111 -->"), "a comment"),
        (format!("{good}<!-- John -->"), "a comment"),
        (with("<p>", "<p><?john smith?>"), "a processing instruction"),
        (format!("<!DOCTYPE db [<!ENTITY john 'smith'>]>{good}"), "a document type"),
        (format!("<!DOCTYPE db>{good}"), "a document type"),
        (with("<db>", "<db name='John'>"), "@name"),
        (with("<db>", "<db>John"), "the text of"),
        (with("<db>", "<db><raw>John</raw>"), "db/raw"),
        (with("<db>", "<db xmlns:john='urn:smith'>"), "john"),
        (with("<v n", "<v xmlns:john='urn:smith' n"), "john"),
        (with("<town>", "<john/><town>"), "john"),
        (
            with("<town>", "<john x:nil='true' xmlns:x='http://www.w3.org/2001/XMLSchema-instance'/><town>"),
            "john",
        ),
        (with("<town>", "<town john='1'>"), "john"),
        (with("<h>", "John<h>"), "mixes text"),
        (with("<town>", "<ssn>1</ssn><town>"), "ssn"),
    ];
    let bad: Vec<(&str, &str)> = bad.iter().map(|(text, word)| (text.as_str(), *word)).collect();
    only_the_first(&dir, good, &bad);
}

/// A publication declares no prefix that it does not need.
#[test]
fn xml_publishes_no_prefix_without_a_name() {
    let dir = publisher("format = \"xml\"\npath = \"in\"\nrecord = \"db/p\"", &["town"], "");
    let document = "<db xmlns:john='urn:smith'><!-- John --><p><town>A</town></p><p><town>A</town></p></db>";
    dir.write("in", document);
    dir.run(&["anonymize", "p.toml"]).exits(0);
    assert!(!dir.text("out").contains("john"), "{}", dir.text("out"));
    dir.certified("out", "out.certificate.json");
}

fn bundles(more: &str, entry: &str, patient: &str) -> String {
    let line = |n: u32| {
        let id = |of: u32| format!("{n:08x}-0000-4000-8000-{of:012x}");
        format!(
            "{{\"resourceType\":\"Bundle\",\"type\":\"collection\"{more},\"entry\":[{{\"fullUrl\":\"urn:uuid:{}\"{entry},\
             \"resource\":{{\"resourceType\":\"Patient\",\"id\":\"{}\"{patient},\"gender\":\"A\"}}}},\
             {{\"fullUrl\":\"urn:uuid:{}\",\"resource\":{{\"resourceType\":\"Encounter\",\"id\":\"{}\",\
             \"subject\":{{\"reference\":\"urn:uuid:{}\"}},\"status\":\"B\"}}}}]}}\n",
            id(1),
            id(1),
            id(2),
            id(2),
            id(1)
        )
    };
    line(1) + &line(2)
}

#[test]
fn fhir_that_is_not_read() {
    let dir = publisher("format = \"fhir-r4\"\npath = \"in\"", &["gender", "Encounter[].status"], "");
    let good = bundles("", "", "");
    let with = |from: &str, to: &str| good.replacen(from, to, 1);
    let observation = ",{\"resource\":{\"resourceType\":\"Observation\",\"valueString\":\"HIV\"}}]}\n";
    let told = "the claim says nothing about";
    let fresh = "not the fresh ones";
    let bad = [
        (bundles(",\"id\":\"SSN-111\"", "", ""), told),
        (bundles(",\"identifier\":{\"value\":\"SSN-111\"}", "", ""), told),
        (bundles("", ",\"search\":{\"mode\":\"match\"}", ""), told),
        (with("\"collection\"", "\"John\""), told),
        (with("]}\n", observation), told),
        (with("urn:uuid:00000001-0000", "urn:uuid:John-Smith"), "refers to nothing"),
        (with("\"id\":\"00000001-0000-4000-8000-000000000001\"", "\"id\":\"JOHN\""), fresh),
        (with("\"id\":\"00000001-0000-4000-8000-000000000002\",", ""), fresh),
        (with("{\"reference\"", "{\"display\":\"John\",\"reference\""), told),
        (bundles("", "", ",\"contained\":[{\"resourceType\":\"Basic\"}]"), "contained"),
        (bundles("", "", ",\"link\":{\"other\":{\"reference\":\"Patient/John\"}}"), "references"),
        (bundles("", "", ",\"John\":null"), "John"),
        (bundles("", "", ",\"_John\":null"), "John"),
        (bundles("", "", ",\"extension\":[{\"url\":\"urn:john\"}]"), "john"),
        (bundles("", "", ",\"extension\":[{\"valueString\":\"John\"}]"), "extensions"),
    ];
    let bad: Vec<(&str, &str)> = bad.iter().map(|(text, word)| (text.as_str(), *word)).collect();
    only_the_first(&dir, &good, &bad);
}

/// Publications with two sides: what stands beside them, or in them under names that nobody knows.
#[test]
fn two_sides_and_nothing_else() {
    let sides = |source: &str, publish: &str| {
        let dir = Dir::new();
        let attributes = [attribute("town", "quasi", ""), attribute("ill", "sensitive", "")].concat();
        dir.write(
            "p.toml",
            format!(
                "version = 1\nundeclared = \"drop\"\n[source]\n{source}\n{attributes}\
                 [privacy]\nmodel = \"anatomy\"\ngroup_size = 2\n[publish]\npath = \"{publish}\"\n"
            ),
        );
        dir
    };
    let people: [(&str, &str); 4] = [("A", "x"), ("B", "y"), ("A", "z"), ("B", "w")];
    let refused = |dir: &Dir, publication: &str, word: &str| {
        let found = dir.run(&["verify", publication, "--policy", "p.toml"]);
        assert!(matches!(found.code, Some(1 | 3)), "{word}\n{}{}", found.stdout, found.stderr);
        let told = format!("{}{}", found.stdout, found.stderr);
        assert!(told.contains(word), "{word}\n{told}");
    };
    // JSON: keys beside the sides, and names without values in them.
    let dir = sides("format = \"ndjson\"\npath = \"in\"", "out");
    let lines: String =
        people.iter().map(|(town, ill)| format!("{{\"town\":\"{town}\",\"ill\":\"{ill}\"}}\n")).collect();
    dir.write("in", lines);
    dir.run(&["anonymize", "p.toml"]).exits(0);
    dir.run(&["verify", "out", "--policy", "p.toml"]).exits(0).prints(&["HOLDS"]);
    let good = dir.text("out");
    for (from, to, word) in [
        ("{\"quasi\"", "{\"raw\":[\"John\"],\"quasi\"", "no part of a publication"),
        ("{\"group\":1,", "{\"group\":1,\"John\":null,", "no part of a publication"),
        ("{\"town\"", "{\"John Smith 111\":null,\"town\"", "John Smith 111"),
        ("{\"town\"", "{\"John Smith 111\":[{}],\"town\"", "John Smith 111"),
    ] {
        assert!(good.contains(from), "{good}");
        dir.write("bad", good.replacen(from, to, 1));
        refused(&dir, "bad", word);
    }
    // XML: comments, and what else stands around the groups.
    let dir = sides("format = \"xml\"\npath = \"in\"\nrecord = \"db/p\"", "out");
    let elements: String =
        people.iter().map(|(town, ill)| format!("<p><town>{town}</town><ill>{ill}</ill></p>")).collect();
    dir.write("in", format!("<db>{elements}</db>"));
    dir.run(&["anonymize", "p.toml"]).exits(0);
    let good = dir.text("out");
    dir.write("same", &good);
    dir.run(&["verify", "same", "--policy", "p.toml"]).exits(0).prints(&["HOLDS"]);
    for (from, to, word) in [
        ("<town>", "<!-- John --><town>", "a comment"),
        ("<town>", "<?john smith?><town>", "a processing instruction"),
        ("<town>", "<john/><town>", "john"),
        ("<town>", "<town xmlns:john='urn:smith'>", "no part of a publication"),
    ] {
        assert!(good.contains(from), "{good}");
        dir.write("bad", good.replacen(from, to, 1));
        refused(&dir, "bad", word);
    }
    // A folder: other files, and columns without values.
    let dir = sides("format = \"csv\"\npath = \"in.csv\"", "out");
    let rows: String = people.iter().map(|(town, ill)| format!("{town},{ill}\n")).collect();
    dir.write("in.csv", format!("town,ill\n{rows}"));
    dir.run(&["anonymize", "p.toml"]).exits(0);
    dir.run(&["verify", "out", "--policy", "p.toml"]).exits(0).prints(&["HOLDS"]);
    let good = dir.text("out/in.csv");
    let wider: String = good.lines().enumerate().fold(String::new(), |text, (i, line)| {
        format!("{text}{line},{}\n", if i == 0 { "John Smith 111" } else { "" })
    });
    dir.write("out/in.csv", wider);
    refused(&dir, "out", "John Smith 111");
    dir.write("out/in.csv", good).write("out/raw.csv", "John");
    refused(&dir, "out", "no part of the publication");
}

/// Four people in two groups, published in two sides; `group_size = 2` and this source and place.
fn two_sides(source: &str, publish: &str) -> Dir {
    let dir = Dir::new();
    let attributes = attribute("town", "quasi", "hierarchy = 't.csv'") + &attribute("ill", "sensitive", "");
    dir.write("t.csv", TOWNS)
        .write(
            "p.toml",
            format!(
                "version = 1\n[source]\n{source}\n{attributes}\
                 [privacy]\nmodel = \"anatomy\"\ngroup_size = 2\n[publish]\n{publish}\n"
            ),
        )
        .write("in.csv", "town,ill\nA,x\nB,y\nA,z\nB,w\n");
    dir.run(&["convert", "in.csv", "in.ndjson"]).exits(0);
    dir.write(
        "in.xml",
        "<db><p><town>A</town><ill>x</ill></p><p><town>B</town><ill>y</ill></p>\
         <p><town>A</town><ill>z</ill></p><p><town>B</town><ill>w</ill></p></db>",
    );
    dir.run(&["anonymize", "p.toml"]).exits(0);
    dir
}

/// A group's name could be a person's.
#[test]
fn groups_with_names_of_their_own_are_refused() {
    let words = "called by other";
    for (source, name, number) in [
        ("format = \"ndjson\"\npath = \"in.ndjson\"", "out", "\"group\":1"),
        ("format = \"xml\"\npath = \"in.xml\"\nrecord = \"db/p\"", "out", "Id=\"1\""),
        ("format = \"csv\"\npath = \"in.csv\"", "out/in.csv", ""),
    ] {
        let dir = two_sides(source, "path = \"out\"");
        dir.run(&["verify", "out", "--policy", "p.toml"]).exits(0).prints(&["HOLDS"]);
        let (good, sensitive) = (dir.text(name), "out/sensitive_ill.csv");
        let values = if number.is_empty() { dir.text(sensitive) } else { String::new() };
        for called in ["John 111", "01", "0"] {
            if number.is_empty() {
                // The groups of rows stand in their first column.
                let changed = |text: &str| text.replace("\n1,", &format!("\n{called},"));
                assert_ne!(changed(&good), good);
                dir.write(name, changed(&good)).write(sensitive, changed(&values));
            } else {
                let to = match number.split_once('1') {
                    Some((before, "")) => format!("{before}\"{called}\""),
                    Some((before, after)) => format!("{before}{called}{after}"),
                    None => unreachable!("a number"),
                };
                assert!(good.contains(number), "{good}");
                dir.write(name, good.replace(number, &to));
            }
            let found = dir.run(&["verify", "out", "--policy", "p.toml"]);
            let told = format!("{}{}", found.stdout, found.stderr);
            assert!(told.contains(words) && !told.contains("John"), "{source} {called}: {told}");
            found.exits(3);
        }
    }
    // In a document they are numbered as they come.
    let dir = two_sides("format = \"ndjson\"\npath = \"in.ndjson\"", "path = \"out\"");
    let good = dir.text("out");
    let swapped = good.replace(":1,", ":9,").replace(":2,", ":1,").replace(":9,", ":2,");
    assert_ne!(good, swapped);
    dir.write("out", swapped);
    dir.run(&["verify", "out", "--policy", "p.toml"]).exits(3).says(&[words]);
}

/// A certificate may lie with what it certifies, in a flat folder as among linked tables.
#[test]
fn a_certificate_in_a_folder_of_two_sides_was_refused() {
    let source = "format = \"csv\"\npath = \"in.csv\"";
    let dir = two_sides(source, "path = \"out\"\ncertificate = \"out/told.json\"");
    assert!(dir.path("out/told.json").exists());
    dir.run(&["verify", "out", "--policy", "p.toml"]).exits(0).prints(&["HOLDS"]);
    dir.certified("out", "out/told.json");
    dir.write("out/certificate.json", dir.read("out/told.json"));
    let found = dir.run(&["verify", "out", "--policy", "p.toml"]).exits(3);
    found.says(&["out/certificate.json", "no part of the publication"]);
}

/// Two people who look alike, with a number each that the policy calls a key.
#[test]
fn a_key_in_a_tree_is_left_over_even_in_the_input_itself() {
    let attributes = [
        attribute("ssn", "key", ""),
        attribute("visits[].id", "key", ""),
        attribute("town", "quasi", "hierarchy = 't.csv'"),
        attribute("visits[].h", "quasi", "hierarchy = 't.csv'"),
    ];
    let dir = Dir::new();
    dir.write("t.csv", TOWNS).write("p.toml", policy(&attributes, "model = \"k-anonymity\"\nk = 2")).write(
        "in.ndjson",
        "{\"ssn\":\"111\",\"town\":\"A\",\"visits\":[{\"id\":\"v1\",\"h\":\"B\"}]}\n\
         {\"ssn\":\"222\",\"town\":\"A\",\"visits\":[{\"id\":\"v2\",\"h\":\"B\"}]}\n",
    );
    let told = dir.run(&["verify", "in.ndjson", "--policy", "p.toml", "--against", "in.ndjson"]).exits(1);
    told.prints(&["the policy removes ssn, visits[].id, but the file still has them", "NOT TRUE"])
        .hides(&["111", "v2"]);
    let found = dir.run(&["verify", "in.ndjson", "--policy", "p.toml", "--json"]).exits(1).json();
    assert_eq!(found["left_over"], json!(["ssn", "visits[].id"]));
}
