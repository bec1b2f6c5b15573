//! Which record goes into which cell: a binary tree of questions, made from a sample and asked everywhere.
//!
//! A question is: does the record have at least so many vertices, of one class, whose value of one attribute is among some
//! neighbouring leaves of its hierarchy? That splits people by where they live as well as by how many courses of a department
//! they take. Leaves are told by their positions, so hierarchies must be the same wherever the splitter is asked.

use serde_json::{Value, json};

use bosket_model::binding::Binding;
use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Observer;
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

use super::facts::unreadable;
use crate::cluster::forest::{Column, columns};
use crate::cluster::params::Params;
use crate::params::Input;

/// Cells with fewer clusters than this, of the least size, join their sibling.
const LEAST_CLUSTERS: u64 = 10;

/// Where missing values stand: behind all leaves.
pub(super) const MISSING_AT: u32 = u32::MAX - 1;

/// A question about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// The home of the vertices that are counted.
    pub(super) home: usize,
    /// Of these, only such with a value of this declared attribute among the leaves; all if none is named.
    pub(super) declared: Option<usize>,
    /// Positions of leaves, from the first up to the second; [`MISSING_AT`] is that of missing values.
    pub(super) leaves: (u32, u32),
    /// How many are asked for.
    pub(super) times: u32,
}

/// What comes after a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Cell(u32),
    Split(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Split {
    question: Question,
    /// Where records go that do not meet it, and those that do.
    next: [Next; 2],
}

/// Puts records into cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splitter {
    first: Next,
    /// Each stands behind the one that leads to it.
    splits: Vec<Split>,
    cells: usize,
}

impl Splitter {
    /// Everybody in one cell.
    pub(super) fn whole() -> Self {
        Splitter { first: Next::Cell(0), splits: Vec::new(), cells: 1 }
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Splits a cell in two: who does not meet the question stays, the others are a new cell, the last.
    pub(super) fn split(&mut self, cell: usize, question: Question) {
        let new = Next::Split(self.splits.len() as u32);
        let old = Next::Cell(cell as u32);
        self.lead(old, new);
        self.splits.push(Split { question, next: [old, Next::Cell(self.cells as u32)] });
        self.cells += 1;
    }

    /// Leads to somewhere else what has led to one place.
    fn lead(&mut self, from: Next, to: Next) {
        let nexts = self.splits.iter_mut().flat_map(|split| split.next.iter_mut());
        nexts.chain([&mut self.first]).filter(|next| **next == from).for_each(|next| *next = to);
    }

    /// Per record its cell.
    pub fn assign(&self, batch: Input<'_>, observer: &dyn Observer) -> Result<Vec<u32>> {
        let asked = Asked::new(batch)?;
        let mut cells = Vec::with_capacity(batch.data.len());
        for record in 0..batch.data.len() {
            observer.go_on()?;
            let mut next = self.first;
            cells.push(loop {
                match next {
                    Next::Cell(cell) => break cell,
                    Next::Split(at) => {
                        let split = &self.splits[at as usize];
                        next = split.next[usize::from(asked.meets(record, &split.question))];
                    }
                }
            });
        }
        Ok(cells)
    }

    /// The same without cells that are too small for good clusters: their records go where their sibling's go. `counts` are the records
    /// of each cell, over all batches.
    #[must_use]
    pub fn joined(&self, counts: &[u64], params: &Params) -> Splitter {
        let least = LEAST_CLUSTERS * params.size() as u64;
        let mut splitter = self.clone();
        let mut gone = vec![false; self.splits.len()];
        let mut small: Vec<(u64, u32)> =
            (0u32..).zip(counts).filter(|(_, n)| **n < least).map(|(cell, n)| (*n, cell)).collect();
        small.sort_unstable();
        for (_, cell) in small {
            let parent = (splitter.splits.iter().enumerate())
                .find(|(at, split)| !gone[*at] && split.next.contains(&Next::Cell(cell)));
            let Some((at, split)) = parent else { continue };
            let sibling = split.next[usize::from(split.next[0] == Next::Cell(cell))];
            gone[at] = true;
            splitter.lead(Next::Split(at as u32), sibling);
        }
        splitter.renumbered()
    }

    /// The same with splits and cells numbered as they are come to.
    fn renumbered(&self) -> Splitter {
        let mut new = Splitter { first: Next::Cell(0), splits: Vec::new(), cells: 0 };
        // Where the next one is written down: the place before everything, or one behind a split.
        let mut open = vec![(self.first, None)];
        while let Some((next, place)) = open.pop() {
            let number = match next {
                Next::Cell(_) => {
                    new.cells += 1;
                    Next::Cell(new.cells as u32 - 1)
                }
                Next::Split(at) => {
                    let number = new.splits.len();
                    let split = self.splits[at as usize];
                    new.splits.push(split);
                    open.extend([1, 0].map(|side| (split.next[side], Some((number, side)))));
                    Next::Split(number as u32)
                }
            };
            match place {
                None => new.first = number,
                Some((split, side)) => new.splits[split].next[side] = number,
            }
        }
        new
    }

    /// The JSON form. Numbers only: declared attributes by their place in the policy, leaves by theirs in the hierarchy.
    pub fn to_json(&self) -> Value {
        let next = |next: Next| match next {
            Next::Cell(cell) => json!({"cell": cell}),
            Next::Split(at) => json!({"split": at}),
        };
        let splits = self.splits.iter().map(|Split { question, next: [no, yes] }| {
            json!({
                "home": question.home, "declared": question.declared,
                "from": question.leaves.0, "to": question.leaves.1, "times": question.times,
                "no": next(*no), "yes": next(*yes),
            })
        });
        json!({"first": next(self.first), "splits": splits.collect::<Vec<_>>()})
    }

    /// Reads the JSON form.
    pub fn from_json(value: &Value) -> Result<Self> {
        let number = |value: &Value, key: &str| u32::try_from(value.get(key)?.as_u64()?).ok();
        let next = |value: Option<&Value>| -> Option<Next> {
            let value = value?;
            number(value, "cell").map(Next::Cell).or_else(|| number(value, "split").map(Next::Split))
        };
        let split = |value: &Value| -> Option<Split> {
            let declared = match value.get("declared")? {
                Value::Null => None,
                _ => Some(number(value, "declared")? as usize),
            };
            let question = Question {
                home: number(value, "home")? as usize,
                declared,
                leaves: (number(value, "from")?, number(value, "to")?),
                times: number(value, "times")?,
            };
            Some(Split { question, next: [next(value.get("no"))?, next(value.get("yes"))?] })
        };
        let read = || {
            let splits: Option<Vec<Split>> = value.get("splits")?.as_array()?.iter().map(split).collect();
            let splits = splits?;
            let cells = splits.len() + 1;
            let splitter = Splitter { first: next(value.get("first"))?, splits, cells };
            splitter.is_sound().then_some(splitter)
        };
        read().ok_or_else(|| unreadable("splits of records into cells"))
    }

    /// Whether every cell and every split is come to once, and no walk is endless.
    fn is_sound(&self) -> bool {
        let mut cells = vec![false; self.cells];
        let mut splits = vec![false; self.splits.len()];
        let mut once = |next: Next, behind: Option<usize>| match next {
            Next::Cell(cell) => {
                cells.get_mut(cell as usize).is_some_and(|seen| !std::mem::replace(seen, true))
            }
            Next::Split(at) => {
                behind.is_none_or(|behind| at as usize > behind)
                    && splits.get_mut(at as usize).is_some_and(|seen| !std::mem::replace(seen, true))
            }
        };
        let first = once(self.first, None);
        let nexts = self.splits.iter().enumerate();
        first
            && nexts
                .flat_map(|(at, split)| split.next.map(|next| (next, at)))
                .all(|(next, at)| once(next, Some(at)))
    }
}

/// Records that questions are asked about.
pub(super) struct Asked<'a> {
    data: &'a Dataset,
    binding: &'a Binding,
    columns: Vec<Column<'a>>,
}

impl<'a> Asked<'a> {
    /// Refuses values that are in no hierarchy.
    pub(super) fn new(input: Input<'a>) -> Result<Self> {
        let Input { data, binding, hierarchies } = input;
        Ok(Asked { data, binding, columns: columns(data, binding, hierarchies)? })
    }

    /// The quasi attributes.
    pub(super) fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }

    /// The positions of a record's values of an attribute, one per vertex of its home. An attribute that the batch does not have
    /// is missing everywhere.
    pub(super) fn positions(
        &self,
        record: usize,
        home: usize,
        declared: usize,
    ) -> impl Iterator<Item = u32> + '_ {
        self.data.vertices(record).filter_map(move |vertex| {
            let class = self.data.class(vertex);
            if self.binding.classes[class.index()] != Some(home) {
                return None;
            }
            let own = |column: &&Column<'_>| {
                column.declared == declared && self.class_of(column.attribute) == class
            };
            Some(match self.columns.iter().find(own) {
                None => MISSING_AT,
                Some(column) => position(column, self.data.value(vertex, column.attribute)),
            })
        })
    }

    fn class_of(&self, attribute: AttributeId) -> ClassId {
        self.data.schema().attribute(attribute).class
    }

    /// How many vertices of a home a record has.
    pub(super) fn vertices(&self, record: usize, home: usize) -> usize {
        let own = |v: &usize| self.binding.classes[self.data.class(*v).index()] == Some(home);
        self.data.vertices(record).filter(own).count()
    }

    /// The home of a declared attribute.
    pub(super) fn home(&self, declared: usize) -> usize {
        self.binding.declared[declared].home
    }

    /// The homes of all classes that the data has.
    pub(super) fn homes(&self) -> impl Iterator<Item = usize> + '_ {
        self.binding.classes.iter().flatten().copied()
    }

    pub(super) fn meets(&self, record: usize, question: &Question) -> bool {
        let (from, to) = question.leaves;
        let count = match question.declared {
            None => self.vertices(record, question.home),
            Some(declared) => {
                let positions = self.positions(record, question.home, declared);
                positions.filter(|&p| from <= p && p < to).count()
            }
        };
        count >= question.times as usize
    }
}

/// The position of a value's leaf; behind all of them for a missing one.
fn position(column: &Column<'_>, code: u32) -> u32 {
    match code {
        MISSING => MISSING_AT,
        code => column.hierarchy.leaves(NodeId(column.leaves[code as usize])).start,
    }
}
