//! Columns that name a person and stand in several records: then records are not people.

use std::collections::BTreeMap;

use bosket_model::observe::Observer;
use bosket_model::partition::bytes::{Reader, Writer, damaged};
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

use super::topic::Topic;
use super::words::{Name, is};

/// Values of an attribute that are told apart; of more than these, those of a share of all values are counted, chosen by
/// what the values are. So a value is counted in every part or in none, and parts add up in bounded memory.
const MOST: usize = 1 << 18;

const WHAT: [u8; 4] = *b"BkId";
const VERSION: u8 = 1;

/// How often the identifiers of records occur, by their attributes' paths. No value is kept, but 64 bits of a hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identifiers {
    of: BTreeMap<String, Times>,
}

/// How often values occur whose hashes end with so many zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Times {
    zeros: u32,
    times: BTreeMap<u64, u64>,
}

/// An attribute whose values stand in several records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Its path in the data.
    pub path: String,
    /// Records that share their value with another.
    pub records: u64,
    /// Whether that was counted, and not estimated from a share of the values.
    pub exact: bool,
}

impl Identifiers {
    /// Counts those of the given attributes that stand in the record itself and name one person by their names. Names of people are
    /// not among them: two people may be called alike.
    pub fn of(
        data: &Dataset,
        attributes: impl IntoIterator<Item = AttributeId>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut all = Identifiers::default();
        for id in attributes {
            let attribute = data.schema().attribute(id);
            let name = Name::new(data.schema(), attribute);
            if attribute.class != ClassId::ROOT || !names_one_person(&name) {
                continue;
            }
            let mut times = vec![0u64; data.dictionary(id).len()];
            for record in 0..data.len() {
                observer.go_on()?;
                let code = data.value(data.vertices(record).start, id);
                if code != MISSING {
                    times[code as usize] += 1;
                }
            }
            let own = all.of.entry(attribute.path.clone()).or_default();
            for ((_, text), times) in data.dictionary(id).iter().zip(times).filter(|(_, times)| *times > 0) {
                own.add(hash(text), times, MOST);
            }
        }
        Ok(all)
    }

    /// Both together.
    #[must_use]
    pub fn merge(mut self, other: &Identifiers) -> Self {
        for (path, its) in &other.of {
            self.of.entry(path.clone()).or_default().take(its, MOST);
        }
        self
    }

    /// The attributes of which some records share a value. One value everywhere names nobody.
    pub fn shared(&self) -> Vec<Shared> {
        let shared = |(path, own): (&String, &Times)| {
            let records: u64 = own.times.values().filter(|times| **times > 1).sum();
            let records = records << own.zeros;
            let found = Shared { path: path.clone(), records, exact: own.zeros == 0 };
            (records > 0 && own.times.len() > 1).then_some(found)
        };
        self.of.iter().filter_map(shared).collect()
    }

    /// The counts as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(WHAT, VERSION);
        out.length(self.of.len());
        for (path, own) in &self.of {
            out.text(path);
            out.number(u64::from(own.zeros));
            out.length(own.times.len());
            for (&hash, &times) in &own.times {
                out.number(hash);
                out.number(times);
            }
        }
        out.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes, WHAT, VERSION)?;
        let mut of = BTreeMap::new();
        for _ in 0..from.length()? {
            let path = from.text()?.to_owned();
            let mut own = Times { zeros: from.small()?, times: BTreeMap::new() };
            if own.zeros >= u64::BITS {
                return Err(damaged());
            }
            for _ in 0..from.length()? {
                let hash = from.number()?;
                own.times.insert(hash, from.number()?);
            }
            of.insert(path, own);
        }
        from.end()?;
        Ok(Identifiers { of })
    }
}

impl Times {
    fn counts(&self, hash: u64) -> bool {
        hash.trailing_zeros() >= self.zeros
    }

    fn add(&mut self, hash: u64, times: u64, most: usize) {
        if !self.counts(hash) {
            return;
        }
        *self.times.entry(hash).or_default() += times;
        while self.times.len() > most {
            self.zeros += 1;
            let zeros = self.zeros;
            self.times.retain(|hash, _| hash.trailing_zeros() >= zeros);
        }
    }

    fn take(&mut self, other: &Times, most: usize) {
        if other.zeros > self.zeros {
            self.zeros = other.zeros;
            let zeros = self.zeros;
            self.times.retain(|hash, _| hash.trailing_zeros() >= zeros);
        }
        other.times.iter().for_each(|(&hash, &times)| self.add(hash, times, most));
    }
}

/// The same number for the same text in every part: FNV-1a, and its bits mixed, so that the last ones are as good as any.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let z = text.bytes().fold(0xCBF2_9CE4_8422_2325, step);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Values of a number that many have, such as a kind of licence, and no people.
const FEW: usize = 20;

/// The path of an attribute of the record itself that is, by its name, a number by which others know a person, where every record
/// has one and several records the same: then records are not people.
pub fn repeating_number(data: &Dataset) -> Option<String> {
    let schema = data.schema();
    let mut found: Option<(usize, &str)> = None;
    for &id in &schema.class(ClassId::ROOT).attributes {
        let (attribute, distinct) = (schema.attribute(id), data.dictionary(id).len());
        if !(FEW..data.len()).contains(&distinct) || found.is_some_and(|(most, _)| distinct <= most) {
            continue;
        }
        let mut codes = (0..data.len()).map(|record| data.value(data.vertices(record).start, id));
        let number = Topic::of(&Name::new(schema, attribute)) == Some(Topic::Document);
        if number && codes.all(|code| code != MISSING) {
            found = Some((distinct, &attribute.path));
        }
    }
    found.map(|(_, path)| path.to_owned())
}

fn names_one_person(name: &Name) -> bool {
    let mail = || name.last.iter().any(|word| is(word, "email") || is(word, "mail"));
    match Topic::of(name) {
        Some(Topic::Document | Topic::Identifier) => true,
        Some(Topic::Contact) => mail(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bosket_model::observe::Quiet;
    use bosket_model::{Builder, Kind};

    #[test]
    fn customers_who_come_twice_are_counted() {
        let mut builder = Builder::new();
        let names = ["customer_unique_id", "first_name", "row_id", "email", "batch_id"];
        let ids = names.map(|n| builder.attribute(ClassId::ROOT, &[n.to_owned()]));
        let rows =
            [["u1", "Ann", "1", "a@x", "b"], ["u1", "Ann", "2", "b@x", "b"], ["u2", "Bob", "3", "a@x", "b"]];
        for row in rows {
            builder.begin_record();
            for (&id, value) in ids.iter().zip(row) {
                builder.set(id, Kind::Text, value);
            }
            builder.end_record().expect("set once");
        }
        let found = Identifiers::of(&builder.finish(), ids, &Quiet).expect("nobody interrupts").shared();
        let found: Vec<_> = found.iter().map(|own| (own.path.as_str(), own.records, own.exact)).collect();
        assert_eq!(found, [("customer_unique_id", 2, true), ("email", 2, true)]);
    }

    #[test]
    fn a_number_that_every_record_has_and_several_share_groups_them() {
        let mut builder = Builder::new();
        let names = ["MRN", "licence", "ssn", "passport", "ward"];
        let ids = names.map(|n| builder.attribute(ClassId::ROOT, &[n.to_owned()]));
        for i in 0..90 {
            builder.begin_record();
            let few = ["car", "bus"][i % 2].to_owned();
            let own = [format!("m{}", i / 3), few.clone(), format!("s{}", i / 2), format!("p{i}"), few];
            for (&id, value) in ids.iter().zip(own) {
                // Not everybody has this one.
                if id != ids[2] || i > 3 {
                    builder.set(id, Kind::Text, &value);
                }
            }
            builder.end_record().expect("set once");
        }
        assert_eq!(repeating_number(&builder.finish()).as_deref(), Some("MRN"));
    }

    #[test]
    fn a_person_in_two_parts_is_counted_twice_however_many_there_are() {
        let text = |n: usize| hash(&format!("p{n}"));
        for (people, most) in [(100, 1000), (5000, 64)] {
            // Each tenth stands in both parts.
            let (mut one, mut two) = (Times::default(), Times::default());
            (0..people).for_each(|n| one.add(text(n), 1, most));
            (0..people).filter(|n| n % 10 == 0).for_each(|n| two.add(text(n), 1, most));
            one.take(&two, most);
            assert!(one.times.len() <= most);
            let all = Identifiers { of: BTreeMap::from([("id".to_owned(), one)]) };
            let all = Identifiers::from_bytes(&all.to_bytes()).expect("its own bytes");
            let found = all.shared();
            let expected = people as u64 / 5;
            assert_eq!((found.len(), found[0].exact), (1, people < most));
            assert!(
                found[0].records.abs_diff(expected) <= if people < most { 0 } else { expected },
                "{found:?}"
            );
        }
    }
}
