//! What a certificate says that it does not say. Each sentence starts with the attack's name, so that it can be looked up.

use bosket_model::Diagnostic;
use bosket_model::path::leads_through_class;
use bosket_model::policy::{AttributePolicy, Policy, Relations, Role};
use bosket_verify::{Anatomized, Claim, Close, Kmn, Measure};

/// What nobody should take for claimed, of a publication that was verified together with so many earlier ones.
pub fn not_claimed(
    policy: &Policy,
    claim: Option<&Claim>,
    caveats: &[Diagnostic],
    joint: usize,
) -> Vec<String> {
    let mut all = match claim {
        Some(claim) => of_claim(policy, claim, joint),
        None => vec![
            "any guarantee: quasi and sensitive values were separated, nothing more".to_owned(),
            composition(joint),
        ],
    };
    if claim.is_some() && policy.guess().is_some() {
        all.push(LABELS_ALONE.to_owned());
    }
    all.extend(of_selection(policy));
    all.extend(of_masks(policy));
    all.extend(caveats.iter().map(|caveat| {
        let path = caveat.place.path.as_deref().map_or(String::new(), |path| format!("{path}: "));
        format!("{path}{}", caveat.message)
    }));
    all
}

/// What follows from whom a publication is about.
fn of_selection(policy: &Policy) -> Vec<String> {
    let Some(selection) = policy.source.as_ref().map(|source| &source.selection) else { return Vec::new() };
    let mut all = Vec::new();
    if let Some(condition) = &selection.text {
        all.push(format!(
            "the condition: everybody in the publication meets `{condition}`; whoever knows that somebody is in it knows \
             that of them"
        ));
    }
    if let Some(share) = selection.sample {
        all.push(format!(
            "sampling: nothing is claimed from it. The chance to be drawn was {} %, but the seed is public: whoever knows a \
             whole record can compute whether it was. The risk of somebody who is known to be in the sample (prosecutor \
             risk) is the same as without one",
            share * 100.0
        ));
    }
    all
}

/// What shifted dates and pseudonyms are not.
fn of_masks(policy: &Policy) -> Vec<String> {
    let paths = |own: &dyn Fn(&&AttributePolicy) -> bool| {
        let own: Vec<String> =
            policy.attributes.iter().filter(own).map(|a| format!("`{}`", a.path)).collect();
        own.join(", ")
    };
    let mut all = Vec::new();
    if let Some(days) = policy.attributes.iter().find_map(|a| a.shift) {
        let paths = paths(&|a| a.shift.is_some());
        all.push(format!(
            "shifted dates: {paths}: moved by up to {days} days, all of a person by the same number; how far apart they are \
             is as it was, and whoever knows one of them knows the others. This is not anonymity"
        ));
    }
    if policy.attributes.iter().any(|a| a.role == Role::Pseudonym) {
        let paths = paths(&|a| a.role == Role::Pseudonym);
        all.push(format!(
            "linking: {paths}: a pseudonym that is the same in every release under the same key; whoever has several \
             releases can join them person by person, and whoever has the key can tell whose it is. This is not anonymity"
        ));
        all.push(format!(
            "where pseudonyms come from: {paths}: that a private key made them is the publisher's word; without the key nobody \
             can tell a code from the value in other letters"
        ));
    }
    all
}

/// What a claim leaves open.
fn of_claim(policy: &Policy, claim: &Claim, joint: usize) -> Vec<String> {
    let mut all = vec![composition(joint), beyond(claim)];
    let mut add = |text: &str| all.push(text.to_owned());
    match claim {
        Claim::Apart(apart) => {
            add(
                "deFinetti attacks: whoever learns from the publication which quasi values go with which sensitive values \
                 may tell better than the group sizes say",
            );
            if apart.delta.is_none() {
                add("similarity: the sensitive values of a group may be close in meaning");
            }
            add(
                "presence: whether somebody is in the data is not hidden; quasi values are published as they are",
            );
        }
        _ => {
            add(
                "minimality attacks: whoever knows the algorithm may conclude from what was generalized or suppressed why \
                 that was needed",
            );
            add("presence: whether somebody is in the data is not hidden");
            add(
                "the population: k is counted within the release; the risk with respect to everybody (journalist risk) \
                 was not computed",
            );
        }
    }
    match claim {
        Claim::Km(km) => {
            if km.l.is_none() {
                add(HOMOGENEITY);
            }
            if km.negative.is_empty() {
                add(ABSENCE);
            }
            if !km.multiset {
                add("how often an item occurs in a record counts as no knowledge");
            }
            if policy.algorithm().is_ok_and(|a| a.is_local()) || policy.recodes_locally() {
                add(REFINEMENT);
            }
        }
        Claim::Kmn(kmn) => {
            if kmn.l.is_none() {
                add(HOMOGENEITY);
            }
            if kmn.negative.is_empty() {
                add(ABSENCE);
            }
            readings(kmn, &mut add);
            if policy.recodes_locally() {
                add(REFINEMENT);
            }
        }
        Claim::KAnonymity { .. } | Claim::Anatomized(Anatomized { ask: None, close: None, .. }) => {
            add(HOMOGENEITY);
            add(REFINEMENT);
        }
        Claim::LDiversity { .. } | Claim::Anatomized(Anatomized { ask: Some(_), .. }) => {
            add(
                "deFinetti attacks: whoever learns from the publication which quasi values go with which sensitive values \
                 may tell better than 1/l",
            );
            add("similarity: the sensitive values of records that look alike may be close in meaning");
            add(MISSING_SECRETS);
            if policy.attributes.iter().any(is_nested_secret) {
                add(SEVERAL_PLACES);
            }
            add(REFINEMENT);
        }
        Claim::Close { ask, .. } | Claim::Anatomized(Anatomized { close: Some(ask), .. }) => {
            closeness(policy, ask, &mut add);
        }
        Claim::Apart(_) => {}
    }
    if policy.attributes.iter().any(|a| a.acknowledge && a.role == Role::Insensitive) {
        add(
            "rare values: attributes that the policy calls insensitive and acknowledges are published as they are",
        );
    }
    all
}

/// Whether a person may have several values of a sensitive attribute.
fn is_nested_secret(attribute: &AttributePolicy) -> bool {
    let nested = attribute.structure.as_ref().is_some_and(|path| !path.classes.is_empty());
    attribute.role == Role::Sensitive && (nested || leads_through_class(&attribute.path))
}

const LABELS_ALONE: &str = "labels with what stands beside them: `guess` bounds what a label tells by itself; whoever learns from the publication which \
                            values go together may tell better";
const HOMOGENEITY: &str = "homogeneity: people who cannot be told apart may all share a sensitive value, which is then known of each";
const SEVERAL_PLACES: &str = "several places: a value's share is limited at each place where it may stand, not the chance that \
                              somebody has it anywhere in a record of several such places";
const MISSING_SECRETS: &str = "missing sensitive values: who has none counts as well, so that a share is that of whoever does not know who has a value; \
                               whoever knows that somebody has one is not covered";
const ABSENCE: &str = "knowledge that somebody does not have a value counts as none";
const REFINEMENT: &str = "combinatorial refinement: values that only some records generalize may tell more when these are \
                          compared";

fn composition(joint: usize) -> String {
    match joint {
        0 => "composition: what several releases about the same people tell together was not looked at",
        _ => "further releases: what releases that are not named under `joint` tell together with it was not looked at",
    }
    .to_owned()
}

fn beyond(claim: &Claim) -> String {
    let range = match claim {
        Claim::Km(km) => format!("more than {} items, or sensitive ones", km.m),
        Claim::Kmn(kmn) if !kmn.attackers.is_empty() => {
            "more than the attackers that the claim names, or sensitive values".to_owned()
        }
        Claim::Kmn(kmn) => {
            format!("more than {} values or {} of their relations, or sensitive values", kmn.m, kmn.n)
        }
        Claim::KAnonymity { .. } | Claim::LDiversity { .. } | Claim::Close { .. } | Claim::Anatomized(_) => {
            "sensitive or insensitive values, or what stands in other sources about groups of people"
                .to_owned()
        }
        Claim::Apart(_) => {
            "some sensitive values, by which others of the same group can be excluded".to_owned()
        }
    };
    format!("knowledge beyond the claim: nothing is said about whoever knows {range}")
}

/// What distributions that are alike leave open.
fn closeness(policy: &Policy, ask: &Close, add: &mut dyn FnMut(&str)) {
    add(
        "what all records say: a class is compared with the whole publication, whose own distribution of sensitive values is \
         published; whatever that tells is told",
    );
    add(
        "missing sensitive values: shares are those among people who have a value; that somebody has one, or none, is not \
         protected",
    );
    match ask.measure {
        Measure::T(_) => add(
            "single values: t bounds how far distributions are from each other, not how much more likely one rare value \
             becomes",
        ),
        Measure::Beta(_) => {
            add("values that become less likely: β bounds how much a share grows, not how much it shrinks");
            add("similarity: the sensitive values of records that look alike may be close in meaning");
        }
    }
    add(
        "deFinetti attacks: whoever learns from the publication which quasi values go with which sensitive values may tell \
         better than from one class",
    );
    if policy.attributes.iter().any(is_nested_secret) {
        add(SEVERAL_PLACES);
    }
    add(REFINEMENT);
}

fn readings(kmn: &Kmn, add: &mut dyn FnMut(&str)) {
    if kmn.relations == Relations::Pair && kmn.n >= 2 {
        add(
            "joint relations: relations are counted one by one (reading `pair`); that several hold at the same place counts \
             as no knowledge (reading `embedded`)",
        );
    }
    if !kmn.guard {
        add(
            "reconstruction: relations that were taken apart and can be put together again count as gone (no `guard`)",
        );
    }
}
