//! What a job may be: a command of the same program, with nothing in it that the page could not have said in words.

use serde::Deserialize;

use crate::error::{ApiError, Result};
use crate::folder::Folder;
use crate::policy::stays_inside;

/// What a page asks for.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Asked {
    /// Looks at data.
    Inspect { data: String, record: Option<String>, preset: Option<String> },
    /// Looks at data and writes a policy.
    Draft { data: String, policy: String, record: Option<String>, preset: Option<String> },
    /// Checks a policy with its data.
    Check { policy: String },
    /// Publishes.
    Anonymize {
        policy: String,
        #[serde(default)]
        force: bool,
        #[serde(default)]
        show_values: bool,
    },
    /// Compares guarantees.
    Sweep {
        policy: String,
        #[serde(default)]
        k: Vec<u32>,
        #[serde(default)]
        m: Vec<u32>,
    },
    /// Plays the attacker, before and after.
    Attack { policy: String },
    /// Says what was lost.
    Measure { policy: String, data: String, publication: String },
    /// Checks a publication.
    Verify {
        publication: String,
        certificate: String,
        #[serde(default)]
        show_values: bool,
    },
    /// The hierarchy of an attribute with counts.
    Hierarchy {
        policy: String,
        attribute: String,
        #[serde(default)]
        show_values: bool,
    },
    /// A hierarchy as its file says, without data.
    HierarchyFile { file: String },
    /// Why a published label is not finer; without one, which can be asked about.
    Why {
        policy: String,
        attribute: Option<String>,
        label: Option<String>,
        #[serde(default)]
        show_values: bool,
    },
    /// The built-in example.
    Demo { folder: String },
}

impl Asked {
    pub(crate) fn is_check(&self) -> bool {
        matches!(self, Asked::Verify { .. })
    }

    /// The arguments, seen from the folder.
    pub(crate) fn arguments(&self, folder: &Folder) -> Result<Vec<String>> {
        let there = |path: &String| folder.find(path).map(|real| folder.name(&real));
        let place = |path: &String| folder.place_from(folder.root(), path).map(|real| folder.name(&real));
        let policy = |path: &String| {
            let real = folder.find(path)?;
            stays_inside(folder, &real)?;
            Ok::<_, ApiError>(folder.name(&real))
        };
        let list = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        // One word, so that nothing that a page says can be taken for an option.
        let option =
            |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name}={value}"));
        let mut all: Vec<String> = Vec::new();
        let mut say = |words: &[&str]| all.extend(words.iter().map(|&word| word.to_owned()));
        match self {
            Asked::Inspect { data, record, preset } => {
                say(&["inspect", "--json"]);
                option("--record", record).iter().for_each(|word| say(&[word]));
                option("--preset", preset).iter().for_each(|word| say(&[word]));
                say(&["--", &there(data)?]);
            }
            Asked::Draft { data, policy, record, preset } => {
                say(&["inspect", "--json", "--draft", &place(policy)?]);
                option("--record", record).iter().for_each(|word| say(&[word]));
                option("--preset", preset).iter().for_each(|word| say(&[word]));
                say(&["--", &there(data)?]);
            }
            Asked::Check { policy: path } => say(&["anonymize", "--dry-run", "--json", "--", &policy(path)?]),
            Asked::Anonymize { policy: path, force, show_values } => {
                say(&["anonymize", "--json"]);
                say(if *force { &["--force"] } else { &[] });
                say(if *show_values { &["--show-values"] } else { &[] });
                say(&["--", &policy(path)?]);
            }
            Asked::Sweep { policy: path, k, m } => {
                say(&["sweep", "--json"]);
                if !k.is_empty() {
                    say(&["--k", &list(k)]);
                }
                if !m.is_empty() {
                    say(&["--m", &list(m)]);
                }
                say(&["--", &policy(path)?]);
            }
            Asked::Attack { policy: path } => say(&["attack", "--json", "--policy", &policy(path)?]),
            Asked::Measure { policy: path, data, publication } => {
                say(&["measure", "--json", "--policy", &policy(path)?, "--"]);
                say(&[&there(data)?, &there(publication)?]);
            }
            Asked::Verify { publication, certificate, show_values } => {
                say(&["verify", "--json", "--certificate", &there(certificate)?]);
                say(if *show_values { &["--show-values"] } else { &[] });
                say(&["--", &there(publication)?]);
            }
            Asked::Hierarchy { policy: path, attribute, show_values } => {
                say(&["hierarchy", "show", "--json", "--policy", &policy(path)?]);
                say(&[&format!("--path={attribute}")]);
                say(if *show_values { &["--show-values"] } else { &[] });
            }
            Asked::HierarchyFile { file } => say(&["hierarchy", "show", "--json", "--", &there(file)?]),
            Asked::Why { policy: path, attribute, label, show_values } => {
                say(&["why", "--json"]);
                option("--path", attribute).iter().for_each(|word| say(&[word]));
                option("--label", label).iter().for_each(|word| say(&[word]));
                say(if *show_values { &["--show-values"] } else { &[] });
                say(&["--", &policy(path)?]);
            }
            Asked::Demo { folder } => say(&["demo", "--", &place(folder)?]),
        }
        Ok(all)
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
