//! `bosket measure`: what a publication lost, by every metric that applies.

use std::path::Path;

use bosket_app::measure::MeasureRequest;
use bosket_measure::loss::{Figure, Loss};
use bosket_model::Result;

use crate::Outcome;
use crate::args::Measure;
use crate::commands::kept;
use crate::next;
use crate::output::{count, plural, print, print_json};
use crate::table::{Column, Table};
use crate::talk::Talk;

pub fn run(args: &Measure, talk: &Talk) -> Result<Outcome> {
    let request = MeasureRequest {
        input: args.input.clone(),
        publication: args.publication.clone(),
        policy: args.sets.policy(&args.policy)?,
        mapping: args.mapping.clone(),
        plot: args.plot.clone(),
        force: args.force,
        settings: talk.settings(None, args.show_values),
    };
    let loss = talk.told(bosket_app::measure(&request, talk)?);
    if args.json {
        print_json(&loss.to_json())?
    } else {
        print(&table(&loss))?;
        print(&after(args))?;
    }
    Ok(Outcome::Done)
}

/// After the loss: the report that says what it is worth.
fn after(args: &Measure) -> String {
    if args.publication == Path::new("-") {
        return String::new();
    }
    let publication = args.publication.display().to_string();
    next::about(&["report"], &args.policy, &args.sets, &["--publication", &publication])
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
    let titles = ["different values in", "out", "as they were", "more general", "not published"];
    let mut columns = vec![Column::left("attribute")];
    columns.extend(titles.iter().map(|title| Column::right(title).at_least(3)));
    columns.push(Column::right("loss").at_least(5));
    let mut table = Table::new(columns);
    let share = |share: Option<f64>| share.map_or("–".to_owned(), |s| format!("{:.1} %", 100.0 * s));
    for a in &loss.attributes {
        let shares = [a.kept, a.generalized, a.left_out].map(share);
        let lost = a.loss.map_or("–".to_owned(), |l| format!("{l:.3}"));
        let counts = [a.path.clone(), count(a.distinct), count(a.published)];
        table.row(counts.into_iter().chain(shares).chain([lost]));
    }
    out.push_str(&format!("\n{}", table.text()));
    out.push_str(&format!("\n{}", kept::text(&loss.kept)));
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
