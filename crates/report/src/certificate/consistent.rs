//! Whether what a certificate says goes together: a digest can be made for anything.

use std::path::{Component, Path};

use bosket_model::Diagnostic;
use bosket_model::policy::{Certified, Policy};
use bosket_verify::Claim;

use super::{Certificate, Form, NOTHING, not_claimed};

impl Certificate {
    /// What cannot be true of any publication: no file, a file that lies outside, limits that are not told.
    pub(super) fn impossible(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut unless = |fine: bool, what: &str| found.extend((!fine).then(|| what.to_owned()));
        unless(!self.files.is_empty(), "`publication.files` must name at least one");
        let (most, what) = match self.form {
            Form::Document => (1, "`publication.files.name` must be the name of a file, without a way to it"),
            Form::Parts => (1, "`publication.files.name` must be the name of a part"),
            Form::Folder => (usize::MAX, "`publication.files.name` must be a file within the folder"),
            Form::Database => (usize::MAX, "`publication.files.name` must be the name of a table"),
        };
        let plain = |name: &str| self.form == Form::Database && !name.is_empty() || is_within(name, most);
        unless(self.files.iter().all(|file| plain(&file.name)), what);
        // Named in any other way, parts could say something by their names.
        let ending = self.files.first().and_then(|file| file.name.rsplit_once('.')).map_or("", |(_, e)| e);
        let mut numbered = self.files.iter().enumerate();
        let numbered = numbered.all(|(at, file)| file.name == format!("part-{at:05}.{ending}"));
        unless(
            self.form != Form::Parts || numbered,
            "`publication.files.name` must be part-00000, part-00001, … in their order",
        );
        let absolute = self.hierarchies.iter().any(|h| Path::new(&h.path).has_root());
        unless(!absolute, "`hierarchies.path` must be seen from the policy");
        unless(!self.not_claimed.is_empty(), "`not_claimed` must name at least one limit");
        found
    }

    /// What it says against its own policy, as far as that can be judged without the publication.
    pub fn contradictions(&self, policy: &Policy) -> Vec<String> {
        let mut found = Vec::new();
        let mut unless = |fine: bool, what: &str| found.extend((!fine).then(|| what.to_owned()));
        unless(self.form.fits(policy), "its policy does not publish a thing of the form that it speaks of");
        unless(self.names_all_tables(policy), "it does not name all tables of its policy");
        unless(self.seed == policy.seed, "its seed is not that of its policy");
        unless(
            self.guess == super::canonical::normal(&super::guess_found(policy)),
            "what it says about the values that labels hide is not what its policy bounds",
        );
        unless(
            self.selected.is_some() == policy.selects(),
            "it does not tell how many people its policy selects, or tells it of a policy that selects nobody",
        );
        unless(
            self.selected.is_none_or(|people| self.records <= people),
            "it tells of more records than there were people",
        );
        let told = |text: &str, name: &str| {
            let version = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')).unwrap_or_default();
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
            !version.is_empty() && version.len() <= LONGEST_VERSION && version.chars().all(fits)
        };
        unless(
            told(&self.tool, "bosket") && told(&self.verifier, "bosket-verify"),
            "`tool` and `verifier` are not names of Bosket with a version",
        );
        let certifies_why = policy.release.as_ref().is_some_and(|terms| terms.certifies(Certified::Why));
        unless(
            certifies_why || !self.tells_why(),
            "its policy gives reasons (`why`) that it does not certify",
        );
        let legend = self.legend.as_array().into_iter().flatten();
        let mut named = legend.map(|entry| entry["path"].as_str().unwrap_or_default());
        unless(
            named.all(|path| policy.attribute(path).is_some()),
            "its legend speaks of an attribute that its policy does not have",
        );
        if self.claim.is_null() {
            let nothing = policy.privacy.as_ref().is_some_and(|p| !p.model.has_guarantee());
            unless(nothing, "it claims nothing, but its policy asks for a guarantee");
            unless(self.sentence == NOTHING, "it claims nothing, but its sentence says something else");
            unless(!self.verified, "it claims nothing, but calls that verified");
            unless(self.limits(policy, None, &[]), LIMITS);
        } else {
            unless(self.verified, "it says itself that its claim was not verified");
        }
        found
    }

    /// What it says against what is known about the limits of a claim.
    pub fn contradicted_limits(
        &self,
        policy: &Policy,
        claim: &Claim,
        caveats: &[Diagnostic],
    ) -> Option<String> {
        (!self.limits(policy, Some(claim), caveats)).then(|| LIMITS.to_owned())
    }

    /// Whether its policy says of any attribute why it has its role.
    fn tells_why(&self) -> bool {
        let attributes = self.policy["attribute"].as_array().into_iter().flatten();
        attributes.into_iter().any(|attribute| attribute.get("why").is_some())
    }

    fn limits(&self, policy: &Policy, claim: Option<&Claim>, caveats: &[Diagnostic]) -> bool {
        self.not_claimed == not_claimed(policy, claim, caveats, self.joint.len())
    }

    /// Nobody looks for further tables in a database, where others may be.
    fn names_all_tables(&self, policy: &Policy) -> bool {
        let bare = |name: &str| name.split_once('.').map_or(name, |(_, bare)| bare).to_owned();
        let named = |table: &str| self.files.iter().any(|file| bare(&file.name) == bare(table));
        let mut tables = policy.source.iter().flat_map(|source| &source.tables);
        self.form != Form::Database || tables.all(|table| named(&table.name))
    }
}

/// Characters of a version at most.
const LONGEST_VERSION: usize = 40;

const LIMITS: &str = "what it does not claim is not what its claim leaves open";

/// Whether a path leads down only, by so many steps at most.
fn is_within(name: &str, most: usize) -> bool {
    let mut steps = Path::new(name).components();
    let down = steps.clone().all(|step| matches!(step, Component::Normal(_)));
    down && steps.next().is_some() && steps.count() < most
}
