//! Clustering of students: time, memory and loss.

mod adult;
mod figures;
mod literal;
mod scale;
mod settings;

use std::path::{Path, PathBuf};

use bosket_engine::cluster::{self, Params, Release};
use bosket_generate::students::{self, Kind};
use bosket_measure::vertices::{Comparison, VertexLoss};
use bosket_model::Dataset;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, HierarchySpec, build, csv};
use bosket_model::observe::Quiet;
use bosket_model::policy::Policy;
use bosket_verify::{Claim, verify};

use crate::read::read;
use crate::resources::{cpu, mb, memory, reset_peak, timed};

/// Count queries that accuracy is taken from.
const QUERIES: usize = 200;

/// Students with what is needed to cluster them.
pub(crate) struct Students {
    pub(crate) kind: Kind,
    pub(crate) data: Dataset,
    pub(crate) binding: Binding,
    pub(crate) hierarchies: Vec<Option<Hierarchy>>,
}

/// A run of an algorithm, verified.
pub(crate) struct Run {
    pub(crate) release: Release,
    /// Seconds that the processor worked.
    pub(crate) seconds: f64,
}

impl Students {
    pub(crate) fn new(kind: Kind, number: u64) -> Self {
        let mut text = Vec::new();
        students::write_records(&mut text, kind, number, 0).expect("writing to memory");
        let data = read(&text);
        let policy = policy(kind, &[]);
        let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, "students")
            .expect("all declared");
        let files = students::hierarchies(kind);
        let hierarchy = |spec: &HierarchySpec| match spec {
            HierarchySpec::File(path) => {
                let name = path.trim_start_matches("hierarchies/").trim_end_matches(".csv");
                let (_, text) = files.iter().find(|(file, _)| *file == name).expect("a file of students");
                csv::parse(path, text).expect("a good hierarchy")
            }
            HierarchySpec::Build(spec) => build(spec, &[], None).expect("a good hierarchy"),
        };
        let hierarchies = policy.attributes.iter().map(|a| a.hierarchy.as_ref().map(hierarchy)).collect();
        Students { kind, data, binding, hierarchies }
    }

    /// Runs what the policy's settings ask for.
    pub(crate) fn run(&self, settings: &[String]) -> Run {
        self.try_run(settings).expect("reachable")
    }

    /// The same; none if nothing could be published.
    pub(crate) fn try_run(&self, settings: &[String]) -> Option<Run> {
        let policy = policy(self.kind, settings);
        let params = Params::new(&policy).expect("possible");
        let before = cpu();
        let release = cluster::run(&self.data, &self.binding, &self.hierarchies, &params, &Quiet).ok()?;
        let seconds = cpu() - before;
        let claim = Claim::new(&policy).expect("a claim");
        let again = Binding::new(release.data.schema(), &policy.attributes, policy.undeclared, "published")
            .expect("all declared");
        let witness = verify(&release.data, &again, &claim, &[], 2 << 30, &Quiet).expect("countable");
        assert!(witness.is_none(), "the publication is not sound");
        Some(Run { release, seconds })
    }

    /// What a run has lost.
    pub(crate) fn loss(&self, run: &Run) -> VertexLoss {
        let policy = policy(self.kind, &[]);
        let again =
            Binding::new(run.release.data.schema(), &policy.attributes, policy.undeclared, "published")
                .expect("all declared");
        let compared = Comparison {
            input: (&self.data, &self.binding),
            published: (&run.release.data, &again),
            hierarchies: &self.hierarchies,
            lost_sensitive: 0.0,
        };
        VertexLoss::new(&compared, QUERIES, 1, &Quiet).expect("nobody interrupts")
    }
}

fn policy(kind: Kind, settings: &[String]) -> Policy {
    Policy::parse("students", &students::document_policy(kind), settings).expect("a good policy").0
}

/// The kind of students with this name.
fn kind(name: &str) -> Kind {
    match name {
        "school" => Kind::School,
        "syntheticT" => Kind::SyntheticT,
        _ => Kind::SyntheticS,
    }
}

/// What is asked of the suite.
pub(crate) struct Options {
    /// How many students.
    pub(crate) students: u64,
    /// Also 5,000 and 20,000 of them.
    pub(crate) large: bool,
    /// So many students for the literal algorithm.
    pub(crate) literal: u64,
    /// Where figures are drawn.
    pub(crate) out: Option<PathBuf>,
    /// Where UCI Adult is, if not beside the repository.
    pub(crate) adult: Option<PathBuf>,
}

/// Rows of UCI Adult alone.
pub(crate) fn adult(folder: Option<&Path>) {
    adult::run(folder);
}

/// Everything about clusters; figures also as SVG files in a folder.
pub(crate) fn run(options: &Options) {
    let (number, large, out) = (options.students, options.large, options.out.as_deref());
    scale::times(number);
    adult::run(options.adult.as_deref());
    literal::compare(options.literal);
    settings::compare(number);
    figures::diversity(number, out);
    figures::anonymity(number, out);
    if large {
        scale::growth();
    }
}

fn texts(settings: &[&str]) -> Vec<String> {
    settings.iter().map(|s| (*s).to_owned()).collect()
}

/// One run, for its own sake.
pub(crate) fn search_here(name: &str, number: u64, settings: &[String]) {
    let students = Students::new(kind(name), number);
    reset_peak();
    let (run, time) = timed(|| students.run(settings));
    println!(
        "{name} {number} {}: {:.3} s CPU ({:.3} s with verification), LM {:.4}, {} clusters, {} suppressed, {} pruned, peak {:.0} MB",
        settings.join(" "),
        run.seconds,
        time.as_secs_f64(),
        run.release.lm,
        run.release.clusters.len(),
        run.release.suppressed.len(),
        run.release.pruned,
        mb(memory().1),
    );
}
