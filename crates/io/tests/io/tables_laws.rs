//! Whatever is published as linked tables is read again as the same records, moved rows included, and its bytes do not
//! depend on the order in which records and siblings came.

use std::fs;

use crate::tables_common::*;
use bosket_model::{Builder, ClassId, Dataset, Kind};
use proptest::prelude::*;
use tempfile::TempDir;

/// A tree of tables: a - b - c - d and a - e, with keys of one, two and no column of their own. The name of `d` is also
/// that of a column of `a`.
const TREE: &str = r#"version = 1
[source]
format = "csv"
[[source.table]]
name = "a"
path = "a.csv"
key = "id"
[[source.table]]
name = "b"
path = "b.csv"
key = ["id", "x"]
parent = "a"
foreign_key = "a_ref"
[[source.table]]
name = "c"
path = "c.csv"
key = ["b1", "b2", "x"]
parent = "b"
foreign_key = ["b1", "b2"]
[[source.table]]
name = "d"
path = "d.csv"
parent = "c"
foreign_key = ["c1", "c2", "c3"]
[[source.table]]
name = "e"
path = "e.csv"
parent = "a"
foreign_key = "a_ref"
[publish]
path = "out"
"#;

/// Per table its parent, its attributes, and its columns.
const TABLES: [(&str, Option<usize>, &[&str], &str); 5] = [
    ("a", None, &["x", "d"], "id,x,d"),
    ("b", Some(0), &["x", "y"], "id,a_ref,x,y"),
    ("c", Some(1), &["x"], "b1,b2,x"),
    ("d", Some(2), &["x", "y"], "x,c1,c2,c3,y"),
    ("e", Some(0), &["x"], "a_ref,x"),
];

fn tree_policy(grouped: bool) -> String {
    let mut text = TREE.to_owned();
    if grouped {
        text = text.replace("key = \"id\"\n", "key = [\"id\", \"x\"]\nperson = \"id\"\n");
        text = text.replace("foreign_key = \"a_ref\"", "foreign_key = [\"a_ref\", \"a_x\"]");
    }
    for (table, _, attributes, _) in TABLES {
        for (i, name) in attributes.iter().enumerate() {
            text += &attribute(&format!("{table}.{name}"), ["quasi", "sensitive"][i]);
        }
    }
    text
}

fn source(grouped: bool) -> TempDir {
    let dir = TempDir::new().expect("a folder");
    for (name, _, _, columns) in TABLES {
        let columns = if grouped { columns.replace("a_ref", "a_ref,a_x") } else { columns.to_owned() };
        // One row where a record must be.
        let row = if name == "a" { "1,1,1\n" } else { "" };
        fs::write(dir.path().join(format!("{name}.csv")), format!("{columns}\n{row}")).expect("a file");
    }
    dir
}

/// A vertex: its table, the values of its attributes, what is below.
#[derive(Clone, Debug)]
struct Vertex {
    table: usize,
    values: Vec<Option<u8>>,
    below: Vec<Vertex>,
}

fn below(table: usize, above: usize) -> bool {
    TABLES[table].1.is_some_and(|p| p == above || below(p, above))
}

fn vertex(table: usize) -> BoxedStrategy<Vertex> {
    let values = prop::collection::vec(prop::option::weighted(0.8, 0u8..3), TABLES[table].2.len());
    let children: Vec<BoxedStrategy<Vec<Vertex>>> = (0..TABLES.len())
        .filter(|&child| below(child, table))
        .map(|child| {
            let most = if TABLES[child].1 == Some(table) { 3 } else { 2 };
            prop::collection::vec(vertex(child), 0..most).boxed()
        })
        .collect();
    (values, children)
        .prop_map(move |(values, below)| Vertex { table, values, below: below.concat() })
        .boxed()
}

fn key(table: usize, above: Option<usize>, grouped: bool) -> Vec<String> {
    let name = TABLES[table].0;
    // `a` has a column `d`, so that moved rows of `d` cannot be called that there.
    let way = match (name, above) {
        ("d", Some(0)) => "b.c.d",
        ("d", None) if grouped => "d",
        (name, _) => name,
    };
    vec![way.to_owned()]
}

fn open(b: &mut Builder, class: ClassId, v: &Vertex, grouped: bool) {
    for (name, value) in TABLES[v.table].2.iter().zip(&v.values) {
        if let Some(value) = value {
            let id = b.attribute(class, &[(*name).to_owned()]);
            b.set(id, Kind::Text, &format!("v{value}"));
        }
    }
    for child in &v.below {
        let class = b.class(class, &key(child.table, Some(v.table), grouped));
        b.open(class);
        open(b, class, child, grouped);
        b.close();
    }
}

fn dataset(records: &[Vec<Vertex>], grouped: bool) -> Dataset {
    let mut b = Builder::new();
    for record in records {
        b.begin_record();
        if grouped {
            for v in record {
                let class = b.class(ClassId::ROOT, &key(v.table, None, true));
                b.open(class);
                open(&mut b, class, v, true);
                b.close();
            }
        } else {
            open(&mut b, ClassId::ROOT, &record[0], false);
        }
        b.end_record().expect("nothing twice");
    }
    b.finish()
}

fn turned(v: &Vertex, by: usize) -> Vertex {
    let mut below: Vec<Vertex> = v.below.iter().map(|c| turned(c, by)).collect();
    if !below.is_empty() {
        let by = by % below.len();
        below.rotate_left(by);
    }
    Vertex { below, ..v.clone() }
}

fn published(file: &bosket_io::PolicyFile, dir: &TempDir, data: &Dataset) -> (Vec<String>, Vec<String>) {
    let (_, form) = read_input(file).expect("tables");
    let again = publish(file, &form, data).expect("published");
    let (stranger, _) = read_published(file, &dir.path().join("out")).expect("readable");
    assert_eq!(canonical(&stranger), canonical(&again));
    let texts = TABLES
        .iter()
        .map(|(name, ..)| fs::read_to_string(dir.path().join(format!("out/{name}.csv"))).expect("published"))
        .collect();
    fs::remove_dir_all(dir.path().join("out")).expect("a folder");
    (canonical(&again), texts)
}

/// The same tables in a database, and the policy for them.
fn database(grouped: bool) -> (TempDir, String) {
    let dir = TempDir::new().expect("a folder");
    let db = rusqlite::Connection::open(dir.path().join("tree.db")).expect("a database");
    for (name, _, _, columns) in TABLES {
        let columns = if grouped { columns.replace("a_ref", "a_ref,a_x") } else { columns.to_owned() };
        db.execute_batch(&format!("CREATE TABLE {name} ({columns})")).expect("a table");
    }
    db.execute_batch("INSERT INTO a VALUES (1, 1, 1)").expect("a row");
    let text = tree_policy(grouped)
        .replace("format = \"csv\"", "format = \"sqlite\"\npath = \"tree.db\"")
        .replace("path = \"out\"", "path = \"out.db\"");
    let own = |line: &&str| !(line.starts_with("path = ") && line.ends_with(".csv\""));
    let text: Vec<&str> = text.lines().filter(own).collect();
    (dir, text.join("\n"))
}

/// The same tables in Parquet files, all columns text, and the policy for them.
fn parquet_files(grouped: bool) -> (TempDir, String) {
    let dir = TempDir::new().expect("a folder");
    for (name, _, _, columns) in TABLES {
        let columns = if grouped { columns.replace("a_ref", "a_ref,a_x") } else { columns.to_owned() };
        let fields: String = columns.split(',').map(|c| format!("optional binary {c} (STRING); ")).collect();
        let row = if name == "a" { "1" } else { "" };
        write_parquet(&dir.path().join(format!("{name}.parquet")), &fields, &[row]);
    }
    (dir, tree_policy(grouped).replace("csv", "parquet"))
}

/// A file with columns of text; the same text in all cells of a row, none where it is empty.
fn write_parquet(path: &std::path::Path, fields: &str, rows: &[&str]) {
    use parquet::data_type::{ByteArray, ByteArrayType};
    let schema = parquet::schema::parser::parse_message_type(&format!("message m {{ {fields} }}"));
    let file = fs::File::create(path).expect("a file");
    let (schema, properties) = (schema.expect("a schema"), Default::default());
    let mut writer =
        parquet::file::writer::SerializedFileWriter::new(file, schema.into(), properties).expect("a file");
    let mut group = writer.next_row_group().expect("a group");
    let there: Vec<ByteArray> = rows.iter().filter(|r| !r.is_empty()).map(|r| ByteArray::from(*r)).collect();
    while let Some(mut column) = group.next_column().expect("a column") {
        let levels = vec![1; there.len()];
        column.typed::<ByteArrayType>().write_batch(&there, Some(&levels), None).expect("written");
        column.close().expect("closed");
    }
    group.close().expect("complete");
    writer.close().expect("complete");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parquet_files_keep_whatever_was_moved(
        records in prop::collection::vec(
            (prop::collection::vec(vertex(0), 1..3), prop::collection::vec(vertex(3), 0..2)), 1..4),
        grouped in any::<bool>(),
    ) {
        let (dir, text) = parquet_files(grouped);
        let file = policy(dir.path(), &text);
        let records: Vec<Vec<Vertex>> = records.into_iter().map(|(rows, moved)| [rows, moved].concat()).collect();
        let data = dataset(&records, grouped);
        let (_, form) = read_input(&file).expect("tables");
        let again = publish(&file, &form, &data).expect("published");
        prop_assert_eq!(canonical(&again), canonical(&data));
        let (stranger, _) = read_published(&file, &dir.path().join("out")).expect("readable");
        prop_assert_eq!(canonical(&stranger), canonical(&data));
    }

    #[test]
    fn read_again_gives_the_same_records(
        records in prop::collection::vec(vertex(0).prop_map(|v| vec![v]), 1..5),
        by in 0usize..5,
    ) {
        let dir = source(false);
        let file = policy(dir.path(), &tree_policy(false));
        let data = dataset(&records, false);
        let (again, texts) = published(&file, &dir, &data);
        prop_assert_eq!(again, canonical(&data));

        let mut other: Vec<Vec<Vertex>> = records.iter().map(|r| vec![turned(&r[0], by)]).collect();
        other.rotate_left(by % records.len());
        let (_, turned) = published(&file, &dir, &dataset(&other, false));
        prop_assert_eq!(turned, texts);
    }

    #[test]
    fn databases_keep_their_keys_whatever_was_moved(
        records in prop::collection::vec(
            (prop::collection::vec(vertex(0), 1..3), prop::collection::vec(vertex(3), 0..2)), 1..4),
        grouped in any::<bool>(),
    ) {
        let (dir, text) = database(grouped);
        let file = policy(dir.path(), &text);
        let records: Vec<Vec<Vertex>> = records.into_iter().map(|(rows, moved)| [rows, moved].concat()).collect();
        let data = dataset(&records, grouped);
        let (_, form) = read_input(&file).expect("tables");
        let again = publish(&file, &form, &data).expect("published");
        prop_assert_eq!(canonical(&again), canonical(&data));
        let (stranger, _) = read_published(&file, &dir.path().join("out.db")).expect("readable");
        prop_assert_eq!(canonical(&stranger), canonical(&data));
    }

    #[test]
    fn people_with_several_rows_too(
        records in prop::collection::vec(
            (prop::collection::vec(vertex(0), 0..3), prop::collection::vec(vertex(3), 0..2)), 1..4),
    ) {
        let dir = source(true);
        let file = policy(dir.path(), &tree_policy(true));
        let records: Vec<Vec<Vertex>> = records.into_iter().map(|(rows, moved)| [rows, moved].concat()).collect();
        let data = dataset(&records, true);
        let (again, _) = published(&file, &dir, &data);
        prop_assert_eq!(again, canonical(&data));
    }
}
