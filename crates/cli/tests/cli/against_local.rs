//! `verify --against` where each record is recoded by itself: vertex trees, and sets in parts.

use bosket_testkit::shared::shared_text;
use serde_json::json;

use crate::util::{Dir, Output, attribute, policy};

const TRUE: &str = "TRUE: the publication says nothing that the input does not.";

/// Their two-anonymization: Calc of S1 and Am.Hist of S4 are pruned.
const PUBLISHED: &str = r#"{"gpa":3.72,"takes":[{"course":"Science","grade":93,"books":[{"book":"Discrete"}]},{"course":"Physics","grade":91,"books":[{"book":"Dyn"}]},{"course":"Social","grade":85}]}
{"gpa":2.34,"takes":[{"course":"Science","grade":78,"books":[{"book":"Discrete"}]},{"course":"Physics","grade":82,"books":[{"book":"Dyn"}]},{"course":"Social","grade":74}]}
{"gpa":2.71,"takes":[{"course":"History","grade":60},{"course":"Religion","grade":66}]}
{"gpa":4.0,"takes":[{"course":"History","grade":98},{"course":"Religion","grade":95}]}
"#;

/// The four students with their hierarchies and a policy.
fn students() -> Option<Dir> {
    let dir = Dir::new();
    dir.write("input.ndjson", shared_text("golden/clusters/students.ndjson")?);
    dir.write("course.csv", shared_text("golden/clusters/students.course.csv")?);
    dir.write("book.csv", shared_text("golden/clusters/students.book.csv")?);
    let attributes = [
        attribute("sid", "identifying", ""),
        attribute("gpa", "sensitive", ""),
        attribute("takes[].course", "quasi", "hierarchy = \"course.csv\""),
        attribute("takes[].grade", "sensitive", ""),
        attribute("takes[].books[].book", "quasi", "hierarchy = \"book.csv\""),
    ];
    dir.write("policy.toml", policy(&attributes, "model = \"k-anonymity\"\nk = 2"));
    Some(dir)
}

#[track_caller]
fn against(dir: &Dir, published: &str, code: i32, more: &[&str]) -> Output {
    dir.write("published.ndjson", published);
    let args =
        ["verify", "published.ndjson", "--policy", "policy.toml", "--foreign", "--against", "input.ndjson"];
    dir.run(&[&args[..], more].concat()).exits(code)
}

/// The publication with one place changed.
fn with(from: &str, to: &str) -> String {
    let changed = PUBLISHED.replacen(from, to, 1);
    assert_ne!(changed, PUBLISHED, "{from} is not there");
    changed
}

#[test]
fn students_that_are_true() {
    let Some(dir) = students() else {
        return;
    };
    against(&dir, PUBLISHED, 0, &[])
        .says_nothing()
        .prints(&["HOLDS: every record looks like at least one other", TRUE]);
    let backwards: Vec<&str> = PUBLISHED.lines().rev().collect();
    against(&dir, &backwards.join("\n"), 0, &[]).prints(&[TRUE]);
    // A record, or a whole class, may be suppressed.
    let first: Vec<&str> = PUBLISHED.lines().take(2).collect();
    against(&dir, &first.join("\n"), 0, &[]).prints(&[TRUE]);
    // Any node above the value will do, up to the root.
    against(&dir, &PUBLISHED.replace("Religion", "*"), 0, &[]).prints(&[TRUE]);
}

#[test]
fn students_that_are_not_true() {
    let Some(dir) = students() else {
        return;
    };
    let wrong = [
        (
            "an invented vertex",
            with(
                "{\"course\":\"Social\",\"grade\":85}",
                "{\"course\":\"Social\",\"grade\":85},{\"course\":\"Social\",\"grade\":85}",
            ),
            "records: 1",
        ),
        ("a changed sensitive value", with("\"grade\":60", "\"grade\":61"), "records: 3"),
        ("a sensitive value left out", with("\"gpa\":2.71,", ""), "records: 3"),
        ("another branch", with("Physics", "Social"), "records: 1"),
        ("a value left out", with("\"course\":\"Science\",", ""), "records: 1"),
        (
            "a book of another course",
            with(
                "{\"course\":\"Social\",\"grade\":85}",
                "{\"course\":\"Social\",\"grade\":85,\"books\":[{\"book\":\"Calc\"}]}",
            ),
            "records: 1",
        ),
        ("a number that nobody has", with("2.34", "2.35"), "records: 2"),
        (
            "an unknown label",
            with("Science", "Sciences"),
            "takes[].course: 1 published value is in no hierarchy",
        ),
        (
            "a name left in",
            with("{\"gpa\":2.34", "{\"sid\":\"S2\",\"gpa\":2.34"),
            "sid: the policy removes this attribute",
        ),
        (
            "a record twice",
            format!("{PUBLISHED}{}\n", PUBLISHED.lines().next().expect("one")),
            "5 records are published",
        ),
    ];
    for (what, published, said) in wrong {
        dir.write("published.ndjson", &published);
        let found = against(&dir, &published, 1, &[]);
        assert!(found.stdout.contains("NOT TRUE to the input:\n"), "{what}:\n{}", found.stdout);
        assert!(found.stdout.contains(said), "{what}:\n{}", found.stdout);
    }
    // Two records that could only come from the same one.
    let lines: Vec<&str> = PUBLISHED.lines().collect();
    let twice = [lines[0], lines[0], lines[2], lines[3]].join("\n");
    let found = against(&dir, &twice, 1, &["--json"]).json();
    assert_eq!(found["truth"]["problems"][0]["records"], json!([2]));
}

#[test]
fn unknown_labels_of_every_attribute_are_told() {
    let Some(dir) = students() else {
        return;
    };
    let published =
        PUBLISHED.replace("Social", "Sozial").replace("Dyn", "Din").replace("Discrete", "Diskret");
    let found = against(&dir, &published, 1, &[]);
    found.prints(&[
        "takes[].course: 1 published value is in no hierarchy",
        "takes[].books[].book: 2 published values are in no hierarchy",
    ]);
}

#[test]
fn a_mapping_pairs_students() {
    let Some(dir) = students() else {
        return;
    };
    dir.write("right.csv", "input_record,published_record\n4,4\n1,1\n3,3\n2,2\n");
    against(&dir, PUBLISHED, 0, &["--mapping", "right.csv"]).prints(&[TRUE]);
    dir.write("wrong.csv", "input_record,published_record\n3,1\n2,2\n1,3\n4,4\n");
    let found = against(&dir, PUBLISHED, 1, &["--mapping", "wrong.csv"]);
    found.prints(&["not what the declared operations make of their input records\n    records: 1 3\n"]);
}

#[test]
fn many_records_need_a_mapping() {
    let dir = Dir::new();
    dir.write("policy.toml", policy(&[attribute("a", "quasi", "")], "model = \"k-anonymity\"\nk = 2"));
    let rows = |n: usize| format!("a\n{}", "x\n".repeat(n));
    let args = ["verify", "published.csv", "--policy", "policy.toml", "--foreign", "--against", "input.csv"];
    dir.write("published.csv", rows(20_001)).write("input.csv", rows(20_001));
    let found = dir.run(&args).exits(2);
    found.says(&[
        "local recoding is only checked up to 20000 records",
        "help: give the private mapping with --mapping",
    ]);
    let pairs: String = (1..=20_001).map(|i| format!("{i},{i}\n")).collect();
    dir.write("mapping.csv", format!("input_record,published_record\n{pairs}"));
    dir.run(&[&args[..], &["--mapping", "mapping.csv"]].concat()).exits(0).prints(&[TRUE]);
}

#[test]
fn sets_in_parts_may_have_a_cut_each() {
    let dir = Dir::new();
    dir.write("input.ndjson", "a1 b1\na2 b1\na1 b2\na1 b1 b2\n")
        .write("h.csv", "a1;A;*\na2;A;*\nb1;B;*\nb2;B;*\n");
    let item = attribute("item", "quasi", "hierarchy = \"h.csv\"");
    let source = "[source]\nformat = \"transactions\"\npath = \"input.dat\"\n[method]\nalgorithm = \"lra\"";
    dir.write("policy.toml", policy(&[item], &format!("model = \"km\"\nk = 2\nm = 2\n{source}")));
    against(&dir, "A b1\nA b1\na1 B\na1 B\n", 0, &[]).prints(&["HOLDS", TRUE]);
    against(&dir, "A b1\nA b1\na1 B\n\n", 1, &[]).prints(&[TRUE]);
    against(&dir, "A b1\nA b1\na1 B\na1 B b1\n", 1, &[]).prints(&["NOT TRUE", "records: 4"]);
    against(&dir, "A b1\nA b1\na1 b2\na1 b2\n", 1, &[]).prints(&["HOLDS", "NOT TRUE"]);
    against(&dir, "A b1\nA b1\na1 B\na1 Z\n", 1, &[]).prints(&["item: 1 published value is in no hierarchy"]);
}

#[test]
fn a_text_that_followed_its_code_was_called_untrue_here_too() {
    for role in ["quasi", "insensitive"] {
        let dir = Dir::new();
        dir.write("h.csv", "J06;J;*\nJ20;J;*\n");
        let code = attribute("v[].code", "quasi", "hierarchy = \"h.csv\"");
        let text = attribute("v[].text", role, "follows = \"v[].code\"");
        dir.write("policy.toml", policy(&[code, text], "model = \"k-anonymity\"\nk = 2"));
        dir.write("input.ndjson", "{\"v\":[{\"code\":\"J06\",\"text\":\"cold\"}]}\n{\"v\":[{\"code\":\"J20\",\"text\":\"cough\"}]}\n");
        against(&dir, &"{\"v\":[{\"code\":\"J\"}]}\n".repeat(2), 0, &[]).prints(&[TRUE]);
        against(&dir, &"{\"v\":[{\"code\":\"J\",\"text\":\"J\"}]}\n".repeat(2), 0, &[]).prints(&[TRUE]);
        against(&dir, &"{\"v\":[{\"code\":\"J\",\"text\":\"cold\"}]}\n".repeat(2), 1, &[])
            .prints(&["NOT TRUE", "records: 2"]);
    }
}

/// What `anonymize` publishes must stand up to `verify --against`, with its own mapping and without.
#[test]
fn a_publication_of_our_own_is_true() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "200", "--out", "."]).exits(0);
    let run = dir.run(&[
        "anonymize",
        "policy.toml",
        "--set",
        "privacy.k=3",
        "--set",
        "publish.mapping=private/mapping.csv",
    ]);
    run.exits(0).says_nothing();
    let args = [
        "verify",
        "published.ndjson",
        "--policy",
        "policy.toml",
        "--set",
        "privacy.k=3",
        "--against",
        "data.ndjson",
    ];
    dir.run(&args).exits(0).says_nothing().prints(&["HOLDS", TRUE]);
    dir.run(&[&args[..], &["--mapping", "private/mapping.csv"]].concat())
        .exits(0)
        .says_nothing()
        .prints(&[TRUE]);
    let other = dir.text("published.ndjson").replacen("\"hospital\":\"", "\"hospital\":\"New ", 1);
    dir.write("published.ndjson", other);
    dir.run(&args).exits(1).prints(&["NOT TRUE"]);
}

/// What docs/verify.md says of pruned records.
#[test]
fn pruned_rows_and_values_that_were_left_out() {
    let dir = Dir::new();
    let attributes = [
        attribute("town", "quasi", "hierarchy = 'town.csv'"),
        attribute("visits[].ward", "quasi", "hierarchy = 'ward.csv'"),
        attribute("visits[].code", "sensitive", ""),
    ];
    let places = "[source]\nformat = 'ndjson'\npath = 'in.ndjson'\n[publish]\npath = 'out.ndjson'\n";
    let own = "{\"town\":\"Graz\",\"visits\":[{\"ward\":\"x\",\"code\":\"J45\"},{\"ward\":\"y\",\"code\":\"I10\"}]}\n";
    let other = "{\"town\":\"Wien\",\"visits\":[{\"ward\":\"x\",\"code\":\"E11\"}]}\n";
    dir.write("in.ndjson", [own, other].concat())
        .write("town.csv", "Graz;AT;*\nWien;AT;*\nBern;CH;*\n")
        .write("ward.csv", "x;*\ny;*\n");
    let of_other = "{\"town\":\"AT\",\"visits\":[{\"ward\":\"*\",\"code\":\"E11\"}]}";
    let published = [
        ("{\"town\":\"AT\",\"visits\":[{\"ward\":\"*\",\"code\":\"I10\"}]}", true),
        ("{\"town\":\"*\"}", true),
        ("{\"visits\":[{\"ward\":\"*\",\"code\":\"I10\"}]}", false),
        ("{\"town\":\"AT\",\"visits\":[{\"code\":\"I10\"}]}", false),
        ("{\"town\":\"AT\",\"visits\":[{\"ward\":\"*\"}]}", false),
        ("{\"town\":\"AT\",\"visits\":[{\"ward\":\"x\",\"code\":\"I10\"}]}", false),
        (
            "{\"town\":\"AT\",\"visits\":[{\"ward\":\"*\",\"code\":\"I10\"},{\"ward\":\"*\",\"code\":\"I10\"}]}",
            false,
        ),
    ];
    let documented = include_str!("../../../../docs/verify.md");
    for privacy in ["model = 'k-anonymity'\nk = 2", "model = 'l-diversity'\nk = 2\nl = 2"] {
        dir.write("p.toml", policy(&attributes, privacy) + places);
        let against = |lines: &[&str]| {
            dir.write("pub.ndjson", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
            // These records need not look alike, nor stand in the order of a publication.
            let args = ["verify", "pub.ndjson", "--foreign", "--policy", "p.toml", "--against", "in.ndjson"];
            let found = dir.run(&args);
            assert!(found.stdout.contains("TRUE"), "{lines:?}: {}{}", found.stdout, found.stderr);
            !found.stdout.contains("NOT TRUE")
        };
        for (record, is_true) in published {
            assert_eq!(against(&[record, of_other]), is_true, "{privacy}: {record}");
            let verdict = if is_true { "true" } else { "not true" };
            assert!(documented.contains(&format!("| `{record}` | {verdict}: ")), "{record}");
        }
        // A record may be missing, and none stands for two.
        assert!(against(&[of_other]));
        assert!(!against(&[of_other, of_other]));
    }
}
