//! Policies: their text is the state. Edits keep comments and order, and never win over somebody else's.

use std::collections::BTreeMap;
use std::path::Path;

use axum::http::StatusCode;
use bosket_model::policy::{NamedKind, Policy, named};
use bosket_verify::Claim;
use sha2::{Digest, Sha256};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use crate::Server;
use crate::admission::Lead;
use crate::attackers::{self, AttackerView};
use crate::error::{ApiError, Result, Told};
use crate::folder::Folder;
use crate::places::Places;
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
        /// Who may look for a person, as far as the policy names them.
        attackers: Vec<AttackerView>,
        /// Whether it was found to fit its data, and neither has changed since.
        fits: bool,
    }
}

shape! {
    answer
    pub(crate) struct AttributeView {
        path: String,
        role: String,
        hierarchy: Option<String>,
        /// The rule by which it is built, if it is.
        rule: Option<serde_json::Value>,
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
    /// A change of one key. Without a value the key is taken away. `privacy.attacker` takes the whole list.
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

pub(crate) fn view(server: &Server, path: &str) -> Result<PolicyView> {
    let real = server.folder.find_policy(path)?;
    let text = server.folder.read_text(&real)?;
    Ok(view_of(server, (path, &real), text))
}

fn view_of(server: &Server, (path, real): (&str, &Path), text: String) -> PolicyView {
    let (policy, diagnostics) = match Policy::parse(path, &text, &[]) {
        Ok((policy, warnings)) => (Some(policy), warnings),
        Err(errors) => (None, errors),
    };
    let open = policy.as_ref().map_or_else(Vec::new, Policy::refuse_undecided);
    let document = text.parse::<DocumentMut>().ok();
    let claim = policy.as_ref().and_then(|policy| Claim::new(policy).ok());
    let places = policy.as_ref().map(|policy| Places::new(&server.folder, real, &text, policy));
    PolicyView {
        fits: places.is_some_and(|places| server.known.fits(real, &places.read_now())),
        path: path.to_owned(),
        version: version(&text),
        diagnostics: diagnostics.iter().chain(&open).map(Told::from).collect(),
        sentence: claim.as_ref().map(Claim::sentence),
        settings: document.as_ref().map_or_else(|| serde_json::json!({}), settings),
        attributes: document.as_ref().map_or_else(Vec::new, attributes),
        attackers: document.as_ref().map_or_else(Vec::new, |text| attackers::of(text, claim.as_ref())),
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
    let text_of = |table: &dyn TableLike, key: &str| table.get(key).and_then(Item::as_str).map(str::to_owned);
    let all = document.get("attribute");
    let written = all.and_then(Item::as_array_of_tables).into_iter().flatten();
    let written = written.map(|table| (table as &dyn TableLike, comment(table)));
    let inline = all.and_then(Item::as_array).into_iter().flatten();
    let inline = inline.filter_map(|value| Some((value.as_inline_table()? as &dyn TableLike, None)));
    written
        .chain(inline)
        .map(|(table, comment)| AttributeView {
            path: text_of(table, "path").unwrap_or_default(),
            role: text_of(table, "role").unwrap_or_default(),
            hierarchy: table.get("hierarchy").map(|item| item.to_string().trim().to_owned()),
            rule: table.get("hierarchy").and_then(rule),
            why: text_of(table, "why"),
            comment,
            protection: text_of(table, "protection"),
        })
        .collect()
}

/// The rule of a hierarchy, in whichever way it is written; none for a file.
fn rule(hierarchy: &Item) -> Option<serde_json::Value> {
    hierarchy.is_table_like().then(|| json_of_item(hierarchy))
}

fn json_of_item(item: &Item) -> serde_json::Value {
    match (item.as_table_like(), item.as_value()) {
        (Some(table), _) => {
            let keys = table.iter().map(|(key, item)| (key.to_owned(), json_of_item(item)));
            serde_json::Value::Object(keys.collect())
        }
        (None, Some(Value::Datetime(day))) => day.value().to_string().into(),
        (None, Some(Value::Array(all))) => {
            all.iter().map(|one| json_of_item(&Item::Value(one.clone()))).collect()
        }
        (None, Some(value)) => json_of(value),
        (None, None) => serde_json::Value::Null,
    }
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
pub(crate) fn replace(server: &Server, path: &str, before: &str, text: String) -> Result<PolicyView> {
    let real = server.folder.find_policy(path)?;
    let old = server.folder.read_text(&real)?;
    if version(&old) != before {
        let what = "somebody else changed this policy in the meantime: load it again";
        return Err(ApiError::new(StatusCode::CONFLICT, what));
    }
    if addresses(&text) != addresses(&old) {
        let what = "addresses of databases are changed in the file, not in the page";
        return Err(ApiError::new(StatusCode::FORBIDDEN, what));
    }
    write(&real, &text)?;
    Ok(view_of(server, (path, &real), text))
}

/// Changes single keys, all or none.
pub(crate) fn edit(server: &Server, path: &str, before: &str, edits: &[Edit]) -> Result<PolicyView> {
    let real = server.folder.find_policy(path)?;
    let old = server.folder.read_text(&real)?;
    let mut document: DocumentMut =
        old.parse().map_err(|_| ApiError::bad("this is not TOML: mend the text first"))?;
    for edit in edits {
        apply(&mut document, edit)?;
    }
    replace(server, path, before, document.to_string())
}

/// An attribute, in whichever way it is written.
fn attribute_mut<'d>(document: &'d mut DocumentMut, path: &str) -> Option<&'d mut dyn TableLike> {
    let is_it = |table: &dyn TableLike| table.get("path").and_then(Item::as_str) == Some(path);
    match document.get_mut("attribute")? {
        Item::ArrayOfTables(all) => {
            all.iter_mut().find(|table| is_it(&**table)).map(|table| table as &mut dyn TableLike)
        }
        Item::Value(Value::Array(all)) => {
            let mut tables = all.iter_mut().filter_map(Value::as_inline_table_mut);
            tables.find(|table| is_it(&**table)).map(|table| table as &mut dyn TableLike)
        }
        _ => None,
    }
}

fn apply(document: &mut DocumentMut, edit: &Edit) -> Result<()> {
    let (table, key): (&mut dyn TableLike, &str) = match &edit.attribute {
        Some(path) => {
            let own = attribute_mut(document, path);
            (own.ok_or_else(|| ApiError::missing(format!("no attribute has the path `{path}`")))?, &edit.key)
        }
        None => {
            let (section, key) = edit.key.split_once('.').ok_or_else(|| ApiError::bad("which section?"))?;
            let new = || Item::Table(Table::new());
            let section = document.entry(section).or_insert_with(new).as_table_like_mut();
            (section.ok_or_else(|| ApiError::bad("this section is no table"))?, key)
        }
    };
    match &edit.value {
        value if edit.attribute.is_none() && edit.key == attackers::KEY => {
            attackers::write(table, value.as_ref())?;
        }
        None => drop(table.remove(key)),
        Some(value) => put(table, key, value)?,
    }
    Ok(())
}

/// Gives a key its value; the comment behind the old one stays.
pub(crate) fn put(table: &mut dyn TableLike, key: &str, value: &serde_json::Value) -> Result<()> {
    let mut new = toml_of(value)?;
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(new));
    Ok(())
}

pub(crate) fn toml_of(value: &serde_json::Value) -> Result<Value> {
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
fn addresses(text: &str) -> Vec<String> {
    let all = named(text).unwrap_or_default().into_iter();
    all.filter(|one| one.kind == NamedKind::Database).map(|one| one.text).collect()
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    file.persist(path).map_err(|error| ApiError::from(error.error))?;
    Ok(())
}

/// Refuses a policy that reads or writes what may not be touched. Gives where all leads that it names.
pub(crate) fn stays_inside(folder: &Folder, real: &Path, text: &str) -> Result<Vec<Lead>> {
    let own = real.parent().unwrap_or(folder.root());
    let all = named(text).ok_or_else(|| ApiError::bad("this policy is not TOML: mend the text first"))?;
    let mut leads = Vec::new();
    for one in all.iter().filter(|one| one.kind == NamedKind::File && one.text != "-") {
        if bosket_io::tables::is_address(&one.text) {
            let what = "addresses of databases stand in `url` of the file, and nowhere else";
            return Err(ApiError::new(StatusCode::FORBIDDEN, what));
        }
        if one.key.starts_with("publish.") && is_policy_name(Path::new(&one.text)) {
            let what = "what is published is no policy: let its name not end in `.toml`";
            return Err(ApiError::new(StatusCode::FORBIDDEN, what));
        }
        for told in with_companions(&one.text) {
            let real = folder.place_from(own, &told)?;
            folder.admit_inside(&real)?;
            leads.push(Lead { from: own.to_owned(), told, real });
        }
    }
    Ok(leads)
}

/// A file, and those that may be read or written beside it without being named: a certificate, and what stands beside a mapping.
fn with_companions(path: &str) -> [String; 3] {
    let plain = path.trim_end_matches('/');
    [
        path.to_owned(),
        format!("{plain}.certificate.json"),
        Path::new(plain).with_extension("json").to_string_lossy().into_owned(),
    ]
}

/// Whether a file is called as policies are.
pub(crate) fn is_policy_name(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// The files that a policy names, below keys that begin so.
fn files_below(text: &str, sections: &[&str]) -> Vec<String> {
    let all = named(text).unwrap_or_default().into_iter().filter(|one| one.kind == NamedKind::File);
    all.filter(|one| sections.iter().any(|section| one.key.starts_with(section)))
        .map(|one| one.text)
        .collect()
}

/// The files that a policy reads and writes, but for its hierarchies.
pub(crate) fn files(text: &str) -> Vec<String> {
    files_below(text, &["source.", "publish.", "release."])
}

/// What a policy reads, as it names it: its source and tables, and its hierarchies.
pub(crate) fn inputs(text: &str) -> (Vec<String>, Vec<String>) {
    (files_below(text, &["source."]), files_below(text, &["attribute."]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_policy_names_escapes_the_look_however_it_is_written() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(place.path(), &[]).expect("there");
        let real = folder.root().join("policy.toml");
        for text in [
            "attribute = [{ path = 'a', hierarchy = '/etc/passwd' }]",
            "attribute = [{ path = 'a', hierarchy = { build = 'icd10', table = '../x' } }]",
            "release = { earlier = [{ publication = '/etc/passwd' }] }",
            "[release]\nearlier = [{ input = '../x' }]",
            "source = { format = 'csv', table = [{ name = 't', path = '../x.csv' }] }",
            "source.lookup = [{ name = 't', path = '../x.csv' }]",
            "publish.mapping = '../x'",
            "publish.path = 'other.toml'",
            "source.path = 'postgres://a@b/c'",
        ] {
            assert!(stays_inside(&folder, &real, text).is_err(), "{text}");
        }
        assert!(stays_inside(&folder, &real, "source.path = 'x'\npublish.path = 'y.csv'").is_ok());
    }

    #[test]
    fn what_lies_beside_a_publication_does_not_lead_outside_either() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(place.path(), &[]).expect("there");
        let link = place.path().join("out.ndjson.certificate.json");
        std::os::unix::fs::symlink("/etc/hostname", link).expect("linked");
        let real = folder.root().join("policy.toml");
        assert!(stays_inside(&folder, &real, "publish.path = 'out.ndjson'").is_err());
    }

    #[test]
    fn attributes_in_an_inline_array_are_shown_and_edited() {
        let text = "attribute = [{ path = 'a', role = 'quasi' }]";
        let mut document: DocumentMut = text.parse().expect("TOML");
        assert_eq!(attributes(&document).len(), 1);
        let edit = Edit { key: "role".into(), attribute: Some("a".into()), value: Some("drop".into()) };
        apply(&mut document, &edit).expect("edited");
        assert!(document.to_string().contains("role = \"drop\""), "{document}");
    }

    #[test]
    fn a_rule_is_drawn_however_it_is_written() {
        let inline =
            "[[attribute]]\npath = 'a'\nhierarchy = { build = 'date', min = 2010-01-01, levels = ['month'] }";
        let table = "[[attribute]]\npath = 'a'\n[attribute.hierarchy]\nbuild = 'date'\nmin = '2010-01-01'\nlevels = ['month']";
        for text in [inline, table] {
            let shown = attributes(&text.parse().expect("TOML"));
            let expected = serde_json::json!({"build": "date", "min": "2010-01-01", "levels": ["month"]});
            assert_eq!(shown[0].rule, Some(expected), "{text}");
        }
        let groups = "[[attribute]]\npath = 'a'\nhierarchy = { build = 'order', groups = ['x', { label = 'l', values = ['y'] }] }";
        let shown = attributes(&groups.parse().expect("TOML"));
        assert_eq!(shown[0].rule.as_ref().map(|rule| &rule["groups"][1]["values"][0]), Some(&"y".into()));
        let file = attributes(&"[[attribute]]\npath = 'a'\nhierarchy = 'a.csv'".parse().expect("TOML"));
        assert_eq!((file[0].rule.as_ref(), file[0].hierarchy.as_deref()), (None, Some("'a.csv'")));
    }

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
        let (policy, _) = Policy::parse("p.toml", text, &[]).expect("a policy");
        let told = policy.refuse_undecided();
        assert!(told[0].to_string().contains("nobody has decided"), "{told:?}");
    }
}
