//! A publication of linked tables while it is written: hidden, readable again, then put in place or dropped.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

use super::assemble::assemble;
use super::columns::Mode;
use super::csv::{CsvTables, Files, Shared, file_name};
use super::disassemble::disassemble;
use super::postgres::PgPublication;
use super::sqlite::pairs::Pair;
use super::sqlite::{self, SqliteFile};
use super::{Form, unknown};
use crate::Create;
use crate::fault;
use crate::output::{Output, finish_all, make_folder};
use crate::policy_file::PolicyFile;
use crate::table::push_row;

/// A publication of linked tables that is not there yet.
#[derive(Debug)]
pub struct Writing {
    form: Form,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// The folder comes last: it can only go when the files in it are gone.
    Csv {
        files: Vec<(Output, String)>,
        written: Vec<(String, Shared)>,
        folder: Folder,
    },
    Sqlite {
        file: SqliteFile,
        folder: Folder,
    },
    Postgres(PgPublication),
}

/// A folder that goes away again if it was made for files that never came.
#[derive(Debug)]
struct Folder {
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

impl Writing {
    /// Begins a publication in the place that the policy names, which must be free unless it is to be replaced.
    pub fn begin(file: &PolicyFile, form: &Form, create: Create) -> Result<Self> {
        let publish = file.policy.need_publish()?;
        let path = file.resolve(publish.path.as_deref().unwrap_or_default());
        if path == Path::new("-") {
            let what = Diagnostic::error("linked tables cannot go to standard output");
            return Err(Failure::new(Fault::Policy, what.help("name a folder, or a file for a database")));
        }
        let target = match form.source.format {
            Format::Csv => Self::begin_csv(form, &path, create)?,
            Format::Sqlite => {
                let path = sqlite::target(&path, form.source.path.as_deref());
                form.refuse_overwriting(&path)?;
                let folder = Folder::make(path.parent().unwrap_or(Path::new("")))?;
                Target::Sqlite { file: SqliteFile::create(&path, create)?, folder }
            }
            Format::Postgres => {
                let url = publish.url.as_deref().unwrap_or_default();
                let schema = publish.schema.as_deref().unwrap_or_default();
                let tables: Vec<&str> = form.source.tables.iter().map(|t| t.name.as_str()).collect();
                let origin = form.database.as_ref();
                Target::Postgres(PgPublication::begin(url, schema, &tables, origin, create.force)?)
            }
            other => return Err(unknown(other, &file.policy.name)),
        };
        Ok(Writing { form: form.clone(), target })
    }

    fn begin_csv(form: &Form, path: &Path, create: Create) -> Result<Target> {
        let folder = Folder::make(path)?;
        let mut files: Vec<(Output, String)> = Vec::new();
        for table in &form.source.tables {
            let name = file_name(table.path.as_deref().unwrap_or(&table.name));
            let target = path.join(&name);
            form.refuse_overwriting(&target)?;
            if files.iter().any(|(_, other)| *other == name) {
                let what = Diagnostic::error(format!("two tables would be written to {}", target.display()));
                let help = "give the files of the source different names";
                return Err(Failure::new(Fault::Policy, what.help(help)));
            }
            files.push((Output::create(&target, create)?, name));
        }
        Ok(Target::Csv { files, written: Vec::new(), folder })
    }

    /// Writes all records to where nobody looks yet. They are ordered and numbered by what is written.
    pub fn write(&mut self, data: &Dataset) -> Result<()> {
        let rows = disassemble(data, &self.form.shape, &self.form.columns)?;
        match &mut self.target {
            Target::Csv { files, written, .. } => {
                let separators = &self.form.separators;
                let mut texts: Vec<Vec<u8>> = Vec::new();
                for (table, &separator) in rows.tables.iter().zip(separators) {
                    let mut text = Vec::new();
                    push_row(&mut text, separator, table.columns.iter().map(|c| c.name.as_str()));
                    texts.push(text);
                }
                rows.each(&mut |node, row| {
                    let cells = row.iter().map(|cell| cell.map_or("", |(_, text)| text));
                    push_row(&mut texts[node], separators[node], cells);
                    Ok(())
                })?;
                written.clear();
                for (node, text) in self.form.shape.nodes.iter().zip(texts) {
                    if let Some(table) = node.table {
                        written.push((files[table].1.clone(), Shared(Arc::new(text))));
                    }
                }
                Ok(())
            }
            Target::Sqlite { file, .. } => {
                let nodes = &self.form.shape.nodes;
                let names: Vec<Option<&str>> =
                    nodes.iter().map(|n| n.table.map(|_| n.name.as_str())).collect();
                file.write(&rows, &names)
            }
            Target::Postgres(publication) => {
                let nodes = &self.form.shape.nodes;
                let names: Vec<Option<&str>> =
                    nodes.iter().map(|n| n.table.map(|_| n.name.as_str())).collect();
                publication.write(&rows, &names)
            }
        }
    }

    /// Adds a table of groups and values where it belongs into the same database; false if it is a file of its own.
    pub(crate) fn add_pairs(&self, table: &str, columns: [&str; 2], rows: &[(u32, &str)]) -> Result<bool> {
        match &self.target {
            Target::Sqlite { file, .. } => file.add_pairs(table, columns, rows).map(|()| true),
            Target::Csv { .. } | Target::Postgres(_) => Ok(false),
        }
    }

    /// Reads such a table again; none if it is a file of its own.
    pub(crate) fn pairs(&self, table: &str, columns: [&str; 2]) -> Result<Option<Vec<Pair>>> {
        match &self.target {
            Target::Sqlite { file, .. } => file.pairs(table, columns).map(Some),
            Target::Csv { .. } | Target::Postgres(_) => Ok(None),
        }
    }

    /// Reads what has been written, as a stranger would.
    pub fn read_again(&mut self, observer: &dyn Observer) -> Result<Dataset> {
        let Form { source, shape, .. } = &self.form;
        let (data, _) = match &mut self.target {
            Target::Csv { written, .. } => {
                let files = Files::Memory(written.clone());
                let mut backend = CsvTables::new(files, source.separator.as_deref())?;
                assemble(&mut backend, source, shape, Mode::Publication, observer)?
            }
            Target::Sqlite { file, .. } => {
                assemble(&mut file.open()?, source, shape, Mode::Publication, observer)?
            }
            Target::Postgres(publication) => {
                publication.reading(|tables| assemble(tables, source, shape, Mode::Publication, observer))?
            }
        };
        Ok(data)
    }

    /// Puts the publication in its place, together with other files.
    pub fn finish(self, mut others: Vec<Output>) -> Result<()> {
        match self.target {
            Target::Csv { files, written, mut folder } => {
                for (mut output, name) in files {
                    if let Some((_, text)) = written.iter().find(|(n, _)| *n == name) {
                        output.write_all(text.as_ref()).map_err(fault::from_write)?;
                    }
                    others.push(output);
                }
                finish_all(others)?;
                folder.made = false;
                Ok(())
            }
            Target::Sqlite { file, mut folder } => {
                file.finish(others)?;
                folder.made = false;
                Ok(())
            }
            Target::Postgres(publication) => publication.finish(others),
        }
    }
}
