//! One measured point: a piece of work that a process of its own does, so that its memory is its own too.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// What to do.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Job {
    /// Anonymize what a policy names.
    Anonymize(Anonymize),
    /// Dissect what a policy names.
    Dissect(Policy),
    /// Group generated people.
    Group(Group),
    /// Verify a publication that somebody else has made, and measure its loss.
    Check(Check),
}

/// A policy with values set.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Policy {
    /// The file.
    pub(crate) path: PathBuf,
    /// Such as `privacy.k=20`.
    pub(crate) settings: Vec<String>,
}

impl Policy {
    /// The same with more values set.
    pub(crate) fn with(&self, settings: &[String]) -> Self {
        Policy { path: self.path.clone(), settings: [self.settings.as_slice(), settings].concat() }
    }
}

/// Records to publications in memory.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Anonymize {
    /// The policy.
    pub(crate) policy: Policy,
    /// Fewer transactions of fewer items.
    pub(crate) fold: Option<Fold>,
    /// Frequent patterns are compared too.
    pub(crate) mining: bool,
    /// Loss is measured as under this policy.
    pub(crate) measured_by: Option<PathBuf>,
    /// Also write the publication.
    pub(crate) publish: bool,
}

/// Fewer transactions of fewer items, as for the searches that cannot do with more.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Fold {
    /// The first so many.
    pub(crate) records: usize,
    /// Item numbers modulo this.
    pub(crate) items: u64,
}

/// People with a sensitive value each, out of a generated hierarchy; figures are means over seeds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Group {
    /// Children per node.
    pub(crate) fanout: usize,
    /// Levels of the hierarchy, the root's included.
    pub(crate) depth: usize,
    /// How many levels, from the lowest up, occur.
    pub(crate) levels: usize,
    /// Most occurrences of a value.
    pub(crate) most: usize,
    /// People per group.
    pub(crate) group_size: usize,
    /// Of the values outside one branch every so manieth is kept.
    pub(crate) bias: usize,
    /// Groups far apart in the hierarchy rather than distinct values only.
    pub(crate) delta: bool,
    /// How many datasets.
    pub(crate) seeds: u64,
}

/// The paper's defaults.
impl Default for Group {
    fn default() -> Self {
        Group { fanout: 3, depth: 5, levels: 2, most: 5, group_size: 5, bias: 1, delta: true, seeds: 5 }
    }
}

/// A publication of somebody else.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Check {
    /// What it claims, and where the private records are.
    pub(crate) policy: Policy,
    /// The publication.
    pub(crate) published: PathBuf,
}

/// What a point took and what came of it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Outcome {
    /// Seconds by the clock.
    pub(crate) wall: f64,
    /// Seconds of computing, all threads.
    pub(crate) cpu: f64,
    /// The most memory of the process meanwhile, the data included, in megabytes.
    pub(crate) peak: f64,
    /// Whether the publication keeps its promise; none where nothing is promised.
    pub(crate) sound: Option<bool>,
    /// What else was measured, by name.
    pub(crate) figures: BTreeMap<String, f64>,
}

impl Outcome {
    /// A figure by its name.
    pub(crate) fn figure(&self, measure: &str) -> Option<f64> {
        match measure {
            "wall" => Some(self.wall),
            "cpu" => Some(self.cpu),
            "peak" => Some(self.peak),
            name => self.figures.get(name).copied(),
        }
    }
}

/// What comes back: an outcome, or why there is none.
pub(crate) type Answer = Result<Outcome, String>;

/// Runs a job in a process of this program, for so long at most.
pub(crate) fn apart(job: &Job, limit: Duration) -> Answer {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(own);
    command.arg("point").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("the process did not start: {e}"))?;
    let text = serde_json::to_string(job).map_err(|e| e.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    }
    let (output, errors) = wait(child, limit)?;
    serde_json::from_str(&output).unwrap_or_else(|_| {
        let said = errors.lines().find(|l| !l.trim().is_empty() && !l.starts_with("thread "));
        Err(said.unwrap_or("the process ended without a word").trim().to_owned())
    })
}

/// What a process prints, or that it took too long.
fn wait(mut child: Child, limit: Duration) -> Result<(String, String), String> {
    let (mut output, mut errors) = (child.stdout.take(), child.stderr.take());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let output = scope.spawn(move || {
            let mut text = String::new();
            let read = output.as_mut().map(|o| o.read_to_string(&mut text));
            read.transpose().map(|_| text)
        });
        let errors = scope.spawn(move || {
            let mut text = String::new();
            let read = errors.as_mut().map(|o| o.read_to_string(&mut text));
            read.transpose().map(|_| text)
        });
        let mut late = false;
        while child.try_wait().map_err(|e| e.to_string())?.is_none() {
            if begun.elapsed() > limit {
                late = true;
                child.kill().map_err(|e| e.to_string())?;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let text = |thread: std::thread::ScopedJoinHandle<'_, std::io::Result<String>>| {
            thread.join().ok().and_then(Result::ok).unwrap_or_default()
        };
        let (output, errors) = (text(output), text(errors));
        if late {
            return Err(format!("stopped after {} s", limit.as_secs()));
        }
        Ok((output, errors))
    })
}

/// What the other process does: reads a job, does it, prints what came of it.
pub(crate) fn here() {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|e| e.to_string());
    let job = read.and_then(|_| serde_json::from_str::<Job>(&text).map_err(|e| e.to_string()));
    let answer: Answer = job.and_then(|job| match job {
        Job::Anonymize(job) => super::anonymize::run(&job),
        Job::Dissect(policy) => super::dissect::document(&policy),
        Job::Group(job) => super::dissect::generated(&job),
        Job::Check(job) => super::anonymize::check(&job),
    });
    println!("{}", serde_json::to_string(&answer).expect("plain figures are JSON"));
}
