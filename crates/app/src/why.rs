//! Why a published label is not finer: it is split into those below it, the rest stays, and the verifier says what would
//! break.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bosket_io::{PolicyFile, Whereabouts, publication};
use bosket_measure::loss::Side;
use bosket_model::diag::nearest;
use bosket_model::hierarchy::{Hierarchy, NodeId};
use bosket_model::observe::Observer;
use bosket_model::policy::{Policy, Role, Shape};
use bosket_model::words::count;
use bosket_model::{Diagnostic, Failure, Fault, MISSING, Result};
use bosket_report::advice::Forced;
use bosket_verify::Claim;
use serde_json::{Value, json};

use crate::both::{self, Both, Places};
use crate::finer::{Finer, Step};
use crate::load::PolicyAt;
use crate::run::{Run, Settings, run};
use crate::warned::Warned;

/// Which label is asked about.
#[derive(Clone, Debug, Default)]
pub struct WhyRequest {
    /// The policy that the publication was made by.
    pub policy: PolicyAt,
    /// The publication; where the policy publishes if not given.
    pub publication: Option<PathBuf>,
    /// The private mapping; the policy's own if not given and if it is there.
    pub mapping: Option<PathBuf>,
    /// The attribute; all of them if not given, and then no label either.
    pub path: Option<String>,
    /// The published label; if not given, the labels are listed.
    pub label: Option<String>,
    /// What every call can be told.
    pub settings: Settings,
}

/// What was asked for.
#[derive(Debug)]
pub enum Why {
    /// What is published of each attribute.
    Labels(Vec<PublishedLabels>),
    /// What came of splitting one.
    NotFiner(NotFiner),
}

/// An attribute with the labels that it is published with.
#[derive(Debug)]
pub struct PublishedLabels {
    /// Its path.
    pub path: String,
    /// Those that can be split come first, and the most frequent of them.
    pub labels: Vec<PublishedLabel>,
}

/// A label and where it is published.
#[derive(Debug)]
pub struct PublishedLabel {
    /// The label.
    pub label: String,
    /// In how many places.
    pub places: u64,
    /// Whether others are below it.
    pub splits: bool,
}

/// What came of splitting a label.
#[derive(Debug)]
pub struct NotFiner {
    /// The attribute.
    pub path: String,
    /// The label.
    pub label: String,
    /// In how many places it is published.
    pub places: u64,
    /// How many labels are right below it.
    pub below: usize,
    /// What would break.
    pub forced: Forced,
}

impl NotFiner {
    /// The answer in a sentence. The label that was asked for is published; others are named only if values may be shown.
    pub fn sentence(&self) -> String {
        let why = match &self.forced {
            Forced::Unknown => "what this step alone would break cannot be told: the promise is kept by what was left out of \
                                some records, or taken apart"
                .to_owned(),
            known => known.text(),
        };
        format!("{} {:?}, published {} times: {why}", self.path, self.label, count(self.places as usize))
    }
}

impl Why {
    /// For programs.
    pub fn to_json(&self) -> Value {
        match self {
            Why::Labels(all) => {
                let label =
                    |l: &PublishedLabel| json!({"label": l.label, "places": l.places, "splits": l.splits});
                let one = |a: &PublishedLabels| json!({"path": a.path, "labels": a.labels.iter().map(label).collect::<Vec<_>>()});
                json!({"attributes": all.iter().map(one).collect::<Vec<_>>()})
            }
            Why::NotFiner(found) => json!({
                "path": found.path, "label": found.label, "places": found.places, "below": found.below,
                "breaks": match found.forced {
                    Forced::Knowledge { .. } | Forced::Alike => Some(true),
                    Forced::Elsewhere => Some(false),
                    Forced::Unknown => None,
                },
                "sentence": found.sentence(), "forced_by": found.forced.to_json(),
            }),
        }
    }
}

/// Says why a label is not finer, or which labels can be asked about.
pub fn why(request: &WhyRequest, observer: &dyn Observer) -> Result<Warned<Why>> {
    run(&request.settings, observer, |run| ask(request, run))
}

fn usage(what: impl Into<String>, help: impl Into<String>) -> Failure {
    Failure::new(Fault::Usage, Diagnostic::error(what).help(help))
}

fn ask(request: &WhyRequest, run: &Run<'_>) -> Result<Why> {
    let file = request.policy.load(run)?;
    refuse(&file.policy)?;
    let asked = request.path.as_deref().map(|path| attribute(&file.policy, path)).transpose()?;
    let target = match &request.publication {
        Some(path) => path.clone(),
        None => publication::target(&file)?,
    };
    let input = Whereabouts::input(&file)?;
    let places = Places { input, publication: &target, mapping: request.mapping.as_deref() };
    let both = both::open(&file, places, run)?;
    match (asked, &request.label) {
        (Some(declared), Some(label)) => split(&file, &both, declared, label, run).map(Why::NotFiner),
        (None, Some(_)) => Err(usage("a label of which attribute?", "name it with --path")),
        (_, None) => Ok(Why::Labels(labels(&file.policy, &both, asked))),
    }
}

/// Refuses publications in which no label stands for others.
fn refuse(policy: &Policy) -> Result<()> {
    let privacy = policy.need_privacy()?;
    if policy.has_two_sides() || !privacy.model.generalizes() {
        let what = "this publication keeps its promise by taking values apart, not by coarser labels: there is no label to split";
        return Err(usage(what, "`bosket report` says what it cost"));
    }
    if privacy.model.shape() == Shape::Set && (policy.recodes_locally() || policy.algorithm()?.is_local()) {
        let what = "items have labels of their own in every part of these sets: splitting one everywhere says nothing about the others";
        return Err(usage(what, "publish with one cut for everybody, or see `bosket sweep`"));
    }
    Ok(())
}

/// The attribute of a path, if its labels can be split at all.
fn attribute(policy: &Policy, path: &str) -> Result<usize> {
    let Some(at) = policy.attributes.iter().position(|a| a.path == path) else {
        let close = nearest(path, policy.attributes.iter().map(|a| a.path.as_str()));
        let help =
            close.map_or("look at the policy's attributes".to_owned(), |c| format!("did you mean `{c}`?"));
        return Err(usage(format!("the policy has no attribute `{path}`"), help));
    };
    let attribute = &policy.attributes[at];
    let problem = if attribute.role != Role::Quasi {
        Some("is not quasi: it is published as it is, or not at all")
    } else if attribute.hierarchy.is_none() {
        Some("has no hierarchy: its values are published as they are, or not at all")
    } else {
        None
    };
    match problem {
        Some(problem) => {
            Err(usage(format!("`{path}` {problem}"), "without --path, all that can be asked about is listed"))
        }
        None => Ok(at),
    }
}

fn hierarchy(both: &Both, declared: usize) -> Option<&Hierarchy> {
    both.hierarchies.get(declared)?.as_ref()
}

/// In how many places each label of an attribute is published.
fn published(Side { data, binding }: Side<'_>, declared: usize) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    let ids = data.schema().attributes().map(|(id, _)| id);
    for id in ids.filter(|id| binding.attributes[id.index()] == Some(declared)) {
        let class = data.schema().attribute(id).class;
        for vertex in (0..data.vertex_count()).filter(|&v| data.class(v) == class) {
            let code = data.value(vertex, id);
            if code != MISSING {
                *counts.entry(data.dictionary(id).text(code)).or_default() += 1;
            }
        }
    }
    counts
}

fn labels(policy: &Policy, both: &Both, asked: Option<usize>) -> Vec<PublishedLabels> {
    let own = (policy.attributes.iter().enumerate())
        .filter(|(at, a)| asked.is_none_or(|asked| asked == *at) && a.role == Role::Quasi)
        .filter(|(at, _)| both.input.binding.declared[*at].follows.is_none());
    own.filter_map(|(at, attribute)| {
        let hierarchy = hierarchy(both, at)?;
        let splits = |label: &str| hierarchy.node(label).is_some_and(|node| !hierarchy.is_leaf(node));
        let counts = published(both.published(), at).into_iter();
        let mut labels: Vec<PublishedLabel> = counts
            .map(|(label, places)| PublishedLabel { label: label.to_owned(), places, splits: splits(label) })
            .collect();
        labels.sort_by(|a, b| {
            (b.splits, b.places).cmp(&(a.splits, a.places)).then_with(|| a.label.cmp(&b.label))
        });
        (!labels.is_empty()).then(|| PublishedLabels { path: attribute.path.clone(), labels })
    })
    .collect()
}

fn split(file: &PolicyFile, both: &Both, declared: usize, label: &str, run: &Run<'_>) -> Result<NotFiner> {
    let path = &file.policy.attributes[declared].path;
    let help = "without --label, those that can be asked about are listed";
    if both.input.binding.declared[declared].follows.is_some() {
        return Err(usage(format!("`{path}` follows another attribute: ask about that one"), help));
    }
    let counts = published(both.published(), declared);
    let Some(&places) = counts.get(label) else {
        return Err(usage(format!("`{path}` is nowhere published with this label"), help));
    };
    let hierarchy =
        hierarchy(both, declared).ok_or_else(|| usage(format!("`{path}` has no hierarchy"), help))?;
    let node = hierarchy.node(label).filter(|&node| !hierarchy.is_leaf(node));
    let node = node.ok_or_else(|| usage("nothing is below this label: it is as fine as it can be", help))?;
    let forced = forced(file, both, Step { declared, node }, run)?;
    Ok(NotFiner {
        path: path.clone(),
        label: label.to_owned(),
        places,
        below: below(hierarchy, node),
        forced,
    })
}

fn below(hierarchy: &Hierarchy, node: NodeId) -> usize {
    hierarchy.children(node).count()
}

fn forced(file: &PolicyFile, both: &Both, step: Step, run: &Run<'_>) -> Result<Forced> {
    let policy = &file.policy;
    if policy.need_privacy()?.model.shape() == Shape::VertexTree {
        return Ok(Forced::Alike);
    }
    let claim = Claim::new(policy)?;
    let finer = Finer {
        policy,
        claim: &claim,
        input: both.input.side(),
        published: both.published(),
        hierarchies: &both.hierarchies,
        memory: run.settings.memory(),
        show_values: run.settings.show_values,
    };
    if !policy.recodes_locally() {
        let witness = finer.witness(&finer.by_cut(step), finer.input.binding, run.observer)?;
        return Ok(match witness {
            None => Forced::Elsewhere,
            Some(witness) if finer.is_of(step, &witness) => finer.told(step.declared, &witness),
            Some(_) => Forced::Unknown,
        });
    }
    let Some(pairs) = &both.mapping else {
        let what = "every value has a label of its own, and nothing says which record became which";
        let help = "name a file as `publish.mapping`, which stays private, and publish again; or give one with --mapping";
        return Err(usage(what, help));
    };
    let data = finer.by_record(step, pairs, run.observer)?;
    let data = data.ok_or_else(|| Failure::defect("a label was split without its hierarchy"))?;
    let witness = finer.witness(&data, finer.published.binding, run.observer)?;
    Ok(witness.map_or(Forced::Elsewhere, |witness| finer.told(step.declared, &witness)))
}
