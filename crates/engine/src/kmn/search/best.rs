//! Several beams, judged by one figure.

use bosket_model::Result;

use super::Finalists;
use super::gcs::SEARCHING;
use crate::kmn::params::Params;
use crate::kmn::problem::{Cost, Problem, Solution};

/// Up to so many rows a beam costs so little that wide ones are tried as well.
const FEW_ROWS: usize = 20_000;

/// From so many rows on a beam takes so long that only those are walked that have ended best.
const MANY_ROWS: usize = 2_000_000;

/// Finalists of each beam that are judged there.
const JUDGED: usize = 2;

impl Problem<'_> {
    /// Whether there are so many rows that another order of steps is worth the time that it saves.
    pub(crate) fn has_many_rows(&self) -> bool {
        // A kernel must not decide otherwise than the records that it stands for.
        self.domain.all_rows().unwrap_or(self.rows.len() as u64) > FEW_ROWS as u64
    }

    /// Beams with and without repair, by either cost, narrow and wide: a narrow one may well end better than a wider one, so
    /// none replaces the others. Of all their finalists the one with the least RPD wins, or with the least loss of detail where
    /// the policy asks for that.
    pub(crate) fn best(&mut self, params: &Params) -> Result<(String, Finalists)> {
        let few = self.rows.len() <= FEW_ROWS;
        // Where a sample makes exact RPD cheap, the beam by it has ended best: of the others the one is left that is `gcs`.
        let many = self.rows.len() >= MANY_ROWS || self.sample.is_some();
        let mut total = Finalists::default();
        let mut route = params.algorithm.name().to_owned();
        let by_detail: &[(&str, bool, Cost)] =
            &[("gcs by lm", true, Cost::Lm), ("ocs by lm", false, Cost::Lm)];
        let by_rpd: &[(&str, bool, Cost)] = &[
            ("gcs by RPD_a", true, Cost::RpdA),
            ("ocs by RPD_a", false, Cost::RpdA),
            ("gcs by RPD", true, Cost::Rpd),
            ("ocs by RPD", false, Cost::Rpd),
        ];
        let mut beams = Vec::new();
        for &(name, repair, cost) in if params.cost == Cost::Lm { by_detail } else { by_rpd } {
            let is_spared = match (repair, params.disassociate) {
                (true, disassociate) => !disassociate,
                (false, true) => many || (cost == Cost::Rpd && !few),
                (false, false) => cost == Cost::Rpd && !few && self.sample.is_none(),
            };
            if is_spared {
                continue;
            }
            // By RPD cuts become so fine that a beam twice as wide takes twice the time and ends hardly better.
            let narrow = self.rows.len() >= MANY_ROWS && cost == Cost::Rpd;
            let mut widths = vec![if narrow { 1 } else { params.g }];
            if params.g > 1 && !many && (few || cost != Cost::Rpd) {
                widths.insert(0, 1);
            }
            if few {
                widths.push(8 * params.g);
            }
            beams.push((name, repair, cost, widths));
        }
        let all: usize = beams.iter().map(|(.., widths)| widths.len()).sum();
        self.observer.stage(SEARCHING, all as u64 * self.beam_steps());
        let by_sample = |cost: Cost| match cost {
            Cost::Rpd if self.sample.is_some() => Cost::Sampled,
            other => other,
        };
        let beams: Vec<_> = beams.into_iter().map(|(n, r, cost, w)| (n, r, by_sample(cost), w)).collect();
        let last = by_sample(if params.cost == Cost::Lm { Cost::Lm } else { Cost::Rpd });
        // Beams with repair that found nothing to repair: without it they would be the same.
        let mut unviolated: Vec<(Cost, usize)> = Vec::new();
        for (name, repair, cost, widths) in beams {
            self.repair = repair;
            self.cost = cost;
            for g in widths {
                if !repair && unviolated.contains(&(cost, g)) {
                    self.observer.advance(self.beam_steps());
                    continue;
                }
                if (self.has_first || !total.best.is_empty()) && self.is_over() {
                    total.stopped = Some(self.why_over());
                    continue;
                }
                let found = self.beam(g)?;
                if repair && !found.violated && found.stopped.is_none() {
                    unviolated.push((cost, g));
                }
                total.examined += found.examined;
                total.stopped = total.stopped.or(found.stopped);
                let before = total.best.first().map(Solution::rank);
                // Others than the first win now and then; of many records each takes as long as a level of a beam.
                let finalists = if many && self.finalists != usize::MAX { JUDGED } else { usize::MAX };
                let judged = |s: Solution| Ok(Solution { cost: self.judge(&s.cut, &s.rules)?, ..s });
                let judged: Result<Vec<Solution>> =
                    found.best.into_iter().take(finalists).map(judged).collect();
                total.add(judged?, self.finalists);
                if total.best.first().map(Solution::rank) != before {
                    route = format!("{name} with g = {g}");
                }
            }
        }
        self.repair = params.disassociate;
        self.cost = last;
        Ok((route, total))
    }
}
