//! The policy as a certificate has it: everything that the claim and the publication's reader depend on, no places, and
//! lists of values told by their length.

use std::path::Path;

use bosket_model::policy::{Certified, Format, Ground, Model, Policy, Role};
use bosket_model::{Diagnostic, Failure, Fault, Fingerprint, Result};
use serde_json::{Value, json};

use super::Certificate;
use super::canonical::normal;

/// Lists of values under `[privacy]`.
const LISTS: [&str; 3] = ["negative", "sensitive", "distinct_everywhere"];

/// A path as it may be handed out: seen from the policy as it is, else the file's name alone.
pub fn public_path(path: &str) -> String {
    if Path::new(path).is_absolute() { last(path) } else { path.to_owned() }
}

fn last(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |n| n.to_string_lossy().into_owned())
}

/// The policy without the places of source, mapping and publication, and with lists of values told by their length. The
/// name of a source's file stays where a published file bears it.
pub fn public_policy(policy: &Policy, files: &[Fingerprint]) -> Value {
    let mut public = policy.to_json();
    if let Some(source) = public.get_mut("source") {
        remove(source, &["url", "schema"]);
        shown(source, files);
        for key in ["table", "lookup"] {
            items(source, key).for_each(|table| shown(table, files));
        }
    }
    let shows = |key| policy.release.as_ref().is_some_and(|terms| terms.certifies(key));
    for attribute in items(&mut public, "attribute") {
        if !shows(Certified::Why) {
            remove(attribute, &["why"]);
        }
        let Some(hierarchy) = attribute.get_mut("hierarchy") else { continue };
        if let Value::String(path) = hierarchy {
            *path = public_path(path);
        }
        if let Some(Value::String(path)) = hierarchy.get_mut("table") {
            *path = public_path(path);
        }
        if let Some(groups) = hierarchy.get_mut("groups") {
            *groups = json!(leaves(groups));
        }
    }
    if let Some(privacy) = public.get_mut("privacy") {
        for key in LISTS {
            if let Some(list) = privacy.get_mut(key) {
                *list = json!(list.as_array().map_or(0, Vec::len));
            }
        }
    }
    if let Some(publish) = public.get_mut("publish") {
        remove(publish, &["path", "url", "certificate", "report", "mapping"]);
        if policy.source.as_ref().is_none_or(|s| s.format != Format::Postgres) {
            remove(publish, &["schema"]);
        }
        if publish.as_object().is_some_and(serde_json::Map::is_empty) {
            remove(&mut public, &["publish"]);
        }
    }
    // It names people and says who gets what; and it is decided when the certificate has long been written.
    if let Some(release) = public.get_mut("release") {
        let hidden = Certified::ALL.iter().filter(|key| !shows(**key)).map(|key| key.name());
        // Earlier releases are named by their fingerprints, under `joint`.
        remove(release, &hidden.chain(["earlier"]).collect::<Vec<_>>());
        if release.as_object().is_some_and(serde_json::Map::is_empty) {
            remove(&mut public, &["release"]);
        }
    }
    normal(&public)
}

fn remove(object: &mut Value, keys: &[&str]) {
    if let Value::Object(own) = object {
        own.retain(|key, _| !keys.contains(&key.as_str()));
    }
}

fn items<'v>(object: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Leaves of a path what a published file is called, if anything.
fn shown(holder: &mut Value, files: &[Fingerprint]) {
    let name = holder.get("path").and_then(Value::as_str).map(last);
    // In parts it is a folder.
    let is = |file: &Fingerprint, name: &str| {
        file.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    match name.filter(|name| files.iter().any(|file| is(file, name))) {
        Some(name) => holder["path"] = json!(name),
        None => remove(holder, &["path"]),
    }
}

/// How many values are in groups of them.
fn leaves(groups: &Value) -> usize {
    match groups {
        Value::Array(items) => items.iter().map(leaves).sum(),
        Value::Object(group) => group.get("values").map_or(0, leaves),
        _ => 1,
    }
}

impl Certificate {
    /// The lists that the claim depends on and that the certificate tells only by their length.
    pub fn withheld(&self) -> Vec<String> {
        let privacy = &self.policy["privacy"];
        let lists = LISTS.iter().filter(|key| privacy.get(key).is_some_and(Value::is_number));
        let mut all: Vec<String> = lists.map(|key| format!("privacy.{key}")).collect();
        let model = privacy["model"].as_str().and_then(Model::from_name);
        let measured = |a: &&Value| {
            let in_it = a["ground"] == Ground::Hierarchical.name();
            model.is_some_and(|m| m.needs_hierarchies(Role::Sensitive) || (m.takes_ground() && in_it))
        };
        let attributes = self.policy["attribute"].as_array().into_iter().flatten().filter(measured);
        let sensitive = attributes.filter(|a| a["role"] == Role::Sensitive.name() && is_withheld(a));
        all.extend(sensitive.filter_map(|a| Some(format!("the hierarchy of `{}`", a["path"].as_str()?))));
        all
    }

    /// The policy that the claim and the publication are read by. Fails where the claim depends on lists that are
    /// withheld.
    pub fn restored_policy(&self, name: &str) -> Result<Policy> {
        let withheld = self.withheld();
        if !withheld.is_empty() {
            let what = format!(
                "the claim depends on values that the certificate does not tell: {}",
                withheld.join(", ")
            );
            let what = Diagnostic::error(what).help("give the policy that has them with --policy");
            return Err(Failure::new(Fault::Policy, what));
        }
        self.policy_without_lists(name)
    }

    /// The policy as far as it is told.
    pub fn policy_without_lists(&self, name: &str) -> Result<Policy> {
        let mut json = self.policy.clone();
        if let Some(privacy) = json.get_mut("privacy") {
            let told: Vec<&str> =
                LISTS.into_iter().filter(|key| privacy.get(key).is_some_and(Value::is_number)).collect();
            remove(privacy, &told);
        }
        for attribute in items(&mut json, "attribute").filter(|a| is_withheld(a)) {
            remove(attribute, &["hierarchy"]);
        }
        let mut policy = Policy::from_json(name, &json)?;
        if let Some(source) = &mut policy.source {
            // The places are another's business; the reader is told where the publication is.
            let first = self.files.first().map(|file| file.name.clone());
            source.path = source.path.take().or(first);
            source.url = source.url.take().or_else(|| Some(String::new()));
            for table in &mut source.tables {
                table.path = table.path.take().or_else(|| Some(table.name.clone()));
            }
            for lookup in &mut source.lookups {
                lookup.path = lookup.path.take().or_else(|| Some(lookup.name.clone()));
            }
        }
        Ok(policy)
    }
}

/// Whether an attribute's hierarchy is told by its length only.
fn is_withheld(attribute: &Value) -> bool {
    attribute.pointer("/hierarchy/groups").is_some_and(Value::is_number)
}
