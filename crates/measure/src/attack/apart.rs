//! Attackers on dissected publications: who is in a group is known, whose value is whose is not.

use rustc_hash::FxHashMap;

use bosket_model::Result;
use bosket_model::dissected::{Dissected, SensitiveValues};
use bosket_model::observe::Observer;
use bosket_model::policy::Policy;

use super::figures::{Figure, Look, Point};
use super::{Risk, least};

/// The risk of the people in a dissected publication. The quasi side is published as it is, so whoever knows the quasi
/// values of a person is taken to know the person's group; the sensitive values of the group may then be anybody's in it.
/// A person matches all people of the group.
pub fn risk_apart(published: &Dissected, policy: &Policy, observer: &dyn Observer) -> Result<Risk> {
    let k = least(policy.need_privacy()?);
    let groups = published.people.iter();
    let people: Vec<Figure> =
        groups.flat_map(|&people| std::iter::repeat_n(Figure::one(people), people as usize)).collect();
    let look = Look { m: None, n: None, exhaustive: true, exact: true };
    let mut point = Point::new(look, &people, k);
    let (mut highest, mut sum) = (0.0, 0.0);
    for (group, &size) in published.people.iter().enumerate() {
        observer.go_on()?;
        let share = published.sensitive.iter().map(|s| share(s, group, size)).fold(0.0, f64::max);
        highest = f64::max(highest, share);
        sum += share * f64::from(size);
    }
    if !published.sensitive.is_empty() && !people.is_empty() {
        point.confidence = Some((highest, sum / people.len() as f64));
    }
    Ok(Risk {
        records: people.len(),
        k,
        points: vec![point],
        worst: Vec::new(),
        embedded: None,
        attackers: Vec::new(),
    })
}

/// The share of a group's people who have its most common value of an attribute, or none.
fn share(sensitive: &SensitiveValues, group: usize, people: u32) -> f64 {
    let codes = sensitive.codes.of(group);
    let mut counts: FxHashMap<&str, u32> = FxHashMap::default();
    let mut most = 0;
    for &code in codes {
        let count = counts.entry(sensitive.values.text(code)).or_default();
        *count += 1;
        most = most.max(*count);
    }
    // Where everybody has one value at most, those without are known to be the rest.
    let without = if sensitive.many { 0 } else { people.saturating_sub(codes.len() as u32) };
    (f64::from(most.max(without)) / f64::from(people.max(1))).min(1.0)
}

#[cfg(test)]
mod tests {
    use bosket_model::Kind;
    use bosket_model::observe::Quiet;

    use super::*;

    #[test]
    fn a_group_hides_whose_value_is_whose() {
        let mut values = bosket_model::Dictionary::default();
        let codes: Vec<u32> = ["flu", "asthma", "gout"].map(|t| values.intern(Kind::Text, t)).to_vec();
        let sensitive = SensitiveValues {
            path: "disease".into(),
            values,
            codes: [vec![codes[0], codes[1], codes[2]], vec![codes[0], codes[0]]].into_iter().collect(),
            ..SensitiveValues::default()
        };
        let published = Dissected { people: vec![3, 2], sensitive: vec![sensitive] };
        let text = "version = 1\n[[attribute]]\npath = \"a\"\nrole = \"quasi\"\n[[attribute]]\npath = \"disease\"\n\
                    role = \"sensitive\"\n[privacy]\nmodel = \"anatomy\"\ngroup_size = 3\n";
        let (policy, _) = Policy::parse("p", text, &[]).expect("a good policy");
        let risk = risk_apart(&published, &policy, &Quiet).expect("a policy with a model");
        let point = &risk.points[0];
        assert_eq!((risk.records, risk.k, point.people), (5, 3, 5));
        assert_eq!((point.unique.value, point.below_k.value, point.prosecutor), (0.0, 0.4, 0.5));
        assert_eq!(point.confidence.map(|c| c.0), Some(1.0));
        assert!(point.confidence.is_some_and(|c| (c.1 - 0.6).abs() < 1e-12));
        assert!((point.marketer - 0.4).abs() < 1e-12);
    }
}
