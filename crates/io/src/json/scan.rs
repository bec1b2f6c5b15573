//! Running over plain text.

/// Where a quote, a backslash or a control character comes next, or the end.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Eight bytes at a time. A borrow can only spoil bytes above the lowest hit, and only that one is used.
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * b'"' as u64);
        let slash = word ^ (ONES * b'\\' as u64);
        let hits = (word.wrapping_sub(ONES * 0x20) & !word
            | quote.wrapping_sub(ONES) & !quote
            | slash.wrapping_sub(ONES) & !slash)
            & HIGH;
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(&c) = bytes.get(at)
        && !matches!(c, b'"' | b'\\' | 0..0x20)
    {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_byte_by_byte_search_finds(
            bytes in prop::collection::vec(prop_oneof![8 => any::<u8>(), 1 => Just(b'"'), 20 => 0x20..=0xFFu8], 0..40),
            from in 0usize..40,
        ) {
            let from = from.min(bytes.len());
            let hit = bytes[from..].iter().position(|&c| c == b'"' || c == b'\\' || c < 0x20);
            prop_assert_eq!(plain_end(&bytes, from), hit.map_or(bytes.len(), |i| from + i));
        }
    }
}
