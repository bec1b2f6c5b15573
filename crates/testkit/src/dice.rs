//! Random choices from a seed, for data that is easier to throw than to describe as a strategy.

/// A stream of choices; equal seeds give equal streams.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// True in one of `n` cases.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the elements, which are not none.
    pub fn of<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Puts the elements into any order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

/// How many cases a property is tried on: `usual`, or what `PROPTEST_CASES` says.
pub fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// All orders of 0..n.
pub fn permutations(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let insert = |shorter: Vec<usize>| {
        (0..n).map(move |at| {
            let mut longer = shorter.clone();
            longer.insert(at, last);
            longer
        })
    };
    permutations(last).into_iter().flat_map(insert).collect()
}
