//! The one form of publications with two sides: the people and values that were read are written again, and must be the same
//! bytes; groups must have the numbers that they would get.

use std::path::Path;

use bosket_model::binding::Binding;
use bosket_model::dissected::PublishedGroups;
use bosket_model::observe::Observer;
use bosket_model::partition::Joined;
use bosket_model::policy::{Format, Publish, Rows, Undeclared};
use bosket_model::sides::Fates;
use bosket_model::{ClassId, Dataset, Diagnostic, Failure, Kind, MISSING, Place, Result};
use rustc_hash::FxHashMap;

use super::batched::BatchedRecords;
use super::columns::Sides;
use super::dissection::{Beside, Dissection, People, Way};
use super::draft::Drafts;
use super::json_read;
use super::published::{PublishedReader, tables_in};
use super::records::{Empty, quasi_side};
use super::spool::{Parts, Spool};
use super::tables::{self, GROUP, VALUE, file_name, names, quasi_policy, sensitive_name};
use super::tables_read::{self, Published};
use crate::atomic::Create;
use crate::batches::BatchSize;
use crate::chunks::Chunks;
use crate::form::{Compare, HELP, There, check_columns, check_rows};
use crate::format::Layout;
use crate::input::Input;
use crate::parquet::pairs::{Pairs, each_pair};
use crate::parquet::people::Sheet;
use crate::parquet::scalar::Scalar;
use crate::parquet::{Columns, columns_of, each_part};
use crate::parts::part_name;
use crate::policy_file::PolicyFile;
use crate::source::SourceForm;
use crate::tables::{Tables, is_linked};
use crate::xml::Namespaces;
use crate::xml::apart as xml;

impl PublishedReader<'_> {
    /// Where a publication leaves the one form; none if it does not.
    pub fn form(&self, at: &Path, observer: &dyn Observer) -> Result<Option<Diagnostic>> {
        if at == Path::new("-") {
            let what =
                "standard input can be read only once, so that nobody can see in which form it is written";
            return Ok(Some(Diagnostic::error(what).at(Place::source("-")).help("name the file")));
        }
        if self.way == Way::Columns && at.join(file_name(self.file)?).is_dir() {
            // The order across their parts has been looked at when they were read.
            for number in 0..self.parts_of_sides(at)? {
                let differs = self.form_of_part(at, number)?;
                if differs.is_some() {
                    return Ok(differs);
                }
            }
            return Ok(None);
        }
        let found = self.read_published(at, observer)?;
        let mut filling = Filling::new(self, &found)?;
        let beside = match self.way {
            Way::Xml => return self.xml_form(at, filling),
            Way::Json => {
                let size = BatchSize::of(observer.limits());
                let mut batches = Batches::new();
                let open = &mut || Input::open(at);
                json_read::read(open, &self.file.policy, size, observer, &mut |part, groups| {
                    batches.take(part, groups.iter().map(String::as_str))
                })?;
                let form = document(Layout::default());
                batches.fill(self, form, &mut filling, observer)?;
                Beside::Nothing
            }
            Way::Tables => {
                let mut batches = Batches::new();
                let size = tables_read::batched(at, self, observer)?;
                tables_read::read(Published::At(at), self, size, observer, &mut |part, _| {
                    batches.take_with_groups(&part)
                })?;
                let layout = Layout { separator: self.separator(at)?, ..Layout::default() };
                let records = batches.fill(self, document(layout), &mut filling, observer)?;
                if is_linked(self.file.policy.need_source()?) {
                    return self.linked_form(at, filling, observer);
                }
                Beside::Batches(Box::new(records))
            }
            Way::Columns => Beside::Columns(Box::new(self.fill_columns(at, &mut filling)?)),
        };
        self.compared(at, filling, beside, Namespaces::default())
    }

    /// Writes everything again, and compares it file by file.
    fn compared(
        &self,
        at: &Path,
        filling: Filling<'_>,
        beside: Beside,
        namespaces: Namespaces,
    ) -> Result<Option<Diagnostic>> {
        let Filling { spool, group_of, found, .. } = filling;
        let mut people = People { spool, warnings: Vec::new(), namespaces, beside };
        let groups = (group_of.as_slice(), found.names.len());
        let file = somewhere(self.file);
        let dissection = Dissection { file: &file, fates: self.expected.clone(), way: self.way };
        let drafts: Drafts = dissection.write(&mut people, groups, Create::default())?;
        let single = drafts.files.len() == 1 && !at.is_dir();
        for (path, draft) in &drafts.files {
            let own = if single { at.to_owned() } else { at.join(path.file_name().unwrap_or_default()) };
            let is_text = !matches!(self.way, Way::Columns);
            let there = There::file(&own);
            let differs = Compare::begin(&there, is_text)?.with(|out| draft.copy_to(out))?;
            if differs.is_some() {
                return Ok(differs);
            }
        }
        Ok(None)
    }

    fn xml_form(&self, at: &Path, mut filling: Filling<'_>) -> Result<Option<Diagnostic>> {
        let mut failed = Ok(());
        let mut each = |id: &str, _: &mut dyn Iterator<Item = (usize, &str)>, person: Option<&[u8]>| {
            if let (Some(text), Ok(())) = (person, &failed) {
                failed = filling.person(id, text);
            }
        };
        let mut namespaces = Namespaces::default();
        xml::read_published_in(
            &mut Input::open(at)?.published(),
            &self.file.policy,
            &self.expected.paths,
            Some(&mut each),
            &mut namespaces,
        )?;
        failed?;
        self.compared(at, filling, Beside::Nothing, namespaces)
    }

    /// What separates the cells of the file of the people.
    fn separator(&self, at: &Path) -> Result<Option<String>> {
        let source = self.file.policy.need_source()?;
        if source.separator.is_some() || is_linked(source) {
            return Ok(source.separator.clone());
        }
        let input = Input::open(&at.join(file_name(self.file)?))?;
        Ok(Some(char::from(crate::table::sniff_separator(input.head())).to_string()))
    }

    /// The people of a file of columns, and how its columns are.
    fn fill_columns(&self, at: &Path, filling: &mut Filling<'_>) -> Result<Sides> {
        let people = at.join(file_name(self.file)?);
        let sheet = self.each_person(&people, &mut |group, text| filling.person(group, text))?;
        let mut types = Vec::new();
        for table in names(&self.expected) {
            types.push(value_type(&at.join(sensitive_name(self.file, &table)?))?);
        }
        Ok(Sides { sheet, types })
    }

    /// The people of a file of columns, each with its group; gives the columns.
    fn each_person(&self, path: &Path, take: &mut dyn FnMut(&str, &[u8]) -> Result<()>) -> Result<Sheet> {
        let mut sheet: Option<Sheet> = None;
        let name = file_name(self.file)?;
        each_part(&mut Input::open(path)?, &mut |part, columns| {
            let policy = &self.file.policy;
            let binding = Binding::of_input(part.schema(), &policy.attributes, Undeclared::Drop, &name)?;
            let quasi = quasi_side(&part, &binding, &self.expected, None, Empty::Gone)?;
            let sheet = match &mut sheet {
                Some(sheet) => sheet,
                None => sheet.insert(Sheet::new(quasi.schema(), columns)?),
            };
            let groups = groups_of(&part);
            sheet.texts(&quasi)?.iter().zip(groups).try_for_each(|(text, group)| take(group, text))
        })?;
        sheet.ok_or_else(|| Failure::defect("a publication without people was read"))
    }

    /// Where a part of both sides leaves the one form; none if it does not. Its groups and their order have been looked at
    /// when it was read: what is left is how its files are spelt.
    pub fn form_of_part(&self, folder: &Path, number: usize) -> Result<Option<Diagnostic>> {
        let part = part_name(number, "parquet");
        let people = folder.join(file_name(self.file)?).join(&part);
        let mut rows: Vec<(u64, Vec<u8>)> = Vec::new();
        let sheet = self.each_person(&people, &mut |group, text| {
            rows.push((numbered(group)?, text.to_vec()));
            Ok(())
        })?;
        let differs = Compare::begin(&There::file(&people), false)?.with(|out| {
            let mut file = sheet.begin(GROUP, out)?;
            rows.iter().try_for_each(|(group, text)| file.person(*group, text))?;
            file.finish().map(|_| ())
        })?;
        if differs.is_some() {
            return Ok(differs);
        }
        for table in tables_in(folder, self.file)? {
            let differs = form_of_values(&folder.join(sensitive_name(self.file, &table)?).join(&part))?;
            if differs.is_some() {
                return Ok(differs);
            }
        }
        Ok(None)
    }

    /// Linked tables: the order of their rows has been looked at when they were read. What is left are the numbers of groups,
    /// and how files are spelt.
    fn linked_form(
        &self,
        at: &Path,
        mut filling: Filling<'_>,
        observer: &dyn Observer,
    ) -> Result<Option<Diagnostic>> {
        if let Some(group) = filling.first_misnumbered(&self.expected)? {
            let what = format!("group {group} has another number than its content gives it");
            let place = Place::source(at.display().to_string());
            return Ok(Some(Diagnostic::error(what).at(place).help(HELP)));
        }
        let source = self.file.policy.need_source()?;
        let tables = Tables::given(&quasi_policy(self.file, &self.expected)?, at, true)?.paths();
        let tables: Vec<_> = tables.into_iter().filter(|path| path.is_file()).collect();
        let mut files: Vec<_> = tables.iter().map(|path| (path.clone(), tables.len())).collect();
        if matches!(source.format, Format::Csv | Format::Parquet) {
            for table in tables_in(at, self.file)? {
                files.push((at.join(sensitive_name(self.file, &table)?), 1));
            }
        }
        for (path, among) in files {
            let there = There::file(&path);
            let separator = source.separator.as_deref();
            let differs = match source.format {
                Format::Csv => check_rows(Input::open(&path)?, &there, separator, observer)?,
                Format::Parquet => check_columns(Input::open(&path)?, &there, among, observer)?,
                _ => None,
            };
            if differs.is_some() {
                return Ok(differs);
            }
        }
        Ok(None)
    }
}

/// The policy with a place to publish to, which a certificate does not tell. Nothing is put there.
fn somewhere(file: &PolicyFile) -> PolicyFile {
    let mut policy = file.policy.clone();
    let nothing = Publish {
        path: None,
        url: None,
        url_place: Place::default(),
        schema: None,
        root: None,
        certificate: None,
        report: None,
        mapping: None,
        anatomize: false,
        rows: Rows::Distinct,
    };
    policy.publish.get_or_insert(nothing).path = Some("publication".to_owned());
    PolicyFile { policy, folder: file.folder.clone(), warnings: Vec::new(), frames: None }
}

fn document(layout: Layout) -> SourceForm {
    SourceForm::Document { format: &crate::table::Csv, layout: Box::new(layout) }
}

/// Where a part of the values of a sensitive attribute leaves the one form.
fn form_of_values(path: &Path) -> Result<Option<Diagnostic>> {
    let scalar = columns_of(&mut Input::open(path)?)?.scalar(VALUE).cloned();
    let scalar = scalar.ok_or_else(|| Failure::defect("a table without values was read"))?;
    let mut rows: Vec<(u64, String)> = Vec::new();
    let mut failed = Ok(());
    each_pair(&mut Input::open(path)?, [GROUP, VALUE], &mut |(group, value)| {
        if let (Some(group), Some((_, value))) = (group, value) {
            match numbered(group) {
                Ok(group) => rows.push((group, value.to_owned())),
                Err(failure) => failed = Err(failure),
            }
        }
    })?;
    failed?;
    Compare::begin(&There::file(path), false)?.with(|out| {
        let mut pairs = Pairs::begin([GROUP, VALUE], scalar, out)?;
        rows.iter().try_for_each(|(group, value)| pairs.push(*group, value))?;
        pairs.finish().map(|_| ())
    })
}

/// A group by its number.
fn numbered(group: &str) -> Result<u64> {
    group.parse().map_err(|_| Failure::defect("a group without a number was read"))
}

/// The type of the values of a sensitive table.
fn value_type(path: &Path) -> Result<Option<Scalar>> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut found = None;
    let own = |columns: &Columns| columns.scalar(VALUE).cloned();
    each_part(&mut Input::open(path)?, &mut |_, columns| {
        found = own(columns);
        Ok(())
    })?;
    Ok(found)
}

/// Per record the name of its group.
fn groups_of(part: &Dataset) -> impl Iterator<Item = &str> {
    let own = |a: &bosket_model::schema::Attribute| a.class == ClassId::ROOT && a.name == [GROUP];
    let number = part.schema().attributes().find(|(_, a)| own(a)).map(|(id, _)| id);
    (0..part.len()).map(move |record| {
        let code = number.map_or(MISSING, |id| part.value(part.vertices(record).start, id));
        match number.filter(|_| code != MISSING) {
            Some(id) => part.dictionary(id).text(code),
            None => "",
        }
    })
}

/// People of a publication on their way back to where they came from.
struct Filling<'f> {
    spool: Spool,
    group_of: Vec<u32>,
    found: &'f PublishedGroups,
    /// Per group, as it is found, whether somebody has its values.
    given: Vec<bool>,
    numbers: FxHashMap<&'f str, usize>,
    /// Per sensitive attribute its column in what was found.
    columns: Vec<Option<usize>>,
}

impl<'f> Filling<'f> {
    fn new(reader: &PublishedReader<'_>, found: &'f PublishedGroups) -> Result<Self> {
        let expected = &reader.expected.sensitive;
        let column = |path: &str| found.sensitive.iter().position(|column| column.name == path);
        Ok(Filling {
            spool: Spool::new(expected, reader.file.policy.seed)?,
            group_of: Vec::new(),
            found,
            given: vec![false; found.names.len()],
            numbers: found.names.iter().map(String::as_str).zip(0..).collect(),
            columns: expected.iter().map(|s| column(&s.path)).collect(),
        })
    }

    /// Adds a person. Whose values they are does not show: the first of a group gets all of them.
    fn person(&mut self, group: &str, text: &[u8]) -> Result<()> {
        let found = self.numbers.get(group).copied();
        let at = found.ok_or_else(|| Failure::defect("a group was read once and not again"))?;
        if !std::mem::replace(&mut self.given[at], true) {
            for (sensitive, column) in self.columns.iter().enumerate() {
                let Some(column) = column.map(|column| &self.found.sensitive[column]) else { continue };
                for &code in column.codes.of(at) {
                    self.spool.value(sensitive, column.values.kind(code), column.values.text(code));
                }
            }
        }
        // Groups are called by their numbers from 1.
        let number = group.parse::<u32>().ok().and_then(|number| number.checked_sub(1));
        self.group_of.push(number.unwrap_or(at as u32));
        self.spool.person(text)
    }

    /// The first group that would have another number.
    fn first_misnumbered(&mut self, fates: &Fates) -> Result<Option<usize>> {
        let mut fragment = |at: usize, _: Kind, text: &str, out: &mut Vec<u8>| {
            tables::push_fragment(fates, at, text, out);
        };
        let mut merged = self.spool.groups(&self.group_of, self.found.names.len(), &mut fragment)?;
        let mut next = 0;
        while let Some(group) = merged.next()? {
            if Parts::of(group).number as usize != next {
                return Ok(Some(next + 1));
            }
            next += 1;
        }
        Ok(None)
    }
}

/// People as they are read, in a private file, and their groups.
struct Batches {
    chunks: Chunks,
    frame: Joined,
    groups: Vec<String>,
}

impl Batches {
    fn new() -> Self {
        Batches { chunks: Chunks::new(), frame: Joined::new(), groups: Vec::new() }
    }

    fn take<'g>(&mut self, part: &Dataset, groups: impl Iterator<Item = &'g str>) -> Result<()> {
        self.groups.extend(groups.map(str::to_owned));
        self.frame.add_values(part, |_| false);
        if part.is_empty() { Ok(()) } else { self.chunks.push(part) }
    }

    fn take_with_groups(&mut self, part: &Dataset) -> Result<()> {
        self.take(part, groups_of(part))
    }

    /// Hands the people over.
    fn fill(
        self,
        reader: &PublishedReader<'_>,
        form: SourceForm,
        filling: &mut Filling<'_>,
        observer: &dyn Observer,
    ) -> Result<BatchedRecords> {
        let empty = if reader.file.policy.anatomizes() { Empty::Kept } else { Empty::Gone };
        let mut records =
            BatchedRecords::of_published(self.chunks, self.frame, reader.file, form, empty, observer)?;
        let mut groups = self.groups.iter();
        records.each_text(&reader.expected, observer, &mut |_, texts| {
            texts.iter().zip(&mut groups).try_for_each(|(text, group)| filling.person(group, text))
        })?;
        Ok(records)
    }
}
