//! `bosket anonymize` with models k-anonymity and l-diversity: every source, the attacks that single tables miss, refusals.

use bosket_testkit::server::Server;

use crate::util::{Dir, attribute, golden, policy};

fn students(kind: &str, number: &str) -> Dir {
    let dir = Dir::new();
    dir.run(&["generate", "students", "--students", number, "--kind", kind, "--out", "s"]).exits(0);
    dir
}

#[test]
fn students_from_every_source_are_published_alike() {
    for kind in ["school", "syntheticS", "syntheticT"] {
        let dir = students(kind, "60");
        let mut figures = Vec::new();
        for (policy, published) in [
            ("s/policy.toml", "s/published.ndjson"),
            ("s/tables/policy-csv.toml", "s/tables/published"),
            ("s/tables/policy-sqlite.toml", "s/tables/published.db"),
        ] {
            let made = dir.run(&["anonymize", policy, "--json"]).exits(0).json();
            assert_eq!(made["verified"], true);
            figures.push((made["records"].clone(), made["lm"].clone(), made["clusters"].clone()));
            dir.run(&["verify", published, "--policy", policy]).exits(0);
            let certificate = dir.certified(published, &format!("{published}.certificate.json"));
            assert_eq!(certificate["loss"]["lm"], made["lm"]);
        }
        assert!(figures.iter().all(|f| *f == figures[0]), "{kind}: {figures:?}");
    }
}

#[test]
fn what_is_published_is_true() {
    let dir = students("syntheticS", "80");
    let set = "publish.mapping=private/mapping.csv";
    for (algorithm, matching) in
        [("clustree", "lsap"), ("ctoff", "grd"), ("miracle", "grd"), ("miraclex", "x"), ("dmiracle", "grd")]
    {
        let algorithm = format!("method.algorithm={algorithm}");
        let matching = format!("method.matching={matching}");
        let sets = ["--set", set, "--set", &algorithm, "--set", &matching, "--set", "privacy.l=2"];
        let run = [&["anonymize", "s/policy.toml", "--force"], &sets[..]].concat();
        dir.run(&run).exits(0);
        let verify = ["verify", "s/published.ndjson", "--policy", "s/policy.toml"];
        let against = ["--against", "s/data.ndjson", "--mapping", "s/private/mapping.csv"];
        dir.run(&[&verify, &against[..], &sets[2..]].concat()).exits(0);
    }
}

#[test]
fn threads_do_not_change_a_byte() {
    let dir = students("syntheticS", "120");
    dir.run(&["anonymize", "s/policy.toml", "--threads", "1"]).exits(0);
    let one = dir.read("s/published.ndjson");
    dir.run(&["anonymize", "s/policy.toml", "--threads", "4", "--force"]).exits(0);
    assert_eq!(one, dir.read("s/published.ndjson"));
}

#[test]
fn join_keys_stay_joins() {
    let dir = students("school", "60");
    dir.run(&["anonymize", "s/tables/policy-csv.toml"]).exits(0);
    let column = |file: &str, at: usize| -> Vec<String> {
        let text = dir.text(&format!("s/tables/published/{file}.csv"));
        text.lines().skip(1).map(|l| l.split(',').nth(at).expect("a cell").to_owned()).collect()
    };
    let students = column("student", 0);
    assert!(students.iter().all(|sid| sid.parse::<u32>().is_ok()), "keys are fresh numbers");
    assert!(column("takes", 1).iter().all(|sid| students.contains(sid)));
    let taken = column("takes", 0);
    assert!(column("book", 0).iter().all(|scid| taken.contains(scid)));
}

fn refused() -> String {
    let attributes = ["major", "yob", "takes[].class"].map(|path| attribute(path, "quasi", ""));
    let sensitive = ["gpa", "takes[].grade"].map(|path| attribute(path, "sensitive", ""));
    policy(&[&attributes[..], &sensitive[..]].concat(), "model = \"k-anonymity\"\nk = 2")
}

/// Each table is 2-anonymous by itself, or all rows of the joined table are; the people are not.
#[test]
fn tables_anonymized_one_by_one_and_the_universal_relation_are_refused() {
    let dir = Dir::new();
    dir.write("policy.toml", refused());
    for file in ["refuse_separate_tables.ndjson", "refuse_universal_relation.ndjson"] {
        let Some(path) = golden(&format!("clusters/{file}")) else { return };
        dir.run(&["verify", &path, "--policy", "policy.toml"]).exits(1);
    }
}

/// All members of a class have the same grade: it is 2-anonymous and gives the grade away.
#[test]
fn a_homogeneous_class_is_refused_as_not_diverse() {
    let dir = Dir::new();
    dir.write("policy.toml", refused());
    let Some(path) = golden("clusters/refuse_homogeneous.ndjson") else { return };
    dir.run(&["verify", &path, "--policy", "policy.toml", "--foreign"]).exits(0);
    let diverse = refused().replace("\"k-anonymity\"\nk = 2", "\"l-diversity\"\nl = 2");
    dir.write("diverse.toml", diverse);
    dir.run(&["verify", &path, "--policy", "diverse.toml"]).exits(1);
}

/// The same records, anonymized as people: what comes out withstands all three.
#[test]
fn the_same_people_anonymized_together_are_accepted() {
    let dir = Dir::new();
    let mut records = String::new();
    for (major, yob, gpa, classes) in [
        ("CS", 1991, 3.25, "CS201:A CS204:A-"),
        ("CS", 1992, 2.67, "CS401:B CS402:B+"),
        ("CS", 1993, 2.17, "CS301:C+"),
        ("CS", 1994, 3.78, "CS301:A CS302:A-"),
        ("EE", 1993, 2.96, "CS302:B"),
        ("EE", 1991, 3.10, "CS201:B- CS404:A-"),
    ] {
        let takes: Vec<_> = classes.split(' ').map(|c| c.split_once(':').expect("a grade")).collect();
        let takes: Vec<_> = takes.iter().map(|(c, g)| serde_json::json!({"class": c, "grade": g})).collect();
        let line = serde_json::json!({"major": major, "yob": yob, "gpa": gpa, "takes": takes});
        records.push_str(&format!("{line}\n"));
    }
    let attributes = [
        attribute("major", "quasi", "hierarchy = { build = 'order', groups = ['CS', 'EE'] }"),
        attribute("yob", "quasi", "hierarchy = { build = 'interval', min = 1990, max = 1999, widths = [5] }"),
        attribute("gpa", "sensitive", ""),
        attribute("takes[].class", "quasi", "hierarchy = { build = 'prefix' }"),
        attribute("takes[].grade", "sensitive", ""),
    ];
    let source = "[source]\nformat = 'ndjson'\npath = 'data.ndjson'\n[publish]\npath = 'out.ndjson'\n";
    for privacy in ["model = \"k-anonymity\"\nk = 2", "model = \"l-diversity\"\nl = 2"] {
        dir.write("data.ndjson", &records).write("policy.toml", policy(&attributes, privacy) + source);
        dir.run(&["anonymize", "policy.toml", "--force"]).exits(0);
        dir.run(&["verify", "out.ndjson", "--policy", "policy.toml", "--against", "data.ndjson"]).exits(0);
    }
}

#[test]
fn one_flat_table() {
    let dir = Dir::new();
    let rows: String = (0..40)
        .map(|i| format!("{},{},{}\n", 20 + i % 7, ["F", "M"][i % 2], ["a", "b", "c"][i % 3]))
        .collect();
    dir.write("people.csv", format!("age,sex,illness\n{rows}"));
    let attributes = [
        attribute("age", "quasi", "hierarchy = { build = 'interval', min = 20, max = 29, widths = [5] }"),
        attribute("sex", "quasi", "hierarchy = { build = 'order', groups = ['F', 'M'] }"),
        attribute("illness", "sensitive", ""),
    ];
    let source = "[source]\nformat = 'csv'\npath = 'people.csv'\n[publish]\npath = 'out.csv'\n";
    for (privacy, algorithms) in [
        ("model = \"k-anonymity\"\nk = 4", &["ctoff", "clustree", "miracle", "miraclex", "bitmap"][..]),
        ("model = \"l-diversity\"\nl = 2", &["ctoff", "clustree", "miracle", "dmiracle", "bitmap"]),
    ] {
        dir.write("policy.toml", policy(&attributes, privacy) + source);
        for algorithm in algorithms {
            let set = format!("method.algorithm={algorithm}");
            dir.run(&["anonymize", "policy.toml", "--force", "--set", &set]).exits(0);
            dir.run(&["verify", "out.csv", "--policy", "policy.toml", "--against", "people.csv"]).exits(0);
        }
    }
}

#[test]
fn improvement_and_limits_of_time_keep_the_promise() {
    let dir = students("syntheticS", "150");
    for set in ["method.improve=true", "method.time=1h", "method.time=1ms"] {
        let args = ["anonymize", "s/policy.toml", "--force", "--set", "method.algorithm=ctoff", "--set", set];
        dir.run(&args).exits(0).prints(&["verified: "]);
    }
    let args = ["anonymize", "s/policy.toml", "--force", "--set", "method.neighbours=near"];
    dir.run(&args).exits(2).says(&["there is no `method.neighbours` any more", "method.time"]);
}

#[test]
fn what_cannot_be_reached_is_said() {
    let dir = students("syntheticS", "10");
    let run = |sets: &[&str]| {
        let mut args = vec!["anonymize", "s/policy.toml"];
        sets.iter().for_each(|s| args.extend(["--set", s]));
        dir.run(&args)
    };
    run(&["privacy.l=11"]).exits(4).says(&["clusters of 11 cannot be made of 10 records"]);
    run(&["privacy.k=20"]).exits(4).says(&["k = 20 exceeds the 10 records"]);
    run(&["privacy.l=10"]).exits(4).says(&["l = 10 cannot be reached", "different value", "ask for "]);
    run(&["method.algorithm=blocks"]).exits(2).says(&["blocks"]);
    run(&["method.algorithm=miraclex", "method.matching=grd"]).exits(2).says(&["matching `x`"]);
    assert!(!dir.files().iter().any(|f| f.contains("published")), "nothing is published");
}

#[test]
fn a_quasi_attribute_without_hierarchy_is_refused() {
    let dir = students("school", "10");
    let policy = dir.text("s/policy.toml").replace("hierarchy = \"hierarchies/course.csv\"\n", "");
    dir.write("s/policy.toml", policy);
    dir.run(&["anonymize", "s/policy.toml"]).exits(2).says(&["`takes[].course` has no hierarchy"]);
}

#[test]
fn students_in_postgres() {
    let Some(server) = Server::start("trust") else { return };
    let dir = students("syntheticS", "60");
    server.sql("postgres", "CREATE DATABASE school");
    server.sql(
        "school",
        "CREATE TABLE student (sid text PRIMARY KEY, major text, yob int, gpa real); \
         CREATE TABLE takes (scid int PRIMARY KEY, sid text REFERENCES student, course text, grade text); \
         CREATE TABLE book (scid int REFERENCES takes, book text)",
    );
    for table in ["student", "takes", "book"] {
        let text = dir.text(&format!("s/tables/{table}.csv"));
        let rows: Vec<String> =
            text.lines().skip(1).map(|l| format!("('{}')", l.replace(',', "','"))).collect();
        server.sql("school", &format!("INSERT INTO {table} VALUES {}", rows.join(",")));
    }
    let url = server.url("school");
    let text = dir.text("s/tables/policy-sqlite.toml");
    let source = format!("format = \"postgres\"\nurl = \"{url}\"");
    let text = text.replace("format = \"sqlite\"\npath = \"students.db\"", &source);
    let text = text.replace("path = \"published.db\"", &format!("url = \"{url}\"\nschema = \"open\""));
    dir.write("s/tables/policy-postgres.toml", text);
    let policy = "s/tables/policy-postgres.toml";
    let made = dir.run(&["anonymize", policy, "--json"]).exits(0).json();
    let document = dir.run(&["anonymize", "s/policy.toml", "--json"]).exits(0).json();
    assert_eq!((&made["lm"], &made["clusters"]), (&document["lm"], &document["clusters"]));
    let orphans =
        "SELECT count(*) FROM open.takes t LEFT JOIN open.student s USING (sid) WHERE s.sid IS NULL";
    assert_eq!(server.sql("school", orphans), ["0"]);
    dir.run(&["verify", &url, "--policy", policy]).exits(0);
}
