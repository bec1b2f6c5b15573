//! Kinds of a class as classes of their own.
//!
//! A policy may name `entry[resource=Condition]`. What was read is taken apart here: vertices whose value is the one of a
//! kind become a class of their own, without that value, which is part of the class's name. Before it is written it is
//! put together again, with the value, so that whoever reads it, and the policy, finds the same classes.

use bosket_model::kind::ClassKind;
use bosket_model::path::{AttributePath, Mark, Notation};
use bosket_model::policy::{AttributePolicy, Format as PolicyFormat, Policy, Role};
use bosket_model::{
    AttributeId, Builder, ClassId, Dataset, Diagnostic, Failure, Fault, Kind, MISSING, Place, Result,
};
use rustc_hash::FxHashMap;

use crate::problems::too_large;

/// The kinds that a policy names.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    notation: Notation,
    declared: Vec<Declared>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Declared {
    /// The classes above, outermost first.
    above: Vec<Vec<String>>,
    /// What the class of all kinds is called.
    class: Vec<String>,
    /// What the kind is called.
    name: Vec<String>,
    kind: ClassKind,
}

impl Kinds {
    /// Those of a policy.
    pub fn of(policy: &Policy) -> Self {
        let format = policy.source.as_ref().map(|s| s.format);
        let slashes = policy.attributes.iter().any(|a| a.path.contains('/'));
        let notation = match format {
            Some(PolicyFormat::Xml) => Notation::Slashes,
            None if slashes => Notation::Slashes,
            None | Some(PolicyFormat::Json | PolicyFormat::Ndjson) => Notation::Dots,
            _ => return Kinds::default(),
        };
        let mut kinds = Kinds { notation, declared: Vec::new() };
        for attribute in &policy.attributes {
            // A path that cannot be read is reported when the policy is bound to the data.
            let Ok((path, marks)) = AttributePath::parse_marked(notation, &attribute.path) else { continue };
            let plain = plain_classes(notation, &path, &marks);
            for (at, mark) in marks.into_iter().enumerate() {
                let Mark::Kind(kind) = mark else { continue };
                let (above, name) = (path.classes[..at].to_vec(), path.classes[at].clone());
                let declared = Declared { above, class: plain[at].clone(), name, kind };
                if !kinds.declared.contains(&declared) {
                    kinds.declared.push(declared);
                }
            }
        }
        kinds
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty()
    }

    /// A policy's attributes as they stand in a document, where kinds are not told apart.
    pub(crate) fn plain(&self, attributes: &[AttributePolicy]) -> Vec<AttributePolicy> {
        if self.is_empty() {
            return attributes.to_vec();
        }
        let goes = |role: Role| role.is_left_out() || role == Role::Key;
        let mut plain: Vec<AttributePolicy> = Vec::new();
        let mut add = |path: String, attribute: &AttributePolicy, role: Role| match plain
            .iter_mut()
            .find(|known| known.path == path)
        {
            Some(known) if goes(known.role) => known.role = role,
            Some(_) => {}
            None => plain.push(AttributePolicy { path, role, follows: None, ..attribute.clone() }),
        };
        for attribute in attributes {
            let Ok((path, marks)) = AttributePath::parse_marked(self.notation, &attribute.path) else {
                add(attribute.path.clone(), attribute, attribute.role);
                continue;
            };
            let mut class = String::new();
            for (name, mark) in plain_classes(self.notation, &path, &marks).iter().zip(&marks) {
                class = match mark {
                    Mark::Map => self.notation.map_path(&class, name),
                    Mark::Array | Mark::Kind(_) => self.notation.class_path(&class, name),
                };
                if let Mark::Kind(kind) = mark {
                    let path = self.notation.attribute_path(&class, &kind.by);
                    add(path, attribute, Role::Insensitive);
                }
            }
            add(self.notation.attribute_path(&class, &path.name), attribute, attribute.role);
        }
        plain
    }

    /// Of which kind a vertex of the class called `class` is, below one of the class at `above`. A class may have been
    /// moved above its home, as everywhere.
    fn choose<'t>(
        &self,
        above: &[Vec<String>],
        class: &[String],
        value: impl Fn(&[String]) -> Option<&'t str>,
    ) -> Option<&Declared> {
        let fits = |d: &&Declared| {
            d.class == class && d.above.starts_with(above) && value(&d.kind.by) == Some(d.kind.value.as_str())
        };
        self.declared.iter().filter(fits).min_by_key(|d| d.above.len())
    }

    /// Makes every kind a class of its own.
    pub(crate) fn split(&self, data: Dataset, source: &str) -> Result<Dataset> {
        if self.is_empty() {
            return Ok(data);
        }
        self.check(&data, source)?;
        let schema = data.schema();
        let mut out = Rebuilt::new(&data);
        for record in 0..data.len() {
            let mut classes: Vec<ClassId> = Vec::new();
            let vertices = data.vertices(record);
            out.begin();
            for vertex in vertices.clone() {
                let old = data.class(vertex);
                let Some(parent) = data.parent(vertex) else {
                    out.values(&data, vertex, ClassId::ROOT, None);
                    classes.push(ClassId::ROOT);
                    continue;
                };
                let above = classes[parent - vertices.start];
                let class = schema.class(old);
                let value = |by: &[String]| text(&data, vertex, by);
                let kind = self.choose(&out.homes[above.index()], &class.name, value);
                let own = match kind {
                    Some(d) => out.kind(above, d),
                    None => out.class(above, &class.name, class.path.ends_with("{}")),
                };
                out.open(vertex, parent, own);
                out.values(&data, vertex, own, kind.map(|d| d.kind.by.as_slice()));
                classes.push(own);
            }
            out.end()?;
        }
        out.unused(&data);
        Ok(out.builder.finish())
    }

    /// What tells kinds apart must be one value, and no class may be called like a kind.
    fn check(&self, data: &Dataset, source: &str) -> Result<()> {
        let schema = data.schema();
        let mut problems = Vec::new();
        for (id, class) in schema.classes() {
            if self.declared.iter().any(|d| d.name == class.name) {
                let what = "this is called like a kind of a class that the policy names";
                problems.push(
                    Diagnostic::error(what)
                        .at(Place::source(source).path(&class.path))
                        .help("give it another name in the data"),
                );
            }
            let mut by: Vec<&[String]> = self
                .declared
                .iter()
                .filter(|d| d.class == class.name)
                .map(|d| d.kind.by.as_slice())
                .collect();
            by.sort_unstable();
            by.dedup();
            for by in by {
                let several = schema.class(id).children.iter().map(|&c| &schema.class(c).name);
                if several.into_iter().any(|name| by.starts_with(name)) {
                    let path = self.notation.attribute_path(&class.path, by);
                    let what = "there may be several values here, which tell no kind";
                    problems.push(
                        Diagnostic::error(what)
                            .at(Place::source(source).path(path))
                            .help("name something that stands there once in `[name=value]`"),
                    );
                }
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Failure::all(Fault::Policy, problems)) }
    }

    /// Puts the kinds of every class together again. What would be read as another kind than it is, is refused.
    pub(crate) fn merge(&self, data: &Dataset) -> Result<Option<Dataset>> {
        if self.is_empty() {
            return Ok(None);
        }
        let schema = data.schema();
        let mut homes: Vec<Vec<Vec<String>>> = Vec::new();
        for (_, class) in schema.classes() {
            let mut home = class.parent.map_or(Vec::new(), |parent| homes[parent.index()].clone());
            home.extend(class.parent.map(|_| class.name.clone()));
            homes.push(home);
        }
        let mut out = Rebuilt::new(data);
        for record in 0..data.len() {
            let mut classes: Vec<ClassId> = Vec::new();
            let vertices = data.vertices(record);
            out.begin();
            for vertex in vertices.clone() {
                let old = data.class(vertex);
                let Some(parent) = data.parent(vertex) else {
                    out.values(data, vertex, ClassId::ROOT, None);
                    classes.push(ClassId::ROOT);
                    continue;
                };
                let class = schema.class(old);
                let kind = self.declared.iter().find(|d| d.name == class.name);
                let name = kind.map_or(&class.name, |d| &d.class);
                let above = classes[parent - vertices.start];
                let value = |by: &[String]| match kind {
                    Some(d) if d.kind.by == by => Some(d.kind.value.as_str()),
                    _ => text(data, vertex, by),
                };
                let read = self.choose(&homes[data.class(parent).index()], name, value);
                if read.map(|d| &d.name) != kind.map(|d| &d.name) {
                    return Err(misread(&class.path));
                }
                let own = out.class(above, name, class.path.ends_with("{}"));
                out.open(vertex, parent, own);
                out.values(data, vertex, own, None);
                if let Some(d) = kind {
                    out.value(own, &d.kind);
                }
                classes.push(own);
            }
            out.end()?;
        }
        if self.notation == Notation::Slashes {
            let unnamed = |(_, class): (ClassId, &bosket_model::schema::Class)| {
                class.name.iter().any(|name| name.contains('[')).then(|| class.path.clone())
            };
            if let Some(path) = out.builder.schema().classes().find_map(unnamed) {
                return Err(unnameable(&path));
            }
        }
        Ok(Some(out.builder.finish()))
    }
}

/// The names of a path's classes where kinds are not told apart.
fn plain_classes(notation: Notation, path: &AttributePath, marks: &[Mark]) -> Vec<Vec<String>> {
    let plain = |(name, mark): (&Vec<String>, &Mark)| match mark {
        Mark::Kind(kind) => kind.class_of(notation, name),
        Mark::Array | Mark::Map => name.clone(),
    };
    path.classes.iter().zip(marks).map(plain).collect()
}

/// The value at some keys of a vertex.
fn text<'d>(data: &'d Dataset, vertex: usize, by: &[String]) -> Option<&'d str> {
    let schema = data.schema();
    let attributes = &schema.class(data.class(vertex)).attributes;
    let id = *attributes.iter().find(|id| schema.attribute(**id).name == by)?;
    let code = data.value(vertex, id);
    (code != MISSING).then(|| data.dictionary(id).text(code))
}

fn misread(path: &str) -> Failure {
    let what = "a published value is the one that tells another kind of the class";
    let help = "drop the attribute that tells kinds apart where it is declared in other kinds, or give its labels \
                other names";
    Failure::new(
        Fault::Policy,
        Diagnostic::error(what).at(Place::source("the publication").path(path)).help(help),
    )
}

fn unnameable(path: &str) -> Failure {
    let what =
        "a class below one kind of another had to be moved above it, and has no name in XML that says which";
    let help = "declare the classes below the kinds under different names, drop one of them, or name the whole class with `[]`";
    Failure::new(
        Fault::Policy,
        Diagnostic::error(what).at(Place::source("the publication").path(path)).help(help),
    )
}

/// Data with other classes.
struct Rebuilt {
    builder: Builder,
    /// Per new class its names from the record on.
    homes: Vec<Vec<Vec<String>>>,
    attributes: FxHashMap<(ClassId, AttributeId), AttributeId>,
    /// Old attributes that something has become of.
    used: Vec<bool>,
    open: Vec<usize>,
}

impl Rebuilt {
    fn new(data: &Dataset) -> Self {
        Rebuilt {
            builder: Builder::in_notation(data.schema().notation()),
            homes: vec![Vec::new()],
            attributes: FxHashMap::default(),
            used: vec![false; data.schema().attributes().len()],
            open: Vec::new(),
        }
    }

    fn class(&mut self, parent: ClassId, name: &[String], map: bool) -> ClassId {
        let id = if map { self.builder.map(parent, name) } else { self.builder.class(parent, name) };
        self.at_home(parent, name, id)
    }

    fn kind(&mut self, parent: ClassId, declared: &Declared) -> ClassId {
        let id = self.builder.kind(parent, &declared.class, &declared.kind);
        self.at_home(parent, &declared.name, id)
    }

    fn at_home(&mut self, parent: ClassId, name: &[String], id: ClassId) -> ClassId {
        if id.index() == self.homes.len() {
            let mut home = self.homes[parent.index()].clone();
            home.push(name.to_vec());
            self.homes.push(home);
        }
        id
    }

    fn begin(&mut self) {
        self.builder.begin_record();
        self.open.clear();
    }

    fn open(&mut self, vertex: usize, parent: usize, class: ClassId) {
        while self.open.last().is_some_and(|&last| last != parent) {
            self.open.pop();
            self.builder.close();
        }
        self.builder.open(class);
        self.open.push(vertex);
    }

    /// The values of a vertex, but the one at some keys.
    fn values(&mut self, data: &Dataset, vertex: usize, class: ClassId, without: Option<&[String]>) {
        let schema = data.schema();
        for (&id, &code) in schema.class(data.class(vertex)).attributes.iter().zip(data.values(vertex)) {
            let name = &schema.attribute(id).name;
            if code == MISSING || without == Some(name.as_slice()) {
                self.used[id.index()] |= code != MISSING;
                continue;
            }
            let builder = &mut self.builder;
            let own = *self.attributes.entry((class, id)).or_insert_with(|| builder.attribute(class, name));
            self.used[id.index()] = true;
            let values = data.dictionary(id);
            builder.set(own, values.kind(code), values.text(code));
        }
    }

    /// The value that tells a kind.
    fn value(&mut self, class: ClassId, kind: &ClassKind) {
        let own = self.builder.attribute(class, &kind.by);
        self.builder.set(own, Kind::Text, &kind.value);
    }

    fn end(&mut self) -> Result<()> {
        self.builder.end_record().map_err(|_| Failure::new(Fault::Data, too_large(Place::source("the data"))))
    }

    /// What no vertex has stays where it was.
    fn unused(&mut self, data: &Dataset) {
        let schema = data.schema();
        for (id, attribute) in schema.attributes() {
            if self.used[id.index()] {
                continue;
            }
            let mut way = vec![schema.class(attribute.class)];
            while let Some(parent) = way.last().and_then(|class| class.parent) {
                way.push(schema.class(parent));
            }
            let mut class = ClassId::ROOT;
            for step in way.iter().rev().skip(1) {
                class = self.class(class, &step.name, step.path.ends_with("{}"));
            }
            self.builder.attribute(class, &attribute.name);
        }
    }
}
