//! Metadata of a publication for catalogues, from its certificate.

use std::io::Write;
use std::path::{Path, PathBuf};

use bosket_io::{Output, write_failure};
use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use bosket_report::certificate::Form as Made;
use bosket_report::export::{Exported, File};
use serde_json::Value;

use crate::certified::CertificateCheck;
use crate::run::{Run, Settings, run};
use crate::warned::Warned;

pub use bosket_report::export::{About, Form};

/// Metadata to be made.
#[derive(Clone, Debug, Default)]
pub struct ExportRequest {
    /// The publication.
    pub publication: PathBuf,
    /// Its certificate.
    pub certificate: PathBuf,
    /// In which form.
    pub form: Form,
    /// What only the publisher knows.
    pub about: About,
    /// Where it goes; nowhere but to whoever asks if not given.
    pub out: Option<PathBuf>,
    /// Replace a file that exists.
    pub force: bool,
    /// What every call can be told.
    pub settings: Settings,
}

/// Makes metadata of a publication as JSON-LD. Refused unless all files are as certified: checksums of other files would
/// help nobody.
pub fn export(request: &ExportRequest, observer: &dyn Observer) -> Result<Warned<Value>> {
    run(&request.settings, observer, |run| {
        refuse_no_date(request.about.date.as_deref())?;
        let check = CertificateCheck::whole(&request.certificate, &request.publication, None, run.observer)?;
        refuse_other(&check, &request.certificate)?;
        let files = files(&check, &request.publication, &request.certificate)?;
        let own = Exported { certificate: &check.certificate, files: &files, about: &request.about };
        lacking(&own, request, run)?;
        let made = own.to_json(request.form);
        if let Some(out) = &request.out {
            let read: Vec<PathBuf> = [request.certificate.clone(), request.publication.clone()].into();
            crate::places::refuse(std::slice::from_ref(out), &read)?;
            let mut output = Output::create(out, run.settings.create(request.force, false))?;
            output.write_all(format!("{made:#}\n").as_bytes()).map_err(write_failure)?;
            run.observer.go_on()?;
            output.finish()?;
        }
        Ok(made)
    })
}

fn refuse_no_date(date: Option<&str>) -> Result<()> {
    let is_date = |text: &str| {
        let bytes = text.as_bytes();
        let digits = |range: std::ops::Range<usize>| text[range].bytes().all(|b| b.is_ascii_digit());
        text.is_ascii()
            && bytes.len() == 10
            && bytes[4] == b'-'
            && bytes[7] == b'-'
            && digits(0..4)
            && digits(5..7)
            && digits(8..10)
    };
    match date.filter(|text| !is_date(text)) {
        None => Ok(()),
        Some(_) => {
            let what = Diagnostic::error("the date must be written YYYY-MM-DD");
            Err(Failure::new(Fault::Usage, what.help("as in --date 2026-11-18")))
        }
    }
}

fn refuse_other(check: &CertificateCheck, certificate: &Path) -> Result<()> {
    let place = || Place::source(certificate.display().to_string());
    if check.certificate.form == Made::Database {
        let what =
            Diagnostic::error("the tables of a database are no files that could be described").at(place());
        let help = "publish to files, or describe the database by hand";
        return Err(Failure::new(Fault::Usage, what.help(help)));
    }
    if check.holds() {
        return Ok(());
    }
    let help = "`bosket verify` says more; give the publication with its own certificate";
    let told = check.problems.iter().map(|p| Diagnostic::error(p.clone()).at(place()).help(help));
    Err(Failure::all(Fault::Data, told.collect()))
}

/// The files with their sizes.
fn files(check: &CertificateCheck, publication: &Path, certificate: &Path) -> Result<Vec<File>> {
    let folder = publication.is_dir();
    let beside = |name: &str| {
        let near = publication.with_file_name(name);
        if near.is_file() { near } else { certificate.with_file_name(name) }
    };
    let mut all = Vec::new();
    for (i, file) in check.certificate.files.iter().enumerate() {
        let place = match (folder, i) {
            (true, _) => publication.join(&file.name),
            (false, 0) => publication.to_owned(),
            (false, _) => beside(&file.name),
        };
        let found = std::fs::metadata(&place).map_err(|e| {
            let what = Diagnostic::error(format!("cannot look at it: {e}"));
            Failure::new(Fault::Environment, what.at(Place::source(place.display().to_string())))
        })?;
        // It may have been renamed since it was certified, if it is a single file.
        let name = match (folder, i, publication.file_name()) {
            (false, 0, Some(name)) => name.to_string_lossy().into_owned(),
            _ => file.name.clone(),
        };
        all.push(File { name, sha256: file.sha256.clone(), bytes: found.len() });
    }
    Ok(all)
}

/// Refuses what the form cannot do without, and warns of what it asks for.
fn lacking(own: &Exported<'_>, request: &ExportRequest, run: &Run<'_>) -> Result<()> {
    let form = match request.form {
        Form::Croissant => "Croissant",
        Form::Dcat => "DCAT-AP",
    };
    let lacking = own.lacking(request.form);
    if let Some((key, _)) = lacking.iter().find(|(_, must)| *must) {
        let what = format!("{form} cannot do without what nobody has said: --{key}");
        let help = "say where the publication can be had";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    }
    if !lacking.is_empty() {
        let keys: Vec<String> = lacking.iter().map(|(key, _)| format!("--{key}")).collect();
        let what = format!("{form} asks for more than was said: {}", keys.join(", "));
        run.warn([Diagnostic::warning(what).help("what nobody has said is left out")]);
    }
    Ok(())
}
