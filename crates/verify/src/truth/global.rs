//! Global recoding: one cut for all records.
//!
//! The cut is recovered from the published labels: they must be nodes of the hierarchies, none above another, and
//! every value of the input must lie under exactly one. Recoding the input with it must give the published values,
//! record by record; relations may have been taken apart, but none may be new.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Payload, RootMode};
use bosket_model::value_tree::ValueTrees;

use super::{Comparison, Untruth, matching};

/// A record as it should be, or is, published: items, related pairs, payload.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    items: Vec<u32>,
    payload: Vec<u32>,
    relations: Vec<(u32, u32)>,
}

pub(super) fn compare(c: &Comparison<'_>, root: Option<RootMode>, payload: Payload) -> Vec<Untruth> {
    let mode = root.unwrap_or(RootMode::Separate);
    let published = ValueTrees::new(c.published.data, c.published.binding, mode, payload);
    let input = ValueTrees::new(c.input.data, c.input.binding, mode, payload);
    let mut untruths = Vec::new();
    let recode = recover_cut(c, &published, &input, &mut untruths);
    if !untruths.is_empty() {
        return untruths;
    }
    let mut tokens = FxHashMap::default();
    let same: Vec<Option<u32>> = (0..published.items().len() as u32).map(Some).collect();
    let out: Vec<Form> =
        (0..published.len()).map(|r| form(&published, r, &same, root.is_some(), &mut tokens)).collect();
    let expected: Vec<Form> =
        (0..input.len()).map(|r| form(&input, r, &recode, root.is_some(), &mut tokens)).collect();
    let fits = |p: &Form, i: &Form| {
        p.items == i.items
            && p.payload == i.payload
            && p.relations.iter().all(|pair| i.relations.binary_search(pair).is_ok())
    };
    let lonely = match c.mapping {
        Some(mapping) => (mapping.iter())
            .filter(|&&(i, p)| !fits(&out[p as usize], &expected[i as usize]))
            .map(|&(_, p)| p)
            .collect(),
        None => unmatched(&out, &expected, fits),
    };
    if !lonely.is_empty() {
        untruths.push(
            Untruth::new("these records cannot all come from input records of their own by one cut")
                .records(lonely),
        );
    }
    let missing = expected.iter().filter(|f| !f.items.is_empty()).count();
    let present = out.iter().filter(|f| !f.items.is_empty()).count();
    if present < missing {
        untruths.push(Untruth::new(format!(
            "{} input records with published values are missing",
            missing - present
        )));
    }
    untruths
}

/// For each item of the input the published item it went to; none if its attribute or itself is not published.
fn recover_cut(
    c: &Comparison<'_>,
    published: &ValueTrees,
    input: &ValueTrees,
    untruths: &mut Vec<Untruth>,
) -> Vec<Option<u32>> {
    let paths: Vec<&str> = c.input.binding.declared.iter().map(|d| d.path.as_str()).collect();
    let mut nodes: Vec<FxHashMap<NodeId, u32>> = vec![FxHashMap::default(); paths.len()];
    let mut labels: FxHashMap<(usize, &str), u32> = FxHashMap::default();
    let mut unknown: BTreeMap<usize, usize> = BTreeMap::default();
    for (i, item) in published.items().iter().enumerate() {
        match c.hierarchies[item.declared].as_ref().map(|h| h.node(&item.label)) {
            Some(Some(node)) => drop(nodes[item.declared].insert(node, i as u32)),
            Some(None) => *unknown.entry(item.declared).or_default() += 1,
            None => drop(labels.insert((item.declared, &item.label), i as u32)),
        }
    }
    for (declared, count) in unknown {
        let what = format!("{count} published values are in no hierarchy");
        untruths.push(Untruth::new(what).path(paths[declared]));
    }
    let mut left_out: BTreeMap<usize, usize> = BTreeMap::default();
    let mut nested: BTreeMap<usize, usize> = BTreeMap::default();
    let recode = (input.items().iter())
        .map(|item| {
            let declared = item.declared;
            let mut found = Vec::new();
            match &c.hierarchies[declared] {
                None => found.extend(labels.get(&(declared, item.label.as_str()))),
                Some(hierarchy) => {
                    let mut at = hierarchy.leaf(&item.label);
                    while let Some(node) = at {
                        found.extend(nodes[declared].get(&node));
                        at = hierarchy.parent(node);
                    }
                }
            }
            if found.len() > 1 {
                *nested.entry(declared).or_default() += 1;
            }
            if found.is_empty() && (!nodes[declared].is_empty() || labels.keys().any(|(d, _)| *d == declared))
            {
                *left_out.entry(declared).or_default() += 1;
            }
            found.first().copied()
        })
        .collect();
    for (declared, count) in nested {
        let what = format!("{count} values of the input lie under several published values: this is no cut");
        untruths.push(Untruth::new(what).path(paths[declared]));
    }
    for (declared, count) in left_out.into_iter().filter(|_| !c.suppress) {
        let what =
            format!("{count} values of the input are left out, and the policy does not say `suppress`");
        untruths.push(Untruth::new(what).path(paths[declared]));
    }
    recode
}

fn form(
    trees: &ValueTrees,
    record: usize,
    recode: &[Option<u32>],
    related: bool,
    tokens: &mut FxHashMap<(usize, String), u32>,
) -> Form {
    let mut form = Form { items: Vec::new(), payload: Vec::new(), relations: Vec::new() };
    for node in trees.nodes(record) {
        let Some(item) = recode[trees.item(node) as usize] else {
            continue;
        };
        form.items.push(item);
        let mut above = trees.parent(node).filter(|_| related);
        while let Some(a) = above {
            form.relations.extend(recode[trees.item(a) as usize].map(|a| (a, item)));
            above = trees.parent(a);
        }
    }
    for payload in trees.payloads(record) {
        for (declared, _, text) in &payload.values {
            let next = tokens.len() as u32;
            form.payload.push(*tokens.entry((*declared, text.clone())).or_insert(next));
        }
    }
    form.items.sort_unstable();
    form.items.dedup();
    form.relations.sort_unstable();
    form.relations.dedup();
    form.payload.sort_unstable();
    form
}

/// The published records for which no expected record is left. Equal ones are paired first, which never costs a
/// match: whoever could take the partner instead can take what the pair's other side would have got.
fn unmatched(out: &[Form], expected: &[Form], fits: impl Fn(&Form, &Form) -> bool + Sync) -> Vec<u32> {
    /// Published and expected records with the same values and payload.
    type Groups<'a> = BTreeMap<(&'a [u32], &'a [u32]), (Vec<u32>, Vec<u32>)>;
    let mut groups = Groups::new();
    for (i, f) in out.iter().enumerate() {
        groups.entry((&f.items, &f.payload)).or_default().0.push(i as u32);
    }
    for (i, f) in expected.iter().enumerate() {
        groups.entry((&f.items, &f.payload)).or_default().1.push(i as u32);
    }
    let mut lonely = Vec::new();
    for (mut left, mut right) in groups.into_values() {
        left.sort_by(|&a, &b| out[a as usize].relations.cmp(&out[b as usize].relations));
        right.sort_by(|&a, &b| expected[a as usize].relations.cmp(&expected[b as usize].relations));
        let (mut l, mut r) = (0, 0);
        let (mut left_over, mut right_over) = (Vec::new(), Vec::new());
        while l < left.len() && r < right.len() {
            match out[left[l] as usize].relations.cmp(&expected[right[r] as usize].relations) {
                std::cmp::Ordering::Less => {
                    left_over.push(left[l]);
                    l += 1;
                }
                std::cmp::Ordering::Greater => {
                    right_over.push(right[r]);
                    r += 1;
                }
                std::cmp::Ordering::Equal => {
                    l += 1;
                    r += 1;
                }
            }
        }
        left_over.extend(&left[l..]);
        right_over.extend(&right[r..]);
        let alone = matching::unmatched(
            left_over.len(),
            right_over.len(),
            |l, r| fits(&out[left_over[l] as usize], &expected[right_over[r] as usize]),
            &Quiet,
        );
        lonely.extend(alone.iter().map(|&l| left_over[l as usize]));
    }
    lonely.sort_unstable();
    lonely
}
