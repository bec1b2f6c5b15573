//! What lies in the folder: policies, data, publications, and how they stand to each other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bosket_model::policy::{Model, Policy};
use bosket_report::certificate::{Certificate, differences, public_policy};

use crate::Server;
use crate::error::Result;
use crate::places::{Places, published_now};
use crate::shape::shape;

/// More are not listed.
const MOST: usize = 500;
/// Folders in folders that are looked into.
const DEPTH: usize = 3;
/// How datasets are called, before `.gz` and `.zst`.
const DATA: [&str; 13] = [
    "ndjson", "jsonl", "json", "xml", "csv", "tsv", "txt", "dat", "parquet", "sqlite", "sqlite3", "db",
    "fhir",
];

shape! {
    answer
    /// The folder as the first page shows it.
    pub(crate) struct Project {
        folder: String,
        /// Whether only publications are checked here.
        check_only: bool,
        policies: Vec<PolicyState>,
        data: Vec<DataState>,
        publications: Vec<PublicationState>,
        /// All files, for choosing among them.
        files: Vec<Named>,
        /// Whether there was more than is listed.
        more: bool,
        models: Vec<ModelView>,
    }
}

shape! {
    answer
    pub(crate) struct Named {
        path: String,
        bytes: u64,
    }
}

shape! {
    words
    /// How far a policy is, or what is published by it.
    pub(crate) enum State {
        /// It has errors.
        Broken,
        /// Nobody looked whether it fits its data.
        Draft,
        /// It fits its data as they are now.
        Fits,
        /// There is a publication with its certificate.
        Published,
        /// It was found to hold, and is what it was then.
        Verified,
        /// The policy, the data or the publication is newer than the certificate.
        Changed,
    }
}

shape! {
    answer
    pub(crate) struct PolicyState {
        path: String,
        state: State,
        model: Option<String>,
        /// The file, folder or database that it reads.
        source: Option<String>,
        is_database: bool,
        /// What it published, where there is a certificate.
        publication: Option<String>,
        certificate: Option<String>,
        report: Option<String>,
        /// Whether its runs keep which record became which.
        has_mapping: bool,
    }
}

shape! {
    words
    /// What a dataset is.
    pub(crate) enum DataKind {
        File,
        /// A folder of CSV or Parquet files.
        Tables,
        /// A folder of documents, such as FHIR bundles.
        Documents,
        /// A SQLite file.
        Sqlite,
        /// A database that a policy names.
        Database,
    }
}

shape! {
    answer
    pub(crate) struct DataState {
        path: String,
        kind: DataKind,
        bytes: Option<u64>,
        /// Files in a folder.
        files: Option<u64>,
        /// The policies that read it.
        policies: Vec<String>,
    }
}

shape! {
    answer
    pub(crate) struct PublicationState {
        certificate: String,
        /// What lies where its certificate is; none if nothing does.
        publication: Option<String>,
        state: State,
        /// A signature of the certificate lies beside it.
        signature: Option<String>,
        policy: Option<String>,
    }
}

shape! {
    answer
    /// A guarantee, as the table of models has it.
    pub(crate) struct ModelView {
        name: &'static str,
        title: &'static str,
        about: &'static str,
        /// Numbers that a policy must give.
        needs: Vec<&'static str>,
        /// Numbers that it may give, and `attacker` where it may name some.
        takes: Vec<&'static str>,
        needs_sensitive: bool,
    }
}

pub(crate) fn project(server: &Server) -> Result<Project> {
    let folder = &server.folder;
    let mut found = Found::default();
    let more = found.walk(folder.root(), DEPTH)?;
    found.files.sort();
    found.folders.sort();
    let is_policy = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    let mut all: Vec<Judged> =
        found.files.iter().filter(is_policy).filter_map(|path| policy_state(server, path)).collect();
    // What another policy published at the same place is not this one's.
    let owned: BTreeSet<String> =
        (all.iter()).filter(|one| !one.differs).filter_map(|one| one.state.certificate.clone()).collect();
    for one in all.iter_mut().filter(|one| one.differs) {
        if one.state.certificate.as_ref().is_some_and(|certificate| owned.contains(certificate)) {
            one.state.state = one.unpublished;
            (one.state.certificate, one.state.publication, one.state.report) = (None, None, None);
        }
    }
    let (mut policies, mut places) = (Vec::new(), Vec::new());
    for Judged { state, places: own, .. } in all {
        policies.push(state);
        places.extend(own);
    }
    let publications = publications(server, &found.files, &places, &policies);
    let data = data(server, &found, &places);
    let bytes = |path: &Path| path.metadata().map_or(0, |meta| meta.len());
    let named = |path: &PathBuf| Named { path: folder.name(path), bytes: bytes(path) };
    Ok(Project {
        folder: folder.root().to_string_lossy().into_owned(),
        check_only: server.check_only,
        policies,
        data,
        publications,
        files: found.files.iter().map(named).collect(),
        more,
        models: models(),
    })
}

/// What lies in a folder and those below it.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Found {
    fn walk(&mut self, folder: &Path, depth: usize) -> Result<bool> {
        let mut more = false;
        let mut entries: Vec<_> = std::fs::read_dir(folder)?.collect::<std::io::Result<_>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if self.files.len() == MOST {
                return Ok(true);
            }
            let kind = entry.file_type()?;
            if kind.is_dir() && depth > 0 {
                self.folders.push(entry.path());
                more |= self.walk(&entry.path(), depth - 1)?;
            } else if kind.is_file() {
                self.files.push(entry.path());
            }
        }
        Ok(more)
    }

    fn inside<'f>(&'f self, folder: &'f Path) -> impl Iterator<Item = &'f PathBuf> {
        self.files.iter().filter(move |file| file.parent() == Some(folder))
    }
}

/// The ending of a file's name, before `.gz` and `.zst`.
fn ending(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    plain.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_owned())
}

/// When a file, or anything in a folder, was changed last.
fn changed(path: &Path) -> Option<SystemTime> {
    let of = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
    let inside =
        std::fs::read_dir(path).into_iter().flatten().flatten().filter_map(|entry| of(&entry.path()));
    inside.chain(of(path).filter(|_| !path.is_dir())).max()
}

/// Whether a policy says something else than its certificate has of it. Reasons and what was agreed may be added later.
fn differs(policy: &Policy, certificate: &Path) -> bool {
    let text = bosket_io::read_text(certificate).unwrap_or_default();
    let Ok(certificate) = Certificate::read(&text) else { return true };
    !differences(&public_policy(policy, &certificate.files), &certificate.policy).is_empty()
}

/// A policy, and what it takes to judge it among others.
struct Judged {
    state: PolicyState,
    places: Option<Places>,
    /// It says something else than the certificate at its place.
    differs: bool,
    /// How far it is without what lies there.
    unpublished: State,
}

/// None for TOML that is no policy.
fn policy_state(server: &Server, path: &Path) -> Option<Judged> {
    let folder = &server.folder;
    let text = bosket_io::policy_file::read_text(path).ok()?;
    if !text.contains("[source") && !text.contains("[privacy") {
        return None;
    }
    let name = folder.name(path);
    let mut state = PolicyState {
        path: name.clone(),
        state: State::Broken,
        model: None,
        source: None,
        is_database: false,
        publication: None,
        certificate: None,
        report: None,
        has_mapping: false,
    };
    let Ok((policy, _)) = Policy::parse(&name, &text, &[]) else {
        return Some(Judged { state, places: None, differs: false, unpublished: State::Broken });
    };
    let places = Places::new(folder, path, &text, &policy);
    state.model = policy.privacy.as_ref().map(|privacy| privacy.model.name().to_owned());
    state.source.clone_from(&places.source);
    state.is_database = places.is_database;
    state.has_mapping = places.has_mapping;
    let unpublished = if server.known.fits(path, &places.read_now()) { State::Fits } else { State::Draft };
    state.state = unpublished;
    let mut differing = false;
    if let Some(certificate) = places.certificate.as_deref().filter(|path| path.exists()) {
        let published = changed(certificate);
        let mut read = places.sources.iter().chain(&places.hierarchies).chain(&places.publication);
        differing = differs(&policy, certificate);
        let is_newer = differing || read.any(|path| changed(path) > published);
        state.state = match is_newer {
            true => State::Changed,
            false if server.known.verified(certificate, &places.published_now()) => State::Verified,
            false => State::Published,
        };
        state.certificate = Some(folder.name(certificate));
        let file = places.publication.as_deref().map(|path| folder.name(path));
        state.publication = file.or_else(|| places.published_to.clone());
        let report = places.report.as_deref().filter(|path| path.exists());
        state.report = report.map(|path| folder.name(path));
    }
    Some(Judged { state, places: Some(places), differs: differing, unpublished })
}

fn publications(
    server: &Server,
    files: &[PathBuf],
    places: &[Places],
    policies: &[PolicyState],
) -> Vec<PublicationState> {
    let folder = &server.folder;
    let certificates = files.iter().filter(|path| path.to_string_lossy().ends_with("certificate.json"));
    let one = |certificate: &PathBuf| {
        let is_own = |own: &&Places| {
            let state = policies.iter().find(|state| state.path == folder.name(&own.policy));
            own.certificate.as_ref() == Some(certificate)
                && state.is_some_and(|state| state.certificate.is_some())
        };
        let own = places.iter().find(is_own);
        let name = certificate.to_string_lossy().into_owned();
        let beside = name.strip_suffix(".certificate.json").map(PathBuf::from);
        let publication = own.and_then(|own| own.publication.clone()).or(beside).filter(|path| path.exists());
        let signature = PathBuf::from(format!("{name}.minisig"));
        let policy = own.map(|own| folder.name(&own.policy));
        let of_policy = policies.iter().find(|state| Some(&state.path) == policy.as_ref());
        let stamp = published_now(Some(certificate), publication.as_deref());
        let is_newer = publication.as_deref().is_some_and(|path| changed(path) > changed(certificate));
        let state = match of_policy.map(|state| state.state) {
            Some(state @ (State::Changed | State::Verified)) => state,
            _ if is_newer => State::Changed,
            _ if server.known.verified(certificate, &stamp) => State::Verified,
            _ => State::Published,
        };
        PublicationState {
            certificate: folder.name(certificate),
            publication: publication.as_deref().map(|path| folder.name(path)),
            state,
            signature: signature.is_file().then(|| folder.name(&signature)),
            policy,
        }
    };
    certificates.map(one).collect()
}

fn data(server: &Server, found: &Found, places: &[Places]) -> Vec<DataState> {
    let folder = &server.folder;
    let published: BTreeSet<&Path> = places
        .iter()
        .flat_map(|own| own.publication.as_deref().into_iter().chain(own.report.as_deref()))
        .collect();
    let certified: BTreeSet<PathBuf> = (found.files.iter())
        .filter_map(|file| file.to_str()?.strip_suffix(".certificate.json").map(PathBuf::from))
        .collect();
    let is_out = |path: &Path| published.contains(path) || certified.contains(path);
    let is_kept = |path: &Path| {
        let below = path.strip_prefix(folder.root()).unwrap_or(path);
        below.components().any(|part| ["hierarchies", "private"].iter().any(|name| part.as_os_str() == *name))
    };
    let readers = |path: &Path| -> Vec<String> {
        let reads = |own: &&Places| own.sources.iter().any(|input| input.starts_with(path));
        places.iter().filter(reads).map(|own| folder.name(&own.policy)).collect()
    };
    let mut all: Vec<DataState> = Vec::new();
    let mut taken: BTreeSet<&Path> = BTreeSet::new();
    for path in &found.folders {
        if is_out(path) || is_kept(path) {
            taken.insert(path);
            continue;
        }
        let files: Vec<&PathBuf> =
            found.inside(path).filter(|file| !is_out(file) && !is_note(file)).collect();
        let of =
            |endings: &[&str]| files.iter().filter(|file| endings.contains(&ending(file).as_str())).count();
        let (tables, documents) = (of(&["csv", "parquet"]), of(&["json", "ndjson", "jsonl", "xml"]));
        let is_read = |own: &Places| own.sources.contains(path);
        // One table is a file, one document too; a policy among them says what they are.
        let alone = !files.iter().any(|file| ending(file) == "toml");
        let kind = match (tables, documents) {
            (2.., 0) if alone => DataKind::Tables,
            (0, 2..) if alone => DataKind::Documents,
            _ if places.iter().any(is_read) => {
                if tables > 0 {
                    DataKind::Tables
                } else {
                    DataKind::Documents
                }
            }
            _ => continue,
        };
        taken.insert(path);
        all.push(DataState {
            path: folder.name(path),
            kind,
            bytes: Some(files.iter().filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()),
            files: Some(files.len() as u64),
            policies: readers(path),
        });
    }
    let is_hierarchy = |path: &PathBuf| places.iter().any(|own| own.hierarchies.contains(path));
    for path in &found.files {
        let known = DATA.contains(&ending(path).as_str()) && !is_note(path);
        if !known || is_out(path) || is_kept(path) || taken.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        if is_hierarchy(path) && readers(path).is_empty() {
            continue;
        }
        let is_sqlite = ["sqlite", "sqlite3", "db"].contains(&ending(path).as_str());
        all.push(DataState {
            path: folder.name(path),
            kind: if is_sqlite { DataKind::Sqlite } else { DataKind::File },
            bytes: path.metadata().ok().map(|meta| meta.len()),
            files: None,
            policies: readers(path),
        });
    }
    for own in places.iter().filter(|own| own.is_database) {
        let Some(address) = own.source.clone() else { continue };
        let policy = folder.name(&own.policy);
        match all.iter_mut().find(|data| data.path == address) {
            Some(data) => data.policies.push(policy),
            None => all.push(DataState {
                path: address,
                kind: DataKind::Database,
                bytes: None,
                files: None,
                policies: vec![policy],
            }),
        }
    }
    all
}

/// What is written about data and is none.
fn is_note(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ["certificate.json", ".schema.json", ".minisig", ".pub"].iter().any(|end| name.ends_with(end))
}

fn models() -> Vec<ModelView> {
    const TAKES: [&str; 6] = ["k", "m", "n", "l", "group_size", "attacker"];
    let view = |model: &Model| ModelView {
        name: model.name(),
        title: model.title(),
        about: model.about(),
        needs: model.needs().iter().map(|number| number.name()).collect(),
        takes: TAKES.into_iter().filter(|key| model.takes(&format!("privacy.{key}"))).collect(),
        needs_sensitive: model.needs_sensitive(),
    };
    Model::ALL.iter().filter(|model| model.has_guarantee()).map(view).collect()
}
