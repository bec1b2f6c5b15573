//! Whether a publication keeps what its policy or its certificate promises, and says nothing that the input does not.

mod anatomized;
mod by_certificate;
mod chunked;
mod dissected;
mod form;
pub(crate) mod mapping;
mod records;
mod unprotected;

use std::path::{Path, PathBuf};

use bosket_io::apart::PublishedReader;
use bosket_io::{PolicyFile, Whereabouts};
use bosket_measure::kept::Recounted;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::path::Notation;
use bosket_model::policy::{AttributePolicy, Format, Policy, Role, Undeclared};
use bosket_model::{Builder, Diagnostic, Failure, Fault, Result};
use bosket_verify::guess::{self, Guessed};
use bosket_verify::joint::Joint;
use bosket_verify::sides::expected;
use bosket_verify::truth::Untruth;
use bosket_verify::{Claim, JudgedClusters, JudgedSides, Verification};
use serde_json::{Value, json};

use crate::certified::CertificateCheck;
use crate::joint::Earlier;
use crate::load::{self, Bound, PolicyAt, one_stdin};
use crate::run::{Run, Settings, run};
use crate::sign::SignatureCheck;
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
    /// The public key that the certificate must be signed with: its file, or the key itself.
    pub key: Option<String>,
    /// The signature; the one beside the certificate if not given.
    pub signature: Option<PathBuf>,
    /// The private input that the publication must be true to.
    pub against: Option<PathBuf>,
    /// The private mapping.
    pub mapping: Option<PathBuf>,
    /// The private key by which dates were shifted and pseudonyms made, to make them again of the input.
    pub mask_key: Option<PathBuf>,
    /// Earlier releases about the same people, to be looked at together with it.
    pub with: Vec<Earlier>,
    /// Another program has written the publication again: how it is written is not looked at.
    pub foreign: bool,
    /// What every call can be told.
    pub settings: Settings,
}

pub use form::NOT_LOOKED_AT;
pub use unprotected::Unprotected;

/// What was found out about a publication. There is no default: somebody has judged it, or nobody could read it.
#[derive(Debug)]
pub struct Verified {
    /// What the claim does not protect, to be told before the verdict; none where nothing is claimed or could be read.
    pub unprotected: Option<Unprotected>,
    /// Whether the claim holds; none where nothing is claimed, or where nothing could be read.
    pub verification: Option<Verification>,
    /// What a reader of the claim should know about its limits.
    pub caveats: Vec<Diagnostic>,
    /// What nobody looked at, to be told beside the verdict.
    pub not_checked: Vec<String>,
    /// What the publication says and the input does not, if they were compared.
    pub untruths: Option<Vec<Untruth>>,
    /// What the labels tell of the values that they hide, where the policy bounds that and the input was there to count it.
    pub guessed: Option<Guessed>,
    /// Whether values of the input may be told.
    show_values: bool,
    /// What became of the certificate, if there is one.
    pub certificate: Option<CertificateCheck>,
    /// What became of its signature, if a key was given. Where it does not hold, nothing else was looked at.
    pub signature: Option<SignatureCheck>,
    /// Per published record its group, where the publication has two sides.
    pub groups: Vec<u32>,
    /// What it tells together with earlier releases, if that was looked at.
    pub joint: Option<Joint>,
    /// How many rows and values it has, where that was counted for a certificate.
    pub(crate) recounted: Option<Recounted>,
    /// How it is written was not looked at.
    pub foreign: bool,
}

impl Verified {
    /// Whether values of the input may be told.
    pub fn shows_values(&self) -> bool {
        self.show_values
    }

    /// What was not looked at.
    pub fn not_looked_at(&self) -> &'static [&'static str] {
        if self.foreign { &NOT_LOOKED_AT } else { &[] }
    }

    /// A publication whose claim was judged.
    pub(crate) fn judged(verification: Verification, caveats: Vec<Diagnostic>) -> Self {
        Verified { verification: Some(verification), caveats, ..Self::not_read(None) }
    }

    /// A publication of which nothing was read, and its certificate, if there is one.
    pub(crate) fn not_read(certificate: Option<CertificateCheck>) -> Self {
        Verified {
            unprotected: None,
            verification: None,
            caveats: Vec::new(),
            untruths: None,
            guessed: None,
            show_values: false,
            certificate,
            signature: None,
            groups: Vec::new(),
            joint: None,
            not_checked: Vec::new(),
            recounted: None,
            foreign: false,
        }
    }

    /// Whether nothing is claimed, and a certificate says so.
    pub fn claims_nothing(&self) -> bool {
        let claim = self.certificate.as_ref().map(|check| &check.certificate.claim);
        self.verification.is_none() && claim.is_some_and(Value::is_null)
    }

    /// Whether everything that was looked at is as it should be. What nobody has judged does not hold, unless it claims nothing.
    pub fn holds(&self) -> bool {
        self.verification.as_ref().map_or_else(|| self.claims_nothing(), Verification::holds)
            && self.untruths.as_ref().is_none_or(Vec::is_empty)
            && self.guessed.as_ref().is_none_or(Guessed::holds)
            && self.joint.as_ref().is_none_or(Joint::holds)
            && self.certificate.as_ref().is_none_or(CertificateCheck::holds)
            && self.signature.as_ref().is_none_or(SignatureCheck::holds)
    }

    /// What was found, for programs.
    pub fn to_json(&self) -> Value {
        let mut found = self.without_signature();
        if self.foreign {
            found["foreign"] = json!(true);
            found["not_looked_at"] = json!(self.not_looked_at());
        }
        if let Some(signature) = &self.signature {
            found["signature"] = signature.to_json();
        }
        found
    }

    fn without_signature(&self) -> Value {
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
        found["not_checked"] = json!(self.not_checked);
        if let Some(untruths) = &self.untruths {
            found["truth"] = json!({
                "holds": untruths.is_empty(),
                "problems": untruths.iter().map(untruth_json).collect::<Vec<_>>(),
            });
        }
        if let Some(guessed) = &self.guessed {
            found["guess"] = guessed.to_json(self.show_values);
        }
        if let Some(joint) = &self.joint {
            found["joint"] = joint.to_json();
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
        refuse_alone(request)?;
        refuse_idle_key(request)?;
        if let Some(certificate) = &request.certificate {
            return by_certificate::verify(request, certificate, run);
        }
        if request.key.is_some() {
            let what = Diagnostic::error("a key checks the signature of a certificate, and there is none");
            return Err(Failure::new(Fault::Usage, what.help("give the certificate with --certificate")));
        }
        let at = request.policy.clone().unwrap_or_else(|| PolicyAt::new("-"));
        let file = at.load(run)?;
        let claim = Claim::new(&file.policy)?;
        check_claim(request, &file, &claim, None, run)
    })
}

/// Refuses a mapping that nothing is paired by.
fn refuse_alone(request: &VerifyRequest) -> Result<()> {
    if request.mapping.is_none() || request.against.is_some() || !request.with.is_empty() {
        return Ok(());
    }
    let what =
        Diagnostic::error("`--mapping` says whose records are whose, but nothing is given to compare with");
    let help = "give the private input with --against, or an earlier release with --with";
    Err(Failure::new(Fault::Usage, what.help(help)))
}

/// Refuses a private key that nothing is compared by.
fn refuse_idle_key(request: &VerifyRequest) -> Result<()> {
    if request.mask_key.is_none() || request.against.is_some() {
        return Ok(());
    }
    let what = "`--mask-key` makes dates and pseudonyms again of the input, which is not given";
    let help = "give the private input with --against";
    Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)))
}

/// What nobody looked at of what is masked: a pseudonym has the form of one, and may be the name in other letters all the same.
fn unseen_masks(request: &VerifyRequest, policy: &Policy) -> Vec<String> {
    if request.mask_key.is_some() {
        return Vec::new();
    }
    let paths = |own: &dyn Fn(&AttributePolicy) -> bool| {
        let own: Vec<&str> = policy.attributes.iter().filter(|a| own(a)).map(|a| a.path.as_str()).collect();
        own.join(", ")
    };
    let help = "they are made again of the input with --against and --mask-key";
    let pseudonyms = paths(&|a| a.role == Role::Pseudonym);
    let shifted = paths(&|a| a.shift.is_some());
    let mut all = Vec::new();
    if !pseudonyms.is_empty() {
        all.push(format!(
            "where the pseudonyms of {pseudonyms} come from: they might be the values themselves in other letters; {help}"
        ));
    }
    if !shifted.is_empty() {
        all.push(format!("by which numbers of days {shifted} was shifted; {help}"));
    }
    all
}

/// That nobody counted what labels tell, where the policy bounds it.
fn unguessed(found: &Verified, policy: &Policy) -> Option<String> {
    let share = policy.guess().filter(|_| found.guessed.is_none())?;
    let help = match found.untruths.as_deref() {
        None => "that is counted with the input, by --against",
        Some([]) => {
            "records can be paired in several ways, and which of them it was says the mapping, by --mapping"
        }
        Some(_) => "that is counted once the publication is true to the input",
    };
    Some(format!("whether {} (`privacy.guess`): {help}", guess::sentence(share)))
}

/// What is being checked, and by what.
struct Check<'a> {
    request: &'a VerifyRequest,
    file: &'a PolicyFile,
    claim: &'a Claim,
    run: &'a Run<'a>,
    /// What a certificate tells about rows and values, to be counted.
    kept: Option<&'a Value>,
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
    if !request.with.is_empty() {
        bosket_verify::joint::refuse_unfit(claim)?;
    }
    let kept =
        certificate.as_ref().map(|check| check.certificate.kept.clone()).filter(|kept| !kept.is_null());
    let check = Check { request, file, claim, run, kept: kept.as_ref() };
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
        certificate.kept(found.recounted.as_ref());
        if request.key.is_none() {
            certificate.unsigned(&file.policy);
        }
        let joint = certificate.certificate.joint.len();
        if joint > 0 && found.joint.is_none() {
            let what = "together with the earlier releases that it names: that takes the private mappings (`--with`)";
            certificate.unchecked.push(what.to_owned());
        }
    }
    form::refuse_other_certificate(&check)?;
    found.foreign = request.foreign;
    found.unprotected = Some(Unprotected::new(&file.policy, claim));
    found.show_values = run.settings.show_values;
    found.not_checked = unseen_masks(request, &file.policy);
    found.not_checked.extend(unguessed(&found, &file.policy));
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

#[cfg(test)]
mod tests {
    use super::Verified;

    #[test]
    fn what_nobody_has_judged_does_not_hold() {
        let nothing = Verified::not_read(None);
        assert!(!nothing.holds() && !nothing.claims_nothing());
        assert_eq!(nothing.to_json()["holds"], false);
    }
}
