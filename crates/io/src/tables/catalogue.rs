//! What tables there are, when no policy says it yet: found in a database's catalogue, or guessed.

use bosket_model::diag::nearest;
use bosket_model::policy::{Lookup, Table};
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::bridge;
use super::facts::ColumnFacts;
use super::link::Linker;
use super::names::{is_about_people, names_people};

/// A foreign key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// The columns.
    pub columns: Vec<String>,
    /// The table they refer to.
    pub table: String,
    /// Its columns that they hold.
    pub key: Vec<String>,
    /// In how many rows they name no row of that table; 0 until [`survey`](super::survey) has looked.
    pub astray: u64,
    /// In how many of these they are not empty.
    pub unknown: u64,
    /// In how many rows they name what a row before does, too; none until [`survey`](super::survey) has looked.
    pub repeated: Option<u64>,
    /// It is turned round: the other table names each row of this one once, and so stands above it.
    pub turned: bool,
    /// A database does not declare it: names and values say so.
    pub assumed: bool,
}

/// A table that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its file, if it has one of its own.
    pub path: Option<String>,
    /// The columns that name a row; empty if it has no such columns.
    pub key: Vec<String>,
    /// Its foreign keys.
    pub references: Vec<Reference>,
    /// How many rows it has.
    pub rows: u64,
    /// All its columns.
    pub columns: Vec<String>,
    /// The columns that name a person who may have several rows here, and has no table with one row each.
    pub person: Vec<String>,
    /// Columns in which no value comes twice, though their names do not say that they are keys.
    pub unnamed: Vec<String>,
    /// It is a view: what it holds stands in other tables.
    pub derived: bool,
    /// Why it cannot be read, if it cannot.
    pub unreadable: Option<String>,
    /// What its columns are like; empty until [`survey`](super::survey) has looked.
    pub facts: Vec<ColumnFacts>,
}

/// A column that a lookup brings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// Its path, as `table.column`.
    pub path: String,
    /// The table that it is looked up in.
    pub table: String,
    /// The column there.
    pub column: String,
    /// It stands under the name of what is looked up, so that it has a place also without its lookup.
    pub in_place: bool,
    /// Paths of columns that may be coarser, those that say it best first.
    pub above: Vec<String>,
}

/// The tables that were found.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The tables.
    pub tables: Vec<Listed>,
    /// Keys were guessed from names and values; nobody has declared them.
    pub guessed: bool,
    /// Files that lie with the tables and were not taken for any.
    pub aside: Vec<String>,
}

/// Tables below one person table.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// The tables, the person table first, parents before children.
    pub tables: Vec<Table>,
    /// Why each of the others hangs where it does, and what was not linked.
    pub notes: Vec<String>,
    /// Tables that may say something about the people and were not read: nobody has said that they do not.
    pub unread: Vec<String>,
    /// Tables that could hang below another than they do, and that in words.
    pub choices: Vec<(String, String)>,
    /// Parts of keys (`table.column`) that refer to another table than the parent, and so are values.
    pub parts: Vec<String>,
    /// Columns (`table.column`) that refer to a table other than the parent.
    pub references: Vec<(String, String)>,
    /// Per table that is only referred to, what it says beside its key.
    pub told: Vec<(String, Vec<String>)>,
    /// What takes the place of columns that refer to such a table, under their names.
    pub lookups: Vec<Lookup>,
    /// The columns that these bring.
    pub brought: Vec<Brought>,
}

impl Linked {
    /// What a table that is only referred to says beside its key.
    pub fn told_by(&self, table: &str) -> &[String] {
        self.told.iter().find(|(name, _)| name == table).map_or(&[], |(_, columns)| columns)
    }

    /// What a lookup has brought under a path (`table.column`).
    pub fn brought_to(&self, path: &str) -> Option<&Brought> {
        self.brought.iter().find(|b| b.path == path)
    }
}

impl Catalogue {
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|t| t.name == name)
    }

    /// Hangs the tables below a person table: the one named, or the one that seems to hold people. `chosen` are foreign
    /// keys, as `table.column`, by which a table is to hang below another.
    pub fn link(&self, person: Option<&str>, chosen: &[String]) -> Result<Linked> {
        let person = match person {
            Some(name) => self.find(name).ok_or_else(|| self.unknown(name))?,
            None => self.person().ok_or_else(|| self.nothing())?,
        };
        if let Some(why) = &self.tables[person].unreadable {
            return Err(unreadable(&self.tables[person].name, why));
        }
        let mut catalogue = self.clone();
        loop {
            let mut linked = Linker::new(&catalogue, chosen).link(person)?;
            let Some((table, reference)) = bridge::turned(&catalogue, &linked) else {
                for (table, note) in bridge::notes(&catalogue, &linked) {
                    linked.unread.push(table);
                    linked.notes.push(note);
                }
                return Ok(linked);
            };
            catalogue.tables[table].references.push(reference);
        }
    }

    /// Of the tables named like people the one with the most rows, else of those that name people in their rows the
    /// one that says most about them, else the one with the most tables below.
    fn person(&self) -> Option<usize> {
        let all = || (0..self.tables.len()).filter(|&i| self.tables[i].unreadable.is_none());
        let people =
            all().filter(|&i| names_people(&self.tables[i].name) && self.tables[i].person.is_empty());
        let grouped = all().filter(|&i| !self.tables[i].person.is_empty());
        let says = |&i: &usize| {
            let table = &self.tables[i];
            (is_about_people(&table.name), table.columns.len(), usize::MAX - i)
        };
        let people = people.max_by_key(|&i| (self.tables[i].rows, usize::MAX - i));
        people.or_else(|| grouped.max_by_key(says)).or_else(|| {
            all().max_by_key(|&i| (Linker::new(self, &[]).reaching(i), self.tables[i].rows, usize::MAX - i))
        })
    }

    fn unknown(&self, name: &str) -> Failure {
        let names: Vec<&str> = self.tables.iter().map(|t| t.name.as_str()).collect();
        let help = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the tables are {}", names.join(", ")),
        };
        Failure::new(Fault::Usage, Diagnostic::error(format!("there is no table `{name}`")).help(help))
    }

    /// There is no table, or none that can be read.
    fn nothing(&self) -> Failure {
        let why = self.tables.iter().filter_map(|t| Some(unreadable(&t.name, t.unreadable.as_ref()?)));
        let all: Vec<Diagnostic> = why.flat_map(|failure| failure.diagnostics).collect();
        if !all.is_empty() {
            return Failure::all(Fault::Data, all);
        }
        let what = Diagnostic::error("there is no table");
        Failure::new(Fault::Data, what.help("check that it is the right folder or database"))
    }
}

fn unreadable(table: &str, why: &str) -> Failure {
    let what = Diagnostic::error(format!("`{table}` cannot be read: {why}"));
    Failure::new(Fault::Data, what.help("put that right, or choose another person table with --record"))
}

/// Why a table could not be read, and what to do.
pub(super) fn why(failure: &Failure) -> String {
    let words = |d: &Diagnostic| match &d.help {
        Some(help) => format!("{}; {help}", d.message),
        None => d.message.clone(),
    };
    failure.diagnostics.first().map(words).unwrap_or_default()
}
