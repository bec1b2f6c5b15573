//! What a bundle holds, and what refers to what: the first of two passes.
//!
//! Types may be told at the end of a resource and resources may stand in any order, so nothing can be put into the
//! dataset before the whole bundle is known.

use rustc_hash::FxHashMap;

use super::entry::surrogate;
use super::names::{ABSENT, Resource, Version};
use super::problem::{Fault, Problem};
use crate::json::error::Error;
use crate::json::parser::{Parser, Token};

/// The only resources besides those of [`Resource`] that are looked into, where something refers to them.
const MEDICATION: &str = "Medication";

/// What a bundle may be for.
const TYPES: [&str; 9] = [
    "batch",
    "batch-response",
    "collection",
    "document",
    "history",
    "message",
    "searchset",
    "transaction",
    "transaction-response",
];

/// What a key that should refer to a resource holds.
#[derive(Debug, Default)]
pub(super) enum Link {
    #[default]
    Absent,
    /// It is said not to be told.
    Masked,
    /// No reference, but perhaps words.
    Words(Option<String>),
    To(String),
}

/// A resource of a bundle.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// Where it starts.
    pub(super) at: usize,
    pub(super) resource: Option<Resource>,
    pub(super) kind: String,
    pub(super) medication: Link,
    full_url: Option<String>,
    id: Option<String>,
    subject: Link,
    patient: Link,
    encounter: Link,
    context: Link,
    /// Where its contained resources start.
    contained: Option<usize>,
    /// Whether something refers to it, if it is none of [`Resource`].
    pub(super) used: bool,
}

/// Which resource hangs where.
#[derive(Debug, Default)]
pub(super) struct Arranged {
    pub(super) patient: usize,
    /// What the patient goes by in references.
    pub(super) name: Option<String>,
    /// Resources that hang under the patient, and whether they have an encounter which is not told.
    pub(super) loose: Vec<(usize, bool)>,
    pub(super) encounters: Vec<usize>,
    /// Encounter and resource, in order.
    pub(super) nested: Vec<(usize, usize)>,
    /// Where the Medication is that a resource refers to.
    pub(super) medications: FxHashMap<usize, usize>,
}

/// The entries of one bundle.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    pub(super) entries: Vec<Entry>,
    /// Encounters may be elsewhere: what refers to such a one hangs below the patient.
    pub(super) partial: bool,
    names: FxHashMap<String, usize>,
}

impl Bundle {
    /// Reads a bundle to its end.
    pub(super) fn scan(&mut self, parser: &mut Parser<'_>) -> Result<(), Problem> {
        self.entries.clear();
        self.names.clear();
        let at = parser.position();
        let not_a_bundle = || Problem::bundle(at, Fault::NotABundle);
        if parser.value()? != Token::Object {
            return Err(not_a_bundle());
        }
        let mut bundle = false;
        while let Some(key) = parser.key()? {
            match key {
                "resourceType" => bundle = parser.value()? == Token::Text("Bundle"),
                "type" => bundle_type(parser)?,
                "entry" => match parser.value()? {
                    Token::Array => {
                        while parser.element()? {
                            let entry = entry(parser)?;
                            self.entries.extend(entry);
                        }
                    }
                    Token::Null => {}
                    _ => return Err(not_a_bundle()),
                },
                _ => parser.pass_over()?,
            }
        }
        if bundle { Ok(()) } else { Err(not_a_bundle()) }
    }

    /// Finds out what hangs where; none if nothing in the bundle is a person's.
    pub(super) fn arrange(&mut self, text: &str, version: Version) -> Result<Option<Arranged>, Problem> {
        self.index()?;
        let of = |r: Resource| move |e: &Entry| e.resource == Some(r);
        let Some(patient) = self.entries.iter().position(of(Resource::Patient)) else {
            return match self.entries.iter().find(|e| e.resource.is_some()) {
                Some(entry) => Err(Problem::bundle(entry.at, Fault::NoPatient)),
                None => Ok(None),
            };
        };
        if let Some(other) =
            self.entries[patient + 1..].iter().find(|e| e.resource == Some(Resource::Patient))
        {
            return Err(Problem::bundle(other.at, Fault::SeveralPatients));
        }
        let mut arranged = Arranged { patient, name: self.entries[patient].name(), ..Arranged::default() };
        for i in 0..self.entries.len() {
            let entry = &self.entries[i];
            let Some(resource) = entry.resource.filter(|r| *r != Resource::Patient) else {
                continue;
            };
            self.check_subject(entry, resource, patient)?;
            if let Some(medication) = self.medication(text, entry, resource)? {
                if let Target::Entry(target) = medication {
                    self.entries[target].used = true;
                }
                arranged.medications.insert(i, medication.at(&self.entries));
            }
            if resource == Resource::Encounter {
                arranged.encounters.push(i);
                continue;
            }
            match self.encounter(&self.entries[i], resource, version)? {
                EncounterLink::Encounter(encounter) => arranged.nested.push((encounter, i)),
                EncounterLink::None { masked } => arranged.loose.push((i, masked)),
            }
        }
        arranged.nested.sort_unstable();
        Ok(Some(arranged))
    }

    fn index(&mut self) -> Result<(), Problem> {
        for (i, entry) in self.entries.iter().enumerate() {
            let by_id = entry.id.as_ref().map(|id| format!("{}/{id}", entry.kind));
            for name in [entry.full_url.clone(), by_id].into_iter().flatten() {
                let before = *self.names.entry(name).or_insert(i);
                if let Some(resource) = entry.resource.filter(|_| before != i) {
                    return Err(Problem::bundle(entry.at, Fault::SameName(resource.name())));
                }
            }
        }
        Ok(())
    }

    fn resolve(&self, reference: &str) -> Option<usize> {
        let reference = reference.split_once("/_history/").map_or(reference, |(whole, _)| whole);
        self.names.get(reference).copied()
    }

    fn check_subject(&self, entry: &Entry, resource: Resource, patient: usize) -> Result<(), Problem> {
        let key = resource.subject().unwrap_or("subject");
        let link = if key == "patient" { &entry.patient } else { &entry.subject };
        let fault = match link {
            Link::To(reference) => match self.resolve(reference) {
                Some(found) if found == patient => return Ok(()),
                Some(_) => Fault::NotThePatient(resource.name(), key),
                None => Fault::Unresolved(resource.name(), key),
            },
            _ => Fault::NoSubject(resource.name(), key),
        };
        Err(Problem::bundle(entry.at, fault))
    }

    fn encounter(
        &self,
        entry: &Entry,
        resource: Resource,
        version: Version,
    ) -> Result<EncounterLink, Problem> {
        let link_at = |key: &str| if key == "context" { &entry.context } else { &entry.encounter };
        if let Some(key) = resource.foreign_encounter(version)
            && !matches!(link_at(key), Link::Absent)
        {
            let format = if version == Version::R4 { "fhir-stu3" } else { "fhir-r4" };
            return Err(Problem::bundle(entry.at, Fault::OtherVersion(resource.name(), key, format)));
        }
        let key = resource.encounter(version).unwrap_or("encounter");
        match link_at(key) {
            Link::Absent | Link::Words(_) => Ok(EncounterLink::None { masked: false }),
            Link::Masked => Ok(EncounterLink::None { masked: true }),
            Link::To(reference) => match self.resolve(reference) {
                Some(found) if self.entries[found].resource == Some(Resource::Encounter) => {
                    Ok(EncounterLink::Encounter(found))
                }
                // STU-3 allows an EpisodeOfCare.
                Some(_) => Ok(EncounterLink::None { masked: false }),
                None if self.partial => Ok(EncounterLink::None { masked: false }),
                None => Err(Problem::bundle(entry.at, Fault::Unresolved(resource.name(), key))),
            },
        }
    }

    fn medication(&self, text: &str, entry: &Entry, resource: Resource) -> Result<Option<Target>, Problem> {
        let Link::To(reference) = &entry.medication else {
            return Ok(None);
        };
        let found = match (reference.strip_prefix('#'), entry.contained) {
            (Some(id), Some(contained)) => within(text, contained, id)?.map(Target::Contained),
            (Some(_), None) => None,
            (None, _) => self.resolve(reference).map(Target::Entry),
        };
        let fault = Fault::Unresolved(resource.name(), "medicationReference");
        let found = found.ok_or_else(|| Problem::bundle(entry.at, fault))?;
        // Another type has no code of a medication.
        Ok(Some(found).filter(|f| matches!(f, Target::Contained(_)) || self.is_medication(f)))
    }

    fn is_medication(&self, target: &Target) -> bool {
        matches!(target, Target::Entry(entry) if self.entries[*entry].kind == MEDICATION)
    }
}

/// The encounter that a resource belongs to.
enum EncounterLink {
    Encounter(usize),
    None { masked: bool },
}

enum Target {
    Entry(usize),
    Contained(usize),
}

impl Target {
    fn at(&self, entries: &[Entry]) -> usize {
        match self {
            Target::Entry(entry) => entries[*entry].at,
            Target::Contained(at) => *at,
        }
    }
}

impl Entry {
    /// Whether its address and its id are those that a publication gives to the entry of this number in this record, and
    /// its references are such addresses.
    pub(super) fn is_surrogate(&self, record: u64, number: usize, addresses: &[String]) -> bool {
        let id = u32::try_from(record).ok().map(|record| surrogate(record, number as u64));
        let links = [&self.subject, &self.patient, &self.encounter, &self.context];
        let fresh = |link: &&Link| match link {
            Link::Absent | Link::Masked => true,
            Link::Words(_) => false,
            Link::To(to) => addresses.contains(to),
        };
        self.id == id
            && self.full_url.as_deref() == addresses.get(number - 1).map(String::as_str)
            && links.iter().all(fresh)
    }

    /// Its id.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The reference to the patient it belongs to.
    pub(super) fn owner(&self) -> Option<&str> {
        [&self.subject, &self.patient].into_iter().find_map(|link| match link {
            Link::To(reference) => Some(reference.as_str()),
            _ => None,
        })
    }

    fn name(&self) -> Option<String> {
        self.full_url.clone().or_else(|| self.id.as_ref().map(|id| format!("{}/{id}", self.kind)))
    }
}

/// Reads an entry; none if it has no resource, as answers to a transaction may not.
fn entry(parser: &mut Parser<'_>) -> Result<Option<Entry>, Problem> {
    let at = parser.position();
    if parser.value()? != Token::Object {
        return Err(Problem::bundle(at, Fault::NotAResource));
    }
    let (mut found, mut full_url) = (None, None);
    while let Some(key) = parser.key()? {
        match key {
            "fullUrl" => full_url = text(parser)?,
            "resource" => found = Some(resource(parser)?),
            _ => parser.pass_over()?,
        }
    }
    Ok(found.map(|entry| Entry { full_url, ..entry }))
}

/// Reads a resource's type and what it refers to.
pub(super) fn resource(parser: &mut Parser<'_>) -> Result<Entry, Problem> {
    let at = parser.position();
    let mut entry = Entry { at, ..Entry::default() };
    if parser.value()? != Token::Object {
        return Err(Problem::bundle(at, Fault::NotAResource));
    }
    while let Some(key) = parser.key()? {
        match key {
            "resourceType" => entry.kind = text(parser)?.unwrap_or_default(),
            "id" => entry.id = text(parser)?,
            "subject" => entry.subject = link(parser, false)?,
            "patient" => entry.patient = link(parser, false)?,
            "encounter" => entry.encounter = link(parser, false)?,
            "context" => entry.context = link(parser, false)?,
            "medicationReference" => entry.medication = link(parser, true)?,
            "contained" => {
                entry.contained = Some(parser.position());
                parser.skip()?;
            }
            _ => parser.skip()?,
        }
    }
    if entry.kind.is_empty() {
        return Err(Problem::bundle(at, Fault::NotAResource));
    }
    entry.resource = Resource::from_name(&entry.kind);
    Ok(entry)
}

/// Where the contained resource with this id starts.
fn within(text: &str, at: usize, id: &str) -> Result<Option<usize>, Problem> {
    let mut parser = Parser::new(text);
    parser.rewind(at, 0);
    if parser.value()? != Token::Array {
        return Ok(None);
    }
    while parser.element()? {
        let found = resource(&mut parser)?;
        if found.id.as_deref() == Some(id) && found.kind == MEDICATION {
            return Ok(Some(found.at));
        }
    }
    Ok(None)
}

/// A text; anything else is passed over.
pub(super) fn text(parser: &mut Parser<'_>) -> Result<Option<String>, Error> {
    let (at, depth) = (parser.position(), parser.depth());
    if let Token::Text(text) = parser.value()? {
        return Ok(Some(text.to_owned()));
    }
    parser.rewind(at, depth);
    parser.pass_over()?;
    Ok(None)
}

/// Reads what a bundle is for, which is one of a few words.
fn bundle_type(parser: &mut Parser<'_>) -> Result<(), Error> {
    let (at, depth) = (parser.position(), parser.depth());
    let known = matches!(parser.value()?, Token::Text(text) if TYPES.contains(&text));
    parser.rewind(at, depth);
    if known { parser.skip() } else { parser.pass_over() }
}

/// Reads a reference. What it is called counts where `worded`.
fn link(parser: &mut Parser<'_>, worded: bool) -> Result<Link, Error> {
    let (at, depth) = (parser.position(), parser.depth());
    match parser.value()? {
        Token::Object => {}
        Token::Null => return Ok(Link::Absent),
        _ => {
            parser.rewind(at, depth);
            parser.pass_over()?;
            return Ok(Link::Words(None));
        }
    }
    let (mut reference, mut words, mut masked) = (None, None, false);
    while let Some(key) = parser.key()? {
        match key {
            "reference" => reference = text(parser)?,
            "display" if worded => words = text(parser)?,
            "extension" => masked = is_absent(parser)?,
            _ => parser.pass_over()?,
        }
    }
    Ok(match reference {
        Some(reference) => Link::To(reference),
        None if masked => Link::Masked,
        None => Link::Words(words),
    })
}

/// Whether extensions say that a value is not told.
pub(super) fn is_absent(parser: &mut Parser<'_>) -> Result<bool, Error> {
    let (at, depth) = (parser.position(), parser.depth());
    if parser.value()? != Token::Array {
        parser.rewind(at, depth);
        parser.pass_over()?;
        return Ok(false);
    }
    let mut found = false;
    while parser.element()? {
        if url(parser)?.as_deref() == Some(ABSENT) {
            found = true;
            absent(parser)?;
        } else {
            parser.pass_over()?;
        }
    }
    Ok(found)
}

/// Reads an extension that says that a value is not told, and at most why.
pub(super) fn absent(parser: &mut Parser<'_>) -> Result<(), Error> {
    parser.value()?;
    while let Some(key) = parser.key()? {
        match key {
            "url" => parser.skip()?,
            "valueCode" => {
                let (at, depth) = (parser.position(), parser.depth());
                let masked = parser.value()? == Token::Text("masked");
                parser.rewind(at, depth);
                if masked { parser.skip()? } else { parser.pass_over()? }
            }
            _ => parser.pass_over()?,
        }
    }
    Ok(())
}

/// The `url` of the object that comes next, which is still to be read.
pub(super) fn url(parser: &mut Parser<'_>) -> Result<Option<String>, Error> {
    let (at, depth) = (parser.position(), parser.depth());
    let mut found = None;
    if parser.value()? == Token::Object {
        while let Some(key) = parser.key()? {
            if key == "url" {
                found = text(parser)?;
                break;
            }
            parser.skip()?;
        }
    }
    parser.rewind(at, depth);
    Ok(found)
}
