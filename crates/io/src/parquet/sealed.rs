//! Whether a published file holds nothing but its columns.
//!
//! Footers have room for any text, and columns for their smallest and largest values, for filters and for dictionaries of
//! values that no row has. A publication has none of them: its columns are plain values, page after page, and nothing lies
//! between them.

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::Page;
use parquet::errors::{ParquetError, Result as Parquet};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{ChunkReader, FileReader, Length, RowGroupReader, SerializedFileReader};

use super::chunks::{Chunks, failure};
use super::decode::Raw;
use super::leaf::{self, Levels};
use super::writer::CREATED_BY;

/// Bytes of the footer behind the metadata: its length, and the file's mark.
const FOOTER_END: u64 = 8;

/// Records that are read at once.
const BATCH: usize = 4096;

/// Refuses a file with anything beside its columns.
pub(super) fn check(file: &SerializedFileReader<Chunks>, chunks: &Chunks, name: &str) -> Result<()> {
    let fail = |e: ParquetError| failure(name, &e);
    let mut found = in_footer(file.metadata());
    if found.is_none() {
        found = between_columns(file.metadata(), chunks).map_err(fail)?;
    }
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(fail)?;
        for column in 0..group.num_columns() {
            if found.is_none() {
                found = in_pages(group.as_ref(), column).map_err(fail)?;
            }
        }
    }
    let Some(found) = found else { return Ok(()) };
    let what = Diagnostic::error(format!("the file holds more than its columns: {found}"));
    let help =
        "`verify` cannot judge it, so it must not be handed out; hand the file out as `anonymize` wrote it";
    Err(Failure::new(Fault::Data, what.at(Place::source(name)).help(help)))
}

/// What the footer says beside the schema and where columns are.
fn in_footer(metadata: &ParquetMetaData) -> Option<&'static str> {
    let file = metadata.file_metadata();
    if file.key_value_metadata().is_some_and(|all| !all.is_empty()) {
        return Some("its footer has metadata of keys and values");
    }
    if file.created_by() != Some(CREATED_BY) {
        return Some("its footer says that another program wrote it");
    }
    metadata.row_groups().iter().find_map(|group| {
        let sorted = group.sorting_columns().is_some_and(|all| !all.is_empty());
        group.columns().iter().find_map(in_column).or(sorted.then_some("it says how it is sorted"))
    })
}

fn in_column(column: &ColumnChunkMetaData) -> Option<&'static str> {
    let all = [
        (column.statistics().is_some() || column.geo_statistics().is_some(), "a column has statistics"),
        (column.bloom_filter_offset().is_some(), "a column has a Bloom filter"),
        (column.column_index_offset().is_some(), "a column has an index"),
        (column.offset_index_offset().is_some(), "a column has an index"),
        (column.index_page_offset().is_some(), "a column has an index"),
        (column.dictionary_page_offset().is_some(), "a column has a dictionary"),
        (column.file_path().is_some(), "a column refers to another file"),
    ];
    all.into_iter().find(|(there, _)| *there).map(|(_, what)| what)
}

/// Columns must follow each other from the file's mark to the footer.
fn between_columns(metadata: &ParquetMetaData, chunks: &Chunks) -> Parquet<Option<&'static str>> {
    let length = chunks.len();
    let size = chunks.get_bytes(length.saturating_sub(FOOTER_END), 4)?;
    let size = u64::from(size.iter().rev().fold(0u32, |sum, &byte| (sum << 8) | u32::from(byte)));
    let columns = metadata.row_groups().iter().flat_map(|g| g.columns());
    let mut end = super::MAGIC.len() as u64;
    for column in columns {
        let (start, length) = column.byte_range();
        if start != end {
            return Ok(Some("something lies between its columns"));
        }
        end = start.saturating_add(length);
    }
    let footer = length.saturating_sub(FOOTER_END).saturating_sub(size);
    Ok((end != footer).then_some("something lies between its columns and its footer"))
}

/// A column's pages must hold plain values, and no more of them than its rows have.
fn in_pages(group: &dyn RowGroupReader, column: usize) -> Parquet<Option<&'static str>> {
    let description = group.metadata().column(column).column_descr_ptr();
    let levels = usize::from(description.max_rep_level() > 0) + usize::from(description.max_def_level() > 0);
    let (mut bytes, mut pages) = (0, 0);
    for page in group.get_column_page_reader(column)? {
        let Page::DataPage { buf, encoding: Encoding::PLAIN, statistics: None, .. } = page? else {
            return Ok(Some("a page holds other than plain values"));
        };
        let mut values = &buf[..];
        for _ in 0..levels {
            values =
                after_levels(values).ok_or_else(|| ParquetError::EOF("a page is too short".to_owned()))?;
        }
        bytes += values.len();
        pages += 1;
    }
    let (mut needed, mut bits) = (0, 0);
    let mut reader = group.get_column_reader(column)?;
    let mut read = Levels::default();
    let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    while left > 0 {
        let count = left.min(BATCH);
        leaf::read(&mut reader, count, &mut read, &mut |raw| match raw {
            Raw::Bool(_) => bits += 1,
            Raw::I32(_) | Raw::F32(_) => needed += 4,
            Raw::I64(_) | Raw::F64(_) => needed += 8,
            Raw::Bytes(text) if description.physical_type() == Physical::BYTE_ARRAY => {
                needed += 4 + text.len()
            }
            Raw::Bytes(text) => needed += text.len(),
            Raw::I96(_) => needed += 12,
        })?;
        left -= count;
    }
    // Truth values of a page fill whole bytes.
    let slack = if bits > 0 { pages } else { 0 };
    let needed = needed + usize::div_ceil(bits, 8);
    Ok((bytes < needed || bytes > needed + slack).then_some("a page holds more than the values of its rows"))
}

/// What follows levels, which begin with their length.
fn after_levels(page: &[u8]) -> Option<&[u8]> {
    let (length, rest) = page.split_first_chunk::<4>()?;
    rest.get(usize::try_from(u32::from_le_bytes(*length)).ok()?..)
}
