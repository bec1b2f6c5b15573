//! A certificate as an in-toto statement, for those whose tools check statements.

use std::io::Write;
use std::path::PathBuf;

use bosket_io::{Output, write_failure};
use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_report::certificate::Certificate;
use serde_json::{Value, json};

use super::{Bytes, finish, untouched};
use crate::run::{Settings, run};
use crate::warned::Warned;

/// What kind of predicate a certificate is.
const PREDICATE_TYPE: &str = "urn:bosket:certificate:v1";

/// A statement to be made.
#[derive(Clone, Debug, Default)]
pub struct StatementRequest {
    /// The certificate.
    pub certificate: PathBuf,
    /// Where the statement goes; nowhere but to whoever asks if not given.
    pub out: Option<PathBuf>,
    /// Replace a statement that exists.
    pub force: bool,
    /// What every call can be told.
    pub settings: Settings,
}

/// Makes an in-toto statement (v1) of a certificate: its subjects are the published files, its predicate is the certificate.
/// What was changed since it was written is not stated.
pub fn statement(request: &StatementRequest, observer: &dyn Observer) -> Result<Warned<Value>> {
    run(&request.settings, observer, |run| {
        let bytes = Bytes::read(&request.certificate)?;
        let made = of(&untouched(&bytes, &request.certificate)?);
        if let Some(out) = &request.out {
            crate::places::refuse(std::slice::from_ref(out), std::slice::from_ref(&request.certificate))?;
            let mut output = Output::create(out, run.settings.create(request.force, false))?;
            output.write_all(format!("{made:#}\n").as_bytes()).map_err(write_failure)?;
            finish(output, run)?;
        }
        Ok(made)
    })
}

fn of(certificate: &Certificate) -> Value {
    let subjects = certificate.files.iter();
    let subjects = subjects.map(|file| json!({"name": file.name, "digest": {"sha256": file.sha256}}));
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects.collect::<Vec<_>>(),
        "predicateType": PREDICATE_TYPE,
        "predicate": certificate.to_json(),
    })
}
