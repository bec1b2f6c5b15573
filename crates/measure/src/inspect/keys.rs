//! Keys of JSON objects that are data: maps, and keys that only a handful of people have.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer};
use bosket_model::path::{Notation, attribute_path};
use bosket_model::schema::Schema;
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

/// Keys of fewer records name people.
const HANDFUL: u64 = 5;
/// Objects of more keys may be maps; those of fewer have fields.
const FIELDS: usize = 20;
/// A key is rare among so many records that have an object around it.
const CROWD: u64 = 25;

/// What the keys of the objects in a dataset are.
#[derive(Clone, Debug, Default)]
pub struct ObjectKeys {
    /// Objects whose keys are data, each as the path of its entries: `scores{}`. None lies in another.
    pub maps: Vec<String>,
    /// Attributes with a key on their path that only a handful of records have, though many have the object around it.
    pub rare: BTreeSet<AttributeId>,
    /// Classes with such a key.
    pub rare_classes: BTreeSet<ClassId>,
    /// How many such keys there are in each object, by its path; empty for the record itself.
    pub rare_in: Vec<(String, usize)>,
}

/// An object's position: the classes down to its vertex, each by its keys, and the keys from there. Parts number classes as they
/// like, but call them the same.
type Position = (Vec<Vec<String>>, Vec<String>);

/// How many records have a thing, while they are gone through.
#[derive(Clone, Copy, Default)]
struct Holders {
    records: u64,
    last: usize,
}

impl Holders {
    fn count(&mut self, record: usize) {
        if self.last != record + 1 {
            self.last = record + 1;
            self.records += 1;
        }
    }
}

impl ObjectKeys {
    /// Counts who has which key of which object.
    pub fn new(data: &Dataset, observer: &dyn Observer) -> Result<Self> {
        Ok(KeyCounts::of(data, observer)?.found(data.schema()))
    }
}

/// How many records have each object, and each of its keys. Counts of parts add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyCounts {
    objects: BTreeMap<Position, Object>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Object {
    records: u64,
    keys: BTreeMap<String, u64>,
}

const WHAT: [u8; 4] = *b"BkKc";
const VERSION: u8 = 1;

impl KeyCounts {
    /// Counts the keys of some records.
    pub fn of(data: &Dataset, observer: &dyn Observer) -> Result<Self> {
        Ok(Counted::new(data, observer)?.counts())
    }

    /// Both together.
    #[must_use]
    pub fn merge(mut self, other: &KeyCounts) -> Self {
        for (position, its) in &other.objects {
            let own = self.objects.entry(position.clone()).or_default();
            own.records += its.records;
            for (key, records) in &its.keys {
                *own.keys.entry(key.clone()).or_default() += records;
            }
        }
        self
    }

    /// What the keys are, of records with such a schema.
    pub fn found(&self, schema: &Schema) -> ObjectKeys {
        let mut found = ObjectKeys::default();
        let ways = Ways::new(schema);
        let mut inside: BTreeSet<(ClassId, Vec<String>)> = BTreeSet::new();
        for (class, name) in &ways.places {
            let above = |p: &(ClassId, Vec<String>)| p.0 == *class && name.starts_with(&p.1);
            if !inside.iter().any(above) && self.is_map(schema, *class, name) {
                found.maps.push(Notation::Dots.map_path(&schema.class(*class).path, name));
                inside.insert((*class, name.clone()));
            }
        }
        self.find_rare(schema, &ways, &mut found);
        found
    }

    /// How many records have an attribute.
    pub fn holders(&self, schema: &Schema, attribute: AttributeId) -> u64 {
        let own = schema.attribute(attribute);
        let mut way = steps(own.class, &own.name);
        if way.is_empty()
            && let Some(parent) = schema.class(own.class).parent
        {
            way = steps(parent, &schema.class(own.class).name);
        }
        let Some(((class, name), key)) = way.pop() else { return 0 };
        self.object(schema, class, &name).and_then(|object| object.keys.get(&key)).copied().unwrap_or(0)
    }

    fn object(&self, schema: &Schema, class: ClassId, name: &[String]) -> Option<&Object> {
        self.objects.get(&(chain(schema, class), name.to_vec()))
    }

    /// Whether an object's keys are data: many and mostly rare, or such that no two records share one. A record itself is
    /// no map, and neither is an entry of one.
    fn is_map(&self, schema: &Schema, class: ClassId, name: &[String]) -> bool {
        let own = name.is_empty();
        if own && (class == ClassId::ROOT || schema.class(class).path.ends_with("{}")) {
            return false;
        }
        let Some(object) = self.object(schema, class, name) else { return false };
        let mut records: Vec<u64> = object.keys.values().copied().filter(|&n| n > 0).collect();
        records.sort_unstable();
        let Some(&median) = records.get(records.len() / 2) else { return false };
        let many = records.len() > FIELDS && median < HANDFUL && HANDFUL * median <= object.records;
        let apart = !own && records.last() == Some(&1) && object.records >= 3 && records.len() >= 3;
        many || apart
    }

    fn find_rare(&self, schema: &Schema, ways: &Ways, found: &mut ObjectKeys) {
        let objects: Vec<Option<&Object>> =
            ways.places.iter().map(|(class, name)| self.object(schema, *class, name)).collect();
        let is_rare = |(place, key): &(usize, String)| {
            let Some(object) = objects[*place] else { return false };
            object.records >= CROWD && object.keys.get(key).copied().unwrap_or(0) < HANDFUL
        };
        let mut counted = BTreeSet::new();
        for (id, class) in schema.classes() {
            let above = class.parent.is_some_and(|p| found.rare_classes.contains(&p));
            let first = ways.classes[id.index()].iter().find(|step| is_rare(step));
            if above || first.is_some() {
                found.rare_classes.insert(id);
            }
            counted.extend(first.filter(|_| !above));
        }
        for (id, attribute) in schema.attributes() {
            let above = found.rare_classes.contains(&attribute.class);
            let first = ways.attributes[id.index()].iter().find(|step| is_rare(step));
            if above || first.is_some() {
                found.rare.insert(id);
            }
            counted.extend(first.filter(|_| !above));
        }
        for (place, (class, name)) in ways.places.iter().enumerate() {
            let keys = counted.iter().filter(|(at, _)| *at == place).count();
            if keys > 0 {
                found.rare_in.push((attribute_path(&schema.class(*class).path, name), keys));
            }
        }
    }

    /// The counts as bytes. They hold keys, which may be names of people.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.length(self.objects.len());
        for ((classes, name), object) in &self.objects {
            out.length(classes.len());
            classes.iter().for_each(|class| write_names(&mut out, class));
            write_names(&mut out, name);
            out.number(object.records);
            out.length(object.keys.len());
            for (key, &records) in &object.keys {
                out.text(key);
                out.number(records);
            }
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let mut objects = BTreeMap::new();
        for _ in 0..from.length()? {
            let classes = (0..from.length()?).map(|_| read_names(&mut from)).collect::<Result<Vec<_>>>()?;
            let position = (classes, read_names(&mut from)?);
            let mut object = Object { records: from.number()?, keys: BTreeMap::new() };
            for _ in 0..from.length()? {
                let key = from.text()?.to_owned();
                object.keys.insert(key, from.number()?);
            }
            objects.insert(position, object);
        }
        from.end()?;
        Ok(KeyCounts { objects })
    }
}

fn write_names(out: &mut Writer, names: &[String]) {
    out.length(names.len());
    names.iter().for_each(|name| out.text(name));
}

fn read_names(from: &mut Reader<'_>) -> Result<Vec<String>> {
    (0..from.length()?).map(|_| Ok(from.text()?.to_owned())).collect()
}

/// The classes down to one, each by its keys.
fn chain(schema: &Schema, class: ClassId) -> Vec<Vec<String>> {
    let up = std::iter::successors(Some(class), |&id| schema.class(id).parent);
    let mut names: Vec<Vec<String>> =
        up.filter(|&id| id != ClassId::ROOT).map(|id| schema.class(id).name.clone()).collect();
    names.reverse();
    names
}

/// The objects of a schema, and those on the way to each of its classes and attributes.
struct Ways {
    /// The class of an object's vertex, and the keys from there, in order.
    places: Vec<(ClassId, Vec<String>)>,
    /// Per attribute and per class the objects on its way, with their keys.
    attributes: Vec<Vec<(usize, String)>>,
    classes: Vec<Vec<(usize, String)>>,
}

impl Ways {
    fn new(schema: &Schema) -> Self {
        let classes = schema.classes().map(|(_, class)| match class.parent {
            Some(parent) => steps(parent, &class.name),
            None => Vec::new(),
        });
        let classes: Vec<_> = classes.collect();
        let attributes: Vec<_> = schema.attributes().map(|(_, a)| steps(a.class, &a.name)).collect();
        let all = classes.iter().chain(&attributes).flatten();
        let places: BTreeSet<_> = all.map(|(place, _)| place.clone()).collect();
        let places: Vec<_> = places.into_iter().collect();
        let number = |way: Vec<((ClassId, Vec<String>), String)>| {
            let at = |place| places.binary_search(&place).unwrap_or_default();
            way.into_iter().map(|(place, key)| (at(place), key)).collect()
        };
        Ways {
            attributes: attributes.into_iter().map(number).collect(),
            classes: classes.into_iter().map(number).collect(),
            places,
        }
    }
}

/// The objects from a class's vertex to what stands at `name` in it, with their keys.
fn steps(class: ClassId, name: &[String]) -> Vec<((ClassId, Vec<String>), String)> {
    name.iter().enumerate().map(|(i, key)| ((class, name[..i].to_vec()), key.clone())).collect()
}

/// Objects and keys of one part, by their numbers.
struct Counted<'d> {
    schema: &'d Schema,
    ways: Ways,
    objects: Vec<(Holders, BTreeMap<String, Holders>)>,
}

impl<'d> Counted<'d> {
    fn new(data: &'d Dataset, observer: &dyn Observer) -> Result<Self> {
        let schema = data.schema();
        let ways = Ways::new(schema);
        let mut objects = vec![<(Holders, BTreeMap<String, Holders>)>::default(); ways.places.len()];
        for (place, key) in ways.classes.iter().chain(&ways.attributes).flatten() {
            objects[*place].1.entry(key.clone()).or_default();
        }
        let mut counted = Counted { schema, ways, objects };
        for record in 0..data.len() {
            observer.go_on()?;
            for vertex in data.vertices(record) {
                let class = data.class(vertex);
                Self::count(&mut counted.objects, &counted.ways.classes[class.index()], record);
                for (&attribute, &code) in schema.class(class).attributes.iter().zip(data.values(vertex)) {
                    if code != MISSING {
                        let way = &counted.ways.attributes[attribute.index()];
                        Self::count(&mut counted.objects, way, record);
                    }
                }
            }
        }
        Ok(counted)
    }

    fn count(objects: &mut [(Holders, BTreeMap<String, Holders>)], way: &[(usize, String)], record: usize) {
        for (object, key) in way {
            let (holders, keys) = &mut objects[*object];
            holders.count(record);
            if let Some(holders) = keys.get_mut(key) {
                holders.count(record);
            }
        }
    }

    /// The same by names.
    fn counts(self) -> KeyCounts {
        let Counted { schema, ways, objects } = self;
        let own = ways.places.into_iter().zip(objects).map(|((class, name), (holders, keys))| {
            let keys = keys.into_iter().map(|(key, holders)| (key, holders.records)).collect();
            ((chain(schema, class), name), Object { records: holders.records, keys })
        });
        KeyCounts { objects: own.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, Kind};

    fn keys(names: &[&str]) -> Vec<String> {
        names.iter().map(|&n| n.to_owned()).collect()
    }

    /// Records by the paths that they have a value at.
    fn dataset(records: &[Vec<Vec<String>>]) -> Dataset {
        let mut builder = Builder::new();
        for record in records {
            builder.begin_record();
            for path in record {
                let attribute = builder.attribute(ClassId::ROOT, path);
                builder.set(attribute, Kind::Text, "x");
            }
            builder.end_record().expect("set once");
        }
        builder.finish()
    }

    #[test]
    fn many_rare_keys_are_a_map_and_many_fields_are_none() {
        let id = |n: usize| keys(&["tiers", &format!("id{n}"), "tier"]);
        let fields = |_: usize| (0..30).map(|n| keys(&["bio", &format!("field{n}")])).collect::<Vec<_>>();
        let records: Vec<_> = (0..40).map(|n| [fields(n), vec![id(n), id(n + 1)]].concat()).collect();
        let found = ObjectKeys::new(&dataset(&records), &Quiet).expect("nobody interrupts");
        assert_eq!(found.maps, ["tiers{}"]);
        // Three people have thirty fields each: their names are no data.
        let few: Vec<_> = (0..3).map(fields).collect();
        assert!(ObjectKeys::new(&dataset(&few), &Quiet).expect("nobody interrupts").maps.is_empty());
    }

    #[test]
    fn keys_that_no_two_records_share_are_a_map() {
        let records: Vec<_> = (0..4).map(|n| vec![keys(&["a", &format!("id{n}")])]).collect();
        assert_eq!(ObjectKeys::new(&dataset(&records), &Quiet).expect("nobody interrupts").maps, ["a{}"]);
    }

    #[test]
    fn parts_of_any_size_have_the_keys_of_all() {
        let mut records = vec![vec![keys(&["town"]), keys(&["a", "b"])]; 30];
        records[7].push(keys(&["a", "Quetzal", "x"]));
        records[29].push(keys(&["a", "Quetzal", "x"]));
        let whole = dataset(&records);
        let all = KeyCounts::of(&whole, &Quiet).expect("nobody interrupts");
        for size in [1, 3, 7, 29] {
            let parts = records.chunks(size).map(|part| {
                let own = KeyCounts::of(&dataset(part), &Quiet).expect("nobody interrupts");
                KeyCounts::from_bytes(&own.to_bytes()).expect("its own bytes")
            });
            let together = parts.fold(KeyCounts::default(), |all, own| all.merge(&own));
            assert_eq!(together, all, "{size}");
            assert_eq!(together.found(whole.schema()).rare.len(), 1);
        }
    }

    #[test]
    fn a_few_rare_keys_are_counted() {
        let mut records = vec![vec![keys(&["town"]), keys(&["a", "b"])]; 30];
        records[7].push(keys(&["a", "Quetzal", "x"]));
        records[8].push(keys(&["a", "Quetzal", "y"]));
        records[9].push(keys(&["Xolotl"]));
        let found = ObjectKeys::new(&dataset(&records), &Quiet).expect("nobody interrupts");
        assert!(found.maps.is_empty());
        assert_eq!(found.rare_in, [(String::new(), 1), ("a".to_owned(), 1)]);
        assert_eq!(found.rare.len(), 3);
    }
}
