//! `bosket report`: one HTML file about a publication, for the people who answer for it.

use std::io::Write;
use std::path::{Path, PathBuf};

use bosket_io::{Create, Output, PolicyFile, Whereabouts, publication};
use bosket_measure::loss::Side;
use bosket_model::Failure;
use bosket_model::binding::Binding;
use bosket_model::policy::{Model, Policy};
use bosket_report::certificate::{Certificate, not_claimed};
use bosket_report::cut::cuts;
use bosket_report::html::{Certified, Example, Internal, Page, page};
use bosket_report::study::{Study, Subject};

use crate::Outcome;
use crate::args::Report;
use crate::commands::both::{self, Both, Places};
use crate::commands::certificate::place as place_of_certificate;
use crate::load;
use crate::output::print;
use crate::talk::Talk;

pub fn run(args: &Report, talk: &Talk) -> Result<Outcome, Failure> {
    let file = load::policy(&args.policy, &args.sets, talk)?;
    let target = match &args.publication {
        Some(path) => path.clone(),
        None => publication::target(&file)?,
    };
    let out = args.out.clone().unwrap_or_else(|| place(&file, args.internal));
    let create = Create { force: args.force, private: args.internal };
    if let Some(folder) = out.parent().filter(|_| args.internal) {
        bosket_io::make_folder(folder)?;
    }
    let mut output = Output::create(&out, create)?;
    let input = Whereabouts::input(&file)?;
    let source = input.name();
    let mapping = args.mapping.as_deref();
    let places = Places { input, publication: &target, mapping, show_values: false };
    let both = both::open(&file, places, talk)?;
    let subject = Subject {
        policy: &file.policy,
        input: both.input.side(),
        published: both.published.side(),
        hierarchies: &both.hierarchies,
        mapping: both.mapping.as_deref(),
        memory: args.memory,
    };
    let study = Study::new(&subject, talk)?;
    talk.quiet();
    let internal = args.internal.then(|| internal(&both, &study, &source));
    let certificate = certificate(args, &file, &target)?;
    let html = page(&Page {
        title: &title(&target),
        study: &study,
        method: &method(&file.policy)?,
        limits: &limits(&file.policy, &study, &both.published.binding),
        certificate: certificate.as_ref().map(|(name, certificate)| Certified { name, certificate }),
        internal,
    });
    output.write_all(html.as_bytes()).map_err(bosket_io::write_failure)?;
    output.finish()?;
    print(&format!("wrote the report to {}\n", out.display()))?;
    if study.holds() {
        return Ok(Outcome::Done);
    }
    talk.line("the publication does not keep its promise; the report says so");
    Ok(Outcome::Violated)
}

/// The certificate that was given, or the one that was written with the publication.
fn certificate(
    args: &Report,
    file: &PolicyFile,
    target: &Path,
) -> Result<Option<(String, Certificate)>, Failure> {
    let place = match &args.certificate {
        Some(path) => Some(path.clone()),
        None => place_of_certificate(file, &args.policy, target)?.filter(|path| path.is_file()),
    };
    let Some(place) = place else { return Ok(None) };
    let read = Certificate::read(&bosket_io::read_text(&place)?)?;
    Ok(Some((title(&place), read)))
}

/// What is not claimed.
pub(super) fn limits(policy: &Policy, study: &Study, binding: &Binding) -> Vec<String> {
    let claim = study.claim.as_ref();
    not_claimed(policy, claim, &claim.map_or(Vec::new(), |c| c.caveats(binding)))
}

/// Where a report goes if nobody says so.
fn place(file: &PolicyFile, internal: bool) -> PathBuf {
    if internal {
        return file.resolve("private/report.html");
    }
    let named = file.policy.publish.as_ref().and_then(|p| p.report.as_deref());
    file.resolve(named.unwrap_or("report.html"))
}

/// What a publication is called: its file's name, never where it lies.
pub(super) fn title(target: &Path) -> String {
    target.file_name().map_or_else(|| "Publication".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// How a publication was made.
pub(super) fn method(policy: &Policy) -> Result<Vec<(String, String)>, Failure> {
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
    let (input, published) = (both.input.side(), both.published.side());
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
