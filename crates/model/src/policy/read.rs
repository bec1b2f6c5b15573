//! From a tree without errors to plain structs. Defaults come from the description of the keys.

use super::attacker;
use super::check::model;
use super::describe::{Literal, Section, Type};
use super::keys::{FROM, METHOD, PRIVACY, PUBLISH, ROOT};
use super::node::{Kind, Node, Report};
use super::rules::split_column;
use super::{
    Attacker, AttributePolicy, Condition, Diversity, Format, Ground, Lookup, Method, Missing, Model,
    Negative, Param, Payload, Policy, Privacy, Protection, Publish, Relations, ReleaseTerms, Role, RootMode,
    Rows, Selection, Siblings, Source, Table, Undeclared,
};
use crate::diag::Place;
use crate::hierarchy::spec::{Build, Clamp, DateLevel, Group, HierarchySpec};
use crate::path::AttributePath;

/// A section with what the policy gives in it.
struct Given<'a> {
    section: &'static Section,
    node: Option<&'a Node>,
    /// Keys that mean nothing under this model are not read.
    model: Option<Model>,
}

impl<'a> Given<'a> {
    fn get(&self, key: &str) -> Option<&'a Node> {
        let described = self.section.key(key);
        debug_assert!(described.is_some(), "{key} is not a key of {}", self.section.name);
        let fits = described.is_some_and(|k| self.model.is_none_or(|m| k.fits(m)));
        self.node.filter(|_| fits)?.get(key)
    }
    fn default(&self, key: &str) -> Option<Literal> {
        self.section.key(key)?.default
    }
    fn word<T>(&self, key: &str, from: fn(&str) -> Option<T>) -> T {
        let given = self.get(key).and_then(Node::text).and_then(from);
        let default = || match self.default(key) {
            Some(Literal::Text(word)) => from(word),
            _ => None,
        };
        given.or_else(default).expect("checked: one of the words, or a default that is one")
    }
    fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(Node::bool).unwrap_or(self.default(key) == Some(Literal::Bool(true)))
    }
    fn count(&self, key: &str) -> Option<u32> {
        self.get(key).and_then(Node::int).and_then(|i| u32::try_from(i).ok())
    }
    fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(Node::text).map(str::to_owned)
    }
    fn texts(&self, key: &str) -> Vec<String> {
        self.get(key).and(self.node).map(|n| n.strings(key)).unwrap_or_default()
    }
}

/// Makes the policy.
pub(super) fn policy(name: &str, root: &Node, report: &Report) -> Policy {
    let model = model(root);
    let top = Given { section: &ROOT, node: Some(root), model };
    let section = |section, key| Given { section, node: root.get(key), model };
    let method = section(&METHOD, "method");
    let weights = method.get("weights");
    let address = |section: &str| {
        let url = root.get(section).and_then(|node| node.get("url"));
        url.map(|url| report.place(&url.span)).unwrap_or_default()
    };
    let source = root.get("source").map(|node| Source { url_place: address("source"), ..source(node) });
    let tables = source.as_ref().map_or(&[][..], |s| &s.tables);
    let attribute = |node: &Node| {
        let mut attribute = attribute(node, report);
        attribute.structure = structure(tables, &attribute.path);
        let weight = |key: &str| weights.and_then(|w| w.get(key)).and_then(Node::number);
        let own = attribute.weight.or_else(|| weight(&attribute.path));
        let level = level(&attribute.path).and_then(weight);
        attribute.weight = own.map_or(level, |own| Some(own * level.unwrap_or(1.0)));
        attribute
    };
    let publish = root.get("publish").map(|_| {
        let url_place = address("publish");
        Publish { url_place, ..publish(&section(&PUBLISH, "publish")) }
    });
    let united = publish.as_ref().is_some_and(|p| p.rows == Rows::United);
    Policy {
        name: name.to_owned(),
        version: top.count("version").unwrap_or(1),
        seed: root.get("seed").and_then(Node::int).and_then(|i| u64::try_from(i).ok()).unwrap_or(0),
        undeclared: top.word("undeclared", Undeclared::from_name),
        attributes: root.list("attribute").iter().map(attribute).collect(),
        source,
        privacy: root.get("privacy").map(|_| privacy(&section(&PRIVACY, "privacy"), united)),
        method: self::method(&method),
        publish,
        release: root.get("release").map(ReleaseTerms::read),
    }
}

fn text(node: &Node, key: &str) -> Option<String> {
    node.str(key).map(str::to_owned)
}

fn flag(node: &Node, key: &str) -> bool {
    node.get(key).and_then(Node::bool).unwrap_or(false)
}

fn source(node: &Node) -> Source {
    Source {
        format: node
            .str("format")
            .and_then(Format::from_name)
            .expect("checked: required, one of the formats"),
        path: text(node, "path"),
        url: text(node, "url"),
        url_place: Place::default(),
        record: text(node, "record"),
        person: node.strings("person"),
        schema: text(node, "schema"),
        separator: text(node, "separator"),
        tables: node.list("table").iter().map(table).collect(),
        lookups: node.list("lookup").iter().map(|l| lookup(l, &table_names(node))).collect(),
        selection: Selection {
            condition: node.str("where").and_then(|text| Condition::parse(text).ok()),
            text: text(node, "where"),
            sample: node.get("sample").and_then(|s| s.get("share").unwrap_or(s).number()),
        },
    }
}

fn table_names(source: &Node) -> Vec<&str> {
    source.list("table").iter().filter_map(|t| t.str("name")).collect()
}

fn lookup(node: &Node, tables: &[&str]) -> Lookup {
    let columns = node.strings("column");
    let parts = |c: &String| split_column(tables, c).map(|(t, c)| (t.to_owned(), c.to_owned()));
    let columns: Vec<(String, String)> = columns.iter().filter_map(parts).collect();
    let values = node.strings("value");
    let names = node.strings("as");
    Lookup {
        name: text(node, "name").unwrap_or_default(),
        path: text(node, "path"),
        key: node.strings("key"),
        table: columns.first().map(|(table, _)| table.clone()).unwrap_or_default(),
        columns: columns.into_iter().map(|(_, column)| column).collect(),
        names: if names.is_empty() { values.clone() } else { names },
        values,
    }
}

/// Where a column stands in the tree: below the tables on the way from the person to its own. Rows that are grouped
/// by person hang below a record that has nothing of its own.
fn structure(tables: &[Table], path: &str) -> Option<AttributePath> {
    let names: Vec<&str> = tables.iter().map(|t| t.name.as_str()).collect();
    let (table, column) = split_column(&names, path)?;
    let mut classes = Vec::new();
    let mut at = tables.iter().find(|t| t.name == table);
    while let Some(table) = at.filter(|t| t.parent.is_some() || !t.person.is_empty()) {
        classes.push(vec![table.name.clone()]);
        at = table.parent.as_ref().and_then(|p| tables.iter().find(|t| t.name == *p));
    }
    classes.reverse();
    Some(AttributePath { classes, name: vec![column.to_owned()] })
}

/// The tables that a column stands below, and its own; empty for documents.
pub(super) fn tables_of(root: &Node, path: &str) -> Vec<String> {
    let tables: Vec<Table> =
        root.get("source").map_or(&[][..], |source| source.list("table")).iter().map(table).collect();
    structure(&tables, path).map_or(Vec::new(), |structure| attacker::tables_of(path, &structure))
}

fn table(node: &Node) -> Table {
    Table {
        name: text(node, "name").unwrap_or_default(),
        path: text(node, "path"),
        key: node.strings("key"),
        parent: text(node, "parent"),
        foreign_key: node.strings("foreign_key"),
        person: node.strings("person"),
    }
}

fn attribute(node: &Node, report: &Report) -> AttributePolicy {
    let place = report.place(node.get("path").map_or(&node.span, |p| &p.span));
    AttributePolicy {
        path: text(node, "path").unwrap_or_default(),
        role: node.str("role").and_then(Role::from_name).expect("checked: required, one of the roles"),
        why: text(node, "why"),
        protection: node.str("protection").and_then(Protection::from_name),
        hierarchy: node.get("hierarchy").map(hierarchy),
        follows: text(node, "follows"),
        shared: flag(node, "shared"),
        acknowledge: flag(node, "acknowledge"),
        buckets: node.get("buckets").map(|_| numbers(node, "buckets")),
        ground: node.str("ground").and_then(Ground::from_name).unwrap_or(Ground::Equal),
        shift: node
            .get("shift")
            .and_then(|s| s.get("days"))
            .and_then(Node::int)
            .and_then(|days| u32::try_from(days).ok()),
        weight: node.get("weight").and_then(Node::number),
        structure: None,
        place,
    }
}

/// Where the attribute stands: its table, or the path of its class. None at the top of a document.
pub(super) fn level(path: &str) -> Option<&str> {
    path.rfind(['.', '/']).map(|at| &path[..at])
}

fn numbers(node: &Node, key: &str) -> Vec<f64> {
    node.list(key).iter().filter_map(Node::number).collect()
}

fn hierarchy(node: &Node) -> HierarchySpec {
    if let Some(file) = node.text() {
        return HierarchySpec::File(file.to_owned());
    }
    let number = |key: &str| node.get(key).and_then(Node::number).unwrap_or_default();
    HierarchySpec::Build(match node.str("build").unwrap_or(FROM) {
        "interval" => Build::Interval {
            min: number("min"),
            max: number("max"),
            widths: numbers(node, "widths"),
            clamp: clamp(node),
        },
        "range" => Build::Range { min: number("min"), max: number("max") },
        "date" => Build::Date {
            min: text(node, "min").unwrap_or_default(),
            max: text(node, "max").unwrap_or_default(),
            levels: node.list("levels").iter().filter_map(date_level).collect(),
            format: text(node, "format"),
            clamp: clamp(node),
        },
        "prefix" => Build::Prefix,
        "letters" => Build::Letters,
        FROM => Build::From { paths: node.strings("from") },
        "fanout" => Build::Fanout { fanout: node.get("fanout").and_then(Node::int).unwrap_or(2) as usize },
        "icd10" => Build::Icd10 { table: text(node, "table") },
        "atc" => Build::Atc,
        "order" => Build::Order { groups: node.list("groups").iter().map(group).collect() },
        other => unreachable!("checked: {other} is one of the builders"),
    })
}

fn clamp(node: &Node) -> Clamp {
    match node.str("clamp") {
        Some("top") => Clamp::Top,
        Some("bottom") => Clamp::Bottom,
        Some("both") => Clamp::Both,
        _ => Clamp::None,
    }
}

fn date_level(node: &Node) -> Option<DateLevel> {
    Some(match node.text()? {
        "month" => DateLevel::Month,
        "quarter" => DateLevel::Quarter,
        "year" => DateLevel::Year,
        "decade" => DateLevel::Decade,
        _ => return None,
    })
}

fn group(node: &Node) -> Group {
    match &node.kind {
        Kind::Array(items) => Group::Group { label: None, members: items.iter().map(group).collect() },
        Kind::Table(_) => Group::Group {
            label: text(node, "label"),
            members: node.list("values").iter().map(group).collect(),
        },
        _ => Group::Value(node.text().unwrap_or_default().to_owned()),
    }
}

fn privacy(given: &Given<'_>, united: bool) -> Privacy {
    // Whoever sees rows apart sees which values stand in one.
    let relations = match given.get("relations").is_none() && !united && given.count("n") >= Some(2) {
        true => Relations::Embedded,
        false => given.word("relations", Relations::from_name),
    };
    let negative = given.get("negative").map_or(&[][..], Node::items);
    let model = given.model.expect("checked: required, one of the models");
    let missing = given.get("missing").and_then(Node::text).and_then(Missing::from_name);
    Privacy {
        model,
        k: given.count("k"),
        m: given.count("m"),
        n: given.count("n"),
        attackers: given.get("attacker").map_or(&[][..], Node::items).iter().map(Attacker::read).collect(),
        guess: given.get("guess").and_then(Node::number),
        relations,
        united,
        root: given.word("root", RootMode::from_name),
        l: given.get("l").and_then(Node::number),
        t: given.get("t").and_then(Node::number),
        beta: given.get("beta").and_then(Node::number),
        negative: negative.iter().map(absence).collect(),
        guard: given.flag("guard"),
        payload: given.word("payload", Payload::from_name),
        sensitive: given.texts("sensitive"),
        multiset: given.flag("multiset"),
        diversity: given.word("diversity", Diversity::from_name),
        siblings: given.word("siblings", Siblings::from_name),
        distinct_everywhere: given.texts("distinct_everywhere"),
        missing: missing.unwrap_or(Missing::default_of(model)),
        group_size: given.count("group_size"),
        delta_target: given.count("delta_target"),
        pairwise: given.flag("pairwise"),
    }
}

fn absence(node: &Node) -> Negative {
    let text = |n: &Node| n.text().unwrap_or_default().to_owned();
    match node.items() {
        [a, b] => Negative::Pair(text(a), text(b)),
        _ => Negative::Value(text(node)),
    }
}

fn method(given: &Given<'_>) -> Method {
    let described = METHOD.keys.iter().filter(|k| k.name != "algorithm" && !matches!(k.kind, Type::Map(_)));
    let param = |node: &Node| match &node.kind {
        Kind::Bool(flag) => Some(Param::Bool(*flag)),
        Kind::Int(int) => Some(Param::Int(*int)),
        Kind::Float(number) => Some(Param::Number(*number)),
        Kind::Str(text) => Some(Param::Text(text.clone())),
        _ => None,
    };
    Method {
        algorithm: given.text("algorithm"),
        params: described.filter_map(|k| Some((k.name.to_owned(), param(given.get(k.name)?)?))).collect(),
    }
}

/// The default of a parameter of `[method]`.
pub(super) fn default_param(name: &str) -> Option<Param> {
    let key = METHOD.key(name);
    debug_assert!(key.is_some(), "{name} is not a key of [method]");
    Some(match key?.default? {
        Literal::Bool(flag) => Param::Bool(flag),
        Literal::Int(int) => Param::Int(int),
        Literal::Number(number) => Param::Number(number),
        Literal::Text(text) => Param::Text(text.to_owned()),
    })
}

fn publish(given: &Given<'_>) -> Publish {
    Publish {
        path: given.text("path"),
        url: given.text("url"),
        url_place: Place::default(),
        schema: given.text("schema"),
        root: given.text("root"),
        certificate: given.text("certificate"),
        report: given.text("report"),
        mapping: given.text("mapping"),
        anatomize: given.flag("anatomize"),
        rows: given.word("rows", Rows::from_name),
    }
}
