//! One HTML file about a publication, for the people who answer for it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bosket_io::{Output, PolicyFile, Whereabouts, hierarchies, publication};
use bosket_measure::attack;
use bosket_measure::kept::{Kept, TakenApart};
use bosket_measure::loss::Side;
use bosket_model::observe::Observer;
use bosket_model::policy::{Format, Policy};
use bosket_model::{Diagnostic, Failure, Fault, Result};
use bosket_report::advice::Advice;
use bosket_report::annex::Annex;
use bosket_report::certificate::{Certificate, not_claimed};
use bosket_report::cut::cuts;
use bosket_report::html::{Certified, Example, Internal, Page, page};
use bosket_report::study::{Study, Subject, attacker, keys, roles};
use bosket_verify::{Claim, JudgedSides, Verification};

use crate::advice::{Effort, Published, advice};
use crate::both::{self, Both, Places};
use crate::certificate::place as place_of_certificate;
use crate::certified::CertificateCheck;
use crate::grounds;
use crate::load::{self, PolicyAt};
use crate::negative;
use crate::places;
use crate::prepare::{Prepared, claim_of};
use crate::run::{Run, Settings, run};
use crate::verify::{declared, judged_sides};
use crate::warned::Warned;
use bosket_model::words::count;

/// What is to be reported on.
#[derive(Clone, Debug, Default)]
pub struct ReportRequest {
    /// The policy that the publication was made by.
    pub policy: PolicyAt,
    /// The publication; where the policy publishes if not given.
    pub publication: Option<PathBuf>,
    /// The certificate; the one beside the publication if not given and if it is there.
    pub certificate: Option<PathBuf>,
    /// The private mapping; the policy's own if not given and if it is there.
    pub mapping: Option<PathBuf>,
    /// Where to write; the policy's `publish.report`, or a usual place beside the policy.
    pub out: Option<PathBuf>,
    /// Add what is private: records before and after, worst cases, hierarchies below what is published.
    pub internal: bool,
    /// Replace the report if it exists.
    pub force: bool,
    /// What every call can be told.
    pub settings: Settings,
}

/// A report that was written.
#[derive(Debug)]
pub struct Reported {
    /// Where it is.
    pub out: PathBuf,
    /// What it is about.
    pub publication: PathBuf,
    /// The certificate of that, if there is one.
    pub certified_by: Option<PathBuf>,
    /// What it says about the publication.
    pub study: Study,
    /// What it says to those who decide.
    pub annex: Annex,
    /// What is wrong with the certificate; none where there is no certificate.
    pub certificate: Option<Vec<String>>,
}

impl Reported {
    /// Whether the publication keeps its promise and its certificate belongs to it.
    pub fn holds(&self) -> bool {
        self.study.holds() && self.certificate.as_ref().is_none_or(Vec::is_empty)
    }
}

/// Writes a report on a publication.
pub fn report(request: &ReportRequest, observer: &dyn Observer) -> Result<Warned<Reported>> {
    run(&request.settings, observer, |run| write(request, run))
}

fn write(request: &ReportRequest, run: &Run<'_>) -> Result<Reported> {
    let file = request.policy.load(run)?;
    let target = match &request.publication {
        Some(path) => path.clone(),
        None => publication::target(&file)?,
    };
    let out = request.out.clone().unwrap_or_else(|| place(&file, request.internal));
    refuse_internal(request, &file.policy)?;
    let source = Whereabouts::input(&file)?;
    let mut read = places::inputs(&file, &request.policy.path, source.paths());
    read.extend(places::private(&file));
    let named = [Some(target.clone()), request.mapping.clone(), request.certificate.clone()];
    read.extend(named.into_iter().flatten());
    read.extend(place_of_certificate(&file, &request.policy.path, &target)?);
    places::refuse(std::slice::from_ref(&out), &read)?;
    if let Some(folder) = out.parent().filter(|p| !p.as_os_str().is_empty()) {
        bosket_io::make_folder(folder)?;
    }
    let output = Output::create(&out, run.settings.create(request.force, request.internal))?;
    let certificate = certificate(request, &file, &target, run)?;
    let called = certificate.as_ref().map_or(String::new(), |(place, _)| name(place));
    let certified = certificate.as_ref().map(|(_, check)| Certified {
        name: &called,
        certificate: &check.certificate,
        problems: &check.problems,
    });
    let (study, (html, annex)) = if file.policy.need_privacy()?.model.is_apart() {
        let published = judged_sides(&file, &target, run.observer)?;
        let claim = claim_of(&file.policy)?;
        let name = target.display().to_string();
        let sensitive = &published.dissected.sensitive;
        let own = match &claim {
            Some(_) => hierarchies::of_sensitive(&file, sensitive, &name, false)?.0,
            None => Vec::new(),
        };
        let verification = Verification::of_dissected(&published, claim.as_ref(), &own, run.observer)?;
        let caveats = claim.map_or(Ok(Vec::new()), |c| declared(&file).map(|d| c.caveats(&d)))?;
        let study = dissected(&file, &published, Some(verification), run)?;
        let rendered = render(&file, &target, &study, &caveats, certified, None)?;
        (study, rendered)
    } else {
        let places = Places { input: source, publication: &target, mapping: request.mapping.as_deref() };
        let input_name = places.input.name();
        let both = both::open(&file, places, run)?;
        let mut study = compared(&file, &both, run)?;
        study.advice = advised(&file, &both, &study, run)?;
        let internal = request.internal.then(|| internal(&both, &study, &input_name));
        let claim = study.verification.claim.as_ref();
        let caveats = claim.map_or(Vec::new(), |c| c.caveats(both.published().binding));
        let rendered = render(&file, &target, &study, &caveats, certified, internal)?;
        (study, rendered)
    };
    places::write(output, &html)?;
    let (certified_by, certificate) = certificate.map(|(place, check)| (place, check.problems)).unzip();
    Ok(Reported { out, publication: target, certified_by, study, annex, certificate })
}

/// What the internal report would show is not there in every publication.
fn refuse_internal(request: &ReportRequest, policy: &Policy) -> Result<()> {
    if !request.internal || !policy.has_two_sides() {
        return Ok(());
    }
    let what = if policy.anatomizes() {
        "an anatomized publication does not show whose sensitive values are whose: there is nobody to show after"
    } else {
        "dissection changes no record: there is nothing to show before and after"
    };
    let help = "the public report says everything; `publish.mapping` says who is in which group";
    Err(Failure::new(Fault::Usage, Diagnostic::error(what).help(help)))
}

/// What is found out about a publication that is compared with its input.
fn compared(file: &PolicyFile, both: &Both, run: &Run<'_>) -> Result<Study> {
    let claim = Claim::new(&file.policy)?;
    let subject = Subject {
        policy: &file.policy,
        input: both.input.side(),
        published: both.published(),
        hierarchies: &both.hierarchies,
        apart: both.aside(),
        mapping: both.mapping.as_deref(),
    };
    if let Some(found) = both.anatomized() {
        let hierarchies = grounds::hierarchies(&claim, file)?;
        let verification =
            Verification::of_anatomized(&found.sides(), &found.judged, &claim, &hierarchies, run.observer)?;
        return Study::of_anatomized(&subject, &found.sides(), verification, None, run.observer);
    }
    let Side { data, binding } = both.published();
    let absent = negative::hierarchies(&claim, file, data, binding)?;
    let memory = run.settings.memory();
    let verification = Verification::of_records(data, binding, &claim, &absent, memory, run.observer)?;
    Study::of_records(&subject, verification, None, run.observer)
}

/// What forces attributes to say nothing; what would help is named, and not tried.
fn advised(file: &PolicyFile, both: &Both, study: &Study, run: &Run<'_>) -> Result<Option<Advice>> {
    let (Some(loss), Some(claim)) = (&study.loss, &study.verification.claim) else { return Ok(None) };
    let of = Published {
        file,
        claim,
        input: both.input.side(),
        hierarchies: &both.hierarchies,
        published: both.published(),
        apart: both.aside(),
        kept: &loss.kept,
        mapping: both.mapping.as_deref(),
        memory: run.settings.memory(),
        show_values: false,
    };
    advice(&of, Effort::Looks(Duration::ZERO), run.observer)
}

fn render(
    file: &PolicyFile,
    target: &Path,
    study: &Study,
    caveats: &[Diagnostic],
    certificate: Option<Certified<'_>>,
    internal: Option<Internal<'_>>,
) -> Result<(String, Annex)> {
    let joint = certificate.as_ref().map_or(0, |certified| certified.certificate.joint.len());
    let limits = not_claimed(&file.policy, study.verification.claim.as_ref(), caveats, joint);
    let method = method(&file.policy)?;
    let annex = Annex::new(&file.policy, study, certificate.as_ref(), &limits);
    let html = page(&Page {
        title: &title(file, target),
        study,
        method: &method,
        limits: &limits,
        certificate,
        annex: &annex,
        internal,
    });
    Ok((html, annex))
}

/// What is found out about a dissected publication.
pub(crate) fn dissected(
    file: &PolicyFile,
    published: &JudgedSides,
    verification: Option<Verification>,
    run: &Run<'_>,
) -> Result<Study> {
    let policy = &file.policy;
    let found = &published.dissected;
    let verification = match verification {
        Some(verification) => verification,
        None => Verification::of_dissected(published, None, &[], run.observer)?,
    };
    let mut remarks = vec![("Groups".to_owned(), count(found.people.len()))];
    let told = verification.distances.iter();
    let told = told.filter_map(|(path, d)| Some((path, d.set_wise?, d.pairwise?)));
    remarks.extend(told.map(|(path, set_wise, pairwise)| {
        let text = format!("{set_wise} edges to what all of a group have in common; {pairwise} pairwise");
        (format!("Distance of {path}"), text)
    }));
    let input = load::input(Whereabouts::input(file)?, policy, run)?;
    let own = input.binding.without_companions();
    let before = attack::risk(&input.data, &own, policy, &attack::Options::of(policy), run.observer)?;
    let records = verification.records;
    let gone = format!("{} of {}", count(input.data.len().saturating_sub(records)), count(input.data.len()));
    remarks.push(("Records suppressed".to_owned(), gone));
    let published = TakenApart { people: records as u64, sensitive: &found.sensitive };
    let kept = Kept::of_dissected(input.side(), published, run.observer)?.public(policy);
    Ok(Study {
        verification,
        roles: roles(policy),
        keys: keys(policy),
        attacker: attacker(policy)?,
        kept,
        before: Some(before),
        after: Some(attack::risk_apart(found, policy, run.observer)?),
        beyond: None,
        guess: None,
        loss: None,
        cuts: Vec::new(),
        levels: Vec::new(),
        advice: None,
        remarks,
    })
}

/// Writes the report that a policy asks for with its publication, from what the run has in memory.
pub(crate) fn with_publication(
    prepared: &Prepared,
    study: &Study,
    caveats: &[Diagnostic],
    certificate: Option<Certificate>,
    force: bool,
    run: &Run<'_>,
) -> Result<PathBuf> {
    let Prepared { file, target, .. } = prepared;
    let out = place(file, false);
    if let Some(folder) = out.parent().filter(|p| !p.as_os_str().is_empty()) {
        bosket_io::make_folder(folder)?;
    }
    let output = Output::create(&out, run.settings.create(force, false))?;
    let at = place_of_certificate(file, &prepared.policy, target)?.map_or(String::new(), |p| name(&p));
    let certified =
        certificate.as_ref().map(|certificate| Certified { name: &at, certificate, problems: &[] });
    places::write(output, &render(file, target, study, caveats, certified, None)?.0)?;
    Ok(out)
}

/// The certificate that was given, or the one that was written with the publication, with its name.
fn certificate(
    request: &ReportRequest,
    file: &PolicyFile,
    target: &Path,
    run: &Run<'_>,
) -> Result<Option<(PathBuf, CertificateCheck)>> {
    let place = match &request.certificate {
        Some(path) => Some(path.clone()),
        None => place_of_certificate(file, &request.policy.path, target)?.filter(|path| path.is_file()),
    };
    let Some(place) = place else { return Ok(None) };
    let (mut check, differing) = CertificateCheck::read(&place, target, Some(&file.policy), run.observer)?;
    check.differs(differing);
    Ok(Some((place, check)))
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
fn method(policy: &Policy) -> Result<Vec<(String, String)>> {
    let privacy = policy.need_privacy()?;
    let numbers = [
        ("k", privacy.k.map(f64::from)),
        ("m", privacy.m.map(f64::from)),
        ("n", privacy.n.map(f64::from)),
        ("l", privacy.l),
        ("t", privacy.t),
        ("β", privacy.beta),
        ("group size", privacy.group_size.map(f64::from)),
    ];
    let numbers = numbers.iter().filter_map(|(name, value)| Some(format!("{name} = {}", (*value)?)));
    let mut all = vec![
        ("Model".to_owned(), privacy.model.title().to_owned()),
        ("With".to_owned(), numbers.collect::<Vec<_>>().join(", ")),
    ];
    if let Some(algorithm) = &policy.method.algorithm {
        all.push(("Algorithm".to_owned(), algorithm.clone()));
    }
    if let Some(selection) = policy.source.as_ref().map(|source| &source.selection) {
        let condition = selection.text.as_ref().map(|text| format!("everybody in it meets: {text}"));
        let share = selection.sample.map(|share| format!("a sample of {} %", share * 100.0));
        let told: Vec<String> = condition.into_iter().chain(share).collect();
        all.push(("Whom it is about".to_owned(), told.join("; ")));
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
