//! `bosket verify` of an anatomized publication.

use std::path::Path;

use bosket_io::hierarchies::{self, Ask};
use bosket_io::{PolicyFile, Whereabouts};
use bosket_model::binding::Binding;
use bosket_model::{Diagnostic, Failure, Place};
use bosket_verify::truth::{Grouped, Side, Untruth, compare_anatomized};
use bosket_verify::{Anatomized, Claim, JudgedClusters, Witness, verify_anatomized};
use serde_json::json;

use super::judged_clusters;
use crate::Outcome;
use crate::args::Verify;
use crate::commands::certified::Checked;
use crate::commands::dissect;
use crate::commands::verify::{push_known, push_truth, read_mapping, untruth_json};
use crate::load;
use crate::output::{plural, print, print_json};
use crate::talk::Talk;

pub fn verify(
    args: &Verify,
    file: &PolicyFile,
    (claim, asked): (&Claim, &Anatomized),
    mut certified: Option<&mut Checked>,
    talk: &Talk,
) -> Result<Outcome, Failure> {
    let published = judged_clusters(file, &args.publication, talk)?;
    let mut warnings = claim.caveats(&published.binding);
    if let Some(certified) = &mut certified {
        certified.limits(&file.policy, claim, &warnings);
    }
    if args.against.is_none() && !published.judged.left.is_empty() {
        let what =
            format!("the policy removes {}, but the file still has it", published.judged.left.join(", "));
        let warning = Diagnostic::warning(what).at(Place::source(args.publication.display().to_string()));
        warnings.push(warning.help("the claim says nothing about such attributes; do not publish this file"));
    }
    talk.diagnostics(&warnings);
    let witness = verify_anatomized(&published.sides(), asked, talk)?;
    let untruths = match &args.against {
        Some(input) => Some(against(args, file, &published, input, talk)?),
        None => None,
    };
    talk.quiet();
    let (records, groups) = (published.people.len(), published.names.len());
    if let Some(certified) = &mut certified {
        certified.records(records as u64);
    }
    let as_certified = certified.as_ref().is_none_or(|c| c.holds());
    let holds = witness.is_none() && untruths.as_ref().is_none_or(Vec::is_empty) && as_certified;
    if args.json {
        let mut result = json!({
            "holds": holds,
            "claim": claim.to_json(),
            "witness": witness.as_ref().map(Witness::to_json),
            "records": records,
            "groups": groups,
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
        let mut out = match &witness {
            None => format!(
                "HOLDS: {}.\n       Checked for all of {} with {}.\n",
                claim.sentence(),
                plural(groups, "group"),
                plural(records, "record")
            ),
            Some(witness) => format!("VIOLATED: {}.\n\n{}", claim.sentence(), told(witness, &published)),
        };
        push_truth(&mut out, untruths.as_deref());
        out.push_str(&certified.map_or(String::new(), |c| c.told()));
        print(&out)?;
    }
    Ok(if holds { Outcome::Done } else { Outcome::Violated })
}

fn told(witness: &Witness, published: &JudgedClusters) -> String {
    let group = witness.group.map_or(0, |group| u64::from(group) + 1);
    let own = witness.records.first().map(|&record| published.groups[record as usize]);
    let all = published.groups.iter().filter(|of| Some(**of) == own).count();
    let records = plural(witness.support, "record");
    let mut out = match &witness.sensitive {
        Some(s) => format!(
            "Witness: {} = {} has a share of {:.1} % in group {group} of {records} that look like this:\n",
            s.path,
            s.value,
            s.share * 100.0
        ),
        None if all > witness.support => format!(
            "Witness: in group {group} of {} the people do not look alike; {records} like this:\n",
            plural(all, "record")
        ),
        None => format!("Witness: group {group} has only {records}, which look like this:\n"),
    };
    push_known(&mut out, witness);
    out
}

fn against(
    args: &Verify,
    file: &PolicyFile,
    published: &JudgedClusters,
    input: &Path,
    talk: &Talk,
) -> Result<Vec<Untruth>, Failure> {
    let private = load::records(Whereabouts::given(file, input, false)?, talk)?;
    let name = input.display().to_string();
    let policy = &file.policy;
    let binding = Binding::of_input(private.data.schema(), &policy.attributes, policy.undeclared, &name)?;
    let ask = Ask { required: false, show_values: args.show_values };
    let (hierarchies, warnings) = hierarchies::load(file, &private.data, &binding, &name, ask)?;
    talk.diagnostics(&warnings);
    let mapping = args.mapping.as_deref().map(read_mapping).transpose()?;
    let groups = mapping.as_ref().map(dissect::groups).transpose()?;
    if let Some(mapping) = &mapping {
        dissect::refuse_unknown(mapping, private.data.len())?;
    }
    let grouped = Grouped {
        published: published.sides(),
        input: Side { data: &private.data, binding: &binding },
        hierarchies: &hierarchies,
        mapping: groups.as_deref(),
    };
    let left = published.judged.left.iter().map(|path| Untruth {
        message: "the policy removes this attribute, but it is published".to_owned(),
        path: Some(path.clone()),
        records: Vec::new(),
    });
    Ok(left.chain(compare_anatomized(&grouped, talk)?).collect())
}
