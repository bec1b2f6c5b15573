//! How many cells an attacker restores who may be wrong about one in ten.

/// How sure somebody is of a cell, and whether it is right.
pub(super) type Said = (f64, bool);

/// Of ten cells that are restored, so many are right.
const RIGHT_OF_TEN: u64 = 9;

/// Cells whose value somebody says, and how many of these are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// How many cells.
    pub cells: u64,
    /// How many of them are right.
    pub right: u64,
}

impl Restored {
    /// The share that is right; none of no cells.
    pub fn precision(&self) -> Option<f64> {
        (self.cells > 0).then(|| self.right as f64 / self.cells as f64)
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Restored) -> Restored {
        Restored { cells: self.cells + other.cells, right: self.right + other.right }
    }

    /// The most cells of which nine in ten are right, taken by certainty; cells of one certainty go together.
    pub(super) fn most(said: &mut [Said]) -> Restored {
        said.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut so_far, mut best) = (Restored::default(), Restored::default());
        for same in said.chunk_by(|a, b| a.0 == b.0) {
            let right = same.iter().filter(|said| said.1).count() as u64;
            so_far = so_far.and(Restored { cells: same.len() as u64, right });
            if so_far.right * 10 >= so_far.cells * RIGHT_OF_TEN {
                best = so_far;
            }
        }
        best
    }

    /// The cells of which somebody says to be sure by nine in ten.
    pub(super) fn sure(said: &[Said]) -> Restored {
        let sure = said.iter().filter(|said| said.0 * 10.0 >= RIGHT_OF_TEN as f64);
        sure.fold(Restored::default(), |sum, said| sum.and(Restored { cells: 1, right: u64::from(said.1) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_that_are_right_nine_times_in_ten() {
        let said = |all: &[(f64, &str)]| -> Vec<(f64, bool)> {
            all.iter().flat_map(|(sure, right)| right.chars().map(|c| (*sure, c == '+'))).collect()
        };
        let of = |all: &[(f64, &str)]| Restored::most(&mut said(all));
        assert_eq!(of(&[(0.5, "++++-"), (0.9, "+++++")]), Restored { cells: 10, right: 9 });
        assert_eq!(of(&[(0.5, "+++--"), (0.9, "+++++")]), Restored { cells: 5, right: 5 });
        // Cells of one certainty cannot be told apart: nobody takes those only that are right.
        assert_eq!(of(&[(0.9, "+-")]), Restored::default());
        // A bad start may be made up for.
        assert_eq!(of(&[(0.9, "-"), (0.5, "+++++++++")]), Restored { cells: 10, right: 9 });
        assert_eq!(Restored::sure(&said(&[(0.9, "+-"), (0.89, "++")])), Restored { cells: 2, right: 1 });
        assert_eq!(Restored::default().precision(), None);
    }
}
