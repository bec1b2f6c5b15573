//! What three frameworks ask, and where it is answered. The questions are theirs in our words; whether the answers will do is
//! for those who decide.

use bosket_model::policy::Role;
use bosket_verify::Claim;

use super::risk::{alone, confidence, highest, mean};
use super::{Cell, Evidence, Table};

const RISK: &str = "“Risk before and after” above";
const PUBLISHED: &str = "“What was published” above";
const LIMITS: &str = "“What this does not promise” above";

impl Evidence<'_> {
    fn promise(&self) -> String {
        let claim = self.study.verification.claim.as_ref().map(Claim::sentence);
        match (claim, self.study.holds()) {
            (None, _) => "no guarantee is claimed".to_owned(),
            (Some(claim), true) => format!("verified on the publication: {claim}"),
            (Some(claim), false) => format!("claimed and NOT kept: {claim}"),
        }
    }

    fn paths(&self, role: Role) -> Vec<&str> {
        let own = self.policy.attributes.iter().filter(|a| a.role == role);
        own.map(|a| a.path.as_str()).collect()
    }

    /// The three questions of the Article 29 Working Party's opinion 05/2014 (WP 216).
    pub(super) fn three_questions(&self) -> Table {
        let not = || "not measured: such attackers know more than was counted".to_owned();
        let was = |of: &dyn Fn(&bosket_measure::attack::Point) -> super::risk::Known| {
            self.claimed_before().map_or(String::new(), |p| format!("; in the input it was {}", of(p).told()))
        };
        let single = self.claimed().map_or_else(not, |p| {
            let beyond = self.strongest().map_or(String::new(), |(whom, p)| {
                format!("; beyond the guarantee, for {whom}: {}", alone(p).told())
            });
            let whom = self.whom().unwrap_or_default();
            format!(
                "{} of the people are the only ones who fit something that {} may know{}{beyond}",
                alone(p).told(),
                whom.replace(" who knows", " with"),
                was(&alone)
            )
        });
        let link = self.claimed().map_or_else(not, |p| {
            format!(
                "whoever matches a list of everybody with the publication finds {} of them on average, and one of them with {} \
                 at most{}",
                mean(p).told(),
                highest(p).told(),
                was(&mean)
            )
        });
        let pseudonyms = self.paths(Role::Pseudonym);
        let joint = self.certified.map_or(0, |certified| certified.certificate.joint.len());
        let links = match (pseudonyms.as_slice(), joint) {
            ([], 0) => {
                "no pseudonym links it to other releases; what several releases tell together is not looked at here".to_owned()
            }
            ([], n) => format!(
                "the promise was verified together with {n} earlier release{}, for whoever can tell which records belong to \
                 one person; others were not looked at",
                if n == 1 { "" } else { "s" }
            ),
            (some, _) => format!("{} link it to other releases, person by person", some.join(", ")),
        };
        let sensitive = self.paths(Role::Sensitive);
        let infer = match (self.claimed().and_then(confidence), sensitive.as_slice()) {
            (_, []) => {
                "not measured: no attribute is called sensitive, so nothing limits what is learnt from those who fit".to_owned()
            }
            (Some(known), some) => format!(
                "of {} some value is known with a certainty of {} at most, from those who fit",
                some.join(", "),
                known.told()
            ),
            (None, some) => format!("not measured for {}", some.join(", ")),
        };
        let rows = [
            ("Singling out: can one person be isolated?", format!("{single}; {}", self.promise()), RISK),
            ("Linkability: can records about one person be joined?", format!("{link}; {links}"), LIMITS),
            ("Inference: can something be concluded about somebody?", infer, LIMITS),
        ];
        Table {
            title: "Three questions of the Article 29 Working Party (opinion 05/2014, WP 216)".to_owned(),
            meaning: "Data for which all three can be answered with no would be anonymous in that opinion's sense. These are the \
                      figures that bear on each question, not the answers: whoever decides gives these."
                .to_owned(),
            columns: vec!["question", "what was found", "more"],
            rows: rows.into_iter().map(|(ask, found, at)| vec![ask.into(), found.into(), at.into()]).collect(),
        }
    }

    /// Clauses of ISO/IEC 27559:2022, by their numbers and titles.
    pub(super) fn clauses(&self) -> Table {
        let terms = &self.terms;
        let who: Vec<String> =
            [terms.recipient.clone(), terms.purpose.clone()].into_iter().flatten().collect();
        let motives = match (who.is_empty(), terms.access) {
            (true, None) => Cell::Empty,
            (_, access) => {
                let access = access.map(|a| format!("access: {a}"));
                Cell::Text(who.into_iter().chain(access).collect::<Vec<_>>().join("; "))
            }
        };
        let people = self.study.verification.records;
        let roles: Vec<String> =
            self.study.roles.iter().map(|(role, paths)| format!("{} {role}", paths.len())).collect();
        let features = format!("{people} records; attributes: {}", roles.join(", "));
        let both = |p: &bosket_measure::attack::Point| {
            format!("both: at most {}, on average {}", highest(p).told(), mean(p).told())
        };
        let worst = self.claimed().map_or("not measured".to_owned(), both);
        let counted = "within the publication, as if it were known who is in it; against a register of the population only with \
                       `bosket attack --population`";
        let (whole, limits) = (self.study.after.is_some(), self.limits);
        let assessed = if whole { "counted and attacked, before and after" } else { "not measured" };
        let controls = match terms.controls.as_slice() {
            [] => String::new(),
            some => format!("; controls: {}", some.join("; ")),
        };
        let (done, done_at) = match self.study.loss {
            Some(_) => (
                "values generalized, moved or suppressed until the guarantee held",
                "“What it cost” above, and the controls in this annex",
            ),
            None => (
                "quasi and sensitive values taken apart, so that only groups join them",
                "“What was done” above, and the controls in this annex",
            ),
        };
        let mitigated = match (self.study.verification.claim.is_some(), self.study.holds()) {
            (true, true) => format!("{done}{controls}"),
            (true, false) => format!("the guarantee does NOT hold{controls}"),
            (false, _) => format!("{done}; nothing is guaranteed{controls}"),
        };
        let people_named = [terms.decided_by.clone()].into_iter().flatten().chain(terms.approvers.clone());
        let named: Vec<String> = people_named.collect();
        let governed = match (named.is_empty(), &terms.reviewed_on) {
            (true, None) => Cell::Empty,
            (true, Some(on)) => Cell::Text(format!("last looked at on {on}")),
            (false, on) => {
                let on = on.as_ref().map_or(String::new(), |on| format!("; last looked at on {on}"));
                Cell::Text(format!("{}{on}", named.join("; ")))
            }
        };
        let rows: [(&str, Cell, &str); 8] = [
            ("6.2.3 Motives and capacity to re-identify", motives, "“What was agreed” in this annex"),
            ("7.2 Data features", features.into(), PUBLISHED),
            ("7.3.2 Maximum or average risk", worst.into(), RISK),
            ("7.3.3 Population or sample-based attack", counted.into(), LIMITS),
            ("7.3.4 Data privacy models", self.promise().into(), "the verdict at the top"),
            ("8.2 Assessing identifiability", assessed.into(), RISK),
            ("8.3 Mitigation", mitigated.into(), done_at),
            ("9 De-identification governance", governed, "“What was agreed” in this annex"),
        ];
        Table {
            title: "ISO/IEC 27559:2022, clause by clause".to_owned(),
            meaning: format!(
                "Where this report has something to say to a clause. The standard asks for more than a report can hold, \
                 and what is found here need not be enough; {limits} limits are told above."
            ),
            columns: vec!["clause", "what is found here", "where"],
            rows: rows.into_iter().map(|(clause, found, at)| vec![clause.into(), found, at.into()]).collect(),
        }
    }

    /// What HIPAA's expert determination, 45 CFR 164.514(b)(1), asks an expert to write down.
    pub(super) fn expert(&self) -> Table {
        let terms = &self.terms;
        let known = match self.whom() {
            Some(whom) => format!("the attackers that were counted: {whom}"),
            None => "the attackers that the guarantee names".to_owned(),
        };
        let quasi = self.paths(Role::Quasi);
        let known = match quasi.as_slice() {
            [] => known,
            some => format!("{known}, of {}", some.join(", ")),
        };
        let algorithm =
            self.policy.method.algorithm.clone().unwrap_or_else(|| "the model's default".to_owned());
        let method = format!("{}; algorithm: {algorithm}; seed {}", self.promise(), self.policy.seed);
        let result = self.claimed().map_or("not measured".to_owned(), |p| {
            format!("highest chance {}, on average {}", highest(p).told(), mean(p).told())
        });
        let small = terms.accepted_risk.map(super::risk::percent);
        let kept = self
            .certified
            .filter(|c| c.problems.is_empty())
            .map(|c| format!("this report, and {} with the digest {}", c.name, c.certificate.digest));
        let kept = kept.unwrap_or_else(|| "this report; there is no certificate that fits".to_owned());
        let rows: [(&str, Cell); 8] = [
            ("the expert, and what makes them one", Cell::Empty),
            ("who is expected to get the data", Cell::of(terms.recipient.as_ref())),
            ("what else they may reasonably have", known.into()),
            ("by which principles and methods", method.into()),
            ("with which result", result.into()),
            ("which risk was agreed", Cell::of(small.as_ref())),
            ("why that risk is very small", Cell::Empty),
            ("how method and result are documented", kept.into()),
        ];
        Table {
            title: "What an expert determination has to write down (45 CFR 164.514(b)(1))".to_owned(),
            meaning: "An expert decides, with their name, whether the risk is very small; a program cannot. The rows are what such \
                      a determination documents, filled in as far as it was measured or written down. Who the expert is, \
                      and why they hold the risk for very small, stands nowhere in the policy."
                .to_owned(),
            columns: vec!["to be written down", "as far as it is known"],
            rows: rows.into_iter().map(|(ask, found)| vec![ask.into(), found]).collect(),
        }
    }
}
