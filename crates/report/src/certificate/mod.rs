//! The certificate: what is claimed about a publication, and by what it is known.
//!
//! It is public like the publication. It holds no value of the input but what k people have (`legend`), no place of the source and no hash that would
//! confirm a guess about the input. Its bytes depend on the run alone: no clock, keys sorted, numbers in their shortest
//! form. The digest in it finds accidents; it is no signature.

mod canonical;
mod consistent;
mod differences;
mod limits;
mod policy;
mod read;
mod schema;

use bosket_model::policy::{Format, Policy};
use bosket_model::{Diagnostic, Fingerprint};
use bosket_verify::{Claim, guess};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use canonical::normal;
pub use differences::differences;
pub use limits::not_claimed;
pub use policy::{public_path, public_policy};
pub use schema::json_schema;

/// Version of the certificate's form.
pub const FORMAT: u64 = 1;

/// What a publication is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One file, and perhaps others beside it.
    Document,
    /// The files of a folder.
    Folder,
    /// One document in several files: a folder of parts.
    Parts,
    /// The tables of a database.
    Database,
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 4] = [Form::Document, Form::Folder, Form::Parts, Form::Database];

    /// What a policy publishes.
    pub fn of(policy: &Policy) -> Form {
        let dissected = policy.privacy.as_ref().is_some_and(|p| p.model.is_apart());
        let apart = dissected || policy.anatomizes();
        let linked = policy.source.as_ref().is_some_and(|s| !s.tables.is_empty());
        match policy.source.as_ref().map(|s| s.format) {
            Some(Format::Postgres) => Form::Database,
            Some(Format::Csv | Format::Parquet) if linked || apart => Form::Folder,
            _ => Form::Document,
        }
    }

    /// Whether a policy may publish this: its own form, or in parts what it publishes as a document.
    pub fn fits(self, policy: &Policy) -> bool {
        let format = policy.source.as_ref().map(|s| s.format);
        match (self, Form::of(policy)) {
            (Form::Parts, Form::Document) => matches!(format, Some(Format::Parquet | Format::Ndjson)),
            (own, expected) => own == expected,
        }
    }

    /// What a certificate calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Document => "document",
            Form::Folder => "folder",
            Form::Parts => "parts",
            Form::Database => "database",
        }
    }
}

/// A hierarchy that was given as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenHierarchy {
    /// Its path as the policy has it; its name alone where that is absolute.
    pub path: String,
    /// In hexadecimal digits.
    pub sha256: String,
    /// The attributes that it serves.
    pub attributes: Vec<String>,
}

/// What a certificate is made of.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The policy of the run.
    pub policy: &'a Policy,
    /// What is claimed; nothing where the model has no guarantee.
    pub claim: Option<&'a Claim>,
    /// What a reader of the claim should know about its limits.
    pub caveats: Vec<Diagnostic>,
    /// What was published.
    pub files: Vec<Fingerprint>,
    /// The hierarchies that were given as files.
    pub hierarchies: Vec<GivenHierarchy>,
    /// How many records were published.
    pub records: u64,
    /// What the publication lost, by metric.
    pub loss: Value,
    /// How much was suppressed.
    pub suppressed: Value,
    /// How many rows and values are published of how many.
    pub kept: Value,
    /// How many people `source.where` and `source.sample` leave; none where neither is given.
    pub selected: Option<u64>,
    /// What published groups of values stand for; null where none was made of the data.
    pub legend: Value,
    /// Earlier releases about the same people, each by its files, together with which the claim was verified.
    pub joint: Vec<Vec<Fingerprint>>,
}

/// What is claimed about a publication, and by what it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The tool that made the publication, and its version.
    pub tool: String,
    /// The policy without places and lists of values.
    pub policy: Value,
    /// What broke ties.
    pub seed: u64,
    /// How many records were published.
    pub records: u64,
    /// What is claimed; null if nothing is.
    pub claim: Value,
    /// The same in words.
    pub sentence: String,
    /// Whether the publication was read again and the claim found to hold.
    pub verified: bool,
    /// What verified it, and its version.
    pub verifier: String,
    /// What the publication is made of.
    pub form: Form,
    /// Its files or tables; of a document the document itself comes first.
    pub files: Vec<Fingerprint>,
    /// The hierarchies that were given as files.
    pub hierarchies: Vec<GivenHierarchy>,
    /// What the publication lost, by metric.
    pub loss: Value,
    /// How much was suppressed.
    pub suppressed: Value,
    /// How many rows and values are published of how many; null in certificates of versions that did not count them.
    pub kept: Value,
    /// How many people `source.where` and `source.sample` leave; none where neither is given.
    pub selected: Option<u64>,
    /// What published groups of values stand for; null where none was made of the data.
    pub legend: Value,
    /// Earlier releases about the same people, each by its files, together with which the claim was verified.
    pub joint: Vec<Vec<Fingerprint>>,
    /// What was found with the input about values that labels hide; null where the policy does not bound that.
    pub guess: Value,
    /// What nobody should take for claimed.
    pub not_claimed: Vec<String>,
    /// SHA-256 of the canonical form of everything else.
    pub digest: String,
}

/// The words for a publication without a guarantee.
const NOTHING: &str = "nothing is claimed";

/// What a run under a policy has found about the values that labels hide. No run publishes anything where that was not found.
fn guess_found(policy: &Policy) -> Value {
    policy.guess().map_or(Value::Null, |share| {
        json!({"share": share, "sentence": guess::sentence(share), "checked": guess::checked(policy)})
    })
}

impl Certificate {
    /// The certificate of a run.
    pub fn new(facts: Facts<'_>) -> Self {
        let Facts {
            policy,
            claim,
            caveats,
            files,
            hierarchies,
            records,
            loss,
            suppressed,
            kept,
            selected,
            legend,
            joint,
        } = facts;
        let mut certificate = Certificate {
            tool: format!("bosket {}", env!("CARGO_PKG_VERSION")),
            policy: public_policy(policy, &files),
            seed: policy.seed,
            records,
            claim: claim.map_or(Value::Null, |claim| normal(&claim.to_json())),
            sentence: claim.map_or_else(|| NOTHING.to_owned(), Claim::sentence),
            verified: claim.is_some(),
            verifier: format!("bosket-verify {}", bosket_verify::VERSION),
            form: Form::of(policy),
            files,
            hierarchies,
            loss: normal(&loss),
            suppressed: normal(&suppressed),
            kept: normal(&kept),
            selected,
            legend: normal(&legend),
            not_claimed: not_claimed(policy, claim, &caveats, joint.len()),
            guess: normal(&guess_found(policy)),
            joint,
            digest: String::new(),
        };
        certificate.digest = certificate.expected_digest();
        certificate
    }

    /// The same of a publication in parts.
    pub fn in_parts(mut self) -> Self {
        self.form = Form::Parts;
        self.digest = self.expected_digest();
        self
    }

    /// Whether it claims this and nothing else.
    pub fn claims(&self, claim: &Claim) -> bool {
        self.claim == normal(&claim.to_json()) && self.sentence == claim.sentence()
    }

    /// The certificate as JSON, keys sorted.
    pub fn to_json(&self) -> Value {
        let mut all = self.content();
        all["digest"] = json!(self.digest);
        normal(&all)
    }

    /// The certificate as it is written to a file.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.to_json())
    }

    /// What the digest has to be: the SHA-256 of everything else in its canonical form (RFC 8785).
    pub fn expected_digest(&self) -> String {
        Sha256::digest(canonical::text(&self.content())).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn content(&self) -> Value {
        let file = |f: &Fingerprint| json!({"name": f.name, "sha256": f.sha256});
        let hierarchy =
            |h: &GivenHierarchy| json!({"path": h.path, "sha256": h.sha256, "attributes": h.attributes});
        let mut all = json!({
            "certificate": FORMAT,
            "tool": self.tool,
            "policy": self.policy,
            "seed": self.seed,
            "records": self.records,
            "claim": self.claim,
            "sentence": self.sentence,
            "verified": self.verified,
            "verifier": self.verifier,
            "publication": {
                "form": self.form.name(),
                "files": self.files.iter().map(file).collect::<Vec<_>>(),
            },
            "hierarchies": self.hierarchies.iter().map(hierarchy).collect::<Vec<_>>(),
            "loss": self.loss,
            "suppressed": self.suppressed,
            "not_claimed": self.not_claimed,
        });
        if !self.kept.is_null() {
            all["kept"] = self.kept.clone();
        }
        if let Some(selected) = self.selected {
            all["selected"] = json!(selected);
        }
        if !self.legend.is_null() {
            all["legend"] = self.legend.clone();
        }
        if !self.joint.is_empty() {
            let release =
                |files: &Vec<Fingerprint>| json!({"files": files.iter().map(file).collect::<Vec<_>>()});
            all["joint"] = self.joint.iter().map(release).collect();
        }
        if !self.guess.is_null() {
            all["guess"] = self.guess.clone();
        }
        all
    }
}
