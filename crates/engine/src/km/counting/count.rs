//! Counters that stop at k: nobody needs the exact support of a frequent itemset.

/// A small whole number.
pub(super) trait Count: Copy + Ord + Send + Sync {
    /// Nothing was counted.
    const ZERO: Self;
    /// Enough was counted.
    const ENOUGH: Self;
    /// A number that is known to fit.
    fn new(n: u32) -> Self;
    /// The sum; [`Count::ENOUGH`] if one of them is.
    fn plus(self, other: Self) -> Self;
}

macro_rules! count {
    ($($int:ty),+) => {$(
        impl Count for $int {
            const ZERO: Self = 0;
            const ENOUGH: Self = <$int>::MAX;
            #[inline]
            fn new(n: u32) -> Self {
                n as $int
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.saturating_add(other)
            }
        }
    )+};
}
count!(u8, u16, u32);

/// Calls a generic function with the smallest counter in which twice k is less than enough.
macro_rules! with_counter {
    ($k:expr, $function:ident ( $($argument:expr),* $(,)? )) => {
        match $k {
            0..=127 => $function::<u8>($($argument),*),
            128..=32_767 => $function::<u16>($($argument),*),
            _ => $function::<u32>($($argument),*),
        }
    };
}
pub(super) use with_counter;
