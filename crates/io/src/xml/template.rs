//! How vertices of a class are written: which elements and attributes, in which order.

use std::collections::HashMap;

use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, MISSING, Place, Result};

use super::names::is_qualified;
use super::reference::check;

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<Attribute>,
    pub(super) text: Option<Text>,
    pub(super) children: Vec<Child>,
}

#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) id: AttributeId,
    pub(super) slot: usize,
}

#[derive(Debug)]
pub(super) struct Text {
    pub(super) id: AttributeId,
    pub(super) slot: usize,
    /// Whether it is not always empty.
    pub(super) filled: bool,
}

#[derive(Debug)]
pub(super) enum Child {
    One(Element),
    Many(String, ClassId),
}

impl Child {
    fn name(&self) -> &str {
        match self {
            Child::One(element) => &element.name,
            Child::Many(name, _) => name,
        }
    }
}

impl Element {
    fn new(name: &str) -> Self {
        Element { name: name.to_owned(), attributes: Vec::new(), text: None, children: Vec::new() }
    }

    /// Whether it ever holds anything but text.
    pub(super) fn is_structured(&self) -> bool {
        !self.attributes.is_empty() || !self.children.is_empty()
    }

    /// Its own name and all inside it, but not those of other classes.
    pub(super) fn names<'e>(&'e self, out: &mut Vec<&'e str>) {
        out.push(&self.name);
        out.extend(self.attributes.iter().map(|a| a.name.as_str()));
        for child in &self.children {
            if let Child::One(element) = child {
                element.names(out);
            }
        }
    }

    /// The element that these names lead to; none if a class is in the way.
    fn inner(&mut self, names: &[String]) -> Option<&mut Element> {
        let Some((first, rest)) = names.split_first() else {
            return Some(self);
        };
        let known = self.children.iter().position(|c| c.name() == first);
        let place = known.unwrap_or_else(|| {
            self.children.push(Child::One(Element::new(first)));
            self.children.len() - 1
        });
        match &mut self.children[place] {
            Child::One(element) => element.inner(rest),
            Child::Many(..) => None,
        }
    }

    fn sort(&mut self, path: &mut Vec<String>, order: &HashMap<&[String], usize>) {
        self.attributes.sort_by(|a, b| a.name.cmp(&b.name));
        let mut placed: Vec<(usize, Child)> = Vec::new();
        for mut child in self.children.drain(..) {
            path.push(child.name().to_owned());
            let place = order.get(path.as_slice()).copied().unwrap_or(usize::MAX);
            if let Child::One(element) = &mut child {
                element.sort(path, order);
            }
            path.pop();
            placed.push((place, child));
        }
        placed.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.name().cmp(b.1.name())));
        self.children.extend(placed.into_iter().map(|(_, child)| child));
    }
}

/// What of the schema occurs in the data.
struct Occurs {
    values: Vec<bool>,
    filled: Vec<bool>,
    classes: Vec<bool>,
}

impl Occurs {
    fn new(data: &Dataset) -> Self {
        let schema = data.schema();
        let mut occurs = Occurs {
            values: vec![false; schema.attributes().len()],
            filled: vec![false; schema.attributes().len()],
            classes: vec![false; schema.classes().len()],
        };
        for vertex in 0..data.vertex_count() {
            let class = data.class(vertex);
            occurs.classes[class.index()] = true;
            for (id, &code) in schema.class(class).attributes.iter().zip(data.values(vertex)) {
                if code != MISSING {
                    occurs.values[id.index()] = true;
                    occurs.filled[id.index()] |= !data.dictionary(*id).text(code).is_empty();
                }
            }
        }
        occurs
    }
}

/// The templates of all classes; records are elements called `record`, and elements stand in the given order.
pub(super) fn templates(data: &Dataset, record: &str, order: &[Vec<String>]) -> Result<Vec<Element>> {
    let schema = data.schema();
    let occurs = Occurs::new(data);
    let order: HashMap<&[String], usize> = order.iter().enumerate().map(|(i, p)| (p.as_slice(), i)).collect();
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut templates = Vec::new();
    let mut problems = Vec::new();
    for (class_id, class) in schema.classes() {
        let name = match class.parent {
            None => record,
            Some(_) => class.name.last().map_or("", String::as_str),
        };
        let mut template = Element::new(name);
        for &id in class.attributes.iter().filter(|id| occurs.values[id.index()]) {
            let attribute = schema.attribute(id);
            let slot = attribute.slot as usize;
            if data.dictionary(id).iter().any(|(_, text)| check(text, false).is_err()) {
                problems.push(refuse(FORBIDDEN, &attribute.path));
                continue;
            }
            let (name, around) = match attribute.name.split_last() {
                Some((last, around)) => match last.strip_prefix('@') {
                    Some(name) => (Some(name), around),
                    None => (None, attribute.name.as_slice()),
                },
                None => (None, [].as_slice()),
            };
            if !around.iter().map(String::as_str).chain(name).all(is_qualified) {
                problems.push(refuse(NO_NAME, &attribute.path));
                continue;
            }
            let Some(element) = template.inner(around) else {
                problems.push(refuse(IN_THE_WAY, &attribute.path));
                continue;
            };
            match name {
                Some(name) => element.attributes.push(Attribute { name: name.to_owned(), id, slot }),
                None => element.text = Some(Text { id, slot, filled: occurs.filled[id.index()] }),
            }
        }
        for &id in class.children.iter().filter(|id| occurs.classes[id.index()]) {
            let inner = schema.class(id);
            let named = inner.name.iter().all(|name| is_qualified(name));
            let Some((last, around)) = inner.name.split_last().filter(|_| named) else {
                problems.push(refuse(NO_NAME, &inner.path));
                continue;
            };
            let free = |e: &&mut Element| e.children.iter().all(|c| c.name() != last);
            let Some(element) = template.inner(around).filter(free) else {
                problems.push(refuse(IN_THE_WAY, &inner.path));
                continue;
            };
            element.children.push(Child::Many(last.clone(), id));
        }
        let mut path = class.parent.map_or(Vec::new(), |parent| paths[parent.index()].clone());
        path.extend(class.name.iter().cloned());
        debug_assert_eq!(class_id.index(), paths.len());
        template.sort(&mut path.clone(), &order);
        paths.push(path);
        templates.push(template);
    }
    if problems.is_empty() { Ok(templates) } else { Err(Failure::all(Fault::Data, problems)) }
}

const FORBIDDEN: (&str, &str) =
    ("a value holds a character that XML does not allow", "correct the label in the hierarchy or the data");
const NO_NAME: (&str, &str) = ("this cannot be the name of an XML element or attribute", "rename it");
const IN_THE_WAY: (&str, &str) =
    ("one XML element cannot hold both this path and another that starts in it", "rename one of the two");

fn refuse((what, help): (&str, &str), path: &str) -> Diagnostic {
    Diagnostic::error(what).at(Place::default().path(path)).help(help)
}
