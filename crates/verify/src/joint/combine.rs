//! Two records of one person laid over each other.
//!
//! A place is a vertex with its attributes. Which row of one release is which row of the other, nobody who reads them is told:
//! rows can be the same if their labels allow it. What is counted as knowledge (`Rows::Possible`) is put together in every way
//! that they allow, so that whoever fits what both releases show is counted as fitting. A row need not be shown by the other
//! release as it is: it may have been left out beside a look-alike that says all that it says, and perhaps more. So each row
//! of one release is laid over those of the other that say all it says, and what these say beyond is not taken for its own:
//!
//! ```text
//! one shows     flu{drug}, flu            together   flu{drug}, flu
//! another       lungs{*}                             (and not flu{*}: no release shows that)
//! ```
//!
//! Where whole records are compared (`Rows::Matched`), rows go together one to one; if that can be done in ways that look
//! different, they are left side by side, and only records of which both releases show the same look alike.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::labels::Meet;
use super::tree::{Common, Node};

/// Most vertices that a record of two releases may have.
const MOST: usize = 200_000;

/// How rows are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// In every way that their labels allow.
    Possible,
    /// One to one.
    Matched,
}

/// Why two records cannot be laid over each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// They say different things about the person.
    Contradiction,
    /// There are too many ways.
    TooMany,
}

/// Lays records over each other.
pub(super) struct Joiner<'c, 'h> {
    common: &'c Common<'h>,
    rows: Rows,
    /// Per class whether the first and the second release show rows of it at all.
    shown: Vec<(bool, bool)>,
    left: Cell<usize>,
    /// Whether rows had to be left side by side.
    unclear: Cell<bool>,
}

impl<'c, 'h> Joiner<'c, 'h> {
    /// `shown` says per class whether the first and the second release have rows of it at all.
    pub(super) fn new(common: &'c Common<'h>, rows: Rows, shown: Vec<(bool, bool)>) -> Self {
        Joiner { common, rows, shown, left: Cell::new(MOST), unclear: Cell::new(false) }
    }

    /// Two records of one person as one, and whether rows had to be left side by side.
    pub(super) fn records(&self, x: &Node, y: &Node) -> Result<(Node, bool), Clash> {
        self.left.set(MOST);
        self.unclear.set(false);
        let values = self.meet(x, y, true).ok_or(Clash::Contradiction)?;
        let children = self.siblings(&x.children, &y.children);
        match self.left.get() {
            0 => Err(Clash::TooMany),
            _ => Ok((Node { class: x.class, values, children, origin: None }, self.unclear.get())),
        }
    }

    /// The values of two vertices as one's, if they can be one. What stands beside quasi values need only agree if `beside`;
    /// else it is the first one's.
    fn meet(&self, x: &Node, y: &Node, beside: bool) -> Option<Vec<(u32, u32)>> {
        let mut values: Vec<(u32, u32)> = Vec::new();
        let mut of_y = y.values.iter().peekable();
        for &(attribute, own) in &x.values {
            while let Some(&&more) = of_y.peek().filter(|v| v.0 < attribute) {
                values.push(more);
                of_y.next();
            }
            let Some(&&(_, other)) = of_y.peek().filter(|v| v.0 == attribute) else {
                values.push((attribute, own));
                continue;
            };
            of_y.next();
            let column = self.common.columns[attribute as usize];
            let agreed = match self.common.labels[attribute as usize].meet(own, other) {
                Meet::At(label) => label,
                Meet::Apart if column.quasi => return None,
                Meet::Apart if column.follows.is_some() => self.companion(x, y, attribute, (own, other))?,
                Meet::Apart if beside && !column.pseudonym => return None,
                Meet::Apart => own,
            };
            values.push((attribute, agreed));
        }
        values.extend(of_y);
        Some(values)
    }

    /// The text of a companion: that of the release whose label is taken.
    fn companion(&self, x: &Node, y: &Node, companion: u32, (own, other): (u32, u32)) -> Option<u32> {
        let columns = &self.common.columns;
        let follows = columns[companion as usize].follows;
        let leader = x.values.iter().map(|v| v.0).find(|&a| columns[a as usize].declared == follows)?;
        let (of_x, of_y) = (x.value(leader)?, y.value(leader)?);
        match self.common.labels[leader as usize].meet(of_x, of_y) {
            Meet::At(label) if label == of_x => Some(own),
            Meet::At(_) => Some(other),
            Meet::Apart => None,
        }
    }

    /// Whether two rows may be one by what they say themselves. Rows that have no attribute in common show nothing of that.
    fn agree(&self, x: &Node, y: &Node, beside: bool) -> bool {
        let shared = x.values.iter().any(|v| y.value(v.0).is_some());
        (shared || x.values.is_empty() || y.values.is_empty()) && self.meet(x, y, beside).is_some()
    }

    /// Whether a release shows rows of a class at all; the first one if `first`.
    fn shows(&self, class: u32, first: bool) -> bool {
        let (a, b) = self.shown[class as usize];
        if first { a } else { b }
    }

    /// Whether a row of one release can be one that the other shows as `other`, or left out beside it: it says all that the
    /// row says. `first` if the row is the first release's.
    fn is_said_by(&self, row: &Node, other: &Node, first: bool) -> bool {
        self.agree(row, other, true)
            && row.children.iter().filter(|child| self.shows(child.class, !first)).all(|child| {
                let mut partners = other.children.iter().filter(|other| other.class == child.class);
                partners.any(|other| self.is_said_by(child, other, first))
            })
    }

    /// A row of one release with what the other says about it in `other`.
    fn laid_over(&self, row: &Node, other: &Node, first: bool) -> Node {
        self.left.set(self.left.get().saturating_sub(1));
        let mut children = Vec::new();
        for child in row.children.iter().filter(|_| self.left.get() > 0) {
            let beside: Vec<&Node> =
                other.children.iter().filter(|other| other.class == child.class).collect();
            self.over_any(child, &beside, first, &mut children);
        }
        // Of what the release of the row does not show at all, it says nothing against.
        children.extend(other.children.iter().filter(|child| !self.shows(child.class, first)).cloned());
        children.sort();
        children.dedup();
        let values = self.meet(row, other, false).unwrap_or_else(|| row.values.clone());
        Node { class: row.class, values, children, origin: row.origin.or(other.origin) }
    }

    /// A row of one release laid over those of the other that may be it; alone if there is none.
    fn over_any(&self, row: &Node, others: &[&Node], first: bool, all: &mut Vec<Node>) {
        // A row that stands for several of the input is known by one of them: where its place is not shown by the other
        // release under the same number, it may be any.
        let agreeing: Vec<&Node> =
            others.iter().copied().filter(|other| self.agree(row, other, false)).collect();
        let mut known: Vec<&Node> =
            agreeing.iter().copied().filter(|other| Self::placed(row, other) == Some(true)).collect();
        if known.is_empty() {
            known = agreeing.iter().copied().filter(|other| self.is_said_by(row, other, first)).collect();
        }
        if !known.is_empty() {
            all.extend(known.iter().map(|other| self.laid_over(row, other, first)));
            return;
        }
        // What is below may have been left out altogether.
        all.extend(
            agreeing.iter().map(|other| if first { self.rows(row, other) } else { self.rows(other, row) }),
        );
        if agreeing.is_empty() {
            all.push(row.clone());
        }
    }

    /// Two rows as one.
    fn rows(&self, x: &Node, y: &Node) -> Node {
        let values = self.meet(x, y, false).unwrap_or_else(|| x.values.clone());
        self.left.set(self.left.get().saturating_sub(1));
        let children = match self.left.get() {
            0 => Vec::new(),
            _ => self.siblings(&x.children, &y.children),
        };
        Node { class: x.class, values, children, origin: x.origin.or(y.origin) }
    }

    /// The rows below two vertices as those below one.
    fn siblings(&self, xs: &[Node], ys: &[Node]) -> Vec<Node> {
        let classes: BTreeSet<u32> = xs.iter().chain(ys).map(|node| node.class).collect();
        let mut all = Vec::new();
        for class in classes {
            let own = |nodes: &'_ [Node]| -> Vec<Node> {
                nodes.iter().filter(|node| node.class == class).cloned().collect()
            };
            let (xs, ys) = (own(xs), own(ys));
            match (xs.is_empty() || ys.is_empty(), self.rows) {
                (true, _) => all.extend(xs.into_iter().chain(ys)),
                (false, Rows::Possible) => self.possible(&xs, &ys, &mut all),
                (false, Rows::Matched) => self.matched(&xs, &ys, &mut all),
            }
        }
        all.sort();
        all
    }

    /// Whether two rows stem from one row of the private input; none where that is not known of both.
    fn placed(x: &Node, y: &Node) -> Option<bool> {
        x.origin.zip(y.origin).map(|(x, y)| x == y)
    }

    /// All ways of putting rows together.
    fn possible(&self, xs: &[Node], ys: &[Node], all: &mut Vec<Node>) {
        let mut found = Vec::new();
        for (from, to, first) in [(xs, ys, true), (ys, xs, false)] {
            let to: Vec<&Node> = to.iter().collect();
            from.iter().for_each(|row| self.over_any(row, &to, first, &mut found));
        }
        // Alike rows say no more than one of them.
        found.sort();
        found.dedup();
        all.extend(found);
    }

    /// Rows one to one, part by part: rows that cannot be one, by whatever way of the others, do not meet.
    fn matched(&self, xs: &[Node], ys: &[Node], all: &mut Vec<Node>) {
        let fits = |i: usize, j: usize| {
            Self::placed(&xs[i], &ys[j]).unwrap_or(true) && self.agree(&xs[i], &ys[j], true)
        };
        let mut part: Vec<usize> = (0..xs.len() + ys.len()).collect();
        for i in 0..xs.len() {
            for j in (0..ys.len()).filter(|&j| fits(i, j)) {
                let (a, b) = (part[i], part[xs.len() + j]);
                part.iter_mut().filter(|p| **p == b).for_each(|p| *p = a);
            }
        }
        let parts: BTreeSet<usize> = part.iter().copied().collect();
        for own in parts {
            let of_x: Vec<usize> = (0..xs.len()).filter(|&i| part[i] == own).collect();
            let of_y: Vec<usize> = (0..ys.len()).filter(|&j| part[xs.len() + j] == own).collect();
            let matched = self.part((xs, &of_x), (ys, &of_y), &fits);
            if matched.is_none() {
                self.unclear.set(true);
            }
            let apart = || of_x.iter().map(|&i| &xs[i]).chain(of_y.iter().map(|&j| &ys[j])).cloned();
            all.extend(matched.unwrap_or_else(|| apart().collect()));
        }
    }

    /// Rows of one part as one; none if that can be done in ways that look different.
    fn part(
        &self,
        (xs, of_x): (&[Node], &[usize]),
        (ys, of_y): (&[Node], &[usize]),
        fits: &dyn Fn(usize, usize) -> bool,
    ) -> Option<Vec<Node>> {
        if of_x.is_empty() || of_y.is_empty() {
            return Some(of_x.iter().map(|&i| &xs[i]).chain(of_y.iter().map(|&j| &ys[j])).cloned().collect());
        }
        let alike = |nodes: &[Node], own: &[usize]| own.iter().all(|&at| nodes[at] == nodes[own[0]]);
        let (x_alike, y_alike) = (alike(xs, of_x), alike(ys, of_y));
        let (many, few) = (of_x.len().max(of_y.len()), of_x.len().min(of_y.len()));
        // Where the rows of one side look alike, it does not matter which of them is whose; if they are the fewer, it
        // does matter which of the others goes without, unless these look alike too.
        let enough = |alike: bool, own: &[usize]| alike && own.len() == many;
        if (x_alike && y_alike) || enough(x_alike, of_x) || enough(y_alike, of_y) {
            let both = (0..few).map(|at| self.rows(&xs[of_x[at]], &ys[of_y[at]]));
            let more_x = of_x.iter().skip(few).map(|&i| xs[i].clone());
            let more_y = of_y.iter().skip(few).map(|&j| ys[j].clone());
            return Some(both.chain(more_x).chain(more_y).collect());
        }
        // Where one side says all that the other does, whichever row of it is meant, the other adds nothing.
        let pairs =
            || of_x.iter().flat_map(|&i| of_y.iter().map(move |&j| (i, j))).filter(|&(i, j)| fits(i, j));
        let all_have = |from: &[usize], to: &[usize], fits: &dyn Fn(usize, usize) -> bool| {
            let mut taken: Vec<Option<usize>> = vec![None; to.len()];
            (0..from.len()).all(|at| place(at, (from, to), fits, &mut taken, &mut vec![false; to.len()]))
        };
        if pairs().all(|(i, j)| self.rows(&xs[i], &ys[j]) == xs[i])
            && all_have(of_y, of_x, &|j, i| fits(i, j))
        {
            return Some(of_x.iter().map(|&i| xs[i].clone()).collect());
        }
        if pairs().all(|(i, j)| self.rows(&xs[i], &ys[j]) == ys[j]) && all_have(of_x, of_y, fits) {
            return Some(of_y.iter().map(|&j| ys[j].clone()).collect());
        }
        None
    }
}

/// Finds a partner of its own for a row, by augmenting paths.
fn place(
    at: usize,
    (from, to): (&[usize], &[usize]),
    fits: &dyn Fn(usize, usize) -> bool,
    taken: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for partner in 0..to.len() {
        if seen[partner] || !fits(from[at], to[partner]) {
            continue;
        }
        seen[partner] = true;
        if taken[partner].is_none_or(|other| place(other, (from, to), fits, taken, seen)) {
            taken[partner] = Some(at);
            return true;
        }
    }
    false
}
