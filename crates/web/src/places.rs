//! Where the files of a policy are.

use std::path::{Path, PathBuf};

use bosket_model::policy::{Format, Policy};

use crate::folder::Folder;
use crate::policy::inputs;
use crate::runs::Stamp;

/// The files that a policy reads and writes, as far as they may be touched.
pub(crate) struct Places {
    pub(crate) policy: PathBuf,
    /// Its source and tables.
    pub(crate) sources: Vec<PathBuf>,
    pub(crate) hierarchies: Vec<PathBuf>,
    /// Where the data is; the address of a database.
    pub(crate) source: Option<String>,
    pub(crate) is_database: bool,
    /// Where it publishes; none for a database.
    pub(crate) publication: Option<PathBuf>,
    /// The address that it publishes to.
    pub(crate) published_to: Option<String>,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    /// Whether a run keeps which record became which.
    pub(crate) has_mapping: bool,
}

impl Places {
    /// Of a policy that can be read; `text` is its text.
    pub(crate) fn new(folder: &Folder, real: &Path, text: &str, policy: &Policy) -> Self {
        let own = real.parent().unwrap_or(folder.root());
        let seen = |path: &str| folder.place_from(own, path).ok();
        let source = policy.source.as_ref();
        let url = source.and_then(|source| source.url.clone());
        let path = source.and_then(|source| source.path.as_deref()).and_then(seen);
        let tables = source
            .into_iter()
            .flat_map(|source| &source.tables)
            .filter_map(|table| seen(table.path.as_deref()?));
        let first =
            path.or_else(|| tables.map(|table| table.parent().map(Path::to_owned).unwrap_or(table)).next());
        let publish = policy.publish.as_ref();
        let publication = publish.and_then(|publish| publish.path.as_deref()).and_then(seen);
        let beside = |path: &PathBuf| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some(path.with_file_name(format!("{name}.certificate.json")))
        };
        let certificate = match publish.and_then(|publish| publish.certificate.as_deref()) {
            Some(named) => seen(named),
            None if source.is_some_and(|source| source.format == Format::Postgres) => {
                let stem =
                    real.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                Some(own.join(format!("{stem}.certificate.json")))
            }
            None => publication.as_ref().and_then(beside),
        };
        let (sources, hierarchies) = inputs(text);
        let all = |paths: Vec<String>| paths.iter().filter_map(|path| seen(path)).collect();
        Places {
            policy: real.to_owned(),
            sources: all(sources),
            hierarchies: all(hierarchies),
            is_database: url.is_some(),
            source: url.or_else(|| first.as_deref().map(|path| folder.name(path))),
            publication,
            published_to: publish.and_then(|publish| publish.url.clone()),
            certificate,
            report: publish.and_then(|publish| publish.report.as_deref()).and_then(seen),
            has_mapping: publish.is_some_and(|publish| publish.mapping.is_some()),
        }
    }

    /// What the policy and all that it reads are like.
    pub(crate) fn read_now(&self) -> Stamp {
        Stamp::of(self.read())
    }

    /// The policy and all that it reads.
    pub(crate) fn read(&self) -> impl Iterator<Item = &Path> {
        let inputs = self.sources.iter().chain(&self.hierarchies).map(PathBuf::as_path);
        std::iter::once(self.policy.as_path()).chain(inputs)
    }

    /// What is published is like.
    pub(crate) fn published_now(&self) -> Stamp {
        published_now(self.certificate.as_deref(), self.publication.as_deref())
    }
}

pub(crate) fn published_now(certificate: Option<&Path>, publication: Option<&Path>) -> Stamp {
    Stamp::of(certificate.into_iter().chain(publication))
}
