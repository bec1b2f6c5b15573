//! Whether a publication keeps what its policy or its certificate promises, and says nothing that the input does not.

mod anatomized;
mod by_certificate;
mod chunked;
mod dissected;
pub(crate) mod mapping;
mod records;
mod unprotected;

use std::path::{Path, PathBuf};

use bosket_io::apart::PublishedReader;
use bosket_io::{PolicyFile, Whereabouts};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::path::Notation;
use bosket_model::policy::{Format, Undeclared};
use bosket_model::{Builder, Diagnostic, Result};
use bosket_verify::sides::expected;
use bosket_verify::truth::Untruth;
use bosket_verify::{Claim, JudgedClusters, JudgedSides, Verification};
use serde_json::{Value, json};

use crate::certified::CertificateCheck;
use crate::load::{self, Bound, PolicyAt, one_stdin};
use crate::run::{Run, Settings, run};
use crate::warned::Warned;

/// What is to be checked.
#[derive(Clone, Debug, Default)]
pub struct VerifyRequest {
    /// The publication; `-` is standard input.
    pub publication: PathBuf,
    /// The policy that states the claim and the roles; without one the certificate does.
    pub policy: Option<PolicyAt>,
    /// The certificate of the publication.
    pub certificate: Option<PathBuf>,
    /// The private input that the publication must be true to.
    pub against: Option<PathBuf>,
    /// The private mapping.
    pub mapping: Option<PathBuf>,
    /// What every call can be told.
    pub settings: Settings,
}

pub use unprotected::Unprotected;

/// What was found out about a publication.
#[derive(Debug, Default)]
pub struct Verified {
    /// What the claim does not protect, to be told before the verdict; none where nothing is claimed or could be read.
    pub unprotected: Option<Unprotected>,
    /// Whether the claim holds; none where nothing is claimed, or where nothing could be read.
    pub verification: Option<Verification>,
    /// What a reader of the claim should know about its limits.
    pub caveats: Vec<Diagnostic>,
    /// What the publication says and the input does not, if they were compared.
    pub untruths: Option<Vec<Untruth>>,
    /// What became of the certificate, if there is one.
    pub certificate: Option<CertificateCheck>,
    /// Per published record its group, where the publication has two sides.
    pub groups: Vec<u32>,
}

impl Verified {
    /// Whether everything that was looked at is as it should be.
    pub fn holds(&self) -> bool {
        self.verification.as_ref().is_none_or(Verification::holds)
            && self.untruths.as_ref().is_none_or(Vec::is_empty)
            && self.certificate.as_ref().is_none_or(CertificateCheck::holds)
    }

    /// What was found, for programs.
    pub fn to_json(&self) -> Value {
        let certificate = self.certificate.as_ref();
        let Some(verification) = &self.verification else {
            return json!({
                "holds": self.holds(),
                "claim": certificate.map(|c| &c.certificate.claim),
                "certificate": certificate.map(CertificateCheck::to_json),
            });
        };
        let mut found = verification.to_json();
        found["holds"] = json!(self.holds());
        found["not_protected"] = self.unprotected.as_ref().map(Unprotected::to_json).into();
        found["warnings"] = self.caveats.iter().map(ToString::to_string).collect();
        if let Some(untruths) = &self.untruths {
            found["truth"] = json!({
                "holds": untruths.is_empty(),
                "problems": untruths.iter().map(untruth_json).collect::<Vec<_>>(),
            });
        }
        if let Some(certificate) = certificate {
            found["certificate"] = certificate.to_json();
        }
        found
    }
}

fn untruth_json(untruth: &Untruth) -> Value {
    json!({
        "message": untruth.message,
        "path": untruth.path,
        "records": untruth.records.iter().map(|r| r + 1).collect::<Vec<_>>(),
    })
}

/// Checks whether a publication keeps what is promised.
pub fn verify(request: &VerifyRequest, observer: &dyn Observer) -> Result<Warned<Verified>> {
    run(&request.settings, observer, |run| {
        one_stdin([
            Some(&request.publication),
            request.policy.as_ref().map(|policy| &policy.path),
            request.certificate.as_ref(),
            request.against.as_ref(),
            request.mapping.as_ref(),
        ])?;
        if let Some(certificate) = &request.certificate {
            return by_certificate::verify(request, certificate, run);
        }
        let at = request.policy.clone().unwrap_or_else(|| PolicyAt::new("-"));
        let file = at.load(run)?;
        let claim = Claim::new(&file.policy)?;
        check_claim(request, &file, &claim, None, run)
    })
}

/// What is being checked, and by what.
struct Check<'a> {
    request: &'a VerifyRequest,
    file: &'a PolicyFile,
    claim: &'a Claim,
    run: &'a Run<'a>,
}

impl Check<'_> {
    fn publication(&self) -> &Path {
        &self.request.publication
    }

    /// Private records of the shape that the policy describes, with the hierarchies that cover them.
    fn private(&self, input: &Path) -> Result<(Bound, Vec<Option<Hierarchy>>)> {
        let place = Whereabouts::given(self.file, input, false)?;
        let name = place.name();
        let private = load::input(place, &self.file.policy, self.run)?;
        let hierarchies = load::hierarchies(self.file, &private, &name, false, self.run)?;
        Ok((private, hierarchies))
    }
}

/// Checks a claim together with what was found out about a certificate.
fn check_claim(
    request: &VerifyRequest,
    file: &PolicyFile,
    claim: &Claim,
    mut certificate: Option<CertificateCheck>,
    run: &Run<'_>,
) -> Result<Verified> {
    let check = Check { request, file, claim, run };
    let mut found = match claim {
        Claim::Apart(_) => dissected::verify(&check)?,
        Claim::Anatomized(_) => anatomized::verify(&check)?,
        _ => match chunked::wanted(&check)? {
            Some(size) => chunked::verify(&check, size)?,
            None => records::verify(&check)?,
        },
    };
    if let (Some(certificate), Some(verification)) = (&mut certificate, &found.verification) {
        certificate.limits(&file.policy, claim, &found.caveats);
        certificate.records(verification.records as u64);
        certificate.left(&file.policy, &verification.left);
    }
    found.unprotected = Some(Unprotected::new(&file.policy, claim));
    found.certificate = certificate;
    Ok(found)
}

/// A publication of anatomized clusters as the verifier looks at it, if everything stands where it belongs.
pub(crate) fn judged_clusters(
    file: &PolicyFile,
    at: &Path,
    observer: &dyn Observer,
) -> Result<JudgedClusters> {
    let read = PublishedReader::new(file, expected)?.read_clusters(at, observer)?;
    let published = JudgedClusters::new(&file.policy, read)?;
    published.judged.refuse_misplaced(&at.display().to_string())?;
    Ok(published)
}

/// The same with a dissected publication.
pub(crate) fn judged_sides(file: &PolicyFile, at: &Path, observer: &dyn Observer) -> Result<JudgedSides> {
    let read = PublishedReader::new(file, expected)?.read_published(at, observer)?;
    let published = JudgedSides::new(&file.policy, &read)?;
    published.refuse_misplaced(&at.display().to_string())?;
    Ok(published)
}

/// What the policy declares, without any data.
pub(crate) fn declared(file: &PolicyFile) -> Result<Binding> {
    let xml = file.policy.source.as_ref().is_some_and(|s| s.format == Format::Xml);
    let notation = if xml { Notation::Slashes } else { Notation::Dots };
    let nothing = Builder::in_notation(notation).finish();
    Binding::new(nothing.schema(), &file.policy.attributes, Undeclared::Drop, "the policy")
}
