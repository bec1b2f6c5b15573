//! What goes wrong with a request, as JSON.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bosket_model::{Diagnostic, Failure, Fault, Severity};

use crate::shape::shape;

/// A refusal with its reason.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    message: String,
    diagnostics: Vec<Told>,
}

pub(crate) type Result<T> = std::result::Result<T, ApiError>;

shape! {
    result
    /// A diagnostic as pages show it.
    pub(crate) struct Told {
        /// `error` or `warning`.
        severity: String,
        message: String,
        place: String,
        line: Option<u64>,
        column: Option<u64>,
        help: Option<String>,
    }
}

shape! {
    answer
    /// A refusal as pages read it.
    pub(crate) struct Refusal {
        error: String,
        diagnostics: Vec<Told>,
    }
}

impl From<&Diagnostic> for Told {
    fn from(diagnostic: &Diagnostic) -> Self {
        Told {
            severity: if diagnostic.severity == Severity::Error { "error" } else { "warning" }.to_owned(),
            message: diagnostic.message.clone(),
            place: diagnostic.place.to_string(),
            line: diagnostic.place.line,
            column: diagnostic.place.column,
            help: diagnostic.help.clone(),
        }
    }
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        ApiError { status, message: message.into(), diagnostics: Vec::new() }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// The same without a path that is nobody's business.
    pub(crate) fn without(mut self, path: &str) -> Self {
        let clean = |text: &mut String| *text = text.replace(path, "");
        clean(&mut self.message);
        for one in &mut self.diagnostics {
            clean(&mut one.message);
            clean(&mut one.place);
            one.help.iter_mut().for_each(clean);
        }
        self
    }

    /// The reason.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let diagnostics: Vec<Told> = failure.diagnostics.iter().map(Told::from).collect();
        let message = diagnostics.first().map_or_else(String::new, |first| first.message.clone());
        let status = match failure.fault {
            Fault::Defect => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        ApiError { status, message, diagnostics }
    }
}

/// What the system says of a file, without its path: it is what was asked for, or nobody's business.
impl From<std::io::Error> for ApiError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind::{
            AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound,
            PermissionDenied, StorageFull,
        };
        let (status, what) = match error.kind() {
            NotFound => (StatusCode::NOT_FOUND, "this file or its folder is not there"),
            PermissionDenied => (StatusCode::FORBIDDEN, "this file may not be read or written"),
            AlreadyExists => (StatusCode::CONFLICT, "a file of that name is there"),
            IsADirectory | NotADirectory | InvalidInput | InvalidFilename => {
                (StatusCode::BAD_REQUEST, "no file can have this name")
            }
            StorageFull => (StatusCode::INSUFFICIENT_STORAGE, "the disk is full"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "the system could not read or write this file"),
        };
        Self::new(status, what)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(Refusal { error: self.message, diagnostics: self.diagnostics })).into_response()
    }
}
