//! Random numbers that are the same everywhere, for ever: SplitMix64.
//!
//! What is drawn decides bytes of example datasets and figures of reports, so neither the constants nor the ways of drawing
//! may change.

/// A stream of numbers from a seed; equal seeds give equal streams.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// One of many streams of a seed.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut random = Random(seed ^ stream.wrapping_mul(0xD134_2543_DE82_EF95));
        random.next_u64();
        random
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The high half of a 128-bit product is uniform enough for n far below 2^64, and needs no division.
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// True with the given chance in a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// One of the choices, earlier ones more often (the i-th with weight 1/(i+1)).
    pub fn pick_early<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        let total: f64 = (1..=choices.len()).map(|i| 1.0 / i as f64).sum();
        let mut rest = (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * total;
        for (i, choice) in choices.iter().enumerate() {
            rest -= 1.0 / (i + 1) as f64;
            if rest < 0.0 {
                return choice;
            }
        }
        &choices[choices.len() - 1]
    }

    /// So many different numbers below `n`, ascending, all choices alike (Floyd's way): for small sizes.
    pub fn positions(&mut self, n: usize, size: usize, out: &mut Vec<usize>) {
        out.clear();
        for upper in n - size..n {
            let drawn = self.below(upper + 1);
            out.push(if out.contains(&drawn) { upper } else { drawn });
        }
        out.sort_unstable();
    }

    /// So many different numbers below `n`, ascending: for large sizes.
    pub fn sample(&mut self, n: usize, size: usize) -> Vec<u32> {
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
    fn the_stream_of_seed_0_is_the_published_one() {
        let mut random = Random::new(0);
        assert_eq!(random.next_u64(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(random.next_u64(), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn draws_are_different_and_in_range() {
        let mut random = Random::stream(7, 1);
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
