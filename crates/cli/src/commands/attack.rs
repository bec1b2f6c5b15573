//! `bosket attack`

use std::path::{Path, PathBuf};

use bosket_io::apart::Dissection;
use bosket_io::{PolicyFile, Whereabouts, publication};
use bosket_measure::attack::{
    Options, Risk, Side, Sides, check_journalist, risk, risk_anatomized, risk_apart,
};
use bosket_model::binding::Binding;
use bosket_model::policy::{Format, Model};
use bosket_model::{Dataset, Diagnostic, Failure, Place};
use bosket_verify::TwoSides;
use serde_json::{Value, json};

use crate::Outcome;
use crate::args::Attack;
use crate::commands::anatomize::sides;
use crate::commands::attack_text::{self, Attacked};
use crate::commands::both::Bound;
use crate::commands::population::{Drawn, Register};
use crate::load;
use crate::output::{print, print_json};
use crate::talk::Talk;

pub fn run(args: &Attack, talk: &Talk) -> Result<Outcome, Failure> {
    load::one_stdin([
        args.data.as_ref(),
        Some(&args.policy),
        args.publication.as_ref(),
        args.population.as_ref(),
    ])?;
    let file = load::policy(&args.policy, &args.sets, talk)?;
    let privacy = file.policy.need_privacy()?;
    let options = options(args, &file);
    if args.population.is_some() {
        check_journalist(&file.policy)?;
    }
    let warnings = uncounted(&file);
    talk.diagnostics(&warnings);
    let (name, records) = open(args, &file, talk)?;
    let published = published(args, &file, talk);
    let register = match &args.population {
        None => None,
        Some(path) => {
            let drawn = Drawn { name: &name, records: &records, published: published.is_some() };
            Some(Register::open(path, &file, &drawn, args.show_values, talk)?)
        }
    };
    let mut before = before(&records, &file, &options, talk)?;
    if let Some(register) = &register {
        let Bound { data, binding } = &records;
        let side = Side { name: &name, data, binding, published: false };
        register.add_to(&mut before, side, &file, &options, talk)?;
    }
    drop(records);
    let after = match published {
        None => None,
        Some(path) => {
            Some((path.display().to_string(), after(&path, &file, &options, register.as_ref(), talk)?))
        }
    };
    talk.quiet();
    if args.json {
        let side = |name: &str, risk: &Risk| {
            let mut side = json!({"data": name});
            if let (Value::Object(side), Value::Object(risk)) = (&mut side, risk.to_json(args.show_values)) {
                side.extend(risk);
            }
            side
        };
        let mut found = json!({
            "model": privacy.model.name(),
            "before": side(&name, &before),
            "after": after.as_ref().map(|(name, risk)| side(name, risk)),
            "warnings": warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        if let Some(register) = &register {
            found["population"] = json!({"data": register.name, "records": register.people()});
        }
        print_json(&found)?;
    } else {
        let before = Attacked { name: &name, risk: &before };
        let after = after.as_ref().map(|(name, risk)| Attacked { name, risk });
        let population = register.as_ref().map(|register| (register.name.as_str(), register.people()));
        print(&attack_text::report(privacy, before, after, population, args.show_values))?;
    }
    Ok(Outcome::Done)
}

fn options(args: &Attack, file: &PolicyFile) -> Options {
    let usual = Options::of(&file.policy);
    Options {
        m: args.m.as_ref().map_or(usual.m, |m| m.0.clone()),
        n: args.n.as_ref().map_or(usual.n, |n| n.0.clone()),
        budget: args.budget.unwrap_or(usual.budget),
        sample: args.sample.map(|s| s as usize),
        worst: args.worst,
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

/// The private data.
fn open(args: &Attack, file: &PolicyFile, talk: &Talk) -> Result<(String, Bound), Failure> {
    let place = match &args.data {
        Some(path) => Whereabouts::given(file, path, false)?,
        None => Whereabouts::input(file)?,
    };
    let name = place.name();
    let data = load::records(place, talk)?.data;
    let policy = &file.policy;
    let binding = Binding::of_input(data.schema(), &policy.attributes, policy.undeclared, &name)?;
    Ok((name, Bound { data, binding }))
}

fn before(records: &Bound, file: &PolicyFile, options: &Options, talk: &Talk) -> Result<Risk, Failure> {
    // A companion says nothing that its attribute does not.
    risk(&records.data, &records.binding.without_companions(), &file.policy, options, talk)
}

/// The publication to attack: the one that is given, or the policy's own if it is there.
fn published(args: &Attack, file: &PolicyFile, talk: &Talk) -> Option<PathBuf> {
    if let Some(given) = &args.publication {
        return Some(given.clone());
    }
    let database = file.policy.source.as_ref().is_some_and(|s| s.format == Format::Postgres);
    file.policy.publish.as_ref().filter(|_| !database)?.path.as_ref()?;
    let path = publication::target(file).ok().filter(|p| p != Path::new("-"))?;
    if !path.exists() {
        talk.line(&format!(
            "bosket: there is no publication at {} yet; only the private data is attacked",
            path.display()
        ));
        return None;
    }
    talk.line(&format!("bosket: attacking the policy's publication {} too", path.display()));
    Some(path)
}

fn after(
    path: &Path,
    file: &PolicyFile,
    options: &Options,
    register: Option<&Register>,
    talk: &Talk,
) -> Result<Risk, Failure> {
    let policy = &file.policy;
    if matches!(policy.need_privacy()?.model, Model::Anatomy | Model::Delta | Model::None) {
        let found = Dissection::new(file)?.read_published(path, talk)?;
        return risk_apart(&found.dissected, policy, talk);
    }
    let name = path.display().to_string();
    let looked_up = |found: &mut Risk, data: &Dataset, binding: &Binding| match register {
        None => Ok(()),
        Some(register) => {
            let side = Side { name: &name, data, binding, published: true };
            register.add_to(found, side, file, options, talk)
        }
    };
    if policy.anatomizes() {
        let published = Dissection::new(file)?.read_clusters(path, talk)?;
        let TwoSides { people, binding, groups, sensitive, .. } = sides(&published);
        let sides = Sides { people, binding, groups, sensitive };
        let mut found = risk_anatomized(&sides, policy, options, talk)?;
        looked_up(&mut found, people, binding)?;
        return Ok(found);
    }
    let published = load::records(Whereabouts::given(file, path, true)?, talk)?;
    let binding = Binding::new(published.data.schema(), &policy.attributes, policy.undeclared, &name)?;
    let mut found = risk(&published.data, &binding, policy, options, talk)?;
    looked_up(&mut found, &published.data, &binding)?;
    Ok(found)
}
