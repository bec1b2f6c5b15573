//! Example data of every family, and observers that give up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, Release, Verified, anonymize, verify};
use bosket_generate::{baskets, clinic, sensitive_tree, students};
use bosket_io::Create;
use bosket_model::Result;
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
            policy: PolicyAt { path: self.folder.path().join(self.policy), sets, ..PolicyAt::default() },
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

/// The same for somebody who knows any two values of a person, and one relation.
pub(crate) fn plain_clinic(people: u64) -> Example {
    let example = clinic(people);
    std::fs::write(example.folder.path().join("policy.toml"), clinic::plain_policy()).expect("written");
    example
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

/// Files of a case, with the policy `p.toml`.
pub(crate) struct Case(TempDir);

impl Case {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        Case(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn policy(&self, sets: &[&str]) -> PolicyAt {
        PolicyAt {
            path: self.path().join("p.toml"),
            sets: sets.iter().map(ToString::to_string).collect(),
            ..PolicyAt::default()
        }
    }

    pub(crate) fn publish(&self, sets: &[&str]) -> Result<()> {
        self.release(sets).map(|_| ())
    }

    pub(crate) fn release(&self, sets: &[&str]) -> Result<Release> {
        let request = AnonymizeRequest { policy: self.policy(sets), ..AnonymizeRequest::default() };
        anonymize(&request, &Quiet).map(|warned| warned.value)
    }

    /// By the certificate alone.
    pub(crate) fn by_certificate(&self, publication: &str, certificate: &str) -> Verified {
        let request = VerifyRequest {
            publication: self.path().join(publication),
            certificate: Some(self.path().join(certificate)),
            ..VerifyRequest::default()
        };
        verify(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value
    }

    pub(crate) fn look(&self, publication: &str, sets: &[&str], against: &str) -> Verified {
        let request = VerifyRequest {
            publication: self.path().join(publication),
            policy: Some(self.policy(sets)),
            against: Some(self.path().join(against)),
            ..VerifyRequest::default()
        };
        verify(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("a file")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("written");
    }
}

/// What `--against` found.
pub(crate) fn untruths(verified: &Verified) -> Vec<String> {
    verified.untruths.iter().flatten().map(|untruth| untruth.message.clone()).collect()
}
