//! The view of k^(m,n)-anonymity: trees whose nodes are quasi values.
//!
//! An **item** is a declared attribute with a label; equal labels of different attributes never match. The quasi
//! values of a vertex form a chain in the policy's order, child vertices hang below the last present value, nodes
//! with the same item under the same parent are one node. The values of the record's top object hang side by side
//! under the record's root, unless the policy makes them the first chain. Everything published beside the quasi
//! values is a **payload** under its vertex's last quasi value.
//!
//! Where a missing value counts ([`TreeView::missing`]), an empty place of a vertex that is there is a node with a label of
//! its own. Whoever reads a publication sees the places of the policy, be they named in the file or not. A search
//! ([`EMPTY_PLACE`]) has no use for an attribute of which no record has a value: what such a place shows, the other places of its
//! vertex tell as well.
//!
//! Items are numbered by the policy's order, then by label, so that their order is the same in every run.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::binding::{Binding, HomePlaces};
use crate::dataset::{Builder, Dataset};
use crate::diag::{Diagnostic, Failure, Fault, Place, Result};
use crate::dictionary::{Kind, MISSING};
use crate::hierarchy::ROOT_LABEL;
use crate::observe::{Observer, Quiet};
use crate::policy::{Payload, Role, RootMode};
use crate::schema::{AttributeId, ClassId};

/// A quasi value: a declared attribute and a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// The declared attribute, as an index into the policy.
    pub declared: usize,
    /// The label, as published.
    pub label: String,
    /// How formats that tell kinds apart write it.
    pub kind: Kind,
}

/// Declared attributes with their values, in the policy's order.
pub type PayloadValues = Vec<(usize, Kind, String)>;

/// Where a payload hangs and what it holds: the values beside the quasi values of one vertex.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PayloadAt {
    /// The node, counted within the whole forest; none for the record's root.
    pub node: Option<u32>,
    /// The home of the vertex it came from.
    pub home: usize,
    /// What it holds.
    pub values: PayloadValues,
}

/// All records as value trees. Nodes stand in preorder, siblings by item.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueTrees {
    items: Vec<Item>,
    item: Vec<u32>,
    parent: Vec<u32>,
    end: Vec<u32>,
    first_node: Vec<u32>,
    payloads: Vec<PayloadAt>,
    first_payload: Vec<u32>,
    /// The items of empty places of the record's own object, and whether they form a chain.
    top: (Vec<u32>, bool),
    /// Where vertices have places, if empty ones count.
    places: Option<Arc<HomePlaces>>,
}

const ROOT: u32 = u32::MAX;

/// The label of an empty place while records are worked on. It is never written, and data that has it is refused.
pub const EMPTY_PLACE: &str = "\u{fdd0}missing";

/// How records are read as trees.
#[derive(Clone, Copy, Debug)]
pub struct TreeView<'a> {
    /// Where the values of the record's top object stand.
    pub root: RootMode,
    /// Whether rows that look alike are one; else every value of every vertex is a node.
    pub united: bool,
    /// What happens to what stands beside the quasi values.
    pub payload: Payload,
    /// The label of a place that can hold one value and holds none; none if such places are no nodes.
    pub missing: Option<&'a str>,
}

impl ValueTrees {
    /// How many records there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.first_node.len() - 1
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All items.
    #[inline]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The nodes of a record, in preorder.
    #[inline]
    pub fn nodes(&self, record: usize) -> Range<usize> {
        self.first_node[record] as usize..self.first_node[record + 1] as usize
    }

    /// The item of a node.
    #[inline]
    pub fn item(&self, node: usize) -> u32 {
        self.item[node]
    }

    /// The node above; none for those under the record's root.
    #[inline]
    pub fn parent(&self, node: usize) -> Option<usize> {
        (self.parent[node] != ROOT).then(|| self.parent[node] as usize)
    }

    /// One past the last node of the subtree: `b` is below `a` if `a < b && b < end(a)`.
    #[inline]
    pub fn end(&self, node: usize) -> usize {
        self.end[node] as usize
    }

    /// The payloads of a record, sorted.
    #[inline]
    pub fn payloads(&self, record: usize) -> &[PayloadAt] {
        &self.payloads[self.first_payload[record] as usize..self.first_payload[record + 1] as usize]
    }

    /// The value trees of a dataset.
    pub fn new(data: &Dataset, binding: &Binding, root: RootMode, payload: Payload) -> Self {
        ValueTrees::observed(data, binding, root, payload, &Quiet).expect("nobody interrupts")
    }

    /// The same while somebody may lose patience.
    pub fn observed(
        data: &Dataset,
        binding: &Binding,
        root: RootMode,
        payload: Payload,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let view = TreeView { root, united: true, payload, missing: None };
        Self::viewed(data, binding, &view, observer)
    }

    /// The value trees of a dataset in any view.
    pub fn viewed(
        data: &Dataset,
        binding: &Binding,
        view: &TreeView<'_>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let TreeView { root, united, payload, missing } = *view;
        let places = Places::new(data, binding, missing);
        let (items, codes) = number_items(data, binding, missing, &places)?;
        let schema = data.schema();
        let by_role = |role| -> Vec<Vec<AttributeId>> {
            schema.classes().map(|(id, _)| binding.in_policy_order(schema, id, role)).collect()
        };
        let quasi = by_role(Role::Quasi);
        let empty = |class: ClassId, declared: usize| {
            let label = missing.filter(|_| places.is_seen(class, declared))?;
            let key = (declared, label, Kind::Text);
            Some(items.partition_point(|i| (i.declared, i.label.as_str(), i.kind) < key) as u32)
        };
        let homes = missing.map(|_| Arc::new(HomePlaces::new(binding)));
        let shown = |(class, _): (ClassId, _)| -> Vec<(Option<AttributeId>, Option<u32>)> {
            let own = quasi[ClassId::index(class)].iter().filter_map(|a| binding.attributes[a.index()]);
            let mut declared: Vec<usize> =
                own.chain(places.of_class[class.index()].iter().copied()).collect();
            declared.sort_unstable();
            declared.dedup();
            let quasi = &quasi[class.index()];
            let attribute = |d: usize| {
                let at = quasi.binary_search_by_key(&Some(d), |a| binding.attributes[a.index()]);
                at.ok().map(|at| quasi[at])
            };
            declared.into_iter().map(|d| (attribute(d), empty(class, d))).collect()
        };
        let shown: Vec<Vec<(Option<AttributeId>, Option<u32>)>> = schema.classes().map(shown).collect();
        let beside: Vec<Vec<AttributeId>> = schema
            .classes()
            .map(|(id, class)| {
                let mut found: Vec<_> = (class.attributes.iter().copied())
                    .filter(|&a| matches!(binding.role(a), Some(Role::Sensitive | Role::Insensitive)))
                    .collect();
                found.sort_by_key(|a| (binding.attributes[a.index()], id));
                found
            })
            .collect();

        let mut trees = ValueTrees { places: homes, ..ValueTrees::over(items) };
        let keeps = payload == Payload::Keep && beside.iter().any(|own| !own.is_empty());
        if let Some(attribute) = only_attribute(&quasi, binding)
            && united
            && !keeps
            && shown.iter().flatten().all(|(_, empty)| empty.is_none())
        {
            trees.append_sets(data, attribute, &codes[attribute.index()], observer)?;
            return Ok(trees);
        }
        let own = shown[ClassId::ROOT.index()].iter();
        trees.top = (own.filter_map(|(_, empty)| *empty).collect(), root == RootMode::Chain);
        let mut record_tree = RecordTree::default();
        let mut anchor: Vec<u32> = Vec::new();
        for record in 0..data.len() {
            observer.go_on()?;
            let vertices = data.vertices(record);
            let first = vertices.start;
            anchor.clear();
            record_tree.clear();
            for v in vertices {
                let class = data.class(v);
                let above = data.parent(v).map_or(ROOT, |p| anchor[p - first]);
                let mut at = above;
                for &(attribute, empty) in &shown[class.index()] {
                    let item = match attribute.map(|a| (a, data.value(v, a))) {
                        None | Some((_, MISSING)) => empty,
                        Some((a, code)) if repeats(data, binding, v, a, code) => None,
                        Some((a, code)) => Some(codes[a.index()][code as usize]),
                    };
                    let Some(item) = item else { continue };
                    if class == ClassId::ROOT && root == RootMode::Separate {
                        record_tree.child(ROOT, item);
                    } else if united {
                        at = record_tree.child(at, item);
                    } else {
                        at = record_tree.add(at, item);
                    }
                }
                anchor.push(at);
                if payload == Payload::Keep && !beside[class.index()].is_empty() {
                    let values = payload_values(data, binding, v, &beside[class.index()]);
                    if !values.is_empty() {
                        let home = binding.classes[class.index()].expect("its attributes are declared");
                        record_tree.payload(at, home, values);
                    }
                }
            }
            trees.append(&mut record_tree);
        }
        Ok(trees)
    }

    /// No record yet, over some items.
    pub fn over(items: Vec<Item>) -> Self {
        ValueTrees {
            items,
            item: Vec::new(),
            parent: Vec::new(),
            end: Vec::new(),
            first_node: vec![0],
            payloads: Vec::new(),
            first_payload: vec![0],
            top: (Vec::new(), false),
            places: None,
        }
    }

    /// Makes room for as many records and nodes as other trees have.
    pub fn reserve(&mut self, other: &ValueTrees) {
        self.item.reserve(other.item.len());
        self.parent.reserve(other.item.len());
        self.end.reserve(other.item.len());
        self.first_node.reserve(other.len());
        self.first_payload.reserve(other.len());
    }

    /// Adds records whose only quasi values are those of one attribute: they hang side by side under the record's root.
    fn append_sets(
        &mut self,
        data: &Dataset,
        attribute: AttributeId,
        codes: &[u32],
        observer: &dyn Observer,
    ) -> Result<()> {
        let class = data.schema().attribute(attribute).class;
        let mut items: Vec<u32> = Vec::new();
        self.first_node.reserve(data.len());
        self.first_payload.reserve(data.len());
        if let Some(sets) = data.sets() {
            for record in 0..data.len() {
                observer.go_on()?;
                items.clear();
                let present = sets.codes(record).iter().filter(|&&code| code != MISSING);
                items.extend(present.map(|&code| codes[code as usize]));
                self.append_items(&mut items);
            }
            return Ok(());
        }
        for record in 0..data.len() {
            observer.go_on()?;
            items.clear();
            for v in data.vertices(record) {
                let code = if data.class(v) == class { data.value(v, attribute) } else { MISSING };
                if code != MISSING {
                    items.push(codes[code as usize]);
                }
            }
            self.append_items(&mut items);
        }
        Ok(())
    }

    /// Adds a record of items that all hang under its root, with nothing beside them; equal ones are one.
    pub fn append_items(&mut self, items: &mut Vec<u32>) {
        items.sort_unstable();
        items.dedup();
        self.append_set(items);
    }

    /// Whether all values of all records hang under the record's root, with nothing beside them.
    pub fn are_sets(&self) -> bool {
        self.payloads.is_empty() && self.parent.iter().all(|&parent| parent == ROOT)
    }

    /// Adds a record's tree in preorder with siblings by item.
    pub fn append(&mut self, tree: &mut RecordTree) {
        if tree.payloads.is_empty() && tree.parent.iter().all(|&p| p == ROOT) {
            tree.item.sort_unstable();
            return self.append_set(&tree.item);
        }
        let base = self.item.len();
        let RecordTree { item, parent, order, number, stack, .. } = tree;
        number.clear();
        number.resize(item.len(), 0);
        order.clear();
        order.extend(0..item.len() as u32);
        let is_flat = parent.iter().all(|&p| p == ROOT);
        if is_flat {
            order.sort_unstable_by_key(|&n| item[n as usize]);
        } else {
            order.sort_unstable_by_key(|&n| (parent[n as usize].wrapping_add(1), item[n as usize]));
        }
        // With children grouped by parent and sorted, a stack walks them in preorder.
        let children = |of: u32| {
            let key = of.wrapping_add(1);
            let from = order.partition_point(|&n| parent[n as usize].wrapping_add(1) < key);
            let to = order.partition_point(|&n| parent[n as usize].wrapping_add(1) <= key);
            &order[from..to]
        };
        let top = if is_flat { &order[..] } else { children(ROOT) };
        stack.clear();
        stack.extend(top.iter().rev());
        while let Some(n) = stack.pop() {
            let node = self.item.len() as u32;
            number[n as usize] = node;
            self.item.push(item[n as usize]);
            let above = parent[n as usize];
            self.parent.push(if above == ROOT { ROOT } else { number[above as usize] });
            self.end.push(node + 1);
            if !is_flat {
                stack.extend(children(n).iter().rev());
            }
        }
        for node in (base..self.item.len()).rev() {
            let above = self.parent[node];
            if above != ROOT {
                self.end[above as usize] = self.end[above as usize].max(self.end[node]);
            }
        }
        let first = self.payloads.len();
        self.payloads.extend(tree.payloads.drain(..).map(|(at, home, values)| PayloadAt {
            node: (at != ROOT).then(|| number[at as usize]),
            home,
            values,
        }));
        self.payloads[first..].sort();
        self.first_payload.push(self.payloads.len() as u32);
        self.first_node.push(self.item.len() as u32);
    }

    /// The same for nodes that all hang under the record's root, with nothing beside them; they are sorted.
    fn append_set(&mut self, items: &[u32]) {
        let base = self.item.len() as u32;
        let all = base + items.len() as u32;
        self.item.extend_from_slice(items);
        self.parent.resize(all as usize, ROOT);
        self.end.extend(base + 1..=all);
        self.first_payload.push(self.payloads.len() as u32);
        self.first_node.push(all);
    }

    /// Where vertices have places; none if empty ones do not count.
    pub fn places(&self) -> Option<&HomePlaces> {
        self.places.as_deref()
    }

    /// The items of empty places of the record's own object.
    pub fn empty_tops(&self) -> &[u32] {
        &self.top.0
    }

    /// The same, some of the records without any value: of their own object all places are empty, and nothing hangs below it.
    /// What stands beside its values stays.
    pub fn emptied(&self, records: &[bool], observer: &dyn Observer) -> Result<Self> {
        let over = ValueTrees::over(self.items.clone());
        let mut trees = ValueTrees { top: self.top.clone(), places: self.places.clone(), ..over };
        trees.reserve(self);
        let mut tree = RecordTree::default();
        let mut place: Vec<u32> = Vec::new();
        for (record, &emptied) in records.iter().enumerate() {
            observer.go_on()?;
            tree.clear();
            place.clear();
            let nodes = self.nodes(record);
            if emptied {
                let (tops, chain) = &self.top;
                let end =
                    tops.iter().fold(ROOT, |at, &item| tree.child(if *chain { at } else { ROOT }, item));
                let own = self.payloads(record).iter().find(|payload| payload.home == 0);
                own.into_iter()
                    .for_each(|p| tree.payload(if *chain { end } else { ROOT }, 0, p.values.clone()));
            } else {
                for node in nodes.clone() {
                    let above = self.parent(node).map_or(ROOT, |above| place[above - nodes.start]);
                    place.push(tree.add(above, self.item(node)));
                }
                for payload in self.payloads(record) {
                    let at = payload.node.map_or(ROOT, |node| place[node as usize - nodes.start]);
                    tree.payload(at, payload.home, payload.values.clone());
                }
            }
            trees.append(&mut tree);
        }
        Ok(trees)
    }

    /// Adds the records of other trees over the same items.
    pub fn extend(&mut self, other: ValueTrees) {
        let (nodes, payloads) = (self.item.len() as u32, self.payloads.len() as u32);
        self.item.extend(other.item);
        self.parent.extend(other.parent.iter().map(|&p| if p == ROOT { ROOT } else { p + nodes }));
        self.end.extend(other.end.iter().map(|e| e + nodes));
        self.first_node.extend(other.first_node[1..].iter().map(|n| n + nodes));
        self.payloads.extend(other.payloads.into_iter().map(|mut payload| {
            payload.node = payload.node.map(|n| n + nodes);
            payload
        }));
        self.first_payload.extend(other.first_payload[1..].iter().map(|n| n + payloads));
    }

    /// The records these trees stand for, in the shape that the policy's paths describe: one vertex per maximal
    /// run of same-class values, moved values in a vertex of their class under the vertex they belong to.
    /// Reading the result again gives the same trees.
    pub fn write_back(&self, binding: &Binding) -> Dataset {
        let mut builder = Builder::in_notation(binding.notation);
        // Which of a class's attributes comes first must not depend on which record does.
        let mut occurs = vec![false; binding.declared.len()];
        self.items.iter().for_each(|item| occurs[item.declared] = true);
        let mut published = vec![false; binding.homes.len()];
        self.items.iter().for_each(|item| published[binding.declared[item.declared].home] = true);
        self.payloads.iter().flat_map(|p| &p.values).for_each(|(declared, ..)| occurs[*declared] = true);
        for (declared, _) in
            binding.declared.iter().zip(&occurs).filter(|(d, occurs)| d.home == 0 && **occurs)
        {
            builder.attribute(ClassId::ROOT, &declared.name);
        }
        if let Some(home) = self.set_home(binding) {
            self.write_sets(binding, home, &mut builder);
            return builder.finish();
        }
        let known = vec![Cell::new(None); self.items.len()];
        let below = vec![Cell::new(None); binding.homes.len()];
        for record in 0..self.len() {
            let writer =
                Writer { trees: self, binding, published: &published, known: &known, below: &below, record };
            builder.begin_record();
            writer.root(&mut builder);
            builder.end_record().expect("each vertex holds a value once, and no more values than were read");
        }
        builder.finish()
    }

    /// The home right below the record that all values belong to, where records are sets of values of one attribute.
    fn set_home(&self, binding: &Binding) -> Option<usize> {
        let first = self.items.first().filter(|_| !self.item.is_empty())?;
        let home = binding.declared[first.declared].home;
        let alike = self.items.iter().all(|i| i.declared == first.declared && i.label != EMPTY_PLACE);
        (alike && self.are_sets() && binding.homes[home].parent == Some(0)).then_some(home)
    }

    /// Writes back records that are sets.
    fn write_sets(&self, binding: &Binding, home: usize, builder: &mut Builder) {
        let class = builder.class(ClassId::ROOT, &binding.homes[home].name);
        let name = &binding.declared[self.items[0].declared].name;
        let attribute = builder.attribute(class, name);
        // Codes are given out in the order of what is written.
        let mut known = vec![MISSING; self.items.len()];
        let mut codes: Vec<u32> = Vec::new();
        builder.reserve(self.len(), self.len() + self.item.len(), self.item.len());
        for record in 0..self.len() {
            codes.clear();
            for &number in &self.item[self.nodes(record)] {
                let code = &mut known[number as usize];
                if *code == MISSING {
                    let item = &self.items[number as usize];
                    *code = builder.code(attribute, item.kind, &item.label);
                }
                codes.push(*code);
            }
            builder.add_set(attribute, &codes).expect("no more values than were read");
        }
    }
}

/// The only quasi attribute, if there is one and it follows no other.
fn only_attribute(quasi: &[Vec<AttributeId>], binding: &Binding) -> Option<AttributeId> {
    let mut all = quasi.iter().flatten();
    let (only, None) = (*all.next()?, all.next()) else { return None };
    let declared = binding.attributes[only.index()]?;
    binding.declared[declared].follows.is_none().then_some(only)
}

/// The places of vertices that are seen to be empty.
struct Places {
    /// Per class the declared attributes, in the policy's order.
    of_class: Vec<Vec<usize>>,
}

impl Places {
    fn new(data: &Dataset, binding: &Binding, missing: Option<&str>) -> Self {
        let schema = data.schema();
        let by_home = binding.places();
        let of_class = |class: ClassId| -> Vec<usize> {
            let home = binding.classes[class.index()].filter(|_| binding.is_at_home(schema, class));
            let mut own = home.filter(|_| missing.is_some()).map_or(Vec::new(), |home| by_home[home].clone());
            if missing == Some(EMPTY_PLACE) {
                let there =
                    schema.class(class).attributes.iter().filter(|a| !data.dictionary(**a).is_empty());
                let used: FxHashSet<Option<usize>> = there.map(|a| binding.attributes[a.index()]).collect();
                own.retain(|&declared| used.contains(&Some(declared)));
            }
            own
        };
        Places { of_class: schema.classes().map(|(class, _)| of_class(class)).collect() }
    }

    fn is_seen(&self, class: ClassId, declared: usize) -> bool {
        self.of_class[class.index()].binary_search(&declared).is_ok()
    }
}

/// Items sorted by attribute and label, and for each attribute of the data the item of each code.
fn number_items(
    data: &Dataset,
    binding: &Binding,
    missing: Option<&str>,
    places: &Places,
) -> Result<(Vec<Item>, Vec<Vec<u32>>)> {
    let mut items = Vec::new();
    for declared in places.of_class.iter().flatten().copied() {
        let label = missing.map(str::to_owned);
        items.extend(label.map(|label| Item { declared, label, kind: Kind::Text }));
    }
    for (id, attribute) in data.schema().attributes() {
        if binding.role(id) == Some(Role::Quasi) {
            let declared = binding.attributes[id.index()].expect("it has a role");
            items.extend(data.dictionary(id).iter().map(|(kind, text)| Item {
                declared,
                label: text.to_owned(),
                kind,
            }));
            let is_taken = |label: &&str| data.dictionary(id).iter().any(|(_, text)| text == *label);
            if missing.filter(|&label| label == EMPTY_PLACE).is_some_and(|label| is_taken(&label)) {
                let what = "a value is the text that stands for empty places while records are worked on";
                let what = Diagnostic::error(what).at(Place::default().path(&attribute.path));
                let help = "it holds a code point that is not for text: take it out of the data";
                return Err(Failure::new(Fault::Data, what.help(help)));
            }
        }
    }
    items.sort();
    items.dedup();
    let codes = data
        .schema()
        .attributes()
        .map(|(id, _)| {
            let Some(declared) =
                binding.attributes[id.index()].filter(|_| binding.role(id) == Some(Role::Quasi))
            else {
                return Vec::new();
            };
            let find = |(kind, text): (Kind, &str)| {
                let key = (declared, text, kind);
                let at = items.partition_point(|i| (i.declared, i.label.as_str(), i.kind) < key);
                at as u32
            };
            data.dictionary(id).iter().map(find).collect()
        })
        .collect();
    Ok((items, codes))
}

/// Whether a companion column only repeats the label of the attribute it follows.
fn repeats(data: &Dataset, binding: &Binding, vertex: usize, attribute: AttributeId, code: u32) -> bool {
    let follows = binding.attributes[attribute.index()].and_then(|d| binding.declared[d].follows);
    // A leader that is not counted itself would hide its companion from the count.
    let Some(followed) = follows.filter(|&f| binding.declared[f].role == Role::Quasi) else {
        return false;
    };
    let siblings = &data.schema().class(data.class(vertex)).attributes;
    siblings.iter().any(|&a| {
        binding.attributes[a.index()] == Some(followed) && {
            let other = data.value(vertex, a);
            other != MISSING && data.dictionary(a).text(other) == data.dictionary(attribute).text(code)
        }
    })
}

fn payload_values(
    data: &Dataset,
    binding: &Binding,
    vertex: usize,
    attributes: &[AttributeId],
) -> PayloadValues {
    (attributes.iter())
        .filter_map(|&a| {
            let code = data.value(vertex, a);
            let declared = binding.attributes[a.index()]?;
            let dictionary = data.dictionary(a);
            (code != MISSING).then(|| (declared, dictionary.kind(code), dictionary.text(code).to_owned()))
        })
        .collect()
}

/// One record's tree while it grows.
#[derive(Debug, Default)]
pub struct RecordTree {
    item: Vec<u32>,
    parent: Vec<u32>,
    known: FxHashMap<(u32, u32), u32>,
    payloads: Vec<(u32, usize, PayloadValues)>,
    /// Room for sorting and numbering it.
    order: Vec<u32>,
    number: Vec<u32>,
    stack: Vec<u32>,
}

/// Up to so many nodes are gone through one by one.
const FEW: usize = 16;

impl RecordTree {
    /// The parent of the nodes directly under the record's root.
    pub const ROOT: u32 = ROOT;

    /// Starts anew.
    pub fn clear(&mut self) {
        self.item.clear();
        self.parent.clear();
        self.known.clear();
        self.payloads.clear();
    }

    /// Hangs a payload, of a vertex that belongs to `home`, under a node.
    pub fn payload(&mut self, node: u32, home: usize, values: PayloadValues) {
        self.payloads.push((node, home, values));
    }

    /// The child of a node with this item, added if there is none.
    pub fn child(&mut self, parent: u32, item: u32) -> u32 {
        let nodes = self.item.len();
        let found = if nodes <= FEW {
            (0..nodes).find(|&n| self.item[n] == item && self.parent[n] == parent).map(|n| n as u32)
        } else {
            // The first few are not in the table yet.
            (self.known.len()..nodes).for_each(|n| {
                self.known.insert((self.parent[n], self.item[n]), n as u32);
            });
            self.known.get(&(parent, item)).copied()
        };
        found.unwrap_or_else(|| self.add(parent, item))
    }

    /// One more child of a node, whatever others there are.
    fn add(&mut self, parent: u32, item: u32) -> u32 {
        self.item.push(item);
        self.parent.push(parent);
        self.item.len() as u32 - 1
    }
}

/// An attribute of a class, and the code of a value there.
type Written = (ClassId, AttributeId, u32);

/// The class and home above, and the class of a home below them.
type Below = (ClassId, usize, ClassId);

/// Writes one record back as vertices.
struct Writer<'a> {
    trees: &'a ValueTrees,
    binding: &'a Binding,
    /// Per home whether any of its quasi values is published.
    published: &'a [bool],
    /// Per item where it was written last, and its code there.
    known: &'a [Cell<Option<Written>>],
    /// Per home below which class and home it was written last with nothing between, and its class there.
    below: &'a [Cell<Option<Below>>],
    record: usize,
}

impl Writer<'_> {
    /// Opens what stands between a vertex of `home` and one of `own`, below it, and gives the class of the latter and
    /// how many vertices were opened. Classes of which nothing is published keep their place, empty; where one
    /// between has values, the vertex below has moved up and says so by its place.
    fn descend(&self, builder: &mut Builder, class: ClassId, home: usize, own: usize) -> (ClassId, usize) {
        if let Some((above, at, found)) = self.below[own].get()
            && (above, at) == (class, home)
        {
            return (found, 0);
        }
        let homes = &self.binding.homes;
        let mut between = Vec::new();
        let mut at = homes[own].parent;
        while let Some(parent) = at.filter(|&p| p != home) {
            between.push(parent);
            at = homes[parent].parent;
        }
        if between.iter().any(|&h| self.published[h]) {
            return (builder.class(class, &self.binding.key_under(home, own)), 0);
        }
        if between.is_empty() {
            let found = builder.class(class, &homes[own].name);
            self.below[own].set(Some((class, home, found)));
            return (found, 0);
        }
        let mut class = class;
        for &h in between.iter().rev() {
            class = builder.class(class, &homes[h].name);
            builder.open(class);
        }
        (builder.class(class, &homes[own].name), between.len())
    }

    fn home(&self, node: usize) -> usize {
        self.binding.declared[self.trees.items[self.trees.item(node) as usize].declared].home
    }

    fn children(&self, of: Option<usize>) -> impl Iterator<Item = usize> {
        let (from, to) = match of {
            None => (self.trees.nodes(self.record).start, self.trees.nodes(self.record).end),
            Some(node) => (node + 1, self.trees.end(node)),
        };
        let mut next = from;
        std::iter::from_fn(move || {
            let node = next;
            (node < to).then(|| {
                next = self.trees.end(node);
                node
            })
        })
    }

    fn payloads(&self, node: Option<usize>) -> impl Iterator<Item = &PayloadAt> {
        let node = node.map(|n| n as u32);
        self.trees.payloads(self.record).iter().filter(move |p| p.node == node)
    }

    fn root(&self, builder: &mut Builder) {
        // The record's own values are its root vertex, side by side or as a chain.
        let (mut own, mut below): (Vec<usize>, Vec<usize>) =
            self.children(None).partition(|&n| self.home(n) == 0);
        let mut payloads: Vec<&PayloadAt> = self.payloads(None).collect();
        while let Some(node) = own.pop() {
            self.set(builder, ClassId::ROOT, node);
            own.extend(self.children(Some(node)).filter(|&n| self.home(n) == 0));
            below.extend(self.children(Some(node)).filter(|&n| self.home(n) != 0));
            payloads.extend(self.payloads(Some(node)));
        }
        for payload in &payloads {
            if payload.home == 0 {
                self.set_payload(builder, ClassId::ROOT, payload);
            }
        }
        for payload in payloads.into_iter().filter(|p| p.home != 0) {
            self.lone_payload(builder, ClassId::ROOT, 0, payload);
        }
        let mut above = Vec::new();
        for node in below {
            self.run(builder, ClassId::ROOT, 0, &mut above, node);
        }
    }

    /// Writes the vertices of the run of same-class values that `node` continues, below a vertex of `class`.
    fn run(&self, builder: &mut Builder, class: ClassId, home: usize, above: &mut Vec<usize>, node: usize) {
        above.push(node);
        let own_home = self.home(node);
        let (same, other): (Vec<usize>, Vec<usize>) =
            self.children(Some(node)).partition(|&n| self.home(n) == own_home);
        let (own_payloads, lone): (Vec<&PayloadAt>, Vec<&PayloadAt>) =
            self.payloads(Some(node)).partition(|p| p.home == own_home);
        if same.is_empty() || !other.is_empty() || !own_payloads.is_empty() || !lone.is_empty() {
            let (own_class, opened) = self.descend(builder, class, home, own_home);
            // An object in which nothing stands is not kept by all formats: it says that anything may.
            let bare = other.is_empty() && lone.is_empty() && above.iter().all(|&n| self.is_empty_place(n));
            for i in 0..own_payloads.len().max(1) {
                builder.open(own_class);
                for &value in above.iter() {
                    self.set(builder, own_class, value);
                }
                if bare && own_payloads.is_empty() {
                    self.set_anything(builder, own_class, above[0]);
                }
                if let Some(payload) = own_payloads.get(i) {
                    self.set_payload(builder, own_class, payload);
                }
                if i == 0 {
                    for payload in &lone {
                        self.lone_payload(builder, own_class, own_home, payload);
                    }
                    for &child in &other {
                        self.run(builder, own_class, own_home, &mut Vec::new(), child);
                    }
                }
                builder.close();
            }
            (0..opened).for_each(|_| builder.close());
        }
        for child in same {
            self.run(builder, class, home, above, child);
        }
        above.pop();
    }

    fn is_empty_place(&self, node: usize) -> bool {
        self.trees.items[self.trees.item(node) as usize].label == EMPTY_PLACE
    }

    fn set_anything(&self, builder: &mut Builder, class: ClassId, node: usize) {
        let item = &self.trees.items[self.trees.item(node) as usize];
        let attribute = builder.attribute(class, &self.binding.declared[item.declared].name);
        builder.set(attribute, Kind::Text, ROOT_LABEL);
    }

    fn set(&self, builder: &mut Builder, class: ClassId, node: usize) {
        if self.is_empty_place(node) {
            return;
        }
        let number = self.trees.item(node) as usize;
        let (attribute, code) = match self.known[number].get() {
            Some((known, attribute, code)) if known == class => (attribute, code),
            _ => {
                let item = &self.trees.items[number];
                let attribute = builder.attribute(class, &self.binding.declared[item.declared].name);
                let code = builder.code(attribute, item.kind, &item.label);
                self.known[number].set(Some((class, attribute, code)));
                (attribute, code)
            }
        };
        builder.set_code(attribute, code);
    }

    fn set_payload(&self, builder: &mut Builder, class: ClassId, payload: &PayloadAt) {
        for (declared, kind, text) in &payload.values {
            let attribute = builder.attribute(class, &self.binding.declared[*declared].name);
            builder.set(attribute, *kind, text);
        }
    }

    /// A payload whose vertex has no quasi value: a vertex of its own.
    fn lone_payload(&self, builder: &mut Builder, class: ClassId, home: usize, payload: &PayloadAt) {
        let (own_class, opened) = self.descend(builder, class, home, payload.home);
        builder.open(own_class);
        self.set_payload(builder, own_class, payload);
        (0..=opened).for_each(|_| builder.close());
    }
}
