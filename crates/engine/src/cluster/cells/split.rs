//! Finding the questions that split a sample at the least loss.
//!
//! What is lost by a split are clusters across it. So some records of a cell are asked for their nearest ones, and that question is
//! the cheapest which parts the fewest of them, for the size of the smaller side (as the conductance of a graph is measured).
//! The largest cell is split next.

use std::collections::BTreeSet;

use rayon::prelude::*;

use bosket_model::Result;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;

use super::facts::Facts;
use super::splitter::{Asked, MISSING_AT, Question, Splitter};
use crate::cluster::cost::Cost;
use crate::cluster::forest::Forest;
use crate::cluster::params::Params;
use crate::cluster::rep::{Joiner, Rep};
use crate::cluster::search::{Pool, Search};
use crate::params::Input;

/// Records of a cell that are looked at to split it.
const LOOKED_AT: usize = 2_000;

/// Of these, the ones whose neighbours are searched for.
const PROBES: usize = 300;

/// Neighbours of each.
const NEIGHBOURS: usize = 3;

/// Questions about one attribute, at most, and nodes that they are looked for at.
const QUESTIONS: usize = 64;
const NODES: usize = 512;

/// The least share of the smaller side; where nothing splits so evenly, the second will do.
const EVEN: [f64; 2] = [0.3, 0.1];

/// A splitter into so many cells, or fewer where the sample cannot be split. The sample stands in the order of its content.
pub(super) fn splitter(
    sample: Input<'_>,
    params: &Params,
    (facts, cost): (&Facts, &dyn Cost),
    wanted: usize,
    observer: &dyn Observer,
) -> Result<Splitter> {
    let mut splitter = Splitter::whole();
    let asked = Asked::new(sample)?;
    // Per cell its records, and whether it can be split.
    let mut cells: Vec<(Vec<u32>, bool)> = vec![((0..sample.data.len() as u32).collect(), true)];
    while cells.len() < wanted {
        observer.go_on()?;
        let open = cells.iter().enumerate().filter(|(_, cell)| cell.1);
        let Some((at, _)) = open.max_by_key(|(at, cell)| (cell.0.len(), std::cmp::Reverse(*at))) else {
            break;
        };
        let records = &cells[at].0;
        let looked_at = &records[..records.len().min(LOOKED_AT)];
        let pairs = neighbours(sample, params, (facts, cost), looked_at, observer)?;
        let Some(question) = cheapest(&asked, looked_at, &pairs) else {
            cells[at].1 = false;
            continue;
        };
        let (yes, no): (Vec<u32>, Vec<u32>) =
            records.iter().partition(|&&record| asked.meets(record as usize, &question));
        splitter.split(at, question);
        cells[at].0 = no;
        cells.push((yes, true));
    }
    Ok(splitter)
}

/// Records that are near each other, by their places in the list.
fn neighbours(
    sample: Input<'_>,
    params: &Params,
    (facts, cost): (&Facts, &dyn Cost),
    records: &[u32],
    observer: &dyn Observer,
) -> Result<Vec<(u32, u32)>> {
    let Input { data, binding, hierarchies } = sample;
    let data = data.picked(records);
    let forest = Forest::new(&data, binding, hierarchies, params, (facts, cost), observer)?;
    let most = params.diverse.as_ref().map(|d| ((params.size() as f64 / d.l) + 1e-9).floor() as usize);
    let joiner = Joiner::new(&forest, params.matching, most, params.weighted, observer);
    let mut search = Search::new(joiner, params.memory / 4)?;
    let mut pool = Pool::new(forest.len());
    let mut pairs = Vec::new();
    for probe in 0..forest.len().min(PROBES) as u32 {
        observer.go_on()?;
        pool.take(probe);
        let looked = search.nearest(&Rep::of_record(&forest, probe), &pool, NEIGHBOURS - 1)?;
        pairs.extend(looked.tried.iter().take(NEIGHBOURS).map(|&(_, other)| (probe, other)));
        pool.put_back(probe);
    }
    Ok(pairs)
}

/// The question that parts the fewest neighbours.
fn cheapest(asked: &Asked<'_>, records: &[u32], pairs: &[(u32, u32)]) -> Option<Question> {
    let judged: Vec<Vec<(f64, f64, Question)>> = features(asked, records)
        .par_iter()
        .map(|feature| {
            let parted = feature.questions().into_iter().map(|question| {
                let meets: Vec<bool> = feature.counts(question.leaves).map(|n| n >= question.times).collect();
                let smaller = smaller(meets.iter().filter(|m| **m).count(), meets.len());
                let parted = pairs.iter().filter(|(a, b)| meets[*a as usize] != meets[*b as usize]).count();
                (smaller, parted as f64 / smaller.max(f64::MIN_POSITIVE), question)
            });
            parted.collect()
        })
        .collect();
    EVEN.iter().find_map(|&even| {
        let even = judged.iter().flatten().filter(|(smaller, ..)| *smaller >= even);
        even.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(.., question)| *question)
    })
}

/// The share of the smaller side.
fn smaller(meeting: usize, all: usize) -> f64 {
    meeting.min(all - meeting) as f64 / all.max(1) as f64
}

/// What can be asked about one attribute, or about how many vertices there are.
struct Feature<'a> {
    home: usize,
    declared: Option<(usize, &'a Hierarchy)>,
    /// Per record the positions of its values; a 0 per vertex where only these are counted.
    positions: Vec<Vec<u32>>,
}

fn features<'a>(asked: &'a Asked<'_>, records: &[u32]) -> Vec<Feature<'a>> {
    let mut seen = BTreeSet::new();
    let columns = asked.columns().iter().filter(|column| seen.insert(column.declared));
    let values = columns.map(|column| {
        let (declared, home) = (column.declared, asked.home(column.declared));
        let positions = |&r: &u32| asked.positions(r as usize, home, declared).collect();
        Feature {
            home,
            declared: Some((declared, column.hierarchy)),
            positions: records.iter().map(positions).collect(),
        }
    });
    let homes: BTreeSet<usize> = asked.homes().filter(|&home| home != 0).collect();
    let counts = homes.into_iter().map(|home| Feature {
        home,
        declared: None,
        positions: records.iter().map(|&r| vec![0; asked.vertices(r as usize, home)]).collect(),
    });
    values.collect::<Vec<_>>().into_iter().chain(counts).collect()
}

impl Feature<'_> {
    /// Per record how many of its values are among some leaves.
    fn counts(&self, (from, to): (u32, u32)) -> impl Iterator<Item = u32> + '_ {
        let among = move |p: &&u32| from <= **p && **p < to;
        self.positions.iter().map(move |own| own.iter().filter(among).count() as u32)
    }

    /// Questions that split somewhat evenly, about high nodes first, and then those near the middle.
    fn questions(&self) -> Vec<Question> {
        let question = |leaves, times| Question {
            home: self.home,
            declared: self.declared.map(|(declared, _)| declared),
            leaves,
            times,
        };
        let all = self.positions.len();
        let mut found: Vec<(u32, f64, Question)> = match self.declared {
            None => self
                .middle((0, 1))
                .map(|(even, times)| (0, even, question((0, 1), times)))
                .into_iter()
                .collect(),
            Some((_, hierarchy)) if self.home == 0 => {
                let mut sorted: Vec<u32> = self.positions.iter().flatten().copied().collect();
                sorted.sort_unstable();
                let split = |(start, depth): (u32, u32)| {
                    let behind = sorted.len() - sorted.partition_point(|&p| p < start);
                    (depth, smaller(behind, all), question((start, MISSING_AT + 1), 1))
                };
                borders(hierarchy).into_iter().map(split).collect()
            }
            Some((_, hierarchy)) => {
                let mut nodes: Vec<NodeId> = hierarchy.nodes().skip(1).collect();
                nodes.sort_by_key(|&node| hierarchy.depth(node));
                let asked = nodes.into_iter().take(NODES).filter_map(|node| {
                    let leaves = hierarchy.leaves(node);
                    let leaves = (leaves.start, leaves.end);
                    let (even, times) = self.middle(leaves)?;
                    Some((hierarchy.depth(node), even, question(leaves, times)))
                });
                asked.collect()
            }
        };
        found.retain(|(_, even, _)| *even >= EVEN[1]);
        found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        found.truncate(QUESTIONS);
        found.into_iter().map(|(.., question)| question).collect()
    }

    /// How many values among some leaves split the records most evenly, and how evenly.
    fn middle(&self, leaves: (u32, u32)) -> Option<(f64, u32)> {
        let mut counts: Vec<u32> = self.counts(leaves).collect();
        counts.sort_unstable();
        let all = counts.len();
        let middle = *counts.get(all / 2)?;
        let even = |times: u32| smaller(all - counts.partition_point(|&n| n < times), all);
        let best = [middle, middle + 1].map(|times| (even(times), times));
        Some(if best[1].0 > best[0].0 { best[1] } else { best[0] })
    }
}

/// Where nodes begin, with the depth of the highest that does; and where missing values are.
fn borders(hierarchy: &Hierarchy) -> Vec<(u32, u32)> {
    let mut depth = vec![u32::MAX; hierarchy.leaf_count()];
    for node in hierarchy.nodes() {
        let start = hierarchy.leaves(node).start as usize;
        depth[start] = depth[start].min(hierarchy.depth(node));
    }
    (0..).zip(depth).skip(1).chain([(MISSING_AT, 1)]).collect()
}
