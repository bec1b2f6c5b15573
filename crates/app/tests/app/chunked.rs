//! Records in chunks: the same bytes as with all of them in memory, or a promise that is kept all the same.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::verify::VerifyRequest;
use bosket_app::{PolicyAt, Release, Settings, Verified, anonymize, verify};
use bosket_generate::{baskets, clinic};
use bosket_io::Create;
use bosket_model::observe::Quiet;
use bosket_model::{Fault, Result};
use bosket_testkit::dice::Dice;
use serde_json::Value;
use tempfile::TempDir;

use crate::util::Impatient;

/// A folder with data, and the policy to publish it.
pub(crate) struct Chunky {
    pub(crate) folder: TempDir,
    pub(crate) policy: String,
}

impl Chunky {
    pub(crate) fn request(&self, sets: &[&str], out: &str, chunk: Option<usize>) -> AnonymizeRequest {
        let mut sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        sets.push(format!("publish.path={out}"));
        AnonymizeRequest {
            policy: PolicyAt {
                path: self.folder.path().join("p.toml"),
                text: Some(self.policy.clone()),
                sets,
                ..PolicyAt::default()
            },
            settings: Settings { chunk: chunk.and_then(NonZeroUsize::new), ..Settings::default() },
            ..AnonymizeRequest::default()
        }
    }

    pub(crate) fn publish(&self, sets: &[&str], out: &str, chunk: Option<usize>) -> Result<Release> {
        anonymize(&self.request(sets, out, chunk), &Quiet).map(|warned| warned.value)
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).expect("a file")
    }

    /// What a certificate says, but for names and places.
    pub(crate) fn certificate(&self, name: &str) -> Value {
        let text = self.bytes(&format!("{name}.certificate.json"));
        let mut value: Value = serde_json::from_slice(&text).expect("JSON");
        for key in ["policy", "files", "digest", "created", "publication"] {
            value.as_object_mut().expect("an object").remove(key);
        }
        value
    }

    pub(crate) fn verify(&self, sets: &[&str], name: &str, chunk: Option<usize>) -> Verified {
        let request = VerifyRequest {
            publication: self.folder.path().join(name),
            policy: Some(self.request(sets, "nowhere", None).policy),
            settings: Settings { chunk: chunk.and_then(NonZeroUsize::new), ..Settings::default() },
            ..VerifyRequest::default()
        };
        verify(&request, &Quiet).unwrap_or_else(|failure| panic!("{failure}")).value
    }

    pub(crate) fn same(&self, sets: &[&str], chunks: &[usize]) {
        self.same_bytes(sets, chunks, true);
    }

    /// The same bytes; and, where that adds up, the same figures about what is kept.
    pub(crate) fn same_bytes(&self, sets: &[&str], chunks: &[usize], kept: bool) {
        let whole = self.publish(sets, "whole.txt", None).unwrap_or_else(|failure| panic!("{failure}"));
        for (i, &chunk) in chunks.iter().enumerate() {
            let out = format!("chunk{i}.txt");
            let release = self.publish(sets, &out, Some(chunk)).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(self.bytes("whole.txt") == self.bytes(&out), "{sets:?}: chunks of {chunk} differ");
            assert_eq!(release.records, whole.records);
            assert_eq!(release.kept.classes, whole.kept.classes, "{sets:?} {chunk}");
            if kept {
                assert_eq!(release.kept, whole.kept, "{sets:?} {chunk}");
            }
            assert_eq!(release.attributes, whole.attributes);
            assert_eq!(release.figures.to_json(), whole.figures.to_json(), "{sets:?} {chunk}");
            let (ours, theirs) = (self.certificate(&out), self.certificate("whole.txt"));
            assert_eq!(ours["claim"], theirs["claim"]);
            assert_eq!(ours["records"], theirs["records"]);
            std::fs::remove_file(self.folder.path().join(&out)).expect("there");
            std::fs::remove_file(self.folder.path().join(format!("{out}.certificate.json"))).expect("there");
        }
        let verdicts = [None, Some(97)].map(|chunk| self.verify(sets, "whole.txt", chunk));
        assert!(verdicts.iter().all(Verified::holds));
        let [ours, theirs] = verdicts.map(|verdict| verdict.to_json());
        assert_eq!(ours["records"], theirs["records"]);
        assert!(theirs["recount"]["not_covered"].as_array().is_some_and(Vec::is_empty), "{theirs}");
        // In chunks, no more pieces are counted again than are drawn.
        assert!(theirs["recount"]["complete"] == false || ours["recount"]["complete"] == true);
        std::fs::remove_file(self.folder.path().join("whole.txt")).expect("there");
        std::fs::remove_file(self.folder.path().join("whole.txt.certificate.json")).expect("there");
    }
}

fn shop(transactions: u64) -> Chunky {
    let folder = TempDir::new().expect("a folder");
    baskets::write(folder.path(), transactions, 3, Create::default(), &Quiet).expect("written");
    Chunky { policy: baskets::POLICY.replace("[publish]\npath = \"published.txt\"\n", "[publish]\n"), folder }
}

fn hospital(people: u64) -> Chunky {
    let folder = TempDir::new().expect("a folder");
    clinic::write(folder.path(), people, 3, Create::default()).expect("written");
    let kept = |line: &&str| {
        !["recoding", "report", "mapping", "path = \"published"]
            .iter()
            .any(|word| line.trim_start().starts_with(word))
    };
    let text = clinic::plain_policy();
    let policy: Vec<&str> = text.lines().filter(kept).collect();
    Chunky { policy: policy.join("\n"), folder }
}

#[test]
fn aa_publishes_the_same_bytes_from_chunks() {
    let shop = shop(3_000);
    for sets in [
        &["privacy.m=2"][..],
        &["privacy.m=3"],
        &["privacy.m=4"],
        &["privacy.m=2", "method.suppress=true"],
        &["privacy.m=3", "method.suppress=true"],
        &["privacy.m=1"],
    ] {
        let sets: Vec<&str> = sets.iter().copied().chain(["method.algorithm=aa"]).collect();
        shop.same(&sets, &[211, 1_000, 5_000]);
    }
}

/// What a search makes of a kernel takes as much room again, or several times as much: `--memory` would not be held.
#[test]
fn a_kernel_over_its_share_of_memory_ends_the_run() {
    let (shop, hospital) = (shop(90_000), hospital(5_000));
    for (own, sets, memory) in [(&shop, "privacy.m=2", 2 << 20), (&hospital, "privacy.k=50", 4 << 20)] {
        let mut request = own.request(&[sets], "out", Some(1_000));
        request.settings.memory = Some(memory);
        let failure = anonymize(&request, &Quiet).expect_err("it does not fit");
        assert_eq!(failure.fault, Fault::Unreachable);
        let told = failure.to_string();
        assert!(told.contains("the records that a search has to look at take more than"), "{told}");
        assert!(!own.folder.path().join("out").exists());
    }
}

#[test]
fn gcs_publishes_the_same_bytes_from_chunks() {
    let hospital = hospital(700);
    for more in [
        &[][..],
        &["privacy.n=0"],
        &["privacy.relations=embedded", "privacy.n=2"],
        &["publish.rows=united"],
        &["privacy.missing=counted"],
    ] {
        let sets = ["method.algorithm=gcs", "method.cost=lm", "privacy.root=chain"];
        let sets: Vec<&str> = sets.into_iter().chain(more.iter().copied()).collect();
        hospital.same(&sets, &[97, 400]);
    }
}

#[test]
fn what_chunks_only_propose_is_verified_and_keeps_the_promise() {
    let hospital = hospital(500);
    for (i, more) in [
        &["method.algorithm=best"][..],
        &["method.algorithm=gcs", "method.cost=rpd"],
        &["method.algorithm=gcs", "privacy.n=2", "privacy.m=3"],
        &["method.algorithm=best", "privacy.relations=embedded", "privacy.n=2", "privacy.m=3"],
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("out{i}.ndjson");
        let release =
            hospital.publish(more, &out, Some(83)).unwrap_or_else(|failure| panic!("{more:?} {failure}"));
        assert_eq!(release.records, 500);
        assert!(hospital.verify(more, &out, None).holds(), "{more:?}");
    }
}

/// A table is cut at its rows, not at its lines, and every chunk has its header.
#[test]
fn tables_are_cut_at_rows() {
    let mut dice = Dice::new(5);
    let mut text = String::from("sex,town,note\n");
    for record in 0..200 {
        let sex = ["f", "m"][dice.below(2)];
        let town =
            ["\"North,\nside\"", "South", "East", "\"a \"\"west\"\"\""][dice.below(4).min(dice.below(4))];
        text += &format!("{sex},{town},{}\n", record % 3);
    }
    let policy = "version = 1\n[source]\nformat = \"csv\"\npath = \"data.csv\"\n\
        [[attribute]]\npath = \"sex\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 2 }\n\
        [[attribute]]\npath = \"town\"\nrole = \"quasi\"\nhierarchy = { build = \"fanout\", fanout = 2 }\n\
        [[attribute]]\npath = \"note\"\nrole = \"sensitive\"\n\
        [privacy]\nmodel = \"kmn\"\nk = 12\nm = 2\nn = 0\nroot = \"chain\"\n\
        [method]\nalgorithm = \"gcs\"\ncost = \"lm\"\n[publish]\n";
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("data.csv"), text).expect("written");
    Chunky { folder, policy: policy.to_owned() }.same(&[], &[1, 7, 64, 200, 1000]);
}

#[test]
fn a_violation_is_found_in_chunks_with_the_same_witness() {
    let shop = shop(800);
    let hospital = hospital(300);
    for (data, name) in [(&shop, "data.txt"), (&hospital, "data.ndjson")] {
        let found = [None, Some(53), Some(1_000)].map(|chunk| data.verify(&[], name, chunk).to_json());
        assert_eq!(found[0]["holds"], false);
        for other in &found[1..] {
            assert_eq!(found[0]["witness"], other["witness"]);
            assert_eq!(found[0]["records"], other["records"]);
            assert_eq!(found[0]["left_over"], other["left_over"]);
        }
    }
}

#[test]
fn what_chunks_cannot_do_is_refused_with_the_reason() {
    let hospital = hospital(100);
    let shop = shop(100);
    for (data, set, word) in [
        (&hospital, "method.recoding=local", "label of its own"),
        (&hospital, "publish.mapping=m.csv", "mapping"),
        (&hospital, "publish.report=r.html", "report"),
        (&hospital, "source.sample=0.5", "sample"),
        (&hospital, "privacy.guard=true", "guard"),
        (&shop, "method.algorithm=da", "aa"),
        (&shop, "method.time=10s", "time"),
    ] {
        let failure = data.publish(&[set], "x.ndjson", Some(10)).err().unwrap_or_else(|| panic!("{set}"));
        assert!(failure.to_string().contains(word), "{set}: {failure}");
        assert!(!data.folder.path().join("x.ndjson").exists());
    }
}

#[test]
fn a_run_in_chunks_that_is_interrupted_leaves_no_file() {
    let hospital = hospital(120);
    let files = || -> BTreeMap<_, _> {
        let all = std::fs::read_dir(hospital.folder.path()).expect("a folder");
        all.map(|entry| {
            let path = entry.expect("an entry").path();
            (path.clone(), path.metadata().map(|m| m.len()).ok())
        })
        .collect()
    };
    let before = files();
    let request = hospital.request(&["method.algorithm=gcs"], "x.ndjson", Some(31));
    let (mut asks, mut interrupted) = (0, 0);
    while let Err(failure) = anonymize(&request, &Impatient::after(asks)) {
        assert_eq!(failure.fault, Fault::Interrupted, "{failure}");
        assert_eq!(files(), before, "after {asks} asks");
        interrupted += 1;
        asks = asks * 2 + 1;
    }
    assert!(interrupted > 4);
}
