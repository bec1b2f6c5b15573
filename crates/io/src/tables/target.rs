//! Where linked tables are written to: hidden, readable again, then put in place or dropped.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::backend::Backend;
use super::csv::CsvTables;
use super::emit::Outflow;
use super::files::{Files, Shared, file_name};
use super::parquet::{self, ParquetTables};
use super::postgres::{self, PgPublication};
use super::sqlite::SqliteFile;
use super::unknown;
use crate::Create;
use crate::fault;
use crate::fingerprint::Certify;
use crate::output::{Output, finish_certified, make_folder};
use crate::parquet::scalar::Scalar;
use crate::table::push_row;

/// The place that tables are written to.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) format: Format,
    /// The folder of the files, or the database's file.
    pub(crate) path: &'a Path,
    /// The address of a server's database, and the schema there.
    pub(crate) url: &'a str,
    pub(crate) schema: &'a str,
    /// Per table its name and what its file is called.
    pub(crate) tables: Vec<(&'a str, String)>,
    /// The files that must stay.
    pub(crate) inputs: &'a [PathBuf],
    /// The database that must stay.
    pub(crate) database: Option<&'a postgres::Origin>,
}

/// Tables that are not there yet.
#[derive(Debug)]
pub(crate) enum Target {
    /// The folder comes last: it can only go when the files in it are gone.
    Files {
        format: Format,
        files: Vec<(Output, String)>,
        written: Vec<(String, Shared)>,
        folder: Folder,
    },
    Sqlite {
        file: SqliteFile,
        folder: Folder,
    },
    Postgres(Box<PgPublication>),
}

/// What the files need to know beyond the rows.
#[derive(Debug, Default)]
pub(crate) struct Details {
    /// Per table what separates the cells of its file.
    pub(crate) separators: Vec<u8>,
    /// Per table and column its type.
    pub(crate) types: Vec<Vec<Scalar>>,
}

/// A folder that goes away again if it was made for files that never came.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    made: bool,
}

impl Folder {
    fn make(path: &Path) -> Result<Self> {
        let made = !path.as_os_str().is_empty() && !path.exists();
        if made {
            make_folder(path)?;
        }
        Ok(Folder { path: path.to_owned(), made })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.made {
            // Fails if it is not empty, as it should.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// What is written must not take the place of what it is made from, by whatever name.
pub(crate) fn refuse_overwriting(inputs: &[PathBuf], target: &Path) -> Result<()> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let target_real = real(target);
    match inputs.iter().find(|input| target_real.is_some() && real(input) == target_real) {
        None => Ok(()),
        Some(input) => {
            let (target, input) = (target.display(), input.display());
            let what = format!("writing {target} would overwrite {input}, which the run reads");
            let help = "publish elsewhere; --force replaces older publications, never inputs";
            Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)))
        }
    }
}

impl Target {
    /// Begins to write into a place, which must be free unless it is to be replaced.
    pub(crate) fn begin(place: &Place<'_>, create: Create) -> Result<Self> {
        match place.format {
            Format::Csv | Format::Parquet => Self::begin_files(place, create),
            Format::Sqlite => {
                refuse_overwriting(place.inputs, place.path)?;
                let folder = Folder::make(place.path.parent().unwrap_or(Path::new("")))?;
                Ok(Target::Sqlite { file: SqliteFile::create(place.path, create)?, folder })
            }
            Format::Postgres => {
                let tables: Vec<&str> = place.tables.iter().map(|(name, _)| *name).collect();
                let begun =
                    PgPublication::begin(place.url, place.schema, &tables, place.database, create.force)?;
                Ok(Target::Postgres(Box::new(begun)))
            }
            other => Err(unknown(other, "")),
        }
    }

    fn begin_files(place: &Place<'_>, create: Create) -> Result<Self> {
        let folder = Folder::make(place.path)?;
        let mut files: Vec<(Output, String)> = Vec::new();
        for (_, file) in &place.tables {
            let name = file_name(file);
            let target = place.path.join(&name);
            refuse_overwriting(place.inputs, &target)?;
            if files.iter().any(|(_, other)| *other == name) {
                let what = Diagnostic::error(format!("two tables would be written to {}", target.display()));
                let help = "give the files of the source different names";
                return Err(Failure::new(Fault::Policy, what.help(help)));
            }
            files.push((Output::create(&target, create.clone())?, name));
        }
        Ok(Target::Files { format: place.format, files, written: Vec::new(), folder })
    }

    /// Writes all rows to where nobody looks yet. `names` has a name for every table that is one, in the place's order.
    pub(crate) fn write(
        &mut self,
        rows: &dyn Outflow,
        names: &[Option<&str>],
        files_of: &[Option<usize>],
        details: Details,
    ) -> Result<()> {
        match self {
            Target::Files { format, files, written, .. } => {
                let texts = match format {
                    Format::Parquet => parquet::write(rows, names, details.types)?,
                    _ => csv_texts(rows, &details.separators)?,
                };
                written.clear();
                for (file, text) in files_of.iter().zip(texts) {
                    if let Some((file, text)) = file.zip(text) {
                        written.push((files[file].1.clone(), Shared(Arc::new(text))));
                    }
                }
                Ok(())
            }
            Target::Sqlite { file, .. } => file.write(rows, names),
            Target::Postgres(publication) => publication.write(rows, names),
        }
    }

    /// Reads what has been written, as a stranger would.
    pub(crate) fn reading<T>(
        &mut self,
        separator: Option<&str>,
        read: impl FnOnce(&mut dyn Backend) -> Result<T>,
    ) -> Result<T> {
        match self {
            Target::Files { format, written, .. } => {
                let files = Files::Memory(written.clone());
                match format {
                    Format::Parquet => read(&mut ParquetTables::new(files)),
                    _ => read(&mut CsvTables::new(files, separator)?),
                }
            }
            Target::Sqlite { file, .. } => read(&mut file.open()?),
            Target::Postgres(publication) => publication.reading(|tables| read(tables)),
        }
    }

    /// Puts everything in its place, together with other files.
    pub(crate) fn finish(self, others: Vec<Output>, certify: Certify<'_>) -> Result<()> {
        match self {
            Target::Files { files, written, mut folder, .. } => {
                let mut outputs = Vec::new();
                for (output, name) in files {
                    let mut output = output.published_if(&certify, &name);
                    if let Some((_, text)) = written.iter().find(|(n, _)| *n == name) {
                        output.write_all(text.as_ref()).map_err(fault::from_write)?;
                    }
                    outputs.push(output);
                }
                outputs.extend(others);
                finish_certified(outputs, certify)?;
                folder.made = false;
                Ok(())
            }
            Target::Sqlite { file, mut folder } => {
                file.finish(others, certify)?;
                folder.made = false;
                Ok(())
            }
            Target::Postgres(publication) => publication.finish(others, certify),
        }
    }
}

/// Files in CSV, one per table.
fn csv_texts(rows: &dyn Outflow, separators: &[u8]) -> Result<Vec<Option<Vec<u8>>>> {
    let separator = |node: usize| separators.get(node).copied().unwrap_or(b',');
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for (node, table) in rows.tables().iter().enumerate() {
        let mut text = Vec::new();
        push_row(&mut text, separator(node), table.columns.iter().map(|c| c.name.as_str()));
        texts.push(text);
    }
    rows.each(&mut |node, row| {
        let cells = row.iter().map(|cell| cell.map_or("", |(_, text)| text));
        push_row(&mut texts[node], separator(node), cells);
        Ok(())
    })?;
    Ok(texts.into_iter().map(Some).collect())
}
