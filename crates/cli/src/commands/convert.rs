//! `bosket convert`: the same data in another format, or nothing.

use std::path::{Path, PathBuf};

use bosket_io::convert::{self, Summary, To};
use bosket_io::tables::{Catalogue, Destination, Linked, Tables, Whole, catalogue, is_linked};
use bosket_io::{Create, Layout, Opened, PolicyFile, Whereabouts};
use bosket_model::policy::Format;
use bosket_model::{Diagnostic, Failure, Fault};
use serde_json::json;

use crate::Outcome;
use crate::args::{Convert, Sets};
use crate::load;
use crate::output::{plural, print, print_json};
use crate::talk::Talk;

/// What is converted, before anything of it is read.
enum From {
    /// A policy's source.
    Policy(Box<PolicyFile>),
    /// A folder or database that nobody describes.
    Found(Format, Catalogue),
    Document,
}

pub fn run(args: &Convert, talk: &Talk) -> Result<Outcome, Failure> {
    let reading = &args.reading;
    let separator = reading.separator.as_deref();
    let from = if args.input.extension().is_some_and(|e| e == "toml") {
        From::Policy(Box::new(load::policy(&args.input, &Sets { sets: Vec::new() }, talk)?))
    } else {
        let found = catalogue(&args.input, reading.format.as_deref(), separator, talk);
        talk.quiet();
        found?.map_or(From::Document, |(format, catalogue)| From::Found(format, catalogue))
    };
    let linked = match &from {
        From::Policy(file) => is_linked(file.policy.need_source()?),
        From::Found(..) => true,
        From::Document => false,
    };
    let to = To::new(&args.output, args.to.as_deref(), linked)?;
    talk.line("nothing is anonymized: what is written holds the same personal data");
    let create = Create { force: args.force, private: false, pending: crate::signals::pending() };
    let summary = match (&from, &to) {
        (From::Policy(file), To::Tables { path, format }) if linked => {
            Whole::of_policy(file)?.copy(&destination(args, path, *format)?, create, talk)
        }
        (From::Found(found, catalogue), To::Tables { path, format }) => {
            let whole = Whole::found(&args.input, *found, separator, catalogue)?;
            whole.copy(&destination(args, path, *format)?, create, talk)
        }
        _ => {
            let (opened, inputs) = records(args, from, talk)?;
            one_document(args, opened, &inputs, &to, create, talk)
        }
    };
    talk.quiet();
    let summary = summary?;
    for note in &summary.notes {
        talk.line(note);
    }
    if args.output == Path::new("-") {
        return Ok(Outcome::Done);
    }
    let counted = if summary.tables == 0 { "records" } else { "rows" };
    if args.json {
        let out = args.output.display().to_string();
        print_json(
            &json!({counted: summary.count, "tables": summary.tables, "out": out, "notes": summary.notes}),
        )?;
    } else {
        print(&describe(args, &summary))?;
    }
    Ok(Outcome::Done)
}

/// All records, and the files they are in.
fn records(args: &Convert, from: From, talk: &Talk) -> Result<(Opened, Vec<PathBuf>), Failure> {
    let place = match from {
        From::Policy(file) => match Whereabouts::input(&file)? {
            Whereabouts::Tables(tables) => Whereabouts::Tables(Box::new(tables.whole())),
            document => document,
        },
        From::Found(format, catalogue) => {
            let linked = catalogue.link(args.reading.record.as_deref(), &args.parent)?;
            refuse_leaving_out(&catalogue, &linked)?;
            let tables = Tables::look(&args.input, format, args.reading.separator.as_deref(), &linked)?;
            Whereabouts::Tables(Box::new(tables.whole()))
        }
        From::Document => {
            let layout = load::layout(&args.reading);
            let loaded = load::data(&args.input, args.reading.format.as_deref(), &layout, talk)?;
            return Ok((loaded.into(), vec![args.input.clone()]));
        }
    };
    let inputs = place.paths();
    Ok((load::records(place, talk)?, inputs))
}

/// Records have no place for tables that do not hang below the person table.
fn refuse_leaving_out(catalogue: &Catalogue, linked: &Linked) -> Result<(), Failure> {
    let person = linked.tables.first().map_or("", |t| t.name.as_str());
    let left = catalogue.tables.iter().filter(|t| linked.tables.iter().all(|l| l.name != t.name));
    let problems: Vec<Diagnostic> = left
        .map(|t| {
            let what = format!("table `{}` does not hang below `{person}` and would be left out", t.name);
            let help =
                "choose the person table with --record, or name the tables that are wanted in a policy";
            Diagnostic::error(what).help(help)
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Data, problems)) }
}

fn one_document(
    args: &Convert,
    opened: Opened,
    inputs: &[PathBuf],
    to: &To,
    create: Create,
    talk: &Talk,
) -> Result<Summary, Failure> {
    match to {
        To::Document { path, format } => {
            let (same, known) = match opened.form {
                bosket_io::SourceForm::Document { format: own, layout } => {
                    (own.name() == format.name(), layout)
                }
                bosket_io::SourceForm::Tables(_) => (false, Layout::default()),
            };
            // Within a format, records stay where they are unless another place is asked for.
            let stays = |given: &Option<String>, known: &Option<String>| {
                given.clone().or_else(|| known.clone().filter(|_| same))
            };
            let layout = Layout {
                record: stays(&args.to_record, &known.record),
                separator: stays(&args.to_separator, &known.separator),
                ..known
            };
            convert::document(&opened.data, layout, (path, *format), inputs, create, talk)
        }
        To::Tables { path, format } => {
            let name = args.input.file_stem().map_or("data".into(), |s| s.to_string_lossy());
            let name = name.split('.').next().unwrap_or(&name);
            convert::table(&opened.data, name, &destination(args, path, *format)?, inputs, create, talk)
        }
    }
}

fn destination<'a>(args: &'a Convert, path: &'a Path, format: Format) -> Result<Destination<'a>, Failure> {
    let separator = match args.to_separator.as_deref().unwrap_or(",").as_bytes() {
        &[c] if c.is_ascii() && !matches!(c, b'"' | b'\n' | b'\r' | 0) => c,
        _ => {
            let what = Diagnostic::error("the separator of a table must be one character");
            return Err(Failure::new(Fault::Usage, what.help("the usual ones are `,`, `;` and tab")));
        }
    };
    Ok(Destination { format, path, schema: &args.schema, separator })
}

fn describe(args: &Convert, summary: &Summary) -> String {
    let what = match summary.tables {
        0 => plural(summary.count, "record"),
        tables => format!("{} in {}", plural(summary.count, "row"), plural(tables, "table")),
    };
    format!("wrote {what} to {}, read again and found the same\n", args.output.display())
}
