//! Keys of JSON objects that are data: maps, and keys that only a handful of people have.

use std::collections::{BTreeMap, BTreeSet};

use bosket_model::observe::Observer;
use bosket_model::path::{Notation, attribute_path};
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

/// Keys of fewer records name people.
const HANDFUL: usize = 5;
/// Objects of more keys may be maps; those of fewer have fields.
const FIELDS: usize = 20;
/// A key is rare among so many records that have an object around it.
const CROWD: usize = 25;

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

/// An object's position: the class of its vertex and the keys from there.
type Position = (ClassId, Vec<String>);

/// How many records have a thing.
#[derive(Clone, Copy, Default)]
struct Holders {
    records: usize,
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
        let keys = Counted::new(data, observer)?;
        let mut found = ObjectKeys::default();
        let mut inside: BTreeSet<Position> = BTreeSet::new();
        for (position, &object) in &keys.places {
            let above = |p: &Position| p.0 == position.0 && position.1.starts_with(&p.1);
            if !inside.iter().any(above) && keys.is_map(data, position, object) {
                let class = &data.schema().class(position.0).path;
                found.maps.push(Notation::Dots.map_path(class, &position.1));
                inside.insert(position.clone());
            }
        }
        keys.find_rare(data, &mut found);
        Ok(found)
    }
}

/// All objects with their keys.
struct Counted {
    places: BTreeMap<Position, usize>,
    /// Per object who has it, and who has which of its keys.
    objects: Vec<(Holders, BTreeMap<String, Holders>)>,
    /// Per attribute and per class the objects on its way, with their keys.
    attributes: Vec<Vec<(usize, String)>>,
    classes: Vec<Vec<(usize, String)>>,
}

impl Counted {
    fn new(data: &Dataset, observer: &dyn Observer) -> Result<Self> {
        let schema = data.schema();
        let mut counted = Counted {
            places: BTreeMap::new(),
            objects: Vec::new(),
            attributes: Vec::new(),
            classes: Vec::new(),
        };
        for (_, class) in schema.classes() {
            let way = class.parent.map_or(Vec::new(), |parent| counted.way(parent, &class.name));
            counted.classes.push(way);
        }
        for (_, attribute) in schema.attributes() {
            let way = counted.way(attribute.class, &attribute.name);
            counted.attributes.push(way);
        }
        for record in 0..data.len() {
            observer.go_on()?;
            for vertex in data.vertices(record) {
                let class = data.class(vertex);
                counted.count_class(class, record);
                for (&attribute, &code) in schema.class(class).attributes.iter().zip(data.values(vertex)) {
                    if code != MISSING {
                        counted.count_attribute(attribute, record);
                    }
                }
            }
        }
        Ok(counted)
    }

    /// The objects from a class's vertex to what stands at `name` in it.
    fn way(&mut self, class: ClassId, name: &[String]) -> Vec<(usize, String)> {
        let mut way = Vec::new();
        for (i, key) in name.iter().enumerate() {
            let position = (class, name[..i].to_vec());
            let next = self.objects.len();
            let object = *self.places.entry(position).or_insert(next);
            if object == next {
                self.objects.push((Holders::default(), BTreeMap::new()));
            }
            self.objects[object].1.entry(key.clone()).or_default();
            way.push((object, key.clone()));
        }
        way
    }

    fn count_class(&mut self, class: ClassId, record: usize) {
        Self::count(&mut self.objects, &self.classes[class.index()], record);
    }

    fn count_attribute(&mut self, attribute: AttributeId, record: usize) {
        Self::count(&mut self.objects, &self.attributes[attribute.index()], record);
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

    /// Whether an object's keys are data: many and mostly rare, or such that no two records share one. A record itself is
    /// no map, and neither is an entry of one.
    fn is_map(&self, data: &Dataset, (class, name): &Position, object: usize) -> bool {
        let own = name.is_empty();
        if own && (*class == ClassId::ROOT || data.schema().class(*class).path.ends_with("{}")) {
            return false;
        }
        let (holders, keys) = &self.objects[object];
        let mut records: Vec<usize> = keys.values().map(|k| k.records).filter(|&n| n > 0).collect();
        records.sort_unstable();
        let Some(&median) = records.get(records.len() / 2) else { return false };
        let many = records.len() > FIELDS && median < HANDFUL && HANDFUL * median <= holders.records;
        let apart = !own && records.last() == Some(&1) && holders.records >= 3 && records.len() >= 3;
        many || apart
    }

    fn find_rare(&self, data: &Dataset, found: &mut ObjectKeys) {
        let is_rare = |(object, key): &(usize, String)| {
            let (holders, keys) = &self.objects[*object];
            let own = keys.get(key).map_or(0, |k| k.records);
            holders.records >= CROWD && own < HANDFUL
        };
        let schema = data.schema();
        let mut counted = BTreeSet::new();
        for (id, class) in schema.classes() {
            let above = class.parent.is_some_and(|p| found.rare_classes.contains(&p));
            let first = self.classes[id.index()].iter().find(|step| is_rare(step));
            if above || first.is_some() {
                found.rare_classes.insert(id);
            }
            counted.extend(first.filter(|_| !above));
        }
        for (id, attribute) in schema.attributes() {
            let above = found.rare_classes.contains(&attribute.class);
            let first = self.attributes[id.index()].iter().find(|step| is_rare(step));
            if above || first.is_some() {
                found.rare.insert(id);
            }
            counted.extend(first.filter(|_| !above));
        }
        for ((class, name), object) in &self.places {
            let keys = counted.iter().filter(|(o, _)| o == object).count();
            if keys > 0 {
                found.rare_in.push((attribute_path(&schema.class(*class).path, name), keys));
            }
        }
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
