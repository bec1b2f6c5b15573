//! Whether a published file holds nothing but its columns.
//!
//! Footers have room for any text, and columns for their smallest and largest values, for filters and for dictionaries of
//! values that no row has. A publication has none of them: its columns are plain values, page after page, and nothing lies
//! between them.

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::Page;
use parquet::errors::{ParquetError, Result as Parquet};
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetMetaDataWriter,
};
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
    if found.is_none() {
        found = unread_fields(chunks).map_err(fail)?;
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
    if chunks.get_bytes(0, super::MAGIC.len())? != super::MAGIC {
        return Ok(Some("it begins with something else than its mark"));
    }
    let size = footer_size(chunks)?;
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

/// How long the metadata before the footer's end is.
fn footer_size(chunks: &Chunks) -> Parquet<u64> {
    let size = chunks.get_bytes(chunks.len().saturating_sub(FOOTER_END), 4)?;
    Ok(u64::from(size.iter().rev().fold(0u32, |sum, &byte| (sum << 8) | u32::from(byte))))
}

/// A reader passes over fields that it does not know, wherever they stand in the footer. So the footer is written again from what
/// was read of it, and must be the same bytes.
fn unread_fields(chunks: &Chunks) -> Parquet<Option<&'static str>> {
    let size = footer_size(chunks)?;
    let start = chunks.len().saturating_sub(FOOTER_END).saturating_sub(size);
    let footer = chunks.get_bytes(start, usize::try_from(size).unwrap_or(usize::MAX))?;
    let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
    let read = ParquetMetaDataReader::decode_metadata_with_options(&footer, Some(&options))?;
    let mut again = Vec::new();
    ParquetMetaDataWriter::new(&mut again, &read).finish()?;
    let same = again.split_last_chunk::<{ FOOTER_END as usize }>().is_some_and(|(again, _)| again == footer);
    Ok((!same).then_some("its footer has a field that no reader knows, or is written another way"))
}

/// A column's pages must hold plain values, and no more of them than its rows have.
fn in_pages(group: &dyn RowGroupReader, column: usize) -> Parquet<Option<&'static str>> {
    let description = group.metadata().column(column).column_descr_ptr();
    let highest = [description.max_rep_level(), description.max_def_level()];
    let (mut bytes, mut pages, mut entries) = (0, 0, 0);
    for page in group.get_column_page_reader(column)? {
        let Page::DataPage { buf, num_values, encoding: Encoding::PLAIN, statistics: None, .. } = page?
        else {
            return Ok(Some("a page holds other than plain values"));
        };
        let mut values = &buf[..];
        for highest in highest.into_iter().filter(|&highest| highest > 0) {
            let (levels, rest) =
                split_levels(values).ok_or_else(|| ParquetError::EOF("a page is too short".to_owned()))?;
            if !are_levels(levels, highest, num_values as usize) {
                return Ok(Some("a page holds more than the levels of its values"));
            }
            values = rest;
        }
        bytes += values.len();
        pages += 1;
        entries += num_values as usize;
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
        entries = entries.saturating_sub(read.definition.len());
    }
    // Truth values of a page fill whole bytes.
    let slack = if bits > 0 { pages } else { 0 };
    let needed = needed + usize::div_ceil(bits, 8);
    let more = bytes < needed || bytes > needed + slack || entries > 0;
    Ok(more.then_some("a page holds more than the values of its rows"))
}

/// Levels, which begin with their length, and what follows them.
fn split_levels(page: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = page.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

/// Whether these bytes are runs of so many levels up to the highest, and nothing else.
fn are_levels(mut bytes: &[u8], highest: i16, count: usize) -> bool {
    let width = (i16::BITS - highest.leading_zeros()) as usize;
    let mut left = count;
    while left > 0 {
        let Some((header, rest)) = varint(bytes) else { return false };
        let (levels, size) = if header & 1 == 1 {
            // Groups of eight, the last of which may be padded.
            ((header >> 1).saturating_mul(8), (header >> 1).saturating_mul(width))
        } else {
            (header >> 1, width.div_ceil(8))
        };
        let padding = if header & 1 == 1 { 7 } else { 0 };
        let Some((_, rest)) = rest.split_at_checked(size) else { return false };
        if levels == 0 || levels > left + padding {
            return false;
        }
        left = left.saturating_sub(levels);
        bytes = rest;
    }
    bytes.is_empty()
}

/// A number of seven bits per byte, the lowest first, and what follows it.
fn varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let length = bytes.iter().take(5).position(|byte| byte & 0x80 == 0)? + 1;
    let number = bytes[..length].iter().rev().fold(0, |sum, byte| (sum << 7) | usize::from(byte & 0x7F));
    Some((number, &bytes[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_no_room_for_anything_else() {
        // Three times 1; then five levels of one bit, padded to eight.
        assert!(are_levels(&[6, 1], 1, 3));
        assert!(are_levels(&[6, 1, 3, 0b10101], 1, 8));
        for (bytes, count) in [
            (&[6, 1, b'S', b'S', b'N'][..], 3), // something behind the last run
            (&[6, 1], 2),                       // a run that is longer than the page
            (&[6, 1], 4),                       // and one that is shorter
            (&[0, 1, 6, 1], 3),                 // a run of nothing
            (&[3, 0, 0], 8),                    // a byte behind the last group
            (&[5, 0, 0], 8),                    // a group too many
            (&[6], 3),
        ] {
            assert!(!are_levels(bytes, 1, count), "{bytes:?}");
        }
        assert!(are_levels(&[], 3, 0));
        assert!(are_levels(&[0x90, 0x4E, 2], 3, 5000));
    }
}
