//! Lookups one after the other: what a column stands for, and what that stands for in turn.
//!
//! `rental.inventory_id` names a row of `inventory`, that a film, and `film_category` says of each film what it is. A
//! table that is looked up gives the column that says in words what its rows are, and a few that sort them; from its own
//! foreign keys on the next is looked up. A table between two others (`film_category`) is looked up from the other side
//! where it has exactly one row for each.

use bosket_model::policy::Lookup;

use super::catalogue::{Brought, Catalogue, Linked, Listed, Reference};
use super::names::{holds_people, is_a_kind, is_part_of_a_key, is_postal, is_private, name_rank};

/// Most tables one after the other.
const LONGEST: usize = 5;
/// Most columns of one table.
const TELLING: usize = 3;

/// The lookups of one table of the records.
pub(super) struct Chains<'a> {
    catalogue: &'a Catalogue,
    table: &'a str,
    /// Names that are taken.
    taken: Vec<String>,
    /// Tables that hold the records.
    read: Vec<&'a str>,
    /// Tables that are looked up already.
    met: Vec<&'a str>,
}

/// What comes of one table and those behind it.
#[derive(Default)]
struct Link {
    lookups: Vec<Lookup>,
    brought: Vec<Brought>,
    /// Where the words for the table's rows stand.
    name: Option<String>,
}

/// A table on the way.
struct Step<'a> {
    /// The column of the records' table that is looked up.
    column: &'a str,
    /// How many tables were looked up before.
    depth: usize,
    /// One of them has said something.
    told: bool,
}

impl<'a> Chains<'a> {
    /// `columns` are those that the table has, `read` the tables that hold the records.
    pub(super) fn new(
        catalogue: &'a Catalogue,
        table: &'a str,
        columns: Vec<String>,
        read: Vec<&'a str>,
    ) -> Self {
        Chains { catalogue, table, taken: columns, read, met: Vec::new() }
    }

    /// Adds the lookups that a column of the table begins.
    pub(super) fn follow(&mut self, column: &str, reference: &'a Reference, linked: &mut Linked) {
        let step = Step { column, depth: 0, told: false };
        if let Some(found) = self.link(&step, reference) {
            linked.lookups.extend(found.lookups);
            linked.brought.extend(found.brought);
        }
    }

    /// The table that a reference names, if it may be looked up. People who have tables of their own are not named: they
    /// are not the ones that the records are about, and nobody has asked them.
    fn target(&self, step: &Step<'_>, reference: &Reference) -> Option<&'a Listed> {
        let target = &self.catalogue.tables[self.catalogue.find(&reference.table)?];
        let name = target.name.as_str();
        // Two columns of the records may name things of the same kind: where from, and where to.
        let new = !self.read.contains(&name) && (step.depth == 0 || !self.met.contains(&name));
        let free = target.unreadable.is_none() && new;
        (reference.unknown == 0 && free && reference.columns.len() == 1 && !holds_people(&target.name))
            .then_some(target)
    }

    fn link(&mut self, step: &Step<'_>, reference: &'a Reference) -> Option<Link> {
        let target = self.target(step, reference).filter(|_| step.depth < LONGEST)?;
        self.met.push(&target.name);
        let mut telling = telling(target, reference);
        // Only the first that says something says more than what it is.
        telling.truncate(if step.told { 1 } else { TELLING });
        let name = telling
            .first()
            .copied()
            .filter(|c| name_rank(c, &target.name).is_some() || (telling.len() == 1 && !is_postal(c)));
        let mut found = Link { name: name.map(|_| self.path(step.column)), ..Link::default() };
        let mut own = Lookup {
            name: target.name.clone(),
            path: target.path.clone(),
            key: reference.key.clone(),
            table: self.table.to_owned(),
            columns: vec![step.column.to_owned()],
            values: Vec::new(),
            names: Vec::new(),
        };
        for column in &telling {
            let in_place = Some(*column) == name;
            let called = if in_place { Some(step.column.to_owned()) } else { self.free_name(column, target) };
            let Some(called) = called else { continue };
            own.values.push((*column).to_owned());
            own.names.push(called.clone());
            found.brought.push(Brought {
                path: self.path(&called),
                table: target.name.clone(),
                column: (*column).to_owned(),
                in_place,
                above: Vec::new(),
            });
        }
        let (before, behind) = self.behind(step, target, &mut own, !telling.is_empty());
        if own.values.is_empty() {
            return None;
        }
        let mut above: Vec<(bool, String)> = Vec::new();
        for link in before.iter().chain(&behind) {
            let kind = link.brought.iter().any(|b| is_a_kind(&b.table));
            above.extend(link.name.iter().map(|name| (!kind, name.clone())));
        }
        above.sort_by_key(|(kind, _)| *kind);
        if let Some(first) = found.brought.iter_mut().find(|b| b.in_place) {
            first.above = above.into_iter().map(|(_, path)| path).collect();
        }
        for link in before {
            found.lookups.extend(link.lookups);
            found.brought.extend(link.brought);
        }
        found.lookups.push(own);
        for link in behind {
            found.lookups.extend(link.lookups);
            found.brought.extend(link.brought);
        }
        Some(found)
    }

    /// What is behind a table: through tables that name each of its rows once, and by its own references, whose columns
    /// `own` then brings.
    fn behind(
        &mut self,
        step: &Step<'_>,
        target: &'a Listed,
        own: &mut Lookup,
        told: bool,
    ) -> (Vec<Link>, Vec<Link>) {
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        // Two tables in a row that say nothing lead too far, and what vocabularies say of a concept to nobody.
        if (step.depth > 0 && !told && !step.told) || is_concept(target) {
            return (before, behind);
        }
        for reference in target.references.iter().filter(|r| r.columns.len() == 1) {
            let Some(called) = self.free_name(&reference.columns[0], target) else { continue };
            let next = Step { column: &called, depth: step.depth + 1, told: told || step.told };
            match self.link(&next, reference) {
                Some(link) => {
                    own.values.push(reference.columns[0].clone());
                    own.names.push(called);
                    behind.push(link);
                }
                None => self.taken.retain(|name| *name != called),
            }
        }
        for between in self.between(target) {
            let Some(to) = between.references.iter().find(|r| r.table == target.name) else { continue };
            for onward in between.references.iter().filter(|r| r.table != target.name) {
                let Some(called) = self.free_name(&onward.columns[0], between) else { continue };
                let next = Step { column: &called, depth: step.depth + 2, told: told || step.told };
                let Some(mut link) = self.link(&next, onward) else {
                    self.taken.retain(|name| *name != called);
                    continue;
                };
                let both = |name: &String, other: &str| vec![name.clone(), other.to_owned()];
                let lookup = Lookup {
                    name: between.name.clone(),
                    path: between.path.clone(),
                    key: to.columns.clone(),
                    table: self.table.to_owned(),
                    columns: vec![step.column.to_owned()],
                    // The column itself stays, to be looked up again.
                    values: both(&to.columns[0], &onward.columns[0]),
                    names: both(&step.column.to_owned(), &called),
                };
                link.lookups.insert(0, lookup);
                self.met.push(&between.name);
                before.push(link);
                break;
            }
        }
        (before, behind)
    }

    /// Tables that have exactly one row for each row of a table, and refer to others.
    fn between(&self, target: &Listed) -> Vec<&'a Listed> {
        let all = self.catalogue.tables.iter();
        let fits = |t: &&Listed| {
            let one = |r: &Reference| {
                r.table == target.name
                    && r.columns.len() == 1
                    && r.astray == 0
                    && r.repeated == Some(0)
                    && t.rows == target.rows
            };
            t.unreadable.is_none()
                && !holds_people(&t.name)
                && !self.met.contains(&t.name.as_str())
                && !self.read.contains(&t.name.as_str())
                && t.references.iter().any(one)
                && t.references.iter().filter(|r| r.table == target.name).count() == 1
        };
        all.filter(fits).collect()
    }

    fn path(&self, column: &str) -> String {
        format!("{}.{column}", self.table)
    }

    /// A name that the table of the records has not: the column's own, else with the name of its table before.
    fn free_name(&mut self, column: &str, of: &Listed) -> Option<String> {
        let bare = of.name.rsplit('.').next().unwrap_or(&of.name);
        let names = [column.to_owned(), format!("{bare}_{column}")];
        let free = names.into_iter().find(|name| !self.taken.contains(name))?;
        self.taken.push(free.clone());
        Some(free)
    }
}

/// Whether a table holds the concepts of a vocabulary.
fn is_concept(table: &Listed) -> bool {
    table.name.to_lowercase().ends_with("concept")
}

/// The columns of a table that say something about its rows, the one that says what they are first.
fn telling<'t>(target: &'t Listed, reference: &Reference) -> Vec<&'t String> {
    let refers = |c: &String| target.references.iter().any(|r| r.columns.contains(c));
    let own = |c: &String| reference.key.contains(c) || target.key.contains(c);
    let facts = |c: &String| target.facts.iter().find(|f| f.name == *c);
    let free = |c: &&String| {
        let part = is_part_of_a_key(c) && !is_postal(c);
        !own(c) && !refers(c) && !part && !is_private(c) && facts(c).is_none_or(|f| f.is_word())
    };
    let free: Vec<&String> = target.columns.iter().filter(free).collect();
    let named =
        free.iter().filter_map(|c| Some((name_rank(c, &target.name)?, *c))).min_by_key(|(rank, _)| *rank);
    // Where nothing is called like a name, what is there first is taken for one, unless it is a code of a place.
    let first = named.map(|(_, c)| c).or_else(|| free.iter().copied().find(|c| !is_postal(c)));
    let kinds = free.iter().copied().filter(|c| Some(*c) != first);
    // A concept is what it is called: how vocabularies keep it says nothing about anyone.
    let more = kinds.filter(|c| {
        let sorts = is_postal(c) || facts(c).is_some_and(|f| f.is_kind());
        sorts && name_rank(c, &target.name).is_none() && !is_concept(target)
    });
    let mut more: Vec<&String> = more.collect();
    more.sort_by_key(|c| !is_postal(c));
    first.into_iter().chain(more).collect()
}
