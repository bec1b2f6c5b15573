//! `vpa`: vertical parting. Regions of the domain first, each by itself, then everything on top of what they needed.

use std::ops::Range;

use rayon::prelude::*;

use bosket_model::Result;
use bosket_model::observe::{Observer, Silenced};

use super::aa::aa;
use crate::km::cuts::cut::Cut;
use crate::km::cuts::search::{Limits, Search};
use crate::km::in_time::in_time;
use crate::km::params::Params;
use crate::km::recoding::Recoding;
use crate::km::run::{coarse, global, limits};
use crate::km::transactions::Transactions;
use crate::km::tree::{Node, ROOT, Tree};

/// One cut for all records, on top of what each region needs by itself.
pub(crate) fn vpa(data: &Transactions, params: &Params, observer: &dyn Observer) -> Result<Recoding> {
    let Some((cut, repaired)) = in_time(observer, |observer| of_regions(data, params, observer))? else {
        return coarse(data, params, observer);
    };
    let found = global(data, params, cut, observer)?;
    Ok(Recoding { repaired: found.repaired + repaired, ..found })
}

/// What each region of the domain needs by itself, as one cut; and how many itemsets were repaired.
fn of_regions(data: &Transactions, params: &Params, observer: &dyn Observer) -> Result<(Cut, u64)> {
    let regions = regions(&data.tree, params.parts, params.level);
    observer.stage("regions", regions.len() as u64);
    let quiet = Silenced(observer);
    let own: Result<Vec<(Cut, u64)>> = regions
        .par_iter()
        .map(|region| {
            let part = data.projection(region, observer)?;
            let limits = Limits { region: Some(region.clone()), suppress: false, ..limits(params) };
            let mut search = Search::new(&part, Cut::bottom(&part), limits, &quiet);
            aa(&mut search)?;
            observer.advance(1);
            Ok((search.cut, search.repaired))
        })
        .collect();
    let own = own?;
    let mut cut = Cut::bottom(data);
    for (region, (own, _)) in regions.iter().zip(&own) {
        let mut raised = own.at()[region.start as usize..region.end as usize].to_vec();
        raised.dedup();
        raised.into_iter().filter(|&n| !data.tree.is_leaf(n)).for_each(|n| cut.raise(n));
    }
    Ok((cut, own.iter().map(|(_, repaired)| repaired).sum()))
}

/// The domain in contiguous regions of about equally many items. Classes of a level stay together: the largest nodes that
/// are at most `level` steps above each of their leaves.
fn regions(tree: &Tree, parts: usize, level: u32) -> Vec<Range<u32>> {
    let mut height = vec![0u32; tree.len()];
    for node in (1..tree.len()).rev() {
        let parent = tree.parent(node as Node) as usize;
        height[parent] = height[parent].max(height[node] + 1);
    }
    let is_class = |node: Node| {
        node != ROOT && height[node as usize] <= level && {
            let parent = tree.parent(node);
            parent == ROOT || height[parent as usize] > level
        }
    };
    let classes: Vec<Range<u32>> =
        (1..tree.len() as Node).filter(|&n| is_class(n)).map(|n| tree.leaves(n)).collect();
    let leaves = tree.leaf_count();
    let mut regions: Vec<(usize, Range<u32>)> = Vec::new();
    for class in classes {
        // A class goes where its middle falls.
        let part = (class.start + class.end) as usize / 2 * parts / leaves;
        match regions.last_mut() {
            Some((last, region)) if *last == part => region.end = class.end,
            _ => regions.push((part, class)),
        }
    }
    regions.into_iter().map(|(_, region)| region).collect()
}

#[cfg(test)]
mod tests {
    use bosket_model::hierarchy::csv::parse;

    use super::*;

    #[test]
    fn classes_stay_together() {
        let text = "a;A;T;*\nb;A;T;*\nc;B;T;*\nd;B;T;*\ne;C;U;*\nf;*\n";
        let tree = Tree::new(&parse("h", text).expect("good"));
        assert_eq!(regions(&tree, 6, 0), [0..1, 1..2, 2..3, 3..4, 4..5, 5..6]);
        assert_eq!(regions(&tree, 3, 1), [0..2, 2..4, 4..6]);
        assert_eq!(regions(&tree, 2, 2), [0..4, 4..6]);
        assert_eq!(regions(&tree, 1, 1), vec![0..6; 1]);
    }
}
