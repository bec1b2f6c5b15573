//! `bosket measure`: what a publication lost, by every metric that applies.

use std::io::Write;
use std::path::{Path, PathBuf};

use bosket_io::{Create, Output, Whereabouts};
use bosket_measure::loss::{AttributeChange, Compared, Figure, Loss};
use bosket_model::{Diagnostic, Failure, Fault};
use bosket_report::plot::{Axis, Chart, Series};

use crate::Outcome;
use crate::args::Measure;
use crate::commands::both::{self, Places};
use crate::commands::{dissect, places};
use crate::load;
use crate::output::{count, plural, print, print_json};
use crate::talk::Talk;

pub fn run(args: &Measure, talk: &Talk) -> Result<Outcome, Failure> {
    let file = load::policy(&args.policy, &args.sets, talk)?;
    if dissect::is_asked(&file)? {
        let what = "a dissected publication changes no value: there is no loss to measure";
        let help = "`bosket anonymize` says what was suppressed, `bosket verify` how far apart values are";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    }
    let places = Places {
        input: Whereabouts::given(&file, &args.input, false)?,
        publication: &args.publication,
        mapping: args.mapping.as_deref(),
        show_values: args.show_values,
    };
    let mut read = places::inputs(&file, &args.policy, vec![args.input.clone(), args.publication.clone()]);
    read.extend(args.mapping.clone());
    read.extend(places::private(&file));
    let picture = args.plot.as_deref().map(|path| picture(path, args.force, &read)).transpose()?;
    let both = both::open(&file, places, talk)?;
    let compared = Compared {
        policy: &file.policy,
        input: both.input.side(),
        published: both.published(),
        hierarchies: &both.hierarchies,
        mapping: both.mapping.as_deref(),
        mining: true,
    };
    let loss = Loss::new(&compared, talk)?;
    talk.quiet();
    if let Some(mut output) = picture {
        output.write_all(plot(&loss).as_bytes()).map_err(bosket_io::write_failure)?;
        output.finish()?;
    }
    if args.json {
        print_json(&loss.to_json())?;
    } else {
        print(&table(&loss))?;
    }
    Ok(Outcome::Done)
}

/// Takes the place of a picture before the work.
pub(super) fn picture(path: &Path, force: bool, read: &[PathBuf]) -> Result<Output, Failure> {
    places::refuse(&[path.to_owned()], read)?;
    Output::create(path, Create { force, private: false, pending: crate::signals::pending() })
}

/// The figures for the whole, one per line.
pub(super) fn figures(loss: &Loss) -> String {
    let mut out = String::new();
    let name = |f: &Figure| f.name.chars().count();
    let width = loss.figures.iter().map(name).max().unwrap_or(0);
    for f in &loss.figures {
        let value = f.value.map_or("–".to_owned(), number);
        out.push_str(&format!("{:width$}  {value:>10}  {}\n", f.name, f.about));
    }
    out
}

/// The loss as text.
fn table(loss: &Loss) -> String {
    let mut out =
        format!("{} of {} published\n\n", count(loss.published_records), plural(loss.records, "record"));
    out.push_str(&figures(loss));
    let paths = loss.attributes.iter().map(|a| a.path.chars().count());
    let width = paths.chain(["attribute".len()]).max().unwrap_or(0);
    out.push_str(&format!(
        "\n{:width$}  values in  out  as they were  more general  not published   loss\n",
        "attribute"
    ));
    let share = |share: Option<f64>| share.map_or("–".to_owned(), |s| format!("{:.1} %", 100.0 * s));
    for a in &loss.attributes {
        out.push_str(&format!(
            "{:width$}  {:>9}  {:>3}  {:>12}  {:>12}  {:>13}  {:>5}\n",
            a.path,
            count(a.distinct),
            count(a.published),
            share(a.kept),
            share(a.generalized),
            share(a.left_out),
            a.loss.map_or("–".to_owned(), |l| format!("{l:.3}"))
        ));
    }
    if loss.attributes.iter().any(|a| a.left_out.is_none()) {
        out.push_str("\n– cannot be told without the mapping: give --mapping\n");
    }
    out
}

fn number(value: f64) -> String {
    let size = value.abs();
    if value.fract() == 0.0 && size < 1e15 {
        count(value as usize)
    } else if (1e-3..1e6).contains(&size) {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
}

/// The loss of each attribute as a picture.
fn plot(loss: &Loss) -> String {
    let names: Vec<&str> = loss.attributes.iter().map(|a| a.path.as_str()).collect();
    let over = |of: fn(&AttributeChange) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = (0u32..).zip(&loss.attributes);
        points.filter_map(|(i, a)| Some((f64::from(i), of(a)?))).collect()
    };
    let chart = Chart {
        title: "What became of each attribute".to_owned(),
        x: Axis::named("attribute", &names),
        y: Axis::linear("share of its values"),
        series: vec![
            Series { name: "as they were".to_owned(), points: over(|a| a.kept) },
            Series { name: "more general".to_owned(), points: over(|a| a.generalized) },
            Series { name: "not published".to_owned(), points: over(|a| a.left_out) },
            Series { name: "loss".to_owned(), points: over(|a| a.loss) },
        ],
    };
    chart.svg()
}
