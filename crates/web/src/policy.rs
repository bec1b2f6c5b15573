//! Policies: their text is the state. Edits keep comments and order, and never win over somebody else's.

use std::collections::BTreeMap;
use std::path::Path;

use axum::http::StatusCode;
use bosket_model::policy::Policy;
use bosket_verify::Claim;
use sha2::{Digest, Sha256};
use toml_edit::{DocumentMut, Item, Table, Value};

use crate::error::{ApiError, Result, Told};
use crate::folder::Folder;
use crate::shape::shape;

shape! {
    answer
    /// A policy as pages show it.
    pub(crate) struct PolicyView {
        path: String,
        /// Its text, without passwords.
        text: String,
        /// What an edit has to name, so that it does not undo another.
        version: String,
        diagnostics: Vec<Told>,
        /// What is claimed if it holds; none while the policy has errors or no model.
        sentence: Option<String>,
        /// The sections `privacy`, `method`, `publish` and `release`, as far as the text can be read.
        settings: serde_json::Value,
        attributes: Vec<AttributeView>,
    }
}

shape! {
    answer
    pub(crate) struct AttributeView {
        path: String,
        role: String,
        hierarchy: Option<String>,
        /// Why it has its role, as somebody has written.
        why: Option<String>,
        /// The comment above it. Drafts say there what the program thinks, which is nobody's reason.
        comment: Option<String>,
        /// What protects it, if it is sensitive and somebody says so.
        protection: Option<String>,
    }
}

shape! {
    request
    /// A change of one key. Without a value the key is taken away.
    pub(crate) struct Edit {
        /// `privacy.k`, or a key of an attribute.
        key: String,
        /// The attribute's path.
        attribute: Option<String>,
        value: Option<serde_json::Value>,
    }
}

/// What tells two texts apart.
pub(crate) fn version(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn view(folder: &Folder, path: &str) -> Result<PolicyView> {
    let real = folder.find(path)?;
    let text = bosket_io::policy_file::read_text(&real)?;
    Ok(view_of(path, text))
}

fn view_of(path: &str, text: String) -> PolicyView {
    let (policy, diagnostics) = match Policy::parse(path, &text, &[]) {
        Ok((policy, warnings)) => (Some(policy), warnings),
        Err(errors) => (None, errors),
    };
    let open = policy.as_ref().map_or_else(Vec::new, Policy::refuse_undecided);
    let document = text.parse::<DocumentMut>().ok();
    let sentence = policy.as_ref().and_then(|policy| Claim::new(policy).ok()).map(|claim| claim.sentence());
    PolicyView {
        path: path.to_owned(),
        version: version(&text),
        diagnostics: diagnostics.iter().chain(&open).map(Told::from).collect(),
        sentence,
        settings: document.as_ref().map_or_else(|| serde_json::json!({}), settings),
        attributes: document.as_ref().map_or_else(Vec::new, attributes),
        text: without_passwords(&text),
    }
}

/// The text with dots for what stands as a password in an address. A policy must not hold one, and a page not show it.
fn without_passwords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, behind) = rest.split_at(at + 3);
        out.push_str(before);
        let end = behind.find(['"', '\'', '\n', ' ']).unwrap_or(behind.len());
        let (address, further) = behind.split_at(end);
        let authority = address.split(['/', '?']).next().unwrap_or_default();
        match authority.rsplit_once('@').and_then(|(user, _)| user.split_once(':')) {
            Some((user, password)) => {
                out.push_str(&format!("{user}:•••{}", &address[user.len() + 1 + password.len()..]));
            }
            None => match address.split_once("password=") {
                Some((front, secret)) => {
                    let behind = secret.find('&').map_or("", |at| &secret[at..]);
                    out.push_str(&format!("{front}password=•••{behind}"));
                }
                None => out.push_str(address),
            },
        }
        rest = further;
    }
    out + rest
}

fn settings(document: &DocumentMut) -> serde_json::Value {
    let section = |name: &str| {
        let table = document.get(name).and_then(Item::as_table_like);
        let values = table.into_iter().flat_map(|table| table.iter());
        let values = values.filter_map(|(key, item)| Some((key.to_owned(), json_of(item.as_value()?))));
        (name.to_owned(), serde_json::Value::Object(values.collect()))
    };
    serde_json::Value::Object(["privacy", "method", "publish", "release"].map(section).into_iter().collect())
}

fn json_of(value: &Value) -> serde_json::Value {
    match value {
        Value::Boolean(value) => (*value.value()).into(),
        Value::Integer(value) => (*value.value()).into(),
        Value::Float(value) => (*value.value()).into(),
        Value::String(value) => value.value().as_str().into(),
        Value::Array(values) => values.iter().map(json_of).collect(),
        other => other.to_string().trim().into(),
    }
}

/// The attributes, also of a policy with errors, so that it can be mended.
fn attributes(document: &DocumentMut) -> Vec<AttributeView> {
    let all = document.get("attribute").and_then(Item::as_array_of_tables);
    let text_of = |table: &Table, key: &str| table.get(key).and_then(Item::as_str).map(str::to_owned);
    all.into_iter()
        .flatten()
        .map(|table| AttributeView {
            path: text_of(table, "path").unwrap_or_default(),
            role: text_of(table, "role").unwrap_or_default(),
            hierarchy: table.get("hierarchy").map(|item| item.to_string().trim().to_owned()),
            why: text_of(table, "why"),
            comment: comment(table),
            protection: text_of(table, "protection"),
        })
        .collect()
}

/// The comment right above a table, in one line.
fn comment(table: &Table) -> Option<String> {
    let above = table.decor().prefix()?.as_str()?;
    let own = above.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let lines = own.lines().filter_map(|line| line.trim().strip_prefix('#'));
    let text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Why attributes have their roles, by their paths.
pub(crate) fn reasons(text: &str) -> BTreeMap<String, String> {
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    attributes(&document).into_iter().filter_map(|attribute| Some((attribute.path, attribute.why?))).collect()
}

/// Replaces the text, if it is still the one that was edited.
pub(crate) fn replace(folder: &Folder, path: &str, before: &str, text: String) -> Result<PolicyView> {
    let real = folder.find(path)?;
    let old = bosket_io::policy_file::read_text(&real)?;
    if version(&old) != before {
        let what = "somebody else changed this policy in the meantime: load it again";
        return Err(ApiError::new(StatusCode::CONFLICT, what));
    }
    if addresses(&text)? != addresses(&old)? {
        let what = "addresses of databases are changed in the file, not in the page";
        return Err(ApiError::new(StatusCode::FORBIDDEN, what));
    }
    write(&real, &text)?;
    Ok(view_of(path, text))
}

/// Changes single keys, all or none.
pub(crate) fn edit(folder: &Folder, path: &str, before: &str, edits: &[Edit]) -> Result<PolicyView> {
    let real = folder.find(path)?;
    let old = bosket_io::policy_file::read_text(&real)?;
    let mut document: DocumentMut =
        old.parse().map_err(|_| ApiError::bad("this is not TOML: mend the text first"))?;
    for edit in edits {
        apply(&mut document, edit)?;
    }
    replace(folder, path, before, document.to_string())
}

fn apply(document: &mut DocumentMut, edit: &Edit) -> Result<()> {
    let (table, key): (&mut Table, &str) = match &edit.attribute {
        Some(path) => {
            let all = document.get_mut("attribute").and_then(Item::as_array_of_tables_mut);
            let own = all.into_iter().flat_map(|all| all.iter_mut());
            let own = own.into_iter().find(|table| table.get("path").and_then(Item::as_str) == Some(path));
            (own.ok_or_else(|| ApiError::missing(format!("no attribute has the path `{path}`")))?, &edit.key)
        }
        None => {
            let (section, key) = edit.key.split_once('.').ok_or_else(|| ApiError::bad("which section?"))?;
            let new = || Item::Table(Table::new());
            let section = document.entry(section).or_insert_with(new).as_table_mut();
            (section.ok_or_else(|| ApiError::bad("this section is no table"))?, key)
        }
    };
    match &edit.value {
        None => drop(table.remove(key)),
        Some(value) => {
            let mut new = toml_of(value)?;
            // The comment behind a value stays behind it.
            if let Some(old) = table.get(key).and_then(Item::as_value) {
                *new.decor_mut() = old.decor().clone();
            }
            table.insert(key, Item::Value(new));
        }
    }
    Ok(())
}

fn toml_of(value: &serde_json::Value) -> Result<Value> {
    use serde_json::Value as Json;
    Ok(match value {
        Json::Bool(value) => (*value).into(),
        Json::String(value) => value.as_str().into(),
        Json::Number(value) => match (value.as_i64(), value.as_f64()) {
            (Some(value), _) => value.into(),
            (None, Some(value)) => value.into(),
            (None, None) => return Err(ApiError::bad("a number is too large")),
        },
        Json::Array(values) => Value::Array(values.iter().map(toml_of).collect::<Result<_>>()?),
        Json::Object(values) => {
            let mut table = toml_edit::InlineTable::new();
            for (key, value) in values {
                table.insert(key, toml_of(value)?);
            }
            Value::InlineTable(table)
        }
        Json::Null => return Err(ApiError::bad("a value is missing")),
    })
}

/// The addresses of databases in a policy.
fn addresses(text: &str) -> Result<Vec<String>> {
    let Ok(document) = text.parse::<DocumentMut>() else { return Ok(Vec::new()) };
    let url = |section: &str| Some(document.get(section)?.get("url")?.to_string());
    Ok(["source", "publish"].into_iter().filter_map(url).collect())
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    file.persist(path).map_err(|error| ApiError::from(error.error))?;
    Ok(())
}

/// Refuses a policy that reads or writes what may not be touched.
pub(crate) fn stays_inside(folder: &Folder, real: &Path) -> Result<()> {
    let text = bosket_io::policy_file::read_text(real)?;
    let document: DocumentMut = text.parse().map_err(|_| ApiError::bad("this policy is not TOML"))?;
    // What a page brings into the folder never ends so.
    if !is_policy_name(real) && !addresses(&text)?.is_empty() {
        let what = "only a policy whose name ends in `.toml` may name a database";
        return Err(ApiError::new(StatusCode::FORBIDDEN, what));
    }
    let own = real.parent().unwrap_or(folder.root());
    let mut paths = data_files(&document);
    paths.extend(hierarchy_files(&document));
    paths.iter().filter(|path| *path != "-").try_for_each(|path| {
        if bosket_io::tables::is_address(path) {
            let what = "addresses of databases stand in `url` of the file, and nowhere else";
            return Err(ApiError::new(StatusCode::FORBIDDEN, what));
        }
        folder.place_from(own, path).map(drop)
    })
}

/// Whether a file is called as policies are.
pub(crate) fn is_policy_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// The files that a policy reads and writes, but for its hierarchies.
pub(crate) fn files(text: &str) -> Vec<String> {
    text.parse().map_or(Vec::new(), |document| data_files(&document))
}

fn hierarchy_files(document: &DocumentMut) -> Vec<String> {
    let attributes = document.get("attribute").and_then(Item::as_array_of_tables).into_iter().flatten();
    let files = attributes.filter_map(|table| {
        let hierarchy = table.get("hierarchy")?;
        hierarchy.as_str().or_else(|| hierarchy.get("table")?.as_str()).map(str::to_owned)
    });
    files.collect()
}

/// What a policy reads, as it names it: its source and tables, and its hierarchies.
pub(crate) fn inputs(text: &str) -> (Vec<String>, Vec<String>) {
    let Ok(document) = text.parse::<DocumentMut>() else { return Default::default() };
    let mut paths = Vec::new();
    document.get("source").into_iter().for_each(|source| file_names(source, &mut paths));
    (paths, hierarchy_files(&document))
}

fn data_files(document: &DocumentMut) -> Vec<String> {
    let mut paths = Vec::new();
    let sections = ["source", "publish", "release"].into_iter().filter_map(|section| document.get(section));
    sections.for_each(|section| file_names(section, &mut paths));
    paths
}

/// What names files, in a section and in the tables below it.
fn file_names(item: &Item, paths: &mut Vec<String>) {
    const FILES: [&str; 7] = ["path", "schema", "certificate", "report", "mapping", "key", "publication"];
    if let Some(table) = item.as_table_like() {
        for (key, below) in table.iter() {
            match below.as_str() {
                Some(text) if FILES.contains(&key) => paths.push(text.to_owned()),
                Some(_) => {}
                None => file_names(below, paths),
            }
        }
    }
    for table in item.as_array_of_tables().into_iter().flatten() {
        file_names(&Item::Table(table.clone()), paths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_thinks_was_taken_for_somebodys_reason() {
        let text = "# A draft.\n\nversion = 1\n\n# By its name, money.\n# What protects it?\n[[attribute]]\npath = \"income\"\n\
                    role = \"sensitive\"\nprotection = \"undecided\"\n\n# An attacker may know it.\n[[attribute]]\npath = \"age\"\n\
                    role = \"quasi\"\nwhy = \"Seen by all.\"\n";
        let shown = attributes(&text.parse().expect("TOML"));
        assert_eq!(shown[0].comment.as_deref(), Some("By its name, money. What protects it?"));
        assert_eq!((shown[0].why.as_deref(), shown[0].protection.as_deref()), (None, Some("undecided")));
        assert_eq!(shown[1].comment.as_deref(), Some("An attacker may know it."));
        assert_eq!(reasons(text), BTreeMap::from([("age".to_owned(), "Seen by all.".to_owned())]));
        let view = view_of("p.toml", text.to_owned());
        let told = serde_json::to_string(&view.diagnostics).expect("JSON");
        assert!(told.contains("nobody has decided"), "{told}");
    }
}
