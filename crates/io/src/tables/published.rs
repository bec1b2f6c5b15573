//! The tables of a publication: their columns, where each cell comes from, and the keys that hold.

use bosket_model::{Diagnostic, Failure, Fault, Result};

use super::backend::Column;
use super::shape::{Fate, Shape};

/// Where the cells of a published column come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An attribute, by its place among those of the table.
    Value(usize),
    /// The row's own number.
    Number,
    /// The parent's cell in a column, by place.
    Parent(usize),
    /// The number of an ancestor that the row has been moved to.
    Moved(usize),
    /// The number of the person that the row belongs to.
    Person,
    /// Nowhere: the column is kept, empty.
    Empty,
}

/// How a published column is typed where columns have types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// As in the source.
    As(String),
    /// Text.
    Text,
    /// A whole number.
    Number,
}

/// A column of a publication.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) typed: Typed,
}

/// A foreign key of a publication: columns, the table they refer to, its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    pub(crate) columns: Vec<String>,
    pub(crate) node: usize,
    pub(crate) referenced: Vec<String>,
}

/// A table of a publication.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Published>,
    /// The names of the attributes, in the order of the columns.
    pub(crate) values: Vec<String>,
    /// The columns of the primary key; empty if the table has none.
    pub(crate) primary: Vec<String>,
    /// Columns that others refer to and that are not the primary key.
    pub(crate) unique: Vec<String>,
    pub(crate) foreign: Vec<Foreign>,
}

/// What the rows of a table need beside their own columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    /// The ancestors that rows have been moved to.
    pub(crate) moved: Vec<usize>,
    /// A person has no row in it but one that only names the person.
    pub(crate) placeholders: bool,
}

impl Needs {
    /// What other rows of the table need, too.
    pub(crate) fn join(&mut self, other: Needs) {
        self.moved.extend(other.moved);
        self.placeholders |= other.placeholders;
    }

    /// Each ancestor once, the nearest first.
    pub(crate) fn nearest_first(&mut self, shape: &Shape, node: usize) {
        self.moved.sort_by_key(|a| shape.beyond(node).iter().position(|b| b == a));
        self.moved.dedup();
    }
}

/// The tables of a publication of this shape; people who are only named in rows are a table without columns of their own.
pub(crate) fn tables(shape: &Shape, columns: &[Vec<Column>], needs: &[Needs]) -> Result<Vec<Table>> {
    let mut tables: Vec<Table> = Vec::new();
    for node in 0..shape.nodes.len() {
        let mut table = Table::default();
        if shape.nodes[node].table.is_none() {
            for name in &shape.nodes[node].key {
                table.push(name, Origin::Number, Typed::Number);
            }
        } else {
            own_columns(&mut table, shape, node, &columns[node], &tables);
            added_columns(&mut table, shape, node, &needs[node], &tables)?;
            keys(&mut table, shape, node, &needs[node]);
        }
        tables.push(table);
    }
    for node in 0..tables.len() {
        let foreign = foreign_keys(shape, &tables, node, &needs[node]);
        for key in &foreign {
            let target = &mut tables[key.node];
            if key.referenced != target.primary {
                target.unique.clone_from(&key.referenced);
            }
        }
        tables[node].foreign = foreign;
    }
    Ok(tables)
}

impl Table {
    fn push(&mut self, name: &str, origin: Origin, typed: Typed) {
        self.columns.push(Published { name: name.to_owned(), origin, typed });
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }
}

fn own_columns(table: &mut Table, shape: &Shape, node: usize, columns: &[Column], above: &[Table]) {
    let own = &shape.nodes[node];
    for column in columns {
        let fate = shape.fate(&own.name, &column.name);
        if let Fate::Published { coarsened } = fate {
            let typed = if coarsened { Typed::Text } else { Typed::As(column.declared.clone()) };
            table.push(&column.name, Origin::Value(table.values.len()), typed);
            table.values.push(column.name.clone());
        } else if own.number.contains(&column.name) {
            table.push(&column.name, Origin::Number, Typed::Number);
        } else if let Some((i, parent)) =
            own.foreign_key.iter().position(|c| *c == column.name).zip(own.parent)
        {
            // The columns of a parent's key are all published.
            let key = &shape.nodes[parent].key[i];
            if let Some(at) = above[parent].position(key) {
                table.push(&column.name, Origin::Parent(at), above[parent].columns[at].typed.clone());
            }
        } else if shape.repeating.iter().any(|(n, name)| *n == node && *name == column.name) {
            table.push(&column.name, Origin::Person, Typed::Number);
        } else if fate == Fate::Emptied {
            table.push(&column.name, Origin::Empty, Typed::As(column.declared.clone()));
        }
    }
}

fn added_columns(
    table: &mut Table,
    shape: &Shape,
    node: usize,
    needs: &Needs,
    above: &[Table],
) -> Result<()> {
    let own = &shape.nodes[node];
    let mut added: Vec<(String, Origin)> = Vec::new();
    if own.added {
        added.extend(own.number.iter().map(|name| (name.clone(), Origin::Number)));
    }
    if let Some(parent) = own.parent.filter(|&p| shape.nodes[p].added) {
        for name in &shape.nodes[parent].number {
            if let Some(at) = above[parent].position(name) {
                added.push((name.clone(), Origin::Parent(at)));
            }
        }
    }
    for &ancestor in &needs.moved {
        added.extend(shape.moved_link(ancestor).into_iter().map(|name| (name, Origin::Moved(ancestor))));
    }
    for (name, origin) in added {
        match table.position(&name) {
            None => table.push(&name, origin, Typed::Number),
            // A reference that is kept empty has room for it.
            Some(at) if table.columns[at].origin == Origin::Empty => {
                table.columns[at].origin = origin;
                table.columns[at].typed = Typed::Number;
            }
            Some(_) => {
                let what = format!("`{}` needs an added column `{name}`, but has one of that name", own.name);
                let help = "nothing was published; rename the column in a view or in the file";
                return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)));
            }
        }
    }
    Ok(())
}

fn keys(table: &mut Table, shape: &Shape, node: usize, needs: &Needs) {
    let own = &shape.nodes[node];
    if own.number.is_empty() || needs.placeholders {
        return;
    }
    let published = |name: &String| matches!(shape.fate(&own.name, name), Fate::Published { .. });
    let kept = |name: &&String| {
        own.number.contains(name)
            || (needs.moved.is_empty() && own.foreign_key.contains(name) && !published(name))
    };
    table.primary = own.key.iter().filter(kept).cloned().collect();
    if own.added {
        table.primary.clone_from(&own.number);
    }
}

fn foreign_keys(shape: &Shape, tables: &[Table], node: usize, needs: &Needs) -> Vec<Foreign> {
    let own = &shape.nodes[node];
    let mut found = Vec::new();
    if let Some(parent) = own.parent.filter(|&p| shape.nodes[p].table.is_some()) {
        let above = &shape.nodes[parent];
        let repeated = |name: &String| {
            let at = tables[node].position(name);
            at.is_some_and(|at| matches!(tables[node].columns[at].origin, Origin::Parent(_)))
        };
        // The whole key where it is still one, else the number alone.
        let whole = tables[parent].primary == above.key && own.foreign_key.iter().all(repeated);
        let (columns, referenced) = if whole {
            (own.foreign_key.clone(), above.key.clone())
        } else {
            (shape.link(node), above.number.clone())
        };
        found.push(Foreign { columns, node: parent, referenced });
    }
    for &ancestor in needs.moved.iter().filter(|&&a| shape.nodes[a].table.is_some()) {
        let referenced = shape.nodes[ancestor].number.clone();
        found.push(Foreign { columns: shape.moved_link(ancestor), node: ancestor, referenced });
    }
    found
}
