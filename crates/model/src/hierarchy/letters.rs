//! Names by their first letters, where nothing says more about them.

use super::tree::Hierarchy;
use super::tree_builder::TreeBuilder;

/// Builds the hierarchy over the domain: `Mueller` → `M…` → `*`. Small letters count as capitals; what begins with no
/// letter is put together as `#…`.
pub fn letters(domain: &[&str]) -> Hierarchy {
    let mut sorted: Vec<(String, &str)> = domain.iter().map(|value| (initial(value), *value)).collect();
    sorted.sort_unstable();
    let mut builder = TreeBuilder::new();
    for (initial, value) in sorted {
        let group = builder.place(TreeBuilder::ROOT, &initial);
        builder.place(group, value);
    }
    builder.finish()
}

fn initial(value: &str) -> String {
    let first = value.trim_start().chars().next().filter(|c| c.is_alphabetic());
    first.map_or_else(|| "#…".to_owned(), |first| format!("{}…", first.to_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hang_below_their_first_letters() {
        let h = letters(&["Mueller", "meier", "Öz", "4711", "", "M…"]);
        let parent = |label: &str| {
            let node = h.node(label).unwrap_or_else(|| panic!("{label}"));
            h.label(h.parent(node).expect("not the root"))
        };
        assert_eq!((parent("Mueller"), parent("meier"), parent("Öz")), ("M…", "M…", "Ö…"));
        assert_eq!((parent("4711"), parent("")), ("#…", "#…"));
        assert_eq!(parent("M…"), "*");
        assert!(h.bind(["Mueller", "M…"]).is_ok());
    }
}
