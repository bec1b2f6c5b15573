//! Dissected tables: a column `group_id` on the quasi side, and per sensitive attribute a table
//! `sensitive_<attribute>(group_id, value)`.

use std::io::Write;
use std::path::{Path, PathBuf};

use bosket_model::binding::effective_role;
use bosket_model::dissected::SensitiveValues;
use bosket_model::observe::Quiet;
use bosket_model::path::AttributePath;
use bosket_model::policy::{AttributePolicy, Format, Ground, Role, Table};
use bosket_model::{Diagnostic, Dictionary, Failure, Fault, Kind, Place, Result};

use super::KeptRecords;
use super::batched::BatchedRecords;
use super::draft::{Draft, Drafts, Written};
use super::records::{Empty, quasi_side};
use super::spool::{Parts, Spool};
use crate::atomic::Create;
use crate::fault;
use crate::format::Format as _;
use crate::format::by_extension;
use crate::json::write::push_string;
use crate::parquet::pairs::Pairs;
use crate::parquet::scalar::Scalar;
use crate::policy_file::PolicyFile;
use crate::publication::target;
use crate::source::SourceForm;
use crate::table::{Csv, push_row, separator};
use crate::tables::{Writing, file_name as tables_file_name};
use bosket_model::sides::{Fate, Fates};

/// The column that joins the sides.
pub(super) const GROUP: &str = "group_id";
pub(super) const VALUE: &str = "value";
/// What the names of tables of sensitive values begin with.
pub(crate) const SENSITIVE: &str = "sensitive_";

/// The policy of the quasi side: all that stays is published, with its group.
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
    let alone = if source.tables.is_empty() { Some(file_name(file)?) } else { None };
    let names = names(fates);
    let taken = |at: usize| {
        // Databases and some file systems take capital and small letters for the same.
        let same = |other: &str| other.eq_ignore_ascii_case(&names[at]);
        let file_of = |path: &str| stem(&tables_file_name(path)).to_owned();
        let is_table =
            |t: &Table| same(bare(&t.name)) || t.path.as_deref().is_some_and(|p| same(&file_of(p)));
        source.tables.iter().any(is_table)
            || alone.as_deref().is_some_and(|own| same(stem(own)))
            || names[..at].iter().any(|other| same(other))
    };
    if let Some(at) = (0..names.len()).find(|&at| taken(at)) {
        let what = format!(
            "`{}` is the table that says the values of a group's `{}`",
            names[at], fates.sensitive[at].path
        );
        let what = Diagnostic::error(what + ", and something else is called like it");
        let help = "rename the column or the table in the data";
        return Err(Failure::new(Fault::Policy, what.at(Place::source(&policy.name)).help(help)));
    }
    // Clusters are generalized: their columns hold labels, and companions are gone.
    let coarsened = |attribute: &AttributePolicy| {
        policy.anatomizes() && effective_role(&policy.attributes, attribute) == Role::Quasi
    };
    let role = |(attribute, fate): (&AttributePolicy, &Fate)| match fate {
        Fate::Quasi if !coarsened(attribute) => Role::Insensitive,
        Fate::Quasi if attribute.follows.is_none() => Role::Quasi,
        _ => Role::Identifying,
    };
    let roles: Vec<Role> = policy.attributes.iter().zip(&fates.of).map(role).collect();
    for (attribute, role) in policy.attributes.iter_mut().zip(roles) {
        attribute.role = role;
        (attribute.follows, attribute.hierarchy) = (None, None);
    }
    let path = person.map_or(GROUP.to_owned(), |p| format!("{}.{GROUP}", p.name));
    // Keys of nested records may begin as the column is called.
    let first = |at: usize| person.is_none() && first_key(&fates.paths[at]) == Some(GROUP);
    if policy.attributes.iter().enumerate().any(|(at, a)| a.path == path || first(at)) {
        let what = Diagnostic::error(format!("`{path}` is the column that says the group"));
        let help = "rename the column in the data";
        return Err(Failure::new(Fault::Policy, what.at(Place::source(&policy.name)).help(help)));
    }
    policy.attributes.push(AttributePolicy {
        path,
        role: Role::Insensitive,
        why: None,
        protection: None,
        hierarchy: None,
        follows: None,
        shared: false,
        acknowledge: true,
        buckets: None,
        ground: Ground::Equal,
        shift: None,
        weight: None,
        structure: person.map(|_| AttributePath { classes: Vec::new(), name: vec![GROUP.to_owned()] }),
        place: Place::default(),
    });
    Ok(PolicyFile { policy, folder: file.folder.clone(), warnings: Vec::new(), frames: None })
}

/// The key at the top of a record that a path begins with.
fn first_key(path: &AttributePath) -> Option<&str> {
    path.classes.first().unwrap_or(&path.name).first().map(String::as_str)
}

/// A file's name without its endings.
fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// A table's own name: what stands after its schema.
fn bare(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, bare)| bare)
}

/// Per sensitive attribute the name of its table: after its column, or its whole path where two columns share a name.
pub(super) fn names(fates: &Fates) -> Vec<String> {
    let column = |at: usize| column_of(fates, fates.sensitive[at].declared);
    (0..fates.sensitive.len())
        .map(|at| {
            let alone = (0..fates.sensitive.len()).filter(|&other| column(other) == column(at)).count() == 1;
            table_name(if alone { column(at) } else { &fates.sensitive[at].path })
        })
        .collect()
}

/// The names that a table of any attribute would have, wherever the attribute belongs.
pub(super) fn candidates(fates: &Fates) -> Vec<String> {
    let columns = (0..fates.paths.len()).map(|declared| table_name(column_of(fates, declared)));
    let paths = fates.paths.iter().map(|path| table_name(&path.to_string()));
    columns.chain(paths).chain(names(fates)).collect()
}

fn column_of(fates: &Fates, declared: usize) -> &str {
    fates.paths[declared].name.last().map_or(VALUE, String::as_str)
}

fn table_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
    format!("{SENSITIVE}{}", name.chars().map(plain).collect::<String>())
}

/// The records that a publication is written from.
pub(super) enum Kept<'k> {
    /// In memory, and what becomes of vertices without quasi values.
    Whole(&'k KeptRecords, Empty),
    /// In a private file.
    Batches(&'k mut BatchedRecords),
}

impl Kept<'_> {
    fn form(&self) -> &SourceForm {
        match self {
            Kept::Whole(kept, _) => &kept.form,
            Kept::Batches(records) => &records.form,
        }
    }
}

/// Appends a value as groups are ordered by it.
pub(super) fn push_fragment(fates: &Fates, at: usize, text: &str, out: &mut Vec<u8>) {
    push_string(out, &fates.sensitive[at].path);
    push_string(out, text);
}

/// Writes the tables of both sides.
pub(super) fn publish(
    spool: &mut Spool,
    (group_of, groups): (&[u32], usize),
    file: &PolicyFile,
    fates: &Fates,
    mut kept: Kept<'_>,
    create: Create,
) -> Result<Drafts> {
    let mut fragment =
        |at: usize, _: Kind, text: &str, out: &mut Vec<u8>| push_fragment(fates, at, text, out);
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
    let mut drafts = Drafts { written, batched: matches!(kept, Kept::Batches(_)), ..Drafts::default() };
    let form = kept.form().clone();
    write_quasi(&mut drafts, &form, file, fates, (&mut kept, &own), create)?;
    for (name, column) in names(fates).iter().zip(&spool.sensitive) {
        let rows = SensitiveRows::new(column, &own);
        let pairs = [GROUP, VALUE];
        let added = drafts.tables.as_mut().map(|t| t.add_pairs(name, pairs, &mut rows.iter())).transpose()?;
        if added == Some(true) {
            drafts.beside.push(name.clone());
        } else {
            let draft = match &form {
                SourceForm::Tables(form) if form.format() == Format::Parquet => {
                    let declared = form.declared(&column.path).and_then(Scalar::from_words);
                    sensitive_columns(&rows, declared)?
                }
                SourceForm::Tables(form) => sensitive_file(&rows, form.separator())?,
                SourceForm::Document { layout, .. } => {
                    sensitive_file(&rows, separator(layout.separator.as_deref())?.unwrap_or(b','))?
                }
            };
            drafts.files.push((sensitive_place(file, name)?, draft));
        }
    }
    Ok(drafts)
}

/// Writes the quasi side: per record the number of its group, if it is in one.
fn write_quasi(
    drafts: &mut Drafts,
    form: &SourceForm,
    file: &PolicyFile,
    fates: &Fates,
    (kept, own): (&mut Kept<'_>, &[Option<u32>]),
    create: Create,
) -> Result<()> {
    let whole = |kept: &KeptRecords, empty: Empty| {
        quasi_side(&kept.data, &kept.binding, fates, Some((GROUP, own)), empty)
    };
    match form {
        SourceForm::Tables(form) => {
            let policy = quasi_policy(file, fates)?;
            let form = form.dissected(&policy.policy.attributes, policy.policy.undeclared, GROUP);
            let mut writing = Writing::begin(&policy, &form, create)?;
            match kept {
                Kept::Whole(kept, empty) => writing.write(&whole(kept, *empty)?, &Quiet)?,
                Kept::Batches(records) => {
                    let (mut chunks, sorting) = records.quasi_chunks(fates, own)?;
                    writing.write_parts(&mut chunks, sorting, &Quiet)?;
                }
            }
            drafts.tables = Some(Box::new(writing));
        }
        SourceForm::Document { layout, .. } => {
            let draft = match kept {
                Kept::Whole(kept, empty) => {
                    let mut draft = Draft::create()?;
                    Csv.write(&whole(kept, *empty)?, layout, &mut draft, &Quiet)?;
                    draft
                }
                Kept::Batches(records) => records.quasi_table(fates, own, layout)?,
            };
            drafts.files.push((quasi_place(file)?, draft));
        }
    }
    Ok(())
}

/// Groups and values, ordered by both.
struct SensitiveRows<'v> {
    values: &'v Dictionary,
    /// Values in the order of their texts.
    sorted: Vec<u32>,
    /// Groups, and the place of the value in that order.
    rows: Vec<(u32, u32)>,
}

impl<'v> SensitiveRows<'v> {
    fn new(column: &'v SensitiveValues, own: &[Option<u32>]) -> Self {
        let values = &column.values;
        let mut sorted: Vec<u32> = (0..values.len() as u32).collect();
        sorted.sort_unstable_by_key(|&code| values.text(code));
        let mut ranks = vec![0; sorted.len()];
        sorted.iter().zip(0..).for_each(|(&code, rank)| ranks[code as usize] = rank);
        let mut rows = Vec::with_capacity(column.codes.total());
        for (record, group) in own.iter().enumerate().filter_map(|(r, group)| Some((r, (*group)?))) {
            rows.extend(column.codes.of(record).iter().map(|&code| (group, ranks[code as usize])));
        }
        rows.sort_unstable();
        SensitiveRows { values, sorted, rows }
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &'v str)> {
        self.rows.iter().map(|&(group, rank)| (group, self.values.text(self.sorted[rank as usize])))
    }
}

/// A Parquet file of them, of the declared type where it holds them all.
fn sensitive_columns(rows: &SensitiveRows<'_>, declared: Option<Scalar>) -> Result<Draft> {
    let codes: Vec<u32> = (0..rows.values.len() as u32).collect();
    let scalar = Scalar::for_codes(declared, rows.values, &codes);
    let mut pairs = Pairs::begin([GROUP, VALUE], scalar, Draft::create()?)?;
    for (group, value) in rows.iter() {
        pairs.push(u64::from(group), value)?;
    }
    pairs.finish()
}

fn sensitive_file(rows: &SensitiveRows<'_>, separator: u8) -> Result<Draft> {
    let (mut draft, mut text) = (Draft::create()?, Vec::new());
    push_row(&mut text, separator, [GROUP, VALUE].into_iter());
    for (group, value) in rows.iter() {
        draft.write_all(&text).map_err(fault::from_write)?;
        text.clear();
        push_row(&mut text, separator, [group.to_string().as_str(), value].into_iter());
    }
    draft.write_all(&text).map_err(fault::from_write)?;
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

/// What the quasi side of a source that is one file is called.
pub(super) fn file_name(file: &PolicyFile) -> Result<String> {
    let source = file.policy.need_source()?;
    let path = source.path.clone().unwrap_or_default();
    let name = Path::new(&path).file_name().map(|n| n.to_string_lossy().into_owned());
    Ok(name.filter(|n| n != "-").unwrap_or_else(|| format!("quasi.{}", source.format)))
}

/// Where it goes.
pub(super) fn quasi_place(file: &PolicyFile) -> Result<PathBuf> {
    Ok(folder(file)?.join(file_name(file)?))
}

/// All files that are written into a folder; none where there is no folder.
pub(super) fn files(file: &PolicyFile, fates: &Fates) -> Result<Vec<PathBuf>> {
    let source = file.policy.need_source()?;
    if !matches!(source.format, Format::Csv | Format::Parquet) {
        return Ok(Vec::new());
    }
    let folder = folder(file)?;
    let linked = source.tables.iter().map(|t| tables_file_name(t.path.as_deref().unwrap_or(&t.name)));
    let mut files: Vec<PathBuf> = linked.map(|name| folder.join(name)).collect();
    if files.is_empty() {
        files.push(quasi_place(file)?);
    }
    for name in names(fates) {
        files.push(sensitive_place(file, &name)?);
    }
    Ok(files)
}

/// What the file of a sensitive attribute is called.
pub(super) fn sensitive_name(file: &PolicyFile, name: &str) -> Result<String> {
    Ok(format!("{name}.{}", file.policy.need_source()?.format))
}

/// Where it goes.
pub(super) fn sensitive_place(file: &PolicyFile, name: &str) -> Result<PathBuf> {
    Ok(folder(file)?.join(sensitive_name(file, name)?))
}
