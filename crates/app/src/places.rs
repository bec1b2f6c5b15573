//! What a run writes must not take the place of what it reads, nor of something else that it writes, by whatever name.

use std::io::Write;
use std::path::{Path, PathBuf};

use bosket_io::apart::Dissection;
use bosket_io::{Output, PolicyFile, write_failure};
use bosket_model::sides::Fates;
use bosket_model::{Diagnostic, Failure, Fault, Result};
use bosket_report::certificate::Form;

use crate::certificate;

/// The files that a policy makes a run read, itself and its hierarchies among them.
pub(crate) fn inputs(file: &PolicyFile, policy: &Path, source: Vec<PathBuf>) -> Vec<PathBuf> {
    let hierarchies = file.policy.attributes.iter().filter_map(|a| a.hierarchy.as_ref());
    let hierarchies = hierarchies.filter_map(certificate::named).map(|path| file.resolve(path));
    std::iter::once(policy.to_owned()).chain(source).chain(hierarchies).collect()
}

/// The files that a policy makes a run write beside its publication.
pub(crate) fn private(file: &PolicyFile) -> Vec<PathBuf> {
    let mapping = file.policy.publish.as_ref().and_then(|p| p.mapping.as_deref()).map(|p| file.resolve(p));
    let beside = mapping.as_ref().map(|path| path.with_extension("json"));
    mapping.into_iter().chain(beside).collect()
}

/// Refuses a run whose files would take each other's place, or that of what it reads; and private ones in a folder that is
/// handed out.
pub(crate) fn check(file: &PolicyFile, policy: &Path, source: Vec<PathBuf>, target: &Path) -> Result<()> {
    let publish = file.policy.need_publish()?;
    let report = publish.report.as_deref().map(|p| file.resolve(p));
    if publish.mapping.as_deref() == Some("-") {
        let what = Diagnostic::error("the mapping is private and cannot go to standard output");
        return Err(Failure::new(Fault::Policy, what.help("give it a file, such as private/mapping.csv")));
    }
    let private = private(file);
    let mut outputs = vec![target.to_owned()];
    outputs.extend(certificate::place(file, policy, target)?);
    outputs.extend(private.iter().cloned());
    outputs.extend(report.iter().cloned());
    if file.policy.has_two_sides() {
        outputs.extend(Dissection::new(file, Fates::new)?.files()?);
    }
    let read = source.first().filter(|path| path.is_dir()).and_then(|path| real(path));
    refuse(&outputs, &inputs(file, policy, source))?;
    // The next run would read it with what is there.
    let within =
        |path: &&PathBuf| real(path).zip(read.as_ref()).is_some_and(|(path, read)| path.starts_with(read));
    if let Some(path) = outputs.iter().find(within) {
        let what = format!("{} would lie in the folder that the documents are read from", path.display());
        let help = "publish to another folder, and write the mapping and the report elsewhere";
        return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)));
    }
    if Form::of(&file.policy) == Form::Folder
        && let Some(folder) = real(target)
    {
        let inside = |path: &&PathBuf| real(path).is_some_and(|path| path.starts_with(&folder));
        if let Some(path) = private.iter().chain(&report).find(inside) {
            let what = format!("{} would lie in {}, which is handed out", path.display(), target.display());
            let help = "write the mapping and the report elsewhere";
            return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)));
        }
    }
    Ok(())
}

/// Refuses outputs that are inputs, or each other.
pub(crate) fn refuse(outputs: &[PathBuf], inputs: &[PathBuf]) -> Result<()> {
    for (i, output) in outputs.iter().enumerate() {
        let Some(place) = real(output) else { continue };
        let same = |other: &&PathBuf| real(other).as_ref() == Some(&place);
        let found = match (inputs.iter().find(same), outputs[..i].iter().find(same)) {
            (Some(input), _) => Some((input, "which the run reads")),
            (None, Some(other)) => Some((other, "which the run writes too")),
            (None, None) => None,
        };
        if let Some((other, why)) = found {
            let what = format!("writing {} would overwrite {}, {why}", output.display(), other.display());
            let help = "write elsewhere; --force replaces what older runs have written, never inputs";
            return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)));
        }
    }
    Ok(())
}

/// Where a path leads; of a file that is not there yet, where it would be. Streams and addresses lead nowhere.
fn real(path: &Path) -> Option<PathBuf> {
    if path == Path::new("-") {
        return None;
    }
    if let Ok(found) = std::fs::canonicalize(path) {
        return (found.is_file() || found.is_dir()).then_some(found);
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Folders on the way may not be there either.
    let folder = std::fs::canonicalize(folder).ok().or_else(|| real(folder))?;
    Some(folder.join(path.file_name()?))
}

/// Writes a text to a place that was taken for it, and completes it.
pub(crate) fn write(mut output: Output, text: &str) -> Result<()> {
    output.write_all(text.as_bytes()).map_err(write_failure)?;
    output.finish()
}
