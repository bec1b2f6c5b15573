//! The data that is measured on: generated once per run, or beside the repository. Everything is a policy in a folder, as
//! a user would have it, so that points need nothing else.

mod real;

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

use bosket_app::inspect::InspectRequest;
use bosket_generate::hospital::{self, Size};
use bosket_generate::students::{self, Kind};
use bosket_generate::tpch::Shape;
use bosket_generate::{baskets, tpch};
use bosket_io::Create;
use bosket_model::observe::Quiet;
use bosket_testkit::shared::shared;
use sha2::{Digest as _, Sha256};

use crate::kmn::of_the_paper;

use super::result::Dataset;

pub(super) use real::QUASI;

/// The seed of everything that is generated.
pub(crate) const SEED: u64 = 0;

/// What is said wherever figures of WebView stand.
pub(crate) const WEBVIEW_ACKNOWLEDGMENT: &str =
    "We wish to thank Blue Martini Software for contributing the KDD Cup 2000 data.";

/// The data of a run.
pub(crate) struct Datasets {
    folder: PathBuf,
    found: RefCell<Vec<Dataset>>,
}

/// What went wrong with a file, in words.
fn at<T>(path: &Path, result: std::io::Result<T>) -> Result<T, String> {
    result.map_err(|e| format!("{}: {e}", path.display()))
}

impl Datasets {
    /// Data below a folder.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Datasets { folder, found: RefCell::default() }
    }

    /// All that was used, by name.
    pub(crate) fn found(&self) -> Vec<Dataset> {
        let mut found = self.found.borrow().clone();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// A file below the folder, written once per run.
    fn file(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<PathBuf, String> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            at(folder, std::fs::create_dir_all(folder))?;
        }
        let mut out = BufWriter::new(at(&path, File::create(&path))?);
        at(&path, write(&mut out).and_then(|()| out.flush()))?;
        Ok(path)
    }

    fn text(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        self.file(name, |out| out.write_all(text.as_bytes()))
    }

    fn knows(&self, name: &str) -> bool {
        self.found.borrow().iter().any(|d| d.name == name)
    }

    /// Remembers a dataset with the hash of its file.
    fn record(&self, name: &str, origin: &str, path: &Path) -> Result<(), String> {
        if self.knows(name) {
            return Ok(());
        }
        let mut file = at(path, File::open(path))?;
        let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
        loop {
            let read = at(path, file.read(&mut buffer))?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            bytes += read as u64;
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let (name, origin) = (name.to_owned(), origin.to_owned());
        self.found.borrow_mut().push(Dataset { name, origin, sha256, bytes });
        Ok(())
    }

    /// A folder with generated records, their hierarchies and a policy; the policy's path.
    fn generated(
        &self,
        name: &str,
        (file, policy): (&str, &str),
        hierarchies: &[(&str, String)],
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<PathBuf, String> {
        let own = self.text(&format!("{name}/policy.toml"), policy)?;
        if !self.knows(name) {
            for (hierarchy, text) in hierarchies {
                self.text(&format!("{name}/hierarchies/{hierarchy}.csv"), text)?;
            }
            let data = self.file(&format!("{name}/{file}"), write)?;
            self.record(name, "generated", &data)?;
        }
        Ok(own)
    }

    /// Customers of TPC-H.
    pub(super) fn tpch(&self, customers: u64) -> Result<PathBuf, String> {
        self.tpch_shaped("tpch", Shape::Chain, customers)
    }

    /// Customers of TPC-H with prices beside items.
    pub(super) fn tpch_paper(&self, customers: u64) -> Result<PathBuf, String> {
        self.tpch_shaped("tpch-paper", Shape::Paper, customers)
    }

    fn tpch_shaped(&self, name: &str, shape: Shape, customers: u64) -> Result<PathBuf, String> {
        let text = of_the_paper(shape);
        let policy = ("data.ndjson", text.as_str());
        self.generated(&format!("{name}-{customers}"), policy, &tpch::hierarchies(shape), |mut out| {
            tpch::write_records(&mut out, shape, customers, &Quiet).map(drop)
        })
    }

    /// The same customers under k-anonymity.
    pub(super) fn tpch_clusters(&self, customers: u64) -> Result<PathBuf, String> {
        let own = self.tpch(customers)?;
        let policy = Shape::Chain.policy();
        let (attributes, _) = policy.split_once("[privacy]").unwrap_or((policy, ""));
        let text = format!(
            "{attributes}[privacy]\nmodel = \"k-anonymity\"\nk = 20\n[method]\nalgorithm = \"miracle\"\n\
             [publish]\npath = \"published.ndjson\"\n"
        );
        let path = own.with_file_name("clusters.toml");
        at(&path, std::fs::write(&path, text))?;
        Ok(path)
    }

    /// Students of a kind.
    pub(super) fn students(&self, kind: Kind, number: u64) -> Result<PathBuf, String> {
        let name = match kind {
            Kind::School => "school",
            Kind::SyntheticS => "syntheticS",
            Kind::SyntheticT => "syntheticT",
        };
        let policy = students::document_policy(kind);
        let hierarchies = students::hierarchies(kind);
        self.generated(&format!("{name}-{number}"), ("data.ndjson", &policy), &hierarchies, |mut out| {
            students::write_records(&mut out, kind, number, SEED).map(drop)
        })
    }

    /// A hospital's tables, by the draft of its preset.
    pub(super) fn hospital(&self, size: Size) -> Result<PathBuf, String> {
        let name = format!("hospital-{}-{}", size.people, size.events);
        let folder = self.folder.join(&name);
        let create = Create { force: true, ..Create::default() };
        hospital::write(&folder, size, create, &Quiet).map_err(|failure| failure.to_string())?;
        self.record(&name, "generated", &folder.join("hospital.db"))?;
        self.draft(&name, &folder.join("tables"), Some("omop"))
    }

    /// The policy that `inspect` drafts, with what is sensitive published as it is.
    fn draft(&self, name: &str, data: &Path, preset: Option<&str>) -> Result<PathBuf, String> {
        let draft = self.text(&format!("drafts/{name}.toml"), "")?;
        let request = InspectRequest {
            data: data.to_owned(),
            preset: preset.map(str::to_owned),
            draft: Some(draft.clone()),
            force: true,
            ..InspectRequest::default()
        };
        let _ = bosket_app::inspect(&request, &Quiet).map_err(|failure| failure.to_string())?;
        let text = at(&draft, std::fs::read_to_string(&draft))?;
        self.text(&format!("drafts/{name}.toml"), &text.replace("\"undecided\"", "\"nothing\""))
    }

    /// Baskets; with a balanced hierarchy of so many children in place of their own.
    pub(super) fn baskets(&self, number: u64, fanout: Option<usize>) -> Result<PathBuf, String> {
        let name = format!("baskets-{number}");
        let hierarchies = [("item", baskets::hierarchy())];
        let own =
            self.generated(&name, ("data.txt", &sets("data.txt", ITEMS)), &hierarchies, |mut out| {
                baskets::write_records(&mut out, number, SEED, &Quiet).map(drop)
            })?;
        let Some(children) = fanout else { return Ok(own) };
        self.text(&format!("{name}/fanout-{children}.toml"), &sets("data.txt", &balanced(children)))
    }
}

const ITEMS: &str = "\"hierarchies/item.csv\"";

fn balanced(children: usize) -> String {
    format!("{{ build = \"fanout\", fanout = {children} }}")
}

/// A policy for sets, with the paper's defaults and nothing of ours.
fn sets(path: &str, hierarchy: &str) -> String {
    format!(
        "version = 1\n[source]\nformat = \"transactions\"\npath = '{path}'\n\
         [[attribute]]\npath = \"item\"\nrole = \"quasi\"\nhierarchy = {hierarchy}\n\
         [privacy]\nmodel = \"km\"\nk = 5\nm = 3\n[method]\nalgorithm = \"aa\"\nimprove = false\n\
         [publish]\npath = \"published.txt\"\n"
    )
}

/// A file beside the repository, or that it is not there.
fn beside(path: &str) -> Result<PathBuf, String> {
    let missing = || format!("shared/{path} is not beside the repository");
    let found = shared(path).ok_or_else(missing)?;
    at(&found, std::fs::canonicalize(&found))
}
