//! Kinds of a class, told by a value: one kind of entry is published, another dropped.

use crate::util::Dir;

/// Everybody has a condition, a note and a device.
fn entries(n: usize) -> String {
    let line = |i: usize| {
        let code = ["E10", "E11", "I10", "I11"][i % 4];
        format!(
            "{{\"entry\":[{{\"resource\":\"Condition\",\"code\":\"{code}\",\"at\":\"ward {}\"}},\
             {{\"resource\":\"Note\",\"code\":\"secret {i}\"}},{{\"resource\":\"Device\",\"code\":\"D{}\"}}]}}\n",
            i % 2,
            i % 3
        )
    };
    (0..n).map(line).collect()
}

const PRIVACY: &str = "[privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 1\n";

fn attribute(path: &str, rest: &str) -> String {
    format!("[[attribute]]\npath = '{path}'\n{rest}\n")
}

const QUASI: &str = "role = \"quasi\"\nhierarchy = { build = \"prefix\" }";

fn policy() -> String {
    let attributes = [
        attribute("entry[resource=Condition].code", QUASI),
        attribute("entry[resource=Condition].at", "role = \"insensitive\""),
        attribute("entry[resource=Note].code", "role = \"drop\""),
        attribute("entry[].resource", "role = \"drop\""),
        attribute("entry[].code", QUASI),
    ];
    format!(
        "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n{}{PRIVACY}[publish]\npath = \"out.ndjson\"\n",
        attributes.concat()
    )
}

#[test]
fn one_kind_of_entry_is_published_and_another_dropped() {
    let dir = Dir::new();
    dir.write("in.ndjson", entries(40)).write("policy.toml", policy());
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let text = dir.text("out.ndjson");
    assert!(!text.contains("secret") && !text.contains("Note") && !text.contains("Device"), "{text}");
    let first = text.lines().next().expect("a record");
    assert!(first.contains("\"resource\":\"Condition\"") && first.contains("\"code\":\"D"), "{first}");
    assert!(first.matches("\"resource\"").count() == 1, "{first}");
    dir.run(&["verify", "out.ndjson", "--policy", "policy.toml", "--against", "in.ndjson"]).exits(0);
    dir.run(&["attack", "--policy", "policy.toml"]).exits(0);
    dir.run(&["measure", "--policy", "policy.toml", "in.ndjson", "out.ndjson"]).exits(0);
    dir.run(&["report", "policy.toml", "-o", "report.html"]).exits(0);
    dir.certified("out.ndjson", "out.ndjson.certificate.json");
}

#[test]
fn an_entry_of_no_declared_kind_is_no_part_of_a_publication() {
    let dir = Dir::new();
    dir.write("in.ndjson", entries(40)).write("policy.toml", policy());
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let text = dir.text("out.ndjson");
    // A kind that the policy drops, and a value that tells no kind, are nothing that the policy publishes.
    for other in ["Note", "Something"] {
        dir.write("other.ndjson", text.replacen("Condition", other, 1));
        let run = dir.run(&["verify", "other.ndjson", "--policy", "policy.toml"]);
        assert_ne!(run.code, Some(0), "{other}");
    }
}

#[test]
fn all_kinds_declared_leave_nothing_else_to_declare() {
    let dir = Dir::new();
    let line = |i: usize| {
        format!(
            "{{\"o\":{{\"part\":[{{\"k\":{{\"a\":1}},\"x\":\"u{}\",\"sub\":[{{\"t\":\"A\",\"v\":\"p\"}}]}},\
             {{\"k\":{{\"a\":\"b]c\"}},\"y\":\"w{}\"}}]}}}}\n",
            i % 2,
            i % 2
        )
    };
    dir.write("in.ndjson", (0..20).map(line).collect::<String>());
    let attributes = [
        attribute("o.part[k.a=1].x", QUASI),
        attribute("o.part[k.a=1].sub[t=A].v", QUASI),
        attribute("o.part[k.a=\"b]c\"].y", QUASI),
    ];
    dir.write(
        "policy.toml",
        format!(
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n{}{PRIVACY}[publish]\npath = \"out.ndjson\"\n",
            attributes.concat()
        ),
    );
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let text = dir.text("out.ndjson");
    assert!(text.contains("\"b]c\"") && text.contains("\"t\":\"A\""), "{text}");
    dir.run(&["verify", "out.ndjson", "--policy", "policy.toml", "--against", "in.ndjson"]).exits(0);
}

#[test]
fn sections_of_xml_have_kinds_by_their_code() {
    let dir = Dir::new();
    let record = |i: usize| {
        format!(
            "<doc><section><code code=\"11450-4\"/><title>Problems</title><item><v>{}</v></item></section>\
             <section><code code=\"10160-0\"/><title>Drugs of {i}</title><item><v>x{i}</v></item></section></doc>",
            ["E10", "E11", "I10"][i % 3]
        )
    };
    dir.write("in.xml", format!("<db>{}</db>", (0..30).map(record).collect::<String>()));
    let attributes = [
        attribute("section[code/@code=11450-4]/title", "role = \"insensitive\""),
        attribute("section[code/@code=11450-4]/item[]/v", QUASI),
    ];
    dir.write(
        "policy.toml",
        format!(
            "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"xml\"\npath = \"in.xml\"\nrecord = \"db/doc\"\n\
             {}{PRIVACY}[publish]\npath = \"out.xml\"\n",
            attributes.concat()
        ),
    );
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let text = dir.text("out.xml");
    assert!(text.contains("<code code=\"11450-4\"/>") && text.contains("<title>Problems</title>"), "{text}");
    assert!(!text.contains("10160-0") && !text.contains("Drugs"), "{text}");
    dir.run(&["verify", "out.xml", "--policy", "policy.toml", "--against", "in.xml"]).exits(0);
    dir.write("other.xml", text.replacen("11450-4", "10160-0", 1));
    assert_ne!(dir.run(&["verify", "other.xml", "--policy", "policy.toml"]).code, Some(0));
}

#[test]
fn kinds_are_refused_where_nothing_tells_them() {
    let dir = Dir::new();
    dir.write("in.ndjson", entries(20)).write("policy.toml", policy());
    let refused = |policy: String, code: i32, says: &str| {
        dir.write("wrong.toml", policy);
        dir.run(&["anonymize", "wrong.toml", "--force"]).exits(code).says(&[says]);
    };
    refused(
        policy().replace("Condition].at", "Condition].resource"),
        2,
        "what tells a kind of a class is part of its name",
    );
    refused(policy().replace("model = \"kmn\"", "model = \"anatomy\""), 2, "publications in two sides");
    let line = "{\"entry\":[{\"resource\":[\"Condition\"],\"code\":\"x\"}]}\n";
    dir.write("in.ndjson", line.repeat(20));
    refused(policy(), 2, "there may be several values here");
    // A label that reads as another kind.
    dir.write("kinds.csv", "Device;Condition;*\nOther;Condition;*\nThird;Else;*\n");
    let quasi = "path = 'entry[].resource'\nrole = \"quasi\"\nhierarchy = \"kinds.csv\"\n";
    let wrong = policy()
        .replace("path = 'entry[].resource'\nrole = \"drop\"\n", quasi)
        .replace(&attribute("entry[].code", QUASI), &attribute("entry[].code", "role = \"drop\""))
        .replace("role = \"insensitive\"", "role = \"drop\"")
        .replace("k = 5", "k = 15");
    let other = entries(20).replacen("Device", "Other", 10);
    dir.write("in.ndjson", other);
    refused(wrong, 2, "the one that tells another kind");
}

#[test]
fn a_draft_says_where_a_class_has_kinds() {
    let dir = Dir::new();
    let line = |i: usize| {
        format!(
            "{{\"entry\":[{{\"resource\":\"Condition\",\"code\":\"E1{}\"}},{{\"resource\":\"Note\",\"text\":\"n{}\"}}]}}\n",
            i % 3,
            i % 2
        )
    };
    dir.write("in.ndjson", (0..20).map(line).collect::<String>());
    dir.run(&["inspect", "in.ndjson", "--draft", "policy.toml"]).exits(0).hides(&["Condition"]);
    let policy = dir.text("policy.toml").replace("\n# ", " ");
    assert!(policy.contains("kinds of `entry[]` apart: `entry[resource=…]` names one"), "{policy}");
    assert!(!policy.contains("Condition"), "{policy}");
    dir.run(&["anonymize", "policy.toml"]).exits(0);
}
