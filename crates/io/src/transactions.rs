//! `transactions`: one set of items per line.

use std::io::Write;

use bosket_model::observe::Observer;
use bosket_model::{
    AttributeId, Builder, ClassId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result,
};

use crate::fault;
use crate::format::{Format, Layout};
use crate::input::Input;
use crate::problems::{Problems, too_large};
use crate::sorted::{Sorted, sort_by};

/// What the items are called in policies.
const ITEM: &str = "item";

/// One transaction per line, its items separated by blanks or by [`Layout::separator`]; an empty line is a
/// transaction with nothing in it. With a separator, blanks are part of the items.
#[derive(Debug)]
pub struct Transactions;

impl Format for Transactions {
    fn name(&self) -> &'static str {
        "transactions"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt", "dat", "basket"]
    }

    fn has_types(&self) -> bool {
        false
    }

    fn read(&self, input: &mut Input, layout: &Layout) -> Result<(Dataset, Layout)> {
        let separator = separator(layout)?;
        let mut problems = Problems::new(input.name());
        let mut builder = Builder::new();
        let class = builder.class(ClassId::ROOT, &[ITEM.to_owned()]);
        let item = builder.attribute(class, &[]);
        builder.rename(item, ITEM);
        let (mut bytes, mut line) = (Vec::new(), 0);
        while input.read_line(&mut bytes)? {
            line += 1;
            let Ok(text) = std::str::from_utf8(&bytes) else {
                problems.push(|place| {
                    let what =
                        Diagnostic::error("not valid UTF-8").at(place.line(line).record(line).path(ITEM));
                    what.help("convert the file to UTF-8")
                });
                continue;
            };
            if input.is_published() && !is_written_so(text, separator) {
                input.outside(|place| {
                    let what = "blanks stand here that no item needs";
                    let help = "they may say something that `verify` cannot judge; write items with one separator between";
                    Diagnostic::error(what).at(place.line(line).record(line).path(ITEM)).help(help)
                });
            }
            builder.begin_record();
            let mut add = |text: &str| {
                builder.open(class);
                builder.set(item, Kind::Text, text);
                builder.close();
                !is_blank(text)
            };
            let complete = match separator {
                _ if is_blank(text) => true,
                None => text.split_ascii_whitespace().all(&mut add),
                Some(separator) => text.split(separator).all(&mut add),
            };
            if !complete {
                builder.abort_record();
                problems.push(|place| {
                    let what =
                        Diagnostic::error("an item is empty").at(place.line(line).record(line).path(ITEM));
                    what.help("remove the separator that stands twice, or at the start or end of the line")
                });
            } else if builder.end_record().is_err() {
                problems.push(|place| too_large(place.line(line)));
                break;
            }
        }
        Ok((problems.check(builder.finish())?, layout.clone()))
    }

    fn write(
        &self,
        data: &Dataset,
        layout: &Layout,
        out: &mut (dyn Write + Send),
        observer: &dyn Observer,
    ) -> Result<()> {
        let separator = separator(layout)?;
        let item = item_attribute(data)?;
        let dictionary = data.dictionary(item);
        let writable: Vec<bool> = dictionary.iter().map(|(_, text)| is_writable(text, separator)).collect();
        // Items stand by their text, which numbers compare faster.
        let mut by_text: Vec<u32> = (0..dictionary.len() as u32).collect();
        sort_by(&mut by_text, observer, |&a, &b| dictionary.text(a).cmp(dictionary.text(b)))?;
        let mut rank = vec![0u32; dictionary.len()];
        by_text.iter().enumerate().for_each(|(i, &code)| rank[code as usize] = i as u32);
        let mut sorted = Sorted::default();
        let mut items: Vec<u32> = Vec::new();
        for record in 0..data.len() {
            observer.go_on()?;
            items.clear();
            for vertex in data.vertices(record).skip(1) {
                let code = data.value(vertex, item);
                if code == MISSING {
                    continue;
                }
                if !writable[code as usize] {
                    return Err(unwritable(record));
                }
                items.push(rank[code as usize]);
            }
            items.sort_unstable();
            sorted.push(|text| {
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        text.extend_from_slice(separator.unwrap_or(" ").as_bytes());
                    }
                    text.extend_from_slice(dictionary.text(by_text[*item as usize]).as_bytes());
                }
            });
        }
        sorted.sort(observer)?;
        for line in sorted.iter() {
            observer.go_on()?;
            out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(fault::from_write)?;
        }
        Ok(())
    }
}

/// Whether a text has nothing but blanks of any script; most are found not to by their first letter.
fn is_blank(text: &str) -> bool {
    !text.as_bytes().first().is_some_and(u8::is_ascii_graphic) && text.trim().is_empty()
}

/// Whether a line has no blanks but such as part its items or belong to them.
fn is_written_so(text: &str, separator: Option<&str>) -> bool {
    if separator.is_some() {
        return text.is_empty() || !is_blank(text);
    }
    let mut after_blank = true;
    for byte in text.bytes() {
        let blank = byte.is_ascii_whitespace();
        if blank && (after_blank || byte != b' ') {
            return false;
        }
        after_blank = blank;
    }
    text.is_empty() || !after_blank
}

/// The separator, if it is not just blanks.
fn separator(layout: &Layout) -> Result<Option<&str>> {
    match layout.separator.as_deref() {
        None => Ok(None),
        Some(text) if text.is_empty() || text.contains(['\n', '\r']) => {
            let what = Diagnostic::error("the separator of transactions is empty or contains a line end");
            Err(Failure::new(Fault::Policy, what.help("give another, or none for blanks")))
        }
        Some(" ") => Ok(None),
        Some(text) => Ok(Some(text)),
    }
}

/// The only attribute of data that are sets of items.
fn item_attribute(data: &Dataset) -> Result<AttributeId> {
    let schema = data.schema();
    let mut attributes = schema.attributes();
    if let (Some((id, attribute)), None) = (attributes.next(), attributes.next())
        && attribute.name.is_empty()
        && schema.classes().len() == 2
    {
        return Ok(id);
    }
    let what = Diagnostic::error("only sets of items can be written as transactions");
    let mut problems = vec![what.help("publish as ndjson")];
    // One list of single values would be such a set.
    let set = schema.attributes().find(|(_, a)| a.name.is_empty() && a.class != ClassId::ROOT);
    for (_, attribute) in schema.attributes().filter(|(id, _)| Some(*id) != set.map(|(id, _)| id)) {
        let place = Place::default().path(attribute.path.as_str());
        problems.push(Diagnostic::error("a transaction has no place for this").at(place));
    }
    Err(Failure::all(Fault::Data, problems))
}

fn is_writable(item: &str, separator: Option<&str>) -> bool {
    let breaks = match separator {
        None => item.contains(|c: char| c.is_ascii_whitespace()),
        Some(separator) => item.contains(separator) || item.contains(['\n', '\r']),
    };
    // At the start of the file it would be taken for a byte order mark, and which record comes first is not known yet.
    !breaks && !item.trim().is_empty() && !item.starts_with('\u{feff}')
}

fn unwritable(record: usize) -> Failure {
    let what = Diagnostic::error(
        "an item is empty, contains the separator or a line end, or starts with a byte order mark",
    );
    let place = Place::default().record(record as u64 + 1).path(ITEM);
    Failure::new(
        Fault::Data,
        what.at(place).help("choose a separator that no item contains, or publish as ndjson"),
    )
}
