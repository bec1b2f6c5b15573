//! Signatures of certificates, in minisign's own form: whoever has minisign can check what is signed here, and the other
//! way round.
//!
//! A signature stands for the bytes of the certificate, and the certificate for all files of the publication. The key is a
//! file that only its owner can read, under a passphrase; the passphrase is asked for elsewhere, and never kept.

mod check;
mod secret;
mod statement;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use bosket_io::{Output, finish_all, write_failure};
use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use bosket_report::certificate::Certificate;
use serde_json::{Value, json};

use crate::run::{Run, Settings, run};
use crate::warned::Warned;

pub(crate) use check::{Bytes, check};
pub use check::{SignatureCheck, SignatureRequest, signature};
pub use secret::Passphrase;
pub use statement::{StatementRequest, statement};

/// What a signature's file is called after what it signs.
const ENDING: &str = ".minisig";

/// A pair of keys to be made.
#[derive(Clone, Debug)]
pub struct KeygenRequest {
    /// Where the secret key goes.
    pub secret: PathBuf,
    /// Where the public key goes; beside the secret one, with the ending `.pub`, if not given.
    pub public: Option<PathBuf>,
    /// What protects the secret key.
    pub passphrase: Passphrase,
    /// Replace files that exist.
    pub force: bool,
    /// What every call can be told.
    pub settings: Settings,
}

/// A pair of keys that was made.
#[derive(Clone, Debug)]
pub struct Keys {
    /// By what signatures name the key: 16 hexadecimal digits.
    pub key_id: String,
    /// The public key as one word.
    pub public_key: String,
    /// Where the secret key is.
    pub secret: PathBuf,
    /// Where the public key is.
    pub public: PathBuf,
}

impl Keys {
    /// The same for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "key_id": self.key_id,
            "public_key": self.public_key,
            "secret_key_file": self.secret.display().to_string(),
            "public_key_file": self.public.display().to_string(),
        })
    }
}

/// Makes a pair of keys.
pub fn keygen(request: &KeygenRequest, observer: &dyn Observer) -> Result<Warned<Keys>> {
    run(&request.settings, observer, |run| {
        let public = request.public.clone().unwrap_or_else(|| request.secret.with_extension("pub"));
        if public == request.secret {
            let what = "the secret and the public key would be the same file";
            let help = "name the public one with --public";
            return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
        }
        let mut own = Output::create(&request.secret, run.settings.create(request.force, true))?;
        let mut open = Output::create(&public, run.settings.create(request.force, false))?;
        let made = secret::make(&request.passphrase)?;
        own.write_all(made.secret.as_bytes()).map_err(write_failure)?;
        open.write_all(made.public.as_bytes()).map_err(write_failure)?;
        run.observer.go_on()?;
        finish_all(vec![own, open])?;
        let (key_id, public_key) = (made.key_id, made.public_key);
        Ok(Keys { key_id, public_key, secret: request.secret.clone(), public })
    })
}

/// A certificate to be signed.
#[derive(Clone, Debug)]
pub struct SignRequest {
    /// The certificate.
    pub certificate: PathBuf,
    /// The secret key.
    pub key: PathBuf,
    /// What protects the secret key.
    pub passphrase: Passphrase,
    /// What is signed with it and shown to whoever checks; the time and the file's name if not given.
    pub comment: Option<String>,
    /// Where the signature goes; beside the certificate if not given.
    pub out: Option<PathBuf>,
    /// Replace a signature that exists.
    pub force: bool,
    /// What every call can be told.
    pub settings: Settings,
}

/// A signature that was made.
#[derive(Clone, Debug)]
pub struct Signed {
    /// Where it is.
    pub signature: PathBuf,
    /// By what it names its key.
    pub key_id: String,
    /// The public key that it is checked with.
    pub public_key: String,
    /// What was signed with it.
    pub comment: String,
    /// The certificate's digest.
    pub digest: String,
}

impl Signed {
    /// The same for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "signature_file": self.signature.display().to_string(),
            "key_id": self.key_id,
            "public_key": self.public_key,
            "trusted_comment": self.comment,
            "digest": self.digest,
        })
    }
}

/// Signs a certificate. What was changed since it was written is not signed.
pub fn sign(request: &SignRequest, observer: &dyn Observer) -> Result<Warned<Signed>> {
    run(&request.settings, observer, |run| {
        let bytes = Bytes::read(&request.certificate)?;
        let certificate = untouched(&bytes, &request.certificate)?;
        let comment = comment(request)?;
        let out = request.out.clone().unwrap_or_else(|| beside(&request.certificate));
        crate::places::refuse(
            std::slice::from_ref(&out),
            &[request.certificate.clone(), request.key.clone()],
        )?;
        let mut output = Output::create(&out, run.settings.create(request.force, false))?;
        let key = secret::open(&request.key, &request.passphrase)?;
        let made = key.sign(bytes.as_ref(), &comment)?;
        output.write_all(made.as_bytes()).map_err(write_failure)?;
        finish(output, run)?;
        let (key_id, public_key) = (key.key_id, key.public_key);
        Ok(Signed { signature: out, key_id, public_key, comment, digest: certificate.digest })
    })
}

fn finish(output: Output, run: &Run<'_>) -> Result<()> {
    run.observer.go_on()?;
    output.finish()
}

/// The certificate in some bytes, if it is as it was written.
fn untouched(bytes: &Bytes, path: &Path) -> Result<Certificate> {
    let place = || Place::source(path.display().to_string());
    let text = bytes.text(path)?;
    let certificate = Certificate::read(text).map_err(|mut failure| {
        failure.diagnostics.iter_mut().for_each(|d| d.place = place());
        failure
    })?;
    match certificate.damage(text).pop() {
        None => Ok(certificate),
        Some(what) => {
            let help = "take the file that `bosket anonymize` has written";
            let what = Diagnostic::error(format!("the certificate is damaged: {what}")).at(place());
            Err(Failure::new(Fault::Data, what.help(help)))
        }
    }
}

/// Where a signature lies if nobody says so.
fn beside(certificate: &Path) -> PathBuf {
    let mut name = certificate.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// Bytes of a comment that every reader of signatures takes.
const LONGEST: usize = 1024;

fn comment(request: &SignRequest) -> Result<String> {
    let Some(comment) = &request.comment else {
        let name = request.certificate.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        return Ok(format!("timestamp:{}\tfile:{name}\thashed", now()));
    };
    if comment.trim() != comment || comment.len() > LONGEST || comment.chars().any(char::is_control) {
        let what = "a comment is one line of at most 1,024 bytes, without blanks at its ends";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help("shorten it")));
    }
    Ok(comment.clone())
}

/// When a certificate was signed is no part of what is published: the certificate itself knows no time.
#[expect(clippy::disallowed_methods, reason = "a signature may say when it was made")]
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
