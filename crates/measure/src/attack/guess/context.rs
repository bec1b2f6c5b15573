//! What else a record shows beside a cell, as an attacker reads it.

use bosket_model::binding::Declared;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::policy::Role;
use bosket_model::{AttributeId, MISSING};
use rustc_hash::FxHashMap;

use crate::loss::Side;

/// Most labels of a record that are looked at beside one cell, the first in the record's order.
const MOST: usize = 64;

/// A label that a record shows somewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub(super) vertex: usize,
    pub(super) declared: usize,
    /// Its number, for each attribute and text another one.
    text: u32,
    node: Option<NodeId>,
}

/// Something that may be seen beside a cell: a label itself, or some label at or below a node of a hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Seen {
    Label(u32),
    AtOrBelow(usize, NodeId),
}

/// What is seen beside a cell, each thing by its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Beside {
    /// The labels themselves, as knowledge of the person would name them.
    pub(super) labels: Vec<u32>,
    /// The same of labels in the cell's own row, and in those above and below it: these say most about the cell. Under a
    /// hierarchy a label stands for all that is below it.
    pub(super) meanings: Vec<u32>,
    /// All nodes above these as well.
    pub(super) above: Vec<u32>,
}

/// A label by its number, and its place in the hierarchy.
type Code = (u32, Option<NodeId>);

/// The labels of a publication.
pub(super) struct Context<'a> {
    published: Side<'a>,
    hierarchies: &'a [Option<Hierarchy>],
    /// Per attribute of the data and code its label; none where nothing is said by it.
    codes: Vec<Vec<Option<Code>>>,
    numbers: FxHashMap<(bool, Seen), u32>,
}

/// Whether what an attribute says is shown to everybody and the same for several people.
fn is_shown(declared: &Declared) -> bool {
    let told = matches!(declared.role, Role::Quasi | Role::Sensitive | Role::Insensitive);
    told && declared.follows.is_none() && !declared.pseudonym
}

impl<'a> Context<'a> {
    pub(super) fn new(published: Side<'a>, hierarchies: &'a [Option<Hierarchy>]) -> Self {
        let Side { data, binding } = published;
        let mut texts: FxHashMap<(usize, &str), u32> = FxHashMap::default();
        let mut codes = Vec::new();
        for (id, _) in data.schema().attributes() {
            let own = binding.attributes[id.index()].filter(|&own| is_shown(&binding.declared[own]));
            let code = |(_, text)| {
                let declared = own?;
                let hierarchy = hierarchies.get(declared).and_then(Option::as_ref);
                let node = hierarchy.and_then(|h| h.node(text));
                let next = texts.len() as u32;
                let text = *texts.entry((declared, text)).or_insert(next);
                (node != Some(NodeId::ROOT)).then_some((text, node))
            };
            codes.push(data.dictionary(id).iter().map(code).collect());
        }
        Context { published, hierarchies, codes, numbers: FxHashMap::default() }
    }

    /// Everything that a record shows.
    pub(super) fn shown(&self, record: usize) -> Vec<Shown> {
        let data = self.published.data;
        let mut all = Vec::new();
        for vertex in data.vertices(record) {
            for &id in &data.schema().class(data.class(vertex)).attributes {
                all.extend(self.shown_at(vertex, id));
            }
        }
        all
    }

    fn shown_at(&self, vertex: usize, id: AttributeId) -> Option<Shown> {
        let code = self.published.data.value(vertex, id);
        let (text, node) = (code != MISSING).then(|| self.codes[id.index()][code as usize])??;
        Some(Shown { vertex, declared: self.published.binding.attributes[id.index()]?, text, node })
    }

    /// Whether one vertex is the other or stands above it.
    fn is_above(&self, above: usize, vertex: usize) -> bool {
        std::iter::successors(Some(vertex), |&at| self.published.data.parent(at)).any(|at| at == above)
    }

    fn number(&mut self, related: bool, seen: Seen) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry((related, seen)).or_insert(next)
    }

    fn add_meaning(&mut self, shown: &Shown, training: bool, beside: &mut Beside) {
        let declared = shown.declared;
        let hierarchy = self.hierarchies.get(declared).and_then(Option::as_ref);
        let Some((node, hierarchy)) = shown.node.zip(hierarchy) else {
            beside.meanings.push(self.number(true, Seen::Label(shown.text)));
            return;
        };
        beside.meanings.push(self.number(true, Seen::AtOrBelow(declared, node)));
        let up = std::iter::successors(hierarchy.parent(node), |&at| hierarchy.parent(at));
        for above in up.filter(|&above| training && above != NodeId::ROOT) {
            beside.above.push(self.number(true, Seen::AtOrBelow(declared, above)));
        }
    }

    /// What is seen beside a cell of an attribute in the row of a vertex. For training it is all that the cell is an example of.
    pub(super) fn beside(
        &mut self,
        shown: &[Shown],
        vertex: usize,
        declared: usize,
        training: bool,
    ) -> Beside {
        let mut beside = Beside::default();
        let others = shown.iter().filter(|other| (other.vertex, other.declared) != (vertex, declared));
        for other in others.take(MOST) {
            let related = self.is_above(other.vertex, vertex) || self.is_above(vertex, other.vertex);
            // What stands in the same rows is seen in the same record, too.
            let kinds = if training && related { &[true, false][..] } else { std::slice::from_ref(&related) };
            for &related in kinds {
                let label = self.number(related, Seen::Label(other.text));
                beside.labels.push(label);
            }
            if related {
                self.add_meaning(other, training, &mut beside);
            }
        }
        for list in [&mut beside.labels, &mut beside.meanings, &mut beside.above] {
            list.sort_unstable();
            list.dedup();
        }
        beside
    }
}
