//! Whom somebody finds who knows a few values of a person, before and after.

use std::path::{Path, PathBuf};

use bosket_io::tables::is_published;
use bosket_io::{Frames, PolicyFile, Whereabouts, publication};
use bosket_measure::attack::{
    Options, Risk, Side, Sides, check_journalist, risk, risk_anatomized, risk_apart,
};
use bosket_model::binding::Binding;
use bosket_model::observe::Observer;
use bosket_model::policy::{Model, Privacy};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Place, Result};
use bosket_verify::{Claim, TwoSides};
use serde_json::{Value, json};

use crate::joint::link::{self, Numbering};
use crate::joint::{self, Earlier, OwnInput, Together};
use crate::load::{self, Bound, PolicyAt, one_stdin};
use crate::register::{Drawn, Register};
use crate::run::{Run, Settings, run};
use crate::verify::{judged_clusters, judged_sides};
use crate::warned::Warned;

/// Who attacks what.
#[derive(Clone, Debug, Default)]
pub struct AttackRequest {
    /// The policy that says what may be known of a person.
    pub policy: PolicyAt,
    /// The private data; the policy's source if not given.
    pub data: Option<PathBuf>,
    /// The publication; the policy's own if not given and if it is there.
    pub publication: Option<PathBuf>,
    /// The private mapping of the publication; the policy's own if not given. Only needed with earlier releases.
    pub mapping: Option<PathBuf>,
    /// Earlier releases about the same people, attacked together with the publication.
    pub with: Vec<Earlier>,
    /// A register of the population that the data was drawn from, for journalist risk.
    pub population: Option<PathBuf>,
    /// Numbers of known values; from 1 to one more than the policy's if not given.
    pub m: Option<Vec<u32>>,
    /// Numbers of known relations; none and the policy's if not given.
    pub n: Option<Vec<u32>>,
    /// Most steps of counting per strength of attackers.
    pub budget: Option<u64>,
    /// Look at so many people rather than at as many as the budget allows.
    pub sample: Option<usize>,
    /// How many of the worst-off people to list.
    pub worst: usize,
    /// What every call can be told; `show_values` shows what gives people away.
    pub settings: Settings,
}

/// Which publication was attacked if nobody named one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnPublication {
    /// The policy's own, as messages call it.
    Attacked(String),
    /// It is not there yet.
    Missing(String),
}

/// What attackers find in one dataset.
#[derive(Debug)]
pub struct AttackedData {
    /// What messages call it.
    pub name: String,
    /// What they find.
    pub risk: Risk,
}

/// What attackers find.
#[derive(Debug)]
pub struct Attacked {
    /// What may be known, and what is promised about it.
    pub privacy: Privacy,
    /// In the private data.
    pub before: AttackedData,
    /// In the publication.
    pub after: Option<AttackedData>,
    /// In the publication and the earlier releases together, by whoever can tell which records belong to one person.
    pub joint: Option<AttackedData>,
    /// The population's name and how many people it has.
    pub population: Option<(String, usize)>,
    /// What was done where no publication was named.
    pub own: Option<OwnPublication>,
    /// Knowledge that the policy names and attackers do not use.
    pub uncounted: Vec<Diagnostic>,
}

impl Attacked {
    /// What was found, for programs; values that give people away only if asked for.
    pub fn to_json(&self, show_values: bool) -> Value {
        let side = |found: &AttackedData| {
            let mut side = json!({"data": found.name});
            if let (Value::Object(side), Value::Object(risk)) = (&mut side, found.risk.to_json(show_values)) {
                side.extend(risk);
            }
            side
        };
        let mut found = json!({
            "model": self.privacy.model.name(),
            "before": side(&self.before),
            "after": self.after.as_ref().map(side),
            "warnings": self.uncounted.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        if let Some(joint) = &self.joint {
            found["joint"] = side(joint);
        }
        if let Some((name, people)) = &self.population {
            found["population"] = json!({"data": name, "records": people});
        }
        found
    }
}

/// Plays the attacker.
pub fn attack(request: &AttackRequest, observer: &dyn Observer) -> Result<Warned<Attacked>> {
    run(&request.settings, observer, |run| {
        one_stdin([
            request.data.as_ref(),
            Some(&request.policy.path),
            request.publication.as_ref(),
            request.population.as_ref(),
        ])?;
        let file = request.policy.load(run)?;
        let privacy = file.policy.need_privacy()?.clone();
        let options = options(request, &file);
        if request.population.is_some() {
            check_journalist(&file.policy)?;
        }
        let uncounted = uncounted(&file);
        run.warn(uncounted.iter().cloned());
        let place = match &request.data {
            Some(path) => Whereabouts::given(&file, path, false)?,
            None => Whereabouts::input(&file)?,
        };
        let name = place.name();
        let records = load::input(place, &file.policy, run)?;
        let (published, own) = published(request, &file)?;
        let register = match &request.population {
            None => None,
            Some(path) => {
                let drawn = Drawn { name: &name, records: &records, published: published.is_some() };
                Some(Register::open(path, &file, &drawn, run)?)
            }
        };
        // A companion says nothing that its attribute does not.
        let known = records.binding.without_companions();
        let mut before = risk(&records.data, &known, &file.policy, &options, run.observer)?;
        if let Some(register) = &register {
            let Bound { data, binding } = &records;
            let side = Side { name: &name, data, binding, published: false };
            register.add_to(&mut before, side, &file, &options, run)?;
        }
        let joint = match (joint::all(&file, &request.with), &published) {
            (earlier, _) if earlier.is_empty() || (request.with.is_empty() && published.is_none()) => None,
            (_, None) => return Err(nothing_to_join()),
            (earlier, Some(path)) => {
                let hierarchies = load::hierarchies(&file, &records, &name, false, run)?;
                let own = OwnInput { bound: &records, name: &name, hierarchies: &hierarchies };
                Some(together(request, path, &file, (&earlier, own), &options, run)?)
            }
        };
        drop(records);
        let after = match published {
            None => None,
            Some(path) => Some(AttackedData {
                name: publication::name(&file, &path),
                risk: after(&path, &file, &options, register.as_ref(), run)?,
            }),
        };
        let population = register.map(|register| (register.name.clone(), register.people()));
        let before = AttackedData { name, risk: before };
        Ok(Attacked { privacy, before, after, joint, population, own, uncounted })
    })
}

/// What attackers find in all releases together.
fn together(
    request: &AttackRequest,
    path: &Path,
    file: &PolicyFile,
    (earlier, own): (&[Earlier], OwnInput<'_>),
    options: &Options,
    run: &Run<'_>,
) -> Result<AttackedData> {
    let policy = &file.policy;
    let claim = Claim::new(policy)?;
    bosket_verify::joint::refuse_unfit(&claim)?;
    let named = policy.publish.as_ref().and_then(|publish| publish.mapping.as_deref());
    let mapping = request.mapping.clone().or_else(|| named.map(|path| file.resolve(path)));
    let Some(mapping) = mapping else {
        let what = "whose records are whose in the publication is not known without its private mapping";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help("give it with --mapping")));
    };
    let published = load::published(file, path, run)?;
    let numbers = link::numbers(&mapping, published.data.len())?;
    let numbering = Numbering::beside(&mapping);
    let together = Together::read(file, &claim, earlier, numbering.as_ref(), Some(own), run)?;
    let name = publication::name(file, path);
    let joined = together.joined((&name, &published), &numbers, Some(own), run)?;
    let names = together.earlier.iter().map(|release| release.name.as_str());
    let names: Vec<&str> = std::iter::once(name.as_str()).chain(names).collect();
    let risk = risk(&joined.data, &joined.binding, policy, options, run.observer)?;
    Ok(AttackedData { name: names.join(" with "), risk })
}

fn nothing_to_join() -> Failure {
    let what = "`--with` attacks a publication together with earlier ones, but there is no publication";
    Failure::new(Fault::Usage, Diagnostic::error(what).help("name it with --publication"))
}

/// Whom attackers find in data of which nobody has decided anything yet; `text` is a policy that would lie at `path`.
pub(crate) fn raw(path: &Path, text: String, frames: Option<Frames>, run: &Run<'_>) -> Result<Attacked> {
    let at = PolicyAt { path: path.to_owned(), text: Some(text), frames, ..PolicyAt::default() };
    let file = at.load(run)?;
    let privacy = file.policy.need_privacy()?.clone();
    let place = Whereabouts::input(&file)?;
    let name = place.name();
    let records = load::input(place, &file.policy, run)?;
    let known = records.binding.without_companions();
    let options = Options::of(&file.policy);
    let before = risk(&records.data, &known, &file.policy, &options, run.observer)?;
    let before = AttackedData { name, risk: before };
    Ok(Attacked {
        privacy,
        before,
        after: None,
        joint: None,
        population: None,
        own: None,
        uncounted: Vec::new(),
    })
}

fn options(request: &AttackRequest, file: &PolicyFile) -> Options {
    let usual = Options::of(&file.policy);
    Options {
        m: request.m.clone().unwrap_or(usual.m),
        n: request.n.clone().unwrap_or(usual.n),
        budget: request.budget.unwrap_or(usual.budget),
        sample: request.sample,
        worst: request.worst,
        seed: usual.seed,
    }
}

/// Knowledge that the policy names and attackers do not use here.
fn uncounted(file: &PolicyFile) -> Vec<Diagnostic> {
    let Some(privacy) = &file.policy.privacy else {
        return Vec::new();
    };
    let mut warnings = Vec::new();
    let mut warn = |what: &str| {
        let what = Diagnostic::warning(what).at(Place::source(&file.policy.name));
        warnings.push(what.help("`bosket verify` counts it"));
    };
    if !privacy.negative.is_empty() {
        warn("`negative` is set, but attackers are not given absence as knowledge here");
    }
    if privacy.guard && privacy.model == Model::Kmn {
        warn("`guard` is set, but attackers do not put relations together again here");
    }
    warnings
}

/// The publication to attack: the one that is given, or the policy's own if it is there.
fn published(
    request: &AttackRequest,
    file: &PolicyFile,
) -> Result<(Option<PathBuf>, Option<OwnPublication>)> {
    if let Some(given) = &request.publication {
        return Ok((Some(given.clone()), None));
    }
    let publishes = file.policy.publish.as_ref().is_some_and(|p| p.path.is_some() || p.url.is_some());
    let own = publication::target(file).ok().filter(|p| publishes && p != Path::new("-"));
    let Some(path) = own else { return Ok((None, None)) };
    let there = match is_published(file)? {
        Some(there) => there,
        None => path.exists(),
    };
    let name = publication::name(file, &path);
    Ok(match there {
        true => (Some(path), Some(OwnPublication::Attacked(name))),
        false => (None, Some(OwnPublication::Missing(name))),
    })
}

fn after(
    path: &Path,
    file: &PolicyFile,
    options: &Options,
    register: Option<&Register>,
    run: &Run<'_>,
) -> Result<Risk> {
    let policy = &file.policy;
    if policy.need_privacy()?.model.is_apart() {
        return risk_apart(&judged_sides(file, path, run.observer)?.dissected, policy, run.observer);
    }
    let name = path.display().to_string();
    let looked_up = |found: &mut Risk, data: &Dataset, binding: &Binding| match register {
        None => Ok(()),
        Some(register) => {
            let side = Side { name: &name, data, binding, published: true };
            register.add_to(found, side, file, options, run)
        }
    };
    if policy.anatomizes() {
        let published = judged_clusters(file, path, run.observer)?;
        let TwoSides { people, binding, groups, sensitive, .. } = published.sides();
        let sides = Sides { people, binding, groups, sensitive };
        let mut found = risk_anatomized(&sides, policy, options, run.observer)?;
        looked_up(&mut found, people, binding)?;
        return Ok(found);
    }
    let Bound { data, binding } = load::published(file, path, run)?;
    let mut found = risk(&data, &binding, policy, options, run.observer)?;
    looked_up(&mut found, &data, &binding)?;
    Ok(found)
}
