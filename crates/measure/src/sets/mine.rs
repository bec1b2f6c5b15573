//! Frequent itemsets.
//!
//! Eclat (Zaki 2000): each item has the set of records that have it, as a bitmap; sets grow by one item at a time, in
//! one order of items, and the records of a larger set are an intersection. Rarer items come first, so that what
//! grows from a set lies in few records. Where a set is in a small part of the rows that its bitmaps span, the
//! bitmaps of its extensions are cut down to the rows that have it: deep down they are as short as the support.

use bosket_model::Result;
use bosket_model::observe::Observer;
use bosket_model::value_tree::ValueTrees;

const NONE: u32 = u32::MAX;

/// A class's bitmaps are cut down to one item's rows when these are at most one in so many.
const SHRINK: usize = 4;

/// Frequent itemsets with their supports, as a prefix tree.
#[derive(Clone, Debug, Default)]
pub struct Frequent {
    /// The label of each item; items are numbered by support, the rarest first.
    labels: Vec<u32>,
    /// The item of each label.
    item_of: Vec<u32>,
    /// Per set its last item, its support, and where the sets are that have one item more.
    item: Vec<u32>,
    support: Vec<u32>,
    children: Vec<(u32, u32)>,
    /// How many sets have one item.
    singles: u32,
}

impl Frequent {
    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.item.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.item.is_empty()
    }

    /// In how many records each set is, in no particular order.
    pub fn supports(&self) -> &[u32] {
        &self.support
    }

    /// In how many records all of these labels are, if that makes a frequent set. `labels` are any, once or more often,
    /// and are used up.
    pub fn support(&self, labels: &mut Vec<u32>) -> Option<u32> {
        for label in labels.iter_mut() {
            *label = *self.item_of.get(*label as usize).filter(|&&item| item != NONE)?;
        }
        labels.sort_unstable();
        labels.dedup();
        let (mut from, mut to) = (0, self.singles);
        let mut support = None;
        for &item in labels.iter() {
            let at = from as usize + self.item[from as usize..to as usize].binary_search(&item).ok()?;
            (from, to) = self.children[at];
            support = Some(self.support[at]);
        }
        support
    }

    /// Shows all sets, as labels, with their supports.
    pub fn each(&self, mut visit: impl FnMut(&[u32], u32)) {
        let shown = self.try_each(|set, support| {
            visit(set, support);
            Ok(())
        });
        shown.expect("nobody interrupts");
    }

    /// The same until somebody has seen enough.
    pub(super) fn try_each(&self, mut visit: impl FnMut(&[u32], u32) -> Result<()>) -> Result<()> {
        let mut set = Vec::new();
        // A range of siblings that are still to be shown, with the size of what they extend.
        let mut stack = vec![(0, self.singles, 0)];
        while let Some((from, to, size)) = stack.pop() {
            if from == to {
                continue;
            }
            stack.push((from + 1, to, size));
            let at = from as usize;
            set.truncate(size);
            set.push(self.labels[self.item[at] as usize]);
            visit(&set, self.support[at])?;
            let (from, to) = self.children[at];
            stack.push((from, to, size + 1));
        }
        Ok(())
    }

    fn push(&mut self, members: &[(u32, u32)]) -> (u32, u32) {
        let from = self.item.len() as u32;
        self.item.extend(members.iter().map(|m| m.0));
        self.support.extend(members.iter().map(|m| m.1));
        self.children.resize(self.item.len(), (0, 0));
        (from, self.item.len() as u32)
    }
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The least number of records, at least 1.
    pub min_support: usize,
    /// The most items in a set.
    pub most_items: usize,
    /// The most sets in all.
    pub most_sets: usize,
}

/// All sets of labels that enough records have; none if there are more than asked for.
///
/// `label` gives each item of the trees its label, if it has one; a record has a label once, wherever it stands.
pub fn frequent_itemsets(
    trees: &ValueTrees,
    label: &[Option<u32>],
    bounds: Bounds,
    observer: &dyn Observer,
) -> Result<Option<Frequent>> {
    let Ok(min_support) = u32::try_from(bounds.min_support.max(1)) else {
        return Ok(None);
    };
    let (class, found) = singles(trees, label, min_support, observer)?;
    // Sets are numbered in 32 bits.
    let most_sets = bounds.most_sets.min(u32::MAX as usize);
    let most_items = bounds.most_items;
    let mut miner = Miner { min_support, most_items, most_sets, found, spare: Vec::new(), observer };
    if bounds.most_items == 0 {
        return Ok(Some(Frequent::default()));
    }
    let (from, to) = miner.found.push(&class.members);
    miner.found.singles = to;
    Ok(miner.grow(&class, from, 1)?.then_some(miner.found))
}

/// The sets with one item, and the numbering of items.
fn singles(
    trees: &ValueTrees,
    label: &[Option<u32>],
    min_support: u32,
    observer: &dyn Observer,
) -> Result<(Class, Frequent)> {
    let most = label.iter().flatten().max().map_or(0, |&l| l as usize + 1);
    let (mut support, mut last) = (vec![0u32; most], vec![usize::MAX; most]);
    let labels_of = |record: usize| trees.nodes(record).filter_map(|n| label[trees.item(n) as usize]);
    for record in 0..trees.len() {
        observer.go_on()?;
        for l in labels_of(record) {
            if std::mem::replace(&mut last[l as usize], record) != record {
                support[l as usize] += 1;
            }
        }
    }
    let mut labels: Vec<u32> = (0..most as u32).filter(|&l| support[l as usize] >= min_support).collect();
    labels.sort_by_key(|&l| support[l as usize]);
    let mut item_of = vec![NONE; most];
    for (item, &l) in (0u32..).zip(&labels) {
        item_of[l as usize] = item;
    }
    let mut class = Class::new(trees.len(), Vec::new());
    class.members = (0u32..).zip(labels.iter().map(|&l| support[l as usize])).collect();
    let width = class.width();
    class.bits = vec![0; class.members.len() * width];
    for record in 0..trees.len() {
        observer.go_on()?;
        for l in labels_of(record) {
            let item = item_of[l as usize];
            if item != NONE {
                class.bits[item as usize * width + record / 64] |= 1 << (record % 64);
            }
        }
    }
    Ok((class, Frequent { labels, item_of, ..Frequent::default() }))
}

/// The frequent sets with one more item than a common prefix.
struct Class {
    /// How many rows the bitmaps span.
    rows: usize,
    /// The last item of each set and its support, items ascending.
    members: Vec<(u32, u32)>,
    /// Per member the rows that have it; none if the class does not grow.
    bits: Vec<u64>,
}

impl Class {
    fn new(rows: usize, bits: Vec<u64>) -> Self {
        Class { rows, members: Vec::new(), bits }
    }

    fn width(&self) -> usize {
        self.rows.div_ceil(64)
    }

    fn column(&self, member: usize) -> &[u64] {
        &self.bits[member * self.width()..(member + 1) * self.width()]
    }
}

struct Miner<'a> {
    min_support: u32,
    most_items: usize,
    most_sets: usize,
    found: Frequent,
    /// Room of classes that are done.
    spare: Vec<Vec<u64>>,
    observer: &'a dyn Observer,
}

impl Miner<'_> {
    /// All that grows from a class, whose sets have `size` items and stand from `first`. False if it is too much.
    fn grow(&mut self, class: &Class, first: u32, size: usize) -> Result<bool> {
        if self.found.len() > self.most_sets {
            return Ok(false);
        }
        if size >= self.most_items {
            return Ok(true);
        }
        for member in 0..class.members.len() {
            let next = self.extend(class, member, size + 1 < self.most_items)?;
            if !next.members.is_empty() {
                let range = self.found.push(&next.members);
                self.found.children[first as usize + member] = range;
                if !self.grow(&next, range.0, size + 1)? {
                    return Ok(false);
                }
            }
            self.spare.push(next.bits);
        }
        Ok(true)
    }

    /// The class of the sets that have a member's items and one more; with bitmaps if it is to grow.
    fn extend(&mut self, class: &Class, member: usize, grows: bool) -> Result<Class> {
        let own = class.column(member);
        let support = class.members[member].1 as usize;
        let shrinks = support * SHRINK <= class.rows;
        let mut bits = self.spare.pop().unwrap_or_default();
        bits.clear();
        let mut next = Class::new(if shrinks { support } else { class.rows }, bits);
        let mut places: Vec<u32> = Vec::new();
        for other in member + 1..class.members.len() {
            self.observer.go_on()?;
            let column = class.column(other);
            let both: u32 = own.iter().zip(column).map(|(a, b)| (a & b).count_ones()).sum();
            if both < self.min_support {
                continue;
            }
            next.members.push((class.members[other].0, both));
            if !grows {
                continue;
            }
            if shrinks {
                if places.is_empty() {
                    places = rows_of(own);
                }
                next.bits.extend(places.chunks(64).map(|chunk| gather(column, chunk)));
            } else {
                next.bits.extend(own.iter().zip(column).map(|(a, b)| a & b));
            }
        }
        Ok(next)
    }
}

fn rows_of(column: &[u64]) -> Vec<u32> {
    let mut rows = Vec::new();
    for (at, &word) in column.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            rows.push(at as u32 * 64 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
    rows
}

/// The bits of up to 64 rows.
fn gather(column: &[u64], rows: &[u32]) -> u64 {
    let bit = |row: u32| column[row as usize / 64] >> (row % 64) & 1;
    rows.iter().rev().fold(0, |word, &row| word << 1 | bit(row))
}
