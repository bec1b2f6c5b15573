//! What a label tells about the value that it hides (`privacy.guess`).
//!
//! Local recoding generalizes a cell because its value is rare, so that the label may tell which value it was:
//!
//! ```text
//! input       f 60, m 38, diverse 2
//! published   f 60, m 37, * 3         of the 3 cells published as `*`, 2 are diverse: 67 %
//! ```
//!
//! Of the cells published as a label, no value may have a share over `guess`, unless it has that share among all cells of the input
//! below the label: then everybody would guess so. Which published cell is
//! which of the input is told by the records' pairs, and within a record by the order of its cells. In sets, and where these do not
//! fit, the narrowest label takes the first value below it, in the hierarchy's order; what is left over is hidden by the narrowest label
//! above it.

use std::collections::BTreeMap;

use bosket_model::hierarchy::{Hierarchy, NodeId, Numbers};
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Role};
use bosket_model::{AttributeId, MISSING, Result};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::truth::{Comparison, Recoding, Side};

/// What `privacy.guess` promises, in one plain sentence.
pub fn sentence(guess: f64) -> String {
    format!(
        "nobody can say from a published label alone with more than {} % certainty which value it hides, unless that value is as \
         common anyway",
        percent(guess)
    )
}

/// By what a run under a policy finds it kept.
pub fn checked(policy: &Policy) -> &'static str {
    match policy.recodes_by_one_cut() {
        true => "by one cut for all: a label hides all values below it",
        false => "with the input",
    }
}

/// A share in percent, as exact as it is given.
fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

/// A label that tells which value it hides.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The path of its attribute.
    pub path: String,
    /// The label.
    pub label: String,
    /// The value that it hides most often; none if that is an empty place. Private.
    pub value: Option<String>,
    /// How many cells are published as the label.
    pub cells: u64,
    /// How many of these have the value.
    pub hits: u64,
    /// The share of the value among all cells below the label.
    pub usual: f64,
    /// Whether it is so however records are paired.
    pub certain: bool,
}

impl Told {
    /// The share of the value among the cells that the label hides.
    pub fn share(&self) -> f64 {
        self.hits as f64 / self.cells as f64
    }

    /// For programs; the value only on demand.
    pub fn to_json(&self, show_values: bool) -> Value {
        let mut told = json!({
            "path": self.path, "label": self.label, "cells": self.cells, "hits": self.hits,
            "share": self.share(), "usual": self.usual,
        });
        if show_values {
            told["value"] = json!(self.value);
        }
        told
    }
}

/// What the labels of a publication tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guessed {
    /// The share that was promised.
    pub guess: f64,
    /// How many labels stand for several values.
    pub labels: usize,
    /// Those that tell too much, the largest share first, each by the value that has it.
    pub told: Vec<Told>,
}

impl Guessed {
    /// Whether no label tells too much.
    pub fn holds(&self) -> bool {
        self.told.is_empty()
    }

    /// For programs; values only on demand.
    pub fn to_json(&self, show_values: bool) -> Value {
        json!({
            "guess": self.guess,
            "holds": self.holds(),
            "labels": self.labels,
            "told": self.told.iter().map(|told| told.to_json(show_values)).collect::<Vec<_>>(),
        })
    }
}

/// Counts what the labels of a publication tell, by pairs of records: (published, input).
pub fn judge(
    c: &Comparison<'_>,
    pairs: &[(u32, u32)],
    guess: f64,
    observer: &dyn Observer,
) -> Result<Guessed> {
    let places = Places { counted: counts_empty_places(c.recoding), hierarchies: c.hierarchies };
    let (published, input) = (Cells::published(&c.published, &places), Cells::input(&c.input, &places));
    let mut counts = vec![Counts::default(); c.hierarchies.len()];
    for record in 0..c.input.data.len() {
        observer.go_on()?;
        input.each(record, |declared, value| counts[declared].add_input(value));
    }
    let reading = Reading::of(c.recoding);
    for &(from, to) in pairs {
        observer.go_on()?;
        let (labels, values) = (published.of(from as usize), input.of(to as usize));
        for (declared, values) in values {
            let (Some(hierarchy), Some(labels)) = (&c.hierarchies[declared], labels.get(&declared)) else {
                continue;
            };
            let own = &mut counts[declared];
            assign(labels, &values, reading, hierarchy, |label, value| own.add_published(label, value));
        }
    }
    for record in 0..c.published.data.len() {
        observer.go_on()?;
        published.each(record, |declared, (label, _)| counts[declared].add_cell(label));
    }
    let mut found = Guessed { guess, ..Guessed::default() };
    for (declared, counts) in counts.iter().enumerate() {
        let Some(hierarchy) = &c.hierarchies[declared] else { continue };
        for (label, cells) in &counts.labels {
            let below = counts.below(label, hierarchy);
            if below.all.len() < 2 {
                continue;
            }
            found.labels += 1;
            let path = &c.input.binding.declared[declared].path;
            found.told.extend(most_told(cells, &below, guess).map(|most| Told {
                path: path.clone(),
                label: label.text(hierarchy).to_owned(),
                value: most.value.map(|node| hierarchy.label(node).to_owned()),
                cells: most.cells,
                hits: most.hits,
                usual: most.usual,
                certain: counts.is_certain(label, &most, guess, hierarchy),
            }));
        }
    }
    found.told.sort_by(|a, b| b.share().total_cmp(&a.share()));
    Ok(found)
}

/// Whether empty places of the input are cells, which `*` may stand for.
fn counts_empty_places(recoding: Recoding) -> bool {
    use bosket_model::policy::Missing;
    match recoding {
        Recoding::LocalTrees => true,
        Recoding::GlobalTrees { missing, .. } | Recoding::LocalRows { missing, .. } => {
            missing == Missing::Counted
        }
        Recoding::GlobalSets | Recoding::LocalSets | Recoding::LocalItems => false,
    }
}

/// A published label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Node(NodeId),
    /// Everything between two numbers, which are the bits of the text's.
    Between(String),
}

impl Label {
    fn read(hierarchy: &Hierarchy, text: &str) -> Option<Label> {
        let between =
            || hierarchy.numbers().and(Numbers::parse(text)).map(|_| Label::Between(text.to_owned()));
        hierarchy.node(text).map(Label::Node).or_else(between)
    }

    fn text<'a>(&'a self, hierarchy: &'a Hierarchy) -> &'a str {
        match self {
            Label::Node(node) => hierarchy.label(*node),
            Label::Between(text) => text,
        }
    }

    /// Whether it may stand for a value of the input, or for an empty place.
    fn covers(&self, value: Option<NodeId>, hierarchy: &Hierarchy) -> bool {
        match (self, value) {
            (Label::Node(node), None) => *node == NodeId::ROOT,
            (Label::Node(node), Some(leaf)) => hierarchy.is_ancestor_or_self(*node, leaf),
            (Label::Between(_), None) => false,
            (Label::Between(text), Some(leaf)) => {
                let numbers = hierarchy.number(leaf).zip(Numbers::parse(text));
                numbers.is_some_and(|(number, (low, high))| (low..=high).contains(&number))
            }
        }
    }

    /// How many leaves it stands for.
    fn width(&self, hierarchy: &Hierarchy) -> usize {
        match self {
            Label::Node(node) => hierarchy.leaves(*node).len(),
            Label::Between(_) => (0..hierarchy.leaf_count() as u32)
                .filter(|&at| self.covers(Some(hierarchy.leaf_node(at)), hierarchy))
                .count(),
        }
    }
}

/// What is a cell.
struct Places<'a> {
    counted: bool,
    hierarchies: &'a [Option<Hierarchy>],
}

/// The cells of one side: what stands in each, by the attribute's number and code.
struct Cells<'a, T> {
    side: Side<'a>,
    /// Per attribute of the data its declared one, if that has a hierarchy and is a quasi attribute.
    declared: Vec<Option<usize>>,
    /// Per attribute and code what it is; none if no hierarchy has it.
    read: FxHashMap<AttributeId, Vec<Option<T>>>,
    /// What an empty place is; none if it is nothing.
    empty: Option<T>,
}

impl<'a> Cells<'a, (Label, usize)> {
    fn published(side: &Side<'a>, places: &Places<'_>) -> Self {
        Cells::new(side, places, None, |hierarchy, text| {
            let label = Label::read(hierarchy, text)?;
            let width = label.width(hierarchy);
            Some((label, width))
        })
    }
}

impl<'a> Cells<'a, Option<NodeId>> {
    fn input(side: &Side<'a>, places: &Places<'_>) -> Self {
        Cells::new(side, places, places.counted.then_some(None), |hierarchy, text| {
            hierarchy.leaf(text).map(Some)
        })
    }
}

impl<'a, T: Clone> Cells<'a, T> {
    fn new(
        side: &Side<'a>,
        places: &Places<'_>,
        empty: Option<T>,
        read: impl Fn(&Hierarchy, &str) -> Option<T>,
    ) -> Self {
        let Side { data, binding } = *side;
        let mut cells = Cells { side: *side, declared: Vec::new(), read: FxHashMap::default(), empty };
        for (id, _) in data.schema().attributes() {
            let own = binding.attributes[id.index()].filter(|&declared| {
                let attribute = &binding.declared[declared];
                attribute.role == Role::Quasi && attribute.follows.is_none()
            });
            let hierarchy = own.and_then(|declared| places.hierarchies[declared].as_ref());
            cells.declared.push(own.filter(|_| hierarchy.is_some()));
            if let Some(hierarchy) = hierarchy {
                let all = data.dictionary(id).iter().map(|(_, text)| read(hierarchy, text)).collect();
                cells.read.insert(id, all);
            }
        }
        cells
    }

    /// Tells the cells of a record in their order, with their declared attributes.
    fn each(&self, record: usize, mut tell: impl FnMut(usize, &T)) {
        let data = self.side.data;
        for vertex in data.vertices(record) {
            for id in &data.schema().class(data.class(vertex)).attributes {
                let Some(declared) = self.declared[id.index()] else { continue };
                let code = data.value(vertex, *id);
                let cell = match code {
                    MISSING => self.empty.as_ref(),
                    code => self.read[id][code as usize].as_ref(),
                };
                cell.into_iter().for_each(|cell| tell(declared, cell));
            }
        }
    }

    /// The cells of a record by their declared attributes.
    fn of(&self, record: usize) -> BTreeMap<usize, Vec<T>> {
        let mut all: BTreeMap<usize, Vec<T>> = BTreeMap::new();
        self.each(record, |declared, cell| all.entry(declared).or_default().push(cell.clone()));
        all
    }
}

/// How the labels of a record are laid over its values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// A label stands for one value.
    Each,
    /// A label may stand for several, where what is alike is published once.
    Rows,
    /// The same where nothing has an order.
    Sets,
}

impl Reading {
    fn of(recoding: Recoding) -> Self {
        match recoding {
            Recoding::LocalTrees => Reading::Each,
            Recoding::GlobalTrees { .. } | Recoding::LocalRows { .. } => Reading::Rows,
            Recoding::GlobalSets | Recoding::LocalSets | Recoding::LocalItems => Reading::Sets,
        }
    }
}

/// Tells which value of a record is published as which label.
fn assign(
    labels: &[(Label, usize)],
    values: &[Option<NodeId>],
    reading: Reading,
    hierarchy: &Hierarchy,
    mut tell: impl FnMut(&Label, Option<NodeId>),
) {
    let in_order = || labels.iter().zip(values).all(|((label, _), &value)| label.covers(value, hierarchy));
    if reading != Reading::Sets && labels.len() == values.len() && in_order() {
        labels.iter().zip(values).for_each(|((label, _), &value)| tell(label, value));
        return;
    }
    let mut narrowest: Vec<&(Label, usize)> = labels.iter().collect();
    narrowest.sort_by_key(|(_, width)| *width);
    let mut values = values.to_vec();
    if reading == Reading::Sets {
        values.sort_unstable();
    }
    let mut taken = vec![false; values.len()];
    for (label, _) in &narrowest {
        let free = (0..values.len()).find(|&at| !taken[at] && label.covers(values[at], hierarchy));
        if let Some(at) = free {
            taken[at] = true;
            tell(label, values[at]);
        }
    }
    let left = values.iter().zip(taken).filter(|(_, taken)| reading != Reading::Each && !taken);
    for (&value, _) in left {
        let over = narrowest.iter().find(|(label, _)| label.covers(value, hierarchy));
        over.into_iter().for_each(|(label, _)| tell(label, value));
    }
}

/// How often each value occurs.
type Tally = BTreeMap<Option<NodeId>, u64>;

/// The cells of one attribute.
#[derive(Clone, Debug, Default)]
struct Counts {
    input: Tally,
    published: Tally,
    labels: BTreeMap<Label, Tally>,
    /// How many published cells have a label, whatever they hide.
    cells: BTreeMap<Label, u64>,
}

/// The values below a label.
struct Below {
    /// All of the input.
    all: Tally,
}

impl Counts {
    fn add_input(&mut self, value: &Option<NodeId>) {
        *self.input.entry(*value).or_default() += 1;
    }

    fn add_cell(&mut self, label: &Label) {
        if let Some(cells) = self.cells.get_mut(label) {
            *cells += 1;
        } else {
            self.cells.insert(label.clone(), 1);
        }
    }

    /// Whether a value has too large a share of a label whatever pairs there are: so many cells have the label that those of all
    /// other values that are not published as they are cannot fill them.
    fn is_certain(&self, label: &Label, most: &Most, guess: f64, hierarchy: &Hierarchy) -> bool {
        let as_it_is = |value: &Option<NodeId>| {
            value.and_then(|node| self.cells.get(&Label::Node(node))).copied().unwrap_or(0)
        };
        let others =
            self.input.iter().filter(|(value, _)| **value != most.value && label.covers(**value, hierarchy));
        let hidden: u64 = others.map(|(value, cells)| cells.saturating_sub(as_it_is(value))).sum();
        let cells = self.cells.get(label).copied().unwrap_or(0);
        let least = cells.saturating_sub(hidden) as f64;
        least > guess.max(most.usual) * cells as f64 * (1.0 + 1e-12)
    }

    fn add_published(&mut self, label: &Label, value: Option<NodeId>) {
        *self.published.entry(value).or_default() += 1;
        if let Some(cells) = self.labels.get_mut(label) {
            *cells.entry(value).or_default() += 1;
        } else {
            self.labels.insert(label.clone(), Tally::from([(value, 1)]));
        }
    }

    fn below(&self, label: &Label, hierarchy: &Hierarchy) -> Below {
        let is_below = |value: &&Option<NodeId>| label.covers(**value, hierarchy);
        let of = |tally: &Tally| -> Tally {
            tally.keys().filter(is_below).map(|value| (*value, tally[value])).collect()
        };
        Below { all: of(&self.input) }
    }
}

/// The value that a label tells.
struct Most {
    value: Option<NodeId>,
    cells: u64,
    hits: u64,
    usual: f64,
}

/// The value with the largest share of those that have too large a one.
fn most_told(cells: &Tally, below: &Below, guess: f64) -> Option<Most> {
    let (all, of_input): (u64, u64) = (cells.values().sum(), below.all.values().sum());
    let usual = |value: &Option<NodeId>| below.all.get(value).copied().unwrap_or(0);
    let is_told = |(value, hits): &(&Option<NodeId>, &u64)| {
        let guessed = **hits as f64 > guess * all as f64 * (1.0 + 1e-12);
        let as_usual =
            u128::from(**hits) * u128::from(of_input) <= u128::from(usual(value)) * u128::from(all);
        guessed && !as_usual
    };
    let most = cells.iter().filter(is_told).max_by_key(|(_, hits)| **hits)?;
    Some(Most { value: *most.0, cells: all, hits: *most.1, usual: usual(most.0) as f64 / of_input as f64 })
}
