//! Cluster, take the sides apart, write both, read them again, verify, and only then publish.

use bosket_io::Create;
use bosket_io::apart::{Clustered, Dissection, PublishedReader, Records};
use bosket_measure::loss::{Compared, Loss, Side};
use bosket_model::binding::Binding;
use bosket_model::sides::{Fate, Fates};
use bosket_model::{Diagnostic, Failure, Fault};
use bosket_verify::sides::expected;
use bosket_verify::{Anatomized, Claim, JudgedClusters, verify_anatomized};
use serde_json::json;

use crate::Outcome;
use crate::args::Anonymize;
use crate::commands::anonymize::{Prepared, report};
use crate::commands::certificate::{Begun, Certified};
use crate::commands::dissect::refuse_taken;
use crate::commands::made::{Product, Work, make};
use crate::commands::pairs;
use crate::commands::private::Private;
use crate::commands::report as html;
use crate::output::plural;
use crate::talk::Talk;

pub fn run(
    args: &Anonymize,
    prepared: &Prepared,
    (claim, asked): (&Claim, &Anatomized),
    talk: &Talk,
) -> Result<Outcome, Failure> {
    let Prepared { file, input, hierarchies, target, .. } = prepared;
    let policy = &file.policy;
    let dissection = Dissection::new(file, Fates::new)?;
    let create = Create { force: args.force, private: false };
    refuse_taken(target, args.force)?;
    let certificate = Begun::new(file, &args.policy, target, create, talk)?;
    let private = Private::create(file, args.force, prepared.paths.clone())?;

    let published = prepared.binding.without_companions();
    let work = Work {
        policy,
        claim,
        data: &input.data,
        binding: &prepared.binding,
        published: &published,
        hierarchies,
        memory: args.memory,
    };
    let mut made = make(&work, talk)?;
    talk.quiet();
    let Product::Vertices { data, binding, records } = &made.product else {
        return Err(defect("clusters are not vertex trees"));
    };
    let clusters = Records { data, binding, form: &input.form };
    let Clustered { mut people, group_of, groups } = dissection.clusters(clusters)?;
    let mut drafts = dissection.write(&mut people, (&group_of, groups), create)?;

    let again = PublishedReader::new(file, expected)?.read_clusters_again(&mut drafts, talk)?;
    let again = JudgedClusters::new(policy, again)?;
    if verify_anatomized(&again.sides(), asked, talk)?.is_some() || !again.judged.misplaced.is_empty() {
        // A defect of the algorithm, caught before anything is published.
        return Err(defect("the result does not keep the promise"));
    }
    talk.quiet();
    let known = quasi_side(binding, &dissection);
    let written: usize = again.judged.dissected.sensitive.iter().map(|s| s.codes.total()).sum();
    let same = pairs::vertices((data, &known), records, (&again.people, &again.binding));
    let pairs = same.filter(|_| written as u64 == drafts.written.values && again.judged.left.is_empty());
    let pairs = pairs.ok_or_else(|| {
        let what = "the result cannot be written so that reading it gives the same records; two paths of the policy share a key";
        let help = "nothing was published; rename one of the keys in the data";
        Failure::new(Fault::Unreachable, Diagnostic::error(what).help(help))
    })?;
    let loss = args.measure.then(|| loss(prepared, &again, &pairs, talk)).transpose()?;
    talk.quiet();
    let mut others = Vec::new();
    if let Some(private) = private {
        let ids = drafts.written.ids();
        let mapping = records.iter().zip(&group_of).map(|(&record, &group)| (record, ids[group as usize]));
        others.extend(private.write(&mapping_csv(mapping.collect()), made.private.clone())?);
    }
    made.figures["groups"] = json!(groups);
    made.figures["sensitive_values"] = json!(written);
    made.told.push_str(&format!(
        "\nanatomized: {} of records that look alike, {} apart from them",
        plural(groups, "group"),
        plural(written, "sensitive value")
    ));
    let certified = Certified {
        claim: Some(claim),
        caveats: claim.caveats(&again.binding),
        records: again.people.len() as u64,
        figures: made.figures.clone(),
        measured: loss.as_ref().map(Loss::to_json),
    };
    let place = certificate.place();
    drafts.finish_certified(create, others, certificate.certify(file, certified))?;
    report(args, prepared, claim, &made, loss.as_ref(), (again.people.len(), place), talk)?;
    html::with_publication(args, file, talk)?;
    Ok(Outcome::Done)
}

/// The place of those attributes that stay with people.
fn quasi_side(binding: &Binding, dissection: &Dissection<'_>) -> Binding {
    let mut known = binding.clone();
    for declared in &mut known.attributes {
        *declared = declared.filter(|&d| dissection.fates().of[d] == Fate::Quasi);
    }
    known
}

fn loss(
    prepared: &Prepared,
    again: &JudgedClusters,
    pairs: &[(usize, usize)],
    talk: &Talk,
) -> Result<Loss, Failure> {
    let mapping: Vec<(u32, u32)> = pairs.iter().map(|&(from, to)| (from as u32, to as u32)).collect();
    let compared = Compared {
        policy: &prepared.file.policy,
        input: Side { data: &prepared.input.data, binding: &prepared.binding },
        published: Side { data: &again.people, binding: &again.binding },
        hierarchies: &prepared.hierarchies,
        mapping: Some(&mapping),
        mining: true,
    };
    Loss::new(&compared, talk)
}

/// Which input record is in which group.
fn mapping_csv(mut pairs: Vec<(u32, u32)>) -> String {
    pairs.sort_unstable();
    let lines = pairs.iter().map(|(input, group)| format!("{},{group}\n", input + 1));
    std::iter::once("input_record,published_record\n".to_owned()).chain(lines).collect()
}

fn defect(what: &str) -> Failure {
    let diagnostic = Diagnostic::error(what).help("nothing was published; please report this");
    Failure::new(Fault::Unreachable, diagnostic)
}
