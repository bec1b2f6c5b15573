//! t-closeness and β-likeness by their definitions: the earth mover's distance as the least work of all ways to carry one
//! distribution over to the other, in whole numbers.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::policy::{Ground, Role};

use crate::alike::{classes, places};
use crate::vertices::{NAMES, Roles, Vertex, path};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ClosenessRule {
    /// β-likeness instead of t-closeness.
    pub beta: bool,
    /// A thousand times t, or β.
    pub thousandths: i128,
    /// Per attribute of a class how far its values are from each other.
    pub grounds: [Ground; 4],
    /// Bounds between the buckets of every attribute `d`.
    pub bounds: Option<Vec<f64>>,
    /// Values with what is above them, as a hierarchy file has them.
    pub tree: Vec<Vec<String>>,
}

/// A class that is too far from all records.
#[derive(Clone, Debug, PartialEq)]
pub struct TooFar {
    /// Its records, from 0.
    pub class: Vec<usize>,
    /// Path of the sensitive attribute.
    pub path: String,
    /// The values that say most, with their shares in the class and in all.
    pub values: Vec<(String, f64, f64)>,
    /// How far it is: the distance, or the largest gain of a value that gains too much.
    pub distance: f64,
}

/// A value as it is compared: its text, or the number of bounds that it reaches.
type Label = String;

/// Everything that is too far, and per path how far the farthest is.
pub fn too_far(
    records: &[Vertex],
    roles: &Roles,
    rule: &ClosenessRule,
) -> (Vec<TooFar>, BTreeMap<String, f64>) {
    let mut whole: BTreeMap<String, BTreeMap<Label, i128>> = BTreeMap::new();
    for vertex in records.iter().flat_map(|record| record.all()) {
        for (a, text) in vertex.with_role(roles, Role::Sensitive) {
            let own = whole.entry(path(vertex.class, a)).or_default();
            if let Some(text) = text {
                *own.entry(label(rule, a, text)).or_default() += 1;
            }
        }
    }
    let (mut found, mut farthest) = (Vec::new(), BTreeMap::new());
    for class in classes(records, roles) {
        for place in places(records, &class, roles) {
            let (record, number) = place[0];
            let kind = records[record].all()[number].class;
            for a in (0..NAMES.len()).filter(|&a| roles[kind][a] == Role::Sensitive) {
                let path = path(kind, a);
                let mut own: BTreeMap<Label, i128> = BTreeMap::new();
                for &(r, v) in &place {
                    if let Some(text) = records[r].all()[v].values[a].as_deref() {
                        *own.entry(label(rule, a, text)).or_default() += 1;
                    }
                }
                let judged = judge(&own, &whole[&path], (rule, a));
                let most: &mut f64 = farthest.entry(path.clone()).or_default();
                *most = most.max(judged.0);
                if let Some((distance, values)) = judged.1 {
                    found.push(TooFar { class: class.clone(), path, values, distance });
                }
            }
        }
    }
    (found, farthest)
}

/// The value as it is compared.
fn label(rule: &ClosenessRule, a: usize, text: &str) -> Label {
    let Some(bounds) = rule.bounds.as_ref().filter(|_| NAMES[a] == "d") else { return text.to_owned() };
    let number: f64 = text.parse().expect("a number");
    let reached = bounds.iter().filter(|bound| **bound <= number).count();
    match reached {
        0 => format!("< {}", bounds[0]),
        n if n == bounds.len() => format!(">= {}", bounds[n - 1]),
        n => format!("[{},{})", bounds[n - 1], bounds[n]),
    }
}

type Judged = (f64, Option<(f64, Vec<(String, f64, f64)>)>);

/// How far a place is, and whether that is too far. Vertices without a value are in neither distribution.
fn judge(
    own: &BTreeMap<Label, i128>,
    whole: &BTreeMap<Label, i128>,
    (rule, a): (&ClosenessRule, usize),
) -> Judged {
    let (filled, all): (i128, i128) = (own.values().sum(), whole.values().sum());
    if filled == 0 {
        return (0.0, None);
    }
    let excess = |label: &Label| own.get(label).copied().unwrap_or(0) * all - filled * whole[label];
    let told = |label: &&Label| {
        let p = whole[*label] as f64 / all as f64;
        let here = own.get(*label).copied().unwrap_or(0) as f64;
        ((*label).clone(), here / filled as f64, p)
    };
    if rule.beta {
        let gain = |label: &Label| excess(label) as f64 / (filled * whole[label]) as f64;
        let over = |label: &&Label| {
            let most = -(whole[*label] as f64 / all as f64).ln();
            let exact = excess(label) * 1000 > rule.thousandths * filled * whole[*label];
            exact || gain(label) > most
        };
        let largest = own.keys().map(gain).fold(0.0, f64::max);
        let wrong: Vec<&Label> = own.keys().filter(over).collect();
        let most = wrong.iter().map(|l| gain(l)).fold(0.0, f64::max);
        let worst: Vec<_> = wrong.iter().filter(|l| gain(l) == most).map(told).collect();
        return (largest, (!worst.is_empty()).then_some((most, worst)));
    }
    let labels: Vec<&Label> = whole.keys().collect();
    let (far, unit) = distances(&labels, rule, a);
    let supply: Vec<i128> = labels.iter().map(|l| own.get(*l).copied().unwrap_or(0) * all).collect();
    let demand: Vec<i128> = labels.iter().map(|l| filled * whole[*l]).collect();
    let work = least_work(&supply, &demand, &far);
    let distance = work as f64 / (filled * all * unit) as f64;
    let over = work * 1000 > rule.thousandths * filled * all * unit;
    let most = labels.iter().map(|l| excess(l)).max();
    let worst = labels.iter().filter(|l| Some(excess(l)) == most).map(told);
    (distance, over.then(|| (distance, worst.collect())))
}

/// How far each label is from each other one, in parts of a whole of so many.
fn distances(labels: &[&Label], rule: &ClosenessRule, a: usize) -> (Vec<Vec<i128>>, i128) {
    let table = |far: &dyn Fn(&Label, &Label) -> i128| -> Vec<Vec<i128>> {
        labels.iter().map(|x| labels.iter().map(|y| far(x, y)).collect()).collect()
    };
    match rule.grounds[a] {
        Ground::Equal => (table(&|x, y| i128::from(x != y)), 1),
        Ground::Ordered => {
            let number = |label: &Label| match label.strip_prefix(">= ").or(label.strip_prefix('[')) {
                Some(from) => from.split(',').next().and_then(|n| n.parse().ok()).expect("a bound"),
                None if label.starts_with("< ") => f64::NEG_INFINITY,
                None => label.parse::<f64>().expect("a number"),
            };
            let numbers: BTreeSet<u64> = labels.iter().map(|l| sortable(number(l))).collect();
            let rank = |l: &Label| numbers.iter().filter(|n| **n < sortable(number(l))).count() as i128;
            (table(&|x, y| (rank(x) - rank(y)).abs()), (numbers.len() as i128 - 1).max(1))
        }
        Ground::Hierarchical => {
            let way = |l: &Label| rule.tree.iter().find(|way| way[0] == *l).expect("in the tree");
            let height = |node: &String| {
                rule.tree.iter().filter_map(|way| way.iter().position(|n| n == node)).max().expect("a node")
            };
            let far = |x: &Label, y: &Label| {
                let shared = way(x).iter().find(|node| way(y).contains(node)).expect("a root");
                height(shared) as i128
            };
            let whole = rule.tree.iter().map(|way| way.len() - 1).max().unwrap_or(1);
            (table(&far), (whole as i128).max(1))
        }
    }
}

/// A number that sorts as a float does.
fn sortable(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The least work of carrying `supply` to where `demand` is: the cheapest way for some load is looked for again and again,
/// also by taking back what was carried before.
fn least_work(supply: &[i128], demand: &[i128], far: &[Vec<i128>]) -> i128 {
    let n = supply.len();
    let (mut supply, mut demand) = (supply.to_vec(), demand.to_vec());
    let mut carried = vec![vec![0i128; n]; n];
    let mut work = 0;
    while supply.iter().any(|&s| s > 0) {
        // Nodes: suppliers, then those who demand.
        let mut least: Vec<Option<i128>> = vec![None; 2 * n];
        let mut from: Vec<Option<usize>> = vec![None; 2 * n];
        for s in (0..n).filter(|&s| supply[s] > 0) {
            least[s] = Some(0);
        }
        for _ in 0..2 * n {
            for s in 0..n {
                for d in 0..n {
                    if let Some(cost) = least[s].map(|c| c + far[s][d])
                        && least[n + d].is_none_or(|c| cost < c)
                    {
                        (least[n + d], from[n + d]) = (Some(cost), Some(s));
                    }
                    if let Some(cost) = least[n + d].map(|c| c - far[s][d])
                        && carried[s][d] > 0
                        && least[s].is_none_or(|c| cost < c)
                    {
                        (least[s], from[s]) = (Some(cost), Some(n + d));
                    }
                }
            }
        }
        let open = (0..n).filter(|&d| demand[d] > 0);
        let end = open.min_by_key(|&d| least[n + d]).expect("as much is lacking as is left");
        let mut way = vec![n + end];
        while let Some(before) = from[way[way.len() - 1]] {
            way.push(before);
        }
        let start = way[way.len() - 1];
        let mut load = supply[start].min(demand[end]);
        for step in way.windows(2) {
            if step[0] < n {
                load = load.min(carried[step[0]][step[1] - n]);
            }
        }
        for step in way.windows(2) {
            if step[0] >= n {
                carried[step[1]][step[0] - n] += load;
                work += load * far[step[1]][step[0] - n];
            } else {
                carried[step[0]][step[1] - n] -= load;
                work -= load * far[step[0]][step[1] - n];
            }
        }
        supply[start] -= load;
        demand[end] -= load;
    }
    work
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Salaries of the paper: 3, 4 and 5 of nine are 0.375 from all, 6, 8 and 11 are 1/6.
    #[test]
    fn work_is_that_of_the_paper() {
        let far: Vec<Vec<i128>> = (0..9i128).map(|x| (0..9i128).map(|y| (x - y).abs()).collect()).collect();
        let own = |at: [usize; 3]| (0..9).map(|i| if at.contains(&i) { 3 } else { 0 }).collect::<Vec<i128>>();
        assert_eq!(least_work(&own([0, 1, 2]), &[1; 9], &far), 27);
        assert_eq!(least_work(&own([3, 5, 8]), &[1; 9], &far), 12);
    }
}
