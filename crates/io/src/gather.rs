//! Documents of one person as one record.
//!
//! Where a person has several documents, each is a vertex of the class `document[]` below a record that has nothing of its
//! own, as rows are that linked tables group by `person`. What names the person joins documents, and is no attribute.

use std::collections::BTreeSet;

use bosket_model::observe::Observer;
use bosket_model::path::Notation;
use bosket_model::policy::AttributePolicy;
use bosket_model::{
    AttributeId, Builder, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result,
};
use rustc_hash::FxHashMap;

use crate::format::Layout;
use crate::homes::Homes;
use crate::problems::{Problems, too_large};
use crate::tables::names::names_a_person;
use crate::xml::Outline;

/// The class that documents are.
const DOCUMENT: &str = "document";

/// Of which class documents are in a dataset.
pub fn document_path(notation: Notation) -> String {
    notation.class_path("", &[DOCUMENT.to_owned()])
}

/// A policy's attributes as they stand in a single document.
pub(crate) fn in_document(attributes: &[AttributePolicy]) -> Vec<AttributePolicy> {
    let inside = |attribute: &AttributePolicy| {
        let rest = attribute.path.strip_prefix(DOCUMENT).and_then(|p| p.strip_prefix("[]"))?;
        let path = rest.strip_prefix(['.', '/']).unwrap_or(rest).to_owned();
        (!path.is_empty()).then(|| AttributePolicy { path, ..attribute.clone() })
    };
    attributes.iter().filter_map(inside).collect()
}

/// How gathered records are written that were read in this way.
pub(crate) fn layout(read: Layout, attributes: &[AttributePolicy]) -> Layout {
    let mut order = vec![vec![DOCUMENT.to_owned()]];
    let below = |path: Vec<String>| [&[DOCUMENT.to_owned()], path.as_slice()].concat();
    order.extend(read.outline.order.into_iter().map(below));
    let prefix = document_path(Notation::Dots);
    let extended = read.extended.into_iter().map(|(path, types)| (format!("{prefix}.{path}"), types));
    Layout {
        outline: Outline { order, namespaces: read.outline.namespaces, ..Outline::expected(attributes) },
        extended: Box::new(extended.collect()),
        // Those of a single document; people are written in columns of their own.
        columns: Box::default(),
        homes: Box::new(Homes::expected(attributes)),
        ..read
    }
}

/// The path of what names the person in all documents, by its name, where several documents have the same: then documents
/// are not people.
pub fn person_of(data: &Dataset) -> Option<String> {
    let schema = data.schema();
    let mut found: Option<(usize, &str)> = None;
    for &id in &schema.class(ClassId::ROOT).attributes {
        let attribute = schema.attribute(id);
        let name = attribute.name.join("_").replace('@', "");
        let values = (0..data.len()).map(|record| data.value(data.vertices(record).start, id));
        if !names_a_person(&name) || values.clone().any(|code| code == MISSING) {
            continue;
        }
        let texts: BTreeSet<&str> = values.map(|code| data.dictionary(id).text(code)).collect();
        // One value everywhere names nobody; of several the one that tells most people apart counts.
        if (2..data.len()).contains(&texts.len()) && found.is_none_or(|(most, _)| texts.len() > most) {
            found = Some((texts.len(), &attribute.path));
        }
    }
    found.map(|(_, path)| path.to_owned())
}

/// Gathers the documents of each person, who are in the order of their first. `person` are the paths of what names them.
pub fn gather(data: &Dataset, person: &[String], source: &str, observer: &dyn Observer) -> Result<Dataset> {
    let names = person.iter().map(|path| named_by(data, path)).collect::<Result<Vec<AttributeId>>>()?;
    let mut problems = Problems::new(source);
    let mut people: FxHashMap<Vec<&str>, usize> = FxHashMap::default();
    let mut documents: Vec<Vec<usize>> = Vec::new();
    for record in 0..data.len() {
        let root = data.vertices(record).start;
        let codes = names.iter().map(|&id| (id, data.value(root, id)));
        let key: Option<Vec<&str>> =
            codes.map(|(id, code)| (code != MISSING).then(|| data.dictionary(id).text(code))).collect();
        let Some(key) = key else {
            problems.push_like(Some("nobody".to_owned()), |place| nobodys(place.record(record as u64 + 1)));
            continue;
        };
        let next = documents.len();
        let at = *people.entry(key).or_insert(next);
        if at == next {
            documents.push(Vec::new());
        }
        documents[at].push(record);
    }
    let mut gathering = Gathering::new(data, &names);
    for person in &documents {
        observer.go_on()?;
        gathering.builder.begin_record();
        person.iter().for_each(|&record| gathering.document(record));
        if gathering.builder.end_record().is_err() {
            problems.push(too_large);
            break;
        }
    }
    problems.check(gathering.builder.finish())
}

/// The attribute at a path that names people.
fn named_by(data: &Dataset, path: &str) -> Result<AttributeId> {
    let schema = data.schema();
    if let Some(id) = schema.find(path).filter(|&id| schema.attribute(id).class == ClassId::ROOT) {
        return Ok(id);
    }
    let what = match schema.find(path) {
        Some(_) => format!("a document may have several of `{path}`, so that it names nobody"),
        None => format!("no document has `{path}`, which is to name the person"),
    };
    let help = "name what every document has once in `source.person`";
    Err(Failure::new(Fault::Policy, Diagnostic::error(what).help(help)))
}

fn nobodys(place: Place) -> Diagnostic {
    Diagnostic::error("nothing says whose document this is")
        .at(place)
        .help("give every document a value of what `source.person` names, or leave it out of the input")
}

/// What becomes of classes and attributes.
struct Gathering<'d> {
    data: &'d Dataset,
    builder: Builder,
    classes: Vec<ClassId>,
    attributes: Vec<Option<AttributeId>>,
}

impl<'d> Gathering<'d> {
    fn new(data: &'d Dataset, names: &[AttributeId]) -> Self {
        let schema = data.schema();
        let mut builder = Builder::in_notation(schema.notation());
        let mut classes: Vec<ClassId> = Vec::new();
        for (_, class) in schema.classes() {
            let id = match class.parent {
                None => builder.class(ClassId::ROOT, &[DOCUMENT.to_owned()]),
                Some(parent) if class.path.ends_with("{}") => {
                    builder.map(classes[parent.index()], &class.name)
                }
                Some(parent) => builder.class(classes[parent.index()], &class.name),
            };
            classes.push(id);
        }
        let mut attributes = Vec::new();
        for (id, attribute) in schema.attributes() {
            let own = (!names.contains(&id)).then(|| {
                let own = builder.attribute(classes[attribute.class.index()], &attribute.name);
                builder.adopt(own, data.dictionary(id).clone());
                own
            });
            attributes.push(own);
        }
        Gathering { data, builder, classes, attributes }
    }

    fn document(&mut self, record: usize) {
        let mut open: Vec<usize> = Vec::new();
        for vertex in self.data.vertices(record) {
            let parent = self.data.parent(vertex);
            while open.last().is_some_and(|&last| Some(last) != parent) {
                open.pop();
                self.builder.close();
            }
            let class = self.data.class(vertex);
            self.builder.open(self.classes[class.index()]);
            open.push(vertex);
            let attributes = &self.data.schema().class(class).attributes;
            for (id, &code) in attributes.iter().zip(self.data.values(vertex)) {
                if let (Some(own), true) = (self.attributes[id.index()], code != MISSING) {
                    self.builder.set_code(own, code);
                }
            }
        }
        open.iter().for_each(|_| self.builder.close());
    }
}
