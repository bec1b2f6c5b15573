//! One record as its definition has it: a node is the path of values from the record's root to it.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use bosket_model::binding::{Binding, Declared};
use bosket_model::policy::{Role, RootMode};
use bosket_model::{AttributeId, ClassId, Dataset, MISSING};

/// The items from the root to a node, each with a number of its own where rows stand for themselves, and 0 where those that
/// look alike are one.
pub(super) type NodePath = Vec<(u32, u32)>;

/// A declared attribute in a class of the data.
#[derive(Clone, Copy)]
struct Shown {
    declared: usize,
    /// None if the data does not name it in this class.
    attribute: Option<AttributeId>,
    /// Whether an empty place of it is seen, once empty places count.
    has_place: bool,
}

/// Reads records one by one, as they are asked for.
pub(super) struct Reader<'a> {
    data: &'a Dataset,
    binding: &'a Binding,
    root: RootMode,
    united: bool,
    /// Whether an empty place counts as `*`, and a vertex that has no place as one.
    shows_empty: (bool, bool),
    /// Labels that the attacker does not know.
    hidden: &'a [String],
    /// Per class what a vertex can show, in the policy's order: each declared attribute, where the data has it, and whether an
    /// empty place of it is seen.
    shown: Vec<Vec<Shown>>,
    /// What records show wherever an attacker knows all, by number, each the items in ascending order.
    classes: Vec<Vec<u32>>,
    class_numbers: FxHashMap<Vec<u32>, u32>,
    /// Numbers of values: declared attribute and text.
    numbers: FxHashMap<(usize, &'a str), u32>,
    /// Per number the declared attribute, and the text.
    declared: Vec<usize>,
    texts: Vec<&'a str>,
    /// Per quasi attribute and code the number, if the value was met and the attacker knows it.
    of_code: Vec<Vec<Option<Option<u32>>>>,
    /// The items of records that were read, one record behind the other: sampling comes by the same records often.
    read: Vec<u32>,
    /// Per record its place there.
    place: Vec<Option<(usize, usize)>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        binding: &'a Binding,
        (root, united): (RootMode, bool),
        hidden: &'a [String],
    ) -> Self {
        let schema = data.schema();
        let codes = |id: AttributeId| match binding.role(id) {
            Some(Role::Quasi) => vec![None; data.dictionary(id).len()],
            _ => Vec::new(),
        };
        Reader {
            data,
            binding,
            root,
            united,
            shows_empty: (false, false),
            hidden,
            shown: schema.classes().map(|(id, _)| shown(data, binding, id)).collect(),
            classes: Vec::new(),
            class_numbers: FxHashMap::default(),
            numbers: FxHashMap::default(),
            declared: Vec::new(),
            texts: Vec::new(),
            of_code: schema.attributes().map(|(id, _)| codes(id)).collect(),
            read: Vec::new(),
            place: vec![None; data.len()],
        }
    }

    /// The same where a value that is not there counts as `*`; a vertex that has no place for one only if `sections`.
    pub(super) fn showing_empty(mut self, counted: bool, sections: bool) -> Self {
        self.shows_empty = (counted, counted && sections);
        self
    }

    /// Labels that the attacker does not know.
    pub(super) fn hidden(&self) -> &'a [String] {
        self.hidden
    }

    /// The declared attribute of an item.
    pub(super) fn declared(&self, item: u32) -> usize {
        self.declared[item as usize]
    }

    /// The text of an item.
    pub(super) fn text(&self, item: u32) -> &'a str {
        self.texts[item as usize]
    }

    /// Adds the items of a vertex in the policy's order.
    fn of_vertex(&mut self, vertex: usize, out: &mut Vec<u32>) {
        let class = self.data.class(vertex).index();
        let mut places = 0;
        for at in 0..self.shown[class].len() {
            let Shown { declared, attribute, has_place } = self.shown[class][at];
            let named = attribute.filter(|&a| !self.data.dictionary(a).is_empty());
            places += usize::from(named.is_some() || has_place);
            let value = attribute.map_or(MISSING, |attribute| self.data.value(vertex, attribute));
            if let Some(attribute) = attribute.filter(|_| value != MISSING) {
                if !self.repeats_its_leader(vertex, attribute, value) {
                    out.extend(self.item(attribute, value));
                }
            } else if has_place && self.shows_empty.0 {
                out.push(self.number(declared, "*"));
            }
        }
        if places == 0
            && self.shows_empty.1
            && class_is_at_home(self.data, self.binding, self.data.class(vertex))
        {
            let home = self.binding.classes[class].unwrap_or(0);
            let below = |d: &Declared| d.role == Role::Quasi && self.binding.is_below(d.home, home);
            let holds_entries = self.binding.declared.iter().any(below);
            out.extend(
                (home != 0 && holds_entries).then(|| self.number(self.binding.declared.len() + home, "*")),
            );
        }
    }

    fn number(&mut self, declared: usize, text: &'a str) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry((declared, text)).or_insert_with(|| {
            self.declared.push(declared);
            self.texts.push(text);
            next
        })
    }

    /// The item of a value; none if the attacker does not know it.
    pub(super) fn item(&mut self, attribute: AttributeId, code: u32) -> Option<u32> {
        if let Some(known) = self.of_code[attribute.index()][code as usize] {
            return known;
        }
        let dictionary = self.data.dictionary(attribute);
        let text = dictionary.text(code);
        let declared = self.binding.attributes[attribute.index()]?;
        let item = (!self.hidden.iter().any(|label| label == text)).then(|| self.number(declared, text));
        self.of_code[attribute.index()][code as usize] = Some(item);
        item
    }

    /// A companion that says the same word as the attribute it follows says nothing of its own.
    fn repeats_its_leader(&self, vertex: usize, attribute: AttributeId, code: u32) -> bool {
        let Reader { data, binding, .. } = self;
        let followed = binding.attributes[attribute.index()].and_then(|d| binding.declared[d].follows);
        let Some(followed) = followed.filter(|&f| binding.declared[f].role == Role::Quasi) else {
            return false;
        };
        let text = data.dictionary(attribute).text(code);
        data.schema().class(data.class(vertex)).attributes.iter().any(|&other| {
            let said = data.value(vertex, other);
            binding.attributes[other.index()] == Some(followed)
                && said != MISSING
                && data.dictionary(other).text(said) == text
        })
    }

    /// The number of what a record shows at the places of which an attacker knows all.
    pub(super) fn class(&mut self, record: usize, knows: &[usize]) -> u32 {
        let mut shown = self.items(record).to_vec();
        shown.retain(|&item| knows.contains(&self.declared(item)));
        shown.sort_unstable();
        shown.dedup();
        let next = self.classes.len() as u32;
        *self.class_numbers.entry(shown).or_insert_with_key(|shown| {
            self.classes.push(shown.clone());
            next
        })
    }

    /// The items of a class.
    pub(super) fn items_of_class(&self, class: u32) -> &[u32] {
        &self.classes[class as usize]
    }

    /// All items of a record, as often as they occur.
    pub(super) fn items(&mut self, record: usize) -> &[u32] {
        let (from, to) = match self.place[record] {
            Some(place) => place,
            None => {
                let mut read = std::mem::take(&mut self.read);
                let from = read.len();
                self.data.vertices(record).for_each(|vertex| self.of_vertex(vertex, &mut read));
                self.read = read;
                *self.place[record].insert((from, self.read.len()))
            }
        };
        &self.read[from..to]
    }

    /// The nodes of a record, each once.
    pub(super) fn nodes(&mut self, record: usize) -> Vec<NodePath> {
        let vertices = self.data.vertices(record);
        let first = vertices.start;
        let mut nodes = BTreeSet::new();
        let mut last: Vec<NodePath> = Vec::new();
        let mut met = 0;
        for vertex in vertices {
            let mut path = self.data.parent(vertex).map_or(Vec::new(), |p| last[p - first].clone());
            let apart = self.data.class(vertex) == ClassId::ROOT && self.root == RootMode::Separate;
            let mut own = Vec::new();
            self.of_vertex(vertex, &mut own);
            for item in own {
                met += u32::from(!self.united);
                if apart {
                    nodes.insert(vec![(item, met)]);
                } else {
                    path.push((item, met));
                    nodes.insert(path.clone());
                }
            }
            last.push(path);
        }
        nodes.into_iter().collect()
    }
}

/// What vertices of a class can show. A place is seen to be empty by whoever knows that the vertex is there, be it named
/// anywhere in the data or not: if the vertex is where it belongs and its class is more than one value.
fn shown(data: &Dataset, binding: &Binding, class: ClassId) -> Vec<Shown> {
    let Some(home) = binding.classes[class.index()] else { return Vec::new() };
    let of_home = binding.declared.iter().filter(|d| d.home == home).count();
    let at_home = class_is_at_home(data, binding, class);
    let attributes = data.schema().class(class).attributes.iter();
    let named: FxHashMap<Option<usize>, AttributeId> =
        attributes.map(|&a| (binding.attributes[a.index()], a)).collect();
    let mut all = Vec::new();
    for (declared, own) in binding.declared.iter().enumerate() {
        if own.home != home || own.role != Role::Quasi {
            continue;
        }
        let attribute = named.get(&Some(declared)).copied();
        let is_item_of_array = home != 0 && own.name.is_empty() && of_home == 1;
        let has_place = at_home && !is_item_of_array && own.follows.is_none();
        all.push(Shown { declared, attribute, has_place });
    }
    all
}

/// Whether a class hangs where the policy has it, and so all above it.
fn class_is_at_home(data: &Dataset, binding: &Binding, class: ClassId) -> bool {
    let schema = data.schema();
    let home = |class: ClassId| binding.classes[class.index()];
    let mut up = std::iter::successors(Some(class), |&class| schema.class(class).parent);
    up.all(|class| {
        home(class).is_some_and(|own| schema.class(class).parent.and_then(home) == binding.homes[own].parent)
    })
}

/// Whether one node is above the other.
pub(super) fn on_one_path(a: &NodePath, b: &NodePath) -> bool {
    a != b && (a.starts_with(b) || b.starts_with(a))
}

/// What a reader of all records may put together again.
pub(super) struct Guarded {
    /// Items that some record shows one above the other.
    shown: FxHashSet<(u32, u32)>,
    /// Per declared attribute those that can be above it.
    above: Vec<Vec<usize>>,
}

impl Guarded {
    pub(super) fn new(binding: &Binding, root: RootMode) -> Self {
        // Behind the declared attributes: vertices without a place for a value, by their homes.
        let home = |d: usize| match binding.declared.get(d) {
            Some(declared) => declared.home,
            None => d - binding.declared.len(),
        };
        let can_be_above = |x: usize, b: usize| {
            let (upper, lower) = (home(x), home(b));
            (upper != 0 || root == RootMode::Chain)
                && (binding.is_below(lower, upper) || (upper == lower && x < b))
        };
        let all = 0..binding.declared.len() + binding.homes.len();
        let above = all.clone().map(|b| all.clone().filter(|&x| can_be_above(x, b)).collect()).collect();
        Guarded { shown: FxHashSet::default(), above }
    }

    /// Takes a record into account.
    pub(super) fn show(&mut self, nodes: &[NodePath]) {
        for node in nodes {
            let below = node[node.len() - 1].0;
            self.shown.extend(node[..node.len() - 1].iter().map(|&(above, _)| (above, below)));
        }
    }

    /// The pairs of nodes (x, b) of a record of which b can only have come from x: b's parent lacks a level above b, and of
    /// that level exactly one value that no record shows above b hangs below the parent.
    pub(super) fn inferred(&self, nodes: &[NodePath], reader: &Reader<'_>) -> Vec<(usize, usize)> {
        let level = |path: &NodePath| reader.declared(path[path.len() - 1].0);
        let mut found = Vec::new();
        for (at, b) in nodes.iter().enumerate() {
            let parent = b[..b.len() - 1].to_vec();
            let is_there = |missing: usize| {
                !parent.is_empty()
                    && (level(&parent) == missing || self.above[level(&parent)].contains(&missing))
            };
            for &missing in self.above[level(b)].iter().filter(|&&missing| !is_there(missing)) {
                let could_be = |x: &NodePath| {
                    x.len() > parent.len()
                        && x.starts_with(&parent)
                        && level(x) == missing
                        && !self.shown.contains(&(x[x.len() - 1].0, b[b.len() - 1].0))
                };
                let places: Vec<usize> = (0..nodes.len()).filter(|&x| could_be(&nodes[x])).collect();
                let values: BTreeSet<u32> = places.iter().map(|&x| nodes[x][nodes[x].len() - 1].0).collect();
                if values.len() == 1 {
                    found.extend(places.into_iter().map(|x| (x, at)));
                }
            }
        }
        found
    }
}
