//! What `bosket inspect` looks at: a document, or linked tables that no policy describes yet.

use bosket_io::tables::{Linked, Tables, catalogue};
use bosket_measure::inspect::{Profile, Suggestion};
use bosket_model::policy::{Format, Role, Table};
use bosket_model::{Dataset, Failure};
use serde_json::{Value, json};

use crate::args::Inspect;
use crate::load;
use crate::output::{count, plural};
use crate::talk::Talk;

/// Data, and how it is written down.
pub struct Looked {
    pub data: Dataset,
    pub format: &'static str,
    pub record: Option<String>,
    pub separator: Option<String>,
    pub tables: Option<Found>,
}

/// Linked tables, and whether anybody has declared how they are linked.
pub struct Found {
    pub linked: Linked,
    guessed: bool,
    person_given: bool,
}

/// Reads whatever the command line names.
pub fn look(args: &Inspect, talk: &Talk) -> Result<Looked, Failure> {
    let reading = &args.reading;
    let format = reading.format.as_deref().or(args.preset.as_deref());
    let separator = reading.separator.as_deref();
    let found = catalogue(&args.data, format, separator, talk);
    talk.quiet();
    let Some((format, catalogue)) = found? else {
        let loaded = load::data(&args.data, format, &load::layout(reading), talk)?;
        return Ok(Looked {
            data: loaded.data,
            format: loaded.format.name(),
            record: loaded.layout.record,
            separator: loaded.layout.separator,
            tables: None,
        });
    };
    let linked = catalogue.link(reading.record.as_deref(), &args.parent)?;
    let tables = Tables::look(&args.data, format, separator, &linked)?.read(talk);
    talk.quiet();
    let (data, _) = tables?;
    let found = Found { linked, guessed: catalogue.guessed, person_given: reading.record.is_some() };
    let separator = reading.separator.clone();
    Ok(Looked { data, format: format.name(), record: None, separator, tables: Some(found) })
}

impl Looked {
    /// The format as policies name it.
    pub fn policy_format(&self) -> Option<Format> {
        Format::from_name(self.format)
    }

    /// Columns that refer to other tables are keys, whatever their values look like.
    pub fn mark_references(&self, profile: &Profile, suggestions: &mut [Suggestion]) {
        let Some(found) = &self.tables else { return };
        for (attribute, suggestion) in profile.attributes.iter().zip(suggestions) {
            let reference = found.linked.references.iter().find(|(path, _)| *path == attribute.path);
            if let Some((_, table)) = reference {
                suggestion.role = Role::Key;
                let columns = found.linked.told_by(table);
                let said =
                    if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
                suggestion.reason = format!(
                    "refers to {table}; published empty, since no guarantee counts what it tells; \
                     [[source.lookup]] replaces it by what it stands for{said}"
                );
                suggestion.hierarchy = None;
                suggestion.follows = None;
            }
        }
    }
}

impl Found {
    /// How the tables are linked, in words.
    pub fn describe(&self) -> String {
        let said = if self.guessed {
            "keys guessed from names and values; nobody has declared them"
        } else {
            "keys from the database's catalogue"
        };
        let mut out = format!("{} ({said}):\n", plural(self.linked.tables.len(), "linked table"));
        for (i, table) in self.linked.tables.iter().enumerate() {
            let key = if table.key.is_empty() { "no key".to_owned() } else { table.key.join(", ") };
            let below = match &table.parent {
                Some(parent) => format!("below {parent} by {}", table.foreign_key.join(", ")),
                None if i > 0 => format!("the same people, by {}", table.person.join(", ")),
                None if self.person_given => "the person table".to_owned(),
                None => "the person table; choose another with --record TABLE".to_owned(),
            };
            out.push_str(&format!("  {} ({key}): {below}\n", table.name));
        }
        for note in &self.linked.notes {
            out.push_str(&format!("  {note}\n"));
        }
        out
    }

    /// The same for programs.
    pub fn to_json(&self) -> Value {
        let table = |t: &Table| {
            json!({
                "name": t.name,
                "key": t.key,
                "parent": t.parent,
                "foreign_key": t.foreign_key,
                "person": t.person,
            })
        };
        json!({
            "guessed": self.guessed,
            "tables": self.linked.tables.iter().map(table).collect::<Vec<_>>(),
            "notes": self.linked.notes,
        })
    }
}

/// How many records and vertices there are, in one line.
pub fn headline(looked: &Looked, profile: &Profile) -> String {
    let mut out = format!("{}: {}", looked.format, plural(profile.records, "record"));
    for class in profile.classes.iter().skip(1) {
        out.push_str(&format!(", {} {}", count(class.vertices), class.path));
    }
    out.push('\n');
    out
}
