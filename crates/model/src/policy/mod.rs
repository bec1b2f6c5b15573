//! The policy: one TOML file that says everything a run depends on.
//!
//! [`Policy::parse`] reads the text into a tree that knows where everything was written (`node`), applies
//! `--set` arguments (`set`), checks it against the description of all keys (`keys`, `check`), then checks
//! what the keys mean together (`rules`), and only if nothing is wrong makes the plain structs below
//! (`read`). The same description gives [`json_schema`] and [`reference()`]. What is true of each model and
//! algorithm stands in one table (`models`), and is asked there (`facts`).

mod attacker;
mod check;
mod choices;
mod chosen;
mod condition;
mod describe;
mod draft;
mod duration;
mod facts;
mod keys;
mod models;
mod named;
mod node;
mod protection;
mod read;
mod reference;
mod release;
mod rules;
mod schema;
mod set;
mod write;

pub use attacker::{Attacker, Knower};
pub use choices::{
    Access, Certified, Diversity, Format, Ground, Missing, Payload, Protection, Relations, Role, RootMode,
    Rows, Siblings, Undeclared,
};
pub use condition::{Comparison, Condition, Operand};
pub use describe::NamedKind;
pub use draft::{Draft, DraftAttribute, draft, wrapped};
pub use facts::{Family, Number, Paper, Shape};
pub use models::{Algorithm, Model};
pub use named::{Named, named};
pub use reference::reference;
pub use release::{EarlierRelease, ReleaseTerms};
pub use schema::json_schema;

use std::time::Duration;

use crate::diag::{Diagnostic, Failure, Fault, Place};
use crate::hierarchy::spec::HierarchySpec;
use crate::path::AttributePath;

/// What a run depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// What messages call the file.
    pub name: String,
    /// Version of the policy language.
    pub version: u32,
    /// Breaks ties.
    pub seed: u64,
    /// What happens to attributes that are not named.
    pub undeclared: Undeclared,
    /// Where the records are.
    pub source: Option<Source>,
    /// The attributes, in the policy's order.
    pub attributes: Vec<AttributePolicy>,
    /// The guarantee.
    pub privacy: Option<Privacy>,
    /// How it is reached.
    pub method: Method,
    /// Where the result goes.
    pub publish: Option<Publish>,
    /// What was agreed about handing it out.
    pub release: Option<ReleaseTerms>,
}

/// Where the records are. File names are as written: relative to the policy's folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Form of the input.
    pub format: Format,
    /// The file.
    pub path: Option<String>,
    /// The database.
    pub url: Option<String>,
    /// Where its address is written, for messages about it.
    pub url_place: Place,
    /// Where in a JSON or XML document one person's record is.
    pub record: Option<String>,
    /// What names the person in each document, if one person may have several.
    pub person: Vec<String>,
    /// The XSD of private XML documents.
    pub schema: Option<String>,
    /// What stands between items or cells.
    pub separator: Option<String>,
    /// The tables; empty for a flat table and for documents. One has no parent, unless rows are grouped by person.
    pub tables: Vec<Table>,
    /// Tables that columns are looked up in, in the order in which that happens.
    pub lookups: Vec<Lookup>,
    /// Whom the run is about.
    pub selection: Selection,
}

/// Whom a run is about: everybody, if nothing is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// What they meet.
    pub condition: Option<Condition>,
    /// The same as it is written.
    pub text: Option<String>,
    /// Which share of those who meet it is drawn.
    pub sample: Option<f64>,
}

impl Selection {
    /// Whether that may be fewer people than the data has.
    pub fn selects(&self) -> bool {
        self.condition.is_some() || self.sample.is_some()
    }
}

/// A table of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: Option<String>,
    /// The columns that name a row; may be empty for a table without children.
    pub key: Vec<String>,
    /// The table it hangs below; none for the person table.
    pub parent: Option<String>,
    /// The columns that hold the parent's key, in the order of that key.
    pub foreign_key: Vec<String>,
    /// In a table without parent, the columns that name the person, if one person may have several rows. The first such
    /// table is the person table; other tables may be grouped by the same people.
    pub person: Vec<String>,
}

/// A table that columns of a linked table are looked up in, and replaced by what is found there.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: Option<String>,
    /// The columns that name a row.
    pub key: Vec<String>,
    /// The linked table whose columns are replaced.
    pub table: String,
    /// The columns that are looked up, in the order of the key.
    pub columns: Vec<String>,
    /// The columns that take their place.
    pub values: Vec<String>,
    /// What these are called then.
    pub names: Vec<String>,
}

/// What the policy says about an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributePolicy {
    /// Its path, as written.
    pub path: String,
    /// What it is to an attacker.
    pub role: Role,
    /// Why it has that role.
    pub why: Option<String>,
    /// What protects it if it is sensitive, as somebody has decided.
    pub protection: Option<Protection>,
    /// How it may be coarsened.
    pub hierarchy: Option<HierarchySpec>,
    /// Path of the attribute whose value it repeats.
    pub follows: Option<String>,
    /// Shares one cut with the other shared attributes of the same hierarchy.
    pub shared: bool,
    /// Published although many of its values are rare.
    pub acknowledge: bool,
    /// Bounds of a sensitive number, increasing.
    pub buckets: Option<Vec<f64>>,
    /// How far two of its values are from each other, where that is asked.
    pub ground: Ground,
    /// By how many days at most a person's dates are shifted.
    pub shift: Option<u32>,
    /// How much its loss counts, if the policy says so here or in `method.weights`.
    pub weight: Option<f64>,
    /// Where a table's column stands in the tree of tables; none for documents, whose paths say it themselves.
    pub structure: Option<AttributePath>,
    /// Where the path is written, for messages that turn up when the data is seen.
    pub place: Place,
}

/// The guarantee. Numbers that the model does not use are `None`, options have their defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Privacy {
    /// Which guarantee.
    pub model: Model,
    /// How many people any known piece of knowledge must fit.
    pub k: Option<u32>,
    /// How many values an attacker may know.
    pub m: Option<u32>,
    /// How many relations an attacker may know.
    pub n: Option<u32>,
    /// Who may look for a person, besides somebody who knows nothing in particular.
    pub attackers: Vec<Attacker>,
    /// The largest share that a value may have among the cells that a label hides, unless it is that common anyway.
    pub guess: Option<f64>,
    /// What several relations mean together.
    pub relations: Relations,
    /// Where the values of the record's top object stand.
    pub root: RootMode,
    /// No sensitive value may be inferred with more than 1/l.
    pub l: Option<f64>,
    /// How far the sensitive values of a class may be from those of all records.
    pub t: Option<f64>,
    /// How much more frequent in a class than in all records a sensitive value may be.
    pub beta: Option<f64>,
    /// Values whose absence counts as knowledge.
    pub negative: Vec<Negative>,
    /// Rows that look alike are one, as `publish.rows` says: what stands in them need not have stood in one row.
    pub united: bool,
    /// Relations that can be put together again count as published.
    pub guard: bool,
    /// What happens to the payloads of merged vertices.
    pub payload: Payload,
    /// Sensitive items.
    pub sensitive: Vec<String>,
    /// An item together with how often it occurs is an item.
    pub multiset: bool,
    /// How the sensitive values of a class are judged.
    pub diversity: Diversity,
    /// How siblings that look alike are judged.
    pub siblings: Siblings,
    /// Sensitive values that may not recur in a class.
    pub distinct_everywhere: Vec<String>,
    /// What it means that a value is not there.
    pub missing: Missing,
    /// Distinct sensitive values per group.
    pub group_size: Option<u32>,
    /// The distance to reach.
    pub delta_target: Option<u32>,
    /// The distance holds for every pair.
    pub pairwise: bool,
}

/// Something whose absence counts as knowledge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Negative {
    /// A value.
    Value(String),
    /// A relation: the first above the second.
    Pair(String, String),
}

/// How the guarantee is reached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Method {
    /// The algorithm; none for the model's default.
    pub algorithm: Option<String>,
    /// The parameters that the policy gives. The getters know the defaults of the others.
    pub params: Vec<(String, Param)>,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
}

impl Method {
    /// A parameter as the policy gives it, or its default.
    pub fn param(&self, name: &str) -> Option<Param> {
        let given = self.params.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        given.or_else(|| read::default_param(name))
    }
    /// A parameter that is true or false.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.param(name)? {
            Param::Bool(flag) => Some(flag),
            _ => None,
        }
    }
    /// A parameter that is a whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.param(name)? {
            Param::Int(int) => Some(int),
            _ => None,
        }
    }
    /// A parameter that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.param(name)? {
            Param::Int(int) => Some(int as f64),
            Param::Number(number) => Some(number),
            _ => None,
        }
    }
    /// A parameter that says how long something may take.
    pub fn duration(&self, name: &str) -> Option<Duration> {
        match self.param(name)? {
            Param::Text(text) => duration::parse(&text),
            _ => None,
        }
    }
    /// A parameter that is a word.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.param(name)? {
            Param::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Where the result goes. File names are as written: relative to the policy's folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Publish {
    /// The publication; a folder for tables.
    pub path: Option<String>,
    /// The database.
    pub url: Option<String>,
    /// Where its address is written, for messages about it.
    pub url_place: Place,
    /// The published XSD, or the database schema.
    pub schema: Option<String>,
    /// Name of the root element of a dissected document.
    pub root: Option<String>,
    /// The certificate.
    pub certificate: Option<String>,
    /// The HTML report.
    pub report: Option<String>,
    /// The private mapping.
    pub mapping: Option<String>,
    /// Quasi and sensitive values of each class are separated.
    pub anatomize: bool,
    /// What happens to rows that come to look alike.
    pub rows: Rows,
}

impl Policy {
    /// Reads a policy; `sets` are `key=value` arguments that override it. Gives the policy with warnings,
    /// or everything that is wrong with it, in reading order.
    pub fn parse(
        name: &str,
        text: &str,
        sets: &[String],
    ) -> Result<(Policy, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut report = node::Report::new(name, text, sets);
        let mut root = match node::parse(text, 0) {
            Ok(root) => root,
            Err((range, message)) => {
                report.error(&node::Span { text: 0, range }, format!("this is not TOML: {message}"), "");
                return Err(report.finish());
            }
        };
        for (i, arg) in sets.iter().enumerate() {
            set::apply(&mut root, arg, i + 1, &mut report);
        }
        set::take_usual_algorithm(&mut root, &mut report);
        check::check(&root, &mut report);
        rules::check(&root, &mut report);
        if report.has_errors() {
            return Err(report.finish());
        }
        let policy = read::policy(name, &root, &report);
        Ok((policy, report.finish()))
    }

    /// Whether clusters are published with their quasi and sensitive values apart.
    pub fn anatomizes(&self) -> bool {
        self.privacy.as_ref().is_some_and(|p| p.model.makes_clusters())
            && self.publish.as_ref().is_some_and(|p| p.anatomize)
    }

    /// Whether the run may be about fewer people than the data.
    pub fn selects(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.selection.selects())
    }

    /// What happens to rows that come to look alike.
    pub fn rows(&self) -> Rows {
        self.publish.as_ref().map_or(Rows::Distinct, |publish| publish.rows)
    }

    /// Whether quasi and sensitive values are published apart, be it of clusters or of people as they are.
    pub fn has_two_sides(&self) -> bool {
        self.anatomizes() || self.privacy.as_ref().is_some_and(|p| p.model.is_apart())
    }

    /// The attribute with the path as written.
    pub fn attribute(&self, path: &str) -> Option<&AttributePolicy> {
        self.attributes.iter().find(|a| a.path == path)
    }

    /// The source, complete enough to be read.
    pub fn need_source(&self) -> crate::Result<&Source> {
        let source =
            self.source.as_ref().ok_or_else(|| self.lacks("[source]", "say where the records are"))?;
        let mut lacking = Vec::new();
        match source.format {
            Format::Postgres if source.url.is_none() => lacking.push("source.url".to_owned()),
            Format::Csv | Format::Parquet if !source.tables.is_empty() => {
                let tables = source.tables.iter().filter(|t| t.path.is_none());
                lacking.extend(tables.map(|t| format!("source.table[\"{}\"].path", t.name)));
                let lookups = source.lookups.iter().filter(|t| t.path.is_none());
                lacking.extend(lookups.map(|t| format!("source.lookup[\"{}\"].path", t.name)));
            }
            Format::Postgres => {}
            _ if source.path.is_none() => lacking.push("source.path".to_owned()),
            _ => {}
        }
        if matches!(source.format, Format::Sqlite | Format::Postgres) && source.tables.is_empty() {
            lacking.push("[[source.table]]".to_owned());
        }
        if source.format == Format::Xml && source.record.is_none() {
            lacking.push("source.record".to_owned());
        }
        self.complete(source, &lacking, &format!("format \"{}\" cannot be read without", source.format))
    }

    /// The guarantee.
    pub fn need_privacy(&self) -> crate::Result<&Privacy> {
        self.privacy.as_ref().ok_or_else(|| self.lacks("[privacy]", "say which guarantee is wanted"))
    }

    /// Where to publish, complete enough to write there.
    pub fn need_publish(&self) -> crate::Result<&Publish> {
        let publish =
            self.publish.as_ref().ok_or_else(|| self.lacks("[publish]", "say where the result goes"))?;
        let postgres = self.source.as_ref().is_some_and(|s| s.format == Format::Postgres);
        let needed = if postgres {
            vec![("publish.url", &publish.url), ("publish.schema", &publish.schema)]
        } else {
            vec![("publish.path", &publish.path)]
        };
        let lacking: Vec<String> =
            needed.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| (*key).to_owned()).collect();
        self.complete(publish, &lacking, "the result cannot be written without")
    }

    fn complete<'a, T>(&self, whole: &'a T, lacking: &[String], help: &str) -> crate::Result<&'a T> {
        if lacking.is_empty() {
            return Ok(whole);
        }
        let diagnostics = lacking
            .iter()
            .map(|key| self.lacking(key, &format!("{help} it; give it in the policy, or with --set")))
            .collect();
        Err(Failure::all(Fault::Policy, diagnostics))
    }

    fn lacks(&self, what: &str, help: &str) -> Failure {
        Failure::new(Fault::Policy, self.lacking(what, help))
    }

    fn lacking(&self, what: &str, help: &str) -> Diagnostic {
        Diagnostic::error(format!("the policy has no `{what}`")).at(Place::source(&self.name)).help(help)
    }
}
