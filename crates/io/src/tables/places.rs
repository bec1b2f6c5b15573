//! Which places are databases; known even to a build that cannot read them.

use std::io::Read;
use std::path::{Path, PathBuf};

/// Whether a place on the command line is the address of a PostgreSQL database.
pub fn is_address(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
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
