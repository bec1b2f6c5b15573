//! Whether a publication that holds is written in the one form: how a file says something may tell what its values do not.

use std::path::Path;

use bosket_io::apart::PublishedReader;
use bosket_io::form::{self, Written};
use bosket_io::{BatchSize, SourceForm};
use bosket_model::binding::Binding;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::repeated::{Kinds, Repeated, repeated};
use bosket_verify::sides::expected;

use super::{Check, Verified};
use crate::certified::CertificateCheck;
use crate::load::Bound;

/// What is not looked at in a publication that another program has written again.
pub const NOT_LOOKED_AT: [&str; 5] = [
    "the order of records, of rows and elements inside them, and of keys and columns",
    "how values are spelt: escapes, numbers as text or not, null or absent, types of MongoDB",
    "blanks, line ends, a byte order mark, quotes that need not be there, namespaces",
    "rows and items that say the same as another one beside them",
    "how pages and columns are laid out, and how the file is compressed",
];

/// Refuses records that hold and are written in another way than Bosket writes them.
pub(super) fn of_records(
    check: &Check<'_>,
    found: &Verified,
    published: &Bound,
    (written, form): (&Written, &SourceForm),
) -> Result<()> {
    if !is_wanted(check, found) {
        return Ok(());
    }
    let observer = check.run.observer;
    settle(Said::default().add(check, published)?)?;
    check.run.warn(namespaces(check, form));
    settle(form::of_records(written, form, &published.data, observer)?)
}

/// The same of a publication that is read in batches.
pub(super) fn of_batches(check: &Check<'_>, found: &Verified, size: BatchSize, said: Said) -> Result<()> {
    if !is_wanted(check, found) {
        return Ok(());
    }
    settle(said.found)?;
    let memory = (check.run.settings.memory() / 64).clamp(1 << 20, 32 << 20);
    settle(form::of_batches(check.file, check.publication(), size, memory, check.run.observer)?)
}

/// The same of a publication with two sides.
pub(super) fn of_sides(check: &Check<'_>, found: &Verified) -> Result<()> {
    if !is_wanted(check, found) {
        return Ok(());
    }
    let reader = PublishedReader::new(check.file, expected)?;
    settle(reader.form(check.publication(), check.run.observer)?)
}

/// A broken promise and an untruth are told before the form: who hands out either has other things to mend.
fn is_wanted(check: &Check<'_>, found: &Verified) -> bool {
    !check.request.foreign && found.holds()
}

fn settle(differs: Option<Diagnostic>) -> Result<()> {
    differs.map_or(Ok(()), |differs| Err(Failure::new(Fault::Data, differs)))
}

/// What records say in more ways than one, batch by batch.
#[derive(Default)]
pub(super) struct Said {
    records: usize,
    kinds: Kinds,
    found: Option<Diagnostic>,
}

impl Said {
    /// Looks at the next records of a publication.
    pub(super) fn batch(&mut self, check: &Check<'_>, data: &Dataset) -> Result<()> {
        if self.found.is_none() && !check.request.foreign {
            let (policy, name) = (&check.file.policy, check.publication().display().to_string());
            let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, &name)?;
            self.found = self.look(check, data, &binding)?;
        }
        Ok(())
    }

    fn add(&mut self, check: &Check<'_>, published: &Bound) -> Result<Option<Diagnostic>> {
        self.look(check, &published.data, &published.binding)
    }

    fn look(&mut self, check: &Check<'_>, data: &Dataset, binding: &Binding) -> Result<Option<Diagnostic>> {
        let before = self.records;
        self.records += data.len();
        if let Some(found) = repeated(data, binding, check.claim, check.run.observer)? {
            return Ok(Some(repeated_at(check, &found, before)));
        }
        Ok(self.kinds.add(data, binding).map(|path| {
            let what =
                "a value stands here both as a number or truth value and as a text, which says the same";
            let place = Place::source(check.publication().display().to_string()).path(path);
            Diagnostic::error(what).at(place).help(form::HELP)
        }))
    }
}

/// Namespaces that a document's names are in: no guarantee speaks of them.
fn namespaces(check: &Check<'_>, form: &SourceForm) -> Option<Diagnostic> {
    let SourceForm::Document { layout, .. } = form else { return None };
    let all = &layout.outline.namespaces;
    let mut named: Vec<&str> =
        all.default.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    named.extend(all.prefixes.iter().map(|prefix| prefix.namespace.as_str()));
    named.sort_unstable();
    named.dedup();
    if named.is_empty() {
        return None;
    }
    let what = format!("what the namespaces of the document say is not looked at: {}", named.join(", "));
    let place = Place::source(check.publication().display().to_string());
    Some(Diagnostic::warning(what).at(place).help("make sure that they name a vocabulary and nobody"))
}

fn repeated_at(check: &Check<'_>, found: &Repeated, before: usize) -> Diagnostic {
    let what = "this says the same as another one beside it, which a publication has only once";
    let mut place = Place::source(check.publication().display().to_string()).path(found.path.as_str());
    place.record = Some((before + found.record) as u64 + 1);
    Diagnostic::error(what).at(place).help(form::HELP)
}

/// Refuses a file in a published folder that is called like its certificate and is none, or one of something else: nobody
/// else looks at it.
pub(super) fn refuse_other_certificate(check: &Check<'_>) -> Result<()> {
    let publication = check.publication();
    if check.request.certificate.is_some() || !publication.is_dir() {
        return Ok(());
    }
    let [certificate, signatures @ ..] = bosket_io::certificate_files(&check.file.policy);
    let (at, there) = (publication.join(&certificate), |name: &String| publication.join(name).exists());
    let signature = signatures.iter().find(|name| there(name));
    if let (Some(name), false) = (signature, at.exists()) {
        return settle(Some(refused(&publication.join(name), "this signs a certificate that is not there")));
    }
    if !at.exists() {
        return Ok(());
    }
    let policy = Some(&check.file.policy);
    let found = CertificateCheck::whole(&at, publication, policy, check.run.observer);
    let problem = match found {
        Err(failure) if failure.fault == Fault::Interrupted => return Err(failure),
        Err(_) => Some("this is called like a certificate and is none".to_owned()),
        Ok(found) => {
            found.problems.first().map(|what| format!("this is no certificate of what lies here: {what}"))
        }
    };
    settle(problem.map(|what| refused(&at, &what)))?;
    check.run.warn([told(&at, signature.is_some())]);
    Ok(())
}

fn refused(at: &Path, what: &str) -> Diagnostic {
    let help = "`verify` cannot judge it, so it must not be handed out; take it out of the folder";
    Diagnostic::error(what).at(Place::source(at.display().to_string())).help(help)
}

fn told(at: &Path, is_signed: bool) -> Diagnostic {
    let and = if is_signed { " and its signature" } else { "" };
    let what =
        format!("the certificate{and} in the folder: what it says about loss and groups is not looked at");
    let help = format!("check it with `--certificate {}`", at.display());
    Diagnostic::warning(what).at(Place::source(at.display().to_string())).help(help)
}
