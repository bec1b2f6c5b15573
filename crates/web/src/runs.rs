//! What runs leave for later questions: which record became which, and reports. It lies in folders of the jobs, which nobody
//! else can read and which end with the server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use crate::error::{ApiError, Result};
use crate::jobs::locked;
use crate::shape::shape;

/// The report in a job's folder.
pub(crate) const REPORT: &str = "report.html";
/// The mapping in a job's folder.
pub(crate) const MAPPING: &str = "mapping.csv";

shape! {
    answer
    /// A report as pieces of a page.
    pub(crate) struct RunView {
        /// The report without what is private in it.
        report: String,
        /// Records before and after; none where values were not asked for.
        records: Option<String>,
        /// What was agreed and decided, for those who sign.
        annex: Option<String>,
    }
}

/// The report that a job wrote. Only such are shown: what anybody else wrote is not taken for a piece of a page.
pub(crate) fn view(folder: &Path) -> Result<RunView> {
    let place = folder.join(REPORT);
    if !place.is_file() {
        return Err(ApiError::missing("this job left no report"));
    }
    let text = bosket_io::read_text(&place)?;
    let main = text.split_once("<main>").and_then(|(_, rest)| rest.rsplit_once("</main>"));
    let (main, _) = main.ok_or_else(|| ApiError::bad("this is no report of bosket"))?;
    let (main, annex) = section(main, "annex");
    let (report, private) = section(&main, "private");
    let Some(private) = private else { return Ok(RunView { report, records: None, annex }) };
    // Hierarchies are on their own page.
    let mut pieces = private.split("<h3>");
    let first = pieces.next().unwrap_or_default();
    let records: String =
        pieces.filter(|piece| piece.starts_with("Record ")).map(|piece| format!("<h3>{piece}")).collect();
    // Without records it says why there are none.
    let records = if records.is_empty() { first.replace("<h2>Private part</h2>", "") } else { records };
    Ok(RunView { report, records: Some(records), annex })
}

/// A page without a section of it, and that section, by its class. Sections have none inside.
fn section(main: &str, class: &str) -> (String, Option<String>) {
    let begin = format!("<section class=\"{class}\"");
    let found = main.split_once(&begin).and_then(|(before, rest)| {
        let (_, rest) = rest.split_once('>')?;
        let (inside, behind) = rest.split_once("</section>")?;
        Some((format!("{before}{behind}"), Some(inside.to_owned())))
    });
    found.unwrap_or_else(|| (main.to_owned(), None))
}

/// What files were like at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl Stamp {
    pub(crate) fn of<'p>(files: impl IntoIterator<Item = &'p Path>) -> Self {
        let mut all = Vec::new();
        for file in files {
            all.push(stamped(file));
            let inside = std::fs::read_dir(file).into_iter().flatten().flatten();
            all.extend(inside.map(|entry| stamped(&entry.path())));
        }
        all.sort();
        Stamp(all)
    }

    /// Whether all of another is in it, as it was.
    pub(crate) fn has(&self, other: &Stamp) -> bool {
        other.0.iter().all(|one| self.0.contains(one))
    }
}

fn stamped(file: &Path) -> (PathBuf, u64, Option<SystemTime>) {
    let found = file.metadata().ok();
    let (bytes, changed) =
        (found.as_ref().map_or(0, std::fs::Metadata::len), found.and_then(|meta| meta.modified().ok()));
    (file.to_owned(), bytes, changed)
}

/// What was found out since the server began, and what the files were like then.
#[derive(Default)]
pub(crate) struct Known {
    /// Policies that fit their data.
    fits: Mutex<BTreeMap<PathBuf, Stamp>>,
    /// Publications that were found to hold, by their certificates.
    verified: Mutex<BTreeMap<PathBuf, Stamp>>,
    /// Per policy the mapping of its last run, and what the run published.
    mappings: Mutex<BTreeMap<PathBuf, (PathBuf, Stamp)>>,
}

impl Known {
    pub(crate) fn set_fits(&self, policy: &Path, stamp: Stamp) {
        locked(&self.fits).insert(policy.to_owned(), stamp);
    }

    pub(crate) fn fits(&self, policy: &Path, stamp: &Stamp) -> bool {
        locked(&self.fits).get(policy) == Some(stamp)
    }

    pub(crate) fn set_verified(&self, certificate: &Path, stamp: Stamp) {
        locked(&self.verified).insert(certificate.to_owned(), stamp);
    }

    /// Whether it was found to hold and nothing changed since; none where nobody looked.
    pub(crate) fn verified(&self, certificate: &Path, stamp: &Stamp) -> bool {
        locked(&self.verified).get(certificate) == Some(stamp)
    }

    pub(crate) fn forget_verified(&self, certificate: &Path) {
        locked(&self.verified).remove(certificate);
    }

    pub(crate) fn keep_mapping(&self, policy: &Path, mapping: PathBuf, published: Stamp) {
        locked(&self.mappings).insert(policy.to_owned(), (mapping, published));
    }

    /// The mapping of what is published, if it is still what the run made.
    pub(crate) fn mapping(&self, policy: &Path, published: &Stamp) -> Option<PathBuf> {
        let all = locked(&self.mappings);
        all.get(policy)
            .filter(|(file, made)| made == published && file.is_file())
            .map(|(file, _)| file.clone())
    }
}
