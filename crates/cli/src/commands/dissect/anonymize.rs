//! Read, group, write both sides, read them again, verify, and only then publish.

use std::io::Write;
use std::path::Path;

use bosket_engine::dissect::{Params, Release, SUPPRESSED, Sensitive, run as group};
use bosket_io::apart::PublishedReader;
use bosket_io::apart::{Dissection, Drafts, Written};
use bosket_io::{Create, Output, PolicyFile, Whereabouts, hierarchies, publication, write_failure};
use bosket_model::policy::{Format, Model};
use bosket_model::sides::Fates;
use bosket_model::{Diagnostic, Failure, Fault, Place};
use bosket_verify::JudgedSides;
use bosket_verify::sides::expected;
use bosket_verify::{Claim, Verdict, verify_apart};
use serde_json::{Value, json};

use super::{declared, degrees_json, degrees_told};
use crate::Outcome;
use crate::args::Anonymize;
use crate::commands::certificate::{Begun, Certified};
use crate::commands::places;
use crate::commands::private::Private;
use crate::commands::report as html;
use crate::output::{plural, print, print_json};
use crate::talk::Talk;

pub fn run(args: &Anonymize, file: &PolicyFile, talk: &Talk) -> Result<Outcome, Failure> {
    let policy = &file.policy;
    let params = Params { show_values: args.show_values, ..Params::new(policy)? };
    let publish = policy.need_publish()?;
    let dissection = Dissection::new(file, Fates::new)?;
    let source = Whereabouts::input(file)?;
    let target = publication::target(file)?;
    places::check(file, &args.policy, source.paths(), &target)?;
    html::check_place(args, file, &target)?;
    if args.measure {
        let what = "`--measure` has nothing to measure: dissection publishes every value as it is";
        talk.diagnostics(&[Diagnostic::warning(what).at(Place::source(&policy.name))]);
    }
    let create = Create { force: args.force, private: false };
    // Places that are taken are found before the work, not after it.
    for place in [Some(target.clone()), schema_place(file)].into_iter().flatten() {
        refuse_taken(&place, args.force)?;
    }
    let certificate = Begun::new(file, &args.policy, &target, create, talk)?;
    let mut others = Vec::new();
    let made = if policy.need_privacy()?.model == Model::None && dissection.is_stream() {
        if publish.mapping.is_some() {
            let what = "a document that is separated while it is read leaves no mapping";
            let what = Diagnostic::error(what).at(Place::source(&policy.name).path("publish.mapping"));
            let help = "leave it out, or ask for `anatomy` or `delta`";
            return Err(Failure::new(Fault::Policy, what.help(help)));
        }
        let (drafts, namespaces, warnings) = dissection.plain(&source, params.group_size)?;
        talk.quiet();
        talk.diagnostics(&warnings);
        others.extend(schema(file, &dissection, &source, &namespaces, create)?);
        Made { drafts, release: None, verdict: None }
    } else {
        let made = grouped(args, file, &dissection, &params, talk)?;
        others.extend(schema(file, &dissection, &source, &made.1, create)?);
        if let Some(private) = Private::create(file, args.force, source.paths())? {
            others.extend(private.write(&mapping_csv(&made.0), json!({}))?);
        }
        made.0
    };
    let Made { drafts, release, verdict } = made;
    let written = drafts.written.clone();
    let claim = (policy.need_privacy()?.model != Model::None).then(|| Claim::new(policy)).transpose()?;
    let certified = Certified {
        caveats: claim.as_ref().map_or(Ok(Vec::new()), |c| declared(file).map(|d| c.caveats(&d)))?,
        claim: claim.as_ref(),
        records: written.people,
        figures: json!({"records_suppressed": release.as_ref().map_or(0, |r| r.suppressed)}),
        measured: None,
    };
    let place = certificate.place();
    drafts.finish_certified(create, others, certificate.certify(file, certified))?;
    report(args, file, &dissection, &target, &Told { written, release, verdict, certificate: place }, talk)?;
    html::with_publication(args, file, talk)?;
    Ok(Outcome::Done)
}

/// What a run has made, before it is in its place.
struct Made {
    drafts: Drafts,
    release: Option<Release>,
    verdict: Option<Verdict>,
}

/// What is told about it.
struct Told {
    written: Written,
    release: Option<Release>,
    verdict: Option<Verdict>,
    certificate: Option<String>,
}

/// Refuses a place that is taken.
pub fn refuse_taken(place: &Path, force: bool) -> Result<(), Failure> {
    // Creating and dropping it says what is wrong and leaves no trace. Tables go into a folder, file by file.
    if place == Path::new("-") || place.is_dir() || place.extension().is_none() {
        return Ok(());
    }
    Output::create(place, Create { force, private: false }).map(|_| ())
}

fn schema_place(file: &PolicyFile) -> Option<std::path::PathBuf> {
    let xml = file.policy.source.as_ref().is_some_and(|s| s.format == Format::Xml);
    let schema = file.policy.publish.as_ref().and_then(|p| p.schema.as_deref());
    schema.filter(|_| xml).map(|s| file.resolve(s))
}

/// The published XSD, if the policy asks for it.
fn schema(
    file: &PolicyFile,
    dissection: &Dissection<'_>,
    source: &Whereabouts,
    namespaces: &bosket_io::xml::Namespaces,
    create: Create,
) -> Result<Option<Output>, Failure> {
    let Some(place) = schema_place(file) else {
        return Ok(None);
    };
    let Some(text) = dissection.schema(source, namespaces)? else {
        return Ok(None);
    };
    let name = place.file_name().map_or_else(|| "schema.xsd".into(), |n| n.to_string_lossy());
    let mut output = Output::create(&place, create)?.published(&name);
    output.write_all(text.as_bytes()).map_err(write_failure)?;
    Ok(Some(output))
}

fn grouped(
    args: &Anonymize,
    file: &PolicyFile,
    dissection: &Dissection<'_>,
    params: &Params,
    talk: &Talk,
) -> Result<(Made, bosket_io::xml::Namespaces), Failure> {
    let policy = &file.policy;
    let source = Whereabouts::input(file)?;
    let name = source.name();
    let mut people = dissection.read(source, talk)?;
    talk.quiet();
    talk.diagnostics(&people.warnings);
    talk.decided(&format!("read {name}: {}", plural(people.spool.len(), "record")));
    let hierarchies = hierarchies::of_sensitive(file, &people.spool.sensitive, &name, args.show_values)?;
    let spool = &people.spool;
    let sensitive: Vec<Sensitive<'_>> = (spool.sensitive.iter())
        .map(|values| Sensitive { values, hierarchy: hierarchies[values.declared].as_ref() })
        .collect();
    let release = group(spool.len(), &sensitive, &spool.ties, params, talk)?;
    talk.quiet();
    let create = Create { force: args.force, private: false };
    let mut drafts = dissection.write(&mut people, (&release.group_of, release.groups), create)?;
    let mut verdict = None;
    if policy.need_privacy()?.model != Model::None {
        let Claim::Apart(claim) = Claim::new(policy)? else {
            return Err(defect("the claim is not one of dissection"));
        };
        let found = PublishedReader::new(file, expected)?.read_drafts(&mut drafts, talk)?;
        let found = JudgedSides::new(policy, &found)?;
        let checked = verify_apart(&found.dissected, &claim, &hierarchies, talk)?;
        let left = found.left.len() + found.misplaced.len();
        let published: u64 = found.dissected.people.iter().map(|&p| u64::from(p)).sum();
        if checked.witness.is_some()
            || left > 0
            || published + release.suppressed as u64 != spool_len(&people)
        {
            // A defect of the algorithm, caught before anything is published.
            return Err(defect("the result does not keep the promise"));
        }
        verdict = Some(checked);
    }
    let namespaces = people.namespaces().clone();
    Ok((Made { drafts, release: Some(release), verdict }, namespaces))
}

fn spool_len(people: &bosket_io::apart::People) -> u64 {
    people.spool.len() as u64
}

fn defect(what: &str) -> Failure {
    let diagnostic = Diagnostic::error(what).help("nothing was published; please report this");
    Failure::new(Fault::Unreachable, diagnostic)
}

/// Which input record is in which group.
fn mapping_csv(made: &Made) -> String {
    let ids = made.drafts.written.ids();
    let group_of = made.release.iter().flat_map(|r| r.group_of.iter().enumerate());
    let lines = group_of
        .filter(|(_, group)| **group != SUPPRESSED)
        .map(|(record, group)| format!("{},{}\n", record + 1, ids[*group as usize]));
    std::iter::once("input_record,published_record\n".to_owned()).chain(lines).collect()
}

fn report(
    args: &Anonymize,
    file: &PolicyFile,
    dissection: &Dissection<'_>,
    target: &Path,
    made: &Told,
    talk: &Talk,
) -> Result<(), Failure> {
    let policy = &file.policy;
    let written = &made.written;
    let claim = (policy.need_privacy()?.model != Model::None).then(|| Claim::new(policy)).transpose()?;
    let sensitive = &dissection.fates().sensitive;
    let degrees = || sensitive.iter().zip(made.verdict.iter().flat_map(|v| v.distances.iter().copied()));
    let suppressed = made.release.as_ref().map_or(0, |r| r.suppressed);
    let telling = made.release.as_ref().map_or(0, |r| r.telling);
    if telling > 0 {
        let what = format!(
            "in {} one person has more than its share of the values: whoever knows how many values people have can tell",
            plural(telling, "group")
        );
        let what = Diagnostic::warning(what).at(Place::source(&policy.name));
        talk.diagnostics(&[what.help("ask for larger groups, or publish fewer values per person")]);
    }
    if args.json && target != Path::new("-") {
        return print_json(&json!({
            "published": target.display().to_string(),
            "records": written.people,
            "groups": written.groups,
            "sensitive_values": written.values,
            "suppressed": suppressed,
            "telling_groups": telling,
            "claim": claim.as_ref().map_or(Value::Null, Claim::to_json),
            "verified": claim.is_some(),
            "certificate": made.certificate,
            "degrees": degrees().map(|(s, d)| degrees_json(&s.path, d)).collect::<Vec<_>>(),
        }));
    }
    let mut out = format!(
        "published {} in {} and {} to {}\n",
        plural(written.people as usize, "record"),
        plural(written.groups as usize, "group"),
        plural(written.values as usize, "sensitive value"),
        target.display()
    );
    match &claim {
        Some(claim) => out.push_str(&format!("verified: {}\n", claim.sentence())),
        None => out.push_str("nothing is claimed: the sides are separated without a guarantee\n"),
    }
    if suppressed > 0 {
        out.push_str(&format!("suppressed: {}, which fit into no group\n", plural(suppressed, "record")));
    }
    for told in degrees().filter_map(|(s, d)| degrees_told(&s.path, d)) {
        out.push_str(&format!("{told}\n"));
    }
    out.push_str(&made.certificate.as_ref().map_or(String::new(), |place| format!("certificate: {place}\n")));
    if target == Path::new("-") {
        // Standard output holds the publication.
        talk.line(out.trim_end());
        return Ok(());
    }
    print(&out)
}
