//! Which columns of a table are read, as what, and under which name.

use bosket_model::diag::nearest;
use bosket_model::policy::{Source, Undeclared};
use bosket_model::{Diagnostic, Place, Result};

use super::backend::{At, Backend, Column, ColumnKind};
use super::lookup::{self, Described};
use super::shape::{Fate, Shape};
use super::trouble::Trouble;

/// What the tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Private data that a policy describes.
    Input,
    /// A publication that a policy describes: joined by numbers, with moved rows.
    Publication,
    /// Data that no policy describes yet: everything is read.
    Look,
    /// Data that is to be written down in another way: keys are read as values too.
    Whole,
}

/// The place of a named column, or a complaint.
pub(crate) fn position(columns: &[Column], name: &str, place: &str, trouble: &mut Trouble) -> Option<usize> {
    let found = columns.iter().position(|c| c.name == name);
    if found.is_none() {
        trouble.unfit(vanished(columns, name, place));
    }
    found
}

fn vanished(columns: &[Column], name: &str, place: &str) -> Diagnostic {
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the columns are {}", names.join(", ")),
    };
    Diagnostic::error(format!("the table has no column `{name}`")).at(Place::source(place)).help(help)
}

/// A type that no attribute can hold.
pub(crate) fn unrepresentable(place: Place, table: &str, column: &str, name: &str) -> Diagnostic {
    let message = format!("`{table}.{column}` has the type {name}, which no attribute can hold");
    let help = "make it `identifying`, or leave it out with `undeclared = \"drop\"`; or convert it to text in a view";
    Diagnostic::error(message).at(place).help(help)
}

/// Where the values of a column come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The table itself.
    Own(usize),
    /// A lookup, by number, and which of its values.
    Lookup(usize, usize),
}

/// A lookup of this table.
#[derive(Debug)]
pub(crate) struct Step {
    /// Its place among the source's lookups.
    pub(crate) lookup: usize,
    pub(crate) table: Described,
    /// The cells that are looked up.
    pub(crate) cells: Vec<usize>,
}

/// What becomes a value.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    /// The cell it is read from; none if only the name counts.
    pub(crate) cell: Option<usize>,
}

/// How a table is read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// All columns in their order, those found by lookups in the place of those looked up.
    pub(crate) columns: Vec<Column>,
    /// The table's own columns that are read; a cell is a place among them, then among those that lookups add.
    pub(crate) wanted: Vec<usize>,
    /// The table's own columns by which its rows can be ordered.
    pub(crate) order: Vec<usize>,
    pub(crate) steps: Vec<Step>,
    pub(crate) attributes: Vec<Attribute>,
    /// The cells of the key; empty if nobody asks for it.
    pub(crate) key: Vec<usize>,
    /// The cells that hold the parent's key.
    pub(crate) link: Vec<usize>,
    /// The cells that hold an ancestor's number, for tables that the row may have been moved to.
    pub(crate) moved: Vec<(usize, Vec<usize>)>,
    /// References that a publication must have emptied: name and cell.
    pub(crate) empty: Vec<(String, usize)>,
    /// References that may repeat the person's key, or number in a publication: name and cell.
    pub(crate) second: Vec<(String, usize)>,
    /// Of a publication all columns but those that it must not have, which are judged elsewhere: name and cell.
    pub(crate) accounted: Vec<(String, usize)>,
}

/// Finds out how a table is read. None if it cannot be; `trouble` has been told why.
pub(crate) fn plan(
    backend: &mut dyn Backend,
    source: &Source,
    shape: &Shape,
    node: usize,
    mode: Mode,
    trouble: &mut Trouble,
) -> Result<Option<Reading>> {
    let Some(table) = shape.nodes[node].table.map(|t| &source.tables[t]) else {
        return Ok(Some(Reading::default()));
    };
    let at = At { name: &table.name, path: table.path.as_deref() };
    let own = backend.describe(&at)?;
    let mut planner = Planner {
        order: (0..own.len()).collect(),
        all: own.iter().enumerate().map(|(i, c)| (c.clone(), Origin::Own(i))).collect(),
        wanted: Vec::new(),
        steps: Vec::new(),
        place: backend.place(&at),
    };
    if mode != Mode::Publication {
        for (i, lookup) in source.lookups.iter().enumerate().filter(|(_, l)| l.table == table.name) {
            let Some(table) = lookup::describe(backend, lookup, trouble)? else {
                return Ok(None);
            };
            let Some(looked_up) = planner.all_columns(&lookup.columns, trouble) else {
                return Ok(None);
            };
            planner.replace(shape, node, &looked_up, i, &table.columns);
            planner.steps.push((looked_up, Step { lookup: i, table, cells: Vec::new() }));
        }
    }
    Ok(planner.finish(shape, node, mode, trouble))
}

struct Planner {
    /// The table's own columns, then those that lookups bring.
    all: Vec<(Column, Origin)>,
    /// Those that are left, in their order.
    order: Vec<usize>,
    wanted: Vec<usize>,
    steps: Vec<(Vec<usize>, Step)>,
    place: String,
}

impl Planner {
    fn find(&self, name: &str) -> Option<usize> {
        // What a lookup brings may have the name of what it replaces.
        self.order
            .iter()
            .copied()
            .find(|&i| self.all[i].0.name == name)
            .or_else(|| self.all.iter().position(|(c, _)| c.name == name))
    }

    fn all_columns(&self, names: &[String], trouble: &mut Trouble) -> Option<Vec<usize>> {
        let found: Vec<Option<usize>> = names.iter().map(|n| self.find(n)).collect();
        for (name, _) in names.iter().zip(&found).filter(|(_, found)| found.is_none()) {
            let columns: Vec<Column> = self.order.iter().map(|&i| self.all[i].0.clone()).collect();
            trouble.unfit(vanished(&columns, name, &self.place));
        }
        found.into_iter().collect()
    }

    /// Puts what a lookup finds in the place of what it looks up.
    fn replace(
        &mut self,
        shape: &Shape,
        node: usize,
        looked_up: &[usize],
        lookup: usize,
        columns: &[Column],
    ) {
        let first = looked_up.iter().filter_map(|i| self.order.iter().position(|o| o == i)).min();
        let at = first.unwrap_or(self.order.len());
        let new = self.all.len();
        let found = columns.iter().enumerate().map(|(v, c)| (c.clone(), Origin::Lookup(lookup, v)));
        self.all.extend(found);
        self.order.splice(at..at, new..self.all.len());
        let all = &self.all;
        self.order.retain(|i| !looked_up.contains(i) || shape.joins(node, &all[*i].0.name));
    }

    /// The cell in which a column will stand. Own columns must all be asked for before the first lookup's.
    fn own(&mut self, i: usize) {
        if let Origin::Own(column) = self.all[i].1
            && !self.wanted.contains(&column)
        {
            self.wanted.push(column);
        }
    }

    fn cell(&self, i: usize) -> usize {
        match self.all[i].1 {
            Origin::Own(column) => self.wanted.iter().position(|&w| w == column).expect("asked for before"),
            Origin::Lookup(lookup, value) => {
                let before = self.steps.iter().take_while(|(_, s)| s.lookup != lookup);
                self.wanted.len() + before.map(|(_, s)| s.table.columns.len()).sum::<usize>() + value
            }
        }
    }

    fn finish(mut self, shape: &Shape, node: usize, mode: Mode, trouble: &mut Trouble) -> Option<Reading> {
        let own = &shape.nodes[node];
        let (key, link) = match mode {
            Mode::Publication => (own.number.clone(), shape.link(node)),
            _ => (own.key.clone(), own.foreign_key.clone()),
        };
        let key = self.all_columns(&key, trouble);
        let link = self.all_columns(&link, trouble);
        let mut moved = Vec::new();
        if mode == Mode::Publication {
            for ancestor in shape.beyond(node) {
                let columns: Option<Vec<usize>> =
                    shape.moved_link(ancestor).iter().map(|name| self.find(name)).collect();
                moved.extend(columns.filter(|c| !c.is_empty()).map(|columns| (ancestor, columns)));
            }
        }
        let joining: Vec<usize> = moved.iter().flat_map(|(_, c)| c).copied().collect();
        let attributes = self.attributes(shape, node, mode, &joining, trouble)?;
        let (key, link) = (key?, link?);
        let emptied = |i: &usize| {
            let name = &self.all[*i].0.name;
            shape.fate(&own.name, name) == Fate::Emptied && !shape.joins(node, name) && !joining.contains(i)
        };
        let publication = mode == Mode::Publication;
        let may_repeat = |i: &usize| {
            let column = &self.all[*i].0;
            let readable = !matches!(column.form, ColumnKind::Foreign(_));
            (publication || (mode == Mode::Input && readable)) && shape.may_repeat(node, &column.name)
        };
        let second: Vec<usize> = self.order.iter().copied().filter(may_repeat).collect();
        let empty = self.order.iter().copied().filter(|i| publication && emptied(i) && !second.contains(i));
        let empty: Vec<usize> = empty.collect();
        let mut used: Vec<usize> = key.iter().chain(&link).chain(&joining).copied().collect();
        used.extend(attributes.iter().filter(|a| a.2).map(|a| a.1));
        used.extend(empty.iter().chain(&second));
        let known = |i: &usize| {
            let loaded = attributes.iter().any(|a| a.1 == *i && a.2);
            !loaded || matches!(shape.fate(&own.name, &self.all[*i].0.name), Fate::Published { .. })
        };
        let accounted: Vec<usize> = self.order.iter().copied().filter(|i| publication && known(i)).collect();
        used.extend(&accounted);
        used.extend(self.steps.iter().flat_map(|(looked_up, _)| looked_up.iter().copied()));
        for i in used {
            self.own(i);
        }
        let cells = |columns: &[usize]| -> Vec<usize> { columns.iter().map(|&i| self.cell(i)).collect() };
        let named = |columns: &[usize]| -> Vec<(String, usize)> {
            columns.iter().map(|&i| (self.all[i].0.name.clone(), self.cell(i))).collect()
        };
        let order = key.iter().filter_map(|&i| match self.all[i].1 {
            Origin::Own(column) => Some(column),
            Origin::Lookup(..) => None,
        });
        Some(Reading {
            order: order.collect(),
            attributes: attributes
                .into_iter()
                .map(|(name, i, load)| Attribute { name, cell: load.then(|| self.cell(i)) })
                .collect(),
            key: cells(&key),
            link: cells(&link),
            moved: moved.into_iter().map(|(ancestor, columns)| (ancestor, cells(&columns))).collect(),
            empty: named(&empty),
            second: named(&second),
            accounted: named(&accounted),
            columns: self.order.iter().map(|&i| self.all[i].0.clone()).collect(),
            steps: {
                let looked_up: Vec<Vec<usize>> = self.steps.iter().map(|(l, _)| cells(l)).collect();
                self.steps.into_iter().zip(looked_up).map(|((_, s), cells)| Step { cells, ..s }).collect()
            },
            wanted: self.wanted,
        })
    }

    /// Name, column and whether its values are read, of every attribute.
    fn attributes(
        &self,
        shape: &Shape,
        node: usize,
        mode: Mode,
        moved: &[usize],
        trouble: &mut Trouble,
    ) -> Option<Vec<(String, usize, bool)>> {
        let own = &shape.nodes[node];
        let mut fits = true;
        for (column, _) in shape.declared(&own.name).filter(|_| mode == Mode::Input) {
            if !self.order.iter().any(|&i| self.all[i].0.name == column) {
                let columns: Vec<Column> = self.order.iter().map(|&i| self.all[i].0.clone()).collect();
                trouble.unfit(vanished(&columns, column, &self.place));
                fits = false;
            }
        }
        let mut found = Vec::new();
        for &i in &self.order {
            let column = &self.all[i].0;
            let added = mode == Mode::Publication && self.added(shape, node, column);
            let joins = shape.joins(node, &column.name) || moved.contains(&i) || added;
            let fate = shape.fate(&own.name, &column.name);
            let load = match (mode, fate) {
                (Mode::Look, fate) if joins && !matches!(fate, Fate::Published { .. }) => continue,
                // What joins a row to the one above stands there already, unless nobody is there.
                (Mode::Whole, _)
                    if own.foreign_key.contains(&column.name)
                        && own.parent.is_some_and(|p| shape.nodes[p].table.is_some()) =>
                {
                    continue;
                }
                (Mode::Whole, _) => true,
                (Mode::Look, _) => !matches!(column.form, ColumnKind::Foreign(_)),
                (_, Fate::Published { .. }) => true,
                (Mode::Input, _) if shape.is_asked(&own.name, &column.name) => true,
                (_, Fate::Undeclared) if joins => continue,
                (Mode::Publication, _) if joins => continue,
                (_, Fate::Emptied) => false,
                // Whatever a publication still holds is looked at.
                (Mode::Publication, _) => true,
                (Mode::Input, Fate::Removed) => false,
                (Mode::Input, Fate::Undeclared) if shape.undeclared == Undeclared::Drop => continue,
                (Mode::Input, Fate::Undeclared) => false,
            };
            if let (true, ColumnKind::Foreign(name)) = (load, &column.form) {
                trouble.unfit(unrepresentable(Place::source(&self.place), &own.name, &column.name, name));
                fits = false;
            }
            found.push((column.name.clone(), i, load));
        }
        fits.then_some(found)
    }

    /// Whether a publication has added the column to hold a number.
    fn added(&self, shape: &Shape, node: usize, column: &Column) -> bool {
        let own = &shape.nodes[node];
        let above = own.parent.map(|p| &shape.nodes[p]);
        [Some(own), above].into_iter().flatten().any(|n| n.added && n.number.contains(&column.name))
    }
}
