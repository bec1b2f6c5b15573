//! Policies without faults: what is made of them.

use bosket_model::hierarchy::spec::{Build, Clamp, DateLevel, Group, HierarchySpec};
use bosket_model::policy::{
    Attacker, Diversity, Draft, DraftAttribute, Format, Model, Negative, Param, Payload, Policy, Relations,
    Role, RootMode, Siblings, Undeclared, draft,
};
use proptest::prelude::*;

fn read(text: &str) -> Policy {
    let (policy, warnings) = Policy::parse("p.toml", text, &[]).unwrap_or_else(|e| panic!("{text}\n{e:#?}"));
    assert_eq!(warnings, [], "{text}");
    policy
}

/// The example of the model's description.
const CLINIC: &str = r#"
version = 1
seed = 7                              # default 0; breaks ties only

[source]
format = "ndjson"                     # ndjson | json | xml | csv | parquet | transactions | sqlite | postgres
path = "patients.ndjson"

[[attribute]]
path = "visits[].hospital"            # [] = many, always written; xml: visit[]/hospital, a/@rate
role = "quasi"
hierarchy = "hierarchies/hospital.csv"

[[attribute]]
path = "birth_year"
role = "quasi"
hierarchy = { build = "interval", min = 1900, max = 2030, widths = [5, 10, 50] }

[[attribute]]
path = "visits[].diagnoses[].disease"
role = "quasi"
hierarchy = { build = "icd10" }

[privacy]
model = "kmn"                         # km | kmn | k-anonymity | l-diversity | anatomy | delta
k = 5
m = 2
n = 1

[method]
algorithm = "gcs"
g = 2

[publish]
path = "published.ndjson"
"#;

/// The example with tables.
const SCHOOL: &str = r#"
version = 1
[source]
format = "sqlite"
path = "school.db"
[[source.table]]
name = "student"
key = "sid"
[[source.table]]
name = "takes"
key = "scid"
parent = "student"
foreign_key = "sid"
[[source.table]]
name = "book"
parent = "takes"
foreign_key = "scid"
[[attribute]]
path = "takes.course"
role = "quasi"
hierarchy = "course.csv"
"#;

#[test]
fn the_clinic_example() {
    let policy = read(CLINIC);
    assert_eq!((policy.version, policy.seed, policy.undeclared), (1, 7, Undeclared::Refuse));
    let source = policy.need_source().expect("complete");
    assert_eq!((source.format, source.path.as_deref()), (Format::Ndjson, Some("patients.ndjson")));
    let paths: Vec<&str> = policy.attributes.iter().map(|a| a.path.as_str()).collect();
    assert_eq!(paths, ["visits[].hospital", "birth_year", "visits[].diagnoses[].disease"]);
    assert!(policy.attributes.iter().all(|a| a.role == Role::Quasi && !a.shared && !a.acknowledge));
    assert_eq!(policy.attributes[0].hierarchy, Some(HierarchySpec::File("hierarchies/hospital.csv".into())));
    assert_eq!(
        policy.attributes[1].hierarchy,
        Some(HierarchySpec::Build(Build::Interval {
            min: 1900.0,
            max: 2030.0,
            widths: vec![5.0, 10.0, 50.0],
            clamp: Clamp::None,
        }))
    );
    assert_eq!(policy.attributes[2].hierarchy, Some(HierarchySpec::Build(Build::Icd10 { table: None })));
    assert_eq!(policy.attributes[1].place.to_string(), "p.toml:15:8");
    let privacy = policy.need_privacy().expect("there is one");
    assert_eq!((privacy.model, privacy.k, privacy.m, privacy.n), (Model::Kmn, Some(5), Some(2), Some(1)));
    assert_eq!((privacy.relations, privacy.root), (Relations::Pair, RootMode::Separate));
    assert_eq!((privacy.payload, privacy.guard, privacy.l), (Payload::Keep, false, None));
    assert_eq!(policy.method.algorithm.as_deref(), Some("gcs"));
    assert_eq!(policy.method.params, [("g".to_owned(), Param::Int(2))]);
    assert_eq!(policy.need_publish().expect("complete").path.as_deref(), Some("published.ndjson"));
}

#[test]
fn the_school_example() {
    let policy = read(SCHOOL);
    let tables = &policy.need_source().expect("complete").tables;
    assert_eq!(tables[0].key, ["sid"]);
    assert_eq!(tables[0].parent, None);
    assert_eq!(
        (tables[2].parent.as_deref(), &tables[2].foreign_key[..]),
        (Some("takes"), &["scid".to_owned()][..])
    );
    assert!(tables[2].key.is_empty());
    assert!(policy.need_privacy().is_err());
    assert!(policy.need_publish().is_err());
}

#[test]
fn every_builder() {
    let built = |table: &str| {
        let text =
            format!("version = 1\n[[attribute]]\npath = \"a\"\nrole = \"quasi\"\nhierarchy = {table}\n");
        match read(&text).attributes.remove(0).hierarchy {
            Some(HierarchySpec::Build(build)) => build,
            other => panic!("{other:?}"),
        }
    };
    let clamps =
        [("none", Clamp::None), ("top", Clamp::Top), ("bottom", Clamp::Bottom), ("both", Clamp::Both)];
    for (word, expected) in clamps {
        let table =
            format!("{{ build = \"interval\", min = 0, max = 1, widths = [0.5], clamp = \"{word}\" }}");
        assert!(matches!(built(&table), Build::Interval { clamp, .. } if clamp == expected));
    }
    let levels = vec![DateLevel::Month, DateLevel::Quarter, DateLevel::Year, DateLevel::Decade];
    for day in ["2012-02-29", "\"2012-02-29\""] {
        let table = format!(
            "{{ build = \"date\", min = {day}, max = {day}, levels = [\"month\", \"quarter\", \"year\", \"decade\"] }}"
        );
        let (min, max) = ("2012-02-29".to_owned(), "2012-02-29".to_owned());
        assert_eq!(
            built(&table),
            Build::Date { min, max, levels: levels.clone(), format: None, clamp: Clamp::None }
        );
    }
    let table =
        "{ build = \"date\", min = 1990-01-01, max = 1999-12-31, format = \"%y%m%d\", clamp = \"top\" }";
    let Build::Date { format, clamp, .. } = built(table) else { panic!("{table}") };
    assert_eq!((format.as_deref(), clamp), (Some("%y%m%d"), Clamp::Top));
    assert_eq!(built("{ build = \"prefix\" }"), Build::Prefix);
    assert_eq!(built("{ build = \"fanout\", fanout = 5 }"), Build::Fanout { fanout: 5 });
    assert_eq!(
        built("{ build = \"icd10\", table = \"t.csv\" }"),
        Build::Icd10 { table: Some("t.csv".into()) }
    );
    let value = |v: &str| Group::Value(v.to_owned());
    assert_eq!(
        built(
            "{ build = \"order\", groups = [\"a\", [\"b\", \"\"], { label = \"x\", values = [\"c\", [\"d\"]] }] }"
        ),
        Build::Order {
            groups: vec![
                value("a"),
                Group::Group { label: None, members: vec![value("b"), value("")] },
                Group::Group {
                    label: Some("x".into()),
                    members: vec![value("c"), Group::Group { label: None, members: vec![value("d")] }],
                },
            ],
        }
    );
}

#[test]
fn keys_of_the_other_models() {
    let attributes = "version = 1\n[[attribute]]\npath = \"a\"\nrole = \"quasi\"\n\
                      [[attribute]]\npath = \"b\"\nrole = \"sensitive\"\nhierarchy = \"b.csv\"\nbuckets = [0, 1.5, 9]\n";
    let read = |privacy: &str| read(&format!("{attributes}[privacy]\n{privacy}\n"));
    let policy = read(
        "model = \"l-diversity\"\nl = 2.5\ndiversity = \"entropy\"\nsiblings = \"each\"\ndistinct_everywhere = [\"HIV\"]",
    );
    let privacy = policy.privacy.expect("there is one");
    assert_eq!((privacy.l, privacy.k), (Some(2.5), None));
    assert_eq!((privacy.diversity, privacy.siblings), (Diversity::Entropy, Siblings::Each));
    assert_eq!(privacy.distinct_everywhere, ["HIV"]);
    assert_eq!(policy.attributes[1].buckets, Some(vec![0.0, 1.5, 9.0]));

    let privacy =
        read("model = \"km\"\nk = 2\nm = 3\nl = 2\nsensitive = [\"s\"]\nnegative = [\"x\"]\nmultiset = true")
            .privacy;
    let privacy = privacy.expect("there is one");
    assert_eq!((privacy.sensitive, privacy.multiset), (vec!["s".to_owned()], true));
    assert_eq!(privacy.negative, [Negative::Value("x".into())]);

    let privacy = read("model = \"kmn\"\nk = 2\nm = 3\nn = 0\nnegative = [\"x\", [\"y\", \"z\"]]").privacy;
    let pair = Negative::Pair("y".into(), "z".into());
    assert_eq!(privacy.expect("there is one").negative, [Negative::Value("x".into()), pair]);

    let privacy = read("model = \"delta\"\ngroup_size = 4\ndelta_target = 2\npairwise = true").privacy;
    let privacy = privacy.expect("there is one");
    assert_eq!((privacy.group_size, privacy.delta_target, privacy.pairwise), (Some(4), Some(2), true));
    read("model = \"anatomy\"\ngroup_size = 3");
    read("model = \"none\"");
}

#[test]
fn what_is_ignored_is_not_read() {
    let text = CLINIC.replace("\"kmn\"", "\"k-anonymity\"").replace("algorithm = \"gcs\"\n", "");
    let (policy, warnings) = Policy::parse("p.toml", &text, &[]).expect("only warnings");
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    let privacy = policy.privacy.expect("there is one");
    assert_eq!((privacy.k, privacy.m, privacy.n), (Some(5), None, None));
    assert_eq!(policy.method.params, []);
}

#[test]
fn parameters_have_the_defaults_of_the_reference() {
    let method = read("version = 1").method;
    assert_eq!((method.int("g"), method.int("climit"), method.int("max_cuts")), (Some(2), Some(150), None));
    assert_eq!(
        (method.number("th"), method.number("m"), method.number("parts")),
        (Some(0.1), Some(4.0), Some(3.0))
    );
    assert_eq!((method.flag("weighted"), method.flag("improve")), (Some(true), None));
    assert_eq!(method.text("cost").as_deref(), Some("rpd_a"));
}

#[test]
fn time_is_a_number_with_a_unit() {
    let text = CLINIC.replace("\"kmn\"", "\"k-anonymity\"").replace("algorithm = \"gcs\"", "time = \"5m\"");
    let (policy, _) = Policy::parse("p.toml", &text, &[]).expect("only warnings");
    assert_eq!(policy.method.duration("time"), Some(std::time::Duration::from_secs(300)));
    assert_eq!(read("version = 1").method.duration("time"), None);
    for wrong in ["\"5\"", "\"0s\"", "\"soon\"", "60"] {
        let text = text.replace("\"5m\"", wrong);
        let said = format!("{:?}", Policy::parse("p.toml", &text, &[]).expect_err("no duration"));
        assert!(said.contains("`method.time` must be a duration"), "{said}");
    }
}

#[test]
fn what_a_run_needs_is_asked_for_all_at_once() {
    let lacks = |text: &str| -> Vec<String> {
        let failure = read(text).need_source().expect_err("incomplete");
        failure.diagnostics.iter().map(|d| d.message.clone()).collect()
    };
    assert_eq!(lacks("version = 1"), ["the policy has no `[source]`"]);
    assert_eq!(
        lacks("version = 1\n[source]\nformat = \"xml\""),
        ["the policy has no `source.path`", "the policy has no `source.record`"]
    );
    assert_eq!(
        lacks("version = 1\n[source]\nformat = \"postgres\""),
        ["the policy has no `source.url`", "the policy has no `[[source.table]]`"]
    );
    assert_eq!(
        lacks("version = 1\n[source]\nformat = \"csv\"\n[[source.table]]\nname = \"a\""),
        ["the policy has no `source.table[\"a\"].path`"]
    );
    read("version = 1\n[source]\nformat = \"csv\"\npath = \"flat.csv\"").need_source().expect("a flat table");
}

fn sample() -> Draft {
    let attribute =
        |path: &str, role, reason: &str, hierarchy: Option<&str>, follows: Option<&str>| DraftAttribute {
            path: path.into(),
            role,
            reason: reason.into(),
            note: (path == "visits[].code").then(|| "12 % missing\nlook at it".into()),
            hierarchy: hierarchy.map(Into::into),
            follows: follows.map(Into::into),
            repeats: false,
        };
    Draft {
        source_format: Format::Json,
        source_path: "patients \"2\".json".into(),
        record: Some("entry[]".into()),
        tables: Vec::new(),
        table_notes: Vec::new(),
        lookups: Vec::new(),
        dropped: Vec::new(),
        unnamed: 0,
        person: Vec::new(),
        separator: None,
        attributes: vec![
            attribute("name", Role::Identifying, "all values differ", None, None),
            attribute("visits[].code", Role::Quasi, "looks like ICD-10", Some("{ build = \"icd10\" }"), None),
            attribute("visits[].text", Role::Quasi, "one text per code", None, Some("visits[].code")),
            attribute("visits[].hospital", Role::Quasi, "few values", Some("hierarchies/hospital.csv"), None),
        ],
        privacy: [("model", "kmn"), ("k", "5"), ("m", "2"), ("n", "1")]
            .map(|(k, v)| (k.into(), v.into()))
            .to_vec(),
        attackers: Vec::new(),
        publish_path: "published.json".into(),
    }
}

#[test]
fn a_draft_reads_well() {
    let text = draft(&sample());
    assert_eq!(
        text,
        r#"# A draft. Go through the roles: what an attacker may know is a judgement that no program can make.
# What you do not want to publish, for whatever reason, gets role "drop".
# The comments are the program's. `why = "…"` beside an attribute is for your own reason.

version = 1

[source]
format = "json"
path   = "patients \"2\".json"
record = "entry[]"

# all values differ
[[attribute]]
path = "name"
role = "identifying"

# looks like ICD-10
# 12 % missing
# look at it
[[attribute]]
path      = "visits[].code"
role      = "quasi"
hierarchy = { build = "icd10" }

# one text per code
[[attribute]]
path    = "visits[].text"
role    = "quasi"
follows = "visits[].code"

# few values
[[attribute]]
path      = "visits[].hospital"
role      = "quasi"
hierarchy = "hierarchies/hospital.csv"

[privacy]
model = "kmn"
k     = 5
m     = 2
n     = 1

# Detail lost, all values alike; the default cost favours the top of the record.
# Every value has the finest label that keeps the promise, whatever others have: one cut for everybody loses far
# more. A column then holds labels of several levels; with "global" it does not.
[method]
cost     = "lm"
recoding = "local"

[publish]
path = "published.json"
"#
    );
    read(&text);
}

#[test]
fn attackers_of_a_draft_can_be_deleted_one_by_one() {
    let mut told = sample();
    told.privacy.retain(|(key, _)| ["model", "k"].contains(&key.as_str()));
    let hospital = vec!["visits[].hospital".to_owned()];
    let neighbour = Attacker { name: "neighbour".into(), knows: hospital, m: 1, ..Attacker::default() };
    let colleague = Attacker { name: "colleague".into(), m: 2, n: 1, ..Attacker::default() };
    told.attackers =
        vec![(neighbour.clone(), "Lives next door.".into()), (colleague.clone(), "Works there.".into())];
    let text = draft(&told);
    let expected = r#"[privacy]
model = "kmn"
k     = 5

# Who may look for somebody, and what they know. The publication holds against each of them.
# Delete whom there is not, and add whom there is.

# Lives next door.
[[privacy.attacker]]
name  = "neighbour"
knows = ["visits[].hospital"]
m     = 1

# Works there.
[[privacy.attacker]]
name = "colleague"
m    = 2
n    = 1

# Detail lost"#;
    assert!(text.contains(expected), "{text}");
    let policy = read(&text);
    assert_eq!(policy.privacy.as_ref().expect("a promise").attackers, [neighbour.clone(), colleague]);
    assert!(policy.recodes_locally());
    let (before, rest) = text.split_once("# Works there.").expect("it is there");
    let (_, after) = rest.split_once("n    = 1\n\n").expect("its end");
    assert_eq!(read(&format!("{before}{after}")).privacy.expect("a promise").attackers, [neighbour]);
    told.attackers[1].0.m = 6;
    assert!(!read(&draft(&told)).recodes_locally());
}

#[test]
fn what_is_sensitive_in_a_draft_waits_for_somebody_to_decide() {
    let mut some = sample();
    let mut secret = some.attributes[3].clone();
    (secret.path, secret.role, secret.hierarchy) = ("visits[].income".to_owned(), Role::Sensitive, None);
    let follower = DraftAttribute {
        path: "visits[].income_text".to_owned(),
        follows: Some(secret.path.clone()),
        ..secret.clone()
    };
    some.attributes.extend([secret, follower]);
    let text = draft(&some);
    assert_eq!(text.matches("protection = \"undecided\"").count(), 1, "{text}");
    let policy = read(&text);
    let open = policy.refuse_undecided();
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(open[0].message.contains("`visits[].income`"), "{}", open[0]);
    // Who is counted is another question.
    let mut repeating = sample();
    let mut number = repeating.attributes[3].clone();
    (number.path, number.role, number.hierarchy) = ("ssn".to_owned(), Role::Identifying, None);
    number.repeats = true;
    repeating.attributes.push(number);
    let asked = draft(&repeating);
    let told = asked.replace("\n# ", " ");
    assert!(
        told.contains("who is counted?") && told.contains("`person = \"ssn\"` under [source]"),
        "{asked}"
    );
    let open = read(&asked).refuse_undecided();
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(open[0].message.contains("several records have the same `ssn`"), "{}", open[0]);
    assert_eq!(read(&asked.replace("protection = \"undecided\"\n", "")).undecided().count(), 0);
    // Whoever asks for diversity has decided.
    let diverse = text.replace("n     = 1", "n     = 1\nl     = 2");
    assert_eq!(read(&diverse).undecided().count(), 0);
}

/// `best` took 17 s on nine people with 62 attributes on three levels, `gcs` a third of a second for the same loss.
#[test]
fn a_draft_of_many_attributes_begins_with_a_cheap_search() {
    let mut many = sample();
    let one =
        many.attributes.iter().find(|a| a.path == "visits[].hospital").cloned().expect("a quasi attribute");
    let named = |i: usize| DraftAttribute { path: format!("visits[].q{i}"), ..one.clone() };
    many.attributes.extend((0..60).map(named));
    assert_eq!(read(&draft(&many)).method.algorithm.as_deref(), Some("gcs"));
    assert_eq!(read(&draft(&sample())).method.algorithm, None);
}

#[test]
fn a_draft_recodes_locally_where_the_promise_can_be_kept_so() {
    let drafted = |keys: &[(&str, &str)]| {
        let mut own = sample();
        own.privacy = keys.iter().map(|&(key, value)| (key.into(), value.into())).collect();
        own.attributes.retain(|a| a.path == "visits[].hospital");
        read(&draft(&own)).recodes_locally()
    };
    assert!(drafted(&[("model", "kmn"), ("k", "5"), ("m", "5"), ("n", "1")]));
    assert!(drafted(&[("model", "km"), ("k", "5"), ("m", "2")]));
    assert!(!drafted(&[("model", "kmn"), ("k", "5"), ("m", "6"), ("n", "1")]));
    assert!(!drafted(&[("model", "km"), ("k", "5"), ("m", "2"), ("negative", "[\"a\"]")]));
    assert!(!drafted(&[("model", "k-anonymity"), ("k", "5")]));
}

proptest! {
    #[test]
    fn a_draft_parses_whatever_the_names_are(
        path in ".+", reason in "(?s).*", file in ".+", separator in prop::option::of(".+"),
    ) {
        prop_assume!(path != "visits[].code" && path != "visits[].text" && path != "name" && path != "visits[].hospital");
        // A file name that is a TOML value is one; drafts hold names of hierarchy files.
        let file = format!("h/{file}x.csv");
        let mut sample = sample();
        sample.source_format = Format::Csv;
        sample.record = None;
        sample.separator.clone_from(&separator);
        sample.attributes.push(DraftAttribute {
            path: path.clone(), role: Role::Quasi, note: Some(reason.clone()), reason, hierarchy: Some(file.clone()), follows: None,
            repeats: false,
        });
        let policy = read(&draft(&sample));
        let last = policy.attributes.last().expect("it was pushed");
        prop_assert_eq!(&last.path, &path);
        prop_assert_eq!(&last.hierarchy, &Some(HierarchySpec::File(file)));
        prop_assert_eq!(policy.source.expect("there is one").separator, separator);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(?s).{0,200}", set in "[a-z.\\[\\]\"'={} 0-9é\\\\-]{0,40}") {
        let _ = Policy::parse("p.toml", &text, &[]);
        let _ = Policy::parse("p.toml", CLINIC, &[set]);
    }

    #[test]
    fn no_change_of_a_policy_makes_the_reader_panic(
        at in 0..CLINIC.len(), len in 0..40usize, with in "[ \\[\\]{}=\"a-z0-9.\\n-]{0,12}",
    ) {
        let mut text = CLINIC.to_owned();
        text.replace_range(at..(at + len).min(CLINIC.len()), &with);
        let _ = Policy::parse("p.toml", &text, &[]);
    }
}
