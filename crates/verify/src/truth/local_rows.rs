//! Local recoding of rows that stand for themselves: every value has a label of its own that covers it.
//!
//! As in `rows`, a published row with all that hangs below it must come from one row of the input, parts of it left out; a
//! value that was parted from what was above it stands alone, and takes the place of a value below that nothing else takes
//! (`one_to_one`). What a value became cannot be told from the others, so each is compared with the hierarchy.

use bosket_model::Result;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::{Missing, Payload};

use super::local::{Known, Vertex, VertexTrees, covers};
use super::one_to_one::{self, derives};
use super::{Comparison, Paired, assign};

pub(super) fn compare(
    c: &Comparison<'_>,
    payload: Payload,
    missing: Missing,
    observer: &dyn Observer,
) -> Result<Paired> {
    let trees = match VertexTrees::new(c, observer)? {
        Ok(trees) => trees,
        Err(untruths) => return Ok(untruths.into()),
    };
    let counted = missing == Missing::Counted;
    let reading = Reading { hierarchies: c.hierarchies, binding: c.input.binding, payload, counted };
    assign(c, observer, |p, i| derives(&trees.published[p], &trees.input[i], &reading, observer))
}

struct Reading<'a> {
    hierarchies: &'a [Option<Hierarchy>],
    binding: &'a Binding,
    payload: Payload,
    /// Whether a `*` says no more than an empty place.
    counted: bool,
}

impl Reading<'_> {
    fn says(&self, (_, label): &(usize, Known)) -> bool {
        !(self.counted && matches!(label, Known::Node(NodeId::ROOT)))
    }
}

impl one_to_one::Row for Vertex {
    fn home(&self) -> usize {
        self.home
    }
    fn below(&self) -> &[Self] {
        &self.children
    }
}

impl one_to_one::Reading<Vertex> for Reading<'_> {
    fn own_derives(&self, published: &Vertex, input: &Vertex) -> bool {
        published.home == input.home
            && published.invents_nothing(input)
            && published.quasi.iter().all(|label| self.covers(published, label.0 as u32, input))
            && (published.beside.is_empty()
                || (published.beside == input.beside && self.payload == Payload::Keep))
            && published.companions.iter().all(|said| input.companions.contains(said))
    }

    fn takes(&self, published: &Vertex) -> Vec<u32> {
        published.quasi.iter().filter(|label| self.says(label)).map(|label| label.0 as u32).collect()
    }

    fn only_value(&self, row: &Vertex) -> Option<u32> {
        let alone = row.beside.is_empty() && row.companions.is_empty() && row.children.is_empty();
        match row.quasi.as_slice() {
            [(declared, _)] if alone => Some(*declared as u32),
            _ => None,
        }
    }

    fn covers(&self, published: &Vertex, key: u32, input: &Vertex) -> bool {
        let of = |row: &'_ Vertex| row.quasi.iter().position(|q| q.0 == key as usize);
        let value = of(input).map(|at| &input.quasi[at].1);
        of(published)
            .is_some_and(|at| covers(&published.quasi[at].1, value, self.hierarchies[key as usize].as_ref()))
    }

    fn is_child(&self, home: usize, above: usize) -> bool {
        self.binding.homes.get(home).is_some_and(|home| home.parent == Some(above))
    }

    fn same(&self, _: &Vertex, _: &Vertex) -> bool {
        false
    }
}
