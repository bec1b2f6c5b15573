//! Dissected tables as a stranger reads them, all rows at once or in batches.

use std::path::Path;

use bosket_model::dissected::PublishedGroups;
use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result};

use super::draft::{Draft, Drafts, open_named};
use super::groups::{Groups, Numbered};
use super::published::{PublishedReader, refuse_other_files, tables_in};
use super::tables::{GROUP, VALUE, candidates, file_name, names, quasi_policy, sensitive_name};
use crate::batches::{BatchSize, fits, read_batches};
use crate::format::{Format as _, Layout};
use crate::input::Input;
use crate::parquet::pairs::each_pair;
use crate::policy_file::PolicyFile;
use crate::source::Whereabouts;
use crate::table::Csv;
use crate::tables::{Tables, TakePair, Writing, is_linked, published_pairs, sensitive_tables};

/// Mistakes that are shown.
const SHOWN: usize = 20;

/// Takes people of a publication, with their groups among the attributes, and the group of each by its place in what is
/// found: all at once, or batch by batch.
pub(super) type EachRead<'a> = dyn FnMut(Dataset, Vec<usize>) -> Result<()> + 'a;

/// Where a publication is.
pub(super) enum Published<'a> {
    At(&'a Path),
    Drafts(&'a mut Drafts),
}

/// Reads the tables of a publication as a stranger would.
pub(super) fn read(
    published: Published<'_>,
    reader: &PublishedReader<'_>,
    size: Option<BatchSize>,
    observer: &dyn Observer,
    each: &mut EachRead<'_>,
) -> Result<PublishedGroups> {
    let PublishedReader { file, expected, .. } = reader;
    let policy = quasi_policy(file, expected)?;
    let place = match &published {
        Published::At(at) => Place::source(at.display().to_string()),
        Published::Drafts(_) => Place::source("the publication"),
    };
    let (there, mut tables) = opened(published, reader, &policy)?;
    let mut people = People { file, groups: Groups::default(), wrong: Wrong::new(place.clone()), rows: 0 };
    tables.people(&policy, (file, &there), size, observer, &mut |quasi| people.take(quasi, each))?;
    let People { mut groups, mut wrong, .. } = people;
    let is_there = |name: &str| there.iter().any(|table| table.eq_ignore_ascii_case(name));
    let sensitive = names(expected);
    for (name, attribute) in sensitive.iter().zip(&expected.sensitive) {
        // What stands on the other side has no table; that is for others to judge.
        if !is_there(name) && groups.is_on_quasi_side(&attribute.path) {
            continue;
        }
        let column = groups.on_sensitive_side(&attribute.path);
        let mut rows = SensitiveRows { name, groups: &mut groups, column, row: 0, last: None, sorted: true };
        tables.pairs((&policy, file), name, size, observer, (&mut rows, &mut wrong))?;
    }
    let is_own = |table: &String| sensitive.iter().any(|own| own.eq_ignore_ascii_case(table));
    for other in there.iter().filter(|table| !is_own(table)) {
        groups.on_sensitive_side(other);
    }
    wrong.settle()?;
    groups.finish(place, Numbered::Somehow)
}

/// How the tables of a publication that lies somewhere are read in batches; none if they fit into memory.
pub(super) fn batched(
    at: &Path,
    reader: &PublishedReader<'_>,
    observer: &dyn Observer,
) -> Result<Option<BatchSize>> {
    let limits = observer.limits();
    let source = reader.file.policy.need_source()?;
    let heavy = || -> Result<bool> {
        if is_linked(source) {
            let policy = quasi_policy(reader.file, &reader.expected)?;
            return Ok(!Whereabouts::given(&policy, at, true)?.fits(limits));
        }
        let people = at.join(file_name(reader.file)?);
        let packed = people.extension().is_some_and(|e| e == "gz" || e == "zst");
        Ok(!fits((people.metadata().map_or(0, |m| m.len()), packed), limits))
    };
    let wanted = limits.chunk.is_some() || (limits.memory.is_some() && heavy()?);
    Ok(wanted.then(|| BatchSize::of(limits)))
}

/// Tables that are there to be read.
enum Opened<'a> {
    /// A database, or a folder of linked tables.
    Linked(&'a Path),
    /// One that is being written.
    Writing(&'a mut Writing, &'a [(std::path::PathBuf, Draft)]),
    /// A file of people in a folder.
    Folder(&'a Path),
    /// The same, not in its place yet.
    Drafts(&'a [(std::path::PathBuf, Draft)]),
}

/// The tables of sensitive values that are there, expected or not, and what everything is read from.
fn opened<'a>(
    published: Published<'a>,
    reader: &PublishedReader<'_>,
    policy: &PolicyFile,
) -> Result<(Vec<String>, Opened<'a>)> {
    match published {
        Published::Drafts(drafts) => {
            let there = drafts.sensitive_tables();
            let Drafts { tables, files, .. } = drafts;
            Ok(match tables {
                Some(writing) => (there, Opened::Writing(writing, files)),
                None => (there, Opened::Drafts(files)),
            })
        }
        Published::At(at) if is_linked(policy.policy.need_source()?) => {
            let there = sensitive_tables(policy, at, &candidates(&reader.expected))?;
            Ok((there, Opened::Linked(at)))
        }
        Published::At(at) => {
            refuse_other_files(at, reader.file)?;
            Ok((tables_in(at, reader.file)?, Opened::Folder(at)))
        }
    }
}

impl Opened<'_> {
    fn file(&self, name: &str) -> Result<Input> {
        match self {
            Opened::Linked(folder) | Opened::Folder(folder) => Input::open(&folder.join(name)),
            Opened::Writing(_, files) | Opened::Drafts(files) => open_named(files, name),
        }
    }

    /// Hands out the people.
    fn people(
        &mut self,
        policy: &PolicyFile,
        (file, there): (&PolicyFile, &[String]),
        size: Option<BatchSize>,
        observer: &dyn Observer,
        take: &mut dyn FnMut(Dataset) -> Result<()>,
    ) -> Result<()> {
        match (self, size) {
            (Opened::Writing(writing, _), Some(size)) => writing.read_again_in_parts(size, observer, take),
            (Opened::Writing(writing, _), None) => take(writing.read_again(observer)?),
            (Opened::Linked(at), size) => {
                let tables = Tables::given(policy, at, true)?.with_pairs(there);
                match size {
                    Some(size) => tables.batches(size, observer, &mut |opened| take(opened.data)).map(|_| ()),
                    None => take(tables.read(observer)?.0),
                }
            }
            (flat, size) => {
                let separator = policy.policy.source.as_ref().and_then(|s| s.separator.clone());
                let layout = Layout { separator, ..Layout::default() };
                let mut input = flat.file(&file_name(file)?)?.published();
                match size {
                    Some(size) => {
                        read_batches(input, &Csv, &layout, size, observer, &mut |loaded| take(loaded.data))
                            .map(|_| ())
                    }
                    None => {
                        let (data, _) = Csv.read(&mut input, &layout)?;
                        input.nothing_outside()?;
                        take(data)
                    }
                }
            }
        }
    }

    /// Hands out a table of sensitive values.
    fn pairs(
        &mut self,
        (policy, file): (&PolicyFile, &PolicyFile),
        name: &str,
        size: Option<BatchSize>,
        observer: &dyn Observer,
        (rows, wrong): (&mut SensitiveRows<'_>, &mut Wrong),
    ) -> Result<()> {
        let take: &mut TakePair<'_> = &mut |group, value| rows.take(group, value, wrong);
        let in_database = match self {
            Opened::Writing(writing, _) => writing.pairs(name, [GROUP, VALUE], take)?,
            Opened::Linked(at) => published_pairs(policy, at, name, [GROUP, VALUE], take)?,
            Opened::Folder(_) | Opened::Drafts(_) => false,
        };
        if in_database {
            return Ok(());
        }
        let input = self.file(&sensitive_name(file, name)?)?.published();
        if policy.policy.need_source()?.format == Format::Parquet {
            return columns(input, (rows, wrong));
        }
        let size = size.unwrap_or(BatchSize { records: usize::MAX, bytes: usize::MAX });
        cells(input, size, observer, (rows, wrong))
    }
}

/// The people of a publication as they come.
struct People<'p> {
    file: &'p PolicyFile,
    groups: Groups,
    wrong: Wrong,
    /// How many there were.
    rows: usize,
}

impl People<'_> {
    fn take(&mut self, quasi: Dataset, each: &mut EachRead<'_>) -> Result<()> {
        let Some(number) = group_column(&quasi) else {
            self.wrong.push(format!("the table of the people has no column `{GROUP}`"));
            return self.wrong.settle();
        };
        let mut own = Vec::with_capacity(quasi.len());
        for record in 0..quasi.len() {
            self.rows += 1;
            match quasi.value(quasi.vertices(record).start, number) {
                MISSING => self.wrong.push(format!("row {} of the people has no group", self.rows)),
                code => {
                    let group = self.groups.number(quasi.dictionary(number).text(code));
                    self.groups.person(group);
                    own.push(group);
                }
            }
        }
        let is_named = |path: &str| self.file.policy.attributes.iter().any(|a| a.path == path);
        for (id, attribute) in quasi.schema().attributes() {
            // A name that the policy does not know says something even if nothing stands under it.
            if id != number && (!quasi.dictionary(id).is_empty() || !is_named(&attribute.path)) {
                self.groups.on_quasi_side(&attribute.path);
            }
        }
        // Where somebody has no group, nothing comes of it.
        if own.len() == quasi.len() { each(quasi, own) } else { Ok(()) }
    }
}

fn group_column(quasi: &Dataset) -> Option<AttributeId> {
    let own = |a: &bosket_model::schema::Attribute| a.class == ClassId::ROOT && a.name == [GROUP];
    quasi.schema().attributes().find(|(_, a)| own(a)).map(|(id, _)| id)
}

/// What the group of a record is called.
pub(super) fn group_of(quasi: &Dataset, record: usize) -> Option<&str> {
    let number = group_column(quasi)?;
    let code = quasi.value(quasi.vertices(record).start, number);
    (code != MISSING).then(|| quasi.dictionary(number).text(code))
}

/// The rows of a table of sensitive values as they come.
struct SensitiveRows<'g> {
    name: &'g str,
    groups: &'g mut Groups,
    column: usize,
    /// How many there were.
    row: usize,
    /// Group and value of the one before.
    last: Option<(Option<u64>, Option<String>)>,
    sorted: bool,
}

impl SensitiveRows<'_> {
    fn take(&mut self, group: Option<&str>, value: Option<&str>, wrong: &mut Wrong) {
        self.row += 1;
        // Rows are ordered by group and value, so that nobody can tell in which order the people of a group came.
        let key = (group.and_then(|g| g.parse().ok()), value);
        let late = self.last.as_ref().is_some_and(|(group, value)| (*group, value.as_deref()) > key);
        if late && std::mem::replace(&mut self.sorted, false) {
            wrong.push(format!(
                "row {} of `{}` is not in the order of groups and values, and may tell whose it is",
                self.row, self.name
            ));
        }
        self.last = Some((key.0, value.map(str::to_owned)));
        match group {
            None => wrong.push(format!("row {} of `{}` has no group", self.row, self.name)),
            Some(group) => {
                let group = self.groups.number(group);
                // An empty cell is an empty text: people without value have no row.
                self.groups.value(group, self.column, Kind::Text, value.unwrap_or_default());
            }
        }
    }
}

/// Mistakes of a publication, as many as are shown.
struct Wrong {
    place: Place,
    found: Vec<Diagnostic>,
}

impl Wrong {
    fn new(place: Place) -> Self {
        Wrong { place, found: Vec::new() }
    }

    fn push(&mut self, what: String) {
        if self.found.len() < SHOWN {
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

/// Groups and values of a Parquet file.
fn columns(mut input: Input, (rows, wrong): (&mut SensitiveRows<'_>, &mut Wrong)) -> Result<()> {
    each_pair(&mut input, [GROUP, VALUE], &mut |(group, value)| {
        if value.is_none() {
            wrong.push(format!("row {} of a sensitive table has no value", rows.row + 1));
        }
        rows.take(group, value.map(|(_, text)| text), wrong);
    })
}

/// Groups and values of a CSV file.
fn cells(
    mut input: Input,
    size: BatchSize,
    observer: &dyn Observer,
    (rows, wrong): (&mut SensitiveRows<'_>, &mut Wrong),
) -> Result<()> {
    // The separator is that of the source, and stands between the two names.
    let separator = input.head().get(GROUP.len()).map_or(',', |&byte| char::from(byte));
    // A table without rows: nobody has a value.
    if input.head().trim_ascii() == format!("{GROUP}{separator}{VALUE}").as_bytes() {
        return input.nothing_outside();
    }
    let layout = Layout { separator: Some(separator.to_string()), ..Layout::default() };
    read_batches(input, &Csv, &layout, size, observer, &mut |loaded| {
        let data = loaded.data;
        let (schema, columns) = (data.schema(), data.schema().attributes().count());
        let (Some(group), Some(value), 2) = (schema.find(GROUP), schema.find(VALUE), columns) else {
            wrong.push(format!("a sensitive table has other columns than `{GROUP}` and `{VALUE}`"));
            return wrong.settle();
        };
        for record in 0..data.len() {
            let cell = |id| match data.value(data.vertices(record).start, id) {
                MISSING => None,
                code => Some(data.dictionary(id).text(code)),
            };
            rows.take(cell(group), cell(value), wrong);
        }
        Ok(())
    })
    .map(|_| ())
}
