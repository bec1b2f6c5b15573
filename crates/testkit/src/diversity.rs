//! l-diversity by its definition, in whole numbers.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::policy::Role;

use crate::alike::{classes, places};
use crate::vertices::{NAMES, Roles, Vertex, path};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct DiversityRule {
    /// Twice l.
    pub double_l: u64,
    /// Entropy instead of frequency.
    pub entropy: bool,
    /// Alike siblings are judged one by one.
    pub each: bool,
    /// Values that may stand only once in a class.
    pub listed: Vec<String>,
    /// Bounds between the buckets of every attribute `d`.
    pub bounds: Option<Vec<f64>>,
}

/// A class that says too much about a value.
#[derive(Clone, Debug, PartialEq)]
pub struct TooCommon {
    /// Its records, from 0.
    pub class: Vec<usize>,
    /// Path of the sensitive attribute.
    pub path: String,
    /// The value, or its bucket.
    pub value: String,
    /// How much of the place it fills, or in how many of the records it is.
    pub share: f64,
}

/// Everything that is said too clearly: at each place the most common values, and listed values that recur.
pub fn too_common(records: &[Vertex], roles: &Roles, rule: &DiversityRule) -> Vec<TooCommon> {
    let mut found = Vec::new();
    for class in classes(records, roles) {
        for place in places(records, &class, roles) {
            for a in 0..NAMES.len() {
                let (record, number) = place[0];
                let kind = records[record].all()[number].class;
                if roles[kind][a] != Role::Sensitive {
                    continue;
                }
                let values: Vec<(usize, Option<String>)> = (place.iter())
                    .map(|&(r, v)| {
                        (r, records[r].all()[v].values[a].as_deref().map(|text| label(rule, a, text)))
                    })
                    .collect();
                found.extend(judge(&values, class.len(), rule).into_iter().map(|(value, share)| TooCommon {
                    class: class.clone(),
                    path: path(kind, a),
                    value,
                    share,
                }));
            }
        }
        found.extend(recurring(records, &class, roles, rule));
    }
    found
}

/// The value as it is compared.
fn label(rule: &DiversityRule, attribute: usize, text: &str) -> String {
    let Some(bounds) = rule.bounds.as_ref().filter(|_| NAMES[attribute] == "d") else {
        return text.to_owned();
    };
    let number: f64 = text.parse().expect("a number");
    if number < bounds[0] {
        return format!("< {}", bounds[0]);
    }
    for pair in bounds.windows(2) {
        if (pair[0]..pair[1]).contains(&number) {
            return format!("[{},{})", pair[0], pair[1]);
        }
    }
    format!(">= {}", bounds[bounds.len() - 1])
}

/// The most common values of a place with their share, if it says too much.
fn judge(values: &[(usize, Option<String>)], records: usize, rule: &DiversityRule) -> Vec<(String, f64)> {
    let distinct: BTreeSet<&String> = values.iter().filter_map(|(_, v)| v.as_ref()).collect();
    let fills = |value: &String| values.iter().filter(|(_, v)| v.as_ref() == Some(value)).count();
    let holders = |value: &String| {
        let having = values.iter().filter(|(_, v)| v.as_ref() == Some(value));
        having.map(|(r, _)| r).collect::<BTreeSet<_>>().len()
    };
    let (count, of): (&dyn Fn(&String) -> usize, usize) =
        if rule.each { (&holders, records) } else { (&fills, values.len()) };
    let most = distinct.iter().map(|v| count(v)).max().unwrap_or(0);
    let frequent = most as u64 * rule.double_l > 2 * of as u64;
    let uniform = rule.entropy && !distinct.is_empty() && {
        let missing = values.iter().filter(|(_, v)| v.is_none()).map(|_| 1);
        let counts: Vec<usize> = distinct.iter().map(|v| fills(v)).chain(missing).collect();
        entropy_is_below(&counts, rule.double_l)
    };
    if !uniform && (!frequent || (rule.entropy && !rule.each)) {
        return Vec::new();
    }
    let worst = distinct.into_iter().filter(|v| count(v) == most);
    worst.map(|v| (v.clone(), most as f64 / of as f64)).collect()
}

/// Whether −Σ c/N ln(c/N) < ln l, that is whether (2N)^N < (2l)^N · Π c^c.
fn entropy_is_below(counts: &[usize], double_l: u64) -> bool {
    let all: usize = counts.iter().sum();
    let left = product((0..all).map(|_| 2 * all as u64));
    let own = counts.iter().flat_map(|&c| (0..c).map(move |_| c as u64));
    let right = product((0..all).map(|_| double_l).chain(own));
    (left.len(), left.iter().rev().collect::<Vec<_>>())
        < (right.len(), right.iter().rev().collect::<Vec<_>>())
}

/// A product of any size, in digits of 32 bits, the last first.
fn product(factors: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut digits = vec![1u64];
    for factor in factors {
        let mut carry = 0;
        for digit in &mut digits {
            let value = *digit * factor + carry;
            (*digit, carry) = (value & 0xFFFF_FFFF, value >> 32);
        }
        if carry > 0 {
            digits.push(carry);
        }
    }
    digits
}

/// Listed values that stand more than once in a class, with each attribute that has them.
fn recurring(records: &[Vertex], class: &[usize], roles: &Roles, rule: &DiversityRule) -> Vec<TooCommon> {
    let mut seen: BTreeMap<String, (usize, BTreeSet<String>)> = BTreeMap::new();
    for vertex in class.iter().flat_map(|&r| records[r].all()) {
        for (a, text) in vertex.with_role(roles, Role::Sensitive) {
            if let Some(text) = text {
                let (count, paths) = seen.entry(label(rule, a, text)).or_default();
                *count += 1;
                paths.insert(path(vertex.class, a));
            }
        }
    }
    let again = seen.into_iter().filter(|(value, (count, _))| *count > 1 && rule.listed.contains(value));
    again
        .flat_map(|(value, (count, paths))| {
            paths.into_iter().map(move |path| TooCommon {
                class: class.to_vec(),
                path,
                value: value.clone(),
                share: count as f64 / class.len() as f64,
            })
        })
        .collect()
}
