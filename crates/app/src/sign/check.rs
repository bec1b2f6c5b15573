//! Whether a certificate was signed with a key.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use minisign_verify::{Error, PublicKey, Signature};
use serde_json::{Value, json};

use super::{beside, secret, untouched};
use crate::run::{Settings, run};
use crate::warned::Warned;

/// A certificate whose signature is asked for.
#[derive(Clone, Debug, Default)]
pub struct SignatureRequest {
    /// The certificate.
    pub certificate: PathBuf,
    /// The public key: its file, or the key itself.
    pub key: String,
    /// The signature; the one beside the certificate if not given.
    pub signature: Option<PathBuf>,
    /// What every call can be told.
    pub settings: Settings,
}

/// What was found out about a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureCheck {
    /// The number of the key that was asked for.
    pub key_id: String,
    /// That key.
    pub public_key: String,
    /// Where the signature is, or should be.
    pub signature: PathBuf,
    /// What was signed with the certificate, such as the time; only if the signature holds.
    pub comment: Option<String>,
    /// Why it does not hold.
    pub problem: Option<String>,
    /// The digest of the certificate that was signed; only if the signature holds.
    pub digest: Option<String>,
}

impl SignatureCheck {
    /// Whether the certificate was signed with the key.
    pub fn holds(&self) -> bool {
        self.problem.is_none()
    }

    /// The same for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "holds": self.holds(),
            "key_id": self.key_id,
            "public_key": self.public_key,
            "trusted_comment": self.comment,
            "signature_file": self.signature.display().to_string(),
            "problem": self.problem,
        })
    }
}

/// Checks whether a certificate was signed with a key, and was not changed since. Whether the publication is what it speaks
/// of is not looked at: see [`verify`](crate::verify()).
pub fn signature(request: &SignatureRequest, observer: &dyn Observer) -> Result<Warned<SignatureCheck>> {
    run(&request.settings, observer, |_| {
        let bytes = Bytes::read(&request.certificate)?;
        let mut found = check(&bytes, &request.certificate, &request.key, request.signature.as_deref())?;
        if found.holds() {
            found.digest = Some(untouched(&bytes, &request.certificate)?.digest);
        }
        Ok(found)
    })
}

/// The bytes of a file, as they lie there: what is signed.
pub(crate) struct Bytes(Vec<u8>);

/// Bytes of a certificate at most.
const MOST: u64 = 64 << 20;

impl Bytes {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let failure = |what: String| {
            let place = Place::source(path.display().to_string());
            Failure::new(Fault::Data, Diagnostic::error(what).at(place).help("name a certificate"))
        };
        let unreadable = |e: std::io::Error| failure(format!("cannot read it: {e}"));
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(MOST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        match bytes.len() as u64 > MOST {
            true => Err(failure("it is too large for a certificate".to_owned())),
            false => Ok(Bytes(bytes)),
        }
    }

    pub(crate) fn text(&self, path: &Path) -> Result<&str> {
        std::str::from_utf8(&self.0).map_err(|_| {
            let what = Diagnostic::error("the text is not UTF-8");
            Failure::new(Fault::Data, what.at(Place::source(path.display().to_string())))
        })
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Checks the signature of some bytes.
pub(crate) fn check(
    bytes: &Bytes,
    certificate: &Path,
    key: &str,
    signature: Option<&Path>,
) -> Result<SignatureCheck> {
    let (public_key, own) = public(key)?;
    let at = signature.map_or_else(|| beside(certificate), Path::to_owned);
    let number = minisign::PublicKey::from_base64(&public_key).map(|key| secret::id(key.keynum()));
    let mut found = SignatureCheck {
        key_id: number.map_err(|e| Failure::defect(format!("a key was read, and then not: {e}")))?,
        public_key,
        signature: at,
        comment: None,
        problem: None,
        digest: None,
    };
    match verified(bytes, &own, &found.signature) {
        Ok(comment) => found.comment = Some(comment),
        Err(problem) => found.problem = Some(problem),
    }
    Ok(found)
}

/// What was signed with the bytes, or why they were not.
fn verified(bytes: &Bytes, key: &PublicKey, at: &Path) -> std::result::Result<String, String> {
    let name = at.display();
    let text = std::fs::read_to_string(at).map_err(|e| match e.kind() {
        ErrorKind::NotFound => format!("there is no signature: {name} is not there"),
        _ => format!("the signature {name} cannot be read: {e}"),
    })?;
    let form = || format!("{name} is no signature in minisign's form");
    let signature = Signature::decode(&text).map_err(|_| form())?;
    // Nobody signs this line: it says what it is, and nothing of it is shown.
    if !text.starts_with("untrusted comment: ") {
        return Err(format!(
            "{name} does not begin with `untrusted comment: `, as every signature of minisign does"
        ));
    }
    match key.verify(bytes.as_ref(), &signature, false) {
        Ok(()) => Ok(signature.trusted_comment().to_owned()),
        Err(Error::UnexpectedKeyId) => {
            let other = minisign::SignatureBox::from_string(&text).map(|own| secret::id(own.keynum()));
            Err(format!("it was signed with another key, {}", other.map_err(|_| form())?))
        }
        Err(Error::UnexpectedAlgorithm) => {
            Err("it is signed in minisign's old way, which is not taken: sign it again".to_owned())
        }
        Err(_) => {
            Err("the signature does not fit: the certificate or the signature was changed, or somebody \
                       without the key has made it"
                .to_owned())
        }
    }
}

/// A public key by its file, or as it is written: as one word and as what checks.
fn public(key: &str) -> Result<(String, PublicKey)> {
    if let Ok(own) = PublicKey::from_base64(key.trim()) {
        return Ok((key.trim().to_owned(), own));
    }
    let failure = |fault, what: String| {
        let help = "give the file that `bosket certificate keygen` or `minisign -G` has written, or the key itself: 56 \
                    letters that begin with RW";
        Failure::new(fault, Diagnostic::error(what).at(Place::source(key)).help(help))
    };
    let mut text = String::new();
    let read = File::open(key).and_then(|file| file.take(4096).read_to_string(&mut text));
    read.map_err(|e| failure(Fault::Environment, format!("cannot read the public key: {e}")))?;
    // The comment may be missing where somebody has kept the key alone.
    let line = text.lines().map(str::trim).find(|line| PublicKey::from_base64(line).is_ok());
    let none = || failure(Fault::Data, "this is no public key in minisign's form".to_owned());
    let line = line.ok_or_else(none)?;
    Ok((line.to_owned(), PublicKey::from_base64(line).map_err(|_| none())?))
}
