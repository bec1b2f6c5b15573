//! Columns of text into Parquet files, group by group.

use std::fs::File;
use std::path::Path;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Rows that are written at once.
pub(crate) const GROUP: usize = 100_000;

pub(crate) fn writer(path: &Path, schema: &str) -> SerializedFileWriter<File> {
    let schema = parse_message_type(schema).expect("a schema");
    let properties = WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY).build();
    SerializedFileWriter::new(File::create(path).expect("a file"), schema.into(), properties.into())
        .expect("a file")
}

pub(crate) type Column = (Vec<ByteArray>, Vec<i16>, Vec<i16>);

pub(crate) fn group(writer: &mut SerializedFileWriter<File>, columns: &mut [Column]) {
    let mut group = writer.next_row_group().expect("a group");
    for (values, definition, repetition) in columns {
        let mut column = group.next_column().expect("a column").expect("one more");
        let levels = |l: &'_ Vec<i16>| (!l.is_empty()).then(|| l.clone());
        let (d, r) = (levels(definition), levels(repetition));
        column.typed::<ByteArrayType>().write_batch(values, d.as_deref(), r.as_deref()).expect("written");
        column.close().expect("closed");
        values.clear();
        definition.clear();
        repetition.clear();
    }
    group.close().expect("complete");
}
