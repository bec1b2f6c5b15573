//! Applying a cut and its rules to the records, row by row.
//!
//! A published vertex, with all that hangs below it, comes from one vertex of the input: its values are generalized, parts
//! of it are left out, and values that rules part from what is above them stand alone, higher up. Two orders of one day
//! stay two orders. A vertex without a value of its own stays where something hangs below it. Rows of a class of which everybody's
//! values are `*`, and those of all below it, are not published: they would tell only that they exist.
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
use bosket_model::hierarchy::ROOT_LABEL;
use bosket_model::observe::Observer;
use bosket_model::policy::{Payload, Role, RootMode, Rows};
use bosket_model::value_tree::{EMPTY_PLACE, Item, ValueTrees};
use bosket_model::{AttributeId, ClassId, Dataset, Failure, Kind, MISSING, Result};

use super::Attempt;
use super::distinct::{OutRow, leave_out_contained};
use super::domain::{Domain, Node};
use super::problem::Solution;
use super::publish::{Rules, by_pair, gone_with_their_rows, published_items};
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
    attempt: &Attempt<'_>,
    domain: &Domain<'_>,
    solution: &Solution,
    observer: &dyn Observer,
) -> Result<Dataset> {
    write(source, attempt, domain, solution, &Own::default(), observer)
}

/// Labels that cells have of their own, by vertex and attribute, where they are finer than the cut.
pub(super) type Own = FxHashMap<(u32, AttributeId), Node>;

/// The same with cells that have labels of their own.
pub(super) fn write(
    source: &Source<'_>,
    attempt: &Attempt<'_>,
    domain: &Domain<'_>,
    solution: &Solution,
    own: &Own,
    observer: &dyn Observer,
) -> Result<Dataset> {
    let mut nodes: Vec<Node> = solution.cut.iter().chain(own.values()).copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    let (items, number) = published_items(attempt, domain, &nodes);
    let mut publisher =
        Publisher { own, ..Publisher::new(source, attempt.trees, domain, solution, &items, &number) };
    publisher.attributes_in_order(ClassId::ROOT, 0);
    for record in 0..source.data.len() {
        observer.go_on()?;
        match attempt.emptied.is_some_and(|emptied| emptied[record]) {
            true => publisher.emptied(record)?,
            false => publisher.record(record, observer)?,
        }
    }
    Ok(publisher.builder.finish())
}

/// The cells of all records as a solution publishes them, and where each of them is.
pub(super) fn cells(
    source: &Source<'_>,
    attempt: &Attempt<'_>,
    domain: &Domain<'_>,
    solution: &Solution,
    root: RootMode,
    observer: &dyn Observer,
) -> Result<(Cells, Vec<(u32, AttributeId)>)> {
    let (items, number) = published_items(attempt, domain, &solution.cut);
    let publisher = Publisher::new(source, attempt.trees, domain, solution, &items, &number);
    let leaves = publisher.leaves(attempt.trees, domain);
    let (mut cells, mut places) = (Cells::default(), Vec::new());
    cells.first.push(0);
    for record in 0..source.data.len() {
        observer.go_on()?;
        let emptied = attempt.emptied.is_some_and(|emptied| emptied[record]);
        publisher.cells_of(
            record,
            (root, emptied),
            &|node| domain.top(node),
            &leaves,
            (&mut cells, &mut places),
        );
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

/// Per home whether its rows, and all that hang below them, say nothing in any record: `*` in every place that is published, and
/// nothing beside. Where nobody shows such a row, whoever knows something of it finds everybody. That depends on the cut and the
/// policy alone, so that records in parts lose the same rows.
fn silent(source: &Source<'_>, trees: &ValueTrees, items: &[Item]) -> Vec<bool> {
    let Source { binding, payload, rows, .. } = *source;
    let mut silent = vec![trees.places().is_some() && rows == Rows::Distinct; binding.homes.len()];
    silent[0] = false;
    let mut tells = |declared: usize| {
        let mut home = Some(binding.declared[declared].home);
        while let Some(own) = home {
            silent[own] = false;
            home = binding.homes[own].parent;
        }
    };
    let says_nothing = |item: &&Item| item.label == ROOT_LABEL || item.label == EMPTY_PLACE;
    items.iter().filter(|item| !says_nothing(item)).for_each(|item| tells(item.declared));
    let beside = |role: Role| matches!(role, Role::Sensitive | Role::Insensitive) && payload == Payload::Keep;
    (0..binding.declared.len()).filter(|&d| beside(binding.declared[d].role)).for_each(&mut tells);
    silent
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
    /// Per attribute what is published of an empty place, if these count.
    empty: Vec<Option<Node>>,
    /// Per declared attribute whether empty places count.
    counted: Vec<bool>,
    /// Per declared attribute whether any of it is published.
    occurs: Vec<bool>,
    /// Per home whether nothing is told by any row of it, or by what hangs below.
    silent: Vec<bool>,
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
        let empty = schema.attributes().map(|(id, _)| {
            let declared =
                binding.attributes[id.index()].filter(|_| binding.role(id) == Some(Role::Quasi))?;
            let is_seen = binding.is_single_valued(schema, id) && !data.dictionary(id).is_empty();
            of_item.get(&(declared, EMPTY_PLACE, Kind::Text)).copied().flatten().filter(|_| is_seen)
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
        let gone = gone_with_their_rows(trees, items);
        let goes =
            |class: ClassId| binding.classes[class.index()].is_some_and(|home| gone.get(home) == Some(&true));
        let beside: Vec<Vec<AttributeId>> =
            (schema.classes()).map(|(id, _)| if goes(id) { Vec::new() } else { beside(id) }).collect();
        let mut counted = vec![false; binding.declared.len()];
        let empty_places = trees.items().iter().filter(|item| item.label == EMPTY_PLACE);
        empty_places.for_each(|item| counted[item.declared] = true);
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
            silent: silent(source, trees, items),
            nodes: nodes.collect(),
            empty: empty.collect(),
            counted,
            classes: FxHashMap::default(),
            attributes: FxHashMap::default(),
            item_codes: FxHashMap::default(),
            beside_codes: FxHashMap::default(),
            builder: Builder::in_notation(binding.notation),
        }
    }

    /// Whether an item says no more than an empty place.
    fn says_nothing(&self, item: u32) -> bool {
        let Item { declared, label, .. } = &self.items[item as usize];
        label == ROOT_LABEL && self.counted[*declared]
    }

    /// A record of which nothing is told but what stands beside its own values.
    fn emptied(&mut self, record: usize) -> Result<()> {
        let vertex = self.source.data.vertices(record).start;
        let mut row = OutRow::new(0, vertex);
        let empty = self.quasi[ClassId::ROOT.index()].iter().filter_map(|a| self.empty[a.index()]);
        row.items = empty.map(|node| self.number[&node]).collect();
        row.has_payload = true;
        self.builder.begin_record();
        self.values_of(&row, ClassId::ROOT);
        self.builder.end_record().map_err(|_| Failure::defect("a published row has a value twice"))
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
                // The place that it leaves says that anything may stand there; so would it.
                Some(_) if self.says_nothing(item) => {}
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
            children
                .retain(|&child| !rows[child].is_empty() && self.silent.get(rows[child].home) != Some(&true));
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
            MISSING => self.empty[attribute.index()],
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
        (root, emptied): (RootMode, bool),
        top_of: &dyn Fn(Node) -> Node,
        leaves: &[Vec<Option<Node>>],
        (cells, places): (&mut Cells, &mut Vec<(u32, AttributeId)>),
    ) {
        let data = self.source.data;
        let vertices = data.vertices(record);
        let first = vertices.start;
        let mut add = |vertex: usize, attribute: AttributeId, node: Node, above: u32, empty: bool| {
            // An empty place may be anything, and stays so.
            let (leaf, label) = match data.value(vertex, attribute) {
                code if empty || code == MISSING => (top_of(node), top_of(node)),
                code => (leaves[attribute.index()][code as usize].unwrap_or(node), node),
            };
            cells.leaf.push(leaf);
            cells.label.push(label);
            cells.above.push(above);
            places.push((vertex as u32, attribute));
            cells.label.len() as u32 - 1
        };
        let mut top = local::NONE;
        for &attribute in &self.quasi[ClassId::ROOT.index()] {
            let node = if emptied { self.empty[attribute.index()] } else { self.node(first, attribute) };
            if let Some(node) = node {
                let cell = add(first, attribute, node, top, emptied);
                if root == RootMode::Chain {
                    top = cell;
                }
            }
        }
        if emptied {
            return;
        }
        let mut values = self.values(record);
        self.part(&mut values);
        // Per vertex the last cell that something below it stands under.
        let mut last = vec![top; vertices.len()];
        let mut at = 0;
        for vertex in vertices.clone().skip(1) {
            let mut above = data.parent(vertex).map_or(top, |parent| last[parent - first]);
            while let Some(value) = values.get(at).filter(|value| value.vertex == vertex) {
                match value.moved {
                    None => above = add(vertex, value.attribute, value.node, above, false),
                    Some(moved) => {
                        add(vertex, value.attribute, value.node, last[moved - first], false);
                        // The place that it has left is empty.
                        if self.empty[value.attribute.index()].is_some() {
                            above = add(vertex, value.attribute, value.node, above, true);
                        }
                    }
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
        // An empty place is seen in its row, whatever is said of it elsewhere.
        let is_value = |value: &Value| self.items[self.number[&value.node] as usize].label != EMPTY_PLACE;
        for (below, value) in values.iter().enumerate().filter(|(_, value)| is_value(value)) {
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
        // A row in which nothing stands is not kept by all formats: it says that anything may.
        let is_empty = |item: &u32| self.items[*item as usize].label == EMPTY_PLACE;
        let bare = class != ClassId::ROOT
            && !row.has_payload
            && row.children.is_empty()
            && row.items.iter().all(is_empty);
        for (at, &item) in row.items.iter().enumerate() {
            let Item { declared, label, kind } = &self.items[item as usize];
            let label = match label == EMPTY_PLACE {
                false => label,
                true if bare && at == 0 => ROOT_LABEL,
                true => continue,
            };
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
