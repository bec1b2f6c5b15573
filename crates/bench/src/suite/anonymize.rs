//! Points of the families that publish one record per person: what a policy asks for, from records in memory to published
//! records in memory, then verified and measured.

use std::io::Cursor;
use std::path::Path;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::make::{Made, Product};
use bosket_app::measure::MeasureRequest;
use bosket_app::trial::{Trial, TrialData};
use bosket_app::verify::VerifyRequest;
use bosket_app::{Figures, PolicyAt, Settings};
use bosket_io::{Input, Layout, PolicyFile};
use bosket_measure::kept::Fate;
use bosket_measure::loss::Loss;
use bosket_measure::{sets, trees};
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Role, Shape};
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Failure};

use super::job::{Anonymize, Answer, Check, Fold, Outcome};
use super::sweep::unit;
use crate::resources::{cpu, mb, memory, reset_peak, timed};

/// Work is repeated until it has taken so long, in seconds: the system counts computing in steps of milliseconds.
const LONG: f64 = 0.3;

/// So often at most.
const TIMES: u32 = 20;

/// Bytes for counting during verification.
const MEMORY: usize = 2 << 30;

fn settings() -> Settings {
    Settings { memory: Some(MEMORY), ..Settings::default() }
}

/// The first thing that a failure says.
fn first(failure: Failure) -> String {
    failure.diagnostics.first().map_or_else(|| "it failed".to_owned(), |d| d.message.clone())
}

/// Does the work of a point.
pub(super) fn run(job: &Anonymize) -> Answer {
    work(job).map_err(first)
}

fn work(job: &Anonymize) -> Result<Outcome, Failure> {
    let at =
        PolicyAt { path: job.policy.path.clone(), sets: job.policy.settings.clone(), ..PolicyAt::default() };
    let file = PolicyFile::load(&at.path, &at.sets)?;
    let data = match (job.fold, file.policy.need_source()?.path.as_deref()) {
        (Some(fold), Some(path)) => {
            let folded = folded(&file.resolve(path), fold)?;
            TrialData::new(&file, folded, "folded", &settings(), &Quiet)?
        }
        _ => TrialData::read(&file, &settings(), &Quiet)?,
    };
    let data = data.value;
    let trial = Trial::new(&file, &data, &settings())?;
    reset_peak();
    let mut outcome = Outcome { wall: f64::MAX, ..Outcome::default() };
    let mut made = None;
    let (mut computing, mut clock, mut times) = (0.0, 0.0, 0);
    while times < TIMES && clock < LONG {
        drop(made.take());
        let begun = cpu();
        let (found, time) = timed(|| trial.make(&Quiet));
        computing += cpu() - begun;
        clock += time.as_secs_f64();
        times += 1;
        outcome.wall = outcome.wall.min(time.as_secs_f64());
        made = Some(found?);
    }
    outcome.cpu = computing / f64::from(times);
    outcome.peak = mb(memory().1);
    let Some(made) = made else { return Err(Failure::defect("nothing was made")) };
    outcome.figures.extend(figures(&made).into_iter().map(|(name, value)| (name.to_owned(), value)));
    finish(job, &file, (&data, &trial), &made, &mut outcome)?;
    if job.publish {
        let request = AnonymizeRequest { policy: at, force: true, ..AnonymizeRequest::default() };
        let _ = bosket_app::anonymize(&request, &Quiet)?;
    }
    // The repetitions are ours, not the work's.
    outcome.figures.entry("whole".to_owned()).and_modify(|whole| *whole -= computing - outcome.cpu);
    Ok(outcome)
}

/// What a run tells about itself and tables show.
fn figures(made: &Made) -> Vec<(&'static str, f64)> {
    match &made.figures {
        Figures::Kmn(f) => {
            vec![("rules", f.disassociations as f64), ("cuts", f.cuts_examined as f64), ("cost", f.cost)]
        }
        Figures::Clusters(f) => vec![("suppressed", f.suppressed as f64)],
        Figures::Km(_) | Figures::Dissected(_) => Vec::new(),
    }
}

/// The first transactions, their items by number modulo another.
fn folded(path: &Path, fold: Fold) -> Result<Dataset, Failure> {
    let text = Input::open(path)?.read_all()?;
    let mut out = String::new();
    for line in String::from_utf8_lossy(&text).lines().take(fold.records) {
        let numbers = line.split_whitespace().filter_map(|n| n.parse::<u64>().ok());
        let mut items: Vec<u64> = numbers.map(|n| n % fold.items).collect();
        items.sort_unstable();
        items.dedup();
        out.push_str(&items.iter().map(u64::to_string).collect::<Vec<_>>().join(" "));
        out.push('\n');
    }
    let input = Input::new("folded", Cursor::new(out.into_bytes()), None)?;
    Ok(bosket_io::read(input, Some("transactions"), &Layout::default())?.data)
}

/// Verifies and measures what was made.
fn finish(
    job: &Anonymize,
    file: &PolicyFile,
    (data, trial): (&TrialData, &Trial<'_>),
    made: &Made,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let tried = trial.judge(made, &Quiet)?;
    outcome.sound = Some(tried.verification.holds());
    outcome.figures.insert("whole".to_owned(), cpu());
    outcome.figures.insert("records".to_owned(), tried.verification.records as f64);
    let height = data.hierarchies().iter().flatten().map(Hierarchy::height).max();
    outcome.figures.extend(height.map(|h| ("height".to_owned(), f64::from(h))));
    if let (Shape::Set, Product::Trees(sets)) = (file.policy.need_privacy()?.model.shape(), &made.product) {
        return set_loss((data, &trial.trees()?), sets, &tried.mapping, job.mining, outcome);
    }
    let other = job.measured_by.as_ref().map(|path| PolicyFile::load(path, &[])).transpose()?;
    let by = other.as_ref().map_or(&file.policy, |file| &file.policy);
    measure(&trial.loss(&tried, by, job.mining, &Quiet)?, outcome);
    Ok(())
}

fn set_loss(
    (data, input): (&TrialData, &ValueTrees),
    published: &ValueTrees,
    mapping: &[(u32, u32)],
    mining: bool,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let compared = trees::Comparison {
        input,
        published,
        binding: data.binding(),
        hierarchies: data.hierarchies(),
        mapping: Some(mapping),
    };
    let usual = sets::Mining::default();
    let asked = if mining { usual } else { sets::Mining { thresholds: Vec::new(), ..usual } };
    let loss = sets::SetLoss::new(&compared, &asked, &Quiet)?;
    let mined = loss.itemsets.as_ref().filter(|_| mining);
    let figures = [
        ("NCP", loss.ncp().map(|v| 100.0 * v)),
        ("ML2", mined.map(|i| 100.0 * i.ml2())),
        ("dML2", mined.map(sets::ItemsetLoss::dml2)),
        ("dML2 of lost", mined.and_then(sets::ItemsetLoss::dml2_undetected)),
    ];
    outcome.figures.extend(figures.into_iter().filter_map(|(name, v)| Some((name.to_owned(), v?))));
    Ok(())
}

/// Figures of the loss; shares in per cent.
fn measure(loss: &Loss, outcome: &mut Outcome) {
    for figure in &loss.figures {
        // Columns are named in plain letters.
        let name = figure.name.replace('²', "2");
        if let Some(value) = figure.value {
            let value = if unit(&name) == "%" { 100.0 * value } else { value };
            outcome.figures.insert(name, value);
        }
    }
    outcome.figures.insert("records".to_owned(), loss.published_records as f64);
    let kept = &loss.kept;
    let quasi = || kept.attributes.iter().filter(|a| a.role == Role::Quasi).map(|a| &a.values);
    // What looks alike is there once for all.
    let told = |values: &Fate| values.published + values.lost.map_or(0, |lost| lost.merged) - values.anything;
    let shapes = [
        ("people", kept.classes.first().map_or(0, |class| class.rows.input)),
        ("rows", kept.classes.iter().skip(1).map(|class| class.rows.input).sum()),
        ("quasi attributes", quasi().count() as u64),
        ("mostly *", quasi().filter(|values| 2 * told(values) < values.input).count() as u64),
    ];
    outcome.figures.extend(shapes.map(|(name, value)| (name.to_owned(), value as f64)));
}

/// Verifies and measures what somebody else has made of the records.
pub(super) fn check(job: &Check) -> Answer {
    let inner = || -> Result<Outcome, Failure> {
        let policy = PolicyAt {
            path: job.policy.path.clone(),
            sets: job.policy.settings.clone(),
            ..PolicyAt::default()
        };
        let file = PolicyFile::load(&policy.path, &policy.sets)?;
        let input = file.resolve(file.policy.need_source()?.path.as_deref().unwrap_or_default());
        let publication = job.published.clone();
        let request = VerifyRequest {
            publication: publication.clone(),
            policy: Some(policy.clone()),
            settings: settings(),
            ..VerifyRequest::default()
        };
        let verified = bosket_app::verify(&request, &Quiet)?.value;
        let mut outcome = Outcome { sound: Some(verified.holds()), ..Outcome::default() };
        let request = MeasureRequest { input, publication, policy, ..MeasureRequest::default() };
        measure(&bosket_app::measure(&request, &Quiet)?.value, &mut outcome);
        Ok(outcome)
    };
    inner().map_err(first)
}
