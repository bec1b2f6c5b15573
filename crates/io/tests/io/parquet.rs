//! Parquet files as records: types, lists of all ages, and what is refused.

use std::sync::Arc;

use crate::common::*;
use bosket_io::{Layout, by_name};
use bosket_model::observe::Quiet;
use bosket_model::{Builder, ClassId, Kind};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// A file with one row group.
fn file(schema: &str, fill: impl FnOnce(&mut SerializedRowGroupWriter<'_, Vec<u8>>)) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::new())).expect("a file");
    let mut group = writer.next_row_group().expect("a group");
    fill(&mut group);
    group.close().expect("all columns");
    writer.into_inner().expect("complete")
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    definition: &[i16],
    repetition: &[i16],
) {
    let mut writer = group.next_column().expect("a column").expect("one more");
    let levels = |l| Some(l).filter(|l: &&[i16]| !l.is_empty());
    writer.typed::<T>().write_batch(values, levels(definition), levels(repetition)).expect("written");
    writer.close().expect("closed");
}

fn texts(values: &[&str]) -> Vec<ByteArray> {
    values.iter().map(|v| ByteArray::from(*v)).collect()
}

/// The records as lines of NDJSON.
fn records(bytes: Vec<u8>) -> Vec<String> {
    let loaded = read("parquet", bytes).unwrap_or_else(|e| panic!("{e}"));
    let mut out = Vec::new();
    by_name("ndjson")
        .expect("known")
        .write(&loaded.data, &Layout::default(), &mut out, &Quiet)
        .expect("writable");
    String::from_utf8(out).expect("UTF-8").lines().map(str::to_owned).collect()
}

/// Writes the records again with the columns they came with, and reads them.
fn again(bytes: Vec<u8>) -> Vec<String> {
    records(write(&read("parquet", bytes).expect("readable")))
}

#[test]
fn all_types_that_attributes_can_hold() {
    let schema = "message m {
        required boolean flag; optional int32 small (INTEGER(8,true)); required int32 high (INTEGER(32,false));
        required int64 top (INTEGER(64,false)); required int32 day (DATE); required int32 clock (TIME(MILLIS,true));
        required int64 seen (TIMESTAMP(NANOS,true)); required int64 local (TIMESTAMP(MICROS,false));
        required int32 price (DECIMAL(5,2)); required fixed_len_byte_array(3) sum (DECIMAL(6,3));
        required float part; required int96 old; required binary text (STRING); required binary plain;
        required fixed_len_byte_array(16) id (UUID); required binary doc (JSON); required binary pick (ENUM); }";
    let bytes = file(schema, |g| {
        column::<BoolType>(g, &[true], &[], &[]);
        column::<Int32Type>(g, &[], &[0], &[]);
        column::<Int32Type>(g, &[-1], &[], &[]);
        column::<Int64Type>(g, &[-1], &[], &[]);
        column::<Int32Type>(g, &[-1], &[], &[]);
        column::<Int32Type>(g, &[3_600_500], &[], &[]);
        column::<Int64Type>(g, &[1], &[], &[]);
        column::<Int64Type>(g, &[-1_000_000], &[], &[]);
        column::<Int32Type>(g, &[-150], &[], &[]);
        column::<FixedLenByteArrayType>(g, &[FixedLenByteArray::from(vec![0xFF, 0xFF, 0xFF])], &[], &[]);
        column::<FloatType>(g, &[0.1], &[], &[]);
        let mut old = Int96::new();
        old.set_data(0, 0, 2_440_589);
        column::<Int96Type>(g, &[old], &[], &[]);
        column::<ByteArrayType>(g, &texts(&[""]), &[], &[]);
        column::<ByteArrayType>(g, &texts(&["é"]), &[], &[]);
        column::<FixedLenByteArrayType>(
            g,
            &[FixedLenByteArray::from((0..16).collect::<Vec<u8>>())],
            &[],
            &[],
        );
        column::<ByteArrayType>(g, &texts(&["{}"]), &[], &[]);
        column::<ByteArrayType>(g, &texts(&["A"]), &[], &[]);
    });
    let line = r#"{"flag":true,"high":4294967295,"top":18446744073709551615,"day":"1969-12-31","clock":"01:00:00.5","seen":"1970-01-01T00:00:00.000000001Z","local":"1969-12-31T23:59:59","price":-1.5,"sum":-0.001,"part":0.1,"old":"1970-01-02T00:00:00","text":"","plain":"é","id":"00010203-0405-0607-0809-0a0b0c0d0e0f","doc":"{}","pick":"A"}"#;
    assert_eq!(records(bytes.clone()), [line]);
    assert_eq!(again(bytes), [line]);
}

#[test]
fn lists_as_older_programs_write_them() {
    for schema in [
        "message m { required group tags (LIST) { repeated binary array (STRING); } }",
        "message m { required group tags (LIST) { repeated group array { required binary x (STRING); } } }",
        "message m { required group tags (LIST) { repeated group tags_tuple { required binary x (STRING); } } }",
        "message m { required group tags (LIST) { repeated group list { required binary element (STRING); } } }",
        "message m { repeated binary tags (STRING); }",
    ] {
        let bytes = file(schema, |g| column::<ByteArrayType>(g, &texts(&["a", "b"]), &[1, 1, 0], &[0, 1, 0]));
        let object = schema.contains(" x ");
        let full = if object { r#"{"tags":[{"x":"a"},{"x":"b"}]}"# } else { r#"{"tags":["a","b"]}"# };
        assert_eq!(records(bytes.clone()), [full, "{}"], "{schema}");
        assert_eq!(again(bytes), [full, "{}"], "{schema}");
    }
}

#[test]
fn a_file_of_another_program() {
    let bytes = include_bytes!("../data/parquet/patients.parquet").to_vec();
    let lines = [
        r#"{"id":-3,"alive":false,"fee":9999999.99,"height":-2,"weight":1e30,"visits":[{"hospital":"H1","diagnoses":[{}]},{}]}"#,
        r#"{"id":1,"alive":true,"bio":{"birthday":"1950-03-01","sex":"f"},"fee":-12.3,"height":0.1,"noted":"1969-12-31T23:59:59","seen":"2024-02-29T12:30:00.25Z","wakes":"06:30:00","weight":72.5,"grid":[[-128],[1,2],[]],"scores":[{"key":"x","value":1},{"key":"y"}],"tags":["","a",null],"visits":[{"day":"2020-01-01","hospital":"H1","diagnoses":[{"disease":"E11"},{"disease":"J45","since":65535}]},{"hospital":"H2"}]}"#,
        r#"{"id":2}"#,
    ];
    assert_eq!(records(bytes.clone()), lines);
    assert_eq!(again(bytes), lines);
}

#[test]
fn types_stay_where_the_values_do_and_become_text_where_not() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let bytes = include_bytes!("../data/parquet/patients.parquet").to_vec();
    let loaded = read("parquet", bytes).expect("readable");
    let schema = |bytes: Vec<u8>| {
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).expect("a file");
        let mut text = Vec::new();
        parquet::schema::printer::print_schema(&mut text, reader.metadata().file_metadata().schema());
        String::from_utf8(text).expect("UTF-8")
    };
    let kept = schema(write(&loaded));
    for part in [
        "INT64 id;",
        "BOOLEAN alive;",
        "FLOAT weight;",
        "INT32 birthday (DATE);",
        "(TIMESTAMP(MICROS,true))",
        "INT32 since (INTEGER(16,false));",
    ] {
        assert!(kept.contains(part), "{part} in {kept}");
    }
    // A generalized day is no day any more.
    let mut b = Builder::new();
    let day = b.attribute(ClassId::ROOT, &["bio".to_owned(), "birthday".to_owned()]);
    let id = b.attribute(ClassId::ROOT, &["id".to_owned()]);
    for (text, number) in [("1950-03-01", "1"), ("1950", "2")] {
        b.begin_record();
        b.set(day, Kind::Text, text);
        b.set(id, Kind::Number, number);
        b.end_record().expect("nothing twice");
    }
    let mut out = Vec::new();
    by_name("parquet")
        .expect("known")
        .write(&b.finish(), &loaded.layout, &mut out, &Quiet)
        .expect("writable");
    let coarse = schema(out.clone());
    assert!(coarse.contains("BYTE_ARRAY birthday (STRING);") && coarse.contains("INT64 id;"), "{coarse}");
    assert!(coarse.find("id;") < coarse.find("birthday"), "columns keep their order: {coarse}");
    assert_eq!(
        records(out),
        [r#"{"id":1,"bio":{"birthday":"1950-03-01"}}"#, r#"{"id":2,"bio":{"birthday":"1950"}}"#]
    );
}

#[test]
fn several_row_groups_are_one_dataset() {
    let lines: String = (0..5_000).map(|i| format!("{{\"n\":{i},\"t\":[{},{}]}}\n", i % 3, i % 7)).collect();
    let data = read("ndjson", lines.clone()).expect("records").data;
    let mut out = Vec::new();
    by_name("parquet").expect("known").write(&data, &Layout::default(), &mut out, &Quiet).expect("writable");
    assert_eq!(canonical_lines(records(out).join("\n").as_bytes()), canonical_lines(lines.as_bytes()));
}

#[test]
fn types_that_no_attribute_can_hold_are_all_named() {
    let schema = "message m {
        required int32 n; required fixed_len_byte_array(12) gap (INTERVAL); required binary blob (BSON);
        optional group x { required fixed_len_byte_array(2) half (FLOAT16); } }";
    let bytes = file(schema, |g| {
        column::<Int32Type>(g, &[1], &[], &[]);
        column::<FixedLenByteArrayType>(g, &[FixedLenByteArray::from(vec![0; 12])], &[], &[]);
        column::<ByteArrayType>(g, &texts(&["x"]), &[], &[]);
        column::<FixedLenByteArrayType>(g, &[], &[0], &[]);
    });
    let failure = fails("parquet", bytes).to_string();
    for part in ["INTERVAL", "gap", "BSON", "blob", "FLOAT16", "x.half", "which no attribute can hold"] {
        assert!(failure.contains(part), "{part} in {failure}");
    }
}

#[test]
fn values_that_no_attribute_can_hold_are_named_by_record_and_column() {
    let schema = "message m { optional binary note; required float x; required int32 day (DATE); }";
    let bytes = file(schema, |g| {
        let notes = [ByteArray::from("fine"), ByteArray::from(vec![0xFF, 0xFE])];
        column::<ByteArrayType>(g, &notes, &[1, 0, 1], &[]);
        column::<FloatType>(g, &[f32::NAN, 1.0, f32::INFINITY], &[], &[]);
        column::<Int32Type>(g, &[0, i32::MAX, 0], &[], &[]);
    });
    let failure = fails("parquet", bytes).to_string();
    for part in [
        "binary data that is not text",
        "record 3",
        "no finite number; the same in one more record",
        "record 1",
        "no calendar",
        "record 2",
    ] {
        assert!(failure.contains(part), "{part} in {failure}");
    }
}

#[test]
fn files_that_are_cut_off_or_no_parquet_at_all() {
    let whole = include_bytes!("../data/parquet/patients.parquet");
    for cut in [4, 11, 100, whole.len() / 2, whole.len() - 1] {
        let failure = fails("parquet", whole[..cut].to_vec()).to_string();
        assert!(failure.contains("damaged or cut off"), "{cut}: {failure}");
    }
    assert!(fails("parquet", "").to_string().contains("the file holds no record"));
    assert!(fails("parquet", "{\"a\":1}\n").to_string().contains("no Parquet file"));
    let empty = file("message m { required int32 n; }", |g| column::<Int32Type>(g, &[], &[], &[]));
    assert!(fails("parquet", empty).to_string().contains("the file holds no record"));
}

#[test]
fn what_columns_cannot_express_is_refused() {
    let parquet = by_name("parquet").expect("known");
    let fails = |b: Builder| {
        let failure =
            parquet.write(&b.finish(), &Layout::default(), &mut Vec::new(), &Quiet).expect_err("refused");
        failure.to_string()
    };
    let mut b = Builder::new();
    let tags = b.class(ClassId::ROOT, &["tags".to_owned()]);
    b.attribute(tags, &[]);
    b.attribute(tags, &["x".to_owned()]);
    b.attribute(ClassId::ROOT, &["a".to_owned()]);
    b.attribute(ClassId::ROOT, &["a".to_owned(), "b".to_owned()]);
    let all = fails(b);
    assert!(all.contains("tags[]") && all.contains("a.b"), "both are named: {all}");
    assert!(fails(Builder::new()).contains("no attribute"));
}

#[test]
fn the_format_is_known_by_its_first_bytes() {
    let bytes = include_bytes!("../data/parquet/patients.parquet").to_vec();
    let loaded = bosket_io::read(input(bytes).expect("open"), None, &Layout::default()).expect("readable");
    assert_eq!(loaded.format.name(), "parquet");
}
