//! The assignment problem: every row gets a column of its own, at the least total cost.
//!
//! Jonker and Volgenant's shortest augmenting paths over potentials. The potentials bound the total from below all the
//! time, so a search that only wants to know whether the total is small stops as soon as it cannot be.

use bosket_model::observe::Observer;

use super::interrupted::{Interrupted, go_on};

/// Solves assignment problems one after the other, in the same memory.
#[derive(Debug, Default)]
pub struct Solver {
    row_dual: Vec<i64>,
    column_dual: Vec<i64>,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    distance: Vec<i64>,
    before: Vec<u32>,
    /// Columns in the order in which they were reached, then those that were not.
    order: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Columns from which on a path takes long enough to be asked before.
const WIDE: usize = 64;

impl Solver {
    /// The least total of a problem with at most as many rows as columns, costs row by row; none if it is more than
    /// `limit`. Which of several best assignments is found depends on the costs alone.
    pub fn solve(
        &mut self,
        rows: usize,
        columns: usize,
        cost: &[i64],
        limit: i64,
        observer: &dyn Observer,
    ) -> Result<Option<i64>, Interrupted> {
        debug_assert!(rows <= columns && cost.len() == rows * columns);
        self.column_of.clear();
        self.column_of.resize(rows, NONE);
        self.row_of.clear();
        self.row_of.resize(columns, NONE);
        self.column_dual.clear();
        self.column_dual.resize(columns, 0);
        self.row_dual.clear();
        let mut bound = 0;
        for row in 0..rows {
            let costs = &cost[row * columns..(row + 1) * columns];
            let mut least = 0;
            for column in 1..columns {
                if costs[column] < costs[least] {
                    least = column;
                }
            }
            self.row_dual.push(costs[least]);
            bound += costs[least];
            if self.row_of[least] == NONE {
                self.row_of[least] = row as u32;
                self.column_of[row] = least as u32;
            }
        }
        if bound > limit {
            return Ok(None);
        }
        self.augment_all(columns, cost, bound, limit, observer)
    }

    /// The least total of a problem with as many rows as columns, from potentials of the columns on that are known to be
    /// good; none if it is more than `limit`.
    pub fn solve_from(
        &mut self,
        size: usize,
        cost: &[i64],
        columns: &[i64],
        limit: i64,
        observer: &dyn Observer,
    ) -> Result<Option<i64>, Interrupted> {
        debug_assert!(cost.len() == size * size && columns.len() == size);
        self.column_of.clear();
        self.column_of.resize(size, NONE);
        self.row_of.clear();
        self.row_of.resize(size, NONE);
        self.column_dual.clear();
        self.column_dual.extend_from_slice(columns);
        self.row_dual.clear();
        let mut bound: i64 = columns.iter().sum();
        for row in 0..size {
            let costs = &cost[row * size..(row + 1) * size];
            let least = costs.iter().zip(columns).map(|(c, d)| c - d).min().unwrap_or(0);
            self.row_dual.push(least);
            bound += least;
        }
        if bound > limit {
            return Ok(None);
        }
        for row in 0..size {
            let costs = &cost[row * size..(row + 1) * size];
            let dual = self.row_dual[row];
            let tight = |&c: &usize| self.row_of[c] == NONE && costs[c] - columns[c] == dual;
            if let Some(column) = (0..size).find(tight) {
                self.row_of[column] = row as u32;
                self.column_of[row] = column as u32;
            }
        }
        self.augment_all(size, cost, bound, limit, observer)
    }

    /// Gives every free row a column, and the new bound; none if it is more than `limit`.
    fn augment_all(
        &mut self,
        columns: usize,
        cost: &[i64],
        mut bound: i64,
        limit: i64,
        observer: &dyn Observer,
    ) -> Result<Option<i64>, Interrupted> {
        for row in 0..self.column_of.len() {
            if self.column_of[row] == NONE {
                // Small problems are over before anybody could ask.
                if columns >= WIDE {
                    go_on(observer)?;
                }
                match self.augment(row, columns, cost, bound, limit) {
                    Some(more) => bound = more,
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(bound))
    }

    /// Gives a free row a column along the shortest path, and the new bound.
    fn augment(&mut self, free: usize, columns: usize, cost: &[i64], bound: i64, limit: i64) -> Option<i64> {
        self.distance.clear();
        self.before.clear();
        self.order.clear();
        for column in 0..columns {
            self.distance
                .push(cost[free * columns + column] - self.row_dual[free] - self.column_dual[column]);
            self.before.push(free as u32);
            self.order.push(column as u32);
        }
        let mut reached = 0;
        let (last, length) = loop {
            let mut nearest = reached;
            for at in reached + 1..columns {
                let (a, b) = (self.order[at], self.order[nearest]);
                if (self.distance[a as usize], a) < (self.distance[b as usize], b) {
                    nearest = at;
                }
            }
            self.order.swap(reached, nearest);
            let column = self.order[reached] as usize;
            reached += 1;
            let length = self.distance[column];
            if bound + length > limit {
                return None;
            }
            let row = self.row_of[column];
            if row == NONE {
                break (column, length);
            }
            let row = row as usize;
            let base = length - self.row_dual[row];
            let costs = &cost[row * columns..(row + 1) * columns];
            for &other in &self.order[reached..] {
                let other = other as usize;
                let through = base + costs[other] - self.column_dual[other];
                if through < self.distance[other] {
                    self.distance[other] = through;
                    self.before[other] = row as u32;
                }
            }
        };
        self.row_dual[free] += length;
        for &column in &self.order[..reached - 1] {
            let column = column as usize;
            let slack = length - self.distance[column];
            self.column_dual[column] -= slack;
            self.row_dual[self.row_of[column] as usize] += slack;
        }
        let mut column = last;
        loop {
            let row = self.before[column] as usize;
            self.row_of[column] = row as u32;
            let next = std::mem::replace(&mut self.column_of[row], column as u32);
            if row == free {
                return Some(bound + length);
            }
            column = next as usize;
        }
    }

    /// The column of a row in the last solution.
    pub fn column_of(&self, row: usize) -> usize {
        self.column_of[row] as usize
    }
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_model::random::Random;

    use super::*;

    fn least(rows: usize, columns: usize, cost: &[i64], row: usize, used: u64) -> i64 {
        if row == rows {
            return 0;
        }
        (0..columns)
            .filter(|c| used >> c & 1 == 0)
            .map(|c| cost[row * columns + c] + least(rows, columns, cost, row + 1, used | 1 << c))
            .min()
            .expect("enough columns")
    }

    #[test]
    fn the_total_is_the_least_of_all_assignments() {
        let mut solver = Solver::default();
        let solve = |solver: &mut Solver, rows, columns, cost: &[i64], limit| {
            solver.solve(rows, columns, cost, limit, &Quiet).expect("nobody interrupts")
        };
        let solve_from = |solver: &mut Solver, size, cost: &[i64], columns: &[i64], limit| {
            solver.solve_from(size, cost, columns, limit, &Quiet).expect("nobody interrupts")
        };
        let mut random = Random::new(7);
        for round in 0..3000 {
            let mut next = |n: usize| random.below(n);
            let rows = next(6);
            let columns = rows + next(3);
            let high = if round % 2 == 0 { 5 } else { 1000 };
            let cost: Vec<i64> = (0..rows * columns).map(|_| next(high) as i64 - 2).collect();
            let best = least(rows, columns, &cost, 0, 0);
            assert_eq!(solve(&mut solver, rows, columns, &cost, i64::MAX / 4), Some(best));
            let chosen: Vec<usize> = (0..rows).map(|r| solver.column_of(r)).collect();
            let total: i64 = chosen.iter().enumerate().map(|(r, c)| cost[r * columns + c]).sum();
            assert_eq!(total, best);
            for r in 0..rows {
                assert_eq!(chosen.iter().filter(|&&c| c == chosen[r]).count(), 1);
            }
            assert_eq!(solve(&mut solver, rows, columns, &cost, best), Some(best));
            assert_eq!(solve(&mut solver, rows, columns, &cost, best - 1), None);
            if rows == columns {
                let from: Vec<i64> = (0..columns).map(|_| next(high) as i64 - 3).collect();
                assert_eq!(solve_from(&mut solver, rows, &cost, &from, best), Some(best));
                assert_eq!(solve_from(&mut solver, rows, &cost, &from, best - 1), None);
            }
        }
    }
}
