//! The keys of an OMOP database, which its files do not say and its names only half.

use super::catalogue::{Catalogue, Listed, Reference};

/// Columns that name a row of another table, and that table, beside those that are called like its key.
const NAMED: [(&str, &str); 3] = [
    ("preceding_visit_occurrence_id", "visit_occurrence"),
    ("visit_detail_parent_id", "visit_detail"),
    ("parent_visit_detail_id", "visit_detail"),
];

/// Columns that the table of people has in the Common Data Model.
const PERSON: [&str; 3] = ["person_id", "gender_concept_id", "year_of_birth"];

impl Catalogue {
    /// Whether these are tables of the Common Data Model: that of people, and what it calls an event of theirs.
    pub fn is_omop(&self) -> bool {
        let has = |table: &Listed, wanted: &str| table.columns.iter().any(|c| c.to_lowercase() == wanted);
        let is_person = |t: &Listed| bare(&t.name) == "person" && PERSON.iter().all(|column| has(t, column));
        let coded = |t: &Listed| t.columns.iter().any(|c| c.to_lowercase().ends_with("_concept_id"));
        let is_event = |t: &Listed| bare(&t.name) != "person" && has(t, "person_id") && coded(t);
        self.tables.iter().any(is_person) && self.tables.iter().any(is_event)
    }

    /// Adds the keys and foreign keys that the Common Data Model has. What is declared or was guessed stays.
    pub fn complete_omop(&mut self) {
        let known: Vec<(String, String)> =
            self.tables.iter().filter_map(|t| Some((t.name.clone(), own_key(t)?.clone()))).collect();
        for table in self.tables.iter_mut().filter(|t| t.unreadable.is_none()) {
            // People have a table here; nobody has to be grouped.
            table.person.clear();
            if table.key.is_empty() {
                table.key.extend(own_key(table).cloned());
            }
            for column in table.columns.clone() {
                let target = known.iter().find(|(name, key)| refers(&column, name, key));
                let Some((name, key)) = target.filter(|(name, _)| *name != table.name) else { continue };
                let columns = vec![column];
                if table.references.iter().all(|r| r.columns != columns) {
                    let (name, key) = (name.clone(), vec![key.clone()]);
                    table.references.push(Reference { columns, table: name, key, ..Reference::default() });
                }
            }
        }
    }
}

/// The last part of a table's name, in small letters.
fn bare(table: &str) -> String {
    table.rsplit('.').next().unwrap_or(table).to_lowercase()
}

/// The column that names a table's rows: `visit_occurrence_id`.
fn own_key(table: &Listed) -> Option<&String> {
    let key = format!("{}_id", bare(&table.name));
    table.columns.iter().find(|c| c.to_lowercase() == key)
}

/// Whether a column names a row of a table.
fn refers(column: &str, table: &str, key: &str) -> bool {
    let (column, table, key) = (column.to_lowercase(), bare(table), key.to_lowercase());
    column == key
        || (table == "concept" && column.ends_with("_concept_id"))
        || NAMED.iter().any(|(name, of)| *name == column && *of == table)
}
