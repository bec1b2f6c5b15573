//! Columns have room for more than their values: headers of pages, dictionaries, gaps, how pages are cut. Whatever is put there,
//! nothing of it passes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::parted::{self, PartsState, recount_part};
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, anonymize, verify};
use bosket_io::PolicyFile;
use bosket_model::observe::Quiet;
use bosket_model::{Fault, Result};
use parquet::basic::{Compression, Encoding, Type as Physical, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnChunkMetaDataBuilder, ParquetMetaData, ParquetMetaDataOptions,
    ParquetMetaDataReader, ParquetMetaDataWriter,
};
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder as Builder, WriterVersion,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use tempfile::TempDir;

use crate::chunked_columns::columns;

/// The header of a page, as far as it is written anew.
struct Header {
    /// Its kind, and how many bytes it has unpacked and packed.
    numbers: [i64; 3],
    /// What is said of its values, with the end of it.
    data: Vec<u8>,
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return number;
        }
    }
}

fn zigzag(number: i64, out: &mut Vec<u8>) {
    let mut number = (number << 1 ^ number >> 63) as u64;
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Passes over a struct of whole numbers and truth values, with its end.
fn pass_over(bytes: &[u8], at: &mut usize) {
    while bytes[*at] != 0 {
        let kind = bytes[*at] & 15;
        *at += 1;
        match kind {
            1 | 2 => {}
            5 => drop(varint(bytes, at)),
            kind => panic!("{kind} is not in the header of a page of ours"),
        }
    }
    *at += 1;
}

impl Header {
    /// Reads one, and says where it ends.
    fn read(bytes: &[u8]) -> (Self, usize) {
        let mut at = 0;
        let numbers = [0; 3].map(|_: i64| {
            assert_eq!(bytes[at], 0x15, "the next field is a number");
            at += 1;
            let number = varint(bytes, &mut at);
            (number >> 1) as i64 ^ -((number & 1) as i64)
        });
        assert_eq!(bytes[at], 0x2C, "what is said of values is a struct");
        let start = at + 1;
        at = start;
        pass_over(bytes, &mut at);
        assert_eq!(bytes[at], 0, "nothing else");
        (Header { numbers, data: bytes[start..at].to_vec() }, at + 1)
    }

    fn write(&self, sum: Option<i64>, more: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for number in self.numbers {
            out.push(0x15);
            zigzag(number, &mut out);
        }
        match sum {
            Some(sum) => {
                out.push(0x15);
                zigzag(sum, &mut out);
                out.push(0x1C);
            }
            None => out.push(0x2C),
        }
        [&out[..], &self.data, more, &[0]].concat()
    }
}

type Change = fn(&ColumnChunkMetaData, ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder;

/// The same file with other bytes for its first column, and so many behind it that belong to none.
fn with_first(bytes: &[u8], gap: &[u8], new: impl FnOnce(&[u8]) -> Vec<u8>, change: Change) -> Vec<u8> {
    let footer =
        u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().expect("four")) as usize;
    let footer = bytes.len() - 8 - footer;
    // With all that it says: a reader keeps only what it needs.
    let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
    let metadata =
        ParquetMetaDataReader::decode_metadata_with_options(&bytes[footer..bytes.len() - 8], Some(&options))
            .expect("a footer");
    assert_eq!(metadata.num_row_groups(), 1, "few records are one group");
    let (start, size) = metadata.row_group(0).column(0).byte_range();
    let (start, end) = (start as usize, (start + size) as usize);
    let first = new(&bytes[start..end]);
    let grown = first.len() as i64 - size as i64;
    let mut groups = metadata.row_groups().to_vec();
    for group in &mut groups {
        let columns = group.columns().iter().enumerate().map(|(at, column)| {
            let own = column.clone().into_builder();
            let own = if at == 0 {
                let (packed, plain) = (column.compressed_size(), column.uncompressed_size());
                change(column, own)
                    .set_total_compressed_size(packed + grown)
                    .set_total_uncompressed_size(plain + grown)
            } else {
                own.set_data_page_offset(column.data_page_offset() + grown + gap.len() as i64)
            };
            own.build().expect("a column")
        });
        let columns: Vec<ColumnChunkMetaData> = columns.collect();
        let plain = group.total_byte_size() + grown;
        let group_now = group.clone().into_builder().set_column_metadata(columns).set_total_byte_size(plain);
        *group = group_now.build().expect("a group");
    }
    let rest = &bytes[end..footer];
    let mut out = [&bytes[..start], &first, gap, rest].concat();
    let metadata = ParquetMetaData::new(metadata.file_metadata().clone(), groups);
    let mut tail = Vec::new();
    ParquetMetaDataWriter::new(&mut tail, &metadata).finish().expect("written");
    out.extend(tail);
    out
}

fn as_it_is(_: &ColumnChunkMetaData, own: ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder {
    own
}

/// The first page with other headers.
fn page(bytes: &[u8], write: impl FnOnce(Header, &[u8]) -> Vec<u8>) -> Vec<u8> {
    let new = |chunk: &[u8]| {
        let (header, end) = Header::read(chunk);
        write(header, &chunk[end..])
    };
    with_first(bytes, &[], new, as_it_is)
}

fn read(bytes: &[u8]) -> SerializedFileReader<File> {
    let mut file = tempfile::tempfile().expect("a file");
    std::io::Write::write_all(&mut file, bytes).expect("room");
    SerializedFileReader::new(file).expect("Parquet")
}

/// As Bosket writes.
fn plain() -> Builder {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("bosket".to_owned())
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false)
}

/// The same values written by other rules.
fn rewritten(bytes: &[u8], properties: Builder) -> Vec<u8> {
    let file = read(bytes);
    let schema = file.metadata().file_metadata().schema_descr().root_schema_ptr();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).expect("a file");
    for number in 0..file.num_row_groups() {
        let group = file.get_row_group(number).expect("a group");
        let mut out = writer.next_row_group().expect("a group");
        for column in 0..group.num_columns() {
            let mut to = out.next_column().expect("a column").expect("one");
            let (mut definition, mut repetition) = (Vec::new(), Vec::new());
            let levels = (Some(&mut definition), Some(&mut repetition));
            macro_rules! copy {
                ($from:expr, $to:expr) => {{
                    let mut values = Vec::new();
                    let all = 1 << 20;
                    let (rows, ..) =
                        $from.read_records(all, levels.0, levels.1, &mut values).expect("values");
                    assert!(rows < all);
                    // Where no level can differ none are read, and zeros are written.
                    let count = definition.len().max(rows);
                    definition.resize(count, 0);
                    repetition.resize(count, 0);
                    $to.write_batch(&values, Some(&definition), Some(&repetition)).expect("written");
                }};
            }
            match (group.get_column_reader(column).expect("a column"), to.untyped()) {
                (ColumnReader::ByteArrayColumnReader(mut from), ColumnWriter::ByteArrayColumnWriter(to)) => {
                    copy!(from, to);
                }
                (ColumnReader::Int64ColumnReader(mut from), ColumnWriter::Int64ColumnWriter(to)) => {
                    copy!(from, to);
                }
                _ => panic!("these tests publish texts and whole numbers"),
            }
            to.close().expect("closed");
        }
        out.close().expect("closed");
    }
    writer.into_inner().expect("complete")
}

/// A dictionary that the footer does not name, before the pages of the first column.
fn with_hidden_dictionary(bytes: &[u8]) -> Vec<u8> {
    let named = rewritten(bytes, plain().set_dictionary_enabled(true));
    let hidden: Change = |column, own| {
        let start = column.dictionary_page_offset().expect("a dictionary");
        own.set_dictionary_page_offset(None).set_data_page_offset(start)
    };
    with_first(&named, &[], <[u8]>::to_vec, hidden)
}

/// The first column in another encoding.
fn with_other_encoding(bytes: &[u8]) -> Vec<u8> {
    let file = read(bytes);
    let column = file.metadata().file_metadata().schema_descr().column(0);
    let encoding = match column.physical_type() {
        Physical::INT64 => Encoding::DELTA_BINARY_PACKED,
        _ => Encoding::DELTA_LENGTH_BYTE_ARRAY,
    };
    rewritten(bytes, plain().set_column_encoding(column.path().clone(), encoding))
}

const SECRET: &[u8] = b"SSN-12";

/// Every way in which a file is changed, and what it is then.
fn smuggled(good: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let unknown = |header: Header, body: &[u8]| {
        // Field 100, of bytes.
        let more = [&[0x08, 0xC8, 0x01, SECRET.len() as u8][..], SECRET].concat();
        [&header.write(None, &more)[..], body].concat()
    };
    let unknown_inside = |mut header: Header, body: &[u8]| {
        let end = header.data.len() - 1;
        let more = [&[0x08, 0xC8, 0x01, SECRET.len() as u8][..], SECRET].concat();
        header.data.splice(end..end, more);
        [&header.write(None, &[])[..], body].concat()
    };
    let statistics = |mut header: Header, body: &[u8]| {
        let end = header.data.len() - 1;
        // The largest value, and the end.
        let more = [&[0x1C, 0x18, SECRET.len() as u8][..], SECRET, &[0]].concat();
        header.data.splice(end..end, more);
        [&header.write(None, &[])[..], body].concat()
    };
    let sum = |header: Header, body: &[u8]| [&header.write(Some(0x53_53_4E), &[])[..], body].concat();
    let frame = |mut header: Header, body: &[u8]| {
        // zstd passes over what stands in such a frame.
        let more = [&[0x50, 0x2A, 0x4D, 0x18, SECRET.len() as u8, 0, 0, 0][..], SECRET].concat();
        header.numbers[2] += more.len() as i64;
        [&header.write(None, &[])[..], body, &more].concat()
    };
    let behind = |header: Header, body: &[u8]| [&header.write(None, &[])[..], body, SECRET].concat();
    let index: Change = |column, own| own.set_index_page_offset(Some(column.data_page_offset()));
    vec![
        ("a field of a page header", page(good, unknown)),
        ("a field of what a page header says of values", page(good, unknown_inside)),
        ("statistics of a page", page(good, statistics)),
        ("a checksum of a page", page(good, sum)),
        ("a frame that nobody unpacks", page(good, frame)),
        ("bytes behind a page", page(good, behind)),
        ("bytes behind a column", with_first(good, SECRET, <[u8]>::to_vec, as_it_is)),
        ("an index in the footer", with_first(good, &[], <[u8]>::to_vec, index)),
        ("a dictionary", rewritten(good, plain().set_dictionary_enabled(true))),
        ("a dictionary that the footer does not name", with_hidden_dictionary(good)),
        (
            "another cut of pages",
            rewritten(good, plain().set_data_page_row_count_limit(1).set_write_batch_size(1)),
        ),
        ("another version of pages", rewritten(good, plain().set_writer_version(WriterVersion::PARQUET_2_0))),
        ("another encoding", with_other_encoding(good)),
        ("another compression", rewritten(good, plain().set_compression(Compression::SNAPPY))),
        ("no compression", rewritten(good, plain().set_compression(Compression::UNCOMPRESSED))),
        (
            "another level of compression",
            rewritten(
                good,
                plain().set_compression(Compression::ZSTD(ZstdLevel::try_new(19).expect("a level"))),
            ),
        ),
        ("statistics of columns", rewritten(good, plain().set_statistics_enabled(EnabledStatistics::Chunk))),
        ("statistics of all pages", rewritten(good, plain().set_statistics_enabled(EnabledStatistics::Page))),
        ("a Bloom filter", rewritten(good, plain().set_bloom_filter_enabled(true))),
    ]
}

/// A publication in columns.
struct Published {
    folder: TempDir,
    /// What of the folder is the publication.
    name: &'static str,
    /// Its files.
    files: Vec<PathBuf>,
    has_sides: bool,
}

fn attribute(path: &str, role: &str) -> String {
    let hierarchy = if role == "quasi" { "hierarchy = { build = \"fanout\", fanout = 4 }\n" } else { "" };
    format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n{hierarchy}")
}

/// Publishes people; none in a build without Parquet.
fn published(people: &str, attributes: &str, privacy: &str, name: &'static str) -> Option<Published> {
    let folder = TempDir::new().expect("a folder");
    let at = folder.path();
    fs::write(at.join("in.ndjson"), people).expect("written");
    if !columns(&at.join("in.ndjson"), &at.join("in.parquet")) {
        return None;
    }
    let text = format!(
        "version = 1\n[source]\nformat = \"parquet\"\npath = \"in.parquet\"\n{attributes}[privacy]\n{privacy}\n\
         [publish]\npath = \"{name}\"\n"
    );
    fs::write(at.join("p.toml"), text).expect("written");
    let policy = PolicyAt { path: at.join("p.toml"), ..PolicyAt::default() };
    let request = AnonymizeRequest { policy, ..AnonymizeRequest::default() };
    let _ = anonymize(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}"));
    let out = at.join(name);
    let has_sides = out.is_dir();
    let files = match has_sides {
        true => files_in(&out),
        false => vec![out],
    };
    Some(Published { folder, name, files, has_sides })
}

/// The columns in a folder.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|e| e == "parquet")).collect();
    all.sort();
    all
}

fn flat() -> Option<Published> {
    let people: String = (0..24)
        .map(|i| format!("{{\"town\":\"T{}\",\"born\":{},\"ill\":\"i{}\"}}\n", i % 3, 1950 + i % 4, i % 5))
        .collect();
    let attributes =
        [attribute("town", "quasi"), attribute("born", "quasi"), attribute("ill", "insensitive")];
    published(&people, &attributes.concat(), "model = \"k-anonymity\"\nk = 2", "out.parquet")
}

fn people(sensitive: &str) -> (String, String) {
    let person = |i: usize| {
        let second = if i.is_multiple_of(4) { ",{\"year\":1,\"code\":\"c9\"}" } else { "" };
        let (town, year, code) = (i % 3, 2000 + i % 2, i % 8);
        format!("{{\"town\":\"T{town}\",\"visits\":[{{\"year\":{year},\"code\":\"c{code}\"}}{second}]}}\n")
    };
    let attributes = [
        attribute("town", "quasi"),
        attribute("visits[].year", "quasi"),
        attribute("visits[].code", sensitive),
    ];
    ((0..24).map(person).collect(), attributes.concat())
}

fn nested() -> Option<Published> {
    let (people, attributes) = people("quasi");
    published(&people, &attributes, "model = \"k-anonymity\"\nk = 2", "out.parquet")
}

fn two_sided() -> Option<Published> {
    let (people, attributes) = people("sensitive");
    published(&people, &attributes, "model = \"anatomy\"\ngroup_size = 3", "out")
}

impl Published {
    /// The same in one part.
    fn in_parts(mut self) -> Self {
        for file in &mut self.files {
            let bytes = fs::read(&*file).expect("there");
            fs::remove_file(&*file).expect("there");
            fs::create_dir(&*file).expect("a folder");
            file.push("part-00000.parquet");
            fs::write(&*file, bytes).expect("written");
        }
        self
    }

    fn verified(&self) -> Result<()> {
        let policy = PolicyAt { path: self.folder.path().join("p.toml"), ..PolicyAt::default() };
        let publication = self.folder.path().join(self.name);
        let request = VerifyRequest { policy: Some(policy), publication, ..VerifyRequest::default() };
        verify(&request, &Quiet).map(|found| assert!(found.value.holds(), "{}", found.value.to_json()))
    }

    /// As the workers of a cluster verify parts.
    fn verified_by_workers(&self) -> Result<()> {
        let at = self.folder.path();
        let text = fs::read_to_string(at.join("p.toml")).expect("a policy");
        let (file, folder) = (PolicyFile::parse(&at.join("p.toml"), &text, &[])?, at.join(self.name));
        let verdict = if self.has_sides {
            let state = parted::sides::judge(&file, &folder, 0, &Quiet)?;
            parted::sides::verdict(&file, &folder, &[state], &Quiet)?
        } else {
            let state = PartsState::of_part(&file, &folder, 0, 1 << 24, &Quiet)?;
            let state = PartsState::from_bytes(&state.to_bytes())?;
            let again = |drawn| recount_part(&file, &folder, 0, drawn, &Quiet);
            let again = state.drawn().map(again).transpose()?;
            state.finish(&file, &folder, again.as_ref(), 1 << 24, &Quiet)?
        };
        assert!(verdict.verification.holds());
        Ok(())
    }

    /// Puts something into every file, in every way, and demands that it is refused.
    fn refuses(&self, what: &str, verified: &dyn Fn(&Self) -> Result<()>) {
        verified(self).unwrap_or_else(|failure| panic!("{what}: {failure}"));
        for file in &self.files {
            let good = fs::read(file).expect("there");
            for (how, bytes) in smuggled(&good) {
                assert!(bytes != good, "{what}: {how} changed nothing");
                fs::write(file, bytes).expect("written");
                let found = verified(self).map_err(|failure| (failure.fault, failure.to_string()));
                let Err((fault, told)) = found else { panic!("{what}: {how} passed, in {}", file.display()) };
                assert_eq!(fault, Fault::Data, "{what}: {how}: {told}");
                assert!(!told.contains("SSN"), "{what}: {how}: {told}");
            }
            fs::write(file, good).expect("written");
        }
        verified(self).unwrap_or_else(|failure| panic!("{what}: {failure}"));
    }
}

/// The tools of these tests change nothing but what they say.
#[test]
fn what_is_written_again_without_anything_is_the_same() {
    for all in [flat(), nested(), two_sided()].into_iter().flatten() {
        for file in &all.files {
            let good = fs::read(file).expect("there");
            assert_eq!(rewritten(&good, plain()), good);
            let same = |header: Header, body: &[u8]| [&header.write(None, &[])[..], body].concat();
            assert_eq!(page(&good, same), good);
        }
    }
}

#[test]
fn nothing_is_smuggled_in_columns() {
    for (what, all) in [("one table", flat()), ("nested", nested()), ("two sides", two_sided())] {
        let Some(all) = all else { return };
        all.refuses(what, &Published::verified);
    }
}

#[test]
fn nothing_is_smuggled_in_columns_in_parts() {
    for (what, all) in [("one table", flat()), ("nested", nested()), ("two sides", two_sided())] {
        let Some(all) = all.map(Published::in_parts) else { return };
        all.refuses(what, &Published::verified);
        all.refuses(what, &Published::verified_by_workers);
    }
}
