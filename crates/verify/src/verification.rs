//! The one place that says whether a publication holds.
//!
//! A claim is only half of it: a publication that keeps its claim and still has an attribute that the policy removes, or
//! has one on the wrong side, must not be handed out either. Whoever asks gets all of that at once.

use serde_json::json;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

use crate::anatomized::{self, TwoSides, verify_anatomized};
use crate::claim::Claim;
use crate::dissect::{Distances, verify_apart};
use crate::recount::{self, Recount};
use crate::sides::{JudgedSides, Misplaced};
use crate::vertex::{QuasiForms, closeness};
use crate::witness::Witness;

/// What was decided about a claim. There is no default: somebody has counted, or nothing holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Nothing breaks the claim, and the second count agrees.
    Holds(Recount),
    /// The smallest knowledge, or the smallest group, that breaks it.
    Violated(Box<Witness>),
    /// Nothing is promised, so there is nothing to break.
    NothingClaimed,
}

impl Decision {
    /// What a first count has found; what it has not found is counted a second time.
    pub fn of(witness: Option<Witness>, again: impl FnOnce() -> Result<Recount>) -> Result<Self> {
        match witness {
            Some(witness) => Ok(Decision::Violated(Box::new(witness))),
            None => Ok(Decision::Holds(again()?)),
        }
    }

    /// What breaks the claim.
    pub fn witness(&self) -> Option<&Witness> {
        if let Decision::Violated(witness) = self { Some(witness) } else { None }
    }

    /// The second count of what holds.
    pub fn recount(&self) -> Option<&Recount> {
        if let Decision::Holds(recount) = self { Some(recount) } else { None }
    }
}

/// What was found out about a publication. There is no default: a verdict that nobody filled in would read as one that holds.
#[derive(Clone, Debug)]
pub struct Verification {
    /// What is promised; none for a publication without guarantee.
    pub claim: Option<Claim>,
    /// What was decided about it.
    pub decision: Decision,
    /// Attributes that the policy removes and the publication still has.
    pub left: Vec<String>,
    /// Attributes of a publication with two sides that stand on the wrong one.
    pub misplaced: Vec<Misplaced>,
    /// Published records.
    pub records: usize,
    /// Groups, if the publication has two sides.
    pub groups: Option<usize>,
    /// Per sensitive attribute of a dissected publication, by its path, how far apart the values of the weakest group are.
    pub distances: Vec<(String, Distances)>,
    /// Per sensitive attribute, by its path, how far the farthest class is from the whole publication, where closeness is
    /// claimed: the earth mover's distance, or by how much of itself a value's share is larger.
    pub farthest: Vec<(String, f64)>,
}

impl Verification {
    /// Checks a publication of records. `hierarchies` (per declared attribute) are needed by claims that count absent
    /// values; see [`verify`](crate::verify()).
    pub fn of_records(
        data: &Dataset,
        binding: &Binding,
        claim: &Claim,
        hierarchies: &[Option<Hierarchy>],
        memory: usize,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let spelled = data.one_spelling();
        let data = spelled.as_ref().unwrap_or(data);
        let witness = crate::verify(data, binding, claim, hierarchies, memory, observer)?;
        Self::of_checked_records(data, binding, (claim, witness), hierarchies, observer)
    }

    /// The same where somebody has looked for a witness already; what they did not find is looked for again.
    fn of_checked_records(
        data: &Dataset,
        binding: &Binding,
        (claim, witness): (&Claim, Option<Witness>),
        hierarchies: &[Option<Hierarchy>],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let farthest = match claim {
            Claim::Close { ask, .. } => {
                let forms = QuasiForms::new(data, binding, observer)?;
                closeness(data, binding, &forms, (ask, hierarchies), observer)?.farthest
            }
            _ => Vec::new(),
        };
        let again = || recount::of_records(data, binding, claim, hierarchies, observer);
        Ok(Verification {
            claim: Some(claim.clone()),
            decision: Decision::of(witness, again)?,
            farthest,
            left: crate::left_over(data, binding),
            misplaced: Vec::new(),
            records: data.len(),
            groups: None,
            distances: Vec::new(),
        })
    }

    /// Checks a publication of clusters whose quasi and sensitive values are apart.
    pub fn of_anatomized(
        published: &TwoSides<'_>,
        sides: &JudgedSides,
        claim: &Claim,
        hierarchies: &[Option<Hierarchy>],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Claim::Anatomized(asked) = claim else {
            return Err(refuse("clusters with two sides"));
        };
        let spelled = published.people.one_spelling();
        let published = &TwoSides { people: spelled.as_ref().unwrap_or(published.people), ..*published };
        let witness = verify_anatomized(published, asked, hierarchies, observer)?;
        let farthest = match &asked.close {
            Some(ask) => anatomized::farthest(published, (ask, hierarchies), observer)?,
            None => Vec::new(),
        };
        let again = || recount::of_anatomized(published, asked, hierarchies, observer);
        let decision = Decision::of(witness, again)?;
        Ok(Verification { farthest, ..Self::of_sides(sides, Some(claim), decision, published.people.len()) })
    }

    /// Checks a dissected publication. Without a claim, all that is looked at is what stands where.
    pub fn of_dissected(
        sides: &JudgedSides,
        claim: Option<&Claim>,
        hierarchies: &[Option<Hierarchy>],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let people = sides.dissected.people.iter().map(|&people| people as usize).sum();
        let apart = match claim {
            None => return Ok(Self::of_sides(sides, None, Decision::NothingClaimed, people)),
            Some(Claim::Apart(apart)) => apart,
            Some(_) => return Err(refuse("a dissected publication")),
        };
        let verdict = verify_apart(&sides.dissected, apart, hierarchies, observer)?;
        let paths = sides.dissected.sensitive.iter().map(|s| s.path.clone());
        let again = || recount::of_dissected(&sides.dissected, apart, hierarchies, observer);
        let decision = Decision::of(verdict.witness, again)?;
        let distances = paths.zip(verdict.distances).collect();
        Ok(Verification { distances, ..Self::of_sides(sides, claim, decision, people) })
    }

    fn of_sides(sides: &JudgedSides, claim: Option<&Claim>, decision: Decision, records: usize) -> Self {
        Verification {
            claim: claim.cloned(),
            decision,
            left: sides.left.clone(),
            misplaced: sides.misplaced.clone(),
            records,
            groups: Some(sides.dissected.people.len()),
            distances: Vec::new(),
            farthest: Vec::new(),
        }
    }

    /// What breaks the claim.
    pub fn witness(&self) -> Option<&Witness> {
        self.decision.witness()
    }

    /// The second count, which everything that holds has passed.
    pub fn recount(&self) -> Option<&Recount> {
        self.decision.recount()
    }

    /// Whether everything that was promised was found to hold.
    pub fn holds(&self) -> bool {
        self.witness().is_none() && self.left.is_empty() && self.misplaced.is_empty()
    }

    /// The JSON form. Holds no value but those of the witness, which are published.
    pub fn to_json(&self) -> serde_json::Value {
        let mut found = json!({
            "holds": self.holds(),
            "claim": self.claim.as_ref().map(Claim::to_json),
            "witness": self.witness().map(Witness::to_json),
            "records": self.records,
            "left_over": self.left,
            "recount": self.recount().map(Recount::to_json),
        });
        if let Some(groups) = self.groups {
            found["groups"] = json!(groups);
            found["misplaced"] = self.misplaced.iter().map(Misplaced::to_json).collect();
        }
        if let Some(Claim::Apart(_)) = self.claim {
            let degrees = |(path, found): &(String, Distances)| json!({"path": path, "set_wise": found.set_wise, "pairwise": found.pairwise});
            found["degrees"] = self.distances.iter().map(degrees).collect();
        }
        if self.claim.as_ref().is_some_and(|claim| claim.close().is_some()) {
            let far = |(path, most): &(String, f64)| json!({"path": path, "distance": most});
            found["farthest"] = self.farthest.iter().map(far).collect();
        }
        found
    }
}

fn refuse(what: &str) -> Failure {
    let what = format!("{what} cannot be checked for a claim that is about something else");
    let help = "check that policy and publication belong together";
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}

#[cfg(test)]
mod tests {
    use bosket_model::observe::Quiet;
    use bosket_model::policy::{Policy, Relations, Undeclared};
    use bosket_testkit::dice::{Dice, cases};
    use bosket_testkit::trees;
    use proptest::prelude::*;

    use super::*;
    use crate::claim::Kmn;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(300)))]
        /// A first count that finds nothing whatever there is passes only where there is nothing.
        #[test]
        fn a_first_count_that_sees_nothing_is_found_out(seed: u64, embedded: bool, alike: bool) {
            let mut dice = Dice::new(seed);
            let label = |dice: &mut Dice, level: &str| format!("{level}{}", dice.below(2));
            let records: Vec<trees::PathRecord> = (0..2 + dice.below(4))
                .map(|_| {
                    let path = |dice: &mut Dice| trees::LEVELS.map(|level| label(dice, level)).to_vec();
                    (0..1 + dice.below(2)).map(|_| path(&mut dice)).collect()
                })
                .collect();
            let data = trees::dataset(&records);
            let (policy, _) = Policy::parse("p", trees::ATTRIBUTES, &[]).expect("a good policy");
            let binding = Binding::new(data.schema(), &policy.attributes, Undeclared::Refuse, "data");
            let binding = binding.expect("all declared");
            let relations = if embedded { Relations::Embedded } else { Relations::Pair };
            let claim = match alike {
                true => Claim::KAnonymity { k: 2 },
                false => Claim::Kmn(Kmn { relations, ..Kmn::new(2, 3, 2) }),
            };
            let holds = crate::verify(&data, &binding, &claim, &[], 1, &Quiet).expect("small").is_none();
            let blind = Verification::of_checked_records(&data, &binding, (&claim, None), &[], &Quiet);
            match blind {
                Ok(found) => prop_assert!(holds && found.recount().is_some_and(|recount| recount.complete)),
                Err(failure) => prop_assert!(!holds && failure.fault == Fault::Defect),
            }
        }
    }
}
