//! The certificate that every run writes beside its publication.

use std::io::Write;
use std::path::{Path, PathBuf};

use bosket_io::{Certify, Create, Output, PolicyFile, fingerprint, write_failure};
use bosket_model::hierarchy::{Build, HierarchySpec};
use bosket_model::observe::Observer;
use bosket_model::policy::{Format, Role};
use bosket_model::{Diagnostic, Failure, Fault, Fingerprint, Result};
use bosket_report::certificate::{Certificate, Facts, GivenHierarchy, public_path};
use bosket_verify::Claim;
use serde_json::Value;

use crate::certified::CertificateCheck;
use crate::figures::Figures;
use crate::load::PolicyAt;
use crate::prepare::Prepared;
use crate::run::{Run, Settings, run};
use crate::warned::Warned;

/// A certificate to look at, with the publication that it should belong to.
#[derive(Clone, Debug, Default)]
pub struct CertificateRequest {
    /// The certificate.
    pub certificate: PathBuf,
    /// The publication.
    pub publication: PathBuf,
    /// The policy that it should have been made by.
    pub policy: Option<PolicyAt>,
    /// What every call can be told.
    pub settings: Settings,
}

/// Reads a certificate and compares it with the publication's files, its own policy and, if given, another. What it
/// claims is not checked: see [`verify`](crate::verify()).
pub fn certificate(
    request: &CertificateRequest,
    observer: &dyn Observer,
) -> Result<Warned<CertificateCheck>> {
    run(&request.settings, observer, |run| {
        let given = request.policy.as_ref().map(|policy| policy.load(run)).transpose()?;
        let policy = given.as_ref().map(|file| &file.policy);
        CertificateCheck::whole(&request.certificate, &request.publication, policy, run.observer)
    })
}

/// Where the certificate of a publication goes; nowhere if the publication is a stream and the policy names no file.
pub(crate) fn place(file: &PolicyFile, policy: &Path, target: &Path) -> Result<Option<PathBuf>> {
    let publish = file.policy.need_publish()?;
    if let Some(named) = &publish.certificate {
        if named == "-" {
            let what = Diagnostic::error("the certificate cannot go to standard output");
            return Err(Failure::new(
                Fault::Policy,
                what.help("name a file in `publish.certificate`, or none to have it beside the publication"),
            ));
        }
        return Ok(Some(file.resolve(named)));
    }
    if file.policy.need_source()?.format == Format::Postgres {
        let stem = policy.file_stem().filter(|_| policy != Path::new("-"));
        let stem = stem.map_or_else(|| "policy".into(), |s| s.to_string_lossy());
        return Ok(Some(file.folder.join(format!("{stem}.certificate.json"))));
    }
    let stream = std::fs::metadata(target).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if stream || target == Path::new("-") {
        return Ok(None);
    }
    Ok(Some(match target.file_name() {
        Some(name) => target.with_file_name(format!("{}.certificate.json", name.to_string_lossy())),
        // A folder like `..` has no name to add to.
        None => target.join("certificate.json"),
    }))
}

/// A certificate that is going to be written.
pub(crate) struct Begun {
    /// Where it goes, and what writes it there.
    output: Option<(PathBuf, Output)>,
    hierarchies: Vec<GivenHierarchy>,
}

/// What is known when a run is done.
pub(crate) struct Certified<'a> {
    pub(crate) claim: Option<&'a Claim>,
    pub(crate) caveats: Vec<Diagnostic>,
    pub(crate) records: u64,
    /// What the run tells about itself.
    pub(crate) figures: &'a Figures,
    /// The search was not done.
    pub(crate) cut_short: bool,
    /// Losses that were measured afterwards.
    pub(crate) measured: Option<Value>,
    /// How many rows and values are published of how many, as everybody may know.
    pub(crate) kept: Value,
    /// How many people the policy selects; none where it selects nobody.
    pub(crate) selected: Option<u64>,
    /// What published groups stand for; null where nothing is grouped.
    pub(crate) legend: Value,
    /// Earlier releases together with which it was verified, each by its files.
    pub(crate) joint: Vec<Vec<Fingerprint>>,
    /// Where the certificate is kept, for the report.
    pub(crate) written: &'a mut Option<Certificate>,
}

impl Begun {
    /// Takes the certificate's place before the work, and the fingerprints of the hierarchies that it is done with.
    pub(crate) fn new(prepared: &Prepared, create: Create, run: &Run<'_>) -> Result<Self> {
        let Prepared { file, policy, target, .. } = prepared;
        let Some(place) = place(file, policy, target)? else {
            return Ok(Begun { output: None, hierarchies: Vec::new() });
        };
        if let Some(folder) = place.parent().filter(|p| !p.as_os_str().is_empty()) {
            bosket_io::make_folder(folder)?;
        }
        let output = Output::create(&place, create)?;
        Ok(Begun { output: Some((place, output)), hierarchies: given(file, run.observer)? })
    }

    /// What makes the certificate once it is known what is published.
    pub(crate) fn certify<'a>(self, file: &'a PolicyFile, result: Certified<'a>) -> Certify<'a> {
        let (_, mut output) = self.output?;
        Some(Box::new(move |files| {
            let mut loss = result.figures.loss();
            if let Some(Value::Object(measured)) = result.measured {
                loss.extend(measured);
            }
            if result.cut_short {
                loss.insert("search_cut_short".to_owned(), Value::Bool(true));
            }
            let certificate = Certificate::new(Facts {
                policy: &file.policy,
                claim: result.claim,
                caveats: result.caveats,
                files: files.to_vec(),
                hierarchies: self.hierarchies,
                records: result.records,
                loss: Value::Object(loss),
                suppressed: Value::Object(result.figures.suppressed()),
                kept: result.kept,
                selected: result.selected,
                legend: result.legend,
                joint: result.joint,
            });
            output.write_all(certificate.to_text().as_bytes()).map_err(write_failure)?;
            *result.written = Some(certificate);
            Ok(output)
        }))
    }

    /// Where it goes, if anywhere.
    pub(crate) fn place(&self) -> Option<PathBuf> {
        self.output.as_ref().map(|(place, _)| place.clone())
    }
}

/// The file of a hierarchy, as the policy has it.
pub(crate) fn named(spec: &HierarchySpec) -> Option<&str> {
    match spec {
        HierarchySpec::File(path) | HierarchySpec::Build(Build::Icd10 { table: Some(path) }) => Some(path),
        HierarchySpec::Build(_) => None,
    }
}

/// The hierarchies that are given as files and that a run reads. Those that are built are determined by the policy, or
/// hold values of the data, which a hash would confirm.
pub(crate) fn given(file: &PolicyFile, observer: &dyn Observer) -> Result<Vec<GivenHierarchy>> {
    let dissected = file.policy.need_privacy()?.model.is_apart();
    let mut found: Vec<(PathBuf, GivenHierarchy)> = Vec::new();
    for attribute in &file.policy.attributes {
        let path = attribute.hierarchy.as_ref().and_then(named);
        // Dissection generalizes nothing and reads no other.
        let Some(path) = path.filter(|_| !dissected || attribute.role == Role::Sensitive) else { continue };
        let at = file.resolve(path);
        match found.iter_mut().find(|(known, _)| *known == at) {
            Some((_, hierarchy)) => hierarchy.attributes.push(attribute.path.clone()),
            None => {
                let sha256 = fingerprint::of_file(&at, observer)?;
                let attributes = vec![attribute.path.clone()];
                found.push((at, GivenHierarchy { path: public_path(path), sha256, attributes }));
            }
        }
    }
    Ok(found.into_iter().map(|(_, hierarchy)| hierarchy).collect())
}
