//! The one form of every publication: what was read is written again, and must be the same bytes.
//!
//! A file says more than its values: blanks, escapes, spellings of numbers, the order of records, of siblings and of keys.
//! Each of them could tell who is who. A list of what is forbidden is never complete; one form is.

pub(crate) mod compare;
mod tables;

use std::path::Path;

use bosket_model::observe::Observer;
use bosket_model::{Dataset, Diagnostic, Place, Result};

use crate::batches::BatchSize;
use crate::chunks::Chunks;
use crate::format::{Format, Layout};
use crate::hidden::Held;
use crate::input::Input;
use crate::kinds::Kinds;
use crate::parquet;
use crate::parts::part_files;
use crate::policy_file::PolicyFile;
use crate::publication::ChunkWriter;
use crate::source::{SourceForm, Whereabouts};

pub use compare::HELP;
pub(crate) use compare::{Compare, There};
pub(crate) use tables::{check_columns, check_rows};

/// The bytes of a publication that was read, so that they can be compared with what would be written.
#[derive(Clone, Debug)]
pub enum Written {
    /// One document, and the kinds that were told apart when it was read.
    Document(Box<(There, Kinds)>),
    /// The parts of a document, in their order.
    Parts(Vec<There>),
    /// Linked tables, which know their files themselves.
    Tables,
}

/// Where records that were read leave the one form; none if they do not.
pub fn of_records(
    written: &Written,
    form: &SourceForm,
    data: &Dataset,
    observer: &dyn Observer,
) -> Result<Option<Diagnostic>> {
    match (written, form) {
        (Written::Document(written), SourceForm::Document { format, layout }) => {
            let (there, kinds) = &**written;
            let merged = kinds.merge(data)?;
            of_document(there, (*format, layout), merged.as_ref().unwrap_or(data), observer)
        }
        (Written::Parts(parts), SourceForm::Document { format, layout }) => {
            of_parts(parts, (*format, layout), data, observer)
        }
        (_, SourceForm::Tables(form)) => tables::of_tables(form, observer),
        (Written::Tables, SourceForm::Document { .. }) => Ok(None),
    }
}

/// Where a document in memory leaves the one form.
pub fn of_bytes(
    bytes: &[u8],
    form: (&'static dyn Format, &Layout),
    data: &Dataset,
    observer: &dyn Observer,
) -> Result<Option<Diagnostic>> {
    let mut held = Held::default();
    held.push(bytes);
    of_document(&There::kept("the document", held), form, data, observer)
}

/// Where a document leaves the one form.
pub(crate) fn of_document(
    there: &There,
    (format, layout): (&dyn Format, &Layout),
    data: &Dataset,
    observer: &dyn Observer,
) -> Result<Option<Diagnostic>> {
    let is_text = format.name() != "parquet";
    let differs = |layout: &Layout| {
        Compare::begin(there, is_text)?.with(|out| format.write(data, layout, out, observer))
    };
    let mut found = differs(layout)?;
    // What parts cells that are alone in their rows is not to be seen.
    if format.name() == "csv" && data.schema().attributes().len() == 1 {
        for usual in [",", ";", "\t"] {
            if found.is_some() {
                found = differs(&Layout { separator: Some(usual.to_owned()), ..layout.clone() })?;
            }
        }
    }
    Ok(found)
}

/// Where the parts of a document leave it. They have been found to be in the order of their content, and cut as they should be.
pub(crate) fn of_parts(
    parts: &[There],
    (format, layout): (&dyn Format, &Layout),
    data: &Dataset,
    observer: &dyn Observer,
) -> Result<Option<Diagnostic>> {
    if format.name() == "parquet" {
        return parquet::parts::of_parts(parts, &layout.columns, data);
    }
    let mut text = Vec::new();
    format.write(data, layout, &mut text, observer)?;
    let mut rest = text.as_slice();
    for (at, part) in parts.iter().enumerate() {
        let last = at + 1 == parts.len();
        let size = if last { rest.len() } else { part.text_size()?.min(rest.len()) };
        let (own, later) = rest.split_at(size);
        let differs = Compare::begin(part, true)?
            .with(|out| std::io::Write::write_all(out, own).map_err(crate::fault::from_write))?;
        if differs.is_some() {
            return Ok(differs);
        }
        rest = later;
    }
    Ok(None)
}

/// The same of a publication that is read in batches: its records go into a private file, and are written from there. Sorting
/// takes about as much memory as told.
pub fn of_batches(
    file: &PolicyFile,
    at: &Path,
    size: BatchSize,
    memory: usize,
    observer: &dyn Observer,
) -> Result<Option<Diagnostic>> {
    let place = Whereabouts::given(file, at, true)?;
    let kinds = match &place {
        Whereabouts::Tables(_) => {
            let form = place.batches(size, observer, &mut |_| Ok(()))?;
            return match &form {
                SourceForm::Tables(form) => tables::of_tables(form, observer),
                SourceForm::Document { .. } => Ok(None),
            };
        }
        Whereabouts::Document { kinds, .. } | Whereabouts::Frame { kinds, .. } => kinds.clone(),
    };
    if at.is_dir() {
        let what = "a publication in parts is looked at as a whole, and its records do not fit into memory";
        let help =
            "allow more memory, leave `--chunk` out, or check it as a foreign publication with `--foreign`";
        return Ok(Some(Diagnostic::error(what).at(Place::source(at.display().to_string())).help(help)));
    }
    let mut chunks = Chunks::new();
    let form = place.batches(size, observer, &mut |opened| chunks.push(&opened.data))?;
    let SourceForm::Document { format, layout } = form else { return Ok(None) };
    of_chunks(&There::file(at), (format, &layout, &kinds), &mut chunks, memory, observer)
}

/// Where a document leaves the one form whose records are in a private file.
pub(crate) fn of_chunks(
    there: &There,
    (format, layout, kinds): (&'static dyn Format, &Layout, &Kinds),
    chunks: &mut Chunks,
    memory: usize,
    observer: &dyn Observer,
) -> Result<Option<Diagnostic>> {
    let writer = ChunkWriter { format, layout, kinds };
    let is_text = format.name() != "parquet";
    Compare::begin(there, is_text)?.with(|out| writer.write(chunks, memory, out, observer))
}

/// The bytes of a document that is going to be read: those of its file, or of a pipe, which can be read only once.
pub(crate) fn kept(path: &Path) -> Result<(Input, There)> {
    if path.is_file() || !(path.exists() || path == Path::new("-")) {
        return Ok((Input::open_records(path)?, There::file(path)));
    }
    let (input, held) = Input::kept(path)?;
    Ok((input, There::kept(&path.to_string_lossy(), held)))
}

/// The parts of a folder.
pub(crate) fn parts_in(folder: &Path, format: &str, beside: &[String]) -> Result<Vec<There>> {
    Ok(part_files(folder, format, beside)?.iter().map(|path| There::file(path)).collect())
}
