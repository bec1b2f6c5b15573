//! Local recoding of sets: each transaction by a cut of its own part.

use bosket_model::Result;
use bosket_model::hierarchy::NodeId;
use bosket_model::observe::Observer;
use bosket_model::policy::{Payload, RootMode};

use super::beside::{Hung, Numbers, companions, unchanged};
use super::{Comparison, Paired, Recoding, Side, assign, unknown_values};
use crate::columns::Emptiness;
use crate::trees::Trees;

/// An item as a node of its attribute's hierarchy, or as a label where there is none.
#[derive(PartialEq)]
enum Known {
    Node(usize, NodeId),
    Label(usize, String),
}

pub(super) fn compare(c: &Comparison<'_>, observer: &dyn Observer) -> Result<Paired> {
    let mut unknown = Vec::new();
    let mut side = |side: &Side<'_>, published: bool| -> Result<(Trees, Vec<Option<Known>>)> {
        let trees = Trees::new(
            side.data,
            side.binding,
            RootMode::Separate,
            Payload::Keep,
            Emptiness::Nothing,
            observer,
        )?;
        let known = (trees.items().iter())
            .map(|item| match &c.hierarchies[item.declared] {
                None => Some(Known::Label(item.declared, item.label.clone())),
                Some(h) => {
                    let node = if published { h.node(&item.label) } else { h.leaf(&item.label) };
                    if node.is_none() {
                        unknown.push(item.declared);
                    }
                    node.map(|n| Known::Node(item.declared, n))
                }
            })
            .collect();
        Ok((trees, known))
    };
    let (published, out) = side(&c.published, true)?;
    let (input, original) = side(&c.input, false)?;
    if !unknown.is_empty() {
        return Ok(unknown_values(c, unknown).into());
    }
    let kept = c.kept();
    let covers = |p: u32, i: u32| match (&out[p as usize], &original[i as usize]) {
        (Some(Known::Node(pd, pn)), Some(Known::Node(id, leaf))) => {
            let above = pn == leaf || !kept.contains(&(*id, *leaf));
            above
                && pd == id
                && c.hierarchies[*pd].as_ref().is_some_and(|h| h.is_ancestor_or_self(*pn, *leaf))
        }
        (p, i) => p == i,
    };
    let mut numbers = Numbers::default();
    let (published, input) = (
        sets(&published, &c.published, &mut numbers, observer)?,
        sets(&input, &c.input, &mut numbers, observer)?,
    );
    assign(c, observer, |p, i| {
        let (p, i) = (&published[p], &input[i]);
        // A record of which nothing is published, but what stays as it is, is suppressed; else every item went to exactly
        // one published one.
        let stays =
            |known: &Option<Known>| matches!(known, Some(Known::Node(d, n)) if kept.contains(&(*d, *n)));
        let suppressed = p.items.iter().all(|&p| stays(&out[p as usize]));
        let recoded = p.items.is_empty()
            || (p.items.iter().all(|&p| i.items.iter().any(|&i| covers(p, i)))
                && i.items.iter().all(|&i| {
                    let over = p.items.iter().filter(|&&p| covers(p, i)).count();
                    let may_go = c.suppress || (suppressed && !stays(&original[i as usize]));
                    // With a label of its own each, an item may lie under those of others, or be left out.
                    over == 1 || (over == 0 && may_go) || c.recoding == Recoding::LocalItems
                })
                && (c.recoding != Recoding::LocalItems
                    || have_items_of_their_own(&p.items, &i.items, covers)));
        Ok(recoded
            && p.companions.iter().all(|said| i.companions.contains(said))
            && unchanged(&p.hung, &i.hung, covers, observer)?)
    })
}

/// Whether each published item covers one that no other needs: an item may lie under several, and says so of one.
fn have_items_of_their_own(
    published: &[u32],
    input: &[u32],
    covers: impl Fn(u32, u32) -> bool + Copy,
) -> bool {
    fn place(
        at: usize,
        (published, input): (&[u32], &[u32]),
        covers: impl Fn(u32, u32) -> bool + Copy,
        taken: &mut [Option<usize>],
        seen: &mut [bool],
    ) -> bool {
        for i in 0..input.len() {
            if seen[i] || !covers(published[at], input[i]) {
                continue;
            }
            seen[i] = true;
            let free = match taken[i] {
                None => true,
                Some(other) => place(other, (published, input), covers, taken, seen),
            };
            if free {
                taken[i] = Some(at);
                return true;
            }
        }
        false
    }
    let mut taken = vec![None; input.len()];
    (0..published.len()).all(|at| {
        let mut seen = vec![false; input.len()];
        place(at, (published, input), covers, &mut taken, &mut seen)
    })
}

/// A record as a set, and what stands beside it.
struct Set {
    items: Vec<u32>,
    hung: Vec<Hung>,
    /// Companion columns that say more than the column they follow.
    companions: Vec<(usize, String)>,
}

fn sets(trees: &Trees, side: &Side<'_>, numbers: &mut Numbers, observer: &dyn Observer) -> Result<Vec<Set>> {
    (0..trees.len())
        .map(|record| {
            observer.go_on()?;
            let mut items: Vec<u32> = trees.nodes(record).map(|n| trees.item(n)).collect();
            items.sort_unstable();
            items.dedup();
            let repeats = |declared: usize, text: &str| {
                let followed = side.binding.declared[declared].follows;
                let item = |&i: &u32| &trees.items()[i as usize];
                items.iter().map(item).any(|i| Some(i.declared) == followed && i.label == text)
            };
            let companions = (companions(trees, side.binding, record))
                .filter(|&(declared, text)| !repeats(declared, text))
                .map(|(declared, text)| (declared, text.to_owned()))
                .collect();
            let hung = numbers.hung(trees, side.binding, record, Some);
            Ok(Set { hung, companions, items })
        })
        .collect()
}
