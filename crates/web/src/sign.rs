//! Signing: the passphrase goes to the command by its standard input, and is neither shown nor kept.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;

use crate::Server;
use crate::admission::{Admission, Gate};
use crate::api::OfPart;
use crate::error::{ApiError, Result};
use crate::jobs::{JobView, Order};
use crate::results::{self, Made, Reader, Signed};
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
    of: OfPart,
    admission: Admission,
    (arguments, passphrase, reads): (&[&str], String, Reader),
) -> Result<(StatusCode, Json<JobView>)> {
    let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
    let listening = server.clone();
    let still = Box::new(move || admission.still(&listening.folder));
    let secret = Some(one_line(passphrase)?);
    let (reads, then) = (Some(reads), Box::new(|_| {}));
    let order = Order { arguments, part: of.part, about: None, still, secret, reads, then };
    Ok((StatusCode::CREATED, Json(server.jobs.start(server.jobs.number(), order))))
}

pub(crate) async fn sign(
    State(server): State<Arc<Server>>,
    Query(of): Query<OfPart>,
    Json(asked): Json<Signing>,
) -> Result<(StatusCode, Json<JobView>)> {
    server.may_change()?;
    let gate = Gate::new(&server, 0);
    let there = |path: &str| gate.there(path);
    let key = format!("--key={}", there(&asked.key)?);
    let comment =
        asked.comment.filter(|text| !text.trim().is_empty()).map(|text| format!("--comment={text}"));
    let certificate = gate.certificate(&asked.certificate, None)?.0;
    let mut line = vec!["certificate", "sign", "--json", "--passphrase-fd", "0", &key];
    line.extend(comment.as_deref());
    line.extend((asked.force == Some(true)).then_some("--force"));
    line.extend(["--", &certificate]);
    started(&server, of, gate.admission(), (&line, asked.passphrase, results::read::<Signed>))
}

pub(crate) async fn new_key(
    State(server): State<Arc<Server>>,
    Query(of): Query<OfPart>,
    Json(asked): Json<NewKey>,
) -> Result<(StatusCode, Json<JobView>)> {
    server.may_change()?;
    let gate = Gate::new(&server, 0);
    let out = format!("--out={}", gate.place(&asked.key)?);
    let line = ["certificate", "keygen", "--json", "--passphrase-fd", "0", &out];
    started(&server, of, gate.admission(), (&line, asked.passphrase, results::read::<Made>))
}
