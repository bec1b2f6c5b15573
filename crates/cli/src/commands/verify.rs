//! `bosket verify`

use std::path::Path;

use bosket_app::sign::SignatureCheck;
use bosket_app::verify::VerifyRequest;
use bosket_app::{CertificateCheck, Settings, Unprotected, Verified};
use bosket_model::{Diagnostic, Failure, Fault, Result};
use bosket_report::certificate::Form;
use bosket_verify::guess::{self, Guessed};
use bosket_verify::truth::Untruth;
use bosket_verify::{Claim, Recount, Sensitive, Verification, Witness};

use crate::Outcome;
use crate::args::Verify;
use crate::commands::{degrees, joint};
use crate::next;
use crate::output::{count, plural, print, print_json};
use crate::talk::Talk;

/// Record numbers shown at most.
const SHOWN: usize = 10;

/// Values of a group shown at most.
const VALUES: usize = 20;

pub fn run(args: &Verify, talk: &Talk) -> Result<Outcome> {
    if args.policy.is_none() && !args.sets.sets.is_empty() {
        let what = Diagnostic::error("`--set` overrides a policy, not a certificate");
        return Err(Failure::new(Fault::Usage, what.help("give the policy too, with --policy")));
    }
    // Without a certificate there is no signature to check, and a key can only be the private one.
    let masks = args.certificate.is_none() && args.against.is_some();
    let request = VerifyRequest {
        publication: args.publication.clone(),
        policy: args.policy.as_deref().map(|path| args.sets.policy(path)).transpose()?,
        certificate: args.certificate.clone(),
        key: args.key.clone().filter(|_| !masks),
        signature: args.signature.clone(),
        against: args.against.clone(),
        mapping: args.mapping.clone(),
        mask_key: args.mask_key.clone().or_else(|| args.key.clone().filter(|_| masks).map(Into::into)),
        with: args.with.earlier()?,
        foreign: args.foreign,
        settings: Settings { chunk: args.chunk, ..talk.settings(args.memory, args.show_values) },
    };
    let found = talk.told(bosket_app::verify(&request, talk)?);
    if args.json {
        print_json(&found.to_json())?;
    } else {
        print(&text(&found))?;
        if let Some(policy) = args.policy.as_deref().filter(|_| found.holds()) {
            print(&after(args, policy))?;
        }
    }
    Ok(if found.holds() { Outcome::Done } else { Outcome::Violated })
}

/// After a publication that holds: the report for whoever answers for it.
fn after(args: &Verify, policy: &Path) -> String {
    let publication = args.publication.display().to_string();
    if args.publication == Path::new("-") || args.with.earlier().is_ok_and(|all| !all.is_empty()) {
        return String::new();
    }
    next::about(&["report"], policy, &args.sets, &["--publication", &publication])
}

fn text(found: &Verified) -> String {
    let mut out = found.signature.as_ref().map_or(String::new(), signature);
    match &found.verification {
        Some(verification) => {
            out.push_str(&found.unprotected.as_ref().map_or(String::new(), unprotected));
            push_verdict(&mut out, found, verification);
            out.push_str(&not_looked_at(found.not_looked_at()));
            out.push_str(&degrees(&verification.distances));
            push_truth(&mut out, found.untruths.as_deref());
            out.push_str(
                &found.guessed.as_ref().map_or(String::new(), |own| guessed(own, found.shows_values())),
            );
            out.push_str(&found.joint.as_ref().map_or(String::new(), joint::text));
            found.not_checked.iter().for_each(|what| out.push_str(&format!("not checked: {what}\n")));
        }
        None if found.claims_nothing() => {
            out.push_str("NOTHING is claimed.\n");
        }
        None => {}
    }
    out.push_str(&found.certificate.as_ref().map_or(String::new(), certificate));
    out
}

/// What was not looked at in a publication that another program has written again.
fn not_looked_at(what: &[&str]) -> String {
    if what.is_empty() {
        return String::new();
    }
    let lines: String = what.iter().map(|what| format!("  {what}\n")).collect();
    format!("FOREIGN: how the file is written was not looked at, and may tell who is who:\n{lines}")
}

/// What the claim says nothing about: whether that is right, only the reader can tell.
fn unprotected(found: &Unprotected) -> String {
    let roles = found.as_they_are.iter().map(|(path, role)| format!("{path} ({})", role.name())).collect();
    let mut removed = found.removed.clone();
    removed.extend(found.unnamed.then(|| "whatever the policy does not name".to_owned()));
    let shifted = |(path, days): &(String, u32)| format!("{path} (by up to {days} days)");
    let lines: [(&str, Vec<String>); 6] = [
        ("published as they are", roles),
        ("shifted per person; not anonymity", found.shifted.iter().map(shifted).collect()),
        ("pseudonyms, which link releases; not anonymity", found.pseudonyms.clone()),
        ("keys, which must say nothing", found.keys.clone()),
        ("removed, so that nothing of it may be here", removed),
        ("left out by choice, so that nothing of it may be here", found.dropped.clone()),
    ];
    let told = lines.iter().filter(|(_, paths)| !paths.is_empty());
    let told: String = told.map(|(what, paths)| format!("  {what}: {}\n", paths.join(", "))).collect();
    if told.is_empty() { told } else { format!("NOT PROTECTED by the claim:\n{told}") }
}

fn push_verdict(out: &mut String, found: &Verified, verification: &Verification) {
    let claim =
        verification.claim.as_ref().map_or(String::new(), |claim| claim.sentences().join(";\n       "));
    let records = plural(verification.records, "record");
    let all = match verification.groups {
        Some(groups) => format!("{} with {records}", plural(groups, "group")),
        None => records,
    };
    let mut wrong = Vec::new();
    if !verification.left.is_empty() {
        let them = if verification.left.len() == 1 { "it" } else { "them" };
        wrong.push(format!(
            "the policy removes {}, but the file still has {them}",
            verification.left.join(", ")
        ));
    }
    wrong.extend(
        verification
            .misplaced
            .iter()
            .map(|m| format!("{} is on the {} side: {}", m.path, m.side.name(), m.reason)),
    );
    match verification.witness() {
        None if wrong.is_empty() => {
            out.push_str(&format!("HOLDS: {claim}.\n       Checked for all of {all}.\n"));
            if let Some(recount) = verification.recount() {
                out.push_str(&format!("       {}\n", recounted(recount, verification.claim.as_ref())));
            }
            out.push_str(&farthest(&verification.farthest));
        }
        None => {
            let what = wrong.join(";\n          ");
            out.push_str(&format!(
                "VIOLATED: {what}.\n          Do not hand it out. Of everything else in it, {all}, it is true that\n          {claim}.\n"
            ));
        }
        Some(witness) => {
            out.push_str(&format!("VIOLATED: {claim}.\n"));
            for what in wrong {
                out.push_str(&format!("          And {what}.\n"));
            }
            out.push('\n');
            push_witness(out, found, verification, witness);
        }
    }
}

/// The second count, in words.
fn recounted(recount: &Recount, claim: Option<&Claim>) -> String {
    let (one, many) = match claim {
        Some(Claim::Km(_) | Claim::Kmn(_)) => ("piece of knowledge", "pieces of knowledge"),
        Some(Claim::Apart(_) | Claim::Anatomized(_)) => ("group", "groups"),
        _ => ("class of records that look alike", "classes of records that look alike"),
    };
    let pieces = match recount.pieces {
        1 => format!("1 {one}"),
        n => format!("{} {many}", count(n as usize)),
    };
    let how = if recount.complete {
        format!("all {pieces}")
    } else {
        format!("{pieces}, of {} drawn", plural(recount.records as usize, "record"))
    };
    let but = match recount.not_covered.as_slice() {
        [] => String::new(),
        some => format!("; not again: {}", some.join(", ")),
    };
    format!("Counted a second time, literally: {how}{but}.")
}

fn push_witness(out: &mut String, found: &Verified, verification: &Verification, witness: &Witness) {
    match &verification.claim {
        Some(Claim::Apart(_)) => push_group(out, witness),
        Some(Claim::Anatomized(_)) => {
            out.push_str(&of_anatomized(found, witness));
            push_known(out, witness);
        }
        _ => {
            let people = match witness.support {
                1 => "only one record fits".to_owned(),
                n => format!("only {} records fit", count(n)),
            };
            match &witness.sensitive {
                None => {
                    let what = match &witness.attacker {
                        Some(name) => format!("what the attacker `{name}` knows"),
                        None => "this knowledge".to_owned(),
                    };
                    out.push_str(&format!("Witness: {people} {what}:\n"));
                }
                Some(s) => out.push_str(&format!(
                    "Witness: {} = {} has a share of {:.1} % among the {} that look like this{}:\n",
                    s.path,
                    s.value,
                    s.share * 100.0,
                    plural(witness.support, "record"),
                    against_all(s)
                )),
            }
            push_known(out, witness);
        }
    }
}

fn of_anatomized(found: &Verified, witness: &Witness) -> String {
    let group = witness.group.map_or(0, |group| u64::from(group) + 1);
    let own = witness.records.first().map(|&record| found.groups[record as usize]);
    let all = found.groups.iter().filter(|of| Some(**of) == own).count();
    let records = plural(witness.support, "record");
    match &witness.sensitive {
        Some(s) => format!(
            "Witness: {} = {} has a share of {:.1} % in group {group} of {records} that look like this{}:\n",
            s.path,
            s.value,
            s.share * 100.0,
            against_all(s)
        ),
        None if all > witness.support => format!(
            "Witness: in group {group} of {} the people do not look alike; {records} like this:\n",
            plural(all, "record")
        ),
        None => format!("Witness: group {group} has only {records}, which look like this:\n"),
    }
}

/// What a share is compared with, and how far the class is from that.
fn against_all(sensitive: &Sensitive) -> String {
    match (sensitive.in_all, sensitive.distance) {
        (Some(in_all), Some(distance)) => {
            format!(", and {:.1} % in all (distance {distance:.4})", in_all * 100.0)
        }
        _ => String::new(),
    }
}

/// Per sensitive attribute how far the farthest class is from the whole publication.
fn farthest(all: &[(String, f64)]) -> String {
    all.iter()
        .map(|(path, most)| format!("       {path}: no class is farther than {most:.6} from all.\n"))
        .collect()
}

/// A group of a dissected publication.
fn push_group(out: &mut String, witness: &Witness) {
    let group = witness.group.map_or(0, |g| g + 1);
    let people = plural(witness.support, "person").replace("persons", "people");
    out.push_str(&match (&witness.sensitive, witness.distance) {
        (Some(s), _) => format!(
            "Witness: {} = {} has a share of {:.1} % in group {group} of {people}.\n",
            s.path,
            s.value,
            s.share * 100.0
        ),
        (None, Some(distance)) => format!(
            "Witness: in group {group} of {people} a value is only {distance} edges from what these have in common:\n"
        ),
        (None, None) => format!("Witness: group {group} has only {people}.\n"),
    });
    for value in witness.values.iter().take(VALUES) {
        out.push_str(&format!("  {}  {}\n", value.path, value.value));
    }
    if witness.values.len() > VALUES {
        out.push_str(&format!("  and {} more\n", witness.values.len() - VALUES));
    }
}

/// What is known of people, and who they are.
fn push_known(out: &mut String, witness: &Witness) {
    let width = witness.values.iter().map(|v| v.path.chars().count()).max().unwrap_or(0);
    for (i, value) in witness.values.iter().enumerate() {
        out.push_str(&format!("  {:>2}  {:width$}  {}\n", i + 1, value.path, value.text()));
    }
    if witness.values.is_empty() {
        out.push_str("      (nothing: no quasi value is published of them)\n");
    }
    for (what, pairs) in [("related", &witness.relations), ("not related", &witness.unrelated)] {
        if !pairs.is_empty() {
            let pairs: Vec<String> =
                pairs.iter().map(|(a, b)| format!("{} above {}", a + 1, b + 1)).collect();
            out.push_str(&format!("  {what}: {}\n", pairs.join(", ")));
        }
    }
    out.push_str(&format!("  records:{}\n", numbers(&witness.records)));
}

/// What was found out by comparing with the input, if that was asked for.
fn push_truth(out: &mut String, untruths: Option<&[Untruth]>) {
    match untruths {
        None => {}
        Some([]) => out.push_str("TRUE: the publication says nothing that the input does not.\n"),
        Some(untruths) => {
            out.push_str("NOT TRUE to the input:\n");
            for untruth in untruths {
                let path = untruth.path.as_ref().map_or(String::new(), |p| format!("{p}: "));
                out.push_str(&format!("  {path}{}\n", untruth.message));
                if !untruth.records.is_empty() {
                    out.push_str(&format!("    records:{}\n", numbers(&untruth.records)));
                }
            }
        }
    }
}

/// What the labels tell of the values that they hide.
fn guessed(found: &Guessed, show_values: bool) -> String {
    let promise = guess::sentence(found.guess);
    if found.holds() {
        return format!("UNGUESSED: {promise}. Checked with the input.\n");
    }
    let mut out = format!("GUESSED: it is not so that {promise}:\n");
    for told in found.told.iter().take(SHOWN) {
        let value = match (&told.value, show_values) {
            (Some(value), true) => format!("are `{value}`"),
            (None, true) => "are empty in the input".to_owned(),
            (_, false) => "have the same value".to_owned(),
        };
        out.push_str(&format!(
            "  {}: of {} published as `{}`, {} ({:.1} %) {value}; of all below it {:.1} % have it\n",
            told.path,
            plural(told.cells as usize, "cell"),
            told.label,
            count(told.hits as usize),
            told.share() * 100.0,
            told.usual * 100.0
        ));
    }
    if found.told.len() > SHOWN {
        out.push_str(&format!("  and {}\n", plural(found.told.len() - SHOWN, "other label")));
    }
    out
}

fn numbers(records: &[u32]) -> String {
    let mut out = String::new();
    for record in records.iter().take(SHOWN) {
        out.push_str(&format!(" {}", count(*record as usize + 1)));
    }
    if records.len() > SHOWN {
        out.push_str(&format!(" and {} more", count(records.len() - SHOWN)));
    }
    out
}

/// What became of the signature, first of all.
pub fn signature(check: &SignatureCheck) -> String {
    let (id, key) = (&check.key_id, &check.public_key);
    match &check.problem {
        None => {
            let shown = |c: char| if c.is_control() { ' ' } else { c };
            let comment: String = check.comment.iter().flat_map(|c| c.chars()).map(shown).collect();
            format!("AS SIGNED with the key {id}, {key}\n          and with the words: {comment}\n")
        }
        Some(problem) => format!(
            "NOT AS SIGNED with the key {id}, {key}:\n  {problem}\nNothing else was looked at: whoever made this \
             certificate may have written anything into it.\n"
        ),
    }
}

/// What became of the certificate.
fn certificate(check: &CertificateCheck) -> String {
    let mut out = if check.holds() {
        let what = match check.certificate.form {
            Form::Database => "table",
            Form::Document | Form::Folder | Form::Parts => "file",
        };
        let hierarchies = match check.hierarchies_compared {
            0 => String::new(),
            n => format!(" and {}", plural(n, "hierarchy").replace("hierarchys", "hierarchies")),
        };
        let files = plural(check.certificate.files.len(), what);
        format!("AS CERTIFIED: {files}{hierarchies} compared with their fingerprints.\n")
    } else {
        let problems = check.problems.iter().map(|problem| format!("  {problem}\n"));
        std::iter::once("NOT AS CERTIFIED:\n".to_owned()).chain(problems).collect()
    };
    for what in &check.unchecked {
        out.push_str(&format!("not checked: {what}\n"));
    }
    // Nobody but the reader can judge whether these are the right ones.
    let untouched = check.untouched.iter().map(|(path, role)| format!("{path} ({})", role.name()));
    for (what, paths) in
        [("counts as known", check.known.clone()), ("published as it is", untouched.collect())]
    {
        let paths = if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") };
        out.push_str(&format!("{what}: {paths}\n"));
    }
    out
}
