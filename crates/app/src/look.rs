//! What `inspect` looks at: a document, or linked tables that no policy describes yet.

use std::path::Path;

use bosket_io::fhir::{Exchange, Version, recognise};
use bosket_io::gather::{document_path, gather, person_of};
use bosket_io::homes::Homes;
use bosket_io::json::{Json, Ndjson};
use bosket_io::tables::{
    Brought, Catalogue, Linked, Tables, catalogue, catalogue_of_frames, complete, contradictions,
    contradictions_of_frames, rows_of_people, survey, survey_frames,
};
use bosket_io::xml::{Outline, Xml};
use bosket_io::{Format as _, Frames, GuessedRecords, Layout, Opened, SourceForm, guess_records};
use bosket_measure::inspect::{
    Coarsening, FHIR_BULK, Identifiers, NO_PRESET, OMOP, ObjectKeys, Profile, Suggestion, preset_format,
    repeating_number, telling_kinds,
};
use bosket_model::policy::{Format, Role, Table};
use bosket_model::words::plural;
use bosket_model::{Dataset, Failure, Fault, Result};
use serde_json::{Value, json};

use crate::inspect::InspectRequest;
use crate::load;
use crate::run::Run;

/// How many other places of the records are named.
const OTHERS: usize = 8;

/// Data, and how it is written down.
#[derive(Debug)]
pub struct Looked {
    /// The records.
    pub data: Dataset,
    /// The format's name.
    pub format: &'static str,
    /// Where the records are in a document.
    pub record: Option<String>,
    /// What separates cells or items.
    pub separator: Option<String>,
    /// Linked tables, if there are several.
    pub tables: Option<LinkedTables>,
    /// Keys of JSON objects that are data.
    pub keys: ObjectKeys,
    /// What names the person, where documents of one person were gathered.
    pub person: Vec<String>,
    /// How many documents were gathered.
    pub documents: usize,
    /// Elements of XML that are not looked into, by the names from a document's record on.
    pub opaque: Vec<Vec<String>>,
    /// Where the records of a document were guessed to be, if nobody has said it.
    pub guessed: Option<GuessedRecords>,
    /// The standard whose roles are taken.
    pub preset: Option<Preset>,
}

/// A standard whose roles are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: String,
    /// Nobody has asked for it: the data are recognised as such.
    pub recognised: bool,
}

impl Preset {
    fn asked(request: &InspectRequest) -> Option<Self> {
        let name = request.preset.clone().filter(|name| name != NO_PRESET)?;
        Some(Preset { name, recognised: false })
    }

    fn recognised(name: &str) -> Self {
        Preset { name: name.to_owned(), recognised: true }
    }

    /// What the data seem to be, where nobody has said how to read them.
    fn of_document(request: &InspectRequest) -> Option<Self> {
        let reading = &request.reading;
        let said = request.preset.is_some() || reading.format.is_some() || reading.record.is_some();
        if said || request.data == Path::new("-") {
            return None;
        }
        // What cannot be read is told when it is read.
        Some(Self::recognised(match recognise(&request.data).ok().flatten()? {
            Exchange::Bundles(Version::R4) => "fhir-r4",
            Exchange::Bundles(Version::Stu3) => "fhir-stu3",
            Exchange::Resources => FHIR_BULK,
        }))
    }

    fn of_tables(request: &InspectRequest, catalogue: &Catalogue) -> Option<Self> {
        Self::asked(request)
            .or_else(|| (request.preset.is_none() && catalogue.is_omop()).then(|| Self::recognised(OMOP)))
    }

    fn is_omop(preset: Option<&Self>) -> bool {
        preset.is_some_and(|p| p.name == OMOP)
    }
}

/// Linked tables, and whether anybody has declared how they are linked.
#[derive(Debug)]
pub struct LinkedTables {
    /// The tables.
    pub linked: Linked,
    /// Nobody has declared how they are linked.
    pub guessed: bool,
    /// The person table was named.
    pub person_given: bool,
    /// References to the person, as `table.column`, that name somebody else in some rows than those hang below.
    pub contradicting: Vec<String>,
}

/// Reads whatever the request names.
pub(crate) fn look(request: &InspectRequest, run: &Run<'_>) -> Result<Looked> {
    if let Some(frames) = &request.frames {
        return look_at_frames(request, frames, run);
    }
    let reading = &request.reading;
    let format = reading.format.as_deref().or(request.preset.as_deref().and_then(preset_format));
    let separator = reading.separator.as_deref();
    let Some((format, mut catalogue)) = catalogue(&request.data, format, separator, run.observer)? else {
        let preset = Preset::asked(request).or_else(|| Preset::of_document(request));
        let format = format.or(preset.as_ref().and_then(|p| preset_format(&p.name)));
        let guessed = guessed(request, format, run)?;
        let (opened, keys) = document(request, format, guessed.as_ref(), run)?;
        let format = opened.form.name();
        let SourceForm::Document { layout, .. } = opened.form else {
            return Err(Failure::defect("a document was read as tables"));
        };
        let looked = Looked {
            data: opened.data,
            format,
            record: layout.record,
            separator: layout.separator,
            tables: None,
            keys,
            person: Vec::new(),
            documents: 0,
            opaque: layout.outline.opaque.found,
            guessed,
            preset,
        };
        return match looked.rows_of_people(request, run)? {
            Some((format, catalogue)) => {
                let folder = request.data.parent().unwrap_or(Path::new(""));
                look_at_tables(request, folder, (format, separator), catalogue, run)
            }
            None => looked.gathered(request, run),
        };
    };
    if Preset::is_omop(Preset::of_tables(request, &catalogue).as_ref()) {
        catalogue.complete_omop();
    }
    complete(&request.data, format, &mut catalogue, run.observer)?;
    look_at_tables(request, &request.data, (format, separator), catalogue, run)
}

/// Looks at linked tables in a folder or a database.
fn look_at_tables(
    request: &InspectRequest,
    at: &Path,
    (format, separator): (Format, Option<&str>),
    mut catalogue: Catalogue,
    run: &Run<'_>,
) -> Result<Looked> {
    let reading = &request.reading;
    let preset = Preset::of_tables(request, &catalogue);
    survey(at, format, separator, &mut catalogue, run.observer)?;
    let mut linked = catalogue.link(reading.record.as_deref(), &request.parent)?;
    let second = contradictions(at, format, separator, &catalogue, &linked, run.observer)?;
    linked.notes.extend(second.iter().map(|c| c.note.clone()));
    let contradicting = second.into_iter().flat_map(|c| c.columns).collect();
    let (data, _) = Tables::look(at, format, separator, &linked)?.read(run.observer)?;
    let (guessed, person_given) = (catalogue.guessed, reading.record.is_some());
    let tables = LinkedTables { linked, guessed, person_given, contradicting };
    Ok(Looked {
        data,
        format: format.name(),
        record: None,
        separator: reading.separator.clone(),
        tables: Some(tables),
        keys: ObjectKeys::default(),
        person: Vec::new(),
        documents: 0,
        opaque: Vec::new(),
        guessed: None,
        preset,
    })
}

/// Looks at what stands in memory; a draft names it as Parquet.
fn look_at_frames(request: &InspectRequest, frames: &Frames, run: &Run<'_>) -> Result<Looked> {
    let mut preset = Preset::asked(request);
    let (data, tables) = if frames.are_linked() {
        let reading = &request.reading;
        let mut catalogue = catalogue_of_frames(frames, run.observer)?;
        preset = Preset::of_tables(request, &catalogue);
        if Preset::is_omop(preset.as_ref()) {
            catalogue.complete_omop();
        }
        survey_frames(frames, &mut catalogue, run.observer)?;
        let mut linked = catalogue.link(reading.record.as_deref(), &request.parent)?;
        let second = contradictions_of_frames(frames, &catalogue, &linked, run.observer)?;
        linked.notes.extend(second.iter().map(|c| c.note.clone()));
        let contradicting = second.into_iter().flat_map(|c| c.columns).collect();
        let (data, _) = Tables::look_frames(frames, &linked).read(run.observer)?;
        let (guessed, person_given) = (catalogue.guessed, reading.record.is_some());
        (data, Some(LinkedTables { linked, guessed, person_given, contradicting }))
    } else {
        (frames.take()?.data, None)
    };
    Ok(Looked {
        data,
        format: Format::Parquet.name(),
        record: None,
        separator: None,
        tables,
        keys: ObjectKeys::default(),
        person: Vec::new(),
        documents: 0,
        opaque: Vec::new(),
        guessed: None,
        preset,
    })
}

/// Where the records of a document probably are, if nobody has said it. A stream cannot be looked at first.
fn guessed(request: &InspectRequest, format: Option<&str>, run: &Run<'_>) -> Result<Option<GuessedRecords>> {
    if request.reading.record.is_some() || request.data == Path::new("-") {
        return Ok(None);
    }
    match guess_records(&request.data, format, run.observer) {
        // What is wrong with the data is told with its place when it is read.
        Err(failure) if failure.fault == Fault::Data => Ok(None),
        found => found,
    }
}

/// Reads a document. Where objects of JSON turn out to be maps it is read again as such, for maps may lie in maps; a
/// stream cannot be.
fn document(
    request: &InspectRequest,
    format: Option<&str>,
    guessed: Option<&GuessedRecords>,
    run: &Run<'_>,
) -> Result<(Opened, ObjectKeys)> {
    let mut reading = request.reading.clone();
    if let Some(guessed) = guessed {
        reading.record = Some(guessed.record.clone());
    }
    let whole = Layout { outline: Outline::unknown(), ..reading.layout() };
    let mut opened = load::document(&request.data, format, whole, run)?;
    if ![Ndjson.name(), Json.name()].contains(&opened.form.name()) {
        return Ok((opened, ObjectKeys::default()));
    }
    let mut maps: Vec<String> = Vec::new();
    loop {
        let mut keys = ObjectKeys::new(&opened.data, run.observer)?;
        if request.data == Path::new("-") || keys.maps.is_empty() {
            keys.maps = maps;
            return Ok((opened, keys));
        }
        let known = maps.len();
        maps.append(&mut keys.maps);
        let homes = Box::new(Homes::of_maps(maps.iter().map(String::as_str)));
        let layout = Layout { homes, ..reading.layout() };
        match load::document(&request.data, format, layout, run) {
            Ok(again) => opened = again,
            Err(failure) if failure.fault == Fault::Data => {
                // Entries of several kinds are no class; what is rare among them stays unnamed.
                maps.truncate(known);
                keys.maps = maps;
                return Ok((opened, keys));
            }
            Err(failure) => return Err(failure),
        }
    }
}

impl Looked {
    /// The format as policies name it.
    pub fn policy_format(&self) -> Option<Format> {
        Format::from_name(self.format)
    }

    /// The tables that a single file is whose rows are not people: several have the same number of a person. A stream cannot be
    /// read again.
    fn rows_of_people(&self, request: &InspectRequest, run: &Run<'_>) -> Result<Option<(Format, Catalogue)>> {
        let format = self.policy_format().filter(|format| matches!(format, Format::Csv | Format::Parquet));
        let (Some(format), true) =
            (format, request.data.is_file() && self.data.schema().classes().len() == 1)
        else {
            return Ok(None);
        };
        let Some(person) = person_of(&self.data).or_else(|| repeating_number(&self.data)) else {
            return Ok(None);
        };
        let schema = self.data.schema();
        let column = schema.find(&person).map(|id| schema.attribute(id).name.join("."));
        let how = (format, self.separator.as_deref());
        let catalogue = rows_of_people(&request.data, how, &column.unwrap_or(person), run.observer)?;
        Ok(catalogue.map(|catalogue| (format, catalogue)))
    }

    /// Paths of attributes that are drafted as naming a person and stand in several records that nobody has grouped.
    pub(crate) fn repeating(&self, suggestions: &[Suggestion], run: &Run<'_>) -> Result<Vec<String>> {
        if self.tables.is_some() || !self.person.is_empty() || self.preset.is_some() {
            return Ok(Vec::new());
        }
        let all = self.data.schema().attributes().map(|(id, _)| id).zip(suggestions);
        let named = all.filter(|(_, suggestion)| suggestion.role == Role::Identifying).map(|(id, _)| id);
        let shared = Identifiers::of(&self.data, named, run.observer)?.shared();
        Ok(shared.into_iter().map(|shared| shared.path).collect())
    }

    /// The same with the documents of one person gathered, where several have the same name of a person.
    fn gathered(mut self, request: &InspectRequest, run: &Run<'_>) -> Result<Self> {
        if ![Ndjson.name(), Json.name(), Xml.name()].contains(&self.format) {
            return Ok(self);
        }
        let person = person_of(&self.data).or_else(|| repeating_number(&self.data));
        let Some(person) = person else { return Ok(self) };
        self.person = vec![person];
        self.documents = self.data.len();
        let name = request.data.display().to_string();
        self.data = gather(&self.data, &self.person, &name, run.observer)?;
        if self.format != Xml.name() {
            let maps = std::mem::take(&mut self.keys.maps);
            self.keys = ObjectKeys { maps, ..ObjectKeys::new(&self.data, run.observer)? };
        }
        Ok(self)
    }

    /// Why no risk can be told, where tables that may be about the same people were not read.
    pub(crate) fn unread(&self) -> Option<String> {
        let unread = &self.tables.as_ref()?.linked.unread;
        (!unread.is_empty()).then(|| {
            format!(
                "the risk was not counted, for data that may be about the same people was not read: {}. Put right what the                  notes about the tables say; or write the tables into a policy as they belong together, and `bosket attack`                  counts what that names",
                unread.join(", ")
            )
        })
    }

    /// Where the records were guessed to be, in words.
    pub fn guess(&self) -> Option<String> {
        let GuessedRecords { record, others } = self.guessed.as_ref()?;
        let more = match others.as_slice() {
            [] => String::new(),
            others => {
                let shown: Vec<String> = others.iter().take(OTHERS).map(|o| format!("`{o}`")).collect();
                let more = if others.len() > OTHERS { ", …" } else { "" };
                format!(", such as {}{more}", shown.join(", "))
            }
        };
        Some(format!(
            "each `{record}` is taken for a record, since it repeats outermost; --record PATH chooses another{more}"
        ))
    }

    /// Which standard was recognised, in words.
    pub fn recognition(&self) -> Option<String> {
        let name = &self.preset.as_ref().filter(|p| p.recognised)?.name;
        let (what, other) = match name.as_str() {
            OMOP => ("tables of OMOP", "--preset none drafts them like any others"),
            FHIR_BULK => ("resources of FHIR", "--format ndjson reads them like any others"),
            _ => ("bundles of FHIR", "--format reads them like any others, --preset another edition"),
        };
        Some(format!("recognised as {what}, and drafted by the preset `{name}`; {other}"))
    }

    /// How documents were gathered, in words.
    pub fn gathering(&self) -> Option<String> {
        let by = self.person.first()?;
        Some(format!(
            "{} of {}, gathered by `{by}` (`person` in the policy): each is a {} of theirs",
            plural(self.documents, "document"),
            plural(self.data.len(), "person").replace("persons", "people"),
            document_path(self.data.schema().notation()),
        ))
    }

    /// Elements that are not looked into are text for people, which nobody can check.
    pub(crate) fn mark_opaque(&self, suggestions: &mut [Suggestion]) {
        let schema = self.data.schema();
        for ((_, attribute), suggestion) in schema.attributes().zip(suggestions) {
            let mut names = attribute.name.clone();
            let mut class = schema.class(attribute.class);
            while let Some(parent) = class.parent {
                names.splice(0..0, class.name.iter().cloned());
                class = schema.class(parent);
            }
            let names = &names[usize::from(!self.person.is_empty())..];
            if self.opaque.iter().any(|path| path == names) {
                suggestion.role = Role::Identifying;
                suggestion.reason =
                    "Text for people, with markup in it: it is not looked into, and cannot be published."
                        .to_owned();
                suggestion.hierarchy = None;
                suggestion.follows = None;
            }
        }
    }

    /// Says of what tells kinds of a class apart that it does, in documents, where kinds can be named.
    pub(crate) fn mark_kinds(&self, suggestions: &mut [Suggestion]) {
        if ![Ndjson.name(), Json.name(), Xml.name()].contains(&self.format) {
            return;
        }
        let schema = self.data.schema();
        for id in telling_kinds(&self.data) {
            let attribute = schema.attribute(id);
            let Some(class) = schema.class(attribute.class).path.strip_suffix("[]") else { continue };
            let by = schema.notation().attribute_path("", &attribute.name);
            suggestions[id.index()].reason.push_str(&format!(
                " It seems to tell kinds of `{class}[]` apart: `{class}[{by}=…]` names one, with roles of its own."
            ));
        }
    }

    /// What lookups bring is judged by what it is called where it comes from.
    pub(crate) fn call_by_what_is_brought(&self, profile: &mut Profile) {
        for brought in self.brought() {
            let bare = ["name", "title", "label", "display", "description", "text", "value"];
            let name = match bare.contains(&brought.column.to_lowercase().as_str()) {
                // Not a title of somebody's: that of a film.
                true => format!("{}_name", brought.table),
                false => brought.column.clone(),
            };
            profile.call(&brought.path, &name);
        }
    }

    /// What lookups have brought, and what may be coarser than that, by their paths.
    pub(crate) fn levels(&self) -> Vec<(String, Vec<String>)> {
        self.brought().map(|b| (b.path.clone(), b.above.clone())).collect()
    }

    fn brought(&self) -> impl Iterator<Item = &Brought> {
        self.tables.iter().flat_map(|t| &t.linked.brought)
    }

    /// Says of what lookups have brought where it comes from.
    pub(crate) fn mark_brought(&self, profile: &Profile, suggestions: &mut [Suggestion]) {
        let Some(found) = &self.tables else { return };
        for (attribute, suggestion) in profile.attributes.iter().zip(suggestions) {
            let Some(brought) = found.linked.brought_to(&attribute.path) else { continue };
            let Brought { table, column, .. } = brought;
            suggestion.reason += &match brought.in_place {
                true => format!(
                    " Looked up in {table}: its {column} stands here in place of a number; one # before the line in \
                     `lookup` switches that off."
                ),
                false => format!(
                    " Looked up in {table}: it comes with the line in `lookup`, and goes with it: if there is a # before \
                     that, take this out, too."
                ),
            };
            let told = found.linked.told_by(table).iter();
            let lookups = || found.linked.lookups.iter().filter(|l| l.name == *table);
            let more: Vec<&str> =
                told.filter(|c| !lookups().any(|l| l.values.contains(c))).map(String::as_str).collect();
            if brought.in_place && !more.is_empty() {
                suggestion.reason += &format!(" {table} also has {}.", more.join(", "));
            }
        }
    }

    /// Columns that refer to other tables are keys, whatever their values look like, unless what they stand for is looked
    /// up.
    pub(crate) fn mark_references(&self, profile: &Profile, suggestions: &mut [Suggestion]) {
        let Some(found) = &self.tables else { return };
        for (attribute, suggestion) in profile.attributes.iter().zip(suggestions) {
            let reference = found.linked.references.iter().find(|(path, _)| *path == attribute.path);
            let Some((_, table)) = reference else { continue };
            let told = found.linked.told_by(table);
            let listed = |columns: &[&String]| -> String {
                columns.iter().map(|c| c.as_str()).collect::<Vec<_>>().join(", ")
            };
            if found.linked.parts.contains(&attribute.path) {
                suggestion.role = Role::Quasi;
                suggestion.reason = format!(
                    "part of the key, and refers to {table}: published as a value, since a number of its own would seem \
                     to refer to some row there"
                );
                suggestion.hierarchy.get_or_insert_with(Coarsening::arbitrary);
                suggestion.follows = None;
                continue;
            }
            if found.linked.brought_to(&attribute.path).is_some() {
                continue;
            }
            let columns: Vec<&String> = told.iter().collect();
            let said = if columns.is_empty() { String::new() } else { format!(" ({})", listed(&columns)) };
            suggestion.role = Role::Key;
            suggestion.reason = if found.repeats_the_person(&attribute.path, table) {
                format!("refers to the same row of {table} again; published as the same number")
            } else {
                format!(
                    "refers to {table}; published empty, since no guarantee counts what it tells; \
                     [[source.lookup]] replaces it by what it stands for{said}"
                )
            };
            suggestion.hierarchy = None;
            suggestion.follows = None;
        }
    }
}

impl LinkedTables {
    /// Whether a column that refers to a table names in every row the person that the row belongs to.
    fn repeats_the_person(&self, path: &str, table: &str) -> bool {
        let person = self.linked.tables.first().filter(|p| p.name == table && p.key.len() == 1);
        let own = |p: &Table| path.strip_prefix(p.name.as_str()).is_some_and(|rest| rest.starts_with('.'));
        person.is_some_and(|p| !own(p)) && !self.contradicting.iter().any(|c| c == path)
    }

    /// How the tables are linked, for programs.
    pub fn to_json(&self) -> Value {
        let table = |t: &Table| {
            json!({
                "name": t.name,
                "key": t.key,
                "parent": t.parent,
                "foreign_key": t.foreign_key,
                "person": t.person,
            })
        };
        json!({
            "guessed": self.guessed,
            "tables": self.linked.tables.iter().map(table).collect::<Vec<_>>(),
            "notes": self.linked.notes,
        })
    }
}
