//! Example data of every family, and observers that give up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use bosket_app::PolicyAt;
use bosket_app::anonymize::AnonymizeRequest;
use bosket_generate::{baskets, clinic, sensitive_tree, students};
use bosket_io::Create;
use bosket_model::observe::{Observer, Quiet};
use tempfile::TempDir;

/// Data of a family with a policy for it.
pub(crate) struct Example {
    pub(crate) name: &'static str,
    pub(crate) folder: TempDir,
    pub(crate) policy: &'static str,
    pub(crate) sets: &'static [&'static str],
}

impl Example {
    fn new(
        name: &'static str,
        policy: &'static str,
        sets: &'static [&'static str],
        write: impl FnOnce(&Path),
    ) -> Self {
        let folder = TempDir::new().expect("a folder");
        write(folder.path());
        Example { name, folder, policy, sets }
    }

    pub(crate) fn request(&self, more: &[&str]) -> AnonymizeRequest {
        let sets = self.sets.iter().chain(more).map(ToString::to_string).collect();
        AnonymizeRequest {
            policy: PolicyAt { path: self.folder.path().join(self.policy), sets },
            ..AnonymizeRequest::default()
        }
    }

    /// All files with the hash of their content.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let hash = bosket_io::fingerprint::of_file(&path, &Quiet).expect("a file");
                    files.insert(path, hash);
                }
            }
        }
        files
    }
}

pub(crate) fn clinic(people: u64) -> Example {
    Example::new("clinic", "policy.toml", &[], |folder| {
        clinic::write(folder, people, 0, Create::default()).expect("written");
    })
}

/// One example per family, and per way to read one.
pub(crate) fn families() -> Vec<Example> {
    let shape = sensitive_tree::Shape { fanout: 3, depth: 4, levels: 2, least: 1, most: 4, group_size: 3 };
    let tree = |folder: &Path| {
        sensitive_tree::write(folder, &shape, 0, Create::default()).expect("written");
    };
    let of_students = |folder: &Path| {
        students::write(folder, students::Kind::School, 150, 0, Create::default(), &Quiet).expect("written");
    };
    vec![
        clinic(250),
        Example::new("baskets", "policy.toml", &[], |folder| {
            baskets::write(folder, 400, 0, Create::default(), &Quiet).expect("written");
        }),
        Example::new("students", "policy.toml", &[], of_students),
        Example::new("anatomized students", "policy.toml", &["publish.anatomize=true"], of_students),
        Example::new("dissected JSON", "policy.toml", &[], tree),
        Example::new("dissected XML", "policy-xml.toml", &[], tree),
    ]
}

/// Gives up when it has been asked so often.
pub(crate) struct Impatient {
    pub(crate) asks: u64,
    pub(crate) asked: AtomicU64,
}

impl Impatient {
    pub(crate) fn after(asks: u64) -> Self {
        Impatient { asks, asked: AtomicU64::new(0) }
    }
}

impl Observer for Impatient {
    fn stage(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.asks
    }
}
