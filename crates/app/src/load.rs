//! Reading of policies and data; what was read is told, warnings are kept.

use std::path::{Path, PathBuf};

use bosket_io::form::Written;
use bosket_io::{Frames, Layout, Opened, PolicyFile, SourceForm, Whereabouts};
use bosket_measure::inspect::ObjectKeys;
use bosket_model::binding::Binding;
use bosket_model::hierarchy::Hierarchy;
use bosket_model::policy::{Format, Policy, Undeclared};
use bosket_model::{Dataset, Diagnostic, Failure, Fault, Result, selection};
use bosket_verify::names;

use crate::checks;
use crate::hollow::without_hollow;
use crate::run::Run;
use bosket_model::words::{count, plural};

/// A policy on disk, and what overrides it.
#[derive(Clone, Debug, Default)]
pub struct PolicyAt {
    /// The file; `-` is standard input.
    pub path: PathBuf,
    /// `key=value` as on a command line.
    pub sets: Vec<String>,
    /// What it says, if it lies nowhere; its paths are then seen from the folder that `path` is in.
    pub text: Option<String>,
    /// What stands in memory where the policy names its source.
    pub frames: Option<Frames>,
}

impl PolicyAt {
    /// A policy as it is written.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        PolicyAt { path: path.into(), ..PolicyAt::default() }
    }

    /// Reads it.
    pub(crate) fn load(&self, run: &Run<'_>) -> Result<PolicyFile> {
        let mut file = match &self.text {
            Some(text) => PolicyFile::parse(&self.path, text, &self.sets)?,
            None => PolicyFile::load(&self.path, &self.sets)?,
        };
        file.frames.clone_from(&self.frames);
        run.warn(file.warnings.iter().cloned());
        run.observer.decided(&format!(
            "policy {} declares {}",
            self.path.display(),
            plural(file.policy.attributes.len(), "attribute")
        ));
        Ok(file)
    }
}

/// How to read a dataset that no policy describes.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Its format; by name and content if not given.
    pub format: Option<String>,
    /// Where the records are in a document; of linked tables the person table.
    pub record: Option<String>,
    /// What separates cells or items.
    pub separator: Option<String>,
}

impl Reading {
    pub(crate) fn layout(&self) -> Layout {
        Layout { record: self.record.clone(), separator: self.separator.clone(), ..Layout::default() }
    }
}

/// Data with the place of its attributes.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) data: Dataset,
    pub(crate) binding: Binding,
}

impl Bound {
    pub(crate) fn side(&self) -> bosket_measure::loss::Side<'_> {
        bosket_measure::loss::Side { data: &self.data, binding: &self.binding }
    }
}

/// Standard input can be read only once.
pub(crate) fn one_stdin<'a>(named: impl IntoIterator<Item = Option<&'a PathBuf>>) -> Result<()> {
    if named.into_iter().flatten().filter(|p| p.as_path() == Path::new("-")).count() > 1 {
        let what = Diagnostic::error("`-` is given more than once, but standard input can be read only once");
        return Err(Failure::new(Fault::Usage, what.help("name files for all but one of them")));
    }
    Ok(())
}

/// Reads a dataset, be it a document or linked tables.
pub(crate) fn records(place: Whereabouts, run: &Run<'_>) -> Result<Opened> {
    let name = place.name();
    let opened = place.open(run.observer)?;
    run.warn(opened.warnings.iter().cloned());
    run.observer.decided(&format!(
        "read {name} as {}: {}, {} vertices, {}",
        opened.form.name(),
        plural(opened.data.len(), "record"),
        count(opened.data.vertex_count()),
        plural(opened.data.schema().attributes().len(), "attribute"),
    ));
    Ok(opened)
}

/// Reads a document that no policy describes.
pub(crate) fn document(path: &Path, format: Option<&str>, layout: Layout, run: &Run<'_>) -> Result<Opened> {
    let format = format.map(|name| bosket_io::by_name(name).map(|format| format.name())).transpose()?;
    let (path, layout) = (path.to_owned(), Box::new(layout));
    let kinds = Box::default();
    records(Whereabouts::Document { path, format, layout, published: false, gather: None, kinds }, run)
}

/// Private data of the shape that a policy describes.
pub(crate) fn input(place: Whereabouts, policy: &Policy, run: &Run<'_>) -> Result<Bound> {
    let name = place.name();
    let data = select(records(place, run)?.data, policy, &name, run)?;
    bind_input(data, policy, &name, run)
}

/// Finds the place of all attributes of private data. What the policy does not name is refused.
pub(crate) fn bind_input(data: Dataset, policy: &Policy, name: &str, run: &Run<'_>) -> Result<Bound> {
    let binding = Binding::of_input(data.schema(), &policy.attributes, Undeclared::Drop, name)?;
    let rare = || Ok(ObjectKeys::new(&data, run.observer)?.rare);
    checks::refuse_unnamed(policy, (data.schema(), &binding), &rare, name, run.settings.show_values)?;
    bind_all(data, policy, name)
}

/// The same of some of the records: what the policy does not name is refused once all of them were seen.
pub(crate) fn bind_all(data: Dataset, policy: &Policy, name: &str) -> Result<Bound> {
    let binding = Binding::of_input(data.schema(), &policy.attributes, Undeclared::Drop, name)?;
    let format = policy.source.as_ref().map(|s| s.format);
    // A row of a table is published with its keys, whatever else it says.
    let documents = matches!(format, Some(Format::Ndjson | Format::Json | Format::Xml));
    let data = if documents { without_hollow(data, &binding)? } else { data };
    Ok(Bound { data, binding })
}

/// The people that the policy is about.
pub(crate) fn select(data: Dataset, policy: &Policy, name: &str, run: &Run<'_>) -> Result<Dataset> {
    let all = data.len();
    let data = selection::select(data, policy, name)?;
    if policy.selects() {
        let left = count(data.len());
        run.observer.decided(&format!("`where` and `sample` leave {left} of {}", plural(all, "record")));
    }
    Ok(data)
}

/// A publication of such data.
pub(crate) fn published(file: &PolicyFile, at: &Path, run: &Run<'_>) -> Result<Bound> {
    published_as(file, at, run).map(|(bound, _)| bound)
}

/// The same, and how it is written.
pub(crate) fn published_as(
    file: &PolicyFile,
    at: &Path,
    run: &Run<'_>,
) -> Result<(Bound, Option<(Written, SourceForm)>)> {
    let Opened { data, form, written, .. } = records(Whereabouts::given(file, at, true)?, run)?;
    let policy = &file.policy;
    let name = at.display().to_string();
    let binding = names::bound(data.schema(), &policy.attributes, policy.undeclared, &name)?;
    Ok((Bound { data, binding }, written.map(|written| (written, form))))
}

/// The hierarchies of the policy, laid over the values of private data.
pub(crate) fn hierarchies(
    file: &PolicyFile,
    bound: &Bound,
    name: &str,
    required: bool,
    run: &Run<'_>,
) -> Result<Vec<Option<Hierarchy>>> {
    let needs = bosket_io::hierarchies::HierarchyNeeds { required, show_values: run.settings.show_values };
    let (hierarchies, warnings) =
        bosket_io::hierarchies::load(file, &bound.data, &bound.binding, name, needs)?;
    run.warn(warnings);
    Ok(hierarchies)
}
