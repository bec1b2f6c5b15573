//! Columns that name a person and stand in several records: then records are not people.

use bosket_model::observe::Observer;
use bosket_model::{AttributeId, ClassId, Dataset, MISSING, Result};

use super::topic::Topic;
use super::words::{Name, is};

/// Of the given attributes those of the record itself that name one person by their names, each with how many records
/// share their value with another. Names of people are not among them: two people may be called alike.
pub fn shared_identifiers(
    data: &Dataset,
    attributes: impl IntoIterator<Item = AttributeId>,
    observer: &dyn Observer,
) -> Result<Vec<(AttributeId, usize)>> {
    let mut found = Vec::new();
    for id in attributes {
        let attribute = data.schema().attribute(id);
        let name = Name::new(data.schema(), attribute);
        if attribute.class != ClassId::ROOT || !names_one_person(&name) {
            continue;
        }
        let mut times = vec![0usize; data.dictionary(id).len()];
        for record in 0..data.len() {
            observer.go_on()?;
            let code = data.value(data.vertices(record).start, id);
            if code != MISSING {
                times[code as usize] += 1;
            }
        }
        let shared = times.iter().filter(|&&n| n > 1).sum();
        // One value everywhere names nobody.
        if shared > 0 && times.iter().filter(|&&n| n > 0).count() > 1 {
            found.push((id, shared));
        }
    }
    Ok(found)
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
        let found = shared_identifiers(&builder.finish(), ids, &Quiet).expect("nobody interrupts");
        assert_eq!(found, [(ids[0], 2), (ids[3], 2)]);
    }
}
