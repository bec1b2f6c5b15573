//! What is found out about a publication: whether its claim holds, what an attacker could do before and after, what it
//! cost, and what of each hierarchy is published.

use bosket_measure::attack::{self, Risk};
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::Result;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Role};
use bosket_verify::{Claim, TwoSides, Witness, verify_anatomized};

use crate::cut::{Cut, cuts};

/// Records up to which frequent patterns are compared.
const MINED: usize = 100_000;

/// What is looked at.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The policy that the publication was made by.
    pub policy: &'a Policy,
    /// The private records.
    pub input: Side<'a>,
    /// What is published of them.
    pub published: Side<'a>,
    /// Per declared attribute, with a leaf for every value of the input.
    pub hierarchies: &'a [Option<Hierarchy>],
    /// Pairs (input record, published record), if they are known.
    pub mapping: Option<&'a [(u32, u32)]>,
    /// Bytes for counting.
    pub memory: usize,
}

/// What was found out. Holds no value that is not published, except the worst cases of [`Risk`].
#[derive(Clone, Debug)]
pub struct Study {
    /// What is promised; none for a publication without guarantee.
    pub claim: Option<Claim>,
    /// Why it does not hold.
    pub witness: Option<Witness>,
    /// Attributes that the policy removes and the publication still has.
    pub left: Vec<String>,
    /// Published records.
    pub records: usize,
    /// What the policy calls each attribute, by role.
    pub roles: Vec<(Role, Vec<String>)>,
    /// The attacker that the claim is about: how many values and relations it knows; none means all.
    pub attacker: (Option<u32>, Option<u32>),
    /// What an attacker could do with the input.
    pub before: Option<Risk>,
    /// What an attacker can do with the publication.
    pub after: Option<Risk>,
    /// What it cost; none where no value is changed.
    pub loss: Option<Loss>,
    /// What of each hierarchy is published.
    pub cuts: Vec<Cut>,
    /// Whatever else is to be said, as a name and a text.
    pub remarks: Vec<(String, String)>,
}

impl Study {
    /// Looks at a publication of records.
    pub fn new(subject: &Subject<'_>, observer: &dyn Observer) -> Result<Self> {
        let Subject { policy, published, hierarchies, .. } = *subject;
        let claim = Claim::new(policy)?;
        let Side { data, binding } = published;
        let witness = bosket_verify::verify(data, binding, &claim, hierarchies, subject.memory, observer)?;
        let after = attack::risk(data, binding, policy, &attack::Options::of(policy), observer)?;
        let study = Self::of(subject, claim, witness, after, observer)?;
        Ok(Study { left: bosket_verify::left_over(data, binding), ..study })
    }

    /// Looks at a publication of clusters whose sides are apart; the subject's published records are its quasi side.
    pub fn anatomized(subject: &Subject<'_>, sides: &TwoSides<'_>, observer: &dyn Observer) -> Result<Self> {
        let claim = Claim::new(subject.policy)?;
        let witness = match &claim {
            Claim::Anatomized(asked) => verify_anatomized(sides, asked)?,
            _ => None,
        };
        let TwoSides { people, binding, groups, sensitive, .. } = *sides;
        let attacked = attack::Sides { people, binding, groups, sensitive };
        let options = attack::Options::of(subject.policy);
        let after = attack::risk_anatomized(&attacked, subject.policy, &options, observer)?;
        let study = Self::of(subject, claim, witness, after, observer)?;
        let groups = ("Groups of records that look alike".to_owned(), sides.names.len().to_string());
        Ok(Study { remarks: vec![groups], ..study })
    }

    fn of(
        subject: &Subject<'_>,
        claim: Claim,
        witness: Option<Witness>,
        after: Risk,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Subject { policy, input, published, hierarchies, mapping, .. } = *subject;
        let options = attack::Options::of(policy);
        // A companion says nothing that its attribute does not.
        let known = input.binding.without_companions();
        let before = attack::risk(input.data, &known, policy, &options, observer)?;
        let mining = input.data.len() <= MINED;
        let compared = Compared { policy, input, published, hierarchies, mapping, mining };
        Ok(Study {
            claim: Some(claim),
            witness,
            left: Vec::new(),
            records: published.data.len(),
            roles: roles(policy),
            attacker: attacker(policy)?,
            before: Some(before),
            after: Some(after),
            loss: Some(Loss::new(&compared, observer)?),
            cuts: cuts(published, None, hierarchies),
            remarks: Vec::new(),
        })
    }

    /// Whether quasi and sensitive values are published apart.
    pub fn is_apart(&self) -> bool {
        matches!(self.claim, None | Some(Claim::Apart(_))) || self.is_anatomized()
    }

    /// Whether that is done with clusters, whose quasi values are generalized.
    pub fn is_anatomized(&self) -> bool {
        matches!(self.claim, Some(Claim::Anatomized(_)))
    }

    /// Whether everything that was promised was found to hold.
    pub fn holds(&self) -> bool {
        self.witness.is_none() && self.left.is_empty()
    }
}

/// What the attacker knows that a policy protects against.
pub fn attacker(policy: &Policy) -> Result<(Option<u32>, Option<u32>)> {
    let privacy = policy.need_privacy()?;
    let model = privacy.model;
    let relations = if model.counts_relations() { privacy.n } else { Some(0) };
    Ok(if model.counts_values() { (privacy.m, relations) } else { (None, None) })
}

/// The attributes of a policy by role.
pub fn roles(policy: &Policy) -> Vec<(Role, Vec<String>)> {
    let of = |role: &Role| {
        let own = policy.attributes.iter().filter(|a| a.role == *role);
        (*role, own.map(|a| a.path.clone()).collect::<Vec<_>>())
    };
    Role::ALL.iter().map(of).filter(|(_, paths)| !paths.is_empty()).collect()
}
