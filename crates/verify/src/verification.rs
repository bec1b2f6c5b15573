//! The one place that says whether a publication holds.
//!
//! A claim is only half of it: a publication that keeps its claim and still has an attribute that the policy removes, or
//! has one on the wrong side, must not be handed out either. Whoever asks gets all of that at once.

use serde_json::json;

use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result};

use crate::anatomized::{TwoSides, verify_anatomized};
use crate::claim::Claim;
use crate::dissect::{Distances, verify_apart};
use crate::recount::Recount;
use crate::sides::{JudgedSides, Misplaced};
use crate::witness::Witness;

/// What was found out about a publication.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// What is promised; none for a publication without guarantee.
    pub claim: Option<Claim>,
    /// The smallest knowledge, or the smallest group, that breaks it.
    pub witness: Option<Witness>,
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
    /// The second count, which everything that holds has passed.
    pub recount: Option<Recount>,
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
        Ok(Verification {
            claim: Some(claim.clone()),
            witness: crate::verify(data, binding, claim, hierarchies, memory, observer)?,
            left: crate::left_over(data, binding),
            records: data.len(),
            ..Verification::default()
        })
    }

    /// Checks a publication of clusters whose quasi and sensitive values are apart.
    pub fn of_anatomized(
        published: &TwoSides<'_>,
        sides: &JudgedSides,
        claim: &Claim,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Claim::Anatomized(asked) = claim else {
            return Err(refuse("clusters with two sides"));
        };
        Ok(Verification {
            witness: verify_anatomized(published, asked, observer)?,
            ..Self::of_sides(sides, Some(claim), published.people.len())
        })
    }

    /// Checks a dissected publication. Without a claim, all that is looked at is what stands where.
    pub fn of_dissected(
        sides: &JudgedSides,
        claim: Option<&Claim>,
        hierarchies: &[Option<Hierarchy>],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let people = sides.dissected.people.iter().map(|&people| people as usize).sum();
        let verification = Self::of_sides(sides, claim, people);
        let apart = match claim {
            None => return Ok(verification),
            Some(Claim::Apart(apart)) => apart,
            Some(_) => return Err(refuse("a dissected publication")),
        };
        let verdict = verify_apart(&sides.dissected, apart, hierarchies, observer)?;
        let paths = sides.dissected.sensitive.iter().map(|s| s.path.clone());
        Ok(Verification {
            witness: verdict.witness,
            distances: paths.zip(verdict.distances).collect(),
            ..verification
        })
    }

    fn of_sides(sides: &JudgedSides, claim: Option<&Claim>, records: usize) -> Self {
        Verification {
            claim: claim.cloned(),
            left: sides.left.clone(),
            misplaced: sides.misplaced.clone(),
            records,
            groups: Some(sides.dissected.people.len()),
            ..Verification::default()
        }
    }

    /// Whether everything that was promised was found to hold.
    pub fn holds(&self) -> bool {
        self.witness.is_none() && self.left.is_empty() && self.misplaced.is_empty()
    }

    /// The JSON form. Holds no value but those of the witness, which are published.
    pub fn to_json(&self) -> serde_json::Value {
        let mut found = json!({
            "holds": self.holds(),
            "claim": self.claim.as_ref().map(Claim::to_json),
            "witness": self.witness.as_ref().map(Witness::to_json),
            "records": self.records,
            "left_over": self.left,
            "recount": self.recount.as_ref().map(Recount::to_json),
        });
        if let Some(groups) = self.groups {
            found["groups"] = json!(groups);
            found["misplaced"] = self.misplaced.iter().map(Misplaced::to_json).collect();
        }
        if let Some(Claim::Apart(_)) = self.claim {
            let degrees = |(path, found): &(String, Distances)| json!({"path": path, "set_wise": found.set_wise, "pairwise": found.pairwise});
            found["degrees"] = self.distances.iter().map(degrees).collect();
        }
        found
    }
}

fn refuse(what: &str) -> Failure {
    let what = format!("{what} cannot be checked for a claim that is about something else");
    let help = "check that policy and publication belong together";
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}
