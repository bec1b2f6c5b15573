//! Verification by a certificate: its files, its policy, and then the claim.

use std::path::{Path, PathBuf};

use bosket_io::PolicyFile;
use bosket_model::policy::{Publish, Rows};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::Claim;

use super::{Verified, VerifyRequest, check_claim};
use crate::certified::CertificateCheck;
use crate::run::Run;
use crate::sign::{self, Bytes, SignatureCheck};

pub(super) fn verify(request: &VerifyRequest, path: &Path, run: &Run<'_>) -> Result<Verified> {
    refuse_unfit(request)?;
    let Some(key) = &request.key else { return of(None, request, path, run) };
    // Read once: what is judged below is what was signed.
    let bytes = Bytes::read(path)?;
    let signature = sign::check(&bytes, path, key, request.signature.as_deref())?;
    if !signature.holds() {
        return Ok(Verified { signature: Some(signature), ..Verified::not_read(None) });
    }
    let mut verified = of(Some(bytes.text(path)?), request, path, run)?;
    let digest = verified.certificate.as_ref().map(|check| check.certificate.digest.clone());
    verified.signature = Some(SignatureCheck { digest, ..signature });
    Ok(verified)
}

/// Verifies by the certificate in a text, or in its file.
fn of(text: Option<&str>, request: &VerifyRequest, path: &Path, run: &Run<'_>) -> Result<Verified> {
    let given = request.policy.as_ref().map(|policy| policy.load(run)).transpose()?;
    let policy = given.as_ref().map(|file| &file.policy);
    let publication = &request.publication;
    let (mut certificate, differing) = match text {
        Some(text) => CertificateCheck::of(text, path, publication, policy, run.observer)?,
        None => CertificateCheck::read(path, publication, policy, run.observer)?,
    };
    let agreed = differing.is_empty();
    certificate.differs(differing);
    match check(request, given.filter(|_| agreed), &mut certificate, path, run) {
        // Who sees that the files were changed need not wonder why they cannot be read.
        Err(failure) if !certificate.problems.is_empty() && failure.fault != Fault::Interrupted => {
            run.warn(failure.diagnostics);
            certificate.unchecked.push("the claim, for the reason told".to_owned());
            Ok(Verified::not_read(Some(certificate)))
        }
        verified => verified,
    }
}

fn refuse_unfit(request: &VerifyRequest) -> Result<()> {
    let refuse = |what: &str, help: &str| Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    if request.publication == Path::new("-") {
        return refuse("a publication on standard input has no files to compare", "name the file");
    }
    if request.policy.is_none() && request.against.is_some() {
        let help = "give the private policy too, with --policy";
        return refuse("`--against` needs what a certificate does not tell", help);
    }
    Ok(())
}

/// Checks the claim, by the policy that was given or by what the certificate has of it.
fn check(
    request: &VerifyRequest,
    given: Option<PolicyFile>,
    certificate: &mut CertificateCheck,
    path: &Path,
    run: &Run<'_>,
) -> Result<Verified> {
    let name = path.display().to_string();
    let places = certificate.hierarchies(given.as_ref(), run.observer);
    if certificate.certificate.claim.is_null() {
        match given {
            Some(given) => certificate.policy(&given.policy),
            None => certificate.policy(&certificate.certificate.policy_without_lists(&name)?),
        }
        return Ok(Verified::not_read(Some(certificate.clone())));
    }
    let mut file = match given {
        Some(given) => given,
        None => {
            let policy = certificate.certificate.restored_policy(&name)?;
            PolicyFile { policy, folder: PathBuf::new(), warnings: Vec::new(), frames: None }
        }
    };
    certificate.policy(&file.policy);
    // Whoever compares with the input needs all of them, at the places that the policy names.
    if request.against.is_none() {
        certificate.settle(&mut file.policy, &places, &name)?;
    }
    // It may lie in the folder of what it certifies.
    let nothing = Publish {
        path: None,
        url: None,
        url_place: Place::default(),
        schema: None,
        root: None,
        certificate: None,
        report: None,
        mapping: None,
        anatomize: false,
        rows: Rows::Distinct,
    };
    file.policy.publish.get_or_insert(nothing).certificate = Some(name);
    let claim = Claim::new(&file.policy)?;
    if !certificate.certificate.claims(&claim) {
        certificate.problems.push("the certificate: it does not claim what its own policy does".to_owned());
    }
    check_claim(request, &file, &claim, Some(certificate.clone()), run)
}
