//! Applying a cut and its rules to the records, row by row.
//!
//! A published vertex, with all that hangs below it, comes from one vertex of the input: its values are generalized, parts
//! of it are left out, and values that rules part from what is above them stand alone, higher up. Two orders of one day
//! stay two orders. A vertex without a value of its own stays where something hangs below it.
//!
//! ```text
//! input                     rule day ⇝ item         published
//! order  Mon                                        order  Mon      what is left of the row
//!   line  bread  2 pieces                             line  2 pieces
//! order  Mon                                        order  Mon
//!   line  jam    1 piece                              line  1 piece
//!                                                   line  bread     beside the orders
//!                                                   line  jam
//! ```

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::dataset::Builder;
use bosket_model::observe::Observer;
use bosket_model::policy::{Payload, Role, RootMode, Rows};
use bosket_model::value_tree::{Item, ValueTrees};
use bosket_model::{AttributeId, ClassId, Dataset, Failure, Kind, MISSING, Result};

use super::distinct::{OutRow, leave_out_contained};
use super::domain::{Domain, Node};
use super::problem::Solution;
use super::publish::{Rules, by_pair, published_items};
use crate::local::{self, Cells};

/// The records whose rows are published as they are.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The records.
    pub data: &'a Dataset,
    /// Their place in the policy, without companions.
    pub binding: &'a Binding,
    /// What happens to what stands beside the quasi values.
    pub payload: Payload,
    /// What happens to rows that come to look alike; not united.
    pub rows: Rows,
}

/// The records that a solution makes of the input, in its order.
pub(super) fn publish_rows(
    source: &Source<'_>,
    trees: &ValueTrees,
    domain: &Domain<'_>,
    solution: &Solution,
    observer: &dyn Observer,
) -> Result<Dataset> {
    write(source, trees, domain, solution, &Own::default(), observer)
}

/// Labels that cells have of their own, by vertex and attribute, where they are finer than the cut.
pub(super) type Own = FxHashMap<(u32, AttributeId), Node>;

/// The same with cells that have labels of their own.
pub(super) fn write(
    source: &Source<'_>,
    trees: &ValueTrees,
    domain: &Domain<'_>,
    solution: &Solution,
    own: &Own,
    observer: &dyn Observer,
) -> Result<Dataset> {
    let mut nodes: Vec<Node> = solution.cut.iter().chain(own.values()).copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    let (items, number) = published_items(trees, domain, &nodes);
    let mut publisher = Publisher { own, ..Publisher::new(source, trees, domain, solution, &items, &number) };
    publisher.attributes_in_order(ClassId::ROOT, 0);
    for record in 0..source.data.len() {
        observer.go_on()?;
        publisher.record(record, observer)?;
    }
    Ok(publisher.builder.finish())
}

/// The cells of all records as a solution publishes them, and where each of them is.
pub(super) fn cells(
    source: &Source<'_>,
    trees: &ValueTrees,
    domain: &Domain<'_>,
    solution: &Solution,
    root: RootMode,
    observer: &dyn Observer,
) -> Result<(Cells, Vec<(u32, AttributeId)>)> {
    let (items, number) = published_items(trees, domain, &solution.cut);
    let publisher = Publisher::new(source, trees, domain, solution, &items, &number);
    let leaves = publisher.leaves(trees, domain);
    let (mut cells, mut places) = (Cells::default(), Vec::new());
    cells.first.push(0);
    for record in 0..source.data.len() {
        observer.go_on()?;
        publisher.cells_of(record, root, &leaves, &mut cells, &mut places);
        cells.first.push(cells.label.len() as u32);
    }
    Ok((cells, places))
}

/// A quasi value of a record that is published.
struct Value {
    vertex: usize,
    attribute: AttributeId,
    node: Node,
    /// The value above, by its place in the record.
    parent: Option<usize>,
    /// How many values are above.
    depth: usize,
    /// The vertex below which it stands alone; none if it is where it was.
    moved: Option<usize>,
}

static NO_OWN: LazyLock<Own> = LazyLock::new(Own::default);

struct Publisher<'a> {
    source: &'a Source<'a>,
    items: &'a [Item],
    number: &'a FxHashMap<Node, u32>,
    rules: Rules,
    own: &'a Own,
    /// Per class its quasi attributes, and those beside them, in the policy's order.
    quasi: Vec<Vec<AttributeId>>,
    beside: Vec<Vec<AttributeId>>,
    /// Per attribute and code what is published of it.
    nodes: Vec<Vec<Option<Node>>>,
    /// Per declared attribute whether any of it is published.
    occurs: Vec<bool>,
    /// The published class of a home below another class.
    classes: FxHashMap<(ClassId, usize), ClassId>,
    /// The published attribute of a declared one in a class.
    attributes: FxHashMap<(ClassId, usize), AttributeId>,
    /// The code that an item has in a published attribute.
    item_codes: FxHashMap<(AttributeId, u32), u32>,
    /// The code that a value beside them has there, by its code in the input.
    beside_codes: FxHashMap<(AttributeId, u32), u32>,
    builder: Builder,
}

impl<'a> Publisher<'a> {
    fn new(
        source: &'a Source<'a>,
        trees: &ValueTrees,
        domain: &Domain<'_>,
        solution: &Solution,
        items: &'a [Item],
        number: &'a FxHashMap<Node, u32>,
    ) -> Self {
        let Source { data, binding, payload, .. } = *source;
        let above_item = domain.assign_all(&solution.cut);
        let of_item: FxHashMap<(usize, &str, Kind), Option<Node>> = (trees.items().iter().zip(&above_item))
            .map(|(item, node)| ((item.declared, item.label.as_str(), item.kind), *node))
            .collect();
        let schema = data.schema();
        let nodes = schema.attributes().map(|(id, _)| match binding.attributes[id.index()] {
            Some(declared) if binding.role(id) == Some(Role::Quasi) => (data.dictionary(id).iter())
                .map(|(kind, text)| of_item.get(&(declared, text, kind)).copied().flatten())
                .collect(),
            _ => Vec::new(),
        });
        let beside = |class: ClassId| {
            let mut found = match payload {
                Payload::Drop => Vec::new(),
                Payload::Keep => schema.class(class).attributes.clone(),
            };
            found.retain(|&a| matches!(binding.role(a), Some(Role::Sensitive | Role::Insensitive)));
            found.sort_by_key(|a| binding.attributes[a.index()]);
            found
        };
        let beside: Vec<Vec<AttributeId>> = schema.classes().map(|(id, _)| beside(id)).collect();
        let mut occurs = vec![false; binding.declared.len()];
        items.iter().for_each(|item| occurs[item.declared] = true);
        for attribute in beside.iter().flatten().filter(|a| !data.dictionary(**a).is_empty()) {
            binding.attributes[attribute.index()].into_iter().for_each(|declared| occurs[declared] = true);
        }
        Publisher {
            source,
            items,
            number,
            rules: by_pair(&solution.rules),
            own: &NO_OWN,
            quasi: schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, Role::Quasi)).collect(),
            beside,
            occurs,
            nodes: nodes.collect(),
            classes: FxHashMap::default(),
            attributes: FxHashMap::default(),
            item_codes: FxHashMap::default(),
            beside_codes: FxHashMap::default(),
            builder: Builder::in_notation(binding.notation),
        }
    }

    fn record(&mut self, record: usize, observer: &dyn Observer) -> Result<()> {
        let data = self.source.data;
        let vertices = data.vertices(record);
        let first = vertices.start;
        let mut values = self.values(record);
        self.part(&mut values);
        let mut rows: Vec<OutRow> = vertices.clone().map(|v| OutRow::new(self.home(v), v)).collect();
        for vertex in vertices.clone().skip(1) {
            let parent = data.parent(vertex).ok_or_else(|| Failure::defect("a vertex without parent"))?;
            rows[parent - first].children.push(vertex - first);
        }
        for &attribute in &self.quasi[ClassId::ROOT.index()] {
            // Side by side or as a chain, they stand in the record itself.
            if let Some(node) = self.node(first, attribute) {
                rows[0].items.push(self.number[&self.shown(first, attribute, node)]);
            }
        }
        for value in &values {
            let item = self.number[&self.shown(value.vertex, value.attribute, value.node)];
            match value.moved {
                None => rows[value.vertex - first].items.push(item),
                Some(below) => {
                    let mut part = OutRow::new(self.home(value.vertex), value.vertex);
                    part.items.push(item);
                    part.is_part = true;
                    let number = rows.len();
                    rows.push(part);
                    rows[below - first].children.push(number);
                }
            }
        }
        for vertex in vertices.clone() {
            let beside = &self.beside[data.class(vertex).index()];
            rows[vertex - first].has_payload = beside.iter().any(|&a| data.value(vertex, a) != MISSING);
        }
        // Children come after their parents, parts of rows last.
        for at in (0..rows.len()).rev() {
            let mut children = std::mem::take(&mut rows[at].children);
            children.retain(|&child| !rows[child].is_empty());
            rows[at].children = children;
        }
        if self.source.rows == Rows::Distinct {
            leave_out_contained(&mut rows, observer)?;
        }
        self.builder.begin_record();
        self.write(&rows);
        self.builder.end_record().map_err(|_| Failure::defect("a published row has a value twice"))
    }

    fn home(&self, vertex: usize) -> usize {
        self.source.binding.classes[self.source.data.class(vertex).index()].unwrap_or(usize::MAX)
    }

    fn node(&self, vertex: usize, attribute: AttributeId) -> Option<Node> {
        match self.source.data.value(vertex, attribute) {
            MISSING => None,
            code => self.nodes[attribute.index()][code as usize],
        }
    }

    /// The published values of a record that can be above or below another, each before those below it.
    fn values(&self, record: usize) -> Vec<Value> {
        let data = self.source.data;
        let vertices = data.vertices(record);
        let first = vertices.start;
        let mut values: Vec<Value> = Vec::new();
        let mut last: Vec<Option<usize>> = Vec::with_capacity(vertices.len());
        for vertex in vertices {
            let mut above = data.parent(vertex).and_then(|parent| last[parent - first]);
            let class = data.class(vertex);
            for &attribute in if class == ClassId::ROOT { &[][..] } else { &self.quasi[class.index()] } {
                if let Some(node) = self.node(vertex, attribute) {
                    let depth = above.map_or(0, |above| values[above].depth + 1);
                    values.push(Value { vertex, attribute, node, parent: above, depth, moved: None });
                    above = Some(values.len() - 1);
                }
            }
            last.push(above);
        }
        values
    }

    /// What a cell shows: a label of its own, or that of the cut.
    fn shown(&self, vertex: usize, attribute: AttributeId, node: Node) -> Node {
        self.own.get(&(vertex as u32, attribute)).copied().unwrap_or(node)
    }

    /// Per attribute and code its leaf.
    fn leaves(&self, trees: &ValueTrees, domain: &Domain<'_>) -> Vec<Vec<Option<Node>>> {
        let Source { data, binding, .. } = *self.source;
        let of_item: FxHashMap<(usize, &str, Kind), Node> = (trees.items().iter().zip(0..))
            .map(|(item, at)| ((item.declared, item.label.as_str(), item.kind), domain.leaf_of_item(at)))
            .collect();
        (data.schema().attributes())
            .map(|(id, _)| match binding.attributes[id.index()] {
                Some(declared) if binding.role(id) == Some(Role::Quasi) => (data.dictionary(id).iter())
                    .map(|(kind, text)| of_item.get(&(declared, text, kind)).copied())
                    .collect(),
                _ => Vec::new(),
            })
            .collect()
    }

    /// The cells of a record, each after the one that it stands below when all rules have been applied.
    fn cells_of(
        &self,
        record: usize,
        root: RootMode,
        leaves: &[Vec<Option<Node>>],
        cells: &mut Cells,
        places: &mut Vec<(u32, AttributeId)>,
    ) {
        let data = self.source.data;
        let vertices = data.vertices(record);
        let first = vertices.start;
        let mut add = |vertex: usize, attribute: AttributeId, node: Node, above: u32| {
            let code = data.value(vertex, attribute) as usize;
            cells.leaf.push(leaves[attribute.index()][code].unwrap_or(node));
            cells.label.push(node);
            cells.above.push(above);
            places.push((vertex as u32, attribute));
            cells.label.len() as u32 - 1
        };
        let mut top = local::NONE;
        for &attribute in &self.quasi[ClassId::ROOT.index()] {
            if let Some(node) = self.node(first, attribute) {
                let cell = add(first, attribute, node, top);
                if root == RootMode::Chain {
                    top = cell;
                }
            }
        }
        let mut values = self.values(record);
        self.part(&mut values);
        // Per vertex the last cell that something below it stands under.
        let mut last = vec![top; vertices.len()];
        let mut at = 0;
        for vertex in vertices.clone().skip(1) {
            let mut above = data.parent(vertex).map_or(top, |parent| last[parent - first]);
            while let Some(value) = values.get(at).filter(|value| value.vertex == vertex) {
                let below = value.moved.map_or(above, |moved| last[moved - first]);
                let cell = add(vertex, value.attribute, value.node, below);
                if value.moved.is_none() {
                    above = cell;
                }
                at += 1;
            }
            last[vertex - first] = above;
        }
    }

    /// Parts values from those above them by the rules in their order.
    fn part(&self, values: &mut [Value]) {
        if self.rules.is_empty() {
            return;
        }
        let mut apply: Vec<(u32, usize, usize)> = Vec::new();
        for (below, value) in values.iter().enumerate() {
            let mut at = value.parent;
            while let Some(above) = at {
                let rule = self.rules.get(&(values[above].node, value.node));
                apply.extend(rule.map(|&(order, _)| (order, above, below)));
                at = values[above].parent;
            }
        }
        apply.sort_unstable();
        let data = self.source.data;
        for (_, above, below) in apply {
            // What stands alone is above nothing any more; what has gone further up is not below any more.
            let stays_above = values[above].moved.is_none()
                && values[below].moved.is_none_or(|at| at >= values[above].vertex);
            if stays_above {
                values[below].moved = data.parent(values[above].vertex);
            }
        }
    }

    /// Writes the rows of a record, each below its parent.
    fn write(&mut self, rows: &[OutRow]) {
        enum Step {
            Open(usize, ClassId, usize),
            Close,
        }
        self.values_of(&rows[0], ClassId::ROOT);
        let mut steps: Vec<Step> =
            rows[0].children.iter().rev().map(|&child| Step::Open(child, ClassId::ROOT, 0)).collect();
        while let Some(step) = steps.pop() {
            let Step::Open(at, above, home) = step else {
                self.builder.close();
                continue;
            };
            let row = &rows[at];
            let class = match self.classes.get(&(above, row.home)) {
                Some(&class) => class,
                None => self.class(above, home, row.home),
            };
            self.builder.open(class);
            self.values_of(row, class);
            steps.push(Step::Close);
            steps.extend(row.children.iter().rev().map(|&child| Step::Open(child, class, row.home)));
        }
    }

    /// The class of rows of a home below a class of another one, which is new.
    fn class(&mut self, above: ClassId, home: usize, own: usize) -> ClassId {
        let binding = self.source.binding;
        let class = self.builder.class(above, &binding.key_under(home, own));
        if binding.homes[own].parent == Some(home) {
            self.attributes_in_order(class, own);
        }
        self.classes.insert((above, own), class);
        class
    }

    /// Which of a class's attributes comes first must not depend on which record does.
    fn attributes_in_order(&mut self, class: ClassId, home: usize) {
        for declared in 0..self.occurs.len() {
            if self.occurs[declared] && self.source.binding.declared[declared].home == home {
                self.attribute(class, declared);
            }
        }
    }

    fn attribute(&mut self, class: ClassId, declared: usize) -> AttributeId {
        let Publisher { builder, attributes, source, .. } = self;
        let name = &source.binding.declared[declared].name;
        *attributes.entry((class, declared)).or_insert_with(|| builder.attribute(class, name))
    }

    fn values_of(&mut self, row: &OutRow, class: ClassId) {
        for &item in &row.items {
            let Item { declared, label, kind } = &self.items[item as usize];
            let out = self.attribute(class, *declared);
            let Publisher { builder, item_codes, .. } = self;
            let code = *item_codes.entry((out, item)).or_insert_with(|| builder.code(out, *kind, label));
            builder.set_code(out, code);
        }
        if row.is_part || !row.has_payload {
            return;
        }
        let Source { data, binding, .. } = *self.source;
        let own = data.class(row.vertex).index();
        for at in 0..self.beside[own].len() {
            let attribute = self.beside[own][at];
            let code = data.value(row.vertex, attribute);
            if let (Some(declared), false) = (binding.attributes[attribute.index()], code == MISSING) {
                let out = self.attribute(class, declared);
                let dictionary = data.dictionary(attribute);
                let Publisher { builder, beside_codes, .. } = self;
                let code = *(beside_codes.entry((out, code)))
                    .or_insert_with(|| builder.code(out, dictionary.kind(code), dictionary.text(code)));
                builder.set_code(out, code);
            }
        }
    }
}
