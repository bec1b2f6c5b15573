//! Text masked from the right, character by character.

use super::tree::Hierarchy;
use super::tree_builder::TreeBuilder;

/// Longer values are masked several characters at a time, so that free text does not become a tower.
const LEVELS: usize = 32;

/// Builds the hierarchy over the domain: `55455` → `5545*` → `554**` → … → `*****` → `*`.
///
/// A value of at most one character hangs directly under the root. A value of more than 32 characters loses
/// ⌈length / 32⌉ of them per level. The levels depend on the length only, which masking keeps, so a value that
/// contains `*` itself never contradicts the others.
pub fn prefix(domain: &[&str]) -> Hierarchy {
    let mut sorted = domain.to_vec();
    sorted.sort_unstable();
    let mut builder = TreeBuilder::new();
    for value in sorted {
        let starts: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
        let length = starts.len();
        let mut parent = TreeBuilder::ROOT;
        if length > 1 {
            let step = length.div_ceil(LEVELS);
            for level in (1..=length.div_ceil(step)).rev() {
                let masked = (level * step).min(length);
                let mut label = value[..starts[length - masked]].to_owned();
                label.extend(std::iter::repeat_n('*', masked));
                parent = builder.place(parent, &label);
            }
        }
        builder.place(parent, value);
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(h: &Hierarchy, label: &str) -> Vec<String> {
        let start = h.node(label).unwrap_or_else(|| panic!("{label} is no node"));
        std::iter::successors(Some(start), |&n| h.parent(n)).map(|n| h.label(n).to_owned()).collect()
    }

    #[test]
    fn zip_codes() {
        let h = prefix(&["55455", "55401", "10115"]);
        assert_eq!(path(&h, "55455"), ["55455", "5545*", "554**", "55***", "5****", "*****", "*"]);
        assert_eq!(
            h.lca(h.leaf("55455").expect("leaf"), h.leaf("55401").expect("leaf")),
            h.node("554**").expect("node")
        );
        assert_eq!(h.leaf_count(), 3);
    }

    #[test]
    fn characters_not_bytes() {
        let h = prefix(&["Åse", "é"]);
        assert_eq!(path(&h, "Åse"), ["Åse", "Ås*", "Å**", "***", "*"]);
        assert_eq!(path(&h, "é"), ["é", "*"]);
    }

    #[test]
    fn values_with_stars_are_nodes_already() {
        let domain = ["ab", "a*", "**", "*", "", "*b"];
        let h = prefix(&domain);
        assert_eq!(path(&h, "ab"), ["ab", "a*", "**", "*"]);
        assert_eq!(path(&h, "*b"), ["*b", "**", "*"]);
        let (bound, leaves) = h.bind(domain).expect("all are covered");
        let labels: Vec<_> = leaves.iter().map(|&n| bound.label(n)).collect();
        assert_eq!(labels, ["ab", "a* (unspecified)", "** (unspecified)", "* (unspecified)", "", "*b"]);
    }

    #[test]
    fn long_text_has_at_most_32_masks() {
        for length in [2, 31, 32, 33, 64, 65, 1000] {
            let value = "x".repeat(length);
            let path = path(&prefix(&[&value]), &value);
            assert!(path.len() <= LEVELS + 2, "{length}: {}", path.len());
            assert_eq!(path[path.len() - 2], "*".repeat(length));
        }
    }
}
