//! Where linked tables are written to: hidden, readable again, then put in place or dropped.

use std::io::Write;
use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::backend::{Backend, reading};
use super::csv::CsvTables;
use super::emit::{Outflow, Sink};
use super::files::{Files, file_name};
use super::parquet::{self, ParquetTables};
use super::postgres::{self, PgPublication};
use super::published::Table;
use super::sqlite::SqliteFile;
use super::unknown;
use crate::Create;
use crate::fault;
use crate::fingerprint::Certify;
use crate::folder::{Folder, PublishedFolder};
use crate::output::{Output, finish_certified};
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
        files: Vec<TableFile>,
        folder: PublishedFolder,
    },
    Sqlite {
        file: SqliteFile,
        folder: Folder,
    },
    Postgres(Box<PgPublication>),
}

/// The file of a table.
#[derive(Debug)]
pub(crate) struct TableFile {
    /// What it is going to be called.
    name: String,
    output: Output,
}

/// What the files need to know beyond the rows.
#[derive(Debug, Default)]
pub(crate) struct Details {
    /// Per table what separates the cells of its file.
    pub(crate) separators: Vec<u8>,
    /// Per table and column its type.
    pub(crate) types: Vec<Vec<Scalar>>,
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
        let folder = PublishedFolder::begin(place.path, &create)?;
        let mut files: Vec<TableFile> = Vec::new();
        for (_, file) in &place.tables {
            let name = file_name(file);
            let target = place.path.join(&name);
            refuse_overwriting(place.inputs, &target)?;
            if files.iter().any(|other| other.name == name) {
                let what = Diagnostic::error(format!("two tables would be written to {}", target.display()));
                let help = "give the files of the source different names";
                return Err(Failure::new(Fault::Policy, what.help(help)));
            }
            files.push(TableFile { output: Output::create_hidden(&target, create.clone())?, name });
        }
        Ok(Target::Files { format: place.format, files, folder })
    }

    /// Writes all rows, once, to where nobody looks yet. `names` has a name for every table that is one, in the place's order.
    pub(crate) fn write(
        &mut self,
        rows: &dyn Outflow,
        names: &[Option<&str>],
        files_of: &[Option<usize>],
        details: Details,
        observer: &dyn Observer,
    ) -> Result<()> {
        let rows = &Observed { rows, observer };
        match self {
            Target::Files { format, files, .. } => {
                // Per table of the rows its file. A failure leaves no file behind.
                let mut begun: Vec<Option<TableFile>> = std::mem::take(files).into_iter().map(Some).collect();
                let mut outputs: Vec<Option<&mut Output>> = (0..names.len()).map(|_| None).collect();
                for (i, file) in begun.iter_mut().enumerate() {
                    if let Some(node) = files_of.iter().position(|f| *f == Some(i)) {
                        outputs[node] = file.as_mut().map(|f| &mut f.output);
                    }
                }
                match format {
                    Format::Parquet => parquet::write(rows, outputs, details.types, observer)?,
                    _ => write_csv(rows, outputs, &details.separators)?,
                }
                for file in begun.into_iter().flatten() {
                    files.push(TableFile { output: file.output.completed()?, ..file });
                }
                Ok(())
            }
            Target::Sqlite { file, .. } => file.write(rows, names, observer),
            Target::Postgres(publication) => publication.write(rows, names, observer),
        }
    }

    /// Reads what has been written, as a stranger would.
    pub(crate) fn reading<T>(
        &mut self,
        separator: Option<&str>,
        observer: &dyn Observer,
        read: impl FnOnce(&mut dyn Backend, &dyn Observer) -> Result<T>,
    ) -> Result<T> {
        let read = |backend: &mut dyn Backend| reading(backend, observer, read);
        match self {
            Target::Files { format, files, .. } => {
                let hidden = |f: &mut TableFile| Ok((f.name.clone(), f.output.hidden()?));
                let files = Files::Hidden(files.iter_mut().map(hidden).collect::<Result<_>>()?);
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
    pub(crate) fn finish(
        self,
        others: Vec<Output>,
        certify: Certify<'_>,
        observer: &dyn Observer,
    ) -> Result<()> {
        match self {
            Target::Files { files, folder, .. } => {
                let mut outputs = Vec::new();
                for TableFile { name, output } in files {
                    outputs.push(output.completed()?.completed_as(&certify, &name, observer)?);
                }
                outputs.extend(others);
                finish_certified(outputs, certify)?;
                folder.keep();
                Ok(())
            }
            Target::Sqlite { file, folder } => {
                file.finish(others, certify, observer)?;
                folder.keep();
                Ok(())
            }
            Target::Postgres(publication) => publication.finish(others, certify, observer),
        }
    }
}

/// Writes files in CSV, one per table.
fn write_csv(rows: &dyn Outflow, mut files: Vec<Option<&mut Output>>, separators: &[u8]) -> Result<()> {
    let separator = |node: usize| separators.get(node).copied().unwrap_or(b',');
    let mut text = Vec::new();
    let mut write = |node: usize, cells: &mut dyn Iterator<Item = &str>| {
        let Some(file) = &mut files[node] else { return Ok(()) };
        text.clear();
        push_row(&mut text, separator(node), cells);
        file.write_all(&text).map_err(fault::from_write)
    };
    for (node, table) in rows.tables().iter().enumerate() {
        write(node, &mut table.columns.iter().map(|c| c.name.as_str()))?;
    }
    rows.each(&mut |node, row| write(node, &mut row.iter().map(|cell| cell.map_or("", |(_, text)| text))))
}

/// Rows that end when nobody waits for them any more.
struct Observed<'a> {
    rows: &'a dyn Outflow,
    observer: &'a dyn Observer,
}

impl Outflow for Observed<'_> {
    fn tables(&self) -> &[Table] {
        self.rows.tables()
    }

    fn each(&self, sink: &mut Sink<'_>) -> Result<()> {
        self.rows.each(&mut |node, row| {
            self.observer.go_on()?;
            sink(node, row)
        })
    }

    fn each_of(&self, table: usize, sink: &mut Sink<'_>) -> Result<()> {
        self.rows.each_of(table, &mut |node, row| {
            self.observer.go_on()?;
            sink(node, row)
        })
    }
}
