//! Which places are databases; known even to a build that cannot read them.

use std::io::Read;
use std::path::{Path, PathBuf};

use bosket_model::{Failure, Place};

/// Whether a place on the command line is the address of a PostgreSQL database.
pub fn is_address(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// What is wrong with a server or its address, at the place where a policy says the address.
pub(crate) fn said_at(mut failure: Failure, said: &Place) -> Failure {
    for diagnostic in failure.diagnostics.iter_mut().filter(|_| said.source.is_some()) {
        match &diagnostic.place.source {
            None => diagnostic.place = said.clone(),
            Some(server) if is_address(server) && !server.contains(", ") => {
                diagnostic.message = format!("{}: {server}", diagnostic.message);
                diagnostic.place = said.clone();
            }
            Some(_) => {}
        }
    }
    failure
}

/// Whether a file is a SQLite database, by its first bytes.
pub(crate) fn is_sqlite(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut f| f.read_exact(&mut head));
    read.is_ok() && &head == b"SQLite format 3\0"
}

/// The file that the path of a publication in SQLite means: the path itself, or in a folder the source's name.
pub(crate) fn sqlite_target(path: &Path, source: Option<&str>) -> PathBuf {
    let folder = path.is_dir() || (path.extension().is_none() && !path.is_file());
    match source.and_then(|s| Path::new(s).file_name()) {
        Some(name) if folder => path.join(name),
        _ => path.to_owned(),
    }
}
