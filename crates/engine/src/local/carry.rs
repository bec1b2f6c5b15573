//! Labels that enough people carry, counted label by label.
//!
//! From the values up: what at least k of some people carry stays. What fewer carry goes up, or draws a few of those below the
//! next label up to it, whichever loses less:
//!
//! ```text
//! Respiratory          J06 8 people, J20 2 people, k = 5
//! ├─ J06  8            the two of J20 go up to Respiratory, and three of J06 come with them
//! └─ J20  2            published: J06 5 people, Respiratory 5 people
//! ```

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Cells, Label, Taxonomy};

/// Cells that carry a label, each with the place of its record in an order that its content gives, ascending.
type Group = Vec<(u32, u32)>;

/// Gives some cells the finest labels that at least k records each carry. Cells are told with the places of their records.
pub(super) fn carry(cells: &mut Cells, own: &[(u32, u32)], taxonomy: &Taxonomy, depth: &[u32], k: usize) {
    let mut waiting: BTreeMap<(Reverse<u32>, Label), Group> = BTreeMap::new();
    for &(record, cell) in own {
        let leaf = cells.leaf[cell as usize];
        waiting.entry((Reverse(depth[leaf as usize]), leaf)).or_default().push((record, cell));
    }
    let mut settled: BTreeMap<Label, Group> = BTreeMap::new();
    while let Some(((_, label), mut group)) = waiting.pop_first() {
        group.sort_unstable();
        let (lacking, parent) = (k.saturating_sub(people(&group)), taxonomy.parent[label as usize]);
        if lacking > 0 {
            let up = f64::from(group.len() as u32) * step(taxonomy, label, parent);
            let pull = cheapest(&settled, (label, lacking, k), taxonomy);
            match pull {
                Some(pull) if parent == label || pull.cost <= up => {
                    draw(&mut settled, &mut group, &pull);
                }
                _ if parent != label => {
                    waiting.entry((Reverse(depth[parent as usize]), parent)).or_default().extend(group);
                    continue;
                }
                // Fewer than k have any: that was so at the start, and is for others to judge.
                _ => {}
            }
        }
        settled.insert(label, group);
    }
    for (label, group) in settled {
        group.iter().for_each(|&(_, cell)| cells.label[cell as usize] = label);
    }
}

/// How many records a group has.
fn people(group: &Group) -> usize {
    group.chunk_by(|a, b| a.0 == b.0).count()
}

fn step(taxonomy: &Taxonomy, below: Label, above: Label) -> f64 {
    taxonomy.loss[above as usize] - taxonomy.loss[below as usize]
}

/// Those who come up: from which label, how many records; all of them where too few would be left.
struct Pull {
    from: Label,
    records: Option<usize>,
    cost: f64,
}

/// The cheapest way to get company for a label from a finer one below it.
fn cheapest(
    settled: &BTreeMap<Label, Group>,
    (label, lacking, k): (Label, usize, usize),
    taxonomy: &Taxonomy,
) -> Option<Pull> {
    let below = settled.iter().filter(|(from, _)| taxonomy.step(label, **from).is_some());
    let pulls = below.map(|(&from, group)| {
        let all = people(group);
        let some = all >= k + lacking;
        let cells = if some { lacking } else { group.len() };
        let cost = f64::from(cells as u32) * step(taxonomy, from, label);
        Pull { from, records: some.then_some(lacking), cost }
    });
    pulls.min_by(|a, b| a.cost.total_cmp(&b.cost).then(a.from.cmp(&b.from)))
}

/// Moves those who come up into a group; its own records do not count again.
fn draw(settled: &mut BTreeMap<Label, Group>, group: &mut Group, pull: &Pull) {
    let from = settled.remove(&pull.from).unwrap_or_default();
    let mut left = pull.records.unwrap_or(usize::MAX);
    let mut stay = Group::new();
    let own: Vec<u32> = group.iter().map(|&(record, _)| record).collect();
    for same in from.chunk_by(|a, b| a.0 == b.0) {
        if left > 0 && own.binary_search(&same[0].0).is_err() || pull.records.is_none() {
            left = left.saturating_sub(1);
            group.extend_from_slice(same);
        } else {
            stay.extend_from_slice(same);
        }
    }
    group.sort_unstable();
    if !stay.is_empty() {
        settled.insert(pull.from, stay);
    }
}
