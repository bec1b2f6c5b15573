//! Other people's tools on the same data, side by side: anjana and anonypy on UCI Adult, with pycanon as a cross-check of k. They run
//! in a virtual environment made for it; their publications are verified and measured as ours are.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::data::WEBVIEW_ACKNOWLEDGMENT;
use super::job::{Anonymize, Answer, Check, Job, Outcome, Policy, apart};
use super::result::{Axis, Claim, Holds, Suite, Table};
use super::rules::{LESS, Verdict, below};
use super::sweep::{Bench, Sweep};

/// Its name.
pub(super) const NAME: &str = "peers";

/// All packages with their versions.
const PINS: &str = include_str!("peers/requirements.txt");
/// What an environment is marked with that has all of them, and ours.
const MADE: &str =
    concat!(include_str!("peers/requirements.txt"), "bosket ", env!("CARGO_PKG_VERSION"), "\n");
const DRIVER: &str = include_str!("peers/peers.py");

const OURS: [&str; 2] = ["bosket blocks", "bosket ctoff"];
const THEIRS: [&str; 2] = ["anjana", "anonypy"];
/// `blocks` called from the same Python process as the peers.
const PYTHON: &str = "bosket";
const ARX: &str = "ARX (measured elsewhere)";

const MEASURES: &[&str] = &["LM", "wall", "cpu", "peak", "rows left out", "k", "k by pycanon", "verified"];

/// The python of the environment with the peers, and the driver.
struct Peers {
    python: PathBuf,
    driver: PathBuf,
}

impl Peers {
    /// Makes the environment, unless an earlier run has made the same one; or says why there is none.
    fn new(bench: &Bench) -> Result<Self, String> {
        let folder = bench.out.join("peers");
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display())).map(|()| path)
        };
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let driver = write("peers.py", DRIVER)?;
        let venv = folder.join("venv");
        let python = venv.join("bin/python");
        let made = folder.join("installed.txt");
        if std::fs::read_to_string(&made).is_ok_and(|made| made == MADE) && python.exists() {
            return Ok(Peers { python, driver });
        }
        bench.tell("peers: making a virtual environment");
        quietly(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
        let pins = write("requirements.txt", PINS)?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(pins);
        quietly(&mut pip)?;
        bench.tell("peers: building our own package");
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python");
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).arg(own);
        quietly(pip.arg("pyarrow"))?;
        write("installed.txt", MADE)?;
        Ok(Peers { python, driver })
    }

    /// Runs the driver; what it says.
    fn drive(&self, arguments: &[&str]) -> Result<Value, String> {
        let mut command = Command::new(&self.python);
        command.arg(&self.driver).args(arguments).stdin(Stdio::null());
        serde_json::from_str(&quietly(&mut command)?).map_err(|e| format!("the driver says no figures: {e}"))
    }

    /// The k that pycanon finds.
    fn k(&self, published: &Path) -> Result<f64, String> {
        let told = self.drive(&["pycanon", &published.display().to_string()])?;
        told["k"].as_f64().ok_or_else(|| "pycanon says no k".to_owned())
    }
}

/// What a command prints; the last line of its complaints if it fails.
fn quietly(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().rfind(|l| !l.trim().is_empty()).unwrap_or("it failed without a word").trim().to_owned())
}

/// Runs the suite.
pub(super) fn run(bench: &Bench) -> Result<Suite, String> {
    let adult = bench.data.adult(bench.pick(Some(500), None, None))?;
    let peers = Peers::new(bench);
    let ks: &[u32] = bench.pick(&[5][..], &[5, 10], &[5, 10]);
    let ours = bench.pick(&OURS[..1], &OURS[..1], &OURS[..]);
    let lines: Vec<&str> = ours.iter().copied().chain([PYTHON]).chain(THEIRS).chain([ARX]).collect();
    let sweep = Sweep {
        suite: NAME,
        id: "adult",
        title: "UCI Adult, k-anonymity, all 9 columns quasi-identifiers",
        axis: Axis::linear("k"),
        lines: lines.clone(),
        measures: MEASURES,
    };
    let mut table = sweep.empty();
    for k in ks {
        let answers: Vec<Answer> =
            lines.iter().map(|line| point(bench, &adult, peers.as_ref(), line, *k)).collect();
        table.push(f64::from(*k), &k.to_string(), &answers);
    }
    let sets = elsewhere(bench);
    let mut notes = vec![
        "Same rows, same hierarchies (those of ARX). LM is ours for all: the mean over all cells of the share of the other leaves that the published node could also stand for, 1 for every cell of a row that was left out. anonypy publishes sets of values and ranges; they are written as the lowest node of the same hierarchies that covers them, as that is what our formula is about. anjana may leave out 5 % of the rows.".to_owned(),
        "`bosket` is `blocks` through the Python package, from the same frame and in the same process as the peers; its time includes writing, reading again, verifying and measuring. `wall`, `cpu` and `peak` of the peers are those of the call that anonymizes, in a Python process that has read the table. Every publication went through our verifier (`verified`: 1 is yes) and through pycanon.".to_owned(),
        format!("Versions: {}.", PINS.lines().filter(|l| ["anjana", "anonypy", "pandas", "pycanon"].iter().any(|p| l.starts_with(&format!("{p}==")))).collect::<Vec<_>>().join(", ")),
        "ARX and Amnesia cannot be had from the registries. Their figures were measured elsewhere on the same files: ARX's local recoding of Adult, k = 5, in 4 to 5 s of computing; both on WebView, k = 5, fan-out 5, whole process, ARX with up to 2.5 GB.".to_owned(),
        "`whole` of ours is from reading the file to a publication that was written to memory, read again and verified; theirs is the whole process, which also starts up and writes files.".to_owned(),
        WEBVIEW_ACKNOWLEDGMENT.to_owned(),
    ];
    if let Err(why) = &peers {
        notes.insert(0, format!("The peers were NOT run, since their environment could not be made: {why}"));
    }
    let claims = claims(&table, &sets);
    let title = "Other tools on the same data".to_owned();
    Ok(Suite { name: NAME.to_owned(), title, seconds: 0.0, tables: vec![table, sets], notes, claims })
}

fn point(bench: &Bench, adult: &Path, peers: Result<&Peers, &String>, line: &str, k: u32) -> Answer {
    if line == ARX {
        // Its time is known as a range only, which the notes give.
        let mut outcome = Outcome { wall: f64::NAN, cpu: f64::NAN, peak: f64::NAN, ..Outcome::default() };
        outcome.figures.insert("LM".to_owned(), 0.0591);
        return if k == 5 { Ok(outcome) } else { Err("not measured".to_owned()) };
    }
    let published = adult.with_file_name(format!("{}-{k}.csv", line.replace(' ', "-")));
    let policy = Policy { path: adult.to_owned(), settings: vec![format!("privacy.k={k}")] };
    let mut outcome = match line.strip_prefix("bosket ") {
        Some(algorithm) => {
            let file = published.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            let settings = [format!("method.algorithm={algorithm}"), format!("publish.path={file}")];
            let job = Anonymize { policy: policy.with(&settings), publish: true, ..Anonymize::default() };
            bench.measure(&format!("{NAME} k {k}, {line}"), &Job::Anonymize(job))?
        }
        None => theirs(bench, adult, peers.map_err(Clone::clone)?, line, &policy, &published)?,
    };
    let rows = outcome.figure("records").unwrap_or(0.0);
    let all = outcome.figures.get("suppressed").map_or(0.0, |s| rows + s);
    // What somebody else has left out is what is not there.
    let total = if all > 0.0 { all } else { lines(adult)? };
    outcome.figures.insert("rows left out".to_owned(), total - rows);
    outcome.figures.insert("verified".to_owned(), f64::from(u8::from(outcome.sound == Some(true))));
    if let Some(own) = outcome.figure("smallest class") {
        outcome.figures.insert("k".to_owned(), own);
    }
    if let Ok(peers) = peers {
        outcome.figures.insert("k by pycanon".to_owned(), peers.k(&published)?);
    }
    Ok(outcome)
}

/// The rows of the table beside a policy.
fn lines(policy: &Path) -> Result<f64, String> {
    let path = policy.with_file_name("data.csv");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(text.lines().count().saturating_sub(1) as f64)
}

fn theirs(
    bench: &Bench,
    adult: &Path,
    peers: &Peers,
    line: &str,
    policy: &Policy,
    published: &Path,
) -> Answer {
    let k = policy.settings.iter().find_map(|s| s.strip_prefix("privacy.k=")).unwrap_or_default();
    let (data, folder) = (adult.with_file_name("data.csv"), adult.parent().unwrap_or(Path::new(".")));
    let texts = [&data, folder, published].map(|p| p.display().to_string());
    let told = peers.drive(&[line, &texts[0], &texts[1], k, &texts[2]])?;
    let figure = |name: &str| told[name].as_f64().ok_or_else(|| format!("the driver says no {name}"));
    let check = Check { policy: policy.clone(), published: published.to_owned() };
    // Not through the bench: a publication of theirs that is not sound is a finding, not a failure.
    let found = apart(&Job::Check(check), std::time::Duration::from_secs(300))?;
    let outcome = Outcome { wall: figure("wall")?, cpu: figure("cpu")?, peak: figure("peak")?, ..found };
    bench.tell(&format!(
        "{NAME} k {k}, {line}: {:.3} s, {:.3} s of computing, {:.0} MB",
        outcome.wall, outcome.cpu, outcome.peak
    ));
    Ok(outcome)
}

/// Seconds of computing and NCP in per cent that others were measured at on WebView: dataset, m, then ARX's set branch and Amnesia.
const ELSEWHERE: [(u32, u32, [f64; 2], [f64; 2]); 4] = [
    (1, 2, [3.4, 4.48], [6.6, 4.00]),
    (1, 3, [4.1, 10.81], [10.0, 10.81]),
    (2, 2, [13.1, 2.03], [68.7, 2.06]),
    (2, 3, [17.1, 3.73], [116.9, 3.73]),
];

/// k^m on WebView, against what others were measured at.
fn elsewhere(bench: &Bench) -> Table {
    let sweep = Sweep {
        suite: NAME,
        id: "webview",
        title: "k^m on WebView, k = 5, fan-out 5; seconds of computing from reading to the end",
        axis: Axis::named("data"),
        lines: vec!["bosket aa", "ARX, set branch (measured elsewhere)", "Amnesia (measured elsewhere)"],
        measures: &["whole", "NCP", "peak"],
    };
    let mut table = sweep.empty();
    for (at, (number, m, arx, amnesia)) in ELSEWHERE.iter().enumerate() {
        let name = format!("WebView-{number}, m = {m}");
        let ours = bench.data.webview(*number, 5).and_then(|path| {
            let settings = vec![format!("privacy.m={m}"), "method.improve=true".to_owned()];
            let job = Anonymize { policy: Policy { path, settings }, ..Anonymize::default() };
            bench.measure(&format!("{NAME} {name}, aa"), &Job::Anonymize(job))
        });
        let other = |figures: &[f64; 2]| {
            let mut outcome = Outcome { peak: f64::NAN, ..Outcome::default() };
            outcome.figures.insert("whole".to_owned(), figures[0]);
            outcome.figures.insert("NCP".to_owned(), figures[1]);
            Ok(outcome)
        };
        table.push(at as f64, &name, &[ours, other(arx), other(amnesia)]);
    }
    table
}

fn claims(adult: &Table, sets: &Table) -> Vec<Claim> {
    let [blocks, _] = OURS;
    let names = sets.lines();
    vec![
        agreement(adult).on("pycanon finds the same k as ours in every publication", None),
        Verdict::all(THEIRS.map(|peer| below(adult, "LM", blocks, peer, LESS)))
            .on("`blocks` loses less than anjana and anonypy", None),
        below(adult, "LM", blocks, ARX, LESS)
            .on("`blocks` loses less than ARX's local recoding", Some("0.0591")),
        Verdict::all(THEIRS.map(|peer| below(adult, "cpu", blocks, peer, LESS)))
            .on("`blocks` is faster than anjana and anonypy", None),
        Verdict::all(names[1..].iter().map(|peer| below(sets, "NCP", names[0], peer, 1.001)))
            .on("k^m on WebView: ours never loses more than ARX and Amnesia, within their rounding", None),
        Verdict::all(names[1..].iter().map(|peer| below(sets, "whole", names[0], peer, 0.1)))
            .on("k^m on WebView: ours takes at most a tenth of their computing time", None),
    ]
}

/// Both counts of k agree wherever there are both.
fn agreement(table: &Table) -> Verdict {
    let (mut same, mut total) = (0, 0);
    for line in table.lines() {
        let (own, other) = (table.series(line, "k"), table.series(line, "k by pycanon"));
        for (x, k) in &own {
            if let Some(theirs) = other.iter().find(|p| p.0 == *x) {
                total += 1;
                same += usize::from(theirs.1 == *k);
            }
        }
    }
    let holds = match (same, total) {
        (_, 0) => Holds::Unmeasured,
        (same, total) if same == total => Holds::Yes,
        (0, _) => Holds::No,
        _ => Holds::Partly,
    };
    Verdict { holds, why: format!("the same in {same} of {total} publications") }
}
