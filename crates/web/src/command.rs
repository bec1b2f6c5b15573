//! What a job may be: a command of the same program, with nothing in it that the page could not have said in words.

use std::path::{Path, PathBuf};

use bosket_model::policy::Policy;
use serde_json::Value;

use crate::Server;
use crate::error::{ApiError, Result};
use crate::places::{Places, published_now};
use crate::policy::{is_policy_name, stays_inside};
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
        Verify { publication: Option<String>, certificate: String, policy: Option<String>, key: Option<String>, show_values: Option<bool> },
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
}

/// What follows from a command that ended well.
pub(crate) enum Then {
    Nothing,
    /// The policy fits its data, as they were.
    Fits(PathBuf, Stamp),
    /// What the policy publishes was made and verified; its mapping may lie in the job's folder.
    Published(PathBuf, Option<PathBuf>),
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
            Then::Published(policy, mapping) if is_well => {
                let Some(places) = Places::of(&server.folder, &policy) else { return };
                let published = places.published_now();
                if let Some(certificate) = &places.certificate {
                    known.set_verified(certificate, published.clone());
                }
                if let Some(mapping) = mapping.filter(|file| file.is_file()) {
                    known.keep_mapping(&policy, mapping, published);
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

impl From<Line> for Command {
    fn from(line: Line) -> Self {
        Command { arguments: line.0, then: Then::Nothing }
    }
}

impl Asked {
    pub(crate) fn is_check(&self) -> bool {
        matches!(self, Asked::Verify { policy: None, .. })
    }

    /// The command, seen from the folder; `id` is the number of the job that it will be.
    pub(crate) fn command(&self, server: &Server, id: u64) -> Result<Command> {
        const SHOW: &str = "--show-values";
        let folder = &server.folder;
        let there = |path: &str| folder.find(path).map(|real| folder.name(&real));
        let place = |path: &str| folder.place_from(folder.root(), path).map(|real| folder.name(&real));
        let policy = |path: &str| {
            let real = folder.find(path)?;
            stays_inside(folder, &real)?;
            Ok::<_, ApiError>((folder.name(&real), real))
        };
        // Which record became which, if the policy keeps it nowhere and a run of this server knows.
        let mapping = |real: &Path| {
            let places = Places::of(folder, real).filter(|places| !places.has_mapping)?;
            let kept = server.known.mapping(real, &places.published_now())?;
            Some(kept.to_string_lossy().into_owned())
        };
        Ok(match self {
            Asked::Inspect { data, record, preset, risk, show_values } => Line::new(&["inspect", "--json"])
                .flag("--risk", *risk)
                .flag(SHOW, *show_values)
                .option("--record", record.as_deref())
                .option("--preset", preset.as_deref())
                .then(&[&there(data)?])
                .into(),
            Asked::Draft { data, policy, record, preset } => Line::new(&["inspect", "--json", "--draft"])
                .and(policy_place(&place(policy)?)?)
                .option("--record", record.as_deref())
                .option("--preset", preset.as_deref())
                .then(&[&there(data)?])
                .into(),
            Asked::Check { policy: path, show_values } => {
                let (name, real) = policy(path)?;
                let stamp = Places::of(folder, &real).map(|places| places.read_now());
                let line = Line::new(&["anonymize", "--dry-run", "--json"]).flag(SHOW, *show_values);
                let then = stamp.map_or(Then::Nothing, |stamp| Then::Fits(real, stamp));
                Command { then, ..line.then(&[&name]).into() }
            }
            Asked::Anonymize { policy: path, force, show_values } => {
                let (name, real) = policy(path)?;
                let mut line =
                    Line::new(&["anonymize", "--json"]).flag("--force", *force).flag(SHOW, *show_values);
                let mut kept = None;
                // Whoever asks later why a label is not finer needs to know which record became which.
                if Places::of(folder, &real).is_some_and(|places| !places.has_mapping && !places.is_database)
                {
                    let file = server.jobs.make_folder(id)?.join(MAPPING);
                    line = line.and(format!(
                        "--set=publish.mapping={}",
                        Value::from(file.to_string_lossy().as_ref())
                    ));
                    kept = Some(file);
                }
                Command { then: Then::Published(real, kept), ..line.then(&[&name]).into() }
            }
            Asked::Sweep { policy: path, k, m, n, l, group_size } => {
                let each = group_size.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join(",");
                let each = Some(format!("privacy.group_size={each}")).filter(|_| !each.is_empty());
                let line = Line::new(&["sweep", "--json"]).numbers("--k", k).numbers("--m", m);
                let line = line.numbers("--n", n).numbers("--l", l).option("--set-each", each.as_deref());
                line.then(&[&policy(path)?.0]).into()
            }
            Asked::Attack { policy: path, show_values } => Line::new(&["attack", "--json", "--policy"])
                .and(policy(path)?.0)
                .flag(SHOW, *show_values)
                .into(),
            Asked::Report { policy: path, show_values } => {
                let (name, real) = policy(path)?;
                let text = bosket_io::policy_file::read_text(&real)?;
                let parsed = Policy::parse(&name, &text, &[]).ok();
                // Two sides show nobody before and after.
                let is_apart = parsed.is_some_and(|(policy, _)| policy.has_two_sides());
                let out = server.jobs.make_folder(id)?.join(REPORT);
                Line::new(&["report", "--out"])
                    .and(out.to_string_lossy())
                    .flag("--internal", show_values.filter(|_| !is_apart))
                    .option("--mapping", mapping(&real).as_deref())
                    .then(&[&name])
                    .into()
            }
            Asked::Verify { publication, certificate, policy: path, key, show_values } => {
                let real = folder.find(certificate)?;
                let line = Line::new(&["verify", "--json", "--certificate"])
                    .and(folder.name(&real))
                    .flag(SHOW, *show_values);
                let key = key.as_deref().map(|key| public_key(key, there)).transpose()?;
                let line = line.option("--key", key.as_deref());
                let own = path.as_deref().map(policy).transpose()?;
                let own = own.and_then(|(_, real)| Places::of(folder, &real));
                let (name, file) = match (publication, own) {
                    (Some(publication), _) => (there(publication)?, Some(folder.find(publication)?)),
                    (None, Some(Places { published_to: Some(address), .. })) => (address, None),
                    (None, Some(Places { publication: Some(file), .. })) => (folder.name(&file), Some(file)),
                    (None, _) => return Err(ApiError::bad("which publication?")),
                };
                let stamp = published_now(Some(&real), file.as_deref());
                Command { then: Then::Verified(real, stamp), ..line.then(&[&name]).into() }
            }
            Asked::Hierarchy { policy: path, attribute, show_values } => {
                Line::new(&["hierarchy", "show", "--json", "--policy"])
                    .and(policy(path)?.0)
                    .option("--path", Some(attribute))
                    .flag(SHOW, *show_values)
                    .into()
            }
            Asked::HierarchyFile { file } => {
                Line::new(&["hierarchy", "show", "--json"]).then(&[&there(file)?]).into()
            }
            Asked::Why { policy: path, attribute, label, show_values } => {
                let (name, real) = policy(path)?;
                Line::new(&["why", "--json"])
                    .option("--path", attribute.as_deref())
                    .option("--label", label.as_deref())
                    .option("--mapping", mapping(&real).as_deref())
                    .flag(SHOW, *show_values)
                    .then(&[&name])
                    .into()
            }
            Asked::Export { format, publication, certificate, out, force } => {
                if !["croissant", "dcat"].contains(&format.as_str()) {
                    return Err(ApiError::bad("a description is `croissant` or `dcat`"));
                }
                Line::new(&["export", format, "--certificate"])
                    .and(there(certificate)?)
                    .option("--out", Some(&place(out)?))
                    .flag("--force", *force)
                    .then(&[&there(publication)?])
                    .into()
            }
            Asked::Statement { certificate, out, force } => Line::new(&["certificate", "statement"])
                .option("--out", Some(&place(out)?))
                .flag("--force", *force)
                .then(&[&there(certificate)?])
                .into(),
            Asked::Demo { folder } => Line::new(&["demo"]).then(&[&place(folder)?]).into(),
        })
    }
}

/// A public key as it was pasted, or the file that holds it.
fn public_key(text: &str, there: impl Fn(&str) -> Result<String>) -> Result<String> {
    let is_key = text.len() == 56 && text.starts_with("RW");
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c));
    if is_key && is_plain { Ok(text.to_owned()) } else { there(text) }
}

/// Policies are called so, for only such may name databases.
fn policy_place(name: &str) -> Result<String> {
    match is_policy_name(Path::new(name)) {
        true => Ok(name.to_owned()),
        false => Err(ApiError::bad("let the name of a policy end in `.toml`")),
    }
}

/// A command as somebody would type it.
pub(crate) fn line(arguments: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=[]:".contains(c);
    let quoted = arguments.iter().filter(|word| *word != "--").map(|word| match word.chars().all(is_plain) {
        true if !word.is_empty() => word.clone(),
        _ => format!("'{}'", word.replace('\'', r"'\''")),
    });
    std::iter::once("bosket".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}
