//! `bosket hierarchy`

use std::path::Path;

use bosket_app::{Warned, open};
use bosket_io::{Output, Whereabouts, hierarchies};
use bosket_model::diag::nearest;
use bosket_model::hierarchy::{
    Build, Clamp, DateLevel, DrawOptions, Group, Hierarchy, HierarchySpec, NodeId, csv, draw,
};
use bosket_model::policy::Policy;
use bosket_model::{AttributeId, Dataset, Diagnostic, Failure, Fault, MISSING, Place};
use serde_json::{Value, json};
use std::io::Write;

use crate::Outcome;
use crate::args::{self, Builder, DataColumn, HierarchyBuild, HierarchyCheck, HierarchyShow, WhichHierarchy};
use crate::next;
use crate::output::{count, plural, print, print_invalid, print_json};
use crate::talk::Talk;

pub fn run(args: &args::Hierarchy, talk: &Talk) -> Result<Outcome, Failure> {
    match args {
        args::Hierarchy::Build(args) => build(args, talk),
        args::Hierarchy::Show(args) => show(args, talk),
        args::Hierarchy::Check(args) => check(args, talk),
    }
}

/// Values without a place that are shown at most.
const SHOWN: usize = 20;

fn usage(message: impl Into<String>, help: &str) -> Failure {
    Failure::new(Fault::Usage, Diagnostic::error(message).help(help))
}

fn build(args: &HierarchyBuild, talk: &Talk) -> Result<Outcome, Failure> {
    let spec = spec(args)?;
    let column = Column::read(&args.column, talk)?;
    let given = args.values.as_deref().map(bosket_io::read_long_text).transpose()?;
    let mut domain: Vec<&str> = match (&given, &column) {
        (Some(text), _) => text.lines().filter(|line| !line.is_empty()).collect(),
        (None, Some(column)) => column.domain(),
        (None, None) => Vec::new(),
    };
    domain.sort_unstable();
    domain.dedup();
    let hierarchy = hierarchies::one(&HierarchySpec::Build(spec), Path::new(""), &domain)?;
    match (&column, &args.values, &given) {
        (Some(column), ..) => drop(column.counts(&hierarchy, args.show_values)?),
        (None, Some(file), Some(text)) => check_values(&hierarchy, file, text, args.show_values)?,
        _ => {}
    }
    if hierarchy.len() == 1 {
        let help = "give them with --values FILE, or --data FILE --path PATH";
        return Err(usage("this builder needs the values that are to be its leaves", help));
    }
    let text = csv::write(&hierarchy);
    if args.out == Path::new("-") {
        print(&text)?;
        return Ok(Outcome::Done);
    }
    let mut out = Output::create(&args.out, talk.create(args.force))?;
    out.write_all(text.as_bytes()).map_err(bosket_io::write_failure)?;
    out.finish()?;
    talk.line(&format!("wrote {}: {}", args.out.display(), describe(&hierarchy)));
    talk.line(next::next(["hierarchy", "show", &args.out.display().to_string()]).trim_end());
    Ok(Outcome::Done)
}

/// Every value of the file `--values` must have found its place.
fn check_values(hierarchy: &Hierarchy, file: &Path, text: &str, show_values: bool) -> Result<(), Failure> {
    let values: Vec<(usize, &str)> = text.lines().enumerate().filter(|(_, v)| !v.is_empty()).collect();
    let Err(uncovered) = hierarchy.bind(values.iter().map(|v| v.1)) else {
        return Ok(());
    };
    let problem = |&at: &usize| {
        let (line, value) = values[at];
        let shown = if show_values { format!(": `{value}`") } else { String::new() };
        let help = if show_values { "correct it, or take it out" } else { "see it with --show-values" };
        Diagnostic::error(format!("the builder has no place for this value{shown}"))
            .at(Place::source(file.to_string_lossy()).line(line as u64 + 1))
            .help(help)
    };
    let mut problems: Vec<Diagnostic> = uncovered.iter().take(SHOWN).map(problem).collect();
    let more = uncovered.len().saturating_sub(SHOWN);
    if more > 0 {
        problems
            .push(Diagnostic::error(format!("{more} more values have no place")).help("correct those above"));
    }
    Err(Failure::all(Fault::Data, problems))
}

fn clamp(given: Option<&str>) -> Result<Clamp, Failure> {
    Ok(match given {
        None | Some("none") => Clamp::None,
        Some("top") => Clamp::Top,
        Some("bottom") => Clamp::Bottom,
        Some("both") => Clamp::Both,
        Some(_) => {
            return Err(usage(
                "--clamp is none, top, bottom or both",
                "leave it out to refuse values outside",
            ));
        }
    })
}

fn spec(args: &HierarchyBuild) -> Result<Build, Failure> {
    let need = |value: &Option<String>, name: &str| {
        value.clone().ok_or_else(|| {
            usage(format!("this builder needs --{name}"), "see `bosket hierarchy build --help`")
        })
    };
    let number = |value: &Option<String>, name: &str| {
        let text = need(value, name)?;
        text.parse::<f64>().map_err(|_| usage(format!("--{name} must be a number"), "such as 1900"))
    };
    Ok(match args.builder {
        Builder::Interval => Build::Interval {
            min: number(&args.min, "min")?,
            max: number(&args.max, "max")?,
            widths: match args.widths.as_slice() {
                [] => {
                    return Err(usage("this builder needs --widths", "see `bosket hierarchy build --help`"));
                }
                widths => widths.to_vec(),
            },
            clamp: clamp(args.clamp.as_deref())?,
        },
        Builder::Date => {
            let level = |name: &String| match name.as_str() {
                "month" => Ok(DateLevel::Month),
                "quarter" => Ok(DateLevel::Quarter),
                "year" => Ok(DateLevel::Year),
                "decade" => Ok(DateLevel::Decade),
                _ => Err(usage(
                    format!("`{name}` is no level of dates"),
                    "the levels are month, quarter, year, decade",
                )),
            };
            Build::Date {
                min: need(&args.min, "min")?,
                max: need(&args.max, "max")?,
                levels: args.levels.iter().map(level).collect::<Result<_, _>>()?,
                format: args.date_format.clone(),
                clamp: clamp(args.clamp.as_deref())?,
            }
        }
        Builder::Prefix => Build::Prefix,
        Builder::Letters => Build::Letters,
        Builder::Fanout => Build::Fanout { fanout: args.fanout.unwrap_or(5) },
        Builder::Icd10 => {
            Build::Icd10 { table: args.table.as_ref().map(|t| t.to_string_lossy().into_owned()) }
        }
        Builder::Atc => Build::Atc,
        Builder::Order => {
            let text = need(&args.groups, "groups")?;
            let wrong = || {
                usage(
                    "--groups must be a JSON array of texts, arrays or {\"label\", \"values\"}",
                    "such as '[[\"a\",\"b\"],\"c\"]'",
                )
            };
            let value: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
            Build::Order { groups: groups(&value).ok_or_else(wrong)? }
        }
    })
}

fn groups(value: &Value) -> Option<Vec<Group>> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(Group::Value(text.clone())),
        Value::Array(_) => Some(Group::Group { label: None, members: groups(value)? }),
        Value::Object(table) => Some(Group::Group {
            label: table.get("label").and_then(Value::as_str).map(str::to_owned),
            members: groups(table.get("values")?)?,
        }),
        _ => None,
    };
    value.as_array()?.iter().map(one).collect()
}

/// An attribute of a dataset that was read for its values.
struct Column {
    data: Dataset,
    attribute: AttributeId,
    source: String,
}

impl Column {
    fn read(args: &DataColumn, talk: &Talk) -> Result<Option<Self>, Failure> {
        let (Some(file), Some(path)) = (&args.data, &args.path) else {
            return Ok(None);
        };
        let settings = talk.settings(None, false);
        let loaded = talk.told(open::data(file, &args.reading.reading(), &settings, talk)?);
        Self::new(loaded.data, path, file).map(Some)
    }

    fn new(data: Dataset, path: &str, file: &Path) -> Result<Self, Failure> {
        let source = file.display().to_string();
        let attribute = data.schema().find(path).ok_or_else(|| {
            let paths = data.schema().attributes().map(|(_, a)| a.path.as_str());
            let help = match nearest(path, paths) {
                Some(close) => format!("did you mean `{close}`?"),
                None => "`bosket inspect` lists the attributes".to_owned(),
            };
            let what =
                Diagnostic::error("the data has no such attribute").at(Place::source(&source).path(path));
            Failure::new(Fault::Usage, what.help(help))
        })?;
        Ok(Column { data, attribute, source })
    }

    fn domain(&self) -> Vec<&str> {
        hierarchies::domain(&self.data, &[self.attribute])
    }

    /// The hierarchy with a leaf for every value, and how often each leaf occurs.
    fn counts(&self, hierarchy: &Hierarchy, show_values: bool) -> Result<(Hierarchy, Vec<u64>), Failure> {
        let dictionary = self.data.dictionary(self.attribute);
        let values: Vec<&str> = dictionary.iter().map(|(_, text)| text).collect();
        let (hierarchy, leaves) = hierarchy.bind(values.iter().copied()).map_err(|uncovered| {
            let mut values: Vec<&str> = uncovered.iter().map(|&i| values[i]).collect();
            values.sort_unstable();
            let what =
                hierarchies::not_covered(&self.data, &[self.attribute], &values, &self.source, show_values);
            Failure::new(Fault::Data, what)
        })?;
        let mut counts = vec![0; hierarchy.leaf_count()];
        let class = self.data.schema().attribute(self.attribute).class;
        for v in (0..self.data.vertex_count()).filter(|&v| self.data.class(v) == class) {
            let code = self.data.value(v, self.attribute);
            if code != MISSING {
                counts[hierarchy.leaves(leaves[code as usize]).start as usize] += 1;
            }
        }
        Ok((hierarchy, counts))
    }
}

/// The hierarchy asked for, and the counts of its leaves if there is data.
fn which(args: &WhichHierarchy, talk: &Talk) -> Result<(Hierarchy, Option<Vec<u64>>), Failure> {
    let mut column = Column::read(&args.column, talk)?;
    let hierarchy = match (&args.file, &args.policy) {
        (Some(file), _) => {
            let text = bosket_io::read_long_text(file)?;
            let parsed = csv::parse_noting(&file.to_string_lossy(), &text);
            let (value, warnings) = parsed.map_err(|all| Failure::all(Fault::Data, all))?;
            talk.told(Warned { value, warnings })
        }
        (None, Some(policy)) => {
            let settings = talk.settings(None, false);
            let file = talk.told(open::policy(&args.sets.policy(policy)?, &settings, talk)?);
            let path = args.column.path.as_deref().unwrap_or_default();
            let spec = policy_spec(&file.policy, path)?;
            if column.is_none()
                && file.policy.source.as_ref().is_some_and(|s| s.path.is_some() || !s.tables.is_empty())
            {
                let name = Whereabouts::input(&file)?.name();
                let opened = talk.told(open::source(&file, &settings, talk)?);
                column = Some(Column::new(opened.data, path, Path::new(&name))?);
            }
            let domain = column.as_ref().map_or(Vec::new(), Column::domain);
            let (value, warnings) = hierarchies::noted(&spec, &file.folder, &domain)?;
            talk.told(Warned { value, warnings })
        }
        (None, None) => return Err(usage("no hierarchy is named", "name a file, or --policy and --path")),
    };
    match column {
        None => Ok((hierarchy, None)),
        Some(column) => column.counts(&hierarchy, args.show_values).map(|(h, counts)| (h, Some(counts))),
    }
}

fn policy_spec(policy: &Policy, path: &str) -> Result<HierarchySpec, Failure> {
    let Some(attribute) = policy.attributes.iter().find(|a| a.path == path) else {
        let close = nearest(path, policy.attributes.iter().map(|a| a.path.as_str()));
        let help =
            close.map_or("look at the policy's attributes".to_owned(), |c| format!("did you mean `{c}`?"));
        return Err(usage(format!("the policy has no attribute `{path}`"), &help));
    };
    attribute.hierarchy.clone().ok_or_else(|| {
        Failure::new(
            Fault::Usage,
            Diagnostic::error("this attribute has no hierarchy").at(attribute.place.clone()),
        )
    })
}

fn describe(hierarchy: &Hierarchy) -> String {
    let inner = hierarchy.len() - hierarchy.leaf_count();
    format!(
        "{} under {}, {} deep",
        plural(hierarchy.leaf_count(), "leaf").replace("leafs", "leaves"),
        plural(inner, "inner node"),
        plural(hierarchy.height() as usize, "level"),
    )
}

/// Deeper trees are cut off: every level is drawn further to the right, by a call of its own.
const LEVELS: u32 = 100;

fn show(args: &HierarchyShow, talk: &Talk) -> Result<Outcome, Failure> {
    let (hierarchy, counts) = which(&args.which, talk)?;
    if args.json {
        if hierarchy.height() > LEVELS {
            let what = format!("the hierarchy has more than {LEVELS} levels, too many to print");
            let help = "`bosket hierarchy check` says how many; a useful hierarchy has fewer than ten";
            return Err(Failure::new(Fault::Data, Diagnostic::error(what).help(help)));
        }
        print_json(&tree_json(&hierarchy, hierarchy.root(), counts.as_deref()))?;
    } else {
        let options = DrawOptions {
            max_children: args.children,
            max_depth: args.depth.unwrap_or(LEVELS).min(LEVELS),
            ..DrawOptions::default()
        };
        let tree = draw(&hierarchy, counts.as_deref(), &options);
        print(&format!("{}\n{}\n", tree.trim_end(), describe(&hierarchy)))?;
        print(&next::check_hierarchy(&args.which))?;
    }
    Ok(Outcome::Done)
}

fn tree_json(hierarchy: &Hierarchy, node: NodeId, counts: Option<&[u64]>) -> Value {
    let leaves = hierarchy.leaves(node);
    let mut out = json!({"label": hierarchy.label(node), "leaves": leaves.len()});
    if let Some(counts) = counts {
        out["count"] = json!(counts[leaves.start as usize..leaves.end as usize].iter().sum::<u64>());
    }
    let children: Vec<Value> = hierarchy.children(node).map(|c| tree_json(hierarchy, c, counts)).collect();
    if !children.is_empty() {
        out["children"] = json!(children);
    }
    out
}

fn check(args: &HierarchyCheck, talk: &Talk) -> Result<Outcome, Failure> {
    let (hierarchy, counts) = match which(&args.which, talk) {
        Err(failure) if args.json => return Err(print_invalid(failure)?),
        checked => checked?,
    };
    let values = counts.as_ref().map(|c| c.iter().filter(|&&n| n > 0).count());
    if args.json {
        print_json(&json!({
            "valid": true,
            "leaves": hierarchy.leaf_count(),
            "nodes": hierarchy.len(),
            "height": hierarchy.height(),
            "values_covered": values,
        }))?;
    } else {
        let covered =
            values.map_or(String::new(), |n| format!("; covers all {} values of the data", count(n)));
        print(&format!("ok: {}{covered}\n", describe(&hierarchy)))?;
        if let Some(policy) = &args.which.policy {
            print(&next::about(&["policy", "check"], policy, &args.which.sets, &[]))?;
        } else if let Some(data) = &args.which.column.data {
            print(&next::draft(data, &args.which.column.reading))?;
        }
    }
    Ok(Outcome::Done)
}
