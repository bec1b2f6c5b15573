//! Splitting a table top-down into blocks that are small enough to be clustered.

use std::cmp::Reverse;

use bosket_model::Result;

use super::table::Table;

/// Rows that are clustered together at most.
pub(super) const BLOCK: usize = 2000;

impl Table<'_> {
    /// All rows, in blocks.
    pub(super) fn split(&self) -> Result<Vec<Vec<u32>>> {
        let mut blocks = Vec::new();
        let mut open = vec![(0..self.rows as u32).collect::<Vec<u32>>()];
        while let Some(rows) = open.pop() {
            self.observer.go_on()?;
            if rows.len() <= BLOCK {
                blocks.push(rows);
                continue;
            }
            match self.parts(&rows) {
                Some(parts) => open.extend(parts.into_iter().rev()),
                None => self.cut(rows, &mut blocks),
            }
        }
        Ok(blocks)
    }

    /// Rows parted by the attribute that has lost most; none if all are alike.
    fn parts(&self, rows: &[u32]) -> Option<Vec<Vec<u32>>> {
        let bounds = self.bounds(rows);
        let mut order: Vec<usize> = (0..self.attributes()).collect();
        // Children of a node part what would be far apart; a range can be parted anywhere, so it can wait.
        order.sort_by_key(|&i| (self.domain(i).has_ranges(), Reverse(self.cost_at(i, &bounds))));
        order.into_iter().filter(|&i| bounds[i].0 < bounds[i].1).find_map(|i| {
            let mut sorted = rows.to_vec();
            sorted.sort_by_key(|&r| self.row(r)[i].0);
            let parts = match self.domain(i).has_ranges() {
                true => self.halves(sorted, i),
                false => self.children(&sorted, i, bounds[i]),
            };
            (parts.len() > 1).then_some(parts)
        })
    }

    /// Parts at the children of the node that all rows share.
    fn children(&self, sorted: &[u32], i: usize, (first, last): (u32, u32)) -> Vec<Vec<u32>> {
        let domain = self.domain(i);
        let node = domain.lca(first, last);
        let mut parts: Vec<Vec<u32>> = Vec::new();
        for same in sorted.chunk_by(|&a, &b| domain.lca(self.row(a)[i].0, self.row(b)[i].0) != node) {
            match parts.last_mut() {
                // A part that could not stand alone goes with the next one.
                Some(part) if part.len() < self.size => part.extend_from_slice(same),
                _ => parts.push(same.to_vec()),
            }
        }
        if parts.len() > 1 && parts.last().is_some_and(|p| p.len() < self.size) {
            let rest = parts.pop().unwrap_or_default();
            parts.last_mut().into_iter().for_each(|p| p.extend_from_slice(&rest));
        }
        parts
    }

    /// Two parts as equal as they can be without tearing equal numbers apart.
    fn halves(&self, sorted: Vec<u32>, i: usize) -> Vec<Vec<u32>> {
        let number = |at: usize| self.row(sorted[at])[i].0;
        let cuts = (self.size..=sorted.len() - self.size).filter(|&at| number(at - 1) != number(at));
        let Some(at) = cuts.min_by_key(|&at| at.abs_diff(sorted.len() / 2)) else { return vec![sorted] };
        let mut low = sorted;
        let high = low.split_off(at);
        vec![low, high]
    }

    /// Rows that are all alike.
    fn cut(&self, mut rows: Vec<u32>, blocks: &mut Vec<Vec<u32>>) {
        while rows.len() >= BLOCK + self.size {
            let rest = rows.split_off(BLOCK);
            blocks.push(std::mem::replace(&mut rows, rest));
        }
        blocks.push(rows);
    }
}
