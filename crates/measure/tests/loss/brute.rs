//! Frequent subtrees and their distances by the definitions: every choice of nodes of every record.

use std::collections::{BTreeMap, BTreeSet};

use bosket_measure::trees::Mining;

use crate::records::{Recoding, Record, closed, upwards};

/// A choice of nodes as a tree: each node's label and the node above it in the choice.
type Choice = Vec<(String, Option<usize>)>;

fn choices(record: &Record, most: usize, rooted: bool) -> Vec<Choice> {
    let nodes: Vec<Vec<String>> = closed(record).into_iter().collect();
    assert!(nodes.len() < 20, "small records only");
    (1u32..1 << nodes.len())
        .filter(|bits| bits.count_ones() as usize <= most)
        .filter_map(|bits| {
            let chosen: Vec<&Vec<String>> =
                (0..nodes.len()).filter(|i| bits >> i & 1 == 1).map(|i| &nodes[i]).collect();
            let choice: Choice = (chosen.iter())
                .map(|n| {
                    let above = (0..chosen.len())
                        .filter(|&m| chosen[m].len() < n.len() && n.starts_with(chosen[m]))
                        .max_by_key(|&m| chosen[m].len());
                    (n.last().expect("not empty").clone(), above)
                })
                .collect();
            let tops = choice.iter().filter(|n| n.1.is_none()).count();
            (rooted || tops == 1).then_some(choice)
        })
        .collect()
}

fn written(choice: &Choice, above: Option<usize>) -> String {
    let mut parts: Vec<String> = (0..choice.len())
        .filter(|&n| choice[n].1 == above)
        .map(|n| format!("{}({})", choice[n].0, written(choice, Some(n))))
        .collect();
    parts.sort();
    parts.join("")
}

fn mined(records: &[Record], least: usize, most: usize, rooted: bool) -> BTreeMap<String, (usize, Choice)> {
    let mut found: BTreeMap<String, (usize, Choice)> = BTreeMap::new();
    for record in records {
        let own: BTreeMap<String, Choice> =
            choices(record, most, rooted).into_iter().map(|c| (written(&c, None), c)).collect();
        for (text, choice) in own {
            found.entry(text).or_insert((0, choice)).0 += 1;
        }
    }
    found.retain(|_, (support, _)| *support >= least);
    found
}

/// The frequent subtrees with their supports.
pub(crate) fn frequent(
    records: &[Record],
    least: usize,
    most: usize,
    rooted: bool,
) -> BTreeMap<String, usize> {
    mined(records, least, most, rooted).into_iter().map(|(text, (support, _))| (text, support)).collect()
}

/// A label at a level; the test hierarchies have height 2, and C3 and `*` know no levels between them.
fn at_level(label: &str, level: usize) -> Option<String> {
    if label == "c:C3" {
        return Some(if level < 2 { label.to_owned() } else { "c:*".to_owned() });
    }
    let all = upwards(label);
    // From the root downwards a label is at depth 0, 1, 2.
    all.iter().rev().nth(2 - level.min(2)).cloned()
}

fn project(record: &Record, level: usize) -> Record {
    (closed(record).iter())
        .map(|p| p.iter().filter_map(|l| at_level(l, level)).collect())
        .filter(|p: &Vec<String>| !p.is_empty())
        .collect()
}

/// Per level: frequent in the input, in the publication, in both, and Σ dtree under the cut.
pub(crate) fn levels(
    input: &[Record],
    published: &[Record],
    recoding: &Recoding,
    mining: Mining,
) -> Vec<(usize, usize, usize, f64)> {
    let least = ((mining.threshold * input.len() as f64 - 1e-9).ceil() as usize).max(1);
    let height = |attribute: &str| {
        let any = input.iter().flatten().flatten().any(|l| l.starts_with(attribute));
        if any { 2 } else { 0 }
    };
    let top = ["a", "b", "c"].iter().map(|a| height(a)).max().expect("three");
    (0..=top)
        .map(|level| {
            let mine = |records: &[Record]| {
                let projected: Vec<Record> = records.iter().map(|r| project(r, level)).collect();
                mined(&projected, least, mining.most_nodes, mining.rooted)
            };
            let (before, after) = (mine(input), mine(published));
            let kept = before.keys().filter(|k| after.contains_key(*k)).count();
            let distance = before.values().map(|(_, c)| dtree(c, published, recoding, least)).sum();
            (before.len(), after.len(), kept, distance)
        })
        .collect()
}

/// The published version of a value: its cut node if that is above it, else itself if anything of it is published.
fn counterpart(value: &str, recoding: &Recoding) -> (Option<String>, usize) {
    let all = upwards(value);
    if let Some(levels) = all.iter().position(|u| recoding.cut.contains(u)) {
        return (Some(all[levels].clone()), levels);
    }
    let covers = recoding.cut.iter().any(|l| upwards(l).iter().any(|u| u == value));
    if covers { (Some(value.to_owned()), 0) } else { (None, all.len()) }
}

fn related(published: &[Record], above: &str, below: &str) -> usize {
    let is = |label: &String, u: &str| upwards(label).iter().any(|l| l == u);
    let has = |path: &Vec<String>| {
        path.iter().enumerate().any(|(i, y)| is(y, below) && path[..i].iter().any(|x| is(x, above)))
    };
    published.iter().filter(|r| r.iter().any(has)).count()
}

fn dtree(choice: &Choice, published: &[Record], recoding: &Recoding, least: usize) -> f64 {
    // A node afterwards: where it hangs, what it is; the untouched ones are themselves.
    type After = (Vec<String>, usize);
    let name = |n: usize| {
        let (to, levels) = counterpart(&choice[n].0, recoding);
        let attribute = &choice[n].0[..1];
        if levels == 0 { format!("{n}") } else { format!("{attribute}{to:?}") }
    };
    let path = |n: usize| {
        let mut names = vec![name(n)];
        let mut at = choice[n].1;
        while let Some(above) = at {
            names.push(name(above));
            at = choice[above].1;
        }
        names
    };
    let mut nodes: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    let mut relations: BTreeSet<(Vec<String>, Vec<String>, bool)> = BTreeSet::new();
    for n in 0..choice.len() {
        let own: After = (path(n), counterpart(&choice[n].0, recoding).1);
        let most = nodes.entry(own.0.clone()).or_default();
        *most = own.1.max(*most);
        let mut at = choice[n].1;
        while let Some(above) = at {
            let pair = (counterpart(&choice[above].0, recoding).0, counterpart(&choice[n].0, recoding).0);
            let holds = matches!(&pair, (Some(a), Some(b)) if related(published, a, b) >= least);
            relations.insert((path(above), path(n), holds));
            at = choice[above].1;
        }
    }
    let levels: usize = nodes.values().sum();
    let broken = relations.iter().filter(|r| !r.2).count();
    let share = |part: usize, whole: usize| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    0.5 * share(levels, nodes.len()) + 0.5 * share(broken, relations.len())
}
