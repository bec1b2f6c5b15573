//! A dissected Parquet file of nested records: a folder with the file of the people, which has a column `group_id` more, and
//! per sensitive attribute a file `sensitive_<attribute>` with the columns `group_id` and `value`.
//!
//! Only a part of the records is in memory at a time, both when people are read and when a publication is.

use bosket_model::binding::Binding;
use bosket_model::dissected::PublishedGroups;
use bosket_model::policy::{Policy, Undeclared};
use bosket_model::{ClassId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result};

use super::draft::{Draft, Drafts, Written};
use super::groups::{Groups, Numbered};
use super::order::Order;
use super::published::PublishedReader;
use super::records::{Empty, fill, quasi_side};
use super::spool::{Parts, Spool};
use super::tables::{
    GROUP, VALUE, file_name, names, quasi_place, quasi_policy, sensitive_name, sensitive_place,
};
use crate::input::Input;
use crate::parquet::pairs::{Pairs, each_pair};
use crate::parquet::people::{Sheet, push_escaped, unescaped};
use crate::parquet::scalar::Scalar;
use crate::parquet::{Columns, each_part};
use crate::policy_file::PolicyFile;
use crate::problems::no_record;
use bosket_model::sides::{Fate, Fates};

/// Stands between the number of an attribute and a value of it; no text that is written without marks has it.
pub(super) const MARK: u8 = 2;

/// The columns that both sides of a file are written to.
#[derive(Debug)]
pub(super) struct Sides {
    pub(super) sheet: Sheet,
    /// Per sensitive attribute the type that its values have in the file.
    pub(super) types: Vec<Option<Scalar>>,
}

/// What the records of a file are by a policy.
struct Known {
    binding: Binding,
    sides: Sides,
}

/// Reads the people of a file.
pub(super) fn read_people(
    input: &mut Input,
    policy: &Policy,
    fates: &Fates,
    spool: &mut Spool,
) -> Result<Sides> {
    let name = input.name().to_owned();
    let mut known: Option<Known> = None;
    each_part(input, &mut |data, columns| {
        add_people(&name, (data, columns), policy, fates, spool, &mut known)
    })?;
    known.map(|k| k.sides).ok_or_else(|| Failure::new(Fault::Data, no_record(Place::source(name))))
}

/// The people of records that are in memory.
pub(super) fn people_of(
    name: &str,
    (data, columns): (Dataset, &Columns),
    policy: &Policy,
    fates: &Fates,
    spool: &mut Spool,
) -> Result<Sides> {
    let mut known = None;
    add_people(name, (data, columns), policy, fates, spool, &mut known)?;
    known.map(|k| k.sides).ok_or_else(|| Failure::new(Fault::Data, no_record(Place::source(name))))
}

/// Adds the people of a part.
fn add_people(
    name: &str,
    (data, columns): (Dataset, &Columns),
    policy: &Policy,
    fates: &Fates,
    spool: &mut Spool,
    known: &mut Option<Known>,
) -> Result<()> {
    let Known { binding, sides } = match known {
        Some(known) => known,
        None => {
            let schema = data.schema();
            let binding = Binding::of_input(schema, &policy.attributes, policy.undeclared, name)?;
            let mut types = vec![None; fates.sensitive.len()];
            for (id, attribute) in schema.attributes() {
                if let Some(Fate::Sensitive(at)) = binding.attributes[id.index()].map(|d| fates.of[d]) {
                    types[at] = columns.scalar(&attribute.path).cloned();
                }
            }
            let quasi = quasi_side(&data, &binding, fates, None, Empty::Gone)?;
            let sheet = Sheet::new(quasi.schema(), columns)?;
            known.insert(Known { binding, sides: Sides { sheet, types } })
        }
    };
    let quasi = quasi_side(&data, binding, fates, None, Empty::Gone)?;
    fill(spool, &data, binding, fates, &sides.sheet.texts(&quasi)?)
}

/// Hands out the private records of a file, part by part, with the number of the first.
pub(super) fn each_private(
    input: &mut Input,
    policy: &Policy,
    take: &mut dyn FnMut(usize, &Dataset, &Binding),
) -> Result<()> {
    let name = input.name().to_owned();
    let mut first = 0;
    each_part(input, &mut |data, _| {
        let binding = Binding::of_input(data.schema(), &policy.attributes, policy.undeclared, &name)?;
        take(first, &data, &binding);
        first += data.len();
        Ok(())
    })
}

/// Writes the files of both sides; groups are ordered by what is written, and so is what is in them.
pub(super) fn publish(
    spool: &mut Spool,
    (group_of, groups): (&[u32], usize),
    file: &PolicyFile,
    fates: &Fates,
    sides: &Sides,
) -> Result<Drafts> {
    let quasi = quasi_place(file)?;
    let mut values = Vec::new();
    for (column, scalar) in spool.sensitive.iter().zip(&sides.types) {
        let mut codes: Vec<u32> = (group_of.iter().enumerate())
            .filter(|(_, group)| (**group as usize) < groups)
            .flat_map(|(record, _)| column.codes.of(record).iter().copied())
            .collect();
        codes.sort_unstable();
        codes.dedup();
        let scalar = Scalar::for_codes(scalar.clone(), &column.values, &codes);
        values.push(Pairs::begin([GROUP, VALUE], scalar, Draft::create()?)?);
    }
    let mut fragment = |at: usize, _: Kind, text: &str, out: &mut Vec<u8>| {
        out.extend_from_slice(at.to_string().as_bytes());
        out.push(MARK);
        push_escaped(out, text);
    };
    let mut merged = spool.groups(group_of, groups, &mut fragment)?;
    let mut people = sides.sheet.begin(GROUP, Draft::create()?)?;
    let mut written = Written::default();
    while let Some(group) = merged.next()? {
        let group = Parts::of(group);
        written.groups += 1;
        written.numbers.push(group.number);
        for person in group.people() {
            people.person(written.groups, person)?;
            written.people += 1;
        }
        for value in group.values() {
            let end = memchr::memchr(MARK, value).unwrap_or(value.len());
            let at = std::str::from_utf8(&value[..end]).ok().and_then(|at| at.parse::<usize>().ok());
            if let Some(pairs) = at.and_then(|at| values.get_mut(at)) {
                pairs.push(written.groups, &unescaped(value.get(end + 1..).unwrap_or_default()))?;
                written.values += 1;
            }
        }
    }
    let mut files = vec![(quasi, people.finish()?)];
    for (name, pairs) in names(fates).iter().zip(values) {
        files.push((sensitive_place(file, name)?, pairs.finish()?));
    }
    Ok(Drafts { files, written, ..Drafts::default() })
}

/// Takes a part of the people of a publication, and the names of their groups.
pub(super) type Each<'a> = dyn FnMut(&Dataset, &[&str]) -> Result<()> + 'a;

/// Opens a table by its name: its file, or its parts.
pub(super) type Open<'a> = dyn Fn(&str) -> Result<Vec<Input>> + 'a;

/// Reads a publication as a stranger would. `tables` are the names of all tables of sensitive values; `order` takes note of the order
/// of parts.
pub(super) fn read(
    open: &Open<'_>,
    tables: &[String],
    reader: &PublishedReader<'_>,
    mut order: Option<&mut Order>,
    numbered: Numbered,
    each: &mut Each<'_>,
) -> Result<PublishedGroups> {
    let PublishedReader { file, expected, .. } = reader;
    let policy = quasi_policy(file, expected)?;
    let inputs = open(&file_name(file)?)?;
    let name = inputs.first().map_or(String::new(), |input| input.name().to_owned());
    let place = Place::source(&name);
    let mut groups = Groups::default();
    let mut problems = Problems { place: place.clone(), found: Vec::new() };
    let mut row = 0;
    for input in inputs {
        if let Some(order) = &mut order {
            order.begin();
        }
        each_part(&mut input.published(), &mut |data, columns| {
            let schema = data.schema();
            // Whatever the input has beside: a publication says nothing that the policy does not.
            Binding::of_input(schema, &policy.policy.attributes, Undeclared::Refuse, &name)?;
            let own = |a: &bosket_model::schema::Attribute| a.class == ClassId::ROOT && a.name == [GROUP];
            let Some(number) = schema.attributes().find(|(_, a)| own(a)).map(|(id, _)| id) else {
                problems.push(format!("the file of the people has no column `{GROUP}`"));
                return problems.settle();
            };
            let found =
                schema.attributes().filter(|(id, _)| *id != number && !data.dictionary(*id).is_empty());
            found.for_each(|(_, attribute)| groups.on_quasi_side(&attribute.path));
            let mut own_groups = Vec::with_capacity(data.len());
            for record in 0..data.len() {
                row += 1;
                match data.value(data.vertices(record).start, number) {
                    MISSING => problems.push(format!("row {row} of the people has no group")),
                    code => {
                        let name = data.dictionary(number).text(code);
                        let group = groups.number(name);
                        groups.person(group);
                        own_groups.push(name);
                    }
                }
            }
            if !problems.found.is_empty() {
                return Ok(());
            }
            if let Some(order) = &mut order {
                if number.index() > 0 {
                    problems.push(format!("`{GROUP}` is not the first column of the people"));
                    return problems.settle();
                }
                order.columns(&format!("{columns:?}"));
                for (group, text) in own_groups.iter().zip(Sheet::new(schema, columns)?.texts(&data)?.iter())
                {
                    // The group is not what groups are ordered by.
                    let end = memchr::memchr(MARK, text).map_or(0, |end| end + 1);
                    order.person(group, &text[end..]);
                }
            }
            each(&data, &own_groups)
        })?;
    }
    if let Some(order) = &mut order {
        order.end();
    }
    let own = names(expected);
    for (name, sensitive) in own.iter().zip(&expected.sensitive) {
        // What stands on the other side has no table; that is for others to judge.
        if !tables.contains(name) && groups.is_on_quasi_side(&sensitive.path) {
            continue;
        }
        let column = groups.on_sensitive_side(&sensitive.path);
        let mut row = 0;
        if let Some(order) = &mut order {
            order.table();
        }
        for (part, input) in open(&sensitive_name(file, name)?)?.into_iter().enumerate() {
            each_pair(&mut input.published(), [GROUP, VALUE], &mut |(group, value)| {
                row += 1;
                match (group, value) {
                    (Some(group), Some((kind, value))) => {
                        if let Some(order) = &mut order {
                            let mut text = Vec::new();
                            push_escaped(&mut text, value);
                            order.value(part, group, &text);
                        }
                        let group = groups.number(group);
                        groups.value(group, column, kind, value);
                    }
                    _ => problems.push(format!("row {row} of `{name}` lacks its group or its value")),
                }
            })?;
        }
    }
    for other in tables.iter().filter(|table| !own.contains(table)) {
        groups.on_sensitive_side(other);
    }
    problems.settle()?;
    groups.finish(place, numbered)
}

/// Problems of a publication, as many as are shown.
struct Problems {
    place: Place,
    found: Vec<Diagnostic>,
}

impl Problems {
    fn push(&mut self, what: String) {
        if self.found.len() < 20 {
            let help = "check that policy and publication belong together, and that it is complete";
            self.found.push(Diagnostic::error(what).at(self.place.clone()).help(help));
        }
    }

    fn settle(&mut self) -> Result<()> {
        match std::mem::take(&mut self.found) {
            found if found.is_empty() => Ok(()),
            found => Err(Failure::all(Fault::Data, found)),
        }
    }
}
