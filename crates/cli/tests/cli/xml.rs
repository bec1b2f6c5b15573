//! XML from the outside: looked at, published, verified.

use crate::util::{Dir, attribute};

/// Forty patients with a visit or two, and something beside them that is nobody's record.
fn clinic(dir: &Dir, several: bool, turned: bool) {
    let mut patients: Vec<String> = (0..40)
        .map(|i| {
            let visit = |j: usize| {
                let code = ["E10", "E11", "J45", "J20"][(i + j) % 4];
                format!("<visit kind=\"{}\"><c:code>{code}</c:code></visit>", ["in", "out"][i % 2])
            };
            let visits = if several && i % 4 == 0 { visit(0) + &visit(1) } else { visit(0) };
            let town = ["North", "South &amp; East"][i % 2];
            format!("  <patient id=\"P{i}\">\n    <town> {town} </town>\n    <visits>{visits}</visits>\n  </patient>\n")
        })
        .collect();
    if turned {
        patients.reverse();
    }
    let text = format!(
        "<?xml version=\"1.0\"?>\n<db xmlns:c=\"urn:codes\" by=\"Quetzal\">\n  <ward>Quetzal</ward>\n{}</db>\n",
        patients.concat()
    );
    dir.write("data.xml", text);
    dir.write("code.csv", "E10;E;*\nE11;E;*\nJ45;J;*\nJ20;J;*\n");
}

fn policy(m: u32) -> String {
    format!(
        r#"
version = 1
[source]
format = "xml"
path = "data.xml"
record = "db/patient"
[[attribute]]
path = "@id"
role = "identifying"
[[attribute]]
path = "town"
role = "quasi"
hierarchy = {{ build = "order", groups = ["North", "South & East"] }}
[[attribute]]
path = "visits/visit[]/@kind"
role = "quasi"
hierarchy = {{ build = "order", groups = ["in", "out"] }}
[[attribute]]
path = "visits/visit[]/c:code"
role = "quasi"
hierarchy = "code.csv"
[privacy]
model = "kmn"
k = 5
m = {m}
n = 1
[publish]
path = "out.xml"
"#
    )
}

#[test]
fn records_are_offered_and_looked_at() {
    let dir = Dir::new();
    clinic(&dir, true, false);
    let guessed = dir.run(&["inspect", "data.xml"]).exits(0).hides(&["Quetzal"]);
    guessed.prints(&["each `db/patient` is taken for a record", "such as `db/patient/visits/visit`"]);
    let args = ["inspect", "data.xml", "--record", "db/patient", "--draft", "draft.toml"];
    let found = dir.run(&args).exits(0).hides(&["Quetzal"]);
    let found =
        found.prints(&["xml: 40 records", "visits/visit[]/c:code", "visits/visit[]/@kind", "town", "@id"]);
    found.says(&["left out, since it lies outside the records `db/patient`: `db/@by`, `db/ward`"]);
    let draft = dir.text("draft.toml");
    assert!(draft.contains("format = \"xml\"") && draft.contains("record = \"db/patient\""), "{draft}");
    dir.run(&["policy", "check", "draft.toml"]).exits(0);
}

#[test]
fn a_publication_looks_like_its_source_and_keeps_its_promise() {
    let dir = Dir::new();
    clinic(&dir, true, false);
    dir.write("policy.toml", policy(2));
    dir.run(&["anonymize", "policy.toml"]).exits(0).says(&["left out"]).hides(&["Quetzal"]);
    let published = dir.text("out.xml");
    let start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<db xmlns:c=\"urn:codes\">\n<patient><town>";
    assert!(published.starts_with(start) && published.ends_with("</patient>\n</db>\n"), "{published}");
    assert_eq!(published.matches("<patient>").count(), 40);
    assert!(published.contains("<visits><visit kind=\"") && published.contains("<c:code>"), "{published}");
    assert!(!published.contains("id=") && !published.contains("Quetzal"), "{published}");
    let verify = ["verify", "out.xml", "--policy", "policy.toml", "--against", "data.xml"];
    dir.run(&verify).exits(0);
    dir.certified("out.xml", "out.xml.certificate.json");
    dir.run(&["verify", "out.xml", "--policy", "policy.toml", "--set", "privacy.k=41"]).exits(1);
    // The input has more than its records.
    dir.run(&["verify", "data.xml", "--policy", "policy.toml"]).exits(3).says(&["outside the records"]);

    clinic(&dir, true, true);
    dir.run(&["anonymize", "policy.toml", "--force", "--threads", "1"]).exits(0);
    assert_eq!(dir.text("out.xml"), published);
}

/// Taken for part of the patient, it would be an attribute that the policy does not name.
#[test]
fn an_element_that_repeats_nowhere_is_still_what_the_policy_says() {
    let dir = Dir::new();
    clinic(&dir, false, false);
    dir.write("policy.toml", policy(2));
    let alone = dir.run(&["inspect", "data.xml", "--record", "db/patient"]).exits(0);
    alone.prints(&["visits/visit/c:code"]).hides(&["visit[]"]);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let published = dir.text("out.xml");
    assert!(!published.contains("</visit><visit"), "{published}");
    dir.run(&["verify", "out.xml", "--policy", "policy.toml", "--against", "data.xml"]).exits(0);
}

#[test]
fn what_the_policy_does_not_name_is_refused() {
    let dir = Dir::new();
    clinic(&dir, true, false);
    let text = dir.text("data.xml").replacen("<town>", "<phone ext=\"1\">Quetzal</phone><town>", 1);
    dir.write("data.xml", text).write("policy.toml", policy(2));
    let refused = dir.run(&["anonymize", "policy.toml"]).exits(2).hides(&["Quetzal"]);
    refused.says(&["the policy does not say what this attribute is", "path phone", "path phone/@ext"]);
    assert!(!dir.files().contains(&"out.xml".to_owned()));
    dir.run(&["anonymize", "policy.toml", "--set", "undeclared=drop"]).exits(0);
    assert!(!dir.text("out.xml").contains("phone"));
    dir.run(&["anonymize", "policy.toml", "--set", "source.record=db/person"]).exits(3).says(&[
        "the document has no record at `db/person`",
        "help: say where the records are, record = one of db/patient, db/patient/visits/visit",
    ]);
}

#[test]
fn hostile_documents_publish_nothing() {
    let dir = Dir::new();
    clinic(&dir, true, false);
    dir.write("policy.toml", policy(2)).write("secret.txt", "Quetzal");
    let clean = dir.text("data.xml");
    for (doctype, message) in [
        ("<!ENTITY x SYSTEM 'secret.txt'>", "the DOCTYPE declares an external entity"),
        ("<!ENTITY x 'North'>", "a reference to an entity that the DOCTYPE declares"),
        ("<!ENTITY a 'a'><!ENTITY x '&a;&a;'>", "the DOCTYPE declares an entity that refers to others"),
    ] {
        let hostile = clean.replacen("<db ", &format!("<!DOCTYPE db [{doctype}]>\n<db "), 1).replacen(
            "<town> North",
            "<town>&x;",
            1,
        );
        dir.write("data.xml", hostile);
        dir.run(&["anonymize", "policy.toml"])
            .exits(3)
            .says(&[message, " --> data.xml:"])
            .hides(&["Quetzal"]);
        assert!(!dir.files().contains(&"out.xml".to_owned()));
    }
}

/// Values that disassociation moved up stand under a name that is joined from those on the way, where another element has
/// their own; with a prefix, such a name must not have two.
#[test]
fn prefixed_names_that_must_be_joined_are_written_and_read_again() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "400", "--out", "c"]).exits(0);
    dir.forget_attackers("c/policy.toml");
    dir.run(&["convert", "c/data.ndjson", "plain.xml"]).exits(0);
    // The patient's home has the name of the treatments.
    let plain = dir.text("plain.xml").replace("<home>", "<treatments>").replace("</home>", "</treatments>");
    let policy = dir.text("c/policy.toml").replace("home.town", "treatments.town");
    let policy = policy.replace("data.ndjson", "data.xml").replace("published.ndjson", "out.xml");
    for prefix in ["", "h:"] {
        let mut text =
            plain.replace("</", "\u{1}").replace("<?", "\u{2}").replace('<', &format!("<{prefix}"));
        text = text.replace('\u{1}', &format!("</{prefix}")).replace('\u{2}', "<?");
        let root = format!("<{prefix}records");
        dir.write("c/data.xml", text.replacen(&root, &format!("{root} xmlns:h=\"urn:h\""), 1));
        let named = |line: &str| match line.strip_prefix("path = \"").and_then(|l| l.strip_suffix('"')) {
            Some(path) if !path.ends_with(".xml") => {
                let names: Vec<String> = path.split('.').map(|name| format!("{prefix}{name}")).collect();
                format!("path = \"{}\"\n", names.join("/"))
            }
            _ => format!("{line}\n"),
        };
        let record = format!("format = \"xml\"\nrecord = \"{prefix}records/{prefix}record\"");
        dir.write(
            "c/xml.toml",
            policy.replace("format = \"ndjson\"", &record).lines().map(named).collect::<String>(),
        );
        dir.run(&["anonymize", "c/xml.toml", "--force"]).exits(0).prints(&["relation were taken apart"]);
        let published = dir.text("c/out.xml");
        assert!(published.contains(&format!("<{prefix}visits.diagnoses.treatments>")), "{published}");
        dir.run(&["verify", "c/out.xml", "--policy", "c/xml.toml", "--against", "c/data.xml"])
            .exits(0)
            .prints(&["HOLDS", "TRUE"]);
    }
}

#[test]
fn every_level_of_nesting_took_twice_the_memory() {
    let dir = Dir::new();
    let levels = 30;
    let record = |i: usize| {
        let open: String = (1..=levels).map(|level| format!("<e{level} a=\"{}\">", i % 3)).collect();
        let close: String = (1..=levels).rev().map(|level| format!("</e{level}>")).collect();
        format!("<r x=\"{}\">{open}{close}</r>\n", i % 2)
    };
    dir.write("deep.xml", format!("<db>{}</db>", (0..20).map(record).collect::<String>()));
    let hierarchy = "hierarchy = { build = \"fanout\", fanout = 5 }";
    let path = |level: usize| (1..=level).map(|l| format!("e{l}[]/")).collect::<String>() + "@a";
    let attributes: Vec<String> = std::iter::once("@x".to_owned())
        .chain((1..=levels).map(path))
        .map(|path| attribute(&path, "quasi", hierarchy))
        .collect();
    let source = "[source]\nformat = \"xml\"\npath = \"deep.xml\"\nrecord = \"db/r\"\n";
    let privacy = format!("model = \"kmn\"\nk = 2\nm = 2\nn = 1\n{source}[publish]\npath = \"out.xml\"\n");
    dir.write("p.toml", crate::util::policy(&attributes, &privacy));
    dir.bash("ulimit -v 4000000; $BOSKET anonymize p.toml --dry-run --threads 2").exits(0);
}
