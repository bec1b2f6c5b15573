//! How the vertices of each class are written.

use bosket_model::path::attribute_path;
use bosket_model::{AttributeId, ClassId, Dataset, Diagnostic, Failure, Fault, Place, Result};

use super::entry::Said;
use super::forms::{Forms, position, resources};
use super::names::{Known, MEDICATION, META, Resource, by_class};
use crate::homes::Homes;

/// A class.
#[derive(Debug, Default)]
pub(super) struct Template {
    /// The resource that its vertices are, and what they say about their encounter.
    pub(super) resource: Option<(Resource, Said)>,
    pub(super) root: Node,
    /// What a resource says of itself.
    pub(super) meta: Node,
    /// Extensions of patients that have a name of their own.
    pub(super) known: Vec<(Known, Node)>,
    /// Classes below whose vertices are resources.
    pub(super) resources: Vec<ClassId>,
    /// Classes below whose vertices belong into a resource of their own.
    pub(super) moved: Vec<Moved>,
}

/// A class whose vertices are found outside of the resource that they belong into.
#[derive(Debug)]
pub(super) struct Moved {
    pub(super) class: ClassId,
    pub(super) resource: Resource,
    pub(super) said: Said,
    /// Keys of the arrays from the resource to the vertices.
    pub(super) names: Vec<Vec<String>>,
}

/// A key of an object, or the object itself.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) key: String,
    pub(super) value: Option<(AttributeId, usize)>,
    pub(super) concept: bool,
    pub(super) date: bool,
    pub(super) number: bool,
    /// By key.
    pub(super) fields: Vec<Node>,
    /// Classes whose vertices are elements here, each inside further arrays if there are names.
    pub(super) arrays: Vec<(ClassId, Vec<Vec<String>>)>,
}

impl Node {
    pub(super) fn field(&self, key: &str) -> Option<&Node> {
        self.fields.binary_search_by(|f| f.key.as_str().cmp(key)).ok().map(|i| &self.fields[i])
    }

    fn at(&mut self, name: &[String]) -> &mut Node {
        let Some((key, rest)) = name.split_first() else {
            return self;
        };
        let i = self.fields.binary_search_by(|f| f.key.cmp(key)).unwrap_or_else(|i| {
            self.fields.insert(i, Node { key: key.clone(), ..Node::default() });
            i
        });
        self.fields[i].at(rest)
    }

    fn rename(&mut self, from: &str, to: &str) {
        if let Some(field) = self.fields.iter_mut().find(|f| f.key == from) {
            to.clone_into(&mut field.key);
            self.fields.sort_by(|a, b| a.key.cmp(&b.key));
        }
    }

    /// The first position that would have to be two things at once.
    fn collision(&self, above: &mut Vec<String>) -> bool {
        if !self.arrays.is_empty() && (self.value.is_some() || !self.fields.is_empty()) {
            return true;
        }
        self.fields.iter().any(|field| {
            above.push(field.key.clone());
            let found = field.collision(above);
            if !found {
                above.pop();
            }
            found
        })
    }
}

/// The templates of all classes.
pub(super) fn templates(data: &Dataset, forms: &Forms, known: &Homes) -> Result<Vec<Template>> {
    let schema = data.schema();
    let homes = known.of(schema);
    let mut templates: Vec<Template> = Vec::new();
    for (id, class) in schema.classes() {
        let home = &homes[id.index()];
        let mut template = Template { resource: resource(known, &homes, data, id), ..Template::default() };
        for &attribute in &class.attributes {
            let found = schema.attribute(attribute);
            let place = position(home, &found.name);
            let node = template.root.at(&found.name);
            node.value = Some((attribute, found.slot as usize));
            node.concept = forms.concepts.contains(&place);
            node.date = forms.dates.contains(&place);
            node.number = forms.numbers.contains(&place);
        }
        for &child in &class.children {
            template.place(known, child, home, &homes[child.index()]);
        }
        mark_concepts(&mut template.root, forms, home, &mut Vec::new());
        let mut name = Vec::new();
        if !template.root.arrays.is_empty() || template.root.collision(&mut name) {
            return Err(in_the_way(&class.path, &name));
        }
        if template.resource.is_some()
            && let Ok(i) = template.root.fields.binary_search_by(|f| f.key.as_str().cmp(META))
        {
            template.meta = template.root.fields.remove(i);
        }
        if matches!(template.resource, Some((Resource::MedicationRequest, _))) {
            template.root.rename(MEDICATION, "medicationCodeableConcept");
        }
        if id == ClassId::ROOT {
            for known in Known::ALL {
                if let Ok(i) = template.root.fields.binary_search_by(|f| f.key.as_str().cmp(known.name())) {
                    template.known.push((known, template.root.fields.remove(i)));
                }
            }
        }
        templates.push(template);
    }
    // Which class was seen first must not show.
    for template in &mut templates {
        template.resources.sort_by_key(|&c| &schema.class(c).path);
        template.moved.sort_by_key(|m| &schema.class(m.class).path);
    }
    Ok(templates)
}

impl Template {
    /// Puts a class below into its place.
    fn place(&mut self, known: &Homes, class: ClassId, above: &[Vec<String>], home: &[Vec<String>]) {
        let own = resources(home);
        if own == home.len() && own > 0 {
            self.resources.push(class);
        } else if own > resources(above) {
            let resource =
                home[own - 1].first().and_then(|n| by_class(n)).map_or(Resource::Encounter, |r| r.0);
            let native = vec![home[own - 1].clone()];
            let said = match (own, resources(above)) {
                (2, 1) => Said::Last,
                (2, _) if known.contains(&native) => Said::Masked,
                _ => Said::Nothing,
            };
            self.moved.push(Moved { class, resource, said, names: home[own..].to_vec() });
        } else {
            let names = &home[above.len()..];
            self.root.at(&names[0]).arrays.push((class, names[1..].to_vec()));
        }
    }
}

/// The resource that vertices of a class are, if they are.
fn resource(
    known: &Homes,
    homes: &[Vec<Vec<String>>],
    data: &Dataset,
    id: ClassId,
) -> Option<(Resource, Said)> {
    let home = &homes[id.index()];
    let class = data.schema().class(id);
    let Some(parent) = class.parent else {
        return Some((Resource::Patient, Said::Nothing));
    };
    if resources(home) != home.len() {
        return None;
    }
    let (resource, masked) = by_class(home.last()?.first()?)?;
    let native = vec![vec![resource.name().to_owned()]];
    let said = match (home.len(), homes[parent.index()].len()) {
        (2, 1) => Said::Last,
        (2, _) if known.contains(&native) => Said::Masked,
        _ if masked => Said::Masked,
        _ => Said::Nothing,
    };
    Some((resource, said))
}

/// Concepts of which the code itself is not published have no attribute of their own.
fn mark_concepts(node: &mut Node, forms: &Forms, home: &[Vec<String>], name: &mut Vec<String>) {
    node.concept |=
        node.value.is_some() && !node.fields.is_empty() || forms.concepts.contains(&position(home, name));
    for field in &mut node.fields {
        name.push(field.key.clone());
        mark_concepts(field, forms, home, name);
        name.pop();
    }
}

fn in_the_way(class: &str, name: &[String]) -> Failure {
    let what = Diagnostic::error(
        "one FHIR element cannot hold both this path and another that starts or ends in it",
    );
    let place = Place::default().path(attribute_path(class, name));
    Failure::new(Fault::Data, what.at(place).help("leave one of the two out"))
}
