//! `bosket anonymize`

use std::path::Path;

use bosket_app::anonymize::AnonymizeRequest;
use bosket_app::joint::Jointly;
use bosket_app::{Figures, Prepared, Release, Settings};
use bosket_model::Result;
use bosket_model::policy::Privacy;

use crate::Outcome;
use crate::args::Anonymize;
use crate::commands::{degrees, kept, measure};
use crate::next;
use crate::output::{count, plural, print, print_json};
use crate::table::{Column, Table};
use crate::talk::Talk;

pub fn run(args: &Anonymize, talk: &Talk) -> Result<Outcome> {
    let request = AnonymizeRequest {
        policy: args.sets.policy_within(&args.policy, args.time.as_deref())?,
        force: args.force,
        key: args.key.clone(),
        measure: args.measure,
        with: args.with.earlier()?,
        settings: Settings { chunk: args.chunk, ..talk.settings(args.memory, args.show_values) },
    };
    if args.dry_run {
        let prepared = talk.told(bosket_app::prepare(&request, talk)?);
        if args.json {
            print_json(&prepared.to_json())?
        } else {
            print(&dry_run(&prepared)?)?;
            if args.with.earlier()?.is_empty() {
                print(&after_dry_run(args, &prepared))?;
            }
        }
        return Ok(Outcome::Done);
    }
    let release = talk.told(bosket_app::anonymize(&request, talk)?);
    if release.certificate.is_none() {
        talk.line(
            "note: no certificate is written with a stream; name a file in `publish.certificate` to have one",
        );
    }
    if release.target == Path::new("-") {
        // Standard output holds the publication.
        talk.line(text(&release).trim_end());
    } else if args.json {
        print_json(&release.to_json())?;
    } else {
        print(&text(&release))?;
        if let Some(report) = &release.report {
            print(&format!("wrote the report to {}\n", report.display()))?;
        }
        if release.claim().is_some() && args.with.earlier()?.is_empty() {
            print(&next::after_publication(&args.policy, &args.sets, &release.name, args.key.as_deref()))?;
        }
    }
    Ok(Outcome::Done)
}

/// After a dry run: the run.
fn after_dry_run(args: &Anonymize, prepared: &Prepared) -> String {
    let key = args.key.as_ref().map(|key| key.display().to_string());
    let mut more: Vec<&str> = key.iter().flat_map(|key| ["--key", key.as_str()]).collect();
    more.extend(prepared.target().exists().then_some("--force"));
    next::about(&["anonymize"], &args.policy, &args.sets, &more)
}

/// What was published.
fn text(release: &Release) -> String {
    let target = &release.name;
    let mut out = match &release.figures {
        Figures::Dissected(f) => format!(
            "published {} in {} and {} to {target}\n",
            plural(release.records, "record"),
            plural(f.groups as usize, "group"),
            plural(f.sensitive_values as usize, "sensitive value"),
        ),
        _ => format!("published {} to {target}\n", plural(release.records, "record")),
    };
    if let Some(people) = release.selected {
        let left = plural(people, "record");
        out.push_str(&format!("of {left} that `source.where` and `source.sample` leave\n"));
    }
    match release.claim() {
        Some(claim) => out.push_str(&format!("verified: {}\n", claim.sentences().join(";\n          "))),
        None => out.push_str("nothing is claimed: the sides are separated without a guarantee\n"),
    }
    if let Some(guess) = &release.guess {
        out.push_str(&format!("what labels tell: {guess}\n"));
    }
    if let Some(beyond) = &release.beyond {
        out.push_str(&format!("beyond the promise: {}\n", beyond.sentence()));
    }
    if let Some(joint) = &release.joint {
        out.push_str(&jointly(joint));
    }
    match &release.figures {
        Figures::Dissected(f) => {
            if f.suppressed > 0 {
                let gone = plural(f.suppressed, "record");
                out.push_str(&format!("suppressed: {gone}, which fit into no group\n"));
            }
            out.push_str(&degrees(&f.degrees));
        }
        figures => {
            out.push_str(&format!("\n{}\n{}\n", attributes(release), in_words(figures)));
        }
    }
    if release.cut_short {
        out.push_str("the search was cut short: with more time less would have been lost\n");
    }
    if !release.kept.classes.is_empty() {
        out.push_str(&format!("\npublished of what there was:\n{}", kept::text(&release.kept)));
    }
    if let Some(advice) = &release.advice {
        let lines: Vec<String> = advice.lines().iter().map(|line| format!("  {line}\n")).collect();
        out.push_str(&format!("\nlittle is left:\n{}", lines.concat()));
    }
    if let Some(loss) = &release.loss {
        out.push_str(&format!("\n{}", measure::figures(loss)));
    }
    let certificate = release.certificate.as_ref();
    out.push_str(&certificate.map_or(String::new(), |place| format!("certificate: {}\n", place.display())));
    out
}

/// What was verified about all releases together.
fn jointly(joint: &Jointly) -> String {
    let linked = plural(joint.linked, "person").replace("persons", "people");
    let mut out = format!(
        "verified jointly with {}: the same holds for whoever can link the releases; {linked} are in more than one of them\n",
        joint.releases.join(", ")
    );
    if !joint.held.is_empty() {
        out.push_str(&format!("no finer than there: {}\n", joint.held.join(", ")));
    }
    out
}

fn attributes(release: &Release) -> String {
    let columns = vec![Column::left("attribute"), Column::right("different values in"), Column::right("out")];
    let mut table = Table::new(columns);
    for a in &release.attributes {
        let published = match a.published {
            0 => "not published".to_owned(),
            n => count(n),
        };
        table.row([a.path.clone(), count(a.values), published]);
    }
    table.text()
}

/// What was done and what it cost.
fn in_words(figures: &Figures) -> String {
    match figures {
        Figures::Kmn(f) => {
            let apart = match f.disassociations {
                0 => "no relation had to be taken apart".to_owned(),
                1 => "one kind of relation was taken apart".to_owned(),
                n => format!("{} kinds of relation were taken apart", count(n)),
            };
            let emptied = match f.people_emptied {
                0 => String::new(),
                1 => "; one person's values are all left out".to_owned(),
                n => format!("; all values of {} people are left out", count(n)),
            };
            let examined = plural(f.cuts_examined as usize, "cut");
            let lost = match f.values_lowered {
                0 if f.rows_silent => format!("the loss of the cut is RPD {:.3e}", f.rpd),
                0 => format!("loss RPD {:.3e}", f.rpd),
                n => {
                    format!("{} are finer than the cut, whose loss is RPD {:.3e}", plural(n, "value"), f.rpd)
                }
            };
            format!("{apart}{emptied}; {lost}; {} after {examined}", f.route)
        }
        Figures::Km(f) => {
            let parts = match f.parts {
                1 => String::new(),
                n => format!(" in {} parts", count(n)),
            };
            let left_out = match f.items_left_out {
                0 => String::new(),
                n => format!("; {} left out everywhere", plural(n, "item")),
            };
            format!("loss NCP {:.2} %{left_out}; {}{parts}", 100.0 * f.ncp, f.algorithm)
        }
        Figures::Clusters(f) => {
            let suppressed = match f.suppressed {
                0 => "no record had to be suppressed".to_owned(),
                n => format!("{} suppressed", plural(n, "record")),
            };
            let apart = f.apart.map_or(String::new(), |(groups, values)| {
                format!(
                    "\nanatomized: {} of records that look alike, {} apart from them",
                    plural(groups, "group"),
                    plural(values, "sensitive value")
                )
            });
            let cells = if f.cells > 1 { format!(" in {} cells", count(f.cells)) } else { String::new() };
            format!(
                "loss LM {:.3}; {suppressed}, {} vertices of the others pruned; {}{cells}: {} of {} to {} records{apart}",
                f.lm,
                count(f.pruned as usize),
                f.algorithm,
                plural(f.clusters, "cluster"),
                f.smallest,
                f.largest,
            )
        }
        Figures::Dissected(_) => String::new(),
    }
}

fn dry_run(prepared: &Prepared) -> Result<String> {
    let Privacy { model, .. } = prepared.policy().need_privacy()?;
    let target = prepared.target();
    let roles = prepared.roles().into_iter().filter(|(_, n)| *n > 0);
    let roles: Vec<String> = roles.map(|(role, n)| format!("{n} {role}")).collect();
    let replaced = if target.exists() { ", which exists and would need --force" } else { "" };
    let algorithm = prepared.policy().method.algorithm.as_deref();
    let with = algorithm.map_or(String::new(), |a| format!(" with `{a}`"));
    let mut out = format!(
        "policy and data fit together:\n  {} in {}\n  attributes: {}\n  hierarchies: {} with {} leaves, covering all values\n",
        plural(prepared.records(), "record"),
        prepared.source(),
        roles.join(", "),
        prepared.hierarchies().count(),
        count(prepared.hierarchies().map(|h| h.leaf_count()).sum()),
    );
    if let Some(before) = prepared.before()? {
        out.push_str(&format!("what there is to publish:\n{}", kept::before(&before)));
    }
    out.push_str(&format!("a run would reach for {model}{with} and write {}{replaced}\n", target.display()));
    out.push_str(&format!("algorithms for {model}: {}\n", prepared.algorithms().join(", ")));
    Ok(out)
}
