//! The tables as a tree, and how rows are joined: by keys in the source, by fresh numbers in a publication.
//!
//! In a publication a row's number stands in those columns of its key that neither join it to its parent nor are
//! published as attributes. Where the key has no such column and somebody refers to the row, a column `<table>_row` is
//! added. Columns that hold a parent's key repeat what the parent has there. A row that was moved up has nothing in
//! them; added columns `<ancestor>_<key>` hold the number of the row it still belongs to. Another reference to the person
//! repeats the person's number.

use std::collections::BTreeSet;

use bosket_model::binding::effective_role;
use bosket_model::hierarchy::{Build, HierarchySpec};
use bosket_model::policy::{AttributePolicy, Condition, Role, Source, Undeclared};

/// What becomes of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Published, as text if it may be coarsened.
    Published {
        /// Its values may be labels of a hierarchy.
        coarsened: bool,
    },
    /// Removed.
    Removed,
    /// Refers to something; kept, but empty: no guarantee counts what the reference tells. Where it names the person that
    /// the row belongs to, and in every row, it tells nothing new, and repeats the person's number.
    Emptied,
    /// The policy does not name it.
    Undeclared,
}

/// A table in the tree.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its name; `person` for people who are only named in rows.
    pub(crate) name: String,
    /// Its place among the source's tables; none for people who are only named in rows.
    pub(crate) table: Option<usize>,
    /// The table above; none for the person.
    pub(crate) parent: Option<usize>,
    /// The columns that name a row.
    pub(crate) key: Vec<String>,
    /// The columns that hold the parent's key.
    pub(crate) foreign_key: Vec<String>,
    /// The columns that hold a row's number in a publication.
    pub(crate) number: Vec<String>,
    /// The number stands in a column that the source does not have.
    pub(crate) added: bool,
}

/// The tables as a tree; parents come before children, 0 is the person.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The tables.
    pub(crate) nodes: Vec<Node>,
    attributes: Vec<AttributePolicy>,
    /// What happens to columns that the policy does not name.
    pub(crate) undeclared: Undeclared,
    /// References that repeat the person's number, as rows have shown: table and column.
    pub(crate) repeating: Vec<(usize, String)>,
    /// The paths of columns that are asked although they are not published: by a condition, or by a hierarchy.
    asked: BTreeSet<String>,
}

impl Shape {
    /// The shape of a source whose tables form a tree, as the policy's rules have checked.
    pub(crate) fn new(source: &Source, attributes: &[AttributePolicy], undeclared: Undeclared) -> Self {
        let above = attributes.iter().flat_map(|a| match &a.hierarchy {
            Some(HierarchySpec::Build(Build::From { paths })) => paths.as_slice(),
            _ => &[],
        });
        let condition = source.selection.condition.iter().flat_map(Condition::paths);
        let asked = above.cloned().chain(condition.map(str::to_owned)).collect();
        let mut shape = Shape {
            nodes: Vec::new(),
            attributes: attributes.to_vec(),
            undeclared,
            repeating: Vec::new(),
            asked,
        };
        let person = source.tables.iter().find(|t| t.parent.is_none());
        if let Some(person) = person.filter(|p| !p.person.is_empty()) {
            shape.nodes.push(Node {
                name: "person".to_owned(),
                table: None,
                parent: None,
                key: person.person.clone(),
                foreign_key: Vec::new(),
                number: person.person.clone(),
                added: false,
            });
        }
        // In the policy's order, but parents first.
        while let Some((i, table, parent)) = source.tables.iter().enumerate().find_map(|(i, table)| {
            let known = |name: &str| shape.nodes.iter().position(|n| n.table.is_some() && n.name == name);
            let parent = match &table.parent {
                Some(parent) => Some(known(parent)?),
                None => (!table.person.is_empty()).then_some(0),
            };
            known(&table.name).is_none().then_some((i, table, parent))
        }) {
            shape.nodes.push(Node {
                name: table.name.clone(),
                table: Some(i),
                parent,
                key: table.key.clone(),
                foreign_key: if table.parent.is_some() { &table.foreign_key } else { &table.person }.clone(),
                number: Vec::new(),
                added: false,
            });
        }
        for i in 0..shape.nodes.len() {
            shape.find_number(i);
        }
        shape
    }

    /// The same with references that repeat the person's number.
    pub(crate) fn repeating(self, repeating: Vec<(usize, String)>) -> Self {
        Shape { repeating, ..self }
    }

    fn find_number(&mut self, i: usize) {
        let node = &self.nodes[i];
        if node.table.is_none() {
            return;
        }
        let free = |column: &&String| {
            !node.foreign_key.contains(column)
                && !matches!(self.fate(&node.name, column), Fate::Published { .. })
        };
        let free: Vec<String> = node.key.iter().filter(free).cloned().collect();
        // A person without any row left is told by a row without a number.
        let needed = self.nodes.iter().any(|n| n.parent == Some(i)) || self.grouped() == Some(i);
        let added = free.is_empty() && needed;
        let number = if added { vec![format!("{}_row", node.name)] } else { free };
        (self.nodes[i].number, self.nodes[i].added) = (number, added);
    }

    /// The table whose rows are grouped by person, if one is.
    pub(crate) fn grouped(&self) -> Option<usize> {
        self.nodes.first().filter(|n| n.table.is_none()).map(|_| 1)
    }

    /// The attributes that the policy declares in a table: column and what becomes of it.
    pub(crate) fn declared<'a>(&'a self, table: &'a str) -> impl Iterator<Item = (&'a str, Fate)> {
        self.attributes.iter().filter_map(move |a| {
            let column = a.structure.as_ref()?.name.first()?;
            let own = a.path.len() == table.len() + 1 + column.len() && a.path.starts_with(table);
            own.then(|| (column.as_str(), self.fate_of(a)))
        })
    }

    /// What becomes of a column.
    pub(crate) fn fate(&self, table: &str, column: &str) -> Fate {
        self.declared(table).find(|(c, _)| *c == column).map_or(Fate::Undeclared, |(_, fate)| fate)
    }

    fn fate_of(&self, attribute: &AttributePolicy) -> Fate {
        match effective_role(&self.attributes, attribute) {
            Role::Identifying | Role::Drop => Fate::Removed,
            // What it says is said by the label of the attribute it follows.
            Role::Quasi if attribute.follows.is_some() => Fate::Removed,
            Role::Quasi => Fate::Published { coarsened: true },
            Role::Sensitive | Role::Insensitive | Role::Pseudonym => Fate::Published { coarsened: false },
            Role::Key => Fate::Emptied,
        }
    }

    /// Whether a column is read although it is not published.
    pub(crate) fn is_asked(&self, table: &str, column: &str) -> bool {
        self.asked.contains(&format!("{table}.{column}"))
    }

    /// Whether the source joins rows by this column.
    pub(crate) fn joins(&self, node: usize, column: &str) -> bool {
        let node = &self.nodes[node];
        node.key.iter().chain(&node.foreign_key).any(|c| c == column)
    }

    /// Whether a column refers to something and may repeat the person's number.
    pub(crate) fn may_repeat(&self, node: usize, column: &str) -> bool {
        let person = &self.nodes[0];
        let moved = || self.beyond(node).into_iter().flat_map(|ancestor| self.moved_link(ancestor));
        node != 0
            && person.key.len() == 1
            && person.number == person.key
            && self.fate(&self.nodes[node].name, column) == Fate::Emptied
            && !self.joins(node, column)
            && !moved().any(|name| name == column)
    }

    /// Whether the source calls the person's key so where it joins tables.
    pub(crate) fn names_the_person(&self, column: &str) -> bool {
        let joining = self.nodes.iter().filter(|n| n.parent == Some(0)).flat_map(|n| &n.foreign_key);
        self.nodes[0].key.iter().chain(joining).any(|name| name == column)
    }

    /// The tables above a table's parent, nearest first: where its rows can be moved to.
    pub(crate) fn beyond(&self, node: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = self.nodes[node].parent.and_then(|p| self.nodes[p].parent);
        while let Some(above) = at {
            found.push(above);
            at = self.nodes[above].parent;
        }
        found
    }

    /// The columns in which a published row holds the number of its parent.
    pub(crate) fn link(&self, node: usize) -> Vec<String> {
        let node = &self.nodes[node];
        let Some(parent) = node.parent.map(|p| &self.nodes[p]) else {
            return Vec::new();
        };
        let holds = |column: &String| match parent.key.iter().position(|k| k == column) {
            Some(i) if !parent.added => node.foreign_key[i].clone(),
            _ => column.clone(),
        };
        parent.number.iter().map(holds).collect()
    }

    /// The columns in which a moved row holds the number of an ancestor.
    pub(crate) fn moved_link(&self, ancestor: usize) -> Vec<String> {
        let node = &self.nodes[ancestor];
        if node.added {
            return node.number.clone();
        }
        node.number.iter().map(|column| format!("{}_{column}", node.name)).collect()
    }

    /// The key of the class of moved rows in a vertex of an ancestor that has these attributes: the table's name, or
    /// where that is taken, the tables on the way.
    pub(crate) fn moved_name(&self, node: usize, ancestor: usize, attributes: &[&str]) -> Vec<String> {
        if !attributes.contains(&self.nodes[node].name.as_str()) {
            return vec![self.nodes[node].name.clone()];
        }
        vec![self.way(node, ancestor)]
    }

    /// The names from below an ancestor down to a table, joined with dots.
    fn way(&self, node: usize, ancestor: usize) -> String {
        let mut names = Vec::new();
        let mut at = Some(node);
        while let Some(i) = at.filter(|&i| i != ancestor) {
            names.push(self.nodes[i].name.as_str());
            at = self.nodes[i].parent;
        }
        names.reverse();
        names.join(".")
    }

    /// The table whose rows the vertices of a class are, found under `name` in a vertex of `above`.
    pub(crate) fn class(&self, above: usize, name: &[String]) -> Option<usize> {
        let below = |&i: &usize| self.is_below(i, above);
        let name = name.join(".");
        let all = || (0..self.nodes.len()).filter(below);
        all()
            .find(|&i| self.nodes[i].parent == Some(above) && self.nodes[i].name == name)
            .or_else(|| all().find(|&i| self.way(i, above) == name))
            .or_else(|| all().find(|&i| self.nodes[i].name == name))
    }

    fn is_below(&self, node: usize, above: usize) -> bool {
        let mut at = self.nodes[node].parent;
        while let Some(parent) = at.filter(|&p| p != above) {
            at = self.nodes[parent].parent;
        }
        at == Some(above)
    }
}
