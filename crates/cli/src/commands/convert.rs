//! `bosket convert`: the same data in another format, or nothing.

use std::path::Path;

use bosket_app::convert::{ConvertRequest, Converted};
use bosket_model::{Fault, Result};

use crate::Outcome;
use crate::args::Convert;
use crate::next;
use crate::output::{plural, print, print_json};
use crate::talk::Talk;

pub fn run(args: &Convert, talk: &Talk) -> Result<Outcome> {
    let request = ConvertRequest {
        input: args.input.clone(),
        output: args.output.clone(),
        reading: args.reading.reading(),
        parent: args.parent.clone(),
        to: args.to.clone(),
        to_record: args.to_record.clone(),
        to_separator: args.to_separator.clone(),
        schema: args.schema.clone(),
        force: args.force,
        settings: talk.settings(None, false),
    };
    let converted = bosket_app::convert(&request, talk);
    if !matches!(&converted, Err(failure) if failure.fault == Fault::Usage) {
        talk.line("nothing is anonymized: what is written holds the same personal data");
    }
    let converted = talk.told(converted?);
    for note in &converted.summary.notes {
        talk.line(note);
    }
    if args.output == Path::new("-") {
        return Ok(Outcome::Done);
    }
    if args.json {
        print_json(&converted.to_json())?
    } else {
        print(&text(&converted))?;
        print(&next::next(["inspect", &args.output.display().to_string()]))?;
    }
    Ok(Outcome::Done)
}

fn text(converted: &Converted) -> String {
    let summary = &converted.summary;
    let what = match summary.tables {
        0 => plural(summary.count, "record"),
        tables => format!("{} in {}", plural(summary.count, "row"), plural(tables, "table")),
    };
    format!("wrote {what} to {}, read again and found the same\n", converted.output.display())
}
