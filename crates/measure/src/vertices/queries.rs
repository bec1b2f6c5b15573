//! Count queries: how many courses of this kind were taken, how many of them by people of that kind.

use bosket_model::Result;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::random::Random;

use super::coded::{Coded, Held};

/// Draws for one query before giving up.
const DRAWS: usize = 100;

/// Vertices that are counted before somebody asks whether to go on.
const STRIDE: usize = 1 << 12;

/// A value at a vertex and perhaps one at a vertex above it.
struct Query {
    conditions: Vec<(usize, usize, NodeId)>,
}

/// How well counts come out on average, and from how many queries. A count that is nothing before is drawn again.
pub(super) fn accuracy(
    input: &Coded,
    published: &Coded,
    hierarchies: &[Option<Hierarchy>],
    (queries, seed): (usize, u64),
    observer: &dyn Observer,
) -> Result<(Option<f64>, usize)> {
    let mut random = Random::new(seed);
    let places = places(input);
    let (mut sum, mut asked) = (0.0, 0);
    for _ in 0..queries {
        for _ in 0..DRAWS {
            let Some(query) = draw(&places, input, hierarchies, &mut random) else { break };
            let before = count(&query, input, hierarchies, observer)?;
            if before > 0.0 {
                let after = count(&query, published, hierarchies, observer)?;
                sum += 1.0 - (after - before).abs() / before;
                asked += 1;
                break;
            }
        }
    }
    Ok(((asked > 0).then(|| sum / asked as f64), asked))
}

/// A home with quasi attributes, and those above it that have some too.
type Place = (usize, Vec<usize>);

/// All of them. Homes are drawn, not vertices: there are few of these at the top.
fn places(input: &Coded) -> Vec<Place> {
    let mut known: Vec<Place> = Vec::new();
    for v in 0..input.len() {
        let home = input.home(v);
        if input.quasi(home).is_empty() || known.iter().any(|k| k.0 == home) {
            continue;
        }
        let above = std::iter::successors(input.parent(v), |&p| input.parent(p)).map(|p| input.home(p));
        known.push((home, above.filter(|&h| !input.quasi(h).is_empty()).collect()));
    }
    known.sort_unstable();
    known
}

/// One value at any level but the root, and in half of the cases one above it.
fn draw(
    places: &[Place],
    input: &Coded,
    hierarchies: &[Option<Hierarchy>],
    random: &mut Random,
) -> Option<Query> {
    let (home, above) = places.get(random.below(places.len().max(1)))?;
    let mut query = Query { conditions: vec![condition(*home, input, hierarchies, random)?] };
    if !above.is_empty() && random.below(2) == 0 {
        let home = above[random.below(above.len())];
        query.conditions.extend(condition(home, input, hierarchies, random));
    }
    Some(query)
}

fn condition(
    home: usize,
    input: &Coded,
    hierarchies: &[Option<Hierarchy>],
    random: &mut Random,
) -> Option<(usize, usize, NodeId)> {
    let quasi = input.quasi(home);
    let declared = quasi[random.below(quasi.len())];
    let hierarchy = hierarchies[declared].as_ref()?;
    let nodes = hierarchy.len();
    let node = if nodes > 1 { NodeId(1 + random.below(nodes - 1) as u32) } else { NodeId::ROOT };
    Some((home, declared, node))
}

/// How many vertices meet all conditions; a generalized value counts uniformly over its leaves.
fn count(
    query: &Query,
    records: &Coded,
    hierarchies: &[Option<Hierarchy>],
    observer: &dyn Observer,
) -> Result<f64> {
    let first = query.conditions[0];
    let share = |v: usize, (_, declared, node): (usize, usize, NodeId)| {
        let (Some(own), Some(hierarchy)) = (records.value(v, declared), &hierarchies[declared]) else {
            return 0.0;
        };
        let own = match own {
            Held::Node(node) => node,
            Held::Range(low, high) => {
                let (own, asked) = (low..high + 1, hierarchy.leaves(node));
                let both = own.end.min(asked.end).saturating_sub(own.start.max(asked.start));
                return f64::from(both) / own.len() as f64;
            }
        };
        if hierarchy.is_ancestor_or_self(node, own) {
            1.0
        } else if hierarchy.is_ancestor_or_self(own, node) {
            hierarchy.leaves(node).len() as f64 / hierarchy.leaves(own).len() as f64
        } else {
            0.0
        }
    };
    let mut sum = 0.0;
    for v in 0..records.len() {
        if v.is_multiple_of(STRIDE) {
            observer.go_on()?;
        }
        if records.home(v) != first.0 {
            continue;
        }
        let mut all = share(v, first);
        for &other in &query.conditions[1..] {
            let mut at = records.parent(v);
            while let Some(above) = at.filter(|&a| records.home(a) != other.0) {
                at = records.parent(above);
            }
            all *= at.map_or(0.0, |above| share(above, other));
        }
        sum += all;
    }
    Ok(sum)
}
