//! `bosket inspect`

use std::path::Path;

use bosket_app::LinkedTables;
use bosket_app::inspect::{InspectRequest, Inspection, infer_xsd};
use bosket_model::Result;
use bosket_model::policy::Role;

use crate::Outcome;
use crate::args::Inspect;
use crate::commands::attack_text;
use crate::next;
use crate::output::{count, plural, print, print_json, tenths};
use crate::table::{Column, Table};
use crate::talk::Talk;

pub fn run(args: &Inspect, talk: &Talk) -> Result<Outcome> {
    let settings = talk.settings(args.memory, args.show_values);
    if let Some(file) = &args.xsd {
        talk.told(infer_xsd(&args.data, file, args.force, &settings, talk)?);
        return Ok(Outcome::Done);
    }
    let request = InspectRequest {
        frames: None,
        data: args.data.clone(),
        reading: args.reading.reading(),
        parent: args.parent.clone(),
        preset: args.preset.clone(),
        draft: args.draft.clone(),
        force: args.force,
        risk: args.risk,
        settings,
    };
    let found = talk.told(bosket_app::inspect(&request, talk)?);
    if args.json {
        print_json(&found.to_json())?
    } else {
        print(&text(&found))?;
        if let Some(why) = &found.uncounted {
            print(&format!("\n{why}\n"))?;
        }
        if let Some(risk) = &found.risk {
            print(&format!("\nIf these roles are right:\n{}", attack_text::report(risk, args.show_values)))?;
        }
    }
    if args.draft.is_none() && !args.json {
        print(&next::after_look(args))?;
    }
    if let Some(file) = args.draft.as_deref().filter(|f| *f != Path::new("-")) {
        talk.line(&format!("wrote {}: go through the roles, then check it", file.display()));
        talk.line(next::next(["policy", "check", &file.display().to_string()]).trim_end());
        let all = found.profile.attributes.iter().zip(&found.suggestions).filter(|(a, _)| found.names(a.id));
        let open = all.filter(|(_, s)| s.role == Role::Sensitive && s.follows.is_none()).count();
        if open > 0 {
            let wait = if open == 1 { "waits" } else { "wait" };
            let open = plural(open, "sensitive attribute");
            talk.line(&format!(
                "{open} {wait} until you say what protects it, and nothing is published before"
            ));
        }
    }
    Ok(Outcome::Done)
}

/// How many records and vertices there are, in one line.
fn headline(found: &Inspection) -> String {
    let mut out = format!("{}: {}", found.looked.format, plural(found.profile.records, "record"));
    for class in found.classes() {
        out.push_str(&format!(", {} {}", count(class.vertices), class.path));
    }
    out.push('\n');
    out
}

/// How tables are linked.
fn describe(tables: &LinkedTables) -> String {
    let said = if tables.guessed {
        "keys guessed from names and values; nobody has declared them"
    } else {
        "keys from the database's catalogue"
    };
    let mut out = format!("{} ({said}):\n", plural(tables.linked.tables.len(), "linked table"));
    for (i, table) in tables.linked.tables.iter().enumerate() {
        let key = if table.key.is_empty() { "no key".to_owned() } else { table.key.join(", ") };
        let below = match &table.parent {
            Some(parent) => format!("below {parent} by {}", table.foreign_key.join(", ")),
            None if i > 0 => format!("the same people, by {}", table.person.join(", ")),
            None if tables.person_given => "the person table".to_owned(),
            None => "the person table; choose another with --record TABLE".to_owned(),
        };
        out.push_str(&format!("  {} ({key}): {below}\n", table.name));
    }
    for note in &tables.linked.notes {
        out.push_str(&format!("  {note}\n"));
    }
    out
}

fn percent(share: f64) -> String {
    match share {
        0.0 => "-".to_owned(),
        s if s < 0.001 => "<0.1%".to_owned(),
        s if s > 0.999 && s < 1.0 => ">99.9%".to_owned(),
        s => format!("{:.1}%", tenths(s * 100.0)),
    }
}

fn text(found: &Inspection) -> String {
    let Inspection { looked, profile, suggestions, frequent, .. } = found;
    let mut out = headline(found);
    for line in [looked.recognition(), looked.guess(), looked.gathering()].into_iter().flatten() {
        out.push_str(&format!("{line}\n"));
    }
    if let Some(tables) = &looked.tables {
        out.push_str(&describe(tables));
    }
    out.push('\n');
    let mut table = Table::new(vec![
        Column::left("attribute"),
        Column::left("type"),
        Column::right("distinct"),
        Column::right("singles out"),
        Column::right("missing"),
        Column::left("role"),
        Column::left("why"),
    ]);
    for (a, s) in profile.attributes.iter().zip(suggestions).filter(|(a, _)| found.names(a.id)) {
        let follows =
            s.follows.map_or(String::new(), |f| format!("; follows {}", profile.attributes[f.index()].path));
        table.row([
            a.path.clone(),
            a.value_type.to_string(),
            count(a.distinct),
            percent(a.uniqueness()),
            percent(a.missing()),
            s.role.to_string(),
            format!("{}{follows}", s.reason),
        ]);
    }
    for (i, line) in table.lines().enumerate() {
        out.push_str(&line);
        if let Some(values) = i.checked_sub(1).and_then(|i| frequent.get(i)) {
            let values: Vec<String> = values.iter().map(|(v, n)| format!("{v:?} ×{}", count(*n))).collect();
            out.push_str(&format!("    {}\n", values.join(", ")));
        }
    }
    if !found.unnamed.is_empty() {
        out.push('\n');
    }
    found.unnamed_keys().iter().for_each(|line| out.push_str(&format!("{line}\n")));
    out.push_str("\nsingles out: records that have a value of this attribute which no other record has\n");
    out
}
