//! The same data under several guarantees, for choosing one. Nothing is published.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use bosket_io::{PolicyFile, Whereabouts, publication};
use bosket_measure::attack::{self, Risk};
use bosket_measure::loss::{Loss, Side};
use bosket_model::observe::Observer;
use bosket_model::policy::{Algorithm, Model, Policy};
use bosket_model::{Diagnostic, Failure, Fault, Result};
use bosket_report::advice::{Advice, Tried};
use bosket_report::losses::{Yardstick, by_setting, in_words};
use serde_json::{Map, Value, json};

use crate::advice::{Effort, Published, advice, changed};
use crate::load::PolicyAt;
use crate::measure::picture;
use crate::places;
use crate::prepare::check_policy;
use crate::run::{Run, Settings, run};
use crate::same_attacker::SameAttacker;
use crate::trial::{Trial, TrialData};
use crate::warned::Warned;

const MODEL: &str = "privacy.model";
const ALGORITHM: &str = "method.algorithm";

/// Keys of the policy that vary, with their values.
pub type Setting = Vec<(String, String)>;

/// What is to be compared.
#[derive(Clone, Debug, Default)]
pub struct SweepRequest {
    /// The policy.
    pub policy: PolicyAt,
    /// Keys with their values; all combinations are tried, the first key varying slowest.
    pub lists: Vec<(String, Vec<String>)>,
    /// Also compare frequent patterns.
    pub mining: bool,
    /// Draw the loss, as SVG.
    pub plot: Option<PathBuf>,
    /// Replace the picture if it exists.
    pub force: bool,
    /// What every call can be told.
    pub settings: Settings,
}

/// What became of a setting.
#[derive(Debug)]
pub struct SweepRow {
    /// The setting.
    pub setting: Setting,
    /// What it costs, or why it cannot be reached.
    pub result: Result<SweepCost>,
}

/// What a setting costs.
#[derive(Debug)]
pub struct SweepCost {
    /// What is lost.
    pub loss: Loss,
    /// What the attacker of the whole comparison could still do; none where only the guarantee can be told.
    pub risk: Option<Risk>,
    /// What to do where little is left; none where enough is.
    pub advice: Option<Advice>,
    /// Who attacks, in this row as in all others.
    pub attacker: SameAttacker,
}

impl SweepCost {
    /// The share of people that the attacker finds who is the same in all rows.
    pub fn marketer(&self) -> Option<f64> {
        Some(self.attacker.point(self.risk.as_ref()?)?.marketer)
    }

    /// Per cent of all values that are published as they were.
    pub fn kept(&self) -> Option<f64> {
        let (mut values, mut kept) = (0.0, 0.0);
        for a in &self.loss.attributes {
            values += a.values as f64;
            kept += a.kept? * a.values as f64;
        }
        (values > 0.0).then(|| 100.0 * kept / values)
    }
}

impl SweepRow {
    /// The row for programs.
    pub fn to_json(&self) -> Value {
        let value =
            |value: &String| value.parse::<f64>().map_or_else(|_| json!(value), |number| json!(number));
        let setting: Map<String, Value> = self.setting.iter().map(|(k, v)| (k.clone(), value(v))).collect();
        match &self.result {
            Ok(found) => json!({
                "setting": setting,
                "reached": true,
                "loss": found.loss.to_json(),
                "attacker": {
                    "m": found.attacker.values,
                    "n": found.attacker.relations,
                    "sentence": found.attacker.sentence(),
                    "marketer": found.marketer(),
                },
                "risk": found.risk.as_ref().map(|r| r.to_json(false)),
                "advice": found.advice.as_ref().map(Advice::to_json),
            }),
            Err(failure) => json!({
                "setting": setting,
                "reached": false,
                "why": failure.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(),
            }),
        }
    }
}

/// Tries all combinations; each result is verified, measured and dropped.
pub fn sweep(request: &SweepRequest, observer: &dyn Observer) -> Result<Warned<Vec<SweepRow>>> {
    run(&request.settings, observer, |run| {
        let settings = settings(&request.lists)?;
        let own = request.policy.load(run)?;
        refuse_apart(own.policy.need_privacy()?.model)?;
        let files = settings
            .iter()
            .map(|setting| match policy(request, setting, &own, run) {
                // A policy is written for one model; what it says may be no policy for another.
                Err(failure) if failure.fault == Fault::Policy && model(setting).is_some() => {
                    Ok(Err(failure))
                }
                file => file.map(Ok),
            })
            .collect::<Result<Vec<Result<PolicyFile>>>>()?;
        let Some(first) = files.iter().find_map(|file| file.as_ref().ok()) else {
            return Err(files
                .into_iter()
                .find_map(Result::err)
                .unwrap_or_else(|| Failure::defect("no policy")));
        };
        // Everything that no setting changes is shared.
        let place = Whereabouts::input(first)?;
        let mut read = places::inputs(first, &request.policy.path, place.paths());
        read.extend(publication::target(first).ok());
        let picture = picture(request.plot.as_deref(), request.force, &read, run)?;
        let data = TrialData::open(first, place, run)?;
        let policies = || files.iter().filter_map(|file| Some(&file.as_ref().ok()?.policy));
        let attacker = SameAttacker::of(policies().collect::<Vec<_>>());
        run.observer.decided(&format!("every result is attacked by {}", attacker.sentence()));
        let mut rows = Vec::new();
        for (setting, file) in settings.into_iter().zip(&files) {
            run.observer.decided(&format!("running with {}", in_words(&setting)));
            let file = match file {
                Ok(file) => file,
                Err(failure) => {
                    rows.push(SweepRow { setting, result: Err(failure.clone()) });
                    continue;
                }
            };
            let attack = (attacker, attacker.reads(&file.policy, policies()));
            match one(file, &data, (request.mining, attack), run) {
                // A guarantee that cannot be reached is a finding; anything else ends the sweep.
                Err(failure) if failure.fault != Fault::Unreachable => return Err(failure),
                result => rows.push(SweepRow { setting, result }),
            }
            rows.iter().last().into_iter().for_each(|row| run.observer.found(&row.to_json().to_string()));
        }
        tell_losses(&mut rows, &files);
        if let Some(picture) = picture {
            let reached = rows.iter().filter_map(|r| Some((&r.setting[..], &r.result.as_ref().ok()?.loss)));
            let fastest = rows.first().and_then(|r| r.setting.last()).map_or("", |s| &s.0);
            places::write(picture, &by_setting(&reached.collect::<Vec<_>>(), fastest).svg())?;
        }
        Ok(rows)
    })
}

/// What the sweep itself has tried need not be tried again: the loss that a remedy gives stands in another row.
fn tell_losses(rows: &mut [SweepRow], files: &[Result<PolicyFile>]) {
    let found = || rows.iter().filter_map(|row| row.result.as_ref().ok());
    let yardstick = Yardstick::new(found().map(|cost| &cost.loss));
    let losses: Vec<Option<f64>> =
        rows.iter().map(|row| yardstick.of(&row.result.as_ref().ok()?.loss)).collect();
    for (at, row) in rows.iter_mut().enumerate() {
        let (Ok(SweepCost { advice: Some(advice), .. }), Ok(own)) = (&mut row.result, &files[at]) else {
            continue;
        };
        (advice.figure, advice.now) = (yardstick.name, losses[at]);
        for help in &mut advice.helps {
            let Some(wanted) = changed(&own.policy, &help.remedy) else { continue };
            let other = files.iter().position(|f| f.as_ref().is_ok_and(|f| asks_alike(&wanted, &f.policy)));
            if let Some(loss) = other.and_then(|other| losses[other]) {
                help.loss = Tried::Loss(loss);
            }
        }
    }
}

/// Whether two policies ask for the same, in whatever order they say it.
fn asks_alike(a: &Policy, b: &Policy) -> bool {
    let params = |policy: &Policy| {
        let mut params: Vec<String> = policy.method.params.iter().map(|p| format!("{p:?}")).collect();
        params.sort();
        params
    };
    let guarantee = |policy: &Policy| format!("{:?}", policy.privacy);
    a.method.algorithm == b.method.algorithm && params(a) == params(b) && guarantee(a) == guarantee(b)
}

fn refuse_apart(model: Model) -> Result<()> {
    if model.is_apart() {
        let what = "`sweep` compares what generalization costs; dissection changes no value";
        let help = "run `bosket anonymize --dry-run` with several `--set privacy.group_size=…`";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    }
    Ok(())
}

/// The model that a setting names.
fn model(setting: &Setting) -> Option<Model> {
    setting.iter().find(|(key, _)| key == MODEL).and_then(|(_, name)| Model::from_name(name))
}

fn policy(request: &SweepRequest, setting: &Setting, own: &PolicyFile, run: &Run<'_>) -> Result<PolicyFile> {
    let mut at = request.policy.clone();
    if let Some(model) = model(setting) {
        refuse_apart(model)?;
        // What the policy says for its own model is no mistake; keys that promise something stay, and are refused.
        at.sets.extend(model.ignores().into_iter().map(|key| format!("{key}=")));
        let algorithm = own.policy.method.algorithm.as_deref().and_then(Algorithm::from_name);
        if algorithm.is_some_and(|algorithm| !algorithm.reaches(model)) {
            at.sets.push(format!("{ALGORITHM}="));
        }
    }
    at.sets.extend(setting.iter().map(|(key, value)| format!("{key}={value}")));
    let mut file = at.load(run)?;
    check_policy(&file)?;
    // Taking the sides apart afterwards changes neither clusters nor loss.
    if let Some(publish) = &mut file.policy.publish {
        publish.anatomize = false;
    }
    Ok(file)
}

/// All combinations of the lists that were given, the first varying slowest.
fn settings(lists: &[(String, Vec<String>)]) -> Result<Vec<Setting>> {
    let mut all: Vec<Setting> = vec![Vec::new()];
    for (key, given) in lists.iter().filter(|(_, given)| !given.is_empty()) {
        let values = expanded(key, given)?;
        let longer = |setting: &Setting| -> Vec<Setting> {
            let with =
                |value: &String| setting.iter().cloned().chain([(key.clone(), value.clone())]).collect();
            values.iter().map(with).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    for setting in &mut all {
        if let Some(model) = model(setting) {
            setting.retain(|(key, _)| model.takes(key));
        }
    }
    let mut seen = HashSet::new();
    all.retain(|setting| reaches(setting) && seen.insert(setting.clone()));
    if all.len() > 1 {
        return Ok(all);
    }
    let what = "there is nothing to compare: give at least two values";
    Err(Failure::new(Fault::Usage, Diagnostic::error(what).help("such as `--k 2,5,10,20` or `--m 1..3`")))
}

/// Of several models and several algorithms only those belong together that can.
fn reaches(setting: &Setting) -> bool {
    let algorithm = setting.iter().find(|(key, _)| key == ALGORITHM);
    let algorithm = algorithm.and_then(|(_, name)| Algorithm::from_name(name));
    model(setting).zip(algorithm).is_none_or(|(model, algorithm)| algorithm.reaches(model))
}

/// `1..3` is 1, 2, 3.
fn expanded(key: &str, given: &[String]) -> Result<Vec<String>> {
    let mut values = Vec::new();
    for text in given {
        match text.split_once("..") {
            None => values.push(text.trim().to_owned()),
            Some((from, to)) => {
                let number = |text: &str| text.trim().trim_start_matches('=').parse::<u32>().ok();
                let (Some(from), Some(to)) = (number(from), number(to)) else {
                    let what = format!("`{text}` is not a range for {key}");
                    let help = "write whole numbers, such as 1..3, which is 1, 2 and 3";
                    return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
                };
                values.extend((from..=to).map(|v| v.to_string()));
            }
        }
    }
    Ok(values)
}

fn one(
    file: &PolicyFile,
    data: &TrialData,
    (mining, (attacker, reads)): (bool, (SameAttacker, &Policy)),
    run: &Run<'_>,
) -> Result<SweepCost> {
    let policy = &file.policy;
    let started = Instant::now();
    let trial = Trial::new(file, data, run.settings)?;
    let made = trial.make(run.observer)?;
    let tried = trial.judge(&made, run.observer)?;
    if !tried.verification.holds() {
        return Err(Failure::defect("the result does not keep the promise"));
    }
    let loss = trial.loss(&tried, policy, mining, run.observer)?;
    let of = Published {
        file,
        claim: trial.claim(),
        input: data.input.side(),
        hierarchies: &data.hierarchies,
        published: tried.side(),
        apart: &[],
        kept: &loss.kept,
        mapping: Some(&tried.mapping),
        memory: run.settings.memory(),
        show_values: run.settings.show_values,
    };
    let advice = advice(&of, Effort::Looks(started.elapsed()), run.observer)?;
    let Side { data, binding } = tried.side();
    let risk = match attack::risk(data, binding, reads, &attacker.options(reads), run.observer) {
        // Of attackers who know very much only the guarantee can be told.
        Err(failure) if failure.fault == Fault::Policy => None,
        risk => Some(risk?),
    };
    Ok(SweepCost { loss, risk, advice, attacker })
}
