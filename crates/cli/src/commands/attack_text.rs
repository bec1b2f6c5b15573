//! What `bosket attack` tells people.

use bosket_app::attack::{Attacked, AttackedData};
use bosket_measure::attack::{Bin, Journalist, Point, Risk, Share, Told, Worst};
use bosket_model::policy::Privacy;

use crate::output::{count, plural, tenths};
use crate::table::{Column, Table};

/// Width of the longest bar.
const BAR: usize = 30;

/// Known values shown at most.
const SHOWN: usize = 20;

/// Everything that was found.
pub fn report(found: &Attacked, show_values: bool) -> String {
    let Attacked { privacy, before, after, .. } = found;
    let after = after.as_ref();
    let population = found.population.as_ref().map(|(name, people)| (name.as_str(), *people));
    let mut out = format!("before: {}, {}\n", before.name, people(before.risk.records));
    if let Some(after) = after {
        out.push_str(&format!("after:  {}, {}\n", after.name, people(after.risk.records)));
    }
    let k = before.risk.k;
    out.push('\n');
    let points = (&before.risk.points[..], after.map(|a| &a.risk.points[..]));
    table(&mut out, &usual(k, points), points);
    attackers(&mut out, &before.risk, after.map(|after| &after.risk));
    if let (Some(joint), Some(after)) = (&found.joint, after) {
        together(&mut out, k, joint, &after.risk);
    }
    if let Some(points) = &before.risk.embedded {
        embedded(&mut out, k, points, &before.risk, after.map(|a| &a.risk));
    }
    notes(&mut out, "before", before.risk.points.iter().map(Looked::of));
    if let Some(after) = after {
        notes(&mut out, "after", after.risk.points.iter().map(Looked::of));
    }
    out.push_str(&format!(
        "\nunique: some knowledge fits the person alone; below {k}: it fits fewer than {k} records;\n\
         highest: prosecutor risk, the largest 1 / fewest matches; mean: marketer risk, the mean of 1 / fewest matches;\n\
         random: the mean of 1 / matches over all pieces of knowledge, each as likely{}.\n",
        if population.is_none() { "; journalist risk: not computed\n(it needs population counts)" } else { "" }
    ));
    if let Some(population) = population {
        journalist(&mut out, population, &before.risk, after.map(|a| &a.risk));
    }
    if privacy.model.is_apart() && after.is_some() {
        out.push_str(
            "After dissection a person matches the people of their group: whose sensitive value is whose is not published.\n",
        );
    }
    distribution(&mut out, privacy, &before.risk, after.map(|a| &a.risk));
    worst(&mut out, "before", &before.risk.worst, show_values);
    if let Some(after) = after {
        worst(&mut out, "after", &after.risk.worst, show_values);
    }
    out
}

/// What the attackers of the policy find: as promised, and with one value more.
fn attackers(out: &mut String, before: &Risk, after: Option<&Risk>) {
    if before.attackers.iter().all(|told| told.name.is_none()) {
        return;
    }
    out.push_str("\nThe attackers of the policy; in brackets what they find who know one value more:\n\n");
    let columns = ["unique before", "after", "fewer than asked before", "after"];
    let mut table =
        Table::new([Column::left("attacker")].into_iter().chain(columns.map(Column::right)).collect());
    let both = |told: Option<&Told>, of: fn(&Point) -> f64| match told {
        None => "–".to_owned(),
        Some(told) => format!("{} ({})", percent(of(&told.promised)), percent(of(&told.one_more))),
    };
    for (at, told) in before.attackers.iter().enumerate() {
        let other = after.and_then(|risk| risk.attackers.get(at));
        let name = told.name.as_deref().unwrap_or("nobody in particular");
        table.row([
            format!("{name}: knows {}", told.knows),
            both(Some(told), |p| p.unique.value),
            both(other, |p| p.unique.value),
            both(Some(told), |p| p.below_k.value),
            both(other, |p| p.below_k.value),
        ]);
    }
    out.push_str(&table.text());
}

/// What comes out if somebody has several releases and can link them.
fn together(out: &mut String, k: u32, joint: &AttackedData, alone: &Risk) {
    let risk = &joint.risk;
    out.push_str(&format!(
        "\ntogether: {}, {}; `before` is the publication alone, `after` are all of them:\n\n",
        joint.name,
        people(risk.records)
    ));
    let points = (&alone.points[..], Some(&risk.points[..]));
    table(out, &usual(k, points), points);
    let number = |share: f64| (share * risk.records as f64).round() as usize;
    for point in &risk.points {
        let (below, unique) = (number(point.below_k.value), number(point.unique.value));
        if below > 0 {
            out.push_str(&format!(
                "{}: {} below {k}, {} of them unique\n",
                strength(point),
                people(below),
                count(unique)
            ));
        }
    }
    notes(out, "together", risk.points.iter().map(Looked::of));
}

/// The stronger reading of relations, where it makes a difference.
fn embedded(out: &mut String, k: u32, points: &[Point], before: &Risk, after: Option<&Risk>) {
    let related = |points: &[Point]| -> Vec<Point> {
        points.iter().filter(|p| p.n.is_some_and(|n| n > 0)).cloned().collect()
    };
    let after = after.and_then(|a| Some((related(&a.points), related(a.embedded.as_deref()?))));
    if related(points) == related(&before.points) && after.as_ref().is_none_or(|(pair, all)| pair == all) {
        out.push_str(
            "\nIf all relations of a value must hold at one place (`embedded`), the figures are the same.\n",
        );
        return;
    }
    out.push_str("\nThe same if all relations of a value must hold at one place (`embedded`):\n");
    let points = related(points);
    let both = (&points[..], after.as_ref().map(|(_, all)| &all[..]));
    table(out, &usual(k, both), both);
    notes(out, "before, embedded", points.iter().map(Looked::of));
    if let Some((_, all)) = &after {
        notes(out, "after, embedded", all.iter().map(Looked::of));
    }
}

/// What comes out if matches are counted in a population.
fn journalist(out: &mut String, (name, size): (&str, usize), before: &Risk, after: Option<&Risk>) {
    out.push_str(&format!("\nIn the population: {name}, {}\n\n", people(size)));
    let k = before.k;
    let columns: Vec<(String, Figure)> = vec![
        ("not in it".into(), |p| p.journalist.map(|j| percent(j.absent.value))),
        ("unique".into(), |p| p.journalist.map(|j| percent(j.unique.value))),
        (format!("below {k}"), |p| p.journalist.map(|j| percent(j.below_k.value))),
        ("highest".into(), |p| p.journalist.map(|j| percent(j.highest))),
        ("mean".into(), |p| p.journalist.map(|j| percent(j.mean))),
    ];
    let counted = |points: &[Point]| -> Vec<Point> {
        points.iter().filter(|p| p.journalist.is_some()).cloned().collect()
    };
    let sides = [("before", Some(before)), ("after", after)];
    let points: Vec<Vec<Point>> = sides.iter().filter_map(|(_, r)| r.map(|r| counted(&r.points))).collect();
    table(out, &columns, (&points[0], points.get(1).map(Vec::as_slice)));
    let related = |risk: &Risk| -> Option<Vec<Point>> {
        let mut points = counted(risk.embedded.as_deref()?);
        points.retain(|p| p.n.is_some_and(|n| n > 0));
        Some(points)
    };
    let all: Vec<Vec<Point>> = sides.iter().filter_map(|(_, r)| r.and_then(related)).collect();
    let differ = all.iter().zip(&points).any(|(all, points)| {
        all.iter().any(|p| same(points, p).is_some_and(|other| other.journalist != p.journalist))
    });
    if differ {
        out.push_str("\nThe same if all relations of a value must hold at one place (`embedded`):\n");
        table(out, &columns, (&all[0], all.get(1).map(Vec::as_slice)));
    }
    for ((side, _), points) in sides.iter().zip(&points) {
        notes(out, side, points.iter().filter_map(Looked::in_population));
    }
    for ((side, _), points) in sides.iter().zip(&all).filter(|_| differ) {
        notes(out, &format!("{side}, embedded"), points.iter().filter_map(Looked::in_population));
    }
    out.push_str(&format!(
        "\nMatches are counted among the people of the population: those who have values under all known ones, related as\n\
         is known. highest: journalist risk, the largest 1 / fewest matches; mean: marketer risk with a population, the mean\n\
         of 1 / fewest matches over the people of the data; below {k}: fewer than {k} people of the population match.\n"
    ));
    let absent = |p: &Point| p.journalist.is_some_and(|j| j.absent.value > 0.0);
    if points.iter().chain(&all).flatten().any(absent) {
        out.push_str(
            "not in it: some of what is known of the person fits nobody there, so the file is not the population that the\n\
             data was drawn from, or writes values in another way. They are counted as unique, with a risk of 100 %.\n",
        );
    }
}

fn people(n: usize) -> String {
    if n == 1 { "1 person".to_owned() } else { format!("{} people", count(n)) }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.05 => "<0.1 %".to_owned(),
        p => format!("{:.1} %", tenths(p)),
    }
}

fn strength(point: &Point) -> String {
    let (Some(m), Some(n)) = (point.m, point.n) else {
        return "everything quasi".to_owned();
    };
    let relations = if n == 0 { String::new() } else { format!(", {}", plural(n as usize, "relation")) };
    format!("{}{relations}", plural(m as usize, "value"))
}

fn same<'a>(points: &'a [Point], point: &Point) -> Option<&'a Point> {
    points.iter().find(|p| (p.m, p.n) == (point.m, point.n))
}

/// Figures that matches within the data come to.
fn usual(k: u32, (before, after): Both<'_>) -> Vec<(String, Figure)> {
    let mut columns: Vec<(String, Figure)> = vec![
        ("unique".into(), |p| Some(percent(p.unique.value))),
        (format!("below {k}"), |p| Some(percent(p.below_k.value))),
        ("highest".into(), |p| Some(percent(p.prosecutor))),
        ("mean".into(), |p| Some(percent(p.marketer))),
        ("random".into(), |p| Some(percent(p.random_marketer))),
    ];
    if before.iter().chain(after.unwrap_or(&[])).any(|p| p.confidence.is_some()) {
        columns.push(("sensitive".into(), |p| p.confidence.map(|c| percent(c.0))));
    }
    columns
}

/// Points before and after.
type Both<'a> = (&'a [Point], Option<&'a [Point]>);

/// One line per strength of attackers, before and after side by side.
fn table(out: &mut String, columns: &[(String, Figure)], (before, after): Both<'_>) {
    let width = before.iter().map(|p| strength(p).len()).max().unwrap_or(0).max("known".len());
    let cell = if after.is_some() { 17 } else { 9 };
    out.push_str(&format!("{:width$}", "known"));
    columns.iter().for_each(|(name, _)| out.push_str(&format!("  {name:>cell$}")));
    out.push('\n');
    if after.is_some() {
        out.push_str(&format!("{:width$}", ""));
        columns.iter().for_each(|_| out.push_str(&format!("  {:>cell$}", "before / after")));
        out.push('\n');
    }
    // One value alone has no relations, and is told with none; unless nothing else was asked for.
    let possible = |p: &Point| p.m != Some(1) || p.n == Some(0);
    let any = before.iter().any(possible);
    for point in before.iter().filter(|p| possible(p) || !any) {
        out.push_str(&format!("{:width$}", strength(point)));
        let other = after.map(|after| same(after, point));
        for (_, column) in columns {
            let text = |p: Option<&Point>| p.and_then(column).unwrap_or_else(|| "–".to_owned());
            let own = text(Some(point));
            match other {
                None => out.push_str(&format!("  {own:>cell$}")),
                Some(other) => out.push_str(&format!("  {:>cell$}", format!("{own} / {}", text(other)))),
            }
        }
        out.push('\n');
    }
}

type Figure = fn(&Point) -> Option<String>;

/// How people were looked at.
struct Looked {
    strength: String,
    people: usize,
    exhaustive: bool,
    exact: bool,
    unique: Share,
    below_k: Share,
}

impl Looked {
    fn of(point: &Point) -> Self {
        Looked {
            strength: strength(point),
            people: point.people,
            exhaustive: point.exhaustive,
            exact: point.exact,
            unique: point.unique,
            below_k: point.below_k,
        }
    }

    fn in_population(point: &Point) -> Option<Self> {
        let Journalist { people, exhaustive, exact, unique, below_k, .. } = point.journalist?;
        Some(Looked { strength: strength(point), people, exhaustive, exact, unique, below_k })
    }
}

/// What is to be known about figures from samples.
fn notes(out: &mut String, side: &str, points: impl Iterator<Item = Looked>) {
    for point in points.filter(|p| !p.exhaustive || !p.exact) {
        let interval = |share: &Share| format!("{}–{}", percent(share.low), percent(share.high));
        out.push_str(&format!("{side}, {}: ", point.strength));
        if !point.exhaustive {
            out.push_str(&format!(
                "a sample of {}; 95 % intervals: unique {}, below k {}\n",
                people(point.people),
                interval(&point.unique),
                interval(&point.below_k)
            ));
        }
        let bounds = "matches are upper bounds, risks lower bounds";
        match (point.exhaustive, point.exact) {
            (_, true) => {}
            (true, false) => out.push_str(&format!("a sample of everybody's knowledge: {bounds}\n")),
            (false, false) => out.push_str(&format!("    their knowledge is sampled too: {bounds}\n")),
        }
    }
}

/// How many matches people have, for an attacker of the policy's strength.
fn distribution(out: &mut String, privacy: &Privacy, before: &Risk, after: Option<&Risk>) {
    let Some(point) = claimed(privacy, &before.points) else {
        return;
    };
    out.push_str(&format!("\nFewest matches of people, known: {}\n", strength(point)));
    let mut sides = vec![("before", point)];
    sides.extend(after.and_then(|a| same(&a.points, point)).map(|p| ("after", p)));
    for (name, point) in sides {
        out.push_str(&format!("  {name}\n"));
        for bin in &point.bins {
            let bar = "█".repeat((bin.people * BAR as f64).round() as usize);
            out.push_str(format!("  {:>9}  {:>7}  {bar}", range(bin), percent(bin.people)).trim_end());
            out.push('\n');
        }
    }
}

fn range(bin: &Bin) -> String {
    match bin.to {
        None => format!("{}+", bin.from),
        Some(to) if to == bin.from => to.to_string(),
        Some(to) => format!("{}–{to}", bin.from),
    }
}

/// The point of the policy's strength, or the one next to it.
fn claimed<'a>(privacy: &Privacy, points: &'a [Point]) -> Option<&'a Point> {
    let n = privacy.n.unwrap_or(0);
    let within = |p: &&Point| p.m.is_none() || (p.m <= privacy.m && p.n.is_some_and(|own| own <= n));
    points.iter().find(|p| p.m.is_none()).or(points.iter().rfind(within)).or(points.first())
}

fn worst(out: &mut String, side: &str, worst: &[Worst], show_values: bool) {
    if worst.is_empty() {
        return;
    }
    out.push_str(&format!("\nFound most easily, {side}:\n"));
    for found in worst {
        out.push_str(&format!(
            "  record {}: {}\n",
            count(found.record + 1),
            match found.matches {
                1 => "nobody else fits".to_owned(),
                n => format!("{} records fit", count(n)),
            }
        ));
        let width = found.known.iter().map(|k| k.path.chars().count()).max().unwrap_or(0);
        for (i, known) in found.known.iter().enumerate().take(SHOWN) {
            let value = if show_values { known.value.as_str() } else { "" };
            out.push_str(format!("    {:>2}  {:width$}  {value}", i + 1, known.path).trim_end());
            out.push('\n');
        }
        if found.known.len() > SHOWN {
            out.push_str(&format!("        and {} more\n", count(found.known.len() - SHOWN)));
        }
        if found.known.is_empty() {
            out.push_str("        (nothing is known of them)\n");
        }
        // Of everything quasi the structure is known anyway.
        if !found.relations.is_empty() && found.known.len() <= SHOWN {
            let pairs: Vec<String> =
                found.relations.iter().map(|(a, b)| format!("{} above {}", a + 1, b + 1)).collect();
            out.push_str(&format!("    related: {}\n", pairs.join(", ")));
        }
    }
    if !show_values {
        out.push_str("  (values with --show-values)\n");
    }
}
