//! `bosket sweep`: the same data under several guarantees, for choosing one. Nothing is published.

use bosket_app::sweep::{SweepRequest, SweepRow};
use bosket_model::Result;
use bosket_report::losses::{Yardstick, in_words};

use crate::Outcome;
use crate::args::Sweep;
use crate::next;
use crate::output::{plural, print, print_json, tenths};
use crate::table::{Column, Table};
use crate::talk::Talk;

pub fn run(args: &Sweep, talk: &Talk) -> Result<Outcome> {
    let named = [
        ("privacy.model", &args.model),
        ("method.algorithm", &args.algorithm),
        ("privacy.m", &args.m),
        ("privacy.n", &args.n),
        ("privacy.l", &args.l),
        ("privacy.t", &args.t),
        ("privacy.beta", &args.beta),
        ("privacy.k", &args.k),
    ];
    let mut lists = args.set_each.clone();
    lists.extend(named.map(|(key, values)| (key.to_owned(), values.clone())));
    let request = SweepRequest {
        policy: args.sets.policy_within(&args.policy, args.time.as_deref())?,
        lists,
        mining: args.mining,
        plot: args.plot.clone(),
        force: args.force,
        settings: talk.settings(args.memory, args.show_values),
    };
    let rows = talk.told(bosket_app::sweep(&request, talk)?);
    if args.json {
        print_json(&rows.iter().map(SweepRow::to_json).collect())?;
    } else {
        print(&text(&rows))?;
        if rows.iter().any(|row| row.result.is_ok()) {
            print(&next::about(&["anonymize"], &args.policy, &args.sets, &[]))?;
        }
    }
    Ok(Outcome::Done)
}

/// Width of the longest bar.
const BAR: usize = 24;

fn number(value: f64) -> String {
    if (5e-5..1e6).contains(&value) || value == 0.0 { format!("{value:.4}") } else { format!("{value:.3e}") }
}

fn text(rows: &[SweepRow]) -> String {
    let found = || rows.iter().filter_map(|row| row.result.as_ref().ok());
    let yardstick = Yardstick::new(found().map(|cost| &cost.loss));
    let main = yardstick.name;
    let most = found().filter_map(|cost| yardstick.of(&cost.loss)).fold(0.0, f64::max);
    let mut table = Table::new(vec![
        Column::left("guarantee"),
        Column::right(main).at_least(10),
        Column::right("as they were"),
        Column::right("marketer").at_least(12),
        Column::left(main),
    ]);
    for row in rows {
        let name = in_words(&row.setting);
        match &row.result {
            Ok(found) => {
                let value = yardstick.of(&found.loss);
                let share = value.map_or(0.0, |v| if most > 0.0 { v / most } else { 0.0 });
                let bar = "█".repeat((BAR as f64 * share).round() as usize);
                let percent =
                    |share: Option<f64>| share.map_or("–".to_owned(), |s| format!("{:.1} %", tenths(s)));
                let marketer = percent(found.marketer().map(|m| 100.0 * m));
                table.row([name, value.map_or("–".to_owned(), number), percent(found.kept()), marketer, bar]);
            }
            Err(failure) => {
                let why = failure.diagnostics.first().map_or("", |d| d.message.as_str());
                table.row([name, format!("cannot be reached: {why}")]);
            }
        }
    }
    let mut out = table.text();
    let reached = found().count();
    if reached > 0 {
        out.push_str(&format!("\n{main}: {}\n", yardstick.about));
    }
    out.push_str(
        "as they were: share of values that are not changed; marketer: share of people found by one and the same attacker, \
         who guesses for everybody\n",
    );
    if let Some(cost) = found().next() {
        out.push_str(&format!("the attacker: {}\n", cost.attacker.sentence()));
    }
    for row in rows {
        if let Some(advice) = row.result.as_ref().ok().and_then(|found| found.advice.as_ref()) {
            let lines: Vec<String> = advice.lines().iter().map(|line| format!("  {line}\n")).collect();
            out.push_str(&format!("little is left with {}:\n{}", in_words(&row.setting), lines.concat()));
        }
    }
    out.push_str(&format!(
        "{} of {} reached and verified; nothing was published\n",
        reached,
        plural(rows.len(), "guarantee")
    ));
    out
}
