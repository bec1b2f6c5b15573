//! The hierarchies that a policy names, read or built, and laid over the values of the data.

use std::path::{Path, PathBuf};

use bosket_model::binding::Binding;
use bosket_model::dissected::SensitiveValues;
use bosket_model::hierarchy::from::{self, Chain};
use bosket_model::hierarchy::{Build, Hierarchy, HierarchySpec, NodeId, build, csv, icd10};
use bosket_model::policy::{AttributePolicy, Role, Shape};
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};

use crate::policy_file::{PolicyFile, read_long_text};
use rustc_hash::{FxHashMap, FxHashSet};

/// Values of the data that a message may show at most.
const SHOWN: usize = 20;

/// What is asked of the hierarchies.
#[derive(Clone, Copy, Debug)]
pub struct HierarchyNeeds {
    /// Every quasi attribute must have one.
    pub required: bool,
    /// Messages may name values of the data.
    pub show_values: bool,
}

/// Children per node where sets of numbered items come without a hierarchy, as in the experiments of k^m-anonymity.
const USUAL_FANOUT: usize = 5;

/// Data whose values hierarchies are laid over.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The records.
    pub data: &'a Dataset,
    /// Which attribute is which.
    pub binding: &'a Binding,
    /// What messages call it.
    pub name: &'a str,
}

/// The hierarchy of each declared attribute, with a leaf for every value that the data has, and warnings about those
/// that the policy does not name: sets of numbered items (model km) are grouped by fives. All problems of all
/// hierarchies are reported together.
pub fn load(
    file: &PolicyFile,
    data: &Dataset,
    binding: &Binding,
    source: &str,
    ask: HierarchyNeeds,
) -> Result<(Vec<Option<Hierarchy>>, Vec<Diagnostic>)> {
    load_over(file, Source { data, binding, name: source }, None, ask)
}

/// The same with a leaf for every value of a population as well, which the data was drawn from. The hierarchies are still
/// the data's: one that groups its values in their order (`fanout`) covers no others. Unless `groups` are needed, such a
/// one is left out.
pub fn load_with_population(
    file: &PolicyFile,
    data: Source<'_>,
    population: Source<'_>,
    groups: bool,
    ask: HierarchyNeeds,
) -> Result<Vec<Option<Hierarchy>>> {
    load_over(file, data, Some((population, groups)), ask).map(|(loaded, _)| loaded)
}

/// Whether the hierarchy of an attribute says something about the values of the data only.
fn is_the_datas_own(file: &PolicyFile, attribute: &AttributePolicy) -> bool {
    let fanout = |spec: &HierarchySpec| matches!(spec, HierarchySpec::Build(Build::Fanout { .. }));
    attribute.hierarchy.as_ref().map_or(is_bare_set(file, attribute), fanout)
}

fn load_over(
    file: &PolicyFile,
    source: Source<'_>,
    population: Option<(Source<'_>, bool)>,
    ask: HierarchyNeeds,
) -> Result<(Vec<Option<Hierarchy>>, Vec<Diagnostic>)> {
    let sources: Vec<Source<'_>> = std::iter::once(source).chain(population.map(|p| p.0)).collect();
    let groups = population.is_none_or(|p| p.1);
    let mut policy_problems = Vec::new();
    let mut warnings = Vec::new();
    let mut data_problems = Vec::new();
    let mut texts: Vec<(PathBuf, Hierarchy)> = Vec::new();
    let mut loaded = Vec::new();
    for (declared, attribute) in file.policy.attributes.iter().enumerate() {
        let of_data = is_the_datas_own(file, attribute);
        if of_data && !groups {
            loaded.push(None);
            continue;
        }
        let bare = is_bare_set(file, attribute);
        // Sorting the values of a large column takes long; most need no hierarchy.
        let needed = bare || attribute.hierarchy.is_some();
        let domains: Vec<Vec<&str>> = (sources.iter())
            .map(|s| if needed { domain(s.data, &s.columns(declared)) } else { Vec::new() })
            .collect();
        let usual = if bare { usual(&domains[0]) } else { None };
        if usual.is_some() {
            warnings.push(by_fives(attribute));
        }
        let Some(spec) = attribute.hierarchy.as_ref().or(usual.as_ref()) else {
            if ask.required && attribute.role == Role::Quasi && attribute.follows.is_none() {
                policy_problems.push(
                    Diagnostic::error(format!("the quasi attribute `{}` has no hierarchy", attribute.path))
                        .at(attribute.place.clone())
                        .help("add `hierarchy = …`: a CSV file or a builder; `bosket hierarchy build` makes one"),
                );
            }
            loaded.push(None);
            continue;
        };
        let hierarchy = match (cached(&texts, file, spec), spec) {
            (Some(hierarchy), _) => Ok((hierarchy, Vec::new())),
            (None, HierarchySpec::Build(Build::From { paths })) => {
                from_columns(&sources, declared, paths, attribute).map(|hierarchy| (hierarchy, Vec::new()))
            }
            (None, _) if of_data => noted(spec, &file.folder, &domains[0]),
            (None, _) => noted(spec, &file.folder, &united(&domains)),
        };
        let hierarchy = match hierarchy {
            Ok((hierarchy, notes)) => {
                warnings.extend(notes);
                hierarchy
            }
            Err(failure) => {
                policy_problems.extend(failure.diagnostics);
                loaded.push(None);
                continue;
            }
        };
        let bound = hierarchy.bind(domains.iter().flatten().copied());
        if bound.is_err() {
            for (at, (source, domain)) in sources.iter().zip(&domains).enumerate() {
                let Err(uncovered) = hierarchy.bind(domain.iter().copied()) else { continue };
                let values: Vec<&str> = uncovered.iter().map(|&i| domain[i]).collect();
                let columns = source.columns(declared);
                let mut what = not_covered(source.data, &columns, &values, source.name, ask.show_values);
                if at > 0 && of_data {
                    what = what.help(OF_THE_DATA);
                }
                data_problems.push(what);
            }
        }
        loaded.push(bound.ok().map(|(bound, _)| bound));
        if let HierarchySpec::File(path) = spec {
            texts.push((file.resolve(path), hierarchy));
        }
    }
    let fault = if policy_problems.is_empty() { Fault::Data } else { Fault::Policy };
    policy_problems.extend(data_problems);
    if policy_problems.is_empty() {
        Ok((loaded, warnings))
    } else {
        Err(Failure::all(fault, policy_problems))
    }
}

const OF_THE_DATA: &str = "the hierarchy is built over the values of the data alone; name one over all values of the \
                           population as a file (`bosket hierarchy build` writes it), and publish with that";

impl Source<'_> {
    /// The attributes that a declared one stands for.
    fn columns(&self, declared: usize) -> Vec<AttributeId> {
        let own = self.data.schema().attributes().map(|(id, _)| id);
        own.filter(|id| self.binding.attributes[id.index()] == Some(declared)).collect()
    }
}

/// A hierarchy of what stands in other columns, in the same row or in one above it.
fn from_columns(
    sources: &[Source<'_>],
    declared: usize,
    paths: &[String],
    attribute: &AttributePolicy,
) -> Result<Hierarchy> {
    let mut chains: FxHashSet<Chain<'_>> = FxHashSet::default();
    for source in sources {
        let above: Vec<Vec<AttributeId>> = (paths.iter())
            .map(|path| source.binding.declared.iter().position(|d| d.path == *path))
            .map(|at| at.map_or_else(Vec::new, |at| source.columns(at)))
            .collect();
        if let Some(lacking) = above.iter().position(Vec::is_empty) {
            let what = format!("the hierarchy of `{}` asks for `{}`", attribute.path, paths[lacking]);
            let what = Diagnostic::error(what + ", which the data does not have").at(attribute.place.clone());
            return Err(Failure::new(Fault::Data, what));
        }
        for column in source.columns(declared) {
            let class = source.data.schema().attribute(column).class;
            let own = (0..source.data.vertex_count()).filter(|&vertex| source.data.class(vertex) == class);
            for vertex in own {
                let Some(value) = source.text(vertex, column) else { continue };
                let above = above.iter().map(|columns| source.at_or_above(vertex, columns)).collect();
                chains.insert((value, above));
            }
        }
    }
    let mut chains: Vec<Chain<'_>> = chains.into_iter().collect();
    chains.sort_unstable();
    from::from(&chains).map_err(|why| {
        let what = format!(
            "the hierarchy of `{}` cannot be taken from `{}`: {why}",
            attribute.path,
            paths.join("`, `")
        );
        let help = "correct the data, or write the hierarchy as a file: one line per value, `value;above;*`";
        Failure::new(Fault::Data, Diagnostic::error(what).at(attribute.place.clone()).help(help))
    })
}

impl<'a> Source<'a> {
    fn text(&self, vertex: usize, column: AttributeId) -> Option<&'a str> {
        let code = self.data.value(vertex, column);
        (code != MISSING).then(|| self.data.dictionary(column).text(code))
    }

    /// What one of these columns says of a vertex, itself or the nearest above it.
    fn at_or_above(&self, vertex: usize, columns: &[AttributeId]) -> Option<&'a str> {
        let up = std::iter::successors(Some(vertex), |&vertex| self.data.parent(vertex));
        let mut found = up.flat_map(|vertex| {
            let class = self.data.class(vertex);
            let own =
                columns.iter().filter(move |&&column| self.data.schema().attribute(column).class == class);
            own.filter_map(move |&column| self.text(vertex, column))
        });
        found.next()
    }
}

/// All texts, sorted.
fn united<'a>(domains: &[Vec<&'a str>]) -> Vec<&'a str> {
    let mut all = domains.concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether the policy gives the items of sets no hierarchy.
fn is_bare_set(file: &PolicyFile, attribute: &AttributePolicy) -> bool {
    let sets = file.policy.privacy.as_ref().is_some_and(|p| p.model.shape() == Shape::Set);
    sets && attribute.role == Role::Quasi && attribute.hierarchy.is_none() && attribute.follows.is_none()
}

/// The hierarchy of items that the policy gives none: balanced, if they are numbers.
fn usual(domain: &[&str]) -> Option<HierarchySpec> {
    let number = |item: &&str| !item.is_empty() && item.bytes().all(|b| b.is_ascii_digit());
    (!domain.is_empty() && domain.iter().all(number))
        .then_some(HierarchySpec::Build(Build::Fanout { fanout: USUAL_FANOUT }))
}

fn by_fives(attribute: &AttributePolicy) -> Diagnostic {
    let what = format!(
        "`{}` has no hierarchy; its numbers are grouped in their order, {USUAL_FANOUT} by {USUAL_FANOUT}",
        attribute.path
    );
    let help = format!(
        "write `hierarchy = {{ build = \"fanout\", fanout = {USUAL_FANOUT} }}` to choose this, or name a file"
    );
    Diagnostic::warning(what).at(attribute.place.clone()).help(help)
}

fn cached(texts: &[(PathBuf, Hierarchy)], file: &PolicyFile, spec: &HierarchySpec) -> Option<Hierarchy> {
    let HierarchySpec::File(path) = spec else {
        return None;
    };
    let path = file.resolve(path);
    texts.iter().find(|(known, _)| *known == path).map(|(_, h)| h.clone())
}

/// One hierarchy: read from its file (relative to `folder`) or built over `domain`.
pub fn one(spec: &HierarchySpec, folder: &Path, domain: &[&str]) -> Result<Hierarchy> {
    noted(spec, folder, domain).map(|(hierarchy, _)| hierarchy)
}

/// The same with what should be known about its file.
pub fn noted(spec: &HierarchySpec, folder: &Path, domain: &[&str]) -> Result<(Hierarchy, Vec<Diagnostic>)> {
    match spec {
        HierarchySpec::File(path) => {
            let path = folder.join(path);
            let text = read_long_text(&path)?;
            csv::parse_noting(&path.to_string_lossy(), &text).map_err(|all| Failure::all(Fault::Policy, all))
        }
        HierarchySpec::Build(spec) => {
            let table = match spec {
                Build::Icd10 { table: Some(table) } => {
                    let path = folder.join(table);
                    Some((path.to_string_lossy().into_owned(), read_long_text(&path)?))
                }
                _ => None,
            };
            let table = table.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
            let built = build(spec, domain, table).map_err(|all| Failure::all(Fault::Policy, all))?;
            Ok((built, Vec::new()))
        }
    }
}

/// The distinct texts that occur in some attributes, sorted.
pub fn domain<'a>(data: &'a Dataset, columns: &[AttributeId]) -> Vec<&'a str> {
    let mut values: Vec<&str> =
        columns.iter().flat_map(|&a| data.dictionary(a).iter().map(|(_, t)| t)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The message about values that no hierarchy covers.
pub fn not_covered(
    data: &Dataset,
    columns: &[AttributeId],
    values: &[&str],
    source: &str,
    show_values: bool,
) -> Diagnostic {
    let path = columns.first().map_or("", |&a| data.schema().attribute(a).path.as_str());
    let mut place = Place::source(source).path(path);
    place.record = first_record(data, columns, values).map(|r| r as u64 + 1);
    uncovered(values, place, show_values)
}

fn uncovered(values: &[&str], place: Place, show_values: bool) -> Diagnostic {
    let mut message = match values.len() {
        1 => "a value is not in the hierarchy".to_owned(),
        n => format!("{n} distinct values are not in the hierarchy"),
    };
    if show_values {
        let shown: Vec<String> = values.iter().take(SHOWN).map(|v| format!("`{v}`")).collect();
        let more = values.len().saturating_sub(SHOWN);
        message.push_str(&format!(": {}", shown.join(", ")));
        if more > 0 {
            message.push_str(&format!(" and {more} more"));
        }
    }
    let help = if show_values {
        "add them to the hierarchy, correct them in the data, or give the attribute another role"
    } else {
        "see them with --show-values; add them to the hierarchy, correct the data, or give the attribute another role"
    };
    Diagnostic::error(message).at(place).help(help)
}

/// The first record that has one of the values, which are sorted.
fn first_record(data: &Dataset, columns: &[AttributeId], values: &[&str]) -> Option<usize> {
    (0..data.len()).find(|&record| {
        data.vertices(record).any(|v| {
            columns.iter().filter(|&&a| data.schema().attribute(a).class == data.class(v)).any(|&a| {
                let code = data.value(v, a);
                code != MISSING && values.binary_search(&data.dictionary(a).text(code)).is_ok()
            })
        })
    })
}

/// The hierarchies of sensitive attributes, per declared attribute, over values that were taken out of the data. An inner
/// node stands for itself. All problems are reported together. With them comes what should be known about their files.
pub fn of_sensitive(
    file: &PolicyFile,
    sensitive: &[SensitiveValues],
    source: &str,
    show_values: bool,
) -> Result<(Vec<Option<Hierarchy>>, Vec<Diagnostic>)> {
    let mut loaded = vec![None; file.policy.attributes.len()];
    let mut warnings: Vec<Diagnostic> = Vec::new();
    let (mut policy_problems, mut data_problems) = (Vec::new(), Vec::new());
    for column in sensitive {
        let Some(spec) = &file.policy.attributes[column.declared].hierarchy else { continue };
        let mut domain: Vec<&str> = column.values.iter().map(|(_, text)| text).collect();
        domain.sort_unstable();
        domain.dedup();
        match spelt(spec, &file.folder, &domain) {
            Err(failure) => policy_problems.extend(failure.diagnostics),
            Ok((hierarchy, notes)) => {
                warnings.extend(notes);
                let values: Vec<&str> = domain.into_iter().filter(|v| hierarchy.node(v).is_none()).collect();
                if !values.is_empty() {
                    let place = Place::source(source).path(&column.path);
                    data_problems.push(uncovered(&values, place, show_values));
                }
                loaded[column.declared] = Some(hierarchy);
            }
        }
    }
    let fault = if policy_problems.is_empty() { Fault::Data } else { Fault::Policy };
    policy_problems.extend(data_problems);
    if policy_problems.is_empty() {
        Ok((loaded, warnings))
    } else {
        Err(Failure::all(fault, policy_problems))
    }
}

/// A hierarchy in which all spellings of a code are one node, for those who compare values rather than replace them.
fn spelt(spec: &HierarchySpec, folder: &Path, domain: &[&str]) -> Result<(Hierarchy, Vec<Diagnostic>)> {
    let HierarchySpec::Build(Build::Icd10 { table }) = spec else {
        return noted(spec, folder, domain);
    };
    // A table has all its codes; other spellings would hang below them.
    let mut usual: Vec<String> = domain.iter().map(|code| icd10::usual(code)).collect();
    usual.retain(|_| table.is_none());
    usual.sort_unstable();
    usual.dedup();
    let hierarchy = one(spec, folder, &usual.iter().map(String::as_str).collect::<Vec<_>>())?;
    let mut nodes: FxHashMap<String, NodeId> = FxHashMap::default();
    for node in hierarchy.nodes() {
        nodes.entry(icd10::normal(hierarchy.label(node))).or_insert(node);
    }
    let others = domain.iter().filter(|text| hierarchy.node(text).is_none());
    let spellings: Vec<(String, NodeId)> =
        others.filter_map(|text| Some(((*text).to_owned(), *nodes.get(&icd10::normal(text))?))).collect();
    Ok((hierarchy.with_spellings(spellings), Vec::new()))
}
