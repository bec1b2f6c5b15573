//! Earlier releases that a run is told of, and those that it is not told of but could find.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bosket_io::{PolicyFile, fingerprint};
use bosket_model::{Diagnostic, Failure, Fault, Fingerprint, Place, Result};
use bosket_verify::{Claim, joint};
use serde_json::Value;

use super::{Earlier, same_place};
use crate::certified::CertificateCheck;
use crate::run::Run;

/// Most files of a folder that are looked at for traces of earlier releases.
const LOOKED_AT: usize = 1_000;

/// Refuses, before any data is read, what could not be verified together with earlier releases afterwards.
pub(crate) fn check(file: &PolicyFile, claim: Option<&Claim>, earlier: &[Earlier]) -> Result<()> {
    if earlier.is_empty() {
        return Ok(());
    }
    let Some(claim) = claim else {
        let what = "nothing is claimed, so that nothing could be broken together with earlier releases";
        let what = Diagnostic::error(what).at(Place::source(&file.policy.name));
        return Err(Failure::new(
            Fault::Policy,
            what.help("leave them out, or choose a model with a guarantee"),
        ));
    };
    joint::refuse_unfit(claim)
}

/// The files of each earlier release with their fingerprints, which must be those of its certificate where it has one.
pub(crate) fn fingerprints(earlier: &[Earlier], run: &Run<'_>) -> Result<Vec<Vec<Fingerprint>>> {
    let mut all = Vec::new();
    for release in earlier {
        let at = &release.publication;
        let certificate = release.certificate();
        if certificate.is_file() {
            let check = CertificateCheck::whole(&certificate, at, None, run.observer)?;
            if !check.problems.is_empty() {
                let what = format!("{} is not what its certificate speaks of", at.display());
                let help =
                    "nothing was published; name the release as it was handed out, with its own certificate";
                return Err(Failure::new(Fault::Data, Diagnostic::error(what).help(help)));
            }
            all.push(check.certificate.files);
            continue;
        }
        if release.certificate.is_some() || !at.is_file() {
            let what = format!("there is no certificate of {} at {}", at.display(), certificate.display());
            let help = "name it as `certificate` in `[[release.earlier]]`: a release of several files is known by it";
            return Err(Failure::new(Fault::Data, Diagnostic::error(what).help(help)));
        }
        let name = at.file_name().unwrap_or_default().to_string_lossy().into_owned();
        all.push(vec![Fingerprint { name, sha256: fingerprint::of_file(at, run.observer)? }]);
    }
    Ok(all)
}

/// Warnings about releases that are not named, but leave traces: a certificate about the same attributes beside the
/// publication, or a private mapping of the same input beside the mapping.
pub(crate) fn unnamed(
    file: &PolicyFile,
    inputs: &[PathBuf],
    target: &Path,
    earlier: &[Earlier],
    run: &Run<'_>,
) -> Result<Vec<Diagnostic>> {
    let mut found = Vec::new();
    let own = file.policy.publish.as_ref().and_then(|publish| publish.certificate.as_deref());
    let own = own.map(|path| file.resolve(path));
    let beside = |path: &Path| {
        path.parent().map(|p| if p.as_os_str().is_empty() { PathBuf::from(".") } else { p.to_owned() })
    };
    let ours = target.with_file_name(format!(
        "{}.certificate.json",
        target.file_name().unwrap_or_default().to_string_lossy()
    ));
    let paths: BTreeSet<&str> = file.policy.attributes.iter().map(|a| a.path.as_str()).collect();
    // A stream lies in no folder.
    let folder = beside(target).filter(|_| target != Path::new("-"));
    for path in files(folder, ".certificate.json") {
        let is_own = same_place(&path, &ours) || own.as_ref().is_some_and(|own| same_place(&path, own));
        let is_named = earlier.iter().any(|release| same_place(&path, &release.certificate()));
        let same = |certificate: &Value| {
            let about = certificate.pointer("/policy/attribute").and_then(Value::as_array);
            let about: BTreeSet<&str> =
                about.into_iter().flatten().filter_map(|a| a.get("path")?.as_str()).collect();
            about == paths
        };
        if !is_own && !is_named && read(&path).as_ref().is_some_and(same) {
            found.push(warning(&format!("{} certifies a release of the same attributes", path.display())));
        }
    }
    let mapping = file.policy.publish.as_ref().and_then(|publish| publish.mapping.as_deref());
    let Some(mapping) = mapping.map(|path| file.resolve(path)) else { return Ok(found) };
    let others: Vec<PathBuf> = files(beside(&mapping), ".json")
        .into_iter()
        .filter(|path| !same_place(path, &mapping.with_extension("json")))
        .filter(|path| {
            let of =
                |release: &Earlier| release.mapping.as_ref().map(|mapping| mapping.with_extension("json"));
            !earlier.iter().filter_map(of).any(|named| same_place(path, &named))
        })
        .collect();
    if others.is_empty() {
        return Ok(found);
    }
    let mut hashes: BTreeSet<String> = BTreeSet::new();
    for input in inputs.iter().filter(|input| input.is_file()) {
        hashes.insert(fingerprint::of_file(input, run.observer)?);
    }
    let same = |beside: &Value| {
        let inputs = beside.get("input").and_then(Value::as_array).into_iter().flatten();
        inputs.filter_map(|input| input.get("sha256")?.as_str()).any(|hash| hashes.contains(hash))
    };
    for path in others.into_iter().filter(|path| read(path).as_ref().is_some_and(same)) {
        found.push(warning(&format!("{} belongs to a release of the same input", path.display())));
    }
    Ok(found)
}

fn warning(what: &str) -> Diagnostic {
    Diagnostic::warning(format!("{what}, which the policy does not name"))
        .help("if it was handed out, name it in `[[release.earlier]]`: two releases may keep a promise each and break it together")
}

/// The files of a folder whose names end so, in the order of their names.
fn files(folder: Option<PathBuf>, ending: &str) -> Vec<PathBuf> {
    let Some(entries) = folder.and_then(|folder| std::fs::read_dir(folder).ok()) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    paths.sort();
    paths.truncate(LOOKED_AT);
    paths
}

fn read(path: &Path) -> Option<Value> {
    serde_json::from_str(&bosket_io::read_long_text(path).ok()?).ok()
}
