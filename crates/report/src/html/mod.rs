//! The report: one HTML file that needs nothing else, for the person who answers for a release and for the one who
//! reads what they sign.
//!
//! The public one holds nothing but figures, the policy's paths and what is published. What is private stands in
//! [`Internal`] and goes into a file of its own.

mod annex;
mod chart;
mod guess;
mod kept;
mod legend;
mod levels;
mod private;
mod risk;
mod text;
mod tree;

use std::fmt::Write as _;

use bosket_measure::attack::{Beyond, Point};
use bosket_measure::kept::Kept;
use bosket_measure::loss::{AttributeChange, Loss};
use bosket_model::policy::Role;
use bosket_verify::{Claim, Sensitive, Verification};

pub use private::{Example, Internal};

use crate::annex::Annex;
use crate::certificate::Certificate;
use crate::study::Study;
use chart::{Bar, Part, stacked};
pub(crate) use text::percent;
use text::{count, escape, figure};

/// How reports look.
pub const STYLE: &str = include_str!("style.css");

/// What a report is made of.
pub struct Page<'a> {
    /// What the publication is called.
    pub title: &'a str,
    /// What was found out about it.
    pub study: &'a Study,
    /// How it was made, such as the model and the algorithm.
    pub method: &'a [(String, String)],
    /// What is not claimed.
    pub limits: &'a [String],
    /// The certificate, if there is one.
    pub certificate: Option<Certified<'a>>,
    /// What those who decide ask.
    pub annex: &'a Annex,
    /// What must not be published.
    pub internal: Option<Internal<'a>>,
}

/// What a report says of a certificate.
pub struct Certified<'a> {
    /// The name of its file.
    pub name: &'a str,
    /// What it says.
    pub certificate: &'a Certificate,
    /// Why it does not belong to the publication.
    pub problems: &'a [String],
}

/// Makes the report.
pub fn page(page: &Page<'_>) -> String {
    let study = page.study;
    let kind = if page.internal.is_some() { "Internal report" } else { "Publication report" };
    let mut body = format!("<p class=\"soft\">{kind}</p><h1>{}</h1>\n", escape(page.title));
    if page.internal.is_some() {
        body.push_str("<p><b>Private.</b> This report shows records of the input. Do not pass it on with the publication.</p>\n");
    }
    body.push_str(&verdict(study));
    body.push_str(&tiles(study));
    body.push_str(&published(page));
    if let Some(after) = &study.after {
        body.push_str(&risk::section(study, after));
    }
    body.push_str(&guess::section(study.guess.as_ref()));
    if let Some(loss) = &study.loss {
        body.push_str(&cost(loss));
        body.push_str(&little_left(study));
        body.push_str(&suppressed(loss, study));
    } else if !study.remarks.is_empty() {
        body.push_str("<h2>What was done</h2>\n");
        body.push_str(&list(&study.remarks));
    }
    body.push_str(&kept::section(&study.kept));
    body.push_str(&hierarchies(study));
    if let Some(certified) = page.certificate.as_ref().filter(|certified| certified.problems.is_empty()) {
        body.push_str(&legend::section(&certified.certificate.legend));
    }
    body.push_str("<h2>What this does not promise</h2>\n<ul>\n");
    for limit in page.limits {
        let _ = writeln!(body, "<li>{}</li>", escape(limit));
    }
    body.push_str("</ul>\n");
    if let Some(certificate) = &page.certificate {
        body.push_str(&certified(certificate));
    }
    body.push_str(&annex::section(page.annex));
    if let Some(internal) = &page.internal {
        body.push_str(&private::section(internal, study));
    }
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{} – {kind}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<main>\n{body}<footer>Made by Bosket {version}. Nothing in this file is loaded from elsewhere.</footer>\n\
         </main>\n</body>\n</html>\n",
        escape(page.title),
        STYLE
    )
}

fn verdict(study: &Study) -> String {
    let found = &study.verification;
    let mut wrong = Vec::new();
    if !found.left.is_empty() {
        let paths: Vec<String> = found.left.iter().map(|path| escape(path)).collect();
        wrong.push(format!("The policy removes {}, but the publication still has it.", paths.join(", ")));
    }
    wrong.extend(found.misplaced.iter().map(|m| {
        format!("{} stands on the {} side, but {}.", escape(&m.path), m.side.name(), escape(m.reason))
    }));
    if wrong.is_empty() {
        return judged(study);
    }
    let judged = if found.witness().is_some() { judged(study) } else { String::new() };
    format!(
        "<div class=\"verdict broken\"><strong>✗ Do not publish this</strong><p>{}</p></div>\n{judged}",
        wrong.join(" ")
    )
}

/// The verdict on a publication and how much of the data it holds, as a piece of a page: nothing but figures, the policy's
/// paths and the claim.
pub fn brief(found: Option<&Verification>, kept: Option<&Kept>) -> String {
    let mut body = match found.map(|found| (found.holds(), found.claim.as_ref())) {
        None | Some((_, None)) => NOTHING_CLAIMED.to_owned(),
        Some((true, Some(claim))) => holding(claim, None),
        Some((false, Some(claim))) => format!(
            "<div class=\"verdict broken\"><strong>✗ Do not publish this</strong><p>It is not true that {}.</p></div>\n",
            escape(&claim.sentence())
        ),
    };
    body.push_str(&kept.map_or(String::new(), kept::section));
    body
}

const NOTHING_CLAIMED: &str = "<div class=\"verdict broken\"><strong>No guarantee is claimed</strong>\
    <p>The publication was taken apart, but nothing limits what its parts say about people.</p></div>\n";

fn holding(claim: &Claim, beyond: Option<&Beyond>) -> String {
    let beyond = beyond.map_or(String::new(), |beyond| {
        format!("<p><b>Beyond the promise:</b> {}.</p>", escape(&beyond.sentence()))
    });
    format!(
        "<div class=\"verdict holds\"><strong>✓ The guarantee holds</strong><p>{}.</p>\
         <p>Checked on the published records themselves, for every piece of knowledge in this range, by a program \
         that shares no code with the one that made them.</p>{beyond}</div>\n",
        escape(&capitalized(&claim.sentence()))
    )
}

/// The verdict on the claim alone.
fn judged(study: &Study) -> String {
    let Some(claim) = &study.verification.claim else {
        return NOTHING_CLAIMED.to_owned();
    };
    let sentence = escape(&capitalized(&claim.sentence()));
    match study.verification.witness() {
        None => holding(claim, study.beyond.as_ref()),
        Some(witness) => {
            let mut paths: Vec<String> = witness.values.iter().map(|v| escape(&v.path)).collect();
            paths.dedup();
            let what = match &witness.sensitive {
                Some(Sensitive { path, share, in_all: Some(in_all), distance: Some(distance), .. }) => {
                    format!(
                        "Among {} {}, one value of {} has a share of {}, and of {} in all: the distance is {distance:.3}",
                        count(witness.support),
                        if study.is_apart() {
                            "people of a group"
                        } else {
                            "published records that look alike"
                        },
                        escape(path),
                        percent(*share),
                        percent(*in_all)
                    )
                }
                Some(s) => format!(
                    "Among {} {}, one value of {} has a share of {}",
                    count(witness.support),
                    if study.is_apart() { "people of a group" } else { "published records that look alike" },
                    escape(&s.path),
                    percent(s.share)
                ),
                None if study.is_anatomized() => {
                    format!("In a group only {} look alike", records(witness.support))
                }
                None if study.is_apart() && paths.is_empty() => {
                    format!("A group has only {} people", count(witness.support))
                }
                None if study.is_apart() => {
                    format!(
                        "In a group of {} people values of {} are too close",
                        count(witness.support),
                        paths.join(", ")
                    )
                }
                None => format!("Knowledge of {} fits only {}", paths.join(", "), records(witness.support)),
            };
            format!(
                "<div class=\"verdict broken\"><strong>✗ The guarantee does not hold</strong><p>Claimed was: {sentence}.</p>\
                 <p>{what}. Do not publish this.</p></div>\n"
            )
        }
    }
}

fn tile(out: &mut String, figure: &str, about: &str) {
    let _ = write!(out, "<div class=\"tile\"><b>{figure}</b><small>{}</small></div>", escape(about));
}

fn tiles(study: &Study) -> String {
    let mut out = String::from("<div class=\"tiles\">");
    let one = if study.verification.records == 1 { "record is published" } else { "records are published" };
    tile(&mut out, &count(study.verification.records), one);
    if study.verification.claim.is_some() {
        headline(&mut out, study);
    }
    if let Some(loss) = &study.loss {
        let (values, kept) = as_they_were(&loss.attributes);
        if values > 0.0 {
            tile(&mut out, &percent(kept / values), "of all values are published as they were");
        }
        if let Some(kept) = loss.relations_kept {
            tile(&mut out, &percent(kept), "of related values are still related");
        }
        if let Some(first) = loss.figures.first()
            && let Some(value) = first.value
        {
            tile(&mut out, &figure(value), &format!("loss by {}, 0 at best", first.name));
        }
    }
    out.push_str("</div>\n");
    out
}

/// What attackers find before and after, the worst where the policy names several; of these also with one value more.
fn headline(out: &mut String, study: &Study) {
    let mut both = |before: &Point, after: &Point, of: fn(&Point) -> f64, about: &str| {
        tile(out, &format!("{} → {}", percent(of(before)), percent(of(after))), about);
    };
    let (Some(before), Some(after)) = study.claimed() else { return };
    let narrowed = |k: u32| format!("of all people can be narrowed down to fewer than {k}");
    if let Some((Some(old), new)) = study.worst_attacker() {
        let who = match &new.name {
            Some(name) => format!("the attacker `{name}`, who finds most"),
            None => format!("whoever knows {}", new.knows),
        };
        let about = format!("{} by {who}: before → after", narrowed(new.k));
        both(before, after, |p| p.below_k.value, &about);
        let about =
            "of all people are found alone by the same with one value more than promised: before → after";
        both(&old.one_more, &new.one_more, |p| p.unique.value, about);
        return;
    }
    let k = study.after.as_ref().map_or(0, |risk| risk.k);
    let about = if study.is_apart() && !study.is_anatomized() {
        format!("of all people have their sensitive values among those of fewer than {k}: before → after")
    } else {
        format!("{}: before → after", narrowed(k))
    };
    both(before, after, |p| p.below_k.value, &about);
}

/// How many values there are, and how many are kept.
fn as_they_were(attributes: &[AttributeChange]) -> (f64, f64) {
    let told = attributes.iter().filter_map(|a| Some((a.values as f64, a.kept?)));
    told.fold((0.0, 0.0), |(all, kept), (values, share)| (all + values, kept + values * share))
}

fn list(entries: &[(String, String)]) -> String {
    let mut out = String::from("<dl>");
    for (name, text) in entries {
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(text));
    }
    out.push_str("</dl>\n");
    out
}

fn published(page: &Page<'_>) -> String {
    let mut out = String::from("<h2>What was published</h2>\n");
    let mut entries = page.method.to_vec();
    for (role, paths) in &page.study.roles {
        let name = match role {
            Role::Identifying => "Removed, since it identifies people",
            Role::Quasi if page.study.is_anatomized() => {
                "Could be known to an attacker, and is protected; apart from sensitive values"
            }
            Role::Quasi if page.study.is_apart() => {
                "Could be known to an attacker, published as it is; only its link to sensitive values is hidden"
            }
            Role::Quasi => "Could be known to an attacker, and is protected",
            Role::Sensitive => "Sensitive, published as it is",
            Role::Insensitive => "Published as it is",
            Role::Key => continue,
            Role::Drop => "Left out by choice",
            Role::Pseudonym => "Published as a code that is the same in every release; not anonymity",
        };
        entries.push((name.to_owned(), paths.join(", ")));
    }
    entries.extend(page.study.keys.iter().map(|(name, paths)| ((*name).to_owned(), paths.join(", "))));
    out.push_str(&list(&entries));
    out
}

fn cost(loss: &Loss) -> String {
    let mut out = String::from("<h2>What it cost</h2>\n");
    let bars: Vec<Bar<'_>> = (loss.attributes.iter())
        .filter_map(|a| {
            let parts = [("kept", a.kept?), ("generalized", a.generalized?), ("gone", a.left_out?)];
            let parts = parts.map(|(class, share)| Part::new(class, share)).into();
            Some(Bar { name: a.path.clone(), parts })
        })
        .collect();
    if !bars.is_empty() {
        out.push_str(
            "<figure><figcaption>What became of the values of each attribute</figcaption>\
             <ul class=\"key\"><li><i class=\"after\"></i>as they were</li>\
             <li><i class=\"middle\"></i>more general</li>\
             <li><i class=\"gone\"></i>not published</li></ul>",
        );
        out.push_str(&stacked("loss", "What became of the values of each attribute", &bars));
        out.push_str("</figure>\n");
    }
    out.push_str(
        "<div class=\"scroll\"><table><thead><tr><th>attribute</th><th class=\"n\">values in</th><th class=\"n\">out</th>\
         <th class=\"n\">as they were</th><th class=\"n\">more general</th><th class=\"n\">not published</th>\
         <th class=\"n\">loss</th></tr></thead><tbody>",
    );
    let share = |share: Option<f64>| share.map_or("–".to_owned(), percent);
    for a in &loss.attributes {
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&a.path),
            count(a.distinct),
            count(a.published),
            share(a.kept),
            share(a.generalized),
            share(a.left_out),
            a.loss.map_or("–".to_owned(), figure)
        );
    }
    out.push_str("</tbody></table></div>\n");
    out.push_str(
        "<p class=\"soft\">“Values in” and “out” are different values before and after. Loss is the share of detail lost \
         per value, from 0 (nothing) to 1 (everything).</p>\n",
    );
    if loss.attributes.iter().any(|a| a.left_out.is_none() || a.loss.is_none()) {
        out.push_str("<p class=\"soft\">–: cannot be told without a mapping that says which record became which.</p>\n");
    }
    out.push_str(
        "<div class=\"scroll\"><table><thead><tr><th>figure</th><th class=\"n\">value</th><th>what it says</th></tr></thead><tbody>",
    );
    for f in &loss.figures {
        let _ = write!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            escape(f.name),
            f.value.map_or("not computed".to_owned(), figure),
            escape(f.about)
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// What forces attributes to say nothing, and what would help.
fn little_left(study: &Study) -> String {
    let Some(advice) = &study.advice else { return String::new() };
    let mut out = String::from("<h2>Where little is left</h2>\n<ul>\n");
    for line in advice.lines() {
        let _ = writeln!(out, "<li>{}</li>", escape(&line));
    }
    out.push_str("</ul>\n");
    out
}

fn suppressed(loss: &Loss, study: &Study) -> String {
    let mut entries = Vec::new();
    let gone = loss.records.saturating_sub(loss.published_records);
    let records = format!("{} of {}", count(gone), count(loss.records));
    entries.push(("Records".to_owned(), records));
    let left = |a: &AttributeChange| a.left_out.map(|share| share * a.values as f64);
    let told: Vec<f64> = loss.attributes.iter().filter_map(left).collect();
    if told.len() == loss.attributes.len() {
        let all: u64 = loss.attributes.iter().map(|a| a.values).sum();
        let gone = told.iter().sum::<f64>().round();
        entries.push(("Values".to_owned(), format!("{} of {}", count(gone as usize), count(all as usize))));
    }
    if let Some(kept) = loss.relations_kept {
        let apart = text::percent(1.0 - kept).replace("&lt;", "<").replace("&gt;", ">");
        entries.push(("Relations between values".to_owned(), apart));
    }
    entries.extend(study.remarks.iter().cloned());
    format!("<h2>What was suppressed</h2>\n{}", list(&entries))
}

fn hierarchies(study: &Study) -> String {
    if study.cuts.is_empty() && study.levels.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h2>Hierarchies and what is published of them</h2>\n");
    out.push_str(&levels::section(&study.levels));
    if study.cuts.is_empty() {
        return out;
    }
    out.push_str(
        "<ul class=\"key\">\
         <li><span class=\"node published\">published</span>, and how often</li>\
         <li><span class=\"node\">more general than that</span></li></ul>\n<div class=\"two\">\n",
    );
    study.cuts.iter().for_each(|cut| out.push_str(&tree::cut(cut)));
    out.push_str("</div>\n");
    out
}

fn certified(certified: &Certified<'_>) -> String {
    let certificate = certified.certificate;
    if !certified.problems.is_empty() {
        let mut out = format!(
            "<h2>Certificate</h2>\n<p><b><code>{}</code> does not belong to this publication:</b></p><ul>",
            escape(certified.name)
        );
        for problem in certified.problems {
            let _ = write!(out, "<li>{}</li>", escape(problem));
        }
        out.push_str("</ul>\n");
        return out;
    }
    let mut out = format!(
        "<h2>Certificate</h2>\n<p>Whoever has the publication and <code>{0}</code> can check both again: \
         <code>bosket verify PUBLICATION --certificate {0}</code></p>\n<dl><dt>Digest</dt><dd class=\"hash\">{1}</dd>",
        escape(certified.name),
        escape(&certificate.digest)
    );
    for file in &certificate.files {
        let _ =
            write!(out, "<dt>{}</dt><dd class=\"hash\">{}</dd>", escape(&file.name), escape(&file.sha256));
    }
    out.push_str("</dl>\n");
    out
}

fn records(number: usize) -> String {
    if number == 1 { "one record".to_owned() } else { format!("{} records", count(number)) }
}

fn capitalized(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
