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
        let (mut bytes, mut line, mut codes) = (Vec::new(), 0, Vec::new());
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
            codes.clear();
            let mut add = |text: &str| {
                codes.push(builder.code(item, Kind::Text, text));
                !is_blank(text)
            };
            let complete = match separator {
                _ if is_blank(text) => true,
                None => text.split_ascii_whitespace().all(&mut add),
                Some(separator) => text.split(separator).all(&mut add),
            };
            if !complete {
                problems.push(|place| {
                    let what =
                        Diagnostic::error("an item is empty").at(place.line(line).record(line).path(ITEM));
                    what.help("remove the separator that stands twice, or at the start or end of the line")
                });
            } else if builder.add_set(item, &codes).is_err() {
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
        let mut rows = Rows::default();
        let sets = data.sets();
        for record in 0..data.len() {
            observer.go_on()?;
            let row = rows.add(|items| match sets {
                Some(sets) => items.extend(sets.codes(record)),
                None => items.extend(data.vertices(record).skip(1).map(|vertex| data.value(vertex, item))),
            });
            if row.iter().any(|&code| !writable[code as usize]) {
                return Err(unwritable(record));
            }
            row.iter_mut().for_each(|code| *code = rank[*code as usize]);
            row.sort_unstable();
        }
        let between = separator.unwrap_or(" ").as_bytes();
        let line = |text: &mut Vec<u8>, row: &[u32]| {
            for (i, &item) in row.iter().enumerate() {
                if i > 0 {
                    text.extend_from_slice(between);
                }
                text.extend_from_slice(dictionary.text(by_text[item as usize]).as_bytes());
            }
        };
        let mut write = |line: &[u8]| out.write_all(line).map_err(fault::from_write);
        // A blank comes before whatever an item may go on with: lines are in the order of their items then.
        let by_items = between == b" " && dictionary.iter().all(|(_, text)| text.bytes().all(|b| b > b' '));
        if by_items {
            let mut text = Vec::new();
            for record in rows.sorted(dictionary.len(), observer)? {
                observer.go_on()?;
                text.clear();
                line(&mut text, rows.row(record));
                text.push(b'\n');
                write(&text)?;
            }
            return Ok(());
        }
        let mut sorted = Sorted::default();
        for record in 0..data.len() as u32 {
            sorted.push(|text| line(text, rows.row(record)));
        }
        sorted.sort(observer)?;
        for line in sorted.iter() {
            observer.go_on()?;
            write(line)?;
            write(b"\n")?;
        }
        Ok(())
    }
}

/// Sets of items, by the places of these in the order of their texts.
#[derive(Default)]
struct Rows {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl Rows {
    /// Adds the items that `fill` appends, without missing ones.
    fn add(&mut self, fill: impl FnOnce(&mut Vec<u32>)) -> &mut [u32] {
        let from = self.items.len();
        fill(&mut self.items);
        let mut to = from;
        for at in from..self.items.len() {
            if self.items[at] != MISSING {
                self.items[to] = self.items[at];
                to += 1;
            }
        }
        self.items.truncate(to);
        self.ends.push(to);
        &mut self.items[from..]
    }

    fn row(&self, record: u32) -> &[u32] {
        let from = record.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.items[from..self.ends[record as usize]]
    }

    /// The records in the order of their items. The first few items of a record are one number, which most comparisons need no more than.
    fn sorted(&self, values: usize, observer: &dyn Observer) -> Result<Vec<u32>> {
        let bits = usize::BITS - values.leading_zeros();
        let few = (u64::BITS / bits.max(1)) as usize;
        let head = |row: &[u32]| {
            // Behind the last item stands what comes before all of them.
            let places = row.iter().map(|&item| u64::from(item) + 1).chain(std::iter::repeat(0));
            places.take(few).fold(0u64, |head, place| head << bits | place)
        };
        let mut order: Vec<(u64, u32)> =
            (0..self.ends.len() as u32).map(|record| (head(self.row(record)), record)).collect();
        let rest = |record: u32| self.row(record).get(few..).unwrap_or_default();
        sort_by(&mut order, observer, |a, b| a.0.cmp(&b.0).then_with(|| rest(a.1).cmp(rest(b.1))))?;
        Ok(order.into_iter().map(|(_, record)| record).collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::observe::Quiet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_are_in_the_order_of_their_bytes(
            sets in prop::collection::vec(prop::collection::vec(0..12usize, 0..14), 0..40),
            separator in prop::option::of(Just(";".to_owned())),
            with_control in any::<bool>(),
        ) {
            // One is the beginning of another, one goes on with what comes before a blank.
            let last = if with_control { "a\u{1}" } else { "a!" };
            let texts = ["a", "ab", "a-", "b", "é", "ba", "a\u{7f}", "Z", "10", "1", "100", last];
            let mut builder = Builder::new();
            let class = builder.class(ClassId::ROOT, &[ITEM.to_owned()]);
            let item = builder.attribute(class, &[]);
            builder.rename(item, ITEM);
            for set in &sets {
                let codes: Vec<u32> = set.iter().map(|&at| builder.code(item, Kind::Text, texts[at])).collect();
                builder.add_set(item, &codes).expect("there is room");
            }
            let layout = Layout { separator, ..Layout::default() };
            let mut out = Vec::new();
            Transactions.write(&builder.finish(), &layout, &mut out, &Quiet).expect("they can be written");
            let lines: Vec<&[u8]> = out.split(|&byte| byte == b'\n').collect();
            prop_assert_eq!(lines.len(), sets.len() + 1);
            prop_assert!(lines[..sets.len()].is_sorted());
            let items = |set: &Vec<usize>| {
                let mut items: Vec<&str> = set.iter().map(|&at| texts[at]).collect();
                items.sort_unstable();
                items.join(layout.separator.as_deref().unwrap_or(" ")).into_bytes()
            };
            let mut expected: Vec<Vec<u8>> = sets.iter().map(items).collect();
            expected.sort();
            prop_assert_eq!(&lines[..sets.len()], &expected.iter().map(Vec::as_slice).collect::<Vec<_>>()[..]);
        }
    }
}
