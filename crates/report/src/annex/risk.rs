//! The agreed risk against the measured one.

use bosket_measure::attack::{Point, Told};

use super::{Cell, Evidence, Table};

/// A share as per cent, never rounded to none or all.
pub(super) fn percent(share: f64) -> String {
    crate::html::percent(share).replace("&lt;", "<").replace("&gt;", ">")
}

/// What is known of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Known {
    /// It is this.
    Exactly(f64),
    /// It is at most this, for all that a sample tells with 95 % certainty.
    About(f64, f64),
    /// It is this or more: not everybody, or not all knowledge, was looked at.
    AtLeast(f64),
}

impl Known {
    pub(super) fn told(self) -> String {
        match self {
            Known::Exactly(share) => percent(share),
            Known::About(share, high) => {
                format!("{} (by a sample; up to {})", percent(share), percent(high))
            }
            Known::AtLeast(share) => format!("{} or more (not everything was counted)", percent(share)),
        }
    }

    /// How it compares with what was agreed.
    pub(super) fn against(self, agreed: f64) -> &'static str {
        // Neither is known to more digits than these.
        let within = |share: f64| share <= agreed * (1.0 + 1e-9);
        match self {
            Known::Exactly(share) | Known::About(_, share) if within(share) => "not more than agreed",
            Known::AtLeast(share) if within(share) => "not settled: it may be more",
            Known::About(share, _) if within(share) => "not settled: the sample is too small",
            _ => "MORE than agreed",
        }
    }
}

/// The largest chance of anybody.
pub(super) fn highest(point: &Point) -> Known {
    let whole = point.exhaustive && point.exact;
    if whole { Known::Exactly(point.prosecutor) } else { Known::AtLeast(point.prosecutor) }
}

/// The mean chance.
pub(super) fn mean(point: &Point) -> Known {
    let whole = point.exhaustive && point.exact;
    if whole { Known::Exactly(point.marketer) } else { Known::AtLeast(point.marketer) }
}

/// The share of people whom some knowledge fits alone.
pub(super) fn alone(point: &Point) -> Known {
    share(point, point.unique)
}

/// The share of people whom fewer than k fit.
pub(super) fn below(point: &Point) -> Known {
    share(point, point.below_k)
}

fn share(point: &Point, share: bosket_measure::attack::Share) -> Known {
    match (point.exact, point.exhaustive) {
        (false, _) => Known::AtLeast(share.value),
        (true, true) => Known::Exactly(share.value),
        (true, false) => Known::About(share.value, share.high),
    }
}

/// How sure one can be of a sensitive value.
pub(super) fn confidence(point: &Point) -> Option<Known> {
    let (highest, _) = point.confidence?;
    let whole = point.exhaustive && point.exact;
    Some(if whole { Known::Exactly(highest) } else { Known::AtLeast(highest) })
}

impl Evidence<'_> {
    /// The attackers that the guarantee is about, with the publication; none if they know more than was counted.
    pub(super) fn claimed(&self) -> Option<&Point> {
        self.study.claimed().1
    }

    /// The same with the input.
    pub(super) fn claimed_before(&self) -> Option<&Point> {
        self.study.claimed().0
    }

    /// Whom these figures are about.
    pub(super) fn whom(&self) -> Option<String> {
        match self.study.worst_attacker() {
            Some((_, told)) => Some(named(told)),
            None => self.claimed().map(knows),
        }
    }

    /// The strongest attackers that were counted, if they know more than the guarantee is about: who they are, and what they
    /// find.
    pub(super) fn strongest(&self) -> Option<(String, &Point)> {
        if let Some((_, told)) = self.study.worst_attacker() {
            return Some((format!("{} and one value more", named(told)), &told.one_more));
        }
        let points = &self.study.after.as_ref()?.points;
        let last = points.iter().max_by_key(|p| (p.m.unwrap_or(u32::MAX), p.n.unwrap_or(u32::MAX)))?;
        let beyond = (last.m, last.n) != self.study.attacker;
        let stronger = match (last.m, self.study.attacker.0) {
            (Some(m), Some(claimed)) => m >= claimed,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        (beyond && stronger).then(|| (knows(last), last))
    }

    pub(super) fn k(&self) -> u32 {
        match self.study.worst_attacker() {
            Some((_, told)) => told.k,
            None => self.study.after.as_ref().map_or(0, |risk| risk.k),
        }
    }

    /// The agreed risk against every measured one.
    pub(super) fn accepted(&self) -> Table {
        let agreed = self.terms.accepted_risk;
        let k = self.k();
        let mut figures: Vec<(String, Option<Known>)> = Vec::new();
        let mut beyond = None;
        let whom = self.whom().unwrap_or_else(|| "attackers of the guarantee".to_owned());
        let mut add = |what: &str, known: Option<Known>| figures.push((what.to_owned(), known));
        let claimed = self.claimed();
        add(&format!("highest chance to find one person, for {whom}"), claimed.map(highest));
        add("the same on average over all people (guessing for everybody)", claimed.map(mean));
        add(&format!("share of people whom fewer than {k} records fit"), claimed.map(below));
        if let Some(known) = claimed.and_then(confidence) {
            add("highest certainty about a sensitive value of somebody", Some(known));
        }
        if let Some((whom, point)) = self.strongest() {
            let what = format!("beyond the guarantee: highest chance for {whom}");
            beyond = Some((what, Some(highest(point))));
        }
        let compared: Vec<&str> =
            figures.iter().filter_map(|(_, known)| Some(known.as_ref()?.against(agreed?))).collect();
        let more = compared.iter().filter(|said| said.starts_with("MORE")).count();
        let open = compared.iter().filter(|said| said.starts_with("not settled")).count();
        let summary = match (agreed, more, open) {
            (None, ..) => "Nobody has said which risk was agreed, so nothing is compared.".to_owned(),
            (Some(agreed), 0, 0) => {
                format!("Agreed was {}; no figure within the guarantee is more.", percent(agreed))
            }
            (Some(agreed), more, open) => format!(
                "Agreed was {}; of the figures within the guarantee {more} {} more, and {open} cannot be settled.",
                percent(agreed),
                if more == 1 { "is" } else { "are" }
            ),
        };
        let stronger = beyond.as_ref().and_then(|(_, known): &(_, Option<Known>)| known.as_ref());
        let stronger = match (stronger, agreed) {
            (Some(known), Some(agreed)) if known.against(agreed).starts_with("MORE") => {
                " Somebody who knows more than the guarantee covers can do more than was agreed: see the last row."
            }
            _ => "",
        };
        figures.extend(beyond);
        let row = |(what, known): (String, Option<Known>)| {
            let told = known.map_or("not measured".to_owned(), Known::told);
            let compared = match (known, agreed) {
                (Some(known), Some(agreed)) => known.against(agreed).into(),
                (None, Some(_)) => "not settled: not measured".into(),
                (_, None) => Cell::Empty,
            };
            let limit = agreed.map(percent);
            vec![what.into(), told.into(), Cell::of(limit.as_ref()), compared]
        };
        Table {
            title: "Accepted against measured risk".to_owned(),
            meaning: format!(
                "Each figure was counted on the publication, in the worst case for the person concerned. {summary}{stronger}"
            ),
            columns: vec!["risk", "measured", "agreed", "so it is"],
            rows: figures.into_iter().map(row).collect(),
        }
    }
}

/// Whom an attacker's figures are about.
fn named(told: &Told) -> String {
    match &told.name {
        Some(name) => format!("the attacker `{name}`, who knows {}", told.knows),
        None => format!("somebody who knows {}", told.knows),
    }
}

/// Whom a point is about.
fn knows(point: &Point) -> String {
    let some = |n: u32, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    match (point.m, point.n) {
        (Some(m), Some(n)) if n > 0 => {
            format!("somebody who knows {} and {}", some(m, "value"), some(n, "relation"))
        }
        (Some(m), _) => format!("somebody who knows {}", some(m, "value")),
        _ => "somebody who knows everything but the sensitive values".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_counted_is_never_said_to_be_agreed() {
        for (known, said) in [
            (Known::Exactly(0.2), "not more than agreed"),
            (Known::Exactly(0.21), "MORE than agreed"),
            (Known::About(0.1, 0.2), "not more than agreed"),
            (Known::About(0.1, 0.3), "not settled: the sample is too small"),
            (Known::About(0.3, 0.4), "MORE than agreed"),
            (Known::AtLeast(0.1), "not settled: it may be more"),
            (Known::AtLeast(0.3), "MORE than agreed"),
        ] {
            assert_eq!(known.against(0.2), said, "{known:?}");
        }
        assert_eq!(Known::Exactly(1.0 / 5.0).against(0.2), "not more than agreed");
        assert_eq!(percent(0.0002), "< 0.1 %");
    }
}
