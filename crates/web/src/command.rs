//! What a job may be: a command of the same program, with nothing in it that the page could not have said in words.

use std::path::PathBuf;

use serde_json::Value;

use crate::Server;
use crate::admission::{Admission, Admitted, COPY_OPTION, Gate};
use crate::error::{ApiError, Result};
use crate::places::{Places, published_now};
use crate::results::{Attacked, Checked, Listed, Looked, NotFiner, Reader, Released, Row, TreeNode, read};
use crate::runs::{MAPPING, REPORT, Stamp};
use crate::shape::shape;

shape! {
    either "command"
    /// What a page asks for.
    #[serde(tag = "command")]
    pub(crate) enum Asked {
        /// Looks at data, and at whom it gives away.
        Inspect { data: String, record: Option<String>, preset: Option<String>, risk: Option<bool>, show_values: Option<bool> },
        /// Looks at data and writes a policy.
        Draft { data: String, policy: String, record: Option<String>, preset: Option<String> },
        /// Checks a policy with its data.
        Check { policy: String, show_values: Option<bool> },
        /// Publishes.
        Anonymize { policy: String, force: Option<bool>, show_values: Option<bool> },
        /// Compares guarantees.
        Sweep { policy: String, k: Option<Vec<u32>>, m: Option<Vec<u32>>, n: Option<Vec<u32>>, l: Option<Vec<u32>>, group_size: Option<Vec<u32>> },
        /// Plays the attacker, before and after.
        Attack { policy: String, show_values: Option<bool> },
        /// Writes the report into the job's own folder; with records before and after if values may be shown.
        Report { policy: String, show_values: Option<bool> },
        /// Checks a publication; without one that of the policy.
        Verify { publication: Option<String>, certificate: String, policy: Option<String>, key: Option<String>, foreign: Option<bool>, show_values: Option<bool> },
        /// The hierarchy of an attribute with counts.
        Hierarchy { policy: String, attribute: String, show_values: Option<bool> },
        /// A hierarchy as its file says, without data.
        HierarchyFile { file: String },
        /// Why a published label is not finer; without one, which can be asked about.
        Why { policy: String, attribute: Option<String>, label: Option<String>, show_values: Option<bool> },
        /// A description for catalogues of data, `croissant` or `dcat`.
        Export { format: String, publication: String, certificate: String, out: String, force: Option<bool> },
        /// What is certified, as a statement of in-toto.
        Statement { certificate: String, out: String, force: Option<bool> },
        /// The built-in example.
        Demo { folder: String },
    }
}

/// A command that may be run, and what its end means.
pub(crate) struct Command {
    pub(crate) arguments: Vec<String>,
    pub(crate) then: Then,
    /// What it is to touch, to be looked at again when its turn comes.
    pub(crate) admission: Admission,
}

/// What follows from a command that ended well.
pub(crate) enum Then {
    Nothing,
    /// The policy fits its data, as they were.
    Fits(PathBuf, Stamp),
    /// What the policy publishes was made and verified; its mapping may lie in the job's folder.
    Published(Box<Places>, Option<PathBuf>),
    /// The publication holds, as it was.
    Verified(PathBuf, Stamp),
}

impl Then {
    /// Takes it down.
    pub(crate) fn happen(self, server: &Server, is_well: bool) {
        let known = &server.known;
        match self {
            Then::Nothing => {}
            Then::Fits(policy, stamp) if is_well => known.set_fits(&policy, stamp),
            // By the policy that was run: what its file says by now may be about something else.
            Then::Published(places, mapping) if is_well => {
                let published = places.published_now();
                if let Some(certificate) = &places.certificate {
                    known.set_verified(certificate, published.clone());
                }
                if let Some(mapping) = mapping.filter(|file| file.is_file()) {
                    known.keep_mapping(&places.policy, mapping, published);
                }
            }
            Then::Verified(certificate, stamp) if is_well => known.set_verified(&certificate, stamp),
            Then::Verified(certificate, _) => known.forget_verified(&certificate),
            Then::Fits(..) | Then::Published(..) => {}
        }
    }
}

/// Builds a command line word by word.
struct Line(Vec<String>);

impl Line {
    fn new(words: &[&str]) -> Self {
        Line(words.iter().map(|&word| word.to_owned()).collect())
    }

    fn and(mut self, word: impl Into<String>) -> Self {
        self.0.push(word.into());
        self
    }

    /// An option as one word, so that nothing that a page says can be taken for another.
    fn option(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.and(format!("{name}={value}")),
            None => self,
        }
    }

    fn flag(self, name: &str, is_on: Option<bool>) -> Self {
        if is_on == Some(true) { self.and(name) } else { self }
    }

    fn numbers(self, name: &str, values: &Option<Vec<u32>>) -> Self {
        let list = values.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join(",");
        self.option(name, Some(list.as_str()).filter(|list| !list.is_empty()))
    }

    /// Whatever follows is no option.
    fn then(self, words: &[&str]) -> Self {
        words.iter().fold(self.and("--"), |line, &word| line.and(word))
    }
}

impl Asked {
    pub(crate) fn is_check(&self) -> bool {
        matches!(self, Asked::Verify { policy: None, .. })
    }

    /// Whether it only draws what a receiver has.
    pub(crate) fn is_drawing(&self) -> bool {
        matches!(self, Asked::HierarchyFile { .. })
    }

    /// How pages read what the command prints.
    pub(crate) fn reads(&self) -> Option<Reader> {
        Some(match self {
            Asked::Inspect { .. } => read::<Looked>,
            Asked::Anonymize { .. } => read::<Released>,
            Asked::Sweep { .. } => read::<Vec<Row>>,
            Asked::Attack { .. } => read::<Attacked>,
            Asked::Verify { .. } => read::<Checked>,
            Asked::Hierarchy { .. } | Asked::HierarchyFile { .. } => read::<TreeNode>,
            Asked::Why { label: None, .. } => read::<Listed>,
            Asked::Why { .. } => read::<NotFiner>,
            Asked::Draft { .. }
            | Asked::Check { .. }
            | Asked::Report { .. }
            | Asked::Export { .. }
            | Asked::Statement { .. }
            | Asked::Demo { .. } => return None,
        })
    }

    /// The command, seen from the folder; `id` is the number of the job that it will be.
    pub(crate) fn command(&self, server: &Server, id: u64) -> Result<Command> {
        let gate = Gate::new(server, id);
        let (line, then) = self.line(server, id, &gate)?;
        Ok(Command { arguments: line.0, then, admission: gate.admission() })
    }

    fn line(&self, server: &Server, id: u64, gate: &Gate<'_>) -> Result<(Line, Then)> {
        const SHOW: &str = "--show-values";
        let there = |path: &str| gate.there(path);
        let place = |path: &str| gate.place(path);
        // Which record became which, if the policy keeps it nowhere and a run of this server knows.
        let mapping = |policy: &Admitted| {
            let places = policy.places.as_ref().filter(|places| !places.has_mapping)?;
            let kept = server.known.mapping(&policy.real, &places.published_now())?;
            Some(kept.to_string_lossy().into_owned())
        };
        let line = match self {
            Asked::Inspect { data, record, preset, risk, show_values } => Line::new(&["inspect", "--json"])
                .flag("--risk", *risk)
                .flag(SHOW, *show_values)
                .option("--record", record.as_deref())
                .option("--preset", preset.as_deref())
                .then(&[&there(data)?]),
            Asked::Draft { data, policy, record, preset } => Line::new(&["inspect", "--json", "--draft"])
                .and(gate.draft(policy)?)
                .option("--record", record.as_deref())
                .option("--preset", preset.as_deref())
                .then(&[&there(data)?]),
            Asked::Check { policy, show_values } => {
                let own = gate.policy(policy)?;
                let line = Line::new(&["anonymize", "--dry-run", "--json"]).flag(SHOW, *show_values);
                let line = line.and(own.option()).then(&[&own.name]);
                let then = own.stamp.map_or(Then::Nothing, |stamp| Then::Fits(own.real, stamp));
                return Ok((line, then));
            }
            Asked::Anonymize { policy, force, show_values } => {
                let own = gate.policy(policy)?;
                let mut line =
                    Line::new(&["anonymize", "--json"]).flag("--force", *force).flag(SHOW, *show_values);
                let mut kept = None;
                // Whoever asks later why a label is not finer needs to know which record became which.
                if own.places.as_ref().is_some_and(|places| !places.has_mapping && !places.is_database) {
                    let file = server.jobs.make_folder(id)?.join(MAPPING);
                    line = line.and(format!(
                        "--set=publish.mapping={}",
                        Value::from(file.to_string_lossy().as_ref())
                    ));
                    kept = Some(file);
                }
                let line = line.and(own.option()).then(&[&own.name]);
                let then = own.places.map_or(Then::Nothing, |places| Then::Published(Box::new(places), kept));
                return Ok((line, then));
            }
            Asked::Sweep { policy, k, m, n, l, group_size } => {
                let own = gate.policy(policy)?;
                let each = group_size.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join(",");
                let each = Some(format!("privacy.group_size={each}")).filter(|_| !each.is_empty());
                let line = Line::new(&["sweep", "--json"]).numbers("--k", k).numbers("--m", m);
                let line = line.numbers("--n", n).numbers("--l", l).option("--set-each", each.as_deref());
                line.and(own.option()).then(&[&own.name])
            }
            Asked::Attack { policy, show_values } => {
                let own = gate.policy(policy)?;
                let line = Line::new(&["attack", "--json", "--policy"]).and(&own.name);
                line.and(own.option()).flag(SHOW, *show_values)
            }
            Asked::Report { policy, show_values } => {
                let own = gate.policy(policy)?;
                let out = server.jobs.make_folder(id)?.join(REPORT);
                Line::new(&["report", "--out"])
                    .and(out.to_string_lossy())
                    // Two sides show nobody before and after.
                    .flag("--internal", show_values.filter(|_| !own.has_two_sides))
                    .option("--mapping", mapping(&own).as_deref())
                    .and(own.option())
                    .then(&[&own.name])
            }
            Asked::Verify { .. } => return self.verify(gate),
            Asked::Hierarchy { policy, attribute, show_values } => {
                let own = gate.policy(policy)?;
                let line = Line::new(&["hierarchy", "show", "--json", "--policy"]).and(&own.name);
                line.and(own.option()).option("--path", Some(attribute)).flag(SHOW, *show_values)
            }
            Asked::HierarchyFile { file } => {
                Line::new(&["hierarchy", "show", "--json"]).then(&[&there(file)?])
            }
            Asked::Why { policy, attribute, label, show_values } => {
                let own = gate.policy(policy)?;
                Line::new(&["why", "--json"])
                    .option("--path", attribute.as_deref())
                    .option("--label", label.as_deref())
                    .option("--mapping", mapping(&own).as_deref())
                    .flag(SHOW, *show_values)
                    .and(own.option())
                    .then(&[&own.name])
            }
            Asked::Export { format, publication, certificate, out, force } => {
                if !["croissant", "dcat"].contains(&format.as_str()) {
                    return Err(ApiError::bad("a description is `croissant` or `dcat`"));
                }
                Line::new(&["export", format, "--certificate"])
                    .and(gate.certificate(certificate, None)?.0)
                    .option("--out", Some(&place(out)?))
                    .flag("--force", *force)
                    .then(&[&there(publication)?])
            }
            Asked::Statement { certificate, out, force } => Line::new(&["certificate", "statement"])
                .option("--out", Some(&place(out)?))
                .flag("--force", *force)
                .then(&[&there(certificate)?]),
            Asked::Demo { folder } => Line::new(&["demo"]).then(&[&place(folder)?]),
        };
        Ok((line, Then::Nothing))
    }

    fn verify(&self, gate: &Gate<'_>) -> Result<(Line, Then)> {
        let Asked::Verify { publication, certificate, policy, key, foreign, show_values } = self else {
            return Err(ApiError::bad("this is no check"));
        };
        let own = policy.as_deref().map(|path| gate.policy(path)).transpose()?;
        let places = own.and_then(|own| own.places);
        let (name, file) = match (publication, places) {
            (Some(publication), _) => (gate.there(publication)?, Some(gate.real(publication)?)),
            (None, Some(Places { published_to: Some(address), .. })) => (address, None),
            (None, Some(Places { publication: Some(file), .. })) => {
                (gate.there(&file.to_string_lossy())?, Some(file))
            }
            (None, _) => return Err(ApiError::bad("which publication?")),
        };
        let (certificate, real) = gate.certificate(certificate, file.as_deref())?;
        let key = key.as_deref().map(|key| public_key(key, |path| gate.there(path))).transpose()?;
        let line = Line::new(&["verify", "--json", "--certificate"])
            .and(certificate)
            .flag("--show-values", *show_values)
            .flag("--foreign", *foreign)
            .option("--key", key.as_deref());
        let stamp = published_now(Some(&real), file.as_deref());
        Ok((line.then(&[&name]), Then::Verified(real, stamp)))
    }
}

/// A public key as it was pasted, or the file that holds it.
fn public_key(text: &str, there: impl Fn(&str) -> Result<String>) -> Result<String> {
    let is_key = text.len() == 56 && text.starts_with("RW");
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c));
    if is_key && is_plain { Ok(text.to_owned()) } else { there(text) }
}

/// A command as somebody would type it.
pub(crate) fn line(arguments: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=[]:".contains(c);
    let is_told = |word: &&String| *word != "--" && !word.starts_with(COPY_OPTION);
    let quoted = arguments.iter().filter(is_told).map(|word| match word.chars().all(is_plain) {
        true if !word.is_empty() => word.clone(),
        _ => format!("'{}'", word.replace('\'', r"'\''")),
    });
    std::iter::once("bosket".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}
