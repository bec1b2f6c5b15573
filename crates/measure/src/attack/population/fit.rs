//! Whole published records, and the records of a population that they may have been made of.
//!
//! Publishing generalizes values and prunes subtrees. A record fits a published one if every published vertex has a vertex
//! of its own in it, of the same class, below the counterpart of its parent, with all values under the published ones.

use bosket_model::Result;
use bosket_model::observe::Observer;

use super::forms::{Alike, Shape, Trees};
use super::scale::Scales;

/// Records of a population that are alike, with what is looked for them by.
pub(super) struct Register<'a> {
    trees: &'a Trees,
    groups: &'a [Alike],
    shape: &'a Shape,
    /// Per declared attribute the groups that have an original value, value by value.
    having: Vec<Having>,
    observer: &'a dyn Observer,
}

#[derive(Clone, Debug, Default)]
struct Having {
    /// Per original value, a missing one last, where its groups begin; one more at the end.
    first: Vec<u32>,
    groups: Vec<u32>,
}

impl Having {
    fn of(&self, (from, to): (u32, u32)) -> &[u32] {
        &self.groups[self.first[from as usize] as usize..self.first[to as usize] as usize]
    }
}

/// One thread's means: the question for which a group was looked at last.
pub(super) type Seen = Vec<u32>;

impl<'a> Register<'a> {
    pub(super) fn new(
        trees: &'a Trees,
        groups: &'a [Alike],
        shape: &'a Shape,
        scales: &Scales,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let mut having: Vec<Having> = scales
            .len
            .iter()
            .map(|&len| Having { first: vec![0; len as usize + 2], groups: Vec::new() })
            .collect();
        let held = |group: &Alike| {
            let vertices = trees.vertices(group.record as usize);
            vertices.flat_map(|v| {
                let declared = shape.quasi[trees.home[v] as usize].iter().copied();
                declared.zip(trees.values(v).iter().map(|&(at, _)| at as usize))
            })
        };
        for group in groups {
            observer.go_on()?;
            held(group).for_each(|(declared, at)| having[declared].first[at + 1] += 1);
        }
        for own in &mut having {
            for at in 1..own.first.len() {
                own.first[at] += own.first[at - 1];
            }
            own.groups = vec![0; own.first.last().map_or(0, |&all| all as usize)];
        }
        let mut next: Vec<Vec<u32>> = having.iter().map(|own| own.first.clone()).collect();
        for (number, group) in (0..).zip(groups) {
            observer.go_on()?;
            for (declared, at) in held(group) {
                let place = &mut next[declared][at];
                having[declared].groups[*place as usize] = number;
                *place += 1;
            }
        }
        Ok(Register { trees, groups, shape, having, observer })
    }

    /// How many steps it takes at most to find the records that fit a published one.
    pub(super) fn work(&self, published: &Trees, record: usize) -> u128 {
        let looked_at = self.rarest(published, record).map_or(self.groups.len(), <[u32]>::len);
        looked_at as u128 * published.vertices(record).len() as u128
    }

    /// The groups that have a value which the published record needs, of all such values the fewest; none if it needs no
    /// value at all.
    fn rarest(&self, published: &Trees, record: usize) -> Option<&[u32]> {
        let vertices = published.vertices(record);
        let needed = vertices.flat_map(|v| {
            let declared = self.shape.quasi[published.home[v] as usize].iter();
            declared.zip(published.values(v)).map(|(&declared, &held)| self.having[declared].of(held))
        });
        needed.min_by_key(|groups| groups.len())
    }

    /// How many records fit a published one. `question` is another number for each.
    pub(super) fn matches(
        &self,
        published: &Trees,
        record: usize,
        question: u32,
        seen: &mut Seen,
    ) -> Result<u32> {
        seen.resize(self.groups.len(), 0);
        let root = published.vertices(record).start;
        let fits = |group: &Alike| {
            self.observer.go_on()?;
            let own = self.trees.vertices(group.record as usize).start;
            Ok(if fits(published, root, self.trees, own) { group.records } else { 0 })
        };
        let Some(candidates) = self.rarest(published, record) else {
            return self.groups.iter().map(fits).sum();
        };
        let mut found = 0;
        for &group in candidates {
            let last = &mut seen[group as usize];
            if std::mem::replace(last, question) != question {
                found += fits(&self.groups[group as usize])?;
            }
        }
        Ok(found)
    }
}

/// Whether a published vertex may have been made of an original one, with all that is below.
fn fits(published: &Trees, p: usize, original: &Trees, o: usize) -> bool {
    let covers = |(held, is): (&(u32, u32), &(u32, u32))| held.0 <= is.0 && is.0 < held.1;
    published.home[p] == original.home[o]
        && published.values(p).iter().zip(original.values(o)).all(covers)
        && published.end[p] as usize - p <= original.end[o] as usize - o
        && children_fit(published, p, original, o)
}

/// Every published child needs an original one of its own.
fn children_fit(published: &Trees, p: usize, original: &Trees, o: usize) -> bool {
    let wanted: Vec<usize> = published.children(p).collect();
    if wanted.is_empty() {
        return true;
    }
    let there: Vec<usize> = original.children(o).collect();
    if wanted.len() > there.len() {
        return false;
    }
    let mut partners: Vec<Vec<usize>> = Vec::with_capacity(wanted.len());
    for &child in &wanted {
        let own: Vec<usize> =
            (0..there.len()).filter(|&at| fits(published, child, original, there[at])).collect();
        if own.is_empty() {
            return false;
        }
        partners.push(own);
    }
    let mut taken = vec![None; there.len()];
    (0..wanted.len()).all(|child| place(child, &partners, &mut taken, &mut vec![false; there.len()]))
}

/// Finds a partner for a child, others making room if they can.
fn place(child: usize, partners: &[Vec<usize>], taken: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for &at in &partners[child] {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let free = taken[at].is_none_or(|other| place(other, partners, taken, seen));
        if free {
            taken[at] = Some(child);
            return true;
        }
    }
    false
}
