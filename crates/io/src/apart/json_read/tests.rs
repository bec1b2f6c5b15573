//! What is found in a document, however little of it is looked at at once.

use std::io::Cursor;

use bosket_model::observe::Quiet;
use proptest::prelude::*;

use super::*;

const GOOD: &str = "{\"quasi\":[\n{\"group\":1,\"records\":[{\"town\":\"Köln\"},{\"town\":\"a]}\\\"\",\"x\":[1,2]}]},\n\
    {\"records\":[{}],\"group\":2.0}\n],\"sensitive\":[\n{\"group\":1,\"path\":\"ill\",\"value\":\"\\ud834\\udd1e\"},\n\
    {\"group\":2,\"path\":\"ill\",\"value\":-1.50e1},{\"value\":true,\"group\":\"2\",\"path\":\"ill\"}\n]}\n";

fn policy() -> Policy {
    let attribute = |path, role| format!("[[attribute]]\npath = \"{path}\"\nrole = \"{role}\"\n");
    let attributes = [attribute("town", "quasi"), attribute("x[]", "quasi"), attribute("ill", "sensitive")];
    let text = format!("version = 1\n{}", attributes.concat());
    Policy::parse("p.toml", &text, &[]).unwrap_or_else(|told| panic!("{told:?}")).0
}

/// What is found in a text, as words, and who was handed out with which group.
fn found(text: &[u8], records: usize, bytes: usize) -> (String, Vec<String>) {
    let mut people = Vec::new();
    let mut open = || Input::new("out.json", Cursor::new(text.to_vec()), None);
    let mut each = |part: &Dataset, names: &[String]| {
        assert!(part.len() == names.len() && !names.is_empty());
        people.extend_from_slice(names);
        Ok(())
    };
    let read = read(&mut open, &policy(), BatchSize { records, bytes }, &Quiet, &mut each);
    let told = match read {
        Ok(groups) => format!("{groups:?}"),
        Err(failure) => {
            people.clear();
            format!("{:?} {failure}", failure.fault)
        }
    };
    (told, people)
}

#[test]
fn groups_and_people_are_found() {
    let (told, people) = found(GOOD.as_bytes(), 100, 1 << 20);
    assert!(told.contains("names: [\"1\", \"2\"], people: [2, 1], quasi: [\"town\", \"x[]\"]"), "{told}");
    assert!(told.contains("𝄞") && told.contains("-15"), "{told}");
    assert_eq!(people, ["1", "1", "2"]);
}

#[test]
fn places_are_those_of_the_document() {
    let bad = GOOD.replace("-1.50e1", "-01");
    let (told, _) = found(bad.as_bytes(), 1, 16);
    assert!(told.contains("the publication:6:33") && told.contains("needless zero"), "{told}");
    let bad = GOOD.replace("Köln\"", "Köln\",\"town\":2");
    let (told, _) = found(bad.as_bytes(), 1, 16);
    assert!(told.contains("out.json:2:45") && told.contains("twice"), "{told}");
}

proptest! {
    /// Whatever stands in a document, it does not matter how much of it is looked at at once.
    #[test]
    fn what_is_found_does_not_depend_on_the_window(
        at in 0..GOOD.len(),
        with in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..3),
            prop::sample::select(vec![
                &b"{"[..], b"}", b"[", b"]", b"\"", b",", b":", b" ", b"\n", b"\\", b"null", b"7", b"{}", b"\"group\":1,",
                b"\xc3", b"          \n             ", b"tru", b"-", b"\"\\ud834\"",
            ]).prop_map(<[u8]>::to_vec),
        ],
        without in 0usize..12,
        records in 1usize..4,
        bytes in 1usize..70,
    ) {
        let (start, end) = (&GOOD.as_bytes()[..at], &GOOD.as_bytes()[(at + without).min(GOOD.len())..]);
        let text = [start, &with[..], end].concat();
        prop_assert_eq!(found(&text, records, bytes), found(&text, 1000, 1 << 20));
    }
}
