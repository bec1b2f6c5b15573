//! What was called true, or kept, and is not; and what was called broken and is not.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::util::Dir;

/// Bundles of entries, of which each holds a patient or a code.
const PATIENTS: &str = "version = 1\n[source]\nformat = \"xml\"\npath = \"in.xml\"\nrecord = \"r/B\"\n\
    [[attribute]]\npath = \"e[]/P/born\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 20 }\n\
    [[attribute]]\npath = \"e[]/C/code\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 2 }\n\
    [privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 1\n[publish]\npath = \"pub.xml\"\n";

fn patients() -> Dir {
    let bundle = |i: usize| {
        format!("<B><e><P><born>{}</born></P></e><e><C><code>c{}</code></C></e></B>", 1900 + i, i % 2)
    };
    let dir = Dir::new();
    dir.write("p.toml", PATIENTS)
        .write("in.xml", format!("<r>{}</r>", (0..20).map(bundle).collect::<String>()));
    dir
}

#[test]
fn patients_were_made_up_where_an_entry_has_none() {
    let dir = patients();
    dir.run(&["anonymize", "p.toml"]).exits(0);
    assert!(!dir.text("pub.xml").contains("<P>"), "{}", dir.text("pub.xml"));
    dir.run(&["verify", "pub.xml", "--policy", "p.toml", "--against", "in.xml"])
        .exits(0)
        .prints(&["HOLDS", "TRUE"]);
    // What earlier versions published: every entry has a patient.
    let invented = "<B><e><C><code>c0</code></C><P><born>*</born></P></e><e><P><born>*</born></P></e></B>";
    let all: String = (0..20).map(|i| invented.replace("c0", &format!("c{}", i % 2))).collect();
    dir.write("old.xml", format!("<r>{all}</r>"));
    let args = ["verify", "old.xml", "--policy", "p.toml", "--against", "in.xml"];
    dir.run(&args).exits(1).prints(&["NOT TRUE"]);
}

#[test]
fn an_empty_object_told_who_has_one() {
    let dir = patients();
    let bundle = |i: usize| match i {
        0 => "<B><e><P><born>*</born></P></e><e><C><code>c0</code></C></e></B>".to_owned(),
        _ => format!("<B><e/><e><C><code>c{}</code></C></e></B>", i % 2),
    };
    dir.write("uneven.xml", format!("<r>{}</r>", (0..20).map(bundle).collect::<String>()));
    let found = dir.run(&["verify", "uneven.xml", "--policy", "p.toml"]);
    found.exits(3).says(&["an object that says nothing"]);
}

#[test]
fn objects_were_made_up_in_every_format_that_has_them() {
    for (format, model) in
        [("ndjson", "kmn"), ("json", "kmn"), ("ndjson", "k-anonymity"), ("json", "k-anonymity")]
    {
        let dir = Dir::new();
        let record = |i: usize| match i % 4 {
            0 => format!("{{\"a\":\"a{}\"}}", i % 2),
            _ => format!("{{\"a\":\"a{}\",\"bio\":{{\"born\":{}}}}}", i % 2, 1900 + i),
        };
        let records: Vec<String> = (0..24).map(record).collect();
        let (text, record) = match format {
            "json" => (format!("{{\"all\":[{}]}}", records.join(",")), "record = \"all[]\"\n"),
            _ => (records.join("\n") + "\n", ""),
        };
        let numbers = if model == "kmn" { "k = 5\nm = 2\nn = 0\n" } else { "k = 5\n" };
        let policy = format!(
            "version = 1\n[source]\nformat = \"{format}\"\npath = \"in\"\n{record}\
             [[attribute]]\npath = \"a\"\nrole = \"quasi\"\nhierarchy = \"a.csv\"\n\
             [[attribute]]\npath = \"bio.born\"\nrole = \"quasi\"\nhierarchy = {{ build = \"fanout\", fanout = 30 }}\n\
             [privacy]\nmodel = \"{model}\"\n{numbers}[publish]\npath = \"out\"\n"
        );
        dir.write("in", text).write("p.toml", policy).write("a.csv", "a0;*\na1;*\n");
        dir.run(&["anonymize", "p.toml"]).exits(0);
        assert!(!dir.text("out").contains("bio"), "{format} {model}: {}", dir.text("out"));
        dir.run(&["verify", "out", "--policy", "p.toml", "--against", "in"])
            .exits(0)
            .prints(&["HOLDS", "TRUE"]);
        let invented = dir.text("out").replace("{\"a\":\"a0\"}", "{\"a\":\"a0\",\"bio\":{\"born\":\"*\"}}");
        dir.write("old", invented.replace("{\"a\":\"a1\"}", "{\"a\":\"a1\",\"bio\":{\"born\":\"*\"}}"));
        let args = ["verify", "old", "--policy", "p.toml", "--against", "in"];
        dir.run(&args).exits(1).prints(&["NOT TRUE"]);
    }
}

#[test]
fn objects_were_made_up_in_structs_of_parquet() {
    for privacy in ["model = \"kmn\"\nk = 5\nm = 2\nn = 0", "model = \"k-anonymity\"\nk = 5"] {
        let dir = Dir::new();
        let record = |i: usize| match i % 4 {
            0 => format!("{{\"a\":\"a{}\"}}\n", i % 2),
            _ => format!("{{\"a\":\"a{}\",\"bio\":{{\"born\":{}}}}}\n", i % 2, 1900 + i),
        };
        let policy = format!(
            "version = 1\n[source]\nformat = \"parquet\"\npath = \"in.parquet\"\n\
             [[attribute]]\npath = \"a\"\nrole = \"quasi\"\nhierarchy = \"a.csv\"\n\
             [[attribute]]\npath = \"bio.born\"\nrole = \"quasi\"\nhierarchy = {{ build = \"fanout\", fanout = 30 }}\n\
             [privacy]\n{privacy}\n[publish]\npath = \"out.parquet\"\n"
        );
        dir.write("in.ndjson", (0..24).map(record).collect::<String>())
            .write("p.toml", policy)
            .write("a.csv", "a0;*\na1;*\n");
        dir.run(&["convert", "in.ndjson", "in.parquet"]).exits(0);
        dir.run(&["anonymize", "p.toml"]).exits(0);
        dir.run(&["convert", "out.parquet", "out.ndjson"]).exits(0);
        let published = dir.text("out.ndjson");
        assert!(!published.contains("bio"), "{privacy}: {published}");
        let against =
            |file: &str| dir.run(&["verify", file, "--policy", "p.toml", "--against", "in.parquet"]);
        against("out.parquet").exits(0).prints(&["HOLDS", "TRUE"]);
        let invented = |a: &str| format!("{{\"a\":\"{a}\",\"bio\":{{\"born\":\"*\"}}}}");
        let old =
            published.replace("{\"a\":\"a0\"}", &invented("a0")).replace("{\"a\":\"a1\"}", &invented("a1"));
        dir.write("old.ndjson", old);
        dir.run(&["convert", "old.ndjson", "old.parquet"]).exits(0);
        against("old.parquet").exits(1).prints(&["HOLDS", "NOT TRUE"]);
    }
}

#[test]
fn a_marital_status_was_made_up_for_patients_of_fhir() {
    let dir = Dir::new();
    let patient = |i: usize| {
        let status = match i % 4 {
            0 => String::new(),
            _ => format!(",\"maritalStatus\":{{\"coding\":[{{\"display\":\"M{i}\"}}]}}"),
        };
        let gender = ["female", "male"][i % 2];
        let own = format!("{{\"resourceType\":\"Patient\",\"id\":\"p{i}\",\"gender\":\"{gender}\"{status}}}");
        format!(
            "{{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[{{\"resource\":{own}}}]}}\n"
        )
    };
    let policy = "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"fhir-r4\"\npath = \"in.ndjson\"\n\
        [[attribute]]\npath = \"gender\"\nrole = \"quasi\"\nhierarchy = \"g.csv\"\n\
        [[attribute]]\npath = \"maritalStatus.display\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 30 }\n\
        [privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 0\n[publish]\npath = \"out.ndjson\"\n";
    dir.write("in.ndjson", (0..24).map(patient).collect::<String>())
        .write("p.toml", policy)
        .write("g.csv", "female;*\nmale;*\n");
    dir.run(&["anonymize", "p.toml"]).exits(0);
    let published = dir.text("out.ndjson");
    assert!(!published.contains("maritalStatus"), "{published}");
    let against = |file: &str| dir.run(&["verify", file, "--policy", "p.toml", "--against", "in.ndjson"]);
    against("out.ndjson").exits(0).prints(&["HOLDS", "TRUE"]);
    let status = |gender: &str| {
        format!("\"gender\":\"{gender}\",\"maritalStatus\":{{\"coding\":[{{\"display\":\"*\"}}]}}")
    };
    let old = published
        .replace("\"gender\":\"female\"", &status("female"))
        .replace("\"gender\":\"male\"", &status("male"));
    dir.write("old.ndjson", old);
    against("old.ndjson").exits(1).prints(&["HOLDS", "NOT TRUE"]);
}

#[test]
fn objects_were_made_up_in_cells() {
    let dir = Dir::new();
    let record = |i: usize| match i % 4 {
        0 => format!("{{\"a\":\"a{}\"}}\n", i % 2),
        _ => format!("{{\"a\":\"a{}\",\"bio\":{{\"born\":{}}}}}\n", i % 2, 1900 + i),
    };
    let policy = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in\"\n\
        [[attribute]]\npath = \"a\"\nrole = \"quasi\"\nhierarchy = \"a.csv\"\n\
        [[attribute]]\npath = \"bio.born\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 80 }\n\
        [privacy]\nmodel = \"k-anonymity\"\nk = 5\n[method]\nalgorithm = \"ctoff\"\ncells = 2\n[publish]\npath = \"out\"\n";
    dir.write("in", (0..60).map(record).collect::<String>())
        .write("p.toml", policy)
        .write("a.csv", "a0;*\na1;*\n");
    for chunk in [None, Some("7")] {
        let more = chunk.map_or(Vec::new(), |records| vec!["--chunk", records]);
        dir.run(&[&["anonymize", "p.toml", "--force"][..], &more].concat()).exits(0);
        dir.run(&["verify", "out", "--policy", "p.toml", "--against", "in"])
            .exits(0)
            .prints(&["HOLDS", "TRUE"]);
    }
}

#[test]
fn one_row_of_the_input_stood_for_two() {
    let dir = Dir::new();
    let policy = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n\
        [[attribute]]\npath = \"v[].h\"\nrole = \"quasi\"\nhierarchy = \"h.csv\"\n\
        [privacy]\nmodel = \"kmn\"\nk = 2\nm = 1\nn = 0\n[method]\nrecoding = \"local\"\n[publish]\npath = \"o\"\nrows = \"all\"\n";
    let own = "{\"v\":[{\"h\":\"x\"},{\"h\":\"x\"},{\"h\":\"y\"}]}\n";
    let other = "{\"v\":[{\"h\":\"x\"},{\"h\":\"y\"},{\"h\":\"y\"}]}\n";
    dir.write("p.toml", policy).write("h.csv", "x;A;*\ny;A;*\n").write("m.csv", "1,1\n2,2\n");
    dir.write("in.ndjson", [own, own].concat()).write("pub.ndjson", [other, own].concat());
    let args = ["verify", "pub.ndjson", "--policy", "p.toml", "--against", "in.ndjson"];
    for rows in ["all", "distinct"] {
        let rows = format!("publish.rows={rows}");
        let args = [&args[..], &["--set", &rows]].concat();
        dir.run(&args).exits(1).prints(&["NOT TRUE"]);
        dir.run(&[&args[..], &["--mapping", "m.csv"]].concat()).exits(1).prints(&["NOT TRUE", "records: 1"]);
    }
    dir.write("pub.ndjson", [own, own].concat());
    dir.run(&args).exits(0).prints(&["TRUE"]);
}

/// Names in hexadecimal, filled up to the length of a pseudonym.
#[test]
fn names_in_other_letters_were_true_pseudonyms() {
    let dir = Dir::new();
    let policy = "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n\
        [[attribute]]\npath = \"name\"\nrole = \"pseudonym\"\n[[attribute]]\npath = \"a\"\nrole = \"quasi\"\nhierarchy = \"a.csv\"\n\
        [privacy]\nmodel = \"k-anonymity\"\nk = 2\n[publish]\npath = \"out.ndjson\"\n";
    let names = ["John Smith", "Jane Doe", "Al Gore", "Bob Ross"];
    let line = |name: &str| format!("{{\"a\":\"x\",\"name\":\"{name}\"}}\n");
    let hex =
        |name: &&str| line(&format!("{name:<16}").bytes().map(|b| format!("{b:02x}")).collect::<String>());
    dir.write("p.toml", policy).write("a.csv", "x;*\n").write("in.ndjson", names.map(line).concat());
    let mut lines: Vec<String> = names.iter().map(hex).collect();
    lines.sort();
    dir.write("hex.ndjson", lines.concat());
    dir.write("key", "0123456789abcdef0123456789abcdef").write("other", "1123456789abcdef0123456789abcdef");
    for key in ["key", "other"] {
        std::fs::set_permissions(dir.path(key), std::fs::Permissions::from_mode(0o600)).expect("protected");
    }
    dir.run(&["anonymize", "p.toml", "--key", "key"]).exits(0);
    let verify =
        |file: &str, more: &[&str]| dir.run(&[&["verify", file, "--policy", "p.toml"], more].concat());
    let against = ["--against", "in.ndjson"];
    let keyed = |key: &'static str| [&against[..], &["--mask-key", key]].concat();
    // Nobody knows where they come from, and that is said.
    let unseen = "not checked: where the pseudonyms of name come from";
    verify("hex.ndjson", &[]).exits(0).prints(&["HOLDS", unseen]);
    verify("hex.ndjson", &against).exits(0).prints(&["TRUE", unseen]);
    let told = verify("hex.ndjson", &["--json"]).exits(0).json();
    assert!(
        told["not_checked"][0].as_str().is_some_and(|what| what.contains("pseudonyms of name")),
        "{told}"
    );
    // With the key they are made again.
    verify("out.ndjson", &keyed("key")).exits(0).prints(&["TRUE"]).hides(&["not checked"]);
    verify("out.ndjson", &keyed("other")).exits(1).prints(&["NOT TRUE", "not what the key makes"]);
    verify("hex.ndjson", &keyed("key")).exits(1).prints(&["NOT TRUE", "not what the key makes"]);
    verify("hex.ndjson", &[&against[..], &["--key", "key"]].concat()).exits(1).prints(&["NOT TRUE"]);
    verify("out.ndjson", &["--mask-key", "key"]).exits(2).says(&["--against"]);
}

/// 311 of 340 people with a value stood in classes that show one value.
#[test]
fn people_without_a_value_were_cover() {
    for privacy in ["model = \"t-closeness\"\nt = 0.1", "model = \"beta-likeness\"\nbeta = 0.2"] {
        let dir = Dir::new();
        let record = |i: usize| {
            let value = match i * 37 % 100 {
                0..4 => ",\"s\":\"HIV\"",
                4..8 => ",\"s\":\"flu\"",
                _ => "",
            };
            format!("{{\"q\":\"q{}\"{value}}}\n", i * 7919 % 50)
        };
        let tree: String = (0..50).map(|q| format!("q{q};g{};*\n", q / 5)).collect();
        let policy = format!(
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n\
             [[attribute]]\npath = \"q\"\nrole = \"quasi\"\nhierarchy = \"q.csv\"\n\
             [[attribute]]\npath = \"s\"\nrole = \"sensitive\"\n[privacy]\n{privacy}\nk = 5\n[publish]\npath = \"out.ndjson\"\n"
        );
        dir.write("in.ndjson", (0..1000).map(record).collect::<String>())
            .write("q.csv", tree)
            .write("p.toml", policy);
        dir.run(&["anonymize", "p.toml"]).exits(0).prints(&["who has one is not protected"]);
        let mut classes: std::collections::BTreeMap<String, Vec<String>> = Default::default();
        for line in dir.text("out.ndjson").lines() {
            let record: Value = serde_json::from_str(line).expect("JSON");
            let own = classes.entry(record["q"].to_string()).or_default();
            own.extend(record["s"].as_str().map(str::to_owned));
        }
        let uniform = |values: &&Vec<String>| !values.is_empty() && values.iter().all(|v| *v == values[0]);
        assert_eq!(classes.values().filter(uniform).count(), 0, "{privacy}: {classes:?}");
    }
}

/// A second release that drops a column is judged by what both show.
#[test]
fn a_release_that_shows_less_broke_every_promise() {
    let dir = Dir::new();
    let attribute = |name: &str, role: &str| {
        let hierarchy = if role == "quasi" { format!("hierarchy = \"{name}.csv\"\n") } else { String::new() };
        format!("[[attribute]]\npath = \"{name}\"\nrole = \"{role}\"\n{hierarchy}")
    };
    for name in ["a", "b", "c"] {
        let tree: String = (0..4).map(|i| format!("{name}{i};*\n")).collect();
        dir.write(&format!("{name}.csv"), tree);
    }
    let policy = |c: &str, out: &str| {
        let all = [attribute("a", "quasi"), attribute("b", "quasi"), attribute("c", c)].concat();
        format!(
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n{all}[privacy]\nmodel = \"k-anonymity\"\nk = 3\n\
             [publish]\npath = \"{out}\"\nmapping = \"{out}.csv\"\n"
        )
    };
    let record =
        |i: usize| format!("{{\"a\":\"a{}\",\"b\":\"b{}\",\"c\":\"c{}\"}}\n", i % 2, i % 3 % 2, i % 4);
    dir.write("in.ndjson", (0..48).map(record).collect::<String>());
    dir.write("p1.toml", policy("quasi", "o1.ndjson")).write("p2.toml", policy("drop", "o2.ndjson"));
    dir.run(&["anonymize", "p1.toml"]).exits(0);
    let with = ["--with", "o1.ndjson", "--with-mapping", "o1.ndjson.csv"];
    dir.run(&[&["anonymize", "p2.toml"][..], &with].concat()).exits(0).prints(&["verified jointly"]);
    let verify = ["verify", "o2.ndjson", "--policy", "p2.toml", "--mapping", "o2.ndjson.csv"];
    dir.run(&[&verify[..], &with].concat()).exits(0).prints(&["JOINTLY", "HOLDS"]).hides(&["VIOLATED"]);
    // What the first shows still counts: one of its records is told apart by it.
    let shown = dir.text("o1.ndjson");
    let first = shown.lines().next().expect("a record");
    let mut alone: Value = serde_json::from_str(first).expect("JSON");
    alone["c"] = if alone["a"] == "a0" { json!("c3") } else { json!("c0") };
    dir.write("o1.ndjson", shown.replacen(first, &alone.to_string(), 1));
    dir.run(&[&verify[..], &with].concat()).exits(1).prints(&["JOINTLY", "VIOLATED"]);
}
