//! Whether a publication is the one that a certificate was written for, and whether the certificate agrees with itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bosket_io::{PolicyFile, fingerprint};
use bosket_measure::kept::Recounted;
use bosket_model::binding::effective_role;
use bosket_model::hierarchy::{Build, HierarchySpec};
use bosket_model::observe::Observer;
use bosket_model::policy::{AttributePolicy, Ground, Policy, Role};
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use bosket_report::certificate::{Certificate, Form, differences, public_policy};
use bosket_verify::Claim;
use serde_json::{Value, json};

use crate::certificate::named;
use bosket_model::words::count;

/// What was found out about a certificate.
#[derive(Clone, Debug)]
pub struct CertificateCheck {
    /// The certificate.
    pub certificate: Certificate,
    /// What is not as certified.
    pub problems: Vec<String>,
    /// How many hierarchies were found and compared.
    pub hierarchies_compared: usize,
    /// What could not be looked at, and is not needed.
    pub unchecked: Vec<String>,
    /// The paths that count as known to an attacker.
    pub known: Vec<String>,
    /// The paths that are published as they are, and as what.
    pub untouched: Vec<(String, Role)>,
    /// The folder that it lies in.
    folder: PathBuf,
}

impl CertificateCheck {
    /// Reads a certificate and compares it with the files of a publication; tells also how its policy differs from
    /// another.
    pub(crate) fn read(
        path: &Path,
        publication: &Path,
        policy: Option<&Policy>,
        observer: &dyn Observer,
    ) -> Result<(Self, Vec<String>)> {
        Self::of(&bosket_io::read_text(path)?, path, publication, policy, observer)
    }

    /// The same of a text that has been read already.
    pub(crate) fn of(
        text: &str,
        path: &Path,
        publication: &Path,
        policy: Option<&Policy>,
        observer: &dyn Observer,
    ) -> Result<(Self, Vec<String>)> {
        let certificate = Certificate::read(text).map_err(|mut failure| {
            let name = path.display().to_string();
            failure.diagnostics.iter_mut().for_each(|d| d.place = Place::source(&name));
            failure
        })?;
        let problems = certificate.damage(text).into_iter().map(|what| format!("the certificate: {what}"));
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut checked = CertificateCheck {
            folder,
            problems: problems.collect(),
            hierarchies_compared: 0,
            unchecked: Vec::new(),
            known: Vec::new(),
            untouched: Vec::new(),
            certificate,
        };
        checked.files(publication, path, observer)?;
        let differing = policy.map_or(Vec::new(), |policy| {
            differences(&public_policy(policy, &checked.certificate.files), &checked.certificate.policy)
        });
        Ok((checked, differing))
    }

    /// The same, all that is wrong with it together.
    pub(crate) fn whole(
        path: &Path,
        publication: &Path,
        policy: Option<&Policy>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (mut checked, differing) = Self::read(path, publication, policy, observer)?;
        checked.differs(differing);
        match policy {
            Some(policy) => checked.policy(policy),
            None => {
                let name = path.display().to_string();
                checked.policy(&checked.certificate.policy_without_lists(&name)?);
            }
        }
        Ok(checked)
    }

    /// Keeps how the policy differs that was given.
    pub(crate) fn differs(&mut self, differing: Vec<String>) {
        self.problems.extend(differing.into_iter().map(|what| format!("the policy: {what}")));
    }

    /// Compares all published files with their fingerprints.
    fn files(&mut self, publication: &Path, certificate: &Path, observer: &dyn Observer) -> Result<()> {
        let files = self.certificate.files.clone();
        if self.certificate.form == Form::Database {
            let schema = self.certificate.policy.pointer("/publish/schema").and_then(Value::as_str);
            let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
            let url = publication.to_string_lossy();
            let found = fingerprint::of_database(&url, schema.unwrap_or_default(), &names, observer)?;
            for file in &files {
                let now = found.iter().find(|f| f.name == file.name).map(|f| f.sha256.clone());
                self.compare(&format!("table {}", file.name), &file.sha256, now);
            }
            return Ok(());
        }
        let main = match files.first() {
            Some(first) if publication.is_dir() => publication.join(&first.name),
            _ => publication.to_owned(),
        };
        for (i, file) in files.iter().enumerate() {
            let place = match self.certificate.form {
                Form::Folder | Form::Parts => publication.join(&file.name),
                _ if i == 0 => main.clone(),
                _ => self.beside(&main, &file.name),
            };
            let now = place.is_file().then(|| fingerprint::of_file(&place, observer)).transpose()?;
            self.compare(&file.name, &file.sha256, now);
        }
        if matches!(self.certificate.form, Form::Folder | Form::Parts) {
            let mut extra = Vec::new();
            list(publication, "", &mut extra);
            let known = |name: &str| files.iter().any(|f| f.name == name);
            extra.retain(|(name, path)| !known(name) && !is_own(path, certificate));
            extra.sort();
            self.problems
                .extend(extra.into_iter().map(|(name, _)| format!("{name} is not part of the publication")));
        }
        Ok(())
    }

    /// Where a file lies that accompanies a document.
    fn beside(&self, main: &Path, name: &str) -> PathBuf {
        let place = main.with_file_name(name);
        if place.is_file() { place } else { self.folder.join(name) }
    }

    fn compare(&mut self, what: &str, was: &str, now: Option<String>) {
        match now {
            None => self.problems.push(format!("{what} is missing")),
            Some(now) if now != was => self.problems.push(format!("{what} was changed")),
            Some(_) => {}
        }
    }

    /// Compares the hierarchies that can be found with their fingerprints. Gives per attribute where its hierarchy is.
    pub(crate) fn hierarchies(
        &mut self,
        given: Option<&PolicyFile>,
        observer: &dyn Observer,
    ) -> Vec<(String, PathBuf)> {
        let mut places = Vec::new();
        for hierarchy in self.certificate.hierarchies.clone() {
            let of_policy = given.and_then(|file| {
                let attribute = hierarchy.attributes.iter().find_map(|path| file.policy.attribute(path))?;
                Some(file.resolve(named(attribute.hierarchy.as_ref()?)?))
            });
            let hash = |place: PathBuf| {
                let sha256 = place.is_file().then(|| fingerprint::of_file(&place, observer).ok())??;
                Some((place, sha256))
            };
            let meant = of_policy.into_iter().chain([self.folder.join(&hierarchy.path)]).find_map(hash);
            // What only has the same name may be something else.
            let namesake =
                || hash(self.folder.join(last(&hierarchy.path))).filter(|f| f.1 == hierarchy.sha256);
            let Some((place, now)) = meant.or_else(namesake) else {
                self.unchecked.push(format!("the hierarchy {}, which is not there", hierarchy.path));
                continue;
            };
            self.hierarchies_compared += 1;
            self.compare(&format!("the hierarchy {}", hierarchy.path), &hierarchy.sha256, Some(now));
            places.extend(hierarchy.attributes.into_iter().map(|attribute| (attribute, place.clone())));
        }
        places
    }

    /// Lets the policy name hierarchies where they are. Those that are nowhere must not be needed.
    pub(crate) fn settle(&self, policy: &mut Policy, places: &[(String, PathBuf)], name: &str) -> Result<()> {
        let (mut lacking, privacy) = (Vec::new(), policy.need_privacy()?);
        let measured = |a: &AttributePolicy| {
            privacy.model.needs_hierarchies(Role::Sensitive)
                || (privacy.model.takes_ground() && a.ground == Ground::Hierarchical)
        };
        let needs = |a: &AttributePolicy| match a.role {
            Role::Sensitive => measured(a),
            Role::Quasi => !privacy.negative.is_empty() || !privacy.sensitive.is_empty(),
            _ => false,
        };
        let needed: Vec<bool> = policy.attributes.iter().map(needs).collect();
        for (attribute, needed) in policy.attributes.iter_mut().zip(needed) {
            if attribute.hierarchy.as_ref().and_then(named).is_none() {
                continue;
            }
            let place = places.iter().find(|(path, _)| *path == attribute.path);
            let place = place.map(|(_, place)| std::path::absolute(place).unwrap_or_else(|_| place.clone()));
            let place = place.map(|place| place.to_string_lossy().into_owned());
            attribute.hierarchy = match (attribute.hierarchy.take(), place) {
                (Some(HierarchySpec::File(_)), Some(place)) => Some(HierarchySpec::File(place)),
                (Some(HierarchySpec::Build(_)), Some(place)) => {
                    Some(HierarchySpec::Build(Build::Icd10 { table: Some(place) }))
                }
                (_, _) => None,
            };
            if needed && attribute.hierarchy.is_none() {
                let what =
                    format!("the claim needs the hierarchy of `{}`, which is not there", attribute.path);
                let help = "put it where the certificate says, seen from the certificate, or give --policy";
                lacking.push(Diagnostic::error(what).at(Place::source(name)).help(help));
            }
        }
        if lacking.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, lacking)) }
    }

    /// Compares the certificate with its policy, and keeps what the policy says about attributes.
    pub(crate) fn policy(&mut self, policy: &Policy) {
        let contradictions = self.certificate.contradictions(policy).into_iter();
        let contradictions = contradictions.chain(self.other_hierarchies(policy));
        let contradictions: Vec<String> =
            contradictions.map(|what| format!("the certificate: {what}")).collect();
        self.problems.extend(contradictions);
        for attribute in &policy.attributes {
            let path = attribute.path.clone();
            match effective_role(&policy.attributes, attribute) {
                Role::Quasi => self.known.push(path),
                role @ (Role::Sensitive | Role::Insensitive) => self.untouched.push((path, role)),
                Role::Pseudonym | Role::Identifying | Role::Drop | Role::Key => {}
            }
        }
    }

    /// Whether the hierarchies that it names are not those that its policy names.
    fn other_hierarchies(&self, policy: &Policy) -> Option<String> {
        let dissected = policy.privacy.as_ref().is_some_and(|privacy| privacy.model.is_apart());
        let read = policy.attributes.iter().filter(|a| !dissected || a.role == Role::Sensitive);
        let own: BTreeSet<(String, String)> =
            read.filter_map(|a| Some((a.path.clone(), file_name(named(a.hierarchy.as_ref()?)?)))).collect();
        let told = self.certificate.hierarchies.iter();
        let told: BTreeSet<(String, String)> =
            told.flat_map(|h| h.attributes.iter().map(|path| (path.clone(), file_name(&h.path)))).collect();
        (own != told).then(|| "it does not name the hierarchies that its policy names".to_owned())
    }

    /// Compares what is not claimed.
    pub(crate) fn limits(&mut self, policy: &Policy, claim: &Claim, caveats: &[Diagnostic]) {
        let problem = self.certificate.contradicted_limits(policy, claim, caveats);
        self.problems.extend(problem.map(|what| format!("the certificate: {what}")));
    }

    /// Names attributes of the file to which the certificate's policy gives no role. That it drops what it does not name says
    /// something about an input; a file that still has it is not what was certified.
    pub(crate) fn left(&mut self, policy: &Policy, left: &[String]) {
        let unnamed = left.iter().filter(|path| policy.attribute(path).is_none());
        self.problems.extend(
            unnamed.map(|path| {
                format!("the certificate: its policy gives no role to {path}, which the file has")
            }),
        );
    }

    /// Compares how many records there are.
    pub(crate) fn records(&mut self, found: u64) {
        let told = self.certificate.records;
        if told != found {
            let told = count(told as usize);
            self.problems.push(format!(
                "the certificate: it speaks of {told} records, there are {}",
                count(found as usize)
            ));
        }
    }

    /// Compares what is told about rows and values that are kept with those that are there.
    pub(crate) fn kept(&mut self, found: Option<&Recounted>) {
        if self.certificate.kept.is_null() {
            return;
        }
        match found {
            Some(found) => {
                let wrong = found.contradicts(&self.certificate.kept);
                self.problems.extend(wrong.into_iter().map(|what| format!("the certificate: {what}")));
            }
            None => self.unchecked.push("how many rows and values are published (`kept`)".to_owned()),
        }
    }

    /// Names what only a signature could vouch for.
    pub(crate) fn unsigned(&mut self, policy: &Policy) {
        let certificate = &self.certificate;
        let attributes = certificate.policy["attribute"].as_array().into_iter().flatten();
        let whys = attributes.into_iter().any(|attribute| attribute.get("why").is_some());
        let told: [(bool, &str); 7] = [
            (
                true,
                "who wrote the certificate: anybody may have, with any claim that the files keep; --key checks a signature",
            ),
            (true, "what made the publication, and its version (`tool`, `verifier`)"),
            (
                true,
                "what was lost of the input (`loss`, `suppressed`, and of `kept` all but what is published)",
            ),
            (certificate.selected.is_some(), "how many people were selected (`selected`)"),
            (!certificate.legend.is_null(), "what published groups stand for (`legend`)"),
            (policy.release.is_some(), "who may have the publication and what for (`release`)"),
            (whys, "why attributes have their roles (`why`)"),
        ];
        let told = told.into_iter().filter(|(there, _)| *there);
        self.unchecked.extend(told.map(|(_, what)| what.to_owned()));
    }

    /// Whether everything that was looked at is as certified.
    pub fn holds(&self) -> bool {
        self.problems.is_empty()
    }

    /// What was found, for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "holds": self.holds(),
            "problems": self.problems,
            "not_checked": self.unchecked,
            "known": self.known,
            "published_as_they_are":
                self.untouched.iter().map(|(path, role)| json!({"path": path, "role": role.name()})).collect::<Vec<_>>(),
            "digest": self.certificate.digest,
        })
    }
}

/// One file may be written in several ways.
fn file_name(path: &str) -> String {
    last(path).to_string_lossy().into_owned()
}

fn last(path: &str) -> &Path {
    Path::new(path).file_name().map_or(Path::new(path), Path::new)
}

/// All files below a folder, by name and path.
fn list(folder: &Path, prefix: &str, out: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), out);
        } else {
            out.push((name, entry.path()));
        }
    }
}

/// Whether a file is the certificate, or a signature of it.
fn is_own(path: &Path, certificate: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let signed = |ending: &str| {
        let mut name = certificate.as_os_str().to_owned();
        name.push(ending);
        real(path).is_some() && real(Path::new(&name)) == real(path)
    };
    ["", ".asc", ".minisig", ".sig"].iter().any(|ending| signed(ending))
}
