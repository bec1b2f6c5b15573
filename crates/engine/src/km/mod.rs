//! k^m-anonymity of set-valued data.
//!
//! Terrovitis, Mamoulis, Kalnis: Local and global recoding methods for anonymizing set-valued data. VLDB Journal 20 (2011).
//!
//! A record is a set of items. Every itemset of up to m items that occurs in a published record occurs in at least k of
//! them. Items are replaced by nodes of their hierarchy: by one cut everywhere, or by one per part of the records. The root
//! stands for nothing and is left out.
//!
//! Three rooms: `algorithms` decides in which order what is looked at, `counting` finds the itemsets that are too rare,
//! `cuts` changes the cut. They meet in `cuts::search::Search`. `run` chooses an algorithm, `transactions` and `tree` are
//! the input as plain arrays, `recoding` is what comes out and `publish` writes it back.

mod algorithms;
mod counting;
mod cuts;
mod in_time;
mod localized;
mod params;
mod parts;
mod publish;
mod recoding;
mod run;
mod transactions;
mod tree;

use bosket_model::Result;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::value_tree::ValueTrees;

pub use bosket_model::policy::Algorithm;
pub use params::Params;
pub use parts::{Found, recode, search_parts};
pub use recoding::Recoding;
pub use run::search;
pub use transactions::Transactions;

use transactions::{nothing_left, the_hierarchy};
use tree::ROOT;

/// What a run has made.
#[derive(Debug)]
pub struct Release {
    /// The published value trees.
    pub trees: ValueTrees,
    /// One for global recoding, else one per part.
    pub parts: Vec<Part>,
    /// Normalized certainty penalty of the publication.
    pub ncp: f64,
    /// Items that are not published anywhere although they occur, by label. Private.
    pub suppressed: Vec<String>,
    /// How many occurrences of items are not published.
    pub suppressed_occurrences: u64,
    /// How many itemsets were repaired.
    pub repaired: u64,
    /// How many cuts, or groups of `partition`, were looked at; 0 where the search does not count them.
    pub examined: u64,
    /// The nodes of the largest count tree, where the parameters ask for it.
    pub count_tree: Option<u64>,
    /// Time was over before the search was.
    pub cut_short: bool,
}

/// Records that share a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// How many.
    pub records: usize,
    /// The labels that stand for their items, in the hierarchy's order. Private: some of them may not occur.
    pub cut: Vec<String>,
}

/// Anonymizes sets. `hierarchies` cover every value of the quasi attribute.
pub fn run(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<Release> {
    let data = Transactions::new(trees, hierarchies, params, observer)?;
    let mut found = run::search(&data, params, observer)?;
    if params.local {
        let cut_short = found.cut_short;
        found = localized::refine(&data, found, params, observer)?;
        // Labels that were not looked at in time could have been finer.
        found.cut_short = cut_short || observer.out_of_time();
    } else if !found.is_global() {
        found = localized::cover(&data, found, params, observer)?;
    }
    let Some(hierarchy) = the_hierarchy(trees, hierarchies)? else {
        return Err(nothing_left("the records hold no item"));
    };
    let (suppressed, suppressed_occurrences) = unpublished(&data, &found, hierarchy, observer)?;
    if suppressed_occurrences == data.total() {
        return Err(run::nothing_to_publish(&data, params, &found, observer)?);
    }
    let mut records = vec![0; found.parts.len()];
    (0..data.len()).for_each(|r| records[found.part(r)] += 1);
    let label = |&node: &tree::Node| hierarchy.label(NodeId(node)).to_owned();
    let parts = (found.parts.iter().zip(records))
        .map(|(nodes, records)| Part {
            records,
            cut: nodes.iter().filter(|&&n| n != ROOT).map(label).collect(),
        })
        .collect();
    Ok(Release {
        trees: publish::publish(trees, hierarchy, &data, &found, observer)?,
        parts,
        ncp: found.ncp(),
        suppressed,
        suppressed_occurrences,
        repaired: found.repaired,
        examined: found.examined,
        count_tree: found.count_tree,
        cut_short: found.cut_short,
    })
}

/// Refuses what a run would give up on before it searches.
pub fn refuse_unfit(
    trees: &ValueTrees,
    hierarchies: &[Option<Hierarchy>],
    params: &Params,
    observer: &dyn Observer,
) -> Result<()> {
    run::refuse_unreachable(&Transactions::new(trees, hierarchies, params, observer)?, params)
}

/// The items that no record publishes, and how many occurrences are not published.
fn unpublished(
    data: &Transactions,
    found: &Recoding,
    hierarchy: &Hierarchy,
    observer: &dyn Observer,
) -> Result<(Vec<String>, u64)> {
    let leaves = hierarchy.leaf_count();
    let (mut occurs, mut published, mut lost) = (vec![false; leaves], vec![false; leaves], 0);
    let place = found.places(data);
    for record in 0..data.len() {
        observer.go_on()?;
        for &leaf in data.items(record as u32) {
            occurs[leaf as usize] = true;
            match place(record, leaf) {
                Some(_) => published[leaf as usize] = true,
                None => lost += 1,
            }
        }
    }
    let names = (0..leaves as u32)
        .filter(|&leaf| occurs[leaf as usize] && !published[leaf as usize])
        .map(|leaf| hierarchy.label(hierarchy.leaf_node(leaf)).to_owned());
    Ok((names.collect(), lost))
}
