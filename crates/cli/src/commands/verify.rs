//! `bosket verify`

use std::path::Path;

use bosket_io::hierarchies::{self, HierarchyNeeds};
use bosket_io::{Opened, PolicyFile, Whereabouts};
use bosket_model::binding::Binding;
use bosket_model::policy::{Policy, Role};
use bosket_model::{Diagnostic, Failure, Fault, Place};
use bosket_verify::truth::{Comparison, Mapping, Pair, Recoding, Side, Untruth, compare};
use bosket_verify::{Claim, Witness, left_over};
use serde_json::json;

use crate::Outcome;
use crate::args::Verify;
use crate::commands::certified::{self, Checked};
use crate::commands::{anatomize, dissect};
use crate::load;
use crate::negative;
use crate::output::{count, plural, print, print_json};
use crate::talk::Talk;

/// Record numbers shown at most.
const SHOWN: usize = 10;

pub fn run(args: &Verify, talk: &Talk) -> Result<Outcome, Failure> {
    load::one_stdin([
        Some(&args.publication),
        args.policy.as_ref(),
        args.certificate.as_ref(),
        args.against.as_ref(),
        args.mapping.as_ref(),
    ])?;
    if let Some(certificate) = &args.certificate {
        return certified::run(args, certificate, talk);
    }
    let policy = args.policy.as_deref().unwrap_or(Path::new("-"));
    let file = load::policy(policy, &args.sets, talk)?;
    let claim = Claim::new(&file.policy)?;
    check_claim(args, &file, &claim, None, talk)
}

/// Checks a claim, and tells about it together with what was found out about a certificate.
pub(super) fn check_claim(
    args: &Verify,
    file: &PolicyFile,
    claim: &Claim,
    mut certified: Option<&mut Checked>,
    talk: &Talk,
) -> Result<Outcome, Failure> {
    if let Claim::Apart(apart) = claim {
        return dissect::verify(args, file, claim, apart, certified, talk);
    }
    if let Claim::Anatomized(asked) = claim {
        return anatomize::verify(args, file, (claim, asked), certified, talk);
    }
    let published = load::records(Whereabouts::given(file, &args.publication, true)?, talk)?;
    let binding = bind(&published, &file.policy, &args.publication)?;
    if !binding.attributes.iter().flatten().any(|&d| binding.declared[d].role == Role::Quasi) {
        let what = Diagnostic::error(
            "none of the policy's quasi attributes is in the file: there is nothing to verify",
        );
        let place = Place::source(args.publication.display().to_string());
        return Err(Failure::new(
            Fault::Policy,
            what.at(place).help("check that policy and file belong together, and the paths"),
        ));
    }
    let mut warnings = claim.caveats(&binding);
    if let Some(certified) = &mut certified {
        certified.limits(&file.policy, claim, &warnings);
    }
    if args.against.is_none() {
        let left = left_over(&published.data, &binding);
        if !left.is_empty() {
            let what = format!(
                "the policy removes {}, but the file still has {}",
                left.join(", "),
                if left.len() == 1 { "it" } else { "them" }
            );
            let warning = Diagnostic::warning(what).at(Place::source(args.publication.display().to_string()));
            warnings
                .push(warning.help("the claim says nothing about such attributes; do not publish this file"));
        }
    }
    talk.diagnostics(&warnings);
    let hierarchies = negative::hierarchies(claim, file, &published.data, &binding)?;
    let witness = bosket_verify::verify(&published.data, &binding, claim, &hierarchies, args.memory, talk)?;
    talk.quiet();
    let untruths = match &args.against {
        Some(input) => Some(against(args, file, &published, &binding, input, talk)?),
        None => None,
    };
    talk.quiet();
    if let Some(certified) = &mut certified {
        certified.records(published.data.len() as u64);
    }
    let as_certified = certified.as_ref().is_none_or(|c| c.holds());
    let holds = witness.is_none() && untruths.as_ref().is_none_or(Vec::is_empty) && as_certified;
    if args.json {
        let mut result = json!({
            "holds": holds,
            "claim": claim.to_json(),
            "witness": witness.as_ref().map(Witness::to_json),
            "records": published.data.len(),
            "warnings": warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        if let Some(untruths) = &untruths {
            result["truth"] = json!({
                "holds": untruths.is_empty(),
                "problems": untruths.iter().map(untruth_json).collect::<Vec<_>>(),
            });
        }
        if let Some(certified) = &certified {
            result["certificate"] = certified.to_json();
        }
        print_json(&result)?;
    } else {
        let mut out = report(claim, witness.as_ref(), untruths.as_deref(), published.data.len());
        out.push_str(&certified.map_or(String::new(), |c| c.told()));
        print(&out)?;
    }
    Ok(if holds { Outcome::Done } else { Outcome::Violated })
}

fn bind(loaded: &Opened, policy: &Policy, path: &Path) -> Result<Binding, Failure> {
    Binding::new(loaded.data.schema(), &policy.attributes, policy.undeclared, &path.display().to_string())
}

fn against(
    args: &Verify,
    file: &PolicyFile,
    published: &Opened,
    published_binding: &Binding,
    input: &Path,
    talk: &Talk,
) -> Result<Vec<Untruth>, Failure> {
    let private = load::records(Whereabouts::given(file, input, false)?, talk)?;
    let name = input.display().to_string();
    let policy = &file.policy;
    let binding = Binding::of_input(private.data.schema(), &policy.attributes, policy.undeclared, &name)?;
    let ask = HierarchyNeeds { required: false, show_values: args.show_values };
    let (hierarchies, warnings) = hierarchies::load(file, &private.data, &binding, &name, ask)?;
    talk.diagnostics(&warnings);
    let mapping = args.mapping.as_deref().map(read_mapping).transpose()?;
    let comparison = Comparison {
        published: Side { data: &published.data, binding: published_binding },
        input: Side { data: &private.data, binding: &binding },
        hierarchies: &hierarchies,
        recoding: Recoding::of(&file.policy)?,
        suppress: file.policy.method.flag("suppress").unwrap_or(false),
        mapping: mapping.as_ref(),
    };
    compare(&comparison, talk)
}

/// Reads `input_record,published_record`, numbered from 1.
pub(super) fn read_mapping(path: &Path) -> Result<Mapping, Failure> {
    let text = bosket_io::read_text(path)?;
    let name = path.display().to_string();
    let mut pairs = Vec::new();
    let mut problems = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() || (i == 0 && line.trim() == "input_record,published_record") {
            continue;
        }
        let at = i as u64 + 1;
        let number = |text: &str| text.trim().parse::<u32>().ok().and_then(|n| n.checked_sub(1));
        let pair = line.split_once(',').and_then(|(a, b)| Some((number(a)?, number(b)?)));
        match pair {
            Some((input, published)) => pairs.push(Pair { line: at, input, published }),
            None => problems.push(
                Diagnostic::error("not a pair of record numbers")
                    .at(Place::source(&name).line(at))
                    .help("each line is `input_record,published_record`, numbered from 1"),
            ),
        }
    }
    if problems.is_empty() { Ok(Mapping { name, pairs }) } else { Err(Failure::all(Fault::Data, problems)) }
}

pub(super) fn untruth_json(untruth: &Untruth) -> serde_json::Value {
    json!({
        "message": untruth.message,
        "path": untruth.path,
        "records": untruth.records.iter().map(|r| r + 1).collect::<Vec<_>>(),
    })
}

fn report(claim: &Claim, witness: Option<&Witness>, untruths: Option<&[Untruth]>, records: usize) -> String {
    let mut out = String::new();
    match witness {
        None => out.push_str(&format!(
            "HOLDS: {}.\n       Checked for all of {}.\n",
            claim.sentence(),
            plural(records, "record")
        )),
        Some(witness) => {
            out.push_str(&format!("VIOLATED: {}.\n\n", claim.sentence()));
            push_witness(&mut out, witness);
        }
    }
    push_truth(&mut out, untruths);
    out
}

/// What was found out by comparing with the input, if that was asked for.
pub(super) fn push_truth(out: &mut String, untruths: Option<&[Untruth]>) {
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

fn push_witness(out: &mut String, witness: &Witness) {
    let people = match witness.support {
        1 => "only one record fits".to_owned(),
        n => format!("only {} records fit", count(n)),
    };
    match &witness.sensitive {
        None => out.push_str(&format!("Witness: {people} this knowledge:\n")),
        Some(s) => out.push_str(&format!(
            "Witness: {} = {} has a share of {:.1} % among the {} that look like this:\n",
            s.path,
            s.value,
            s.share * 100.0,
            plural(witness.support, "record")
        )),
    }
    push_known(out, witness);
}

/// What is known of people, and who they are.
pub(super) fn push_known(out: &mut String, witness: &Witness) {
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
