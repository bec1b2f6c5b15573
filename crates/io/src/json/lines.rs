//! `ndjson`: one JSON object per line.

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::{Dataset, Result};

use super::error::{Error, ErrorKind};
use super::parser::utf8;
use super::record::{Problem, Records};
use super::whereabouts::path_of_mistake;
use super::write::write_records;
use crate::fault;
use crate::format::{Format, Layout};
use crate::input::Input;
use crate::problems::Problems;

/// One JSON object per line; blank lines are skipped.
#[derive(Debug)]
pub struct Ndjson;

impl Format for Ndjson {
    fn name(&self) -> &'static str {
        "ndjson"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["ndjson", "jsonl"]
    }

    fn reads_folders(&self) -> bool {
        true
    }

    fn read(&self, input: &mut Input, layout: &Layout) -> Result<(Dataset, Layout)> {
        let mut problems = Problems::new(input.name());
        let mut records = Records::new(&layout.homes);
        match input.files() {
            None => read_lines(input, &mut records, &mut problems)?,
            Some(files) => {
                for file in files {
                    let mut part = input.part(&file)?;
                    let mut own = Problems::new(part.name());
                    read_lines(&mut part, &mut records, &mut own)?;
                    problems.append(own);
                }
            }
        }
        records.note_hollow(&layout.homes, input);
        let (data, extended) = records.finish(&layout.homes);
        Ok((problems.check(data)?, Layout { extended: Box::new(extended), ..layout.clone() }))
    }

    fn write(
        &self,
        data: &Dataset,
        layout: &Layout,
        out: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        let sorted = write_records(data, layout, observer)?;
        for record in sorted.iter() {
            observer.go_on()?;
            out.write_all(record).and_then(|()| out.write_all(b"\n")).map_err(fault::from_write)?;
        }
        Ok(())
    }
}

fn read_lines(input: &mut Input, records: &mut Records, problems: &mut Problems) -> Result<()> {
    let mut bytes = Vec::new();
    let mut line = 0;
    while input.read_line(&mut bytes)? {
        line += 1;
        let Err(problem) = read_line(records, &bytes) else {
            continue;
        };
        problems.push_like(problem.group(), |place| {
            let column = String::from_utf8_lossy(&bytes[..problem.at()]).chars().count() as u64 + 1;
            let mut place = place.line(line).column(column).record(records.record());
            if let Problem::Syntax(error) = &problem {
                // A line that is no text can be read up to the mistake.
                let text = utf8(&bytes).or_else(|_| utf8(&bytes[..error.at]));
                place.path = path_of_mistake(text.unwrap_or_default());
            }
            let diagnostic = problem.diagnostic(place);
            match problem {
                Problem::Syntax(Error { kind: ErrorKind::Truncated, .. }) => diagnostic
                    .help("write each record on one line; a document over several lines is format `json`"),
                _ => diagnostic,
            }
        });
    }
    Ok(())
}

fn read_line(records: &mut Records, bytes: &[u8]) -> Result<(), Problem> {
    if bytes.trim_ascii().is_empty() {
        return Ok(());
    }
    match utf8(bytes) {
        Ok(text) => records.read_line(text),
        Err(error) => {
            records.skip();
            Err(error.into())
        }
    }
}
