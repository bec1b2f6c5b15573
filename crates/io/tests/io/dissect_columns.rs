//! Dissected Parquet against the library's own reader of rows: every person and every value once, in its group.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use bosket_io::apart::Dissection;
use bosket_io::apart::PublishedReader;
use bosket_io::{Create, Layout, PolicyFile, Whereabouts, by_name};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_model::sides::Fates;
use bosket_testkit::dice::{Dice, cases};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type, Int96, Int96Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, Row};
use parquet::schema::parser::parse_message_type;
use parquet::schema::printer::print_schema;
use serde_json::{Map, Value, json};

use crate::common::{canonical, read};

fn reader(file: &PolicyFile) -> PublishedReader<'_> {
    PublishedReader::new(file, Fates::new).expect("a good policy")
}

const ATTRIBUTES: &[(&str, &str)] = &[
    ("ssn", "identifying"),
    ("town", "quasi"),
    ("bio.born", "quasi"),
    ("bio.weight", "insensitive"),
    ("smokes", "quasi"),
    ("tags[]", "quasi"),
    ("visits[].year", "quasi"),
    ("visits[].codes[].code", "sensitive"),
    ("visits[].codes[].rate", "quasi"),
    ("visits[].cost", "sensitive"),
    ("note", "sensitive"),
];

fn policy_file(folder: &Path, attributes: &[(&str, &str)]) -> PolicyFile {
    let list: String = attributes
        .iter()
        .map(|(path, role)| format!("[[attribute]]\npath = '{path}'\nrole = \"{role}\"\n"))
        .collect();
    let text = format!(
        "version = 1\n[source]\nformat = \"parquet\"\npath = 'in.parquet'\n{list}[privacy]\nmodel = \"none\"\n\
         [publish]\npath = \"out\"\n"
    );
    let (policy, _) = Policy::parse("policy.toml", &text, &[]).unwrap_or_else(|d| panic!("{d:?}"));
    PolicyFile { policy, folder: folder.to_owned(), warnings: Vec::new(), frames: None }
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(x) => json!(x),
        Field::Int(x) => json!(x),
        Field::Long(x) => json!(x),
        Field::Double(x) => json!(x),
        Field::Str(x) => json!(x),
        Field::Group(row) => Value::Object(members(row)),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        other => panic!("{other:?} is not written by these tests"),
    }
}

fn members(row: &Row) -> Map<String, Value> {
    row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
}

/// The rows of a file.
fn rows(path: &Path) -> Vec<Map<String, Value>> {
    let file = SerializedFileReader::new(File::open(path).expect("published")).expect("Parquet");
    file.get_row_iter(None).expect("rows").map(|row| members(&row.expect("a row"))).collect()
}

/// What stays of a private value on the quasi side, and the sensitive values in it.
fn split(value: &Value, path: &str, sensitive: &mut Vec<(String, String)>) -> Value {
    let role = |path: &str| ATTRIBUTES.iter().find(|(p, _)| *p == path).map(|(_, role)| *role);
    match value {
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, member) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let member = split(member, &path, sensitive);
                if !member.is_null() {
                    kept.insert(name.clone(), member);
                }
            }
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        Value::Array(elements) => {
            let kept: Vec<Value> = (elements.iter())
                .map(|e| split(e, &format!("{path}[]"), sensitive))
                .filter(|e| !e.is_null())
                .collect();
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        Value::Null => Value::Null,
        _ => match role(path) {
            Some("quasi" | "insensitive") => value.clone(),
            Some("sensitive") => {
                sensitive.push((path.to_owned(), canonical(value)));
                Value::Null
            }
            _ => Value::Null,
        },
    }
}

fn text(dice: &mut Dice) -> String {
    let texts =
        ["North", "", " ", "a\u{0}b", "\u{1}\u{2}", "\u{3}\u{4}\u{5}", "caf\u{e9}", "日本", "*", "\"q\""];
    (*dice.of(&texts)).to_owned()
}

fn person(dice: &mut Dice, i: usize) -> Value {
    let mut person = json!({"ssn": format!("S{i}"), "town": text(dice)});
    if !dice.one_in(4) {
        person["bio"] = json!({"born": 1950 + dice.below(4)});
        if dice.one_in(2) {
            person["bio"]["weight"] = json!(dice.below(9) as f64 + 0.5);
        }
    }
    if dice.one_in(2) {
        person["smokes"] = json!(dice.one_in(2));
    }
    person["tags"] = (0..dice.below(3)).map(|_| text(dice)).collect();
    person["visits"] = (0..dice.below(3))
        .map(|_| {
            let mut visit = json!({});
            if dice.one_in(2) {
                visit["year"] = json!(2000 + dice.below(3));
            }
            if dice.one_in(2) {
                visit["cost"] = json!(dice.below(5));
            }
            visit["codes"] = (0..dice.below(3))
                .map(|_| match dice.one_in(2) {
                    true => json!({"code": format!("c{}", dice.below(9)), "rate": dice.below(3)}),
                    false => json!({"code": text(dice)}),
                })
                .collect();
            visit
        })
        .collect();
    if dice.one_in(2) {
        person["note"] = json!(text(dice));
    }
    person
}

/// Writes people into a file, so that every column occurs, and reads them back as they went in.
fn people(folder: &Path, dice: &mut Dice, count: usize) -> Vec<Value> {
    let mut people: Vec<Value> = (0..count).map(|i| person(dice, i)).collect();
    people.push(
        json!({"ssn": "S", "town": "T", "bio": {"born": 1, "weight": 0.5}, "smokes": true, "tags": ["t"],
        "visits": [{"year": 1, "cost": 1, "codes": [{"code": "c", "rate": 1}]}], "note": "n"}),
    );
    let lines: String = people.iter().map(|p| format!("{p}\n")).collect();
    let data = read("ndjson", lines).expect("readable").data;
    let mut bytes = Vec::new();
    by_name("parquet")
        .expect("known")
        .write(&data, &Layout::default(), &mut bytes, &Quiet)
        .expect("writable");
    std::fs::write(folder.join("in.parquet"), bytes).expect("writable");
    rows(&folder.join("in.parquet")).into_iter().map(Value::Object).collect()
}

type Counted = BTreeMap<(u64, String), usize>;

/// Dissects a file into so many groups and checks that each has exactly what it should have.
fn check(folder: &Path, people: &[Value], groups: usize) {
    let file = policy_file(folder, ATTRIBUTES);
    let dissection = Dissection::new(&file, Fates::new).expect("a good policy");
    let place = || Whereabouts::input(&file).expect("a source");
    let mut read = dissection.read(place(), &Quiet).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read.spool.len(), people.len());
    // The last stays out.
    let group_of: Vec<u32> = (0..people.len())
        .map(|r| if r + 1 < people.len() { (r % groups) as u32 } else { u32::MAX })
        .collect();
    let create = Create { force: true, ..Create::default() };
    let mut drafts = dissection.write(&mut read, (&group_of, groups), create.clone()).expect("writable");
    let found = reader(&file).read_drafts(&mut drafts, &Quiet).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found.people.iter().sum::<u32>() as usize, people.len() - 1);
    let quasi =
        ["bio.born", "bio.weight", "smokes", "tags[]", "town", "visits[].codes[].rate", "visits[].year"];
    assert_eq!(found.quasi, quasi);
    let ids = drafts.written.ids();
    drafts.finish(create, Vec::new()).expect("writable");

    let (mut quasi, mut sensitive): (Counted, BTreeMap<String, Counted>) = Default::default();
    for (person, group) in people.iter().zip(&group_of).take(people.len() - 1) {
        let id = u64::from(ids[*group as usize]);
        let mut values = Vec::new();
        let kept = split(person, "", &mut values);
        *quasi.entry((id, canonical(&kept))).or_default() += 1;
        for (path, value) in values {
            *sensitive.entry(path).or_default().entry((id, value)).or_default() += 1;
        }
    }
    let out = folder.join("out");
    let mut published = Counted::new();
    let mut order = Vec::new();
    for mut row in rows(&out.join("in.parquet")) {
        let id = row.remove("group_id").and_then(|id| id.as_u64()).expect("a group");
        assert!(!row.contains_key("ssn") && !row.contains_key("note"), "{row:?}");
        order.push(id);
        *published.entry((id, canonical(&Value::Object(row)))).or_default() += 1;
    }
    assert_eq!(published, quasi);
    assert!(order.is_sorted());
    for (path, name) in [("visits[].codes[].code", "code"), ("visits[].cost", "cost"), ("note", "note")] {
        let mut published = Counted::new();
        let mut order = Vec::new();
        for row in rows(&out.join(format!("sensitive_{name}.parquet"))) {
            let id = row["group_id"].as_u64().expect("a group");
            order.push((id, row["value"].to_string()));
            *published.entry((id, canonical(&row["value"]))).or_default() += 1;
        }
        assert_eq!(published, sensitive.remove(path).unwrap_or_default(), "{path}");
        assert!(order.is_sorted_by_key(|(id, _)| *id));
    }

    let published = reader(&file).published_sides(&out, true, &Quiet).expect("readable");
    let groups: Vec<u32> = group_of.iter().map(|&g| ids.get(g as usize).copied().unwrap_or(0)).collect();
    let private = reader(&file).private_sides(place(), Some(&groups), &Quiet).expect("readable");
    let sorted = |mut all: Vec<(u32, [u8; 32])>| {
        all.sort_unstable();
        all
    };
    assert_eq!(private.records, people.len());
    assert_eq!(sorted(published.people), sorted(private.people));
    for (published, private) in published.values.into_iter().zip(private.values) {
        assert_eq!(sorted(published), sorted(private));
    }
}

#[test]
fn every_person_and_value_is_published_once_in_its_group() {
    for seed in 0..u64::from(cases(60)) {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut dice = Dice::new(seed);
        let count = 1 + dice.below(12);
        let people = people(folder.path(), &mut dice, count);
        check(folder.path(), &people, 1 + dice.below(count));
    }
}

/// More records than are read at once, and more than fill a row group of the publication.
#[test]
fn files_of_several_parts() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let people = people(folder.path(), &mut Dice::new(1), 70_000);
    check(folder.path(), &people, 9_000);
    let file =
        SerializedFileReader::new(File::open(folder.path().join("out/in.parquet")).expect("published"));
    assert!(file.expect("Parquet").num_row_groups() > 1);
}

/// Writes towns, tags and notes as they come; the writer of this crate would put them in order.
fn write_as_they_come(path: &Path, people: &[(&str, Vec<&str>, &str)]) {
    let schema =
        "message m { required binary town (STRING); required group tags (LIST) { repeated group list {
        required binary element (STRING); } } required binary note (STRING); }";
    let schema = parse_message_type(schema).expect("a schema");
    let file = File::create(path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema.into(), Default::default()).expect("a file");
    let mut group = writer.next_row_group().expect("a group");
    let (mut tags, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    for (_, own, _) in people {
        tags.extend(own.iter().map(|&t| ByteArray::from(t)));
        definition.extend(own.iter().map(|_| 1_i16));
        repetition.extend((0..own.len()).map(|i| i16::from(i > 0)));
        if own.is_empty() {
            definition.push(0);
            repetition.push(0);
        }
    }
    let towns: Vec<ByteArray> = people.iter().map(|p| p.0.into()).collect();
    let notes: Vec<ByteArray> = people.iter().map(|p| p.2.into()).collect();
    let none: Option<&[i16]> = None;
    for (values, definition, repetition) in
        [(&towns, none, none), (&tags, Some(&definition[..]), Some(&repetition[..])), (&notes, none, none)]
    {
        let mut column = group.next_column().expect("a column").expect("one more");
        column.typed::<ByteArrayType>().write_batch(values, definition, repetition).expect("written");
        column.close().expect("closed");
    }
    group.close().expect("complete");
    writer.close().expect("complete");
}

#[test]
fn the_order_of_the_input_does_not_show() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let mut people: Vec<(&str, Vec<&str>, &str)> = vec![
        ("T1", vec!["b", "a", "c"], "x"),
        ("T0", vec![], "y"),
        ("T0", vec!["a"], "z"),
        ("T1", vec!["a", "a", "b"], "x"),
        ("T2", vec!["z", "y"], "w"),
    ];
    let mut published: Vec<Vec<Vec<u8>>> = Vec::new();
    for _ in 0..2 {
        write_as_they_come(&folder.path().join("in.parquet"), &people);
        let attributes = [("town", "quasi"), ("tags[]", "quasi"), ("note", "sensitive")];
        let file = policy_file(folder.path(), &attributes);
        let dissection = Dissection::new(&file, Fates::new).expect("a good policy");
        let mut read =
            dissection.read(Whereabouts::input(&file).expect("a source"), &Quiet).expect("readable");
        let group_of: Vec<u32> = people.iter().map(|p| u32::from(p.0 == "T1")).collect();
        let create = Create { force: true, ..Create::default() };
        let drafts = dissection.write(&mut read, (&group_of, 2), create.clone()).expect("writable");
        drafts.finish(create, Vec::new()).expect("writable");
        let path = |name: &str| folder.path().join(format!("out/{name}.parquet"));
        let bytes = ["in", "sensitive_note"].map(|name| std::fs::read(path(name)).expect("published"));
        published.push(bytes.to_vec());
        people.reverse();
        people.iter_mut().for_each(|p| p.1.reverse());
    }
    assert!(published[0] == published[1]);
    let towns: Vec<String> =
        rows(&folder.path().join("out/in.parquet")).iter().map(|r| r["town"].to_string()).collect();
    assert_eq!(towns, ["\"T0\"", "\"T0\"", "\"T2\"", "\"T1\"", "\"T1\""]);
}

/// Columns keep their types on both sides; an old kind of moment, which is not written any more, becomes text.
#[test]
fn types_are_kept() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let schema = "message m { required int32 born (DATE); required int32 height (INTEGER(16,true));
        required int64 pay (DECIMAL(9,2)); required int64 seen (TIMESTAMP(MICROS,true)); required int96 old;
        required int32 small (INTEGER(8,true)); required binary name (STRING); }";
    let schema = parse_message_type(schema).expect("a schema");
    let file = File::create(folder.path().join("in.parquet")).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema.into(), Default::default()).expect("a file");
    let mut group = writer.next_row_group().expect("a group");
    macro_rules! column {
        ($kind:ty, $values:expr) => {{
            let mut column = group.next_column().expect("a column").expect("one more");
            column.typed::<$kind>().write_batch(&$values, None, None).expect("written");
            column.close().expect("closed");
        }};
    }
    let mut old = Int96::new();
    old.set_data(0, 0, 2_440_589);
    column!(Int32Type, [0, -1]);
    column!(Int32Type, [170, 180]);
    column!(Int64Type, [150, -7]);
    column!(Int64Type, [1, 2]);
    column!(Int96Type, [old, old]);
    // More than eight bits hold: the file breaks its own word.
    column!(Int32Type, [1, 1000]);
    column!(ByteArrayType, [ByteArray::from("a"), ByteArray::from("b")]);
    group.close().expect("complete");
    writer.close().expect("complete");

    let attributes = [
        ("born", "quasi"),
        ("height", "quasi"),
        ("pay", "sensitive"),
        ("seen", "sensitive"),
        ("old", "quasi"),
        ("small", "quasi"),
        ("name", "identifying"),
    ];
    let file = policy_file(folder.path(), &attributes);
    let dissection = Dissection::new(&file, Fates::new).expect("a good policy");
    let mut people = dissection.read(Whereabouts::input(&file).expect("a source"), &Quiet).expect("readable");
    let create = Create::default();
    dissection
        .write(&mut people, (&[0, 0], 1), create.clone())
        .and_then(|d| d.finish(create, Vec::new()))
        .expect("written");
    let types = |name: &str| {
        let path = folder.path().join(format!("out/{name}.parquet"));
        let file = SerializedFileReader::new(File::open(path).expect("published")).expect("Parquet");
        let mut text = Vec::new();
        print_schema(&mut text, file.metadata().file_metadata().schema());
        String::from_utf8(text).expect("UTF-8")
    };
    let quasi = types("in");
    for column in [
        "INT64 group_id;",
        "INT32 born (DATE)",
        "INT32 height (INTEGER(16,true))",
        "BYTE_ARRAY old (STRING)",
        "BYTE_ARRAY small (STRING)",
    ] {
        assert!(quasi.contains(column), "{column}: {quasi}");
    }
    assert!(!quasi.contains("name") && !quasi.contains("pay"), "{quasi}");
    assert!(types("sensitive_pay").contains("INT64 value (DECIMAL(9,2))"));
    assert!(types("sensitive_seen").contains("INT64 value (TIMESTAMP(MICROS,true))"));
}
