//! `bosket report`: one HTML file about a publication, for the people who answer for it.

use std::io::Write;
use std::path::{Path, PathBuf};

use bosket_io::apart::Dissection;
use bosket_io::{Create, Output, PolicyFile, Whereabouts, hierarchies, publication};
use bosket_measure::attack;
use bosket_measure::loss::Side;
use bosket_model::binding::Binding;
use bosket_model::policy::{Format, Model, Policy};
use bosket_model::{Diagnostic, Failure, Fault};
use bosket_report::certificate::{Certificate, not_claimed};
use bosket_report::cut::cuts;
use bosket_report::html::{Certified, Example, Internal, Page, page};
use bosket_report::study::{Study, Subject, attacker, roles};
use bosket_verify::{Claim, verify_apart};

use crate::Outcome;
use crate::args::{Anonymize, Report};
use crate::commands::anatomize::sides;
use crate::commands::both::{self, Both, Places};
use crate::commands::certificate::place as place_of_certificate;
use crate::commands::certified::belonging;
use crate::commands::dissect::is_asked;
use crate::commands::places;
use crate::load;
use crate::output::{count, print};
use crate::talk::Talk;

pub fn run(args: &Report, talk: &Talk) -> Result<Outcome, Failure> {
    let (out, holds) = write(args, talk)?;
    print(&format!("wrote the report to {}\n", out.display()))?;
    if holds {
        return Ok(Outcome::Done);
    }
    talk.line("something is wrong with the publication or its certificate; the report says what");
    Ok(Outcome::Violated)
}

/// Writes the report; says where, and whether the publication keeps its promise.
fn write(args: &Report, talk: &Talk) -> Result<(PathBuf, bool), Failure> {
    let file = load::policy(&args.policy, &args.sets, talk)?;
    let target = match &args.publication {
        Some(path) => path.clone(),
        None => publication::target(&file)?,
    };
    let out = args.out.clone().unwrap_or_else(|| place(&file, args.internal));
    if args.internal && file.policy.anatomizes() {
        let what = "an anatomized publication does not show whose sensitive values are whose: there is nobody to show after";
        let help = "the public report says everything; `publish.mapping` says who is in which group";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    }
    if args.internal && is_asked(&file)? {
        let what = "dissection changes no record: there is nothing to show before and after";
        let help = "the public report says everything; `publish.mapping` says who is in which group";
        return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)));
    }
    let create = Create { force: args.force, private: args.internal };
    if let Some(folder) = out.parent().filter(|p| !p.as_os_str().is_empty()) {
        bosket_io::make_folder(folder)?;
    }
    let source = Whereabouts::input(&file)?;
    let mut read = places::inputs(&file, &args.policy, source.paths());
    read.extend(places::private(&file));
    read.extend([Some(target.clone()), args.mapping.clone(), args.certificate.clone()].into_iter().flatten());
    read.extend(place_of_certificate(&file, &args.policy, &target)?);
    places::refuse(std::slice::from_ref(&out), &read)?;
    let mut output = Output::create(&out, create)?;
    let certificate = certificate(args, &file, &target)?;
    let certified =
        certificate.as_ref().map(|(name, certificate, problems)| Certified { name, certificate, problems });
    let belongs = certificate.as_ref().is_none_or(|(.., problems)| problems.is_empty());
    let (html, holds) = if is_asked(&file)? {
        let (study, binding) = apart(&file, &target, talk)?;
        (render(&file, &target, &study, &binding, certified, None)?, study.holds())
    } else {
        let input_name = source.name();
        let places = Places {
            input: source,
            publication: &target,
            mapping: args.mapping.as_deref(),
            show_values: false,
        };
        let both = both::open(&file, places, talk)?;
        let subject = Subject {
            policy: &file.policy,
            input: both.input.side(),
            published: both.published(),
            hierarchies: &both.hierarchies,
            mapping: both.mapping.as_deref(),
            memory: args.memory,
        };
        let study = match both.anatomized() {
            None => Study::new(&subject, talk)?,
            Some(found) => {
                let mut study = Study::anatomized(&subject, &sides(found), talk)?;
                study.left.clone_from(&found.left);
                study
            }
        };
        let internal = args.internal.then(|| internal(&both, &study, &input_name));
        let html = render(&file, &target, &study, both.published().binding, certified, internal)?;
        (html, study.holds())
    };
    talk.quiet();
    output.write_all(html.as_bytes()).map_err(bosket_io::write_failure)?;
    output.finish()?;
    Ok((out, holds && belongs))
}

fn render(
    file: &PolicyFile,
    target: &Path,
    study: &Study,
    binding: &Binding,
    certificate: Option<Certified<'_>>,
    internal: Option<Internal<'_>>,
) -> Result<String, Failure> {
    let claim = study.claim.as_ref();
    let limits = not_claimed(&file.policy, claim, &claim.map_or(Vec::new(), |c| c.caveats(binding)));
    let method = method(&file.policy)?;
    Ok(page(&Page {
        title: &title(file, target),
        study,
        method: &method,
        limits: &limits,
        certificate,
        internal,
    }))
}

/// What is found out about a dissected publication.
fn apart(file: &PolicyFile, target: &Path, talk: &Talk) -> Result<(Study, Binding), Failure> {
    let policy = &file.policy;
    let dissection = Dissection::new(file)?;
    let published = dissection.read_published(target, talk)?;
    let left = published.gone.iter().zip(&policy.attributes).filter(|(gone, _)| **gone);
    let left: Vec<String> = left.map(|(_, attribute)| attribute.path.clone()).collect();
    let found = published.dissected;
    let claim = (policy.need_privacy()?.model != Model::None).then(|| Claim::new(policy)).transpose()?;
    let mut remarks = vec![("Groups".to_owned(), count(found.people.len()))];
    let mut witness = None;
    if let Some(Claim::Apart(asked)) = &claim {
        let name = target.display().to_string();
        let hierarchies = hierarchies::of_sensitive(file, &found.sensitive, &name, false)?;
        let verdict = verify_apart(&found, asked, &hierarchies)?;
        let told = dissection.fates().sensitive.iter().zip(&verdict.distances);
        let told = told.filter_map(|(s, d)| Some((s.path.clone(), d.set_wise?, d.pairwise?)));
        remarks.extend(told.map(|(path, set_wise, pairwise)| {
            let text = format!("{set_wise} edges to what all of a group have in common; {pairwise} pairwise");
            (format!("Distance of {path}"), text)
        }));
        witness = verdict.witness;
    }
    let place = Whereabouts::input(file)?;
    let name = place.name();
    let input = load::records(place, talk)?;
    let binding = Binding::of_input(input.data.schema(), &policy.attributes, policy.undeclared, &name)?;
    let own = binding.without_companions();
    let before = attack::risk(&input.data, &own, policy, &attack::Options::of(policy), talk)?;
    let records = found.people.iter().map(|&p| p as usize).sum();
    let gone = format!("{} of {}", count(input.data.len().saturating_sub(records)), count(input.data.len()));
    remarks.push(("Records suppressed".to_owned(), gone));
    let study = Study {
        claim,
        witness,
        left,
        records,
        roles: roles(policy),
        attacker: attacker(policy)?,
        before: Some(before),
        after: Some(attack::risk_apart(&found, policy, talk)?),
        loss: None,
        cuts: Vec::new(),
        remarks,
    };
    Ok((study, binding))
}

/// Writes the report that a policy asks for with its publication.
pub(super) fn with_publication(args: &Anonymize, file: &PolicyFile, talk: &Talk) -> Result<(), Failure> {
    if file.policy.publish.as_ref().and_then(|p| p.report.as_ref()).is_none() {
        return Ok(());
    }
    let own = Report {
        policy: args.policy.clone(),
        sets: args.sets.clone(),
        publication: None,
        certificate: None,
        mapping: None,
        out: None,
        internal: false,
        force: args.force,
        memory: args.memory,
    };
    let (out, _) = write(&own, talk).map_err(|mut failure| {
        let what = "the publication is complete, but its report could not be written";
        failure.diagnostics.push(Diagnostic::error(what).help("`bosket report` writes it later"));
        failure
    })?;
    if !args.json {
        print(&format!("wrote the report to {}\n", out.display()))?;
    }
    Ok(())
}

/// Refuses a report that could not be written after the work, before it.
pub(super) fn check_place(args: &Anonymize, file: &PolicyFile, target: &Path) -> Result<(), Failure> {
    let Some(named) = file.policy.publish.as_ref().and_then(|p| p.report.as_deref()) else {
        return Ok(());
    };
    let source = file.policy.source.as_ref().and_then(|s| s.path.as_deref());
    let stream = Path::new("-");
    if target == stream || source == Some("-") || args.policy == stream || named == "-" {
        let what = "`publish.report` needs files that can be read again: neither policy, source, publication nor report can be `-`";
        let help = "name files, or take `report` out and run `bosket report` later";
        return Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)));
    }
    let place = file.resolve(named);
    if place.parent().is_some_and(Path::is_dir) {
        // Creating and dropping it says what is wrong and leaves no trace.
        Output::create(&place, Create { force: args.force, private: false })?;
    }
    Ok(())
}

/// The certificate that was given, or the one that was written with the publication; with its name, and with why it does not
/// belong to the publication.
fn certificate(
    args: &Report,
    file: &PolicyFile,
    target: &Path,
) -> Result<Option<(String, Certificate, Vec<String>)>, Failure> {
    let place = match &args.certificate {
        Some(path) => Some(path.clone()),
        None => place_of_certificate(file, &args.policy, target)?.filter(|path| path.is_file()),
    };
    let Some(place) = place else { return Ok(None) };
    let (read, problems) = belonging(&place, target, &file.policy)?;
    Ok(Some((name(&place), read, problems)))
}

/// Where a report goes if nobody says so.
fn place(file: &PolicyFile, internal: bool) -> PathBuf {
    if internal {
        return file.resolve("private/report.html");
    }
    let named = file.policy.publish.as_ref().and_then(|p| p.report.as_deref());
    file.resolve(named.unwrap_or("report.html"))
}

/// What a publication is called: the name of its file or schema, never where it lies.
fn title(file: &PolicyFile, target: &Path) -> String {
    let publish = file.policy.publish.as_ref();
    if file.policy.source.as_ref().is_some_and(|s| s.format == Format::Postgres) {
        return publish.and_then(|p| p.schema.clone()).unwrap_or_else(|| "Publication".to_owned());
    }
    name(target)
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| "Publication".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// How a publication was made.
fn method(policy: &Policy) -> Result<Vec<(String, String)>, Failure> {
    let privacy = policy.need_privacy()?;
    let model = match privacy.model {
        Model::Kmn => "k^(m,n)-anonymity of trees",
        Model::Km => "k^m-anonymity of sets",
        Model::KAnonymity => "k-anonymity of records with all that hangs below them",
        Model::LDiversity => "l-diversity of records with all that hangs below them",
        Model::Anatomy => "Anatomy: quasi and sensitive values in groups",
        Model::Delta => "δ-dependency: groups of sensitive values that are far apart",
        Model::None => "dissection without a guarantee",
    };
    let numbers = [
        ("k", privacy.k.map(f64::from)),
        ("m", privacy.m.map(f64::from)),
        ("n", privacy.n.map(f64::from)),
        ("l", privacy.l),
        ("group size", privacy.group_size.map(f64::from)),
    ];
    let numbers = numbers.iter().filter_map(|(name, value)| Some(format!("{name} = {}", (*value)?)));
    let mut all = vec![
        ("Model".to_owned(), model.to_owned()),
        ("With".to_owned(), numbers.collect::<Vec<_>>().join(", ")),
    ];
    if let Some(algorithm) = &policy.method.algorithm {
        all.push(("Algorithm".to_owned(), algorithm.clone()));
    }
    all.retain(|(_, text)| !text.is_empty());
    Ok(all)
}

/// Examples shown.
const EXAMPLES: usize = 3;

fn internal<'a>(both: &'a Both, study: &Study, source: &str) -> Internal<'a> {
    let (input, published) = (both.input.side(), both.published());
    let mut facts = vec![("Input".to_owned(), source.to_owned())];
    let examples = match &both.mapping {
        Some(mapping) => examples(mapping, study, input),
        None => {
            let why = "no mapping says which record became which: name one as publish.mapping";
            facts.push(("Examples".to_owned(), why.to_owned()));
            Vec::new()
        }
    };
    Internal { input, published, examples, cuts: cuts(published, Some(input), &both.hierarchies), facts }
}

/// The records that stood out most, and one from the middle.
fn examples(mapping: &[(u32, u32)], study: &Study, input: Side<'_>) -> Vec<Example> {
    let worst = study.before.iter().flat_map(|risk| risk.worst.iter().map(|w| w.record));
    let mut chosen: Vec<usize> = Vec::new();
    for record in worst.take(EXAMPLES - 1).chain([input.data.len() / 2, 0, 1, 2]) {
        if record < input.data.len() && !chosen.contains(&record) && chosen.len() < EXAMPLES {
            chosen.push(record);
        }
    }
    let published = |record: usize| mapping.iter().find(|p| p.0 as usize == record).map(|p| p.1 as usize);
    chosen.into_iter().map(|input| Example { input, published: published(input) }).collect()
}
