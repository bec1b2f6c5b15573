//! `bosket inspect`

use std::path::{Component, Path, PathBuf};

use bosket_io::xml::apart::infer;
use bosket_io::{Create, Input, Output};
use bosket_measure::inspect::{
    AttributeProfile, Origin, Profile, Suggestion, apply_preset, draft_policy, suggest,
};
use bosket_model::policy::{Format, Policy, draft};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, MISSING};
use serde_json::{Value, json};
use std::io::Write;

use crate::Outcome;
use crate::args::Inspect;
use crate::commands::look::{self, Looked};
use crate::output::{count, print, print_json};
use crate::talk::Talk;

/// Values shown per attribute.
const SHOWN: usize = 5;

pub fn run(args: &Inspect, talk: &Talk) -> Result<Outcome, Failure> {
    if let Some(file) = &args.xsd {
        return write_xsd(args, file);
    }
    let loaded = look::look(args, talk)?;
    let profile = Profile::new(&loaded.data, talk)?;
    talk.quiet();
    let mut suggestions = suggest(&profile, &loaded.data, talk)?;
    loaded.mark_references(&profile, &mut suggestions);
    let dropped = match &args.preset {
        Some(_) => apply_preset(&profile, &loaded.data, &mut suggestions),
        None => Vec::new(),
    };
    if let Some(file) = &args.draft {
        write_draft(args, file, &loaded, &profile, &suggestions, &dropped)?;
    }
    if args.json {
        print_json(&to_json(args, &loaded, &profile, &suggestions))?;
    } else {
        print(&table(args, &loaded, &profile, &suggestions))?;
    }
    if let Some(file) = args.draft.as_deref().filter(|f| *f != Path::new("-")) {
        talk.line(&format!("wrote {}: go through the roles, then `bosket policy check {0}`", file.display()));
    }
    Ok(Outcome::Done)
}

/// Writes the schema that an XML document shows.
fn write_xsd(args: &Inspect, file: &Path) -> Result<Outcome, Failure> {
    let schema = infer(&mut Input::open(&args.data)?)?;
    let mut out = Output::create(file, Create { force: args.force, private: false })?;
    let text = schema.to_xsd().unwrap_or_default();
    out.write_all(text.as_bytes()).map_err(bosket_io::write_failure)?;
    out.finish()?;
    Ok(Outcome::Done)
}

fn write_draft(
    args: &Inspect,
    file: &Path,
    loaded: &Looked,
    profile: &Profile,
    suggestions: &[Suggestion],
    dropped: &[AttributeId],
) -> Result<(), Failure> {
    let format = loaded.policy_format().ok_or_else(|| {
        Failure::new(
            Fault::Usage,
            Diagnostic::error(format!("no policy can name the format `{}`", loaded.format)),
        )
    })?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let origin = Origin {
        format,
        path: seen_from(folder, &args.data),
        record: loaded.record.clone(),
        separator: loaded.separator.clone(),
    };
    let mut policy = draft_policy(profile, suggestions, &origin);
    policy.dropped = dropped.iter().map(|id| profile.attributes[id.index()].path.clone()).collect();
    policy.attributes.retain(|a| !policy.dropped.contains(&a.path));
    if args.preset.is_some() {
        let order: Vec<String> = policy.attributes.iter().map(|a| a.path.clone()).collect();
        let place = |path: &str| order.iter().position(|p| p == path);
        policy
            .attributes
            .sort_by_key(|a| (place(a.follows.as_ref().unwrap_or(&a.path)), a.follows.is_some()));
    }
    if let Some(found) = &loaded.tables {
        policy.tables = found.linked.tables.clone();
        for path in policy.tables.iter_mut().filter_map(|t| t.path.as_mut()) {
            *path = seen_from(folder, Path::new(path));
        }
        if matches!(format, Format::Csv | Format::Parquet) {
            policy.source_path.clear();
            "published".clone_into(&mut policy.publish_path);
        }
    }
    let text = draft(&policy);
    debug_assert!(Policy::parse("draft", &text, &[]).is_ok());
    let mut out = Output::create(file, Create { force: args.force, private: false })?;
    out.write_all(text.as_bytes()).map_err(bosket_io::write_failure)?;
    out.finish()
}

/// A path as a policy in `folder` would write it.
fn seen_from(folder: &Path, path: &Path) -> String {
    // An empty folder is the current one; only `absolute` does not think so.
    let absolute = |p: &Path| std::path::absolute(Path::new(".").join(p)).unwrap_or_else(|_| p.to_owned());
    if path == Path::new("-") {
        return "-".to_owned();
    }
    let (from, to) = (absolute(folder), absolute(path));
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut relative = PathBuf::new();
    relative.extend(from[common..].iter().map(|_| Component::ParentDir));
    relative.extend(&to[common..]);
    relative.to_string_lossy().into_owned()
}

/// The most frequent values of an attribute, with how often they occur.
fn frequent(data: &Dataset, attribute: &AttributeProfile) -> Vec<(String, usize)> {
    let dictionary = data.dictionary(attribute.id);
    let mut counts = vec![0usize; dictionary.len()];
    for v in (0..data.vertex_count()).filter(|&v| data.class(v) == attribute.class) {
        let code = data.value(v, attribute.id);
        if code != MISSING {
            counts[code as usize] += 1;
        }
    }
    let mut order: Vec<u32> = (0..dictionary.len() as u32).collect();
    order.sort_by_key(|&c| (std::cmp::Reverse(counts[c as usize]), dictionary.text(c)));
    order.iter().take(SHOWN).map(|&c| (dictionary.text(c).to_owned(), counts[c as usize])).collect()
}

fn to_json(args: &Inspect, loaded: &Looked, profile: &Profile, suggestions: &[Suggestion]) -> Value {
    let attributes: Vec<Value> = (profile.attributes.iter().zip(suggestions))
        .map(|(a, s)| {
            let mut out = json!({
                "path": a.path,
                "type": a.value_type.name(),
                "present": a.present,
                "missing": a.missing(),
                "records_without": a.records_without(),
                "distinct": a.distinct,
                "unique_values": a.unique_values,
                "uniqueness": a.uniqueness(),
                "max_per_record": a.max_per_record,
                "role": s.role.name(),
                "reason": s.reason,
                "hierarchy": s.hierarchy.as_ref().map(|h| h.toml()),
                "follows": s.follows.map(|f| &profile.attributes[f.index()].path),
            });
            if args.show_values {
                out["values"] =
                    frequent(&loaded.data, a).iter().map(|(v, n)| json!({"value": v, "count": n})).collect();
            }
            out
        })
        .collect();
    let classes: Vec<Value> = (profile.classes.iter())
        .map(|c| json!({"path": c.path, "vertices": c.vertices, "records": c.records, "max_per_record": c.max_per_record}))
        .collect();
    let mut out = json!({
        "format": loaded.format,
        "records": profile.records,
        "vertices": profile.vertices,
        "classes": classes,
        "attributes": attributes,
    });
    if let Some(found) = &loaded.tables {
        out["linked"] = found.to_json();
    }
    out
}

fn percent(share: f64) -> String {
    match share {
        0.0 => "-".to_owned(),
        s if s < 0.001 => "<0.1%".to_owned(),
        s if s > 0.999 && s < 1.0 => ">99.9%".to_owned(),
        s => format!("{:.1}%", s * 100.0),
    }
}

fn table(args: &Inspect, loaded: &Looked, profile: &Profile, suggestions: &[Suggestion]) -> String {
    let mut out = look::headline(loaded, profile);
    if let Some(found) = &loaded.tables {
        out.push_str(&found.describe());
    }
    out.push('\n');
    let header =
        ["attribute", "type", "distinct", "singles out", "missing", "role", "why"].map(str::to_owned);
    let mut rows = vec![header];
    for (a, s) in profile.attributes.iter().zip(suggestions) {
        let follows =
            s.follows.map_or(String::new(), |f| format!("; follows {}", profile.attributes[f.index()].path));
        rows.push([
            a.path.clone(),
            a.value_type.to_string(),
            count(a.distinct),
            percent(a.uniqueness()),
            percent(a.missing()),
            s.role.to_string(),
            format!("{}{follows}", s.reason),
        ]);
    }
    let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    for (i, row) in rows.iter().enumerate() {
        let [path, kind, distinct, unique, missing, role, why] = row;
        out.push_str(&format!(
            "{path:w0$}  {kind:w1$}  {distinct:>w2$}  {unique:>w3$}  {missing:>w4$}  {role:w5$}  {why}\n",
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3],
            w4 = widths[4],
            w5 = widths[5],
        ));
        if args.show_values && i > 0 {
            let values = frequent(&loaded.data, &profile.attributes[i - 1]);
            let values: Vec<String> = values.iter().map(|(v, n)| format!("{v:?} ×{}", count(*n))).collect();
            out.push_str(&format!("    {}\n", values.join(", ")));
        }
    }
    out.push_str("\nsingles out: records that have a value of this attribute which no other record has\n");
    out
}
