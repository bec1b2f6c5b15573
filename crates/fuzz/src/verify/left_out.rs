//! Attributes that are left out of a whole publication while their objects stay, for the sake of what is published as it is or of
//! what hangs below: such a place shows `*` like any other.

use bosket_model::Dataset;
use bosket_model::observe::Quiet;
use bosket_model::policy::{Missing, Policy, Relations, RootMode, Rows};
use bosket_testkit::dice::Dice;
use bosket_testkit::knowledge::smallest_violation;
use bosket_testkit::trees::PathRecord;
use bosket_verify::partition::{Counted, count};
use bosket_verify::{Claim, Kmn, Witness};

use super::kmn::{numbers, some_kinds, unsigned};
use super::people::{LETTERS, Shape, Vertex, attributes_with_notes, dataset_with_notes, filled};
use super::{Published, few, memory, outcome};
use crate::{Outcome, dice};

/// The witness and its support are those of the definition, in one go and in parts.
pub fn verify_left_out(data: &[u8]) -> Outcome {
    let mut dice = dice(data);
    let kinds = some_kinds(&mut dice);
    let mut people = Shape { kinds: &kinds, endings: &["1", "2"] }.people(&mut dice, 6);
    let gone: Vec<&str> = LETTERS.into_iter().filter(|_| dice.one_in(2)).collect();
    people.iter_mut().for_each(|person| person.without(&gone));
    let embedded = dice.one_in(2);
    let chain = dice.one_in(3);
    let claim = Kmn {
        relations: if embedded { Relations::Embedded } else { Relations::Pair },
        root: if chain { RootMode::Chain } else { RootMode::Separate },
        missing: Missing::Counted,
        // The definition has sets of paths.
        rows: Rows::United,
        ..Kmn::new(few(&mut dice), 1 + dice.below(3) as u32, dice.below(3) as u32)
    };
    let records: Vec<PathRecord> = filled(&people).iter().map(|p| p.paths(chain)).collect();
    let (k, m, n, embedded) = numbers(&claim);
    let expected = smallest_violation(&records, k, m, n, embedded);
    let claim = Claim::Kmn(claim);
    let (data, attributes) = (dataset_with_notes(&people), attributes_with_notes());
    let published = Published { data: &data, attributes: &attributes, hierarchies: &[] };
    let found = published.witness(&claim, memory(&mut dice));
    assert_eq!(found.as_ref().map(unsigned), expected, "without {gone:?}: {records:?}");
    let parts = in_parts(&people, &attributes, &claim, &mut dice);
    assert_eq!(parts, found, "in parts, without {gone:?}: {records:?}");
    outcome(&found)
}

/// The witness of the same people counted in two parts, of which one may not name what the other does.
fn in_parts(people: &[Vertex], attributes: &str, claim: &Claim, dice: &mut Dice) -> Option<Witness> {
    let (policy, _) = Policy::parse("p", attributes, &[]).expect("a good policy");
    let middle = dice.below(people.len() + 1);
    let parts: [Dataset; 2] = [&people[..middle], &people[middle..]].map(dataset_with_notes);
    let frame = dataset_with_notes(people);
    let counted = parts.iter().zip(0..).map(|(part, number)| {
        count(&policy, claim, (number, part), Some(&frame), 1 << 26, &Quiet).expect("counted")
    });
    let all = counted.reduce(|all, part| all.merge(part, &Quiet).expect("merged"));
    let found = all.unwrap_or_else(Counted::default).finish(&policy, claim, &[], 1 << 26, &Quiet);
    found.expect("judged").witness().cloned()
}
