//! `bosket sweep`: the same data under several guarantees, for choosing one. Nothing is published.

use std::io::Write;

use bosket_io::hierarchies::{self, HierarchyNeeds};
use bosket_io::{Opened, PolicyFile, Whereabouts, publication};
use bosket_measure::attack::{self, Risk};
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::binding::{Binding, Declared};
use bosket_model::hierarchy::Hierarchy;
use bosket_model::path::AttributePath;
use bosket_model::policy::{AttributePolicy, Policy};
use bosket_model::{Diagnostic, Failure, Fault};
use bosket_report::plot::{Axis, Chart, Series};
use bosket_report::study::attacker;
use bosket_verify::Claim;
use serde_json::{Value, json};

use crate::Outcome;
use crate::args::Sweep;
use crate::commands::made::{Product, Work, make};
use crate::commands::{dissect, measure, places};
use crate::load;
use crate::output::{plural, print, print_json};
use crate::talk::Talk;

/// One guarantee: the keys that vary, with their values.
type Setting = Vec<(&'static str, String)>;

/// What became of a setting.
struct Row {
    setting: Setting,
    result: Result<Found, Failure>,
}

struct Found {
    loss: Loss,
    risk: Option<Risk>,
    attacker: (Option<u32>, Option<u32>),
}

pub fn run(args: &Sweep, talk: &Talk) -> Result<Outcome, Failure> {
    let settings = settings(args)?;
    let files: Vec<PolicyFile> = settings
        .iter()
        .map(|setting| {
            let mut sets = args.sets.clone();
            sets.sets.extend(setting.iter().map(|(key, value)| format!("{key}={value}")));
            let mut file = load::policy(&args.policy, &sets, talk)?;
            // Taking the sides apart afterwards changes neither clusters nor loss.
            if let Some(publish) = &mut file.policy.publish {
                publish.anatomize = false;
            }
            Ok(file)
        })
        .collect::<Result<_, Failure>>()?;
    let first = &files[0];
    if dissect::is_asked(first)? {
        let what = "`sweep` compares what generalization costs; dissection changes no value";
        let help = "run `bosket anonymize --dry-run` with several `--set privacy.group_size=…`";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    }
    // Everything that no setting changes is shared.
    let place = Whereabouts::input(first)?;
    let name = place.name();
    let mut read = places::inputs(first, &args.policy, place.paths());
    read.extend(publication::target(first).ok());
    let picture = args.plot.as_deref().map(|path| measure::picture(path, args.force, &read)).transpose()?;
    let input = load::records(place, talk)?;
    let policy = &first.policy;
    let binding = Binding::of_input(input.data.schema(), &policy.attributes, policy.undeclared, &name)?;
    let ask = HierarchyNeeds { required: true, show_values: args.show_values };
    let (hierarchies, warnings) = hierarchies::load(first, &input.data, &binding, &name, ask)?;
    talk.diagnostics(&warnings);

    let mut rows = Vec::new();
    for (setting, file) in settings.into_iter().zip(&files) {
        talk.decided(&format!("running with {}", told(&setting)));
        let result = one(args, file, &input, &binding, &hierarchies, talk);
        talk.quiet();
        match result {
            // A guarantee that cannot be reached is a finding; anything else ends the sweep.
            Err(failure) if failure.fault != Fault::Unreachable => return Err(failure),
            result => rows.push(Row { setting, result }),
        }
    }
    if let Some(mut output) = picture {
        output.write_all(plot(&rows).as_bytes()).map_err(bosket_io::write_failure)?;
        output.finish()?;
    }
    if args.json {
        print_json(&Value::Array(rows.iter().map(to_json).collect()))?;
    } else {
        print(&table(&rows))?;
    }
    Ok(Outcome::Done)
}

/// All combinations of the lists that were given, the first varying slowest.
fn settings(args: &Sweep) -> Result<Vec<Setting>, Failure> {
    let lists: [(&'static str, &[String]); 5] = [
        ("method.algorithm", &args.algorithm),
        ("privacy.m", &args.m),
        ("privacy.n", &args.n),
        ("privacy.l", &args.l),
        ("privacy.k", &args.k),
    ];
    let mut all: Vec<Setting> = vec![Vec::new()];
    for (key, given) in lists.into_iter().filter(|(_, given)| !given.is_empty()) {
        let values = expanded(key, given)?;
        let longer = |setting: &Setting| -> Vec<Setting> {
            let with = |value: &String| setting.iter().cloned().chain([(key, value.clone())]).collect();
            values.iter().map(with).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    if all.len() > 1 {
        return Ok(all);
    }
    let what = "there is nothing to compare: give at least two values";
    Err(Failure::new(Fault::Usage, Diagnostic::error(what).help("such as `--k 2,5,10,20` or `--m 1..3`")))
}

/// `1..3` is 1, 2, 3.
fn expanded(key: &str, given: &[String]) -> Result<Vec<String>, Failure> {
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
    args: &Sweep,
    file: &PolicyFile,
    input: &Opened,
    binding: &Binding,
    hierarchies: &[Option<Hierarchy>],
    talk: &Talk,
) -> Result<Found, Failure> {
    let policy = &file.policy;
    let claim = Claim::new(policy)?;
    let published = binding.without_companions();
    let work = Work {
        policy,
        claim: &claim,
        data: &input.data,
        binding,
        published: &published,
        hierarchies,
        memory: args.memory,
    };
    let made = make(&work, talk)?;
    let data = match &made.product {
        Product::Trees(trees) => &trees.write_back(binding),
        Product::Vertices { data, .. } => data,
    };
    let own = Binding::new(data.schema(), &placed(policy, binding), policy.undeclared, "the result")?;
    if bosket_verify::verify(data, &own, &claim, hierarchies, args.memory, talk)?.is_some() {
        let what = "the result does not keep the promise; please report this";
        return Err(Failure::new(Fault::Unreachable, Diagnostic::error(what)));
    }
    // The trees before and after are in the same order, and so are vertex trees with their records.
    let mapping: Vec<(u32, u32)> = match &made.product {
        Product::Trees(..) => (0..data.len() as u32).map(|r| (r, r)).collect(),
        Product::Vertices { records, .. } => records.iter().copied().zip(0..).collect(),
    };
    let compared = Compared {
        policy,
        input: Side { data: &input.data, binding },
        published: Side { data, binding: &own },
        hierarchies,
        mapping: Some(&mapping),
        mining: args.mining,
    };
    let loss = Loss::new(&compared, talk)?;
    let attacker = attacker(policy)?;
    let mut options = attack::Options::of(policy);
    if let (Some(m), Some(n)) = attacker {
        (options.m, options.n) = (vec![m], vec![n]);
    }
    let risk = match attack::risk(data, &own, policy, &options, talk) {
        // Of attackers who know very much only the guarantee can be told.
        Err(failure) if failure.fault == Fault::Policy => None,
        risk => Some(risk?),
    };
    Ok(Found { loss, risk, attacker })
}

/// The policy's attributes, each where the input has it: a reader may have read `item[]` as `item`.
fn placed(policy: &Policy, binding: &Binding) -> Vec<AttributePolicy> {
    let structure = |declared: &Declared| {
        let (mut classes, mut home) = (Vec::new(), declared.home);
        while let Some(parent) = binding.homes[home].parent {
            classes.push(binding.homes[home].name.clone());
            home = parent;
        }
        classes.reverse();
        AttributePath { classes, name: declared.name.clone() }
    };
    let own = policy.attributes.iter().zip(&binding.declared);
    own.map(|(a, d)| AttributePolicy { structure: Some(structure(d)), ..a.clone() }).collect()
}

fn told(setting: &[(&'static str, String)]) -> String {
    let name = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    setting.iter().map(|(key, value)| format!("{} = {value}", name(key))).collect::<Vec<_>>().join(", ")
}

/// The marketer risk of the attacker that the setting protects against.
fn marketer(found: &Found) -> Option<f64> {
    let points = &found.risk.as_ref()?.points;
    let own = points.iter().find(|p| (p.m, p.n) == found.attacker)?;
    Some(own.marketer)
}

/// Per cent of all values that are published as they were.
fn kept(loss: &Loss) -> Option<f64> {
    let (mut values, mut kept) = (0.0, 0.0);
    for a in &loss.attributes {
        values += a.values as f64;
        kept += a.kept? * a.values as f64;
    }
    (values > 0.0).then(|| 100.0 * kept / values)
}

fn to_json(row: &Row) -> Value {
    let setting: serde_json::Map<String, Value> = (row.setting.iter())
        .map(|(key, value)| {
            let value = value.parse::<f64>().map_or_else(|_| json!(value), |number| json!(number));
            ((*key).to_owned(), value)
        })
        .collect();
    match &row.result {
        Ok(found) => json!({
            "setting": setting,
            "reached": true,
            "loss": found.loss.to_json(),
            "risk": found.risk.as_ref().map(|r| r.to_json(false)),
        }),
        Err(failure) => json!({
            "setting": setting,
            "reached": false,
            "why": failure.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }),
    }
}

const BAR: usize = 24;

fn number(value: f64) -> String {
    if (5e-5..1e6).contains(&value) || value == 0.0 { format!("{value:.4}") } else { format!("{value:.3e}") }
}

fn table(rows: &[Row]) -> String {
    let names: Vec<String> = rows.iter().map(|row| told(&row.setting)).collect();
    let width = names.iter().map(|n| n.chars().count()).chain(["guarantee".len()]).max().unwrap_or(0);
    let figure = |f: &Found| f.loss.figures.first().and_then(|f| Some((f.name, f.value?)));
    let found = || rows.iter().filter_map(|row| row.result.as_ref().ok());
    let (main, most) =
        found().filter_map(figure).fold(("loss", 0.0), |(_, most), (name, v)| (name, f64::max(most, v)));
    let mut out =
        format!("{:width$}  {main:>10}  {:>12}  {:>12}  {main}\n", "guarantee", "as they were", "marketer");
    for (name, row) in names.iter().zip(rows) {
        match &row.result {
            Ok(found) => {
                let value = figure(found).map(|f| f.1);
                let share = value.map_or(0.0, |v| if most > 0.0 { v / most } else { 0.0 });
                let bar = (BAR as f64 * share).round() as usize;
                let percent = |share: Option<f64>| share.map_or("–".to_owned(), |s| format!("{s:.1} %"));
                out.push_str(&format!(
                    "{name:width$}  {:>10}  {:>12}  {:>12}  {}\n",
                    value.map_or("–".to_owned(), number),
                    percent(kept(&found.loss)),
                    percent(marketer(found).map(|m| 100.0 * m)),
                    "█".repeat(bar)
                ));
            }
            Err(failure) => {
                let why = failure.diagnostics.first().map_or("", |d| d.message.as_str());
                out.push_str(&format!("{name:width$}  cannot be reached: {why}\n"));
            }
        }
    }
    if let Some(first) = found().next().and_then(|f| f.loss.figures.first()) {
        out.push_str(&format!("\n{main}: {}\n", first.about));
    }
    out.push_str(
        "as they were: share of values that are not changed; marketer: share of people found by the attacker that the \
         guarantee is about, who guesses for everybody\n",
    );
    let reached = found().count();
    out.push_str(&format!(
        "{} of {} reached and verified; nothing was published\n",
        reached,
        plural(rows.len(), "guarantee")
    ));
    out
}

/// Loss over the key that varies fastest, a line per setting of the others.
fn plot(rows: &[Row]) -> String {
    let fastest = rows.first().and_then(|r| r.setting.last()).map_or("", |s| s.0);
    // Algorithms are names, not amounts.
    let mut names: Vec<&str> = rows.iter().filter_map(|r| Some(r.setting.last()?.1.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    let amounts = names.iter().all(|name| name.parse::<f64>().is_ok());
    let across = |value: &str| match value.parse::<f64>() {
        Ok(amount) if amounts => amount,
        _ => names.iter().position(|n| *n == value).unwrap_or(0) as f64,
    };
    let mut series: Vec<Series> = Vec::new();
    let mut main = "loss";
    for row in rows {
        let (Ok(found), Some((last, others))) = (&row.result, row.setting.split_last()) else { continue };
        let Some(figure) = found.loss.figures.first() else { continue };
        let Some(y) = figure.value else { continue };
        main = figure.name;
        let name = if others.is_empty() { main.to_owned() } else { told(others) };
        let point = (across(&last.1), y);
        match series.iter_mut().find(|s| s.name == name) {
            Some(line) => line.points.push(point),
            None => series.push(Series { name, points: vec![point] }),
        }
    }
    for line in &mut series {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let key = fastest.rsplit('.').next().unwrap_or(fastest);
    let chart = Chart {
        title: format!("{main} over {key}"),
        x: if amounts { Axis::linear(key) } else { Axis::named(key, &names) },
        y: Axis::linear(main),
        series,
    };
    chart.svg()
}
