//! Better potentials for the children of a representative.
//!
//! The bound of a record is concave in the potentials. A few steps uphill for a sample of the records that are still open
//! make it tight for most of them. Any potentials are right; better ones only leave fewer records to be looked at.

use super::forest::Forest;
use super::profile::Profile;

/// Steps uphill.
const STEPS: usize = 10;

/// How much of the way to the limit a step aims at.
const REACH: f64 = 0.8;

/// Children of the sampled records: the cost of giving each up, and of pairing it with the representative's.
struct Sample {
    kids: Vec<(i64, usize, usize)>,
    costs: Vec<i64>,
    /// What the bounds have in common with the potentials left out.
    records: i64,
    roots: i64,
}

/// Potentials that raise the bounds of `records`, whose costs are of interest up to `limit`, from the present ones on; and
/// how often each child was the best partner then.
pub(super) fn tune(profile: &Profile, forest: &Forest, records: &[u32], limit: i64) -> (Vec<i64>, Vec<i64>) {
    let most = profile.most();
    let sample = sample(profile, forest, records);
    let mut duals = profile.duals().to_vec();
    let mut taken = vec![0i64; duals.len()];
    let mut best = (i64::MIN, duals.clone(), taken.clone());
    for step in 0..STEPS {
        taken.fill(0);
        let mut bound = sample.roots + sample.records * duals.iter().sum::<i64>();
        for &(alone, first, at) in &sample.kids {
            let mut least = alone;
            let mut by = usize::MAX;
            let next = sample.costs[at..].iter().zip(&duals[first..]).take(profile.width(first));
            for (i, (&cost, &dual)) in next.enumerate() {
                if cost - dual < least {
                    (least, by) = (cost - dual, first + i);
                }
            }
            bound += least;
            if by != usize::MAX {
                taken[by] += 1;
            }
        }
        if bound > best.0 {
            best.0 = bound;
            best.1.copy_from_slice(&duals);
            best.2.copy_from_slice(&taken);
        }
        // A child that is taken more than once per record is too cheap, one that is not taken too dear.
        let slopes: Vec<i64> = taken.iter().map(|t| sample.records - t).collect();
        let steepness: i64 = slopes.iter().map(|s| s * s).sum();
        let gap = sample.records * limit - bound;
        if steepness == 0 || gap <= 0 || step + 1 == STEPS {
            break;
        }
        let length = REACH * gap as f64 / steepness as f64;
        for ((dual, slope), most) in duals.iter_mut().zip(slopes).zip(most) {
            *dual = (*dual + (length * slope as f64) as i64).min(*most);
        }
    }
    (best.1, best.2)
}

fn sample(profile: &Profile, forest: &Forest, records: &[u32]) -> Sample {
    let mut sample = Sample { kids: Vec::new(), costs: Vec::new(), records: records.len() as i64, roots: 0 };
    for &record in records {
        sample.roots += profile.root(forest, record);
        for &kind in forest.kid_kinds(record) {
            let form = forest.kinds.form[kind as usize];
            let at = sample.costs.len();
            let first = profile.costs_of(forest, kind, &mut sample.costs);
            sample.kids.push((forest.forms.prune[form as usize], first, at));
        }
    }
    sample
}
