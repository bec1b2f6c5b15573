//! What can be known of a record: some of its labels, and some of the relations between them.
//!
//! Who knows all of some attributes at once tells records apart by what they show there, their class. A class has a number of
//! its own, which stands in a piece like a label:
//!
//! ```text
//! record   f, Alton, flu, cold        neighbour (f and Alton at once, one value more):  {C7}, {C7, flu}, {C7, cold}
//! ```

use rustc_hash::FxHashMap;

use super::promise::{Promise, Rare};
use super::{Cells, Label, NONE, Taxonomy};

/// The most labels of a piece, with the number of its class: each takes 21 bits of its key, each two of them two bits.
pub(super) const MOST: usize = 5;
const BITS: u32 = 21;

/// A piece of knowledge: its labels in ascending order, and which is above which.
pub(super) type Piece = u128;
/// All relations of the piece are at one place.
const AT_ONE_PLACE: Piece = 1 << 126;

/// A cell by its place in the record, with the cells above it as bits.
type Placed = (u32, Vec<u64>);

/// Who is told a piece, and how many records must show it; false ends it.
type Tell<'t> = &'t mut dyn FnMut(Piece, u32) -> bool;

/// Numbers for what attackers know at once, above those of all labels.
struct Classes {
    first: Label,
    number: FxHashMap<(u32, Vec<Label>), Label>,
    /// Per class the labels that it stands for.
    labels: Vec<Vec<Label>>,
}

impl Classes {
    fn number(&mut self, knower: usize, known: Vec<Label>) -> Label {
        let next = self.first + self.labels.len() as Label;
        *self.number.entry((knower as u32, known)).or_insert_with_key(|(_, known)| {
            self.labels.push(known.clone());
            next
        })
    }
}

/// The labels of one record, and which stands above which somewhere in it.
pub(super) struct Shown<'a> {
    promise: &'a Promise,
    taxonomy: &'a Taxonomy,
    /// Most relations that anybody knows.
    relations: usize,
    classes: Classes,
    /// Ascending, each once.
    labels: Vec<Label>,
    /// Per two labels, by their places, whether the first stands above the second.
    above: Vec<bool>,
    /// Per label its cells; where relations are read at one place.
    cells: Vec<Vec<Placed>>,
    /// Per attacker the number of the record's class, if they tell by it.
    class: Vec<Option<Label>>,
}

/// How a choice of labels goes on: for whom, from which place, and which places it has already or must not have.
#[derive(Clone, Copy)]
struct Choice {
    knower: usize,
    own: usize,
    skip: Option<usize>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(promise: &'a Promise, taxonomy: &'a Taxonomy) -> Self {
        let first = taxonomy.parent.len() as Label;
        Shown {
            promise,
            taxonomy,
            relations: promise.relations(),
            classes: Classes { first, number: FxHashMap::default(), labels: Vec::new() },
            labels: Vec::new(),
            above: Vec::new(),
            cells: Vec::new(),
            class: Vec::new(),
        }
    }

    /// Whether there are more classes than a piece has numbers for.
    pub(super) fn is_full(&self) -> bool {
        self.classes.first as usize + self.classes.labels.len() + 1 >= 1 << BITS
    }

    /// Reads a record; `label` says what a cell carries.
    pub(super) fn read(&mut self, cells: &Cells, record: usize, label: impl Fn(usize) -> Label) {
        let range = cells.of(record);
        let hidden = self.taxonomy.hidden;
        self.labels.clear();
        self.labels.extend(range.clone().map(&label).filter(|&label| Some(label) != hidden));
        self.labels.sort_unstable();
        self.labels.dedup();
        self.read_classes();
        self.above.clear();
        self.cells.clear();
        if self.relations == 0 {
            return;
        }
        let count = self.labels.len();
        self.above.resize(count * count, false);
        let place = |labels: &[Label], cell: usize| labels.partition_point(|&l| l < label(cell));
        if self.relations > 1 {
            self.cells.resize(count, Vec::new());
        }
        let words = range.len().div_ceil(64);
        for cell in range.clone() {
            let below = place(&self.labels, cell);
            let mut over = vec![0; if self.relations > 1 { words } else { 0 }];
            let mut at = cells.above[cell];
            while at != NONE {
                let upper = place(&self.labels, at as usize);
                self.above[upper * count + below] = true;
                let bit = at as usize - range.start;
                over.get_mut(bit / 64).into_iter().for_each(|word| *word |= 1 << (bit % 64));
                at = cells.above[at as usize];
            }
            if self.relations > 1 {
                self.cells[below].push(((cell - range.start) as u32, over));
            }
        }
    }

    fn read_classes(&mut self) {
        self.class.clear();
        for (at, knower) in self.promise.knowers.iter().enumerate() {
            let attribute = |label: &Label| self.taxonomy.attribute[*label as usize] as usize;
            let known = || self.labels.iter().copied().filter(|l| knower.knows[attribute(l)]).collect();
            let class = self.promise.has_class[at].then(known);
            self.class.push(class.map(|known| self.classes.number(at, known)));
        }
    }

    fn place(&self, label: Label) -> Option<usize> {
        self.labels.binary_search(&label).ok()
    }

    /// Whether an attacker may know the label at a place besides what they know at once.
    fn may_know(&self, knower: usize, place: usize) -> bool {
        let attribute = self.taxonomy.attribute[self.labels[place] as usize];
        self.promise.knowers[knower].among[attribute as usize]
    }

    /// Tells all pieces that hold `label`, but not `without`, another one of its attribute.
    pub(super) fn each(&self, label: Label, without: Option<Label>, tell: Tell<'_>) -> bool {
        let Some(own) = self.place(label) else { return true };
        let skip = without.and_then(|label| self.place(label));
        let attribute = self.taxonomy.attribute[label as usize] as usize;
        for (at, knower) in self.promise.knowers.iter().enumerate() {
            let go_on = if knower.knows[attribute] {
                // All that they know of the record holds both.
                skip.is_some() || self.all_of(at, tell)
            } else if knower.among[attribute] && knower.m > 0 {
                self.extend(0, Choice { knower: at, own, skip }, &mut vec![own], tell)
            } else {
                true
            };
            if !go_on {
                return false;
            }
        }
        true
    }

    /// Tells all pieces.
    pub(super) fn all(&self, tell: Tell<'_>) {
        let _ = (0..self.promise.knowers.len()).all(|knower| self.all_of(knower, tell));
    }

    /// Tells all pieces of one attacker.
    fn all_of(&self, at: usize, tell: Tell<'_>) -> bool {
        let knower = &self.promise.knowers[at];
        if self.class[at].is_some() && !self.related(at, &[], tell) {
            return false;
        }
        if knower.m == 0 {
            return true;
        }
        (0..self.labels.len()).filter(|&first| self.may_know(at, first)).all(|first| {
            self.extend(first + 1, Choice { knower: at, own: first, skip: None }, &mut vec![first], tell)
        })
    }

    fn extend(&self, from: usize, choice: Choice, chosen: &mut Vec<usize>, tell: Tell<'_>) -> bool {
        if !self.related(choice.knower, chosen, tell) {
            return false;
        }
        if chosen.len() == self.promise.knowers[choice.knower].m {
            return true;
        }
        for next in from..self.labels.len() {
            if next == choice.own || Some(next) == choice.skip || !self.may_know(choice.knower, next) {
                continue;
            }
            chosen.push(next);
            let go_on = self.extend(next + 1, choice, chosen, tell);
            chosen.pop();
            if !go_on {
                return false;
            }
        }
        true
    }

    /// Tells the chosen labels with every choice of relations between them.
    fn related(&self, knower: usize, chosen: &[usize], tell: Tell<'_>) -> bool {
        let (k, n) = (self.promise.knowers[knower].k, self.promise.knowers[knower].n);
        let mut sorted = [0usize; MOST];
        let sorted = &mut sorted[..chosen.len()];
        sorted.copy_from_slice(chosen);
        sorted.sort_unstable();
        let mut base: Piece = 0;
        for &place in sorted.iter() {
            base = base << BITS | Piece::from(self.labels[place] + 1);
        }
        if let Some(class) = self.class[knower] {
            base = base << BITS | Piece::from(class + 1);
        }
        base <<= (MOST * (MOST - 1)) as u32;
        if n == 0 || self.above.is_empty() || chosen.len() < 2 {
            return tell(base, k);
        }
        let count = self.labels.len();
        let mut relations = [0u32; MOST * (MOST - 1)];
        let mut found = 0;
        let mut bit = 0;
        for (a, &first) in sorted.iter().enumerate() {
            for &second in &sorted[a + 1..] {
                for (upper, lower) in [(first, second), (second, first)] {
                    if self.above[upper * count + lower] {
                        relations[found] = bit;
                        found += 1;
                    }
                    bit += 1;
                }
            }
        }
        let tell = &mut |piece| tell(piece, k);
        subsets(&relations[..found], n, base, tell)
            && (n < 2 || found < 2 || self.at_one_place(n, sorted, base | AT_ONE_PLACE, tell))
    }

    /// The labels of a piece, with those that its class stands for.
    pub(super) fn labels_of(&self, piece: Piece) -> Rare {
        let labels = (piece & !AT_ONE_PLACE) >> (MOST * (MOST - 1)) as u32;
        let label = |at: usize| (labels >> (BITS * at as u32)) as u32 & ((1 << BITS) - 1);
        let mut all = Rare::new();
        for label in (0..MOST).map(label).take_while(|&label| label != 0).map(|label| label - 1) {
            match label.checked_sub(self.classes.first) {
                Some(class) => all.extend_from_slice(&self.classes.labels[class as usize]),
                None => all.push(label),
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Tells the chosen labels with every choice of at least two relations that one choice of cells has.
    fn at_one_place(
        &self,
        n: usize,
        sorted: &[usize],
        base: Piece,
        tell: &mut dyn FnMut(Piece) -> bool,
    ) -> bool {
        let mut found: Vec<Piece> = Vec::new();
        self.places(sorted, &mut Vec::new(), &mut |cells| {
            let is_above = |a: &Placed, b: &Placed| b.1[a.0 as usize / 64] >> (a.0 % 64) & 1 == 1;
            let (mut relations, mut bit) = (Vec::new(), 0u32);
            for (a, first) in cells.iter().enumerate() {
                for second in &cells[a + 1..] {
                    for (upper, lower) in [(first, second), (second, first)] {
                        relations.extend(is_above(upper, lower).then_some(bit));
                        bit += 1;
                    }
                }
            }
            if relations.len() > 1 {
                subsets(&relations, n, base, &mut |piece| {
                    found.push(piece);
                    true
                });
            }
        });
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter(|piece| (piece ^ base).count_ones() > 1).all(tell)
    }

    /// Every choice of one cell per label.
    fn places<'s>(
        &'s self,
        sorted: &[usize],
        chosen: &mut Vec<&'s Placed>,
        with: &mut dyn FnMut(&[&'s Placed]),
    ) {
        let Some((&label, rest)) = sorted.split_first() else { return with(chosen) };
        for cell in &self.cells[label] {
            chosen.push(cell);
            self.places(rest, chosen, with);
            chosen.pop();
        }
    }
}

fn subsets(relations: &[u32], n: usize, piece: Piece, tell: &mut dyn FnMut(Piece) -> bool) -> bool {
    if !tell(piece) {
        return false;
    }
    if n == 0 {
        return true;
    }
    (0..relations.len()).all(|at| subsets(&relations[at + 1..], n - 1, piece | 1 << relations[at], tell))
}

/// About how many pieces a record with so many labels has that hold a given one.
pub(super) fn estimate(labels: usize, (m, n): (usize, usize)) -> u64 {
    let mut all = 1u64;
    let mut choices = 1u64;
    for at in 1..m.min(labels.max(1)) {
        choices = choices.saturating_mul((labels - at) as u64) / at as u64;
        all = all.saturating_add(choices);
    }
    all.saturating_mul(1 + n as u64)
}
