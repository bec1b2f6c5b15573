//! Small records of vertices: a person who takes courses with books and is in clubs.
//!
//! Every class has the attributes `a`, `b`, `c` and `d`; what they are to an attacker differs from case to case.

use std::fmt;

use bosket_model::policy::Role;
use bosket_model::{Builder, ClassId, Dataset, Kind};

use crate::dice::Dice;

/// Name and home of each class. The courses' books may also be found at the person itself, taken away from them.
pub const CLASSES: [(&str, usize); 4] =
    [("", PERSON), ("takes", PERSON), ("books", TAKES), ("clubs", PERSON)];
/// The class of the records.
pub const PERSON: usize = 0;
/// The class of courses.
pub const TAKES: usize = 1;
/// The class of the courses' books.
pub const BOOKS: usize = 2;
/// The class of clubs.
pub const CLUBS: usize = 3;

/// The attributes of every class.
pub const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Per class and attribute its role.
pub type Roles = [[Role; 4]; 4];

/// A vertex with what is below it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Vertex {
    /// Which class.
    pub class: usize,
    /// Its values.
    pub values: [Option<String>; 4],
    /// Vertices below, in any order.
    pub children: Vec<Vertex>,
}

impl fmt::Debug for Vertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", CLASSES[self.class].0)?;
        for (name, value) in NAMES.iter().zip(&self.values) {
            if let Some(value) = value {
                write!(f, " {name}={value}")?;
            }
        }
        write!(f, " ){:?}", self.children)
    }
}

impl Vertex {
    /// The vertex and all below it, parents first.
    pub fn all(&self) -> Vec<&Vertex> {
        let below = self.children.iter().flat_map(Vertex::all);
        std::iter::once(self).chain(below).collect()
    }

    /// Does something to the vertex and all below it, parents first.
    pub fn each(&mut self, act: &mut dyn FnMut(&mut Vertex)) {
        act(self);
        self.children.iter_mut().for_each(|child| child.each(act));
    }

    /// The values of one role with their attributes.
    pub fn with_role(&self, roles: &Roles, role: Role) -> Vec<(usize, Option<&str>)> {
        let own = |&a: &usize| roles[self.class][a] == role;
        (0..NAMES.len()).filter(own).map(|a| (a, self.values[a].as_deref())).collect()
    }

    /// Puts all siblings into any order.
    pub fn shuffle(&mut self, dice: &mut Dice) {
        self.each(&mut |v| dice.shuffle(&mut v.children));
    }
}

/// The path of an attribute.
pub fn path(class: usize, attribute: usize) -> String {
    let mut path = NAMES[attribute].to_owned();
    let mut at = class;
    while at != PERSON {
        path = format!("{}[].{path}", CLASSES[at].0);
        at = CLASSES[at].1;
    }
    path
}

/// The policy of such records, as TOML. Attribute `i` of class `c` is declared as number `4c + i`.
pub fn policy(roles: &Roles) -> String {
    let mut text = "version = 1\n".to_owned();
    for class in 0..CLASSES.len() {
        for a in 0..NAMES.len() {
            let (path, role) = (path(class, a), roles[class][a].name());
            text += &format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n");
        }
    }
    text
}

/// The records as a dataset.
pub fn dataset(records: &[Vertex]) -> Dataset {
    let mut builder = Builder::new();
    for record in records {
        builder.begin_record();
        fill(&mut builder, ClassId::ROOT, record);
        builder.end_record().expect("each value once");
    }
    builder.finish()
}

fn fill(builder: &mut Builder, class: ClassId, vertex: &Vertex) {
    for (name, value) in NAMES.iter().zip(&vertex.values) {
        if let Some(value) = value {
            let attribute = builder.attribute(class, &[(*name).to_owned()]);
            let kind = if value.parse::<f64>().is_ok() { Kind::Number } else { Kind::Text };
            builder.set(attribute, kind, value);
        }
    }
    for child in &vertex.children {
        let own = builder.class(class, &[CLASSES[child.class].0.to_owned()]);
        builder.open(own);
        fill(builder, own, child);
        builder.close();
    }
}

/// A record with at most so many vertices of a class below one vertex, without values.
pub fn random_shape(dice: &mut Dice, most: usize) -> Vertex {
    fn grow(dice: &mut Dice, class: usize, most: usize) -> Vertex {
        let mut children = Vec::new();
        for below in 1..CLASSES.len() {
            if CLASSES[below].1 == class {
                children.extend((0..dice.below(most + 1)).map(|_| grow(dice, below, most)));
            }
        }
        Vertex { class, values: Default::default(), children }
    }
    grow(dice, PERSON, most)
}

/// Throws the values of one attribute anew, missing in one of five cases.
pub fn throw_values(dice: &mut Dice, record: &mut Vertex, attribute: usize, domain: &[&str]) {
    record.each(&mut |v| {
        v.values[attribute] = (!dice.one_in(5)).then(|| (*dice.of(domain)).to_owned());
    });
}
