//! Things compared with how often they occur.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use bosket_model::Result;
use bosket_model::observe::Observer;

/// How many things of a publication the input does not have, or not as often.
pub(super) fn invented<T: Eq + Hash>(
    published: impl IntoIterator<Item = T>,
    private: impl IntoIterator<Item = T>,
    observer: &dyn Observer,
) -> Result<usize> {
    let mut left: FxHashMap<T, usize> = FxHashMap::default();
    for thing in private {
        observer.go_on()?;
        *left.entry(thing).or_default() += 1;
    }
    let mut invented = 0;
    for thing in published {
        observer.go_on()?;
        match left.get_mut(&thing) {
            Some(times) if *times > 0 => *times -= 1,
            _ => invented += 1,
        }
    }
    Ok(invented)
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;

    use super::*;

    #[test]
    fn what_occurs_once_is_no_ground_for_two() {
        let count = |a: &[u8], b: &[u8]| invented(a, b, &Quiet).expect("nobody gives up");
        assert_eq!(count(&[1, 1, 2], &[2, 1, 3]), 1);
        assert_eq!(count(&[2, 1, 3], &[1, 1, 2]), 1);
        assert_eq!((count(&[], &[1]), count(&[1, 4], &[])), (0, 2));
    }
}
