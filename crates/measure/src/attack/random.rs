//! Numbers that look random and are the same in every run.

/// SplitMix64.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Numbers of a seed, different for every stream.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Random(seed ^ stream.wrapping_mul(0xD134_2543_DE82_EF95));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// So many different numbers below `n`, ascending, all choices alike (Floyd's way).
    pub(super) fn positions(&mut self, n: usize, size: usize, out: &mut Vec<usize>) {
        out.clear();
        for upper in n - size..n {
            let drawn = self.below(upper + 1);
            out.push(if out.contains(&drawn) { upper } else { drawn });
        }
        out.sort_unstable();
    }

    /// So many different numbers below `n`, ascending: for large sizes.
    pub(super) fn sample(&mut self, n: usize, size: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..n as u32).collect();
        for at in 0..size.min(n) {
            let other = at + self.below(n - at);
            all.swap(at, other);
        }
        all.truncate(size);
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_different_and_in_range() {
        let mut random = Random::new(7, 1);
        let mut out = Vec::new();
        let mut seen = [0usize; 6];
        for _ in 0..3000 {
            random.positions(6, 3, &mut out);
            assert!(out.len() == 3 && out.windows(2).all(|w| w[0] < w[1]) && out[2] < 6);
            out.iter().for_each(|&i| seen[i] += 1);
        }
        assert!(seen.iter().all(|&n| (1300..1700).contains(&n)), "{seen:?}");
        let sample = random.sample(100, 40);
        assert!(sample.len() == 40 && sample.windows(2).all(|w| w[0] < w[1]) && sample[39] < 100);
    }
}
