//! The attacker's side: how many records fit what somebody may know of a person.
//!
//! **Knowledge** of size (m, n) is up to m quasi values of a record and up to n relations between them. A person's
//! **fewest matches** are the fewest records, the person's own among them, that fit any of it; more knowledge never
//! matches more, so only the largest pieces are counted. All knowledge of all people is counted at once (`sweep`) as far
//! as a budget of steps allows, then people are sampled (`person`), and where one has too much to be gone through, pieces
//! of their knowledge too. Of vertex trees the attacker knows everything quasi and the structure (`vertices`).

mod anatomized;
mod apart;
mod beyond;
mod count;
mod figures;
pub mod guess;
mod json;
mod levels;
mod person;
mod population;
mod raw;
mod records;
mod secrets;
mod sweep;
mod together;
mod told;
mod vertices;
mod worst;

use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Privacy, Relations, Role, Shape};
use bosket_model::random::Random;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};

pub use anatomized::{Sides, risk_anatomized};
pub use apart::risk_apart;
pub use beyond::Beyond;
pub use figures::{Bin, Journalist, Point, Share};
pub use population::{Population, Side, check_journalist, journalist};
pub use told::{Told, attackers};

use levels::{Level, Plan};
use person::work;
use records::{MOST_VALUES, Records};
use secrets::Labels;
use worst::Strength;

/// A value that an attacker knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Path of its attribute.
    pub path: String,
    /// The value, with how often it occurs where that is known too.
    pub value: String,
}

/// A person who is found easily.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    /// Which record, from 0.
    pub record: usize,
    /// How many records fit the knowledge.
    pub matches: usize,
    /// What is known.
    pub known: Vec<Known>,
    /// Which of these values are known to be related: (ancestor, descendant), as indices into `known`.
    pub relations: Vec<(usize, usize)>,
}

/// How well attackers do.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    /// How many records there are.
    pub records: usize,
    /// How many matches are enough.
    pub k: u32,
    /// The risk from attackers of different strength. For each number of relations, by number of values; of vertex trees
    /// first from one who knows everything.
    pub points: Vec<Point>,
    /// The people who are found most easily by an attacker of the policy's strength.
    pub worst: Vec<Worst>,
    /// The points where all relations of a value must hold at one place, if the policy's own reading is weaker.
    pub embedded: Option<Vec<Point>>,
    /// What the attackers find against whom the publication has to hold, where values are counted: as promised, and with one
    /// value more.
    pub attackers: Vec<Told>,
}

impl Risk {
    /// The attacker who finds most people alone with one value more than promised.
    pub fn worst_attacker(&self) -> Option<&Told> {
        beyond::worst(&self.attackers)
    }
}

/// Which attackers, and how much work they may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Numbers of values that are known.
    pub m: Vec<u32>,
    /// Numbers of relations that are known.
    pub n: Vec<u32>,
    /// Most steps of counting, per strength of attackers.
    pub budget: u64,
    /// How many people are looked at; as many as the budget allows if not given.
    pub sample: Option<usize>,
    /// How many of the worst-off people are wanted.
    pub worst: usize,
    /// What samples are drawn with.
    pub seed: u64,
}

/// Steps that take some ten seconds.
const BUDGET: u64 = 500_000_000;

/// Curves end here unless the policy goes further.
const CURVE: u32 = 4;

impl Options {
    /// One value more than the policy guards against, with no relation and with as many as it says.
    pub fn of(policy: &Policy) -> Self {
        let privacy = policy.privacy.as_ref();
        let known = privacy.and_then(Privacy::most_known);
        // Whom attackers find is told for each of them; here for anybody, a few values further.
        let told = privacy.is_some_and(|privacy| privacy.m.is_none());
        let m = match known {
            Some((m, _)) if told => CURVE.min(m + 1),
            Some((m, _)) => m.max(CURVE.min(m.saturating_add(1))).clamp(1, MOST_VALUES as u32),
            None => CURVE - 1,
        };
        let mut n = vec![0, known.map_or(0, |(_, n)| n)];
        n.dedup();
        Options { m: (1..=m).collect(), n, budget: BUDGET, sample: None, worst: 5, seed: policy.seed }
    }
}

/// How well attackers do on some data.
pub fn risk(
    data: &Dataset,
    binding: &Binding,
    policy: &Policy,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Risk> {
    let privacy = policy.need_privacy()?;
    check(binding, policy, options)?;
    match privacy.model.counts_values() {
        true => of_knowledge(data, binding, policy, options, observer),
        false => of_vertices(data, binding, policy, options, observer),
    }
}

fn check(binding: &Binding, policy: &Policy, options: &Options) -> Result<()> {
    let mut problems = Vec::new();
    if !binding.attributes.iter().flatten().any(|&d| binding.declared[d].role == Role::Quasi) {
        let what = "none of the policy's quasi attributes is in the data: there is nothing to know";
        let what = Diagnostic::error(what).at(Place::source(&policy.name));
        problems.push(what.help("check that policy and data belong together, and the paths"));
    }
    if options.m.iter().any(|&m| m == 0 || m as usize > MOST_VALUES) {
        let what = format!("attackers know from 1 to {MOST_VALUES} values");
        problems.push(Diagnostic::error(what).help("ask for fewer with `--m`"));
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, problems)) }
}

/// How many matches are enough.
fn least(privacy: &Privacy) -> u32 {
    let diverse = privacy.l.map_or(2, |l| l.ceil() as u32);
    privacy.k.or(privacy.group_size).unwrap_or(diverse).max(1)
}

fn of_knowledge(
    data: &Dataset,
    binding: &Binding,
    policy: &Policy,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Risk> {
    let privacy = policy.need_privacy()?;
    let k = least(privacy);
    let mut relations: Vec<usize> = options.n.iter().map(|&n| n as usize).collect();
    if !privacy.model.counts_relations() {
        relations.iter_mut().for_each(|n| *n = 0);
    }
    relations.sort_unstable();
    relations.dedup();
    let most = relations.last().copied().unwrap_or(0);
    let embedded = privacy.relations == Relations::Embedded && most > 1;
    let records = Records::read(data, binding, privacy, (most > 0, embedded), observer)?;
    let plan = Plan { records: &records, options, relations: &relations, observer };
    let levels = plan.levels()?;
    let mut points = plan.points(&levels, k);
    if privacy.l.is_some() {
        add_confidence(&mut points, data, binding, policy, &plan)?;
    }
    let worst = worst_off(&levels, &plan, binding, privacy)?;
    let embedded = if most == 0 || privacy.relations == Relations::Embedded {
        None
    } else if most == 1 {
        // One relation holds at one place anyway.
        Some(points.clone())
    } else {
        let records = Records::read(data, binding, privacy, (true, true), observer)?;
        let plan = Plan { records: &records, ..plan };
        let levels = plan.levels()?;
        Some(plan.points(&levels, k))
    };
    let attackers = attackers(data, binding, policy, options, observer)?;
    Ok(Risk { records: data.len(), k, points, worst, embedded, attackers })
}

/// One part in so many of the budget is for the knowledge of one of the worst-off.
const WORST_SHARE: u64 = 20;

/// Those who are found most easily by an attacker of the policy's strength, or the strongest below it.
fn worst_off(levels: &[Level], plan: &Plan<'_>, binding: &Binding, privacy: &Privacy) -> Result<Vec<Worst>> {
    let claimed = privacy.m.unwrap_or(u32::MAX);
    let level = levels.iter().rev().find(|level| level.m <= claimed).or(levels.first());
    let Some(level) = level else {
        return Ok(Vec::new());
    };
    let claimed = privacy.n.unwrap_or(0) as usize;
    let at = plan.relations.iter().rposition(|&n| n <= claimed).unwrap_or(0);
    let Some(figures) = level.figures.get(at) else {
        return Ok(Vec::new());
    };
    let fewest: Vec<(u32, u32)> =
        level.people.iter().zip(figures).map(|(&person, figure)| (person, figure.fewest)).collect();
    let strength = Strength { values: level.m as usize, relations: plan.relations[at] };
    let budget = plan.options.budget / WORST_SHARE;
    (worst::rank(plan.records, &fewest, plan.options.worst).into_iter())
        .map(|found| worst::smallest(plan.records, binding, found, strength, budget, plan.observer))
        .collect()
}

/// People who are looked at for what is learnt about sensitive values.
const WATCHED: usize = 2000;

fn add_confidence(
    points: &mut [Point],
    data: &Dataset,
    binding: &Binding,
    policy: &Policy,
    plan: &Plan<'_>,
) -> Result<()> {
    let Plan { records, options, observer, .. } = *plan;
    let secrets = match policy.need_privacy()?.model.shape() {
        Shape::Set => records.sensitive.clone(),
        _ => Labels::new(data, binding, policy)?.by_record(data, observer)?,
    };
    if secrets.iter().all(Vec::is_empty) {
        return Ok(());
    }
    for point in points {
        let (Some(m), Some(n)) = (point.m, point.n) else { continue };
        let mut all = 0;
        for person in 0..records.len() {
            observer.go_on()?;
            all += work(records, person, m as usize);
        }
        let mean = (all / records.len().max(1) as u128).max(1);
        let fits = (u128::from(options.budget) / mean / 4).min(WATCHED as u128) as usize;
        let wanted = options.sample.map_or(fits, |s| s.min(fits)).max(1);
        let people = Random::stream(options.seed, 0).sample(records.len(), wanted);
        let strength = Strength { values: m as usize, relations: n as usize };
        let shares = secrets::confidence(records, &secrets, &people, strength, observer)?;
        let highest = shares.iter().copied().fold(0.0, f64::max);
        point.confidence = Some((highest, shares.iter().sum::<f64>() / shares.len().max(1) as f64));
    }
    Ok(())
}

fn of_vertices(
    data: &Dataset,
    binding: &Binding,
    policy: &Policy,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Risk> {
    let privacy = policy.need_privacy()?;
    let k = least(privacy);
    observer.stage("records that look alike", 1);
    let alike = vertices::Alike::new(data, binding, observer)?;
    let mut all = alike.point(k);
    all.confidence = alike.confidence(data, binding, policy, privacy, observer)?;
    let mut points = vec![all];
    if privacy.model.generalizes() {
        let records = Records::read(data, binding, privacy, (false, false), observer)?;
        let plan = Plan { records: &records, options, relations: &[0], observer };
        points.extend(plan.points(&plan.levels()?, k));
    }
    let worst = alike.worst(data, binding, options.worst);
    Ok(Risk { records: data.len(), k, points, worst, embedded: None, attackers: Vec::new() })
}
