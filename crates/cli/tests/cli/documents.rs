//! Documents as they come: maps in JSON, documents of one person, folders of documents.

use crate::util::Dir;

/// People with a map of their cards, whose keys no two share, and one map with a key of all.
fn members(n: usize) -> String {
    let towns = ["Ulm", "Bonn", "Kiel"];
    let line = |i: usize| {
        let (town, tier) = (towns[i % 3], ["Gold", "Bronze"][i % 2]);
        format!(
            "{{\"town\":\"{town}\",\"cards\":{{\"c{i:06}\":{{\"tier\":\"{tier}\"}},\"d{i:06}\":{{\"tier\":\"Gold\"}}}}}}\n"
        )
    };
    (0..n).map(line).collect()
}

#[test]
fn keys_of_a_map_stand_nowhere_in_the_open() {
    let dir = Dir::new();
    dir.write("members.ndjson", members(60));
    let secrets = ["c000007", "d000012"];
    dir.run(&["inspect", "members.ndjson", "--draft", "policy.toml"])
        .exits(0)
        .prints(&["cards{}.{key}", "cards{}.tier", "120 cards{}"])
        .hides(&secrets);
    let policy = dir.text("policy.toml");
    assert!(policy.contains("path = \"cards{}.{key}\"\nrole = \"identifying\""), "{policy}");
    dir.run(&["anonymize", "policy.toml"]).exits(0).hides(&secrets);
    dir.run(&["report", "policy.toml", "-o", "report.html"]).exits(0).hides(&secrets);
    dir.run(&["verify", "published.ndjson", "--policy", "policy.toml", "--against", "members.ndjson"])
        .exits(0);
    dir.run(&["attack", "--policy", "policy.toml"]).exits(0).hides(&secrets);
    dir.certified("published.ndjson", "published.ndjson.certificate.json");
    for file in ["policy.toml", "published.ndjson", "published.ndjson.certificate.json", "report.html"] {
        let text = dir.text(file);
        assert!(secrets.iter().all(|s| !text.contains(s)), "{file} tells a key");
    }
    assert!(
        dir.text("published.ndjson").contains("\"cards\":[{\"tier\":"),
        "{}",
        dir.text("published.ndjson")
    );
}

#[test]
fn keys_of_a_map_are_published_generalized() {
    let dir = Dir::new();
    let line = |i: usize| format!("{{\"marks\":{{\"{}\":{},\"{}\":1}}}}\n", 100 + i % 4, i % 2, 200 + i % 2);
    dir.write("marks.ndjson", (0..40).map(line).collect::<String>());
    dir.write(
        "policy.toml",
        "version = 1\n[source]\nformat = \"ndjson\"\npath = \"marks.ndjson\"\n\
         [[attribute]]\npath = \"marks{}.{key}\"\nrole = \"quasi\"\nhierarchy = { build = \"prefix\" }\n\
         [[attribute]]\npath = \"marks{}.{value}\"\nrole = \"insensitive\"\n\
         [privacy]\nmodel = \"kmn\"\nk = 15\nm = 2\nn = 1\n[publish]\npath = \"out.ndjson\"\n",
    );
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let text = dir.text("out.ndjson");
    assert!(text.contains("\"key\":\"1") && !text.contains("\"100\""), "{text}");
    dir.run(&["verify", "out.ndjson", "--policy", "policy.toml", "--against", "marks.ndjson"]).exits(0);
}

#[test]
fn rare_keys_are_counted_and_not_named() {
    let dir = Dir::new();
    let line = |i: usize| match i {
        7 => "{\"town\":\"Ulm\",\"notes\":{\"common\":1,\"Quetzal\":2}}\n".to_owned(),
        8 => "{\"town\":\"Ulm\",\"notes\":{\"common\":1,\"Xolotl\":{\"a\":2,\"b\":3}}}\n".to_owned(),
        _ => format!("{{\"town\":\"{}\",\"notes\":{{\"common\":1}}}}\n", ["Ulm", "Bonn"][i % 2]),
    };
    dir.write("people.ndjson", (0..40).map(line).collect::<String>());
    let secrets = ["Quetzal", "Xolotl"];
    dir.run(&["inspect", "people.ndjson", "--draft", "policy.toml"])
        .exits(0)
        .prints(&["2 rare keys below `notes` are not named"])
        .hides(&secrets);
    let policy = dir.text("policy.toml");
    assert!(policy.contains("2 rare keys") && secrets.iter().all(|s| !policy.contains(s)), "{policy}");
    dir.run(&["anonymize", "policy.toml"]).exits(0).hides(&secrets);
    dir.run(&["report", "policy.toml", "-o", "report.html"]).exits(0).hides(&secrets);
    for file in ["published.ndjson", "published.ndjson.certificate.json", "report.html"] {
        assert!(secrets.iter().all(|s| !dir.text(file).contains(s)), "{file} tells a key");
    }
    // Whoever wants all declared hears how many are not.
    dir.write("strict.toml", policy.replace("undeclared = \"drop\"", "undeclared = \"refuse\""));
    dir.run(&["anonymize", "strict.toml", "--force"])
        .exits(2)
        .says(&["the policy does not declare 3 attributes with keys that fewer than five people have"])
        .hides(&secrets);
    dir.run(&["inspect", "people.ndjson", "--show-values"]).exits(0).prints(&secrets);
}

#[test]
fn a_declared_key_of_a_handful_is_refused_unless_acknowledged() {
    let dir = Dir::new();
    let line = |i: usize| {
        let rare = if i == 7 { ",\"Quetzal\":\"y\"" } else { "" };
        format!("{{\"notes\":{{\"common\":\"x{}\"{rare}}}}}\n", i % 2)
    };
    dir.write("in.ndjson", (0..40).map(line).collect::<String>());
    let policy = |more: &str| {
        format!(
            "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"ndjson\"\npath = \"in.ndjson\"\n\
             [[attribute]]\npath = \"notes.common\"\nrole = \"quasi\"\nhierarchy = {{ build = \"prefix\" }}\n{more}\
             [privacy]\nmodel = \"k-anonymity\"\nk = 5\n[publish]\npath = \"out.ndjson\"\n"
        )
    };
    let rare = "[[attribute]]\npath = \"notes.Quetzal\"\nrole = \"drop\"\n";
    dir.write("policy.toml", policy(rare));
    dir.run(&["anonymize", "policy.toml"])
        .exits(2)
        .says(&["`notes.Quetzal` has a key that fewer than five people have", "acknowledge = true"]);
    dir.write("policy.toml", policy(&format!("{rare}acknowledge = true\n")));
    dir.run(&["anonymize", "policy.toml"]).exits(0).says_nothing();
    // What nobody has names nobody.
    dir.write("policy.toml", policy("[[attribute]]\npath = \"notes.Xolotl\"\nrole = \"drop\"\n"));
    dir.run(&["anonymize", "policy.toml", "--force"]).exits(0);
}

/// Six grade sheets of each student; `grade` is the same for as many.
fn sheets(students: usize) -> Vec<(usize, String, String)> {
    let sheet = |i: usize| {
        let (student, term) = (i % students, i / students);
        (student, ["maths", "music"][term % 2].to_owned(), ["A", "B"][student % 2].to_owned())
    };
    (0..students * 6).map(sheet).collect()
}

#[test]
fn sheets_of_one_student_are_gathered() {
    let dir = Dir::new();
    let line = |(student, class, grade): &(usize, String, String)| {
        format!(
            "{{\"student_id\":{student},\"class\":\"{class}\",\"scores\":[{{\"type\":\"exam\",\"grade\":\"{grade}\"}}]}}\n"
        )
    };
    let data: String = sheets(12).iter().map(line).collect();
    dir.write("sheets.ndjson", &data);
    dir.run(&["inspect", "sheets.ndjson", "--draft", "policy.toml"])
        .exits(0)
        .prints(&["72 documents of 12 people, gathered by `student_id`", "document[].scores[].grade"]);
    let policy = dir.text("policy.toml").replace("\"undecided\"", "\"nothing\"");
    assert!(policy.contains("person = \"student_id\""), "{policy}");
    dir.write("policy.toml", &policy);
    dir.run(&["anonymize", "policy.toml"]).exits(0).prints(&["records: 12 of 12"]);
    dir.run(&["verify", "published.ndjson", "--policy", "policy.toml", "--against", "sheets.ndjson"])
        .exits(0);
    dir.run(&["attack", "--policy", "policy.toml"]).exits(0);
    dir.run(&["report", "policy.toml", "-o", "report.html"]).exits(0);
    dir.certified("published.ndjson", "published.ndjson.certificate.json");
    let published = dir.text("published.ndjson");
    assert!(published.lines().count() == 12 && !published.contains("student_id"), "{published}");
    // Six sheets of one student are no six people.
    dir.run(&["anonymize", "policy.toml", "--set", "privacy.k=13", "--force"]).exits(4);
    // A sheet of nobody is refused.
    dir.write("sheets.ndjson", format!("{data}{{\"class\":\"art\"}}\n"));
    dir.run(&["anonymize", "policy.toml", "--force"]).exits(3).says(&["nothing says whose document this is"]);
    let two = policy.replace("model = \"kmn\"", "model = \"anatomy\"");
    dir.write("two.toml", two);
    dir.run(&["anonymize", "two.toml", "--force"]).exits(2);
}

#[test]
fn sheets_of_one_student_are_gathered_from_parquet() {
    let dir = Dir::new();
    let line = |(student, class, grade): &(usize, String, String)| {
        format!("{{\"student_id\":{student},\"class\":\"{class}\",\"scores\":[{{\"grade\":\"{grade}\"}}]}}\n")
    };
    dir.write("sheets.ndjson", sheets(12).iter().map(line).collect::<String>());
    dir.run(&["convert", "sheets.ndjson", "sheets.parquet"]).exits(0);
    let policy = |format: &str| {
        format!(
            "version = 1\n[source]\nformat = \"{format}\"\npath = \"sheets.{format}\"\nperson = \"student_id\"\n\
             [[attribute]]\npath = \"document[].class\"\nrole = \"insensitive\"\n\
             [[attribute]]\npath = \"document[].scores[].grade\"\nrole = \"quasi\"\nhierarchy = {{ build = \"fanout\", fanout = 2 }}\n\
             [privacy]\nmodel = \"kmn\"\nk = 5\nm = 2\nn = 1\n[publish]\npath = \"out.{format}\"\n"
        )
    };
    for format in ["ndjson", "parquet"] {
        let (own, out) = (format!("{format}.toml"), format!("out.{format}"));
        dir.write(&own, policy(format));
        dir.run(&["anonymize", &own]).exits(0).prints(&["records: 12 of 12"]);
        let source = format!("sheets.{format}");
        dir.run(&["verify", &out, "--policy", &own, "--against", &source]).exits(0);
    }
    dir.run(&["convert", "out.parquet", "again.ndjson"]).exits(0);
    assert_eq!(dir.text("again.ndjson"), dir.text("out.ndjson"));
}

#[test]
fn sheets_of_one_student_are_gathered_from_xml_and_json() {
    let dir = Dir::new();
    let xml = |(student, class, grade): &(usize, String, String)| {
        format!(
            "<sheet student_id=\"{student}\"><class>{class}</class><score><grade>{grade}</grade></score></sheet>\n"
        )
    };
    let json = |(student, class, grade): &(usize, String, String)| {
        format!("{{\"student_id\":\"{student}\",\"class\":\"{class}\",\"score\":{{\"grade\":\"{grade}\"}}}}")
    };
    dir.write("sheets.xml", format!("<db>{}</db>", sheets(12).iter().map(xml).collect::<String>()))
        .write("sheets.json", format!("[{}]", sheets(12).iter().map(json).collect::<Vec<_>>().join(",")));
    for (file, record) in [("sheets.xml", &["--record", "db/sheet"][..]), ("sheets.json", &[])] {
        dir.run(&[&["inspect", file, "--draft", "policy.toml", "--force"], record].concat())
            .exits(0)
            .prints(&["72 documents of 12 people, gathered by `"]);
        dir.write("policy.toml", dir.text("policy.toml").replace("\"undecided\"", "\"nothing\""));
        dir.run(&["anonymize", "policy.toml", "--force"]).exits(0).prints(&["records: 12 of 12"]);
        let out = file.replace("sheets", "published");
        dir.run(&["verify", &out, "--policy", "policy.toml", "--against", file]).exits(0);
        dir.certified(&out, &format!("{out}.certificate.json"));
        assert!(dir.text(&out).contains("document"), "{}", dir.text(&out));
    }
}

#[test]
fn elements_of_which_nothing_is_published_are_not_there() {
    let dir = Dir::new();
    let line = |i: usize| {
        let more = "{\"id\":9}".to_owned() + &",{\"id\":8}".repeat(i % 3);
        format!("{{\"town\":\"Ulm\",\"entry\":[{{\"id\":{i},\"v\":1}},{more}],\"only\":[{{\"id\":{i}}}]}}\n")
    };
    dir.write("people.ndjson", (0..20).map(line).collect::<String>());
    let xml: String = (0..20)
        .map(|i| {
            format!(
                "<p><town>Ulm</town><entry><id>{i}</id><v>1</v></entry>{}</p>",
                "<entry><id>9</id></entry>".repeat(i % 3)
            )
        })
        .collect();
    dir.write("people.xml", format!("<db>{xml}</db>"));
    for model in ["kmn\"\nm = 2\nn = 1", "k-anonymity\""] {
        for (format, rest, slash) in [("ndjson", "", '.'), ("xml", "record = \"db/p\"\n", '/')] {
            let attribute = |path: &str, role: &str, more: &str| {
                format!(
                    "[[attribute]]\npath = \"{}\"\nrole = \"{role}\"\n{more}\n",
                    path.replace('.', &slash.to_string())
                )
            };
            let fanout = "hierarchy = { build = \"fanout\", fanout = 5 }";
            let attributes = [
                attribute("town", "quasi", fanout),
                attribute("entry[].id", "identifying", ""),
                attribute("entry[].v", "quasi", fanout),
            ];
            let policy = format!(
                "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"{format}\"\npath = \"people.{format}\"\n{rest}{}\
                 [privacy]\nmodel = \"{model}\nk = 5\n[publish]\npath = \"out.{format}\"\n",
                attributes.concat()
            );
            dir.write("policy.toml", policy);
            dir.run(&["anonymize", "policy.toml", "--force"]).exits(0);
            let text = dir.text(&format!("out.{format}"));
            assert!(!text.contains("{}") && !text.contains("<entry/>"), "{text}");
            // How many empty ones there were does not tell people apart.
            let mut lines: Vec<&str> = text.lines().filter(|l| l.contains("Ulm")).collect();
            lines.dedup();
            assert_eq!(lines.len(), 1, "{text}");
            let out = format!("out.{format}");
            dir.run(&["verify", &out, "--policy", "policy.toml", "--against", &format!("people.{format}")])
                .exits(0);
        }
    }
}

/// A clinical document with text for people in it, and a second namespace.
fn clinical(i: usize) -> String {
    let (town, code) = (["Ulm", "Bonn"][i % 2], ["E11", "I10"][i % 2]);
    format!(
        "<?xml version=\"1.0\"?>\n<ClinicalDocument xmlns=\"urn:hl7-org:v3\" xmlns:sdtc=\"urn:hl7-org:sdtc\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><patient><name><given>Quetzal</given><family>Xolotl</family></name>\
         <addr><city>{town}</city></addr></patient><component><section><code code=\"11450-4\"/>\
         <text>Seen <b>on</b> Monday<table xmlns=\"http://www.w3.org/1999/xhtml\"><tr><td>{i}</td></tr></table></text>\
         <entry><value xsi:type=\"CD\" code=\"{code}\" displayName=\"Name of {code}\"/></entry>\
         <component><section><text>More <i>text</i></text></section></component></section></component></ClinicalDocument>\n"
    )
}

#[test]
fn a_folder_of_clinical_documents_is_published() {
    let dir = Dir::new();
    for i in 0..20 {
        dir.write(&format!("records/{i:02}.xml"), clinical(i));
    }
    let secrets = ["Quetzal", "Xolotl", "Monday"];
    dir.run(&["inspect", "records", "--draft", "policy.toml"])
        .exits(0)
        .prints(&["xml: 20 records", "patient/addr/city", "component/section/entry/value/@code"])
        .hides(&secrets);
    let policy = dir.text("policy.toml");
    assert!(policy.contains("record = \"ClinicalDocument\""), "{policy}");
    assert!(policy.contains("path = \"component/section/text\"\nrole = \"identifying\""), "{policy}");
    dir.run(&["anonymize", "policy.toml"]).exits(0).hides(&secrets);
    let text = dir.text("published.xml");
    assert!(text.contains("<city>Ulm</city>") && secrets.iter().all(|s| !text.contains(s)), "{text}");
    dir.run(&["verify", "published.xml", "--policy", "policy.toml", "--against", "records"]).exits(0);
    dir.run(&["attack", "--policy", "policy.toml"]).exits(0);
    dir.run(&["report", "policy.toml", "-o", "report.html"]).exits(0);
    dir.certified("published.xml", "published.xml.certificate.json");
    // What is not looked into cannot be published, and nothing of it converted.
    dir.write(
        "open.toml",
        policy.replace(
            "path = \"component/section/text\"\nrole = \"identifying\"",
            "path = \"component/section/text\"\nrole = \"insensitive\"",
        ),
    );
    dir.run(&["anonymize", "open.toml", "--force"]).exits(3).says(&["mixes text and elements"]);
    dir.run(&["convert", "policy.toml", "all.ndjson"]).exits(3);
}

#[test]
fn a_folder_of_json_documents_is_published() {
    let dir = Dir::new();
    for i in 0..20 {
        let text = format!(
            "{{\n  \"town\": \"{}\",\n  \"visits\": [{{\"code\": \"c\"}}]\n}}\n",
            ["Ulm", "Bonn"][i % 2]
        );
        dir.write(&format!("people/{i:02}.json"), text);
    }
    dir.run(&["inspect", "people", "--draft", "policy.toml"]).exits(0).prints(&["json: 20 records"]);
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    dir.run(&["verify", "published.json", "--policy", "policy.toml", "--against", "people"]).exits(0);
    // The next run would read it as somebody's.
    dir.run(&["anonymize", "policy.toml", "--set", "publish.path=people/x.json"])
        .exits(2)
        .says(&["would lie in the folder that the documents are read from"]);
}
