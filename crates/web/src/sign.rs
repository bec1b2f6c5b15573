//! Signing: the passphrase goes to the command by its standard input, and is neither shown nor kept.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::Server;
use crate::error::{ApiError, Result};
use crate::jobs::{JobView, Order};
use crate::shape::shape;

shape! {
    request
    /// Signs a certificate.
    pub(crate) struct Signing {
        certificate: String,
        /// The file of the secret key.
        key: String,
        passphrase: String,
        /// What the signer says, signed too.
        comment: Option<String>,
        /// Replaces a signature that is there.
        force: Option<bool>,
    }
}

shape! {
    request
    /// Makes a pair of keys.
    pub(crate) struct NewKey {
        /// Where the secret one goes.
        key: String,
        passphrase: String,
    }
}

/// A passphrase is one line.
fn one_line(passphrase: String) -> Result<String> {
    match passphrase.is_empty() || passphrase.contains(['\n', '\r', '\0']) {
        true => Err(ApiError::bad("a passphrase is one line, and not empty")),
        false => Ok(passphrase),
    }
}

fn started(
    server: &Arc<Server>,
    arguments: &[&str],
    passphrase: String,
) -> Result<(StatusCode, Json<JobView>)> {
    let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
    let order = Order { arguments, secret: Some(one_line(passphrase)?), then: Box::new(|_| {}) };
    Ok((StatusCode::CREATED, Json(server.jobs.start(server.jobs.number(), order))))
}

pub(crate) async fn sign(
    State(server): State<Arc<Server>>,
    Json(asked): Json<Signing>,
) -> Result<(StatusCode, Json<JobView>)> {
    server.may_change()?;
    let there = |path: &str| server.folder.find(path).map(|real| server.folder.name(&real));
    let key = format!("--key={}", there(&asked.key)?);
    let comment =
        asked.comment.filter(|text| !text.trim().is_empty()).map(|text| format!("--comment={text}"));
    let certificate = there(&asked.certificate)?;
    let mut line = vec!["certificate", "sign", "--json", "--passphrase-fd", "0", &key];
    line.extend(comment.as_deref());
    line.extend((asked.force == Some(true)).then_some("--force"));
    line.extend(["--", &certificate]);
    started(&server, &line, asked.passphrase)
}

pub(crate) async fn new_key(
    State(server): State<Arc<Server>>,
    Json(asked): Json<NewKey>,
) -> Result<(StatusCode, Json<JobView>)> {
    server.may_change()?;
    let place = server.folder.place_from(server.folder.root(), &asked.key)?;
    let out = format!("--out={}", server.folder.name(&place));
    started(&server, &["certificate", "keygen", "--json", "--passphrase-fd", "0", &out], asked.passphrase)
}
