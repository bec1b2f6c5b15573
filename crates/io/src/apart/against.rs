//! What the two sides of private data and of a publication hold, so that they can be compared.

use std::path::Path;

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::dissected::{PublishedGroups, SideDigests};
use bosket_model::observe::Observer;
use bosket_model::policy::Undeclared;
use bosket_model::selection::select;
use bosket_model::sides::Fate;

use super::batched;
use super::columns::each_private;
use super::dissection::{Way, open_xml};
use super::published::PublishedReader;
use super::tables_read::{self, Published, group_of};
use super::truth::{add_records, digest, no_digests};
use crate::batches::BatchSize;
use crate::input::Input;
use crate::source::{Opened, Whereabouts};
use crate::xml::apart as xml;

impl PublishedReader<'_> {
    /// What the two sides of private data would hold. With `groups` (per record its group, 0 for none), those in none are
    /// left out.
    pub fn private_sides(
        &self,
        place: Whereabouts,
        groups: Option<&[u32]>,
        observer: &dyn Observer,
    ) -> Result<SideDigests> {
        let policy = &self.file.policy;
        let mut sides = no_digests(&self.expected);
        let group = |record: usize| match groups {
            None => Some(0),
            Some(groups) => groups.get(record).copied().filter(|&group| group > 0),
        };
        match &place {
            Whereabouts::Document { path, layout, .. } if self.way == Way::Xml => {
                let mut record = 0;
                let take = |values: &mut dyn Iterator<Item = (usize, &str)>, text: &[u8]| {
                    if let Some(group) = group(record) {
                        values
                            .for_each(|(at, value)| sides.values[at].push((group, digest(value.as_bytes()))));
                        sides.people.push((group, digest(text)));
                    }
                    record += 1;
                    Ok(())
                };
                xml::read_people(&mut open_xml(path)?, policy, &self.expected, layout, take)?;
                sides.records = record;
            }
            Whereabouts::Document { path, .. } if self.way == Way::Columns => {
                each_private(&mut Input::open(path)?, policy, &mut |first, part, binding| {
                    add_records(&mut sides, part, binding, &self.expected, &|record| group(first + record));
                })?;
            }
            _ if batched::is_wanted(&place, policy, observer) => {
                let (name, mut first) = (place.name(), 0);
                place.batches(
                    BatchSize::of(observer.limits()),
                    observer,
                    &mut |Opened { data, .. }| {
                        let schema = data.schema();
                        let binding =
                            Binding::of_input(schema, &policy.attributes, policy.undeclared, &name)?;
                        let own = |record: usize| group(first + record);
                        add_records(&mut sides, &data, &binding, &self.expected, &own);
                        first += data.len();
                        Ok(())
                    },
                )?;
            }
            _ => {
                let name = place.name();
                let data = select(place.open(observer)?.data, policy, &name)?;
                let schema = data.schema();
                let binding = Binding::of_input(schema, &policy.attributes, policy.undeclared, &name)?;
                add_records(&mut sides, &data, &binding, &self.expected, &group);
            }
        }
        Ok(sides)
    }

    /// What the two sides of a publication hold; if `grouped`, with the numbers of the groups.
    pub fn published_sides(&self, at: &Path, grouped: bool, observer: &dyn Observer) -> Result<SideDigests> {
        let policy = &self.file.policy;
        let mut sides = no_digests(&self.expected);
        // Bosket numbers groups from 1; others are in no group that a mapping could mean.
        let number = |name: &str| if grouped { name.parse().unwrap_or(u32::MAX) } else { 0 };
        match self.way {
            Way::Xml => {
                let mut each =
                    |id: &str, values: &mut dyn Iterator<Item = (usize, &str)>, person: Option<&[u8]>| {
                        for (declared, value) in values {
                            if let Fate::Sensitive(at) = self.expected.of[declared] {
                                sides.values[at].push((number(id), digest(value.as_bytes())));
                            }
                        }
                        sides.people.extend(person.map(|text| (number(id), digest(text))));
                    };
                let paths = &self.expected.paths;
                xml::read_published(&mut Input::open(at)?.published(), policy, paths, Some(&mut each))?;
            }
            Way::Json => {
                let found = self.sides_of_json(&mut || Input::open(at), observer, &mut |part, groups| {
                    let binding = Binding::new(
                        part.schema(),
                        &policy.attributes,
                        policy.undeclared,
                        "the publication",
                    )?;
                    let group = |r: usize| groups.get(r).map(|g| number(g));
                    add_records(&mut sides, part, &binding, &self.expected, &group);
                    Ok(())
                })?;
                self.values(&mut sides, &found, &number);
            }
            Way::Columns => {
                let name = at.display().to_string();
                let found = self.columns_at(at, &mut |part, groups| {
                    let schema = part.schema();
                    let binding = Binding::of_input(schema, &policy.attributes, Undeclared::Drop, &name)?;
                    let group = |r: usize| groups.get(r).map(|g| number(g));
                    add_records(&mut sides, part, &binding, &self.expected, &group);
                    Ok(())
                })?;
                self.values(&mut sides, &found, &number);
            }
            Way::Tables => {
                let name = at.display().to_string();
                let size = tables_read::batched(at, self, observer)?;
                let found = tables_read::read(Published::At(at), self, size, observer, &mut |part, _| {
                    let schema = part.schema();
                    let binding = Binding::of_input(schema, &policy.attributes, Undeclared::Drop, &name)?;
                    let group = |record: usize| group_of(&part, record).map(number);
                    add_records(&mut sides, &part, &binding, &self.expected, &group);
                    Ok(())
                })?;
                self.values(&mut sides, &found, &number);
            }
        }
        Ok(sides)
    }

    fn values(&self, sides: &mut SideDigests, found: &PublishedGroups, number: &dyn Fn(&str) -> u32) {
        for (at, sensitive) in self.expected.sensitive.iter().enumerate() {
            for column in found.sensitive.iter().filter(|column| column.name == sensitive.path) {
                for (codes, name) in column.codes.iter().zip(&found.names) {
                    let texts = codes.iter().map(|&code| column.values.text(code));
                    sides.values[at].extend(texts.map(|text| (number(name), digest(text.as_bytes()))));
                }
            }
        }
    }
}
