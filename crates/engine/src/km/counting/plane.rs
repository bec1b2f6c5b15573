//! Pairs of codes as bits.
//!
//! Codes are numbered by falling support. A pair is kept at its rarer member: a row per code, a bit per code before it.

/// Which bits of a plane belong to which pair. The plane has the codes from `first` on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) first: u32,
    pub(super) codes: u32,
}

impl Shape {
    /// All pairs of the codes `first..codes`.
    pub(super) fn new(first: u32, codes: u32) -> Self {
        Shape { first: first.min(codes), codes }
    }

    /// The word with which rows begin.
    pub(super) fn origin(self) -> usize {
        self.first as usize / 64
    }

    /// Where the row of a code begins.
    pub(super) fn row(self, code: u32) -> usize {
        before(code) - before(self.first) - self.origin() * (code - self.first) as usize
    }

    /// How many words all rows take.
    pub(super) fn words(self) -> usize {
        self.row(self.codes)
    }

    /// The word of a row, from its beginning, that holds a code.
    pub(super) fn word(self, code: u32) -> usize {
        code as usize / 64 - self.origin()
    }

    /// The bits of a row's word that stand for codes of the plane before it.
    pub(super) fn mask(self, code: u32, word: usize) -> u64 {
        let start = (self.origin() + word) as u32 * 64;
        let below = |limit: u32| match limit.saturating_sub(start) {
            0 => 0,
            bits if bits >= 64 => u64::MAX,
            bits => (1u64 << bits) - 1,
        };
        below(code) & !below(self.first)
    }
}

/// The words of the rows of all codes before one, if rows begin with word 0.
fn before(code: u32) -> usize {
    let (full, rest) = (code as usize / 64, code as usize % 64);
    64 * (full * (full + 1) / 2) + rest * (full + 1)
}

/// Pairs as bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plane {
    pub(super) shape: Shape,
    pub(super) bits: Vec<u64>,
}

impl Plane {
    /// Whether a pair is in.
    pub(crate) fn has(&self, a: u32, b: u32) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        !self.bits.is_empty() && self.bits[self.shape.row(high) + self.shape.word(low)] >> (low % 64) & 1 == 1
    }

    /// The codes before one that are in a pair with it, as far as `wanted` has them.
    pub(crate) fn partners(&self, code: u32, wanted: &[u64], found: &mut Vec<u32>) {
        if self.bits.is_empty() || code < self.shape.first {
            return;
        }
        let from = self.shape.row(code);
        for word in 0..=self.shape.word(code) {
            let at = self.shape.origin() + word;
            let mut rest = self.bits[from + word] & wanted[at];
            while rest != 0 {
                found.push(at as u32 * 64 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
    }

    /// Marks the codes that are in a pair. Whether there is any.
    pub(super) fn mark_members(&self, found: &mut [bool]) -> bool {
        let mut all = vec![0u64; found.len().div_ceil(64)];
        let mut any = false;
        let rows = if self.bits.is_empty() { 0..0 } else { self.shape.first..self.shape.codes };
        for code in rows {
            let row = &self.bits[self.shape.row(code)..][..=self.shape.word(code)];
            let mut own = 0;
            for (all, bits) in all[self.shape.origin()..].iter_mut().zip(row) {
                *all |= bits;
                own |= bits;
            }
            found[code as usize] |= own != 0;
            any |= own != 0;
        }
        (0..found.len()).for_each(|code| found[code] |= all[code / 64] >> (code % 64) & 1 == 1);
        any
    }

    /// Takes the codes before one that are in a pair with it out of `wanted`.
    pub(crate) fn remove_partners(&self, code: u32, wanted: &mut [u64]) {
        if self.bits.is_empty() || code < self.shape.first {
            return;
        }
        let row = &self.bits[self.shape.row(code)..][..=self.shape.word(code)];
        for (wanted, bits) in wanted[self.shape.origin()..].iter_mut().zip(row) {
            *wanted &= !bits;
        }
    }

    /// All pairs, the smaller code first.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let Shape { first, codes } = self.shape;
        let codes = if self.bits.is_empty() { first..first } else { first..codes };
        codes.flat_map(move |high| {
            let from = self.shape.row(high);
            (0..=self.shape.word(high)).flat_map(move |word| {
                let start = (self.shape.origin() + word) as u32 * 64;
                let mut rest = self.bits[from + word];
                std::iter::from_fn(move || {
                    (rest != 0).then(|| {
                        let low = start + rest.trailing_zeros();
                        rest &= rest - 1;
                        (low, high)
                    })
                })
            })
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.bits.len() * 8
    }
}
