//! What can be known of a record: some of its labels, and some of the relations between them.

use super::{Cells, Label, NONE};

/// The most labels of a piece: each takes 21 bits of its key, each two of them two bits.
pub(super) const MOST: usize = 5;
const BITS: u32 = 21;

/// A piece of knowledge: its labels in ascending order, and which is above which.
pub(super) type Piece = u128;
/// All relations of the piece are at one place.
const AT_ONE_PLACE: Piece = 1 << 126;

/// A cell by its place in the record, with the cells above it as bits.
type Placed = (u32, Vec<u64>);

/// The labels of one record, and which stands above which somewhere in it.
#[derive(Default)]
pub(super) struct Shown {
    /// Ascending, each once.
    labels: Vec<Label>,
    /// Per two labels, by their places, whether the first stands above the second.
    above: Vec<bool>,
    /// Per label its cells; where relations are read at one place.
    cells: Vec<Vec<Placed>>,
}

impl Shown {
    /// Reads a record; `label` says what a cell carries.
    pub(super) fn read(
        &mut self,
        cells: &Cells,
        record: usize,
        label: impl Fn(usize) -> Label,
        (n, hidden): (usize, Option<Label>),
    ) {
        let range = cells.of(record);
        self.labels.clear();
        self.labels.extend(range.clone().map(&label).filter(|&label| Some(label) != hidden));
        self.labels.sort_unstable();
        self.labels.dedup();
        self.above.clear();
        self.cells.clear();
        if n == 0 {
            return;
        }
        let count = self.labels.len();
        self.above.resize(count * count, false);
        let place = |labels: &[Label], cell: usize| labels.partition_point(|&l| l < label(cell));
        if n > 1 {
            self.cells.resize(count, Vec::new());
        }
        let words = range.len().div_ceil(64);
        for cell in range.clone() {
            let below = place(&self.labels, cell);
            let mut over = vec![0; if n > 1 { words } else { 0 }];
            let mut at = cells.above[cell];
            while at != NONE {
                let upper = place(&self.labels, at as usize);
                self.above[upper * count + below] = true;
                let bit = at as usize - range.start;
                over.get_mut(bit / 64).into_iter().for_each(|word| *word |= 1 << (bit % 64));
                at = cells.above[at as usize];
            }
            if n > 1 {
                self.cells[below].push(((cell - range.start) as u32, over));
            }
        }
    }

    fn place(&self, label: Label) -> Option<usize> {
        self.labels.binary_search(&label).ok()
    }

    /// Tells all pieces of at most `m` labels and `n` relations that hold `label`, but not `without`; `tell` ends it by false.
    pub(super) fn each(
        &self,
        (m, n): (usize, usize),
        label: Label,
        without: Option<Label>,
        tell: &mut dyn FnMut(Piece) -> bool,
    ) -> bool {
        let Some(own) = self.place(label) else { return true };
        let skip = without.and_then(|label| self.place(label));
        let mut chosen = vec![own];
        self.extend((m, n), 0, (own, skip), &mut chosen, tell)
    }

    /// Tells all pieces of at most `m` labels and `n` relations.
    pub(super) fn all(&self, (m, n): (usize, usize), tell: &mut dyn FnMut(Piece) -> bool) {
        for first in 0..self.labels.len() {
            if !self.extend((m, n), first + 1, (first, None), &mut vec![first], tell) {
                return;
            }
        }
    }

    fn extend(
        &self,
        (m, n): (usize, usize),
        from: usize,
        (own, skip): (usize, Option<usize>),
        chosen: &mut Vec<usize>,
        tell: &mut dyn FnMut(Piece) -> bool,
    ) -> bool {
        if !self.related(n, chosen, tell) {
            return false;
        }
        if chosen.len() == m {
            return true;
        }
        for next in (from..self.labels.len()).filter(|&next| next != own && Some(next) != skip) {
            chosen.push(next);
            let go_on = self.extend((m, n), next + 1, (own, skip), chosen, tell);
            chosen.pop();
            if !go_on {
                return false;
            }
        }
        true
    }

    /// Tells the chosen labels with every choice of relations between them.
    fn related(&self, n: usize, chosen: &[usize], tell: &mut dyn FnMut(Piece) -> bool) -> bool {
        let mut sorted = [0usize; MOST];
        let sorted = &mut sorted[..chosen.len()];
        sorted.copy_from_slice(chosen);
        sorted.sort_unstable();
        let mut base: Piece = 0;
        for &place in sorted.iter() {
            base = base << BITS | Piece::from(self.labels[place] + 1);
        }
        base <<= (MOST * (MOST - 1)) as u32;
        if n == 0 || self.above.is_empty() {
            return tell(base);
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
        subsets(&relations[..found], n, base, tell)
            && (n < 2 || found < 2 || self.at_one_place(n, sorted, base | AT_ONE_PLACE, tell))
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

/// The labels of a piece.
pub(super) fn labels_of(piece: Piece) -> impl Iterator<Item = Label> {
    let labels = (piece & !AT_ONE_PLACE) >> (MOST * (MOST - 1)) as u32;
    let label = move |at: usize| (labels >> (BITS * at as u32)) as u32 & ((1 << BITS) - 1);
    (0..MOST).map(label).take_while(|&label| label != 0).map(|label| label - 1)
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
