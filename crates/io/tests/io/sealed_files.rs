//! Published files with something beside their records that a format has room for: Parquet, gzip, zstd.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::tables_common::*;
use bosket_io::{Create, PolicyFile, Publication, Whereabouts};
use bosket_model::observe::Quiet;
use bosket_model::{Dataset, Result};
use flate2::{Compression, GzBuilder};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::metadata::{FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use tempfile::TempDir;

fn policy_of(dir: &Path, format: &str, name: &str) -> PolicyFile {
    let text = format!(
        "version = 1\n[source]\nformat = \"{format}\"\npath = \"in.{format}\"\n[publish]\npath = \"{name}\"\n"
    );
    policy(dir, &(text + &attribute("town", "quasi")))
}

fn read_at(file: &PolicyFile, at: &Path) -> Result<Dataset> {
    Ok(Whereabouts::given(file, at, true)?.open(&Quiet)?.data)
}

#[track_caller]
fn refused_with(file: &PolicyFile, at: &Path, words: &str) {
    let failure = read_at(file, at).map(|_| ()).expect_err("must not be accepted");
    assert_eq!(failure.fault, bosket_model::Fault::Data, "{failure}");
    assert!(failure.to_string().contains(words), "{failure}");
    Whereabouts::given(file, at, false).and_then(|w| w.open(&Quiet)).expect("private data may have it");
}

/// A publication as it is written: a folder, its policy and the file.
fn published(format: &str, input: &[u8], name: &str) -> (TempDir, PolicyFile, PathBuf) {
    let dir = TempDir::new().expect("a folder");
    fs::write(dir.path().join(format!("in.{format}")), input).expect("written");
    let file = policy_of(dir.path(), format, name);
    let opened = Whereabouts::input(&file).and_then(|w| w.open(&Quiet)).expect("readable");
    let mut publication = Publication::begin(&file, &opened.form, Create::default()).expect("room");
    publication.write(&opened.data, &Quiet).expect("written");
    publication.read_again(&Quiet).expect("accepted before it is in place");
    publication.finish(Vec::new(), &Quiet).expect("published");
    let out = dir.path().join(name);
    read_at(&file, &out).expect("accepted as it was written");
    (dir, file, out)
}

const TEXT: &[u8] = b"{\"town\":\"A\"}\n{\"town\":\"A\"}\n";

#[test]
fn what_gzip_has_beside_the_text_is_refused() {
    let (_dir, file, out) = published("ndjson", TEXT, "out.ndjson.gz");
    let plain = fs::read(&out).expect("bytes");
    let packed = |builder: GzBuilder| {
        let mut encoder = builder.write(Vec::new(), Compression::default());
        encoder.write_all(TEXT).and_then(|()| encoder.finish()).expect("packed")
    };
    let header = "its header has a name, a time, a comment or an extra field";
    let more = "something follows its first part";
    for (bytes, words) in [
        (packed(GzBuilder::new().filename("ann.json")), header),
        (packed(GzBuilder::new().comment("SSN-1")), header),
        (packed(GzBuilder::new().extra("SSN-1")), header),
        (packed(GzBuilder::new().mtime(1)), header),
        ([plain.clone(), plain.clone()].concat(), more),
        ([plain.clone(), packed_nothing()].concat(), more),
    ] {
        fs::write(&out, bytes).expect("written");
        refused_with(&file, &out, words);
    }
    fs::write(&out, [&plain[..], b"SSN-1"].concat()).expect("written");
    read_at(&file, &out).map(|_| ()).expect_err("what follows is no member");
}

/// A member with no text, in the name of which everything can stand.
fn packed_nothing() -> Vec<u8> {
    GzBuilder::new().filename("SSN-1").write(Vec::new(), Compression::default()).finish().expect("packed")
}

#[test]
fn what_zstd_has_beside_the_text_is_refused() {
    let (_dir, file, out) = published("ndjson", TEXT, "out.ndjson.zst");
    let plain = fs::read(&out).expect("bytes");
    let skippable = b"\x50\x2A\x4D\x18\x05\0\0\0SSN-1";
    for bytes in [
        [&plain[..], skippable].concat(),
        [skippable, &plain[..]].concat(),
        [plain.clone(), plain.clone()].concat(),
    ] {
        fs::write(&out, bytes).expect("written");
        refused_with(&file, &out, "something follows its first part");
    }
    fs::write(&out, [&plain[..], b"SSN-1"].concat()).expect("written");
    read_at(&file, &out).map(|_| ()).expect_err("what follows is no frame");
}

#[test]
fn a_compressed_table_is_looked_at_too() {
    let dir = TempDir::new().expect("a folder");
    let text = "version = 1\n[source]\nformat = \"csv\"\n[[source.table]]\nname = \"student\"\npath = \"student.csv.gz\"\n\
                key = \"sid\"\n[publish]\npath = \"out\"\n";
    let file = policy(dir.path(), &(text.to_owned() + &attribute("student.town", "quasi")));
    let packed = |builder: GzBuilder, text: &str| {
        let mut encoder = builder.write(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).expect("packed")
    };
    fs::write(dir.path().join("student.csv.gz"), packed(GzBuilder::new(), "sid,town\nx,A\n"))
        .expect("written");
    let (data, form) = read_input(&file).expect("readable");
    publish(&file, &form, &data).expect("published");
    let out = dir.path().join("out");
    read_published(&file, &out).expect("accepted as it was written");
    let named = packed(GzBuilder::new().filename("ann"), "sid,town\n1,A\n");
    fs::write(out.join("student.csv.gz"), named).expect("written");
    let told = read_published(&file, &out).map(|_| ()).expect_err("must not be accepted").to_string();
    assert!(told.contains("its header has a name"), "{told}");
}

/// A file with a column of towns, written with properties of its own.
fn parquet_with(
    set: impl FnOnce(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
    towns: &[&str],
) -> Vec<u8> {
    let schema =
        Arc::new(parse_message_type("message m { required binary town (STRING); }").expect("a schema"));
    let plain = WriterProperties::builder()
        .set_created_by("bosket".to_owned())
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false);
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(set(plain).build())).expect("a file");
    let mut group = writer.next_row_group().expect("a group");
    let mut column = group.next_column().expect("a column").expect("one");
    let values: Vec<ByteArray> = towns.iter().map(|t| ByteArray::from(*t)).collect();
    column.typed::<ByteArrayType>().write_batch(&values, None, None).expect("written");
    column.close().expect("closed");
    group.close().expect("closed");
    writer.into_inner().expect("complete")
}

#[test]
fn what_parquet_has_beside_the_columns_is_refused() {
    let towns = ["A", "A"];
    let (_dir, file, out) = published("parquet", &parquet_with(|p| p, &towns), "out.parquet");
    type Set = fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder;
    let cases: [(Set, &str); 6] = [
        (
            |p| p.set_key_value_metadata(Some(vec![KeyValue::new("who".to_owned(), "SSN-1".to_owned())])),
            "metadata of keys and values",
        ),
        (|p| p.set_created_by("SSN-1".to_owned()), "another program wrote it"),
        (|p| p.set_statistics_enabled(EnabledStatistics::Chunk), "a column has statistics"),
        (|p| p.set_bloom_filter_enabled(true), "a column has a Bloom filter"),
        (|p| p.set_offset_index_disabled(false), "a column has an index"),
        (|p| p.set_dictionary_enabled(true), "a column has a dictionary"),
    ];
    for (set, words) in cases {
        fs::write(&out, parquet_with(set, &towns)).expect("written");
        refused_with(&file, &out, words);
    }
    fs::write(&out, parquet_with(|p| p, &towns)).expect("written");
    read_at(&file, &out).expect("a plain file is accepted");
}

#[test]
fn bytes_between_the_columns_of_parquet_are_refused() {
    let (_dir, file, out) = published("parquet", &parquet_with(|p| p, &["A", "A"]), "out.parquet");
    let bytes = fs::read(&out).expect("bytes");
    let end = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().expect("four bytes")) as usize;
    let split = end - footer;
    fs::write(&out, [&bytes[..split], b"SSN-1", &bytes[split..]].concat()).expect("written");
    refused_with(&file, &out, "something lies between its columns and its footer");
}

/// The same bytes with a footer that says that there are fewer rows.
fn with_rows(bytes: &[u8], rows: i64, values: Option<i64>) -> Vec<u8> {
    let read = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).expect("Parquet");
    let (metadata, old) = (read.metadata(), read.metadata().file_metadata());
    let group = metadata.row_group(0).clone();
    let mut column = group.column(0).clone().into_builder();
    if let Some(values) = values {
        column = column.set_num_values(values);
    }
    let column = column.build().expect("a column");
    let group = group.into_builder().set_num_rows(rows).set_column_metadata(vec![column]);
    let (created, schema) = (old.created_by().map(str::to_owned), old.schema_descr_ptr());
    let file = FileMetaData::new(old.version(), rows, created, None, schema, None);
    let metadata = ParquetMetaData::new(file, vec![group.build().expect("a group")]);
    let end = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().expect("four bytes")) as usize;
    let mut out = bytes[..end - footer].to_vec();
    let mut tail = Vec::new();
    ParquetMetaDataWriter::new(&mut tail, &metadata).finish().expect("written");
    out.extend(tail);
    out
}

#[test]
fn surplus_values_of_a_page_are_refused() {
    let (_dir, file, out) = published("parquet", &parquet_with(|p| p, &["A", "A"]), "out.parquet");
    let more = parquet_with(|p| p, &["A", "A", "SSN-1"]);
    fs::write(&out, with_rows(&parquet_with(|p| p, &["A", "A"]), 2, None)).expect("written");
    read_at(&file, &out).expect("a footer of the same rows is accepted");
    for values in [None, Some(2)] {
        fs::write(&out, with_rows(&more, 2, values)).expect("written");
        let told = read_at(&file, &out).map(|_| ()).expect_err("must not be accepted").to_string();
        assert!(told.contains("a page holds more than the values of its rows"), "{told}");
        assert!(!told.contains("SSN"), "{told}");
    }
}

/// The whole raw table lay in a field of the footer that no reader knows.
#[test]
fn unknown_fields_of_the_footer_are_refused() {
    let (_dir, file, out) = published("parquet", &parquet_with(|p| p, &["A", "A"]), "out.parquet");
    let good = fs::read(&out).expect("there");
    read_at(&file, &out).expect("as it was written");
    let at = good.len() - 8;
    let size = u32::from_le_bytes(good[at..at + 4].try_into().expect("four bytes"));
    // Field 100, six bytes of binary, before the end of the whole struct.
    let field = [&[0x08, 0xC8, 0x01, 6][..], b"SSN-12"].concat();
    let mut bytes = good.clone();
    bytes.splice(at - 1..at - 1, field.iter().copied());
    let end = bytes.len() - 8;
    bytes[end..end + 4].copy_from_slice(&(size + field.len() as u32).to_le_bytes());
    fs::write(&out, bytes).expect("written");
    refused_with(&file, &out, "its footer has a field that no reader knows");
}

#[test]
fn nothing_beside_the_columns_is_written_into_parquet() {
    let (_dir, _, out) = published("parquet", &parquet_with(|p| p, &["B", "A", "A"]), "out.parquet");
    let read = SerializedFileReader::new(fs::File::open(out).expect("a file")).expect("Parquet");
    let metadata = read.metadata();
    assert_eq!(metadata.file_metadata().created_by(), Some("bosket"));
    assert!(metadata.file_metadata().key_value_metadata().is_none());
    for column in metadata.row_groups().iter().flat_map(|g| g.columns()) {
        assert!(column.statistics().is_none() && column.bloom_filter_offset().is_none());
        assert!(column.offset_index_offset().is_none() && column.column_index_offset().is_none());
    }
}

#[test]
fn linked_parquet_is_looked_at_too() {
    let dir = TempDir::new().expect("a folder");
    let text = "version = 1\nundeclared = \"drop\"\n[source]\nformat = \"parquet\"\n[[source.table]]\nname = \"student\"\n\
                path = \"student.parquet\"\nkey = \"sid\"\n[publish]\npath = \"out\"\n";
    let file = policy(dir.path(), &(text.to_owned() + &attribute("student.name", "quasi")));
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parquet/student.parquet");
    fs::copy(&data, dir.path().join("student.parquet")).expect("copied");
    let (records, form) = read_input(&file).expect("readable");
    publish(&file, &form, &records).expect("published");
    let out = dir.path().join("out");
    read_published(&file, &out).expect("accepted as it was written");
    fs::copy(&data, out.join("student.parquet")).expect("copied");
    let told = read_published(&file, &out).map(|_| ()).expect_err("must not be accepted").to_string();
    assert!(told.contains("holds more than its columns"), "{told}");
    fs::write(out.join("more.parquet"), "").expect("written");
    let told = read_published(&file, &out).map(|_| ()).expect_err("must not be accepted").to_string();
    assert!(told.contains("`more.parquet` lies in the folder"), "{told}");
}
