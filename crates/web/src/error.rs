//! What goes wrong with a request, as JSON.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bosket_model::{Diagnostic, Failure, Severity};

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
    answer
    /// A diagnostic as pages show it.
    #[derive(Debug)]
    pub(crate) struct Told {
        /// `error` or `warning`.
        severity: &'static str,
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
            severity: if diagnostic.severity == Severity::Error { "error" } else { "warning" },
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

    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let diagnostics: Vec<Told> = failure.diagnostics.iter().map(Told::from).collect();
        let message = diagnostics.first().map_or_else(String::new, |first| first.message.clone());
        ApiError { status: StatusCode::UNPROCESSABLE_ENTITY, message, diagnostics }
    }
}

impl From<std::io::Error> for ApiError {
    fn from(error: std::io::Error) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(Refusal { error: self.message, diagnostics: self.diagnostics })).into_response()
    }
}
