//! Rows recoded locally, by the definition: is there any way to give every published row a row of the input, and every value
//! that stands alone a value below, none of them twice?

use std::collections::BTreeSet;

use bosket_model::hierarchy::ROOT_LABEL;
use bosket_model::policy::Role;

use crate::truth::LabelTrees;
use crate::vertices::{CLASSES, NAMES, Roles, Vertex};

/// What rows are compared by.
pub struct RowRule<'a> {
    /// Roles of the attributes.
    pub roles: &'a Roles,
    /// Their hierarchies.
    pub trees: &'a LabelTrees,
    /// Whether a `*` says no more than an empty place.
    pub counted: bool,
}

/// A row with the place of the one above it.
type Placed<'v> = (usize, &'v Vertex);

/// Places of values: a row and an attribute.
type Taken = BTreeSet<(usize, usize)>;

/// Whether a published record comes from one of the input, row by row.
pub fn rows_derive(published: &Vertex, input: &Vertex, rule: &RowRule<'_>) -> bool {
    let (out, own) = (placed(published), placed(input));
    let mut from = vec![None; out.len()];
    from[0] = Some(0);
    rule.own_derives(published, input) && rule.assign(1, (&out, &own), &mut from, rule.takes(published, 0))
}

fn placed(root: &Vertex) -> Vec<Placed<'_>> {
    fn add<'v>(vertex: &'v Vertex, above: usize, all: &mut Vec<Placed<'v>>) {
        let own = all.len();
        all.push((above, vertex));
        vertex.children.iter().for_each(|child| add(child, own, all));
    }
    let mut all = Vec::new();
    add(root, 0, &mut all);
    all
}

fn is_below(rows: &[Placed<'_>], mut at: usize, above: usize) -> bool {
    while at != 0 {
        at = rows[at].0;
        if at == above {
            return true;
        }
    }
    false
}

impl RowRule<'_> {
    fn is_quasi(&self, vertex: &Vertex, a: usize) -> bool {
        self.roles[vertex.class][a] == Role::Quasi
    }

    fn says(&self, label: &str) -> bool {
        !(self.counted && label == ROOT_LABEL)
    }

    fn covers(&self, published: &Vertex, input: &Vertex, a: usize) -> bool {
        let tree = self.trees[input.class][a].as_ref();
        match (tree, &published.values[a], &input.values[a]) {
            (_, None, _) => true,
            (Some(tree), Some(label), Some(value)) => tree.chain(value).contains(label),
            (Some(_), Some(label), None) => label == ROOT_LABEL,
            (None, label, value) => label == value,
        }
    }

    fn own_derives(&self, published: &Vertex, input: &Vertex) -> bool {
        let beside = |vertex: &Vertex| -> Vec<(usize, String)> {
            let own = (0..NAMES.len()).filter(|&a| !self.is_quasi(vertex, a));
            own.filter_map(|a| Some((a, vertex.values[a].clone()?))).collect()
        };
        published.class == input.class
            && (0..NAMES.len()).all(|a| !self.is_quasi(published, a) || self.covers(published, input, a))
            && (beside(published).is_empty() || beside(published) == beside(input))
    }

    fn takes(&self, published: &Vertex, row: usize) -> Taken {
        let told = |&a: &usize| {
            self.is_quasi(published, a) && published.values[a].as_ref().is_some_and(|label| self.says(label))
        };
        (0..NAMES.len()).filter(told).map(|a| (row, a)).collect()
    }

    /// The attribute of a row that is one quasi value and nothing else.
    fn only_value(&self, vertex: &Vertex) -> Option<usize> {
        let own: Vec<usize> = (0..NAMES.len()).filter(|&a| vertex.values[a].is_some()).collect();
        let alone = own.len() == 1 && self.is_quasi(vertex, own[0]) && vertex.children.is_empty();
        alone.then(|| own[0])
    }

    /// Tries everything for a row, and then for those behind it.
    fn assign(
        &self,
        at: usize,
        (out, own): (&[Placed<'_>], &[Placed<'_>]),
        from: &mut Vec<Option<usize>>,
        taken: Taken,
    ) -> bool {
        let Some(&(above, row)) = out.get(at) else { return true };
        let under = from[above].expect("what is above comes first, and values have nothing below");
        let is_child = CLASSES[row.class].1 == out[above].1.class;
        let value = self.only_value(row);
        // An empty place makes a row where rows of its class stand.
        let empty = value.is_some_and(|a| !self.says(row.values[a].as_deref().unwrap_or_default()));
        (1..own.len()).any(|i| {
            let fits = match value.filter(|_| !(empty && is_child)) {
                Some(a) => {
                    let there = if is_child { own[i].0 == under } else { is_below(own, i, under) };
                    there && own[i].1.class == row.class && self.covers(row, own[i].1, a)
                }
                None => {
                    is_child
                        && own[i].0 == under
                        && !from.contains(&Some(i))
                        && self.own_derives(row, own[i].1)
                }
            };
            let more = match value {
                Some(a) if !(empty && is_child) => Taken::from([(i, a)]),
                _ => self.takes(row, i),
            };
            if !fits || !more.is_disjoint(&taken) {
                return false;
            }
            from[at] = (value.is_none() || (empty && is_child)).then_some(i);
            let found = self.assign(at + 1, (out, own), from, taken.union(&more).copied().collect());
            if !found {
                from[at] = None;
            }
            found
        })
    }
}
