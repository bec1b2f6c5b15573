//! A hierarchy with what of it is published: the drawing of a cut.

use bosket_measure::loss::Side;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::policy::Role;
use bosket_model::{Dataset, MISSING};

/// Rows that a drawing has room for.
const ROWS: usize = 70;

/// Where a node lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Something more special is published.
    Above,
    /// It is published itself.
    Published,
    /// Values under it are published as something more general.
    Below,
}

/// A node with what is drawn below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its label.
    pub label: String,
    /// Where it lies.
    pub place: Place,
    /// How often it is published; below the cut, how often its values are in the input.
    pub count: usize,
    /// Its children, as far as they are drawn.
    pub children: Vec<Branch>,
    /// Children that there was no room for.
    pub more: usize,
}

/// The hierarchy of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The attribute.
    pub path: String,
    /// The root; none if nothing of the attribute is published.
    pub root: Option<Branch>,
    /// Different labels that are published.
    pub labels: usize,
    /// Leaves of the hierarchy.
    pub leaves: usize,
}

/// The cuts of all quasi attributes that have a hierarchy. Without the input nothing below what is published is drawn,
/// since values that nobody is published with may say something about somebody.
pub fn cuts(published: Side<'_>, input: Option<Side<'_>>, hierarchies: &[Option<Hierarchy>]) -> Vec<Cut> {
    let declared = published.binding.declared.iter().enumerate();
    declared
        .filter(|(_, d)| d.role == Role::Quasi && d.follows.is_none())
        .filter_map(|(i, d)| {
            // Ranges of numbers are no nodes: there is no tree to draw.
            let hierarchy = hierarchies.get(i)?.as_ref().filter(|h| h.numbers().is_none())?;
            let shown = counts(published, i, hierarchy, Hierarchy::node);
            let private = input.map(|side| counts(side, i, hierarchy, Hierarchy::leaf));
            let drawing = Drawing::new(hierarchy, shown, private);
            Some(Cut {
                path: d.path.clone(),
                labels: drawing.shown.iter().filter(|&&c| c > 0).count(),
                leaves: hierarchy.leaf_count(),
                root: drawing.is_drawn(NodeId::ROOT).then(|| drawing.branch(NodeId::ROOT, false, ROWS)),
            })
        })
        .collect()
}

/// Per node of the hierarchy how often it occurs in the data.
fn counts(
    side: Side<'_>,
    declared: usize,
    hierarchy: &Hierarchy,
    find: impl Fn(&Hierarchy, &str) -> Option<NodeId>,
) -> Vec<usize> {
    let data: &Dataset = side.data;
    let mut counts = vec![0; hierarchy.len()];
    let own = data.schema().attributes();
    for (id, attribute) in own.filter(|(id, _)| side.binding.attributes[id.index()] == Some(declared)) {
        let nodes: Vec<Option<NodeId>> =
            data.dictionary(id).iter().map(|(_, t)| find(hierarchy, t)).collect();
        for v in (0..data.vertex_count()).filter(|&v| data.class(v) == attribute.class) {
            let code = data.value(v, id);
            if code != MISSING
                && let Some(node) = nodes[code as usize]
            {
                counts[node.index()] += 1;
            }
        }
    }
    counts
}

struct Drawing<'a> {
    hierarchy: &'a Hierarchy,
    shown: Vec<usize>,
    private: Option<Vec<usize>>,
    /// Sums of `shown` over subtrees.
    published_below: Vec<usize>,
    /// Sums of `private` over subtrees.
    private_below: Vec<usize>,
}

impl<'a> Drawing<'a> {
    fn new(hierarchy: &'a Hierarchy, shown: Vec<usize>, private: Option<Vec<usize>>) -> Self {
        let sums = |own: &[usize]| {
            let mut sums = own.to_vec();
            // Nodes are numbered depth first: children come after their parents.
            let nodes: Vec<NodeId> = hierarchy.nodes().collect();
            for &n in nodes.iter().rev() {
                if let Some(parent) = hierarchy.parent(n) {
                    sums[parent.index()] += sums[n.index()];
                }
            }
            sums
        };
        let published_below = sums(&shown);
        let private_below = private.as_deref().map_or_else(|| vec![0; shown.len()], sums);
        Drawing { hierarchy, shown, private, published_below, private_below }
    }

    fn is_drawn(&self, node: NodeId) -> bool {
        self.published_below[node.index()] > 0 || self.private_below[node.index()] > 0
    }

    fn branch(&self, node: NodeId, covered: bool, room: usize) -> Branch {
        let own = self.shown[node.index()];
        let covered = covered || own > 0;
        let place = match (own, self.published_below[node.index()]) {
            (0, 0) if covered || self.private.is_some() => Place::Below,
            (0, _) => Place::Above,
            _ => Place::Published,
        };
        let kids: Vec<NodeId> = self.hierarchy.children(node).filter(|&n| self.is_drawn(n)).collect();
        let fit = kids.len().min(room);
        let each = if kids.is_empty() { 0 } else { (room - fit) / kids.len() };
        // The last row is needed for saying how many more there are.
        let fit = if fit < kids.len() { fit.saturating_sub(1) } else { fit };
        Branch {
            label: self.hierarchy.label(node).to_owned(),
            place,
            count: if place == Place::Below { self.private_below[node.index()] } else { own },
            children: kids[..fit].iter().map(|&n| self.branch(n, covered, each)).collect(),
            more: kids.len() - fit,
        }
    }
}
