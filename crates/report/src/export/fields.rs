//! What columns a publication has, by its certificate: record sets for tables and for records in lines.

use bosket_model::policy::Role;
use serde_json::Value;

use super::File;
use crate::certificate::{Certificate, Form};

/// Records of one kind, in one file.
pub(super) struct Set {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) file: String,
    pub(super) fields: Vec<Field>,
}

/// A column, or a part of one.
#[derive(Default)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) about: String,
    /// The column that it stands in.
    pub(super) column: String,
    /// Where in it.
    pub(super) json_path: Option<String>,
    /// Whether a record may have several.
    pub(super) repeated: bool,
    pub(super) parts: Vec<Field>,
}

/// A published attribute: its path and what it is.
struct Attribute {
    path: String,
    about: &'static str,
}

/// The record sets. Where sides are apart, or the form is none of tables or lines, files are all that is told.
pub(super) fn sets(certificate: &Certificate, files: &[File]) -> Vec<Set> {
    let policy = &certificate.policy;
    let attributes = published(policy);
    let model = policy["privacy"]["model"].as_str().unwrap_or_default();
    let apart = bosket_model::policy::Model::from_name(model).is_none_or(|m| m.is_apart())
        || policy.pointer("/publish/anatomize").and_then(Value::as_bool).unwrap_or(false);
    if apart || attributes.is_empty() {
        return Vec::new();
    }
    let about = format!("{}; labels may stand for many values", certificate.sentence);
    let set = |name: &str, file: &File, fields: Vec<Field>| Set {
        name: name.to_owned(),
        about: about.clone(),
        file: file.name.clone(),
        fields,
    };
    let linked = policy["source"]["table"].as_array().is_some_and(|tables| !tables.is_empty());
    match (policy["source"]["format"].as_str(), certificate.form, files) {
        (Some("csv" | "parquet"), Form::Folder, files) if linked => files
            .iter()
            .filter_map(|file| {
                let table = file.name.split('.').next()?;
                let own = attributes.iter().filter_map(|a| {
                    let column = a.path.strip_prefix(table)?.strip_prefix('.')?;
                    Some(plain(column, a.about))
                });
                let fields: Vec<Field> = own.collect();
                (!fields.is_empty()).then(|| set(table, file, fields))
            })
            .collect(),
        (Some("csv"), Form::Document, [file, ..]) => {
            vec![set("records", file, attributes.iter().map(|a| plain(&a.path, a.about)).collect())]
        }
        (Some("ndjson" | "parquet"), Form::Document, [file, ..]) => {
            let (fields, left) = nested(&attributes);
            let mut own = set("records", file, fields);
            if !left.is_empty() {
                own.about.push_str(&format!("; not described here: {}", left.join(", ")));
            }
            if own.fields.is_empty() { Vec::new() } else { vec![own] }
        }
        _ => Vec::new(),
    }
}

fn published(policy: &Value) -> Vec<Attribute> {
    let of = |attribute: &Value| {
        let about = match Role::from_name(attribute["role"].as_str()?)? {
            Role::Quasi => "may be known to others: generalized, moved or suppressed",
            Role::Sensitive => "sensitive: published as it is",
            Role::Insensitive => "published as it is",
            Role::Pseudonym => "a pseudonym",
            Role::Identifying | Role::Drop | Role::Key => return None,
        };
        Some(Attribute { path: attribute["path"].as_str()?.to_owned(), about })
    };
    policy["attribute"].as_array().into_iter().flatten().filter_map(of).collect()
}

fn plain(column: &str, about: &str) -> Field {
    Field { name: column.to_owned(), about: about.to_owned(), column: column.to_owned(), ..Field::default() }
}

/// Records with objects and lists in them: a field per column, and a part per value where these are objects. What lies deeper,
/// or has a name that readers would have to quote, is named and not described.
fn nested(attributes: &[Attribute]) -> (Vec<Field>, Vec<&str>) {
    let mut columns: Vec<Field> = Vec::new();
    let mut left = Vec::new();
    let plainly = |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    for attribute in attributes {
        let (column, rest) = attribute.path.split_once('.').unwrap_or((&attribute.path, ""));
        let (column, list) = column.strip_suffix("[]").map_or((column, false), |column| (column, true));
        if !plainly(rest) || column.contains(['[', '=']) {
            left.push(attribute.path.as_str());
            continue;
        }
        let index = columns.iter().position(|field| field.name == column).unwrap_or_else(|| {
            columns.push(Field { repeated: list, ..plain(column, attribute.about) });
            columns.len() - 1
        });
        if !rest.is_empty() {
            let json_path = Some(format!("$.{rest}"));
            let part = Field { json_path, name: rest.to_owned(), ..plain(column, attribute.about) };
            columns[index].parts.push(part);
        }
    }
    for field in columns.iter_mut().filter(|field| !field.parts.is_empty()) {
        "what stands below".clone_into(&mut field.about);
    }
    (columns, left)
}
