//! What is found out about a publication: whether its claim holds, what an attacker could do before and after, what it
//! cost, and what of each hierarchy is published.

use bosket_measure::attack::guess::{Behind, Guessed, guess};
use bosket_measure::attack::{self, Beyond, Point, Risk, Told};
use bosket_measure::kept::Kept;
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::Result;
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Role};
use bosket_verify::{Claim, TwoSides, Verification};

use crate::advice::Advice;
use crate::cut::{Cut, cuts};
use crate::levels::{Levels, levels};

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
    /// Sensitive values that are published apart from the records; nothing where they are not.
    pub apart: &'a [SensitiveValues],
    /// Pairs (input record, published record), if they are known.
    pub mapping: Option<&'a [(u32, u32)]>,
}

/// What was found out. Holds no value that is not published, except the worst cases of [`Risk`] and what [`Guessed`] says
/// that labels hide.
#[derive(Clone, Debug)]
pub struct Study {
    /// What is promised and whether it holds.
    pub verification: Verification,
    /// What the policy calls each attribute, by role.
    pub roles: Vec<(Role, Vec<String>)>,
    /// What becomes of keys, in words, and which.
    pub keys: Vec<(&'static str, Vec<String>)>,
    /// The attacker that the claim is about: how many values and relations it knows; none means all.
    pub attacker: (Option<u32>, Option<u32>),
    /// What an attacker could do with the input.
    pub before: Option<Risk>,
    /// What an attacker can do with the publication.
    pub after: Option<Risk>,
    /// What one value more than promised would tell; none where that is little.
    pub beyond: Option<Beyond>,
    /// What labels give away of the values that they hide; none where nobody knows which record became which.
    pub guess: Option<Guessed>,
    /// How many rows and values are published of how many; what few people have is not named.
    pub kept: Kept,
    /// What it cost; none where no value is changed.
    pub loss: Option<Loss>,
    /// What of each hierarchy is published.
    pub cuts: Vec<Cut>,
    /// At which levels each attribute is published.
    pub levels: Vec<Levels>,
    /// What to do where little is left; none where enough is, or nobody has looked.
    pub advice: Option<Advice>,
    /// Whatever else is to be said, as a name and a text.
    pub remarks: Vec<(String, String)>,
}

impl Study {
    /// Looks at a publication of records that was verified. What was measured already is not measured again.
    pub fn of_records(
        subject: &Subject<'_>,
        verification: Verification,
        loss: Option<Loss>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Subject { policy, published: Side { data, binding }, .. } = *subject;
        let after = attack::risk(data, binding, policy, &attack::Options::of(policy), observer)?;
        Self::of(subject, verification, loss, after, observer)
    }

    /// Looks at a publication of clusters whose sides are apart; the subject's published records are its quasi side.
    pub fn of_anatomized(
        subject: &Subject<'_>,
        sides: &TwoSides<'_>,
        verification: Verification,
        loss: Option<Loss>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let TwoSides { people, binding, groups, sensitive, .. } = *sides;
        let attacked = attack::Sides { people, binding, groups, sensitive };
        let options = attack::Options::of(subject.policy);
        let after = attack::risk_anatomized(&attacked, subject.policy, &options, observer)?;
        let study = Self::of(subject, verification, loss, after, observer)?;
        let groups = ("Groups of records that look alike".to_owned(), sides.names.len().to_string());
        Ok(Study { remarks: vec![groups], ..study })
    }

    fn of(
        subject: &Subject<'_>,
        verification: Verification,
        loss: Option<Loss>,
        after: Risk,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Subject { policy, input, published, hierarchies, apart, mapping } = *subject;
        let options = attack::Options::of(policy);
        // A companion says nothing that its attribute does not.
        let known = input.binding.without_companions();
        let before = attack::risk(input.data, &known, policy, &options, observer)?;
        let mining = input.data.len() <= MINED;
        let loss = match loss {
            Some(loss) => loss,
            None => {
                let compared = Compared { policy, input, published, hierarchies, apart, mapping, mining };
                Loss::new(&compared, observer)?
            }
        };
        let guess = match mapping.filter(|_| policy.need_privacy().is_ok_and(|p| p.model.generalizes())) {
            Some(mapping) => {
                Some(guess(&Behind { policy, input, published, hierarchies, mapping }, observer)?)
            }
            None => None,
        };
        Ok(Study {
            verification,
            roles: roles(policy),
            keys: keys(policy),
            attacker: attacker(policy)?,
            before: Some(before),
            beyond: Beyond::of(policy, &after.attackers),
            after: Some(after),
            guess,
            kept: loss.kept.public(policy),
            loss: Some(loss),
            cuts: cuts(published, None, hierarchies),
            levels: levels(published, hierarchies),
            advice: None,
            remarks: Vec::new(),
        })
    }

    /// The attacker of the policy who finds most people with one value more than promised, in the input and in the
    /// publication; none where the policy names nobody.
    pub fn worst_attacker(&self) -> Option<(Option<&Told>, &Told)> {
        let after =
            self.after.as_ref().filter(|risk| risk.attackers.iter().any(|told| told.name.is_some()))?;
        let worst = after.worst_attacker()?;
        let before = self.before.as_ref();
        Some((before.and_then(|risk| risk.attackers.iter().find(|told| told.name == worst.name)), worst))
    }

    /// What the attackers find that the guarantee is about, the worst of them where the policy names several: in the input and in
    /// the publication. None if they know more than was counted: weaker ones would not do.
    pub fn claimed(&self) -> (Option<&Point>, Option<&Point>) {
        if let Some((before, after)) = self.worst_attacker() {
            return (before.map(|told| &told.promised), Some(&after.promised));
        }
        let is_claimed = |p: &&Point| (p.m, p.n) == self.attacker;
        let before = self.before.as_ref().and_then(|risk| risk.points.iter().find(is_claimed));
        (before, self.after.as_ref().and_then(|risk| risk.points.iter().find(is_claimed)))
    }

    /// Whether quasi and sensitive values are published apart.
    pub fn is_apart(&self) -> bool {
        matches!(self.verification.claim, None | Some(Claim::Apart(_))) || self.is_anatomized()
    }

    /// Whether that is done with clusters, whose quasi values are generalized.
    pub fn is_anatomized(&self) -> bool {
        matches!(self.verification.claim, Some(Claim::Anatomized(_)))
    }

    /// Whether everything that was promised was found to hold.
    pub fn holds(&self) -> bool {
        self.verification.holds()
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

/// The keys of a policy by what becomes of them, in words: trees have none, and of tables only those that join rows are
/// numbers of their own.
pub fn keys(policy: &Policy) -> Vec<(&'static str, Vec<String>)> {
    let tables = policy.source.as_ref().map_or(&[][..], |source| &source.tables);
    let joins = |path: &str| {
        tables.iter().any(|t| {
            let mut columns = t.key.iter().chain(&t.foreign_key).chain(&t.person);
            columns.any(|c| path.strip_prefix(&t.name).and_then(|p| p.strip_prefix('.')) == Some(c))
        })
    };
    let paths = policy.attributes.iter().filter(|a| a.role == Role::Key).map(|a| a.path.clone());
    let (joining, others): (Vec<String>, Vec<String>) = paths.partition(|path| joins(path));
    let words = match tables {
        [] => "Keys, not published",
        _ => {
            "Refers to other rows: published as the person's number where it always names that person, else empty"
        }
    };
    let all = [("Joins tables, published as fresh numbers", joining), (words, others)];
    all.into_iter().filter(|(_, paths)| !paths.is_empty()).collect()
}
