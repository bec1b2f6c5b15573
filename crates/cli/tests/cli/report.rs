//! `bosket report`: what is in it, what must not be, and how it looks in a browser.

use std::path::Path;
use std::process::Command;

use crate::util::{Dir, Output};

/// A published clinic with its report and its internal report.
fn reported() -> Dir {
    let dir = Dir::new();
    for args in [
        &["generate", "clinic", "--people", "400", "--out", "."][..],
        &["anonymize", "policy.toml"],
        &["report", "policy.toml", "--internal"],
    ] {
        let Output { code, stderr, .. } = dir.run(args);
        assert_eq!(code, Some(0), "{args:?}: {stderr}");
    }
    dir
}

#[test]
fn the_public_report_says_everything_but_private_values() {
    let dir = reported();
    let html = dir.text("report.html");
    for expected in [
        "The guarantee holds",
        "finds at least 5 people who fit",
        "Risk before and after",
        "prosecutor",
        "journalist",
        "What it cost",
        "What was suppressed",
        "Hierarchies and what is published of them",
        "At which level the values of each attribute are published",
        "<th class=\"n\">level 1</th>",
        "What this does not promise",
        "composition",
        "published.ndjson.certificate.json",
        "visits[].hospital",
    ] {
        assert!(html.contains(expected), "{expected}");
    }
    assert!(!html.contains("<script") && !html.contains("http://") && !html.contains("https://"));
    // Names and numbers of patients are in the input only, and so are towns once they are published by region.
    let published = dir.text("published.ndjson");
    for private in ["P0000001", "Linde", "Saltmarsh"] {
        assert!(dir.text("data.ndjson").contains(private) && !published.contains(private), "{private}");
        assert!(!html.contains(private), "{private}");
    }
}

#[test]
fn the_internal_report_is_private_and_shows_records() {
    use std::os::unix::fs::PermissionsExt;
    let dir = reported();
    let html = dir.text("private/report.html");
    let mode = std::fs::metadata(dir.path("private/report.html")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(html.matches("before and after</h3>").count(), 3);
    for expected in ["Worst cases before", "<del>", "Hierarchies with the values of the input", "Private."] {
        assert!(html.contains(expected), "{expected}");
    }
}

#[test]
fn a_report_is_not_replaced_without_force() {
    let dir = reported();
    let again = dir.run(&["report", "policy.toml"]);
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
    assert_eq!(dir.run(&["report", "policy.toml", "--force"]).code, Some(0));
    // A run that could not write its report afterwards does not begin.
    std::fs::remove_file(dir.path("published.ndjson")).expect("a file");
    let run = dir.run(&["anonymize", "policy.toml"]);
    assert_ne!(run.code, Some(0));
    assert!(!dir.path("published.ndjson").exists());
}

#[test]
fn a_report_on_a_broken_promise_says_so() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "clinic", "--people", "300", "--out", "."]).code, Some(0));
    let report = dir.run(&["report", "policy.toml", "--publication", "data.ndjson", "--out", "raw.html"]);
    assert_eq!(report.code, Some(1), "{}", report.stderr);
    assert!(dir.text("raw.html").contains("The guarantee does not hold"));
}

#[test]
fn a_report_said_that_it_holds_while_names_were_still_there() {
    let dir = reported();
    let named = dir.text("published.ndjson").replace("{\"gender\"", "{\"name\":\"Ada\",\"gender\"");
    assert!(named.contains("Ada"));
    dir.write("named.ndjson", named);
    let run = dir.run(&["report", "policy.toml", "--publication", "named.ndjson", "--out", "n.html"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let html = dir.text("n.html");
    assert!(html.contains("Do not publish this") && !html.contains("The guarantee holds"));
}

#[test]
fn a_report_showed_a_certificate_that_did_not_belong_to_the_publication() {
    let dir = reported();
    let text = dir.text("published.ndjson");
    let first = text.lines().next().expect("a record");
    dir.write("published.ndjson", format!("{text}{first}\n").replacen(&format!("{first}\n"), "", 1));
    let run = dir.run(&["report", "policy.toml", "--force"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(dir.text("report.html").contains("does not belong to this publication"));
}

#[test]
fn a_report_replaced_what_it_was_made_from() {
    let dir = reported();
    for out in
        ["data.ndjson", "published.ndjson", "policy.toml", "hierarchies/town.csv", "private/mapping.json"]
    {
        let before = dir.text(out);
        let run = dir.run(&["report", "policy.toml", "--force", "--out", out]);
        assert_eq!(run.code, Some(2), "{out}: {}", run.stderr);
        assert_eq!(dir.text(out), before, "{out}");
    }
}

#[test]
fn a_mapping_that_leaves_records_out_is_refused() {
    let dir = reported();
    for mapping in ["", "1,2\n", "1,1\n1,2\n", "1,9999\n"] {
        dir.write("m.csv", mapping);
        let run = dir.run(&["report", "policy.toml", "--internal", "--mapping", "m.csv", "--force"]);
        assert_eq!(run.code, Some(3), "{mapping}: {}", run.stderr);
        assert!(run.stderr.contains("the mapping"), "{}", run.stderr);
    }
}

#[test]
fn reports_are_the_same_whatever_the_number_of_threads() {
    let dir = reported();
    for threads in ["1", "2"] {
        let out = format!("{threads}.html");
        let run = dir.run(&["report", "policy.toml", "--out", &out, "--threads", threads]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }
    assert_eq!(dir.text("1.html"), dir.text("2.html"));
}

#[test]
fn a_dissected_publication_has_a_report() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "sensitive-tree", "--out", "."]).code, Some(0));
    let run = dir.run(&["anonymize", "policy.toml", "--set", "publish.report=\"report.html\""]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let html = dir.text("report.html");
    assert!(!html.contains("and is protected"));
    for expected in [
        "The guarantee holds",
        "Records suppressed",
        "only its link",
        "Distance of",
        "confidence",
        "deFinetti",
    ] {
        assert!(html.contains(expected), "{expected}");
    }
}

#[test]
fn a_dissection_that_breaks_its_promise_has_a_whole_sentence() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "sensitive-tree", "--out", "."]).code, Some(0));
    let run = dir.run(&["anonymize", "policy.toml"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let run = dir.run(&["report", "policy.toml", "--set", "privacy.group_size=40", "--out", "r.html"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let html = dir.text("r.html");
    assert!(html.contains("A group has only") && !html.contains("Knowledge of  fits"), "{html}");
}

/// What a browser finds wrong with a page at a width: what sticks out, pictures without words, figures it lacks.
const LOOK: &str = r#"<!doctype html><meta charset="utf-8"><body><pre id="found">not looked</pre><script>
const pages = PAGES, widths = [390, 1440], found = [];
let left = pages.length * widths.length;
for (const page of pages) for (const width of widths) {
  const frame = document.createElement('iframe');
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  frame.onload = () => {
    const doc = frame.contentDocument, at = `${page} at ${width}: `;
    if (doc.documentElement.scrollWidth > width) found.push(at + 'scrolls to ' + doc.documentElement.scrollWidth);
    for (const e of doc.querySelectorAll('body *')) {
      if (e.closest('.scroll') && !e.classList.contains('scroll')) continue;
      const box = e.getBoundingClientRect();
      if (box.right > width + 1 || box.left < -1) found.push(at + e.tagName + ' sticks out: ' + e.textContent.slice(0, 40));
    }
    for (const e of doc.querySelectorAll('dd, dt, p, li, td, small, figcaption, summary')) {
      if (e.textContent.length > 8 && e.getBoundingClientRect().width < 50) found.push(at + 'squeezed: ' + e.textContent.slice(0, 40));
    }
    for (const s of doc.querySelectorAll('svg.chart')) {
      for (const name of ['title', 'desc']) if (!s.querySelector(name)?.textContent) found.push(at + 'picture without ' + name);
      const view = s.viewBox.baseVal.width;
      for (const t of s.querySelectorAll('text')) {
        const box = t.getBBox();
        if (box.x + box.width > view + 1 || box.x < -1) found.push(at + 'text leaves its picture: ' + t.textContent);
      }
      if (s.getBoundingClientRect().height < 40) found.push(at + 'a picture without height');
    }
    for (const id of ['fits-t', 'curve-t', 'loss-t']) if (!doc.getElementById(id)) found.push(at + 'no ' + id);
    if (doc.querySelectorAll('ul.tree').length < 7) found.push(at + 'hierarchies are missing');
    if (--left === 0) document.getElementById('found').textContent = found.length ? found.join('\n') : 'all is well';
  };
  frame.src = page;
  document.body.append(frame);
}
</script>"#;

#[test]
fn a_browser_shows_reports_without_overflow_or_complaint() {
    let Some(browser) =
        ["/usr/bin/chromium", "/usr/bin/chromium-browser"].into_iter().find(|p| Path::new(p).exists())
    else {
        eprintln!("skipped: there is no Chromium; scripts/test.sh installs it");
        return;
    };
    let dir = reported();
    dir.write("look.html", LOOK.replace("PAGES", r#"["report.html", "private/report.html"]"#));
    let profile = dir.path("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--allow-file-access-from-files", "--enable-logging=stderr", "--virtual-time-budget=20000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", dir.path("look.html").display()))
        .output()
        .expect("Chromium starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let found = dom.split("<pre id=\"found\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    assert_eq!(found, Some("all is well"), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stderr);
    let complaints: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}

/// What those who decide have written down.
const TERMS: &str = r#"
[release]
recipient = "the <b>regional</b> registry"
purpose = "how often wards are visited"
access = "contract"
controls = ["no copies", "deleted after two years"]
accepted_risk = 0.2
decided_by = "the data protection board"
reviewed_on = 2026-11-01
approvers = ["A. Acker", "B. Bach"]
"#;

#[test]
fn the_annex_answers_what_was_filled_in_and_shows_what_was_not() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "400", "--out", "."]).exits(0);
    let policy = dir.text("policy.toml");
    dir.run(&["anonymize", "policy.toml"]).exits(0);
    let bare = dir.text("report.html");
    let annex = bare.split("id=\"annex\"").nth(1).expect("an annex");
    assert!(annex.contains("Nobody has said which risk was agreed"));
    // Eight questions and the agreed risk of every figure; the clauses 6.2.3 and 9; expert, recipient, why it is small.
    let empty = annex.matches("<span class=\"empty\">not filled in</span>").count();
    assert!(empty >= 8 + 2 + 3, "{empty}");
    let why = "path = \"birth_year\"\nwhy = \"the register of voters has it\"";
    let filled = policy.replace("path = \"birth_year\"", why) + TERMS;
    assert!(filled.contains(why), "{policy}");
    dir.write("policy.toml", filled);
    dir.run(&["report", "policy.toml", "--force"]).exits(0);
    let html = dir.text("report.html");
    let annex = html.split("id=\"annex\"").nth(1).expect("an annex");
    for expected in [
        "the &lt;b&gt;regional&lt;/b&gt; registry",
        "no copies; deleted after two years",
        "A. Acker; B. Bach",
        "the register of voters has it",
        "Agreed was 20 %; no figure within the guarantee is more",
        "not more than agreed",
        "Singling out",
        "Linkability",
        "Inference",
        "WP 216",
        "6.2.3 Motives and capacity to re-identify",
        "7.2 Data features",
        "7.3.2 Maximum or average risk",
        "7.3.3 Population or sample-based attack",
        "7.3.4 Data privacy models",
        "8.2 Assessing identifiability",
        "8.3 Mitigation",
        "9 De-identification governance",
        "45 CFR 164.514(b)(1)",
        "finds at least 5 people who fit",
        "the expert, and what makes them one",
    ] {
        assert!(annex.contains(expected), "{expected}\n{annex}");
    }
    for table in annex.split("<h3>").skip(1) {
        let meaning = table.split("<p>").nth(1).and_then(|p| p.split("</p>").next()).unwrap_or_default();
        assert!(meaning.len() > 60 && meaning.ends_with('.'), "{table}");
    }
    for claim in ["compliant", "complies", "compliance", "certified by"] {
        assert!(!annex.to_lowercase().contains(claim), "{claim}");
    }
    // Nothing of it is in the certificate, which was written before and still fits.
    dir.run(&[
        "verify",
        "published.ndjson",
        "--certificate",
        "published.ndjson.certificate.json",
        "--policy",
        "policy.toml",
    ])
    .exits(0);
    assert!(!dir.text("published.ndjson.certificate.json").contains("Acker"));
    // A risk that was not agreed is said so.
    dir.run(&["report", "policy.toml", "--force", "--set", "release.accepted_risk=0.01"]).exits(0);
    let html = dir.text("report.html");
    assert!(html.contains("<td class=\"more\">MORE than agreed</td>"));
    assert!(html.contains("of the figures within the guarantee 2 are more"));
}

#[test]
fn what_the_certificate_shows_of_the_terms_is_what_was_asked_for() {
    let dir = Dir::new();
    dir.run(&["generate", "clinic", "--people", "300", "--out", "."]).exits(0);
    let policy =
        dir.text("policy.toml").replace("path = \"gender\"", "path = \"gender\"\nwhy = \"seen by all\"");
    dir.write("policy.toml", format!("{policy}{TERMS}"));
    let run = ["anonymize", "policy.toml", "--force"];
    dir.run(&run).exits(0);
    let told = dir.certified("published.ndjson", "published.ndjson.certificate.json");
    assert_eq!(told["policy"].get("release"), None);
    assert!(!told.to_string().contains("seen by all"));
    dir.run(&[&run[..], &["--set", "release.certify=[\"access\", \"purpose\", \"why\"]"]].concat()).exits(0);
    let told = dir.certified("published.ndjson", "published.ndjson.certificate.json");
    let shown = serde_json::json!({"access": "contract", "certify": ["access", "purpose", "why"], "purpose": "how often wards are visited"});
    assert_eq!(told["policy"]["release"], shown);
    assert!(told.to_string().contains("seen by all") && !told.to_string().contains("Acker"));
}

/// A neighbour who knows the whole card of a person, besides whoever knows any two values.
const NEIGHBOUR: &str =
    "\n[[privacy.attacker]]\nname = \"neighbour\"\nknows = [\"gender\", \"birth_year\", \"home.town\"]\n";

#[test]
fn a_report_told_of_the_friendliest_attacker() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["generate", "clinic", "--people", "400", "--out", "."]).code, Some(0));
    dir.forget_attackers("policy.toml");
    let policy = dir.text("policy.toml").replace("\n[method]", &format!("{NEIGHBOUR}\n[method]"));
    let policy = policy.replace("m = 2\nn = 1", "m = 1\nn = 0");
    dir.write("policy.toml", policy);
    // A publication for the weaker promise alone: the neighbour finds people in it.
    dir.write("weak.toml", dir.text("policy.toml").replace(NEIGHBOUR, ""));
    let made = dir.run(&["anonymize", "weak.toml"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let run = dir.run(&["report", "policy.toml", "--publication", "published.ndjson", "--out", "told.html"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let html = dir.text("told.html");
    for expected in [
        "by the attacker `neighbour`, who finds most",
        "found alone by the same with one value more than promised",
        "neighbour: knows gender, birth_year and home.town; fewer than 5",
        "nobody in particular: knows one value; fewer than 5",
        "the attacker `neighbour`, who knows gender, birth_year and home.town",
    ] {
        assert!(html.contains(expected), "{expected}");
    }
    // Beside a verdict that holds stands what one value more would tell.
    let html = dir.text("report.html");
    let beside = html.split("The guarantee holds").nth(1).expect("it holds");
    let beside = &beside[..beside.find("</div>").expect("an end")];
    assert!(
        beside.contains("Beyond the promise:") && beside.contains("one value more would find"),
        "{beside}"
    );
}
