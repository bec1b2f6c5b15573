//! The annex: what those who decide about a release ask, each answer with where it comes from. Tables of what was measured and
//! of what the policy says in `[release]`; what nobody has filled in is empty. It claims nothing about any law or standard.

mod frames;
mod risk;

use bosket_model::policy::{Policy, ReleaseTerms, Role};
use serde_json::{Value, json};

use crate::html::Certified;
use crate::study::Study;

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Something.
    Text(String),
    /// What somebody should have filled in, and has not.
    Empty,
}

impl Cell {
    fn of(text: Option<&String>) -> Cell {
        text.map_or(Cell::Empty, |text| Cell::Text(text.clone()))
    }

    fn list(items: &[String]) -> Cell {
        if items.is_empty() { Cell::Empty } else { Cell::Text(items.join("; ")) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::Text(text.into())
    }
}

/// A table with what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What it is about.
    pub title: String,
    /// How to read it, in a sentence or two.
    pub meaning: String,
    /// What the columns are called.
    pub columns: Vec<&'static str>,
    /// The rows, as many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// The annex.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annex {
    /// Its tables, in order.
    pub tables: Vec<Table>,
}

/// What the tables are made of.
pub(crate) struct Evidence<'a> {
    policy: &'a Policy,
    terms: ReleaseTerms,
    study: &'a Study,
    certified: Option<&'a Certified<'a>>,
    /// How many limits are told in the report.
    limits: usize,
}

impl Annex {
    /// The annex of a publication that was looked at.
    pub fn new(policy: &Policy, study: &Study, certified: Option<&Certified<'_>>, limits: &[String]) -> Self {
        let terms = policy.release.clone().unwrap_or_default();
        let of = Evidence { policy, terms, study, certified, limits: limits.len() };
        let mut tables = vec![of.agreed(), of.accepted(), of.three_questions(), of.clauses(), of.expert()];
        tables.extend(of.reasons());
        Annex { tables }
    }

    /// The same for programs; what nobody has filled in is null.
    pub fn to_json(&self) -> Value {
        let cell = |cell: &Cell| match cell {
            Cell::Text(text) => json!(text),
            Cell::Empty => Value::Null,
        };
        let row = |row: &Vec<Cell>| row.iter().map(cell).collect::<Vec<_>>();
        let table = |table: &Table| {
            json!({
                "title": table.title,
                "meaning": table.meaning,
                "columns": table.columns,
                "rows": table.rows.iter().map(row).collect::<Vec<_>>(),
            })
        };
        json!({"tables": self.tables.iter().map(table).collect::<Vec<_>>()})
    }
}

impl Evidence<'_> {
    /// What the policy says about the release.
    fn agreed(&self) -> Table {
        let terms = &self.terms;
        let access = terms.access.map(|access| match access.name() {
            "open" => "open: anybody can have it".to_owned(),
            "contract" => "contract: those who have signed for what they do with it".to_owned(),
            _ => "secure environment: it is looked at in a place that it does not leave".to_owned(),
        });
        let risk = terms.accepted_risk.map(risk::percent);
        let rows = [
            ("who gets it", "recipient", Cell::of(terms.recipient.as_ref())),
            ("for what", "purpose", Cell::of(terms.purpose.as_ref())),
            ("how", "access", Cell::of(access.as_ref())),
            ("what else protects it", "controls", Cell::list(&terms.controls)),
            ("largest risk that was agreed", "accepted_risk", Cell::of(risk.as_ref())),
            ("who decided", "decided_by", Cell::of(terms.decided_by.as_ref())),
            ("last looked at", "reviewed_on", Cell::of(terms.reviewed_on.as_ref())),
            ("who agreed", "approvers", Cell::list(&terms.approvers)),
        ];
        Table {
            title: "What was agreed".to_owned(),
            meaning: "What the publisher has written down about handing the publication out. Nobody has checked these words; a \
                      row without an answer is one that nobody has given."
                .to_owned(),
            columns: vec!["question", "answer", "key of [release]"],
            rows: rows.into_iter().map(|(ask, key, said)| vec![ask.into(), said, key.into()]).collect(),
        }
    }

    /// Why attributes have their roles; nothing where the policy names none.
    fn reasons(&self) -> Option<Table> {
        let attributes = &self.policy.attributes;
        let row = |a: &bosket_model::policy::AttributePolicy| {
            vec![a.path.as_str().into(), role(a.role).into(), Cell::of(a.why.as_ref())]
        };
        (!attributes.is_empty()).then(|| Table {
            title: "Why each attribute has its role".to_owned(),
            meaning: "The guarantee is about attributes that an attacker may know. Whether an attribute is one of them is a \
                      judgement of people, and this is where they say why; no measurement above is better than these judgements."
                .to_owned(),
            columns: vec!["attribute", "treated as", "why"],
            rows: attributes.iter().map(row).collect(),
        })
    }
}

/// A role in words for those who do not know the policy's.
fn role(role: Role) -> &'static str {
    match role {
        Role::Identifying => "names somebody: removed",
        Role::Quasi => "may be known: protected",
        Role::Sensitive => "must not be learnt: published as it is",
        Role::Insensitive => "harmless: published as it is",
        Role::Key => "a key: replaced or removed",
        Role::Drop => "left out",
        Role::Pseudonym => "a pseudonym: links releases",
    }
}
