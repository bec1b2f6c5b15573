//! Records with their quasi values as nodes of hierarchies.

use bosket_model::binding::Binding;
use bosket_model::hierarchy::{Hierarchy, NodeId, Numbers};
use bosket_model::observe::Observer;
use bosket_model::policy::Role;
use bosket_model::{AttributeId, Dataset, MISSING, Result};

/// What stands for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Held {
    /// A node of the hierarchy.
    Node(NodeId),
    /// All leaves from one position to another, where ranges take the place of nodes.
    Range(u32, u32),
}

impl Held {
    /// An original value.
    pub(super) fn original(hierarchy: &Hierarchy, text: &str) -> Option<Self> {
        hierarchy.leaf(text).map(Held::Node)
    }

    /// A published value.
    pub(super) fn published(hierarchy: &Hierarchy, text: &str) -> Option<Self> {
        let range = || {
            let (low, high) = hierarchy.numbers()?.positions(Numbers::parse(text)?)?;
            Some(Held::Range(low, high))
        };
        hierarchy.node(text).map(Held::Node).or_else(range)
    }

    /// Two numbers that no other value of the attribute has.
    pub(super) fn key(self) -> [usize; 2] {
        match self {
            Held::Node(node) => [node.index(), usize::MAX],
            Held::Range(low, high) => [low as usize, high as usize],
        }
    }
}

/// All vertices of bound classes, record by record, parents first.
pub(super) struct Coded {
    home: Vec<usize>,
    parent: Vec<Option<usize>>,
    /// Per vertex its quasi values by declared attribute; none where missing.
    values: Vec<Vec<(usize, Option<Held>)>>,
    /// Per record its first vertex; one more element at the end.
    first: Vec<usize>,
    /// Per home its quasi attributes.
    quasi: Vec<Vec<usize>>,
}

impl Coded {
    pub(super) fn new(
        (data, binding): (&Dataset, &Binding),
        hierarchies: &[Option<Hierarchy>],
        find: impl Fn(&Hierarchy, &str) -> Option<Held>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let schema = data.schema();
        let attributes: Vec<Vec<(usize, AttributeId)>> = (schema.classes())
            .map(|(id, _)| {
                let own = binding.in_policy_order(schema, id, Role::Quasi).into_iter();
                own.filter_map(|a| Some((binding.attributes[a.index()]?, a))).collect()
            })
            .map(|own: Vec<(usize, AttributeId)>| {
                own.into_iter().filter(|(d, _)| binding.declared[*d].follows.is_none()).collect()
            })
            .collect();
        let nodes: Vec<Vec<Option<Held>>> = (schema.attributes())
            .map(|(id, _)| {
                let hierarchy = binding.attributes[id.index()].and_then(|d| hierarchies[d].as_ref());
                hierarchy
                    .map_or(Vec::new(), |h| data.dictionary(id).iter().map(|(_, t)| find(h, t)).collect())
            })
            .collect();
        let mut quasi = vec![Vec::new(); binding.homes.len()];
        for (id, _) in schema.classes() {
            if let Some(home) = binding.classes[id.index()] {
                quasi[home] = attributes[id.index()].iter().map(|a| a.0).collect();
            }
        }
        let mut coded =
            Coded { home: Vec::new(), parent: Vec::new(), values: Vec::new(), first: vec![0], quasi };
        let mut place = vec![0; data.vertex_count()];
        for record in 0..data.len() {
            observer.go_on()?;
            for v in data.vertices(record) {
                let class = data.class(v).index();
                let Some(home) = binding.classes[class] else { continue };
                place[v] = coded.home.len();
                coded.home.push(home);
                coded.parent.push(data.parent(v).map(|p| place[p]));
                let value = |&(declared, a): &(usize, AttributeId)| {
                    let code = data.value(v, a);
                    let node = if code == MISSING {
                        None
                    } else {
                        nodes[a.index()].get(code as usize).copied().flatten()
                    };
                    (declared, node)
                };
                coded.values.push(attributes[class].iter().map(value).collect());
            }
            coded.first.push(coded.home.len());
        }
        Ok(coded)
    }

    pub(super) fn records(&self) -> usize {
        self.first.len() - 1
    }

    /// The vertices of a record, its root first.
    pub(super) fn record(&self, record: usize) -> std::ops::Range<usize> {
        self.first[record]..self.first[record + 1]
    }

    /// How many vertices there are.
    pub(super) fn len(&self) -> usize {
        self.home.len()
    }

    pub(super) fn home(&self, vertex: usize) -> usize {
        self.home[vertex]
    }

    pub(super) fn parent(&self, vertex: usize) -> Option<usize> {
        self.parent[vertex]
    }

    /// The quasi attributes of a home.
    pub(super) fn quasi(&self, home: usize) -> &[usize] {
        &self.quasi[home]
    }

    pub(super) fn values(&self, vertex: usize) -> &[(usize, Option<Held>)] {
        &self.values[vertex]
    }

    pub(super) fn value(&self, vertex: usize, declared: usize) -> Option<Held> {
        self.values[vertex].iter().find(|v| v.0 == declared).and_then(|v| v.1)
    }

    /// Per declared attribute whether values are missing.
    pub(super) fn misses(&self, declared: usize) -> Vec<bool> {
        let mut misses = vec![false; declared];
        self.values.iter().flatten().filter(|v| v.1.is_none()).for_each(|v| misses[v.0] = true);
        misses
    }
}
