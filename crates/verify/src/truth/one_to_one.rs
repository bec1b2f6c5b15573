//! Rows of a published record and rows of the input, one to one.
//!
//! A published row that is more than one value comes from a row of its own, below the row that its parent comes from; its
//! values take the places that these have there. A value that stands alone may have been parted from its row: it takes
//! the place of a value below, and no place is taken twice. Without parted values this is a matching of siblings, level by
//! level. Where what is parted competes with rows for places, ways are tried: up to a bound, and then nobody gets a verdict.

use std::cell::Cell;
use std::cell::RefCell;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Result};

/// So many rows are tried in the place of others before it is given up.
const MOST_TRIED: usize = 200_000;

/// A row with those below it.
pub(super) trait Row: Sized {
    /// The class that it belongs to.
    fn home(&self) -> usize;
    /// What hangs below it.
    fn below(&self) -> &[Self];
}

/// What is asked of rows. Values are called by a key: the same on both sides, and no row has one twice.
pub(super) trait Reading<R: Row> {
    /// Whether a row may come from another as far as its own values go.
    fn own_derives(&self, published: &R, input: &R) -> bool;
    /// The values of a row that say something.
    fn takes(&self, published: &R) -> Vec<u32>;
    /// The one value of a row that has nothing else, even if that says nothing.
    fn only_value(&self, published: &R) -> Option<u32>;
    /// Whether a value of a published row may be the one of a row of the input.
    fn covers(&self, published: &R, key: u32, input: &R) -> bool;
    /// Whether rows of a class belong right below rows of another.
    fn is_child(&self, home: usize, above: usize) -> bool;
    /// Whether rows say the same. These are paired first, which never costs a match.
    fn same(&self, published: &R, input: &R) -> bool;
}

/// Whether a published record comes from one of the input, row by row.
pub(super) fn derives<R: Row>(
    published: &R,
    input: &R,
    reading: &impl Reading<R>,
    observer: &dyn Observer,
) -> Result<bool> {
    // The quickest look first: most pairs differ in the record's own values.
    if !reading.own_derives(published, input) {
        return Ok(false);
    }
    let (published, input) = (Flat::new(published), Flat::new(input));
    let kinds = (0..published.rows.len()).map(|p| Kind::of(&published, p, reading)).collect();
    let m = Matcher {
        reading,
        published,
        input,
        kinds,
        fits: RefCell::default(),
        tried: Cell::default(),
        observer,
    };
    if m.kinds.contains(&Kind::Astray) || !m.have_places()? || !m.fits(0, 0)? {
        return Ok(false);
    }
    if !m.compete() {
        return Ok(true);
    }
    let order: Vec<usize> = (1..m.kinds.len()).filter(|&p| m.kinds[p] == Kind::Row).collect();
    let mut from = vec![None; m.kinds.len()];
    from[0] = Some(0);
    m.try_all(&order, &mut from, &mut vec![false; m.input.rows.len()])
}

/// What a published row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Row,
    /// One value below the row that it belongs to.
    Value(u32),
    /// One value further up.
    Moved(u32),
    /// A row where it does not belong.
    Astray,
}

impl Kind {
    fn of<R: Row>(flat: &Flat<'_, R>, p: usize, reading: &impl Reading<R>) -> Kind {
        let row = flat.rows[p];
        let is_child = p == 0 || reading.is_child(row.home(), flat.rows[flat.parent[p]].home());
        match reading.only_value(row) {
            // An empty place makes a row of its own.
            Some(key) if p > 0 && is_child && !reading.takes(row).is_empty() => Kind::Value(key),
            Some(key) if !is_child => Kind::Moved(key),
            _ if is_child => Kind::Row,
            _ => Kind::Astray,
        }
    }
}

/// The rows of a record, parents before what hangs below them.
struct Flat<'a, R> {
    rows: Vec<&'a R>,
    parent: Vec<usize>,
    /// Behind the last row below each.
    end: Vec<usize>,
    children: Vec<Vec<usize>>,
}

impl<'a, R: Row> Flat<'a, R> {
    fn new(root: &'a R) -> Self {
        let mut flat = Flat { rows: Vec::new(), parent: Vec::new(), end: Vec::new(), children: Vec::new() };
        flat.add(root, 0);
        flat
    }

    fn add(&mut self, row: &'a R, parent: usize) {
        let own = self.rows.len();
        self.rows.push(row);
        self.parent.push(parent);
        self.end.push(own);
        self.children.push(Vec::new());
        for below in row.below() {
            let at = self.rows.len();
            self.children[own].push(at);
            self.add(below, own);
        }
        self.end[own] = self.rows.len();
    }
}

struct Matcher<'a, R, D> {
    reading: &'a D,
    published: Flat<'a, R>,
    input: Flat<'a, R>,
    /// Of each published row.
    kinds: Vec<Kind>,
    fits: RefCell<FxHashMap<(usize, usize), bool>>,
    tried: Cell<usize>,
    observer: &'a dyn Observer,
}

impl<R: Row, D: Reading<R>> Matcher<'_, R, D> {
    /// Whether values that moved, or stand beside rows of their class, might take places that rows need.
    fn compete(&self) -> bool {
        self.published.children.iter().any(|children| {
            let of = |kind: fn(&Kind) -> bool| {
                children
                    .iter()
                    .filter(move |&&c| kind(&self.kinds[c]))
                    .map(|&c| self.published.rows[c].home())
            };
            of(|kind| matches!(kind, Kind::Moved(_))).next().is_some()
                || of(|kind| matches!(kind, Kind::Value(_)))
                    .any(|home| of(|kind| *kind == Kind::Row).any(|h| h == home))
        })
    }

    /// Whether all values find places of their own anywhere in the record, each by itself.
    fn have_places(&self) -> Result<bool> {
        let mut of_key: BTreeMap<(usize, u32), Vec<usize>> = BTreeMap::new();
        for (p, row) in self.published.rows.iter().enumerate() {
            self.reading
                .takes(row)
                .into_iter()
                .for_each(|key| of_key.entry((row.home(), key)).or_default().push(p));
        }
        for ((home, key), values) in of_key {
            self.observer.go_on()?;
            let places: Vec<usize> =
                (0..self.input.rows.len()).filter(|&i| self.input.rows[i].home() == home).collect();
            let covers = |v: usize, i: usize| {
                Ok(self.reading.covers(self.published.rows[values[v]], key, self.input.rows[places[i]]))
            };
            if matched(values.len(), places.len(), covers, |_, _| false)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a row and all below it may come from another, if nothing else takes their places.
    fn fits(&self, p: usize, i: usize) -> Result<bool> {
        if let Some(&known) = self.fits.borrow().get(&(p, i)) {
            return Ok(known);
        }
        self.observer.go_on()?;
        let found = self.reading.own_derives(self.published.rows[p], self.input.rows[i])
            && self.rows_fit(&self.own_rows(p), &self.input.children[i])?.is_some()
            && self.values_fit(p, i)?;
        self.fits.borrow_mut().insert((p, i), found);
        Ok(found)
    }

    /// The rows right below one that are more than a value.
    fn own_rows(&self, p: usize) -> Vec<usize> {
        self.published.children[p].iter().copied().filter(|&c| self.kinds[c] == Kind::Row).collect()
    }

    /// Gives each of these rows one of its own.
    fn rows_fit(&self, rows: &[usize], of: &[usize]) -> Result<Option<Vec<usize>>> {
        if rows.len() > of.len() {
            return Ok(None);
        }
        let same =
            |a: usize, b: usize| self.reading.same(self.published.rows[rows[a]], self.input.rows[of[b]]);
        matched(rows.len(), of.len(), |a, b| self.fits(rows[a], of[b]), same)
    }

    /// Whether the values right below a row find places of their own right below another.
    fn values_fit(&self, p: usize, i: usize) -> Result<bool> {
        let mut of_key: BTreeMap<(usize, u32), Vec<usize>> = BTreeMap::new();
        for &child in &self.published.children[p] {
            if let Kind::Value(key) = self.kinds[child] {
                of_key.entry((self.published.rows[child].home(), key)).or_default().push(child);
            }
        }
        for ((_, key), values) in of_key {
            let places = &self.input.children[i];
            let covers = |v: usize, at: usize| Ok(self.is_value_of(values[v], key, places[at]));
            if values.len() > places.len()
                || matched(values.len(), places.len(), covers, |_, _| false)?.is_none()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_value_of(&self, p: usize, key: u32, i: usize) -> bool {
        let (value, row) = (self.published.rows[p], self.input.rows[i]);
        value.home() == row.home() && self.reading.covers(value, key, row)
    }

    /// Tries all ways to give rows to rows until the values that stand alone find places that are left.
    fn try_all(&self, order: &[usize], from: &mut [Option<usize>], taken: &mut [bool]) -> Result<bool> {
        let Some((&p, later)) = order.split_first() else {
            return self.values_find_places(from);
        };
        let above = self.published.parent[p];
        let Some(under) = from[above] else { return Err(Failure::defect("a row before the one above it")) };
        let siblings: Vec<usize> =
            later.iter().copied().filter(|&other| self.published.parent[other] == above).collect();
        for &i in &self.input.children[under] {
            self.observer.go_on()?;
            if taken[i] || !self.fits(p, i)? {
                continue;
            }
            self.tried.set(self.tried.get() + 1);
            if self.tried.get() > MOST_TRIED {
                return Err(too_many_ways());
            }
            taken[i] = true;
            from[p] = Some(i);
            let free: Vec<usize> =
                self.input.children[under].iter().copied().filter(|&i| !taken[i]).collect();
            if self.rows_fit(&siblings, &free)?.is_some() && self.try_all(later, from, taken)? {
                return Ok(true);
            }
            taken[i] = false;
            from[p] = None;
        }
        Ok(false)
    }

    /// Whether the values that stand alone find places that the rows have left.
    fn values_find_places(&self, from: &[Option<usize>]) -> Result<bool> {
        let mut taken: FxHashSet<(usize, u32)> = FxHashSet::default();
        for (p, i) in from.iter().enumerate().filter_map(|(p, i)| Some((p, (*i)?))) {
            taken.extend(self.reading.takes(self.published.rows[p]).into_iter().map(|key| (i, key)));
        }
        let alone = |p: usize| match self.kinds[p] {
            Kind::Value(key) | Kind::Moved(key) => Some((p, key)),
            Kind::Row | Kind::Astray => None,
        };
        let values: Vec<(usize, u32)> = (0..self.kinds.len()).filter_map(alone).collect();
        let covers = |v: usize, i: usize| {
            let (p, key) = values[v];
            let Some(under) = from[self.published.parent[p]] else { return Ok(false) };
            let below = match self.kinds[p] {
                Kind::Value(_) => i > 0 && self.input.parent[i] == under,
                _ => i > under && i < self.input.end[under],
            };
            Ok(below && !taken.contains(&(i, key)) && self.is_value_of(p, key, i))
        };
        // Values of several keys may take places in one row, so each key is matched by itself.
        let mut keys: Vec<u32> = values.iter().map(|(_, key)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let own: Vec<usize> = (0..values.len()).filter(|&v| values[v].1 == key).collect();
            if matched(own.len(), self.input.rows.len(), |v, i| covers(own[v], i), |_, _| false)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn too_many_ways() -> Failure {
    let what = "values of a record were parted from so many rows that look alike that not all ways to pair them can be tried";
    let help = "whether this publication is true cannot be told; leave out --against";
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}

/// Gives everyone on the left one of its own on the right, by augmenting paths; none if there is no way. Those that are the
/// same are paired first.
fn matched(
    left: usize,
    right: usize,
    fits: impl Fn(usize, usize) -> Result<bool>,
    same: impl Fn(usize, usize) -> bool,
) -> Result<Option<Vec<usize>>> {
    let mut taken: Vec<Option<usize>> = vec![None; right];
    let mut left_over = Vec::new();
    for l in 0..left {
        let found = (0..right).find(|&r| taken[r].is_none() && same(l, r));
        match found {
            Some(r) if fits(l, r)? => taken[r] = Some(l),
            _ => left_over.push(l),
        }
    }
    for l in left_over {
        if !place(l, &mut taken, &mut vec![false; right], &fits)? {
            return Ok(None);
        }
    }
    let mut of = vec![0; left];
    taken.iter().enumerate().for_each(|(r, l)| l.iter().for_each(|&l| of[l] = r));
    Ok(Some(of))
}

fn place(
    l: usize,
    taken: &mut [Option<usize>],
    seen: &mut [bool],
    fits: &impl Fn(usize, usize) -> Result<bool>,
) -> Result<bool> {
    // Whoever finds a free one need not move anybody.
    for r in 0..taken.len() {
        if taken[r].is_none() && !seen[r] && fits(l, r)? {
            taken[r] = Some(l);
            return Ok(true);
        }
    }
    for r in 0..taken.len() {
        if seen[r] || !fits(l, r)? {
            continue;
        }
        seen[r] = true;
        let Some(other) = taken[r] else { continue };
        if place(other, taken, seen, fits)? {
            taken[r] = Some(l);
            return Ok(true);
        }
    }
    Ok(false)
}
