//! Two sides in parts: a folder per table, each with `part-00000.parquet`, `part-00001.parquet`, …
//!
//! Every part but the last has the same number of groups, and part i of all tables has the same groups, as a whole. So a part can be
//! written and judged alone, and neither names nor cuts tell anything.
//!
//! On their way people and groups are texts: what is published of the people, then their sensitive values ([`Parts`]).

use std::path::Path;

use bosket_model::binding::Binding;
use bosket_model::dictionary::Dictionary;
use bosket_model::dissected::PublishedGroups;
use bosket_model::observe::Observer;
use bosket_model::sides::{Fate, Fates};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Fingerprint, Kind, Place, Result};

use super::columns::{self, MARK, Open};
use super::groups::Numbered;
use super::order::Order;
use super::published::{PublishedReader, refuse_other_files, tables_in};
use super::records::{Empty, quasi_side, sensitive};
use super::spool::{PERSON, Parts, SIDE, Spool, join};
use super::tables::{GROUP, VALUE, file_name, names, quasi_policy, sensitive_name};
use crate::atomic::Create;
use crate::fingerprint;
use crate::input::Input;
use crate::output::Output;
use crate::parquet::Columns;
use crate::parquet::pairs::Pairs;
use crate::parquet::people::{Sheet, push_escaped, unescaped};
use crate::parquet::scalar::Scalar;
use crate::parts::{PartFacts, part_files, part_name};
use crate::policy_file::PolicyFile;

const FORMAT: &str = "parquet";

/// The columns of both sides, for whoever writes a part of them.
#[derive(Debug)]
pub struct SidesInParts<'p> {
    file: &'p PolicyFile,
    fates: Fates,
    sheet: Sheet,
    types: Vec<Scalar>,
}

fn bound(file: &PolicyFile, data: &Dataset) -> Result<Binding> {
    Binding::of_input(data.schema(), &file.policy.attributes, file.policy.undeclared, "the data")
}

fn fragment(at: usize, _: Kind, text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(at.to_string().as_bytes());
    out.push(MARK);
    push_escaped(out, text);
}

/// The number of a sensitive attribute, and a value of it.
fn taken_apart(fragment: &[u8]) -> Option<(usize, std::borrow::Cow<'_, str>)> {
    let end = memchr::memchr(MARK, fragment)?;
    let at = std::str::from_utf8(&fragment[..end]).ok()?.parse().ok()?;
    Some((at, unescaped(&fragment[end + 1..])))
}

impl<'p> SidesInParts<'p> {
    /// The columns for records that look like these, whose source has such columns.
    pub fn new(file: &'p PolicyFile, (data, columns): (&Dataset, &Columns)) -> Result<Self> {
        let fates = Fates::new(&file.policy)?;
        quasi_policy(file, &fates)?;
        let binding = bound(file, data)?;
        let mut types = vec![Scalar::text(); fates.sensitive.len()];
        for (id, attribute) in data.schema().attributes() {
            if let Some(Fate::Sensitive(at)) = binding.attributes[id.index()].map(|d| fates.of[d]) {
                let own = columns.scalar(&attribute.path).cloned();
                types[at] = own.map_or_else(Scalar::text, |own| {
                    Scalar::for_codes(Some(own), &Dictionary::default(), &[])
                });
            }
        }
        let quasi = quasi_side(data, &binding, &fates, None, Empty::Gone)?;
        Ok(SidesInParts { file, sheet: Sheet::new(quasi.schema(), columns)?, types, fates })
    }

    /// The folders that both sides are written into; the first is that of the people.
    pub fn folders(&self) -> Result<Vec<String>> {
        let own = names(&self.fates);
        let sensitive = own.iter().map(|name| sensitive_name(self.file, name));
        std::iter::once(file_name(self.file)).chain(sensitive).collect()
    }

    /// Records as people, each a text.
    pub fn people(&self, data: &Dataset, columns: &Columns) -> Result<Vec<Vec<u8>>> {
        let binding = bound(self.file, data)?;
        let quasi = quasi_side(data, &binding, &self.fates, None, Empty::Gone)?;
        let mut sheet = Sheet::new(quasi.schema(), columns)?;
        if !sheet.holds(&quasi) {
            return Err(too_narrow());
        }
        for (id, _) in data.schema().attributes() {
            if let Some(Fate::Sensitive(at)) = binding.attributes[id.index()].map(|d| self.fates.of[d])
                && !self.types[at].fits(data.dictionary(id).iter())
            {
                return Err(too_narrow());
            }
        }
        let texts = sheet.texts(&quasi)?;
        let mut people = Vec::with_capacity(data.len());
        for (record, text) in texts.iter().enumerate() {
            let mut values: Vec<Vec<u8>> = Vec::new();
            sensitive(data, data.vertices(record), &binding, &self.fates, &mut |at, attribute, code| {
                let mut value = Vec::new();
                let dictionary = data.dictionary(attribute);
                fragment(at, dictionary.kind(code), dictionary.text(code), &mut value);
                values.push(value);
            });
            let mut person = text.to_vec();
            person.push(PERSON);
            person.push(SIDE);
            join(&mut values, &mut person);
            people.push(person);
        }
        Ok(people)
    }

    /// Writes a part of both sides: groups as texts, in their order; the first has this number.
    pub fn write(&self, folder: &Path, number: usize, first: u64, groups: &[Vec<u8>]) -> Result<()> {
        let folders = self.folders()?;
        let create = |table: &str| {
            let path = folder.join(table).join(part_name(number, FORMAT));
            Output::create(&path, Create { force: true, ..Create::default() })
        };
        let mut people = self.sheet.begin(GROUP, create(&folders[0])?)?;
        let mut values = Vec::new();
        for (table, scalar) in folders[1..].iter().zip(&self.types) {
            values.push(Pairs::begin([GROUP, VALUE], scalar.clone(), create(table)?)?);
        }
        for (group, text) in (first..).zip(groups) {
            let parts = Parts::without_number(text);
            for person in parts.people() {
                people.person(group, person)?;
            }
            for value in parts.values() {
                let (at, text) = taken_apart(value).ok_or_else(damaged)?;
                values.get_mut(at).ok_or_else(damaged)?.push(group, &text)?;
            }
        }
        people.finish()?.finish()?;
        values.into_iter().try_for_each(|pairs| pairs.finish()?.finish())
    }
}

/// People by their texts, as they are grouped.
pub fn spooled(fates: &Fates, seed: u64, people: &[&[u8]]) -> Result<Spool> {
    let mut spool = Spool::new(&fates.sensitive, seed)?;
    for text in people {
        let parts = Parts::without_number(text);
        for value in parts.values() {
            let (at, value) =
                taken_apart(value).filter(|(at, _)| *at < fates.sensitive.len()).ok_or_else(damaged)?;
            spool.value(at, Kind::Text, &value);
        }
        let mut own = parts.people();
        match (own.next(), own.next()) {
            (Some(person), None) => spool.person(person)?,
            _ => return Err(damaged()),
        }
    }
    Ok(spool)
}

/// Groups of people as texts, in the order of their content.
pub fn group_texts(spool: &mut Spool, group_of: &[u32], groups: usize) -> Result<Vec<Vec<u8>>> {
    let mut merged = spool.groups(group_of, groups, &mut fragment)?;
    let mut texts = Vec::with_capacity(groups);
    while let Some(group) = merged.next()? {
        texts.push(group[..group.len() - 4].to_vec());
    }
    Ok(texts)
}

/// A part of both sides, as a stranger reads it.
#[derive(Debug)]
pub struct PartOfSides {
    /// What stands in it.
    pub found: PublishedGroups,
    /// Its groups: how many there are, and where they belong among all.
    pub facts: PartFacts,
    /// The number of its first group.
    pub first: u64,
    /// Its files, as they are seen from the folder.
    pub files: Vec<Fingerprint>,
}

impl PublishedReader<'_> {
    /// The folders that both sides are expected in; the first is that of the people.
    pub fn folders_of_sides(&self) -> Result<Vec<String>> {
        let own = names(&self.expected);
        let sensitive = own.iter().map(|name| sensitive_name(self.file, name));
        std::iter::once(file_name(self.file)).chain(sensitive).collect()
    }

    /// In how many parts the sides of a folder lie; refuses whatever else lies there.
    pub fn parts_of_sides(&self, folder: &Path) -> Result<usize> {
        refuse_other_files(folder, self.file)?;
        let people = file_name(self.file)?;
        let count = part_files(&folder.join(&people), FORMAT, &[])?.len();
        for table in tables_in(folder, self.file)? {
            let own = folder.join(sensitive_name(self.file, &table)?);
            if !own.is_dir() || part_files(&own, FORMAT, &[])?.len() != count {
                let what =
                    Diagnostic::error(format!("`{people}` and `{table}` have not the same number of parts"));
                let place = Place::source(folder.display().to_string());
                let help = "hand the publication out as it was written";
                return Err(Failure::new(Fault::Data, what.at(place).help(help)));
            }
        }
        Ok(count)
    }

    /// Reads one part of both sides.
    pub fn read_part_of_sides(
        &self,
        folder: &Path,
        number: usize,
        observer: &dyn Observer,
    ) -> Result<PartOfSides> {
        let part = part_name(number, FORMAT);
        let open: &Open<'_> = &|name| Ok(vec![Input::open(&folder.join(name).join(&part))?]);
        let tables = tables_in(folder, self.file)?;
        let mut order = Order::default();
        let found =
            columns::read(open, &tables, self, Some(&mut order), Numbered::Behind, &mut |_, _| Ok(()))?;
        let mut files = Vec::new();
        let own =
            std::iter::once(file_name(self.file)).chain(tables.iter().map(|t| sensitive_name(self.file, t)));
        for table in own {
            let name = format!("{}/{part}", table?);
            files.push(Fingerprint { sha256: fingerprint::of_file(&folder.join(&name), observer)?, name });
        }
        let first = order.first();
        let facts = order.into_parts().pop().ok_or_else(damaged)?;
        Ok(PartOfSides { found, facts, first, files })
    }

    /// Reads both sides in all their parts.
    pub(super) fn read_parts_of_sides(
        &self,
        folder: &Path,
        each: &mut columns::Each<'_>,
    ) -> Result<PublishedGroups> {
        let count = self.parts_of_sides(folder)?;
        let open: &Open<'_> = &|name| {
            (0..count).map(|number| Input::open(&folder.join(name).join(part_name(number, FORMAT)))).collect()
        };
        let tables = tables_in(folder, self.file)?;
        let mut order = Order::default();
        let found = columns::read(open, &tables, self, Some(&mut order), Numbered::Somehow, each)?;
        order.refuse(&folder.join(file_name(self.file)?))?;
        Ok(found)
    }
}

fn too_narrow() -> Failure {
    let what = Diagnostic::error("a column has values that its own type does not hold");
    Failure::new(Fault::Data, what.at(Place::source("the data")).help("cast the column to text first"))
}

fn damaged() -> Failure {
    Failure::defect("what was handed on between tasks is damaged")
}
