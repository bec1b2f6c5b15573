//! The command line as it is typed.

mod certificate;
mod export;
mod generate;
mod hierarchy;
mod numbers;
mod with;

use std::path::{Path, PathBuf};

use bosket_app::PolicyAt;
use bosket_measure::inspect::PRESETS;
use bosket_model::Failure;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueHint};

pub use certificate::{CertificateCommand, PassphraseFrom};
pub use export::Export;
pub use generate::{Generate, StudentKind, TpchShape};
pub use hierarchy::{
    Builder, DataColumn, Hierarchy, HierarchyBuild, HierarchyCheck, HierarchyShow, WhichHierarchy,
};
pub use numbers::Numbers;
use numbers::{parse_list, parse_minutes, parse_numbers, parse_size};
pub use with::With;

/// Publish nested personal data so that nobody in it can be picked out, and prove it.
#[derive(Debug, Parser)]
#[command(name = "bosket", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, or the guarantee holds; 1 the guarantee is violated; 2 bad usage or policy; \
3 unreadable or invalid data, or a file that cannot be written; 4 the guarantee cannot be reached; 70 an error of bosket itself; 130 interrupted.";

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Threads to use; as many as there are processors by default. Results never depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Largest record that is read from a line of text; a compressed file may hold an eighth of it, or 200 times its own size
    /// [default: 256M]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    pub limit_record: Option<usize>,
    /// Say what is decided, on standard error
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Say everything on standard error as one JSON object per line, progress too
    #[arg(long, global = true, hide = true)]
    pub events: bool,
    /// End when this process does, which has started this one
    #[arg(long, global = true, hide = true, value_name = "PID")]
    pub of_parent: Option<u32>,
}

/// The commands.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one per process")]
pub enum Command {
    /// Show what a dataset holds, suggest roles, draft a policy
    Inspect(Inspect),
    /// Build, show and check generalization hierarchies
    #[command(subcommand)]
    Hierarchy(Hierarchy),
    /// Check a policy, or print the JSON Schema of policies
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Sign certificates and check their signatures, state them in other forms, print their JSON Schema
    #[command(subcommand)]
    Certificate(CertificateCommand),
    /// Check whether a publication keeps what its policy promises
    Verify(Verify),
    /// Play the attacker: whom somebody finds who knows a few values of a person, before and after
    Attack(Attack),
    /// Make a publication that keeps what the policy promises
    Anonymize(Anonymize),
    /// Say what a publication lost, by every metric that applies
    Measure(Measure),
    /// Compare several guarantees on the same data: what each costs
    Sweep(Sweep),
    /// Write a report on a publication for people: one HTML file
    Report(Report),
    /// Say why a published label is not finer: what would break
    Why(Why),
    /// See it all on invented patients: data, publication, certificate and report in one folder
    Demo(Demo),
    /// Open a page in the browser that does all this on a folder
    Serve(Serve),
    /// Write metadata of a publication for catalogues: Croissant or DCAT-AP
    #[command(subcommand)]
    Export(Export),
    /// Write the same data in another format, without loss or not at all; nothing is anonymized
    Convert(Convert),
    /// Write an example dataset with hierarchies and a policy
    #[command(subcommand)]
    Generate(Generate),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// How to read a dataset that no policy describes.
#[derive(Clone, Debug, Default, Args)]
pub struct Reading {
    /// Format of the data: ndjson, json, xml, csv, parquet, transactions, fhir-r4, fhir-stu3; by name and content if not given
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Where the records are in a JSON document, such as `entry[]`, or in an XML document, such as `db/patient`; of linked
    /// tables the person table
    #[arg(long, value_name = "PATH")]
    pub record: Option<String>,
    /// What separates cells or items
    #[arg(long, value_name = "TEXT")]
    pub separator: Option<String>,
}

impl Reading {
    /// The same as a call takes it.
    pub fn reading(&self) -> bosket_app::Reading {
        let Reading { format, record, separator } = self.clone();
        bosket_app::Reading { format, record, separator }
    }
}

/// A policy and what overrides it.
#[derive(Clone, Debug, Args)]
pub struct Sets {
    /// Override a value of the policy, such as `privacy.k=10`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<String>,
    /// A copy of what the policy says, read in its place; its paths are seen from where the policy lies
    #[arg(long, hide = true, value_name = "FILE")]
    pub policy_copy: Option<PathBuf>,
}

impl Sets {
    /// A policy with these overrides.
    pub fn policy(&self, path: &Path) -> Result<PolicyAt, Failure> {
        let text = self.policy_copy.as_deref().map(bosket_io::read_text).transpose()?;
        Ok(PolicyAt { path: path.to_owned(), sets: self.sets.clone(), text, ..PolicyAt::default() })
    }

    /// The same with the time that its search may take.
    pub fn policy_within(&self, path: &Path, time: Option<&str>) -> Result<PolicyAt, Failure> {
        let mut at = self.policy(path)?;
        at.sets.extend(time.map(|time| format!("method.time={time}")));
        Ok(at)
    }
}

/// `bosket inspect`
#[derive(Debug, Args)]
pub struct Inspect {
    /// The dataset: a file (`-` is standard input), a folder of tables in CSV or Parquet or of FHIR bundles, a SQLite file, or postgres://user@host/database
    #[arg(value_hint = ValueHint::AnyPath)]
    pub data: PathBuf,
    /// How to read it
    #[command(flatten)]
    pub reading: Reading,
    /// Linked tables: the foreign key, as TABLE.COLUMN, by which a table hangs below another; may be given several times
    #[arg(long, value_name = "TABLE.COLUMN")]
    pub parent: Vec<String>,
    /// Suggest roles as they are known for a standard, and draft a policy that leaves everything else out; those of FHIR
    /// also say the format
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(PRESETS))]
    pub preset: Option<String>,
    /// Write a draft policy; it holds no values of the data
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub draft: Option<PathBuf>,
    /// XML: write the schema that the document shows as XSD, and nothing else
    #[arg(long, value_name = "FILE", conflicts_with = "draft", value_hint = ValueHint::FilePath)]
    pub xsd: Option<PathBuf>,
    /// Replace the draft or the schema if it exists
    #[arg(long)]
    pub force: bool,
    /// Also say whom an attacker finds in the data as it is, if the proposed roles are right
    #[arg(long, conflicts_with = "xsd")]
    pub risk: bool,
    /// Most memory for the data, such as 500M or 4G; reading stops beyond it [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<usize>,
    /// Show the most frequent values of each attribute
    #[arg(long)]
    pub show_values: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bosket policy`
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Check a policy; all errors at once
    Check {
        /// The policy
        #[arg(value_hint = ValueHint::FilePath)]
        policy: PathBuf,
        /// Overrides
        #[command(flatten)]
        sets: Sets,
        /// Check it together with the data that it names, as `anonymize --dry-run` does
        #[arg(long)]
        data: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of policies
    Schema,
}

/// `bosket verify`
#[derive(Debug, Args)]
pub struct Verify {
    /// The publication; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub publication: PathBuf,
    /// The policy that states the claim and the roles
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "certificate")]
    pub policy: Option<PathBuf>,
    /// The certificate of the publication: it states the claim and the roles too, and the fingerprints of all files
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub certificate: Option<PathBuf>,
    /// The public key that the certificate must be signed with: its file, or the key itself. The signature is checked first.
    /// Without a certificate, but with --against: the same as --mask-key
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// The signature [default: the one beside the certificate, with `.minisig` behind its name]
    #[arg(long, value_name = "FILE", requires = "key", value_hint = ValueHint::FilePath)]
    pub signature: Option<PathBuf>,
    /// Overrides
    #[command(flatten)]
    pub sets: Sets,
    /// Another program has written the publication again: how it is written (order, spelling, layout) is not looked at, and the verdict says so
    #[arg(long)]
    pub foreign: bool,
    /// Also check that the publication says nothing that this private input does not
    #[arg(long, value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub against: Option<PathBuf>,
    /// The private mapping: CSV `input_record,published_record`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub mapping: Option<PathBuf>,
    /// The private key that `anonymize --key` had, for --against: pseudonyms and shifted dates are made again and compared
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub mask_key: Option<PathBuf>,
    /// Earlier releases
    #[command(flatten)]
    pub with: With,
    /// Most memory for data that is read, and for counting, such as 500M or 4G; what does not fit is counted in parts [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<usize>,
    /// Most records of a chunk: what would not fit into memory is worked on in chunks (docs/scale.md), and so is everything with this [default: all that fit]
    #[arg(long, value_name = "RECORDS")]
    pub chunk: Option<std::num::NonZeroUsize>,
    /// Name values of the input that are not covered by their hierarchy
    #[arg(long)]
    pub show_values: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bosket attack`
#[derive(Debug, Args)]
#[command(after_help = ATTACKS)]
pub struct Attack {
    /// The private data; the policy's source by default, `-` is standard input
    #[arg(value_hint = ValueHint::AnyPath)]
    pub data: Option<PathBuf>,
    /// The policy that says what may be known of a person
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub policy: PathBuf,
    /// Overrides
    #[command(flatten)]
    pub sets: Sets,
    /// Attack this publication too; the policy's own if it is there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub publication: Option<PathBuf>,
    /// The private mapping of the publication, for --with and --guess; the policy's own by default
    #[arg(long, value_name = "FILE", requires = "by-mapping", value_hint = ValueHint::FilePath)]
    pub mapping: Option<PathBuf>,
    /// Earlier releases
    #[command(flatten)]
    pub with: With,
    /// Look behind labels instead: how surely each gives the value that it hides, and how many values somebody restores who
    /// has only the publication and knows how it was made
    #[arg(long, group = "by-mapping", conflicts_with_all = ["population", "m", "n", "budget", "sample"])]
    pub guess: bool,
    /// With --guess: people who were held out before publishing, in the form of the private data. Singling out, linking and
    /// inferring are tried on people who are in the publication and on these, up to 500 of each
    #[arg(long, value_name = "FILE", requires = "guess", value_hint = ValueHint::AnyPath)]
    pub control: Option<PathBuf>,
    /// Compute journalist risk: count matches in this register of the population that the data was drawn from. It has the
    /// data's format and paths and original values; only quasi attributes are needed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub population: Option<PathBuf>,
    /// Numbers of known values, such as `1..4` or `2,3` [default: from 1 to one more than the policy's]
    #[arg(long, value_name = "NUMBERS", value_parser = parse_numbers)]
    pub m: Option<Numbers>,
    /// Numbers of known relations [default: none, and the policy's]
    #[arg(long, value_name = "NUMBERS", value_parser = parse_numbers)]
    pub n: Option<Numbers>,
    /// Most steps of counting per strength of attackers; beyond that, people are sampled [default: 500000000]
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Look at so many people, drawn with the policy's seed, rather than at as many as the budget allows
    #[arg(long, value_name = "PEOPLE", value_parser = clap::value_parser!(u32).range(1..))]
    pub sample: Option<u32>,
    /// How many of the worst-off people to list; with --guess of the labels that tell most
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub worst: usize,
    /// Show the values that give the worst-off people away, not only their paths; with --guess what labels hide
    #[arg(long)]
    pub show_values: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const ATTACKS: &str = "\
A person's fewest matches are the fewest records, the person's own included, that fit any knowledge of m values and n \
relations of the person. Highest (prosecutor) risk is the largest 1 / fewest matches, mean (marketer) risk its mean over \
people. With --population, journalist risk is the same with matches counted in the population: a record there fits if it has \
values under all known ones, related as is known. Without it, journalist risk is not computed.

With --guess a label is told to give a value away by the share of its cells that hide it, if that is more than how common \
the value is below the label. The attacker who restores values learns from what is published as it is which values go together, \
knows the hierarchies, and knows that Bosket generalizes no more than it must.";

/// `bosket anonymize`
#[derive(Debug, Args)]
pub struct Anonymize {
    /// The policy
    #[arg(value_hint = ValueHint::FilePath)]
    pub policy: PathBuf,
    /// Overrides
    #[command(flatten)]
    pub sets: Sets,
    /// Check policy and data and say what would happen; write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Replace files that exist
    #[arg(long)]
    pub force: bool,
    /// Earlier releases
    #[command(flatten)]
    pub with: With,
    /// The private key for `shift` and role `pseudonym`: a file of at least 32 random bytes that only you can read
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key: Option<PathBuf>,
    /// Also measure what the publication lost for mining: ML² and dML²; takes a while on large data
    #[arg(long)]
    pub measure: bool,
    /// How long to search, such as 500ms, 60s or 5m: then the best that was found is published (`method.time`)
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// Most memory for data that is read, and for searching and counting, such as 500M or 4G [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<usize>,
    /// Most records of a chunk: what would not fit into memory is worked on in chunks (docs/scale.md), and so is everything with this [default: all that fit]
    #[arg(long, value_name = "RECORDS")]
    pub chunk: Option<std::num::NonZeroUsize>,
    /// Name values that are not covered by their hierarchy
    #[arg(long)]
    pub show_values: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bosket measure`
#[derive(Debug, Args)]
pub struct Measure {
    /// The private input
    #[arg(value_hint = ValueHint::AnyPath)]
    pub input: PathBuf,
    /// The publication
    #[arg(value_hint = ValueHint::AnyPath)]
    pub publication: PathBuf,
    /// The policy that it was made by
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub policy: PathBuf,
    /// Overrides
    #[command(flatten)]
    pub sets: Sets,
    /// The private mapping: CSV `input_record,published_record`; the policy's own by default, if it is there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub mapping: Option<PathBuf>,
    /// Draw what became of each attribute, as SVG
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    /// Replace the picture if it exists
    #[arg(long)]
    pub force: bool,
    /// Name values of the input that are not covered by their hierarchy
    #[arg(long)]
    pub show_values: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bosket sweep`
#[derive(Debug, Args)]
#[command(
    after_help = "Lists are written 2,5,10,20 or 1..3, which is 1, 2 and 3. All combinations are tried; each result is \
verified, measured and dropped: nothing is published."
)]
pub struct Sweep {
    /// The policy
    #[arg(value_hint = ValueHint::FilePath)]
    pub policy: PathBuf,
    /// Overrides
    #[command(flatten)]
    pub sets: Sets,
    /// Values of privacy.k
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub k: Vec<String>,
    /// Values of privacy.m
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub m: Vec<String>,
    /// Values of privacy.n
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub n: Vec<String>,
    /// Values of privacy.l
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub l: Vec<String>,
    /// Values of privacy.t
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub t: Vec<String>,
    /// Values of privacy.beta
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub beta: Vec<String>,
    /// Values of privacy.model, such as `kmn,k-anonymity`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub model: Vec<String>,
    /// Values of method.algorithm
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub algorithm: Vec<String>,
    /// Values of any other key, such as `method.suppress=true,false`; may be given several times
    #[arg(long, value_name = "KEY=LIST", value_parser = parse_list)]
    pub set_each: Vec<(String, Vec<String>)>,
    /// Also compare frequent patterns: ML² and dML²; takes a while on large data
    #[arg(long)]
    pub mining: bool,
    /// How long each search may take, such as 500ms, 60s or 5m (`method.time`)
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// Draw the loss, as SVG
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    /// Replace the picture if it exists
    #[arg(long)]
    pub force: bool,
    /// Most memory for data that is read, and for searching and counting, such as 500M or 4G [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<usize>,
    /// Name values that are not covered by their hierarchy
    #[arg(long)]
    pub show_values: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bosket report`
#[derive(Debug, Args)]
#[command(
    after_help = "The public report holds figures, paths of the policy and what is published, nothing else of the input. \
The internal one shows records of the input: keep it."
)]
pub struct Report {
    /// The policy that the publication was made by
    #[arg(value_hint = ValueHint::FilePath)]
    pub policy: PathBuf,
    /// Overrides
    #[command(flatten)]
    pub sets: Sets,
    /// The publication [default: where the policy publishes]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub publication: Option<PathBuf>,
    /// The certificate [default: the one beside the publication, if it is there]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub certificate: Option<PathBuf>,
    /// The private mapping [default: the policy's own, if it is there]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub mapping: Option<PathBuf>,
    /// Where to write [default: the policy's publish.report, or report.html beside the policy; private/report.html if internal]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Add what is private: records before and after, worst cases, hierarchies below what is published
    #[arg(long)]
    pub internal: bool,
    /// Replace the report if it exists
    #[arg(long)]
    pub force: bool,
    /// Most memory for counting, such as 500M or 4G [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<usize>,
}

/// `bosket why`
#[derive(Debug, Args)]
#[command(
    after_help = "Splits one published label into those below it, leaves the rest, and verifies: says what somebody would know \
that fits too few, by attributes and levels. Without --label it lists the labels that can be asked about."
)]
pub struct Why {
    /// The policy that the publication was made by
    #[arg(value_hint = ValueHint::FilePath)]
    pub policy: PathBuf,
    /// Overrides
    #[command(flatten)]
    pub sets: Sets,
    /// The attribute
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    /// A label that it is published with
    #[arg(long, value_name = "LABEL", requires = "path")]
    pub label: Option<String>,
    /// The publication [default: where the policy publishes]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub publication: Option<PathBuf>,
    /// The private mapping [default: the policy's own, if it is there]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub mapping: Option<PathBuf>,
    /// Most memory for counting, such as 500M or 4G [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<usize>,
    /// Name the labels that would be known
    #[arg(long)]
    pub show_values: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `bosket demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// The folder to write into
    #[arg(value_name = "DIR", default_value = "bosket-demo", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
    /// How many patients
    #[arg(long, default_value_t = 2000)]
    pub people: u64,
    /// Another seed gives other patients
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Replace files that exist
    #[arg(long)]
    pub force: bool,
}

/// `bosket convert`
#[derive(Debug, Args)]
#[command(after_help = CONVERSIONS)]
pub struct Convert {
    /// The data: a file (`-` is standard input), a folder of tables in CSV or Parquet, a SQLite file,
    /// postgres://user@host/database, or a policy (.toml) whose source it is
    #[arg(value_name = "IN", value_hint = ValueHint::AnyPath)]
    pub input: PathBuf,
    /// Where it goes: a file (`-` is standard output), a folder of tables, a SQLite file, postgres://user@host/database
    #[arg(value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub output: PathBuf,
    /// How to read it
    #[command(flatten)]
    pub reading: Reading,
    /// Linked tables: the foreign key, as TABLE.COLUMN, by which a table hangs below another; may be given several times
    #[arg(long, value_name = "TABLE.COLUMN")]
    pub parent: Vec<String>,
    /// Format to write: ndjson, json, xml, csv, parquet, transactions, sqlite, postgres; by the name of OUT if not given
    #[arg(long, value_name = "NAME")]
    pub to: Option<String>,
    /// Where the records go in a JSON document, such as `entry[]`, or in an XML document [default: records/record]
    #[arg(long, value_name = "PATH")]
    pub to_record: Option<String>,
    /// What separates cells or items in what is written
    #[arg(long, value_name = "TEXT")]
    pub to_separator: Option<String>,
    /// The schema of a PostgreSQL database that tables go into
    #[arg(long, value_name = "NAME", default_value = "public")]
    pub schema: String,
    /// Replace files and tables that exist
    #[arg(long)]
    pub force: bool,
    /// Print JSON, unless the data itself goes to standard output
    #[arg(long)]
    pub json: bool,
}

const CONVERSIONS: &str = "\
Nothing is anonymized: what is written holds the same personal data as what is read. It is read again and compared \
before it gets its name; what the format cannot hold is named, and nothing is written. Tables become tables row by row, \
or nested records below the person table; a flat file becomes one table.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}

/// `bosket serve`
#[derive(Debug, Args)]
#[command(
    after_help = "The address works once and only on this machine. From another one: ssh -L 8080:127.0.0.1:8080 HOST, there \
                        `bosket serve --port 8080 --no-browser`, and here the printed address."
)]
pub struct Serve {
    /// The folder with the data and the policies; the page touches no other
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub folder: PathBuf,
    /// The port; a free one by default
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Only print the address
    #[arg(long)]
    pub no_browser: bool,
    /// A file or folder outside that the page may read and write too; may be given several times
    #[arg(long, value_name = "PATH")]
    pub allow: Vec<PathBuf>,
    /// Only check publications
    #[arg(long)]
    pub check: bool,
    /// End after so many minutes in which no page asked for anything and no job ran
    #[arg(long, value_name = "MINUTES", value_parser = parse_minutes)]
    pub idle: Option<f64>,
}
