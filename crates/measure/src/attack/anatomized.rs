//! Attackers on clusters whose sides are apart: who looks like a person is known, and the sensitive values of the group; at
//! which of its vertices they stand is not.

use rustc_hash::FxHashMap;

use bosket_model::binding::Binding;
use bosket_model::dissected::SensitiveValues;
use bosket_model::observe::Observer;
use bosket_model::policy::Policy;
use bosket_model::{Dataset, Result};

use super::secrets::bucket;
use super::{Options, Risk, risk};

/// The two sides of a publication.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    /// The quasi side: a record per person.
    pub people: &'a Dataset,
    /// The place of its attributes in the policy.
    pub binding: &'a Binding,
    /// Per person its group, from 0.
    pub groups: &'a [u32],
    /// The sensitive side, by group.
    pub sensitive: &'a [SensitiveValues],
}

/// How well attackers do on an anatomized publication.
pub fn risk_anatomized(
    sides: &Sides<'_>,
    policy: &Policy,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Risk> {
    let mut risk = risk(sides.people, sides.binding, policy, options, observer)?;
    if let Some(all) = risk.points.first_mut() {
        all.confidence = confidence(sides, policy, observer)?;
    }
    Ok(risk)
}

/// The highest share of a sensitive value among the places of its group, and its mean over people. None if no attribute
/// is sensitive.
fn confidence(sides: &Sides<'_>, policy: &Policy, observer: &dyn Observer) -> Result<Option<(f64, f64)>> {
    let Some(first) = sides.sensitive.first() else {
        return Ok(None);
    };
    let groups = first.codes.len();
    let mut people = vec![0u32; groups];
    sides.groups.iter().for_each(|&group| people[group as usize] += 1);
    let mut shares = vec![0.0; groups];
    for sensitive in sides.sensitive {
        let home = sides.binding.declared[sensitive.declared].home;
        let mut places = vec![0u32; groups];
        for (person, &group) in sides.groups.iter().enumerate() {
            observer.go_on()?;
            let homes = sides.people.vertices(person).map(|v| sides.people.class(v));
            let own = homes.filter(|class| sides.binding.classes[class.index()] == Some(home));
            places[group as usize] += own.count() as u32;
        }
        let bounds = policy.attributes[sensitive.declared].buckets.as_deref();
        let label = |code: u32| {
            let text = sensitive.values.text(code);
            bounds.and_then(|bounds| bucket(bounds, text)).unwrap_or_else(|| text.to_owned())
        };
        for (group, share) in shares.iter_mut().enumerate() {
            observer.go_on()?;
            let mut counts: FxHashMap<String, u32> = FxHashMap::default();
            let mut most = 0;
            for &code in sensitive.codes.of(group) {
                let count = counts.entry(label(code)).or_default();
                *count += 1;
                most = most.max(*count);
            }
            *share = f64::max(*share, f64::from(most) / f64::from(places[group].max(1)));
        }
    }
    let highest = shares.iter().copied().fold(0.0, f64::max);
    let sum: f64 = shares.iter().zip(&people).map(|(share, &people)| share * f64::from(people)).sum();
    Ok(Some((highest, sum / f64::from(people.iter().sum::<u32>().max(1)))))
}
