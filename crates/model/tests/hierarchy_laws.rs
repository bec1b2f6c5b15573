//! Laws of hierarchies, against naive definitions.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::hierarchy::{
    Build, Clamp, DateLevel, DrawOptions, Hierarchy, NodeId, TreeBuilder, build, csv, draw,
};
use proptest::prelude::*;

/// Labels with everything that a file format could stumble over.
fn label() -> impl Strategy<Value = String> {
    let character = prop::sample::select(vec![
        'a', 'b', ';', ',', '\t', '"', '\n', '\r', ' ', '*', 'é', '\u{feff}', '.', '(',
    ]);
    prop::collection::vec(character, 0..5).prop_map(|c| c.into_iter().collect())
}

/// A tree with distinct labels: for each node a label and the number of an earlier one as parent.
fn tree() -> impl Strategy<Value = (Hierarchy, BTreeMap<String, String>)> {
    prop::collection::vec((label(), any::<prop::sample::Index>()), 0..40).prop_map(|nodes| {
        let mut builder = TreeBuilder::new();
        let mut handles = vec![TreeBuilder::ROOT];
        let mut parents = BTreeMap::new();
        for (label, parent) in nodes {
            if builder.node(&label).is_some() {
                continue;
            }
            let parent = handles[parent.index(handles.len())];
            parents.insert(label.clone(), builder.label(parent).to_owned());
            let node = builder.child(parent, &label).expect("the label is free");
            // An empty label can stand for a value, not for a group.
            if !label.is_empty() {
                handles.push(node);
            }
        }
        (builder.finish(), parents)
    })
}

fn ancestors(h: &Hierarchy, n: NodeId) -> Vec<NodeId> {
    std::iter::successors(Some(n), |&n| h.parent(n)).collect()
}

proptest! {
    #[test]
    fn numbering_is_contiguous((h, parents) in tree()) {
        prop_assert_eq!(h.len(), parents.len() + 1);
        for n in h.nodes() {
            let parent = h.parent(n).map(|p| h.label(p).to_owned());
            prop_assert_eq!(parent.as_ref(), parents.get(h.label(n)));
            prop_assert_eq!(h.node(h.label(n)), Some(n));
            prop_assert_eq!(h.depth(n) as usize, ancestors(&h, n).len() - 1);
            let children: Vec<NodeId> = h.nodes().filter(|&c| h.parent(c) == Some(n)).collect();
            prop_assert_eq!(h.children(n).collect::<Vec<_>>(), children.clone());
            prop_assert_eq!(h.is_leaf(n), children.is_empty());
            let below: Vec<NodeId> =
                h.nodes().filter(|&l| h.is_leaf(l) && ancestors(&h, l).contains(&n)).collect();
            prop_assert_eq!(h.leaves(n).map(|p| h.leaf_node(p)).collect::<Vec<_>>(), below);
        }
        prop_assert_eq!(Some(h.height()), h.nodes().map(|n| h.depth(n)).max());
    }

    #[test]
    fn common_ancestors_are_the_naive_ones((h, _) in tree()) {
        for a in h.nodes() {
            for b in h.nodes() {
                let above_b = ancestors(&h, b);
                prop_assert_eq!(h.is_ancestor_or_self(a, b), above_b.contains(&a));
                let naive = ancestors(&h, a).into_iter().find(|n| above_b.contains(n));
                prop_assert_eq!(Some(h.lca(a, b)), naive);
            }
        }
    }

    #[test]
    fn files_are_read_back_to_the_same_tree((h, _) in tree()) {
        let text = csv::write(&h);
        let again = csv::parse("h.csv", &text);
        prop_assert_eq!(again, Ok(h), "{}", text);
    }

    #[test]
    fn no_text_breaks_the_reader(text in label(), separator in "[;,\t]", more in label()) {
        let text = format!("{text}{separator}{more}\n{more}{separator}{text}");
        if let Ok(h) = csv::parse("h.csv", &text) {
            prop_assert_eq!(csv::parse("h.csv", &csv::write(&h)), Ok(h));
        }
    }

    #[test]
    fn binding_gives_every_value_a_leaf_of_its_own((h, _) in tree()) {
        let values: Vec<&str> = h.nodes().map(|n| h.label(n)).collect();
        let (bound, leaves) = h.bind(values.iter().copied()).expect("labels are covered");
        for (value, &leaf) in values.iter().zip(&leaves) {
            prop_assert!(bound.is_leaf(leaf));
            let node = bound.node(value).expect("still a node");
            prop_assert!(bound.is_ancestor_or_self(node, leaf));
        }
        let distinct: BTreeSet<NodeId> = leaves.iter().copied().collect();
        prop_assert_eq!(distinct.len(), values.len());
        prop_assert_eq!(bound.leaf_count(), values.len());
        prop_assert_eq!(csv::parse("h.csv", &csv::write(&bound)), Ok(bound));
    }

    #[test]
    fn drawings_have_a_line_per_node((h, _) in tree()) {
        let all = DrawOptions { max_children: usize::MAX, ..DrawOptions::default() };
        prop_assert_eq!(draw(&h, None, &all).lines().count(), h.len());
        let few = DrawOptions { max_children: 0, ..all };
        prop_assert!(draw(&h, Some(&[1]), &few).lines().count() <= h.len());
    }
}

/// Which values of the domain have a leaf; distinct values have distinct ones.
fn covered<'a>(h: &Hierarchy, domain: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let inside: BTreeSet<&str> = domain.iter().copied().filter(|v| h.node(v).is_some()).collect();
    let (_, leaves) = h.bind(inside.iter().copied()).expect("its nodes are covered");
    assert_eq!(leaves.iter().collect::<BTreeSet<_>>().len(), inside.len());
    inside
}

fn built(spec: &Build, domain: &BTreeSet<&str>) -> Hierarchy {
    let given: Vec<&str> = domain.iter().rev().copied().collect();
    build(spec, &given, None).unwrap_or_else(|d| panic!("{d:?}"))
}

fn views(values: &[String]) -> BTreeSet<&str> {
    values.iter().map(String::as_str).collect()
}

proptest! {
    #[test]
    fn prefix_and_fanout_cover_everything(
        values in prop::collection::vec(label(), 0..30),
        fanout in 2usize..5,
    ) {
        let domain = views(&values);
        for spec in [Build::Prefix, Build::Fanout { fanout }] {
            let h = built(&spec, &domain);
            prop_assert_eq!(covered(&h, &domain), domain.clone());
        }
        let h = built(&Build::Fanout { fanout }, &domain);
        prop_assert!(h.nodes().all(|n| h.is_leaf(n) || (1..=fanout).contains(&h.children(n).count())));
    }

    #[test]
    fn intervals_hold_their_numbers(
        numbers in prop::collection::vec((-300i64..600, 0u32..100), 0..30),
        min in -100i64..100, length in 0i64..300, width in 1i64..9, factor in 2i64..5,
    ) {
        let values: Vec<String> = numbers.iter().map(|(whole, cents)| format!("{whole}.{cents:02}")).collect();
        let domain = views(&values);
        let max = min + length;
        let widths = vec![width as f64, (width * factor) as f64];
        let spec = |clamp| Build::Interval { min: min as f64, max: max as f64, widths: widths.clone(), clamp };
        let h = built(&spec(Clamp::None), &domain);
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let inside = domain.iter().copied().filter(|v| (min as f64..=max as f64).contains(&number(v))).collect();
        prop_assert_eq!(covered(&h, &domain), inside);
        prop_assert_eq!(covered(&built(&spec(Clamp::Both), &domain), &domain), domain);
        for n in h.nodes().filter(|&n| !h.is_leaf(n) && n != NodeId::ROOT) {
            let label = h.label(n);
            let (from, to) = if min < 0 {
                let (from, to) = label[1..label.len() - 1].split_once(',').expect("[a,b)");
                (number(from), number(to))
            } else {
                let (from, to) = label.split_once('-').expect("a-b");
                (number(from), number(to) + 1.0)
            };
            prop_assert!([width, width * factor].contains(&((to - from) as i64)));
            prop_assert_eq!((from as i64 - min) % (to - from) as i64, 0);
            for leaf in h.leaves(n) {
                let value = number(h.label(h.leaf_node(leaf)));
                prop_assert!(from <= value && value < to, "{} in {}", value, label);
            }
        }
    }

    #[test]
    fn dates_are_below_their_months(
        days in prop::collection::vec((1990i64..2012, 1u32..=12, 1u32..=31, 0u32..3), 0..20),
        levels in prop::sample::subsequence(
            vec![DateLevel::Month, DateLevel::Quarter, DateLevel::Year, DateLevel::Decade], 0..=4),
    ) {
        let write = |&(y, m, d, form): &(i64, u32, u32, u32)| match form {
            0 => format!("{y}-{m:02}-{d:02}"),
            1 => format!("{y}-{m:02}-{d:02}T0{}:30:00Z", d % 10),
            _ => format!("{y}-{m:02}"),
        };
        let values: Vec<String> = days.iter().map(write).collect();
        let domain = views(&values);
        let spec = Build::Date {
            min: "1995-03-10".into(),
            max: "2005-06-20".into(),
            levels: levels.clone(),
            format: None,
            clamp: Default::default(),
        };
        let h = built(&spec, &domain);
        let length = |y: i64, m: &str| match m {
            "02" => if y % 4 == 0 && (y % 100 != 0 || y % 400 == 0) { "29" } else { "28" },
            "04" | "06" | "09" | "11" => "30",
            _ => "31",
        };
        let inside = domain.iter().copied().filter(|v| {
            let month = ("1995-03"..="2005-06").contains(&&v[..7]);
            let exists = v.len() == 7 || &v[8..10] <= length(v[..4].parse().expect("a year"), &v[5..7]);
            let day = v.len() == 7 || ("1995-03-10"..="2005-06-20").contains(&&v[..10]);
            month && exists && day
        });
        let inside: BTreeSet<&str> = inside.collect();
        prop_assert_eq!(covered(&h, &domain), inside.clone());
        for value in inside {
            let above = ancestors(&h, h.node(value).expect("covered"));
            let labels: Vec<&str> = above.iter().map(|&n| h.label(n)).collect();
            if levels.is_empty() || levels.contains(&DateLevel::Month) {
                prop_assert!(labels.contains(&&value[..7]));
            }
            prop_assert_eq!(labels.contains(&&value[..4]), levels.is_empty() || levels.contains(&DateLevel::Year));
        }
    }

    #[test]
    fn diagnoses_are_below_their_category(
        codes in prop::collection::vec(("[A-EG-NR-Z][0-8][0-9]", "(\\.?[0-9A-Z]{1,4})?"), 0..20),
    ) {
        let values: Vec<String> = codes.iter().map(|(category, rest)| format!("{category}{rest}")).collect();
        let domain = views(&values);
        let h = built(&Build::Icd10 { table: None }, &domain);
        let known = domain.iter().copied().filter(|v| !("U86".."V").contains(v) && !("T89".."U").contains(v));
        prop_assert_eq!(covered(&h, &domain), known.clone().collect());
        for code in known {
            let above = ancestors(&h, h.node(code).expect("covered"));
            prop_assert!(above.iter().any(|&n| h.label(n) == &code[..3]), "{}", code);
            prop_assert!((3..=5).contains(&above.len()), "{:?}", code);
        }
    }
}
