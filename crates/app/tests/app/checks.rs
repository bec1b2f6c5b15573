//! What is refused, and what is warned of, is the same in memory, in chunks of any size and on partitions of a cluster.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::parted::cells::{CellPlan, facts};
use bosket_app::parted::sides::{self, SidesPlan};
use bosket_app::parted::{Work, plan};
use bosket_app::{Census, PolicyAt, Settings, prepare};
use bosket_io::{PolicyFile, Whereabouts};
use bosket_model::observe::Quiet;
use bosket_model::{Dataset, Diagnostic, Fault, Result, Severity};
use tempfile::TempDir;

/// Something that is wrong with data, and what has to be said about it, wherever the records are.
struct Case {
    what: &'static str,
    attributes: &'static str,
    privacy: &'static str,
    lines: Vec<String>,
    /// The fault, or none where there is a warning alone.
    fault: Option<Fault>,
    says: &'static str,
}

const KMN: &str = "model = \"kmn\"\nk = 5\nm = 1\nn = 0";
const ALIKE: &str = "model = \"k-anonymity\"\nk = 5";
const DIVERSE: &str = "model = \"l-diversity\"\nl = 8";

const PLAIN: &str = "[[attribute]]\npath = \"town\"\nrole = \"quasi\"\nhierarchy = { build = \"order\", groups = [{ label = \"x\", values = [\"t0\", \"t1\"] }] }\n";

fn people(number: usize, more: impl Fn(usize) -> String) -> Vec<String> {
    (0..number).map(|i| format!("{{\"town\":\"t{}\"{}}}", i % 2, more(i))).collect()
}

fn cases() -> Vec<Case> {
    let named = "[[attribute]]\npath = \"town\"\nrole = \"quasi\"\nhierarchy = { build = \"order\", groups = [{ label = \"x\", values = [\"t0\", \"t1\"] }] }\n\
                 [[attribute]]\npath = \"patient_id\"\nrole = \"identifying\"\n";
    let shown = "[[attribute]]\npath = \"town\"\nrole = \"quasi\"\nhierarchy = { build = \"order\", groups = [{ label = \"x\", values = [\"t0\", \"t1\"] }] }\n\
                 [[attribute]]\npath = \"device\"\nrole = \"insensitive\"\n";
    let keyed = "[[attribute]]\npath = \"town\"\nrole = \"quasi\"\nhierarchy = { build = \"order\", groups = [{ label = \"x\", values = [\"t0\", \"t1\"] }] }\n\
                 [[attribute]]\npath = \"notes.Quetzal\"\nrole = \"identifying\"\n\
                 [[attribute]]\npath = \"notes.text\"\nrole = \"insensitive\"\n";
    let secret = "[[attribute]]\npath = \"town\"\nrole = \"quasi\"\nhierarchy = { build = \"order\", groups = [{ label = \"x\", values = [\"t0\", \"t1\"] }] }\n\
                  [[attribute]]\npath = \"ill\"\nrole = \"sensitive\"\n\
                  [[attribute]]\npath = \"device\"\nrole = \"insensitive\"\n";
    let note = |i: usize| match i {
        7 | 31 => ",\"notes\":{\"text\":\"x\",\"Quetzal\":\"x\"}".to_owned(),
        _ => ",\"notes\":{\"text\":\"x\"}".to_owned(),
    };
    let all = [
        (
            "too few records",
            KMN,
            PLAIN,
            people(4, |_| String::new()),
            Fault::Unreachable,
            "k = 5 exceeds the 4 records of the data",
        ),
        (
            "too few to be alike",
            ALIKE,
            PLAIN,
            people(4, |_| String::new()),
            Fault::Unreachable,
            "k = 5 exceeds the 4 records of the data",
        ),
        (
            "an insensitive number of a device",
            KMN,
            shown,
            people(40, |i| format!(",\"device\":\"d{}\"", if i < 3 { i } else { 9 })),
            Fault::Policy,
            "`device` is called insensitive, but 3 of its 40 values are ones that fewer than 5 people have",
        ),
        (
            "the same among those who are alike",
            ALIKE,
            shown,
            people(40, |i| format!(",\"device\":\"d{}\"", if i < 3 { i } else { 9 })),
            Fault::Policy,
            "`device` is called insensitive, but 3 of its 40 values are ones that fewer than 5 people have",
        ),
        (
            "an insensitive value under diversity",
            DIVERSE,
            secret,
            people(40, |i| format!(",\"ill\":\"i{}\",\"device\":\"d{}\"", i % 10, i / 7)),
            Fault::Policy,
            "`device` is called insensitive, but 40 of its 40 values are ones that fewer than 8 people have",
        ),
        (
            "a key that two people have",
            KMN,
            keyed,
            people(40, note),
            Fault::Policy,
            "`notes.Quetzal` has a key that fewer than five people have",
        ),
        (
            "the same among those who are alike",
            ALIKE,
            keyed,
            people(40, note),
            Fault::Policy,
            "`notes.Quetzal` has a key that fewer than five people have",
        ),
        (
            "a key that nobody has declared",
            KMN,
            PLAIN,
            people(40, |i| if i == 33 { ",\"Quetzal\":1".to_owned() } else { String::new() }),
            Fault::Policy,
            "the policy does not declare 1 attribute with keys that fewer than five people have",
        ),
    ];
    let mut cases: Vec<Case> = all
        .into_iter()
        .map(|(what, privacy, attributes, lines, fault, says)| Case {
            what,
            attributes,
            privacy,
            lines,
            fault: Some(fault),
            says,
        })
        .collect();
    // The first and the last record are the same person's.
    let twice = |i: usize| format!(",\"patient_id\":\"p{}\"", i % 39);
    for privacy in [KMN, ALIKE] {
        cases.push(Case {
            what: "one person in two records",
            attributes: named,
            privacy,
            lines: people(40, twice),
            fault: None,
            says: "`patient_id` is identifying, and 2 of 40 records share its value with another",
        });
        cases.push(Case {
            what: "an attribute that the data lacks",
            attributes: shown,
            privacy,
            lines: people(40, |_| String::new()),
            fault: None,
            says: "the data has no attribute `device`",
        });
    }
    cases
}

impl Case {
    fn policy(&self, data: &Path) -> String {
        let data = data.display();
        format!(
            "version = 1\n[source]\nformat = \"ndjson\"\npath = \"{data}\"\n{}[privacy]\n{}\n[publish]\npath = \"out.ndjson\"\n",
            self.attributes, self.privacy
        )
    }

    /// What is said where the records are in memory, or in chunks.
    fn prepared(&self, folder: &TempDir, chunk: Option<usize>) -> (Option<Fault>, Vec<String>) {
        let data = folder.path().join("in.ndjson");
        std::fs::write(&data, self.lines.join("\n") + "\n").expect("written");
        let policy = PolicyAt {
            path: folder.path().join("p.toml"),
            text: Some(self.policy(&data)),
            ..PolicyAt::default()
        };
        let settings = Settings { chunk: chunk.and_then(NonZeroUsize::new), ..Settings::default() };
        let request = AnonymizeRequest { policy, settings, ..AnonymizeRequest::default() };
        match prepare(&request, &Quiet) {
            Ok(prepared) => (None, texts(&prepared.warnings, Severity::Warning)),
            Err(failure) => (Some(failure.fault), texts(&failure.diagnostics, Severity::Error)),
        }
    }

    /// The same on partitions of so many records.
    fn parted(&self, folder: &TempDir, size: usize) -> (Option<Fault>, Vec<String>) {
        match self.planned(folder, size) {
            Ok(warnings) => (None, texts(&warnings, Severity::Warning)),
            Err(failure) => (Some(failure.fault), texts(&failure.diagnostics, Severity::Error)),
        }
    }

    fn planned(&self, folder: &TempDir, size: usize) -> Result<Vec<Diagnostic>> {
        let data = folder.path().join("part.ndjson");
        let text = self.policy(&data);
        let file = PolicyFile::parse(&folder.path().join("p.toml"), &text, &[])?;
        let parts: Vec<Dataset> = (self.lines.chunks(size))
            .map(|lines| {
                std::fs::write(&data, lines.join("\n") + "\n").expect("written");
                Ok(Whereabouts::input(&file)?.open(&Quiet)?.data)
            })
            .collect::<Result<_>>()?;
        let given = (text, Vec::new());
        let work = Work::of(&file.policy)?;
        let mut census = Census::default();
        for part in &parts {
            let own = match work {
                Work::Sides => sides::survey(&file, part, &Quiet)?,
                _ => plan::survey(&file, part, &Quiet)?,
            };
            census = census.merge(&Census::from_bytes(&own.to_bytes())?);
        }
        Ok(match work {
            Work::Kernels => plan::Plan::new(&file, given, census)?.warnings,
            Work::Sides => SidesPlan::new(&file, given, &census)?.warnings,
            Work::Cells => {
                let mut all = bosket_app::parted::cells::Facts::default();
                for part in &parts {
                    // Of what nobody declares there are no facts: it is refused by the census.
                    all = all.merge(facts(&file, part, &Quiet)?);
                }
                CellPlan::new(&file, given, &census, all)?.warnings
            }
        })
    }
}

/// Messages and what to do, without the places, which are called otherwise.
fn texts(all: &[Diagnostic], severity: Severity) -> Vec<String> {
    let text = |d: &Diagnostic| {
        let mut text = d.message.clone();
        if let Some(help) = &d.help {
            let _ = write!(text, " | {help}");
        }
        text
    };
    let own = all.iter().filter(|d| d.severity == severity);
    let mut own: Vec<String> = own.map(text).filter(|t| !t.contains("searched in chunks")).collect();
    own.sort();
    own
}

#[test]
fn every_refusal_is_the_same_in_every_size() {
    for case in cases() {
        let folder = TempDir::new().expect("a folder");
        let whole = case.prepared(&folder, None);
        assert_eq!(whole.0, case.fault, "{}: {:?}", case.what, whole.1);
        assert!(whole.1.iter().any(|text| text.contains(case.says)), "{}: {:?}", case.what, whole.1);
        for size in [1, 3, 20, 39, 1000] {
            assert_eq!(case.prepared(&folder, Some(size)), whole, "{} in chunks of {size}", case.what);
            assert_eq!(case.parted(&folder, size), whole, "{} in partitions of {size}", case.what);
        }
    }
}

/// Sides are taken apart without all that a person says: a pass of its own looks who stands twice, and what keys name.
#[test]
fn people_whose_sides_are_taken_apart_are_looked_at_too() {
    let attributes = "[[attribute]]\npath = \"town\"\nrole = \"quasi\"\n\
                      [[attribute]]\npath = \"ill\"\nrole = \"sensitive\"\n\
                      [[attribute]]\npath = \"patient_id\"\nrole = \"identifying\"\n\
                      [[attribute]]\npath = \"notes.Quetzal\"\nrole = \"quasi\"\n\
                      [[attribute]]\npath = \"notes.text\"\nrole = \"quasi\"\n";
    let person = |rare: bool| {
        move |i: usize| {
            let key = if rare && i == 20 { ",\"Quetzal\":\"x\"" } else { "" };
            let often = if rare { "" } else { ",\"Quetzal\":\"y\"" };
            format!(
                ",\"ill\":\"i{}\",\"patient_id\":\"p{}\",\"notes\":{{\"text\":\"x\"{key}{often}}}",
                i % 8,
                i % 39
            )
        }
    };
    for (rare, fault, says) in [
        (false, None, "`patient_id` is identifying, and 2 of 40 records share its value with another"),
        (true, Some(Fault::Policy), "`notes.Quetzal` has a key that fewer than five people have"),
    ] {
        let case = Case {
            what: "sides",
            attributes,
            privacy: "model = \"anatomy\"\ngroup_size = 4",
            lines: people(40, person(rare)),
            fault,
            says,
        };
        let folder = TempDir::new().expect("a folder");
        let whole = case.prepared(&folder, None);
        assert_eq!(whole.0, case.fault, "{:?}", whole.1);
        assert!(whole.1.iter().any(|text| text.contains(case.says)), "{:?}", whole.1);
        for size in [1, 7, 39] {
            let parted = case.parted(&folder, size);
            assert_eq!(parted.0, case.fault, "{:?}", parted.1);
            assert!(parted.1.iter().any(|text| text.contains(case.says)), "{:?}", parted.1);
        }
    }
}
