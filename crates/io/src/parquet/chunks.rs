//! Where the bytes of a file come from: parts of it, or memory.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use bytes::{Buf, Bytes};
use parquet::errors::{ParquetError, Result as Parquet};
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};

use super::sealed;
use crate::input::Input;

/// What is read in parts, from the end to wherever its columns are.
pub(crate) enum Chunks {
    /// A file, and how much of it was read.
    File(File, Arc<AtomicU64>),
    /// What came compressed or through a pipe.
    Memory(Bytes),
}

impl Chunks {
    /// The same bytes once more.
    fn again(&self) -> Parquet<Self> {
        Ok(match self {
            Chunks::File(file, read) => Chunks::File(file.try_clone()?, Arc::clone(read)),
            Chunks::Memory(bytes) => Chunks::Memory(bytes.clone()),
        })
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        match self {
            Chunks::File(file, _) => Length::len(file),
            Chunks::Memory(bytes) => bytes.len() as u64,
        }
    }
}

impl ChunkReader for Chunks {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Parquet<Self::T> {
        Ok(match self {
            Chunks::File(file, _) => Box::new(file.get_read(start)?),
            Chunks::Memory(bytes) => Box::new(
                bytes.get_bytes(start, bytes.len() - start.min(bytes.len() as u64) as usize)?.reader(),
            ),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Parquet<Bytes> {
        match self {
            Chunks::File(file, read) => {
                read.fetch_add(length as u64, Ordering::Relaxed);
                // A length that only a damaged file can have must not be made room for.
                if start.saturating_add(length as u64) > Length::len(file) {
                    return Err(ParquetError::EOF("beyond the end of the file".to_owned()));
                }
                file.get_bytes(start, length)
            }
            Chunks::Memory(bytes) => bytes.get_bytes(start, length),
        }
    }
}

/// Opens a file.
pub(crate) fn open(input: &mut Input) -> Result<SerializedFileReader<Chunks>> {
    let file = input.whole_file().map(|(file, read)| (file.try_clone(), Arc::clone(read)));
    let chunks = match file {
        Some((Ok(file), read)) => Chunks::File(file, read),
        _ => Chunks::Memory(input.read_all()?.into()),
    };
    if chunks.len() == 0 {
        let what = Diagnostic::error("the file holds no record").at(Place::source(input.name()));
        return Err(Failure::new(Fault::Data, what.help("check that it is the right file, and complete")));
    }
    let length = chunks.len();
    let again =
        input.is_published().then(|| chunks.again()).transpose().map_err(|e| failure(input.name(), &e))?;
    let file = SerializedFileReader::new(chunks).map_err(|e| failure(input.name(), &e))?;
    let columns = file.metadata().row_groups().iter().flat_map(|g| g.columns());
    let mut places = columns.map(|c| {
        let start = c.dictionary_page_offset().unwrap_or(c.data_page_offset());
        let start = u64::try_from(start.min(c.data_page_offset()));
        start.ok().zip(u64::try_from(c.compressed_size()).ok())
    });
    // The reader takes these numbers as they are.
    if places.any(|p| p.and_then(|(start, size)| start.checked_add(size)).is_none_or(|end| end > length)) {
        return Err(damaged(input.name(), "a column lies beyond its end"));
    }
    if let Some(chunks) = again {
        sealed::check(&file, &chunks, input.name())?;
    }
    Ok(file)
}

/// What the reader says, as a diagnostic that says what to do. Its own words never name values.
pub(crate) fn failure(name: &str, error: &ParquetError) -> Failure {
    let (message, help) = match error {
        ParquetError::NYI(what) => (
            format!("the file uses a part of Parquet that is not understood: {what}"),
            "write it with another compression or encoding",
        ),
        ParquetError::External(inner) => match inner.downcast_ref::<std::io::Error>() {
            Some(error) => return crate::fault::reading(name, error),
            None => return damaged(name, error),
        },
        _ => return damaged(name, error),
    };
    Failure::new(Fault::Data, Diagnostic::error(message).at(Place::source(name)).help(help))
}

/// A file that contradicts itself.
pub(crate) fn damaged(name: &str, why: impl std::fmt::Display) -> Failure {
    let what = Diagnostic::error(format!("this is no Parquet file, or it is damaged or cut off: {why}"));
    Failure::new(Fault::Data, what.at(Place::source(name)).help("copy or write the file again"))
}
