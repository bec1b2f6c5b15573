//! Counts per attribute: how often it is there, how many values it has, whom they single out.

use bosket_model::observe::Observer;
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

use super::shape::{Shape, ValueType};
use super::topic::Topic;
use super::words::{Name, is, words};

/// Records between two signs of life.
const STRIDE: usize = 1 << 14;

/// Values of fewer records are rare.
const HANDFUL: u32 = 5;

/// What a dataset is like.
#[derive(Clone, Debug)]
pub struct Profile {
    /// How many records there are.
    pub records: usize,
    /// How many vertices they have together.
    pub vertices: usize,
    /// The classes, parents before children; the first is the record itself.
    pub classes: Vec<ClassProfile>,
    /// The attributes, in the schema's order.
    pub attributes: Vec<AttributeProfile>,
}

/// What the vertices of a class are like.
#[derive(Clone, Debug)]
pub struct ClassProfile {
    /// Its path; empty for the record itself.
    pub path: String,
    /// The class above; none for the record itself.
    pub parent: Option<ClassId>,
    /// How many vertices it has.
    pub vertices: usize,
    /// How many records have a vertex of it.
    pub records: usize,
    /// The most vertices of it that one record has.
    pub max_per_record: usize,
}

/// What the values of an attribute are like.
#[derive(Clone, Debug)]
pub struct AttributeProfile {
    /// Which attribute.
    pub id: AttributeId,
    /// Its path.
    pub path: String,
    /// The class it belongs to.
    pub class: ClassId,
    /// That class's path; empty for the record itself.
    pub class_path: String,
    /// What its values are.
    pub value_type: ValueType,
    /// How many records the dataset has.
    pub records: usize,
    /// How many records have a value of it.
    pub records_with: usize,
    /// How many vertices its class has.
    pub vertices: usize,
    /// How many of them have it.
    pub present: usize,
    /// How many different values there are.
    pub distinct: usize,
    /// How many values occur in one record only.
    pub unique_values: usize,
    /// How many values fewer than five records have.
    pub rare_values: usize,
    /// How many vertices have such a value that one record has.
    pub unique_present: usize,
    /// How many records have a value that no other record has.
    pub unique_records: usize,
    /// Characters per value, on average over all vertices that have it.
    pub average_length: f64,
    /// The most values of it that one record has.
    pub max_per_record: usize,
    pub(super) name: Name,
    pub(super) shape: Shape,
}

impl AttributeProfile {
    /// The share of its class's vertices that lack it.
    pub fn missing(&self) -> f64 {
        1.0 - share(self.present, self.vertices)
    }

    /// The share of the records that have no value of it at all.
    pub fn records_without(&self) -> f64 {
        1.0 - share(self.records_with, self.records)
    }

    /// The share of the records that it singles out: they have a value that no other record has.
    pub fn uniqueness(&self) -> f64 {
        share(self.unique_records, self.records)
    }
}

pub(super) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl Profile {
    /// Judges an attribute by another name than it stands under: that of the column which a lookup has put there.
    pub fn call(&mut self, path: &str, name: &str) {
        for attribute in self.attributes.iter_mut().filter(|a| a.path == path) {
            let class = std::mem::take(&mut attribute.name.class);
            let words = words(name);
            attribute.name = Name { last: words.clone(), own: words, class, object: Vec::new() };
        }
    }

    /// Looks at all values once.
    pub fn new(data: &Dataset, observer: &dyn Observer) -> Result<Profile> {
        let schema = data.schema();
        let mut classes = vec![Run::default(); schema.classes().len()];
        let mut columns: Vec<Column> =
            schema.attributes().map(|(id, _)| Column::new(data.dictionary(id).len())).collect();
        let slots: Vec<&[AttributeId]> = schema.classes().map(|(_, c)| c.attributes.as_slice()).collect();
        observer.stage("inspect", data.len() as u64);
        for record in 0..data.len() {
            observer.go_on()?;
            // 0 stands for no record yet.
            let number = record as u32 + 1;
            for vertex in data.vertices(record) {
                let class = data.class(vertex).index();
                classes[class].count(number);
                for (&attribute, &code) in slots[class].iter().zip(data.values(vertex)) {
                    if code != MISSING {
                        columns[attribute.index()].count(number, code);
                    }
                }
            }
            if (record + 1) % STRIDE == 0 {
                observer.advance(STRIDE as u64);
            }
        }
        observer.advance((data.len() % STRIDE) as u64);

        let class = |(id, class): (ClassId, &bosket_model::schema::Class)| {
            let run = classes[id.index()];
            ClassProfile {
                path: class.path.clone(),
                parent: class.parent,
                vertices: run.all,
                records: run.records,
                max_per_record: run.most,
            }
        };
        let classes: Vec<ClassProfile> = schema.classes().map(class).collect();
        let mut marks = vec![0; data.len()];
        let attributes: Result<Vec<AttributeProfile>> = (columns.iter().enumerate())
            .map(|(i, column)| {
                let id = AttributeId(i as u32);
                column.profile(data, id, &classes[schema.attribute(id).class.index()], &mut marks, observer)
            })
            .collect();
        Ok(Profile { records: data.len(), vertices: data.vertex_count(), classes, attributes: attributes? })
    }
}

/// Counts occurrences that arrive record by record.
#[derive(Clone, Copy, Default)]
struct Run {
    all: usize,
    records: usize,
    most: usize,
    record: u32,
    here: usize,
}

impl Run {
    fn count(&mut self, record: u32) {
        if self.record != record {
            self.record = record;
            self.records += 1;
            self.here = 0;
        }
        self.all += 1;
        self.here += 1;
        self.most = self.most.max(self.here);
    }
}

/// Where a value was seen.
#[derive(Clone, Copy, Default)]
struct Seen {
    last_record: u32,
    records: u32,
    vertices: u32,
}

struct Column {
    run: Run,
    seen: Vec<Seen>,
}

impl Column {
    fn new(values: usize) -> Self {
        Column { run: Run::default(), seen: vec![Seen::default(); values] }
    }

    fn count(&mut self, record: u32, code: u32) {
        self.run.count(record);
        let seen = &mut self.seen[code as usize];
        seen.vertices += 1;
        if seen.last_record != record {
            seen.last_record = record;
            seen.records += 1;
        }
    }

    /// `marks` says of each record for which attribute it was last found to be singled out.
    fn profile(
        &self,
        data: &Dataset,
        id: AttributeId,
        class: &ClassProfile,
        marks: &mut [u32],
        observer: &dyn Observer,
    ) -> Result<AttributeProfile> {
        let attribute = data.schema().attribute(id);
        let (mut shape, mut length) = (Shape::default(), 0);
        let (mut unique_values, mut unique_present, mut unique_records) = (0, 0, 0);
        let mut rare_values = 0;
        for (seen, (kind, text)) in self.seen.iter().zip(data.dictionary(id).iter()) {
            observer.go_on()?;
            // A record that was refused leaves its values in the dictionary.
            if seen.records == 0 {
                continue;
            }
            let characters = text.chars().count();
            length += characters * seen.vertices as usize;
            shape.add(kind, text, characters);
            rare_values += usize::from(seen.records < HANDFUL);
            if seen.records == 1 {
                unique_values += 1;
                unique_present += seen.vertices as usize;
                let mark = &mut marks[seen.last_record as usize - 1];
                unique_records += usize::from(*mark != id.0 + 1);
                *mark = id.0 + 1;
            }
        }
        let name = Name::new(data.schema(), attribute);
        let topic = Topic::of(&name);
        shape.find_days(matches!(topic, Some(Topic::When | Topic::Birth)));
        shape.find_code(topic == Some(Topic::Health));
        let named_year = name.own.iter().any(|w| ["year", "yr", "yyyy", "born"].iter().any(|y| is(w, y)));
        Ok(AttributeProfile {
            id,
            path: attribute.path.clone(),
            class: attribute.class,
            class_path: class.path.clone(),
            value_type: shape.value_type(named_year),
            records: data.len(),
            records_with: self.run.records,
            vertices: class.vertices,
            present: self.run.all,
            distinct: shape.values,
            unique_values,
            rare_values,
            unique_present,
            unique_records,
            average_length: share(length, self.run.all),
            max_per_record: self.run.most,
            name,
            shape,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, Kind};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn keys(name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    /// Records with an optional `a` and any number of `b[].c`, each of which may be missing.
    type Thrown = (Option<u8>, Vec<Option<u8>>);

    fn dataset(records: &[Thrown]) -> Dataset {
        let mut builder = Builder::new();
        let a = builder.attribute(ClassId::ROOT, &keys("a"));
        let b = builder.class(ClassId::ROOT, &keys("b"));
        let c = builder.attribute(b, &keys("c"));
        for (own, below) in records {
            builder.begin_record();
            if let Some(own) = own {
                builder.set(a, Kind::Number, &own.to_string());
            }
            for value in below {
                builder.open(b);
                if let Some(value) = value {
                    builder.set(c, Kind::Number, &value.to_string());
                }
                builder.close();
            }
            builder.end_record().expect("set once");
        }
        builder.finish()
    }

    #[test]
    fn counts_on_three_records() {
        let data = dataset(&[
            (Some(1), vec![Some(1), Some(1), Some(20)]),
            (Some(1), vec![None, Some(20)]),
            (None, vec![]),
        ]);
        let profile = Profile::new(&data, &Quiet).expect("nobody interrupts");
        assert_eq!((profile.records, profile.vertices), (3, 8));
        let below = &profile.classes[1];
        assert_eq!(
            (below.path.as_str(), below.vertices, below.records, below.max_per_record),
            ("b[]", 5, 2, 3)
        );
        let [a, c] = &profile.attributes[..] else { panic!("two attributes") };
        assert_eq!((a.path.as_str(), a.present, a.vertices, a.distinct), ("a", 2, 3, 1));
        assert_eq!((a.unique_values, a.unique_records, a.max_per_record), (0, 0, 1));
        assert!((a.missing() - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!((c.class_path.as_str(), c.present, c.vertices, c.distinct), ("b[]", 4, 5, 2));
        // 1 stands twice, but in one record only; 20 is shared.
        assert_eq!((c.unique_values, c.unique_present, c.unique_records), (1, 2, 1));
        assert_eq!((c.max_per_record, c.records_with), (3, 2));
        assert!((c.records_without() - 1.0 / 3.0).abs() < 1e-9);
        assert!((c.uniqueness() - 1.0 / 3.0).abs() < 1e-9);
        assert!((c.average_length - 1.5).abs() < 1e-9);
    }

    #[test]
    fn no_records_divide_nothing_by_zero() {
        let profile = Profile::new(&dataset(&[]), &Quiet).expect("nobody interrupts");
        assert_eq!(profile.attributes[0].uniqueness(), 0.0);
        assert_eq!(profile.attributes[0].average_length, 0.0);
        assert_eq!(profile.attributes[0].value_type, ValueType::Empty);
    }

    #[test]
    fn values_of_refused_records_do_not_count() {
        let mut builder = Builder::new();
        let a = builder.attribute(ClassId::ROOT, &keys("a"));
        builder.begin_record();
        builder.set(a, Kind::Text, "refused");
        builder.set(a, Kind::Text, "twice");
        builder.end_record().expect_err("set twice");
        builder.begin_record();
        builder.set(a, Kind::Number, "1");
        builder.end_record().expect("set once");
        let profile = Profile::new(&builder.finish(), &Quiet).expect("nobody interrupts");
        assert_eq!(
            (profile.attributes[0].distinct, profile.attributes[0].value_type),
            (1, ValueType::Integer)
        );
    }

    proptest! {
        #[test]
        fn the_same_as_counted_by_hand(
            records in prop::collection::vec(
                (prop::option::of(0u8..4), prop::collection::vec(prop::option::of(0u8..9), 0..5)), 0..12)
        ) {
            let profile = Profile::new(&dataset(&records), &Quiet).expect("nobody interrupts");
            let c = &profile.attributes[1];
            let mut owners: BTreeMap<u8, BTreeSet<usize>> = BTreeMap::new();
            for (record, (_, below)) in records.iter().enumerate() {
                below.iter().flatten().for_each(|&v| { owners.entry(v).or_default().insert(record); });
            }
            let lonely: BTreeSet<usize> =
                owners.values().filter(|o| o.len() == 1).flatten().copied().collect();
            prop_assert_eq!(c.distinct, owners.len());
            prop_assert_eq!(c.unique_values, owners.values().filter(|o| o.len() == 1).count());
            prop_assert_eq!(c.unique_records, lonely.len());
            prop_assert_eq!(c.present, records.iter().map(|r| r.1.iter().flatten().count()).sum::<usize>());
            prop_assert_eq!(c.records_with, records.iter().filter(|r| r.1.iter().any(Option::is_some)).count());
            prop_assert_eq!(c.max_per_record,
                records.iter().map(|r| r.1.iter().flatten().count()).max().unwrap_or(0));
        }
    }
}
