//! What lies in the folder: policies, data, publications, and how they stand to each other.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bosket_model::policy::Policy;
use serde::Serialize;

use crate::error::Result;
use crate::folder::Folder;

/// More are not listed.
const MOST: usize = 500;
/// Folders in folders that are looked into.
const DEPTH: usize = 3;

/// The folder as the first page shows it.
#[derive(Serialize)]
pub(crate) struct Project {
    folder: String,
    /// Whether only publications are checked here.
    check_only: bool,
    policies: Vec<PolicyState>,
    files: Vec<Named>,
    certificates: Vec<Named>,
    /// Whether there was more than is listed.
    more: bool,
}

#[derive(Serialize)]
struct Named {
    path: String,
    bytes: u64,
}

#[derive(Serialize)]
struct PolicyState {
    path: String,
    /// `broken`, `draft`, `published` or `changed`.
    state: &'static str,
    model: Option<String>,
    source: Option<String>,
    publication: Option<String>,
    certificate: Option<String>,
    report: Option<String>,
}

pub(crate) fn project(folder: &Folder, check_only: bool) -> Result<Project> {
    let mut paths = Vec::new();
    let more = walk(folder.root(), DEPTH, &mut paths)?;
    paths.sort();
    let mut project = Project {
        folder: folder.root().to_string_lossy().into_owned(),
        check_only,
        policies: Vec::new(),
        files: Vec::new(),
        certificates: Vec::new(),
        more,
    };
    for path in paths {
        let name = folder.name(&path);
        let named = || Named { path: name.clone(), bytes: path.metadata().map_or(0, |meta| meta.len()) };
        match path.extension().and_then(|ext| ext.to_str()) {
            Some("toml") => project.policies.extend(state(folder, &path, &name)),
            _ if name.ends_with(".certificate.json") => project.certificates.push(named()),
            _ => project.files.push(named()),
        }
    }
    Ok(project)
}

fn walk(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<bool> {
    let mut more = false;
    let mut entries: Vec<_> = std::fs::read_dir(folder)?.collect::<std::io::Result<_>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if paths.len() == MOST {
            return Ok(true);
        }
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            more |= walk(&entry.path(), depth - 1, paths)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
    Ok(more)
}

/// None for TOML that is no policy.
fn state(folder: &Folder, path: &Path, name: &str) -> Option<PolicyState> {
    let text = bosket_io::policy_file::read_text(path).ok()?;
    if !text.contains("[source") && !text.contains("[privacy") {
        return None;
    }
    let mut state = PolicyState {
        path: name.to_owned(),
        state: "broken",
        model: None,
        source: None,
        publication: None,
        certificate: None,
        report: None,
    };
    let Ok((policy, _)) = Policy::parse(name, &text, &[]) else { return Some(state) };
    let own = path.parent().unwrap_or(folder.root());
    let seen = |path: &str| folder.place_from(own, path).ok();
    state.model = policy.privacy.as_ref().map(|privacy| privacy.model.name().to_owned());
    let source = policy.source.as_ref().and_then(|source| source.path.as_deref()).and_then(seen);
    state.source = source.as_deref().map(|path| folder.name(path));
    state.state = "draft";
    let Some(publish) = &policy.publish else { return Some(state) };
    let publication = publish.path.as_deref().and_then(seen);
    let certificate = match (&publish.certificate, &publish.path) {
        (Some(certificate), _) => seen(certificate),
        (None, Some(path)) => seen(&format!("{path}.certificate.json")),
        (None, None) => None,
    };
    if let Some(certificate) = certificate.filter(|path| path.exists()) {
        let changed = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
        let published: Option<SystemTime> = changed(&certificate);
        let newer = [Some(path), source.as_deref(), publication.as_deref()];
        let is_newer = newer.into_iter().flatten().any(|path| changed(path) > published);
        state.state = if is_newer { "changed" } else { "published" };
        state.certificate = Some(folder.name(&certificate));
        state.publication = publication.as_deref().map(|path| folder.name(path));
        let report = publish.report.as_deref().and_then(seen).filter(|path| path.exists());
        state.report = report.as_deref().map(|path| folder.name(path));
    }
    Some(state)
}
