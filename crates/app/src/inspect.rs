//! What a dataset holds, which roles its attributes may have, and a policy to begin with.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use bosket_io::tables::is_address;
use bosket_io::xml::apart::infer;
use bosket_io::{Frames, Input, Output};
use bosket_measure::inspect::{
    AttributeProfile, ClassProfile, Origin, Profile, Suggestion, apply_preset, draft_policy, fit_paths,
    suggest, take_levels,
};
use bosket_model::observe::Observer;
use bosket_model::policy::{Draft, Format, draft, wrapped};
use bosket_model::words::plural;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Result};
use serde_json::{Value, json};

use crate::attack::{Attacked, raw};
use crate::drafted;
use crate::load::Reading;
use crate::look::{Looked, look};
use crate::places;
use crate::run::{Run, Settings, run};
use crate::warned::Warned;

/// Values told per attribute.
const SHOWN: usize = 5;

/// What is to be looked at.
#[derive(Clone, Debug, Default)]
pub struct InspectRequest {
    /// The dataset: a file, a folder, a database.
    pub data: PathBuf,
    /// What stands in memory in its place.
    pub frames: Option<Frames>,
    /// How to read it.
    pub reading: Reading,
    /// Foreign keys, as `TABLE.COLUMN`, by which tables hang below others.
    pub parent: Vec<String>,
    /// A standard whose roles are known.
    pub preset: Option<String>,
    /// Where to write a draft policy.
    pub draft: Option<PathBuf>,
    /// Replace the draft if it exists.
    pub force: bool,
    /// Also find out whom an attacker finds in the data, if the proposed roles are right.
    pub risk: bool,
    /// What every call can be told; `show_values` counts the most frequent values of each attribute.
    pub settings: Settings,
}

/// What was found.
#[derive(Debug)]
pub struct Inspection {
    /// The data, and how it is written down.
    pub looked: Looked,
    /// What it holds.
    pub profile: Profile,
    /// Per attribute the role that it may have, and why.
    pub suggestions: Vec<Suggestion>,
    /// Per attribute its most frequent values and how often they occur; empty unless they were asked for.
    pub frequent: Vec<Vec<(String, usize)>>,
    /// Attributes that are not named, because a key on their path is one that only a handful of people have; none if values
    /// were asked for.
    pub unnamed: BTreeSet<AttributeId>,
    /// Whom an attacker finds, if that was asked for and all data was read.
    pub risk: Option<Attacked>,
    /// Why nobody has counted that, though it was asked for.
    pub uncounted: Option<String>,
}

impl Inspection {
    /// Whether an attribute may be named.
    pub fn names(&self, attribute: AttributeId) -> bool {
        !self.unnamed.contains(&attribute)
    }

    /// The classes that may be named, without the record itself.
    pub fn classes(&self) -> impl Iterator<Item = &ClassProfile> {
        let hidden =
            |i: usize| !self.unnamed.is_empty() && self.looked.keys.rare_classes.contains(&ClassId(i as u32));
        self.profile.classes.iter().enumerate().skip(1).filter(move |(i, _)| !hidden(*i)).map(|(_, c)| c)
    }

    /// How many keys are not named, and where they are.
    pub fn unnamed_keys(&self) -> Vec<String> {
        if self.unnamed.is_empty() {
            return Vec::new();
        }
        let line = |(path, keys): &(String, usize)| {
            let place = if path.is_empty() { "of the record".to_owned() } else { format!("below `{path}`") };
            let (keys, verb) = (plural(*keys, "rare key"), if *keys == 1 { "is" } else { "are" });
            format!(
                "{keys} {place} {verb} not named, for fewer than five people have one; --show-values names them"
            )
        };
        self.looked.keys.rare_in.iter().map(line).collect()
    }

    /// What was found, for programs.
    pub fn to_json(&self) -> Value {
        let profile = &self.profile;
        let all = profile.attributes.iter().zip(&self.suggestions).enumerate();
        let attributes = all.filter(|(_, (a, _))| self.names(a.id)).map(|(i, (a, s))| {
            let mut out = json!({
                "path": a.path,
                "type": a.value_type.name(),
                "present": a.present,
                "missing": a.missing(),
                "records_without": a.records_without(),
                "distinct": a.distinct,
                "unique_values": a.unique_values,
                "rare_values": a.rare_values,
                "uniqueness": a.uniqueness(),
                "max_per_record": a.max_per_record,
                "role": s.role.name(),
                "reason": s.reason,
                "hierarchy": s.hierarchy.as_ref().map(|h| h.toml()),
                "follows": s.follows.map(|f| &profile.attributes[f.index()].path),
            });
            if let Some(values) = self.frequent.get(i) {
                out["values"] = values.iter().map(|(v, n)| json!({"value": v, "count": n})).collect();
            }
            out
        });
        let attributes: Vec<Value> = attributes.collect();
        let classes: Vec<Value> = (profile.classes.iter().take(1).chain(self.classes()))
            .map(|c| json!({"path": c.path, "vertices": c.vertices, "records": c.records, "max_per_record": c.max_per_record}))
            .collect();
        let mut out = json!({
            "format": self.looked.format,
            "records": profile.records,
            "vertices": profile.vertices,
            "classes": classes,
            "attributes": attributes,
        });
        if let Some(guess) = &self.looked.guessed {
            out["guessed"] = json!({"record": guess.record, "others": guess.others});
        }
        if let Some(preset) = &self.looked.preset {
            out["preset"] = json!({"name": preset.name, "recognised": preset.recognised});
        }
        if !self.looked.person.is_empty() {
            out["person"] = json!(self.looked.person);
            out["documents"] = json!(self.looked.documents);
        }
        if !self.unnamed.is_empty() {
            out["unnamed"] = json!(self.unnamed_keys());
        }
        if let Some(tables) = &self.looked.tables {
            out["linked"] = tables.to_json();
        }
        if let Some(why) = &self.uncounted {
            out["uncounted"] = json!(why);
        }
        if let Some(risk) = &self.risk {
            out["risk"] = risk.to_json(!self.frequent.is_empty());
        }
        out
    }
}

/// Looks at data that no policy describes.
pub fn inspect(request: &InspectRequest, observer: &dyn Observer) -> Result<Warned<Inspection>> {
    run(&request.settings, observer, |run| {
        if request.risk && request.data == Path::new("-") {
            let what = "the risk is found by reading the data again, as its draft says, and standard input can be read only once";
            return Err(Failure::new(Fault::Usage, Diagnostic::error(what).help("name a file")));
        }
        let looked = look(request, run)?;
        let mut profile = Profile::new(&looked.data, run.observer)?;
        looked.call_by_what_is_brought(&mut profile);
        let profile = profile;
        let mut suggestions = suggest(&profile, &looked.data, run.observer)?;
        looked.mark_references(&profile, &mut suggestions);
        looked.mark_opaque(&mut suggestions);
        looked.mark_kinds(&mut suggestions);
        let dropped = match &looked.preset {
            Some(preset) => apply_preset(&preset.name, &profile, &looked.data, &mut suggestions),
            None => Vec::new(),
        };
        take_levels(&looked.data, &profile, &looked.levels(), &mut suggestions, run.observer)?;
        fit_paths(&profile, &looked.data, &mut suggestions);
        looked.mark_brought(&profile, &mut suggestions);
        let unnamed = match run.settings.show_values {
            true => BTreeSet::new(),
            false => looked.keys.rare.clone(),
        };
        for suggestion in &mut suggestions {
            suggestion.follows = suggestion.follows.filter(|leader| !unnamed.contains(leader));
        }
        let (mut risk, mut uncounted) = (None, None);
        if request.draft.is_some() || request.risk {
            let file = request.draft.as_deref().unwrap_or(Path::new("draft"));
            let mut policy = draft_of(request, file, &looked, &profile, &suggestions, &dropped)?;
            let hidden = |path: &str| unnamed.iter().any(|id| profile.attributes[id.index()].path == path);
            policy.attributes.retain(|a| !hidden(&a.path));
            let repeats = looked.repeating(&suggestions, run)?;
            for attribute in &mut policy.attributes {
                attribute.repeats = repeats.contains(&attribute.path);
            }
            if !unnamed.is_empty() {
                policy.unnamed = looked.keys.rare_in.iter().map(|(_, keys)| keys).sum();
            }
            let text = draft(&policy);
            drafted::check(file, &text, &looked, request.frames.as_ref(), run)?;
            if let Some(file) = &request.draft {
                places::write(Output::create(file, run.settings.create(request.force, false))?, &text)?;
            }
            uncounted = looked.unread().filter(|_| request.risk);
            if request.risk && uncounted.is_none() {
                risk = Some(raw(file, text, request.frames.clone(), run)?);
            }
        }
        let attributes = profile.attributes.iter().filter(|_| run.settings.show_values);
        let frequent = attributes.map(|a| frequent(&looked.data, a)).collect();
        Ok(Inspection { looked, profile, suggestions, frequent, unnamed, risk, uncounted })
    })
}

/// Writes the schema that an XML document shows, as XSD.
pub fn infer_xsd(
    data: &Path,
    out: &Path,
    force: bool,
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Warned<()>> {
    run(settings, observer, |run: &Run<'_>| {
        let schema = infer(&mut Input::open_records(data)?)?;
        let output = Output::create(out, run.settings.create(force, false))?;
        places::write(output, &schema.to_xsd().unwrap_or_default())
    })
}

/// The draft of a policy; it holds no values of the data.
fn draft_of(
    request: &InspectRequest,
    file: &Path,
    looked: &Looked,
    profile: &Profile,
    suggestions: &[Suggestion],
    dropped: &[AttributeId],
) -> Result<Draft> {
    let format = looked.policy_format().ok_or_else(|| {
        Failure::new(
            Fault::Usage,
            Diagnostic::error(format!("no policy can name the format `{}`", looked.format)),
        )
    })?;
    let folder = file.parent().unwrap_or(Path::new(""));
    // What stands in memory lies nowhere.
    let seen = |path: &Path| match request.frames {
        Some(_) => path.to_string_lossy().into_owned(),
        None => seen_from(folder, path),
    };
    let origin = Origin {
        format,
        path: seen(&request.data),
        record: looked.record.clone(),
        separator: looked.separator.clone(),
    };
    let mut policy = draft_policy(profile, suggestions, &origin);
    policy.dropped = dropped.iter().map(|id| profile.attributes[id.index()].path.clone()).collect();
    policy.attributes.retain(|a| !policy.dropped.contains(&a.path));
    if looked.preset.is_some() {
        let order: Vec<String> = policy.attributes.iter().map(|a| a.path.clone()).collect();
        let place = |path: &str| order.iter().position(|p| p == path);
        policy
            .attributes
            .sort_by_key(|a| (place(a.follows.as_ref().unwrap_or(&a.path)), a.follows.is_some()));
    }
    policy.person.clone_from(&looked.person);
    if let Some(beside) = beside_source(&policy.source_path, &policy.publish_path) {
        policy.publish_path = beside;
    }
    if let Some(found) = &looked.tables {
        policy.tables = found.linked.tables.clone();
        let notes = found.linked.choices.iter().map(|(table, note)| (table.clone(), wrapped(note)));
        policy.table_notes = notes.collect();
        policy.lookups = found.linked.lookups.clone();
        let lookups = policy.lookups.iter_mut().map(|l| &mut l.path);
        for path in policy.tables.iter_mut().map(|t| &mut t.path).chain(lookups).flatten() {
            *path = seen(Path::new(path));
        }
        if matches!(format, Format::Csv | Format::Parquet) {
            policy.source_path.clear();
            "published".clone_into(&mut policy.publish_path);
        }
    }
    Ok(policy)
}

/// A path as a policy in `folder` would write it.
fn seen_from(folder: &Path, path: &Path) -> String {
    // An address is no path: its slashes must stay.
    if path == Path::new("-") || path.to_str().is_some_and(is_address) {
        return path.to_string_lossy().into_owned();
    }
    let climbs = |p: &Path| p.components().any(|part| part == Component::ParentDir);
    let by_name = relative(&absolute(folder), &absolute(path));
    // What `..` means only the disk knows, and a folder may lie elsewhere than its name says.
    let leads_there = folder.join(&by_name).exists() || !path.exists();
    match climbs(folder) || climbs(path) || !leads_there {
        true => relative(
            &std::fs::canonicalize(absolute(folder)).unwrap_or_else(|_| on_disk(folder)),
            &on_disk(path),
        ),
        false => by_name,
    }
}

/// The way from a folder to a path, both absolute.
fn relative(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut relative = PathBuf::new();
    relative.extend(from[common..].iter().map(|_| Component::ParentDir));
    relative.extend(&to[common..]);
    // The folder of the policy itself.
    if relative.as_os_str().is_empty() { ".".to_owned() } else { relative.to_string_lossy().into_owned() }
}

/// An empty path is the current folder; only `absolute` does not think so.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(Path::new(".").join(path)).unwrap_or_else(|_| path.to_owned())
}

/// Where a path leads, under the name that it has there.
fn on_disk(path: &Path) -> PathBuf {
    let path = absolute(path);
    let real = |p: &Path| std::fs::canonicalize(p).unwrap_or_else(|_| p.to_owned());
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => real(&path),
    }
}

/// Where a publication goes whose source is the folder of the policy, or one around that: beside the folder, since the next
/// run would read it with what is there.
fn beside_source(source: &str, publication: &str) -> Option<String> {
    let mut parts = Path::new(source).components().peekable();
    parts.peek()?;
    let around = parts.all(|part| matches!(part, Component::CurDir | Component::ParentDir));
    let folder = if source == "." { Path::new("..").to_owned() } else { Path::new(source).join("..") };
    around.then(|| folder.join(publication).to_string_lossy().into_owned())
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
