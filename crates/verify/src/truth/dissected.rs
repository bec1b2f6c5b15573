//! Two sides that only groups join, compared with the private data they were made from.
//!
//! Everything published must be there, as often; what is not published was suppressed. With a mapping, each group must
//! have the people and values that it says, no more and no fewer. People and values come as SHA-256 of what they say:
//! two that differ have the same digest for nobody who could write them down.

use bosket_model::Result;
use bosket_model::dissected::SideDigests;
use bosket_model::observe::Observer;

use super::Untruth;
use super::counts::invented;

/// Compares a dissected publication with its input. `paths` are those of the sensitive attributes, in the order of the
/// values; `mapped` if groups come from a mapping. No untruth means that it is true.
pub fn compare_dissected(
    published: &SideDigests,
    private: &SideDigests,
    paths: &[String],
    mapped: bool,
    observer: &dyn Observer,
) -> Result<Vec<Untruth>> {
    let mut untruths = Vec::new();
    let mut tell = |count: usize, what: &str, fault: &str, path: Option<&String>| {
        if count > 0 {
            let message = format!("{} {what}{} {fault}", separated(count), if count == 1 { "" } else { "s" });
            untruths.push(Untruth { message, path: path.cloned(), records: Vec::new() });
        }
    };
    let surplus = match mapped {
        false => "of the publication not in the input",
        true => "of the publication not in the group by the mapping",
    };
    let kinds = std::iter::once(("record", None)).chain(paths.iter().map(|path| ("value", Some(path))));
    let published = std::iter::once(&published.people).chain(&published.values);
    let private = std::iter::once(&private.people).chain(&private.values);
    for ((published, private), (what, path)) in published.zip(private).zip(kinds) {
        if mapped {
            let missing = invented(private, published, observer)?;
            tell(missing, what, "not in the group by the mapping", path);
        }
        tell(invented(published, private, observer)?, what, surplus, path);
    }
    Ok(untruths)
}

/// A number with separators: 1,234,567.
fn separated(n: usize) -> String {
    let digits = n.to_string();
    let parts = digits.as_bytes().rchunks(3).rev().map(|part| String::from_utf8_lossy(part).into_owned());
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;

    use super::*;

    /// A digest that starts and ends alike and differs in the middle: what a comparison of fewer bits would not see.
    fn digest(at: usize) -> [u8; 32] {
        let mut digest = [7; 32];
        digest[at] = 8;
        digest
    }

    fn sides(people: &[(u32, [u8; 32])], values: &[(u32, [u8; 32])]) -> SideDigests {
        SideDigests { people: people.to_vec(), values: vec![values.to_vec()], records: people.len() }
    }

    fn told(published: &SideDigests, private: &SideDigests, mapped: bool) -> Vec<String> {
        let found = compare_dissected(published, private, &["ill".to_owned()], mapped, &Quiet);
        found.expect("nobody gives up").into_iter().map(|u| u.message).collect()
    }

    #[test]
    fn digests_are_compared_to_the_last_bit() {
        for at in 0..32 {
            let (published, private) = (sides(&[(0, digest(at))], &[]), sides(&[(0, [7; 32])], &[]));
            assert_eq!(told(&published, &private, false), ["1 record of the publication not in the input"]);
            assert!(told(&private, &private, false).is_empty());
        }
    }

    #[test]
    fn what_a_mapping_puts_elsewhere_is_told_both_ways() {
        let published = sides(&[], &[(1, [7; 32]), (1, [7; 32])]);
        let private = sides(&[], &[(1, [7; 32]), (2, [7; 32])]);
        let expected = [
            "1 value not in the group by the mapping",
            "1 value of the publication not in the group by the mapping",
        ];
        assert_eq!(told(&published, &private, true), expected);
    }

    #[test]
    fn large_numbers_have_separators() {
        let told: Vec<String> = [7, 999, 1000, 1_234_567].map(separated).to_vec();
        assert_eq!(told, ["7", "999", "1,000", "1,234,567"]);
    }
}
