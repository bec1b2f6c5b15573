//! How tables hang below the one that holds people.
//!
//! Of the tables found, one is the person table; those whose foreign keys lead to it hang below it. A table that could
//! hang below several hangs below the one that itself hangs below the others; where there is no such table, below the one
//! that is nearest to the person, and that is told: only the user can know. A foreign key that some rows do not have hangs no table below another, unless it is asked for:
//! the next way to the person counts.

use bosket_model::policy::Table;
use bosket_model::words::plural;
use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::bridge;
use super::catalogue::{Catalogue, Linked, Listed, Reference};
use super::chain::Chains;
use super::names::is_about_people;

/// That a reference does not lead anywhere from some rows.
fn not_everywhere(table: &str, reference: &Reference) -> String {
    let (columns, target) = (reference.columns.join(", "), &reference.table);
    let rows = plural(reference.astray as usize, "row");
    let belong = if reference.astray == 1 { "belongs" } else { "belong" };
    format!("by {columns} {rows} of `{table}` {belong} to no row of `{target}`")
}

/// That nobody has declared what hangs a table below another.
fn assumed(table: &Listed, reference: &Reference) -> Option<String> {
    let (name, columns, target) = (&table.name, reference.columns.join(", "), &reference.table);
    reference.assumed.then(|| {
        format!(
            "nobody has declared that `{name}` belongs to `{target}` by {columns}: names and values say so"
        )
    })
}

/// A table that hangs below another by one of its references.
struct Placed {
    table: usize,
    /// Parent's place among those placed, and the reference.
    link: Option<(usize, usize)>,
    notes: Vec<String>,
    /// That it could as well hang below another.
    choice: Option<String>,
}

/// Tables on their way to a tree.
pub(super) struct Linker<'a> {
    catalogue: &'a Catalogue,
    chosen: &'a [String],
    /// Tables that lead to the person table.
    reached: Vec<usize>,
    /// Those of them that name the same people in their rows.
    roots: Vec<usize>,
    placed: Vec<Placed>,
}

impl<'a> Linker<'a> {
    /// `chosen` are foreign keys, as `table.column`, by which a table is to hang below another.
    pub(super) fn new(catalogue: &'a Catalogue, chosen: &'a [String]) -> Self {
        Linker { catalogue, chosen, reached: Vec::new(), roots: Vec::new(), placed: Vec::new() }
    }

    /// Hangs the tables below a person table.
    pub(super) fn link(mut self, person: usize) -> Result<Linked> {
        self.check_chosen()?;
        self.reach(person);
        self.place(person);
        Ok(self.finish())
    }

    /// How many tables lead to a table, itself included.
    pub(super) fn reaching(mut self, table: usize) -> usize {
        self.reach(table);
        self.reached.len()
    }

    fn target(&self, table: usize, reference: usize) -> Option<usize> {
        self.catalogue.find(&self.catalogue.tables[table].references[reference].table)
    }

    fn check_chosen(&self) -> Result<()> {
        for choice in self.chosen {
            let known = self.catalogue.tables.iter().any(|t| {
                t.references.iter().any(|r| r.columns.iter().any(|c| *choice == format!("{}.{c}", t.name)))
            });
            if !known {
                let all =
                    self.catalogue.tables.iter().flat_map(|t| {
                        t.references.iter().map(move |r| format!("{}.{}", t.name, r.columns[0]))
                    });
                let help = format!("the foreign keys are {}", all.collect::<Vec<_>>().join(", "));
                let what = Diagnostic::error(format!("`{choice}` is no foreign key")).help(help);
                return Err(Failure::new(Fault::Usage, what));
            }
        }
        Ok(())
    }

    fn reach(&mut self, person: usize) {
        self.reached = vec![person];
        self.follow(0);
        if self.catalogue.tables[person].person.is_empty() {
            return;
        }
        // Tables that name the same people, and that nothing leads to them by another way.
        while let Some(next) = (0..self.catalogue.tables.len())
            .filter(|&t| self.catalogue.tables[t].unreadable.is_none())
            .find(|t| !self.catalogue.tables[*t].person.is_empty() && !self.reached.contains(t))
        {
            self.reached.push(next);
            self.roots.push(next);
            self.follow(self.reached.len() - 1);
        }
    }

    /// Adds the tables that lead to those reached from a place on.
    fn follow(&mut self, from: usize) {
        let mut i = from;
        while let Some(&above) = self.reached.get(i) {
            i += 1;
            for table in 0..self.catalogue.tables.len() {
                let leads = (0..self.catalogue.tables[table].references.len())
                    .any(|r| self.target(table, r) == Some(above));
                let readable = self.catalogue.tables[table].unreadable.is_none();
                if leads && readable && !self.reached.contains(&table) {
                    self.reached.push(table);
                }
            }
        }
    }

    /// The references by which a table could hang below another that leads to the person.
    fn candidates(&self, table: usize) -> Vec<usize> {
        let listed = &self.catalogue.tables[table];
        // What hangs below this table because this one refers to it is not above it.
        let below = |t: usize| {
            let mut turned = self.catalogue.tables[t].references.iter().filter(|r| r.turned);
            turned.any(|r| r.table == listed.name)
        };
        let all: Vec<usize> = (0..listed.references.len())
            .filter(|&r| {
                self.target(table, r).is_some_and(|t| t != table && self.reached.contains(&t) && !below(t))
            })
            .collect();
        let chosen = |r: &&usize| {
            let columns = &listed.references[**r].columns;
            columns.iter().any(|c| self.chosen.contains(&format!("{}.{c}", listed.name)))
        };
        match all.iter().find(chosen) {
            Some(&chosen) => vec![chosen],
            None => all.into_iter().filter(|&r| listed.references[r].astray == 0).collect(),
        }
    }

    /// References to tables that lead to the person, which some rows do not have; unless they were asked for.
    fn optional(&self, table: usize) -> Vec<&Reference> {
        let listed = &self.catalogue.tables[table];
        let candidates = self.candidates(table);
        (0..listed.references.len())
            .filter(|r| !candidates.contains(r) && listed.references[*r].astray > 0)
            .filter(|&r| self.target(table, r).is_some_and(|t| t != table && self.reached.contains(&t)))
            .map(|r| &listed.references[r])
            .collect()
    }

    fn place(&mut self, person: usize) {
        for root in std::iter::once(person).chain(self.roots.clone()) {
            let listed = &self.catalogue.tables[root];
            let by = listed.person.join(", ");
            let note = (!by.is_empty())
                .then(|| format!("people have several rows in `{}`: they are grouped by {by}", listed.name));
            let notes = note.into_iter().collect();
            self.placed.push(Placed { table: root, link: None, notes, choice: None });
        }
        let placed = |t: &usize| *t == person || self.roots.contains(t);
        let mut waiting: Vec<usize> = self.reached.iter().copied().filter(|t| !placed(t)).collect();
        while !waiting.is_empty() {
            let at = |table: usize| self.placed.iter().position(|p| p.table == table);
            let ready = |&table: &usize| {
                self.candidates(table).iter().all(|&r| self.target(table, r).and_then(at).is_some())
            };
            let some = |&table: &usize| {
                self.candidates(table).iter().any(|&r| self.target(table, r).and_then(at).is_some())
            };
            // Tables that refer to each other in a circle hang below what is placed already.
            let next = waiting.iter().position(ready).or_else(|| waiting.iter().position(some));
            let Some(next) = next else { break };
            let table = waiting.remove(next);
            // Some rows of it belong to nobody by whatever key: it is left out, and that is told.
            if self.candidates(table).is_empty() {
                continue;
            }
            let placed = self.choose(table);
            self.placed.extend(placed);
        }
    }

    /// The reference by which a table hangs below another: to the lowest of those it could hang below.
    fn choose(&self, table: usize) -> Option<Placed> {
        let listed = &self.catalogue.tables[table];
        let candidates: Vec<(usize, usize)> = (self.candidates(table).into_iter())
            .filter_map(|r| {
                let target = self.target(table, r)?;
                Some((self.placed.iter().position(|p| p.table == target)?, r))
            })
            .collect();
        let name = |(_, r): (usize, usize)| &listed.references[r].table;
        let lowest: Vec<(usize, usize)> = candidates
            .iter()
            .copied()
            .filter(|c| candidates.iter().all(|other| other == c || self.is_below(c.0, other.0)))
            .collect();
        let (link, choice) = match lowest.as_slice() {
            [link] => (*link, None),
            _ => {
                let rank =
                    |&&c: &&(usize, usize)| (self.depth(c.0), name(c), &listed.references[c.1].columns);
                let link = *candidates.iter().min_by_key(rank)?;
                (link, Some(self.choice(table, link, &candidates)))
            }
        };
        let others: Vec<&str> =
            candidates.iter().filter(|c| **c != link).map(|&c| name(c).as_str()).collect();
        let mut notes: Vec<String> = self
            .optional(table)
            .iter()
            .map(|r| format!("{}; it hangs below {}", not_everywhere(&listed.name, r), name(link)))
            .collect();
        notes.extend(choice.clone());
        if !others.is_empty() && choice.is_none() {
            let (parent, others) = (name(link), others.join(", "));
            notes.push(format!(
                "`{}` also refers to {others}; it hangs below {parent}, which itself does",
                listed.name
            ));
        }
        Some(Placed { table, link: Some(link), notes, choice })
    }

    /// How many tables are above one that is placed.
    fn depth(&self, place: usize) -> usize {
        std::iter::successors(self.placed[place].link, |&(parent, _)| self.placed[parent].link).count()
    }

    /// That a table could hang below several, and below which it hangs.
    fn choice(&self, table: usize, link: (usize, usize), candidates: &[(usize, usize)]) -> String {
        let listed = &self.catalogue.tables[table];
        let by = |c: &(usize, usize)| {
            let reference = &listed.references[c.1];
            format!("`{}` by `{}`", reference.table, reference.columns.join(", "))
        };
        let all: Vec<String> = candidates.iter().map(by).collect();
        let other = candidates.iter().find(|c| **c != link).map_or("COLUMN", |c| {
            let columns = &listed.references[c.1].columns;
            columns.first().map_or("COLUMN", String::as_str)
        });
        let nearest = candidates.iter().filter(|c| self.depth(c.0) == self.depth(link.0)).count() == 1;
        let why = if nearest { "which is nearest to the person" } else { "the first by name" };
        format!(
            "`{}` could hang below {}; it hangs below {}, {why}: --parent {}.{other} chooses otherwise",
            listed.name,
            all.join(" or below "),
            by(&link),
            listed.name
        )
    }

    fn is_below(&self, place: usize, above: usize) -> bool {
        let mut at = self.placed[place].link;
        while let Some((parent, _)) = at {
            if parent == above {
                return true;
            }
            at = self.placed[parent].link;
        }
        false
    }

    fn finish(self) -> Linked {
        let tables = &self.catalogue.tables;
        let mut linked = Linked::default();
        for placed in &self.placed {
            let listed = &tables[placed.table];
            let reference = placed.link.map(|(_, r)| &listed.references[r]);
            // Whoever refers to a table says which columns name its rows.
            let referred = self.placed.iter().find_map(|p| {
                let (parent, r) = p.link?;
                (self.placed[parent].table == placed.table).then(|| tables[p.table].references[r].key.clone())
            });
            let key = self.key(listed, reference, referred, &mut linked.parts);
            linked.choices.extend(placed.choice.iter().map(|note| (listed.name.clone(), note.clone())));
            linked.tables.push(Table {
                name: listed.name.clone(),
                path: listed.path.clone(),
                key,
                parent: reference.map(|r| r.table.clone()),
                foreign_key: reference.map(|r| r.columns.clone()).unwrap_or_default(),
                person: if reference.is_none() { listed.person.clone() } else { Vec::new() },
            });
            linked.notes.extend(placed.notes.iter().cloned());
            linked
                .notes
                .extend(reference.filter(|_| !self.catalogue.guessed).and_then(|r| assumed(listed, r)));
            linked.lookups.extend(reference.and_then(|r| bridge::lookup(self.catalogue, listed, r)));
            let read: Vec<&str> = self.placed.iter().map(|p| tables[p.table].name.as_str()).collect();
            let mut chains = Chains::new(self.catalogue, &listed.name, listed.columns.clone(), read);
            // Several columns together also say something each.
            let others = listed.references.iter().filter(|r| Some(*r) != reference && r.columns.len() == 1);
            for other in others {
                let column = format!("{}.{}", listed.name, other.columns[0]);
                linked.references.push((column, other.table.clone()));
                linked.told.extend(self.told(other));
                // What joins rows stays as it is.
                let joins = linked.tables.last().is_some_and(|t| {
                    let mut joining = t.key.iter().chain(&t.foreign_key).chain(&t.person);
                    joining.any(|c| *c == other.columns[0])
                });
                if !joins {
                    chains.follow(&other.columns[0], other, &mut linked);
                }
            }
        }
        let left: Vec<usize> = (0..tables.len())
            .filter(|&i| !self.placed.iter().any(|p| p.table == i) && tables[i].unreadable.is_none())
            .collect();
        for &table in left.iter().filter(|t| self.reached.contains(t)) {
            for reference in self.optional(table) {
                let what = not_everywhere(&tables[table].name, reference);
                let choice = format!("{}.{}", tables[table].name, reference.columns[0]);
                linked.unread.push(tables[table].name.clone());
                linked.notes.push(format!(
                    "left out, for a row must belong to somebody: {what}; take those rows out, then it hangs there \
                     with --parent {choice}"
                ));
            }
        }
        // Of tables that nothing joins to the person nobody knows whether they are about people.
        let alone = self.placed.len() == 1;
        let doubtful = left.iter().map(|&i| &tables[i]).filter(|t| alone && t.rows > 0 && !t.derived);
        let doubtful: Vec<String> = doubtful.map(|t| t.name.clone()).collect();
        if !doubtful.iter().all(|name| self.is_above_person(name)) {
            linked.unread.extend(doubtful);
        }
        let left: Vec<&str> = left.into_iter().map(|i| tables[i].name.as_str()).collect();
        if !left.is_empty() {
            linked.notes.push(format!(
                "not below {}, so not read: {}",
                linked.tables[0].name,
                left.join(", ")
            ));
        }
        for (table, why) in tables.iter().filter_map(|t| Some((&t.name, t.unreadable.as_ref()?))) {
            linked.unread.push(table.clone());
            linked.notes.push(format!("`{table}` cannot be read and is left out: {why}"));
        }
        if !self.catalogue.aside.is_empty() {
            let files = self.catalogue.aside.join(", ");
            linked.notes.push(format!("files left aside: {files}"));
        }
        linked.notes.extend(self.undecided(&linked));
        linked
    }

    /// Whether the person table refers to a table, or to one that does: what stands there is looked up, and nobody's own.
    fn is_above_person(&self, name: &str) -> bool {
        let tables = &self.catalogue.tables;
        let mut above: Vec<&str> = self.placed.iter().map(|p| tables[p.table].name.as_str()).collect();
        let mut at = 0;
        while let Some(table) = above.get(at).and_then(|name| self.catalogue.find(name)) {
            at += 1;
            for reference in &tables[table].references {
                if !above.contains(&reference.table.as_str()) {
                    above.push(&reference.table);
                }
            }
        }
        above.contains(&name)
    }

    /// The columns that name a table's rows. A number in a column that refers elsewhere would pretend to refer to some row
    /// there: rows that nobody refers to need no such key, and in others that part of a key is an attribute.
    fn key(
        &self,
        listed: &Listed,
        parent: Option<&Reference>,
        referred: Option<Vec<String>>,
        parts: &mut Vec<String>,
    ) -> Vec<String> {
        let elsewhere = |column: &&String| {
            let mut others = listed.references.iter().filter(|r| Some(*r) != parent);
            parent.is_some_and(|p| !p.columns.contains(column)) && others.any(|r| r.columns.contains(column))
        };
        match referred {
            None if listed.key.iter().any(|c| elsewhere(&c)) => Vec::new(),
            None => listed.key.clone(),
            Some(key) => {
                // People are named by nothing but their own key.
                let about_people = |column: &&String| {
                    let mut to = listed.references.iter().filter(|r| r.columns.contains(column));
                    to.any(|r| is_about_people(&r.table))
                };
                let told = key.iter().filter(|c| key.len() > 1 && elsewhere(c) && !about_people(c));
                parts.extend(told.map(|column| format!("{}.{column}", listed.name)));
                key
            }
        }
    }

    /// What a reference to a table that is not read could be replaced by.
    fn told(&self, reference: &Reference) -> Option<(String, Vec<String>)> {
        let target = &self.catalogue.tables[self.catalogue.find(&reference.table)?];
        let read = self.placed.iter().any(|p| self.catalogue.tables[p.table].name == target.name);
        let told = target.columns.iter().filter(|c| !reference.key.contains(c)).cloned();
        (!read).then(|| (target.name.clone(), told.collect()))
    }

    /// What nobody but the user can know.
    fn undecided(&self, linked: &Linked) -> Vec<String> {
        let mut notes = Vec::new();
        let person = &linked.tables[0];
        let Some(listed) = self.catalogue.find(&person.name).map(|i| &self.catalogue.tables[i]) else {
            return notes;
        };
        if self.catalogue.guessed && person.key.is_empty() && person.person.is_empty() {
            let mut note = format!(
                "not decided: what names a row of {}; each row is taken for one person, with `person = \"COLUMN\"` \
                 several rows are",
                person.name
            );
            if !listed.unnamed.is_empty() {
                note += &format!("; no value comes twice in {}", listed.unnamed.join(", "));
            }
            notes.push(note);
        }
        if linked.tables.len() == 1 && self.catalogue.tables.len() > 1 {
            let mut note = format!(
                "not decided: whether any other table belongs to {}; no column is called like a key and holds its values",
                person.name
            );
            for other in
                self.catalogue.tables.iter().filter(|t| t.name != person.name && !t.unnamed.is_empty())
            {
                note += &format!("; in {} no value comes twice in {}", other.name, other.unnamed.join(", "));
            }
            notes.push(note);
        }
        notes
    }
}
