//! What holds for all records in Parquet: nothing is lost, order does not show, a second writing changes nothing.

use crate::common::*;
use bosket_io::{Layout, by_name};
use bosket_model::observe::Quiet;
use proptest::prelude::*;
use serde_json::{Map, Value};

type Values = BoxedStrategy<Value>;

fn many(value: Values, most: usize) -> Values {
    prop::collection::vec(value, 0..most).prop_map(Value::from).boxed()
}

/// What stands under a key follows from the key, kinds included: a column has one type.
fn object(depth: u32) -> Values {
    let text = || "[a-c\"\n\u{0}é]{0,2}".prop_map(Value::from).boxed();
    let whole = || (-3i64..3).prop_map(Value::from).boxed();
    let null_or = |value: Values| prop_oneof![4 => value, 1 => Just(Value::Null)].boxed();
    let mut fields: Vec<(&str, Values)> = vec![
        ("text", text()),
        ("whole", whole()),
        ("large", prop_oneof![Just(u64::MAX), Just(0)].prop_map(Value::from).boxed()),
        ("flag", any::<bool>().prop_map(Value::from).boxed()),
        ("part", (-40i32..40).prop_map(|n| Value::from(f64::from(n) / 8.0)).boxed()),
        ("k.\"\n", text()),
        ("tags", many(null_or(text()), 4)),
        ("nothing", many(Just(Value::Null).boxed(), 3)),
    ];
    if depth > 0 {
        let inner = object(depth - 1);
        fields.extend([
            ("one", inner.clone()),
            ("many", many(null_or(inner), 3)),
            ("matrix", many(many(null_or(whole()), 3), 3)),
        ]);
    }
    let fields: Vec<_> = fields.into_iter().map(|(k, s)| (Just(k), prop::option::of(s))).collect();
    fields
        .prop_map(|fields| {
            let fields = fields.into_iter().filter_map(|(k, v)| Some((k.to_owned(), v?)));
            Value::Object(fields.collect::<Map<_, _>>())
        })
        .boxed()
}

/// Records, one of which has something in every column.
fn records() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(object(2), 1..6).prop_map(|mut records| {
        records.push(serde_json::json!({"whole": 1}));
        records
    })
}

fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|r| format!("{r}\n").into_bytes()).collect()
}

proptest! {
    #[test]
    fn records_come_back(records in records(), rotation in 0usize..6) {
        let first = read("ndjson", lines(&records)).expect("records fit together");
        let parquet = by_name("parquet").expect("known");
        let mut written = Vec::new();
        parquet.write(&first.data, &Layout::default(), &mut written, &Quiet).expect("writable");
        let again = read("parquet", written.clone()).expect("what was written");
        let mut text = Vec::new();
        by_name("ndjson").expect("known").write(&again.data, &Layout::default(), &mut text, &Quiet).expect("writable");
        prop_assert_eq!(canonical_lines(&text), canonical_all(records.clone()));

        // With its columns at hand, a file is the same again, in whatever order records came.
        prop_assert_eq!(&write(&again), &written);
        let mut turned = records.clone();
        turned.rotate_left(rotation % records.len());
        let turned = read("ndjson", lines(&turned)).expect("the same records");
        let mut bytes = Vec::new();
        parquet.write(&turned.data, &again.layout, &mut bytes, &Quiet).expect("writable");
        prop_assert_eq!(&bytes, &written);
    }

    #[test]
    fn damaged_files_are_refused_and_nothing_panics(records in records(), at in any::<prop::sample::Index>(), byte: u8) {
        let data = read("ndjson", lines(&records)).expect("records fit together").data;
        let mut written = Vec::new();
        by_name("parquet").expect("known").write(&data, &Layout::default(), &mut written, &Quiet).expect("writable");
        prop_assert!(read("parquet", written[..at.index(written.len())].to_vec()).is_err());
        let at = at.index(written.len());
        written[at] = byte;
        // A changed byte may be one of a value.
        let _ = read("parquet", written);
    }
}
