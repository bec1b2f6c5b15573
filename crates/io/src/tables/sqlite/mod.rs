//! Linked tables in a SQLite file.

mod catalogue;
mod new;
pub(crate) mod pairs;
mod read;
mod sealed;
mod write;

use bosket_model::{Diagnostic, Failure, Fault, Place};
use rusqlite::ErrorCode;

pub use new::NewDatabase;
pub(crate) use read::SqliteTables;
pub(crate) use write::SqliteFile;

/// A name as SQL takes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn quoted_all<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(|n| quoted(n)).collect::<Vec<_>>().join(", ")
}

/// What SQLite says, as a diagnostic that says what to do. Its own words name tables and columns, never values.
fn failure(name: &str, error: &rusqlite::Error) -> Failure {
    let code = error.sqlite_error_code();
    let (fault, message, help) = match code {
        Some(ErrorCode::NotADatabase) => (
            Fault::Data,
            "this is not a SQLite database",
            "check that it is the right file, and not compressed",
        ),
        Some(ErrorCode::DatabaseCorrupt) => (
            Fault::Data,
            "the database is damaged",
            "copy it again, or let `sqlite3 FILE .recover` repair it",
        ),
        Some(ErrorCode::CannotOpen) => {
            (Fault::Environment, "cannot open the database", "check the path and the permission to read it")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            Fault::Environment,
            "another program is writing the database",
            "wait for it, or copy the database",
        ),
        Some(ErrorCode::TooBig) => (
            Fault::Data,
            "a row holds more than is read of one",
            "check that it is the right database; --limit-record allows more",
        ),
        Some(ErrorCode::DiskFull) => (
            Fault::Environment,
            "the disk is full",
            "make room, or write elsewhere; an older file is untouched",
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            (Fault::Environment, "the database cannot be written", "ask for permission, or write elsewhere")
        }
        Some(ErrorCode::SystemIoFailure) => {
            (Fault::Environment, "the database cannot be read or written", "check the disk and try again")
        }
        _ => {
            let what = Diagnostic::error(format!("SQLite does not do what it was asked: {error}"));
            return Failure::new(Fault::Environment, what.at(Place::source(name)));
        }
    };
    Failure::new(fault, Diagnostic::error(message).at(Place::source(name)).help(help))
}
