//! What the keys mean together. Works on the tree, so that every message can point at its cause, and on
//! whatever is readable of it, so that one mistake does not hide another.

mod attackers;
mod columns;
mod fhir;
mod guess;
mod hierarchy;
mod kinds;
mod masks;
mod protection;
mod selection;
mod tables;

use super::check::{key_span, model};
use super::choices::{Format, Ground, Relations, Role, Rows};
use super::facts::Shape;
use super::keys::PRIVACY;
use super::models::Model;
use super::node::{Node, Report, Span};
use super::read::level;
use crate::diag::nearest;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

pub(super) use columns::split_column;

/// Reports everything that does not fit together.
pub(super) fn check(root: &Node, report: &mut Report) {
    let attributes: Vec<Attribute<'_>> = root.list("attribute").iter().map(Attribute::read).collect();
    paths(&attributes, report);
    follows(&attributes, report);
    for attribute in &attributes {
        no_effect(attribute, report);
    }
    source_fits(root, &attributes, report);
    tables::check(root, report);
    columns::check(root, &attributes, report);
    hierarchy::check(root, report);
    hierarchy::sources(&attributes, report);
    selection::check(root, &attributes, report);
    kinds::check(root, &attributes, report);
    masks::check(root, &attributes, report);
    protection::check(root, &attributes, report);
    fhir::check(root, &attributes, report);
    attackers::check(root, &attributes, report);
    guess::check(root, report);
    if let Some(model) = model(root) {
        model_fits(root, model, &attributes, report);
    }
    weights(root, &attributes, report);
    files(root, report);
    for url in ["source", "publish"].iter().filter_map(|s| root.get(s)?.get("url")) {
        password(url, report);
        address(url, report);
    }
}

struct Attribute<'a> {
    node: &'a Node,
    path: Option<&'a str>,
    role: Option<Role>,
    follows: Option<&'a str>,
}

impl<'a> Attribute<'a> {
    fn read(node: &'a Node) -> Self {
        Attribute {
            node,
            path: node.str("path"),
            role: node.str("role").and_then(Role::from_name),
            follows: node.str("follows"),
        }
    }
    fn path_span(&self) -> &Span {
        self.node.get("path").map_or(&self.node.span, |p| &p.span)
    }
}

fn paths(attributes: &[Attribute<'_>], report: &mut Report) {
    let mut seen = BTreeSet::new();
    for attribute in attributes {
        let Some(path) = attribute.path else { continue };
        if !seen.insert(path) {
            report.error(
                attribute.path_span(),
                format!("`{path}` is declared twice"),
                "an attribute has one role",
            );
        }
    }
}

fn follows(attributes: &[Attribute<'_>], report: &mut Report) {
    for attribute in attributes {
        let (Some(target), Some(node)) = (attribute.follows, attribute.node.get("follows")) else { continue };
        if attribute.path == Some(target) {
            report.error(
                &node.span,
                "an attribute cannot follow itself",
                "name the attribute whose value it repeats",
            );
            continue;
        }
        match attributes.iter().find(|a| a.path == Some(target)) {
            Some(found) if found.follows.is_some() => {
                let help = "name the attribute that stands at the end of the chain";
                report.error(&node.span, format!("`{target}` itself follows another attribute"), help);
            }
            Some(_) => {}
            None => report.error(
                &node.span,
                format!("`{target}` is not a declared attribute"),
                suggest(target, attributes).unwrap_or_else(|| "declare it with its full path".to_owned()),
            ),
        }
    }
}

/// The declared path that may have been meant: nearly the same, or the same last name.
fn suggest(word: &str, attributes: &[Attribute<'_>]) -> Option<String> {
    let last = |path: &str| path.rsplit(['.', '/']).next().map(str::to_owned);
    let paths = || attributes.iter().filter_map(|a| a.path);
    let near = nearest(word, paths()).or_else(|| paths().find(|p| last(p) == last(word)))?;
    Some(format!("did you mean `{near}`?"))
}

/// Keys that the attribute's role makes idle.
fn no_effect(attribute: &Attribute<'_>, report: &mut Report) {
    let Some(role) = attribute.role else { return };
    let uses: [(&str, &[Role]); 4] = [
        ("hierarchy", &[Role::Quasi, Role::Sensitive]),
        ("shared", &[Role::Quasi]),
        ("buckets", &[Role::Sensitive]),
        ("ground", &[Role::Sensitive]),
    ];
    for (key, roles) in uses {
        if attribute.node.get(key).is_some() && !roles.contains(&role) {
            let meant = roles.iter().map(|r| r.name()).collect::<Vec<_>>().join(", ");
            let message = format!("`{key}` has no effect on an attribute with role \"{role}\"");
            report.warning(key_span(attribute.node, key), message, format!("it belongs to role {meant}"));
        }
    }
    if let Some(hierarchy) = attribute.node.get("hierarchy").filter(|_| attribute.follows.is_some()) {
        let help = "it takes the label of the attribute that it follows";
        report.warning(
            &hierarchy.span,
            "`hierarchy` has no effect on an attribute that follows another",
            help,
        );
    }
    let buckets = attribute.node.list("buckets");
    for pair in buckets.windows(2) {
        if let (Some(a), Some(b)) = (pair[0].number(), pair[1].number())
            && a >= b
        {
            report.error(
                &pair[1].span,
                "`attribute.buckets` must increase",
                "give the bounds from low to high",
            );
        }
    }
}

fn source_fits(root: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    let Some(source) = root.get("source") else { return };
    let Some(format) = source.str("format").and_then(Format::from_name) else { return };
    let uses: [(&str, bool); 5] = [
        ("path", format != Format::Postgres),
        ("schema", format == Format::Xml),
        ("url", format == Format::Postgres),
        ("record", matches!(format, Format::Json | Format::Xml)),
        ("separator", matches!(format, Format::Transactions | Format::Csv)),
    ];
    for (key, used) in uses {
        if source.get(key).is_some() && !used {
            let message = format!("`source.{key}` has no meaning for format \"{format}\"");
            report.warning(key_span(source, key), message, "it is ignored");
        }
    }
    // What is ignored there would count people several times.
    let documents = matches!(format, Format::Json | Format::Ndjson | Format::Xml)
        || format == Format::Parquet && source.get("table").is_none();
    if source.get("person").is_some() && !documents {
        let message = format!("documents of format \"{format}\" cannot be gathered by person");
        let help = "write `person` into the [[source.table]] whose rows are to be grouped";
        report.error(key_span(source, "person"), message, help);
    }
    if source.get("table").is_some() && !format.is_tables() {
        let message = format!("format \"{format}\" has no tables");
        report.error(key_span(source, "table"), message, "tables come as csv, parquet, sqlite or postgres");
    }
    if format == Format::Transactions {
        for attribute in attributes.iter().filter(|a| a.path.is_some_and(|p| p != "item")) {
            let help = "its path is `item`";
            report.error(attribute.path_span(), "a transactions source has one attribute only", help);
        }
    }
}

/// What needs rows that are united: elsewhere a published row comes from one row, and whoever reads it sees all of it.
fn rows_fit(root: &Node, privacy: &Node, report: &mut Report) {
    if root.get("publish").and_then(|p| p.str("rows")) == Some(Rows::United.name()) {
        return;
    }
    let several = privacy.get("n").and_then(Node::int) >= Some(2);
    if several && privacy.str("relations") == Some(Relations::Pair.name()) {
        let what = "relations of several pairs need rows that are united: what stands in one row can be read together";
        let help = "say `relations = \"embedded\"`, or `rows = \"united\"` in [publish]";
        report.error(key_span(privacy, "relations"), what.to_owned(), help);
    }
    if let Some(method) = root.get("method")
        && let Some(way) = method.str("disassociation")
        && way != "value"
    {
        let what = format!(
            "`disassociation = \"{way}\"` has no effect: rows that stand for themselves lose values one by one"
        );
        let help = "leave it out, or say `rows = \"united\"` in [publish]";
        report.warning(key_span(method, "disassociation"), what, help);
    }
}

fn model_fits(root: &Node, model: Model, attributes: &[Attribute<'_>], report: &mut Report) {
    let Some(privacy) = root.get("privacy") else { return };
    let Some(at) = privacy.get("model").map(|m| &m.span) else { return };
    let format = root.get("source").and_then(|s| s.str("format")).and_then(Format::from_name);
    if format == Some(Format::Transactions) && model.is_apart() {
        let message = format!(
            "model \"{model}\" separates two sides, but transactions hold only items, with nothing sensitive beside them"
        );
        let help = "choose model \"km\", or give each person a record with items and sensitive values, in ndjson or parquet";
        report.error(at, message, help);
        return;
    }
    // A role that cannot be read has been reported, and might be the one that seems to be missing.
    let unclear = attributes.iter().any(|a| a.role.is_none());
    let with = |role: Role| attributes.iter().filter(move |a| a.role == Some(role) && a.follows.is_none());
    let quasi = with(Role::Quasi).count();
    if !unclear && model.has_guarantee() && quasi == 0 {
        let help = "without one an attacker is supposed to know nothing; say what may be known";
        report.error(at, format!("model \"{model}\" needs an attribute with role \"quasi\""), help);
    }
    if model.shape() == Shape::Set {
        for extra in with(Role::Quasi).skip(1) {
            let help = "its values per record are the transaction; use model \"kmn\" for several";
            report.error(
                extra.path_span(),
                format!("model \"{model}\" takes exactly one quasi attribute"),
                help,
            );
        }
        km_items(privacy, report);
    }
    if model == Model::Kmn {
        rows_fit(root, privacy, report);
    }
    // In sets the items themselves are sensitive.
    let takes_l = model.shape() != Shape::Set && PRIVACY.key("l").is_some_and(|l| l.fits(model));
    let diverse = takes_l && privacy.get("l").is_some();
    if (model.needs_sensitive() || diverse) && !unclear && with(Role::Sensitive).count() == 0 {
        let (at, what) = match model.needs_sensitive() {
            true => (at, format!("model \"{model}\"")),
            false => (key_span(privacy, "l"), "`privacy.l`".to_owned()),
        };
        report.error(
            at,
            format!("{what} needs an attribute with role \"sensitive\""),
            "say what is to be protected",
        );
    }
    if model.takes_ground() {
        with(Role::Sensitive).for_each(|attribute| ground_fits(attribute, report));
    }
    if model.needs_hierarchies(Role::Sensitive) {
        for attribute in with(Role::Sensitive).filter(|a| a.node.get("hierarchy").is_none()) {
            let help = "distances between values are measured in it";
            report.error(
                attribute.path_span(),
                format!("model \"{model}\" needs a hierarchy on every sensitive attribute"),
                help,
            );
        }
    }
}

/// Whoever verifies has the values of the publication alone: a hierarchy that is built over those of the data is another then.
fn ground_fits(attribute: &Attribute<'_>, report: &mut Report) {
    let Some(ground) = attribute.node.get("ground").filter(|g| g.text() == Some(Ground::Hierarchical.name()))
    else {
        return;
    };
    let hierarchy = attribute.node.get("hierarchy");
    if hierarchy.is_none_or(|h| h.text().is_none() && h.str("build") != Some("order")) {
        let help =
            "name it as a file (`bosket hierarchy build` writes one), or spell it out with build = \"order\"";
        let what = match hierarchy {
            None => "`ground = \"hierarchical\"` needs a hierarchy",
            Some(_) => {
                "`ground = \"hierarchical\"` cannot use a hierarchy that is built over the values of the data"
            }
        };
        report.error(&ground.span, what, help);
    }
    if attribute.node.get("buckets").is_some() {
        let help = "use ground = \"ordered\" for buckets, or take `buckets` out";
        report.error(&ground.span, "`ground = \"hierarchical\"` does not know buckets", help);
    }
}

/// In sets of items sensitivity is a property of items, and only `l` says what protects them.
fn km_items(privacy: &Node, report: &mut Report) {
    match (privacy.get("l"), privacy.get("sensitive")) {
        (Some(l), None) => {
            report.error(&l.span, "`privacy.l` needs `privacy.sensitive`", "list the sensitive items");
        }
        (None, Some(_)) => {
            let help = "say how well the items are to be protected, for example l = 2";
            report.error(key_span(privacy, "sensitive"), "`privacy.sensitive` needs `privacy.l`", help);
        }
        _ => {}
    }
    for pair in privacy.list("negative").iter().filter(|n| n.text().is_none()) {
        let help = "list single items; pairs belong to model \"kmn\"";
        report.error(&pair.span, "items of a transaction have no relations", help);
    }
}

fn weights(root: &Node, attributes: &[Attribute<'_>], report: &mut Report) {
    let Some(weights) = root.get("method").and_then(|m| m.get("weights")) else { return };
    for entry in weights.entries() {
        match attributes.iter().find(|a| a.path == Some(entry.key.as_str())) {
            None if attributes.iter().any(|a| a.path.and_then(level) == Some(entry.key.as_str())) => {}
            None => {
                let help = suggest(&entry.key, attributes).unwrap_or_default();
                report.error(&entry.key_span, format!("`{}` is not a declared attribute", entry.key), help);
            }
            Some(a) if a.node.get("weight").is_some() => {
                let help = "keep one of the two";
                report.error(
                    &entry.key_span,
                    format!("`{}` has a weight of its own already", entry.key),
                    help,
                );
            }
            Some(_) => {}
        }
    }
}

/// Nothing that is written may be something that is read, nor be written twice.
fn files(root: &Node, report: &mut Report) {
    let mut seen: Vec<(PathBuf, String)> = Vec::new();
    let mut read = |node: Option<&Node>, what: &str| {
        if let Some(path) = node.and_then(Node::text) {
            seen.push((plain(path), what.to_owned()));
        }
    };
    if let Some(source) = root.get("source") {
        read(source.get("path"), "source.path");
        read(source.get("schema"), "source.schema");
        for table in source.list("table") {
            read(table.get("path"), "source.table.path");
        }
        for lookup in source.list("lookup") {
            read(lookup.get("path"), "source.lookup.path");
        }
    }
    for attribute in root.list("attribute") {
        let hierarchy = attribute.get("hierarchy");
        read(hierarchy, "attribute.hierarchy");
        read(hierarchy.and_then(|h| h.get("table")), "attribute.hierarchy.table");
    }
    let Some(publish) = root.get("publish") else { return };
    let xsd = root.get("source").and_then(|s| s.str("format")) == Some("xml");
    for key in ["path", "schema", "certificate", "report", "mapping"] {
        let Some(node) = publish.get(key).filter(|_| key != "schema" || xsd) else { continue };
        let Some(path) = node.text().map(plain) else { continue };
        // Standard input and standard output are two streams with one name.
        let stream = node.text() == Some("-");
        let same = |(p, other): &&(PathBuf, String)| *p == path && (!stream || other.starts_with("publish"));
        if let Some((_, other)) = seen.iter().find(same) {
            let message = format!("`publish.{key}` is the same file as `{other}`");
            report.error(&node.span, message, "it would be overwritten; choose another name");
        } else {
            seen.push((path, format!("publish.{key}")));
        }
    }
}

/// Without `.` and `..`, so that two spellings of one file are found; links cannot be seen from here.
fn plain(path: &str) -> PathBuf {
    let mut out = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// What is neither an address nor a list of settings reaches no database.
fn address(url: &Node, report: &mut Report) {
    let Some(text) = url.text() else { return };
    let scheme = ["postgres:", "postgresql:"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let is_address = match scheme {
        Some(rest) => rest.starts_with("//"),
        None => text.contains('=') && !text.contains("://"),
    };
    if !is_address {
        let help = "write postgres://user@host/database";
        report.error(&url.span, "this is not the address of a database", help);
    }
}

/// Policies are handed around, and messages show their lines.
fn password(url: &Node, report: &mut Report) {
    let Some((_, rest)) = url.text().and_then(|t| t.split_once("://")) else { return };
    let user =
        rest.split(['/', '?']).next().and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
    if user.is_some_and(|u| u.contains(':')) || rest.contains("password=") {
        let help = "leave it out; it is taken from PGPASSWORD or ~/.pgpass";
        report.secret(&url.span, "a policy must not hold a password", help);
    }
}
