//! A policy as JSON in its own language: what is written is read again as the same policy.

use serde_json::{Map, Value, json};

use super::keys::PRIVACY;
use super::{
    Attacker, AttributePolicy, Ground, Lookup, Method, Negative, Param, Policy, Privacy, Publish, Rows,
    Source, Table,
};
use crate::hierarchy::spec::{Build, Clamp, DateLevel, Group, HierarchySpec};

impl Policy {
    /// The policy as it is understood: arguments of the command line are laid over it, and what it leaves open is said.
    pub fn to_json(&self) -> Value {
        let mut all = Map::new();
        all.insert("version".into(), json!(self.version));
        all.insert("seed".into(), json!(self.seed));
        all.insert("undeclared".into(), json!(self.undeclared.name()));
        if let Some(own) = &self.source {
            all.insert("source".into(), source(own));
        }
        all.insert("attribute".into(), self.attributes.iter().map(attribute).collect());
        if let Some(own) = &self.privacy {
            all.insert("privacy".into(), privacy(own));
        }
        if self.method != Method::default() {
            all.insert("method".into(), method(&self.method));
        }
        if let Some(own) = &self.publish {
            all.insert("publish".into(), publish(own));
        }
        if let Some(own) = &self.release {
            all.insert("release".into(), own.to_json());
        }
        Value::Object(all)
    }

    /// Reads what [`to_json`](Self::to_json) has written.
    pub fn from_json(name: &str, policy: &Value) -> crate::Result<Policy> {
        let text: String = match policy {
            Value::Object(keys) => {
                keys.iter().map(|(key, value)| format!("{} = {}\n", word(key), toml(value))).collect()
            }
            _ => String::new(),
        };
        Policy::parse(name, &text, &[])
            .map(|(policy, _)| policy)
            .map_err(|all| crate::Failure::all(crate::Fault::Policy, all))
    }
}

fn word(text: &str) -> String {
    super::draft::quote(text)
}

fn toml(value: &Value) -> String {
    match value {
        Value::Object(keys) => {
            let entries: Vec<String> =
                keys.iter().map(|(key, value)| format!("{} = {}", word(key), toml(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::String(text) => word(text),
        scalar => scalar.to_string(),
    }
}

/// Keys with their values; what is not given is left out.
fn given<const N: usize>(keys: [(&str, Option<Value>); N]) -> Value {
    let keys = keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(keys.collect())
}

fn text(text: &Option<String>) -> Option<Value> {
    text.as_ref().map(|text| json!(text))
}

fn list(items: &[String]) -> Option<Value> {
    (!items.is_empty()).then(|| json!(items))
}

fn set(flag: bool) -> Option<Value> {
    flag.then_some(Value::Bool(true))
}

/// Whole numbers stay whole: TOML tells them from others.
pub(super) fn number(number: f64) -> Value {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < WHOLE { json!(number as i64) } else { json!(number) }
}

fn source(source: &Source) -> Value {
    let tables = source.tables.iter().map(table).collect::<Vec<_>>();
    let lookups = source.lookups.iter().map(lookup).collect::<Vec<_>>();
    given([
        ("format", Some(json!(source.format.name()))),
        ("path", text(&source.path)),
        ("url", text(&source.url)),
        ("record", text(&source.record)),
        ("person", list(&source.person)),
        ("schema", text(&source.schema)),
        ("separator", text(&source.separator)),
        ("table", (!tables.is_empty()).then_some(Value::Array(tables))),
        ("where", text(&source.selection.text)),
        ("sample", source.selection.sample.map(number)),
        ("lookup", (!lookups.is_empty()).then_some(Value::Array(lookups))),
    ])
}

fn table(table: &Table) -> Value {
    given([
        ("name", Some(json!(table.name))),
        ("path", text(&table.path)),
        ("key", list(&table.key)),
        ("parent", text(&table.parent)),
        ("foreign_key", list(&table.foreign_key)),
        ("person", list(&table.person)),
    ])
}

fn lookup(lookup: &Lookup) -> Value {
    let columns: Vec<String> = lookup.columns.iter().map(|c| format!("{}.{c}", lookup.table)).collect();
    given([
        ("name", Some(json!(lookup.name))),
        ("path", text(&lookup.path)),
        ("key", list(&lookup.key)),
        ("column", list(&columns)),
        ("value", list(&lookup.values)),
        ("as", list(&lookup.names)),
    ])
}

fn attribute(attribute: &AttributePolicy) -> Value {
    let numbers = |numbers: &Vec<f64>| Value::Array(numbers.iter().copied().map(number).collect());
    given([
        ("path", Some(json!(attribute.path))),
        ("role", Some(json!(attribute.role.name()))),
        ("why", text(&attribute.why)),
        ("protection", attribute.protection.map(|protection| json!(protection.name()))),
        ("hierarchy", attribute.hierarchy.as_ref().map(hierarchy)),
        ("follows", text(&attribute.follows)),
        ("shared", set(attribute.shared)),
        ("acknowledge", set(attribute.acknowledge)),
        ("buckets", attribute.buckets.as_ref().map(numbers)),
        ("ground", (attribute.ground != Ground::Equal).then(|| json!(attribute.ground.name()))),
        ("shift", attribute.shift.map(|days| json!({"days": days}))),
        ("weight", attribute.weight.map(number)),
    ])
}

fn hierarchy(spec: &HierarchySpec) -> Value {
    match spec {
        HierarchySpec::File(path) => json!(path),
        HierarchySpec::Build(build) => builder(build),
    }
}

fn builder(build: &Build) -> Value {
    match build {
        Build::Interval { min, max, widths, clamp } => {
            let clamp = clamped(*clamp);
            let widths: Vec<Value> = widths.iter().copied().map(number).collect();
            json!({"build": "interval", "min": number(*min), "max": number(*max), "widths": widths, "clamp": clamp})
        }
        Build::Range { min, max } => json!({"build": "range", "min": number(*min), "max": number(*max)}),
        Build::Date { min, max, levels, format, clamp } => {
            let level = |level: &DateLevel| match level {
                DateLevel::Month => json!("month"),
                DateLevel::Quarter => json!("quarter"),
                DateLevel::Year => json!("year"),
                DateLevel::Decade => json!("decade"),
            };
            given([
                ("build", Some(json!("date"))),
                ("min", Some(json!(min))),
                ("max", Some(json!(max))),
                ("levels", (!levels.is_empty()).then(|| levels.iter().map(level).collect())),
                ("format", text(format)),
                ("clamp", (*clamp != Clamp::None).then(|| json!(clamped(*clamp)))),
            ])
        }
        Build::Prefix => json!({"build": "prefix"}),
        Build::Letters => json!({"build": "letters"}),
        Build::From { paths } => json!({"from": paths}),
        Build::Fanout { fanout } => json!({"build": "fanout", "fanout": fanout}),
        Build::Icd10 { table } => given([("build", Some(json!("icd10"))), ("table", text(table))]),
        Build::Atc => json!({"build": "atc"}),
        Build::Order { groups } => {
            json!({"build": "order", "groups": groups.iter().map(group).collect::<Vec<_>>()})
        }
    }
}

fn clamped(clamp: Clamp) -> &'static str {
    match clamp {
        Clamp::None => "none",
        Clamp::Top => "top",
        Clamp::Bottom => "bottom",
        Clamp::Both => "both",
    }
}

fn group(of: &Group) -> Value {
    match of {
        Group::Value(value) => json!(value),
        Group::Group { label: None, members } => members.iter().map(group).collect(),
        Group::Group { label, members } => {
            json!({"label": label, "values": members.iter().map(group).collect::<Vec<_>>()})
        }
    }
}

/// Options that mean nothing under the model are left out, since some would promise a protection.
fn privacy(privacy: &Privacy) -> Value {
    let absence = |negative: &Negative| match negative {
        Negative::Value(value) => json!(value),
        Negative::Pair(above, below) => json!([above, below]),
    };
    let negative: Vec<Value> = privacy.negative.iter().map(absence).collect();
    let mut all = given([
        ("model", Some(json!(privacy.model.name()))),
        ("k", privacy.k.map(Value::from)),
        ("m", privacy.m.map(Value::from)),
        ("n", privacy.n.map(Value::from)),
        (
            "attacker",
            (!privacy.attackers.is_empty())
                .then(|| privacy.attackers.iter().map(Attacker::to_json).collect()),
        ),
        ("guess", privacy.guess.map(number)),
        ("relations", Some(json!(privacy.relations.name()))),
        ("root", Some(json!(privacy.root.name()))),
        ("l", privacy.l.map(number)),
        ("t", privacy.t.map(number)),
        ("beta", privacy.beta.map(number)),
        ("negative", (!negative.is_empty()).then_some(Value::Array(negative))),
        ("guard", Some(json!(privacy.guard))),
        ("payload", Some(json!(privacy.payload.name()))),
        ("sensitive", list(&privacy.sensitive)),
        ("multiset", Some(json!(privacy.multiset))),
        ("diversity", Some(json!(privacy.diversity.name()))),
        ("siblings", Some(json!(privacy.siblings.name()))),
        ("distinct_everywhere", list(&privacy.distinct_everywhere)),
        ("missing", Some(json!(privacy.missing.name()))),
        ("group_size", privacy.group_size.map(Value::from)),
        ("delta_target", privacy.delta_target.map(Value::from)),
        ("pairwise", Some(json!(privacy.pairwise))),
    ]);
    if let Value::Object(keys) = &mut all {
        keys.retain(|key, _| PRIVACY.key(key).is_some_and(|k| k.fits(privacy.model)));
    }
    all
}

fn method(method: &Method) -> Value {
    let mut all = given([("algorithm", text(&method.algorithm))]);
    for (key, param) in &method.params {
        all[key] = match param {
            Param::Bool(flag) => json!(flag),
            Param::Int(int) => json!(int),
            Param::Number(number) => json!(number),
            Param::Text(text) => json!(text),
        };
    }
    all
}

fn publish(publish: &Publish) -> Value {
    given([
        ("path", text(&publish.path)),
        ("url", text(&publish.url)),
        ("schema", text(&publish.schema)),
        ("root", text(&publish.root)),
        ("certificate", text(&publish.certificate)),
        ("report", text(&publish.report)),
        ("mapping", text(&publish.mapping)),
        ("anatomize", set(publish.anatomize)),
        ("rows", (publish.rows != Rows::Distinct).then(|| json!(publish.rows.name()))),
    ])
}
