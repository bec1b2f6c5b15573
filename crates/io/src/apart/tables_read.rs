//! Dissected tables as a stranger reads them.

use std::io::Cursor;
use std::path::Path;

use bosket_model::dissected::PublishedGroups;
use bosket_model::observe::Observer;
use bosket_model::policy::Format;
use bosket_model::{ClassId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result};

use super::draft::{Drafts, open_named};
use super::groups::{Groups, Numbered};
use super::published::{PublishedReader, refuse_other_files, tables_in};
use super::tables::{GROUP, VALUE, candidates, file_name, names, quasi_policy, sensitive_name};
use crate::format::{Format as _, Layout};
use crate::input::Input;
use crate::parquet::pairs::each_pair;
use crate::table::Csv;
use crate::tables::{Pair, Tables, is_linked, published_pairs, sensitive_tables};

/// A publication of tables as it was read.
pub(super) struct ReadTables {
    pub(super) found: PublishedGroups,
    /// The people, with their groups among the attributes.
    pub(super) quasi: Dataset,
    /// Per person its group, by its place in what was found.
    pub(super) groups: Vec<usize>,
}

/// Reads the tables of a publication as a stranger would.
pub(super) fn read(
    at: Option<&Path>,
    drafts: Option<&mut Drafts>,
    reader: &PublishedReader<'_>,
    observer: &dyn Observer,
) -> Result<ReadTables> {
    let PublishedReader { file, expected, .. } = reader;
    let policy = quasi_policy(file, expected)?;
    let written = drafts.as_deref().map(Drafts::sensitive_tables);
    let source = policy.policy.need_source()?;
    let (linked, format) = (is_linked(source), source.format);
    let place = Place::source(at.map_or("the publication".to_owned(), |p| p.display().to_string()));
    let (mut tables, files) = match drafts {
        Some(Drafts { tables, files, .. }) => (tables.as_mut(), Some(&*files)),
        None => (None, None),
    };
    let open = |name: &str| match files {
        Some(files) => open_named(files, name),
        None => Input::open(&at.unwrap_or(Path::new("")).join(name)),
    };
    let flat = || Layout {
        separator: policy.policy.source.as_ref().and_then(|s| s.separator.clone()),
        ..Layout::default()
    };
    // Databases take capital and small letters for the same, so that names are compared without.
    let sensitive = names(expected);
    let there = match (written, at) {
        (Some(written), _) => written,
        (None, Some(at)) if linked => sensitive_tables(&policy, at, &candidates(expected))?,
        (None, at) => {
            let folder = at.unwrap_or(Path::new(""));
            refuse_other_files(folder, file)?;
            tables_in(folder, file)?
        }
    };
    let quasi = match (&mut tables, at) {
        (Some(writing), _) => writing.read_again(observer)?,
        (None, Some(at)) if linked => Tables::given(&policy, at, true)?.with_pairs(&there).read(observer)?.0,
        _ => Csv.read(&mut open(&file_name(file)?)?, &flat())?.0,
    };
    let mut groups = Groups::default();
    let mut problems = Vec::new();
    let mut wrong = |what: String| {
        let help = "check that policy and publication belong together, and that it is complete";
        problems.push(Diagnostic::error(what).at(place.clone()).help(help));
    };
    let own = |a: &bosket_model::schema::Attribute| a.class == ClassId::ROOT && a.name == [GROUP];
    let Some(number) = quasi.schema().attributes().find(|(_, a)| own(a)).map(|(id, _)| id) else {
        wrong(format!("the table of the people has no column `{GROUP}`"));
        return Err(Failure::all(Fault::Data, problems));
    };
    let mut own_groups = Vec::with_capacity(quasi.len());
    for record in 0..quasi.len() {
        match quasi.value(quasi.vertices(record).start, number) {
            MISSING => wrong(format!("row {} of the people has no group", record + 1)),
            code => {
                let group = groups.number(quasi.dictionary(number).text(code));
                groups.person(group);
                own_groups.push(group);
            }
        }
    }
    let is_named = |path: &str| file.policy.attributes.iter().any(|a| a.path == path);
    for (id, attribute) in quasi.schema().attributes() {
        // A name that the policy does not know says something even if nothing stands under it.
        if id != number && (!quasi.dictionary(id).is_empty() || !is_named(&attribute.path)) {
            groups.on_quasi_side(&attribute.path);
        }
    }
    let is_there = |name: &str| there.iter().any(|table| table.eq_ignore_ascii_case(name));
    for (name, attribute) in sensitive.iter().zip(&expected.sensitive) {
        // What stands on the other side has no table; that is for others to judge.
        if !is_there(name) && groups.is_on_quasi_side(&attribute.path) {
            continue;
        }
        let column = groups.on_sensitive_side(&attribute.path);
        let pairs = match (&mut tables, at) {
            (Some(writing), _) => writing.pairs(name, [GROUP, VALUE])?,
            (None, Some(at)) if linked => published_pairs(&policy, at, name, [GROUP, VALUE])?,
            _ => None,
        };
        let pairs = match pairs {
            Some(pairs) => pairs,
            None => file_pairs(&mut open(&sensitive_name(file, name)?)?.published(), format, &mut wrong)?,
        };
        if let Some(row) = unordered(&pairs) {
            wrong(format!(
                "row {row} of `{name}` is not in the order of groups and values, and may tell whose it is"
            ));
        }
        for (row, (group, value)) in pairs.into_iter().enumerate() {
            let Some(group) = group else {
                wrong(format!("row {} of `{name}` has no group", row + 1));
                continue;
            };
            let group = groups.number(&group);
            // An empty cell is an empty text: people without value have no row.
            groups.value(group, column, Kind::Text, &value.unwrap_or_default());
        }
    }
    let is_own = |table: &String| sensitive.iter().any(|own| own.eq_ignore_ascii_case(table));
    for other in there.iter().filter(|table| !is_own(table)) {
        groups.on_sensitive_side(other);
    }
    if !problems.is_empty() {
        problems.truncate(20);
        return Err(Failure::all(Fault::Data, problems));
    }
    Ok(ReadTables { found: groups.finish(place, Numbered::Somehow)?, quasi, groups: own_groups })
}

/// The first row that comes too late, from 1. Rows are ordered by group and value, so that nobody can tell in which order the
/// people of a group came.
fn unordered(pairs: &[Pair]) -> Option<usize> {
    fn key((group, value): &Pair) -> (Option<u64>, Option<&str>) {
        (group.as_deref().and_then(|g| g.parse().ok()), value.as_deref())
    }
    pairs.windows(2).position(|two| key(&two[0]) > key(&two[1])).map(|at| at + 2)
}

/// Groups and values of a file.
fn file_pairs(input: &mut Input, format: Format, wrong: &mut dyn FnMut(String)) -> Result<Vec<Pair>> {
    if format == Format::Parquet {
        let mut pairs: Vec<Pair> = Vec::new();
        each_pair(input, [GROUP, VALUE], &mut |(group, value)| {
            if value.is_none() {
                wrong(format!("row {} of a sensitive table has no value", pairs.len() + 1));
            }
            pairs.push((group.map(str::to_owned), value.map(|(_, text)| text.to_owned())));
        })?;
        return Ok(pairs);
    }
    let name = input.name().to_owned();
    let text = input.read_all()?;
    input.nothing_outside()?;
    // The separator is that of the source, and stands between the two names.
    let separator = text.get(GROUP.len()).map_or(',', |&byte| char::from(byte));
    // A table without rows: nobody has a value.
    if text.trim_ascii() == format!("{GROUP}{separator}{VALUE}").as_bytes() {
        return Ok(Vec::new());
    }
    let layout = Layout { separator: Some(separator.to_string()), ..Layout::default() };
    let (data, _) = Csv.read(&mut Input::new(&name, Cursor::new(text), None)?, &layout)?;
    let columns = data.schema().attributes().count();
    let (Some(group), Some(value), 2) = (data.schema().find(GROUP), data.schema().find(VALUE), columns)
    else {
        wrong(format!("a sensitive table has other columns than `{GROUP}` and `{VALUE}`"));
        return Ok(Vec::new());
    };
    let cell = |record: usize, id| match data.value(data.vertices(record).start, id) {
        MISSING => None,
        code => Some(data.dictionary(id).text(code).to_owned()),
    };
    Ok((0..data.len()).map(|r| (cell(r, group), cell(r, value))).collect())
}
