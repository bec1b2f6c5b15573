//! What the operating system says, as diagnostics that say what to do.

use std::io::{Error, ErrorKind};

use bosket_model::{Diagnostic, Failure, Fault, Place};

/// A file that cannot be read.
pub(crate) fn reading(name: &str, error: &Error) -> Failure {
    let help = match error.kind() {
        ErrorKind::NotFound => "check the path",
        ErrorKind::PermissionDenied => "ask for permission to read the file",
        ErrorKind::IsADirectory => "name a file, not a folder",
        _ => "check the disk or the connection and try again",
    };
    failure(format!("cannot read the file: {}", reason(error)), name, help)
}

/// A file that cannot be written.
pub(crate) fn writing(name: &str, error: &Error) -> Failure {
    let help = match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => "create the folder first, or write elsewhere",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "ask for permission to write into the folder, or write elsewhere"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room, or write elsewhere; an older file of this name is untouched"
        }
        ErrorKind::FileTooLarge => {
            "raise the limit on file sizes (ulimit -f), or write elsewhere; an older file of this name is untouched"
        }
        ErrorKind::IsADirectory => "name a file, not a folder",
        ErrorKind::AlreadyExists => "use --force to replace it, or write elsewhere",
        ErrorKind::InvalidFilename => "choose a shorter or simpler file name",
        ErrorKind::BrokenPipe => "keep the reading end open until the output is complete",
        _ => "write elsewhere, or check the disk; an older file of this name is untouched",
    };
    failure(format!("cannot write the file: {}", reason(error)), name, help)
}

/// What went wrong while a format was writing. Our own writers put a whole [`Failure`] into their errors, since
/// only they know the file's name.
pub fn from_write(error: Error) -> Failure {
    match error.downcast::<Failure>() {
        Ok(failure) => failure,
        Err(error) => writing("the output", &error),
    }
}

fn failure(message: String, name: &str, help: &str) -> Failure {
    Failure::new(Fault::Environment, Diagnostic::error(message).at(Place::source(name)).help(help))
}

fn reason(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        ErrorKind::StorageFull => "the disk is full".into(),
        ErrorKind::QuotaExceeded => "the disk quota is used up".into(),
        ErrorKind::FileTooLarge => "the file grew larger than allowed".into(),
        ErrorKind::IsADirectory => "it is a folder".into(),
        ErrorKind::NotADirectory => "a part of the path is not a folder".into(),
        ErrorKind::AlreadyExists => "it exists".into(),
        ErrorKind::BrokenPipe => "the reading end was closed".into(),
        _ => error.to_string(),
    }
}
