//! People as published trees of many kinds of vertices, with values or without, and as the paths that they mean.

use bosket_model::{Builder, ClassId, Dataset, Kind};
use bosket_testkit::dice::Dice;
use bosket_testkit::trees::PathRecord;

/// A kind of vertex: its name, the kind above (the first is the person), and the letters of its values' labels. In the order
/// of the policy, which is that of the letters, a vertex's values are above one another and above all below.
pub(super) struct VertexKind {
    name: &'static str,
    above: usize,
    letters: &'static [&'static str],
}

const fn kind(name: &'static str, above: usize, letters: &'static [&'static str]) -> VertexKind {
    VertexKind { name, above, letters }
}

/// The person comes first. `e` never has a value.
pub(super) const KINDS: [VertexKind; 7] = [
    kind("", 0, &["R"]),
    kind("a", 0, &["A", "B"]),
    kind("b", 1, &["C"]),
    kind("c", 2, &["D"]),
    kind("d", 1, &["E"]),
    kind("f", 0, &["F"]),
    kind("e", 1, &[]),
];

/// The kinds of which the letters are [`bosket_testkit::trees::LEVELS`], from the top, with the person.
pub(super) const LEVELLED: [usize; 3] = [0, 1, 2];

/// Letters in the order of the policy.
pub(super) const LETTERS: [&str; 7] = ["A", "B", "C", "D", "E", "F", "R"];

/// The policy's attributes, in the order of their letters.
pub(super) fn attributes() -> String {
    let attribute = |letter: &str| format!("[[attribute]]\npath = \"{}\"\nrole = \"quasi\"\n", path(letter));
    "version = 1\n".to_owned() + &LETTERS.map(attribute).concat()
}

/// The path of a letter's attribute.
pub(super) fn path(letter: &str) -> String {
    let at = KINDS.iter().position(|k| k.letters.contains(&letter)).expect("a letter of some kind");
    prefix(at) + name(letter)
}

/// What the paths of a kind's attributes begin with.
fn prefix(mut kind: usize) -> String {
    let mut path = String::new();
    while kind != 0 {
        path = format!("{}[].{path}", KINDS[kind].name);
        kind = KINDS[kind].above;
    }
    path
}

/// The policy's attributes with a note in every kind of vertex but the person, which is published as it is.
pub(super) fn attributes_with_notes() -> String {
    let note =
        |kind: usize| format!("[[attribute]]\npath = \"{}note\"\nrole = \"insensitive\"\n", prefix(kind));
    attributes() + &(1..KINDS.len()).map(note).collect::<String>()
}

/// The same people with a label that ends in a star wherever one that stands where it belongs has a place for a value by the
/// policy, and has none.
pub(super) fn filled(people: &[Vertex]) -> Vec<Vertex> {
    people.iter().map(Vertex::filled).collect()
}

fn name(letter: &str) -> &'static str {
    match letter {
        "B" => "w",
        "R" => "r",
        _ => "v",
    }
}

/// A vertex with what is below it.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    kind: usize,
    labels: Vec<String>,
    children: Vec<Vertex>,
}

/// How people are thrown.
pub(super) struct Shape<'a> {
    /// Kinds of vertices there may be, the person among them.
    pub(super) kinds: &'a [usize],
    /// Labels are a letter and one of these.
    pub(super) endings: &'a [&'a str],
}

impl Shape<'_> {
    /// Up to so many people; many of them are copies of others, whole or with something taken out.
    pub(super) fn people(&self, dice: &mut Dice, most: usize) -> Vec<Vertex> {
        let mut people: Vec<Vertex> = Vec::new();
        for _ in 0..dice.below(most + 1) {
            if people.is_empty() || dice.one_in(4) {
                people.push(self.vertex(dice, 0));
                continue;
            }
            let mut copy = dice.of(&people).clone();
            if dice.one_in(3) {
                copy.thin(dice);
            }
            people.push(copy);
        }
        people
    }

    fn vertex(&self, dice: &mut Dice, kind: usize) -> Vertex {
        let label = |letter: &&str| format!("{letter}{}", dice.of(self.endings));
        let mut labels: Vec<String> = KINDS[kind].letters.iter().map(label).collect();
        labels.retain(|_| !dice.one_in(3));
        let mut children = Vec::new();
        for &below in self.kinds.iter().filter(|&&below| below != 0) {
            // What a publication has taken away from its parent stands at the person.
            let stray = kind == 0 && KINDS[below].above != 0 && dice.one_in(8);
            if KINDS[below].above == kind || stray {
                let most = if dice.one_in(3) { 3 } else { 2 };
                children.extend((0..dice.below(most)).map(|_| self.vertex(dice, below)));
            }
        }
        Vertex { kind, labels, children }
    }
}

impl Vertex {
    fn is_stray(&self, above: &Vertex) -> bool {
        KINDS[self.kind].above != above.kind
    }

    fn filled(&self) -> Vertex {
        let of = |letter: &&str| {
            let own = self.labels.iter().find(|label| label.starts_with(*letter)).cloned();
            own.unwrap_or_else(|| format!("{letter}*"))
        };
        let fill = |child: &Vertex| if child.is_stray(self) { child.clone() } else { child.filled() };
        Vertex {
            kind: self.kind,
            labels: KINDS[self.kind].letters.iter().map(of).collect(),
            children: self.children.iter().map(fill).collect(),
        }
    }

    /// Leaves out all values of some letters.
    pub(super) fn without(&mut self, letters: &[&str]) {
        self.labels.retain(|label| !letters.contains(&&label[..1]));
        self.children.iter_mut().for_each(|child| child.without(letters));
    }

    /// Takes out a child or a label somewhere, or doubles a child.
    fn thin(&mut self, dice: &mut Dice) {
        if !self.children.is_empty() && !dice.one_in(3) {
            let at = dice.below(self.children.len());
            match dice.below(4) {
                0 => _ = self.children.remove(at),
                1 => self.children.push(self.children[at].clone()),
                _ => self.children[at].thin(dice),
            }
        } else {
            self.labels.pop();
        }
    }

    /// The labels from the top to each value, as the view of value trees has them; `chain` puts the person's above all.
    pub(super) fn paths(&self, chain: bool) -> PathRecord {
        let mut paths = Vec::new();
        let above: &[String] = if chain { &self.labels } else { &[] };
        paths.extend(self.labels.iter().map(|label| vec![label.clone()]));
        self.children.iter().for_each(|child| child.paths_below(above, &mut paths));
        paths
    }

    fn paths_below(&self, above: &[String], paths: &mut PathRecord) {
        let own = [above, &self.labels].concat();
        if !self.labels.is_empty() {
            paths.push(own.clone());
        }
        self.children.iter().for_each(|child| child.paths_below(&own, paths));
    }

    fn fill(&self, builder: &mut Builder, class: ClassId, notes: bool) {
        for label in &self.labels {
            let attribute = builder.attribute(class, &[name(&label[..1]).to_owned()]);
            builder.set(attribute, Kind::Text, label);
        }
        if notes && self.kind != 0 {
            let note = builder.attribute(class, &["note".to_owned()]);
            builder.set(note, Kind::Text, "same");
        }
        for child in &self.children {
            let own = builder.class(class, &[KINDS[child.kind].name.to_owned()]);
            builder.open(own);
            child.fill(builder, own, notes);
            builder.close();
        }
    }
}

/// The people as a dataset.
pub(super) fn dataset(people: &[Vertex]) -> Dataset {
    built(people, false)
}

/// The same with a note in every vertex but the person.
pub(super) fn dataset_with_notes(people: &[Vertex]) -> Dataset {
    built(people, true)
}

fn built(people: &[Vertex], notes: bool) -> Dataset {
    let mut builder = Builder::new();
    for person in people {
        builder.begin_record();
        person.fill(&mut builder, ClassId::ROOT, notes);
        builder.end_record().expect("each value once");
    }
    builder.finish()
}
