//! The certificate that every run writes beside its publication, and `bosket certificate`.

use std::io::Write;
use std::path::{Path, PathBuf};

use bosket_io::{Certify, Create, Output, PolicyFile, fingerprint, write_failure};
use bosket_model::hierarchy::{Build, HierarchySpec};
use bosket_model::observe::Quiet;
use bosket_model::policy::{Format, Model, Role};
use bosket_model::{Diagnostic, Failure, Fault};
use bosket_report::certificate::{Certificate, Facts, GivenHierarchy, json_schema, public_path};
use bosket_verify::Claim;
use serde_json::{Map, Value};

use crate::Outcome;
use crate::args::CertificateCommand;
use crate::output::print_json;
use crate::talk::Talk;

pub fn run(args: &CertificateCommand) -> Result<Outcome, Failure> {
    match args {
        CertificateCommand::Schema => print_json(&json_schema())?,
    }
    Ok(Outcome::Done)
}

/// Figures of a run that say what was lost.
const LOSS: [&str; 3] = ["lm", "ncp", "rpd"];

/// Figures of a run that say what was suppressed.
const SUPPRESSED: [&str; 6] = [
    "disassociations",
    "items_left_out",
    "occurrences_left_out",
    "records_suppressed",
    "values_left_out",
    "vertices_pruned",
];

/// Where the certificate of a publication goes; nowhere if the publication is a stream and the policy names no file.
pub(super) fn place(file: &PolicyFile, policy: &Path, target: &Path) -> Result<Option<PathBuf>, Failure> {
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
pub(super) struct Begun {
    /// Where it goes, and what writes it there.
    output: Option<(PathBuf, Output)>,
    hierarchies: Vec<GivenHierarchy>,
}

/// What is known when a run is done.
pub(super) struct Certified<'a> {
    pub(super) claim: Option<&'a Claim>,
    pub(super) caveats: Vec<Diagnostic>,
    pub(super) records: u64,
    /// What the run tells about itself.
    pub(super) figures: Value,
    /// Losses that were measured afterwards.
    pub(super) measured: Option<Value>,
}

impl Begun {
    /// Takes the certificate's place before the work, and the fingerprints of the hierarchies that it is done with.
    pub(super) fn new(
        file: &PolicyFile,
        policy: &Path,
        target: &Path,
        create: Create,
        talk: &Talk,
    ) -> Result<Self, Failure> {
        let Some(place) = place(file, policy, target)? else {
            talk.line("note: no certificate is written with a stream; name a file in `publish.certificate` to have one");
            return Ok(Begun { output: None, hierarchies: Vec::new() });
        };
        if let Some(folder) = place.parent().filter(|p| !p.as_os_str().is_empty()) {
            bosket_io::make_folder(folder)?;
        }
        let output = Output::create(&place, create)?;
        Ok(Begun { output: Some((place, output)), hierarchies: given(file)? })
    }

    /// What makes the certificate once it is known what is published.
    pub(super) fn certify<'a>(self, file: &'a PolicyFile, result: Certified<'a>) -> Certify<'a> {
        let (_, mut output) = self.output?;
        Some(Box::new(move |files| {
            let mut loss = picked(&result.figures, &LOSS);
            if let Some(Value::Object(measured)) = result.measured {
                loss.extend(measured);
            }
            let certificate = Certificate::new(Facts {
                policy: &file.policy,
                claim: result.claim,
                caveats: result.caveats,
                files: files.to_vec(),
                hierarchies: self.hierarchies,
                records: result.records,
                loss: Value::Object(loss),
                suppressed: Value::Object(picked(&result.figures, &SUPPRESSED)),
            });
            output.write_all(certificate.to_text().as_bytes()).map_err(write_failure)?;
            Ok(output)
        }))
    }

    /// Where it goes, if anywhere.
    pub(super) fn place(&self) -> Option<String> {
        self.output.as_ref().map(|(place, _)| place.display().to_string())
    }
}

fn picked(figures: &Value, keys: &[&str]) -> Map<String, Value> {
    let of = |key: &&str| Some(((*key).to_owned(), figures.get(key)?.clone()));
    keys.iter().filter_map(of).collect()
}

/// The file of a hierarchy, as the policy has it.
pub(super) fn named(spec: &HierarchySpec) -> Option<&str> {
    match spec {
        HierarchySpec::File(path) | HierarchySpec::Build(Build::Icd10 { table: Some(path) }) => Some(path),
        HierarchySpec::Build(_) => None,
    }
}

/// The hierarchies that are given as files and that a run reads. Those that are built are determined by the policy, or
/// hold values of the data, which a hash would confirm.
fn given(file: &PolicyFile) -> Result<Vec<GivenHierarchy>, Failure> {
    let model = file.policy.need_privacy()?.model;
    let apart = matches!(model, Model::Anatomy | Model::Delta | Model::None);
    let mut found: Vec<(PathBuf, GivenHierarchy)> = Vec::new();
    for attribute in &file.policy.attributes {
        let path = attribute.hierarchy.as_ref().and_then(named);
        // Dissection generalizes nothing and reads no other.
        let Some(path) = path.filter(|_| !apart || attribute.role == Role::Sensitive) else { continue };
        let at = file.resolve(path);
        match found.iter_mut().find(|(known, _)| *known == at) {
            Some((_, hierarchy)) => hierarchy.attributes.push(attribute.path.clone()),
            None => {
                let sha256 = fingerprint::of_file(&at, &Quiet)?;
                let attributes = vec![attribute.path.clone()];
                found.push((at, GivenHierarchy { path: public_path(path), sha256, attributes }));
            }
        }
    }
    Ok(found.into_iter().map(|(_, hierarchy)| hierarchy).collect())
}
