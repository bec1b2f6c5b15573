//! Bipartite matching: does every published record find an input record of its own?

use bosket_model::Result;
use bosket_model::observe::Observer;
use rayon::prelude::*;

/// The left vertices that a largest matching leaves alone. `fits` is asked once per pair.
pub(super) fn unmatched(
    left: usize,
    right: usize,
    fits: impl Fn(usize, usize) -> Result<bool> + Sync,
    observer: &dyn Observer,
) -> Result<Vec<u32>> {
    lonely(&edges(left, right, fits, observer)?, right, observer)
}

/// Left vertices that are left alone, and the pairs that are made.
type Matched = (Vec<u32>, Vec<(u32, u32)>);

/// The left vertices that a largest matching leaves alone, and the pairs that it makes.
pub(super) fn paired(
    left: usize,
    right: usize,
    fits: impl Fn(usize, usize) -> Result<bool> + Sync,
    observer: &dyn Observer,
) -> Result<Matched> {
    let edges = edges(left, right, fits, observer)?;
    let mut matching = Matching::new(&edges, right, observer);
    let lonely = matching.run()?;
    let pairs = (0..).zip(&matching.of_left).filter_map(|(l, r)| r.map(|r| (l, r as u32)));
    Ok((lonely, pairs.collect()))
}

/// Per left vertex the right ones that it fits, a bit each.
pub(super) fn edges(
    left: usize,
    right: usize,
    fits: impl Fn(usize, usize) -> Result<bool> + Sync,
    observer: &dyn Observer,
) -> Result<Vec<Vec<u64>>> {
    let words = right.div_ceil(64);
    (0..left)
        .into_par_iter()
        .map(|l| {
            observer.advance(1);
            let mut row = vec![0u64; words];
            for r in 0..right {
                observer.go_on()?;
                row[r / 64] |= u64::from(fits(l, r)?) << (r % 64);
            }
            Ok(row)
        })
        .collect()
}

/// The left vertices that a largest matching along these edges leaves alone.
pub(super) fn lonely(edges: &[Vec<u64>], right: usize, observer: &dyn Observer) -> Result<Vec<u32>> {
    Matching::new(edges, right, observer).run()
}

struct Matching<'a> {
    edges: &'a [Vec<u64>],
    of_right: Vec<Option<usize>>,
    of_left: Vec<Option<usize>>,
    observer: &'a dyn Observer,
}

impl<'a> Matching<'a> {
    fn new(edges: &'a [Vec<u64>], right: usize, observer: &'a dyn Observer) -> Self {
        Matching { edges, of_right: vec![None; right], of_left: vec![None; edges.len()], observer }
    }

    fn run(&mut self) -> Result<Vec<u32>> {
        let mut free = vec![u64::MAX; self.of_right.len().div_ceil(64)];
        let mut lonely = Vec::new();
        for start in 0..self.edges.len() {
            self.observer.go_on()?;
            let direct = (self.edges[start].iter().zip(&free).enumerate())
                .find_map(|(w, (edge, free))| first_bit(edge & free).map(|b| w * 64 + b));
            let taken = match direct {
                Some(r) => {
                    self.of_right[r] = Some(start);
                    self.of_left[start] = Some(r);
                    Some(r)
                }
                None => self.augment(start)?,
            };
            match taken {
                Some(r) => free[r / 64] &= !(1 << (r % 64)),
                None => lonely.push(start as u32),
            }
        }
        Ok(lonely)
    }

    /// Rearranges the matching so that `start` gets a partner; gives the right vertex that is newly taken. Breadth
    /// first; seen vertices are bits, so a search costs at most one pass over the edges.
    fn augment(&mut self, start: usize) -> Result<Option<usize>> {
        let words = self.of_right.len().div_ceil(64);
        let mut unseen = vec![u64::MAX; words];
        let mut reached_from = vec![usize::MAX; self.of_right.len()];
        let mut queue = vec![start];
        let mut at = 0;
        while at < queue.len() {
            self.observer.go_on()?;
            let l = queue[at];
            at += 1;
            for w in 0..words {
                while let Some(bit) = first_bit(self.edges[l][w] & unseen[w]) {
                    unseen[w] &= !(1 << bit);
                    let r = w * 64 + bit;
                    reached_from[r] = l;
                    match self.of_right[r] {
                        Some(next) => queue.push(next),
                        None => {
                            self.flip(r, &reached_from);
                            return Ok(Some(r));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Gives `r` to whoever reached it, what that one had to whoever reached that, and so on to the start.
    fn flip(&mut self, r: usize, reached_from: &[usize]) {
        let mut given = Some(r);
        while let Some(r) = given {
            let l = reached_from[r];
            given = self.of_left[l].replace(r);
            self.of_right[r] = Some(l);
        }
    }
}

fn first_bit(word: u64) -> Option<usize> {
    (word != 0).then(|| word.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use proptest::prelude::*;

    use super::unmatched;

    /// The size of a largest matching, by trying everything.
    fn largest(edges: &[Vec<bool>], from: usize, taken: &mut Vec<bool>) -> usize {
        if from == edges.len() {
            return 0;
        }
        let mut best = largest(edges, from + 1, taken);
        for r in 0..taken.len() {
            if edges[from][r] && !taken[r] {
                taken[r] = true;
                best = best.max(1 + largest(edges, from + 1, taken));
                taken[r] = false;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn as_large_as_can_be(edges in prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.3), 6), 0..7)) {
            let alone = unmatched(edges.len(), 6, |l, r| Ok(edges[l][r]), &Quiet).expect("nobody gives up");
            prop_assert_eq!(edges.len() - alone.len(), largest(&edges, 0, &mut vec![false; 6]));
        }
    }
}
