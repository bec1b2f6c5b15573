//! Several beams, judged by one figure.

use bosket_model::Result;

use super::gcs::SEARCHING;
use super::{Finalists, Stop};
use crate::kmn::params::Params;
use crate::kmn::problem::{Cost, Problem, Solution};

/// Up to so many rows a beam costs so little that wide ones are tried as well.
pub(super) const FEW_ROWS: usize = 20_000;

impl Problem<'_> {
    /// Beams with and without repair, by either cost, narrow and wide: a narrow one may well end better than a wider one, so
    /// none replaces the others. Of all their finalists the one with the least RPD wins, or with the least loss of detail where
    /// the policy asks for that.
    pub(crate) fn best(&mut self, params: &Params) -> Result<(String, Finalists)> {
        let few = self.rows.len() <= FEW_ROWS;
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
            if (repair && !params.disassociate) || (name == "ocs by RPD" && !few) {
                continue;
            }
            let mut widths = vec![params.g];
            if params.g > 1 && (few || cost != Cost::Rpd) {
                widths.insert(0, 1);
            }
            if few {
                widths.push(8 * params.g);
            }
            beams.push((name, repair, cost, widths));
        }
        let all: usize = beams.iter().map(|(.., widths)| widths.len()).sum();
        self.observer.stage(SEARCHING, all as u64 * self.beam_steps());
        for (name, repair, cost, widths) in beams {
            self.repair = repair;
            self.cost = cost;
            for g in widths {
                if !total.best.is_empty() && self.observer.out_of_time() {
                    total.stopped = Some(Stop::Time);
                    continue;
                }
                let found = self.beam(g)?;
                total.examined += found.examined;
                total.stopped = total.stopped.or(found.stopped);
                let before = total.best.first().map(Solution::rank);
                let judged = |s: Solution| Ok(Solution { cost: self.judge(&s.cut, &s.rules)?, ..s });
                let judged: Result<Vec<Solution>> = found.best.into_iter().map(judged).collect();
                total.add(judged?, self.finalists);
                if total.best.first().map(Solution::rank) != before {
                    route = format!("{name} with g = {g}");
                }
            }
        }
        self.repair = params.disassociate;
        self.cost = if params.cost == Cost::Lm { Cost::Lm } else { Cost::Rpd };
        Ok((route, total))
    }
}
