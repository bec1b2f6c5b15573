//! Dissected tables: a column `group_id` on the quasi side, and per sensitive attribute a table
//! `sensitive_<attribute>(group_id, value)`.

use std::path::{Path, PathBuf};

use bosket_model::dissected::SensitiveValues;
use bosket_model::observe::Observer;
use bosket_model::path::AttributePath;
use bosket_model::policy::{AttributePolicy, Format, Role};
use bosket_model::{ClassId, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result};

use super::draft::{Draft, Drafts, Written};
use super::fates::{Fate, Fates};
use super::records::quasi_side;
use super::spool::{Parts, Spool};
use super::{Found, Kept};
use crate::atomic::Create;
use crate::fault;
use crate::format::Format as _;
use crate::format::{Layout, by_extension};
use crate::input::Input;
use crate::json::write::push_string;
use crate::policy_file::PolicyFile;
use crate::publication::target;
use crate::source::Form;
use crate::table::{Csv, push_row};
use crate::tables::{Tables, Writing, is_linked, sqlite_pairs};
use crate::xml::apart::Groups;

/// The column that joins the sides.
const GROUP: &str = "group_id";
const VALUE: &str = "value";

/// The policy of the quasi side: all that stays is published as it is, with its group.
pub(super) fn quasi_policy(file: &PolicyFile, fates: &Fates) -> Result<PolicyFile> {
    let mut policy = file.policy.clone();
    let source = policy.need_source()?.clone();
    let person = source.tables.iter().find(|t| t.parent.is_none());
    if person.is_some_and(|p| !p.person.is_empty()) {
        let what =
            Diagnostic::error("people who are only named in rows have no table that could hold their group");
        let help = "add a table with one row per person, and let the others hang below it";
        return Err(Failure::new(Fault::Policy, what.at(Place::source(&policy.name)).help(help)));
    }
    for (attribute, fate) in policy.attributes.iter_mut().zip(&fates.of) {
        attribute.role = if *fate == Fate::Quasi { Role::Insensitive } else { Role::Identifying };
        (attribute.follows, attribute.hierarchy) = (None, None);
    }
    let path = person.map_or(GROUP.to_owned(), |p| format!("{}.{GROUP}", p.name));
    if policy.attributes.iter().any(|a| a.path == path) {
        let what = Diagnostic::error(format!("`{path}` is the column that says the group"));
        let help = "rename the column in the data";
        return Err(Failure::new(Fault::Policy, what.at(Place::source(&policy.name)).help(help)));
    }
    policy.attributes.push(AttributePolicy {
        path,
        role: Role::Insensitive,
        hierarchy: None,
        follows: None,
        shared: false,
        acknowledge: true,
        buckets: None,
        weight: None,
        structure: person.map(|_| AttributePath { classes: Vec::new(), name: vec![GROUP.to_owned()] }),
        place: Place::default(),
    });
    Ok(PolicyFile { policy, folder: file.folder.clone(), warnings: Vec::new() })
}

/// Per sensitive attribute the name of its table: after its column, or its whole path where two columns share a name.
fn names(fates: &Fates) -> Vec<String> {
    let column = |at: usize| {
        let path = &fates.paths[fates.sensitive[at].declared];
        path.name.last().cloned().unwrap_or_else(|| VALUE.to_owned())
    };
    (0..fates.sensitive.len())
        .map(|at| {
            let alone = (0..fates.sensitive.len()).filter(|&other| column(other) == column(at)).count() == 1;
            let name = if alone { column(at) } else { fates.sensitive[at].path.clone() };
            let plain = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
            format!("sensitive_{}", name.chars().map(plain).collect::<String>())
        })
        .collect()
}

/// Writes the tables of both sides.
pub(super) fn publish(
    spool: &mut Spool,
    (group_of, groups): (&[u32], usize),
    file: &PolicyFile,
    fates: &Fates,
    kept: &Kept,
    create: Create,
) -> Result<Drafts> {
    let mut fragment = |at: usize, _: Kind, text: &str, out: &mut Vec<u8>| {
        push_string(out, &fates.sensitive[at].path);
        push_string(out, text);
    };
    let mut merged = spool.groups(group_of, groups, &mut fragment)?;
    let mut written = Written::default();
    while let Some(group) = merged.next()? {
        let group = Parts::of(group);
        written.groups += 1;
        written.people += group.people().count() as u64;
        written.values += group.values().count() as u64;
        written.numbers.push(group.number);
    }
    let ids = written.ids();
    let own: Vec<Option<u32>> = group_of.iter().map(|&g| ids.get(g as usize).copied()).collect();
    let quasi = quasi_side(&kept.data, &kept.binding, fates, Some((GROUP, &own)))?;
    let policy = quasi_policy(file, fates)?;
    let mut drafts = Drafts { written, ..Drafts::default() };
    match &kept.form {
        Form::Tables(form) => {
            let form = form.dissected(&policy.policy.attributes, policy.policy.undeclared, GROUP);
            let mut writing = Writing::begin(&policy, &form, create)?;
            writing.write(&quasi)?;
            drafts.tables = Some(Box::new(writing));
        }
        Form::Document { layout, .. } => {
            let mut draft = Draft::create()?;
            Csv.write(&quasi, layout, &mut draft)?;
            drafts.files.push((folder(file)?.join(file_name(file)?), draft));
        }
    }
    for (name, column) in names(fates).iter().zip(&spool.sensitive) {
        let rows = sensitive_rows(column, &own);
        let added = drafts.tables.as_ref().map(|t| t.add_pairs(name, [GROUP, VALUE], &rows)).transpose()?;
        if added != Some(true) {
            drafts.files.push((folder(file)?.join(format!("{name}.csv")), sensitive_file(&rows)?));
        }
    }
    Ok(drafts)
}

/// Groups and values, ordered by both.
fn sensitive_rows<'v>(column: &'v SensitiveValues, own: &[Option<u32>]) -> Vec<(u32, &'v str)> {
    let mut rows: Vec<(u32, &str)> = Vec::new();
    for (record, group) in own.iter().enumerate() {
        let codes = column.codes.of(record).iter();
        rows.extend(group.iter().flat_map(|&g| codes.clone().map(move |&c| (g, column.values.text(c)))));
    }
    rows.sort_unstable();
    rows
}

fn sensitive_file(rows: &[(u32, &str)]) -> Result<Draft> {
    let mut text = Vec::new();
    push_row(&mut text, b',', [GROUP, VALUE].into_iter());
    for (group, value) in rows {
        push_row(&mut text, b',', [group.to_string().as_str(), value].into_iter());
    }
    let mut draft = Draft::create()?;
    std::io::Write::write_all(&mut draft, &text).map_err(fault::from_write)?;
    Ok(draft)
}

fn folder(file: &PolicyFile) -> Result<PathBuf> {
    let folder = target(file)?;
    if folder == Path::new("-") || by_extension(&folder).is_some() {
        let what = Diagnostic::error("dissected tables are several files");
        let help = "name a folder in `publish.path`";
        return Err(Failure::new(Fault::Policy, what.at(Place::source(&file.policy.name)).help(help)));
    }
    Ok(folder)
}

/// What a flat table's quasi side is called.
fn file_name(file: &PolicyFile) -> Result<String> {
    let path = file.policy.need_source()?.path.clone().unwrap_or_default();
    let name = Path::new(&path).file_name().map(|n| n.to_string_lossy().into_owned());
    Ok(name.filter(|n| n != "-").unwrap_or_else(|| "quasi.csv".to_owned()))
}

/// Reads the tables of a publication as a stranger would.
pub(super) fn read(
    at: Option<&Path>,
    drafts: Option<&mut Drafts>,
    file: &PolicyFile,
    fates: &Fates,
    observer: &dyn Observer,
) -> Result<Found> {
    let policy = quasi_policy(file, fates)?;
    let linked = is_linked(policy.policy.need_source()?);
    let place = Place::source(at.map_or("the publication".to_owned(), |p| p.display().to_string()));
    let (mut tables, files) = match drafts {
        Some(Drafts { tables, files, .. }) => (tables.as_mut(), Some(&*files)),
        None => (None, None),
    };
    let open = |name: &str| match files {
        Some(files) => {
            let found = files.iter().find(|(path, _)| path.file_name().is_some_and(|n| n == name));
            found.map_or_else(|| Input::open(Path::new(name)), |(_, draft)| draft.open())
        }
        None => Input::open(&at.unwrap_or(Path::new("")).join(name)),
    };
    let flat = || Layout {
        separator: policy.policy.source.as_ref().and_then(|s| s.separator.clone()),
        ..Layout::default()
    };
    let quasi = match (&mut tables, at) {
        (Some(writing), _) => writing.read_again(observer)?,
        (None, Some(at)) if linked => Tables::given(&policy, at, true)?.read(observer)?.0,
        _ => Csv.read(&mut open(&file_name(file)?)?, &flat())?.0,
    };
    let mut groups = Groups::new(&fates.sensitive);
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
    for record in 0..quasi.len() {
        match quasi.value(quasi.vertices(record).start, number) {
            MISSING => wrong(format!("row {} of the people has no group", record + 1)),
            code => {
                let group = groups.number(quasi.dictionary(number).text(code));
                groups.person(group);
            }
        }
    }
    let mut gone = vec![false; fates.of.len()];
    for (_, attribute) in quasi.schema().attributes().filter(|(id, _)| !quasi.dictionary(*id).is_empty()) {
        let declared = file.policy.attributes.iter().position(|a| a.path == attribute.path);
        match declared.map(|d| (d, fates.of[d])) {
            Some((_, Fate::Sensitive(_))) => wrong(format!("`{}` stands on the quasi side", attribute.path)),
            Some((d, Fate::Gone)) => gone[d] = true,
            _ => {}
        }
    }
    let source = policy.policy.need_source()?;
    for (attribute, name) in names(fates).iter().enumerate() {
        let pairs = match (&tables, at) {
            (Some(writing), _) => writing.pairs(name, [GROUP, VALUE])?,
            (None, Some(at)) if source.format == Format::Sqlite => {
                Some(sqlite_pairs(at, source.path.as_deref(), name, [GROUP, VALUE])?)
            }
            _ => None,
        };
        let pairs = match pairs {
            Some(pairs) => pairs,
            None => file_pairs(&mut open(&format!("{name}.csv"))?, &mut wrong)?,
        };
        for (row, (group, value)) in pairs.into_iter().enumerate() {
            let Some(group) = group else {
                wrong(format!("row {} of `{name}` has no group", row + 1));
                continue;
            };
            let group = groups.number(&group);
            // An empty cell is an empty text: people without value have no row.
            groups.value(group, attribute, Kind::Text, &value.unwrap_or_default());
        }
    }
    if !problems.is_empty() {
        problems.truncate(20);
        return Err(Failure::all(Fault::Data, problems));
    }
    Ok(Found { dissected: groups.finish(place)?, gone })
}

/// Groups and values of a file.
fn file_pairs(input: &mut Input, wrong: &mut dyn FnMut(String)) -> Result<Vec<Pair>> {
    let layout = Layout { separator: Some(",".to_owned()), ..Layout::default() };
    let data = match Csv.read(input, &layout) {
        Ok((data, _)) => data,
        // A table without rows: nobody has a value.
        Err(Failure { fault: Fault::Data, .. }) => return Ok(Vec::new()),
        Err(failure) => return Err(failure),
    };
    let (Some(group), Some(value)) = (data.schema().find(GROUP), data.schema().find(VALUE)) else {
        wrong(format!("a sensitive table has not the columns `{GROUP}` and `{VALUE}`"));
        return Ok(Vec::new());
    };
    let cell = |record: usize, id| match data.value(data.vertices(record).start, id) {
        MISSING => None,
        code => Some(data.dictionary(id).text(code).to_owned()),
    };
    Ok((0..data.len()).map(|r| (cell(r, group), cell(r, value))).collect())
}

/// A group and a value of a sensitive table; none where the cell is empty.
type Pair = (Option<String>, Option<String>);

/// Whether tables of this format can be dissected.
pub(super) fn can(format: Format) -> bool {
    matches!(format, Format::Csv | Format::Sqlite)
}
