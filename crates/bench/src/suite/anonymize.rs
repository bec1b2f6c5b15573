//! Points of the families that publish one record per person: what a policy asks for, from records in memory to published
//! records in memory, then verified and measured.

use std::io::Cursor;
use std::path::Path;

use bosket_engine::{cluster, km, kmn};
use bosket_io::hierarchies::{self, HierarchyNeeds};
use bosket_io::transactions::Transactions;
use bosket_io::{Create, Format as _, Input, Layout, PolicyFile, Publication, SourceForm, Whereabouts};
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_measure::{sets, trees};
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Quiet;
use bosket_model::policy::Model;
use bosket_model::value_tree::ValueTrees;
use bosket_model::{Dataset, Failure};
use bosket_verify::{Claim, verify};

use super::job::{Anonymize, Answer, Check, Fold, Outcome};
use super::sweep::unit;
use crate::resources::{cpu, mb, memory, reset_peak, timed};

/// Work is repeated until it has taken so long, in seconds: the system counts computing in steps of milliseconds.
const LONG: f64 = 0.3;

/// So often at most.
const TIMES: u32 = 20;

/// Bytes for counting during verification.
const MEMORY: usize = 2 << 30;

/// Everything that the work needs.
struct Prepared {
    file: PolicyFile,
    data: Dataset,
    form: Option<SourceForm>,
    binding: Binding,
    hierarchies: Vec<Option<Hierarchy>>,
}

/// What an engine has made: the published records, and for each its input record.
struct Made {
    data: Product,
    mapping: Vec<(u32, u32)>,
    figures: Vec<(&'static str, f64)>,
}

enum Product {
    Sets(ValueTrees),
    Trees(ValueTrees),
    Vertices(Dataset),
}

/// The first thing that a failure says.
fn first(failure: Failure) -> String {
    failure.diagnostics.first().map_or_else(|| "it failed".to_owned(), |d| d.message.clone())
}

/// Does the work of a point.
pub(super) fn run(job: &Anonymize) -> Answer {
    let prepared = prepare(&job.policy.path, &job.policy.settings, job.fold).map_err(first)?;
    reset_peak();
    let mut outcome = Outcome { wall: f64::MAX, ..Outcome::default() };
    let mut made = None;
    let (mut computing, mut clock, mut times) = (0.0, 0.0, 0);
    while times < TIMES && clock < LONG {
        drop(made.take());
        let begun = cpu();
        let (found, time) = timed(|| make(&prepared));
        computing += cpu() - begun;
        clock += time.as_secs_f64();
        times += 1;
        outcome.wall = outcome.wall.min(time.as_secs_f64());
        made = Some(found.map_err(first)?);
    }
    outcome.cpu = computing / f64::from(times);
    outcome.peak = mb(memory().1);
    let made = made.ok_or("nothing was made")?;
    outcome.figures.extend(made.figures.iter().map(|(name, value)| ((*name).to_owned(), *value)));
    finish(job, &prepared, made, &mut outcome).map_err(first)?;
    // The repetitions are ours, not the work's.
    outcome.figures.entry("whole".to_owned()).and_modify(|whole| *whole -= computing - outcome.cpu);
    Ok(outcome)
}

fn prepare(policy: &Path, settings: &[String], fold: Option<Fold>) -> Result<Prepared, Failure> {
    let file = PolicyFile::load(policy, settings)?;
    let place = Whereabouts::input(&file)?;
    let name = place.name();
    let (data, form) = match (fold, &place) {
        (Some(fold), Whereabouts::Document { path, .. }) => (folded(path, fold)?, None),
        _ => {
            let opened = place.open(&Quiet)?;
            (opened.data, Some(opened.form))
        }
    };
    let policy = &file.policy;
    let binding = Binding::of_input(data.schema(), &policy.attributes, policy.undeclared, &name)?;
    let ask = HierarchyNeeds { required: true, show_values: false };
    let (hierarchies, _) = hierarchies::load(&file, &data, &binding, &name, ask)?;
    Ok(Prepared { file, data, form, binding, hierarchies })
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

fn make(prepared: &Prepared) -> Result<Made, Failure> {
    let policy = &prepared.file.policy;
    let privacy = policy.need_privacy()?;
    let own = prepared.binding.without_companions();
    let same = |trees: &ValueTrees| (0..trees.len() as u32).map(|r| (r, r)).collect();
    match privacy.model {
        Model::Km => {
            let params = km::Params::new(policy)?;
            let release = km::run(&prepared.trees()?, &prepared.hierarchies, &params, &Quiet)?;
            Ok(Made { mapping: same(&release.trees), data: Product::Sets(release.trees), figures: vec![] })
        }
        Model::Kmn => {
            let params = kmn::Params::new(policy)?;
            let release = kmn::run(&prepared.trees()?, &prepared.hierarchies, &params, None, &Quiet)?;
            let figures = vec![
                ("rules", release.rules.len() as f64),
                ("cuts", release.examined as f64),
                ("cost", release.cost),
            ];
            Ok(Made { mapping: same(&release.trees), data: Product::Trees(release.trees), figures })
        }
        _ => {
            let params = cluster::Params::new(policy)?;
            let release = cluster::run(&prepared.data, &own, &prepared.hierarchies, &params, &Quiet)?;
            let mapping = release.records.iter().copied().zip(0..).collect();
            let figures = vec![("suppressed", release.suppressed.len() as f64)];
            Ok(Made { mapping, data: Product::Vertices(release.data), figures })
        }
    }
}

/// Verifies and measures what was made.
fn finish(job: &Anonymize, prepared: &Prepared, made: Made, outcome: &mut Outcome) -> Result<(), Failure> {
    let policy = &prepared.file.policy;
    let (data, sets) = match made.data {
        Product::Sets(trees) => (prepared.transactions(&trees)?, Some(trees)),
        Product::Trees(trees) => (trees.write_back(&prepared.binding), None),
        Product::Vertices(data) => (data, None),
    };
    let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, "the publication")?;
    let witness = verify(&data, &binding, &Claim::new(policy)?, &prepared.hierarchies, MEMORY, &Quiet)?;
    outcome.sound = Some(witness.is_none());
    outcome.figures.insert("whole".to_owned(), cpu());
    outcome.figures.insert("records".to_owned(), data.len() as f64);
    let height = prepared.hierarchies.iter().flatten().map(Hierarchy::height).max();
    outcome.figures.extend(height.map(|h| ("height".to_owned(), f64::from(h))));
    if let Some(published) = sets {
        return prepared.set_loss(&published, &made.mapping, job.mining, outcome);
    }
    let other = job.measured_by.as_ref().map(|path| PolicyFile::load(path, &[])).transpose()?;
    let compared = Compared {
        policy: other.as_ref().map_or(policy, |file| &file.policy),
        input: Side { data: &prepared.data, binding: &prepared.binding },
        published: Side { data: &data, binding: &binding },
        hierarchies: &prepared.hierarchies,
        mapping: Some(&made.mapping),
        mining: job.mining,
    };
    measure(&compared, outcome)?;
    if job.publish
        && let Some(form) = &prepared.form
    {
        let create = Create { force: true, ..Create::default() };
        let mut publication = Publication::begin(&prepared.file, form, create)?;
        publication.write(&data, &Quiet)?;
        publication.finish(Vec::new(), &Quiet)?;
    }
    Ok(())
}

impl Prepared {
    fn trees(&self) -> Result<ValueTrees, Failure> {
        let privacy = self.file.policy.need_privacy()?;
        let own = self.binding.without_companions();
        Ok(ValueTrees::new(&self.data, &own, privacy.root, privacy.payload))
    }

    /// Published sets as a stranger reads them: without the order of the input, so that only the verifier can use them.
    fn transactions(&self, trees: &ValueTrees) -> Result<Dataset, Failure> {
        let layout = match &self.form {
            Some(SourceForm::Document { layout, .. }) => layout.clone(),
            _ => Layout::default(),
        };
        let mut bytes = Vec::new();
        Transactions.write(&trees.write_back(&self.binding), &layout, &mut bytes, &Quiet)?;
        let input = Input::new("published", Cursor::new(bytes), None)?;
        Ok(bosket_io::read(input, Some("transactions"), &layout)?.data)
    }

    fn set_loss(
        &self,
        published: &ValueTrees,
        mapping: &[(u32, u32)],
        mining: bool,
        outcome: &mut Outcome,
    ) -> Result<(), Failure> {
        let input = self.trees()?;
        let compared = trees::Comparison {
            input: &input,
            published,
            binding: &self.binding,
            hierarchies: &self.hierarchies,
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
}

/// Figures of the loss; shares in per cent.
fn measure(compared: &Compared<'_>, outcome: &mut Outcome) -> Result<(), Failure> {
    let loss = Loss::new(compared, &Quiet)?;
    for figure in &loss.figures {
        // Columns are named in plain letters.
        let name = figure.name.replace('²', "2");
        if let Some(value) = figure.value {
            let value = if unit(&name) == "%" { 100.0 * value } else { value };
            outcome.figures.insert(name, value);
        }
    }
    outcome.figures.insert("records".to_owned(), loss.published_records as f64);
    Ok(())
}

/// Verifies and measures what somebody else has made of the records.
pub(super) fn check(job: &Check) -> Answer {
    let inner = || -> Result<Outcome, Failure> {
        let prepared = prepare(&job.policy.path, &job.policy.settings, None)?;
        let policy = &prepared.file.policy;
        let place = Whereabouts::given(&prepared.file, &job.published, true)?;
        let name = place.name();
        let data = place.open(&Quiet)?.data;
        let binding = Binding::new(data.schema(), &policy.attributes, policy.undeclared, &name)?;
        let witness = verify(&data, &binding, &Claim::new(policy)?, &prepared.hierarchies, MEMORY, &Quiet)?;
        let mut outcome = Outcome { sound: Some(witness.is_none()), ..Outcome::default() };
        let compared = Compared {
            policy,
            input: Side { data: &prepared.data, binding: &prepared.binding },
            published: Side { data: &data, binding: &binding },
            hierarchies: &prepared.hierarchies,
            mapping: None,
            mining: false,
        };
        measure(&compared, &mut outcome)?;
        Ok(outcome)
    };
    inner().map_err(first)
}
